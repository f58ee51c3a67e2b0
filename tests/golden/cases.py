"""The golden cases: one cellrun config each, with its feeds.

make_mindspore.py and make_torch.py read this list, build the same network from
the config in their framework, and write one folder per case:

    config.yaml          network, loss and optimizer, as cellrun reads them
    x.npy, label.npy     the batch
    weights.safetensors  parameters at the start, by MindSpore's names
    ref.safetensors      what `cellrun trace` must find, by its names
    cmd                  further arguments of `cellrun trace`
    absent               names that must not be in its output, if any

A case belongs to MindSpore unless it says `pt`: there MindSpore's kernel for
CPUs is known to be off (its tanh is an approximation, its Momentum ignores
use_nesterov), and PyTorch in double precision is the reference.
"""
import re
import sys
import zlib
from pathlib import Path

import numpy as np
import yaml

HERE = Path(__file__).parent
CASES = {}

FC = '  fc: {Dense: {in_channels: 6, out_channels: 4}}\n'
TWO = ('  - {Dense: {in_channels: 6, out_channels: 5}}\n'
       '  - ReLU\n'
       '  - {Dense: {in_channels: 5, out_channels: 4}}\n')


def case(name, network, loss='MSELoss', optimizer='', x=(7, 6), label=None,
         cmd='--grad', more='', scale=1.0, ref='ms', steps=0, wide=False,
         near='--rtol 1e-5 --atol 1e-6'):
    """label: a shape for real targets (the output's if None), 'classes' or
    'probabilities', or a list of class numbers."""
    config = 'network:\n' + network
    if loss:
        config += 'loss: ' + loss + '\n'
    if optimizer:
        config += 'optimizer: ' + optimizer + '\n'
    if steps:
        cmd += ' --step=%d' % steps
    cmd += ' ' + near
    assert name not in CASES
    CASES[name] = dict(name=name, config=config + more, x=x, label=label,
                       cmd=cmd, scale=scale, ref=ref, steps=steps, wide=wide,
                       tree=Loader.load(config + more))


class Loader:
    """YAML 1.2's numbers (1e-3 is one), as cellrun reads them."""

    @staticmethod
    def load(text):
        class Core(yaml.SafeLoader):
            pass
        Core.add_implicit_resolver(
            'tag:yaml.org,2002:float',
            re.compile(r'^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$'),
            list('-+0123456789.'))
        return yaml.load(text, Core)


# ---- Dense
case('dense', FC)
case('dense_bare', '  Dense: {in_channels: 6, out_channels: 4}\n')
case('dense_no_bias',
     '  fc: {Dense: {in_channels: 6, out_channels: 4, has_bias: false}}\n')
case('dense_relu', '  fc: {Dense: {in_channels: 6, out_channels: 4, '
     'activation: relu}}\n')
case('dense_sigmoid', '  fc: {Dense: {in_channels: 6, out_channels: 4, '
     'activation: sigmoid, has_bias: false}}\n')
case('dense_rank3', '  - {Dense: [6, 5]}\n  - ReLU\n  - {Dense: [5, 4]}\n',
     x=(3, 5, 6))
case('dense_rank5', FC, x=(2, 3, 1, 2, 6))
case('dense_batch1', TWO, x=(1, 6))
case('dense_one', '  fc: {Dense: [1, 1]}\n', x=(3, 1))
case('dense_odd', '  - {Dense: [33, 17]}\n  - ReLU\n  - {Dense: [17, 13]}\n',
     x=(19, 33))
case('dense_eval', TWO, cmd='--eval --grad')

# ---- Activations: between two Dense cells, and alone over a wide range
ACTIVATIONS = {
    'relu': ('ReLU', 'ms'), 'sigmoid': ('Sigmoid', 'ms'),
    'tanh': ('Tanh', 'pt'), 'gelu': ('GELU', 'pt'),
    'gelu_erf': ('{GELU: {approximate: false}}', 'ms'),
    'softmax': ('Softmax', 'ms'), 'identity': ('Identity', 'ms'),
}
for key, (cell, ref) in ACTIVATIONS.items():
    case('act_' + key, '  - {Dense: [6, 5]}\n  - %s\n  - {Dense: [5, 4]}\n'
         % cell, ref=ref)
    case('wide_' + key, '  act: %s\n' % cell, loss='', x=(3, 21), wide=True,
         cmd='--eval', ref=ref)
