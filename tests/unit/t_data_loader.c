/*
 * The data loader from samples to batches: orders, splits, remainders, and the
 * same bytes for any number of workers. The data are two .npy files of 23 rows
 * that the test writes: x (23, 2) with x[i] = (i, 100 + i), label i % 3.
 */
#include "base/thread_pool.h"
#include "conf.h"
#include "data/data_loader.h"
#include "data/npy.h"
#include "tap.h"

#include <math.h>
#include <unistd.h>

#define ROWS 23

static char folder[] = "/tmp/cellrun-t_pipe-XXXXXX";

static void array_write(const char *name, const struct cr_spec *spec,
                        const void *data)
{
    struct cr_buf buf = { .arena = &conf_mem };
    struct cr_diag diag = { .arena = &conf_mem };

    cr_npy_header(&buf, spec);
    cr_buf_add(&buf, data, cr_bytes(spec));
    ok(cr_write_file(&diag, cr_strf(&conf_mem, "%s/%s", folder, name),
                     buf.text, buf.len),
       "%s is written", name);
}

static void data_write(void)
{
    struct cr_spec x = { CR_F32, CR_ROW_MAJOR, 2, { ROWS, 2 } };
    struct cr_spec y = { CR_I32, CR_ROW_MAJOR, 1, { ROWS } };
    float v[2 * ROWS];
    int32_t label[ROWS];
    int i;

    for (i = 0; i < ROWS; i++) {
        v[2 * i] = (float)i;
        v[2 * i + 1] = (float)(100 + i);
        label[i] = i % 3;
    }
    array_write("x.npy", &x, v);
    array_write("y.npy", &y, label);
}

static const char *config_text(const char *dataset, const char *datapipe)
{
    return cr_strf(&conf_mem,
                   "dataset:\n"
                   "  train: {NumpySlicesDataset: {data: [%s/x.npy, "
                   "%s/y.npy], column_names: [x, label]%s}}\n"
                   "%s",
                   folder, folder, dataset, datapipe);
}

struct read {
    struct cr_config *config;
    struct cr_diag diag;
    struct cr_data_loader *loader;
};

static bool loader_of(struct read *r, const char *text,
                      const struct cr_data_loader_opts *want)
{
    struct cr_data_loader_opts usual = { .split = "train",
                                         .train = true,
                                         .seed = 5 };

    r->config = conf_load(&r->diag, text, NULL);
    r->config->diag = &r->diag;
    r->loader = r->diag.errors == 0
                    ? cr_data_loader_open(r->config, want ? want : &usual)
                    : NULL;
    return r->loader != NULL;
}

/* "3 1 2|0 4" of the samples of one epoch, checked against their values. */
static const char *epoch_of(struct read *r)
{
    const struct cr_batch *b;
    const char *text = "";

    while ((b = cr_data_loader_next(r->loader, &r->diag))) {
        int64_t i;

        for (i = 0; i < b->n; i++) {
            int64_t s = b->samples[i];
            const cr_real *x = (const cr_real *)b->data[0] + 2 * i;

            text = cr_strf(&conf_mem, "%s%s%lld", text, i ? " " : "",
                           (long long)s);
            if (x[0] != (cr_real)s || x[1] != (cr_real)(100 + s) ||
                ((const int32_t *)b->data[1])[i] != s % 3)
                ok(false, "sample %lld has its values", (long long)s);
        }
        text = cr_strf(&conf_mem, "%s|", text);
    }
    if (r->diag.errors > 0)
        cr_diag_print(&r->diag, stdout, (struct cr_diag_format){ 0 });
    return text;
}

static int seen[ROWS];

/* How many different samples a text of epoch_of holds. */
static int different(const char *text)
{
    int i, n = 0;

    memset(seen, 0, sizeof seen);
    while (*text) {
        char *end;
        long s = strtol(text, &end, 10);

        if (end > text && s < ROWS)
            seen[s]++;
        text = *end ? end + 1 : end;
    }
    for (i = 0; i < ROWS; i++)
        n += seen[i] > 0;
    return n;
}

