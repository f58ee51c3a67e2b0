#!/usr/bin/env python3
"""Random networks, trained by cellrun and by PyTorch in double precision.

    python3 -m venv VENV; VENV/bin/pip install torch numpy safetensors
    make soak-peer VENV=dir [N=2000] [SEED=1]

Network number i is a function of i alone. It begins with the same weights on
both sides, is trained for some updates by `cellrun train` with a random
optimizer, schedule, loss, clipping, accumulation and freezing, and then what
the training moved, the parameters and moving statistics of the last
checkpoint, the numbers of `cellrun eval` and the outputs of `cellrun predict`
are compared. peer_net.py makes the networks of the cells
of peer_cells.py and the functions of peer_text.py, peer_recipe.py the losses,
optimizers and schedules; gradients are PyTorch's.

A difference beyond the tolerance is tried again with PyTorch in float32, from
weights and with gradients that differ in their last bit: where the same tensor
is off as well, float32 carries no more there, and the case counts as rounding.
Most are parameters in front of a BatchNorm whose gradient is 0 but for
rounding, moved by an optimizer that divides by its size. A training of which
PyTorch's losses leave float32's range is counted, not compared. Others are
kept in KEEP/failed-NUMBER, and the status is 1.
"""
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file, save_file

import peer_cells as cells
from peer_cells import Layer
from peer_net import Net, pooled, sequences, step
from peer_recipe import Optimizer, loss_of

CELLRUN = os.path.abspath(os.environ.get('CELLRUN', 'build/cellrun'))
KEEP = os.path.abspath(os.environ.get('KEEP', '.'))
NEAR = 2e-4     # of a tensor's largest element
MOVED = 2e-3    # of its largest movement
torch.set_num_threads(1)


# ---- One case

KINDS = {'vectors': cells.VECTOR, 'images': cells.IMAGE, 'last': cells.LAST,
         'signals': cells.SIGNAL, 'volumes': cells.VOLUME,
         'sequences': cells.SEQUENCE, 'tokens': cells.SEQUENCE}


def data_of(kind, n, c, rng):
    if kind == 'class':
        return rng.integers(0, c, n).astype('<i4')
    if kind == 'sign':
        return rng.choice([-1.0, 1.0], n).astype('<f4')
    if kind == 'signs':
        return rng.choice([-1.0, 1.0], (n, c)).astype('<f4')
    if kind == 'bits':
        return rng.integers(0, 2, (n, c)).astype('<f4')
    if kind == 'part':
        return rng.random((n, c)).astype('<f4')
    return rng.standard_normal((n, c)).astype('<f4')


