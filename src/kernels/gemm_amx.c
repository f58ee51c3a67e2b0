/*
 * Tiles of bfloat16 products on AMX-BF16: four registers of 16 x 16 sums, from
 * two of 16 rows x 16 pairs and two of 16 pairs x 16 lanes.
 *
 * tdpbf16ps adds 16 pairs to each sum: the products of their first numbers and
 * of their second ones in a chain each, then both to the sum, in float32.
 * Subnormal numbers count as zero. An output depends on its row and column of
 * the packed sides alone, not on the tile.
 *
 * Linux gives a process the registers' state (8 KiB per thread) on request.
 */
#include "base/compiler.h"

CR_O3

#include "base/cpu.h"
#include "kernels/gemm_bf16.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(CR_DOUBLE)

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AMX                                                               \
    CR_TARGET("avx512f,avx512vl,avx512bw,avx512dq,avx512bf16,avx2,fma,"   \
              "amx-tile,amx-bf16")
#define ROWS 32
#define REQUEST_STATE 0x1023 /* ARCH_REQ_XCOMP_PERM */
#define TILE_DATA 18

static bool amx_available(void)
{
    unsigned a, b, c, d;

    return cr_isa() == CR_ISA_AVX512 &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & 1u << 22) &&
           (d & 1u << 24) &&
           syscall(SYS_arch_prctl, REQUEST_STATE, TILE_DATA) == 0;
}

/* All eight registers: 16 rows of 64 bytes. */
AMX static void amx_begin(void)
{
    static const struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } config = { 1,
                 0,
                 { 0 },
                 { 64, 64, 64, 64, 64, 64, 64, 64 },
                 { 16, 16, 16, 16, 16, 16, 16, 16 } };

    _tile_loadconfig(&config);
}

AMX static void amx_end(void)
{
    _tile_release();
}

AMX CR_INLINE __m512 amx_round(__m512 x)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(
        _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(x)), 16));
}

/* Registers 0 to 3 have the sums, 4 and 5 rows, 6 and 7 lanes. */
AMX CR_INLINE void amx_sums(const struct cr_bf16_tile *t, bool two_rows,
                            bool two_lanes, float *sum)
{
    const uint32_t *a = t->a, *b = t->b;
    int64_t a_row = t->a_row * 4, b_row = two_lanes ? 128 : 64, p;

    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (p = 0; p < t->pairs; p += 16, a += 16, b += 4 * b_row) {
        _tile_loadd(6, b, b_row);
        _tile_loadd(4, a, a_row);
        _tile_dpbf16ps(0, 4, 6);
        if (two_lanes) {
            _tile_loadd(7, b + 16, b_row);
            _tile_dpbf16ps(1, 4, 7);
        }
        if (two_rows) {
            _tile_loadd(5, a + 16 * t->a_row, a_row);
            _tile_dpbf16ps(2, 5, 6);
            if (two_lanes)
                _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, sum, 128);
    if (two_lanes)
        _tile_stored(1, sum + 16, 128);
    if (two_rows)
        _tile_stored(2, sum + 16 * 32, 128);
    if (two_rows && two_lanes)
        _tile_stored(3, sum + 16 * 32 + 16, 128);
}

AMX static void amx_tile(const struct cr_bf16_tile *t, int rows, int vecs)
{
    _Alignas(64) float sum[ROWS * 32];
    __m512 alpha = _mm512_set1_ps(t->alpha), y;
    int r, v;

    if (vecs == 2 && rows > 16)
        amx_sums(t, true, true, sum);
    else if (vecs == 2)
        amx_sums(t, false, true, sum);
    else if (rows > 16)
        amx_sums(t, true, false, sum);
    else
        amx_sums(t, false, false, sum);
    for (r = 0; r < rows; r++)
        for (v = 0; v < vecs; v++) {
            float *to = t->c + r * t->c_row + v * 16;

            y = _mm512_load_ps(sum + r * 32 + v * 16);
            if (t->round)
                y = amx_round(y);
            _mm512_storeu_ps(to, t->add ? _mm512_fmadd_ps(alpha, y,
                                                          _mm512_loadu_ps(to))
                                        : _mm512_mul_ps(alpha, y));
        }
}

const struct cr_bf16_kernel cr_bf16_amx = {
    .name = "amx",
    .wide = 2,
    .max_rows = { 1, ROWS, ROWS },
    .unit = 16,
    .macs = 400,
    .available = amx_available,
    .begin = amx_begin,
    .end = amx_end,
    .tile = amx_tile,
};

#else

static bool amx_available(void)
{
    return false;
}

const struct cr_bf16_kernel cr_bf16_amx = { .name = "amx",
                                            .available = amx_available };

#endif
