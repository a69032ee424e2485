"""
Texts and categories
====================

`PUClassifier` takes a DataFrame with a column of text, one of categories and one with gaps as it
is. The messages are made up here: complaints about a delivery are positive, and a fifth of these
are known.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from robustpu import PUClassifier

N_ROWS = 600

random = np.random.default_rng(0)
is_complaint = random.random(N_ROWS) < 0.4
common = ["the", "my", "order", "please", "today", "number", "again", "hello", "thanks", "was"]
complaint = ["late", "broken", "missing", "parcel", "refund", "damaged", "waiting", "courier"]
other = ["invoice", "colour", "size", "gift", "newsletter", "password", "stock", "price"]


def message(is_positive):
    """Eight common words, and three of its kind."""
    words = random.choice(complaint if is_positive else other, 3)
    return " ".join(random.permutation([*random.choice(common, 8), *words]))


is_known = is_complaint & (random.random(N_ROWS) < 0.2)
frame = pd.DataFrame(
    {
        "message": [message(each) for each in is_complaint],
        "channel": random.choice(["mail", "chat", "telephone"], N_ROWS),
        "days": [None if random.random() < 0.2 else int(random.integers(30)) for _ in is_complaint],
    }
)

# %%
# Known complaints were found among these rows: a single set. 40 % of all are complaints.
model = PUClassifier(scenario="single-set", prior=0.35, random_state=0)
model.fit(frame, is_known.astype(int))
rows, _ = model.suspects(50)
print(f"{is_complaint[rows].sum()} of the first 50 suspects are complaints")

# %%
# What became of the columns.
for column in model.vectorizer_.columns_:
    print(f"{column.name}: {column.kind}, {column.done}")

# %%
# The list, from the top: complaints come first.
rows, probability = model.suspects((~is_known).sum())
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for label, wanted in (("complaint", True), ("other", False)):
    ranks = np.flatnonzero(is_complaint[rows] == wanted)
    axes.plot(ranks, probability[ranks], ".", label=label)
axes.set(xlabel="rank", ylabel="probability of a complaint")
axes.legend()
figure.savefig("text.png", dpi=120)
print(f"mean probability {probability.mean():.2f}, complaints {is_complaint[rows].mean():.2f}")
