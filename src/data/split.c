/*
 * The section `dataset.split`: which samples of the training data a data loader
 * has.
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "data/csv.h"
#include "data/data_loader_internal.h"
#include "data/features.h"
#include "data/infer.h"
#include "data/split_assign.h"

static const char *const split_name[] = { "train", "eval", "test" };

static const struct cr_node *split_node(const struct cr_node *dataset)
{
    return cr_node_get(dataset, "split");
}

/* ---- which splits exist ---- */

/* The size of a split as a fraction of n samples; below 0: the unit is not
 * valid. */
static double fraction(const struct cr_quantity *a, double n)
{
    if (a->unit == CR_PERCENT)
        return a->value / 100;
    if (a->unit != CR_SAMPLES)
        return -1;
    return a->value < 1 ? a->value : a->value / n;
}

/* The split that gets the remaining samples: the first without a size. 3: none,
 * or no samples remain. */
static int rest_split(const struct cr_node *split)
{
    double sum = 0;
    int i, rest = 3;

    for (i = 2; i >= 0; i--) {
        const struct cr_node *node = cr_node_get(split, split_name[i]);
        struct cr_quantity a;

        if (!node)
            rest = i;
        else if (node->text && cr_quantity_parse(node->text, CR_SAMPLES, &a))
            sum += fraction(&a, INFINITY);
    }
    return sum < 1 - 1e-9 ? rest : 3;
}

static bool sets_sizes(const struct cr_node *split)
{
    return cr_node_get(split, "train") || cr_node_get(split, "eval") ||
           cr_node_get(split, "test");
}

bool cr_dataset_split_gives(const struct cr_node *dataset, const char *part)
{
    const struct cr_node *split = split_node(dataset);
    bool test = strcmp(part, "test") == 0;

    if (!split || split->kind != CR_NODE_MAP || strcmp(part, "train") == 0)
        return false;
    if (test && cr_node_get(split, "folds"))
        return true;
    if (sets_sizes(split))
        return cr_node_get(split, part) ||
               rest_split(split) == (test ? CR_SPLIT_TEST : CR_SPLIT_EVAL);
    return !test && (!cr_node_get(split, "folds") ||
                     cr_node_get(split, "eval_from_train"));
}

bool cr_data_loader_has(const struct cr_config *config, const char *split)
{
    const struct cr_node *dataset = cr_section(config, "dataset");

    return cr_node_get(dataset, split) ||
           cr_dataset_split_gives(dataset, split);
}

/* ---- conflicts ---- */

static struct cr_pos key_at(const struct cr_data_loader *p, const char *key)
{
    const struct cr_node *split =
        split_node(cr_section(p->config, "dataset"));
    const struct cr_node *node = cr_node_get(split, key);

    return node ? node->pos : split ? split->pos : p->pos;
}

/* Reports two keys that exclude each other. */
static bool check_exclusive(struct cr_data_loader *p, const char *one,
                            const char *other)
{
    const struct cr_node *split =
        split_node(cr_section(p->config, "dataset"));

    if (!cr_node_get(split, one) || !cr_node_get(split, other))
        return true;
    return cr_error(p->config->diag, key_at(p, other), CR_E_CONFLICT,
                    "dataset.split: found %s and %s, expected one of them",
                    one, other);
}

/* Reports a split that is both a data set of its own and a subset of train. */
static bool check_source(struct cr_data_loader *p, const char *part)
{
    const struct cr_node *dataset = cr_section(p->config, "dataset");
    const struct cr_node *split = split_node(dataset), *from;

    if (!cr_node_get(dataset, part) || !cr_dataset_split_gives(dataset, part) ||
        cr_node_get(split, "folds"))
        return true;
    from = cr_node_get(split, part);
    if (!from && strcmp(part, "eval") == 0)
        from = cr_node_get(split, "eval_from_train");
    if (!from)
        from = split;
    cr_error(p->config->diag, from->key_pos, CR_E_CONFLICT,
             "found 'dataset.split%s%s' and 'dataset.%s', expected one of "
             "them", from == split ? "" : ".", from == split ? "" : from->key,
             part);
    cr_note(p->config->diag, "dataset.%s is set at %s", part,
            cr_pos_text(p->arena, cr_node_get(dataset, part)->key_pos));
    return false;
}

