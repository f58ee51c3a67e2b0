/* Softmax of lines and rows of gates with random settings, on each
 * implementation, against the plain formula in double; and the order in which
 * kernels are chosen. */
#include "kernels/conv.h"
#include "kernels/rnn.h"
#include "kernels/softmax.h"

#include "kernels.h"

/* ---- softmax ---- */

#define MAX_LINE 1300

static struct {
    int64_t n, inner, lines;
    bool logarithm, add;
} soft;

static void draw_soft(bool cols)
{
    soft.n = draw_one_in(3) ? draw(1, MAX_LINE) : draw_size(1, 100);
    soft.lines = cols ? draw_size(1, 40) : 1;
    soft.inner = cols ? soft.lines + draw(0, 3) : 1;
    soft.logarithm = draw_one_in(2);
    soft.add = draw_one_in(2);
    setting_is("%lld numbers, %lld of %lld lines%s%s", (long long)soft.n,
               (long long)soft.lines, (long long)soft.inner,
               soft.logarithm ? ", logarithm" : "", soft.add ? ", added" : "");
}

/* Logarithm of the sum of exponentials of line i. */
static double log_sum(const cr_real *x, int64_t i)
{
    double top = -INFINITY, sum = 0;
    int64_t c;

    for (c = 0; c < soft.n; c++)
        top = fmax(top, (double)x[c * soft.inner + i]);
    for (c = 0; c < soft.n; c++)
        sum += exp((double)x[c * soft.inner + i] - top);
    return top + log(sum);
}

static enum verdict check_soft(const cr_real *x, const cr_real *y)
{
    /* what is expected has rounding errors of its own then */
    bool doubles = sizeof(cr_real) == sizeof(double);
    int64_t i, c;

    for (i = 0; i < soft.lines; i++) {
        double all = log_sum(x, i);

        for (c = 0; c < soft.n; c++) {
            int64_t at = c * soft.inner + i;
            double want = (double)x[at] - all;

            if (!number_near("y", at, (double)y[at],
                             soft.logarithm ? want : exp(want),
                             (soft.logarithm || doubles ? 60 : 8) * EPS))
                return WRONG;
        }
    }
    return RIGHT;
}

static cr_real *spread(int64_t n)
{
    cr_real *x = numbers_new(n);
    int64_t i;

    for (i = 0; i < n; i++)
        x[i] *= 20;
    return x;
}

static int64_t soft_size(void)
{
    return (soft.n - 1) * soft.inner + soft.lines;
}

static enum verdict softmax_row(void)
{
    cr_real *x, *y, top;
    double log_of;
    enum verdict v;
    int64_t c;

    draw_soft(false);
    x = spread(soft.n);
    y = numbers_undefined(soft.n);
    cr_softmax_kernel()->rows(1, soft.n, x, y, soft.logarithm);
    v = check_soft(x, y);
    soft.logarithm = false;
    log_of = cr_softmax_kernel()->line(soft.n, x, y, &top);
    for (c = 0; c < soft.n; c++)
        if (x[c] > top)
            v = WRONG;
    /* a sum of two numbers that may cancel each other */
    return v == RIGHT && check_soft(x, y) == RIGHT &&
                   fabs(log_of + (double)top - log_sum(x, 0)) <=
                       8 * EPS * (1 + fabs((double)top))
               ? RIGHT
               : WRONG;
}

/* Lines one after the other, some with NaN or all -infinity. */
static enum verdict softmax_rows(void)
{
    int64_t lines = draw(1, 40), i, k;
    struct cr_softmax_rows of;
    cr_real *x, *y;

    do
        draw_soft(false);
    while (soft.n * lines > 10000);
    of = (struct cr_softmax_rows){ soft.n, soft.logarithm };
    if (strcmp(cr_blas(), "onednn") == 0 &&
        !strstr(cr_softmax_rows_kernel(&of)->head.name, "onednn"))
        return DECLINED;
    x = spread(lines * soft.n);
    y = numbers_undefined(lines * soft.n);
    if (draw_one_in(3))
        for (k = 0, i = draw(0, lines - 1) * soft.n; k < soft.n; k++)
            x[i + k] = -(cr_real)INFINITY;
    if (draw_one_in(3))
        x[draw(0, lines * soft.n - 1)] = (cr_real)NAN;
    cr_softmax_rows_kernel(&of)->rows(lines, soft.n, x, y, soft.logarithm);
    for (i = 0; i < lines; i++, x += soft.n, y += soft.n) {
        bool nan = false, inf = true;

        for (k = 0; k < soft.n; k++) {
            nan = nan || isnan(x[k]);
            inf = inf && isinf(x[k]);
        }
        for (k = 0; k < soft.n && (nan || inf); k++)
            if (!isnan(y[k]))
                return WRONG;
        if (!nan && !inf && check_soft(x, y) != RIGHT)
            return WRONG;
    }
    return RIGHT;
}

