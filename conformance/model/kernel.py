# SPDX-License-Identifier: Apache-2.0
"""What several models share: the wait word, lists of waiters, waking and dispatch, each function
named as in kernels/.

A list of waiters is one word here, ("open" or "closed", detached, nodes); a push or a taking is one
step. In the kernel it is a linked list that is pushed by compare-and-swap and taken by exchange;
stealing.py shows that these behave as one step. A node is a value: (who, ticket, kind, generation).
"""

from explore import atomic, cas, choose, exchange, fail, load, store, until

FREE, READY, QUEUED, RUNNING, WAITING, RETURNED, DONE = range(7)
STATE_MASK = 7
CANCEL_BIT = 8
TICKET_ONE = 16
NIL_LIST = ("open", False, ())
OK, STALE, TIMEOUT, CANCELLED, FAILED = "OK", "STALE", "TIMEOUT", "CANCELLED", "FAILED"


def with_state(wait, state):  # rdl_with_state
    return wait & ~(STATE_MASK | CANCEL_BIT) | state


def check(condition, text):
    if not condition:
        yield fail(text)


# ---- the queue of one future: entries (word it was queued with) ----

def put_entry(memory, who, ready):
    memory["queue." + who] += (ready,)
    return True


def take_entry(memory, who):
    queue = memory["queue." + who]
    if not queue:
        return None
    memory["queue." + who] = queue[1:]
    return queue[0]


def future(name, wait, **more):
    """The words of one future."""
    words = {"wait." + name: wait, "queue." + name: (), "cause." + name: 0,
             "generation." + name: 1, "waiters." + name: NIL_LIST, "result." + name: 0,
             "born." + name: 1}
    for key, value in more.items():
        words[key + "." + name] = value
    return words


def rdl_wake_now(who, waiting, cause):
    ready = with_state(waiting, READY)
    seen = yield cas("wait." + who, waiting, ready)
    if seen != waiting:
        return 0
    if cause:
        yield store("cause." + who, cause)
    return ready


def rdl_wake(who, waiting, cause):
    ready = yield from rdl_wake_now(who, waiting, cause)
    if ready:
        yield atomic(put_entry, who, ready)  # rdl_enqueue


def rdl_take_back(who, waiting):
    running = with_state(waiting, RUNNING)
    seen = yield cas("wait." + who, waiting, running)
    return seen == waiting


def rdl_dispatch(who):
    """The future goes on: (its wait word, what it was woken with). Outside flat mode, which
    stealing.py has, an entry is nobody else's: the word is read and stays as it is."""
    expected = yield until(take_entry, who)
    wait = yield load("wait." + who)
    yield from check(wait & ~CANCEL_BIT == expected, "the word of what is queued has changed")
    cause = yield exchange("cause." + who, 0)  # rdl_run; the record is the future's own now
    return wait, cause


def rdl_deliver_cancel(who, wait):
    """The ticket rises, so that a deadline of a wait that did not come about cannot end the next
    one. Returns the word to run on with. (cancel.py has futures that were told before.)"""
    wait = with_state(wait + TICKET_ONE, RUNNING)
    yield store("wait." + who, wait)
    return wait


# ---- lists of waiters ----

def list_join(memory, name, nodes):  # rdl_list_join
    state, detached, old = memory["waiters." + name]
    if state == "closed":
        return False
    memory["waiters." + name] = (state, detached, nodes + old)
    return True


def list_take(memory, name):  # rdl_sweep: rdl_fetch_and(list, ~RDL_NODE_MASK)
    state, detached, old = memory["waiters." + name]
    memory["waiters." + name] = (state, detached, ())
    return state, old


def list_close(memory, name):  # rdl_exchange(&record->waiters, RDL_LIST_CLOSED)
    old = memory["waiters." + name]
    memory["waiters." + name] = ("closed", False, ())
    return old


def is_closed(memory, name):  # rdl_is_done
    return memory["waiters." + name][0] == "closed"


def set_result(memory, name):
    """The code of the future writes its result; its generation stands for the value."""
    memory["result." + name] = memory["generation." + name]


def slot_free(memory, name):  # rdl_slot_free; then the generation rises
    memory["wait." + name] = with_state(memory["wait." + name], FREE)


