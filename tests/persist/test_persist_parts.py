"""What is kept of a model, what has to be given again, and what cannot be saved."""

import json
from functools import partial

import numpy as np
import pytest
import torch
from folders import QUICK, SHORT, again, data, edit, fitted, same
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from torch import nn

import robustpu
from robustpu import (
    BaggingPUClassifier,
    Curriculum,
    ElkanNotoClassifier,
    ModelFolderError,
    NNPUClassifier,
    Pacing,
    PUExtraTreesClassifier,
    PUVotingClassifier,
    RobustPUClassifier,
    hardness,
    persist,
    risks,
    weighting,
)
from robustpu.modules import mlp
from robustpu.persist.objects import KINDS

pytestmark = pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")


class TestWhatElseIsKept:
    def test_evaluation(self, tmp_path):
        model = fitted("robust-pu")
        assert repr(again(model, tmp_path).evaluate(k=5)) == repr(model.evaluate(k=5))

    def test_labels_and_names_of_columns(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        pu = data()
        frame = pandas.DataFrame(pu.X, columns=[f"größe {place}/~" for place in range(8)])
        y = np.where(pu.y == 1, "fraud", "unknown")
        model = NNPUClassifier(prior=0.3, pos_label="fraud", **SHORT).fit(frame, y)
        loaded = again(model, tmp_path)
        assert same(loaded.classes_, model.classes_)
        assert same(loaded.feature_names_in_, model.feature_names_in_)
        assert same(loaded.predict(frame), model.predict(frame))
        with pytest.raises(ValueError, match="feature names"):
            loaded.predict(frame.rename(columns={"größe 0/~": "size"}))

    @pytest.mark.parametrize(
        "labels", [(False, True), (-1, 1), (2.0, 3.0), np.array(["a", "bb"], dtype=object)]
    )
    def test_types_of_labels(self, labels, tmp_path):
        pu = data()
        y = np.asarray(labels)[pu.y]
        model = PUExtraTreesClassifier(
            prior=0.3, n_estimators=3, pos_label=np.asarray(labels)[1]
        ).fit(pu.X, y)
        loaded = again(model, tmp_path)
        assert same(loaded.classes_, model.classes_)
        assert same(loaded.predict(pu.X), model.predict(pu.X))

    @pytest.mark.parametrize("module", ["all_conv", "mlp"])
    def test_pictures(self, module, tmp_path):
        X = np.random.RandomState(0).rand(30, 1, 6, 6)
        y = np.arange(30) < 10
        short = {**SHORT, "epochs": 1, "n_members": 2}
        model = NNPUClassifier(prior=0.3, module=module, **short).fit(X, y)
        loaded = again(model, tmp_path)
        assert same(loaded.predict_proba(X), model.predict_proba(X))
        state = model.to_torch(1).state_dict()
        assert all(
            torch.equal(value, state[name])
            for name, value in loaded.to_torch(1).state_dict().items()
        )

    def test_oracle_selection_and_calibration(self, tmp_path):
        pu = data()
        model = NNPUClassifier(prior=0.3, calibrate=True, **SHORT)
        model.fit(pu.X, pu.y, eval_set=(pu.X_test, pu.y_test))
        loaded = again(model, tmp_path)
        assert loaded.selection_ == "oracle"
        assert loaded.calibration_ == model.calibration_ != 0
        assert same(loaded.out_of_fold_, model.out_of_fold_)

    @pytest.mark.parametrize(
        "others",
        [
            [],
            [("elkan-noto", ElkanNotoClassifier())],
            [
                ("nnpu", NNPUClassifier(epochs=1, n_members=2)),
                ("bagging", BaggingPUClassifier(n_estimators=12)),
            ],
        ],
        ids=["alone", "learner", "networks and trees"],
    )
    def test_any_ensemble(self, others, tmp_path):
        pu = data()
        named = [("robust-pu", RobustPUClassifier(**QUICK["robust-pu"])), *others]
        model = PUVotingClassifier(named, prior=0.3, random_state=0).fit(pu.X, pu.y)
        loaded = again(model, tmp_path)
        assert same(loaded.predict_proba(pu.X_test), model.predict_proba(pu.X_test))
        assert list(loaded.named_estimators_) == [name for name, _ in named]

    def test_functions_of_classifiers_of_an_ensemble(self, tmp_path):
        def mine(margin):
            return risks.logistic(margin)

        pu, network = data(), NNPUClassifier(epochs=1, surrogate=mine)
        named = [("trees", PUExtraTreesClassifier(n_estimators=2)), ("network", network)]
        model = PUVotingClassifier(named, prior=0.3, random_state=0).fit(pu.X, pu.y)
        loaded = again(model, tmp_path, estimators__1__1__surrogate=mine)
        assert loaded.estimators[1][1].surrogate is mine
        assert loaded.named_estimators_["network"].surrogate is mine

    def test_a_classifier_of_another_class_is_not_taken(self, tmp_path):
        fitted("nnpu").save(tmp_path / "model")
        assert type(NNPUClassifier.load(tmp_path / "model")) is NNPUClassifier
        with pytest.raises(ModelFolderError, match="NNPUClassifier, not a RobustPUClassifier"):
            RobustPUClassifier.load(tmp_path / "model")


class TestParameters:
    @pytest.mark.parametrize(
        "given",
        [
            {"module": partial(mlp, hidden=(7, 5))},
            {"module": mlp},
            {"random_state": np.int64(3), "lr": np.float32(1e-3)},
            {"threshold": "recall:0.9"},
            {"device": "cpu"},
        ],
    )
    def test_come_back(self, given, tmp_path):
        pu = data()
        model = NNPUClassifier(**{"prior": 0.3, **SHORT, **given}).fit(pu.X, pu.y)
        loaded = again(model, tmp_path)
        assert str(loaded.get_params()) == str(model.get_params())
        assert all(type(loaded.get_params()[name]) is type(given[name]) for name in given)
        assert same(loaded.predict_proba(pu.X_test), model.predict_proba(pu.X_test))

    @pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
    @pytest.mark.parametrize("prior", ["km1", "auto"])
    def test_a_prior_that_was_estimated_comes_back(self, prior, tmp_path):
        pu = data()
        model = NNPUClassifier(prior=prior, **SHORT).fit(pu.X, pu.y)
        loaded = again(model, tmp_path)
        assert (loaded.prior, loaded.prior_) == (prior, model.prior_)
        assert repr(loaded.prior_interval()) == repr(model.prior_interval())
        assert same(loaded.predict_proba(pu.X_test), model.predict_proba(pu.X_test))

    def test_functions_of_the_library_go_by_name(self, tmp_path):
        pu = data()
        pace = Pacing("linear", lambda0=0.5, beta=1.0, t_grow=2)
        curriculum = Curriculum(
            hardness=hardness.crps, weighting=weighting.linear, pacing_positive=pace, max_rounds=2
        )
        given = {**QUICK["robust-pu"], "curriculum": curriculum}
        loaded = again(RobustPUClassifier(prior=0.3, **given).fit(pu.X, pu.y), tmp_path).curriculum
        assert loaded.hardness is hardness.crps
        assert loaded.weighting is weighting.linear
        assert loaded.pacing_positive.get_params() == pace.get_params()

    def test_a_random_state_goes_on_where_it_was(self, tmp_path):
        pu = data()
        random = np.random.RandomState(5)
        random.normal()
        model = PUExtraTreesClassifier(prior=0.3, n_estimators=3, random_state=random)
        loaded = again(model.fit(pu.X, pu.y), tmp_path)
        assert loaded.random_state.normal() == random.normal()

    def test_a_parameter_that_is_younger_than_the_folder_has_its_default(self, tmp_path):
        robustpu.save(fitted("nnpu"), tmp_path / "model")
        edit(tmp_path / "model", lambda content: content["model"]["parameters"].pop("mirror"))
        assert robustpu.load(tmp_path / "model").mirror is False


class Plus(nn.Module):
    """A network of the user's."""

    def __init__(self, shape):
        super().__init__()
        self.first = nn.Linear(shape[0], 4)
        self.last = nn.Linear(4, 1)
        self.register_buffer("one", torch.ones(1))

    def forward(self, x):
        return self.last(torch.tanh(self.first(x)) + self.one)


class Wider(Plus):
    def __init__(self, shape):
        super().__init__(shape)
        self.last = nn.Linear(5, 1)


class TestFunctionsOfTheUser:
    def test_are_given_again(self, tmp_path):
        pu = data()
        model = NNPUClassifier(prior=0.3, module=Plus, n_members=2, **SHORT).fit(pu.X, pu.y)
        loaded = again(model, tmp_path, module=Plus)
        assert loaded.module is Plus
        assert same(loaded.predict_proba(pu.X_test), model.predict_proba(pu.X_test))

    def test_inside_other_parameters_too(self, tmp_path):
        pu = data()

        def median(positive, unlabeled):
            return 0.4

        named = [("trees", PUExtraTreesClassifier(n_estimators=2, prior=median))]
        model = PUVotingClassifier(named, prior=median, random_state=0).fit(pu.X, pu.y)
        loaded = again(model, tmp_path, prior=median, estimators__0__1__prior=median)
        assert loaded.prior is median
        assert loaded.estimators[0][1].prior is median

    def test_must_be_given(self, tmp_path):
        pu = data()
        model = NNPUClassifier(prior=0.3, module=Plus, **SHORT).fit(pu.X, pu.y)
        with pytest.raises(ModelFolderError, match=r"'.*Plus'.* Give it again: load\(path, module"):
            again(model, tmp_path)

    def test_that_are_others_are_refused(self, tmp_path):
        pu = data()
        model = NNPUClassifier(prior=0.3, module=Plus, **SHORT).fit(pu.X, pu.y)
        robustpu.save(model, tmp_path / "model")
        with pytest.raises(ModelFolderError, match=r"last.weight has the shape \(1, 1, 4\)"):
            robustpu.load(tmp_path / "model", module=Wider)
        with pytest.raises(ModelFolderError, match="do not have the same parameters"):
            robustpu.load(tmp_path / "model", module=mlp)

    def test_that_nobody_asked_for_are_refused(self, tmp_path):
        with pytest.raises(TypeError, match="'module'"):
            again(fitted("nnpu"), tmp_path, module=Plus)


LEARNERS = [
    make_pipeline(StandardScaler(), LogisticRegression(class_weight={0: 1.0, 1: 2.0})),
    make_pipeline(MinMaxScaler(), StandardScaler(), LinearSVC(dual=False)),
    GaussianNB(),
    DecisionTreeClassifier(max_depth=4),
    DecisionTreeClassifier(max_leaf_nodes=5),
    RandomForestClassifier(3),
    ExtraTreesClassifier(3, bootstrap=False),
]


class TestLearners:
    @pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
    @pytest.mark.parametrize("kind", [ElkanNotoClassifier, BaggingPUClassifier])
    @pytest.mark.filterwarnings("ignore:.*in every bag")
    def test_come_back(self, learner, kind, tmp_path):
        pu = data()
        short = {"n_estimators": 2} if kind is BaggingPUClassifier else {"correction": "scaled"}
        model = kind(prior=0.3, estimator=learner, random_state=0, **short).fit(pu.X, pu.y)
        loaded = again(model, tmp_path)
        assert same(loaded.predict_proba(pu.X_test), model.predict_proba(pu.X_test))
        assert str(loaded.get_params()) == str(model.get_params())

    def test_with_weights_and_missing_values(self, tmp_path):
        pu = data()
        X = pu.X.copy()
        X[::5, 1] = np.nan
        model = ElkanNotoClassifier(
            prior=0.3, estimator=RandomForestClassifier(3, class_weight="balanced")
        )
        model.fit(X, pu.y, np.linspace(1, 2, len(X)))
        loaded = again(model, tmp_path)
        assert same(loaded.predict_proba(X), model.predict_proba(X))

    def test_that_are_not_on_the_list_are_refused_when_saved(self, tmp_path):
        pu = data()
        model = ElkanNotoClassifier(prior=0.3, estimator=RidgeClassifier()).fit(pu.X, pu.y)
        with pytest.raises(ModelFolderError, match=r"RidgeClassifier cannot be stored. .*joblib"):
            robustpu.save(model, tmp_path / "model")
        assert not list(tmp_path.iterdir())


class TestWhatCannotBeSaved:
    def test_what_was_not_fitted(self, tmp_path):
        with pytest.raises(NotFittedError):
            robustpu.save(NNPUClassifier(), tmp_path / "model")

    def test_what_is_no_classifier_of_ours(self, tmp_path):
        with pytest.raises(TypeError, match=r"not Pipeline.*pipeline\[-1\]"):
            robustpu.save(make_pipeline(StandardScaler()), tmp_path / "model")

    def test_a_class_of_the_users(self, tmp_path):
        class Mine(NNPUClassifier):
            pass

        pu = data()
        with pytest.raises(ModelFolderError, match="Mine cannot be stored"):
            Mine(prior=0.3, **SHORT).fit(pu.X, pu.y).save(tmp_path / "model")

    def test_an_attribute_that_nobody_knows(self, tmp_path):
        model = robustpu.load(again(fitted("nnpu"), tmp_path) and tmp_path / "model")
        model.colour_ = "red"
        with pytest.raises(ModelFolderError, match="not known here: colour_"):
            model.save(tmp_path / "second")

    def test_what_could_not_be_read_again(self, tmp_path):
        model = again(fitted("nnpu"), tmp_path)
        model.probability_[3] = np.nan
        with pytest.raises(ModelFolderError, match="probability_ holds NaN"):
            model.save(tmp_path / "second")
        assert not (tmp_path / "second").exists()


class TestExtra:
    def test_comes_back(self, tmp_path):
        extra = {"columns": ["a", "b"], 3: (1, None), "x": np.arange(6.0).reshape(2, 3), "$": True}
        robustpu.save(fitted("puet"), tmp_path / "model", extra=extra)
        assert same(persist.read_extra(tmp_path / "model"), extra)
        assert type(robustpu.load(tmp_path / "model")) is PUExtraTreesClassifier

    def test_is_plain(self, tmp_path):
        for value in (BaseEstimator(), print, fitted("puet"), {1, 2}, 1j):
            with pytest.raises(ModelFolderError, match=r"extra: .* cannot be stored"):
                robustpu.save(fitted("puet"), tmp_path / "model", extra=value)

    def test_objects_in_a_folder_are_refused(self, tmp_path):
        robustpu.save(fitted("puet"), tmp_path / "model")
        edit(tmp_path / "model", lambda content: content.update(extra=content["model"]))
        for read in (robustpu.load, persist.read_extra):
            with pytest.raises(ModelFolderError, match="extra: 'object' is no kind of value"):
                read(tmp_path / "model")


class TestAttachments:
    def test_lie_in_the_folder(self, tmp_path):
        files = {"report.html": "<p>ü</p>", "rows.bin": b"\x00\xff"}
        robustpu.save(fitted("puet"), tmp_path / "model", attachments=files)
        assert (tmp_path / "model" / "report.html").read_text(encoding="utf-8") == "<p>ü</p>"
        assert persist.read_attachment(tmp_path / "model", "rows.bin") == b"\x00\xff"
        with pytest.raises(ModelFolderError, match="no file 'x'"):
            persist.read_attachment(tmp_path / "model", "x")

    def test_are_checked(self, tmp_path):
        robustpu.save(fitted("puet"), tmp_path / "model", attachments={"report.html": "<p>"})
        (tmp_path / "model" / "report.html").write_text("<b>")
        with pytest.raises(ModelFolderError, match=r"report.html: its checksum"):
            robustpu.load(tmp_path / "model")

    @pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "model.json", "SHA256SUMS", "ü"])
    def test_have_plain_names(self, name, tmp_path):
        with pytest.raises(ValueError, match="cannot be attached"):
            robustpu.save(fitted("puet"), tmp_path / "model", attachments={name: ""})


