import re

import pytest

from robustpu.report.plot import box, interval, path, plot, rule, words


def test_pictures_are_stretched_and_texts_are_not():
    picture = plot(
        40, "A title", words("5 %", 50, 10, "middle"), path([(0, 0), (100, 40)], 40, "line")
    )
    assert picture.startswith('<svg class="plot" height="40" role="img" aria-label="A title">')
    # Only the picture of a path has a view box; texts are never in it.
    inner = re.search(r"<svg viewBox.*?</svg>", picture).group(0)
    assert 'preserveAspectRatio="none"' in inner
    assert "<text" not in inner
    assert '<text x="50%" y="10" text-anchor="middle">5 %</text>' in picture


def test_nothing_has_a_size_below_zero():
    assert 'width="0%"' in box(3, 4, -1, 5, "bar")
    assert 'height="0"' in box(3, 4, 1, -5, "bar")


def test_an_interval_is_where_its_numbers_are():
    picture = interval(0.5, 0.25, 0.75, chance=0.1)
    assert 'cx="50%"' in picture
    assert str(rule(25, 8, 75, 8, "range")) in picture
    assert str(rule(10, 1, 10, 15, "chance")) in picture
    assert "range" not in interval(0.5, None, 0.75)


def test_names_are_escaped():
    assert plot(1, '"><b>').count("<") == 2
    assert words("<b>", 0, 0).count("<") == 2


@pytest.mark.parametrize("share", [0.12345, 1 / 3])
def test_places_are_in_hundredths_of_a_percent(share):
    assert re.search(r'cx="([\d.]+)%"', interval(share, None, None)).group(
        1
    ) == f"{100 * share:.2f}".rstrip("0")
