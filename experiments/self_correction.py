"""Table and figure: what the rounds of Robust-PU add to the nnPU networks that they start from.

    python experiments/self_correction.py           # runs what is missing, then prints and draws
    python experiments/self_correction.py --draw    # prints and draws what is stored

The paper's tables (ROBUSTPU_DATA has mushrooms), 400 labelled positives, 800 unlabelled rows, prior
known, five trials. Two settings: "printed", the defaults of `RobustPUClassifier`, which are on the
paper's grid, and "balanced", one of those that `PUClassifier` uses for images, with other
thresholds for the two sides and weights that are balanced by the prior. Five networks a trial, the
same ones watched after 0 (nnPU alone) to 8 rounds; nothing is held out and nothing selected. Each
line of results/self_correction.ndjson has, of one network (the mean of the five), of the five
averaged, and of these five with twice their weight of trees: test error, AUC on the test rows and,
of networks, AUC of hidden positives against negatives within the unlabelled rows.
"""

import argparse
import warnings
from itertools import product

import numpy as np
from figure import FIGURES, RESULTS
from fits import run_cells, stored
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from watched import watch

from robustpu import BaggingPUClassifier, PUExtraTreesClassifier, RobustPUClassifier
from robustpu.bench.machine import checkout
from robustpu.bench.protocol import split
from robustpu.methods.composition import RECIPES
from robustpu.methods.composition import robust_pu as of_recipe

STORED = RESULTS / "self_correction.ndjson"
PICTURE = FIGURES / "self_correction.png"
TABLES, TRIALS = ("mushrooms", "shuttle", "spambase"), 5
MEMBERS, ROUNDS = 5, 8
SETTINGS = {
    "printed": RobustPUClassifier().spelled_out(),
    "balanced": of_recipe(RECIPES[0], n_members=1, n_rows=1200),
}
TREES = (BaggingPUClassifier(), PUExtraTreesClassifier())


