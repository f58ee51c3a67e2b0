/*
 * Random transforms: how often and where, over many samples; the same bytes
 * for any number of workers and for a data loader that begins in the middle;
 * what follows a crop and a flip is one table all the same.
 */
#include "base/thread_pool.h"
#include "conf.h"
#include "data/column_pipeline.h"
#include "data/npy.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/cellrun-t_augment-XXXXXX";

static struct cr_column_pipeline *ops_of(struct cr_diag *diag, const char *ops,
                                         const struct cr_spec *in, bool train,
                                         bool fuse)
{
    struct cr_config *config =
        conf_load(diag, cr_strf(&conf_mem, "datapipe: {x: %s}\n", ops), NULL);

    config->diag = diag;
    return cr_column_pipeline_make(
        config, "x", cr_node_get(cr_section(config, "datapipe"), "x"), in,
        train, fuse, 3);
}

/* Whether `n` of `all` is what a share p gives, within 4.5 deviations. */
static void share(int64_t n, int64_t all, double p, const char *what)
{
    double want = (double)all * p, dev = sqrt(want * (1 - p));

    ok(fabs((double)n - want) <= 4.5 * dev, "%s: %lld of %lld", what,
       (long long)n, (long long)all);
}

static void flips(void)
{
    static const struct cr_spec in = { CR_U8, CR_ROW_MAJOR, 3, { 2, 2, 1 } };
    static const char *const ops[] = {
        "[{RandomHorizontalFlip: {prob: 0.3}}]",
        "[{RandomVerticalFlip: {prob: 0.3}}]",
    };
    unsigned char x[4] = { 1, 2, 3, 4 }, y[4], room[4096];
    struct cr_diag diag = { .arena = &conf_mem };
    int k;

    for (k = 0; k < 2; k++) {
        struct cr_column_pipeline *c = ops_of(&diag, ops[k], &in, true, true);
        int64_t i, n = 0, moved = 0, last = -1;

        for (i = 0; i < 4000; i++) {
            cr_column_pipeline_run(c, &diag, i / 1000, i % 1000, x, y, room);
            n += y[0] != 1;
            moved += last >= 0 && (y[0] != 1) != (bool)last;
            last = y[0] != 1;
        }
        share(n, 4000, 0.3, ops[k]);
        share(moved, 3999, 0.42, "changes from one sample to the next");
    }
}

/* Windows of 3 out of 8: of numbers in a list of any length, and of rows. Each
 * of 6 places is as likely; the elements stay neighbours. */
static void truncations(void)
{
    static const struct cr_spec list = {
        CR_I32, CR_ROW_MAJOR, 1, { CR_DIM_RAGGED }
    };
    static const struct cr_spec rows = { CR_I32, CR_ROW_MAJOR, 2, { 8, 2 } };
    int32_t v[16], y[8];
    char room[4096];
    struct cr_ragged x = { v, 8 };
    struct cr_diag diag = { .arena = &conf_mem };
    int k;

    for (k = 0; k < 16; k++)
        v[k] = k;
    for (k = 0; k < 2; k++) {
        struct cr_column_pipeline *c =
            k == 0 ? ops_of(&diag,
                            "[{RandomTruncate: {max_seq_len: 3}}, {PadEnd: "
                            "{pad_shape: [4], pad_value: -1}}]",
                            &list, true, true)
                   : ops_of(&diag, "[{RandomTruncate: {max_seq_len: 3}}]",
                            &rows, true, true);
        int64_t count[6] = { 0 }, i, wrong = 0;
        int step = k + 1, j;
        double chi = 0;

        for (i = 0; i < 6000; i++) {
            cr_column_pipeline_run(c, &diag, i / 1000, i % 1000,
                                   k == 0 ? (const void *)&x : v, y, room);
            for (j = 1; j < 3; j++)
                wrong += y[j * step] != y[0] + j * step;
            wrong += k == 0 ? y[3] != -1 : y[1] != y[0] + 1;
            count[y[0] / step % 6]++;
        }
        ok(wrong == 0, "what is left are neighbours, then padding");
        for (i = 0; i < 6; i++)
            chi += (double)((count[i] - 1000) * (count[i] - 1000)) / 1000;
        ok(chi < 20.5, "6 places are as likely: chi squared %.1f", chi);
    }
    x.n = 2;
    cr_column_pipeline_run(
        ops_of(&diag,
               "[{RandomTruncate: {max_seq_len: 3}}, {PadEnd: "
               "{pad_shape: [4], pad_value: -1}}]",
               &list, true, true),
        &diag, 0, 0, &x, y, room);
    ok(y[0] == 0 && y[1] == 1 && y[2] == -1 && y[3] == -1,
       "a shorter list stays as it is, and is padded");
}

