"""What is folded away, what would follow from other shares, and texts that are long."""

import re

import pytest
from claims import page_of, rounds, sensitivity, stored

from markup import Reader

COLLAPSE = {"kind": "collapse", "text": "0.1% are flagged."}
LEAK = {"kind": "leak", "text": "closed_by gives the label away."}


def fold(**changes):
    html = page_of(stored(3, 3, **changes))
    (inside,) = re.findall(r'<section id="rounds">.*?</section>', html, re.DOTALL)
    return inside


@pytest.mark.parametrize(
    ("best", "alarms", "is_open"),
    [(8, [], True), (0, [], False), (0, [COLLAPSE], True), (0, [LEAK], False)],
)
def test_rounds_are_folded_away_where_they_brought_nothing(best, alarms, is_open):
    inside = fold(rounds={**rounds(), "best": best}, alarms=alarms)
    assert ("<details open>" in inside) is is_open
    assert inside.count("<details") == 1
    summary = re.search("<summary>(.*?)</summary>", inside).group(1)
    assert summary.startswith("Each network keeps its best round: 2 of 12 networks keep round 0")
    assert summary.count(".") == 1
    # All the pictures are inside of the fold.
    assert inside.index("<details") < inside.index("<svg")
    assert inside.rindex("</svg>") < inside.index("</details>")


def table(**changes):
    html = page_of(stored(3, 3, **changes))
    found = re.search(r'<table class="sensitivity">.*?</table>', html, re.DOTALL)
    rows = re.findall(r"<tr.*?</tr>", found.group(0), re.DOTALL) if found else []
    return [re.findall(r"<t[hd][^>]*>([^<]*)<", row) for row in rows]


def test_each_share_has_what_follows_from_it():
    head, *body = table()
    assert head == ["if the share were", "positives", "precision", "right of first 100", "cutoff"]
    # 99,688 rows; 96 of the first 100 and a precision of 75.5 % are by 2.1 %.
    assert body == [
        ["0.50\xa0%", "498", "18\xa0%", "23", "0.85"],
        ["1.00\xa0%", "997", "36\xa0%", "46", "0.80"],
        ["2.10\xa0%", "2,093", "76\xa0%", "96", "0.69"],
        ["3.00\xa0%", "2,991", "100\xa0%", "100", "0.60"],
    ]
    assert page_of(stored(3, 3)).count('<tr class="used">') == 1
    words = Reader(page_of(stored(3, 3))).words
    assert "Recall (86 %) and the order of the list do not depend on the share" in words


@pytest.mark.parametrize(
    "changes",
    [
        {"sensitivity": []},
        {"sensitivity": sensitivity((0.021,))},
        {"top": [], "sensitivity": [{**each, "expected": []} for each in sensitivity()]},
    ],
)
def test_without_anything_to_compare_there_is_no_table(changes):
    assert table(**changes) == []


def listed(**cells):
    """The rows of a list whose second driver is the region."""
    made = stored(4, 3)
    for each in made["suspects"]:
        each["shown"] = {"amount": "1,200", "region": "Leith", **cells}
        each["drivers"] = [
            {"column": "amount", "value": "1,200", "effect": 1.5},
            {"column": "region", "value": "Leith", "effect": 0.5},
        ]
    return made


LONG = "Struck by a bird of unknown kind shortly after the take-off run began"


def test_a_long_text_is_read_once_in_each_row_and_makes_no_column():
    made = listed(remarks=LONG)
    html = page_of(made)
    assert html.count(LONG) == 4
    assert html.count(f'<p class="rest"><bdi>remarks</bdi> <bdi class="long">{LONG}</bdi>') == 4
    assert 'aria-sort="none">remarks</th>' not in html
    assert 'aria-sort="none">region</th>' in html
    # As a driver it is not cut, and not repeated.
    made["suspects"][0]["drivers"][1] = {"column": "remarks", "value": LONG, "effect": 0.7}
    html = page_of(made)
    assert html.count(LONG) == 4
    assert html.count('<p class="rest">') == 3
    assert f'<bdi>remarks</bdi> <bdi class="long">{LONG}</bdi>' in html


def test_without_drivers_a_long_text_has_a_column():
    made = listed(remarks=LONG)
    for each in made["suspects"]:
        each["drivers"] = []
    html = page_of(made)
    assert html.count('aria-sort="none">remarks</th>') == 1
    assert html.count(LONG[:59]) == 4


def test_scores_have_no_bars_and_rows_say_where_they_count_from():
    html = page_of(stored(4, 3))
    assert re.search(r'<td data-v="0\.99\d+">0\.99\d</td>', html)
    assert ">row, from\xa01</th>" in html
    assert "Rows are counted from 1, the header not counted." in Reader(html).words


def test_short_ids_are_not_broken_and_long_ones_are():
    made = stored(2, 3)
    made["suspects"][0]["id"] = "a-very-long-name-of-a-row-that-nobody-reads"
    html = page_of(made)
    assert html.count('<th scope="row" class="broken">a-very-long') == 1
    assert f'<th scope="row">{made["suspects"][1]["id"]}</th>' in html
