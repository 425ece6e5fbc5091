# SPDX-License-Identifier: Apache-2.0
"""Futures that wait for room: no wake is lost, what a segment was promised stays with it, and work
whose parents await what they spawn ends in W x (S1 + reserve) slots.

Mirrors rdl_suspend and rdl_wait_for_room, rdl_make_room, rdl_return_room, rdl_pool_refill_freed,
rdl_pool_give_back, rdl_pool_put, rdl_pool_free, rdl_pool_announce, rdl_wake_room,
rdl_wake_for_room, rdl_enqueue_at, rdl_node_free, rdl_starved, rdl_keep_back, rdl_all_are_idle,
rdl_hold_no_room, rdl_rest, rdl_put_out and, of the host, break_room and rdl__work_pending. A pool and a stash are
numbers here; stealing.py has the chunks. `bound` is no search but a simulation of many schedules,
because it is about sizes.
"""

import random
import sys

from explore import (Model, atomic, choose, exchange, fetch_add, late, load, main, nobody_stuck,
                     store, until)
from kernel import check

SCENARIOS = ("freed", "idle", "parked", "chain", "left", "short", "nodes", "promised", "home",
             "starved", "gone", "asked")
FAULTS = {
    "version not read again": ("freed", "room comes between the attempt and the push"),
    "version read after the attempt": ("freed", "room comes between the two"),
    "announced before it is there": ("freed", "the version rises, then the pool does"),
    "list looked at first": ("freed", "the version rises after the look at the list"),
    "list read plainly": ("freed", "the version stands in a store buffer meanwhile"),
    "flushed without a word": ("freed", "the pool gets something and nobody is told"),
    "idle worker looks once": ("idle", "who waits later does not get what it holds"),
    "idle worker tells nobody": ("idle", "it returns its room in silence"),
    "two give back unheard": ("parked", "each saw the pool while the other held a part"),
    "chain in hand": ("chain", "the pool looked empty while somebody took from it"),
    "waiter keeps its part": ("parked", "who cannot run does not return what it holds"),
    "fails without trying alone": ("parked", "two that each hold a part are told there is none"),
    "host leaves stashes alone": ("left", "a worker that had left holds what is wanted"),
    "waits again when told": ("short", "who is told that there is none waits once more"),
    "nodes are announced": ("nodes", "each wake gives nodes back, and they wake all once more"),
    "promised room is flushed": ("promised", "a segment gives away what it was started with"),
    "woken elsewhere": ("home", "who frees the room runs what waited for it at another worker"),
    "host looks at no inbox": ("home", "the wake comes when its worker has left the launch"),
    "goes on with another branch": ("starved", "it starts although others may free the room"),
    "kept back for ever": ("starved", "the room comes only from what is kept back"),
    "counts itself idle with its stash": ("starved", "all seem idle, and the room is in a stash"),
    "one look is enough": ("starved", "the room is there, and its wake in the inbox"),
    "starved by who is over": ("gone", "a ticket does not say that its future has ended"),
    "asks without end": ("asked", "who wait let each other look for ever, and nobody parks"),
}


# ---- pool, stashes and the list of those who wait ----

def fill(memory, worker, want):
    """rdl_pool_fill of a worker that needs `want`: what the pool has comes into the stash."""
    missing = max(0, want - memory["stash." + worker])
    got = min(missing, memory["pool"])
    memory["pool"] -= got
    memory["stash." + worker] += got
    return memory["stash." + worker] >= want


def flush(memory, worker, keep=0):
    got = max(0, memory["stash." + worker] - keep)
    memory["stash." + worker] -= got
    memory["pool"] += got
    return got


def join_room(memory, name):
    memory["room"] = (name,) + memory["room"]


def make_ready(memory, names):
    for name in names:
        memory["ready." + name] += 1


def rdl_wake_room():
    names = yield exchange("room", ())
    if names:
        yield atomic(make_ready, names)


def rdl_pool_announce(fault=None):
    if fault == "list looked at first":
        names = yield load("room")
        yield fetch_add("freed", 1)
    elif fault == "list read plainly":
        yield late(fetch_add("freed", 1))
        names = yield load("room")
    else:
        yield fetch_add("freed", 1)
        names = yield atomic(lambda memory: memory["room"])  # rdl_fetch_or(&room, 0)
    if names:
        yield from rdl_wake_room()


