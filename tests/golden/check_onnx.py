#!/usr/bin/env python3
"""Compares what `cellrun export --to onnx` writes with cellrun itself.

onnx.checker checks each model completely, onnxruntime computes it, and
`cellrun trace --predict` computes the same network. Needs onnx, onnxruntime and
numpy; no part of `make check`.

  check_onnx.py                    every network below, for two batch sizes
  check_onnx.py NAME...            those whose name contains NAME
  check_onnx.py --ckpt CKPT...     checkpoints, for random inputs; with
                                   --limit D before it, exit 1 beyond D

CELLRUN is the program (build/cellrun).
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

CELLRUN = os.path.abspath(os.environ.get('CELLRUN', 'build/cellrun'))
RTOL, ATOL = 1e-4, 1e-5


class Refused(Exception):
    pass


def run(*args):
    done = subprocess.run([CELLRUN, *args], capture_output=True, text=True)
    if done.returncode:
        raise Refused(done.stderr.strip().replace('\n', ' | ')[:300])
    return done.stdout


def deviation(ours, theirs):
    """The largest difference, relative to 1 + |theirs|."""
    if ours.shape != theirs.shape:
        raise AssertionError(f'shapes {ours.shape} and {theirs.shape}')
    a, b = ours.astype('f8'), theirs.astype('f8')
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid='ignore'):
        d = np.where(same, 0, np.abs(a - b) / (1 + np.abs(b)))
    return float(np.max(d, initial=0)) if not np.isnan(d).any() else np.inf


def model(path):
    m = onnx.load(path)
    onnx.checker.check_model(m, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options)


def random_feeds(session, n):
    """Inputs for n samples: normal numbers, and indices below 4."""
    rng, feeds = np.random.default_rng(n), {}
    for i in session.get_inputs():
        shape = [n if d == 'N' else d for d in i.shape]
        feeds[i.name] = (rng.integers(0, 4, shape, 'i4') if 'int' in i.type
                         else rng.standard_normal(shape, 'f4'))
    return feeds


def compare(source, feeds, folder, export=()):
    """The largest deviation over all results. source: operands of cellrun that
    name a network with its weights; feeds: column -> array, or the number of
    random samples."""
    path, out = f'{folder}/m.onnx', f'{folder}/out.npz'
    if len(source) == 1 and 'use_ema: true' in run(
            'ckpt', 'show', *source, '--meta', 'cellrun.config'):
        export = ['eval.use_ema=false']  # trace takes the parameters
    run('export', *source, '-q', '-o', path, *export)
    session = model(path)
    if isinstance(feeds, int):
        feeds = random_feeds(session, feeds)
    args = []
    for name, x in feeds.items():
        np.save(f'{folder}/feed-{name}.npy', x)
        args += ['--feed', f'{name}={folder}/feed-{name}.npy']
    run('trace', *source, '--predict', '-o', out, *args)
    ours = np.load(out)
    wanted = {i.name for i in session.get_inputs()}
    theirs = session.run(None, {k: v for k, v in feeds.items() if k in wanted})
    names = sorted((k for k in ours.files if k.startswith('output#.')),
                   key=lambda k: [int(i) for i in k.split('.')[1:]])
    names = names or ['output']
    assert len(names) == len(theirs), f'{names} and {len(theirs)} results'
    return max(deviation(y, ours[k]) for k, y in zip(names, theirs))


# ---- Networks: name -> (columns, cells, expression)

X = {'x': (3, 6, 8)}
ROW = {'x': (12,)}
SEQ = {'x': (7, 6)}
IDS = {'i': ('int32', 7, 9)}
NETS = {}


def net(name, columns, cells, result):
    NETS[name] = (columns, cells, result)


for f in '''abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp expm1
        floor log log1p neg relu round rsqrt sigmoid sign sin sinh sqrt square
        tan tanh celu elu fast_gelu gelu hardshrink hardsigmoid hardswish
        hardtanh leaky_relu logsigmoid mish relu6 selu silu softmin softplus
        softshrink softsign tanhshrink softmax log_softmax'''.split():
    inside = {'acosh': 'abs(x) + 1.5', 'acos': 'tanh(x)', 'asin': 'tanh(x)',
              'atanh': 'tanh(x) * 0.9', 'log': 'abs(x) + 0.1',
              'sqrt': 'abs(x)', 'rsqrt': 'abs(x) + 0.1', 'tan': 'tanh(x)',
              'log1p': 'abs(x)'}.get(f, '3.0 * x')
    net(f, X, {}, f'{f}({inside})')
for f in ['a + b', 'a - b', 'a * b', 'a / b', 'maximum(a, b)', 'minimum(a, b)',
          'pow(abs(a) + 0.1, b)', 'atan2(a, b)', 'a // b', 'a % b', 'a > b',
          'a >= b', 'a < b', 'a <= b', 'a == b', 'a != b',
          'logical_and(a > 0.0, b > 0.0)', 'logical_or(a > 0.0, b > 0.0)',
          'logical_not(a > 0.0)', 'where(a > b, a, b)', 'fmod(a, b)',
          'clamp(a, -0.5, 0.5)', 'clamp(a, None, 0.5)', 'addcmul(a, b, b)',
          'xlogy(abs(a), abs(b) + 0.1)', 'i % 3', 'i // 3', 'i + i', 'i > 2',
          'i * a[:, :1]', 'cast(a * 5.0, int32)', 'cast(i, float32)',
          'a > i', 'cast(a, float16)', 'cast(a, bfloat16)', 'maximum(i, 3)',
          'threshold(a, 0.2, -1.0)', 'abs(i - 4)', '-i']:
    net(f, {'a': (5,), 'b': (5,), 'i': ('int32', 9, 5)}, {}, f)
for f in ['sum(x)', 'sum(x, 1)', 'mean(x, (2, 3), keepdims=True)', 'max(x, 1)',
          'min(x, -1)', 'prod(x, 1)', 'all(x > 0.0, 1)', 'any(x > 0.0, 1)',
          'logsumexp(x, 1)', 'norm(x, axis=1)', 'norm(x, ord=1, axis=1)',
          'norm(x, ord=3, axis=(1, 2))', 'argmax(x, 1)', 'argmax(x, -1, True)',
          'cumsum(x, 2)', 'std(x, 1)', 'var(x, 1)', 'sum(x > 0.0, 2)',
          'mean(x)', 'max(x, (1, 2, 3))', 'count_nonzero(x, 1)']:
    net(f, X, {}, f)
for f in ['reshape(x, (-1, 48))', 'reshape(x, (x.shape[0], 6, 24))',
          'flatten(x)', 'transpose(x, (0, 2, 3, 1))', 'swapaxes(x, 1, 3)',
          'expand_dims(x, 1)', 'squeeze(x[:, :1], 1)', 'x[:, 0]', 'x[:, ::2]',
          'x[:, :, ::-1]', 'x[:, -2:]', 'x[:, :, 1:-1]', 'concat((x, -x), 1)',
          'stack((x, -x), 2)', 'stack((x, -x))', 'split(x, 4, 3)[1]',
          'unstack(x, 1)[2]', 'tile(x, (1, 2, 1, 3))', 'flip(x, (1, 3))',
          'roll(x, 2, 3)', 'movedim(x, 1, 3)', 'broadcast_to(x[:, :1], (-1, 5,'
          ' 6, 8))', 'repeat_interleave(x, 2, 1)', 'pad(x, (1, 2, 0, 1))',
          'pad(x, (1, 2), mode="reflect")', 'pad(x, (1, 2), mode="replicate")',
          'pad(x, (1, 2, 2, 1), mode="circular")', 'pad(x, (1, 1), value=3.0)',
          'topk(x, 3, -1)', 'topk(x, 2, 1, False)[1]', 'sort(x, 1)',
          'sort(x, -1, True)[1]', 'zeros_like(x)', 'ones_like(x[:, 0])',
          'x + arange(8)', 'matmul(x, transpose(x, (0, 1, 3, 2)))',
          'matmul(x, ones((8, 4)))', 'dot(x, ones((8, 4)))',
          'einsum("nchw,nchv->ncwv", x, x)', 'einsum("nchw->nhw", x)',
          'meshgrid(arange(3), arange(4))[0] + x[:, 0, :4, :3]',
          'masked_mean(x, x[:, :, 0, 0] > 0.0, axis=(1,))',
          'zeros((x.shape[0], 4)) + x[:, 0, 0, :4]',
          'gather(x, argmax(x[0, 0, 0]), 2)',
          'one_hot(argmax(x, 1), 3)', 'triu(ones((6, 6))) * x[:, 0, :, :6]',
          'tril(ones((6, 6))) * x[:, 0, :, :6]', 'stop_gradient(x)',
          'unsorted_segment_sum(x[0, 0, :, 0], argmax(x[0, 0], 1), 8)',
          'gather(x, argmax(x, 1)[0, 0], 2)']:
    net(f, X, {}, f)
for name, columns, cells, result in [
        ('Dense', ROW, {'d': '{Dense: [12, 5]}'}, 'd(x)'),
        ('Dense over rows', SEQ, {'d': '{Dense: [6, 5]}'}, 'd(x)'),
        ('Dense, no bias', SEQ, {'d': '{Dense: {in_channels: 6, out_channels: '
         '5, has_bias: false, activation: relu}}'}, 'd(x)'),
        ('Embedding', IDS, {'e': '{Embedding: [9, 4]}'}, 'e(i)'),
        ('Embedding, one-hot', IDS, {'e': '{Embedding: {vocab_size: 9, '
         'embedding_size: 4, use_one_hot: true}}'}, 'e(i)'),
        ('OneHot', IDS, {'e': '{OneHot: {depth: 9}}'}, 'e(i)'),
        ('OneHot, axis', IDS, {'e': '{OneHot: {depth: 5, axis: 1, on_value: 2.0'
         ', off_value: -1.0}}'}, 'e(i)'),
        ('PositionalEncoding', SEQ, {'e': 'PositionalEncoding'}, 'e(x)'),
        ('Dropout', SEQ, {'e': '{Dropout: {p: 0.5}}'}, 'e(x)'),
        ('GLU', SEQ, {'e': 'GLU'}, 'e(x)'),
        ('PReLU', X, {'e': '{PReLU: {channel: 3}}'}, 'e(x)'),
        ('PReLU, one', X, {'e': 'PReLU'}, 'e(x)'),
        ('LRN', X, {'e': '{LRN: {depth_radius: 1}}'}, 'e(x)'),
        ('BatchNorm1d', ROW, {'e': 'BatchNorm1d'}, 'e(x)'),
        ('BatchNorm2d', X, {'e': 'BatchNorm2d'}, 'e(x)'),
        ('BatchNorm2d, batch statistics', X, {'e': '{BatchNorm2d: '
         '{use_batch_statistics: true}}'}, 'e(x)'),
        ('GroupNorm', {'x': (6, 5, 4)}, {'e': '{GroupNorm: {num_groups: 2, '
         'num_channels: 6}}'}, 'e(x)'),
        ('GroupNorm, one', {'x': (6, 5, 4)}, {'e': '{GroupNorm: {num_groups: 6,'
         ' num_channels: 6}}'}, 'e(x)'),
        ('InstanceNorm2d', X, {'e': 'InstanceNorm2d'}, 'e(x)'),
        ('LayerNorm', SEQ, {'e': '{LayerNorm: {normalized_shape: [6]}}'},
         'e(x)'),
        ('LayerNorm, two axes', SEQ, {'e': '{LayerNorm: {normalized_shape: [7, '
         '6], begin_norm_axis: 1, begin_params_axis: 1}}'}, 'e(x)'),
        ('LayerNorm, other parameters', SEQ, {'e': '{LayerNorm: '
         '{normalized_shape: [6], begin_norm_axis: 1, begin_params_axis: 2}}'},
         'e(x)'),
        ('Conv1d', SEQ, {'e': '{Conv1d: {out_channels: 4, kernel_size: 3, '
         'stride: 2, has_bias: true}}'}, 'e(x)'),
        ('Conv3d', {'x': (2, 4, 5, 6)}, {'e': '{Conv3d: {out_channels: 4, '
         'kernel_size: [2, 3, 3]}}'}, 'e(x)'),
        ('MultiheadAttention', SEQ, {'e': '{MultiheadAttention: {embed_dim: 6, '
         'num_heads: 2, batch_first: true}}'}, 'e(x, x, x)'),
        ('MultiheadAttention, time first', {'x': (7, 6)}, {'e':
         '{MultiheadAttention: {embed_dim: 6, num_heads: 3}}'},
         'e(x, x, x)'),
        ('MultiheadAttention, masks', {'x': (7, 6), 'i': ('int32', 3, 7)},
         {'e': '{MultiheadAttention: {embed_dim: 6, num_heads: 2, batch_first: '
          'true}}'}, 'e(x, x, x, key_padding_mask=i == 0, attn_mask=triu('
         'ones((7, 7)), 1) > 0.0)[0]'),
        ('TransformerEncoderLayer', SEQ, {'e': '{TransformerEncoderLayer: '
         '{d_model: 6, nhead: 2, dim_feedforward: 8, batch_first: true}}'},
         'e(x)'),
        ('TransformerEncoder, causal', SEQ, {'e': '{TransformerEncoder: '
         '{encoder_layer: {TransformerEncoderLayer: {d_model: 6, nhead: 2, '
         'dim_feedforward: 8, batch_first: true}}, num_layers: 2}}'},
         'e(x)')]:
    net(name, columns, cells, result)
for mode in ['same', 'valid', 'pad, padding: [1, 2, 0, 1]']:
    for stride, dilation in [(1, 1), (2, 1), (1, 2), (3, 1)]:
        opts = (f'out_channels: 4, kernel_size: [3, 2], stride: {stride}, '
                f'dilation: {dilation}, pad_mode: {mode}, has_bias: true')
        for cell in ['Conv2d', 'Conv2dTranspose']:
            net(f'{cell} {mode} {stride} {dilation}', X,
                {'e': f'{{{cell}: {{{opts}}}}}'}, 'e(x)')
net('Conv2d, groups', {'x': (4, 6, 8)}, {'e': '{Conv2d: {out_channels: 8, '
    'kernel_size: 3, group: 2}}'}, 'e(x)')
net('Conv2d, NHWC', {'x': (6, 8, 3)}, {'e': '{Conv2d: {out_channels: 8, '
    'kernel_size: 3, data_format: NHWC}}', 'b': '{BatchNorm2d: {data_format: '
    'NHWC}}'}, 'b(e(x))')
for mode in ['valid', 'same', 'pad, padding: 1', 'pad, ceil_mode: true',
             'pad, padding: 1, ceil_mode: true']:
    for kernel, stride in [(2, 2), (3, 2), ('[3, 2]', 1), (3, 3), (2, 3)]:
        opts = f'kernel_size: {kernel}, stride: {stride}, pad_mode: {mode}'
        for cell, more in [('MaxPool2d', ''), ('AvgPool2d', ''),
                           ('AvgPool2d', ', count_include_pad: false'),
                           ('AvgPool2d', ', divisor_override: 3')]:
            if more and 'pad' not in mode:
                continue
            net(f'{cell} {opts}{more}', {'x': (2, 7, 8)},
                {'e': f'{{{cell}: {{{opts}{more}}}}}'}, 'e(x)')
net('MaxPool2d, indices', X, {'e': '{MaxPool2d: {kernel_size: 2, stride: 2, '
    'pad_mode: pad, return_indices: true}}'}, 'e(x)')
for mode in ['CONSTANT', 'REFLECT', 'SYMMETRIC']:
    net(f'Pad {mode}', X, {'e': '{Pad: {paddings: [[0, 0], [0, 0], [2, 1], '
        f'[0, 3]], mode: {mode}}}}}'}, 'e(x)')
net('a state', ROW, {'s': '{Parameter: {shape: [12], requires_grad: false}}'},
    'x * s')
net('MaxPool1d', SEQ, {'e': '{MaxPool1d: {kernel_size: 2, stride: 2}}'}, 'e(x)')
net('AvgPool1d', SEQ, {'e': '{AvgPool1d: {kernel_size: 2, stride: 2}}'}, 'e(x)')
for size in ['1', '[2, 3]', '[3, 4]', '[null, 5]']:
    net(f'AdaptiveAvgPool2d {size}', X,
        {'e': f'{{AdaptiveAvgPool2d: {{output_size: {size}}}}}'}, 'e(x)')
for size in ['1', '[3, 4]']:
    net(f'AdaptiveMaxPool2d {size}', X,
        {'e': f'{{AdaptiveMaxPool2d: {{output_size: {size}}}}}'}, 'e(x)')
for mode in ['nearest', 'bilinear', 'bilinear, align_corners: true']:
    for size in ['[12, 16]', '[9, 5]']:
        net(f'Upsample {mode} {size}', X, {'e': f'{{Upsample: {{size: {size}, '
            f'mode: {mode}}}}}'}, 'e(x)')
VOLUME = {'x': (2, 3, 4, 5)}
for more in ['size: [6, 3, 7]', 'size: [6, 3, 7], mode: trilinear',
             'size: [6, 3, 7], mode: trilinear, align_corners: true',
             'scale_factor: 1.6', 'scale_factor: 1.6, mode: trilinear']:
    net(f'Upsample 3d {more}', VOLUME, {'e': f'{{Upsample: {{{more}}}}}'},
        'e(x)')
for size, more in ('[12, 16]', ''), ('[11, 15]', ', align_corners: true'):
    net(f'Upsample bicubic {size}', X, {'e': f'{{Upsample: {{size: {size}, '
        f'mode: bicubic{more}}}}}'}, 'e(x)')
for mode in ['nearest-exact', 'area']:
    for size in ['[12, 16]', '[9, 5]']:
        net(f'Upsample {mode} {size}', X, {'e': f'{{Upsample: {{size: {size}, '
            f'mode: {mode}}}}}'}, 'e(x)')
for cell in ['Avg', 'Max']:
    net(f'Adaptive{cell}Pool3d', VOLUME,
        {'e': f'{{Adaptive{cell}Pool3d: {{output_size: [1, 2, 5]}}}}'}, 'e(x)')
for pad in ['{ConstantPad1d: [[1, 2], 0.5]}', '{ConstantPad2d: [-1, 3.0]}',
            '{ZeroPad2d: [1, 0, 2, 1]}', '{ReflectionPad2d: [1, 2, 0, 3]}',
            '{ReplicationPad2d: [1, 2, 0, 9]}', '{PixelShuffle: 1}',
            '{PixelUnshuffle: {downscale_factor: 2}}', '{ChannelShuffle: 2}',
            '{Unflatten: [1, [2, -1]]}']:
    net(pad, {'x': (4, 6, 8)}, {'e': pad}, 'e(x)')
net('PixelShuffle', {'x': (8, 3, 5)}, {'e': '{PixelShuffle: 2}'}, 'e(x)')
net('ChannelShuffle', {'x': (6, 3, 5)}, {'e': '{ChannelShuffle: 2}'}, 'e(x)')
SPLIT = 'e(x[:, :2], x[:, 1:])'
net('TransformerDecoderLayer', {'x': (5, 6)}, {'e': '{TransformerDecoderLayer: '
    '{d_model: 6, nhead: 2, dim_feedforward: 5, batch_first: true}}'}, SPLIT)
net('Transformer', {'x': (5, 6)}, {'e': '{Transformer: {d_model: 6, nhead: 2, '
    'num_encoder_layers: 1, num_decoder_layers: 2, dim_feedforward: 5, '
    'batch_first: true}}'}, SPLIT)
for cell in ['LSTM', 'GRU', 'RNN']:
    for more in ['', ', batch_first: true', ', bidirectional: true, '
                 'batch_first: true', ', num_layers: 2', ', has_bias: false']:
        net(f'{cell}{more}', {'x': (7, 6)}, {'e': f'{{{cell}: {{hidden_size: 4'
            f'{more}}}}}'}, 'e(x)')
    net(f'{cell}, lengths', {'x': (7, 6), 'n': ('int32', 8)},
        {'e': f'{{{cell}: {{hidden_size: 4, batch_first: true, bidirectional: '
         'true}}'}, 'e(x, seq_length=maximum(n, 1))')
    net(f'{cell}Cell', ROW, {'e': f'{{{cell}Cell: {{hidden_size: 4}}}}'},
        'e(x, (zeros((x.shape[0], 4)), ones((x.shape[0], 4))))'
        if cell == 'LSTM' else 'e(x, zeros((x.shape[0], 4)))')
net('RNN, relu', {'x': (7, 6)}, {'e': '{RNN: {hidden_size: 4, nonlinearity: '
    'relu}}'}, 'e(x)')


def config(columns, cells, result):
    """The config of a network; a parameter with it, so that there are always
    weights."""
    text = 'cellrun: 1\nnetwork:\n  inputs:\n'
    for name, spec in columns.items():
        if spec[0] == 'int32':
            text += f'    {name}: {{shape: {list(spec[2:])}, type: int32}}\n'
        else:
            text += f'    {name}: {{shape: {list(spec)}}}\n'
    text += '  cells:\n    one: {Parameter: {shape: [1]}}\n'
    for name, cell in cells.items():
        text += f'    {name}: {cell}\n'
    return text + f'  construct: |\n    y = {result}\n    return y, one\n'


def weights(path, rng):
    listed = json.loads(run('summary', path, '--params', '--json'))
    to = {}
    for p in listed['params']:
        v = rng.uniform(-1, 1, p['shape']).astype('f4')
        to[p['name']] = np.abs(v) + 0.3 if 'var' in p['name'] else v
    return to


CONFIGS = f'{os.path.dirname(os.path.abspath(__file__))}/../../configs'
for name in ['encoder', 'lstm']:
    NETS[name] = f'{CONFIGS}/{name}.yaml'


# Datapipes for --normalize, each over columns of four types.
PIPES = ['[{Clip: {quantiles: [0.1, 0.9]}}, MinMax, Standardize]',
         '[Standardize, {Clip: {min: -1}}]', '[{MinMax: {low: -1, high: 3}}]',
         '[{Rescale: [0.5, 1.0]}, {TypeCast: {data_type: float64}}, '
         'Standardize]', '[{TypeCast: {data_type: float32}}]']
for pipe in PIPES:
    for type in ['f4', 'f8', 'u1', 'i4']:
        NETS[f'--normalize {type} {pipe}'] = (type, pipe)


def check_normalize(type, pipe, folder):
    """The deviation of a model with --normalize, for stored samples, from
    `cellrun predict`."""
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((40, 5)) * 50 + 100).clip(0, 255).astype(type)
    np.save(f'{folder}/x.npy', x)
    np.save(f'{folder}/y.npy', rng.standard_normal((40, 3)).astype('f4'))
    with open(f'{folder}/n.yaml', 'w') as f:
        f.write(f"""cellrun: 1
