"""make_pu keeps its promises: disjoint parts, exact shares, honest labelling, useful refusals."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from robustpu.scenario import SCENARIOS
from robustpu.split import LABELINGS, make_pu

N = 3000
RNG = np.random.default_rng(0)
Y = (RNG.random(N) < 0.5).astype(int)
X = RNG.normal(size=(N, 3)) + 0.8 * Y[:, None]
SIZES = {"n_positive": 200, "n_unlabeled": 400, "prior": 0.4, "n_validation": 50, "n_test": 100}
SHORT = {"n_positive": 5, "n_unlabeled": 50, "prior": 0.4}


@st.composite
def requests(draw, largest=60):
    return {
        "n_positive": draw(st.integers(1, largest)),
        "n_unlabeled": draw(st.integers(2, 2 * largest)),
        "prior": draw(st.floats(0.05, 0.95)),
        "n_validation": draw(st.integers(0, largest)),
        "n_test": draw(st.integers(0, largest)),
        "scenario": draw(st.sampled_from(SCENARIOS)),
    }


def refusal(request, n_available, **change):
    """What make_pu says against a request, nothing if it is granted."""
    y = np.repeat([1, 0], n_available)
    try:
        make_pu(y[:, None], y, **{**request, **change}, random_state=0)
    except ValueError as error:
        return str(error)
    return ""


def all_rows(data):
    rows = data.rows
    return np.concatenate([rows.positive, rows.unlabeled, rows.validation, rows.test])


@settings(max_examples=50, deadline=None)
@given(request=requests(), seed=st.integers(0, 1000))
def test_parts_are_disjoint_and_of_the_sizes_and_shares_asked_for(request, seed):
    n_hidden = round(request["prior"] * request["n_unlabeled"])
    assume(0 < n_hidden < request["n_unlabeled"])
    data = make_pu(X, Y, **request, random_state=seed)
    rows, n_positive, n_unlabeled = data.rows, request["n_positive"], request["n_unlabeled"]

    assert len(np.unique(all_rows(data))) == len(all_rows(data))
    assert (len(rows.positive), len(rows.unlabeled)) == (n_positive, n_unlabeled)
    assert (len(rows.validation), len(rows.test)) == (request["n_validation"], request["n_test"])

    assert Y[rows.positive].all()
    assert Y[rows.unlabeled].sum() == n_hidden
    assert data.prior == n_hidden / n_unlabeled
    assert data.label_frequency == pytest.approx(n_positive / (n_positive + n_hidden))
    population = (
        data.prior
        if request["scenario"] == "case-control"
        else (n_positive + n_hidden) / (n_positive + n_unlabeled)
    )
    assert data.population_prior == pytest.approx(population)
    for part in (rows.validation, rows.test):
        assert abs(Y[part].sum() - population * len(part)) <= 0.5 + 1e-9


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_arrays_and_rows_tell_the_same_story(scenario):
    data = make_pu(X, Y, **SIZES, scenario=scenario, random_state=0)
    np.testing.assert_array_equal(data.X[data.y == 1], X[data.rows.positive])
    np.testing.assert_array_equal(data.X[data.y == 0], X[data.rows.unlabeled])
    np.testing.assert_array_equal(data.y_true[data.y == 1], Y[data.rows.positive])
    np.testing.assert_array_equal(data.y_true[data.y == 0], Y[data.rows.unlabeled])
    np.testing.assert_array_equal(data.X_validation, X[data.rows.validation])
    np.testing.assert_array_equal(data.y_validation, Y[data.rows.validation])
    np.testing.assert_array_equal(data.X_test, X[data.rows.test])
    np.testing.assert_array_equal(data.y_test, Y[data.rows.test])


@pytest.mark.parametrize("labeling", LABELINGS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_same_random_state_gives_the_same_rows(scenario, labeling):
    def draw(random_state):
        data = make_pu(
            X, Y, **SIZES, scenario=scenario, labeling=labeling, random_state=random_state
        )
        return all_rows(data)

    np.testing.assert_array_equal(draw(3), draw(3))
    np.testing.assert_array_equal(draw(3), draw(np.random.RandomState(3)))
    assert (draw(3) != draw(4)).any()


def test_without_a_random_state_draws_differ():
    first, second = (make_pu(X, Y, **SIZES).rows.test for _ in range(2))
    assert (first != second).any()


def test_the_order_of_rows_tells_nothing():
    data = make_pu(X, Y, **SIZES, random_state=0)
    for labels in (data.y, data.y_true, data.y_validation, data.y_test):
        place = np.arange(len(labels))
        # Four deviations of a correlation without association.
        assert abs(np.corrcoef(place, labels)[0, 1]) < 4 / np.sqrt(len(labels))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scar_labels_are_independent_of_the_features(scenario):
    hidden, labeled = [], []
    for seed in range(20):
        data = make_pu(X, Y, **SIZES, scenario=scenario, random_state=seed)
        labeled.append(data.X[data.y == 1].mean(axis=0))
        hidden.append(data.X[(data.y == 0) & (data.y_true == 1)].mean(axis=0))
    difference = np.mean(labeled, axis=0) - np.mean(hidden, axis=0)
    # The deviation of one difference is sqrt(1/200 + 1/160) = 0.106, of the mean of 20 0.024.
    assert np.all(np.abs(difference) < 4 * 0.024)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(("labeling", "sign"), [("pusb", 1), ("lbe-a", 1), ("lbe-b", -1)])
def test_sar_moves_the_posterior_of_the_labelled_rows(scenario, labeling, sign):
    posterior = LogisticRegression().fit(X, Y).predict_proba(X)[:, 1]
    sar, scar = (
        make_pu(X, Y, **SIZES, scenario=scenario, labeling=name, random_state=0).rows
        for name in (labeling, "scar")
    )
    assert sign * (posterior[sar.positive].mean() - posterior[scar.positive].mean()) > 0.05


def test_pusb_is_more_biased_than_lbe_a():
    posterior = LogisticRegression().fit(X, Y).predict_proba(X)[:, 1]
    mean = {
        name: posterior[make_pu(X, Y, **SIZES, labeling=name, random_state=0).rows.positive].mean()
        for name in ("pusb", "lbe-a")
    }
    assert mean["pusb"] > mean["lbe-a"]


def test_attributes_prefers_rows_with_large_values():
    sar, scar = (
        make_pu(X, Y, **SIZES, labeling=name, random_state=0).rows
        for name in ("attributes", "scar")
    )
    assert X[sar.positive].mean() > X[scar.positive].mean() + 0.05


def test_attributes_is_the_geometric_mean_of_scaled_columns():
    rows = np.array([[0.0, 0.0, 7.0], [1.0, 0.5, 7.0]])
    weights = LABELINGS["attributes"](rows, np.ones(2), np.random.default_rng(0))
    # The second column spans its own range; a constant one is scaled to the low end.
    assert weights == pytest.approx([0.2, (0.8 * 0.8 * 0.2) ** (1 / 3)])


def test_logistic_follows_one_linear_function_a_draw():
    draws = [LABELINGS["logistic"](X, np.ones(N), np.random.default_rng(seed)) for seed in (0, 1)]
    for weights in draws:
        design = np.column_stack([X, np.ones(N)])
        logit = np.log(weights / (1 - weights))
        _, residual, *_ = np.linalg.lstsq(design, logit, rcond=None)
        assert residual[0] < 1e-12
        assert logit.std() == pytest.approx(2)
    assert abs(draws[0] - draws[1]).max() > 0.1


@pytest.mark.parametrize("labeling", sorted(LABELINGS))
def test_case_control_bias_leaves_the_other_parts_alone(labeling):
    biased = make_pu(X, Y, **SIZES, labeling=labeling, random_state=0).rows
    plain = make_pu(X, Y, **SIZES, random_state=0).rows
    assert set(biased.unlabeled) == set(plain.unlabeled)
    np.testing.assert_array_equal(biased.validation, plain.validation)
    np.testing.assert_array_equal(biased.test, plain.test)


def test_single_set_bias_only_moves_labels_within_the_sample():
    biased, plain = (
        make_pu(X, Y, **SIZES, scenario="single-set", labeling=name, random_state=0).rows
        for name in ("pusb", "scar")
    )
    assert set(biased.positive) != set(plain.positive)
    assert {*biased.positive, *biased.unlabeled} == {*plain.positive, *plain.unlabeled}
    np.testing.assert_array_equal(biased.test, plain.test)


def test_weights_are_proportional():
    weights = np.where(X[:, 0] > 0, 3.0, 1.0)
    share = np.mean(weights[Y == 1] == 3)
    chosen = [
        weights[make_pu(X, Y, **SHORT, labeling=weights, random_state=seed).rows.positive] == 3
        for seed in range(200)
    ]
    # 1000 draws, five at a time of some 1400: nearly with replacement; deviation 0.01.
    assert np.mean(chosen) == pytest.approx(3 * share / (3 * share + 1 - share), abs=0.04)


def test_a_function_gets_candidates_and_posteriors_and_zero_is_never_drawn():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    seen = {}

    def labeling(rows, posterior):
        seen.update(rows=rows, posterior=posterior)
        return rows["a"] > 1

    data = make_pu(table, Y, **SIZES, labeling=labeling, random_state=0)
    assert (X[data.rows.positive, 0] > 1).all()
    assert list(seen["rows"].columns) == ["a", "b", "c"]
    assert len(seen["rows"]) == Y.sum() - Y[all_rows(data)].sum() + SIZES["n_positive"]
    assert np.corrcoef(seen["posterior"], seen["rows"].sum(axis=1))[0, 1] > 0.8


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_last_spare_positive_is_used(scenario):
    rows = make_pu(
        X[:10],
        [1] * 6 + [0] * 4,
        n_positive=4,
        n_unlabeled=6,
        prior=1 / 3,
        scenario=scenario,
        labeling="pusb",
        random_state=0,
    ).rows
    assert sorted({*rows.positive, *rows.unlabeled}) == list(range(10))


def test_a_positive_in_the_midst_of_the_negatives_can_still_be_labelled():
    y = np.repeat([1, 0], 500)
    column = np.where(y == 1, 1.0, -1.0)
    column[0] = -40
    posterior = []

    def labeling(rows, p):
        posterior.extend(p)
        return p**20

    sizes = {"n_positive": 499, "n_unlabeled": 2, "prior": 0.5}
    rows = make_pu(column[:, None], y, **sizes, labeling=labeling, random_state=0).rows
    assert {*rows.positive, *rows.unlabeled} >= set(range(500))
    assert min(posterior) == 1e-12


@pytest.mark.parametrize("labeling", LABELINGS)
def test_images_are_flattened_for_the_posterior_and_kept_as_they_are(labeling):
    images = np.repeat(X, 4, axis=1).reshape(N, 1, 3, 4).astype(np.float32)
    data = make_pu(images, Y, **SIZES, labeling=labeling, random_state=0)
    assert data.X.shape == (600, 1, 3, 4)
    assert data.X.dtype == np.float32


def test_tables_with_text_stay_tables():
    table = pd.DataFrame({"number": X[:, 0], "text": "a"}, index=np.arange(N) + 7)
    data = make_pu(table, pd.Series(Y), **SHORT, random_state=0)
    pd.testing.assert_frame_equal(data.X[data.y == 1], table.iloc[data.rows.positive])
    assert list(data.X_test.columns) == ["number", "text"]
    assert len(data.X_test) == len(data.y_test) == 0


def test_lists_are_taken():
    data = make_pu(X.tolist(), Y.tolist(), **SHORT, random_state=0)
    assert data.X.shape == (55, 3)


def test_pos_label_turns_the_problem_round():
    data = make_pu(X, np.where(Y == 1, "yes", "no"), pos_label="no", **SHORT, random_state=0)
    assert not Y[data.rows.positive].any()
    assert data.y_true.sum() == 5 + 20


@settings(max_examples=60, deadline=None)
@given(
    request=requests(largest=40),
    n_available=st.tuples(st.integers(1, 60), st.integers(1, 60)),
)
def test_an_infeasible_request_is_told_what_is_feasible(request, n_available):
    message = refusal(request, n_available)
    assume(message.startswith("Too few rows"))
    shortages = re.findall(r"(\d+) (positives|negatives) are needed and y has (\d+)", message)
    assert shortages
    for needed, name, available in shortages:
        assert int(needed) > int(available) == n_available[name == "negatives"]
    largest = re.search(r"largest feasible n_unlabeled is (\d+)", message)
    if largest:
        assert not refusal(request, n_available, n_unlabeled=int(largest[1]))
        for more in range(1, 5):
            assert refusal(request, n_available, n_unlabeled=int(largest[1]) + more)
        return
    assert re.search("No n_unlabeled is feasible|No sizes are feasible", message)
    assert all(refusal(request, n_available, n_unlabeled=n) for n in range(1, sum(n_available) + 1))


@settings(max_examples=40, deadline=None)
@given(
    request=requests(largest=40),
    n_available=st.tuples(st.integers(20, 60), st.integers(20, 60)),
)
def test_following_the_advice_ends_in_a_feasible_request(request, n_available):
    assume(0.1 < request["prior"] < 0.9)
    for _ in range(300):
        message = refusal(request, n_available)
        if not message:
            return
        if largest := re.search(r"largest feasible n_unlabeled is (\d+)", message):
            request = {**request, "n_unlabeled": int(largest[1])}
        elif lower := re.search(r"lower (\w+) first", message):
            request = {**request, lower[1]: request[lower[1]] - 1}
        else:
            assert "Raise n_unlabeled" in message
            request = {**request, "n_unlabeled": request["n_unlabeled"] + 1}
    pytest.fail("the advice went round in circles")


@pytest.mark.parametrize(
    ("n_positive", "n_test", "available", "culprit"),
    [
        (80, 60, 60, "n_positive"),
        (10, 300, 60, "n_test"),
        # The only labelled positive cannot be spared.
        (1, 2, 2, "n_test"),
    ],
)
def test_the_size_that_takes_the_most_of_the_scarce_class_is_named(
    n_positive, n_test, available, culprit
):
    request = {"n_positive": n_positive, "n_unlabeled": 10, "prior": 0.5, "n_test": n_test}
    message = refusal(request, (available, 1000))
    assert f"No n_unlabeled is feasible, all else as it is: lower {culprit} first" in message


@pytest.mark.parametrize("n_positive", [1, 20])
def test_a_prior_that_no_sizes_can_meet_is_named(n_positive):
    message = refusal({"n_positive": n_positive, "n_unlabeled": 100, "prior": 0.01}, (50, 5))
    assert "99 negatives are needed and y has 5" in message
    assert "No sizes are feasible at this prior" in message


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"n_positive": 0}, "n_positive must be an integer of at least 1, not 0"),
        ({"n_unlabeled": 10.0}, r"n_unlabeled must be an integer of at least 1, not 10\.0"),
        ({"n_validation": -1}, "n_validation must be an integer of at least 0, not -1"),
        ({"n_test": "9"}, "n_test must be an integer of at least 0, not '9'"),
        ({"prior": 40}, "percentage"),
        ({"scenario": "both"}, "single-set"),
        ({"prior": 0.001}, "rounds to 0 positives and 50 negatives"),
        ({"labeling": "sar"}, "scar, pusb, lbe-a, lbe-b, attributes, logistic.*'sar'"),
        ({"labeling": np.ones(7)}, r"shape \(3000,\), not \(7,\)"),
        ({"labeling": lambda X, p: np.ones((len(p), 1))}, r"shape \(\d+,\), not \(\d+, 1\)"),
        ({"labeling": np.full(N, np.nan)}, "finite"),
        ({"labeling": np.where(np.arange(N) % 2, -1.0, 1.0)}, r"least is -1\.0"),
        ({"labeling": np.zeros(N)}, "n_positive=5 candidates or more. Above 0 are 0 of"),
        ({"pos_label": 3}, "true labels.*pos_label=3"),
    ],
)
def test_unsound_requests_are_refused(change, text):
    with pytest.raises(ValueError, match=text):
        make_pu(X, Y, **{**SHORT, **change})


def test_several_classes_are_refused_with_advice():
    with pytest.raises(ValueError, match=r"numpy\.isin.*multiclass"):
        make_pu(X, np.arange(N) % 3, **SHORT)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make_pu(X, Y[:-1], **SHORT)


def test_parts_are_plain_integers_and_the_summary_is_short():
    data = make_pu(X, Y, **SHORT, random_state=0)
    for labels in (data.y, data.y_true, data.y_validation, data.y_test):
        assert labels.dtype == np.int64
    assert len(repr(data)) < 150
