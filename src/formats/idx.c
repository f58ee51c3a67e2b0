/* idx: arrays in the format of MNIST, plain or gzip; cellrun-formats(7) has
 * the layout. */
#include "data/array.h"

#include <stdlib.h>
#include <string.h>

#define IDX_HEAD (4 + 4 * CR_RANK_MAX)

struct cr_file {
    struct cr_bytes *bytes;
    struct cr_spec spec;
    size_t head, size; /* bytes of the header; of the whole file */
    const unsigned char *all;
    unsigned char *swapped; /* elements in native order; NULL: one byte each */
};

static bool idx_type(unsigned char code, enum cr_type *type)
{
    static const enum cr_type types[] = {
        [0x08] = CR_U8,  [0x09] = CR_I8,  [0x0b] = CR_I16,
        [0x0c] = CR_I32, [0x0d] = CR_F32, [0x0e] = CR_F64,
    };

    if (code < 0x08 || code > 0x0e || code == 0x0a)
        return false;
    *type = types[code];
    return true;
}

static bool idx_magic(const unsigned char *head, size_t n)
{
    enum cr_type type;

    return n >= 4 && head[0] == 0 && head[1] == 0 && head[3] >= 1 &&
           idx_type(head[2], &type);
}

static bool idx_header(struct cr_diag *diag, const char *path,
                       const unsigned char *head, size_t got,
                       struct cr_file *f)
{
    struct cr_pos pos = cr_at_byte(diag->arena, path, 0);
    int i;

    if (!idx_magic(head, got) || !idx_type(head[2], &f->spec.type))
        return cr_error(diag, pos, CR_E_DATA_FORMAT,
                        "not an IDX file: it does not begin with 00 00, a "
                        "type and a number of dimensions");
    f->spec.rank = head[3];
    if (f->spec.rank > CR_RANK_MAX)
        return cr_error(diag, pos, CR_E_DATA_FORMAT,
                        "found %d dimensions, expected at most %d",
                        f->spec.rank, CR_RANK_MAX);
    f->head = 4 + 4 * (size_t)f->spec.rank;
    if (got < f->head)
        return cr_error(diag, cr_at_byte(diag->arena, path, (int64_t)got),
                        CR_E_DATA_FORMAT,
                        "the file ends within its header of %zu bytes",
                        f->head);
    for (i = 0; i < f->spec.rank; i++) {
        const unsigned char *d = head + 4 + 4 * i;

        f->spec.dim[i] = (int64_t)d[0] << 24 | d[1] << 16 | d[2] << 8 | d[3];
    }
    if (!cr_spec_fits(&f->spec))
        return cr_error(diag, pos, CR_E_DATA_FORMAT,
                        "the header declares the shape %s, which is too large",
                        cr_diag_format(diag->arena, &f->spec));
    f->size = f->head + cr_bytes(&f->spec);
    return cr_bytes_fit(f->bytes, diag, f->size);
}

static struct cr_file *idx_open(struct cr_arena *arena, struct cr_diag *diag,
                                const char *path, struct cr_spec *spec)
{
    struct cr_file *f = CR_NEW(arena, struct cr_file);
    unsigned char head[IDX_HEAD];
    size_t got = 0;

    f->bytes = cr_bytes_open(arena, diag, path, head, sizeof head, &got);
    if (!f->bytes)
        return NULL;
    if (!idx_header(diag, path, head, got, f)) {
        cr_bytes_close(f->bytes);
        return NULL;
    }
    *spec = f->spec;
    return f;
}

static bool idx_load(struct cr_file *f, struct cr_diag *diag)
{
    size_t width = cr_type_size(f->spec.type), n, i, k;
    const unsigned char *from;

    if (f->all)
        return true;
    f->all = cr_bytes_all(f->bytes, diag, f->size);
    if (!f->all)
        return false;
    if (width == 1)
        return true;
    n = (size_t)cr_count(&f->spec);
    f->swapped = malloc(n * width + 1);
    if (!f->swapped)
        cr_out_of_memory(n * width);
    from = f->all + f->head;
    for (i = 0; i < n; i++)
        for (k = 0; k < width; k++)
            f->swapped[i * width + k] = from[i * width + width - 1 - k];
    return true;
}

static const void *idx_at(struct cr_file *f, int64_t row)
{
    size_t each = f->spec.dim[0] > 0
                      ? cr_bytes(&f->spec) / (size_t)f->spec.dim[0]
                      : 0;

    return (f->swapped ? f->swapped : f->all + f->head) +
           (size_t)row * each;
}

static bool idx_read(struct cr_file *f, struct cr_diag *diag, int64_t from,
                     int64_t rows, void *to)
{
    if (!idx_load(f, diag))
        return false;
    if (rows > 0)
        memcpy(to, idx_at(f, from),
               cr_bytes(&f->spec) / (size_t)f->spec.dim[0] * (size_t)rows);
    return true;
}

static void idx_close(struct cr_file *f)
{
    free(f->swapped);
    cr_bytes_close(f->bytes);
}

const struct cr_format cr_format_idx = {
    .about = {
        .name = "idx",
        .summary = "IDX: arrays in the format of MNIST, plain or gzip.",
        .detail = "Big-endian uint8, int8, int16, int32, float32 or float64 "
                  "with at most 8 dimensions.",
    },
    .suffixes = ".idx .gz ubyte",
    .magic = idx_magic,
    .open = idx_open,
    .read = idx_read,
    .load = idx_load,
    .at = idx_at,
    .close = idx_close,
};
