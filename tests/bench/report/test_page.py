import re

import pytest
from made import record, table3, temperature, trials

from markup import Reader
from robustpu.bench.report.page import page
from robustpu.bench.report.scores import level
from robustpu.bench.report.tables import tables


def read(records):
    return Reader(page(tables(records)))


def test_tags_match_and_ids_are_unique():
    reader = read(table3() + temperature())
    ids = [a["id"] for _, a in reader.found if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"] for a in reader.all("a")} == {
        "#experiment-table3",
        "#experiment-temperature",
    }
    assert {a["href"][1:] for a in reader.all("a")} <= set(ids)


def test_nothing_is_loaded_from_elsewhere():
    html = page(tables(table3() + temperature()))
    reader = Reader(html)
    assert not [a for _, a in reader.found if "src" in a]
    assert not reader.all("link")
    assert "url(" not in html
    assert "@import" not in html
    assert set(re.findall(r"https?://[^\"'\s<]*", html)) == {"http://www.w3.org/2000/svg"}
    (policy,) = reader.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none'")


def test_the_errors_are_real_tables():
    reader = read(table3())
    assert len(reader.all("table", **{"class": "figures"})) == 2
    assert len(reader.all("caption")) == 4
    assert all(a.get("scope") in ("row", "col", "rowgroup") for a in reader.all("th"))
    assert all(a.get("role") == "img" or "aria-hidden" in a for a in reader.all("svg"))
    assert all(a.get("aria-label") for a in reader.all("svg", role="img"))


def test_a_cell_has_ours_the_papers_and_its_trials():
    records = trials([3.0, 3.2] * 5, method="robust-pu", label="Robust-PU")
    records += trials([9.0, 9.5] * 5)
    html = page(tables(records))
    assert "<strong>3.10</strong> <small>± 0.11</small>" in html
    assert "≤ 3.28 ± 0.3</span>" in html
    assert "&gt; 7.38 ± 0.9</span>" in html
    # The paper has nnPU first.
    cells = [a for a in Reader(html).all("td") if "data-trials" in a][::-1]
    assert [a["data-rival"] for a in cells] == ["nnPU", "Robust-PU"]
    assert cells[0]["data-trials"].startswith("0:3 1:3.2 2:3 ")
    assert cells[0]["data-theirs"] == cells[1]["data-trials"]
    assert cells[0]["data-p"] == cells[1]["data-p"] == "0.002"
    assert cells[0]["data-paper"] == "3.28 0.3"
    assert (cells[0]["class"], cells[1]["class"]) == ("b1", "w3")


@pytest.mark.parametrize(
    ("error", "expected"),
    [(7.38, "b1"), (6.6, "b1"), (6.4, "b2"), (5.0, "b3"), (7.4, "w1"), (8.4, "w2"), (20, "w3")],
)
def test_colours_go_by_deviations_of_the_paper(error, expected):
    (table,) = tables(trials([error]))
    assert level(table.cells["mnist", 0.2, "nnpu"]) == expected


def test_nothing_to_compare_has_no_colour():
    (table,) = tables(trials([1.0], dataset="digits"))
    assert level(table.cells["digits", 0.2, "nnpu"]) == ""


def test_a_toggle_where_there_are_two_selections():
    reader = read(table3() + temperature())
    assert [a["id"] for a in reader.all("input")] == ["show-oracle", "show-pu", "show-both"]
    assert [a.get("data-selection") for a in reader.all("article")] == ["oracle", "pu", None]


def test_no_toggle_and_nothing_hidden_where_there_is_one():
    reader = read([r for r in table3() if r["selection"] == "pu"])
    assert not reader.all("input")
    assert reader.all("article") == [{}]


