"""Wrong forwards made from right ones, and what a forward costs."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from kbench.oracle import facts, mutations, program


def altered(function: object, name: str, how: str, occurrence: int = 1) -> torch.Tensor:
    mode = mutations.Altered(name, occurrence, how)
    with torch.no_grad(), mode:
        result: torch.Tensor = function()  # type: ignore[operator]
    assert mode.done
    return result


def test_an_operator_is_left_out_at_its_occurrence_only() -> None:
    x = torch.randn(5, 7)
    assert torch.equal(altered(lambda: torch.relu(torch.relu(x) - 1), "relu", "skip", 2), torch.relu(x) - 1)
    assert torch.equal(altered(lambda: torch.relu(torch.relu(x) - 1), "relu", "skip", 1), torch.relu(x - 1))


def test_an_operator_in_place_is_left_out_too() -> None:
    x = torch.randn(5)
    assert torch.equal(altered(lambda: F.relu(x.clone(), inplace=True), "relu_", "skip"), x)


@pytest.mark.parametrize("kind", ["softmax", "log_softmax", "logsumexp"])
def test_a_naive_softmax_is_right_until_it_overflows(kind: str) -> None:
    x, function = torch.randn(4, 9, dtype=torch.float64), getattr(torch, kind)
    name = kind if kind == "logsumexp" else f"_{kind}"
    torch.testing.assert_close(altered(lambda: function(x, 1), name, "naive"), function(x, 1))
    assert not altered(lambda: function(x + 1000, 1), name, "naive").isfinite().all()


def test_the_last_summand_is_left_out() -> None:
    a, b = torch.randn(3, 5), torch.randn(5, 2)
    torch.testing.assert_close(altered(lambda: a @ b, "mm", "tail"), a[:, :4] @ b[:4])
    torch.testing.assert_close(altered(lambda: a.sum(dim=1), "sum", "tail"), a[:, :4].sum(dim=1))


def test_what_an_operator_allows_is_found_where_it_is_dispatched() -> None:
    x, traced = torch.randn(4, 6), mutations.Traced()
    with torch.no_grad(), traced:
        F.layer_norm(F.gelu(x.abs().clamp(min=0)), (6,))
    found = {(name, how) for name, _, how in traced.found}
    assert {("gelu", "tanh"), ("gelu", "skip"), ("native_layer_norm", "eps"), ("native_layer_norm", "skip")} <= found
    assert traced.idle == ["clamp #1"]


def test_tf32_keeps_ten_bits_of_the_mantissa() -> None:
    values = torch.tensor([1 + 2.0**-10, 1 + 2.0**-12, -3.0, 0.0])
    assert mutations.rounded(values, "tf32").tolist() == [1 + 2.0**-10, 1.0, -3.0, 0.0]
    assert mutations.rounded(torch.arange(3), "bfloat16").tolist() == [0, 1, 2]


def test_flops_and_bytes_are_those_of_the_textbook(tmp_path: Path) -> None:
    source = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 16)
    def forward(self, x):
        return torch.relu(self.layer(x))
def get_inputs(*, rows):
    return [torch.rand(rows, 64)]
def get_init_inputs(*, rows):
    return []
"""
    path = tmp_path / "problem.py"
    path.write_text(source)
    request = {"path": str(path), "shape": {"rows": 100}, "precision": "float32"}
    found = facts.facts_of(request)
    assert found["flops"] == 2 * 100 * 64 * 16 + 100 * 16  # the product, and the ReLU
    assert found["moved_bytes"] == 4 * (100 * 64 + 64 * 16 + 16 + 100 * 16)
    assert found["parameters"] == 64 * 16 + 16
    assert found["operators"] == {"addmm": 1, "relu": 1}


def test_a_permuted_tensor_is_dense_and_one_with_gaps_or_repeats_is_not() -> None:
    x = torch.randn(4, 1, 6)
    assert program.is_dense(x)
    assert program.is_dense(x.permute(2, 1, 0))
    assert program.is_dense(torch.randn(4, 3, 6, 5).contiguous(memory_format=torch.channels_last))
    assert not program.is_dense(x[:, :, ::2])
    assert not program.is_dense(x.expand(4, 2, 6))
    assert program.is_dense(torch.randn(0, 3))
