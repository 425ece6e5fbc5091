# SPDX-License-Identifier: Apache-2.0
"""A future awaits all of two others through a counting node, which starts at their number plus one.

Mirrors rdl_set_nodes, rdl_commit_all, rdl_counter_down, rdl_fire, rdl_node_drop, rdl_sweep,
rdl_pool_put and rdl_pool_take. The counter is a word of its own; 'freed' stands in it when its
node has gone back, and whoever touches it then is caught.
"""

from explore import Model, atomic, fetch_add, load, main, nobody_stuck_but, store, until
from kernel import (CANCELLED, OK, RUNNING, STALE, TICKET_ONE, WAITING, check, future, is_closed,
                    list_close, list_join, once_queued, rdl_begin_wait, rdl_cancel_waiting,
                    rdl_cause_of, rdl_join_future, rdl_requested, rdl_resume, rdl_sweep,
                    rdl_take_back, rdl_wake, record_clear, set_result, slot_free, with_state)

SCENARIOS = ("race", "sweep", "reuse", "nodes")
FAULTS = {
    "counter starts at n": ("race", "it fires before the last node is pushed"),
    "closed member is not counted": ("race", "nobody counts for a target that was done"),
    "no take-back": ("race", "the awaiter that counts last goes to sleep"),
    "counter goes with its wait": ("race", "a cancelled wait frees the counter under its members"),
    "counted by load and store": ("race", "two members count at once"),
    "dropped member is not counted": ("sweep", "a dead member is freed and its counter stays"),
    "sweeper trusts the slot": ("sweep", "live members go back onto whatever list is there now"),
    "sweeper looks once": ("sweep", "live members go back after the slot was reborn, and stay"),
    "generation not read again": ("reuse", "a member stands in the list of another future"),
    "nodes taken one by one": ("nodes", "what was set aside can go while the set is joined"),
}
COUNTER = "counter.A"


def count_down(memory):
    """rdl_counter_down and, by who gets 1, rdl_node_free: 1 = this was the last."""
    if memory[COUNTER] == "freed":
        return "touches a counter that was freed"
    memory[COUNTER] -= 1
    return 1 if memory[COUNTER] == 0 else 0


def free_counter(memory):
    wrong = memory[COUNTER] == "freed"
    memory[COUNTER] = "freed"
    return not wrong


def rdl_counter_down(fault):
    if fault == "counted by load and store":
        count = yield load(COUNTER)
        if count == "freed":
            return 0
        yield store(COUNTER, count - 1)
        return int(count == 1)
    last = yield atomic(count_down)
    yield from check(last in (0, 1), last)
    return last


def rdl_fire(node, fault):
    if node[2] == "member":
        last = yield from rdl_counter_down(fault)
        if last:
            yield from rdl_wake(node[0], node[1], 0)
            fine = yield atomic(free_counter)
            yield from check(fine, "frees the counter twice")
    else:
        yield from rdl_wake(node[0], node[1], 0)


def rdl_node_drop(node, fault):
    if node[2] == "member" and fault != "dropped member is not counted":
        last = yield from rdl_counter_down(fault)
        if last:
            fine = yield atomic(free_counter)
            yield from check(fine, "frees the counter twice")


def end(name, fault):  # rdl_complete
    yield atomic(set_result, name)
    head = yield atomic(list_close, name)
    for node in head[2]:
        yield from rdl_fire(node, fault)


def commit_all(me, waiting, targets, fault):
    for name in targets:
        seen = yield load("generation." + name)  # rdl_handle_status
        if seen == 1:
            joined = yield from rdl_join_future(name, (me, waiting, "member", 1), fault, rdl_fire,
                                                rdl_node_drop)
            if joined:
                continue
        if fault != "closed member is not counted":
            yield from rdl_counter_down(fault)
    last = 0
    if fault != "counter starts at n":
        last = yield from rdl_counter_down(fault)
    if not last:
        return False
    fine = yield atomic(free_counter)
    yield from check(fine, "frees the counter twice")
    if fault == "no take-back":
        return False
    back = yield from rdl_take_back(me, waiting)
    return back


def await_all(me, wait, targets, fault):
    running = yield from rdl_requested(me, wait)
    if running:
        return running, CANCELLED
    waiting = with_state(wait + TICKET_ONE, WAITING)
    yield store(COUNTER, len(targets) + (0 if fault == "counter starts at n" else 1))
    running = yield from rdl_begin_wait(me, wait, waiting)
    if running:
        yield store(COUNTER, "freed")
        return running, CANCELLED
    again = yield from commit_all(me, waiting, targets, fault)
    wait, cause = with_state(waiting, RUNNING), 0
    if not again:
        wait, cause = yield from rdl_resume(me)
        if cause and fault == "counter goes with its wait":
            yield store(COUNTER, "freed")
    if cause:
        return wait, cause
    for name in targets:  # rdl_settle_all
        seen = yield load("generation." + name)
        if seen == 1:
            closed = yield atomic(is_closed, name)
            seen = yield load("generation." + name)
            yield from check(closed or seen != 1, "woken although one of them has not ended")
        status = yield from rdl_cause_of(name, 1)
        if status != OK:
            return wait, status
    return wait, OK


