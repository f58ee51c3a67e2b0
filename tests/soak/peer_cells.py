"""Cells of the random networks of peer.py: for each its node of the config and
the same in PyTorch.

A maker takes a random generator and the shape of one sample and returns a
Layer, or None where no cell fits. A layer computes run(x, w), where w gives
its parameters by their names below the cell, `w['weight']`, and takes the new
values of moving statistics."""
import math

import torch
import torch.nn.functional as F


class Weights:
    """The parameters below one cell."""

    def __init__(self, values, moved, training, at, alias):
        self.values, self.moved, self.training = values, moved, training
        self.at, self.alias = at, alias

    def below(self, name):
        return Weights(self.values, self.moved, self.training,
                       '%s.%s' % (self.at, name), self.alias)

    def get(self, name):
        full = '%s.%s' % (self.at, name)
        return self.values.get(self.alias.get(full, full))

    def __getitem__(self, name):
        full = '%s.%s' % (self.at, name)
        return self.values[self.alias.get(full, full)]

    def now(self, name):
        """A moving statistic: of two calls the second goes on."""
        full = '%s.%s' % (self.at, name)
        return self.moved.get(full, self.values[full])

    def move(self, name, value):
        self.moved['%s.%s' % (self.at, name)] = value.detach()


class Layer:
    def __init__(self, node, run, shape, fixed=(), weights=True, whole=False):
        self.node, self.run, self.shape = node, run, list(shape)
        self.fixed = list(fixed)    # parameters that are not trained
        self.weights = weights      # has any
        self.whole = whole          # the batch counts in prediction too


# ---- Any shape

ACTS = {
    'ReLU': torch.relu, 'Sigmoid': torch.sigmoid, 'Tanh': torch.tanh,
    'SiLU': F.silu, 'ReLU6': F.relu6, 'Mish': F.mish, 'SeLU': F.selu,
    'HSwish': F.hardswish, 'HSigmoid': F.hardsigmoid, 'Softsign': F.softsign,
    'LogSigmoid': F.logsigmoid, 'ELU': F.elu, 'CELU': F.celu,
    'GELU': lambda x: F.gelu(x, approximate='tanh'), 'Softmin': lambda x:
    F.softmin(x, -1), 'Softmax': lambda x: F.softmax(x, -1),
    'LogSoftmax': lambda x: F.log_softmax(x, -1),
    'FastGelu': lambda x: x * torch.sigmoid(1.702 * x),
    'Tanhshrink': F.tanhshrink, 'HShrink': F.hardshrink,
    'SoftShrink': F.softshrink, 'Hardtanh': F.hardtanh,
    'Identity': lambda x: x,
}


def act(r, s):
    k = r.randrange(len(ACTS) + 5)
    if k < len(ACTS):
        name = list(ACTS)[k]
        return Layer(name, lambda x, w: ACTS[name](x), s, weights=False)
    a = round(r.uniform(0.05, 0.9), 2)
    node, run = {
        0: ({'LeakyReLU': {'alpha': a}}, lambda x: F.leaky_relu(x, a)),
        1: ({'GELU': {'approximate': False}}, F.gelu),
        2: ({'CELU': {'alpha': a}}, lambda x: F.celu(x, a)),
        3: ({'Threshold': [a, a]}, lambda x: F.threshold(x, a, a)),
        4: ({'Hardtanh': {'min_val': -a, 'max_val': 2 * a}},
            lambda x: F.hardtanh(x, -a, 2 * a)),
    }[k - len(ACTS)]
    return Layer(node, lambda x, w: run(x), s, weights=False)


def prelu(r, s):
    n = r.choice([1, s[0]])
    return Layer({'PReLU': {'channel': n}}, lambda x, w: F.prelu(x, w['w']), s)


def glu(r, s):
    axes = [i for i, n in enumerate(s) if n % 2 == 0]
    if not axes:
        return None
    axis = r.choice(axes)
    to = list(s)
    to[axis] //= 2
    return Layer({'GLU': {'axis': axis + 1}}, lambda x, w: F.glu(x, axis + 1),
                 to, weights=False)


def wide(r, most):
    """A number of channels; of those whole vectors hold, too."""
    return r.choice([8, 16, 24, 32, 64]) if r.random() < 0.25 \
        else r.randint(1, most)


