/*
 * The section `vocab`: vocabularies of tokens.
 *
 * Special tokens come first, then the tokens of the training samples by
 * descending frequency, equal ones by their bytes, as in MindSpore's
 * Vocab.from_dataset. Samples that dataset.split assigns to other splits are
 * not counted.
 */
#include "base/str.h"
#include "data/data_loader.h"
#include "data/tokenizer.h"
#include "data/vocab.h"

#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX 100000000

struct entry {
    const struct cr_node *tokenizer;
    unsigned char lower_case;
    int64_t vocab_size;
    struct cr_strs special_tokens;
    int build_from;
    const char *file;
};

static const struct cr_opt entry_opts[] = {
    CR_NODE(struct entry, tokenizer, "Tokenizer of the texts."),
    CR_BOOL_OPTIONAL(struct entry, lower_case,
                     "Argument lower_case of the tokenizer."),
    CR_INT_OPTIONAL(struct entry, vocab_size, 1, TOKENS_MAX,
                    "Maximum number of tokens, special ones included."),
    CR_STRS_OPTIONAL(struct entry, special_tokens,
                     "Tokens with the first indices, from 0 on."),
    CR_ENUM_DEFAULT(struct entry, build_from, 0, "train",
                    "Data whose tokens are counted."),
    CR_STR_OPTIONAL(struct entry, file,
                    "File of tokens, one per line, in place of counting."),
    { 0 },
};

static const struct cr_descriptor entry_about = {
    .name = "vocab",
    .opts = entry_opts,
    .size = sizeof(struct entry),
};

const struct cr_section cr_section_vocab = {
    .about = {
        .name = "vocab",
        .summary = "Vocabularies: token indices of text columns.",
        .detail = "Each column has a map with these keys: tokenizer, the type "
                  "that splits its texts (with its arguments, or with "
                  "lower_case next to it); vocab_size, the maximum number of "
                  "tokens, special ones included; special_tokens, which get "
                  "the first indices; build_from: train, or file, a file of "
                  "tokens, one per line. Tokens are counted in the training "
                  "samples, without those that dataset.split sets aside; more "
                  "frequent ones get lower indices. With `load`, tokens are "
                  "those of its file, if it has a vocabulary of the column "
                  "(load.vocab). $vocab.COLUMN.size is the number of tokens; "
                  "checkpoints contain the vocabulary.",
        .example = "vocab:\n"
                   "  text: {tokenizer: BasicTokenizer, lower_case: true, "
                   "vocab_size: 20000, special_tokens: [\"<pad>\", "
                   "\"<unk>\"]}\n",
    },
    .raw = true,
};

/* ---- counting ---- */

struct word {
    const char *text;
    uint32_t len;
    int64_t count;
};

struct counter {
    struct cr_config *config;
    const struct cr_tokenizer *tokenizer;
    const void *opts;
    struct cr_pos pos;
    struct word *word;
    int64_t n, cap;
    int64_t *slot; /* hash table of index + 1; 0: free */
    uint64_t n_slots;
};

static uint64_t counter_slot(const struct counter *c, const char *text,
                             size_t len)
{
    uint64_t at = cr_hash(CR_HASH, text, len) & (c->n_slots - 1);

    for (; c->slot[at]; at = (at + 1) & (c->n_slots - 1)) {
        const struct word *w = &c->word[c->slot[at] - 1];

        if (w->len == len && memcmp(w->text, text, len) == 0)
            break;
    }
    return at;
}

static void counter_grow(struct counter *c)
{
    int64_t i;

    free(c->slot);
    c->n_slots = c->n_slots ? 4 * c->n_slots : 1 << 16;
    c->slot = calloc(c->n_slots, sizeof *c->slot);
    c->cap = (int64_t)c->n_slots / 2;
    c->word = realloc(c->word, (size_t)c->cap * sizeof *c->word);
    if (!c->slot || !c->word)
        cr_out_of_memory(c->n_slots * sizeof *c->slot);
    for (i = 0; i < c->n; i++)
        c->slot[counter_slot(c, c->word[i].text, c->word[i].len)] = i + 1;
}