def counter_is_freed(memory, stuck):
    if stuck:
        return "waits for ever: " + ", ".join(stuck)
    return None if memory[COUNTER] == "freed" else "the counter's node is lost"


def words_of(*names):
    words = {COUNTER: "freed", **future("A", TICKET_ONE + RUNNING)}
    for name in names:
        words.update(future(name, RUNNING))
    return words


def build_race(fault):
    def awaiter():
        yield from await_all("A", TICKET_ONE + RUNNING, "TU", fault)

    threads = {"awaiter": awaiter, "cancel": lambda: rdl_cancel_waiting("A"),
               "end of T": lambda: end("T", fault), "end of U": lambda: end("U", fault)}
    return Model(words_of("T", "U"), threads, once_queued("A"), counter_is_freed)


def build_sweep(fault):
    """Another awaiter of T sweeps its list, alive or dead members in it; then T's slot is reborn
    and the new future ends only after A has gone on."""
    words = words_of("T", "U")
    words["over"] = 0

    def awaiter():
        yield from await_all("A", TICKET_ONE + RUNNING, "TU", fault)
        yield store("over", 1)

    def slot():
        yield from end("T", fault)
        yield atomic(slot_free, "T")
        yield fetch_add("generation.T", 1)
        yield atomic(record_clear, "T")
        yield until(lambda memory: memory["over"])
        yield from end("T", fault)

    threads = {"awaiter": awaiter, "cancel": lambda: rdl_cancel_waiting("A"),
               "sweeper": lambda: rdl_sweep("T", rdl_fire, rdl_node_drop, fault), "slot T": slot,
               "end of U": lambda: end("U", fault)}
    return Model(words, threads, once_queued("A"), counter_is_freed)


def build_reuse(fault):
    words = words_of("T", "U")
    words["over"] = 0

    def awaiter():
        _, status = yield from await_all("A", TICKET_ONE + RUNNING, "TU", fault)
        yield from check(status in (OK, STALE), "neither OK nor STALE")
        yield store("over", 1)

    def slot():
        yield from end("T", fault)
        yield atomic(slot_free, "T")
        yield fetch_add("generation.T", 1)
        yield atomic(record_clear, "T")
        yield until(lambda memory: memory["over"])
        yield from end("T", fault)

    threads = {"awaiter": awaiter, "slot T": slot, "end of U": lambda: end("U", fault)}
    return Model(words, threads, once_queued("A"), counter_is_freed)


# ---- nodes: the set's members against a pool that others use too ----

def pool_take(memory):  # rdl_pool_take with an empty stash goes to the pool
    for place in ("stash", "pool"):
        if memory[place]:
            memory[place] -= 1
            return True
    return False


def pool_put(memory):
    """rdl_pool_put with chunks of two: a stash of more than two chunks gives one of them back."""
    memory["stash"] += 1
    if memory["stash"] > 4:
        memory["stash"] -= 2
        memory["pool"] += 2


def build_nodes(fault):
    """A set of T and six times U. T is done, so its member's node goes back at once, while another
    worker takes nodes from the pool. The stash was filled for the whole set before."""
    one_by_one = fault == "nodes taken one by one"
    words = words_of("T", "U")
    words.update({"stash": 7, "pool": 0, "waiters.T": ("closed", False, ()), "result.T": 1})
    if not one_by_one:
        words["stash"] = 0  # they are a chain of the wait's own
    waiting = with_state(2 * TICKET_ONE, WAITING)

    def awaiter():
        yield store(COUNTER, 8)
        yield store("wait.A", waiting)
        for member in range(7):
            if one_by_one:
                got = yield atomic(pool_take)
                yield from check(got, "pushes node 0: the list of U is lost")
            joined = yield atomic(list_join, "U" if member else "T",
                                  (("A", waiting, "member", 1, member),))
            if not joined:
                yield atomic(pool_put)
                yield from rdl_counter_down(fault)
        last = yield from rdl_counter_down(fault)
        back = False
        if last:
            yield atomic(free_counter)
            back = yield from rdl_take_back("A", waiting)
        if not back:
            yield from rdl_resume("A")

    def other():
        yield until(take_shared)
        yield until(take_shared)

    return Model(words, {"awaiter": awaiter, "another worker": other,
                         "end of U": lambda: end("U", fault)},
                 once_queued("A"), nobody_stuck_but("another worker"))


def take_shared(memory):
    if not memory["pool"]:
        return False
    memory["pool"] -= 1
    return True


def build(scenario, fault):
    builders = {"race": build_race, "sweep": build_sweep, "reuse": build_reuse,
                "nodes": build_nodes}
    return builders[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
