/* The parameters of a sweep: those of the config, and assignments of the
 * command line that have several values. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sweep/sweep.h"

#define CHOICES_MAX 1000000
#define INTEGER_MAX (INT64_C(1) << 53)
#define ROUND_MIN 1e4 /* texts in a range, fewer of which are not rounded */

int cr_sweep_column(struct cr_sweep *sweep, const char *key, int arg)
{
    if (sweep->n_columns == sweep->cap_columns) {
        int cap = sweep->cap_columns ? 2 * sweep->cap_columns : 8;
        size_t n = (size_t)sweep->n_columns;

        sweep->column = cr_grow(sweep->arena, sweep->column, n, (size_t)cap,
                                sizeof *sweep->column);
        sweep->column_arg = cr_grow(sweep->arena, sweep->column_arg, n,
                                    (size_t)cap, sizeof *sweep->column_arg);
        sweep->cap_columns = cap;
    }
    sweep->column[sweep->n_columns] = key;
    sweep->column_arg[sweep->n_columns] = arg;
    return sweep->n_columns++;
}

static struct cr_sweep_axis *space_axis(struct cr_sweep *sweep)
{
    if (sweep->n_axes == sweep->cap_axes) {
        int cap = sweep->cap_axes ? 2 * sweep->cap_axes : 8;

        sweep->axis = cr_grow(sweep->arena, sweep->axis, (size_t)sweep->n_axes,
                              (size_t)cap, sizeof *sweep->axis);
        sweep->cap_axes = cap;
    }
    sweep->axis[sweep->n_axes] = (struct cr_sweep_axis){ 0 };
    return &sweep->axis[sweep->n_axes++];
}

/* ---- Assignments with several values */

/* The length of the value at s, which ends at a comma outside quotes and
 * brackets. */
static size_t space_piece(const char *s)
{
    char quote = '\0';
    int depth = 0;
    size_t i;

    for (i = 0; s[i] && (depth > 0 || quote || s[i] != ','); i++)
        if (quote)
            quote = s[i] == quote ? '\0' : quote;
        else if ((s[i] == '"' || s[i] == '\'') && (i == 0 || depth > 0))
            quote = s[i];
        else if (strchr("[{(", s[i]))
            depth++;
        else if (strchr("]})", s[i]) && depth > 0)
            depth--;
    return i;
}

/* Reads range(to), range(from,to) or range(from,to,step) of integers: from, up
 * to but without to, as Python's. False if the text is not a range. */
static bool space_range(const char *s, int64_t bound[3])
{
    int n = 0;
    char *end;

    if (!cr_starts(s, "range("))
        return false;
    for (s += 6; n < 3; s = end + 1) {
        bound[n++] = strtoll(s, &end, 10);
        if (end == s || (*end != ',' && *end != ')'))
            return false;
        if (*end == ')')
            break;
    }
    if (*end != ')' || end[1])
        return false;
    if (n == 1) {
        bound[1] = bound[0];
        bound[0] = 0;
    }
    if (n < 3)
        bound[2] = 1;
    return bound[2] != 0;
}

/* Adds the values of a range to an axis. */
static bool space_add_range(struct cr_sweep *sweep, struct cr_sweep_axis *axis,
                            const int64_t bound[3])
{
    bool up = bound[2] > 0, empty = up ? bound[0] >= bound[1]
                                       : bound[0] <= bound[1];
    /* differences of int64_t fit into uint64_t */
    uint64_t span = up ? (uint64_t)bound[1] - (uint64_t)bound[0]
                       : (uint64_t)bound[0] - (uint64_t)bound[1];
    uint64_t step = up ? (uint64_t)bound[2] : 0 - (uint64_t)bound[2];
    uint64_t n = empty ? 0 : (span - 1) / step + 1;

    if (n < 1 || n > CHOICES_MAX)
        return cr_error(sweep->diag, CR_NOWHERE, CR_E_OUT_OF_RANGE,
                        "'%s': found a range of %" PRIu64
                        " values, expected 1 to %d",
                        sweep->column[axis->column], n, CHOICES_MAX);
    axis->n = (int)n;
    axis->choice = CR_NEWS(sweep->arena, const char *, n);
    for (uint64_t i = 0; i < n; i++) /* i * bound[2] need not fit */
        axis->choice[i] =
            cr_strf(sweep->arena, "%" PRId64,
                    (int64_t)((uint64_t)bound[0] + i * (uint64_t)bound[2]));
    return true;
}

