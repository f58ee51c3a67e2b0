#include "data/features.h"

#include "base/str.h"
#include "data/csv.h"
#include "data/data_loader_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- features of a config ---- */

static void **slot_of(struct cr_config *config, const char *what,
                      const char *column)
{
    return cr_config_object(config,
                            cr_strf(config->arena, "%s %s", what, column));
}

static const char *form_name(enum cr_date_form form)
{
    return form == CR_DATE_YMD   ? "ymd"
           : form == CR_DATE_MDY ? "mdy"
           : form == CR_DATE_DMY ? "dmy"
                                 : "clock";
}

static const char *feature_text(struct cr_arena *arena,
                                const struct cr_feature *f)
{
    if (f->kind == CR_FEATURE_CATEGORY)
        return cr_strf(arena, "category %s", f->name);
    if (f->form)
        return cr_strf(arena, "%s %s %s", f->clock ? "time" : "date",
                       form_name(f->form), f->name);
    return cr_strf(arena, "number %s", f->name);
}

struct cr_node *cr_features_list(struct cr_arena *arena, const char *column,
                                 const struct cr_features *features)
{
    struct cr_node *list = CR_NEW(arena, struct cr_node), **end = &list->child;

    list->kind = CR_NODE_LIST;
    list->key = cr_strf(arena, "%s.fields", column);
    for (int i = 0; i < features->n; i++) {
        *end = CR_NEW(arena, struct cr_node);
        (*end)->kind = CR_NODE_STR;
        (*end)->text = feature_text(arena, &features->v[i]);
        end = &(*end)->next;
    }
    return list;
}

/* Parses the text of a feature in a checkpoint; false if it is not valid. */
static bool feature_read(const char *text, struct cr_feature *to)
{
    static const enum cr_date_form forms[] = { CR_DATE_YMD, CR_DATE_MDY,
                                               CR_DATE_DMY, CR_DATE_CLOCK };
    int i;

    if (cr_starts(text, "number "))
        to->name = text + 7;
    else if (cr_starts(text, "category "))
        *to = (struct cr_feature){ .name = text + 9,
                                   .kind = CR_FEATURE_CATEGORY };
    for (i = 0; i < 4 && !to->name; i++) {
        const char *name = form_name(forms[i]);
        size_t len = strlen(name);

        if (strncmp(text + 5, name, len) == 0 && text[5 + len] == ' ' &&
            (cr_starts(text, "date ") || cr_starts(text, "time ")))
            *to = (struct cr_feature){ .name = text + 6 + len,
                                       .form = forms[i],
                                       .clock = *text == 't' };
    }
    return to->name != NULL;
}

/* The features that a checkpoint records for a column; NULL: none, or not
 * valid. */
static struct cr_features *features_read(struct cr_config *config,
                                         const char *column)
{
    const struct cr_node *list = cr_node_get(
        config->fitted, cr_strf(config->arena, "%s.fields", column));
    struct cr_features *f = CR_NEW(config->arena, struct cr_features);

    if (!list || !list->child)
        return NULL;
    f->v = CR_NEWS(config->arena, struct cr_feature, cr_node_count(list));
    for (CR_EACH(m, list)) {
        struct cr_feature *to = &f->v[f->n++];

        if (m->kind != CR_NODE_STR || strlen(m->text) < 6 ||
            !feature_read(m->text, to))
            return NULL;
        if (to->kind == CR_FEATURE_CATEGORY)
            to->category = cr_category_of(
                config, column, cr_node_count(list) > 1 ? to->name : NULL);
    }
    return f;
}

const struct cr_features *cr_features_find(struct cr_config *config,
                                           const char *column)
{
    void **slot = slot_of(config, "features", column);

    if (!*slot && config->fitted)
        *slot = features_read(config, column);
    return *slot;
}

void cr_features_keep(struct cr_config *config, const char *column,
                      const struct cr_features *features)
{
    void **slot = slot_of(config, "features", column);

    if (!*slot)
        *slot = (void *)(uintptr_t)features;
}

/* ---- categories ---- */

struct cr_category *cr_category_of(struct cr_config *config,
                                   const char *column, const char *field)
{
    const char *name = field ? cr_strf(config->arena, "%s.%s", column, field)
                             : column;
    void **slot = slot_of(config, "category", name);
    struct cr_category *c = *slot;

    if (!c) {
        c = *slot = CR_NEW(config->arena, struct cr_category);
        c->name = name;
        c->words.arena = config->arena;
        c->vocab = cr_vocab_kept(config, name);
        if (c->vocab && !c->vocab->token) /* indices are bytes */
            c->vocab = NULL;
        c->frozen = c->vocab != NULL;
        cr_category_table_code(&c->words, "", 0, true);
        for (int64_t i = 1; c->frozen && i < c->vocab->n; i++)
            cr_category_table_code(&c->words, c->vocab->token[i],
                                   strlen(c->vocab->token[i]), true);
    }
    return c;
}

