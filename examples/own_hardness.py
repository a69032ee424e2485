"""
A hardness of your own
======================

Robust-PU measures in each round how hard a row is to fit, unlabelled rows as negatives, and gives
hard rows little weight. A hardness is a function of logits; give it to the curriculum. In the end
we look at the weights: hidden positives should have less weight than true negatives.
"""

import matplotlib.pyplot as plt
import torch

from robustpu import Curriculum, RobustPUClassifier, datasets, make_pu

EPOCHS, ROUNDS = 10, 10


def hinge(logit, is_positive, temperature):
    """max(0, 1 - margin / τ): 0 for rows that are clearly on their side."""
    return (1 - torch.where(is_positive, logit, -logit) / temperature).clamp(min=0)


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
model = RobustPUClassifier(
    prior=0.4,
    epochs=EPOCHS,
    curriculum=Curriculum(hardness=hinge, max_rounds=ROUNDS),
    random_state=0,
).fit(pu.X, pu.y)
print(f"test accuracy {model.score(pu.X_test, pu.y_test):.3f}")

# %%
# `weight_` has the last weight of each row, and `y_true` of the split the truth, which no fit sees.
unlabeled = pu.y == 0
hidden = unlabeled & (pu.y_true == 1)
negative = unlabeled & (pu.y_true == 0)
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.hist(
    [model.weight_[negative], model.weight_[hidden]],
    bins=20,
    label=["negatives", "hidden positives"],
    color=["tab:blue", "tab:orange"],
)
axes.set(xlabel="weight in the last round", ylabel="unlabelled rows")
axes.legend()
figure.savefig("own_hardness.png", dpi=120)
print(f"mean weight of negatives {model.weight_[negative].mean():.2f}, ", end="")
print(f"of hidden positives {model.weight_[hidden].mean():.2f}")
