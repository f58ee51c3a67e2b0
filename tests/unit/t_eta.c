/* The remaining time of runs with made-up durations, after a tenth of the
 * time and at every step from there on. */
#include <math.h>
#include <stdlib.h>

#include "console/eta.h"
#include "tap.h"

/* Durations in seconds of a run of `steps` steps with an evaluation every
 * `eval_every` steps and a checkpoint every `save_every` steps. */
struct course {
    const char *name;
    int steps, eval_every, save_every;
    double step, first, noise; /* of a step, the first one, and the relative
                                  amplitude of its variation */
    double eval, save;
    double guess;      /* of an evaluation, in steps */
    int slow;          /* steps at the start that take twice as long */
};

static double noise(const struct course *c, int step)
{
    double v = sin(step * 12.9898) * 43758.5453;

    return 1 + c->noise * (2 * (v - floor(v)) - 1);
}

static double duration(const struct course *c, int step)
{
    if (step == 1)
        return c->first;
    return c->step * noise(c, step) * (step <= c->slow ? 2 : 1);
}

static double count(const struct course *c, int every, int from)
{
    return every ? c->steps / every - from / every : 0;
}

/* The largest relative error of the estimate after the first tenth of the
 * time, until a tenth of it is left. */
static double worst(const struct course *c)
{
    struct cr_eta eta = { 0 };
    double total = 0, now = 0, max = 0;

    for (int i = 1; i <= c->steps; i++)
        total += duration(c, i) +
                 (c->eval_every && i % c->eval_every == 0 ? c->eval : 0) +
                 (c->save_every && i % c->save_every == 0 ? c->save : 0);
    for (int i = 1; i <= c->steps; i++) {
        struct cr_eta_work work = { .steps = c->steps - i };
        double left;

        now += duration(c, i);
        cr_eta_step(&eta, duration(c, i));
        if (c->eval_every && i % c->eval_every == 0) {
            now += c->eval;
            cr_eta_job(&eta, CR_ETA_EVAL, c->eval);
        }
        if (c->save_every && i % c->save_every == 0) {
            now += c->save;
            cr_eta_job(&eta, CR_ETA_SAVE, c->save);
        }
        work.job[CR_ETA_EVAL].count = count(c, c->eval_every, i);
        work.job[CR_ETA_EVAL].guess = c->guess;
        work.job[CR_ETA_SAVE].count = count(c, c->save_every, i);
        left = cr_eta_left(&eta, &work);
        if (now >= total / 10 && now <= total * 0.9)
            max = fmax(max, fabs(left - (total - now)) / (total - now));
    }
    return max;
}

static void courses(void)
{
    static const struct course all[] = {
        { "steps of equal duration", 1000, 0, 0, 0.01, 0.01, 0, 0, 0, 0, 0 },
        { "a first step 50 times as long", 1000, 0, 0, 0.01, 0.5, 0, 0, 0, 0,
          0 },
        { "steps that vary by 30 %", 1000, 0, 0, 0.01, 0.01, 0.3, 0, 0, 0, 0 },
        { "evaluations and checkpoints", 1000, 50, 50, 0.01, 0.01, 0.1, 0.3,
          0.1, 15, 0 },
        { "evaluations as long as their epochs", 1000, 50, 0, 0.01, 0.01, 0,
          0.5, 0, 15, 0 },
        { "a first evaluation after a third, less than guessed", 300, 100, 0,
          0.01, 0.01, 0, 0.15, 0, 20, 0 },
        { "a slow start, such as data not in memory yet", 2000, 0, 0, 0.01,
          0.01, 0, 0, 0, 0, 50 },
        { "few steps", 50, 0, 0, 1, 3, 0.02, 0, 0, 0, 0 },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        double error = worst(&all[i]);

        ok(error <= 0.1, "right within 10 %%: %s", all[i].name);
        if (error > 0.1)
            printf("# off by %.1f %%\n", 100 * error);
    }
}

/* The machine becomes busy after half of the run: the estimate follows. */
static void change(void)
{
    struct cr_eta eta = { 0 };
    struct cr_eta_work work = { .steps = 500 };

    for (int i = 0; i < 1000; i++)
        cr_eta_step(&eta, 1);
    for (int i = 0; i < 1000; i++)
        cr_eta_step(&eta, 3);
    ok(fabs(cr_eta_left(&eta, &work) - 1500) < 150,
       "the recent half counts, not the whole run");
}

/* Evaluations every 10 seconds that take 5: three seconds for two. */
static void timed(void)
{
    struct cr_eta eta = { 0 };
    struct cr_eta_work work = { .steps = 100 };

    work.job[CR_ETA_EVAL].interval = 10;
    work.job[CR_ETA_EVAL].count = 1;
    cr_eta_step(&eta, 2);
    cr_eta_job(&eta, CR_ETA_EVAL, 5);
    ok(fabs(cr_eta_left(&eta, &work) - 1.5 * 205) < 1e-9,
       "evaluations by the clock delay the end");
}

static void start(void)
{
    struct cr_eta eta = { 0 };
    struct cr_eta_work work = { .steps = 10 };

    ok(isnan(cr_eta_left(&eta, &work)), "unknown before the first step");
    cr_eta_step(&eta, 2);
    ok(fabs(cr_eta_left(&eta, &work) - 20) < 1e-9,
       "known after the first step");
    work.job[CR_ETA_EVAL].count = 2;
    work.job[CR_ETA_EVAL].guess = 3;
    ok(fabs(cr_eta_left(&eta, &work) - 32) < 1e-9,
       "an estimate replaces evaluations until one is done");
    cr_eta_job(&eta, CR_ETA_EVAL, 10);
    ok(fabs(cr_eta_left(&eta, &work) - 40) < 1e-9,
       "a measured evaluation replaces the guess");
}

int main(void)
{
    start();
    courses();
    change();
    timed();
    return done();
}
