"""Hostile and damaged folders: each is refused with a reason, and nothing in it is run."""

import json
import os
import struct
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from folders import QUICK, data, edit, edit_array, fitted, header_of, refused, seal, with_header

import robustpu
from robustpu import (
    ModelFolderError,
    PUExtraTreesClassifier,
    PUVotingClassifier,
    RobustPUClassifier,
    persist,
)
from robustpu.persist import arrays

ARRAYS = "arrays.safetensors"


@pytest.fixture
def folder(tmp_path):
    robustpu.save(fitted("nnpu"), tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def forest(tmp_path):
    robustpu.save(fitted("puet"), tmp_path / "model")
    return tmp_path / "model"


def put(content, path, value):
    """Set a value in nested dictionaries, by a path."""
    *above, last = path.split("/")
    for key in above:
        content = content[key]
    content[last] = value


class TestFiles:
    def test_no_folder(self, tmp_path):
        refused(tmp_path / "x", "there is no such folder")

    def test_a_file(self, tmp_path):
        (tmp_path / "x").write_text("")
        refused(tmp_path / "x", "a model is a folder")

    def test_an_empty_folder(self, tmp_path):
        refused(tmp_path, "SHA256SUMS: it is missing")

    @pytest.mark.parametrize("name", ["model.json", ARRAYS, "SHA256SUMS"])
    def test_a_missing_file(self, folder, name):
        (folder / name).unlink()
        refused(folder, f"{name}: it is missing")

    @pytest.mark.parametrize("name", ["x.py", ".hidden", "model.json.bak"])
    def test_one_file_more(self, folder, name):
        (folder / name).write_text("")
        refused(folder, f"'{name}': it is not part of the model")

    def test_one_folder_more(self, folder):
        (folder / "x").mkdir()
        refused(folder, "'x': it is not part of the model")

    @pytest.mark.parametrize("name", ["model.json", ARRAYS])
    def test_a_changed_byte(self, folder, name):
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)
        refused(folder, f"{name}: its checksum is not that of SHA256SUMS")

    @pytest.mark.parametrize("name", ["model.json", ARRAYS, "SHA256SUMS"])
    def test_a_link(self, folder, tmp_path, name):
        (folder / name).rename(tmp_path / "elsewhere")
        (folder / name).symlink_to(tmp_path / "elsewhere")
        refused(folder, f"{name}: it cannot be read as a plain file")

    def test_a_pipe_does_not_make_us_wait(self, folder):
        (folder / "model.json").unlink()
        os.mkfifo(folder / "model.json")
        refused(folder, "model.json: it is not a plain file")

    def test_a_folder_in_place_of_a_file(self, folder):
        (folder / ARRAYS).unlink()
        (folder / ARRAYS).mkdir()
        refused(folder, f"{ARRAYS}: it is not a plain file")

    def test_a_link_to_the_folder_is_fine(self, folder, tmp_path):
        (tmp_path / "current").symlink_to(folder)
        assert robustpu.load(tmp_path / "current").prior_ == 0.3

    @pytest.mark.parametrize(
        "line",
        [
            "../x",
            "/etc/passwd",
            "a/b",
            "..",
            ".x",
            "",
            "a b",
            "model.json\n" + "0" * 64 + "  model.json",
        ],
    )
    def test_names_that_lead_elsewhere(self, folder, line):
        with (folder / "SHA256SUMS").open("a") as stream:
            stream.write(f"{'0' * 64}  {line}\n")
        refused(folder, "SHA256SUMS: it is not a list of checksums")

    def test_a_list_that_leaves_a_file_out(self, folder):
        lines = (folder / "SHA256SUMS").read_text().splitlines(keepends=True)
        (folder / "SHA256SUMS").write_text(lines[1])
        refused(folder, f"{ARRAYS}: no checksum is listed")

    def test_a_list_without_end(self, folder):
        with (folder / "SHA256SUMS").open("ab") as stream:
            stream.truncate(1 << 40)
        refused(folder, "SHA256SUMS: it has 1099511627776 bytes, more than")

    def test_a_text_without_end(self, folder):
        with (folder / "model.json").open("ab") as stream:
            stream.truncate(1 << 40)
        refused(folder, "model.json: it has 1099511627776 bytes, more than")


