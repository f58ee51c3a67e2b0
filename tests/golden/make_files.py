#!/usr/bin/env python3
"""Writes the samples of tests/fuzz/corpus/{idx,npy,png}, which tests/unit/t_files.c reads.

usage: make_files.py        (NumPy 1.26; run in the project's root)
Pixel (y, x), channel c of every image is (50 y + 10 x + 3 c) mod 256."""
import gzip, io, os, struct, zlib
import numpy as np

ROOT = 'tests/fuzz/corpus'
W, H = 5, 3


def write(path, data):
    os.makedirs(os.path.dirname(f'{ROOT}/{path}'), exist_ok=True)
    with open(f'{ROOT}/{path}', 'wb') as f:
        f.write(data)


def idx(kind, dims, payload):
    return struct.pack('>BBBB', 0, 0, kind, len(dims)) + struct.pack(f'>{len(dims)}I', *dims) + payload


def npy(array, **how):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, **how)
    return out.getvalue()


def chunk(name, data):
    return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))


def png(w, h, depth, color, rows, interlace=0, extra=b''):
    head = struct.pack('>IIBBBBB', w, h, depth, color, 0, 0, interlace)
    body = zlib.compress(b''.join(b'\0' + r for r in rows), 9)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + extra + chunk(b'IDAT', body) + chunk(b'IEND', b'')


def pixel(y, x, c):
    return (y * 50 + x * 10 + c * 3) & 255


def rows(*value):
    """Rows of bytes; value: functions of (y, x), one per channel."""
    return [bytes(v(y, x) for x in range(W) for v in value) for y in range(H)]


def adam7(value):
    out = []
    for x0, y0, dx, dy in (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2):
        for y in range(y0, H, dy):
            line = b''.join(value(y, x) for x in range(x0, W, dx))
            if line:
                out.append(line)
    return out


images = idx(8, (2, 3, 4), bytes(range(24)))
write('idx/u8', images)
write('idx/u8.gz', gzip.compress(images, mtime=0))
write('idx/two_members.gz', gzip.compress(images[:16], mtime=0) + gzip.compress(images[16:], mtime=0))
write('idx/i16', idx(0x0b, (3,), struct.pack('>hhh', 1, -2, 300)))
write('idx/f32', idx(0x0d, (2,), struct.pack('>ff', 0.5, -1.25)))
write('idx/labels', idx(8, (3,), bytes([5, 0, 4])))
write('idx/huge', idx(8, (0xffffffff,) * 4, b'x'))
write('idx/huge.gz', gzip.compress(idx(8, (0xffff, 0xffff), b'x'), mtime=0))
write('idx/none_of_huge', idx(8, (0, 0xffffffff, 0xffffffff), b''))
write('idx/empty_dim', idx(8, (0, 5), b''))
write('idx/trailing', images + b'!')
write('idx/bad_type', idx(7, (1,), b'a'))

six = np.arange(6, dtype='<f4').reshape(2, 3)
write('npy/f4', npy(six))
write('npy/f4_fortran', npy(np.asfortranarray(six)))
write('npy/f4_big', npy(six.astype('>f4')))
write('npy/i8_v2', npy(np.arange(4, dtype='<i8'), version=(2, 0)))
write('npy/v3', npy(np.arange(3, dtype='u1'), version=(3, 0)))
write('npy/scalar', npy(np.array(7, dtype='<i4')))
write('npy/bool', npy(np.array([True, False])))
write('npy/bool_any', npy(np.array([2, 0, 255], 'u1')).replace(b'|u1', b'|b1'))
write('npy/empty', npy(np.zeros((0, 3), '<f4')))
write('npy/complex', npy(np.zeros(2, 'c8')))
write('npy/structured', npy(np.zeros(2, [('a', '<i4')])))
write('npy/text', npy(np.array(['ab', 'c'])))
write('npy/trailing', npy(six) + b'x')

red, green, blue = (lambda y, x, c=c: pixel(y, x, c) for c in range(3))
color = rows(red, green, blue)
palette = chunk(b'PLTE', bytes(pixel(y, x, c) for y in range(H) for x in range(W) for c in range(3)))
write('png/gray', png(W, H, 8, 0, rows(red)))
write('png/gray1', png(W, H, 1, 0, [bytes([0b10101000]), bytes([0b01010000]), bytes([0b11111000])]))
write('png/gray16', png(W, H, 16, 0, rows(red, lambda y, x: 0x81)))
write('png/gray_alpha', png(W, H, 8, 4, rows(red, lambda y, x: 77)))
write('png/rgb', png(W, H, 8, 2, color))
write('png/rgb_gamma', png(W, H, 8, 2, color, extra=chunk(b'gAMA', struct.pack('>I', 100000))))
write('png/rgba', png(W, H, 8, 6, rows(red, green, blue, lambda y, x: 128)))
write('png/palette', png(W, H, 8, 3, rows(lambda y, x: y * W + x), extra=palette))
write('png/palette_clear', png(W, H, 8, 3, rows(lambda y, x: y * W + x), extra=palette + chunk(b'tRNS', bytes([0, 128, 255]))))
write('png/interlaced', png(W, H, 8, 2, adam7(lambda y, x: bytes(pixel(y, x, c) for c in range(3))), interlace=1))
write('png/cut', png(W, H, 8, 2, color)[:70])
write('png/wide', png(100000, 100000, 8, 0, rows(red)))