static enum verdict softmax_cols(void)
{
    cr_real *x, *y;

    draw_soft(true);
    x = spread(soft_size());
    y = numbers_copy(x, soft_size());
    cr_softmax_kernel()->cols(soft.n, soft.inner, soft.lines, x, y,
                              soft.logarithm);
    return check_soft(x, y);
}

static enum verdict softmax_backward(bool cols)
{
    const struct cr_softmax_kernel *k = cr_softmax_kernel();
    cr_real *x, *y, *dy, *dx, *old;
    int64_t i, c, size;

    draw_soft(cols);
    size = soft_size();
    x = spread(size);
    y = numbers_copy(x, size);
    dy = numbers_new(size);
    old = numbers_new(size);
    dx = numbers_copy(old, size);
    for (i = 0; i < soft.lines; i++) {
        double all = log_sum(x, i);

        for (c = i; c < size; c += soft.inner)
            y[c] = (cr_real)(soft.logarithm ? (double)x[c] - all
                                            : exp((double)x[c] - all));
    }
    if (cols)
        k->cols_backward(soft.n, soft.inner, soft.lines, y, dy, soft.logarithm,
                         soft.add, dx);
    else
        k->row_backward(soft.n, y, dy, soft.logarithm, soft.add, dx);
    for (i = 0; i < soft.lines; i++) {
        double dot = 0, room = 0;

        for (c = i; c < size; c += soft.inner) {
            double d = (double)dy[c] * (soft.logarithm ? 1 : (double)y[c]);

            dot += d;
            room += fabs(d);
        }
        for (c = i; c < size; c += soft.inner) {
            double p = soft.logarithm ? exp((double)y[c]) : (double)y[c];
            double d = soft.logarithm ? (double)dy[c] - p * dot
                                      : p * ((double)dy[c] - dot);

            if (!number_near("dx", c, (double)dx[c],
                             d + (soft.add ? (double)old[c] : 0),
                             (8 + (double)soft.n) * (room + 2) * EPS))
                return WRONG;
        }
    }
    return RIGHT;
}

static enum verdict softmax_row_backward(void)
{
    return softmax_backward(false);
}

static enum verdict softmax_cols_backward(void)
{
    return softmax_backward(true);
}

/* ---- rows of gates ---- */

static double sigma(double v)
{
    return 1 / (1 + exp(-v));
}

static int64_t size; /* H */
static bool relu;

/* A row whose results are undefined; gates g. */
static struct cr_rnn_row draw_row(int64_t gates)
{
    struct cr_rnn_row w = { .k = cr_rnn_kernel() };

    size = draw_size(1, 90);
    relu = draw_one_in(2);
    setting_is("%lld features, %lld gates%s", (long long)size, (long long)gates,
               relu ? ", relu" : "");
    w.n = size;
    w.act = relu ? CR_RNN_RELU : CR_RNN_TANH;
    w.x = w.next_x = spread(gates * size);
    w.b = numbers_new(gates * size);
    w.h0 = numbers_new(size);
    w.c0 = numbers_new(size);
    w.g = numbers_new(gates * size);
    w.h = numbers_undefined(size);
    w.c = numbers_undefined(size);
    w.dh = numbers_new(size);
    w.dc = numbers_new(size);
    w.dg = numbers_undefined(gates * size);
    return w;
}

#define NEAR(what, k, got, want) \
    number_near(what, k, (double)(got), want, 24 * EPS)

static enum verdict rnn(void)
{
    struct cr_rnn_row w = draw_row(1);
    cr_real *dh;
    int64_t k;

    w.k->rnn(&w);
    for (k = 0; k < size; k++) {
        double v = (double)w.x[k] + (double)w.g[k] + (double)w.b[k];

        if (!NEAR("h", k, w.h[k], relu ? fmax(v, 0) : tanh(v)))
            return WRONG;
    }
    dh = numbers_copy(w.dh, size);
    w.k->rnn_backward(&w);
    for (k = 0; k < size; k++) {
        double h = (double)w.h[k], d = relu ? h > 0 : 1 - h * h;

        if (!NEAR("dg", k, w.dg[k], (double)dh[k] * d) ||
            !NEAR("dh", k, w.dh[k], 0))
            return WRONG;
    }
    return RIGHT;
}

