"""The same logic on a GPU; skipped where there is none."""

import pytest
import torch
from torch import nn

from robustpu import all_methods, datasets, make_pu
from robustpu.fleet import Adam, Fleet, Mapped, Member, Part, Partners, Rows, batch_norm, batches
from robustpu.fleet import lane as lanes
from robustpu.methods import METHODS
from robustpu.modules import mlp
from robustpu.risks import nnpu

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def layer_normed(shape):
    return nn.Sequential(nn.Linear(*shape, 16), nn.LayerNorm(16), nn.Tanh(), nn.Linear(16, 1))


def batch_normed(shape):
    return nn.Sequential(
        nn.Linear(*shape, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1)
    )


def dropped(shape):
    return nn.Sequential(nn.Linear(*shape, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))


class Impatient(nn.Module):
    """A module that makes the host wait for the GPU."""

    def __init__(self, shape):
        super().__init__()
        self.inner = batch_normed(shape)

    def forward(self, x):
        return self.inner(x) * (1 + 0 * x.sum().item())


def convolved(shape):
    return nn.Sequential(
        nn.Conv2d(shape[0], 8, 3, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 1),
    )


def risk(logit, batch, beta):
    return nnpu(
        logit, batch.is_positive, batch.weight, batch.prior, batch.population_prior, beta=beta
    )


def trained(device, module, shape, is_read=False):
    """Logits after epochs in which one member leaves, and a second start."""
    pool = torch.randn(200, *shape, generator=torch.Generator().manual_seed(0))
    pool[:80] += 0.3
    crew = []
    for seed in range(5):
        index = torch.randperm(200, generator=torch.Generator().manual_seed(seed))[:150]
        crew.append(Member(Rows(index, index < 60, torch.ones(150)), None, 0.4, 0.4, seed, seed))
    read = Mapped([Part(pool.numpy())], torch.float32, torch.device(device))
    fleet = Fleet(read if is_read else pool.to(device), crew, module)
    rates = [1e-2, 1e-3, 1e-2, 3e-3, 1e-3]
    fleet.start(risk, rates, [0, 1e-3, 0, 0, 1e-2], [0, 0, 1, 0, 0], 32, beta=[0.0] * 5)
    for _ in range(3):
        fleet.epoch()
    fleet.keep(torch.tensor([True, True, False, True, True], device=device))
    fleet.epoch()
    fleet.start(risk, rates, [0.0] * 5, [0] * 5, 32, beta=[0.1] * 5)
    for _ in range(3):
        fleet.epoch()
    return fleet.logits().cpu()


@pytest.mark.parametrize("module", [mlp, layer_normed, batch_normed, Impatient])
def test_gives_what_a_processor_gives(module):
    torch.testing.assert_close(
        trained("cuda", module, (20,)), trained("cpu", module, (20,)), rtol=1e-3, atol=1e-3
    )


def test_convolutions_agree_up_to_bfloat16():
    ours, reference = (trained(device, convolved, (3, 8, 8)) for device in ("cuda", "cpu"))
    assert (ours - reference).abs().mean() < 0.1 * reference.abs().mean()


def test_dropout_is_reproducible():
    assert torch.equal(trained("cuda", dropped, (20,)), trained("cuda", dropped, (20,)))


@pytest.mark.parametrize(
    ("module", "shape"),
    [(mlp, (20,)), (layer_normed, (20,)), (batch_normed, (20,)), (convolved, (3, 8, 8))],
)
def test_rows_that_are_read_are_those_of_a_tensor(module, shape, monkeypatch):
    """Steps wait for what is copied for them, and what is copied next for the steps."""
    monkeypatch.setattr(batches, "PIECE", 1 << 16)
    held, read = (trained("cuda", module, shape, is_read) for is_read in (False, True))
    torch.testing.assert_close(held, read, rtol=1e-5, atol=1e-5)


