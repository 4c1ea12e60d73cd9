"""200 requests at 32 connections with half a second of latency each, while judging goes on; the ideal is 3.2 s.

    python -m tests.benchmarks.connections [model]

The server is a process of its own, as a provider is. Half of the cores are kept busy as a judging keeps them.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kbench import environment, registry
from kbench.evaluate import Settings
from kbench.models import Message, Request
from kbench.models.opening import open_model
from kbench.models.remote import Remote
from kbench.models.settings import ModelSettings
from kbench.prompts import Target
from kbench.replies import Replies
from kbench.run import Plan, execute
from kbench.store import RunStore
from tests.fake_provider import KEY
from tests.fake_session import FakeSession

ATTEMPTS, CONNECTIONS, LATENCY_S = 200, 32, 0.5
IDEAL_S = ATTEMPTS / CONNECTIONS * LATENCY_S
URLS = {"anthropic": "ANTHROPIC_BASE_URL", "google": "GOOGLE_GEMINI_BASE_URL", "openai": "OPENAI_BASE_URL"}


class Judging(FakeSession):
    """Waits for a process that computes, as the driver waits for a lane that judges."""

    def judge(self, *arguments: object) -> object:  # type: ignore[override]
        subprocess.run([sys.executable, "-c", "x = sum(i * i for i in range(10**6))"], check=True)
        return super().judge(*arguments)  # type: ignore[arg-type]


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "anthropic/claude-opus-4-8"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.fake_provider", str(port), str(LATENCY_S)], stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    url = server.stdout.readline().decode().strip()
    os.environ |= {"ANTHROPIC_API_KEY": KEY, "GEMINI_API_KEY": KEY, "OPENAI_API_KEY": KEY}
    v1 = "" if name.startswith(("anthropic", "google")) else "/v1"
    try:
        with tempfile.TemporaryDirectory() as folder:
            measure(name, url + v1, Path(folder))
    finally:
        server.kill()


def measure(name: str, url: str, folder: Path) -> None:
    os.environ["KBENCH_CACHE"] = str(folder / "cache")
    model = open_model(name, ModelSettings(max_tokens=4000, base_url=url))
    assert isinstance(model, Remote)
    problems = tuple(registry.select(registry.discover(), levels=[1], limit=8))
    model.generate(Request(problems[0], 0, "", (Message("user", "a first one, so that imports are not counted"),)))
    model.check()  # as the command does
    environment.describe("cpu")  # torch's import either
    plan = Plan(model, problems, ATTEMPTS // 8, Settings(), None, 1, Target(), connections=CONNECTIONS)
    session = Judging()
    stored: list[float] = []
    keep = Replies.keep
    started, cpu = time.monotonic(), time.process_time()

    def counted(self: Replies, *arguments: object) -> None:
        keep(self, *arguments)  # type: ignore[arg-type]
        stored.append(time.monotonic() - started)
        if len(stored) == ATTEMPTS:
            print(
                f"{ATTEMPTS} replies stored after {stored[-1]:.2f} s, {stored[-1] / IDEAL_S:.2f} of the ideal {IDEAL_S:.2f} s"
            )
            print(f"until then {time.process_time() - cpu:.1f} s of CPU time here")

    Replies.keep = counted  # type: ignore[method-assign]
    with RunStore(folder / "run") as store:
        execute(plan, "run", store, session, lambda *_: None, lambda _: None)  # type: ignore[arg-type]
    print(
        f"{len(session.judged)} judged in {time.monotonic() - started:.1f} s; {time.process_time() - cpu:.1f} s of CPU time here"
    )


if __name__ == "__main__":
    main()
