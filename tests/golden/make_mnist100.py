#!/usr/bin/env python3
"""The first 100 steps on MNIST, from MindSpore 2.10.0 (CPU).

    /somewhere/bin/python tests/golden/make_mnist100.py MNIST_DIR OUT_DIR

(the environment of make_mindspore.py; MNIST_DIR holds the four plain IDX
files.) The seed network with MindSpore's own initial weights, batches of 64 in
the order of the files, SGD at 0.01. OUT_DIR gets

    weights.safetensors  parameters at the start
    losses.txt           of 100 steps: PyNative, GRAPH; nine digits
    end.safetensors      parameters after them (PyNative), end_graph as well
    train.yaml           `cellrun train` of the same 100 steps
    step1/               config.yaml x.npy label.npy ref.safetensors: outputs
                         of all cells and gradients of step 1, for
                         cellrun trace step1/config.yaml --feed x=step1/x.npy
                             --feed label=step1/label.npy
                             --ckpt weights.safetensors --grad
                             --against step1/ref.safetensors -o OUT

and prints how far MindSpore's two modes are apart. The first 20 losses are
in ms/mnist20.txt.
Made with MindSpore 2.10.0, NumPy 1.26.4 on Linux x86-64.
"""
import os
import sys
from pathlib import Path

os.environ.setdefault('GLOG_v', '3')

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import nn  # noqa: E402
from mindspore.dataset import MnistDataset, transforms, vision  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402

STEPS = 100
NETWORK = '''\
network:
  flatten: Flatten
  dense_relu_sequential:
    - Dense: [784, 512]
    - ReLU
    - Dense: [512, 512]
    - ReLU
    - Dense: [512, 10]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 1e-2}}
'''
TRAIN = '''\
cellrun: 1
dataset:
  train: {MnistDataset: {dataset_dir: %s, usage: train, shuffle: false}}
datapipe:
  image:
    - Rescale: {rescale: $(1/255), shift: 0.0}
    - Normalize: {mean: [0.1307], std: [0.3081]}
    - HWC2CHW
  label:
    - TypeCast: {data_type: int32}
  batch: {batch_size: 64}
load: weights.safetensors
train: {steps: %d}
log: {every: 1 steps}
'''


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.dense_relu_sequential = nn.SequentialCell(
            nn.Dense(784, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(),
            nn.Dense(512, 10))

    def construct(self, x):
        return self.dense_relu_sequential(self.flatten(x))


def batches(folder):
    d = MnistDataset(folder, usage='train', shuffle=False)
    d = d.map([vision.Rescale(1 / 255.0, 0),
               vision.Normalize((0.1307,), (0.3081,)), vision.HWC2CHW()],
              'image')
    d = d.map(transforms.TypeCast(ms.int32), 'label').batch(64)
    for at, (x, y) in enumerate(d.create_tuple_iterator(output_numpy=True)):
        if at == STEPS:
            return
        yield x.copy(), y.copy()


def tensors(items):
    return {n: np.array(t, np.float32, order='C') for n, t in items.items()}


def params(net):
    return tensors({p.name: p.asnumpy() for p in net.get_parameters()})


def make(start):
    net, loss_fn = Network(), nn.CrossEntropyLoss()
    for p in net.get_parameters():
        p.set_data(ms.Tensor(start[p.name]))
    opt = nn.SGD(net.trainable_params(), 1e-2)
    net.set_train()

    def forward(a, b):
        return loss_fn(net(a), b)

    return net, opt, ms.value_and_grad(forward, None, opt.parameters)


def train(start, data, mode):
    ms.set_context(mode=mode)
    net, opt, grad = make(start)

    def step(x, y):
        loss, grads = grad(x, y)
        return ms.ops.depend(loss, opt(grads))

    if mode == ms.GRAPH_MODE:
        step = ms.jit(step)
    losses = [float(step(ms.Tensor(x), ms.Tensor(y)).asnumpy())
              for x, y in data]
    return losses, params(net)


def step1(start, x, y):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net, _, grad = make(start)
    out = {}

    def see_output(name):
        def see(cell, inputs, output):
            out[name] = output.asnumpy()
        return see

    def see_grad(name):
        def see(cell, grad):
            out[name] = grad[0].asnumpy()
        return see

    for name, cell in net.cells_and_names():
        cell.register_forward_hook(
            see_output('output.' + name if name else 'output'))
        if name and name != 'flatten':
            cell.register_backward_pre_hook(see_grad('grad.output.' + name))
    loss, grads = grad(ms.Tensor(x), ms.Tensor(y))
    out['loss'] = loss.asnumpy()
    for p, g in zip(net.trainable_params(), grads):
        out['grad.' + p.name] = g.asnumpy()
    return tensors(out)


if __name__ == '__main__':
    mnist, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    ms.set_device('CPU')
    ms.set_seed(1)
    start = params(Network())
    data = list(batches(str(mnist)))
    py, end = train(start, data, ms.PYNATIVE_MODE)
    graph, end_graph = train(start, data, ms.GRAPH_MODE)
    (out / 'step1').mkdir(parents=True, exist_ok=True)
    save_file(start, out / 'weights.safetensors')
    save_file(end, out / 'end.safetensors')
    save_file(end_graph, out / 'end_graph.safetensors')
    (out / 'losses.txt').write_text(
        ''.join('%.9g %.9g\n' % v for v in zip(py, graph)))
    (out / 'train.yaml').write_text(TRAIN % (mnist, STEPS) + NETWORK)
    (out / 'step1' / 'config.yaml').write_text(NETWORK)
    np.save(out / 'step1' / 'x.npy', data[0][0])
    np.save(out / 'step1' / 'label.npy', data[0][1])
    save_file(step1(start, *data[0]), out / 'step1' / 'ref.safetensors')
    (Path(__file__).parent / 'ms' / 'mnist20.txt').write_text(
        ''.join('%.9g\n' % v for v in py[:20]))
    py, graph = np.array(py), np.array(graph)
    far = np.abs(py - graph) / py
    print('losses %.6f .. %.6f' % (py[0], py[-1]))
    print('PyNative and GRAPH: losses apart by %.2g relative in 20 steps, '
          '%.2g in %d' % (far[:20].max(), far.max(), STEPS))
    for n in end:
        a, b = end[n].astype(np.float64), end_graph[n].astype(np.float64)
        print('  %s: %.2g in norm' % (n, np.linalg.norm(a - b) /
                                      np.linalg.norm(b)))
