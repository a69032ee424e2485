from itertools import permutations

import torch

from robustpu.fleet.batches import shuffle


def orders(seeds, epochs, rows):
    return shuffle(torch.tensor(seeds), torch.tensor(epochs), rows)


def test_an_order_is_a_permutation():
    order = orders([0, 1, 2**31 - 1], [0, 5, 10**6], 1000)
    assert torch.equal(order.sort().values, torch.arange(1000).expand(3, -1))


def test_it_depends_on_seed_and_epoch_alone():
    order = orders([3, 4, 3, 3], [0, 0, 1, 0], 50)
    assert torch.equal(order[0], order[3])
    assert not torch.equal(order[0], order[1])
    assert not torch.equal(order[0], order[2])
    assert torch.equal(order[[1]], orders([4], [0], 50))


def test_the_numbers_do_not_change():
    # Known answers: results that were stored hang on them.
    assert orders([0, 7], [0, 3], 8).tolist() == [
        [0, 2, 7, 4, 1, 6, 3, 5],
        [7, 3, 2, 5, 6, 4, 0, 1],
    ]


def test_neighbouring_seeds_and_epochs_share_nothing():
    """A seed and its next epoch are not the next seed and this epoch."""
    order = orders([5, 6], [1, 0], 20)
    assert not torch.equal(*order)


def test_all_orders_are_about_equally_frequent():
    many = 24_000
    for seeds, epochs in [(range(many), [0] * many), ([0] * many, range(many))]:
        found = orders(list(seeds), list(epochs), 4).tolist()
        counts = dict.fromkeys(permutations(range(4)), 0)
        for order in found:
            counts[tuple(order)] += 1
        # 1,000 each are expected; chi-square with 23 degrees of freedom is below 50 but for 0.1 %.
        assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 50
