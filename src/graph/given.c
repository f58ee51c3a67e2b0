/*
 * Initial values from a file of the user's.
 */
#include "base/str.h"
#include "conf/config.h"
#include "data/format.h"
#include "graph/init.h"

#include <string.h>

static bool same_shape(const struct cr_spec *a, const struct cr_spec *b)
{
    return a->rank == b->rank &&
           memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) == 0;
}

/* The open file's values as the parameter's. */
static bool file_values(const struct cr_init_args *f,
                        const struct cr_format *npy, struct cr_file *file,
                        const struct cr_spec *spec)
{
    void *room = cr_alloc(f->arena, (size_t)cr_count(spec) + 1,
                          cr_type_size(spec->type));

    if (!npy->read(file, f->diag, 0, spec->rank > 0 ? spec->dim[0] : 1, room))
        return false;
    cr_convert(spec->type, room, CR_REAL, f->to, cr_count(spec));
    return true;
}

bool cr_init_from_file(const struct cr_init_args *f, const char *name)
{
    const struct cr_format *npy = cr_format_find("npy");
    struct cr_config *config = f->config;
    struct cr_spec spec = { 0 };
    struct cr_file *file;
    const char *path;
    bool ok;

    if (f->replaced)
        return true;
    if (!cr_config_may_path(config, CR_READ_FILE, name))
        return false;
    path = cr_config_path(config, CR_READ_FILE, name);
    if (!path)
        return cr_error(f->diag, f->pos, CR_E_INCLUDE,
                        "values of '%s': file '%s' not found", f->param,
                        cr_quote(f->arena, name, strlen(name)));
    file = npy->open(f->arena, f->diag, path, &spec);
    if (!file)
        return false;
    ok = same_shape(&spec, &f->spec) ||
         cr_error(f->diag, f->pos, CR_E_SHAPE,
                  "values of '%s': found %s in %s, expected %s", f->param,
                  cr_diag_format(f->arena, &spec), name,
                  cr_diag_format(f->arena, &f->spec));
    if (ok && f->to)
        ok = file_values(f, npy, file, &spec);
    npy->close(file);
    return ok;
}
