/* init --from-folder: a config for folders of images, one per class. */
#include "starter/starter.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "data/format.h"

#define SIZES_READ 200 /* number of images whose size is read, evenly spread */
#define SIDE_MOST 96   /* pixels; larger images are resized to SIDE_TO */
#define SIDE_TO 64

struct images {
    struct cr_starter *s;
    const char *dir, *train, *eval; /* eval NULL: a fraction of train */
    struct cr_starter_facts of;
    int64_t h, w;               /* of the first image */
    int64_t looked, gray;       /* number of images read, without colour */
    bool several;               /* the images differ in size */
    int64_t unread;             /* number of images that cannot be read */
    const char *why;            /* path and message of the first */
};

/* Reads the names in a folder, sorted; free with images_free. Returns their
 * number; -1 after reporting. */
static int64_t images_names(struct images *m, const char *path,
                            struct dirent ***list)
{
    int n = scandir(path, list, NULL, alphasort);

    if (n < 0)
        cr_error(m->s->diag, cr_at_file(m->s->arena, path),
                 errno == ENOENT ? CR_E_DATA_MISSING : CR_E_DATA_READ,
                 "cannot read the folder: %s", strerror(errno));
    return n;
}

static void images_free(struct dirent **list, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

static bool images_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool images_is_image(const char *name)
{
    static const char *const ends[] = { ".png", ".jpg", ".jpeg" };
    size_t n = strlen(name);

    for (size_t i = 0; i < CR_LEN(ends); i++)
        if (*name != '.' && n > strlen(ends[i]) &&
            strcasecmp(name + n - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

/* Notes height, width and channels of an image, or why it cannot be read. */
static void images_look(struct images *m, const char *path)
{
    struct cr_diag quiet = { .arena = m->s->arena };
    struct cr_arena mem = { 0 };
    const struct cr_format *format = cr_format_of(&quiet, &mem, path);
    struct cr_spec spec = { 0 };
    struct cr_file *file =
        format ? format->open(&mem, &quiet, path, &spec) : NULL;

    if (file && spec.rank >= 2) {
        if (m->looked++ == 0) {
            m->h = spec.dim[0];
            m->w = spec.dim[1];
        }
        m->several = m->several || spec.dim[0] != m->h || spec.dim[1] != m->w;
        m->gray += spec.rank == 2 || spec.dim[2] < 3;
    }
    if (!file && m->unread++ == 0)
        m->why = cr_strf(m->s->arena, "%s: %s", path,
                         quiet.first ? quiet.first->text : "cannot be read");
    if (file)
        format->close(file);
    cr_arena_free(&mem);
}

/* Counts the images of a class. False after reporting. */
static bool images_class(struct images *m, const char *path)
{
    struct dirent **list;
    int64_t n = images_names(m, path, &list), found = 0, each;

    if (n < 0)
        return false;
    each = n / (SIZES_READ / 10) + 1;
    for (int64_t i = 0; i < n; i++) {
        if (!images_is_image(list[i]->d_name))
            continue;
        if (found++ % each == 0 && m->looked < SIZES_READ)
            images_look(m, cr_path_join(m->s->arena, path, list[i]->d_name));
    }
    images_free(list, n);
    if (found == 0) {
        cr_warn(m->s->diag, cr_at_file(m->s->arena, path), CR_E_DATA_EMPTY,
                "found no images (.png, .jpg) in the folder of a class");
        cr_hint(m->s->diag, "remove the folder if it is not a class");
        return true;
    }
    m->of.fewest = m->of.classes == 0 || found < m->of.fewest ? found
                                                              : m->of.fewest;
    m->of.most = found > m->of.most ? found : m->of.most;
    m->of.rows += found;
    return true;
}

/* Whether a folder is that of the masks of images, which are no classes. */
static bool images_is_masks(const char *name)
{
    static const char *const names[] = { "mask", "masks", "annotations",
                                         "SegmentationClass" };

    for (size_t i = 0; i < CR_LEN(names); i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Reports a folder of images and masks. */
static bool images_has_masks(struct images *m, struct dirent **list, int64_t n)
{
    const char *masks = NULL, *other = NULL;
    int folders = 0;

    for (int64_t i = 0; i < n; i++) {
        const char *name = list[i]->d_name;

        if (*name == '.' ||
            !images_is_folder(cr_path_join(m->s->arena, m->train, name)))
            continue;
        folders++;
        *(images_is_masks(name) ? &masks : &other) = name;
    }
    if (folders != 2 || !masks || !other)
        return false;
    cr_error(m->s->diag, cr_at_file(m->s->arena, m->train), CR_E_DATA_FORMAT,
             "found the folders '%s' and '%s' of images and masks, expected "
             "one folder of images for each class",
             cr_quote(m->s->arena, other, strlen(other)),
             cr_quote(m->s->arena, masks, strlen(masks)));
    cr_hint(m->s->diag, "for segmentation: cellrun help ImageMaskDataset");
    return true;
}

static bool images_count(struct images *m)
{
    struct dirent **list;
    int64_t n = images_names(m, m->train, &list);
    bool ok = n >= 0 && !images_has_masks(m, list, n);

    for (int64_t i = 0; i < n && ok; i++) {
        const char *path = cr_path_join(m->s->arena, m->train,
                                        list[i]->d_name);

        if (*list[i]->d_name == '.' || !images_is_folder(path))
            continue;
        ok = images_class(m, path);
        m->of.classes++;
    }
    if (n >= 0)
        images_free(list, n);
    if (!ok)
        return false;
    if (m->of.classes >= 2 && m->looked == 0 && m->unread > 0)
        return cr_error(m->s->diag, cr_at_file(m->s->arena, m->train),
                        CR_E_DATA_FORMAT,
                        "found %" PRId64 " images that cannot be read, "
                        "expected images: %s", m->unread, m->why);
    if (m->unread > 0) {
        cr_warn(m->s->diag, cr_at_file(m->s->arena, m->train),
                CR_E_DATA_FORMAT,
                "found %" PRId64 " of %" PRId64 " images that cannot be read: "
                "%s", m->unread, m->unread + m->looked, m->why);
        cr_hint(m->s->diag, "training would end at them; remove them");
    }
    if (m->of.classes < 2 || m->looked == 0)
        return cr_error(m->s->diag, cr_at_file(m->s->arena, m->train),
                        CR_E_DATA_FORMAT,
                        "found %" PRId64 " folder%s with %" PRId64
                        " images (.png, .jpg), expected one folder of images "
                        "for each of two or more classes",
                        m->of.classes, m->of.classes == 1 ? "" : "s",
                        m->of.rows);
    return true;
}

/* Finds DIR/train and DIR/val (or another usual name), else takes DIR. */
static void images_split(struct images *m)
{
    static const char *const parts[] = { "val", "valid", "validation", "eval",
                                         "test" };
    const char *train = cr_path_join(m->s->arena, m->dir, "train");

    m->train = m->dir;
    if (!images_is_folder(train))
        return;
    m->train = train;
    for (size_t i = 0; i < CR_LEN(parts) && !m->eval; i++) {
        const char *path = cr_path_join(m->s->arena, m->dir, parts[i]);

        if (images_is_folder(path))
            m->eval = path;
    }
}

static void images_dataset(struct images *m)
{
    struct cr_buf *b = &m->s->out;

    cr_buf_str(b, "\ndataset:\n  train: {ImageFolderDataset: {dataset_dir: ");
    cr_starter_path(m->s, m->train);
    cr_buf_str(b, "}}\n");
    if (m->eval) {
        cr_buf_str(b, "  eval: {ImageFolderDataset: {dataset_dir: ");
        cr_starter_path(m->s, m->eval);
        cr_buf_str(b, "}}\n");
    } else {
        cr_starter_split(m->s, &m->of);
    }
}

static int64_t images_pipe(struct images *m)
{
    struct cr_buf *b = &m->s->out;
    int64_t side = m->h < m->w ? m->h : m->w;
    bool resize = m->several || m->h > SIDE_MOST || m->w > SIDE_MOST;
    bool gray = m->gray == m->looked;

    cr_buf_str(b, "\ndatapipe:\n  image:\n");
    if (resize) {
        side = SIDE_TO;
        cr_buf_f(b, "    - Resize: {size: [%d, %d]}\n", SIDE_TO, SIDE_TO);
        m->h = m->w = SIDE_TO;
    }
    if (gray)
        cr_buf_str(b, "    - Grayscale             # no image has colour\n");
    cr_buf_f(b,
             "    # Augmentation, in training only. Remove the flip if left "
             "and right matter,\n"
             "    # as in letters.\n"
             "    - {RandomCrop: {size: [%" PRId64 ", %" PRId64 "], padding: "
             "%" PRId64 "}, only: train}\n"
             "    - {RandomHorizontalFlip: {prob: 0.5}, only: train}\n",
             m->h, m->w, side / 8 > 0 ? side / 8 : 1);
    cr_buf_f(b,
             "    - Rescale: {rescale: $(1/255), shift: 0.0}\n"
             "    - Normalize: {mean: [%s], std: [%s]}\n"
             "    - HWC2CHW\n",
             gray ? "0.5" : "0.5, 0.5, 0.5", gray ? "0.25" : "0.25, 0.25, "
                                                             "0.25");
    cr_buf_f(b, "  batch: {batch_size: %" PRId64 "}\n"
                "  cache: memory              # decode once; remove it if "
                "memory is short\n",
             cr_starter_batch(&m->of));
    return side;
}

bool cr_starter_folder(struct cr_starter *s, const char *dir)
{
    struct images m = { .s = s, .dir = dir,
                        .of = { .classifies = true, .images = true } };
    struct cr_buf *b = &s->out;
    int64_t side;

    images_split(&m);
    if (!images_count(&m))
        return false;
    cr_starter_head(s);
    cr_buf_f(b, "#\n# %" PRId64 " images of %" PRId64 " classes, %" PRId64,
             m.of.rows, m.of.classes, m.of.fewest);
    if (m.of.most > m.of.fewest)
        cr_buf_f(b, " to %" PRId64, m.of.most);
    cr_buf_str(b, " per class, ");
    if (m.several)
        cr_buf_str(b, "of several sizes.\n");
    else
        cr_buf_f(b, "%" PRId64 " x %" PRId64 " pixels.\n", m.h, m.w);
    cr_buf_str(b, "cellrun: 1\nseed: 1\n");
    images_dataset(&m);
    side = images_pipe(&m);
    cr_starter_convnet(s, &m.of, "image", "image", side);
    cr_starter_training(s, &m.of);
    return true;
}
