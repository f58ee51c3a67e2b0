#!/usr/bin/env python3
"""Writes tests/golden/sk: what scikit-learn makes of tables.

Vectors of single ops for tests/cases/t_transforms.c; and a table with
missing values and categories: what its columns become, as arrays, so that a
network can be trained on either (tests/cli/table.bats).

Made with scikit-learn 1.9.1 and NumPy 2.4.6; run in the root of the tree.
"""
import os
import random

import numpy as np
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import (KBinsDiscretizer, MinMaxScaler,
                                   OneHotEncoder, StandardScaler)

OUT = "tests/golden/sk"
nan = float("nan")

# ---- single ops

SAMPLES = np.array([[1, 2, 10], [nan, 2, 30], [5, nan, 20], [7, 2, 50],
                    [7, 2, 40], [2.5, 2, nan], [0.25, 2, 60]])
X = np.array([[9, nan, 35], [nan, 2, 5], [2.5, 3, nan]])


def text(values):
    return ", ".join(".nan" if v != v else repr(float(v))
                     for v in np.asarray(values).ravel())


def vector(name, op, samples, x, y):
    for i in range(len(x)):
        with open(f"{OUT}/{name}_{i}.yaml", "w") as f:
            f.write("# Written by tests/golden/make_tables.py.\n"
                    f"op: {op}\nnear: 1e-6\nsamples:\n")
            for row in samples:
                f.write(f"  - [{text(row)}]\n")
            f.write(f"in: {{type: float32, shape: [{len(x[i])}], "
                    f"values: [{text(x[i])}]}}\n"
                    f"out: {{type: float32, shape: [{len(y[i])}], "
                    f"values: [{text(y[i])}]}}\n")


def vectors():
    for ours, theirs in (("mean", "mean"), ("median", "median"),
                         ("mode", "most_frequent")):
        s = SimpleImputer(strategy=theirs).fit(SAMPLES)
        vector("fill_" + ours, f"[{{FillMissing: {ours}}}]", SAMPLES, X,
               s.transform(X))
    s = SimpleImputer(strategy="constant", fill_value=-1.5).fit(SAMPLES)
    vector("fill_constant", "[{FillMissing: [constant, -1.5]}]", SAMPLES, X,
           s.transform(X))
    s = StandardScaler().fit(SAMPLES)
    f = SimpleImputer(strategy="constant", fill_value=0)
    vector("standardize", "[Standardize, {FillMissing: [constant, 0]}]",
           SAMPLES, X, f.fit_transform(s.transform(X)))
    filled, x = SAMPLES.copy(), X.copy()
    filled[np.isnan(filled)] = 3
    x[np.isnan(x)] = 3
    s = MinMaxScaler((-1, 2)).fit(filled)
    vector("min_max", "[{MinMax: [-1, 2]}]", filled, x, s.transform(x))
    many = np.random.default_rng(1).exponential(20, (41, 3)).round(2)
    many[:, 2] = np.arange(41) % 3 == 0     # too few values for the bins
    some = np.vstack([many[3:6], [[-1, 1e6, 0.5]]])
    s = KBinsDiscretizer(4, encode="ordinal", strategy="quantile",
                         quantile_method="linear").fit(many)
    vector("bucket", "[{Bucket: 4}]", many, some, s.transform(some))
    edges = [2.0, 10.5, 30.0]
    vector("bucket_edges", "[{Bucket: {edges: [2, 10.5, 30]}}]", many, some,
           np.digitize(some, edges))
    low, high = np.quantile(many, [0.1, 0.8], axis=0)
    vector("clip", "[{Clip: {quantiles: [0.1, 0.8]}}]", many, some,
           np.clip(some, low, high))
    vector("clip_bounds", "[{Clip: {min: 1, max: 20}}]", many, some,
           np.clip(some, 1, 20))
    vector("log", "[Log]", many, abs(some), np.log1p(abs(some)))


# ---- a table


def rows(n, rng, new):
    """New rows hold words that the others have not."""
    for i in range(n):
        sex = rng.choice(["male", "female"])
        port = rng.choice(["S", "C", "Q", "S"] + new)
        deck = rng.choice([3, 10, 2] + [7] * len(new))
        age = round(rng.gauss(30, 10), 1)
        fare = round(rng.expovariate(1 / 30), 2)
        up = (sex == "female") * 2 - age / 30 + rng.gauss(0, 0.5) > 0
        yield [age if rng.random() > 0.2 else rng.choice(["NA", "", "?"]),
               fare if rng.random() > 0.1 or not new else "null", sex,
               port if rng.random() > 0.1 else "", deck,
               "up" if up else "down"]


def table(name, data):
    with open(f"{OUT}/{name}.csv", "w") as f:
        f.write("age,fare,sex,port,deck,label\n")
        for r in data:
            f.write(",".join(map(str, r)) + "\n")
    missing = ("NA", "", "?", "null")
    numbers = np.array([[nan if v in missing else v for v in r[:2]]
                        for r in data], float)
    words = np.array([["" if v in missing else v for v in r[2:4]]
                      for r in data], object)
    deck = np.array([[r[4]] for r in data])
    return numbers, words, deck


def tables():
    rng = random.Random(3)
    data = [table("train", list(rows(60, rng, []))),
            table("rows", list(rows(30, rng, ["X", "Y"])))]
    numbers, words, deck = data[0]
    fill = SimpleImputer(strategy="median").fit(numbers)
    scale = StandardScaler().fit(fill.transform(numbers))
    # a word that does not occur stands for missing ones: it is no class, so
    # that it is as unknown as new words are
    one = [OneHotEncoder(categories=[sorted(set(w) - {""})], sparse_output=False,
                         handle_unknown="ignore").fit(c[c != ""].reshape(-1, 1))
           for w, c in ((words[:, i], words[:, i]) for i in (0, 1))]
    two = OneHotEncoder(sparse_output=False,
                        handle_unknown="ignore").fit(deck)
    flag = MissingIndicator(features="missing-only",
                            error_on_new=False).fit(numbers)
    for (numbers, words, deck), name in zip(data, ("train", "rows")):
        x = np.hstack([scale.transform(fill.transform(numbers))] +
                      [one[i].transform(words[:, i:i + 1]) for i in (0, 1)] +
                      [two.transform(deck), flag.transform(numbers)])
        np.save(f"{OUT}/{name}.npy", x.astype(np.float32))
        with open(f"{OUT}/{name}.csv") as f:
            up = [line.endswith("up\n") for line in f][1:]
        np.save(f"{OUT}/{name}_label.npy", np.array(up, np.int32))


os.makedirs(OUT, exist_ok=True)
vectors()
tables()
