"""The lane process, one a device, or one a job of `problems check --jobs`: serves the driver's requests over a socket and judges.

It never runs problem or candidate code.

    survey    what problems are built with, and how large they are   -> per problem, or why it cannot be run
              (under the role "facts": what a forward of theirs costs)
    judge     judge one built candidate                              -> a Verdict
    probe     what works on the device, and how fast it is           -> figures for kbench doctor
    admit     is a problem itself fit to be judged by?               -> findings and tried mutants
    compile   fills Inductor's cache for problems, many at once      -> seconds per problem, or why it failed

Sandboxes start before torch is imported here, so that the imports run side by side.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbench import environment, freezer, rates, sandbox
from kbench.candidate import protocol
from kbench.codec import decode, encode
from kbench.errors import KBenchError, ProblemError, RefereeError
from kbench.processes import one_shot
from kbench.referee.case import TORCH_DTYPE, Case, ProblemCase
from kbench.referee.references import References
from kbench.referee.room import Room
from kbench.types import Precision

if TYPE_CHECKING:
    from kbench.devices import Device
    from kbench.referee.bench import Bench

SURVEY_LIMIT_S = 120.0
PROBE_BYTES = 1 << 20


class Lane:
    def __init__(self, rung: str, cache: Path, scratch: Path) -> None:
        self.rung, self.cache, self.scratch = rung, cache, scratch
        self.bench: Bench | None = None
        self.references: References | None = None
        self.box: sandbox.Sandbox | None = None
        self.unfilled = False  # whether the box still waits for its build
        self.device: Device | None = None
        self.spare: sandbox.Sandbox | None = None  # started ahead, empty: the next candidate's
        self.setup: dict[str, float] = {}

    def survey(self, request: dict[str, Any]) -> dict[str, Any]:
        """Every problem in a process of its own, all in the references' sandbox."""
        problems = [decode(ProblemCase, problem) for problem in request["problems"]]
        references = self.open_references(problems[0].device)
        references.box.wait_ready()
        role = request.get("role", "survey")
        return {"found": [survey_one(references, self.scratch, problem, role) for problem in problems]}

    def probe(self, request: dict[str, Any]) -> dict[str, Any]:
        """Whether memory of this lane's can be written from inside a sandbox, and what the device was measured to do."""
        from kbench.candidate.probe import PATTERN

        name = request["device"]
        device = self.open_device(name)
        measured = rates.keep(self.cache, environment.device_key(name), device.measure_rates())
        area = device.area("probe")
        area.allocate(PROBE_BYTES)
        plan = sandbox.Plan(devices=nodes(name), environment=environment.build_environment(name))
        box = self.new_box(plan)
        try:
            box.wait_ready()
            with one_shot(box, "probe", [area.fd], self.scratch / "probe.log") as channel:
                channel.settimeout(SURVEY_LIMIT_S)
                protocol.send(channel, {"ticket": area.ticket()})
                answered = protocol.receive(channel) is not None
            works = answered and bool((area.flat == PATTERN).all())
            return {"shared": works, "rates": measured, "canary_us": device.probe_us()}
        finally:
            box.close()
            area.close()

    def admit(self, request: dict[str, Any]) -> dict[str, Any]:
        problem, quick = decode(ProblemCase, request["problem"]), request["quick"]
        self.close_bench()
        references = self.open_references(problem.device)
        from kbench.referee.admission import examine
        from kbench.referee.stand import Stand
        from kbench.referee.turns import Turns

        stand = Stand(problem, references, self.scratch, self.open_device(problem.device))
        turns = Turns(self.cache / "turns", problem.device)
        try:
            stand.prepare(compiled=not quick and not request["values_only"], lanes=request["lanes"])
            return {"found": encode(examine(stand, quick, turns, request["values_only"]))}
        finally:
            turns.close()
            stand.close()

    def compile(self, request: dict[str, Any]) -> dict[str, Any]:
        """What is judged by one process after another is compiled by many: on a GPU's machine there are cores for it."""
        problems = [decode(ProblemCase, problem) for problem in request["problems"]]
        self.close_bench()
        references = self.open_references(problems[0].device)
        references.box.wait_ready()
        server = references.server("compile")
        one_asks = threading.Lock()  # the fork server answers one at a time
        room = Room(request["room"])

        def one(problem: ProblemCase, mode: str, size_bytes: int) -> dict[str, Any]:
            with contextlib.ExitStack() as stack:
                stack.enter_context(room.of(size_bytes))
                with one_asks:
                    path = references.add(problem.content_hash, problem.source)
                    shot = one_shot(server, "ahead", [], self.scratch / "ahead.log", limits={"RLIMIT_CORE": 0})
                    channel = stack.enter_context(shot)
                channel.settimeout(request["limit_s"])
                return asked(channel, {**ahead_order(problem, path), "compile": mode})

        with ThreadPoolExecutor(request["jobs"]) as pool:
            return {"found": list(pool.map(one, problems, request["modes"], request["sizes"]))}

    def prepare(self, problem: ProblemCase, compiled: bool) -> None:
        """Describes the problem; from then on its bench is warm."""
        if self.bench is None or self.bench.problem != problem:
            started = time.monotonic()
            self.open_bench(problem, compiled)
            assert self.bench is not None
            rest = time.monotonic() - started - sum(self.bench.seconds.values())
            self.setup = {"lane's imports": rest, **self.bench.seconds}

    def open_bench(self, problem: ProblemCase, compiled: bool) -> None:
        self.close_bench()
        references = self.open_references(problem.device)
        from kbench.referee.bench import Bench

        bench = Bench(problem, references, self.scratch, self.open_device(problem.device))
        try:
            bench.prepare(compiled)
        except BaseException:
            bench.close()
            raise
        self.bench = bench

    def open_references(self, device: str) -> References:
        """The sandbox of the problems' own code, started on first use and where it has ended."""
        if self.references is not None and not self.references.alive:
            self.references.close()
            self.references = None
        if self.references is None:
            folder = Path(tempfile.mkdtemp(prefix="problems-", dir=self.scratch))
            folder.chmod(0o755)
            plan = sandbox.Plan(
                problem=str(folder), oracle=True, cache=str(self.inductor()), devices=nodes(device),
                environment=environment.build_environment(device),
            )  # fmt: skip
            self.references = References(self.new_box(plan), folder, self.scratch)
        return self.references

    def warm(self, problem: ProblemCase, build_folder: str) -> None:
        """Starts the candidate's sandbox, so that its imports run beside the reference's.

        With a GPU there are cores to spare while it is busy: the next candidate's sandbox is started then.
        """
        self.drop_box()
        self.unfilled = False
        plan = sandbox.Plan(devices=nodes(problem.device), environment=environment.build_environment(problem.device))
        if problem.device == "cpu" or self.rung == "rlimits":
            self.box = self.new_box(replace(plan, build=build_folder))
            return
        self.box, self.spare = self.spare or self.new_box(plan), self.new_box(plan)
        self.unfilled = True

    def open_device(self, name: str) -> Device:
        """The lane's one device, which is held to the best that it was ever measured to do."""
        from kbench import devices

        if self.device is None:
            self.device = devices.open_device(name)
            if self.device.rates:
                self.device.rates = rates.keep(self.cache, environment.device_key(name), self.device.rates)
        return self.device

    def new_box(self, plan: sandbox.Plan) -> sandbox.Sandbox:
        return sandbox.Sandbox(self.rung, plan, self.scratch)

    def inductor(self) -> Path:
        folder = self.cache / "inductor"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def judge(self, request: dict[str, Any]) -> dict[str, Any]:
        case = decode(Case, request["case"])
        if not case.builtin:
            self.warm(case.problem, case.build_folder)
        self.prepare(case.problem, "compile" in (*case.baselines, case.side))
        assert self.bench is not None
        if case.fresh_references:
            self.bench.drop_references()
        from kbench.referee.judging import Judging

        setup, self.setup = self.setup, {}
        if case.builtin:  # the problem's own code, forked like the references that it is compared with
            box, path = self.bench.references.server(case.side), self.bench.path
        else:
            started = time.monotonic()
            box = self.candidate_box(case)
            path = f"{box.build_path}/{case.file}"
            setup["candidate's sandbox"] = time.monotonic() - started
        try:
            judging = Judging(self.bench, case, box, self.rung, path)
            judging.stage.seconds.update(setup)
            return {"verdict": encode(judging.run())}
        finally:
            self.drop_box()

    def candidate_box(self, case: Case) -> sandbox.Sandbox:
        assert self.box is not None
        self.box.wait_ready()
        if self.unfilled:
            fill(self.box, case.build_folder, self.scratch)
        return self.box

    def drop_box(self) -> None:
        if self.box is not None:
            self.box.close()
            self.box = None

    def close_bench(self) -> None:
        if self.bench is not None:
            self.bench.close()
            self.bench = None

    def close(self) -> None:
        self.drop_box()
        if self.spare is not None:
            self.spare.close()
            self.spare = None
        self.close_bench()
        if self.references is not None:
            self.references.close()
            self.references = None


