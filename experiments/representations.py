"""Figure: what the hidden layer makes of MNIST, in Robust-PU's last rounds, nnPU and Dist-PU.

    pip install 'robustpu[figures]'
    python experiments/representations.py          # trains if the result is missing, then draws
    python experiments/representations.py --draw   # draws alone

MNIST at prior 0.6, one trial. Robust-PU and Dist-PU have the settings that main.jsonl selects for
them by true labels, nnPU that of Robust-PU's pre-training. All have as many epochs, half of them in
each stage of Dist-PU. The 100 hidden units are laid out in the plane by UMAP, each network by
itself.
"""

import warnings
from pathlib import Path

import numpy as np
import torch
from figure import FIGURES, RESULTS, TO_END, dist_pu, make_figure, searched
from sklearn.base import clone

from robustpu import CollapseWarning, fit_together
from robustpu.bench.protocol import split

STORED = RESULTS / "representations.npz"
PICTURE = FIGURES / "representations.png"
PRIOR, ROUNDS, SHOWN = 0.6, 20, 2000


def train(data_dir: Path | None, device: str) -> None:
    """Store the plane coordinates of each network, (rows, 2), and what the rows are."""
    from umap import UMAP

    pu = split("mnist", PRIOR, trial=0, data_dir=data_dir)
    given = {"prior": pu.prior, "random_state": 0, "device": device}
    models = {
        f"Robust-PU, round {rounds}": searched("robust-pu", PRIOR).set_params(
            **given, curriculum__max_rounds=rounds
        )
        for rounds in range(ROUNDS - 2, ROUNDS + 1)
    }
    first = next(iter(models.values()))
    epochs = first.pretrain.epochs + ROUNDS * first.epochs
    models[f"nnPU, epoch {epochs}"] = clone(first.pretrain).set_params(
        **given, **TO_END, epochs=epochs
    )
    models[f"Dist-PU, epoch {epochs}"] = dist_pu(PRIOR, epochs).set_params(**given)
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
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    kinds = (
        ("unlabelled negative", ~labeled & ~positive, NEGATIVE, "o", 5),
        ("unlabelled positive", ~labeled & positive, POSITIVE, "o", 5),
        ("labelled positive", labeled, "#7a2e1f", "x", 9),
    )
    *panels, last = figure.subplots(2, 3).flat
    for panel, (name, place) in zip(panels, stored.items(), strict=True):
        for label, rows, colour, marker, size in kinds:
            points = place[rows].astype(float)
            panel.scatter(
                *points.T, s=size, c=colour, marker=marker, linewidths=0.5, alpha=0.6, label=label
            )
        panel.set_title(name, loc="left", color=INK, fontsize=10)
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_color("#cccccc")
    last.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    legend = last.legend(handles, labels, loc="center left", frameon=False, labelspacing=1)
    for handle in legend.legend_handles:
        handle.set_sizes([30])
    figure.savefig(PICTURE, dpi=160)
    print(PICTURE)


if __name__ == "__main__":
    make_figure(__doc__, STORED, train, draw)
