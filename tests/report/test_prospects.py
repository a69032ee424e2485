"""What the list will bring: by its length, by the share of positives, and by a test."""

import re

import pytest
from claims import page_of, recovery, sensitivity, stored

from markup import Reader
from robustpu.report.prospects import foremost
from robustpu.report.trust import reach
from robustpu.results import Recovery, TopK


def section(html, name="prospects"):
    (inside,) = re.findall(rf'<section id="{name}">.*?</section>', html, re.DOTALL)
    return inside


def cells(html, kind):
    found = re.search(rf'<table class="{kind}">.*?</table>', html, re.DOTALL)
    rows = re.findall(r"<tr>.*?</tr>", found.group(0), re.DOTALL) if found else []
    return [
        [
            re.sub("<[^>]*>", "", cell).replace("\xa0", " ")
            for cell in re.findall(r"<t[hd].*?</t[hd]>", row)
        ]
        for row in rows
    ]


@pytest.mark.parametrize(("total", "k"), [(2000, 100), (60, 50), (3, 10)])
def test_the_headline_speaks_of_a_list_that_is_mostly_right(total, k):
    ks = (1, 5, 10, 20, 50, 100, 200)
    assert foremost([TopK(k, 0, 0, 0) for k in ks], total).k == k
    assert foremost([], total) is None


def test_half_of_the_positives_are_reached_between_two_points():
    points = [Recovery(0.02, 0.2, 0, 1), Recovery(0.06, 0.6, 0, 1), Recovery(1, 1, 1, 1)]
    assert reach(points, 0.5) == pytest.approx(0.05)
    assert reach(points, 0.1) == pytest.approx(0.01)
    assert reach([], 0.5) is None


def test_a_known_share_has_lists_with_intervals():
    head, *body = cells(section(page_of()), "hits")
    assert head[:3] == ["of the first", "positive", "best guess"]
    assert [row[0] for row in body] == ["10", "20", "50", "100", "200", "500", "1,000", "2,000"]
    assert body[3][:3] == ["100", "83 to 100", "96"]


def test_few_positives_are_counted_in_tenths():
    few = [{"k": k, "expected": e, "low": 0, "high": 2 * e} for k, e in ((10, 1.26), (20, 1.5))]
    made = stored(3, 3, top=few, sensitivity=[])
    assert [row[1:3] for row in cells(page_of(made), "hits")[1:]] == [
        ["0.0 to 2.5", "1.3"],
        ["0.0 to 3.0", "1.5"],
    ]


@pytest.fixture(scope="module")
def unknown():
    """The page of rows that do not tell the share of positives."""
    made = stored()
    made["prior"] |= {"low": 0.004, "high": 0.2, "is_known": False}
    made["sensitivity"] = sensitivity((0.005, 0.01, 0.02, 0.05, 0.1))
    return page_of(made)


class TestUnknownShare:
    def test_the_headline_promises_no_number(self, unknown):
        words = Reader(unknown).words
        assert (
            "Start with these 100 rows If 0.5 % of the unlabelled rows are positive, about 23"
            in words
        )
        assert "of these 100 are; if 2 %, about 91." in words
        assert "likely positive If" not in words
        assert "2,100" not in words
        assert "Which share is right, these rows do not tell ( more shares" in words

    def test_each_share_has_its_line(self, unknown):
        head, *body = cells(section(unknown), "shares")
        assert head == [
            "if this share",
            "positives",
            *(f"of the first {k}" for k in (20, 50, 100, 200)),
        ]
        assert [row[0] for row in body] == ["0.5 %", "1 %", "2 %", "5 %", "10 %"]
        # 99,688 rows; 96 of the first 100 are by 2.1 %.
        assert body[0][1] == "498"
        assert body[0][4] == "23 20 to 24"

    def test_no_share_is_called_right(self, unknown):
        words = Reader(unknown).words
        assert "taken" not in words
        assert "2.1 % was assumed to turn scores into probabilities" in words
        assert 'class="hits"' not in unknown
        assert "If the share were another" not in words


def test_old_results_without_intervals_have_none():
    made = stored(3, 3)
    made["prior"] |= {"is_known": False}
    for point in made["sensitivity"]:
        point |= {"low": [], "high": []}
    assert cells(page_of(made), "shares")[1][4] == "23"


def test_checked_rows_tell_of_the_list_where_the_share_is_not_known():
    made = stored(3, 3)
    made["prior"] |= {"is_known": False}
    made["data"] |= {"n_checked": 30}
    made["sensitivity"] = []
    html = page_of(made)
    words = Reader(html).words
    assert "likely positive The best guess is" in words
    assert "of these 100, with the help of 30 checked rows." in words
    assert "In all, about" not in words
    assert 'class="hits"' in html


def test_the_test_with_hidden_positives_is_a_curve():
    html = section(page_of())
    assert "312 known positives were hidden" in html
    assert "half of them in the first 1\xa0%" in html
    line = re.search(r'<path d="([^"]*)" class="line">', html).group(1)
    spots = [tuple(map(float, spot.split())) for spot in line[1:].split("L")]
    assert spots[0] == (0, 190)
    assert spots[3] == (1.0, 95.0)
    assert spots[-1] == (100, 0)


def test_without_a_test_nothing_is_said_of_it():
    made = stored(3, 3)
    made["evaluation"]["recovery"] = []
    assert 'id="trust"' not in page_of(made)
    made["evaluation"] = None
    assert "could not be tested" in Reader(page_of({**made, "top": [], "sensitivity": []})).words


def test_chance_is_a_headline_without_a_promise():
    made = stored(3, 3)
    made["evaluation"]["recovery"] = recovery(half=1)
    area = {"name": "auc_of_labeled", "value": 0.52, "low": 0.45, "high": 0.6, "clipped": False}
    made["evaluation"]["auc_of_labeled"] = area
    words = Reader(page_of(made)).words
    assert "The list may be no better than chance" in words
    assert "Start with" not in words
    assert "of the first" not in words[: words.index("Technical details Quality")]
    assert "How many of the first rows" not in words
    assert "Can I trust it?" in words
