#!/usr/bin/env python3
"""Writes tables/plants.csv and tables/reviews-{train,test}.csv next to this
file. The rows are generated from the numbers and words below, the same ones
every time."""
import csv
import os
import random

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables")

PLANTS = [  # mean and deviation of the four lengths, in centimetres
    ("setosa", [(5.0, 0.35), (3.4, 0.38), (1.5, 0.17), (0.2, 0.1)]),
    ("versicolor", [(5.9, 0.5), (2.8, 0.3), (4.3, 0.45), (1.3, 0.2)]),
    ("virginica", [(6.6, 0.6), (3.0, 0.3), (5.5, 0.5), (2.0, 0.27)]),
]

GOOD = """a joy from the first scene|warm, funny and clever|I loved it
wonderful acting|the best film of the year|moving and beautiful
a great story, well told|brilliant|it made me laugh and cry
I would watch it again""".replace("\n", "|").split("|")
BAD = """a waste of time|dull, loud and far too long|I hated it
wooden acting|the worst film of the year|boring and ugly
a weak story, badly told|terrible|it made me fall asleep
I walked out""".replace("\n", "|").split("|")
OPEN = ["Well,", "Honestly:", "So...", "My sister said:", "In short,", "",
        "\"Must see\", they said.", "Caf\u00e9 talk:"]
FILL = ["The music was there.", "We sat in row 7.", "It rained outside.",
        "My brother came too.", "There was popcorn.", "It ran 2 hours.",
        "The camera moves a lot.", "Some of it plays in Paris."]


def plants(rng):
    rows = []
    for name, sizes in PLANTS:
        for _ in range(50):
            rows.append([f"{max(0.1, rng.gauss(*s)):.1f}" for s in sizes]
                        + [name])
    rng.shuffle(rows)
    return [["sepal_length", "sepal_width", "petal_length", "petal_width",
             "species"]] + rows


def review(rng, good):
    # one of eight holds a word of the other side
    said = rng.sample(GOOD if good else BAD, rng.randint(1, 3))
    if rng.random() < 0.125:
        said[-1] += ", though " + rng.choice(BAD if good else GOOD)
    parts = [rng.choice(OPEN)] + rng.sample(FILL, rng.randint(0, 3))
    for s in said:
        parts.insert(rng.randint(1, len(parts)), s[0].upper() + s[1:]
                     + rng.choice([".", "!", "!!"]))
    return " ".join(p for p in parts if p)


def reviews(rng, n):
    rows = [[review(rng, i % 2 == 1), "pos" if i % 2 else "neg"]
            for i in range(n)]
    rng.shuffle(rows)
    return [["text", "label"]] + rows


def write(name, rows):
    with open(os.path.join(HERE, name), "w", newline="",
              encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows(rows)


rng = random.Random(7)
write("plants.csv", plants(rng))
write("reviews-train.csv", reviews(rng, 400))
write("reviews-test.csv", reviews(rng, 100))
