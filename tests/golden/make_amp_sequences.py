#!/usr/bin/env python3
"""Golden vectors of mixed precision on attention and recurrences from
MindSpore 2.10.0 (CPU, PyNative), into ms/; see make_mindspore.py for the
environment. Arguments name the cases to make, all without.

What MindSpore does (train/amp.py rewrites for O1, a float16 flag for O2 and
O3 under which every function casts what it takes, lists for auto):

                       O1           O2, O3           auto
  MultiheadAttention   float32      each function    both products of scores
                                                     and of values, and those
                                                     with weights; the rest
                                                     float32
  LSTM                 float32      what goes in     float32 (one function
                                    and comes out    that no list has)
  LSTM with lengths,   float32      each function    products
  GRU, RNN
  LSTMCell, GRUCell,   products,    each function    products
  RNNCell              activations

Its bfloat16 has no kernels for CPUs (MatMul). Its float16 kernels of Softmax
and Sigmoid compute in float16 inside: exponentials, their sum (whose order
then counts, and whose digits run out on long rows), quotients. Cellrun rounds
what goes in and comes out and computes in float32, as other kernels do, so
these two are cells of float32 here. One bug is mended here: the
rewritten LSTMCell asks for a decorator that its file does not import. Another
is not met: rewritten, MultiheadAttention ignores batch_first.

What comes out is the same to the bit but where float32 is; tests/cli/golden.bats
counts that. Gradients of a parameter are sums over its uses: MindSpore rounds
each term and some of the sums, cellrun the sum, so tolerances are a few steps
of float16. Gradients of its LSTM on float16 are 0, and omitted."""
import builtins
import os
import tempfile

import cases as k
import make_mindspore as m

ms, nn = m.ms, m.nn
k.CASES.clear()
k.HERE = k.HERE.resolve()
os.chdir(tempfile.mkdtemp())  # O1 writes rewritten_network/ into the current directory
builtins._check_lstmcell_init = lambda f: f
NEAR = '--rtol 2e-3 --atol 2e-4'
N, L, F = 2, 5, 8
MAKE = {}


class Island(nn.Cell):
    """An op in float32 where it takes float16."""

    def __init__(self, op):
        super().__init__()
        self.op = op
        self.to_float(ms.float32)

    def construct(self, x):
        y = self.op(x)
        return y.astype(x.dtype)


SOFTMAX, SIGMOID = ms.ops.softmax, ms.ops.Sigmoid


def islands(level):
    """Softmax and Sigmoid as the functions and cells of MindSpore find them.
    In level auto Softmax is float32 by the lists."""
    ms.ops.Sigmoid = lambda: Island(SIGMOID())
    ms.ops.softmax = SOFTMAX if 'auto' in level else \
        lambda x, axis: Island(nn.Softmax(axis))(x)


class Heads(nn.Cell):
    TEXT = 'y, w = net(h, h, h)', 'return y'

    def __init__(self, make, bias=False):
        super().__init__()
        self.pre = nn.Dense(F, F, has_bias=bias)
        self.net = make()

    def construct(self, x):
        h = self.pre(x)
        y, w = self.net(h, h, h)
        return y


class Weights(Heads):
    TEXT = 'y, w = net(h, h, h)', 'return w @ y'

    def construct(self, x):
        h = self.pre(x)
        y, w = self.net(h, h, h)
        return ms.ops.matmul(w, y)


class Others(Heads):
    TEXT = 'y, w = net(h, x, x)', 'return y'

    def construct(self, x):
        h = self.pre(x)
        y, w = self.net(h, x, x)
        return y


class Masked(Heads):
    TEXT = ('hide = x[:, :, 0] > 5',
            'y, w = net(h, h, h, hide, causal_mask(h))', 'return y')

    def construct(self, x):
        h = self.pre(x)
        y, w = self.net(h, h, h, x[:, :, 0] > 5,
                        attn_mask=ms.ops.ones((L, L), ms.bool_).triu(1))
        return y


class Layer(Heads):
    TEXT = 'return net(h)',

    def construct(self, x):
        h = self.pre(x)
        y = self.net(h)
        return y