static void space_add_values(struct cr_sweep *sweep, struct cr_sweep_axis *axis,
                             const char *value)
{
    size_t len;

    for (const char *s = value;; s += len + 1) {
        len = space_piece(s);
        axis->n++;
        if (!s[len])
            break;
    }
    axis->choice = CR_NEWS(sweep->arena, const char *, axis->n);
    for (int i = 0; i < axis->n; i++, value += len + 1) {
        len = space_piece(value);
        axis->choice[i] = cr_strndup(sweep->arena, value, len);
    }
}

/* Reads a number and skips the text after it; NULL if one is missing. */
static const char *space_number(const char *s, double *to, const char *after)
{
    char *end;

    *to = strtod(s, &end);
    while (end > s && *end == ' ')
        end++;
    return end > s && cr_starts(end, after) ? end + strlen(after) : NULL;
}

/* Refuses 0.001..0.1 and log_uniform(0.001, 0.1), which only parameters of the
 * section have. */
static bool space_refuse_distribution(struct cr_sweep *sweep, const char *set,
                                      const char *value)
{
    size_t word = strspn(value, "abcdefghijklmnopqrstuvwxyz_");
    bool call = word > 0 && value[word] == '(';
    const char *key = cr_strndup(sweep->arena, set,
                                 (size_t)(value - 1 - set)), *p;
    const char *name = call ? cr_strndup(sweep->arena, value, word) : "";
    double from, to;

    if (call && !strstr(name, "uniform"))
        return false;
    /* strtod takes the first point of two for one of its number */
    p = call ? space_number(value + word + 1, &from, ",")
             : strstr(value, "..");
    if (!p || (!call && !space_number(value, &from, ".")))
        return false;
    p = space_number(call ? p : p + 2, &to, call ? ")" : "");
    if (!p || *p)
        return false;
    cr_error(sweep->diag, CR_NOWHERE, CR_E_USAGE,
             "'%s': found %s, expected values between commas, or range(a,b)",
             key, cr_quote(sweep->arena, value, strlen(value)));
    cr_hint(sweep->diag, "write 'sweep.parameters={%s: {distribution: %s, min: "
            "%g, max: %g}}' and sweep.method=random or tpe", key,
            strstr(name, "int") ? "int_uniform"
            : call && !strstr(name, "log") ? "uniform" : "log_uniform",
            from, to);
    return true;
}

bool cr_sweep_split_sets(struct cr_sweep *sweep)
{
    struct cr_cli *cli = sweep->cli;
    const char **fixed;
    int *args, n = 0, n_fixed = 0, errors = sweep->diag->errors;

    while (cli->sets[n])
        n++;
    fixed = CR_NEWS(sweep->arena, const char *, n + 1);
    args = CR_NEWS(sweep->arena, int, n + 1);
    for (int i = 0; i < n; i++) {
        const char *set = cli->sets[i], *value = strchr(set, '=');
        int64_t bound[3];
        bool range = *set != '~' && value && space_range(value + 1, bound);
        struct cr_sweep_axis *axis;

        if (*set == '~' || !value ||
            (!range && !value[1 + space_piece(value + 1)])) {
            if (*set != '~' && value)
                space_refuse_distribution(sweep, set, value + 1);
            fixed[n_fixed] = set;
            args[n_fixed++] = cli->set_args[i];
            continue;
        }
        axis = space_axis(sweep);
        axis->n_columns = 1;
        axis->column = cr_sweep_column(
            sweep, cr_strndup(sweep->arena, set, (size_t)(value - set)),
            cli->set_args[i]);
        if (range)
            space_add_range(sweep, axis, bound);
        else
            space_add_values(sweep, axis, value + 1);
    }
    sweep->fixed = fixed;
    sweep->fixed_args = args;
    return sweep->n_axes > 0 && sweep->diag->errors == errors;
}

