/* What the grouped kernels are given, in terms of a convolution. */
#include "kernels/conv_grouped.h"

#include "kernels/conv_simd.h"

#include <string.h>

#define TOGETHER 8           /* blocks of a unit of sums, at most */
#define KEPT_BYTES (4 << 20) /* of rows, if they are of more than a block */
#define MAX_RATIO 4          /* of the channels in and out of a group */
#define MAX_BORDER 8

/* Channels of a group, of the source and of the result. */
struct width {
    int64_t from, to;
};

static struct width width(const struct cr_conv *c, bool of_dy)
{
    int64_t ci = c->ci / c->group, co = c->co / c->group;

    return of_dy ? (struct width){ co, ci } : (struct width){ ci, co };
}

static bool accepts(const void *what)
{
    const struct cr_conv *c = what;
    struct width w = width(c, false);

    return conv_lanes() > 0 && c->n > 0 && c->x == CR_CHANNELS_LAST &&
           c->y == CR_CHANNELS_LAST && conv_is_flat(c) && c->group > 1 &&
           conv_max(w.from, w.to) <= conv_lanes() &&
           w.from <= MAX_RATIO * w.to && w.to <= MAX_RATIO * w.from;
}

/* ---- blocks of groups ---- */

/* The channels of group `group` of a block that the vector from channel `at` on
 * has: first to last - 1. */
struct seen {
    int64_t first, last;
};

static struct seen seen(struct width w, int64_t at, int64_t group)
{
    at -= group * w.from;
    return (struct seen){ conv_max(at, 0),
                          conv_min(at + conv_lanes(), w.from) };
}

/* Terms of the vector from channel `at` on. */
static int64_t terms_at(struct width w, int64_t at)
{
    int64_t n = 0, group;

    for (group = 0; group < conv_lanes() / w.to; group++) {
        struct seen s = seen(w, at, group);

        n = conv_max(n, s.last - s.first);
    }
    return n;
}

/* The vector of a block that term t takes, and the channel of its group that
 * lane i has from there, or -1. */
static int64_t term(struct width w, int64_t t, int64_t i, int64_t *vector)
{
    int64_t at = 0;
    struct seen s;

    for (; t >= terms_at(w, at); at += conv_lanes())
        t -= terms_at(w, at);
    *vector = at / conv_lanes();
    if (i / w.to >= conv_lanes() / w.to)
        return -1;
    s = seen(w, at, i / w.to);
    return s.first + t < s.last ? s.first + t : -1;
}

/* All but the terms themselves. */
static struct cr_grouped_blocks shape(const struct cr_conv *c, bool of_dy)
{
    struct width w = width(c, of_dy);
    int64_t groups = conv_lanes() / w.to, at;
    struct cr_grouped_blocks b = { .n = conv_up(c->group, groups),
                                   .from = groups * w.from,
                                   .to = groups * w.to,
                                   .permuted = w.from > 1 || w.to > 1 };

    for (at = 0; at < b.from; at += conv_lanes())
        b.n_terms += terms_at(w, at);
    return b;
}

static int64_t blocks_bytes(const struct cr_conv *c, bool of_dy)
{
    return shape(c, of_dy).n_terms * (int64_t)sizeof(struct cr_grouped_term) +
           64;
}

static struct cr_grouped_blocks blocks(const struct cr_conv *c, bool of_dy,
                                       char **scratch)
{
    struct cr_grouped_blocks b = shape(c, of_dy);
    struct width w = width(c, of_dy);
    struct cr_grouped_term *terms =
        conv_carve(scratch, b.n_terms * (int64_t)sizeof *terms);
    int64_t t, i, from;

    for (t = 0; t < b.n_terms; t++) {
        terms[t] = (struct cr_grouped_term){ 0 };
        for (i = 0; i < conv_lanes(); i++) {
            from = term(w, t, i, &terms[t].vector);
            if (from < 0)
                continue;
            terms[t].there[i] = -1;
            terms[t].lane[i] = (int32_t)(i / w.to * w.from + from -
                                         terms[t].vector * conv_lanes());
        }
    }
    b.terms = terms;
    return b;
}

/* Numbers of a tap. */
static int64_t lanes_of(const struct cr_grouped_blocks *b)
{
    return b->n * b->n_terms * conv_lanes();
}

/* ---- images ---- */

