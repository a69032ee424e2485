"""What is in the default ensemble, for few and for many rows."""

import numpy as np
import pytest

from robustpu import datasets, make_pu
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


@pytest.mark.parametrize(("positives", "share"), [(60, 40 / 60), (20, 0.8)])
def test_trees_of_many_rows_see_some_of_them(monkeypatch, positives, share):
    monkeypatch.setattr(composition, "MANY", 40)
    (_, extra), (_, bagged) = composition.trees(positives)
    assert extra.max_samples == 40
    assert bagged.max_samples == pytest.approx(share)


@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_bagged_trees_of_few_labels_are_split(count):
    table = datasets.load("breast_cancer")
    pu = make_pu(
        table.data, table.target, n_positive=count, n_unlabeled=200, prior=0.3, random_state=0
    )
    model = dict(composition.trees(count))["bagged-trees"].set_params(prior=0.3, random_state=0)
    assert np.ptp(model.fit(pu.X, pu.y).probability_) > 0.1


def test_p3mix_predicts_the_prior():
    [(_, model)] = composition.p3mix(7, mirror=True)
    assert (model.calibrate, model.n_members, model.mirror) == (True, 7, True)