def rdl_attempt(name, worker, want, fault=None):
    """One try of a future to get its room: True, or it waits in the list."""
    version = 0
    if fault != "version read after the attempt":
        version = yield fetch_add("freed", 0)
    enough = yield atomic(fill, worker, want)
    if enough:
        return True
    if fault == "version read after the attempt":
        version = yield fetch_add("freed", 0)
    yield atomic(join_room, name)
    if fault != "waiter keeps its part":
        yield atomic(flush, worker)
    now = yield fetch_add("freed", 0)
    if now != version and fault != "version not read again":
        yield from rdl_wake_room()
    return False


def woken(memory, name):
    if not memory["ready." + name]:
        return False
    memory["ready." + name] = 0
    memory["busy"] += 1
    return True


def rests(memory):
    memory["busy"] -= 1


def alone(memory):
    """In a launch of one worker one thing happens after the other."""
    if memory["solo"] and memory["lock"]:
        return False
    memory["lock"] = memory["solo"]
    return True


def wait_for_room(name, worker, want, fault=None):
    """True when it has got its room, False when it was told that there is none."""
    while True:
        yield until(alone)
        solo = yield load("solo")
        enough = yield from rdl_attempt(name, "1" if solo else worker, want, fault)
        yield store("lock", False)
        if enough:
            yield fetch_add("segments", 1)
            return True
        yield atomic(rests)
        yield until(woken, name)
        told = yield load("told." + name)
        if told and fault != "waits again when told":
            return False


def nobody_moves(memory):
    return memory["busy"] == 0 and bool(memory["room"])


def take_stashes(memory):
    for worker in "12":
        memory["pool"] += memory["stash." + worker]
        memory["stash." + worker] = 0


def fail_youngest(memory):
    name = memory["room"][0]
    memory["room"] = memory["room"][1:]
    memory["told." + name] = "OUT_OF_SLOTS"
    memory["ready." + name] += 1


def break_room(fault=None):
    """The host, when nothing moves: what all workers hold goes back, and one worker alone lets all
    who wait look again; when that has changed nothing, the youngest is told."""
    known = None
    while True:
        yield until(nobody_moves)
        version = yield load("freed")
        segments = yield load("segments")
        changed = known is None or known != (version, segments)
        if fault == "fails without trying alone" or not changed:
            yield atomic(fail_youngest)
            known = None
        else:
            known = (version, segments)
            if fault not in ("host leaves stashes alone", "waiter keeps its part"):
                yield atomic(take_stashes)
            yield store("solo", True)
            yield from rdl_wake_room()  # RDL_SAY_ROOM
        yield until(settled)
        yield store("solo", False)


def settled(memory):
    return memory["busy"] == 0 and not memory["ready.A"] and not memory["ready.B"]


def room_words(busy, **more):
    return {"pool": 0, "freed": 0, "room": (), "busy": busy, "stash.1": 0, "stash.2": 0,
            "ready.A": 0, "ready.B": 0, "told.A": "", "told.B": "", "solo": False, "lock": False,
            "segments": 0, "over": 0, **more}


# ---- freed: one future waits while another worker frees a slot

def build_freed(fault):
    def waiter():
        yield from wait_for_room("A", "1", 1, fault)

    def other():  # rdl_pool_free with a stash that is full
        if fault == "announced before it is there":
            yield from rdl_pool_announce()
            yield fetch_add("pool", 1)
        else:
            yield fetch_add("pool", 1)
            if fault != "flushed without a word":
                yield from rdl_pool_announce(fault)

    return Model(room_words(2), {"waiter": waiter, "other": other})


# ---- idle: a worker that has gone idle holds what is wanted

def build_idle(fault):
    def waiter():
        yield from wait_for_room("A", "1", 1)

    def idle():  # rdl_rest, every sixteen rounds
        while True:
            if fault == "idle worker looks once":
                names = yield load("room")
                if not names:
                    return
            yield until(lambda memory: memory["room"])
            some = yield atomic(flush, "2")
            if some and fault != "idle worker tells nobody":
                yield from rdl_pool_announce()
            if not some:
                return

    words = room_words(2, **{"stash.2": 1})

    def final(memory, stuck):
        return nobody_stuck(memory, [name for name in stuck if name != "idle worker"])

    return Model(words, {"waiter": waiter, "idle worker": idle}, None, final)


# ---- parked: two futures want two slots each, and each worker holds one of the two there are

def host_may_sleep(memory, stuck):
    """Nobody is told that there is no room: there is, one after the other."""
    wrong = nobody_stuck(memory, [name for name in stuck if name != "host"])
    if not wrong and (memory["told.A"] or memory["told.B"]):
        wrong = "is told OUT_OF_SLOTS although there is room"
    return wrong


