# SPDX-License-Identifier: Apache-2.0
"""Futures that wait for room: no wake is lost, what a segment was promised stays with it, and work
whose parents await what they spawn ends in W x (S1 + reserve) slots.

Mirrors rdl_suspend and rdl_wait_for_room, rdl_make_room, rdl_return_room, rdl_pool_refill_freed,
rdl_pool_give_back, rdl_pool_put, rdl_pool_free, rdl_pool_announce, rdl_wake_room, rdl_node_free,
rdl_rest, rdl_put_out and, of the host, break_room. A
pool and a stash are numbers here; stealing.py has the chains. `bound` is no search but a
simulation of many schedules, because it is about sizes.
"""

import random
import sys

from explore import (Model, atomic, exchange, fetch_add, late, load, main, nobody_stuck,
                     store, until)
from kernel import check

SCENARIOS = ("freed", "idle", "parked", "chain", "left", "short", "nodes",
             "promised")
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

    def leaver():  # rdl_put_out
        names = yield load("room")
        if names:
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


# ---- the bound, by simulation ----

class Future:
    __slots__ = ("n", "parent", "point", "open")

    def __init__(self, n, parent):
        self.n = n
        self.parent = parent
        self.point = 0
        self.open = 0


class Tree:
    """fib(n): a segment spawns two, waits for both, takes their results and ends. Each worker runs
    its youngest future; one without work takes the older half of another's."""

    RESERVE = 2

    def __init__(self, n, workers, slots, seed, keeps=False):
        self.random = random.Random(seed)
        self.keeps = keeps
        self.pool = slots - 1
        self.stash = [0] * workers
        self.rings = [[] for _ in range(workers)]
        self.room = []
        self.used = self.peak = 1
        self.done = False
        self.rings[0].append(Future(n, None))

    def next_of(self, w):
        if self.rings[w]:
            return self.rings[w].pop()
        victims = [v for v in range(len(self.rings)) if self.rings[v]]
        if not victims:
            return None
        ring = self.rings[self.random.choice(victims)]
        half = (len(ring) + 1) // 2
        self.rings[w] = ring[:half]
        del ring[:half]
        return self.rings[w].pop()

    def room_for(self, w):
        got = min(self.pool, max(0, self.RESERVE - self.stash[w]))
        self.pool -= got
        self.stash[w] += got
        return self.stash[w] >= self.RESERVE

    def free(self, w, count):
        self.used -= count
        self.stash[w] += count
        if self.room or self.stash[w] > 2 * self.RESERVE:
            over = max(0, self.stash[w] - self.RESERVE)
            self.stash[w] -= over
            self.pool += over
            self.wake(w)

    def wake(self, w):
        self.rings[w] = self.room + self.rings[w]
        self.room = []

    def step(self, w):
        """False when this worker has nothing to do."""
        future = self.next_of(w)
        if future is None:
            if self.room and self.stash[w]:
                self.pool += self.stash[w]
                self.stash[w] = 0
                self.wake(w)
                return True
            return False
        if future.point == 0 and future.n >= 2:
            if not self.room_for(w):
                self.room.append(future)
                if not self.keeps:
                    self.pool += self.stash[w]
                    self.stash[w] = 0
                return True
            future.point, future.open = 1, 2
            self.stash[w] -= 2
            self.used += 2
            self.peak = max(self.peak, self.used)
            self.rings[w] += [Future(future.n - 1, future), Future(future.n - 2, future)]
            return True
        if future.point == 1:
            self.free(w, 2)
        self.end(w, future)
        return True

    def end(self, w, future):
        parent = future.parent
        if parent is None:
            self.done = True
            return
        parent.open -= 1
        if parent.open == 0:
            self.rings[w].append(parent)

    def run(self):
        """True when the work ends, False when all of it waits for room."""
        order = list(range(len(self.rings)))
        idle = 0
        while not self.done and idle < 100:
            self.random.shuffle(order)
            moved = False
            before = (self.used, len(self.room), self.pool)
            for w in order:
                if self.random.random() < 0.8 and not self.done:
                    moved = self.step(w) or moved
            same = before == (self.used, len(self.room), self.pool)
            idle = idle + 1 if not moved or same else 0
        return self.done


def simulate(out):
    good = True
    for n in (8, 12):
        alone = Tree(n, 1, 10 ** 6, 0)
        alone.run()
        for workers in (1, 2, 4, 8):
            slots = workers * (alone.peak + Tree.RESERVE)
            runs = [Tree(n, workers, slots, seed).run() for seed in range(40)]
            good = good and all(runs)
            print("bound: fib(%d), %d workers, %d slots: %d of %d runs end"
                  % (n, workers, slots, sum(runs), len(runs)), file=out)
        short = [Tree(n, 1, alone.peak - 1, seed).run() for seed in range(10)]
        good = good and not any(short)
        print("bound: fault one slot too few for one worker: %d of %d runs end"
              % (sum(short), len(short)), file=out)
    return good


def build(scenario, fault):
    builders = {"freed": build_freed, "idle": build_idle, "parked": build_parked,
                "chain": build_chain, "left": build_left, "short": build_short,
                "nodes": build_nodes,
                "promised": build_promised}
    return builders[scenario](fault)


if __name__ == "__main__":
    if len(sys.argv) == 1 and not simulate(sys.stdout):
        sys.exit("the bound does not hold")
    main(build, SCENARIOS, FAULTS)
