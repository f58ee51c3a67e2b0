#include "data/csv_dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gz.h"
#include "base/str.h"
#include "data/csv_dataset_internal.h"
#include "data/features.h"
#include "data/fingerprint.h"
#include "data/transform.h"

#define WRONG_MAX 10 /* reported wrong values, after which reading stops */

/* ---- files ---- */

/* Whether a transform of the column replaces missing values. True for a
 * datapipe that is not a list yet, because the config is still being read. */
static bool fills(struct cr_config *config, const char *column)
{
    const struct cr_node *args, *ops =
        cr_node_get(cr_section(config, "datapipe"), column);
    bool any = ops && ops->kind != CR_NODE_LIST;

    for (CR_EACH(m, ops)) {
        const char *type = cr_node_type(m, &args);
        const struct cr_transform *op = type ? cr_transform_find(type) : NULL;

        any = any || (op && op->fills);
    }
    return any;
}

bool cr_csv_dataset_make(struct cr_csv_dataset *f,
                         const struct cr_csv_dataset_opts *o, struct cr_pos pos,
                         const struct cr_csv *csv, const struct cr_strs *names)
{
    struct cr_field_column *of =
        cr_field_columns(f->config, o, pos, csv, names, &f->columns);
    int i;

    f->names = *names;
    if (!of)
        return false;
    f->column =
        CR_NEWS(f->config->arena, struct cr_csv_dataset_column, f->columns);
    for (i = 0; i < f->columns; i++) {
        struct cr_csv_dataset_column *c = &f->column[i];

        c->of = of[i];
        c->fills = fills(f->config, of[i].name);
        c->size = c->of.type == CR_STRING
                      ? sizeof(struct cr_csv_dataset_place)
                      : (size_t)c->of.n * cr_type_size(c->of.type);
        c->words.arena = f->config->arena;
        for (int k = 0; k < c->of.classes.n; k++)
            cr_category_table_code(&c->words, c->of.classes.v[k],
                                   strlen(c->of.classes.v[k]), true);
    }
    return true;
}

/* Determines the columns from the first file; checks that further files have
 * the same fields. */
static bool columns(struct cr_csv_dataset *f,
                    const struct cr_csv_dataset_opts *o, struct cr_pos pos,
                    const struct cr_csv *csv, int file, struct cr_strs *names)
{
    struct cr_strs found = cr_field_names(f->config, o, csv);
    int i;

    if (found.n == 0)
        return false;
    if (file > 0) {
        for (i = 0; i < found.n && i < names->n; i++)
            if (strcmp(found.v[i], names->v[i]) != 0)
                return cr_error(
                    f->config->diag, cr_csv_at(csv, &csv->field[i]),
                    CR_E_DATA_FORMAT,
                    "field %d: found '%s', expected '%s' as in the "
                    "first file",
                    i,
                    cr_quote(f->config->arena, found.v[i], strlen(found.v[i])),
                    cr_quote(f->config->arena, names->v[i],
                             strlen(names->v[i])));
        return found.n == names->n ||
               cr_error(f->config->diag, cr_csv_at(csv, &csv->field[0]),
                        CR_E_DATA_FORMAT,
                        "found %d fields, expected %d as in the first "
                        "file",
                        found.n, names->n);
    }
    *names = found;
    return cr_csv_dataset_make(f, o, pos, csv, names);
}

static bool file_read(struct cr_csv_dataset *f,
                      const struct cr_csv_dataset_opts *o, struct cr_pos pos,
                      int file, struct cr_strs *names)
{
    struct cr_diag *diag = f->config->diag;
    struct cr_csv csv;
    struct stat st;
    bool bad = false, first, ok;
    int before = diag->errors, wanted;

    /* checked before opening, which could block; the file is read a second
     * time */
    if (stat(f->file[file].path, &st) == 0 && !S_ISREG(st.st_mode) &&
        !S_ISDIR(st.st_mode))
        return cr_error(diag, cr_at_file(f->config->arena, f->file[file].path),
                        CR_E_DATA_READ, "is not a regular file");
    if (!cr_csv_open(&csv, diag, f->file[file].path, f->delimiter))
        return false;
    ok = cr_csv_next(&csv, &bad);
    if (!ok && !bad)
        cr_error(diag, cr_at_file(f->config->arena, csv.path),
                 CR_E_DATA_EMPTY, "the file has no rows");
    ok = ok && columns(f, o, pos, &csv, file, names);
    wanted = csv.n;
    first = !cr_field_header(o);
    while (ok && diag->errors - before < WRONG_MAX &&
           (first || cr_csv_next(&csv, &bad))) {
        cr_csv_dataset_row(f, &csv, file, wanted);
        first = false;
    }
    if (diag->errors - before >= WRONG_MAX)
        cr_note(diag, "cellrun stopped reading the file after %d errors",
                WRONG_MAX);
    f->contents = cr_crc32_join(f->contents, csv.crc, csv.length);
    cr_csv_close(&csv);
    return ok && !bad && diag->errors == before;
}

