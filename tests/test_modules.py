from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from robustpu import NNPUClassifier
from robustpu.modules import MODULES, all_conv, build, halved, linear, mlp, scale_of


def weights_of(network):
    return torch.cat([value.detach().reshape(-1) for value in network.parameters()])


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        ("mlp", (5,)),
        ("mlp", (1, 4, 4)),
        ("linear", (5,)),
        ("linear", (2, 3)),
        ("all_conv", (1, 8, 8)),
        ("all_conv_half", (1, 9, 8)),
        ("resnet50_half", (1, 33, 32)),
    ],
)
def test_one_logit_a_row(module, shape):
    assert build(module, shape, seed=0)(torch.zeros(3, *shape)).shape == (3, 1)


def test_mlp_is_linear_relu_linear():
    network = mlp((4,), hidden=(6, 5))
    kinds = [type(layer) for layer in network]
    assert kinds == [nn.Flatten, nn.Linear, nn.ReLU, nn.Linear, nn.ReLU, nn.Linear]
    widths = [(layer.in_features, layer.out_features) for layer in network[1::2]]
    assert widths == [(4, 6), (6, 5), (5, 1)]


def test_the_default_mlp_is_that_of_the_paper():
    # One hidden layer of 100: weights and biases of both layers.
    assert len(weights_of(mlp((784,)))) == 784 * 100 + 100 + 100 + 1


def test_linear_is_one_layer():
    assert len(weights_of(linear((2, 3)))) == 7


def test_mlp_starts_with_xavier_weights_and_no_bias():
    network = build(partial(mlp, hidden=(300,)), (200,), seed=0)
    for layer in (network[1], network[3]):
        deviation = (2 / (layer.in_features + layer.out_features)) ** 0.5
        # The deviation of a sample deviation is sd / sqrt(2 n); five of them.
        tolerance = 5 * deviation / (2 * layer.weight.numel()) ** 0.5
        assert layer.weight.std().item() == pytest.approx(deviation, abs=tolerance)
        assert not layer.bias.any()


@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 8, 8), (1, 5, 9)])
def test_all_conv_answers_images_of_other_sizes(shape):
    network = build(all_conv, shape, seed=0)
    assert network.eval()(torch.zeros(2, *shape)).shape == (2, 1)


def test_all_conv_is_that_of_the_paper():
    layers = list(all_conv((3, 32, 32)))
    convolutions = [layer for layer in layers if isinstance(layer, nn.Conv2d)]
    assert [(c.out_channels, c.kernel_size[0], c.stride[0]) for c in convolutions] == [
        *[(96, 3, 1), (96, 3, 1), (96, 3, 2), (192, 3, 1), (192, 3, 1), (192, 3, 2)],
        *[(192, 3, 1), (192, 1, 1), (10, 1, 1)],
    ]
    for place, layer in enumerate(layers):
        if isinstance(layer, nn.Conv2d):
            assert [type(part) for part in layers[place + 1 : place + 3]] == [
                nn.BatchNorm2d,
                nn.ReLU,
            ]
    dense = [layer for layer in layers if isinstance(layer, nn.Linear)]
    # Two strides of 2 leave 8 x 8 of the image, in 10 channels.
    assert [(d.in_features, d.out_features) for d in dense] == [
        (640, 1000),
        (1000, 1000),
        (1000, 1),
    ]


@pytest.mark.parametrize("shape", [(57,), (28, 28)])
def test_all_conv_refuses_what_is_no_image(shape):
    with pytest.raises(ValueError, match=r"\(channels, height, width\).*module='mlp'"):
        build("all_conv", shape, seed=0)


def test_a_halved_picture_is_the_mean_of_its_pixels_2_by_2():
    picture = torch.arange(16.0).reshape(1, 1, 4, 4)
    network = halved(lambda shape: nn.Flatten(), (1, 4, 4))
    assert network(picture).tolist() == [[2.5, 4.5, 10.5, 12.5]]


def test_a_table_cannot_be_halved():
    with pytest.raises(ValueError, match="only images can be halved"):
        build("all_conv_half", (5,), seed=0)


