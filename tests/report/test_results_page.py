import base64
import hashlib
import re

import pytest
from claims import page_of, rounds, stored

from markup import Reader

SECTIONS = ["suspects", "prospects", "important", "data", "technical"]
HOSTILE = "</script></style><img src=x onerror=alert(1)>\"'&\x00\u202e\ud800"


@pytest.fixture(scope="module")
def whole():
    return Reader(page_of())


def test_the_headline_says_what_to_do_and_what_it_will_bring(whole):
    assert "Start with these 100 rows: 83 to 100 of them are likely positive" in whole.words
    assert "The best guess is 96 of these 100." in whole.words
    assert "about 2,100 of the 99,688 unlabelled rows are positive (1,500 to 3,000)" in whole.words
    assert "half of them came back among the first 1 % of the rows" in whole.words
    assert "312 known positives (is_fraud is 1)" in whole.words


def test_a_lower_end_of_zero_is_no_promise():
    made = stored()
    made["prior"]["low"] = 0.0
    for top in made["top"]:
        top["low"] = 0.0
    words = Reader(page_of(made)).words
    assert "Start with these 100 rows: at most 100 of them are likely positive" in words
    assert "unlabelled rows are positive (at most 3,000)" in words


# What a fraud analyst does not say, and need not read.
TECHNICAL = re.compile(
    r"prior|--\w|dedpul|precision|recall|log-odds|self-correction|threshold|network|estimat|"
    r"RobustPU|AUC(?! 0\.997)|case-control",
    re.IGNORECASE,
)


@pytest.mark.parametrize("is_known", [True, False])
def test_above_the_technical_details_there_are_no_technical_words(is_known):
    made = stored()
    made["prior"]["is_known"] = is_known
    html = page_of(made)
    above = html[html.index("<body>") : html.index('<section id="technical">')]
    assert TECHNICAL.findall(re.sub("<[^>]*>", " ", above)) == []


def test_an_alarm_stands_there_once():
    made = stored()
    made["alarms"] = [
        {"kind": kind, "text": f"{kind} is wrong."} for kind in ("leak", "prior", "few", "new")
    ]
    made["alarms"].append({"kind": "fit", "text": "lr is None."})
    made["prior"]["warnings"] = ["prior is wrong."]
    words = Reader(page_of(made)).words
    for kind in ("leak", "prior", "few", "new"):
        assert words.count(f"{kind} is wrong.") == 1
    assert "Check these 5 things first" in words
    assert "The training gave a warning. It stands under technical details" in words
    assert words.index("lr is None.") > words.index("Warnings of the training")


MEMBERS = [
    {"name": "hinges", "weight": 0.6, "auc": 0.913},
    {"name": "svm <b>", "weight": 0.4, "auc": 0.88},
]


def test_the_members_of_a_pool_have_names_and_weights():
    html = page_of(members=MEMBERS)
    (table,) = re.findall('<table class="weights">.*?</table>', html)
    names = re.findall(r'<th scope="row">(.*?)</th>', table)
    # A member of the user's own has no other name, and is no markup.
    assert names == ["linear, with bends in each column", "svm &lt;b&gt;"]
    assert re.findall(r"<td>(\d+)\xa0%</td>", table) == ["60", "40"]
    assert [int(n) for n in re.findall(r'class="n(\d+)"', table)] == [24, 16]


def test_other_methods_have_no_members(whole):
    assert "Learners and their weights" not in whole.words


def test_sections_come_in_the_order_of_questions(whole):
    assert [a["id"] for a in whole.all("section")] == ["alarms", *SECTIONS]
    links = [a["href"] for a in whole.all("a")]
    assert links == ["#trust", *(f"#{name}" for name in SECTIONS)]
    assert [a["id"] for a in whole.all("div", id="trust")] == ["trust"]


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
        "The middle one of the best rounds is 8: 2.8 % are flagged after it",
        "A row is flagged from a score of 0.5 on, as 2.4 % of the unlabelled rows are.",
        "more likely too high than too low",
        "Precision of the first 2,000 rows of the list",
        "Left out, as asked: handler.",
        "robustpu fit claims.parquet --label is_fraud --id claim_id --out claims/",
        "All 80 columns: 77 number, 3 category",
        "28 further columns, less important",
    ):
        assert words in whole.words, words


def test_every_suspect_is_a_row_with_its_reasons_and_two_answers(whole):
    rows = [a for a in whole.all("td") if a.get("class") == "reasons"]
    assert len(rows) == 500
    bars = [a["class"] for a in whole.all("i") if re.match("up|down", a.get("class", ""))]
    assert len(bars) == 1500
    made = stored()["suspects"][4]
    assert made["id"] in whole.words
    answers = whole.all("input", type="radio", name=f"row{made['row']}")
    assert [a["value"] for a in answers] == ["yes", "no"]


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
    assert len(html.encode()) < 600_000
    assert html == page_of()


