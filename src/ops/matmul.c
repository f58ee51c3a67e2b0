/* matmul: y = a b    a (..., m, k)   b (..., k, n)   y (..., m, n)
 *   da = dy b',  db = a' dy,  summed over broadcast dimensions
 *
 * Leading dimensions are batches of matrices and are broadcast. A
 * one-dimensional operand is a row on the left and a column on the right, and
 * its dimension is removed from the result. If all products share the matrix
 * b, they are computed as one large product. */
#include "families/broadcast.h"
#include "families/low.h"
#include "kernels/blas.h"
#include "kernels/parallel_for.h"

#include <string.h>

enum {
    A,
    B
};

struct shape {
    int64_t m, n, k;
    int64_t products; /* number of matrix products */
    int rank;         /* number of batch dimensions */
    int64_t dim[CR_RANK_MAX];
    int64_t step[2][CR_RANK_MAX]; /* in matrices; 0: the operand repeats */
    int64_t count[2];             /* number of matrices per operand */
};

/* The batch dimensions of an operand, right-aligned. */
static struct cr_spec batches(const struct cr_spec *x)
{
    struct cr_spec s = *x;

    s.rank = x->rank > 2 ? x->rank - 2 : 0;
    return s;
}

static bool matmul_plan(struct cr_op_plan *p)
{
    const struct cr_spec *a = &p->in[A], *b = &p->in[B];
    struct cr_spec batch[2] = { batches(a), batches(b) };
    struct cr_op_plan part = *p;
    struct cr_spec *y = &p->out[0];
    int i;

    if (a->rank < 1 || b->rank < 1 ||
        a->dim[a->rank - 1] != b->dim[b->rank > 1 ? b->rank - 2 : 0])
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "operands: found %s and %s, expected (..., m, k) and "
                        "(..., k, n)",
                        cr_diag_format(p->arena, a),
                        cr_diag_format(p->arena, b));
    part.in = batch;
    if (!cr_broadcast_shape(&part, y))
        return false;
    for (i = 0; i < 2; i++)
        if (cr_count(&batch[i]) != cr_count(y) &&
            cr_count(&batch[B]) != 1 && cr_bytes(&p->in[i]) > p->scratch)
            p->scratch = cr_bytes(&p->in[i]);
    p->thread_scratch = cr_gemm_thread_scratch();
    p->macs = (double)cr_count(y) * (double)a->dim[a->rank - 1];
    if (a->rank > 1)
        p->macs *= (double)(y->dim[y->rank++] = a->dim[a->rank - 2]);
    if (b->rank > 1)
        p->macs *= (double)(y->dim[y->rank++] = b->dim[b->rank - 1]);
    return true;
}

static struct shape shape_of(const struct cr_op_ctx *s)
{
    const struct cr_spec *a = &s->in[A], *b = &s->in[B];
    struct shape q = { .m = a->rank > 1 ? a->dim[a->rank - 2] : 1,
                       .n = b->rank > 1 ? b->dim[b->rank - 1] : 1,
                       .k = a->dim[a->rank - 1],
                       .products = 1 };
    int i, k;

    q.rank = s->out[0].rank - (a->rank > 1) - (b->rank > 1);
    for (i = 0; i < q.rank; i++)
        q.products *= q.dim[i] = s->out[0].dim[i];
    for (k = 0; k < 2; k++) {
        struct cr_spec batch = batches(&s->in[k]);

        q.count[k] = 1;
        for (i = q.rank - 1; i >= 0; i--) {
            int at = i - (q.rank - batch.rank);
            int64_t dim = at >= 0 ? batch.dim[at] : 1;

            q.step[k][i] = dim == 1 ? 0 : q.count[k];
            q.count[k] *= dim;
        }
    }
    return q;
}

/* Index of the matrix of operand k in product number i. */
static int64_t matrix_of(const struct shape *q, int k, int64_t i)
{
    int64_t at = 0;
    int d;

    for (d = q->rank - 1; d >= 0; d--) {
        at += i % q->dim[d] * q->step[k][d];
        i /= q->dim[d];
    }
    return at;
}

struct work {
    const struct cr_op_ctx *s;
    struct shape q;
    int of; /* the operand whose gradient is computed */
};

/* An operand of a product: matrix number i, of a size. */
struct matrix {
    const void *data;
    bool two_bytes;
    unsigned bit; /* in .rounds and .holds */
};

static struct matrix operand(const struct cr_op_ctx *s, int k)
{
    return (struct matrix){ s->x[k], s->two_bytes & CR_X(k), CR_X(k) };
}