static bool consistent(struct cr_data_loader *p)
{
    static const char *const alone[][2] = {
        { "train", "eval_from_train" }, { "eval", "eval_from_train" },
        { "test", "eval_from_train" },  { "stratify", "group" },
        { "stratify", "time" },         { "group", "time" },
        { "folds", "time" },
    };
    bool ok = check_source(p, "eval") && check_source(p, "test");

    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        ok = check_exclusive(p, alone[i][0], alone[i][1]) && ok;
    return ok;
}

/* ---- sizes ---- */

static bool size_wrong(struct cr_data_loader *p, const char *key, int64_t n)
{
    return cr_error(p->config->diag, key_at(p, key), CR_E_OUT_OF_RANGE,
                    "split.%s is larger than the number of samples, %lld", key,
                    (long long)n);
}

static bool size_of(struct cr_data_loader *p, const char *key,
                    const struct cr_quantity *a, int64_t n, double *to)
{
    *to = fraction(a, (double)(n > 0 ? n : 1));
    if (*to < 0)
        return cr_error(p->config->diag, key_at(p, key), CR_E_UNIT,
                        "split.%s: expected a number of samples, a fraction or "
                        "a percentage",
                        key);
    return *to <= 1 || size_wrong(p, key, n);
}

/* Sets the fractions of n samples that eval and test get. */
static bool sizes(struct cr_data_loader *p, const struct cr_dataset_split *s,
                  int64_t n, double *eval, double *test)
{
    const struct cr_quantity *given[] = { &s->train, &s->eval, &s->test };
    double v[3] = { 0 }, sum = 0;
    int i, rest = 3;

    *test = 0;
    if (!sets_sizes(split_node(cr_section(p->config, "dataset"))))
        return size_of(p, "eval_from_train", &s->eval_from_train, n, eval);
    for (i = 2; i >= 0; i--) {
        if (given[i]->unit == CR_UNIT_NONE)
            rest = i;
        else if (!size_of(p, split_name[i], given[i], n, &v[i]))
            return false;
        sum += v[i];
    }
    if (sum > 1 + 1e-9 || (rest == 3 && sum < 1 - 1e-9)) {
        cr_error(p->config->diag, key_at(p, ""), CR_E_OUT_OF_RANGE,
                 "dataset.split: found parts that add up to %.4g of the "
                 "data, expected 1", sum);
        cr_hint(p->config->diag, "remove one of them to give it the remaining "
                                 "samples");
        return false;
    }
    if (rest < 3)
        v[rest] = sum < 1 - 1e-9 ? 1 - sum : 0;
    *eval = v[CR_SPLIT_EVAL];
    *test = v[CR_SPLIT_TEST];
    return true;
}

/* ---- values of stratify, group and time ---- */

/* Values of a column or field, one per sample. */
struct keys {
    struct cr_data_loader *p;
    const char *key, *name; /* "group", and the column or field */
    int64_t *id;            /* equal for equal values; or NULL */
    double *time;           /* or NULL */
    bool numbers;           /* times: all values are numbers */
    unsigned forms;         /* or dates in all of these formats */
    int pass;
};

static bool key_none(struct keys *k, const struct cr_csv *csv,
                     const struct cr_csv_field *field, const char *expected)
{
    struct cr_arena *arena = k->p->arena;

    return cr_error(k->p->config->diag, cr_csv_at(csv, field),
                    CR_E_DATA_FORMAT,
                    "split.%s, field '%s': found %s, expected %s", k->key,
                    k->name,
                    field->len > 0
                        ? cr_strf(arena, "'%s'", cr_quote(arena, field->text,
                                                          field->len))
                        : "nothing", expected);
}

static bool key_id(void *ctx, int64_t i, const struct cr_csv *csv,
                   const struct cr_csv_field *field)
{
    struct keys *k = ctx;

    if (strcmp(k->key, "group") == 0 && cr_is_missing(field->text, field->len))
        return key_none(k, csv, field, "a value");
    k->id[i] = (int64_t)(cr_hash(CR_HASH, field->text, field->len) >> 1);
    return true;
}

