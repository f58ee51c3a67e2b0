/* Enumeration and identity of the points of a sweep. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sweep/sweep.h"

/* Candidates without a new point after which the enumeration of a random
 * method ends. */
#define MISSES_MAX 1000

/* Properties of the config of a candidate. */
struct points_found {
    bool meets; /* sweep.where */
    uint64_t hash;
    int64_t epochs, steps;
};

/* The assignments of a candidate: those of all points, then its own. */
static const char *const *points_sets(struct cr_sweep *sweep,
                                      struct cr_arena *arena,
                                      const char *const *value, int **args)
{
    int n = 0;
    const char **sets;

    while (sweep->fixed[n])
        n++;
    sets = CR_NEWS(arena, const char *, n + sweep->n_columns + 1);
    *args = CR_NEWS(arena, int, n + sweep->n_columns + 1);
    for (int i = 0; i < n; i++) {
        sets[i] = sweep->fixed[i];
        (*args)[i] = sweep->fixed_args[i];
    }
    for (int c = 0; c < sweep->n_columns; c++)
        if (value[c]) {
            (*args)[n] = sweep->column_arg[c];
            sets[n++] = cr_strf(arena, "%s=%s", sweep->column[c], value[c]);
        }
    return sets;
}

/* Reports a condition that is neither true nor false: to the diag of the
 * config, whose text the message shows. */
static bool points_condition(const struct cr_config *config, const char *name,
                             const struct cr_node *node)
{
    return node->kind == CR_NODE_BOOL ||
           cr_error(config->diag, node->pos, CR_E_WRONG_TYPE,
                    "'%s': found %s, expected true or false", name,
                    cr_node_what(config->arena, node));
}

/* Unsets the parameters whose condition is false. Returns whether it unset
 * any. */
static bool points_unset(const struct cr_sweep *sweep,
                         const struct cr_config *config, const char **value)
{
    const struct cr_node *map =
        cr_node_get(cr_section(config, "sweep"), "parameters");
    bool unset = false;

    for (int c = 0; c < sweep->n_columns; c++) {
        const struct cr_node *when =
            cr_node_get(cr_node_get(map, sweep->column[c]), "when");

        if (value[c] && when && points_condition(config, "when", when) &&
            !when->boolean) {
            value[c] = NULL;
            unset = true;
        }
    }
    return unset;
}

/* train.epochs or train.steps, which replace each other. */
static bool points_is_count(const char *key)
{
    return strcmp(key, "train.epochs") == 0 || strcmp(key, "train.steps") == 0;
}

/* Whether a parameter is this length itself. */
static bool points_is_set(const struct cr_sweep *sweep,
                          const char *const *value, const char *length)
{
    for (int c = 0; c < sweep->n_columns; c++)
        if (value[c] && (strcmp(sweep->column[c], length) == 0 ||
                         (points_is_count(sweep->column[c]) &&
                          points_is_count(length))))
            return true;
    return false;
}

/* The text of a value; "": not set. */
static const char *points_text(struct cr_arena *arena,
                               const struct cr_config *config, const char *key)
{
    const struct cr_node *node = cr_node_find(config->root, key);

    return node ? cr_node_flow(arena, node) : "";
}

/* Adds the lengths that follow from parameters. A length that the config has
 * without them does not count, so that a longer run continues the points;
 * neither do those of rungs. */
static uint64_t points_hash_lengths(const struct cr_sweep *sweep,
                                    const struct cr_config *config,
                                    const char *const *value, uint64_t hash)
{
    for (int i = 0; cr_config_free[i]; i++) {
        const char *key = cr_config_free[i], *text;

        if (!cr_starts(key, "train.") || points_is_set(sweep, value, key) ||
            (sweep->n_rungs > 0 && points_is_count(key)))
            continue;
        text = points_text(config->arena, config, key);
        if (strcmp(text, points_text(config->arena, sweep->config, key)) == 0)
            continue;
        hash = cr_hash(hash, key, strlen(key) + 1);
        hash = cr_hash(hash, text, strlen(text) + 1);
    }
    return hash;
}

