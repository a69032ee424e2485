"""
A network of your own
=====================

`module` takes a function from the shape of a row to a torch module that returns one logit a row.
Every method that trains networks takes it, and trains several copies at once.
"""

import matplotlib.pyplot as plt
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
figure, panels = plt.subplots(1, 2, figsize=(7, 2.8), sharey=True, layout="constrained")
for axes, (name, module) in zip(panels, {"mlp": "mlp", "own": with_skip}.items(), strict=True):
    model = NNPUClassifier(prior=0.4, module=module, epochs=EPOCHS, n_members=5, random_state=0)
    probability = model.fit(pu.X, pu.y).predict_proba(pu.X_test)[:, 1]
    groups = [probability[pu.y_test == 0], probability[pu.y_test == 1]]
    axes.hist(groups, bins=20, range=(0, 1), stacked=True, label=["honest", "spam"])
    axes.set(title=name, xlabel="probability of spam")
    print(f"{name}: test accuracy {model.score(pu.X_test, pu.y_test):.3f}")
panels[0].set_ylabel("new mails")
panels[0].legend()
figure.savefig("own_network.png", dpi=120)
