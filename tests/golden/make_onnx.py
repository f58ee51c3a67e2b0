#!/usr/bin/env python3
"""Writes tests/golden/onnx: two models that cellrun exports, checked by onnx,
and what onnxruntime computes with them. Needs onnx, onnxruntime and numpy.

  x.npy, y.npy   four samples
  net.onnx       the network of net.yaml
  raw.onnx       the same with --normalize
  out.npz        output of net.onnx for the samples after the datapipe, and of
                 raw.onnx for the samples as stored
  functions.sha256   of the model of functions.yaml, which computes the same as
                     `cellrun trace` for functions.npy and a part of it
  features.sha256    of the model of features.yaml with --normalize, which
                     computes the same as `cellrun predict` for functions.npy
"""
import hashlib
import os
import subprocess
import tempfile

import numpy as np

from check_onnx import CELLRUN, model, run

os.chdir(f'{os.path.dirname(os.path.abspath(__file__))}/onnx')
rng = np.random.default_rng(1)
x = rng.integers(0, 256, (4, 6, 5, 2), dtype='u1')
np.save('x.npy', x)
np.save('y.npy', np.arange(4, dtype='i4') % 3)
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([CELLRUN, 'train', 'net.yaml', '-q', '-o', f'{folder}/run'],
                   check=True, stdout=subprocess.DEVNULL)
    run('export', f'{folder}/run', '-q', '-o', 'net.onnx')
    run('export', f'{folder}/run', '-q', '--normalize', '-o', 'raw.onnx')
image = x.astype('f4') * np.float32(1 / 255)
image = (image - np.float32([0.5, 0.25])) / np.float32([0.25, 0.5])
image = np.ascontiguousarray(image.transpose(0, 3, 1, 2))
np.save('image.npy', image)
y = model('net.onnx').run(None, {'image': image})[0]
raw = model('raw.onnx').run(None, {'image': x})[0]
assert np.allclose(y, raw, rtol=1e-6, atol=1e-6), np.abs(y - raw).max()
np.savez('out.npz', output=y)

with tempfile.TemporaryDirectory() as folder:
    none, path = f'{folder}/none.npz', f'{folder}/functions.onnx'
    np.savez(none)
    run('export', 'functions.yaml', '--ckpt', none, '-q', '-o', path)
    for n in 4, 3, 2:
        x = np.load('functions.npy')[:n]
        np.save(f'{folder}/x.npy', x)
        run('trace', 'functions.yaml', '--ckpt', none, '--predict', '--feed',
            f'x={folder}/x.npy', '-o', f'{folder}/out.npz')
        want = np.load(f'{folder}/out.npz')['output']
        got = model(path).run(None, {'x': x})[0]
        assert np.allclose(got, want, rtol=1e-4, atol=1e-5, equal_nan=True)
    with open(path, 'rb') as f, open('functions.sha256', 'w') as to:
        print(hashlib.sha256(f.read()).hexdigest(), '', 'functions.onnx',
              file=to)

with tempfile.TemporaryDirectory() as folder:
    path, to = f'{folder}/features.onnx', f'{folder}/out.npz'
    subprocess.run([CELLRUN, 'train', 'features.yaml', '-q', '-o',
                    f'{folder}/run'], check=True, stdout=subprocess.DEVNULL)
    run('export', f'{folder}/run', '-q', '--normalize', '-o', path)
    run('predict', '--ckpt', f'{folder}/run', 'functions.npy', '-q', '-o', to)
    got = model(path).run(None, {'x': np.load('functions.npy')})[0]
    assert np.allclose(got, np.load(to)['output'], rtol=1e-5, atol=1e-6)
    with open(path, 'rb') as f, open('features.sha256', 'w') as to:
        print(hashlib.sha256(f.read()).hexdigest(), '', 'features.onnx',
              file=to)
