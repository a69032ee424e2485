import math
from fractions import Fraction

import numpy as np
import pytest

from robustpu.validation.numbers import check_number


@pytest.mark.parametrize(
    ("value", "bounds"),
    [
        (1, {}),
        (-2.5, {}),
        (0, {"least": 0}),
        (1e-9, {"above": 0}),
        (1, {"most": 1}),
        (0.999, {"below": 1}),
        (0.5, {"above": 0, "below": 1}),
        (3, {"least": 1, "whole": True}),
        (np.int64(3), {"least": 1, "whole": True}),
        (np.float32(0.5), {"above": 0, "below": 1}),
        (Fraction(1, 2), {"above": 0, "below": 1}),
        (None, {"optional": True, "least": 1, "whole": True}),
        (2, {"optional": True, "least": 1, "whole": True}),
    ],
)
def test_what_fits_passes(value, bounds):
    check_number("lr", value, **bounds)


@pytest.mark.parametrize(
    ("value", "bounds", "wanted"),
    [
        (-1e-9, {"least": 0}, "a number at least 0"),
        (0, {"above": 0}, "a number above 0"),
        (1.001, {"most": 1}, "a number at most 1"),
        (1, {"below": 1}, "a number below 1"),
        (0, {"above": 0, "below": 1}, "a number above 0 and below 1"),
        (2, {"least": 0, "most": 1}, "a number at least 0 and at most 1"),
        (0, {"least": 1, "whole": True}, "a whole number at least 1"),
        (2.0, {"least": 1, "whole": True}, "a whole number at least 1"),
        (np.float64(2), {"whole": True}, "a whole number"),
        (math.nan, {}, "a number"),
        (math.inf, {}, "a number"),
        (-math.inf, {"below": 1}, "a number below 1"),
        (True, {"least": 0}, "a number at least 0"),
        (np.True_, {"whole": True}, "a whole number"),
        ("1", {"least": 0}, "a number at least 0"),
        (None, {"least": 0}, "a number at least 0"),
        ([1], {"least": 0}, "a number at least 0"),
        (np.array([1, 2]), {"least": 0}, "a number at least 0"),
        (1j, {}, "a number"),
        (0, {"optional": True, "least": 1, "whole": True}, "a whole number at least 1 or None"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_was_wanted_and_what_came(value, bounds, wanted):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the whole message is compared
        check_number("lr", value, **bounds)
    assert str(refusal.value) == f"lr must be {wanted}; it is {value!r}."