/* Keys that a run may change when it is resumed do not count for its id, so
 * points that differ in them get another hash. */
static uint64_t points_hash(struct cr_sweep *sweep, struct cr_config *config,
                            const char *const *value)
{
    const char *id = cr_config_id(config);
    uint64_t start = cr_hash(CR_HASH, id, strlen(id)), hash = start;

    for (int c = 0; c < sweep->n_columns; c++) {
        const char *key = sweep->column[c];

        if (!value[c] || !cr_config_is_free(key))
            continue;
        hash = cr_hash(hash, key, strlen(key) + 1);
        hash = cr_hash(hash, value[c], strlen(value[c]) + 1);
    }
    hash = points_hash_lengths(sweep, config, value, hash);
    return hash == start ? strtoull(id, NULL, 16) : hash;
}

int64_t cr_sweep_length(const struct cr_config *config, const char *path)
{
    const struct cr_node *node = cr_node_find(config->root, path);

    return node && node->kind == CR_NODE_INT ? node->integer : CR_INT_NONE;
}

static bool points_where(const struct cr_config *config, bool *meets)
{
    const struct cr_node *where =
        cr_node_get(cr_section(config, "sweep"), "where");

    *meets = !where || where->boolean;
    return !where || points_condition(config, "sweep.where", where);
}

/* Resolves the config of a candidate, as its run will, and unsets the
 * parameters that do not apply. False after reporting. */
static bool points_resolve(struct cr_sweep *sweep, const char **value,
                           struct points_found *found)
{
    int errors = sweep->diag->errors;
    bool again = true;

    while (again) {
        struct cr_arena arena = { 0 };
        int *args;
        struct cr_diag diag = { .arena = &arena };
        struct cr_config_from from = {
            .files = sweep->cli->operands,
            .closed = true,
            .sets = points_sets(sweep, &arena, value, &args),
        };
        struct cr_config *config;

        from.set_args = args;
        config = cr_config_load(&arena, &diag, &from);
        again = diag.errors == 0 && points_unset(sweep, config, value) &&
                diag.errors == 0;
        if (diag.errors == 0 && !again &&
            points_where(config, &found->meets)) {
            found->hash = points_hash(sweep, config, value);
            found->epochs = cr_sweep_length(config, "train.epochs");
            found->steps = cr_sweep_length(config, "train.steps");
            if (found->meets && sweep->n_rungs > 0)
                cr_sweep_rungs_check_length(sweep, found->epochs,
                                            found->steps);
        }
        /* main prints messages of another diag's sources before it ends */
        if (diag.errors > 0) {
            cr_diag_print(&diag, stderr,
                          (struct cr_diag_format){ .json = sweep->cli->json,
                                                   .color =
                                                       sweep->cli->color });
            cr_error(sweep->diag, CR_NOWHERE, diag.first->code,
                     "the config of a point is wrong");
        }
        cr_arena_free(&arena);
    }
    return sweep->diag->errors == errors;
}

static void points_add(struct cr_sweep *sweep, const char **value,
                       const char *id, const struct points_found *found)
{
    struct cr_sweep_point *p;
    int *args;

    if (sweep->n == sweep->cap) {
        int64_t cap = sweep->cap ? 2 * sweep->cap : 64;

        if (sweep->method->suggest) /* run.c keeps pointers to points */
            cap = sweep->opts.count;
        sweep->point = cr_grow(sweep->arena, sweep->point, (size_t)sweep->n,
                               (size_t)cap, sizeof *sweep->point);
        sweep->cap = cap;
    }
    p = &sweep->point[sweep->n++];
    *p = (struct cr_sweep_point){
        .value = value,
        .sets = points_sets(sweep, sweep->arena, value, &args),
        .id = id,
        .dir = cr_path_join(sweep->arena, sweep->dir, id),
        .epochs = found->epochs,
        .steps = found->steps,
        .exit = -1,
        .metric = NAN,
    };
}

