"""Draw samples of the generator and the learning curve into the docs.

PYTHONPATH=../src python pictures.py ../docs/pictures
"""

import json
import sys
from itertools import pairwise
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
from generator import draw_tables
from random_draws import Draws

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


def draw_curve(log: Path, path: Path) -> None:
    """Validation loss over seconds, prior known and unknown, and the learning rate."""
    records = [json.loads(line) for line in log.read_text().splitlines()]
    reports = [r for r in records if "validation" in r]
    figure, axis = plt.subplots(figsize=(6.5, 3.6))
    seconds = [r["seconds"] for r in reports]
    for name, label, style in (
        ("known", "prior known", "-"),
        ("known_wide", "prior known, wide tables", "--"),
        ("unknown", "prior unknown", "-"),
        ("unknown_wide", "prior unknown, wide tables", "--"),
    ):
        color = LABELED if name.startswith("known") else POSITIVE
        axis.plot(
            seconds, [r["validation"][name][0] for r in reports], style, color=color, label=label
        )
    change = next(
        after["seconds"] for before, after in pairwise(records) if after["step"] <= before["step"]
    )
    axis.axvline(change, color="grey", linewidth=0.8)
    axis.text(change, axis.get_ylim()[1], " rate falls,\n less label noise", fontsize=8, va="top")
    axis.set_xlabel("seconds of training on one H200")
    axis.set_ylabel("cross-entropy of query rows")
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main() -> None:
    """Write both pictures."""
    matplotlib.use("Agg")
    folder = Path(sys.argv[1])
    draw_samples(folder / "pretrained_samples.png")
    draw_curve(Path(__file__).with_name("results") / "log.jsonl", folder / "pretrained_curve.png")


if __name__ == "__main__":
    main()
