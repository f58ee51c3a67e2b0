#!/usr/bin/env python3
"""Golden vectors of the recurrent cells from MindSpore 2.10.0 (CPU, PyNative),
into ms/; see make_mindspore.py for the environment. Arguments name the cases
to make, all without.

With PyTorch instead (make_torch.py's environment) it makes those where
MindSpore's approximate tanh shows, into pt/, and computes the others in double
precision too: it ends with 1 if a tensor of ms/ is off by more than 2e-5 of its
largest element.

The cell is after a Dense and gets its states from another, so that their
gradients show what reaches x and hx; the results are those of the sequence
and all last states, side by side."""
import sys

import numpy as np
from safetensors.numpy import load_file, save_file

import cases as k

k.CASES.clear()
TANH = 'rnn_odd', 'rnn_cell_batch1'
I, H = 5, 3


def case(name, cell, layers=1, dirs=1, states=True, seq=False, first=True,
         n=3, steps=4, size=H, mode='--grad', **args):
    """A cell over a sequence; seq: samples of 1, 2 ... n steps."""
    pair = cell == 'LSTM'
    args = dict(hidden_size=size, **args)
    if layers > 1:
        args['num_layers'] = layers
    if dirs > 1:
        args['bidirectional'] = True
    if first:
        args['batch_first'] = True
    d = layers * dirs
    text = ['return concat((flatten(y), h_n), 1)']
    turn = 'flatten(transpose(%s, (1, 0, 2)))'
    if pair:
        text.insert(0, 'h_n = concat((%s, %s), 1)' % (turn % 'h', turn % 'c'))
    else:
        text.insert(0, 'h_n = ' + turn % 'h')
    if not first:
        text.insert(0, 'y = transpose(y, (1, 0, 2))')
    hx = []
    if states:
        pick = 'transpose(reshape(s[:, %d:%d], (%d, %d, %d)), (1, 0, 2))'
        w = d * size
        one = [pick % (i * w, i * w + w, n, d, size) for i in range(1 + pair)]
        hx = ['(%s)' % ',\n          '.join(one) if pair else one[0]]
    elif seq:
        hx = ['None']
    if seq:
        hx.append('arange(1, %d)' % (n + 1))
    text.insert(0, '%s = rec(%s)' % ('y, (h, c)' if pair else 'y, h',
                                     ', '.join(['z'] + hx)))
    if pair:  # pairs are taken apart by index
        text[0] = text[0].replace('y, (h, c)', 'y, last', 1)
        text.insert(1, 'h, c = last')
    if states:
        text.insert(0, 's = first(x[:, 0])')
    text.insert(0, 'z = pre(x)')
    if not first:
        text.insert(1, 'z = transpose(z, (1, 0, 2))')
    cells = ['pre: {Dense: [%d, %d]}' % (I, I)]
    if states:
        cells.append('first: {Dense: [%d, %d]}' % (I, d * size * (1 + pair)))
    cells.append('rec: {%s: {%s}}' % (cell, flow(dict(input_size=I, **args))))
    write(name, cells, text, (n, steps, I), mode,
          dict(cell=cell, states=states, seq=seq, first=first, d=d, size=size,
               n=n, args=args))


def flow(args):
    return ', '.join('%s: %s' % (a, str(b).lower() if b in (True, False)
                                 else b) for a, b in args.items())


def single(name, cell, n=3, size=H, **args):
    """Two steps of a cell for one step, written out."""
    pair = cell == 'LSTMCell'
    text = ['z = pre(x)', 's = first(x[:, 0])']
    if pair:
        text += ['h, c = rec(z[:, 0], (s[:, :%d], s[:, %d:]))' % (size, size),
                 'h, c = rec(z[:, 1], (h, c))', 'return concat((h, c), 1)']
    else:
        text += ['h = rec(z[:, 0], s)', 'return rec(z[:, 1], h)']
    args = dict(hidden_size=size, **args)
    cells = ['pre: {Dense: [%d, %d]}' % (I, I),
             'first: {Dense: [%d, %d]}' % (I, size * (1 + pair)),
             'rec: {%s: {%s}}' % (cell, flow(dict(input_size=I, **args)))]
    write(name, cells, text, (n, 2, I), '--grad',
          dict(cell=cell, states=True, seq=False, first=True, d=1, size=size,
               n=n, args=args))


