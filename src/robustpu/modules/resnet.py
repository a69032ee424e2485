"""ResNet-50 (He, Zhang, Ren, Sun, 2016): the paper's network for the Alzheimer pictures."""

import torch
from torch import Tensor, nn

# Blocks and inner channels of each of the four stages.
STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))
EXPANSION = 4


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """Convolution without bias, then batch norm, which has one."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
    nn.init.kaiming_normal_(conv.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    """relu(x + conv1x1(relu(conv3x3(relu(conv1x1(x)))))), x projected where the shapes differ."""

    def __init__(self, inputs: int, inner: int, stride: int):
        super().__init__()
        outputs = EXPANSION * inner
        self.narrow = convolution(inputs, inner, 1)
        # The stride is in the 3 x 3 convolution, as in most later versions of the network.
        self.middle = convolution(inner, inner, 3, stride)
        self.widen = convolution(inner, outputs, 1)
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else convolution(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        inner = torch.relu(self.middle(torch.relu(self.narrow(x))))
        answer: Tensor = torch.relu(self.shortcut(x) + self.widen(inner))
        return answer


class ResNet50(nn.Sequential):
    """7x7 convolution - pooling - 16 bottleneck blocks - mean over the picture - 1 output.

    Weights are Kaiming-normal; nothing is pre-trained.
    """

    def __init__(self, input_shape: tuple[int, ...]):
        if len(input_shape) != 3:
            raise ValueError(
                f"resnet50 takes images, one row a (channels, height, width) array; a row here "
                f"has the shape {input_shape}. For tables use module='mlp'."
            )
        channels = 64
        layers: list[nn.Module] = [
            convolution(input_shape[0], channels, 7, stride=2),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
        ]
        for stage, (blocks, inner) in enumerate(STAGES):
            for block in range(blocks):
                stride = 2 if stage and not block else 1
                layers.append(Bottleneck(channels, inner, stride))
                channels = EXPANSION * inner
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1)]
        super().__init__(*layers)
