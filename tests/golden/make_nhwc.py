#!/usr/bin/env python3
"""Golden vectors of data_format NHWC, through cells of NCHW between two
transpositions, from MindSpore 2.10.0 (whose own NHWC is for GPUs), into ms/;
see make_mindspore.py for the environment. Arguments name the cases to make,
all without."""
import cases as k

k.CASES.clear()
NEAR = '--rtol 2e-5 --atol 5e-6'
NHWC = 'data_format: NHWC'
SGD = '{Momentum: {learning_rate: 0.02, momentum: 0.9}}'
CHAIN = '''\
  conv: {Conv2d: {in_channels: 3, out_channels: 8, kernel_size: 3, %s}}
  bn: {BatchNorm2d: {num_features: 8, %s}}
  relu: ReLU
  pool: {MaxPool2d: {kernel_size: 2, stride: 2, %s}}
  conv2: {Conv2d: {in_channels: 8, out_channels: 6, kernel_size: [3, 2], stride: 2, group: 2, pad_mode: pad, padding: [1, 0, 1, 1], has_bias: true, %s}}
  avg: {AvgPool2d: {kernel_size: 2, stride: 1, %s}}
  flatten: Flatten
  fc: {Dense: {in_channels: 12, out_channels: 4}}
'''.replace('%s', NHWC)
for steps in 0, 2:
    k.case('nhwc_chain%s' % (steps or ''), CHAIN, x=(3, 8, 10, 3),
           loss='CrossEntropyLoss', label='classes',
           optimizer=SGD if steps else '', steps=steps, near=NEAR)
k.case('nhwc_chain_eval', CHAIN, x=(3, 8, 10, 3), loss='CrossEntropyLoss',
       label='classes', cmd='--eval --grad', near=NEAR)
k.case('nhwc_conv', '  conv: {Conv2d: {in_channels: 2, out_channels: 3, '
       'kernel_size: [2, 3], %s}}\n' % NHWC, x=(2, 5, 4, 2), near=NEAR)
k.case('nhwc_depthwise', '  conv: {Conv2d: {in_channels: 16, '
       'out_channels: 16, kernel_size: 3, group: 16, %s}}\n' % NHWC,
       x=(2, 7, 7, 16), near=NEAR)
k.case('nhwc_wide', '''\
  a: {Conv2d: {in_channels: 16, out_channels: 32, kernel_size: 3, %s}}
  b: {BatchNorm2d: {num_features: 32, %s}}
  c: ReLU
  d: {Conv2d: {in_channels: 32, out_channels: 16, kernel_size: 1, %s}}
'''.replace('%s', NHWC), x=(2, 9, 9, 16), near='--rtol 1e-4 --atol 2e-5')
# with cells of NCHW: (N, H, W, C) is between them
k.case('nhwc_mixed', '''\
  a: {Conv2d: {in_channels: 2, out_channels: 4, kernel_size: 3, %s}}
  b: {Conv2d: {in_channels: 5, out_channels: 3, kernel_size: 3}}
  c: {MaxPool2d: {kernel_size: 2, %s}}
'''.replace('%s', NHWC), x=(2, 5, 6, 2), near=NEAR)
for cell in 'Avg', 'Max':
    k.case('nhwc_adaptive_' + cell.lower(),
           '  pool: {Adaptive%sPool2d: {output_size: [2, 3], %s}}\n'
           '  flatten: Flatten\n'
           '  fc: {Dense: {in_channels: 30, out_channels: 2}}\n'
           % (cell, NHWC), x=(3, 6, 7, 5), near=NEAR)

if __name__ == '__main__':
    import mindspore as ms
    import numpy as np

    import make_mindspore as m
    from safetensors.numpy import save_file
    inner, inner_weights = m.build, k.weights

    def build(node):
        t = k.typed(node)
        if not t or not isinstance(t[1], dict) or 'data_format' not in t[1]:
            return inner(node)
        cell = inner({t[0]: {n: tuple(v) if isinstance(v, list) else v
                             for n, v in t[1].items() if n != 'data_format'}})
        plain = cell.construct
        cell.construct = lambda x: ms.ops.transpose(
            plain(ms.ops.transpose(x, (0, 3, 1, 2))), (0, 2, 3, 1))
        return cell

    def weights(c, shapes):
        return {n: np.abs(v) + np.float32(0.3)
                if n.endswith('moving_variance') else v
                for n, v in inner_weights(c, shapes).items()}

    def run(c):
        x, label, start, ref = m.run(c)
        convs = [n + '.weight' for n, t in c['tree']['network'].items()
                 if NHWC.split()[1] == (k.typed(t)[1] or {}).get('data_format')
                 and k.typed(t)[0] == 'Conv2d']

        def turn(tensors):
            return {n: np.ascontiguousarray(np.asarray(v).transpose(0, 2, 3, 1))
                    if any(n == w or n.endswith('.' + w) for w in convs)
                    else v for n, v in tensors.items()}
        return x, label, turn(start), turn(ref)
    k.frozen = lambda c, name: '.moving_' in name
    m.build, k.weights = build, weights
    k.make(run, save_file)
