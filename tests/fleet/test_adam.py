import pytest
import torch

from robustpu.fleet.adam import Adam

MEMBERS, PARAMETERS, STEPS = 5, 13, 12
# Neighbours with equal numbers (one run of the fused kernel), and equals that are no neighbours.
LR = [1e-2, 1e-2, 3e-1, 1e-2, 5e-3]
DECAY = [0.0, 0.0, 1e-1, 1e-3, 0.0]
both_forms = pytest.mark.parametrize("form", ["fused", "stacked"])


def float64(values):
    return torch.tensor(values, dtype=torch.float64)


def start(members=MEMBERS):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(members, PARAMETERS, generator=generator, dtype=torch.float64)


def gradients():
    """Gradients of each step, (steps, members, parameters), from large to nearly none."""
    generator = torch.Generator().manual_seed(1)
    answer = torch.randn(STEPS, MEMBERS, PARAMETERS, generator=generator, dtype=torch.float64)
    answer *= 10.0 ** torch.randint(-6, 2, answer.shape, generator=generator)
    answer[:, :, 0] = 0
    return answer


def adam_on(flat, form, lr=LR, decay=DECAY, warmup=(0,) * MEMBERS):
    return Adam(flat, torch.stack([float64(lr), float64(decay), float64(warmup)], 1), form=form)


def step(adam, gradient):
    adam.gradient.copy_(gradient)
    adam.step()


@both_forms
def test_follows_torch_step_by_step(form):
    flat = start()
    adam = adam_on(flat, form)
    alone = [torch.nn.Parameter(parameter.clone()) for parameter in flat]
    peers = [
        torch.optim.Adam([parameter], lr=lr, weight_decay=decay)
        for parameter, lr, decay in zip(alone, LR, DECAY, strict=True)
    ]
    for gradient in gradients():
        step(adam, gradient)
        for parameter, peer, grad in zip(alone, peers, gradient, strict=True):
            parameter.grad = grad.clone()
            peer.step()
        torch.testing.assert_close(flat, torch.stack([parameter.detach() for parameter in alone]))


@both_forms
def test_the_first_step_is_the_rate_in_the_direction_of_the_gradient(form):
    flat = torch.zeros(MEMBERS, PARAMETERS, dtype=torch.float64)
    adam = adam_on(flat, form)
    step(adam, torch.full_like(flat, -3.0))
    # Bias correction makes both moments those of one gradient: lr g / (|g| + epsilon).
    expected = float64(LR)[:, None].expand_as(flat) * 3 / (3 + 1e-8)
    torch.testing.assert_close(flat, expected, rtol=1e-12, atol=0)


@both_forms
def test_warm_up_raises_the_rate_linearly(form):
    warmup = [4, 0, 2, 1, 100]
    flat, before = start(), start()
    adam = adam_on(flat, form, decay=[0.0] * MEMBERS, warmup=warmup)
    for number in range(1, 7):
        # A constant gradient: every step is the rate of that step, whatever the moments.
        step(adam, torch.ones_like(flat))
        share = [min(1, number / steps) if steps else 1 for steps in warmup]
        expected = (float64(LR) * float64(share))[:, None].expand_as(flat)
        torch.testing.assert_close(before - flat, expected, rtol=1e-6, atol=0)
        before = flat.clone()


@both_forms
def test_going_on_with_some_is_as_if_the_others_had_never_been(form):
    warmup = [7, 0, 9, 0, 3]
    places = torch.tensor([1, 2, 4])
    flat = start()
    adam = adam_on(flat, form, warmup=warmup)
    few = start()[places]
    pick = [[numbers[place] for place in places] for numbers in (LR, DECAY, warmup)]
    reference = adam_on(few, form, *pick)
    for number, gradient in enumerate(gradients()):
        if number == 5:
            flat = flat[places]
            adam.select(places, flat)
        step(adam, gradient if number < 5 else gradient[places])
        step(reference, gradient[places])
    torch.testing.assert_close(flat, few, rtol=1e-12, atol=1e-15)


@both_forms
def test_members_that_left_are_not_moved(form):
    flat = start()
    adam = adam_on(flat, form)
    step(adam, gradients()[0])
    left = flat.clone()
    adam.select(torch.tensor([0]), flat[[0]])
    step(adam, gradients()[1][[0]])
    assert torch.equal(flat, left)


@both_forms
def test_a_step_without_anybody_does_nothing(form):
    adam = adam_on(start(), form)
    adam.select(torch.tensor([], dtype=torch.int64), start()[:0])
    adam.step()


@pytest.mark.parametrize(("rates", "form"), [([0.01] * MEMBERS, "fused"), (LR, "stacked")])
def test_on_a_processor_equal_rates_are_fused_and_others_stacked(rates, form):
    answers = []
    for chosen in (None, form):
        flat = start()
        none = float64([0] * MEMBERS)
        step(Adam(flat, torch.stack([float64(rates), none, none], 1), chosen), gradients()[0])
        answers.append(flat)
    assert torch.equal(*answers)
