# SPDX-License-Identifier: Apache-2.0
"""Requests to cancel a future that is not started, runs, suspends, waits or has ended.

Mirrors rdl_cancel, rdl_dispatch, rdl_take_up_cancel, rdl_deliver_cancel, rdl_poll_begins,
rdl_begin_wait, rdl_timer_set and RDL_SAY_WAKE. (children.py has RETURNED futures.) `told` is
RDL_TASK_CANCELLED; who reads the wait word WAITING by acquire sees it as it was before that wait.
"""

from explore import (Model, atomic, cas, choose, exchange, fetch_and, load, main, nobody_stuck_but,
                     store, until)
from kernel import (CANCEL_BIT, CANCELLED, DONE, FREE, OK, READY, RUNNING, STATE_MASK,
                    TICKET_ONE, TIMEOUT, WAITING, check, future, put_entry, take_entry, with_state)

SCENARIOS = ("one", "two", "deadline")
FAULTS = {
    "request by load and store": ("one", "it undoes a change of state that came in between"),
    "WAITING by store": ("one", "a request that came while it ran is wiped out"),
    "dispatch wipes the request": ("one", "what is not started starts"),
    "request only while it waits": ("one", "a future that is queued or runs hears nothing"),
    "wakes without a swap": ("two", "two requests queue the future twice"),
    "told of every request": ("two", "clean-up cannot await again"),
    "wakes who was told": ("two", "a second request ends the clean-up's wait"),
    "swap is not tried again": ("two", "a second request keeps the clean-up from waiting"),
    "ticket stays when the swap fails": ("deadline", "the deadline of that wait hits the next one"),
    "deadline without a ticket": ("deadline", "the deadline of a wait that is over hits the next"),
}
FIRST = TICKET_ONE


class Future:
    """The code of one future: awaits what never comes (or comes with `event`), cleans up by
    awaiting what comes at last, and ends."""

    def __init__(self, fault):
        self.fault = fault

    def run(self):
        """rdl_dispatch, rdl_run, rdl_take_up_cancel: wait word and status. The word is read once
        and stays as it is; what is asked later is heard at the next await."""
        expected = yield until(take_entry, "F")
        if self.fault == "dispatch wipes the request":
            yield exchange("wait.F", with_state(expected, RUNNING))
        wait = yield atomic(start)
        status = yield exchange("cause.F", 0)
        if wait & CANCEL_BIT:
            wait, status = yield from self.deliver(wait, status)
        elif status == CANCELLED:
            yield store("told", True)
        return wait, status

    def deliver(self, wait, status):
        """rdl_deliver_cancel. The ticket rises, so that nothing set up for a wait that did not
        take place can hit the next one. A future that was told before goes on as it was."""
        told = yield load("told")
        if self.fault == "ticket stays when the swap fails":
            wait = with_state(wait, RUNNING)
            yield store("wait.F", wait)
        else:
            wait = with_state(wait + TICKET_ONE, RUNNING)
            yield store("wait.F", wait)
        if told and self.fault != "told of every request":
            return wait, status
        yield store("told", True)
        return wait, CANCELLED

    def wait_for(self, wait, word, deadline):
        """Poll, suspend, resume: the wait word and the status."""
        seen = yield load("wait.F")  # rdl_poll_begins
        if seen & CANCEL_BIT:
            wait, status = yield from self.deliver(wait, 0)
            if status:
                return wait, status
        come = yield load(word)
        if come == "come":
            return wait, OK
        while True:  # rdl_begin_wait
            waiting = with_state(wait + TICKET_ONE, WAITING)
            if deadline:
                yield store("timer", waiting)  # rdl_timer_set
            if self.fault == "WAITING by store":
                yield store("wait.F", waiting)
                break
            seen = yield cas("wait.F", wait, waiting)
            if seen == wait:
                break
            if self.fault == "swap is not tried again":
                yield fetch_and("wait.F", ~CANCEL_BIT)
                break
            wait, status = yield from self.deliver(wait, 0)
            if status:
                return wait, status
        old = yield cas(word, 0, waiting)  # the push of the node
        if old == "come":
            running = with_state(waiting, RUNNING)
            seen = yield cas("wait.F", waiting, running)
            if seen == waiting:
                return running, OK
        wait, status = yield from self.run()
        return wait, status or OK

    def life(self, deadline):
        yield store("wait.F", FIRST + READY)
        yield atomic(put_entry, "F", FIRST + READY)
        wait, status = yield from self.run()
        asked = yield load("before start")
        if status:
            yield store("wait.F", with_state(wait, DONE))
            return
        yield from check(not asked, "starts after it was cancelled")
        wait, status = yield from self.wait_for(wait, "never", deadline)
        yield from check(status in (CANCELLED, TIMEOUT) and (deadline or status == CANCELLED),
                         "woken with %s" % status)
        if status == TIMEOUT:
            yield store("timed out", True)
        told = yield load("told")
        wait, status = yield from self.wait_for(wait, "at last", False)
        yield from check(status != TIMEOUT, "the deadline of another wait")
        yield from check(status == OK or not told, "cancelled a second time in its clean-up")
        yield store("wait.F", with_state(wait, DONE))


