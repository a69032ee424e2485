"""Table and figure: what the rounds of Robust-PU add to the nnPU networks that they start from.

    python experiments/self_correction.py           # runs what is missing, then prints and draws
    python experiments/self_correction.py --draw    # prints and draws what is stored

The paper's tables (ROBUSTPU_DATA has mushrooms), 400 labelled positives, 800 unlabelled rows, prior
known, five trials. Two settings: "printed", the defaults of `RobustPUClassifier`, which are on the
paper's grid, and "balanced", one of those that `PUClassifier` uses, with other thresholds for the
two sides and weights that are balanced by the prior. Two kinds of lines in
results/self_correction.ndjson. "rounds": five networks of each trial after 0 (nnPU alone) to 8
rounds, nothing held out, each by itself and averaged: test error, AUC on the test rows, and AUC of
hidden positives against negatives within the unlabelled rows. "selected": one network and ten
averaged, the epoch of nnPU or the round selected, by true labels of validation rows or without
negatives.
"""

import argparse
import json
import warnings
from itertools import product

import numpy as np
from figure import FIGURES, RESULTS, TO_END
from fits import stored
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from robustpu import NNPUClassifier, RobustPUClassifier, fit_together
from robustpu.bench.machine import checkout
from robustpu.bench.protocol import split
from robustpu.methods.composition import RECIPES
from robustpu.methods.composition import robust_pu as of_recipe

STORED = RESULTS / "self_correction.ndjson"
PICTURE = FIGURES / "self_correction.png"
TABLES, PRIORS, TRIALS = ("mushrooms", "shuttle", "spambase"), (0.2, 0.4, 0.6), 5
AVERAGED, ROUNDS = 5, 8  # of "rounds"
MEMBERS = 10  # of "selected"
SETTINGS = {
    "printed": RobustPUClassifier().spelled_out(),
    "balanced": of_recipe(RECIPES[0], n_members=1, n_rows=1200),
}


def nnpu(setting: str, **given) -> NNPUClassifier:
    """The pre-training of Robust-PU, alone."""
    return clone(SETTINGS[setting].pretrain).set_params(**given)


def robust_pu(setting: str, **given) -> RobustPUClassifier:
    return clone(SETTINGS[setting]).set_params(**given)


def fit(jobs: list[tuple]) -> list:
    with warnings.catch_warnings():
        # A collapse shows in the error.
        warnings.simplefilter("ignore")
        return fit_together(jobs)


def score(probability: np.ndarray, within: np.ndarray, pu) -> dict[str, float]:
    """Test error and AUC, and the AUC within the unlabelled rows, in percent."""
    unlabeled = pu.y == 0
    return {
        "error": 100 * float(np.mean((probability >= 0.5) != pu.y_test)),
        "auc": 100 * float(roc_auc_score(pu.y_test, probability)),
        "auc_within": 100 * float(roc_auc_score(pu.y_true[unlabeled], within)),
    }


def by_round(setting: str, table: str, prior: float) -> list[dict]:
    """Networks after each number of rounds: the mean of single ones, and the average."""
    problems = [split(table, prior, trial) for trial in range(TRIALS)]
    keys = list(product(range(TRIALS), range(ROUNDS + 1), range(AVERAGED)))
    jobs = []
    for trial, rounds, member in keys:
        given = {"prior": prior, "random_state": 100 * trial + member, "device": "cpu", **TO_END}
        more = {"curriculum__max_rounds": rounds} if rounds else {}
        model = robust_pu(setting, **given, **more) if rounds else nnpu(setting, **given)
        jobs.append((model, problems[trial].X, problems[trial].y))
    models = dict(zip(keys, fit(jobs), strict=True))
    lines = []
    for trial, rounds in product(range(TRIALS), range(ROUNDS + 1)):
        pu = problems[trial]
        members = [models[trial, rounds, member] for member in range(AVERAGED)]
        on_test = np.array([model.predict_proba(pu.X_test)[:, 1] for model in members])
        within = np.array([model.predict_proba(pu.X[pu.y == 0])[:, 1] for model in members])
        alone = [score(*pair, pu) for pair in zip(on_test, within, strict=True)]
        means = {name: float(np.mean([each[name] for each in alone])) for name in alone[0]}
        place = {"kind": "rounds", "setting": setting, "table": table, "prior": prior}
        place |= {"trial": trial, "rounds": rounds}
        lines.append({**place, "members": 1, **means})
        average = score(on_test.mean(axis=0), within.mean(axis=0), pu)
        lines.append({**place, "members": AVERAGED, **average})
    return lines


