#!/usr/bin/env python3
"""Arrays, and how NumPy prints them: arrays.npz and arrays.txt next to this.

    python3 tests/golden/make_arrays.py

Made with NumPy 1.26.4, the one that MindSpore 2.10 brings along. NumPy 2.3
and later print float32 arrays of 1e6 and more with exponents, older ones from
1e8 on; these are the rules of the older ones.
"""
import os

import numpy as np

DIR = os.path.dirname(os.path.abspath(__file__))
TITLE = {"float32": "Float32", "float64": "Float64", "float16": "Float16",
         "int8": "Int8", "int32": "Int32", "int64": "Int64", "uint8": "UInt8",
         "uint64": "UInt64", "bool": "Bool"}


def arrays():
    r = np.random.default_rng(5)
    f = np.float32
    yield np.array([[1, 2.5, 0.1], [4, 1e-9, 6]], f)
    yield np.array([[-0.0042482, -0.00427286]], f)
    yield np.array([0, 1, 0, 2, 0], f)
    yield np.array([0.5, -0.25, 0.0, -0.0], f)
    yield np.array([1e-4, 1], f)
    yield np.array([1.0001e-4, 0.1], f)
    yield np.array([1, 1000], f)
    yield np.array([1, 1000.1], f)
    yield np.array([123456789, 99999999], f)
    yield np.array([16777216, 16777217, 99999992], f)
    yield np.array([1.5, np.nan, np.inf], f)
    yield np.array([1.5, -np.inf], f)
    yield np.array([1e-20, -np.inf, np.nan, 1e20], f)
    yield np.array([np.nan, np.nan], f)
    yield np.array([np.inf, -np.inf], f)
    yield np.array([1e-45, 3.4028235e38], f)
    yield (2.0 ** np.arange(-20, 20)).astype(f)
    yield (2.0 ** np.arange(-149, 127, 3)).astype(f)
    yield r.normal(size=(3, 7)).astype(f)
    yield r.normal(size=(2, 3, 4)).astype(f)
    yield r.normal(size=(2, 2, 2, 3)).astype(f)
    yield (r.normal(size=40) * 10.0 ** r.integers(-3, 3, 40)).astype(f)
    yield (r.normal(size=40) * 10.0 ** r.integers(-30, 30, 40)).astype(f)
    yield r.integers(0, 2 ** 32, 200, dtype=np.uint32).view(f)
    yield r.uniform(size=1000).astype(f)
    yield r.uniform(size=1001).astype(f)
    yield r.normal(size=(28, 40)).astype(f)
    yield r.normal(size=(200, 7)).astype(f)
    yield r.normal(size=(7, 200)).astype(f)
    yield r.normal(size=(3, 20, 20)).astype(f)
    yield r.normal(size=(8, 3, 9, 9)).astype(f)
    yield np.zeros((2, 600), f)
    for v in (0, 1, 0.1, 7.1, -2.3026, 1e-4, 1.0001e-4, 1e15, 1e16, 1.5e20,
              1e-5, 123456789, np.nan, -np.inf, 3.4028235e38, 1e-45):
        yield np.array(v, f)
    yield np.array([1, 2.5, 0.1, 65504, -6e-8]).astype(np.float16)
    yield r.normal(size=(2, 5)).astype(np.float16)
    yield np.array([1, 1000, 1001], np.float16)
    yield np.arange(0, 65536, 331, dtype=np.uint16).view(np.float16)
    yield np.array(0.1, np.float16)
    yield r.normal(size=(2, 5))
    yield np.array([0.1, 1 / 3, 2 / 3])
    yield np.array([1e300, 1e-300, 1 / 3])
    yield np.array(1 / 3)
    yield np.array([1.000000005, 1.000000015, 1.000000025])
    yield r.integers(0, 2 ** 64, 100, dtype=np.uint64).view(np.float64)
    yield np.array([[1, 2, 3], [-40, 5, 600]], np.int32)
    yield np.arange(2000, dtype=np.int32).reshape(50, 40)
    yield np.array([-128, 127], np.int8)
    yield np.array([-(2 ** 63), 2 ** 63 - 1], np.int64)
    yield np.array([2 ** 64 - 1, 0], np.uint64)
    yield np.arange(30, dtype=np.uint8)
    yield np.array(-7, np.int32)
    yield np.array([[True, False], [False, False]])
    yield np.array(True)
    yield np.ones(1200, bool)


def main():
    found = {"a%03d" % i: a for i, a in enumerate(arrays())}
    np.savez(os.path.join(DIR, "arrays.npz"), **found)
    with open(os.path.join(DIR, "arrays.txt"), "w", encoding="ascii") as out:
        for name, a in found.items():
            out.write("%s: Tensor(shape=[%s], dtype=%s, value=%s%s)\n" % (
                name, ", ".join(map(str, a.shape)), TITLE[a.dtype.name],
                "\n" if a.shape else "", str(a)))


main()
