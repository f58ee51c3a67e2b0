#!/usr/bin/env python3
"""What MindSpore 2.10.0's image augmentations make of small arrays where
nothing is left to chance (prob 1, one place, one angle), into ms/data/.

    /somewhere/bin/python tests/golden/make_augment.py   (as make_data.py)
"""
import io

import numpy as np
from PIL import Image
from make_data import HERE, block, emit, image
from mindspore.dataset import vision

U8 = np.uint8
BORDERS = {'CONSTANT': vision.Border.CONSTANT, 'EDGE': vision.Border.EDGE,
           'REFLECT': vision.Border.REFLECT,
           'SYMMETRIC': vision.Border.SYMMETRIC}

for how in BORDERS:
    for label, pad, shape in (('all', 2, (5, 7, 3)), ('two', (1, 3), (4, 6, 1)),
                              ('four', (0, 1, 2, 3), (5, 4, 3))):
        name = 'pad_%s_%s' % (how.lower(), label)
        text = pad if isinstance(pad, int) else list(pad)
        emit(name, '{Pad: {padding: %s, padding_mode: %s}}' % (text, how),
             vision.Pad(pad, 0, BORDERS[how]), image(name, shape, U8))
emit('pad_fill', '{Pad: {padding: [1, 2], fill_value: [9, 8, 7]}}',
     vision.Pad((1, 2), (9, 8, 7)), image('pf', (3, 4, 3), U8))

for label, shape, size in (('odd', (7, 9), 4), ('even', (8, 6), (3, 2)),
                           ('small', (4, 5), (7, 8)), ('one', (9, 4), (5, 6)),
                           ('same', (5, 4), (5, 4))):
    text = size if isinstance(size, int) else list(size)
    emit('center_crop_' + label, '{CenterCrop: {size: %s}}' % text,
         vision.CenterCrop(size), image('cc' + label, shape + (3,), U8))

for label, size, pad, fill in (('whole', (5, 7), None, 0),
                               ('padded', (9, 11), 2, 0),
                               ('fill', (10, 10), (1, 2, 2, 3), 6)):
    more = '' if pad is None else ', padding: %s, fill_value: %d' % (
        pad if isinstance(pad, int) else list(pad), fill)
    emit('random_crop_' + label,
         '{RandomCrop: {size: %s%s}}' % (list(size), more),
         vision.RandomCrop(size, pad, False, fill),
         image('rc' + label, (5, 7, 3), U8))

for c in 1, 3, 4:
    emit('flip_horizontal_%d' % c, '{RandomHorizontalFlip: {prob: 1.0}}',
         vision.RandomHorizontalFlip(1.0), image('fh%d' % c, (3, 5, c), U8))
    emit('flip_vertical_%d' % c, '{RandomVerticalFlip: {prob: 1.0}}',
         vision.RandomVerticalFlip(1.0), image('fv%d' % c, (5, 3, c), U8))

for label, shape, deg in (('odd', (7, 7, 3), 30), ('wide', (4, 5, 1), -45),
                          ('tall', (9, 6, 3), 77.7), ('half', (5, 6, 3), 180),
                          ('cifar', (32, 32, 1), 133)):
    emit('rotation_' + label, '{RandomRotation: {degrees: [%r, %r]}}'
         % (deg, deg), vision.RandomRotation((deg, deg)),
         image('rr' + label, shape, U8))
emit('rotation_center', '{RandomRotation: {degrees: [20, 20], center: [1, 2], '
     'fill_value: 7}}',
     vision.RandomRotation((20, 20), center=(1, 2), fill_value=7),
     image('rotation_center', (6, 8, 3), U8))

for what in 'brightness', 'contrast', 'saturation':
    for f in 0.4, 1.3:
        emit('color_%s_%d' % (what, 10 * f),
             '{RandomColorAdjust: {%s: [%r, %r]}}' % (what, f, f),
             vision.RandomColorAdjust(**{what: (f, f)}),
             image('color' + what, (9, 8, 3), U8))

