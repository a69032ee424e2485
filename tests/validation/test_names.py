import math

import pytest

from robustpu.validation.names import pick

TABLE = {"sine": math.sin, "cosine": math.cos}


def test_a_name_gives_its_function():
    assert pick("curve", "cosine", TABLE) is math.cos


def test_a_function_is_returned_as_it_is():
    assert pick("curve", math.tan, TABLE) is math.tan


@pytest.mark.parametrize("misspelt", ["cosin", "Cosine", "COSINE", "cossine"])
def test_a_close_name_is_suggested(misspelt):
    with pytest.raises(ValueError, match=rf"unknown curve '{misspelt}': did you mean 'cosine'\?"):
        pick("curve", misspelt, TABLE)


@pytest.mark.parametrize("value", ["xyz", "", None, 3, ["sine"]])
def test_anything_else_is_refused_with_the_names(value):
    with pytest.raises(ValueError, match="Give one of cosine, sine, or a function") as caught:
        pick("curve", value, TABLE)
    assert repr(value) in str(caught.value)
    assert "did you mean" not in str(caught.value)
