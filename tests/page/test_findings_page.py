import base64
import hashlib
import importlib.resources
import json
import re

import pytest
from claims import findings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from markup import Reader
from robustpu.page import render
from robustpu.page.colours import DARK, LIGHT

SECTIONS = ["quality", "yield", "scores", "rounds", "suspects", "important", "data", "settings"]
HOSTILE = "</script></style><img src=x onerror=alert(1)>\"'&\x00\u202e\ud800"


@pytest.fixture(scope="module")
def whole():
    return Reader(render(findings()))


def test_the_headline_says_what_was_found(whole):
    assert (
        "About 2,100 of the 99,688 unlabelled rows are positive, more likely fewer (1,500 to 3,000)"
        in whole.words
    )
    assert "Of the first 100 rows of the list below , about 96 should be right" in whole.words


def test_a_share_without_a_lower_end_bounds_the_list():
    made = findings()
    made["prior"]["low"] = 0.0
    page = render(made)
    assert (
        "of the list below , up to 96 should be right: what that depends on" in Reader(page).words
    )
    # In the place of what the list would bring by the estimate.
    assert page.index('class="suppositions"') < page.index('<section id="scores">')
    assert 'class="hits"' not in page
    assert 'class="hits"' in render(findings())


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
        "Precision share of the positive answers that are right",
        "55 to 99\xa0%".replace("\xa0", " "),
        "of 12 networks, 2 did not gain by it and stay as they began, in round 0; the others take "
        "rounds 7 to 10.",
        "The middle one of the rounds taken is 8: it answers 2.8 % of the unlabelled rows",
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
    made = findings()["suspects"][4]
    assert made["id"] in whole.words
    assert f"{made['drivers'][0]['effect']:+.2f}" in whole.words


def test_pictures_have_names_and_tables_have_heads(whole):
    assert all(a.get("role") == "img" or "aria-hidden" in a for a in whole.all("svg"))
    assert all(len(a["aria-label"]) > 10 for a in whole.all("svg", role="img"))
    assert all(a.get("scope") in ("row", "col") for a in whole.all("th"))
    sorts = [a["aria-sort"] for a in whole.all("th") if "aria-sort" in a]
    assert sorts == ["ascending", *["none"] * (len(sorts) - 1)]


def test_nothing_is_loaded_and_the_policy_allows_only_what_is_there():
    html = render(findings())
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
    html = render(findings())
    assert len(html.encode()) < 500_000
    assert html == render(findings())


def test_long_texts_do_not_make_it_large():
    made = findings()
    for each in made["suspects"]:
        each["id"] = "i" * 5000
        each["shown"] = dict.fromkeys(each["shown"], "v" * 5000)
        for driver in each["drivers"]:
            driver["value"] = "w" * 5000
    assert len(render(made).encode()) < 1_000_000


@pytest.mark.parametrize("key", [key for key in findings(2, 3) if key != "schema"])
@pytest.mark.parametrize("value", [None, [], {}, "x", 3, [None], [[]], [{}], {"a": {}}, True])
def test_any_section_may_be_missing_or_wrong(key, value):
    html = render({**findings(3, 3), key: value})
    Reader(html)
    assert "nan" not in html.replace("finan", "")
    assert "None" not in html


def test_only_the_schema():
    reader = Reader(render({"schema": 1}))
    assert reader.all("section") == []
    assert "What was found" in reader.words


def test_methods_without_rounds_have_no_section_of_them():
    reader = Reader(render(findings(3, 3, rounds=None)))
    assert "rounds" not in [a["id"] for a in reader.all("section")]


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        ([0, 0, 5], "of 5 networks, all gained by it and take round 2."),
        ([4, 0, 0], "Of 4 networks none gained by it: all are taken as they began, in round 0."),
        ([0, 0, 0], "Each network takes its best round."),
    ],
)
def test_what_the_rounds_brought_is_said(taken, words):
    rounds = {"round": [0, 1, 2], "chosen": 2, "score": [0.5, 0.6, 0.7], "taken": taken}
    assert words in Reader(render(findings(rounds=rounds))).words


