#!/usr/bin/env python3
"""Golden vectors of convolutions from MindSpore 2.10.0 (CPU, PyNative), into
ms/: outputs, losses, gradients and a step of SGD. See make_mindspore.py for
the environment; arguments name the cases to make, all without."""
import sys

import cases as k

k.CASES.clear()


def conv(name, args, x, kind='Conv2d', **more):
    k.case('conv' + name, '  - {%s: {%s}}\n' % (kind, args), x=x,
           near='--rtol 2e-5 --atol 2e-6', **more)


BASE = 'in_channels: 3, out_channels: 4, kernel_size: 3'
conv('', BASE, (2, 3, 7, 6))
conv('_bias', BASE + ', has_bias: true', (3, 3, 5, 5))
conv('_stride', BASE + ', stride: 2', (2, 3, 8, 7))
conv('_stride_hw', BASE + ', stride: [2, 3]', (1, 3, 9, 10))
conv('_valid', BASE + ', pad_mode: valid', (2, 3, 7, 6))
conv('_valid_stride', BASE + ', pad_mode: valid, stride: 2', (2, 3, 8, 7))
conv('_pad', BASE + ', pad_mode: pad, padding: 1', (2, 3, 7, 6))
conv('_pad_stride', BASE + ', pad_mode: pad, padding: 1, stride: 2',
     (2, 3, 7, 8))
conv('_pad4', BASE + ', pad_mode: pad, padding: [0, 2, 1, 3]', (2, 3, 5, 6))
conv('_pad4_stride', BASE + ', pad_mode: pad, padding: [2, 0, 1, 2], '
     'stride: 2, has_bias: true', (2, 3, 5, 6))
conv('_dilation', BASE + ', dilation: 2', (2, 3, 9, 8))
conv('_dilation_hw', BASE + ', dilation: [1, 3], pad_mode: valid',
     (2, 3, 5, 9))
conv('_dilation_pad', BASE + ', dilation: 2, pad_mode: pad, padding: 2',
     (1, 3, 6, 6))
conv('_kernel_hw', 'in_channels: 2, out_channels: 3, kernel_size: [1, 5]',
     (2, 2, 4, 7))
conv('_kernel4', 'in_channels: 2, out_channels: 3, kernel_size: 4',
     (2, 2, 6, 5))
conv('_1x1', 'in_channels: 5, out_channels: 7, kernel_size: 1', (2, 5, 3, 4))
conv('_1x1_stride', 'in_channels: 5, out_channels: 7, kernel_size: 1, '
     'stride: 2', (2, 5, 5, 6))
conv('_group', 'in_channels: 4, out_channels: 6, kernel_size: 3, group: 2, '
     'has_bias: true', (2, 4, 5, 6))
conv('_depthwise', 'in_channels: 4, out_channels: 4, kernel_size: 3, '
     'group: 4', (2, 4, 6, 5))
conv('_depthwise2', 'in_channels: 3, out_channels: 6, kernel_size: 3, '
     'group: 3, stride: 2', (2, 3, 6, 5))
conv('_batch1', BASE + ', has_bias: true', (1, 3, 1, 1))
conv('_16', 'in_channels: 16, out_channels: 16, kernel_size: 3',
     (2, 16, 9, 17))
conv('_wide', 'in_channels: 17, out_channels: 33, kernel_size: 3, stride: 2, '
     'has_bias: true', (2, 17, 8, 9))
conv('_5x5', 'in_channels: 1, out_channels: 6, kernel_size: 5, '
     'pad_mode: valid, has_bias: true', (3, 1, 12, 12))
k.case('conv_net', '''\
  - {Conv2d: {in_channels: 2, out_channels: 5, kernel_size: 3}}
  - ReLU
  - {Conv2d: [5, 4, 3, 2, pad, 1, 1, 1, true]}
  - ReLU
  - Flatten
  - {Dense: [48, 3]}
''', loss='CrossEntropyLoss', label='classes',
       optimizer='{SGD: {learning_rate: 0.1}}', steps=2, x=(3, 2, 6, 8),
       near='--rtol 2e-5 --atol 2e-6')
B1 = 'in_channels: 3, out_channels: 4, kernel_size: 3'
conv('1d', B1, (2, 3, 8), kind='Conv1d')
conv('1d_stride', B1 + ', stride: 2, has_bias: true', (2, 3, 9),
     kind='Conv1d')
conv('1d_valid', B1 + ', pad_mode: valid, dilation: 2', (2, 3, 9),
     kind='Conv1d')
