#!/usr/bin/env python3
"""Golden vectors of normalisation, pooling, activations, dropout and resizing
from MindSpore 2.10.0 (CPU, PyNative), into ms/; see make_mindspore.py for the
environment. Arguments name the cases to make, all without.

With PyTorch instead (make_torch.py's environment) it makes those for which
MindSpore has no kernel for CPUs, or a wrong one, into pt/: InstanceNorm,
the gradient of SeLU, LogSigmoid far below 0 (-inf there), and what takes
MindSpore's approximate tanh.

Each cell is after a Dense, so that its own gradient is seen as that of
the Dense's output, and is run in training and in prediction."""
import os
import sys

import cases as k

k.CASES.clear()
NEAR = '--rtol 1e-5 --atol 2e-6'


def cell(name, text, x, modes='te', **more):
    """A cell after a Dense over the last axis."""
    more.setdefault('near', NEAR)
    for mode in modes:
        cmd = '--grad' if mode == 't' else '--eval --grad'
        k.case(name + ('' if mode == 't' else '_eval'),
               '  - {Dense: [%d, %d]}\n  - %s\n' % (x[-1], x[-1], text),
               x=x, cmd=cmd, **more)


# ---- BatchNorm: a step too, which moves the statistics
SGD = '{SGD: {learning_rate: 0.1}}'
BN = {'1d': ('BatchNorm1d: {num_features: %d', (5, 4), 4),
      '1d_length': ('BatchNorm1d: {num_features: %d', (3, 4, 5), 4),
      '2d': ('BatchNorm2d: {num_features: %d', (3, 4, 5, 3), 4),
      '2d_16': ('BatchNorm2d: {num_features: %d', (3, 16, 3, 5), 16),
      '2d_batch1': ('BatchNorm2d: {num_features: %d', (1, 3, 3, 5), 3),
      '3d': ('BatchNorm3d: {num_features: %d', (2, 3, 2, 3, 4), 3)}
for key, (text, x, c) in BN.items():
    text = text % c
    cell('bn' + key, '{%s}}' % text, x, optimizer=SGD, steps=3, modes='t')
    cell('bn' + key, '{%s}}' % text, x, modes='e')
T2 = 'BatchNorm2d: {num_features: 3'
X2 = (2, 3, 3, 4)
cell('bn_momentum', '{%s, momentum: 0.5, eps: 0.01}}' % T2, X2, optimizer=SGD,
     steps=2, modes='t')
cell('bn_fixed', '{%s, affine: false}}' % T2, X2, optimizer=SGD, steps=2,
     modes='t')
cell('bn_moving', '{%s, use_batch_statistics: false}}' % T2, X2,
     optimizer=SGD, steps=2, modes='t')
cell('bn_batch', '{%s, use_batch_statistics: true}}' % T2, X2)
# a convolution before it and a ReLU after: in the plan one step
k.case('bn_conv_relu', '''\
  - {Conv2d: {in_channels: 3, out_channels: 16, kernel_size: 3}}
  - {BatchNorm2d: {num_features: 16}}
  - ReLU
  - {Conv2d: {in_channels: 16, out_channels: 4, kernel_size: 3, stride: 2}}
  - {BatchNorm2d: {num_features: 4}}
  - ReLU
  - {AvgPool2d: {kernel_size: 3}}
  - Flatten
''', x=(3, 3, 6, 5), loss='CrossEntropyLoss', label='classes',
       optimizer=SGD, steps=3, near='--rtol 5e-5 --atol 5e-6')

# another activation after it, whose gradient the normalisation takes over
ACTS = {'relu6': 'ReLU6', 'hswish': 'HSwish', 'hsigmoid': 'HSigmoid',
        'silu': 'SiLU', 'mish': 'Mish', 'leaky': '{LeakyReLU: {alpha: 0.1}}',
        'elu': 'ELU', 'sigmoid': 'Sigmoid', 'softsign': 'Softsign',
        'gelu': '{GELU: {approximate: false}}'}
