import base64
import hashlib
import re

import pytest
from claims import page_of, rounds, sensitivity, stored

from markup import Reader

SECTIONS = ["quality", "yield", "scores", "rounds", "suspects", "important", "data", "settings"]
HOSTILE = "</script></style><img src=x onerror=alert(1)>\"'&\x00\u202e\ud800"


@pytest.fixture(scope="module")
def whole():
    return Reader(page_of())


def test_the_headline_says_what_was_found(whole):
    assert "About 2,100 of the 99,688 unlabelled rows are positive (1,500 to 3,000)" in whole.words
    assert "Of the first 100 rows of the list below , about 96 should be right" in whole.words


def test_a_lower_end_of_zero_is_an_end_like_others():
    made = stored()
    made["prior"]["low"] = 0.0
    page = page_of(made)
    assert "unlabelled rows are positive (0 to 3,000)" in Reader(page).words
    assert 'class="hits"' in page


@pytest.fixture(scope="module")
def unknown():
    """The page of rows that do not tell the share of positives."""
    made = stored()
    made["prior"] |= {"low": 0.004, "high": 0.2, "is_known": False}
    made["sensitivity"] = sensitivity((0.005, 0.01, 0.02, 0.05, 0.1))
    return page_of(made)


class TestUnknownShare:
    def test_the_headline_promises_no_number(self, unknown):
        words = Reader(unknown).words
        assert "Start with these 100 rows: the most likely positives of 99,688" in words
        assert "About 2,100 of the" not in words
        assert "should be right" not in words
        # The shares around the cautious one, 2.1 %.
        assert re.findall(r"[Ii]f ([\d.]+) % of all", words) == ["1.0", "2.0", "5.0"]
        assert "These rows do not tell the share: more shares" in words

    def test_there_is_no_curve_and_no_table_of_one_share(self, unknown):
        assert 'class="hits"' not in unknown
        assert "Expected positives among the first rows" not in unknown
        assert "How far down is it worth looking?" not in unknown
        known = page_of()
        assert 'class="hits"' in known
        assert "Expected positives among the first rows" in known
        assert "How far down is it worth looking?" in known

    def test_the_table_by_share_is_in_its_place(self, unknown):
        start, end = (unknown.index(f'<section id="{name}">') for name in ("yield", "scores"))
        assert unknown.count('<table class="sensitivity">') == 1
        table = unknown[start:end]
        assert '<table class="sensitivity">' in table
        shares = re.findall(r'<th scope="row">([\d.]+).%</th>', table)
        assert [float(share) for share in shares] == [0.5, 1, 2, 5, 10]
        known = page_of()
        assert known.index('<table class="sensitivity">') > known.index('<section id="scores">')

    def test_without_lists_it_says_no_number_of_rows(self):
        made = stored(top=[], sensitivity=[])
        made["prior"] |= {"is_known": False}
        assert "Start with the first rows: the most likely" in Reader(page_of(made)).words


MEMBERS = [
    {"name": "hinges", "weight": 0.6, "auc": 0.913},
    {"name": "svm <b>", "weight": 0.4, "auc": 0.88},
]


def test_the_members_of_a_pool_are_a_section():
    html = page_of(members=MEMBERS)
    page = Reader(html)
    places = [a["id"] for a in page.all("section")]
    assert places[1:] == [*SECTIONS[:-2], "members", *SECTIONS[-2:]]
    assert "What the ranking rests on" in page.words
    table = html[html.index('<section id="members">') : html.index('<section id="data">')]
    names = re.findall(r'<th scope="row">(.*?)</th>', table)
    # A member of the user's own has no other name, and is no markup.
    assert names == ["linear, with bends in each column", "svm &lt;b&gt;"]
    cells = [cell.replace("\xa0", " ") for cell in re.findall(r"<td>(.*?)</td>", table)]
    assert cells == ["60 %", "91.3 %", "40 %", "88 %"]


def test_other_methods_have_no_members(whole):
    assert "members" not in [a["id"] for a in whole.all("section")]


def test_sections_come_in_the_order_of_questions(whole):
    assert [a["id"] for a in whole.all("section")] == ["alarms", *SECTIONS]
    assert [a["href"] for a in whole.all("a")] == [
        "#suspects",
        *(f"#{name}" for name in SECTIONS),
    ]


def test_ids_are_unique(whole):
    ids = [a["id"] for _, a in whole.found if "id" in a]
    assert len(ids) == len(set(ids))


def test_what_stands_on_the_page(whole):
    for words in (
        "A column may give the label away.",
        "Estimates without negatives on 312 labelled positives and 99,688 unlabelled rows",
        "Precision share of the flagged rows that are positive",
        "55 to 99\xa0%".replace("\xa0", " "),
        "2 of 12 networks keep round 0, before the correction; the others keep rounds 7 to 10.",
        "The middle one of the best rounds is 8: 2.8 % of the unlabelled rows are flagged after it",
        "of the unlabelled rows flagged, score ≥ 0.5 2.4 %",
        "more likely too high than too low",
        "Precision of the first 2,000 rows of the list",
        "Left out, as asked: handler.",
        "Three methods agree within a factor of 1.4.",
        "robustpu fit claims.parquet --label is_fraud --id claim_id --out claims/",
        "All 80 columns: 77 number, 3 category",
        "16 further columns",
    ):
        assert words in whole.words, words


