"""What the ranking rests on: how the top of the list differs from the other rows."""

import re

import pytest
from claims import page_of, profile, stored

from markup import Reader
from robustpu.report.profiles import above, direction
from robustpu.results import Profile, Spread
from robustpu.validation.schema import read


def profile_of(name="amount", **changes):
    return read(Profile, {**profile(name), **changes}, "profile")


def cards(html):
    return re.findall(r'<figure class="column">.*?</figure>', html, re.DOTALL)


@pytest.mark.parametrize(
    ("listed", "others", "chance"),
    [((0, 0, 5), (5, 5, 0), 1), ((1, 1), (1, 1), 0.5), ((2, 0), (1, 3), 0.125)],
)
def test_the_chance_of_a_larger_value(listed, others, chance):
    assert above(Spread(listed, 0), Spread(others, 0)) == chance


def test_a_direction_is_said_in_words():
    assert direction(profile_of()) == "Higher at the top: typically 18, elsewhere 8."
    turned = profile("amount")
    turned["listed"], turned["others"] = turned["others"], turned["listed"]
    assert direction(profile_of(**turned)) == "Lower at the top: typically 8, elsewhere 18."
    same = profile("amount")
    same["listed"] = same["others"]
    assert direction(profile_of(**same)).startswith("No clear direction alone")
    assert direction(profile_of("filed")) == (
        "Later at the top: typically 2022-10-05, elsewhere 2022-05-08."
    )


def test_of_values_the_one_that_is_more_frequent_at_the_top_is_said():
    words = direction(profile_of("region")).replace("\xa0", " ")
    assert words == "More often “Nørrebro” at the top: 75 %, elsewhere 20 %."
    missing = profile("region")
    missing["listed"] = {"counts": [0, 0, 0, 0], "missing": 10, "quantiles": []}
    assert direction(profile_of(**missing)).startswith("More often missing at the top: 100")
    even = profile("region")
    even["listed"] = even["others"]
    assert direction(profile_of(**even)) == "No value stands out alone."


def test_bars_are_shares_of_their_rows():
    first = cards(page_of())[0]
    tall = [float(h) for h in re.findall(r'height="([\d.]+)" class="bar (?:grey|warm)"', first)]
    grey, warm = tall[::2], tall[1::2]
    # 200 of 1,500 other rows and 5 of 200 listed ones in the first bin, 35 of these in the tenth.
    assert max(warm) == warm[9] == 64
    assert grey[0] / warm[9] == pytest.approx((200 / 1500) / (35 / 200), rel=1e-3)
    assert warm[0] / warm[9] == pytest.approx(5 / 35, rel=1e-2)


def test_missing_values_have_a_bar_of_their_own():
    made = stored(3, 3)
    made["profiles"][0]["others"]["missing"] = 100
    first = cards(page_of(made))[0]
    assert ">missing</text>" in first
    assert first.count('class="bar grey"') == 14
    assert cards(page_of())[0].count('class="bar grey"') == 12


def test_each_important_column_has_a_card_and_the_rest_a_line():
    html = page_of()
    assert [re.search("<span>(.*?)</span>", card).group(1) for card in cards(html)[:2]] == [
        "amount",
        "days_<wbr>open",
    ]
    assert len(cards(html)) == 12
    words = Reader(html).words
    assert "28 further columns, less important" in words
    assert "the 200 rows at the top of the list" in words


def test_words_of_a_text_are_drawn_as_shares_of_the_rows():
    made = stored(3, 12)
    listed = {"counts": [50, 20], "missing": 0, "rows": 200}
    others = {"counts": [10, 10], "missing": 0, "rows": 1_000}
    made["profiles"][0] |= {
        "kind": "word",
        "edges": [],
        "values": ["cash", "keys"],
        "listed": listed,
        "others": others,
    }
    first = cards(page_of(made))[0]
    assert "More often “cash” at the top: 25" in first
    assert "10 %, elsewhere 1.0 %".replace(" %", "\N{NO-BREAK SPACE}%") in first


def test_texts_are_not_drawn_and_older_results_have_no_profiles():
    made = stored(3, 12, profiles=[])
    made["columns"][0]["kind"] = "text"
    html = page_of(made)
    assert "Free text" in cards(html)[0]
    assert "<svg" not in "".join(cards(html))
    assert "Free text" not in cards(html)[1]
