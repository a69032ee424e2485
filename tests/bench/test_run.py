import json
from dataclasses import replace

import pytest
from rich.console import Console

from robustpu.bench import plan, store
from robustpu.bench.plan import in_parts
from robustpu.bench.run import missing, run
from robustpu.bench.screen import PlainScreen


def quiet(cells):
    return PlainScreen(len(cells), True, Console(stderr=True))


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def finished(cells, out, machine):
    assert run(cells, out, machine, 1, quiet) == (4, 0, 0)
    return out / "small.jsonl"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_trial_of_every_cell_is_stored_once(cells, out, finished):
    keys = [store.key_of(record) for record in lines(finished)]
    assert len(keys) == len(set(keys)) == 8
    assert missing(cells, out) == {}


def test_nothing_finished_is_done_again(cells, out, machine, finished):
    before = finished.read_bytes()
    assert run(cells, out, machine, 1, quiet) == (0, 0, 0)
    assert finished.read_bytes() == before


def test_only_what_is_missing_is_appended(cells, out, machine, finished):
    whole = finished.read_bytes().splitlines(keepends=True)
    # Trial 1 of the second cell is lost.
    finished.write_bytes(b"".join(whole[:3] + whole[4:]))
    assert missing(cells, out) == {cells[1]: {1}}
    assert run(cells, out, machine, 1, quiet) == (1, 0, 0)
    again = finished.read_bytes().splitlines(keepends=True)
    assert again[:-1] == whole[:3] + whole[4:]
    new, old = json.loads(again[-1]), json.loads(whole[3])
    assert {**new, "seconds": 0} == {**old, "seconds": 0}


def test_another_plan_is_run_anew_and_holds(cells, out, machine, finished):
    changed = [replace(cell, prior=0.4, fixed={"epochs": 1}) for cell in cells[:1]]
    assert list(missing(changed, out)) == changed
    assert run(changed, out, machine, 1, quiet) == (1, 0, 0)
    assert len(lines(finished)) == 10
    assert store.read(finished)[-1]["settings"] == {"epochs": 1}
    assert missing(changed, out) == {}
    assert list(missing(cells, out)) == cells[:1]


def test_a_failed_cell_is_recorded_the_rest_goes_on_and_it_is_tried_again(cells, out, machine):
    bad = replace(cells[0], fixed={"lr": 1e38})
    plan = [bad, *cells[1:]]
    assert run(plan, out, machine, 1, quiet) == (3, 1, 0)
    records = lines(out / "small.jsonl")
    assert len(records) == 8
    assert ["failure" in record for record in records] == [True] * 2 + [False] * 6
    assert list(missing(plan, out)) == [bad]
    # The same key without the flaw.
    mended = [cells[0], *cells[1:]]
    assert run(mended, out, machine, 1, quiet) == (1, 0, 0)
    assert not any("failure" in record for record in store.read(out / "small.jsonl"))


def test_a_torn_line_is_run_again(cells, out, machine, finished):
    whole = finished.read_bytes()
    finished.write_bytes(whole[:-30])
    assert run(cells, out, machine, 1, quiet) == (1, 0, 0)
    again = finished.read_bytes()
    last = whole[:-1].rfind(b"\n") + 1
    assert again[:last] == whole[:last]
    assert len(lines(finished)) == 8


def test_two_runs_cannot_write_to_one_file(cells, out, machine, finished):
    before = finished.read_bytes()
    other = [replace(cells[0], fixed={"epochs": 1})]
    with store.writer(finished), pytest.raises(BlockingIOError, match="another run"):
        run(other, out, machine, 1, quiet)
    assert finished.read_bytes() == before


def test_records_without_a_fingerprint_are_not_finished(cells, out, finished):
    records = [json.loads(line) for line in finished.read_text().splitlines()]
    finished.unlink()
    with store.writer(finished) as write:
        write([{**record, "fingerprint": None} for record in records[:2]])
        write([{key: records[2][key] for key in store.KEY}])
    assert list(missing(cells, out)) == cells


