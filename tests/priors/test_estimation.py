"""The class prior with an interval."""

import numpy as np
import pytest

from robustpu import PriorWarning, datasets, estimate_prior, make_pu
from robustpu.priors import PRIORS, estimation


@pytest.fixture
def only_votes(monkeypatch):
    """Without the methods that are shown and do not count."""
    monkeypatch.setattr(estimation, "SHOWN", ("dedpul", "best-bin", "km1"))


def scores(prior, n_positive, n_unlabeled, seed, gap=2.5):
    """Labels, and log-odds of a label of Gaussian rows, as a perfect scorer would give them."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(n_unlabeled) < prior
    x = np.concatenate([rng.normal(gap, 1, n_positive), rng.normal(gap * hidden, 1)])
    return np.arange(len(x)) < n_positive, -np.log(
        prior + (1 - prior) * np.exp(gap**2 / 2 - gap * x)
    )


def test_a_table():
    table = datasets.load("spambase")
    pu = make_pu(
        table.data, table.target, n_positive=400, n_unlabeled=1200, prior=0.3, random_state=0
    )
    told = []
    found = estimate_prior(
        pu.X, pu.y, random_state=0, progress=lambda done, total: told.append((done, total))
    )
    assert told == [(step, 23) for step in range(1, 24)]
    assert float(found) == found.value == pytest.approx(0.3, abs=0.05)
    assert 0 < found.low < 0.3 < found.high < 0.5
    assert found.population == found.value
    assert found.scores.shape == pu.y.shape
    assert "90% interval" in str(found)
    again = estimate_prior(pu.X * 1000 - 5, pu.y, random_state=0)
    assert again.value == pytest.approx(found.value, abs=0.02)


def test_where_scores_tell_the_share_the_answer_is_the_vote_of_three():
    y, score = scores(0.4, 200, 500, 0, gap=4)
    found = estimate_prior(score, y, random_state=0)
    assert found.is_known
    votes = [found.answers[name] for name in ("dedpul", "best-bin", "km1")]
    # A vote by fewer rows than the answer that is shown.
    assert found.value == pytest.approx(np.median(votes), abs=0.03)
    np.testing.assert_array_equal(found.scores, score)


@pytest.mark.parametrize("method", PRIORS)
def test_any_method(method):
    y, score = scores(0.4, 300, 600, 1, gap=6)
    found = estimate_prior(score, y, method=method, n_bootstrap=5, random_state=0)
    assert found.method == method
    if method in found.answers:
        assert found.value == found.answers[method]


def test_single_set_data_have_more_positives_in_the_population():
    y, score = scores(0.25, 100, 400, 0)
    found = estimate_prior(score, y, scenario="single-set", random_state=0)
    assert found.population == pytest.approx((100 + 400 * found.value) / 500)
    assert "in the population" in str(found)


@pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
@pytest.mark.usefixtures("only_votes")
def test_intervals_hold_the_truth():
    """Perfect scores of overlapping classes, 10 samples each: 0.9 is promised."""
    for prior in (0.2, 0.6):
        inside = []
        for seed in range(10):
            y, score = scores(prior, 100, 300, seed)
            found = estimate_prior(score, y, n_bootstrap=20, random_state=seed)
            inside.append(found.low <= prior <= found.high)
        assert np.mean(inside) >= 0.7


@pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
@pytest.mark.parametrize(("gap", "is_known"), [(4.0, True), (1.5, False)])
@pytest.mark.usefixtures("only_votes")
def test_a_higher_level_and_fewer_rows_widen_the_interval(gap, is_known):
    wide = []
    for rows, level in ((2000, 0.9), (2000, 0.99), (200, 0.99)):
        y, score = scores(0.4, rows // 4, rows, 3, gap)
        found = estimate_prior(score, y, level=level, n_bootstrap=20, random_state=0)
        assert found.is_known == is_known
        wide.append(found.high - found.low)
    assert wide == sorted(set(wide))


@pytest.mark.usefixtures("only_votes")
def test_disagreement_widens_the_interval(monkeypatch):
    y, score = scores(0.4, 200, 500, 0, gap=4)
    alike = estimate_prior(score, y, random_state=0)
    monkeypatch.setattr(estimation, "votes", lambda *parts: [0.3, 0.4, 0.5])
    apart = estimate_prior(score, y, random_state=0)
    assert apart.value == alike.value
    # The votes alone have a deviation of 0.1.
    assert apart.high - apart.low > 2 * 1.64 * 0.1 > alike.high - alike.low


@pytest.mark.usefixtures("only_votes")
def test_where_classes_overlap_the_share_is_not_known():
    """Gaussian classes of AUC 0.76: what looks like a positive is often a negative."""
    y, score = scores(0.2, 400, 2000, 0, gap=1.0)
    with pytest.warns(PriorWarning, match="do not tell the share of positives") as caught:
        found = estimate_prior(score, y, random_state=0)
    assert caught[0].filename == __file__
    assert f"up to {found.high:.1%} are possible" in str(caught[0].message)
    assert f"90% interval up to {found.high:.3f}" in str(found)
    assert f"{found.value:.1%} is used" in str(caught[0].message)
    assert not found.is_known
    # The three are too high; a cautious answer is not.
    assert min(found.answers.values()) > 0.25
    assert 0.1 < found.value < 0.25
    assert found.low == 0
    apart = estimate_prior(*reversed(scores(0.2, 400, 2000, 0, gap=3.0)), random_state=0)
    assert apart.is_known
    assert apart.low > 0.1


@pytest.mark.usefixtures("only_votes")
def test_an_interval_holds_the_answer_of_any_method():
    y, score = scores(0.2, 100, 500, 0, gap=1.0)
    for method in ("best-bin", "auto"):
        with pytest.warns(PriorWarning, match="do not tell"):
            found = estimate_prior(score, y, method=method, level=0.1, random_state=0)
        assert found.low <= found.value <= found.high


@pytest.mark.usefixtures("only_votes")
def test_the_same_seed_the_same_answer(monkeypatch):
    monkeypatch.setattr("robustpu.priors.crossfit.TREES", 5)
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = np.arange(80) < 30
    X[np.arange(80) < 40] += 6
    first, second, third = (
        estimate_prior(X, y, random_state=seed, n_bootstrap=5) for seed in (0, 0, 1)
    )
    assert (first.value, first.low) == (second.value, second.low)
    assert first.low != third.low


def test_images_and_any_labels():
    rng = np.random.default_rng(0)
    truth = np.arange(200) < 120
    X = rng.normal(2 * truth[:, None, None, None], 1, (200, 1, 4, 4))
    y = np.where(np.arange(200) < 60, "fraud", "?")
    found = estimate_prior(X, y, pos_label="fraud", random_state=0)
    assert found.value == pytest.approx(60 / 140, abs=0.1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "km3"}, "unknown prior 'km3'"),
        ({"level": 1.0}, "level must be"),
        ({"n_bootstrap": 1}, "n_bootstrap must be"),
        ({"scenario": "both"}, "scenario must be"),
        ({"X": np.array([[np.nan], [1.0], [2.0]])}, "NaN"),
        ({"X": np.ones((4, 1))}, "inconsistent numbers of samples"),
        ({"y": [1, 1, 1]}, "unlabelled"),
        ({"X": np.ones((3, 2))}, "at least 2 labelled positives"),
    ],
)
def test_what_is_refused(changes, message):
    given = {"X": np.arange(3.0), "y": [1, 0, 0], **changes}
    with pytest.raises(ValueError, match=message):
        estimate_prior(given.pop("X"), given.pop("y"), **given)
