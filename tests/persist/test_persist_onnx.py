"""An ONNX file predicts as the model does, to 1e-5, from raw rows."""

import json
import sys

import numpy as np
import pytest
from folders import QUICK, SHORT, data, fitted
from sklearn.naive_bayes import GaussianNB
from torch import nn

from robustpu import (
    BaggingPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    PUExtraTreesClassifier,
    PUVotingClassifier,
    RobustPUClassifier,
    VPUClassifier,
)
from robustpu.base.neural import NeuralPUClassifier
from robustpu.modules.resnet import Bottleneck, convolution
from robustpu.persist import to_onnx
from robustpu.pool.forests import BoostingRanker, ForestRanker

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
reference = pytest.importorskip("onnx.reference")

pytestmark = pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")


def answers(path, X):
    """Probabilities by onnxruntime."""
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (probability,) = session.run(["probability"], {"X": X})
    return probability


def distance(model, X, path, dtype="float64"):
    """The largest difference between the answers of model and file."""
    to_onnx(model, path, dtype=dtype)
    X = X.astype(dtype)
    found = answers(path, X)
    assert found.dtype == dtype
    assert found.shape == (len(X),)
    return np.abs(found - model.predict_proba(X)[:, 1]).max()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
class TestAnswers:
    @pytest.mark.parametrize(
        "name", ["nnpu", "vpu", "pusb", "puet", "bagging", "robust-pu", "auto"]
    )
    def test_tables(self, name, dtype, tmp_path):
        # The kernel of a pool is computed in single precision.
        most = 1e-5 if name == "auto" else 1e-6
        assert distance(fitted(name), data().X_test, tmp_path / "m.onnx", dtype) < most

    @pytest.mark.parametrize(
        "members",
        [
            ["logistic"],
            ["hinges"],
            [("forest", ForestRanker(8))],
            [("boosting", BoostingRanker(2))],
            ["logistic", ("extra-trees", PUExtraTreesClassifier(n_estimators=6))],
        ],
        ids=lambda members: str(members[-1]),
    )
    def test_members_of_a_pool(self, members, dtype, tmp_path):
        pu = data()
        model = PUClassifier(prior=0.3, members=members, scenario="single-set", random_state=0)
        model.fit(pu.X, pu.y)
        assert np.ptp(model.predict_proba(pu.X_test)[:, 1]) > 0.1
        assert distance(model, pu.X_test, tmp_path / "m.onnx", dtype) < 1e-6

    @pytest.mark.parametrize("calibrate", [False, "auto"])
    def test_the_default_on_pictures(self, calibrate, dtype, tmp_path):
        X = np.random.RandomState(0).rand(24, 1, 6, 6)
        model = PUClassifier(prior=0.3, n_members=1, calibrate=calibrate, random_state=0)
        model.fit(X, np.arange(24) < 8)
        assert distance(model, X, tmp_path / "m.onnx", dtype) < 1e-5

    @pytest.mark.parametrize("module", ["all_conv", "all_conv_half", "residual", "mlp", "linear"])
    def test_pictures(self, module, dtype, tmp_path):
        X = np.random.RandomState(0).rand(24, 1, 8, 8)
        model = pictured(module)
        assert np.ptp(model.predict_proba(X)[:, 1]) > 1e-4
        assert distance(model, X, tmp_path / "m.onnx", dtype) < 1e-5


MADE = {}


def pictured(module):
    """A model of pictures that was hardly trained."""
    if module not in MADE:
        X = np.random.RandomState(0).rand(24, 1, 8, 8)
        given = {**SHORT, "epochs": 1, "module": residual if module == "residual" else module}
        MADE[module] = NNPUClassifier(prior=0.3, n_members=2, **given).fit(X, np.arange(24) < 8)
    return MADE[module]


def residual(shape):
    """A small network of the layers of resnet50."""
    return nn.Sequential(
        convolution(shape[0], 8, 7, stride=2),
        nn.ReLU(),
        nn.MaxPool2d(3, stride=2, padding=1),
        Bottleneck(8, 2, 1),
        Bottleneck(8, 4, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 1),
    )


