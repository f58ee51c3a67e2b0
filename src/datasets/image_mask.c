/* ImageMaskDataset: a folder of images and one of masks (cellrun-formats(7)).
 *
 * An image and a mask are a sample if their paths below their folders are equal
 * but for the suffixes. Both are decoded when they are read, as the images of a
 * table are, so a column has the size of its first file. */
#include "base/gz.h"
#include "base/name_map.h"
#include "base/str.h"
#include "data/fingerprint.h"
#include "data/folder.h"
#include "data/image_file.h"

#include <inttypes.h>
#include <string.h>

#define DEPTH_MAX 32 /* of folders in folders */
#define WRONG_MAX                                             \
    10 /* reported samples, after which others are not looked \
          at */
#define LIST_MAX (1 << 28) /* bytes of a list of names */

enum {
    IMAGE,
    MASK,
    KINDS
};

struct image_mask {
    const char *dataset_dir, *images, *masks;
    const char *image_suffix, *mask_suffix;
    const char *names;
    int64_t num_samples;
    const struct cr_node *shuffle;
};

static const struct cr_opt image_mask_opts[] = {
    CR_STR(struct image_mask, dataset_dir,
           "Folder that contains both folders; relative to the config, then to "
           "the folders of CELLRUN_DATA."),
    CR_STR_DEFAULT(struct image_mask, images, "images",
                   "Folder of the images, in dataset_dir; folders in it are "
                   "read too."),
    CR_STR_DEFAULT(struct image_mask, masks, "masks",
                   "Folder of the masks, in dataset_dir. It may be that of the "
                   "images if mask_suffix tells them apart."),
    CR_STR_DEFAULT(struct image_mask, image_suffix, "",
                   "What the names of images have before .png or .jpg and "
                   "masks lack: _left for a_left.png. Other files are "
                   "ignored."),
    CR_STR_DEFAULT(struct image_mask, mask_suffix, "",
                   "The same of masks: _mask for a.jpg and a_mask.png."),
    CR_STR_OPTIONAL(struct image_mask, names,
                    "Text file in dataset_dir with the samples to use: on each "
                    "line the name of an image, such as a or a.jpg, with its "
                    "folder if it is in a folder of images; what follows a "
                    "space is ignored. Default: all images."),
    CR_INT_OPTIONAL(
        struct image_mask, num_samples, 1, CR_DIM_MAX,
        "Use only this many samples: the first ones or, if shuffled, "
        "a new random choice in each epoch."),
    CR_NODE(struct image_mask, shuffle,
            "Shuffle anew in each epoch. Default: true for training data, "
            "else false."),
    { 0 },
};

/* The files of one of the two folders. */
struct files {
    const char *dir;    /* the folder, and */
    const char *other;  /* the other one, which is not part of it */
    const char *suffix; /* of their names; and of others */
    const char * not ;  /* "": none */
    const char **path, **key;
    int n, cap;
    struct cr_name_map by_key;
    int64_t ignored; /* files of other kinds */
};

struct pair {
    const char *path[KINDS], *key;
};

struct pairs {
    struct cr_config *config;
    const struct image_mask *of;
    struct files files[KINDS];
    struct pair *pair;
    int n, wrong;
    struct cr_image_files_id id;
};

/* ---- names ---- */

/* The path below the folder without the suffixes; NULL: not a file to use. */
static const char *name_key(struct pairs *p, struct files *f, const char *below)
{
    size_t end = cr_folder_ends(&cr_folder_images, below), own;
    char *key;

    if (end == 0) {
        f->ignored++;
        return NULL;
    }
    key = cr_strndup(p->config->arena, below, strlen(below) - end);
    if (!cr_ends(key, f->suffix) || (*f->not &&cr_ends(key, f->not )))
        return NULL;
    own = strlen(f->suffix);
    key[strlen(key) - own] = '\0';
    return key;
}

