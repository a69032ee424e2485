"""What every data set promises, and what `load` refuses."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils import Bunch

from robustpu import datasets
from robustpu.datasets.catalogue import SOURCES

# name: (rows, features, positives) of the sets that need no files
SIZES = {
    "spambase": (4601, 57, 1813),
    "shuttle": (58000, 9, 45586),
    "shuttle-minority": (58000, 9, 12414),
    "digits": (1797, 64, 891),
    "breast_cancer": (569, 30, 212),
}


@pytest.fixture(scope="module", params=SIZES)
def named_bunch(request: pytest.FixtureRequest) -> tuple[str, Bunch]:
    return request.param, datasets.load(request.param)


def test_names():
    files = ["mushrooms", "mnist", "fashion-mnist", "cifar10", "stl10", "alzheimer"]
    assert datasets.names() == [*SIZES, *files] == list(SOURCES)


def test_sizes_are_those_of_the_table_of_sources():
    for name, (rows, features, positives) in SIZES.items():
        source = SOURCES[name]
        assert (source.rows, source.shape, source.positives) == (rows, (features,), positives)
        assert datasets.load(name).target_names.tolist() == list(source.classes)


def test_sizes_and_types(named_bunch):
    name, bunch = named_bunch
    rows, features, positives = SIZES[name]
    assert bunch.data.shape == (rows, features)
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert np.isfinite(bunch.data).all()
    assert bunch.target.shape == (rows,)
    assert bunch.target.dtype == np.int64
    assert np.bincount(bunch.target).tolist() == [rows - positives, positives]
    assert bunch.frame is None


def test_names_and_description(named_bunch):
    name, bunch = named_bunch
    rows, features, positives = SIZES[name]
    assert len(bunch.feature_names) == len(set(bunch.feature_names)) == features
    assert all(type(feature) is str for feature in bunch.feature_names)
    assert bunch.target_names.shape == (2,)
    for number in (rows, positives, rows - positives):
        assert f"{number:,}" in bunch.DESCR


def test_every_call_returns_arrays_of_its_own():
    first = datasets.load("breast_cancer")
    first.data[:] = 0
    assert datasets.load("breast_cancer").data.any()


def test_positive_classes():
    digits = datasets.load("digits")
    assert digits.target[:4].tolist() == [1, 0, 1, 0]  # the first digits are 0, 1, 2, 3
    assert digits.data.min() == 0
    assert digits.data.max() == 1
    names = {name: datasets.load(name).target_names.tolist() for name in SIZES}
    assert names == {
        "spambase": ["other", "spam"],
        "shuttle": ["other", "Rad Flow"],
        "shuttle-minority": ["Rad Flow", "other"],
        "digits": ["odd", "even"],
        "breast_cancer": ["benign", "malignant"],
    }
    assert "the other way round" in datasets.load("shuttle").DESCR


def test_malignant_tumours_are_the_larger():
    bunch = datasets.load("breast_cancer")
    radius = bunch.data[:, bunch.feature_names.index("mean radius")]
    assert radius[bunch.target == 1].mean() > radius[bunch.target == 0].mean()


@pytest.mark.parametrize("name", SIZES)
def test_as_frame_holds_the_same_numbers(name):
    pd = pytest.importorskip("pandas")
    arrays, frames = datasets.load(name), datasets.load(name, as_frame=True)
    assert isinstance(frames.data, pd.DataFrame)
    assert isinstance(frames.target, pd.Series)
    assert list(frames.frame.columns) == [*arrays.feature_names, "target"]
    np.testing.assert_array_equal(frames.frame.to_numpy()[:, :-1], arrays.data)
    np.testing.assert_array_equal(frames.target.to_numpy(), arrays.target)
    assert frames.DESCR == arrays.DESCR


def test_as_frame_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        datasets.load("breast_cancer", as_frame=True)


def test_own_loader():
    bunch = Bunch(data=np.zeros((2, 1)), target=np.array([0, 1]), feature_names=["a"], frame=None)
    assert datasets.load(lambda: bunch) is bunch


def test_unknown_name_lists_the_names_and_suggests():
    with pytest.raises(ValueError, match="did you mean 'spambase'") as caught:
        datasets.load("spam_base")
    assert all(name in str(caught.value) for name in SIZES)
    with pytest.raises(ValueError, match="unknown data set 'zzz'"):
        datasets.load("zzz")


def test_loading_needs_neither_torch_nor_pandas():
    # scikit-learn imports pandas where it finds it, so pandas is hidden rather than looked for.
    code = (
        "import sys; sys.modules['pandas'] = None; from robustpu import datasets;"
        "print([len(datasets.load(name).data) for name in datasets.names()[:5]],"
        "'torch' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout == "[4601, 58000, 58000, 1797, 569] False\n", answer.stderr


@pytest.mark.parametrize("name", [name for name in SOURCES if name not in SIZES])
def test_a_missing_set_says_how_to_get_it(name, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load(name, data_dir=tmp_path / "my data")
    message = str(caught.value)
    assert f"`robustpu datasets fetch {name} --data-dir '{tmp_path / 'my data'}'`" in message
    assert "ROBUSTPU_DATA" in message

    monkeypatch.setenv("ROBUSTPU_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"`robustpu datasets fetch {name}`"):
        datasets.load(name)


def test_pixels_become_floats_unless_raw(lay_out):
    pixels = np.arange(3 * 3072, dtype=np.uint8).reshape(3, 3072)
    batch = np.column_stack([[0, 9, 5], pixels]).astype(np.uint8).tobytes()
    folder = "cifar-10-batches-bin"
    root = lay_out("cifar10", {f"{folder}/{b}.bin": batch for b in ("data_batch_1", "test_batch")})
    floats = datasets.load("cifar10", data_dir=root)
    raw = datasets.load("cifar10", data_dir=root, raw=True)
    assert (floats.data.dtype, raw.data.dtype) == (np.float32, np.uint8)
    np.testing.assert_array_equal(raw.data[:3].reshape(3, -1), pixels)
    np.testing.assert_allclose(floats.data, raw.data / 255, rtol=1e-6)
    assert (floats.data.min(), floats.data.max()) == (0, 1)
    with pytest.raises(ValueError, match="as_frame=True is for tables"):
        datasets.load("cifar10", data_dir=root, as_frame=True)


def test_the_environment_names_the_folder(lay_out, monkeypatch):
    batch = bytes(3073)
    folder = "cifar-10-batches-bin"
    root = lay_out("cifar10", {f"{folder}/{b}.bin": batch for b in ("data_batch_1", "test_batch")})
    monkeypatch.setenv("ROBUSTPU_DATA", str(root))
    assert len(datasets.load("cifar10").data) == 2
