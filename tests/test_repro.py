"""The script of a failed call: it finds the candidate's weights as the referee did, and makes the same error again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kbench import registry, repro
from kbench.evaluate import Session, Settings
from kbench.types import Solution, Status

SUITE = Path(__file__).parent / "exploits" / "problems"
WRONG_BY = 1.01
HEAD = """
import torch, torch.nn as nn, torch.nn.functional as F
class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
"""
NAMED = """
        self.norm = nn.LayerNorm(features)
        self.up, self.down = nn.Linear(features, 4 * features), nn.Linear(4 * features, features)
    def forward(self, x):
        return {wrong} * self.down(F.gelu(self.up(self.norm(x))))
"""
ORDERED = """
        self.a, self.b, self.c = nn.LayerNorm(features), nn.Linear(features, 4 * features), nn.Linear(4 * features, features)
    def forward(self, x):
        return {wrong} * self.c(F.gelu(self.b(self.a(x))))
"""
SEEDED = """
        self.norm = nn.LayerNorm(features)
        self.b, self.c = nn.Linear(features, 4 * features), nn.Linear(4 * features, features)
        self.more = nn.Parameter(torch.ones(1))
    def forward(self, x):
        return {wrong} * self.c(F.gelu(self.b(self.norm(x))))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("body", "weights"), [(NAMED, "by_name"), (ORDERED, "by_order"), (SEEDED, "by_seed")])
def test_the_script_makes_the_same_error_whatever_way_the_weights_go(body: str, weights: str, tmp_path: Path) -> None:
    problem = registry.find(registry.discover(SUITE), "030_plain_norm_mlp")
    solution = Solution(HEAD + body.format(wrong=WRONG_BY), "test", "python")
    settings = Settings(protocol="quick", policy="any", baselines=("eager",))
    with Session(settings) as session:
        verdict = session.judge(problem, solution)
    assert verdict.status is Status.INCORRECT, verdict.message
    assert verdict.weights == weights
    text = repro.script(problem, solution, settings, verdict)
    assert text is not None
    (tmp_path / "repro.py").write_text(text)
    done = subprocess.run([sys.executable, str(tmp_path / "repro.py")], capture_output=True, text=True, check=True)
    found = re.search(r"got ([-\d.e+]+), fp64 ([-\d.e+]+)", done.stdout)
    assert found is not None, done.stdout
    assert float(found[1]) / float(found[2]) == pytest.approx(WRONG_BY, rel=1e-4)
