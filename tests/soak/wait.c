/*
 * A plug-in cell that takes time without a processor, for net.sh: waits for
 * `seconds` per sample in forward, and for twice as long in bprop. y = x.
 */
#include <cellrun.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    SECONDS
};

static const struct cellrun_option options[] = {
    [SECONDS] = { .name = "seconds",
                  .type = CELLRUN_REAL,
                  .required = true,
                  .high = 1,
                  .doc = "Of a sample." },
    { 0 },
};

static void wait_for(const struct cellrun_step *s, double passes)
{
    double seconds = passes * s->option[SECONDS].real * (double)s->to;
    struct timespec t = { .tv_sec = (time_t)seconds };

    t.tv_nsec = (long)(1e9 * (seconds - (double)t.tv_sec));
    prctl(PR_SET_TIMERSLACK, 1UL);
    nanosleep(&t, NULL);
}

static void wait_forward(const struct cellrun_step *s)
{
    memcpy(s->y[0], s->x[0],
           (size_t)cellrun_count(&s->input[0]) * sizeof *s->y[0]);
    wait_for(s, 1);
}

static void wait_bprop(const struct cellrun_step *s)
{
    if (s->dx[0])
        memcpy(s->dx[0], s->dy[0],
               (size_t)cellrun_count(&s->input[0]) * sizeof *s->dy[0]);
    wait_for(s, 2);
}

static const struct cellrun_cell wait_cell = {
    .name = "Wait",
    .summary = "Waits.",
    .options = options,
    .flags = CELLRUN_SAMPLES_APART,
    .forward = wait_forward,
    .bprop = wait_bprop,
};

CELLRUN_PLUGIN(&wait_cell);
