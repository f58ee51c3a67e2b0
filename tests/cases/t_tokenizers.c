/*
 * Tokenizers and the ops on words: MindSpore's words for texts (golden.yaml,
 * by tests/golden/make_tokens.py), and datapipes of a text with the numbers,
 * or the message, that come out. Every tokenizer, and every transform that
 * takes texts or lists, stands in a case.
 */
#include "conf.h"
#include "data/column_pipeline.h"
#include "data/tokenizer.h"
#include "data/vocab.h"
#include "tap.h"

#define FOLDER "tests/cases/tokenizers/"

static struct cr_config *file(const char *name)
{
    struct cr_diag *diag = CR_NEW(&conf_mem, struct cr_diag);
    struct cr_config *config;
    const char *text;
    size_t len;

    diag->arena = &conf_mem;
    text = cr_read_file(&conf_mem, diag, CR_NOWHERE,
                        cr_strf(&conf_mem, FOLDER "%s", name), CR_E_SYSTEM,
                        CR_TEXT_MAX, &len);
    config = text ? conf_load(diag, text, NULL) : NULL;
    ok(config && config->root && diag->errors == 0, "%s is YAML", name);
    return config;
}

/* "a|b|c" */
static const char *words(const struct cr_node *row, struct cr_diag *diag)
{
    const struct cr_tokenizer *t =
        (const struct cr_tokenizer *)cr_registry_find(CR_KIND_TOKENIZER,
                                                      "BasicTokenizer");
    struct cr_node args = { .kind = CR_NODE_MAP };
    struct cr_buf b = { .arena = &conf_mem };
    struct cr_tokens tokens = { .mem = &conf_mem };
    void *opts = cr_alloc(&conf_mem, 1, t->about.size);
    const char *text = cr_node_get(row, "text")->text;
    int64_t i;

    args.child = cr_node_copy(&conf_mem, cr_node_get(row, "lower_case"));
    args.child->next =
        cr_node_copy(&conf_mem, cr_node_get(row, "keep_whitespace"));
    args.child->next->next = NULL;
    if (!cr_opts_read(&conf_mem, diag, &t->about, &args, CR_NOWHERE, opts) ||
        !t->split(opts, diag, text, strlen(text), &tokens))
        return conf_first(diag);
    for (i = 0; i < tokens.n; i++) {
        cr_buf_str(&b, i ? "|" : "");
        cr_buf_add(&b, tokens.v[i].v, (size_t)tokens.v[i].n);
    }
    return cr_buf_text(&b);
}

static void golden(void)
{
    struct cr_config *config = file("golden.yaml");

    test_begin("words of BasicTokenizer are MindSpore's");
    for (CR_EACH(row, cr_node_get(config->root, "rows"))) {
        struct cr_buf b = { .arena = &conf_mem };
        struct cr_diag diag = { .arena = &conf_mem };
        const char *text = cr_node_get(row, "text")->text;

        for (CR_EACH(w, cr_node_get(row, "words")))
            cr_buf_f(&b, "%s%s", b.len ? "|" : "", w->text);
        same(words(row, &diag), cr_buf_text(&b),
             cr_strf(&conf_mem, "'%s'%s",
                     cr_quote(&conf_mem, text, strlen(text)),
                     cr_node_get(row, "lower_case")->boolean ? ", folded"
                                                             : ""));
    }
}

static const char *used[64];
static int n_used;

static void one(struct cr_config *config, const struct cr_node *row)
{
    struct cr_spec in = { .type = CR_STRING };
    struct cr_diag diag = { .arena = &conf_mem };
    const struct cr_node *ops = cr_node_get(row, "op"), *args;
    const struct cr_node *vocab = cr_node_get(row, "vocab");
    const char *text = cr_node_get(row, "text")->text;
    const char *name = cr_node_flow(&conf_mem, ops);
    struct cr_ragged x = { text, (int64_t)strlen(text) };
    struct cr_buf got = { .arena = &conf_mem }, want = got;
    const char **token = CR_NEWS(&conf_mem, const char *, 64);
    struct cr_column_pipeline *c;
    bool good;
    char y[1024];
    int n = 0;

    for (CR_EACH(m, vocab))
        token[n++] = m->text;
    if (vocab)
        cr_vocab_keep(config,
                      cr_vocab_make(&conf_mem, "w", n, token, " "));
    for (CR_EACH(m, ops))
        if (n_used < (int)CR_LEN(used))
            used[n_used++] = cr_node_type(m, &args);
    config->diag = &diag;
    c = cr_column_pipeline_make(config, "x", ops, &in, true, true, 1);
    if (!ok(c, "%s is planned", name)) {
        printf("# %s\n", conf_messages(&diag));
        return;
    }
    good = cr_column_pipeline_run(
        c, &diag, 0, 0, &x, y, cr_alloc(&conf_mem, 1, c->scratch_bytes + 64));
    if (cr_node_get(row, "error")) {
        ok(!good && diag.first &&
               strcmp(diag.first->text, cr_node_get(row, "error")->text) == 0,
           "%s: %s", name, cr_node_get(row, "error")->text);
        return;
    }
    for (int64_t i = 0; good && i < cr_count(&c->out); i++) {
        double v;

        cr_convert(c->out.type, y + (size_t)i * cr_type_size(c->out.type),
                   CR_F64, &v, 1);
        cr_buf_f(&got, "%g ", v);
    }
    for (CR_EACH(m, cr_node_get(row, "out")))
        cr_buf_f(&want, "%g ", m->real);
    same(cr_buf_text(&got), cr_buf_text(&want), name);
}

