#!/usr/bin/env python3
"""Which type the functions of a text compute in: results of MindSpore 2.10.0
(CPU, PyNative), into ms/; see make_mindspore.py for the environment.

A row is a name, a level, and a text that MindSpore and cellrun both read. Where
a result has float16 it has numbers of float16: these are the same to the bit."""
import os
import tempfile

os.environ['GLOG_v'] = '3'
import mindspore as ms
import numpy as np
from mindspore import amp, nn, ops
from safetensors.numpy import save_file

ROWS = [
    # a number has the type of what it is computed with
    ('number', 'auto', 'pre(x) * 3.1'),
    ('integer', 'auto', 'pre(x) * 3'),
    ('overflow', 'auto', 'pre(x) * 1e5 * 1e-5'),
    ('underflow', 'auto', 'pre(x) * 1e-8 * 1e8'),
    ('minus', 'auto', 'pre(x) - 0.5'),
    ('reversed', 'auto', '1.0 - pre(x)'),
    ('maximum', 'auto', 'maximum(pre(x), 0.1)'),
    ('masked_fill', 'auto', 'masked_fill(pre(x), x > 0.5, 3.1)'),
    ('column', 'auto', 'pre(x) * x'),
    # and a product gives its type to a scalar, a sum does not
    ('scalar', 'auto', 'pre(x) * mean(x)'),
    ('scalar_sum', 'auto', 'pre(x) + mean(x)'),
    ('scalar_quotient', 'O0', 'half(x) / mean(x)'),
    # MindSpore's list of float32, and what is not on it
    ('tanh', 'auto', 'tanh(pre(x))'),
    ('sin', 'auto', 'sin(pre(x))'),
    ('cos', 'auto', 'cos(pre(x))'),
    ('mean', 'auto', 'mean(pre(x), 0, True)'),
    ('cosh', 'auto', 'cosh(pre(x))'),
    ('reciprocal', 'auto', '1 / pre(x)'),
    ('quotient', 'auto', '2 / pre(x)'),
    ('smooth_l1', 'auto', "smooth_l1_loss(pre(x), pre(x) * 3.1)"),
    ('log_sigmoid', 'auto', 'logs(pre(x))'),
    ('cross_entropy', 'auto', "cross_entropy(pre(x), x, reduction='none')"),
    # losses cast their sums back, or are on no list, or on that of float32
    ('l1_sum', 'auto', "l1_loss(pre(x), pre(x) * 3.1, reduction='sum')"),
    ('huber_sum', 'auto', "huber_loss(pre(x), pre(x) * 3.1, reduction='sum')"),
    ('hinge_sum', 'auto', 'hinge(pre(x), sign(pre(x)))'),
    ('poisson', 'auto', 'poisson(pre(x), pre(x) * 0)'),
    ('multi_label', 'auto', 'multi_label(pre(x), pre(x))'),
    ('sparse', 'auto', 'sparse(pre(x), argmax(x, 1))'),
    # one function of several ops rounds its result alone
    ('std', 'auto', 'std(pre(x), 1) * 3.1'),
    ('std_large', 'O3', 'std(999 * pre(x), 1, 1)'),
    ('softplus', 'auto', 'softplus(9 * pre(x)) * 3.1'),
    ('softplus_large', 'O3', 'softplus(9 * pre(x))'),
    ('xlogy', 'auto', 'xlogy(pre(x), 2 + 0 * pre(x)) * 1e5'),
    ('cosine', 'auto', 'cosine(pre(x), pre(x * x), sign(x)[:, 0])'),
    ('cosine_large', 'O3', 'cosine(99 * x, 99 * x * x, sign(x)[:, 0])'),
    # an RNNCell without bias is made of products
    ('rnn_cell', 'auto', 'step(pre(x), x) * 3.1'),
    # gamma and beta have the type of the input as it arrives
    ('layer_norm', 'auto', 'norm(pre(x))'),
    ('layer_norm_O2', 'O2', 'norm(pre(x))'),
    ('layer_norm_first', 'O2', 'norm(x)'),
    ('layer_norm_full', 'auto', 'norm(x)'),
    ('group_norm_half', 'O0', 'groups(reshape(half(x), (1, 4, 1, 1)))'),
    ('group_norm', 'auto', 'groups(reshape(pre(x), (1, 4, 1, 1)))'),
    ('batch_norm_first', 'O2', 'batch(x)'),
    # a gradient of one's own changes no type
    ('bprop', 'auto', 'square(own(pre(x)))'),
    ('bprop_cast', 'O0', 'square(own(cast(x, float16)))'),
    ('bprop_full', 'O0', 'own(x) * 3.1'),
    # the bias of a transposed convolution is added in float32
    ('conv2d_transpose', 'auto', 'turned(reshape(x, (1, 1, 2, 2)))'),
    # what comes out of a float16 cell stays float16
    ('to_float', 'O0', 'half(x) * 3.1'),
    ('to_float_exp', 'O0', 'exp(10 * half(x))'),
    ('to_float_relu', 'O0', 'relu(half(x)) + 0.3'),
    ('to_float_column', 'O0', 'half(x) + x'),
    ('to_float_back', 'O0', 'full(half(x) * 3.1)'),
    ('to_float_softmax', 'O0', 'soft(relu(half(x)))'),
]
HERE = os.path.dirname(os.path.realpath(__file__)) + '/ms/'


