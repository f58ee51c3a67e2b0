#include "ckpt/against.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "ckpt/tensor_file.h"
#include "conf/opt.h"

struct against_found {
    int compared, differ;
    const char *first; /* name of the first difference; NULL: none */
    const char *words;
    double deviation;
};

static void against_differs(struct against_found *f, const char *name,
                            const char *words, double deviation)
{
    if (f->differ++ > 0)
        return;
    f->first = name;
    f->words = words;
    f->deviation = deviation;
}

static bool against_compare(struct cr_against *t, struct cr_tensor_file *ref,
                            const struct cr_tensor *x, struct against_found *f)
{
    const struct cr_tensor_info *e = cr_tensor_file_find(ref, x->name);
    struct cr_spec spec = x->spec;
    struct cr_arena mem = { 0 };
    struct cr_tensor_diff apart;
    void *y;
    bool ok;

    if (!e)
        return true;
    f->compared++;
    spec.type = e->spec.type;
    if (!e->readable || !cr_spec_same(&spec, &e->spec)) {
        against_differs(f, x->name,
                        cr_strf(t->arena, "shape %s here, %s there",
                                cr_diag_format(t->arena, &x->spec),
                                e->readable ? cr_diag_format(t->arena, &e->spec)
                                            : "an unreadable type"),
                        INFINITY);
        return true;
    }
    y = cr_alloc(&mem, (size_t)cr_count(&spec), cr_type_size(spec.type));
    ok = cr_tensor_file_read(ref, t->diag, e, spec.type, y);
    if (ok) {
        cr_tensor_diff(&x->spec, x->data, spec.type, y, t->rtol, t->atol,
                       &apart);
        if (apart.beyond > 0)
            against_differs(
                f, x->name,
                cr_strf(t->arena,
                        "largest deviation %.6g at %s: %.9g here, %.9g "
                        "there; %" PRId64 " of %" PRId64 " beyond",
                        apart.deviation,
                        spec.rank > 0
                            ? cr_tensor_index_text(t->arena, &spec, apart.at)
                            : "[]",
                        apart.a, apart.b, apart.beyond, cr_count(&spec)),
                apart.deviation);
    }
    cr_arena_free(&mem);
    return ok;
}

static bool against_has(const struct cr_against *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->tensor[i].name, name) == 0)
            return true;
    return false;
}

static void against_verdict(struct cr_against *t,
                            const struct against_found *f)
{
    struct cr_buf json = { .arena = t->arena };

    if (!t->json && !t->quiet)
        printf("compared: %d\ndiffer: %d\n", f->compared, f->differ);
    if (!t->json && !t->quiet && f->first)
        printf("first: %s\n%s\n", cr_escape(t->arena, f->first), f->words);
    if (!t->json)
        return;
    cr_buf_f(&json,
             "{\"compared\": %d, \"differ\": %d, \"first\": ", f->compared,
             f->differ);
    if (f->first)
        cr_buf_json(&json, f->first);
    else
        cr_buf_str(&json, "null");
    cr_buf_f(&json, ", \"largest\": %s, \"what\": ",
             f->first && isfinite(f->deviation)
                 ? cr_real_text(t->arena, f->deviation)
                 : "null");
    cr_buf_json(&json, f->first ? f->words : "");
    printf("%s}\n", cr_buf_text(&json));
}

void cr_against(struct cr_against *t)
{
    struct cr_tensor_file *ref =
        cr_tensor_file_open(t->arena, t->diag, t->path);
    struct against_found f = { 0 };
    const struct cr_tensor_info *e;
    bool ok = true;
    int n;

    if (!ref)
        return;
    for (int i = 0; ok && i < t->n; i++)
        ok = against_compare(t, ref, &t->tensor[i], &f);
    e = cr_tensor_file_entries(ref, &n);
    for (int i = 0; ok && i < n; i++)
        if (!against_has(t, e[i].name))
            against_differs(&f, e[i].name, "only in the reference", INFINITY);
    if (ok)
        against_verdict(t, &f);
    if (ok && f.differ > 0)
        cr_error(t->diag, cr_at_file(t->arena, t->path), CR_E_DIFFERS,
                 "'%s' is the first of %d differing tensors: %s",
                 cr_quote(t->arena, f.first, strlen(f.first)), f.differ,
                 f.words);
    cr_tensor_file_close(ref);
}
