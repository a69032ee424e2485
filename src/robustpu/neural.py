"""What the methods that train networks share: arrays in, tensors inside, arrays out."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)
from torch import Tensor, nn

from robustpu import labels
from robustpu.base import BasePUClassifier, parameters
from robustpu.checks import check_number
from robustpu.fleet import Course, Fleet, Mapped, Part, Pool, State
from robustpu.fleet.pool import slices
from robustpu.modules import MODULES, ModuleFactory, Standardize, scale_of
from robustpu.naming import identity, pick
from robustpu.rows import Scale, blocks, extremes, inputs_of, is_mapped
from robustpu.selection import Settle, above_prior
from robustpu.sharing import Prepared, Trained
from robustpu.together import Job, check_vary, fit_together

# Rows are scored in parts of about this many numbers.
SCORE = 1 << 22


@parameters
class NeuralPUClassifier(BasePUClassifier):
    """Base of the classifiers that train networks, in fleets; a method fills in ``_train``."""

    module: str | ModuleFactory = "mlp"
    standardize: bool = True
    mirror: bool = False
    epochs: int = 100
    batch_size: int | None = 64
    lr: float | None = 1e-3
    weight_decay: float | None = 0.0
    warmup_epochs: int = 0
    patience: int | None = None
    n_members: int | None = 1
    n_keep: int | None = None
    vary: Mapping[str, Any] | None = None
    device: str = "auto"
    verbose: int = 0

    _dtype = torch.float32
    _causes = (
        "Common causes are a wrong prior, unscaled inputs (standardize=True), the sigmoid "
        "surrogate (take 'logistic'), or too few epochs."
    )

    # What a method provides.

    @classmethod
    @abstractmethod
    def _train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        """Train the members of the fleet; ``settings[i]`` holds the parameters of member i.

        At the end all members are in the fleet, in the states that the answer's ``best`` names.
        """

    def _fleet_key(self) -> tuple[Any, ...]:
        """What members of one fleet have in common; all other parameters may differ."""
        return (type(self), identity(self.module), self.mirror, self.epochs, self.batch_size)

    def _rates(self) -> tuple[Any, ...]:
        """Return the numbers of the optimiser."""
        return (self.lr, self.weight_decay, self.warmup_epochs)

    def _recipes(self, n_rows: int = 0) -> Sequence[Mapping[str, Any]]:
        """Return parameters for members to take turns with, in place of what was left open."""
        return ({},)

    def _size(self, n_rows: int) -> int:
        """Return how many members there are."""
        return self.n_members or 1

    def _planned_epochs(self) -> int:
        """Epochs of one member if nothing stops it early."""
        return self.epochs

    def _settle(self) -> Settle | None:
        """Return what makes the signs of logits answers, for the choice of an epoch or round."""
        return above_prior if self.threshold == "prior" else None

    # Fitting.

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        eval_set: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Fit to positives and unlabelled rows.

        Parameters
        ----------
        X
            Rows (n, d), or images (n, channels, height, width). A DataFrame of numbers is fine.
            A mapped file, as ``numpy.load(path, mmap_mode="r")`` gives it, is read as training
            goes, and never held.
        y
            Two labels (n,): labelled positive (by default the larger) and unlabelled.
        sample_weight
            Weight of each row in the risk, (n,).
        eval_set
            ``(X, y_true)`` with *true* labels, as the paper's validation set. It selects epochs or
            rounds by accuracy, and marks the model as ``selection_ == "oracle"``. Without it a
            share of the positives and of the unlabelled rows is held out, and no negative is used.
        """
        job = Job(self, X, y, eval_set, sample_weight)
        if not self.verbose:
            fit_together([job])
        else:
            from robustpu.progress import bar

            with bar(type(self).__name__) as progress:
                fit_together([job], progress)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        pick("module", self.module, MODULES)
        left_open = self._recipes()[0]
        check_number("epochs", self.epochs, least=1, whole=True, optional="epochs" in left_open)
        batch_is_open = "batch_size" in left_open
        check_number("batch_size", self.batch_size, least=1, whole=True, optional=batch_is_open)
        check_number("lr", self.lr, above=0, optional="lr" in left_open)
        decay_is_open = "weight_decay" in left_open
        check_number("weight_decay", self.weight_decay, least=0, optional=decay_is_open)
        check_number("warmup_epochs", self.warmup_epochs, least=0, whole=True)
        check_number("patience", self.patience, least=1, whole=True, optional=True)
        check_number("n_members", self.n_members, least=1, whole=True, optional=self._size(0) > 1)
        check_number("n_keep", self.n_keep, least=1, most=self._size(0), whole=True, optional=True)
        check_vary(self.vary)

    def _prepare(
        self,
        X: ArrayLike,
        y: ArrayLike,
        eval_set: tuple[ArrayLike, ArrayLike] | None,
        sample_weight: ArrayLike | None,
    ) -> Prepared:
        """Check the data and turn it into tensors on the device."""
        self._forget()
        labels.refuse_missing(y)
        table: NDArray[Any]
        table, y = validate_data(self, X, y, multi_output=False, **_how(X))
        edges = self._edges(table)
        self.classes_, is_positive = labels.encode(y, self.pos_label)
        self.input_shape_ = table.shape[1:]
        if self.mirror and table.ndim != 4:
            raise ValueError(
                f"mirror=True is for images, one row a (channels, height, width) array; a row here "
                f"has the shape {self.input_shape_}."
            )
        scales = self.standardize and table.ndim == 2
        self._scale = scale_of(table, edges) if scales else None
        weight = _check_sample_weight(
            sample_weight, table, dtype=np.float64, ensure_non_negative=True
        )
        labels.refuse_weightless(is_positive, weight)
        # Only ratios count; single precision could not hold every scale.
        weight = weight / weight.max()
        weight = weight / weight.mean()
        x_eval = truth = None
        if eval_set is not None:
            x_eval, truth = self._check_eval_set(eval_set)
        x = self._tensor(table, self._dtype, edges)
        return Prepared(table, x, is_positive, weight, x_eval, truth)

    def _check_eval_set(
        self, eval_set: tuple[ArrayLike, ArrayLike]
    ) -> tuple[Pool, NDArray[np.bool_]]:
        truth = self._truth_of(eval_set)
        return self._tensor(self._check_rows(eval_set[0]), self._dtype), truth

    def _check_rows(self, X: ArrayLike) -> NDArray[Any]:
        """Check rows to be scored against those of fit."""
        table: NDArray[Any] = validate_data(self, X, reset=False, **_how(X))
        if table.shape[1:] != self.input_shape_:
            raise ValueError(
                f"X has rows of shape {table.shape[1:]}, but {type(self).__name__} was fitted on "
                f"rows of shape {self.input_shape_}."
            )
        return table

    def _edges(self, X: NDArray[Any]) -> NDArray[Any] | None:
        """Least and largest rows of a mapped table, if all numbers are finite; None of others."""
        if not is_mapped(X):
            return None
        return check_array(  # type: ignore[no-any-return]
            extremes(X), allow_nd=True, ensure_2d=False, estimator=self, input_name="X"
        )

    def _tensor(
        self, X: NDArray[Any], dtype: torch.dtype, edges: NDArray[Any] | None = None
    ) -> Pool:
        """Standardise and move to the device; of a mapped table, when rows are wanted.

        ``edges`` are the least and largest rows of a mapped table, if they are known.
        """
        kind = np.float32 if dtype == torch.float32 else np.float64
        device = device_of(self.device)
        if is_mapped(X):
            edges = self._edges(X) if edges is None else edges
            assert edges is not None
            # Both steps keep the order of numbers: if the ends are finite, all are.
            _refuse_infinite(inputs_of(edges, self._scale, kind))
            return Mapped([Part(X, self._scale)], dtype, device)
        x = _inputs(X, self._scale, kind)
        _refuse_infinite(x)
        return torch.from_numpy(x).to(device)

    def _recall(self, learnt: Mapping[str, Any]) -> None:
        """Take what another estimator has learnt about the same data before it was trained."""
        self._forget()
        for name, value in learnt.items():
            setattr(self, name, value)

    def _adopt(
        self,
        trained: Sequence[Trained],
        settings: Sequence[Any],
        data: Prepared,
        priors: tuple[float, float],
    ) -> None:
        """Keep the best members, and note everything that was learnt."""
        self.prior_, self.population_prior_ = priors
        self.selection_ = _selection(trained, data)
        self.history_ = [
            {"member": member, **entry}
            for member, own in enumerate(trained)
            for entry in own.history
        ]
        self.member_scores_ = np.array(
            [np.nan if own.score is None else own.score for own in trained]
        )
        sound = [place for place, own in enumerate(trained) if own.is_sound()]
        if not sound:
            raise ValueError(
                f"training diverged: all {len(trained)} networks have infinite weights or "
                f"answers. Lower lr, which is {self.lr}."
            )
        # Stable, so that ties and unscored members keep their order.
        ranked = np.argsort(-np.nan_to_num(self.member_scores_[sound]), kind="stable")
        self.kept_ = np.sort(np.array(sound)[ranked[: self.n_keep]])
        kept = [trained[place] for place in self.kept_]
        self.turns_ = np.array([own.turn for own in kept])
        self.network_ = kept[0].network
        self.state_ = State.join([own.state for own in kept]).to(torch.device("cpu"))
        dtype = self.network_.score_dtype
        if data.exact is None or data.exact.dtype != dtype:
            data.exact = self._tensor(data.table, dtype)
        logit = self._member_logits(data.exact)
        self.is_positive_ = data.is_positive
        own = [settings[place] for place in self.kept_]
        self._note(logit, data.weight, kept, own)
        each = self._member_probability(logit)
        unseen = _mean_unseen(each, [own.held_out for own in kept])
        answers = self._join(each.mean(0), unseen, data, trained[0].seed)
        self._conclude(data.is_positive, data.weight, *answers, depth=4)

    def _note(
        self,
        logit: Tensor,
        sample_weight: NDArray[np.float64],
        kept: Sequence[Trained],
        settings: Sequence[Any],
    ) -> None:
        """Let a method add fitted attributes; ``logit`` is (kept members, rows of fit)."""

    def _join(
        self,
        probability: NDArray[np.float64],
        unseen: NDArray[np.float64],
        data: Prepared,
        seed: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Let a method join other answers to those of the networks, on the training rows."""
        return probability, unseen

    def _member_probability(self, logit: Tensor) -> NDArray[np.float64]:
        """Probability of a positive by each of the kept members, (members, rows)."""
        answer: NDArray[np.float64] = torch.sigmoid(logit.double()).cpu().numpy()
        return answer

    def _positive_probability(self, X: ArrayLike) -> NDArray[np.float64]:
        x = self._tensor(self._check_rows(X), self.network_.score_dtype)
        answer: NDArray[np.float64] = self._member_probability(self._member_logits(x)).mean(0)
        return answer

    def to_torch(self, member: int = 0) -> nn.Module:
        """Return one of the averaged networks as a torch module of its own, on the CPU.

        It takes rows as ``fit`` does, scaled or not, and answers logits of the positive class.

        Parameters
        ----------
        member
            Place among ``kept_``.
        """
        check_is_fitted(self)
        check_number("member", member, least=0, below=len(self.kept_), whole=True)
        module: nn.Module = self.network_.write(self.state_, member).eval()
        if self._scale is None:
            return module
        mean, scale = map(torch.from_numpy, self._scale)
        return nn.Sequential(Standardize(mean, scale), module).eval()

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


def _how(X: Any) -> dict[str, Any]:
    """How scikit-learn is to check rows; of a mapped file it would make copies to see it finite."""
    return {"dtype": "numeric", "allow_nd": True, "ensure_all_finite": not is_mapped(X)}


def _inputs(X: NDArray[Any], scale: Scale | None, kind: type) -> NDArray[Any]:
    """Inputs of all rows, without a second copy in double precision."""
    if scale is None:
        return inputs_of(X, None, kind)
    x: NDArray[Any] = np.empty(X.shape, kind)
    for own in blocks(X):
        x[own] = inputs_of(X[own], scale, kind)
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
    """Mean of the answers of the members that have not seen the row, (rows,); NaN if all have."""
    total, count = np.zeros((2, each.shape[1]))
    for answer, rows in zip(each, held_out, strict=True):
        total[rows] += answer[rows]
        count[rows] += 1
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _selection(trained: Sequence[Trained], data: Prepared) -> str:
    if trained[0].score is None:
        return "none"
    return "pu" if data.truth is None else "oracle"


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
