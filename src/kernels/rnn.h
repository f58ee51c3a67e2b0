/*
 * Recurrences: what one sample's gates do at one step, after the product of its
 * state. families/rnn.h has the frame around it.
 *
 *   rnn    h = f(x + g + b),  f = tanh or relu                (Elman)
 *   gru    r = s(x_r + u_r), z = s(x_z + u_z), n = tanh(x_n + r u_n),
 *          h = n + z (h0 - n),  u = g + b            (arXiv:1406.1078)
 *   lstm   (i, f, g, o) = x + g + b,  c = s(f) c0 + s(i) tanh(g),
 *          h = s(o) tanh(c)              (doi:10.1162/neco.1997.9.8.1735)
 */
#ifndef CR_KERNELS_RNN_H
#define CR_KERNELS_RNN_H

#include "base/compiler.h"
#include "kernels/kernel.h"
#include "num/real.h"
#include "num/spec.h"

#include <stdbool.h>
#include <stdint.h>

enum cr_rnn_act {
    CR_RNN_TANH,
    CR_RNN_RELU
};

/* In low precision, which results are rounded, besides the product. */
struct cr_rnn_rounds {
    bool all;   /* every one */
    bool sum;   /* that of both products */
    bool gate;  /* what goes in and out of gates */
    bool pair;  /* products of two gates */
    bool state; /* c on its way into tanh, and what comes out */
};

struct cr_rnn_kernel;

/* One sample at one step. Its forward part asks for the next one's x, which is
 * far away where the batch comes first. */
struct cr_rnn_row {
    const struct cr_rnn_kernel *k;
    int64_t n;        /* H */
    int act;          /* of an rnn: enum cr_rnn_act */
    const cr_real *x; /* of the input: g n */
    const cr_real *next_x; /* of the next sample */
    const cr_real *b; /* the state's: g n */
    const cr_real *h0, *c0;
    /* forward: h0 W' comes in; what backward wants is left: of an lstm all
     * gates, of a gru r, z and u_n, and n in c */
    cr_real *g;
    cr_real *h, *c;
    /* backward: the gradients of h and c come in; what reaches h0, other than
     * through w, and c0 goes out */
    cr_real *dh, *dc;
    cr_real *dg; /* the gradient of x goes out */
    /* In low precision, that of CR_F16 or CR_BF16: b is NULL where there is
     * none, and of an lstm two, one after the other; dg goes out as the
     * gradient of the product, that of x as dx. */
    enum cr_type low;
    struct cr_rnn_rounds rounds;
    cr_real *dx;
};

typedef void cr_rnn_part(const struct cr_rnn_row *row);

/* In low precision. */
struct cr_rnn_low_rows {
    cr_rnn_part *rnn, *rnn_backward;
    cr_rnn_part *gru, *gru_backward;
    cr_rnn_part *lstm, *lstm_backward;
};

extern const struct cr_rnn_low_rows cr_rnn_low_avx512, cr_rnn_low_avx2,
    cr_rnn_low_portable;

struct cr_rnn_kernel {
    struct cr_kernel head;
    cr_rnn_part *rnn, *rnn_backward;
    cr_rnn_part *gru, *gru_backward;
    /* Makes of the gradient of a gru's x in dg that of its product. */
    cr_rnn_part *gru_to_product;
    cr_rnn_part *lstm, *lstm_backward;
    const struct cr_rnn_low_rows *low;
};

/* Asks for all n numbers of the next x at once. */
CR_INLINE void cr_rnn_prefetch(const struct cr_rnn_row *row, int64_t n)
{
    int64_t k;

    for (k = 0; k < n; k += 64 / (int64_t)sizeof(cr_real))
        __builtin_prefetch(row->next_x + k);
}

extern const struct cr_rnn_kernel cr_rnn_avx512, cr_rnn_avx2, cr_rnn_portable;

/* The one that is chosen. */
const struct cr_rnn_kernel *cr_rnn_kernel(void);

#endif
