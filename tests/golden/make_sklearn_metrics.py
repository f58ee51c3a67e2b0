#!/usr/bin/env python3
"""Cases of tests/cases/metrics whose values are scikit-learn's (1.9.1).

    python3 -m venv /somewhere
    /somewhere/bin/pip install scikit-learn==1.9.1
    /somewhere/bin/python tests/golden/make_sklearn_metrics.py

Outputs are multiples of 1/64 (or of 1/2, so that some are equal), so that they
are the same in float32 and float64.
"""
from pathlib import Path

import numpy as np
from sklearn import metrics

CASES = Path(__file__).parent / '../cases/metrics'
rng = np.random.default_rng(13)
wrote = {}


def outputs(*shape, step=64):
    return np.round(rng.normal(0, 1, shape) * step) / step


def labels(classes, *shape):
    return rng.integers(0, classes, shape).astype(np.int32)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def tensor(x):
    kind = ', type: int32' if x.dtype.kind == 'i' else ''
    values = ', '.join(str(v) if kind else repr(float(v)) for v in x.ravel())
    return f'{{shape: {list(x.shape)}{kind}, values: [{values}]}}'


def case(leaf, name, x, y, value, classes=1, table=None, opts=None,
         tolerance=None):
    """In two batches of uneven size."""
    n = len(x) * 2 // 3
    out = f'- name: "scikit-learn\'s {name}"\n  classes: {classes}\n'
    out += f'  opts: {opts}\n' if opts else ''
    out += f'  tolerance: {tolerance}\n' if tolerance else ''
    out += '  batches:\n'
    for a, b in ((x[:n], y[:n]), (x[n:], y[n:])):
        out += f'    - {{output: {tensor(a)}, label: {tensor(b)}}}\n'
    out += f'  value: {float(value)!r}\n'
    if table is not None:
        out += f'  table: [{", ".join(repr(float(v)) for v in table)}]\n'
    wrote.setdefault(leaf, []).append(out)


def pr_area(y, score):
    precision, recall, _ = metrics.precision_recall_curve(y, score)
    return metrics.auc(recall, precision)


# numbers
x, y = outputs(9), outputs(9)
case('r2', 'r2_score of one number', x, y, metrics.r2_score(y, x))
y = 1000 + outputs(12, 3) * [1, 2, 3]
x = y + outputs(12, 3) / 2
case('r2', 'r2_score of three numbers, far from 0', x, y,
     metrics.r2_score(y, x))
y[:, 1] = 4
case('r2', 'r2_score, a constant label', x, y,
     metrics.r2_score(y, x))
x[:, 1] = 4
case('r2', 'r2_score, a constant label, found', x, y,
     metrics.r2_score(y, x))
x = outputs(9, 1)
y = labels(5, 9)
case('r2', 'r2_score of integers, in one column less', x, y,
     metrics.r2_score(y, x[:, 0]))

# rankings
for leaf, of in (('average_precision', metrics.average_precision_score),
                 ('pr_auc', pr_area)):
    for step, name in ((64, ''), (2, ' with equal outputs')):
        x, y = outputs(18, 2, step=step), labels(2, 18)
        p = softmax(x)
        each = [of(y == c, p[:, c]) for c in (0, 1)]
        case(leaf, f'of two classes{name}', x, y, each[1], 2, each)
        x, y = outputs(24, 4, step=step), labels(4, 24)
        # exact sums, so that equal outputs have equal probabilities
        x[:, 1:3] = x[:, :1] + [[1, 2]] if step == 2 else x[:, 1:3]
        p = np.round(softmax(x), 12)
        each = [of(y == c, p[:, c]) for c in range(4)]
        case(leaf, f'of four classes{name}', x, y, np.mean(each), 4, each)
        x, y = outputs(18, 1, step=step), labels(2, 18)
        case(leaf, f'of one number{name}', x, y, of(y, x[:, 0]), 1,
             [of(y, x[:, 0])])
        x, y = outputs(15, 3, step=step), labels(2, 15, 3)
        each = [of(y[:, c], x[:, c]) for c in range(3)]
        case(leaf, f'of multilabel targets{name}', x, y, np.mean(each), 3, each)

# decisions
for leaf, of in (('balanced_accuracy', metrics.balanced_accuracy_score),
                 ('matthews', metrics.matthews_corrcoef)):
    for classes in (2, 4):
        x, y = outputs(21, classes), labels(classes, 21)
        x[np.arange(21), y] += .5
        case(leaf, f'of {classes} classes', x, y, of(y, x.argmax(1)), classes)
    y = labels(3, 21)
    case(leaf, 'a class without samples', x, y,
         of(y, np.where(x.argmax(1) == 3, 3, x.argmax(1))), 4)
    x[:, 2] = 9
    case(leaf, 'one class predicted', x, y, of(y, x.argmax(1)), 4)
    x, y = outputs(21, 1), labels(2, 21)
    case(leaf, 'of one number', x, y, of(y, x[:, 0] >= .5), 2)
    case(leaf, 'of one logit', x, y, of(y, x[:, 0] >= 0), 2,
         opts='{threshold: 0.0}')

# probabilities
for classes in (2, 3):
    x, y = outputs(13, classes), labels(classes, 13)
    case('log_loss', f'of {classes} classes', x, y,
         metrics.log_loss(y, softmax(x), labels=range(classes)), classes)
x[2, y[2]] -= 100
case('log_loss', 'of probability 0', x, y,
     metrics.log_loss(y, softmax(x), labels=range(3)), 3)
x, y = np.abs(outputs(13, 1)) % 1, labels(2, 13)
x[:2, 0], y[:3] = [0, 1], [1, 0, 1]
case('log_loss', 'of probabilities', x, y, metrics.log_loss(y, x[:, 0]))
x = outputs(13, 1) * 3
case('log_loss', 'of logits', x, y, metrics.log_loss(y, sigmoid(x[:, 0])),
     opts='{logits: true}')

# thresholds: halfway between the best of all outputs and the next one
def threshold(y, p, score):
    at = np.unique(p)[::-1]
    none = (at[0] + 1) / 2 if at[0] < 1 else at[0] + 1
    last = at[-1] / 2 if at[-1] > 0 else at[-1] - 1 if at[-1] < 0 else 0
    cuts = [none] + [(a + b) / 2 for a, b in zip(at, at[1:])] + [last]
    scores = np.round([score(y, (p >= t) * 1) for t in cuts], 12)
    return cuts[int(np.argmax(scores))]


SCORES = {'F1': lambda y, said: metrics.f1_score(y, said, zero_division=0),
          'accuracy': metrics.accuracy_score,
          'balanced_accuracy': metrics.balanced_accuracy_score,
          'matthews': metrics.matthews_corrcoef}
for name, score in SCORES.items():
    x, y = outputs(25, 2), labels(2, 25)
    x[np.arange(25), y] += .5
    case('best_threshold', f'{name}, two classes', x, y,
         threshold(y, softmax(x)[:, 1], score), 2, tolerance=1e-6,
         opts=f'{{maximize: {name}}}')
    x, y = outputs(25, 1, step=2), labels(2, 25)
    case('best_threshold', f'{name}, one logit with equal outputs', x, y,
         sigmoid(threshold(y, x[:, 0], score)), tolerance=1e-6,
         opts=f'{{maximize: {name}, logits: true}}')

for leaf, cases in wrote.items():
    (CASES / f'{leaf}.yaml').write_text(''.join(cases))