class Own(nn.Cell):
    def construct(self, x):
        return ops.square(x)

    def bprop(self, x, out, dout):
        return (2 * x * dout,)


class Net(nn.Cell):
    def __init__(self, text):
        super().__init__()
        self.pre = nn.Dense(4, 4, has_bias=False)
        self.half = nn.Dense(4, 4, has_bias=False).to_float(ms.float16)
        self.full = nn.Dense(4, 4, has_bias=False).to_float(ms.float32)
        self.turned = nn.Conv2dTranspose(1, 1, 1, has_bias=True)
        self.own = Own()
        self.soft = nn.Softmax().to_float(ms.float32)
        self.logs = nn.LogSigmoid()
        self.norm = nn.LayerNorm((4,))
        self.groups = nn.GroupNorm(2, 4)
        self.batch = nn.BatchNorm1d(4)
        self.hinge = nn.HingeEmbeddingLoss(reduction='sum')
        self.cosine = nn.CosineEmbeddingLoss()
        self.poisson = nn.PoissonNLLLoss()
        self.multi_label = nn.MultiLabelSoftMarginLoss()
        self.sparse = nn.SoftmaxCrossEntropyWithLogits(True, 'mean')
        self.step = nn.RNNCell(4, 4, has_bias=False)
        self.text = text

    def construct(self, x):
        names = {n: getattr(ops, n) for n in
                 ('maximum', 'square', 'reshape', 'exp', 'relu', 'cast', 'tanh',
                  'sin', 'cos', 'mean', 'cosh', 'logsigmoid', 'smooth_l1_loss',
                  'cross_entropy', 'masked_fill', 'sign', 'l1_loss',
                  'huber_loss', 'std', 'xlogy', 'abs',
                  'softplus')}
        names.update(x=x, pre=self.pre, half=self.half, own=self.own,
                     full=self.full, turned=self.turned, soft=self.soft,
                     logs=self.logs, norm=self.norm, groups=self.groups,
                     batch=self.batch, float16=ms.float16, hinge=self.hinge,
                     cosine=self.cosine,
                     poisson=self.poisson, multi_label=self.multi_label,
                     sparse=self.sparse, step=self.step,
                     argmax=lambda x, axis: ops.cast(ops.argmax(x, axis),
                                                     ms.int32))
        return eval(self.text, names)


x = np.array([[1.0, 0.3, -0.7, 0.123]], np.float32)
eye = 1.3 * np.eye(4, dtype=np.float32)
weights = {'step.weight_ih': eye, 'step.weight_hh': eye,
           'pre.weight': eye, 'half.weight': eye, 'full.weight': eye,
           'turned.weight': np.full((1, 1, 1, 1), 1.7, np.float32),
           'turned.bias': np.array([.123456], np.float32)}
for n in 'norm', 'groups', 'batch':
    weights[n + '.gamma'] = np.array([.7123, 1.3311, -.4567, 1.1], np.float32)
    weights[n + '.beta'] = np.array([.1, -.2, .3333, -1.7], np.float32)
