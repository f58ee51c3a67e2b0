#!/usr/bin/env python3
"""nanoGPT's recipe for a CPU in PyTorch, the peer of configs/nanogpt.yaml:
the same network, optimizer, schedule, batches of random offsets and
evaluations; time of the whole run and losses.
usage: peer_nanogpt.py tinyshakespeare.txt [--steps 2000] [--threads 2]
       [--compile]"""
import argparse, json, math, resource, time
T0 = time.time()
ap = argparse.ArgumentParser()
ap.add_argument('text')
ap.add_argument('--steps', type=int, default=2000)
ap.add_argument('--threads', type=int, default=2)
ap.add_argument('--compile', action='store_true')
ap.add_argument('--seed', type=int, default=1)
a = ap.parse_args()
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(a.seed)
torch.set_num_threads(a.threads)
D, HEADS, DEPTH, LENGTH, BATCH = 128, 4, 4, 64, 12
text = open(a.text).read()
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text])
cut = int(0.9 * len(data))
train, test = data[:cut], data[cut:]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(D, bias=False)
        self.c_attn = nn.Linear(D, 3 * D, bias=False)
        self.c_proj = nn.Linear(D, D, bias=False)
        self.ln_2 = nn.LayerNorm(D, bias=False)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D, bias=False), nn.GELU(),
                                 nn.Linear(4 * D, D, bias=False))

    def forward(self, x):
        n, t, _ = x.shape
        q, k, v = (u.view(n, t, HEADS, D // HEADS).transpose(1, 2)
                   for u in self.c_attn(self.ln_1(x)).split(D, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).reshape(n, t, D))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(len(chars), D)
        self.wpe = nn.Parameter(0.02 * torch.randn(LENGTH, D))
        self.h = nn.Sequential(*(Block() for _ in range(DEPTH)))
        self.ln_f = nn.LayerNorm(D, bias=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                out = name.endswith(('c_proj.weight', 'mlp.2.weight'))
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * DEPTH if out else 1))

    def forward(self, tokens):
        x = self.h(self.wte(tokens) + self.wpe)
        return F.linear(self.ln_f(x), self.wte.weight)


net = GPT()
run = torch.compile(net) if a.compile else net
opt = torch.optim.AdamW(
    [{'params': [p for p in net.parameters() if p.dim() == 2],
      'weight_decay': 0.1},
     {'params': [p for p in net.parameters() if p.dim() < 2],
      'weight_decay': 0.0}], lr=1e-3, betas=(0.9, 0.99))


def rate(s):
    if s < 100:
        return 1e-3 * (s + 1) / 100
    return 1e-4 + 0.5 * 9e-4 * (1 + math.cos(math.pi * (s - 100) / (a.steps - 100)))


def loss_of(x, y):
    out = run(x)
    return F.cross_entropy(out.view(-1, len(chars)), y.reshape(-1))


@torch.no_grad()
def evaluate():
    x = test[:len(test) - 1 - (len(test) - 1) % LENGTH].view(-1, LENGTH)
    y = test[1:1 + x.numel()].view(-1, LENGTH)
    total = sum(loss_of(x[i:i + 60], y[i:i + 60]).item() * len(x[i:i + 60])
                for i in range(0, len(x), 60))
    return total / len(x)


offsets = torch.arange(LENGTH)
for s in range(a.steps):
    at = torch.randint(len(train) - LENGTH - 1, (BATCH, 1)) + offsets
    for group in opt.param_groups:
        group['lr'] = rate(s)
    opt.zero_grad()
    loss_of(train[at], train[at + 1]).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    if (s + 1) % 250 == 0:
        print(f'step {s + 1}  eval loss {evaluate():.4f}', flush=True)
print(json.dumps(dict(
    peer='torch', version=torch.__version__, steps=a.steps,
    wall_s=round(time.time() - T0, 2),
    rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)))
