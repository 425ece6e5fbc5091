# SPDX-License-Identifier: Apache-2.0
"""Where ready futures stand: a worker's ring, lists that others take whole, the ring of roots, and
the chains of a pool. Nothing runs twice and nothing is lost.

Mirrors rdl_ring_push, rdl_spill_ring, rdl_change, rdl_list_push, rdl_list_take, rdl_adopt,
rdl_adopt_last, rdl_from_ring, rdl_from_fifo, rdl_claim, rdl_commit_yield, rdl_dispatch,
rdl_start_root, rdl_shared_push, rdl_roots_pop, rdl_pool_refill_freed, rdl_pool_give_back and
rdl_pool_flush. Links are words of their own here, so this model also shows what the others take
for granted: that pushing onto a list and taking it whole each behave as one step.
"""

from explore import (Model, atomic, cas, choose, exchange, fetch_add, load, main, nobody_stuck,
                     nobody_stuck_but, store, until)
from kernel import (CANCEL_BIT, DONE, QUEUED, READY, RUNNING, STATE_MASK, TICKET_ONE, check,
                    with_state)

SCENARIOS = ("future", "plain", "list", "order", "chain", "roots", "ring")
FAULTS = {
    "spilled without a swap": ("future", "the spilled future may have been claimed"),
    "list before QUEUED": ("future", "the thief unlinks it while it may still be claimed"),
    "change drops the request": ("future", "spilling undoes a request to cancel"),
    "dispatch insists on the word": ("future", "a future with a request is never dispatched"),
    "flat without a swap": ("future", "the owner and who claims both run it"),
    "claims outside flat mode": ("plain", "nobody else looks whether a claim has come first"),
    "spilled and kept": ("plain", "a thief and the ring's owner both run it"),
    "stale entry is not dropped": ("future", "an entry counts although the word has changed"),
    "claims what is queued": ("future", "a future in a list runs, and its link is still needed"),
    "adopted without a swap": ("future", "its entry in the ring says READY and its word QUEUED"),
    "list is not turned": ("order", "what was newest comes in first, and the oldest runs next"),
    "push by load and store": ("list", "two pushes at once lose one"),
    "taken by load and store": ("list", "a push in between is lost"),
    "pop by swap": ("list", "the head has come back with another link (ABA)"),
    "gives back by store": ("chain", "what was flushed meanwhile is lost"),
    "takes one by swap": ("chain", "the head has come back with another link (ABA)"),
    "chunk without its count": ("chain", "the number is that of a chunk it once began"),
    "chunks linked as items": ("chain", "the last item of one chunk leads into the next"),
    "root starts unseen": ("roots", "a root that was claimed is queued with the word RUNNING"),
    "cell filled after its number": ("ring", "the consumer reads what stood there before"),
    "head by load and store": ("ring", "two consumers take one entry"),
    "block without a look": ("ring", "the second cell of a block may be empty"),
}


# ---- one future between its worker's ring, the overflow, a thief and a claimer ----

def rdl_change(word, old, new, fault):
    seen = yield cas(word, old, new)
    if seen == old:
        return True
    if seen != old | CANCEL_BIT:
        return False
    keep = 0 if fault == "change drops the request" else CANCEL_BIT
    again = yield cas(word, seen, new | keep)
    return again == seen


def rdl_dispatch(expected, fault):
    running = with_state(expected, RUNNING)
    flat = yield load("flat")
    if not flat or fault == "flat without a swap":
        word = yield atomic(starts)
        yield from run(word & ~CANCEL_BIT, bool(word & CANCEL_BIT), fault)
        return
    if fault == "stale entry is not dropped":
        yield exchange("wait", running)
    else:
        seen = yield cas("wait", expected, running)
        if seen != expected:
            if seen != expected | CANCEL_BIT or fault == "dispatch insists on the word":
                return
            again = yield cas("wait", seen, running | CANCEL_BIT)
            if again != seen:
                return
            yield from run(running, True, fault)
            return
    yield from run(running, False, fault)


def starts(memory):
    memory["started"] = 1
    return memory["wait"]


def run(running, cancelled, fault):
    linked = yield load("linked")
    yield from check(not linked, "runs while it stands in a list")
    others = yield fetch_add("running", 1)
    yield from check(others == 0, "two segments of one future overlap")
    yield atomic(lambda memory: note(memory, cancelled))
    yields = yield load("yields")
    if yields and not cancelled:
        yield store("yields", 0)
        yield fetch_add("running", -1)
        yield from rdl_change("wait", running, with_state(running, QUEUED), fault)
        yield store("fifo", True)  # rdl_commit_yield; this worker's own
        word = yield load("wait")
        yield store("fifo", False)
        yield from rdl_dispatch(word & ~CANCEL_BIT, fault)
        return
    yield fetch_add("ends", 1)
    yield fetch_add("running", -1)
    yield exchange("wait", with_state(running, DONE))


