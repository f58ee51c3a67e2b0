"""Compares the search of tpe and random with Optuna's samplers.

    make check-search VENV=DIR
    DIR/bin/python tests/search/compare_optuna.py SEARCH REPETITIONS

SEARCH is the program of search.c. Prints the median of the best value after 25,
50 and 100 evaluations. Needs optuna and numpy; not part of `make check`.
"""
import math
import statistics
import subprocess
import sys

import numpy as np
import optuna

AT = (25, 50, 100)


def branin(trial):
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 0, 15)
    a = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    return a * a + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


ALPHA = [1, 1.2, 3, 3.2]
A = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14],
              [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]])
P = np.array([[.1312, .1696, .5569, .0124, .8283, .5886],
              [.2329, .4135, .8307, .3736, .1004, .9991],
              [.2348, .1451, .3522, .2883, .3047, .6650],
              [.4047, .8828, .8732, .5743, .1091, .0381]])


def hartmann6(trial):
    x = np.array([trial.suggest_float(f"x{i}", 0, 1) for i in range(6)])
    return -sum(a * math.exp(-(A[i] * (x - P[i])**2).sum())
                for i, a in enumerate(ALPHA))


def mixed(trial):
    kind = trial.suggest_categorical("kind", [0, 1, 2])
    rate = math.log10(trial.suggest_float("rate", 1e-5, 1, log=True))
    width = math.log2(trial.suggest_int("width", 8, 1024, log=True) / 200)
    y = (0.3, 0, 0.15)[kind] + 0.2 * (rate - (-3, -2, -1)[kind])**2
    y += 0.03 * width**2
    if kind == 1:
        y += 2 * (trial.suggest_float("momentum", 0, 1) - 0.9)**2
    return y


def theirs(function, sampler, n):
    rows = []
    for seed in range(n):
        study = optuna.create_study(sampler=sampler(seed=1000 + seed))
        study.optimize(function, n_trials=max(AT))
        rows.append(np.minimum.accumulate([t.value for t in study.trials]))
    return rows


def ours(search, function, method, n):
    text = subprocess.run([search, function.__name__, method, str(n),
                           str(max(AT)), "2001"], capture_output=True,
                          text=True, check=True).stdout
    return [[float(v) for v in line.split()] for line in text.splitlines()]


def show(function, name, rows):
    medians = [statistics.median(row[at - 1] for row in rows) for at in AT]
    print(f"{function.__name__:10} {name:14}",
          *(f"{m:10.4g}" for m in medians), flush=True)


def main(search, n):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    samplers = optuna.samplers
    for function in (branin, hartmann6, mixed):
        for method in ("random", "tpe"):
            show(function, method, ours(search, function, method, n))
        show(function, "optuna random",
             theirs(function, samplers.RandomSampler, n))
        show(function, "optuna tpe", theirs(function, samplers.TPESampler, n))


main(sys.argv[1], int(sys.argv[2]))
