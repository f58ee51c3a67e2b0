#!/usr/bin/env python3
"""PyTorch's DistributedDataParallel over gloo, the peer of `mpirun cellrun`:
the networks of torch_peer.py, a batch that is shared out, a step per update.
usage: OMP_NUM_THREADS=1 torchrun --nproc-per-node 2 peer_ddp.py \\
           DIR/torch_peer.py NET [--threads 1] [--batch 64] [--steps 100]
Prints the line of torch_peer.py, by process 0: samples_per_s is that of all
processes together."""
import builtins, json, runpy, sys
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group('gloo')
rank, n = dist.get_rank(), dist.get_world_size()
sys.argv = sys.argv[1:]
if '--threads' not in sys.argv:
    sys.argv += ['--threads', '1']
batch = 64
if '--batch' in sys.argv:
    i = sys.argv.index('--batch')
    batch = int(sys.argv[i + 1])
    del sys.argv[i:i + 2]
assert batch % n == 0, f'a batch of {batch} for {n} processes'
sys.argv += ['--batch', str(batch // n), '--mode', 'compile']
torch.compile = DistributedDataParallel  # what that mode wraps the network in
said = print


def all_of_them(line):
    if rank == 0:
        r = json.loads(line)
        r.update(peer='ddp', mode='gloo', processes=n, batch=batch)
        r['samples_per_s'] *= n
        r['best'] *= n
        said(json.dumps(r))


builtins.print = all_of_them
runpy.run_path(sys.argv[0], run_name='__main__')
dist.barrier()
dist.destroy_process_group()
