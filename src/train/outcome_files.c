/*
 * eval.npz: the outcome of each sample in the best evaluation of a run, or in
 * the last one if none is best. samples.json: samples to show. Neither affects
 * the run: its checkpoints are the same without them.
 *
 * eval.npz is written with each best checkpoint, so that a killed run has both;
 * samples.json, and eval.npz where no evaluation is best, when a checkpoint is
 * saved, at most every OUTCOME_PAUSE seconds, so that short epochs do not wait
 * for the disk, and at the end of the run.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "ckpt/checkpoint.h"
#include "ckpt/run_index.h"
#include "data/sample_json.h"
#include "data/vocab.h"
#include "mpi/mpi.h"
#include "tensorboard/tensorboard.h"
#include "train/outcome_files.h"
#include "train/train.h"

#define OUTCOME_PAUSE 10.0
#define OUTCOME_TRAIN 24 /* training samples shown */
#define TOKENS_NAMED 1000 /* largest vocabulary that samples.json repeats */
#define SAMPLES_MAX ((size_t)64 << 20) /* bytes of samples.json */
#define LOSSES_SHOWN 512 /* losses of positions of a sample in samples.json */

struct cr_train_outcomes {
    struct cr_outcomes two[2]; /* the evaluation under way; the one to keep */
    struct cr_outcomes *now, *kept;
    bool has_kept, npz_due, json_due; /* due: they have something new */
    double written; /* time of the last files, or the start, by cr_now() */
    bool seen;      /* whether a batch was seen */
    const char *old_first; /* of a resumed run: the first samples as the text of
                              its samples.json; NULL: it has none */
    size_t old_len;
    int64_t n_first, first[OUTCOME_TRAIN];
    double label[OUTCOME_TRAIN]; /* NAN: none */
};

struct cr_outcomes **cr_train_outcomes_open(struct cr_train *t)
{
    struct cr_train_outcomes *o;

    if (t->flags.dry_run || t->flags.no_ckpt || t->flags.check ||
        cr_mpi_rank() > 0)
        return NULL;
    o = t->scoring.outcomes = CR_NEW(t->arena, struct cr_train_outcomes);
    o->now = &o->two[0];
    o->kept = &o->two[1];
    o->written = cr_now();
    return &o->now;
}

void cr_train_outcomes_close(struct cr_train *t)
{
    if (!t->scoring.outcomes)
        return;
    cr_arena_free(&t->scoring.outcomes->two[0].mem);
    cr_arena_free(&t->scoring.outcomes->two[1].mem);
}

void cr_train_outcomes_keep(struct cr_train *t)
{
    struct cr_train_outcomes *o = t->scoring.outcomes;
    struct cr_outcomes *done;

    if (!o || (t->state.best_metric && t->state.best_step != t->state.step))
        return;
    done = o->now;
    o->now = o->kept;
    o->kept = done;
    done->step = t->state.step;
    done->epoch = t->state.eval_epoch;
    o->has_kept = o->npz_due = o->json_due = true;
}

/* Finds the first samples of a run that is resumed. Line feeds of a JSON text
 * are between its values, never in strings, so that outcomes_json's own are
 * found. */
static void outcomes_old_first(struct cr_train *t)
{
    static const char before[] = "\"first\":[\n", after[] = "],\n\"step\":";
    struct cr_train_outcomes *o = t->scoring.outcomes;
    struct cr_arena mem = { 0 };
    size_t len, at;
    const char *why, *from = NULL, *end = NULL;
    char *text = cr_run_file(t->arena, cr_rundir_file(&t->dir, "samples.json"),
                             SAMPLES_MAX, &len);
    const struct cr_node *first =
        text ? cr_node_get(cr_json_read(&mem, text, len, &why, &at), "first")
             : NULL;

    if (first && first->kind == CR_NODE_LIST && first->child)
        from = strstr(text, before);
    if (from)
        end = strstr(from, after);
    if (end) {
        o->old_first = from + strlen(before);
        o->old_len = (size_t)(end - o->old_first);
    }
    cr_arena_free(&mem);
}

