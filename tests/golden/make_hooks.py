#!/usr/bin/env python3
"""Golden vectors of hooks that replace, from MindSpore 2.10.0 (CPU, PyNative),
into ms/; see make_mindspore.py for the environment. Arguments name the cases
to make, all without.

The hooks are written here once more as MindSpore's functions. Of a cell with
both a `forward` and hooks in the backward pass there is no case: 2.10 calls the
first inside of the others, 2.6 and cellrun outside."""

import cases as k

k.CASES.clear()
HOOKS = {}
MLP = ('  - {Dense: {in_channels: 6, out_channels: 5}}\n'
       '  - Tanh\n'
       '  - {Dense: {in_channels: 5, out_channels: 4}}\n')
CONV = ('  conv: {Conv2d: {in_channels: 3, out_channels: 5, kernel_size: 3, has_bias: true}}\n'
        '  bn: {BatchNorm2d: {num_features: 5}}\n'
        '  relu: ReLU\n'
        '  flat: Flatten\n'
        '  fc: {Dense: {in_channels: 180, out_channels: 4}}\n')
POINT = ('  cells:\n'
         '    a: {Dense: {in_channels: 6, out_channels: 5}}\n'
         '    b: {Dense: {in_channels: 5, out_channels: 4}}\n'
         '  construct: |\n'
         "    y = hook_backward(a(x), 'y')\n"
         '    return b(y * y + y)\n')
TWICE = ('  cells:\n'
         '    a: {Dense: {in_channels: 6, out_channels: 6}}\n'
         '    b: {Dense: {in_channels: 6, out_channels: 4}}\n'
         '  construct: return b(a(relu(a(x))))\n')


def one(grads):
    """Gradients come as a tuple, of one here."""
    return grads[0] if isinstance(grads, tuple) else grads


def hook(name, network, entries, registered, x=(7, 6)):
    HOOKS['hook_' + name] = registered
    k.case('hook_' + name, network, x=x,
           more='watch:\n' + ''.join('  - {%s}\n' % e for e in entries))


PRE, FWD = 'register_forward_pre_hook', 'register_forward_hook'
BPRE, BACK = 'register_backward_pre_hook', 'register_backward_hook'


def clamp(low, high):
    from mindspore import ops
    return lambda v: ops.clamp(v, low, high)


hook('forward_pre_scale', MLP, ['at: "1", hook: forward_pre, scale: 0.5'],
     [('1', PRE, lambda cell, i: i[0] * 0.5)])
hook('forward_clamp', MLP, ['at: "0", hook: forward, clamp: [-0.3, 0.4]'],
     [('0', FWD, lambda cell, i, o: clamp(-0.3, 0.4)(o))])
hook('forward_text', MLP,
     ['at: "1", hook: forward, construct: return output * inputs + 0.1'],
     [('1', FWD, lambda cell, i, o: o * i[0] + 0.1)])
hook('forward_chain', MLP,
     ['at: "1", hook: forward, scale: 2',
      'at: "1", hook: forward, construct: return output + inputs'],
     [('1', FWD, lambda cell, i, o: o * 2),
      ('1', FWD, lambda cell, i, o: o + i[0])])
hook('backward_pre_clamp', MLP,
     ['at: "1", hook: backward_pre, clamp: [-0.01, 0.02]'],
     [('1', BPRE, lambda cell, g: clamp(-0.01, 0.02)(one(g)))])
hook('backward_pre_chain', MLP,
     ['at: "1", hook: backward_pre, scale: 3',
      'at: "1", hook: backward_pre, clamp: [-0.01, 0.02]'],
     [('1', BPRE, lambda cell, g: one(g) * 3),
      ('1', BPRE, lambda cell, g: clamp(-0.01, 0.02)(one(g)))])
hook('backward_scale', MLP, ['at: "1", hook: backward, scale: -0.5'],
     [('1', BACK, lambda cell, gi, go: one(gi) * -0.5)])
hook('backward_zero', MLP, ['at: "2", hook: backward, zero: true'],
     [('2', BACK, lambda cell, gi, go: one(gi) * 0)])
