"""
From a naive classifier to positive-unlabelled learning
=======================================================

A scikit-learn classifier that takes unlabelled rows as negatives learns to reject the positives
among them. Trees inside of `BaggingPUClassifier` do not.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier

from robustpu import BaggingPUClassifier, PUClassifier, datasets, make_pu

# 200 known spam mails and 800 unlabelled ones, half of which are spam too.
table = datasets.load("spambase")
pu = make_pu(
    table.data,
    table.target,
    n_positive=200,
    n_unlabeled=800,
    prior=0.5,
    n_test=1000,
    random_state=0,
)

# %%
# The naive way: 1 is positive, 0 is taken as negative.
naive = RandomForestClassifier(random_state=0).fit(pu.X, pu.y)

# %%
# Trees that know that 0 means *unlabelled*, with the share of positives among these rows.
bagging = BaggingPUClassifier(prior=0.5, random_state=0).fit(pu.X, pu.y)

# %%
# The default: a pool of learners, weighted by how well each ranks known positives.
model = PUClassifier(prior=0.5, random_state=0).fit(pu.X, pu.y)

# %%
# New mails, whose truth we know. The naive forest calls most spam honest: half of the spam that it
# was trained on had the label 0.
named = {"naive forest": naive, "bagged trees for PU": bagging, "PUClassifier": model}
figure, panels = plt.subplots(1, 3, figsize=(9, 2.8), sharey=True, layout="constrained")
for axes, (name, classifier) in zip(panels, named.items(), strict=True):
    probability = classifier.predict_proba(pu.X_test)[:, 1]
    groups = [probability[pu.y_test == 0], probability[pu.y_test == 1]]
    axes.hist(groups, bins=20, range=(0, 1), stacked=True, label=["honest", "spam"])
    axes.axvline(0.5, color="k", linestyle=":")
    axes.set(title=name, xlabel="probability of spam")
    print(f"{name}: accuracy {classifier.score(pu.X_test, pu.y_test):.3f}")
panels[0].set_ylabel("new mails")
panels[0].legend()
figure.savefig("from_naive_to_pu.png", dpi=120)
