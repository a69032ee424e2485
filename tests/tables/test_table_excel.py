"""Workbooks of Excel, and files that pretend to be some."""

import datetime
import io
import sys
import zipfile

import openpyxl
import pytest

from robustpu.tables import TableError, Vectorizer, excel_sizes, iter_table, read_table

ROWS = [
    ("claim", "amount", "filed", "open", "city"),
    ("C1", 5, datetime.datetime(2024, 1, 31), True, "Bern"),
    ("C2", 7.5, datetime.datetime(2024, 2, 1, 12, 30), False, None),
    (None, None, None, None, None),
    ("C3", None, None, True, "#N/A"),
]


def workbook(rows=ROWS, **sheets):
    book = openpyxl.Workbook()
    for title, more in {"Claims": rows, **sheets}.items():
        sheet = book.create_sheet(title)
        for row in more:
            sheet.append(row)
    del book["Sheet"]
    return book


def saved(book, path):
    book.save(path)
    return path


@pytest.fixture
def path(tmp_path):
    return saved(workbook(), tmp_path / "claims.xlsx")


def test_cells_keep_their_types(path):
    table = read_table(path)
    assert table.names == list(ROWS[0])
    assert table.data.column("amount").to_pylist() == [5.0, 7.5, None]
    assert table.data.column("open").to_pylist() == [True, False, True]
    assert str(table.data.column("filed").type) == "timestamp[us]"
    assert table.data.column("claim").to_pylist() == ["C1", "C2", "C3"]
    kinds = {each.name: each.kind for each in Vectorizer(min_count=1).fit(table).columns_}
    assert kinds == {
        "claim": "id",
        "amount": "number",
        "filed": "date",
        "open": "boolean",
        # An error of Excel is no value.
        "city": "constant",
    } or kinds["city"] in ("category", "empty")


def test_it_comes_from_anywhere_and_in_parts(path):
    whole = read_table(path).data.to_pydict()
    assert read_table(io.BytesIO(path.read_bytes())).data.to_pydict() == whole
    assert [part.n_rows for part in iter_table(path, rows=2)] == [2, 1]


def test_the_first_visible_sheet_is_read(tmp_path):
    book = workbook(rows=[("a", "b"), (1, 2)], Notes=[("x",), (3,)], Third=[("y",)])
    book["Claims"].sheet_state = "hidden"
    table = read_table(saved(book, tmp_path / "a.xlsx"))
    assert table.data.to_pydict() == {"x": [3]}
    assert table.notes == (
        "the first of 2 sheets was read, 'Notes'; to read another, save it as a file of its own",
    )


def test_without_a_header_columns_are_called_by_their_place(tmp_path):
    path = saved(workbook([(1.5, "a"), (2.5, "b")]), tmp_path / "a.xlsx")
    with pytest.raises(TableError, match="seems to have no header"):
        read_table(path)
    table = read_table(path, header=False)
    assert table.data.to_pydict() == {"column 1": [1.5, 2.5], "column 2": ["a", "b"]}


def test_cells_beside_the_table_are_refused_or_left_out(tmp_path):
    rows = [("a", "b"), (1, 2), (3, 4, "a remark"), (5,)]
    path = saved(workbook(rows), tmp_path / "a.xlsx")
    with pytest.raises(TableError, match=r"row 3: a value in cell 3; the first row ends with"):
        read_table(path)
    table = read_table(path, bad_rows="skip")
    assert table.data.to_pydict() == {"a": [1, 5], "b": [2, None]}
    assert table.notes == ("1 row with more cells than the first were left out",)


def test_a_sheet_without_rows(tmp_path):
    with pytest.raises(TableError, match="its first sheet is empty"):
        read_table(saved(workbook([]), tmp_path / "a.xlsx"))
    with pytest.raises(TableError, match="has a header but no rows"):
        read_table(saved(workbook([("a",)]), tmp_path / "b.xlsx"))


