#!/usr/bin/env python3
"""What MindSpore 2.10.0's data operations make of small arrays, into ms/data/.

    /somewhere/bin/python tests/golden/make_data.py   (as make_mindspore.py)

Each file has `op`, as a datapipe spells it, and `in` and `out` with type,
shape and values in row-major order. Results are bit-exact: floats are written
with the digits that bring the same float32 (float64) back.
Made with MindSpore 2.10.0, NumPy 1.26.4 on Linux x86-64.
"""
import os
import zlib
from pathlib import Path

os.environ.setdefault('GLOG_v', '3')

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from mindspore.dataset import transforms, vision  # noqa: E402

HERE = Path(__file__).parent / 'ms' / 'data'
INTER = {'LINEAR': vision.Inter.LINEAR, 'NEAREST': vision.Inter.NEAREST}


def number(v, dtype):
    if dtype.kind != 'f':
        return str(int(v))
    if np.isnan(v):
        return 'nan'
    if np.isinf(v):
        return 'inf' if v > 0 else '-inf'
    if v == 0:
        return '-0.0' if np.signbit(v) else '0.0'
    return repr(float(v)) if dtype == np.float64 else '%.9g' % v


def block(name, a):
    a = np.asarray(a)
    lines, line = [], ''
    for v in a.ravel():
        v = number(v, a.dtype)
        if len(line) + len(v) > 70:
            lines.append(line)
            line = ''
        line += v + ', '
    lines.append(line.rstrip(', '))
    return '%s:\n  type: %s\n  shape: [%s]\n  values: [%s]\n' % (
        name, a.dtype, ', '.join(map(str, a.shape)),
        '\n           '.join(s.rstrip() for s in lines))


def emit(name, text, op, a):
    HERE.mkdir(parents=True, exist_ok=True)
    (HERE / (name + '.yaml')).write_text(
        'op: %s\n' % text + block('in', a) + block('out', op(a)))


def image(name, shape, dtype):
    r = np.random.RandomState(zlib.crc32(name.encode()))
    if dtype == np.uint8:
        return r.randint(0, 256, shape).astype(np.uint8)
    return r.uniform(-3, 3, shape).astype(dtype)


def rescale(name, scale, shift, text, a):
    emit('rescale_' + name, '{Rescale: {rescale: %s, shift: %r}}'
         % (text, shift), vision.Rescale(scale, shift), a)


ALL = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
rescale('bytes', 1 / 255, 0.0, '$(1/255)', ALL)
rescale('shift', 1 / 127.5, -1.0, '$(1/127.5)', ALL)
rescale('float', 0.3, 0.7, '0.3', image('rf', (5, 7, 3), np.float32))
rescale('int', 0.1, -0.2, '0.1', np.arange(-20, 20, dtype=np.int32))


def normalize(name, mean, std, a, more=''):
    emit('normalize_' + name, '{Normalize: {mean: %s, std: %s%s}}'
         % (mean, std, more), vision.Normalize(mean, std,
                                               is_hwc=not more), a)


F = vision.Rescale(1 / 255, 0)(ALL)
normalize('mnist', [0.1307], [0.3081], F)
normalize('bytes', [33.3], [78.6], ALL)
RGB = [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]
normalize('rgb', *RGB, image('nr', (4, 5, 3), np.float32))
normalize('broadcast', [0.5], [0.25], image('nb', (3, 4, 3), np.float32))
normalize('chw', *RGB, image('nc', (3, 4, 5), np.float32), ', is_hwc: false')
normalize('rank2', [0.5], [0.3], image('n2', (4, 5), np.float32))

emit('chain_mnist', '[{Rescale: {rescale: $(1/255), shift: 0.0}}, '
     '{Normalize: {mean: [0.1307], std: [0.3081]}}, HWC2CHW]',
     lambda a: vision.HWC2CHW()(vision.Normalize([0.1307], [0.3081])(
         vision.Rescale(1 / 255, 0)(a))), ALL)
emit('chain_rgb', '[{Rescale: {rescale: $(1/255), shift: 0.0}}, '
     '{Normalize: {mean: %s, std: %s}}, HWC2CHW]' % RGB,
     lambda a: vision.HWC2CHW()(vision.Normalize(*RGB)(
         vision.Rescale(1 / 255, 0)(a))), image('cr', (5, 6, 3), np.uint8))

for c in 1, 3, 4:
    emit('hwc2chw_%d' % c, 'HWC2CHW', vision.HWC2CHW(),
         image('h%d' % c, (3, 5, c), np.uint8))
emit('hwc2chw_float', 'HWC2CHW', vision.HWC2CHW(),
     image('hf', (2, 3, 3), np.float32))
emit('hwc2chw_rank2', 'HWC2CHW', vision.HWC2CHW(),
     image('h2', (3, 5), np.uint8))

TYPES = {'uint8': ms.uint8, 'int32': ms.int32, 'float32': ms.float32,
         'bool': ms.bool_}
