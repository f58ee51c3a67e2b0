#!/usr/bin/env python3
"""Random networks, trained by cellrun and by PyTorch in double precision.

    python3 -m venv VENV; VENV/bin/pip install torch numpy safetensors
    make soak-peer VENV=dir [N=2000] [SEED=1]

Network number i is a function of i alone. It begins with the same weights on
both sides, is trained for some updates by `cellrun train` with a random
optimizer, schedule, loss, clipping, accumulation and freezing, and then the
parameters and moving statistics of the last checkpoint, the numbers of
`cellrun eval` and the probabilities of `cellrun predict` are compared. The
optimizers and schedules are written out here from their definitions, since
PyTorch's differ from MindSpore's in where epsilon is and what decays;
gradients are PyTorch's.

A difference beyond the tolerance is tried again with PyTorch in float32, from
weights that differ in their last bit: where that is off as well, float32
carries no more there, and the case counts as rounding. Most are parameters in
front of a BatchNorm whose gradient is 0 but for rounding, moved by an optimizer
that divides by its size. Others are kept in KEEP/failed-NUMBER, and the status is 1.
"""
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file, save_file

CELLRUN = os.path.abspath(os.environ.get('CELLRUN', 'build/cellrun'))
KEEP = os.path.abspath(os.environ.get('KEEP', '.'))
NEAR = 2e-4   # of a tensor's largest element
torch.set_num_threads(1)


# ---- The network: cells with their text for cellrun and for PyTorch

class Net:
    def __init__(self, r):
        self.r = r
        self.cells = []     # lines of YAML
        self.lines = []     # of construct
        self.run = []       # (variable, function of (values, P, training))
        self.n = 0
        self.fixed = []     # parameters that are not trained

    def cell(self, type, **args):
        name = 'm%d' % self.n
        self.n += 1
        self.cells.append('    %s: {%s: %s}' % (name, type, json.dumps(args)))
        return name

    def line(self, text, run):
        v = 'v%d' % self.n
        self.n += 1
        self.lines.append('    %s = %s' % (v, text))
        self.run.append((v, run))
        return v

    def forward(self, feed, P, training, moved):
        env = dict(feed)
        for v, run in self.run:
            env[v] = run(env, P, training, moved)
        return env[self.run[-1][0]]


ACTS = {
    'ReLU': torch.relu, 'Sigmoid': torch.sigmoid, 'Tanh': torch.tanh,
    'SiLU': F.silu, 'ReLU6': F.relu6, 'Mish': F.mish, 'SeLU': F.selu,
    'HSwish': F.hardswish, 'HSigmoid': F.hardsigmoid, 'Softsign': F.softsign,
    'LogSigmoid': F.logsigmoid, 'ELU': F.elu,
    'GELU': lambda x: F.gelu(x, approximate='tanh'),
    'LeakyReLU': lambda x: F.leaky_relu(x, 0.2),
}


def act(net, v):
    name = net.r.choice(list(ACTS))
    m = net.cell(name)
    return net.line('%s(%s)' % (m, v), lambda e, P, t, s: ACTS[name](e[v]))


def text(net, v, rank):
    """A line of functions."""
    k = net.r.randrange(9)
    t = ['relu(%s)', '%s * sigmoid(%s)', 'tanh(%s) + 0.5', 'abs(%s) - 0.1',
         'clamp(%s, -1, 1)', 'sqrt(square(%s) + 1)', 'where(%s > 0, %s, 0.3 * %s)',
         '%s - mean(%s, axis=1, keepdims=True)', 'softmax(%s, 1) + %s'][k]
    run = [torch.relu, lambda x: x * torch.sigmoid(x),
           lambda x: torch.tanh(x) + 0.5, lambda x: x.abs() - 0.1,
           lambda x: x.clamp(-1, 1), lambda x: (x * x + 1).sqrt(),
           lambda x: torch.where(x > 0, x, 0.3 * x),
           lambda x: x - x.mean(1, keepdim=True),
           lambda x: F.softmax(x, 1) + x][k]
    return net.line(t.replace('%s', v), lambda e, P, tr, s: run(e[v]))


def dense(net, v, n_in, n_out, bias=None):
    bias = net.r.random() < 0.8 if bias is None else bias
    relu = net.r.random() < 0.2
    args = dict(in_channels=n_in, out_channels=n_out, has_bias=bias)
    if relu:
        args['activation'] = 'relu'
    m = net.cell('Dense', **args)

    def run(e, P, t, s):
        y = F.linear(e[v], P[m + '.weight'], P.get(m + '.bias'))
        return torch.relu(y) if relu else y
    return net.line('%s(%s)' % (m, v), run), m, run


def again(net, v, m, run_of):
    """The same cell a second time."""
    return net.line('%s(%s)' % (m, v), run_of(v))