class TestJson:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("", "not valid JSON"),
            ("[" * 100_000, "not valid JSON"),
            ('{"a": NaN}', "NaN is not a number"),
            ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
            ("9" * 9999, "not valid JSON"),
            ("\\ufffe", "not valid JSON"),
            ("[]", "does not say that it is a robustpu model"),
            ('{"format": "robustpu model", "schema": true}', "schema is not a number"),
            ('{"format": "robustpu model", "schema": 0}', "schema is not a number"),
            ('{"format": "robustpu model", "schema": 3}', "extra, files, model, written_by"),
        ],
    )
    def test_text(self, folder, text, reason):
        (folder / "model.json").write_text(text)
        seal(folder)
        refused(folder, f"model.json.*{reason}")

    def test_bytes_that_are_no_text(self, folder):
        (folder / "model.json").write_bytes(b"\xff\xfe\xfd{}")
        seal(folder)
        refused(folder, "model.json is not valid JSON")

    @pytest.mark.parametrize("schema", [1, 2])
    def test_an_early_schema_says_so(self, folder, schema):
        edit(folder, lambda content: content.update(schema=schema))
        refused(folder, f"schema {schema}, of an early version .*: fit the model again")

    def test_a_newer_schema_says_so(self, folder):
        edit(folder, lambda content: content.update(schema=4, more="things"))
        (folder / "one-more.bin").write_bytes(b"")
        seal(folder)
        refused(folder, "schema 4, and this version .* up to 3: install a newer version")

    @pytest.mark.parametrize(
        ("path", "value", "reason"),
        [
            ("new", 1, "not known: new"),
            ("files", {"a": 1}, "'a' is missing, or not listed"),
            ("files", [1], "does not give the bytes of each file"),
            ("files/arrays.safetensors", -1, "does not give the bytes of each file"),
            ("files/arrays.safetensors", True, "does not give the bytes of each file"),
            ("files/arrays.safetensors", 1, "bytes, not 1 as model.json says"),
            ("written_by", {"robustpu": 1}, "not a list of versions"),
            ("model", None, "not a fitted classifier"),
            ("model", {"$": "forest"}, "array is missing"),
            ("model/class", "os.system", "'os.system' is no class that a model folder may hold"),
            ("model/class", "LogisticRegression", "has no parameters"),
            ("model/class", "upu", "has no parameters balanced_prior, beta"),
            ("model/class", ["nnpu"], "is no class"),
            ("model/new", 1, "not known: new"),
            ("model/fitted", None, "not a fitted classifier"),
            ("model/fitted", [], "not a dictionary"),
            ("model/fitted/new_", 1, "missing or not known: new_"),
            ("model/fitted/predict", 1, "missing or not known: predict"),
            ("model/parameters/new", 1, "no parameters new"),
            ("model/parameters/epochs", -1, "epochs must be a whole number"),
            ("model/parameters/scenario", "x", "scenario"),
            ("model/parameters/pos_label", "x", "pos_label='x' is not in y"),
            ("model/parameters/device", 2**63, "device is not a text"),
            ("model/parameters/random_state", 10**30, "a whole number is too large"),
            ("model/parameters/module", "resnet50", "no network can be built"),
            ("model/parameters/module", "linear", "do not have the same parameters"),
            ("model/parameters/module", "os", "no network of this library"),
            ("model/parameters/module", {"$": "function", "name": "os:system"}, "no function"),
            ("model/parameters/module", {"$": "function", "name": "prior:km2"}, "no network of"),
            (
                "model/parameters/surrogate",
                {"$": "given", "was": "builtins.eval", "name": "surrogate"},
                "Give it again",
            ),
            (
                "model/parameters/surrogate",
                {"$": "given", "was": "builtins.eval", "name": 3},
                "it names no parameter",
            ),
            ("model/fitted/prior_", 1.0, "prior_ must be a number from .*; it is 1.0"),
            ("model/fitted/prior_", True, "prior_ must be .*; it is True"),
            ("model/fitted/prior_", {"$": "float", "value": "nan"}, "prior_ must be .*; it is nan"),
            ("model/fitted/prior_", {"$": "float", "value": "0x1"}, "not nan, inf or -inf"),
            ("model/fitted/prior_", {"$": "pickle", "value": ""}, "'pickle' is no kind of value"),
            ("model/fitted/calibration_", 1e9, "must be a number from -700 to 700"),
            ("model/fitted/selection_", "x", "must be one of pu, oracle, none; it is 'x'"),
            ("model/fitted/n_features_in_", 2**41, "must be a whole number from 1"),
            ("model/fitted/n_features_in_", 9, "where d is 9"),
            ("model/fitted/input_shape_", {"$": "tuple", "items": [8, 10**9]}, "has the shape"),
            ("model/fitted/input_shape_", {"$": "tuple", "items": [8, -1]}, r"\[1\] must be"),
            ("model/fitted/input_shape_", [8], "must be the shape of a row"),
            ("model/fitted/history_", [{"a": "b"}], r"\[0\]\.a must be a number; it is 'b'"),
            ("model/fitted/history_", {}, "must be a list"),
            ("model/fitted/networks/run", "vmap", r"has the shape \(1, 8, 100\)"),
            ("model/fitted/networks/run", "x", "way to run"),
            ("model/fitted/networks/parameters", ["1.weight"], "do not have the same parameters"),
            ("model/fitted/networks/parameters", ["1.weight"] * 2, "a name is there twice"),
            ("model/fitted/networks", None, "it holds no networks"),
        ],
    )  # fmt: skip
    def test_values(self, folder, path, value, reason):
        edit(folder, lambda content: put(content, path, value))
        refused(folder, reason)

    def test_versions_are_told_if_they_differ(self, folder):
        def change(content):
            content["written_by"]["scikit-learn"] = "9.9"
            content["model"]["parameters"]["new"] = 1

        edit(folder, change)
        refused(folder, r"It was written by scikit-learn 9.9, here is \d")

    def test_rounds_without_end(self, tmp_path):
        robustpu.save(fitted("robust-pu"), tmp_path / "robust")
        place = "model/parameters/curriculum/parameters/max_rounds"
        edit(tmp_path / "robust", lambda content: put(content, place, 10**12))
        refused(tmp_path / "robust", "max_rounds is 1000000000000")

    def test_a_huge_network_takes_no_memory(self, folder):
        huge = {
            "$": "partial",
            "function": {"$": "function", "name": "module:mlp"},
            "arguments": [],
            "keywords": {"hidden": [10**9, 10**9]},
        }
        edit(folder, lambda content: put(content, "model/parameters/module", huge))
        refused(folder, "do not have the same parameters")
        huge["keywords"] = {"hidden": [1] * 10**5}
        edit(folder, lambda content: put(content, "model/parameters/module", huge))
        refused(folder, "no network of this library")

    def test_deep_values(self, folder):
        deep = []
        for _ in range(200):
            deep = [deep]
        edit(folder, lambda content: content.update(extra=deep))
        refused(folder, "nested more than 50 deep")

    def test_more_values_than_any_model_has(self, folder):
        edit(folder, lambda content: content.update(extra=[[]] * 1_000_001))
        refused(folder, "2000[0-9]{3} values or more; at most 2000000 are allowed")

    def test_nothing_is_imported_for_a_folder(self, folder, tmp_path, monkeypatch):
        # A module beside the program, which the folder names in every way that it can think of.
        (tmp_path / "evil.py").write_text("raise SystemExit('run')")
        monkeypatch.syspath_prepend(tmp_path)
        names = ["evil", "evil.x", "evil:x"]
        ways = [{"$": "object", "class": name, "parameters": {}, "fitted": None} for name in names]
        ways += [{"$": "function", "name": name} for name in names]
        ways += [{"$": "given", "was": name} for name in names]
        for way in ways:
            edit(folder, lambda content, way=way: put(content, "model/parameters/surrogate", way))
            refused(folder, "surrogate")
            assert "evil" not in sys.modules


