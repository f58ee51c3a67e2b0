/* The course of a prediction, for predict and eval --wrong. */
#include <unistd.h>

#include "model/samples.h"
#include "mpi/mpi.h"
#include "predict/predict.h"

void cr_predict_format(const struct cr_cli *cli, struct cr_predict_opts *o)
{
    if (o->format != CR_PREDICT_BY_NAME)
        return;
    o->format = cli->json ? CR_PREDICT_JSONL : CR_PREDICT_TSV;
    for (int i = 0; o->to && !cli->json && i < CR_PREDICT_BY_NAME; i++)
        if (cr_ends(o->to, cr_predict_endings[i]))
            o->format = i;
}

/* Checks that --format npy has only one output to write. */
static bool run_one_output(struct cr_predict *j)
{
    if (j->o->format != CR_PREDICT_NPY || j->n_outs == 1)
        return true;
    cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
             "--format npy: found %d outputs, expected one", j->n_outs);
    cr_hint(j->cli->diag, "use --result 0 to %d, or --format npz for all",
            j->n_outs - 1);
    return false;
}

static bool run_read(struct cr_predict *j, const char *const *files)
{
    if (!cr_model_open(j->cli, j->o->ckpt, files, &j->model) ||
        !cr_model_describe(&j->model))
        return false;
    if (j->o->data)
        j->loader = cr_model_samples(&j->model, j->o->data, j->o->batch);
    return j->loader || !j->o->data;
}

static bool run_prepare(struct cr_predict *j)
{
    if (!cr_predict_keeps_data(j) || !cr_predict_columns(j) ||
        !cr_predict_open(j) || !cr_predict_outputs(j) || !run_one_output(j))
        return false;
    j->has_truth = (j->o->wrong || j->o->against) && !j->o->data &&
                   j->n_truths > 0;
    return !j->o->wrong || cr_predict_wrong_open(j);
}

/* Rows on a terminal show the progress by themselves. */
static void run_progress(struct cr_predict *j)
{
    int64_t of = j->loader ? cr_data_loader_samples(j->loader) : 0;

    j->part = -1;
    if (j->o->stream || (!j->o->to && isatty(STDOUT_FILENO)))
        return;
    if (j->o->samples != CR_INT_NONE && !j->o->wrong &&
        (of == 0 || j->o->samples < of))
        of = j->o->samples;
    cr_work_begin(&j->work, j->cli, "predict", of);
}

int cr_predict_run(struct cr_cli *cli, const struct cr_predict_opts *o,
                   const char *const *files)
{
    struct cr_predict j = { .cli = cli, .o = o };
    int status = 0;
    bool ok;

    /* processes make plans together */
    ok = cr_mpi_agree(cli->diag, run_read(&j, files)) &&
         cr_model_same(&j.model, j.loader) && run_prepare(&j) &&
         cr_predict_write_open(&j);
    if (cr_mpi_agree(cli->diag, ok)) {
        run_progress(&j);
        ok = o->stream ? cr_predict_stream(&j, &status)
             : o->data ? cr_predict_split(&j)
                       : cr_predict_operands(&j);
        ok = cr_predict_flush(&j) && (ok || j.full);
        cr_work_clear(&j.work);
        cr_predict_write_close(&j, ok);
        cr_predict_warn_bad(&j);
        cr_predict_warn_unknown(&j);
    }
    cr_predict_free(&j);
    return status ? status : cr_diag_exit(cli->diag);
}
