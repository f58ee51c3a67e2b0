"""ReduceLROnPlateau of MindSpore 2.10 over sequences of a metric:
tests/cases/schedules/reduce_lr_on_plateau.yaml.

    python3 tests/golden/make_plateau.py >tests/cases/schedules/reduce_lr_on_plateau.yaml

The callback itself runs, with a learning rate as an optimizer has it (a
Parameter in float32); its value after each epoch is what a case expects.
"""
import textwrap
from types import SimpleNamespace

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor
from mindspore.train import ReduceLROnPlateau

rng = np.random.default_rng(7)


def rates(lr, values, **kw):
    """The rate after each value of the metric."""
    cb = ReduceLROnPlateau(monitor='it', **kw)
    rate = Parameter(Tensor(lr, ms.float32), name='learning_rate')
    params = SimpleNamespace(optimizer=SimpleNamespace(learning_rate=rate),
                             cur_epoch_num=1, eval_results={})
    params.get = lambda k, d=None: getattr(params, k, d)
    context = SimpleNamespace(original_args=lambda: params)
    cb.on_train_begin(context)
    out = []
    for v in values:
        params.eval_results = {'it': v}
        cb.on_train_epoch_end(context)
        out.append(float(rate.asnumpy()))
    return out


def noisy(n, up):
    """A curve that flattens, and wobbles."""
    t = np.arange(n)
    v = np.exp(-t / 6) + 0.05 * rng.standard_normal(n) + 0.3
    return [round(float(x), 6) for x in (2 - v if up else v)]


def show(key, text):
    print(textwrap.fill(text, 80, initial_indent=f'  {key}: ',
                        subsequent_indent='    '))


def numbers(values):
    return '[%s]' % ', '.join('%.9g' % v if np.isfinite(v) else 'nan'
                              for v in values)


def case(name, lr, values, **kw):
    said = {'learning_rate': lr, 'monitor': 'it', **kw}
    print(f'- name: "{name}"' if ': ' in name else f'- name: {name}')
    show('lr', '{ReduceLROnPlateau: {%s}}' %
         ', '.join(f'{k}: {v}' for k, v in said.items()))
    show('metric', numbers(values))
    show('rates', numbers(rates(lr, values, **kw)))


print('# By tests/golden/make_plateau.py with MindSpore', ms.__version__)
case('mode: min', 0.1, noisy(40, False), mode='min', patience=3, factor=0.5)
case('mode: max', 0.1, noisy(40, True), mode='max', patience=3, factor=0.5)
case('a cooldown', 0.1, noisy(40, False), mode='min', patience=2, factor=0.3,
     cooldown=3)
case('patience: 0', 0.1, noisy(20, False), mode='min', patience=0,
     factor=0.9)
case('patience: 1 is the same', 0.1, noisy(20, True), mode='max', patience=1,
     factor=0.9, cooldown=1)
case('min_lr', 0.1, noisy(40, False), mode='min', patience=2, factor=0.1,
     min_lr=5e-4)
case('changes below min_delta', 0.1, noisy(40, True), mode='max',
     patience=2, factor=0.5, min_delta=0.05)
case('a change of exactly min_delta is no improvement', 0.5,
     [1.0, 0.5, 0.0625, 0.03125, 0.015625], mode='min', patience=1, factor=0.5,
     min_delta=0.5)
case('the defaults', 0.1, [1.0] * 25, mode='min')
case('NaN is no improvement', 0.1,
     [0.5, np.nan, np.nan, 0.4, np.inf, np.nan, 0.3], mode='min', patience=2)
