"""The random networks of peer.py: cells, branches, shared weights, functions,
state and hooks, as lines of a config and in PyTorch."""
import json
import math
from collections import Counter

import torch

import peer_cells as cells
from peer_cells import Layer, Weights
from peer_text import function

class Straight(torch.autograd.Function):
    """The block Straight: its gradient is half of what arrives."""
    @staticmethod
    def forward(ctx, x):
        return x.sign() * 0.5

    @staticmethod
    def backward(ctx, dy):
        return dy * 0.5


class Scaled(torch.autograd.Function):
    """A hook that scales the gradient."""
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.clone()

    @staticmethod
    def backward(ctx, dy):
        return dy * ctx.scale, None


class Net:
    def __init__(self, r):
        self.r = r
        self.members = []   # lines of YAML
        self.lines = []     # of construct
        self.run = []       # (variable, function of (values, weights of all))
        self.n = 0
        self.fixed = []     # parameters that are not trained
        self.trained = []   # members that have parameters
        self.alias = {}     # shared parameters: name, name of the owner
        self.state = {}     # parameters that only assign changes
        self.watch = []
        self.used = Counter()
        self.whole = False  # prediction depends on the batch
        self.masks = False  # has the input of lengths
        self.most = 1500    # elements of a sample

    def member(self, node, layer=None):
        name = 'm%d' % self.n
        self.n += 1
        self.members.append('    %s: %s' % (name, json.dumps(node)))
        if layer:
            self.fixed += ['%s.%s' % (name, f) for f in layer.fixed]
            self.whole |= layer.whole
            if layer.weights:
                self.trained.append(name)
        self.used[next(iter(node)) if isinstance(node, dict) else node] += 1
        return name

    def line(self, text, run):
        v = 'v%d' % self.n
        self.n += 1
        self.lines.append('    %s = %s' % (v, text))
        self.run.append((v, run))
        return v

    def call(self, v, layer):
        """The layer as a member, called with v."""
        m = self.member(layer.node, layer)
        return self.line('%s(%s)' % (m, v), lambda e, w: layer.run(
            e[v], w(m))), m

    def forward(self, feed, P, training, moved):
        env = dict(feed)

        def weights(name):
            return Weights(P, moved, training, name, self.alias)
        for v, run in self.run:
            env[v] = run(env, weights)
        return tuple(env[o] for o in self.out)


def straight(net, v):
    """A block with its own gradient."""
    m = net.member('Straight')
    return net.line('%s(%s) + %s' % (m, v, v), lambda e, w:
                    Straight.apply(e[v]) + e[v])


def text(net, v, s):
    for _ in range(8):
        t, run, whole = function(net.r, s)
        y = run(torch.ones([2] + s))
        if y.numel() and y.dim() == len(s) + 1 and y.numel() < 2 * net.most:
            break
    else:
        return v, s
    net.whole |= whole
    net.used['function'] += 1
    return net.line(t.replace('{v}', v), lambda e, w: run(e[v])), \
        list(y.shape[1:])


def parameter(net, v, s):
    """A tensor of its own, of a shape that broadcasts."""
    r = net.r
    shape = r.choice([[1], s[-1:], s, [1] + s, s[:-1] + [1]])
    m = net.member({'Parameter': {'shape': shape, 'init': {
        'Normal': {'sigma': 0.5}}}})
    k = r.randrange(4)
    t = ['%s * %s', '%s + %s', '%s - %s', '%s / (1.5 + square(%s))'][k]
    f = [torch.mul, torch.add, torch.sub, lambda x, p: x / (1.5 + p * p)][k]
    return net.line(t % (v, m), lambda e, w: f(e[v], w(m).values[m]))


def counter(net, v):
    """State that each forward pass of training moves."""
    m = net.member({'Parameter': {'shape': [], 'requires_grad': False}})
    net.state[m] = ()
    net.n += 1
    net.lines.append('    assign(%s, %s + 0.5)' % (m, m))
    net.fixed.append(m)

    def run(e, w):
        x = w(m)
        if x.training:
            x.moved[m] = x.values[m] + 0.5
        return e[v] * (1 + 0.1 * x.values[m])
    return net.line('%s * (1 + 0.1 * %s)' % (v, m), run)


def hook(net, v):
    scale = net.r.choice([0.5, 2.0, -1.0])
    name = 'p%d' % net.n
    net.watch.append({'at': name, 'hook': 'hook_backward', 'scale': scale})
    return net.line("hook_backward(%s, '%s')" % (v, name), lambda e, w:
                    Scaled.apply(e[v], scale))


