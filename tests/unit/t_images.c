/*
 * Folders of images of several sizes: the ops make them equal as they would
 * each alone, with the same bytes for any number of workers, kept in memory,
 * on disk or not; what cannot be decoded is skipped on request.
 */
#include "base/thread_pool.h"
#include "conf.h"
#include "data/column_pipeline.h"
#include "data/format.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGES 14

static char folder[] = "/tmp/cellrun-t_images-XXXXXX";
static struct cr_diag diag;
static const char *on_error = "stop";

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
    struct cr_spec spec = {
        CR_U8, CR_ROW_MAJOR, 3, { height(i), width(i), 3 }
    };
    unsigned char *x = cr_alloc(&conf_mem, 1, cr_bytes(&spec));
    struct cr_buf file = { .arena = &conf_mem };
    int64_t k;

    for (k = 0; k < cr_count(&spec); k++)
        x[k] = pixel(i, k);
    if (!cr_format_find("png")->encode(&diag, &spec, x, &file) ||
        !cr_write_file(&diag, path_of(i), file.text, file.len))
        ok(false, "%s is written", path_of(i));
}

static struct cr_data_loader *loader_of(const char *ops, const char *more)
{
    struct cr_data_loader_opts want = { .split = "train",
                                        .train = true,
                                        .seed = 9 };
    struct cr_config *config;

    diag = (struct cr_diag){ .arena = &conf_mem };
    config = conf_load(&diag,
                       cr_strf(&conf_mem,
                               "dataset: {train: {ImageFolderDataset: "
                               "{dataset_dir: %s/set}}, on_error: %s}\n"
                               "datapipe: {image: %s, batch: {batch_size: 3}"
                               "%s}\n", folder, on_error, ops, more), NULL);
    config->diag = &diag;
    return cr_data_loader_open(config, &want);
}

/* A number for all bytes of two epochs, in order; 0 after an error. */
static uint64_t bytes_of(const char *ops, const char *more)
{
    struct cr_data_loader *loader = loader_of(ops, more);
    const struct cr_batch *b;
    uint64_t hash = CR_HASH;
    int c, e;

    if (!loader)
        return 0;
    for (e = 0; e < 2; e++)
        while ((b = cr_data_loader_next(loader, &diag)))
            for (c = 0; c < b->columns; c++)
                hash = cr_hash(hash, b->data[c],
                               (size_t)b->n * cr_bytes(&b->column[c].spec));
    cr_data_loader_close(loader);
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
    struct cr_spec in = { CR_U8, CR_ROW_MAJOR, 3, { height(i), width(i), 3 } };
    struct cr_config *config = conf_load(
        &diag, cr_strf(&conf_mem, "datapipe: {image: %s}\n", ops), NULL);
    struct cr_column_pipeline *c;
    unsigned char *x = cr_alloc(&conf_mem, 1, cr_bytes(&in));
    void *y;
    int64_t k;

    config->diag = &diag;
    c = cr_column_pipeline_make(
        config, "image", cr_node_get(cr_section(config, "datapipe"), "image"),
        &in, true, true, 9);
    for (k = 0; k < cr_count(&in); k++)
        x[k] = pixel(i, k);
    y = cr_alloc(&conf_mem, 1, cr_bytes(&c->out));
    cr_column_pipeline_run(c, &diag, epoch, sample, x, y,
                           cr_alloc(&conf_mem, 1, c->scratch_bytes + 64));
    return y;
}

static void each_alone(const char *ops)
{
    struct cr_data_loader *loader = loader_of(ops, ", workers: 2");
    const struct cr_column *column;
    const struct cr_batch *b;
    int n, seen = 0, alike = 0;
    int64_t i;

    test_begin("%s: a batch holds what each image alone gives", ops);
    if (!ok(loader, "%s", ops)) {
        printf("# %s\n", conf_messages(&diag));
        return;
    }
    column = cr_data_loader_columns(loader, &n);
    while ((b = cr_data_loader_next(loader, &diag)))
        for (i = 0; i < b->n; i++, seen++)
            alike += memcmp((char *)b->data[0] +
                                (size_t)i * cr_bytes(&column[0].spec),
                            alone(ops, b->samples[i], b->epoch),
                            cr_bytes(&column[0].spec)) == 0;
    if (!ok(seen == IMAGES && alike == IMAGES, "%d of %d are as alone", alike,
            seen))
        printf("# %s\n", conf_messages(&diag));
    cr_data_loader_close(loader);
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
        ", workers: 2, cache: disk",
        ", workers: 0, cache: disk",
    };
    uint64_t first = 0, hash;
    size_t i;

    test_begin("%s: workers and caches change no byte", ops);
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

/* ---- several sizes of batches ---- */

