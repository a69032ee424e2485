"""Figure: what the hidden layer makes of MNIST, in the last three rounds of Robust-PU and in nnPU.

    pip install 'robustpu[figures]'
    python experiments/representations.py          # trains if the result is missing, then draws
    python experiments/representations.py --draw   # draws alone

MNIST at prior 0.6, one trial, the setting of epochs.toml with E = 10. nnPU has as many epochs as
Robust-PU in all. The 100 hidden units are laid out in the plane by UMAP, each network by itself.
"""

import warnings
from pathlib import Path

import numpy as np
import torch
from figure import FIGURES, RESULTS, TO_END, make_figure, setting

from robustpu import CollapseWarning, fit_together
from robustpu.bench.protocol import split

STORED = RESULTS / "representations.npz"
PICTURE = FIGURES / "representations.png"
PRIOR, ROUNDS, SHOWN = 0.6, 20, 2000


def train(data_dir: Path | None, device: str) -> None:
    """Store the plane coordinates of each network, (rows, 2), and what the rows are."""
    from umap import UMAP

    cell = setting(PRIOR)
    pu = split("mnist", PRIOR, trial=0, data_dir=data_dir)
    given = {"prior": pu.prior, "random_state": 0, "device": device}
    models = {
        f"Robust-PU, round {rounds}": cell.build({}, **given).set_params(
            **TO_END, curriculum__max_rounds=rounds
        )
        for rounds in range(ROUNDS - 2, ROUNDS + 1)
    }
    first = next(iter(models.values()))
    epochs = first.pretrain.epochs + ROUNDS * first.epochs
    models[f"nnPU, epoch {epochs}"] = cell.build({}, **given).pretrain.set_params(
        **given, **TO_END, epochs=epochs
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        fit_together([(model, pu.X, pu.y) for model in models.values()])
    rows = np.random.default_rng(0).choice(len(pu.y), SHOWN, replace=False)
    answer = {"is_labeled": pu.y[rows] == 1, "is_positive": pu.y_true[rows] == 1}
    for name, model in models.items():
        with torch.no_grad():
            hidden = model.to_torch()[:-1](torch.from_numpy(pu.X[rows])).numpy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            place = UMAP(random_state=0).fit_transform(hidden)
        answer[name] = place.astype(np.float16)
    np.savez_compressed(STORED, **answer)


def draw() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from robustpu.charts.plots import INK, NEGATIVE, POSITIVE

    with np.load(STORED, allow_pickle=False) as file:
        stored = dict(file)
    labeled, positive = stored.pop("is_labeled"), stored.pop("is_positive")
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    kinds = (
        ("unlabelled negative", ~labeled & ~positive, NEGATIVE, "o", 5),
        ("unlabelled positive", ~labeled & positive, POSITIVE, "o", 5),
        ("labelled positive", labeled, "#7a2e1f", "x", 9),
    )
    panels = figure.subplots(1, len(stored))
    for panel, (name, place) in zip(panels, stored.items(), strict=True):
        for label, rows, colour, marker, size in kinds:
            points = place[rows].astype(float)
            panel.scatter(
                *points.T, s=size, c=colour, marker=marker, linewidths=0.5, alpha=0.6, label=label
            )
        panel.set_title(name, loc="left", color=INK, fontsize=10)
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_color("#cccccc")
    handles, labels = panels[0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside lower left", ncols=3, frameon=False)
    for handle in legend.legend_handles:
        handle.set_sizes([30])
    figure.savefig(PICTURE, dpi=160)
    print(PICTURE)


if __name__ == "__main__":
    make_figure(__doc__, STORED, train, draw)
