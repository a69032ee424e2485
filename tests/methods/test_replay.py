"""Robust-PU against a second, plain version of it.

The second version is NumPy in double precision, written from Algorithm 1 of the paper and from the
method cards on Robust-PU, nnPU and data generation, one network and one row at a time in mind. It
shares with the library the initial weights and the order of the rows, and nothing else.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
import torch
from sklearn.utils import check_random_state

from robustpu import Curriculum, NNPUClassifier, Pacing, RobustPUClassifier
from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet.batches import shuffle
from robustpu.modules import build, mlp

SEED = 5
FEATURES, HIDDEN = 4, 7
N_POSITIVE, N_UNLABELED, BATCH = 22, 48, 16
N = N_POSITIVE + N_UNLABELED
MODULE = partial(mlp, hidden=(HIDDEN,))
ROUNDS = 3


def problem():
    """Positives about +1, and unlabelled rows of which two in five are positives; shuffled."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([1, 0], [N_POSITIVE, N_UNLABELED]))
    is_high = (y == 1) | (rng.random(N) < 0.4)
    return rng.normal(np.where(is_high, 1.0, -1.0)[:, None], 1.0, size=(N, FEATURES)), y


# The plain version: a network of one hidden layer, its gradient, and Adam.


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


@dataclass
class Network:
    """logit = w2 . relu(W1 x + b1) + b2."""

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray

    def parameters(self):
        return [self.w1, self.b1, self.w2, self.b2]

    def logit(self, x):
        return np.maximum(x @ self.w1.T + self.b1, 0) @ self.w2 + self.b2[0]

    def gradient(self, x, grad):
        """Chain rule from d risk / d logit (rows,) to the parameters."""
        before = x @ self.w1.T + self.b1
        into_hidden = np.outer(grad, self.w2) * (before > 0)
        return [
            into_hidden.T @ x,
            into_hidden.sum(0),
            grad @ np.maximum(before, 0),
            np.array([grad.sum()]),
        ]


class Adam:
    """Kingma and Ba, Algorithm 1, with L2 decay in the gradient and a linear warm-up."""

    def __init__(self, network, lr, decay, warmup_steps):
        self.network, self.lr, self.decay, self.warmup_steps = network, lr, decay, warmup_steps
        self.m = [np.zeros_like(p) for p in network.parameters()]
        self.v = [np.zeros_like(p) for p in network.parameters()]
        self.t = 0

    def step(self, gradient):
        self.t += 1
        lr = self.lr * min(1, self.t / self.warmup_steps) if self.warmup_steps else self.lr
        for p, g, m, v in zip(self.network.parameters(), gradient, self.m, self.v, strict=True):
            g = g + self.decay * p
            m[...] = 0.9 * m + 0.1 * g
            v[...] = 0.999 * v + 0.001 * g**2
            m_hat, v_hat = m / (1 - 0.9**self.t), v / (1 - 0.999**self.t)
            p -= lr * m_hat / (np.sqrt(v_hat) + 1e-8)


# The plain version: nnPU, hardness, weights, rounds.

# l(margin) and its derivative.
LOSS = {
    "logistic": (lambda m: np.log1p(np.exp(-m)), lambda m: -sigmoid(-m)),
    "sigmoid": (lambda m: sigmoid(-m), lambda m: -sigmoid(m) * sigmoid(-m)),
}


def nnpu_grad(z, is_positive, pi, c, settings):
    """d (what nnPU descends on) / d logit, and whether the step is an ascent.

    The one-sample risk of card 15, pi E_P[l(g)] + r with r = (1 - c pi) E_U[l(-g)]
    - (1 - c) pi E_P[l(-g)]; two samples are c = 0. Card 2: if r < -beta, descend on -gamma r.
    """
    loss, derivative = LOSS[settings.surrogate]
    of_positive = is_positive / max(1, is_positive.sum())
    of_unlabeled = ~is_positive / max(1, (~is_positive).sum())
    negative_share = (1 - c * pi) * of_unlabeled - (1 - c) * pi * of_positive
    r = negative_share @ loss(-z)
    r_grad = -negative_share * derivative(-z)
    if r < -settings.beta:
        return -settings.gamma * r_grad, True
    return pi * of_positive * derivative(z) + r_grad, False


def hardness_of(z, is_positive, kind, temperatures):
    """Eq. logistic or sigmoid, the pseudo label +1 for P and -1 for U."""
    pseudo = np.where(is_positive, 1, -1)
    exponent = -pseudo * z / np.where(is_positive, *temperatures)
    if kind == "logistic":
        return np.log(1 + np.exp(exponent))
    return np.exp(exponent) / (1 + np.exp(exponent))


