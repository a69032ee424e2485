"""Table: ways to select the round of Robust-PU, and its setting, with less noise.

    python experiments/selection_noise.py            # runs what is missing, then prints
    python experiments/selection_noise.py --print    # prints what is stored

The paper's tables (ROBUSTPU_DATA has mushrooms) on splits for development, trials 100 to 103, which
no table reports. Five settings of the search space of main.toml, three seeds each, one network,
every network through ten rounds. One JSON line a network in results/selection_noise.ndjson: by
round, from 0 (nnPU alone), the score by true labels of the 100 validation rows and the test error;
both again for a network whose weights are the mean of those after the later epochs of the round.
All ways to select are computed from these lines.
"""

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import torch
from figure import RESULTS, main_cell
from fits import PRIORS, run_cells, stored
from scipy.stats import t as student
from watched import watch

from robustpu.bench.machine import checkout
from robustpu.bench.protocol import split
from robustpu.selection import of_logits, oracle_accuracy

STORED = RESULTS / "selection_noise.ndjson"
TABLES = ("mushrooms", "shuttle", "spambase")
TRIALS = range(100, 104)
SETTINGS, SEEDS, ROUNDS = 5, 3, 10
VALIDATION = 100
NAMES = ("score", "error", "mean_score", "mean_error")


def run(table: str, prior: float) -> list[dict]:
    """Train all settings, trials and seeds of a cell; a line a network."""
    cell = main_cell(table, "robust-pu", prior)
    keys, jobs = list(product(TRIALS, range(SETTINGS), range(SEEDS))), []
    problems = {trial: split(table, prior, trial) for trial in TRIALS}
    rows = {trial: np.concatenate([pu.X_validation, pu.X_test]) for trial, pu in problems.items()}
    truth = {trial: np.concatenate([pu.y_validation, pu.y_test]) for trial, pu in problems.items()}
    for trial, setting, seed in keys:
        pu = problems[trial]
        random_state = 1_000_000 * setting + 1000 * seed + trial
        model = cell.build(
            cell.candidates[setting], prior=pu.prior, device="cpu", random_state=random_state
        ).set_params(curriculum__max_rounds=ROUNDS)
        jobs.append((model, pu.X, pu.y, (rows[trial], truth[trial])))
    lines = []
    for (trial, setting, seed), logits in zip(keys, watch(jobs, VALIDATION), strict=True):
        place = {"table": table, "prior": prior, "trial": trial, "setting": setting, "seed": seed}
        is_positive = torch.from_numpy(truth[trial] == 1)
        found = [*scored(logits[0], is_positive), *scored(logits[1], is_positive)]
        lines.append({**place, **dict(zip(NAMES, found, strict=True)), **checkout()})
    return lines


def scored(logit: torch.Tensor, is_positive: torch.Tensor) -> tuple[list[float], list[float]]:
    """Score of the validation rows, and error in percent of the test rows, by round."""
    truth, half = is_positive[:VALIDATION].expand(len(logit), -1), torch.tensor(0.5)
    weight = torch.ones(VALIDATION)
    score = of_logits(oracle_accuracy)(logit[:, :VALIDATION], truth, weight, half, half)
    error = 100 * ((logit[:, VALIDATION:] >= 0) != is_positive[VALIDATION:]).double().mean(1)
    return [round(value, 6) for value in score.tolist()], [
        round(value, 2) for value in error.tolist()
    ]


# All arrays below are (tables, priors, trials, settings, seeds, rounds).


def arrays(lines: list[dict], tables: list[str]) -> dict[str, np.ndarray]:
    """The scores and errors of whole tables."""
    shape = (len(tables), len(PRIORS), len(TRIALS), SETTINGS, SEEDS, ROUNDS + 1)
    found = {name: np.full(shape, np.nan) for name in NAMES}
    for line in lines:
        if line["table"] in tables:
            place = (
                tables.index(line["table"]),
                PRIORS.index(line["prior"]),
                TRIALS.index(line["trial"]),
                line["setting"],
                line["seed"],
            )
            for name, values in found.items():
                values[place] = line[name]
    return found


def smooth(score: np.ndarray) -> np.ndarray:
    """Mean of each round and its two neighbours; of two rounds at the ends."""
    total = score.copy()
    total[..., 1:] += score[..., :-1]
    total[..., :-1] += score[..., 1:]
    count = np.full(score.shape[-1], 3)
    count[[0, -1]] = 2
    return total / count


