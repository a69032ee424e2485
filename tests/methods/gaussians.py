"""Two Gaussians to learn from: a small table, and a problem with rows to test on."""

import numpy as np

from robustpu import make_pu


def table(seed=0, n_positive=60, n_unlabeled=120):
    """Rows in random order, and 1 for labelled positives; half of the others are positive, too."""
    rng = np.random.default_rng(seed)
    n = n_positive + n_unlabeled
    above = np.arange(n) < n_positive + n_unlabeled // 2
    X = rng.normal(np.where(above, 1.2, -1.2)[:, None], 1.0, (n, 3))
    order = rng.permutation(n)
    return X[order], (np.arange(n) < n_positive).astype(int)[order]


def problem(prior=0.5, seed=0, n_positive=150, n_unlabeled=400, n=4000, distance=0.82, **options):
    """PU data, drawn from n rows, whose best accuracy is 0.95; a distance of 2 makes it 1."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    X = rng.normal(np.where(truth == 1, distance, -distance)[:, None], 1.0, (n, 4))
    sizes = {"n_positive": n_positive, "n_unlabeled": n_unlabeled, "n_test": 1000}
    return make_pu(X, truth, prior=prior, random_state=seed, **sizes, **options)