def build_parked(fault):
    words = room_words(2, **{"stash.1": 1, "stash.2": 1})

    def waiter(name, worker):
        got = yield from wait_for_room(name, worker, 2, fault)
        if got:
            yield until(alone)
            solo = yield load("solo")
            yield atomic(flush, "1" if solo else worker)  # its children have ended
            yield from rdl_pool_announce()
            yield store("lock", False)
        yield atomic(rests)

    threads = {"A": lambda: waiter("A", "1"), "B": lambda: waiter("B", "2")}
    if fault != "two give back unheard":
        threads["host"] = lambda: break_room(fault)
    return Model(words, threads, None, host_may_sleep)


# ---- chain: B takes the whole chain, keeps what it wants and gives the rest back

def take_chain(memory):
    got = memory["pool"]
    memory["pool"] = 0
    return got


def build_chain(fault):
    words = room_words(2, pool=2)

    def taker():  # rdl_pool_refill_freed; what it keeps stays in its stash: its segment waits
        got = yield atomic(take_chain)
        if got:
            yield fetch_add("stash.2", 1)
            yield fetch_add("pool", got - 1)  # rdl_pool_give_back
        yield atomic(rests)

    def waiter():
        yield from wait_for_room("A", "1", 1)
        yield atomic(rests)

    threads = {"A": waiter, "taker": taker}
    if fault != "chain in hand":
        threads["host"] = break_room
    return Model(words, threads, None, host_may_sleep)


# ---- left: a worker has left its launch, or leaves it, when another's future comes to wait

def build_left(fault):
    words = room_words(2, **{"stash.2": 1})

    def waiter():
        yield from wait_for_room("A", "1", 1)
        yield atomic(rests)

    def leaver():  # rdl_put_out, rdl_hold_no_room
        plenty = yield choose(1, 0)
        names = yield load("room")
        if names or not plenty:
            some = yield atomic(flush, "2")
            if some:
                yield from rdl_pool_announce()
        yield atomic(rests)

    return Model(words, {"A": waiter, "leaver": leaver, "host": lambda: break_room(fault)}, None,
                 host_may_sleep)


# ---- short: there is no room at all, and who waits is told so

def build_short(fault):
    def waiter():
        yield from wait_for_room("A", "1", 1, fault)
        yield atomic(rests)

    def final(memory, stuck):
        wrong = nobody_stuck(memory, [name for name in stuck if name != "host"])
        return wrong or (None if memory["told.A"] else "has room where there is none")

    return Model(room_words(1), {"A": waiter, "host": break_room}, None, final)


# ---- nodes: a wake gives back the nodes of those who wait, and they take new ones

def build_nodes(fault):
    """One worker lets two look again, for whom there is no room. Then it must come to rest."""
    def wake_all(memory):  # rdl_wake_room
        memory["nodes"] += len(memory["room"])
        memory["ready"] += memory["room"]
        memory["room"] = ()

    def next_ready(memory):
        name, memory["ready"] = memory["ready"][:1], memory["ready"][1:]
        return name

    def worker():
        yield atomic(wake_all)  # RDL_SAY_ROOM
        while True:
            name = yield atomic(next_ready)
            if not name:
                return
            yield atomic(join_room, name[0])
            freed = yield exchange("nodes", 0)
            if freed and fault == "nodes are announced":
                yield atomic(wake_all)

    return Model({"room": ("A", "B"), "ready": (), "nodes": 0}, {"worker": worker})


# ---- promised: a segment takes a result, which frees a slot, and then spawns

def build_promised(fault):
    keep = 0 if fault == "promised room is flushed" else 1
    words = room_words(3, **{"stash.1": 1})

    def segment():
        yield fetch_add("stash.1", 1)  # RDL_TAKE: rdl_slot_free, rdl_pool_free
        names = yield load("room")
        if names:
            yield atomic(flush, "1", keep)
            yield from rdl_pool_announce()
        got = yield atomic(fill, "1", 1)  # RDL_SPAWN: rdl_slot_new
        yield from check(got, "a spawn fails for which the segment had room")
        yield fetch_add("stash.1", -1)
        yield fetch_add("stash.1", 1)  # the child ends, and the worker goes idle: rdl_rest
        yield atomic(flush, "1")
        yield from rdl_pool_announce()

    def waiter():
        yield from wait_for_room("A", "2", 2)

    return Model(words, {"segment": segment, "waiter": waiter})