weights['batch.moving_mean'] = np.zeros(4, np.float32)
weights['batch.moving_variance'] = np.ones(4, np.float32)
CELLS = {
    'pre': '{Dense: {in_channels: 4, out_channels: 4, has_bias: false}}',
    'half': '{Dense: {in_channels: 4, out_channels: 4, has_bias: false}, '
            'to_float: float16}',
    'full': '{Dense: {in_channels: 4, out_channels: 4, has_bias: false}, '
            'to_float: float32}',
    'turned': '{Conv2dTranspose: {in_channels: 1, out_channels: 1, '
              'kernel_size: 1, has_bias: true}}',
    'norm': '{LayerNorm: {normalized_shape: [4]}}',
    'groups': '{GroupNorm: {num_groups: 2, num_channels: 4}}',
    'batch': '{BatchNorm1d: {num_features: 4}}',
    'soft': '{Softmax: {}, to_float: float32}',
    'logs': 'LogSigmoid',
    'step': '{RNNCell: {input_size: 4, hidden_size: 4, has_bias: false}}',
    'hinge': '{HingeEmbeddingLoss: {reduction: sum}}',
    'cosine': '{CosineEmbeddingLoss: {}}',
    'poisson': '{PoissonNLLLoss: {}}',
    'multi_label': '{MultiLabelSoftMarginLoss: {}}',
    'sparse': '{SoftmaxCrossEntropyWithLogits: {sparse: true, '
              'reduction: mean}}',
    'own': '{inputs: [x], construct: return square(x), '
           'bprop: return 2 * x * dout}',
}
for name, level, text in ROWS:
    net = Net(text)
    for p in net.get_parameters():
        p.set_data(ms.Tensor(weights[p.name]))
    if level != 'O0':
        net = amp.auto_mixed_precision(net, level)
    net.set_train(name != 'batch_norm_first')
    y = net(ms.Tensor(x)).astype(ms.float32).asnumpy()
    to = HERE + 'amp_type_' + name + '/'
    os.makedirs(to, exist_ok=True)
    cells = [c for c in CELLS if c + '(' in text]
    np.save(to + 'x.npy', x)
    save_file({n: w for n, w in weights.items()
               if n.split('.')[0] in cells}, to + 'weights.safetensors')
    save_file({'output': y}, to + 'ref.safetensors')
    with open(to + 'cmd', 'w') as f:
        f.write(('--eval ' if name == 'batch_norm_first' else '') +
                # MindSpore rounds the differences in its logsumexp, and the
                # products of multi_label with labels, and the log in xlogy;
                # its softplus is log(1 + exp(x)), in float32
                '--rtol %s --atol 0\n' %
                {'cross_entropy': '1e-4', 'multi_label': '1e-4',
                 'log_sigmoid': '2e-6', 'xlogy': '1e-3',
                 'softplus': '1e-4'}.get(name, '1e-6'))
    with open(to + 'config.yaml', 'w') as f:
        f.write('network:\n  inputs: {x: {shape: [4]}}\n  cells:\n')
        f.writelines('    %s: %s\n' % (c, CELLS[c]) for c in cells)
        f.write('  construct: return %s\n' % text)
        if level != 'O0':
            f.write('amp: {level: %s}\n' % level)


class Shared(nn.Cell):
    """A weight that is used three times: each gradient is rounded, not the
    sum, which is no number of float16."""

    def __init__(self):
        super().__init__()
        self.d = nn.Dense(1, 1, 'ones', has_bias=False)

    def construct(self, x):
        return self.d(x) + self.d(x) + self.d(x)


net = Shared()
params = net.trainable_params()
net = amp.auto_mixed_precision(net, 'O3')
net.set_train()
hundred = np.full((3, 1), 100, np.float32)
y = net(ms.Tensor(hundred))
grads = ms.grad(
    lambda x: (ops.cast(net(x), ms.float32) * ms.Tensor(hundred)).sum(), None,
    params)(ms.Tensor(hundred))
to = HERE + 'amp_type_shared/'
os.makedirs(to, exist_ok=True)
np.save(to + 'x.npy', hundred)
np.save(to + 'sens0.npy', hundred)
save_file({'output': y.astype(ms.float32).asnumpy(),
           'grad.d.weight': grads[0].asnumpy()}, to + 'ref.safetensors')
with open(to + 'cmd', 'w') as f:
    f.write('--grad --sens @sens0.npy --rtol 0 --atol 0\n')
with open(to + 'config.yaml', 'w') as f:
    f.write("""\
network:
  inputs: {x: {shape: [1]}}
  cells:
    d: {Dense: {in_channels: 1, out_channels: 1, has_bias: false,
                weight_init: ones}}
  construct: return d(x) + d(x) + d(x)
amp: {level: O3}
""")


