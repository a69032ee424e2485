"""Table: errors of the estimates of the class prior, and how often intervals hold the truth.

    python experiments/priors.py            # makes results/priors.json if missing, then prints
    python experiments/priors.py --draw     # prints and draws alone

Five data sets, priors from 0.1 to 0.8, 50 to 2,000 labelled positives as far as a set has them,
2,000 unlabelled rows. No label but those of the labelled positives is used.
"""

import json
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import torch
from figure import FIGURES, RESULTS, make_figure
from joblib import Parallel, delayed

from robustpu import PriorWarning, datasets, estimate_prior, make_pu
from robustpu.base.neural import device_of
from robustpu.modules import scale_of
from robustpu.priors import PRIORS, Sample, out_of_fold

STORED, DRAFT = RESULTS / "priors.json", RESULTS / "priors.draft"
PICTURE = FIGURES / "priors.png"
SETS = ("spambase", "shuttle", "mushrooms", "mnist", "fashion-mnist")
SHARES = (0.1, 0.2, 0.4, 0.6, 0.8)
COUNTS = (50, 200, 1000, 2000)
TRIALS, UNLABELED = 5, 2000


def problems(name: str, count: int, data_dir: Path | None):
    """Draw the problems of a data set with so many positives: those that it has rows for."""
    table = datasets.load(name, data_dir=data_dir)
    rows = table.data.reshape(len(table.data), -1)
    for share, trial in product(SHARES, range(TRIALS)):
        try:
            yield (
                share,
                trial,
                make_pu(
                    rows,
                    table.target,
                    n_positive=count,
                    n_unlabeled=UNLABELED,
                    prior=share,
                    random_state=trial,
                ),
            )
        except ValueError:
            continue


def sample(pu, trial: int, device: torch.device) -> Sample:
    mean, scale = scale_of(pu.X)
    return Sample(
        torch.tensor((pu.X - mean) / scale, dtype=torch.float32, device=device),
        pu.y == 1,
        "mlp",
        trial,
    )


def train(data_dir: Path | None, device: str) -> None:
    """Store one entry a problem: what each method says, and the interval.

    What is done of a run that was ended lies in a draft, and is not run again.
    """
    entries = json.loads(DRAFT.read_text()) if DRAFT.exists() else []
    done = {(entry["dataset"], entry["n_positive"]) for entry in entries}
    for name, count in product(SETS, COUNTS):
        if (name, count) in done:
            continue
        drawn = list(problems(name, count, data_dir))
        scores = out_of_fold([sample(pu, trial, device_of(device)) for _, trial, pu in drawn])
        tasks = (
            delayed(estimates)(score, pu.y, trial)
            for (_, trial, pu), score in zip(drawn, scores, strict=True)
        )
        found = Parallel(n_jobs=-1)(tasks)
        for (share, trial, _), answers in zip(drawn, found, strict=True):
            place = {"dataset": name, "n_positive": count, "prior": share, "trial": trial}
            entries.append(place | answers)
        write(DRAFT, entries)
        print(f"{name}, {count} positives: {len(drawn)} problems", flush=True)
    order = {name: place for place, name in enumerate(SETS)}
    write(STORED, sorted(entries, key=lambda entry: order[entry["dataset"]]))
    DRAFT.unlink()


def write(path: Path, entries: list[dict]) -> None:
    """Write a file, or leave it as it was."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(entries, indent=0) + "\n")
    part.replace(path)


def estimates(score, y, trial: int) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorWarning)
        found = estimate_prior(score, y, random_state=trial)
    numbers = {"auto": found.value, "low": found.low, "high": found.high, **found.answers}
    return {name: round(float(number), 4) for name, number in numbers.items()}


def draw() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from robustpu.charts.plots import INK, POSITIVE

    entries = json.loads(STORED.read_text())
    groups = defaultdict(list)
    for entry in entries:
        groups[entry["dataset"]].append(entry)
    print(f"{'method':14}" + "".join(f"{name:>15}" for name in [*groups, "all"]))
    for method in PRIORS:
        errors = {name: error(each, method) for name, each in groups.items()}
        whole = error(entries, method)
        print(f"{method:14}" + "".join(f"{value:15.3f}" for value in [*errors.values(), whole]))
    for count in COUNTS:
        some = [entry for entry in entries if entry["n_positive"] == count]
        print(
            f"auto with {count:5,} positives: {error(some, 'auto'):.3f}, {cover(some):.0%} covered"
        )
    print(f"intervals of 90% hold the truth in {cover(entries):.0%} of {len(entries)} problems")

    figure = Figure(figsize=(11, 2.8), layout="constrained")
    FigureCanvasAgg(figure)
    for panel, (name, each) in zip(
        figure.subplots(1, len(groups), sharex=True, sharey=True), groups.items(), strict=True
    ):
        panel.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
        jitter = np.random.default_rng(0).normal(0, 0.008, len(each))
        for entry, shift in zip(each, jitter, strict=True):
            few = entry["n_positive"] == COUNTS[0]
            panel.plot(
                [entry["prior"] + shift] * 2,
                [entry["low"], entry["high"]],
                color=POSITIVE,
                alpha=0.25 if few else 0.5,
                linewidth=1,
            )
        panel.plot(
            [entry["prior"] + shift for entry, shift in zip(each, jitter, strict=True)],
            [entry["auto"] for entry in each],
            ".",
            markersize=3,
            color=INK,
        )
        panel.set_title(name, loc="left", color=INK)
        panel.set(xlabel="prior", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        panel.spines[["top", "right"]].set_visible(False)
    figure.get_axes()[0].set_ylabel("estimate, 90 % interval")
    figure.savefig(PICTURE, dpi=160)
    print(PICTURE)


def error(entries, method: str) -> float:
    return float(np.mean([abs(entry[method] - entry["prior"]) for entry in entries]))


def cover(entries) -> float:
    return float(np.mean([entry["low"] <= entry["prior"] <= entry["high"] for entry in entries]))


if __name__ == "__main__":
    make_figure(__doc__, STORED, train, draw)
