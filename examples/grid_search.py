"""
Choose settings with GridSearchCV, without negatives
====================================================

Accuracy against `y` would reward a model that predicts no positives. `robustpu.metrics.scorer`
estimates the true accuracy, AUC and others from held-out labelled and unlabelled rows.
"""

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
# The estimate beside the truth, which the search never saw.
for candidate, estimate in zip(
    search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
):
    model = NNPUClassifier(prior=0.3, epochs=EPOCHS, random_state=0, **candidate).fit(pu.X, pu.y)
    true = model.score(pu.X_test, pu.y_test)
    print(f"lr {candidate['lr']:<6}: estimated {estimate:.3f}, true {true:.3f}")
print("chosen:", search.best_params_)