/* ---- opening ---- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **file_paths(struct cr_config *config,
                               const struct cr_csv_dataset_opts *o,
                               struct cr_pos pos)
{
    const struct cr_strs *given = &o->dataset_files;
    const char **path = CR_NEWS(config->arena, const char *, given->n + 1);
    bool ok = true;

    for (int i = 0; i < given->n; i++) {
        path[i] = o->only ? given->v[i]
                          : cr_config_path(config, CR_READ_DATA, given->v[i]);
        if (!o->only && !cr_config_may_path(config, CR_READ_DATA, given->v[i]))
            ok = false;
        else if (!path[i])
            ok = cr_config_path_missing(config, pos, "file", given->v[i]);
    }
    if (ok && given->n == 0)
        ok = cr_error(config->diag, pos, CR_E_DATA_MISSING,
                      "dataset_files: the list is empty");
    if (ok)
        qsort(path, (size_t)given->n, sizeof *path, by_bytes);
    return ok ? path : NULL;
}

/* The map `columns` reduced to the column `name`. */
static const struct cr_node *only_column(struct cr_arena *arena,
                                         const struct cr_node *columns,
                                         const char *name)
{
    struct cr_node *map = CR_NEW(arena, struct cr_node);
    const struct cr_node *one = cr_node_get(columns, name);

    if (!one)
        return columns;
    *map = *columns;
    map->child = cr_node_copy(arena, one);
    map->child->next = NULL;
    return map;
}

struct cr_spec cr_csv_dataset_spec(const struct cr_field_column *c)
{
    return (struct cr_spec){ .type = c->type, .rank = c->list,
                             .dim = { c->list ? c->n : 0 } };
}

static bool csv_dataset_build(struct cr_csv_dataset *f,
                              const struct cr_csv_dataset_opts *o,
                              struct cr_pos pos)
{
    struct cr_config *config = f->config;
    struct cr_csv_dataset_opts own = *o;
    const char **path = file_paths(config, o, pos);
    struct cr_strs names = { 0 };
    int i;

    if (!path)
        return false;
    if (strlen(o->field_delim) != 1 || strchr("\"\r\n", *o->field_delim))
        return cr_error(
            config->diag, pos, CR_E_OUT_OF_RANGE,
            "field_delim: found '%s', expected one character",
            cr_quote(config->arena, o->field_delim, strlen(o->field_delim)));
    own.paths = (struct cr_strs){ .v = path, .n = o->dataset_files.n };
    if (o->only)
        own.columns = only_column(config->arena, o->columns, o->only);
    f->delimiter = *o->field_delim;
    f->header = cr_field_header(o);
    f->n_files = o->dataset_files.n;
    f->file = CR_NEWS(config->arena, struct cr_csv_dataset_file, f->n_files);
    for (i = 0; i < f->n_files; i++)
        f->file[i] = (struct cr_csv_dataset_file){ path[i], -1 };
    for (i = 0; i < f->n_files; i++) {
        if (!file_read(f, &own, pos, i, &names) ||
            !cr_fingerprint_file(config->diag, &f->crc, path[i]))
            return false;
    }
    for (i = 0; i < f->columns; i++)
        cr_csv_dataset_decide(f, &f->column[i], f->rows);
    f->good = o->only || cr_csv_images_open(f);
    return f->good;
}

/* The key under which data loaders share the data: all options that determine
 * which data are read. */
