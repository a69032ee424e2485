"""The networks of :class:`robustpu.PUClassifier`, for images and its best effort, as data."""

from typing import Any, NamedTuple

from robustpu.curriculum import Curriculum
from robustpu.methods.nnpu import NNPUClassifier
from robustpu.methods.p3mix import P3MixCClassifier
from robustpu.methods.robust_pu import RobustPUClassifier
from robustpu.methods.voting import Named
from robustpu.pacing import Pacing

# Up to this many rows everything is done for every row; with more, each network has a better sample
# of its own, and there is less to gain from more networks, smaller steps or more epochs.
MANY = 10_000
# Robust-PU networks: 10 of each recipe, at least 3.
MOST_MEMBERS, LEAST_MEMBERS = 10, 3
# Epochs of a round, and of the pre-training; and the least of both, however many rows there are.
EPOCHS, PRETRAIN_EPOCHS = 10, 50
LEAST_EPOCHS, LEAST_PRETRAIN_EPOCHS = 2, 20
# P3Mix-C networks of images, at most and at least: fewer hold out too few rows in common.
MOST_P3MIX, LEAST_P3MIX = 10, 4
# Weight of the Robust-PU networks; the rest is for P3Mix-C.
WEIGHT_IMAGES = 1 / 5


class Recipe(NamedTuple):
    """Settings of a quarter of the Robust-PU networks. They differ so that their errors differ."""

    surrogate: str
    pretrain_decay: float
    lr: float
    weight_decay: float
    temperature: float
    start: float
    end: float
    t_grow: int


RECIPES = (
    Recipe("sigmoid", 1e-2, 1e-2, 1e-4, temperature=1.5, start=1.0, end=2.0, t_grow=5),
    Recipe("logistic", 1e-3, 1e-2, 1e-4, temperature=1.5, start=1.0, end=2.0, t_grow=5),
    Recipe("sigmoid", 1e-2, 1e-2, 0.0, temperature=1.0, start=0.5, end=1.0, t_grow=10),
    Recipe("logistic", 1e-2, 3e-3, 0.0, temperature=1.5, start=1.0, end=2.0, t_grow=10),
)


def linear(start: float, end: float, t_grow: int) -> Pacing:
    """Make a pacing that grows by equal steps."""
    return Pacing("linear", lambda0=start, beta=end, t_grow=t_grow)


def robust_pu(recipe: Recipe, n_members: int, n_rows: int, **given: Any) -> RobustPUClassifier:
    """Make the Robust-PU networks of one recipe."""
    share = min(1.0, MANY / max(n_rows, 1))
    batch_size = 64 if n_rows <= MANY else 256
    return RobustPUClassifier(
        pretrain=NNPUClassifier(
            surrogate=recipe.surrogate,
            epochs=max(LEAST_PRETRAIN_EPOCHS, round(share * PRETRAIN_EPOCHS)),
            batch_size=batch_size,
            weight_decay=recipe.pretrain_decay,
        ),
        curriculum=Curriculum(
            temperature_positive=recipe.temperature,
            temperature_unlabeled=1.0,
            pacing_positive=linear(recipe.start, recipe.end, recipe.t_grow),
            pacing_unlabeled=linear(0.3, 0.7, recipe.t_grow),
            balance=True,
            max_rounds=16,
        ),
        epochs=max(LEAST_EPOCHS, round(share * EPOCHS)),
        batch_size=batch_size,
        lr=recipe.lr,
        weight_decay=recipe.weight_decay,
        patience=8,
        n_members=n_members,
        **given,
    )


def networks(n_members: int, n_rows: int, **given: Any) -> Named:
    """Make Robust-PU networks of all recipes, equally many of each as far as that goes."""
    sizes = [len(range(place, n_members, len(RECIPES))) for place in range(len(RECIPES))]
    return [
        (f"robust-pu-{place}", robust_pu(recipe, size, n_rows, **given))
        for place, (recipe, size) in enumerate(zip(RECIPES, sizes, strict=True), start=1)
        if size
    ]


def p3mix(n_robust_pu: int, **given: Any) -> Named:
    """Make P3Mix-C networks of images: as many as there are of Robust-PU, at most ten."""
    if n_robust_pu < LEAST_P3MIX:
        return []
    networks = P3MixCClassifier(
        gamma=0.7,
        unlabeled_weight=0.5,
        weight_decay=1e-4,
        n_members=min(MOST_P3MIX, n_robust_pu),
        # It trains without the prior, and predicts positive too often where that is small.
        calibrate=True,
        **given,
    )
    return [("p3mix-c", networks)]


def n_networks(n_rows: int) -> int:
    """Give the number of Robust-PU networks: equally many of each recipe.

    Examples
    --------
    >>> n_networks(1_000), n_networks(100_000)
    (40, 12)
    """
    each = round(MOST_MEMBERS * MANY / max(n_rows, 1))
    return len(RECIPES) * min(MOST_MEMBERS, max(LEAST_MEMBERS, each))


def for_images(
    n_members: int | None, n_rows: int, threshold: float | str, **given: Any
) -> tuple[Named, list[float]]:
    """Make the networks for images, and the weight of each classifier: a fifth for Robust-PU."""
    count = n_members or n_networks(n_rows)
    # Rounds are compared as predictions will be made.
    at = "prior" if threshold == "prior" else 0.5
    robust, others = networks(count, n_rows, threshold=at, **given), p3mix(count, **given)
    share = WEIGHT_IMAGES if others else 1.0
    weights = [share * estimator.n_members / count for _, estimator in robust]
    return [*robust, *others], [*weights, *[1 - share for _ in others]]