def test_each_experiment_has_a_file_of_its_own(cells, out, machine):
    second = replace(cells[0], experiment="second")
    run([cells[0], second], out, machine, 1, quiet)
    assert sorted(path.name for path in out.iterdir()) == ["second.jsonl", "small.jsonl"]


def test_what_is_done_is_stored_at_once(cells, out, machine):
    class Stopped(PlainScreen):
        def finished(self, cell, records):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(cells, out, machine, 1, lambda left: Stopped(1, True, Console(stderr=True)))
    assert len(lines(out / "small.jsonl")) == 2
    assert list(missing(cells, out)) == cells[1:]


def test_what_another_experiment_has_trained_is_taken_over(cells, out, machine, finished):
    names = {"experiment": "other", "label": "Twin", "paper": "nnpu", "x": 3.0}
    other = [replace(cell, method=f"{cell.method}-twin", **names) for cell in cells]
    before = finished.read_bytes()
    assert run(other, out, machine, 1, quiet) == (0, 0, 4)
    assert finished.read_bytes() == before
    assert missing(other, out) == {}
    for new, old in zip(lines(out / "other.jsonl"), lines(finished), strict=True):
        assert new == {**old, **names, "method": f"{old['method']}-twin"}


def test_what_it_trained_in_part_or_otherwise_is_not(cells, out, machine, finished):
    whole = finished.read_bytes().splitlines(keepends=True)
    finished.write_bytes(b"".join(whole[1:]))
    other = [replace(cells[0], experiment="other"), replace(cells[1], experiment="other", seed=1)]
    other[1] = replace(other[1], prior=0.5)
    assert run(other, out, machine, 1, quiet) == (2, 0, 0)


def test_files_of_other_kinds_in_the_folder_are_passed_over(cells, out, machine):
    out.mkdir()
    (out / "notes.jsonl").write_text('{"hello": 1}\n{"hello": 2}\n')
    assert run(cells[:1], out, machine, 1, quiet) == (1, 0, 0)


def test_cells_that_train_the_same_are_trained_once(cells, out, machine):
    (nnpu,) = [cell for cell in cells if cell.name == "digits/nnpu/0.4/pu"]
    plan = [*cells, replace(nnpu, method="best-two", average=2)]
    seen = []

    class Watching(PlainScreen):
        def finished(self, cell, records):
            seen.append((cell.name, len(records)))

    outcome = run(plan, out, machine, 1, lambda left: Watching(len(left), True, Console()))
    assert outcome == (5, 0, 0)
    assert len(seen) == 4
    assert all(count == 2 for _, count in seen)
    assert missing(plan, out) == {}
    methods = [line["method"] for line in lines(out / "small.jsonl")]
    assert methods.count("best-two") == 2
    # A twin that comes later is trained for itself, and the others stay as they are.
    before = (out / "small.jsonl").read_bytes()
    late = replace(nnpu, method="by-trial", tune="trial")
    assert run([*plan, late], out, machine, 1, quiet) == (1, 0, 0)
    assert (out / "small.jsonl").read_bytes().startswith(before)


def test_trials_that_were_tuned_together_stay_together(cells, out, machine, finished):
    """If the stored trial was of another candidate, as a GPU may make it, both are stored anew."""
    (nnpu,) = [cell for cell in cells if cell.name == "digits/nnpu/0.4/oracle"]
    whole = [line for line in lines(finished) if line["method"] == "nnpu"]
    first = next(line for line in whole if line["selection"] == "oracle" and line["trial"] == 0)
    for candidate, appended in ((first["candidate"], [1]), (1 - first["candidate"], [0, 1])):
        finished.write_text(json.dumps({**first, "candidate": candidate}) + "\n")
        assert run([nnpu], out, machine, 1, quiet) == (1, 0, 0)
        assert [line["trial"] for line in lines(finished)[1:]] == appended


def test_new_names_reach_what_is_finished_without_training(cells, out, machine, finished):
    renamed = [replace(cell, label="New", title="New title", x=7.0) for cell in cells]
    assert set(missing(renamed, out)) == set(renamed)
    assert run(renamed, out, machine, 1, quiet) == (0, 0, 4)
    assert {(line["label"], line["title"], line["x"]) for line in store.read(finished)} == {
        ("New", "New title", 7.0)
    }
    assert run(renamed, out, machine, 1, quiet) == (0, 0, 0)