/* A 4 x 5 image whose pixels tell where they are, cropped to 2 x 2 with a
 * margin of 1: 5 by 6 places. */
static void crops(void)
{
    static const struct cr_spec in = { CR_U8, CR_ROW_MAJOR, 3, { 4, 5, 1 } };
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_column_pipeline *c =
        ops_of(&diag,
               "[{RandomCrop: {size: 2, padding: 1, fill_value: 99, "
               "padding_mode: EDGE}}]",
               &in, true, true);
    unsigned char x[20], y[4], room[4096];
    int64_t count[30] = { 0 }, i;
    double chi = 0;

    for (i = 0; i < 20; i++)
        x[i] = (unsigned char)i;
    for (i = 0; i < 6000; i++) {
        int64_t row, left;

        cr_column_pipeline_run(c, &diag, 0, i, x, y, room);
        /* the border again: two pixels of a row alike mean the margin */
        row = y[0] == y[2] ? (y[0] >= 15 ? 4 : 0) : y[0] / 5 + 1;
        left = y[0] == y[1] ? (y[0] % 5 == 4 ? 5 : 0) : y[0] % 5 + 1;
        count[row * 6 + left]++;
    }
    for (i = 0; i < 30; i++)
        chi += (double)((count[i] - 200) * (count[i] - 200)) / 200;
    /* 29 degrees of freedom: above 66 once in 10,000 seeds */
    ok(chi > 8 && chi < 66, "30 places are as likely: chi square %.1f", chi);
}

/* Every place of the corner of a 2 x 2 patch on a 4 x 5 image, hanging over
 * included: 7 by 8; and rectangles that are inside. */
static void patches(void)
{
    static const struct cr_spec in = { CR_U8, CR_ROW_MAJOR, 3, { 4, 5, 1 } };
    static const struct cr_spec chw = { CR_F32, CR_ROW_MAJOR, 3, { 1, 8, 9 } };
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_column_pipeline *c =
        ops_of(&diag, "[{CutOut: {length: 2}}]", &in, true, true);
    struct cr_column_pipeline *e = ops_of(
        &diag, "[{RandomErasing: {prob: 0.4, value: 2}}]", &chw, true, true);
    unsigned char x[20], y[20], room[8192];
    int64_t i, k, holes = 0, gone = 0, erased = 0, bad = 0;
    float f[72] = { 0 };
    cr_real g[72];

    memset(x, 1, sizeof x);
    for (i = 0; i < 5600; i++) {
        int64_t n = 20;

        cr_column_pipeline_run(c, &diag, 0, i, x, y, room);
        for (k = 0; k < 20; k++)
            n -= y[k];
        bad += n != 0 && n != 1 && n != 2 && n != 4;
        holes += n == 4;
        gone += n == 0;
    }
    ok(bad == 0, "patches have 0, 1, 2 or 4 pixels");
    share(holes, 5600, 12.0 / 56, "whole patches");
    share(gone, 5600, 26.0 / 56, "vanished patches");
    for (i = bad = 0; i < 2000; i++) {
        int64_t n = 0, columns[9] = { 0 }, wide = 0;

        cr_column_pipeline_run(e, &diag, 0, i, f, g, room);
        for (k = 0; k < 72; k++) {
            bool on = g[k] == 2;

            n += on;
            columns[k % 9] += on;
        }
        for (k = 0; k < 9; k++)
            wide += columns[k] > 0;
        erased += n > 0;
        for (k = 0; k < 9; k++)
            bad += columns[k] > 0 && columns[k] * wide != n;
        bad += n > 36 || wide == 9;
    }
    ok(bad == 0, "what is erased is a rectangle inside of the image");
    share(erased, 2000, 0.4, "RandomErasing");
}

