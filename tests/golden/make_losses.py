#!/usr/bin/env python3
"""Golden vectors of the losses, into ms/loss_NAME (MindSpore 2.10.0, CPU,
PyNative) and, where that has no kernel for CPUs, pt/loss_NAME (PyTorch 2.15.0,
double precision).

    /somewhere/bin/python tests/golden/make_losses.py ms|pt [NAME ...]

in an environment as make_mindspore.py or make_torch.py tells. A case is a
network of one Dense for each of the loss's results, an activation where the
loss wants probabilities, and the loss; what is kept is the loss and its
gradients with respect to the results of the Dense cells and to their weights.
`python3 tests/golden/deviations.py 'loss_*'` prints how far cellrun is off.
"""
import os
import sys

import numpy as np
from safetensors.numpy import save_file

import cases as k

os.environ.setdefault('GLOG_v', '3')
CASES = {}
WEIGHT = [1.0, 2.0, 0.5, 0.25]


def case(name, loss, args='', label='real', results=1, act='', ref='ms',
         x=(7, 6), scale=1.0, near='--rtol 1e-5 --atol 5e-6'):
    """label: real, classes, signs, bits, shares, counts, (N, 1) 'column', or
    'rows' (one real number for each sample)."""
    CASES[name] = dict(name='loss_' + name, loss=loss, args=args, label=label,
                       results=results, act=act, ref=ref, x=x, scale=scale,
                       cmd='--grad ' + near)


def each(name, loss, args='', first='mean', **more):
    """The case for all reductions."""
    for red in 'mean', 'sum', 'none':
        own = ', '.join(a for a in (args, 'reduction: ' + red) if a)
        case(name + ('' if red == first else '_' + red), loss,
             args if red == first else own, **more)


each('l1', 'L1Loss')
case('l1_column', 'L1Loss', label='column')
each('mae', 'MAELoss')
case('rmse', 'RMSELoss')
each('smooth_l1', 'SmoothL1Loss', first='none')
each('smooth_l1_beta', 'SmoothL1Loss', 'beta: 0.3', first='none')
each('huber', 'HuberLoss')
each('huber_delta', 'HuberLoss', 'delta: 0.3')
case('huber_column', 'HuberLoss', label='column')
each('bce', 'BCELoss', label='shares', act='Sigmoid')
case('bce_bits', 'BCELoss', label='bits', act='Sigmoid', scale=3.0,
     near='--rtol 1e-4 --atol 1e-5')
each('bce_logits', 'BCEWithLogitsLoss', label='shares')
case('bce_logits_far', 'BCEWithLogitsLoss', label='bits', scale=40.0)
each('bce_logits_weights', 'BCEWithLogitsLoss',
     'weight: %s, pos_weight: [3.0, 0.5, 1.0, 2.0]' % WEIGHT, label='bits')
for red in 'mean', 'sum', 'none', 'batchmean':
    case('kl_div_' + red, 'KLDivLoss', 'reduction: ' + red, label='shares',
         act='{LogSoftmax: {axis: 1}}')
case('kl_div_bits', 'KLDivLoss', label='bits', act='{LogSoftmax: {axis: 1}}')
each('hinge', 'HingeEmbeddingLoss', label='signs')
each('hinge_margin', 'HingeEmbeddingLoss', 'margin: 0.4', label='signs')
each('poisson', 'PoissonNLLLoss', label='counts')
case('poisson_full', 'PoissonNLLLoss', 'full: true', label='counts')
case('poisson_rate', 'PoissonNLLLoss', 'log_input: false, full: true',
     label='counts', act='Sigmoid')
each('gaussian', 'GaussianNLLLoss', results=2, act='Sigmoid')
case('gaussian_full', 'GaussianNLLLoss', 'full: true, eps: 0.4', results=2,
     act='Sigmoid')
each('nll', 'NLLLoss', label='classes', act='{LogSoftmax: {axis: 1}}')
each('nll_weight', 'NLLLoss', 'weight: %s, ignore_index: 2' % WEIGHT,
     label='classes', act='{LogSoftmax: {axis: 1}}')
each('ranking', 'MarginRankingLoss', label='signs', results=2)
each('ranking_margin', 'MarginRankingLoss', 'margin: 0.5', label='signs',
     results=2)
