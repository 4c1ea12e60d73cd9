"""The episode of a model: reason, act, observe, until an end that is declared. The model's words and ours are a trajectory.

stop reason   done        the model called no tool any more          refused    it declined
              turns       --max-turns replies                        time       the episode's time is up
              context     a request was as long as allowed           malformed  nothing but malformed calls, many in a row
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kbench.agent import AgentSettings
from kbench.agent.box import Box, BoxLost
from kbench.agent.gate import KINDS, Gate
from kbench.agent.tools import Malformed, Toolbox, Wanted, shortened
from kbench.agent.trajectory import Trajectory
from kbench.codec import decode
from kbench.models import Call, Message, Reply, Request, Result
from kbench.types import Problem

SYSTEM = (
    "You write fast, correct kernels for PyTorch. You work in a folder of your own, with tools, and see what they answer. "
    "Check and time what you write, and improve it. When you are done, answer without a tool call."
)
NO_WORDS = "(no text)"  # an empty message is refused by every provider
MALFORMED_IN_A_ROW = 20  # turns
CUT_OFF = "Your reply was cut off at the token limit. Go on, in smaller steps."
BAD_CALL = "Your tool call could not be read. Call the tool again."
READING = ("read", "glob", "grep", "todo", *KINDS)  # leave the folder as it is


@dataclass(slots=True)
class Counts:
    """What an episode has used up; taken from the trajectory where it goes on."""

    turns: int = 0
    tokens: int | None = 0
    malformed: int = 0
    malformed_in_a_row: int = 0
    calls: Counter[str] = field(default_factory=Counter)

    def reply(self, reply: Reply) -> None:
        self.turns += 1
        facts = reply.facts
        known = facts is not None and facts.tokens_input is not None and facts.tokens_output is not None
        if not known or self.tokens is None:
            self.tokens = None
        else:
            assert facts is not None
            self.tokens += (facts.tokens_input or 0) + (facts.tokens_output or 0)
        self.calls.update(call.name for call in reply.calls)


def counts_of(trajectory: Trajectory) -> Counts:
    """Of an episode that is over."""
    counts = Counts()
    for event in trajectory.of("reply"):
        counts.reply(decode(Reply, event["reply"]))
    counts.malformed = sum(bool(e["malformed"]) for e in trajectory.of("result"))
    counts.malformed += sum(e["text"] == BAD_CALL for e in trajectory.of("note"))
    return counts


class Loop:
    """One episode. `ask` gives a reply, or None where the run is to stop: then the episode goes on another time."""

    def __init__(
        self, problem: Problem, sample: int, task: str, settings: AgentSettings, toolbox: Toolbox, trajectory: Trajectory,
        box: Callable[[bytes | None], Box], gate: Gate, ask: Callable[[Request], Reply | None],
    ) -> None:  # fmt: skip
        self.problem, self.sample, self.task, self.settings = problem, sample, task, settings
        self.toolbox, self.trajectory, self.open_box, self.gate, self.ask = toolbox, trajectory, box, gate, ask
        self.messages: list[Message] = [Message("user", task)]
        self.counts = Counts()
        self.box: Box | None = None
        self.tar = trajectory.workdir()
        self.seconds_before = trajectory.seconds()
        self.started = time.monotonic()

    def seconds(self) -> float:
        return self.seconds_before + time.monotonic() - self.started

    def play(self) -> str | None:
        """The stop reason; None where no reply was to be had and the episode is to go on another time."""
        self._take_up()
        try:
            while True:
                reason = self._limit()
                if reason is not None:
                    return reason
                tools = tuple(self.toolbox.tools)
                request = Request(self.problem, self.sample, SYSTEM, tuple(self.messages), self.counts.turns, tools)
                reply = self.ask(request)
                if reply is None:
                    return None
                reason = self._take(reply)
                if reason is not None:
                    return reason
        finally:
            if self.box is not None:
                self.tar = self._packed()

    def _limit(self) -> str | None:
        if self.counts.turns >= self.settings.max_turns:
            return "turns"
        if self.seconds() >= self.settings.episode_s:
            return "time"
        if self.counts.malformed_in_a_row >= MALFORMED_IN_A_ROW:
            return "malformed"
        return None

    def _take_up(self) -> None:
        """What earlier sessions of this episode said, but for the turn that they left open."""
        results = {(event["turn"], event["id"]): event for event in self.trajectory.of("result")}
        notes = {event["turn"]: event["text"] for event in self.trajectory.of("note")}
        for event in self.trajectory.of("reply"):
            reply = self.trajectory.find(Request(self.problem, self.sample, turn=event["turn"]))
            assert reply is not None
            kept = [results.get((event["turn"], f"{at}:{call.id}")) for at, call in enumerate(reply.calls)]
            note = notes.get(event["turn"], "")
            if None in kept or not (reply.calls or note):
                return  # asked for again, it is found, and carried out
            self.counts.reply(reply)
            answers = [
                Result(e["id"].partition(":")[2], e["name"], e["text"], e["failed"]) for e in kept if e is not None
            ]
            self.counts.malformed += sum(bool(e["malformed"]) for e in kept if e is not None)
            self._say(reply, answers, note)

    def _say(self, reply: Reply, answers: list[Result], note: str) -> None:
        text = reply.text if reply.text.strip() or reply.calls else NO_WORDS
        self.messages.append(Message("assistant", text, reply.calls, own=reply.own if reply.calls else ""))
        self.messages.append(Message("user", note, results=tuple(answers)))

    def _take(self, reply: Reply) -> str | None:
        """Carries out the calls of a reply. A stop reason where it is the last one."""
        turn = self.counts.turns
        self.counts.reply(reply)
        if reply.refused:
            return "refused"
        if not reply.calls:
            return self._without_calls(reply, turn)
        answered = [self._answer(call) for call in reply.calls]
        if any(self._changes(call) for call in reply.calls):
            self.tar = self._packed()  # on the disk before the turn counts as over
        for at, (answer, bad) in enumerate(answered):
            self.trajectory.add(
                "result", turn=turn, id=f"{at}:{answer.id}", name=answer.name, text=answer.text, failed=answer.failed,
                malformed=bad, seconds=self.seconds(),
            )  # fmt: skip
        malformed = sum(bad for _, bad in answered)
        self.counts.malformed += malformed
        self.counts.malformed_in_a_row = self.counts.malformed_in_a_row + 1 if malformed == len(answered) else 0
        self._say(reply, [answer for answer, _ in answered], "")
        return "context" if self._context_tokens(reply) >= self.settings.context_tokens else None

    def _without_calls(self, reply: Reply, turn: int) -> str | None:
        unread = reply.facts is not None and "FUNCTION_CALL" in (reply.facts.stop_reason or "")
        if reply.finished and not unread:
            return "done"
        if unread:
            self.counts.malformed += 1
            self.counts.malformed_in_a_row += 1
        note = BAD_CALL if unread else CUT_OFF
        self.trajectory.add("note", turn=turn, text=note, seconds=self.seconds())
        self._say(reply, [], note)
        return None

    def _context_tokens(self, reply: Reply) -> int:
        facts = reply.facts
        return (facts.tokens_input or 0) + (facts.tokens_output or 0) if facts is not None else 0

    def _answer(self, call: Call) -> tuple[Result, bool]:
        """What a call is answered with, and whether it was malformed."""
        try:
            wanted = self.toolbox.understand(call)
        except Malformed as error:
            return Result(call.id, call.name, str(error), failed=True), True
        try:
            text, failed = self._do(wanted)
        except BoxLost as error:
            self._lose_box()
            text = (
                f"the sandbox ended ({error}): it is started again, with the files as they were after the turn before"
            )
            failed = True
        return Result(call.id, call.name, shortened(text, self.settings.output_chars) or "(no output)", failed), False

    def _do(self, wanted: Wanted) -> tuple[str, bool]:
        if wanted.does == "todo":
            return "the list is kept", False
        box = self._box()
        if wanted.does in KINDS:
            answer = self.gate.answer(wanted.does, box.files())
            return answer.text, answer.exit != 0
        if wanted.does == "bash":
            return self._bash(box, wanted.arguments)
        answered = box.tool(wanted.does, wanted.arguments)
        return str(answered["text"]), bool(answered.get("failed"))

    def _bash(self, box: Box, arguments: dict[str, Any]) -> tuple[str, bool]:
        limit_s = self.settings.command_s
        if arguments.get("timeout") is not None:
            limit_s = min(limit_s, max(1.0, arguments["timeout"] / 1000))
        limit_s = min(limit_s, max(1.0, self.settings.episode_s - self.seconds()))
        answer = box.bash(arguments["command"], limit_s, self.gate.waited_s)
        code = answer.get("code")
        ending = "" if code == 0 else "\n[the shell ended]" if code is None else f"\n[exit code {code}]"
        return f"{answer['text']}{ending}".strip("\n"), code != 0

    def _changes(self, call: Call) -> bool:
        spec = self.toolbox.specs.get(call.name)
        return spec is not None and spec[0].does not in READING

    def _box(self) -> Box:
        if self.box is None:
            self.box = self.open_box(self.tar)
        return self.box

    def _lose_box(self) -> None:
        if self.box is not None:
            self.box.close()
            self.box = None

    def _packed(self) -> bytes | None:
        """The folder now; as it was last where it cannot be had."""
        if self.box is None:
            return self.tar
        try:
            packed = self.box.pack()
        except BoxLost:
            self._lose_box()
            return self.tar
        if packed is None or packed == self.tar:
            return self.tar
        self.trajectory.keep_workdir(packed)
        return packed
