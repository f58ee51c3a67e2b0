"""Compares halving and asha with full training and with Optuna's pruner.

    make check-search-rungs VENV=DIR
    DIR/bin/python tests/search/compare_pruner.py RUNGS SWEEP... REPETITIONS

SWEEP is the folder of a sweep whose points were all trained to their end; their
learning curves are replayed, so that all methods see the same ones. In each
repetition one worker searches 81 points drawn from them, in random order.
Prints the median number of epochs until a point is trained to its end that is
among the best 5 % of all points, and until the best of the 81 is. Medians count
repetitions that never find one as infinite; their number is printed, too.

full: each point to its end; optuna: SuccessiveHalvingPruner. RUNGS is the
program of rungs.c. Needs optuna and numpy; not part of `make check`.
"""
import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys

import optuna

POINTS, ETA = 81, 3


def read(folder):
    """The curves of a sweep: a list per point; and whether more is better."""
    with open(os.path.join(folder, "sweep.tsv")) as f:
        rows = list(csv.DictReader(f, delimiter="\t"))
    metric = next(k for k in rows[0] if k.startswith("eval."))
    name = metric.removeprefix("eval.")
    curves = []
    for row in rows:
        if row["status"] != "done":  # the loss was not finite
            continue
        path = os.path.join(folder, row["id"], "metrics.jsonl")
        with open(path) as f:
            records = [json.loads(line) for line in f]
        curve = [r[name] for r in records if r["split"] == "eval"]
        if None not in curve:
            curves.append(curve)
    length = max(map(len, curves))
    return [c for c in curves if len(c) == length], name != "loss"


def full(curves, up):
    return [((i + 1) * len(c), i) for i, c in enumerate(curves)]


def ours(method):
    def run(curves, up):
        text = "\n".join(" ".join(map(repr, c)) for c in curves)
        out = subprocess.run(
            [RUNGS, method, "maximize" if up else "minimize", str(ETA), "1",
             str(len(curves[0]))], input=text, capture_output=True, text=True,
            check=True).stdout
        return [tuple(map(int, line.split())) for line in out.splitlines()]
    return run


def theirs(curves, up):
    study = optuna.create_study(
        direction="maximize" if up else "minimize",
        pruner=optuna.pruners.SuccessiveHalvingPruner(
            min_resource=1, reduction_factor=ETA))
    spent, done = 0, []

    def objective(trial):
        nonlocal spent
        for epoch, value in enumerate(curves[trial.number], 1):
            spent += 1
            trial.report(value, epoch)
            if epoch < len(curves[0]) and trial.should_prune():
                raise optuna.TrialPruned()
        done.append((spent, trial.number))
        return value

    study.optimize(objective, n_trials=len(curves))
    return done


def epochs(done, curves, good):
    return next((spent for spent, i in done if good(curves[i][-1])), math.inf)


def median(values):
    missed, middle = sum(map(math.isinf, values)), statistics.median(values)
    text = "-" if math.isinf(middle) else f"{middle:.1f}"
    return f"{text} ({missed} not found)" if missed else text


def compare(folder, n):
    curves, up = read(folder)
    sign = 1 if up else -1
    ends = sorted((sign * c[-1] for c in curves), reverse=True)
    limit = ends[math.ceil(0.05 * len(ends)) - 1]
    methods = {"full": full, "halving": ours("halving"),
               "asha": ours("asha"), "optuna": theirs}
    results = {name: ([], []) for name in methods}
    for seed in range(n):
        drawn = random.Random(seed).sample(curves, POINTS)
        best = max(sign * c[-1] for c in drawn)
        for name, method in methods.items():
            done = method(drawn, up)
            for to, aim in zip(results[name], (limit, best)):
                to.append(epochs(done, drawn, lambda v: sign * v >= aim))
    print(f"{os.path.basename(folder)}: {len(curves)} curves of "
          f"{len(curves[0])} epochs")
    for name, (first, last) in results.items():
        print(f"  {name:8} best 5 %: {median(first):22} best of {POINTS}: "
              f"{median(last)}", flush=True)


RUNGS = sys.argv[1]
optuna.logging.set_verbosity(optuna.logging.ERROR)
for sweep in sys.argv[2:-1]:
    compare(sweep, int(sys.argv[-1]))