# ---- home: a wake goes to the inbox of the worker where the future began to wait

def build_home(fault):
    """Worker 1 leaves the launch when it finds nothing; the host starts another while an inbox
    holds something. Worker 2 wakes whoever waits."""
    words = {"room": "A", "inbox": "", "ring.2": "", "ran": 0, "left": 0}

    def runs(who):
        yield from check(who == 1, "goes on at a worker where it did not begin to wait")
        yield fetch_add("ran", 1)

    def worker_1():
        names = yield exchange("inbox", "")  # rdl_adopt
        if names:
            yield from runs(1)
        yield fetch_add("left", 1)

    def worker_2():  # rdl_wake_room, rdl_wake_for_room, rdl_enqueue_at
        name = yield exchange("room", "")
        if fault == "woken elsewhere":
            yield from runs(2)
        else:
            yield store("inbox", name)
        yield fetch_add("left", 1)

    def host():  # rdl__work_pending
        yield until(lambda memory: memory["left"] == 2)
        pending = yield load("ring.2" if fault == "host looks at no inbox" else "inbox")
        if pending:
            yield from worker_1()

    def final(memory, stuck):
        return nobody_stuck(memory, stuck) or \
            (None if memory["ran"] == 1 else "ran %d times" % memory["ran"])

    return Model(words, {"worker 1": worker_1, "worker 2": worker_2, "host": host}, None, final)


# ---- starved: worker 1 has a future that waits for room, and another branch in its ring

def build_starved(fault):
    """What worker 2 does frees the room, or else the other branch does."""
    words = {"pool": 0, "stash.1": 0, "stash.2": 0, "freed": 1, "room": ("F",), "inbox": (),
             "idle": 0, "ran": False, "branch": False, "busy": True}

    def wake(memory):  # rdl_wake_room
        memory["inbox"] += memory["room"]
        memory["room"] = ()

    def announce():
        yield fetch_add("freed", 1)
        yield atomic(wake)

    def return_room():
        some = yield atomic(flush, "2")
        if some:
            yield from announce()

    def worker_2():
        frees = yield choose(1, 0)
        yield fetch_add("stash.2", frees)
        yield store("busy", False)
        if fault == "counts itself idle with its stash":  # rdl_rest
            yield fetch_add("idle", 1)
            yield from return_room()
        else:
            yield from return_room()
            yield fetch_add("idle", 1)

    def open_branch(memory):
        """Starts what is kept back, which frees the room that F needs when it has ended."""
        vain = memory["ran"] or not (memory["busy"] or memory["pool"] or memory["stash.2"])
        memory["branch"] = True
        return vain

    def worker_1():
        looks = 0
        may_start = fault == "goes on with another branch"
        while True:
            ran = yield load("ran")
            branch = yield load("branch")
            if ran and branch:
                return
            if not branch and (ran or may_start):  # rdl_from_ring, rdl_keep_back
                vain = yield atomic(open_branch)
                yield from check(vain, "another branch is opened although there is room")
                yield fetch_add("pool", 1)
                yield from announce()
                continue
            names = yield exchange("inbox", ())  # rdl_from_lists
            if names:
                got = yield atomic(fill, "1", 1)
                if got:
                    yield store("ran", True)
                else:
                    yield atomic(join_room, "F")
                continue
            yield until(lambda memory: memory["idle"] or memory["inbox"])
            idle = yield load("idle")
            looks = min(looks + 1, 2) if idle else 0  # rdl_rest, rdl_all_are_idle
            if fault != "kept back for ever":
                may_start = looks >= (1 if fault == "one look is enough" else 2)
            elif looks == 2:
                yield until(lambda memory: memory["inbox"])

    return Model(words, {"worker 1": worker_1, "worker 2": worker_2})


# ---- gone: the future that waited is cancelled, and ends where it was woken

def build_gone(fault):
    """Worker 2 has work until what worker 1 keeps back has run."""
    words = {"wait": ("waiting", 1), "kept": True}

    def starved(memory):  # rdl_starved
        state, ticket = memory["wait"]
        return ticket == 1 and (fault == "starved by who is over" or state != "over")

    def worker_1():
        yield until(lambda memory: not starved(memory))
        yield store("kept", False)

    def worker_2():
        yield store("wait", ("ready", 1))  # rdl_cancel
        yield store("wait", ("over", 1))  # rdl_complete, rdl_slot_free
        yield until(lambda memory: not memory["kept"])

    return Model(words, {"worker 1": worker_1, "worker 2": worker_2})


