#!/usr/bin/env python3
"""The recipe of configs/resnet20.yaml in PyTorch: the reference for cellrun's curve.

usage: peer_resnet20.py CIFAR_FOLDERS [--seed S] [--epochs E] [--threads N]
CIFAR_FOLDERS holds train/CLASS/*.jpg and test/CLASS/*.jpg. One line per epoch: epoch, loss, accuracy.
Same network (projections where the stride is 2), MindSpore's initial weights (convolution and Dense
uniform in +-1/sqrt(fan_in)), crop with padding 4, flip, Normalize, Momentum 0.9, decay 5e-4 on all
parameters, cosine from 0.1 to 0 over all updates, batch 64, last part of an epoch dropped.
"""
import argparse, math, pathlib, time
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from PIL import Image

a = argparse.ArgumentParser()
a.add_argument('folder'); a.add_argument('--seed', type=int, default=1)
a.add_argument('--epochs', type=int, default=10); a.add_argument('--threads', type=int, default=2)
a = a.parse_args()
torch.manual_seed(a.seed); torch.set_num_threads(a.threads)


def load(part):
    x, y = [], []
    for label, folder in enumerate(sorted(p for p in (pathlib.Path(a.folder) / part).iterdir() if p.is_dir())):
        for f in sorted(folder.iterdir()):
            x.append(np.asarray(Image.open(f).convert('RGB'))); y.append(label)
    return torch.from_numpy(np.stack(x)).permute(0, 3, 1, 2).contiguous(), torch.tensor(y)


class Block(nn.Module):
    def __init__(s, i, o, stride):
        super().__init__()
        s.c1, s.b1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        s.c2, s.b2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        s.down = nn.Identity()
        if stride != 1:
            s.down = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

    def forward(s, x):
        y = s.b2(s.c2(F.relu(s.b1(s.c1(x)))))
        return F.relu(y + s.down(x))


cells, i = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()], 16
for o, stride in (16, 1), (32, 2), (64, 2):
    for k in range(3):
        cells.append(Block(i, o, stride if k == 0 else 1)); i = o
net = nn.Sequential(*cells, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).to(memory_format=torch.channels_last)
mean = torch.tensor([0.4914, 0.4822, 0.4465]).view(1, 3, 1, 1); std = torch.tensor([0.2470, 0.2435, 0.2616]).view(1, 3, 1, 1)
ready = lambda x: ((x.float() / 255 - mean) / std).contiguous(memory_format=torch.channels_last)
(x, y), (tx, ty) = load('train'), load('test')
steps = len(x) // 64
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9, weight_decay=5e-4)
rate = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: 0.5 * (1 + math.cos(math.pi * k / (a.epochs * steps))))
for epoch in range(1, a.epochs + 1):
    order, total, start = torch.randperm(len(x)), 0.0, time.time()
    net.train()
    for k in range(steps):
        at = order[64 * k:64 * k + 64]
        b = F.pad(x[at], (4, 4, 4, 4))
        u, v, flip = torch.randint(9, (64,)).tolist(), torch.randint(9, (64,)).tolist(), torch.rand(64) < 0.5
        b = torch.stack([b[n, :, u[n]:u[n] + 32, v[n]:v[n] + 32] for n in range(64)])
        b = torch.where(flip.view(-1, 1, 1, 1), b.flip(3), b)
        loss = F.cross_entropy(net(ready(b)), y[at])
        opt.zero_grad(); loss.backward(); opt.step(); rate.step(); total += loss.item()
    net.eval(); right = 0
    with torch.no_grad():
        for k in range(0, len(tx), 500):
            right += (net(ready(tx[k:k + 500])).argmax(1) == ty[k:k + 500]).sum().item()
    print(f'{epoch} {total / steps:.4f} {right / len(tx):.4f} {time.time() - start:.0f}s', flush=True)
