#!/usr/bin/env python3
"""Golden vectors from PyTorch 2.15.0 (CPU, double precision), into pt/.

    python3 -m venv /somewhere
    /somewhere/bin/pip install torch==2.15.0 numpy safetensors pyyaml
    /somewhere/bin/python tests/golden/make_torch.py

Writes a folder for each case of cases.py where MindSpore is no reference, and
compares MindSpore's vectors in ms/ with PyTorch's: prints each tensor that is
off by more than 5e-6 of its largest element, and ends with 1 if one is.
"""
import sys

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from torch import nn

import cases as k

torch.set_default_dtype(torch.float64)
NEAR = 5e-6


class Map(nn.Module):
    def __init__(self, members):
        super().__init__()
        self.order = list(members)
        for name, member in members.items():
            self.add_module(name, build(member))

    def forward(self, x):
        for name in self.order:
            x = self.get_submodule(name)(x)
        return x


class Softmax(nn.Softmax):
    def __init__(self, axis=-1):
        super().__init__(axis)


class Gelu(nn.GELU):
    def __init__(self, approximate=True):
        super().__init__('tanh' if approximate else 'none')


class Dense(nn.Linear):
    def __init__(self, in_channels, out_channels, has_bias=True,
                 activation=None):
        super().__init__(in_channels, out_channels, bias=has_bias)
        self.act = {None: lambda x: x, 'relu': torch.relu,
                    'sigmoid': torch.sigmoid}[activation]

    def forward(self, x):
        return self.act(super().forward(x))


CELLS = {'Dense': Dense, 'Softmax': Softmax, 'GELU': Gelu, 'ReLU': nn.ReLU,
         'Sigmoid': nn.Sigmoid, 'Tanh': nn.Tanh, 'Identity': nn.Identity,
         'Flatten': nn.Flatten, 'Dropout': nn.Dropout}


def build(node):
    t = k.typed(node)
    if isinstance(node, list):
        return nn.Sequential(*[build(n) for n in node])
    if not t:
        return Map(node)
    name, args = t
    if name == 'SequentialCell':
        return build(args)
    a, kw = (args, {}) if isinstance(args, list) else ([], args or {})
    return CELLS[name](*a, **kw)


def build_loss(node):
    name, args = k.typed(node)
    kw = dict(args or {})
    if 'weight' in kw:
        kw['weight'] = torch.tensor(kw['weight'])
    return getattr(nn, name)(**kw)


class Optimizer:
    """SGD is PyTorch's own, Momentum its SGD as well; decay goes by name."""

    def __init__(self, node, params):
        name, args = k.typed(node)
        o = dict(args)
        self.slot = 'moments' if name == 'Momentum' else 'accum'
        rate = o.get('learning_rate', 0.1)
        self.rates = rate if isinstance(rate, list) else [rate]
        self.params = params
        decay = o.get('weight_decay', 0.0)
        groups = [{'params': [p], 'weight_decay':
                   0.0 if 'beta' in n or 'gamma' in n else decay}
                  for n, p in params.items()]
        self.momentum = o.get('momentum', 0.0)
        self.opt = torch.optim.SGD(
            groups, self.rates[0], momentum=self.momentum,
            dampening=o.get('dampening', 0.0),
            nesterov=o.get('nesterov', False) or o.get('use_nesterov', False))
        self.at = 0

    def update(self):
        for g in self.opt.param_groups:
            g['lr'] = self.rates[min(self.at, len(self.rates) - 1)]
        self.opt.step()
        self.at += 1

    def slots(self):
        out = {}
        for n, p in self.params.items():
            a = self.opt.state[p].get('momentum_buffer')
            still = a is None  # PyTorch keeps none without momentum
            if still:
                a = p.grad if self.slot == 'moments' else torch.zeros_like(p)
            out['slot.%s.%s' % (self.slot, n)] = a
            if self.slot == 'accum':
                out['slot.stat.' + n] = torch.full_like(p, still)
        return out


def run(c):
    net = build(c['tree']['network'])
    x = k.feed_x(c)
    params = dict(net.named_parameters())
    start = k.weights(c, {n: tuple(p.shape) for n, p in params.items()})
    with torch.no_grad():
        for n, p in params.items():
            p.copy_(torch.from_numpy(start[n]))
            p.requires_grad_(not k.frozen(c, n))
    net.train('--eval' not in c['cmd'])
    xs = torch.from_numpy(x).double()
    label = k.feed_label(c, tuple(net(xs).shape))
    out, arrive = {}, {}

    def hook(name):
        def see(module, inputs, output):
            out[name] = output.detach().clone()
            if output.requires_grad and '.' in name:
                output.retain_grad()
                arrive['grad.' + name] = output
        return see

    for name, module in net.named_modules():
        module.register_forward_hook(hook('output.' + name if name else
                                          'output'))
    trained = {n: p for n, p in params.items() if p.requires_grad}
    if label is None:
        net(xs)
    else:
        ys = torch.from_numpy(label)
        ys = ys.long() if label.dtype == np.int32 else ys.double()
        loss_fn = build_loss(c['tree']['loss'])
        opt = Optimizer(c['tree']['optimizer'], trained) if c['steps'] else 0
        for _ in range(max(c['steps'], 1)):
            net.zero_grad()
            loss = loss_fn(net(xs), ys)
            loss.sum().backward()
            out.update({'grad.' + n: p.grad.clone()
                        for n, p in trained.items()})
            out.update({n: t.grad for n, t in arrive.items()})
            if opt:
                opt.update()
        out['loss'] = loss
        if opt:
            out.update({'param.' + n: p for n, p in params.items()})
            out.update(opt.slots())
    return x, label, start, {n: t.detach().numpy() for n, t in out.items()}


def compare(name, theirs, ours):
    bad = ['names differ: %s' % sorted(set(theirs) ^ set(ours))] \
        if set(theirs) != set(ours) else []
    for n in sorted(set(theirs) & set(ours)):
        a, b = theirs[n].astype(np.float64), ours[n]
        if a.shape != b.shape:
            bad.append('%s: shape %s, %s' % (n, a.shape, b.shape))
            continue
        far = np.abs(a - b).max() / max(np.abs(b).max(), 0.1)
        if not far <= NEAR:
            bad.append('%s: off by %.3g of the largest' % (n, far))
    for line in bad:
        print('%s: %s' % (name, line))
    return not bad


if __name__ == '__main__':
    ok = True
    for c in k.CASES.values():
        x, label, start, ref = run(c)
        if c['ref'] == 'pt':
            ref = {n: np.array(t, np.float32, order='C')
                   for n, t in ref.items()}
            k.write(c, k.HERE / 'pt' / c['name'], x, label, start, ref,
                    save_file)
        elif (k.HERE / 'ms' / c['name']).is_dir():
            ok &= compare(c['name'], load_file(
                k.HERE / 'ms' / c['name'] / 'ref.safetensors'), ref)
    sys.exit(not ok)
