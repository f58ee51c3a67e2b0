#!/usr/bin/env python3
"""Golden vectors of gradients: with respect to inputs, without a loss, with a
given incoming gradient, of losses with more results, and second derivatives.

Run with MindSpore 2.10.0 (as make_mindspore.py) it writes ms/grad_*, run with
PyTorch 2.15.0 (as make_torch.py) pt/grad_*, in double precision. Arguments
name the cases to make, all without.

A case is a config and the same network as a function of `o` (the functions of
both frameworks under one name), its parameters `p` and its columns. grad is
MindSpore's ms.grad: of the sum of what a function returns, by the argument at
a position."""

import pathlib
import sys
import zlib

import numpy as np
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent
CASES = {}


class Torch:
    folder = 'pt'

    def __init__(self):
        import torch
        self.t = torch
        self.f = torch.nn.functional
        torch.set_default_dtype(torch.float64)

    def tensor(self, a):
        return self.t.from_numpy(a).to(
            self.t.float64 if a.dtype == np.float32 else self.t.int64)

    def numpy(self, a):
        return a.detach().numpy()

    def grad(self, fn, at=0, sens=None):
        def run(*args):
            args = list(args)
            if not args[at].requires_grad:
                args[at] = args[at].detach().requires_grad_()
            y = fn(*args)
            ys = y if isinstance(y, tuple) else (y,)
            s = (sens if isinstance(sens, tuple) else (sens,)) if (
                sens is not None) else [self.t.ones_like(v) for v in ys]
            total = sum((a * b).sum() for a, b in zip(ys, s))
            g = self.t.autograd.grad(total, args[at], create_graph=True,
                                     allow_unused=True)[0]
            return self.t.zeros_like(args[at]) if g is None else g
        return run

    def grad_aux(self, fn, at, joint):
        """Of a loss that returns more: of all that it returns, or not."""
        if joint:
            return self.grad(fn, at)
        return self.grad(lambda *a: fn(*a)[0], at)

    def __getattr__(self, name):
        return getattr(self.t, name, None) or getattr(self.f, name)


class MindSpore:
    folder = 'ms'

    def __init__(self):
        import os
        os.environ.setdefault('GLOG_v', '3')
        import mindspore as ms
        ms.set_device('CPU')
        ms.set_context(mode=ms.PYNATIVE_MODE)
        self.ms = ms

    def tensor(self, a):
        return self.ms.Tensor(a)

    def numpy(self, a):
        return a.asnumpy()

    def grad(self, fn, at=0, sens=None):
        if sens is None:
            return self.ms.grad(fn, grad_position=at)
        op = self.ms.ops.GradOperation(get_all=True, sens_param=True)
        return lambda *a: op(fn)(*a, sens)[at]

    def grad_aux(self, fn, at, joint):
        if joint:
            op = self.ms.value_and_grad(fn, at)
        else:
            op = self.ms.value_and_grad(fn, at, has_aux=True)
        return lambda *a: op(*a)[1]

    def __getattr__(self, name):
        return getattr(self.ms.ops, name)


def case(name, config, fn, columns, params=None, cmd='', lr=None, steps=0,
         sens=(), libs='ms pt', near='--rtol 1e-5 --atol 1e-6', loss=True,
         aux=(), joint=False):
    """fn(o, p, *columns): the loss, or the results where `loss` is false; with
    `aux`, names, a tuple of the loss and these, all of them differentiated if
    `joint`. columns: name to shape, or to an array; params: name to shape."""
    CASES[name] = dict(name=name, config=config, fn=fn, columns=columns,
                       params=params or {}, steps=steps, lr=lr, sens=sens,
                       libs=libs, loss=loss, aux=aux, joint=joint,
                       cmd=' '.join(filter(None, [
                           '--grad', cmd, '--step=%d' % steps if steps else '',
                           near])))


def draw(c, what, shape):
    if not isinstance(shape, tuple):
        return np.array(shape)
    r = np.random.RandomState(zlib.crc32((c['name'] + what).encode()))
    return r.uniform(-0.9, 0.9, shape).astype(np.float32)


