"""
Choose settings with GridSearchCV, without negatives
====================================================

Accuracy against `y` would reward a model that predicts no positives. `robustpu.metrics.scorer`
estimates the true accuracy, AUC and others from held-out labelled and unlabelled rows.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV

from robustpu import NNPUClassifier, datasets, make_pu, metrics

EPOCHS = 15

table = datasets.load("spambase")
pu = make_pu(
    table.data,
    table.target,
    n_positive=400,
    n_unlabeled=800,
    prior=0.3,
    n_test=1000,
    random_state=0,
)

# %%
# Simple settings first: `one_standard_error` takes the first that is nearly as good as the best.
# The prior is given: otherwise each candidate would be scored at a prior of its own.
search = GridSearchCV(
    NNPUClassifier(prior=0.3, epochs=EPOCHS, random_state=0),
    {"lr": [1e-4, 1e-3, 1e-2]},
    scoring=metrics.scorer("accuracy"),
    refit=metrics.one_standard_error,
    cv=metrics.PUKFold(3, random_state=0),
)
search.fit(pu.X, pu.y)

# %%
# The estimates, and the truth, which the search never saw.
candidates, estimates = search.cv_results_["params"], search.cv_results_["mean_test_score"]
true = [
    NNPUClassifier(prior=0.3, epochs=EPOCHS, random_state=0, **candidate)
    .fit(pu.X, pu.y)
    .score(pu.X_test, pu.y_test)
    for candidate in candidates
]
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
lr = [candidate["lr"] for candidate in candidates]
axes.errorbar(
    lr, estimates, search.cv_results_["std_test_score"], marker="o", capsize=4, label="estimated"
)
axes.plot(lr, true, marker="s", label="true")
axes.set(xscale="log", xlabel="learning rate", ylabel="accuracy")
axes.legend()
figure.savefig("grid_search.png", dpi=120)
for candidate, estimate, truth in zip(candidates, estimates, true, strict=True):
    print(f"lr {candidate['lr']:<6}: estimated {estimate:.3f}, true {truth:.3f}")
print("chosen:", search.best_params_)