static void orders(void)
{
    struct read r;
    const char *one, *two;

    loader_of(&r, config_text(", shuffle: false", ""), NULL);
    same(epoch_of(&r), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 "
                       "21 22|", "in order, one batch of 32");
    cr_data_loader_close(r.loader);
    loader_of(&r, config_text("", "datapipe: {batch: {batch_size: 5}}\n"),
              NULL);
    ok(cr_data_loader_batches(r.loader) == 5 &&
           cr_data_loader_samples(r.loader) == ROWS,
       "5 batches of 23 samples, the last one short");
    one = epoch_of(&r);
    two = epoch_of(&r);
    ok(different(one) == ROWS && different(two) == ROWS,
       "an epoch has every sample once");
    ok(strcmp(one, two) != 0, "epochs differ");
    cr_data_loader_seek(r.loader, 0, 0);
    same(epoch_of(&r), one, "an epoch again is the same");
    cr_data_loader_seek(r.loader, 1, 3);
    ok(cr_ends(two, epoch_of(&r)), "from the middle of an epoch");
    cr_data_loader_close(r.loader);
    loader_of(&r,
              config_text("", "datapipe: {shuffle: {buffer_size: 4}, "
                              "batch: {batch_size: 23}}\n"),
              NULL);
    one = epoch_of(&r);
    ok(different(one) == ROWS && strtol(one, NULL, 10) < 4,
       "a buffer of 4 mixes its 4");
    cr_data_loader_close(r.loader);
    loader_of(&r,
              config_text(", shuffle: true", "datapipe: {shuffle: false}\n"),
              NULL);
    two = epoch_of(&r);
    same(two, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22|",
         "shuffle: false of the datapipe");
    cr_data_loader_close(r.loader);
    loader_of(&r, config_text("", "datapipe: {shuffle: {enabled: false}}\n"),
              NULL);
    same(epoch_of(&r), two, "the same written out");
    cr_data_loader_close(r.loader);
    loader_of(&r, config_text("", "datapipe: {shuffle: true}\n"), NULL);
    one = epoch_of(&r);
    ok(different(one) == ROWS && strcmp(one, two) != 0,
       "shuffle: true is the default");
    cr_data_loader_close(r.loader);
}

static void amounts(void)
{
    struct cr_data_loader_opts want = { .split = "train",
                                        .train = true,
                                        .seed = 5 };
    struct read r;
    const char *one;

    loader_of(&r,
              config_text("", "datapipe: {batch: {batch_size: 5, "
                              "drop_remainder: {train: true}}}\n"),
              NULL);
    ok(cr_data_loader_batches(r.loader) == 4 &&
           cr_data_loader_samples(r.loader) == 20,
       "the remainder is dropped");
    cr_data_loader_close(r.loader);
    loader_of(&r, config_text(", num_samples: 7", ""), NULL);
    one = epoch_of(&r);
    ok(different(one) == 7, "num_samples: 7 different ones");
    ok(strcmp(one, epoch_of(&r)) != 0, "other ones in the next epoch");
    cr_data_loader_close(r.loader);
    want.limit = 6;
    loader_of(&r, config_text("", ""), &want);
    different(epoch_of(&r));
    ok(seen[5] == 1 && !seen[6], "limit takes the first samples");
    cr_data_loader_close(r.loader);
    want.limit = 0;
    want.limit_fraction = nextafter(8.0 / ROWS, 1);
    loader_of(&r, config_text("", ""), &want);
    ok(cr_data_loader_samples(r.loader) == 8, "a limit of 8/23 is 8 samples");
    cr_data_loader_close(r.loader);
    want.limit_fraction = 0;
    want.overfit_batches = 2;
    want.batch_size = 4;
    loader_of(&r, config_text("", ""), &want);
    one = epoch_of(&r);
    ok(cr_data_loader_batches(r.loader) == 2 && different(one) == 8,
       "overfit_batches: 2 batches of 4");
    same(epoch_of(&r), one, "the same ones in every epoch");
    cr_data_loader_close(r.loader);
}