/* Examines the next candidate. False: there is none, or after reporting. */
static bool points_next(struct cr_sweep *sweep)
{
    const char **value =
        CR_NEWS(sweep->arena, const char *, sweep->n_columns + 1);
    struct points_found found = { 0 };
    const char *id;

    if (!sweep->method->candidate(sweep, sweep->next, value) ||
        !points_resolve(sweep, value, &found))
        return false;
    sweep->next++;
    id = found.meets ? cr_sweep_id(sweep, found.hash) : NULL;
    if (id) {
        points_add(sweep, value, id, &found);
        sweep->misses = 0;
    } else if (sweep->counted) {
        sweep->misses++;
    }
    return true;
}

bool cr_sweep_wants_points(const struct cr_sweep *sweep)
{
    return sweep->n < (sweep->counted ? sweep->opts.count
                                    : CR_SWEEP_POINTS_MAX) &&
           sweep->misses < MISSES_MAX;
}

static void points_warn_few(struct cr_sweep *sweep)
{
    if (sweep->misses == MISSES_MAX)
        cr_warn(sweep->diag, CR_NOWHERE, CR_E_OUT_OF_RANGE,
                "found only %" PRId64 " different points, not %" PRId64,
                sweep->n, sweep->opts.count);
}

bool cr_sweep_more_points(struct cr_sweep *sweep)
{
    int errors = sweep->diag->errors;

    while (cr_sweep_wants_points(sweep) && points_next(sweep))
        ;
    return sweep->diag->errors == errors;
}

static bool points_none(struct cr_sweep *sweep)
{
    return cr_error(sweep->diag, CR_NOWHERE, CR_E_NO_MATCH,
                    "the sweep has no points%s",
                    sweep->opts.where
                        ? ": no combination of values meets 'sweep.where'"
                        : "");
}

bool cr_sweep_ask(struct cr_sweep *sweep)
{
    int64_t n = sweep->n;

    if (!sweep->method->suggest)
        return false;
    while (sweep->n == n && cr_sweep_wants_points(sweep)) {
        if (!sweep->method->suggest(sweep, sweep->next) || !points_next(sweep))
            return false;
        if (sweep->n > 0)
            points_warn_few(sweep);
    }
    return sweep->n > n || (n == 0 && points_none(sweep));
}

/* Whether a key is set once: by one parameter, and not for all points by a
 * later assignment. */
static bool points_check_column(struct cr_sweep *sweep, int c)
{
    const char *key = sweep->column[c];

    for (int i = 0; i < c; i++)
        if (strcmp(sweep->column[i], key) == 0)
            return cr_error(sweep->diag, CR_NOWHERE, CR_E_CONFLICT,
                            "'%s' is a parameter of the sweep twice", key);
    for (int i = 0; sweep->fixed[i]; i++)
        if (sweep->fixed_args[i] > sweep->column_arg[c] &&
            cr_starts(sweep->fixed[i], key) &&
            sweep->fixed[i][strlen(key)] == '=')
            return cr_error(sweep->diag, CR_NOWHERE, CR_E_CONFLICT,
                            "'%s' is a parameter of the sweep and has one "
                            "value on the command line",
                            key);
    return true;
}

bool cr_sweep_points(struct cr_sweep *sweep)
{
    bool ok = !sweep->method->check || sweep->method->check(sweep);

    for (int c = 0; ok && c < sweep->n_columns; c++)
        ok = points_check_column(sweep, c);
    if (!ok || !cr_sweep_more_points(sweep))
        return false;
    if (sweep->n == 0 && !sweep->method->suggest)
        return points_none(sweep);
    points_warn_few(sweep);
    return true;
}