# The backward pass reads the result as it is stored, in float16: its own error
# is then that of one operation, 1 unit in the last place.
GRADS = {
    'tanh': 'tanh({})',
    'sigmoid': 'sigmoid({})',
    'exp': 'exp({} * 0.125)',
    'sqrt': 'sqrt(abs({}) + 0.01)',
    'elu': 'elu({})',
    'celu': 'celu({})',
    'log_softmax': 'log_softmax({}, -1)',
    'cosh': 'cosh({} * 0.125)',
    'softplus': 'softplus({} * 8)',
    'std': 'std({}, 1)[:, None]',
}
rng = np.random.default_rng(1)
wide = rng.uniform(-3, 3, (8, 8)).astype(np.float16).astype(np.float32)
sens = rng.standard_normal((8, 8)).astype(np.float16).astype(np.float32)
unit = np.eye(8, dtype=np.float32)  # so the weight is what the function reads


class Function(nn.Cell):
    def __init__(self, text):
        super().__init__()
        self.half = nn.Dense(8, 8, has_bias=False).to_float(ms.float16)
        self.half.weight.set_data(ms.Tensor(wide))
        self.text = text

    def construct(self, x):
        names = {n: getattr(ops, n) for n in dir(ops) if n[0] != '_'}
        return eval(self.text, names, {'h': self.half(x)})


for name, text in GRADS.items():
    net = Function(text.format('h'))
    to = HERE + 'amp_grad_' + name + '/'
    os.makedirs(to, exist_ok=True)
    np.save(to + 'x.npy', unit)
    np.save(to + 'label.npy', sens)
    grads = ms.grad(
        lambda x: (ops.cast(net(x), ms.float32) * ms.Tensor(sens)).sum(), None,
        net.trainable_params())(ms.Tensor(unit))
    save_file({'grad.half.weight': grads[0].asnumpy()},
              to + 'ref.safetensors')
    save_file({'half.weight': wide}, to + 'weights.safetensors')
    with open(to + 'cmd', 'w') as f:
        # the sigmoid and std of MindSpore itself are 2 units off
        f.write('--grad --rtol %s --atol 1e-6\n' %
                {'sigmoid': '8e-3', 'std': '4e-3'}.get(name, '1.1e-3'))
    with open(to + 'config.yaml', 'w') as f:
        f.write('network:\n  inputs: {x: {shape: [8]}}\n  cells:\n'
                '    half: {Dense: {in_channels: 8, out_channels: 8, '
                'has_bias: false},\n           to_float: float16}\n'
                '  construct: return %s\n'
                'loss:\n  inputs: [y, label]\n'
                '  construct: return sum(cast(y, float32) * label)\n' %
                text.format('half(x)'))


class Calls(nn.Cell):
    """A recurrent cell that is called three times, or over three steps: each
    gradient is rounded, not the sum, which is no number of float16."""

    def __init__(self, name):
        super().__init__()
        self.r = getattr(nn, name)(
            1, 1, **({} if 'Cell' in name else {'batch_first': True}))

    def construct(self, x):
        if isinstance(self.r, (nn.RNN, nn.GRU)):
            return self.r(x)[0]
        z = x * 0
        if isinstance(self.r, nn.RNNCell):
            return self.r(x, z) + self.r(x, z) + self.r(x, z)
        return self.r(x, (z, z))[0] + self.r(x, (z, z))[0] + \
            self.r(x, (z, z))[0]