class TestArrays:
    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda array: array.astype(np.float32) * np.nan, "holds NaN"),
            (lambda array: array + 2, "holds numbers that are not from 0 to 1"),
            (lambda array: array[:-1], r"has the shape \(119,\), where n is 120"),
            (lambda array: array[None], r"has the shape \(1, 120\), expected 1 axes"),
            (lambda array: array.astype(np.int64), "is an array of type int64"),
            (lambda array: array > 0, "is an array of type bool"),
        ],
    )
    def test_values(self, folder, change, reason):
        edit_array(folder, "model/fitted/probability_", change)
        refused(folder, f"model/fitted/probability_ {reason}")

    @pytest.mark.parametrize(
        ("name", "change", "reason"),
        [
            ("classes_", lambda array: array[::-1], "ascending order"),
            ("classes_", lambda array: array[:1], "two labels"),
            ("kept_", lambda array: array + 1, "not from 0 to 0"),
            ("input_scale_/1", lambda array: array * 0, "not of at least"),
            ("networks/parameters/1.weight", lambda array: array * np.nan, "not finite"),
            (
                "networks/parameters/1.weight",
                lambda array: array.astype("f8"),
                "is of type float64",
            ),
            ("networks/parameters/1.weight", lambda array: array[:, :, :9], "has the shape"),
        ],
    )
    def test_other_values(self, folder, name, change, reason):
        edit_array(folder, f"model/fitted/{name}", change)
        refused(folder, reason)

    def test_one_more(self, folder):
        from safetensors.numpy import load_file, save_file

        arrays = load_file(folder / ARRAYS)
        save_file({**arrays, "more": np.zeros(1)}, folder / ARRAYS)
        seal(folder)
        refused(folder, f"{ARRAYS}: 'more' belongs to nothing")

    def test_one_less(self, folder):
        from safetensors.numpy import load_file, save_file

        arrays = load_file(folder / ARRAYS)
        del arrays["model/fitted/kept_"]
        save_file(arrays, folder / ARRAYS)
        seal(folder)
        refused(folder, "model/fitted/kept_: its array is missing")

    def test_a_huge_header(self, folder):
        content = (folder / ARRAYS).read_bytes()
        for size in (2**63, 2**24 + 1, len(content)):
            (folder / ARRAYS).write_bytes(struct.pack("<Q", size) + content[8:])
            seal(folder)
            refused(folder, f"{ARRAYS}: its header is said to have {size} bytes")

    @pytest.mark.parametrize("content", [b"", b"\0" * 7, b"\0" * 8, b"\2\0\0\0\0\0\0\0{}x"])
    def test_no_header(self, folder, content):
        (folder / ARRAYS).write_bytes(content)
        seal(folder)
        refused(folder, f"{ARRAYS}: ")

    @pytest.mark.parametrize(
        "change",
        [
            {"shape": [2**40]},
            {"shape": [2**62, 2**62]},
            {"shape": [-1]},
            {"dtype": "F8_E5M2"},
            {"dtype": "OBJECT"},
            {"data_offsets": [0, 2**60]},
            {"data_offsets": [8, 0]},
        ],
    )
    def test_absurd_headers(self, folder, change):
        header, numbers = header_of((folder / ARRAYS).read_bytes())
        header["model/fitted/probability_"].update(change)
        (folder / ARRAYS).write_bytes(with_header(header, numbers))
        seal(folder)
        refused(folder, f"{ARRAYS}: ")

    def test_a_name_twice(self, folder):
        header, numbers = header_of((folder / ARRAYS).read_bytes())
        entry = json.dumps(header["model/fitted/kept_"])
        text = json.dumps(header)[:-1] + f', "model/fitted/kept_": {entry}}}'
        content = struct.pack("<Q", len(text)) + text.encode() + numbers
        (folder / ARRAYS).write_bytes(content)
        seal(folder)
        refused(folder, f"{ARRAYS}: .*twice")

    def test_truth_values_that_are_neither(self, folder):
        header, numbers = header_of((folder / ARRAYS).read_bytes())
        start, _ = header["model/fitted/is_positive_"]["data_offsets"]
        numbers = numbers[:start] + b"\x07" + numbers[start + 1 :]
        (folder / ARRAYS).write_bytes(with_header(header, numbers))
        seal(folder)
        refused(folder, "neither true nor false")


