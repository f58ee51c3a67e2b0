#!/usr/bin/env python3
"""PyTorch's values and gradients for cellrun's ops (PyTorch 2.15.0, CPU, double
precision), into tests/cases/ops/torch/NAME.yaml.

    python3 -m venv /somewhere
    /somewhere/bin/pip install torch==2.15.0 numpy
    /somewhere/bin/python tests/golden/make_ops.py [NAME ...]

A case is (options, inputs, function). Inputs are shapes, whose values are drawn
with three decimals, or tensors; the function gets them and gives a tensor or
a tuple of them. Integer and bool tensors get no gradient.
"""
import os
import sys

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
HERE = os.path.dirname(os.path.abspath(__file__))
INTO = os.path.join(HERE, '..', 'cases', 'ops', 'torch')
CASES = {}


def case(name, opts, inputs, f, **also):
    CASES.setdefault(name, []).append((opts, inputs, f, also))


def pos(*shape):
    """A shape whose values are to be positive."""
    return ('pos', shape)


def ints(low, high, *shape):
    return ('ints', low, high, shape)


def bools(*shape):
    return ('bools', shape)


def of(values, dtype=None):
    return torch.tensor(values, dtype=dtype)


def draw(rng, spec):
    if isinstance(spec, torch.Tensor):
        return spec.clone()
    if spec[:1] == ('pos',):
        return torch.tensor(np.round(rng.uniform(0.1, 2, spec[1]), 3))
    if spec[:1] == ('ints',):
        return torch.tensor(rng.integers(spec[1], spec[2], spec[3]),
                            dtype=torch.int32)
    if spec[:1] == ('bools',):
        return torch.tensor(rng.integers(0, 2, spec[1]).astype(bool))
    return torch.tensor(np.round(rng.uniform(-2, 2, spec), 3))


def number(v):
    if isinstance(v, bool):
        return str(int(v))
    if isinstance(v, int):
        return str(v)
    return {'nan': 'nan', 'inf': 'inf', '-inf': '-inf'}.get(repr(v), repr(v))


def show(t):
    if t is None:
        return 'null'
    kind = {torch.bool: ', type: bool', torch.int32: ', type: int32',
            torch.int64: ', type: int32'}.get(t.dtype, '')
    return '{shape: %s%s, values: [%s]}' % (
        list(t.shape), kind,
        ', '.join(number(v) for v in t.detach().reshape(-1).tolist()))


