"""
Texts and categories
====================

A frame with a column of text, one of categories and one with gaps becomes numbers by
`robustpu.tables.Vectorizer`. The messages are made up here: complaints about a delivery are
positive, and a fifth of these are known.
"""

import numpy as np
import pyarrow as pa

from robustpu import PUClassifier
from robustpu.tables import Roles, Vectorizer, read_table, take_roles

N_ROWS, N_MEMBERS = 600, 4

random = np.random.default_rng(0)
is_complaint = random.random(N_ROWS) < 0.4
common = ["the", "my", "order", "please", "today", "number", "again", "hello", "thanks", "was"]
complaint = ["late", "broken", "missing", "parcel", "refund", "damaged", "waiting", "courier"]
other = ["invoice", "colour", "size", "gift", "newsletter", "password", "stock", "price"]


def message(is_positive):
    """Eight common words, and three of its kind."""
    own = random.choice(complaint if is_positive else other, 3)
    return " ".join(random.permutation([*random.choice(common, 8), *own]))


is_known = is_complaint & (random.random(N_ROWS) < 0.2)
table = pa.table(
    {
        "message": [message(each) for each in is_complaint],
        "channel": random.choice(["mail", "chat", "telephone"], N_ROWS),
        "days": [None if random.random() < 0.2 else int(random.integers(30)) for _ in is_complaint],
        "complaint": np.where(is_known, "yes", ""),
    }
)

# %%
# Which column is the label; what the vectorizer made of the others.
parts = take_roles(read_table(table), Roles(label="complaint"))  # or read_table("mails.csv")
vectorizer = Vectorizer().fit(parts.table, parts.y)
for column in vectorizer.columns_:
    print(f"{column.name}: {column.kind}, {column.done}")

# %%
# Known complaints were found among these rows: a single set.
model = PUClassifier(scenario="single-set", n_members=N_MEMBERS, random_state=0)
model.fit(vectorizer.transform(parts.table), parts.y)
rows, _ = model.suspects(50)
print(f"{is_complaint[rows].sum()} of the first 50 suspects are complaints")