static void colors(void)
{
    static const struct cr_spec in = { CR_U8, CR_ROW_MAJOR, 3, { 1, 2, 3 } };
    static const unsigned char x[6] = { 200, 0, 0, 90, 90, 90 };
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_column_pipeline *c = ops_of(
        &diag, "[{RandomColorAdjust: {hue: [0.335, 0.335]}}]", &in, true, true);
    unsigned char y[6], room[4096];
    int64_t i, low = 0, high = 0, sum = 0;

    cr_column_pipeline_run(c, &diag, 0, 0, x, y, room);
    ok(y[0] < 5 && y[1] == 200 && y[2] < 5 && y[3] == 90 && y[4] == 90 &&
           y[5] == 90,
       "a third of a turn makes red green and leaves gray: %d %d %d", y[0],
       y[1], y[2]);
    c = ops_of(&diag, "[{RandomColorAdjust: {brightness: 0.2}}]", &in, true,
               true);
    for (i = 0; i < 2000; i++) {
        cr_column_pipeline_run(c, &diag, 0, i, x, y, room);
        low += y[0] < 160;
        high += y[0] > 240;
        sum += y[0];
    }
    ok(low == 0 && high == 0 && llabs(sum - 400000) < 5000,
       "brightness 0.2 is from 0.8 to 1.2: mean %lld of 2000",
       (long long)sum);
}

/* A picture and its mask are cropped and flipped alike where the mask says
 * so, whatever other ops are between; without it each in its own way. */
static void pairs(void)
{
    static const struct cr_spec in = { CR_U8, CR_ROW_MAJOR, 3, { 6, 6, 1 } };
    static const char *const mask[] = {
        "[{RandomCrop: {size: 3}, with: x}, {RandomVerticalFlip: {prob: "
        "0.5}, with: x}]",
        "[{RandomCrop: {size: 3}}, {RandomVerticalFlip: {prob: 0.5}}]",
    };
    struct cr_diag diag = { .arena = &conf_mem };
    unsigned char x[36], a[9], b[9], room[4096];
    int64_t i, k, same;

    for (i = 0; i < 36; i++)
        x[i] = (unsigned char)i;
    for (k = 0; k < 2; k++) {
        struct cr_config *config = conf_load(
            &diag,
            cr_strf(&conf_mem,
                    "datapipe: {x: [{RandomCrop: {size: 3}}, {CutOut: {length: "
                    "1}}, {RandomVerticalFlip: {prob: 0.5}}], "
                    "y: %s}\n",
                    mask[k]),
            NULL);
        const struct cr_node *node;
        struct cr_column_pipeline *cx, *cy;

        config->diag = &diag;
        node = cr_section(config, "datapipe");
        cx = cr_column_pipeline_make(config, "x", cr_node_get(node, "x"), &in,
                                     true, true, 3);
        cy = cr_column_pipeline_make(config, "y", cr_node_get(node, "y"), &in,
                                     true, true, 3);
        for (i = same = 0; i < 400; i++) {
            int64_t q, equal = 0;

            cr_column_pipeline_run(cx, &diag, 0, i, x, a, room);
            cr_column_pipeline_run(cy, &diag, 0, i, x, b, room);
            for (q = 0; q < 9; q++)
                equal += a[q] == b[q];
            same += equal >= 8; /* the patch is black */
        }
        ok(k == 0 ? same == 400 : same < 60,
           "%s: %lld of 400 pairs are alike", k == 0 ? "with" : "without",
           (long long)same);
    }
}

/* prob omits a transform for some samples, of an image and its mask alike;
 * the transforms after it are one table all the same. */
static void sometimes(void)
{
    static const struct cr_spec in = { CR_U8, CR_ROW_MAJOR, 3, { 2, 2, 1 } };
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_config *config = conf_load(
        &diag,
        "datapipe:\n"
        "  x: [{GaussianBlur: {kernel_size: 3}, prob: 0.3}, {RandomPosterize: "
        "{bits: 1}, prob: 0.6}, {Rescale: {rescale: 3, shift: 0}}]\n"
        "  y: [{GaussianBlur: {kernel_size: 3}, prob: 0.3, with: x}]\n",
        NULL);
    static const unsigned char x[4] = { 0, 100, 100, 200 };
    const struct cr_node *node;
    struct cr_column_pipeline *cx, *cy;
    int64_t i, blurred = 0, coarse = 0, unlike = 0;
    unsigned char b[4], room[4096];
    cr_real a[4];

    config->diag = &diag;
    node = cr_section(config, "datapipe");
    cx = cr_column_pipeline_make(config, "x", cr_node_get(node, "x"), &in, true,
                                 true, 3);
    cy = cr_column_pipeline_make(config, "y", cr_node_get(node, "y"), &in, true,
                                 true, 3);
    ok(cx->fused && cx->first == 2, "Rescale is a table");
    for (i = 0; i < 2000; i++) {
        bool blur, one;

        cr_column_pipeline_run(cx, &diag, 0, i, x, a, room);
        cr_column_pipeline_run(cy, &diag, 0, i, x, b, room);
        one = a[3] == 384 || a[3] == 0; /* one bit: 128 or 0 */
        blur = one ? a[3] == 0 : a[0] > 0;
        coarse += one;
        blurred += blur;
        unlike += blur != (b[0] > 0);
    }
    ok(llabs(blurred - 600) < 80, "prob 0.3: %lld of 2000", (long long)blurred);
    ok(llabs(coarse - 1200) < 90, "prob 0.6: %lld of 2000", (long long)coarse);
    ok(unlike == 0, "with: %lld samples differ", (long long)unlike);
}