# whole vectors of 32 pixels, and what is left of a row
for f in 0.1, -0.27, 0.5:
    for label, shape in ('wide', (2, 35, 3)), ('small', (5, 7, 3)):
        emit('color_hue_%s_%d' % (label, round(100 * f)),
             '{RandomColorAdjust: {hue: [%r, %r]}}' % (f, f),
             vision.RandomColorAdjust(hue=(f, f)),
             image('hue' + label, shape, U8))


def gray(channels):
    def op(a):
        a = np.array(vision.Grayscale(channels)(vision.ToPIL()(a)))
        return a if a.ndim == 3 else a[:, :, None]
    return op


for n in 1, 3:
    emit('grayscale_%d' % n, '{Grayscale: {num_output_channels: %d}}' % n,
         gray(n), image('gray', (9, 8, 3), U8))

# what chance cannot change
emit('erasing_never', '{RandomErasing: {prob: 0.0}}',
     vision.RandomErasing(0.0), image('erasing', (3, 6, 5), np.float32))
emit('cut_out_black', '{CutOut: {length: 3, num_patches: 2}}',
     vision.CutOut(3, 2), np.zeros((5, 6, 3), U8))

for c in 1, 3:
    for label, shape, size in (('up', (5, 7), (9, 11)),
                               ('down', (11, 9), (4, 5)),
                               ('mixed', (7, 5), (3, 12)),
                               ('double', (4, 3), (8, 6)),
                               ('half', (8, 6), (4, 3)),
                               ('from_one', (1, 1), (3, 4))):
        key = 'resize_cubic_uint8%d_%s' % (c, label)
        emit(key, '{Resize: {size: %s, interpolation: CUBIC}}' % list(size),
             vision.Resize(size, vision.Inter.CUBIC),
             image(key, shape + (c,), U8))
        key = key.replace('uint8', 'float32')
        emit(key, '{Resize: {size: %s, interpolation: CUBIC}}' % list(size),
             vision.Resize(size, vision.Inter.CUBIC),
             image(key, shape + (c,), np.float32))
        # OpenCV adds the products of floats in another order
        path = HERE / (key + '.yaml')
        path.write_text('near: 2e-6\n' + path.read_text())

for c in 1, 3, 4:
    for label, shape, size in (('down', (11, 9), (4, 5)),
                               ('flat', (9, 7), (9, 3)),
                               ('half', (8, 6), (4, 3)),
                               ('third', (9, 12), (3, 4)),
                               ('box', (8, 9), (2, 3)),
                               ('up', (5, 7), (9, 11)),
                               ('mixed', (7, 5), (3, 12)),
                               ('same', (4, 5), (4, 5)),
                               ('one', (7, 9), (1, 1))):
        key = 'resize_area_uint8%d_%s' % (c, label)
        emit(key, '{Resize: {size: %s, interpolation: AREA}}' % list(size),
             vision.Resize(size, vision.Inter.AREA),
             image(key, shape + (c,), U8))
        key = key.replace('uint8', 'float32')
        emit(key, '{Resize: {size: %s, interpolation: AREA}}' % list(size),
             vision.Resize(size, vision.Inter.AREA),
             image(key, shape + (c,), np.float32))

# windows that chance cannot move: all of the image, and the middle where
# nothing of that proportion fits
for label, shape, size, ratio in (('whole', (5, 7), (3, 4), 7 / 5),
                                  ('wide', (6, 5), (4, 4), 3.0),
                                  ('tall', (5, 9), (7, 3), 0.3),
                                  ('odd', (7, 4), (2, 6), 2.3)):
    for how in 'LINEAR', 'NEAREST', 'CUBIC', 'AREA':
        key = 'resized_crop_%s_%s' % (how.lower(), label)
        emit(key, '{RandomResizedCrop: {size: %s, scale: [1, 1], ratio: '
             '[%r, %r], interpolation: %s}}' % (list(size), ratio, ratio, how),
             vision.RandomResizedCrop(size, (1.0, 1.0), (ratio, ratio),
                                      getattr(vision.Inter, how)),
             image(key, shape + (3,), U8))

