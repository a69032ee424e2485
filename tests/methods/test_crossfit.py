"""Members, folds and the scores of rows that a learner has not seen."""

import numpy as np
import pytest
from recorder import Recorder

from robustpu.methods.crossfit import Lesson, Turn, deal, mean_known, take_turn

MASK = np.array([True, False, False] * 20)
X = np.arange(60)[:, None].astype(float)


def members(n_members=3, share=0.2, n_folds=3, mask=MASK):
    everyone = np.ones(len(mask), dtype=bool)
    return deal(mask, everyone, n_members, share, n_folds, np.random.RandomState(0))


class TestDeal:
    def test_folds_part_the_rows_that_are_kept(self):
        for own in members():
            others = [other for _, other in own.folds]
            assert sorted(np.concatenate(others)) == sorted(own.kept)
            assert len(np.intersect1d(own.kept, own.held_out)) == 0
            assert len(own.kept) + len(own.held_out) == 60
            for training, other in own.folds:
                assert sorted([*training, *other]) == sorted(own.kept)
                assert MASK[other].mean() == pytest.approx(1 / 3, abs=0.05)
            assert MASK[own.held_out].mean() == pytest.approx(1 / 3, abs=0.1)

    def test_five_members_hold_out_every_row_once(self):
        counts = np.bincount(np.concatenate([own.held_out for own in members(5)]), minlength=60)
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
        for own in members(4, mask=mask):
            assert len(own.folds) >= 2
            assert all(mask[training].any() for training, _ in own.folds)
            assert (len(own.held_out) > 0) == (positives > 2)

    def test_too_few_rows(self):
        with pytest.raises(ValueError, match=r"at least 2 labelled.*there are 1 and 11"):
            members(mask=np.arange(12) < 1)

    @pytest.mark.parametrize("share", [0.0, 0.2])
    def test_rows_without_weight_are_dealt_to_nobody(self, share):
        has_weight = np.arange(60) % 5 > 0
        given = 3, share, 3
        found = deal(MASK, has_weight, *given, np.random.RandomState(0))
        plain = deal(MASK[has_weight], has_weight[has_weight], *given, np.random.RandomState(0))
        rows = np.flatnonzero(has_weight)
        for own, other in zip(found, plain, strict=True):
            assert own.kept.tolist() == rows[other.kept].tolist()
            # Whoever learns nothing from a row may score it.
            assert sorted([*own.kept, *own.held_out]) == list(range(60))
            for one, two in zip(own.folds, other.folds, strict=True):
                assert [part.tolist() for part in one] == [rows[part].tolist() for part in two]


class TestTurn:
    def turn(self, n_members=3, share=0.2, **more):
        dealt = members(n_members, share)
        weight = np.linspace(1, 2, 60)
        lessons = [Lesson(own.kept, MASK[own.kept], weight[own.kept]) for own in dealt]
        state = np.random.RandomState(1)
        return dealt, take_turn(Recorder(), X, dealt, lessons, state, **more)

    def test_each_learner_sees_its_fold(self):
        dealt, turn = self.turn()
        folds = [training for own in dealt for training, _ in own.folds]
        assert len(turn.learners) == len(folds) == 9
        for learner, training in zip(turn.learners, folds, strict=True):
            assert sorted(learner.rows_) == sorted(training)
            np.testing.assert_array_equal(learner.target_, MASK[learner.rows_])
            np.testing.assert_array_equal(learner.weight_, np.linspace(1, 2, 60)[learner.rows_])
        assert len({learner.random_state for learner in turn.learners}) == 9

    def test_scores_are_of_learners_that_have_not_seen_the_row(self):
        X_true = np.arange(100, 104)[:, None].astype(float)
        dealt, turn = self.turn(X_true=X_true)
        learners = iter(turn.learners)
        for m, member in enumerate(dealt):
            three = [next(learners) for _ in member.folds]
            for learner, (_, other) in zip(three, member.folds, strict=True):
                assert not np.isin(other, learner.rows_).any()
                np.testing.assert_array_equal(
                    turn.own[m, other], learner.predict_proba(X[other])[:, 1]
                )
            for rows, found in (
                (X[member.held_out], turn.unseen[m, member.held_out]),
                (X_true, turn.oracle[m]),
            ):
                mean = np.mean([own.predict_proba(rows)[:, 1] for own in three], axis=0)
                np.testing.assert_allclose(found, mean)
            assert np.isnan(turn.own[m, member.held_out]).all()
            assert np.isnan(turn.unseen[m, member.kept]).all()

    def test_does_not_depend_on_threads(self):
        one, two = self.turn()[1], self.turn(n_jobs=2)[1]
        np.testing.assert_array_equal(one.own, two.own)
        np.testing.assert_array_equal(one.unseen, two.unseen)

    def test_without_rows_held_out(self):
        _, turn = self.turn(share=0.0)
        assert np.isnan(turn.unseen).all()
        np.testing.assert_allclose(turn.pooled(), turn.own.mean(0))


def test_pooled_prefers_who_held_the_row_out():
    nan = np.nan
    own = np.array([[0.2, 0.4, nan], [0.4, nan, 0.6]])
    unseen = np.array([[nan, nan, 0.9], [nan, 0.7, nan]])
    assert Turn([], own, unseen, own).pooled().round(6).tolist() == [0.3, 0.7, 0.9]


def test_mean_known():
    given = np.array([[1.0, np.nan], [2.0, np.nan], [6.0, np.nan]])
    assert mean_known(given)[0] == 3
    assert np.isnan(mean_known(given)[1])