def over(score: np.ndarray, *axes: int) -> np.ndarray:
    """Mean over axes, in the shape of before."""
    return np.broadcast_to(score.mean(axis=axes, keepdims=True), score.shape)


TRIAL, PRIOR, SEED, ROUND = 2, 1, 4, 5


def select(
    score: np.ndarray, error: np.ndarray, to_set: tuple[int, ...] = (TRIAL,)
) -> tuple[np.ndarray, np.ndarray]:
    """Select a round of each network by its score, and a setting by the mean over some axes.

    Returns
    -------
    error, validation
        Test error, and validation error of what is selected, (tables, priors, trials, seeds).
    """
    best = score.argmax(ROUND)[..., None]
    chosen = np.take_along_axis(error, best, ROUND)[..., 0]
    top = np.take_along_axis(score, best, ROUND)[..., 0]
    setting = over(top, *to_set).argmax(3)[..., None, :]
    found = (np.take_along_axis(values, setting, 3)[..., 0, :] for values in (chosen, top))
    test, validation = found
    return test, 100 * (1 - validation)


def ways(found: dict[str, np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Test and validation error of each way to select."""
    score, error = found["score"], found["error"]
    mean_score, mean_error = found["mean_score"], found["mean_error"]
    return {
        "its own score": select(score, error),
        "mean score of three seeds": select(over(score, SEED), error, (TRIAL, SEED)),
        "scores smoothed over three rounds": select(smooth(score), error),
        "averaged weights": select(mean_score, mean_error),
        "averaged weights, mean score of three seeds": select(
            over(mean_score, SEED), mean_error, (TRIAL, SEED)
        ),
        "setting by the rows of the three priors": select(score, error, (PRIOR, TRIAL)),
        "setting and round by the rows of the three priors": select(
            over(score, PRIOR), error, (PRIOR, TRIAL)
        ),
        "all of it": select(over(mean_score, PRIOR, SEED), mean_error, (PRIOR, TRIAL, SEED)),
        "no selection of the round: the last": select(score[..., -1:], error[..., -1:]),
        "by the test rows: the limit": select(-error, error),
    }


def interval(differences: np.ndarray) -> tuple[float, float]:
    """Mean and half of the width of Student's 95 % interval."""
    values = differences.ravel()
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean()), float(half)


def complete(lines: list[dict]) -> list[str]:
    """The tables with all priors."""
    cells = {(line["table"], line["prior"]) for line in lines}
    return [table for table in TABLES if all((table, prior) in cells for prior in PRIORS)]


def summary(lines: list[dict]) -> dict[str, dict[str, float]]:
    """Of each way: test error, validation error, and its gain over a network's own score."""
    tables = complete(lines)
    found = ways(arrays(lines, tables))
    plain = found["its own score"][0]
    rows = {}
    for name, (test, validation) in found.items():
        # A pair a table, prior and trial: the mean over the seeds that might have been the one.
        gain, half = interval((plain - test).mean(-1))
        rows[name] = {
            "error": float(test.mean()),
            "validation": float(validation.mean()),
            "gain": gain,
            "half": half,
        }
    return rows


def report() -> None:
    """Print the ways to select."""
    lines = stored(STORED)
    print(", ".join(complete(lines)))
    for name, row in summary(lines).items():
        gain = f"{row['gain']:+.2f} ± {row['half']:.2f}"
        print(f"{name:52} {row['error']:6.2f} {row['validation']:8.2f}   {gain}")


def main(
    about: str, path: Path, run: Callable[[str, float], list[dict]], report: Callable[[], None]
) -> None:
    """Run what is missing of the tables, and print what is stored.

    Parameters
    ----------
    about
        Docstring of the script.
    path
        Where its lines are.
    run
        Trains a table at a prior; its lines.
    report
        Prints the lines of the tables that have all priors.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--print", action="store_true", help="train nothing")
    if not parser.parse_args().print:
        run_cells(path, run, TABLES)
    if complete(stored(path)):
        report()
    else:
        print(f"{path.name} has no table with all priors yet.")


if __name__ == "__main__":
    main(__doc__, STORED, run, report)
