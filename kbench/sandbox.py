"""Where untrusted code runs: another uid, own namespaces, a root of its own, a rebuilt environment, limits.

    bubblewrap   bwrap: user, pid, mount, ipc, network namespaces; read-only root of what python needs
    namespaces   the same from util-linux (unshare, mount, pivot_root, setpriv)
    rlimits      resource limits only; shares files and processes with the user: a loud warning

Each rung is probed by doing it. What runs inside is always `python -m kbench.candidate.server`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kbench import scratch
from kbench.candidate import protocol
from kbench.errors import SandboxError

RUNGS = ("bubblewrap", "namespaces", "rlimits")  # strongest first
BUILD_MOUNT, LIB_MOUNT, PROBLEM_MOUNT = "/kb/build", "/kb/lib", "/kb/problem"
TMP_BYTES = 2 << 30
START_LIMIT_S = 300.0  # 5 s where idle; 90 s were not enough on two cores that ten processes wanted
AT_ONCE = 256  # sandboxes of one process that are told apart by their uid
CACHE_UID = 99_999  # of all sandboxes that write to the kept folder
_numbers = itertools.count()

# Freed memory goes back to the process, not to the kernel: otherwise page faults dominate and differ from process to process.
MALLOC = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(64 << 20),
    "MALLOC_ARENA_MAX": "1",
}

# Asking NVML whether there is a GPU does not initialise CUDA, after which a server could not fork.
GPU = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1", "CUDA_CACHE_PATH": "/tmp/nv"}

# As root the mounts are made before the uid is given up; `setpriv` before `unshare --user`, the other order fails.
_ENTER = r"""
PATH="$PATH:/usr/sbin:/sbin"
root=$1; size=$2; uid=$3; build=$4; shift 4
mount --make-rprivate /
mount -t tmpfs -o mode=755,size="$size" tmpfs "$root"
mkdir -p "$root/proc" "$root/tmp" "$root/dev/shm" "$root/kb/build" "$root/old"
chmod 1777 "$root/tmp" "$root/dev/shm"
while [ "$1" != -- ]; do
  mkdir -p "$root$(dirname "$2")"
  if [ -L "$1" ]; then cp -P "$1" "$root$2"; shift 2; continue; fi
  if [ -d "$1" ]; then mkdir -p "$root$2"; else : > "$root$2"; fi
  mount --rbind "$1" "$root$2"
  case "$2" in /dev/*) ;; *) mount -o remount,bind,ro "$root$2" 2>/dev/null || mount -o remount,bind,ro,nosuid,nodev "$root$2";; esac
  shift 2
done
shift
while [ "$1" != -- ]; do mkdir -p "$root$1"; mount -t tmpfs -o size=4k,mode=755 tmpfs "$root$1"; shift; done
shift
if [ "$build" != - ]; then cp -a "$build/." "$root/kb/build/"; fi
if [ "$uid" != - ]; then chown -R "$uid:$uid" "$root/kb/build"; fi
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
cd "$root"
pivot_root . old
cd /
umount -l /old
rmdir /old
if [ "$uid" != - ]; then
  exec setpriv --reuid "$uid" --regid "$uid" --clear-groups \
    --bounding-set=-all --inh-caps=-all --no-new-privs --pdeathsig KILL unshare --user "$@"
fi
exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs --pdeathsig KILL "$@"
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sandbox is to hold. `build` is copied, so that what runs inside may write to it; the rest is read-only."""

    build: str | None = None
    problem: str | None = None  # folder; the reference sandbox only
    oracle: bool = False
    cache: str | None = None  # a folder kept between runs; the reference sandbox only
    devices: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    disk_bytes: int | None = None  # the folder for the build is in memory, of that size; None: as it comes
    network: bool = False  # the host's; only for an agent program whose preset says so
    visible: tuple[str, ...] = ()  # further files and folders of the host, read-only


def gpu_nodes() -> tuple[str, ...]:
    """The NVIDIA driver's device nodes."""
    return tuple(sorted(str(path) for path in Path("/dev").glob("nvidia*") if path.is_char_device()))


def library_folder(parent: Path, oracle: bool) -> Path:
    """A folder with only those modules of kbench that belong inside; the problems and the referee stay outside."""
    package = Path(__file__).parent
    target = parent / ("lib-oracle" if oracle else "lib")
    if target.exists():
        return target
    # It takes its name whole: several sandboxes may start at once.
    aside = Path(tempfile.mkdtemp(prefix="lib-", dir=parent))
    aside.chmod(0o755)
    (aside / "kbench").mkdir()
    shutil.copy(package / "__init__.py", aside / "kbench" / "__init__.py")
    for name in ("candidate", "oracle") if oracle else ("candidate",):
        shutil.copytree(package / name, aside / "kbench" / name, ignore=shutil.ignore_patterns("__pycache__"))
    try:
        aside.rename(target)
    except OSError:  # another was first
        shutil.rmtree(aside, ignore_errors=True)
    return target


def environment(plan: Plan, build: str, lib: str) -> dict[str, str]:
    """Rebuilt from nothing: no key, no path and no setting of the user's reaches the inside."""
    cuda = {k: os.environ[k] for k in ("CUDA_HOME", "LD_LIBRARY_PATH") if k in os.environ and plan.devices}
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",
        "USER": "kbench",
        "LANG": "C.UTF-8",
        "PYTHONPATH": lib,
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TORCH_EXTENSIONS_DIR": f"{build}/torch_extensions",
        "TRITON_CACHE_DIR": f"{plan.cache or build}/triton",
        "TORCHINDUCTOR_CACHE_DIR": plan.cache or "/tmp/inductor",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        **({"TMPDIR": plan.cache} if plan.cache else {}),  # Inductor keeps its precompiled headers there: 12 s a start
        **MALLOC,
        **({} if plan.devices else {"TRITON_INTERPRET": "1"}),  # no GPU inside: Triton runs in its interpreter
        **(GPU if plan.devices else {}),
        **cuda,
        **dict(plan.environment),
    }


def visible_paths() -> list[str]:
    """What python needs, read-only inside. The venv's own folder is among them; the checkout around it is not."""
    prefixes = {sys.prefix, sys.base_prefix, sysconfig.get_paths()["purelib"], os.path.realpath(sys.prefix)}
    system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives", "/etc/ld.so.cache"]
    paths = [path for path in [*system, *sorted(prefixes)] if os.path.lexists(path)]
    return [path for path in paths if not any(_inside(path, other) for other in paths if other != path)]


def _inside(path: str, other: str) -> bool:
    return path.startswith(other.rstrip("/") + "/")


def masked_paths() -> list[str]:
    """Folders under the visible ones that hold kbench itself: its referee and the problems' source."""
    package = Path(__file__).resolve().parent
    site = Path(sysconfig.get_paths()["purelib"])
    return [
        str(p) for p in {package, site / "kbench"} if p.exists() and any(_inside(str(p), v) for v in visible_paths())
    ]


class Sandbox:
    """One started sandbox: a fork server inside, and the control socket to it."""

    def __init__(self, rung: str, plan: Plan, scratch: Path, preload: Sequence[str] | None = None) -> None:
        """`preload` is what the server imports before it forks; by default torch, and what sizing up problems needs."""
        self.rung, self.folder = rung, Path(tempfile.mkdtemp(prefix="box-", dir=scratch))
        ours, theirs = socket.socketpair()
        self.control, self.ready = ours, False
        lib = library_folder(scratch, plan.oracle)
        command, environ = self.command(plan, lib)
        argv = [
            *command,
            sys.executable,
            "-s",
            "-m",
            "kbench.candidate.server",
            str(theirs.fileno()),
            ",".join(preloads(plan) if preload is None else preload),
        ]
        self.log = open(self.folder / "server.log", "wb")  # noqa: SIM115 - lives as long as the process
        self.process = subprocess.Popen(
            argv, pass_fds=[theirs.fileno()], env=environ, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            start_new_session=True, cwd="/", preexec_fn=die_with_parent,
        )  # fmt: skip
        theirs.close()

    def command(self, plan: Plan, lib: Path) -> tuple[list[str], dict[str, str]]:
        if self.rung == "rlimits":
            self.build_path, lib_path = plan.build or str(self.folder), str(lib)
            self.problem_path = plan.problem or ""
            return [], environment(plan, self.build_path, lib_path)
        self.build_path, self.problem_path = BUILD_MOUNT, PROBLEM_MOUNT
        environ = environment(plan, BUILD_MOUNT, LIB_MOUNT)
        further = [path for path in plan.visible if not any(_inside(path, seen) for seen in visible_paths())]
        mounts = [(path, path) for path in [*visible_paths(), *further]] + [(str(lib), LIB_MOUNT)]
        mounts += [(plan.problem, PROBLEM_MOUNT)] if plan.problem else []
        nodes = [f"/dev/{name}" for name in ("null", "zero", "random", "urandom")] + list(plan.devices)
        return (self.bubblewrap if self.rung == "bubblewrap" else self.namespaces)(plan, mounts, nodes), environ

    def namespaces(self, plan: Plan, mounts: list[tuple[str, str]], nodes: list[str]) -> list[str]:
        root = self.folder / "root"
        root.mkdir()
        uid = str(_uid(plan)) if os.geteuid() == 0 else "-"
        writable = [(plan.cache, plan.cache)] if plan.cache else []
        if plan.cache and uid != "-":
            _give(Path(plan.cache), int(uid))
        pairs = [item for pair in [*mounts, *((n, n) for n in nodes)] for item in pair]
        script = _ENTER if not writable else _ENTER.replace("/dev/*)", f"/dev/*|{plan.cache})")
        pairs += [item for pair in writable for item in pair if pair[0]]
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        net = [] if plan.network else ["--net"]
        spaces = ["unshare", *user, "--mount", "--pid", "--ipc", *net, "--fork", "--kill-child=KILL"]
        arguments = [
            str(root),
            str(plan.disk_bytes or TMP_BYTES),
            uid,
            plan.build or "-",
            *pairs,
            "--",
            *masked_paths(),
            "--",
        ]
        return [*spaces, "sh", "-eu", "-c", script, "sh", *arguments]

    def bubblewrap(self, plan: Plan, mounts: list[tuple[str, str]], nodes: list[str]) -> list[str]:
        drop = []
        if os.geteuid() == 0:  # where that uid cannot reach python the probe fails, and the next rung serves
            uid = str(_uid(plan))
            drop = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "--pdeathsig", "KILL"]
        command = [
            *drop,
            "bwrap",
            "--unshare-all",
            *(["--share-net"] if plan.network else []),
            "--as-pid-1",
            "--die-with-parent",
            "--cap-drop",
            "ALL",
            *_sized(plan),
            "--tmpfs",
            "/tmp",
        ]
        command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm"]
        for source, target in mounts:
            if os.path.islink(source):
                command += ["--symlink", os.readlink(source), target]
            else:
                command += ["--ro-bind", source, target]
        for node in nodes[4:]:
            command += ["--dev-bind", node, node]
        for path in masked_paths():
            command += ["--tmpfs", path]
        private = self.folder / "build"
        if plan.disk_bytes is not None:  # nothing else inside may be written to, or it would be a disk without a limit
            command += [*_sized(plan), "--tmpfs", BUILD_MOUNT, *_sized(plan), "--tmpfs", "/dev/shm"]
            return [*command, "--remount-ro", "/dev", "--remount-ro", "/", "--"]
        if plan.build:
            shutil.copytree(plan.build, private, symlinks=True)
        else:
            private.mkdir()
        if drop:
            _give(self.folder, int(uid))
            if plan.cache:
                _give(Path(plan.cache), int(uid))
        command += ["--bind", str(private), BUILD_MOUNT]
        return command + (["--bind", plan.cache, plan.cache] if plan.cache else []) + ["--"]

    def wait_ready(self, limit_s: float = START_LIMIT_S) -> None:
        """Until the server has imported what it preloads. SandboxError with the log's last line where it does not."""
        if self.ready:
            return
        self.control.settimeout(limit_s)
        try:
            ready = protocol.receive(self.control)
        except (TimeoutError, protocol.WireError, ConnectionError):
            ready = None
        if ready is None:
            raise SandboxError(f"the {self.rung} sandbox did not start: {self.last_words()}")
        self.control.settimeout(30.0)
        self.ready = True

    def last_words(self) -> str:
        text = (self.folder / "server.log").read_bytes()[-2000:].decode(errors="replace").strip()
        return text.splitlines()[-1] if text else "it printed nothing"

    def close(self) -> None:
        """Ends everything inside and removes what it left."""
        self.control.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _sized(plan: Plan) -> list[str]:
    """What goes before a tmpfs of bubblewrap's that is to have a size."""
    return [] if plan.disk_bytes is None else ["--size", str(plan.disk_bytes)]


def preloads(plan: Plan) -> tuple[str, ...]:
    """torch; where problems are only sized up, on the meta device, what its first call would import: 2 s a problem; and
    Triton where there is a GPU: half a second a worker."""
    sizing = plan.oracle and plan.build is None
    more = ["torch.fx.experimental.symbolic_shapes"] if sizing else []
    if plan.devices and not plan.oracle and importlib.util.find_spec("triton") is not None:
        more.append("kbench.candidate.warm")
    return ("torch", *more)


def die_with_parent() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def _uid(plan: Plan) -> int:
    """One of its own for every sandbox, so that limits and signals of one never touch another.

    Those that share the kept folder run the problem's own code, never a candidate's, and share a uid: two commands at once
    would otherwise take the folder from each other.
    """
    if plan.cache:
        return CACHE_UID
    return 100_000 + (os.getpid() * AT_ONCE + next(_numbers) % AT_ONCE) % 800_000


def _give(folder: Path, uid: int) -> None:
    if folder.stat().st_uid == uid:
        return
    for base, _, files in os.walk(folder):
        for path in (base, *(os.path.join(base, name) for name in files)):
            with contextlib.suppress(FileNotFoundError):
                os.chown(path, uid, uid, follow_symlinks=False)


@cache
def probe(rung: str) -> str | None:
    """None where a sandbox of that rung starts and answers; else the reason why not."""
    needed = {"bubblewrap": ["bwrap"], "namespaces": ["unshare", "setpriv", "pivot_root"], "rlimits": []}[rung]
    missing = [tool for tool in needed if shutil.which(tool) is None]
    if missing:
        return f"{missing[0]} is not installed"
    folder = scratch.make("probe")
    try:
        box = Sandbox(rung, Plan(), folder, preload=())
        try:
            box.wait_ready(60.0)
        finally:
            box.close()
    except (OSError, SandboxError) as error:
        return str(error)
    finally:
        scratch.remove(folder)
    return None


@cache
def choose(require: bool = False) -> str:
    """The strongest rung that works here. SandboxError where `require` is set and only rlimits does."""
    reasons = {}
    for rung in RUNGS:
        reason = probe(rung)
        if reason is None and not (rung == "rlimits" and require):
            return rung
        reasons[rung] = reason
    told = "; ".join(f"{rung}: {reason}" for rung, reason in reasons.items() if reason)
    raise SandboxError(f"no sandbox with namespaces works here ({told}); see the container recipe in the README")
