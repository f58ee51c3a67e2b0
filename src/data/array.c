#include "data/array.h"

#include "base/gz.h"
#include "base/mapping.h"
#include "base/str.h"
#include "data/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the bytes of a file ---- */

struct cr_bytes {
    struct cr_arena *arena;
    const char *path;
    int fd;
    bool packed;        /* compressed with gzip */
    size_t length;      /* of the file on disk */
    unsigned char *own; /* decompressed or read; malloc */
    struct cr_mapping *mapping;
};

static bool refuse(struct cr_diag *diag, const char *path, const char *why)
{
    return cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_READ,
                    "cannot read: %s", why);
}

static ssize_t read_at_start(int fd, unsigned char *to, size_t want)
{
    size_t got = 0;

    while (got < want) {
        ssize_t n = pread(fd, to + got, want - got, (off_t)got);

        if (n < 0 && errno != EINTR)
            return -1;
        if (n == 0)
            break;
        got += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)got;
}

static bool read_head(struct cr_bytes *b, struct cr_diag *diag,
                      unsigned char *head, size_t want, size_t *got)
{
    const char *why = NULL;
    struct cr_gz *gz;
    int64_t n;

    if (!b->packed)
        return true;
    gz = cr_gz_open(b->fd);
    n = cr_gz_read(gz, head, want, &why);
    cr_gz_close(gz);
    if (n < 0 || lseek(b->fd, 0, SEEK_SET) < 0)
        return cr_error(diag, cr_at_file(diag->arena, b->path),
                        CR_E_DATA_FORMAT, "%s", why ? why : strerror(errno));
    *got = (size_t)n;
    return true;
}

