#!/usr/bin/env python3
"""Training checkpoints as MindSpore 2.10.0 writes them.

    python3 tests/golden/make_training.py tests/golden/ckpt

A Dense(3, 2) is trained for three steps on one batch with each optimizer.
Writes train-x.npy, train-y.npy and train-start.npz, what both programs begin
with, and for each optimizer train-NAME.ckpt, network and optimizer after the
three steps. tests/cli/ms_ckpt.bats trains the same and converts.

    python3 tests/golden/make_training.py --resume DIR

loads DIR/NAME.ckpt, which `cellrun ckpt convert` wrote after three steps,
into a fresh network and a fresh optimizer, takes one more step, and prints the
largest deviation of that from four steps of MindSpore alone. It fails if a
parameter was not in the file or one deviates by more than 1e-6.
"""
import os
import sys

import mindspore as ms
import numpy as np
from mindspore import nn, Tensor

RATE = 0.01
OPTIMIZERS = {
    "adam": lambda p: nn.Adam(p, RATE),
    "amsgrad": lambda p: nn.Adam(p, RATE, use_amsgrad=True),
    "lazy": lambda p: nn.LazyAdam(p, RATE),
    "adamax": lambda p: nn.AdaMax(p, RATE),
    "adamwd": lambda p: nn.AdamWeightDecay(p, RATE),
    "momentum": lambda p: nn.Momentum(p, RATE, 0.9),
    "sgd": lambda p: nn.SGD(p, RATE, momentum=0.9),
    "rmsprop": lambda p: nn.RMSProp(p, RATE),
    "adagrad": lambda p: nn.Adagrad(p, learning_rate=RATE),
}


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2)

    def construct(self, x):
        return self.fc(x)


def data():
    r = np.random.default_rng(7)
    return (r.standard_normal((4, 3)).astype(np.float32),
            r.standard_normal((4, 2)).astype(np.float32),
            {"fc.weight": r.standard_normal((2, 3)).astype(np.float32),
             "fc.bias": r.standard_normal(2).astype(np.float32)})


def trainer(make):
    net = Net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()),
                               make(net.trainable_params()))
    step.set_train()
    return net, step


def trained(make, steps):
    x, y, start = data()
    net, step = trainer(make)
    for p in net.trainable_params():
        p.set_data(Tensor(start[p.name]))
    for _ in range(steps):
        step(Tensor(x), Tensor(y))
    return net, step


def write(to):
    x, y, start = data()
    np.save(os.path.join(to, "train-x.npy"), x)
    np.save(os.path.join(to, "train-y.npy"), y)
    np.savez(os.path.join(to, "train-start.npz"), **start)
    for name, make in OPTIMIZERS.items():
        ms.save_checkpoint(trained(make, 3)[1],
                           os.path.join(to, f"train-{name}.ckpt"))


def resume(of):
    x, y, _ = data()
    bad = False
    for name, make in OPTIMIZERS.items():
        net, step = trainer(make)
        lost, _ = ms.load_param_into_net(
            step, ms.load_checkpoint(os.path.join(of, f"{name}.ckpt")))
        step(Tensor(x), Tensor(y))
        want = {p.name: p.asnumpy() for p in trained(make, 4)[1].get_parameters()}
        far = max(float(np.abs(p.asnumpy() - want[p.name]).max())
                  for p in step.get_parameters())
        print(f"{name}: not loaded {lost}, largest deviation {far:.3g}")
        bad |= bool(lost) or far > 1e-6
    sys.exit(bad)


if __name__ == "__main__":
    resume(sys.argv[2]) if sys.argv[1] == "--resume" else write(sys.argv[1])