for key, act in ACTS.items():
    k.case('bn_' + key, '''\
  - {Conv2d: {in_channels: 3, out_channels: 16, kernel_size: 3}}
  - {BatchNorm2d: {num_features: 16}}
  - %s
  - {Conv2d: {in_channels: 16, out_channels: 20, kernel_size: 3, stride: 2}}
  - {BatchNorm2d: {num_features: 20}}
  - %s
  - {AvgPool2d: {kernel_size: 3}}
  - Flatten
''' % (act, act), x=(3, 3, 6, 5), loss='CrossEntropyLoss', label='classes',
           optimizer=SGD, steps=3, near='--rtol 1e-4 --atol 1e-5')
    for kind, mode in (('1d', 'te'), ('1d_length', 't'), ('2d', 't')):
        text, x, c = BN[kind]
        for m in mode:
            k.case('bn%s_%s%s' % (kind, key, '_eval' * (m == 'e')),
                   '  - {Dense: [%d, %d]}\n  - {%s}}\n  - %s\n'
                   % (x[-1], x[-1], text % c, act), x=x,
                   cmd='--grad' if m == 't' else '--eval --grad', near=NEAR)

# ---- within a sample
cell('ln', '{LayerNorm: {normalized_shape: [7]}}', (3, 5, 7))
cell('ln_batch1', '{LayerNorm: {normalized_shape: [33]}}', (1, 33), modes='t')
cell('ln_axes', '{LayerNorm: {normalized_shape: [3, 4], begin_norm_axis: 1, '
     'begin_params_axis: 1, epsilon: 0.001}}', (2, 3, 4), modes='t')
cell('ln_mixed', '{LayerNorm: {normalized_shape: [4], begin_norm_axis: 1, '
     'begin_params_axis: 2}}', (2, 3, 4), modes='t')
cell('gn', '{GroupNorm: {num_groups: 2, num_channels: 6}}', (3, 6, 3, 4))
cell('gn_one', '{GroupNorm: {num_groups: 1, num_channels: 3}}', (1, 3, 3, 4),
     modes='t')
cell('gn_each', '{GroupNorm: {num_groups: 3, num_channels: 3, eps: 0.01}}',
     (2, 3, 3, 4), modes='t')
cell('gn_fixed', '{GroupNorm: {num_groups: 3, num_channels: 3, affine: false}}',
     (2, 3, 3, 4), modes='t')
for d, x in ((1, (2, 3, 5)), (2, (2, 3, 4, 3)), (3, (2, 2, 2, 3, 3))):
    cell('in%dd' % d, '{InstanceNorm%dd: {num_features: %d}}' % (d, x[1]), x,
         ref='pt')

# ---- pooling
POOLS = {
    'max': 'MaxPool2d: {kernel_size: 2, stride: 2}',
    'max_3': 'MaxPool2d: {kernel_size: 3, stride: 2}',
    'max_hw': 'MaxPool2d: {kernel_size: [2, 3], stride: [1, 2]}',
    'max_same': 'MaxPool2d: {kernel_size: 3, stride: 2, pad_mode: same}',
    'max_same4': 'MaxPool2d: {kernel_size: 4, stride: 3, pad_mode: same}',
    'max_pad': 'MaxPool2d: {kernel_size: 3, stride: 2, pad_mode: pad, '
               'padding: 1}',
    'max_pad_hw': 'MaxPool2d: {kernel_size: [3, 2], stride: 1, '
                  'pad_mode: pad, padding: [1, 0]}',
    'max_dilation': 'MaxPool2d: {kernel_size: 2, stride: 1, pad_mode: pad, '
                    'dilation: 2}',
    'max_ceil': 'MaxPool2d: {kernel_size: 2, stride: 3, pad_mode: pad, '
                'ceil_mode: true}',
    'max_ceil_pad': 'MaxPool2d: {kernel_size: 3, stride: 3, pad_mode: pad, '
                    'padding: 1, ceil_mode: true}',
    'max_default': 'MaxPool2d',
    'avg': 'AvgPool2d: {kernel_size: 2, stride: 2}',
    'avg_3': 'AvgPool2d: {kernel_size: 3, stride: 2}',
    'avg_hw': 'AvgPool2d: {kernel_size: [2, 3], stride: [1, 2]}',
    'avg_same': 'AvgPool2d: {kernel_size: 3, stride: 2, pad_mode: same}',
    'avg_same4': 'AvgPool2d: {kernel_size: 4, stride: 3, pad_mode: same}',
    'avg_pad': 'AvgPool2d: {kernel_size: 3, stride: 2, pad_mode: pad, '
               'padding: 1}',
    'avg_pad_without': 'AvgPool2d: {kernel_size: 3, stride: 2, '
                       'pad_mode: pad, padding: 1, count_include_pad: false}',
    'avg_ceil': 'AvgPool2d: {kernel_size: 2, stride: 3, ceil_mode: true}',
    'avg_ceil_pad': 'AvgPool2d: {kernel_size: 3, stride: 3, pad_mode: pad, '
                    'padding: 1, ceil_mode: true}',
    'avg_divisor': 'AvgPool2d: {kernel_size: 2, stride: 2, '
                   'divisor_override: 3}',
    'avg_all': 'AvgPool2d: {kernel_size: [5, 6]}',
    'adaptive_avg': 'AdaptiveAvgPool2d: {output_size: [2, 3]}',
    'adaptive_avg_odd': 'AdaptiveAvgPool2d: {output_size: [3, 4]}',
    'adaptive_avg_one': 'AdaptiveAvgPool2d: {output_size: 1}',
    'adaptive_avg_none': 'AdaptiveAvgPool2d: {output_size: [null, 4]}',
    'adaptive_max': 'AdaptiveMaxPool2d: {output_size: [2, 3]}',
    'adaptive_max_odd': 'AdaptiveMaxPool2d: {output_size: [3, 4]}',
    'adaptive_max_one': 'AdaptiveMaxPool2d: {output_size: 1}',
}
for key, text in POOLS.items():
    text = '{%s}' % text if ':' in text else text
    cell('pool_' + key, text, (2, 3, 5, 6), modes='t')
    if 'override' not in text:
        continue