/* The first pass determines the format of the values, the second reads them. */
static bool key_time(void *ctx, int64_t i, const struct cr_csv *csv,
                     const struct cr_csv_field *field)
{
    struct keys *k = ctx;
    bool number = cr_csv_real(field->text, field->len, &k->time[i]);
    bool clock = false;

    if (k->pass == 0) {
        k->numbers = k->numbers && number;
        k->forms = cr_date_forms(field->text, field->len, k->forms, &clock);
        return k->numbers || k->forms ||
               key_none(k, csv, field, "numbers, or dates of one form");
    }
    return k->numbers ||
           cr_date_read(field->text, field->len,
                        (enum cr_date_form)(k->forms & -k->forms),
                        &k->time[i]);
}

/* Real numbers are equal if their bits are. */
static bool keys_column(struct keys *k, int column)
{
    const struct cr_dataset *set = &k->p->set;
    enum cr_type type = set->column[column].spec.type;
    bool real = type == CR_F32 || type == CR_F64;
    double *to = k->time;

    if (k->id && !real)
        return cr_data_loader_values(k->p, k->key, k->name, CR_I64, k->id);
    if (!to)
        to = CR_NEWS(k->p->arena, double, set->count + 1);
    if (!cr_data_loader_values(k->p, k->key, k->name, CR_F64, to))
        return false;
    for (int64_t i = 0; i < set->count; i++)
        if (k->id)
            memcpy(&k->id[i], &to[i], sizeof to[i]);
        else if (isnan(to[i]))
            to[i] = -INFINITY;
    return true;
}

/* Categories are compared as text, because their codes differ after a
 * checkpoint with its vocabulary was loaded. */
static bool keys_field(struct keys *k, const char *field)
{
    struct cr_dataset *set = &k->p->set;
    struct cr_diag *diag = k->p->config->diag;
    struct cr_pos pos = key_at(k->p, k->key);

    if (k->id)
        return set->type->field(set, diag, pos, field, key_id, k);
    for (k->pass = 0; k->pass < 2; k->pass++)
        if (!set->type->field(set, diag, pos, field, key_time, k))
            return false;
    return true;
}

static bool keys_read(struct keys *k)
{
    struct cr_dataset *set = &k->p->set;
    const struct cr_features *of = cr_features_find(k->p->config, k->name);
    bool category = of && of->n == 1 && of->v[0].category;
    int c = 0;

    while (c < set->columns && strcmp(set->column[c].name, k->name) != 0)
        c++;
    if (c < set->columns && set->type->field && category)
        return keys_field(k, of->v[0].name);
    if (c < set->columns && set->column[c].spec.rank == 0 &&
        set->column[c].spec.type != CR_STRING)
        return keys_column(k, c);
    if (c < set->columns || !set->type->field)
        return cr_error(k->p->config->diag, key_at(k->p, k->key),
                        CR_E_UNKNOWN_KEY,
                        "split.%s: '%s' is not a column with one number per "
                        "sample",
                        k->key, k->name);
    return keys_field(k, k->name);
}

/* ---- the pool ---- */

struct making {
    const struct cr_dataset_split *s;
    int64_t *labels, *groups;
    double *time, eval, test;
};

static bool too_few(struct cr_data_loader *p, const struct making *m,
                    const char *what)
{
    return cr_error(p->config->diag, key_at(p, "group"), CR_E_DATA_EMPTY,
                    "split.group: found too few groups in '%s', expected "
                    "enough for each %s", m->s->group, what);
}

/* Assigns n samples to splits: samples own[i], or all samples if own is
 * NULL. */
static bool assign_splits(struct cr_data_loader *p, const struct making *m,
                          int64_t n, const int64_t *own, unsigned char *part)
{
    int64_t *keys = m->groups ? m->groups : m->labels, *some = keys;
    uint64_t seed = (uint64_t)m->s->seed;

    if (own && keys) {
        some = CR_NEWS(p->arena, int64_t, n + 1);
        for (int64_t i = 0; i < n; i++)
            some[i] = keys[own[i]];
    }
    if (m->time) {
        cr_split_by_time(p->arena, n, m->eval, m->test, m->time, part);
        return true;
    }
    if (m->groups)
        return cr_split_by_group(p->arena, n, m->eval, m->test, some, seed,
                                 part) ||
               too_few(p, m, "part");
    cr_split_random(p->arena, n, m->eval, m->test, some, seed, part);
    return true;
}