static void counter_add(struct counter *c, const char *text, size_t len)
{
    uint64_t at;

    if (c->n == c->cap)
        counter_grow(c);
    at = counter_slot(c, text, len);
    if (!c->slot[at]) {
        c->word[c->n] = (struct word){
            cr_strndup(c->config->arena, text, len), (uint32_t)len, 0
        };
        c->slot[at] = ++c->n;
    }
    c->word[c->slot[at] - 1].count++;
}

static bool counter_text(void *ctx, const char *text, size_t len)
{
    struct counter *c = ctx;
    struct cr_arena mem = { 0 };
    struct cr_tokens tokens = { .mem = &mem };
    bool ok = c->tokenizer->split(c->opts, c->config->diag, text, len,
                                  &tokens);
    int64_t i;

    for (i = 0; i < tokens.n && ok; i++)
        counter_add(c, tokens.v[i].v, (size_t)tokens.v[i].n);
    cr_arena_free(&mem);
    return ok;
}

static int counter_more(const void *a, const void *b)
{
    const struct word *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->text, y->text);
}

/* ---- building ---- */

/* Reads {tokenizer: Type, lower_case: true} as {tokenizer: {Type: {lower_case:
 * true}}}. */
static bool entry_tokenizer(struct cr_config *config, const struct entry *e,
                            const struct cr_node *node, struct cr_obj *to)
{
    struct cr_arena *arena = config->arena;
    const struct cr_node *args, *given = cr_node_get(node, "lower_case");
    struct cr_node *typed, *own;
    const char *type;

    if (!e->tokenizer)
        return cr_error(config->diag, node->pos, CR_E_MISSING_KEY,
                        "vocab.%s lacks its tokenizer", node->key);
    type = cr_node_type(e->tokenizer, &args);
    if (!type || e->lower_case == CR_BOOL_NONE)
        return cr_obj_read(arena, config->diag, CR_KIND_TOKENIZER,
                           e->tokenizer, to);
    if (cr_node_get(args, "lower_case"))
        return cr_error(config->diag, given->key_pos, CR_E_CONFLICT,
                        "duplicate lower_case, here and in the tokenizer");
    typed = CR_NEW(arena, struct cr_node);
    own = CR_NEW(arena, struct cr_node);
    *typed = *e->tokenizer;
    typed->kind = CR_NODE_MAP;
    typed->child = own;
    *own = args ? *args : *e->tokenizer;
    own->kind = CR_NODE_MAP;
    own->key = type;
    own->key_pos = e->tokenizer->pos;
    own->next = NULL;
    own->child = cr_node_copy(arena, given);
    own->child->next = args && args->kind == CR_NODE_MAP ? args->child : NULL;
    return cr_obj_read(arena, config->diag, CR_KIND_TOKENIZER, typed, to);
}

/* Adds the tokens of the training samples by count; false after reporting. */
static bool entry_count(struct cr_config *config, const struct entry *e,
                        const struct cr_node *node, struct counter *c)
{
    struct cr_data_loader_opts want = { .split = "train",
                                        .train = true,
                                        .stored = true };
    struct cr_obj obj = { 0 };
    struct cr_data_loader *loader;
    bool ok;

    if (!entry_tokenizer(config, e, node, &obj))
        return false;
    c->tokenizer = (const struct cr_tokenizer *)obj.about;
    c->opts = obj.opts;
    loader = cr_data_loader_open(config, &want);
    ok = loader &&
         cr_data_loader_texts(loader, config->diag, node->key, counter_text, c);
    if (loader)
        cr_data_loader_close(loader);
    if (ok && c->n > 0)
        qsort(c->word, (size_t)c->n, sizeof *c->word, counter_more);
    return ok;
}

