"""Why a row is on the list: words, and bars on one scale."""

import re

import pytest
from claims import page_of, profile, stored

from robustpu.report.reasons import reason, span_of, unusual, written
from robustpu.results import Driver, Profile, Suspect
from robustpu.validation.schema import read


def profile_of(name):
    return read(Profile, profile(name), "profile")


def suspect(*effects):
    drivers = [Driver("amount", "1", effect) for effect in effects]
    up = tuple(driver for driver in drivers if driver.effect > 0)
    down = tuple(driver for driver in drivers if driver.effect < 0)
    return Suspect(1, 1, None, 0.9, up, {}, down)


def lengths(found):
    span = span_of(found)
    return [
        int(re.search(r" n(\d+)", reason(driver, span, {})).group(1))
        for each in found
        for driver in (*each.drivers, *each.against)
    ]


def test_the_largest_effects_for_and_against_take_the_whole_width():
    found = [suspect(3.0, -1.0), suspect(1.5), suspect(0.01)]
    assert lengths(found) == [30, 10, 15, 1]
    assert span_of(found).zero == "z10"
    assert 'class="list named z' in page_of(stored(5, 3))


def test_an_enormous_effect_does_not_saturate_the_others():
    assert lengths([suspect(10.0), suspect(5.0), suspect(2.5)]) == [40, 20, 10]


def test_without_reasons_there_is_no_scale():
    assert span_of([suspect()]).whole == 0
    assert span_of([suspect()]).zero == ""


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("amount", "30", "very high; usual: 4 to 12"),
        ("amount", "1,300", "very high; usual: 4 to 12"),
        ("amount", "13", "high; usual: 4 to 12"),
        ("amount", "8", "usual: 4 to 12"),
        ("amount", "3", "low; usual: 4 to 12"),
        ("amount", "-1", "very low; usual: 4 to 12"),
        ("amount", "€ 5", ""),
        ("amount", "", "no other row has it"),
        ("filed", "2030-01-31", "very late; usual: 2022-03-09 to 2022-07-07"),
        ("region", "Leith", "as 70 % of the other rows"),
        ("region", "Bergen", ""),
        ("region", "", "as 0.50 % of the other rows"),
    ],
)
def test_a_value_is_compared_with_those_of_other_rows(name, value, words):
    assert unusual(value, profile_of(name)).replace("\xa0", " ") == words


def test_a_word_for_none_counts_as_missing_if_all_values_are_known():
    known = profile("region")
    known["values"] = [*known["values"][:-1], "Porto"]
    found = unusual("none", read(Profile, known, "profile"))
    assert found.replace("\xa0", " ") == "as 0.50 % of the other rows"


def test_dates_beyond_the_calendar_are_numbers():
    assert written(1e12, "date") == "1,000,000,000,000"


def test_reasons_against_are_cool_and_on_the_page():
    html = page_of(stored(10, 3))
    assert html.count('<i class="down n') == 2
    assert html.count('title="speaks against it"') == 2
    assert html.count('<i class="up n') == 28