FROM = {
    'float32': np.array([0, -0.0, 0.5, -0.5, 0.999, -1.9, 1.5, 2.5, 255.9,
                         256, 300.7, -300.7, 65536.5, 16777217], np.float32),
    'int32': np.array([0, 1, -1, 127, 128, 255, 256, 300, -300, 16777217,
                       2147483647, -2147483648], np.int32),
    'uint8': np.array([0, 1, 2, 127, 128, 255], np.uint8),
    'bool': np.array([False, True]),
}
for a in FROM:
    for b in TYPES:
        if a != b:
            emit('typecast_%s_%s' % (a, b), '{TypeCast: {data_type: %s}}' % b,
                 transforms.TypeCast(TYPES[b]), FROM[a])
emit('typecast_overflow', '{TypeCast: {data_type: int32}}',
     transforms.TypeCast(ms.int32),
     np.array([3e9, -3e9, np.inf, -np.inf, np.nan, 2147483520, -2147483648],
              np.float32))


def resize(name, size, how, a):
    text = size if isinstance(size, int) else list(size)
    emit('resize_' + name, '{Resize: {size: %s, interpolation: %s}}'
         % (text, how), vision.Resize(size, INTER[how]), a)


for how in INTER:
    for c in 1, 3:
        for t in np.uint8, np.float32:
            key = '%s_%s%d_' % (how.lower(), np.dtype(t).name, c)
            for label, shape, size in (
                    ('up', (5, 7), (9, 11)), ('down', (11, 9), (4, 5)),
                    ('mixed', (7, 5), (3, 12)), ('same', (5, 3), (5, 3)),
                    ('double', (4, 3), (8, 6)), ('half', (8, 6), (4, 3)),
                    ('one', (5, 6), (1, 1)), ('from_one', (1, 1), (3, 4))):
                resize(key + label, size, how, image(key + label,
                                                     shape + (c,), t))
    for label, shape, size in (('shorter_h', (5, 9, 1), 4),
                               ('shorter_w', (9, 5, 3), 7),
                               ('shorter_equal', (6, 6, 1), 3)):
        resize('%s_%s' % (how.lower(), label), size, how,
               image(label, shape, np.uint8))
    resize('%s_rank2' % how.lower(), (7, 4), how, image('r2', (5, 6),
                                                        np.uint8))
# 30 / 44 and 1 / (44 / 30) part at pixel 22
resize('nearest_short', (36, 44), 'NEAREST', image('ns', (10, 30, 1),
                                                   np.uint8))
for c in 1, 4:  # sums of four columns at once, and of the rest
    resize('linear_halves%d' % c, (3, 9), 'LINEAR', image('h%d' % c,
                                                          (6, 18, c),
                                                          np.float32))
resize('linear_mnist', (32, 32), 'LINEAR', image('rm', (28, 28, 1), np.uint8))
for how in INTER:
    resize('%s_corner' % how.lower(), (3, 4), how,
           np.array([[10, 200, 30], [40, 50, 250]], np.uint8)[..., None])


def onehot(name, classes, smoothing, a):
    more = ', smoothing_rate: %r' % smoothing if smoothing else ''
    op = transforms.OneHot(classes, smoothing)
    # Smoothing of several labels at once is broken in MindSpore 2.10.0: only
    # the last row gets its class. One by one it is right.
    emit('onehot_' + name, '{OneHot: {num_classes: %d%s}}' % (classes, more),
         (lambda v: np.stack([op(np.array(t, v.dtype)) for t in v]))
         if smoothing and a.ndim else op, a)


onehot('scalar', 4, 0.0, np.array(2, np.int32))
onehot('uint8', 10, 0.0, np.array(7, np.uint8))
onehot('vector', 5, 0.0, np.array([0, 4, 2], np.int32))
onehot('smooth', 4, 0.1, np.array(2, np.int32))
onehot('smooth_vector', 3, 0.25, np.array([1, 0], np.int32))
onehot('smooth_whole', 4, 1.0, np.array(3, np.int32))


def padend(name, shape, value, a):
    more = '' if value is None else ', pad_value: %r' % value
    emit('padend_' + name, '{PadEnd: {pad_shape: %s%s}}' % (shape, more),
         transforms.PadEnd(shape, value), a)


padend('vector', [6], None, np.array([1, 2, 3], np.int32))
padend('value', [6], -1, np.array([1, 2, 3], np.int32))
padend('float', [3, 5], 0.5, image('pf', (2, 3), np.float32))
padend('cut', [2], None, np.array([1, 2, 3], np.int32))
padend('cut_and_pad', [2, 5], 7, np.arange(12, dtype=np.uint8).reshape(4, 3))
padend('rank3', [3, 3, 2], 9, np.arange(8, dtype=np.uint8).reshape(2, 2, 2))
padend('same', [3], 1, np.array([1, 2, 3], np.int32))