/* ---- The section */

struct space_parameter {
    const struct cr_node *values, *when;
    int distribution;
    double min, max;
};

static const struct cr_opt space_opts[] = {
    CR_NODE(struct space_parameter, values, "List of values."),
    CR_ENUM_DEFAULT(
        struct space_parameter, distribution, CR_DIST_NONE,
        "values|uniform|log_uniform|int_uniform|int_log_uniform",
        "Distribution of the values between min and max."),
    CR_REAL_OPTIONAL(struct space_parameter, min, -DBL_MAX, DBL_MAX,
                     "Smallest value."),
    CR_REAL_OPTIONAL(struct space_parameter, max, -DBL_MAX, DBL_MAX,
                     "Largest value."),
    CR_NODE(struct space_parameter, when, "Condition."),
    { 0 },
};

static const struct cr_descriptor space_about = {
    .name = "parameters",
    .summary = "A parameter of a sweep.",
    .opts = space_opts,
    .size = sizeof(struct space_parameter),
};

static bool space_is_integer(int distribution)
{
    return distribution == CR_DIST_INT_UNIFORM ||
           distribution == CR_DIST_INT_LOG_UNIFORM;
}

static bool space_is_log(int distribution)
{
    return distribution == CR_DIST_LOG_UNIFORM ||
           distribution == CR_DIST_INT_LOG_UNIFORM;
}

static bool space_check(struct cr_sweep *sweep, const struct cr_node *node,
                        const struct space_parameter *p)
{
    bool log = space_is_log(p->distribution);

    if (p->distribution == CR_DIST_NONE)
        return (p->values && p->values->kind == CR_NODE_LIST &&
                p->values->child) ||
               cr_error(sweep->diag, node->pos, CR_E_WRONG_TYPE,
                        "'%s': expected {values: [...]} or {distribution: D, "
                        "min: A, max: B}",
                        node->key);
    if (p->values)
        return cr_error(sweep->diag, node->pos, CR_E_CONFLICT,
                        "'%s': found values and a distribution, expected one "
                        "of them",
                        node->key);
    if (!(p->min <= p->max) || (log && !(p->min > 0)))
        return cr_error(sweep->diag, node->pos, CR_E_OUT_OF_RANGE,
                        "'%s': expected min and max with %smin <= max",
                        node->key, log ? "0 < " : "");
    if (!isfinite(log ? p->max / p->min : p->max - p->min))
        return cr_error(sweep->diag, node->pos, CR_E_OUT_OF_RANGE,
                        "'%s': the range from min to max is too large",
                        node->key);
    if (space_is_integer(p->distribution) &&
        (floor(p->min) != p->min || floor(p->max) != p->max ||
         fmax(-p->min, p->max) > INTEGER_MAX))
        return cr_error(sweep->diag, node->pos, CR_E_OUT_OF_RANGE,
                        "'%s': found %s and %s, expected integers as min and "
                        "max, at most %" PRId64 " from 0",
                        node->key, cr_real_text(sweep->arena, p->min),
                        cr_real_text(sweep->arena, p->max), INTEGER_MAX);
    return true;
}

const char *cr_sweep_number_text(struct cr_arena *arena,
                                 const struct cr_sweep_axis *axis, double value)
{
    double most = fmax(fabs(axis->min), fabs(axis->max));
    double unit = pow(10, floor(log10(most)) - 5); /* of the sixth digit */
    const char *text;
    double read;

    if (space_is_integer((int)axis->distribution))
        return cr_strf(arena, "%.0f", value);
    text = cr_strf(arena, "%.6g", value);
    read = strtod(text, NULL);
    return axis->max - axis->min >= unit * ROUND_MIN && read >= axis->min &&
                   read <= axis->max
               ? text
               : cr_real_text(arena, value);
}

