#include "data/fixed_records.h"

#include "base/gz.h"
#include "base/str.h"
#include "data/array.h"
#include "data/fingerprint.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 16

struct records {
    const struct cr_fixed_records_of *of;
    int labels, n;
    int64_t size; /* bytes of a record */
    const char *path[FILES_MAX];
    struct cr_bytes *bytes[FILES_MAX];
    const unsigned char *data[FILES_MAX];
    int64_t count[FILES_MAX];
};

/* Adds those files of `names` that exist; false after reporting that none
 * exists. */
static bool add_files(struct cr_config *config, struct records *r,
                      const char *root, struct cr_pos pos,
                      const char *const *names)
{
    int before = r->n, i;

    for (i = 0; names[i]; i++) {
        const char *path = cr_path_join(config->arena, root, names[i]);

        if (access(path, F_OK) == 0)
            r->path[r->n++] = path;
        else if (errno != ENOENT && errno != ENOTDIR)
            return cr_error(config->diag, cr_at_file(config->arena, path),
                            CR_E_DATA_READ, "cannot open: %s",
                            strerror(errno));
    }
    if (r->n > before)
        return true;
    cr_error(config->diag, pos, CR_E_DATA_MISSING, "file '%s/%s' not found%s",
             root, names[0], names[1] ? ", nor the files that follow it" : "");
    cr_note(config->diag, "   %s", r->of->advice);
    return false;
}

/* Maps file k and checks every label once, because later code uses labels as
 * indices without a check. */
static bool check_file(struct cr_config *config, struct records *r, int k)
{
    unsigned char head[1];
    struct cr_diag *diag = config->diag;
    struct cr_pos at = cr_at_file(config->arena, r->path[k]);
    size_t got, length;
    int64_t i;
    int c;

    r->bytes[k] = cr_bytes_open(config->arena, diag, r->path[k], head, 1,
                                &got);
    if (!r->bytes[k])
        return false;
    length = cr_bytes_length(r->bytes[k]);
    if (length == 0 || length % (size_t)r->size != 0)
        return cr_error(diag, at, CR_E_DATA_FORMAT,
                        "the file has %zu bytes, which is not a multiple of "
                        "the record size %lld: is it the binary version?",
                        length, (long long)r->size);
    r->data[k] = cr_bytes_all(r->bytes[k], diag, length);
    if (!r->data[k])
        return false;
    r->count[k] = (int64_t)length / r->size;
    for (i = 0; i < r->count[k]; i++)
        for (c = 0; c < r->labels; c++)
            if (r->data[k][i * r->size + c] >= r->of->classes[c])
                return cr_error(
                    diag,
                    cr_at_byte(config->arena, r->path[k], i * r->size + c),
                    CR_E_DATA_RANGE,
                    "%s is %d, but there are only %lld classes",
                    r->of->labels[c], r->data[k][i * r->size + c],
                    (long long)r->of->classes[c]);
    return true;
}

static void fill_columns(const struct records *r, struct cr_dataset *to)
{
    const struct cr_fixed_records_of *of = r->of;
    int c;

    to->columns = 1 + r->labels;
    to->column[0].name = "image";
    to->column[0].spec = (struct cr_spec){
        .type = CR_U8,
        .rank = 3,
        .dim = { of->height, of->width, of->channels },
    };
    for (c = 0; c < r->labels; c++) {
        to->column[1 + c].name = of->labels[c];
        to->column[1 + c].spec = (struct cr_spec){ .type = CR_U32 };
    }
    to->classes = of->classes[r->labels - 1];
}

bool cr_fixed_records_open(struct cr_config *config,
                           const struct cr_fixed_records_opts *opts,
                           struct cr_pos pos,
                           const struct cr_fixed_records_of *of,
                           struct cr_dataset *to)
{
    const char *root = cr_config_path(config, CR_READ_DATA, opts->dataset_dir);
    struct records *r = CR_NEW(config->arena, struct records);
    int k;

    r->of = of;
    while (of->labels[r->labels])
        r->labels++;
    r->size = r->labels + of->channels * of->height * of->width;
    if (!cr_config_may_path(config, CR_READ_DATA, opts->dataset_dir))
        return false;
    if (!root) {
        cr_config_path_missing(config, pos, "data set", opts->dataset_dir);
        cr_note(config->diag, "   %s", of->advice);
        return false;
    }
    if ((opts->usage != CR_FIXED_RECORDS_TEST &&
         !add_files(config, r, root, pos, of->train)) ||
        (opts->usage != CR_FIXED_RECORDS_TRAIN &&
         !add_files(config, r, root, pos, of->test)))
        return false;
    to->self = r;
    for (k = 0; k < r->n; k++) {
        const char *name = cr_path_base(r->path[k]);

        if (!check_file(config, r, k))
            return false;
        to->count += r->count[k];
        to->fingerprint = cr_crc32(to->fingerprint, name, strlen(name) + 1);
        to->fingerprint = cr_crc32(to->fingerprint, &r->count[k],
                                   sizeof r->count[k]);
        if (!cr_fingerprint_contents(config->diag, &to->contents, r->path[k]))
            return false;
    }
    fill_columns(r, to);
    return true;
}

bool cr_fixed_records_read(struct cr_dataset *set, struct cr_diag *diag,
                           int64_t i, int column, void *to)
{
    const struct records *r = set->self;
    int64_t plane = r->of->height * r->of->width, c, k;
    const unsigned char *x;
    unsigned char *y = to;
    uint32_t label;
    int file = 0;

    (void)diag;
    while (i >= r->count[file])
        i -= r->count[file++];
    x = r->data[file] + i * r->size;
    if (column > 0) {
        label = x[column - 1];
        memcpy(to, &label, sizeof label);
        return true;
    }
    x += r->labels;
    for (c = 0; c < r->of->channels; c++)
        for (k = 0; k < plane; k++)
            y[k * r->of->channels + c] = x[c * plane + k];
    return true;
}

void cr_fixed_records_close(struct cr_dataset *set)
{
    struct records *r = set->self;
    int k;

    for (k = 0; k < r->n; k++)
        if (r->bytes[k])
            cr_bytes_close(r->bytes[k]);
}
