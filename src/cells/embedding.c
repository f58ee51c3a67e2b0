/* Embedding: a learned vector for each index; y[.., :] = table[x[..], :]. */
#include "graph/cell.h"
#include "graph/op_attrs.h"

struct embedding {
    int64_t vocab_size, embedding_size;
    bool use_one_hot;
    struct cr_obj embedding_table;
    int64_t padding_idx;
};

static const struct cr_opt embedding_opts[] = {
    CR_INT(struct embedding, vocab_size, 1, CR_DIM_MAX,
           "Number of rows of the table; indices are 0 to vocab_size - 1."),
    CR_INT(struct embedding, embedding_size, 1, CR_DIM_MAX,
           "Length of each "
           "vector."),
    CR_BOOL_DEFAULT(
        struct embedding, use_one_hot, false,
        "As a one-hot matrix product; the only effect is that an index out of "
        "range gives zeros."),
    CR_OBJ_DEFAULT(struct embedding, embedding_table, CR_KIND_INIT, "normal",
                   "Initial table."),
    CR_INT_OPTIONAL(struct embedding, padding_idx, 0, CR_DIM_MAX,
                    "The row that begins with zeros; it is trained like the "
                    "others."),
    { 0 },
};

static struct cr_val *embedding_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    const struct embedding *o = cr_opts(b);
    struct cr_gather *attr = CR_NEW(cr_build_arena(b), struct cr_gather);
    struct cr_val *table;

    if (o->padding_idx != CR_INT_NONE && o->padding_idx >= o->vocab_size) {
        cr_fail(b, CR_E_OUT_OF_RANGE,
                "padding_idx: found %lld, expected an index below vocab_size "
                "%lld",
                (long long)o->padding_idx, (long long)o->vocab_size);
        return NULL;
    }
    table = cr_param(b, "embedding_table",
                     CR_SPEC(o->vocab_size, o->embedding_size),
                     &o->embedding_table, CR_DEFAULT_INIT_NORMAL, 0);
    if (o->padding_idx != CR_INT_NONE)
        cr_param_zero_row(b, table, o->padding_idx);
    attr->negative = o->use_one_hot ? CR_INDEX_ZERO : CR_INDEX_ERROR;
    return CR_EMIT(b, "gather", attr, table, in[0]);
}

const struct cr_cell cr_cell_embedding = {
    .about = {
        .name = "Embedding",
        .summary = "Embedding: a learned vector for each index.",
        .detail = "Input int32 of any shape (batch, ...), output (batch, ..., "
                  "embedding_size). Parameter: embedding_table (vocab_size, "
                  "embedding_size). An index out of range is an error, also a "
                  "negative one (MindSpore counts negative indices from the "
                  "end and gives the table no gradient for them).",
        .example = "network:\n"
                   "  inputs: {tokens: {shape: [16], type: int32}}\n"
                   "  cells:\n"
                   "    tok: {Embedding: {vocab_size: 65, "
                   "embedding_size: 32}}\n"
                   "  construct: return tok(tokens)\n",
        .opts = embedding_opts,
        .size = sizeof(struct embedding),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = embedding_build,
};