static enum verdict gru(void)
{
    struct cr_rnn_row w = draw_row(3);
    cr_real *g = numbers_copy(w.g, 3 * size), *dh;
    int64_t k, n = size;

    w.k->gru(&w);
    for (k = 0; k < n; k++) {
        double r = sigma((double)g[k] + (double)w.x[k] + (double)w.b[k]);
        double z =
            sigma((double)g[n + k] + (double)w.x[n + k] + (double)w.b[n + k]);
        double u = (double)g[2 * n + k] + (double)w.b[2 * n + k];
        double v = tanh((double)w.x[2 * n + k] + r * u);

        if (!NEAR("r", k, w.g[k], r) || !NEAR("z", k, w.g[n + k], z) ||
            !NEAR("u", k, w.g[2 * n + k], u) || !NEAR("n", k, w.c[k], v) ||
            !NEAR("h", k, w.h[k], v + z * ((double)w.h0[k] - v)))
            return WRONG;
    }
    dh = numbers_copy(w.dh, n);
    w.k->gru_backward(&w);
    for (k = 0; k < n; k++) {
        double r = (double)w.g[k], z = (double)w.g[n + k];
        double v = (double)w.c[k], d = (double)dh[k];
        double dn = d * (1 - z) * (1 - v * v);

        if (!NEAR("dr", k, w.dg[k],
                  dn * (double)w.g[2 * n + k] * r * (1 - r)) ||
            !NEAR("dz", k, w.dg[n + k],
                  d * ((double)w.h0[k] - v) * z * (1 - z)) ||
            !NEAR("dn", k, w.dg[2 * n + k], dn) ||
            !NEAR("dh", k, w.dh[k], d * z))
            return WRONG;
    }
    w.k->gru_to_product(&w);
    for (k = 0; k < n; k++) {
        double z = (double)w.g[n + k], v = (double)w.c[k];

        if (!NEAR("du", k, w.dg[2 * n + k],
                  (double)dh[k] * (1 - z) * (1 - v * v) * (double)w.g[k]))
            return WRONG;
    }
    return RIGHT;
}

/* Sums of one gate whose result is the hard part: borders of cases, numbers
 * that exp cannot take. */
static void draw_hard(struct cr_rnn_row *w, int64_t gates)
{
    static const cr_real hard[] = { 0,      (cr_real)-0.0, (cr_real)0.625,
                                    -87,    87,            (cr_real)0.62499994,
                                    88,     -88,           (cr_real)1e-30,
                                    43,     (cr_real)-1e30, (cr_real)21.5,
                                    (cr_real)INFINITY,     (cr_real)-INFINITY,
                                    (cr_real)NAN };
    int64_t k;

    for (k = 0; k < gates * size; k++)
        if (draw_one_in(4)) {
            w->g[k] = hard[draw(0, (int)CR_LEN(hard) - 1)];
            /* -0 + -0 is -0 */
            ((cr_real *)(uintptr_t)w->x)[k] = (cr_real)-0.0;
            ((cr_real *)(uintptr_t)w->b)[k] = (cr_real)-0.0;
        }
}

/* As of the portable row: within `rel` of its number and `abs` of it, for
 * exp and 1 / x have other steps in vectors. */
static bool near_portable(const char *what, int64_t n, const cr_real *got,
                        const cr_real *want, double rel, double abs)
{
    int64_t k;

    for (k = 0; k < n; k++) {
        double x = (double)got[k], y = (double)want[k];

        if (x == y || (isnan(x) && isnan(y)) ||
            fabs(x - y) < rel * fabs(y) + abs)
            continue;
        printf("# %s %lld: %.9g, portable %.9g\n", what, (long long)k, x, y);
        return false;
    }
    return true;
}

/* The parts of a row of so many gates. */
struct parts {
    int64_t gates;
    cr_rnn_part *forward, *backward;
};

/* Where a gate is all or nothing, it is so here. */
static bool saturated(int64_t n, const cr_real *got, const cr_real *want)
{
    int64_t k;

    for (k = 0; k < n; k++)
        if (fabs((double)want[k]) == 1 &&
            fabs((double)got[k] - (double)want[k]) > EPS) {
            printf("# gate %lld: %.9g, portable %.9g\n", (long long)k,
                   (double)got[k], (double)want[k]);
            return false;
        }
    return true;
}

static enum verdict row_portable(const struct parts *own,
                                 const struct parts *portable,
                                 struct cr_rnn_row w)
{
    struct cr_rnn_row p = w;
    int64_t n = size, gates = own->gates;
    double near = gates == 4 ? 24 * EPS : 0; /* tanh in backward */

