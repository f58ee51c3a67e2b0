#!/usr/bin/env python3
"""Losses of a ResNet-8 with BatchNorm, from MindSpore 2.10.0 (CPU, PyNative).

    /somewhere/bin/python tests/golden/make_resnet8.py   (as make_mindspore.py)

writes ms/resnet8/: ten steps of 8 images of 16 x 16, which are noise around a
colour per class. With arguments IMAGES.npy LABELS.npy FOLDER STEPS BATCH the
same over images (N, H, W, 3) of uint8, to be compared by hand: CIFAR-10, say.
Initial weights are MindSpore's own (convolutions, Dense, BatchNorm), after
ms.set_seed(1). Made with MindSpore 2.10.0, NumPy 1.26.4 on Linux x86-64.
"""
import os
import sys
from pathlib import Path

os.environ.setdefault('GLOG_v', '3')

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import nn  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402

CONFIG = '''\
cellrun: 1
blocks:
  BasicBlock:
    params: {channels: required, stride: 1, project: false}
    cells:
      conv1: {Conv2d: {out_channels: $channels, kernel_size: 3, stride: $stride, pad_mode: pad, padding: 1}}
      bn1: BatchNorm2d
      relu: ReLU
      conv2: {Conv2d: {out_channels: $channels, kernel_size: 3, pad_mode: pad, padding: 1}}
      bn2: BatchNorm2d
      down_sample:
        when: $project
        SequentialCell:
          - Conv2d: {out_channels: $channels, kernel_size: 1, stride: $stride}
          - BatchNorm2d
    construct: |
      y = relu(bn1(conv1(x)))
      y = bn2(conv2(y))
      return relu(y + down_sample(x))
network:
  conv1: {Conv2d: {out_channels: 16, kernel_size: 3, pad_mode: pad, padding: 1}}
  bn1: BatchNorm2d
  relu: ReLU
  layer1: [{BasicBlock: {channels: 16}}]
  layer2: [{BasicBlock: {channels: 32, stride: 2, project: true}}]
  layer3: [{BasicBlock: {channels: 64, stride: 2, project: true}}]
  pool: {AdaptiveAvgPool2d: {output_size: 1}}
  flatten: Flatten
  classifier: {Dense: {out_channels: 10}}
dataset:
  train:
    NumpySlicesDataset:
      data: [x.npy, label.npy]
      column_names: [image, label]
      shuffle: false
datapipe:
  image:
    - Rescale: {rescale: $(1/255), shift: 0.0}
    - Normalize: {mean: [0.4914, 0.4822, 0.4465], std: [0.2470, 0.2435, 0.2616]}
    - HWC2CHW
  batch: {batch_size: BATCH}
load: start.safetensors
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.002, momentum: 0.9, weight_decay: 1e-4}}
train: {steps: STEPS}
log: {every: 1 steps}
'''


def conv(i, o, k, stride=1):
    return nn.Conv2d(i, o, k, stride, 'pad' if k == 3 else 'same',
                     1 if k == 3 else 0)


class Block(nn.Cell):
    def __init__(self, i, o, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(i, o, 3, stride), nn.BatchNorm2d(o)
        self.relu = nn.ReLU()
        self.conv2, self.bn2 = conv(o, o, 3), nn.BatchNorm2d(o)
        self.down_sample = None
        if stride != 1:
            self.down_sample = nn.SequentialCell(conv(i, o, 1, stride),
                                                 nn.BatchNorm2d(o))

    def construct(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(y + (self.down_sample(x) if self.down_sample else x))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = conv(3, 16, 3), nn.BatchNorm2d(16)
        self.relu = nn.ReLU()
        self.layer1 = nn.SequentialCell(Block(16, 16, 1))
        self.layer2 = nn.SequentialCell(Block(16, 32, 2))
        self.layer3 = nn.SequentialCell(Block(32, 64, 2))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.classifier = nn.Dense(64, 10)

    def construct(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.classifier(self.flatten(self.pool(x)))


def noise():
    # a seed with which no activation is so near to 0 that its sign depends on
    # the order of sums: with 8, 10, 11 and 12 kernels differ by 1e-4 in the end
    r = np.random.RandomState(9)
    label = r.randint(0, 10, 80).astype(np.int32)
    colour = r.randint(40, 216, (10, 1, 1, 3))
    x = colour[label] + r.randint(-40, 40, (80, 16, 16, 3))
    return x.astype(np.uint8), label


def tensors(net):
    return {p.name: p.asnumpy().copy() for p in net.get_parameters()}


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device('CPU')
    ms.set_seed(1)
    folder, steps, batch = Path(__file__).parent / 'ms' / 'resnet8', 10, 8
    if len(sys.argv) > 1:
        x, label = np.load(sys.argv[1]), np.load(sys.argv[2])
        folder, steps, batch = (Path(sys.argv[3]), int(sys.argv[4]),
                                int(sys.argv[5]))
    else:
        x, label = noise()
    net = Net()
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors(net), folder / 'start.safetensors')
    opt = nn.Momentum(net.trainable_params(), 0.002, 0.9, weight_decay=1e-4)
    loss_fn = nn.CrossEntropyLoss()
    grad = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None,
                             opt.parameters)
    net.set_train()
    mean = np.array([0.4914, 0.4822, 0.4465], np.float32)
    std = np.array([0.2470, 0.2435, 0.2616], np.float32)
    losses = []
    for k in range(steps):
        a = x[k * batch:(k + 1) * batch].astype(np.float32) * np.float32(
            1 / 255)
        a = ((a - mean) / std).transpose(0, 3, 1, 2)
        loss, grads = grad(ms.Tensor(np.ascontiguousarray(a)),
                           ms.Tensor(label[k * batch:(k + 1) * batch]))
        opt(grads)
        losses.append(float(loss.asnumpy()))
    np.save(folder / 'x.npy', x)
    np.save(folder / 'label.npy', label)
    save_file({n: t for n, t in tensors(net).items() if 'moving' in n},
              folder / 'end.safetensors')
    (folder / 'losses').write_text(''.join('%.9g\n' % v for v in losses))
    (folder / 'config.yaml').write_text(
        CONFIG.replace('BATCH', str(batch)).replace('STEPS', str(steps)))
    for file in folder.glob('*.safetensors'):
        file.chmod(0o644)


main()
