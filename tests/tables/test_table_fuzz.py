"""Malformed tables by the thousand: a TableError or an answer, never anything else."""

import bz2
import datetime
import decimal
import gzip
import io
import lzma
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from robustpu.tables import Roles, TableError, Tally, Vectorizer, iter_table, read_table, take_roles

ROWS = 40
GOOD = pd.DataFrame(
    {
        "amount": np.arange(ROWS) * 1.5,
        "city": ["Bern", "Zürich, ZH", 'the "Hague"', "Rome\nItaly"] * 10,
        "when": pd.date_range("2024-01-01", periods=ROWS).strftime("%d.%m.%Y"),
        "price": [f"€ {value:,.2f}" for value in np.arange(ROWS) * 999.5],
        "note": [f"claim {place} of the {place % 7}th" for place in range(ROWS)],
        "flag": ["yes", None] * 20,
        "label": ["1", "", "", ""] * 10,
    }
)
SNIPPETS = [
    *(
        b'"',
        b'""',
        b",",
        b";",
        b"\t",
        b"\n",
        b"\r",
        b"\r\n",
        b"\x00",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
    ),
    *(b"NaN", b"1e999", b"-", b"--1", b"0x", b"99999999999999999999", b"2024-13-45", b"inf", b"[]"),
    *(b"{", b"}", b"[{", b'{"a":', b"null", b"\\u0000", b"\xf0\x9f\x98\x80", b"sep=|\n", b" " * 50),
]


def files() -> list[bytes]:
    """The good table in every format."""
    table = pa.Table.from_pandas(GOOD)
    csv = GOOD.to_csv(index=False).encode()
    parquet, feather, stream = io.BytesIO(), io.BytesIO(), io.BytesIO()
    pyarrow.parquet.write_table(table, parquet)
    pyarrow.feather.write_feather(table, feather, compression="uncompressed")
    with pa.ipc.new_stream(stream, table.schema) as out:
        out.write_table(table)
    lines = GOOD.to_json(orient="records", lines=True).encode()
    return [
        *(csv, csv, csv, GOOD.to_csv(index=False, sep=";").encode("utf-16")),
        *(lines, GOOD.to_json(orient="records").encode()),
        *(parquet.getvalue(), feather.getvalue(), stream.getvalue()),
        *(gzip.compress(csv), bz2.compress(csv), lzma.compress(csv)),
    ]


def noise(rng: np.random.Generator) -> bytes:
    size = int(rng.integers(0, 400))
    if rng.random() < 0.5:
        return rng.bytes(size)
    letters = b'abc,;\t"\n\r 0123456789.-/:{}[]\xe9\xc3\xa9'
    return bytes(rng.choice(np.frombuffer(letters, np.uint8), size))


def mutated(rng: np.random.Generator, data: bytes) -> bytes:
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(0, len(data) + 1))
        span = int(rng.integers(1, 30))
        change = rng.integers(0, 6)
        if change == 0:
            data = data[:at] + bytes(rng.choice(SNIPPETS)) + data[at:]
        elif change == 1:
            data = data[:at] + data[at + span :]
        elif change == 2:
            data = data[:at] + rng.bytes(span) + data[at + span :]
        elif change == 3:
            data = data[:at]
        elif change == 4:
            data = data[:at] + data[at : at + span] * 3 + data[at + span :]
        elif at < len(data):
            data = data[:at] + bytes([data[at] ^ (1 << int(rng.integers(0, 8)))]) + data[at + 1 :]
    return data


class Odd:
    """Objects that are no friend of tables."""

    def __init__(self, mood: int) -> None:
        self.mood = mood

    def __str__(self) -> str:
        if self.mood == 0:
            raise RuntimeError("no text")
        return "odd\ud800"

    def __eq__(self, other: object) -> bool:
        if self.mood == 1:
            raise ValueError("not to be compared")
        return False

    __hash__ = None  # type: ignore[assignment]


CELLS: list[Callable[[np.random.Generator], Any]] = [
    lambda rng: None,
    lambda rng: float("nan"),
    lambda rng: float("inf"),
    lambda rng: int(rng.integers(-5, 5)),
    lambda rng: 10 ** int(rng.integers(0, 40)),
    lambda rng: float(rng.standard_normal() * 10.0 ** rng.integers(-300, 300)),
    lambda rng: bool(rng.integers(0, 2)),
    lambda rng: str(rng.choice(["a", "b", "", " ", "NA", "1,5", "€", "2024-01-01", "31.02.2024"])),
    lambda rng: "x" * int(rng.integers(0, 3000)),
    lambda rng: "\ud800\x00é😀"[int(rng.integers(0, 4)) :],
    lambda rng: rng.bytes(3),
    lambda rng: [1, 2],
    lambda rng: {"a": int(rng.integers(0, 3)), "b": {"c": None}},
    lambda rng: {},
    lambda rng: (1, "x"),
    lambda rng: {1, 2},
    lambda rng: pd.Timestamp("2024-01-01") + pd.Timedelta(days=int(rng.integers(0, 99))),
    lambda rng: datetime.date(int(rng.integers(1, 9999)), 1, 1),
    lambda rng: datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
    lambda rng: datetime.time(3, 4),
    lambda rng: datetime.timedelta(days=int(rng.integers(-5, 5))),
    lambda rng: pd.NaT,
    lambda rng: pd.NA,
    lambda rng: decimal.Decimal("1.10"),
    lambda rng: decimal.Decimal("NaN"),
    lambda rng: 1 + 2j,
    lambda rng: np.float16(1.5),
    lambda rng: np.datetime64("2024-01-01"),
    lambda rng: np.arange(3),
    lambda rng: Odd(int(rng.integers(0, 3))),
    lambda rng: object,
    lambda rng: len,
]
TYPES = [
    *(pa.null(), pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.decimal128(20, 3)),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary(2)),
    *(pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns", "UTC"), pa.time32("ms")),
    *(pa.time64("ns"), pa.duration("us"), pa.month_day_nano_interval()),
    *(
        pa.list_(pa.int8()),
        pa.struct({"a": pa.int8(), "b": pa.struct({})}),
        pa.map_(pa.string(), pa.int8()),
    ),
    *(pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.float64())),
    *(pa.run_end_encoded(pa.int32(), pa.string()), pa.large_list(pa.string())),
]


