# SPDX-License-Identifier: Apache-2.0
"""What stands in the ring of a worker that a segment holds, and of one that leaves: nothing runs
twice and nothing is lost, also when the launch ends meanwhile.

Mirrors rdl_worker_comes, rdl_must_go, rdl_answer, rdl_meet, rdl_pick, rdl_run, rdl_run_ends,
rdl_settle_up, rdl_ring_push, rdl_put_out, rdl_spill_ring, rdl_adopt and RDL_SAY_RUN; of the host
all_are_careful, take and rdl__rescue. meeting.py has the meeting word by word, which is one step
here, and stealing.py the lists, which are sets here. A worker is held for as long as its segment
takes its next step late; the host asks at any time.
"""

from explore import Model, atomic, cas, choose, exchange, load, main, store, until
from kernel import DONE, QUEUED, READY, RUNNING, TICKET_ONE, with_state

SCENARIOS = ("held", "given", "back", "late", "entry")
FAULTS = {
    "running ends before DONE": ("held", "it is READY, runs nowhere, and is over"),
    "takes what runs": ("held", "its word says READY, for it was started without a swap"),
    "taken without a swap": ("given", "a careful worker has started it meanwhile"),
    "same ticket": ("held", "the entry in the ring is as good as the message"),
    "answers before it is careful": ("held", "the host trusts the answer"),
    "answers are not asked for": ("given", "a worker is about to start one without a swap"),
    "never careful": ("held", "its ring still has what the host took"),
    "taken and not sent": ("held", "nobody will run it"),
    "put out by its old word": ("held", "the entry is stale, and another has it"),
    "goes back without a look": ("back", "it has not seen the question, and starts one"),
    "slot before the word": ("entry", "the slot is that of an older entry"),
    "one look at the entry": ("entry", "the word is that of an older entry"),
    "ring is left": ("late", "what it adopted stands in a ring that nobody opens again"),
}
ONE = TICKET_ONE + READY