static bool name_add(struct pairs *p, struct files *f, const char *path,
                     const char *key)
{
    int same = cr_name_map_get(&f->by_key, key);

    if (same >= 0)
        return cr_error(p->config->diag, cr_at_file(p->config->arena, path),
                        CR_E_DATA_FORMAT,
                        "'%s' has the same name without the suffix: expected "
                        "one file",
                        f->path[same]);
    if (f->n == f->cap) {
        int cap = f->cap > 0 ? 2 * f->cap : 256;
        const char **paths = CR_NEWS(p->config->arena, const char *, cap);
        const char **keys = CR_NEWS(p->config->arena, const char *, cap);

        if (f->n > 0) {
            memcpy(paths, f->path, (size_t)f->n * sizeof *paths);
            memcpy(keys, f->key, (size_t)f->n * sizeof *keys);
        }
        f->path = paths;
        f->key = keys;
        f->cap = cap;
    }
    cr_name_map_add(p->config->arena, &f->by_key, key, f->n);
    f->path[f->n] = path;
    f->key[f->n++] = key;
    return true;
}

/* Adds the files of a folder, `below` being its path below f->dir. */
static bool name_walk(struct pairs *p, struct files *f, const char *below,
                      int depth)
{
    struct cr_arena *arena = p->config->arena;
    const char *dir = *below ? cr_path_join(arena, f->dir, below) : f->dir;
    const char **names;
    int64_t n;

    if (depth > DEPTH_MAX)
        return cr_error(p->config->diag, cr_at_file(arena, dir), CR_E_DATA_READ,
                        "found folders more than %d deep", DEPTH_MAX);
    n = cr_folder_names(p->config, dir, &names);
    for (int64_t i = 0; i < n; i++) {
        const char *path = cr_path_join(arena, dir, names[i]);
        const char *next = cr_path_join(arena, below, names[i]), *key;
        int is = cr_folder_is_dir(p->config, dir, names[i]);

        if (is < 0)
            return false;
        if (is &&
            (strcmp(path, f->other) == 0 || name_walk(p, f, next, depth + 1)))
            continue;
        if (is)
            return false;
        key = name_key(p, f, next);
        if (key && !name_add(p, f, path, key))
            return false;
    }
    return n >= 0;
}

/* ---- pairs ---- */

/* The name of a mask that begins as the key does, to suggest its suffix. */
static const char *pair_like(const struct files *f, const char *key)
{
    size_t n = strlen(key);

    for (int i = 0; i < f->n; i++)
        if (strncmp(f->key[i], key, n) == 0 && !strchr(f->key[i] + n, '/'))
            return f->key[i];
    return NULL;
}

static bool pair_missing(struct pairs *p, struct cr_pos pos, const char *what,
                         const char *key, int kind)
{
    const struct files *f = &p->files[kind];
    const char *like = kind == MASK ? pair_like(f, key) : NULL;

    cr_error(p->config->diag, pos, CR_E_DATA_MISSING,
             "%s has no %s: found no %s%s.png%s in '%s'", what,
             kind == MASK ? "mask" : "image", key, f->suffix,
             kind == MASK ? "" : " or .jpg", f->dir);
    if (like)
        cr_hint(p->config->diag, "'%s' begins so: mask_suffix: %s%s",
                cr_path_base(f->path[cr_name_map_get(&f->by_key, like)]),
                like + strlen(key), f->suffix);
    else if (kind == MASK && !p->of->names)
        cr_hint(p->config->diag, "names: FILE lists the images to use");
    return false;
}

static bool pair_add(struct pairs *p, struct cr_pos pos, const char *what,
                     const char *key)
{
    struct pair *to = &p->pair[p->n];

    to->key = key;
    for (int k = 0; k < KINDS; k++) {
        int i = cr_name_map_get(&p->files[k].by_key, key);

        if (i < 0)
            return pair_missing(p, pos, what, key, k);
        to->path[k] = p->files[k].path[i];
        p->id.crc = cr_crc32(p->id.crc, key, strlen(key) + 1);
        if (!cr_image_file_add(&p->id, p->config->diag, CR_NOWHERE, to->path[k],
                               cr_path_base(to->path[k])))
            return false;
    }
    p->n++;
    return true;
}

static bool pair_stop(struct pairs *p)
{
    if (++p->wrong == WRONG_MAX)
        cr_note(p->config->diag, "cellrun stopped looking after %d errors",
                WRONG_MAX);
    return p->wrong == WRONG_MAX;
}