@pytest.mark.parametrize(
    ("module", "shape"), [("mlp", (5,)), ("linear", (5,)), (all_conv, (1, 4, 4))]
)
def test_weights_depend_on_the_seed_alone(module, shape):
    torch.manual_seed(1)
    one = weights_of(build(module, shape, seed=7))
    torch.manual_seed(2)
    assert torch.equal(one, weights_of(build(module, shape, seed=7)))
    assert not torch.equal(one, weights_of(build(module, shape, seed=8)))


@pytest.mark.parametrize("module", ["mlp", lambda shape: nn.Linear(*shape, 1)])
def test_the_global_random_state_is_left_as_it_was(module):
    before = torch.random.get_rng_state()
    build(module, (5,), seed=7)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_global_random_state_survives_a_factory_that_fails():
    def fails(shape):
        torch.rand(3)
        raise OSError("no such file")

    before = torch.random.get_rng_state()
    with pytest.raises(OSError, match="no such file"):
        build(fails, (5,), seed=7)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_factory_gets_the_shape_of_a_row():
    shapes = []

    def factory(shape):
        shapes.append(shape)
        return nn.Linear(3, 1)

    build(factory, (3,), seed=0)
    assert shapes == [(3,)]


@pytest.mark.parametrize("answer", [None, torch.zeros(3), nn.Linear])
def test_a_factory_must_return_a_module(answer):
    with pytest.raises(TypeError, match=r"torch\.nn\.Module.*\(3,\)"):
        build(lambda shape: answer, (3,), seed=0)


def test_an_unknown_name_is_refused_with_those_known():
    with pytest.raises(ValueError, match="mlp") as refusal:
        build("mpl", (3,), seed=0)
    assert all(name in str(refusal.value) for name in MODULES)


@pytest.mark.parametrize("factor", [1.0, 1e155, -1e300, 1e-155, 1e-300, 1.5e307])
def test_numbers_of_any_size_are_standardised(factor):
    X = np.random.default_rng(0).normal(0.5, 1, (50, 3))
    mean, scale = scale_of(X * [factor, 1, factor])
    expected = factor * X[:, 0].mean(), abs(factor) * X[:, 0].std()
    assert (mean[0], scale[0]) == pytest.approx(expected, rel=1e-12)
    assert (mean[1], scale[1]) == (X.mean(0)[1], X.std(0)[1])


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.int64, np.float16, np.float32])
def test_numbers_of_any_kind_are_standardised(kind):
    X = np.array([[0, 1], [1, 1], [1, 1]]).astype(kind)
    mean, scale = scale_of(X)
    assert mean.tolist() == pytest.approx([2 / 3, 1])
    assert scale.tolist() == pytest.approx([np.sqrt(2) / 3, 1])


@pytest.mark.parametrize("factor", [1e155, 1e300, 1e-300])
def test_networks_learn_from_numbers_of_any_size(factor):
    truth = np.arange(120) % 2
    X = np.random.default_rng(0).normal(3.0 * truth[:, None], 1.0, (120, 2))
    y = truth * (np.arange(120) < 40)
    given = {"prior": 0.4, "epochs": 20, "lr": 1e-2, "random_state": 0}
    plain, scaled = (NNPUClassifier(**given).fit(rows, y) for rows in (X, factor * X))
    np.testing.assert_allclose(scaled.probability_, plain.probability_, atol=1e-4)
    torch_rows = torch.from_numpy(factor * X)
    answer = torch.sigmoid(scaled.to_torch()(torch_rows)[:, 0]).detach().numpy()
    np.testing.assert_allclose(answer, scaled.predict_proba(factor * X)[:, 1], atol=1e-4)


def test_a_range_beyond_double_precision_is_refused_with_a_reason_alone():
    X = np.array([[1.7e308], [-1.7e308], [1.6e308], [1.7e308], [1.7e308], [1.7e308]])
    with pytest.raises(ValueError, match="X holds numbers that single precision cannot hold"):
        NNPUClassifier(prior=0.4).fit(X, [1, 0, 0, 1, 0, 1])