cell('pool_max_batch1', '{MaxPool2d: {kernel_size: 2, stride: 2}}',
     (1, 6, 4, 8))
cell('pool_avg_batch1', '{AvgPool2d: {kernel_size: 2, stride: 2}}',
     (1, 17, 3, 3))
POOLS1 = {
    'max': 'MaxPool1d: {kernel_size: 3, stride: 2}',
    'max_same': 'MaxPool1d: {kernel_size: 4, stride: 3, pad_mode: same}',
    'max_pad': 'MaxPool1d: {kernel_size: 3, stride: 2, pad_mode: pad, '
               'padding: 1}',
    'avg': 'AvgPool1d: {kernel_size: 3, stride: 2}',
    'avg_same': 'AvgPool1d: {kernel_size: 4, stride: 3, pad_mode: same}',
    'avg_pad': 'AvgPool1d: {kernel_size: 3, stride: 2, pad_mode: pad, '
               'padding: 1, count_include_pad: false}',
    'adaptive_avg': 'AdaptiveAvgPool1d: {output_size: 4}',
    'adaptive_max': 'AdaptiveMaxPool1d: {output_size: 2}',
}
for key, text in POOLS1.items():
    cell('pool1d_' + key, '{%s}' % text, (2, 3, 8), modes='t')

POOLS3 = {
    'max': 'MaxPool3d: {kernel_size: 2, stride: 2}',
    'max_dhw': 'MaxPool3d: {kernel_size: [1, 2, 3], stride: [1, 2, 1]}',
    'max_same': 'MaxPool3d: {kernel_size: 3, stride: 2, pad_mode: same}',
    'max_pad': 'MaxPool3d: {kernel_size: [3, 2, 3], stride: 2, '
               'pad_mode: pad, padding: [1, 0, 1]}',
    'max_dilation': 'MaxPool3d: {kernel_size: 2, stride: 1, pad_mode: pad, '
                    'dilation: [1, 2, 2]}',
    'avg': 'AvgPool3d: {kernel_size: 2, stride: 2}',
    'avg_same': 'AvgPool3d: {kernel_size: 3, stride: 2, pad_mode: same}',
    'avg_pad': 'AvgPool3d: {kernel_size: 3, stride: 2, pad_mode: pad, '
               'padding: 1}',
    'avg_pad_without': 'AvgPool3d: {kernel_size: [3, 2, 3], stride: 2, '
                       'pad_mode: pad, padding: [1, 0, 1], '
                       'count_include_pad: false}',
    'avg_divisor': 'AvgPool3d: {kernel_size: 2, stride: 2, '
                   'divisor_override: 3}',
}
for key, text in POOLS3.items():
    cell('pool3d_' + key, '{%s}' % text, (2, 3, 4, 5, 6), modes='t')

ADAPTIVE3 = {
    'avg': 'AdaptiveAvgPool3d: {output_size: [2, 3, 4]}',
    'avg_one': 'AdaptiveAvgPool3d: {output_size: 1}',
    'avg_none': 'AdaptiveAvgPool3d: {output_size: [null, 2, 6]}',
    'max': 'AdaptiveMaxPool3d: {output_size: [2, 3, 4]}',
    'max_one': 'AdaptiveMaxPool3d: {output_size: 1}',
}
for key, text in ADAPTIVE3.items():
    cell('pool3d_adaptive_' + key, '{%s}' % text, (2, 3, 4, 5, 6), modes='t')

