#!/usr/bin/env python3
"""Golden vectors of updates by rows, into rows/: a table of 12 rows of 4, of
which each batch looks up 6; the loss is the sum of the squares of all that is
looked up, times a weight per step.

  unique    no index twice in a batch: MindSpore 2.10.0's LazyAdam with
            EmbeddingLookup (CPU, graph mode; its kernel does not add up the
            gradients of equal indices)
  repeated  indices that repeat: PyTorch's SparseAdam, with
            Embedding(sparse=True)

Run it with `mindspore` or `torch` as its argument, each in its own
environment; see make_mindspore.py for that of MindSpore."""
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

HERE = Path(__file__).parent / 'rows'
RNG = np.random.default_rng(16)
TABLE = RNG.normal(0, 1, (12, 4)).astype(np.float32)
STEPS, N = 8, 6
UNIQUE = np.stack([RNG.permutation(10)[:N] for _ in range(STEPS)])
REPEATED = RNG.integers(0, 5, (STEPS, N)) * 2
WEIGHT = np.linspace(1, 3, STEPS, dtype=np.float32)
NAME = 'tok.embedding_table'


def save(name, index, table, m, v):
    np.save(HERE / f'{name}.npy', index.astype(np.int32))
    save_file({NAME: np.ascontiguousarray(table),
               'moment1.' + NAME: np.ascontiguousarray(m),
               'moment2.' + NAME: np.ascontiguousarray(v)},
              HERE / f'{name}.safetensors')


def mindspore():
    import mindspore as ms
    from mindspore import nn

    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_device('CPU')

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.tok = nn.EmbeddingLookup(12, 4, param_init=ms.Tensor(TABLE))

        def construct(self, x, weight):
            return ((self.tok(x) ** 2) * weight).sum()

    net = Net()
    opt = nn.LazyAdam(net.trainable_params(), learning_rate=0.1)
    step = nn.TrainOneStepCell(net, opt)
    for index, weight in zip(UNIQUE, WEIGHT):
        step(ms.Tensor(index.astype(np.int32)), ms.Tensor(weight))
    save('unique', UNIQUE, net.tok.embedding_table.asnumpy(),
         opt.moment1[0].asnumpy(), opt.moment2[0].asnumpy())


def torch():
    import torch

    tok = torch.nn.Embedding(12, 4, sparse=True)
    tok.weight.data[:] = torch.tensor(TABLE)
    opt = torch.optim.SparseAdam(tok.parameters(), lr=0.1)
    for index, weight in zip(REPEATED, WEIGHT):
        opt.zero_grad()
        ((tok(torch.tensor(index)) ** 2) * weight).sum().backward()
        opt.step()
    state = opt.state[tok.weight]
    save('repeated', REPEATED, tok.weight.detach().numpy(),
         state['exp_avg'].numpy(), state['exp_avg_sq'].numpy())


np.save(HERE / 'weight.npy', WEIGHT)
save_file({NAME: TABLE}, HERE / 'table.safetensors')
{'mindspore': mindspore, 'torch': torch}[sys.argv[1]]()