class TestGraph:
    def test_calibration(self, tmp_path):
        pu = data()
        model = NNPUClassifier(prior=0.3, calibrate=True, **SHORT).fit(pu.X, pu.y)
        assert model.calibration_ != 0
        assert distance(model, pu.X_test, tmp_path / "m.onnx") < 1e-12

    def test_calibration_of_an_ensemble(self, tmp_path):
        pu = data()
        few = {"n_estimators": 12, "calibrate": True}
        trees = [("puet", PUExtraTreesClassifier(**few)), ("bagging", BaggingPUClassifier(**few))]
        networks = ("robust-pu", RobustPUClassifier(**QUICK["robust-pu"]))
        given = {"prior": 0.3, "scenario": "single-set", "calibrate": True, "random_state": 0}
        model = PUVotingClassifier([networks, *trees], **given).fit(pu.X, pu.y)
        assert all(forest.calibration_ != 0 for forest in model.estimators_[1:])
        assert model.calibration_ != 0
        assert distance(model, pu.X_test, tmp_path / "m.onnx") < 1e-6

    def test_missing_values_go_where_they_go(self, tmp_path):
        pu, rng = data(), np.random.default_rng(0)
        X, Z = (
            np.where(rng.uniform(size=rows.shape) < 0.3, np.nan, rows) for rows in (pu.X, pu.X_test)
        )
        model = BaggingPUClassifier(prior=0.3, n_estimators=20, random_state=0).fit(X, pu.y)
        assert distance(model, Z, tmp_path / "m.onnx") < 1e-6

    def test_without_scaling_and_with_layers_of_the_users(self, tmp_path):
        def network(shape):
            return nn.Sequential(
                nn.Linear(shape[0], 6, bias=False), nn.Dropout(0.5), nn.ReLU(), nn.Linear(6, 1)
            )

        pu = data()
        model = NNPUClassifier(prior=0.3, module=network, standardize=False, **SHORT)
        model.fit(pu.X / 100, pu.y)
        assert distance(model, pu.X_test / 100, tmp_path / "m.onnx") < 1e-6

    def test_any_number_of_rows(self, tmp_path):
        to_onnx(fitted("robust-pu"), tmp_path / "m.onnx")
        X = data().X_test
        whole = answers(tmp_path / "m.onnx", X)
        parts = [answers(tmp_path / "m.onnx", X[:1]), answers(tmp_path / "m.onnx", X[1:])]
        assert np.allclose(np.concatenate(parts), whole, atol=1e-12)

    def test_a_second_evaluator_agrees(self, tmp_path):
        to_onnx(fitted("vpu"), tmp_path / "m.onnx")
        X = data().X_test
        (found,) = reference.ReferenceEvaluator(str(tmp_path / "m.onnx")).run(None, {"X": X})
        assert np.abs(found - answers(tmp_path / "m.onnx", X)).max() < 1e-6

    def test_trees_split_where_they_did(self, tmp_path):
        # Rows at the thresholds themselves, and next to them.
        model = fitted("puet")
        at = model.forest_.threshold[model.forest_.feature >= 0]
        X = np.tile(np.concatenate([at, np.nextafter(at, 1e9)])[:, None], 8)
        assert distance(model, X, tmp_path / "m.onnx") < 1e-6

    def test_tells_what_it_is(self, tmp_path):
        model = fitted("auto")
        to_onnx(model, tmp_path / "m.onnx")
        proto = onnx.load(tmp_path / "m.onnx")
        assert {opset.domain: opset.version for opset in proto.opset_import} == {
            "": 17,
            "ai.onnx.ml": 3,
        }
        notes = {entry.key: entry.value for entry in proto.metadata_props}
        assert float(notes["threshold"]) == model.threshold_
        assert json.loads(notes["classes"]) == [0, 1]
        assert json.loads(notes["positive_class"]) == 1
        rows = proto.graph.input[0].type.tensor_type.shape.dim
        assert [axis.dim_param or axis.dim_value for axis in rows] == ["rows", 8]

    def test_has_the_names_of_columns_and_the_probability_of_the_positive_label(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        pu = data()
        frame = pandas.DataFrame(pu.X, columns=list("abcdefgh"))
        y = np.where(pu.y == 1, "fraud", "unknown")
        model = NNPUClassifier(prior=0.3, pos_label="fraud", **SHORT).fit(frame, y)
        to_onnx(model, tmp_path / "m.onnx")
        notes = {entry.key: entry.value for entry in onnx.load(tmp_path / "m.onnx").metadata_props}
        assert json.loads(notes["columns"]) == list("abcdefgh")
        assert json.loads(notes["positive_class"]) == "fraud"
        found = answers(tmp_path / "m.onnx", pu.X)
        assert np.allclose(found, model.predict_proba(frame)[:, 0], atol=1e-12)


class TestRefusals:
    def test_learners_of_scikit_learn(self, tmp_path):
        with pytest.raises(ValueError, match="ElkanNotoClassifier predicts in another way"):
            to_onnx(fitted("elkan-noto"), tmp_path / "m.onnx")

    def test_learners_of_scikit_learn_in_an_ensemble(self, tmp_path):
        pu = data()
        pair = [("nnpu", NNPUClassifier(**SHORT)), ("en", ElkanNotoClassifier())]
        model = PUVotingClassifier(pair, prior=0.3, random_state=0).fit(pu.X, pu.y)
        with pytest.raises(ValueError, match="ElkanNotoClassifier predicts in another way"):
            to_onnx(model, tmp_path / "m.onnx")
        model = PUVotingClassifier(pair, weights=(1, 0), prior=0.3, random_state=0)
        assert distance(model.fit(pu.X, pu.y), pu.X_test, tmp_path / "m.onnx") < 1e-6

    def test_a_pool_of_text_and_gaps(self, tmp_path):
        pu = data()
        X = np.where(np.arange(8) == 0, np.nan, pu.X)
        X[::2, 0] = pu.X[::2, 0]
        model = PUClassifier(prior=0.3, members=["logistic"], random_state=0).fit(X, pu.y)
        with pytest.raises(ValueError, match=r"text, categories, dates or gaps: .*Vectorizer"):
            to_onnx(model, tmp_path / "m.onnx")
        assert not list(tmp_path.iterdir())

    def test_a_member_of_a_pool_that_is_not_known(self, tmp_path):
        pu = data()
        given = {"members": ["logistic", ("bayes", GaussianNB())], "random_state": 0}
        model = PUClassifier(prior=0.3, **given).fit(pu.X, pu.y)
        with pytest.raises(ValueError, match=r"the member GaussianNB: leave it out of members="):
            to_onnx(model, tmp_path / "m.onnx")
        model.weights_ = np.array([1.0, 0.0])
        assert distance(model, pu.X_test, tmp_path / "m.onnx") < 1e-6

    def test_layers_that_are_not_known(self, tmp_path):
        def network(shape):
            return nn.Sequential(nn.Linear(shape[0], 4), nn.Tanh(), nn.Linear(4, 1))

        pu = data()
        model = NNPUClassifier(prior=0.3, module=network, **SHORT).fit(pu.X, pu.y)
        with pytest.raises(ValueError, match=r"does not know the layer Tanh; .*to_torch"):
            to_onnx(model, tmp_path / "m.onnx")

    def test_a_class_that_scores_in_its_own_way(self, tmp_path):
        class Mine(NNPUClassifier):
            def member_probability(self, logit):
                return super().member_probability(logit) ** 2

        pu = data()
        model = Mine(prior=0.3, **SHORT).fit(pu.X, pu.y)
        with pytest.raises(ValueError, match="Mine predicts in another way"):
            to_onnx(model, tmp_path / "m.onnx")

    def test_no_method_of_the_library_does_so_unnoticed(self):
        from folders import METHODS

        usual = {NeuralPUClassifier.member_probability, VPUClassifier.member_probability}
        neural = [method for method in METHODS.values() if issubclass(method, NeuralPUClassifier)]
        assert {method.member_probability for method in neural} == usual

    def test_a_file_that_is_there(self, tmp_path):
        to_onnx(fitted("nnpu"), tmp_path / "m.onnx")
        with pytest.raises(FileExistsError, match="overwrite=True"):
            to_onnx(fitted("nnpu"), tmp_path / "m.onnx")
        to_onnx(fitted("vpu"), tmp_path / "m.onnx", overwrite=True)
        assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]

    def test_what_a_killed_process_left_goes(self, tmp_path):
        (tmp_path / ".m.onnx.01234567.part.onnx").touch()
        to_onnx(fitted("nnpu"), tmp_path / "m.onnx")
        assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]

    def test_other_types(self, tmp_path):
        with pytest.raises(ValueError, match="dtype must be 'float64' or 'float32'"):
            to_onnx(fitted("nnpu"), tmp_path / "m.onnx", dtype="float16")
        with pytest.raises(TypeError, match="not Linear"):
            to_onnx(nn.Linear(1, 1), tmp_path / "m.onnx")

    def test_without_onnx_it_says_what_to_install(self, tmp_path, monkeypatch):
        monkeypatch.delitem(sys.modules, "robustpu.persist.graph", raising=False)
        monkeypatch.setitem(sys.modules, "onnx", None)
        with pytest.raises(ImportError, match=r"pip install 'robustpu\[onnx\]'"):
            to_onnx(fitted("nnpu"), tmp_path / "m.onnx")
