/* MnistDataset: MNIST and data sets in files of the same names, whose choice
 * cellrun-formats(7) describes under IDX. */
#include "base/str.h"
#include "data/array.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct mnist {
    const char *dataset_dir;
    int usage;
    int64_t num_samples;
    const struct cr_node *shuffle;
};

enum { TRAIN, TEST, ALL };

static const struct cr_opt mnist_opts[] = {
    CR_STR(struct mnist, dataset_dir,
           "Folder of the four files; relative to the config, then to the "
           "folders of CELLRUN_DATA."),
    CR_ENUM_DEFAULT(struct mnist, usage, ALL, "train|test|all",
                    "Files to read."),
    CR_INT_OPTIONAL(
        struct mnist, num_samples, 1, CR_DIM_MAX,
        "Use only this many samples: the first ones or, if shuffled, "
        "a new random choice in each epoch."),
    CR_NODE(struct mnist, shuffle,
            "Shuffle anew in each epoch. Default: true for training data, "
            "else false."),
    { 0 },
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#define FILES_MAX 64

/* The files for a usage whose names contain `what` and `kind`, sorted by name;
 * returns their number, at most FILES_MAX. */
static int mnist_files(struct cr_arena *arena, DIR *dir, const char *path,
                       int usage, const char *what, const char *kind,
                       const char **names)
{
    const char *start = usage == TRAIN ? "train-" : usage == TEST ? "t10k-"
                                                                  : "";
    struct dirent *entry;
    int n = 0;

    rewinddir(dir);
    while ((entry = readdir(dir)) && n < FILES_MAX)
        if (entry->d_name[0] != '.' && cr_starts(entry->d_name, start) &&
            strstr(entry->d_name, what) && strstr(entry->d_name, kind))
            names[n++] = cr_path_join(arena, path, entry->d_name);
    qsort(names, (size_t)n, sizeof *names, by_name);
    return n;
}

/* Drops NAME.gz where NAME is in the sorted list too; returns the number of
 * names that remain. */
static int mnist_unique(const char **names, int n)
{
    int i, k = 0;

    for (i = 0; i < n; i++)
        if (k == 0 || strncmp(names[k - 1], names[i],
                              strlen(names[k - 1])) != 0 ||
            strcmp(names[i] + strlen(names[k - 1]), ".gz") != 0)
            names[k++] = names[i];
    return k;
}

static bool mnist_missing(struct cr_config *config, struct cr_pos pos,
                          const char *dir, const char *found)
{
    if (found)
        cr_error(config->diag, pos, CR_E_DATA_MISSING,
                 "the files of MNIST were not found in folder '%s' (%s)", found,
                 "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-...");
    else
        cr_config_path_missing(config, pos, "data set", dir);
    cr_note(config->diag,
            "   cellrun data fetch mnist -o %s   fetches MNIST; `make` "
            "creates datasets/digits",
            dir);
    return false;
}

static bool mnist_open(struct cr_config *config, const void *opts,
                       struct cr_pos pos, struct cr_dataset *to)
{
    static const char *const names[] = { "image", "label" };
    const struct mnist *o = opts;
    const char *path = cr_config_path(config, CR_READ_DATA, o->dataset_dir);
    const char *images[FILES_MAX], *labels[FILES_MAX];
    struct cr_array_file files[2 * FILES_MAX];
    struct cr_spec *image = &to->column[0].spec;
    int n, m, i;
    DIR *dir;

    if (!cr_config_may_path(config, CR_READ_DATA, o->dataset_dir))
        return false;
    dir = path ? opendir(path) : NULL;
    if (!dir && path)
        return cr_error(config->diag, cr_at_file(config->arena, path),
                        CR_E_DATA_READ, "cannot read the folder: %s",
                        strerror(errno));
    if (!dir)
        return mnist_missing(config, pos, o->dataset_dir, NULL);
    n = mnist_files(config->arena, dir, path, o->usage, "-images",
                    "idx3-ubyte", images);
    m = mnist_files(config->arena, dir, path, o->usage, "-labels",
                    "idx1-ubyte", labels);
    closedir(dir);
    n = mnist_unique(images, n);
    m = mnist_unique(labels, m);
    if (n == 0 || n != m)
        return mnist_missing(config, pos, o->dataset_dir, path);
    for (i = 0; i < n; i++) {
        files[2 * i] = (struct cr_array_file){ 0, images[i] };
        files[2 * i + 1] = (struct cr_array_file){ 1, labels[i] };
    }
    if (!cr_arrays_open(config, pos, files, 2 * n, names, 2, to))
        return false;
    if (image->type != CR_U8 || image->rank != 2 || image->dim[0] != 28 ||
        image->dim[1] != 28 || to->column[1].spec.rank != 0 ||
        to->column[1].spec.type != CR_U8)
        return cr_error(config->diag, cr_at_file(config->arena, images[0]),
                        CR_E_DATA_FORMAT,
                        "found images %s, expected uint8 (28, 28) with one "
                        "uint8 label each; IdxDataset reads any sizes",
                        cr_diag_format(config->arena, image));
    image->rank = 3;
    image->dim[2] = 1;
    to->column[1].spec.type = CR_U32;
    to->classes = 10;
    return true;
}

/* MindSpore's labels are uint32. */
static bool mnist_read(struct cr_dataset *set, struct cr_diag *diag,
                       int64_t i, int column, void *to)
{
    uint32_t label;

    if (column == 0)
        return cr_arrays_read(set, diag, i, column, to);
    label = *(const unsigned char *)cr_arrays_at(set, i, 1);
    memcpy(to, &label, sizeof label);
    return true;
}

static const void *mnist_at(struct cr_dataset *set, int64_t i, int column)
{
    return column == 0 ? cr_arrays_at(set, i, column) : NULL;
}

const struct cr_dataset_type cr_dataset_mnist = {
    .about = {
        .name = "MnistDataset",
        .summary = "MNIST, and data sets in the same files.",
        .detail = "Columns: image, uint8 (28, 28, 1), and label, uint32. "
                  "Files have the names of MNIST, plain or gzip.",
        .example = "dataset:\n"
                   "  train: {MnistDataset: {dataset_dir: mnist, usage: "
                   "train}}\n",
        .opts = mnist_opts,
        .size = sizeof(struct mnist),
    },
    .open = mnist_open,
    .load = cr_arrays_load,
    .read = mnist_read,
    .at = mnist_at,
    .close = cr_arrays_close,
};
