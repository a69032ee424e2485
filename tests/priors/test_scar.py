"""Evidence against labels that are selected completely at random, and what is none."""

import numpy as np
import pytest

from robustpu import check_scar, datasets, make_pu


def scores(power, seed=0, gap=2.5):
    """Scores of 4,000 rows, a fifth positive, 200 of these labelled: the higher the likelier."""
    rng = np.random.default_rng(seed)
    truth = np.arange(4000) < 800
    score = rng.normal(gap * truth)
    chance = truth * np.exp(power * (score - score.max()))
    y = np.zeros(4000, int)
    y[rng.choice(4000, 200, replace=False, p=chance / chance.sum())] = 1
    return score, y, truth[y == 0].mean()


def test_biased_labels_refute_the_share_and_fair_ones_do_not():
    score, y, prior = scores(0)
    fair = check_scar(score, y, prior)
    assert fair.is_refuted is False
    assert prior < fair.largest_prior < 2 * prior
    assert f"at most {fair.largest_prior:.1%} of the unlabelled rows" in str(fair)
    assert "This is no proof" in str(fair)
    score, y, prior = scores(3)
    biased = check_scar(score, y, prior)
    assert biased.is_refuted is True
    assert biased.largest_prior < prior
    assert f"a share of {prior:.1%} cannot both hold" in str(biased)


def test_without_a_share_nothing_is_refuted():
    score, y, _ = scores(3)
    found = check_scar(score, y)
    assert found.is_refuted is None
    assert str(found).startswith("If positives were labelled completely at random, at most")
    assert "no test can tell" in str(found)


def test_a_range_is_refuted_by_its_lower_end():
    score, y, _ = scores(0)
    most = check_scar(score, y).largest_prior
    assert not check_scar(score, y, (0.9 * most, 0.99)).is_refuted
    assert check_scar(score, y, (1.1 * most, 0.99)).is_refuted


def test_rows_are_scored_out_of_fold():
    table = datasets.load("breast_cancer")
    shared = {"n_positive": 60, "n_unlabeled": 250, "prior": 0.3, "random_state": 0}
    found = {}
    for labels in ("scar", "logistic"):
        pu = make_pu(table.data, table.target, labeling=labels, **shared)
        found[labels] = check_scar(pu.X, pu.y, pu.prior, random_state=0)
        assert found[labels].scores.shape == (310,)
        again = check_scar(found[labels].scores, pu.y, pu.prior)
        assert again.largest_prior == found[labels].largest_prior
    assert not found["scar"].is_refuted


@pytest.mark.parametrize("prior", [0, 1.0, 5, (0.3, 0.2), (0.1, 0.2, 0.3), (0, 0.5), "auto"])
def test_a_share_that_is_none_is_refused(prior):
    score, y, _ = scores(0)
    with pytest.raises(ValueError, match="prior must be a number between 0 and 1"):
        check_scar(score, y, prior)


def test_any_share_is_allowed_where_scores_are_alike():
    rng = np.random.default_rng(0)
    found = check_scar(rng.normal(size=400), np.arange(400) < 50)
    assert found.largest_prior > 0.8
    few = check_scar(np.arange(20.0), np.arange(20) < 2)
    assert "allow any share of positives" in str(few)
