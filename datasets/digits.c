/* digits: writes handwritten-looking digits as MNIST-format files, or as
 * folders of PNG images. Image i of a set depends only on (seed, set, i): a
 * shorter set is the beginning of a longer one.
 */
#include "draw_digit.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <png.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    TRAIN = 10000,
    TEST = 2000,
    COUNT_MAX = 1000000,
};

/* ---- The files ---------------------------------------------------------
 * IDX, big-endian: 0 0 TYPE DIMENSIONS, then the size of each dimension as
 * 32 bits, then the elements; TYPE 8 is unsigned bytes. Each file is packed
 * by gzip with no name and no time in its header. */
enum {
    TRAIN_IMAGES,
    TRAIN_LABELS,
    TEST_IMAGES,
    TEST_LABELS,
    FILES,
    PNG_IMAGES = FILES, /* a stream of random numbers, not a file */
    PART_NAME = 48,
};

static const char *const file_names[FILES] = {
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
};

/* The numbers of a set's files are those of its random streams too. */
struct set {
    const char *dir; /* where we are, for messages */
    int images, labels, count;
};

static bool complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("digits: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

static bool file_complain(const char *dir, int file)
{
    return complain("cannot write '%s/%s': %s", dir, file_names[file],
                    strerror(errno));
}

static unsigned char *put_u32(unsigned char *p, uint32_t v)
{
    for (int i = 24; i >= 0; i -= 8)
        *p++ = (unsigned char)(v >> i);
    return p;
}

static void *must_alloc(size_t size)
{
    void *p = malloc(size);

    if (!p) {
        complain("out of memory: %zu bytes", size);
        exit(1);
    }
    return p;
}

/* Packs into memory of the caller's to free. There is room for the result, so
 * only a lack of memory can go wrong. */
static unsigned char *gzip(const unsigned char *data, size_t size, size_t *got)
{
    z_stream z = { 0 };
    gz_header header = { .os = 255 }; /* unknown: the same byte everywhere */
    unsigned char *packed;
    size_t room;

    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        complain("out of memory");
        exit(1);
    }
    deflateSetHeader(&z, &header);
    room = deflateBound(&z, size);
    packed = must_alloc(room);
    z.next_in = (unsigned char *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = packed;
    z.avail_out = (uInt)room;
    deflate(&z, Z_FINISH);
    *got = room - z.avail_out;
    deflateEnd(&z);
    return packed;
}

static bool write_all(int fd, const unsigned char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
    return true;
}

/* The name a file has until all are written: none that a data set looks for. */
static void part_name(int file, char name[PART_NAME])
{
    snprintf(name, PART_NAME, ".digits-%ld-%d.part", (long)getpid(), file);
}

/* Writes a temporary file next to the final one, packed and synced. */
static bool file_stage(const char *dir, int file, const unsigned char *data,
                       size_t size)
{
    unsigned char *packed;
    size_t packed_size;
    char part[PART_NAME];
    bool ok = false;
    int fd;

    packed = gzip(data, size, &packed_size);
    part_name(file, part);
    fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd >= 0) {
        ok = write_all(fd, packed, packed_size) && fsync(fd) == 0;
        ok = close(fd) == 0 && ok;
    }
    free(packed);
    return ok || file_complain(dir, file);
}

/* Gives the staged files their names. The training images come last: who
 * finds them finds everything. */
static bool files_land(const char *dir)
{
    char part[PART_NAME];

    for (int i = FILES - 1; i >= 0; i--) {
        part_name(i, part);
        if (rename(part, file_names[i]) != 0)
            return file_complain(dir, i);
    }
    return true;
}

static void files_drop(void)
{
    char part[PART_NAME];

    for (int i = 0; i < FILES; i++) {
        part_name(i, part);
        unlink(part);
    }
}

/* The labels: each run of ten holds every digit once, in random order. */
static void labels_fill(const struct set *set, uint64_t seed,
                        unsigned char *label)
{
    for (int i = 0; i < set->count; i += CLASSES) {
        struct rng r = rng_at(seed, set->labels, i);
        unsigned char digit[CLASSES] = { 0 };

        for (int j = 0; j < CLASSES; j++) {
            int k = rng_below(&r, j + 1);

            digit[j] = digit[k];
            digit[k] = (unsigned char)j;
        }
        for (int j = 0; j < CLASSES && i + j < set->count; j++)
            label[i + j] = digit[j];
    }
}

static bool set_stage(const struct set *set, uint64_t seed)
{
    size_t count = (size_t)set->count;
    size_t label_size = 8 + count, image_size = 16 + count * PIXELS;
    unsigned char *labels = must_alloc(label_size);
    unsigned char *images = must_alloc(image_size);
    unsigned char *label = put_u32(put_u32(labels, 0x801), (uint32_t)count);
    unsigned char *image = put_u32(put_u32(images, 0x803), (uint32_t)count);
    bool ok;

    image = put_u32(put_u32(image, SIDE), SIDE);
    labels_fill(set, seed, label);
    for (int i = 0; i < set->count; i++) {
        struct rng r = rng_at(seed, set->images, i);

        digit_draw(label[i], &r, image + (size_t)i * PIXELS);
    }
    ok = file_stage(set->dir, set->labels, labels, label_size) &&
         file_stage(set->dir, set->images, images, image_size);
    free(images);
    free(labels);
    return ok;
}