def test_many_lanes_do_not_disturb_each_other():
    """More lanes than torch has streams."""
    pool = torch.randn(96, 20, generator=torch.Generator().manual_seed(0))
    rows = Rows(torch.arange(96), torch.arange(96) < 30, torch.ones(96))
    answers = []
    for device in ("cuda", "cpu"):
        crew = [Member(rows, None, 0.4, 0.4, seed, seed) for seed in range(40)]
        fleet = Fleet(pool.to(device), crew, batch_normed)
        fleet.start(risk, [1e-2] * 40, [0] * 40, [0] * 40, 32, beta=[0.0] * 40)
        for _ in range(20):
            fleet.epoch()
        answers.append(fleet.logits().cpu())
    torch.testing.assert_close(*answers, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(
    ("module", "recorded"),
    [(mlp, True), (batch_normed, True), (dropped, False), (Impatient, False)],
)
def test_steps_are_recorded_where_they_can_be(module, recorded, monkeypatch):
    count = []
    record = lanes.Tape.record
    monkeypatch.setattr(lanes.Tape, "record", lambda *given: count.append(0) or record(*given))
    trained("cuda", module, (20,))
    assert bool(count) == recorded


def test_the_kernel_of_adam_gives_what_stacked_operations_give():
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(7, 1001, generator=generator).cuda()
    rates = torch.tensor([[10.0**-k, k * 1e-2, float(k)] for k in range(1, 8)]).cuda()
    answers = []
    for form in ("kernel", "stacked"):
        flat = start.clone()
        adam = Adam(flat, rates.clone(), form)
        grads = torch.Generator().manual_seed(1)
        for _ in range(10):
            adam.gradient.copy_(torch.randn(7, 1001, generator=grads))
            adam.step()
        answers.append(flat)
    torch.testing.assert_close(*answers, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("module", [mlp, layer_normed, batch_normed])
@pytest.mark.parametrize("blend", [None, 0, 1])
def test_mixtures_and_columns_give_what_a_processor_gives(module, blend):
    def mixed(logit, batch):
        chosen = logit.chunk(2, dim=1)[1] if blend is None else logit
        return ((chosen - batch.columns["wanted"]).square() * batch.weight).mean(1)

    answers = []
    for device in ("cuda", "cpu"):
        pool = torch.randn(96, 20, generator=torch.Generator().manual_seed(0)).to(device)
        rows = Rows(torch.arange(96), torch.arange(96) < 30, torch.ones(96))
        fleet = Fleet(pool, [Member(rows, None, 0.4, 0.4, seed, seed) for seed in range(3)], module)
        fleet.start(mixed, [1e-3] * 3, [0] * 3, [0] * 3, 32, blend=blend)
        for _ in range(4):
            partners = Partners((fleet.draw(1) * 96).long(), fleet.draw(2))
            fleet.epoch(columns={"wanted": fleet.draw(3)}, partners=partners)
        answers.append(fleet.logits().cpu())
    torch.testing.assert_close(*answers, rtol=1e-3, atol=1e-3)


NEURAL = [name for name, method in METHODS.items() if method.learner == "network"]


@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@pytest.mark.parametrize("name", NEURAL)
def test_every_method_runs_and_is_as_good(name):
    table = datasets.load("breast_cancer")
    sizes = {"n_positive": 80, "n_unlabeled": 200, "n_test": 150}
    pu = make_pu(table.data, table.target, prior=0.3, random_state=0, **sizes)
    scores = []
    for device in ("cuda", "cpu"):
        model = all_methods()[name](prior=0.3, n_members=3, random_state=0, device=device)
        scores.append(model.fit(pu.X, pu.y).score(pu.X_test, pu.y_test))
    assert abs(scores[0] - scores[1]) < 0.1


def channels_of_eight(shape):
    return nn.Sequential(
        nn.Conv2d(shape[0], 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 24, 3, stride=2),
        nn.BatchNorm2d(24),
        nn.Flatten(),
        nn.Linear(24 * 9, 1),
    )


def test_long_chains_agree_up_to_bfloat16():
    ours, reference = (trained(device, channels_of_eight, (3, 8, 8)) for device in ("cuda", "cpu"))
    assert (ours - reference).abs().mean() < 0.1 * reference.abs().mean()


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("size", [(64, 96, 32, 32), (33, 192, 8, 8), (2, 8, 1, 3), (5, 4096, 2, 2)])
def test_the_kernels_of_batch_norm_give_what_torch_gives(relu, size):
    generator = torch.Generator("cuda").manual_seed(0)

    def draw(*shape):
        return torch.randn(shape, device="cuda", generator=generator)

    channels = size[1]
    x = (draw(*size) + 3 * draw(1, channels, 1, 1)).bfloat16()
    x = x.contiguous(memory_format=torch.channels_last)
    dy = draw(*size).bfloat16().contiguous(memory_format=torch.channels_last)
    parameters = [draw(channels), draw(channels)]
    answers = []
    for dtype in (torch.bfloat16, torch.float32):
        grads = [torch.full((channels,), torch.nan, device="cuda") for _ in range(2)]
        running = [torch.zeros(channels, device="cuda"), torch.ones(channels, device="cuda")]
        counters = [torch.zeros(1, dtype=dt, device="cuda") for dt in (torch.int64, torch.int32)]
        norm = batch_norm.BatchNorm(*parameters, *grads, *running, *counters, 0.3, 1e-5, relu)
        # Single precision is left to torch.
        y, backward = batch_norm.batch_norm(x.to(dtype), norm)
        dx = backward(dy.to(dtype))
        answers.append([part.float() for part in (y, dx, *grads, *running, *counters)])
    for ours, reference in zip(*answers, strict=True):
        torch.testing.assert_close(ours, reference, rtol=1e-2, atol=1e-2 * reference.abs().max())
