/*
 * Folders of images of several sizes: the ops make them equal as they would
 * each alone, with the same bytes for any number of workers, kept in memory
 * or not.
 */
#include "base/par.h"
#include "conf.h"
#include "data/column.h"
#include "data/format.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

#define IMAGES 14

static char folder[] = "/tmp/cellrun-t_images-XXXXXX";
static struct cr_diag diag;

static int64_t height(int i)
{
    return i % 3 == 0 ? 20 : 9 + i;
}

static int64_t width(int i)
{
    return i % 3 == 0 ? 24 : 31 - i;
}

static unsigned char pixel(int i, int64_t at)
{
    return (unsigned char)(at * 37 + at / 7 * i + 13 * i);
}

static const char *path_of(int i)
{
    return cr_strf(&conf_mem, "%s/set/%c/%02d.png", folder, "ab"[i % 2], i);
}

static void image_write(int i)
{
    struct cr_spec spec = { CR_U8, CR_PLAIN, 3, { height(i), width(i), 3 } };
    unsigned char *x = cr_alloc(&conf_mem, 1, cr_bytes(&spec));
    struct cr_buf file = { .arena = &conf_mem };
    int64_t k;

    for (k = 0; k < cr_count(&spec); k++)
        x[k] = pixel(i, k);
    if (!cr_format_find("png")->encode(&diag, &spec, x, &file) ||
        !cr_write_file(&diag, path_of(i), file.text, file.len))
        ok(false, "%s is written", path_of(i));
}

static struct cr_pipe *pipe_of(const char *ops, const char *more)
{
    struct cr_pipe_want want = { .split = "train", .train = true, .seed = 9 };
    struct cr_config *config;

    diag = (struct cr_diag){ .arena = &conf_mem };
    config = conf_load(&diag,
                       cr_strf(&conf_mem,
                               "dataset: {train: {ImageFolderDataset: "
                               "{dataset_dir: %s/set}}}\n"
                               "datapipe: {image: %s, batch: {batch_size: 3}"
                               "%s}\n", folder, ops, more), NULL);
    config->diag = &diag;
    return cr_pipe_open(config, &want);
}

/* A number for all bytes of two epochs, in order; 0 after an error. */
static uint64_t bytes_of(const char *ops, const char *more)
{
    struct cr_pipe *pipe = pipe_of(ops, more);
    const struct cr_column *column;
    const struct cr_batch *b;
    uint64_t hash = CR_HASH;
    int n, c, e;

    if (!pipe)
        return 0;
    column = cr_pipe_columns(pipe, &n);
    for (e = 0; e < 2; e++)
        while ((b = cr_pipe_next(pipe, &diag)))
            for (c = 0; c < n; c++)
                hash = cr_hash(hash, b->data[c],
                               (size_t)b->n * cr_bytes(&column[c].spec));
    cr_pipe_close(pipe);
    return diag.errors > 0 ? 0 : hash;
}

/* The place in the folder's order of the image of that number. */
static int number_of(int64_t sample)
{
    return sample < IMAGES / 2 ? 2 * (int)sample
                               : 2 * (int)(sample - IMAGES / 2) + 1;
}

/* What comes of image i if all images were like it. */
static const void *alone(const char *ops, int64_t sample, int64_t epoch)
{
    int i = number_of(sample);
    struct cr_spec in = { CR_U8, CR_PLAIN, 3, { height(i), width(i), 3 } };
    struct cr_config *config = conf_load(
        &diag, cr_strf(&conf_mem, "datapipe: {image: %s}\n", ops), NULL);
    struct cr_colpipe *c;
    unsigned char *x = cr_alloc(&conf_mem, 1, cr_bytes(&in));
    void *y;
    int64_t k;

    config->diag = &diag;
    c = cr_colpipe_make(config, "image",
                        cr_node_get(cr_section(config, "datapipe"), "image"),
                        &in, true, true, 9);
    for (k = 0; k < cr_count(&in); k++)
        x[k] = pixel(i, k);
    y = cr_alloc(&conf_mem, 1, cr_bytes(&c->out));
    cr_colpipe_run(c, &diag, epoch, sample, x, y,
                   cr_alloc(&conf_mem, 1, c->room + 64));
    return y;
}

