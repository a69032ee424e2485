"""Pools on disk: what comes back, what cannot be stored, and what a tampered folder is told."""

import json

import numpy as np
import pytest
from folders import again, data, edit, edit_array, fitted, refused, same, seal
from safetensors.numpy import load_file, save_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import robustpu
from robustpu import ModelFolderError, PUClassifier

HINGES, LAPLACIAN, FOREST, BOOSTING = 1, 2, 3, 4
FAST = {"prior": 0.3, "random_state": 0}


@pytest.fixture
def pool(tmp_path):
    robustpu.save(fitted("auto"), tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture(scope="module")
def frame():
    """A table with a category and gaps."""
    pandas = pytest.importorskip("pandas")
    pu, random = data(), np.random.default_rng(0)
    table = pandas.DataFrame(pu.X[:, :3].copy(), columns=list("abc"))
    table.loc[::7, "a"] = np.nan
    return table.assign(kind=np.where(pu.y == 1, "x", random.choice(["x", "y"], len(pu.y))))


def member(place, name):
    """Where an array of a member lies."""
    return f"model/fitted/members_/{place}/fitted/{name}"


def put(place, value):
    """Change one number of an array."""

    def change(array):
        array[place] = value
        return array

    return change


def without(folder, name):
    """Take a fitted attribute out of a folder."""
    arrays = load_file(folder / "arrays.safetensors")
    arrays.pop(f"model/fitted/{name}", None)
    save_file(arrays, folder / "arrays.safetensors")
    content = json.loads((folder / "model.json").read_text())
    del content["model"]["fitted"][name]
    (folder / "model.json").write_text(json.dumps(content))
    seal(folder)


class TestComeBack:
    def test_tables_of_text_and_gaps(self, frame, tmp_path):
        model = PUClassifier(members=["logistic", "hinges"], **FAST).fit(frame, data().y)
        loaded = again(model, tmp_path)
        assert same(loaded.predict_proba(frame), model.predict_proba(frame))
        assert loaded.vectorizer_.feature_names_out_ == model.vectorizer_.feature_names_out_
        assert loaded.feature_names_in_.tolist() == ["a", "b", "c", "kind"]

    def test_members_of_your_own(self, tmp_path):
        pu, svm = data(), make_pipeline(StandardScaler(), LinearSVC())
        model = PUClassifier(members=["hinges", ("svm", svm)], **FAST).fit(pu.X, pu.y)
        loaded = again(model, tmp_path)
        assert list(loaded.named_members_) == ["hinges", "svm"]
        assert same(loaded.member_scores(pu.X_test), model.member_scores(pu.X_test))
        assert same(loaded.predict_proba(pu.X_test), model.predict_proba(pu.X_test))

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_networks_of_images(self, tmp_path):
        X = np.random.RandomState(0).rand(30, 1, 6, 6)
        model = PUClassifier(n_members=1, **FAST).fit(X, np.arange(30) < 10)
        loaded = again(model, tmp_path)
        assert vars(loaded).keys() == vars(model).keys()
        assert len(loaded.ensemble_.estimators_) == len(loaded.members_) == len(model.members_)
        assert same(loaded.predict_proba(X), model.predict_proba(X))

    def test_scores_out_of_fold_and_what_follows_from_them(self, tmp_path):
        model = fitted("auto")
        loaded = again(model, tmp_path)
        assert same(loaded.member_out_of_fold_, model.member_out_of_fold_)
        assert repr(loaded.evaluate(k=5)) == repr(model.evaluate(k=5))


def test_a_member_of_your_own_that_cannot_be_stored(tmp_path):
    pu = data()
    model = PUClassifier(members=["hinges", ("svc", SVC())], **FAST).fit(pu.X, pu.y)
    with pytest.raises(ModelFolderError, match=r"members/1/1: SVC cannot be stored\. .*joblib"):
        robustpu.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


class TestTrees:
    @pytest.mark.parametrize("place", [FOREST, BOOSTING])
    @pytest.mark.parametrize(
        ("name", "node", "value", "reason"),
        [
            ("left", 0, 0, "children lie before their parent"),
            ("left", 0, 2**62, "outside their tree"),
            ("left", 0, -1, "leaves that are none"),
            ("right", 0, 1, "several parents, or none"),
            ("right", 0, -1, "children lie before their parent"),
            ("right", 0, 2**62, "outside their tree"),
            ("feature", 0, 8, "columns that are not among the 8"),
            ("feature", 0, -1, "columns that are not among the 8"),
            ("start", 0, 1, "do not begin one after the other"),
            ("start", 1, -5, "do not begin one after the other"),
            ("start", -1, 10**6, "do not begin one after the other"),
            ("threshold", 0, np.nan, "threshold .* not finite"),
            ("value", 0, np.inf, "value .* not finite"),
            ("value", 0, 1e200, "values are out of range"),
        ],
    )
    def test_of_a_ranker(self, pool, place, name, node, value, reason):
        edit_array(pool, member(place, f"trees_/{name}"), put(node, value))
        refused(pool, reason)

    @pytest.mark.parametrize(
        ("name", "value", "reason"),
        [
            ("left", -2, "leaves that are none"),
            ("left", -(2**40), "leaves that are none"),
            ("right", -2, "leaves that are none"),
            ("feature", 0, "columns that are not among the 8"),
        ],
    )
    def test_a_leaf_that_is_none(self, pool, name, value, reason):
        """The compiled code of scikit-learn ends at a left child of -1, and nowhere else."""
        leaf = np.flatnonzero(fitted("auto").members_[FOREST].trees_.left < 0)[0]
        edit_array(pool, member(FOREST, f"trees_/{name}"), put(leaf, value))
        refused(pool, reason)

    def test_a_child_in_the_next_tree(self, pool):
        start = fitted("auto").members_[FOREST].trees_.start
        edit_array(pool, member(FOREST, "trees_/right"), put(0, start[1]))
        refused(pool, "outside their tree")

    def test_for_more_columns_than_there_are(self, pool):
        def change(content):
            content["model"]["fitted"]["members_"][FOREST]["fitted"]["trees_"]["columns"] = 9

        edit(pool, change)
        refused(pool, "must be trees for this number of columns")

    @pytest.mark.parametrize("value", [0, -1, 1.5, "many", 10**9])
    def test_how_many_there_are(self, pool, value):
        def change(content):
            parameters = content["model"]["fitted"]["members_"][FOREST]["parameters"]
            parameters["n_estimators"] = value

        edit(pool, change)
        refused(pool, "ForestRanker: n_estimators is")


class TestLinearRankers:
    @pytest.mark.parametrize("place", [HINGES, LAPLACIAN])
    def test_coefficients_of_another_length(self, pool, place):
        edit_array(pool, member(place, "coef_"), lambda array: array[:-1])
        refused(pool, r"RidgeRanker: it has \d+ coefficients for \d+ features")

    @pytest.mark.parametrize(
        ("place", "name", "change", "reason"),
        [
            (HINGES, "mean_", lambda array: array[:-1], "where d is 8"),
            (HINGES, "scale_", put(0, 0.0), "scale_ holds numbers"),
            (HINGES, "coef_", put(0, np.nan), "coef_ holds NaN"),
            (HINGES, "fitted_/columns", put(0, 8.0), "not from 0 to 7"),
            (HINGES, "fitted_/columns", put(0, 0.5), "names columns twice, or none"),
            (HINGES, "fitted_/columns", put(0, 1.0), "names columns twice, or none"),
            (HINGES, "fitted_/knots", lambda array: array[:, :4], "has the shape"),
            (LAPLACIAN, "fitted_/landmarks", lambda array: array[:, :-1], "where d is 8"),
            (LAPLACIAN, "fitted_/landmarks", put((0, 0), np.inf), "fitted_ holds"),
        ],
    )
    def test_what_they_learned(self, pool, place, name, change, reason):
        edit_array(pool, member(place, name), change)
        refused(pool, reason)

    @pytest.mark.parametrize(
        ("basis", "reason"),
        [
            ("laplacian", "its basis learned something else"),
            ("rbf", "there is no basis 'rbf'"),
            ([1], "there is no basis"),
        ],
    )
    def test_another_basis(self, pool, basis, reason):
        def change(content):
            content["model"]["fitted"]["members_"][HINGES]["parameters"]["basis"] = basis

        edit(pool, change)
        refused(pool, reason)


class TestWhole:
    def test_weights_that_do_not_sum_to_one(self, pool):
        edit_array(pool, "model/fitted/weights_", np.ones_like)
        refused(pool, "weights of sum 1")

    def test_names_that_are_not_different(self, pool):
        def change(content):
            names = content["model"]["fitted"]["member_names_"]
            names[1] = names[0]

        edit(pool, change)
        refused(pool, "different names")

    def test_a_member_that_was_not_fitted(self, pool):
        def change(content):
            content["model"]["fitted"]["members_"][HINGES]["fitted"] = None

        edit(pool, change)
        refused(pool, "must be a learner that was fitted to targets 0 and 1")

    def test_a_member_that_ranks_nothing(self, pool):
        """A scaler has columns and can be fitted, and scores no row."""
        arrays = load_file(pool / "arrays.safetensors")
        steps, moved = "model/fitted/members_/0/parameters/steps/", {}
        for name, array in arrays.items():
            if not name.startswith(f"{steps}1/"):
                moved[name.replace(f"{steps}0/1/", "model/fitted/members_/0/")] = array
        save_file(moved, pool / "arrays.safetensors")
        content = json.loads((pool / "model.json").read_text())
        members = content["model"]["fitted"]["members_"]
        members[0] = members[0]["parameters"]["steps"][0]["items"][1]
        (pool / "model.json").write_text(json.dumps(content))
        seal(pool)
        refused(pool, "must be a learner that was fitted to targets 0 and 1")

    def test_a_vectorizer_that_does_not_fit_the_members(self, frame, tmp_path):
        pu, folder = data(), tmp_path / "model"
        PUClassifier(members=["logistic", "hinges"], **FAST).fit(frame, pu.y).save(folder)

        def change(content):
            # The gaps of a column are marked in one more.
            columns = content["model"]["fitted"]["vectorizer_"]["state"]["columns"]
            columns[0]["plan"]["has_missing"] = False

        edit(folder, change)
        refused(folder, "a member was fitted on another number of columns")

    def test_a_scale_of_zero(self, pool):
        edit_array(pool, "model/fitted/member_scale_", put((0, 1), 0.0))
        refused(pool, "has no scale")

    def test_a_link_that_is_no_number(self, pool):
        edit_array(pool, "model/fitted/link_", put(0, np.nan))
        refused(pool, "link_ holds NaN")

    @pytest.mark.parametrize(
        "name", ["link_", "member_scale_", "score_scale_", "member_auc_", "member_out_of_fold_"]
    )
    def test_what_every_pool_of_a_table_has(self, pool, name):
        without(pool, name)
        refused(pool, f"neither a pool nor an ensemble|{name}")
