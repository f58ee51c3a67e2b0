/* ImageFolderDataset: one folder per class (cellrun-formats(7)).
 *
 * Images are decoded when they are read, by the threads that fill batches,
 * and are always RGB. The column has the size of the first image, for which
 * the datapipe is planned; images of other sizes must become equal in the
 * transforms. */
#include "base/gz.h"
#include "base/str.h"
#include "data/array.h"
#include "data/fingerprint.h"
#include "data/folder.h"
#include "data/image_file.h"

#include <string.h>

struct image_folder {
    const char *dataset_dir;
    struct cr_strs extensions;
    const struct cr_node *class_indexing;
    bool decode;
    int64_t num_samples;
    const struct cr_node *shuffle;
};

static const struct cr_opt image_folder_opts[] = {
    CR_STR(struct image_folder, dataset_dir,
           "Folder with one subfolder of images per class; relative to the "
           "config, then to the folders of CELLRUN_DATA."),
    CR_STRS_OPTIONAL(struct image_folder, extensions,
                     "Suffixes of the files to read; upper and lower case are "
                     "equal. Default: .png, .jpg and .jpeg."),
    CR_NODE(struct image_folder, class_indexing,
            "Map of folders to class indices, {cat: 0, dog: 1}; other "
            "folders are ignored. Default: names sorted, from 0; evaluation "
            "and test data use the indices of the training data."),
    CR_BOOL_DEFAULT(struct image_folder, decode, true,
                    "Images are always decoded: false is an error, and the "
                    "transform Decode has no effect."),
    CR_INT_OPTIONAL(
        struct image_folder, num_samples, 1, CR_DIM_MAX,
        "Use only this many samples: the first ones or, if shuffled, "
        "a new random choice in each epoch."),
    CR_NODE(struct image_folder, shuffle,
            "Shuffle anew in each epoch. Default: true for training data, "
            "else false."),
    { 0 },
};

struct image {
    const char *path;
    int32_t label;
};

struct folder_set {
    struct cr_config *config;
    struct cr_strs extensions;
    struct image *image;
    int64_t n, cap;
    int64_t others; /* files without any of the extensions */
    struct cr_image_files_id id;
};

/* ---- the images of a class ---- */

static void folder_add(struct folder_set *f, const char *path, int32_t label)
{
    if (f->n == f->cap) {
        struct image *more = CR_NEWS(f->config->arena, struct image,
                                     f->cap > 0 ? 2 * f->cap : 256);

        if (f->n > 0)
            memcpy(more, f->image, (size_t)f->n * sizeof *more);
        f->cap = f->cap > 0 ? 2 * f->cap : 256;
        f->image = more;
    }
    f->image[f->n++] = (struct image){ path, label };
}

static bool folder_class(struct folder_set *f, const char *root,
                         const char *class, int32_t label)
{
    const char *path = cr_path_join(f->config->arena, root, class);
    const char **names;
    int64_t i, n = cr_folder_names(f->config, path, &names);

    for (i = 0; i < n; i++) {
        const char *file = cr_path_join(f->config->arena, path, names[i]);

        if (!cr_folder_ends(&f->extensions, names[i])) {
            f->others++;
            continue;
        }
        f->id.crc = cr_crc32(f->id.crc, class, strlen(class) + 1);
        if (!cr_image_file_add(&f->id, f->config->diag, CR_NOWHERE, file,
                               names[i]))
            return false;
        folder_add(f, file, label);
    }
    return n >= 0;
}

/* ---- classes ---- */

/* "ant, bee and 3 more" */
static const char *folder_list(struct cr_arena *arena,
                               const struct cr_strs *names)
{
    struct cr_buf b = { .arena = arena };
    int most = names->n > 6 ? 5 : names->n;

    for (int i = 0; i < most; i++)
        cr_buf_f(&b, "%s%s", i ? ", " : "", names->v[i]);
    if (names->n > most)
        cr_buf_f(&b, " and %d more", names->n - most);
    return cr_buf_text(&b);
}

