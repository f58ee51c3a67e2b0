#!/usr/bin/env python3
"""Golden vectors of Embedding and EmbeddingLookup from MindSpore 2.10.0 (CPU,
PyNative), into ms/; see make_mindspore.py for the environment. Arguments name
the cases to make, all without.

A Dense follows a cell, so that the gradient of its output is seen,
and that of its table, whose rows are looked up several times each. Not here:
negative numbers, for which MindSpore's Embedding gives rows from the end but
no gradient at all, and EmbeddingLookup's max_norm, for which the ClipByNorm of
its CPU backend reads a row's length from elements i, i+1, ... of the batch
instead of row i's (both seen with 2.10.0)."""
import sys

import numpy as np
from safetensors.numpy import save_file

import cases as k
import make_mindspore as m

k.CASES.clear()
INTS = {}


def cell(name, text, e, x, high, low=0, **more):
    """Numbers low .. high-1 of shape x, e the length of a row."""
    INTS[name] = low, high
    k.case(name, '  - {%s}\n  - {Dense: [%d, 4]}\n' % (text, e), x=x, **more)


T = 'Embedding: {vocab_size: %d, embedding_size: %d'
STEPS = dict(optimizer='{SGD: {learning_rate: 0.1, momentum: 0.9}}', steps=3)
cell('embedding', T % (5, 3) + '}', 3, (4, 6), 5)
cell('embedding_flat', T % (5, 3) + '}', 3, (7,), 5)
cell('embedding_batch1', T % (7, 5) + '}', 5, (1, 9), 7)
cell('embedding_odd', T % (65, 33) + '}', 33, (3, 2, 17), 65)
cell('embedding_padding', T % (5, 3) + ', padding_idx: 2}', 3, (4, 6), 5,
     **STEPS)
cell('embedding_one_hot', T % (5, 3) + ', use_one_hot: true}', 3, (4, 6), 7,
     -2)
cell('embedding_one', T % (1, 1) + '}', 1, (1, 1), 1)
cell('embedding_step', T % (11, 6) + '}', 6, (5, 7), 11, **STEPS)
cell('embedding_eval', T % (5, 3) + '}', 3, (4, 6), 5, cmd='--eval --grad')
L = T.replace('Embedding', 'EmbeddingLookup')
cell('lookup', L % (5, 3) + '}', 3, (4, 6), 5)
cell('lookup_outside', L % (5, 3) + '}', 3, (4, 6), 8, -3)
cell('lookup_batch1', L % (7, 17) + '}', 17, (1, 3), 9)
cell('lookup_device', L % (5, 3) + ', target: DEVICE, sparse: false}', 3,
     (4, 6), 5)


def feed_x(c):
    low, high = INTS[c['name']]
    return k.rand(c, 'x').randint(low, high, c['x']).astype(np.int32)


k.feed_x = feed_x


def dense(c, x, start, ref):
    """EmbeddingLookup's gradient is a row per number: their sums."""
    name = 'grad.0.embedding_table'
    table = start[name[5:]]
    if ref[name].shape != table.shape:
        inside = (x >= 0) & (x < len(table))
        sums = np.zeros_like(table)
        np.add.at(sums, x[inside], ref[name].reshape(x.shape + (-1,))[inside])
        ref[name] = sums

if __name__ == '__main__':
    for c in k.CASES.values():
        if c['name'] in (sys.argv[1:] or k.CASES):
            x, label, start, ref = m.run(c)
            dense(c, x, start, ref)
            k.write(c, k.HERE / 'ms' / c['name'], x, label, start,
                    m.tidy(ref), save_file)
