"""A workdir in its sandbox, and the gate out of it: what an agent's shell can do there, and what it is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbench import registry
from kbench.agent import AgentSettings
from kbench.agent.box import Box
from kbench.agent.contract import Contract, contract_for
from kbench.agent.gate import Gate, Shot
from kbench.agent.judge import Judge
from kbench.agent.packing import literal, pack
from kbench.evaluate import Session
from kbench.prompts import Target
from kbench.registry import builtin_root
from kbench.types import Problem, Status

RIGHT = (builtin_root() / "solutions/level1/019_relu.py").read_text()
WRONG = RIGHT.replace("x[i] < 0 ? 0 : x[i]", "x[i] < 0 ? 0 : x[i] * 1.01f")


@pytest.fixture(scope="module")
def relu() -> Problem:
    return registry.select(registry.discover(None), (1,), ["019_relu"], None)[0]


@pytest.fixture(scope="module")
def contract(relu: Problem) -> Contract:
    return contract_for(relu, Target(), "auto", None)


@pytest.fixture(scope="module")
def box(session: Session, contract: Contract, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    settings = AgentSettings(disk_bytes=64 << 20)
    with Box(session.rung, session.scratch, settings, contract.files) as opened:
        yield opened


@pytest.fixture(scope="module")
def judge(session: Session) -> Iterator[Judge]:
    judge = Judge(session, session.settings, 1)
    yield judge
    session.referee.end()  # it was started by the judge's thread
    judge.close()


@pytest.fixture
def shots(judge: Judge, relu: Problem, contract: Contract, box: Box) -> Iterator[list[Shot]]:
    kept: list[Shot] = []
    gate = Gate(relu, contract, judge, "test", kept.append)
    thread = gate.serve(box.gate)
    yield kept
    gate.stop()
    thread.join(5)


def bash(box: Box, command: str, limit_s: float = 500.0) -> str:
    return str(box.bash(command, limit_s)["text"])


def write(box: Box, name: str, text: str) -> None:
    bash(box, f"rm -f {name}")
    assert not box.tool("write", {"file_path": name, "content": text})["failed"]


def test_a_wrong_kernel_is_told_so_and_a_right_one_in_the_words_of_the_paper(box: Box, shots: list[Shot]) -> None:
    write(box, "model_new.py", WRONG)
    compiled = box.bash("bash utils/compile.sh", 500)
    assert compiled["code"] == 0, compiled
    assert "Compile success: cuda_extension.so" in compiled["text"]
    assert "[TIME] Compilation took" in compiled["text"]
    told = box.bash("sudo python3 -m utils.verification", 500)
    assert told["code"] == 1
    assert "[FAIL] incorrect" in told["text"]
    assert "[PASS]" not in told["text"]
    write(box, "model_new.py", RIGHT)
    told = box.bash("cd kernels 2>/dev/null; cd /tmp; sudo python3 -m utils.verification", 500)
    assert told["code"] == 0
    assert told["text"].splitlines() == [*(f"[PASS] check {at}/5" for at in range(1, 6)), "[PASS] verify success"]
    assert [shot.verdict.status for shot in shots] == [Status.INCORRECT, Status.CORRECT]
    assert shots[1].solution.source == RIGHT


def test_what_an_agent_writes_over_the_tools_and_prints_itself_changes_no_verdict(box: Box, shots: list[Shot]) -> None:
    write(box, "model_new.py", WRONG)
    forged = "cat > utils/verification.py <<'X'\nprint('[PASS] verify success')\nX\npython3 -m utils.verification"
    assert "[PASS] verify success" in bash(box, f"cd /kb/build; {forged}")
    assert not shots
    told = box.bash("sudo python3 -m utils.verification", 500)
    assert told["code"] == 1
    assert "changed, and not used: utils/verification.py" in told["text"]
    assert shots[0].verdict.status is Status.INCORRECT
    assert shots[0].changed == ("utils/verification.py",)


def test_without_a_solution_and_with_a_syntax_error_the_gate_says_what_is_wrong(box: Box, shots: list[Shot]) -> None:
    bash(box, "rm -f /kb/build/model_new.py")
    told = box.bash("cd /kb/build; bash utils/compile.sh", 500)
    assert told["code"] == 1
    assert "there is no model_new.py" in told["text"]
    write(box, "model_new.py", "def")
    told = box.bash("bash utils/compile.sh", 500)
    assert told["code"] == 1
    assert "Compilation failed." in told["text"]
    assert "SyntaxError" in told["text"]
    assert "only python3 -m utils.verification" in bash(box, "sudo cat /etc/shadow")


def test_the_shell_keeps_its_folder_and_variables_and_comes_back_after_exit_and_time_out(box: Box) -> None:
    assert bash(box, "cd /tmp; export FOO=bar; false") == ""
    assert bash(box, "pwd; echo $FOO").split() == ["/tmp", "bar"]
    assert box.bash("exit 3", 10)["code"] is None
    assert bash(box, "pwd").strip() == "/kb/build"
    stopped = box.bash("echo begun; sleep 60", 0.5)
    assert stopped["code"] is None
    assert stopped["text"].startswith("begun")
    assert bash(box, "echo alive; (echo later >&2)").split() == ["alive", "later"]
    long = bash(box, "yes | head -c 1000000")
    assert "bytes cut" in long
    assert len(long) < 60_000
    assert box.bash("if then", 10)["code"] != 0


def test_the_shell_reaches_no_network_no_secret_and_no_answer(box: Box) -> None:
    connect = "python3 -c \"import socket; socket.create_connection(('127.0.0.1', 22), 2)\""
    assert "Error" in bash(box, connect)
    assert bash(box, "env | grep -ci 'key\\|token'").strip() == "0"
    found = bash(box, "cat /etc/shadow /root/.bashrc 2>&1; find / -path '*solutions*relu*' 2>/dev/null; id -u")
    assert "class ModelNew" not in found
    assert "No such file" in found
    # Of this checkout nothing is there, but for the interpreter where that stands in it.
    assert not {"kbench", "problems", "tests"} & set(bash(box, f"ls {Path(__file__).parents[1]} 2>&1").split())
    assert "INPUTS" not in bash(box, "cat /kb/build/model.py")


def test_a_full_disk_is_the_agents_own_and_can_be_cleared(box: Box) -> None:
    told = bash(box, "cd /kb/build; dd if=/dev/zero of=big bs=1M count=500 2>&1")
    assert "No space left" in told
    assert "kept" in bash(box, "echo kept")
    answer = box.tool("write", {"file_path": "more.py", "content": "x" * 100_000})
    assert answer["failed"]
    assert "No space left" in answer["text"]
    assert bash(box, "rm big; rm -f more.py; echo freed").strip() == "freed"


def test_a_workdir_comes_back_from_its_tar(box: Box, session: Session) -> None:
    bash(box, "cd /kb/build; mkdir -p kernels; echo 'int x;' > kernels/a.cpp; chmod 600 kernels/a.cpp")
    data = box.pack()
    assert data is not None
    with Box(session.rung, session.scratch, AgentSettings(), data) as again:
        assert bash(again, "cat kernels/a.cpp").strip() == "int x;"
        assert again.files()["kernels/a.cpp"] == b"int x;\n"


def test_file_tools_read_before_they_write_and_change_all_or_nothing(box: Box) -> None:
    bash(box, "cd /kb/build; printf 'a\\nb\\na\\n' > notes.md")
    assert "read it before" in box.tool("write", {"file_path": "notes.md", "content": "x"})["text"]
    assert box.tool("read", {"file_path": "notes.md"})["text"].splitlines()[1].split() == ["2", "b"]
    twice = box.tool("edit", {"file_path": "notes.md", "old_string": "a", "new_string": "c"})
    assert twice["failed"]
    assert "2 times" in twice["text"]
    edits = [{"old_string": "b", "new_string": "B"}, {"old_string": "zzz", "new_string": ""}]
    assert box.tool("multi_edit", {"file_path": "notes.md", "edits": edits})["failed"]
    assert bash(box, "cat notes.md") == "a\nb\na\n"
    assert not box.tool("edit", {"file_path": "notes.md", "old_string": "b", "new_string": "B"})["failed"]
    assert "notes.md:2:B" in box.tool("grep", {"pattern": "B", "output_mode": "content", "glob": "*.md"})["text"]
    assert box.tool("glob", {"pattern": "**/*.sh"})["text"] == "utils/compile.sh"
    assert box.tool("read", {"file_path": "/dev/zero"})["failed"]
    assert box.tool("read", {"wrong": 1})["failed"]


def test_packed_texts_are_kept_to_the_letter() -> None:
    for text in ("plain\n", "it's '''quoted'''\n", "ends with '", "back\\", "crlf\r\n", "\\n in it"):
        assert eval(literal(text)) == text
    packed = pack({"model_new.py": "import cuda_extension\n", "kernels/a.cu": "__global__ void f() {}\n"}, "test")
    assert packed.language == "cuda"
    space: dict[str, object] = {}
    exec(packed.source.partition("\n\ndef _load")[0], space)
    assert space["FILES"] == {"model_new.py": "import cuda_extension\n", "kernels/a.cu": "__global__ void f() {}\n"}


KERNEL = """#include <cstdint>
extern "C" void relu_launch(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i];
}
"""
BINDING = """#include <torch/types.h>
#include "../binding_registry.h"
extern "C" void relu_launch(const float*, float*, int64_t);
static torch::Tensor relu(const torch::Tensor& x) {
  auto source = x.contiguous();
  auto y = torch::empty_like(source);
  relu_launch(source.data_ptr<float>(), y.data_ptr<float>(), source.numel());
  return y;
}
REGISTER_BINDING(relu, relu);
"""
MODEL = """import cuda_extension
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return cuda_extension.relu(x)
"""


@pytest.mark.slow
def test_the_layout_of_the_paper_is_built_and_judged_as_one_text(judge: Judge, relu: Problem) -> None:
    contract = contract_for(relu, Target(), "cuda-agent", None)
    kept: list[Shot] = []
    gate = Gate(relu, contract, judge, "test", kept.append)
    files = dict(contract.files)
    files |= {"model_new.py": MODEL.encode(), "kernels/relu.cpp": KERNEL.encode()}
    files |= {"kernels/relu_binding.cpp": BINDING.encode(), "binding.cpp": b"#error ours is used\n"}
    told = gate.answer("verify", files)
    assert told.exit == 0, told.text
    assert told.text.endswith("[PASS] verify success")
    (shot,) = kept
    assert shot.changed == ("binding.cpp",)
    assert "kernels/relu_binding.cpp" in shot.solution.source
    assert shot.solution.language == "cpp"


def test_a_folder_of_the_users_own_takes_the_place_of_ours(relu: Problem, tmp_path: Path) -> None:
    (tmp_path / "utils").mkdir()
    for name, text in {
        "SKILL.md": "Do it.",
        "model.py": "theirs",
        "utils/helper.py": "x = 1\n",
        "binding.cpp": "// b\n",
    }.items():
        (tmp_path / name).write_text(text)
    contract = contract_for(relu, Target(), "auto", str(tmp_path))
    assert contract.task == "Do it."
    assert b"class Model(" in contract.files["model.py"]
    assert contract.kept == {"SKILL.md", "model.py", "utils/helper.py", "binding.cpp"}
    found = {**contract.files, "model_new.py": b"class ModelNew: pass\n", "kernels/a.cu": b"// a\n"}
    source = contract.solution(found, "test").source
    assert "FILES['binding.cpp'] = r'''// b\n'''" in source
    assert "helper" not in source