static void each_alone(const char *ops)
{
    struct cr_pipe *pipe = pipe_of(ops, ", workers: 2");
    const struct cr_column *column;
    const struct cr_batch *b;
    int n, seen = 0, alike = 0;
    int64_t i;

    if (!ok(pipe, "%s", ops)) {
        printf("# %s\n", conf_messages(&diag));
        return;
    }
    column = cr_pipe_columns(pipe, &n);
    while ((b = cr_pipe_next(pipe, &diag)))
        for (i = 0; i < b->n; i++, seen++)
            alike += memcmp((char *)b->data[0] +
                                (size_t)i * cr_bytes(&column[0].spec),
                            alone(ops, b->samples[i], b->epoch),
                            cr_bytes(&column[0].spec)) == 0;
    if (!ok(seen == IMAGES && alike == IMAGES, "%d of %d are as alone", alike,
            seen))
        printf("# %s\n", conf_messages(&diag));
    cr_pipe_close(pipe);
}

static const char *const recipes[] = {
    "[{Resize: {size: [12, 10]}}]",
    "[Decode, {Resize: {size: [12, 10], interpolation: AREA}}, {Rescale: "
    "{rescale: 0.01, shift: 0.0}}, HWC2CHW]",
    "[{CenterCrop: {size: 8}}, {Rescale: {rescale: 0.01, shift: 0.0}}]",
    "[{RandomHorizontalFlip: {prob: 0.5}}, {RandomCrop: {size: 9, padding: "
    "2}}, {RandomVerticalFlip: {prob: 0.5}}, {Rescale: {rescale: 0.01, "
    "shift: 0.0}}, {Normalize: {mean: [1, 2, 3], std: [4, 5, 6]}}, HWC2CHW]",
    "[{RandomResizedCrop: {size: [7, 8]}}, {Rescale: {rescale: 0.01, shift: "
    "0.0}}, {Normalize: {mean: [1, 2, 3], std: [4, 5, 6]}}, HWC2CHW]",
    "[{Resize: {size: 16, interpolation: CUBIC}}, {RandomRotation: "
    "{degrees: 20}}, {CenterCrop: {size: 11}}, HWC2CHW]",
};

static void workers(const char *ops)
{
    static const char *const more[] = {
        ", workers: 0",
        ", workers: 1",
        ", workers: 2, cache: memory",
        ", workers: 4",
        ", workers: 0, cache: memory",
    };
    uint64_t first = 0, hash;
    size_t i;

    for (i = 0; i < CR_LEN(more); i++) {
        hash = bytes_of(ops, more[i]);
        first = i == 0 ? hash : first;
        if (!ok(hash && hash == first, "the same bytes with%s", more[i] + 1))
            printf("# %s\n", conf_messages(&diag));
    }
}

static void refuses(const char *ops, const char *says)
{
    int w;

    for (w = 0; w < 3; w += 2) {
        uint64_t hash =
            bytes_of(ops, cr_strf(&conf_mem, ", workers: %d", w));
        const char *got = conf_messages(&diag);

        if (!ok(!hash && strstr(got, says) && strstr(got, ".png: error") &&
                    cr_diag_exit(&diag) == 3,
                "%d workers: %s", w, says))
            printf("# %s\n", got);
    }
}

int main(void)
{
    size_t i;
    int k;

    diag.arena = &conf_mem;
    if (!mkdtemp(folder))
        return 1;
    mkdir(cr_strf(&conf_mem, "%s/set", folder), 0700);
    mkdir(cr_strf(&conf_mem, "%s/set/a", folder), 0700);
    mkdir(cr_strf(&conf_mem, "%s/set/b", folder), 0700);
    for (k = 0; k < IMAGES; k++)
        image_write(k);
    for (i = 0; i < CR_LEN(recipes); i++) {
        each_alone(recipes[i]);
        workers(recipes[i]);
    }
    cr_par_start(3);
    workers(recipes[3]);
    cr_par_stop();
    refuses("[HWC2CHW]", "a batch needs one shape");
    refuses("[{Resize: {size: 12}}, {Rescale: {rescale: 0.01, shift: 0.0}}]",
            "a batch needs one shape");
    refuses("[{RandomCrop: {size: [20, 20]}}]",
            "is smaller than size 20, 20");
    for (k = 0; k < IMAGES; k++)
        unlink(path_of(k));
    rmdir(cr_strf(&conf_mem, "%s/set/a", folder));
    rmdir(cr_strf(&conf_mem, "%s/set/b", folder));
    rmdir(cr_strf(&conf_mem, "%s/set", folder));
    rmdir(folder);
    cr_arena_free(&conf_mem);
    return done();
}