class Worker:
    def __init__(self, name, fault):
        self.name = name
        self.fault = fault

    # ---- where the next one comes from

    def push(self, memory, entry):
        """The host looks at the cells of A alone, which keep what has left the ring."""
        if self.name == "A":
            cells = memory["cells"]
            memory["cells"] = tuple(old for old in cells if old[0] != entry[0]) + (entry,)
        memory["ring." + self.name] += (entry,)

    def pop(self, memory):
        ring = memory["ring." + self.name]
        if not ring:
            return None
        memory["ring." + self.name] = ring[:-1]
        return ring[-1]

    def adopt(self, memory):  # rdl_adopt of its own list, or another's
        for owner in ("A", "B"):
            for who in memory["overflow." + owner]:
                memory["wait." + who] = with_state(memory["wait." + who], READY)
                self.push(memory, (who, memory["wait." + who]))
            memory["overflow." + owner] = ()

    def find(self, memory):
        if not memory["ring." + self.name] and memory["mailbox"]:  # RDL_SAY_RUN
            self.push(memory, memory["mailbox"][0])
            memory["mailbox"] = memory["mailbox"][1:]
        if not memory["ring." + self.name]:
            self.adopt(memory)
        return self.pop(memory)

    def rdl_put_out(self):
        while self.fault != "ring is left":
            entry = yield atomic(self.pop)
            if not entry:
                return
            who, wait = entry
            if self.fault == "put out by its old word":
                seen = wait
                yield store("wait." + who, with_state(wait, QUEUED))
            else:
                seen = yield cas("wait." + who, wait, with_state(wait, QUEUED))
            if seen == wait:
                yield atomic(give_away, self.name, who)

    # ---- a dispatch

    def rdl_answer(self, careful):
        question = yield load("stop")
        if not question or careful:
            return careful
        yield store("answered." + self.name, question)
        if self.fault == "answers before it is careful":
            entry = yield atomic(self.find)
            if entry:
                yield from self.rdl_run(entry, False)
        return self.fault != "never careful"

    def rdl_run(self, entry, careful):
        who, wait = entry
        if careful:  # rdl_pick
            seen = yield cas("wait." + who, wait, with_state(wait, RUNNING))
            if seen != wait:
                return
        yield store("running." + self.name, who)
        yield atomic(start, who)  # its segment lasts until the next step
        if self.fault == "running ends before DONE":
            yield store("running." + self.name, "")
        yield exchange("wait." + who, with_state(wait, DONE))  # rdl_settle_up, rdl_complete
        yield store("running." + self.name, "")

    # ---- a launch

    def come(self, memory):
        memory["come"] += (self.name,)
        return memory["closed"]

    def close(self, memory):  # rdl_all_are_here
        if len(memory["arrived"]) == len(memory["come"]):
            memory["closed"] = True
        return memory["closed"]

    def arrive(self, memory):
        memory["arrived"] += (self.name,)

    def go_back(self, memory):
        if memory["closed"] or len(memory["arrived"]) == len(memory["come"]):
            return False
        memory["arrived"] = tuple(name for name in memory["arrived"] if name != self.name)
        return True

    def rdl_meet(self, may_go_back):
        yield atomic(self.arrive)
        back = yield choose(*((False, True) if may_go_back else (False,)))
        if back:
            back = yield atomic(self.go_back)
        if not back:
            yield until(self.close)
        return not back

    def rdl_must_go(self, may_go_back, careful):
        """(whether it leaves, whether it met the others in vain, whether it is careful)"""
        leaves = yield choose(False, True)  # its quantum is over, or not
        if leaves:
            gone = yield from self.rdl_meet(may_go_back)
            if gone or self.fault == "goes back without a look":
                return gone, True, careful
        careful = yield from self.rdl_answer(careful)
        return False, leaves, careful

    def comes(self):
        """rdl_worker_comes, with the list that it put out at the end of its last launch."""
        closed = yield atomic(self.come)
        yield store("answered." + self.name, 0)  # rdl_worker_open
        yield atomic(self.adopt)
        if closed:
            yield atomic(self.arrive)
            yield from self.leaves()
        else:
            yield from self.loop(False)

    def loop(self, may_go_back):
        careful = False
        while True:
            gone, met, careful = yield from self.rdl_must_go(may_go_back, careful)
            if gone:
                break
            may_go_back = may_go_back and not met
            entry = yield atomic(self.find)
            if entry:
                yield from self.rdl_run(entry, careful)
        yield from self.leaves()

    def leaves(self):
        yield from self.rdl_put_out()
        yield store("answered." + self.name, -1)  # RDL_HAS_LEFT
        yield store("left." + self.name, True)


def give_away(memory, worker, who):
    memory["overflow." + worker] += (who,)


def start(memory, who):
    memory["times." + who] += 1


# ---- the host ----

class Host:
    def __init__(self, fault):
        self.fault = fault

    def all_are_careful(self):
        come = yield load("come")
        for name in come:
            answered = yield load("answered." + name)
            if not answered:
                held = yield load("running." + name)  # rdl__held_ns, held_by
                if not held and self.fault != "answers are not asked for":
                    return False
        return True

    def take(self, who, wait):
        word = yield load("wait." + who)
        if word != wait:
            return
        for name in ("A", "B"):
            running = yield load("running." + name)
            if running == who and self.fault != "takes what runs":
                return
        new = wait if self.fault == "same ticket" else wait + TICKET_ONE
        if self.fault == "taken without a swap":
            seen = word
            yield store("wait." + who, new)
        else:
            seen = yield cas("wait." + who, word, new)
        if seen == word and self.fault != "taken and not sent":
            yield atomic(say, (who, new))

    def rdl__rescue(self):
        careful = yield from self.all_are_careful()
        if not careful:
            return
        held = yield load("running.A")
        cells = ()
        if held:
            cells = yield load("cells")
        while cells:
            cell, cells = cells[0], cells[1:]
            yield from self.take(cell[0], cell[1])


def say(memory, entry):
    memory["mailbox"] += (entry,)