def dense(r, s, out=None):
    out = out or (r.choice([33, 64, 130]) if r.random() < 0.1
                  else r.randint(1, 20))
    bias, a = r.random() < 0.8, None
    args = dict(in_channels=s[-1], out_channels=out, has_bias=bias)
    if r.random() < 0.35:
        a = r.choice(['relu', 'sigmoid', 'tanh', 'gelu', 'silu', 'relu6',
                      'elu', 'hswish', 'softmax'])
        args['activation'] = a
    f = {'relu': torch.relu, 'sigmoid': torch.sigmoid, 'tanh': torch.tanh,
         'gelu': ACTS['GELU'], 'silu': F.silu, 'relu6': F.relu6,
         'elu': F.elu, 'hswish': F.hardswish,
         'softmax': lambda x: F.softmax(x, -1), None: lambda x: x}[a]
    return Layer({'Dense': args}, lambda x, w: f(
        F.linear(x, w['weight'], w.get('bias'))), s[:-1] + [out])


def batch_norm(r, s, type, axis=1):
    mom, eps = r.choice([0.9, 0.9, 0.7, 0.99]), r.choice([1e-5, 1e-5, 1e-3])
    affine = r.random() < 0.9
    n = s[axis - 1] if axis > 0 else s[axis]
    args = dict(num_features=n, momentum=mom, affine=affine, eps=eps)
    batch = r.choice([None, None, None, True, False])
    if batch is not None:
        args['use_batch_statistics'] = batch
    predict = batch is None and r.random() < 0.1
    if axis < 0:
        args['data_format'] = 'NHWC'
    node = {type: args}
    if predict:
        node['mode'] = 'predict'

    def run(x, w):
        training = w.training and not predict
        if type == 'BatchNorm3d':
            w = w.below('bn2d')
        if axis < 0:
            x = x.movedim(-1, 1)
        shape = [1, -1] + [1] * (x.dim() - 2)
        axes = [0] + list(range(2, x.dim()))
        mean, var = w.now('moving_mean'), w.now('moving_variance')
        if batch or (batch is None and training):
            k = x.numel() // x.shape[1]
            mu = x.mean(axes)
            vb = ((x - mu.view(shape)) ** 2).mean(axes)
            if training:
                w.move('moving_mean', mom * mean + (1 - mom) * mu)
                if k > 1:   # else it stays
                    w.move('moving_variance',
                           mom * var + (1 - mom) * vb * k / (k - 1))
            mean, var = mu, vb
        y = (x - mean.view(shape)) / (var.view(shape) + eps).sqrt()
        y = y * w['gamma'].view(shape) + w['beta'].view(shape)
        return y.movedim(1, -1) if axis < 0 else y
    below = 'bn2d.' if type == 'BatchNorm3d' else ''
    return Layer(node, run, s, [] if affine else [below + 'gamma',
                                                  below + 'beta'],
                 whole=batch is True)


def layer_norm(r, s):
    if s[-1] == 1:
        return None
    k = r.randint(1, len(s))
    if k > 1 and r.random() < 0.5:
        return Layer({'LayerNorm': {'normalized_shape': s[-k:],
                                    'begin_norm_axis': -k,
                                    'begin_params_axis': -k}},
                     lambda x, w: F.layer_norm(x, s[-k:], w['gamma'],
                                               w['beta'], 1e-7), s)
    eps = r.choice([1e-7, 1e-5, 1e-3])
    return Layer({'LayerNorm': {'normalized_shape': s[-1:], 'epsilon': eps}},
                 lambda x, w: F.layer_norm(x, s[-1:], w['gamma'], w['beta'],
                                           eps), s)


# ---- Images, (C, H, W), and signals, (C, L)