class Sequence(Heads):
    TEXT = 'y, last = net(h)', 'return y'

    def construct(self, x):
        h = self.pre(x)
        y, last = self.net(h)
        return y


class Lengths(Heads):
    TEXT = 'y, last = net(h, None, arange(3, 5))', 'return y'

    def __init__(self, make, bias=False):
        super().__init__(make, bias)
        self.seq = ms.Tensor([3, 4], ms.int32)

    def construct(self, x):
        h = self.pre(x)
        y, last = self.net(h, None, self.seq)
        return y


class Last(Heads):
    """The state after the last step."""
    TEXT = 'y, last = net(h)', 'return last[0]'

    def construct(self, x):
        h = self.pre(x)
        y, last = self.net(h)
        return last[0]


class Steps(Heads):
    """Two steps of a cell, from a state that is no float16 number."""
    TEXT = 's = net(h, x)', 'return net(h, s)'

    def construct(self, x):
        h = self.pre(x)
        s = self.net(h, x)
        y = self.net(h, s)
        return y


class Pairs(Heads):
    TEXT = 's = net(h, (x, x))', 'h, c = net(h, s)', 'return h * c'

    def construct(self, x):
        h = self.pre(x)
        pair = (x, x)
        s = self.net(h, pair)
        h, c = self.net(h, s)
        return h * c


def case(name, kind, cell, text, make, levels='O1 O2 O3 auto', x=(N, L, F),
         scale=1.0, near=NEAR):
    """In level auto a product is float32 after its bias, float16 without
    (auto16)."""
    for level in levels.split():
        network = ('  cells:\n    pre: {Dense: {in_channels: %d, '
                   'out_channels: %d, has_bias: %s}}\n    net: {%s: {%s}}\n'
                   '  construct: |\n    h = pre(x)\n'
                   % (F, F, str(level == 'auto').lower(), cell, text) +
                   ''.join('    %s\n' % t for t in kind.TEXT))
        full, more = 'amp_%s_%s' % (name, level), ''
        body = network
        if level == 'to_float':
            body = network.replace('net: {%s: {%s}}' % (cell, text),
                                   'net: {%s: {%s}, to_float: float16}'
                                   % (cell, text))
        else:
            more = 'amp: {level: %s%s}\n' % (
                level.replace('16', ''),
                # O2 begins with a loss scale of 2^24; the vectors have none
                ', loss_scale: {StaticLossScaler: 1}' if level == 'O2' else '')
        whole = cell == 'LSTM' and kind is Sequence
        bare = whole and level not in ('O1', 'auto')
        k.case(full, body, x=x, more=more, near=near, scale=scale,
               loss='' if bare else 'MSELoss', cmd='' if bare else '--grad')
        MAKE[full] = kind, make, level


FIRST = dict(batch_first=True)


def heads(**more):
    return lambda: nn.MultiheadAttention(F, 2, **more)


B = 'embed_dim: 8, num_heads: 2, batch_first: true'
case('mha', Heads, 'MultiheadAttention', 'embed_dim: 8, num_heads: 2',
     heads(), x=(L, N, F), scale=2.0, levels='O1 O2 O3 auto to_float')
case('mha_first', Heads, 'MultiheadAttention', B, heads(**FIRST), 'O2 auto',
     scale=2.0)
case('mha_weights', Weights, 'MultiheadAttention', B, heads(**FIRST),
     'O2 auto', scale=2.0)
case('mha_others', Others, 'MultiheadAttention', B, heads(**FIRST), 'O2 auto',
     scale=2.0)
case('mha_masks', Masked, 'MultiheadAttention', B, heads(**FIRST), 'O2 auto',
     scale=2.0)
for name, norm in ('', False), ('_norm_first', True):
    case('encoder_layer' + name, Layer, 'TransformerEncoderLayer',
         'd_model: 8, nhead: 2, dim_feedforward: 12, dropout: 0.0, '
         'batch_first: true, norm_first: %s' % str(norm).lower(),
         lambda norm=norm: nn.TransformerEncoderLayer(
             F, 2, 12, 0.0, batch_first=True, norm_first=norm),
         near='--rtol 4e-3 --atol 1e-3')
