#!/usr/bin/env python3
"""Golden vectors of MultiheadAttention, the layers, encoder and decoder of
Transformers, Transformer and the seeds' PositionalEncoding from MindSpore
2.10.0 (CPU, PyNative), into ms/; see make_mindspore.py for the environment.
Arguments name the cases to make, all without.

Each case has a Dense in front, whose gradients show those of what goes in.
Dropout is 0 in training, where it would be random, and not in prediction."""
import sys

import numpy as np
from safetensors.numpy import save_file

import cases as k
import make_mindspore as m

ms, nn, ops = m.ms, m.nn, m.ms.ops
k.CASES.clear()
NETS = {}
NEAR = '--rtol 2e-5 --atol 2e-6'


def case(name, cells, lines, x, construct, cmd='--grad',
         scale=1.0, near=NEAR):
    """cells: name -> (text of the config, function that makes MindSpore's);
    lines: the config's construct, construct: the same in Python, with the
    cells as attributes of its first argument."""
    text = '  cells:\n    fc: {Dense: [%d, %d]}\n' % (x[-1], x[-1])
    for cell, (config, _) in cells.items():
        text += '    %s: {%s}\n' % (cell, config)
    text += '  construct: |\n    h = fc(x)\n'
    text += ''.join('    %s\n' % line for line in lines.split('; '))
    k.case(name, text, x=x, cmd=cmd, near=near, scale=scale)
    NETS[name] = {'fc': lambda: nn.Dense(x[-1], x[-1]),
                  **{n: c[1] for n, c in cells.items()}}, construct


class Net(nn.Cell):
    def __init__(self, cells, construct):
        super().__init__()
        self.lines = construct
        for name, make in cells.items():
            setattr(self, name, make())

    def construct(self, x):
        return self.lines(self, self.fc(x), x)


def mha(e, h, **more):
    text = ''.join(', %s: %s' % (n, str(v).lower()) for n, v in more.items())
    return ('MultiheadAttention: {embed_dim: %d, num_heads: %d%s}'
            % (e, h, text), lambda: nn.MultiheadAttention(e, h, **more))


def layer(d, h, f, p=0.0, kind='Encoder', **more):
    text = ''.join(', %s: %s' % (n, str(v).lower()) for n, v in more.items())
    return ('Transformer%sLayer: {d_model: %d, nhead: %d, '
            'dim_feedforward: %d, dropout: %s%s}' % (kind, d, h, f, p, text),
            lambda: getattr(nn, 'Transformer%sLayer' % kind)(d, h, f, p,
                                                             **more))


def encoder(one, n, norm, kind='Encoder'):
    text, make = one
    return ('Transformer%s: {%s_layer: {%s}, num_layers: %d%s}'
            % (kind, kind.lower(), text, n,
               ', norm: {LayerNorm: {normalized_shape: [%d]}}' % norm
               if norm else ''),
            lambda: getattr(nn, 'Transformer' + kind)(
                make(), n, nn.LayerNorm((norm,)) if norm else None))


def decoder(*args, **more):
    return layer(*args, kind='Decoder', **more)


def both(d, h, e, n, f, **more):
    text = ''.join(', %s: %s' % (n, str(v).lower()) for n, v in more.items())
    return ('Transformer: {d_model: %d, nhead: %d, num_encoder_layers: %d, '
            'num_decoder_layers: %d, dim_feedforward: %d, dropout: 0.0%s}'
            % (d, h, e, n, f, text),
            lambda: nn.Transformer(d, h, e, n, f, 0.0, **more))


def causal(n):
    return ms.Tensor(np.triu(np.ones((n, n), bool), 1))


FIRST = dict(batch_first=True)
B = dict(attn=mha(6, 2, **FIRST))
SELF = 'return attn(h, h, h)[0]'
case('mha', B, SELF, (3, 5, 6), lambda s, h, x: s.attn(h, h, h)[0])
case('mha_batch_second', dict(attn=mha(6, 3)), SELF, (5, 3, 6),
     lambda s, h, x: s.attn(h, h, h)[0])
case('mha_batch1', dict(attn=mha(9, 3, **FIRST)), SELF, (1, 7, 9),
     lambda s, h, x: s.attn(h, h, h)[0])
case('mha_odd', dict(attn=mha(57, 3, **FIRST)), SELF, (2, 37, 57),
     lambda s, h, x: s.attn(h, h, h)[0], scale=0.2,
     near='--rtol 2e-5 --atol 1e-5')
case('mha_one', dict(attn=mha(1, 1, **FIRST)), SELF, (2, 1, 1),
     lambda s, h, x: s.attn(h, h, h)[0])
case('mha_no_bias', dict(attn=mha(6, 2, has_bias=False, **FIRST)), SELF,
     (3, 5, 6), lambda s, h, x: s.attn(h, h, h)[0])
case('mha_eval', dict(attn=mha(6, 2, dropout=0.5, **FIRST)), SELF, (3, 5, 6),
     lambda s, h, x: s.attn(h, h, h)[0], cmd='--eval --grad')