def fill(box: sandbox.Sandbox, build_folder: str, scratch: Path) -> None:
    """Brings a build into a sandbox that was started without one; files keep their times, or ninja would build again."""
    read, write = os.pipe()
    with (
        os.fdopen(read, "rb") as source,
        os.fdopen(write, "wb") as stream,
        one_shot(box, "unpack", [read], scratch / "unpack.log", folder=box.build_path) as channel,
    ):
        source.close()
        subprocess.run(["tar", "--format=posix", "-C", build_folder, "-c", "."], check=True, stdout=stream)
        stream.close()
        channel.settimeout(SURVEY_LIMIT_S)
        if channel.recv(2) != b"ok":
            raise RefereeError(f"the build could not be brought into the sandbox: {box.last_words()}")


def nodes(device: str) -> tuple[str, ...]:
    return () if device == "cpu" else sandbox.gpu_nodes()


def survey_one(references: References, scratch: Path, problem: ProblemCase, role: str) -> dict[str, Any]:
    path = references.add(problem.content_hash, problem.source)
    limits = {"RLIMIT_CORE": 0}
    try:
        with one_shot(references.box, role, [], scratch / "survey.log", limits=limits) as channel:
            channel.settimeout(SURVEY_LIMIT_S)
            return asked(channel, {"path": path, "shape": problem.shape, "precision": TORCH_DTYPE[problem.precision]})
    except OSError as error:
        return {"failed": f"it could not be loaded: {error}"}