# ---- asked: all are idle, and each of two has waited for more than there is, or each for a part

def build_asked(fault):
    words = room_words(2, pool=2, freed=1, asked=0, idle=0, want=0, parked=False)

    def ask(name):  # rdl_all_are_idle
        if fault != "asks without end":
            version = yield fetch_add("freed", 1)
            yield store("asked", version + 1)
        yield from rdl_wake_room()

    def must_look(memory, name):  # one of them asks, that the counts stay small
        return memory["ready." + name] or memory["parked"] or \
            name == "A" and memory["idle"] == 2 and memory["asked"] != memory["freed"]

    def worker(name, w):
        yield until(lambda memory: memory["want"])
        want = yield load("want")
        while True:
            got = yield from rdl_attempt(name, w, want)
            if got:
                yield atomic(flush, w)
                yield from rdl_pool_announce()
            yield fetch_add("idle", 1)
            mine = 0
            while not mine:
                yield until(must_look, name)
                mine = yield exchange("ready." + name, 0)
                parked = yield load("parked")
                if parked and not mine:
                    return
                if not mine:
                    yield from ask(name)
            yield fetch_add("idle", -1)

    def quiet(memory):
        return memory["idle"] == 2 and memory["asked"] == memory["freed"] and \
            not memory["ready.A"] and not memory["ready.B"]

    def last():
        want = yield choose(2, 3)
        yield store("want", want)
        yield until(quiet)
        yield store("parked", True)

    return Model(words, {"A": lambda: worker("A", "1"), "B": lambda: worker("B", "2"),
                         "last": last})


# ---- the bound, by simulation ----

class Future:
    __slots__ = ("height", "parent", "started", "waited", "open")

    def __init__(self, height, parent):
        self.height = height
        self.parent = parent
        self.started = self.waited = False
        self.open = 0


