#include "data/warp.h"

#include <math.h>
#include <string.h>

#define RADIANS (3.14159265358979323846 / 180)

/* In 1/1024 pixel, limited to 32 bits. */
static int64_t fixed(double v)
{
    return llrint(fmax(fmin(v * 1024, INT32_MAX), INT32_MIN));
}

static const void *pixel(const struct cr_image *m, const void *x, int64_t u,
                         int64_t v, const void *fill)
{
    bool inside = u >= 0 && u < m->w && v >= 0 && v < m->h;

    return inside ? (const char *)x + (size_t)(v * m->w + u) * m->pixel : fill;
}

/* The mean of four pixels of uint8, weighted by u and v in 1/32 pixel. */
static void blend(const struct cr_image *m, const void *x, int64_t u, int64_t v,
                  const void *fill, unsigned char *y)
{
    int64_t i = u >> 5, j = v >> 5, k;
    int fu = (int)(u & 31), fv = (int)(v & 31);
    const unsigned char *a = pixel(m, x, i, j, fill);
    const unsigned char *b = pixel(m, x, i + 1, j, fill);
    const unsigned char *c = pixel(m, x, i, j + 1, fill);
    const unsigned char *d = pixel(m, x, i + 1, j + 1, fill);

    for (k = 0; k < m->c; k++) {
        int above = a[k] * (32 - fu) + b[k] * fu;
        int below = c[k] * (32 - fu) + d[k] * fu;

        y[k] = (unsigned char)((above * (32 - fv) + below * fv + 512) >> 10);
    }
}

/* Copies a pixel; sizes that the compiler knows are one move. */
static void copy(const struct cr_image *m, char *y, const void *x)
{
    switch (m->pixel) {
    case 1:
        *y = *(const char *)x;
        break;
    case 3:
        memcpy(y, x, 3);
        break;
    case 4:
        memcpy(y, x, 4);
        break;
    default:
        memcpy(y, x, m->pixel);
    }
}

#define STEPS 256

/* Positions are computed in 1/1024 pixel, with the start of a row and the
 * steps along it rounded separately, as OpenCV does: the steps are the same in
 * all rows. */
void cr_warp(const struct cr_image *m, const void *x, const double a[6],
             enum cr_warp_by by, const void *fill, void *y)
{
    double det = a[0] * a[4] - a[1] * a[3], d = det != 0 ? 1 / det : 0;
    double ux = a[4] * d, uy = -a[1] * d, vx = -a[3] * d, vy = a[0] * d;
    double u0 = -ux * a[2] - uy * a[5], v0 = -vx * a[2] - vy * a[5];
    int64_t step_u[STEPS], step_v[STEPS], i, j, k, n;
    int64_t half = by == CR_WARP_LINEAR ? 16 : 512;

    for (j = 0; j < m->w; j += n) {
        n = m->w - j < STEPS ? m->w - j : STEPS;
        for (k = 0; k < n; k++) {
            step_u[k] = fixed(ux * (double)(j + k));
            step_v[k] = fixed(vx * (double)(j + k));
        }
        for (i = 0; i < m->h; i++) {
            char *to = (char *)y + (size_t)(i * m->w + j) * m->pixel;
            int64_t u = fixed(uy * (double)i + u0) + half;
            int64_t v = fixed(vy * (double)i + v0) + half;

            for (k = 0; k < n; k++, to += m->pixel)
                if (by == CR_WARP_LINEAR)
                    blend(m, x, (u + step_u[k]) >> 5, (v + step_v[k]) >> 5,
                          fill, (unsigned char *)to);
                else
                    copy(m, to,
                         pixel(m, x, (u + step_u[k]) >> 10,
                               (v + step_v[k]) >> 10, fill));
        }
    }
}

bool cr_warp_check(const struct cr_transform_plan *p, const char *name,
                   enum cr_warp_by by)
{
    return by == CR_WARP_NEAREST || p->in.type == CR_U8 ||
           cr_error(p->diag, p->pos, CR_E_SHAPE,
                    "%s: LINEAR: found %s %s, expected uint8; use NEAREST",
                    name, cr_type_name(p->in.type),
                    cr_diag_format(p->arena, &p->in));
}

void cr_warp_rotation(double degrees, double x, double y, double a[6])
{
    double c = cos(degrees * RADIANS), s = sin(degrees * RADIANS);

    a[0] = a[4] = c;
    a[1] = s;
    a[3] = -s;
    a[2] = (1 - c) * x - s * y;
    a[5] = s * x + (1 - c) * y;
}

/* M = T C R S H C^-1: with the angle d, the scale s and the shear (x, y)
 *
 *     a0 = s cos(d - y) / cos y
 *     a1 = -s (cos(d - y) tan x / cos y + sin d)
 *     a3 = s sin(d - y) / cos y
 *     a4 = s (cos d - sin(d - y) tan x / cos y) */
void cr_warp_affine(const struct cr_image *m, const struct cr_affine *of,
                    double a[6])
{
    float d = (float)(of->degrees * RADIANS);
    float x = (float)(of->shear[0] * RADIANS);
    float y = (float)(of->shear[1] * RADIANS);
    float cx = (float)(m->w - 1) / 2, cy = (float)(m->h - 1) / 2;
    double s = of->scale, turn = (double)d - (double)y;
    float a0 = (float)(s * cos(turn) / cos(y));
    float a1 = (float)(s * (-cos(turn) * tan(x) / cos(y) - sin(d)));
    float a3 = (float)(s * sin(turn) / cos(y));
    float a4 = (float)(s * (-sin(turn) * tan(x) / cos(y) + cos(d)));

    a[0] = a0;
    a[1] = a1;
    a[2] = (1 - a0) * cx - a1 * cy + of->translate[0];
    a[3] = a3;
    a[4] = a4;
    a[5] = (1 - a4) * cy - a3 * cx + of->translate[1];
}