def asked(channel: socket.socket, order: dict[str, Any]) -> dict[str, Any]:
    """What the problem's own process answers; {"failed": why} where it does not."""
    try:
        protocol.send(channel, order)
        return protocol.receive(channel) or {"failed": "the process that loads it died"}
    except (OSError, protocol.WireError) as error:
        return {"failed": f"it could not be loaded: {error}"}


def ahead_order(problem: ProblemCase, path: str) -> dict[str, Any]:
    return {
        "path": path, "shape": problem.shape, "precision": TORCH_DTYPE[problem.precision], "device": problem.device,
        "mode": problem.mode, "tf32": problem.precision is Precision.TF32,
    }  # fmt: skip


def serve(channel: socket.socket, lane: Lane) -> None:
    broken = False
    while not broken and (request := protocol.receive(channel)) is not None:
        try:
            answer = getattr(lane, request["do"])(request)
        except KBenchError as error:
            answer = {"failed": type(error).__name__, "text": str(error)}
            if not isinstance(error, ProblemError):
                lane.close()
        except Exception:
            answer = {"failed": "RefereeError", "text": traceback.format_exc()[-8000:]}
            lane.close()
            broken = lane.device is not None and lane.device.name != "cpu"  # an error of CUDA's stays with the process
        try:
            protocol.send(channel, answer)
        except OSError:  # the driver is gone
            return


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what an interrupt means
    freezer.sweep()
    fd, rung, cache, scratch = sys.argv[1:5]
    lane = Lane(rung, Path(cache), Path(scratch))
    try:
        serve(socket.socket(fileno=int(fd)), lane)
    finally:
        lane.close()
        with contextlib.suppress(OSError):
            shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