def window(size, k, stride, dil, mode, pad):
    """Padding before and after, and the output's size."""
    reach = (k - 1) * dil + 1
    if mode == 'same':
        out = -(-size // stride)
        total = max((out - 1) * stride + reach - size, 0)
        return total // 2, total - total // 2, out
    p, q = (pad, pad) if mode == 'pad' else (0, 0)
    return p, q, (size + p + q - reach) // stride + 1


def conv(r, s, nhwc=False):
    c, sizes = s[0], s[1:]
    if nhwc:
        c, sizes = s[-1], s[:-1]
    rank = len(sizes)
    group = r.choice([1, 1, 1] + [d for d in (2, 3, c) if c % d == 0])
    out = group * r.randint(1, 4) if group > 1 else wide(r, 6)
    k = [r.randint(1, 5 if rank < 3 else 3) for _ in sizes]
    stride = [r.choice([1, 1, 2, 3]) for _ in sizes]
    dil = [r.choice([1, 1, 2]) for _ in sizes]
    if rank == 3:
        dil = [1, 1, 1]
    mode = r.choice(['same', 'valid', 'pad', 'pad'])
    pad = [r.randint(0, 3) for _ in sizes]
    if r.random() < 0.5:
        k, stride, dil, pad = [[a[0]] * rank for a in (k, stride, dil, pad)]
        if rank == 2 and r.random() < 0.6:  # the most used one
            k, dil, pad = [3, 3], [1, 1], [1, 1]
    places = [window(*a) for a in zip(sizes, k, stride, dil, [mode] * rank,
                                      pad)]
    if min(p[2] for p in places) < 1 or \
       any((kk - 1) * d + 1 > n + a + b for kk, d, n, (a, b, o)
           in zip(k, dil, sizes, places)):
        return None
    bias = r.random() < 0.5
    args = dict(in_channels=c, out_channels=out, pad_mode=mode, group=group,
                has_bias=bias)
    one = rank == 1
    args.update(kernel_size=k[0] if one else k,
                stride=stride[0] if one else stride,
                dilation=dil[0] if one else dil)
    if mode == 'pad':
        args['padding'] = pad[0] if one else [p for p in pad for _ in 'ab']
    if nhwc:
        args['data_format'] = 'NHWC'
    flat = [x for a, b, o in reversed(places) for x in (a, b)]
    f = [F.conv1d, F.conv2d, F.conv3d][rank - 1]

    def run(x, w):
        v = w['weight']
        if one and v.dim() == 4:
            v = v.squeeze(2)
        if nhwc:
            x, v = x.movedim(-1, 1), v.movedim(-1, 1)
        y = f(F.pad(x, flat), v, w.get('bias'), stride=stride, dilation=dil,
              groups=group)
        return y.movedim(1, -1) if nhwc else y
    to = [p[2] for p in places]
    return Layer({'Conv%dd' % rank: args}, run, to + [out] if nhwc
                 else [out] + to)


def pool(r, s, nhwc=False):
    """Max and average pooling, 1-D or 2-D."""
    sizes = s[:-1] if nhwc else s[1:]
    rank = len(sizes)
    largest = r.random() < 0.5
    mode = r.choice(['valid', 'same', 'pad', 'pad'])
    k, stride = [r.randint(1, 4) for _ in sizes], [r.randint(1, 3)
                                                   for _ in sizes]
    if r.random() < 0.4:
        k, stride = [2] * rank, [2] * rank
    dil = [1] * rank
    args = dict(kernel_size=k[0] if rank == 1 else k, pad_mode=mode,
                stride=stride[0] if rank == 1 else stride)
    if nhwc:
        args['data_format'] = 'NHWC'
    pad, ceil, count, divisor = [0] * rank, False, True, None
    if mode == 'pad':
        pad = [r.randint(0, kk // 2) for kk in k]
        if rank == 2 and not largest:   # one number for both
            pad = [min(pad)] * 2
        args['padding'] = pad[0] if rank == 1 or not largest else pad
        ceil = r.random() < 0.5
        args['ceil_mode'] = ceil
        if largest:
            dil = [r.randint(1, 2) for _ in sizes]
            args['dilation'] = dil[0] if rank == 1 else dil
        else:
            count = r.random() < 0.5
            args['count_include_pad'] = count
            if rank == 2 and r.random() < 0.3:
                divisor = r.randint(1, 9)
                args['divisor_override'] = divisor
    if any((kk - 1) * d + 1 > n for kk, d, n in zip(k, dil, sizes)):
        return None
    node = {('MaxPool%dd' if largest else 'AvgPool%dd') % rank: args}

    def plain(x):
        if mode == 'same':
            places = [window(n, kk, st, 1, mode, 0)
                      for n, kk, st in zip(sizes, k, stride)]
            flat = [p for a, b, o in reversed(places) for p in (a, b)]
            if largest:
                x = F.pad(x, flat, value=-math.inf)
                return [F.max_pool1d, F.max_pool2d][rank - 1](x, k, stride)
            avg = [F.avg_pool1d, F.avg_pool2d][rank - 1]
            return avg(F.pad(x, flat), k, stride) / avg(
                F.pad(torch.ones_like(x), flat), k, stride)
        if largest:
            return [F.max_pool1d, F.max_pool2d][rank - 1](
                x, k, stride, pad, dil, ceil)
        if rank == 1:
            return F.avg_pool1d(x, k, stride, pad, ceil, count)
        return F.avg_pool2d(x, k, stride, pad, ceil, count, divisor)

    def run(x, w):
        return plain(x.movedim(-1, 1)).movedim(1, -1) if nhwc else plain(x)
    y = run(torch.zeros([1] + list(s)), None)
    return Layer(node, run, y.shape[1:], weights=False) if y.numel() else None


def transposed(r, s, nhwc=False):
    c, sizes = s[0], s[1:]
    group = r.choice([1, 1, c])
    out = group * r.randint(1, 4)
    k, stride = [r.randint(1, 4) for _ in 'hw'], [r.randint(1, 3) for _ in 'hw']
    dil = r.choice([[1, 1], [1, 1], [2, 1], [2, 2]])
    pad = [r.randint(0, kk // 2) for kk in k]
    extra = [r.randint(0, n - 1) for n in stride]
    mode = r.choice(['pad', 'same', 'valid'])
    args = dict(in_channels=c, out_channels=out, kernel_size=k, stride=stride,
                pad_mode=mode, group=group, dilation=dil,
                has_bias=r.random() < 0.7)
    to = [(n - 1) * t - 2 * q + (kk - 1) * d + 1 + x for n, t, q, kk, x, d in
          zip(sizes, stride, pad, k, extra, dil)]
    if mode == 'pad':
        args.update(padding=[pad[0], pad[0], pad[1], pad[1]],
                    output_padding=extra)
    else:
        pad, extra, dil = [0, 0], [0, 0], [1, 1]
        args['dilation'] = 1
        full = [(n - 1) * t + kk for n, t, kk in zip(sizes, stride, k)]
        to = [n * t for n, t in zip(sizes, stride)] if mode == 'same' else \
            [n * t + max(kk - t, 0) for n, t, kk in zip(sizes, stride, k)]
    if min(to) < 1 or max(to) > 32:
        return None

    def run(x, w):
        y = F.conv_transpose2d(x, w['weight'], w.get('bias'), stride, pad,
                               extra, group, dil)
        if mode == 'pad':
            return y
        cut = []
        for n, f, kk, t in reversed(list(zip(to, full, k, stride))):
            before = max(kk - t, 0) // 2 if mode == 'same' else 0
            cut += [-before, n - f + before]
        if max(cut) <= 0 or not args['has_bias']:
            return F.pad(y, cut)
        y = F.pad(F.conv_transpose2d(x, w['weight'], None, stride, pad, extra,
                                     group, dil), cut)
        return y + w['bias'].view(1, -1, 1, 1)
    return Layer({'Conv2dTranspose': args}, run, [out] + to)


def adaptive(r, s, nhwc=False):
    sizes = s[:-1] if nhwc else s[1:]
    to = [r.randint(1, n) for n in sizes]
    rank, largest = len(sizes), r.random() < 0.5
    args = {'output_size': to[0] if rank == 1 else to}
    if nhwc:
        args['data_format'] = 'NHWC'
    if rank == 1 and sizes[0] % to[0]:  # MindSpore: whole windows
        return None
    f = [[F.adaptive_avg_pool1d, F.adaptive_avg_pool2d],
         [F.adaptive_max_pool1d, F.adaptive_max_pool2d]][largest][rank - 1]

    def run(x, w):
        return f(x.movedim(-1, 1), to).movedim(1, -1) if nhwc else f(x, to)
    return Layer({'Adaptive%sPool%dd' % (['Avg', 'Max'][largest], rank): args},
                 run, to + s[-1:] if nhwc else s[:1] + to, weights=False)


def group_norm(r, s):
    c = s[0]
    g = r.choice([d for d in range(1, c + 1) if c % d == 0])
    affine = r.random() < 0.8
    return Layer({'GroupNorm': {'num_groups': g, 'num_channels': c,
                                'affine': affine}},
                 lambda x, w: F.group_norm(x, g, w['gamma'], w['beta'], 1e-5),
                 s, [] if affine else ['gamma', 'beta'])


def instance_norm(r, s):
    if math.prod(s[1:]) < 2:
        return None

    def run(x, w):     # PyTorch's own is off for a permuted x of one sample
        shape = [1, -1] + [1] * (x.dim() - 2)
        axes = list(range(2, x.dim()))
        var, mean = torch.var_mean(x, axes, correction=0, keepdim=True)
        return (x - mean) / (var + 1e-5).sqrt() * w['gamma'].view(shape) \
            + w['beta'].view(shape)
    return Layer({'InstanceNorm%dd' % (len(s) - 1): {'num_features': s[0]}},
                 run, s, ['moving_mean', 'moving_variance'])


def lrn(r, s):
    d, a, b = r.randint(0, 3), round(r.uniform(0.1, 2), 2), r.choice([.5, .75])

    def run(x, w):
        squares = F.pad(x * x, (0, 0, 0, 0, d, d))
        total = sum(squares[:, i:i + s[0]] for i in range(2 * d + 1))
        return x / (1 + a * total) ** b
    return Layer({'LRN': {'depth_radius': d, 'alpha': a, 'beta': b}}, run, s,
                 weights=False)


def pad_cell(r, s):
    mode = r.choice(['CONSTANT', 'REFLECT', 'SYMMETRIC'])
    most = [2 if mode == 'CONSTANT' else min(n - (mode == 'REFLECT'), 2)
            for n in s]
    p = [[0, 0]] + [[r.randint(0, m), r.randint(0, m)] for m in most]

    def run(x, w):
        for axis, (a, b) in enumerate(p):
            n = x.shape[axis]
            at = list(range(-a, n + b))
            if mode == 'CONSTANT':
                x = F.pad(x, [0, 0] * (x.dim() - 1 - axis) + [a, b])
                continue
            last = 2 * n - 2 if mode == 'REFLECT' else 2 * n - 1
            at = [-i - (mode == 'SYMMETRIC') if i < 0 else
                  last - i if i >= n else i for i in at]
            x = x.index_select(axis, torch.tensor(at))
        return x
    to = [n + a + b for n, (a, b) in zip(s, p[1:])]
    return Layer({'Pad': {'paddings': p, 'mode': mode}}, run, to,
                 weights=False)


def upsample(r, s):
    rank = len(s) - 1
    to = [r.randint(1, 2 * n) for n in s[1:]]
    if math.prod(to) > 300:
        return None
    mode = r.choice(['nearest', ['linear', 'bilinear'][rank - 1]])
    args = {'size': to[0] if rank == 1 else to, 'mode': mode}
    corners = None
    if mode != 'nearest':
        corners = r.random() < 0.5
        args['align_corners'] = corners
    return Layer({'Upsample': args}, lambda x, w: F.interpolate(
        x, to, mode=mode, align_corners=corners), s[:1] + to, weights=False)


# ---- Sequences, (L, N)

def attend(q, k, v, w, heads, mask=None, keys=None, extra=None, zeros=False,
           weights=False):
    """Rows of a sequence attend to others; masks are true or -inf where a key
    does not count."""
    b, l, n = q.shape
    bias = w.get('in_proj_bias')
    bias = [None] * 3 if bias is None else bias.split(n)
    if w.get('in_proj_weight') is not None:
        parts = w['in_proj_weight'].split(n)
    else:
        parts = [w['%s_proj_weight' % c] for c in 'qkv']
    q, k, v = [F.linear(x, p, c) for x, p, c in zip((q, k, v), parts, bias)]
    if extra:
        k = torch.cat((k, w['bias_k'].expand(b, 1, n)), 1)
        v = torch.cat((v, w['bias_v'].expand(b, 1, n)), 1)
    if zeros:
        k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
    more = k.shape[1]
    q, k, v = [z.reshape(b, -1, heads, n // heads).transpose(1, 2)
               for z in (q, k, v)]
    a = q @ k.transpose(-1, -2) / math.sqrt(n // heads)
    for m, at in (mask, (None, None)), (keys, (slice(None), None, None)):
        if m is not None:
            if m.dtype == torch.bool:
                m = torch.zeros(m.shape, dtype=a.dtype).masked_fill(
                    m, -math.inf)
            a = a + F.pad(m, (0, more - m.shape[-1]))[at]
    a = F.softmax(a, -1)
    y = (a @ v).transpose(1, 2).reshape(b, l, n)
    y = F.linear(y, w['out_proj.weight'], w.get('out_proj.bias'))
    return (y, a.mean(1)) if weights else y


def encoder_node(r, n):
    heads = r.choice([h for h in (1, 2, 3, 4) if n % h == 0])
    first, gelu = r.random() < 0.5, r.random() < 0.3
    eps = r.choice([1e-5, 1e-3])
    node = {'TransformerEncoderLayer': dict(
        d_model=n, nhead=heads, dim_feedforward=r.randint(2, 16), dropout=0.0,
        batch_first=True, norm_first=first, layer_norm_eps=eps,
        activation='gelu' if gelu else 'relu')}

    def run(x, w, mask=None, keys=None):
        def norm(x, k):
            return F.layer_norm(x, (n,), w[k + '.gamma'], w[k + '.beta'], eps)

        def forth(x):
            h = F.linear(x, w['dense1.weight'], w['dense1.bias'])
            h = F.gelu(h) if gelu else torch.relu(h)
            return F.linear(h, w['dense2.weight'], w['dense2.bias'])

        def own(x):
            return attend(x, x, x, w.below('self_attn'), heads, mask, keys)
        if first:
            x = x + own(norm(x, 'norm1'))
            return x + forth(norm(x, 'norm2'))
        x = norm(x + own(x), 'norm1')
        return norm(x + forth(x), 'norm2')
    return node, run


def causal(n):
    return torch.ones(n, n).triu(1).bool()


def encoder(r, s):
    node, run = encoder_node(r, s[-1])
    return Layer(node, run, s)


def encoder_stack(r, s):
    node, run = encoder_node(r, s[-1])
    count, norm = r.randint(1, 3), r.random() < 0.5 and s[-1] > 1
    args = {'encoder_layer': node, 'num_layers': count}
    if norm:
        args['norm'] = {'LayerNorm': {'normalized_shape': s[-1:]}}

    def all(x, w, mask=None, keys=None):
        for i in range(count):
            x = run(x, w.below('layers.%d' % i), mask, keys)
        return F.layer_norm(x, s[-1:], w['norm.gamma'], w['norm.beta'],
                            1e-7) if norm else x
    return Layer({'TransformerEncoder': args}, all, s)


def positions(r, s):
    l, n = s
    if n % 2:
        return None
    f = 10000 ** (-torch.arange(0, n, 2, dtype=torch.float64) / n)
    at = torch.arange(l, dtype=torch.float64)[:, None] * f
    table = torch.stack((at.sin(), at.cos()), 2).reshape(l, n)
    return Layer({'PositionalEncoding': {'dim': n, 'dropout_rate': 0.0}},
                 lambda x, w: x * math.sqrt(n) + table.to(x.dtype), s,
                 weights=False)


# ---- Several cells as one: a list, a block that is computed again

def sequential(r, s, makers):
    """A list of cells; `recompute` next to it at times."""
    layers, to = [], list(s)
    for _ in range(r.randint(1, 4)):
        layer = r.choice(makers)(r, to)
        if layer:
            layers.append(layer)
            to = layer.shape
    if not layers:
        return None
    names = [str(i) for i in range(len(layers))]
    if r.random() < 0.3:
        names = ['part%s' % n for n in names]
        inner = dict(zip(names, (x.node for x in layers)))
    else:
        inner = [x.node for x in layers]
    node = {'SequentialCell': inner}
    if r.random() < 0.6:
        node['recompute'] = True

    def run(x, w):
        for name, layer in zip(names, layers):
            x = layer.run(x, w.below(name))
        return x
    return Layer(node, run, to, [
        '%s.%s' % (n, f) for n, x in zip(names, layers) for f in x.fixed],
        any(x.weights for x in layers), any(x.whole for x in layers))


VECTOR = [dense, dense, dense, act, act, prelu, glu, layer_norm,
          lambda r, s: batch_norm(r, s, 'BatchNorm1d')]
IMAGE = [conv, conv, conv, conv, pool, pool, transposed, transposed, adaptive,
         group_norm, instance_norm, prelu, act, act, glu, lrn, pad_cell,
         upsample, layer_norm, dense,
         lambda r, s: batch_norm(r, s, 'BatchNorm2d'),
         lambda r, s: batch_norm(r, s, 'BatchNorm2d')]
LAST = [lambda r, s: conv(r, s, True), lambda r, s: conv(r, s, True),
        lambda r, s: pool(r, s, True), lambda r, s: adaptive(r, s, True), act,
        layer_norm, dense, lambda r, s: batch_norm(r, s, 'BatchNorm2d', -1)]
SIGNAL = [conv, conv, pool, adaptive, instance_norm, prelu, act, glu,
          upsample, layer_norm, dense,
          lambda r, s: batch_norm(r, s, 'BatchNorm1d')]
VOLUME = [conv, instance_norm, act, prelu, glu,
          lambda r, s: batch_norm(r, s, 'BatchNorm3d')]
SEQUENCE = [dense, dense, act, glu, layer_norm, encoder, encoder_stack,
            positions, conv, prelu]
