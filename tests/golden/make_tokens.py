#!/usr/bin/env python3
"""Writes ../cases/tokenizers/golden.yaml: texts and the words that MindSpore
2.10's BasicTokenizer makes of them. Texts with [UNK] and the like are
omitted with lower_case: 2.10 repeats what stands before them."""
import json
import os
import re

import mindspore
import mindspore.dataset.text as text

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = [
    "Hello, World! don't\tx-y  z",
    "  spaces \r\n and\u00a0others\u3000here\u2003 ",
    "\u00dcn\u00efc\u00f6d\u00e9 Stra\u00dfe \u0130stanbul \u01c5 \u00c5ngstr\u00f6m",
    "e\u0301 n\u0303 \u1e9b\u0323 \u0041\u030a",
    "\u4e2d\u6587\u5b57 mixed\u6587\u5b57here \u3041\u30a2 \ud55c\uad6d\uc5b4 \uac00",
    "\uff21\uff22\uff23 \uff11\uff12 \ufb01ne \u2163 \u2122 \u00bd \u00b2",
    "a\u00adb c\u200bd e\u200df \ufeffg",
    "3.14 #tag @me $5 50% a_b ~x^y |z| <b> `q` =+",
    "\u00abquoted\u00bb \u2018single\u2019 \u201cdouble\u201d \u2014 dash \u2026 \u00bfque\u00bf",
    "\u0391\u03a3\u03a3 \u039f\u0394\u039f\u03a3 \u0416\u0416\u0416 \u0419 \u0451",
    "\u05e9\u05c1\u05b8 \u0645\u064e\u0631 \ufefb \u0e01\u0e33 \u0958",
    "\U0001f600 emoji \U0001d400\U0001d7d8 \U00020000x \uf900",
    "x\u0001y\u007fz \u0085 w",
    "", " ", "a",
]
PAIR = r"\\u(d[89ab]..)\\u(d[cdef]..)"


def wide(m):  # YAML has no surrogates
    high, low = int(m[1], 16), int(m[2], 16)
    return "\\U%08x" % (0x10000 + ((high & 1023) << 10) + (low & 1023))


rows = []
for lower in (False, True):
    for keep in (False, True):
        op = text.BasicTokenizer(lower, keep)
        for t in TEXTS:
            if t == "":
                continue
            words = [str(w) for w in op(t)]
            if words == [""]:
                words = []
            rows.append({"lower_case": lower, "keep_whitespace": keep,
                         "text": t, "words": words})
for t in ["[CLS] a [SEP]b[unused12][UNKx] [unused]", "[MASK][PAD]."]:
    rows.append({"lower_case": False, "keep_whitespace": False, "text": t,
                 "words": [str(w) for w in text.BasicTokenizer()(t)]})
with open(os.path.join(HERE, "../cases/tokenizers/golden.yaml"), "w") as f:
    f.write("# MindSpore %s, by tests/golden/make_tokens.py\nrows:\n"
            % mindspore.__version__)
    for r in rows:
        f.write("- " + re.sub(PAIR, wide, json.dumps(r)) + "\n")