def fresh(net, makers, s, same=False):
    for _ in range(12):
        layer = net.r.choice(makers)(net.r, s)
        if layer and 0 < math.prod(layer.shape) < net.most \
           and (not same or layer.shape == s):
            return layer
    return None


def step(net, v, s, makers):
    """Some more of a network."""
    r = net.r
    k = r.random()
    if k < 0.42:
        layer = fresh(net, makers, s)
        if layer:
            return net.call(v, layer)[0], layer.shape
    elif k < 0.56:
        return text(net, v, s)
    elif k < 0.61:
        return parameter(net, v, s), s
    elif k < 0.64:
        return straight(net, v), s
    elif k < 0.67:
        return hook(net, v), s
    elif k < 0.69:
        return counter(net, v), s
    elif k < 0.79:      # a branch around a cell, at times called twice
        layer = fresh(net, makers, s, True)
        if layer:
            u, m = net.call(v, layer)
            if r.random() < 0.4:
                x = u
                u = net.line('%s(%s)' % (m, x), lambda e, w: layer.run(
                    e[x], w(m)))
            return net.line('%s + %s' % (v, u), lambda e, w: e[v] + e[u]), s
    elif k < 0.85:      # two cells with one weight
        layer = fresh(net, [cells.dense, cells.conv if len(s) > 1
                            else cells.dense], s)
        if layer:
            type = next(iter(layer.node))
            u, m = net.call(v, layer)
            node = {type: layer.node[type],
                    'share': {'weight': m + '.weight'}}
            again = Layer(node, layer.run, layer.shape,
                          weights=layer.node[type]['has_bias'])
            h = net.line('%s * 0.5' % v, lambda e, w: e[v] * 0.5)
            net.alias['m%d.weight' % net.n] = m + '.weight'
            x, _ = net.call(h, again)
            return net.line('%s - %s' % (u, x), lambda e, w:
                            e[u] - e[x]), layer.shape
    elif k < 0.93:
        layer = fresh(net, [lambda r, s: cells.sequential(r, s, makers)], s)
        if layer:
            return net.call(v, layer)[0], layer.shape
    else:               # branches side by side
        a, b = fresh(net, makers, s), fresh(net, makers, s)
        if r.random() < 0.4:    # masks of two values
            a = fresh(net, makers, s)
            for _ in range(20):
                b = fresh(net, makers, s)
                if a and b and a.shape == b.shape:
                    break
            else:
                return v, s
            x, _ = net.call(v, a)
            y, _ = net.call(v, b)
            t, f = r.choice([
                ('where({x} > {y}, {x}, 0.5 * {y})', lambda x, y:
                 torch.where(x > y, x, 0.5 * y)),
                ('{x} * ({x} <= {y}) + {y}', lambda x, y: x * (x <= y) + y),
                ('masked_fill({x}, {x} < {y}, 0.3)', lambda x, y:
                 x.masked_fill(x < y, 0.3)),
                ('where(logical_and({x} > {y}, {y} > 0 * {x}), {x} * {y}, {x})',
                 lambda x, y: torch.where((x > y) & (y > 0), x * y, x))])
            return net.line(t.replace('{x}', x).replace('{y}', y), lambda e, w:
                            f(e[x], e[y])), a.shape
        if a and b and a.shape[1:] == b.shape[1:]:
            x, _ = net.call(v, a)
            y, _ = net.call(v, b)
            return net.line('concat((%s, %s), 1)' % (x, y), lambda e, w:
                            torch.cat((e[x], e[y]), 1)), \
                [a.shape[0] + b.shape[0]] + a.shape[1:]
    return v, s


# ---- Sequences: cells of several inputs or results

