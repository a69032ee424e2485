"""The page in a real browser. It is started once; each test opens a page of its own."""

import json
import re
import zlib

import pytest
from chromium import chromium, complaints
from claims import page_of, stored
from test_results_page import poisoned

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium")

# Contrast of every text with what lies behind it, as the style sheet asks for it.
CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const linear = (v) => (v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    const [r, g, b] = colour.map((v) => linear(v / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
  };
  const seen = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility()) continue;
    if (node.closest("script, style, title")) continue;
    const style = getComputedStyle(node);
    const colours = [rgba(node.closest("svg") ? style.fill : style.color), behind(node)];
    const [a, b] = colours.map(light).sort((x, y) => y - x);
    const key = `${node.tagName}.${node.getAttribute("class") || ""}`;
    seen.set(key, Math.min((a + .05) / (b + .05), seen.get(key) ?? 99));
  }
  return [...seen].sort((x, y) => x[1] - y[1]);
})()"""
MANY = 160
ROWS = """[...document.querySelectorAll("#list tbody tr:not([hidden])")]"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_of(stored(MANY)), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser, report):
    page = browser.open(report)
    yield page
    assert complaints(page) == []
    page.close()


def column(page, place):
    return page.run(f"{ROWS}.map((row) => row.cells[{place}].textContent)")


def choose(page, id, option):
    page.run(f"""(() => {{ const box = document.getElementById({id!r}); box.value = {option!r};
        box.dispatchEvent(new Event("change")); }})()""")


def reasons(suspect):
    return [*suspect["drivers"], *suspect["against"]]


def press_head(page, name):
    page.run(f"""[...document.querySelectorAll("#list thead button")]
        .find((button) => button.textContent === {json.dumps(name)}).click()""")


def type_filter(page, words):
    page.run(f"""(() => {{ const box = document.getElementById("filter"); box.value = {words!r};
        box.dispatchEvent(new Event("input")); }})()""")


def test_it_asks_the_network_for_nothing(opened, report):
    asked = [each["request"]["url"] for each in opened.seen("Network.requestWillBeSent")]
    assert asked == [report.as_uri()]


def test_the_first_hundred_then_all(opened):
    assert len(column(opened, 1)) == 100
    assert opened.run("shown.textContent") == f"100 of {MANY} rows"
    choose(opened, "length", f"all {MANY}")
    assert len(column(opened, 1)) == MANY
    assert opened.run("shown.textContent") == f"{MANY} rows"


def test_it_sorts_numbers_as_numbers_both_ways_with_gaps_last(opened):
    choose(opened, "length", f"all {MANY}")
    made = stored(MANY)["suspects"]
    press_head(opened, "amount")
    amounts = [float(each["shown"]["amount"].replace(",", "")) for each in made]
    assert [float(text.replace(",", "")) for text in column(opened, 6)] == sorted(
        amounts, reverse=True
    )
    sorts = """[...document.querySelectorAll("#list th[aria-sort]")].map((head) => head.ariaSort)"""
    assert opened.run(sorts) == ["none", "none", "none", "none", "descending", "none", "none"]
    for way in (True, False):
        press_head(opened, "vehicle_age")
        ages = column(opened, 8)
        known = [float(text) for text in ages if text]
        assert known == sorted(known, reverse=way)
        assert ages[len(known) :] == [""] * (MANY // 17)
    assert opened.run(sorts)[-1] == "ascending"
    press_head(opened, "#")
    assert column(opened, 1) == [str(rank) for rank in range(1, MANY + 1)]


def test_it_sorts_texts_and_scores(opened):
    press_head(opened, "claim_id")
    ids = sorted(each["id"] for each in stored(MANY)["suspects"])
    assert column(opened, 2) == ids[:100]
    press_head(opened, "score")
    assert column(opened, 1) == [str(rank) for rank in range(1, 101)]


def test_it_filters_by_words_and_by_reason(opened):
    made = stored(MANY)["suspects"]
    type_filter(opened, made[123]["id"].lower())
    assert column(opened, 2) == [made[123]["id"]]
    assert opened.run("shown.textContent") == "1 row"
    type_filter(opened, "leith usual")
    fits = [m for m in made if "Leith" in {each["value"] for each in reasons(m)}]
    assert 10 < len(fits) < 60
    assert column(opened, 2) == [each["id"] for each in fits]
    type_filter(opened, "")
    choose(opened, "reason", "amount")
    fits = [m for m in made if "amount" in [each["column"] for each in reasons(m)]]
    assert opened.run("shown.textContent") == f"100 of {len(fits)} rows"
    type_filter(opened, "nothing like it")
    assert column(opened, 1) == []


def test_the_keyboard_is_enough(opened):
    focused = "document.activeElement.id || document.activeElement.textContent"
    for _ in range(30):
        opened.press("Tab")
        if opened.run(focused) == "filter":
            break
    opened.press(*"leith")
    assert 0 < len(column(opened, 1)) < 100
    opened.press("Escape")
    assert opened.run("filter.value") == ""
    assert len(column(opened, 1)) == 100
    for name in ("reason", "checked", "length", "copy", "download", None, "#"):
        opened.press("Tab")
        assert name in (None, opened.run(focused))
    assert opened.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    opened.press("Enter")
    assert opened.run("document.activeElement.parentNode.ariaSort") == "descending"
    assert column(opened, 1)[0] == str(MANY)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_in_both_schemes(browser, report, scheme):
    page = browser.open(report, scheme=scheme)
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    found = page.run(CONTRAST)
    assert len(found) > 30
    assert [pair for pair in found if pair[1] < 4.5] == []
    assert brightness(page.picture()) == pytest.approx({"light": 248, "dark": 22}[scheme], abs=2)
    page.close()


def test_the_switch_overrides_the_system_and_works_without_scripts(browser, report):
    page = browser.open(report, scheme="dark", scripts=False)
    rows = "document.querySelectorAll('#list tbody tr:not([hidden])').length"
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.run(rows) == MANY
    assert page.run("document.querySelector('.tools').checkVisibility()") is False
    assert page.run(paper) == "rgb(17, 23, 27)"
    page.run("light.click()")
    assert page.run(paper) == "rgb(250, 249, 246)"
    page.scheme("light")
    page.run("dark.click()")
    assert page.run(paper) == "rgb(17, 23, 27)"
    assert complaints(page) == []
    page.close()


def test_nothing_sticks_out_sideways(opened):
    opened.run("for (const each of document.querySelectorAll('details')) each.open = true")
    for width in (360, 390, 768, 1024, 1280):
        opened.size(width, 800)
        assert opened.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [400, 1400])