void cr_train_outcomes_batch(struct cr_train *t, const struct cr_batch *batch)
{
    struct cr_train_outcomes *o = t->scoring.outcomes;
    const struct cr_column *columns;
    int n, label;

    if (!o || o->seen)
        return;
    o->seen = true;
    if (t->files.resumed && t->dir.path)
        outcomes_old_first(t);
    if (!o->old_first)
        o->json_due = true;
    columns = cr_data_loader_columns(t->loader, &n);
    label = cr_label_column(t->config, columns, n);
    for (int64_t i = 0; i < batch->n && i < OUTCOME_TRAIN; i++) {
        const struct cr_spec *s = label >= 0 ? &columns[label].spec : NULL;

        o->first[i] = batch->samples[i];
        o->label[i] = NAN;
        if (s && cr_count(s) == 1)
            cr_convert(s->type,
                       (const char *)batch->data[label] +
                           (size_t)i * cr_type_size(s->type),
                       CR_F64, &o->label[i], 1);
        o->n_first = i + 1;
    }
}

/* ---- eval.npz */

static bool outcomes_npz(struct cr_train *t, const struct cr_outcomes *o)
{
    struct cr_spec one = { .rank = 1, .dim = { o->n } };
    struct cr_spec two = { .rank = 2, .dim = { o->n, o->width } };
    int64_t head[4] = { o->step, o->epoch, o->seen,
                        o->kind == CR_OUTCOMES_CLASSES ? o->classes : 0 };
    struct cr_spec bins = { CR_I64, CR_ROW_MAJOR, 1, { CR_OUTCOMES_BINS } };
    struct cr_spec classes = { CR_I64, CR_ROW_MAJOR, 1, { o->classes } };
    struct cr_tensor all[8] = {
        { "evaluation", { CR_I64, CR_ROW_MAJOR, 1, { 4 } }, head },
        { "sample", one, o->sample },
        { "loss", one, o->loss },
    };
    int n = 3;

    all[1].spec.type = CR_I64;
    all[2].spec.type = CR_F32;
    two.type = CR_F32;
    if (o->kind == CR_OUTCOMES_CLASSES) {
        all[n++] = (struct cr_tensor){ "label", one, o->label };
        all[n - 1].spec.type = CR_I32;
        all[n++] = (struct cr_tensor){ "predicted", one, o->predicted };
        all[n - 1].spec.type = CR_I32;
        all[n++] = (struct cr_tensor){ "probability", one, o->probability };
        all[n - 1].spec.type = CR_F32;
    } else if (o->kind == CR_OUTCOMES_POSITIONS) {
        all[n++] = (struct cr_tensor){ "right", one, o->right };
        all[n - 1].spec.type = CR_F32;
        all[n++] = (struct cr_tensor){ "position_losses", bins,
                                       (void *)(uintptr_t)o->bins };
        all[n++] = (struct cr_tensor){ "class_positions", classes, o->class_n };
        classes.type = CR_F64;
        all[n++] = (struct cr_tensor){ "class_loss", classes, o->class_loss };
    } else if (o->kind == CR_OUTCOMES_MULTILABEL) {
        one.type = CR_I64;
        all[n++] = (struct cr_tensor){ "true_labels", one, o->true_labels };
        all[n++] = (struct cr_tensor){ "found_labels", one, o->found_labels };
        all[n++] = (struct cr_tensor){
            "labels", { CR_I64, CR_ROW_MAJOR, 1, { 1 } },
            (void *)(uintptr_t)&o->width
        };
    } else if (o->width > 0) {
        all[n++] = (struct cr_tensor){ "truth", two, o->truth };
        all[n++] = (struct cr_tensor){ "output", two, o->output };
    }
    return cr_tensors_write(t->diag, cr_rundir_file(&t->dir, "eval.npz"), all,
                            n);
}

