#!/usr/bin/env python3
"""Golden vectors from MindSpore 2.10.0 (CPU, PyNative), into ms/.

    python3 -m venv /somewhere
    /somewhere/bin/pip install mindspore==2.10.0 safetensors pyyaml 'numpy<2'
    /somewhere/bin/python tests/golden/make_mindspore.py

Writes a folder for each case of cases.py that belongs to MindSpore, or only
those named as arguments.
Made with MindSpore 2.10.0, NumPy 1.26.4 on Linux x86-64.
"""
import os
import sys

os.environ.setdefault('GLOG_v', '3')

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import nn  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402

import cases as k  # noqa: E402

ms.set_device('CPU')
ms.set_context(mode=ms.PYNATIVE_MODE)


class Map(nn.Cell):
    """A map of names: its members are called in order."""

    def __init__(self, members):
        super().__init__()
        self.order = list(members)
        for name, member in members.items():
            setattr(self, name, build(member))

    def construct(self, x):
        for name in self.order:
            x = getattr(self, name)(x)
        return x


def arguments(args):
    if args is None:
        return [], {}
    return (args, {}) if isinstance(args, list) else ([], args)


def build(node):
    t = k.typed(node)
    if isinstance(node, list):
        return nn.SequentialCell(*[build(n) for n in node])
    if not t:
        return Map(node)
    name, args = t
    if name == 'SequentialCell':
        return build(args)
    a, kw = arguments(args)
    return getattr(nn, name)(*a, **kw)


def build_loss(node):
    name, args = k.typed(node)
    kw = dict(args or {})
    if 'weight' in kw:
        kw['weight'] = ms.Tensor(kw['weight'], ms.float32)
    return getattr(nn, name)(**kw)


def run(c):
    net = build(c['tree']['network'])
    x = k.feed_x(c)
    for p in net.get_parameters():
        p.requires_grad = not k.frozen(c, p.name)
    start = k.weights(c, {p.name: p.shape for p in net.get_parameters()})
    for p in net.get_parameters():
        p.set_data(ms.Tensor(start[p.name]))
    net.set_train('--eval' not in c['cmd'])
    shape = net(ms.Tensor(x)).shape
    for p in net.get_parameters():  # moving statistics may have moved
        p.set_data(ms.Tensor(start[p.name]))
    label = k.feed_label(c, shape)
    out = {}

    def hook(name):
        def see(cell, inputs, output):
            if not isinstance(output, tuple):  # of those, see their parts
                out[name] = output.asnumpy()
        return see

    def grad_hook(name):
        def see(cell, grad):
            out['grad.output.' + name] = grad[0].asnumpy()
        return see

    for name, cell in net.cells_and_names():
        if not name.endswith('.activation'):  # Dense's own, not a cell of cellrun
            cell.register_forward_hook(hook('output.' + name if name else
                                            'output'))
            if name:
                cell.register_backward_pre_hook(grad_hook(name))
    xs = ms.Tensor(x)
    if label is None:
        net(xs)
        return x, label, start, out

    ys, loss_fn = ms.Tensor(label), build_loss(c['tree']['loss'])
    trained = net.trainable_params()
    grad_fn = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, trained)
    opt = None
    if c['steps']:
        name, args = k.typed(c['tree']['optimizer'])
        opt = getattr(nn, name)(trained, **args)
    for _ in range(max(c['steps'], 1)):
        loss, grads = grad_fn(xs, ys)
        step = {'grad.' + p.name: g.asnumpy().copy()
                for p, g in zip(trained, grads)}
        if opt:
            opt(grads)
    out.update(step)
    out['loss'] = loss.asnumpy()
    if opt:
        out.update({'param.' + p.name: p.asnumpy()
                    for p in net.get_parameters()})
        for p in opt.get_parameters():
            if p.name.split('.')[0] in ('accum', 'stat', 'moments'):
                out['slot.' + p.name] = p.asnumpy()
    return x, label, start, out


def run_net(c, net):
    """The same of a Cell that another script has made, with MSELoss and without
    steps; the output and the loss are of the same moving statistics."""
    params = {p.name: p for p in net.get_parameters()}
    x = k.feed_x(c)
    start = {n: np.abs(v) + np.float32(0.3)
             if n.endswith('moving_variance') else v
             for n, v in k.weights(c, {n: p.shape for n, p in
                                       params.items()}).items()}
    for n, p in params.items():
        p.set_data(ms.Tensor(start[n]))
    net.set_train('--eval' not in c['cmd'])
    xs = ms.Tensor(x)
    out = net(xs)
    for n, p in params.items():
        p.set_data(ms.Tensor(start[n]))
    label = k.feed_label(c, out.shape)
    loss_fn = nn.MSELoss()
    trained = net.trainable_params()
    loss, grads = ms.value_and_grad(
        lambda a, b: loss_fn(net(a), b), None, trained)(xs, ms.Tensor(label))
    ref = {'grad.' + p.name: g.asnumpy() for p, g in zip(trained, grads)}
    ref.update(output=out.asnumpy(), loss=loss.asnumpy())
    return x, label, start, ref


def tidy(tensors):
    return {n: np.array(t, np.float32, order='C') for n, t in tensors.items()}


if __name__ == '__main__':
    for c in k.CASES.values():
        if c['ref'] == 'ms' and c['name'] in (sys.argv[1:] or k.CASES):
            x, label, start, ref = run(c)
            k.write(c, k.HERE / 'ms' / c['name'], x, label, start, tidy(ref),
                    save_file)