def run(o, c):
    data = {n: draw(c, n, s) for n, s in c['columns'].items()}
    start = {n: draw(c, n, s) for n, s in c['params'].items()}
    sens = [draw(c, 'sens%d' % i, s) for i, s in enumerate(c['sens'])]
    names, n = list(data) + list(start), len(data)
    wrt = [i for i, k in enumerate(names)
           if i >= n or data[k].dtype == np.float32]

    def forward(*a):
        return c['fn'](o, dict(zip(names[n:], a[n:])), *a[:n])

    value, ref = dict(start), {}
    if o.folder == 'ms' and c['name'] in graphs():
        o.ms.set_context(mode=o.ms.GRAPH_MODE)
        plain = graphs()[c['name']]

        def forward(*a):
            return plain(*a)
    for _ in range(max(c['steps'], 1)):
        args = [o.tensor(v) for v in list(data.values()) + list(value.values())]
        ts = tuple(o.tensor(s) for s in sens)
        given = (ts if len(ts) > 1 else ts[0]) if ts else None
        grads = {names[i]: o.numpy(
            (o.grad_aux(forward, i, c['joint']) if c['aux'] else
             o.grad(forward, i, given))(*args)) for i in wrt}
        y = forward(*args)
        if c['aux']:
            ref.update({'loss.' + k: o.numpy(v)
                        for k, v in zip(c['aux'], y[1:])})
            y = y[0]
        if c['loss']:
            ref['loss'] = o.numpy(y)
        else:
            many = isinstance(y, tuple)
            for i, v in enumerate(y if many else (y,)):
                ref['output#.%d' % i if many else 'output'] = o.numpy(v)
        ref.update({'grad.' + k: g for k, g in grads.items()})
        if c['steps']:
            value = {k: (v - c['lr'] * grads[k]).astype(
                np.float32 if o.folder == 'ms' else np.float64)
                for k, v in value.items()}
            if o.folder == 'pt':
                o.tensor = lambda a: o.t.from_numpy(np.array(a)).to(
                    o.t.int64 if a.dtype.kind == 'i' else o.t.float64)
    if c['steps']:
        ref.update({'param.' + k: v for k, v in value.items()})
    return data, start, sens, ref


def write(o, c):
    folder = HERE / o.folder / c['name']
    folder.mkdir(parents=True, exist_ok=True)
    data, start, sens, ref = run(o, c)
    for k, v in data.items():
        np.save(folder / (k + '.npy'), v)
    for i, v in enumerate(sens):
        np.save(folder / ('sens%d.npy' % i), v)
    given = ['--sens %s@sens%d.npy' % ('%d=' % i if len(sens) > 1 else '', i)
             for i in range(len(sens))]
    optimizer = 'optimizer: {SGD: {learning_rate: %r}}\n' % c['lr']
    (folder / 'config.yaml').write_text(c['config'] +
                                        optimizer * (c['steps'] > 0))
    (folder / 'cmd').write_text(' '.join([c['cmd']] + given) + '\n')
    if start:
        save_file(start, folder / 'weights.safetensors')
    save_file({n: np.array(a, np.float32, order='C') for n, a in ref.items()},
              folder / 'ref.safetensors')
    if c['name'] == 'grad_equation':  # compared with the end of a run, too
        save_file({n[6:]: np.array(a, np.float32, order='C')
                   for n, a in ref.items() if n.startswith('param.')},
                  folder / 'end.safetensors')
    for file in folder.glob('*.safetensors'):
        file.chmod(0o644)


# ---- Inputs, and results without a loss (GradOperation)
MLP = '''network:
  cells: {a: {Dense: [6, 5]}, b: {Dense: [5, 4]}}
  construct: |
    h = tanh(a(x))
    return %s
'''
MLP_PARAMS = {'a.weight': (5, 6), 'a.bias': (5,), 'b.weight': (4, 5),
              'b.bias': (4,)}


def dense(o, p, name, x):
    return o.matmul(x, p[name + '.weight'].T) + p[name + '.bias']


def hidden(o, p, x):
    return o.tanh(dense(o, p, 'a', x))


def mlp(o, p, x):
    return dense(o, p, 'b', hidden(o, p, x))