    p.g = numbers_copy(w.g, gates * n);
    p.h = numbers_undefined(n);
    p.c = numbers_undefined(n);
    p.dh = numbers_copy(w.dh, n);
    p.dc = numbers_copy(w.dc, n);
    own->forward(&w);
    portable->forward(&p);
    if (!near_portable("g", gates * n, w.g, p.g, 4 * EPS, 0) ||
        !saturated(gates > 1 ? gates * n : 0, w.g, p.g) ||
        (gates > 1 && !near_portable("c", n, w.c, p.c, 24 * EPS, 24 * EPS)) ||
        !near_portable("h", n, w.h, p.h, 24 * EPS, gates == 1 ? 0 : 24 * EPS))
        return WRONG;
    /* backward of the same numbers */
    p.g = numbers_copy(w.g, gates * n);
    p.h = w.h;
    p.c = w.c;
    if (gates == 4) /* as where nothing else reads the gates */
        w.dg = w.g;
    p.dg = gates == 4 ? p.g : numbers_undefined(gates * n);
    own->backward(&w);
    portable->backward(&p);
    return near_portable("dg", gates * n, w.dg, p.dg, near, near) &&
                   near_portable("dh", n, w.dh, p.dh, 0, 0) &&
                   (gates < 4 || near_portable("dc", n, w.dc, p.dc, near, near))
               ? RIGHT
               : WRONG;
}

static struct parts parts_of(const struct cr_rnn_kernel *k, int which)
{
    const struct parts all[] = { { 1, k->rnn, k->rnn_backward },
                                 { 3, k->gru, k->gru_backward },
                                 { 4, k->lstm, k->lstm_backward } };

    return all[which];
}

static enum verdict hard_numbers(void)
{
    int which = (int)draw(0, 2);
    struct parts portable = parts_of(&cr_rnn_portable, which), own;
    struct cr_rnn_row w = draw_row(portable.gates);

    own = parts_of(w.k, which);
    draw_hard(&w, own.gates);
    return row_portable(&own, &portable, w);
}

static enum verdict lstm(void)
{
    struct cr_rnn_row w = draw_row(4);
    cr_real *g = numbers_copy(w.g, 4 * size), *dh, *dc;
    int64_t k, n = size;
    int j;

    w.k->lstm(&w);
    for (k = 0; k < n; k++) {
        double v[4], c;

        for (j = 0; j < 4; j++) {
            int64_t at = j * n + k;

            v[j] = (double)g[at] + (double)w.x[at] + (double)w.b[at];
            v[j] = j == 2 ? tanh(v[j]) : sigma(v[j]);
            if (!NEAR("g", at, w.g[at], v[j]))
                return WRONG;
        }
        c = v[1] * (double)w.c0[k] + v[0] * v[2];
        if (!NEAR("c", k, w.c[k], c) || !NEAR("h", k, w.h[k], v[3] * tanh(c)))
            return WRONG;
    }
    dh = numbers_copy(w.dh, n);
    dc = numbers_copy(w.dc, n);
    w.k->lstm_backward(&w);
    for (k = 0; k < n; k++) {
        double i = (double)w.g[k], f = (double)w.g[n + k];
        double a = (double)w.g[2 * n + k], o = (double)w.g[3 * n + k];
        double t = tanh((double)w.c[k]), d = (double)dh[k];
        double v = (double)dc[k] + d * o * (1 - t * t);

        if (!NEAR("di", k, w.dg[k], v * a * i * (1 - i)) ||
            !NEAR("df", k, w.dg[n + k], v * (double)w.c0[k] * f * (1 - f)) ||
            !NEAR("da", k, w.dg[2 * n + k], v * i * (1 - a * a)) ||
            !NEAR("do", k, w.dg[3 * n + k], d * t * o * (1 - o)) ||
            !NEAR("dc", k, w.dc[k], v * f) || !NEAR("dh", k, w.dh[k], 0))
            return WRONG;
    }
    return RIGHT;
}

/* ---- the order ---- */

/* What is computed for an image of `cols` columns. */
static const char *conv_of(enum cr_layout layout, int64_t cols, int64_t group,
                           int64_t ci, int64_t co)
{
    struct cr_conv c = { .n = 2,
                         .group = group,
                         .ci = ci,
                         .co = co,
                         .in = { 1, cols, cols },
                         .out = { 1, cols, cols },
                         .kernel = { 1, 3, 3 },
                         .stride = { 1, 1, 1 },
                         .dilation = { 1, 1, 1 },
                         .pad_before = { 0, 1, 1 },
                         .x = layout,
                         .y = layout };

    return cr_conv_kernel_name(&c);
}

