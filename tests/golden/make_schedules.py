#!/usr/bin/env python3
"""Rates of MindSpore's schedules (2.10.0, CPU) and of PyTorch's (2.15.0) over
1000 updates, for the cases of tests/cases/schedules that name a `golden`
tensor.

    python3 -m venv /somewhere
    /somewhere/bin/pip install mindspore==2.10.0 'numpy<2' safetensors pyyaml
    /somewhere/bin/python tests/golden/make_schedules.py mindspore
    (and in an environment with torch==2.15.0)
    /other/bin/python tests/golden/make_schedules.py torch

Writes schedules.safetensors: one float32 tensor per case.
"""
import sys
from pathlib import Path

import numpy as np
import yaml
from safetensors.numpy import load_file, save_file

HERE = Path(__file__).parent
FILE = HERE / 'schedules.safetensors'
TORCH = ('CyclicLR', 'OneCycleLR')
TENSORS = load_file(FILE) if FILE.exists() else {}


def torch(name, args, total):
    import torch

    opt = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 0.1)
    args = dict(args, cycle_momentum=False)
    made = getattr(torch.optim.lr_scheduler, name)(opt, **args)
    out = []
    for i in range(total):
        out.append(opt.param_groups[0]['lr'])
        opt.step()
        if i + 1 < total:
            made.step()
    return np.array(out, np.float32)


def mindspore(name, args, total):
    import mindspore as ms
    from mindspore import nn

    made = getattr(nn, name)(**args)
    if isinstance(made, list):
        assert len(made) == total
        return np.array(made, np.float32)
    steps = (ms.Tensor(i, ms.int32) for i in range(total))
    return np.array([float(made(s).asnumpy()) for s in steps], np.float32)


which = sys.argv[1]
for path in sorted((HERE / '../cases/schedules').glob('*.yaml')):
    for case in yaml.safe_load(path.read_text()):
        name = next(iter(case['lr']))
        if 'golden' in case and (name in TORCH) == (which == 'torch'):
            made = torch if which == 'torch' else mindspore
            TENSORS[case['golden']] = made(name, case['lr'][name],
                                           case['total'])
            print(case['golden'])
save_file(TENSORS, FILE)
