#include "data/image_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/gz.h"
#include "base/str.h"
#include "data/format.h"

bool cr_image_file_add(struct cr_image_files_id *id, struct cr_diag *diag,
                       struct cr_pos pos, const char *path, const char *name)
{
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        const char *why = stat(path, &st) != 0
                              ? cr_strf(diag->arena, "cannot be read: %s",
                                        strerror(errno))
                              : "is not a regular file";

        return pos.src ? cr_error(diag, pos, CR_E_DATA_READ, "'%s' %s",
                                  cr_quote(diag->arena, path, strlen(path)),
                                  why)
                       : cr_error(diag, cr_at_file(diag->arena, path),
                                  CR_E_DATA_READ, "%s", why);
    }
    id->crc = cr_crc32(id->crc, name, strlen(name) + 1);
    id->crc = cr_crc32(id->crc, &(int64_t){ st.st_size }, 8);
    id->key = cr_hash(id->key, path, strlen(path) + 1);
    id->key = cr_hash(id->key,
                      (int64_t[]){ st.st_size, st.st_mtim.tv_sec,
                                   st.st_mtim.tv_nsec }, 24);
    return true;
}

bool cr_image_files_skipped(const struct cr_config *config)
{
    const struct cr_node *on =
        cr_node_get(cr_section(config, "dataset"), "on_error");

    return on && on->text && strcmp(on->text, "stop") != 0;
}

/* Opens an image, whose stored shape is *stored. NULL after reporting. */
static struct cr_file *image_open(struct cr_arena *mem, struct cr_diag *diag,
                                  const char *path, bool mask,
                                  const struct cr_format **format,
                                  struct cr_spec *stored)
{
    struct cr_file *file;
    bool ok = true;

    *format = cr_format_of(diag, mem, path);
    file = *format ? (*format)->open(mem, diag, path, stored) : NULL;
    if (!file)
        return NULL;
    if (stored->type != CR_U8 || stored->rank != 3 ||
        (stored->dim[2] != 1 && stored->dim[2] != 3))
        ok = cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
                      "the file is not an image");
    else if (mask && !(*format)->indices)
        ok = cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
                      "found a %s file, expected a mask in a PNG file",
                      (*format)->about.name);
    else if (mask)
        ok = (*format)->indices(file, diag, stored);
    if (ok)
        return file;
    (*format)->close(file);
    return NULL;
}

bool cr_image_file_header(struct cr_diag *diag, const char *path, bool mask,
                          struct cr_spec *spec)
{
    struct cr_arena mem = { 0 };
    const struct cr_format *format;
    struct cr_spec stored = { 0 };
    struct cr_file *file = image_open(&mem, diag, path, mask, &format, &stored);
    int64_t h = stored.dim[0], w = stored.dim[1];

    if (file)
        format->close(file);
    cr_arena_free(&mem);
    *spec = (struct cr_spec){ .type = mask ? CR_I32 : CR_U8,
                              .rank = mask ? 2 : 3,
                              .dim = { h, w, mask ? 0 : 3 } };
    return file != NULL;
}

bool cr_image_files_spec(struct cr_config *config,
                         const char *(*path)(const void *ctx, int64_t i),
                         const void *ctx, int64_t n, bool masks,
                         struct cr_spec *spec)
{
    bool skips = cr_image_files_skipped(config);
    struct cr_diag quiet = { .arena = config->arena };

    for (int64_t i = 0; i < n && skips; i++) {
        if (cr_image_file_header(&quiet, path(ctx, i), masks, spec))
            return true;
        quiet = (struct cr_diag){ .arena = config->arena };
    }
    return n > 0 &&
           cr_image_file_header(config->diag, path(ctx, 0), masks, spec);
}

/* Grey to RGB in place, from the last pixel on: to[n] is read before it is
 * overwritten. */
static void image_colour(unsigned char *to, int64_t n)
{
    while (n-- > 0)
        to[3 * n] = to[3 * n + 1] = to[3 * n + 2] = to[n];
}

/* Bytes to int32 in place, likewise. */
static void image_classes(void *to, int64_t n)
{
    const unsigned char *from = to;
    char *y = to;

    while (n-- > 0)
        memcpy(y + 4 * n, &(int32_t){ from[n] }, 4);
}

const void *cr_image_file_fetch(struct cr_diag *diag, struct cr_arena *mem,
                                const char *path,
                                const struct cr_spec *planned, void *scratch,
                                struct cr_spec *spec)
{
    bool mask = planned->type == CR_I32;
    struct cr_arena own = { 0 };
    const struct cr_format *format;
    struct cr_spec stored = { 0 };
    struct cr_file *file = image_open(&own, diag, path, mask, &format, &stored);
    int64_t n = stored.dim[0] * stored.dim[1];
    void *to = NULL;

    if (file) {
        *spec = *planned;
        spec->dim[0] = stored.dim[0];
        spec->dim[1] = stored.dim[1];
        to = cr_bytes(spec) <= cr_bytes(planned)
                 ? scratch
                 : cr_alloc(mem, 1, cr_bytes(spec));
        if (!format->read(file, diag, 0, stored.dim[0], to))
            to = NULL;
        else if (mask)
            image_classes(to, n);
        else if (stored.dim[2] == 1)
            image_colour(to, n);
        format->close(file);
    }
    cr_arena_free(&own);
    return to;
}
