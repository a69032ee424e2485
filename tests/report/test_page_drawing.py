import math
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustpu.charts.axes import apart, feet, figure, label
from robustpu.charts.wording import about, between, evenly, percent
from robustpu.report.bars import Bar, bars
from robustpu.report.histograms import Side, histograms
from robustpu.report.hits import curve, foremost, table
from robustpu.report.lines import Course, Level, lines
from robustpu.report.ranges import Range, dots, whisker
from robustpu.report.ridges import ridges
from robustpu.results import TopK


def places(picture, pattern):
    return [tuple(map(float, found.groups())) for found in re.finditer(pattern, picture)]


def dots_of(picture):
    return places(picture, r'<circle class="dot" cx="([\d.]+)" cy="([\d.]+)"')


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 100), max_size=6))
def test_texts_are_moved_apart_and_stay_above_the_lowest(heights):
    moved = apart(heights, 12, 100)
    order = sorted(heights, key=lambda name: heights[name])
    spots = [moved[name] for name in order]
    assert all(lower - upper >= 12 - 1e-9 for upper, lower in pairwise(spots))
    assert not spots or spots[-1] <= 100


def test_texts_with_room_stay_where_they_are():
    assert apart({"a": 10, "b": 30}) == {"a": 10, "b": 30}


def test_numbers_below_an_axis_never_touch():
    picture = feet(range(100), lambda value: 3 * value, 0, str)
    spots = [x for (x,) in places(picture, r'x="([\d.]+)"')]
    assert len(spots) > 5
    assert all(b - a >= 14 for a, b in pairwise(spots))


def test_a_label_is_escaped():
    assert "<b>" not in label("<b>", 0, 0)
    assert "<b>" not in figure("<b>", "<svg></svg>", "<b>")


def test_no_picture_no_card():
    assert figure("title", "", "words") == ""


def test_a_whisker_is_where_its_numbers_are():
    picture = whisker(0.5, 0.25, 0.75, blind=0)
    ((x, y),) = dots_of(picture)
    assert (x, y) == (150, 30)
    assert 'class="range" d="M78.0 30H222.0"' in picture
    assert 'class="blind" d="M6.0 ' in picture
    assert "range" not in whisker(0.5, None, 0.75)


def test_dots_have_one_axis_from_zero():
    picture = dots([Range("used", 0.02, 0.01, 0.04, strong=True), Range("km1", 0.04)], "prior")
    (a, _), (b, _) = dots_of(picture)
    ((zero,),) = places(picture, r'x="([\d.]+)" y="[\d.]+" text-anchor="middle">0\xa0%')
    assert b - zero == pytest.approx(2 * (a - zero), abs=0.2)
    ((start, width),) = places(picture, r'class="zone" x="([\d.]+)" y="\d+" width="([\d.]+)"')
    assert start - zero == pytest.approx((a - zero) / 2, abs=0.2)
    assert width == pytest.approx(1.5 * (a - zero), abs=0.3)
    assert dots([], "nothing") == ""


def test_the_curve_goes_through_its_points():
    found = [TopK(100, 80, 60, 90), TopK(200, 120, 100, 150), TopK(400, 150, 120, 180)]
    picture = curve(found, 160, 0.1)
    spots = dots_of(picture)
    (x1, y1), (x2, y2), (x3, y3) = spots
    assert x3 - x2 == pytest.approx(2 * (x2 - x1), abs=0.2)
    assert (y1 - y2) / (y2 - y3) == pytest.approx(40 / 30, abs=0.02)
    assert 'class="band"' in picture
    for words in ("all right", "picked at random", "all 160", "this list"):
        assert f">{words}<" in picture
    assert "80 of the first 100" in picture


def test_one_point_is_no_curve():
    assert curve([TopK(1, 1, 0, 1)], 5, 0.1) == ""


