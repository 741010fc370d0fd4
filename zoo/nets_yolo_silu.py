# SPDX-License-Identifier: Apache-2.0
"""yolo_silu: an anchor-free detector of YOLOv8n's shape, 640x640, boxes decoded in the graph.

Output: `output0` f32[1,84,8400], the concatenation of boxes (centre x, centre y, width, height in
pixels) and 80 class scores.
"""

import numpy as np

from nets_yolo_blocks import (
    CLASSES, IMAGE_MEAN, IMAGE_VARIANCE, STRIDES, bottleneck, cell_grid, chain, reshape,
    spatial_pyramid, upsample)
from onnx_builder import Net, image_input

SIZE = 640
BINS = 16  # of the distribution over each side's distance
CELLS = sum((SIZE // s) ** 2 for s in STRIDES)
BOX_BIAS = 0.0
SCORE_BIAS = -3.0


def split_block(net, x, prefix, outputs, depth, is_sum):
    """1x1, split in two, bottlenecks on the second half, everything concatenated, 1x1."""
    half = outputs // 2
    x = chain(net, x, f"{prefix}.cv1", outputs)
    maps = net.split(x, [half, half], f"{prefix}.split")
    for i in range(depth):
        maps.append(bottleneck(net, maps[-1], f"{prefix}.m.{i}", 3, is_sum))
    return chain(net, net.concat(maps, f"{prefix}.concat"), f"{prefix}.cv2", outputs)


def backbone(net, x):
    """Returns the maps at strides 8, 16 and 32."""
    x = chain(net, x, "model.0", 16, 3, 2)
    maps = []
    for index, (outputs, depth) in zip((1, 3, 5, 7), ((32, 1), (64, 2), (128, 2), (256, 1))):
        x = chain(net, x, f"model.{index}", outputs, 3, 2)
        x = split_block(net, x, f"model.{index + 1}", outputs, depth, True)
        maps.append(x)
    return maps[1], maps[2], spatial_pyramid(net, x, "model.9", 256)


def neck(net, p3, p4, p5):
    """Top-down, then bottom-up."""
    x = net.concat([upsample(net, p5, "model.10"), p4], "model.11")
    n4 = split_block(net, x, "model.12", 128, 1, False)
    x = net.concat([upsample(net, n4, "model.13"), p3], "model.14")
    out3 = split_block(net, x, "model.15", 64, 1, False)
    x = net.concat([chain(net, out3, "model.16", 64, 3, 2), n4], "model.17")
    out4 = split_block(net, x, "model.18", 128, 1, False)
    x = net.concat([chain(net, out4, "model.19", 128, 3, 2), p5], "model.20")
    return out3, out4, split_block(net, x, "model.21", 256, 1, False)


def head_branch(net, x, prefix, width, outputs, bias):
    """Two 3x3 chains and a plain 1x1 convolution."""
    x = chain(net, x, f"{prefix}.0", width, 3)
    x = chain(net, x, f"{prefix}.1", width, 3)
    return net.conv(x, f"{prefix}.2", outputs, 1, bias=bias)


def head(net, maps):
    """Returns (box distributions [1,64,cells], class logits [1,80,cells])."""
    levels = []
    for i, x in enumerate(maps):
        boxes = head_branch(net, x, f"model.22.cv2.{i}", 64, 4 * BINS, BOX_BIAS)
        scores = head_branch(net, x, f"model.22.cv3.{i}", CLASSES, CLASSES, SCORE_BIAS)
        x = net.concat([boxes, scores], f"model.22.concat_{i}")
        levels.append(reshape(net, x, f"model.22.reshape_{i}", [1, 4 * BINS + CLASSES, -1]))
    x = net.node("Concat", levels, "model.22.concat", axis=2)
    return net.split(x, [4 * BINS, CLASSES], "model.22.split")


def distances(net, x, prefix):
    """Returns the expected distance of each side, [1,4,cells], in cells."""
    x = reshape(net, x, f"{prefix}.reshape", [1, 4, BINS, CELLS])
    x = net.node("Transpose", [x], f"{prefix}.transpose", perm=[0, 2, 1, 3])
    x = net.node("Softmax", [x], f"{prefix}.softmax", axis=1)
    bins = np.arange(BINS, dtype=np.float32).reshape(1, BINS, 1, 1)
    weight = net.constant(f"{prefix}.conv.weight", bins)
    x = net.node("Conv", [x, weight], f"{prefix}.conv", dilations=[1, 1], group=1,
                 kernel_shape=[1, 1], pads=[0, 0, 0, 0], strides=[1, 1])
    return reshape(net, x, f"{prefix}.reshape_1", [1, 4, CELLS])


def cell_constants():
    """Returns (cell centres f32[1,2,cells] in cells, strides f32[1,1,cells])."""
    centres = [cell_grid(SIZE // s).reshape(-1, 2) + np.float32(0.5) for s in STRIDES]
    strides = [np.full((SIZE // s) ** 2, s, np.float32) for s in STRIDES]
    return np.concatenate(centres).T[None], np.concatenate(strides)[None, None]


def decode(net, x, prefix):
    """Turns distances into centre and size in pixels."""
    centres, strides = cell_constants()
    centres = net.constant(f"{prefix}.centres", centres)
    strides = net.constant(f"{prefix}.strides", strides)
    two = net.constant(f"{prefix}.two", np.float32(2))
    low, high = net.split(distances(net, x, f"{prefix}.dfl"), [2, 2], f"{prefix}.sides")
    low = net.node("Sub", [centres, low], f"{prefix}.sub")
    high = net.node("Add", [centres, high], f"{prefix}.add")
    total = net.node("Add", [low, high], f"{prefix}.add_1")
    centre = net.node("Div", [total, two], f"{prefix}.div")
    size = net.node("Sub", [high, low], f"{prefix}.sub_1")
    box = net.node("Concat", [centre, size], f"{prefix}.box", axis=1)
    return net.node("Mul", [box, strides], f"{prefix}.mul")


def yolo_silu(seed):
    net = Net("yolo_silu", seed)
    maps = neck(net, *backbone(net, image_input(net, SIZE, IMAGE_MEAN, IMAGE_VARIANCE)))
    boxes, logits = head(net, maps)
    boxes = decode(net, boxes, "model.22")
    scores = net.node("Sigmoid", [logits], "model.22.sigmoid")
    x = net.node("Concat", [boxes, scores], "model.22.output", axis=1)
    net.output(x, "output0", [1, 4 + CLASSES, CELLS])
    return net