case('softmax_axis1', '  fc: {Dense: [6, 5]}\n  act: {Softmax: {axis: 1}}\n',
     x=(3, 4, 6))
case('softmax_axis_first', '  fc: {Dense: [6, 5]}\n  act: {Softmax: {axis: 0}}'
     '\n', x=(3, 6))
case('softmax_axis_minus2', '  fc: {Dense: [6, 5]}\n'
     '  act: {Softmax: {axis: -2}}\n', x=(2, 3, 4, 6))

# ---- Shapes and containers
case('flatten', '  flatten: Flatten\n  fc: {Dense: [24, 4]}\n',
     x=(3, 2, 3, 4))
case('flatten_middle', '  flatten: {Flatten: {start_dim: 1, end_dim: 2}}\n'
     '  fc: {Dense: [4, 3]}\n', x=(2, 3, 5, 4))
case('flatten_end', '  flatten: {Flatten: {start_dim: -2}}\n'
     '  fc: {Dense: [20, 3]}\n', x=(2, 3, 5, 4))
case('nested', '''\
  flatten: Flatten
  body:
    - {Dense: [12, 8]}
    - ReLU
    - - {Dense: [8, 7]}
      - Sigmoid
    - deep:
        first: {Dense: [7, 6]}
        rest:
          - ReLU
          - {Dense: [6, 5]}
  head:
    norm: Identity
    fc: {Dense: [5, 4]}
''', loss='CrossEntropyLoss', x=(6, 3, 4), label='classes')
case('named_sequential', '  seq: {SequentialCell: [{Dense: [6, 5]}, ReLU]}\n'
     '  fc: {Dense: [5, 4]}\n')
case('dropout_eval', '  - {Dense: [6, 5]}\n  - {Dropout: {p: 0.5}}\n'
     '  - {Dense: [5, 4]}\n', cmd='--eval --grad')
case('dropout_none', '  - {Dense: [6, 5]}\n  - {Dropout: {p: 0.0}}\n'
     '  - {Dense: [5, 4]}\n')

# ---- CrossEntropyLoss
WEIGHT = 'weight: [1.0, 2.0, 0.5, 0.25]'
IGNORE = 'ignore_index: 2'
SMOOTH = 'label_smoothing: 0.1'
LABELS = [0, 2, 1, 3, 2, 1, 3]


def ce(name, *args, label=LABELS, x=(7, 6), **more):
    network = FC if 'network' not in more else more.pop('network')
    case('ce' + name, network, '{CrossEntropyLoss: {%s}}' % ', '.join(args)
         if args else 'CrossEntropyLoss', x=x, label=label, **more)


ce('')
ce('_weight', WEIGHT)
ce('_ignore', IGNORE)
ce('_smooth', SMOOTH)
ce('_weight_ignore', WEIGHT, IGNORE)
ce('_weight_smooth', WEIGHT, SMOOTH)
ce('_ignore_smooth', IGNORE, SMOOTH)
ce('_all', WEIGHT, IGNORE, SMOOTH)
ce('_smooth_whole', 'label_smoothing: 1.0')
ce('_ignore_default', label=[0, -100, 1, -100, 2, 3, 3])
ce('_ignore_outside', 'ignore_index: 255', label=[0, 255, 1, 255, 2, 3, 3])
for red in 'sum', 'none':
    ce('_' + red, 'reduction: ' + red)
    ce('_ignore_' + red, IGNORE, 'reduction: ' + red)
    ce('_all_' + red, WEIGHT, IGNORE, SMOOTH, 'reduction: ' + red)
