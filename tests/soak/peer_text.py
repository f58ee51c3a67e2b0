"""Lines of construct for the random networks of peer.py: functions of one
value, in the text of the config and in PyTorch."""
import torch
import torch.nn.functional as F

# Of any shape: {v} is the value.
POINTS = [
    ('relu({v})', torch.relu), ('{v} * sigmoid({v})', F.silu),
    ('tanh({v}) + 0.5', lambda x: torch.tanh(x) + 0.5),
    ('abs({v}) - 0.1', lambda x: x.abs() - 0.1),
    ('clamp({v}, -1, 1)', lambda x: x.clamp(-1, 1)),
    ('sqrt(square({v}) + 1)', lambda x: (x * x + 1).sqrt()),
    ('where({v} > 0, {v}, 0.3 * {v})', lambda x: torch.where(x > 0, x, .3 * x)),
    ('exp(-square({v}))', lambda x: (-x * x).exp()),
    ('log1p(abs({v}))', lambda x: x.abs().log1p()),
    ('log({v} ** 2 + 0.5)', lambda x: (x ** 2 + 0.5).log()),
    ('atan2({v}, 1.5 + square({v}))', lambda x: torch.atan2(x, 1.5 + x * x)),
    ('erf({v}) * {v}', lambda x: x.erf() * x), ('erfc({v})', torch.erfc),
    ('expm1(tanh({v}))', lambda x: x.tanh().expm1()),
    ('sin({v}) + cos(2 * {v})', lambda x: x.sin() + (2 * x).cos()),
    ('asinh({v})', torch.asinh), ('atan({v})', torch.atan),
    ('atanh(0.9 * tanh({v}))', lambda x: (0.9 * x.tanh()).atanh()),
    ('acos(0.9 * sin({v}))', lambda x: (0.9 * x.sin()).acos()),
    ('asin(0.9 * sin({v}))', lambda x: (0.9 * x.sin()).asin()),
    ('acosh(1.1 + square({v}))', lambda x: (1.1 + x * x).acosh()),
    ('tan(0.7 * tanh({v}))', lambda x: (0.7 * x.tanh()).tan()),
    ('sinh(clamp({v}, -2, 2))', lambda x: x.clamp(-2, 2).sinh()),
    ('rsqrt({v} * {v} + 0.3)', lambda x: (x * x + 0.3).rsqrt()),
    ('reciprocal(1 + {v} * {v})', lambda x: 1 / (1 + x * x)),
    ('{v} / (1 + abs({v}))', lambda x: x / (1 + x.abs())),
    ('2 ** tanh({v})', lambda x: 2 ** x.tanh()),
    ('pow(abs({v}) + 0.2, 1.7)', lambda x: (x.abs() + .2) ** 1.7),
    ('(abs({v}) + 0.3) ** tanh({v})', lambda x: (x.abs() + .3) ** x.tanh()),
    ('softplus({v}, 2)', lambda x: F.softplus(x, 2)),
    ('logaddexp({v}, -{v})', lambda x: torch.logaddexp(x, -x)),
    ('hypot({v}, {v} + 1)', lambda x: torch.hypot(x, x + 1)),
    ('lerp({v}, 2 * {v} + 1, 0.3)', lambda x: torch.lerp(x, 2 * x + 1, 0.3)),
    ('addcmul({v}, {v}, sigmoid({v}), 0.5)', lambda x: torch.addcmul(
        x, x, x.sigmoid(), value=0.5)),
    ('xlogy({v}, {v} * {v} + 0.1)', lambda x: torch.xlogy(x, x * x + 0.1)),
    ('maximum({v}, 0.1 - {v})', lambda x: torch.maximum(x, 0.1 - x)),
    ('minimum({v}, 0.5 * {v} + 0.2)', lambda x: torch.minimum(
        x, 0.5 * x + 0.2)),
    ('masked_fill({v}, {v} > 0.5, 0.1)', lambda x: x.masked_fill(x > .5, .1)),
    ('stop_gradient({v}) * {v}', lambda x: x.detach() * x),
    ('{v} + stop_gradient(sign({v}) * 0.2)', lambda x:
     x + x.detach().sign() * 0.2),
    ('-{v}', lambda x: -x), ('1 - {v} * 0.5', lambda x: 1 - x * 0.5),
    ('3 / (2 + {v} * {v})', lambda x: 3 / (2 + x * x)),
    ('{v} * ({v} > 0) + 0.1 * {v} * logical_not({v} > 0)', lambda x:
     F.leaky_relu(x, 0.1)),
    ('zeros_like({v}) + {v} * ones_like({v})', lambda x: x),
    ('select({v} < 0.2, {v}, square({v}))', lambda x: torch.where(
        x < .2, x, x * x)),
    # over the batch; w: prediction sees all of it
    ('w:{v} - mean({v}, axis=0, keepdims=True)', lambda x:
     x - x.mean(0, keepdim=True)),
    ('w:softmax({v}, 0) + {v}', lambda x: F.softmax(x, 0) + x),
    ('w:cumsum({v}, 0) * 0.2', lambda x: x.cumsum(0) * 0.2),
    ('w:{v} / (std({v}, axis=0, keepdims=True) + 1)', lambda x:
     x / (x.std(0, unbiased=False, keepdim=True) + 1)),
]