each('cosine', 'CosineEmbeddingLoss', label='pairs', results=2)
each('cosine_margin', 'CosineEmbeddingLoss', 'margin: -0.4', label='pairs',
     results=2)
each('multi_margin', 'MultiMarginLoss', label='classes')
each('multi_margin_all', 'MultiMarginLoss',
     'p: 2, margin: 0.5, weight: %s' % WEIGHT, label='classes')
each('multi_label', 'MultiLabelSoftMarginLoss', label='bits')
case('multi_label_weight', 'MultiLabelSoftMarginLoss', 'weight: %s' % WEIGHT,
     label='bits')
each('focal', 'FocalLoss', label='indices')
each('focal_weight', 'FocalLoss', 'weight: %s, gamma: 1.5' % WEIGHT,
     label='indices')
each('focal_shares', 'FocalLoss', label='shares')
each('focal_shares_weight', 'FocalLoss', 'weight: %s' % WEIGHT,
     label='shares')
case('dice', 'DiceLoss', label='bits', act='Sigmoid')
case('dice_smooth', 'DiceLoss', 'smooth: 0.5', label='shares', act='Sigmoid')
case('multi_class_dice', 'MultiClassDiceLoss', label='bits')
case('multi_class_dice_sigmoid', 'MultiClassDiceLoss',
     'ignore_indiex: 1, activation: sigmoid', label='bits')
for red in 'mean', 'sum', 'none':
    case('softmax_ce_sparse_' + red, 'SoftmaxCrossEntropyWithLogits',
         'sparse: true, reduction: ' + red, label='classes')
    case('softmax_ce_' + red, 'SoftmaxCrossEntropyWithLogits',
         'reduction: ' + red, label='shares')
case('softmax_ce_no_class', 'SoftmaxCrossEntropyWithLogits', 'sparse: true',
     label='some')
each('soft_margin', 'SoftMarginLoss', label='full_signs', ref='pt')
each('triplet', 'TripletMarginLoss', results=3, ref='pt')
case('triplet_all', 'TripletMarginLoss',
     'p: 3, swap: true, margin: 0.5, eps: 1.0e-3', results=3, ref='pt')
each('multilabel_margin', 'MultilabelMarginLoss', label='lists', ref='pt')
case('one', 'HuberLoss', x=(1, 6))

NAMES = ['a', 'b', 'c']
CLASSES = 4


def config(c):
    # of two results of GaussianNLL the second is the variance
    line = ', '.join('act(%s(x))' % n if c['act'] and
                     (c['results'] == 1 or i == 1) else n + '(x)'
                     for i, n in enumerate(NAMES[:c['results']]))
    cells = ['    %s: {Dense: {in_channels: 6, out_channels: %d}}\n' %
             (n, CLASSES) for n in NAMES[:c['results']]]
    if c['act']:
        cells.append('    act: %s\n' % c['act'])
    return ('network:\n  cells:\n%s  construct: |\n    return %s\nloss: %s\n'
            % (''.join(cells), line, '{%s: {%s}}' % (c['loss'], c['args'])
               if c['args'] else c['loss']))


def label_of(c):
    r, kind, n = k.rand(c, 'label'), c['label'], c['x'][0]
    shape = (n, CLASSES)
    made = {
        'real': lambda: r.uniform(-1, 1, shape),
        'column': lambda: r.uniform(-1, 1, (n, 1)),
        'classes': lambda: r.randint(0, CLASSES, n).astype(np.int32),
        'indices': lambda: r.randint(0, CLASSES, (n, 1)).astype(np.int32),
        'some': lambda: (r.randint(0, CLASSES + 1, n) - 1).astype(np.int32),
        'signs': lambda: r.randint(0, 2, shape) * 2.0 - 1,
        'full_signs': lambda: r.randint(0, 2, shape) * 2.0 - 1,
        'pairs': lambda: (r.randint(0, 2, n) * 2 - 1).astype(np.int32),
        'bits': lambda: r.randint(0, 2, shape) * 1.0,
        'counts': lambda: r.randint(0, 6, shape) * 1.0,
        'lists': lambda: np.array(
            [list(r.permutation(CLASSES)[:m]) + [-1] * (CLASSES - m)
             for m in r.randint(0, CLASSES + 1, n)], np.int32),
    }
    if kind == 'shares':
        p = r.uniform(0.1, 1, shape)
        return (p / p.sum(1, keepdims=True)).astype(np.float32)
    v = made[kind]()
    return v if v.dtype == np.int32 else v.astype(np.float32)


