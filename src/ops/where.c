/* where: y = a where the condition is true, else b;  da = dy where it is true,
 * else 0; db vice versa. All three are broadcast. */
#include "families/broadcast.h"

#include <string.h>

enum {
    CONDITION,
    A,
    B
};

/* Broadcast operands are expanded first, so that one loop suffices. */
#define WHERE_LOOP(name, T)                                               \
    CR_CLONES static void name(const void *attr, int64_t n,               \
                               const void *const *in, const int64_t *inc, \
                               void *out)                                 \
    {                                                                     \
        const unsigned char *c = in[CONDITION];                           \
        const T *a = in[A], *b = in[B];                                   \
        unsigned char same[CR_ITER_RUN_MAX];                              \
        T yes[CR_ITER_RUN_MAX], no[CR_ITER_RUN_MAX], *y = out;            \
        int64_t i;                                                        \
        (void)attr;                                                       \
        if (inc[CONDITION] == 0)                                          \
            c = memset(same, *c, (size_t)n);                              \
        for (i = 0; i < n && inc[A] == 0; i++)                            \
            yes[i] = *a;                                                  \
        for (i = 0; i < n && inc[B] == 0; i++)                            \
            no[i] = *b;                                                   \
        a = inc[A] ? a : yes;                                             \
        b = inc[B] ? b : no;                                              \
        CR_SIMD                                                           \
        for (i = 0; i < n; i++) {                                         \
            T v = a[i], w = b[i];                                         \
            y[i] = c[i] ? v : w;                                          \
        }                                                                 \
    }

WHERE_LOOP(where_real, cr_real)
WHERE_LOOP(where_whole, int32_t)

/* The condition is not differentiable. */
CR_CLONES static void where_grad(const void *attr, int64_t n, int of,
                                 const void *const *in, const int64_t *inc,
                                 const cr_real *y, const cr_real *dy,
                                 cr_real *d)
{
    const unsigned char *c = in[CONDITION];
    unsigned char taken = of == A;
    bool all = of != CONDITION && *c == taken;
    int64_t i;

    (void)attr;
    (void)y;
    if (of != CONDITION && inc[CONDITION])
        CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real g = dy[i];

        d[i] = c[i] == taken ? g : 0;
    }
    else for (i = 0; i < n; i++) d[i] = all ? dy[i] : 0;
}

static const char *const where_inputs[] = { "condition", "input", "other",
                                            NULL };

CR_BROADCAST(where, 3, .real = where_real, .integer = where_whole,
             .grad = where_grad, .masks = CR_X(CONDITION), .cost = 1)
CR_BROADCAST_BACKWARD(where)

const struct cr_op cr_op_where = {
    .about = { .name = "where",
               .summary = "Selects elements of two tensors by a condition." },
    CR_BROADCAST_OP(where, 3, where_inputs),
    .saved_for_backward = CR_X(CONDITION),
    .bprop = "g = where(a, dy, 0.0)\n"
             "return None, shaped(g, b), shaped(where(a, 0.0, dy), c)",
    .backward = where_backward,
};