# ---- activations: between two Dense cells, and alone over a wide range
ACTS = {
    'relu6': 'ReLU6', 'leaky': '{LeakyReLU: {alpha: 0.1}}', 'elu': 'ELU',
    'fast_gelu': 'FastGelu', 'silu': 'SiLU', 'softsign': 'Softsign',
    'mish': 'Mish',
    'hardtanh': '{Hardtanh: {min_val: -0.3, max_val: 0.25}}',
    'log_sigmoid': 'LogSigmoid', 'h_swish': 'HSwish', 'h_sigmoid': 'HSigmoid',
    'prelu': 'PReLU', 'celu': '{CELU: {alpha: 0.5}}', 'selu': 'SeLU',
    'log_softmax': 'LogSoftmax', 'softmin': 'Softmin',
    'soft_shrink': '{SoftShrink: {lambd: 0.1}}',
    'h_shrink': '{HShrink: {lambd: 0.1}}', 'tanhshrink': 'Tanhshrink',
    'threshold': '{Threshold: [0.1, 20.0]}',
    'rrelu': '{RReLU: [0.25, 0.25]}',
}
PT = ('selu', 'tanhshrink', 'mish')
for key, text in ACTS.items():
    ref = 'pt' if key in PT else 'ms'
    k.case('act_' + key, '  - {Dense: [6, 5]}\n  - %s\n  - {Dense: [5, 4]}\n'
           % text, ref=ref)
    if key in ('h_shrink', 'threshold'):
        # a sample is on 0.1, which is another number in double
        text = text.replace('0.1', '0.125')
    if key != 'rrelu':
        k.case('wide_' + key, '  act: %s\n' % text, loss='', x=(3, 21),
               wide=True, cmd='--eval',
               ref='pt' if key == 'log_sigmoid' else ref)
cell('prelu_channels', '{PReLU: {channel: 3}}', (2, 3, 2, 4))
cell('softmax2d', 'Softmax2d', (2, 3, 2, 4))
cell('glu', 'GLU', (3, 4))
cell('glu_axis', '{GLU: {axis: 1}}', (2, 4, 3), modes='t')
cell('lrn', 'LRN', (2, 7, 2, 3))
cell('lrn_near', '{LRN: {depth_radius: 1, bias: 2.0, alpha: 0.5, '
     'beta: 0.75}}', (1, 5, 2, 3), modes='t')
for name in ('leakyrelu', 'elu', 'silu', 'softsign', 'hardtanh', 'hswish',
             'hsigmoid', 'logsigmoid', 'softshrink', 'hshrink', 'softmin',
             'logsoftmax', 'relu6', 'fast_gelu', 'prelu'):
    k.case('dense_' + name, '  fc: {Dense: {in_channels: 6, out_channels: 4, '
           'activation: %s}}\n' % name)

# ---- dropout in prediction, resizing, padding
cell('dropout1d', '{Dropout1d: {p: 0.3}}', (2, 3, 4), modes='e')
cell('dropout2d', '{Dropout2d: {p: 0.3}}', (2, 3, 2, 4), modes='e')
cell('dropout3d', '{Dropout3d: {p: 0.3}}', (2, 3, 2, 2, 4), modes='e')
UPS = {
    'nearest': 'size: [5, 7]', 'nearest_small': 'size: [2, 3]',
    'factor': 'scale_factor: 2.0, recompute_scale_factor: true',
    'bilinear': 'size: [5, 7], mode: bilinear',
    'bilinear_small': 'size: [2, 1], mode: bilinear',
    'corners': 'size: [5, 7], mode: bilinear, align_corners: true',
    'bicubic': 'size: [5, 7], mode: bicubic',
    'bicubic_factor': 'scale_factor: [2.0, 2.6], mode: bicubic, '
                      'recompute_scale_factor: true',
    'bicubic_small': 'size: [2, 3], mode: bicubic',
    'bicubic_corners': 'size: [7, 9], mode: bicubic, align_corners: true',
    'bicubic_one': 'size: [1, 1], mode: bicubic, align_corners: true',
}
for key, text in UPS.items():
    cell('up_' + key, '{Upsample: {%s}}' % text, (2, 3, 3, 4), modes='t')