CELL = '{%s: [1, 1]}'
OVER = '{%s: {input_size: 1, hidden_size: 1, batch_first: true}}'
for name, cell, level, by, construct in [
        ('RNNCell', CELL, 'O3', 50,
         '    return ' + ' + '.join(['r(x, z)'] * 3)),
        ('RNNCell', CELL, 'auto', 50,
         '    return ' + ' + '.join(['r(x, z)'] * 3)),
        ('LSTMCell', CELL, 'O3', 110,
         '    return ' + ' + '.join(['r(x, (z, z))[0]'] * 3)),
        ('LSTMCell', CELL, 'auto', 110,
         '    return ' + ' + '.join(['r(x, (z, z))[0]'] * 3)),
        ('RNN', OVER, 'auto', 50, '    y, h = r(x)\n    return y'),
        ('GRU', OVER, 'auto', 40, '    y, h = r(x)\n    return y')]:
    net = Calls(name)
    w = {p.name: np.full(p.shape, 1e-4, np.float32)
         for p in net.get_parameters()}
    for p in net.get_parameters():
        p.set_data(ms.Tensor(w[p.name]))
    params = net.trainable_params()
    net = amp.auto_mixed_precision(net, level).set_train()
    shape = (1, 1) if cell is CELL else (1, 3, 1)
    thousand = np.full(shape, 1000, np.float32)
    by = np.full(shape, by, np.float32)
    grads = ms.grad(
        lambda x: (ops.cast(net(x), ms.float32) * ms.Tensor(by)).sum(),
        None, params)(ms.Tensor(thousand))
    to = HERE + 'amp_calls_%s_%s/' % (name.lower(), level)
    os.makedirs(to, exist_ok=True)
    np.save(to + 'x.npy', thousand)
    np.save(to + 'label.npy', by)
    save_file({'grad.' + p.name: g.asnumpy() for p, g in zip(params, grads)},
              to + 'ref.safetensors')
    save_file(w, to + 'weights.safetensors')
    with open(to + 'cmd', 'w') as f:
        f.write('--grad --rtol %s\n' % ('4e-3 --atol 1e-3' if cell is CELL
                                         else '1e-6 --atol 1e-6'))
    with open(to + 'config.yaml', 'w') as f:
        f.write('network:\n  inputs: {x: {shape: %s}}\n  cells: {r: %s}\n'
                '  construct: |\n%s%s\n'
                'loss:\n  inputs: [y, label]\n'
                '  construct: return sum(cast(y, float32) * label)\n'
                'amp: {level: %s}\n' %
                (list(shape[1:]), cell % name,
                 '    z = x * 0\n' if cell is CELL else '', construct, level))


class Activated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.d = nn.Dense(8, 4, activation='tanh')

    def construct(self, x):
        y = self.d(x)
        return y


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)  # where MindSpore writes the network that O1 casts
    net = Activated()
    w = {'d.weight': rng.uniform(-.4, .4, (4, 8)).astype(np.float32),
         'd.bias': rng.uniform(-.4, .4, 4).astype(np.float32)}
    for p in net.get_parameters():
        p.set_data(ms.Tensor(w[p.name]))
    y = amp.auto_mixed_precision(net, 'O1').set_train()(ms.Tensor(wide))
to = HERE + 'amp_type_activation_O1/'
os.makedirs(to, exist_ok=True)
np.save(to + 'x.npy', wide)
save_file(w, to + 'weights.safetensors')
save_file({'output': y.asnumpy()}, to + 'ref.safetensors')
with open(to + 'cmd', 'w') as f:
    f.write('--rtol 2e-3 --atol 0\n')
with open(to + 'config.yaml', 'w') as f:
    f.write("""\
network:
  inputs: {x: {shape: [8]}}
  cells: {d: {Dense: {in_channels: 8, out_channels: 4, activation: tanh}}}
  construct: return d(x)
amp: {level: O1}
""")


class Uses(nn.Cell):
    """A float32 value that a function reads twice in float16: the gradient of
    each is rounded, not the sum."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm([4, 4], begin_norm_axis=1, begin_params_axis=1)

    def construct(self, x):
        y = self.norm(x)
        return ops.matmul(y, y)


net = Uses()
w = {p.name: rng.uniform(-1, 1, p.shape).astype(np.float32)
     for p in net.get_parameters()}
for p in net.get_parameters():
    p.set_data(ms.Tensor(w[p.name]))
params = net.trainable_params()
net = amp.auto_mixed_precision(net, 'auto').set_train()
x = rng.standard_normal((1, 4, 4)).astype(np.float32)
by = rng.standard_normal((1, 4, 4)).astype(np.float32)
grads = ms.grad(
    lambda x: (ops.cast(net(x), ms.float32) * ms.Tensor(by)).sum(),
    None, params)(ms.Tensor(x))
to = HERE + 'amp_uses_auto/'
os.makedirs(to, exist_ok=True)
np.save(to + 'x.npy', x)
np.save(to + 'label.npy', by)
save_file({'grad.' + p.name: g.asnumpy() for p, g in zip(params, grads)
           if p.name == 'norm.beta'}, to + 'ref.safetensors')
save_file(w, to + 'weights.safetensors')
with open(to + 'cmd', 'w') as f:
    f.write('--grad --rtol 1e-6 --atol 1e-6\n')
with open(to + 'config.yaml', 'w') as f:
    f.write("""\
network:
  inputs: {x: {shape: [4, 4]}}
  cells:
    norm:
      LayerNorm: {normalized_shape: [4, 4], begin_norm_axis: 1,
                  begin_params_axis: 1}
  construct: |
    y = norm(x)
    return matmul(y, y)