/* Half a turn of an image that is wider than a block of columns is its mirror
 * image in both directions, by both interpolations. */
static void turned(void)
{
    static const struct cr_spec in = { CR_U8, CR_ROW_MAJOR, 3, { 3, 700, 3 } };
    static const char *const by[] = { "NEAREST", "LINEAR" };
    static unsigned char x[6300], y[6300], room[65536];
    struct cr_diag diag = { .arena = &conf_mem };
    int64_t i, k, n = 2100, unlike;

    for (i = 0; i < 3 * n; i++)
        x[i] = (unsigned char)(i * 37 % 251);
    for (k = 0; k < 2; k++) {
        cr_column_pipeline_run(
            ops_of(&diag,
                   cr_strf(&conf_mem,
                           "[{RandomRotation: {degrees: [180, 180], resample: "
                           "%s}}]",
                           by[k]),
                   &in, true, true),
            &diag, 0, 0, x, y, room);
        for (i = unlike = 0; i < n; i++)
            unlike += memcmp(y + 3 * i, x + 3 * (n - 1 - i), 3) != 0;
        ok(unlike == 0, "half a turn by %s: %lld pixels differ", by[k],
           (long long)unlike);
    }
}

/* NEAREST takes pixels as they are: those of a 40 x 30 picture tell which
 * window was taken. */
static void windows(void)
{
    static const struct cr_spec in = { CR_F32, CR_ROW_MAJOR, 3, { 40, 30, 2 } };
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_column_pipeline *c =
        ops_of(&diag,
               "[{RandomResizedCrop: {size: [64, 64], scale: [0.2, "
               "0.5], ratio: [0.5, 1.5], interpolation: NEAREST}}]",
               &in, true, true);
    float x[40][30][2];
    cr_real y[64][64][2];
    void *room = malloc(c->scratch_bytes);
    int64_t i, k, bad = 0, small = 0, tall = 0, left = 0;

    for (i = 0; i < 40; i++)
        for (k = 0; k < 30; k++) {
            x[i][k][0] = (float)i;
            x[i][k][1] = (float)k;
        }
    for (i = 0; i < 2000; i++) {
        double h, w;

        cr_column_pipeline_run(c, &diag, 0, i, x, y, room);
        h = (double)(y[63][63][0] - y[0][0][0]) + 1;
        w = (double)(y[63][63][1] - y[0][0][1]) + 1;
        bad += h * w < 0.2 * 1200 - 30 || h * w > 0.5 * 1200 + 30;
        bad += w / h < 0.45 || w / h > 1.65; /* rounding */
        small += h * w < 0.35 * 1200;
        tall += log(w / h) < 0.5 * (log(0.5) + log(1.5));
        left += (double)y[0][0][1] < (30 - w) / 2;
    }
    ok(bad == 0, "windows keep to area and proportion: %lld do not",
       (long long)bad);
    /* a little off a half: what does not fit is drawn again */
    ok(small > 900 && small < 1250 && tall > 850 && tall < 1250 &&
           left > 850 && left < 1150,
       "area %lld, proportion %lld and place %lld of 2000 below the middle",
       (long long)small, (long long)tall, (long long)left);
    free(room);
}

static const char RECIPE[] =
    "[{RandomCrop: {size: 6, padding: 2}, only: train}, "
    "{RandomHorizontalFlip: {prob: 0.5}, only: train}, "
    "{Rescale: {rescale: $(1/255), shift: 0.0}}, "
    "{Normalize: {mean: [0.5, 0.4, 0.3], std: [0.2, 0.3, 0.4]}}, HWC2CHW]";

