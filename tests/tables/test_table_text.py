"""Delimited text: encodings, delimiters, headers, quotes and rows of the wrong length."""

import csv
import io
import re
from typing import Any

import numpy as np
import pytest

from robustpu.tables import TableError, iter_table, read_table
from robustpu.tables.records import blocks
from robustpu.tables.streams import Stream

WORDS = "Größe,Ort\n1,Zürich\n2,Malmö\n"


def read(text: str | bytes, **options: Any) -> Any:
    data = text.encode() if isinstance(text, str) else text
    return read_table(io.BytesIO(data), **options)


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"],
)
def test_encodings_are_found(encoding: str) -> None:
    table = read(WORDS.encode(encoding))
    assert table.data.to_pydict() == {"Größe": ["1", "2"], "Ort": ["Zürich", "Malmö"]}
    said = any("Windows-1252" in note for note in table.notes)
    assert said == (encoding in ("latin-1", "cp1252"))


def test_euro_sign_of_windows() -> None:
    assert read("a,b\n€ 5,1\n".encode("cp1252")).data.to_pydict()["a"] == ["€ 5"]


def test_late_byte_that_is_not_utf8() -> None:
    start = b"a,b\n" + b"1,2\n" * 500_000
    late_latin = read(start + "Zürich,2\n".encode("latin-1"))
    assert late_latin.data.column("a")[-1].as_py() == "Zürich"
    assert any("Windows-1252" in note for note in late_latin.notes)
    # Valid UTF-8 came before: one odd byte does not make it another encoding.
    mixed = read("a,b\nZürich,1\n".encode() + b"x\xff,2\n")
    assert mixed.data.column("a").to_pylist() == ["Zürich", "x\N{REPLACEMENT CHARACTER}"]
    assert any("replaced" in note for note in mixed.notes)


def test_given_encoding() -> None:
    assert read("a,b\nž,1\n".encode("cp1250"), encoding="cp1250").data.to_pydict()["a"] == ["ž"]
    with pytest.raises(TableError, match="is not 'utf-8' text"):
        read("a,b\nž,1\n".encode("cp1250"), encoding="utf-8")
    for wrong in ("klingon", "base64", "rot13"):
        with pytest.raises(TableError, match="is not known"):
            read("a,b\n1,2\n", encoding=wrong)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|", "~", "^"])
def test_delimiter_is_found_and_named(mark: str) -> None:
    rows = [["name", "a", "b"], ["x", "1", "2"], ["y", "3", "4"], ["z", "5", "6"]]
    table = read("\n".join(mark.join(row) for row in rows))
    assert table.names == rows[0]
    # The usual one goes without saying.
    assert any(note.startswith("delimiter: ") for note in table.notes) == (mark != ",")


def test_delimiter_among_others() -> None:
    # Decimal commas, and commas in a text, come oftener than the delimiter.
    text = "a;b;c\n1,5;2,5;x, y, z\n3,5;4,5;u, v, w\n"
    assert read(text).data.to_pydict() == {
        "a": ["1,5", "3,5"],
        "b": ["2,5", "4,5"],
        "c": ["x, y, z", "u, v, w"],
    }
    quoted = 'a,b\n"1;2;3",x\n"4;5;6",y\n'
    assert read(quoted).names == ["a", "b"]
    assert read("sep=;\na;b\n1;2\n").data.to_pydict() == {"a": ["1"], "b": ["2"]}


def test_wrong_delimiter_is_told() -> None:
    with pytest.raises(TableError, match=r"one column only with delimiter=','.*delimited by ';'"):
        read("a;b\n1;2\n", delimiter=",")
    with pytest.raises(TableError, match="is not one character"):
        read("a,b\n1,2\n", delimiter=", ")
    assert any("one column only" in note for note in read("alone\n1\n2\n").notes)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_quotes_and_line_ends(end: str) -> None:
    text = end.join(['a,"b ""q"" c"', '"x, y","two', 'lines"', '"say ""hi""",5" disk', ""])
    table = read(text)
    assert table.names == ["a", 'b "q" c']
    assert table.data.column(0).to_pylist() == ["x, y", 'say "hi"']
    assert table.data.column(1).to_pylist() == [f"two{end}lines", '5" disk']