def test_the_table_prefers_round_lengths():
    ks = (1, 2, 5, 10, 15, 20, 30, 50, 70, 100)
    html = table([TopK(k, k / 2, 0, k) for k in ks])
    assert re.findall(r'scope="row">(\d+)<', html) == ["10", "20", "50", "100"]
    assert html.count("50\xa0%") == 4
    assert re.findall(r'scope="row">(\d+)<', table([TopK(3, 2, 1, 3)])) == ["3"]
    assert table([]) == ""


@pytest.mark.parametrize(("total", "k"), [(2000, 100), (60, 50), (3, 10)])
def test_the_headline_speaks_of_a_list_that_is_mostly_right(total, k):
    ks = (1, 5, 10, 20, 50, 100, 200)
    assert foremost([TopK(k, 0, 0, 0) for k in ks], total).k == k
    assert foremost([], total) is None


def bars_of(picture):
    found = re.findall(r'class="bar( pale)?" d="([^"]*)"', picture)
    return {bool(pale): path.count("M") for pale, path in found}


def test_bins_are_drawn_full_above_the_threshold():
    picture = histograms([0, 0.25, 0.5, 0.75, 1], [Side("x", "warm", [5, 4, 3, 0])], 0.5, "score")
    assert bars_of(picture) == {True: 2, False: 1}
    tops = [float(y) for y in re.findall(r"V([\d.]+)h", picture)]
    base = float(re.search(r"M[\d.]+ ([\d.]+)V", picture).group(1))
    assert [base - top for top in tops] == pytest.approx([82, 82 * 0.8, 82 * 0.6], abs=0.1)


def test_counts_that_differ_by_orders_have_a_logarithmic_scale():
    counts = [10_000, 100, 10, 1, 1]
    picture = histograms([0, 1, 2, 3, 4, 5], [Side("x", "cool", counts)], None, "score")
    tops = [float(y) for y in re.findall(r"V([\d.]+)h", picture)]
    # Two powers of ten are twice as high as one.
    assert tops[1] - tops[0] == pytest.approx(2 * (tops[2] - tops[1]), abs=0.31)
    assert tops[3] < float(re.search(r"M[\d.]+ ([\d.]+)V", picture).group(1)) - 2
    assert "10,000" in picture


def test_bins_that_do_not_fit_are_not_drawn():
    assert histograms([0, 1], [Side("x", "cool", [1, 2])], None, "score") == ""
    assert histograms([], [Side("x", "cool", [])], None, "score") == ""
    assert "no rows" in histograms([0, 1], [Side("x", "cool", [0])], None, "score")


def crests(picture):
    return [
        [tuple(map(float, point.split())) for point in path[1:].split("L")]
        for path in re.findall(r'class="crest" d="([^"]+)"', picture)
    ]


def test_a_ridge_is_the_root_of_the_share():
    picture = ridges([0, 0.5, 1], [1, 2], [[9, 1], [5, 5]], 2, name="x", kind="cool")
    first, second = crests(picture)
    base = 14 + 2.2 * 17
    high, low = base - first[1][1], base - first[2][1]
    assert high / low == pytest.approx(3, abs=0.05)
    assert base + 17 - second[1][1] == pytest.approx(high * math.sqrt(5 / 9), abs=0.2)
    assert picture.count("ridge best") == 1


def test_many_rounds_are_thinned_but_the_best_one_is_there():
    picture = ridges([0, 1], range(60), [[1]] * 60, 7, name="x", kind="cool")
    assert 10 < len(crests(picture)) < 20
    assert picture.count("ridge best") == 1


def test_rounds_without_weights_are_left_out():
    assert len(crests(ridges([0, 1], [0, 1], [[], [4]], None, name="x", kind="cool"))) == 1
    assert ridges([0, 1], [0, 1], [[], [0]], None, name="x", kind="cool") == ""