def score(probability: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Error and AUC on the test rows, in percent."""
    return {
        "error": 100 * float(np.mean((probability >= 0.5) != truth)),
        "auc": 100 * float(roc_auc_score(truth, probability)),
    }


def run(table: str, prior: float) -> list[dict]:
    """All settings, trials and rounds of a cell; a line each, and one for the trees alone."""
    problems = [split(table, prior, trial) for trial in range(TRIALS)]
    trees = [_trees(pu, trial) for trial, pu in enumerate(problems)]
    keys, jobs = list(product(SETTINGS, range(TRIALS), range(MEMBERS))), []
    for setting, trial, member in keys:
        pu = problems[trial]
        model = clone(SETTINGS[setting]).set_params(
            prior=prior,
            device="cpu",
            random_state=1000 * list(SETTINGS).index(setting) + 100 * trial + member,
            curriculum__max_rounds=ROUNDS,
        )
        rows = np.concatenate([pu.X_test, pu.X[pu.y == 0]])
        jobs.append((model, pu.X, pu.y, (rows, _truth(pu))))
    found = {
        key: expit(after.double().numpy())
        for key, (after, _) in zip(keys, watch(jobs, scored=0), strict=True)
    }
    place = {"table": table, "prior": prior}
    lines = []
    for trial, pu in enumerate(problems):
        lines.append({**place, "trial": trial, "model": "trees", **score(trees[trial], pu.y_test)})
        for setting, rounds in product(SETTINGS, range(ROUNDS + 1)):
            here = {**place, "trial": trial, "setting": setting, "rounds": rounds}
            members = np.array([found[setting, trial, m][rounds] for m in range(MEMBERS)])
            lines += [{**here, **line} for line in _of_round(members, trees[trial], pu)]
    return [rounded({**line, **checkout()}) for line in lines]


def _trees(pu, trial: int) -> np.ndarray:
    """Mean probability of two forests on the test rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [
            clone(model).set_params(prior=pu.prior, random_state=trial).fit(pu.X, pu.y)
            for model in TREES
        ]
    return np.mean([model.predict_proba(pu.X_test)[:, 1] for model in models], axis=0)


def _truth(pu) -> np.ndarray:
    return np.concatenate([pu.y_test, pu.y_true[pu.y == 0]])


def _of_round(members: np.ndarray, trees: np.ndarray, pu) -> list[dict]:
    """Scores of one network, five averaged, and five with trees; (members, test and U rows)."""
    size, truth = len(pu.y_test), _truth(pu)

    def of_networks(probability: np.ndarray) -> dict[str, float]:
        within = 100 * float(roc_auc_score(truth[size:], probability[size:]))
        return {**score(probability[:size], pu.y_test), "auc_within": within}

    alone = [of_networks(member) for member in members]
    average = members.mean(axis=0)
    return [
        {"model": "one", **{name: np.mean([each[name] for each in alone]) for name in alone[0]}},
        {"model": "five", **of_networks(average)},
        {"model": "five and trees", **score((average[:size] + 2 * trees) / 3, pu.y_test)},
    ]


def rounded(line: dict) -> dict:
    return {
        key: round(float(value), 4) if isinstance(value, float) else value
        for key, value in line.items()
    }


def mean(lines: list[dict], name: str, **where: object) -> float:
    """Mean of a figure over the lines with these values."""
    return float(
        np.mean([line[name] for line in lines if all(line.get(key) == where[key] for key in where)])
    )


def report() -> None:
    """Print means over tables, priors and trials, by round."""
    lines = stored(STORED)
    print(f"{len({(line['table'], line['prior']) for line in lines})} of 9 cells")
    print(f"trees: error {mean(lines, 'error', model='trees'):.2f}")
    for setting in SETTINGS:
        print(f"\n{setting}: error of one, five, five and trees; AUC within U of one, five")
        for rounds in range(ROUNDS + 1):
            where = {"setting": setting, "rounds": rounds}
            pairs = [("error", model) for model in ("one", "five", "five and trees")]
            pairs += [("auc_within", model) for model in ("one", "five")]
            figures = [mean(lines, name, model=model, **where) for name, model in pairs]
            print(f"{rounds:2} rounds", *(f"{value:7.2f}" for value in figures))


def draw() -> None:
    """Draw test error and AUC within the unlabelled rows by round, means over the priors."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from robustpu.charts.plots import INK, NEGATIVE, POSITIVE

    lines = stored(STORED)
    figure = Figure(figsize=(9.5, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, len(TABLES), sharex=True)
    rows = (("error", "test error, %"), ("auc_within", "AUC within U, %"))
    looks = {"printed": ("as printed", NEGATIVE), "balanced": ("balanced", POSITIVE)}
    styles = {"one": ("one network", "--"), "five": ("five averaged", "-")}
    for (column, table), (row, (name, label)) in product(enumerate(TABLES), enumerate(rows)):
        panel = panels[row, column]
        for setting, model in product(looks, styles):
            (words, colour), (count, style) = looks[setting], styles[model]
            where = {"setting": setting, "table": table, "model": model}
            means = [mean(lines, name, rounds=at, **where) for at in range(ROUNDS + 1)]
            legend = None if row or column else f"{words}, {count}"
            panel.plot(means, style, color=colour, label=legend)
        panel.spines[["top", "right"]].set_visible(False)
        if not column:
            panel.set_ylabel(label)
        if row:
            panel.set_xlabel("rounds after nnPU")
        else:
            panel.set_title(table, loc="left", color=INK)
            panel.set_ylim(0, None)
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(PICTURE, dpi=130)
    print(PICTURE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="train nothing")
    if not parser.parse_args().draw:
        run_cells(STORED, run, TABLES)
    if not stored(STORED):
        print(f"{STORED.name} has no results yet.")
        return
    report()
    draw()


if __name__ == "__main__":
    main()