def record_clear(memory, name):  # rdl_record_clear; from here on there are handles
    memory["waiters." + name] = NIL_LIST
    memory["result." + name] = 0
    memory["born." + name] = memory["generation." + name]


def rdl_fire_plain(nodes):
    for node in nodes:
        yield from rdl_wake(node[0], node[1], 0)


def rdl_sweep(name, fire, drop, fault=None):
    """Takes the list of a future, drops its dead nodes and puts the live ones back. Faults by
    name; `fire` and `drop` do what a node's kind asks for."""
    while True:
        known = 0
        if fault == "sweeper reads generation early":
            known = yield load("generation." + name)
        state, nodes = yield atomic(list_take, name)
        if state == "closed":
            return
        if fault != "sweeper reads generation early":
            known = yield load("generation." + name)
        live, gone = (), ()
        for node in nodes:
            if fault != "sweeper trusts the slot" and node[3] != known:
                gone += (node,)
                continue
            wait = yield load("wait." + node[0])  # rdl_chain_keep, rdl_node_alive
            if wait == node[1]:
                live += (node,)
            else:
                yield from drop(node, fault)
        joined = True
        if live:
            joined = yield atomic(list_join, name, live)  # rdl_chain_return
        if not joined and fault != "sweeper leaves closed list":
            for node in live:
                yield from fire(node, fault)
        for node in gone:
            yield from fire(node, fault)
        if fault in ("sweeper trusts the slot", "sweeper looks once"):
            return
        now = yield load("generation." + name)
        if now == known:
            return


def fire_plain(node, fault=None):
    yield from rdl_wake(node[0], node[1], 0)


def drop_plain(node, fault=None):
    yield from ()


def rdl_join_future(name, node, fault=None, fire=fire_plain, drop=drop_plain):
    """False: the list is closed. When the slot has been reused since the handle was looked at, the
    sweep fires the node."""
    joined = yield atomic(list_join, name, (node,))
    if not joined:
        return False
    if fault != "generation not read again":
        seen = yield load("generation." + name)
        if seen != node[3]:
            yield from rdl_sweep(name, fire, drop)
    return True


def rdl_cause_of(name, generation):
    """Status of a future that is done, and its result, between two looks at its generation."""
    seen = yield load("generation." + name)
    if seen != generation:
        return STALE
    result = yield load("result." + name)
    seen = yield load("generation." + name)
    if seen != generation:
        return STALE
    yield from check(result == generation, "reads a result that is not there")
    return OK


def rdl_cancel_waiting(who):
    """rdl_cancel of a future that waits or runs (cancel.py has the whole of it), or no cancel."""
    comes = yield choose(True, False)
    while comes:
        wait = yield load("wait." + who)
        if wait & STATE_MASK == WAITING:
            ready = yield from rdl_wake_now(who, wait, CANCELLED)
            if ready:
                yield atomic(put_entry, who, ready)
                return
        else:
            seen = yield cas("wait." + who, wait, wait | CANCEL_BIT)
            if seen == wait:
                return


def rdl_requested(who, wait):
    """rdl_poll_begins: takes up a request to cancel that has come while it ran. Returns the word to
    run on with, or 0 when there is none."""
    seen = yield load("wait." + who)
    if not seen & CANCEL_BIT:
        return 0
    wait = yield from rdl_deliver_cancel(who, wait)
    return wait


def rdl_begin_wait(who, wait, waiting):
    """The swap to WAITING in rdl_begin_wait. It fails when a request to cancel has come; that is
    told at once. Returns the wait word to run on with, or 0."""
    seen = yield cas("wait." + who, wait, waiting)
    if seen == wait:
        return 0
    wait = yield from rdl_deliver_cancel(who, wait)
    return wait


def rdl_resume(who):
    """Dispatch, and the request that may have come since it was made ready."""
    wait, cause = yield from rdl_dispatch(who)
    if wait & CANCEL_BIT:
        wait = yield from rdl_deliver_cancel(who, wait)
        cause = CANCELLED
    return wait, cause


def once_queued(names):
    """Invariant: no future stands in the queues twice."""
    def invariant(memory):
        for name in names:
            if len(memory["queue." + name]) > 1:
                return name + " is queued twice"
        return None
    return invariant