def batch_norm(net, v, channels, type):
    mom = net.r.choice([0.9, 0.9, 0.7, 0.99])
    affine = net.r.random() < 0.9
    args = dict(num_features=channels, momentum=mom, affine=affine)
    batch = net.r.choice([None, None, None, True, False])
    if batch is not None:
        args['use_batch_statistics'] = batch
    m = net.cell(type, **args)

    def run(e, P, t, s):
        x = e[v]
        shape = [1, -1] + [1] * (x.dim() - 2)
        axes = [0] + list(range(2, x.dim()))
        mean, var = P[m + '.moving_mean'], P[m + '.moving_variance']
        if batch or (batch is None and t):
            n = x.numel() // x.shape[1]
            mu = x.mean(axes)
            vb = ((x - mu.view(shape)) ** 2).mean(axes)
            if t:
                s[m + '.moving_mean'] = (mom * mean + (1 - mom) * mu).detach()
                s[m + '.moving_variance'] = (
                    mom * var + (1 - mom) * vb * n / max(n - 1, 1)).detach()
            mean, var = mu, vb
        y = (x - mean.view(shape)) / (var.view(shape) + 1e-5).sqrt()
        return y * P[m + '.gamma'].view(shape) + P[m + '.beta'].view(shape)
    if not affine:  # gamma and beta are there, and not trained
        net.fixed += [m + '.gamma', m + '.beta']
    return net.line('%s(%s)' % (m, v), run)


def layer_norm(net, v, n):
    m = net.cell('LayerNorm', normalized_shape=[n])
    return net.line('%s(%s)' % (m, v), lambda e, P, t, s: F.layer_norm(
        e[v], (n,), P[m + '.gamma'], P[m + '.beta'], 1e-7))


def group_norm(net, v, channels):
    g = net.r.choice([d for d in range(1, channels + 1) if channels % d == 0])
    m = net.cell('GroupNorm', num_groups=g, num_channels=channels)
    return net.line('%s(%s)' % (m, v), lambda e, P, t, s: F.group_norm(
        e[v], g, P[m + '.gamma'], P[m + '.beta'], 1e-5))