/* ---- samples.json */

/* The tokens of the vocabulary whose indices are the classes, as in a language
 * model. */
static struct cr_strs outcomes_tokens(struct cr_train *t, struct cr_arena *mem,
                                      int64_t classes)
{
    struct cr_strs names = { 0 };
    int n;
    const struct cr_column *column =
        cr_data_loader_columns(t->scoring.loader, &n);

    for (int i = 0; i < n && names.n == 0 && classes <= TOKENS_NAMED; i++) {
        const struct cr_vocab *v = cr_vocab_kept(t->config, column[i].name);
        const char **name;

        if (!v || !v->joint || !v->token || v->n != classes)
            continue;
        name = CR_NEWS(mem, const char *, classes);
        memcpy(name, v->token, (size_t)classes * sizeof *name);
        names.v = name;
        names.n = (int)classes;
    }
    return names;
}

static struct cr_strs outcomes_class_names(struct cr_train *t)
{
    struct cr_predict_section predict = { 0 };

    if (cr_section(t->config, "predict") &&
        cr_section_read(t->config, "predict", &predict) && predict.labels.n)
        return predict.labels;
    return *cr_config_classes(t->config);
}

static const char *outcomes_label(const struct cr_data_loader *loader,
                                  const struct cr_config *config)
{
    int n;
    const struct cr_column *columns = cr_data_loader_columns(loader, &n);
    int label = cr_label_column(config, columns, n);

    return label >= 0 ? columns[label].name : NULL;
}

static void outcomes_list(struct cr_buf *b, const float *x, int64_t n)
{
    cr_buf_char(b, '[');
    for (int64_t k = 0; k < n; k++) {
        cr_buf_str(b, k ? "," : "");
        cr_buf_real(b, (double)x[k]);
    }
    cr_buf_char(b, ']');
}

/* Losses of positions, which are shown as shades, so three digits suffice. */
static void outcomes_details(struct cr_buf *b, const float *loss, int64_t n)
{
    cr_buf_str(b, ",\"losses\":[");
    for (int64_t k = 0; k < n; k++) {
        cr_buf_str(b, k ? "," : "");
        if (isnan(loss[k]))
            cr_buf_str(b, "null");
        else
            cr_buf_f(b, "%.3g", (double)loss[k]);
    }
    cr_buf_char(b, ']');
}

/* The indices of the bits that are set. */
static void outcomes_bits(struct cr_buf *b, const char *name, int64_t bits)
{
    int n = 0;

    cr_buf_f(b, ",\"%s\":[", name);
    for (int k = 0; k < CR_OUTCOMES_LABELS; k++)
        if (bits >> k & 1)
            cr_buf_f(b, "%s%d", n++ ? "," : "", k);
    cr_buf_char(b, ']');
}

static void outcomes_sample(struct cr_train *t, struct cr_buf *b,
                            const struct cr_outcomes *o, int64_t i)
{
    cr_buf_f(b, "{\"sample\":%" PRId64 ",\"loss\":", o->sample[i]);
    cr_buf_real(b, (double)o->loss[i]);
    if (o->kind == CR_OUTCOMES_CLASSES) {
        cr_buf_f(b, ",\"label\":%d,\"predicted\":%d,\"probability\":",
                 (int)o->label[i], (int)o->predicted[i]);
        cr_buf_real(b, (double)o->probability[i]);
    } else if (o->kind == CR_OUTCOMES_POSITIONS) {
        cr_buf_str(b, ",\"right\":");
        cr_buf_real(b, (double)o->right[i]);
        if (i < o->n_detailed && o->width <= LOSSES_SHOWN)
            outcomes_details(b, o->position_loss + i * o->width, o->width);
    } else if (o->kind == CR_OUTCOMES_MULTILABEL) {
        outcomes_bits(b, "true_labels", o->true_labels[i]);
        outcomes_bits(b, "found_labels", o->found_labels[i]);
    } else if (o->width > 0) {
        cr_buf_str(b, ",\"truth\":");
        outcomes_list(b, o->truth + i * o->width, o->width);
        cr_buf_str(b, ",\"output\":");
        outcomes_list(b, o->output + i * o->width, o->width);
    }
    cr_buf_str(b, ",\"columns\":");
    cr_sample_json(b, t->config, t->scoring.loader, o->sample[i],
                   outcomes_label(t->scoring.loader, t->config));
    cr_buf_char(b, '}');
}