static void loaders(void)
{
    struct cr_config *config = file("basic_tokenizer.yaml");

    test_begin("pipes of texts");
    for (CR_EACH(row, cr_node_get(config->root, "cases")))
        one(config, row);
}

static void has_case(const char *name)
{
    int i;

    for (i = 0; i < n_used; i++)
        if (strcmp(used[i], name) == 0)
            break;
    ok(i < n_used, "%s has a case", name);
}

/* Words, bytes that are no text, and what plans refuse. */
static void refused(const char *ops, const char *want)
{
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_config *config =
        conf_load(&diag, cr_strf(&conf_mem, "datapipe: {x: %s}\n", ops), NULL);
    struct cr_spec in = { .type = CR_STRING };
    const char *said;

    config->diag = &diag;
    ok(!cr_column_pipeline_make(
           config, "x", cr_node_get(cr_section(config, "datapipe"), "x"), &in,
           true, true, 1),
       "%s is refused", ops);
    said = diag.first ? diag.first->text : "";
    same(said, want, ops);
}

static void bytes(void)
{
    const struct cr_tokenizer *t =
        (const struct cr_tokenizer *)cr_registry_find(CR_KIND_TOKENIZER,
                                                      "BasicTokenizer");
    struct cr_tokens tokens = { .mem = &conf_mem };
    struct cr_diag diag = { .arena = &conf_mem };
    bool opts[8] = { true, false, true };

    ok(!t->split(opts, &diag, "ab \xff", 4, &tokens), "no UTF-8");
    same(diag.first ? diag.first->text : "",
         "BasicTokenizer: the text is not UTF-8 from byte 3 on",
         "where it is none");
}

int main(void)
{
    const struct cr_descriptor *const *list =
        cr_registry_list(CR_KIND_TRANSFORM);
    int i;

    golden();
    loaders();
    test_begin("bytes that are no UTF-8 are refused");
    bytes();
    test_begin("pipes that do not fit are refused");
    refused("[BasicTokenizer]",
            "column 'x' ends as tokens, but the network needs numbers");
    refused("[]", "column 'x' ends as text, but the network needs numbers");
    refused("[BasicTokenizer, BasicTokenizer]",
            "BasicTokenizer: found tokens, expected text");
    refused("[{Truncate: [3]}]", "Truncate: found string (), expected a list, "
                                 "as from a tokenizer");
    refused("[{RandomTruncate: [3]}]",
            "RandomTruncate: found string (), expected a list, as from "
            "Lookup, or an array");
    refused("[BasicTokenizer, {RandomCrop: [3]}]",
            "RandomCrop: found lists of varying length, expected samples of "
            "one shape; use RandomTruncate for lists");
    refused("[BasicTokenizer, {PadEnd: {pad_shape: [3]}}]",
            "PadEnd: found tokens (use Lookup to replace them by indices), "
            "expected numbers");
    refused("[BasicTokenizer, {Lookup: {vocab: text}}]",
            "no vocabulary found for column 'text'");
    refused("[BasicTokenizer, {TypeCast: [int32]}]",
            "TypeCast: found tokens (use Lookup to replace them by indices), "
            "expected numbers");
    refused("[{LabelIndex: [a, b, a]}]", "LabelIndex: duplicate class 'a'");
    test_begin("every op on texts and every tokenizer has a case");
    for (i = 0; list[i]; i++)
        if (((const struct cr_transform *)list[i])->ragged)
            has_case(list[i]->name);
    list = cr_registry_list(CR_KIND_TOKENIZER);
    for (i = 0; list[i]; i++)
        has_case(list[i]->name);
    cr_arena_free(&conf_mem);
    return done();
}
