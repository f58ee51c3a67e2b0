#!/usr/bin/env python3
"""Golden vectors of blocks of known networks, as their users write them, from
MindSpore 2.10.0 (CPU, PyNative), into ms/; see make_mindspore.py for the
environment. Arguments name the cases to make, all without.

They are what plans fuse and lay out with channels last: squeeze and excite
(a mean over space, a factor per channel), grouped and depthwise convolutions
between batch normalisations and activations, additions to a residual."""
import sys

from safetensors.numpy import save_file

import cases as k
import make_mindspore as m

ms, nn, ops = m.ms, m.nn, m.ms.ops
k.CASES.clear()
NETS = {}
NEAR = '--rtol 1e-4 --atol 1e-5'


def conv(i, o, size, **more):
    text = ''.join(', %s: %s' % (n, str(v).lower()) for n, v in more.items())
    return ('Conv2d: {in_channels: %d, out_channels: %d, kernel_size: %d%s}'
            % (i, o, size, text), lambda: nn.Conv2d(i, o, size, **more))


def up(i, o, size):
    return ('Conv2dTranspose: {in_channels: %d, out_channels: %d, '
            'kernel_size: %d, stride: 2}' % (i, o, size),
            lambda: nn.Conv2dTranspose(i, o, size, stride=2))


def norm(c):
    return ('BatchNorm2d: {num_features: %d}' % c, lambda: nn.BatchNorm2d(c))


def dense(i, o):
    return 'Dense: [%d, %d]' % (i, o), lambda: nn.Dense(i, o)


def number(*shape):
    return ('Parameter: {shape: %s, init: ones}' % list(shape),
            lambda: ms.Parameter(ops.ones(shape, ms.float32)))


def case(name, cells, lines, x, cmd='--grad', near=NEAR):
    """lines: construct, for both."""
    text = '  cells:\n'
    for cell, (config, _) in cells.items():
        text += '    %s: {%s}\n' % (cell, config)
    text += '  construct: |\n' + ''.join('    %s\n' % line for line in lines)
    k.case(name, text, x=x, cmd=cmd, near=near)
    NETS[name] = {n: c[1] for n, c in cells.items()}, lines


class Net(nn.Cell):
    def __init__(self, cells, lines):
        super().__init__()
        for name, make in cells.items():
            setattr(self, name, make())
        names = {n: getattr(ops, n) for n in dir(ops)}
        names.update(float16=ms.float16, float32=ms.float32)
        scope = {}
        exec('def f(x, %s):\n' % ', '.join(cells) +
             ''.join('    %s\n' % line for line in lines), names, scope)
        self.cells_of, self.lines = list(cells), scope['f']

    def construct(self, x):
        return self.lines(x, *(getattr(self, n) for n in self.cells_of))


def excite(act, channels, size, kernel, group, stride=1, second=True):
    """An inverted residual with squeeze and excite. A second normalisation
    nearly cancels the gradients of the first one."""
    i, c = channels
    cells = dict(a=conv(3, i, 3), e=conv(i, c, 1), n1=norm(c),
                 d=conv(c, c, kernel, group=group, stride=stride), n2=norm(c),
                 s1=conv(c, 4, 1, has_bias=True),
                 s2=conv(4, c, 1, has_bias=True), p=conv(c, i, 1),
                 h=dense(i, 3))
    if not second:
        del cells['n2']
    lines = ['x = a(x)', 'y = %s(n1(e(x)))' % act,
             'y = %s(%s)' % (act, 'n2(d(y))' if second else 'd(y)'),
             'z = mean(y, (2, 3), True)', 'z = sigmoid(s2(relu(s1(z))))',
             'y = p(y * z)', 'y = x + y' if stride == 1 else '',
             'return h(mean(y, (2, 3)))']
    return cells, [line for line in lines if line], (2, 3, *size)


for act in 'silu', 'hardswish', 'relu6':
    case('block_excite_' + act,
         *excite(act, (16, 32), (7, 6), 3, 32, second=False))
case('block_excite_few', *excite('silu', (3, 5), (5, 6), 3, 5))
case('block_excite_stride', *excite('relu6', (16, 24), (8, 7), 5, 24, 2))
case('block_excite_groups', *excite('silu', (16, 32), (6, 6), 3, 8))
case('block_excite_eval', *excite('silu', (16, 32), (7, 6), 3, 32),
     cmd='--eval --grad')
# the input of a normalisation has other readers: its gradient is added to
case('block_dense', dict(a=conv(3, 16, 3), n1=norm(16), c1=conv(16, 8, 3),
                         n2=norm(24), c2=conv(24, 8, 3), h=dense(32, 3)),
     ['x = a(x)', 'y = c1(silu(n1(x)))', 'x = cat((x, y), 1)',
      'y = c2(sigmoid(n2(x)))', 'x = cat((x, y), 1)',
      'return h(mean(x, (2, 3)))'], (2, 3, 6, 7))
# a number per channel, a plane per sample and a single number
case('block_broadcast', dict(a=conv(3, 16, 3), b=conv(16, 16, 3),
                             h=dense(16, 3)),
     ['x = a(x)', 'y = b(x)', 'y = y - amax(y, (2, 3), True)',
      'y = y * sigmoid(mean(x, 1, True)) + mean(y)',
      'return h(mean(y * x, (2, 3)))'], (2, 3, 6, 7))

# parameters that lie alike in both layouts, as of LayerScale, and one that
# does not
case('block_scale', dict(a=conv(3, 16, 3), b=conv(16, 16, 3),
                         c=conv(16, 16, 3), h=dense(16, 3),
                         g=number(16, 1, 1), f=number(1, 16, 1, 1),
                         p=number(6, 7), r=number(1, 1, 7),
                         q=number(16, 6, 1)),
     ['x = a(x)', 'x = x + g * silu(b(x) * p)', 'y = f * x + r',
      'y = c(y) - y * q', 'return h(mean(y * x, (2, 3)))'], (2, 3, 6, 7))

# activations that follow a convolution, of one and of several groups
case('block_activations',
     dict(a=conv(3, 16, 3), b=conv(16, 24, 1), c=conv(24, 24, 3, group=24),
          d=conv(24, 20, 3, stride=2, group=4), e=conv(20, 20, 3),
          t=up(20, 3, 4), h=dense(3, 3)),
     ['x = silu(a(x))', 'y = tanh(b(x))', 'y = gelu(c(y))',
      'y = elu(d(y))', 'y = hardswish(e(y) + y)', 'y = sigmoid(t(y))',
      'return h(mean(y, (2, 3)))'], (2, 3, 6, 8))

# what convolutions read lies in two bytes per number
case('block_activations_low',
     dict(b=conv(3, 8, 3), d=conv(3, 8, 3), h=dense(8, 3)),
     ['x = cast(cast(x, float16), float32)', 'x = silu(b(x)) + tanh(d(x))',
      'return h(mean(x, (2, 3)))'], (9, 3, 6, 7))


if __name__ == '__main__':
    for c in k.CASES.values():
        if c['name'] in (sys.argv[1:] or k.CASES):
            cells, lines = NETS[c['name']]
            x, label, start, ref = m.run_net(c, Net(cells, lines))
            k.write(c, k.HERE / 'ms' / c['name'], x, label, start,
                    m.tidy(ref), save_file)
