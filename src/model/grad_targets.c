#include "model/grad_targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/single_batch.h"

/* A number is an index into the inputs of the network. */
static bool targets_position(struct cr_diag *diag, const struct cr_net *net,
                             const char *text, bool *columns, bool *found)
{
    int n;
    const int *input = cr_net_input_columns(net, &n);
    char *end;
    long at = strtol(text, &end, 10);

    *found = *text && !*end;
    if (!*found)
        return true;
    if (at < 0 || at >= n)
        return cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                        "--wrt: found input %s, expected 0 to %d: the network "
                        "has %d input%s",
                        text, n - 1, n, n == 1 ? "" : "s");
    columns[input[at]] = true;
    return true;
}

/* A column given by its full name must be differentiable; one matched by a
 * pattern is skipped if it is not. */
static bool targets_float(struct cr_diag *diag, const struct cr_column *column,
                          int n, const struct cr_strs *wrt, bool *columns)
{
    bool ok = true;

    for (int i = 0; i < n; i++) {
        bool named = columns[i];

        for (int k = 0; k < wrt->n; k++)
            named = named || strcmp(wrt->v[k], column[i].name) == 0;
        if (named && column[i].spec.type != CR_REAL)
            ok = cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                          "--wrt: found column '%s' of type %s, expected "
                          "float32: other types have no gradient",
                          column[i].name, cr_type_name(column[i].spec.type));
    }
    return ok;
}

bool cr_grad_targets_read(struct cr_arena *arena, struct cr_config *config,
                          const struct cr_net *net, const struct cr_strs *wrt,
                          struct cr_grad_targets *to)
{
    int n_params, n_columns, n = 0;
    const struct cr_param *param = cr_net_params(net, &n_params);
    const struct cr_column *column = cr_net_columns(net, &n_columns);
    struct cr_subject *names =
        CR_NEWS(arena, struct cr_subject, n_params + n_columns + 1);
    struct cr_node list = { .kind = CR_NODE_LIST }, **last = &list.child;
    const struct cr_patterns *patterns;
    bool ok = true, found;

    *to = (struct cr_grad_targets){ 0 };
    if (wrt->n == 0)
        return true;
    to->params = CR_NEWS(arena, bool, n_params + 1);
    to->columns = CR_NEWS(arena, bool, n_columns + 1);
    for (int i = 0; i < wrt->n; i++) {
        ok = targets_position(config->diag, net, wrt->v[i], to->columns,
                              &found) &&
             ok;
        if (found)
            continue;
        *last = CR_NEW(arena, struct cr_node);
        (*last)->kind = CR_NODE_STR;
        (*last)->text = wrt->v[i];
        last = &(*last)->next;
    }
    ok = targets_float(config->diag, column, n_columns, wrt, to->columns) && ok;
    patterns = cr_patterns_read(config, &list);
    for (int i = 0; i < n_columns; i++) {
        names[n].name = column[i].name;
        if (column[i].spec.type == CR_REAL &&
            cr_patterns_match(patterns, &names[n]))
            to->columns[i] = true;
        n++;
    }
    for (int i = 0; i < n_params; i++) {
        if (param[i].statistic)
            continue;
        names[n].name = param[i].name;
        to->params[i] = cr_patterns_match(patterns, &names[n++]);
    }
    return cr_patterns_used(config, patterns, names, n,
                            "column or parameter") &&
           ok && config->diag->errors == 0;
}

void cr_grad_targets_check(struct cr_arena *arena, struct cr_diag *diag,
                           const struct cr_net *net,
                           const struct cr_grad_targets *targets,
                           const struct cr_tensor *grads, int n)
{
    int n_columns;
    const struct cr_column *column = cr_net_columns(net, &n_columns);

    for (int i = 0; targets->columns && i < n_columns; i++) {
        const char *name = cr_strf(arena, ".%s", column[i].name);
        bool found = !targets->columns[i];

        for (int k = 0; k < n; k++)
            found = found || cr_ends(grads[k].name, name);
        if (!found)
            cr_warn(diag, CR_NOWHERE, CR_E_NO_MATCH,
                    "--wrt: no gradient arrives at column '%s'",
                    column[i].name);
    }
}

/* The path of a --sens argument and the index of its result; NULL after
 * reporting an error. */
static const char *sens_path(struct cr_diag *diag, int results,
                             const char *text, int *at)
{
    char *end;
    long i = strtol(text, &end, 10);

    *at = 0;
    if (end > text && *end == '=') {
        *at = (int)i;
        if (i >= 0 && i < results)
            return end + 1;
        cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                 "--sens: found output %ld, expected 0 to %d: the network has "
                 "%d output%s",
                 i, results - 1, results, results == 1 ? "" : "s");
        return NULL;
    }
    if (results == 1)
        return text;
    cr_error(diag, CR_NOWHERE, CR_E_USAGE,
             "--sens: the network has %d outputs, expected one array for "
             "each: --sens 0=FILE.npy --sens 1=FILE.npy ...",
             results);
    return NULL;
}

/* Reads the gradient of one result, which must have the result's shape. */
static bool sens_array(struct cr_arena *arena, struct cr_diag *diag,
                       struct cr_exec *exec, const char *path, int at)
{
    struct cr_spec want, spec;
    const void *raw;
    cr_real *data;

    cr_exec_result(exec, at, &want);
    raw = cr_single_batch_array(arena, diag, path, &spec);
    if (!raw)
        return false;
    if (spec.rank != want.rank ||
        memcmp(spec.dim, want.dim, (size_t)want.rank * sizeof *want.dim) != 0)
        return cr_error(diag, cr_at_file(arena, path), CR_E_SHAPE,
                        "--sens: found %s, expected %s, the shape of the "
                        "network's output",
                        cr_diag_format(arena, &spec),
                        cr_diag_format(arena, &want));
    data = CR_NEWS(arena, cr_real, cr_count(&spec) + 1);
    cr_convert(spec.type, raw, CR_REAL, data, cr_count(&spec));
    cr_exec_sens(exec, at, data);
    return true;
}

bool cr_grad_sens_read(struct cr_arena *arena, struct cr_diag *diag,
                       struct cr_exec *exec, const struct cr_strs *sens)
{
    int n = cr_exec_results(exec), at;
    bool *given = CR_NEWS(arena, bool, n + 1);

    for (int i = 0; i < sens->n; i++) {
        const char *path = sens_path(diag, n, sens->v[i], &at);

        if (!path || !sens_array(arena, diag, exec, path, at))
            return false;
        given[at] = true;
    }
    for (int i = 0; i < n && sens->n > 0; i++)
        if (!given[i])
            return cr_error(
                diag, CR_NOWHERE, CR_E_USAGE,
                "--sens: not set for output %d: add --sens %d=FILE.npy", i, i);
    return true;
}
