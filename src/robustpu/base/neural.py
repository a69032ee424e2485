"""What the methods that train networks share: arrays in, tensors inside, arrays out."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from robustpu.base.arrays import check_images, check_table, check_training_data, edges_of
from robustpu.base.classifier import BasePUClassifier
from robustpu.fleet import Course, Fleet, Mapped, Part, Pool, State
from robustpu.fleet.pool import slices
from robustpu.modules import MODULES, ModuleFactory, Standardize, scale_of
from robustpu.modules.rows import Scale, blocks, inputs_of, is_mapped, some_of_each
from robustpu.priors import Sample
from robustpu.selection import Settle, above_prior
from robustpu.training import Problem, Scores, TrainingData
from robustpu.training.data import Floats
from robustpu.training.members import Inputs, Trained
from robustpu.validation.numbers import check_number
from robustpu.validation.parameters import flag, number, param, parameters, strategy

# Rows are scored in parts of about this many numbers.
SCORE = 1 << 22
# Of a mapped file, labelled and unlabelled rows that the prior is estimated from.
PRIOR_ROWS = 50_000


@parameters
class NeuralPUClassifier(BasePUClassifier):
    """Base of the classifiers that train networks, in fleets; a method fills in ``train``.

    Parameters
    ----------
    module
        ``"mlp"`` (one hidden layer of 100), ``"linear"``, ``"all_conv"`` (images), or a callable
        from the shape of a row to a ``torch.nn.Module`` that returns one logit a row.
    standardize
        Whether to give each column of a table mean 0 and deviation 1.
    mirror
        Whether to show half of the images mirrored, others in each epoch: for photographs, not
        for digits.
    epochs, batch_size, lr, weight_decay, warmup_epochs
        Of the training by Adam. In the first ``warmup_epochs`` the learning rate rises to ``lr``.
    validation_fraction
        Share of the positives and of the unlabelled rows that each network holds out, to choose
        the epoch by; 0 keeps the last epoch.
    patience
        Epochs without a better score after which to stop; None never stops early.
    n_members
        Networks to train together, with different seeds and held-out rows. Their probabilities
        are averaged, and they choose their epoch together, by their mean score.
    device
        ``"auto"``, ``"cpu"``, ``"cuda"``...
    verbose
        1 shows a progress bar.

    Attributes
    ----------
    selection_
        What chose the epoch: ``"pu"`` (held-out rows without negatives), ``"oracle"`` (the
        ``eval_set``) or ``"none"``.
    history_
        One dictionary a member and epoch, with its ``score``.
    member_scores_, kept_
        Score of each member on its held-out rows, and which members did not diverge.
    best_epoch_
        The epoch that was selected, of each of these.
    """

    module: str | ModuleFactory = param("mlp", strategy(MODULES), fleet=True)
    standardize: bool = param(True, flag)
    mirror: bool = param(False, flag, fleet=True)
    epochs: int = param(100, number(least=1, whole=True), fleet=True)
    batch_size: int = param(64, number(least=1, whole=True), fleet=True)
    lr: float = param(1e-3, number(above=0))
    weight_decay: float = param(0.0, number(least=0))
    warmup_epochs: int = param(0, number(least=0, whole=True))
    patience: int | None = param(None, number(least=1, whole=True, optional=True))
    n_members: int = param(1, number(least=1, whole=True))
    device: str = param("auto")
    verbose: int = param(0)

    dtype = torch.float32
    # Name of the fitted attribute that holds the selected epochs.
    best_name = "best_epoch_"
    # Time of an epoch, about, in epochs of PNClassifier: for estimates before a run.
    epoch_cost = 1
    _causes = (
        "Common causes are a wrong prior, unscaled inputs (standardize=True), the sigmoid "
        "surrogate (take 'logistic'), or too few epochs."
    )

    # What a method provides.

    @classmethod
    @abstractmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        """Train the members of the fleet; ``settings[i]`` holds the parameters of member i.

        At the end all members are in the fleet, in the states that ``best`` of the course names.
        """

    @property
    def planned_epochs(self) -> int:
        """Epochs of one member if nothing stops it early."""
        return self.epochs

    def share_to_minimize(self) -> float:
        """Share of positives in the population whose risk is minimised, and scored on."""
        return float(self.population_prior_)

    def decision(self) -> Settle | None:
        """Return what turns logits into predictions when epochs or rounds are compared."""
        return above_prior if self.threshold == "prior" else None

    def describe_fit(self, logit: Tensor, data: TrainingData, kept: Sequence[Trained]) -> None:
        """Add fitted attributes; ``logit`` is (kept members, rows of fit)."""

    def member_probability(self, logit: Tensor) -> Floats:
        """Probability of a positive by each of the kept members, (members, rows)."""
        probability: Floats = torch.sigmoid(logit.double()).cpu().numpy()
        return probability

    # The steps of a fit.

    def check_data(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        eval_set: tuple[ArrayLike, ArrayLike] | None,
    ) -> TrainingData:
        data = check_training_data(self, X, y, sample_weight, eval_set)
        check_images(self.mirror, self.input_shape_)
        return data

    @staticmethod
    def scale_weight(weight: Floats) -> Floats:
        # Only ratios count; single precision could not hold every scale.
        weight = weight / weight.max()
        scaled: Floats = weight / weight.mean()
        return scaled

    def n_seeds(self, data: TrainingData) -> int:
        return self.n_members

    @property
    def inputs_key(self) -> tuple[Any, ...]:
        """Estimators that agree in it accept, and make inputs of, the same rows alike."""
        return (self.standardize, self.mirror, self.device, type(self).dtype)

    def inputs_of(self, data: TrainingData) -> Inputs:
        """Standardise all rows and move them to the device."""
        table = data.X
        edges = edges_of(self, table)
        is_scaled = self.standardize and table.ndim == 2
        self.input_scale_ = scale_of(table, edges) if is_scaled else None
        x = self._tensor(table, self.dtype, edges)
        return Inputs(x, None if data.X_eval is None else self._tensor(data.X_eval, self.dtype))

    def prior_sample(self, data: TrainingData, inputs: Inputs, seed: int) -> Sample:
        """Rows with non-zero sample weight to estimate the prior from; of a mapped file, some."""
        x, is_positive, weight, outcome = inputs.x, data.is_positive, data.weight, data.outcome
        rows = np.flatnonzero(data.weight > 0)
        if isinstance(x, Mapped):
            rows = rows[some_of_each(is_positive[rows], (PRIOR_ROWS, PRIOR_ROWS), seed)]
        if len(rows) < len(x):
            x = x.take(rows) if isinstance(x, Mapped) else x[rows]
            is_positive, weight = is_positive[rows], weight[rows]
            outcome = None if outcome is None else outcome[rows]
        return Sample(x, is_positive, self.module, seed, self.prior, weight, outcome)

    def fit_data(self, problem: Problem) -> Scores:
        """Keep the members that were trained and did not diverge, and score the training rows."""
        data, inputs, trained = problem.data, problem.inputs, problem.trained
        assert inputs is not None
        self.selection_ = "pu" if data.truth is None else "oracle"
        if trained[0].score is None:
            self.selection_ = "none"
        self.history_ = [
            {"member": place, **entry}
            for place, member in enumerate(trained)
            for entry in member.history
        ]
        scores = [np.nan if member.score is None else member.score for member in trained]
        self.member_scores_ = np.array(scores)
        finite = [place for place, member in enumerate(trained) if member.is_finite()]
        if not finite:
            raise ValueError(
                f"training diverged: all {len(trained)} networks have infinite weights or logits. "
                f"Lower lr, which is {self.lr}."
            )
        self.kept_ = np.array(finite)
        kept = [trained[place] for place in finite]
        setattr(self, self.best_name, np.array([member.iteration for member in kept]))
        self.network_ = kept[0].network
        self.state_ = State.join([member.state for member in kept])
        dtype = self.network_.score_dtype
        if inputs.exact is None or inputs.exact.dtype != dtype:
            inputs.exact = self._tensor(data.X, dtype)
        logit = self._member_logits(inputs.exact)
        self.describe_fit(logit, data, kept)
        each = self.member_probability(logit)
        return Scores(each.mean(0), _mean_unseen(each, [member.held_out for member in kept]))

    # Prediction.

    def predict_rows(self, X: ArrayLike) -> Floats:
        x = self._tensor(check_table(self, X), self.network_.score_dtype)
        probability: Floats = self.member_probability(self._member_logits(x)).mean(0)
        return probability

    def to_torch(self, member: int = 0) -> nn.Module:
        """Return one of the averaged networks as a torch module of its own, on the CPU.

        It takes rows as ``fit`` does, scaled or not, and returns logits of the positive class.

        Parameters
        ----------
        member
            Place among ``kept_``.
        """
        check_is_fitted(self)
        check_number("member", member, least=0, below=len(self.kept_), whole=True)
        module: nn.Module = self.network_.write(self.state_, member).eval()
        if self.input_scale_ is None:
            return module
        mean, scale = map(torch.from_numpy, self.input_scale_)
        return nn.Sequential(Standardize(mean, scale), module).eval()

    def _tensor(
        self, X: NDArray[Any], dtype: torch.dtype, edges: NDArray[Any] | None = None
    ) -> Pool:
        """Standardise and move to the device; rows of a mapped file are read when wanted.

        ``edges`` are the least and largest rows of a mapped table, if they are known.
        """
        kind = np.float32 if dtype == torch.float32 else np.float64
        device = device_of(self.device)
        if is_mapped(X):
            edges = edges_of(self, X) if edges is None else edges
            assert edges is not None
            # Both steps keep the order of numbers: if the ends are finite, all are.
            _refuse_infinite(inputs_of(edges, self.input_scale_, kind))
            return Mapped([Part(X, self.input_scale_)], dtype, device)
        x = _inputs(X, self.input_scale_, kind)
        _refuse_infinite(x)
        return torch.from_numpy(x).to(device)

    def _member_logits(self, x: Pool) -> Tensor:
        """Logits (kept members, rows) of inputs in the precision of predictions."""
        state = self.state_.to(x.device, x.dtype)
        members = len(state.flat)
        wide = max(1, SCORE // (members * max(100, math.prod(x.shape[1:]))))
        # In one piece: many small ones would keep the memory between them from being freed.
        logit, start = x.new_empty((members, len(x))), 0
        with torch.no_grad():
            for part in slices(x, wide):
                stop = start + len(part)
                every = part.expand(members, *part.shape)
                logit[:, start:stop] = self.network_.logits(state, every)
                start = stop
        return logit


def _inputs(X: NDArray[Any], scale: Scale | None, kind: type) -> NDArray[Any]:
    """Inputs of all rows, without a second copy in double precision."""
    if scale is None:
        return inputs_of(X, None, kind)
    x: NDArray[Any] = np.empty(X.shape, kind)
    for block in blocks(X):
        x[block] = inputs_of(X[block], scale, kind)
    return x


def _refuse_infinite(x: NDArray[Any]) -> None:
    if not np.isfinite(x).all():
        raise ValueError(
            "X holds numbers that single precision cannot hold; give standardize=True, or scale "
            "them."
        )


def _mean_unseen(
    each: NDArray[np.float64], held_out: Sequence[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Mean probability by the members that did not train on the row, (rows,); NaN if all did."""
    total, count = np.zeros((2, each.shape[1]))
    for probability, rows in zip(each, held_out, strict=True):
        total[rows] += probability[rows]
        count[rows] += 1
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def device_of(device: str) -> torch.device:
    """Find the device of a name; ``"auto"`` is the GPU if there is one.

    Examples
    --------
    >>> device_of("cpu")
    device(type='cpu')
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(
            f"device must be 'auto' or one that torch has; {device!r}: {error}"
        ) from None
