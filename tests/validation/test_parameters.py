"""Parameters that are declared with their checks."""

import inspect
import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from robustpu import all_methods
from robustpu.validation.parameters import (
    accepted_by,
    check_parameters,
    flag,
    fleet_parameters,
    instance_of,
    n_jobs,
    number,
    one_of,
    param,
    parameters,
    strategy,
)


@parameters
class Base(BaseEstimator):
    lr: float = param(0.1, number(above=0))
    epochs: int = param(3, number(least=1, whole=True), fleet=True)
    note: object = param(None)


@parameters
class Learner(Base):
    estimator: object = param(None, positional=True)
    lr: float = param(0.2, number(above=0, most=1), fleet=True)
    mirror: bool = param(False, flag)

    def check_combination(self):
        if self.mirror and self.epochs > 5:
            raise ValueError("mirrored epochs are long")


class TestDeclaration:
    def test_the_constructor_is_that_of_scikit_learn(self):
        model = Learner("tree", epochs=4)
        assert model.get_params() == {
            "estimator": "tree", "lr": 0.2, "epochs": 4, "note": None, "mirror": False,
        }  # fmt: skip
        assert clone(model).get_params() == model.get_params()
        assert repr(model) == "Learner(epochs=4, estimator='tree')"
        assert model != clone(model)

    def test_all_but_positional_ones_need_their_name(self):
        kinds = {p.name: p.kind for p in inspect.signature(Learner).parameters.values()}
        assert kinds.pop("estimator") is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY}

    def test_fleet_parameters_are_inherited_and_may_be_declared_anew(self):
        assert fleet_parameters(Base) == ("epochs",)
        assert set(fleet_parameters(Learner)) == {"epochs", "lr"}

    @pytest.mark.parametrize("kind", all_methods().values())
    def test_every_default_is_allowed(self, kind):
        check_parameters(kind())


class TestChecks:
    def test_a_constructor_checks_nothing(self):
        assert Learner(lr=-1).lr == -1

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"lr": 0}, "lr must be a number above 0 and at most 1; it is 0."),
            ({"lr": 2}, "lr must be a number above 0 and at most 1; it is 2."),
            ({"epochs": 0}, "epochs must be a whole number at least 1; it is 0."),
            ({"mirror": 1}, "mirror must be True or False; it is 1."),
            ({"mirror": True, "epochs": 9}, "mirrored epochs are long"),
            # Each parameter alone comes first.
            ({"mirror": True, "epochs": 9, "lr": 0}, "lr must be"),
        ],
    )
    def test_what_is_refused(self, given, message):
        with pytest.raises(ValueError, match=f"^{message}"):
            check_parameters(Learner(**given))

    def test_a_subclass_may_allow_more_or_less(self):
        check_parameters(Base(lr=2))

    def test_what_has_no_check_may_be_anything(self):
        check_parameters(Base(note=np.ones(3)))
        check_parameters(Learner(object()))


def allows(check, value):
    try:
        check("name", value)
    except ValueError as error:
        assert str(error).startswith(("name must", "unknown name"))  # noqa: PT017
        return False
    return True


class TestKinds:
    def test_number(self):
        check = number(least=0, below=1)
        assert [allows(check, value) for value in (0, 0.5, 1, None, True, math.nan, "0")] == [
            True, True, False, False, False, False, False,
        ]  # fmt: skip

    def test_flag(self):
        assert all(allows(flag, value) for value in (True, False, np.True_))
        assert not any(allows(flag, value) for value in (0, 1, None, "yes"))

    def test_one_of(self):
        check = one_of(True, False, "auto")
        assert all(allows(check, value) for value in (True, False, "auto"))
        refused = ("never", None, 2, ["auto"], np.array([True, False]), math.nan)
        assert not any(allows(check, value) for value in refused)
        with pytest.raises(ValueError, match=r"^x must be True, False or 'auto'; it is 3\.$"):
            check("x", 3)
        with pytest.raises(ValueError, match=r"it is 'atuo': did you mean 'auto'\?$"):
            check("x", "atuo")

    def test_strategy(self):
        check = strategy({"sine": math.sin})
        assert allows(check, "sine")
        assert allows(check, math.cos)
        assert not allows(check, "cosine")
        with pytest.raises(ValueError, match="unknown curve 'sinus': did you mean 'sine'"):
            check("curve", "sinus")

    def test_instance_of(self):
        check = instance_of(str, bytes, wanted="text or bytes")
        assert allows(check, "a")
        assert allows(check, b"a")
        assert not allows(check, None)
        assert allows(instance_of(str, wanted="text or None", optional=True), None)
        with pytest.raises(ValueError, match="x must be text or bytes; it is 3"):
            check("x", 3)

    def test_accepted_by(self):
        check = accepted_by(float)
        check("x", "1.5")
        with pytest.raises(ValueError, match="could not convert"):
            check("x", "one")

    def test_n_jobs(self):
        assert all(allows(n_jobs, value) for value in (None, 1, 8, -1, -2, np.int64(3)))
        assert not any(allows(n_jobs, value) for value in (0, 1.5, "all", True))