static const char *csv_dataset_key(struct cr_arena *arena,
                                   const struct cr_csv_dataset_opts *o)
{
    struct cr_buf b = { .arena = arena };
    int i;

    cr_buf_f(&b, "fields %s %d %s", o->field_delim, o->header,
             o->only ? o->only : "");
    for (i = 0; i < o->dataset_files.n; i++)
        cr_buf_f(&b, "\n%s", o->dataset_files.v[i]);
    for (i = 0; i < o->column_names.n; i++)
        cr_buf_f(&b, "\n%s", o->column_names.v[i]);
    if (o->columns)
        cr_buf_f(&b, "\n%s", cr_node_flow(arena, o->columns));
    if (o->column_defaults)
        cr_buf_f(&b, "\n%s", cr_node_flow(arena, o->column_defaults));
    return cr_buf_text(&b);
}

bool cr_csv_dataset_open(struct cr_config *config,
                         const struct cr_csv_dataset_opts *o, struct cr_pos pos,
                         struct cr_dataset *to)
{
    void **slot = cr_config_object(config, csv_dataset_key(config->arena, o));
    struct cr_csv_dataset *f = *slot;
    int i;

    if (!f) {
        f = *slot = CR_NEW(config->arena, struct cr_csv_dataset);
        f->config = config;
        if (!csv_dataset_build(f, o, pos))
            return false;
    }
    if (!f->good)
        return false; /* reported at the first attempt */
    to->self = f;
    to->columns = f->columns;
    to->count = f->rows;
    to->path = f->file[0].path;
    to->fingerprint = f->crc;
    to->contents = f->contents;
    to->cache_key = f->images.key ? f->images.key | 1 : 0;
    for (i = 0; i < f->columns; i++) {
        const struct cr_field_column *c = &f->column[i].of;

        to->column[i].name = c->name;
        to->column[i].spec = cr_csv_dataset_spec(c);
        if (f->column[i].path) {
            to->column[i].spec = f->column[i].image;
            to->varying_shapes |= 1u << i;
        }
        if (c->features)
            cr_features_keep(config, c->name, c->features);
        if (!c->words || strcmp(c->name, "label") != 0)
            continue;
        to->classes = c->classes.n;
        to->class_names = c->classes.v;
        if (config->classes.n == 0 && !o->only)
            config->classes = c->classes;
    }
    f->users++;
    return true;
}

void cr_csv_dataset_close(struct cr_dataset *set)
{
    struct cr_csv_dataset *f = set->self;

    if (--f->users > 0)
        return;
    for (int i = 0; i < f->n_files; i++) {
        if (f->file[i].fd >= 0)
            close(f->file[i].fd);
        f->file[i].fd = -1;
    }
}

struct cr_vocab *cr_csv_dataset_vocab(struct cr_config *config,
                                      const struct cr_csv_dataset_opts *o,
                                      struct cr_pos pos, const char *name)
{
    struct cr_dataset set = { 0 };
    const struct cr_vocab *found = NULL;
    bool ok = cr_csv_dataset_open(config, o, pos, &set);

    for (int i = 0; ok && i < set.columns && !found; i++) {
        const char *column = set.column[i].name;
        size_t len = strlen(column);

        if (strncmp(name, column, len) == 0 &&
            (name[len] == '\0' || name[len] == '.') &&
            cr_features_learn(config, column))
            found = cr_vocab_kept(config, name);
    }
    if (ok)
        cr_csv_dataset_close(&set);
    return (struct cr_vocab *)(uintptr_t)found;
}

/* ---- samples ---- */

const void *cr_csv_dataset_at(struct cr_dataset *set, int64_t i, int column)
{
    const struct cr_csv_dataset *f = set->self;
    const struct cr_csv_dataset_column *c = &f->column[column];

    return c->of.type == CR_STRING ? NULL : cr_csv_dataset_row_at(c, i);
}

bool cr_csv_dataset_read(struct cr_dataset *set, struct cr_diag *diag,
                         int64_t i, int column, void *to)
{
    const struct cr_csv_dataset *f = set->self;
    const struct cr_csv_dataset_column *c = &f->column[column];

    (void)diag;
    memcpy(to, cr_csv_dataset_row_at(c, i), c->size);
    return true;
}

/* Opens a file once; if several threads open it at the same time, the
 * descriptor of the first is kept. */
