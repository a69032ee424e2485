import pickle
from copy import deepcopy
from functools import partial

import pytest
import torch
from torch import nn

from robustpu.fleet import network_for
from robustpu.fleet.convolutions import ConvStack
from robustpu.fleet.network import Blend, LinearStack, SerialStack, State, VmapStack
from robustpu.modules import AllConv, build, halved, linear, mlp

MEMBERS, ROWS = 3, 7
TABLE, IMAGE = (4,), (1, 6, 6)


def normed(shape):
    return nn.Sequential(nn.Linear(*shape, 5), nn.LayerNorm(5), nn.Linear(5, 1))


def tanh(shape):
    return nn.Sequential(nn.Linear(*shape, 5), nn.Tanh(), nn.Linear(5, 1), nn.Flatten(0))


def without_bias(shape):
    return nn.Sequential(nn.Linear(*shape, 5, bias=False), nn.ReLU(), nn.Linear(5, 1))


def ends_in_relu(shape):
    return nn.Sequential(nn.Linear(*shape, 5), nn.ReLU(), nn.Linear(5, 1), nn.ReLU())


def frozen(shape):
    network = mlp(shape, hidden=(5,))
    network[1].requires_grad_(False)
    return network


def one_layer_twice(shape):
    inner = nn.Linear(5, 5)
    layers = [nn.Linear(*shape, 5), inner, inner, nn.Linear(5, 1)]
    return nn.Sequential(*[part for layer in layers for part in (layer, nn.ReLU())][:-1])


def one_weight_twice(shape):
    network = mlp(shape, hidden=(5, 5, 5))
    network[5].weight = network[3].weight
    return network


class Idle(nn.Linear):
    """Has a parameter that the answer does not depend on."""

    def __init__(self, shape):
        super().__init__(*shape, 1)
        self.idle = nn.Parameter(torch.ones(2))


class Attention(nn.Module):
    """Attention over the columns, on which some versions of torch warn that vmap is slow."""

    def __init__(self, shape):
        super().__init__()
        self.into = nn.Linear(1, 4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        column = self.into(x.unsqueeze(-1))
        return self.out(self.attention(column, column, column)[0].mean(1))


def dropout(shape):
    return nn.Sequential(nn.Linear(*shape, 50), nn.ReLU(), nn.Dropout(0.5), nn.Linear(50, 1))


def batch_norm(shape):
    return nn.Sequential(nn.Linear(*shape, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 1))


def convolution(shape):
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 1))


