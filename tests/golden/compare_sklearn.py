#!/usr/bin/env python3
"""`cellrun init` and scikit-learn's MLP with its defaults, on its tables.

    python3 -m venv /somewhere
    /somewhere/bin/pip install scikit-learn==1.9.1
    /somewhere/bin/python tests/golden/compare_sklearn.py \\
        build/plain/cellrun /tmp/work [SEEDS [TABLE...]]

For each table and seed: 80% of the rows go to train.csv, 20% to test.csv
(stratified by class). `init --from-csv train.csv` writes a config, which is
trained with no edit; what it sets aside for evaluations and tests it does not
train on. The best checkpoint is evaluated on test.csv. MLPClassifier() and
MLPRegressor() are fitted on all of train.csv, standardised (StandardScaler)
and as it is. Prints accuracy or R^2 of each, then the means.
"""
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn import (datasets, metrics, model_selection, neural_network,
                     preprocessing)

warnings.filterwarnings('ignore')
cellrun, work = sys.argv[1], Path(sys.argv[2])
seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
tables = sys.argv[4:] or ['breast_cancer', 'wine', 'digits', 'diabetes']


def table(name):
    d = getattr(datasets, f'load_{name}')()
    names = [str(n).replace(' ', '_') for n in d.feature_names]
    words = d.target_names[d.target] if name in ('wine', 'breast_cancer') \
        else d.target
    return names, d.data, d.target, words


def write(path, names, x, y):
    with open(path, 'w') as f:
        f.write(','.join(names + ['target']) + '\n')
        for row, target in zip(x, y):
            f.write(','.join([repr(float(v)) for v in row] + [str(target)]))
            f.write('\n')


def sklearn(xa, ya, xb, yb, seed, regress):
    if regress:
        m = neural_network.MLPRegressor(random_state=seed).fit(xa, ya)
        return metrics.r2_score(yb, m.predict(xb))
    m = neural_network.MLPClassifier(random_state=seed).fit(xa, ya)
    return metrics.accuracy_score(yb, m.predict(xb))


def run(*words):
    return subprocess.run([cellrun, *map(str, words)], check=True, text=True,
                          capture_output=True).stdout


def ours(d, seed, metric):
    run('init', '--from-csv', d / 'train.csv', '--target', 'target', '-o',
        d / 'c.yaml', '--force')
    run('train', d / 'c.yaml', '-o', d / 'run', '-q', '--force', '--seed',
        seed)
    # the same columns of another file
    text = run('config', d / 'c.yaml', '--json')
    train = json.loads(text)['dataset']['train']
    train['CSVDataset']['dataset_files'] = str((d / 'test.csv').resolve())
    (d / 'test.yaml').write_text(json.dumps({'dataset': {'eval': train}}))
    return json.loads(run('eval', '--ckpt', d / 'run', '--data',
                          d / 'test.yaml', '--json', '--metrics',
                          metric))[metric]


for name in tables:
    names, x, y, words = table(name)
    regress = name == 'diabetes'
    rows = []
    for seed in range(seeds):
        a, b = model_selection.train_test_split(
            np.arange(len(x)), test_size=.2, random_state=seed,
            stratify=None if regress else y)
        d = (work / f'{name}-{seed}').resolve()
        d.mkdir(parents=True, exist_ok=True)
        write(d / 'train.csv', names, x[a], words[a])
        write(d / 'test.csv', names, x[b], words[b])
        scale = preprocessing.StandardScaler().fit(x[a])
        rows.append([ours(d, seed + 1, 'r2' if regress else 'accuracy'),
                     sklearn(scale.transform(x[a]), y[a],
                             scale.transform(x[b]), y[b], seed, regress),
                     sklearn(x[a], y[a], x[b], y[b], seed, regress)])
        print(f'{name} {seed}', *(f'{v:.4f}' for v in rows[-1]), flush=True)
    mean, deviation = np.mean(rows, 0), np.std(rows, 0)
    print(f'{name} mean: init {mean[0]:.4f} +- {deviation[0]:.4f}, '
          f'scikit-learn standardised {mean[1]:.4f} +- {deviation[1]:.4f}, '
          f'as it is {mean[2]:.4f} +- {deviation[2]:.4f}', flush=True)