conv('1d_pad', B1 + ', pad_mode: pad, padding: 2, stride: 2', (1, 3, 7),
     kind='Conv1d')
conv('1d_group', 'in_channels: 4, out_channels: 8, kernel_size: 5, group: 4',
     (2, 4, 11), kind='Conv1d')
B3 = 'in_channels: 2, out_channels: 3, kernel_size: [2, 3, 3]'
conv('3d', B3, (2, 2, 4, 5, 6), kind='Conv3d')
conv('3d_bias', B3 + ', has_bias: true, pad_mode: valid', (1, 2, 4, 5, 6),
     kind='Conv3d')
conv('3d_stride', B3 + ', stride: [1, 2, 2]', (2, 2, 3, 5, 6), kind='Conv3d')
conv('3d_pad', B3 + ', pad_mode: pad, padding: [1, 0, 1, 2, 0, 1]',
     (2, 2, 3, 4, 5), kind='Conv3d')
conv('t', B1, (2, 3, 5, 6), kind='Conv2dTranspose')
conv('t_bias', B1 + ', has_bias: true', (2, 3, 5, 6), kind='Conv2dTranspose')
conv('t_stride', B1 + ', stride: 2', (2, 3, 5, 4), kind='Conv2dTranspose')
conv('t_stride3', 'in_channels: 3, out_channels: 4, kernel_size: 2, '
     'stride: 3', (2, 3, 3, 4), kind='Conv2dTranspose')
conv('t_valid', B1 + ', stride: 2, pad_mode: valid', (2, 3, 5, 4),
     kind='Conv2dTranspose')
conv('t_valid_wide', 'in_channels: 3, out_channels: 2, kernel_size: 2, '
     'stride: 3, pad_mode: valid', (2, 3, 3, 4), kind='Conv2dTranspose')
conv('t_pad', B1 + ', stride: 2, pad_mode: pad, padding: 1', (2, 3, 5, 4),
     kind='Conv2dTranspose')
conv('t_pad4', B1 + ', stride: 2, pad_mode: pad, padding: [0, 2, 1, 1]',
     (1, 3, 5, 4), kind='Conv2dTranspose')
conv('t_dilation', B1 + ', dilation: 2, pad_mode: pad, padding: 1, '
     'has_bias: true', (2, 3, 5, 4), kind='Conv2dTranspose')
conv('t_group', 'in_channels: 4, out_channels: 6, kernel_size: 3, stride: 2, '
     'group: 2', (2, 4, 3, 5), kind='Conv2dTranspose')
T1 = 'in_channels: 3, out_channels: 4, kernel_size: 3'
conv('1dt', T1 + ', has_bias: true', (2, 3, 8), kind='Conv1dTranspose')
conv('1dt_stride', T1 + ', stride: 2', (2, 3, 5), kind='Conv1dTranspose')
conv('1dt_valid', T1 + ', stride: 4, pad_mode: valid', (2, 3, 5),
     kind='Conv1dTranspose')
conv('1dt_pad', T1 + ', stride: 2, pad_mode: pad, padding: 1, dilation: 2',
     (1, 3, 6), kind='Conv1dTranspose')
T3 = 'in_channels: 2, out_channels: 3, kernel_size: [2, 3, 3]'
conv('3dt', T3, (2, 2, 3, 4, 5), kind='Conv3dTranspose')
conv('3dt_stride', T3 + ', stride: 2, has_bias: true', (2, 2, 3, 4, 5),
     kind='Conv3dTranspose')
conv('3dt_valid', T3 + ', stride: [1, 2, 2], pad_mode: valid',
     (2, 2, 3, 4, 3), kind='Conv3dTranspose')
conv('3dt_pad', T3 + ', stride: 2, pad_mode: pad, padding: 1, '
     'output_padding: 1', (2, 2, 3, 4, 3), kind='Conv3dTranspose')


def tuples(node):
    if isinstance(node, dict):
        return {a: tuples(b) for a, b in node.items()}
    return tuple(node) if isinstance(node, list) else node


if __name__ == '__main__':
    from safetensors.numpy import save_file

    import make_mindspore as m

    plain = m.arguments
    m.arguments = lambda args: plain(tuples(args) if isinstance(args, dict)
                                     else args)
    for c in k.CASES.values():
        if c['name'] in (sys.argv[1:] or k.CASES):
            x, label, start, ref = m.run(c)
            k.write(c, k.HERE / 'ms' / c['name'], x, label, start,
                    m.tidy(ref), save_file)
