"""A network that was trained once, on synthetic tables, and scores a table in one pass."""

import math
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import Tags

from robustpu import labels
from robustpu.base.arrays import check_rows, refuse_huge
from robustpu.base.neural import device_of
from robustpu.base.wrapper import SinglePUClassifier
from robustpu.calibration import log_odds
from robustpu.pretrained import EncodedTable, load_network, read_about
from robustpu.pretrained.inference import MAX_COLUMNS, MAX_CONTEXT, on_threads
from robustpu.pretrained.recoding import find_recoding
from robustpu.priors import from_weighted, inside
from robustpu.scenario import to_population
from robustpu.training import Problem, Scores, TrainingData
from robustpu.training.data import Floats, Index, Mask
from robustpu.validation.parameters import number, param, parameters

SEEDS = np.iinfo(np.int32).max


@parameters
class PretrainedPUClassifier(SinglePUClassifier):
    """One pass of a pretrained transformer over the table: nothing is trained, nothing tuned.

    The labelled and the unlabelled rows are the context of the network; new rows attend to them.
    Missing values (NaN) are inputs that it was trained on. Where it is good and where it fails:
    docs/pretrained.md. Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    n_members
        Passes whose answers are averaged. They differ in the order of the columns and, where the
        table has more than 2,048 rows or 200 columns, in their rows and columns.
    categorical_features
        Numbers, or names in a DataFrame, of the columns whose values have no order.
    device
        ``"auto"``: the GPU if there is one. ``"cpu"``, ``"cuda:1"``... as in torch.
    prior
        A number is an input of the network. ``"auto"``: it is not given any, and ``prior_`` is the
        mean of its probabilities of the unlabelled rows. Other names estimate the prior from
        out-of-fold scores of the network, and give it the estimate.

    Attributes
    ----------
    context_, context_rows_
        The training rows that contexts are drawn from, (k, d), and their numbers, (k,): those with
        non-zero sample weight, of long tables a draw.
    is_category_
        Which columns have no order, (d,).
    given_prior_
        The prior that the network was given, or None.
    seed_, n_members_
        Seed and number of the members.
    weights_version_, weights_sha256_
        The weights of the network; a model is only used with the same.
    probability_
        Of unlabelled rows as parts of the context; of labelled ones out of fold.

    Notes
    -----
    Known negatives are unlabelled rows to the network. Rows with zero sample weight are left out of
    the context. Other weights do not change what the network sees: they count in ``prior="auto"``,
    in the share of labelled rows of single-set data, in thresholds, calibration and ``evaluate()``.

    Examples
    --------
    >>> from robustpu import PretrainedPUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=40, n_unlabeled=100, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = PretrainedPUClassifier(prior=0.3, n_members=1, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.9
    True
    """

    n_members: int = param(2, number(least=1, most=100, whole=True))
    categorical_features: Sequence[int | str] | None = param(
        None, lambda name, value: _check_columns(name, value)
    )
    device: str = param("auto")

    def check_data(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        eval_set: tuple[ArrayLike, ArrayLike] | None,
    ) -> TrainingData:
        labels.refuse_missing(y)
        table, y = check_rows(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        refuse_huge(table)
        device_of(self.device)
        is_positive = self.encode_labels(y)
        self.is_category_ = self._find_categories(table.shape[1])
        truth = self.check_truth(eval_set)
        rows = None if eval_set is None else self._check_rows(eval_set[0])
        weight = self.check_weight(sample_weight, is_positive)
        return TrainingData(table, is_positive, weight, rows, truth)

    def _encode(
        self, data: TrainingData, prior: float | None, random: np.random.RandomState
    ) -> EncodedTable:
        """Draw the rows of the contexts, and encode them."""
        rows = _draw(data, self.is_category_, self.n_members, random)
        is_positive = known_positive(data.is_positive, data.outcome)[rows]
        labels.require_both_classes(is_positive, data.weight[rows])
        about = read_about()
        self.context_rows_ = rows
        self.context_: Floats = data.X[rows]
        self.given_prior_ = prior
        self.seed_, self.n_members_ = int(random.randint(SEEDS)), self.n_members
        self.weights_version_, self.weights_sha256_ = about["version"], about["sha256"]
        TABLES[self] = self._encoded(is_positive)
        return TABLES[self]

    def estimate_prior(self, data: TrainingData, random: np.random.RandomState) -> float:
        if self.prior == "auto":
            table = self._encode(data, None, random)
            unlabeled = ~table.is_positive
            weight = data.weight[self.context_rows_]
            # Positives that a check has found were among the unlabelled rows.
            found = np.where(unlabeled, table.training.probability, 1.0)
            before = ~data.is_positive[self.context_rows_]
            share = np.average(found[before], weights=weight[before])
            return inside(float(share), int((~data.is_positive).sum()))
        rows = _draw(data, self.is_category_, self.n_members, random)
        is_positive = data.is_positive[rows]
        score, _ = self._cross_fit(data.X[rows], is_positive, None, random)
        if np.isnan(score).any():
            raise ValueError(
                f"prior={self.prior!r} is estimated from out-of-fold scores, which takes at least "
                "2 labelled positives and 2 unlabelled rows with non-zero sample weight. Give "
                "prior= a number, or 'auto'."
            )
        return from_weighted(log_odds(score), is_positive, data.weight[rows], self.prior)

    def fit_data(self, problem: Problem) -> Scores:
        data, random = problem.data, problem.random
        if not hasattr(self, "context_"):
            self._encode(data.training(), self.prior_, random)
        table = TABLES[self]
        rows = data.kept[self.context_rows_]
        self.context_rows_ = rows
        probability, out_of_fold = np.empty(len(data)), np.empty(len(data))
        # Rows in no context are scored like new ones.
        others = np.setdiff1d(np.arange(len(data)), rows)
        probability[others] = out_of_fold[others] = table.score(data.X[others])
        held_out, labelled = table.training.held_out, table.is_positive
        # Which rows contexts lack depends on labels: so all by members without them, or all by
        # folds. Else the scores of a label would be those of other contexts.
        if np.isnan(held_out).any():
            left = np.intersect1d(others, data.kept[data.training().weight > 0])
            held_out, out_of_fold[left] = self._cross_fit(
                table.X, labelled, self.given_prior_, random, data.X[left]
            )
        scores = np.where(labelled, held_out, table.training.probability)
        if np.isnan(scores).any():
            scores[labelled] = table.score(table.X[labelled])
        probability[rows], out_of_fold[rows] = scores, held_out
        on_eval = None if data.truth is None else self._to_population(table.score(data.X_eval))
        return Scores(self._to_population(probability), self._to_population(out_of_fold), on_eval)

    def score_rows(self, X: ArrayLike) -> Floats:
        rows = self._check_rows(X)
        return self._to_population(self._table().score(rows))

    def predict_rows(self, X: ArrayLike) -> Floats:
        return self.score_rows(X)

    def row_cost(self) -> int:
        # Attention to the context and products of each token, and what each row needs besides, as
        # measured on one core.
        table = self._table()
        tokens = [1 + table.network.n_tokens(len(member.columns)) for member in table.members]
        rows = [len(member.rows) for member in table.members]
        work = sum(t * (n + 800) + 5_000 for t, n in zip(tokens, rows, strict=True))
        return max(1, round(work / 8_600))

    def _table(self) -> EncodedTable:
        """Return the encoded contexts; a model that was loaded or copied encodes them anew."""
        if self not in TABLES:
            found = read_about()["sha256"]
            if found != self.weights_sha256_:
                raise ValueError(f"the model {other_weights(self.weights_version_)}")
            is_positive = known_positive(self.is_positive_, self.outcome_)
            TABLES[self] = self._encoded(is_positive[self.context_rows_])
        return TABLES[self]

    def _encoded(self, is_positive: Mask) -> EncodedTable:
        return EncodedTable(
            load_network(device=device_of(self.device)),
            self.context_,
            is_positive,
            self.is_category_,
            self.given_prior_,
            self.n_members_,
            self.seed_,
        )

    def _cross_fit(
        self,
        X: Floats,
        is_positive: Mask,
        prior: float | None,
        random: np.random.RandomState,
        others: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Score rows by one context without their fold, (n,), and other rows by one of these.

        All are NaN if there are too few rows for folds.
        """
        device = device_of(self.device)
        others = X[:0] if others is None else others
        network = load_network(device=device)
        score, score_others = (np.full(len(rows), np.nan) for rows in (X, others))
        splits = _folds(is_positive, random)
        tasks = [
            (*split, slice(k, None, len(splits)), int(random.randint(SEEDS)))
            for k, split in enumerate(splits)
        ]

        def cross(task: tuple[Index, Index, slice, int]) -> tuple[Floats, Floats]:
            training, fold, part, seed = task
            rows = X[training], is_positive[training], self.is_category_
            table = EncodedTable(network, *rows, prior, 1, seed)
            return table.score(X[fold]), table.score(others[part])

        for (_, fold, part, _), found in zip(tasks, on_threads(cross, tasks, device), strict=True):
            score[fold], score_others[part] = found
        return score, score_others

    def _to_population(self, probability: Floats) -> Floats:
        """Probability among unlabelled rows -> in the population; the same in case-control data."""
        return to_population(probability, *self.score_priors())

    def _find_categories(self, width: int) -> Mask:
        given = [] if self.categorical_features is None else list(self.categorical_features)
        if given and hasattr(self, "projection_"):
            raise ValueError(
                f"categorical_features cannot be used with {self.n_features_in_:,} sparse columns, "
                f"which are projected to {width}: leave it out."
            )
        names = getattr(self, "feature_names_in_", np.array([])).tolist()
        is_category = np.zeros(width, dtype=np.bool_)
        for column in given:
            place = names.index(column) if column in names else column
            if isinstance(place, str) or not 0 <= place < len(is_category):
                raise ValueError(
                    f"categorical_features has {column!r}, and X has no such column: give names of "
                    f"a DataFrame, or numbers from 0 to {len(is_category) - 1}."
                )
            is_category[place] = True
        return is_category

    def _check_rows(self, X: ArrayLike) -> Floats:
        table: Floats = check_rows(
            self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        refuse_huge(table)
        return table

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def known_positive(is_positive: Mask, outcome: Floats | None) -> Mask:
    """Which rows are positive by a label or by a check, (n,).

    Examples
    --------
    >>> known_positive(np.array([True, False]), np.array([np.nan, 1.0])).tolist()
    [True, True]
    """
    return is_positive if outcome is None else is_positive | (outcome == 1)


# Encoded contexts are large, and made again from ``context_``: they are no part of a model.
TABLES: WeakKeyDictionary[PretrainedPUClassifier, EncodedTable] = WeakKeyDictionary()
# Folds of tables with few labels, where each label counts and a pass is cheap, and of others.
FEW, FOLDS_OF_FEW, FOLDS = 100, 5, 3


def other_weights(version: str) -> str:
    """Say that a model needs other weights than those that are here.

    Examples
    --------
    >>> other_weights("0")
    "was fitted with version 0 of the network's weights, and here is version 2: fit it again..."
    """
    return (
        f"was fitted with version {version} of the network's weights, and here is version "
        f"{read_about()['version']}: fit it again, or install the robustpu that it was fitted with."
    )


def _folds(is_positive: Mask, random: np.random.RandomState) -> list[tuple[Index, Index]]:
    """Rows to learn from and rows to score; none if there are fewer than two of a kind."""
    n_positive = int(is_positive.sum())
    most = FOLDS_OF_FEW if n_positive < FEW else FOLDS
    count = min(most, n_positive, len(is_positive) - n_positive)
    if count < 2:
        return []
    splitter = StratifiedKFold(count, shuffle=True, random_state=random)
    return list(splitter.split(np.zeros(len(is_positive)), is_positive))


def _draw(
    data: TrainingData, is_category: Mask, n_members: int, random: np.random.RandomState
) -> Index:
    """Rows with non-zero sample weight, in order; no more than all contexts together can hold."""
    width = find_recoding(data.X, is_category).width
    n_members = max(n_members, math.ceil(width / MAX_COLUMNS))
    most, drawn = n_members * MAX_CONTEXT, []
    for kind in (True, False):
        rows = np.flatnonzero((data.is_positive == kind) & (data.weight > 0))
        drawn.append(random.permutation(rows)[:most] if len(rows) > most else rows)
    return np.sort(np.concatenate(drawn))


def _check_columns(name: str, value: Any) -> None:
    """Allow None, or column numbers and names."""
    is_list = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    if value is None or (
        is_list
        and all(isinstance(x, str | int | np.integer) and not isinstance(x, bool) for x in value)
    ):
        return
    raise ValueError(f"{name} must be None, or a list of column numbers or names; it is {value!r}.")
