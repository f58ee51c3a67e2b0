/* Draws handwritten-looking digits. datasets/README.md describes the method.
 *
 *     table of strokes -> jitter -> spline -> affine -> warp -> fit -> ink
 *
 * The pixels are the same on every machine. They come from a counter-based
 * generator and from + - * / and sqrt, which IEEE 754 rounds in one way only;
 * no function whose last bit is the libm's choice is called, and products are
 * not fused into sums.
 */
#include "draw_digit.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "the same pixels everywhere need a build without -ffast-math"
#endif
/* gcc does not fuse under -std=c17, and warns of the pragma. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
static_assert(FLT_EVAL_METHOD == 0, "double must be computed as double");

enum {
    MARKS = 16, /* points of the longest glyph, and one for the end */
    STEPS = 6,  /* straight pieces between two points */
    DOTS = MARKS * (STEPS + 1),
};

/* ---- How much things vary ----------------------------------------------
 * Drawn evenly between the two numbers, or normal with that deviation.
 * Lengths are pixels; the box of a glyph is 100 units, UNIT pixels each.
 * README.md tells what these numbers make of the set: much of what moves a
 * whole digit and little of what bends it is what a linear model fails at and
 * a small network learns. */
struct range {
    double lo, hi;
};

static const double UNIT = 0.2;   /* 20 of the 28 pixels, as MNIST has it */
static const double MARGIN = 0.8; /* the ink keeps this far from the edge */

static const double JITTER = 1.4;                 /* of a point, in units */
static const struct range TURN = { -0.09, 0.09 }; /* tan of half the angle */
static const struct range SLANT = { -0.10, 0.25 };
static const struct range WIDTH = { 0.70, 1.15 };
static const struct range HEIGHT = { 0.70, 1.05 };
static const struct range SHIFT = { -2.7, 2.7 };
static const double WARP = 0.8;                /* of each node of the field */
static const struct range PEN = { 0.8, 1.5 };  /* half the stroke's width */
static const double PRESSURE = 0.12;           /* of that, along the stroke */
static const struct range SOFT = { 0.5, 1.1 }; /* half the width of an edge */
static const struct range INK = { 150, 220 };
static const struct range GRAIN = { 0.0, 0.35 };

/* ---- The strokes -------------------------------------------------------
 * B begins a stroke, C is a point on a smooth curve, K a corner; x goes
 * right, y down. The second number says how often this way is taken. */
enum mark_kind {
    END,
    BEGIN,
    CURVE,
    CORNER
};

struct mark {
    unsigned char kind, x, y;
};

struct glyph {
    int digit, weight;
    struct mark mark[MARKS];
};

/* clang-format off */
#define B(x, y) { BEGIN, x, y }
#define C(x, y) { CURVE, x, y }
#define K(x, y) { CORNER, x, y }

