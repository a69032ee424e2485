"""Table: what other batch sizes would do to Dist-PU.

    python experiments/dist_pu_batch.py            # runs what is missing, then prints
    python experiments/dist_pu_batch.py --print    # prints what is stored

The paper's tables (ROBUSTPU_DATA has mushrooms) on splits for development, trials 100 to 105, which
no table reports. The first eight settings of main.toml, whose batches have 256 rows, are trained
with each batch size, and one is selected for all splits by its mean score by true labels, as in
main.toml. One JSON line a batch size and setting in results/dist_pu_batch.ndjson: the score on the
validation rows and the test error in percent, by split.
"""

import warnings
from itertools import product

import numpy as np
from figure import RESULTS, main_cell
from fits import PRIORS, stored
from selection_noise import complete, interval, main

from robustpu import fit_together
from robustpu.bench.machine import checkout
from robustpu.bench.protocol import split
from robustpu.bench.train import seed_of
from robustpu.training import Job

STORED = RESULTS / "dist_pu_batch.ndjson"
TRIALS = range(100, 106)
SIZES, SETTINGS = (16, 64, 128, 256, 512), 8
DEFAULT = 256


def run(table: str, prior: float) -> list[dict]:
    """Train all batch sizes, settings and splits of a cell; a line a batch size and setting."""
    cell = main_cell(table, "dist-pu", prior)
    problems = [(trial, split(table, prior, trial)) for trial in TRIALS]
    keys = list(product(SIZES, range(SETTINGS)))
    jobs = []
    for (size, setting), (trial, pu) in product(keys, problems):
        model = cell.build(
            cell.candidates[setting],
            prior=pu.prior,
            device="cpu",
            random_state=seed_of(trial, setting),
        ).set_params(batch_size=size)
        jobs.append(Job(model, pu.X, pu.y, (pu.X_validation, pu.y_validation)))
    with warnings.catch_warnings():
        # A collapse shows in the error.
        warnings.simplefilter("ignore")
        models = iter(fit_together(jobs))
    lines = []
    for size, setting in keys:
        score, error = [], []
        for _, pu in problems:
            model = next(models)
            score.append(round(float(model.member_scores_[0]), 6))
            error.append(round(100 * float(np.mean(model.predict(pu.X_test) != pu.y_test)), 2))
        found = {"batch_size": size, "setting": setting, "score": score, "error": error}
        lines.append({"table": table, "prior": prior, **found, **checkout()})
    return lines


def selected(lines: list[dict], size: int | None = None) -> np.ndarray:
    """Test errors of the setting with the best mean score of each cell, (cells, splits).

    Parameters
    ----------
    size
        The batch size; by default that with the best mean score.
    """
    errors = []
    for cell in product(complete(lines), PRIORS):
        tried = [
            line
            for line in lines
            if (line["table"], line["prior"]) == cell and size in (None, line["batch_size"])
        ]
        errors.append(max(tried, key=lambda line: np.mean(line["score"]))["error"])
    return np.array(errors)


def summary(lines: list[dict]) -> dict[int | None, dict[str, float]]:
    """Of each batch size, and of all searched: mean test error, and its gain over the default."""
    default, rows = selected(lines, DEFAULT), {}
    for size in (*SIZES, None):
        errors = selected(lines, size)
        gain, half = interval(default - errors)
        rows[size] = {"error": float(errors.mean()), "gain": gain, "half": half}
    return rows


def report() -> None:
    """Print the batch sizes."""
    lines = stored(STORED)
    print(", ".join(complete(lines)))
    for size, row in summary(lines).items():
        gain = f"{row['gain']:+.2f} ± {row['half']:.2f}"
        print(f"{'searched' if size is None else size:>8} {row['error']:6.2f}   {gain}")


if __name__ == "__main__":
    main(__doc__, STORED, run, report)
