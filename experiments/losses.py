"""Figure: the cross-entropy of hidden positives and of negatives, through training.

    python experiments/losses.py            # trains if results/losses.json is missing, then draws
    python experiments/losses.py --draw     # draws alone

MNIST at prior 0.6, unlabelled rows taken as negatives. Robust-PU starts from 100 epochs of nnPU;
another curve is nnPU that goes on instead, the third is Dist-PU. Robust-PU and Dist-PU have the
settings that main.jsonl selects for them by true labels. Each is trained once a trial, for as many
epochs in all, nothing stopped or selected, and its network is seen on the way. For nnPU and
Robust-PU this is the network that fewer epochs would give. For Dist-PU it is not: half of its
epochs go to the first stage and half to the second, with mixtures, as by default, so that a shorter
training would end the first stage earlier.
"""

import json
import warnings
from pathlib import Path

import numpy as np
from figure import FIGURES, RESULTS, TO_END, dist_pu, make_figure, searched
from sklearn.base import clone
from watched import watch_epochs

from robustpu import CollapseWarning
from robustpu.bench.protocol import split

STORED = RESULTS / "losses.json"
PICTURE = FIGURES / "losses.png"
TRIALS, PRIOR, ROUNDS, EVERY = 3, 0.6, 20, 10


def describe(logit: np.ndarray, pu) -> dict[str, float]:
    """Mean cross-entropy of the unlabelled rows as negatives, and share flagged, by true class."""
    unlabeled = pu.y == 0
    logit, hidden = logit[unlabeled].astype(float), pu.y_true[unlabeled] == 1
    # Of the logit: a probability would round to 1, and its loss would end at some 37.
    loss, flagged = np.logaddexp(0, logit), logit >= 0
    return {
        f"{kind}{suffix}": float(values[rows].mean())
        for suffix, values in (("", loss), ("_flagged", flagged))
        for kind, rows in (("positives", hidden), ("negatives", ~hidden))
    }


def train(data_dir: Path | None, device: str) -> None:
    """Store one entry a method, trial and number of epochs."""
    entries = []
    for trial in range(TRIALS):
        pu = split("mnist", PRIOR, trial, data_dir=data_dir)
        given = {"prior": pu.prior, "random_state": trial, "device": device}
        robust = searched("robust-pu", PRIOR).set_params(**given, curriculum__max_rounds=ROUNDS)
        before = robust.pretrain.epochs
        epochs = before + ROUNDS * robust.epochs
        nnpu = clone(robust.pretrain).set_params(**given, **TO_END, epochs=epochs)
        # Until its rounds begin, Robust-PU is nnPU.
        methods = {
            "nnPU": (nnpu, 0),
            "Dist-PU": (dist_pu(PRIOR, epochs).set_params(**given), 0),
            "Robust-PU": (robust, before),
        }
        for method, (model, since) in methods.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CollapseWarning)
                seen = watch_epochs(model, pu.X, pu.y, EVERY)
            entries += [
                {"method": method, "trial": trial, "epochs": at, **describe(logit, pu)}
                for at, logit in seen.items()
                if at >= since
            ]
    STORED.write_text(json.dumps(entries, indent=0) + "\n")


def draw() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from robustpu.charts.plots import INK, NEGATIVE, POSITIVE

    entries = json.loads(STORED.read_text())
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    last = max(entry["epochs"] for entry in entries)
    start = min(entry["epochs"] for entry in entries if entry["method"] == "Robust-PU")
    mixtures = dist_pu(PRIOR, last).epochs
    axes = figure.subplots(1, 2, sharex=True)
    kinds = (("positives", "positives hidden in U", POSITIVE), ("negatives", "negatives", NEGATIVE))
    for panel, (kind, title, colour) in zip(axes, kinds, strict=True):
        for method, style in (("nnPU", "--"), ("Dist-PU", ":"), ("Robust-PU", "-")):
            chosen = [entry for entry in entries if entry["method"] == method]
            epochs = sorted({entry["epochs"] for entry in chosen})
            values = np.array(
                [[entry[kind] for entry in chosen if entry["epochs"] == at] for at in epochs]
            )
            mean, spread = values.mean(1), values.std(1, ddof=1)
            panel.fill_between(
                epochs, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0
            )
            panel.plot(epochs, mean, style, color=colour, linewidth=2)
            panel.annotate(
                method,
                (epochs[-1], mean[-1]),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                color=colour,
                weight="bold" if style == "-" else "normal",
                annotation_clip=False,
            )
        for at in (start, mixtures):
            panel.axvline(at, color=INK, linewidth=0.6, alpha=0.6)
        panel.set_title(f"Unlabelled rows: {title}", loc="left", color=INK)
        # Room for what the vertical lines say.
        panel.set(xlabel="epochs", xlim=(0, last), ylim=(0, 1.1 * panel.get_ylim()[1]))
        panel.spines[["top", "right"]].set_visible(False)
        for at, side, words in (
            (start, "right", "rounds of\nRobust-PU"),
            (mixtures, "left", "mixtures\nof Dist-PU"),
        ):
            panel.annotate(
                words,
                (at, panel.get_ylim()[1]),
                xytext=(4 if side == "left" else -4, 0),
                textcoords="offset points",
                ha=side,
                va="top",
                fontsize=8,
                color=INK,
            )
    axes[0].set_ylabel("cross-entropy as negatives")
    figure.savefig(PICTURE, dpi=160)
    print(PICTURE)


if __name__ == "__main__":
    make_figure(__doc__, STORED, train, draw)