def start_of(c, x):
    names = {}
    for n in NAMES[:c['results']]:
        names[n + '.weight'] = (CLASSES, x.shape[1])
        names[n + '.bias'] = (CLASSES,)
    return k.weights(c, names)


def ref_of(c, x, start, outs, loss, grads):
    ref = {'loss': loss}
    for n, out, g in zip(NAMES, outs, grads):
        g = np.asarray(g, np.float64)
        ref.update({'output.' + n: out, 'grad.output.' + n: g,
                    'grad.%s.weight' % n: g.T @ x, 'grad.%s.bias' % n: g.sum(0)})
    return {n: np.array(t, np.float32, order='C') for n, t in ref.items()}


def run_ms(c, args, x, label, outs):
    import mindspore as ms
    from mindspore import nn
    ms.set_device('CPU')
    ms.set_context(mode=ms.PYNATIVE_MODE)
    args = {n: ms.Tensor(v, ms.float32) if isinstance(v, list) else v
            for n, v in args.items()}
    loss, tensors = getattr(nn, c['loss'])(**args), [ms.Tensor(o) for o in outs]
    if c['loss'] == 'BCEWithLogitsLoss' and args:
        for n in 'weight', 'pos_weight':
            args[n] = args.get(n, ms.Tensor([1.0], ms.float32))
        loss = nn.BCEWithLogitsLoss(**args)
    y = ms.Tensor(label.astype(np.int64) if c['loss'] == 'MultiMarginLoss'
                  else label)
    act = {'Sigmoid': ms.ops.sigmoid, '': lambda v: v}.get(
        c['act'], lambda v: ms.ops.log_softmax(v, 1))

    def forward(*z):
        if c['results'] == 1:
            return loss(act(z[0]), y)
        if c['loss'] == 'GaussianNLLLoss':
            return loss(z[0], y, act(z[1]))
        return loss(z[0], z[1], y)
    value, grads = ms.value_and_grad(forward, tuple(range(len(outs))))(*tensors)
    grads = grads if isinstance(grads, tuple) else (grads,)
    return value.asnumpy(), [g.asnumpy() for g in grads]


def run_pt(c, args, x, label, outs):
    import torch
    import torch.nn.functional as F
    f = {'SoftMarginLoss': F.soft_margin_loss,
         'TripletMarginLoss': F.triplet_margin_loss,
         'MultilabelMarginLoss': F.multilabel_margin_loss}[c['loss']]
    z = [torch.tensor(o, dtype=torch.float64, requires_grad=True) for o in outs]
    y = torch.tensor(label.astype(np.int64) if label.dtype == np.int32
                     else label.astype(np.float64))
    value = f(*z, **args) if c['results'] == 3 else f(z[0], y, **args)
    value.sum().backward()
    return value.detach().numpy(), [v.grad.numpy() for v in z]


def main(peer, names):
    for name, c in CASES.items():
        if c['ref'] != peer or (names and name not in names):
            continue
        c['config'] = config(c)
        c['tree'] = k.Loader.load(c['config'])
        x = (c['scale'] * k.rand(c, 'x').uniform(-1, 1, c['x'])).astype(
            np.float32)
        label, start = label_of(c), start_of(c, x)
        outs = [(x.astype(np.float64) @ start[n + '.weight'].T.astype(
            np.float64) + start[n + '.bias']).astype(np.float32)
            for n in NAMES[:c['results']]]
        args = c['tree']['loss']
        args = dict(list(args.values())[0]) if isinstance(args, dict) else {}
        loss, grads = (run_ms if peer == 'ms' else run_pt)(c, args, x, label,
                                                           outs)
        ref = ref_of(c, x, start, outs, loss, grads)
        if c['label'] == 'some':
            # MindSpore's loss is 0 there, but its gradient softmax(x), which
            # is that of no such loss
            ref = {n: v for n, v in ref.items() if n[:5] != 'grad.'}
        k.write(c, k.HERE / peer / c['name'], x, label, start,
                ref, save_file)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