/* Folders of evaluation or test data: class indices are those of the training
 * data, of which some may be absent. */
static bool folder_known(struct folder_set *f, const char *root,
                         struct cr_dataset *to)
{
    struct cr_config *c = f->config;
    const struct cr_strs *known = cr_config_classes(c);
    const char **names;
    int64_t i, n = cr_folder_names(c, root, &names);

    for (i = 0; i < n; i++) {
        int k = 0, is = cr_folder_is_dir(c, root, names[i]);

        if (is < 0)
            return false;
        if (!is)
            continue;
        while (k < known->n && strcmp(known->v[k], names[i]) != 0)
            k++;
        if (k == known->n) {
            cr_error(
                c->diag,
                cr_at_file(c->arena, cr_path_join(c->arena, root, names[i])),
                CR_E_DATA_RANGE,
                "'%s' is not one of the classes %s of the training data",
                names[i], folder_list(c->arena, known));
            cr_hint(c->diag, "use class_indexing to map folders to classes");
            return false;
        }
        if (!folder_class(f, root, names[i], k))
            return false;
    }
    to->classes = known->n;
    to->class_names = known->v;
    return n >= 0;
}

static bool folder_sorted(struct folder_set *f, const char *root,
                          struct cr_dataset *to)
{
    const char **names;
    int64_t i, n = cr_folder_names(f->config, root, &names);

    for (i = 0; i < n; i++) {
        int is = cr_folder_is_dir(f->config, root, names[i]);

        if (is < 0)
            return false;
        if (!is)
            continue;
        if (!folder_class(f, root, names[i], (int32_t)to->classes))
            return false;
        names[to->classes++] = names[i];
    }
    to->class_names = names;
    return n >= 0;
}

#define CLASSES_MAX 1000000

/* Folders in the order of the map; classes: the highest index plus 1. */
static bool folder_indexed(struct folder_set *f, const char *root,
                           const struct cr_node *map, struct cr_dataset *to)
{
    struct cr_config *c = f->config;
    const char **names;
    int64_t i;

    if (map->kind != CR_NODE_MAP || !map->child)
        return cr_error(c->diag, map->pos, CR_E_WRONG_TYPE,
                        "class_indexing: found %s, expected a map of folders "
                        "to indices",
                        cr_node_what(c->arena, map));
    for (CR_EACH(m, map)) {
        if (m->kind != CR_NODE_INT || m->integer < 0 ||
            m->integer >= CLASSES_MAX)
            return cr_error(c->diag, m->pos, CR_E_OUT_OF_RANGE,
                            "class_indexing: found %s, expected an index from "
                            "0 to 999999",
                            cr_node_what(c->arena, m));
        if (strcmp(m->key, "..") == 0 || strchr(m->key, '/') ||
            cr_folder_is_dir(c, root, m->key) <= 0)
            return cr_error(c->diag, m->key_pos, CR_E_DATA_MISSING,
                            "folder '%s/%s' not found", root, m->key);
        if (m->integer >= to->classes)
            to->classes = m->integer + 1;
        if (!folder_class(f, root, m->key, (int32_t)m->integer))
            return false;
    }
    names = CR_NEWS(c->arena, const char *, to->classes);
    for (CR_EACH(m, map))
        names[m->integer] = m->key;
    for (i = 0; i < to->classes; i++)
        if (!names[i])
            names[i] = cr_strf(c->arena, "%lld", (long long)i);
    to->class_names = names;
    return true;
}

/* ---- opening ---- */

static const char *folder_path(const void *ctx, int64_t i)
{
    return ((const struct folder_set *)ctx)->image[i].path;
}

static bool folder_open(struct cr_config *config, const void *opts,
                        struct cr_pos pos, struct cr_dataset *to)
{
    const struct image_folder *o = opts;
    const char *root = cr_config_path(config, CR_READ_DATA, o->dataset_dir);
    struct folder_set *f = CR_NEW(config->arena, struct folder_set);
    int64_t i;