/* Every image has a mask; masks without an image are mentioned. */
static bool pair_all(struct pairs *p)
{
    const struct files *images = &p->files[IMAGE], *masks = &p->files[MASK];
    int alone = 0;
    const char *first = NULL;

    p->pair = CR_NEWS(p->config->arena, struct pair, images->n + 1);
    for (int i = 0; i < images->n; i++)
        if (!pair_add(p, cr_at_file(p->config->arena, images->path[i]),
                      "the image", images->key[i]) &&
            pair_stop(p))
            break;
    for (int i = 0; i < masks->n && p->wrong == 0; i++)
        if (cr_name_map_get(&images->by_key, masks->key[i]) < 0 && alone++ == 0)
            first = masks->path[i] + strlen(masks->dir) + 1;
    if (alone > 0)
        cr_warn(p->config->diag, cr_at_file(p->config->arena, masks->dir),
                CR_E_DATA_FORMAT,
                "%d mask%s ha%s no image and %s ignored: %s%s", alone,
                alone == 1 ? "" : "s", alone == 1 ? "s" : "ve",
                alone == 1 ? "is" : "are", first, alone > 1 ? " ..." : "");
    return p->wrong == 0;
}

/* The samples of a list of names. */
static bool pair_list(struct pairs *p, const char *path)
{
    struct cr_config *c = p->config;
    struct cr_source *src = CR_NEW(c->arena, struct cr_source);
    size_t len = 0, n, lines = 1;
    const char *text = cr_read_file(c->arena, c->diag, CR_NOWHERE, path,
                                    CR_E_DATA_READ, LIST_MAX, &len);
    struct cr_pos pos = { .src = src };

    if (!text)
        return false;
    src->name = path;
    if (strlen(text) < len)
        return cr_error(c->diag, cr_at_file(c->arena, path), CR_E_DATA_FORMAT,
                        "found a zero byte, expected a text of names");
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    p->pair = CR_NEWS(c->arena, struct pair, lines);
    for (const char *at = text + cr_bom(text, len); at < text + len;
         at += n + 1) {
        size_t word = strcspn(at, " \t\r\n"), end;
        char *key = cr_strndup(c->arena, at, word);

        n = strcspn(at, "\n");
        pos.line++;
        if (word == 0 || *key == '#')
            continue;
        end = cr_folder_ends(&cr_folder_images, key);
        key[word - end] = '\0';
        if (*p->files[IMAGE].suffix && cr_ends(key, p->files[IMAGE].suffix))
            key[word - end - strlen(p->files[IMAGE].suffix)] = '\0';
        if (!pair_add(
                p, pos,
                cr_strf(c->arena, "'%s'", cr_quote(c->arena, key, strlen(key))),
                key) &&
            pair_stop(p))
            break;
    }
    return p->wrong == 0;
}

/* ---- opening ---- */

static const char *pairs_image(const void *ctx, int64_t i)
{
    return ((const struct pairs *)ctx)->pair[i].path[IMAGE];
}

static const char *pairs_mask(const void *ctx, int64_t i)
{
    return ((const struct pairs *)ctx)->pair[i].path[MASK];
}

/* Whether a path stays in dataset_dir, which alone says what may be read. */
static bool pairs_below(struct cr_config *config, struct cr_pos pos,
                        const char *option, const char *path)
{
    const char *up = path ? strstr(path, "..") : NULL;

    while (up && !((up == path || up[-1] == '/') && (up[2] == '/' || !up[2])))
        up = strstr(up + 1, "..");
    if (!path || (!up && *path && *path != '/'))
        return true;
    cr_error(config->diag, pos, CR_E_OUT_OF_RANGE,
             "%s: found '%s', expected a path below dataset_dir", option,
             cr_quote(config->arena, path, strlen(path)));
    cr_hint(config->diag, "dataset_dir: a folder that contains both folders");
    return false;
}

/* A path without empty parts and ".", as folders are compared by their paths;
 * ".": no other part. */
static const char *pairs_plain(struct cr_arena *arena, const char *path)
{
    char *plain = cr_strdup(arena, path), *end = plain;
    size_t n;

    for (; *path; path += n + (path[n] == '/')) {
        n = strcspn(path, "/");
        if (n == 0 || (n == 1 && *path == '.'))
            continue;
        if (end > plain)
            *end++ = '/';
        memcpy(end, path, n);
        end += n;
    }
    *end = '\0';
    return end > plain ? plain : ".";
}

/* The path of one of the two folders; NULL after reporting. */
static const char *pairs_dir(struct pairs *p, const char *root,
                             const char *option, const char *name,
                             struct cr_pos pos)
{
    struct cr_config *c = p->config;
    struct cr_buf found = { .arena = c->arena };
    const char **names;
    int64_t n, shown = 0;

