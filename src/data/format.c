#include "data/array.h"
#include "data/format.h"

#include "base/str.h"

#include <string.h>

#define FORMAT_HEAD 64

const struct cr_format *cr_format_of(struct cr_diag *diag,
                                     struct cr_arena *arena, const char *path)
{
    const struct cr_descriptor *const *list = cr_registry_list(CR_KIND_FORMAT);
    unsigned char head[FORMAT_HEAD];
    struct cr_bytes *bytes;
    const char *names = "";
    size_t got = 0;
    int i;

    bytes = cr_bytes_open(arena, diag, path, head, sizeof head, &got);
    if (!bytes)
        return NULL;
    cr_bytes_close(bytes);
    for (i = 0; list[i]; i++) {
        const struct cr_format *f = (const struct cr_format *)list[i];

        if (f->magic(head, got))
            return f;
        names = cr_strf(arena, "%s%s%s", names, i > 0 ? ", " : "",
                        f->about.name);
    }
    cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
             "unknown file format: expected one of %s", names);
    return NULL;
}
