"""Thousands of damaged folders: each is refused with a reason, or is a model after all."""

import contextlib
import copy
import json
import random
import shutil
import warnings

import numpy as np
import pytest
from folders import data, fitted, header_of, seal, seal_sums, with_header

import robustpu
from robustpu import ModelFolderError

NAMES = ("nnpu", "puet", "pretrained", "bagging", "elkan-noto", "robust-pu", "auto")
FILES = ("SHA256SUMS", "arrays.safetensors", "model.json")
JUNK = [
    None,
    True,
    -1,
    0,
    10**6,
    2**63,
    10**30,
    0.5,
    -1e308,
    "",
    "nnpu",
    "../../etc/passwd",
    "__class__",
    "os.system",
    [],
    [[]],
    {},
    {"$": "array"},
    {"$": "float", "value": "nan"},
    {"$": "object", "class": "nnpu", "parameters": {}, "fitted": None},
    {"$": "object", "class": "os.system", "parameters": {"command": "true"}, "fitted": None},
    {"$": "function", "name": "module:resnet50"},
    {"$": "partial", "function": {"$": "function", "name": "module:mlp"}, "arguments": [],
     "keywords": {"hidden": [10**12]}},
    {"$": "given", "was": "builtins.eval"},
    {"$": "scalar", "dtype": "uint8", "value": 300},
    {"$": "texts", "dtype": "U9", "shape": [2], "items": ["a", "b"]},
    {"$": "tuple", "items": [1, 2]},
    {"$": "pairs", "items": [[1, 2], [1, 3]]},
    {"$": "forest"},
    {"$": "tree", "columns": 8},
    {"$": "trees", "columns": 8},
    {"$": "random", "position": 10**9, "has_gauss": 0, "gauss": 0.0},
]  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Folders that are not damaged yet: name -> {file: content}."""
    folder = tmp_path_factory.mktemp("sound")
    for name in NAMES:
        robustpu.save(fitted(name), folder / name)
    return {name: {file: (folder / name / file).read_bytes() for file in FILES} for name in NAMES}


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    return path


def write(folder, files):
    shutil.rmtree(folder)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def attempt(folder):
    """Load, and ask: whatever comes of it is an answer or a ModelFolderError."""
    try:
        model = robustpu.load(folder)
    except ModelFolderError as error:
        told = str(error)
    else:
        return harmless(model)
    assert str(folder) in told
    assert "unforeseen" not in told
    return False


def harmless(model):
    """Ask a model that was tampered with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Numbers may be so large that the scaled rows are refused.
        with contextlib.suppress(ValueError):
            assert model.predict_proba(data().X_test).shape == (50, 2)
    return True


class TestDamage:
    """Files that were changed by accident: none of them is taken for sound."""

    @pytest.mark.parametrize("name", NAMES)
    def test_bits(self, sound, folder, name):
        draw = random.Random(name)
        for _ in range(60):
            files = dict(sound[name])
            file = draw.choice(FILES)
            content = bytearray(files[file])
            for _ in range(draw.choice([1, 1, 8])):
                content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
            if bytes(content) == files[file]:
                continue
            files[file] = bytes(content)
            write(folder, files)
            assert not attempt(folder)

    @pytest.mark.parametrize("name", NAMES)
    def test_lengths(self, sound, folder, name):
        draw = random.Random(name)
        for _ in range(30):
            files = dict(sound[name])
            file = draw.choice(FILES)
            cut = draw.randrange(len(files[file]))
            more = draw.randbytes(draw.randrange(1, 99))
            files[file] = draw.choice([files[file][:cut], files[file] + more, b"", more])
            write(folder, files)
            assert not attempt(folder)

    def test_files_of_other_models(self, sound, folder):
        draw = random.Random(0)
        for _ in range(60):
            one, other = draw.sample(NAMES, 2)
            files = {**sound[one], (file := draw.choice(FILES)): sound[other][file]}
            write(folder, files)
            assert not attempt(folder)

    def test_names(self, sound, folder):
        draw = random.Random(0)
        for _ in range(40):
            files = dict(sound[draw.choice(NAMES)])
            file = draw.choice(FILES)
            new = draw.choice([".hidden", "model.json~", "x", "..a", "MODEL.JSON"])
            if draw.random() < 0.5:
                files[new] = files[file]
            else:
                files[new] = files.pop(file)
            write(folder, files)
            assert not attempt(folder)