case('mha_causal', B, 'return attn(h, h, h, attn_mask=causal_mask(h))[0]',
     (3, 5, 6), lambda s, h, x: s.attn(h, h, h, attn_mask=causal(5))[0])
# a column that is never hidden goes first
HIDE = 'hide = concat((x[:, :1, 0] > 9, x[:, 1:, 0] > 0), axis=1); '


def hide(x):
    return ops.concat((x[:, :1, 0] > 9, x[:, 1:, 0] > 0), axis=1)


case('mha_padding', B, HIDE + 'return attn(h, h, h, hide)[0]', (4, 5, 6),
     lambda s, h, x: s.attn(h, h, h, hide(x))[0])
case('mha_both', B, HIDE + 'return attn(h, h, h, hide, causal_mask(h))[0]',
     (4, 5, 6), lambda s, h, x: s.attn(h, h, h, hide(x),
                                       attn_mask=causal(5))[0])
case('mha_adds', B, 'return attn(h, h, h, attn_mask=x[0, :, :5])[0]',
     (4, 5, 6), lambda s, h, x: s.attn(h, h, h, attn_mask=x[0, :, :5])[0])
case('mha_each_head', B, 'return attn(h, h, h, attn_mask=concat((x[:, :, :5], '
     'x[:, :, 1:]), axis=0))[0]', (3, 5, 6),
     lambda s, h, x: s.attn(h, h, h, attn_mask=ops.concat(
         (x[:, :, :5], x[:, :, 1:]), axis=0))[0])
case('mha_weights', B, 'y, w = attn(h, h, h); return w @ y', (3, 5, 6),
     lambda s, h, x: ops.matmul(*s.attn(h, h, h)[::-1]))
case('mha_weights_heads', B, 'y, w = attn(h, h, h, attn_mask=causal_mask(h), '
     'average_attn_weights=False); return w @ y[:, None]', (3, 5, 6),
     lambda s, h, x: (lambda y, w: ops.matmul(w, y.expand_dims(1)))(
         *s.attn(h, h, h, attn_mask=causal(5), average_attn_weights=False)))
case('mha_other', dict(attn=mha(6, 2, **FIRST)),
     'return attn(h[:, :3], h, h * x)[0]', (3, 5, 6),
     lambda s, h, x: s.attn(h[:, :3], h, h * x)[0])
case('mha_widths', dict(attn=mha(6, 3, kdim=4, vdim=5, **FIRST)),
     'return attn(h, h[:, 1:, 2:], h[:, 1:, :5])[0]', (3, 5, 6),
     lambda s, h, x: s.attn(h, h[:, 1:, 2:], h[:, 1:, :5])[0])
case('mha_more_keys', dict(attn=mha(6, 2, add_bias_kv=True,
                                    add_zero_attn=True, **FIRST)),
     'return attn(h, h, h, attn_mask=causal_mask(h))[0]', (3, 5, 6),
     lambda s, h, x: s.attn(h, h, h, attn_mask=causal(5))[0])
case('mha_flat', dict(attn=mha(6, 2)), SELF, (5, 6),
     lambda s, h, x: s.attn(h, h, h)[0])

L = 'return layer(h)'
case('encoder_layer', dict(layer=layer(6, 2, 9, **FIRST)), L, (3, 5, 6),
     lambda s, h, x: s.layer(h))
case('encoder_layer_batch_second', dict(layer=layer(6, 3, 9)), L, (5, 3, 6),
     lambda s, h, x: s.layer(h))
case('encoder_layer_first', dict(layer=layer(
    6, 2, 9, activation='gelu', norm_first=True, **FIRST)), L, (1, 5, 6),
     lambda s, h, x: s.layer(h))
case('encoder_layer_eval', dict(layer=layer(
    6, 2, 9, 0.3, layer_norm_eps=0.01, **FIRST)), L, (3, 5, 6),
     lambda s, h, x: s.layer(h), cmd='--eval --grad')
case('encoder_layer_masks', dict(layer=layer(6, 2, 9, **FIRST)),
     HIDE + 'return layer(h, causal_mask(h), hide)', (4, 5, 6),
     lambda s, h, x: s.layer(h, causal(5), hide(x)))
case('encoder', dict(enc=encoder(layer(
    6, 2, 9, activation='gelu', norm_first=True, **FIRST), 2, 6)),
     HIDE + 'return enc(h, src_key_padding_mask=hide)', (4, 5, 6),
     lambda s, h, x: s.enc(h, src_key_padding_mask=hide(x)))
case('encoder_plain', dict(enc=encoder(layer(10, 2, 7), 3, 0)),
     'return enc(h, causal_mask(h[:, 0]))', (3, 2, 10),
     lambda s, h, x: s.enc(h, causal(3)))

D = 'return layer(h[:, :3], h * x)'
case('decoder_layer', dict(layer=decoder(6, 2, 9, **FIRST)), D, (3, 5, 6),
     lambda s, h, x: s.layer(h[:, :3], h * x))
