"""Draw samples of the generator and the learning curves into the docs.

PYTHONPATH=../src python pictures.py ../docs/pictures
"""

import json
import sys
from itertools import product
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
from generator import draw_tables
from random_draws import Draws

CURVES = {
    "known": "prior known",
    "known_wide": "prior known, wide tables",
    "unknown": "prior unknown",
    "unknown_wide": "prior unknown, wide tables",
}
POSITIVE, NEGATIVE, LABELED = "#c0392b", "#b8c4ce", "#1f4e79"


def draw_samples(path: Path) -> None:
    """Twelve tables of two columns: true classes, and which rows are labelled."""
    tables = draw_tables(Draws(12, "cpu"), 12, 400, 100, 2)
    figure, axes = plt.subplots(3, 4, figsize=(9, 6.6))
    for index, axis in enumerate(axes.flat):
        x, y = tables.values[index].T
        truth, labeled = tables.truth[index], tables.roles[index] == 1
        axis.scatter(x[~truth], y[~truth], s=4, color=NEGATIVE, label="negative")
        axis.scatter(x[truth], y[truth], s=4, color=POSITIVE, label="positive")
        axis.scatter(
            x[labeled],
            y[labeled],
            s=18,
            facecolor="none",
            edgecolor=LABELED,
            linewidth=0.7,
            label="labelled",
        )
        axis.set_title(
            f"{int(labeled.sum())} labelled, prior {float(tables.prior[index]):.2f}",
            fontsize=8,
        )
        axis.set_xticks([])
        axis.set_yticks([])
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="lower center", ncol=3, fontsize=9)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.savefig(path, dpi=90)


def draw_curves(folder: Path, path: Path) -> None:
    """Validation loss over steps, of version 1 and of three seeds from it, prior known and not.

    The validation tables of the two stages differ.
    """
    first = _reports(folder / "log_version1.jsonl")
    seeds = _reports(folder / "log_seeds.jsonl")
    groups = [[r for r in seeds if r["seed"] == seed] for seed in (1, 2, 3)]
    figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.6), sharey=True)
    titles = "stage 1: version 1", "stage 2: three seeds from version 1"
    for axis, runs, title in zip(axes, ([first], groups), titles, strict=True):
        for run, (name, label) in product(runs, CURVES.items()):
            axis.plot(
                [r["step"] for r in run],
                [r["validation"][name][0] for r in run],
                "--" if name.endswith("wide") else "-",
                color=LABELED if name.startswith("known") else POSITIVE,
                label=label if run is runs[0] else None,
            )
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("steps")
    axes[0].set_ylabel("cross-entropy of query rows")
    figure.legend(*axes[1].get_legend_handles_labels(), loc="lower center", ncol=4, fontsize=8)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(path, dpi=90)


def _reports(log: Path) -> list[dict]:
    """Records of a log that have a validation; of a step that is there twice, the last."""
    records = map(json.loads, log.read_text().splitlines())
    found = [record for record in records if "validation" in record]
    return list({(r.get("seed"), r["step"]): r for r in found}.values())


def main() -> None:
    """Write both pictures."""
    matplotlib.use("Agg")
    folder = Path(sys.argv[1])
    draw_samples(folder / "pretrained_samples.png")
    draw_curves(Path(__file__).with_name("results"), folder / "pretrained_curve.png")


if __name__ == "__main__":
    main()
