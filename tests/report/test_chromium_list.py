"""The fold and the list in a real browser, at the widths that people have."""

import pytest
from chromium import chromium, complaints
from claims import page_of, stored

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium")


def test_what_is_folded_is_printed_and_opened_by_its_link(browser, tmp_path):
    path = tmp_path / "report.html"
    made = stored(3, 3)
    made["rounds"]["best"] = 0
    path.write_text(page_of(made), encoding="utf-8")
    page = browser.open(path)
    picture = "document.querySelector('#rounds svg').checkVisibility({contentVisibilityAuto: true})"
    assert page.run("document.querySelector('#rounds details').open") is False
    page.run("""document.querySelector('nav a[href="#rounds"]').click()""")
    page.wait("Page.navigatedWithinDocument")
    assert page.run("document.querySelector('#rounds details').open") is True
    page.run("document.querySelector('#rounds details').open = false")
    page.print()
    assert page.run("document.querySelector('#rounds details').open") is True
    assert page.run(picture) is True
    assert complaints(page) == []
    page.close()


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


def test_a_narrow_screen_names_the_cells_that_no_driver_tells(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page_of(stored(3)), encoding="utf-8")
    page = browser.open(path, width=390)
    first = stored(3)["suspects"][0]
    driving = {each["column"] for each in first["drivers"]}
    seen = page.run("""[...list.tBodies[0].rows[0].cells].filter((cell) =>
        cell.checkVisibility() && cell.dataset.name).map((cell) => cell.dataset.name)""")
    assert seen == [name for name, value in first["shown"].items() if name not in driving and value]
    page.close()