/* choices.def decides against the order of the rows. */
static void choices(void)
{
    if (sizeof(cr_real) != sizeof(float) || !cr_isa_force(CR_ISA_AVX2)) {
        ok(true, "choices # SKIP no kernels to choose from");
        return;
    }
    ok(strcmp(conv_of(CR_ROW_MAJOR, 28, 1, 3, 8), "conv_nchw") == 0 &&
           strcmp(conv_of(CR_ROW_MAJOR, 28, 1, 128, 128), "conv_im2col") == 0 &&
           strcmp(conv_of(CR_ROW_MAJOR, 3, 1, 3, 16), "conv_im2col") == 0,
       "planes of many channels or few columns: by products");
    ok(strcmp(conv_of(CR_CHANNELS_LAST, 28, 1, 3, 8), "conv_nhwc") == 0 &&
           strcmp(conv_of(CR_CHANNELS_LAST, 28, 4, 64, 64), "conv_nhwc") == 0,
       "channels last, groups of many channels too: direct");
    ok(strcmp(conv_of(CR_CHANNELS_LAST, 28, 8, 8, 8), "conv_grouped") == 0 &&
           strcmp(conv_of(CR_CHANNELS_LAST, 28, 4, 8, 8), "conv_grouped") ==
               0 &&
           strcmp(conv_of(CR_ROW_MAJOR, 28, 8, 8, 8), "conv_nchw") == 0,
       "groups of few channels: a kernel of its own, with channels last");
}

static void processors(void)
{
    static const char name[] = "AuthenticAMD 25.97";

    ok(cr_cpu_matches(name, "any") && cr_cpu_matches(name, "AuthenticAMD") &&
           cr_cpu_matches(name, "AuthenticAMD 25") &&
           cr_cpu_matches(name, name),
       "a processor by its vendor, family and model");
    ok(!cr_cpu_matches(name, "AuthenticAMD 2") &&
           !cr_cpu_matches(name, "AuthenticAMD 25.9") &&
           !cr_cpu_matches(name, "GenuineIntel") &&
           !cr_cpu_matches(name, "AuthenticAMD 25.97.1"),
       "not by the beginning of a number");
}

/* The first row of each family that CELLRUN_ISA allows, and the one that is
 * preferred as far as it is allowed. */
static void order(void)
{
    const struct cr_kernel *k;
    int i;

    cr_isa_force(CR_ISA_GENERIC);
    ok(strcmp(cr_softmax_kernel()->head.name, "softmax_portable") == 0 &&
           strcmp(cr_rnn_kernel()->head.name, "rnn_portable") == 0,
       "generic: the portable kernels");
    if (!cr_isa_force(CR_ISA_AVX2)) {
        ok(true, "no AVX2 # SKIP not on this machine");
        return;
    }
    ok(strcmp(cr_softmax_kernel()->head.name, "softmax_avx2") == 0,
       "avx2: its own, not that of AVX-512");
    ok(cr_kernel_prefer("softmax_portable") &&
           strcmp(cr_softmax_kernel()->head.name, "softmax_portable") == 0 &&
           strcmp(cr_rnn_kernel()->head.name, "rnn_avx2") == 0,
       "one that is preferred, in its family alone");
    ok(!cr_kernel_prefer("softmax_avx512") &&
           strcmp(cr_softmax_kernel()->head.name, "softmax_avx2") == 0,
       "not one that is not allowed");
    cr_kernel_prefer(NULL);
    for (i = 0; (k = cr_kernel_at(i)); i++)
        if (!k->name || k->isa > CR_ISA_AVX512)
            break;
    ok(i > 10 && !k, "%d kernels, each with a name", i);
}

int main(void)
{
    int i;

    kernels_begin(300);
    for (i = 0; i < OWN; i++) {
        kernel_compare("softmax of a line", i, softmax_row);
        kernel_compare("softmax of lines side by side", i, softmax_cols);
        kernel_compare("softmax, gradient", i, softmax_row_backward);
        kernel_compare("softmax side by side, gradient", i,
                       softmax_cols_backward);
        kernel_compare("rnn", i, rnn);
        kernel_compare("gru", i, gru);
        kernel_compare("lstm", i, lstm);
        kernel_compare("rnn, gru, lstm, as the portable ones", i, hard_numbers);
    }
    for (i = 0; i < ALL; i++)
        if (i < OWN || (i == ONEDNN && sizeof(cr_real) == sizeof(float)))
            kernel_compare("softmax of lines one after the other", i,
                           softmax_rows);
    order();
    choices();
    processors();
    return done();
}
