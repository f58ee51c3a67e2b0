/* matmul: y = a b    a (..., m, k)   b (..., k, n)   y (..., m, n)
 *   da = dy b',  db = a' dy,  summed over broadcast dimensions
 *
 * Leading dimensions are batches of matrices and are broadcast. A
 * one-dimensional operand is a row on the left and a column on the right, and
 * its dimension is removed from the result. If all products share the matrix
 * b, they are computed as one large product. */
#include "families/broadcast.h"
#include "kernels/blas.h"
#include "kernels/parallel_for.h"

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

/* to: the result, as a bit of .rounds. */
static void multiply(const struct cr_op_ctx *s, unsigned to, enum cr_trans ta,
                     enum cr_trans tb, int64_t m, int64_t n, int64_t k,
                     const cr_real *a, const cr_real *b, bool add, cr_real *c)
{
    struct cr_gemm g = cr_product(ta, tb, m, n, k, a, b, add, c);

    g.bf16 = s->bf16;
    g.round = s->rounds & to;
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
    const struct shape *q = &w->q;
    const cr_real *a = w->s->x[A], *b = w->s->x[B];
    cr_real *y = w->s->y[0];

    for (; from < to; from++)
        multiply(w->s, CR_Y(0), CR_N, CR_N, q->m, q->n, q->k,
                 a + matrix_of(q, A, from) * q->m * q->k,
                 b + matrix_of(q, B, from) * q->k * q->n, false,
                 y + from * q->m * q->n);
}

static void matmul_forward(const struct cr_op_ctx *s)
{
    struct work w = { .s = s, .q = shape_of(s) };

    if (w.q.count[B] == 1)
        multiply(s, CR_Y(0), CR_N, CR_N, w.q.products * w.q.m, w.q.n, w.q.k,
                 s->x[A], s->x[B], false, s->y[0]);
    else
        share(&w, w.q.products, products);
}

/* Computes the gradients of matrices from..to-1 of one operand: each is the
 * sum over all products that use it, in their order. */
static void gradients(void *ctx, int64_t from, int64_t to)
{
    const struct work *w = ctx;
    const struct shape *q = &w->q;
    const cr_real *a = w->s->x[A], *b = w->s->x[B], *dy = w->s->dy[0];
    cr_real *dx = w->s->dx[w->of];
    int64_t i, each = q->count[w->of];

    for (; from < to; from++) {
        bool add = w->s->accumulate[w->of];

        for (i = each == q->products ? from : 0; i < q->products; i++) {
            if (matrix_of(q, w->of, i) != from)
                continue;
            if (w->of == A)
                multiply(w->s, 0, CR_N, CR_T, q->m, q->k, q->n,
                         dy + i * q->m * q->n,
                         b + matrix_of(q, B, i) * q->k * q->n, add,
                         dx + from * q->m * q->k);
            else
                multiply(w->s, 0, CR_T, CR_N, q->k, q->n, q->m,
                         a + matrix_of(q, A, i) * q->m * q->k,
                         dy + i * q->m * q->n, add, dx + from * q->k * q->n);
            add = true;
            if (each == q->products)
                break;
        }
    }
}

static void matmul_backward(const struct cr_op_ctx *s)
{
    struct work w = { .s = s, .q = shape_of(s) };
    int64_t rows = w.q.products * w.q.m;
    bool one = w.q.count[B] == 1; /* then a has all batch dimensions */

    if (s->dx[A] && one)
        multiply(s, 0, CR_N, CR_T, rows, w.q.k, w.q.n, s->dy[0], s->x[B],
                 s->accumulate[A], s->dx[A]);
    else if (s->dx[A])
        share(&w, w.q.count[A], gradients);
    w.of = B;
    if (s->dx[B] && one)
        multiply(s, 0, CR_T, CR_N, w.q.k, w.q.n, rows, s->x[A], s->dy[0],
                 s->accumulate[B], s->dx[B]);
    else if (s->dx[B])
        share(&w, w.q.count[B], gradients);
}

const struct cr_op cr_op_matmul = {
    .about = { .name = "matmul",
               .summary = "Matrix product, or a batch of matrix products." },
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = cr_inputs2,
    .saved_for_backward = CR_X(A) | CR_X(B),
    .bf16 = CR_X(A) | CR_X(B),
    .rounds = CR_Y(0), /* a gradient may be a sum of several products */
    .amp = CR_AMP_WHITE | CR_AMP_LOW,
    .plan = matmul_plan,
    .forward = matmul_forward,
    .linear = CR_X(A) | CR_X(B),
    .backward = matmul_backward,
};
