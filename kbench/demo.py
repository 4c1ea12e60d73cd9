"""make demo: the main job on the CPU device. Three problems a level, the shipped solutions and both baselines as models."""

from __future__ import annotations

import sys
from pathlib import Path

from kbench.cli import main
from kbench.registry import builtin_root

# Problems whose shipped C++ solutions build in a second.
PROBLEMS = (
    "level1/051_argmax", "level1/089_cumsum", "level1/095_cross_entropy",
    "level2/021_conv_bias_scale_sigmoid_group_norm", "level2/053_linear_scale_hardtanh_gelu", "level2/099_linear_gelu_softmax",
    "level3/008_residual_block", "level3/019_depthwise_separable_block", "level3/035_lstm",
)  # fmt: skip


def models() -> list[str]:
    return [f"replay/{builtin_root() / 'solutions'}", "builtin/eager", "builtin/compile"]


def demo() -> int:
    """Runs the three models over the problems and prints their tables; the exit code of the first that is not 0."""
    chosen = [argument for problem in PROBLEMS for argument in ("-p", problem)]
    for model, run_id in zip(models(), ("demo-solutions", "demo-eager", "demo-compile"), strict=True):
        command = ["run", "--model", model, "--level", "1-3", "--device", "cpu", "--quick", *chosen, "--run-id", run_id]
        try:
            main(command)
        except SystemExit as ended:
            if ended.code:
                return int(ended.code)
    print(f"\nLook closer: kbench show demo-solutions level1/051_argmax   (runs are under {Path('results').resolve()})")
    return 0


if __name__ == "__main__":
    sys.exit(demo())
