/* Array: explicit values, as in MindSpore's set_data. */
#include "base/str.h"
#include "conf/config.h"
#include "graph/init.h"

struct array {
    const struct cr_node *values;
    const char *file;
};

static const struct cr_opt array_opts[] = {
    CR_NODE(struct array, values,
            "The values, as nested lists with the shape of the parameter."),
    CR_STR_OPTIONAL(struct array, file,
                    "A .npy file with the shape of the parameter, instead of "
                    "values."),
    { 0 },
};

/* Reads one axis of the values at `node` into `to`; NULL: only checks. */
static bool array_axis(const struct cr_init_args *f, const struct cr_node *node,
                       int axis, cr_real *to)
{
    const struct cr_spec *spec = &f->spec;
    int64_t n = 1;

    if (axis == spec->rank) {
        if (node->kind != CR_NODE_INT && node->kind != CR_NODE_REAL)
            return cr_error(f->diag, node->pos, CR_E_SHAPE,
                            "values of '%s': found %s, expected a number",
                            f->param, cr_node_what(f->arena, node));
        if (to)
            *to = (cr_real)node->real;
        return true;
    }
    if (node->kind != CR_NODE_LIST || cr_node_count(node) != spec->dim[axis])
        return cr_error(
            f->diag, node->pos, CR_E_SHAPE,
            "values of '%s' %s: found %s, expected a list of "
            "%lld on axis %d",
            f->param, cr_diag_format(f->arena, spec),
            node->kind == CR_NODE_LIST
                ? cr_strf(f->arena, "a list of %d", cr_node_count(node))
                : cr_node_what(f->arena, node),
            (long long)spec->dim[axis], axis);
    for (int i = axis + 1; i < spec->rank; i++)
        n *= spec->dim[i];
    for (CR_EACH(m, node)) {
        if (!array_axis(f, m, axis + 1, to))
            return false;
        to = to ? to + n : NULL;
    }
    return true;
}

static bool array_fill(const struct cr_init_args *f)
{
    const struct array *o = f->opts;

    if (!o->values == !o->file)
        return cr_error(f->diag, f->pos, CR_E_MISSING_KEY,
                        "Array: found %s, expected `values` or `file`",
                        o->file ? "both" : "neither");
    return o->file ? cr_init_from_file(f, o->file)
                   : array_axis(f, o->values, 0, f->to);
}

const struct cr_init cr_init_array = {
    .about = {
        .name = "Array",
        .summary = "Explicit values from the config or a .npy file.",
        .detail = "As MindSpore's Parameter.set_data: the shape must be that "
                  "of the parameter. Values of a checkpoint replace these "
                  "values, so the file is not needed with a checkpoint.",
        .example = "init: [{match: \"*.4.bias\", Array: {values: [0, 1, 0, 0, "
                   "0, 0, 0, 0, 0, 0]}}]\n",
        .opts = array_opts,
        .size = sizeof(struct array),
    },
    .fill = array_fill,
};