def pooled_convolutions(shape):
    first = nn.Sequential(nn.Identity(), nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.ReLU())
    second = [nn.MaxPool2d(2), nn.BatchNorm2d(4, momentum=0.3), nn.Conv2d(4, 6, 3, 2, 1, groups=2)]
    third = [nn.BatchNorm2d(6), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(first, *second, *third, nn.Linear(6, 1, bias=False))


def uneven_convolutions(shape):
    first = nn.Conv2d(1, 3, 3, padding=1, dilation=2)
    second = nn.Conv2d(3, 5, (3, 2), padding=(1, 0))
    return nn.Sequential(first, nn.Tanh(), second, nn.ReLU(), nn.Flatten(), nn.Linear(60, 1))


def in_place_convolutions(shape):
    layers = [nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Conv2d(2, 2, 3), nn.LeakyReLU(0.2, inplace=True)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(8, 1))


def ends_in_one_dimension(shape):
    return nn.Sequential(nn.Conv2d(1, 1, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(0))


def films(shape):
    return nn.Sequential(nn.Flatten(1, 2), nn.Conv2d(2, 1, 6), nn.Flatten())


def _doubled(layer, inputs, output):
    return 2 * output


def _halved_inputs(layer, inputs):
    return (inputs[0] / 2,)


def hook_on_convolution(shape):
    network = convolution(shape)
    network[0].register_forward_hook(_doubled)
    return network


def hook_on_linear(shape):
    network = mlp(shape, hidden=(5,))
    network[1].register_forward_hook(_doubled)
    return network


def hook_on_chain(shape):
    network = nn.Sequential(convolution(shape))
    network[0].register_forward_pre_hook(_halved_inputs)
    return network


def idle_beside_convolution(shape):
    network = convolution(shape)
    network.register_parameter("idle", nn.Parameter(torch.ones(2)))
    return network


class Residual(nn.Module):
    """No chain: what a layer gets is added to what it puts out."""

    def __init__(self, shape):
        super().__init__()
        self.into, self.inner = nn.Conv2d(1, 2, 3), nn.Conv2d(2, 2, 3, padding=1)
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        x = self.into(x)
        return self.out((x + self.inner(x).relu()).flatten(1))


def residual(shape):
    return Residual(shape)


def frozen_convolution(shape):
    network = convolution(shape)
    network[0].requires_grad_(False)
    return network


KINDS = {
    "mlp": (mlp, TABLE, LinearStack),
    "deep mlp": (partial(mlp, hidden=(6, 5)), TABLE, LinearStack),
    "linear": (linear, TABLE, LinearStack),
    "mlp on images": (mlp, IMAGE, LinearStack),
    "layer norm": (normed, TABLE, VmapStack),
    "tanh": (tanh, TABLE, VmapStack),
    "no bias": (without_bias, TABLE, VmapStack),
    "ReLU at the end": (ends_in_relu, TABLE, VmapStack),
    "frozen": (frozen, TABLE, VmapStack),
    "one layer twice": (one_layer_twice, TABLE, VmapStack),
    "one weight twice": (one_weight_twice, TABLE, VmapStack),
    "unused parameter": (Idle, TABLE, VmapStack),
    "attention": (Attention, TABLE, (VmapStack, SerialStack)),  # As torch can.
    "dropout": (dropout, TABLE, SerialStack),
    "batch norm": (batch_norm, TABLE, SerialStack),
    "convolution": (convolution, IMAGE, ConvStack),
    "pooled convolutions": (pooled_convolutions, IMAGE, ConvStack),
    "uneven convolutions": (uneven_convolutions, IMAGE, ConvStack),
    "convolutions in place": (in_place_convolutions, IMAGE, ConvStack),
    "convolution to one dimension": (ends_in_one_dimension, IMAGE, ConvStack),
    "films": (films, (2, 1, 6, 6), ConvStack),
    "hook on a linear layer": (hook_on_linear, TABLE, VmapStack),
    "hook on a convolution": (hook_on_convolution, IMAGE, SerialStack),
    "hook on a chain": (hook_on_chain, IMAGE, SerialStack),
    "unused parameter beside a convolution": (idle_beside_convolution, IMAGE, SerialStack),
    "the paper's network": (AllConv, IMAGE, ConvStack),
    "halved pictures": (partial(halved, AllConv), IMAGE, ConvStack),
    "residual": (residual, IMAGE, SerialStack),
    "frozen convolution": (frozen_convolution, IMAGE, SerialStack),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
serial = pytest.mark.parametrize(
    "kind", [k for k in KINDS if KINDS[k][2] in (SerialStack, ConvStack)]
)


def fleet_of(factory, shape, members=MEMBERS):
    """Networks of different weights, their stacked state, and different inputs for each."""
    modules = [build(factory, shape, seed).double() for seed in range(members)]
    x = torch.randn(members, ROWS, *shape, generator=seeded(0), dtype=torch.float64)
    network = network_for(modules[0], x[0, :2])
    return network, network.read(modules), modules, x


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def seeds(members=MEMBERS):
    return [seeded(10 + member) for member in range(members)]


def own_risk(logit):
    """Another function for each row, so that no row may be taken for another."""
    grad = torch.linspace(-1, 2, logit.shape[-1], dtype=logit.dtype)
    return (grad * logit + logit.square() / 3).mean(-1)


def own_grad(logit):
    """Its derivative."""
    grad = torch.linspace(-1, 2, logit.shape[-1], dtype=logit.dtype)
    return (grad + 2 * logit / 3) / logit.shape[-1]


def gradient_of(network, state, x, generators, grad=own_grad):
    out = torch.full_like(state.flat, torch.nan)
    network.gradient(state, x, grad, out, generators)
    return out


def alone(module, x, generator):
    """What torch makes of one module: its logits in training mode, and its gradient, flat."""
    module.train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(torch.randint(1 << 62, (), generator=generator)))
        logit = module(x).reshape(len(x))
    trained = [value for value in module.parameters() if value.requires_grad]
    grads = torch.autograd.grad(own_risk(logit), trained, allow_unused=True)
    return logit.detach(), [
        torch.zeros_like(v) if s is None else s for v, s in zip(trained, grads, strict=True)
    ]


def flatten_like_parameters(network, module, grads):
    """Gradients in the place of the parameters they belong to, (parameters,)."""
    carrier = deepcopy(module)
    trained = [value for value in carrier.parameters() if value.requires_grad]
    with torch.no_grad():
        for value, grad in zip(trained, grads, strict=True):
            value.copy_(grad)
    return network.read([carrier]).flat[0]


@every_kind
def test_the_fastest_way_that_is_right_is_chosen(kind):
    factory, shape, expected = KINDS[kind]
    assert isinstance(fleet_of(factory, shape)[0], expected)


def test_weights_that_a_hook_computes_are_left_to_torch():
    module = nn.Sequential(nn.utils.spectral_norm(nn.Linear(4, 5)), nn.ReLU(), nn.Linear(5, 1))
    x = torch.randn(1, ROWS, 4, generator=seeded(0))
    network = network_for(module, x[0, :2])
    logit = network.logits(network.read([module]), x)
    torch.testing.assert_close(logit, module.eval()(x[0]).detach().T)


@every_kind
def test_choosing_leaves_weights_and_random_state_alone(kind):
    factory, shape, _ = KINDS[kind]
    module = build(factory, shape, seed=0)
    before = deepcopy(module.state_dict())
    torch.manual_seed(5)
    network_for(module, torch.randn(2, *shape, generator=seeded(0)))
    following = torch.rand(1)
    torch.manual_seed(5)
    assert torch.equal(following, torch.rand(1))
    for name, value in module.state_dict().items():
        assert torch.equal(value, before[name])


@every_kind
def test_logits_equal_each_module_alone(kind):
    factory, shape, _ = KINDS[kind]
    network, state, modules, x = fleet_of(factory, shape)
    logit = network.logits(state, x)
    assert logit.shape == (MEMBERS, ROWS)
    with torch.no_grad():
        expected = [m.eval()(rows).reshape(ROWS) for m, rows in zip(modules, x, strict=True)]
    torch.testing.assert_close(logit, torch.stack(expected))


@every_kind
def test_gradient_equals_autograd_on_each_module_alone(kind):
    factory, shape, _ = KINDS[kind]
    network, state, modules, x = fleet_of(factory, shape)
    # Evaluation in between, as after each epoch.
    network.logits(state, x)
    with torch.no_grad():
        gradient = gradient_of(network, state, x, seeds())
    for found, module, own_x, generator in zip(gradient, modules, x, seeds(), strict=True):
        _, grads = alone(deepcopy(module), own_x, generator)
        torch.testing.assert_close(found, flatten_like_parameters(network, module, grads))


@every_kind
def test_the_gradient_sees_the_logits_of_training_mode(kind):
    factory, shape, _ = KINDS[kind]
    network, state, modules, x = fleet_of(factory, shape)
    seen = []

    def grad(logit):
        seen.append(logit.clone())
        return own_grad(logit)

    gradient_of(network, state, x, seeds(), grad)
    expected = [
        alone(deepcopy(m), rows, g)[0] for m, rows, g in zip(modules, x, seeds(), strict=True)
    ]
    torch.testing.assert_close(seen, [torch.stack(expected)])


@every_kind
def test_gradients_are_written_and_not_added(kind):
    factory, shape, _ = KINDS[kind]
    network, state, _, x = fleet_of(factory, shape)
    out = torch.full_like(state.flat, 7.0)
    network.gradient(state, x, own_grad, out, seeds())
    fresh = fleet_of(factory, shape)[1]
    torch.testing.assert_close(out, gradient_of(network, fresh, x, seeds()), rtol=0, atol=0)


@every_kind
def test_parameters_may_move_in_place_or_be_replaced_between_steps(kind):
    factory, shape, _ = KINDS[kind]
    network, state, _, x = fleet_of(factory, shape)
    first = gradient_of(network, state, x, seeds())
    state.flat.mul_(0.5)
    in_place = gradient_of(network, state, x, seeds())
    assert (in_place - first).abs().max() > 1e-3
    replaced = fleet_of(factory, shape)[1]
    replaced = State(replaced.flat * 0.5, replaced.buffers)
    torch.testing.assert_close(gradient_of(network, replaced, x, seeds()), in_place)
    some = torch.tensor([2, 0])
    fewer = gradient_of(network, replaced.select(some), x[some], [seeds()[2], seeds()[0]])
    torch.testing.assert_close(fewer, in_place[some])


@pytest.mark.parametrize("kind", ["mlp", "tanh", "batch norm"])
def test_a_stored_network_does_not_carry_the_fleet_that_it_trained(kind):
    factory, shape, _ = KINDS[kind]
    network, state, _, x = fleet_of(factory, shape)
    before = len(pickle.dumps(network))
    gradient_of(network, state, x, seeds())
    network, _ = network.release(state)
    # The parameters of the smallest fleet here are some 700 bytes; a flag or two may change.
    assert len(pickle.dumps(network)) < before + 100


@pytest.mark.parametrize("factory", [frozen, frozen_convolution])
def test_frozen_parameters_get_no_gradient_and_stay(factory):
    shape = TABLE if factory is frozen else IMAGE
    network, state, modules, x = fleet_of(factory, shape)
    held = {name for name, value in modules[0].named_parameters() if not value.requires_grad}
    trained = sum(value.numel() for value in modules[0].parameters() if value.requires_grad)
    assert state.flat.shape == (MEMBERS, trained)
    assert set(state.buffers) == held
    before = {name: value.clone() for name, value in state.buffers.items()}
    gradient_of(network, state, x, seeds())
    torch.testing.assert_close(state.buffers, before, rtol=0, atol=0)
    for member, module in enumerate(modules):
        for name in held:
            assert torch.equal(state.buffers[name][member], module.get_parameter(name))


def test_a_parameter_without_effect_has_gradient_zero():
    network, state, _, x = fleet_of(Idle, TABLE)
    gradient = network.views(gradient_of(network, state, x, seeds()))
    assert gradient["idle"].abs().max() == 0
    assert gradient["weight"].abs().min() > 0


def test_batch_norm_statistics_are_updated_for_each_member_and_used_in_evaluation():
    network, state, modules, x = fleet_of(batch_norm, TABLE)
    x = x + torch.arange(MEMBERS).double()[:, None, None]
    for _ in range(2):
        gradient_of(network, state, x, seeds())
    expected = []
    for member, module in enumerate(modules):
        with torch.no_grad():
            hidden = module[0](x[member])
        mean, variance = torch.zeros(5).double(), torch.ones(5).double()
        for _ in range(2):
            mean = 0.9 * mean + 0.1 * hidden.mean(0)
            variance = 0.9 * variance + 0.1 * hidden.var(0, unbiased=True)
        torch.testing.assert_close(state.buffers["1.running_mean"][member], mean)
        torch.testing.assert_close(state.buffers["1.running_var"][member], variance)
        assert state.buffers["1.num_batches_tracked"][member] == 2
        with torch.no_grad():
            scaled = (hidden - mean) / (variance + module[1].eps).sqrt()
            expected.append(module[3](scaled.relu()).reshape(ROWS))
        # What was learnt of the batches belongs to the state, not to the module it came from.
        assert module[1].num_batches_tracked == 0
    torch.testing.assert_close(network.logits(state, x), torch.stack(expected))


def test_evaluation_leaves_batch_norm_statistics_alone():
    network, state, _, x = fleet_of(batch_norm, TABLE)
    before = {name: value.clone() for name, value in state.buffers.items()}
    network.logits(state, x)
    torch.testing.assert_close(state.buffers, before, rtol=0, atol=0)


def test_dropout_is_drawn_from_the_generator_of_the_member():
    network, state, _, x = fleet_of(dropout, TABLE)
    full = gradient_of(network, state, x, seeds())
    for member in range(MEMBERS):
        only = torch.tensor([member])
        single = gradient_of(network, state.select(only), x[only], [seeds()[member]])
        torch.testing.assert_close(single[0], full[member])
    generators = seeds()
    generators[0] = seeded(99)
    other = gradient_of(network, state, x, generators)
    assert (other[0] - full[0]).abs().max() > 1e-3
    torch.testing.assert_close(other[1:], full[1:])


def test_dropout_goes_on_in_the_generator_of_the_member():
    network, state, _, x = fleet_of(dropout, TABLE)
    generators = seeds()
    first, second = (gradient_of(network, state, x, generators) for _ in range(2))
    assert ((first - second).abs().amax(1) > 1e-3).all()
    for generator, unused in zip(generators, seeds(), strict=True):
        assert not torch.equal(generator.get_state(), unused.get_state())


def test_dropout_is_off_in_evaluation():
    network, state, _, x = fleet_of(dropout, TABLE)
    gradient_of(network, state, x, seeds())
    assert torch.equal(network.logits(state, x), network.logits(state, x))


@serial
def test_the_global_random_state_is_neither_read_nor_touched(kind):
    factory, shape, _ = KINDS[kind]
    gradients = []
    for seed in (1, 2):
        network, state, _, x = fleet_of(factory, shape)
        torch.manual_seed(seed)
        before = torch.random.get_rng_state()
        gradients.append(gradient_of(network, state, x, seeds()))
        assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(*gradients)


def two_logits(shape):
    return nn.Sequential(nn.Linear(*shape, 2))


def two_logits_by_vmap(shape):
    return nn.Sequential(nn.Linear(*shape, 5), nn.Tanh(), nn.Linear(5, 2))


def two_logits_one_by_one(shape):
    return nn.Sequential(nn.Linear(*shape, 5), nn.BatchNorm1d(5), nn.Linear(5, 2))


def one_logit_a_batch(shape):
    return nn.Sequential(nn.Linear(*shape, 1), nn.Flatten(0), nn.Linear(ROWS, 1))


@pytest.mark.parametrize("factory", [two_logits, two_logits_by_vmap, two_logits_one_by_one])
def test_two_logits_a_row_are_refused(factory):
    def use(way):
        network, state, _, x = fleet_of(factory, TABLE)
        way(network, state, x)

    refused = partial(pytest.raises, ValueError, match=r"one logit a row.*answered \(\d, 2\)")
    with refused():
        use(lambda network, state, x: network.logits(state, x))
    with refused():
        use(lambda network, state, x: gradient_of(network, state, x, seeds()))


def test_one_logit_a_batch_is_refused():
    module = one_logit_a_batch(TABLE).double()
    x = torch.zeros(1, ROWS, *TABLE, dtype=torch.float64)
    network = SerialStack(module)
    with pytest.raises(ValueError, match=rf"shape \({ROWS},\).*answered \(1,\)"):
        network.logits(network.read([module]), x)


def test_convolutions_mix_after_any_relu():
    first, last = nn.Conv2d(1, 2, 3), nn.Linear(32, 1)
    relus = [nn.ReLU() for _ in range(4)]
    module = nn.Sequential(relus[0], relus[1], first, relus[2], relus[3], nn.Flatten(), last)
    x = torch.randn(1, 2 * ROWS, *IMAGE, generator=seeded(0))
    for place in range(1, 5):
        found = []
        for network in (ConvStack(module), SerialStack(module, draws=False)):
            blend = Blend(torch.linspace(0, 1, ROWS)[None], relus=place)
            state = network.read([module])
            out = torch.empty_like(state.flat)
            network.gradient(state, x, own_grad, out, seeds(1), blend)
            found.append(network.write(State(out, {}), 0).state_dict())
        torch.testing.assert_close(*found)


@pytest.mark.parametrize(
    ("rest", "shape"),
    [
        ([nn.Linear(4, 1)], TABLE),
        ([nn.BatchNorm1d(4), nn.Linear(4, 1)], TABLE),
        ([nn.Conv2d(1, 1, 3), nn.Flatten(), nn.Linear(16, 1)], IMAGE),
    ],
)
def test_a_first_layer_in_place_leaves_the_inputs_alone(rest, shape):
    network, state, _, x = fleet_of(
        lambda shape: nn.Sequential(nn.LeakyReLU(inplace=True), *rest), shape
    )
    before = x.clone()
    network.logits(state, x)
    network.hidden(state, x)
    gradient_of(network, state, x, seeds())
    torch.testing.assert_close(x, before, rtol=0, atol=0)


def test_layers_that_do_not_fit_are_told_in_the_words_of_torch():
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(27, 1))
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        network_for(module, torch.zeros(2, *IMAGE))


def test_a_convolution_alone_is_told_what_it_has_to_answer():
    network, state, _, x = fleet_of(lambda shape: nn.Conv2d(1, 1, 6), IMAGE)
    with pytest.raises(ValueError, match="must answer one logit a row"):
        gradient_of(network, state, x, seeds())


def test_bfloat16_mixes_inside_as_single_precision_does():
    module = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 1))
    x = torch.randn(1, 2 * ROWS, *IMAGE, generator=torch.Generator().manual_seed(0))
    blend = Blend(torch.linspace(0, 1, ROWS)[None], relus=1)
    found = []
    for half in (True, False):
        network = SerialStack(module, draws=False, half=half)
        state = network.read([module])
        gradient = torch.zeros_like(state.flat)
        network.gradient(state, x, torch.ones_like, gradient, [torch.Generator()], blend)
        found.append(gradient)
    torch.testing.assert_close(*found, rtol=0.05, atol=0.05)