class TestTrees:
    @pytest.mark.parametrize(
        ("name", "place", "value", "reason"),
        [
            ("left", 0, 0, "children lie before their parent"),
            ("left", 0, 2**62, "outside their tree"),
            ("left", 0, 2, "several parents, or none"),
            ("feature", 0, 8, "columns that are not there"),
            ("feature", 0, -2, "leaves that are none"),
            ("feature", 0, -1, "leaves that are none"),
            ("start", 0, 1, "do not begin one after the other"),
            ("start", -1, 10**6, "do not begin one after the other"),
            ("start", 2, -(2**63), "do not begin one after the other"),
            ("threshold", 0, np.nan, "threshold holds numbers that are not finite"),
            ("value", 0, 1.5, "value holds numbers out of range"),
            ("risk", 0, -1.0, "risk holds numbers out of range"),
        ],
    )
    def test_ours(self, forest, name, place, value, reason):
        def change(array):
            array[place] = value
            return array

        edit_array(forest, f"model/fitted/forest_/{name}", change)
        refused(forest, reason)

    @pytest.mark.parametrize(
        ("name", "place", "value", "reason"),
        [
            ("left_child", 0, 0, "children lie before their parent"),
            ("left_child", 0, 2**62, "outside their tree"),
            ("left_child", 0, -1, "leaves that are none"),
            ("right_child", 0, 1, "several parents, or none"),
            ("feature", 0, 8, "columns that are not among the 8"),
            ("feature", 0, -1, "columns that are not among the 8"),
            ("threshold", 0, np.nan, "not finite"),
            ("missing_go_to_left", 0, 2, "neither 0 nor 1"),
            ("values", 0, -1.0, "below 0"),
        ],
    )
    def test_of_scikit_learn(self, tmp_path, name, place, value, reason):
        def change(array):
            array[place] = value
            return array

        robustpu.save(fitted("bagging"), tmp_path / "model")
        edit_array(tmp_path / "model", f"model/fitted/estimators_/0/fitted/tree_/{name}", change)
        refused(tmp_path / "model", reason)

    def test_for_more_columns_than_there_are(self, tmp_path):
        robustpu.save(fitted("bagging"), tmp_path / "model")

        def change(content):
            content["model"]["fitted"]["estimators_"][0]["fitted"]["tree_"]["columns"] = 9

        edit(tmp_path / "model", change)
        refused(tmp_path / "model", "must be a tree for this number of columns")


