"""Networks of the default for images, of few and of many rows."""

import pytest

from robustpu.methods import composition
from robustpu.methods.composition import RECIPES


@pytest.mark.parametrize(
    ("rows", "networks"),
    [(0, 40), (100, 40), (10_000, 40), (20_000, 20), (33_000, 12), (10**7, 12)],
)
def test_networks(rows, networks):
    assert composition.n_networks(rows) == networks


@pytest.mark.parametrize(
    ("rows", "epochs", "before", "batch"),
    [
        (100, 10, 50, 64),
        (10_000, 10, 50, 64),
        (20_000, 5, 25, 256),
        (50_000, 2, 20, 256),
        (10**7, 2, 20, 256),
    ],
)
def test_epochs_and_batches(rows, epochs, before, batch):
    for recipe in RECIPES:
        model = composition.robust_pu(recipe, 3, rows, device="cpu")
        assert (model.epochs, model.pretrain.epochs) == (epochs, before)
        assert model.batch_size == model.pretrain.batch_size == batch
        assert (model.n_members, model.device) == (3, "cpu")


def test_recipes_differ():
    models = [composition.robust_pu(recipe, 1, 100) for recipe in RECIPES]
    assert len({repr(model) for model in models}) == len(RECIPES) == 4
    for model, recipe in zip(models, RECIPES, strict=True):
        curriculum = model.curriculum
        assert (model.lr, model.weight_decay) == (recipe.lr, recipe.weight_decay)
        assert model.pretrain.surrogate == recipe.surrogate
        assert curriculum.temperature == (recipe.temperature, 1.0)
        assert curriculum.threshold(0) == (recipe.start, 0.3)
        assert curriculum.threshold(15) == pytest.approx((recipe.end, 0.7))
        assert curriculum.balance


def test_p3mix_predicts_the_prior():
    [(_, model)] = composition.p3mix(7, mirror=True)
    assert (model.calibrate, model.n_members, model.mirror) == (True, 7, True)


@pytest.mark.parametrize("count", [4, 5, 12])
def test_for_images(count):
    given = {"module": "all_conv", "mirror": True, "device": "cpu", "validation_fraction": 0.2}
    named, weights = composition.for_images(count, 1_000, "top:3", **given)
    *robust, (name, mixed) = named
    assert name == "p3mix-c"
    assert mixed.n_members == min(10, count)
    assert sum(estimator.n_members for _, estimator in robust) == count
    assert {estimator.threshold for _, estimator in robust} == {0.5}
    sizes = [estimator.n_members / count / 5 for _, estimator in robust]
    assert weights == pytest.approx([*sizes, 4 / 5])
    for _, estimator in named:
        assert (estimator.mirror, estimator.validation_fraction) == (True, 0.2)


@pytest.mark.parametrize("count", [1, 3])
def test_a_few_networks_of_images_are_alone(count):
    given = {"module": "mlp", "mirror": False, "device": "cpu", "validation_fraction": 0.1}
    named, weights = composition.for_images(count, 1_000, "prior", **given)
    assert [name for name, _ in named] == [f"robust-pu-{k + 1}" for k in range(count)]
    assert weights == pytest.approx([1 / count] * count)
    assert {estimator.threshold for _, estimator in named} == {"prior"}
