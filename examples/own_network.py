"""
A network of your own
=====================

`module` takes a function from the shape of a row to a torch module that returns one logit a row.
Every method that trains networks takes it, and trains several copies at once.
"""

from torch import nn

from robustpu import NNPUClassifier, datasets, make_pu

EPOCHS = 30


def with_skip(shape):
    """A hidden layer, a layer around which the input of the layer passes, and a logit."""
    (n_columns,) = shape
    return nn.Sequential(nn.Linear(n_columns, 64), nn.ReLU(), Skip(64), nn.Linear(64, 1))


class Skip(nn.Module):
    """x + relu(Wx + b)."""

    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return x + self.layer(x).relu()


table = datasets.load("spambase")
pu = make_pu(
    table.data,
    table.target,
    n_positive=400,
    n_unlabeled=800,
    prior=0.4,
    n_test=1000,
    random_state=0,
)

# %%
# Five copies with other initial weights and batches, averaged; and the built-in network.
for name, module in (("mlp", "mlp"), ("own", with_skip)):
    model = NNPUClassifier(prior=0.4, module=module, epochs=EPOCHS, n_members=5, random_state=0)
    model.fit(pu.X, pu.y)
    print(f"{name}: test accuracy {model.score(pu.X_test, pu.y_test):.3f}")