case('decoder_layer_batch_second', dict(layer=decoder(6, 3, 9)),
     'return layer(h, (h * x)[1:])', (5, 3, 6),
     lambda s, h, x: s.layer(h, (h * x)[1:]))
case('decoder_layer_first', dict(layer=decoder(
    6, 2, 9, activation='gelu', norm_first=True, **FIRST)), D, (1, 5, 6),
     lambda s, h, x: s.layer(h[:, :3], h * x))
case('decoder_layer_eval', dict(layer=decoder(
    6, 2, 9, 0.3, layer_norm_eps=0.01, **FIRST)), D, (3, 5, 6),
     lambda s, h, x: s.layer(h[:, :3], h * x), cmd='--eval --grad')
case('decoder_layer_masks', dict(layer=decoder(6, 2, 9, **FIRST)),
     HIDE + 'return layer(h[:, :4], h * x, causal_mask(h[:, :4]), x[0, :4, '
     ':5], hide[:, :4])', (4, 5, 6),
     lambda s, h, x: s.layer(h[:, :4], h * x, causal(4), x[0, :4, :5],
                             hide(x)[:, :4]))
case('decoder_layer_padding', dict(layer=decoder(6, 2, 9, **FIRST)),
     HIDE + 'return layer(h, h * x, None, causal_mask(h), hide, hide)',
     (4, 5, 6), lambda s, h, x: s.layer(h, h * x, None, causal(5), hide(x),
                                        hide(x)))
case('decoder_layer_flat', dict(layer=decoder(6, 2, 9)),
     'return layer(h, (h * x)[2:])', (5, 6),
     lambda s, h, x: s.layer(h, (h * x)[2:]))
case('decoder', dict(dec=encoder(decoder(
    6, 2, 9, activation='gelu', norm_first=True, **FIRST), 2, 6, 'Decoder')),
     HIDE + 'return dec(h[:, :4], h * x, memory_key_padding_mask=hide)',
     (4, 5, 6), lambda s, h, x: s.dec(h[:, :4], h * x,
                                      memory_key_padding_mask=hide(x)))
case('decoder_plain', dict(dec=encoder(decoder(10, 2, 7), 3, 0, 'Decoder')),
     'return dec(h, h * x, causal_mask(h[:, 0]), causal_mask(h[:, 0]))',
     (3, 2, 10), lambda s, h, x: s.dec(h, h * x, causal(3), causal(3)))
case('transformer', dict(both=both(6, 2, 2, 1, 9, **FIRST)),
     'return both(h, (h * x)[:, :4], tgt_mask=causal_mask(h[:, :4]))',
     (4, 5, 6), lambda s, h, x: s.both(h, (h * x)[:, :4], tgt_mask=causal(4)))
case('transformer_masks', dict(both=both(
    6, 3, 1, 2, 9, activation='gelu', norm_first=True, **FIRST)),
     HIDE + 'return both(h, h * x, causal_mask(h), causal_mask(h), '
     'causal_mask(h), hide, hide, hide)', (4, 5, 6),
     lambda s, h, x: s.both(h, h * x, causal(5), causal(5), causal(5), hide(x),
                            hide(x), hide(x)))
case('transformer_plain', dict(both=both(6, 2, 1, 1, 7, layer_norm_eps=0.01)),
     'return both(h[1:], h)', (5, 3, 6), lambda s, h, x: s.both(h[1:], h))


class PositionalEncoding(nn.Cell):
    """The seeds' own, with today's dropout."""

    def __init__(self, dim, maxlen, rate):
        super().__init__()
        f = np.exp(np.arange(0, dim, 2) * (-np.log(10000.0) / dim))
        p = np.arange(maxlen)[:, None] * f
        table = np.zeros((1, maxlen, dim), np.float32)
        table[0, :, 0::2], table[0, :, 1::2] = np.sin(p), np.cos(p)
        self.pe, self.scale = ms.Tensor(table), dim ** 0.5
        self.dropout = nn.Dropout(p=rate)

    def construct(self, x):
        return self.dropout(x * self.scale + self.pe[:, :x.shape[1], :])


def encoding(dim, maxlen, rate):
    return ('PositionalEncoding: {dim: %d, maxlen: %d, dropout_rate: %s}'
            % (dim, maxlen, rate),
            lambda: PositionalEncoding(dim, maxlen, rate))


case('positional', dict(pos=encoding(6, 20, 0.0)), 'return pos(h)', (3, 5, 6),
     lambda s, h, x: s.pos(h))
case('positional_eval', dict(pos=encoding(34, 37, 0.4)), 'return pos(h)',
     (1, 37, 34), lambda s, h, x: s.pos(h), cmd='--eval --grad',
     near='--rtol 2e-5 --atol 1e-5')


if __name__ == '__main__':
    for c in k.CASES.values():
        if c['name'] in (sys.argv[1:] or k.CASES):
            cells, construct = NETS[c['name']]
            x, label, start, ref = m.run_net(c, Net(cells, construct))
            k.write(c, k.HERE / 'ms' / c['name'], x, label, start,
                    m.tidy(ref), save_file)
