/* Columns of a CSV data set whose fields are paths of images, relative to the
 * folder of the CSV file. */
#include "base/str.h"
#include "data/csv_dataset.h"
#include "data/csv_dataset_internal.h"
#include "data/fingerprint.h"

#include <string.h>

#define WRONG_MAX 10 /* reported files, after which the others are not looked
                        at */

static const char *image_path(const void *ctx, int64_t i)
{
    return ((const struct cr_csv_dataset_column *)ctx)->path[i];
}

static bool image_row(struct cr_csv_dataset *f, struct cr_dataset *set,
                      int column, int64_t i)
{
    struct cr_csv_dataset_column *c = &f->column[column];
    const struct cr_csv_dataset_place *p =
        (const void *)cr_csv_dataset_row_at(c, i);
    struct cr_arena *arena = f->config->arena;
    struct cr_diag *diag = f->config->diag, quiet = { .arena = arena };
    struct cr_ragged text;
    const char *name;

    if (!cr_csv_dataset_text(set, diag, i, column, arena, &text))
        return false;
    if (text.n == 0)
        return cr_error(diag, cr_csv_dataset_where(set, arena, i, column),
                        CR_E_DATA_FORMAT,
                        "column '%s': found nothing, expected the path of an "
                        "image", c->of.name);
    name = cr_strndup(arena, text.v, (size_t)text.n);
    c->path[i] = cr_path_join(
        arena, cr_path_dir(arena, f->file[p->file > 0 ? p->file : 0].path),
        name);
    if (cr_image_file_add(&f->images, &quiet, CR_NOWHERE, c->path[i], name) &&
        cr_fingerprint_among(cr_image_files_skipped(f->config) ? NULL : &quiet,
                             &f->contents, c->path[i], i, f->rows))
        return true;
    /* where it is named is looked for in the file only if needed */
    cr_error(diag, cr_csv_dataset_where(set, arena, i, column),
             CR_E_DATA_READ, "image '%s' %s",
             cr_quote(arena, c->path[i], strlen(c->path[i])),
             quiet.first->text);
    return false;
}

bool cr_csv_images_open(struct cr_csv_dataset *f)
{
    struct cr_dataset set = { .self = f };
    int wrong = 0;

    for (int k = 0; k < f->columns; k++) {
        struct cr_csv_dataset_column *c = &f->column[k];

        if (!c->of.image)
            continue;
        f->images.key = f->images.key ? f->images.key : CR_HASH;
        c->path = CR_NEWS(f->config->arena, const char *, f->rows + 1);
        for (int64_t i = 0; i < f->rows && wrong < WRONG_MAX; i++)
            wrong += !image_row(f, &set, k, i);
        if (wrong == WRONG_MAX)
            cr_note(f->config->diag,
                    "cellrun stopped looking for images after %d errors",
                    WRONG_MAX);
        if (wrong > 0 ||
            (f->rows > 0 && !cr_image_files_spec(f->config, image_path, c,
                                                 f->rows, c->of.mask,
                                                 &c->image)))
            return false;
    }
    f->crc ^= f->images.crc;
    return true;
}

const void *cr_csv_dataset_fetch(struct cr_dataset *set, struct cr_diag *diag,
                                 struct cr_arena *mem, int64_t i, int column,
                                 void *scratch, struct cr_spec *spec)
{
    const struct cr_csv_dataset *f = set->self;

    return cr_image_file_fetch(diag, mem, f->column[column].path[i],
                               &set->column[column].spec, scratch, spec);
}

const char *cr_csv_dataset_file(const struct cr_dataset *set, int64_t i,
                                int column)
{
    const struct cr_csv_dataset *f = set->self;

    for (int k = 0; k < f->columns; k++)
        if (f->column[k].path && (column < 0 || column == k))
            return f->column[k].path[i];
    return NULL;
}
