/* A plug-in that prints what it sees, for tests/cli/plugin.bats. */
#include <cellrun.h>
#include <string.h>

static void forward(const struct cellrun_step *s)
{
    memcpy(s->y[0], s->x[0],
           (size_t)cellrun_count(&s->input[0]) * sizeof(cellrun_real));
    s->print(s, "comes in", s->x[0], &s->input[0]);
    s->print(s, "on two\nlines", NULL, NULL);
}

static void bprop(const struct cellrun_step *s)
{
    memcpy(s->dx[0], s->dy[0],
           (size_t)cellrun_count(&s->input[0]) * sizeof(cellrun_real));
    s->print(s, NULL, s->dy[0], &s->output[0]);
}

static const struct cellrun_cell cell = {
    .name = "Loud",
    .summary = "What comes in, printed.",
    .forward = forward,
    .bprop = bprop,
};

CELLRUN_PLUGIN(&cell);
