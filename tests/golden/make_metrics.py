#!/usr/bin/env python3
"""Cases of tests/cases/metrics whose values are MindSpore's (2.10.0, CPU).

    python3 -m venv /somewhere
    /somewhere/bin/pip install mindspore==2.10.0 'numpy<2' scipy
    /somewhere/bin/python tests/golden/make_metrics.py

Writes one file for each metric that is wholly MindSpore's, and the cases
`MindSpore's ...` at the end of the other files. Outputs are multiples of 1/64,
so that they are the same in float32 and float64.

Where MindSpore looks at one batch only (ROC, the distances between surfaces)
or weighs batches alike (Dice), it is fed what makes it exact: all samples in
one batch, or one sample at a time.
"""
from pathlib import Path

import numpy as np
from mindspore import train

CASES = Path(__file__).parent / '../cases/metrics'
MARK = "MindSpore's "
rng = np.random.default_rng(10)
wrote = {}


def outputs(*shape):
    return np.round(rng.normal(0, 1, shape) * 64) / 64


def labels(classes, *shape):
    return rng.integers(0, classes, shape)


def softmax(x, axis=1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def text(v):
    return repr(float(np.squeeze(v)))


def tensor(x):
    kind = ', type: int32' if x.dtype.kind == 'i' else ''
    values = ', '.join(str(v) if kind else text(v) for v in x.ravel())
    return f'{{shape: {list(x.shape)}{kind}, values: [{values}]}}'


def case(leaf, name, batches, value=None, classes=1, **more):
    out = f'- name: "{MARK}{name}"\n  classes: {classes}\n'
    for k, v in more.items():
        if k not in ('table', 'points'):
            out += f'  {k}: {v}\n'
    out += '  batches:\n'
    for x, y in batches:
        y = f', label: {tensor(y)}' if y is not None else ''
        out += f'    - {{output: {tensor(x)}{y}}}\n'
    if value is not None:
        out += f'  value: {text(value)}\n'
    for k in ('table', 'points'):
        if k in more:
            out += f'  {k}: [{", ".join(map(text, np.ravel(more[k])))}]\n'
    wrote.setdefault(leaf, []).append(out)


def run(metric, batches, *more, **at_eval):
    metric.clear()
    for b in batches:
        metric.update(*b, *more)
    return metric.eval(**at_eval)


# numbers
three = [(outputs(3, 2, 2), outputs(3, 2, 2)), (outputs(1, 2, 2),
                                                outputs(1, 2, 2))]
ints = [(outputs(3, 1), labels(5, 3)), (outputs(2, 1), labels(5, 2))]
for leaf, cls in (('mae', train.MAE), ('mse', train.MSE)):
    case(leaf, 'sum over elements by samples', three, run(cls(), three),
         classes=2)
    case(leaf, 'integers in one column less', ints, run(cls(), ints))
    case(leaf, 'first example', [(np.array([.125, .25, .5, 1.]),
                                  np.array([.125, .5, .75, 1.]))],
         run(cls(), [(np.array([.125, .25, .5, 1.]),
                      np.array([.125, .5, .75, 1.]))]))

masks = [(np.abs(outputs(3, 1, 2, 3)) % 1, 1. * labels(2, 3, 1, 2, 3)),
         (np.abs(outputs(2, 1, 2, 3)) % 1, 1. * labels(2, 2, 1, 2, 3))]
single = [(x[i:i + 1], y[i:i + 1]) for x, y in masks for i in range(len(x))]
case('dice', 'dice of single samples', masks, run(train.Dice(), single))
case('dice', 'smooth', masks, run(train.Dice(smooth=.5), single),
     opts='{smooth: 0.5}')

# classes
flat = [(outputs(5, 3), labels(3, 5)), (outputs(3, 3), labels(3, 3))]
maps = [(outputs(2, 3, 2, 2), labels(3, 2, 2, 2)),
        (outputs(1, 3, 2, 2), labels(3, 1, 2, 2))]
for beta in (.5, 2.):
    for name, data in (('classes', flat), ('positions of a map', maps)):
        m = train.Fbeta(beta)
        case('fbeta', f'{name}, beta {beta}', data,
             run(m, data, average=True), classes=3, called=f'F{beta:g}',
             opts=f'{{beta: {beta}}}', table=m.eval())

for norm in ('target', 'prediction', 'all'):
    m = train.ConfusionMatrix(4, norm)
    four = [(np.pad(x, ((0, 0), (0, 1)), constant_values=-9.), y)
            for x, y in flat]
    with np.errstate(all='ignore'):
        table = run(m, four)
    case('confusion_matrix', f'normalised by {norm}, one class absent', four,
         classes=4, opts=f'{{normalize: {norm}}}',
         called=f'confusion_matrix_{norm}', table=table)

# (without the random numbers of the others)
said = [(np.arange(7) % 5 / 4, np.array([0, 1, 1, 0, 1, 1, 0])),
        (np.array([.5, .25]), np.array([0, 1]))]
wide = [(np.arange(12).reshape(2, 3, 2) * 7 % 11 / 8,
         np.arange(12).reshape(2, 3, 2) % 2)]
for norm in ('no_norm', 'target'):
    for name, data, threshold in (('numbers', said, .5), ('numbers', said, .75),
                                  ('maps of numbers', wide, .5)):
        m = train.ConfusionMatrix(2, norm, threshold)
        more = {} if norm == 'no_norm' else {
            'called': 'confusion_matrix_target'}
        case('confusion_matrix', f'{name} from {threshold} on, {norm}', data,
             classes=2, opts=f'{{normalize: {norm}, threshold: {threshold}}}',
             table=run(m, data), **more)
m = train.ConfusionMatrix(3)
case('confusion_matrix', 'numbers, three classes', said, classes=3,
     opts='{num_classes: 3}', table=run(m, said))
m = train.ConfusionMatrix(5)
case('confusion_matrix', 'more classes than the output', flat, classes=5,
     opts='{num_classes: 5}', table=run(m, flat))

RATES = ('sensitivity specificity precision negative_predictive_value '
         'miss_rate fall_out false_discovery_rate false_omission_rate '
         'prevalence_threshold threat_score accuracy balanced_accuracy '
         'f1_score matthews_correlation_coefficient fowlkes_mallows_index '
         'informedness markedness').split()


def one_hot(y, classes):
    return np.moveaxis(np.eye(classes)[y], -1, 1)


def hot(data):
    return [(one_hot(x.argmax(1), x.shape[1]), one_hot(y, x.shape[1]))
            for x, y in data]


np.seterr(all='ignore')
for rate in RATES:
    m = train.ConfusionMatrixMetric(metric_name=rate)
    case('confusion_matrix_metric', f'{rate}', flat,
         run(m, hot(flat)), classes=3, opts=f'{{metric_name: {rate}}}',
         called=f'confusion_matrix_{rate}')
for rate in ('sensitivity', 'f1_score', 'accuracy'):
    for skip in (True, False):
        m = train.ConfusionMatrixMetric(skip, rate, True)
        case('confusion_matrix_metric', f'{rate} of samples, skip {skip}',
             maps, run(m, hot(maps)), classes=3,
             opts=f'{{metric_name: {rate}, calculation_method: true, '
                  f'skip_channel: {str(skip).lower()}}}')
ones = [(x[i:i + 1], y[i:i + 1]) for x, y in maps for i in range(len(x))]
pairs = [(x[:, :2], np.minimum(y, 1)) for x, y in maps]
pair_ones = [(x[:, :2], np.minimum(y, 1)) for x, y in ones]
for decrease, skip, data in (
        ('sum', True, maps), ('sum', False, maps), ('mean_channel', True, ones),
        ('sum_channel', True, ones), ('sum_channel', False, ones),
        ('sum_batch', False, pairs), ('none', False, pair_ones)):
    for rate in ('precision', 'f1_score'):
        m = train.ConfusionMatrixMetric(skip, rate, True, decrease)
        case('confusion_matrix_metric',
             f'{rate} of samples, {decrease}, skip {skip}', data,
             run(m, hot(data)), classes=data[0][0].shape[1],
             opts=f'{{metric_name: {rate}, calculation_method: true, '
                  f'decrease: {decrease}, skip_channel: {str(skip).lower()}}}')
m = train.ConfusionMatrixMetric(False)
case('confusion_matrix_metric', 'first class ignored', maps,
     run(m, hot(maps)), classes=3, opts='{skip_channel: false}')

# marks
marks = [(outputs(4, 3) / 4 + .5, labels(2, 4, 3)),
         (outputs(2, 3) / 4 + .5, labels(2, 2, 3))]
marks[0][0][0] = marks[0][1][0]
marks[1][0][1] = [.5, .25, .25]
marks[1][1][1] = [1, 0, 0]
lines = [(labels(2, 3, 2, 2) * 1., labels(2, 3, 2, 2))]
for leaf, cls in (('accuracy', train.Accuracy), ('precision', train.Precision),
                  ('recall', train.Recall)):
    said = [((x >= .5) * 1., y) for x, y in marks]
    more = {} if leaf == 'accuracy' else {'average': True}
    case(leaf, 'multilabel', marks, run(cls('multilabel'), said, **more),
         classes=3, opts='{eval_type: multilabel}')
    if leaf == 'accuracy':
        case(leaf, 'multilabel, positions', lines,
             run(cls('multilabel'), lines), classes=2,
             opts='{eval_type: multilabel}')
    logits = [(8 * x - 4, y) for x, y in marks]
    case(leaf, 'multilabel of logits', logits,
         run(cls('multilabel'), said, **more), classes=3,
         opts='{eval_type: multilabel, threshold: 0.0}')

# probabilities
case('perplexity', 'ignore_label', flat,
     run(train.Perplexity(1), [(softmax(x), y) for x, y in flat]), classes=3,
     opts='{ignore_label: 1}')


def corners(fpr, tpr, at):
    """Without the points that are on a line between their neighbours."""
    p = list(zip(fpr, tpr, at))
    out = p[:1]
    for i in range(1, len(p) - 1):
        a, b, c = out[-1], p[i], p[i + 1]
        if abs((b[0] - a[0]) * (c[1] - a[1]) -
               (c[0] - a[0]) * (b[1] - a[1])) > 1e-12:
            out.append(b)
    return np.array(out + p[-1:])


many = [(outputs(9, 3), labels(3, 9)), (outputs(4, 3), labels(3, 4))]
x = softmax(np.concatenate([b[0] for b in many])).astype(np.float32)
y = np.concatenate([b[1] for b in many])
# (ROC(3) cuts the matrix of outputs into the wrong columns: a transpose of
# PyTorch's that NumPy reads differently; so one class at a time)
curves = [run(train.ROC(pos_label=c), [(x[:, c], y)]) for c in range(3)]
areas = [train.auc(a, b) for a, b, _ in curves]
case('auc', 'areas, each class against the rest', many, np.mean(areas),
     classes=3, table=areas)
case('roc', 'curve of class 2', many, classes=3, opts='{pos_label: 2}',
     tolerance=2e-7, points=corners(*curves[2]))
scores = [(np.round(outputs(9, 1) * 2) / 2, labels(2, 9)),
          (np.round(outputs(4, 1) * 2) / 2, labels(2, 4))]
x = np.concatenate([b[0] for b in scores])[:, 0]
y = np.concatenate([b[1] for b in scores])
fpr, tpr, at = run(train.ROC(), [(x, y)])
area = train.auc(fpr, tpr)
case('auc', 'area of one number with equal outputs', scores, area, table=[area])
case('roc', 'curve of one number with equal outputs', scores,
     points=corners(fpr, tpr, at))

# sequences
seqs = [(outputs(2, 4, 9), labels(4, 2, 9)), (outputs(1, 4, 9),
                                              labels(4, 1, 9))]
for x, y in seqs:
    for i in range(len(x)):
        for k in range(9):
            if rng.random() < .8:
                x[i, y[i, k], k] = 4
for opts in ({}, {'n_gram': 2}, {'n_gram': 3, 'smooth': True}):
    said = [([list(r) for r in x.argmax(1)], [[list(r)] for r in y])
            for x, y in seqs]
    case('bleu_score', f'bleu {opts or "4"}', seqs,
         run(train.BleuScore(**opts), said), classes=4,
         opts=str(opts).replace("'", '').replace('True', 'true'))

# likeness
rows = [(outputs(3, 4), None), (outputs(2, 4), None)]
x = np.concatenate([b[0] for b in rows])
for opts in ({}, {'similarity': 'dot', 'reduction': 'sum'},
             {'zero_diagonal': False}):
    m = train.CosineSimilarity(**dict({'reduction': 'mean'}, **opts))
    case('cosine_similarity', f'rows reduced {opts or "as they are"}', rows,
         np.mean(run(m, [(x,)])), classes=4,
         opts=str(opts).replace("'", '').replace('False', 'false'))


# surfaces
def blob(shape, classes):
    y = np.zeros(shape, int)
    at = [rng.integers(0, n - 2) for n in shape]
    size = [rng.integers(2, n - a + 1) for n, a in zip(shape, at)]
    y[tuple(slice(a, a + s) for a, s in zip(at, size))] = 1
    y[tuple(a for a in at)] = rng.integers(0, classes)
    return y


def scene(shape):
    y = np.stack([blob(shape, 3) for _ in range(2)])
    said = np.stack([blob(shape, 3) for _ in range(2)])
    return one_hot(said, 3) * 2 - 1., y


pictures = [scene((6, 7)), scene((6, 7))]
volumes = [scene((4, 5, 3))]
for kind in ('euclidean', 'chessboard', 'taxicab'):
    for name, data in (('images', pictures), ('volumes', volumes)):
        samples = [(x[i].argmax(0), y[i]) for x, y in data
                   for i in range(len(x))]

        def surface(leaf, cls, fix=lambda v: v, **opts):
            values = [fix(run(cls(distance_metric=kind, **opts), [s], 1))
                      for s in samples]
            shown = dict(opts, distance_metric=kind)
            case(leaf, f'{name}, {shown}', data, np.mean(values), classes=3,
                 opts=str(shown).replace("'", '').replace('True', 'true')
                 .replace('False', 'false'))

        surface('hausdorff_distance', train.HausdorffDistance, crop=False)
        surface('hausdorff_distance', train.HausdorffDistance, crop=True,
                directed=True, percentile=60.)
        for leaf, cls, fix in (
                ('mean_surface_distance', train.MeanSurfaceDistance,
                 lambda v: v),
                ('root_mean_square_distance', train.RootMeanSquareDistance,
                 np.sqrt)):
            surface(leaf, cls, fix)
            surface(leaf, cls, symmetric=True)

# of what is one position wide a surface is the ends, cropped
lines = np.zeros((3, 2, 5, 6), int)
lines[0, 0, 2, 1:6], lines[0, 1, 2, 3:5] = 1, 1
lines[1, 0, 0:4, 3], lines[1, 1, 2:5, 3] = 1, 1
lines[2, 0, 1, 2:6], lines[2, 1, 1, 2:4], lines[2, 1, 0, 3] = 1, 1, 1
thin = [(one_hot(said, 2) * 2 - 1., is_) for said, is_ in
        ((lines[:, 0], lines[:, 1]),)]
for crop in (True, False):
    for directed in (True, False):
        for percentile in (None, 40.):
            m = train.HausdorffDistance('euclidean', percentile, directed, crop)
            shown = {'crop': crop, 'directed': directed}
            if percentile:
                shown['percentile'] = percentile
            case('hausdorff_distance', f'lines, {shown}', thin,
                 np.mean([run(m, [(a, b)], 1) for a, b, in
                          zip(lines[:, 0], lines[:, 1])]), classes=2,
                 opts=str(shown).replace("'", '').replace('True', 'true')
                 .replace('False', 'false'))
one = np.zeros((1, 4, 5), int)
one[0, 1, 2] = 1
for crop in (True, False):
    m = train.HausdorffDistance(crop=crop)
    case('hausdorff_distance', f'one position, crop {crop}',
         [(one_hot(one, 2) * 2 - 1., one)], run(m, [(one[0], one[0])], 1),
         classes=2, opts=f'{{crop: {str(crop).lower()}}}')

for leaf, cases in wrote.items():
    path = CASES / f'{leaf}.yaml'
    old = path.read_text() if path.exists() else ''
    path.write_text(old.split(f'- name: "{MARK}')[0] + ''.join(cases))
    print(leaf, len(cases))
