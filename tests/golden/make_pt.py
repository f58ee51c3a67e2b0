#!/usr/bin/env python3
"""PyTorch's own files, which cellrun refuses by what is in them.

Run in the project's root with torch 2.15.0:

    python3 tests/golden/make_pt.py tests/golden/ckpt

Writes zip.pt (a zip with data.pkl, since PyTorch 1.6) and legacy.pt (a
sequence of pickles, before), each a state_dict of one Linear.
"""
import os
import sys

import torch

torch.manual_seed(1)
state = torch.nn.Linear(2, 1).state_dict()
torch.save(state, os.path.join(sys.argv[1], "zip.pt"))
torch.save(state, os.path.join(sys.argv[1], "legacy.pt"),
           _use_new_zipfile_serialization=False)
