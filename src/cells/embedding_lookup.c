/*
 * EmbeddingLookup: MindSpore's Embedding for tables distributed over devices;
 * an index out of range gives zeros.
 *   max_norm: y max_norm / max(|y|, max_norm), |y| over a row (ClipByNorm).
 */
#include "graph/cell.h"
#include "graph/op_attrs.h"

#include <math.h>

enum { TARGET_CPU, TARGET_DEVICE };

struct lookup {
    int64_t vocab_size, embedding_size;
    struct cr_obj param_init;
    int target, slice_mode;
    double max_norm;
    bool sparse;
};

static const struct cr_opt lookup_opts[] = {
    CR_INT(struct lookup, vocab_size, 1, CR_DIM_MAX,
           "Number of rows of the "
           "table."),
    CR_INT(struct lookup, embedding_size, 1, CR_DIM_MAX,
           "Length of each "
           "vector."),
    CR_OBJ_DEFAULT(struct lookup, param_init, CR_KIND_INIT, "normal",
                   "Initial table."),
    CR_ENUM_DEFAULT(struct lookup, target, TARGET_CPU, "CPU|DEVICE",
                    "DEVICE: indices are checked as Embedding does."),
    CR_ENUM_DEFAULT(
        struct lookup, slice_mode, 0,
        "batch_slice|field_slice|table_row_slice|table_column_slice",
        "How MindSpore splits the table among devices; has no effect here."),
    CR_REAL_OPTIONAL(struct lookup, max_norm, 1e-30, 1e30,
                     "Maximum norm of a vector; longer ones are scaled down to "
                     "it."),
    CR_BOOL_DEFAULT(struct lookup, sparse, true,
                    "Must be true if target is CPU. LazyAdam then updates only "
                    "the rows that have a gradient."),
    { 0 },
};

static bool lookup_check(struct cr_diag *diag, struct cr_pos pos,
                         const void *opts)
{
    const struct lookup *o = opts;

    return o->sparse || o->target == TARGET_DEVICE ||
           cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                    "EmbeddingLookup: found sparse: false with target CPU, "
                    "expected true");
}

static struct cr_val *lookup_clip(struct cr_build *b, double max_norm,
                                  struct cr_val *y)
{
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_constant *most = CR_NEW(arena, struct cr_constant);
    struct cr_norm *norm = CR_NEW(arena, struct cr_norm);
    double *value = CR_NEW(arena, double);
    int64_t *last = CR_NEW(arena, int64_t);
    struct cr_val *m, *length;

    *value = max_norm;
    *last = -1;
    most->value = (struct cr_reals){ 1, value };
    *norm = (struct cr_norm){ .ord = 2, .axis = { 1, last }, .keepdims = true };
    m = cr_emit(b, "constant", most, 0, NULL);
    length = CR_EMIT(b, "maximum", NULL, CR_EMIT(b, "norm", norm, y), m);
    return CR_EMIT(b, "div", NULL, CR_EMIT(b, "mul", NULL, y, m), length);
}

static struct cr_val *lookup_build(struct cr_build *b,
                                   struct cr_val *const *in)
{
    const struct lookup *o = cr_opts(b);
    struct cr_gather *attr = CR_NEW(cr_build_arena(b), struct cr_gather);
    struct cr_val *table, *y;

    table = cr_param(b, "embedding_table",
                     CR_SPEC(o->vocab_size, o->embedding_size), &o->param_init,
                     CR_DEFAULT_INIT_NORMAL, 0);
    if (o->sparse)
        cr_param_by_rows(b, table);
    attr->negative = o->target == TARGET_CPU ? CR_INDEX_ZERO : CR_INDEX_ERROR;
    y = CR_EMIT(b, "gather", attr, table, in[0]);
    return isnan(o->max_norm) ? y : lookup_clip(b, o->max_norm, y);
}

const struct cr_cell cr_cell_embedding_lookup = {
    .about = {
        .name = "EmbeddingLookup",
        .summary = "Embedding that gives zeros for indices out of range.",
        .detail = "Input int32 of any shape (batch, ...), output (batch, ..., "
                  "embedding_size). Parameter: embedding_table (vocab_size, "
                  "embedding_size). Negative indices are out of range too.",
        .example = "network:\n"
                   "  inputs: {tokens: {shape: [16], type: int32}}\n"
                   "  cells:\n"
                   "    tok: {EmbeddingLookup: {vocab_size: 65, "
                   "embedding_size: 32}}\n"
                   "  construct: return tok(tokens)\n",
        .opts = lookup_opts,
        .size = sizeof(struct lookup),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = lookup_check,
    .build = lookup_build,
};
