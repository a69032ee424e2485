"""Scores of plain learners, which the pretrained network is given with each row."""

import pytest
import torch
from sklearn.metrics import roc_auc_score

from robustpu.pretrained.discriminants import (
    N_ROW_SCORES,
    distances,
    fit_discriminants,
    fit_linear,
    points,
)
from robustpu.pretrained.encoding import encode, fit_columns

N = 90


@pytest.fixture
def table():
    """Two numbers and a category that tell the class, with gaps, ``(1, 2 N, 3)``."""
    torch.manual_seed(0)
    truth = torch.arange(2 * N) % 3 == 0
    values = torch.randn(2 * N, 3, dtype=torch.float64)
    values[:, 0] += 1.5 * truth
    values[:, 2] = torch.where(truth & (values[:, 2] > 0), 4.0, torch.randint(0, 4, (2 * N,)))
    values[::5, 1] = torch.nan
    return values[None], truth


def encoded(values, labeled):
    stats = fit_columns(values[:, :N], labeled, torch.tensor([[False, False, True]]))
    return encode(values[:, :N], stats, labeled), encode(values[:, N:], stats)


def fitted(table, order=None, dtype=torch.float64):
    values, truth = table
    labeled = truth[None, :N] & (torch.arange(N)[None] % 2 == 0)
    context, new = (rows.to(dtype) for rows in encoded(values, labeled))
    landmarks = torch.arange(0, N, 2)
    order = torch.arange(N) if order is None else order
    places = order.argsort()[landmarks][None]
    return *fit_discriminants(context[:, order], labeled[:, order], places), new


def test_a_row_is_scored_as_if_it_had_been_left_out():
    torch.manual_seed(0)
    features, labeled = torch.randn(1, 30, 4, dtype=torch.float64), torch.arange(30)[None] < 8
    scorer, scores = fit_linear(features, labeled, (0.1,))

    x = features[0] - features[0].mean(0)
    y = labeled[0].double() - labeled[0].double().mean()
    for row in (0, 20):
        others = torch.arange(30) != row
        matrix = x[others].T @ x[others] / 30 + 0.1 * torch.eye(4)
        weight = torch.linalg.solve(matrix, x[others].T @ y[others] / 30)
        expected = (x[row] @ weight - scorer.mean[0, 0, 0]) / scorer.scale[0, 0, 0]
        assert scores[0, row, 0] == pytest.approx(expected.item())


def test_every_score_ranks_new_rows(table):
    discriminants, scores, new = fitted(table)
    found = discriminants.score(new)

    assert scores.shape == (1, N, N_ROW_SCORES)
    truth = table[1][N:].numpy()
    aucs = [roc_auc_score(truth, found[0, :, place]) for place in range(N_ROW_SCORES)]
    assert min(aucs) > 0.65
    assert max(aucs) > 0.8


def test_the_order_of_rows_means_nothing(table):
    torch.manual_seed(1)
    order = torch.randperm(N)
    discriminants, scores, new = fitted(table)
    moved, moved_scores, _ = fitted(table, order)

    torch.testing.assert_close(moved_scores, scores[:, order])
    torch.testing.assert_close(moved.score(new), discriminants.score(new))


def test_rows_in_single_precision_have_the_same_scores(table):
    exact, found = fitted(table), fitted(table, dtype=torch.float32)

    torch.testing.assert_close(found[1].double(), exact[1], atol=1e-4, rtol=1e-4)
    new = found[0].score(found[2])
    assert new.dtype == torch.float32
    torch.testing.assert_close(new.double(), exact[0].score(exact[2]), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_kernels_are_positive_definite_with_gaps_and_heavy_tails(share):
    """A distance with which the kernel is none would make Cholesky's factor a partial one."""
    for seed in range(10):
        torch.manual_seed(seed)
        values = torch.sinh(2 * torch.randn(1, 300, 5))
        values[torch.rand(values.shape) < share] = torch.nan
        labeled = torch.arange(300)[None] < 60
        is_category = torch.arange(5)[None] == 4
        values[..., 4] = values[..., 4].round()
        stats = fit_columns(values, labeled, is_category)
        rows = points(encode(values, stats, labeled).double())
        between = distances(rows, rows)
        kernel = torch.exp(-between / (0.5 * between.mean()))
        assert torch.linalg.eigvalsh(kernel).min() > -1e-10


def test_values_without_order_are_equally_far():
    values = torch.tensor([[1.0, 2.0], [3.0, 2.0], [2.0, torch.nan], [torch.nan, torch.nan]])
    labeled = torch.tensor([[True, False, False, False]])
    stats = fit_columns(values[None], labeled, torch.tensor([[True, True]]))
    found = points(encode(values[None], stats, labeled))

    expected = torch.tensor([[0, 0.6, 1.2, 1.2], [0.6, 0, 1.2, 1.2], [1.2, 1.2, 0, 0.6]])
    torch.testing.assert_close(distances(found, found)[0, :3], expected)


def test_a_missing_number_is_farther_than_the_middle():
    values = torch.tensor([[-1.0], [0.0], [1.0], [torch.nan]])
    labeled = torch.tensor([[True, False, False, False]])
    stats = fit_columns(values[None], labeled, torch.tensor([[False]]))
    found = points(encode(values[None], stats, labeled))

    near, middle, far, same = distances(found, found)[0, 3].tolist()
    assert middle == pytest.approx(0.4, abs=1e-6)
    assert near == pytest.approx(far)
    assert near > middle > same == 0


def test_constant_columns_and_few_rows_give_finite_scores():
    values, labeled = torch.ones(1, 4, 2), torch.tensor([[True, False, False, False]])
    stats = fit_columns(values, labeled, torch.zeros(1, 2, dtype=torch.bool))
    discriminants, scores = fit_discriminants(
        encode(values, stats, labeled), labeled, torch.arange(4)[None]
    )

    assert scores.isfinite().all()
    assert discriminants.score(encode(values, stats)).isfinite().all()