int32_t cr_category_code(struct cr_category *c, const char *text, size_t len)
{
    int32_t code = cr_category_table_code(&c->words, text, len, !c->frozen);

    return code < 0 && c->frozen ? 0 : code;
}

int64_t cr_category_index(const struct cr_category *c, double code)
{
    /* NaN is missing; any other value that is not a code has no string */
    int32_t i = code >= 0 && code < c->words.n ? (int32_t)code : 0;

    if (c->frozen)
        return i;
    return i < c->n_index ? c->index[i] : 0;
}

double cr_category_at(const struct cr_category *c, double index)
{
    if (!(index >= 0 && index < (double)c->vocab->n))
        return 0;
    return c->frozen ? floor(index) : c->code[(int32_t)index];
}

struct word {
    const char *text;
    double number;
    bool numbers;           /* all strings are numbers */
};

static int by_word(const void *a, const void *b)
{
    const struct word *x = a, *y = b;

    if (x->numbers && x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* Makes the vocabulary from the codes that occur. */
static void finish_category(struct cr_config *config, struct cr_category *c,
                            const bool *occurs)
{
    struct cr_arena mem = { 0 };
    struct word *word = CR_NEWS(&mem, struct word, c->words.n + 1);
    const char **token;
    bool numbers = true;
    int32_t i;
    int n = 0;

    for (i = 1; i < c->words.n; i++) {
        const char *text = c->words.word[i];

        if (!occurs[i])
            continue;
        numbers = cr_csv_real(text, strlen(text), &word[n].number) && numbers;
        word[n++].text = text;
    }
    for (i = 0; i < n; i++)
        word[i].numbers = numbers;
    qsort(word, (size_t)n, sizeof *word, by_word);
    token = CR_NEWS(config->arena, const char *, n + 1);
    token[0] = "";
    for (i = 0; i < n; i++)
        token[i + 1] = word[i].text;
    c->n_index = c->words.n;
    c->index = CR_NEWS(config->arena, int32_t, c->n_index);
    c->code = CR_NEWS(config->arena, int32_t, n + 1);
    for (i = 0; i < n; i++) {
        c->code[i + 1] = cr_category_table_code(&c->words, word[i].text,
                                                strlen(word[i].text), false);
        c->index[c->code[i + 1]] = i + 1;
    }
    c->vocab = cr_vocab_make(config->arena, c->name, n + 1, token, "");
    cr_vocab_keep(config, (struct cr_vocab *)(uintptr_t)c->vocab);
    cr_arena_free(&mem);
}

/* ---- vocabularies ---- */

static bool known(const struct cr_features *f)
{
    for (int i = 0; i < f->n; i++)
        if (f->v[i].category && !f->v[i].category->vocab)
            return false;
    return true;
}

static void count(struct cr_data_loader *p, int k, const struct cr_features *f,
                  bool *const *occurs)
{
    enum cr_type type = p->set.column[k].spec.type;
    size_t size = cr_type_size(type);

    for (int64_t i = 0; i < p->sampler.n; i++) {
        int64_t sample = p->sampler.pool ? p->sampler.pool[i] : i;
        const char *x = p->set.type->at(&p->set, sample, k);

        for (int j = 0; j < f->n; j++) {
            double v;

            cr_convert(type, x + (size_t)j * size, CR_F64, &v, 1);
            f->v[j].lacks = f->v[j].lacks || isnan(v);
            if (occurs[j] && v > 0 && v < f->v[j].category->words.n)
                occurs[j][(int32_t)v] = true;
        }
    }
}

bool cr_features_learn(struct cr_config *config, const char *column)
{
    const struct cr_features *f = cr_features_find(config, column);
    void **done = slot_of(config, "fitted", column);
    struct cr_data_loader_opts want = { .split = "train",
                                        .train = true,
                                        .stored = true };
    struct cr_arena mem = { 0 };
    struct cr_data_loader *p;
    bool **occurs;
    int i, k = 0;

    if (!f || *done || (config->fitted && known(f)))
        return true;
    p = cr_data_loader_open(config, &want);
    if (!p)
        return false;
    *done = p;
    while (k < p->set.columns && strcmp(p->set.column[k].name, column) != 0)
        k++;
    occurs = CR_NEWS(&mem, bool *, f->n);
    for (i = 0; i < f->n; i++)
        if (f->v[i].category && !f->v[i].category->vocab)
            occurs[i] = CR_NEWS(&mem, bool, f->v[i].category->words.n);
    if (k < p->set.columns && p->set.type->at &&
        cr_count(&p->set.column[k].spec) == f->n)
        count(p, k, f, occurs);
    for (i = 0; i < f->n; i++)
        if (occurs[i])
            finish_category(config, f->v[i].category, occurs[i]);
    cr_data_loader_close(p);
    cr_arena_free(&mem);
    return true;
}
