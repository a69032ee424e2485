"""Presets of Robust-PU, and the grid of the paper."""

import numpy as np
import pytest

from robustpu import NNPUClassifier, RobustPUClassifier
from robustpu.methods.presets import PAPER_GRID, PRESETS

# "Hyperparameter Setting" in the paper's experiments.
CHOICES = {
    "lr": {1e-2, 1e-3, 1e-4},
    "weight_decay": {0, 1e-4, 1e-2},
    "warmup_epochs": {0, 5, 10},
    "epochs": {10, 20, 50},
    "pacing_positive__beta": {1, 2, 5},
    "pacing_unlabeled__beta": {1, 2, 5},
    "pacing_positive__t_grow": {10, 15, 20},
    "pacing_unlabeled__t_grow": {10, 15, 20},
}
INTERVALS = {
    "temperature_positive": (0.2, 3.0),
    "temperature_unlabeled": (0.2, 3.0),
    "pacing_positive__lambda0": (0.1, 0.9),
    "pacing_unlabeled__lambda0": (0.1, 0.9),
}


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(1.2, 1, (60, 3)), rng.normal(-1.2, 1, (30, 3))])
    return X, (np.arange(90) < 30).astype(int)


class TestGrid:
    def test_is_the_paper_s(self):
        assert set(PAPER_GRID) == set(CHOICES) | set(INTERVALS)
        for name, values in CHOICES.items():
            assert set(PAPER_GRID[name]) == values
        for name, ends in INTERVALS.items():
            assert PAPER_GRID[name].support() == pytest.approx(ends)

    @pytest.mark.parametrize("preset", sorted(PRESETS))
    def test_is_usable_as_vary(self, preset):
        X, y = rows()
        model = RobustPUClassifier.from_preset(
            preset,
            prior=0.5,
            vary=PAPER_GRID,
            n_members=4,
            n_keep=2,
            max_rounds=1,
            pretrain=NNPUClassifier(epochs=3),
            threshold="prior",
            random_state=0,
        ).fit(X, y)
        assert len(model.kept_) == 2
        for entry in model.history_:
            if entry["round"]:
                assert 0.1 <= entry["threshold_unlabeled"] <= 0.9

    def test_names_are_parameters(self):
        nested = RobustPUClassifier.from_preset("paper").get_params(deep=True)
        assert set(PAPER_GRID) <= set(nested)


class TestPaper:
    def test_lies_in_the_grid(self):
        given = RobustPUClassifier.from_preset("paper").get_params(deep=True)
        for name, values in CHOICES.items():
            assert given[name] in values
        for name, (low, high) in INTERVALS.items():
            assert low <= given[name] <= high

    def test_is_the_paper_s_algorithm(self):
        model = RobustPUClassifier.from_preset("paper")
        before = model.pretrain
        assert isinstance(before, NNPUClassifier)
        assert (before.epochs, before.batch_size, before.surrogate) == (100, 64, "sigmoid")
        assert (model.epochs, model.batch_size, model.patience) == (20, 64, 5)
        assert (model.hardness, model.weighting, model.balance) == ("logistic", "welsch", False)
        assert model.n_members == 1
        assert not model.vary

    def test_fits(self):
        X, y = rows()
        model = RobustPUClassifier.from_preset(
            "paper", prior=0.5, max_rounds=2, epochs=2, threshold="prior", random_state=0
        )
        truth = np.arange(90) < 60
        assert model.fit(X, y).score(X, truth) > 0.8


class TestPresets:
    def test_default_is_the_constructor(self):
        given = RobustPUClassifier.from_preset("default")
        assert repr(given) == repr(RobustPUClassifier())

    def test_changes_come_last(self):
        model = RobustPUClassifier.from_preset("paper", epochs=50, prior=0.3, pretrain=None)
        assert (model.epochs, model.prior, model.pretrain) == (50, 0.3, None)
        assert model.patience == 5

    def test_each_call_makes_new_parts(self):
        one, two = (RobustPUClassifier.from_preset("paper") for _ in range(2))
        assert one.pretrain is not two.pretrain
        assert one.pacing_unlabeled is not two.pacing_unlabeled
        one.set_params(pretrain__lr=0.5)
        assert two.pretrain.lr != 0.5

    def test_a_subclass_gives_itself(self):
        class Own(RobustPUClassifier):
            pass

        assert type(Own.from_preset("paper")) is Own

    def test_unknown(self):
        with pytest.raises(ValueError, match="unknown preset 'papre': did you mean 'paper'"):
            RobustPUClassifier.from_preset("papre")
        with pytest.raises(TypeError, match="speed"):
            RobustPUClassifier.from_preset("paper", speed=3)