cell('up_1d', '{Upsample: {size: 7}}', (2, 3, 4), modes='t')
cell('up_linear', '{Upsample: {size: 7, mode: linear}}', (2, 3, 4), modes='t')
UPS3 = {
    'nearest': 'size: [3, 5, 7]', 'nearest_small': 'size: [1, 2, 3]',
    'factor': 'scale_factor: 1.6',
    'factor_each': 'scale_factor: [1.0, 2.5, 1.3], '
                   'recompute_scale_factor: true',
    'trilinear': 'size: [3, 5, 7], mode: trilinear',
    'trilinear_small': 'size: [1, 2, 3], mode: trilinear',
    'corners': 'size: [3, 5, 7], mode: trilinear, align_corners: true',
    'trilinear_factor': 'scale_factor: 1.6, mode: trilinear',
    'trilinear_exact': 'scale_factor: 1.6, mode: trilinear, '
                       'recompute_scale_factor: true',
    'area': 'size: [3, 5, 2], mode: area',
}
for key, text in UPS3.items():
    cell('up3_' + key, '{Upsample: {%s}}' % text, (2, 2, 2, 3, 4), modes='t')
cell('up_exact', '{Upsample: {size: [5, 7], mode: nearest-exact}}',
     (2, 3, 3, 4), modes='t')
cell('up_exact_1d', '{Upsample: {size: 7, mode: nearest-exact}}', (2, 3, 4),
     modes='t')
cell('up_area', '{Upsample: {size: [5, 2], mode: area}}', (2, 3, 3, 4),
     modes='t')
cell('up_area_factor', '{Upsample: {scale_factor: 0.7, mode: area}}',
     (2, 3, 3, 4), modes='t')
cell('up_area_1d', '{Upsample: {size: 2, mode: area}}', (2, 3, 4), modes='t')
for mode in 'CONSTANT', 'REFLECT', 'SYMMETRIC':
    cell('pad_' + mode.lower(), '{Pad: {paddings: [[0, 0], [1, 0], [1, 2], '
         '[2, 3]], mode: %s}}' % mode, (2, 3, 3, 4), modes='t')
# no constants with negative numbers: MindSpore's kernel for CPUs then takes
# other elements of what a Dense has computed
PADS = {
    'constant1': ('ConstantPad1d: {padding: [1, 2], value: 0.5}', (2, 3, 4)),
    'constant2': ('ConstantPad2d: {padding: 1, value: 2.0}', (2, 3, 4)),
    'constant2_one': ('ConstantPad2d: {padding: [2, 1], value: 0.25}',
                      (2, 2, 3, 4)),
    'constant3': ('ConstantPad3d: {padding: [1, 0, 2, 1, 0, 1], value: -1.0}',
                  (2, 2, 2, 3, 4)),
    'zero2': ('ZeroPad2d: {padding: [1, 2, 0, 1]}', (2, 3, 3, 4)),
    'reflection1': ('ReflectionPad1d: {padding: [3, 1]}', (2, 3, 4)),
    'reflection1_two': ('ReflectionPad1d: {padding: [1, 2, 1, 0]}',
                        (2, 3, 4)),
    'reflection2': ('ReflectionPad2d: {padding: [3, 1, 0, 2]}', (2, 2, 3, 4)),
    'reflection2_sample': ('ReflectionPad2d: {padding: 1}', (2, 3, 4)),
    'reflection3': ('ReflectionPad3d: {padding: [1, 2, 0, 2, 1, 0]}',
                    (1, 2, 2, 3, 4)),
    'replication1': ('ReplicationPad1d: {padding: [5, 1]}', (2, 3, 4)),
    'replication1_sample': ('ReplicationPad1d: {padding: 2}', (3, 4)),
    'replication1_crop': ('ReplicationPad1d: {padding: [-1, 2]}', (2, 3, 4)),
    'replication2': ('ReplicationPad2d: {padding: [2, 1, 0, 4]}',
                     (2, 2, 3, 4)),
    'replication3': ('ReplicationPad3d: {padding: [1, 2, 3, 0, 1, 1]}',
                     (1, 2, 2, 3, 4)),
    'replication3_sample': ('ReplicationPad3d: {padding: 1}', (2, 2, 3, 4)),
}
for key, (text, x) in PADS.items():
    cell('pad_' + key, '{%s}' % text, x, modes='t')

# ---- elements moved
cell('pixel_shuffle', '{PixelShuffle: {upscale_factor: 2}}', (2, 8, 2, 3),
     modes='t')