class TestLearners:
    @pytest.fixture
    def folder(self, tmp_path):
        robustpu.save(fitted("elkan-noto"), tmp_path / "model")
        return tmp_path / "model"

    def steps(self, content):
        return content["model"]["fitted"]["estimator_"]["parameters"]["steps"]

    def test_steps_that_are_none(self, folder):
        edit(folder, lambda content: self.steps(content).pop())
        refused(folder, "is not what it should be")

    def test_a_classifier_of_ours_as_a_step(self, folder):
        step = {"$": "object", "class": "nnpu", "parameters": {}, "fitted": None}
        edit(folder, lambda content: self.steps(content)[0]["items"].__setitem__(1, step))
        refused(folder, "is not what it should be")

    def test_a_parameter_that_scikit_learn_refuses(self, folder):
        def change(content):
            self.steps(content)[1]["items"][1]["parameters"]["C"] = -1.0

        edit(folder, change)
        refused(folder, "The 'C' parameter of LogisticRegression")

    def test_an_unfitted_one(self, folder):
        edit(folder, lambda content: self.steps(content)[1]["items"][1].update(fitted=None))
        refused(folder, "no learner that was fitted|fit together")

    def test_other_columns(self, folder):
        path = "model/fitted/estimator_/parameters/steps/1/1/fitted/coef_"
        edit_array(folder, path, lambda array: array[:, :7])
        refused(folder, "where d is 8")


def test_a_description_is_as_careful(folder):
    edit(folder, lambda content: put(content, "model/class", "os.system"))
    with pytest.raises(ModelFolderError, match="is no class"):
        persist.describe(folder)
    (folder / "model.json").write_text("{}")
    for read in (persist.describe, persist.read_extra):
        with pytest.raises(ModelFolderError, match="checksum"):
            read(folder)


def grow(path, size):
    """A file of a size that takes no room on the disk, and hours to read."""
    with path.open("ab") as stream:
        stream.truncate(size)