for kind in 'LSTM', 'GRU', 'RNN':
    low = kind.lower()
    c = getattr(nn, kind)
    text = 'input_size: 8, hidden_size: 8, batch_first: true'
    case(low, Sequence, kind, text, lambda c=c: c(F, F, batch_first=True),
         levels='O1 O2 O3 auto auto16 to_float')
    case(low + '_lengths', Lengths, kind, text,
         lambda c=c: c(F, F, batch_first=True), 'O1 O2 auto auto16')
    case(low + '_layers', Sequence, kind, 'input_size: 8, hidden_size: 7, '
         'num_layers: 2, bidirectional: true',
         lambda c=c: c(F, 7, num_layers=2, bidirectional=True), 'O2 auto',
         x=(L, N, F))
    case(low + '_no_bias', Lengths, kind, text + ', has_bias: false',
         lambda c=c: c(F, F, batch_first=True, has_bias=False), 'O2 auto auto16')
    if kind != 'LSTM':
        case(low + '_last', Last, kind, text,
             lambda c=c: c(F, F, batch_first=True), 'O2 auto')
    cell = kind + 'Cell'
    case(low + '_cell', Pairs if kind == 'LSTM' else Steps, cell,
         'input_size: 8, hidden_size: 8',
         lambda cell=cell: getattr(nn, cell)(F, F), x=(3, F),
         levels='O1 O2 O3 auto' + ' to_float' * (kind != 'LSTM'))
case('rnn_relu', Sequence, 'RNN',
     'input_size: 8, hidden_size: 8, nonlinearity: relu',
     lambda: nn.RNN(F, F, nonlinearity='relu'), 'O2 auto', x=(L, N, F))
case('rnn_cell_relu', Steps, 'RNNCell',
     'input_size: 8, hidden_size: 8, nonlinearity: relu',
     lambda: nn.RNNCell(F, F, nonlinearity='relu'), 'O1 O2', x=(3, F))


def run(c):
    import numpy as np
    from mindspore import amp, ops
    kind, make, level = MAKE[c['name']]
    net = kind(make, level == 'auto')
    start = k.weights(c, {p.name: p.shape for p in net.get_parameters()})
    params = net.trainable_params()
    names = [p.name for p in params]
    for n in start:
        if '.dense' in n and n.endswith('.bias'):
            start[n] *= 0
        if '.norm' in n:
            start[n] = start[n].astype(np.float16).astype(np.float32)
    for p in params:
        p.set_data(ms.Tensor(start[p.name]))
    x = k.feed_x(c)
    ms.ops.Sigmoid, ms.ops.softmax = SIGMOID, SOFTMAX
    y = net(ms.Tensor(x))
    net.set_train()
    if level == 'to_float':
        net.net.to_float(ms.float16)
    else:
        net = amp.auto_mixed_precision(net, level.replace('16', ''))
    net.set_train()
    islands(level)
    label = k.feed_label(c, y.shape)
    if label is None:
        out = net(ms.Tensor(x)).astype(ms.float32).asnumpy()
        return x, None, start, {'output': out}
    loss_fn = m.build_loss(k.Loader.load(c['config'])['loss'])

    def forward(xs, ys):
        out = net(xs)
        return loss_fn(ops.cast(out, ms.float32), ys), out
    grad = ms.value_and_grad(forward, None, params, has_aux=True)
    (loss, out), grads = grad(ms.Tensor(x), ms.Tensor(label))
    ref = {'grad.' + n: g.astype(ms.float32).asnumpy()
           for n, g in zip(names, grads)}
    ref['output'] = out.astype(ms.float32).asnumpy()
    ref['loss'] = np.float32(loss.asnumpy())
    return x, label, start, ref


if __name__ == '__main__':
    from safetensors.numpy import save_file

    ms.set_context(pynative_synchronize=True)
    k.make(run, save_file)