def all_left(memory):
    return memory["left.A"] and memory["left.B"]


def next_launch(memory):
    """Workers that no question has been asked: what they find is as good as started."""
    for owner in ("A", "B"):
        for who in memory["overflow." + owner]:
            start(memory, who)
    for who, _ in memory["mailbox"]:
        start(memory, who)


def words():
    all_words = {"stop": 0, "come": ("A", "B"), "arrived": (), "closed": False, "mailbox": (),
                 "cells": ()}
    for name in ("A", "B"):
        all_words.update({"ring." + name: (), "overflow." + name: (),
                          "answered." + name: 0, "running." + name: "", "left." + name: False})
    for who in ("S", "F"):
        all_words.update({"wait." + who: ONE, "times." + who: 0})
    return all_words


def once(memory):
    for who in ("S", "F"):
        if memory["times." + who] > 1:
            return who + " runs twice"
    return None


def all_ran(memory, stuck):
    if stuck:
        return "waits for ever: " + ", ".join(stuck)
    for who in ("S", "F"):
        if memory["times." + who] != 1:
            return who + " is lost"
    return None


def build_entry(fault):
    """A runs, and pushes G into the cell that had F with its word of the third wait. Both have gone
    on since, and are noted as woken, F with the word that G was pushed with: READY, and in no
    queue, so that whoever noted them will queue them with the word that they have then."""
    first, second, third = ONE, ONE + TICKET_ONE, ONE + 2 * TICKET_ONE
    all_words = {"slot": "F", "word": third, "wait.F": second, "wait.G": first, "taken": ""}

    def owner():  # rdl_child_start, rdl_ring_push; then G goes on as F did
        yield store("wait.G", second)
        yield store("slot", "G")
        yield store("word", second)
        yield store("wait.G", third)

    def host():  # take_ring, take
        if fault == "slot before the word":
            slot = yield load("slot")
            word = yield load("word")
        else:
            word = yield load("word")
            slot = yield load("slot")
        wait = yield load("wait." + slot)
        if wait != word:
            return
        if fault != "one look at the entry":
            again = yield load("word")
            if again != word:
                return
        seen = yield cas("wait." + slot, wait, wait + TICKET_ONE)
        if seen == wait:
            yield store("taken", (slot, wait))

    def invariant(memory):
        if memory["taken"] and memory["taken"] != ("G", second):
            return "takes %s with a word that its cell never had" % memory["taken"][0]
        return None

    return Model(all_words, {"owner": owner, "host": host}, invariant)


def build(scenario, fault):
    """A runs S, which its ring still names, and the host looks once. F is ready: in `held` in A's
    ring, too; in `given` in that of B, and its old cell still names it; in `back` A may go back
    once. In `late` both workers are yet to come, and A put out F and S in the launch before."""
    if scenario == "entry":
        return build_entry(fault)
    all_words = words()
    ring = (("F", ONE),)
    if scenario == "late":
        all_words.update({"overflow.A": ("F", "S"), "come": (), "answered.A": -1, "answered.B": -1,
                          "wait.F": with_state(ONE, QUEUED), "wait.S": with_state(ONE, QUEUED)})
    else:
        all_words.update({"cells": ring + (("S", ONE),), "ring.A": ring})
    if scenario == "given":
        all_words.update({"ring.A": (), "ring.B": ring})

    worker, other = Worker("A", fault), Worker("B", fault)

    def worker_a():
        if scenario == "late":
            yield from worker.comes()
            return
        yield from worker.rdl_run(("S", ONE), False)
        yield from worker.loop(scenario == "back")

    def worker_b():
        if scenario == "late":
            yield from other.comes()
        else:
            yield from other.loop(False)

    service = Host(fault)

    def host():  # rdl__watch
        yield store("stop", 1)
        yield from service.rdl__rescue()
        yield until(all_left)
        yield atomic(next_launch)

    return Model(all_words, {"A": worker_a, "B": worker_b, "host": host}, once, all_ran)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