struct cr_bytes *cr_bytes_open(struct cr_arena *arena, struct cr_diag *diag,
                               const char *path, unsigned char *head,
                               size_t want, size_t *got)
{
    struct cr_bytes *b = CR_NEW(arena, struct cr_bytes);
    struct stat st;
    ssize_t n;

    b->arena = arena;
    b->path = cr_strdup(arena, path);
    /* opening a FIFO would block until another process writes to it */
    b->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (b->fd < 0) {
        cr_error(diag, cr_at_file(diag->arena, path),
                 errno == ENOENT ? CR_E_DATA_MISSING : CR_E_DATA_READ,
                 "cannot open: %s", strerror(errno));
        return NULL;
    }
    n = -1;
    if (fstat(b->fd, &st) != 0)
        refuse(diag, path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        refuse(diag, path, "it is not a regular file");
    else if ((n = read_at_start(b->fd, head, want)) < 0)
        refuse(diag, path, strerror(errno));
    if (n >= 0) {
        *got = (size_t)n;
        b->length = (size_t)st.st_size;
        b->packed = cr_gz_magic(head, *got);
        if (read_head(b, diag, head, want, got))
            return b;
    }
    close(b->fd);
    return NULL;
}

/* A byte of deflate data decompresses to at most 1032 bytes (RFC 1951: a match
 * of 258 bytes takes two bits). */
#define UNPACK_MAX 1032

bool cr_bytes_fit(struct cr_bytes *b, struct cr_diag *diag, size_t size)
{
    if (b->packed && size / UNPACK_MAX > b->length)
        return cr_error(diag, cr_at_file(diag->arena, b->path),
                        CR_E_DATA_FORMAT,
                        "the file has %zu bytes, too few to decompress to the "
                        "%zu that its header declares",
                        b->length, size);
    if (b->packed || b->length == size)
        return true;
    return cr_error(diag, cr_at_file(diag->arena, b->path), CR_E_DATA_FORMAT,
                    "the file has %zu bytes, but its header declares %zu",
                    b->length, size);
}

/* Decompresses exactly `size` bytes; false after reporting. */
static bool unpack(struct cr_bytes *b, struct cr_diag *diag, size_t size)
{
    const char *why = NULL;
    struct cr_gz *gz;
    unsigned char more;
    int64_t n, rest = 0;

    gz = cr_gz_open(b->fd);
    n = cr_gz_read(gz, b->own, size, &why);
    if (n == (int64_t)size)
        rest = cr_gz_read(gz, &more, 1, &why);
    cr_gz_close(gz);
    if (n < 0 || rest < 0)
        return cr_error(diag, cr_at_file(diag->arena, b->path),
                        CR_E_DATA_FORMAT, "%s", why);
    if (n != (int64_t)size || rest != 0)
        return cr_error(diag, cr_at_file(diag->arena, b->path),
                        CR_E_DATA_FORMAT,
                        "decompressed, the file has %s than the %zu bytes "
                        "that its header declares",
                        rest ? "more" : "fewer", size);
    return true;
}

static bool read_plain(struct cr_bytes *b, struct cr_diag *diag, size_t size)
{
    ssize_t n = read_at_start(b->fd, b->own, size);

    if (n < 0)
        return refuse(diag, b->path, strerror(errno));
    if ((size_t)n < size)
        return refuse(diag, b->path, "it was truncated while it was read");
    return true;
}

const unsigned char *cr_bytes_copy(struct cr_bytes *b, struct cr_diag *diag,
                                   size_t size)
{
    if (b->own)
        return b->own;
    if (!cr_bytes_fit(b, diag, size))
        return NULL;
    b->own = malloc(size > 0 ? size : 1);
    if (!b->own)
        cr_out_of_memory(size);
    if (b->packed ? unpack(b, diag, size) : read_plain(b, diag, size))
        return b->own;
    free(b->own);
    b->own = NULL;
    return NULL;
}

const unsigned char *cr_bytes_all(struct cr_bytes *b, struct cr_diag *diag,
                                  size_t size)
{
    if (b->packed || size == 0)
        return cr_bytes_copy(b, diag, size);
    if (!b->mapping) {
        if (!cr_bytes_fit(b, diag, size))
            return NULL;
        b->mapping = cr_mapping_open(b->fd, size, b->path);
        if (!b->mapping) {
            refuse(diag, b->path, strerror(errno));
            return NULL;
        }
    }
    return cr_mapping_bytes(b->mapping);
}

size_t cr_bytes_length(const struct cr_bytes *b)
{
    return b->length;
}

const char *cr_bytes_path(const struct cr_bytes *b)
{
    return b->path;
}

void cr_bytes_close(struct cr_bytes *b)
{
    free(b->own);
    if (b->mapping)
        cr_mapping_close(b->mapping);
    close(b->fd);
}

/* ---- a data set of arrays ---- */

struct part {
    const struct cr_format *format;
    struct cr_file *file;
    struct cr_spec spec;    /* (rows, ...) */
    int64_t first;          /* row of the column that is its row 0 */
    int column;
};

struct arrays {
    struct part *parts;
    int n;
};

static const struct part *part_of(const struct arrays *a, int column,
                                  int64_t *row)
{
    int k;

    for (k = a->n - 1; k > 0; k--)
        if (a->parts[k].column == column && *row >= a->parts[k].first)
            break;
    while (a->parts[k].column != column)
        k++;
    *row -= a->parts[k].first;
    return &a->parts[k];
}

static bool add_part(struct cr_diag *diag, struct cr_dataset *to,
                     const struct part *p, const char *path, int64_t *rows)
{
    struct cr_spec each = p->spec;
    struct cr_column *c = &to->column[p->column];

    if (p->spec.rank < 1)
        return cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
                        "found a scalar, expected an array of samples");
    memmove(each.dim, each.dim + 1, sizeof each.dim - sizeof each.dim[0]);
    each.rank--;
    if (p->first > 0 && !cr_spec_same(&each, &c->spec))
        return cr_error(
            diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
            "the rows are %s %s, but %s %s in the files before "
            "it",
            cr_type_name(each.type), cr_diag_format(diag->arena, &each),
            cr_type_name(c->spec.type), cr_diag_format(diag->arena, &c->spec));
    c->spec = each;
    *rows += p->spec.dim[0];
    return true;
}