loss:
  inputs: [y, label]
  construct: return sum(cast(y, float32) * label)
amp: {level: auto}
""")


class Replaced(nn.Cell):
    """Gradients of one's own, of a cell or a hook: in level auto they are
    computed in the types of what they are given, whatever the lists say."""

    def __init__(self, of):
        super().__init__()
        self.pre = nn.Dense(4, 4, has_bias=False)
        self.act = of

    def construct(self, x):
        y = self.pre(x)
        return self.act(y)


class OwnExp(nn.Cell):
    def construct(self, x):
        return x * 0.37

    def bprop(self, x, out, dout):
        return (ops.exp(-ops.abs(x)) * dout * 3.1,)


hooked = nn.Tanh()
hooked.register_backward_hook(
    lambda cell, dx, dy: (ops.exp(-ops.abs(dx[0])) * dx[0] * 1.7,))
for name, of, cells, watch in [
        ('bprop', OwnExp(),
         '    act:\n      inputs: [x]\n      construct: return x * 0.37\n'
         '      bprop: return exp(-abs(x)) * dout * 3.1\n', ''),
        ('hook', hooked, '    act: Tanh\n',
         'watch:\n  - {at: act, hook: backward, construct: '
         '"return exp(-abs(grad_input)) * grad_input * 1.7"}\n')]:
    net = Replaced(of)
    w = rng.uniform(-1, 1, (4, 4)).astype(np.float32)
    net.pre.weight.set_data(ms.Tensor(w))
    params = net.trainable_params()
    net = amp.auto_mixed_precision(net, 'auto').set_train()
    x = rng.standard_normal((4, 4)).astype(np.float32)
    by = rng.standard_normal((4, 4)).astype(np.float32)
    grads = ms.grad(
        lambda x: (ops.cast(net(x), ms.float32) * ms.Tensor(by)).sum(),
        None, params)(ms.Tensor(x))
    to = HERE + 'amp_grad_%s_auto/' % name
    os.makedirs(to, exist_ok=True)
    np.save(to + 'x.npy', x)
    np.save(to + 'label.npy', by)
    save_file({'grad.pre.weight': grads[0].asnumpy()},
              to + 'ref.safetensors')
    save_file({'pre.weight': w}, to + 'weights.safetensors')
    with open(to + 'cmd', 'w') as f:
        f.write('--grad --rtol 1e-6 --atol 1e-6\n')
    with open(to + 'config.yaml', 'w') as f:
        f.write('network:\n  inputs: {x: {shape: [4]}}\n  cells:\n'
                '    pre: {Dense: {in_channels: 4, out_channels: 4, '
                'has_bias: false}}\n' + cells +
                '  construct: return act(pre(x))\n' + watch +
                'loss:\n  inputs: [y, label]\n'
                '  construct: return sum(cast(y, float32) * label)\n'
                'amp: {level: auto}\n')


class Second(nn.Cell):
    """A gradient in construct has the type of what it is with respect to."""

    def __init__(self):
        super().__init__()
        self.pre = nn.Dense(4, 4, has_bias=False)

    def construct(self, x):
        return ms.grad(lambda y: y * ops.tanh(y))(self.pre(x)) * 3.1


net = Second()
w = rng.uniform(-1, 1, (4, 4)).astype(np.float32)
net.pre.weight.set_data(ms.Tensor(w))
x = rng.standard_normal((4, 4)).astype(np.float32)
y = amp.auto_mixed_precision(net, 'auto').set_train()(ms.Tensor(x))
to = HERE + 'amp_grad_in_construct/'
os.makedirs(to, exist_ok=True)
np.save(to + 'x.npy', x)
save_file({'output': y.astype(ms.float32).asnumpy()}, to + 'ref.safetensors')
save_file({'pre.weight': w}, to + 'weights.safetensors')
with open(to + 'cmd', 'w') as f:
    # its sum is of two rounded gradients
    f.write('--rtol 3e-3 --atol 0\n')
with open(to + 'config.yaml', 'w') as f:
    f.write("""\
network:
  inputs: {x: {shape: [4]}}
  cells:
    pre: {Dense: {in_channels: 4, out_channels: 4, has_bias: false}}
  construct: |
    y = pre(x)
    return grad(y * tanh(y), y) * 3.1
amp: {level: auto}
""")