@pytest.mark.parametrize(
    "module",
    [
        nn.Sequential(),
        nn.Identity(),
        mlp(TABLE).requires_grad_(False),
        nn.BatchNorm1d(4, affine=False),
    ],
)
def test_nothing_to_train_is_refused(module):
    with pytest.raises(ValueError, match="no trainable parameters"):
        network_for(module, torch.zeros(2, *TABLE))


def test_state_selects_copies_and_puts_them_back():
    network, state, _, x = fleet_of(batch_norm, TABLE)
    gradient_of(network, state, x, seeds())
    original = deepcopy(state)
    chosen = state.select(torch.tensor([2, 0]))
    torch.testing.assert_close(chosen.flat, original.flat[[2, 0]])
    chosen.flat.zero_()
    chosen.buffers["1.running_mean"].fill_(-1)
    assert torch.equal(state.flat, original.flat)
    assert torch.equal(state.buffers["1.running_mean"], original.buffers["1.running_mean"])
    state.put(torch.tensor([1, 2]), chosen)
    assert torch.equal(state.flat[0], original.flat[0])
    assert state.flat[1:].abs().max() == 0
    assert (state.buffers["1.running_mean"][1:] == -1).all()
    # In the order of the places: member 1 got what member 2 was, member 2 what member 0 was.
    variance = "1.running_var"
    assert torch.equal(state.buffers[variance][1:], original.buffers[variance][[2, 0]])


def test_states_join_and_change_precision_but_counts_stay_whole():
    network, state, _, x = fleet_of(batch_norm, TABLE)
    joined = State.join([state.select(torch.tensor([2])), state.select(torch.tensor([0, 1]))])
    torch.testing.assert_close(
        network.logits(joined, x[[2, 0, 1]]), network.logits(state, x)[[2, 0, 1]]
    )
    single = joined.to(torch.device("cpu"), torch.float32)
    assert single.flat.dtype == single.buffers["1.running_mean"].dtype == torch.float32
    assert single.buffers["1.num_batches_tracked"].dtype == torch.int64