static void fused_tail(void)
{
    static const struct cr_spec in = { CR_U8, CR_ROW_MAJOR, 3, { 6, 6, 3 } };
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_column_pipeline *c[2] = { ops_of(&diag, RECIPE, &in, true, false),
                                        ops_of(&diag, RECIPE, &in, true,
                                               true) };
    struct cr_column_pipeline *eval = ops_of(&diag, RECIPE, &in, false, true);
    unsigned char x[108], room[8192];
    cr_real y[2][108];
    int64_t i, bad = 0;

    for (i = 0; i < 108; i++)
        x[i] = (unsigned char)(i * 29 + 3);
    ok(!c[0]->fused && c[1]->fused && c[1]->first == 2 && c[1]->classes == 3,
       "what follows crop and flip is fused");
    ok(eval->n == 3 && eval->fused && eval->first == 0,
       "and all of it where they are only for training");
    for (i = 0; i < 50; i++) {
        cr_column_pipeline_run(c[0], &diag, 2, i, x, y[0], room);
        cr_column_pipeline_run(c[1], &diag, 2, i, x, y[1], room);
        bad += memcmp(y[0], y[1], sizeof y[0]) != 0;
    }
    ok(bad == 0, "the same bytes with and without the table");
}

static void array_write(const char *name, const struct cr_spec *spec,
                        const void *data)
{
    struct cr_buf buf = { .arena = &conf_mem };
    struct cr_diag diag = { .arena = &conf_mem };

    cr_npy_header(&buf, spec);
    cr_buf_add(&buf, data, cr_bytes(spec));
    ok(cr_write_file(&diag, cr_strf(&conf_mem, "%s/%s", folder, name),
                     buf.text, buf.len), "%s is written", name);
}

#define ROWS 23

static void data_write(void)
{
    struct cr_spec x = { CR_U8, CR_ROW_MAJOR, 4, { ROWS, 6, 6, 3 } };
    struct cr_spec y = { CR_I32, CR_ROW_MAJOR, 1, { ROWS } };
    unsigned char v[ROWS * 108];
    int32_t label[ROWS];
    int i;

    for (i = 0; i < ROWS * 108; i++)
        v[i] = (unsigned char)(i * 29 + i / 108);
    for (i = 0; i < ROWS; i++)
        label[i] = i % 3;
    array_write("x.npy", &x, v);
    array_write("y.npy", &y, label);
}

static const char *config_of(const char *more)
{
    return cr_strf(&conf_mem,
                   "dataset:\n  train: {NumpySlicesDataset: {data: [%s/x.npy, "
                   "%s/y.npy], column_names: [image, label]}}\n"
                   "datapipe:\n  batch: {batch_size: 4}\n%s",
                   folder, folder, more);
}

/* Fletcher's sums over all batches from batch `from` of epoch 0 to the end of
 * epoch 1. */
static uint64_t bytes_of(const char *text, int64_t from)
{
    struct cr_data_loader_opts want = { .split = "train",
                                        .train = true,
                                        .seed = 5 };
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_config *config = conf_load(&diag, text, NULL);
    const struct cr_column *column;
    const struct cr_batch *b;
    struct cr_data_loader *loader;
    uint64_t low = 1, high = 0;
    int n, c, epoch;
    size_t i;

    config->diag = &diag;
    loader = diag.errors == 0 ? cr_data_loader_open(config, &want) : NULL;
    if (!loader) {
        ok(false, "the data loader opens");
        printf("# %s\n", conf_messages(&diag));
        return 0;
    }
    column = cr_data_loader_columns(loader, &n);
    cr_data_loader_seek(loader, from / 6, from % 6);
    for (epoch = (int)(from / 6); epoch < 2; epoch++)
        while ((b = cr_data_loader_next(loader, &diag)))
            for (c = 0; c < n; c++)
                for (i = 0; i < (size_t)b->n * cr_bytes(&column[c].spec);
                     i++) {
                    low += ((const unsigned char *)b->data[c])[i] + 1u;
                    high += low * 31;
                }
    cr_data_loader_close(loader);
    if (diag.errors > 0 && !ok(false, "no error on the way"))
        printf("# %s\n", conf_messages(&diag));
    return low ^ high << 20;
}

static const char MIXED[] =
    "  label: [{OneHot: {num_classes: 3}}, {TypeCast: {data_type: "
    "float32}}]\n"
    "  image: [{Rescale: {rescale: 1.0, shift: 0.0}}, HWC2CHW, ";