# one size is Resize
emit('multi_scale', '{MultiScale: {sizes: [[4, 5]]}}',
     vision.Resize((4, 5)), image('multi_scale', (7, 6, 3), U8))


def decoded(a):
    """What Decode makes of the image as a PNG file."""
    file = io.BytesIO()
    Image.fromarray(a).save(file, 'PNG')
    return vision.Decode()(np.frombuffer(file.getvalue(), U8))


emit('decode', 'Decode', decoded, image('decode', (5, 7, 3), U8))

# ---- maps of colours and of places, which equal bounds make certain ----

for label, shape in ('small', (7, 8, 3)), ('odd', (13, 11, 3)):
    a = image('enhance' + label, shape, U8) // 2 + 40
    for name, text, op in (
            ('invert', 'RandomInvert: {prob: 1.0}', vision.RandomInvert(1.0)),
            ('equalize', 'RandomEqualize: {prob: 1.0}',
             vision.RandomEqualize(1.0)),
            ('auto_contrast', 'RandomAutoContrast: {prob: 1.0}',
             vision.RandomAutoContrast(prob=1.0)),
            ('auto_contrast_cut', 'RandomAutoContrast: {cutoff: 13, ignore: '
             '[40, 41, 60], prob: 1.0}',
             vision.RandomAutoContrast(13.0, [40, 41, 60], 1.0)),
            ('posterize', 'RandomPosterize: {bits: [3, 3]}',
             vision.RandomPosterize((3, 3))),
            ('solarize', 'RandomSolarize: {threshold: [90, 90]}',
             vision.RandomSolarize((90, 90))),
            ('sharpness_less', 'RandomAdjustSharpness: {degree: 0.3, prob: '
             '1.0}', vision.RandomAdjustSharpness(0.3, 1.0)),
            ('sharpness_more', 'RandomAdjustSharpness: {degree: 1.9, prob: '
             '1.0}', vision.RandomAdjustSharpness(1.9, 1.0)),
            ('grayscale_random', 'RandomGrayscale: {prob: 1.0}',
             lambda v: np.array(vision.RandomGrayscale(1.0)(
                 vision.ToPIL()(v))))):
        emit('%s_%s' % (name, label), '{%s}' % text, op, a)

for label, shape, size, sigma in (('three', (7, 8, 3), 3, None),
                                  ('five', (9, 5, 3), 5, 2.0),
                                  ('wide', (9, 13, 1), (9, 3), (1.5, 0.4)),
                                  ('narrow', (3, 2, 3), 7, None)):
    args = ['kernel_size: %s' % (list(size) if sigma and size == (9, 3)
                                 else size)]
    if sigma:
        args.append('sigma: %s' % (list(sigma) if isinstance(sigma, tuple)
                                   else sigma))
    emit('blur_' + label, '{GaussianBlur: {%s}}' % ', '.join(args),
         vision.GaussianBlur(size, sigma), image('blur' + label, shape, U8))

for how in 'NEAREST', 'LINEAR':
    for label, shape, args in (
            ('turn', (7, 9, 3), dict(degrees=(25, 25))),
            ('shift', (8, 7, 1), dict(degrees=(0, 0), translate=(0.2, 0.2,
                                                                -0.1, -0.1))),
            ('scale', (9, 8, 3), dict(degrees=(0, 0), scale=(0.7, 0.7))),
            ('shear', (8, 9, 3), dict(degrees=(0, 0), shear=(20, 20))),
            ('all', (11, 12, 3),
             dict(degrees=(-40, -40), translate=(0.13, 0.13), scale=(1.3, 1.3),
                  shear=(10, 10, -15, -15), fill_value=(7, 99, 200)))):
        text = ', '.join('%s: %s' % (k, list(v)) for k, v in args.items())
        emit('affine_%s_%s' % (how.lower(), label),
             '{RandomAffine: {%s, resample: %s}}' % (text, how),
             vision.RandomAffine(resample=getattr(vision.Inter, how), **args),
             image('affine' + label, shape, U8))