static void splits(void)
{
    const char *text = config_text("",
                                   "  split: {eval_from_train: 6 samples, "
                                   "stratify: label, seed: 2}\n");
    struct cr_data_loader_opts want = { .split = "eval", .seed = 5 };
    struct read t, e;
    int kept, i, of[3] = { 0 }, both = 0, aside[ROWS];

    if (!ok(loader_of(&t, text, NULL) && loader_of(&e, text, &want),
            "both parts open")) {
        cr_diag_print(&t.diag, stdout, (struct cr_diag_format){ 0 });
        return;
    }
    ok(different(epoch_of(&e)) == 6, "6 samples are set aside");
    memcpy(aside, seen, sizeof aside);
    for (i = 0; i < ROWS; i++)
        of[i % 3] += aside[i];
    ok(of[0] == 2 && of[1] == 2 && of[2] == 2, "2 of each class");
    kept = different(epoch_of(&t));
    for (i = 0; i < ROWS; i++)
        both += aside[i] && seen[i];
    ok(kept == 17 && both == 0, "the other 17 are trained on");
    cr_data_loader_close(t.loader);
    cr_data_loader_close(e.loader);
    /* thirds of 5 round to 2 each, which would be 6 */
    text = config_text("", "  split: {eval_from_train: 5, stratify: label}\n");
    loader_of(&e, text, &want);
    ok(cr_data_loader_samples(e.loader) == 5, "5 samples of 3 classes are 5");
    cr_data_loader_close(e.loader);
    loader_of(&e, config_text("", "  split: {eval_from_train: 10%}\n"), &want);
    ok(cr_data_loader_samples(e.loader) == 2, "10%% of 23 are 2");
    cr_data_loader_close(e.loader);
}

static void workers(void)
{
    static const int counts[] = { 0, 1, 2, 4 };
    const char *first = NULL, *text;
    struct read r;
    int i;

    for (i = 0; i < 4; i++) {
        loader_of(&r,
                  config_text("", cr_strf(&conf_mem,
                                          "datapipe: {workers: %d, batch: "
                                          "{batch_size: 3}, x: "
                                          "[{TypeCast: {data_type: "
                                          "float64}}]}\n",
                                          counts[i])),
                  NULL);
        text = cr_strf(&conf_mem, "%s/%s", epoch_of(&r), epoch_of(&r));
        cr_data_loader_seek(r.loader, 7, 2);
        text = cr_strf(&conf_mem, "%s/%s", text, epoch_of(&r));
        if (first)
            same(text, first, cr_strf(&conf_mem, "%d workers", counts[i]));
        first = text;
        cr_data_loader_close(r.loader);
    }
}

/* Closed while all of them are busy; sought while they are ahead. */
static void interrupted(void)
{
    struct read r;
    int i;

    for (i = 0; i < 20; i++) {
        const struct cr_batch *b;

        loader_of(&r,
                  config_text("", "datapipe: {workers: 3, prefetch: 7, "
                                  "batch: {batch_size: 2}}\n"),
                  NULL);
        cr_data_loader_next(r.loader, &r.diag);
        cr_data_loader_seek(r.loader, i, i % 12);
        b = cr_data_loader_next(r.loader, &r.diag);
        if (!b || b->epoch != i || b->index != i % 12)
            ok(false, "batch %d of epoch %d", i % 12, i);
        cr_data_loader_close(r.loader);
    }
    ok(i == 20, "seeks and closes while workers are busy");
    loader_of(&r,
              config_text("", "datapipe: {batch: {batch_size: "
                              "2000000000}}\n"),
              NULL);
    ok(different(epoch_of(&r)) == ROWS,
       "a batch has room for the samples there are");
    cr_data_loader_close(r.loader);
}