static struct matrix dy_of(const struct cr_op_ctx *s)
{
    return (struct matrix){ s->dy[0], s->grads_two_bytes & CR_Y(0), CR_Y(0) };
}

static const cr_real *matrix_at(const struct matrix *m, int64_t at)
{
    return (const cr_real *)(const void *)((const char *)m->data +
                                           (size_t)at *
                                               (m->two_bytes
                                                    ? sizeof(uint16_t)
                                                    : sizeof(cr_real)));
}

/* What it is to a product, or to one that rounds what it reads. */
static enum cr_low matrix_low(const struct cr_op_ctx *s, const struct matrix *m,
                              bool rounds)
{
    return m->two_bytes ? CR_LOW_TWO_BYTES
           : !rounds && ((s->rounds & ~s->holds) & m->bit & ~CR_Y(0))
               ? CR_LOW_ROUNDED
               : CR_LOW_NONE;
}

/* Whether the processor multiplies both as they are: bfloat16. */
static bool bf16(const struct cr_op_ctx *s, unsigned both)
{
    return s->low == CR_BF16 && ((s->holds | s->rounds) & both) == both &&
           cr_gemm_low();
}

/* A product of parts of a and b, which begin at those elements. */
static struct cr_gemm product(const struct cr_op_ctx *s, enum cr_trans ta,
                              enum cr_trans tb, int64_t m, int64_t n, int64_t k,
                              struct matrix a, int64_t a_at, struct matrix b,
                              int64_t b_at)
{
    struct cr_gemm g = cr_product(ta, tb, m, n, k, matrix_at(&a, a_at),
                                  matrix_at(&b, b_at), false, NULL);
    unsigned both = a.bit | b.bit;

    g.alpha = s->scale;
    g.low = s->low;
    g.bf16 = bf16(s, both);
    g.a_low = matrix_low(s, &a, g.bf16);
    g.b_low = matrix_low(s, &b, g.bf16);
    return g;
}

/* Into element `at` of the result; the epilogue of y, and in backward the
 * factor of both gradients, go with each product. */
static void into_y(struct cr_gemm g, const struct cr_op_ctx *s, int64_t at)
{
    struct matrix y = { s->y[0], s->two_bytes & CR_Y(0), 0 };

    g.c = (cr_real *)(uintptr_t)matrix_at(&y, at);
    g.c_low = y.two_bytes ? CR_LOW_TWO_BYTES : CR_LOW_NONE;
    g.round = s->rounds & CR_Y(0);
    g.act = s->end.act;
    g.map = s->end.map;
    g.map_is = s->end.map_is;
    g.map_attr = s->end.attr;
    cr_gemms(&g, 1);
}

/* Into element `at` of a gradient that is one product. */
static void into_dx(struct cr_gemm g, const struct cr_op_ctx *s, int of,
                    int64_t at)
{
    struct matrix dx = { s->dx[of], s->grads_two_bytes & CR_X(of), 0 };

    g.c = (cr_real *)(uintptr_t)matrix_at(&dx, at);
    g.c_low = dx.two_bytes ? CR_LOW_TWO_BYTES : CR_LOW_NONE;
    g.round = cr_low_rounds_dx(s, of);
    g.accumulate = s->accumulate[of];
    cr_gemms(&g, 1);
}

/* Runs products in parallel; a single one is parallel by itself. */
static void share(struct work *w, int64_t n,
                  void (*fn)(void *ctx, int64_t from, int64_t to))
{
    double macs = (double)w->q.m * (double)w->q.n * (double)w->q.k;

    if (n == 1)
        fn(w, 0, 1);
    else
        cr_parallel_for_coarse(n, macs / 20 * (double)w->q.products / (double)n,
                               w, fn);
}

static void products(void *ctx, int64_t from, int64_t to)
{
    const struct work *w = ctx;
    const struct cr_op_ctx *s = w->s;
    const struct shape *q = &w->q;

    for (; from < to; from++)
        into_y(product(s, CR_N, CR_N, q->m, q->n, q->k, operand(s, A),
                       matrix_of(q, A, from) * q->m * q->k, operand(s, B),
                       matrix_of(q, B, from) * q->k * q->n),
               s, from * q->m * q->n);
}

static void matmul_forward(const struct cr_op_ctx *s)
{
    struct work w = { .s = s, .q = shape_of(s) };

    if (w.q.count[B] == 1)
        into_y(product(s, CR_N, CR_N, w.q.products * w.q.m, w.q.n, w.q.k,
                       operand(s, A), 0, operand(s, B), 0),
               s, 0);
    else
        share(&w, w.q.products, products);
}