static bool space_parameter(struct cr_sweep *sweep, const struct cr_node *node)
{
    struct space_parameter p = { 0 };
    struct cr_sweep_axis *axis;
    int i = 0;

    if (!cr_opts_read(sweep->arena, sweep->diag, &space_about, node, node->pos,
                      &p) ||
        !space_check(sweep, node, &p))
        return false;
    axis = space_axis(sweep);
    axis->n_columns = 1;
    axis->column = cr_sweep_column(sweep, node->key, 0);
    axis->distribution = (enum cr_sweep_distribution)p.distribution;
    axis->min = p.min;
    axis->max = p.max;
    if (p.distribution != CR_DIST_NONE)
        return true;
    axis->n = cr_node_count(p.values);
    axis->choice = CR_NEWS(sweep->arena, const char *, axis->n);
    for (CR_EACH(m, p.values))
        axis->choice[i++] = cr_node_flow(sweep->arena, m);
    return true;
}

/* Values that change together: the columns are the keys of all maps. */
static bool space_together(struct cr_sweep *sweep, const struct cr_node *list)
{
    struct cr_sweep_axis *axis = space_axis(sweep);
    int row = 0;

    axis->column = sweep->n_columns;
    for (CR_EACH(map, list)) {
        if (map->kind != CR_NODE_MAP)
            return cr_error(sweep->diag, map->pos, CR_E_WRONG_TYPE,
                            "'together': found %s, expected a map from keys to "
                            "values",
                            cr_node_what(sweep->arena, map));
        for (CR_EACH(m, map)) {
            int c = axis->column;

            while (c < sweep->n_columns && strcmp(sweep->column[c], m->key))
                c++;
            if (c == sweep->n_columns)
                cr_sweep_column(sweep, m->key, 0);
        }
        axis->n++;
    }
    axis->n_columns = sweep->n_columns - axis->column;
    if (axis->n_columns == 0)
        return cr_error(sweep->diag, list->pos, CR_E_WRONG_TYPE,
                        "'together': found %s, expected a list of maps",
                        cr_node_what(sweep->arena, list));
    axis->choice =
        CR_NEWS(sweep->arena, const char *, axis->n * axis->n_columns);
    for (CR_EACH(map, list)) {
        for (int c = 0; c < axis->n_columns; c++) {
            const struct cr_node *m =
                cr_node_get(map, sweep->column[axis->column + c]);

            if (m)
                axis->choice[row * axis->n_columns + c] =
                    cr_node_flow(sweep->arena, m);
        }
        row++;
    }
    return true;
}

/* Whether the command line sets a key, which then replaces the parameter. */
static bool space_is_given(const struct cr_sweep *sweep, const char *key)
{
    for (int c = 0; c < sweep->n_columns; c++)
        if (strcmp(sweep->column[c], key) == 0)
            return true;
    for (int i = 0; sweep->fixed[i]; i++)
        if (cr_starts(sweep->fixed[i], key) &&
            sweep->fixed[i][strlen(key)] == '=')
            return true;
    return false;
}

bool cr_sweep_read_space(struct cr_sweep *sweep)
{
    const struct cr_node *map = sweep->opts.parameters;
    bool ok = true;

    if (map && map->kind != CR_NODE_MAP)
        return cr_error(sweep->diag, map->pos, CR_E_WRONG_TYPE,
                        "'sweep.parameters': found %s, expected a map",
                        cr_node_what(sweep->arena, map));
    for (CR_EACH(m, map))
        if (!space_is_given(sweep, m->key))
            ok = space_parameter(sweep, m) && ok;
    if (sweep->opts.together)
        ok = space_together(sweep, sweep->opts.together) && ok;
    return ok;
}