def test_long_texts_do_not_make_it_large():
    made = stored()
    for each in made["suspects"]:
        each["id"] = "i" * 5000
        each["shown"] = dict.fromkeys(each["shown"], "v" * 5000)
        for driver in each["drivers"]:
            driver["value"] = "w" * 5000
    assert len(page_of(made).encode()) < 1_000_000


def test_methods_without_rounds_have_no_word_of_them():
    assert "Self-correction" not in Reader(page_of(stored(3, 3, rounds=None))).words


@pytest.mark.parametrize(
    ("best", "n_best", "words"),
    [
        (2, [0, 0, 5], "It improved all of 5 networks, which keep round 2."),
        (0, [4, 0, 0], "It did not improve any of 4 networks: all keep round 0, before it."),
    ],
)
def test_what_the_rounds_brought_is_said(best, n_best, words):
    made = rounds(3, best, n_best)
    assert words in Reader(page_of(stored(3, 3, rounds=made))).words


def test_a_prior_that_was_given_needs_no_caveat():
    found = stored()
    found["prior"].update(source="given", low=None, high=None)
    words = Reader(page_of(found)).words
    assert "too high" not in words
    assert "unlabelled rows are positive, as you said." in words


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
        return re.findall(r'<line x1="([\d.]+)%" y1="1" [^>]*class="chance"', html)

    prior = (312 + 0.021 * 99_688) / 100_000
    assert float(marks("case-control")[0]) == pytest.approx(2.1)
    assert float(marks("single-set")[0]) == pytest.approx(100 * prior, abs=0.006)


LONG = "Struck by a bird of unknown kind shortly after the take-off run began"


def listed(**cells):
    """The rows of a list whose second reason is the region."""
    made = stored(4, 3)
    for each in made["suspects"]:
        each["shown"] = {"amount": "1,200", "region": "Leith", **cells}
        each["against"] = []
        each["drivers"] = [
            {"column": "amount", "value": "1,200", "effect": 1.5},
            {"column": "region", "value": "Leith", "effect": 0.5},
        ]
    return made


def test_a_long_text_is_read_once_in_each_row_and_makes_no_column():
    made = listed(remarks=LONG)
    html = page_of(made)
    assert html.count(LONG) == 4
    assert html.count(f'<p class="rest"><bdi>remarks</bdi> <bdi>{LONG}</bdi>') == 4
    assert 'aria-sort="none">remarks</th>' not in html
    assert 'aria-sort="none">region</th>' in html
    # As a reason it is not cut, and not repeated.
    made["suspects"][0]["drivers"][1] = {"column": "remarks", "value": LONG, "effect": 0.7}
    html = page_of(made)
    assert html.count(LONG) == 4
    assert html.count('<p class="rest">') == 3
    assert f"<bdi>remarks</bdi> <b><bdi>{LONG}</bdi></b>" in html


def test_without_reasons_a_long_text_has_a_column():
    made = listed(remarks=LONG)
    for each in made["suspects"]:
        each["drivers"] = []
    html = page_of(made)
    assert html.count('aria-sort="none">remarks</th>') == 1
    assert html.count(LONG[:59]) == 4
    assert 'class="reasons"' not in html


def test_scores_never_say_that_a_row_is_certain():
    made = stored(4, 3)
    made["suspects"][0]["score"] = 0.99999
    assert '<td data-v="0.99999">&gt;\xa00.999</td>' in page_of(made).replace("> 0", ">\xa00")


def test_short_ids_are_not_broken_and_long_ones_are_kept_whole():
    made = stored(3, 3)
    made["suspects"][0]["id"] = "a-very-long-name-of-a-row-that-nobody-reads"
    made["suspects"][1]["id"] = "i" * 200
    html = page_of(made)
    assert html.count('<th scope="row" class="broken">a-very-long') == 1
    assert f'data-v="{"i" * 200}">{"i" * 119}…</th>' in html
    assert f'<th scope="row">{made["suspects"][2]["id"]}</th>' in html


def poisoned(value):
    """The same document with every text and every name replaced, where any text is allowed."""
    if isinstance(value, dict):
        return {name: _poisoned_entry(name, part) for name, part in value.items()}
    if isinstance(value, list):
        return [poisoned(part) for part in value]
    return HOSTILE if isinstance(value, str) else value


def _poisoned_entry(name, part):
    if name in ("scenario", "source") or part in ("number", "date", "value"):
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