def odd_column(rng: np.random.Generator, n: int) -> Any:
    """A column of one odd kind of cells, of several, or of an odd type."""
    choice = rng.integers(0, 4)
    if choice == 0:
        kind = CELLS[int(rng.integers(0, len(CELLS)))]
        return [kind(rng) for _ in range(n)]
    if choice == 1:
        return [CELLS[int(rng.integers(0, len(CELLS)))](rng) for _ in range(n)]
    if choice == 2:
        return rng.standard_normal(n)
    return pa.nulls(n, TYPES[int(rng.integers(0, len(TYPES)))])


def odd_frame(rng: np.random.Generator) -> Any:
    n = int(rng.choice([0, 1, 2, 30]))
    names = ["a", "label", "a", "", "x.y", 5, None, ("t", 1), "\ud800", "id"]
    columns = {names[int(rng.integers(0, len(names)))]: odd_column(rng, n) for _ in range(4)}
    plain = {key: list(each) for key, each in columns.items()}
    arrow = [each for each in columns.values() if isinstance(each, pa.Array)]
    try:
        return [
            lambda: columns,
            lambda: pd.DataFrame(plain, dtype=object),
            lambda: pd.concat([pd.DataFrame(plain)] * 2, axis=1),
            lambda: pl.DataFrame([pl.Series("x", each, pl.Object) for each in plain.values()][:1]),
            lambda: pa.Table.from_arrays(arrow, names=["label"] * len(arrow)),
        ][int(rng.integers(0, 5))]()
    except Exception:  # what cannot even be a frame
        return columns


def attempt(rng: np.random.Generator, make: Callable[[], Any], fitted: Vectorizer) -> bool:
    """Do all that can be done with a table; True if all of it could be."""
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options = {
            "delimiter": rng.choice([None, ",", ";", " ", "x"]),
            "encoding": rng.choice([None, "utf-8", "latin-1", "utf-16"]),
            "header": bool(rng.integers(0, 2)),
            "bad_rows": "skip",
        }
    messages: list[str] = []
    try:
        for part in iter_table(make(), rows=17, **options):
            fitted.transform(part, tally=Tally(), fill_columns=True)
    except TableError as error:
        messages.append(str(error))
    try:
        table = read_table(make(), **options)
        name = "label" if rng.random() < 0.7 else table.names[-1]
        parts = take_roles(
            table, Roles(label=name, id=table.names[0] if rng.random() < 0.3 else None)
        )
        vectorizer = Vectorizer(min_count=2).fit(parts.table, parts.y)
        X = vectorizer.transform(parts.table, tally=Tally())
        assert np.isfinite(X).all()
        Vectorizer.from_state(vectorizer.state())
    except TableError as error:
        messages.append(str(error))
    assert all(len(message) > 20 for message in messages)
    return not messages


@pytest.fixture(scope="module")
def fitted() -> Vectorizer:
    return Vectorizer().fit(GOOD.drop(columns="label"))


def test_noise(fitted: Vectorizer) -> None:
    for seed in range(300):
        rng = np.random.default_rng([0, seed])
        data = noise(rng)
        attempt(rng, lambda data=data: io.BytesIO(data), fitted)


def test_mutated_files(fitted: Vectorizer) -> None:
    good = files()
    whole = 0
    for seed in range(500):
        rng = np.random.default_rng([1, seed])
        data = mutated(rng, good[seed % len(good)])
        whole += attempt(rng, lambda data=data: io.BytesIO(data), fitted)
    # The changes are small: many tables are still good for something.
    assert 30 < whole < 500


def test_odd_frames(fitted: Vectorizer) -> None:
    for seed in range(300):
        rng = np.random.default_rng([2, seed])
        frame = odd_frame(rng)
        attempt(rng, lambda frame=frame: frame, fitted)


def test_good_files_pass(fitted: Vectorizer) -> None:
    assert all(
        attempt(np.random.default_rng(1), lambda data=data: io.BytesIO(data), fitted)
        for data in files()
    )
