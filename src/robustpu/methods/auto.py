"""The classifier that we recommend: an ensemble for tables, and one for images."""

from collections.abc import Sequence

import numpy as np

from robustpu.base.arrays import check_images
from robustpu.methods import composition
from robustpu.methods.voting import Named, PUVotingClassifier
from robustpu.modules import MODULES, ModuleFactory
from robustpu.training import TrainingData
from robustpu.training.data import Mask
from robustpu.validation.parameters import flag, number, one_of, param, parameters, strategy


@parameters
class PUClassifier(PUVotingClassifier):
    """The default ensemble: Robust-PU networks with trees; of images, with P3Mix-C networks.

    Of a table the weights are a third each for 40 Robust-PU networks in four settings (fewer of
    more than 10,000 rows), PU extra-trees and bagged trees. Of images a fifth is for the Robust-PU
    networks, and four fifths for ten networks of P3Mix-C, with probabilities shifted to the prior;
    with fewer than four networks there is no P3Mix-C. The settings are data in
    ``robustpu.methods.composition``; what each part is worth: docs/default.md. Parameters not
    listed here are those of every classifier, see
    :class:`robustpu.base.classifier.BasePUClassifier`.

    Parameters
    ----------
    estimators, weights
        An ensemble of your choice in the place of the default, see
        :class:`robustpu.PUVotingClassifier`.
    calibrate
        By default ``"auto"``: probabilities whose mean is below nine tenths of the prior are
        shifted to it, as where few positives are labelled.
    n_members
        Number of Robust-PU networks; by default 40, and fewer of more than 10,000 rows.
    module
        Network, see :class:`robustpu.NNPUClassifier`: ``"mlp"`` for tables, ``"all_conv"`` for
        images, or a callable.
    mirror
        Whether to show half of the images mirrored: for photographs, not for digits.
    device
        ``"auto"``, ``"cpu"``, ``"cuda"``...

    Attributes
    ----------
    estimators_, named_estimators_, weights_
        The fitted classifiers, and their weights.

    Examples
    --------
    >>> from robustpu import PUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = PUClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.9
    True
    """

    calibrate: bool | str = param("auto", one_of(True, False, "auto"))
    n_members: int | None = param(None, number(least=1, whole=True, optional=True))
    module: str | ModuleFactory = param("mlp", strategy(MODULES))
    mirror: bool = param(False, flag)
    device: str = param("auto")

    def check_combination(self) -> None:
        super().check_combination()
        if self.estimators is None:
            return
        for name in ("n_members", "module", "mirror", "device"):
            if getattr(self, name) != getattr(PUClassifier, name):
                raise ValueError(
                    f"{name}= is for the default ensemble, and estimators= are given: set it there."
                )

    def _speak_for_each_other(self) -> Mask:
        if self.estimators is not None:
            return super()._speak_for_each_other()
        # Not P3Mix-C, whose networks hold out rows of another split.
        return np.arange(len(self.estimators_)) < len(self._committee())

    def compose(self, data: TrainingData) -> tuple[Named, Sequence[float] | None]:
        if self.estimators is not None:
            return self.estimators, self.weights
        check_images(self.mirror, data.X.shape[1:])
        count = self.n_members or composition.n_networks(len(data))
        shared = ("module", "mirror", "device", "validation_fraction")
        given = {name: getattr(self, name) for name in shared}
        # Rounds are compared as predictions will be made.
        threshold = "prior" if self.threshold == "prior" else 0.5
        networks = composition.networks(count, len(data), threshold=threshold, **given)
        if data.X.ndim == 2:
            n_positive = int((data.is_positive & (data.weight > 0)).sum())
            others, share = composition.trees(n_positive), composition.WEIGHT_TABLE
        else:
            others, share = composition.p3mix(count, **given), composition.WEIGHT_IMAGES
        share = share if others else 1.0
        weights = [share * estimator.n_members / count for _, estimator in networks]
        return [*networks, *others], [*weights, *[(1 - share) / len(others) for _ in others]]
