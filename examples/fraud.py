"""
Find hidden frauds in a table
=============================

5,000 insurance claims; 220 are known frauds, and some of the others are frauds, too. Which claims
should an investigator open first? The claims are made up; `robustpu sample` writes the same table.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict

from robustpu import PriorWarning, PUClassifier, metrics
from robustpu.datasets.sample import claims

N_ROWS = 5000
SHOWN = ["kind", "amount", "days_to_report", "contract_months", "garage"]

columns, is_fraud = claims(N_ROWS)
frame = pd.DataFrame(columns).drop(columns="claim")
is_known = (frame.pop("fraud") == "yes").to_numpy()
print(frame[SHOWN].head(3).to_string())

# %%
# Text, categories, dates and gaps go in as they are. Known frauds were found among these claims:
# the scenario is a single set. A warning would say that the share of frauds is not known; the order
# of the list hardly depends on it.
warnings.simplefilter("ignore", PriorWarning)
model = PUClassifier(scenario="single-set", effort="fast", random_state=0)
model.fit(frame, is_known.astype(int))

# %%
# The list. We made the claims, so we can look at the truth.
rows, probability = model.suspects(100)
print(frame.iloc[rows[:5]][SHOWN].to_string())
print(
    f"{is_fraud[rows].sum()} of the first 100 are frauds; {is_fraud[~is_known].mean():.1%} of all"
)

# %%
# Naive boosting takes all unlabelled claims as honest, the frauds among them, too.
X, y = model.vectorizer_.transform(frame), is_known.astype(int)
boosting = HistGradientBoostingClassifier(max_iter=60, random_state=0)
folds = metrics.PUKFold(5, random_state=0)
naive = cross_val_predict(boosting, X, y, cv=folds, method="predict_proba")[:, 1]
by_boosting = np.argsort(-np.where(is_known, -1, naive), kind="stable")

# %%
# How many hidden frauds come to light while the investigator goes down the list.
by_model, _ = model.suspects((~is_known).sum())
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name, order in (("PUClassifier", by_model), ("naive boosting", by_boosting)):
    axes.plot(np.cumsum(is_fraud[order[:500]]), label=name)
    print(f"{name}: {is_fraud[order[:200]].sum()} frauds among the first 200 claims")
axes.plot(np.arange(500) * is_fraud[~is_known].mean(), "k:", label="by chance")
axes.set(xlabel="claims opened", ylabel="hidden frauds found")
axes.legend()
figure.savefig("fraud.png", dpi=120)