static const struct glyph glyphs[] = {
    /* an oval; a narrow one; one that overlaps where it closes */
    { 0, 4, { B(52, 2), C(24, 18), C(14, 52), C(26, 86), C(52, 98), C(76, 84),
              C(86, 50), C(76, 16), C(50, 2) } },
    { 0, 3, { B(60, 4), C(36, 16), C(24, 54), C(32, 90), C(54, 95), C(74, 58),
              C(74, 18), C(57, 3) } },
    { 0, 3, { B(70, 10), C(40, 3), C(15, 28), C(14, 66), C(40, 97), C(74, 86),
              C(88, 52), C(78, 18), C(54, 6), C(42, 12) } },

    /* a line; a leaning line; with a flag; with a flag and a foot */
    { 1, 4, { B(50, 2), C(50, 50), C(50, 98) } },
    { 1, 2, { B(62, 2), C(50, 50), C(38, 98) } },
    { 1, 3, { B(30, 26), K(54, 2), C(54, 50), C(54, 98) } },
    { 1, 2, { B(30, 24), K(52, 2), C(52, 97), B(28, 97), C(76, 97) } },

    /* a straight foot; a loop in the foot; a wave for a foot */
    { 2, 4, { B(20, 24), C(34, 6), C(60, 3), C(78, 20), C(70, 44), C(44, 72),
              K(18, 96), C(82, 95) } },
    { 2, 3, { B(20, 22), C(40, 3), C(68, 8), C(74, 32), C(54, 66), C(30, 90),
              C(15, 90), C(22, 77), C(44, 82), C(64, 95), C(88, 90) } },
    { 2, 3, { B(24, 16), C(50, 2), C(76, 20), C(64, 50), K(18, 94), C(42, 87),
              C(64, 96), C(86, 90) } },

    /* two bows; a flat top; one smooth line */
    { 3, 4, { B(22, 12), C(48, 2), C(74, 14), C(70, 36), K(42, 47), C(74, 56),
              C(82, 76), C(58, 97), C(20, 88) } },
    { 3, 2, { B(22, 4), K(76, 4), K(44, 40), C(72, 50), C(80, 74), C(56, 97),
              C(20, 88) } },
    { 3, 3, { B(20, 16), C(44, 2), C(72, 14), C(66, 36), C(44, 47), C(70, 56),
              C(80, 76), C(56, 97), C(18, 84) } },

    /* open; closed, of one line; with a round bowl */
    { 4, 4, { B(28, 4), K(18, 56), C(86, 54), B(66, 22), C(62, 98) } },
    { 4, 3, { B(88, 66), K(14, 66), K(64, 2), C(64, 98) } },
    { 4, 3, { B(24, 4), C(20, 38), C(40, 54), C(74, 48), B(78, 4), C(72, 50),
              C(66, 98) } },

    /* of one line; round at the neck; the hat drawn last */
    { 5, 4, { B(76, 4), K(30, 4), K(24, 44), C(50, 36), C(78, 54), C(76, 82),
              C(50, 98), C(18, 88) } },
    { 5, 2, { B(80, 6), C(56, 4), C(34, 12), K(26, 44), C(56, 40), C(80, 62),
              C(66, 92), C(38, 98), C(16, 86) } },
    { 5, 3, { B(32, 6), K(26, 46), C(52, 38), C(78, 58), C(70, 88), C(44, 98),
              C(18, 86), B(32, 6), C(82, 3) } },

    /* a hook; a straight back; a large loop */
    { 6, 4, { B(70, 4), C(40, 22), C(20, 58), C(26, 88), C(52, 98), C(76, 82),
              C(70, 58), C(46, 52), C(24, 72) } },
    { 6, 3, { B(60, 2), C(34, 34), C(20, 70), C(34, 96), C(64, 94), C(76, 74),
              C(58, 56), C(32, 64), C(21, 80) } },
    { 6, 3, { B(78, 12), C(54, 4), C(26, 30), C(18, 66), C(34, 96), C(66, 94),
              C(80, 70), C(62, 50), C(34, 56), C(21, 74) } },

    /* plain; with a bar; with a serif; with a round neck */
    { 7, 4, { B(18, 6), K(82, 6), C(58, 46), C(42, 98) } },
    { 7, 2, { B(18, 6), K(82, 6), C(58, 46), C(44, 98), B(34, 52),
              C(76, 50) } },
    { 7, 2, { B(18, 22), K(20, 5), K(82, 6), C(56, 46), C(46, 98) } },
    { 7, 2, { B(16, 12), C(46, 8), K(80, 6), C(60, 40), C(50, 66),
              C(47, 98) } },

    /* an S and back; two rings; an S closed by a straight line */
    { 8, 4, { B(72, 14), C(48, 3), C(26, 18), C(38, 40), C(64, 56), C(76, 78),
              C(52, 98), C(24, 82), C(36, 58), C(62, 40), C(76, 20),
              C(64, 6) } },
    { 8, 3, { B(50, 48), C(27, 34), C(28, 11), C(50, 2), C(73, 12), C(72, 35),
              C(50, 48), C(23, 62), C(23, 87), C(50, 98), C(77, 86), C(76, 62),
              C(50, 48) } },
    { 8, 3, { B(80, 6), C(50, 4), C(26, 16), C(34, 38), C(62, 58), C(70, 82),
              C(46, 98), C(24, 84), C(38, 60), C(64, 34), C(80, 6) } },

    /* a straight back; a hook for a tail; one smooth line */
    { 9, 4, { B(76, 22), C(54, 3), C(26, 14), C(24, 40), C(48, 52), C(72, 36),
              K(77, 12), C(74, 52), C(64, 98) } },
    { 9, 3, { B(76, 22), C(54, 3), C(26, 14), C(24, 40), C(48, 52), C(72, 38),
              K(78, 12), C(77, 62), C(60, 94), C(26, 92) } },
    { 9, 3, { B(74, 32), C(50, 52), C(25, 38), C(32, 10), C(62, 4), C(78, 26),
              C(72, 62), C(48, 98) } },
};
/* clang-format on */

