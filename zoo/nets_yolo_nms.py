# SPDX-License-Identifier: Apache-2.0
"""yolo_nms: an anchor-based detector of YOLOv5n's shape, 320x320, with NonMaxSuppression.

Outputs: `boxes` f32[1,6300,4] (centre x, centre y, width, height in pixels), `scores`
f32[1,80,6300], `selected_indices` i64[K,3] and `selected_boxes` f32[1,K,4].
"""

import numpy as np
from onnx import TensorProto

from nets_yolo_blocks import (
    CLASSES, IMAGE_MEAN, IMAGE_VARIANCE, STRIDES, bottleneck, cell_grid, chain, reshape,
    spatial_pyramid, upsample)
from onnx_builder import Net, image_input

SIZE = 320
ANCHORS = ((1.25, 1.5), (2.0, 3.5), (4.5, 3.0))  # width and height in strides
FIELDS = 5 + CLASSES
BOXES = len(ANCHORS) * sum((SIZE // s) ** 2 for s in STRIDES)
OBJECT_BIAS = -1.0
CLASS_BIAS = -2.5
MAX_PER_CLASS = 100
IOU_THRESHOLD = 0.45
SCORE_THRESHOLD = 0.25


def cross_stage(net, x, prefix, outputs, depth, is_sum):
    """Two 1x1 side by side, bottlenecks behind the first, concatenated, 1x1."""
    half = outputs // 2
    y = chain(net, x, f"{prefix}.cv1", half)
    for i in range(depth):
        y = bottleneck(net, y, f"{prefix}.m.{i}", 1, is_sum)
    z = chain(net, x, f"{prefix}.cv2", half)
    return chain(net, net.concat([y, z], f"{prefix}.concat"), f"{prefix}.cv3", outputs)


def backbone(net, x):
    """Returns the maps at strides 8, 16 and 32."""
    x = chain(net, x, "model.0", 16, 6, 2, 2)
    maps = []
    for index, (outputs, depth) in zip((1, 3, 5, 7), ((32, 1), (64, 2), (128, 3), (256, 1))):
        x = chain(net, x, f"model.{index}", outputs, 3, 2)
        x = cross_stage(net, x, f"model.{index + 1}", outputs, depth, True)
        maps.append(x)
    return maps[1], maps[2], spatial_pyramid(net, x, "model.9", 256)


def neck(net, p3, p4, p5):
    """Top-down, then bottom-up."""
    n5 = chain(net, p5, "model.10", 128)
    x = net.concat([upsample(net, n5, "model.11"), p4], "model.12")
    n4 = chain(net, cross_stage(net, x, "model.13", 128, 1, False), "model.14", 64)
    x = net.concat([upsample(net, n4, "model.15"), p3], "model.16")
    out3 = cross_stage(net, x, "model.17", 64, 1, False)
    x = net.concat([chain(net, out3, "model.18", 64, 3, 2), n4], "model.19")
    out4 = cross_stage(net, x, "model.20", 128, 1, False)
    x = net.concat([chain(net, out4, "model.21", 128, 3, 2), n5], "model.22")
    return out3, out4, cross_stage(net, x, "model.23", 256, 1, False)


def head_bias():
    """Returns the mean of each head channel's bias: few objects, fewer classes."""
    fields = np.concatenate([np.zeros(4), [OBJECT_BIAS], np.full(CLASSES, CLASS_BIAS)])
    return np.tile(fields, len(ANCHORS))


def level_constants(net, prefix, stride):
    """Returns the grid (less one half) and the anchors in pixels, both f32[1,3,h,w,2]."""
    size = SIZE // stride
    shape = (1, len(ANCHORS), size, size, 2)
    grid = np.broadcast_to(cell_grid(size) - np.float32(0.5), shape)
    anchors = np.array(ANCHORS, np.float32).reshape(1, -1, 1, 1, 2) * np.float32(stride)
    return (net.constant(f"{prefix}.grid", grid),
            net.constant(f"{prefix}.anchors", np.broadcast_to(anchors, shape)))


def decode_level(net, x, prefix, stride):
    """Returns one level's fields, [1,3*h*w,85], boxes in pixels."""
    size = SIZE // stride
    grid, anchors = level_constants(net, prefix, stride)
    two = net.constant(f"{prefix}.two", np.float32(2))
    step = net.constant(f"{prefix}.stride", np.float32(stride))
    x = reshape(net, x, f"{prefix}.reshape", [1, len(ANCHORS), FIELDS, size, size])
    x = net.node("Transpose", [x], f"{prefix}.transpose", perm=[0, 1, 3, 4, 2])
    x = net.node("Sigmoid", [x], f"{prefix}.sigmoid")
    xy, wh, rest = net.split(x, [2, 2, FIELDS - 4], f"{prefix}.split", axis=4)
    xy = net.node("Mul", [xy, two], f"{prefix}.mul")
    xy = net.node("Add", [xy, grid], f"{prefix}.add")
    xy = net.node("Mul", [xy, step], f"{prefix}.mul_1")
    wh = net.node("Mul", [wh, two], f"{prefix}.mul_2")
    wh = net.node("Pow", [wh, two], f"{prefix}.pow")
    wh = net.node("Mul", [wh, anchors], f"{prefix}.mul_3")
    x = net.node("Concat", [xy, wh, rest], f"{prefix}.concat", axis=4)
    return reshape(net, x, f"{prefix}.reshape_1", [1, -1, FIELDS])


def head(net, maps):
    """Returns (boxes [1,N,4], scores [1,80,N])."""
    levels = []
    for i, (x, stride) in enumerate(zip(maps, STRIDES)):
        outputs = len(ANCHORS) * FIELDS
        x = net.conv(x, f"model.24.m.{i}", outputs, 1, bias=head_bias())
        levels.append(decode_level(net, x, f"model.24.level{i}", stride))
    x = net.node("Concat", levels, "model.24.concat", axis=1)
    boxes, objects, classes = net.split(x, [4, 1, CLASSES], "model.24.split", axis=2)
    scores = net.node("Mul", [classes, objects], "model.24.score")
    return boxes, net.node("Transpose", [scores], "model.24.transpose", perm=[0, 2, 1])


def suppress(net, boxes, scores):
    """Returns (selected indices [K,3], selected boxes [1,K,4])."""
    most = net.constant("nms.max_per_class", np.array([MAX_PER_CLASS], np.int64))
    iou = net.constant("nms.iou_threshold", np.array([IOU_THRESHOLD], np.float32))
    score = net.constant("nms.score_threshold", np.array([SCORE_THRESHOLD], np.float32))
    selected = net.node("NonMaxSuppression", [boxes, scores, most, iou, score], "nms",
                        center_point_box=1)
    column = net.constant("nms.box_column", np.array(2, np.int64))
    index = net.node("Gather", [selected, column], "nms.box_index", axis=1)
    return selected, net.node("Gather", [boxes, index], "nms.gather", axis=1)


def yolo_nms(seed):
    net = Net("yolo_nms", seed)
    maps = neck(net, *backbone(net, image_input(net, SIZE, IMAGE_MEAN, IMAGE_VARIANCE)))
    boxes, scores = head(net, maps)
    selected, chosen = suppress(net, boxes, scores)
    net.output(boxes, "boxes", [1, BOXES, 4])
    net.output(scores, "scores", [1, CLASSES, BOXES])
    net.output(selected, "selected_indices", ["K", 3], TensorProto.INT64)
    net.output(chosen, "selected_boxes", [1, "K", 4])
    return net
