#include "data/vocab.h"

#include "base/str.h"
#include "data/section.h"

#include <string.h>

/* ---- one vocabulary ---- */

static uint64_t slot_of(const struct cr_vocab *v, const char *token,
                        size_t len)
{
    uint64_t at = cr_hash(CR_HASH, token, len) & (v->n_slots - 1);

    for (; v->slots[at] >= 0; at = (at + 1) & (v->n_slots - 1)) {
        const char *other = v->token[v->slots[at]];

        if (strlen(other) == len && memcmp(other, token, len) == 0)
            break;
    }
    return at;
}

struct cr_vocab *cr_vocab_make(struct cr_arena *arena, const char *column,
                               int64_t n, const char *const *token,
                               const char *joint)
{
    struct cr_vocab *v = CR_NEW(arena, struct cr_vocab);
    uint64_t i;

    v->column = column;
    v->n = n;
    v->token = token;
    v->joint = joint;
    if (!token)
        return v;
    for (v->n_slots = 16; v->n_slots < 2 * (uint64_t)n; v->n_slots *= 2)
        ;
    v->slots = CR_NEWS(arena, int64_t, v->n_slots);
    for (i = 0; i < v->n_slots; i++)
        v->slots[i] = -1;
    for (i = 0; i < (uint64_t)n; i++) {
        uint64_t at = slot_of(v, token[i], strlen(token[i]));

        if (v->slots[at] >= 0)
            return NULL;
        v->slots[at] = (int64_t)i;
    }
    return v;
}

int64_t cr_vocab_find(const struct cr_vocab *vocab, const char *token,
                      size_t len)
{
    if (vocab->token)
        return vocab->slots[slot_of(vocab, token, len)];
    return len == 1 ? (unsigned char)token[0] : -1;
}

/* ---- vocabularies of a config ---- */

void cr_vocab_keep(struct cr_config *config, struct cr_vocab *vocab)
{
    vocab->next = config->vocabs;
    config->vocabs = vocab;
}

static const struct cr_vocab *vocab_among(const struct cr_vocab *v,
                                          const char *column)
{
    while (v && strcmp(v->column, column) != 0)
        v = v->next;
    return v;
}

const struct cr_vocab *cr_vocab_kept(const struct cr_config *config,
                                     const char *column)
{
    return vocab_among(config->vocabs, column);
}

/* The data sets of the config, without absent splits. */
static bool data_sets(struct cr_config *config, struct cr_obj sets[3], int *n)
{
    struct cr_data_section section = { 0 };
    int i, k = 0;

    *n = 0;
    if (!cr_section(config, "dataset"))
        return true;
    if (!cr_section_read(config, "dataset", &section))
        return false;
    sets[k++] = section.train;
    sets[k++] = section.eval;
    sets[k++] = section.test;
    for (i = 0; i < k; i++)
        if (sets[i].about)
            sets[(*n)++] = sets[i];
    return true;
}

/* The vocabulary of a column from the data; NULL: none, or after reporting. */
static struct cr_vocab *vocab_of_data(struct cr_config *config,
                                      const char *column)
{
    struct cr_obj sets[3];
    struct cr_vocab *v = NULL;
    int n, i, before = config->diag->errors;

    if (!data_sets(config, sets, &n))
        return NULL;
    for (i = 0; i < n && !v && config->diag->errors == before; i++) {
        const struct cr_dataset_type *type = (const void *)sets[i].about;

        if (type->vocab)
            v = type->vocab(config, sets[i].opts, sets[i].node->pos, column);
    }
    return v;
}

const struct cr_vocab *cr_vocab_of(struct cr_config *config,
                                   const char *column, struct cr_pos pos)
{
    const struct cr_vocab *kept = cr_vocab_kept(config, column);
    struct cr_diag *diag = config->diag;
    struct cr_vocab *v;
    int before = diag->errors;

    if (kept)
        return kept;
    if (vocab_among(config->failed_vocabs, column))
        return NULL;
    v = cr_node_get(cr_section(config, "vocab"), column)
            ? cr_vocab_build(config, column)
            : vocab_of_data(config, column);
    if (v) {
        if (v != cr_vocab_kept(config, column))
            cr_vocab_keep(config, v);
        return v;
    }
    if (diag->errors == before) {
        cr_error(diag, pos, CR_E_REFERENCE,
                 "no vocabulary found for column '%s'",
                 cr_quote(config->arena, column, strlen(column)));
        cr_hint(diag, "add vocab: {%s: {tokenizer: BasicTokenizer}}",
                cr_quote(config->arena, column, strlen(column)));
    }
    v = CR_NEW(config->arena, struct cr_vocab);
    v->column = cr_strdup(config->arena, column);
    v->next = config->failed_vocabs;
    config->failed_vocabs = v;
    return NULL;
}

/* ---- sizes for the config ---- */

static bool data_classes(struct cr_config *config, struct cr_pos pos,
                         int64_t *to)
{
    struct cr_dataset set = { 0 };
    struct cr_obj sets[3];
    bool ok;
    int n;

    if (!data_sets(config, sets, &n))
        return false;
    if (n == 0)
        return cr_error(config->diag, pos, CR_E_REFERENCE,
                        "'$data.classes' needs a data set");
    set.type = (const struct cr_dataset_type *)sets[0].about;
    ok = set.type->open(config, sets[0].opts, sets[0].node->pos, &set);
    *to = set.classes;
    if (set.self)
        set.type->close(&set);
    if (ok && *to <= 0) {
        cr_error(config->diag, pos, CR_E_REFERENCE,
                 "the number of classes of %s is not known",
                 sets[0].about->name);
        cr_hint(config->diag, "write the number itself, or define it under "
                              "vars");
        return false;
    }
    return ok;
}

bool cr_config_size(struct cr_config *config, const char *name,
                    struct cr_pos pos, int64_t *to)
{
    const struct cr_vocab *v;
    size_t len = strlen(name);

    if (strcmp(name, "data.classes") == 0)
        return data_classes(config, pos, to);
    /* vocab.COLUMN.size */
    v = cr_vocab_of(config, cr_strndup(config->arena, name + 6, len - 11),
                    pos);
    *to = v ? v->n : 0;
    return v != NULL;
}