enum {
    GLYPHS = sizeof(glyphs) / sizeof(glyphs[0])
};

/* ---- Random numbers ----------------------------------------------------
 * Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2,
 * 3", 2011): four words that are a function of a counter and a key. */
/* One stream for each purpose and each index in it. */
struct rng rng_at(uint64_t seed, int stream, int index)
{
    return (struct rng){
        .key = { (uint32_t)seed, (uint32_t)(seed >> 32) },
        .counter = { 0, (uint32_t)index, (uint32_t)stream, 0 },
    };
}

static void rng_refill(struct rng *r)
{
    uint32_t k0 = r->key[0], k1 = r->key[1];
    uint32_t *w = r->word;

    memcpy(w, r->counter, sizeof(r->word));
    for (int i = 0; i < 10; i++) {
        uint64_t p0 = (uint64_t)0xD2511F53 * w[0];
        uint64_t p1 = (uint64_t)0xCD9E8D57 * w[2];

        w[0] = (uint32_t)(p1 >> 32) ^ w[1] ^ k0;
        w[1] = (uint32_t)p1;
        w[2] = (uint32_t)(p0 >> 32) ^ w[3] ^ k1;
        w[3] = (uint32_t)p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    r->counter[0]++;
    r->left = 4;
}

static uint32_t rng_word(struct rng *r)
{
    if (r->left == 0)
        rng_refill(r);
    return r->word[--r->left];
}

/* Evenly in [0, n); the bias of n / 2^32 is of no matter here. */
int rng_below(struct rng *r, int n)
{
    return (int)((uint64_t)rng_word(r) * (uint64_t)n >> 32);
}

static double rng_unit(struct rng *r)
{
    return rng_word(r) * (1.0 / 4294967296.0);
}

static double rng_range(struct rng *r, struct range range)
{
    return range.lo + (range.hi - range.lo) * rng_unit(r);
}

/* Close to a normal number: the sum of four even ones, scaled to deviation 1.
 * It needs no logarithm, and never strays beyond 3.5. */
static double rng_normal(struct rng *r)
{
    double sum = 0;

    for (int i = 0; i < 4; i++)
        sum += rng_unit(r);
    return (sum - 2) * 1.7320508075688772;
}

/* ---- From a glyph to a path --------------------------------------------
 * A path is the strokes as many short straight pieces. */
struct dot {
    double x, y;
    double pen;  /* half the width here, as a part of the digit's own */
    bool joined; /* inked from the dot before */
};

struct path {
    int n;
    struct dot dot[DOTS];
};

static const struct glyph *glyph_pick(int digit, struct rng *r)
{
    int total = 0, left;

    for (int i = 0; i < GLYPHS; i++)
        if (glyphs[i].digit == digit)
            total += glyphs[i].weight;
    left = rng_below(r, total);
    for (int i = 0;; i++)
        if (glyphs[i].digit == digit && (left -= glyphs[i].weight) < 0)
            return &glyphs[i];
}

/* The Catmull-Rom spline between b and c, at t in [0, 1]. */
static double spline_at(double a, double b, double c, double d, double t)
{
    double linear = c - a, square = 2 * a - 5 * b + 4 * c - d;
    double cubic = 3 * (b - c) + d - a;

    return b + 0.5 * t * (linear + t * (square + t * cubic));
}

/* One span of a stroke, from b to c. The curve leaves b straight towards c
 * where there is no a, and likewise at c. */
static void path_span(struct path *path, const struct dot *a,
                      const struct dot *b, const struct dot *c,
                      const struct dot *d)
{
    struct dot before = { 2 * b->x - c->x, 2 * b->y - c->y, b->pen, false };
    struct dot after = { 2 * c->x - b->x, 2 * c->y - b->y, c->pen, false };

    if (!a)
        a = &before;
    if (!d)
        d = &after;
    for (int i = 0; i <= STEPS; i++) {
        double t = (double)i / STEPS;

        path->dot[path->n++] = (struct dot){
            .x = spline_at(a->x, b->x, c->x, d->x, t),
            .y = spline_at(a->y, b->y, c->y, d->y, t),
            .pen = spline_at(a->pen, b->pen, c->pen, d->pen, t),
            .joined = i > 0,
        };
    }
}

/* Writes the glyph with an unsteady hand, about the origin, in pixels. */
static void path_write(struct path *path, const struct glyph *g, struct rng *r)
{
    struct dot p[MARKS];
    int n = 0;

    for (; g->mark[n].kind != END; n++) {
        p[n].x = UNIT * (g->mark[n].x - 50 + JITTER * rng_normal(r));
        p[n].y = UNIT * (g->mark[n].y - 50 + JITTER * rng_normal(r));
        p[n].pen = 1 + PRESSURE * rng_normal(r);
    }
    path->n = 0;
    for (int i = 0; i + 1 < n; i++) {
        bool smooth = g->mark[i].kind == CURVE;
        bool goes_on = g->mark[i + 1].kind == CURVE && i + 2 < n &&
                       g->mark[i + 2].kind != BEGIN;

        if (g->mark[i + 1].kind != BEGIN)
            path_span(path, smooth ? &p[i - 1] : NULL, &p[i], &p[i + 1],
                      goes_on ? &p[i + 2] : NULL);
    }
}

/* Stretches, slants and turns. A rotation by an angle whose half has the
 * tangent t is rational in t: no sine is needed. */
static void path_affine(struct path *path, struct rng *r)
{
    double t = rng_range(r, TURN), slant = rng_range(r, SLANT);
    double width = rng_range(r, WIDTH), height = rng_range(r, HEIGHT);
    double c = (1 - t * t) / (1 + t * t), s = 2 * t / (1 + t * t);

    for (int i = 0; i < path->n; i++) {
        struct dot *p = &path->dot[i];
        double y = height * p->y, x = width * p->x - slant * y;

        p->x = c * x - s * y;
        p->y = s * x + c * y;
    }
}

/* The warp: a field of displacements, smooth because it is a cubic B-spline
 * over a coarse grid of random nodes. */
enum {
    NODES = 8
};

static const double NODE_STEP = 7; /* pixels from one node to the next */

/* The weights of the four nodes about `at`; returns the first of them. */
static int warp_weights(double at, double w[4])
{
    double u = at / NODE_STEP + (NODES - 1) / 2.0, t;
    int first = u < 1 ? 1 : u > NODES - 3 ? NODES - 3 : (int)u;

    t = u - first;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    w[0] = (1 - t) * (1 - t) * (1 - t) / 6;
    w[1] = (4 + t * t * (3 * t - 6)) / 6;
    w[2] = (1 + t * (3 + t * (3 - 3 * t))) / 6;
    w[3] = t * t * t / 6;
    return first - 1;
}

static void path_warp(struct path *path, struct rng *r)
{
    double node[NODES][NODES][2];

    for (int i = 0; i < NODES * NODES; i++) {
        node[i / NODES][i % NODES][0] = WARP * rng_normal(r);
        node[i / NODES][i % NODES][1] = WARP * rng_normal(r);
    }
    for (int k = 0; k < path->n; k++) {
        struct dot *p = &path->dot[k];
        double wx[4], wy[4], dx = 0, dy = 0;
        int x = warp_weights(p->x, wx), y = warp_weights(p->y, wy);

        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                dx += wy[i] * wx[j] * node[y + i][x + j][0];
                dy += wy[i] * wx[j] * node[y + i][x + j][1];
            }
        }
        p->x += dx;
        p->y += dy;
    }
}

