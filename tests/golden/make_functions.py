#!/usr/bin/env python3
"""Golden vectors of the functions of `construct`: MindSpore 2.10.0 (CPU,
PyNative) into ms/, PyTorch 2.15.0 (double precision) into pt/, where
MindSpore's kernel for CPUs is inexact or lacks the function. Arguments name
the cases to make, all without; `pt` or `ms` alone those of one framework.

    /somewhere/bin/python tests/golden/make_functions.py ms
    /torch/bin/python tests/golden/make_functions.py pt

An expression is one text for both: cellrun reads it in `construct`, and here
it is evaluated with the functions of mindspore.ops, or with those of PT below.
Each is a member f0, f1 ... of the network, whose results are compared one by
one, and all together go into a loss, whose gradient is that of the inputs.
Inputs are parameters: a b c of any sign, p q positive, u v w between -1 and 1.
"""
import sys

import numpy as np

import cases as k

k.CASES.clear()
FUNCTIONS = {}


def of(name, inputs, *lines, ref='ms', near='--rtol 1e-5 --atol 1e-6', **own):
    """own: Python's meaning of a name that the framework does not have."""
    names = list(inputs)
    text = '  cells:\n'
    for n, shape in inputs.items():
        text += '    %s: {Parameter: {shape: %s}}\n' % (n, list(shape))
    for i, line in enumerate(lines):
        text += '    f%d:\n      inputs: [%s]\n      construct: return %s\n' % (
            i, ', '.join(names), line)
    text += '  construct: |\n'
    for i in range(len(lines)):
        text += '    y%d = f%d(%s)\n' % (i, i, ', '.join(names))
    for i in range(0, len(lines), 12):  # concat takes 16
        text += '    z%d = concat((%s,))\n' % (i // 12, ', '.join(
            'reshape(y%d, -1)' % n for n in range(i, min(i + 12, len(lines)))))
    text += '    return expand_dims(concat((%s,)), 0)\n' % ', '.join(
        'z%d' % i for i in range((len(lines) + 11) // 12))
    name = 'fn_' + name
    FUNCTIONS[name] = (inputs, lines, own)
    k.case(name, text, near=near, ref=ref)


def start(name, inputs):
    rng = np.random.default_rng(sum(map(ord, name)))
    low = {'p': 0.1, 'q': 0.1, 'u': -0.9, 'v': -0.9, 'w': -0.9}
    high = {'u': 0.9, 'v': 0.9, 'w': 0.9}
    return {n: np.round(rng.uniform(low.get(n[0], -2), high.get(n[0], 2),
                                    shape), 3).astype(np.float32)
            for n, shape in inputs.items()}


A = {'a': (3, 4)}
AB = {'a': (3, 4), 'b': (3, 4)}

# ---- activations

of('elu', A, 'elu(a)', 'elu(a, 1.0)', 'elu(input_x=a[:, 1:])')
of('celu', A, 'celu(a)', 'celu(a, 0.5)', 'celu(a, alpha=2.0)')
of('glu', A, 'glu(a)', 'glu(a[:2], 0)', 'glu(x=a, axis=-1)')
of('hard', A, 'hardshrink(a)', 'hardshrink(a, 0.8)', 'hardsigmoid(a * 3)',
   'hardswish(a * 3)', 'hardtanh(a)', 'hardtanh(a, -0.5, 0.7)',
   'hardtanh(a, max_val=0.25)')
of('leaky_relu', A, 'leaky_relu(a)', 'leaky_relu(a, 0.05)',
   'leaky_relu(a, alpha=0.3)')
of('sigmoids', A, 'silu(a)', 'fast_gelu(a)', 'softmin(a)', 'softmin(a, 0)',
   'logsigmoid(a)', near='--rtol 1e-4 --atol 1e-5')
of('shrink', A, 'softshrink(a)', 'softshrink(a, 0.2)', 'softsign(a)',
   'relu6(a * 5)', 'threshold(a, 0.3, -1.5)')
of('smooth', A, 'mish(a)', 'selu(a)', 'tanhshrink(a)', 'softplus(a)',
   'softplus(a * 9, 2, 5)', 'softplus(a, beta=0.5)', ref='pt')
of('prelu', {'a': (3, 4, 2), 'b': (1,), 'c': (4,)}, 'prelu(a, b)',
   'prelu(a, c)')

# ---- elementwise

of('add_products', {'a': (3, 4), 'b': (3, 4), 'p': (4,)},
   'addcmul(a, b, p)', 'addcmul(a, b, p, 0.5)', 'addcdiv(a, b, p)',
   'addcdiv(a, b, p, value=-2)', 'lerp(a, b, p)', 'lerp(a, b, 0.25)')
of('exponents', {'a': (3, 4), 'p': (4,)}, 'exp2(a)', 'log2(p)', 'log10(p)',
   'reciprocal(p)', 'logaddexp(a, p)', 'xlogy(a, p)', 'hypot(a, p)',
   'expm1(a)', near='--rtol 1e-4 --atol 1e-5')
of('angles', {'a': (3, 4), 'u': (3, 4), 'p': (3, 4)}, 'tan(u)', 'asin(u)',
   'acos(u)', 'atan(a)', 'sinh(a)', 'cosh(a)', 'asinh(a)', 'acosh(p + 1)',
   'atanh(u)', 'atan2(a, u)', 'atan2(a, p[0])', 'erfc(a)', 'expm1(a)',
   'log2(p)', 'log10(p)', 'exp2(a)', 'hypot(a, p)', 'logaddexp(a, u)',
   'xlogy(a, p)', ref='pt')
of('whole', {'a': (3, 4), 'p': (4,)}, 'trunc(a * 2)', 'frac(a * 3)',
   'fmod(a * 3, p)', 'masked_fill(a, a > 0.5, 2.0)',
   'masked_fill(a, p > 1, -1.0)', 'masked_fill(a, a[0] > 0, p[0])',
   'select(a > 0, a, a * a)', 'nan_to_num(log(a), nan=0.5)')
of('tests', {'a': (3, 4)}, 'cast(isnan(log(a)), float32) + a',
   'cast(isfinite(a / maximum(a, 0.0)), float32)',
   'cast(isinf(a / maximum(a, 0.0)), float32)')

# ---- 16 bits: what is computed from such numbers alone is rounded to them

H = 'cast(a, float16)'
of('float16', {'a': (3, 4), 'b': (3, 4)}, 'cast(%s, float32)' % H,
   'cast(%s * cast(b, float16), float32)' % H,
   'cast(%s * 3.1 + 1, float32)' % H, '%s * b' % H,
   'cast(relu(%s) + sum(%s), float32)' % (H, H),
   'cast(%s * 300.0, float32) * 0.01 + a' % H,
   'cast(reshape(%s, (4, 3))[1:], float32) * 0.3' % H,
   'cast(cast(%s, float32) * 1.7, float16) + b' % H,
   'cast(exp(%s) / 3, float32)' % H, near='--rtol 1e-4 --atol 1e-5')
H = 'cast(a, bfloat16)'
of('bfloat16', {'a': (3, 4), 'b': (3, 4)}, 'cast(%s, float32)' % H,
   'cast(%s * cast(b, bfloat16), float32)' % H,
   'cast(%s * 3.125 + 1, float32)' % H, '%s * b' % H,
   'cast(relu(%s), float32)' % H, ref='pt')

# ---- along axes

of('var', {'a': (3, 4, 2)}, 'var(a)', 'var(a, 1)', 'var(a, (0, 2), 1)',
   'var(a, -1, 0, True)', 'var(a, axis=0, ddof=1, keepdims=True)')
of('std', {'a': (3, 4, 2)}, 'std(a)', 'std(a, 1)', 'std(a, (0, 1), 1)',
   'std(a, axis=-2, keepdims=True)', 'std_mean(a, 1)[0]',
   'std_mean(a, 1)[1]', 'var_mean(a, 0)[0]', 'var_mean(a, 0)[1]',
   near='--rtol 1e-4 --atol 1e-5')
of('extremes', {'a': (3, 4, 2)}, 'amax(a)', 'amax(a, 1)',
   'amin(a, (0, 2), True)', 'amin(a, axis=-1)',
   'cast(argmin(a, 1), float32)', 'cast(argmin(a), float32)',
   'cast(argmin(a, axis=0, keepdims=True), float32)',
   'cast(count_nonzero(relu(a), 1), float32)',
   'cast(count_nonzero(relu(a), (0, 2), True), float32)')
of('order', {'a': (3, 5)}, 'cast(argsort(a), float32)',
   'cast(argsort(a, 0), float32)',
   'cast(argsort(a, axis=-1, descending=True), float32)',
   'sort(a)[0]', 'sort(a, 0, True)[0]', 'cast(sort(a, 1)[1], float32)')
of('similarity', {'a': (3, 4), 'b': (3, 4)}, 'cosine_similarity(a, b)',
   'cosine_similarity(a, b, 0)', 'cosine_similarity(a, b, dim=-1, eps=1e-3)')
of('l2_normalize', {'a': (3, 4)}, 'l2_normalize(a)', 'l2_normalize(a, 1)',
   'l2_normalize(a, axis=-1, epsilon=1e-3)')
of('cumulate', {'a': (3, 4, 2)}, 'cumprod(a, 0)', 'cumprod(a, 1)',
   'cumprod(a, dim=-1)', 'cumsum(a, 1)')

# ---- new tensors

of('made', {'a': (3, 4)}, 'zeros((3, 4)) + a', 'ones((2, 1, 4)) * a[0]',
   'full((3, 4), 2.5, dtype=float32) * a', 'full_like(a, -1.5) * a', 'eye(3, 4) * a',
   'eye(3)', 'linspace(0, 1, 5)', 'linspace(-2.5, 4, 4) * a[0]',
   'tril(a)', 'tril(a, -1)', 'triu(a, diagonal=1)', 'triu(a)', 'zeros(4) + a',
   'cast(full((2,), 7), float32)', 'cast(ones((3,), int32), float32)')

# ---- elements chosen and moved

of('moved', {'a': (3, 4, 2)}, 'flip(a, (0,))', 'flip(a, (1, -1))',
   'fliplr(a)', 'flipud(a)', 'swapaxes(a, 0, 2)', 'swapaxes(a, -1, 1)', 'permute(a, (2, 0, 1))',
   'unsqueeze(a, 1)', 'unsqueeze(a, -1)', 't(a[0])', 'narrow(a, 1, 1, 2)',
   'movedim(a, 0, 2)', 'movedim(a, (0, 1), (1, 0))')
of('roll', {'a': (3, 4, 2)}, 'roll(a, 1)', 'roll(a, -2, 1)',
   'roll(a, (1, 3), (0, 1))', 'roll(a, shifts=-3, dims=0)',
   'where(logical_xor(a > 0, a > 1), a, a * a)', ref='pt')
of('pieces', {'a': (5, 4)}, 'chunk(a, 2)[0]', 'chunk(a, 2)[1]',
   'chunk(a, 3, 1)[1]', 'unstack(a)[4]', 'unstack(a, 1)[2]',
   'unbind(a, 1)[3]', 'cat((a, a[:2]))', 'cat((a, a[:, 1:]), axis=1)',
   'repeat_interleave(a, 2)', 'repeat_interleave(a, 3, 1)',
   'repeat_interleave(a, repeats=2, axis=0)')
of('grid', {'a': (3,), 'b': (4,)}, 'meshgrid(a, b)[0]', 'meshgrid(a, b)[1]',
   "meshgrid(a, b, indexing='ij')[1]", 'meshgrid(a, b, a)[2]',
   'outer(a, b)', 'outer(input=b, vec2=a)')
of('chosen', {'a': (3, 4), 'p': (3, 2)},
   'gather_elements(a, 1, cast(p * 1.9, int32))',
   'gather_elements(a, dim=0, index=cast(p, int32))',
   'cast(bincount(cast(p[:, 0] * 2, int32), minlength=5), float32)',
   'bincount(cast(p[:, 0] * 2, int32), p[:, 1], 4)')
of('masked_select', {'a': (3, 4), 'b': (4,)},
   'masked_select(a, a > 0, size=12)', 'masked_select(a, a > 0, 3)',
   'masked_select(a, b > 0, size=9, fill_value=-1.5)',
   'masked_select(b, a < 0, size=10, fill_value=2)',
   masked_select=lambda x, mask, size, fill_value=0: select_sized(
       x, mask, size, fill_value))

# ---- products

of('matrices', {'a': (3, 4), 'b': (4, 2), 'c': (3, 2), 'p': (4,)},
   'addmm(c, a, b)', 'addmm(c, a, b, beta=0.5, alpha=2)', 'mv(a, p)',
   'dot(a, b)', 'matmul(p, p)')
of('dot', {'a': (3, 4), 'b': (2, 4, 5), 'c': (5, 2)}, 'dot(a, b)',
   'dot(b, c)')
of('batches', {'a': (2, 3, 4), 'b': (2, 4, 2), 'c': (2, 3, 2)}, 'bmm(a, b)',
   'baddbmm(c, a, b)', 'baddbmm(c, a, b, beta=2, alpha=-1)')
of('dense', {'a': (5, 4), 'b': (3, 4), 'c': (3,)}, 'dense(a, b)',
   'dense(a, b, c)', 'dense(input=a, weight=b, bias=c)')
of('einsum', {'u': (3, 4), 'v': (4, 5), 'w': (4,)},
   "einsum('ij,jk->ik', u, v)", "einsum('ij,jk', u, v)",
   "einsum('ij->ji', u)", "einsum('ij->', u)", "einsum('ij->j', u)",
   "einsum('ij,j->i', u, w)", "einsum('ij,j->ij', u, w)",
   "einsum('i,j->ij', w, w)", "einsum('ij,ij->i', u, u)",
   "einsum('ij,jk,j->ki', u, v, w)", "einsum('ji', u)", "einsum('i,i', w, w)",
   "einsum('ij,kl->ijkl', u[:2], u[1:])", ref='pt')
of('einsum_batch', {'u': (2, 3, 4), 'v': (2, 4, 5), 'w': (3, 3)},
   "einsum('bij,bjk->bik', u, v)", "einsum('...ij,...jk->...ik', u, v)",
   "einsum('bij,bjk->ik', u, v)", "einsum('bij,bkj->bik', u, u)",
   "einsum('ii->i', w)", "einsum('ii', w)", "einsum('bij,ii->bj', u, w)",
   "einsum('b...,...->b...', u, u[0])", "einsum('bij,bik,ii->jk', u, u, w)",
   "einsum('...j->...', u)", "einsum('bij,bjk,bik->b', u, v, u @ v)",
   ref='pt')

# ---- normalisation, windows, losses

of('layer_norm', {'a': (2, 3, 4), 'b': (3, 4), 'c': (3, 4)},
   'layer_norm(a, (3, 4), b, c)', 'layer_norm(a, (4,))',
   'layer_norm(a, (4,), b[0], c[0], 0.1)',
   'layer_norm(a, (4,), weight=b[0])', ref='pt')
of('group_norm', {'a': (2, 4, 3), 'b': (4,), 'c': (4,)},
   'group_norm(a, 2, b, c)', 'group_norm(a, 4)', 'group_norm(a, 1, eps=0.1)',
   ref='pt')
of('batch_norm', {'a': (3, 4, 2, 2), 'b': (4,), 'c': (4,), 'p': (4,),
                  'q': (4,)},
   'batch_norm(a, p, q, b, c)', 'batch_norm(a, p, q, b, c, eps=0.1)',
   ref='pt')
of('batch_norm_training', {'a': (3, 4, 2, 2), 'b': (4,), 'c': (4,), 'p': (4,),
                           'q': (4,)},
   'batch_norm(a, p, q, b, c, True)',
   'batch_norm(a, p, q, b, c, training=True, momentum=0.3, eps=0.1)',
   ref='pt')
of('pools', {'a': (2, 3, 6, 5)}, 'max_pool2d(a, 2)',
   'max_pool2d(a, 3, 1, padding=1)', 'max_pool2d(a, 2, 2, ceil_mode=True)',
   'avg_pool2d(a, 2, 2)', 'avg_pool2d(a, (3, 2), 1, 1)',
   'avg_pool2d(a, 3, 2, 1, False, False)', 'adaptive_avg_pool2d(a, 2)',
   'adaptive_max_pool2d(a, (3, 2))', 'avg_pool1d(a[0], 2, 2)',
   'adaptive_avg_pool1d(a[0, :, :, :4], 2)', 'max_pool2d(a, 2, 1, dilation=2)',
   ref='pt')
of('convs', {'a': (2, 4, 6), 'b': (3, 4, 3), 'c': (3,), 'u': (4, 2, 3)},
   'conv1d(a, b)', 'conv1d(a, b, c, 2)',
   "conv1d(a, b, bias=c, pad_mode='pad', padding=1, dilation=2)",
   "conv1d(a, u, groups=2, pad_mode='same')")
of('cross_entropy', {'a': (3, 4), 'p': (3,), 'q': (3, 4)},
   'cross_entropy(a, cast(p, int32))',
   "cross_entropy(a, cast(p, int32), reduction='sum')",
   'cross_entropy(a, cast(p, int32), label_smoothing=0.1)',
   'cross_entropy(a, cast(p, int32), None, 0)',
   'cross_entropy(a, softmax(stop_gradient(q)))',
   "reshape(cross_entropy(a, cast(p, int32), reduction='none'), (1, 3))")
of('mse_loss', AB, 'mse_loss(a, b)', "mse_loss(a, b[0], 'sum')",
   "mse_loss(a, b, reduction='none')")
of('losses', {'a': (3, 4), 'b': (3, 4), 'p': (3,)}, 'l1_loss(a, b)',
   "l1_loss(a, b, 'sum')", 'smooth_l1_loss(a, b)',
   "smooth_l1_loss(a, b, 0.5, 'mean')", 'huber_loss(a, b)',
   "huber_loss(a, b, reduction='sum', delta=0.7)",
   'binary_cross_entropy(sigmoid(a), sigmoid(stop_gradient(b)))',
   "binary_cross_entropy(sigmoid(a), sigmoid(stop_gradient(b)), None, 'sum')",
   'nll_loss(log_softmax(a), cast(p, int32))',
   "nll_loss(log_softmax(a), cast(p, int32), reduction='sum')",
   'kl_div(log_softmax(a), softmax(stop_gradient(b)))',
   "kl_div(log_softmax(a), softmax(stop_gradient(b)), 'sum')",
   near='--rtol 1e-4 --atol 1e-5')
of('losses_logits', AB, 'binary_cross_entropy_with_logits(a, sigmoid(b))',
   "binary_cross_entropy_with_logits(a, sigmoid(b), reduction='sum')",
   ref='pt')
of('more', {'a': (3, 3), 'b': (3, 3), 'p': (3,)}, 'clip(a, -0.5, 1)',
   'clip(a, max=0.25)', 'cast(isclose(a, a + 1e-6), float32)',
   'cast(isclose(a, b, 0.5, 0.1), float32)', 'swapdims(a, 0, 1)', 'trace(a)',
   'diag(p)', ref='pt')

# ---- functions that are a cell

of('images', {'a': (2, 4, 3, 5)}, 'interpolate(a, (6, 7))',
   "interpolate(a, (5, 4), mode='bilinear', align_corners=False)",
   "upsample(a, size=(5, 9), mode='bilinear', align_corners=True)",
   'pixel_shuffle(a, 2)', 'pixel_unshuffle(a[:, :, :2, :4], 2)', 'lrn(a)',
   'lrn(a, 1, 2.0, 0.5, 0.75)')
of('pools3d', {'a': (2, 3, 4, 6, 5)}, 'max_pool3d(a, 2)',
   'max_pool3d(a, (2, 3, 2), 1, 1)', 'max_pool3d(a, 2, 1, 0, 2)',
   'max_pool3d(a, 3, 2, ceil_mode=True)', 'avg_pool3d(a, 2, 2)',
   'avg_pool3d(a, 3, (1, 2, 2), 1, False, False)',
   'avg_pool3d(a, 2, 2, divisor_override=3)', 'adaptive_avg_pool3d(a, 2)',
   'adaptive_max_pool3d(a, (2, 3, 2))', 'adaptive_max_pool1d(a[0, 0], 1)',
   'channel_shuffle(a, 3)', ref='pt')
of('windows', {'a': (2, 3, 5, 6), 'b': (3, 2, 2, 3), 'c': (4,),
               'u': (2, 12, 6), 'w': (3, 2, 3, 3)}, 'unfold(a, 2)',
   'unfold(a, (2, 3), 1, (1, 0), (2, 1))', 'unfold(a, 2, dilation=2)',
   'fold(u, (3, 4), 2)', 'fold(u, (5, 5), (2, 3), 1, (0, 1), (2, 2))',
   'fold(u, (7, 6), (3, 2), (2, 3), 1, (3, 2))',
   'conv_transpose2d(a, b)', 'conv_transpose2d(a, b, c[:2], 2, (1, 0), (1, 0))',
   'conv_transpose2d(a, w, stride=(2, 1), padding=1, dilation=2)', ref='pt')
LABEL = 'sign(stop_gradient(b))'
of('losses_pairs', {'a': (3, 4), 'b': (3, 4), 'c': (3,), 'p': (3, 4)},
   'cosine_embedding_loss(a, a * p, sign(stop_gradient(c)))',
   "cosine_embedding_loss(a, b, sign(stop_gradient(c)), 0.2, 'sum')",
   'gaussian_nll_loss(a, stop_gradient(b), p)',
   "gaussian_nll_loss(a, stop_gradient(b), p, True, 0.5, 'sum')",
   'hinge_embedding_loss(p, %s)' % LABEL,
   "hinge_embedding_loss(p, %s, 0.3, reduction='none')" % LABEL,
   'margin_ranking_loss(a, a * a, %s)' % LABEL,
   "margin_ranking_loss(a, p, %s, 0.1, 'sum')" % LABEL,
   'soft_margin_loss(a, %s)' % LABEL, "soft_margin_loss(a, %s, 'sum')" % LABEL,
   'triplet_margin_loss(a, b, p)',
   "triplet_margin_loss(a, b, p, 2.0, 1, 1e-5, True, 'sum')",
   near='--rtol 1e-4 --atol 1e-5', ref='pt')
of('losses_classes', {'a': (3, 4), 'b': (3, 4), 'p': (3,)},
   'multi_margin_loss(a, cast(p, int32))',
   "multi_margin_loss(a, cast(p, int32), 2, 0.5, None, 'sum')",
   'multilabel_margin_loss(a, cast(sigmoid(b) * 5, int32) - 1)',
   "multilabel_margin_loss(a, cast(sigmoid(b) * 5, int32) - 1, 'sum')",
   'multilabel_soft_margin_loss(a, cast(b > 0, float32))',
   "multilabel_soft_margin_loss(a, cast(b > 0, float32), reduction='sum')",
   ref='pt')

# ---- other names

of('names', {'a': (3, 4), 'b': (3, 4), 'p': (4,)}, 'absolute(a)',
   'multiply(a, b)', 'subtract(a, b)', 'subtract(a, p, alpha=2)',
   'divide(a, p)', "divide(a, p, rounding_mode='floor')",
   "divide(a, p, rounding_mode='trunc')", 'true_divide(a, p)',
   'floor_divide(a, p)', 'negative(a)', 'remainder(a, p)',
   'cast(eq(a, b), float32)', 'cast(ne(a, b), float32)',
   'cast(gt(a, b), float32)', 'cast(ge(a, p), float32)',
   'cast(lt(a, b), float32)', 'cast(le(a, p), float32)', 'inv(p)',
   'moveaxis(a, 0, 1)', 'top_k(a, 2)[0]', 'mm(a, transpose(b, (1, 0)))',
   'ger(p, p)', 'sgn(a)', 'reverse(a, (1,))', 'floor_mod(a, p)',
   'addn((a, b, a))', 'clip_by_value(a, -0.5, p)',
   'gather_d(a, 1, cast(b > 0, int32))', 'truncate_mod(a * 3, p)')
of('names_angles', {'a': (3, 4), 'u': (3, 4), 'p': (3, 4)}, 'arcsin(u)',
   'arccos(u)', 'arctan(a)', 'arcsinh(a)', 'arccosh(p + 1)', 'arctanh(u)',
   'arctan2(a, p)', 'fmax(a, p)', 'fmin(a, log(a))', 'fmax(log(a), u)',
   near='--rtol 1e-4 --atol 1e-5', ref='pt')

# ---- elementwise

of('numbers', {'a': (3, 4), 'b': (3, 4), 'w': (4,), 'p': (4,)},
   'copysign(a, w)', 'deg2rad(a)', 'rad2deg(a * 0.01)', 'heaviside(a, w)',
   'logit(w * 0.5 + 0.5)', 'logit(w * 0.5 + 0.5, 0.1)', 'sinc(a)',
   'cast(isposinf(-a / relu(a)), float32)',
   'cast(isneginf(a / relu(a)), float32)', 'take(a, cast(p * 2.9, int32))',
   'type_as(cast(a, int32), b) * a', 'accumulate_n((a, b, a))',
   near='--rtol 1e-4 --atol 1e-5', ref='pt')
of('logaddexp2', {'a': (3, 4), 'p': (4,)}, 'logaddexp2(a, p)', 'xdivy(a, p)',
   near='--rtol 1e-4 --atol 1e-5')
of('near_bounds', {'a': (3, 4), 'p': (3, 4)},
   'sinc(a - stop_gradient(a - 1e-6 * p))', 'sinc(0.1 * a)', 'sinc(0 * a)',
   'softplus(a - stop_gradient(a) + 5, 2, 10)', ref='pt')
of('hypot_sizes', {'a': (3, 4), 'p': (3, 4)}, 'hypot(a * 1e20, p * 1e20) * 1e-20',
   'hypot(a * 1e-25, p * 1e-25) * 1e25', 'hypot(a, 0 * p)', 'hypot(0 * a, p)',
   ref='pt')
of('logaddexp_inf', {'a': (3, 4), 'p': (3, 4)}, *[
    line % name for name in ('logaddexp', 'logaddexp2') for line in (
        'a + exp(%s(stop_gradient(log(0 * p)), stop_gradient(log(0 * p))))',
        'a + 1 / %s(stop_gradient(p / (0 * p)), stop_gradient(a))',
        '%s(a, stop_gradient(log(0 * p)))')],
   near='--rtol 1e-4 --atol 1e-5', ref='pt')
of('xlogy_at_0', {'a': (3, 4), 'p': (3, 4)}, 'xlogy(a - stop_gradient(a), p)',
   'xlogy(relu(a), p)', 'xlogy(a - stop_gradient(a), stop_gradient(-p))',
   'xlogy(0 * p, p)', ref='pt')

# ---- along axes

of('nan', {'a': (3, 4)}, 'nansum(log(a))', 'nansum(log(a), 1)',
   'nanmean(log(a), (0, 1), True)', 'nanmean(log(a), 1)', ref='pt')
of('distances', {'a': (2, 3, 4), 'b': (2, 5, 4), 'c': (2, 3, 4)},
   'cdist(a, b)', 'cdist(a[0], b[1], 1.0)', 'dist(a, c)', 'dist(a, c, 3)',
   'cross(a[0, :, :], c[0, :, :], 0)', 'cross(a[:, :, 1:], c[:, :, 1:], 2)',
   'cross(a, c)', 'vector_norm(a)', 'vector_norm(a, 3, (0, 2), True)',
   'vector_norm(a, ord=1, axis=-1)', 'vecdot(a, c)', 'vecdot(a, c, axis=1)',
   near='--rtol 1e-4 --atol 1e-5')
of('differences', {'a': (3, 4), 'b': (3, 1), 'p': (4,)}, 'diff(a)',
   'diff(a, axis=0)', 'diff(a, prepend=b)', 'diff(a, 1, -1, b, b)', 'trapz(a)',
   'trapz(a, dx=0.5, dim=0)', 'trapz(a, p)', 'trapz(a, a * a, dim=1)')
of('median', {'a': (3, 4, 5)}, 'median(a, -1)[0]', 'median(a, 1)[0]',
   'cast(median(a, 0, True)[1], float32)', 'cast(median(a, 1)[1], float32)',
   ref='pt')

# ---- chosen, moved, made

of('joined', {'a': (3, 4), 'b': (3, 4), 'c': (3,)}, 'vstack((a, b))',
   'row_stack((c, c * 2))', 'hstack((a, b))', 'hstack((c, c))',
   'column_stack((c, a, c))', 'view_as(a, transpose(b, (1, 0)))',
   'expand_as(c, transpose(a, (1, 0)))', 'ravel(a)', 'rot90(a, 1, (0, 1))',
   'rot90(a, 2, (0, 1))', 'rot90(a, -1, (1, 0))', 'rot90(a, 4, (0, 1))',
   'a * numel(b)', 'a * rank(b)')
of('rows', {'a': (3, 4, 2), 'p': (5, 2)},
   'index_select(a, 1, cast(p[:, 0], int32))',
   'index_select(a, -1, cast(p[:, 0] > 1, int32))',
   'gather_nd(a, cast(p, int32))',
   'gather_nd(a, cast(p[:, :1], int32))',
   'scatter_nd(cast(p, int32), a[0, 0, 0] * p[:, 1], (3, 2))',
   'scatter_nd(cast(p[:, :1], int32), p, (4, 2))',
   'tensor_scatter_add(a[:, :, 0], cast(p, int32), p[:, 1])',
   'index_fill(a, 1, cast(p[:2, 0], int32), 0.5)',
   'index_fill(a, 0, cast(p[:1, 1], int32), -1.0)')
# indices that differ along the axis
of('scatters', {'a': (4, 3), 'b': (2, 3)},
   'scatter(a, 0, cast(arange(6).reshape((2, 3)) % 4, int32), b)',
   'scatter(a, 0, cast(-1 - arange(3).reshape((1, 3)), int32), b[:1])',
   'scatter(a, 1, cast(2 - arange(6).reshape((2, 3)) % 3, int32), b)',
   'scatter(a, -1, cast(arange(2).reshape((2, 1)), int32), b[:, :1])',
   'tensor_scatter_elements(a, cast(arange(6).reshape((2, 3)) % 4, int32), b)',
   'tensor_scatter_elements(a, cast(zeros_like(b), int32), b, 0, "add")',
   'tensor_scatter_elements(a, cast(arange(6).reshape((2, 3)) // 3, int32), '
   'b, axis=1, reduction="add")',
   'scatter_add(a, 1, cast(-1 - arange(6).reshape((2, 3)) // 3, int32), b)',
   'scatter_add(a, 0, cast(zeros_like(b), int32), b)',
   'tensor_scatter_sub(a, cast(arange(2).reshape((2, 1)), int32), b)',
   scatter_add=lambda x, dim, index, src: ops().tensor_scatter_elements(
       x, index, src, dim, 'add'))
of('unpooled', {'a': (2, 3, 6, 4)},
   *('max_unpool2d(max_pool2d(a, %s, return_indices=True)[0], max_pool2d(a, '
     '%s, return_indices=True)[1], %s)' % (x, x, y)
     for x, y in (('2', '2'), ('(3, 2)', '(3, 2)'),
                  ('2', '2, output_size=(7, 4)'),
                  ('3, 2, 1', '3, 2, 1, output_size=(6, 4)'),
                  ('3, 3, 1', '3, 3, 1, output_size=(6, 4)'))),
   ref='pt',
   max_pool2d=lambda *a, **k: torch_function('max_pool2d')(*a, **k),
   max_unpool2d=lambda *a, **k: torch_function('max_unpool2d')(*a, **k))
of('ctc_loss', {'b': (6, 2, 4)},
   *('ctc_loss(log_softmax(b, 2), cast(1 + arange(6).reshape((2, 3)) %% 3, '
     'int32), cast(arange(2) + 5, int32), cast(arange(2) + 2, int32)%s)' % end
     for end in ('', ', reduction="sum"', ', 0, "none"')), ref='pt',
   ctc_loss=lambda *a, **k: torch_function('ctc_loss')(*a, **k))
of('normalize', {'a': (3, 4), 'b': (2, 3, 4)}, 'normalize(a)',
   'normalize(b)', 'normalize(b, 2.0, -1)', 'normalize(a, dim=0)',
   'normalize(a, 1.0)', 'normalize(a, p=3.0, dim=0)',
   'normalize(a, eps=50.0)', ref='pt',
   normalize=lambda *a, **k: torch_function('normalize')(*a, **k))
of('segments', {'a': (4, 2), 'p': (4,), 'b': (2, 2, 3)},
   'clip_by_value(unsorted_segment_max(a, cast(p, int32), 3), -9.0, 9.0)',
   'clip_by_value(unsorted_segment_min(a, cast(p, int32), 3), -9.0, 9.0)',
   'unsorted_segment_max(b, cast(reshape(p, (2, 2)) > 9, int32), 1)')
of('diagonals', {'a': (3, 4), 'b': (2, 3, 4)}, 'diag_embed(a)',
   'diag_embed(a, 1)', 'diag_embed(a, -2, 0, 2)', 'diagonal(a)',
   'diagonal(a, 2)', 'diagonal(b, -1, 1, 2)', 'diagonal(b, 1, 2, 0)')
of('places', {'a': (3, 4), 'p': (3, 4)},
   'cast(bucketize(a, [-1.0, 0.25, 1.0]), float32)',
   'cast(bucketize(a, [-1.0, 0.25, 1.0], right=True), float32)',
   'cast(searchsorted(sort(p)[0], a, out_int32=True), float32)',
   'cast(searchsorted(sort(p)[0], p, out_int32=True, side="right"), float32)',
   'cast(searchsorted(sort(a[0])[0], a[0], out_int32=True), float32)',
   'cast(sequence_mask(cast(p[0], int32), 3), float32)')
of('made_windows', {'a': (3,)}, 'hann_window(7)', 'hann_window(8, False)',
   'hann_window(1)', 'hamming_window(5)', 'hamming_window(6, False, 0.5, 0.4)',
   'a', ref='pt')
of('grids', {'a': (2, 3, 4, 5), 'u': (2, 3, 2, 2), 'c': (2, 2, 3)},
   'grid_sample(a, u, align_corners=False)',
   "grid_sample(a, u * 1.4, 'bilinear', 'zeros', True)",
   "grid_sample(a, u * 1.4, 'bilinear', 'border', False)",
   "grid_sample(a, stop_gradient(u) * 1.4, 'nearest', 'zeros', False)",
   'affine_grid(c, (2, 3, 4, 5), False)',
   'affine_grid(c, (2, 3, 4, 5), True)',
   'grid_sample(a, affine_grid(c * 0.5, (2, 3, 4, 5), False), '
   'align_corners=False)', ref='pt')

# ---- products

of('sums_of_products', {'a': (3, 4), 'b': (4,), 'c': (3,), 'u': (2, 3, 5),
                        'v': (2, 5, 4)}, 'addmv(c, a, b)',
   'addmv(c, a, b, beta=0.5, alpha=2)', 'addr(a, c, b)',
   'addr(a, c, b, beta=2, alpha=-1)', 'addbmm(a, u, v)',
   'addbmm(a, u, v, beta=0.5, alpha=2)', 'inner(a, b)',
   'inner(a, a * 2)', 'kron(a, u)', 'kron(u, b)',
   near='--rtol 1e-4 --atol 1e-5')
of('tensor_dot', {'a': (3, 4, 2), 'b': (4, 2, 5)},
   'tensor_dot(a, b, 2)', 'tensor_dot(a, b, (1, 0))',
   'tensor_dot(a, b, ((2, 1), (1, 0)))', 'tensor_dot(a, b, (-1, 1))',
   'tensor_dot(a[0], b[0], 0)')
of('rms_norm', {'a': (2, 3, 4), 'b': (4,), 'c': (3, 4)}, 'rms_norm(a, b)[0]',
   'rms_norm(a, b)[1]', 'rms_norm(a, c, 0.1)[0]', 'swiglu(a)',
   'swiglu(a[:, :2], 1)', near='--rtol 1e-4 --atol 1e-5', ref='pt')
of('rotary', {'a': (2, 3, 4), 'b': (3, 4), 'c': (3, 4)},
   'rotary_position_embedding(a, b, c)',
   'rotary_position_embedding(a, b, c, 1)', ref='pt')


# ---- MindSpore

def ops():
    from mindspore import ops as all_of
    return all_of


def torch_function(name):
    import torch.nn.functional as F
    return getattr(F, name)


def select_sized(x, mask, size, fill):
    from mindspore import ops
    some = ops.masked_select(x, mask)
    some = ops.concat([some, ops.full((size,), float(fill)).astype(x.dtype)])
    return some[:size]


def l2_normalize(x, axis=0, epsilon=1e-4):
    from mindspore import ops
    return ops.L2Normalize(axis, epsilon)(x)


def run_ms(name):
    import mindspore as ms
    from mindspore import ops
    inputs, lines, own = FUNCTIONS[name]
    words = {**vars(ops), 'l2_normalize': l2_normalize, 'float32': ms.float32,
             'float16': ms.float16, 'int32': ms.int32, **own}
    at = start(name, inputs)

    def results(*values):
        here = {**words, **dict(zip(inputs, values))}
        return [eval(line, here) for line in lines]

    def joined(*values):
        return ops.concat([y.reshape(-1) for y in results(*values)])

    values = [ms.Tensor(v) for v in at.values()]
    out = {'output.f%d' % i: y.asnumpy() for i, y in enumerate(results(*values))}
    y = joined(*values)
    label = k.np.round(np.random.default_rng(1).uniform(
        -1, 1, (1, y.shape[0])), 3).astype(np.float32)

    def loss_of(*values):
        return ops.reduce_mean(ops.square(joined(*values)[None] -
                                          ms.Tensor(label)))

    loss, grads = ms.value_and_grad(
        loss_of, tuple(range(len(values))))(*values)
    grads = grads if isinstance(grads, tuple) else (grads,)
    out.update({'grad.' + n: g.asnumpy() for n, g in zip(inputs, grads)
                if g.asnumpy().any()})
    out.update({'output': y.asnumpy()[None], 'loss': loss.asnumpy()})
    return label, at, out


# ---- PyTorch, by MindSpore's names and arguments

def torch_words():
    import torch
    from torch.nn import functional as F

    def batch_norm(x, mean, var, weight, bias, training=False, momentum=.1,
                   eps=1e-5):
        return F.batch_norm(x, mean.detach().clone(), var.detach().clone(),
                            weight, bias, training, momentum, eps)

    return {
        'layer_norm': F.layer_norm, 'group_norm': F.group_norm,
        'batch_norm': batch_norm, 'mish': F.mish, 'selu': F.selu,
        'tanhshrink': F.tanhshrink, 'softplus': F.softplus,
        'max_pool2d': F.max_pool2d, 'avg_pool2d': F.avg_pool2d,
        'avg_pool1d': F.avg_pool1d, 'binary_cross_entropy_with_logits':
        F.binary_cross_entropy_with_logits,
        'adaptive_avg_pool1d': F.adaptive_avg_pool1d,
        'adaptive_avg_pool2d': F.adaptive_avg_pool2d,
        'adaptive_max_pool2d': F.adaptive_max_pool2d,
        'cast': lambda x, dtype: x.to(dtype), 'float32': torch.float32,
        'stop_gradient': lambda x: x.detach(), **torch_functions(torch, F),
        'bfloat16': torch.bfloat16}


def torch_functions(torch, F):
    def rms_norm(x, gamma, epsilon=1e-6):
        axes = tuple(range(-gamma.dim(), 0))
        scale = torch.rsqrt((x * x).mean(axes, keepdim=True) + epsilon)
        return x * scale * gamma, scale

    def rotary_position_embedding(x, cos, sin, mode=0):
        """Rotations of the plane of x[i], x[j] as complex numbers have them,
        one angle for each element."""
        n = x.shape[-1]
        pairs = [(i, i + n // 2) for i in range(n // 2)] if mode == 0 else [
            (i, i + 1) for i in range(0, n, 2)]
        y = [None] * n
        for i, j in pairs:
            y[i] = x[..., i] * cos[..., i] - x[..., j] * sin[..., i]
            y[j] = x[..., j] * cos[..., j] + x[..., i] * sin[..., j]
        return torch.stack(y, -1)

    def avg_pool3d(x, kernel_size=1, stride=1, padding=0, ceil_mode=False,
                   count_include_pad=True, divisor_override=0):
        return F.avg_pool3d(x, kernel_size, stride, padding, ceil_mode,
                            count_include_pad, divisor_override or None)

    def lrn(x, radius=5, bias=1., alpha=1., beta=.5):
        n = 2 * radius + 1
        return F.local_response_norm(x, n, alpha * n, beta, bias)

    def interpolate(x, size=None, mode='nearest', align_corners=None):
        return F.interpolate(x, size, None, mode, align_corners)

    def swiglu(x, dim=-1):
        a, b = x.chunk(2, dim)
        return F.silu(a) * b

    def gaussian_nll_loss(x, target, var, full=False, eps=1e-6,
                          reduction='mean'):
        return F.gaussian_nll_loss(x, target, var, full=full, eps=eps,
                                   reduction=reduction)

    def hinge_embedding_loss(x, target, margin=1., reduction='mean'):
        return F.hinge_embedding_loss(x, target, margin, reduction=reduction)

    def soft_margin_loss(x, target, reduction='mean'):
        return F.soft_margin_loss(x, target, reduction=reduction)

    def margin_ranking_loss(a, b, target, margin=0., reduction='mean'):
        return F.margin_ranking_loss(a, b, target, margin, reduction=reduction)

    def cosine_embedding_loss(a, b, target, margin=0., reduction='mean'):
        return F.cosine_embedding_loss(a, b, target, margin,
                                       reduction=reduction)

    def triplet_margin_loss(a, b, c, margin=1., p=2, eps=1e-6, swap=False,
                            reduction='mean'):
        return F.triplet_margin_loss(a, b, c, margin, p, eps, swap,
                                     reduction=reduction)

    def multi_margin_loss(x, target, p=1, margin=1, weight=None,
                          reduction='mean'):
        return F.multi_margin_loss(x, target.long(), p, margin, weight,
                                   reduction=reduction)

    def multilabel_margin_loss(x, target, reduction='mean'):
        return F.multilabel_margin_loss(x, target.long(), reduction=reduction)

    def multilabel_soft_margin_loss(x, target, weight=None, reduction='mean'):
        return F.multilabel_soft_margin_loss(x, target, weight,
                                             reduction=reduction)

    def conv_transpose2d(x, weight, bias=None, stride=1, padding=0,
                         output_padding=0, groups=1, dilation=1):
        return F.conv_transpose2d(x, weight, bias, stride, padding,
                                  output_padding, groups, dilation)

    def hann_window(n, periodic=True):
        return torch.hann_window(n, periodic, dtype=torch.float64)

    def hamming_window(n, periodic=True, alpha=0.54, beta=0.46):
        return torch.hamming_window(n, periodic, alpha, beta,
                                    dtype=torch.float64)

    def heaviside(x, values):
        return torch.heaviside(x.detach(), values.detach())

    def take(x, index):
        return torch.take(x, index.long())

    def type_as(x, other):
        return x.type_as(other)

    def accumulate_n(x):
        return sum(x)

    own = {k: v for k, v in locals().items() if k not in ('torch', 'F')}
    return {**own, 'int32': torch.int32,
            **{n: getattr(F, n) for n in (
                'max_pool3d', 'adaptive_avg_pool3d', 'adaptive_max_pool3d',
                'adaptive_max_pool1d', 'unfold', 'fold', 'grid_sample',
                'affine_grid')}}


def run_pt(name):
    import torch
    inputs, lines, own = FUNCTIONS[name]
    words = {**vars(torch), **torch_words(), **own}
    at = start(name, inputs)
    values = [torch.tensor(v.astype(np.float64), requires_grad=True)
              for v in at.values()]
    ys = [eval(line, {**words, **dict(zip(inputs, values))}) for line in lines]
    y = torch.cat([v.reshape(-1) for v in ys])
    label = np.round(np.random.default_rng(1).uniform(
        -1, 1, (1, y.shape[0])), 3).astype(np.float32)
    loss = ((y[None] - torch.tensor(label.astype(np.float64))) ** 2).mean()
    loss.backward()
    out = {'output.f%d' % i: v.detach().numpy() for i, v in enumerate(ys)}
    out.update({'grad.' + n: v.grad.numpy() for n, v in zip(inputs, values)
                if v.grad is not None})
    out.update({'output': y.detach().numpy()[None],
                'loss': loss.detach().numpy()})
    return label, at, out


if __name__ == '__main__':
    from safetensors.numpy import save_file
    only = sys.argv[1:]
    for c in k.CASES.values():
        if only and c['name'] not in only and c['ref'] not in only:
            continue
        print(c['name'])
        label, at, out = (run_ms if c['ref'] == 'ms' else run_pt)(c['name'])
        k.write(c, k.HERE / c['ref'] / c['name'], np.ones((1, 1), np.float32),
                label, at, {n: np.array(t, np.float32, order='C')
                            for n, t in out.items()}, save_file)