# Along axis {a} of the batch; {n} its length.
AXIS = [
    ('softmax({v}, {a}) + {v}', lambda x, a: F.softmax(x, a) + x),
    ('log_softmax({v}, {a})', lambda x, a: F.log_softmax(x, a)),
    ('cumsum({v}, {a})', lambda x, a: x.cumsum(a)),
    ('cumprod(0.2 * {v} + 1, {a})', lambda x, a: (.2 * x + 1).cumprod(a)),
    ('flip({v}, ({a},))', lambda x, a: x.flip(a)),
    ('roll({v}, 1, {a})', lambda x, a: x.roll(1, a)),
    ('roll({v}, -2, {a}) + {v}', lambda x, a: x.roll(-2, a) + x),
    ('sort({v}, {a})[0]', lambda x, a: x.sort(a)[0]),
    ('sort({v}, {a}, True)[0] * 0.5', lambda x, a: x.sort(a, True)[0] * .5),
    ('gather_elements({v}, {a}, argsort({v}, {a}))', lambda x, a: x.gather(
        a, x.argsort(a))),
    ('{v} - mean({v}, axis={a}, keepdims=True)', lambda x, a:
     x - x.mean(a, keepdim=True)),
    ('{v} / (norm({v}, 2, {a}, True) + 0.1)', lambda x, a:
     x / (x.norm(2, a, True) + 0.1)),
    ('{v} / (norm({v}, 1, {a}, True) + 0.1)', lambda x, a:
     x / (x.norm(1, a, True) + 0.1)),
    ('{v} - logsumexp({v}, {a}, True)', lambda x, a:
     x - x.logsumexp(a, True)),
    ('{v} * prod(0.1 * {v} + 1, {a}, True)', lambda x, a:
     x * (0.1 * x + 1).prod(a, True)),
    ('{v} * var({v}, axis={a}, keepdims=True)', lambda x, a:
     x * x.var(a, unbiased=False, keepdim=True)),
    ('l2_normalize({v}, {a}, 0.01)', lambda x, a:
     x / (x * x).sum(a, True).clamp(min=0.01).sqrt()),
    ('where({v} > mean({v}, axis={a}, keepdims=True), {v}, 0.2)', lambda x, a:
     torch.where(x > x.mean(a, keepdim=True), x, 0.2)),
    ('{v} + sum({v}, axis={a}, keepdims=True) * 0.1', lambda x, a:
     x + x.sum(a, keepdim=True) * 0.1),
    ('stack(({v}, 2 * {v}), {a}).mean(axis={a})', lambda x, a:
     torch.stack((x, 2 * x), a).mean(a)),
    ('expand_dims({v}, {a}).squeeze({a}) * 1.5', lambda x, a: x * 1.5),
    ('concat(({v}, -{v}), {a})', lambda x, a: torch.cat((x, -x), a)),
    ('repeat_interleave({v}, 2, {a})', lambda x, a:
     x.repeat_interleave(2, a)),
    ('gather({v}, arange({n}) % 2, {a})', lambda x, a: x.index_select(
        a, torch.arange(x.shape[a]) % 2)),
    ('narrow({v}, {a}, {n} // 3, {n} - {n} // 3)', lambda x, a: x.narrow(
        a, x.shape[a] // 3, x.shape[a] - x.shape[a] // 3)),
    ('topk({v}, ({n} + 1) // 2, {a})[0]', lambda x, a: x.topk(
        (x.shape[a] + 1) // 2, a)[0]),
    ('topk({v}, 1, {a}, False)[0] + 0 * {v}', lambda x, a: x.topk(
        1, a, False)[0] + 0 * x),
    ('masked_mean({v}, {v} > -5, axis={a}, keepdims=True) + {v}', lambda x, a:
     torch.where(x > -5, x, 0).sum(a, True) / (x > -5).sum(a, True) + x),
    ('tile(mean({v}, axis={a}, keepdims=True), {tiles}) * {v}', lambda x, a:
     x.mean(a, True) * x),
    ('broadcast_to(max(3 * {v} + arange({n}).reshape({along}), axis={a}, '
     'keepdims=True), {v}.shape) + {v}', lambda x, a: (
         3 * x + torch.arange(x.shape[a]).reshape(
             [-1 if i == a else 1 for i in range(x.dim())])).max(
                 a, True)[0] + x),
]

# Of the last two axes, of l by n and more; {lead} is ':, ' for each before.
PAIRS = [
    ('matmul({v}, swapaxes({v}, -1, -2)) * 0.3', lambda x:
     x @ x.transpose(-1, -2) * 0.3),
    ('matmul(softmax(matmul({v}, swapaxes({v}, -1, -2)), -1), {v})',
     lambda x: F.softmax(x @ x.transpose(-1, -2), -1) @ x),
    ('{v} @ ({v}.swapaxes(-1, -2) @ {v}) * 0.2', lambda x:
     x @ (x.transpose(-1, -2) @ x) * 0.2),
    ('tril({v}) + 0.3 * triu({v}, 1)', lambda x: x.tril() + .3 * x.triu(1)),
    ('swapaxes({v}, -1, -2)', lambda x: x.transpose(-1, -2)),
    ('{v}[{lead}:, ::2]', lambda x: x[..., ::2]),
    ('{v}[{lead}::2, 1:] if shape({v}, -1) > 1 else {v}', lambda x:
     x[..., ::2, 1:] if x.shape[-1] > 1 else x),
    ('pad({v}, (1, 0, 0, 2), value=0.5)', lambda x: F.pad(
        x, (1, 0, 0, 2), value=0.5)),
    ('pad({v}, (0, 1), "replicate")', lambda x: torch.cat(
        (x, x[..., -1:]), -1)),
    ('{v}[{lead}None, :, :].sum(axis={v}.ndim - 2) * 0.5', lambda x: x * 0.5),
]

EINSUM = {3: [
    ("einsum('bij,bkj->bik', {v}, {v}) * 0.3", lambda x: torch.einsum(
        'bij,bkj->bik', x, x) * 0.3),
    ("einsum('bij,bik->bjk', {v}, tanh({v}))", lambda x: torch.einsum(
        'bij,bik->bjk', x, x.tanh())),
    ("einsum('bij->bji', {v})", lambda x: x.transpose(1, 2)),
    ("einsum('bij,bi->bij', {v}, mean({v}, axis=2))", lambda x:
     x * x.mean(2, True)),
], 4: [
    ("einsum('bchw,bdhw->bcd', {v}, {v})[:, :, :, None] * 0.2", lambda x:
     torch.einsum('bchw,bdhw->bcd', x, x)[..., None] * 0.2),
    ("einsum('bchw->bhcw', {v})", lambda x: x.permute(0, 2, 1, 3)),
    ("transpose({v}, (0, 3, 1, 2))", lambda x: x.permute(0, 3, 1, 2)),
    ("movedim({v}, 1, 3)", lambda x: x.movedim(1, 3)),
], 2: [
    ("einsum('bi,bj->bij', {v}, {v}).mean(axis=2)", lambda x:
     x * x.mean(1, True)),
    ("einsum('bi,bi->b', {v}, {v})[:, None] + {v}", lambda x:
     (x * x).sum(1, True) + x),
], 5: []}


def function(r, shape):
    """(text, function, whole batch) of a value whose samples have this shape;
    the text has {v}."""
    rank = len(shape) + 1
    k = r.random()
    if k < 0.4:
        text, run = r.choice(POINTS)
        return text.removeprefix('w:'), run, text.startswith('w:')
    if k < 0.8 or rank == 2 and k < 0.9:
        a = r.randint(1, rank - 1)
        n = shape[a - 1]
        text, run = r.choice(AXIS)
        if n > 40 and ('concat' in text or 'repeat' in text):
            text, run = AXIS[0]
        if n == 1 and 'gather(' in text:
            text, run = AXIS[1]
        along = tuple(-1 if i == a else 1 for i in range(rank))
        tiles = tuple(n if i == a else 1 for i in range(rank))
        for name, value in (('a', a), ('n', n), ('along', along),
                            ('tiles', tiles)):
            text = text.replace('{%s}' % name, str(value))
        return text, lambda x: run(x, a), False
    some = EINSUM[rank] + (PAIRS if rank > 2 else [])
    text, run = r.choice(some)
    return text.replace('{lead}', ':, ' * (rank - 2)), run, False