def test_a_prior_that_was_given_needs_no_caveat():
    found = findings()
    found["prior"].update(how="given", low=None, high=None)
    assert "too high" not in Reader(render(found)).words


def test_a_given_share_that_rows_refute_is_not_called_the_users():
    found = findings()
    found["prior"].update(how="given", low=0.0, high=0.2, value=0.2)
    words = Reader(render(found)).words
    assert "; the most that held-out scores allow." in words
    assert "given by you" not in words


def test_no_alarm_no_box():
    assert 'id="alarms"' not in render(findings(3, 3, alarms=[]))


def test_rows_without_ids_are_named_by_their_row():
    made = findings(3, 3)
    for each in made["suspects"]:
        each["id"] = None
    reader = Reader(render(made))
    assert "claim_id ↕" not in reader.words
    assert f"{made['suspects'][0]['row']:,}" in reader.words


def test_estimates_that_were_cut_are_marked():
    made = findings(3, 3)
    made["evaluation"]["metrics"][1]["clipped"] = True
    assert "was out of range before it was cut" in Reader(render(made)).words


def test_single_set_guesses_are_of_the_whole_population():
    def marks(scenario):
        html = render(findings(1, 1, scenario=scenario))
        return re.findall(r'class="blind" d="M([\d.]+) 23v14', html)

    prior = (312 + 0.021 * 99_688) / 100_000
    assert float(marks("case-control")[0]) == pytest.approx(6 + 288 * 0.021, abs=0.06)
    assert float(marks("single-set")[0]) == pytest.approx(6 + 288 * prior, abs=0.06)


@pytest.mark.parametrize(("schema", "words"), [(2, "2"), (None, "None"), ("1", "'1'")])
def test_another_schema_is_refused(schema, words):
    with pytest.raises(ValueError, match=f"schema 1, got {words}: .*fit the model again"):
        render(findings(1, 1, schema=schema))
    with pytest.raises(ValueError, match="got 'list'"):
        render([])


def poisoned(value):
    """The same document with every text and every name replaced; sections keep their names."""
    if isinstance(value, dict):
        free = {"answers", "parameters", "shown", "versions", "options"}
        return {
            name: {
                f"{HOSTILE}{i}": HOSTILE if isinstance(each, str) else each
                for i, each in enumerate(own.values())
            }
            if name in free and isinstance(own := value[name], dict)
            else poisoned(value[name])
            for name in value
        }
    if isinstance(value, list):
        return [poisoned(each) for each in value]
    return HOSTILE if isinstance(value, str) else value


def test_nothing_from_the_data_is_taken_for_markup(whole):
    html = render(poisoned(findings(20, 20)))
    reader = Reader(html)
    assert not reader.all("img")
    assert not [name for _, a in reader.found for name in a if name.startswith("on")]
    assert html.lower().count("</script") == html.lower().count("</style") == 1
    assert {tag for tag, _ in reader.found} <= {tag for tag, _ in whole.found}
    # Every file can hold it, and no mark turns the text around it.
    html.encode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", html)
    assert reader.words.count("<img src=x onerror=alert(1)>") > 50


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


def routes(value, route=()):
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inside:
        yield (*route, key)
        if isinstance(each, dict | list):
            yield from routes(each, (*route, key))


BASE = json.dumps(findings(2, 3))
ROUTES = [route for route in routes(json.loads(BASE)) if route != ("schema",)]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(ROUTES), JUNK), min_size=1, max_size=4))
def test_damaged_findings_are_drawn_as_far_as_they_go(changes):
    made = json.loads(BASE)
    for route, junk in changes:
        *way, last = route
        place = made
        try:
            for key in way:
                place = place[key]
            place[last] = junk
        except (KeyError, IndexError, TypeError):
            continue
    Reader(render(made)).words.encode()


def test_the_colours_are_those_of_the_bench():
    css = importlib.resources.files("robustpu.report").joinpath("page.css").read_text("utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", css.replace("\n", " "))[:2]
    for rule, ours in ((light, LIGHT), (dark, DARK)):
        theirs = dict(re.findall(r"--(\w+): (#\w+);", rule))
        for name in ("paper", "card", "ink", "soft", "rule", "accent"):
            assert theirs[name] == ours[name]