static void outcomes_train(struct cr_train *t, struct cr_buf *b)
{
    const struct cr_train_outcomes *o = t->scoring.outcomes;
    const char *label = outcomes_label(t->loader, t->config);

    if (o->old_first) {
        cr_buf_add(b, o->old_first, o->old_len);
        return;
    }
    for (int64_t i = 0; i < o->n_first; i++) {
        cr_buf_f(b, "%s{\"sample\":%" PRId64, i ? ",\n" : "", o->first[i]);
        if (isfinite(o->label[i]))
            cr_buf_f(b, ",\"label\":%.9g", o->label[i]);
        cr_buf_str(b, ",\"columns\":");
        cr_sample_json(b, t->config, t->loader, o->first[i], label);
        cr_buf_char(b, '}');
    }
}

static bool outcomes_json(struct cr_train *t)
{
    const struct cr_train_outcomes *o = t->scoring.outcomes;
    struct cr_arena mem = { 0 };
    struct cr_buf b = { .arena = &mem };
    struct cr_strs names = outcomes_class_names(t);
    int64_t cap = t->opts.log.images.wrong, n = 0;
    int64_t *worst = CR_NEWS(&mem, int64_t, cap + 1);
    bool ok;

    if (names.n == 0 && o->has_kept && o->kept->kind == CR_OUTCOMES_POSITIONS)
        names = outcomes_tokens(t, &mem, o->kept->classes);
    cr_buf_str(&b, "{\"classes\":[");
    for (int i = 0; i < names.n; i++) {
        cr_buf_str(&b, i ? "," : "");
        cr_buf_json(&b, names.v[i]);
    }
    cr_buf_str(&b, "],\n\"first\":[\n");
    outcomes_train(t, &b);
    cr_buf_f(&b, "],\n\"step\":%" PRId64 ",\n\"worst\":[\n",
             o->has_kept ? o->kept->step : -1);
    if (o->has_kept && o->kept->kind != CR_OUTCOMES_NONE && cap > 0)
        n = cr_outcomes_worst(o->kept, cap, worst);
    for (int64_t i = 0; i < n; i++) {
        cr_buf_str(&b, i ? ",\n" : "");
        outcomes_sample(t, &b, o->kept, worst[i]);
    }
    cr_buf_str(&b, "]}\n");
    ok = cr_write_file(t->diag, cr_rundir_file(&t->dir, "samples.json"), b.text,
                       b.len);
    cr_tensorboard_samples(t->observers.tensorboard, b.text, b.len);
    cr_arena_free(&mem);
    return ok;
}

void cr_train_outcomes_write(struct cr_train *t, bool end)
{
    struct cr_train_outcomes *o = t->scoring.outcomes;
    double now = cr_now();
    bool due;

    if (!o || !t->dir.path || cr_run_lock_lost_now(&t->dir.lock))
        return;
    due = end || now - o->written >= OUTCOME_PAUSE;
    if (o->npz_due && (due || t->state.best_metric)) {
        o->npz_due = false;
        if (o->kept->kind != CR_OUTCOMES_NONE && !outcomes_npz(t, o->kept))
            return;
    }
    if (!o->json_due || !due)
        return;
    o->json_due = false;
    o->written = now;
    outcomes_json(t);
}