def write(name, cells, text, x, mode, net):
    network = '  cells:\n%s  construct: |\n%s' % (
        ''.join('    %s\n' % c for c in cells),
        ''.join('    %s\n' % t for t in text))
    k.case(name, network, x=x, cmd=mode,
           ref='pt' if name in TANH else 'ms', near='--rtol 2e-5 --atol 2e-6')
    k.CASES[name]['net'] = net


for kind in 'RNN', 'GRU', 'LSTM':
    low = kind.lower()
    case(low, kind)
    case(low + '_zeros', kind, states=False)
    case(low + '_time', kind, first=False, n=2, steps=5)
    case(low + '_batch1', kind, n=1, steps=7)
    case(low + '_no_bias', kind, has_bias=False)
    case(low + '_both', kind, dirs=2)
    case(low + '_layers', kind, layers=3, n=2)
    case(low + '_layers_both', kind, layers=2, dirs=2, first=False)
    case(low + '_odd', kind, n=5, steps=3, size=19)
    case(low + '_one_step', kind, steps=1, dirs=2)
    case(low + '_lengths', kind, seq=True)
    case(low + '_lengths_zeros', kind, seq=True, states=False)
    case(low + '_lengths_both', kind, seq=True, dirs=2, n=4, steps=5)
    case(low + '_dropout_eval', kind, layers=2, dropout=0.5,
         mode='--eval --grad')
    single(low + '_cell', kind + 'Cell')
    single(low + '_cell_batch1', kind + 'Cell', n=1, size=9)
    single(low + '_cell_no_bias', kind + 'Cell', has_bias=False)
case('rnn_relu', 'RNN', nonlinearity='relu')
case('rnn_relu_layers', 'RNN', nonlinearity='relu', layers=2, dirs=2)
single('rnn_cell_relu', 'RNNCell', nonlinearity='relu')


def run_mindspore(c):
    import mindspore as ms
    from mindspore import nn, ops

    import make_mindspore as m  # sets the context

    net, o = c['net'], c['net']['args']
    pair = net['cell'].startswith('LSTM')
    one = net['cell'].endswith('Cell')
    d, size, n = net['d'], net['size'], net['n']

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.pre = nn.Dense(I, I)
            if net['states']:
                self.first = nn.Dense(I, d * size * (1 + pair))
            self.rec = getattr(nn, net['cell'])(I, **o)

        def construct(self, x):
            z = self.pre(x)
            s = self.first(x[:, 0]) if net['states'] else None
            if one:
                h = (s[:, :size], s[:, size:]) if pair else s
                h = self.rec(z[:, 0], h)
                h = self.rec(z[:, 1], h)
                return ops.concat(h, 1) if pair else h
            hx = None
            if s is not None:
                w = d * size
                hx = [ops.transpose(s[:, i * w:i * w + w].reshape(n, d, size),
                                    (1, 0, 2)) for i in range(1 + pair)]
                hx = tuple(hx) if pair else hx[0]
            if not net['first']:
                z = ops.transpose(z, (1, 0, 2))
            seq = ms.Tensor(np.arange(1, n + 1), ms.int32)
            y, h = self.rec(z, hx, seq if net['seq'] else None)
            if not net['first']:
                y = ops.transpose(y, (1, 0, 2))
            h = h if pair else (h,)
            h = [ops.transpose(a, (1, 0, 2)).reshape(n, -1) for a in h]
            return ops.concat([y.reshape(n, -1)] + h, 1)

    m.build = lambda tree: Net()
    x, label, start, ref = m.run(c)
    # of the cells' own outputs, tuples have other names here
    ref = {a: b for a, b in ref.items()
           if '.rec' not in a or a.startswith('grad.rec')}
    return x, label, start, m.tidy(ref)


