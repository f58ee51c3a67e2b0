"""Losses, schedules and optimizers of the random trainings of peer.py, written
from their definitions. The optimizers are MindSpore's, which differ from
PyTorch's in where epsilon is and what decays."""
import math

import torch
import torch.nn.functional as F


def dice(x, y, smooth=1e-5):
    return 1 - 2 * (x * y).sum() / ((x * x).sum() + (y * y).sum() + smooth)


# PyTorch adds 1e-12 to the squares of the lengths; MindSpore does not.
def cosine_embedding(x, y, label, margin):
    c = (x * y).sum(1) / (x.norm(dim=1) * y.norm(dim=1))
    return torch.where(label == 1, 1 - c, (c - margin).clamp(min=0))


def reduced(value, how):
    return value.sum() if how == 'sum' else value.mean()


class Loss:
    """text: its node; target: kind of label; heads: results of the network."""

    def __init__(self, text, target, run, heads=1):
        self.text, self.target, self.run, self.heads = text, target, run, heads


def construct(cell, text):
    return {'inputs': ['y', 'label'], 'cells': {'l': cell},
            'construct': 'return ' + text}


def loss_of(r, c):
    """A loss of c results per sample."""
    k = r.randrange(27)
    how = r.choice(['mean', 'mean', 'sum'])
    a = round(r.uniform(0.2, 2), 2)
    if k <= 3:
        smooth = r.choice([0.0, 0.0, 0.1])
        weight = [round(r.uniform(0.2, 2), 2) for _ in range(c)] \
            if r.random() < 0.3 else None
        skip = r.choice([-100, -100, 0])
        args = {'reduction': how, 'ignore_index': skip}
        if smooth:
            args['label_smoothing'] = smooth
        if weight:
            args['weight'] = weight
        return Loss({'CrossEntropyLoss': args}, 'class', lambda y, l:
                    F.cross_entropy(
                        y, l, label_smoothing=smooth, reduction=how,
                        ignore_index=skip, weight=weight and torch.tensor(
                            weight, dtype=y.dtype)))
    if k == 4:      # probabilities as labels
        return Loss({'CrossEntropyLoss': {'reduction': how}}, 'part',
                    lambda y, l: F.cross_entropy(y, l, reduction=how))
    if k == 5:
        weight = [round(r.uniform(0.2, 2), 2) for _ in range(c)]
        many = [round(r.uniform(0.2, 2), 2) for _ in range(c)]
        args = {'reduction': how}
        if r.random() < 0.6:
            args.update(weight=weight, pos_weight=many)
        else:
            weight = many = [1.0] * c
        return Loss({'BCEWithLogitsLoss': args}, 'part', lambda y, l:
                    F.binary_cross_entropy_with_logits(
                        y, l, torch.tensor(weight, dtype=y.dtype),
                        reduction=how,
                        pos_weight=torch.tensor(many, dtype=y.dtype)))
    if k == 6:
        return Loss({'MSELoss': {'reduction': how}}, 'real', lambda y, l:
                    F.mse_loss(y, l, reduction=how))
    if k == 7:
        return Loss({r.choice(['L1Loss', 'MAELoss']): {'reduction': how}},
                    'real', lambda y, l: F.l1_loss(y, l, reduction=how))
    if k == 8:
        return Loss({'HuberLoss': {'delta': a, 'reduction': how}}, 'real',
                    lambda y, l: F.huber_loss(y, l, delta=a, reduction=how))
    if k == 9:
        return Loss({'SmoothL1Loss': {'beta': a, 'reduction': how}}, 'real',
                    lambda y, l: F.smooth_l1_loss(y, l, beta=a, reduction=how))
    if k == 10:
        return Loss({'RMSELoss': {}}, 'real', lambda y, l:
                    F.mse_loss(y, l).sqrt())
    if k == 11:
        return Loss({'SoftMarginLoss': {'reduction': how}}, 'signs',
                    lambda y, l: F.soft_margin_loss(y, l, reduction=how))
    if k == 12:
        p = r.choice([1, 2])
        return Loss({'MultiMarginLoss': {'p': p, 'margin': a,
                                         'reduction': how}}, 'class',
                    lambda y, l: F.multi_margin_loss(y, l, p, a,
                                                     reduction=how))
    if k == 13:
        return Loss({'MultiLabelSoftMarginLoss': {'reduction': how}}, 'bits',
                    lambda y, l: F.multilabel_soft_margin_loss(
                        y, l, reduction=how))
    if k == 14:
        return Loss({'PoissonNLLLoss': {'full': False, 'reduction': how}},
                    'part', lambda y, l: F.poisson_nll_loss(y, l,
                                                            reduction=how))
    if k == 15:
        return Loss({'HingeEmbeddingLoss': {'margin': a, 'reduction': how}},
                    'signs', lambda y, l: F.hinge_embedding_loss(
                        y, l, margin=a, reduction=how))
    if k == 16:
        return Loss(construct({'NLLLoss': {'reduction': how}},
                              'l(log_softmax(y, 1), label)'), 'class',
                    lambda y, l: F.cross_entropy(y, l, reduction=how))
    if k == 17:
        return Loss(construct({'BCELoss': {'reduction': how}},
                              'l(0.02 + 0.96 * sigmoid(y), label)'), 'part',
                    lambda y, l: F.binary_cross_entropy(
                        0.02 + 0.96 * y.sigmoid(), l, reduction=how))
    if k == 18:
        how = r.choice(['mean', 'sum', 'batchmean'])
        return Loss(construct({'KLDivLoss': {'reduction': how}},
                              'l(log_softmax(y, 1), label)'), 'part',
                    lambda y, l: F.kl_div(F.log_softmax(y, 1), l,
                                          reduction=how))
    if k == 19:
        return Loss(construct({'DiceLoss': {}}, 'l(sigmoid(y), label)'),
                    'part', lambda y, l: dice(y.sigmoid(), l))
    if k == 20:
        return Loss({'FocalLoss': {'gamma': a, 'reduction': how}}, 'part',
                    lambda y, l: reduced(-(1 - y.softmax(1)) ** a * l *
                                         y.log_softmax(1), how))
    if k == 21:
        part = r.choice([0.5, 0.7])
        return Loss({'inputs': ['y', 'label'], 'cells': {'l': {
            'CrossEntropyLoss': {'reduction': 'none'}}},
            'construct': 'return mean(top_fraction(l(y, label), %g))' % part},
            'class', lambda y, l: F.cross_entropy(y, l, reduction='none').topk(
                max(int(part * len(y)), 1))[0].mean())
    if k == 22:
        return Loss({'inputs': ['y', 'label'], 'cells': {
            'a': 'CrossEntropyLoss', 'b': {'SoftmaxCrossEntropyWithLogits': {
                'sparse': True}}},
            'construct': 'return a(y, label) + 0.1 * mean(b(y, label) ** 2)'},
            'class', lambda y, l: F.cross_entropy(y, l) + 0.1 * (
                F.cross_entropy(y, l, reduction='none') ** 2).mean())
    if k == 23:
        return Loss({'inputs': ['y', 'z', 'label'], 'cells': {
            'a': 'CrossEntropyLoss'}, 'construct':
            'return a(y, label) + 0.1 * mean(square(z))'}, 'class',
            lambda y, z, l: F.cross_entropy(y, l) + 0.1 * (z * z).mean(), 2)
    if k == 24:
        return Loss({'CosineEmbeddingLoss': {'margin': 0.2,
                                             'reduction': how}}, 'sign',
                    lambda y, z, l: reduced(
                        cosine_embedding(y, z, l, 0.2), how), 2)
    if k == 25:
        return Loss({'MarginRankingLoss': {'margin': a, 'reduction': how}},
                    'signs', lambda y, z, l: F.margin_ranking_loss(
                        y, z, l, a, reduction=how), 2)
    return Loss({'inputs': ['y', 'z', 'label'], 'cells': {
        'l': {'GaussianNLLLoss': {'reduction': how}}},
        'construct': 'return l(y, label, 0.1 + square(z))'}, 'real',
        lambda y, z, l: F.gaussian_nll_loss(y, l, 0.1 + z * z,
                                            reduction=how), 2)


