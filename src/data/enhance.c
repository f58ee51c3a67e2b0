#include "data/enhance.h"

#include <math.h>
#include <string.h>

bool cr_image_of_bytes(const struct cr_transform_plan *p, const char *name,
                       int64_t channels, struct cr_image *to)
{
    if (!cr_image_of(p, name, to))
        return false;
    if (p->in.type == CR_U8 && (channels == 0 || to->c == channels))
        return true;
    return cr_error(p->diag, p->pos, CR_E_SHAPE,
                    "%s: found %s %s, expected images (height, width, %s) of "
                    "uint8",
                    name, cr_type_name(p->in.type),
                    cr_diag_format(p->arena, &p->in),
                    channels ? cr_strf(p->arena, "%d", (int)channels)
                             : "channels");
}

unsigned char cr_enhance_byte(float v)
{
    return v <= 0 ? 0 : v >= 255 ? 255 : (unsigned char)lrintf(v);
}

/* As OpenCV, in 1/2^15. */
static int enhance_gray(const unsigned char *x)
{
    return (x[0] * 9798 + x[1] * 19235 + x[2] * 3735 + 16384) >> 15;
}

/* y = f x + (1 - f) m, or grey in place of m */
static void enhance_mix(unsigned char *x, int64_t n, float f, float m,
                        bool grays)
{
    int64_t i, k;

    for (i = 0; i < n; i++, x += 3) {
        float base = grays ? (float)enhance_gray(x) : m;

        for (k = 0; k < 3; k++)
            x[k] = cr_enhance_byte(fmaf(base, 1 - f, f * (float)x[k]));
    }
}

unsigned char cr_enhance_gray601(const unsigned char *x)
{
    return (unsigned char)((x[0] * 19595 + x[1] * 38470 + x[2] * 7471 +
                            0x8000) >> 16);
}

void cr_enhance_grayscale(unsigned char *x, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i++, x += 3)
        x[0] = x[1] = x[2] = cr_enhance_gray601(x);
}

void cr_enhance_brightness(unsigned char *x, int64_t n, float f)
{
    enhance_mix(x, n, f, 0, false);
}

void cr_enhance_contrast(unsigned char *x, int64_t n, float f)
{
    int64_t i, sum = 0;

    for (i = 0; i < n; i++)
        sum += enhance_gray(x + 3 * i);
    enhance_mix(x, n, f, (float)floor((double)sum / (double)n + 0.5), false);
}

void cr_enhance_saturation(unsigned char *x, int64_t n, float f)
{
    enhance_mix(x, n, f, 0, true);
}

void cr_enhance_sharpness(const struct cr_image *m, const unsigned char *x,
                          float f, unsigned char *y)
{
    int64_t i, j, u, v, row = m->w * m->c;

    memcpy(y, x, (size_t)(m->h * row));
    for (i = 1; i < m->h - 1; i++)
        for (j = m->c; j < row - m->c; j++) {
            const unsigned char *at = x + i * row + j;
            int sum = 4 * at[0];
            float smooth;

            for (u = -row; u <= row; u += row)
                for (v = -m->c; v <= m->c; v += m->c)
                    sum += at[u + v];
            smooth = (float)((2 * sum + 13) / 26); /* 13 is odd: no ties */
            y[i * row + j] =
                cr_enhance_byte(fmaf(at[0], f, smooth * (1 - f)));
        }
}

/* ---- maps of the values of a channel ---- */

static void enhance_count(const unsigned char *x, int64_t n, int64_t c,
                          int64_t count[256])
{
    int64_t i;

    memset(count, 0, 256 * sizeof(*count));
    for (i = 0; i < n; i++)
        count[x[i * c]]++;
}

static void enhance_map(unsigned char *x, int64_t n, int64_t c,
                        const unsigned char table[256])
{
    int64_t i;

    for (i = 0; i < n; i++)
        x[i * c] = table[x[i * c]];
}

/* Removes `cut` values, the smallest (by = 1) or the largest (by = -1). */
static void enhance_cut(int64_t count[256], int64_t cut, int by)
{
    int i;

    for (i = by > 0 ? 0 : 255; i >= 0 && i < 256 && cut > 0; i += by) {
        int64_t k = count[i] < cut ? count[i] : cut;

        count[i] -= k;
        cut -= k;
    }
}

void cr_enhance_auto_contrast(unsigned char *x, int64_t n, int64_t c,
                              int64_t cutoff, const struct cr_ints *ignore)
{
    unsigned char table[256];
    int64_t count[256], k;
    int i, low, high;

    for (k = 0; k < c; k++) {
        float scale, shift;
        int64_t cut, left = 0;

        enhance_count(x + k, n, c, count);
        for (i = 0; ignore && i < ignore->n; i++)
            count[ignore->v[i]] = 0;
        for (i = 0; i < 256; i++)
            left += count[i];
        cut = left * cutoff / 100;
        enhance_cut(count, cut, 1);
        enhance_cut(count, cut, -1);
        for (low = 0; low < 255 && count[low] == 0; low++)
            ;
        for (high = 255; high > 0 && count[high] == 0; high--)
            ;
        if (high <= low)
            continue;
        scale = 255.0f / (float)(high - low);
        shift = (float)-low * scale;
        for (i = 0; i < 256; i++) {
            float v = (float)i * scale;

            v += shift;
            table[i] = (unsigned char)(v <= 0 ? 0 : v >= 255 ? 255 : v);
        }
        enhance_map(x + k, n, c, table);
    }
}

void cr_enhance_equalize(unsigned char *x, int64_t n, int64_t c)
{
    unsigned char table[256] = { 0 };
    int64_t count[256], k;

    for (k = 0; k < c; k++) {
        int64_t sum = 0;
        float scale;
        int i = 0;

        enhance_count(x + k, n, c, count);
        while (i < 255 && count[i] == 0)
            i++;
        if (count[i] == n)
            continue;
        scale = 255.0f / (float)(n - count[i]);
        for (table[i++] = 0; i < 256; i++) {
            sum += count[i];
            table[i] = cr_enhance_byte((float)sum * scale);
        }
        enhance_map(x + k, n, c, table);
    }
}

void cr_enhance_posterize(unsigned char *x, int64_t n, int64_t c, int bits)
{
    unsigned char kept = (unsigned char)(0xff00 >> bits);
    int64_t i;

    for (i = 0; i < n * c; i++)
        x[i] &= kept;
}

void cr_enhance_solarize(unsigned char *x, int64_t n, int64_t c, double low,
                         double high)
{
    int64_t i;

    for (i = 0; i < n * c; i++)
        if (x[i] >= low && x[i] <= high)
            x[i] = (unsigned char)(255 - x[i]);
}