def linear_pacing(t, lambda0, beta, t_grow):
    return min(beta, lambda0 + (beta - lambda0) / t_grow * t)


@dataclass(frozen=True)
class Settings:
    surrogate: str = "logistic"
    beta: float = 0.0
    gamma: float = 1.0
    hardness: str = "logistic"
    temperatures: tuple[float, float] = (0.7, 1.6)
    # lambda0, beta and T_grow of P, and of U, which is at its end before the last round.
    pacing: tuple[tuple[float, float, int], ...] = ((0.5, 1.2, 4), (0.4, 0.9, 1))
    prior: float = 0.55
    balance: bool = False
    single_set: bool = False
    pretrain_epochs: int = 8
    epochs: int = 2
    pretrain_lr: float = 2e-2
    lr: float = 1e-2
    decay: float = 1e-3
    warmup_epochs: int = 0


class Plain:
    """Algorithm 1. ``trace`` has the logits after pre-training and after each round."""

    def __init__(self, x, y, settings):
        self.x, self.is_positive, self.settings = x, y == 1, settings
        seed = check_random_state(SEED).randint(np.iinfo(np.int32).max, size=1)[0]
        start = build(MODULE, (FEATURES,), int(seed)).double()
        w1, b1, w2, b2 = (value.detach().numpy().copy() for value in start.parameters())
        self.network = Network(w1, b1, w2[0], b2)
        self.seed, self.epoch = torch.tensor([seed]), torch.tensor([0])
        self.ascents = []
        self.pretrain()
        self.trace, self.weights, self.thresholds, self.used = [self.logit()], [], [], []
        for t in range(ROUNDS):
            self.round(t)

    def logit(self):
        return self.network.logit(self.x)

    def batches(self):
        order = shuffle(self.seed, self.epoch, N)[0].numpy()
        self.epoch += 1
        return [order[start : start + BATCH] for start in range(0, N, BATCH)]

    def adam(self, lr):
        s = self.settings
        return Adam(self.network, lr, s.decay, s.warmup_epochs * -(-N // BATCH))

    def population(self):
        """Share of positives in the population, and how many of them are labelled (card 15)."""
        prior = self.settings.prior
        if not self.settings.single_set:
            return prior, 0.0
        pi = (N_POSITIVE + prior * N_UNLABELED) / N
        return pi, N_POSITIVE / (pi * N)

    def pretrain(self):
        pi, c = self.population()
        adam = self.adam(self.settings.pretrain_lr)
        for _ in range(self.settings.pretrain_epochs):
            for rows in self.batches():
                x, is_positive = self.x[rows], self.is_positive[rows]
                z = self.network.logit(x)
                grad, ascends = nnpu_grad(z, is_positive, pi, c, self.settings)
                adam.step(self.network.gradient(x, grad))
                self.ascents.append(ascends)

    def weigh(self, hardness, t):
        of_positive, of_unlabeled = (linear_pacing(t, *ends) for ends in self.settings.pacing)
        threshold = np.where(self.is_positive, of_positive, of_unlabeled)
        return np.exp(-hardness / threshold**2), (of_positive, of_unlabeled)

    def measure(self):
        s = self.settings
        return hardness_of(self.logit(), self.is_positive, s.hardness, s.temperatures)

    def round(self, t):
        weight, thresholds = self.weigh(self.measure(), t)
        self.weights.append(weight)
        self.thresholds.append(thresholds)
        if self.settings.balance:
            share = np.where(self.is_positive, self.population()[0], 1 - self.population()[0])
            side_sums = [weight[self.is_positive == side].sum() for side in self.is_positive]
            weight = weight / side_sums * share * weight.sum()
        self.used.append(weight)
        adam = self.adam(self.settings.lr)
        for _ in range(self.settings.epochs):
            for rows in self.batches():
                x, target = self.x[rows], self.is_positive[rows]
                # d/dz of the mean of v_i (-y log q - (1 - y) log(1 - q)) is v_i (q - y) / rows.
                grad = weight[rows] * (sigmoid(self.network.logit(x)) - target) / len(rows)
                adam.step(self.network.gradient(x, grad))
        self.trace.append(self.logit())


# The library's version.


def common(settings):
    return {
        "prior": settings.prior,
        "scenario": "single-set" if settings.single_set else "case-control",
        "module": MODULE,
        "standardize": False,
        "batch_size": BATCH,
        "weight_decay": settings.decay,
        "warmup_epochs": settings.warmup_epochs,
        "validation_fraction": 0.0,
        "patience": None,
        "device": "cpu",
        "random_state": SEED,
    }


def nnpu_estimator(settings):
    return NNPUClassifier(
        surrogate=settings.surrogate,
        beta=settings.beta,
        gamma=settings.gamma,
        epochs=settings.pretrain_epochs,
        lr=settings.pretrain_lr,
        **common(settings),
    )


def robust_estimator(settings, rounds):
    pacing = [
        Pacing("linear", lambda0=lambda0, beta=beta, t_grow=t_grow)
        for lambda0, beta, t_grow in settings.pacing
    ]
    return RobustPUClassifier(
        pretrain=nnpu_estimator(settings),
        curriculum=Curriculum(
            hardness=settings.hardness,
            temperature_positive=settings.temperatures[0],
            temperature_unlabeled=settings.temperatures[1],
            pacing_positive=pacing[0],
            pacing_unlabeled=pacing[1],
            balance=settings.balance,
            max_rounds=rounds,
        ),
        epochs=settings.epochs,
        lr=settings.lr,
        **common(settings),
    )


@pytest.fixture
def double_precision(monkeypatch):
    monkeypatch.setattr(NeuralPUClassifier, "dtype", torch.float64)


def close(actual, expected, tolerance=1e-8):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


VARIANTS = {
    "logistic": Settings(),
    "sigmoid surrogate": Settings(surrogate="sigmoid"),
    "sigmoid hardness": Settings(hardness="sigmoid"),
    "sigmoid both": Settings(surrogate="sigmoid", hardness="sigmoid"),
    "temperature 1": Settings(temperatures=(1.0, 1.0), decay=0.0),
    "gentle ascent": Settings(beta=0.02, gamma=0.5),
    "warm-up": Settings(warmup_epochs=1),
    "balance": Settings(balance=True),
    "single-set": Settings(single_set=True, balance=True, prior=0.4),
}
every_variant = pytest.mark.parametrize("name", VARIANTS)


@pytest.mark.usefixtures("double_precision")
@every_variant
def test_pretraining_follows_plain_nnpu(name):
    x, y = problem()
    plain = Plain(x, y, VARIANTS[name])
    # Both branches of nnPU were taken, or this would prove little.
    assert 3 <= sum(plain.ascents) <= len(plain.ascents) - 3
    model = nnpu_estimator(VARIANTS[name]).fit(x, y)
    close(model.decision_function(x), plain.trace[0])


@pytest.mark.usefixtures("double_precision")
@every_variant
def test_rounds_follow_the_plain_algorithm(name):
    x, y = problem()
    settings = VARIANTS[name]
    plain = Plain(x, y, settings)
    for rounds in range(1, ROUNDS + 1):
        model = robust_estimator(settings, rounds).fit(x, y)
        close(model.decision_function(x), plain.trace[rounds])
        # The path is kept in single precision.
        close(model.weight_path_, plain.weights[:rounds], tolerance=1e-7)
    assert np.std(plain.weights, axis=0).max() > 0.05

    # After the last round: hardness by the final network, weight at the threshold of that round.
    hardness = plain.measure()
    close(model.hardness_, hardness)
    close(model.weight_, plain.weigh(hardness, ROUNDS - 1)[0])


@pytest.mark.usefixtures("double_precision")
@every_variant
def test_history_tells_what_the_plain_algorithm_did(name):
    x, y = problem()
    plain = Plain(x, y, VARIANTS[name])
    start, *rounds = robust_estimator(VARIANTS[name], ROUNDS).fit(x, y).history_
    assert start == {"member": 0, "round": 0}
    for t, entry in enumerate(rounds):
        assert entry["round"] == t + 1
        assert "score" not in entry
        rate = np.mean(plain.trace[t][y == 0] >= 0)
        assert entry["positive_rate"] == pytest.approx(rate, abs=1e-9)
        for place, side in enumerate(("positive", "unlabeled")):
            weight = np.asarray(plain.weights[t])[y == 1 - place]
            assert entry[f"threshold_{side}"] == pytest.approx(plain.thresholds[t][place])
            assert entry[f"mass_{side}"] == pytest.approx(weight.sum(), rel=1e-9)
            effective = weight.sum() ** 2 / (weight**2).sum()
            assert entry[f"effective_{side}"] == pytest.approx(effective, rel=1e-9)


def test_single_precision_stays_near():
    x, y = problem()
    plain = Plain(x, y, VARIANTS["logistic"])
    model = robust_estimator(VARIANTS["logistic"], ROUNDS).fit(x, y)
    close(model.decision_function(x), plain.trace[ROUNDS], tolerance=1e-3)