def test_the_headline_is_of_robust_pu_in_the_first_experiment():
    more = trials([1.0] * 3, experiment="z", method="robust-pu")
    text = " ".join(read(table3() + more).text)
    words = "Robust-PU: cells of “Main results” at or below the paper, "
    for how in ("labelled validation (oracle)", "without negatives (PU-only)"):
        assert f"{words}{how} 0  of 4" in text
    words = "Robust-PU: lowest error among 2 single networks of “Main results”, "
    assert text.count(words) == 2
    assert text.count("4  of 4") == 2
    assert "of training on NVIDIA H200" in text


def test_without_robust_pu_the_headline_is_of_all_methods():
    text = " ".join(read(trials([7.0] * 3) + trials([99.0] * 3, method="pn")).text)
    assert "cells of all single networks of “Main results” at or below the paper, labelled" in text
    assert "1  of 2" in text
    assert "at or below the paper" not in " ".join(read(temperature()).text)


def test_the_top_names_the_project_and_the_paper():
    html = page(tables(table3()))
    top = re.search(r"<h1>(.*?)</h1>", html).group(1)
    assert top.startswith("robustpu ")
    assert 'Zhu et al., "Robust Positive-Unlabeled Learning' in top
    assert "Table 3" not in top
    assert "<title>robustpu: benchmark</title>" in html
    assert "<h1>robustpu <span>Benchmark</span></h1>" in page(tables(temperature()))


def test_the_squares_and_what_they_mean_stand_together_before_the_figures():
    html = page(tables([r for r in table3() if r["selection"] == "pu"]))
    order = ["from left to right: cifar10 and mnist", 'class="b3"', 'class="scores"', "figures"]
    places = [html.index(words, html.index("<article")) for words in order]
    assert places == sorted(places)
    assert html.count('<td aria-hidden="true">π = ') == 2
    # Two methods, two priors, two data sets.
    assert len(re.findall(r'<i class="\w*" title="(?:mnist|cifar10)"></i>', html)) == 8


def test_gaps_and_data_sets_that_the_paper_lacks_are_noted():
    records = trials([1.0]) + trials([1.0], dataset="digits", method="pn")
    reader = read(records)
    assert "– not run" in reader.text
    assert "2 of 4 cells were not run (–); bold compares the others." in reader.text
    assert "The paper has no errors for digits here." in reader.text
    assert "digits (ours alone)" in reader.text


def test_one_dot_plot_a_data_set_and_one_curve_a_sweep():
    reader = read(table3() + temperature())
    labels = [a["aria-label"] for a in reader.all("svg", role="img")]
    assert sum("ours and of the paper's" in label for label in labels) == 4
    assert sum("error against temperature" in label for label in labels) == 1


def test_flaws_are_shown():
    records = trials([3.0] * 3) + trials([1.0] * 2, method="pn", label="PN")
    records += [record(method="pn", label="PN", trial=2, failure="ValueError: lost")]
    reader = read(records)
    assert "† mnist, π = 0.2, PN: 2 of 3 trials; 1 failed (ValueError: lost)." in reader.text
    assert "†" in reader.text


def test_what_comes_from_files_is_escaped():
    nasty = "\"><script>alert(1)</script><img src=x onerror=alert(1)> & ' </style>"
    records = trials(
        [1.0] * 6, title=nasty, label=nasty, dataset=nasty, experiment=nasty, device=nasty
    )
    records += trials([1.5] * 5, title=nasty, method=nasty, dataset=nasty, experiment=nasty)
    records += [
        record(trial=5, method=nasty, dataset=nasty, experiment=nasty, title=nasty, failure=nasty)
    ]
    records += trials([1.0] * 6, label=nasty)
    records += [
        {**r, "dataset": nasty, "device": nasty, "settings": {nasty: r["x"]}} for r in temperature()
    ]
    sane = read(table3() + temperature())
    reader = read(records)
    assert not reader.all("img")
    assert len(reader.all("script")) == len(sane.all("script"))
    assert not [a for _, a in reader.found if "onerror" in a]
    assert any(nasty in text for text in reader.text)


def test_same_records_same_bytes():
    assert page(tables(table3() + temperature())) == page(tables(table3() + temperature()))
