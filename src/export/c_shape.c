/*
 * C code of ops that move elements.
 */
#include "export/c.h"

#include <inttypes.h>
#include <string.h>

#include "graph/op_attrs.h"

/* The same elements under another shape, in which each sample has the same
 * elements. */
static bool reshape(struct cr_c *c, const char *arg)
{
    const struct cr_inference_val *x = cr_c_val(c, 0), *y = cr_c_result(c);

    (void)arg;
    if (y->batch && cr_c_count(x, 0, cr_c_samples(x)) !=
                        cr_c_count(y, 0, cr_c_samples(y)))
        return cr_c_no(c, "it mixes samples");
    c->name[c->node->out[0]] = cr_c_in(c, 0);
    return true;
}

/* Integers are stored as real numbers. */
static bool cast(struct cr_c *c, const char *arg)
{
    const char *dtype = cr_inference_enum(c->arena, c->node, "dtype");

    return strcmp(dtype, arg) == 0
               ? reshape(c, NULL)
               : cr_c_no(c, "only float32 has a C form");
}

static bool transpose(struct cr_c *c, const char *arg)
{
    const struct cr_inference_val *x = cr_c_val(c, 0), *y = cr_c_result(c);
    int rank = x->spec.rank, from[CR_RANK_MAX];
    struct cr_buf at = { .arena = c->arena };
    const char *in = cr_c_in(c, 0), *out = cr_c_out(c);

    for (int i = 0; i < rank; i++) {
        if (strcmp(arg, "first") == 0)
            from[i] = i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
        else if (strcmp(arg, "last") == 0)
            from[i] = i == 0 ? 0 : i == rank - 1 ? 1 : i + 1;
        else {
            struct cr_ints perm = cr_inference_ints(c->node, "input_perm");

            from[i] = perm.n > 0 ? (int)perm.v[i] : rank - 1 - i;
            from[i] += from[i] < 0 ? rank : 0;
        }
        if (cr_c_dim(y, i) > 1)
            cr_buf_f(&at, "%si%d * %" PRId64, at.len > 0 ? " + " : "", i,
                     cr_c_count(x, from[i] + 1, rank));
    }
    cr_c_loops(c, y);
    cr_buf_f(&c->code, "        %s[%s] = %s[%s];\n", out,
             cr_c_index(c, y, rank), in, at.len > 0 ? cr_buf_text(&at) : "0");
    return true;
}

static bool channel_shuffle(struct cr_c *c, const char *arg)
{
    const struct cr_inference_val *x = cr_c_val(c, 0), *y = cr_c_result(c);
    int64_t g = cr_inference_int(c->node, "groups"), all = x->spec.dim[1];
    int64_t places = cr_c_count(x, 2, x->spec.rank);

    (void)arg;
    cr_buf_f(&c->code,
             "    for (int i = 0; i < %" PRId64 "; i++)\n"
             "        %s[i] = %s[i / %" PRId64 " * %" PRId64
             " + (i / %" PRId64 " %% %" PRId64 " * %" PRId64
             " + i / %" PRId64 " %% %" PRId64 ") * %" PRId64
             " + i %% %" PRId64 "];\n",
             cr_c_all(y), cr_c_out(c), cr_c_in(c, 0), all * places,
             all * places, places, g, all / g, places * g, all / g, places,
             places);
    return true;
}

static bool concat(struct cr_c *c, const char *arg)
{
    const struct cr_inference_val *y = cr_c_result(c);
    int axis = cr_c_axis(c, y, cr_inference_int(c->node, "axis"));
    const char *out = cr_c_out(c);
    int64_t at = 0, row;

    (void)arg;
    if (axis < 0)
        return false;
    row = cr_c_count(y, axis, y->spec.rank);
    for (int k = 0; k < c->node->n_in; k++) {
        int64_t n = cr_c_count(cr_c_val(c, k), axis, y->spec.rank);

        cr_buf_f(&c->code,
                 "    for (int i = 0; i < %" PRId64 "; i++)\n"
                 "        %s[i / %" PRId64 " * %" PRId64 " + %" PRId64
                 " + i %% %" PRId64 "] = %s[i];\n",
                 cr_c_all(cr_c_val(c, k)), out, n, row, at, n, cr_c_in(c, k));
        at += n;
    }
    return true;
}

/* ---- Indices */

static bool gather(struct cr_c *c, const char *arg)
{
    const struct cr_gather *a = c->node->attr;
    const struct cr_inference_val *x = cr_c_val(c, 0), *index = cr_c_val(c, 1);
    int axis = cr_c_axis(c, x, cr_inference_int(c->node, "axis"));

    if (axis < 0)
        return false;
    cr_c_call(c, arg,
              cr_strf(c->arena, "%s, %s, %s, %s", cr_c_in(c, 0), cr_c_in(c, 1),
                      cr_c_out(c),
                      CR_C_INTS(c, cr_c_count(x, 0, axis), cr_c_dim(x, axis),
                                cr_c_count(x, axis + 1, x->spec.rank),
                                cr_c_all(index),
                                !a || a->negative == CR_INDEX_WRAP)));
    return true;
}

const struct cr_c_emitter cr_c_shape[] = {
    { "cast", cast, "float32", false, true },
    { "channel_shuffle", channel_shuffle, NULL, false, false },
    { "channels_first", transpose, "first", false, false },
    { "channels_last", transpose, "last", false, false },
    { "concat", concat, NULL, false, false },
    { "expand_dims", reshape, NULL, true, true },
    { "flatten", reshape, NULL, true, true },
    { "gather", gather, "gather", false, true },
    { "reshape", reshape, NULL, true, true },
    { "squeeze", reshape, NULL, true, true },
    { "transpose", transpose, "", false, false },
    { 0 },
};
