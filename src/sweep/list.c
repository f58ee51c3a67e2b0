/* list: the rows of a TSV file, whose header has the keys. */
#include <string.h>

#include "base/str.h"
#include "sweep/sweep.h"

#define LIST_MAX ((size_t)64 << 20)

/* The fields of a line, which ends with '\n' or NUL; returns their number. */
static int list_fields(struct cr_arena *arena, const char *line, int most,
                       const char **field)
{
    size_t len = strcspn(line, "\r\n");
    int n = 0;

    for (size_t at = 0; at <= len; n++) {
        size_t end = at + strcspn(line + at, "\t\r\n");

        if (n < most)
            field[n] = cr_strndup(arena, line + at, end - at);
        at = end + 1;
    }
    return n;
}

/* Reads the file as an axis whose columns change together. */
static bool list_check(struct cr_sweep *sweep)
{
    struct cr_sweep_axis *axis;
    const char *path = sweep->opts.points, *text, *line, **field;
    struct cr_pos pos;
    size_t len;
    int n, number = 1;

    if (sweep->n_axes > 0 || !path)
        return cr_error(sweep->diag, CR_NOWHERE, CR_E_CONFLICT,
                        path ? "the method list takes its points from '%s' and "
                               "cannot be combined with parameters"
                             : "the method list needs a file: --points FILE",
                        path);
    text = cr_read_file(sweep->arena, sweep->diag, CR_NOWHERE, path,
                        CR_E_DATA_MISSING, LIST_MAX, &len);
    if (!text)
        return false;
    text += cr_bom(text, len);
    len = strlen(text);
    pos = cr_at_file(sweep->arena, path);
    n = list_fields(sweep->arena, text, 0, NULL);
    field = CR_NEWS(sweep->arena, const char *, n);
    list_fields(sweep->arena, text, n, field);
    for (int c = 0; c < n; c++)
        cr_sweep_column(sweep, field[c], 0);
    axis = sweep->axis = CR_NEW(sweep->arena, struct cr_sweep_axis);
    sweep->n_axes = 1;
    *axis = (struct cr_sweep_axis){
        .n_columns = n,
        /* a row has n bytes or more, which bounds a header of many columns */
        .choice = CR_NEWS(sweep->arena, const char *, (len / (size_t)n + 2) *
                                                          (size_t)n),
    };
    line = strchr(text, '\n');
    for (; line && line[1]; line = strchr(line, '\n')) {
        const char **row = axis->choice + (int64_t)axis->n * n;

        line++;
        number++;
        if (strcspn(line, "\r\n") == 0)
            continue;
        if (list_fields(sweep->arena, line, n, row) != n) {
            pos.line = number;
            return cr_error(sweep->diag, pos, CR_E_DATA_FORMAT,
                            "found %d fields, expected %d as in the header",
                            list_fields(sweep->arena, line, 0, NULL), n);
        }
        for (int c = 0; c < n; c++)
            if (!*row[c])
                row[c] = NULL;
        axis->n++;
    }
    if (axis->n > CR_SWEEP_POINTS_MAX)
        return cr_error(sweep->diag, pos, CR_E_OUT_OF_RANGE,
                        "found %d points, expected at most %d", axis->n,
                        CR_SWEEP_POINTS_MAX);
    return axis->n > 0 || cr_error(sweep->diag, pos, CR_E_DATA_EMPTY,
                                   "the file has no points");
}

static bool list_candidate(struct cr_sweep *sweep, int64_t k,
                           const char **value)
{
    const struct cr_sweep_axis *axis = sweep->axis;

    if (k >= axis->n)
        return false;
    for (int c = 0; c < axis->n_columns; c++)
        value[c] = axis->choice[k * axis->n_columns + c];
    return true;
}

const struct cr_sweep_method cr_sweep_list = {
    .name = "list",
    .check = list_check,
    .candidate = list_candidate,
};
