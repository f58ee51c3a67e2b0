/*
 * Reading tests/cases/KIND/NAME.yaml: tensors, and comparing with them.
 *
 * A file is a list of cases. A tensor in it is a map:
 *   {shape: [2, 3], values: [...]}       values, in order of memory
 *   {shape: [N, 3], random: true}        0.2 to 1.2 with either sign, so that
 *                                        no value sits on a kink at 0
 *   {shape: [N, 3], positive: true}      the same without signs
 *   {shape: [N, 3], positive: true, scale: 2, offset: 1}   1.4 to 3.4
 *   {shape: [N, 3], spread: true}        all different by 1/16 and more
 *   {shape: [N], type: int32, below: 4}  integers 0 to 3
 * N is the batch size; a case that names it is run with 1 and with 3.
 */
#ifndef CR_TESTS_CASE_H
#define CR_TESTS_CASE_H

#include "base/str.h"
#include "conf/yaml.h"
#include "num/rng.h"
#include "num/spec.h"
#include "tap.h"

#include <math.h>

/* Rounding that no test minds: of sums of some ten terms near 1. */
#ifdef CR_DOUBLE
#define CASE_TOLERANCE 1e-12
#else
#define CASE_TOLERANCE 2e-6
#endif

struct case_file {
    struct cr_arena arena;
    struct cr_diag diag;
    const struct cr_node *root; /* a list; NULL: no such file, or not YAML */
};

__attribute__((unused)) static bool
case_open(struct case_file *f, const char *kind, const char *leaf)
{
    struct cr_source *src;
    const char *path;

    *f = (struct case_file){ 0 };
    f->diag.arena = &f->arena;
    path = cr_strf(&f->arena, "tests/cases/%s/%s.yaml", kind, leaf);
    src = CR_NEW(&f->arena, struct cr_source);
    src->name = path;
    src->text = cr_read_file(&f->arena, &f->diag, CR_NOWHERE, path, CR_E_SYSTEM,
                             CR_TEXT_MAX, &src->len);
    if (src->text)
        f->root = cr_yaml_read(&f->arena, &f->diag, src, 0, src->len);
    if (f->diag.errors > 0)
        cr_diag_print(&f->diag, stdout, (struct cr_diag_format){ 0 });
    test_end();
    return (f->root && f->root->kind == CR_NODE_LIST && f->root->child &&
            f->diag.errors == 0) ||
           ok(false, "%s is a list of cases", path);
}

__attribute__((unused)) static void case_close(struct case_file *f)
{
    cr_arena_free(&f->arena);
}

__attribute__((unused)) static const char *case_name(const struct cr_node *c)
{
    const struct cr_node *name = cr_node_get(c, "name");

    return name && name->text ? name->text : "no name";
}

/* Opens the test of one case of a type. */
__attribute__((unused)) static void case_begin(const char *type,
                                               const struct cr_node *c)
{
    test_begin("%s, %s", type, case_name(c));
}

/* Whether a case names the batch size N somewhere. */
__attribute__((unused)) static bool case_any_batch(const struct cr_node *node)
{
    if (node->kind == CR_NODE_STR && strcmp(node->text, "N") == 0)
        return true;
    for (CR_EACH(m, node))
        if (case_any_batch(m))
            return true;
    return false;
}

__attribute__((unused)) static double
case_number(const struct cr_node *node, const char *key, double otherwise)
{
    const struct cr_node *m = cr_node_get(node, key);

    return m && (m->kind == CR_NODE_INT || m->kind == CR_NODE_REAL) ? m->real
                                                                    : otherwise;
}

__attribute__((unused)) static bool
case_shape(const struct cr_node *node, int64_t batch, struct cr_spec *to)
{
    const struct cr_node *type = cr_node_get(node, "type");
    const struct cr_node *shape = cr_node_get(node, "shape");

    *to = CR_SCALAR;
    if (type && type->text && !cr_type_find(type->text, &to->type))
        return ok(false, "there is a type %s", type->text);
    if (to->type == CR_F32)
        to->type = CR_REAL;
    if (!shape || shape->kind != CR_NODE_LIST)
        return ok(false, "a tensor has a shape");
    for (CR_EACH(d, shape))
        to->dim[to->rank++] = d->kind == CR_NODE_INT ? d->integer : batch;
    return true;
}

static inline void case_put(const struct cr_spec *spec, void *data, int64_t i,
                            double v)
{
    if (spec->type == CR_REAL)
        ((cr_real *)data)[i] = (cr_real)v;
    else if (spec->type == CR_I32)
        ((int32_t *)data)[i] = (int32_t)v;
    else if (spec->type == CR_U8 || spec->type == CR_BOOL)
        ((unsigned char *)data)[i] = (unsigned char)v;
    else
        ok(false, "cases know type %s", cr_type_name(spec->type));
}

static inline double case_random(uint64_t key, int64_t i)
{
    struct cr_rng rng = cr_rng(7, CR_STREAM_TEST, key, 0);
    double u = 2 * cr_rng_double(&rng, (uint64_t)i) - 1;

    return u < 0 ? u - 0.2 : u + 0.2;
}

/* The tensor's bytes; NULL for a null node (an absent input). */
__attribute__((unused)) static void *case_tensor(struct cr_arena *arena,
                                                 const struct cr_node *node,
                                                 int64_t batch, uint64_t key,
                                                 struct cr_spec *spec)
{
    const struct cr_node *values = cr_node_get(node, "values");
    const struct cr_node *v = values ? values->child : NULL;
    double below = case_number(node, "below", 0);
    double scale = case_number(node, "scale", 1);
    double offset = case_number(node, "offset", 0);
    int64_t i, n;
    void *data;

    *spec = (struct cr_spec){ .rank = -1 };
    if (!node || node->kind == CR_NODE_NULL || !case_shape(node, batch, spec))
        return NULL;
    n = cr_count(spec);
    data = cr_alloc(arena, cr_bytes(spec) + 8, 1);
    if (values && cr_node_count(values) != n)
        ok(false, "%s holds %d values, not %lld", cr_diag_format(arena, spec),
           cr_node_count(values), (long long)n);
    for (i = 0; i < n; i++) {
        if (values)
            case_put(spec, data, i, v ? v->real : NAN);
        else if (cr_node_get(node, "spread")) /* 7919 is prime */
            case_put(spec, data, i, 0.0625 * (double)(i * 7919 % n - n / 2));
        else if (below > 0)
            case_put(spec, data, i,
                     floor(fmod(1e3 * fabs(case_random(key, i)), below)));
        else if (cr_node_get(node, "positive"))
            case_put(spec, data, i, offset + scale * fabs(case_random(key, i)));
        else
            case_put(spec, data, i, offset + scale * case_random(key, i));
        v = v ? v->next : NULL;
    }
    return data;
}

static inline bool case_close_to(double got, double want, double tolerance)
{
    if (isnan(want))
        return isnan(got);
    if (isinf(want))
        return got == want;
    return fabs(got - want) <= tolerance * fmax(1, fabs(want));
}

/* Whether n numbers are equal within the tolerance; prints the first that is
 * not. */
__attribute__((unused)) static bool case_near(const char *what,
                                              const cr_real *got,
                                              const cr_real *want, int64_t n,
                                              double tolerance)
{
    int64_t i;

    for (i = 0; i < n; i++)
        if (!case_close_to((double)got[i], (double)want[i], tolerance)) {
            printf("# %s[%lld] is %.17g, should be %.17g\n", what, (long long)i,
                   (double)got[i], (double)want[i]);
            return false;
        }
    return true;
}

#endif