class Case:
    def __init__(self, number):
        r = self.r = random.Random(number)
        rng = np.random.default_rng(number)
        net = self.net = Net(r)
        kind = r.choice(['vectors', 'images', 'images', 'images', 'last',
                         'signals', 'volumes', 'sequences', 'sequences',
                         'tokens'])
        self.classes = r.randint(2, 6)
        self.loss = loss_of(r, self.classes)
        target = self.target = self.loss.target
        s = {'vectors': [r.randint(1, 24)],
             'images': [r.choice([1, 2, 3, 4, 8, 16]), r.randint(3, 14),
                        r.randint(3, 14)],
             'last': [r.randint(3, 12), r.randint(3, 12),
                      r.choice([1, 3, 8, 16])],
             'signals': [r.randint(1, 8), r.randint(4, 30)],
             'volumes': [r.randint(1, 3)] + [r.randint(3, 7) for _ in 'dhw'],
             'sequences': [r.randint(2, 9), r.randint(1, 9)],
             'tokens': [r.randint(2, 9), r.randint(1, 9)]}[kind]
        big = r.random() < 0.08     # enough for the kernels of large sizes
        if big:
            net.most = 20000
            s = [n * r.choice([1, 2, 3]) for n in s[:3]] + s[3:]
        shape, v = list(s), 'x'
        self.tokens = kind == 'tokens'
        sequence = kind in ('sequences', 'tokens')
        net.masks = sequence and r.random() < 0.6
        length = s[0]
        if self.tokens:
            shape = s[:1]
            lookup = r.random() < 0.3
            m = net.member({'EmbeddingLookup' if lookup else 'Embedding': {
                'vocab_size': 7, 'embedding_size': s[1]}})
            net.trained.append(m)
            v = net.line('%s(x)' % m, lambda e, w: F.embedding(
                e['x'], w(m)['embedding_table']))
        if sequence:
            v, s = sequences(net, v, s)
        else:
            for _ in range(r.randint(1, 6)):
                v, s = step(net, v, s, KINDS[kind])
        v, s = pooled(net, kind, v, s)
        net.out = []
        for _ in range(self.loss.heads):
            net.out.append(net.call(v, Layer(
                {'Dense': [s[0], self.classes]}, lambda x, w: F.linear(
                    x, w['weight'], w['bias']), [self.classes]))[0])
        self.batch = r.choice([33, 50]) if big or r.random() < 0.1 \
            else r.randint(2, 12)
        self.data = {}
        for split in ('train', 'eval'):
            n = r.randint(4, 60 if big else 40)
            if n % self.batch == 1:
                n += 1
            all = [n] + shape
            x = rng.integers(0, 7, all).astype('<i4') if self.tokens \
                else rng.standard_normal(all).astype('<f4')
            self.data[split] = {'x': x, 'label': data_of(
                target, n, self.classes, rng)}
            if net.masks:
                self.data[split]['len'] = rng.integers(
                    1, length + 1, n).astype('<i4')
        self.micro = r.choice([1, 1, 1, 2, 3])
        self.updates = r.randint(1, 8)
        self.clip = {}
        if r.random() < 0.4:
            for k, low, high in (('norm', .05, 2), ('value', .005, .3),
                                 ('tensor_norm', .02, 1)):
                if r.random() < 0.5:
                    self.clip[k] = round(r.uniform(low, high), 3)
        some = [c for c in net.trained]
        self.optim = Optimizer(r, self.updates, some)
        if self.tokens and '"EmbeddingLookup"' in net.members[0]:
            self.optim.tables = ['m0.embedding_table']
        self.ema = r.choice([0, 0, 0, 0.9])
        self.frozen, self.thaw = [], None
        if r.random() < 0.3:
            self.frozen = r.sample(some, r.randint(1, max(1, len(some) // 2)))
            if r.random() < 0.4 and self.updates > 2 and \
               self.optim.kind != 'ASGD':
                self.thaw = r.randint(1, self.updates - 1)
        self.threads = r.choice(['1', '1', '1', '2', '3'])
        self.rng = rng

    def config(self):
        names = ['x', 'len', 'label'] if self.net.masks else ['x', 'label']
        lines = ['cellrun: 1', 'seed: 1', 'dataset:']
        for split in ('train', 'eval'):
            lines.append('  %s: {NumpySlicesDataset: {data: [%s], column_names:'
                         ' [%s], shuffle: false}}' % (split, ', '.join(
                             '%s-%s.npy' % (split, n) for n in names),
                             ', '.join(names)))
        lines += ['datapipe: {batch: {batch_size: %d}}' % self.batch,
                  'blocks: {Straight: {construct: "return sign(x) * 0.5", '
                  'bprop: "return dout * 0.5"}}',
                  'network:', '  inputs: [%s]' % ', '.join(names[:-1]),
                  '  cells:', *self.net.members,
                  '  construct: |', *self.net.lines,
                  '    return ' + ', '.join(self.net.out),
                  'loss: ' + json.dumps(self.loss.text),
                  'optimizer: ' + json.dumps(self.optim.text),
                  'load: {ckpt: init.safetensors}',
                  'metrics: [%sloss]' % (
                      'accuracy, ' if self.single() else ''),
                  'checkpoint: {best: {metric: loss}}',
                  'eval: {use_ema: %s}' % ('true' if self.ema else 'false'),
                  'train: ' + json.dumps(self.train())]
        if self.frozen:
            at = {'patterns': ['%s.*' % f for f in self.frozen]}
            if self.thaw:
                at['schedule'] = [{'at': '%d steps' % self.thaw,
                                   'unfreeze': '*'}]
            lines.append('freeze: ' + json.dumps(at))
        if self.net.watch:
            lines.append('watch: ' + json.dumps(self.net.watch))
        return '\n'.join(lines) + '\n'

    def single(self):
        return self.target == 'class' and self.loss.heads == 1

    def train(self):
        t = {'steps': self.updates}
        if self.ema:
            t['ema'] = {'decay': self.ema}
        if self.micro > 1:
            t['grad_accumulation'] = self.micro
        if self.clip:
            t['clip'] = self.clip
        return t

    def clipped(self, G):
        def shrink(g, norm, most):
            return g * most / max(norm, most)
        c = self.clip
        if 'value' in c:
            G = {n: g.clamp(-c['value'], c['value']) for n, g in G.items()}
        if 'tensor_norm' in c:
            G = {n: shrink(g, float(g.norm()), c['tensor_norm'])
                 for n, g in G.items()}
        if 'norm' in c and G:
            norm = math.sqrt(sum(float((g * g).sum()) for g in G.values()))
            G = {n: shrink(g, norm, c['norm']) for n, g in G.items()}
        return G

    def torch(self, init, real, noise=0):
        """Parameters after training; loss, accuracy and outputs of eval.
        `noise`: of each gradient, as a part of its largest element, since a
        sum in another order is 0 no longer, and Rprop goes by its sign."""
        P = {n: torch.tensor(v, dtype=real) for n, v in init.items()}
        all = [n for n in P if not n.endswith(('moving_mean',
                                               'moving_variance'))
               and n not in self.net.fixed]
        batches = self.batches('train', real)
        self.optim.slot, self.losses = {}, []
        self.largest = Counter()    # gradients
        E = dict(P)
        at = 0
        for t in range(1, self.updates + 1):
            train = all if self.thaw and t > self.thaw else [
                n for n in all if n.split('.')[0] not in self.frozen]
            G = {}
            for _ in range(self.micro):
                feed, y = batches[at % len(batches)]
                at += 1
                Q = {n: v.clone().requires_grad_(n in train)
                     for n, v in P.items()}
                moved = {}
                loss = self.loss.run(*self.net.forward(feed, Q, True, moved),
                                     y)
                grads = torch.autograd.grad(loss, [Q[n] for n in train],
                                            allow_unused=True) \
                    if loss.requires_grad else [None] * len(train)
                for n, g in zip(train, grads):
                    if g is not None:   # cellrun trains no unused parameter
                        G[n] = G.get(n, 0) + g / self.micro
                self.losses.append(float(loss.detach()))
                P.update({n: v.detach() for n, v in moved.items()})
            for n, g in G.items():
                most = float(g.abs().max())
                self.largest[n] = max(self.largest[n], most)
                if noise:
                    G[n] = g + noise * most * torch.tensor(
                        self.rng.uniform(-1, 1, g.shape), dtype=real)
            self.optim.step(P, self.clipped(G), t)
            d = self.ema * (1 - math.exp(-t / 2000))
            E = {n: d * E[n] + (1 - d) * P[n] for n in P}
        T = dict(P)
        if self.ema:
            T.update({'cellrun.ema.' + n: v for n, v in E.items()})
            P = E
        means, right, out = [], 0, []
        with torch.no_grad():
            for feed, y in self.batches('eval', real):
                o = self.net.forward(feed, P, False, {})
                means.append(float(self.loss.run(*o, y)))
                out.append(o)
                if self.single():
                    right += int((o[0].argmax(1) == y).sum())
        return ({n: v.numpy() for n, v in T.items()}, float(np.mean(means)),
                right / len(self.data['eval']['x']), 
                [torch.cat(o) for o in zip(*out)])

    def beyond(self):
        """Did a loss of the last training leave float32's range?"""
        most = float(np.finfo('f4').max)
        return not all(abs(v) <= most for v in self.losses)

    def batches(self, split, real):
        d = {}
        for n, v in self.data[split].items():
            whole = v.dtype.kind == 'i'
            d[n] = torch.tensor(v, dtype=torch.long if whole else real).split(
                self.batch)
        return [({n: v[i] for n, v in d.items() if n != 'label'},
                 d['label'][i]) for i in range(len(d['x']))]


def tell(*args):
    p = subprocess.run([CELLRUN, *args], capture_output=True, text=True)
    if p.returncode != 0:
        raise RuntimeError('%s: status %d\n%s' % (' '.join(args[:2]),
                                                  p.returncode, p.stderr))
    return p.stdout


def off(ours, theirs, near=NEAR, least=1e-3, last=0.0):
    """Largest deviation as a part of the tolerance: `near` of the largest
    element, of `least` at least, and `last` for the last bits of float32."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if ours.shape != theirs.shape:
        return math.inf
    if not np.isfinite(theirs).all() or not np.isfinite(ours).all():
        return 0.0 if np.array_equal(np.isfinite(ours), np.isfinite(theirs)) \
            else math.inf
    if ours.size == 0:
        return 0.0
    return float(np.abs(ours - theirs).max()
                 / (near * max(np.abs(theirs).max(), least) + last))


def compare(case, init, got, want):
    """{name: deviation} of all that is compared, as parts of its tolerance."""
    P, loss, accuracy, out = want
    rows = {}
    for n, v in P.items():
        rows[n] = off(got['params'][n], v)
        if n in init:
            size = max(float(np.abs(v).max()), float(np.abs(init[n]).max()))
            rows['movement of ' + n] = off(
                got['params'][n].astype(float) - init[n], v - init[n], MOVED,
                1e-6 * size + 1e-9, 2.0 ** -23 * (case.updates + 1) * size)
    rows['eval loss'] = off(got['loss'], loss)
    for o, mine, theirs in zip(case.net.out, got['outputs'], out):
        rows['output ' + o] = off(mine, theirs.numpy())
    if 'probs' in got:
        rows['probabilities'] = off(got['probs'], torch.softmax(
            out[0].double(), 1).numpy())
    if 'accuracy' in got:   # a tie of rounding may turn one
        two = torch.topk(out[0], 2, 1).values
        if bool(((two[:, 0] - two[:, 1]) > 1e-4).all()):
            rows['accuracy'] = abs(got['accuracy'] - accuracy) / NEAR
    return rows


def cellrun(case, params):
    os.environ['CELLRUN_THREADS'] = case.threads
    for split, columns in case.data.items():
        for name, v in columns.items():
            np.save('%s-%s.npy' % (split, name), v)
    summary = json.loads(tell('summary', 'net.yaml', '--json'))
    init = {}
    for p in summary['params']:
        v = case.rng.standard_normal(p['shape']).astype('<f4')
        name = p['name']
        fan = int(np.prod(p['shape'][1:])) if len(p['shape']) > 1 else 4
        v = np.asarray(v / math.sqrt(max(fan, 1)), '<f4')
        if name.endswith('gamma'):
            v += 1
        if name.endswith('moving_variance'):
            v = np.abs(v) + 0.5
        if name in case.net.state:
            v = np.zeros_like(v)
        init[name] = v
    params.update(init)
    save_file(init, 'init.safetensors')
    tell('train', 'net.yaml', '-q', '-o', 'run')
    last = 'run/ckpt/last.safetensors'
    got = {'params': load_file(last)}
    scores = json.loads(tell('eval', '--ckpt', last, '--json'))
    got['loss'] = scores['loss']
    columns = ['x=eval-x.npy', 'len=eval-len.npy'] if case.net.masks \
        else ['eval-x.npy']
    predict = ['predict', '--ckpt', last, *columns, '--batch', str(
        case.batch if case.net.whole else case.r.randint(1, 9))]
    tell(*predict, '-o', 'out.npz')
    got['outputs'] = [np.load('out.npz')[o] for o in case.net.out]
    if case.single():
        got['accuracy'] = scores['accuracy']
        if 'CrossEntropyLoss' in case.loss.text:
            got['probs'] = [json.loads(l)['probs'] for l in tell(
                *predict, '--probs', '--json').splitlines()]
    return got


def one(number, used):
    """'same', 'beyond float32' or what differs, 'rounding: ' in front where
    PyTorch in float32 differs as well; the largest deviation as part of its
    tolerance."""
    case = Case(number)
    with open('net.yaml', 'w') as f:
        f.write(case.config())
    init = {}
    try:
        got = cellrun(case, init)
    except (RuntimeError, KeyError) as e:
        try:    # a loss that is not finite is right where PyTorch's is not
            if 'E0401' in str(e):
                for real in (torch.float32, torch.float64):
                    last = case.torch(init, real)[1]
                    if case.beyond() or not math.isfinite(last):
                        return 'beyond float32', 0.0
        except Exception:
            pass
        return 'cellrun: %s' % e, math.inf
    used.update(case.net.used)
    used[case.optim.kind] += 1
    truth = case.torch(init, torch.float64)
    if case.beyond():   # PyTorch's SoftMarginLoss overflows, ours does not
        return 'beyond float32', 0.0
    # 0 but for rounding; LARS takes exactly 0 apart
    none = (1e-5 if case.optim.kind == 'LARS' else 1e-10) * max(
        case.largest.values(), default=0)
    flat = {n for n, g in case.largest.items() if g < none}
    rows = compare(case, init, got, truth)
    bad = {n: d for n, d in rows.items() if d > 1}
    if not bad:
        return 'same', max(rows.values())
    least = Counter()
    for _ in range(5):
        near = {n: np.asarray(v * (1 + case.rng.uniform(-1, 1, v.shape)
                                   * 2.0 ** -23), '<f4')
                for n, v in init.items()}
        half = case.torch(near, torch.float32, 2.0 ** -23)
        theirs = {'params': half[0], 'loss': half[1], 'accuracy': half[2],
                  'outputs': half[3], 'probs': torch.softmax(
                      half[3][0], 1).numpy()}
        for n, d in compare(case, near, theirs, truth).items():
            least[n] = max(least[n], d)
    rounding = 'rounding: ' if all(
        d <= 20 * least[n] or n.split(' ')[-1] in flat
        for n, d in bad.items()) else ''
    return rounding + ', '.join('%s off by %.2g (PyTorch in float32 %.2g)' % (
        n, d, least[n]) for n, d in sorted(
            bad.items(), key=lambda row: -row[1])[:4]) + \
        ' times the tolerance', max(bad.values())


def main():
    count = int(os.environ.get('N', 200))
    first = int(os.environ.get('SEED', 1))
    for name in ('CELLRUN_SET', 'CELLRUN_DATA', 'CELLRUN_RUNS'):
        os.environ.pop(name, None)
    failed = rounding = beyond = 0
    largest = 0.0
    used = Counter()
    for i in range(first, first + count):
        here = tempfile.mkdtemp(prefix='peer')
        os.chdir(here)
        what, worst = one(i, used)
        os.chdir('/')
        if what == 'same':
            largest = max(largest, worst)
        elif what == 'beyond float32':
            beyond += 1
        elif what.startswith('rounding'):
            rounding += 1
            print('# network %d: %s' % (i, what), flush=True)
        else:
            failed += 1
            to = os.path.join(KEEP, 'failed-%d' % i)
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(here, to)
            print('network %d: %s' % (i, what), flush=True)
        shutil.rmtree(here)
        if (i - first) % 100 == 99:
            print('# %d networks, %d differ' % (i - first + 1, failed),
                  flush=True)
    print('# ' + ', '.join('%s %d' % row for row in sorted(used.items())))
    print('%d networks: %d differ, %d to float32\'s own rounding, %d leave '
          'its range, the others at most %.2g of the tolerance' % (
              count, failed, rounding, beyond, largest))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
