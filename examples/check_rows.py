"""
Check some rows, and know how good the list is
==============================================

Where classes overlap, labelled and unlabelled rows do not tell how many of a list are positive. A
few checked rows do: some turn out positive, the others are known negatives, a third label in `y`.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from robustpu import PUClassifier, datasets, make_pu

N_ROWS = 1500

table = datasets.load("spambase")
pu = make_pu(
    table.data,
    table.target,
    n_positive=40,
    n_unlabeled=N_ROWS,
    prior=0.05,
    scenario="single-set",
    random_state=0,
)
# Noise, so that the classes overlap as those of most tables do.
X = pu.X / pu.X.std(axis=0) + np.random.default_rng(0).normal(0, 3, pu.X.shape)
model = PUClassifier(scenario="single-set", effort="fast", random_state=0)

# %%
# Without a check there is a ranking, and no promise.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    model.fit(X, pu.y)
before = model.evaluate(k=50)
print(before)

# %%
# The thirty most suspect rows are checked; here the truth answers. `by="random"` draws rows from
# all, `by="informative"` those nearest to the threshold.
rows = model.to_check(30, by="suspect")
y, checked = pu.y.copy(), np.zeros(len(pu.y), dtype=bool)
y[rows] = np.where(pu.y_true[rows] == 1, 1, -1)
checked[rows] = True
print(f"{(y[rows] == 1).sum()} of 30 checked rows are positive")

# %%
# `neg_label` names the third label, and `checked` says which labels come from the check.
model.set_params(neg_label=-1)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    model.fit(X, y, checked=checked)
found = model.evaluate(k=50)
print(found)

# %%
# The list goes on without the checked rows, and its precision has an interval.
listed, _ = model.suspects(50)
print(f"of the next 50: {found['precision_at_k']}, in truth {pu.y_true[listed].mean():.2f}")

# %%
# What the checks have changed: recall, and the precision of the next fifty.
figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
named = {"recall, unchecked": before["recall"], "recall": found["recall"]}
named["precision of the next 50"] = found["precision_at_k"]
for place, estimate in enumerate(named.values()):
    axes.plot([estimate.low, estimate.high], [place, place], "tab:blue", linewidth=2)
    axes.plot(estimate.value, place, "o", color="tab:blue")
axes.set(xlim=(0, 1), yticks=range(3), yticklabels=named, xlabel="with 90 % intervals")
axes.invert_yaxis()
figure.savefig("check_rows.png", dpi=120)
print(f"{len(rows)} checks")