def note(memory, cancelled):
    memory["segments"] += 1
    memory["started"] = 1
    memory["heard"] = memory["heard"] or cancelled


def build_future(fault, flat=True):
    """In flat mode a claimer may take the future from its ring; elsewhere only a thief may, from
    the list."""
    ready = TICKET_ONE + READY
    words = {"flat": flat, "wait": ready, "linked": False, "overflow": False, "running": 0,
             "ends": 0, "segments": 0, "yields": 1, "fifo": False, "heard": False, "started": 0,
             "early": False}

    def owner():
        """The entry leaves the ring of its worker in one of the two ways."""
        way = yield choose("runs it", "spills it")
        if way == "runs it":
            yield from rdl_dispatch(ready, fault)
            return
        if fault == "spilled and kept":
            yield from rdl_change("wait", ready, with_state(ready, QUEUED), fault)
            yield atomic(link)
            yield from rdl_dispatch(ready, fault)
            return
        if fault == "list before QUEUED":
            yield atomic(link)
            yield from rdl_change("wait", ready, with_state(ready, QUEUED), fault)
            return
        if fault == "spilled without a swap":
            yield exchange("wait", with_state(ready, QUEUED))
            mine = True
        else:
            mine = yield from rdl_change("wait", ready, with_state(ready, QUEUED), fault)
        if mine:
            yield atomic(link)

    def link(memory):  # rdl_list_push onto the overflow
        memory["linked"] = memory["overflow"] = True

    def unlink(memory):  # rdl_list_take
        if not memory["overflow"]:
            return False
        memory["linked"] = memory["overflow"] = False
        return True

    def thief():
        """Takes the list into its ring (rdl_adopt), or behind what has yielded (rdl_adopt_last)."""
        way = yield choose("ring", "FIFO")
        yield until(unlink)
        word = yield load("wait")
        queued = word & ~CANCEL_BIT
        if way == "ring":
            expected = with_state(queued, READY)
            mine = True
            if fault != "adopted without a swap":
                mine = yield from rdl_change("wait", queued, expected, fault)
            if mine:
                yield from rdl_dispatch(expected, fault)
            return
        yield from rdl_dispatch(queued, fault)  # rdl_from_fifo

    def claimer():  # rdl_claim, then rdl_from_next
        if not flat and fault != "claims outside flat mode":
            return
        wait = yield load("wait")
        state = wait & STATE_MASK
        if state == READY or (state == QUEUED and fault == "claims what is queued"):
            yield from rdl_dispatch(wait & ~CANCEL_BIT, fault)

    def canceller():
        comes = yield choose(True, False)
        while comes:
            wait = yield load("wait")
            if wait & STATE_MASK == DONE:
                return
            done = yield atomic(request, wait)
            if done:
                return

    def request(memory, wait):
        if memory["wait"] != wait:
            return False
        memory["wait"] = wait | CANCEL_BIT
        memory["early"] = memory["started"] == 0
        return True

    def final(memory, stuck):
        wrong = nobody_stuck_but("thief")(memory, stuck)
        if wrong:
            return wrong
        if memory["ends"] != 1:
            return "ends %d times" % memory["ends"]
        return "the request is lost" if memory["early"] and not memory["heard"] else None

    return Model(words, {"owner": owner, "thief": thief, "claimer": claimer,
                         "cancel": canceller}, None, final)


# ---- the list itself: pushed by compare-and-swap, taken by exchange ----

def rdl_list_push(item, fault=None):
    old = yield load("list")
    if fault == "push by load and store":
        yield store("link." + item, old)
        yield store("list", item)
        return
    while True:
        yield store("link." + item, old)
        seen = yield cas("list", old, item)
        if seen == old:
            return
        old = seen


def take(fault):
    """Takes the whole list and counts every item: rdl_adopt."""
    if fault == "taken by load and store":
        item = yield load("list")
        yield store("list", "")
    elif fault == "pop by swap":
        yield from pop()
        return
    else:
        item = yield exchange("list", "")
    while item:
        following = yield load("link." + item)
        yield atomic(came, item)
        item = following


def pop():
    for attempt in range(3):
        item = yield load("list")
        if not item:
            return
        following = yield load("link." + item)
        seen = yield cas("list", item, following)
        if seen == item:
            yield atomic(came, item)


def came(memory, item):
    memory["came." + item] += 1