bool cr_arrays_open(struct cr_config *config, struct cr_pos pos,
                    const struct cr_array_file *files, int n_files,
                    const char *const *names, int columns,
                    struct cr_dataset *to)
{
    struct arrays *a = CR_NEW(config->arena, struct arrays);
    int64_t rows[CR_COLUMNS_MAX] = { 0 };
    int i;

    a->parts = CR_NEWS(config->arena, struct part, n_files);
    to->self = a;
    to->columns = columns;
    for (i = 0; i < columns; i++)
        to->column[i].name = names[i];
    for (i = 0; i < n_files; i++) {
        struct part *p = &a->parts[a->n];

        p->column = files[i].column;
        p->first = rows[p->column];
        p->format =
            cr_format_of(config->diag, config->arena, files[i].path);
        if (!p->format)
            return false;
        if (!p->format->at)
            return cr_error(config->diag,
                            cr_at_file(config->arena, files[i].path),
                            CR_E_DATA_FORMAT,
                            "found an image (%s), expected an array of "
                            "samples",
                            p->format->about.name);
        p->file = p->format->open(config->arena, config->diag,
                                  files[i].path, &p->spec);
        if (!p->file)
            return false;
        a->n++;
        if (!add_part(config->diag, to, p, files[i].path,
                      &rows[p->column]))
            return false;
        if (!cr_fingerprint_file(config->diag, &to->fingerprint,
                                 files[i].path) ||
            !cr_fingerprint_contents(config->diag, &to->contents,
                                     files[i].path))
            return false;
    }
    to->count = rows[0];
    to->path = files[0].path;
    for (i = 1; i < columns; i++)
        if (rows[i] != rows[0])
            return cr_error(config->diag, pos, CR_E_DATA_FORMAT,
                            "column '%s' has %lld rows, but column '%s' has "
                            "%lld",
                            names[i], (long long)rows[i], names[0],
                            (long long)rows[0]);
    return true;
}

bool cr_arrays_named(struct cr_config *config, struct cr_pos pos,
                     const struct cr_strs *paths,
                     const struct cr_strs *names, struct cr_dataset *to)
{
    struct cr_array_file files[CR_COLUMNS_MAX];
    bool ok = true;
    int i;

    if (paths->n != names->n || paths->n > CR_COLUMNS_MAX)
        return cr_error(config->diag, pos, CR_E_CONFLICT,
                        "%d file%s for %d column name%s (at most %d)",
                        paths->n, paths->n == 1 ? "" : "s", names->n,
                        names->n == 1 ? "" : "s", CR_COLUMNS_MAX);
    for (i = 0; i < paths->n; i++) {
        files[i].column = i;
        files[i].path = cr_config_path(config, CR_READ_DATA, paths->v[i]);
        if (!cr_config_may_path(config, CR_READ_DATA, paths->v[i]))
            ok = false;
        else if (!files[i].path)
            ok = cr_config_path_missing(config, pos, "file", paths->v[i]);
    }
    return ok && cr_arrays_open(config, pos, files, paths->n, names->v,
                                names->n, to);
}

bool cr_arrays_load(struct cr_dataset *set, struct cr_diag *diag)
{
    struct arrays *a = set->self;
    int k;

    for (k = 0; k < a->n; k++)
        if (a->parts[k].format->load &&
            !a->parts[k].format->load(a->parts[k].file, diag))
            return false;
    return true;
}

const void *cr_arrays_at(struct cr_dataset *set, int64_t i, int column)
{
    const struct part *p = part_of(set->self, column, &i);

    return p->format->at(p->file, i);
}

bool cr_arrays_read(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                    int column, void *to)
{
    (void)diag;
    memcpy(to, cr_arrays_at(set, i, column),
           cr_bytes(&set->column[column].spec));
    return true;
}

void cr_arrays_close(struct cr_dataset *set)
{
    struct arrays *a = set->self;
    int k;

    for (k = 0; a && k < a->n; k++)
        a->parts[k].format->close(a->parts[k].file);
}
