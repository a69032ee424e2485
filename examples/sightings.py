"""
Sightings of a species
======================

Where does the sloth live? There are 116 sightings, and 1,000 points of South and Central America
at which nobody looked: positives and unlabelled rows. Data: `elapid`, see `data/LICENSE.md`.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from robustpu import PUClassifier, check_scar, metrics

N_TREES = 300

table = pd.read_csv(Path(sys.argv[0]).parent / "data" / "bradypus.csv.gz")
y = table.pop("presence").astype(int).to_numpy()
table["ecoreg"] = table["ecoreg"].astype("category")

# %%
# Each row is scored by learners that have not seen it. The share of the map on which the sloth
# lives is not known; the order of the points hardly depends on it.
model = PUClassifier(effort="fast", prior=0.05, random_state=0).fit(table, y)

# %%
# What biologists do: a forest on about as many background points as sightings, for each tree.
forest = RandomForestClassifier(N_TREES, min_samples_leaf=3, class_weight="balanced_subsample")
forest.set_params(max_samples=0.2, random_state=0)
folds = metrics.PUKFold(5, random_state=0)
by_forest = cross_val_predict(forest, table, y, cv=folds, method="predict_proba")[:, 1]

# %%
# The Boyce index says whether sightings grow denser with the score: no absence is needed. Scores
# are put on one scale, the share of the map that has a lower one.
scores = {"PUClassifier": model.out_of_fold_, "balanced forest": by_forest}
figure, panels = plt.subplots(1, 2, figsize=(7, 2.6), sharey=True, layout="constrained")
for axes, (name, score) in zip(panels, scores.items(), strict=True):
    ranks = np.searchsorted(np.sort(score[y == 0]), score) / (y == 0).sum()
    area = metrics.evaluate(y, score, prior=0.05).auc_of_labeled
    print(f"{name:16} Boyce {metrics.boyce_index(y, ranks):.2f}   AUC of sightings {area}")
    axes.hist(ranks[y == 1], bins=10, range=(0, 1))
    axes.set(title=name, xlabel="share of the map with a lower score")
panels[0].set_ylabel("sightings")
figure.savefig("sightings.png", dpi=120)

# %%
# The true skill statistic needs the share of habitat. The map is cut there.
score = model.out_of_fold_
for prior in (0.02, 0.05, 0.1):
    threshold = np.quantile(score[y == 0], 1 - prior)
    skill = metrics.tss(y, score, prior=prior, threshold=threshold)
    print(f"if {prior:.0%} of the map is habitat, and as much is flagged: TSS {skill:.2f}")

# %%
# Sightings lie along roads and near towns. Were they a random sample of the places where sloths
# live, these would be few; who knows of more has shown that they are not.
print(check_scar(score, y))