/* With `folds`: one fold is test; the other samples are split into train and
 * eval as without folds. */
static bool assign_fold(struct cr_data_loader *p, struct making *m, bool evals,
                        unsigned char *part)
{
    const struct cr_dataset_split *s = m->s;
    int64_t n = p->set.count, *own, left = 0, i;
    unsigned char *of;

    if (s->fold == CR_INT_NONE || s->fold >= s->folds || s->folds > n)
        return cr_error(p->config->diag, key_at(p, "folds"),
                        CR_E_OUT_OF_RANGE,
                        "split.folds: found %lld folds of %lld samples and "
                        "%s, expected a fold from 0 to %lld of no more folds "
                        "than samples",
                        (long long)s->folds, (long long)n,
                        s->fold == CR_INT_NONE
                            ? "no fold"
                            : cr_strf(p->arena, "fold %lld",
                                      (long long)s->fold),
                        (long long)s->folds - 1);
    if (!cr_split_kfold(p->arena, n, s->folds, s->fold, m->labels, m->groups,
                         (uint64_t)s->seed, part))
        return too_few(p, m, "fold");
    if (!evals)
        return true;
    own = CR_NEWS(p->arena, int64_t, n + 1);
    of = CR_NEWS(p->arena, unsigned char, n + 1);
    for (i = 0; i < n; i++)
        if (part[i] == CR_SPLIT_TRAIN)
            own[left++] = i;
    if (!sizes(p, s, left, &m->eval, &m->test))
        return false;
    m->eval = m->test < 1 ? m->eval / (1 - m->test) : 0;
    m->test = 0;
    if (!assign_splits(p, m, left, own, of))
        return false;
    for (i = 0; i < left; i++)
        part[own[i]] = of[i];
    return true;
}

static void choose(struct cr_data_loader *p, const unsigned char *part)
{
    int64_t *pool = CR_NEWS(p->arena, int64_t, p->set.count + 1), n = 0;

    for (int64_t i = 0; i < p->set.count; i++)
        if (strcmp(split_name[part[i]], p->want.split) == 0)
            pool[n++] = i;
    p->sampler.pool = pool;
    p->sampler.n = n;
}

bool cr_dataset_split_make(struct cr_data_loader *p,
                           const struct cr_data_section *data)
{
    const struct cr_node *dataset = cr_section(p->config, "dataset");
    const struct cr_dataset_split *s = &data->split;
    bool folds = s->folds != CR_INT_NONE, ok = true;
    struct making m = { .s = s };
    struct { const char *key, *name; } by[] = {
        { "stratify", s->stratify }, { "group", s->group },
        { "time", s->time }
    };
    unsigned char *part;

    if (!split_node(dataset))
        return true;
    if (!consistent(p))
        return false;
    if (strcmp(p->want.split, "train") != 0 &&
        !cr_dataset_split_gives(dataset, p->want.split))
        return true;
    for (int i = 0; i < 3 && ok; i++) {
        struct keys k = { .p = p, .key = by[i].key, .name = by[i].name,
                          .numbers = true, .forms = CR_DATE_ANY };

        if (!by[i].name)
            continue;
        if (i < 2)
            k.id = CR_NEWS(p->arena, int64_t, p->set.count + 1);
        else
            k.time = CR_NEWS(p->arena, double, p->set.count + 1);
        ok = keys_read(&k);
        m.labels = i == 0 ? k.id : m.labels;
        m.groups = i == 1 ? k.id : m.groups;
        m.time = i == 2 ? k.time : m.time;
    }
    if (!ok)
        return false;
    part = CR_NEWS(p->arena, unsigned char, p->set.count + 1);
    if (folds)
        ok = assign_fold(p, &m, cr_dataset_split_gives(dataset, "eval"), part);
    else
        ok = sizes(p, s, p->set.count, &m.eval, &m.test) &&
             assign_splits(p, &m, p->set.count, NULL, part);
    if (ok)
        choose(p, part);
    return ok;
}