def test_every_suspect_is_a_row_with_its_drivers(whole):
    rows = [a for a in whole.all("td") if a.get("class") == "drivers"]
    assert len(rows) == 500
    bars = [a["class"] for a in whole.all("i") if "up" in a.get("class", "")]
    assert len(bars) + len([a for a in whole.all("i") if "down" in a["class"]]) == 1500
    made = stored()["suspects"][4]
    assert made["id"] in whole.words
    assert f"{made['drivers'][0]['effect']:+.2f}" in whole.words


def test_pictures_have_names_and_tables_have_heads(whole):
    assert all(a.get("role") == "img" or "aria-hidden" in a for a in whole.all("svg"))
    assert all(len(a["aria-label"]) > 10 for a in whole.all("svg", role="img"))
    assert all(a.get("scope") in ("row", "col") for a in whole.all("th"))
    sorts = [a["aria-sort"] for a in whole.all("th") if "aria-sort" in a]
    assert sorts == ["ascending", *["none"] * (len(sorts) - 1)]


def test_nothing_is_loaded_and_the_policy_allows_only_what_is_there():
    html = page_of()
    reader = Reader(html)
    assert not [a for _, a in reader.found if {"src", "style", "srcset"} & set(a)]
    assert not [a for _, a in reader.found for name in a if name.startswith("on")]
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in reader.found}
    assert "url(" not in html
    assert "@import" not in html
    assert not re.search(r"https?://", html)
    (policy,) = reader.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert "unsafe" not in policy["content"]
    assert policy["content"].startswith("default-src 'none';")
    for kind in ("style", "script"):
        digest = hashlib.sha256(reader.inline[kind].encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy["content"]


def test_it_is_small_and_a_pure_function():
    html = page_of()
    assert len(html.encode()) < 500_000
    assert html == page_of()


def test_long_texts_do_not_make_it_large():
    made = stored()
    for each in made["suspects"]:
        each["id"] = "i" * 5000
        each["shown"] = dict.fromkeys(each["shown"], "v" * 5000)
        for driver in each["drivers"]:
            driver["value"] = "w" * 5000
    assert len(page_of(made).encode()) < 1_000_000


def test_methods_without_rounds_have_no_section_of_them():
    reader = Reader(page_of(stored(3, 3, rounds=None)))
    assert "rounds" not in [a["id"] for a in reader.all("section")]


@pytest.mark.parametrize(
    ("best", "n_best", "words"),
    [
        (2, [0, 0, 5], "The correction improved all of 5 networks, which keep round 2."),
        (0, [4, 0, 0], "did not improve any of 4 networks: all keep round 0, before it."),
    ],
)
def test_what_the_rounds_brought_is_said(best, n_best, words):
    made = rounds(3, best, n_best)
    assert words in Reader(page_of(stored(3, 3, rounds=made))).words


def test_a_prior_that_was_given_needs_no_caveat():
    found = stored()
    found["prior"].update(source="given", low=None, high=None)
    assert "too high" not in Reader(page_of(found)).words


def test_a_given_share_that_rows_refute_is_not_called_the_users():
    found = stored()
    found["prior"].update(source="given", low=0.0, high=0.2, value=0.2)
    words = Reader(page_of(found)).words
    assert "; the most that held-out scores allow." in words
    assert "given by you" not in words


def test_no_alarm_no_box():
    assert 'id="alarms"' not in page_of(stored(3, 3, alarms=[]))


def test_rows_without_ids_are_named_by_their_row():
    made = stored(3, 3)
    for each in made["suspects"]:
        each["id"] = None
    reader = Reader(page_of(made))
    assert "claim_id ↕" not in reader.words
    assert f"{made['suspects'][0]['row']:,}" in reader.words


def test_estimates_that_were_clipped_are_marked():
    made = stored(3, 3)
    made["evaluation"]["metrics"][1]["clipped"] = True
    assert "Precision<sup>*</sup>" in page_of(made)
    assert "<sup>*</sup>" not in page_of(stored(3, 3))


def test_single_set_guesses_are_of_the_whole_population():
    def marks(scenario):
        html = page_of(stored(1, 1, scenario=scenario))
        return re.findall(r'class="blind" d="M([\d.]+) 23v14', html)

    prior = (312 + 0.021 * 99_688) / 100_000
    assert float(marks("case-control")[0]) == pytest.approx(6 + 288 * 0.021, abs=0.06)
    assert float(marks("single-set")[0]) == pytest.approx(6 + 288 * prior, abs=0.06)


def poisoned(value):
    """The same document with every text and every name replaced, where any text is allowed."""
    if isinstance(value, dict):
        return {name: _poisoned_entry(name, part) for name, part in value.items()}
    if isinstance(value, list):
        return [poisoned(part) for part in value]
    return HOSTILE if isinstance(value, str) else value


def _poisoned_entry(name, part):
    if name in ("scenario", "source"):
        return part
    if name == "metrics":
        # Only a metric of a known name may be larger than 1.
        return [{**each, "name": HOSTILE} if each["high"] <= 1 else each for each in part]
    if name in ("estimates", "parameters", "shown", "versions", "options"):
        return {f"{HOSTILE}{i}": poisoned(each) for i, each in enumerate(part.values())}
    return poisoned(part)


def test_nothing_from_the_data_is_taken_for_markup(whole):
    html = page_of(poisoned(stored(20, 20)))
    reader = Reader(html)
    assert not reader.all("img")
    assert not [name for _, a in reader.found for name in a if name.startswith("on")]
    assert html.lower().count("</script") == html.lower().count("</style") == 1
    assert {tag for tag, _ in reader.found} <= {tag for tag, _ in whole.found}
    # Every file can hold it, and no mark turns the text around it.
    html.encode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", html)
    assert reader.words.count("<img src=x onerror=alert(1)>") > 50