/* Maps the values of one axis: v becomes v * scale + move. The middle of
 * lo..hi is mapped to the middle of the image, shifted by `shift`, but no ink
 * of a pen of radius `reach` is cut off at the edge. */
static void fit_axis(double lo, double hi, double reach, double shift,
                     double *scale, double *move)
{
    double room = SIDE - 2 * (MARGIN + reach), slack;

    *scale = hi - lo > room ? room / (hi - lo) : 1;
    slack = (room - (hi - lo) * *scale) / 2;
    shift = shift < -slack ? -slack : shift > slack ? slack : shift;
    *move = (SIDE - 1) / 2.0 + shift - (lo + hi) / 2 * *scale;
}

static void path_fit(struct path *path, double reach, struct rng *r)
{
    struct dot lo = path->dot[0], hi = lo;
    double sx, sy, mx, my;

    for (int i = 1; i < path->n; i++) {
        const struct dot *p = &path->dot[i];

        lo.x = p->x < lo.x ? p->x : lo.x;
        lo.y = p->y < lo.y ? p->y : lo.y;
        hi.x = p->x > hi.x ? p->x : hi.x;
        hi.y = p->y > hi.y ? p->y : hi.y;
    }
    fit_axis(lo.x, hi.x, reach, rng_range(r, SHIFT), &sx, &mx);
    fit_axis(lo.y, hi.y, reach, rng_range(r, SHIFT), &sy, &my);
    for (int i = 0; i < path->n; i++) {
        path->dot[i].x = path->dot[i].x * sx + mx;
        path->dot[i].y = path->dot[i].y * sy + my;
    }
}

