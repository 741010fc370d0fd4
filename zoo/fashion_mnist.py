# SPDX-License-Identifier: Apache-2.0
"""Reads Fashion-MNIST from its idx files (Debian package dataset-fashion-mnist)."""

import gzip
import struct
from pathlib import Path

import numpy as np

DEFAULT_DATA_DIR = Path("/usr/share/datasets/fashion-mnist")

CLASS_NAMES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)

# Mean and 1 / standard deviation of the 60,000 training images, in pixel units (0..255).
# The network reads (pixel - PIXEL_MEAN) * PIXEL_SCALE; fashion_resnet.json says the same.
PIXEL_MEAN = 72.94
PIXEL_SCALE = 0.01110849


def read_idx(path):
    """Returns the array of one gzip-compressed idx file of unsigned bytes."""
    with gzip.open(path, "rb") as file:
        zero, kind, rank = struct.unpack(">HBB", file.read(4))
        if zero != 0 or kind != 0x08:
            raise ValueError(f"{path}: not an idx file of unsigned bytes")
        shape = struct.unpack(f">{rank}I", file.read(4 * rank))
        return np.frombuffer(file.read(), dtype=np.uint8).reshape(shape)


def load_split(data_dir, split):
    """Returns (images u8[N,1,28,28], labels i64[N]); split is 'train' or 't10k'."""
    images = read_idx(Path(data_dir) / f"{split}-images-idx3-ubyte.gz")
    labels = read_idx(Path(data_dir) / f"{split}-labels-idx1-ubyte.gz")
    return images[:, None, :, :], labels.astype(np.int64)


def normalise(images):
    """Returns the network's input, f32, for images with pixels in 0..255."""
    return (images.astype(np.float32) - np.float32(PIXEL_MEAN)) * np.float32(PIXEL_SCALE)
