"""Is a problem fit to judge kernels by? Found by measurement: what a lazy or wrong kernel would return must be refused.

Every check but a few is a wrong solution: an output that does not depend on an input is one for which "input 0 ignored"
passes the comparison. What passes is named. The comparison and its budgets are those that candidates are judged by.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from kbench.errors import ProblemError, RefereeError
from kbench.findings import Finding, Outcome, Standing, Trial, broke_off
from kbench.referee import mutants
from kbench.referee.client import Examined
from kbench.referee.mutants import Mutant
from kbench.referee.stand import Reception, Stand
from kbench.referee.turns import Turns

# relative L2 of fp32 eager against fp64: 16 times more and a bf16 shortcut would fit into the budget
EAGER_LIMIT = 1e-4
LOOSE = 1e-2  # relative L2 below which the tolerance of other harnesses lets a wrong answer pass
ABSOLUTE = 1e-4  # of KernelBench's allclose in fp32: where all outputs lie below, zeros pass there
MUST = {
    "null": ("null solutions", "no work at all passes"),
    "axis": ("varies along every axis", "a kernel may mix up or collapse the axis"),
    "input": ("varies with every input", "a kernel may ignore the input"),
    "parameter": ("varies with every weight", "a kernel may ignore the weight"),
    "work": ("partial work is refused", "a kernel may skip work"),
    "rounding": ("low precision is refused", "a kernel may round its operands"),
    "operator": ("every operator counts", "a kernel may leave it out or change it"),
}
NAMED = 6  # mutants in a sentence; all of them stand in --json
WHERE_INITIAL = "with the weights as constructed, "


@dataclass
class UnderWay:
    """A mutant and how it fared so far."""

    mutant: Mutant
    families: list[str] = field(default_factory=list)
    worst: Reception | None = None  # the refusal, or what came nearest to one
    equivalent: bool = True  # where it was admitted it was the right answer

    @property
    def refused(self) -> bool:
        return self.worst is not None and bool(self.worst.refusal)

    def ended(self) -> Trial:
        if self.worst is None:
            return self.trial(Outcome.EQUIVALENT, "it does not apply")
        if self.worst.refusal:
            return self.trial(Outcome.KILLED, self.worst.refusal)
        if self.equivalent:
            return self.trial(Outcome.EQUIVALENT, "the same function in fp64")
        share = f"at {self.worst.share:.2g} of the budget" if self.worst.share is not None else "every index is right"
        return self.trial(Outcome.SURVIVED, f"admitted, {share}")

    def trial(self, outcome: Outcome, told: str) -> Trial:
        error = self.worst.error if self.worst is not None else None
        return Trial(self.mutant.name, self.mutant.group, outcome, tuple(self.families), error, told)


class Examiner:
    """Collects findings and trials about the problem on one stand."""

    def __init__(self, stand: Stand, quick: bool, turns: Turns) -> None:
        self.stand, self.quick, self.turns = stand, quick, turns
        self.findings: list[Finding] = []
        self.trials: list[Trial] = []
        self.constant = False  # whether an output is nothing but zeros: every mutant would pass
        self.facts: dict[str, object] = {"outputs": [list(leaf.shape) for leaf in stand.layout.outputs]}

    def say(self, check: str, standing: Standing, evidence: str) -> None:
        self.findings.append(Finding(check, standing, evidence))

    def run(self, values_only: bool = False) -> None:
        stand = self.stand
        with self.turns.beside():
            stand.draw("all")
            right = stand.exact(0, 0).double()
            self.facts |= {"rms": float(right.square().mean().sqrt()), "largest": float(right.abs().max())}
        if values_only:
            return
        assert stand.oracle is not None
        with self.turns.alone():
            self.facts["call_us"] = float(stand.oracle.ask(do="pace", base=stand.layout.slots[0])["call_us"])
        with self.turns.beside():
            self.deterministic()
            if not self.values(""):
                return
            outline = stand.oracle.ask(do="outline", base=stand.layout.slots[0])
        kinds = [*mutants.in_lane(stand), *mutants.in_process(stand, outline, self.quick)]
        self.trials = self.tried(kinds, "")
        if self.constant:
            return
        for group in dict.fromkeys(mutant.group for mutant in kinds):
            self.judge_group(group, [trial for trial in self.trials if trial.group == group])
        self.idle(outline["idle"])
        if stand.description["state"]:
            self.initial_weights()
        if not self.quick:
            self.compiled()

    def deterministic(self) -> None:
        """The same seeds give the same inputs; other seeds others; the same call the same answer."""
        stand = self.stand
        stand.fill({stand.spare: stand.recipes[0]})
        leaves = range(len(stand.layout.leaves))
        unlike = [i for i in leaves if not torch.equal(stand.input(0, i), stand.input(stand.spare, i))]
        for i in unlike:
            self.say("inputs follow the seed", Standing.FAULT, f"input {i} differs between two runs of one seed")
        fixed = [i for i in leaves if torch.equal(stand.input(0, i), stand.input(1, i))]
        standing = Standing.FAULT if leaves and len(fixed) == len(leaves) else Standing.DOUBT
        for i in fixed:
            self.say("inputs vary", standing, f"input {i} is the same whatever the seed")
        assert stand.oracle is not None
        if not stand.oracle.ask(do="repeat", base=stand.layout.slots[0])["same"]:
            self.say("deterministic", Standing.DOUBT, "the same call gives other bits when it is made again")
        elif not unlike:
            self.say("deterministic", Standing.OK, "one seed gives the same inputs, weights and outputs, bit for bit")

    def values(self, where: str) -> bool:
        """Finite, resolved by fp32, and of a size that a tolerance can tell from nothing; False where it is constant."""
        stand = self.stand
        checked = 0
        for place in stand.firsts:
            for output in range(len(stand.layout.outputs)):
                checked += self.value_of(place, output, where)
        if checked == len(stand.firsts) * len(stand.layout.outputs):
            families = ", ".join(stand.families)
            self.say(f"{where}values", Standing.OK, f"finite, and eager agrees with fp64 in {families}")
        return not self.constant

    def value_of(self, place: int, output: int, where: str) -> bool:
        stand = self.stand
        family, exact = stand.families[place // 2], stand.exact(place, output)
        if exact.dtype != torch.float64 or not exact.numel():
            return True
        found = len(self.findings)
        if not bool(exact.isfinite().all()):
            share = 1 - float(exact.isfinite().double().mean())
            self.say(f"{where}values", Standing.FAULT, f"{share:.2%} of the output is not finite in family {family}")
        rms = float(exact[exact.isfinite()].square().mean().sqrt())
        largest = float(exact[exact.isfinite()].abs().max()) if rms else 0.0
        if largest == 0:
            self.say(f"{where}values", Standing.FAULT, f"the output is constant: zero in family {family}")
            self.constant = True
            return False
        error = stand.receive(place, output, stand.eager(place, output)).error
        if error is not None and not error <= EAGER_LIMIT:
            told = f"eager is off from fp64 by {error:.1e} of the output (rms {rms:.1e}) in family {family}"
            self.say(f"{where}values", Standing.FAULT, f"{told}: it is lost in rounding")
        if largest <= ABSOLUTE:
            told = (
                f"no output is larger than {largest:.1e} in family {family}: zeros pass an absolute tolerance of 1e-4"
            )
            self.say(f"{where}values", Standing.FAULT, told)
        return len(self.findings) == found

    def tried(self, kinds: list[Mutant], where: str) -> list[Trial]:
        """Each mutant on one value family after another until it is refused; the families of later groups are looked at too."""
        stand, under_way = self.stand, [UnderWay(mutant) for mutant in kinds]
        for group in stand.groups:
            if group != stand.families:
                with self.turns.beside():
                    stand.turn_to(group)
                    if not self.values(where):
                        break
            for one in under_way:
                if not one.refused:
                    with self.turns.beside():
                        self.try_on(one)
        return [one.ended() for one in under_way]

    def judge_group(self, group: str, trials: list[Trial]) -> None:
        check, meaning = MUST[group]
        counted = [trial for trial in trials if trial.outcome is not Outcome.EQUIVALENT]
        through = [trial for trial in counted if trial.outcome is Outcome.SURVIVED]
        if through:
            told = f"{len(through)} of {len(counted)} admitted, so {meaning}: {named(through)} ({through[0].told})"
            self.say(check, Standing.FAULT, told)
        elif counted:
            self.say(check, Standing.OK, f"{len(counted)} of {len(counted)} mutants refused")
        near = [t for t in counted if t.outcome is Outcome.KILLED and t.error is not None and t.error < LOOSE]
        if near and group in ("null", "input"):
            told = f"{named(near)}: off by {max(t.error or 0.0 for t in near):.1e} at most, so a tolerance of 1e-2 lets it pass"
            self.say(check, Standing.DOUBT, told)

    def try_on(self, one: UnderWay) -> None:
        """On the families of the group that is drawn, until it is refused."""
        stand, applied = self.stand, False
        for place in stand.firsts:
            one.families.append(stand.families[place // 2])
            found = self.received(one.mutant, place)
            if found is None:
                continue
            applied = True
            if one.worst is None or found.refusal or (found.share or 0) > (one.worst.share or 0):
                one.worst = found
            if found.refusal:
                return
        if applied:
            one.equivalent = one.equivalent and self.is_equivalent(one.mutant)

    def received(self, mutant: Mutant, place: int) -> Reception | None:
        """The first refusal among the outputs, else the reception nearest to one; None where the mutant does not apply."""
        stand = self.stand
        if mutant.made is not None:
            assert mutant.output is not None
            answer = mutant.made(stand, place, mutant.output)
            return None if answer is None else stand.receive(place, mutant.output, answer)
        answers, done = stand.variant(place, self.change_at(mutant, place))
        if not done:
            return None
        receptions = [stand.receive(place, output, answer) for output, answer in enumerate(answers)]
        return max(receptions, key=lambda r: (bool(r.refusal), r.share or 0.0))

    def change_at(self, mutant: Mutant, place: int) -> dict[str, Any]:
        """The mutant's change with the addresses of the call that lends its inputs."""
        change, donor = dict(mutant.change or {}), self.stand.layout.slots[place ^ 1]
        if change["kind"] == "inputs":
            return {**change, "leaves_at": {str(change["leaf"]): donor}}
        return {**change, "other": donor}

    def is_equivalent(self, mutant: Mutant) -> bool:
        """No equivalents among what every problem must refuse: there an unchanged answer is the fault itself."""
        stand = self.stand
        if mutant.group in ("null", "axis", "input", "parameter"):
            return False
        places = stand.firsts
        if mutant.made is not None:
            assert mutant.output is not None
            answers = ((mutant.made(stand, place, mutant.output), place) for place in places)
            return all(a is not None and torch.equal(a, stand.eager(p, mutant.output)) for a, p in answers)
        return all(stand.is_right(place, self.change_at(mutant, place)) for place in places)

    def idle(self, operators: list[str]) -> None:
        for name in operators:
            told = f"{name} hands on what it is given, in family {self.stand.groups[0][0]}"
            self.say("every operator counts", Standing.DOUBT, told)

    def initial_weights(self) -> None:
        """The same values, and the null solutions, with the weights that the constructor gives."""
        with self.turns.beside():
            self.stand.draw("nothing")
            if not self.values(WHERE_INITIAL):
                return
        nulls = [mutant for mutant in mutants.in_lane(self.stand) if mutant.group == "null"]
        through = [trial for trial in self.tried(nulls, WHERE_INITIAL) if trial.outcome is Outcome.SURVIVED]
        if through:
            told = f"{named(through)} admitted ({through[0].told})"
            self.say(f"{WHERE_INITIAL}{MUST['null'][0]}", Standing.FAULT, told)

    def compiled(self) -> None:
        stand = self.stand
        assert stand.oracle is not None
        answer = stand.oracle.ask(do="compiled", base=stand.layout.slots[0])
        if answer["alike"] is None:
            self.say("torch.compile", Standing.DOUBT, f"fails: {answer['why']}")
        elif not answer["alike"]:
            self.say("torch.compile", Standing.DOUBT, "gives an answer that is off from eager's by more than 1e-3")
        else:
            self.say("torch.compile", Standing.OK, "works")


def named(trials: list[Trial]) -> str:
    """The first few mutants by name."""
    shown = ", ".join(trial.mutant for trial in trials[:NAMED])
    return shown if len(trials) <= NAMED else f"{shown} and {len(trials) - NAMED} more"


def examine(stand: Stand, quick: bool, turns: Turns, values_only: bool = False) -> Examined:
    """Findings, trials and measured facts of a prepared stand. What breaks on the way is a finding, not an exception."""
    examiner = Examiner(stand, quick, turns)
    try:
        examiner.run(values_only)
    except (ProblemError, RefereeError) as error:
        examiner.findings.append(broke_off(error))
    return Examined(tuple(examiner.findings), tuple(examiner.trials), examiner.facts)
