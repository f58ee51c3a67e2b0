/* npy: one NumPy array in a file; cellrun-formats(7) has the layout,
 * data/npy.h reads the header.
 *
 * Byte order and Fortran order are converted when the file is loaded. */
#include "data/array.h"
#include "data/npy.h"

#include <stdlib.h>
#include <string.h>

struct cr_file {
    struct cr_bytes *bytes;
    struct cr_npy head;
    size_t size;
    const unsigned char *all;
    unsigned char *own; /* converted elements; NULL: used as stored */
};

static bool npy_magic(const unsigned char *head, size_t n)
{
    return n >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static struct cr_file *npy_open(struct cr_arena *arena, struct cr_diag *diag,
                                const char *path, struct cr_spec *spec)
{
    struct cr_file *f = CR_NEW(arena, struct cr_file);
    unsigned char *head = CR_NEWS(arena, unsigned char, CR_NPY_MAX);
    const char *why = NULL;
    size_t got = 0;

    f->bytes = cr_bytes_open(arena, diag, path, head, CR_NPY_MAX, &got);
    if (!f->bytes)
        return NULL;
    if (!cr_npy_read(arena, (const char *)head, got, &f->head, &why))
        cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT, "%s",
                 why);
    else if (!f->head.readable)
        cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
                 "elements of type '%s' are not supported",
                 cr_quote(diag->arena, f->head.descr, strlen(f->head.descr)));
    else if (!cr_spec_fits(&f->head.spec))
        cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
                 "the header declares the shape %s, which is too large",
                 cr_diag_format(diag->arena, &f->head.spec));
    else {
        f->size = f->head.data + cr_bytes(&f->head.spec);
        if (cr_bytes_fit(f->bytes, diag, f->size)) {
            *spec = f->head.spec;
            return f;
        }
    }
    cr_bytes_close(f->bytes);
    return NULL;
}

/* The index in a column-major file of element i in C order. */
static size_t npy_place(const struct cr_spec *spec, size_t i)
{
    size_t at = 0, step = 1, index[CR_RANK_MAX];
    int d;

    for (d = spec->rank - 1; d >= 0; d--) {
        index[d] = i % (size_t)spec->dim[d];
        i /= (size_t)spec->dim[d];
    }
    for (d = 0; d < spec->rank; d++) {
        at += index[d] * step;
        step *= (size_t)spec->dim[d];
    }
    return at;
}

static bool npy_load(struct cr_file *f, struct cr_diag *diag)
{
    size_t width = cr_type_size(f->head.spec.type), n, i, k;
    const unsigned char *from;

    if (f->all)
        return true;
    f->all = cr_bytes_all(f->bytes, diag, f->size);
    if (!f->all)
        return false;
    if (!f->head.swap && !f->head.fortran && f->head.spec.type != CR_BOOL)
        return true;
    n = (size_t)cr_count(&f->head.spec);
    f->own = malloc(n * width + 1);
    if (!f->own)
        cr_out_of_memory(n * width);
    from = f->all + f->head.data;
    for (i = 0; i < n; i++) {
        size_t at = f->head.fortran ? npy_place(&f->head.spec, i) : i;

        for (k = 0; k < width; k++)
            f->own[i * width + k] =
                from[at * width + (f->head.swap ? width - 1 - k : k)];
        if (f->head.spec.type == CR_BOOL) /* any non-zero byte is true */
            f->own[i] = f->own[i] != 0;
    }
    return true;
}

static const void *npy_at(struct cr_file *f, int64_t row)
{
    const struct cr_spec *s = &f->head.spec;
    size_t each = s->rank > 0 && s->dim[0] > 0
                      ? cr_bytes(s) / (size_t)s->dim[0]
                      : 0;

    return (f->own ? f->own : f->all + f->head.data) + (size_t)row * each;
}

static bool npy_read(struct cr_file *f, struct cr_diag *diag, int64_t from,
                     int64_t rows, void *to)
{
    const struct cr_spec *s = &f->head.spec;
    size_t all = cr_bytes(s);

    if (!npy_load(f, diag))
        return false;
    if (s->rank > 0)
        all = s->dim[0] > 0 ? all / (size_t)s->dim[0] * (size_t)rows : 0;
    if (all > 0)
        memcpy(to, npy_at(f, from), all);
    return true;
}

static void npy_close(struct cr_file *f)
{
    free(f->own);
    cr_bytes_close(f->bytes);
}

const struct cr_format cr_format_npy = {
    .about = {
        .name = "npy",
        .summary = "NPY: one NumPy array, plain or gzip.",
        .detail = "Versions 1 to 3, either byte order, C or Fortran order; "
                  "bool, integers and floats of 1 to 8 bytes.",
    },
    .suffixes = ".npy",
    .magic = npy_magic,
    .open = npy_open,
    .read = npy_read,
    .load = npy_load,
    .at = npy_at,
    .close = npy_close,
};
