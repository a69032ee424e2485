"""Synthetic tables have the counts and priors that they claim."""

import pytest
import torch
from generator import draw_counts, draw_tables
from random_draws import Draws


@pytest.mark.parametrize(("n", "n_query", "columns"), [(64, 16, 2), (256, 64, 12), (128, 32, 120)])
def test_counts_and_priors_are_exact(n, n_query, columns):
    tables = draw_tables(Draws(3, "cpu"), 8, n, n_query, columns)
    labeled, unlabeled = tables.roles == 1, tables.roles == 0

    assert tables.values.shape == (8, n + n_query, columns)
    assert not (tables.roles[:, :n] == 2).any()
    assert (tables.roles[:, n:] == 2).all()
    assert torch.equal(labeled.sum(1), tables.n_labeled.long())
    found = (tables.truth & unlabeled).sum(1) / unlabeled.sum(1)
    torch.testing.assert_close(found, tables.prior)


def test_queries_have_the_prior_of_the_unlabeled_rows():
    tables = draw_tables(Draws(4, "cpu"), 64, 96, 64, 3)

    shares = tables.truth[:, 96:].float().mean(1)

    assert (shares - tables.prior).abs().max() <= 1 / 64 + 1e-6


def test_counts_cover_few_labels_and_rare_positives():
    counts = draw_counts(Draws(0, "cpu"), torch.arange(4000) % 2 == 0, 1024, 128)

    assert counts.labeled.min() == 5
    assert counts.labeled.max() > 450
    assert counts.prior.min() < 0.008
    assert counts.prior.max() > 0.75
    assert 0.02 < (counts.wrong > 0).float().mean() < 0.12


def test_one_seed_one_table():
    first, second, other = (draw_tables(Draws(s, "cpu"), 2, 64, 16, 5) for s in (1, 1, 2))

    torch.testing.assert_close(first.values, second.values, equal_nan=True)
    assert not torch.equal(first.values.nan_to_num(), other.values.nan_to_num())
    assert torch.equal(first.roles, second.roles)


def test_missing_values_and_categories_occur():
    tables = draw_tables(Draws(5, "cpu"), 60, 64, 16, 10)

    has_missing = tables.values.isnan().flatten(1).any(1).float().mean()
    assert 0.1 < has_missing < 0.5
    assert 0.02 < tables.is_category.float().mean() < 0.4
