"""The list in a real browser: what is checked and taken away, at the widths that people have."""

import csv
import time

import pytest
from chromium import chromium, complaints
from claims import page_of, stored

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium")


def answer(page, row, value):
    page.run(f"list.tBodies[0].rows[{row}].querySelector('[value={value}]').click()")


def wait_for(path):
    """A file that the browser is writing."""
    end = time.monotonic() + 10
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def marked(browser, tmp_path):
    """A page on which two rows were checked, and the folder that takes what is downloaded."""
    made = stored(30)
    made["suspects"][1]["id"] = '=SUM("A1")'
    path = tmp_path / "report.html"
    path.write_text(page_of(made, made=str(tmp_path)), encoding="utf-8")
    browser.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page = browser.open(path)
    assert page.run("checks.checkVisibility()") is False
    answer(page, 0, "yes")
    answer(page, 1, "no")
    yield page, made["suspects"], tmp_path
    assert complaints(page) == []
    page.close()


def test_what_was_checked_is_a_file_for_the_next_fit(marked):
    page, suspects, folder = marked
    assert page.run("shown.textContent") == "30 rows; checked: 1 yes, 1 no"
    page.run("checks.click()")
    rows = wait_for(folder / "checked.csv")
    assert list(rows[0]) == ["claim_id", "row", "checked"]
    assert [each["checked"] for each in rows] == ["yes", "no"]
    assert [int(each["row"]) for each in rows] == [each["row"] for each in suspects[:2]]
    # No spreadsheet runs it.
    assert [each["claim_id"] for each in rows] == [suspects[0]["id"], '\'=SUM("A1")']


def test_the_list_is_a_file_as_it_is_shown(marked):
    page, suspects, folder = marked
    page.run("document.getElementById('filter').value = 'leith'; download.click()")
    rows = wait_for(folder / "list.csv")
    fits = [each for each in suspects if "Leith" in [one["value"] for one in each["drivers"]]]
    assert [each["claim_id"] for each in rows if each["claim_id"][0] != "'"] == [
        each["id"] for each in fits if each["id"][0] != "="
    ]
    assert list(rows[0])[:6] == [
        *("claim_id", "row", "score", "checked", "reasons for", "reasons against")
    ]
    assert float(rows[0]["score"]) == pytest.approx(fits[0]["score"], abs=1e-5)
    assert "region Leith" in rows[0]["reasons for"]


def test_what_was_checked_is_there_again_and_can_be_taken_back(marked, browser):
    folder = marked[2]
    again = browser.open(folder / "report.html")
    assert again.run("shown.textContent").endswith("checked: 1 yes, 1 no")
    again.run("checked.selectedIndex = 2; checked.dispatchEvent(new Event('change'))")
    assert again.run("list.querySelectorAll('tbody tr:not([hidden])').length") == 1
    # A second click takes a mark back.
    again.run("""(() => {
        const label = list.querySelector("[value=no]:checked").parentNode;
        label.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true}));
        label.click();
    })()""")
    assert again.run("shown.textContent").endswith("checked: 1 yes, 0 no")
    again.close()


@pytest.mark.parametrize("width", [390, 768, 1024, 1200])
def test_no_column_of_the_list_is_cut(browser, tmp_path, width):
    made = stored(12)
    for each in made["suspects"]:
        each["shown"]["remarks"] = "Struck by a bird of unknown kind shortly after the take-off run"
    path = tmp_path / "report.html"
    path.write_text(page_of(made), encoding="utf-8")
    page = browser.open(path, width=width)
    assert page.run("list.offsetWidth <= list.parentNode.clientWidth") is True
    beyond = page.run("""[...list.querySelectorAll("th, td")].filter((cell) =>
        cell.checkVisibility() && cell.getBoundingClientRect().right > innerWidth).length""")
    assert beyond == 0
    broken = page.run("""[...list.querySelectorAll("tbody th")].filter((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length > 1;
    }).length""")
    assert broken == 0
    page.close()


def test_a_narrow_screen_names_the_cells_that_no_reason_tells(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page_of(stored(3)), encoding="utf-8")
    page = browser.open(path, width=390)
    first = stored(3)["suspects"][0]
    told = {each["column"] for each in first["drivers"] + first["against"]}
    seen = page.run("""[...list.tBodies[0].rows[0].cells].filter((cell) =>
        cell.checkVisibility() && cell.dataset.name).map((cell) => cell.dataset.name)""")
    cells = list(first["shown"].items())[:3]
    assert seen == [name for name, value in cells if name not in told and value]
    page.close()