    if (!o->decode)
        return cr_error(config->diag, pos, CR_E_OUT_OF_RANGE,
                        "decode: found false, expected true: images are "
                        "always decoded");
    if (!cr_config_may_path(config, CR_READ_DATA, o->dataset_dir))
        return false;
    if (!root)
        return cr_config_path_missing(config, pos, "data set", o->dataset_dir);
    f->config = config;
    f->id.key = CR_HASH;
    f->extensions = o->extensions.n > 0 ? o->extensions : cr_folder_images;
    if (!(o->class_indexing
              ? folder_indexed(f, root, o->class_indexing, to)
          : cr_config_classes(config)->n > 0
              ? folder_known(f, root, to)
              : folder_sorted(f, root, to)))
        return false;
    if (f->n == 0)
        return cr_error(config->diag, pos, CR_E_DATA_EMPTY,
                        "no images in '%s': expected one subfolder of images "
                        "per class",
                        root);
    if (f->others > 0)
        cr_warn(config->diag, pos, CR_E_DATA_FORMAT,
                "%lld file%s in '%s' ha%s suffixes not listed in extensions "
                "and %s ignored",
                (long long)f->others, f->others == 1 ? "" : "s", root,
                f->others == 1 ? "s" : "ve", f->others == 1 ? "is" : "are");
    to->self = f;
    to->count = f->n;
    to->fingerprint = f->id.crc;
    for (i = 0; i < f->n; i++)
        if (!cr_fingerprint_among(cr_image_files_skipped(config)
                                      ? NULL
                                      : config->diag,
                                  &to->contents, f->image[i].path, i, f->n))
            return false;
    to->cache_key = f->id.key | 1;
    to->columns = 2;
    to->column[0].name = "image";
    to->column[1].name = "label";
    to->column[1].spec = (struct cr_spec){ .type = CR_I32 };
    to->varying_shapes = 1;
    return cr_image_files_spec(config, folder_path, f, f->n, false,
                               &to->column[0].spec);
}

/* ---- reading ---- */

static const void *folder_fetch(struct cr_dataset *set, struct cr_diag *diag,
                                struct cr_arena *mem, int64_t i, int column,
                                void *scratch, struct cr_spec *spec)
{
    const struct folder_set *f = set->self;

    return cr_image_file_fetch(diag, mem, f->image[i].path,
                               &set->column[column].spec, scratch, spec);
}

static bool folder_read(struct cr_dataset *set, struct cr_diag *diag,
                        int64_t i, int column, void *to)
{
    const struct folder_set *f = set->self;

    (void)diag;
    (void)column; /* images are read by fetch */
    memcpy(to, &f->image[i].label, sizeof(int32_t));
    return true;
}

static const char *folder_file(const struct cr_dataset *set, int64_t i,
                               int column)
{
    (void)column; /* the label is that of the file, too */
    return ((const struct folder_set *)set->self)->image[i].path;
}

static void folder_close(struct cr_dataset *set)
{
    set->self = NULL; /* no file stays open */
}

const struct cr_dataset_type cr_dataset_image_folder = {
    .about = {
        .name = "ImageFolderDataset",
        .summary = "Images in one folder per class.",
        .detail = "Columns: image, uint8 (height, width, 3), and label, "
                  "int32. Reads PNG and JPEG; grey images become RGB. Images "
                  "may differ in size if a transform makes them equal: Resize "
                  "to a height and width, CenterCrop, RandomCrop or "
                  "RandomResizedCrop.",
        .example = "dataset:\n"
                   "  train: {ImageFolderDataset: {dataset_dir: "
                   "flowers/train}}\n",
        .opts = image_folder_opts,
        .size = sizeof(struct image_folder),
    },
    .open = folder_open,
    .read = folder_read,
    .fetch = folder_fetch,
    .file = folder_file,
    .close = folder_close,
};