def build_list(fault):
    """The first taker pushes one of the items again, so that a head can come back."""
    words = {"list": "y", "link.x": "", "link.y": "", "link.z": "", "came.x": 0, "came.y": 0,
             "came.z": 0, "again": False}

    def pusher(item):
        return lambda: rdl_list_push(item, fault)

    def taker():
        yield from take(fault)

    def taker_again():
        yield from take(fault)
        count = yield load("came.y")
        if count == 1:
            yield store("again", True)
            yield from rdl_list_push("y", fault)

    def final(memory, stuck):
        left, item = {}, memory["list"]
        while item and item not in left:
            left[item] = 1
            item = memory["link." + item]
        if item:
            return "the list has become a ring"
        for name in "xyz":
            pushed = 2 if name == "y" and memory["again"] else 1
            if memory["came." + name] + left.get(name, 0) != pushed:
                return name + " is lost or has come twice"
        return nobody_stuck(memory, stuck)

    return Model(words, {"pushes x": pusher("x"), "pushes z": pusher("z"), "taker": taker,
                         "taker again": taker_again}, None, final)


# ---- the order in which a list comes into a ring ----

def rdl_list_take(fault):
    """The items taken, the oldest first, as they are pushed onto a ring."""
    item = yield exchange("list", "")
    turned = ""
    while item:
        older = yield load("link." + item)
        turned = turned + item if fault == "list is not turned" else item + turned
        item = older
    return turned


def build_order(fault):
    words = {"list": "", "link.x": "", "link.y": "", "link.z": "", "ring": ""}

    def pusher():
        yield from rdl_list_push("x")
        yield from rdl_list_push("y")

    def other():
        yield from rdl_list_push("z")

    def taker():
        for attempt in range(3):
            some = yield from rdl_list_take(fault)
            yield atomic(into_ring, some)

    def into_ring(memory, items):
        memory["ring"] += items

    def final(memory, stuck):
        left, item = "", memory["list"]
        while item:
            left, item = item + left, memory["link." + item]
        order = memory["ring"] + left
        if sorted(order) != list("xyz"):
            return "items now: " + order
        if order.index("x") > order.index("y"):
            return "what was put out last does not come in last"
        return nobody_stuck(memory, stuck)

    return Model(words, {"pushes x, y": pusher, "pushes z": other, "taker": taker}, None, final)


# ---- the chunks of a pool: taken whole, the rest given back ----

def next_word(item, fault=None):  # rdl_pool_next
    return ("link." if fault == "chunks linked as items" else "next.") + item


def rdl_pool_give_back(rest, fault):
    if fault == "gives back by store" and rest:
        yield store("chunks", rest)
        return
    while rest:
        seen = yield cas("chunks", "", rest)
        if not seen:
            return
        newer = yield exchange("chunks", "")
        if not newer:
            continue
        last = newer
        following = yield load(next_word(last, fault))
        while following:
            last = following
            following = yield load(next_word(last, fault))
        yield store(next_word(last, fault), rest)
        rest = newer


def refill(worker, fault):
    """rdl_pool_refill_freed; 1 = a chunk came."""
    if fault == "takes one by swap":
        head = yield load("chunks")
        while head:
            rest = yield load(next_word(head))
            seen = yield cas("chunks", head, rest)
            if seen == head:
                break
            head = seen
    else:
        head = yield exchange("chunks", "")
        if head:
            rest = yield load(next_word(head, fault))
            yield from rdl_pool_give_back(rest, fault)
    if not head:
        return 0
    count = yield load("count." + head)
    yield atomic(into_stash, worker, head, count)
    return 1


def into_stash(memory, worker, head, count):
    """The stash believes the count: it takes so many items, one link after the other."""
    item = head
    for _ in range(count):
        memory["stash." + worker] += item or "?"
        item = memory["link." + item] if item else ""


def flush(worker, count, fault=None):  # rdl_pool_flush
    head = yield atomic(out_of_stash, worker, count)
    if fault != "chunk without its count":
        yield store("count." + head, count)
    old = yield load("chunks")
    while True:
        yield store(next_word(head, fault), old)
        seen = yield cas("chunks", old, head)
        if seen == old:
            return
        old = seen


def out_of_stash(memory, worker, count):
    """The first items of the stash become a chain of their own. Returns its head."""
    stash = memory["stash." + worker]
    taken, memory["stash." + worker] = stash[:count], stash[count:]
    for item, following in zip(taken, taken[1:] + " "):
        memory["link." + item] = following.strip()
    return taken[0]


def build_chain(fault):
    """The pool has two chunks: a, and b with e. Worker 2 holds d."""
    words = {"chunks": "a", "next.a": "b", "stash.1": "", "stash.2": "d", "stash.3": ""}
    for item in "abde":
        words.setdefault("next." + item, "")
        words["link." + item] = "e" if item == "b" else ""
        words["count." + item] = 2 if item == "b" else 1
    if fault == "chunks linked as items":
        words["link.a"] = "b"

    def first():
        yield from refill("1", fault)

    def second():
        """Takes one, takes another, gives the first back: the head returns with another link."""
        yield from flush("2", 1, fault)
        one = yield from refill("2", fault)
        yield from refill("2", fault)
        if one:
            yield from flush("2", 1, fault)

    def third():
        yield from refill("3", fault)

    def final(memory, stuck):
        items, head = memory["stash.1"] + memory["stash.2"] + memory["stash.3"], memory["chunks"]
        while head and len(items) < 9:
            item = head
            for _ in range(memory["count." + head]):
                items += item or "?"
                item = memory["link." + item] if item else ""
            head = memory[next_word(head, fault)]
        if sorted(items) != list("abde"):
            return "items now: " + items
        return nobody_stuck(memory, stuck)

    return Model(words, {"first": first, "second": second, "third": third}, None, final)


