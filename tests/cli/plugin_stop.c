/* A plug-in whose calls end with a message, for tests/cli/plugin.bats. */
#include <cellrun.h>
#include <stdio.h>
#include <string.h>

enum { WHERE, LIMIT };
enum { NOWHERE, FORWARD, BPROP };

static const struct cellrun_option options[] = {
    { .name = "where", .doc = "Which call looks.", .type = CELLRUN_CHOICE,
      .choices = "nowhere|forward|bprop" },
    { .name = "limit", .doc = "What no number may exceed.",
      .type = CELLRUN_REAL, .number = 100 },
    { 0 },
};

/* Every sample that is beyond the limit is reported; the first one counts, also
 * where other threads have others. */
static void look(const struct cellrun_step *s)
{
    int64_t each = cellrun_count(&s->input[0]) / s->input[0].dim[0], i, k;

    for (i = s->to - 1; i >= s->from; i--)
        for (k = 0; k < each; k++)
            if (s->x[0][i * each + k] > s->option[LIMIT].real)
                snprintf(s->error, CELLRUN_ERROR_MAX,
                         "sample %d of the batch\n is beyond %g", (int)i,
                         s->option[LIMIT].real);
}

static void forward(const struct cellrun_step *s)
{
    int64_t each = cellrun_count(&s->input[0]) / s->input[0].dim[0];

    memcpy(s->y[0] + s->from * each, s->x[0] + s->from * each,
           (size_t)((s->to - s->from) * each) * sizeof(cellrun_real));
    if (s->option[WHERE].choice == FORWARD)
        look(s);
}

static void bprop(const struct cellrun_step *s)
{
    int64_t each = cellrun_count(&s->input[0]) / s->input[0].dim[0];

    memcpy(s->dx[0] + s->from * each, s->dy[0] + s->from * each,
           (size_t)((s->to - s->from) * each) * sizeof(cellrun_real));
    if (s->option[WHERE].choice == BPROP)
        look(s);
}

static const struct cellrun_cell cell = {
    .name = "Careful",
    .summary = "What comes in, within a limit.",
    .options = options,
    .flags = CELLRUN_SPLIT_FORWARD | CELLRUN_SPLIT_BPROP,
    .forward = forward,
    .bprop = bprop,
};

CELLRUN_PLUGIN(&cell);
