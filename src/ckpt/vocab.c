#include "ckpt/vocab.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "ckpt/json.h"

static void vocab_write(struct cr_buf *b, const struct cr_vocab *v)
{
    cr_json_put_bytes(b, v->column);
    if (!v->token) {
        cr_buf_str(b, ":{\"bytes\":256}");
        return;
    }
    cr_buf_str(b, ":{\"joint\":");
    cr_json_put_bytes(b, v->joint);
    cr_buf_str(b, ",\"tokens\":[");
    for (int64_t i = 0; i < v->n; i++) {
        cr_buf_str(b, i ? "," : "");
        cr_json_put_bytes(b, v->token[i]);
    }
    cr_buf_str(b, "]}");
}

/* The first column after `after` in the order of names; NULL: none. Sorted,
 * because a resumed run has its columns in another order and must write equal
 * files. */
static const struct cr_vocab *vocab_next(const struct cr_config *config,
                                         const char *after)
{
    const struct cr_vocab *v, *found = NULL;

    for (v = config->vocabs; v; v = v->next)
        if ((!after || strcmp(v->column, after) > 0) &&
            (!found || strcmp(v->column, found->column) < 0))
            found = v;
    return found;
}

const char *cr_vocabs_json(struct cr_arena *arena,
                           const struct cr_config *config)
{
    const struct cr_vocab *v = vocab_next(config, NULL);
    struct cr_buf b = { .arena = arena };

    if (!v)
        return NULL;
    for (; v; v = vocab_next(config, v->column)) {
        cr_buf_char(&b, b.len ? ',' : '{');
        vocab_write(&b, v);
    }
    cr_buf_char(&b, '}');
    return cr_buf_text(&b);
}

static struct cr_vocab *vocab_read(struct cr_arena *arena,
                                   const struct cr_node *node)
{
    const struct cr_node *list = cr_node_get(node, "tokens");
    const char **token;
    int64_t n = 0;

    if (cr_json_int(node, "bytes", 0) == 256)
        return cr_vocab_make(arena, cr_json_bytes(arena, node->key), 256, NULL,
                             "");
    if (!list || list->kind != CR_NODE_LIST || !list->child)
        return NULL;
    token = CR_NEWS(arena, const char *, cr_node_count(list));
    for (CR_EACH(m, list))
        if (m->kind == CR_NODE_STR)
            token[n++] = cr_json_bytes(arena, m->text);
    if (n != cr_node_count(list))
        return NULL;
    return cr_vocab_make(arena, cr_json_bytes(arena, node->key), n, token,
                         cr_json_bytes(arena, cr_json_str(node, "joint", "")));
}

static const struct cr_node *vocabs_of(struct cr_arena *arena,
                                       const struct cr_tensor_file *file)
{
    const char *text = cr_tensor_file_meta(file, "cellrun.vocab"), *why;
    size_t at;

    return text ? cr_json_read(arena, text, strlen(text), &why, &at) : NULL;
}

static void vocab_compare(const struct cr_config *config, struct cr_pos at,
                          const struct cr_vocab *is, const struct cr_vocab *was)
{
    struct cr_arena *a = config->arena;
    int64_t i = 0;

    if (!is->token || !was->token)
        return;
    while (i < is->n && i < was->n && strcmp(is->token[i], was->token[i]) == 0)
        i++;
    if (i == is->n && i == was->n)
        return;
    if (i < is->n && i < was->n)
        cr_warn(config->diag, at, CR_E_CKPT_MISMATCH,
                "column '%s': value %" PRId64 " is '%s', but '%s' for the "
                "weights of this file",
                is->column, i, cr_quote(a, is->token[i], strlen(is->token[i])),
                cr_quote(a, was->token[i], strlen(was->token[i])));
    else
        cr_warn(config->diag, at, CR_E_CKPT_MISMATCH,
                "column '%s' has %" PRId64 " values, but %" PRId64
                " for the weights of this file",
                is->column, is->n, was->n);
    cr_hint(config->diag, "weights belong to values by their number: use the "
                          "same values in the same order, or skip the weights "
                          "that read them (load.skip)");
}

void cr_vocabs_compare(const struct cr_config *config,
                       const struct cr_tensor_file *file,
                       bool (*reads)(const void *ctx, int64_t n),
                       const void *ctx)
{
    for (CR_EACH(m, vocabs_of(config->arena, file))) {
        const struct cr_vocab *was = vocab_read(config->arena, m);
        const struct cr_vocab *is =
            was ? cr_vocab_kept(config, was->column) : NULL;

        if (is && reads(ctx, was->n))
            vocab_compare(config,
                          cr_at_file(config->arena, cr_tensor_file_path(file)),
                          is, was);
    }
}

static bool vocab_wrong(struct cr_config *config,
                        const struct cr_tensor_file *file)
{
    return cr_error(
        config->diag, cr_at_file(config->arena, cr_tensor_file_path(file)),
        CR_E_CKPT_FORMAT, "cellrun.vocab does not contain a vocabulary");
}

bool cr_vocab_read(struct cr_config *config, const struct cr_tensor_file *file,
                   const char *column, struct cr_vocab **to)
{
    struct cr_arena *arena = config->arena;

    *to = NULL;
    for (CR_EACH(m, vocabs_of(arena, file)))
        if (strcmp(cr_json_bytes(arena, m->key), column) == 0) {
            *to = vocab_read(arena, m);
            if (!*to)
                return vocab_wrong(config, file);
            (*to)->file = cr_tensor_file_path(file);
        }
    return true;
}

bool cr_vocabs_read(struct cr_config *config, const struct cr_tensor_file *file)
{
    const struct cr_node *root = vocabs_of(config->arena, file);

    if (!cr_tensor_file_meta(file, "cellrun.vocab"))
        return true;
    for (CR_EACH(m, root)) {
        struct cr_vocab *v = vocab_read(config->arena, m);

        if (!v) {
            root = NULL;
            break;
        }
        cr_vocab_keep(config, v);
    }
    return (root && root->kind == CR_NODE_MAP) || vocab_wrong(config, file);
}