/* Makes the renames last. Some file systems cannot sync a directory. */
static bool dir_sync(const char *dir)
{
    int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);

    if (fd >= 0)
        close(fd);
    return ok || complain("cannot sync '%s': %s", dir, strerror(errno));
}

/* All four files are written before the first is given its name: where the
 * room ends, an existing set stays complete. */
static bool digits_write(const char *dir, int train, int test, uint64_t seed)
{
    struct set train_set = { dir, TRAIN_IMAGES, TRAIN_LABELS, train };
    struct set test_set = { dir, TEST_IMAGES, TEST_LABELS, test };
    bool ok;

    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return complain("cannot make '%s': %s", dir, strerror(errno));
    if (chdir(dir) != 0)
        return complain("cannot enter '%s': %s", dir, strerror(errno));
    ok = set_stage(&test_set, seed) && set_stage(&train_set, seed) &&
         files_land(dir);
    if (!ok)
        files_drop();
    return ok && dir_sync(dir);
}

/* ---- Folders of PNG images ---------------------------------------------- */
/* Writes `each` images of every digit as DIR/DIGIT/NUMBER.png. They are those
 * of a stream of their own: none is in the sets above. */
static bool pngs_write(const char *dir, int each, uint64_t seed)
{
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = SIDE,
                        .height = SIDE,
                        .format = PNG_FORMAT_GRAY };
    unsigned char pixels[PIXELS];
    char path[4096];

    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return complain("cannot make '%s': %s", dir, strerror(errno));
    for (int i = 0; i < each * CLASSES; i++) {
        struct rng r = rng_at(seed, PNG_IMAGES, i);
        int digit = i % CLASSES, n;

        n = snprintf(path, sizeof path, "%s/%d", dir, digit);
        if (n < 0 || n > (int)sizeof path - 32)
            return complain("'%s' is too long", dir);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return complain("cannot make '%s': %s", path, strerror(errno));
        snprintf(path + n, 32, "/%04d.png", i / CLASSES);
        memset(pixels, 0, sizeof pixels);
        digit_draw(digit, &r, pixels);
        if (!png_image_write_to_file(&image, path, 0, pixels, SIDE, NULL))
            return complain("cannot write '%s': %s", path, image.message);
    }
    return true;
}

/* ---- The command line -------------------------------------------------- */
static const char usage[] =
    "usage: digits OUTDIR [--train N] [--test N] [--seed S]\n"
    "       digits OUTDIR --png N [--seed S]\n"
    "Draws handwritten-looking digits and writes them as MNIST files.\n"
    "  --train N  images for training, up to 1000000 [10000]\n"
    "  --test N   images for testing, up to 1000000 [2000]\n"
    "  --png N    write folders of N PNG images of each digit instead\n"
    "  --seed S   another seed, other digits [0]\n";

static bool parse(const char *option, const char *text, uint64_t max,
                  uint64_t *value)
{
    unsigned long long v;
    char *end;

    errno = 0;
    v = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || v > max)
        return complain("--%s: '%s' is not a whole number up to %llu", option,
                        text, (unsigned long long)max);
    *value = v;
    return true;
}

int main(int argc, char **argv)
{
    enum {
        OPT_TRAIN,
        OPT_TEST,
        OPT_SEED,
        OPT_PNG,
        OPTS
    };
    static const struct option options[] = {
        [OPT_TRAIN] = { "train", required_argument, NULL, OPT_TRAIN },
        [OPT_TEST] = { "test", required_argument, NULL, OPT_TEST },
        [OPT_SEED] = { "seed", required_argument, NULL, OPT_SEED },
        [OPT_PNG] = { "png", required_argument, NULL, OPT_PNG },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const uint64_t max[] = { COUNT_MAX, COUNT_MAX, UINT64_MAX,
                                    COUNT_MAX / CLASSES };
    uint64_t value[OPTS] = { TRAIN, TEST };
    bool ok = true;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return fflush(stdout) == 0 ? 0 : 1;
        }
        if (c >= OPTS || !parse(options[c].name, optarg, max[c], &value[c]))
            ok = false;
    }
    if (!ok || optind + 1 != argc) {
        fputs(usage, stderr);
        return 2;
    }
    ok = value[OPT_PNG]
             ? pngs_write(argv[optind], (int)value[OPT_PNG], value[OPT_SEED])
             : digits_write(argv[optind], (int)value[OPT_TRAIN],
                            (int)value[OPT_TEST], value[OPT_SEED]);
    return ok ? 0 : 1;
}