def test_lines_have_gaps_names_and_the_best_round():
    course = Course("rate", "warm", [None, 0.1, 0.3, 0.2])
    picture = lines([0, 1, 2, 3], [course], "title", Level("prior", 0.2, 0.1, 0.25), 2)
    spots = dots_of(picture)
    assert len(spots) == 3
    assert spots[0][1] - spots[2][1] == pytest.approx(spots[2][1] - spots[1][1], abs=0.2)
    ((best,),) = places(picture, r'class="blind" d="M([\d.]+) ')
    assert best == spots[1][0]
    assert ">prior<" in picture
    assert 'class="zone"' in picture
    assert lines([0, 1], [Course("x", "warm", [None, 1])], "title") == ""


def axis(picture):
    return re.findall(r'text-anchor="end">([^<]+)<', picture)


def test_numbers_of_one_axis_have_as_many_decimals():
    course = Course("score", "cool", [0.86, 0.9, 0.92])
    assert axis(lines([0, 1, 2], [course], "title"))[:4] == ["0.86", "0.88", "0.90", "0.92"]
    rate = Course("rate", "warm", [0, 0.01, 0.02])
    marks = axis(lines([0, 1, 2], [rate], "title", is_share=True))
    assert marks == ["0.0\xa0%", "0.5\xa0%", "1.0\xa0%", "1.5\xa0%", "2.0\xa0%"]
    assert [evenly([0, 20])(mark) for mark in (0, 20)] == ["0", "20"]


def test_lists_have_as_many_decimals_in_a_column():
    html = table([TopK(10, 9.96, 7, 10), TopK(20, 19.4, 14, 20), TopK(50, 46.2, 36, 50)])
    assert re.findall(r"<b>([^<]+)</b>", html) == ["10", "19", "46"]
    assert re.findall(r"<td>([\d.]+)\xa0%", html) == ["100", "97", "92"]
    few = table([TopK(10, 1.26, 0, 2), TopK(20, 1.5, 0.25, 3), TopK(50, 2, 1, 5)])
    assert re.findall(r"<b>([^<]+)</b>", few) == ["1.3", "1.5", "2.0"]
    assert re.findall(r"<td>([\d.]+ to [\d.]+)", few) == ["0.0 to 2.0", "0.2 to 3.0", "1.0 to 5.0"]
    assert re.findall(r"<td>([\d.]+)\xa0%", few) == ["12.6", "7.5", "4.0"]


def test_an_estimate_far_beyond_is_an_arrow_at_the_edge_and_does_not_stretch_the_axis():
    near = [Range("used", 0.15, 0.06, 0.24, strong=True), Range("km1", 0.13)]
    far = dots([*near, Range("en", 1.0)], "prior")
    assert dots_of(far)[:2] == dots_of(dots(near, "prior"))[:2]
    assert len(dots_of(far)) == 2
    ((arrow,),) = places(far, r'<path class="dot" d="M([\d.]+) ')
    assert arrow > max(x for x, _ in dots_of(far))
    assert "100\xa0%</text>" in far
    # Not so far: the axis reaches it.
    assert len(dots_of(dots([*near, Range("tice", 0.6)], "prior"))) == 3


def test_bars_are_as_long_as_their_values():
    picture = bars([Bar("a", 0.4), Bar("b", 0.2, 0.05), Bar("c", -1)], "title", 0.4)
    widths = [w for (w,) in places(picture, r'width="([\d.]+)"')]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.2)
    assert widths[2] == 0.8
    assert picture.count("whisker") == 1
    assert bars([], "title", 1) == ""


@given(st.floats(0, 1))
def test_a_share_in_percent_is_near_the_share(share):
    written = float(percent(share, sign=False))
    assert written == pytest.approx(100 * share, abs=0.5 if 0.09 < share < 0.91 else 0.051)


@given(st.floats(100, 1e12))
def test_about_has_two_digits_that_count(value):
    written = float(about(value).replace(",", ""))
    assert written == pytest.approx(value, rel=0.051)
    assert len(f"{written:.0f}".rstrip("0")) <= 2


def test_an_interval_that_is_not_known_is_empty():
    assert between(0.5, None, 1) == ""
