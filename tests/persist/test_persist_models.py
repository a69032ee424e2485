"""A loaded model is the saved one: answers, parameters, attributes, all of it."""

import warnings

import pytest
from folders import METHODS, again, data, fitted, same


@pytest.mark.parametrize("name", METHODS)
class TestEveryMethod:
    def test_answers_as_before(self, name, tmp_path):
        model, pu = fitted(name), data()
        loaded = again(model, tmp_path)
        for ask in ("predict", "predict_proba", "decision_function"):
            assert same(getattr(model, ask)(pu.X_test), getattr(loaded, ask)(pu.X_test))
        assert all(map(same, model.suspects(9), loaded.suspects(9)))

    def test_has_every_attribute_as_before(self, name, tmp_path):
        model = fitted(name)
        loaded = again(model, tmp_path)
        assert vars(model).keys() == vars(loaded).keys()
        different = [
            name
            for name in vars(model)
            if name != "network_" and not same(vars(model)[name], vars(loaded)[name])
        ]
        assert not different

    def test_has_equal_parameters(self, name, tmp_path):
        model = fitted(name)
        loaded = again(model, tmp_path)
        assert repr(loaded) == repr(model)
        assert str(loaded.get_params()) == str(model.get_params())

    def test_saved_again_is_the_same_folder(self, name, tmp_path):
        loaded = again(fitted(name), tmp_path)
        loaded.save(tmp_path / "second")
        for file in (tmp_path / "model").iterdir():
            assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes()

    def test_can_be_fitted_again(self, name, tmp_path):
        pu = data()
        loaded = again(fitted(name), tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            refitted = loaded.fit(pu.X, pu.y)
        assert same(refitted.predict_proba(pu.X_test), fitted(name).predict_proba(pu.X_test))
