#!/usr/bin/env python3
"""Golden vectors of subcells in predict mode (set_train(False)) and of losses
in float16 (to_float), from MindSpore 2.10.0, into ms/; see make_mindspore.py
for the environment. Arguments name the cases to make, all without."""
import sys

import cases as k

k.CASES.clear()
BODY = '''\
  conv: {Conv2d: {in_channels: 2, out_channels: 4, kernel_size: 3, has_bias: true}}
  bn: {BatchNorm2d: {num_features: 4}%s}
  relu: ReLU
  drop: {Dropout: {p: 0.5}%s}
  conv2: {Conv2d: {in_channels: 4, out_channels: 3, kernel_size: 3}}
  bn2: {BatchNorm2d: {num_features: 3}}
  flatten: Flatten
  fc: {Dense: {in_channels: 48, out_channels: 5}}
'''
PREDICT = ', mode: predict'
SGD = '{Momentum: {learning_rate: 0.05, momentum: 0.9}}'
for steps in 0, 3:
    k.case('mode_cells%s' % (steps or ''), BODY % (PREDICT, PREDICT),
           x=(5, 2, 4, 4), loss='CrossEntropyLoss', label='classes',
           optimizer=SGD if steps else '', steps=steps,
           near='--rtol 2e-5 --atol 5e-6')
k.case('mode_nested', '''\
  enc:
    SequentialCell:
      - {Dense: [6, 7]}
      - {BatchNorm1d: {num_features: 7}}
      - {Dropout: {p: 0.3}}
      - {SequentialCell: [{Dense: [7, 5]}, {BatchNorm1d: {num_features: 5}}], mode: train}
    mode: predict
  norm: {BatchNorm1d: {num_features: 5}}
  fc: {Dense: [5, 3]}
''', x=(9, 6), optimizer=SGD, steps=2, near='--rtol 2e-5 --atol 5e-6')

FC = '  fc: {Dense: {in_channels: 6, out_channels: 4}}\n'
for name, loss, label in (
        ('ce', 'CrossEntropyLoss: {}', [0, 2, 1, 3, 2, 1, 3]),
        ('ce_smooth', 'CrossEntropyLoss: {label_smoothing: 0.1}',
         [0, 2, 1, 3, 2, 1, 3]),
        ('sce', 'SoftmaxCrossEntropyWithLogits: {sparse: true, '
         'reduction: mean}', [0, 2, 1, 3, 2, 1, 3]),
        ('mse', 'MSELoss: {}', None), ('l1', 'L1Loss: {}', None),
        ('huber', 'HuberLoss: {}', None),
        ('bcel', 'BCEWithLogitsLoss: {}', 'probabilities')):
    k.case('loss_f16_' + name, FC, loss='{%s, to_float: float16}' % loss,
           label=label, scale=3.0, near='--rtol 4e-3 --atol 3e-3')
k.case('loss_f32_amp', FC, loss='{CrossEntropyLoss: {}, to_float: float32}',
       label='classes')

if __name__ == '__main__':
    import mindspore as ms
    import numpy as np

    import make_mindspore as m
    from safetensors.numpy import save_file
    inner, inner_loss, inner_weights = m.build, m.build_loss, k.weights
    depth, modes = [0], []

    def build(node):
        """`mode` next to a type; set_train of the whole network sets it again,
        outer cells first."""
        mode = None
        if isinstance(node, dict) and 'mode' in node:
            node = dict(node)
            mode = node.pop('mode')
        if depth[0] == 0:
            modes.clear()
        at = len(modes)
        if mode:
            modes.append(None)
        depth[0] += 1
        cell = inner(node)
        depth[0] -= 1
        if mode:
            modes[at] = (cell, mode == 'train')
        if depth[0] == 0:
            before, parts = cell.set_train, list(modes)

            def set_train(mode=True):
                before(mode)
                for part, training in parts:
                    part.set_train(mode and training)
                return cell
            cell.set_train = set_train
        return cell

    def build_loss(node):
        if not isinstance(node, dict) or 'to_float' not in node:
            return inner_loss(node)
        node = dict(node)
        to = node.pop('to_float')
        return inner_loss(node).to_float(getattr(ms, to))

    def weights(c, shapes):
        start = inner_weights(c, shapes)
        return {n: np.abs(v) + np.float32(0.3)
                if n.endswith('moving_variance') else v
                for n, v in start.items()}
    k.frozen = lambda c, name: '.moving_' in name
    m.build, m.build_loss, k.weights = build, build_loss, weights
    k.make(m.run, save_file)
