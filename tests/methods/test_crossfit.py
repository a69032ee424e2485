"""Members, folds and the scores of rows that a learner has not seen."""

import numpy as np
import pytest
from recorder import Recorder

from robustpu.methods.crossfit import Round, TrainingSet, fit_round, mean_known, split_members

MASK = np.array([True, False, False] * 20)
X = np.arange(60)[:, None].astype(float)


def split(mask, has_weight, share=0.2, n_members=3, n_folds=3):
    return split_members(mask, has_weight, n_members, share, n_folds, np.random.RandomState(0))


def members(n_members=3, share=0.2, mask=MASK):
    return split(mask, np.ones(len(mask), dtype=bool), share, n_members)


class TestSplit:
    def test_folds_part_the_rows_that_are_kept(self):
        for member in members():
            others = [other for _, other in member.folds]
            assert sorted(np.concatenate(others)) == sorted(member.kept)
            assert len(np.intersect1d(member.kept, member.held_out)) == 0
            assert len(member.kept) + len(member.held_out) == 60
            for training, other in member.folds:
                assert sorted([*training, *other]) == sorted(member.kept)
                assert MASK[other].mean() == pytest.approx(1 / 3, abs=0.05)
            assert MASK[member.held_out].mean() == pytest.approx(1 / 3, abs=0.1)

    def test_five_members_hold_out_every_row_once(self):
        counts = np.bincount(
            np.concatenate([member.held_out for member in members(5)]), minlength=60
        )
        assert counts.tolist() == [1] * 60
        assert len(members(7)) == 7
        assert len(members(1)) == 1

    def test_none_are_held_out(self):
        one, two = members(2, share=0.0)
        assert len(one.kept) == 60
        assert len(one.held_out) == 0
        assert not np.array_equal(one.folds[0][1], two.folds[0][1])

    @pytest.mark.parametrize("positives", [2, 3, 4])
    def test_few_rows(self, positives):
        mask = np.arange(12) < positives
        for member in members(4, mask=mask):
            assert len(member.folds) >= 2
            assert all(mask[training].any() for training, _ in member.folds)
            assert (len(member.held_out) > 0) == (positives > 2)

    def test_too_few_rows(self):
        with pytest.raises(ValueError, match=r"at least 2 labelled.*there are 1 and 11"):
            members(mask=np.arange(12) < 1)

    @pytest.mark.parametrize("share", [0.0, 0.2])
    def test_rows_with_zero_weight_are_in_no_fold(self, share):
        has_weight = np.arange(60) % 5 > 0
        found = split(MASK, has_weight, share)
        plain = split(MASK[has_weight], has_weight[has_weight], share)
        rows = np.flatnonzero(has_weight)
        for member, other in zip(found, plain, strict=True):
            assert member.kept.tolist() == rows[other.kept].tolist()
            # Whoever learns nothing from a row may score it.
            assert sorted([*member.kept, *member.held_out]) == list(range(60))
            for one, two in zip(member.folds, other.folds, strict=True):
                assert [part.tolist() for part in one] == [rows[part].tolist() for part in two]


class TestRound:
    def fitted(self, n_members=3, share=0.2, **more):
        committee = members(n_members, share)
        weight = np.linspace(1, 2, 60)
        training_sets = [
            TrainingSet(member.kept, MASK[member.kept], weight[member.kept]) for member in committee
        ]
        state = np.random.RandomState(1)
        return committee, fit_round(Recorder(), X, committee, training_sets, state, **more)

    def test_each_learner_sees_its_fold(self):
        committee, found = self.fitted()
        folds = [training for member in committee for training, _ in member.folds]
        assert len(found.learners) == len(folds) == 9
        for learner, training in zip(found.learners, folds, strict=True):
            assert sorted(learner.rows_) == sorted(training)
            np.testing.assert_array_equal(learner.target_, MASK[learner.rows_])
            np.testing.assert_array_equal(learner.weight_, np.linspace(1, 2, 60)[learner.rows_])
        assert len({learner.random_state for learner in found.learners}) == 9

    def test_scores_are_of_learners_that_have_not_seen_the_row(self):
        X_true = np.arange(100, 104)[:, None].astype(float)
        committee, found = self.fitted(X_true=X_true)
        learners = iter(found.learners)
        for m, member in enumerate(committee):
            three = [next(learners) for _ in member.folds]
            for learner, (_, other) in zip(three, member.folds, strict=True):
                assert not np.isin(other, learner.rows_).any()
                np.testing.assert_array_equal(
                    found.inner[m, other], learner.predict_proba(X[other])[:, 1]
                )
            for rows, scores in (
                (X[member.held_out], found.unseen[m, member.held_out]),
                (X_true, found.oracle[m]),
            ):
                mean = np.mean([learner.predict_proba(rows)[:, 1] for learner in three], axis=0)
                np.testing.assert_allclose(scores, mean)
            assert np.isnan(found.inner[m, member.held_out]).all()
            assert np.isnan(found.unseen[m, member.kept]).all()

    def test_does_not_depend_on_threads(self):
        one, two = self.fitted()[1], self.fitted(n_jobs=2)[1]
        np.testing.assert_array_equal(one.inner, two.inner)
        np.testing.assert_array_equal(one.unseen, two.unseen)

    def test_without_rows_held_out(self):
        _, found = self.fitted(share=0.0)
        assert np.isnan(found.unseen).all()
        np.testing.assert_allclose(found.pooled(), found.inner.mean(0))


def test_pooled_prefers_who_held_the_row_out():
    nan = np.nan
    inner = np.array([[0.2, 0.4, nan], [0.4, nan, 0.6]])
    unseen = np.array([[nan, nan, 0.9], [nan, 0.7, nan]])
    assert Round([], inner, unseen, inner).pooled().round(6).tolist() == [0.3, 0.7, 0.9]


def test_mean_known():
    given = np.array([[1.0, np.nan], [2.0, np.nan], [6.0, np.nan]])
    assert mean_known(given)[0] == 3
    assert np.isnan(mean_known(given)[1])
