#!/usr/bin/env python3
"""MindSpore's checkpoints as MindSpore 2.10.0 writes them, into ckpt/ and
configs/seeds/; see make_mindspore.py for the environment. Next to each is
what it holds as NPZ: two readers, one result (tests/cli/ms_ckpt.bats). And
files that MindSpore does not write, byte by byte, into the fuzzer's corpus."""
import os
import pathlib
import shutil
import struct
import tempfile
import threading
import zlib

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.common.initializer import Normal
from mindspore.train import serialization

HERE = pathlib.Path(__file__).resolve().parent
CKPT = HERE / 'ckpt'
CORPUS = HERE.parent / 'fuzz' / 'corpus' / 'ms_ckpt'
SEEDS = HERE.parent.parent / 'configs' / 'seeds'
os.chdir(tempfile.mkdtemp())


def save(path, what, **options):
    path.unlink(missing_ok=True)
    ms.save_checkpoint(what, str(path), **options)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and options.get(
                'async_save'):
            thread.join(5)
    path.chmod(0o644)


def listed(arrays):
    return [{'name': k, 'data': ms.Tensor(v)} for k, v in arrays.items()]


def npz(path, arrays):
    np.savez(path, **{k: v for k, v in arrays.items() if v is not None})


def types():
    """Every type; scalars, a text and numbers with them; with a CRC."""
    x = np.array([[0, 1, 2.5], [-3, 100, 7.25]])
    arrays = {name: x.astype(name)
              for name in 'int8 int16 int32 int64 float16 float32 float64'
              .split()}
    arrays |= {name: np.abs(x).astype(name)
               for name in 'uint8 uint16 uint32 uint64 bool'.split()}
    arrays['scalar'] = np.array(1.5, 'float32')
    arrays['many'] = np.arange(6, dtype='float32').reshape(1, 2, 1, 3, 1, 1)
    what = listed(arrays)
    what.append({'name': 'bfloat16',
                 'data': ms.Tensor(x.astype('float32')).astype(ms.bfloat16)})
    more = {'epoch_num': 3, 'rate': 0.5, 'done': True, 'note': 'h\u00e9 \u6f22'}
    for crc in (True, False):
        save(CKPT / ('types-crc.ckpt' if crc else 'types.ckpt'), what,
             append_dict=more, crc_check=crc)
    # no bfloat16 in NPZ: its values as float32
    npz(CKPT / 'types.npz',
        arrays | {'bfloat16': x.astype('float32'),
                  'epoch_num': np.array(3), 'done': np.array(True),
                  'rate': np.array(0.5, 'float32')})


def sliced():
    """Tensors cut into slices, which are of 512 MiB else: of 1 KiB here. The
    writer of device tensors cuts bytes, the one of numpy's along axis 0."""
    rng = np.random.default_rng(1)
    arrays = {'long': rng.standard_normal(700).astype('float32'),
              'wide': rng.standard_normal((7, 111)).astype('float32'),
              'short': rng.standard_normal(5).astype('float32')}
    size, serialization.SLICE_SIZE = serialization.SLICE_SIZE, 1
    save(CKPT / 'sliced.ckpt', listed(arrays), crc_check=True)
    save(CKPT / 'sliced-async.ckpt', listed(arrays), async_save='thread')
    serialization.SLICE_SIZE = size
    npz(CKPT / 'sliced.npz', arrays)


