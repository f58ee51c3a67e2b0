/*
 * y = sum of w_i w_j x_ij over the four rows and four columns around a place.
 * Along an axis, at distance t from an element (Keys 1981):
 *
 *   w = (a + 2) t^3 - (a + 3) t^2 + 1         t <= 1
 *   w = a t^3 - 5 a t^2 + 8 a t - 4 a         1 < t < 2
 *
 * As in MindSpore, t is a multiple of 1 / 1024. With align_corners a = -0.75,
 * and the border repeats (as in PyTorch); else a = -0.5, elements outside have
 * no weight, and the others are divided by their sum (PyTorch: as before).
 */
#include "families/bicubic.h"

#include "kernels/parallel_for.h"

#include <math.h>
#include <string.h>

#define STEPS 1024 /* of t */

struct tap {
    int64_t at[4];
    cr_real w[4];
};

static double weight(double a, double t)
{
    return t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1
                  : ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
}

static struct tap bicubic_tap(bool align, int64_t in, int64_t out, int64_t i)
{
    float step = align && out > 1 ? (float)(in - 1) / (float)(out - 1)
                                  : (float)in / (float)out;
    float place = align ? (float)i * step : ((float)i + 0.5F) * step - 0.5F;
    int64_t at = (int64_t)floorf(place), k;
    double t = (double)lrintf((place - (float)at) * STEPS) / STEPS;
    double w[4] = { 1 + t, t, 1 - t, 2 - t }, sum = 0;
    struct tap tap;

    for (k = 0; k < 4; k++) {
        int64_t from = at - 1 + k;
        bool outside = from < 0 || from >= in;

        tap.at[k] = from < 0 ? 0 : from >= in ? in - 1 : from;
        w[k] = !align && outside ? 0 : weight(align ? -0.75 : -0.5, w[k]);
        sum += w[k];
    }
    for (k = 0; k < 4; k++)
        tap.w[k] = (cr_real)(align ? w[k] : w[k] / sum);
    return tap;
}

struct planes {
    const struct cr_op_ctx *s;
    int64_t h, w, out_h, out_w;
    struct tap *row, *col;
};

static struct planes bicubic_planes(const struct cr_op_ctx *s)
{
    const struct cr_bicubic *o = s->attr;
    struct planes p = {
        s, s->in[0].dim[2], s->in[0].dim[3], o->h, o->w, s->scratch, NULL
    };
    int64_t i;

    p.col = p.row + p.out_h;
    for (i = 0; i < p.out_h; i++)
        p.row[i] = bicubic_tap(o->align, p.h, p.out_h, i);
    for (i = 0; i < p.out_w; i++)
        p.col[i] = bicubic_tap(o->align, p.w, p.out_w, i);
    return p;
}

static bool bicubic_plan(struct cr_op_plan *p)
{
    const struct cr_bicubic *o = p->attr;

    p->out[0] = p->in[0];
    p->out[0].dim[2] = o->h;
    p->out[0].dim[3] = o->w;
    p->scratch = (size_t)(o->h + o->w) * sizeof(struct tap);
    return true;
}

static void bicubic_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    int64_t i, j;
    int k, l;

    for (; from < to; from++) {
        const cr_real *x = cr_creals(p->s->x[0]) + from * p->h * p->w;
        cr_real *y = cr_reals(p->s->y[0]) + from * p->out_h * p->out_w;

        for (i = 0; i < p->out_h; i++) {
            const struct tap *r = &p->row[i];

            for (j = 0; j < p->out_w; j++) {
                const struct tap *c = &p->col[j];
                cr_real sum = 0;

                for (k = 0; k < 4; k++) {
                    const cr_real *line = x + r->at[k] * p->w;
                    cr_real part = 0;

                    for (l = 0; l < 4; l++)
                        part += c->w[l] * line[c->at[l]];
                    sum += r->w[k] * part;
                }
                *y++ = sum;
            }
        }
    }
}

static void bicubic_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    int64_t i, j;
    int k, l;

    for (; from < to; from++) {
        const cr_real *dy = cr_creals(p->s->dy[0]) + from * p->out_h * p->out_w;
        cr_real *dx = cr_reals(p->s->dx[0]) + from * p->h * p->w;

        if (!p->s->accumulate[0])
            memset(dx, 0, (size_t)(p->h * p->w) * sizeof *dx);
        for (i = 0; i < p->out_h; i++) {
            const struct tap *r = &p->row[i];

            for (j = 0; j < p->out_w; j++, dy++) {
                const struct tap *c = &p->col[j];

                for (k = 0; k < 4; k++)
                    for (l = 0; l < 4; l++)
                        dx[r->at[k] * p->w + c->at[l]] +=
                            *dy * r->w[k] * c->w[l];
            }
        }
    }
}

static void bicubic_each(const struct cr_op_ctx *s,
                         void (*fn)(void *, int64_t, int64_t))
{
    struct planes p = bicubic_planes(s);

    cr_parallel_for_coarse(s->in[0].dim[0] * s->in[0].dim[1],
                           10 * (double)(p.out_h * p.out_w), &p, fn);
}

static void bicubic_forward(const struct cr_op_ctx *s)
{
    bicubic_each(s, bicubic_range);
}

static void bicubic_backward(const struct cr_op_ctx *s)
{
    bicubic_each(s, bicubic_back_range);
}

static const struct cr_opt bicubic_opts[] = {
    CR_INT(struct cr_bicubic, h, 1, CR_DIM_MAX, "Output height."),
    CR_INT(struct cr_bicubic, w, 1, CR_DIM_MAX, "Output width."),
    CR_BOOL_DEFAULT(struct cr_bicubic, align, false,
                    "Align the first and last elements."),
    { 0 },
};

const struct cr_op cr_bicubic_op = {
    .about = { .name = "bicubic",
               .opts = bicubic_opts,
               .size = sizeof(struct cr_bicubic) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .plan = bicubic_plan,
    .forward = bicubic_forward,
    .backward = bicubic_backward,
};
