"""Figures of tables of special kinds: rare positives, texts, sightings, biased labels."""

from collections.abc import Callable, Iterable
from statistics import fmean
from typing import Any, Final

from scar_check import APART, NAMES, TABLES
from sightings import REAL, VIRTUAL

from robustpu.labeling import LABELINGS
from tools.figures.real_tables import Rows, share
from tools.figures.stored import lines

RARE_METHODS: Final = {
    "auto": "**PUClassifier**, prior given",
    "auto, prior unknown": "**PUClassifier**",
    "50 bagged LightGBMs": "50 bagged LightGBMs",
    "naive LightGBM": "naive LightGBM",
}
LISTED: Final = {"100": 100, "1000": 1000}
SIGHTING_METHODS: Final = {
    "auto": "**PUClassifier**",
    "MaxEnt (elapid)": "MaxEnt (elapid)",
    "down-sampled forest": "down-sampled forest",
}
TEXT_METHODS: Final = {
    "column of text": "**PUClassifier**, a column of text",
    "sparse n-grams": "**PUClassifier**, scikit-learn's TF-IDF matrix",
    "logistic on TF-IDF": "logistic regression on TF-IDF",
}


def mean(entries: Iterable[dict[str, Any]], get: Callable[[dict[str, Any]], float]) -> float:
    return fmean(map(get, entries))


def rare(labels: str) -> Rows:
    """AUC, average precision, and found among the first 100 and 1,000 unlabelled rows."""
    found = [entry for entry in lines("rare.ndjson") if entry["labels"] == int(labels)]
    tables = dict.fromkeys(entry["table"] for entry in found)
    rows = [[f"AUC / of the first 100 / of 1,000; {labels} labels", *RARE_METHODS.values()]]
    for table in tables:
        fits = [entry for entry in found if entry["table"] == table]
        first = fits[0]
        label = f"{table}: {first['rows']:,} rows, {100 * first['prior']:.1f} % positive"
        row = [label]
        for method in RARE_METHODS:
            own = [entry for entry in fits if entry["method"] == method]
            auc = share(mean(own, lambda entry: entry["auc"]))
            hits = (mean(own, lambda entry, k=k: entry["found"][k]) for k in LISTED)
            row.append(" / ".join([auc, *(f"{value:.0f}" for value in hits)]))
        rows.append(row)
    return rows


def rare_mean(method: str, labels: str, name: str) -> str:
    """Mean over the tables: auc, average_precision, seconds, or the lift of the first 100."""
    own = [
        entry
        for entry in lines("rare.ndjson")
        if (entry["method"], entry["labels"]) == (method, int(labels))
    ]
    if name == "lift":
        return f"{mean(own, lambda entry: entry['found']['100'] / 100 / entry['prior']):.0f}"
    value = mean(own, lambda entry: entry[name])
    return f"{value:.0f}" if name == "seconds" else share(value)


def rare_held(k: str) -> str:
    """How many intervals of the positives among the first k hold: ``17 of 20``."""
    made = [e for e in lines("rare.ndjson") if k in e.get("promised", {}) and e["method"] == "auto"]
    held = sum(e["promised"][k][1] <= e["found"][k] <= e["promised"][k][2] for e in made)
    return f"{held} of {len(made)}"


def texts() -> Rows:
    """AUC, error and seconds by set of texts."""
    entries = lines("text.ndjson")
    names = dict.fromkeys(entry["set"] for entry in entries)
    rows = [["AUC / error / seconds", *names]]
    for method, label in TEXT_METHODS.items():
        row = [label]
        for name in names:
            own = [e for e in entries if (e["method"], e["set"]) == (method, name)]
            auc, error, seconds = (
                mean(own, lambda entry, key=key: entry[key]) for key in ("auc", "error", "seconds")
            )
            row.append(f"{share(auc)} / {error:.1f} % / {seconds:.1f}")
        rows.append(row)
    return rows


def sightings() -> Rows:
    """AUC and Boyce index of real species; AUC and average precision of virtual ones."""
    entries = lines("sightings.ndjson")
    heads = [f"{name}: AUC / Boyce index" for name in REAL]
    rows = [["", *heads, f"{len(VIRTUAL)} virtual: AUC / average precision", "seconds"]]
    for method, label in SIGHTING_METHODS.items():
        own = [entry for entry in entries if entry["method"] == method]
        row = [label]
        for species, names in (*(((name,), ("auc", "boyce")) for name in REAL),
                               (VIRTUAL, ("auc", "average_precision"))):  # fmt: skip
            of_these = [entry for entry in own if entry["species"] in species]
            values = (mean(of_these, lambda entry, key=key: entry[key]) for key in names)
            row.append(" / ".join(map(share, values)))
        seconds = mean([e for e in own if e["species"] in VIRTUAL], lambda entry: entry["seconds"])
        rows.append([*row, f"{seconds:.1f}"])
    return rows


def scar(part: str) -> Rows:
    """How often `check_scar` refutes: a fair sample, by overlap; or one of a bias, by table."""
    cells = {tuple(entry[name] for name in NAMES): entry for entry in lines("scar_check.ndjson")}

    def refuted(*key: Any) -> str:
        entry = cells.get(key)
        return "" if entry is None else f"{100 * entry['refuted'] / entry['draws']:.1f} %"

    if part == "fair":
        sizes = [(count, prior) for count in (25, 100, 400) for prior in (0.02, 0.1, 0.4)]
        rows = [["", *(f"{count} labels, {100 * prior:.0f} %" for count, prior in sizes)]]
        names = {"normal-9": "far apart", "normal-4": "apart", "normal-2": "overlapping"}
        for table in APART:
            rows.append([names[table], *(refuted("fair", table, "scar", *size) for size in sizes)])
        return rows
    rows = [["refuted / missing rows", *TABLES]]
    for labeling in LABELINGS:
        row = [labeling]
        for table in TABLES:
            count = 50 if table == "breast_cancer" else 200
            entry = cells["biased", table, labeling, count, 0.2]
            row.append(
                f"{refuted('biased', table, labeling, count, 0.2)} / {100 * entry['excess']:.0f} %"
            )
        rows.append(row)
    return rows


def scar_alarms() -> str:
    """Share of all draws of fair labels that are refuted."""
    cells = [entry for entry in lines("scar_check.ndjson") if entry["part"] == "fair"]
    refuted, draws = (sum(entry[name] for entry in cells) for name in ("refuted", "draws"))
    return f"{100 * refuted / draws:.1f} %"


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "rare": rare,
    "rare-mean": rare_mean,
    "rare-held": rare_held,
    "texts": texts,
    "sightings": sightings,
    "scar": scar,
    "scar-alarms": scar_alarms,
}
