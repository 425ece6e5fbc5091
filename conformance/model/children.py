# SPDX-License-Identifier: Apache-2.0
"""A parent and its children: awaiting all of them, detaching one, ending before them, being
cancelled after its own end.

Mirrors rdl_poll_children, rdl_commit_children, rdl_wake_owner, rdl_drop_child, rdl_complete,
rdl_end, rdl_detach, rdl_free_child, rdl_hold, rdl_cancel and rdl_serve_unwind.
"""

from explore import (Model, atomic, cas, choose, exchange, fetch_add, fetch_and, fetch_or, load,
                     main, nobody_stuck_but, store, until)
from kernel import (CANCEL_BIT, CANCELLED, DONE, FREE, RETURNED, RUNNING, STATE_MASK, TICKET_ONE,
                    WAITING, check, future, once_queued, put_entry, rdl_begin_wait,
                    rdl_resume, rdl_take_back, rdl_wake, with_state)

SCENARIOS = ("await", "detach", "take", "returned", "reborn")
FAULTS = {
    "count read before the bit": ("await", "the last child ends between the two"),
    "bit before WAITING": ("await", "the last child finds nobody waiting"),
    "no second look": ("await", "a child of an earlier wait wakes a later one too soon"),
    "no look at what is awaited": ("await", "the last child ends a wait for something else"),
    "awaited bit left at the end": ("await", "a cancelled wait leaves it in the count"),
    "detach counts always": ("detach", "both count off a child that ended at the same time"),
    "detach never counts": ("detach", "nobody counts off a child that is detached in time"),
    "detached by load and store": ("detach", "nobody, or both, free the slot"),
    "done is read from the wait word": ("take", "the slot is freed under its finisher's hands"),
    "record read after closing": ("take", "the owner is read from a record that is freed"),
    "cancel does not hold": ("returned", "the parent ends while it stands in the unwind list"),
    "cancel sets the bit first": ("returned", "the hold comes when the parent may be over"),
    "first end without a swap": ("reborn", "a late hold is overwritten by the next birth"),
}
AWAITED = 1 << 31


def rdl_wake_owner(owner, fault):
    wait = yield load("wait." + owner)
    if wait & STATE_MASK != WAITING:
        return
    if fault != "no look at what is awaited":
        awaits = yield load("awaits." + owner)
        if awaits != "children":
            return
    yield from rdl_wake(owner, wait, 0)


def rdl_drop_child(owner, complete, fault):
    left = yield fetch_add("children." + owner, -1)
    left -= 1
    if left == AWAITED | 1:
        yield from rdl_wake_owner(owner, fault)
    if left == 0:
        yield from complete()


def parent_completes():  # rdl_complete of the parent
    state = yield load("wait.P")
    yield from check(state & STATE_MASK != DONE, "the parent ends twice")
    yield store("wait.P", with_state(state, DONE))


def rdl_end(fault, cause=0):
    wait = yield load("wait.P")
    if fault != "awaited bit left at the end":
        yield fetch_and("children.P", ~AWAITED)
    seen = yield cas("children.P", 1, 0)
    if seen == 1:
        yield from parent_completes()
        return
    while True:
        if wait & CANCEL_BIT and not cause:
            cause = CANCELLED
            yield store("told", True)  # rdl_cancel_children
        seen = yield cas("wait.P", wait, wait & ~STATE_MASK | RETURNED)
        if seen == wait:
            break
        wait = seen
    yield from rdl_drop_child("P", parent_completes, fault)


# ---- await: two waits for children, the second after another spawn; one wait for something else

def commit_children(waiting, fault):
    if fault == "count read before the bit":
        count = yield load("children.P")
        yield fetch_or("children.P", AWAITED)
    elif fault == "bit before WAITING":
        count = yield load("early")
    else:
        count = yield fetch_or("children.P", AWAITED)
    if count & ~AWAITED != 1:
        return False
    back = yield from rdl_take_back("P", waiting)
    return back


def await_children(wait, fault):
    """RDL_AWAIT_CHILDREN with rdl_suspend: the wait word, and CANCELLED or 0."""
    while True:
        requested = yield load("wait.P")  # rdl_poll_begins
        if requested & CANCEL_BIT:
            yield fetch_and("wait.P", ~CANCEL_BIT)
            return wait, CANCELLED
        yield fetch_and("children.P", ~AWAITED)
        count = yield load("children.P")  # rdl_poll_children
        if count == 1:
            return wait, 0
        waiting = with_state(wait + TICKET_ONE, WAITING)
        yield store("awaits.P", "children")
        if fault == "bit before WAITING":
            early = yield fetch_or("children.P", AWAITED)
            yield store("early", early)
        running = yield from rdl_begin_wait("P", wait, waiting)
        if running:
            return running, CANCELLED
        again = yield from commit_children(waiting, fault)
        cause = 0
        wait = with_state(waiting, RUNNING)
        if not again:
            wait, cause = yield from rdl_resume("P")
        if cause or fault == "no second look":
            return wait, cause