class Block(nn.Cell):
    """BasicBlock of configs/resnet18.yaml."""

    def __init__(self, come, go, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(come, go, 3, stride, 'pad', 1)
        self.bn1 = nn.BatchNorm2d(go)
        self.conv2 = nn.Conv2d(go, go, 3, 1, 'pad', 1)
        self.bn2 = nn.BatchNorm2d(go)
        self.down_sample = None
        if come != go:
            self.down_sample = nn.SequentialCell(
                nn.Conv2d(come, go, 1, stride), nn.BatchNorm2d(go))
        self.relu = nn.ReLU()

    def construct(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (self.down_sample(x) if self.down_sample else x))


class Net(nn.Cell):
    """ResNet-18's shape with 2, 3, 4, 5 channels instead of 64 to 512."""

    def __init__(self, widths, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, widths[0], 3, 1, 'pad', 1)
        self.bn1 = nn.BatchNorm2d(widths[0])
        come = widths[0]
        for i, go in enumerate(widths):
            stride = 1 if i == 0 else 2
            setattr(self, f'layer{i + 1}', nn.SequentialCell(
                Block(come, go, stride), Block(go, go, 1)))
            come = go
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Dense(come, classes)

    def construct(self, x):
        x = nn.ReLU()(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.pool(x).view(x.shape[0], -1))


class Wrapped(nn.Cell):
    def __init__(self, module):
        super().__init__()
        self.module = module


def backbone():
    """Weights for `load`: names begin with `module.`, the classifier is called
    fc and has 10 classes."""
    ms.set_seed(1)
    rng = np.random.default_rng(2)
    net = Wrapped(Net([2, 3, 4, 5], 10))
    arrays = {}
    for p in net.get_parameters():
        value = rng.normal(0, 0.3, p.shape)
        if p.name.endswith(('moving_variance', 'gamma')):
            value = 1 + np.abs(value)
        p.set_data(ms.Tensor(value.astype('float32')))
        arrays[p.name] = p.asnumpy()
    save(CKPT / 'backbone.ckpt', net)
    x = rng.standard_normal((3, 3, 16, 16)).astype('float32')
    net.set_train(False)
    np.save(CKPT / 'backbone-x.npy', x)
    npz(CKPT / 'backbone.npz', arrays)
    npz(CKPT / 'backbone-out.npz',
        {'output': net.module(ms.Tensor(x)).asnumpy()})


def training():
    """A training network: slots, steps and rates with the weights."""
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(3, 4, weight_init=Normal(0.5)), nn.ReLU(),
                            nn.Dense(4, 2, weight_init=Normal(0.5)))
    optim = nn.Adam(net.trainable_params(), 0.01)
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.CrossEntropyLoss()), optim)
    step.set_train()
    rng = np.random.default_rng(3)
    for _ in range(3):
        step(ms.Tensor(rng.standard_normal((5, 3)).astype('float32')),
             ms.Tensor(rng.integers(0, 2, 5).astype('int32')))
    save(CKPT / 'training.ckpt', step,
         append_dict={'epoch_num': 1, 'step_num': 3})
    npz(CKPT / 'training.npz', {p.name: p.asnumpy()
                                for p in step.get_parameters()})


def dense():
    """Dense(2, 1) with the numbers of configs/seeds/dense.yaml."""
    net = nn.Dense(2, 1)
    net.weight.set_data(ms.Tensor([[-0.0042482, -0.00427286]], ms.float32))
    net.bias.set_data(ms.Tensor([0.], ms.float32))
    save(SEEDS / 'dense.ckpt', net)


def varint(n):
    n &= (1 << 64) - 1
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def value(tag, dims, kind, content, more=b''):
    """A whole file of one Value; `dims` as bytes or as a list."""
    if not isinstance(dims, bytes):
        dims = b''.join(b'\x08' + varint(d) for d in dims)
    tensor = dims + field(2, kind) + field(3, content)
    return field(1, field(1, tag) + field(2, tensor) + more)


def summed(data):
    return data + b'crc_num' + zlib.crc32(data).to_bytes(10, 'big')