static void errors(void)
{
    static const struct {
        const char *dataset, *datapipe, *says;
    } bad[] = {
        { "", "datapipe: {y: [HWC2CHW]}\n",
          "'y' is neither a key of datapipe nor a column" },
        { "", "datapipe: {y: [HWC2CHW]}\n", "columns: x label" },
        { "", "datapipe: {x: [HWC2CHW]}\n", "expected images (height, width" },
        { "", "datapipe: {x: HWC2CHW}\n", "expected a list of transforms" },
        { "", "datapipe: {workers: many}\n", "expected auto or a number" },
        { "", "datapipe: {batch: {batch_size: 50, drop_remainder: true}}\n",
          "fewer than one batch" },
        { ", shuffle: 3", "",
          "shuffle: found the number 3, expected true or false" },
        { "", "  split: {eval_from_train: 99}\n",
          "larger than the number of samples, 23" },
        { "", "  split: {eval_from_train: 3, stratify: z}\n",
          "is not a column" },
        { "", "datapipe: {sampler: {WeightedRandomSampler: {weights: z}}}\n",
          "weights: 'z' is not a column with one number per sample" },
        { "", "datapipe: {sampler: {WeightedRandomSampler: {weights: [1]}}}\n",
          "found 1 weights, expected one for each of 23 samples" },
        { "",
          "datapipe: {sampler: {WeightedRandomSampler: {weights: {0: 0, "
          "1: 0, 2: 0}}}}\n",
          "found no weight above 0" },
        { "",
          "datapipe: {sampler: {WeightedRandomSampler: {weights: {0: "
          "-1}}}}\n",
          "expected a number of at least 0" },
        { "",
          "datapipe: {sampler: {WeightedRandomSampler: {weights: label, "
          "replacement: false}}}\n",
          "found 23 samples of an epoch, "
          "expected at most 15" },
        { "",
          "datapipe: {shuffle: false, sampler: {WeightedRandomSampler: "
          "{weights: balanced}}}\n",
          "found 'shuffle' and 'sampler'" },
    };
    struct read r;
    size_t i;

    for (i = 0; i < CR_LEN(bad); i++) {
        bool opened =
            loader_of(&r, config_text(bad[i].dataset, bad[i].datapipe), NULL);
        const char *got = conf_messages(&r.diag);

        if (!ok(!opened && strstr(got, bad[i].says), "%s", bad[i].says))
            printf("# got: %s\n", got);
    }
}

/* A sample that an op refuses is an error of its batch, whoever fills it. */
static void bad_sample(void)
{
    int w;

    for (w = 0; w < 3; w += 2) {
        struct read r;
        int64_t n = 0;

        loader_of(&r,
                  config_text(", shuffle: false",
                              cr_strf(&conf_mem,
                                      "datapipe: {workers: %d, batch: "
                                      "{batch_size: 2}, label: [{OneHot: "
                                      "{num_classes: 2}}]}\n",
                                      w)),
                  NULL);
        while (cr_data_loader_next(r.loader, &r.diag))
            n++;
        ok(n == 1 && r.diag.errors == 1 &&
               strstr(r.diag.first->text, "label 2 of sample 2"),
           "%d workers: the first bad sample is reported after %lld batches", w,
           (long long)n);
        ok(!cr_data_loader_next(r.loader, &r.diag) && r.diag.errors > 0,
           "and again, if asked again");
        cr_data_loader_seek(r.loader, 3, 0);
        ok(cr_data_loader_next(r.loader,
                               &(struct cr_diag){ .arena = &conf_mem }),
           "a seek continues with good ones");
        cr_data_loader_close(r.loader);
    }
}

/* Every sample is in one fold, and with `eval_from_train` in one part of the
 * others. */
static void folds(void)
{
    static const char *const parts[] = { "test", "eval", "train" };
    int in[ROWS] = { 0 }, times[ROWS] = { 0 }, of[4][3] = { { 0 } };
    bool sizes = true, shares = true, once = true;

    for (int k = 0; k < 4; k++) {
        const char *text = config_text(
            "", cr_strf(&conf_mem, "  split: {eval_from_train: 20%%, stratify: "
                                   "label, folds: 4, fold: %d}\n", k));

        memset(times, 0, sizeof times);
        for (int p = 0; p < 3; p++) {
            struct cr_data_loader_opts want = { .split = parts[p],
                                                .train = p == 2,
                                                .seed = 5 };
            struct read r;
            int n;

            if (!ok(loader_of(&r, text, &want), "fold %d opens", k))
                return;
            n = different(epoch_of(&r));
            sizes = sizes && (p > 0 || n == 5 || n == 6);
            for (int i = 0; i < ROWS; i++) {
                times[i] += seen[i];
                in[i] += p == 0 && seen[i];
                of[k][i % 3] += p == 0 && seen[i];
            }
            cr_data_loader_close(r.loader);
        }
        for (int i = 0; i < ROWS; i++)
            once = once && times[i] == 1;
        for (int c = 0; c < 3; c++)
            shares = shares && (of[k][c] == 1 || of[k][c] == 2);
    }
    ok(once, "a sample is in one of test, eval and train");
    for (int i = 0; i < ROWS; i++)
        once = once && in[i] == 1;
    ok(once, "and test in one fold");
    ok(sizes, "folds have 5 or 6 of 23 samples");
    ok(shares, "and 1 or 2 of each class");
}