def test_quote_never_closed() -> None:
    with pytest.raises(TableError, match="opened and never closed"):
        read('a,b\n1,"2\n3,4\n5,6\n')
    with pytest.raises(TableError, match="the first row has no end"):
        read('"a,b\n' + "3,4\n" * 300_000)
    with pytest.raises(TableError, match="never closed"):
        read('a,b\n1,"2\n' + "3,4\n" * 3_000_000)


@pytest.mark.parametrize(
    "text",
    [
        "5.1,3.5,setosa\n4.9,3.0,setosa\n",
        "1,2,3\n4,5,6\n",
        "p,x,s,n,t,p,f,c,n,k,e,e,s,s\ne,x,s,y,t,a,f,c,b,k,e,c,s,s\n",
    ],
)
def test_no_header(text: str) -> None:
    with pytest.raises(TableError, match=r"seems to have no header.*header=False"):
        read(text)
    table = read(text, header=False)
    assert table.n_rows == 2
    assert table.names[0] == "column 1"


def test_years_may_be_column_names() -> None:
    assert read("country,2019,2020\nA,1,2\n").names == ["country", "2019", "2020"]


def test_names_are_made_unique() -> None:
    table = read('id,a,a,"a (2)", b ,\n1,2,3,4,5,6\n')
    assert table.names == ["id", "a", "a (3)", "a (2)", "b", "column 6"]
    assert any("numbered: 'a (3)'" in note for note in table.notes)
    assert any("without a name" in note for note in table.notes)
    long = read(f"{'n' * 9_000},{'n' * 9_000},b\n1,2,3\n").names
    assert [len(name) for name in long] == [500, 504, 1]


def test_ragged_rows() -> None:
    text = "a,b\n1,2\n3,4,5\n6\n7,8\n"
    with pytest.raises(TableError) as caught:
        read(text)
    message = str(caught.value)
    assert "row 3: expected 2 cells" in message
    assert "came 3: '3,4,5'" in message
    assert "bad_rows='skip'" in message
    # The last part is full: what is noticed at the end still comes with it.
    assert list(iter_table(io.BytesIO(text.encode()), rows=2, bad_rows="skip"))[-1].notes
    table = read(text, bad_rows="skip")
    assert table.data.to_pydict() == {"a": ["1", "7"], "b": ["2", "8"]}
    assert any(note.startswith("2 rows without 2 cells were left out") for note in table.notes)
    with pytest.raises(TableError, match="give 'error' or 'skip'"):
        read(text, bad_rows="drop")


def test_header_without_rows() -> None:
    with pytest.raises(TableError, match="has a header but no rows"):
        read("a,b\n")


def test_parts_together_are_the_whole() -> None:
    rows = [f'{number};"row {number}\nsecond line"' for number in range(1000)]
    data = ("n;text\n" + "\n".join(rows)).encode()
    parts = list(iter_table(io.BytesIO(data), rows=64))
    assert [part.n_rows for part in parts] == [64] * 15 + [40]
    whole = read(data).data.to_pydict()
    assert [n for part in parts for n in part.data.column("n").to_pylist()] == whole["n"]
    assert whole["text"][-1] == "row 999\nsecond line"
    # What was noticed is said once.
    assert parts[0].notes == ("delimiter: ';'",)
    assert all(part.notes == () for part in parts[1:])


