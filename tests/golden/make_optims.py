#!/usr/bin/env python3
"""Twenty updates of MindSpore's optimizers (2.10.0, CPU) and of PyTorch's
(2.15.0), for the cases of tests/cases/optims that name a `golden` tensor.

    python3 -m venv /somewhere
    /somewhere/bin/pip install mindspore==2.10.0 'numpy<2' safetensors pyyaml
    /somewhere/bin/python tests/golden/make_optims.py mindspore
    (and in an environment with torch==2.15.0)
    /other/bin/python tests/golden/make_optims.py torch

Writes optims.safetensors: the parameter `w` (5, 17), its gradients `g` (20, 5,
17), and for each case the parameter after the last update and, as CASE.SLOT,
the state. Cases that no kernel for CPUs computes are by the formulas of
cellrun-arithmetic(7) in double precision here (Lamb, LARS, and FTRL and Adagrad
where MindSpore's kernel is off).
"""
import sys
from pathlib import Path

import numpy as np
import yaml
from safetensors.numpy import load_file, save_file

HERE = Path(__file__).parent
FILE = HERE / 'optims.safetensors'
RNG = np.random.default_rng(20)
W = RNG.normal(0, 0.5, (5, 17)).astype(np.float32)
G = RNG.normal(0, 1, (20, 5, 17)).astype(np.float32)
G *= np.linspace(1, 0.2, 20, dtype=np.float32)[:, None, None]
G[:, 0, 0] = 0  # an element that never moves, and one that starts late
G[:10, 0, 1] = 0
TORCH = {'adam_w': 'AdamW'}
TYPES = {'adam': 'Adam', 'adam_weight_decay': 'AdamWeightDecay',
         'ada_max': 'AdaMax', 'adagrad': 'Adagrad', 'adadelta': 'Adadelta',
         'rms_prop': 'RMSProp', 'rprop': 'Rprop', 'asgd': 'ASGD',
         'ftrl': 'FTRL', 'proximal_adagrad': 'ProximalAdagrad',
         'lazy_adam': 'LazyAdam'}


def mindspore(kind, opts):
    import mindspore as ms
    from mindspore import nn

    p = ms.Parameter(ms.Tensor(W), name='fc')
    opts = {k: tuple(v) if isinstance(v, list) else v
            for k, v in opts.items()}
    opt = getattr(nn, TYPES[kind])(params=[p], **opts)
    for g in G:
        opt((ms.Tensor(g),))
    out = {'': p.asnumpy()}
    for q in opt.get_parameters():
        if q.name.endswith('fc') and q.name != 'fc':
            out['.' + q.name[:-2].rstrip('.')] = q.asnumpy()
    return out


def torch(kind, opts):
    import torch

    p = torch.nn.Parameter(torch.tensor(W))
    opts = dict(opts)
    opts['lr'] = opts.pop('learning_rate', 1e-3)
    opt = getattr(torch.optim, TORCH[kind])([p], **opts)
    for g in G:
        p.grad = torch.tensor(g)
        opt.step()
    out = {'': p.detach().numpy()}
    for name, v in opt.state[p].items():
        if name != 'step':
            out['.' + name] = v.numpy()
    return out


def lamb(o):
    w, m, v = W.astype(np.float64), 0, 0
    b1, b2 = (float(np.float32(o.get(*b)))  # 1 - beta is that of a float
              for b in (('beta1', 0.9), ('beta2', 0.999)))
    for t, g in enumerate(G.astype(np.float64), 1):
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        u = (m / (1 - b1 ** t) / (np.sqrt(v / (1 - b2 ** t))
                                  + o.get('eps', 1e-6))
             + o.get('weight_decay', 0) * w)
        norm = np.linalg.norm(m / (1 - b1 ** t) / np.sqrt(
            v / (1 - b2 ** t) + o.get('eps', 1e-6))
            + o.get('weight_decay', 0) * w)
        trust = min(np.linalg.norm(w) / norm, 10)
        w = w - o['learning_rate'] * trust * u
    return {'': w, '.lamb_m': m, '.lamb_v': v}


def lars(o):
    (_, inner), = o['optimizer'].items()
    w, v, decay = W.astype(np.float64), 0, inner.get('weight_decay', 0)
    lr = inner['learning_rate']
    for g in G.astype(np.float64):
        wn, gn = np.linalg.norm(w), np.linalg.norm(g)
        c = (o.get('coefficient', 0.001) * wn /
             (gn + decay * wn + o.get('epsilon', 1e-5)))
        if o.get('use_clip'):
            c = min(c / lr, 1)
        v = inner['momentum'] * v + c * (g + decay * w)
        w = w - lr * v
    return {'': w, '.moments': v}


def ftrl(o):
    lr, p = o.get('learning_rate', 1e-3), -o.get('lr_power', -0.5)
    l1, l2 = o.get('l1', 0), o.get('l2', 0)
    w = W.astype(np.float64)
    n, z = np.full_like(w, o.get('initial_accum', 0.1)), np.zeros_like(w)
    for g in G.astype(np.float64):
        g = g + o.get('weight_decay', 0) * w
        more = n + g * g
        z = z + g - (more ** p - n ** p) / lr * w
        n = more
        w = np.where(np.abs(z) > l1,
                     (np.sign(z) * l1 - z) / (n ** p / lr + 2 * l2), 0)
    return {'': w, '.moments': n, '.linear': z}


FORMULA = {'lamb': lamb, 'lars': lars, 'ftrl.l1': ftrl}

which = sys.argv[1]
tensors = load_file(FILE) if FILE.exists() else {}
tensors.update(w=W, g=G)
for path in sorted((HERE / '../cases/optims').glob('*.yaml')):
    kind = path.stem
    for case in yaml.safe_load(path.read_text()):
        name = case.get('golden')
        if not name or (kind in TORCH) != (which == 'torch'):
            continue
        opts = {k: float(v) if isinstance(v, str) else v
                for k, v in case['opts'].items()}
        by_hand = FORMULA.get(name) or FORMULA.get(kind)
        found = (by_hand(opts) if by_hand else torch(kind, opts)
                 if which == 'torch' else mindspore(kind, opts))
        for slot, v in found.items():
            tensors[name + slot] = np.ascontiguousarray(v, np.float32)
        print(name, sorted(found))
save_file(tensors, FILE)