def window(size, k, stride, dil, mode, pad):
    """Padding before and after, and the output's size."""
    reach = (k - 1) * dil + 1
    if mode == 'same':
        out = -(-size // stride)
        total = max((out - 1) * stride + reach - size, 0)
        return total // 2, total - total // 2, out
    p = pad if mode == 'pad' else 0
    return p, p, (size + 2 * p - reach) // stride + 1


def conv(net, v, shape, rank):
    r = net.r
    c, sizes = shape[0], shape[1:]
    group = r.choice([1, 1, 1] + [d for d in (2, 3, c) if c % d == 0])
    out = group * r.randint(1, 6)
    k = [r.randint(1, 4) for _ in sizes]
    stride = [r.choice([1, 1, 2, 3]) for _ in sizes]
    dil = [r.choice([1, 1, 2]) for _ in sizes]
    mode = r.choice(['same', 'valid', 'pad', 'pad'])
    pad = [r.randint(0, 3) for _ in sizes]
    if rank == 2 and r.random() < 0.5:
        k, stride, dil, pad = k[:1] * 2, stride[:1] * 2, dil[:1] * 2, pad[:1] * 2
    places = [window(*a) for a in zip(sizes, k, stride, dil, [mode] * rank, pad)]
    if min(p[2] for p in places) < 1 or \
       any((kk - 1) * d + 1 > s + a + b for kk, d, s, (a, b, o)
           in zip(k, dil, sizes, places)):
        return v, shape
    bias = r.random() < 0.5
    args = dict(in_channels=c, out_channels=out, pad_mode=mode, group=group,
                has_bias=bias)
    one = rank == 1
    args.update(kernel_size=k[0] if one else k,
                stride=stride[0] if one else stride,
                dilation=dil[0] if one else dil)
    if mode == 'pad':
        args['padding'] = pad[0] if one else [pad[0], pad[0], pad[1], pad[1]]
    m = net.cell('Conv%dd' % rank, **args)
    flat = [x for a, b, o in reversed(places) for x in (a, b)]
    f = F.conv1d if one else F.conv2d

    def run(e, P, t, s):
        w = P[m + '.weight']
        if one and w.dim() == 4:
            w = w.squeeze(2)
        return f(F.pad(e[v], flat), w, P.get(m + '.bias'), stride=stride,
                 dilation=dil, groups=group)
    return (net.line('%s(%s)' % (m, v), run),
            [out] + [p[2] for p in places])


def pool(net, v, shape):
    r = net.r
    k, stride = r.randint(1, 3), r.randint(1, 3)
    mode = r.choice(['valid', 'same'])
    if min(shape[1:]) < k:
        return v, shape
    largest = r.random() < 0.6
    m = net.cell('MaxPool2d' if largest else 'AvgPool2d', kernel_size=k,
                 stride=stride, pad_mode=mode)
    places = [window(s, k, stride, 1, mode, 0) for s in shape[1:]]
    flat = [x for a, b, o in reversed(places) for x in (a, b)]

    def run(e, P, t, s):
        if largest:
            return F.max_pool2d(F.pad(e[v], flat, value=-math.inf), k, stride)
        one = torch.ones_like(e[v])
        return (F.avg_pool2d(F.pad(e[v], flat), k, stride)
                / F.avg_pool2d(F.pad(one, flat), k, stride))
    return (net.line('%s(%s)' % (m, v), run),
            [shape[0]] + [p[2] for p in places])


def transposed(net, v, shape):
    r = net.r
    c = shape[0]
    group = r.choice([1, 1, c])
    out = group * r.randint(1, 4)
    k, stride = [r.randint(1, 4) for _ in 'hw'], [r.randint(1, 3) for _ in 'hw']
    pad = [r.randint(0, kk // 2) for kk in k]
    extra = [r.randint(0, s - 1) for s in stride]
    sizes = [(n - 1) * s - 2 * q + kk + x for n, s, q, kk, x in
             zip(shape[1:], stride, pad, k, extra)]
    if min(sizes) < 1 or max(sizes) > 24:
        return v, shape
    m = net.cell('Conv2dTranspose', in_channels=c, out_channels=out,
                 kernel_size=k, stride=stride, pad_mode='pad', group=group,
                 padding=[pad[0], pad[0], pad[1], pad[1]],
                 output_padding=extra, has_bias=True)
    return (net.line('%s(%s)' % (m, v), lambda e, P, t, s, v=v:
                     F.conv_transpose2d(e[v], P[m + '.weight'], P[m + '.bias'],
                                        stride, pad, extra, group)),
            [out] + sizes)


def adaptive(net, v, shape):
    to = [net.r.randint(1, n) for n in shape[1:]]
    m = net.cell('AdaptiveAvgPool2d', output_size=to)
    return (net.line('%s(%s)' % (m, v), lambda e, P, t, s, v=v:
                     F.adaptive_avg_pool2d(e[v], to)), shape[:1] + to)


def instance_norm(net, v, channels):
    m = net.cell('InstanceNorm2d', num_features=channels)
    net.fixed += [m + '.moving_mean', m + '.moving_variance']
    return net.line('%s(%s)' % (m, v), lambda e, P, t, s, v=v: F.instance_norm(
        e[v], weight=P[m + '.gamma'], bias=P[m + '.beta'], eps=1e-5))


def prelu(net, v, channels):
    m = net.cell('PReLU', channel=channels)
    return net.line('%s(%s)' % (m, v), lambda e, P, t, s, v=v: F.prelu(
        e[v], P[m + '.w']))


def encoder(net, v, n):
    r = net.r
    heads = r.choice([h for h in (1, 2, 3, 4) if n % h == 0])
    first, gelu = r.random() < 0.5, r.random() < 0.3
    m = net.cell('TransformerEncoderLayer', d_model=n, nhead=heads,
                 dim_feedforward=r.randint(2, 16), dropout=0.0,
                 batch_first=True, norm_first=first,
                 activation='gelu' if gelu else 'relu')

    def run(e, P, t, s):
        def norm(x, k):
            return F.layer_norm(x, (n,), P[m + k + '.gamma'],
                                P[m + k + '.beta'], 1e-5)

        def forth(x):
            h = F.linear(x, P[m + '.dense1.weight'], P[m + '.dense1.bias'])
            h = F.gelu(h) if gelu else torch.relu(h)
            return F.linear(h, P[m + '.dense2.weight'], P[m + '.dense2.bias'])
        x = e[v]
        if first:
            x = x + attend(norm(x, '.norm1'), P, m + '.self_attn', heads)
            return x + forth(norm(x, '.norm2'))
        x = norm(x + attend(x, P, m + '.self_attn', heads), '.norm1')
        return norm(x + forth(x), '.norm2')
    return net.line('%s(%s)' % (m, v), run)


def recurrent(net, v, n_in):
    r = net.r
    type = r.choice(['LSTM', 'GRU', 'RNN'])
    hidden, layers = r.randint(2, 9), r.choice([1, 1, 2])
    both, bias = r.random() < 0.3, r.random() < 0.8
    m = net.cell(type, input_size=n_in, hidden_size=hidden, num_layers=layers,
                 bidirectional=both, has_bias=bias, batch_first=True)

    def run(e, P, t, s):
        x = e[v]
        names = []
        for layer in range(layers):
            for d in ([''] + ['_reverse'] if both else ['']):
                names += [m + '.%s_l%d%s' % (p, layer, d) for p in
                          ['weight_ih', 'weight_hh']
                          + (['bias_ih', 'bias_hh'] if bias else [])]
        h = torch.zeros(layers * (2 if both else 1), x.shape[0], hidden,
                        dtype=x.dtype)
        w = [P[n] for n in names]
        a = (w, bias, layers, 0.0, False, both, True)
        if type == 'LSTM':
            return torch._VF.lstm(x, (h, h), *a)[0]
        if type == 'GRU':
            return torch._VF.gru(x, h, *a)[0]
        return torch._VF.rnn_tanh(x, h, *a)[0]
    net.n += 1
    name = 'v%d' % net.n
    net.n += 1
    net.lines.append('    %s, _ = %s(%s)' % (name, m, v))
    net.run.append((name, run))
    return name, hidden * (2 if both else 1)


def attend(x, P, name, heads):
    b, l, n = x.shape
    q, k, u = F.linear(x, P[name + '.in_proj_weight'],
                       P[name + '.in_proj_bias']).split(n, -1)
    q, k, u = [z.view(b, l, heads, n // heads).transpose(1, 2)
               for z in (q, k, u)]
    a = F.softmax(q @ k.transpose(-1, -2) / math.sqrt(n // heads), -1)
    y = (a @ u).transpose(1, 2).reshape(b, l, n)
    return F.linear(y, P[name + '.out_proj.weight'], P[name + '.out_proj.bias'])


def attention(net, v, n):
    heads = net.r.choice([h for h in (1, 2, 3, 4) if n % h == 0])
    m = net.cell('MultiheadAttention', embed_dim=n, num_heads=heads,
                 batch_first=True)
    name = 'v%d' % net.n
    net.n += 1
    net.lines.append('    %s, _ = %s(%s, %s, %s)' % (name, m, v, v, v))
    net.run.append((name, lambda e, P, t, s: attend(e[v], P, m, heads)))
    return name


def add(net, a, b):
    return net.line('%s + %s' % (a, b), lambda e, P, t, s: e[a] + e[b])


def vectors(net, v, n):
    r = net.r
    for _ in range(r.randint(1, 6)):
        k = r.randrange(8)
        if k <= 1:
            n2 = r.randint(1, 20)
            v, n = dense(net, v, n, n2)[0], n2
        elif k == 2:
            v = act(net, v)
        elif k == 3:
            v = batch_norm(net, v, n, 'BatchNorm1d')
        elif k == 4 and n > 1:
            v = layer_norm(net, v, n)
        elif k == 5:
            v = text(net, v, 2)
        elif k == 6:    # a branch, with its cell called twice at times
            w, m, run = dense(net, v, n, n)
            if r.random() < 0.4:
                u = w
                w = net.line('%s(%s)' % (m, u), lambda e, P, t, s, u=u, v=v,
                             run=run: run({**e, v: e[u]}, P, t, s))
            v = add(net, v, w)
    return v, n


def images(net, v, shape):
    r = net.r
    for _ in range(r.randint(1, 5)):
        k = r.randrange(12)
        if k == 8:
            v, shape = transposed(net, v, shape)
        elif k == 9:
            v, shape = adaptive(net, v, shape)
        elif k == 10 and shape[1] * shape[2] > 1:
            v = instance_norm(net, v, shape[0])
        elif k == 11:
            v = prelu(net, v, r.choice([1, shape[0]]))
        elif k <= 2:
            v, shape = conv(net, v, shape, 2)
            if r.random() < 0.5:
                v = batch_norm(net, v, shape[0], 'BatchNorm2d')
            if r.random() < 0.5:
                v = act(net, v)
        elif k == 3:
            v = batch_norm(net, v, shape[0], 'BatchNorm2d')
        elif k == 4:
            v = group_norm(net, v, shape[0])
        elif k == 5:
            v, shape = pool(net, v, shape)
        elif k == 6:
            v = text(net, v, 4)
        else:           # a residual block
            m = net.cell('Conv2d', in_channels=shape[0], out_channels=shape[0],
                         kernel_size=3)
            x = v
            w = net.line('%s(%s)' % (m, x), lambda e, P, t, s, m=m, x=x:
                         F.conv2d(e[x], P[m + '.weight'], padding=1))
            w = batch_norm(net, w, shape[0], 'BatchNorm2d')
            v = add(net, x, w)
            if r.random() < 0.7:
                v = act(net, v)
    if r.random() < 0.4:
        return net.line('mean(%s, axis=(2, 3))' % v, lambda e, P, t, s, v=v:
                        e[v].mean((2, 3))), shape[0]
    return net.line('flatten(%s)' % v, lambda e, P, t, s, v=v:
                    e[v].flatten(1)), int(np.prod(shape))


def sequences(net, v, length, n):
    r = net.r
    for _ in range(r.randint(1, 4)):
        k = r.randrange(9)
        if k == 0:
            v, n = recurrent(net, v, n)
        elif k == 1:
            v = add(net, v, attention(net, v, n))
        elif k == 2 and n > 1:
            v = layer_norm(net, v, n)
        elif k == 3:
            n2 = r.randint(2, 12)
            v, n = dense(net, v, n, n2)[0], n2
            if n == length or r.random() < 0.5:  # the axis is that of length
                v = batch_norm(net, v, length, 'BatchNorm1d')
        elif k == 4:
            v = act(net, v)
        elif k == 5:
            v = text(net, v, 3)
        elif k == 6:
            v, (length, n) = conv(net, v, [length, n], 1)
        elif k == 7:
            v = encoder(net, v, n)
    if r.random() < 0.5:
        return net.line('mean(%s, axis=1)' % v, lambda e, P, t, s, v=v:
                        e[v].mean(1)), n
    return net.line('%s[:, -1]' % v, lambda e, P, t, s, v=v: e[v][:, -1]), n


# ---- Losses, optimizers, schedules

def loss_of(r, classes):
    """Text, target kind, function of (output, label)."""
    k = r.randrange(8)
    if k <= 2:
        smooth = r.choice([0.0, 0.0, 0.1])
        weight = [round(r.uniform(0.2, 2), 2) for _ in range(classes)] \
            if r.random() < 0.3 else None
        args = {}
        if smooth:
            args['label_smoothing'] = smooth
        if weight:
            args['weight'] = weight
        return ({'CrossEntropyLoss': args}, 'class', lambda y, l:
                F.cross_entropy(y, l, label_smoothing=smooth,
                                weight=weight and torch.tensor(
                                    weight, dtype=y.dtype)))
    if k == 3:
        return {'BCEWithLogitsLoss': {}}, 'part', \
            F.binary_cross_entropy_with_logits
    if k == 4:
        return {'MSELoss': {}}, 'real', F.mse_loss
    if k == 5:
        return {'L1Loss': {}}, 'real', F.l1_loss
    if k == 6:
        d = round(r.uniform(0.2, 2), 2)
        return {'HuberLoss': {'delta': d}}, 'real', lambda y, l: F.huber_loss(
            y, l, delta=d)
    b = round(r.uniform(0.2, 2), 2)
    return {'SmoothL1Loss': {'beta': b, 'reduction': 'mean'}}, 'real', \
        lambda y, l: F.smooth_l1_loss(y, l, beta=b)


def schedule_of(r, lr, updates):
    k = r.randrange(6)
    n = r.randint(1, updates + 3)
    if k == 0:
        return {'CosineDecayLR': {'min_lr': lr / 10, 'max_lr': lr,
                                  'decay_steps': n}}, lambda s: \
            lr / 10 + 0.45 * lr * (1 + math.cos(math.pi * min(s, n) / n))
    if k == 1:
        return {'ExponentialDecayLR': {'learning_rate': lr, 'decay_rate': 0.7,
                                       'decay_steps': n}}, \
            lambda s: lr * 0.7 ** (s / n)
    if k == 2:
        return {'PolynomialDecayLR': {
            'learning_rate': lr, 'end_learning_rate': lr / 5, 'decay_steps': n,
            'power': 2.0}}, lambda s: (lr - lr / 5) * (
                1 - min(s, n) / n) ** 2 + lr / 5
    if k == 3:
        return {'WarmUpLR': {'learning_rate': lr, 'warmup_steps': n}}, \
            lambda s: lr * min(s, n) / n
    return lr, lambda s: lr


class Optimizer:
    """MindSpore's rules, for a dict of parameters."""

    def __init__(self, r, updates, cells):
        self.slot = {}
        lr = 10 ** r.uniform(-3, -1)
        k = self.kind = r.choice(['SGD', 'SGD', 'Momentum', 'Adam', 'Adam',
                                  'AdamWeightDecay', 'RMSProp', 'Adagrad',
                                  'AdaMax', 'Adadelta', 'Lamb'])
        if k not in ('SGD', 'Momentum', 'Adadelta'):
            lr /= 10
        lr = float('%.3g' % lr)
        text, self.lr = schedule_of(r, lr, updates)
        a = self.a = {'learning_rate': text}
        self.wd = r.choice([0.0, 0.0, 0.01, 0.1])
        if self.wd:
            a['weight_decay'] = self.wd
        self.mom = r.choice([0.0, 0.5, 0.9])
        self.nesterov = False
        if k == 'SGD' and self.mom:
            a['momentum'] = self.mom
            self.nesterov = r.random() < 0.4
            self.damp = 0.0 if self.nesterov else r.choice([0.0, 0.3])
            if self.nesterov:
                a['nesterov'] = True
            elif self.damp:
                a['dampening'] = self.damp
        elif k == 'Momentum':
            a['momentum'] = self.mom
            self.nesterov = r.random() < 0.4
            if self.nesterov:
                a['use_nesterov'] = True
        elif k == 'RMSProp':
            a['momentum'] = self.mom
            self.centered = r.random() < 0.3
            if self.centered:
                a['centered'] = True
        self.group = None
        if r.random() < 0.25:
            some = r.sample(cells, r.randint(1, len(cells)))
            self.group = (some, float('%.3g' % (lr / 3)),
                          r.choice([0.0, 0.02]))
            a['group_params'] = [{
                'params': ['%s.*' % c for c in some],
                'learning_rate': self.group[1],
                'weight_decay': self.group[2]}]
        self.text = {k: a}

    def step(self, P, G, t):
        lr = self.lr(t - 1)
        for name, g in G.items():
            w = P[name]
            s = self.slot.setdefault(name, {})
            decays = 'beta' not in name and 'gamma' not in name
            rate = lr
            wd = self.wd if decays else 0
            if self.group and name.split('.')[0] in self.group[0]:
                rate, wd = self.group[1], self.group[2]
            if self.kind not in ('AdamWeightDecay', 'Lamb'):
                g = g + wd * w
            P[name] = self.rule(w, g, s, rate, t, wd)

    def rule(self, w, g, s, lr, t, wd):
        k = self.kind
        z = torch.zeros_like(w)
        if k == 'SGD':
            if not self.mom:
                return w - lr * g
            s['a'] = g if t == 1 else self.mom * s['a'] + (1 - self.damp) * g
            return w - lr * (g + self.mom * s['a'] if self.nesterov else s['a'])
        if k == 'Momentum':
            s['a'] = self.mom * s.get('a', z) + g
            return w - lr * (g + self.mom * s['a'] if self.nesterov else s['a'])
        if k in ('Adam', 'AdamWeightDecay'):
            s['m'] = 0.9 * s.get('m', z) + 0.1 * g
            s['v'] = 0.999 * s.get('v', z) + 0.001 * g * g
            if k == 'Adam':
                a = lr * math.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
                return w - a * s['m'] / (s['v'].sqrt() + 1e-8)
            return w - lr * (s['m'] / (s['v'].sqrt() + 1e-6) + wd * w)
        if k == 'Adadelta':
            s['s'] = 0.9 * s.get('s', z) + 0.1 * g * g
            a = s.get('a', z)
            u = g * (a + 1e-6).sqrt() / (s['s'] + 1e-6).sqrt()
            s['a'] = 0.9 * a + 0.1 * u * u
            return w - lr * u
        if k == 'Lamb':
            s['m'] = 0.9 * s.get('m', z) + 0.1 * g
            s['v'] = 0.999 * s.get('v', z) + 0.001 * g * g
            m, v = s['m'] / (1 - 0.9 ** t), s['v'] / (1 - 0.999 ** t)
            u = m / (v.sqrt() + 1e-6) + wd * w
            # MindSpore's epsilon is inside this root
            a = float(w.norm())
            b = float((m / (v + 1e-6).sqrt() + wd * w).norm())
            return w - lr * (min(a / b, 10) if a > 0 and b > 0 else 1) * u
        if k == 'AdaMax':
            s['m'] = 0.9 * s.get('m', z) + 0.1 * g
            s['v'] = torch.maximum(0.999 * s.get('v', z), g.abs())
            return w - lr / (1 - 0.9 ** t) * s['m'] / (s['v'] + 1e-8)
        if k == 'Adagrad':
            s['s'] = s.get('s', z + 0.1) + g * g
            return w - lr * g / (s['s'] + 1e-8).sqrt()
        s['s'] = 0.9 * s.get('s', z + 1) + 0.1 * g * g
        s['q'] = 0.9 * s.get('q', z) + 0.1 * g
        root = s['s'] + 1e-10
        if self.centered:
            root = root - s['q'] ** 2
        s['m'] = self.mom * s.get('m', z) + lr * g / root.sqrt()
        return w - s['m']


# ---- One case

class Case:
    def __init__(self, number):
        r = self.r = random.Random(number)
        rng = np.random.default_rng(number)
        net = self.net = Net(r)
        kind = r.choice(['vectors', 'images', 'images', 'sequences', 'tokens'])
        self.classes = r.randint(2, 6)
        self.loss_text, target, self.loss = loss_of(r, self.classes)
        if kind == 'vectors':
            shape = [r.randint(1, 24)]
            v, n = vectors(net, 'x', shape[0])
        elif kind == 'images':
            shape = [r.randint(1, 4), r.randint(3, 14), r.randint(3, 14)]
            v, n = images(net, 'x', shape)
        else:
            shape = [r.randint(2, 9), r.randint(1, 9)]
            v = 'x'
            if kind == 'tokens':
                m = net.cell('Embedding', vocab_size=7, embedding_size=shape[1])
                v = net.line('%s(x)' % m, lambda e, P, t, s: F.embedding(
                    e['x'], P[m + '.embedding_table']))
            v, n = sequences(net, v, *shape)
            shape = shape[:1] if kind == 'tokens' else shape
        dense(net, v, n, self.classes, True)
        self.tokens = kind == 'tokens'
        self.batch = r.randint(2, 12)
        self.data = {}
        for split in ('train', 'eval'):
            n = r.randint(4, 40)
            if n % self.batch == 1:
                n += 1
            all = [n] + shape
            x = rng.integers(0, 7, all).astype('<i4') if self.tokens \
                else rng.standard_normal(all).astype('<f4')
            y = rng.integers(0, self.classes, n).astype('<i4') \
                if target == 'class' else \
                rng.standard_normal((n, self.classes)).astype('<f4')
            if target == 'part':
                y = rng.random((n, self.classes)).astype('<f4')
            self.data[split] = (x, y)
        self.target = target
        self.micro = r.choice([1, 1, 1, 2, 3])
        self.updates = r.randint(1, 8)
        self.clip = r.choice([None, None, round(r.uniform(0.05, 2), 2)])
        cells = [c.split(':')[0].strip() for c in net.cells
                 if not any(c.split('{')[1].startswith(a + ':') for a in
                            [*ACTS, 'MaxPool2d', 'AvgPool2d',
                             'AdaptiveAvgPool2d'])
                 and '"affine": false' not in c]
        self.optim = Optimizer(r, self.updates, cells)
        self.ema = r.choice([0, 0, 0, 0.9])
        self.frozen = r.sample(cells, r.randint(1, max(1, len(cells) // 2))) \
            if r.random() < 0.3 else []
        self.rng = rng

    def config(self):
        lines = ['cellrun: 1', 'seed: 1', 'dataset:']
        for split in ('train', 'eval'):
            lines.append('  %s: {NumpySlicesDataset: {data: [%s-x.npy, %s-y.npy]'
                         ', column_names: [x, label], shuffle: false}}'
                         % (split, split, split))
        lines += ['datapipe: {batch: {batch_size: %d}}' % self.batch,
                  'network:', '  inputs: [x]', '  cells:', *self.net.cells,
                  '  construct: |', *self.net.lines,
                  '    return ' + self.net.run[-1][0],
                  'loss: ' + json.dumps(self.loss_text),
                  'optimizer: ' + json.dumps(self.optim.text),
                  'load: {ckpt: init.safetensors}',
                  'metrics: [%sloss]' % (
                      'accuracy, ' if self.target == 'class' else ''),
                  'checkpoint: {best: {metric: loss}}',
                  'eval: {use_ema: %s}' % ('true' if self.ema else 'false'),
                  'train: {steps: %d%s%s%s}' % (
                      self.updates,
                      ', ema: {decay: %g}' % self.ema if self.ema else '',
                      ', grad_accumulation: %d' % self.micro
                      if self.micro > 1 else '',
                      ', clip: {norm: %g}' % self.clip if self.clip else '')]
        if self.frozen:
            lines.append('freeze: {patterns: [%s]}' % ', '.join(
                '"%s.*"' % f for f in self.frozen))
        return '\n'.join(lines) + '\n'

    def torch(self, init, real):
        """Parameters after training; loss, accuracy and outputs of eval."""
        P = {n: torch.tensor(v, dtype=real) for n, v in init.items()}
        train = [n for n in P if not n.endswith(('moving_mean',
                                                 'moving_variance'))
                 and n.split('.')[0] not in self.frozen
                 and n not in self.net.fixed]
        batches = self.batches('train', real)
        self.optim.slot = {}
        E = dict(P)
        at = 0
        for t in range(1, self.updates + 1):
            G = {}
            for _ in range(self.micro):
                x, y = batches[at % len(batches)]
                at += 1
                Q = {n: v.clone().requires_grad_(n in train)
                     for n, v in P.items()}
                moved = {}
                loss = self.loss(self.net.forward({'x': x}, Q, True, moved), y)
                grads = torch.autograd.grad(loss, [Q[n] for n in train],
                                            allow_unused=True) \
                    if loss.requires_grad else [None] * len(train)
                for n, g in zip(train, grads):
                    g = torch.zeros_like(P[n]) if g is None else g
                    G[n] = G.get(n, 0) + g / self.micro
                P.update(moved)
            if self.clip and G:
                norm = math.sqrt(sum(float((g * g).sum()) for g in G.values()))
                G = {n: g * self.clip / max(norm, self.clip)
                     for n, g in G.items()}
            self.optim.step(P, G, t)
            d = self.ema * (1 - math.exp(-t / 2000))
            E = {n: d * E[n] + (1 - d) * P[n] for n in P}
        T = dict(P)
        if self.ema:
            T.update({'cellrun.ema.' + n: v for n, v in E.items()})
            P = E
        means, right, out = [], 0, []
        with torch.no_grad():
            for x, y in self.batches('eval', real):
                o = self.net.forward({'x': x}, P, False, {})
                means.append(float(self.loss(o, y)))
                out.append(o)
                if self.target == 'class':
                    right += int((o.argmax(1) == y).sum())
        return ({n: v.numpy() for n, v in T.items()}, float(np.mean(means)),
                right / len(self.data['eval'][0]), torch.cat(out))

    def batches(self, split, real):
        x, y = self.data[split]
        x = torch.tensor(x, dtype=torch.long if self.tokens else real)
        y = torch.tensor(y, dtype=torch.long if self.target == 'class'
                         else real)
        return list(zip(x.split(self.batch), y.split(self.batch)))


def tell(*args):
    p = subprocess.run([CELLRUN, *args], capture_output=True, text=True)
    if p.returncode != 0:
        raise RuntimeError('%s: status %d\n%s' % (' '.join(args[:2]),
                                                  p.returncode, p.stderr))
    return p.stdout


def off(ours, theirs):
    """Largest deviation as a part of the largest element."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if ours.shape != theirs.shape:
        return math.inf
    if not np.isfinite(theirs).all() or not np.isfinite(ours).all():
        return 0.0 if np.array_equal(np.isfinite(ours), np.isfinite(theirs)) \
            else math.inf
    if ours.size == 0:
        return 0.0
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-3))


def compare(case, got, want):
    """(name, deviation) of all that is compared."""
    P, loss, accuracy, out = want
    rows = [(n, off(got['params'][n], v)) for n, v in P.items()]
    rows.append(('eval loss', off(got['loss'], loss)))
    if 'probs' in got:
        rows.append(('probabilities', off(got['probs'],
                                          torch.softmax(out, 1).numpy())))
    if 'accuracy' in got:   # a tie of rounding may turn one
        two = torch.topk(out, 2, 1).values
        clear = bool(((two[:, 0] - two[:, 1]) > 1e-4).all())
        if clear:
            rows.append(('accuracy', abs(got['accuracy'] - accuracy)))
    return rows


def cellrun(case, params):
    for split, (x, y) in case.data.items():
        np.save(split + '-x.npy', x)
        np.save(split + '-y.npy', y)
    summary = json.loads(tell('summary', 'net.yaml', '--json'))
    init = {}
    for p in summary['params']:
        v = case.rng.standard_normal(p['shape']).astype('<f4')
        name = p['name']
        fan = int(np.prod(p['shape'][1:])) if len(p['shape']) > 1 else 4
        v /= math.sqrt(max(fan, 1))
        if name.endswith('gamma'):
            v += 1
        if name.endswith('moving_variance'):
            v = np.abs(v) + 0.5
        init[name] = v
    params.update(init)
    save_file(init, 'init.safetensors')
    tell('train', 'net.yaml', '-q', '-o', 'run')
    kept = load_file('run/ckpt/last.safetensors')
    got = {'params': kept}
    scores = json.loads(tell('eval', '--ckpt', 'run/ckpt/last.safetensors',
                             '--json'))
    got['loss'] = scores['loss']
    if case.target == 'class':
        got['accuracy'] = scores['accuracy']
        rows = [json.loads(l) for l in tell(
            'predict', '--ckpt', 'run/ckpt/last.safetensors', 'eval-x.npy',
            '--probs', '--json', '--batch',
            str(case.batch if any('"use_batch_statistics": true' in c
                                  for c in case.net.cells)
                else case.r.randint(1, 9))).splitlines()]
        got['probs'] = [row['probs'] for row in rows]
    return got


def one(number):
    """'same' or what differs, 'rounding: ' in front where PyTorch in float32
    differs as well; the largest deviation."""
    case = Case(number)
    with open('net.yaml', 'w') as f:
        f.write(case.config())
    init = {}
    try:
        got = cellrun(case, init)
    except (RuntimeError, KeyError) as e:
        try:    # a loss that is not finite is right where PyTorch's is not
            if 'E0401' in str(e) and not math.isfinite(
                    case.torch(init, torch.float32)[1]):
                return 'same', 0.0
        except Exception:
            pass
        return 'cellrun: %s' % e, math.inf
    rows = compare(case, got, case.torch(init, torch.float64))
    worst = max(d for _, d in rows)
    if worst <= NEAR:
        return 'same', worst
    truth = case.torch(init, torch.float64)
    least = 0.0
    for _ in range(5):
        near = {n: v * (1 + case.rng.uniform(-1, 1, v.shape) * 2.0 ** -23)
                for n, v in init.items()}
        half = case.torch(near, torch.float32)
        least = max([least, off(half[1], truth[1]),
                     off(torch.softmax(half[3], 1).numpy(),
                         torch.softmax(truth[3], 1).numpy())] +
                    [off(half[0][n], v) for n, v in truth[0].items()])
    rounding = 'rounding: ' if worst <= 20 * least else ''
    return rounding + ', '.join('%s off by %.2g' % row for row in sorted(
        rows, key=lambda row: -row[1])[:4] if row[1] > NEAR) + \
        ' (PyTorch in float32: %.2g)' % least, worst


def main():
    count = int(os.environ.get('N', 200))
    first = int(os.environ.get('SEED', 1))
    for name in ('CELLRUN_SET', 'CELLRUN_DATA', 'CELLRUN_RUNS'):
        os.environ.pop(name, None)
    os.environ['CELLRUN_THREADS'] = '1'
    failed = rounding = 0
    largest = 0.0
    for i in range(first, first + count):
        here = tempfile.mkdtemp(prefix='peer')
        os.chdir(here)
        what, worst = one(i)
        os.chdir('/')
        if what == 'same':
            largest = max(largest, worst)
        elif what.startswith('rounding'):
            rounding += 1
            print('# network %d: %s' % (i, what), flush=True)
        else:
            failed += 1
            to = os.path.join(KEEP, 'failed-%d' % i)
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(here, to)
            print('network %d: %s' % (i, what), flush=True)
        shutil.rmtree(here)
        if (i - first) % 100 == 99:
            print('# %d networks, %d differ' % (i - first + 1, failed),
                  flush=True)
    print('%d networks: %d differ, %d to float32\'s own rounding, the others '
          'at most %.2g' % (count, failed, rounding, largest))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