def mse(o, y, label):
    return ((y - label) ** 2).mean()


case('grad_input', MLP % 'b(h)' + 'loss: MSELoss\n',
     lambda o, p, x, label: mse(o, mlp(o, p, x), label),
     {'x': (7, 6), 'label': (7, 4)}, MLP_PARAMS)
case('grad_results', MLP % 'b(h)', mlp, {'x': (7, 6)}, MLP_PARAMS, loss=False)
case('grad_results_eval', MLP % 'b(h)', mlp, {'x': (7, 6)}, MLP_PARAMS,
     loss=False, cmd='--eval')
case('grad_results_sens', MLP % 'b(h)', mlp, {'x': (7, 6)}, MLP_PARAMS,
     loss=False, sens=[(7, 4)])
case('grad_results_loss', MLP % 'b(h)' + 'loss: MSELoss\n', mlp,
     {'x': (7, 6)}, MLP_PARAMS, loss=False, cmd='--predict')
case('grad_results_two', MLP % 'b(h), h',
     lambda o, p, x: (mlp(o, p, x), hidden(o, p, x)), {'x': (7, 6)},
     MLP_PARAMS, loss=False)
case('grad_results_two_sens', MLP % 'b(h), h',
     lambda o, p, x: (mlp(o, p, x), hidden(o, p, x)), {'x': (7, 6)},
     MLP_PARAMS, loss=False, sens=[(7, 4), (7, 5)])


# ---- Functions of any number of tensors: def construct(self, *args)
REST = """blocks:
  Sum:
    inputs: [first, "*args"]
    construct: |
      total = first
      for i, a in enumerate(args):
        total = total + a * (i + 2)
      return total / (len(args) + 1)
network:
  inputs: ["*inputs"]
  cells: {a: {Dense: [6, 5]}, b: {Dense: [5, 4]}, sum: Sum}
  construct: |
    h = tanh(a(sum(inputs[-1], *inputs)))
    return b(sum(h)), h
loss:
  inputs: [y, "*others"]
  construct: |
    h, label = others
    return mean((y - label) ** 2) + mean(h * h)
"""


def weighted(first, *args):
    total = first
    for i, a in enumerate(args):
        total = total + a * (i + 2)
    return total / (len(args) + 1)


def rest(o, p, *inputs):
    *inputs, label = inputs
    h = o.tanh(dense(o, p, 'a', weighted(inputs[-1], *inputs)))
    y = dense(o, p, 'b', weighted(h))
    return ((y - label) ** 2).mean() + (h * h).mean()


case('grad_rest', REST, rest,
     {'left': (7, 6), 'mid': (7, 6), 'right': (7, 6), 'label': (7, 4)},
     MLP_PARAMS, lr=0.05, steps=3)


# ---- What a loss returns in addition (value_and_grad with has_aux)
AUX = MLP % 'b(h), h' + """loss:
  inputs: [y, h, label]
  aux: [penalty, hidden]
  has_aux: %s
  construct: |
    e = y - label
    penalty = mean(h * h)
    return mean(e * e) + 0.5 * penalty, penalty, h
"""


def with_aux(o, p, x, label):
    h = hidden(o, p, x)
    e = dense(o, p, 'b', h) - label
    penalty = (h * h).mean()
    return (e * e).mean() + 0.5 * penalty, penalty, h


for joint in False, True:
    case('grad_aux' + '_joint' * joint, AUX % str(not joint).lower(), with_aux,
         {'x': (7, 6), 'label': (7, 4)}, MLP_PARAMS, lr=0.03, steps=3,
         aux=('penalty', 'hidden'), joint=joint)


# ---- grad(y, x) in a construct: gradients of gradients
def row_norm(o, g):
    return ((g * g).sum(1) + 1e-12) ** 0.5


