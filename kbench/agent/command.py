"""agent/NAME: any agent program, started in the workdir with the task's text. What it leaves there is judged as ever.

A preset is a TOML file: a shipped one by its name, or one of the user's by its path. agent/PRESET@MODEL names its model.

    program = "codex"                     # found on the user's PATH; its folder is made visible inside, read-only
    command = "codex exec -m {model} ..."   # run by bash in the workdir; {task} is a file with the task's text
    model = "gpt-5"                       # where the command line names none
    network = true                        # the host's; without it there is none
    pass = ["OPENAI_API_KEY"]             # variables of the user's that it gets
    [environment]                         # and others
"""

from __future__ import annotations

import os
import shlex
import shutil
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbench import sandbox
from kbench.agent.box import Box, BoxLost
from kbench.errors import ConfigError
from kbench.models import Request

if TYPE_CHECKING:
    from kbench.agent.episode import Episode

PRESETS = Path(__file__).parent / "presets"
TASK = "/tmp/kbench-task.md"
# What a program with a network needs of the host to use it.
NETWORK_FILES = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/passwd",
)
FIELDS = {
    "program": str,
    "command": str,
    "model": str,
    "network": bool,
    "pass": list,
    "environment": dict,
    "visible": list,
}


class Program:
    """A model as far as a run is concerned, but for `generate`: it is not asked, it works."""

    exempt = False

    def __init__(self, name: str) -> None:
        """`name` is agent/PRESET[@MODEL]. ConfigError where there is no such preset, or its program is not installed."""
        self.name = name
        preset, _, model = name.partition("/")[2].partition("@")
        self.preset = read_preset(preset)
        self.model = model or str(self.preset.get("model", ""))
        self.network = bool(self.preset.get("network", False))
        found = shutil.which(self.preset["program"])
        if found is None:
            raise ConfigError(f"{name}: {self.preset['program']!r} is not on the PATH; install it, or mend the preset")
        self.executable = Path(found).absolute()
        # Kept here, since keys leave this process's environment.
        self.passed = {key: os.environ[key] for key in self.preset.get("pass", ()) if os.environ.get(key)}

    def identity(self) -> dict[str, object]:
        """JSON-ready; of what it is passed, the names alone."""
        kept = {key: value for key, value in self.preset.items() if key != "environment"}
        return {**kept, "model": self.model, "passed": sorted(self.passed)}

    def generate(self, request: Request) -> None:
        raise AssertionError(f"{self.name} works in a folder; nothing is asked of it")

    def plan(self) -> sandbox.Plan:
        inside = sandbox.environment(sandbox.Plan(), "", "")["PATH"]
        fixed = {str(key): str(value) for key, value in self.preset.get("environment", {}).items()}
        variables = {**fixed, **self.passed, "PATH": f"{self.executable.parent}:{inside}"}
        # bin/claude and node_modules/.bin/claude lead to files beside that folder.
        folders = [str(self.executable.parent.parent), *(str(path) for path in self.preset.get("visible", ()))]
        files = [path for path in NETWORK_FILES if self.network and os.path.exists(path)]
        return sandbox.Plan(environment=tuple(variables.items()), network=self.network, visible=(*folders, *files))

    def work(self, box: Box, task: str, episode: Episode) -> str:
        """Runs it to its end or the episode's. The stop reason: "done", "time", or "exit N"."""
        trajectory = episode.trajectory
        trajectory.begin(system="", task=task, tools=[], program=self.name, network=self.network)
        box.tool("write", {"file_path": TASK, "content": task})
        command = self.preset["command"].replace("{model}", shlex.quote(self.model)).replace("{task}", TASK)
        left_s = max(1.0, episode.settings.episode_s - episode.seconds())
        started = time.monotonic()
        try:
            answer = box.bash(f"cd {sandbox.BUILD_MOUNT} && (\n{command}\n)", left_s)
        except BoxLost as error:
            answer = {"text": f"the sandbox ended: {error}", "code": None}
        code = answer.get("code")
        trajectory.add("program", text=answer["text"], code=code, seconds=time.monotonic() - started)
        return "time" if answer.get("interrupted") else "done" if code == 0 else f"exit {code}"


def read_preset(name: str) -> dict[str, Any]:
    path = Path(name) if name.endswith(".toml") else PRESETS / f"{name}.toml"
    known = ", ".join(sorted(p.stem for p in PRESETS.glob("*.toml")))
    if not path.is_file():
        raise ConfigError(f"agent/{name}: no such preset; there are {known}, or give the path of a .toml file")
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    for key, value in found.items():
        if key not in FIELDS or not isinstance(value, FIELDS[key]):
            raise ConfigError(f"{path}: {key!r} is none of {', '.join(FIELDS)}, or not of its type")
    for key in ("program", "command"):
        if key not in found:
            raise ConfigError(f'{path}: it has no {key!r}; write {key} = "..."')
    return found