static struct cr_grouped_axis axis(const struct cr_conv *c, int i, bool of_dy)
{
    struct cr_grouped_axis a = { .taps = c->kernel[i],
                                 .multiply = c->stride[i],
                                 .add = -c->pad_before[i],
                                 .step = c->dilation[i],
                                 .divide = 1,
                                 .from = c->in[i],
                                 .to = c->out[i] };

    if (of_dy)
        a = (struct cr_grouped_axis){ .taps = c->kernel[i],
                                      .multiply = 1,
                                      .add = c->pad_before[i],
                                      .step = -c->dilation[i],
                                      .divide = c->stride[i],
                                      .from = c->out[i],
                                      .to = c->in[i] };
    return a;
}

/* Places beyond a row that its taps see: as many as are worth a copy of zeros,
 * or none. */
static int64_t border(const struct cr_conv *c, bool of_dy)
{
    struct cr_grouped_axis a = axis(c, W, of_dy);
    int64_t ends[2] = { a.add, a.add + a.step * (a.taps - 1) }, i, far = 0;

    for (i = 0; i < 2; i++) {
        int64_t last = a.multiply * (a.to - 1) + ends[i];

        far = conv_max(far, conv_up(-ends[i], a.divide));
        far = conv_max(far, last / a.divide - (a.from - 1));
    }
    return far <= MAX_BORDER ? far : 0;
}

/* `in_rows`: as what slides over the rows of the other one. */
static struct cr_grouped_source source(const struct cr_conv *c, const void *x,
                                       bool is_dy, bool slides)
{
    const int64_t *in = is_dy ? c->out : c->in;
    struct width w = width(c, is_dy);
    bool low = is_dy ? c->dy_low : c->x_low;
    struct cr_grouped_source s = { .x = x,
                                   .stored = low ? c->low : CR_REAL,
                                   .channels = is_dy ? c->co : c->ci,
                                   .places = in[W] };

    /* blocks are as many channels of the result as vectors take */
    s.block = conv_lanes() / (slides ? w.to : w.from) * w.from;
    s.vectors = conv_up(s.block, conv_lanes());
    s.border = slides ? border(c, is_dy) : 0;
    /* as many as a row of the result looks over */
    if (slides)
        s.kept = conv_min((c->kernel[H] - 1) * c->dilation[H] + 1, in[H]);
    else /* read once, where it lies, if that is in vectors */
        s.kept = low || w.to > 1 || s.block < conv_lanes() ||
                 s.channels % conv_lanes();
    return s;
}

/* What slides in apply. Of groups of one channel it is read where it lies, by
 * several lines each: a copy would cost as much as the sums. */
static struct cr_grouped_source applied(const struct cr_conv *c, const void *x,
                                        bool is_dy)
{
    struct cr_grouped_source s = source(c, x, is_dy, true);

    if (s.stored == CR_REAL && c->ci == c->group && c->co == c->group)
        s.border = s.kept = 0;
    return s;
}

/* Of a thread: what is kept of a source. */
static int64_t kept_bytes(const struct cr_grouped_source *s, int64_t blocks)
{
    return s->kept * ((int64_t)sizeof(int64_t) +
                      blocks * s->vectors * (s->places + 2 * s->border) *
                          conv_lanes() * (int64_t)sizeof(cr_real)) +
           128;
}

/* Of `blocks`, those of a unit: long rows are kept of a few. */
static int64_t together(const struct cr_grouped_source *s, int64_t blocks)
{
    return conv_max(1, conv_min(blocks, KEPT_BYTES / kept_bytes(s, 1)));
}

static int64_t sums_together(const struct cr_grouped_source *x, int64_t blocks)
{
    return together(x, conv_min(blocks, TOGETHER));
}

static size_t room(const struct cr_conv *c)
{
    struct cr_grouped_source x = source(c, NULL, false, true);
    struct cr_grouped_source dy = source(c, NULL, true, false);
    struct cr_grouped_source of_x = applied(c, NULL, false);
    struct cr_grouped_source of_dy = applied(c, NULL, true);
    int64_t blocks = shape(c, false).n, blocks_dy = shape(c, true).n, lines;
    int64_t sums = sums_together(&x, blocks);

    /* numbers of lines and steps */
    lines =
        (2 * c->kernel[H] + 4 * conv_taps(c)) * (int64_t)sizeof(int64_t) + 128;
    return (
        size_t)(lines +
                conv_max(
                    conv_max(kept_bytes(&of_x, together(&of_x, blocks)),
                             kept_bytes(&of_dy, together(&of_dy, blocks_dy))),
                    kept_bytes(&x, sums) + kept_bytes(&dy, sums)));
}