static int file_open(struct cr_csv_dataset_file *file)
{
    int fd = __atomic_load_n(&file->fd, __ATOMIC_ACQUIRE), none = -1;

    if (fd >= 0)
        return fd;
    fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 &&
        !__atomic_compare_exchange_n(&file->fd, &none, fd, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        close(fd);
        fd = none;
    }
    return fd;
}

bool cr_csv_dataset_text(struct cr_dataset *set, struct cr_diag *diag,
                         int64_t i, int column, struct cr_arena *mem,
                         struct cr_ragged *to)
{
    struct cr_csv_dataset *f = set->self;
    const struct cr_csv_dataset_place *p =
        (const void *)cr_csv_dataset_row_at(&f->column[column], i);
    const char *preset = f->column[column].of.preset_text;
    struct cr_csv_dataset_file *file = &f->file[p->file >= 0 ? p->file : 0];
    char *raw = cr_alloc(mem, 1, (size_t)p->len + 1);
    int fd = p->file >= 0 ? file_open(file) : -1;
    size_t have = 0;

    if (p->file < 0) {
        *to = (struct cr_ragged){ preset, (int64_t)strlen(preset) };
        return true;
    }

    while (fd >= 0 && have < p->len) {
        ssize_t got = pread(fd, raw + have, p->len - have,
                            p->at + (int64_t)have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return cr_error(diag, cr_at_byte(diag->arena, file->path, p->at),
                            CR_E_DATA_READ,
                            got < 0 ? "cannot read: %s"
                                    : "the file was truncated "
                                      "while it was read%s",
                            got < 0 ? strerror(errno) : "");
        have += (size_t)got;
    }
    if (fd < 0)
        return cr_error(diag, cr_at_file(diag->arena, file->path),
                        CR_E_DATA_READ, "cannot read: %s", strerror(errno));
    *to = (struct cr_ragged){ raw, (int64_t)cr_csv_plain(raw, p->len) };
    if (raw[0] == '"' && p->len >= 2)
        raw[to->n] = '\0';
    return true;
}

/* Finds the row by reading the file again. */
struct cr_pos cr_csv_dataset_where(struct cr_dataset *set,
                                   struct cr_arena *arena, int64_t i,
                                   int column)
{
    const struct cr_csv_dataset *f = set->self;
    struct cr_diag quiet = { .arena = arena };
    struct cr_pos pos = CR_NOWHERE;
    bool bad, header = true;
    struct cr_csv csv;

    for (int k = 0; k < f->n_files && !pos.src; k++) {
        if (!cr_csv_open(&csv, &quiet, f->file[k].path, f->delimiter))
            break;
        header = f->header;
        while (!pos.src && cr_csv_next(&csv, &bad)) {
            if (!header && i-- == 0) {
                int at = f->column[column].of.field[0];

                pos = cr_csv_at(&csv, &csv.field[at < csv.n ? at : 0]);
            }
            header = false;
        }
        cr_csv_close(&csv);
    }
    return pos;
}

bool cr_csv_dataset_field(struct cr_dataset *set, struct cr_diag *diag,
                          struct cr_pos pos, const char *name,
                          cr_dataset_each each, void *ctx)
{
    const struct cr_csv_dataset *f = set->self;
    bool ok = true, bad = false;
    int64_t i = 0;
    int at = 0;

    while (at < f->names.n && strcmp(f->names.v[at], name) != 0)
        at++;
    if (at == f->names.n) {
        cr_error(diag, pos, CR_E_NO_MATCH,
                 "field '%s' not found in rows of %d field%s", name, f->names.n,
                 f->names.n == 1 ? "" : "s");
        cr_field_suggest(diag, name, &f->names);
        return false;
    }
    for (int k = 0; k < f->n_files && ok; k++) {
        bool header = f->header;
        struct cr_csv csv;

        ok = cr_csv_open(&csv, diag, f->file[k].path, f->delimiter);
        if (!ok)
            break;
        while (ok && cr_csv_next(&csv, &bad)) {
            if (!header)
                ok = at < csv.n && i < f->rows &&
                     each(ctx, i++, &csv, &csv.field[at]);
            header = false;
        }
        ok = ok && !bad;
        cr_csv_close(&csv);
    }
    return ok;
}
