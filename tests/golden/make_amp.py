#!/usr/bin/env python3
"""Golden vectors of mixed precision from MindSpore 2.10.0 (CPU, PyNative),
into ms/; see make_mindspore.py for the environment. Arguments name the cases
to make, all without.

What is compared is one rounding of float16 apart at most: MindSpore's float16
kernels add up in another order. So the tolerances are a few steps of the type
(2^-11 relative). Its bfloat16 has no kernels for CPUs."""
import importlib
import os
import sys
import tempfile

import cases as k

k.CASES.clear()
k.HERE = k.HERE.resolve()
os.chdir(tempfile.mkdtemp())  # O1 writes rewritten_network/ into the current directory
NEAR = '--rtol 4e-3 --atol 5e-3'
FAR = '--rtol 4e-3 --atol 2e-2'  # where numbers of 20 cancel out
# O2 begins with a loss scale of 2^24; the vectors have none
ONE = ', loss_scale: {StaticLossScaler: 1}'
# the network of configs/seeds/network.yaml, with `self.fc(x)` at its end
SEED = '''\
  conv1: {Conv2d: {in_channels: 3, out_channels: 12, kernel_size: 3, pad_mode: pad, padding: 1}}
  bn1: {BatchNorm2d: {num_features: 12}}
  relu1: ReLU
  pool1: {MaxPool2d: {kernel_size: 2, stride: 2}}
  conv2: {Conv2d: {in_channels: 12, out_channels: 4, kernel_size: 3, pad_mode: pad, padding: 1}}
  bn2: {BatchNorm2d: {num_features: 4}}
  relu2: ReLU
  pool2: {MaxPool2d: {kernel_size: 2, stride: 2}}
  flatten: Flatten
  fc: {Dense: {in_channels: 100, out_channels: 10}}
'''
MLP = '''\
  - {Dense: [24, 33]}
  - ReLU
  - {LayerNorm: {normalized_shape: [33]}}
  - {Dense: [33, 17, {activation: sigmoid}]}
  - {Dense: [17, 5]}
'''.replace('[33, 17, {activation: sigmoid}]',
            '{in_channels: 33, out_channels: 17, activation: sigmoid}')


def amp(name, network, x, near, text):
    for level in 'O1', 'O2', 'O3', 'auto':
        for mode in 't', 'e':
            if (name, level, mode) == ('seed', 'O1', 'e'):
                continue  # a rounding moves a maximum to its neighbour
            k.case('amp_%s_%s%s' % (name, level, '' if mode == 't' else
                                    '_eval'), network, x=x,
                   loss='CrossEntropyLoss', label='classes',
                   cmd='--grad' if mode == 't' else '--eval --grad',
                   more='amp: {level: %s%s%s}\n' % (level, text, ONE if level == 'O2' else ''), near=near if mode == 't' else FAR)


amp('seed', SEED, (6, 3, 20, 20), NEAR, '')
amp('mlp', MLP, (7, 24), NEAR, '')
# its recipe by hand: everything float16, every BatchNorm back in float32
k.case('amp_seed_to_float', '  net:\n    SequentialCell:\n' + ''.join(
    '      - ' + (line.replace('}}', '}, to_float: float32}')
                  if 'Batch' in line else line).strip().split(': ', 1)[1] + '\n'
    for line in SEED.strip().split('\n')) + '    to_float: float16\n',
    x=(6, 3, 20, 20), loss='CrossEntropyLoss', label='classes', near=NEAR)


def straight(tree, build):
    """A map of names with its calls written out: O1 rewrites source text, in
    which a loop over names is nothing it knows."""
    name = 'calls_%d' % len(tree)
    lines = ['from mindspore import nn', '', '', 'class Calls(nn.Cell):',
             '    def __init__(self, build, tree):',
             '        super().__init__()']
    lines += ['        self.%s = build(tree["%s"])' % (n, n) for n in tree]
    lines += ['', '    def construct(self, x):']
    lines += ['        x = self.%s(x)' % n for n in tree]
    with open(name + '.py', 'w') as f:
        f.write('\n'.join(lines + ['        return x', '']))
    sys.path.insert(0, os.getcwd())
    return importlib.import_module(name).Calls(build, tree)


def run(c):
    import make_mindspore as m
    import mindspore as ms
    import numpy as np
    from mindspore import amp as a
    plain = k.Loader.load(c['config'])
    net = m.build(plain['network'])
    if isinstance(net, m.Map) and plain.get('amp', {}).get('level') == 'O1':
        net = straight(plain['network'], m.build)
    start = k.weights(c, {p.name: p.shape for p in net.get_parameters()})
    for n in start:
        if n.endswith('moving_variance'):
            start[n] = np.abs(start[n]) + np.float32(0.3)
    every = [(p.name, p) for p in net.get_parameters()]
    for n, p in every:
        p.set_data(ms.Tensor(start[n]))
    names = [p.name for p in net.trainable_params()]
    params = net.trainable_params()
    how = plain.get('amp', {})
    if how:
        dtype = getattr(ms, how.get('dtype', 'float16'))
        net = a.auto_mixed_precision(net, how['level'], dtype)
    net.set_train('--eval' not in c['cmd'])
    x = k.feed_x(c)
    loss_fn = m.build_loss(plain['loss'])
    label = k.feed_label(c, net(ms.Tensor(x)).shape)
    for n, p in every:  # moving statistics have moved
        p.set_data(ms.Tensor(start[n]))

    def forward(xs, ys):
        y = net(xs)
        return loss_fn(ms.ops.cast(y, ms.float32), ys), y
    grad = ms.value_and_grad(forward, None, params, has_aux=True)
    (loss, y), grads = grad(ms.Tensor(x), ms.Tensor(label))
    out = {'grad.' + n: g.astype(ms.float32).asnumpy()
           for n, g in zip(names, grads)}
    out['output'] = y.astype(ms.float32).asnumpy()
    out['loss'] = np.float32(loss.asnumpy())
    return x, label, start, out


if __name__ == '__main__':
    import numpy as np
    from safetensors.numpy import save_file

    import make_mindspore as m
    inner = m.build

    def build(node):
        """to_float next to a type."""
        if isinstance(node, dict) and 'to_float' in node:
            node = dict(node)
            to = node.pop('to_float')
            import mindspore as ms
            return inner(node).to_float(getattr(ms, to))
        return inner(node)
    m.build = build
    for c in k.CASES.values():
        if c['name'] not in (sys.argv[1:] or k.CASES):
            continue
        try:
            x, label, start, ref = run(c)
        except Exception as error:
            print(c['name'], str(error).strip().split('\n')[0][:150])
            continue
        k.write(c, k.HERE / 'ms' / c['name'], x, label, start,
                {n: np.array(a, np.float32, order='C')
                 for n, a in ref.items()}, save_file)