def recurrent(net, v, s):
    r = net.r
    l, n = s
    type = r.choice(['LSTM', 'GRU', 'RNN'])
    hidden, layers = r.randint(2, 9), r.choice([1, 1, 2])
    both, bias = r.random() < 0.4, r.random() < 0.8
    lengths = net.masks and r.random() < 0.6
    given = r.random() < 0.3    # the first state
    m = net.member({type: dict(input_size=n, hidden_size=hidden,
                               num_layers=layers, bidirectional=both,
                               has_bias=bias, batch_first=True)})
    net.trained.append(m)
    names = ['%s_l%d%s' % (p, k, d) for k in range(layers)
             for d in ([''] + ['_reverse'] if both else [''])
             for p in ['weight_ih', 'weight_hh'] + (['bias_ih', 'bias_hh']
                                                    if bias else [])]
    count = layers * (2 if both else 1)
    first = None
    if given:
        first = net.member({'Parameter': {'shape': [count, 1, hidden], 'init': {
            'Normal': {'sigma': 0.5}}}})

    def run(e, w):
        x, p = e[v], w(m)
        h = torch.zeros(count, x.shape[0], hidden, dtype=x.dtype)
        if given:
            h = h + torch.tanh(p.values[first])
        a = ([p[i] for i in names], bias, layers, 0.0, False, both)
        at = (h, h) if type == 'LSTM' else h
        f = {'LSTM': torch._VF.lstm, 'GRU': torch._VF.gru,
             'RNN': torch._VF.rnn_tanh}[type]
        if not lengths:
            y, *h = f(x, at, *a, True)
            return y, h[0]
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            x, e['len'], True, False)
        order = packed.sorted_indices
        at = (h[:, order], h[:, order]) if type == 'LSTM' else h[:, order]
        y, *h = f(packed.data, packed.batch_sizes, at, *a)
        y = torch.nn.utils.rnn.pad_packed_sequence(
            torch.nn.utils.rnn.PackedSequence(
                y, packed.batch_sizes, order, packed.unsorted_indices), True,
            total_length=l)[0]
        return y, h[0][:, packed.unsorted_indices]
    y, h = 'v%d' % net.n, 'h%d' % net.n
    net.n += 1
    start = ''
    if given:
        net.lines.append('    s%s = broadcast_to(tanh(%s), (%d, shape(%s, 0), '
                         '%d))' % (y, first, count, v, hidden))
        start = ', hx=(s%s, s%s)' % (y, y) if type == 'LSTM' \
            else ', hx=s%s' % y
    net.lines.append('    %s, %s = %s(%s%s%s)' % (
        y, h, m, v, start, ', seq_length=len' if lengths else ''))
    net.run.append((y + '+', run))
    net.run.append((y, lambda e, w: e[y + '+'][0]))
    n = hidden * (2 if both else 1)
    if r.random() < 0.4:    # the last state as well
        t = '%s[0]' % h if type == 'LSTM' else h
        return net.line('%s + tile(%s[-1][:, None, :], (1, 1, %d))' % (
            y, t, 2 if both else 1), lambda e, w: e[y] + e[y + '+'][1][-1][
                :, None].repeat(1, 1, 2 if both else 1)), [l, n]
    return y, [l, n]


def cell_steps(net, v, s):
    """LSTMCell, GRUCell or RNNCell, step by step."""
    r = net.r
    l, n = s
    type, hidden = r.choice(['LSTMCell', 'GRUCell', 'RNNCell']), r.randint(2, 7)
    relu = type == 'RNNCell' and r.random() < 0.5
    args = dict(input_size=n, hidden_size=hidden, has_bias=r.random() < 0.8)
    if relu:
        args['nonlinearity'] = 'relu'
    m = net.member({type: args})
    net.trained.append(m)
    out = 'v%d' % net.n
    net.n += 1
    two = type == 'LSTMCell'
    net.lines += ['    h = zeros((shape(%s, 0), %d))' % (v, hidden),
                  '    c = h',
                  '    all = ()', '    for i in range(%d):' % l,
                  '        h%s = %s(%s[:, i], %s)' % (
                      ', c' if two else '', m, v, '(h, c)' if two else 'h'),
                  '        all = all + (h,)', '    %s = stack(all, 1)' % out]

    def run(e, w):
        x, p = e[v], w(m)
        h = c = torch.zeros(x.shape[0], hidden, dtype=x.dtype)
        ys = []
        for i in range(l):
            a = [p['weight_ih'], p['weight_hh'], p.get('bias_ih'),
                 p.get('bias_hh')]
            if two:
                h, c = torch._VF.lstm_cell(x[:, i], (h, c), *a)
            else:
                f = torch._VF.gru_cell if type == 'GRUCell' else \
                    torch._VF.rnn_relu_cell if relu else \
                    torch._VF.rnn_tanh_cell
                h = f(x[:, i], h, *a)
            ys.append(h)
        return torch.stack(ys, 1)
    net.run.append((out, run))
    return out, [l, hidden]


