#include <inttypes.h>
#include <string.h>

#include "mpi/mpi.h"
#include "predict/predict.h"
#include "run/plans.h"

/* ---- Memory and plans */

static struct cr_exec *batch_plan(struct cr_predict *j, int64_t n)
{
    struct cr_exec_opts want = cr_plans_predict(n, true);

    want.at = j->o->embed ? CR_EMBED : j->o->at;
    return cr_net_exec(j->model.net, &want);
}

static void batch_feed(struct cr_predict *j, struct cr_predict_feed *f,
                       int64_t rows)
{
    f->size = cr_bytes(&f->out);
    f->batch = cr_alloc(j->cli->arena, (size_t)rows, f->size + 1);
    f->stored = cr_alloc(j->cli->arena, 1, cr_bytes(&f->head) + 16);
}

bool cr_predict_open(struct cr_predict *j)
{
    j->cap = j->o->batch;
    j->exec = batch_plan(j, j->cap);
    if (!j->exec)
        return false;
    for (int i = 0; i < j->n_feeds; i++)
        batch_feed(j, &j->feed[i], j->cap);
    for (int i = 0; i < j->n_truths; i++)
        batch_feed(j, &j->truth[i], j->cap);
    j->row = CR_NEWS(j->cli->arena, struct cr_predict_row, j->cap);
    j->about = (struct cr_diag){ .arena = &j->scratch };
    j->line = (struct cr_buf){ .arena = &j->lines };
    j->on_error = j->o->on_error != CR_PREDICT_DEFAULT ? j->o->on_error
                  : j->o->stream                       ? CR_PREDICT_BLANK
                                                       : CR_PREDICT_SKIP;
    return true;
}

void *cr_predict_into(const struct cr_predict *j,
                      const struct cr_predict_feed *feed)
{
    return feed->batch + (size_t)j->n * feed->size;
}

/* ---- Bad samples */

struct cr_diag *cr_predict_about(struct cr_predict *j)
{
    return &j->about;
}

static void batch_forget(struct cr_predict *j)
{
    if (j->scratch.last)
        cr_arena_free(&j->scratch);
    j->about = (struct cr_diag){ .arena = &j->scratch };
}

/* The first message about the sample, for its row. */
static const char *batch_error_text(struct cr_predict *j)
{
    return j->about.first ? cr_strdup(&j->text, j->about.first->text) : NULL;
}

/* Reports the messages about a sample; in a stream at once. */
static void batch_report(struct cr_predict *j)
{
    struct cr_diag_format how = { .json = j->cli->json,
                                  .color = j->cli->color };

    j->bad++;
    if (j->o->stream)
        cr_diag_print(&j->about, stderr, how);
    else
        cr_diag_append(j->cli->diag, &j->about);
    batch_forget(j);
    j->stopped = j->on_error == CR_PREDICT_STOP;
}

void cr_predict_warn_bad(struct cr_predict *j)
{
    static const char *const what[] = { "skipped", "stopped at the first",
                                        "left blank" };

    if (j->bad > 0)
        cr_warn(j->cli->diag, CR_NOWHERE, CR_E_DATA_FORMAT,
                "%" PRId64 " of %" PRId64 " samples have errors: %s", j->bad,
                j->bad + j->done, what[j->on_error]);
}

void cr_predict_count_unknown(struct cr_predict *j,
                              const struct cr_field_rows *rows,
                              const struct cr_csv *csv, const char *path)
{
    const char *field, *text;
    int n = cr_field_rows_unknown(rows, &field, &text);

    if (n > 0 && j->unknown == 0)
        j->unknown_text = cr_strf(
            j->cli->arena, "'%s' in field '%s', line %" PRId64 " of %s", text,
            cr_quote(j->cli->arena, field, strlen(field)), csv->field[0].line,
            strcmp(path, "-") ? path : "standard input");
    j->unknown += n;
}

void cr_predict_warn_unknown(struct cr_predict *j)
{
    if (j->unknown == 0)
        return;
    cr_warn(j->cli->diag, CR_NOWHERE, CR_E_DATA_RANGE,
            "found %" PRId64 " categor%s that no training sample has: %s%s",
            j->unknown, j->unknown == 1 ? "y" : "ies", j->unknown_text,
            j->unknown == 1 ? "" : ", ...");
    cr_note(j->cli->diag, "treated as unknown, which training may never have "
                          "seen");
}

/* ---- Writing rows */

static void batch_row(struct cr_predict *j, int64_t i,
                      const struct cr_predict_row *row)
{
    j->done += !row->blank;
    if (j->wrong)
        cr_predict_wrong_add(j, i, row);
    else if (j->arrays)
        cr_predict_arrays_add(j, i, row);
    else
        cr_predict_row(j, &j->line, i, row);
}

static void batch_take(const struct cr_predict *j, struct cr_exec *exec,
                       int64_t row)
{
    for (int i = 0; i < j->n_feeds; i++)
        cr_exec_feed(exec, i,
                     j->feed[i].batch + (size_t)row * j->feed[i].size);
}

static bool batch_run(struct cr_predict *j, struct cr_exec *exec,
                      struct cr_diag *diag, const int64_t *samples)
{
    if (!cr_mpi_all(cr_exec_check(exec, diag, samples)))
        return false;
    cr_exec_before(exec, j->before + (samples ? *samples : 0));
    cr_exec_forward(exec, 0);
    return cr_exec_check_faults(exec, diag);
}