    name = pairs_plain(c->arena, name);
    if (strcmp(name, ".") == 0)
        return root;
    if (cr_folder_is_dir(c, root, name) > 0)
        return cr_path_join(c->arena, root, name);
    n = cr_folder_names(c, root, &names);
    for (int64_t i = 0; i < n && shown < 6; i++)
        if (cr_folder_is_dir(c, root, names[i]) > 0)
            cr_buf_f(&found, "%s%s", shown++ ? ", " : "", names[i]);
    if (n < 0)
        return NULL;
    cr_error(c->diag, pos, CR_E_DATA_MISSING, "%s: no folder '%s' in '%s'",
             option, name, root);
    if (shown > 0)
        cr_hint(c->diag, "it has the folders %s%s", cr_buf_text(&found),
                shown == 6 ? ", ..." : "");
    return NULL;
}

static bool pairs_walk(struct pairs *p, const char *root, struct cr_pos pos)
{
    const struct image_mask *o = p->of;
    struct files *f = p->files;
    bool one;

    f[IMAGE].dir = pairs_dir(p, root, "images", o->images, pos);
    f[MASK].dir = pairs_dir(p, root, "masks", o->masks, pos);
    if (!f[IMAGE].dir || !f[MASK].dir)
        return false;
    one = strcmp(f[IMAGE].dir, f[MASK].dir) == 0;
    for (int k = 0; k < KINDS; k++) {
        f[k].other = f[1 - k].dir;
        f[k].suffix = k == IMAGE ? o->image_suffix : o->mask_suffix;
        f[k].not = one ? k == IMAGE ? o->mask_suffix : o->image_suffix : "";
        /* of a.png and a_mask.png, the second is no image; a mask is a mask */
        if (cr_ends(f[k].suffix, f[k].not ))
            f[k].not = "";
    }
    return name_walk(p, &f[IMAGE], "", 0) && name_walk(p, &f[MASK], "", 0);
}

static bool pairs_find(struct pairs *p, const char *root, struct cr_pos pos)
{
    struct cr_config *c = p->config;
    const struct files *images = &p->files[IMAGE];

    if (!pairs_walk(p, root, pos))
        return false;
    if (images->n == 0)
        return cr_error(c->diag, pos, CR_E_DATA_EMPTY,
                        "no images in '%s': expected files NAME%s.png or .jpg",
                        images->dir, images->suffix);
    if (!(p->of->names
              ? pair_list(p, cr_path_join(c->arena, root, p->of->names))
              : pair_all(p)))
        return false;
    if (p->n == 0)
        return cr_error(
            c->diag,
            cr_at_file(c->arena, cr_path_join(c->arena, root, p->of->names)),
            CR_E_DATA_EMPTY, "the list has no names");
    if (images->ignored > 0)
        cr_warn(c->diag, pos, CR_E_DATA_FORMAT,
                "%" PRId64 " file%s in '%s' %s neither PNG nor JPEG and %s "
                "ignored",
                images->ignored, images->ignored == 1 ? "" : "s", images->dir,
                images->ignored == 1 ? "is" : "are",
                images->ignored == 1 ? "is" : "are");
    return true;
}

static bool pairs_open(struct cr_config *config, const void *opts,
                       struct cr_pos pos, struct cr_dataset *to)
{
    const struct image_mask *o = opts;
    const char *root = cr_config_path(config, CR_READ_DATA, o->dataset_dir);
    struct pairs *p = CR_NEW(config->arena, struct pairs);
    struct cr_diag *diag = cr_image_files_skipped(config) ? NULL : config->diag;

