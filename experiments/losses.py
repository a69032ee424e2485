"""Figure: the cross-entropy of hidden positives and of negatives, through training.

    python experiments/losses.py            # trains if results/losses.json is missing, then draws
    python experiments/losses.py --draw     # draws alone

MNIST at prior 0.6, unlabelled rows taken as negatives. Robust-PU starts from 100 epochs of nnPU;
the other curve is nnPU that goes on instead. The setting is that of epochs.toml with E = 10. A
network after k epochs is one that was trained for k epochs, with the same seed.
"""

import json
import warnings
from pathlib import Path

import numpy as np
from figure import FIGURES, RESULTS, TO_END, make_figure, setting

from robustpu import CollapseWarning, fit_together
from robustpu.bench.protocol import split

STORED = RESULTS / "losses.json"
PICTURE = FIGURES / "losses.png"
TRIALS, PRIOR, ROUNDS, EVERY = 3, 0.6, 20, 20


def losses(model, pu) -> dict[str, float]:
    """Mean cross-entropy of the unlabelled rows as negatives, at most 27.6, by true class."""
    unlabeled = pu.y == 0
    loss = -np.log(np.maximum(1 - model.predict_proba(pu.X[unlabeled])[:, 1], 1e-12))
    hidden = pu.y_true[unlabeled] == 1
    return {"positives": float(loss[hidden].mean()), "negatives": float(loss[~hidden].mean())}


def train(data_dir: Path | None, device: str) -> None:
    """Store one entry a method, trial and number of epochs."""
    cell = setting(PRIOR)
    places, jobs = [], []
    for trial in range(TRIALS):
        pu = split("mnist", PRIOR, trial, data_dir=data_dir)
        given = {"prior": pu.prior, "random_state": trial, "device": device}
        robust = cell.build({}, **given).set_params(**TO_END)
        before = robust.pretrain.epochs
        for rounds in range(1, ROUNDS + 1):
            model = cell.build({}, **given).set_params(**TO_END, curriculum__max_rounds=rounds)
            places.append(("Robust-PU", trial, before + rounds * robust.epochs, pu))
            jobs.append((model, pu.X, pu.y))
        for epochs in range(EVERY, before + ROUNDS * robust.epochs + 1, EVERY):
            model = cell.build({}, **given).pretrain.set_params(**given, **TO_END, epochs=epochs)
            places.append(("nnPU", trial, epochs, pu))
            jobs.append((model, pu.X, pu.y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        models = fit_together(jobs)
    entries = [
        {"method": method, "trial": trial, "epochs": epochs, **losses(model, pu)}
        for (method, trial, epochs, pu), model in zip(places, models, strict=True)
    ]
    STORED.write_text(json.dumps(entries, indent=0) + "\n")


def draw() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from robustpu.charts.plots import INK, NEGATIVE, POSITIVE

    entries = json.loads(STORED.read_text())
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    first, second = sorted({each["epochs"] for each in entries if each["method"] == "Robust-PU"})[
        :2
    ]
    start = first - (second - first)
    axes = figure.subplots(1, 2, sharex=True)
    kinds = (("positives", "positives hidden in U", POSITIVE), ("negatives", "negatives", NEGATIVE))
    for panel, (kind, title, colour) in zip(axes, kinds, strict=True):
        for method, style in (("nnPU", "--"), ("Robust-PU", "-")):
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
        panel.axvline(start, color=INK, linewidth=0.8, linestyle=":")
        panel.set_title(f"Unlabelled rows: {title}", loc="left", color=INK)
        panel.set(xlabel="epochs", ylim=(0, None))
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("cross-entropy as negatives")
    axes[0].text(start, axes[0].get_ylim()[1], " rounds begin", va="top", fontsize=8, color=INK)
    figure.savefig(PICTURE, dpi=160)
    print(PICTURE)


if __name__ == "__main__":
    make_figure(__doc__, STORED, train, draw)