# WGAN-GP's penalty: the slope of a critic between real and generated samples
CRITIC = """network:
  inputs: [x, fake, mix]
  cells: {a: {Dense: [6, 5]}, b: {Dense: [5, 4]}, c: {Dense: [4, 1]}}
  construct: |
    h = b(tanh(a(x)))
    real = c(h * sigmoid(h))
    h = b(tanh(a(fake)))
    made = c(h * sigmoid(h))
    between = mix * x + (1 - mix) * fake
    h = b(tanh(a(between)))
    slope = grad(c(h * sigmoid(h)), between)
    return real, made, sqrt(sum(slope * slope, 1) + 1e-12)
loss:
  inputs: [real, made, length]
  aux: [penalty]
  construct: |
    penalty = mean((length - 1) ** 2)
    return mean(made) - mean(real) + 10 * penalty, penalty
"""
CRITIC_PARAMS = dict(MLP_PARAMS, **{'c.weight': (1, 4), 'c.bias': (1,)})


def critic(o, p, x):
    h = mlp(o, p, x)
    return dense(o, p, 'c', h * o.sigmoid(h))


def wgan(o, p, x, fake, mix):
    between = mix * x + (1 - mix) * fake
    slope = o.grad(lambda v: critic(o, p, v))(between)
    penalty = ((row_norm(o, slope) - 1) ** 2).mean()
    return (critic(o, p, fake).mean() - critic(o, p, x).mean() + 10 * penalty,
            penalty)


case('grad_penalty', CRITIC, wgan, {'x': (7, 6), 'fake': (7, 6), 'mix': (7, 1)},
     CRITIC_PARAMS, lr=0.05, steps=4, aux=('penalty',),
     near='--rtol 1e-4 --atol 1e-5')

# The same of a convolution
CONV = """network:
  cells:
    conv: {Conv2d: {in_channels: 2, out_channels: 4, kernel_size: 3, stride: 2, pad_mode: pad, padding: 1, has_bias: true}}
    deep: {Conv2d: {in_channels: 4, out_channels: 4, kernel_size: 3, pad_mode: pad, padding: 1, group: 2}}
    c: {Dense: [36, 1]}
  construct: |
    s = c(flatten(tanh(deep(tanh(conv(x))))))
    g = flatten(grad(s, x))
    return s, sqrt(sum(g * g, 1) + 1e-12)
loss:
  inputs: [s, length]
  construct: return mean(s) + mean((length - 1) ** 2)
"""


def conv(o, p, x):
    if o.folder == 'pt':
        h = o.tanh(o.conv2d(x, p['conv.weight'], p['conv.bias'], 2, 1))
        h = o.tanh(o.conv2d(h, p['deep.weight'], None, 1, 1, 1, 2))
    else:
        h = o.tanh(o.conv2d(x, p['conv.weight'], p['conv.bias'], 2, 'pad', 1))
        h = o.tanh(o.conv2d(h, p['deep.weight'], None, 1, 'pad', 1, 1, 2))
    return dense(o, p, 'c', h.reshape(h.shape[0], -1))


def conv_penalty(o, p, x):
    g = o.grad(lambda v: conv(o, p, v))(x).reshape(x.shape[0], -1)
    return conv(o, p, x).mean() + ((row_norm(o, g) - 1) ** 2).mean()


case('grad_conv', CONV, conv_penalty, {'x': (3, 2, 6, 6)},
     {'conv.weight': (4, 2, 3, 3), 'conv.bias': (4,), 'deep.weight':
      (4, 2, 3, 3), 'c.weight': (1, 36), 'c.bias': (1,)}, lr=0.02, steps=3,
     near='--rtol 1e-4 --atol 1e-5')

# A differential equation, u'' + u = f, in the loss: derivatives of the
# network's output with respect to its input
PDE = """network:
  inputs: [x]
  cells: {a: {Dense: [1, 8]}, b: {Dense: [8, 8]}, c: {Dense: [8, 1]}}
  construct: return c(tanh(b(tanh(a(x)))))
loss:
  inputs: [u, x, f]
  aux: [residual]
  construct: |
    u_x = grad(u, x)
    u_xx = grad(u_x, x)
    residual = mean((u_xx + u - f) ** 2)
    return residual + 0.1 * mean(u ** 2), residual
"""


def field(o, p, x):
    h = o.tanh(dense(o, p, 'b', o.tanh(dense(o, p, 'a', x))))
    return dense(o, p, 'c', h)