def schedule_of(r, lr, updates):
    """Its node, and the rate of update s, from 0."""
    k = r.randrange(18)
    n = r.randint(1, updates + 3)
    stair = r.random() < 0.4
    low = lr / 10
    decay = {'learning_rate': lr, 'decay_rate': 0.7, 'decay_steps': n,
             'is_stair': stair}
    if k == 0:
        return {'CosineDecayLR': {'min_lr': low, 'max_lr': lr,
                                  'decay_steps': n}}, lambda s: \
            low + 0.45 * lr * (1 + math.cos(math.pi * min(s, n) / n))
    if k == 1:
        return {'ExponentialDecayLR': decay}, \
            lambda s: lr * 0.7 ** (s // n if stair else s / n)
    if k == 2:
        return {'PolynomialDecayLR': {
            'learning_rate': lr, 'end_learning_rate': lr / 5, 'decay_steps': n,
            'power': 2.0, 'update_decay_steps': stair}}, lambda s: (
                lr - lr / 5) * (1 - min(s, n * max(
                    -(-s // n), 1) if stair else n) / (n * max(
                        -(-s // n), 1) if stair else n)) ** 2 + lr / 5 \
            if stair else (lr - lr / 5) * (1 - min(s, n) / n) ** 2 + lr / 5
    if k == 3:
        return {'WarmUpLR': {'learning_rate': lr, 'warmup_steps': n}}, \
            lambda s: lr * min(s, n) / n
    if k == 4:
        return {'InverseDecayLR': decay}, \
            lambda s: lr / (1 + 0.7 * (s // n if stair else s / n))
    if k == 5:
        return {'NaturalExpDecayLR': decay}, \
            lambda s: lr * math.exp(-0.7 * (s // n * n if stair else s))
    if k == 6:
        up = r.randint(1, 4)

        def cyclic(s):
            at = s / (up + n) - math.floor(s / (up + n))
            part = up / (up + n)
            return low + (lr - low) * (at / part if at <= part
                                       else (at - 1) / (part - 1))
        return {'CyclicLR': {'base_lr': low, 'max_lr': lr, 'step_size_up':
                             '%d steps' % up, 'step_size_down':
                             '%d steps' % n}}, cyclic
    if k == 7:
        total = updates + n

        def once(s):
            top = 0.3 * total - 1
            a, b, part = (lr / 25, lr, s / top) if s <= top else (
                lr, lr / 25 / 1e4, (s - top) / (total - 1 - top))
            return b + (a - b) / 2 * (1 + math.cos(math.pi * part))
        if 0.3 * total - 1 > 0.01:
            return {'OneCycleLR': {'max_lr': lr, 'total_steps':
                                   '%d steps' % total}}, once
    if k == 8:
        at = sorted(r.randint(1, updates + 1) for _ in 'abc')
        rates = [lr, lr / 2, lr / 7]
        return {'piecewise_constant_lr': {
            'milestone': at, 'learning_rates': rates}}, lambda s: next(
                (v for m, v in zip(at, rates) if s < m), rates[-1])
    if k == 9:
        some = [float('%.3g' % (lr * r.uniform(0.3, 1)))
                for _ in range(updates)]
        return some, lambda s: some[s]
    if k == 10:     # any schedule behind a warmup
        return {'ExponentialDecayLR': dict(decay, is_stair=False),
                'warmup': '%d steps' % n}, lambda s: \
            lr * s / n if s < n else lr * 0.7 ** (s / n)
    return lr, lambda s: lr


class Optimizer:
    """MindSpore's rules, for a dict of parameters."""

    def __init__(self, r, updates, cells):
        self.slot = {}
        self.tables = []    # parameters that are updated by rows
        lr = 10 ** r.uniform(-3, -1)
        k = self.kind = r.choice([
            'SGD', 'SGD', 'SGD', 'Momentum', 'Momentum', 'Adam', 'Adam',
            'AdamW', 'AdamWeightDecay', 'RMSProp', 'Adagrad', 'AdaMax',
            'Adadelta', 'Lamb', 'ASGD', 'FTRL', 'LARS', 'LazyAdam',
            'ProximalAdagrad', 'Rprop'])
        if k not in ('SGD', 'Momentum', 'Adadelta', 'FTRL', 'ASGD'):
            lr /= 10
        if k == 'LARS':
            lr *= 100
        lr = float('%.3g' % lr)
        text, self.lr = schedule_of(r, lr, updates)
        if k in ('ASGD', 'Rprop', 'FTRL'):  # their state contains the rate
            text, self.lr = lr, lambda s: lr
        a = self.a = {'learning_rate': text}
        self.wd = r.choice([0.0, 0.0, 0.01, 0.1])
        if self.wd or k == 'AdamW':
            a['weight_decay'] = self.wd
        self.mom = r.choice([0.0, 0.5, 0.9])
        self.nesterov = self.amsgrad = False
        self.betas, self.eps = (0.9, 0.999), 1e-8
        if k == 'SGD' and self.mom:
            a['momentum'] = self.mom
            self.nesterov = r.random() < 0.4
            self.damp = 0.0 if self.nesterov else r.choice([0.0, 0.3])
            if self.nesterov:
                a['nesterov'] = True
            elif self.damp:
                a['dampening'] = self.damp
        elif k in ('Momentum', 'LARS'):
            a['momentum'] = self.mom
            self.nesterov = r.random() < 0.4
            if self.nesterov:
                a['use_nesterov'] = True
        elif k == 'RMSProp':
            a['momentum'] = self.mom
            self.centered = r.random() < 0.3
            self.rho = r.choice([0.9, 0.8])
            a['decay'] = self.rho
            if self.centered:
                a['centered'] = True
        elif k in ('Adam', 'LazyAdam', 'AdamWeightDecay', 'AdamW', 'Lamb'):
            self.eps = r.choice([1e-3, 1e-4, 1e-6])
            a['eps'] = self.eps
            self.betas = r.choice([(0.9, 0.999), (0.8, 0.95), (0.0, 0.9)])
            if k == 'AdamW':
                a['betas'] = self.betas
                self.amsgrad = a['amsgrad'] = r.random() < 0.3
                self.sign = -1 if r.random() < 0.2 else 1
                a['maximize'] = self.sign < 0
            else:
                a['beta1'], a['beta2'] = self.betas
            if k in ('Adam', 'LazyAdam'):
                self.nesterov = a['use_nesterov'] = r.random() < 0.3
                # LazyAdam is Adam on gradients that are not rows
                if k == 'Adam' and not self.nesterov:
                    self.amsgrad = a['use_amsgrad'] = r.random() < 0.3
        elif k == 'FTRL':
            self.l1, self.l2 = r.choice([0.0, 1e-3]), r.choice([0.0, 1e-2])
            self.power = r.choice([-0.5, -0.5, -0.3, 0.0])
            a.update(l1=self.l1, l2=self.l2, lr_power=self.power)
        elif k == 'ProximalAdagrad':
            self.l1, self.l2 = r.choice([0.0, 1e-3]), r.choice([0.0, 1e-2])
            a.update(l1=self.l1, l2=self.l2)
        elif k == 'ASGD':
            self.lambd = r.choice([1e-4, 1e-2])
            a['lambd'] = self.lambd
        self.groups = []
        if r.random() < 0.35:
            left = list(cells)
            for _ in range(r.choice([1, 1, 2])):
                if not left:
                    break
                some = r.sample(left, r.randint(1, len(left)))
                left = [c for c in left if c not in some]
                rate, wd = float('%.3g' % (lr / 3)), r.choice([0.0, 0.02])
                group = {'params': ['%s.*' % c for c in some]}
                if r.random() < 0.7:
                    group['learning_rate'] = rate
                else:
                    rate = None
                if r.random() < 0.7:
                    group['weight_decay'] = wd
                else:
                    wd = self.wd
                self.groups.append((some, rate, wd))
                a.setdefault('group_params', []).append(group)
        if k == 'LARS':
            self.coefficient = r.choice([0.001, 0.02])
            self.clip = r.random() < 0.4
            self.text = {'LARS': {
                'optimizer': {'Momentum': a}, 'coefficient': self.coefficient,
                'use_clip': self.clip}}
        else:
            self.text = {k: a}

    def step(self, P, G, t):
        lr = self.lr(t - 1)
        for name, g in G.items():
            w = P[name]
            s = self.slot.setdefault(name, {})
            rate = lr
            plain = 'beta' in name or 'gamma' in name
            wd = self.wd if self.kind in ('AdamW', 'FTRL') or not plain else 0
            for some, own, decay in self.groups:
                if name.split('.')[0] in some:
                    rate, wd = lr if own is None else own, decay
                    break
            if self.kind == 'LARS':
                if 'LayerNorm' not in name and 'bias' not in name:
                    a, b = float(w.norm()), float(g.norm())
                    c = self.coefficient * a / (b + wd * a + 1e-5)
                    if a == 0 or b < 1e-13:     # 0 but for rounding
                        c = 1
                    elif self.clip:
                        c = min(c / rate, 1) if rate else 1
                    g = c * (g + wd * w)
            if self.kind == 'LazyAdam' and name in self.tables:
                before = dict(s)
                to = self.rule(w, g + wd * w, s, rate, t, wd)
                rows = (g != 0).any(1, keepdim=True)    # the others stay
                P[name] = torch.where(rows, to, w)
                for k, v in s.items():
                    s[k] = torch.where(rows, v, before.get(k, 0 * v))
                continue
            if self.kind not in ('AdamWeightDecay', 'Lamb', 'AdamW', 'LARS'):
                g = g + wd * w
            P[name] = self.rule(w, g, s, rate, t, wd)

    def rule(self, w, g, s, lr, t, wd):
        k = self.kind
        z = torch.zeros_like(w)
        b1, b2 = self.betas
        if k == 'SGD':
            if not self.mom:
                return w - lr * g
            s['a'] = self.mom * s['a'] + (1 - self.damp) * g if 'a' in s else g
            return w - lr * (g + self.mom * s['a'] if self.nesterov else s['a'])
        if k in ('Momentum', 'LARS'):
            s['a'] = self.mom * s.get('a', z) + g
            return w - lr * (g + self.mom * s['a'] if self.nesterov else s['a'])
        if k in ('Adam', 'LazyAdam', 'AdamWeightDecay', 'AdamW', 'Lamb'):
            if k == 'AdamW':
                g = self.sign * g
            m = s['m'] = b1 * s.get('m', z) + (1 - b1) * g
            v = s['v'] = b2 * s.get('v', z) + (1 - b2) * g * g
            if self.amsgrad:
                v = s['top'] = torch.maximum(s.get('top', v), v)
        if k in ('Adam', 'LazyAdam'):
            a = lr * math.sqrt(1 - b2 ** t) / (1 - b1 ** t)
            if self.nesterov:
                m = b1 * m + (1 - b1) * g
            return w - a * m / (v.sqrt() + self.eps)
        if k == 'AdamW':
            return w * (1 - lr * wd) - lr / (1 - b1 ** t) * m / (
                v.sqrt() / math.sqrt(1 - b2 ** t) + self.eps)
        if k == 'AdamWeightDecay':
            return w - lr * (m / (v.sqrt() + self.eps) + wd * w)
        if k == 'Lamb':
            m, v = m / (1 - b1 ** t), v / (1 - b2 ** t)
            u = m / (v.sqrt() + self.eps) + wd * w
            # MindSpore's epsilon is inside this root
            a = float(w.norm())
            b = float((m / (v + self.eps).sqrt() + wd * w).norm())
            return w - lr * (min(a / b, 10) if a > 0 and b > 0 else 1) * u
        if k == 'Adadelta':
            s['s'] = 0.9 * s.get('s', z) + 0.1 * g * g
            a = s.get('a', z)
            u = g * (a + 1e-6).sqrt() / (s['s'] + 1e-6).sqrt()
            s['a'] = 0.9 * a + 0.1 * u * u
            return w - lr * u
        if k == 'AdaMax':
            s['m'] = 0.9 * s.get('m', z) + 0.1 * g
            s['v'] = torch.maximum(0.999 * s.get('v', z), g.abs())
            return w - lr / (1 - 0.9 ** t) * s['m'] / (s['v'] + 1e-8)
        if k == 'Adagrad':
            s['s'] = s.get('s', z + 0.1) + g * g
            return w - lr * g / (s['s'] + 1e-8).sqrt()
        if k == 'ProximalAdagrad':
            s['s'] = s.get('s', z + 0.1) + g * g
            e = lr / s['s'].sqrt()
            q = w - e * g
            return q.sign() * (q.abs() - e * self.l1).clamp(min=0) / (
                1 + e * self.l2)
        if k == 'ASGD':
            eta = lr / (1 + self.lambd * lr * (t - 1)) ** 0.75 if t > 1 else lr
            return w * (1 - self.lambd * eta) - eta * g
        if k == 'Rprop':
            step = s.get('step', z + lr)
            same = g * s.get('g', z)
            step = torch.where(same > 0, step * 1.2, torch.where(
                same < 0, step * 0.5, step)).clamp(1e-6, 50)
            g = torch.where(same < 0, z, g)
            s['step'], s['g'] = step, g
            return w - g.sign() * step
        if k == 'FTRL':
            n, p = s.get('n', z + 0.1), -self.power
            new = n + g * g
            s['z'] = s.get('z', z) + g - (new ** p - n ** p) / lr * w
            s['n'] = new
            return torch.where(s['z'].abs() > self.l1, (
                s['z'].sign() * self.l1 - s['z']) / (
                    new ** p / lr + 2 * self.l2), z)
        s['s'] = self.rho * s.get('s', z + 1) + (1 - self.rho) * g * g
        s['q'] = self.rho * s.get('q', z) + (1 - self.rho) * g
        root = s['s'] + 1e-10
        if self.centered:
            root = root - s['q'] ** 2
        s['m'] = self.mom * s.get('m', z) + lr * g / root.sqrt()
        return w - s['m']