def run_torch(c):
    """The cells in double precision, from the formulas of PyTorch's."""
    import torch
    from torch import nn

    torch.set_default_dtype(torch.float64)
    net, o = c['net'], dict(c['net']['args'])
    o['bias'] = o.pop('has_bias', True)
    rec = getattr(nn, net['cell'])(I, **o)
    if '--eval' in c['cmd']:
        rec.eval()
    pair = net['cell'].startswith('LSTM')
    one = net['cell'].endswith('Cell')
    d, size, n = net['d'], net['size'], net['n']
    shapes = {'pre.weight': (I, I), 'pre.bias': (I,)}
    if net['states']:
        w = d * size * (1 + pair)
        shapes.update({'first.weight': (w, I), 'first.bias': (w,)})
    shapes.update({'rec.' + a: b.shape for a, b in rec.named_parameters()})
    start = k.weights(c, shapes)
    folder = k.HERE / 'ms' / c['name']
    if c['ref'] == 'ms':
        start = load_file(folder / 'weights.safetensors')
    p = {a: torch.tensor(b, dtype=torch.float64, requires_grad=True)
         for a, b in start.items()}

    def call(*a):
        return torch.func.functional_call(
            rec, {b[4:]: v for b, v in p.items() if b.startswith('rec.')}, a)

    x = torch.tensor(k.feed_x(c), dtype=torch.float64)
    z = x @ p['pre.weight'].T + p['pre.bias']
    s = None
    if net['states']:
        s = x[:, 0] @ p['first.weight'].T + p['first.bias']
    if one:
        h = (s[:, :size], s[:, size:]) if pair else s
        h = call(z[:, 1], call(z[:, 0], h))
        out = torch.cat(h, 1) if pair else h
    else:
        hx = None
        if s is not None:
            w = d * size
            hx = [s[:, i * w:i * w + w].reshape(n, d, size).permute(1, 0, 2)
                  .contiguous() for i in range(1 + pair)]
            hx = tuple(hx) if pair else hx[0]
        if not net['first']:
            z = z.permute(1, 0, 2)
        steps = z.shape[1 if net['first'] else 0]
        if net['seq']:
            z = nn.utils.rnn.pack_padded_sequence(
                z, torch.arange(1, n + 1), batch_first=net['first'],
                enforce_sorted=False)
        y, h = call(z, hx) if hx is not None else call(z)
        if net['seq']:
            y, _ = nn.utils.rnn.pad_packed_sequence(
                y, batch_first=net['first'], total_length=steps)
        if not net['first']:
            y = y.permute(1, 0, 2)
        h = h if pair else (h,)
        h = [a.permute(1, 0, 2).reshape(n, -1) for a in h]
        out = torch.cat([y.reshape(n, -1)] + h, 1)
    label = torch.tensor(k.feed_label(c, tuple(out.shape)),
                         dtype=torch.float64)
    loss = ((out - label) ** 2).mean()
    loss.backward()
    got = {'output': out, 'loss': loss}
    got.update({'grad.' + a: b.grad for a, b in p.items()})
    got = {a: b.detach().numpy() for a, b in got.items()}
    if c['ref'] == 'pt':
        k.write(c, k.HERE / 'pt' / c['name'], k.feed_x(c),
                k.feed_label(c, tuple(out.shape)), start,
                {a: np.array(b, np.float32, order='C')
                 for a, b in got.items()}, save_file)
        return 0
    ref, bad = load_file(folder / 'ref.safetensors'), 0
    for a, b in got.items():
        off = np.abs(b - ref[a]).max() / max(np.abs(b).max(), 1e-30)
        if off > 2e-5:
            print('%s: %s is off by %.1e' % (c['name'], a, off))
            bad += 1
    return bad


if __name__ == '__main__':
    try:
        import torch  # noqa: F401
        mine = 'pt'
    except ImportError:
        mine = 'ms'
    bad = 0
    for c in k.CASES.values():
        if c['name'] not in (sys.argv[1:] or k.CASES):
            continue
        if mine == 'pt':
            bad += run_torch(c)
        elif c['ref'] == 'ms':
            k.write(c, k.HERE / 'ms' / c['name'], *run_mindspore(c), save_file)
    sys.exit(bad > 0)
