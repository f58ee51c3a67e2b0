#!/usr/bin/env python3
"""Gradients clipped by MindSpore 2.10 (CPU): clip.safetensors, read by
tests/unit/t_clip.c.

    /somewhere/bin/python tests/golden/make_clip.py

grad.K are four gradients (of shapes that t_clip.c's network has); each.K is
nn.ClipByNorm(0.7) of each, global.K ops.clip_by_global_norm(0.7) of all,
value.K ops.clip_by_value(-0.25, 0.25).
"""
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from safetensors.numpy import save_file

rng = np.random.default_rng(3)
shapes = {'a.weight': (5, 6), 'a.bias': (5,), 'b.weight': (3, 5), 'b.bias': (3,)}
sizes = {'a.weight': 1.0, 'a.bias': 0.1, 'b.weight': 1e-3, 'b.bias': 0.0}
grads = {k: Tensor((sizes[k] * rng.standard_normal(s)).astype(np.float32))
         for k, s in shapes.items()}
grads['b.weight'] = grads['b.weight'] + Tensor(7.0, ms.float32)
bound = Tensor(0.7, ms.float32)
out = {f'grad.{k}': g.asnumpy() for k, g in grads.items()}
for k, g in grads.items():
    out[f'each.{k}'] = nn.ClipByNorm()(g, bound).asnumpy()
    out[f'value.{k}'] = ops.clip_by_value(g, -0.25, 0.25).asnumpy()
clipped = ops.clip_by_global_norm(tuple(grads.values()), 0.7)
for k, g in zip(grads, clipped):
    out[f'global.{k}'] = g.asnumpy()
save_file(out, Path(__file__).parent / 'clip.safetensors',
          {'mindspore': ms.__version__})