hook('backward_text', MLP,
     ['at: "1", hook: backward, construct: '
      '"return grad_input * 2 - grad_output"'],
     [('1', BACK, lambda cell, gi, go: one(gi) * 2 - one(go))])
hook('backward_chain', MLP,
     ['at: "1", hook: backward, scale: 3',
      'at: "1", hook: backward, clamp: [-0.01, 0.02]'],
     [('1', BACK, lambda cell, gi, go: one(gi) * 3),
      ('1', BACK, lambda cell, gi, go: clamp(-0.01, 0.02)(one(gi)))])
hook('backward_both', MLP,
     ['at: "1", hook: backward, construct: "return grad_input + grad_output"',
      'at: "1", hook: backward_pre, scale: 5'],
     [('1', BACK, lambda cell, gi, go: one(gi) + one(go)),
      ('1', BPRE, lambda cell, g: one(g) * 5)])
hook('conv', CONV,
     ['at: conv, hook: backward_pre, scale: 0.25',
      'at: bn, hook: forward_pre, clamp: [-1, 1]',
      'at: relu, hook: backward, clamp: [-0.005, 0.005]',
      'at: fc, hook: forward, scale: 0.1'],
     [('conv', BPRE, lambda cell, g: one(g) * 0.25),
      ('bn', PRE, lambda cell, i: clamp(-1, 1)(i[0])),
      ('relu', BACK, lambda cell, gi, go: clamp(-0.005, 0.005)(one(gi))),
      ('fc', FWD, lambda cell, i, o: o * 0.1)], x=(3, 3, 6, 6))
hook('twice', TWICE, ['at: a, hook: backward, scale: 2',
                      'at: a, hook: forward, scale: 0.5'],
     [('a', BACK, lambda cell, gi, go:
       None if one(gi) is None else one(gi) * 2),  # the data get none
      ('a', FWD, lambda cell, i, o: o * 0.5)])
hook('point', POINT, ['at: y, hook: hook_backward, clamp: [-0.02, 0.02]'],
     lambda grad: clamp(-0.02, 0.02)(one(grad)))


def build(c):
    """The networks that are a text, once more."""
    import make_mindspore as m
    from mindspore import nn, ops

    class Point(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Dense(6, 5), nn.Dense(5, 4)
            self.hook = ops.operations.debug_ops.HookBackward(
                HOOKS[c['name']])

        def construct(self, x):
            y = self.hook(self.a(x))
            return self.b(y * y + y)

    class Twice(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Dense(6, 6), nn.Dense(6, 4)

        def construct(self, x):
            return self.b(self.a(ops.relu(self.a(x))))

    if 'construct:' in c['config'].split('watch:')[0]:
        return Point() if c['name'] == 'hook_point' else Twice()
    return m.build(c['tree']['network'])


def run(c):
    import make_mindspore as m
    import mindspore as ms
    import numpy as np
    net = build(c)
    start = k.weights(c, {p.name: p.shape for p in net.get_parameters()})
    for n in start:
        if n.endswith('moving_variance'):
            start[n] = np.abs(start[n]) + np.float32(0.3)
    every = [(p.name, p) for p in net.get_parameters()]
    net.set_train()
    x = k.feed_x(c)
    label = k.feed_label(c, (x.shape[0], 4))
    if not callable(HOOKS[c['name']]):
        cells = dict(net.cells_and_names())
        for name, form, function in HOOKS[c['name']]:
            getattr(cells[name], form)(function)
    for n, p in every:
        p.set_data(ms.Tensor(start[n]))
    loss_fn = m.build_loss(c['tree']['loss'])

    def forward(xs, ys):
        y = net(xs)
        return loss_fn(y, ys), y
    grad = ms.value_and_grad(forward, None, net.trainable_params(),
                             has_aux=True)
    (loss, y), grads = grad(ms.Tensor(x), ms.Tensor(label))
    out = {'grad.' + p.name: g.asnumpy()
           for p, g in zip(net.trainable_params(), grads)}
    out['output'] = y.asnumpy()
    out['loss'] = np.float32(loss.asnumpy())
    return x, label, start, out


if __name__ == '__main__':
    from safetensors.numpy import save_file

    k.make(run, save_file)
