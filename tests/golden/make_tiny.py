#!/usr/bin/env python3
"""Ten losses of a tiny network, from MindSpore 2.10.0 (CPU), into ms/tiny/.

    /somewhere/bin/python tests/golden/make_tiny.py   (as make_mindspore.py)

A whole run: data set, batches with a short last one, two epochs, in order.
The script also runs GRAPH mode, and the formulas in double precision, and refuses to write losses that differ by more than 1e-6.
Made with MindSpore 2.10.0, NumPy 1.26.4 on Linux x86-64.
"""
import os
from pathlib import Path

os.environ.setdefault('GLOG_v', '3')

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import nn  # noqa: E402
from mindspore.dataset import NumpySlicesDataset  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402

HERE = Path(__file__).parent / 'ms' / 'tiny'
CONFIG = '''\
cellrun: 1
dataset:
  train:
    NumpySlicesDataset:
      data: [x.npy, label.npy]
      column_names: [x, label]
      shuffle: false
datapipe:
  batch: {batch_size: 7}
load: start.safetensors
network:
  - {Dense: [12, 8]}
  - ReLU
  - {Dense: [8, 3]}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.2, momentum: 0.9}}
metrics: [accuracy, loss]
train: {epochs: 2}
log: {every: 1 steps}
'''
RATE, MOMENTUM, BATCH, EPOCHS = 0.2, 0.9, 7, 2


def make():
    r = np.random.RandomState(12)
    x = r.uniform(-1, 1, (30, 12)).astype(np.float32)
    label = (x @ r.uniform(-1, 1, (12, 3))).argmax(1).astype(np.int32)
    start = {n: r.uniform(-0.5, 0.5, s).astype(np.float32) for n, s in
             (('0.weight', (8, 12)), ('0.bias', (8,)),
              ('2.weight', (3, 8)), ('2.bias', (3,)))}
    return x, label, start


def mindspore(x, label, start, mode):
    ms.set_context(mode=mode)
    net = nn.SequentialCell(nn.Dense(12, 8), nn.ReLU(), nn.Dense(8, 3))
    for p in net.get_parameters():
        p.set_data(ms.Tensor(start[p.name]))
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.SGD(net.trainable_params(), RATE, momentum=MOMENTUM)

    def forward(a, b):
        return loss_fn(net(a), b)

    grad = ms.value_and_grad(forward, None, opt.parameters)
    data = NumpySlicesDataset((x, label), ['x', 'label'],
                              shuffle=False).batch(BATCH)
    net.set_train()
    losses = []
    for _ in range(EPOCHS):
        for a, b in data.create_tuple_iterator():
            loss, grads = grad(a, b)
            opt(grads)
            losses.append(float(loss.asnumpy()))
    return losses, {p.name: p.asnumpy() for p in net.get_parameters()}


def double(x, label, start):
    p = {n: t.astype(np.float64) for n, t in start.items()}
    v, losses = {}, []
    for _ in range(EPOCHS):
        for at in range(0, len(x), BATCH):
            a, t = x[at:at + BATCH].astype(np.float64), label[at:at + BATCH]
            h = a @ p['0.weight'].T + p['0.bias']
            y = np.maximum(h, 0) @ p['2.weight'].T + p['2.bias']
            e = np.exp(y - y.max(1, keepdims=True))
            q = e / e.sum(1, keepdims=True)
            losses.append(-np.log(q[np.arange(len(t)), t]).mean())
            dy = (q - np.eye(3)[t]) / len(t)
            dh = (dy @ p['2.weight']) * (h > 0)
            g = {'0.weight': dh.T @ a, '0.bias': dh.sum(0),
                 '2.weight': dy.T @ np.maximum(h, 0), '2.bias': dy.sum(0)}
            for n in p:
                v[n] = g[n] if n not in v else MOMENTUM * v[n] + g[n]
                p[n] -= RATE * v[n]
    return losses


if __name__ == '__main__':
    x, label, start = make()
    losses, params = mindspore(x, label, start, ms.PYNATIVE_MODE)
    graph, _ = mindspore(x, label, start, ms.GRAPH_MODE)
    for other in graph, double(x, label, start):
        assert np.allclose(losses, other, rtol=1e-6, atol=0), (losses, other)
    HERE.mkdir(parents=True, exist_ok=True)
    (HERE / 'config.yaml').write_text(CONFIG)
    np.save(HERE / 'x.npy', x)
    np.save(HERE / 'label.npy', label)
    save_file(start, HERE / 'start.safetensors')
    save_file({n: np.array(t) for n, t in params.items()},
              HERE / 'end.safetensors')
    for file in HERE.glob('*.safetensors'):
        file.chmod(0o644)
    (HERE / 'losses').write_text(''.join('%.9g\n' % v for v in losses))
