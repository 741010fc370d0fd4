# SPDX-License-Identifier: Apache-2.0
"""The demo network: a small residual classifier for Fashion-MNIST, in PyTorch.

Ten straight Conv-BatchNorm-ReLU chains, four residual blocks (two with a 1x1 projection, one of
them strided), a max pool behind a chain and one depthwise-pointwise pair.
"""

from torch import nn


class Chain(nn.Module):
    """Convolution, BatchNorm, ReLU, with no branch between them."""

    def __init__(self, inputs, outputs, kernel, padding, stride=1, groups=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)
        self.bn = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


class Projection(nn.Module):
    """The shortcut of a block that changes its channels or its size: 1x1 convolution, BatchNorm."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
        self.bn = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return self.bn(self.conv(x))


class Residual(nn.Module):
    """Two 3x3 convolutions, the sum with the shortcut, ReLU."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu2 = nn.ReLU()
        is_identity = inputs == outputs and stride == 1
        self.shortcut = None if is_identity else Projection(inputs, outputs, stride)

    def forward(self, x):
        y = self.relu1(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        shortcut = x if self.shortcut is None else self.shortcut(x)
        return self.relu2(y + shortcut)


class FashionResnet(nn.Module):
    """f32[N,1,28,28] -> f32[N,10], 16 M multiply-adds a frame."""

    def __init__(self):
        super().__init__()
        self.stem1 = Chain(1, 16, 3, padding=1)
        self.stem2 = Chain(16, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.block1 = Residual(16, 32)
        self.block2 = Residual(32, 32)
        self.depthwise = Chain(32, 32, 3, padding=1, groups=32)
        self.pointwise = Chain(32, 48, 1, padding=0)
        self.block3 = Residual(48, 64, stride=2)
        self.block4 = Residual(64, 64)
        self.head1 = Chain(64, 32, 1, padding=0)
        self.head2 = Chain(32, 64, 3, padding=0)
        self.gap = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.classifier = nn.Linear(64, 10)

    def forward(self, x):
        x = self.pool(self.stem2(self.stem1(x)))
        x = self.block2(self.block1(x))
        x = self.pointwise(self.depthwise(x))
        x = self.block4(self.block3(x))
        x = self.head2(self.head1(x))
        return self.classifier(self.flatten(self.gap(x)))