def corpus():
    """Name, file: everything unusual that the format allows, and
    what must be refused (names that begin with bad-)."""
    f4 = struct.pack('<6f', *range(6))
    w = value(b'w', [2, 3], b'Float32', f4)
    note = 'h\u00e9'.encode('utf-32-le')
    tensor = b'\x08\x02' + field(2, b'Float32') + field(3, f4[:8])
    yield 'golden', bytes.fromhex(
        '0a340a0966632e776569676874122708020803'
        '1207466c6f617433321a18000000000000803f0000004000004040000080400000a0'
        '400a1d0a08737465705f6e756d12111205496e7436341a082c010000000000000a19'
        '0a046e6f74651211080012037374721a0868000000e90000006372635f6e756d0000'
        '00000000dc193fb6')
    yield 'packed', value(b'w', field(1, b'\x02\x03'), b'Float32', f4)
    yield 'mixed', value(b'w', b'\x08\x02' + field(1, b'\x03'), b'Float32',
                         f4)
    yield 'slices', value(b'w', [3], b'Float32', f4[:5]) + value(
        b'w', [3], b'Float32', f4[5:5]) + value(b'w', [3], b'Float32', f4[5:12])
    yield 'old-scalar', value(b'w', [0], b'Float32', f4[4:8])
    yield 'none', value(b'w', [0], b'Float32', b'')
    yield 'again', w + value(b'v', [], b'Bool', b'\x07') + value(
        b'w', [], b'Int8', b'\x05')
    yield 'skipped', value(b'random_op', [0], b'random_op', b'xyz') + w + value(
        b'q', [2, 3], b'Int4', b'abc') + value(b'c', [1], b'Complex64', f4[:8])
    yield 'map', w + field(1, field(1, b'table') + field(3, field(1, w)))
    yield 'backwards', field(1, field(2, field(3, f4) + field(2, b'Float32') +
                                      b'\x08\x06') + field(1, b'w'))
    yield 'unknown', field(1, b'\x20\x05' + field(1, b'w') + field(
        9, b'later') + b'\x55abcd\x59abcdefgh' + field(2, tensor + field(7, b'')))
    yield 'merged', field(1, field(1, b'v') + field(2, tensor[:2]) + field(
        1, b'w') + field(2, tensor[2:]))
    yield 'flat', field(1, field(1, b'w') + field(2, b'\x08\x01' * 9 + field(
        2, b'Float32') + field(3, f4[:4])))
    yield 'note', summed(value(b'note', [0], b'str', note))
    yield 'bad-crc', summed(w)[:-1] + b'!'
    yield 'bad-crc-high', summed(w)[:-10] + b'\x01' + summed(w)[-9:]
    yield 'bad-encrypted', b'\xd8\x5e\x3a\x7f' + bytes(40)
    yield 'bad-group', field(1, field(1, b'w') + b'\x23\x24')
    yield 'bad-wire', field(1, b'\x08\x05' + field(2, tensor))
    yield 'bad-zero', field(1, b'\x02\x00' + field(1, b'w') + field(2, tensor))
    yield 'bad-varint', field(1, field(1, b'w') + field(
        2, b'\x08' + b'\xff' * 9 + b'\x02' + tensor))
    yield 'bad-length', b'\x0a' + varint(1 << 40) + w
    yield 'bad-inner', field(1, field(1, b'w') + b'\x12\x7f' + tensor)
    yield 'bad-negative', value(b'w', [-1], b'Float32', f4)
    yield 'bad-product', value(b'w', [1 << 40, 1 << 40], b'Float32', f4)
    yield 'bad-bytes', value(b'w', [1 << 61], b'Float64', f4)
    yield 'bad-rank', value(b'w', [1] * 33, b'Float32', f4[:4])
    yield 'bad-short', value(b'w', [2, 4], b'Float32', f4)
    yield 'bad-long', w + w
    yield 'bad-shapes', value(b'w', [2], b'Float32', f4[:4]) + value(
        b'w', [3], b'Float32', f4[:4])
    yield 'bad-name', value(b'w\0', [2, 3], b'Float32', f4)
    yield 'bad-utf8', value(b'\xff\xfe', [2, 3], b'Float32', f4)
    yield 'bad-no-name', value(b'', [2, 3], b'Float32', f4)
    yield 'bad-type', value(b'w', [2, 3], b'Float 32', f4)
    yield 'bad-no-tag', field(1, field(2, tensor))
    yield 'bad-no-tensor', field(1, field(1, b'w'))
    yield 'bad-no-content', field(1, field(1, b'w') + field(2, tensor[:11]))
    yield 'bad-text', value(b'note', [0], b'str', b'\0\0\x11\0')
    yield 'bad-surrogate', value(b'note', [0], b'str', b'\0\xd8\0\0')
    yield 'bad-head', value(b'w', field(1, b'\x01' * 70000), b'Float32', f4)
    yield 'bad-trailing', w + b'\x12\x00'


def samples():
    shutil.rmtree(CORPUS, ignore_errors=True)
    CORPUS.mkdir(parents=True)
    for name, data in corpus():
        (CORPUS / name).write_bytes(data)
    for name in ('types-crc', 'sliced', 'training'):
        shutil.copy(CKPT / f'{name}.ckpt', CORPUS / name)


def main():
    CKPT.mkdir(exist_ok=True)
    for make in (types, sliced, backbone, training, dense, samples):
        make()


if __name__ == '__main__':
    main()