cell('pixel_shuffle_more', '{PixelShuffle: {upscale_factor: 2}}',
     (2, 3, 4, 1, 3), modes='t')
cell('pixel_unshuffle', '{PixelUnshuffle: {downscale_factor: 2}}',
     (2, 3, 4, 6), modes='t')
cell('channel_shuffle', '{ChannelShuffle: {groups: 3}}', (2, 6, 2, 4),
     modes='t')
cell('channel_shuffle_flat', '{ChannelShuffle: {groups: 2}}', (3, 6),
     modes='t')
cell('channel_shuffle_3d', '{ChannelShuffle: {groups: 2}}', (2, 4, 2, 3, 2),
     modes='t')
cell('unflatten', '{Unflatten: {axis: 1, unflattened_size: [2, -1]}}',
     (3, 6, 4), modes='t')
cell('unflatten_last', '{Unflatten: {axis: -1, unflattened_size: [2, 3]}}',
     (3, 2, 6), modes='t')

STATISTICS = 'moving_mean', 'moving_variance'
fan, draw = k.frozen, k.weights


def frozen(c, name):
    fixed = 'affine: false' in c['config'] and \
        name.split('.')[-1] in ('gamma', 'beta')
    return fan(c, name) or fixed or name.endswith(STATISTICS)


def weights(c, shapes):
    start = draw(c, shapes)
    for name in start:
        if name.endswith('variance'):
            start[name] = abs(start[name]) + 0.5
    return start


k.frozen, k.weights = frozen, weights


def tuples(node):
    if isinstance(node, dict):
        return {a: tuples(b) for a, b in node.items()}
    return tuple(map(tuples, node)) if isinstance(node, list) else node


def run_mindspore(c):
    import make_mindspore as m

    if not getattr(m, 'plain', None):
        m.plain = m.arguments
        m.arguments = lambda a: m.plain(tuples(a) if isinstance(a, dict)
                                        else a)
    x, label, start, ref = m.run(c)
    # BatchNorm3d has a cell of its own for BatchNorm2d, ours has none
    ref = {n: a for n, a in ref.items()
           if not (n.startswith(('output.', 'grad.output.')) and
                   n.endswith('.bn2d'))}
    return x, label, start, m.tidy(ref)


def run_torch(c):
    import make_torch as t

    from torch import nn

    class InstanceNorm:
        """PyTorch's, with MindSpore's names; it keeps no statistics."""

        def __new__(cls, d, num_features):
            import torch

            kind = (nn.InstanceNorm1d, nn.InstanceNorm2d,
                    nn.InstanceNorm3d)[d - 1]

            class Norm(kind):
                def __init__(self):
                    super().__init__(num_features, affine=True)
                    self.gamma, self.beta = self.weight, self.bias
                    del self.weight, self.bias

                def forward(self, x):
                    return torch.nn.functional.instance_norm(
                        x, None, None, self.gamma, self.beta, True, 0.1,
                        self.eps)

            return Norm()

    for d in 1, 2, 3:
        t.CELLS['InstanceNorm%dd' % d] = \
            lambda num_features, d=d: InstanceNorm(d, num_features)
    t.CELLS.update(SeLU=nn.SELU, Tanhshrink=nn.Tanhshrink, Mish=nn.Mish,
                   LogSigmoid=nn.LogSigmoid)
    x, label, start, ref = t.run(c)
    for name, a in list(start.items()):
        if 'InstanceNorm' in c['config'] and name.endswith('.gamma'):
            start[name[:-5] + 'moving_mean'] = 0 * a
            start[name[:-5] + 'moving_variance'] = 0 * a + 1
    return x, label, start, ref


if __name__ == '__main__':
    import numpy as np
    from safetensors.numpy import save_file

    try:
        import torch  # noqa: F401
        mine, run = 'pt', run_torch
    except ImportError:
        mine, run = 'ms', run_mindspore
    for c in k.CASES.values():
        if c['ref'] != mine or c['name'] not in (sys.argv[1:] or k.CASES):
            continue
        try:
            x, label, start, ref = run(c)
        except Exception as error:
            if os.environ.get('KEEP_GOING'):
                print(c['name'], str(error).strip().split('\n')[0][:150])
                continue
            raise
        k.write(c, k.HERE / mine / c['name'], x, label, start,
                {n: np.array(a, np.float32, order='C')
                 for n, a in ref.items()}, save_file)