def test_texts_of_pictures_have_one_size_and_stay_in_their_cards(browser, report, width):
    page = browser.open(report, width=width)
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    sizes = page.run("""[...new Set([...document.querySelectorAll("svg text")].map((text) =>
        Math.round(10 * text.getScreenCTM().a * parseFloat(getComputedStyle(text).fontSize))))]""")
    assert sizes == [120]
    outside = page.run("""[...document.querySelectorAll("svg text")].filter((text) => {
        const box = text.getBoundingClientRect();
        const card = text.closest("figure").getBoundingClientRect();
        return box.left < card.left || box.right > card.right || box.bottom > card.bottom;
    }).map((text) => text.textContent)""")
    assert outside == []
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_no_reason_lies_over_the_next_column(browser, tmp_path, width):
    found = stored(3)
    for suspect in found["suspects"]:
        for driver in suspect["drivers"]:
            driver["value"] = "a value that is as long as values may be, and somewhat longer"
    path = tmp_path / "report.html"
    path.write_text(page_of(found), encoding="utf-8")
    page = browser.open(path)
    page.size(width, 800)
    wider = page.run("""[...document.querySelectorAll("#list td.reasons")].filter((cell) =>
        [...cell.children].some((line) => line.scrollWidth > cell.clientWidth)).length""")
    assert wider == 0
    page.close()


def brightness(picture):
    """Mean of the colours of a picture's first pixel, which is paper."""
    chunks, at = b"", 8
    while at < len(picture):
        size = int.from_bytes(picture[at : at + 4], "big")
        if picture[at + 4 : at + 8] == b"IDAT":
            chunks += picture[at + 8 : at + 8 + size]
        at += size + 12
    line = zlib.decompress(chunks)
    # After the byte that names the filter; no filter changes the first pixel.
    return sum(line[1:4]) / 3


def test_it_prints_on_a_few_sheets_of_a4_always_light(browser, report):
    page = browser.open(report, scheme="dark")
    document = page.print()
    assert document.startswith(b"%PDF")
    sheets = len(re.findall(rb"/Type\s*/Page[^s]", document))
    assert 6 <= sheets <= 12
    sizes = {
        tuple(map(float, box)) for box in re.findall(rb"/MediaBox \[0 0 (\S+) (\S+)\]", document)
    }
    assert all(abs(w - 595) < 2 and abs(h - 842) < 2 for w, h in sizes)
    page.send("Emulation.setEmulatedMedia", media="print")
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.run("document.querySelector('nav').checkVisibility()") is False
    assert page.run("document.querySelector('#technical h3').checkVisibility()") is False
    assert page.run("document.querySelector('#list .check').checkVisibility()") is True
    assert complaints(page) == []
    page.close()


def test_hostile_texts_do_nothing(browser, tmp_path):
    path = tmp_path / "hostile.html"
    path.write_text(page_of(poisoned(stored(60, 20))), encoding="utf-8")
    page = browser.open(path)
    assert page.run("document.images.length + document.scripts.length") == 1
    choose(page, "length", "all 60")
    assert len(column(page, 1)) == 60
    assert complaints(page) == []
    assert len(page.seen("Network.requestWillBeSent")) == 1
    page.close()