ce('_batch1', WEIGHT, label=[3], x=(1, 6))
ce('_large', scale=40.0, near='--rtol 1e-5 --atol 1e-5')
for red in 'mean', 'sum', 'none':
    ce('_prob_' + red, 'reduction: ' + red, label='probabilities')
    ce('_prob_all_' + red, WEIGHT, SMOOTH, 'reduction: ' + red,
       label='probabilities')
    ce('_d1_all_' + red, 'weight: [1.0, 2.0, 0.5, 0.25, 3.0]', IGNORE, SMOOTH,
       'reduction: ' + red, x=(3, 5, 6), label='classes')
ce('_d1', x=(3, 5, 6), label='classes')
ce('_d2', IGNORE, x=(2, 3, 4, 6), label='classes')
# more positions than go at a time, with channels last and row by row
for name, classes, more in (
        ('_planes', 16,
         dict(network='  - {Conv2d: {in_channels: 16, out_channels: 16, '
              'kernel_size: 3}}\n', x=(1, 16, 9, 31))),
        ('_lines', 5, dict(x=(2, 5, 67, 6)))):
    more.update(label='classes', near='--rtol 1e-5 --atol 1e-5')
    ce(name, **more)
    ce(name + '_weight_ignore', IGNORE, 'weight: %s' %
       [1.5 - i / classes for i in range(classes)], **more)
    ce(name + '_none', 'reduction: none', **more)
    ce(name + '_smooth', SMOOTH, **more)
ce('_d1_prob', SMOOTH, x=(3, 5, 6), label='probabilities')

# ---- MSELoss
for red in 'mean', 'sum', 'none':
    case('mse_' + red, FC, '{MSELoss: {reduction: %s}}' % red)
    case('mse_rank3_' + red, FC, '{MSELoss: {reduction: %s}}' % red,
         x=(2, 3, 6))
case('mse_broadcast', FC, label=(7, 1))

# ---- Optimizers: five updates on one batch
OPTIM = {
    'sgd': 'SGD: {learning_rate: 0.1}',
    'sgd_default': 'SGD: {}',
    'sgd_decay': 'SGD: {learning_rate: 0.1, weight_decay: 0.05}',
    'sgd_momentum': 'SGD: {learning_rate: 0.1, momentum: 0.9}',
    'sgd_dampening': 'SGD: {learning_rate: 0.1, momentum: 0.9, '
                     'dampening: 0.5}',
    'sgd_nesterov': 'SGD: {learning_rate: 0.1, momentum: 0.9, '
                    'nesterov: true}',
    'sgd_all': 'SGD: {learning_rate: 0.1, momentum: 0.8, dampening: 0.25, '
               'weight_decay: 0.05}',
    'sgd_nesterov_decay': 'SGD: {learning_rate: 0.1, momentum: 0.8, '
                          'weight_decay: 0.05, nesterov: true}',
    'sgd_list': 'SGD: {learning_rate: [0.1, 0.05, 0.2, 0.01, 0.1]}',
    'sgd_list_momentum': 'SGD: {learning_rate: [0.1, 0.05, 0.2, 0.01, 0.1], '
                         'momentum: 0.9}',
    'momentum': 'Momentum: {learning_rate: 0.1, momentum: 0.9}',
    'momentum_decay': 'Momentum: {learning_rate: 0.1, momentum: 0.9, '
                      'weight_decay: 0.05}',
    'momentum_none': 'Momentum: {learning_rate: 0.1, momentum: 0.0}',
    'momentum_list': 'Momentum: {learning_rate: [0.1, 0.05, 0.2, 0.01, 0.1], '
                     'momentum: 0.9}',
}
for key, optim in OPTIM.items():
    case(key, TWO, 'CrossEntropyLoss', '{%s}' % optim, label='classes',
         steps=5)
for key, decay in ('', ''), ('_decay', ', weight_decay: 0.05'):
    case('momentum_nesterov' + key, TWO, 'CrossEntropyLoss',
         '{Momentum: {learning_rate: 0.1, momentum: 0.9, '
         'use_nesterov: true%s}}' % decay, label='classes', steps=5, ref='pt')
case('step_one', TWO, 'CrossEntropyLoss',
     '{SGD: {learning_rate: 0.1, momentum: 0.9, dampening: 0.5}}',
     label='classes', steps=1)
