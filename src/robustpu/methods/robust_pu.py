"""Robust-PU (Zhu, Wang, Zhao et al., KDD 2023): learn from easy, clean rows first."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from torch import Tensor

from robustpu import hardness as hardnesses
from robustpu import weighting as weightings
from robustpu.base import BasePUClassifier, CollapseWarning, parameters
from robustpu.checks import check_number
from robustpu.fleet import Best, Course, Fleet, cross_entropy, cross_entropy_slope
from robustpu.hardness import HardnessFunction
from robustpu.methods.bagging import BaggingPUClassifier
from robustpu.methods.balance import balanced
from robustpu.methods.companion import answers_of, fit_beside
from robustpu.methods.minimize import start, train_once
from robustpu.methods.p3mix import P3MixCClassifier
from robustpu.methods.presets import PRESETS, RECIPES
from robustpu.methods.puet import PUExtraTreesClassifier
from robustpu.naming import identity, pick
from robustpu.neural import NeuralPUClassifier
from robustpu.pacing import Pacing
from robustpu.selection import positive_rates
from robustpu.sharing import Prepared, Trained
from robustpu.weighting import WeightingFunction

# What is done for every row of a table up to this many; with more each network has a better sample
# of its own, and there is less to gain from more networks, from smaller steps, or from more epochs.
MANY = 10_000
# Epochs of a round; and of the pre-training and of a round at least, however many rows there are.
EPOCHS, LEAST = 10, (20, 2)
# Networks beside those of images, at most and at least: fewer hold out too few rows in common.
COMPANIONS = 10, 4
# Share of the answers of what stands beside the networks.
SHARE_TABLE, SHARE_IMAGES = 2 / 3, 4 / 5


@parameters
class RobustPUClassifier(NeuralPUClassifier):
    """Robust-PU: pre-train, then weigh rows by how easy they are, and train on; round after round.

    A network is pre-trained with nnPU. Then, round after round, the hardness of each row is
    measured (its loss, with unlabelled rows taken as negatives), turned into a weight by a
    threshold that grows from round to round, and the network is trained on the weighted rows. Easy
    and clean rows come first; positives hidden among the unlabelled rows stay down-weighted.

    Parameters
    ----------
    prior
        Share of positives *among the unlabelled rows*: a number in (0, 1), ``"auto"``, or another
        name of ``robustpu.priors.PRIORS``, by which it is estimated; or a function from
        out-of-fold scores of labelled and of unlabelled rows to the prior.
    scenario
        ``"case-control"``: the unlabelled rows are a sample of the population. ``"single-set"``:
        they are what was left of one after its positives were labelled.
    pos_label
        The label of the labelled positives; by default the larger of the two.
    module
        ``"mlp"`` (one hidden layer of 100), ``"linear"``, ``"all_conv"`` (images), or a callable
        from the shape of a row to a ``torch.nn.Module`` that answers one logit a row.
    standardize
        Whether to give each column of a table mean 0 and deviation 1.
    mirror
        Whether to show a half of the images mirrored, others in each epoch: for photographs, not
        for digits.
    epochs
        Epochs of weighted training in each round, the paper's E: by default 10, and of more than
        10,000 rows in proportion fewer. So it is with the pre-training, if that is left open.
    batch_size, lr, weight_decay
        Of Adam, which starts afresh in every round. By default batches are of 64 rows, of 256 if
        there are more than 10,000 rows. ``lr`` and ``weight_decay``, like
        ``temperature_positive`` and the pacings, are None by default: each member then takes them
        from one of four recipes, ``robustpu.methods.presets.RECIPES``. A number holds for all.
    warmup_epochs
        Epochs at the start of each round in which the learning rate rises to ``lr``.
    validation_fraction
        Share of the positives and of the unlabelled rows that each member holds out, to choose
        the round by; 0 keeps the last round.
    patience
        Rounds without a better score after which to stop; None never stops early.
    n_members
        Networks to train together, with different seeds and held-out rows: by default 40, and
        fewer of more than 10,000 rows, at least 12. Their probabilities are averaged. Members of
        one recipe choose their round together, by their mean score.
    n_keep
        How many of the members to average, the best on held-out rows; by default all.
    vary
        Settings that differ from member to member: parameter name -> list of choices, or a
        distribution with ``rvs``. Such members are judged each by itself.
    threshold
        Probability from which ``predict`` answers positive. ``"prior"``: the share ``prior`` of
        the unlabelled training rows is above it; ``"top:200"``: so many of them are.
        ``"recall:0.9"``: so many of the held-out positives are. ``"precision:0.8"``: that share of
        the unlabelled rows above it is positive, by an estimate on held-out rows.
    calibrate
        Whether to shift the log-odds of all answers so that their mean on the unlabelled rows, by
        what has not seen them if there is such, is the prior; of single-set data that on
        all rows the prior of the population. ``"auto"``: if it is below nine tenths of that, as
        where few positives are labelled.
    device
        ``"auto"``, ``"cpu"``, ``"cuda"``...
    random_state
        Seed of everything random.
    verbose
        1 shows a progress bar.
    pretrain
        Method that initialises the network: ``"nnpu"`` (the recipes', with either surrogate), an
        estimator of this library, or None. Its epochs, batch size, rates and own parameters are
        used; network, prior, held-out rows and seed are those of this estimator.
    hardness
        ``"logistic"``, ``"sigmoid"``, ``"crps"``, ``"brier"``, ``"focal"``, or a function, see
        :mod:`robustpu.hardness`.
    temperature_positive, temperature_unlabeled
        Divide the logits of labelled and of unlabelled rows before their hardness is measured.
    weighting
        ``"welsch"`` (the paper's), ``"hard"``, ``"linear"``..., or a function, see
        :mod:`robustpu.weighting`.
    pacing_positive, pacing_unlabeled
        Threshold of each round, a :class:`robustpu.Pacing`; None: by recipe.
    balance
        Whether to scale the weights so that positives have the share ``population_prior_`` of
        their sum. The paper does not; it matters most if labelled positives are few.
    max_rounds
        Rounds at most, the paper's T.
    record_weights
        Whether to keep the weights of all rounds, as ``weight_path_``.
    beside
        A classifier of this library, or a list of them, whose answers are averaged with those of
        the networks; their prior, scenario and random state are those of the networks. ``"auto"``:
        if X is a table, extra-trees (:class:`robustpu.PUExtraTreesClassifier`) and bagged trees
        (:class:`robustpu.BaggingPUClassifier`); for images ten networks of
        :class:`robustpu.P3MixCClassifier`, or as many as ``n_members``, none below four, with
        answers shifted to the prior. The paper has none; they err on other rows, so all together
        err on fewer. Those around learners of scikit-learn get standardised rows.
    beside_share
        The share that the mean of their answers has; by default two thirds of a table, and four
        fifths of images.

    Attributes
    ----------
    classes_
        The two labels of y, sorted.
    prior_, population_prior_
        Share of positives among the unlabelled rows, given or estimated, and in the population.
    selection_
        What chose the round: ``"pu"`` (held-out rows without negatives), ``"oracle"`` (the
        ``eval_set``) or ``"none"``.
    is_positive_, sample_weight_
        Whether each training row is labelled, and its weight up to a factor, (n,).
    probability_
        Probability of being positive of each training row, (n,).
    out_of_fold_
        The same by the members that did not train on the row, NaN where all did, (n,): what
        ``robustpu.metrics`` can judge.
    beside_, beside_share_
        The fitted classifiers beside the networks, a list, and their share of the answer.
    calibration_
        What ``calibrate`` added to the log-odds.
    hardness_, weight_
        Of each training row, by the selected networks at the threshold of their round, (n,).
    weight_path_
        Weights of each round, (rounds, n), if ``record_weights``; NaN where nobody trained on it.
    history_
        One dictionary a member and round: ``threshold_positive`` and ``threshold_unlabeled``;
        ``mass_...`` and ``effective_...``, the sum and the effective number of the weights, as the
        weighting gives them, before balance and sample weights;
        ``positive_rate``, the share of unlabelled rows answered positive at its start; ``score``
        at its end. Round 0 is the pre-trained network.
    member_scores_, kept_
        Score of each member on its held-out rows, and which members are averaged.
    turns_
        The round that was selected, of each of these; 0 is the pre-trained network.
    threshold_
        Probability from which ``predict`` answers positive.

    Examples
    --------
    >>> from robustpu import RobustPUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = RobustPUClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.9
    True
    """

    pretrain: NeuralPUClassifier | str | None = "nnpu"
    hardness: str | HardnessFunction = "logistic"
    temperature_positive: float | None = None
    temperature_unlabeled: float = 1.0
    weighting: str | WeightingFunction = "welsch"
    pacing_positive: Pacing | None = None
    pacing_unlabeled: Pacing | None = None
    balance: bool = True
    max_rounds: int = 16
    record_weights: bool = False
    beside: BasePUClassifier | Sequence[BasePUClassifier] | str | None = "auto"
    beside_share: float | None = None
    calibrate: bool | str = "auto"
    # Other defaults than those of the other methods.
    epochs: int | None = None  # type: ignore[assignment]
    lr: float | None = None
    weight_decay: float | None = None
    patience: int | None = 8
    batch_size: int | None = None
    n_members: int | None = None

    @classmethod
    def from_preset(cls, name: str, **changes: Any) -> Self:
        """Make an estimator with the parameters of a preset.

        Parameters
        ----------
        name
            ``"default"``, or ``"paper"``: the paper's algorithm, with settings in its grid.
        changes
            Parameters that differ from the preset.

        Examples
        --------
        >>> RobustPUClassifier.from_preset("paper", prior=0.4).epochs
        20
        """
        return cls(**{**pick("preset", name, PRESETS)(), **changes})

    @classmethod
    def _train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        first = settings[0]
        measure, weigh = hardnesses.resolve(first.hardness), weightings.resolve(first.weighting)

        # Line 1: initialise the model by pre-training.
        pretrain = [own.pretrain for own in settings]
        if pretrain[0] is not None:
            train_once(fleet, pretrain)
        best = Best(fleet)
        course = Course(best)
        score = fleet.score()
        best.offer(score, turn=0)
        course.record(fleet.alive, round=torch.zeros_like(fleet.alive), score=score)

        # Line 2: for t = 1 to T. The code counts from 0, so that the first threshold is λ0.
        rounds = max(own.max_rounds for own in settings)
        thresholds = [own._thresholds(rounds) for own in settings]
        for t in range(rounds):
            # Lines 3-4, stage 1: measure the hardness of each row, unlabelled rows as negatives.
            is_positive, logit = fleet.training.is_positive, fleet.logits()
            temperature = _by_side(fleet, [own._temperatures() for own in settings])
            hardness = measure(logit, is_positive, temperature)

            # Lines 5-7, stage 2: weigh each row by its hardness and the threshold of the round.
            threshold = _by_side(fleet, [path[t] for path in thresholds])
            weight = weigh(hardness, threshold)
            if first.record_weights:
                course.record_rows(fleet.alive, weight=weight)
            row_weight = weight * fleet.training.weight
            if first.balance:
                row_weight = balanced(row_weight, is_positive, fleet.population_prior)

            # Lines 8-11, stage 3: E epochs of weighted cross-entropy, unlabelled rows as 0.
            start(fleet, settings, cross_entropy, cross_entropy_slope)
            for _ in range(first.epochs):
                fleet.epoch(row_weight)

            # Not in Algorithm 1 but in the paper's experiments: keep the best round, and stop
            # when no better one came for a while.
            score = fleet.score()
            best.offer(score, turn=t + 1)
            course.record(
                fleet.alive,
                **_describe(fleet, logit, threshold, weight),
                round=torch.full_like(fleet.alive, t + 1),
                score=score,
            )
            fleet.keep(_go_on(fleet, best, t + 1, settings))
            if not len(fleet.alive):
                break
        best.restore()
        return course

    def _check_parameters(self) -> None:
        super()._check_parameters()
        hardnesses.resolve(self.hardness)
        check_number("temperature_positive", self.temperature_positive, above=0, optional=True)
        check_number("temperature_unlabeled", self.temperature_unlabeled, above=0)
        check_number("max_rounds", self.max_rounds, least=1, whole=True)
        if not (self.pretrain in ("nnpu", None) or isinstance(self.pretrain, NeuralPUClassifier)):
            raise ValueError(
                "pretrain must be 'nnpu', None, or an estimator of this library that trains a "
                f"network, such as NNPUClassifier(); it is {self.pretrain!r}."
            )
        if isinstance(self.pretrain, NeuralPUClassifier):
            self.pretrain._check_parameters()
        if not _is_auto(self.beside):
            given = self._given_beside()
            if self.beside is not None and not given:
                raise ValueError(
                    "beside must be 'auto', None, or a classifier of this library, such as "
                    f"PUExtraTreesClassifier(), or a list of such; it is {self.beside!r}."
                )
            for own in given:
                own._check_parameters()
        check_number("beside_share", self.beside_share, least=0, most=1, optional=True)
        # Thresholds outside the domain of the weighting are refused now, not rounds later.
        weigh = weightings.resolve(self.weighting)
        for name in ("pacing_positive", "pacing_unlabeled"):
            pacing = getattr(self, name)
            if not (pacing is None or isinstance(pacing, Pacing)):
                raise ValueError(f"{name} must be a robustpu.Pacing or None; it is {pacing!r}.")
            if pacing is not None:
                weigh(torch.zeros(()), torch.tensor(pacing.path(self.max_rounds)))

    def _fleet_key(self) -> tuple[Any, ...]:
        pretrain: Any = self.pretrain
        return (
            *super()._fleet_key(),
            identity(self.hardness),
            identity(self.weighting),
            self.balance,
            self.record_weights,
            None if pretrain is None else pretrain._fleet_key(),
        )

    def _rates(self) -> tuple[Any, ...]:
        pretrain: Any = self.pretrain
        return (*super()._rates(), *(() if pretrain is None else pretrain._rates()))

    def _planned_epochs(self) -> int:
        pretrain: Any = self.pretrain
        before = 0 if pretrain is None else pretrain._planned_epochs()
        return int(before + self.max_rounds * (self.epochs or EPOCHS))

    def _note(
        self,
        logit: Tensor,
        sample_weight: NDArray[np.float64],
        kept: Sequence[Trained],
        settings: Sequence[Any],
    ) -> None:
        is_positive = torch.from_numpy(self.is_positive_).to(logit.device)
        hardness, weight = torch.zeros_like(logit[0]), torch.zeros_like(logit[0])

        def by_side(pair: tuple[float, float]) -> Tensor:
            positive, unlabeled = logit.new_tensor(pair)
            return torch.where(is_positive, positive, unlabeled)

        for own, end, own_logit in zip(settings, kept, logit, strict=True):
            measure, weigh = hardnesses.resolve(own.hardness), weightings.resolve(own.weighting)
            own_hardness = measure(own_logit, is_positive, by_side(own._temperatures()))
            # Round 0, the pre-trained network, has no threshold of its own: the first one serves.
            threshold = by_side(own._thresholds(max(1, end.turn))[-1])
            hardness += own_hardness
            weight += weigh(own_hardness, threshold)
        self.hardness_ = (hardness / len(kept)).cpu().numpy()
        self.weight_ = (weight / len(kept)).cpu().numpy()
        if self.record_weights:
            self.weight_path_ = _mean_path([end.rows["weight"].numpy() for end in kept])

    def _join(
        self,
        probability: NDArray[np.float64],
        unseen: NDArray[np.float64],
        data: Prepared,
        seed: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        self.beside_ = self._companions(data)
        self.beside_share_ = SHARE_TABLE if data.table.ndim == 2 else SHARE_IMAGES
        if self.beside_share is not None:
            self.beside_share_ = self.beside_share
        if not self.beside_:
            return probability, unseen
        # They get true and false as labels.
        given = {"prior": self.prior_, "scenario": self.scenario, "pos_label": None}
        with warnings.catch_warnings():
            # All together may be sound where one is not, and are looked at themselves.
            warnings.simplefilter("ignore", CollapseWarning)
            warnings.filterwarnings("ignore", ".* unlabelled rows are in every bag")
            answers = [
                fit_beside(own.set_params(**given, random_state=seed), data, seed, self._scale)
                for own in self.beside_
            ]
        theirs, their_unseen = np.mean(answers, axis=0)
        return self._mixed(probability, theirs), self._mixed(unseen, their_unseen)

    def _mixed(self, ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.beside_share_ == 0:
            return ours
        return (1 - self.beside_share_) * ours + self.beside_share_ * theirs

    def _given_beside(self) -> list[Any]:
        """Return the classifiers that were given; none if something else is among them."""
        given: Any = self.beside if isinstance(self.beside, list | tuple) else [self.beside]
        return list(given) if all(isinstance(own, BasePUClassifier) for own in given) else []

    def _companions(self, data: Prepared) -> list[Any]:
        """Make the classifiers that stand beside the networks."""
        if not _is_auto(self.beside):
            return [clone(own) for own in self._given_beside()]
        if data.table.ndim == 2:
            n_positive = int((data.is_positive & (data.weight > 0)).sum())
            # A fifth of the labelled rows, or more, is left to judge each of the bagged trees by.
            share = min(0.8, MANY / n_positive)
            # Of few rows, small leaves: a tree that cannot be split says the same of every row.
            leaf = min(5, max(1, int(share * n_positive) // 3))
            tree = DecisionTreeClassifier(min_samples_leaf=leaf, max_features="sqrt")
            return [
                PUExtraTreesClassifier(max_samples=MANY),
                BaggingPUClassifier(estimator=tree, max_samples=share),
            ]
        most, least = COMPANIONS
        members = min(most, self._size(len(data.table)))
        if members < least:
            return []
        own = P3MixCClassifier(
            gamma=0.7,
            unlabeled_weight=0.5,
            weight_decay=1e-4,
            n_members=members,
            validation_fraction=self.validation_fraction,
            # It trains without the prior, and answers positive too often where that is small.
            calibrate=True,
            **{name: getattr(self, name) for name in ("module", "mirror", "standardize", "device")},
        )
        return [own]

    def _positive_probability(self, X: ArrayLike) -> NDArray[np.float64]:
        probability = super()._positive_probability(X)
        if not self.beside_:
            return probability
        rows = self._check_rows(X)
        theirs = np.mean([answers_of(own, rows, self._scale) for own in self.beside_], axis=0)
        return self._mixed(probability, theirs)

    def _size(self, n_rows: int) -> int:
        if self.n_members is not None:
            return self.n_members
        # As many of each recipe.
        return len(RECIPES) * min(10, max(3, round(10 * MANY / max(n_rows, 1))))

    def _recipes(self, n_rows: int = 0) -> Sequence[dict[str, Any]]:
        """Return what each kind of member takes for the parameters that were left open."""
        batch = {"batch_size": 64 if n_rows <= MANY else 256}
        share = min(1.0, MANY / max(n_rows, 1))
        epochs = {"epochs": max(LEAST[1], round(share * EPOCHS))}
        open_names = [name for name in RECIPES[0] if getattr(self, name) is None]
        if self.pretrain is None:
            open_names.remove("pretrain")
        elif isinstance(self.pretrain, str):
            open_names.append("pretrain")
        below: Sequence[Mapping[str, Any]] = ({},)
        if isinstance(self.pretrain, NeuralPUClassifier):
            below = self.pretrain._recipes(n_rows)
        shared = (batch if self.batch_size is None else {}) | (
            epochs if self.epochs is None else {}
        )
        if not open_names and not below[0]:
            return (shared,)
        return [
            {
                **shared,
                **{name: recipe[name] for name in open_names},
                **(
                    {"pretrain": _shortened(recipe["pretrain"], share).set_params(**batch)}
                    if "pretrain" in open_names
                    else {}
                ),
                **{f"pretrain__{name}": value for name, value in below[k % len(below)].items()},
            }
            for k, recipe in enumerate(RECIPES)
        ]

    def _temperatures(self) -> tuple[Any, Any]:
        return self.temperature_positive, self.temperature_unlabeled

    def _thresholds(self, rounds: int) -> list[tuple[float, float]]:
        """Return the thresholds of positives and of unlabelled rows, round by round."""
        assert self.pacing_positive is not None
        assert self.pacing_unlabeled is not None
        paths = self.pacing_positive.path(rounds), self.pacing_unlabeled.path(rounds)
        return list(zip(*paths, strict=True))


def _is_auto(beside: Any) -> bool:
    # Not the other way round: an array would be compared number by number.
    return isinstance(beside, str) and beside == "auto"


def _shortened(estimator: Any, share: float) -> Any:
    return clone(estimator).set_params(epochs=max(LEAST[0], round(share * estimator.epochs)))


def _by_side(fleet: Fleet, pairs: Sequence[tuple[float, float]]) -> Tensor:
    """(alive, rows): of each member's pair, the first for positives, the second for unlabelled."""
    positive, unlabeled = (fleet.per_member(side)[:, None] for side in zip(*pairs, strict=True))
    return torch.where(fleet.training.is_positive, positive, unlabeled)


def _describe(fleet: Fleet, logit: Tensor, threshold: Tensor, weight: Tensor) -> dict[str, Tensor]:
    """What the history notes of a round, (alive,) each."""
    is_positive, sample_weight = fleet.training.is_positive, fleet.training.weight
    answer = (logit >= 0).to(sample_weight.dtype)
    notes = {"positive_rate": positive_rates(answer, is_positive, sample_weight)[1]}
    for side, mask in (("positive", is_positive), ("unlabeled", ~is_positive)):
        own = torch.where(mask, weight, 0.0)
        mass, squares = own.sum(1), own.square().sum(1)
        notes[f"threshold_{side}"] = torch.where(mask, threshold, 0.0).amax(1)
        notes[f"mass_{side}"] = mass
        notes[f"effective_{side}"] = mass.square() / squares.clamp(min=1e-30)
    return notes


def _go_on(fleet: Fleet, best: Best, turn: int, settings: Sequence[Any]) -> Tensor:
    """Which members have rounds and patience left, (alive,)."""
    patience = fleet.per_member([own.patience or own.max_rounds for own in settings])
    rounds = fleet.per_member([own.max_rounds for own in settings])
    return (best.waited(turn) < patience) & (turn < rounds)


def _mean_path(paths: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Mean over the members (rounds, n) that trained on a row in a round; NaN if none did."""
    rounds, rows = max(map(len, paths)), paths[0].shape[1]
    total, count = np.zeros((rounds, rows)), np.zeros((rounds, rows))
    for path in paths:
        known = ~np.isnan(path)
        total[: len(path)] += np.where(known, path, 0.0)
        count[: len(path)] += known
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