class TestTampering:
    """Files that were changed on purpose, with checksums to match."""

    @pytest.mark.parametrize("name", NAMES)
    def test_json(self, sound, folder, name):
        draw = random.Random(name)
        refused = 0
        for _ in range(80):
            files = dict(sound[name])
            content = json.loads(files["model.json"])
            for _ in range(draw.choice([1, 1, 3])):
                tamper(content, draw)
            files["model.json"] = json.dumps(content).encode()
            write(folder, files)
            seal_sums(folder)
            refused += not attempt(folder)
        assert refused > 40

    @pytest.mark.parametrize("name", NAMES)
    def test_text(self, sound, folder, name):
        draw = random.Random(name)
        for _ in range(30):
            files = dict(sound[name])
            content = bytearray(files["model.json"])
            place = draw.randrange(len(content))
            content[place : place + draw.randrange(3)] = draw.choice(
                [b"[" * 5000, b"NaN", b"1e999", b'"', b"}", b"\xff", b"9" * 5000, b'"a":1,', b"-"]
            )
            files["model.json"] = bytes(content)
            write(folder, files)
            seal(folder)
            attempt(folder)

    @pytest.mark.parametrize("name", NAMES)
    def test_arrays(self, sound, folder, name):
        draw = random.Random(name)
        for _ in range(70):
            files = dict(sound[name])
            files["arrays.safetensors"] = tampered_arrays(files["arrays.safetensors"], draw)
            write(folder, files)
            seal(folder)
            attempt(folder)


def tamper(content, draw):
    """Change one place of some JSON."""
    places = list(walk(content))
    parent, key = draw.choice(places)
    kind = draw.randrange(5)
    if kind == 0 and isinstance(parent, dict):
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[draw.choice(["$", "new", "class", "fitted", "networks"])] = parent[key]
    elif kind == 2:
        other, place = draw.choice(places)
        parent[key] = copy.deepcopy(other[place])
    else:
        parent[key] = copy.deepcopy(draw.choice(JUNK))


def walk(content):
    """All places below some JSON: (list or dictionary, index or key)."""
    keys = content if isinstance(content, dict) else range(len(content))
    for key in list(keys):
        yield content, key
        if isinstance(content[key], dict | list):
            yield from walk(content[key])


def tampered_arrays(content, draw):
    """Change header or data of a safetensors file."""
    header, numbers = header_of(content)
    name = draw.choice(sorted(header.keys() - {"__metadata__"}))
    entry = header[name]
    kind = draw.randrange(8)
    if kind == 0:
        entry["shape"] = draw.choice([[], [0], [2**62, 2], [-1], entry["shape"][::-1], [1.5], "x"])
    elif kind == 1:
        entry["dtype"] = draw.choice(["F16", "F32", "I64", "BF16", "F8_E5M2", "BOOL", "C64", 3])
    elif kind == 2:
        start, stop = entry["data_offsets"]
        entry["data_offsets"] = draw.choice(
            [[0, stop], [start, stop + 8], [stop, start], [2**60] * 2]
        )
    elif kind == 3:
        other = draw.choice(sorted(header.keys() - {"__metadata__"}))
        header[name], header[other] = header[other], header[name]
    elif kind == 4:
        header[draw.choice(["x", "__metadata__", "model", name + "/x"])] = header.pop(name)
    elif kind == 5:
        header["__metadata__"] = {"a": draw.choice(["b", 1, None])}
    elif kind == 6:
        return draw.choice([2**63, 2**24 + 1, 0, 1]).to_bytes(8, "little") + content[8:]
    else:
        start, stop = entry["data_offsets"]
        special = np.array([np.nan, np.inf, -1, 2**40, 1e300])
        whole = np.array([-1, 2**62, 7, -(2**63), 0])
        new = bytearray(numbers)
        for _ in range(3):
            number = draw.choice([*special, *whole]).tobytes()
            place = start + 8 * draw.randrange(max(1, (stop - start) // 8))
            new[place : place + 8] = number[: stop - place]
        numbers = bytes(new)
    return with_header(header, numbers)
