/*
 * Direct convolutions of pairs of bfloat16 on AMX-BF16. What apply copies is
 * made for it: 16 columns next to each other are 16 rows of a register, 16
 * words of channels each; the weights of a tap are 16 rows of 16 lanes.
 * Arithmetic is that of gemm_amx.c.
 *
 * A tile of fewer than 16 columns reads what follows them in the copy, and
 * drops what comes of it.
 */
#include "kernels/conv_nhwc.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx512.h"

#undef KERNEL
#define KERNEL                                                            \
    CR_TARGET("avx512f,avx512vl,avx512bw,avx512dq,avx512bf16,avx2,fma,"   \
              "amx-tile,amx-bf16")

#define MOST 32 /* columns of a tile, and lanes */

/* Registers 0 to 3 have sums, 4 and 5 columns of the copy, 6 and 7 weights:
 * `words` of a column, and rows of weights. */
KERNEL static void amx_begin(int words)
{
    const struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } config = { 1,
                 0,
                 { 0 },
                 { 64, 64, 64, 64, (uint16_t)(4 * words),
                   (uint16_t)(4 * words), 64, 64 },
                 { 16, 16, 16, 16, 16, 16, (uint8_t)words, (uint8_t)words } };

    _tile_loadconfig(&config);
}

KERNEL static void amx_end(void)
{
    _tile_release();
}

#include "kernels/conv_nhwc_pairs.inc"

#define IN_TILES
#define APPLY_BEGIN(words) amx_begin((int)(words))
#define APPLY_END() amx_end()
#define MAX_PIXELS 1, MOST, MOST
#define KERNEL_APPLY cr_conv_nhwc_apply_amx
#include "kernels/conv_nhwc.inc"

/* sum: [column][32 lanes] */
KERNEL CR_INLINE void amx_sums(const struct direct_tile *t, bool more,
                               int vecs, float *sum)
{
    const cr_real *x = t->x, *w = t->w;
    int64_t row = (int64_t)vecs * 64, left, n, k;

    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (left = t->words; left > 0; left -= BLOCK, x += t->plane) {
        n = direct_min(left, BLOCK) * vecs * LANES; /* words of a tap */
        w += t->from_tap * n;
        for (k = t->from_tap; k < t->end_tap; k++, w += n) {
            const cr_real *p = x + t->tap[k];

            _tile_loadd(6, w, row);
            _tile_loadd(4, p, BLOCK * 4);
            _tile_dpbf16ps(0, 4, 6);
            if (vecs == 2) {
                _tile_loadd(7, w + LANES, row);
                _tile_dpbf16ps(1, 4, 7);
            }
            if (more) {
                _tile_loadd(5, p + 16 * BLOCK, BLOCK * 4);
                _tile_dpbf16ps(2, 5, 6);
                if (vecs == 2)
                    _tile_dpbf16ps(3, 5, 7);
            }
        }
        w += (t->taps - t->end_tap) * n;
    }
    _tile_stored(0, sum, MOST * 4);
    if (vecs == 2)
        _tile_stored(1, sum + LANES, MOST * 4);
    if (more)
        _tile_stored(2, sum + 16 * MOST, MOST * 4);
    if (more && vecs == 2)
        _tile_stored(3, sum + 16 * MOST + LANES, MOST * 4);
}

KERNEL CR_INLINE void amx_close(const struct direct_tile *t, int j, int v,
                                vec_mask which, vec y)
{
    int64_t at = j * t->y_col + v * LANES;

    if (t->from)
        y = V_ADD(y, V_LOAD_M(t->from + at, which));
    if (t->bias)
        y = V_ADD(y, V_LOAD_M(t->bias + v * LANES, which));
    if (t->act != CR_ACT_NONE)
        y = V_RELU(y);
    if (t->act == CR_ACT_RELU6)
        y = V_TO_6(y);
    if (t->mask)
        y = V_MASK(y, V_LOAD_M(t->mask + at, which));
    V_STORE_M(t->y + at, which, y);
}

KERNEL static void direct_tile(const struct direct_tile *t, int pixels,
                               int vecs)
{
    _Alignas(64) float sum[MOST * MOST];
    int j;

    if (pixels > 16 && vecs == 2)
        amx_sums(t, true, 2, sum);
    else if (pixels > 16)
        amx_sums(t, true, 1, sum);
    else if (vecs == 2)
        amx_sums(t, false, 2, sum);
    else
        amx_sums(t, false, 1, sum);
    for (j = 0; j < pixels; j++) {
        if (vecs == 2)
            amx_close(t, j, 0, (vec_mask)0xffff, V_LOAD(sum + j * MOST));
        amx_close(t, j, vecs - 1, t->last,
                  V_LOAD(sum + j * MOST + (vecs - 1) * LANES));
    }
}

#endif