/* Each batch has one of three sizes, as if all images were resized to it. */
static void scales(void)
{
    static const char ops[] =
        "[{MultiScale: {sizes: [[12, 10], [8, 8], [5, 13]]}}, {Rescale: "
        "[0.01, 0.0]}, {Normalize: {mean: [1, 2, 3], std: [4, 5, 6]}}, "
        "HWC2CHW]";
    static const int sizes[3][2] = { { 12, 10 }, { 8, 8 }, { 5, 13 } };
    struct cr_data_loader *loader = loader_of(ops, ", workers: 2");
    const struct cr_batch *b;
    int seen[3] = { 0 }, alike = 0, rows = 0, e, n;
    int64_t i;

    if (!ok(loader && cr_data_loader_n_sizes(loader) == 3,
            "a data loader of three sizes")) {
        printf("# %s\n", conf_messages(&diag));
        return;
    }
    for (e = 0; e < 4; e++)
        while ((b = cr_data_loader_next(loader, &diag))) {
            const struct cr_spec *s = &b->column[0].spec;
            const int *size = sizes[b->size_index];

            seen[b->size_index]++;
            rows += (int)b->n;
            if (s->dim[0] != 3 || s->dim[1] != size[0] ||
                s->dim[2] != size[1])
                ok(false, "%s", cr_diag_format(&conf_mem, s));
            for (i = 0; i < b->n; i++)
                alike += memcmp(
                             (char *)b->data[0] + (size_t)i * cr_bytes(s),
                             alone(cr_strf(&conf_mem,
                                           "[{Resize: {size: [%d, %d]}}, "
                                           "{Rescale: [0.01, 0.0]}, "
                                           "{Normalize: {mean: [1, 2, 3], "
                                           "std: [4, 5, 6]}}, HWC2CHW]",
                                           size[0], size[1]),
                                   b->samples[i], b->epoch),
                             cr_bytes(s)) == 0;
        }
    ok(alike == rows && rows == 4 * IMAGES, "%d of %d are resized", alike,
       rows);
    ok(seen[0] > 2 && seen[1] > 2 && seen[2] > 2, "%d, %d and %d batches",
       seen[0], seen[1], seen[2]);
    cr_data_loader_close(loader);
    workers(ops);
    /* columns of labels have one shape; twice is too much */
    loader = loader_of("[{MultiScale: {sizes: [[4, 4], [5, 5]]}}, {MultiScale: "
                       "{sizes: [[4, 4], [5, 5]]}}]",
                       "");
    n = diag.errors;
    ok(!loader && n == 1 && strstr(conf_messages(&diag), "only one transform"),
       "two draws are refused");
}

/* ---- files that are no images ---- */

static void overwrite(const char *path, const char *text, size_t len)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(text, 1, len, f) != len || fclose(f) != 0)
        ok(false, "%s is written", path);
}

static int64_t samples_of(const char *ops)
{
    struct cr_data_loader *loader = loader_of(ops, "");
    int64_t n = loader ? cr_data_loader_samples(loader) : -1;

    cr_data_loader_close(loader);
    return n;
}

/* The first file of the folder has no header, others stop in the middle. */
static void damage(void)
{
    char text[60];
    FILE *f = fopen(path_of(5), "rb");

    ok(f && fread(text, 1, sizeof text, f) == sizeof text, "a file's start");
    fclose(f);
    overwrite(path_of(0), "GIF89a", 6);
    overwrite(path_of(5), text, sizeof text);
    overwrite(path_of(12), text, sizeof text);
}

static void skips_unreadable(void)
{
    static const char ops[] =
        "[{Resize: {size: [12, 10]}}, {Rescale: [0.5, 0.0]}]";
    static const int bad[] = { 0, 5, 12 };
    uint64_t without;
    const char *got;
    size_t i;

    damage();
    ok(!bytes_of(ops, "") && strstr(conf_messages(&diag), "a/00.png"),
       "stop reports the first");
    on_error = "skip";
    ok(samples_of(ops) == IMAGES - 3, "skip leaves 3 out");
    got = conf_messages(&diag);
    ok(strstr(got, "3 of 14 samples of dataset.train cannot be read") &&
           strstr(got, "first unreadable file") && diag.warnings == 1,
       "and counts them in one warning");
    workers(ops);
    workers(recipes[3]);
    on_error = "warn";
    ok(samples_of(ops) == IMAGES - 3, "warn does so too");
    got = conf_messages(&diag);
    ok(diag.warnings == 4 &&
           strstr(got, "a/00.png: warning: unknown file "
                       "format") &&
           strstr(got, "b/05.png") && strstr(got, "a/12.png"),
       "and names each");
    without = bytes_of(ops, ", workers: 0");
    for (i = 0; i < CR_LEN(bad); i++)
        unlink(path_of(bad[i]));
    on_error = "stop";
    ok(without && without == bytes_of(ops, ", workers: 0"),
       "skipped files have no effect");
    for (i = 0; i < CR_LEN(bad); i++)
        image_write(bad[i]);
}

