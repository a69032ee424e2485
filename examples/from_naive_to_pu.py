"""
From a naive classifier to positive-unlabelled learning
=======================================================

A scikit-learn classifier that takes unlabelled rows as negatives learns to reject the positives
among them. Trees inside of `BaggingPUClassifier` do not.
"""

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
print(f"naive forest:        accuracy {naive.score(pu.X_test, pu.y_test):.3f}")

# %%
# Trees that are told that 0 means *unlabelled*, with the share of positives among these rows.
bagging = BaggingPUClassifier(prior=0.5, random_state=0).fit(pu.X, pu.y)
print(f"bagged trees for PU: accuracy {bagging.score(pu.X_test, pu.y_test):.3f}")

# %%
# The default: a pool of learners, weighted by how well each ranks known positives.
model = PUClassifier(prior=0.5, random_state=0).fit(pu.X, pu.y)
print(f"PUClassifier:        accuracy {model.score(pu.X_test, pu.y_test):.3f}")