for label, shape, deg in ('odd', (7, 7, 3), 30), ('wide', (5, 9, 1), -77.7):
    emit('rotation_linear_' + label,
         '{RandomRotation: {degrees: [%r, %r], resample: LINEAR}}'
         % (deg, deg), vision.RandomRotation((deg, deg),
                                             vision.Inter.LINEAR),
         image('rl' + label, shape, U8))


def emit_any(name, text, op, a, tries, moved=(), fill=0):
    """All results of a random operation. In MindSpore 2.10 RandAugment and
    AutoAugment move an image by as many widths as they should pixels, so that
    nothing but the fill value is left; the results in `moved` replace it."""
    all_of = {op(a).tobytes() for _ in range(tries)}
    if moved:
        all_of.discard(np.broadcast_to(np.array(fill, U8), a.shape).tobytes())
        all_of |= {m.tobytes() for m in moved}
    (HERE / (name + '.yaml')).write_text(
        'op: {%s}\n' % text + block('in', a) +
        block('any', np.stack([np.frombuffer(b, a.dtype).reshape(a.shape)
                               for b in sorted(all_of)])))


def shift(axis, k, bins=10, by=vision.Inter.NEAREST, fill=0):
    """Translations of bin k by pixels, in both directions."""
    def op(sign):
        def run(a):
            side = a.shape[1 - axis]
            move = [0.0, 0.0]
            move[axis] = sign * int(150 / 331 * side * k / (bins - 1)) / side
            return vision.Affine(0.0, move, 1.0, [0.0, 0.0], by, fill)(a)
        return run
    return op(1), op(-1)


def shear(axis, k):
    return [vision.Affine(0.0, [0.0, 0.0], 1.0, [
        sign * np.degrees(0.3 * k / 9) * (i == axis) for i in (0, 1)])
        for sign in (1, -1)]


def factor(make, k):
    size = np.float32(k) * (np.float32(0.9) / np.float32(9))
    return [make(float(1 + sign * size)) for sign in (1, -1)]


def both(a, *lists):
    """All results of one operation of each list, or of none of it."""
    all_of = [a]
    for ops in lists:
        all_of += [op(b) for b in all_of for op in ops]
    return all_of


a = image('augment', (4, 5, 3), U8)
for how in 'NEAREST', 'LINEAR':
    by = getattr(vision.Inter, how)
    fill = 99
    emit_any('rand_augment_' + how.lower(), 'RandAugment: {num_ops: 1, '
             'magnitude: 21, interpolation: %s, fill_value: 99}'
             % how, vision.RandAugment(1, 21, interpolation=by,
                                       fill_value=fill), a, 2000,
             [op(a) for axis in (0, 1)
              for op in shift(axis, 21, 31, by, fill)], fill)
emit_any('trivial_augment_wide', 'TrivialAugmentWide: {num_magnitude_bins: 5}',
         vision.TrivialAugmentWide(5), a, 8000)

# so large that MindSpore's shifts leave nothing of it
a = image('policies', (7, 8, 3), U8)
turns = [vision.RandomRotation((d, d)) for d in (30 * 2 / 9, -30 * 2 / 9)]
moved = {
    'IMAGENET': (),
    'CIFAR10': (both(a, turns, shift(0, 9)) +
                both(a, shear(1, 8), shift(1, 9)) +
                both(a, factor(vision.AdjustSaturation, 7), shift(0, 8)) +
                both(a, shift(1, 3), factor(vision.AdjustSharpness, 6)) +
                both(a, shift(1, 9), shift(1, 9)) +
                both(a, shift(1, 9), [vision.AutoContrast()])),
    'SVHN': (both(a, [vision.Equalize()], shift(1, 6)) +
             both(a, shear(1, 7), shift(0, 3)) +
             both(a, [vision.Solarize((256 - 256 * 2 / 9, 255))],
                  shift(1, 7)) +
             both(a, shear(0, 9), shift(1, 3))),
}
for policy in vision.AutoAugmentPolicy:
    emit_any('auto_augment_' + policy.value, 'AutoAugment: {policy: %s}'
             % policy.name, vision.AutoAugment(policy), a, 60000,
             moved[policy.name])
