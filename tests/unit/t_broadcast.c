/* Elementwise ops over random shapes that broadcast, on one and on three
 * threads, against one element at a time: rows that several rows of the result
 * share, shorter and longer than a run, in each operand and type. */
#include "base/thread_pool.h"
#include "graph/op.h"
#include "tap.h"

#include <stdlib.h>

#define RUNS 400
#define MOST (1 << 15) /* elements of a result */
#define INPUTS 3

extern const struct cr_op cr_op_mul, cr_op_less, cr_op_where;

static unsigned state = 1;

static int64_t any(int64_t n)
{
    state = state * 1664525u + 1013904223u;
    return (int64_t)((state >> 8) % (unsigned)n);
}

struct turn {
    const struct cr_op *op;
    int n_in;
    struct cr_spec in[INPUTS], out;
    void *x[INPUTS], *y;
};

static double number(enum cr_type type, const void *x, int64_t i)
{
    return type == CR_REAL  ? (double)((const cr_real *)x)[i]
           : type == CR_I32 ? (double)((const int32_t *)x)[i]
                            : (double)((const unsigned char *)x)[i];
}

static void *numbers(const struct cr_spec *s)
{
    int64_t i, n = cr_count(s);
    void *x = malloc((size_t)n * cr_type_size(s->type));

    for (i = 0; i < n; i++)
        if (s->type == CR_REAL)
            ((cr_real *)x)[i] = (cr_real)any(2001) / 16 - 60;
        else if (s->type == CR_I32)
            ((int32_t *)x)[i] = (int32_t)any(2001) - 1000;
        else
            ((unsigned char *)x)[i] = (unsigned char)any(2);
    return x;
}

/* Where element i of the result has its element of input k. */
static int64_t place(const struct turn *t, int k, int64_t i)
{
    const struct cr_spec *x = &t->in[k];
    int64_t at = 0, dense = 1;
    int d;

    for (d = 1; d <= t->out.rank; d++) {
        int64_t size = t->out.dim[t->out.rank - d];
        int64_t own = d <= x->rank ? x->dim[x->rank - d] : 1;

        at += own == 1 ? 0 : i % size * dense;
        dense *= own;
        i /= size;
    }
    return at;
}

static double wanted(const struct turn *t, int64_t i)
{
    double v[INPUTS] = { 0 };
    int k;

    for (k = 0; k < t->n_in; k++)
        v[k] = number(t->in[k].type, t->x[k], place(t, k, i));
    return t->op == &cr_op_mul    ? v[0] * v[1]
           : t->op == &cr_op_less ? v[0] < v[1]
           : v[0] != 0            ? v[1]
                                  : v[2];
}

/* Shapes of the inputs: the sizes of a result, each 1 in some of them. */
static void shapes_set(struct turn *t, enum cr_type type)
{
    static const int64_t sizes[] = { 1, 2, 3, 7, 16, 33, 64, 96, 130, 256,
                                     257, 300, 600 };
    int64_t dim[4], n = 1;
    int rank = 1 + (int)any(4), i, k;

    for (i = 0; i < rank; i++) {
        dim[i] = sizes[any((int64_t)(sizeof sizes / sizeof *sizes))];
        dim[i] = n * dim[i] > MOST ? 1 + any(3) : dim[i];
        n *= dim[i];
    }
    for (k = 0; k < t->n_in; k++) {
        int less = k > 0 ? (int)any(rank + 1) : 0;

        t->in[k] = cr_spec_make(type, rank - less, dim + less);
        for (i = 0; i < rank - less; i++)
            if (any(3) == 0)
                t->in[k].dim[i] = 1;
    }
    if (t->op == &cr_op_where)
        t->in[0].type = CR_BOOL;
}

/* Whether all elements are right, and none next to them is written. */
static bool is_right(struct turn *t)
{
    struct cr_arena arena = { 0 };
    struct cr_op_plan p = { .arena = &arena,
                            .n_in = t->n_in,
                            .in = t->in,
                            .out = &t->out,
                            .n_out = 1 };
    struct cr_op_ctx s = { .in = t->in, .out = &t->out };
    bool good = t->op->plan(&p);
    int64_t i, n = cr_count(&t->out);
    size_t each = cr_type_size(t->out.type);
    int k;

    t->y = malloc((size_t)(n + 1) * each);
    memset(t->y, 77, (size_t)(n + 1) * each);
    for (k = 0; k < t->n_in; k++)
        s.x[k] = t->x[k] = numbers(&t->in[k]);
    s.y[0] = t->y;
    t->op->forward(&s);
    for (i = 0; i < n; i++)
        good = good && number(t->out.type, t->y, i) == wanted(t, i);
    for (i = 0; i < (int64_t)each; i++)
        good = good && ((char *)t->y)[(size_t)n * each + (size_t)i] == 77;
    for (k = 0; k < t->n_in; k++)
        free(t->x[k]);
    free(t->y);
    cr_arena_free(&arena);
    return good;
}

static void check(const struct cr_op *op, int n_in, enum cr_type type,
                  int threads)
{
    struct turn t = { .op = op, .n_in = n_in };
    int i;

    test_begin("%s of %s, %d threads", op->about.name, cr_type_name(type),
               threads);
    for (i = 0; i < RUNS; i++) {
        shapes_set(&t, type);
        ok(is_right(&t), "shapes %d", i);
    }
    test_end();
}

int main(void)
{
    int threads;

    for (threads = 1; threads <= 3; threads += 2) {
        cr_thread_pool_start(threads);
        check(&cr_op_mul, 2, CR_REAL, threads);
        check(&cr_op_mul, 2, CR_I32, threads);
        check(&cr_op_less, 2, CR_REAL, threads);
        check(&cr_op_less, 2, CR_I32, threads);
        check(&cr_op_where, 3, CR_REAL, threads);
        cr_thread_pool_stop();
    }
    return done();
}
