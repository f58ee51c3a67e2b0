#!/usr/bin/env python3
"""The largest deviation of each cell and loss from the golden vectors.

    python3 tests/golden/deviations.py [PATTERN ...]

Runs `cellrun trace` ($CELLRUN, else build/plain/cellrun) on the cases of ms/
and pt/ whose names match, in the plan of training and eagerly, and prints a
row per cell: cases, and the largest difference of outputs, of gradients and
of what a step moved, as a part of the tensor's largest element (of 0.1 at
least). Needs numpy, safetensors and PyYAML."""
import fnmatch
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import yaml
from safetensors.numpy import load_file

HERE = Path(__file__).parent
CELLRUN = os.environ.get('CELLRUN', 'build/plain/cellrun')


def types(node):
    """The Capitalised names in a network."""
    if isinstance(node, str):
        return {node} if node[:1].isupper() and ' ' not in node else set()
    found = set()
    for key, value in (node.items() if isinstance(node, dict) else
                       enumerate(node) if isinstance(node, list) else ()):
        if isinstance(key, str) and key[0].isupper():
            found.add(key)
        else:
            found |= types(value)
            continue
        if isinstance(value, list):
            found |= {t for t in map(str, value) if t == 'SequentialCell'}
    return found


def trace(folder, out, *more):
    args = [CELLRUN, 'trace', folder / 'config.yaml', '--feed',
            'x=%s' % (folder / 'x.npy'), '-o', out]
    if (folder / 'label.npy').exists():
        args += ['--feed', 'label=%s' % (folder / 'label.npy')]
    if (folder / 'weights.safetensors').exists():
        args += ['--ckpt', folder / 'weights.safetensors']
    words = (folder / 'cmd').read_text().split()
    while '--rtol' in words:
        del words[words.index('--rtol'):][:2]
        words = words[:words.index('--rtol')] + \
            words[words.index('--rtol') + 2:]
    done = subprocess.run([*map(str, args), *words, *more],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit('%s: %s' % (folder.name, done.stderr))
    return load_file(out)


def kind(name):
    return ('gradients' if name.startswith('grad.') else
            'step' if name.startswith(('param.', 'slot.')) else 'outputs')


def main(patterns):
    rows = {}
    with tempfile.TemporaryDirectory() as room:
        for folder in sorted(HERE.glob('[mp][st]/*/')):
            if not (folder / 'cmd').exists() or not any(
                    fnmatch.fnmatch(folder.name, p) for p in patterns):
                continue
            tree = yaml.safe_load((folder / 'config.yaml').read_text())
            cells = types(tree['network'])
            if len(cells) > 1:
                cells -= {'Dense', 'Flatten'}
            ref = load_file(folder / 'ref.safetensors')
            if folder.name.startswith('loss_'):
                cells = types(tree['loss'])
                ref = {n: v for n, v in ref.items()
                       if n == 'loss' or n.startswith('grad.output.')}
            for more in (), ('--eager',):
                got = trace(folder, room + '/out.safetensors', *more)
                for name, want in ref.items():
                    far = np.abs(got[name].astype(np.float64) - want).max() \
                        / max(np.abs(want).max(), 0.1) if want.size else 0
                    for cell in cells:
                        row = rows.setdefault(
                            (cell, folder.parent.name),
                            {'cases': set(), 'outputs': 0, 'gradients': 0,
                             'step': 0})
                        row['cases'].add(folder.name)
                        row[kind(name)] = max(row[kind(name)], far)
    print('| cell | reference | cases | outputs | gradients | step |')
    print('|---|---|---|---|---|---|')
    for (cell, where), row in sorted(rows.items()):
        print('| %s | %s | %d | %s |' % (
            cell, {'ms': 'MindSpore', 'pt': 'PyTorch'}[where],
            len(row['cases']),
            ' | '.join('%.1e' % row[c] if row[c] else '0'
                       for c in ('outputs', 'gradients', 'step'))))


if __name__ == '__main__':
    main(sys.argv[1:] or ['*'])
