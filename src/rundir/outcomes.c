#include "rundir/outcomes.h"

#include <math.h>
#include <unistd.h>

#include "base/str.h"
#include "ckpt/checkpoint.h"

#define SAMPLES_MAX 10000000
#define CLASSES_MAX 1000000

struct job {
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_tensor_file *file;
    const char *path;
    int64_t n; /* samples; -1: not known yet */
};

static bool outcomes_bad(struct job *j, const char *what)
{
    return cr_error(j->diag, cr_at_file(j->arena, j->path), CR_E_CKPT_FORMAT,
                    "not the outcomes of an evaluation: %s", what);
}

/* An array (n,), or (n, width) with `width` set. */
static bool outcomes_array(struct job *j, const char *name, enum cr_type type,
                           int64_t *width, void *to)
{
    const struct cr_tensor_info *entry = cr_tensor_file_find(j->file, name);
    void *data;

    if (!entry || !entry->readable || entry->spec.rank != (width ? 2 : 1) ||
        (j->n >= 0 && entry->spec.dim[0] != j->n) ||
        entry->spec.dim[0] > SAMPLES_MAX ||
        (width && entry->spec.dim[1] > SAMPLES_MAX / (j->n + 1)))
        return outcomes_bad(j, cr_strf(j->arena,
                                       "array '%s' is missing or has another "
                                       "shape", name));
    if (width)
        *width = entry->spec.dim[1];
    j->n = entry->spec.dim[0];
    data = cr_alloc(j->arena, (size_t)cr_count(&entry->spec) + 1, 8);
    *(void **)to = data;
    return cr_tensor_file_read(j->file, j->diag, entry, type, data);
}

static bool outcomes_classes(struct job *j, struct cr_run_outcomes *to)
{
    if (!outcomes_array(j, "label", CR_I64, NULL, &to->label) ||
        !outcomes_array(j, "predicted", CR_I64, NULL, &to->predicted) ||
        !outcomes_array(j, "probability", CR_F64, NULL, &to->probability))
        return false;
    for (int64_t i = 0; i < j->n; i++)
        if (to->label[i] < -1 || to->label[i] >= to->classes ||
            to->predicted[i] < 0 || to->predicted[i] >= to->classes)
            return outcomes_bad(j, "a class is out of range");
    return true;
}

/* An array of another length than the number of samples; *n: its length, -1:
 * not known yet. */
static bool outcomes_other(struct job *j, const char *name, enum cr_type type,
                           int64_t *n, void *to)
{
    int64_t samples = j->n;
    bool ok;

    j->n = *n;
    ok = outcomes_array(j, name, type, NULL, to);
    *n = j->n;
    j->n = samples;
    return ok;
}

static bool outcomes_positions(struct job *j, struct cr_run_outcomes *to)
{
    to->n_bins = to->n_classes = -1;
    if (!outcomes_array(j, "right", CR_F64, NULL, &to->right) ||
        !outcomes_other(j, "position_losses", CR_I64, &to->n_bins,
                        &to->bins) ||
        !outcomes_other(j, "class_positions", CR_I64, &to->n_classes,
                        &to->class_positions) ||
        !outcomes_other(j, "class_loss", CR_F64, &to->n_classes,
                        &to->class_loss))
        return false;
    for (int64_t i = 0; i < to->n_bins; i++)
        if (to->bins[i] < 0)
            return outcomes_bad(j, "a count is negative");
    for (int64_t i = 0; i < to->n_classes; i++)
        if (to->class_positions[i] < 0)
            return outcomes_bad(j, "a count is negative");
    return true;
}

static bool outcomes_labels(struct job *j, struct cr_run_outcomes *to)
{
    const int64_t *labels;
    int64_t one = 1;

    if (!outcomes_other(j, "labels", CR_I64, &one, &labels) ||
        !outcomes_array(j, "true_labels", CR_I64, NULL, &to->true_labels) ||
        !outcomes_array(j, "found_labels", CR_I64, NULL, &to->found_labels))
        return false;
    if (labels[0] < 1 || labels[0] > 63)
        return outcomes_bad(j, "the number of labels is out of range");
    to->labels = labels[0];
    for (int64_t i = 0; i < j->n; i++)
        if ((to->true_labels[i] | to->found_labels[i]) >> to->labels != 0)
            return outcomes_bad(j, "a label is out of range");
    return true;
}

static bool outcomes_fill(struct job *j, struct cr_run_outcomes *to)
{
    const int64_t *head;

    j->n = 4;
    if (!outcomes_array(j, "evaluation", CR_I64, NULL, &head))
        return false;
    to->step = head[0];
    to->epoch = head[1];
    to->seen = head[2];
    to->classes = head[3];
    if (to->classes < 0 || to->classes > CLASSES_MAX)
        return outcomes_bad(j, "the number of classes is out of range");
    j->n = -1;
    if (!outcomes_array(j, "sample", CR_I64, NULL, &to->sample) ||
        !outcomes_array(j, "loss", CR_F64, NULL, &to->loss))
        return false;
    if (to->classes > 0 && !outcomes_classes(j, to))
        return false;
    if (to->classes == 0 && cr_tensor_file_find(j->file, "right") &&
        !outcomes_positions(j, to))
        return false;
    if (to->classes == 0 && cr_tensor_file_find(j->file, "labels") &&
        !outcomes_labels(j, to))
        return false;
    if (to->classes == 0 && cr_tensor_file_find(j->file, "truth") &&
        (!outcomes_array(j, "truth", CR_F64, &to->width, &to->truth) ||
         !outcomes_array(j, "output", CR_F64, &to->width, &to->output)))
        return false;
    to->n = j->n;
    return true;
}

bool cr_run_outcomes_read(struct cr_arena *arena, struct cr_diag *diag,
                          const char *dir, struct cr_run_outcomes *to)
{
    struct job j = { .arena = arena, .diag = diag };
    bool ok;

    *to = (struct cr_run_outcomes){ 0 };
    j.path = cr_path_join(arena, dir, "eval.npz");
    if (access(j.path, F_OK) != 0)
        return true;
    j.file = cr_tensor_file_open(arena, diag, j.path);
    if (!j.file)
        return false;
    ok = outcomes_fill(&j, to);
    cr_tensor_file_close(j.file);
    if (!ok)
        *to = (struct cr_run_outcomes){ 0 };
    return ok;
}