dataset:
  train:
    NumpySlicesDataset: {{data: [x.npy, y.npy], column_names: [x, label]}}
datapipe: {{x: {pipe}, batch: {{batch_size: 8}}}}
network: [{{Dense: [5, 3]}}]
loss: MSELoss
optimizer: {{SGD: {{learning_rate: 0.0001}}}}
train: {{epochs: 1}}
""")
    run('train', f'{folder}/n.yaml', '-q', '-o', f'{folder}/run')
    run('export', f'{folder}/run', '-q', '--normalize', '-o', f'{folder}/m.onnx')
    run('predict', '--ckpt', f'{folder}/run', f'{folder}/x.npy', '-o',
        f'{folder}/out.npy')
    y = model(f'{folder}/m.onnx').run(None, {'x': x})[0]
    return deviation(y, np.load(f'{folder}/out.npy'))


def check(name, folder):
    if name.startswith('--normalize'):
        return check_normalize(*NETS[name], folder)
    rng = np.random.default_rng(sum(name.encode()))
    if isinstance(NETS[name], str):
        np.savez(f'{folder}/w.npz', **weights(NETS[name], rng))
        return max(compare([NETS[name], '--ckpt', f'{folder}/w.npz'], n, folder)
                   for n in [4, 1])
    columns, cells, result = NETS[name]
    path = f'{folder}/net.yaml'
    with open(path, 'w') as f:
        f.write(config(columns, cells, result))
    np.savez(f'{folder}/w.npz', **weights(path, rng))
    worst = 0
    for n in [4, 1]:
        feeds = {}
        for k, spec in columns.items():
            if spec[0] == 'int32':
                feeds[k] = rng.integers(0, spec[1], (n, *spec[2:]), 'i4')
            else:
                feeds[k] = rng.uniform(-1, 1, (n, *spec)).astype('f4')
        worst = max(worst, compare([path, '--ckpt', f'{folder}/w.npz'], feeds,
                                   folder))
    return worst


def main():
    limit = np.inf
    if sys.argv[1:2] == ['--limit']:
        limit = float(sys.argv[2])
        del sys.argv[1:3]
    if sys.argv[1:2] == ['--ckpt']:
        with tempfile.TemporaryDirectory() as folder:
            worst = max(compare([c], n, folder)
                        for c in sys.argv[2:] for n in [5, 1])
        print(worst)
        sys.exit(worst > limit)
    worst, failed, n = 0.0, 0, 0
    for name in NETS:
        if sys.argv[1:] and not any(a in name for a in sys.argv[1:]):
            continue
        n += 1
        try:
            with tempfile.TemporaryDirectory() as folder:
                d = check(name, folder)
            worst = max(worst, d)
            if d <= RTOL:
                continue
            print(f'{name}: deviation {d:.3g}')
        except Exception as e:  # one report for each network
            print(f'{name}: {type(e).__name__}: {str(e)[:400]}')
        failed += 1
    print(f'{n} networks, {failed} failed, largest deviation {worst:.3g}')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
