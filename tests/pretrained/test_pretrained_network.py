"""The network's symmetries, and its cached pass."""

from typing import NamedTuple

import pytest
import torch

from robustpu.pretrained.discriminants import fit_discriminants
from robustpu.pretrained.encoding import encode, fit_columns, table_inputs
from robustpu.pretrained.network import NetworkConfig, PUNetwork

N, QUERIES, COLUMNS = 20, 9, 7


@pytest.fixture
def network(perturbed):
    torch.manual_seed(0)
    config = NetworkConfig(
        cell_width=16, cell_heads=2, n_cell_blocks=2, row_width=16, row_heads=2, n_row_blocks=2
    )
    return perturbed(PUNetwork(config))


@pytest.fixture
def inputs(network):
    torch.manual_seed(1)
    values = torch.randn(2, N + QUERIES, COLUMNS)
    values[:, ::4, 2] = torch.nan
    labeled = torch.arange(N).expand(2, -1) < 6
    stats = fit_columns(values[:, :N], labeled, torch.zeros(2, COLUMNS, dtype=torch.bool))
    context, queries = encode(values[:, :N], stats, labeled), encode(values[:, N:], stats)
    landmarks = torch.arange(N).expand(2, -1)
    fitted, scores = fit_discriminants(context, labeled, landmarks)
    rows = Rows(context, scores), Rows(queries, fitted.score(queries))
    counts = torch.full((2,), 6.0)
    table = table_inputs(torch.full((2,), 0.3), torch.ones(2), counts, N - counts)
    identities = torch.randn(2, network.n_tokens(COLUMNS), network.config.identity_width)
    return *rows, labeled.long(), table, identities


class Rows(NamedTuple):
    """Cells and scores of rows."""

    cells: torch.Tensor
    scores: torch.Tensor

    def take(self, index):
        return Rows(self.cells[:, index], self.scores[:, index])


def direct(network, context, queries, roles, table, identities):
    cells, scores = (torch.cat(parts, 1) for parts in zip(context, queries, strict=True))
    roles = torch.cat([roles, torch.full((2, QUERIES), 2)], 1)
    return network(cells, scores, roles, table, identities, N)


def test_the_cached_pass_equals_the_direct_one(network, inputs):
    context, queries, roles, table, identities = inputs
    logits, _ = direct(network, *inputs)

    inside, cache = network.encode_context(*context, roles, table, identities)
    outside = network.encode_queries(*queries, table, identities, cache)

    torch.testing.assert_close(torch.cat([inside, outside], 1), logits)
    assert logits.std() > 0.01


def test_the_order_of_rows_means_nothing(network, inputs):
    context, queries, roles, table, identities = inputs
    order, query_order = torch.randperm(N), torch.randperm(QUERIES)
    logits, prior = direct(network, *inputs)

    moved, moved_prior = direct(
        network,
        context.take(order),
        queries.take(query_order),
        roles[:, order],
        table,
        identities,
    )

    torch.testing.assert_close(moved[:, :N], logits[:, :N][:, order])
    torch.testing.assert_close(moved[:, N:], logits[:, N:][:, query_order])
    torch.testing.assert_close(moved_prior, prior)


def test_queries_do_not_see_each_other(network, inputs):
    context, queries, roles, table, identities = inputs
    *_, cache = network.encode_context(*context, roles, table, identities)

    alone = network.encode_queries(*queries.take([0]), table, identities, cache)

    together = network.encode_queries(*queries, table, identities, cache)
    torch.testing.assert_close(alone, together[:, :1])


def test_a_row_is_left_out_of_its_own_counts():
    values = torch.tensor([1.0, 1.0, 2.0, 3.0]).reshape(1, 4, 1)
    labeled = torch.tensor([[True, False, False, False]])
    stats = fit_columns(values, labeled, torch.ones(1, 1, dtype=torch.bool))

    context, query = encode(values, stats, labeled)[0, :, 0], encode(values, stats)[0, :, 0]

    # Ties: the first value occurs twice; a row does not count itself, a query counts both.
    assert context[:2, 4].tolist() == pytest.approx([0.231, 0.231], abs=1e-3)
    assert query[0, 4].item() == pytest.approx(0.366, abs=1e-3)
    # Lift: the labelled row finds no other positive, the other row finds one of 0.25 expected.
    assert context[0, 5] < 0 < context[1, 5]
    assert context[2, 5] == 0


def test_missing_values_are_a_value_of_their_own():
    values = torch.tensor([torch.nan, torch.nan, 2.0, 3.0]).reshape(1, 4, 1)
    labeled = torch.tensor([[True, False, False, False]])
    stats = fit_columns(values, labeled, torch.zeros(1, 1, dtype=torch.bool))

    cells = encode(values, stats)[0, :, 0]

    assert cells.isfinite().all()
    assert cells[:, 2].tolist() == [1, 1, 0, 0]
    assert cells[0, :2].tolist() == [0, 0]
    assert cells[0, 5] > 0 > cells[2, 6]