/* ---- From a path to pixels ---------------------------------------------
 * `depth` holds, for each pixel's centre, the distance to the ink
 * (below zero: inside), the minimum over all pieces. */
static int ink_clamp(double v)
{
    return v < 0 ? 0 : v > SIDE - 1 ? SIDE - 1 : (int)v;
}

/* The piece from a to b, whose half width goes from ra to rb; farther than
 * `far` outside it nothing shows. */
static void ink_piece(const struct dot *a, const struct dot *b, double ra,
                      double rb, double far, double depth[PIXELS])
{
    double ux = b->x - a->x, uy = b->y - a->y, uu = ux * ux + uy * uy;
    double reach = (ra > rb ? ra : rb) + far;
    int x0 = ink_clamp((a->x < b->x ? a->x : b->x) - reach);
    int x1 = ink_clamp((a->x < b->x ? b->x : a->x) + reach + 1);
    int y0 = ink_clamp((a->y < b->y ? a->y : b->y) - reach);
    int y1 = ink_clamp((a->y < b->y ? b->y : a->y) + reach + 1);

    for (int y = y0; y <= y1; y++) {
        for (int x = x0; x <= x1; x++) {
            double vx = x - a->x, vy = y - a->y, t, d;

            t = uu > 0 ? (vx * ux + vy * uy) / uu : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            vx -= t * ux;
            vy -= t * uy;
            d = sqrt(vx * vx + vy * vy) - (ra + t * (rb - ra));
            if (d < depth[y * SIDE + x])
                depth[y * SIDE + x] = d;
        }
    }
}

static void path_ink(const struct path *path, double pen, struct rng *r,
                     unsigned char pixel[PIXELS])
{
    double soft = rng_range(r, SOFT), ink = rng_range(r, INK);
    double grain = rng_range(r, GRAIN);
    double depth[PIXELS];

    for (int i = 0; i < PIXELS; i++)
        depth[i] = soft;
    for (int i = 1; i < path->n; i++) {
        const struct dot *a = &path->dot[i - 1], *b = &path->dot[i];

        if (b->joined)
            ink_piece(a, b, pen * a->pen, pen * b->pen, soft, depth);
    }
    for (int i = 0; i < PIXELS; i++) {
        double t = (soft - depth[i]) / (2 * soft), v;

        t = t > 1 ? 1 : t;
        v = ink * t * t * (3 - 2 * t);
        if (v > 0)
            v *= 1 - grain * rng_unit(r);
        pixel[i] = (unsigned char)(v + 0.5);
    }
}

void digit_draw(int digit, struct rng *r, unsigned char pixel[PIXELS])
{
    struct path path;
    double pen = rng_range(r, PEN);

    path_write(&path, glyph_pick(digit, r), r);
    path_affine(&path, r);
    path_warp(&path, r);
    path_fit(&path, pen, r);
    path_ink(&path, pen, r, pixel);
}