def equation(o, p, x, f):
    first = o.grad(lambda v: field(o, p, v))
    second = o.grad(lambda v: first(v))
    u = field(o, p, x)
    residual = ((second(x) + u - f) ** 2).mean()
    return residual + 0.1 * (u ** 2).mean(), residual


case('grad_equation', PDE, equation, {'x': (9, 1), 'f': (9, 1)},
     {'a.weight': (8, 1), 'a.bias': (8,), 'b.weight': (8, 8), 'b.bias': (8,),
      'c.weight': (1, 8), 'c.bias': (1,)}, lr=0.05, steps=4,
     aux=('residual',), near='--rtol 1e-4 --atol 1e-5')

# A Hessian times a vector, and three derivatives, as results
HVP = """network:
  inputs: [x, v]
  cells: {a: {Dense: [6, 5]}, b: {Dense: [5, 4]}}
  construct: |
    y = sum(log_softmax(b(gelu(a(x))), -1)[:, 1])
    g = grad(y, x)
    return grad(sum(g * v), x), grad(g, x, v), grad(exp(0.1 * x) * g, (x, v))[0]
"""


def score(o, p, x):
    h = dense(o, p, 'a', x)
    h = o.gelu(h)
    return o.log_softmax(dense(o, p, 'b', h), -1)[:, 1].sum()


def hvp(o, p, x, v):
    g = o.grad(lambda z: score(o, p, z))
    h = o.grad(lambda z: (g(z) * v).sum())(x)
    return h, h, o.grad(lambda z: o.exp(0.1 * z) * g(z))(x)


case('grad_hessian', HVP, hvp, {'x': (7, 6), 'v': (7, 6)}, MLP_PARAMS,
     loss=False, libs='pt', near='--rtol 1e-4 --atol 1e-5')



def graphs():
    """The same once more for MindSpore's graph mode, by the name of the case:
    in PyNative mode 2.10.0 loses what a gradient within a gradient gives the
    weights (its graph mode and PyTorch agree)."""
    import mindspore as ms
    from mindspore import ops

    def layer(x, w, b):
        return ops.matmul(x, w.T) + b

    def critic(x, aw, ab, bw, bb, cw, cb):
        h = layer(ops.tanh(layer(x, aw, ab)), bw, bb)
        return layer(h * ops.sigmoid(h), cw, cb)

    slope = ms.grad(critic)

    def wgan(x, fake, mix, *w):
        between = mix * x + (1 - mix) * fake
        g = slope(between, *w)
        penalty = ((ops.sqrt((g * g).sum(1) + 1e-12) - 1) ** 2).mean()
        return (critic(fake, *w).mean() - critic(x, *w).mean() + 10 * penalty,
                penalty)

    def conv(x, w, b, deep, cw, cb):
        h = ops.tanh(ops.conv2d(x, w, b, 2, 'pad', 1))
        h = ops.tanh(ops.conv2d(h, deep, None, 1, 'pad', 1, 1, 2))
        return layer(h.reshape(3, -1), cw, cb)

    conv_slope = ms.grad(conv)

    def conv_penalty(x, *w):
        g = conv_slope(x, *w).reshape(3, -1)
        return (conv(x, *w).mean() +
                ((ops.sqrt((g * g).sum(1) + 1e-12) - 1) ** 2).mean())

    def field(x, aw, ab, bw, bb, cw, cb):
        h = ops.tanh(layer(ops.tanh(layer(x, aw, ab)), bw, bb))
        return layer(h, cw, cb)

    first = ms.grad(field)

    def first_of(x, *w):
        return first(x, *w)

    second = ms.grad(first_of)

    def equation(x, f, *w):
        u = field(x, *w)
        residual = ((second(x, *w) + u - f) ** 2).mean()
        return residual + 0.1 * (u ** 2).mean(), residual

    return {'grad_penalty': wgan, 'grad_conv': conv_penalty,
            'grad_equation': equation}


if __name__ == '__main__':
    try:
        lib = MindSpore()
    except ImportError:
        lib = Torch()
    for c in CASES.values():
        if lib.folder in c['libs'] and c['name'] in (sys.argv[1:] or CASES):
            write(lib, c)