def write(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    lines = ['# Made by tests/golden/make_ops.py with PyTorch %s.'
             % torch.__version__.split('+')[0]]
    for at, (opts, inputs, f, also) in enumerate(CASES[name]):
        x = [draw(rng, i) for i in inputs]
        for t in x:
            if t.dtype == torch.float64:
                t.requires_grad_()
        y = f(*x)
        y = list(y) if isinstance(y, (tuple, list)) else [y]
        dy = [torch.tensor(np.round(rng.uniform(-1, 1, tuple(t.shape)), 3))
              if t.requires_grad else None for t in y]
        lines.append('- name: "%d: %s"' % (at + 1, opts or 'as it is'))
        if opts:
            lines.append('  opts: {%s}' % opts)
        lines.append('  in:')
        lines += ['    - ' + show(t) for t in x]
        lines.append('  out:')
        lines += ['    - ' + show(t) for t in y]
        if any(t is not None for t in dy):
            torch.autograd.backward([t for t in y if t.requires_grad],
                                    [t for t in dy if t is not None])
            lines.append('  dy:')
            lines += ['    - ' + show(t) for t in dy]
            lines.append('  dx:')
            lines += ['    - ' + show(t.grad if t.dtype == torch.float64
                                      else None) for t in x]
        lines.append('  gradient: false')
        for key, value in also.items():
            lines.append('  %s: %s' % (key, value))
    os.makedirs(INTO, exist_ok=True)
    with open(os.path.join(INTO, name + '.yaml'), 'w') as out:
        out.write('\n'.join(lines) + '\n')


# ---- one operand

for op, f in (('abs', torch.abs), ('exp', torch.exp), ('sin', torch.sin),
              ('cos', torch.cos), ('erf', torch.erf), ('neg', torch.neg),
              ('square', torch.square)):
    case(op, '', [(3, 7)], f)
for op in 'log', 'log1p', 'sqrt', 'rsqrt':
    case(op, '', [pos(3, 7)], getattr(torch, op))
for op in 'floor', 'ceil', 'round', 'sign':
    case(op, '', [(3, 7)], lambda x, f=getattr(torch, op): f(x.detach()))
case('round', '', [of([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])],
     lambda x: torch.round(x.detach()))
case('clamp', 'min: -0.5, max: 1', [(3, 7)],
     lambda x: torch.clamp(x, -0.5, 1))
case('clamp', 'max: 0.25', [(2, 1, 5)], lambda x: torch.clamp(x, max=0.25))

# ---- two operands, broadcast

PAIRS = [[(3, 5), (3, 5)], [(2, 3, 5), (5,)], [(2, 3, 5), (3, 1)],
         [(3, 1), (1, 5)], [(2, 3, 4), ()], [(), (4, 3)],
         [(2, 1, 3, 1), (4, 1, 5)], [(1, 3, 2, 2), (2, 3, 1, 1)]]
for op, f in (('add', torch.add), ('sub', torch.sub), ('mul', torch.mul),
              ('maximum', torch.maximum), ('minimum', torch.minimum)):
    for pair in PAIRS:
        case(op, '', pair, f)
    case(op, '', [(3, 5), ints(-3, 4, 5)], lambda a, b, f=f: f(a, b.double()))
    case(op, '', [ints(-3, 4, 2, 3), ints(-3, 4, 3)], f)
for pair in PAIRS:
    case('div', '', [pair[0], pos(*pair[1])], torch.div)
    case('mod', '', [pair[0], pos(*pair[1])], torch.remainder)
    case('pow', '', [pos(*pair[0]), pair[1]], torch.pow)
case('div', '', [ints(-3, 4, 2, 3), ints(1, 4, 3)],
     lambda a, b: a.double() / b.double())
case('mod', '', [ints(-9, 9, 2, 5), of([-3, 4, -5, 2, 7], torch.int32)],
     torch.remainder)
case('pow', '', [(3, 5), of(2.0)], torch.pow)
case('pow', '', [pos(3, 5), of(0.5)], torch.pow)
case('pow', '', [(3, 5), of(3.0)], torch.pow)
case('pow', '', [ints(-3, 4, 2, 3), of([0, 1, 5], torch.int32)], torch.pow)
case('floor_div', '', [(3, 5), pos(5)],
     lambda a, b: torch.floor(a.detach() / b.detach()))
case('floor_div', '', [ints(-9, 9, 2, 5), of([-3, 4, -5, 2, 7], torch.int32)],
     lambda a, b: torch.div(a, b, rounding_mode='floor').int())
for op, f in (('equal', torch.eq), ('not_equal', torch.ne), ('less', torch.lt),
              ('less_equal', torch.le), ('greater', torch.gt),
              ('greater_equal', torch.ge)):
    case(op, '', [of([[1., 2., 3.], [3., 2., 1.]]), of([1., 2., 2.])], f)
    case(op, '', [ints(0, 3, 3, 4), ints(0, 3, 3, 1)], f)
    case(op, '', [of([float('nan'), 1, float('inf')]), of(1.0)], f)
for op in 'logical_and', 'logical_or':
    case(op, '', [bools(3, 4), bools(4)], getattr(torch, op))
    case(op, '', [of([0., -1., 0., .5]), of([0, 0, 3, 1], torch.int32)],
         getattr(torch, op))
case('logical_not', '', [bools(3, 4)], torch.logical_not)
case('where', '', [bools(3, 5), (3, 5), (3, 5)], torch.where)
case('where', '', [bools(3, 1), (2, 1, 5), ()], torch.where)
case('where', '', [bools(5), (3, 1), (1, 5)], torch.where)
case('where', '', [bools(2, 3), ints(0, 9, 2, 3), ints(0, 9, 3)], torch.where)

# ---- along axes

AXES = [(None, '', [(3, 4)]), ([0], 'axis: 0', [(3, 7)]),
        ([1], 'axis: -1', [(3, 7)]), ([1], 'axis: 1', [(2, 5, 3)]),
        ([0, 2], 'axis: [0, -1]', [(2, 5, 3)]),
        ([0, 2, 3], 'axis: [0, 2, 3], keepdims: true', [(3, 4, 2, 5)]),
        ([1, 2], 'axis: [2, 1]', [(3, 4, 2, 5)]),
        ([0], 'axis: [0], keepdims: true', [(1, 6)])]


def over(f, axis, keep):
    """Several axes one by one, from the last."""
    def run(x):
        for a in sorted(range(x.dim()) if axis is None else axis,
                        reverse=True):
            x = f(x, a)
            x = x.unsqueeze(a) if keep else x
        return x
    return run


for axis, opts, inputs in AXES:
    keep = 'keepdims' in opts
    dims = tuple(range(len(inputs[0]))) if axis is None else tuple(axis)
    case('sum', opts, inputs, lambda x, d=dims, k=keep: x.sum(d, k))
    case('mean', opts, inputs, lambda x, d=dims, k=keep: x.mean(d, k))
    case('max', opts, inputs, lambda x, d=dims, k=keep: x.amax(d, k))
    case('min', opts, inputs, lambda x, d=dims, k=keep: x.amin(d, k))
    case('prod', opts, inputs,
         over(lambda x, a: x.prod(a), axis, keep))
    case('logsumexp', opts, inputs,
         lambda x, d=dims, k=keep: x.logsumexp(d, k))
    for p, text in ((2, ''), (1, 'ord: 1'), (3, 'ord: 3'),
                    (float('inf'), 'ord: inf'), (0.5, 'ord: 0.5')):
        case('norm', ', '.join(t for t in (text, opts) if t), inputs,
             lambda x, p=p, d=dims, k=keep:
             torch.linalg.vector_norm(x, p, d, k))
    for op, f in (('all', torch.all), ('any', torch.any)):
        case(op, opts, [bools(*inputs[0])], over(f, axis, keep))
TIES = of([[1., 3., 3.], [2., 2., 2.], [5., 0., 5.]])
for op, f in (('max', torch.amax), ('min', torch.amin)):
    case(op, 'axis: 1', [TIES], lambda x, f=f: f(x * 1, 1))
    case(op, '', [TIES], lambda x, f=f: f(x * 1, (0, 1)))
    case(op, 'axis: 0', [ints(-9, 9, 4, 3)], lambda x, f=f: f(x, 0))
case('prod', 'axis: 1', [of([[2., 0., 3.], [0., 4., 0.], [1., -2., 5.]])],
     lambda x: x.prod(1))
case('prod', '', [ints(-4, 5, 2, 3)], lambda x: x.prod().int())
case('sum', 'axis: 0', [ints(-9, 9, 4, 3)], lambda x: x.sum(0).int())
case('sum', '', [bools(4, 3)], lambda x: x.sum().int())
case('mean', 'axis: 1', [bools(4, 3)], lambda x: x.double().mean(1))
for opts, axis, keep in (('', None, False), ('axis: 0', 0, False),
                         ('axis: -2', 1, False),
                         ('axis: 2, keepdims: true', 2, True)):
    case('argmax', opts, [(2, 3, 5)],
         lambda x, a=axis, k=keep: x.argmax(a, k))

# ---- shape

for op, opts, inputs, f in (
        ('reshape', 'shape: [3, -1]', [(2, 3, 5)], lambda x: x.reshape(3, -1)),
        ('squeeze', '', [(1, 3, 1, 2)], torch.squeeze),
        ('squeeze', 'axis: -2', [(1, 3, 1, 2)], lambda x: x.squeeze(2)),
        ('expand_dims', 'axis: 1', [(3, 2)], lambda x: x.unsqueeze(1)),
        ('expand_dims', 'axis: -1', [(3, 2)], lambda x: x.unsqueeze(-1)),
        ('transpose', 'input_perm: [0, 2, 1]', [(2, 3, 5)],
         lambda x: x.permute(0, 2, 1)),
        ('transpose', 'input_perm: [0, 2, 1, 3]', [(2, 3, 5, 4)],
         lambda x: x.permute(0, 2, 1, 3)),
        ('transpose', 'input_perm: [2, 0, -3, 3]', [(2, 3, 5, 1)],
         lambda x: x.permute(2, 0, 1, 3)),
        ('transpose', '', [(2, 3, 5)], lambda x: x.permute(2, 1, 0)),
        ('strided_slice', 'begin: [0, 1], end: [3, 4]', [(3, 5, 2)],
         lambda x: x[0:3, 1:4]),
        ('strided_slice', 'begin: [1], end: [5], step: [2]', [(5, 3)],
         lambda x: x[1:5:2]),
        ('strided_slice', 'begin: [0, -3], end: [2, -1]', [(2, 5)],
         lambda x: x[:, -3:-1]),
        ('strided_slice', 'begin: [-1, 4], end: [-9, 0], step: [-1, -3]',
         [(3, 5)], lambda x: x.flip(0)[:, [4, 1]]),
        ('concat', 'axis: 1', [(2, 3, 2), (2, 1, 2), (2, 4, 2)],
         lambda *x: torch.cat(x, 1)),
        ('concat', '', [(2, 3), (1, 3)], lambda *x: torch.cat(x, 0)),
        ('concat', 'axis: -1', [(2, 3)], lambda *x: torch.cat(x, 1)),
        ('stack', '', [(2, 3), (2, 3), (2, 3)], lambda *x: torch.stack(x, 0)),
        ('stack', 'axis: -1', [(2, 3), (2, 3)], lambda *x: torch.stack(x, -1)),
        ('stack', 'axis: 1', [(2, 3), (2, 3)], lambda *x: torch.stack(x, 1)),
        ('split', 'size: 2', [(5, 3)],
         lambda x: torch.split(x, 2)),
        ('split', 'size: 2, axis: 1', [(3, 6)],
         lambda x: torch.split(x, 2, 1)),
        ('split', 'size: [1, 3, 2], axis: -1', [(2, 6)],
         lambda x: torch.split(x, [1, 3, 2], 1)),
        ('tile', 'dims: [2, 3]', [(3, 2)], lambda x: torch.tile(x, (2, 3))),
        ('tile', 'dims: [2, 1, 2]', [(3, 2)],
         lambda x: torch.tile(x, (2, 1, 2))),
        ('tile', 'dims: 2', [(3, 2, 2)], lambda x: torch.tile(x, (2,))),
        ('broadcast_to', 'shape: [2, 3, 4]', [(3, 1)],
         lambda x: x.broadcast_to(2, 3, 4)),
        ('broadcast_to', 'shape: [4, -1, 2]', [(1, 3, 1)],
         lambda x: x.broadcast_to(4, 3, 2)),
        ('pad', 'padding: [1, 2]', [(2, 3)],
         lambda x: torch.nn.functional.pad(x, (1, 2))),
        ('pad', 'padding: [0, 1, 2, 0], value: -1.5', [(2, 1, 2, 3)],
         lambda x: torch.nn.functional.pad(x, (0, 1, 2, 0), value=-1.5))):
    case(op, opts, inputs, f)

for mode in 'reflect', 'replicate', 'circular':
    for padding, shape in (((1, 2), (2, 3, 4)), ((2, 1, 0, 2), (2, 2, 3, 4))):
        case('pad', 'padding: %s, mode: %s' % (list(padding), mode), [shape],
             lambda x, p=padding, m=mode:
             torch.nn.functional.pad(x, p, mode=m))

# ---- order, indices, softmax

for op, opts, inputs, f in (
        ('log_softmax', '', [(3, 5)], lambda x: x.log_softmax(-1)),
        ('log_softmax', 'axis: 1', [(2, 4, 3)], lambda x: x.log_softmax(1)),
        ('cumsum', 'axis: 0', [(4, 3)], lambda x: x.cumsum(0)),
        ('cumsum', 'axis: -2', [(2, 4, 3)], lambda x: x.cumsum(1)),
        ('sort', '', [(3, 7)], lambda x: x.sort(dim=-1, stable=True)),
        ('sort', 'axis: 0, descending: true', [(5, 2)],
         lambda x: x.sort(dim=0, descending=True, stable=True)),
        ('sort', 'axis: 1', [(2, 9, 2)], lambda x: x.sort(dim=1, stable=True)),
        ('topk', 'k: 3', [(3, 7)], lambda x: x.topk(3)),
        ('topk', 'k: 2, dim: 0, largest: false', [(5, 3)],
         lambda x: x.topk(2, 0, largest=False)),
        ('topk', 'k: 1, dim: 1', [(2, 4, 3)], lambda x: x.topk(1, 1)),
        ('gather', '', [(5, 3), ints(0, 5, 4)],
         lambda x, i: x[i.long()]),
        ('gather', 'axis: 1', [(2, 4, 3), ints(-4, 4, 3, 2)],
         lambda x, i: x[:, i.long()]),
        ('gather', 'axis: -1', [(3, 6), ints(0, 6, 9)],
         lambda x, i: x[:, i.long()]),
        ('gather', 'axis: 1', [(3, 6), of(2, torch.int32)],
         lambda x, i: x[:, 2]),
        ('one_hot', 'depth: 4', [ints(0, 4, 5)],
         lambda i: torch.nn.functional.one_hot(i.long(), 4).double()),
        ('one_hot', 'depth: 3, axis: 1', [ints(0, 3, 2, 4)],
         lambda i: torch.nn.functional.one_hot(i.long(), 3).double()
         .movedim(-1, 1))):
    case(op, opts, inputs, f)
case('masked_mean', 'axis: 1', [(3, 4, 2), bools(3, 4)],
     lambda x, m: torch.where(
         m.any(1)[:, None],
         (x * m[..., None]).sum(1) / m.sum(1).clamp(min=1)[:, None], 0))
case('masked_mean', '', [(3, 4), bools(3, 4)], lambda x, m: x[m].mean())
case('masked_mean', 'axis: [0, 2], keepdims: true',
     [(3, 4, 2), bools(3, 1, 1)],
     lambda x, m: x[m[:, 0, 0]].mean((0, 2), True))
case('top_fraction', 'fraction: 0.7', [(9,)], lambda x: x.topk(6)[0])
case('top_fraction', 'fraction: 0.3', [(2, 3, 2)],
     lambda x: x.reshape(-1).topk(3)[0])
case('top_fraction', 'fraction: 0.5', [(3, 4), bools(3, 4)],
     lambda x, m: x[m].topk(int(0.5 * int(m.sum())))[0].mean())

# ---- products

for a, b in (((3, 5), (5, 2)), ((2, 3, 5), (5, 4)), ((2, 3, 5), (2, 5, 4)),
             ((4, 1, 3, 5), (2, 5, 3)), ((3, 5), (4, 5, 2)), ((5,), (5,)),
             ((5,), (2, 5, 3)), ((2, 3, 5), (5,)), ((1, 1, 7), (1, 7, 1)),
             ((2, 3, 2, 9, 4), (3, 1, 4, 9))):
    case('matmul', '', [a, b], torch.matmul, tolerance='1e-5')

# ---- extremes: where logarithms, roots and quotients have no end

INF = float('inf')
FAR = [[-90., 0., 57.], [300., -300., 0.], [0., 0., 0.], [-1e4, 1e4, 3.]]
SHARES = [[.2, .3, .5], [0., 1., 0.], [1., 0., 0.], [.25, .5, .25]]
for f in 'mean', 'sum', 'none':
    case('cross_entropy', 'reduction: ' + f, [of(FAR), of(SHARES)],
         lambda x, y, f=f: torch.nn.functional.cross_entropy(
             x, y, reduction=f))
    case('cross_entropy', 'reduction: %s, label_smoothing: 0.1, '
         'weight: [1.0, 2.0, 0.5]' % f, [of(FAR), of(SHARES)],
         lambda x, y, f=f: torch.nn.functional.cross_entropy(
             x, y, of([1., 2., .5]), reduction=f, label_smoothing=.1))
    case('cross_entropy', 'reduction: ' + f,
         [of(FAR), of([0, 1, 2, 0], torch.int32)],
         lambda x, t, f=f: torch.nn.functional.cross_entropy(
             x, t.long(), reduction=f))
case('cross_entropy', 'axis: 1, reduction: sum',
     [of([FAR, FAR]).transpose(1, 2), of([SHARES, SHARES]).transpose(1, 2)],
     lambda x, y: torch.nn.functional.cross_entropy(x, y, reduction='sum'))
case('log', '', [of([0., 1e-30, 1e30, INF])], torch.log)
case('log1p', '', [of([-1., 1e-30, 1e30, INF])], torch.log1p)
case('sqrt', '', [of([0., 1e-30, 1e30, INF])], torch.sqrt)
case('rsqrt', '', [of([1e-20, 1e20, INF])], torch.rsqrt)
case('exp', '', [of([-200., -INF, 80.])], torch.exp)
case('sigmoid', '', [of([-200., 200., -INF, INF, -30., 30.])], torch.sigmoid)
case('tanh', '', [of([-200., 200., -INF, INF, -9., 9.])], torch.tanh)
case('div', '', [of([1., -1., 0., 1e20, 1.]), of([0., 0., 2., 1e-10, INF])],
     torch.div)
case('pow', '', [of([0., 0., 0., 1e10, 2.]), of([2., 1., 0., -2., 100.])],
     torch.pow)
for axis in '', 'axis: 1':
    case('log_softmax', 'axis: 1', [of(FAR)], lambda x: x.log_softmax(1))
    case('softmax', 'axis: 1', [of(FAR)], lambda x: x.softmax(1))
    case('logsumexp', axis, [of(FAR)],
         lambda x, a=axis: x.logsumexp(1 if a else (0, 1)))
    for p, text in ((2, ''), (1, 'ord: 1'), (3, 'ord: 3'), (INF, 'ord: inf')):
        case('norm', ', '.join(t for t in (text, axis) if t),
             [of([[0., 0., 0.], [3., 0., -4.], [1e12, -1e12, 0.]])],
             lambda x, p=p, a=axis:
             torch.linalg.vector_norm(x, p, 1 if a else (0, 1)))
case('logsumexp', 'axis: 1', [of([[-INF, 1., 2.], [-INF, -INF, 0.]])],
     lambda x: x.logsumexp(1))
case('prod', 'axis: 1', [of([[0., 0., 3.], [0., 1e20, 1e10]])],
     lambda x: x.prod(1))

if __name__ == '__main__':
    for leaf in sys.argv[1:] or sorted(CASES):
        write(leaf)