def selected(setting: str, table: str, prior: float) -> list[dict]:
    """One network and ten averaged, with the epoch or round that scores best."""
    problems = [split(table, prior, trial) for trial in range(TRIALS)]
    makers = {"nnPU": nnpu, "Robust-PU": robust_pu}
    keys = list(product(range(TRIALS), makers, (1, MEMBERS), ("oracle", "pu")))
    jobs = []
    for trial, method, members, selection in keys:
        pu = problems[trial]
        eval_set = (pu.X_validation, pu.y_validation) if selection == "oracle" else None
        given = {"prior": prior, "random_state": trial, "n_members": members, "device": "cpu"}
        jobs.append((makers[method](setting, **given), pu.X, pu.y, eval_set))
    lines = []
    for (trial, method, members, selection), model in zip(keys, fit(jobs), strict=True):
        pu = problems[trial]
        rows = pu.X_test, pu.X[pu.y == 0]
        found = score(*(model.predict_proba(each)[:, 1] for each in rows), pu)
        chosen = getattr(model, model.best_name)
        lines.append(
            {
                "kind": "selected",
                "setting": setting,
                "table": table,
                "prior": prior,
                "trial": trial,
                "method": method,
                "members": members,
                "selection": selection,
                **found,
                "chosen": float(np.mean(chosen)),
            }
        )
    return lines


def run() -> None:
    """Append the lines of the settings that have none."""
    names = ("kind", "setting", "table", "prior")
    done = {tuple(line[name] for name in names) for line in stored(STORED)}
    kinds = {"rounds": by_round, "selected": selected}
    for kind, setting, table, prior in product(kinds, SETTINGS, TABLES, PRIORS):
        if (kind, setting, table, prior) in done:
            continue
        lines = [{**line, **checkout()} for line in kinds[kind](setting, table, prior)]
        with STORED.open("a") as file:
            file.write("".join(json.dumps(rounded(line)) + "\n" for line in lines))
        print(kind, setting, table, prior, flush=True)


def rounded(line: dict) -> dict:
    return {
        key: round(value, 4) if isinstance(value, float) else value for key, value in line.items()
    }


def mean(lines: list[dict], name: str, **where: object) -> float:
    """Mean of a figure over the lines with these values."""
    return float(
        np.mean([line[name] for line in lines if all(line.get(key) == where[key] for key in where)])
    )


def report() -> None:
    """Print means over tables, priors and trials, by round, and of what was selected."""
    lines = stored(STORED)
    for setting in SETTINGS:
        print(f"\n{setting}: error and AUC within U, one network; five averaged")
        for rounds in range(ROUNDS + 1):
            where = {"kind": "rounds", "setting": setting, "rounds": rounds}
            figures = [
                mean(lines, name, members=members, **where)
                for members in (1, AVERAGED)
                for name in ("error", "auc_within")
            ]
            print(f"{rounds:2} rounds", *(f"{value:7.2f}" for value in figures))
        for selection, members, method in product(
            ("oracle", "pu"), (1, MEMBERS), ("nnPU", "Robust-PU")
        ):
            where = {"kind": "selected", "setting": setting, "selection": selection}
            value = mean(lines, "error", members=members, method=method, **where)
            print(f"selected, {selection:6} {members:2} networks, {method:9} {value:.2f}")


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
    for (column, table), (row, (name, label)) in product(enumerate(TABLES), enumerate(rows)):
        panel = panels[row, column]
        for setting, (members, style) in product(looks, ((1, "--"), (AVERAGED, "-"))):
            words, colour = looks[setting]
            where = {"kind": "rounds", "setting": setting, "table": table, "members": members}
            means = [mean(lines, name, rounds=at, **where) for at in range(ROUNDS + 1)]
            legend = f"{words}, {'one network' if members == 1 else 'five averaged'}"
            panel.plot(means, style, color=colour, label=None if row or column else legend)
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
        run()
    report()
    draw()


if __name__ == "__main__":
    main()
