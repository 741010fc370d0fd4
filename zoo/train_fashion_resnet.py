# SPDX-License-Identifier: Apache-2.0
"""Trains the demo network on Fashion-MNIST and writes it as ONNX.

Writes fashion_resnet.onnx (evaluation mode, BatchNorm unfolded), fashion_resnet_training.onnx
(the same weights exported in training mode) and fashion_resnet.json (preprocessing).
Needed only to remake those files; requirements.txt has the versions that made them.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from torch import nn

import fashion_mnist
import fashion_resnet_export
from fashion_resnet import FashionResnet


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=fashion_mnist.DEFAULT_DATA_DIR,
                        help="folder with the four idx .gz files")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent,
                        help="folder to write to")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--learning-rate", type=float, default=0.15, help="the schedule's peak")
    parser.add_argument("--weight-decay", type=float, default=5e-4)
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--threads", type=int, default=2, help="take 1 on a busy machine")
    parser.add_argument("--weights", type=Path,
                        help="load these weights if the file exists, else train and save them")
    return parser.parse_args()


def load_tensors(data_dir, split):
    """Returns (normalised images f32[N,1,28,28], labels i64[N])."""
    images, labels = fashion_mnist.load_split(data_dir, split)
    return torch.from_numpy(fashion_mnist.normalise(images)), torch.from_numpy(labels)


def augment(images, generator):
    """Flips half of the images left to right and moves the batch by up to two pixels."""
    flip = torch.rand(len(images), generator=generator) < 0.5
    images = torch.where(flip[:, None, None, None], images.flip(3), images)
    dy, dx = torch.randint(0, 5, (2,), generator=generator).tolist()
    background = -fashion_mnist.PIXEL_MEAN * fashion_mnist.PIXEL_SCALE
    padded = nn.functional.pad(images, (2, 2, 2, 2), value=background)
    return padded[:, :, dy:dy + 28, dx:dx + 28]


def make_optimizer(net, args, steps):
    """Returns SGD with momentum and its one-cycle schedule; no decay on biases and BatchNorm."""
    decayed = [p for p in net.parameters() if p.dim() > 1]
    others = [p for p in net.parameters() if p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": args.weight_decay},
              {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.SGD(groups, lr=args.learning_rate, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, args.learning_rate, total_steps=steps, pct_start=0.2)
    return optimizer, schedule


def train_epoch(net, images, labels, batch, optimizer, schedule, generator):
    """Runs one epoch; returns the mean loss."""
    net.train()
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.05)
    order = torch.randperm(len(images), generator=generator)
    batches = order.split(batch)
    total = 0.0
    for chosen in batches:
        inputs = augment(images[chosen], generator).contiguous(memory_format=torch.channels_last)
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(net(inputs), labels[chosen])
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item()
    return total / len(batches)


@torch.no_grad()
def accuracy(net, images, labels):
    """Returns the share of images whose largest logit is the label's."""
    net.eval()
    hits = sum((net(x).argmax(1) == y).sum().item()
               for x, y in zip(images.split(500), labels.split(500)))
    return hits / len(images)


def train(net, args):
    """Trains for a fixed number of epochs; the test images choose nothing."""
    images, labels = load_tensors(args.data, "train")
    generator = torch.Generator().manual_seed(args.seed)
    steps = args.epochs * ((len(images) + args.batch - 1) // args.batch)
    optimizer, schedule = make_optimizer(net, args, steps)
    for epoch in range(args.epochs):
        start = time.monotonic()
        loss = train_epoch(net, images, labels, args.batch, optimizer, schedule, generator)
        seconds = time.monotonic() - start
        print(f"epoch {epoch + 1}/{args.epochs}  loss {loss:.4f}  {seconds:.0f} s", flush=True)


def write_sidecar(path):
    """Writes how a picture becomes the input: (pixel - mean) * scale, pixels in 0..255."""
    image = {"mean": [fashion_mnist.PIXEL_MEAN], "scale": [fashion_mnist.PIXEL_SCALE],
             "order": "gray", "resize": "stretch"}
    path.write_text(json.dumps({"inputs": {"image": image}}, indent=2) + "\n")


def write_files(net, out_dir):
    """Writes the two ONNX files and the sidecar."""
    net = net.to(memory_format=torch.contiguous_format)
    fashion_resnet_export.export(net, out_dir / "fashion_resnet.onnx", training=False)
    fashion_resnet_export.export(net, out_dir / "fashion_resnet_training.onnx", training=True)
    fashion_resnet_export.restore_statistics(out_dir / "fashion_resnet_training.onnx", net)
    write_sidecar(out_dir / "fashion_resnet.json")


def main():
    args = parse_arguments()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    torch.use_deterministic_algorithms(True)
    net = FashionResnet().to(memory_format=torch.channels_last)
    if args.weights and args.weights.exists():
        net.load_state_dict(torch.load(args.weights, weights_only=True))
    else:
        train(net, args)
        if args.weights:
            torch.save(net.state_dict(), args.weights)
    print(f"test accuracy {accuracy(net, *load_tensors(args.data, 't10k')):.4f}")
    write_files(net, args.out)


if __name__ == "__main__":
    main()