/* ---- the taps of columns ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Adds tap k, if the places of the class see it. */
static void see(const struct cr_grouped_axis *a, int64_t border, int64_t k,
                struct cr_grouped_tap *taps, struct cr_grouped_class *class)
{
    int64_t at = a->multiply * class->first + a->add + a->step * k;

    if (at % a->divide)
        return;
    at = floor_div(at, a->divide);
    taps[class->n++] = (struct cr_grouped_tap){ k, at };
    class->lo = conv_max(class->lo, -floor_div(at + border, a->multiply));
    class->hi = conv_min(class->hi,
                         floor_div(a->from - 1 + border - at, a->multiply) + 1);
}

/* Which way the places of a class's taps follow one another. */
static int near(const struct cr_grouped_axis *a,
                const struct cr_grouped_class *class)
{
    int64_t step, k;

    if (class->n < 2 || a->multiply > 2)
        return 0;
    step = class->taps[1].place - class->taps[0].place;
    if (step != 1 && step != -1)
        return 0;
    for (k = 2; k < class->n; k++)
        if (class->taps[k].place - class->taps[k - 1].place != step)
            return 0;
    return (int)step;
}

static int64_t classes_bytes(const struct cr_conv *c)
{
    return (c->stride[W] * (int64_t)sizeof(struct cr_grouped_class) +
            c->kernel[W] * (int64_t)sizeof(struct cr_grouped_tap) + 128);
}

static const struct cr_grouped_class *classes(const struct cr_grouped_axis *a,
                                              int64_t border, char **scratch)
{
    struct cr_grouped_class *all =
        conv_carve(scratch, a->divide * (int64_t)sizeof *all);
    struct cr_grouped_tap *taps =
        conv_carve(scratch, a->taps * (int64_t)sizeof *taps);
    int64_t i, k;

    for (i = 0; i < a->divide; i++) {
        struct cr_grouped_class *class = &all[i];

        *class = (struct cr_grouped_class){
            .taps = taps,
            .first = i,
            .places = conv_up(conv_max(a->to - i, 0), a->divide),
        };
        class->hi = class->places;
        for (k = 0; k < a->taps; k++)
            see(a, border, k, taps, class);
        taps += class->n;
        class->lo = conv_min(class->lo, class->places);
        class->hi = conv_max(class->hi, class->lo);
        class->near = near(a, class);
    }
    return all;
}

/* ---- running ---- */

CONV_PART(grouped, apply)
CONV_PART(grouped, sums)

static int64_t weights_bytes(const struct cr_conv *c,
                             const struct cr_grouped_blocks *b)
{
    return conv_taps(c) * lanes_of(b) * (int64_t)sizeof(cr_real) + 64;
}

static size_t packed_bytes(const struct cr_conv *c)
{
    struct cr_grouped_blocks b = shape(c, false);

    return (size_t)weights_bytes(c, &b);
}

/* Where the taps begin of the weight by which lane i of a block multiplies
 * number `from` of its group; -1: nowhere. */
static int64_t weight_at(const struct cr_conv *c, bool of_dy, int64_t block,
                         int64_t i, int64_t from)
{
    struct width w = width(c, of_dy);
    int64_t to = block * (conv_lanes() / w.to * w.to) + i;

    if (from < 0 || to >= c->group * w.to)
        return -1;
    if (of_dy)
        return ((to / w.to * w.from + from) * w.to + to % w.to) * conv_taps(c);
    return (to * w.from + from) * conv_taps(c);
}

static void pack_for(const struct cr_conv *c, bool of_dy, const cr_real *w,
                     cr_real *packed)
{
    struct cr_grouped_blocks blocks = shape(c, of_dy);
    int64_t taps = conv_taps(c), lanes = lanes_of(&blocks);
    int64_t t, i, b, k, at, from;

    for (t = 0; t < blocks.n_terms; t++)
        for (i = 0; i < conv_lanes(); i++) {
            cr_real *to = packed + t * conv_lanes() + i;

            from = term(width(c, of_dy), t, i, &at);
            for (b = 0; b < blocks.n;
                 b++, to += blocks.n_terms * conv_lanes()) {
                at = weight_at(c, of_dy, b, i, from);
                for (k = 0; k < taps; k++)
                    to[k * lanes] = at < 0 ? 0 : w[at + k];
            }
        }
}