# decay spares every name that has beta or gamma in it
case('decay_names', '  alphabeta: {Dense: [6, 5]}\n  relu: ReLU\n'
     '  fc: {Dense: [5, 5]}\n  gamma: {Dense: [5, 4]}\n', 'CrossEntropyLoss',
     '{SGD: {learning_rate: 0.1, weight_decay: 0.5}}', label='classes',
     steps=3)

# ---- Freezing
DEEP = ('  a: {Dense: [6, 5]}\n  b: [Sigmoid, {Dense: [5, 5]}, ReLU]\n'
        '  c: {Dense: [5, 4]}\n')
for key, patterns in (('first', '"a.*"'), ('middle', '"b.*"'),
                      ('last', '"c.*"'), ('bias', '"*.bias"'),
                      ('two', '"a.* b.1.weight"')):
    case('freeze_' + key, DEEP, 'CrossEntropyLoss',
         '{SGD: {learning_rate: 0.1, momentum: 0.9, weight_decay: 0.05}}',
         label='classes', steps=3, more='freeze: {patterns: [%s]}\n'
         % ', '.join('"%s"' % p for p in patterns.strip('"').split()))


def rand(c, what):
    return np.random.RandomState(zlib.crc32((c['name'] + what).encode()))


def feed_x(c):
    if c['wide']:
        row = [-100, -20, -9, -5, -3, -1, -0.5, -0.1, -1e-4, -1e-20, -0.0,
               1e-20, 1e-4, 0.1, 0.5, 1, 3, 5, 9, 20, 88]
        return np.array([row, row[::-1], np.array(row) / 3], np.float32)
    return (c['scale'] * rand(c, 'x').uniform(-1, 1, c['x'])).astype(
        np.float32)


def feed_label(c, out):
    """The label for an output of this shape; None where there is no loss."""
    r, label = rand(c, 'label'), c['label']
    if 'loss' not in c['tree']:
        return None
    if label == 'classes':
        return r.randint(0, out[1], out[:1] + out[2:]).astype(np.int32)
    if label == 'probabilities':
        p = r.uniform(0.1, 1, out)
        return (p / p.sum(1, keepdims=True)).astype(np.float32)
    if isinstance(label, list):
        return np.array(label, np.int32)
    return r.uniform(-1, 1, label or out).astype(np.float32)


def weights(c, shapes):
    """Parameters at the start, away from any framework's initialisers."""
    r = rand(c, 'weights')
    return {n: r.uniform(-0.7, 0.7, s).astype(np.float32)
            for n, s in shapes.items()}


def typed(node):
    """(type, arguments) of a typed node, else None."""
    if isinstance(node, str):
        return node, None
    if isinstance(node, dict):
        upper = [k for k in node if k[0].isupper()]
        if len(upper) == 1 and len(node) == 1:
            return upper[0], node[upper[0]]
    return None


def frozen(c, name):
    patterns = c['tree'].get('freeze', {}).get('patterns', [])
    return any(re.fullmatch(p.replace('.', r'\.').replace('*', '.*'), name)
               for p in patterns)


def write(c, folder, x, label, start, ref, save):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'config.yaml').write_text(c['config'])
    (folder / 'cmd').write_text(c['cmd'] + '\n')
    np.save(folder / 'x.npy', x)
    if label is not None:
        np.save(folder / 'label.npy', label)
    if start:
        save(start, folder / 'weights.safetensors')
    save(ref, folder / 'ref.safetensors')
    for file in folder.glob('*.safetensors'):
        file.chmod(0o644)
    absent = ['grad.' + n for n in start if frozen(c, n)]
    if absent:
        (folder / 'absent').write_text('\n'.join(absent) + '\n')


def make(run, save):
    """Writes what run gives of the cases that the command line names, or of
    all, in MindSpore's folder."""
    for c in CASES.values():
        if c['name'] not in (sys.argv[1:] or CASES):
            continue
        x, label, start, ref = run(c)
        write(c, HERE / 'ms' / c['name'], x, label, start,
              {n: np.array(a, np.float32, order='C')
               for n, a in ref.items()}, save)