static void same_bytes(const char *name, const char *datapipe)
{
    static const int counts[] = { 0, 1, 2, 4 };
    uint64_t whole = 0, part = 0;
    size_t i;

    for (i = 0; i < CR_LEN(counts); i++) {
        const char *text = config_of(cr_strf(
            &conf_mem, "  workers: %d\n%s", counts[i], datapipe));
        uint64_t all = bytes_of(text, 0), late = bytes_of(text, 4);

        if (i == 0) {
            whole = all;
            part = late;
        }
        ok(all == whole && all != late && late == part,
           "%s: %d workers give the same bytes, from the middle too", name,
           counts[i]);
    }
}

/* Labels mixed by MixUpBatch are rows that add up to 1 with two classes at
 * most; with alpha 1 the share is uniform. */
static void mixes(const char *op, double low, double high)
{
    struct cr_data_loader_opts want = { .split = "train",
                                        .train = true,
                                        .seed = 5 };
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_config *config = conf_load(
        &diag, config_of(cr_strf(&conf_mem, "%s%s]\n", MIXED, op)), NULL);
    double sum = 0, bad = 0;
    const struct cr_batch *b;
    struct cr_data_loader *loader;
    int64_t n = 0, i;
    int epoch;

    config->diag = &diag;
    loader = cr_data_loader_open(config, &want);
    for (epoch = 0; loader && epoch < 100; epoch++)
        while ((b = cr_data_loader_next(loader, &diag)))
            for (i = 0; i < b->n; i++, n++) {
                const cr_real *l = (const cr_real *)b->data[1] + 3 * i;
                int own = (int)(b->samples[i] % 3), k, others = 0;

                for (k = 0; k < 3; k++)
                    others += k != own && l[k] > 0;
                bad += fabs((double)(l[0] + l[1] + l[2]) - 1) > 1e-6 ||
                       others > 1;
                sum += (double)l[own];
            }
    ok(loader && n == 100 * ROWS && bad == 0, "%s: labels are shares", op);
    sum /= (double)n;
    ok(sum > low && sum < high, "%s: a sample keeps %.3f of itself", op, sum);
    cr_data_loader_close(loader);
}

static void errors(void)
{
    static const char *const bad[][2] = {
        { "  label: [{OneHot: {num_classes: 3}}]\n"
          "  image: [{Rescale: [1, 0]}, MixUpBatch]\n",
          "add OneHot and TypeCast" },
        { "  image: [MixUpBatch]\n", "expected real numbers" },
        { "  image: [{Rescale: [1, 0]}, MixUpBatch, HWC2CHW]\n",
          "must be the last transform" },
    };
    struct cr_data_loader_opts want = { .split = "train",
                                        .train = true,
                                        .seed = 5 };
    size_t i;

    test_begin("errors are reported");
    for (i = 0; i < CR_LEN(bad); i++) {
        struct cr_diag diag = { .arena = &conf_mem };
        struct cr_config *config =
            conf_load(&diag, config_of(bad[i][0]), NULL);

        config->diag = &diag;
        ok(!cr_data_loader_open(config, &want) &&
               strstr(conf_messages(&diag), bad[i][1]),
           "%s", bad[i][1]);
    }
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    data_write();
    flips();
    crops();
    test_begin("random truncation of lists and rows");
    truncations();
    patches();
    colors();
    pairs();
    sometimes();
    turned();
    windows();
    fused_tail();
    cr_thread_pool_start(3);
    same_bytes("crop and flip", cr_strf(&conf_mem, "  image: %s\n", RECIPE));
    same_bytes("MixUpBatch",
               cr_strf(&conf_mem, "%s{MixUpBatch: {alpha: 0.4}}]\n", MIXED));
    same_bytes("CutMixBatch",
               cr_strf(&conf_mem, "%s{CutMixBatch: {image_batch_format: "
                                  "NCHW}}]\n", MIXED));
    cr_thread_pool_stop();
    /* partners of the same class leave a label as it is: 1/4 to 1/2 more */
    mixes("{MixUpBatch: {alpha: 1.0}}", 0.60, 0.80);
    mixes("{MixUpBatch: {alpha: 0.01}}", 0.55, 0.85);
    mixes("{CutMixBatch: {image_batch_format: NCHW, prob: 0.0}}", 0.999,
          1.001);
    mixes("{CutMixBatch: {image_batch_format: NCHW}}", 0.70, 0.95);
    errors();
    unlink(cr_strf(&conf_mem, "%s/x.npy", folder));
    unlink(cr_strf(&conf_mem, "%s/y.npy", folder));
    rmdir(folder);
    cr_arena_free(&conf_mem);
    return done();
}