def child_ends(name, fault):
    """The last steps of a child: its list is closed, then it counts itself off."""
    yield until(lambda memory, who: memory["born." + who], name)
    yield exchange("waiters." + name, ("closed", False, ()))
    yield from rdl_drop_child("P", parent_completes, fault)


def all_closed(memory, *names):
    return all(memory["waiters." + name][0] == "closed" for name in names)


def spawn(memory, name):  # rdl_child_start
    memory["born." + name] = 1
    memory["children.P"] += 1


def build_await(fault):
    words = {**future("P", TICKET_ONE + RUNNING, children=3, awaits=""), **future("c", RUNNING),
             **future("d", RUNNING), **future("e", RUNNING), "told": False, "early": 0, "event": 0}
    words["born.e"] = 0

    def parent():
        wait, cause = yield from await_children(TICKET_ONE + RUNNING, fault)
        if not cause:
            closed = yield atomic(all_closed, "c", "d")
            yield from check(closed, "goes on although a child lives")
        yield atomic(spawn, "e")  # clean-up after a cancel may spawn and await too
        way = yield choose("children", "other")
        if way == "other":
            yield from await_other(wait)
        else:
            wait, cause = yield from await_children(wait, fault)
            if not cause:
                closed = yield atomic(all_closed, "c", "d", "e")
                yield from check(closed, "goes on although a child lives")
        yield from rdl_end(fault, cause)

    def await_other(wait):
        """A wait for an event, which comes when all children have counted themselves off."""
        waiting = with_state(wait + TICKET_ONE, WAITING)
        yield store("awaits.P", "event")
        running = yield from rdl_begin_wait("P", wait, waiting)
        if running:
            return
        yield store("event", waiting)
        _, cause = yield from rdl_resume("P")
        came = yield load("event")
        yield from check(cause or came == "signalled",
                         "woken by a child while it waits for an event")

    def event():
        waiting = yield until(lambda memory: memory["event"])
        yield exchange("event", "signalled")
        yield from rdl_wake("P", waiting, 0)

    threads = {"parent": parent, "child c": lambda: child_ends("c", fault),
               "child d": lambda: child_ends("d", fault), "child e": lambda: child_ends("e", fault),
               "cancel": cancel_unless_returned, "event": event}
    return Model(words, threads, once_queued("P"), parent_is_done("event"))


def cancel_unless_returned():
    """rdl_cancel of the parent, or none; of a RETURNED one it is the subject of `returned`."""
    comes = yield choose(True, False)
    while comes:
        wait = yield load("wait.P")
        if wait & STATE_MASK in (RETURNED, DONE):
            return
        if wait & STATE_MASK == WAITING:
            ready = yield cas("wait.P", wait, with_state(wait, 1))
            if ready == wait:
                yield store("cause.P", CANCELLED)
                yield atomic(put_entry, "P", with_state(wait, 1))
                return
        else:
            seen = yield cas("wait.P", wait, wait | CANCEL_BIT)
            if seen == wait:
                return


def parent_is_done(*may):
    def final(memory, stuck):
        wrong = nobody_stuck_but(*may)(memory, stuck)
        if wrong:
            return wrong
        if memory["wait.P"] & STATE_MASK != DONE:
            return "the parent never ends"
        return None
    return final


# ---- detach: the owner lets go of a child that ends at the same time

def build_detach(fault):
    words = {**future("P", TICKET_ONE + RUNNING, children=2, awaits=""), **future("c", RUNNING),
             "freed": 0, "told": False}

    def free_slot():
        before = yield fetch_add("freed", 1)
        yield from check(before == 0, "the slot is freed twice")

    def child():  # rdl_complete
        head = yield exchange("waiters.c", ("closed", False, ()))
        if head[1]:
            yield from free_slot()
        else:
            yield from rdl_drop_child("P", parent_completes, fault)

    def parent():  # rdl_detach, then the end
        if fault == "detached by load and store":
            old = yield load("waiters.c")
            yield store("waiters.c", (old[0], True, old[2]))
        else:
            old = yield atomic(set_detached)
        if old[0] == "closed":
            yield from free_slot()
        if (old[0] != "closed" or fault == "detach counts always") and \
                fault != "detach never counts":
            yield fetch_add("children.P", -1)
        yield from rdl_end(fault)

    def final(memory, stuck):
        wrong = parent_is_done()(memory, stuck)
        return wrong or (None if memory["freed"] == 1 else "the slot is lost")

    return Model(words, {"parent": parent, "child": child}, once_queued("P"), final)


def set_detached(memory):  # rdl_fetch_or(&record->waiters, RDL_DETACHED_BIT)
    old = memory["waiters.c"]
    memory["waiters.c"] = (old[0], True, old[2])
    return old


# ---- take: the owner sees that the child is done, takes its result and spawns again in its slot