/* ---- on disk ---- */

/* The one shelf there is; remove: none is left. */
static const char *cache_file(bool remove_it)
{
    const char *dir = cr_strf(&conf_mem, "%s/runs/.cache", folder);
    const char *path = NULL;
    struct dirent *e;
    DIR *d = opendir(dir);

    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.') {
            path = cr_strf(&conf_mem, "%s/%s", dir, e->d_name);
            if (remove_it)
                unlink(path);
        }
    if (d)
        closedir(d);
    return path;
}

static char *contents(const char *path, size_t *len)
{
    return cr_read_file(&conf_mem, &diag, CR_NOWHERE, path, CR_E_SYSTEM,
                        1 << 24, len);
}

static void on_disk(void)
{
    static const char ops[] = "[{Resize: {size: [12, 10]}}]";
    static const char disk[] = ", cache: disk, workers: 0";
    uint64_t want = bytes_of(ops, ""), wrong = 0;
    struct timespec times[2];
    struct stat st;
    char *image, *whole, *part;
    size_t len, n, i;

    cache_file(true);
    ok(bytes_of(ops, disk) == want && cache_file(false), "a shelf is made");
    /* the same name, size and time, other pixels: only the shelf knows */
    image = contents(path_of(3), &len);
    stat(path_of(3), &st);
    times[0] = times[1] = st.st_mtim;
    overwrite(path_of(3), cr_alloc(&conf_mem, 1, len), len);
    utimensat(AT_FDCWD, path_of(3), times, 0);
    ok(bytes_of(ops, disk) == want, "the shelf is what is read");
    overwrite(path_of(3), image, len);
    utimensat(AT_FDCWD, path_of(3), times, 0);
    whole = contents(cache_file(false), &n);
    part = cr_alloc(&conf_mem, 1, n);
    for (i = 0; i < n; i += i < n - 700 ? n / 47 + 1 : 13) {
        memcpy(part, whole, n);
        part[i] = (char)(part[i] ^ 0x10);
        overwrite(cache_file(false), part, n);
        wrong += bytes_of(ops, disk) != want;
        overwrite(cache_file(false), whole, i);
        wrong += bytes_of(ops, disk) != want;
    }
    overwrite(cache_file(false), whole, n);
    ok(wrong == 0, "a damaged shelf never shows: %llu times it did",
       (unsigned long long)wrong);
    image_write(3); /* which has another time now */
    ok(bytes_of(ops, disk) == want, "another time, another shelf");
    part = contents(cache_file(false), &i);
    ok(i == n && memcmp(part, whole, n) != 0 && cache_file(true) &&
           !cache_file(false),
       "in the place of the old one");
    setenv("CELLRUN_RUNS", "/dev/null", 1);
    ok(bytes_of(ops, disk) == want && diag.warnings == 1 &&
           strstr(conf_messages(&diag), "the disk cache cannot be written"),
       "where none can be made, a warning");
    on_error = "skip";
    ok(bytes_of(ops, disk) == want, "with on_error too");
    on_error = "stop";
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
    setenv("CELLRUN_RUNS", cr_strf(&conf_mem, "%s/runs", folder), 1);
    for (i = 0; i < CR_LEN(recipes); i++) {
        each_alone(recipes[i]);
        workers(recipes[i]);
    }
    cr_thread_pool_start(3);
    workers(recipes[3]);
    cr_thread_pool_stop();
    test_begin("images of other sizes are refused by any worker");
    refuses("[HWC2CHW]", "a batch needs one shape");
    refuses("[{Resize: {size: 12}}, {Rescale: {rescale: 0.01, shift: 0.0}}]",
            "a batch needs one shape");
    refuses("[{RandomCrop: {size: [20, 20]}}]",
            "is smaller than size 20, 20");
    test_end();
    scales();
    skips_unreadable();
    on_disk();
    for (k = 0; k < IMAGES; k++)
        unlink(path_of(k));
    rmdir(cr_strf(&conf_mem, "%s/set/a", folder));
    rmdir(cr_strf(&conf_mem, "%s/set/b", folder));
    rmdir(cr_strf(&conf_mem, "%s/set", folder));
    rmdir(cr_strf(&conf_mem, "%s/runs/.cache", folder));
    rmdir(cr_strf(&conf_mem, "%s/runs", folder));
    rmdir(folder);
    cr_arena_free(&conf_mem);
    return done();
}