/* The gradient of one operand that product number i gives. */
static struct cr_gemm gradient(const struct work *w, int64_t i)
{
    const struct cr_op_ctx *s = w->s;
    const struct shape *q = &w->q;
    int64_t dy = i * q->m * q->n;

    return w->of == A
               ? product(s, CR_N, CR_T, q->m, q->k, q->n, dy_of(s), dy,
                         operand(s, B), matrix_of(q, B, i) * q->k * q->n)
               : product(s, CR_T, CR_N, q->k, q->n, q->m, operand(s, A),
                         matrix_of(q, A, i) * q->m * q->k, dy_of(s), dy);
}

static bool sums(const struct shape *q, int of)
{
    return q->count[of] != q->products;
}

/* Computes the gradients of matrices from..to-1 of one operand: each is the
 * sum over all products that use it, in their order. A sum of low precision
 * waits in the scratch memory until it is complete. */
static void gradients(void *ctx, int64_t from, int64_t to)
{
    const struct work *w = ctx;
    const struct cr_op_ctx *s = w->s;
    const struct shape *q = &w->q;
    int64_t i, n = w->of == A ? q->m * q->k : q->k * q->n;
    bool low = cr_low_rounds_dx(s, w->of) ||
               (s->grads_two_bytes & CR_X(w->of));

    for (; from < to; from++) {
        cr_real *sum = low ? (cr_real *)s->scratch + from * n
                           : (cr_real *)s->dx[w->of] + from * n;
        bool add = s->accumulate[w->of] && !low;

        if (!sums(q, w->of)) {
            into_dx(gradient(w, from), s, w->of, from * n);
            continue;
        }
        for (i = 0; i < q->products; i++) {
            struct cr_gemm g;

            if (matrix_of(q, w->of, i) != from)
                continue;
            g = gradient(w, i);
            g.c = sum;
            g.accumulate = add;
            cr_gemms(&g, 1);
            add = true;
        }
        if (low) {
            cr_real *dx = cr_low_dx_open(s, w->of, from * n, sum);

            if (dx != sum)
                memcpy(dx, sum, (size_t)n * sizeof *sum);
            cr_low_dx_close(s, w->of, from * n, n, dx);
        }
    }
}

static void matmul_backward(const struct cr_op_ctx *s)
{
    struct work w = { .s = s, .q = shape_of(s) };
    int64_t rows = w.q.products * w.q.m;
    bool one = w.q.count[B] == 1; /* then a has all batch dimensions */

    if (s->dx[A] && one)
        into_dx(product(s, CR_N, CR_T, rows, w.q.k, w.q.n, dy_of(s), 0,
                        operand(s, B), 0),
                s, A, 0);
    else if (s->dx[A])
        share(&w, w.q.count[A], gradients);
    w.of = B;
    if (s->dx[B] && one)
        into_dx(product(s, CR_T, CR_N, w.q.k, w.q.n, rows, operand(s, A), 0,
                        dy_of(s), 0),
                s, B, 0);
    else if (s->dx[B])
        share(&w, w.q.count[B], gradients);
}

static bool matmul_accepts(const struct cr_op_ctx *s, unsigned of,
                           unsigned parts)
{
    unsigned takes = CR_END_SCALE;

    (void)s;
    takes |=
        parts & CR_END_BACKWARD ? CR_END_BACKWARD : CR_END_ACT | CR_END_MAP;
    return of == CR_Y(0) && !(parts & ~takes);
}

static const char *matmul_kernel(const struct cr_op_ctx *s)
{
    return bf16(s, CR_X(A) | CR_X(B)) ? "gemm_bf16" : cr_gemm_kernel_name();
}

/* What is multiplied as bfloat16 is packed, from either. */
static bool matmul_rounds_for_free(const struct cr_op_ctx *s, int i)
{
    (void)i;
    return s->low == CR_BF16 && cr_gemm_low();
}

static const struct cr_op_kernels matmul_kernels = {
    .name = matmul_kernel,
    .accepts = matmul_accepts,
    .rounds_for_free = matmul_rounds_for_free,
};

const struct cr_op cr_op_matmul = {
    .about = { .name = "matmul",
               .summary = "Matrix product, or a batch of matrix products." },
    .rows = CR_ROWS_EACH,
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = cr_inputs2,
    .saved_for_backward = CR_X(A) | CR_X(B),
    .low = CR_X(A) | CR_X(B) | CR_Y(0),
    .plan = matmul_plan,
    .forward = matmul_forward,
    .algebra.linear = CR_X(A) | CR_X(B),
    .kernels = &matmul_kernels,
    .backward = matmul_backward,
};