def test_without_openpyxl_it_is_said_what_to_install(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'robustpu\[excel\]'"):
        read_table(path)


def changed(path, name, change):
    """A copy of a workbook with a part changed, in place."""
    with zipfile.ZipFile(path) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    parts[name] = change(parts.get(name, b""))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in parts.items():
            archive.writestr(each, content)


SHEET = "xl/worksheets/sheet1.xml"
BOOK = "xl/workbook.xml"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"


def test_texts_that_are_stored_once_are_read(path):
    # As Excel writes them, and openpyxl does not.
    inline = b't="inlineStr"><is><t>Bern</t></is>'
    changed(path, SHEET, lambda part: part.replace(inline, b't="s"><v>0</v>'))
    entry = f'<Override PartName="/xl/texts.xml" ContentType="{KIND}" /></Types>'
    changed(path, "[Content_Types].xml", lambda part: part.replace(b"</Types>", entry.encode()))
    text = f'<sst xmlns="{MAIN}"><si><t>Olten</t></si></sst>'
    changed(path, "xl/texts.xml", lambda _: text.encode())
    assert read_table(path).data.column("city").to_pylist()[0] == "Olten"


@pytest.mark.parametrize(
    ("part", "size"), [(SHEET, 1 << 30), ("xl/sharedStrings.xml", 1 << 26), (BOOK, 1 << 24)]
)
def test_sizes_are_refused_before_anything_is_read(path, monkeypatch, part, size):
    opened = []
    entries = zipfile.ZipFile.infolist

    def enlarged(archive):
        entry = zipfile.ZipInfo(part)
        entry.file_size = size + 1
        return [*entries(archive), entry]

    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *given: opened.append(given))
    monkeypatch.setattr(zipfile.ZipFile, "infolist", enlarged)
    with pytest.raises(TableError, match="MB, unpacked, where"):
        read_table(path)
    assert not opened


def test_pictures_do_not_count(path):
    changed(path, "xl/media/image1.png", lambda _: b"\x89PNG" + bytes(17 << 20))
    assert read_table(path).n_rows == 3
    changed(path, "xl/media/image1.png", lambda _: b"<a/>" + bytes(17 << 20))
    with pytest.raises(TableError, match="17 MB, unpacked, where 16 are read"):
        read_table(path)


@pytest.mark.parametrize("name", [SHEET, BOOK])
def test_a_cell_without_end_is_refused(path, name):
    changed(path, name, lambda part: part.replace(b"</", b" " * (2 << 20) + b"</", 1))
    with pytest.raises(TableError, match="has 256 KB without a tag"):
        read_table(path)


@pytest.mark.parametrize("text", [b'<!DOCTYPE a [<!ENTITY b "c">]>', b"<!--x-->", b"<?x?>"])
def test_what_hides_tags_is_refused(path, text):
    changed(path, BOOK, lambda part: part.replace(b"<workbook", text + b"<workbook", 1))
    with pytest.raises(TableError, match="which Excel never writes"):
        read_table(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<a/>" * 300 + b"<row><c/></row>" * 3, "too much that is in no row"),
        (b"<row>" + b"<c/>" * 300 + b"</row>", "too long a row"),
        (b"<row/>" * 30, "too many rows"),
        (b'<x:row r="1"/>' * 30, "too many rows"),
        (b'<row a=">"/>' + b"<a/>" * 10 + b"<row></row>", "a row in a row"),
        (b"<row></row></row>", "a row in a row"),
        (b"<rows/>" * 30 + b"<row><row2/></row>" * 3, ""),
    ],
)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_what_openpyxl_would_keep_is_bounded(monkeypatch, content, message, chunk):
    monkeypatch.setattr(excel_sizes, "CHUNK", chunk)
    limits = excel_sizes.Limits(0, b"row", longest=1_000, most=20, elsewhere=1_000)
    found = excel_sizes._wrong(io.BytesIO(b"<s>" + content + b"</s>").read, limits)
    assert message in found
    assert bool(message) == bool(found)


def test_rows_that_no_sheet_has_are_refused(path):
    changed(path, SHEET, lambda part: part.replace(b'<row r="5"', b'<row r="99999999999"'))
    with pytest.raises(TableError, match="more than 1,048,576 rows"):
        read_table(path)


def test_a_size_that_the_file_claims_does_not_matter(path):
    before = read_table(path).data.to_pydict()
    changed(path, SHEET, lambda part: part.replace(b"A1:E5", b"A1:XFD1048576"))
    assert read_table(path).data.to_pydict() == before


def test_damage_is_named(path):
    whole = path.read_bytes()
    for part, change in ((SHEET, lambda part: part[:300]), (SHEET, lambda part: b"<a/>")):
        path.write_bytes(whole)
        changed(path, part, change)
        with pytest.raises(TableError, match=r"claims\.xlsx"):
            read_table(path)
    path.write_bytes(whole[:-200])
    with pytest.raises(TableError, match="is damaged"):
        read_table(path)


def test_other_documents_are_named(tmp_path):
    path = tmp_path / "a.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    with pytest.raises(TableError, match="a workbook that is not of Excel"):
        read_table(path)
    path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(1000))
    with pytest.raises(TableError, match="old or encrypted Excel workbook"):
        read_table(path)