static void pack(const struct cr_conv *c, const cr_real *w, cr_real *packed)
{
    char *at = (char *)packed;

    pack_for(c, false, w, conv_carve(&at, 0));
}

static void apply(const struct cr_conv *c, const void *x, bool of_dy,
                  const cr_real *w, const cr_real *packed,
                  const struct cr_epilogue *end, void *y, char *scratch)
{
    struct cr_grouped_apply a = { .x = applied(c, x, of_dy),
                                  .rows = axis(c, H, of_dy),
                                  .cols = axis(c, W, of_dy),
                                  .n = c->n,
                                  .channels = of_dy ? c->ci : c->co,
                                  .y = y,
                                  .end = conv_end(end, y),
                                  .y_stored = c->to_low ? c->low : CR_REAL,
                                  .mask_stored = c->mask_low ? c->low : CR_REAL,
                                  .room = room(c) };
    cr_real *own;

    a.classes = classes(&a.cols, a.x.border, &scratch);
    a.blocks = blocks(c, of_dy, &scratch);
    a.together = together(&a.x, a.blocks.n);
    if (packed) {
        char *at = (char *)packed;

        a.w = conv_carve(&at, 0);
    } else {
        a.w = own = conv_carve(&scratch, 0);
        pack_for(c, of_dy, w, own);
    }
    cr_parallel_run(apply_part, &a, conv_threads(c));
}

static void forward(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const cr_real *packed, const struct cr_epilogue *end,
                    cr_real *y, void *scratch)
{
    apply(c, x, false, w, packed, end, y, scratch);
}

static void input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_epilogue *end, cr_real *dx, void *scratch)
{
    apply(c, dy, true, w, NULL, end, dx, scratch);
}

/* ---- the gradient of the weight ---- */

static int64_t chunks(const struct cr_conv *c)
{
    return conv_min(c->n, CONV_CHUNKS);
}

static void unpack(const struct cr_conv *c, const struct cr_grouped_sums *s,
                   cr_real alpha, bool add, cr_real *dw)
{
    int64_t taps = conv_taps(c), lanes = lanes_of(&s->blocks);
    int64_t next = s->blocks.n_terms * conv_lanes();
    int64_t t, i, b, j, k, at, from;

    for (t = 0; t < s->blocks.n_terms; t++)
        for (i = 0; i < conv_lanes(); i++) {
            const cr_real *sums = s->to + t * conv_lanes() + i;

            from = term(width(c, false), t, i, &at);
            for (b = 0; b < s->blocks.n; b++, sums += next) {
                at = weight_at(c, false, b, i, from);
                for (k = 0; at >= 0 && k < taps; k++, at++) {
                    cr_real sum = 0;

                    for (j = 0; j < s->chunks; j++)
                        sum += sums[(j * taps + k) * lanes];
                    dw[at] = alpha * sum + (add ? dw[at] : 0);
                }
            }
        }
}

static void weight(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch)
{
    char *at = scratch;
    struct cr_grouped_sums s = { .x = source(c, x, false, true),
                                 .dy = source(c, dy, true, false),
                                 .rows = axis(c, H, false),
                                 .cols = axis(c, W, false),
                                 .n = c->n,
                                 .chunks = chunks(c),
                                 .room = room(c) };

    s.classes = classes(&s.cols, s.x.border, &at);
    s.blocks = blocks(c, false, &at);
    s.together = sums_together(&s.x, s.blocks.n);
    s.to = conv_carve(&at, 0);
    cr_parallel_run(sums_part, &s, conv_threads(c));
    unpack(c, &s, alpha, add, dw);
}

static size_t scratch_bytes(const struct cr_conv *c)
{
    struct cr_grouped_blocks x = shape(c, false), dy = shape(c, true);

    return (size_t)(classes_bytes(c) +
                    conv_max(blocks_bytes(c, false) +
                                 chunks(c) * weights_bytes(c, &x),
                             blocks_bytes(c, true) + weights_bytes(c, &dy)));
}

const struct cr_conv_kernel cr_conv_grouped = {
    .head = { .name = "conv_grouped", .blas = "own", .accepts = accepts },
    .takes = CR_END_SCALE | CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MAP |
             CR_END_KEEP | CR_END_MASK,
    .low_x = true,
    .low_dy = true,
    .low_to = true,
    .scratch = scratch_bytes,
    .thread_scratch = room,
    .packed = packed_bytes,
    .pack = pack,
    .forward = forward,
    .input = input,
    .weight = weight,
};