    if (!cr_config_may_path(config, CR_READ_DATA, o->dataset_dir) ||
        !pairs_below(config, pos, "images", o->images) ||
        !pairs_below(config, pos, "masks", o->masks) ||
        !pairs_below(config, pos, "names", o->names))
        return false;
    if (!root)
        return cr_config_path_missing(config, pos, "data set", o->dataset_dir);
    p->config = config;
    p->of = o;
    p->id.key = CR_HASH;
    if (!pairs_find(p, root, pos))
        return false;
    for (int i = 0; i < p->n; i++)
        if (!cr_fingerprint_among(diag, &to->contents, p->pair[i].path[IMAGE],
                                  i, p->n) ||
            !cr_fingerprint_among(diag, &to->contents, p->pair[i].path[MASK], i,
                                  p->n))
            return false;
    to->self = p;
    to->count = p->n;
    to->fingerprint = p->id.crc;
    to->cache_key = p->id.key | 1;
    to->columns = KINDS;
    to->column[IMAGE].name = "image";
    to->column[MASK].name = "label";
    to->varying_shapes = 1 << IMAGE | 1 << MASK;
    return cr_image_files_spec(config, pairs_image, p, p->n, false,
                               &to->column[IMAGE].spec) &&
           cr_image_files_spec(config, pairs_mask, p, p->n, true,
                               &to->column[MASK].spec);
}

/* ---- reading ---- */

/* A mask of another size would be of another image, or of a turned one. */
static bool pairs_same_size(struct cr_diag *diag, const struct pair *of,
                            const struct cr_spec *mask)
{
    struct cr_spec image;

    return cr_image_file_header(diag, of->path[IMAGE], false, &image) &&
           ((image.dim[0] == mask->dim[0] && image.dim[1] == mask->dim[1]) ||
            cr_error(diag, cr_at_file(diag->arena, of->path[MASK]),
                     CR_E_DATA_FORMAT,
                     "the mask has %" PRId64 " x %" PRId64
                     " pixels, its image %" PRId64 " x %" PRId64,
                     mask->dim[1], mask->dim[0], image.dim[1], image.dim[0]));
}

static const void *pairs_fetch(struct cr_dataset *set, struct cr_diag *diag,
                               struct cr_arena *mem, int64_t i, int column,
                               void *scratch, struct cr_spec *spec)
{
    const struct pair *of = &((const struct pairs *)set->self)->pair[i];
    const void *x = cr_image_file_fetch(
        diag, mem, of->path[column], &set->column[column].spec, scratch, spec);

    return x && column == MASK && !pairs_same_size(diag, of, spec) ? NULL : x;
}

static const char *pairs_file(const struct cr_dataset *set, int64_t i,
                              int column)
{
    return ((const struct pairs *)set->self)
        ->pair[i]
        .path[column < 0 ? IMAGE : column];
}

static void pairs_close(struct cr_dataset *set)
{
    set->self = NULL; /* no file stays open */
}

const struct cr_dataset_type cr_dataset_image_mask = {
    .about = {
        .name = "ImageMaskDataset",
        .summary = "Pairs of an image and a mask, for segmentation.",
        .detail = "Columns: image, uint8 (height, width, 3), and label, int32 "
                  "(height, width), as CrossEntropyLoss takes it. The mask of "
                  "images/a.jpg is masks/a.png: a PNG file with the class of "
                  "each pixel, its grey value or palette index; ValueIndex "
                  "in the datapipe maps other values, such as 0 and 255, to "
                  "classes. Every image "
                  "needs a mask of its size; predict takes images alone. "
                  "Images may differ in size if transforms make them equal, "
                  "and masks likewise; transforms with: image move a mask "
                  "with its image, and interpolation: NEAREST keeps its "
                  "classes. Pairs whose names do not match can be listed in a "
                  "CSVDataset with columns of type image and mask.",
        .example = "dataset:\n"
                   "  train: {ImageMaskDataset: {dataset_dir: pets/train}}\n"
                   "  eval: {ImageMaskDataset: {dataset_dir: pets/val}}\n"
                   "datapipe:\n"
                   "  image: [{Resize: {size: [64, 64]}}, "
                   "{RandomHorizontalFlip: {prob: 0.5}, only: train}, "
                   "HWC2CHW]\n"
                   "  label: [{Resize: {size: [64, 64], interpolation: "
                   "NEAREST}}, {RandomHorizontalFlip: {prob: 0.5}, only: "
                   "train, with: image}]\n"
                   "---\n"
                   "dataset:\n"
                   "  train:\n"
                   "    ImageMaskDataset:\n"
                   "      dataset_dir: streets\n"
                   "      images: left/train\n"
                   "      masks: fine/train\n"
                   "      image_suffix: _left\n"
                   "      mask_suffix: _fine_labelIds\n",
        .opts = image_mask_opts,
        .size = sizeof(struct image_mask),
    },
    .open = pairs_open,
    .fetch = pairs_fetch,
    .file = pairs_file,
    .close = pairs_close,
};