/* Computes the samples of a batch one by one to find those with errors. */
static bool batch_one_by_one(struct cr_predict *j)
{
    bool ok = true;

    if (!j->one)
        j->one = batch_plan(j, 1);
    for (int64_t i = 0; i < j->n && ok && j->one; i++) {
        struct cr_predict_row *row = &j->row[i];

        if (row->blank) {
            batch_row(j, 0, row);
            continue;
        }
        /* cr_predict_results knows only row 0: move the labels there */
        for (int k = 0; k < j->n_truths && i > 0; k++)
            memcpy(j->truth[k].batch,
                   j->truth[k].batch + (size_t)i * j->truth[k].size,
                   j->truth[k].size);
        batch_take(j, j->one, i);
        if (batch_run(j, j->one, &j->about, &i)) {
            cr_predict_results(j, j->one, 1);
            batch_row(j, 0, row);
            continue;
        }
        if (row->name)
            cr_note(&j->about, "in %s",
                    cr_quote(&j->scratch, row->name, strlen(row->name)));
        row->error = batch_error_text(j);
        batch_report(j);
        row->blank = j->on_error == CR_PREDICT_BLANK;
        if (row->blank)
            batch_row(j, 0, row);
        ok = !j->stopped;
    }
    return ok && j->one;
}

static struct cr_exec *batch_exec(struct cr_predict *j)
{
    if (j->n == j->cap)
        return j->exec;
    if (!j->last || j->n_last != j->n) {
        cr_exec_free(j->last);
        j->last = batch_plan(j, j->n);
        j->n_last = j->n;
    }
    return j->last;
}

/* Whether all processes of mpirun have read as many samples, so that they may
 * compute them together. False after reporting. */
static bool batch_same(struct cr_predict *j)
{
    struct cr_diag *diag = j->cli->diag;
    int64_t n[2] = { j->n, -j->n };

    cr_mpi_max(n, 2);
    if (n[0] == -n[1])
        return true;
    if (cr_mpi_agree(diag, diag->errors == 0))
        cr_error(diag, CR_NOWHERE, CR_E_DATA_READ,
                 "processes of mpirun have read different numbers of samples");
    j->n = 0;
    j->apart = true;
    return false;
}

bool cr_predict_flush(struct cr_predict *j)
{
    struct cr_diag quiet = { .arena = &j->scratch };
    struct cr_exec *exec;
    bool ok;

    if (j->apart || !batch_same(j))
        return false;
    if (j->n == 0)
        return true;
    exec = batch_exec(j);
    if (!exec)
        return false;
    batch_take(j, exec, 0);
    if (batch_run(j, exec, &quiet, NULL)) {
        cr_predict_results(j, exec, j->n);
        for (int64_t i = 0; i < j->n; i++)
            batch_row(j, i, &j->row[i]);
        ok = true;
    } else {
        ok = batch_one_by_one(j);
    }
    batch_forget(j);
    ok = cr_mpi_all(cr_predict_put(j) && ok); /* process 0 writes */
    cr_arena_free(&j->text);
    j->before += j->n;
    j->n = 0;
    return ok;
}

/* ---- Adding samples */

bool cr_predict_add(struct cr_predict *j, const struct cr_predict_row *row)
{
    batch_forget(j);
    j->row[j->n] = *row;
    if (j->o->stream)
        j->row[j->n].name = NULL; /* answers have no input name */
    j->n++;
    j->added++;
    cr_work_step(&j->work, j->part >= 0 ? j->part : j->added, j->added);
    if (j->n == j->cap && !cr_predict_flush(j))
        return false;
    j->full = !j->o->wrong && j->added == j->o->samples;
    return !j->full;
}

bool cr_predict_unreadable(struct cr_predict *j)
{
    if (!j->about.first || j->about.first->code != CR_E_DATA_READ)
        return false;
    cr_diag_append(j->cli->diag, &j->about);
    batch_forget(j);
    return true;
}

bool cr_predict_bad(struct cr_predict *j, const struct cr_predict_row *row)
{
    struct cr_predict_row blank = *row;

    blank.error = batch_error_text(j);
    batch_report(j);
    if (j->stopped)
        return false;
    if (j->on_error != CR_PREDICT_BLANK)
        return true;
    for (int i = 0; i < j->n_feeds; i++)
        memset(cr_predict_into(j, &j->feed[i]), 0, j->feed[i].size);
    blank.blank = true;
    return cr_predict_add(j, &blank);
}

bool cr_predict_stored(struct cr_predict *j, struct cr_predict_feed *f,
                       const void *x, int64_t index)
{
    return cr_column_pipeline_apply(f->pipeline, &j->about, index, x,
                                    cr_predict_into(j, f));
}

void cr_predict_free(struct cr_predict *j)
{
    cr_predict_wrong_free(j);
    if (j->loader)
        cr_data_loader_close(j->loader);
    cr_model_close(&j->model);
    cr_exec_free(j->exec);
    cr_exec_free(j->last);
    cr_exec_free(j->one);
    cr_arena_free(&j->text);
    cr_arena_free(&j->lines);
    cr_arena_free(&j->scratch);
}