def test_blocks_end_where_records_end() -> None:
    rng = np.random.default_rng(0)
    pieces = ["a", ",", "\n", '"', '""', "x y", '5" disk', "\r\n", "é", ""]
    for _ in range(300):
        cells = ["".join(rng.choice(pieces, rng.integers(0, 5))) for _ in range(12)]
        # Some cells with odd quotes are left as they are: a quote within a cell is a letter.
        written = [
            cell.replace(",", "").replace("\n", "").replace("\r", "").lstrip('"')
            if rng.random() < 0.3
            else '"' + cell.replace('"', '""') + '"'
            for cell in cells
        ]
        text = "".join(f"{written[at]},{written[at + 1]}\n" for at in range(0, 12, 2)).encode()
        size = int(rng.integers(1, 40))
        parts = list(blocks(Stream(io.BytesIO(text).read, "x"), ",", b"\n", size))
        assert b"".join(parts) == text
        rows = [row for part in parts for row in csv.reader(io.StringIO(part.decode(), newline=""))]
        assert rows == list(csv.reader(io.StringIO(text.decode(), newline="")))
        if size == 1:
            assert len(parts) == 6


def test_very_wide_table() -> None:
    names = [f"measurement number {place}" for place in range(20_000)]
    data = "\n".join([",".join(names), *[",".join(["1.25"] * 20_000)] * 3])
    assert len(data) > 400_000
    table = read(data)
    assert table.names == names
    assert table.n_rows == 3


def test_codes_keep_their_zeros() -> None:
    assert read("zip,b\n01067,1\n").data.to_pydict()["zip"] == ["01067"]


def test_message_names_the_file(tmp_path: Any) -> None:
    path = tmp_path / "claims.csv"
    path.write_text("a,b\n1,2,3\n")
    with pytest.raises(TableError, match=re.escape(str(path))):
        read_table(path)


def test_a_delimiter_of_two_characters_is_named() -> None:
    with pytest.raises(TableError, match="delimited by '::', expected one character"):
        read("a::b::c\n1::2::3\n4::5::6\n")
    # Names may be missing, if the cells are not.
    assert read("a,,b\n1,2,3\n4,5,6\n").names == ["a", "column 2", "b"]


def test_a_row_that_was_not_taken_apart_is_told() -> None:
    table = read("a%b%y\n1%2%1\n3%4%0\n")
    with pytest.raises(TableError, match="If that is a whole row, delimit its cells"):
        table.column("y")


def test_a_tab_goes_without_saying_in_a_file_that_is_called_so(tmp_path: Any) -> None:
    for name, notes in (("a.tsv", ()), ("a.txt", ("delimiter: tab",))):
        (tmp_path / name).write_text("a\tb\n1\t2\n3\t4\n")
        assert read_table(tmp_path / name).notes == notes


def test_a_folder_is_no_table(tmp_path: Any) -> None:
    with pytest.raises(TableError, match=f"^{tmp_path} is a folder, expected a file"):
        read_table(tmp_path)


@pytest.mark.parametrize("header", ["{x},b,y", "[a],b,y", "{x!r},b,y"])
def test_a_header_may_begin_with_a_bracket(header: str) -> None:
    assert read(f"{header}\n1,2,3\n4,5,6\n").names == header.split(",")


@pytest.mark.parametrize(
    "text", ['[{"a": 1},\n {"a": 2}]', '[\n{"a": 1}, {"a": 2}]', '{"a": 1}\n{"a": 2}\n']
)
def test_json_is_known_by_its_start(text: str) -> None:
    assert read(text).data.to_pydict() == {"a": [1, 2]}


def test_long_names_are_cut_in_messages() -> None:
    with pytest.raises(TableError) as caught:
        read("a,b\n1,2\n").column("n" * 5000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_empty_columns_are_no_delimiter_of_two_characters(mark: str) -> None:
    def rows(*cells: list[str]) -> str:
        return "\n".join(mark.join(each) for each in cells)

    assert read(rows(["a", "", "b"], ["1", "", "0"], ["2", "", "0"])).names[::2] == ["a", "b"]
    assert read(rows(["1", "", "0"], ["2", "", "0"]), header=False).n_rows == 2


def test_a_delimiter_that_was_given_is_taken_at_its_word() -> None:
    assert read("a::b\n1::2\n3::4\n", delimiter=":").names[::2] == ["a", "b"]