def rdl_cancel(fault):
    """The request's own thread."""
    while True:
        wait = yield load("wait.F")
        state = wait & STATE_MASK
        if state in (FREE, DONE) or wait & CANCEL_BIT:
            return
        told = yield load("told")
        if told and fault != "wakes who was told":
            return
        if state == WAITING:
            ready = with_state(wait, READY)
            if fault == "wakes without a swap":
                seen = wait
                yield store("wait.F", ready)
            else:
                seen = yield cas("wait.F", wait, ready)
            if seen != wait:
                continue
            yield store("cause.F", CANCELLED)
            yield atomic(put_entry, "F", ready)
            return
        if fault == "request only while it waits":
            return
        if fault == "request by load and store":
            yield store("wait.F", wait | CANCEL_BIT)
            return
        done = yield atomic(request, wait)
        if done:
            return


def request(memory, wait):
    """rdl_cas(&record->wait, wait, wait | RDL_CANCEL_BIT), noting whether F had started."""
    if memory["wait.F"] != wait:
        return False
    memory["wait.F"] = wait | CANCEL_BIT
    memory["before start"] = not memory["started"]
    return True


def start(memory):
    memory["started"] = True
    return memory["wait.F"]


def comes_at_last(fault):
    """What the clean-up awaits; a request that was told already must not end that wait early."""
    waiting = yield exchange("at last", "come")
    if waiting:
        ready = with_state(waiting, READY)
        seen = yield cas("wait.F", waiting, ready)
        if seen == waiting:
            yield atomic(put_entry, "F", ready)


def words():
    return {**future("F", FREE), "told": False, "before start": False, "started": False, "never": 0, "at last": 0,
            "timer": 0, "timed out": False}


def queued_once(memory):
    return "F is queued twice" if len(memory["queue.F"]) > 1 else None


def heard(may):
    def final(memory, stuck):
        wrong = nobody_stuck_but(*may)(memory, stuck)
        if wrong:
            return wrong
        return None if memory["wait.F"] & STATE_MASK == DONE else "F never ends"
    return final


def build(scenario, fault):
    code = Future(fault)

    def canceller():
        yield until(lambda memory: memory["wait.F"] != FREE)
        yield from rdl_cancel(fault)

    def maybe():
        comes = yield choose(True, False)
        if comes:
            yield from canceller()

    def deadline():  # RDL_SAY_WAKE: the host has read the ticket and speaks when the time is over
        ticket = yield until(lambda memory: memory["timer"])
        wait = ticket
        if fault == "deadline without a ticket":
            wait = yield load("wait.F")
            if wait & STATE_MASK != WAITING:
                return
        ready = with_state(wait, READY)
        seen = yield cas("wait.F", wait, ready)
        if seen == wait:
            yield store("cause.F", TIMEOUT)
            yield atomic(put_entry, "F", ready)

    threads = {"future": lambda: code.life(scenario == "deadline"), "cancel": canceller,
               "at last": lambda: comes_at_last(fault)}
    if scenario == "two":
        threads["cancel too"] = maybe
    if scenario == "deadline":
        threads["deadline"] = deadline
    return Model(words(), threads, queued_once, heard(("deadline",)))


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