class TestDescription:
    def test_tells_what_is_there(self, tmp_path):
        robustpu.save(fitted("nnpu"), tmp_path / "model", attachments={"a.txt": "abc"})
        found = persist.describe(tmp_path / "model")
        assert (found.kind, found.schema) == ("NNPUClassifier", 3)
        assert found.written_by["robustpu"] == robustpu.__version__
        assert found.attachments == ("a.txt",)
        assert found.files["a.txt"] == 3
        assert set(found.files) == {path.name for path in (tmp_path / "model").iterdir()}

    def test_a_folder_of_another_version_is_fine(self, tmp_path):
        robustpu.save(fitted("nnpu"), tmp_path / "model")
        edit(tmp_path / "model", lambda content: content["written_by"].update(robustpu="0.0.9"))
        assert persist.describe(tmp_path / "model").written_by["robustpu"] == "0.0.9"
        robustpu.load(tmp_path / "model")


def test_every_class_on_the_list_is_there():
    assert all(isinstance(kind.load(), type) for kind in KINDS.values())


def test_the_checksums_are_those_of_sha256sum(tmp_path):
    import hashlib

    robustpu.save(fitted("nnpu"), tmp_path / "model")
    for line in (tmp_path / "model" / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((tmp_path / "model" / name).read_bytes()).hexdigest() == digest
    assert json.loads((tmp_path / "model" / "model.json").read_text())["schema"] == 3
