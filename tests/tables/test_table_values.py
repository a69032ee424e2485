"""Numbers, dates and booleans that were written as text."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from robustpu.tables.dates import FORMATS, find_format, parse_dates
from robustpu.tables.numbers import find_decimal, parse_numbers
from robustpu.tables.plain import plain_column
from robustpu.tables.texts import coded

NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 5),
        ("-5.25", -5.25),
        ("+5", 5),
        (".5", 0.5),
        ("5.", 5),
        ("1e-3", 0.001),
        ("1,234", 1234),
        ("1,234,567.5", 1234567.5),
        ("1 234,5", NAN),
        ("1 234.5", 1234.5),
        ("1\u202f234", 1234),
        ("1'234.50", 1234.5),
        ("€ 5", 5),
        ("5 €", 5),
        ("-$1,200", -1200),
        ("$-3", -3),
        ("USD 7", 7),
        ("7 chf", 7),
        ("12 %", 0.12),
        ("12%", 0.12),
        ("(500)", -500),
        ("(€ 1,500.00)", -1500),
        ("\u22124", -4),
        ("1,23", NAN),
        ("12,34,567", NAN),
        ("1e999", NAN),
        ("0x1A", NAN),
        ("1_000", NAN),
        ("5 kg", NAN),
        ("12-13", NAN),
        ("€", NAN),
        (",", NAN),
        ("", NAN),
    ],
)
def test_numbers(text: str, number: float) -> None:
    np.testing.assert_allclose(parse_numbers(pa.array([text])), [number])


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.234,5", 1234.5), ("1.234", 1234), ("12,5", 12.5), ("5", 5), ("1.5", NAN), ("€ 3,20", 3.2)],
)
def test_numbers_with_a_decimal_comma(text: str, number: float) -> None:
    np.testing.assert_allclose(parse_numbers(pa.array([text]), ","), [number])


def test_decimal_mark_is_found_from_all_rows() -> None:
    one = np.array([1, 1, 1])
    assert find_decimal(pa.array(["1,5", "2,25", "3"]), one)[0] == ","
    assert find_decimal(pa.array(["1,500", "2.5", "3"]), one)[0] == "."
    # Could be either: thousands, as with a decimal point.
    mark, numbers = find_decimal(pa.array(["1,500", "2,500", "3"]), one)
    assert (mark, numbers.tolist()) == (".", [1500, 2500, 3])
    # The rows decide, not the different values.
    assert find_decimal(pa.array(["1,5", "1,000.5"]), np.array([1, 9]))[0] == "."


def test_numbers_agree_with_python() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal(500) * 10.0 ** rng.integers(-8, 9, 500)
    np.testing.assert_array_equal(
        parse_numbers(pa.array([repr(v) for v in values.tolist()])), values
    )
    grouped = [f"{value:,.3f}" for value in values]
    np.testing.assert_allclose(parse_numbers(pa.array(grouped)), np.round(values, 3), atol=1e-9)
    comma = [text.translate(str.maketrans(",.", ".,")) for text in grouped]
    np.testing.assert_allclose(parse_numbers(pa.array(comma), ","), np.round(values, 3), atol=1e-9)


PATTERNS = {
    "year-month-day": ["%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"],
    "day.month.year": ["%d.%m.%Y", "%d/%m/%Y %H:%M:%S", "%d-%m-%Y"],
    "month/day/year": ["%m/%d/%Y", "%m/%d/%Y %I:%M:%S %p"],
    "day month year": ["%d %b %Y", "%d-%B-%Y", "%d. %B %Y %H:%M"],
    "month day year": ["%b %d %Y", "%B %d, %Y", "%b %d, %Y %I:%M %p"],
    "month year": ["%b-%Y", "%B %Y", "%b/%Y"],
    "year-month": ["%Y-%m", "%Y/%m"],
    "month/year": ["%m/%Y", "%m-%Y"],
    "yearmonthday": ["%Y%m%d"],
}


@pytest.mark.parametrize("form", FORMATS)
def test_dates_agree_with_python(form: str) -> None:
    rng = np.random.default_rng(0)
    stamps = rng.integers(-2_000_000_000, 4_000_000_000, 300)
    for pattern in PATTERNS[form]:
        moments = [datetime.fromtimestamp(int(s), UTC).replace(tzinfo=None) for s in stamps]
        texts = [moment.strftime(pattern) for moment in moments]
        expected = np.array([datetime.strptime(text, pattern) for text in texts], "datetime64[us]")
        np.testing.assert_array_equal(parse_dates(pa.array(texts), form), expected)
        assert find_format(pa.array(texts), np.ones(300, int))[0] == form


def test_dates_that_are_none() -> None:
    texts = ["2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "2024-01-01T24:00", "x", ""]
    texts += ["2024-01-01 10:61", "0000-01-01", "2024-1-1-1", "20240101", "13:45"]
    assert np.isnat(parse_dates(pa.array(texts), "year-month-day")).all()
    assert not np.isnat(parse_dates(pa.array(["2024-02-29"]), "year-month-day")).any()


def test_what_looks_like_a_month_and_is_none() -> None:
    names = ["Marquis 1998", "Junior 1999", "Mayor 2001", "Decca 1965", "Juneau 2010", "Sepp 1970"]
    texts = {
        "month year": ["Jan-18", "Jan", "Jan 1750", *names],
        "year-month": ["2024-13", "1234-10"],
        "month/year": ["13/2024", "1.2024", "3/4", "3/2024", "00/2024"],
        "day month year": ["5 Marquis 1998"],
        "month day year": ["Junior 5, 1999"],
    }
    for form, each in texts.items():
        assert np.isnat(parse_dates(pa.array(each), form)).all()


def test_months_in_their_usual_spellings() -> None:
    texts = ["sept 2020", "Sep. 2020", "SEPTEMBER 2020", "Sept.-2020"]
    assert set(parse_dates(pa.array(texts), "month year").astype("datetime64[M]").astype(str)) == {
        "2020-09"
    }


def test_times_in_zones() -> None:
    texts = [
        "2024-01-01T10:00:00.123456Z",
        "2024-01-01 12:00:00.123456+02:00",
        "2024-01-01T04:30:00.123456-0530",
    ]
    found = parse_dates(pa.array(texts), "year-month-day")
    assert set(found.astype(str)) == {"2024-01-01T10:00:00.123456"}


def test_day_or_month_first() -> None:
    count = np.array([1, 1])
    assert find_format(pa.array(["03/04/2024", "13/04/2024"]), count)[::2] == (
        "day.month.year",
        False,
    )
    assert find_format(pa.array(["03/04/2024", "04/13/2024"]), count)[::2] == (
        "month/day/year",
        False,
    )
    assert find_format(pa.array(["03/04/2024", "04/03/2024"]), count)[::2] == (
        "month/day/year",
        True,
    )
    assert find_format(pa.array(["03.04.2024", "04.03.2024"]), count)[::2] == (
        "day.month.year",
        True,
    )


def test_years_of_two_digits() -> None:
    found = parse_dates(pa.array(["1.2.24", "1.2.68", "1.2.69"]), "day.month.year")
    assert found.astype("datetime64[Y]").astype(str).tolist() == ["2024", "2068", "1969"]


def test_coded_text() -> None:
    column = pa.chunked_array([["b", " b\t", "", None], ["N/A", "a", "?", "b"]])
    found = coded(column)
    assert found.values.to_pylist() == ["b", "a"]
    assert found.codes.tolist() == [0, 0, -1, -1, -1, 1, -1, 0]
    assert found.counts().tolist() == [3, 1]
    assert coded(pa.chunked_array([], pa.string())).codes.tolist() == []
    again = coded(column.dictionary_encode())
    assert again.codes.tolist() == found.codes.tolist()


def test_half_precision_becomes_single():
    column = pa.chunked_array([pa.array(np.array([0.5, 2], np.float16))])
    assert plain_column(column).to_pylist() == [0.5, 2]
    assert plain_column(column).type == pa.float32()