# ---- a batch of two roots; the first one claims the second before its message is done ----

def build_roots(fault):
    ready = TICKET_ONE + READY
    words = {"wait": ready, "linked": False, "running": 0, "ends": 0, "segments": 0, "yields": 0,
             "fifo": False, "heard": False, "ring": 0, "flat": True, "started": 0}

    def drainer():  # rdl_start_roots has started the first root and comes to the second
        wait = yield load("wait")
        if wait & STATE_MASK == READY or fault == "root starts unseen":
            yield store("ring", wait & ~CANCEL_BIT)
        else:
            yield store("ring", "no")

    def first_root():  # in flat mode: rdl_claim, rdl_from_next
        wait = yield load("wait")
        if wait & STATE_MASK == READY:
            yield from rdl_dispatch(wait, None)

    def worker():  # rdl_from_roots
        entry = yield until(lambda memory: memory["ring"])
        if entry != "no":
            yield from rdl_dispatch(entry, None)

    def final(memory, stuck):
        return nobody_stuck(memory, stuck) or \
            (None if memory["ends"] == 1 else "ends %d times" % memory["ends"])

    return Model(words, {"drainer": drainer, "first root": first_root, "worker": worker}, None,
                 final)


# ---- the bounded ring of many producers and consumers, with two cells ----

CELLS = 2


def rdl_shared_push(item, fault):
    tail = yield load("tail")
    while True:
        sequence = yield load("sequence.%d" % (tail % CELLS))
        behind = sequence - tail
        if behind == 0:
            seen = yield cas("tail", tail, tail + 1)
            if seen == tail:
                cell = tail % CELLS
                if fault == "cell filled after its number":
                    yield store("sequence.%d" % cell, tail + 1)
                    yield store("cell.%d" % cell, item)
                else:
                    yield store("cell.%d" % cell, item)
                    yield store("sequence.%d" % cell, tail + 1)
                return True
            tail = seen
        elif behind < 0:
            return False
        else:
            tail = yield load("tail")


def rdl_roots_pop(most, fault):
    """What came first stands first in what is returned."""
    head = yield load("head")
    while True:
        count = 0
        while count < most:
            sequence = yield load("sequence.%d" % ((head + count) % CELLS))
            if sequence != head + count + 1 and not (count and fault == "block without a look"):
                break
            count += 1
        if count and fault == "head by load and store":
            seen = head
            yield store("head", head + count)
        elif count:
            seen = yield cas("head", head, head + count)
        else:
            seen = yield load("head")
        if seen == head:
            break
        head = seen
    items = ""
    while count:
        count -= 1
        item = yield load("cell.%d" % ((head + count) % CELLS))
        yield store("sequence.%d" % ((head + count) % CELLS), head + count + CELLS)
        items = item + items
    return items


def build_ring(fault):
    words = {"head": 0, "tail": 0, "sequence.0": 0, "sequence.1": 1, "cell.0": "", "cell.1": "",
             "pushed": "", "popped": ""}

    def producer(items):
        def push():
            for item in items:
                done = yield from rdl_shared_push(item, fault)
                if done:
                    yield atomic(append, "pushed", item)
        return push

    def consumer(most):
        def pop():
            for attempt in range(2):
                items = yield from rdl_roots_pop(most, fault)
                if items:
                    yield atomic(append, "popped", items)
        return pop

    def append(memory, word, item):
        memory[word] = "".join(sorted(memory[word] + item))

    def final(memory, stuck):
        left = "".join(memory["cell.%d" % (k % CELLS)] for k in range(memory["head"],
                                                                      memory["tail"]))
        if sorted(memory["popped"] + left) != sorted(memory["pushed"]):
            return "pushed %s, popped %s, left %s" % (memory["pushed"], memory["popped"], left)
        return nobody_stuck(memory, stuck)

    return Model(words, {"pushes a, c": producer("ac"), "pushes b": producer("b"),
                         "pops two": consumer(2), "pops": consumer(1)}, None, final)


def build(scenario, fault):
    builders = {"future": build_future, "plain": lambda fault: build_future(fault, False),
                "list": build_list, "order": build_order, "chain": build_chain,
                "roots": build_roots, "ring": build_ring}
    return builders[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