/* Adds the tokens of a file, one per line, in its order. */
static bool entry_file(struct cr_config *config, const struct entry *e,
                       const struct cr_node *node, struct counter *c)
{
    const char *path = cr_config_path(config, CR_READ_DATA, e->file);
    size_t len, at, n;
    const char *text;

    if (!cr_config_may_path(config, CR_READ_DATA, e->file))
        return false;
    if (!path)
        return cr_config_path_missing(config, node->pos, "file", e->file);
    text = cr_read_file(config->arena, config->diag,
                        cr_node_get(node, "file")->pos, path, CR_E_DATA_READ,
                        (size_t)1 << 30, &len);
    for (at = text ? cr_bom(text, len) : 0; text && at < len; at += n + 1) {
        n = strcspn(text + at, "\n");
        if (n > 0)
            counter_add(c, text + at,
                        text[at + n - 1] == '\r' ? n - 1 : n);
    }
    return text != NULL;
}

/* Checks that the special tokens differ. */
static bool entry_special(struct cr_config *config, const struct entry *e,
                          const struct cr_node *node)
{
    const struct cr_node *given = cr_node_get(node, "special_tokens"), *member;

    for (int k = 1; k < e->special_tokens.n; k++)
        for (int i = 0; i < k; i++)
            if (strcmp(e->special_tokens.v[k], e->special_tokens.v[i]) == 0) {
                member = cr_node_at(given, k);
                return cr_error(config->diag, (member ? member : given)->pos,
                                CR_E_CONFLICT,
                                "vocab.%s: duplicate special token '%s'",
                                node->key, e->special_tokens.v[k]);
            }
    return true;
}

/* Whether a loaded vocabulary has the special tokens where the section has
 * them. */
static bool entry_fits(struct cr_config *config, const struct entry *e,
                       const struct cr_node *node, const struct cr_vocab *v)
{
    const struct cr_node *given = cr_node_get(node, "special_tokens"), *member;

    for (int k = 0; k < e->special_tokens.n; k++) {
        if (cr_vocab_find(v, e->special_tokens.v[k],
                          strlen(e->special_tokens.v[k])) == k)
            continue;
        member = cr_node_at(given, k);
        cr_error(config->diag, (member ? member : given)->pos, CR_E_CONFLICT,
                 "vocab.%s: token %d is '%s', but not in the vocabulary of %s",
                 node->key, k, e->special_tokens.v[k], v->file);
        cr_hint(config->diag, "list the special tokens that the file was "
                              "trained with, or set load.vocab: false");
        return false;
    }
    return true;
}

struct cr_vocab *cr_vocab_build(struct cr_config *config, const char *column)
{
    const struct cr_node *node = cr_node_get(cr_section(config, "vocab"),
                                             column);
    struct counter c = { .config = config };
    struct cr_vocab *v = NULL;
    struct entry e = { 0 };
    const char **token;
    int64_t most, n = 0, i;
    int k;

    if (!cr_opts_read(config->arena, config->diag, &entry_about, node,
                      node->pos, &e))
        return NULL;
    if (e.vocab_size != CR_INT_NONE && e.vocab_size < e.special_tokens.n) {
        cr_error(config->diag, cr_node_get(node, "vocab_size")->pos,
                 CR_E_CONFLICT,
                 "vocab.%s: vocab_size %lld is less than the %d special "
                 "tokens", column, (long long)e.vocab_size,
                 e.special_tokens.n);
        return NULL;
    }
    if (!entry_special(config, &e, node) ||
        (!e.file && !cr_vocab_loaded(config, column, &v)))
        return NULL;
    if (v && v->token)
        return entry_fits(config, &e, node, v) ? v : NULL;
    if (e.file ? entry_file(config, &e, node, &c)
               : entry_count(config, &e, node, &c)) {
        most = e.special_tokens.n + c.n;
        if (e.vocab_size != CR_INT_NONE && e.vocab_size < most)
            most = e.vocab_size;
        token = CR_NEWS(config->arena, const char *, most + 1);
        for (k = 0; k < e.special_tokens.n; k++)
            token[n++] = e.special_tokens.v[k];
        for (i = 0; i < c.n && n < most; i++) {
            for (k = 0; k < e.special_tokens.n; k++)
                if (strcmp(c.word[i].text, e.special_tokens.v[k]) == 0)
                    break;
            if (k == e.special_tokens.n)
                token[n++] = c.word[i].text;
        }
        v = cr_vocab_make(config->arena, cr_strdup(config->arena, column), n,
                          token, " ");
    }
    free(c.slot);
    free(c.word);
    return v;
}