def test_a_failure_replaces_nothing_that_was_finished(cells, out, machine, finished):
    more = [replace(cells[0], trials=3)]
    before = {record["trial"]: record for record in store.read(finished)[:2]}
    # Data that are gone fail all trials of the cell, those that are finished too.
    gone = replace(machine, data_dir=out / "nowhere")
    bad = [replace(cell, dataset="mushrooms") for cell in more]
    records = [{**record, "dataset": "mushrooms"} for record in before.values()]
    records = [{**record, "fingerprint": bad[0].fingerprint} for record in records]
    with store.writer(finished) as append:
        append(records)
    assert missing(bad, out) == {bad[0]: {2}}
    assert run(bad, out, gone, 1, quiet).failed == 1
    stored = [record for record in store.read(finished) if record["dataset"] == "mushrooms"]
    assert ["failure" in record for record in stored] == [False, False, True]
    assert missing(bad, out) == {bad[0]: {2}}


@pytest.mark.parametrize("scores", [None, {}, {"error": "3"}, 7])
def test_a_line_without_a_result_is_not_finished(cells, out, machine, finished, scores):
    records = lines(finished)
    records[0]["scores"] = scores
    finished.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert missing(cells, out) == {cells[0]: {0}}


def test_a_taken_over_record_names_its_estimator(cells, out, machine, finished):
    # Records that were stored before estimators were do not.
    old = [{k: v for k, v in record.items() if k != "estimator"} for record in lines(finished)]
    finished.write_text("".join(json.dumps(record) + "\n" for record in old))
    assert missing(cells, out) == {}
    assert run([replace(cells[0], method="other")], out, machine, 1, quiet).taken == 1
    new = [record for record in lines(finished) if record["method"] == "other"]
    assert [record["estimator"] for record in new] == ["pn", "pn"]


def test_a_taken_over_record_has_the_prior_of_its_cell(cells, out, machine, finished):
    records = lines(finished)
    records[0]["prior"] = str(records[0]["prior"])
    finished.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert run(cells, out, machine, 1, quiet).taken == 1
    assert missing(cells, out) == {}


def test_trials_of_large_networks_are_stored_one_by_one(cells, out, machine, monkeypatch):
    """Of a lone setting: those that are compared over trials are trained together."""
    monkeypatch.setattr(plan, "SMALL", ())
    alone, compared = (replace(cell, trials=3) for cell in cells[:2])
    left = {alone: frozenset({0, 2}), compared: frozenset({1})}
    assert [part.numbers for part in in_parts(left, "cpu")] == [(0,), (2,), (0, 1, 2)]
    assert [part.numbers for part in in_parts(left, "cuda")] == [(0, 2), (0, 1, 2)]
    kept = []

    class Stopped(PlainScreen):
        def finished(self, cell, records):
            kept.extend(lines(out / "small.jsonl"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([alone], out, machine, 1, lambda todo: Stopped(len(todo), True, Console(stderr=True)))
    assert [line["trial"] for line in kept] == [0]
    assert missing([alone], out) == {alone: {1, 2}}
    assert run([alone], out, machine, 1, quiet) == (1, 0, 0)
    assert [line["trial"] for line in lines(out / "small.jsonl")] == [0, 1, 2]


def test_missing_trials_of_small_networks_are_trained_together_and_alone(cells, out, machine):
    first = replace(cells[0], trials=3)
    run([first], out, machine, 1, quiet)
    whole = (out / "small.jsonl").read_bytes().splitlines(keepends=True)
    (part,) = in_parts({first: frozenset({0, 2})}, "cpu")
    assert part.numbers == (0, 2)
    (out / "small.jsonl").write_bytes(whole[1])
    run([first], out, machine, 1, quiet)
    again = lines(out / "small.jsonl")
    assert [line["trial"] for line in again] == [1, 0, 2]
    for line in again:
        assert line["scores"] == json.loads(whole[line["trial"]])["scores"]