def build_take(fault):
    words = {**future("P", TICKET_ONE + RUNNING, children=2, awaits=""),
             **future("c", TICKET_ONE + RUNNING, owner="P"), "told": False}

    def child():  # rdl_complete
        owner = yield load("owner.c")
        yield store("wait.c", TICKET_ONE + DONE)
        yield exchange("waiters.c", ("closed", False, ()))
        if fault == "record read after closing":
            owner = yield load("owner.c")
        yield from check(owner == "P", "counts off a child of another future")
        yield from rdl_drop_child("P", parent_completes, fault)

    def parent():
        yield until(is_done)
        yield store("owner.c", 0)  # rdl_slot_free and the next birth, with another owner
        yield fetch_add("generation.c", 1)
        yield store("waiters.c", ("open", False, ()))
        yield store("wait.c", 2 * TICKET_ONE + RUNNING)
        yield from rdl_end(fault)

    def is_done(memory):
        if fault == "done is read from the wait word":
            return memory["wait.c"] & STATE_MASK == DONE
        return memory["waiters.c"][0] == "closed"

    def final(memory, stuck):
        wrong = parent_is_done()(memory, stuck)
        if memory["waiters.c"][0] == "closed":
            wrong = wrong or "the list of a new future is closed by the end of the old one"
        return wrong

    return Model(words, {"parent": parent, "child": child}, once_queued("P"), final)


# ---- returned: a cancel comes when the parent's own code has ended

def rdl_hold(name):
    count = yield load("children." + name)
    while count:
        seen = yield cas("children." + name, count, count + 1)
        if seen == count:
            return True
        count = seen
    return False


def rdl_cancel(name, generation, complete, fault):
    """Gives True when the future now stands in this worker's unwind list."""
    while True:
        wait = yield load("wait." + name)
        state = wait & STATE_MASK
        seen = yield load("generation." + name)
        if seen != generation or state in (FREE, DONE) or wait & CANCEL_BIT:
            return False
        held = False
        if state == RETURNED and fault not in ("cancel does not hold", "cancel sets the bit first"):
            held = yield from rdl_hold(name)
            if not held:
                return False
        seen = yield cas("wait." + name, wait, wait | CANCEL_BIT)
        if seen == wait:
            if state == RETURNED and fault == "cancel sets the bit first":
                yield from rdl_hold(name)
            return state == RETURNED
        if held:
            yield from rdl_drop_child(name, complete, fault)


def build_returned(fault):
    words = {**future("P", TICKET_ONE + RUNNING, children=2, awaits=""), **future("c", RUNNING),
             "told": False}

    def parent():
        yield from rdl_end(fault)

    def canceller():
        mine = yield from rdl_cancel("P", 1, parent_completes, fault)
        if not mine:
            return
        wait = yield load("wait.P")  # rdl_serve_unwind
        yield from check(wait & STATE_MASK == RETURNED, "unwinds a future that is over")
        yield exchange("told", True)
        if fault != "cancel does not hold":
            yield from rdl_drop_child("P", parent_completes, fault)

    return Model(words, {"parent": parent, "child c": lambda: child_ends("c", fault),
                         "canceller 1": canceller, "canceller 2": canceller}, once_queued("P"),
                 parent_is_done())


# ---- reborn: the slot of a RETURNED future lives on while a canceller still looks at it

def build_reborn(fault):
    """Three lives of one slot: a parent with a child, then two futures without children."""
    words = {**future("S", TICKET_ONE + RETURNED, children=1), "life": 1, "over": 0}

    def completes():  # rdl_complete, by whoever counts last
        life = yield load("life")
        wait = yield load("wait.S")
        yield from check(wait & ~CANCEL_BIT == life * TICKET_ONE + RETURNED,
                         "ends a future that still runs")
        yield store("wait.S", life * TICKET_ONE + DONE)
        yield store("over", life)

    def next_life(life):
        yield until(lambda memory, last: memory["over"] == last, life - 1)
        yield store("wait.S", (life - 1) * TICKET_ONE + FREE)
        yield fetch_add("generation.S", 1)
        yield store("children.S", 1)  # rdl_record_clear
        yield store("life", life)
        yield store("wait.S", life * TICKET_ONE + RUNNING)
        if fault == "first end without a swap":  # rdl_end with no child alive
            count = yield load("children.S")
        else:
            count = yield cas("children.S", 1, 0)
        if count == 1:
            yield store("wait.S", life * TICKET_ONE + DONE)
            yield store("over", life)
            return
        yield cas("wait.S", life * TICKET_ONE + RUNNING, life * TICKET_ONE + RETURNED)
        yield from rdl_drop_child("S", completes, fault)

    def slot():
        yield from rdl_drop_child("S", completes, fault)  # the only child of the first life
        yield from next_life(2)
        yield from next_life(3)

    def canceller():
        mine = yield from rdl_cancel("S", 1, completes, fault)
        if mine:
            yield from rdl_drop_child("S", completes, fault)

    def final(memory, stuck):
        return nobody_stuck_but()(memory, stuck) or \
            (None if memory["over"] == 3 else "the last life never ends")

    return Model(words, {"slot": slot, "canceller": canceller}, None, final)


def build(scenario, fault):
    builders = {"await": build_await, "detach": build_detach, "take": build_take,
                "returned": build_returned, "reborn": build_reborn}
    return builders[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