class Forest:
    """A tree of `fan` children a node: a segment spawns them, waits for all, takes their results
    and ends. Every segment needs room for `fan`, as all are segments of one task. A ring's newest
    stands last; a list (inbox, overflow) holds its oldest first."""

    MOST = 16  # RDL_SHARE_MOST

    def __init__(self, fan, height, workers, slots, seed, fault=None):
        self.random = random.Random(seed)
        self.fault = fault
        self.fan = self.reserve = fan
        self.pool = slots - 1
        self.workers = range(workers)
        self.stash = [0] * workers
        self.rings = [[] for _ in self.workers]
        self.inboxes = [[] for _ in self.workers]
        self.overflows = [[] for _ in self.workers]
        self.starved = [None] * workers
        self.may_start = [False] * workers
        self.room = []
        self.hungry = False
        self.used = self.peak = 1
        self.done = False
        self.rings[0].append(Future(height, None))

    # where the next one comes from

    def keep_back(self, w, future):
        if self.starved[w] is None or self.fault == "goes on with another branch":
            return False
        if future.started or future.waited:
            return False
        if not self.may_start[w]:
            return True
        self.may_start[w] = False
        return False

    def from_ring(self, w):
        if not self.rings[w] or self.keep_back(w, self.rings[w][-1]):
            return None
        return self.rings[w].pop()

    def adopt(self, w, lists, v):
        some = bool(lists[v])
        self.rings[w] += lists[v]
        lists[v] = []
        return some

    def from_lists(self, w):
        some = self.adopt(w, self.inboxes, w)
        if not self.rings[w] or self.fault == "overflow comes back on top":
            some = self.adopt(w, self.overflows, w) or some
        return self.from_ring(w) if some else None

    def steal(self, w):
        free = self.may_start[w] or self.fault == "goes on with another branch"
        if self.starved[w] and not free:  # rdl_shy
            return None
        for k in self.workers[1:]:
            if self.adopt(w, self.overflows, (w + k) % len(self.workers)):
                return self.from_ring(w)
        return None

    def share(self, w):
        count = min(len(self.rings[w]) // 2, self.MOST)
        if self.hungry and count and not self.overflows[w]:
            self.overflows[w] = self.rings[w][:count]
            del self.rings[w][:count]
            self.hungry = False

    # room

    def have_room(self, w):
        got = min(self.pool, max(0, self.reserve - self.stash[w]))
        self.pool -= got
        self.stash[w] += got
        return self.stash[w] >= self.reserve

    def give_back(self, w, keep):
        over = max(0, self.stash[w] - keep)
        self.stash[w] -= over
        self.pool += over
        return over

    def free(self, w, count):
        self.used -= count
        self.stash[w] += count
        if self.stash[w] > (self.reserve if self.room else 2 * self.reserve):
            if self.give_back(w, self.reserve):
                self.wake(w)

    def wake(self, w):
        for future, home in reversed(self.room):  # rdl_wake_room: the list's newest stands first
            if home == w or self.fault == "woken elsewhere":
                self.rings[w].append(future)
            else:
                self.inboxes[home].append(future)
        self.room = []

    def wait_for_room(self, w, future):
        future.waited = True
        self.starved[w] = future
        self.room.append((future, w))
        self.give_back(w, 0)

    # a worker

    def step(self, w):
        """False when this worker has nothing to do."""
        self.share(w)
        future = self.from_ring(w) or self.from_lists(w) or self.steal(w)
        if future is None:
            self.hungry = self.hungry or self.starved[w] is None
            if self.give_back(w, 0):
                self.wake(w)
            return False
        for v in self.workers:
            if self.starved[v] is future:
                self.starved[v] = None
        if not self.have_room(w):
            self.wait_for_room(w, future)
        elif future.started:
            self.free(w, self.fan)
            self.end(w, future)
        elif future.height == 0:
            self.end(w, future)
        else:
            self.spawn(w, future)
        return True

    def spawn(self, w, future):
        future.started = True
        future.open = self.fan
        self.stash[w] -= self.fan
        self.used += self.fan
        self.peak = max(self.peak, self.used)
        self.rings[w] += [Future(future.height - 1, future) for _ in range(self.fan)]

    def end(self, w, future):
        parent = future.parent
        if parent is None:
            self.done = True
            return
        parent.open -= 1
        if parent.open == 0:
            self.rings[w].append(parent)

    def run(self, steps=30000):
        """True when the work ends; else all of it waits for room, or wakes itself in vain."""
        quiet = 0
        while not self.done and steps > 0:
            moved = False
            for w in self.random.sample(self.workers, len(self.workers)):
                for _ in range(self.random.choice((0, 1, 1, 1, 1, 1, 1, 40))):
                    steps -= 1
                    if self.done or not self.step(w):
                        break
                    moved = True
            quiet = 0 if moved else quiet + 1
            if quiet == 4:  # rdl_all_are_idle
                self.wake(0)
            if quiet == 8:
                self.may_start = [self.starved[w] is not None for w in self.workers]
            if quiet == 12:
                return False
        return self.done


RULES = ("goes on with another branch", "woken elsewhere", "overflow comes back on top")


def simulate(out):
    """Every run must end in W x (S1 + reserve) slots, the root in one of its own. Who steals a
    branch begins one level lower, so four slots fewer are enough as well, but not with other
    rules."""
    good = True
    for fan, height in ((2, 9), (3, 6)):
        alone = Forest(fan, height, 1, 10 ** 6, 0)
        alone.run()
        need = alone.peak - 1 + fan
        for workers in (1, 2, 4):
            slots = workers * need + 1
            ends = sum(Forest(fan, height, workers, slots, seed).run() for seed in range(40))
            good = good and ends == 40
            print("bound: %d children, %d levels, %d workers, %d slots: %d of 40 runs end"
                  % (fan, height, workers, slots, ends), file=out)
        ends = sum(Forest(fan, height, 1, need, seed).run() for seed in range(3))
        good = good and not ends
        print("bound: fault one slot too few for one worker: %d of 3 runs end" % ends, file=out)
    slots = 2 * need + 1 - 4
    ends = sum(Forest(fan, height, 2, slots, seed).run() for seed in range(40))
    good = good and ends == 40
    print("bound: 2 workers, %d slots: %d of 40 runs end" % (slots, ends), file=out)
    for rule in RULES:
        stuck = [seed for seed in range(40) if not Forest(fan, height, 2, slots, seed, rule).run()]
        good = good and bool(stuck)
        print("bound: fault %-28s %d of 40 runs do not end" % (rule, len(stuck)), file=out)
    return good


def build(scenario, fault):
    builders = {"freed": build_freed, "idle": build_idle, "parked": build_parked,
                "chain": build_chain, "left": build_left, "short": build_short,
                "nodes": build_nodes, "promised": build_promised, "home": build_home,
                "starved": build_starved, "gone": build_gone, "asked": build_asked}
    return builders[scenario](fault)


if __name__ == "__main__":
    if len(sys.argv) == 1 and not simulate(sys.stdout):
        sys.exit("the bound does not hold")
    main(build, SCENARIOS, FAULTS)