#define DRAWS 400 /* epochs */

/* How often each sample is drawn in DRAWS epochs, in `seen`; the text of one
 * epoch. */
static const char *drawn(const char *sampler, const char *more)
{
    const char *text = "";
    struct read r;
    int times[ROWS] = { 0 };

    if (!ok(loader_of(&r,
                      config_text("", cr_strf(&conf_mem,
                                              "datapipe: {batch: "
                                              "{batch_size: 5}, sampler: "
                                              "{WeightedRandomSampler: "
                                              "{weights: %s}}%s}\n",
                                              sampler, more)),
                      NULL),
            "%s%s opens", sampler, more)) {
        cr_diag_print(&r.diag, stdout, (struct cr_diag_format){ 0 });
        return text;
    }
    for (int e = 0; e < DRAWS; e++) {
        const char *one = epoch_of(&r);

        different(one);
        for (int i = 0; i < ROWS; i++)
            times[i] += seen[i];
        text = e == 3 ? one : text;
    }
    cr_data_loader_seek(r.loader, 3, 0);
    same(epoch_of(&r), text, "an epoch again is the same");
    cr_data_loader_close(r.loader);
    memcpy(seen, times, sizeof seen);
    return text;
}

/* Draws of a class, of DRAWS times n, within 5 standard deviations of the
 * binomial distribution. */
static void expect(int class, double p, int n, const char *name)
{
    double all = DRAWS * n, got = 0, far;

    for (int i = class; i < ROWS; i += 3)
        got += seen[i];
    far = 5 * sqrt(all * p * (1 - p)) + 1e-9;
    if (!ok(fabs(got - all * p) <= far, "%s: class %d", name, class))
        printf("# drawn %g times, expected %g +- %g\n", got, all * p, far);
}

/* 8, 8 and 7 samples of the classes 0, 1, 2. */
static void weighted(void)
{
    const char *one, *list = "[3, 0, 0, 1";

    drawn("balanced", "");
    for (int c = 0; c < 3; c++)
        expect(c, 1. / 3, ROWS, "balanced");
    one = drawn("{0: 2.5, 2: 0}", "");
    expect(0, 20. / 28, ROWS, "weights of classes");
    expect(1, 8. / 28, ROWS, "one not named weighs 1");
    expect(2, 0, ROWS, "weight 0");
    same(drawn("{0: 2.5, 2: 0}", ", workers: 3"), one, "and three workers");
    drawn("label", "");
    expect(0, 0, ROWS, "a column");
    expect(1, 8. / 22, ROWS, "a column");
    expect(2, 14. / 22, ROWS, "a column");
    for (int i = 4; i < ROWS; i++)
        list = cr_strf(&conf_mem, "%s, 0", list);
    list = cr_strf(&conf_mem, "%s]", list);
    drawn(cr_strf(&conf_mem, "%s, num_samples: 40", list), "");
    expect(0, 1, 40, "a list, 40 samples of an epoch");
    ok(fabs(seen[0] - 12000.) < 5 * sqrt(16000 * .75 * .25), "three to one");
    /* the first of a draw without replacement has the weights' shares */
    drawn(cr_strf(&conf_mem, "%s, num_samples: 1, replacement: false", list),
          "");
    ok(fabs(seen[0] - 300.) < 5 * sqrt(400 * .75 * .25), "the first draw");
    one = drawn("balanced, replacement: false", "");
    ok(different(one) == ROWS, "without replacement all are there once");
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    data_write();
    orders();
    amounts();
    splits();
    folds();
    weighted();
    workers();
    cr_thread_pool_start(3);
    workers();
    bad_sample();
    interrupted();
    cr_thread_pool_stop();
    errors();
    unlink(cr_strf(&conf_mem, "%s/x.npy", folder));
    unlink(cr_strf(&conf_mem, "%s/y.npy", folder));
    rmdir(folder);
    cr_arena_free(&conf_mem);
    return done();
}
