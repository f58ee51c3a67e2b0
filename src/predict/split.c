/* predict --data: the samples of a data set, with their labels. */
#include <inttypes.h>
#include <string.h>

#include "predict/predict.h"

/* Indices of the columns of the data set, by input, label and --id. */
struct split {
    struct cr_predict *j;
    int feed[CR_COLUMNS_MAX], truth[CR_COLUMNS_MAX], id[CR_COLUMNS_MAX];
    const char **field[CR_COLUMNS_MAX]; /* texts of a field of the rows that is
                                           not a column; NULL: id[i] is one */
    const char *name;           /* of the split */
};

static int split_find(const struct cr_column *columns, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(columns[i].name, name) == 0)
            return i;
    return -1;
}

struct split_texts {
    struct cr_arena *arena;
    const char **v;
};

static bool split_field_text(void *ctx, int64_t i, const struct cr_csv *csv,
                             const struct cr_csv_field *field)
{
    struct split_texts *to = ctx;

    (void)csv;
    to->v[i] = cr_strndup(to->arena, field->text, field->len);
    return true;
}

/* Finds what --id names: a column, or a field of the rows of a table. */
static bool split_id(struct split *s, int i, const struct cr_column *have,
                     int n)
{
    struct cr_predict *j = s->j;
    struct cr_dataset set = *cr_data_loader_dataset(j->loader);
    struct split_texts texts = { .arena = j->cli->arena };
    const char *name = j->o->id.v[i];

    s->id[i] = split_find(have, n, name);
    if (s->id[i] >= 0 && set.column[s->id[i]].spec.rank == 0)
        return true;
    if (!set.type->field)
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--id: the data set has no column '%s' of single "
                        "values", name);
    texts.v = s->field[i] = CR_NEWS(texts.arena, const char *, set.count + 1);
    return set.type->field(&set, j->cli->diag, CR_NOWHERE, name,
                           split_field_text, &texts);
}

static bool split_columns(struct split *s)
{
    struct cr_predict *j = s->j;
    struct cr_diag *diag = j->cli->diag;
    int n;
    const struct cr_column *have = cr_data_loader_columns(j->loader, &n);

    for (int i = 0; i < j->n_feeds; i++) {
        const struct cr_predict_feed *f = &j->feed[i];
        int at = s->feed[i] = split_find(have, n, f->name);

        if (at < 0)
            return cr_error(diag, CR_NOWHERE, CR_E_SHAPE,
                            "--data: the data set has no column '%s', which "
                            "the network takes", f->name);
        if (!cr_spec_same(&have[at].spec, &f->out))
            return cr_error(diag, CR_NOWHERE, CR_E_SHAPE,
                            "--data: column '%s' is %s, expected %s", f->name,
                            cr_diag_format(diag->arena, &have[at].spec),
                            cr_diag_format(diag->arena, &f->out));
    }
    j->has_truth = j->n_truths > 0;
    for (int i = 0; i < j->n_truths; i++) {
        int at = s->truth[i] = split_find(have, n, j->truth[i].name);

        if (at < 0 || !cr_spec_same(&have[at].spec, &j->truth[i].out))
            j->has_truth = false;
    }
    for (int i = 0; i < j->o->id.n; i++)
        if (!split_id(s, i, have, n))
            return false;
    return true;
}

/* The stored value of a column of single values, as text. */
static const char *split_text(struct cr_predict *j, int column, int64_t i)
{
    struct cr_dataset set = *cr_data_loader_dataset(j->loader);
    const struct cr_spec *spec = &set.column[column].spec;
    struct cr_buf b = { .arena = &j->text };
    struct cr_ragged text;
    char value[16];
    double real;

    if (spec->type == CR_STRING)
        return set.type->text(&set, &j->about, i, column, &j->text, &text)
                   ? cr_strndup(&j->text, text.v, (size_t)text.n)
                   : "";
    if (set.varying_shapes & 1u << column)
        return cr_sample_file(&set, i, column);
    if (!set.type->read(&set, &j->about, i, column, value))
        return "";
    cr_convert(spec->type, value, CR_F64, &real, 1);
    if (strcmp(set.column[column].name, "label") == 0 && set.class_names &&
        real >= 0 && real < (double)set.classes)
        return set.class_names[(int64_t)real];
    cr_buf_value(&b, real, false);
    return cr_buf_text(&b);
}

static bool split_row(struct split *s, const struct cr_batch *batch,
                      int64_t row)
{
    struct cr_predict *j = s->j;
    const struct cr_dataset *set = cr_data_loader_dataset(j->loader);
    struct cr_predict_row r = { .sample = batch->samples[row] };
    const char **id = NULL, *file;

    for (int i = 0; i < j->n_feeds; i++)
        memcpy(cr_predict_into(j, &j->feed[i]),
               (const char *)batch->data[s->feed[i]] +
                   (size_t)row * j->feed[i].size,
               j->feed[i].size);
    for (int i = 0; i < j->n_truths && j->has_truth; i++)
        memcpy(cr_predict_into(j, &j->truth[i]),
               (const char *)batch->data[s->truth[i]] +
                   (size_t)row * j->truth[i].size,
               j->truth[i].size);
    file = cr_sample_file(set, r.sample, -1);
    r.name = file ? cr_strdup(&j->text, file)
                  : cr_strf(&j->text, "%s#%" PRId64, s->name, r.sample);
    if (j->o->id.n > 0)
        r.id = id = CR_NEWS(&j->text, const char *, j->o->id.n);
    for (int i = 0; i < j->o->id.n; i++)
        id[i] = s->field[i] ? s->field[i][r.sample]
                            : split_text(j, s->id[i], r.sample);
    return cr_predict_add(j, &r);
}

bool cr_predict_split(struct cr_predict *j)
{
    struct split s = { .j = j, .name = j->o->data };
    const struct cr_batch *batch;
    struct cr_diag *diag = j->cli->diag;
    bool ok = true;

    if (!split_columns(&s))
        return false;
    cr_predict_header(j);
    while (ok && (batch = cr_data_loader_next(j->loader, diag)) != NULL)
        for (int64_t i = 0; i < batch->n && ok; i++)
            ok = split_row(&s, batch, i);
    return ok && diag->errors == 0;
}
