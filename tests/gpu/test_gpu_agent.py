"""Whole episodes on a GPU in the paper's layout: CUDA files and their bindings, through nvcc, the referee and the real SDK."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kbench import environment
from kbench.cli import main
from kbench.types import Record, Status
from tests.agent_script import bash, call, says, script
from tests.fake_provider import Answer
from tests.test_agent import _command_line, texts
from tests.test_agent import cache as cache
from tests.test_agent import play as play

Play = Callable[..., Record]

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(environment.best_device() == "cpu", reason="no NVIDIA driver answers here"),
]

MODEL = """import cuda_extension
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return cuda_extension.relu(x)
"""
BINDING = """#include <torch/types.h>
#include <c10/cuda/CUDAStream.h>
#include "../binding_registry.h"
extern "C" void relu_launch(const float*, float*, int64_t, cudaStream_t);
static torch::Tensor relu(const torch::Tensor& x) {
  auto source = x.contiguous();
  auto y = torch::empty_like(source);
  relu_launch(source.data_ptr<float>(), y.data_ptr<float>(), source.numel(), c10::cuda::getCurrentCUDAStream());
  return y;
}
REGISTER_BINDING(relu, relu);
"""
LAUNCH = """
extern "C" void relu_launch(const float* x, float* y, int64_t n, cudaStream_t stream) {{
  relu_kernel<<<{blocks}, {threads}, 0, stream>>>(x, y, n);
}}
"""
ONE_EACH = """#include <cstdint>
__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] < 0 ? 0 : x[i];
}
"""
SLOW = ONE_EACH + LAUNCH.format(blocks="(n + 31) / 32", threads=32)
FAST = ONE_EACH + LAUNCH.format(blocks="(n + 511) / 512", threads=512)
WRONG = SLOW.replace("x[i] < 0 ? 0 : x[i]", "x[i] < 0 ? 0.01f * x[i] : x[i]")
BROKEN = SLOW.replace("blockIdx.x", "blockIndex.x")


def kernel(text: str, *more: tuple[str, str], first: bool = False) -> Answer:
    """kernels/relu.cu anew; at `first` the other files too."""
    files = {"kernels/relu.cu": text, **({"model_new.py": MODEL, "kernels/relu_binding.cpp": BINDING} if first else {})}
    fresh = ("Bash", json.dumps({"command": f"rm -f {' '.join(files)}"}))
    return Answer(
        calls=(fresh, *(call("Write", file_path=name, content=content) for name, content in files.items()), *more)
    )


def test_a_wrong_cuda_kernel_is_read_mended_profiled_and_improved(play: Play, tmp_path: Path) -> None:
    record = play(
        script(
            bash("cat model.py SKILL.md; ls -R; nvidia-smi; ls /dev/nvidia*"),
            kernel(BROKEN, call("compile"), first=True),
            lambda prompt: kernel(WRONG if "blockIndex" in prompt else BROKEN, call("compile"), call("verify")),
            lambda prompt: kernel(SLOW if "[FAIL] incorrect" in prompt else WRONG, call("profile")),
            kernel(FAST, call("profile")),
            Answer("That is it."),
        ),
        "--device", "cuda:0", "--shapes", "medium", "--baseline", "eager,compile",
    )  # fmt: skip
    facts = record.agent
    assert facts is not None
    assert record.status is Status.CORRECT, record.verdict
    assert (facts.stop_reason, facts.contract) == ("done", "cuda-agent")
    told = [(s.kind, s.turn, str(s.status)) for s in facts.snapshots]
    assert told == [("verify", 3, "incorrect"), ("profile", 4, "correct"), ("profile", 5, "correct")]
    slow, fast = (s.speedups["eager"] for s in facts.snapshots[1:])
    assert slow < fast  # a block of one warp each cannot fill the device
    assert facts.chosen == 2
    assert facts.reward in (1, 2, 3)
    seen = texts(tmp_path)
    assert "No such file" in seen[0] or "not found" in seen[0]  # the shell has no device
    assert any('identifier "blockIndex" is undefined' in text for text in seen)
    assert any(text.startswith("Torch Baseline: ") and "Torch Compile: " in text for text in seen)
    with pytest.raises(SystemExit) as ended:
        main(["verify", "r", "--trajectories", "--results", str(tmp_path)])
    assert ended.value.code == 0


def test_an_episode_that_reaches_for_the_device_forges_and_leaves_a_daemon_gets_nothing(
    play: Play, tmp_path: Path
) -> None:
    reach = "python3 -c 'import torch; print(torch.zeros(1).cuda())'"
    daemon = "(setsid nohup sleep 997.5 >/dev/null 2>&1 &); "
    record = play(
        script(
            kernel(WRONG, first=True),
            bash(f"{reach}; ls /dev/nvidiactl; {daemon} echo next"),
            bash("echo 'print(\"[PASS] verify success\")' > utils/verification.py; python3 -m utils.verification"),
            says(call("verify")),
            says(text="I cannot help with this request."),
        ),
        "--device", "cuda:0", "--shapes", "medium",
    )  # fmt: skip
    facts = record.agent
    assert facts is not None
    assert (record.status, facts.stop_reason, facts.reward) == (Status.REFUSED, "refused", -1)
    assert [(s.status, s.changed) for s in facts.snapshots] == [(Status.INCORRECT, ("utils/verification.py",))]
    seen = texts(tmp_path)
    reached = next(text for text in seen if text.rstrip().endswith("next"))
    assert "device='cuda" not in reached
    assert "cannot access '/dev/nvidiactl'" in reached
    assert any("[FAIL] incorrect" in text for text in seen)
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if "997.5" in _command_line(path)]