class TestSizes:
    """Sizes are checked before anything large is read."""

    @pytest.mark.parametrize("size", [1 << 33, 1 << 40])
    def test_arrays_of_another_size(self, folder, size):
        before = (folder / ARRAYS).stat().st_size
        grow(folder / ARRAYS, size)
        refused(folder, f"{ARRAYS}: it has {size} bytes, not {before} as model.json says")
        grow(folder / ARRAYS, before)
        assert robustpu.load(folder).prior_ == 0.3

    def test_a_header_that_tells_of_as_much(self, folder):
        entry = {"dtype": "U8", "shape": [1 << 35], "data_offsets": [0, 1 << 35]}
        (folder / ARRAYS).write_bytes(with_header({"a": entry}, b""))
        size = (folder / ARRAYS).stat().st_size + (1 << 35)
        grow(folder / ARRAYS, size)
        refused(folder, f"{ARRAYS}: it has {size} bytes, not .* as model.json says")
        edit(folder, lambda content: put(content, f"files/{ARRAYS}", size), (ARRAYS,))
        refused(folder, f"{ARRAYS}: it has {size} bytes, more than {1 << 34}")

    def test_a_header_that_does_not(self, folder):
        grow(folder / ARRAYS, 1 << 33)
        edit(folder, lambda content: put(content, f"files/{ARRAYS}", 1 << 33), (ARRAYS,))
        refused(folder, f"{ARRAYS}: it has 8589934592 bytes, its header tells of")

    def test_nothing_but_zeros(self, folder):
        (folder / ARRAYS).unlink()
        grow(folder / ARRAYS, 1 << 33)
        edit(folder, lambda content: put(content, f"files/{ARRAYS}", 1 << 33), (ARRAYS,))
        refused(folder, f"{ARRAYS}: its header is not valid JSON")

    def test_attachments_without_end(self, tmp_path):
        files = {"a.txt": "a", "report.html": "a"}
        robustpu.save(fitted("nnpu"), tmp_path / "model", attachments=files)
        for name in files:
            grow(tmp_path / "model" / name, 1 << 41)
        refused(tmp_path / "model", "a.txt: it has 2199023255552 bytes, not 1 as model.json says")
        for name in files:
            with (tmp_path / "model" / name).open("ab") as stream:
                stream.truncate(1 << 28)
        edit(
            tmp_path / "model",
            lambda content: content["files"].update(dict.fromkeys(files, 1 << 28)),
            tuple(files),
        )
        refused(tmp_path / "model", f"the attached ones have {1 << 29} bytes, more than {1 << 28}")

    def test_what_could_not_be_read_again(self, tmp_path, monkeypatch):
        monkeypatch.setattr("robustpu.persist.models.MOST_ATTACHED", 3)
        with pytest.raises(ValueError, match=r"a\.txt, b: 4 bytes; at most 3 can be attached"):
            robustpu.save(
                fitted("nnpu"), tmp_path / "model", attachments={"a.txt": "abc", "b": "d"}
            )
        monkeypatch.setitem(persist.reading.LONGEST, ARRAYS, 9)
        with pytest.raises(ModelFolderError, match=rf"{ARRAYS}: it would have \d+ bytes, more"):
            robustpu.save(fitted("nnpu"), tmp_path / "model")

    def test_arrays_take_twice_their_size(self):
        content = arrays.to_bytes({"a": np.zeros(1 << 20)})
        tracemalloc.start()
        arrays.from_bytes(content)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # The content itself was there before.
        assert peak < 1.1 * len(content)


class TestEnsembles:
    @pytest.fixture
    def ensemble(self, tmp_path):
        pu, trees = data(), PUExtraTreesClassifier(n_estimators=2)
        pair = [("robust-pu", RobustPUClassifier(**QUICK["robust-pu"])), ("puet", trees)]
        model = PUVotingClassifier(pair, prior=0.3, random_state=0)
        with warnings.catch_warnings():
            # So little training collapses now and then.
            warnings.simplefilter("ignore")
            model.fit(pu.X, pu.y).save(tmp_path / "model")
        return tmp_path / "model"

    def test_weights_that_do_not_sum_to_one(self, ensemble):
        edit_array(ensemble, "model/fitted/weights_", np.ones_like)
        refused(ensemble, "weights of sum 1")

    def test_names_that_are_not_different(self, ensemble):
        def change(content):
            names = content["model"]["fitted"]["estimator_names_"]
            names[1] = names[0]

        edit(ensemble, change)
        refused(ensemble, "different names")

    def test_labels_of_a_part(self, ensemble):
        def change(content):
            content["model"]["fitted"]["estimators_"][0]["parameters"]["pos_label"] = False

        edit(ensemble, change)
        refused(ensemble, "labels of its own")
