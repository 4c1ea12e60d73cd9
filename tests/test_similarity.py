"""How much of a problem is another's."""

from __future__ import annotations

from kbench import similarity

MODEL = '''
class Model(nn.Module):
    """A text."""
    def __init__(self, size):
        super().__init__()
        self.layer = nn.Linear(size, 7)

    def forward(self, x):
        return torch.relu(self.layer(x)) * 2.0
'''


def test_other_names_numbers_and_texts_are_no_difference() -> None:
    renamed = (
        MODEL.replace("size", "width").replace("7", "9").replace("A text", "Another").replace("(self, x)", "(self, y)")
    )
    assert similarity.likeness(similarity.shape_of(MODEL), similarity.shape_of(renamed.replace("(x)", "(y)"))) == 1.0


def test_other_operations_are_a_difference() -> None:
    other = MODEL.replace("torch.relu(self.layer(x)) * 2.0", "torch.softmax(self.layer(x).exp() + x, dim=1)")
    assert similarity.likeness(similarity.shape_of(MODEL), similarity.shape_of(other)) < 0.9
