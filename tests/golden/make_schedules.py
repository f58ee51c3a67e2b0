#!/usr/bin/env python3
"""Rates of MindSpore's schedules (2.10.0, CPU) over 1000 updates, for the
cases of tests/cases/schedules that name a `golden` tensor.

    python3 -m venv /somewhere
    /somewhere/bin/pip install mindspore==2.10.0 'numpy<2' safetensors pyyaml
    /somewhere/bin/python tests/golden/make_schedules.py

Writes schedules.safetensors: one float32 tensor per case.
"""
from pathlib import Path

import mindspore as ms
import numpy as np
import yaml
from mindspore import nn
from safetensors.numpy import save_file

HERE = Path(__file__).parent
TENSORS = {}


def rates(name, args, total):
    made = getattr(nn, name)(**args)
    if isinstance(made, list):
        assert len(made) == total
        return np.array(made, np.float32)
    steps = (ms.Tensor(i, ms.int32) for i in range(total))
    return np.array([float(made(s).asnumpy()) for s in steps], np.float32)


for path in sorted((HERE / '../cases/schedules').glob('*.yaml')):
    for case in yaml.safe_load(path.read_text()):
        if 'golden' in case and hasattr(nn, next(iter(case['lr']))):
            (name, args), = case['lr'].items()
            TENSORS[case['golden']] = rates(name, args, case['total'])
            print(case['golden'])
save_file(TENSORS, HERE / 'schedules.safetensors')