def masks(net, r, v, l):
    """Arguments of attention, and their values."""
    mask = keys = None
    text = ''
    k = r.randrange(4)
    if k == 1:
        text += ', attn_mask=causal_mask(%s)' % v
        mask = lambda e: cells.causal(l)
    elif k == 2:    # added to the scores
        m = net.member({'Parameter': {'shape': [l, l], 'init': {
            'Normal': {'sigma': 0.5}}}})
        text += ', attn_mask=%s' % m
        mask = lambda e: e['+'](m).values[m]
    if net.masks and r.random() < 0.6:
        text += ', key_padding_mask=arange(%d) >= len[:, None]' % l
        keys = lambda e: torch.arange(l) >= e['len'][:, None]
    return text, mask, keys


def attention(net, v, s):
    r = net.r
    l, n = s
    heads = r.choice([h for h in (1, 2, 3, 4) if n % h == 0])
    bias, extra, zeros = (r.random() < 0.8, r.random() < 0.15,
                          r.random() < 0.15)
    args = dict(embed_dim=n, num_heads=heads, batch_first=True, has_bias=bias)
    if extra:
        args['add_bias_kv'] = True
    if zeros:
        args['add_zero_attn'] = True
    k, width = v, n
    if r.random() < 0.3:    # keys and values of another width
        width = r.randint(1, 6)
        layer = cells.dense(r, s, width)
        k = net.call(v, layer)[0]
        args.update(kdim=width, vdim=width)
    m = net.member({'MultiheadAttention': args})
    net.trained.append(m)
    t, mask, keys = masks(net, r, v, l)
    weights = r.random() < 0.3
    name = 'v%d' % net.n
    net.n += 1
    net.lines.append('    %s, a%s = %s(%s, %s, %s%s)' % (
        name, name, m, v, k, k, t))

    def run(e, w):
        e = {**e, '+': w}
        return cells.attend(e[v], e[k], e[k], w(m), heads,
                            mask and mask(e), keys and keys(e), extra, zeros,
                            True)
    net.run.append((name + '+', run))
    net.run.append((name, lambda e, w: e[name + '+'][0]))
    if weights:
        return net.line('%s + 0.3 * max(a%s, axis=2, keepdims=True)' % (
            name, name), lambda e, w: e[name] + 0.3 * e[name + '+'][1].max(
                2, True)[0]), s
    return name, s


def masked_encoder(net, v, s):
    """TransformerEncoder or one layer with masks."""
    r = net.r
    layer = r.choice([cells.encoder, cells.encoder_stack])(r, s)
    t, mask, keys = masks(net, r, v, s[0])
    t = t.replace('attn_mask', 'src_mask').replace('key_pad', 'src_key_pad')
    m = net.member(layer.node, layer)

    def run(e, w):
        e = {**e, '+': w}
        return layer.run(e[v], w(m), mask and mask(e), keys and keys(e))
    return net.line('%s(%s%s)' % (m, v, t), run), s


def sequences(net, v, s):
    r = net.r
    for _ in range(r.randint(1, 5)):
        k = r.randrange(10)
        if k <= 1:
            v, s = recurrent(net, v, s)
        elif k == 2:
            v, s = attention(net, v, s)
        elif k == 3:
            v, s = masked_encoder(net, v, s)
        elif k == 4 and s[0] < 6:
            v, s = cell_steps(net, v, s)
        else:
            to = step(net, v, s, cells.SEQUENCE)
            v, s = to if len(to[1]) == 2 and to[1][0] == s[0] or \
                not net.masks else (v, s)
    return v, s


# ---- From samples to one vector each

def pooled(net, kind, v, s):
    r = net.r
    k = r.random()
    if len(s) == 2 and k < 0.4:
        return net.line('mean(%s, axis=1)' % v, lambda e, w:
                        e[v].mean(1)), s[1:]
    if len(s) == 2 and k < 0.7:
        return net.line('%s[:, -1]' % v, lambda e, w: e[v][:, -1]), s[1:]
    if len(s) > 2 and k < 0.4:
        axes = tuple(range(2, len(s) + 1))
        if kind == 'last' and len(s) == 3:
            axes = (1, 2)
        return net.line('mean(%s, axis=%s)' % (v, axes), lambda e, w:
                        e[v].mean(axes)), [s[-1] if axes[0] == 1 else s[0]]
    if len(s) > 1:
        return net.line('flatten(%s)' % v, lambda e, w:
                        e[v].flatten(1)), [math.prod(s)]
    return v, s
