/* cast: the same values in another type; real types pass gradients. float16
 * and bfloat16 are stored as float32, rounded to the type, and results of ops
 * on them are rounded, too, as in MindSpore. */
#include "families/broadcast.h"
#include "families/data_movement.h"
#include "graph/amp.h"
#include "graph/cell.h"
#include "graph/op_attrs.h"
#include "kernels/parallel_for.h"

struct cast {
    int dtype; /* enum cr_dtype, then CR_LOW_TYPES */
};

static const struct cr_opt cast_opts[] = {
    CR_ENUM_DEFAULT(struct cast, dtype, CR_FLOAT32, CR_DTYPES "|" CR_LOW_TYPES,
                    "Type of the output."),
    { 0 },
};

enum cr_type cr_dtype_type(int dtype)
{
    return dtype == CR_INT32        ? CR_I32
           : dtype == CR_DTYPE_BOOL ? CR_BOOL
                                    : CR_REAL;
}

static bool cast_plan(struct cr_op_plan *p)
{
    const struct cast *o = p->attr; /* NULL: to the type in which networks
                                       compute */

    p->out[0] = p->in[0];
    p->out[0].type = cr_dtype_type(o ? o->dtype : CR_FLOAT32);
    p->same = p->out[0].type == p->in[0].type;
    return true;
}

static void cast_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    char *y = s->y[0];

    y += (size_t)from * cr_type_size(s->out[0].type);
    cr_elements(s->out[0].type, s->in[0].type, s->x[0], from, to - from, y);
}

static void cast_forward(const struct cr_op_ctx *s)
{
    if (s->in[0].type == s->out[0].type)
        cr_view_forward(s);
    else
        cr_parallel_for(cr_count(&s->in[0]), 0.5, (void *)(uintptr_t)s,
                        cast_range);
}

static struct cr_val *cast_build(struct cr_build *b, const void *attr, int n,
                                 struct cr_val *const *in)
{
    const struct cast *o = attr;
    struct cr_fake_cast low = { .type =
                                    (o ? o->dtype : 0) - CR_DTYPE_BOOL - 1 };
    struct cr_val *x = in[0];

    if (!o || o->dtype <= CR_DTYPE_BOOL)
        return cr_emit_itself(b, cr_op_find("cast"), attr, n, in);
    if (cr_val_spec(x)->type != CR_REAL)
        x = cr_emit_itself(b, cr_op_find("cast"), NULL, 1, &x);
    return x ? cr_cast_low(b, cr_fake_cast_type(&low), x) : NULL;
}

const struct cr_op cr_op_cast = {
    .about = { .name = "cast",
               .summary = "Casts to another type.",
               .opts = cast_opts,
               .size = sizeof(struct cast) },
    .rows = CR_ROWS_ALIGN,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .int_inputs = CR_X(0),
    .algebra = { .kind = CR_ELEMENTWISE },
    .plan = cast_plan,
    .build = cast_build,
    .forward = cast_forward,
    .bprop = "return dy",
    .backward = cr_view_backward,
};
