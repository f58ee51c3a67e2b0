#include "console/work_progress.h"

#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/str.h"

#define WORK_QUIET 0.5 /* seconds before the bar is shown */

void cr_work_begin(struct cr_work_progress *work, const struct cr_cli *cli,
                   const char *label, int64_t of)
{
    *work = (struct cr_work_progress){ .label = label, .of = of,
                                       .began = cr_now() };
    cr_console_open(&work->console,
                    cli->quiet ? CR_PROGRESS_NONE : CR_PROGRESS_AUTO,
                    (struct cr_diag_format){ .color = cli->color });
    work->console.bar_next = work->began + WORK_QUIET;
}

void cr_work_step(struct cr_work_progress *work, int64_t done,
                  int64_t samples)
{
    struct cr_arena mem = { 0 };
    struct cr_bar bar = { .label = work->label, .short_label = work->label,
                          .at = done, .of = work->of, .loss = NAN,
                          .left = NAN };
    double now, past;

    if (work->console.style != CR_PROGRESS_BAR)
        return;
    now = cr_now();
    past = now - work->began;
    if (!cr_console_bar_due(&work->console, now))
        return;
    if (bar.of > 0 && bar.at > bar.of)
        bar.at = bar.of;
    if (bar.of == 0)
        bar.label = bar.short_label =
            cr_strf(&mem, "%s %" PRId64, work->label, done);
    else if (done > 0)
        bar.left = past * (double)(bar.of - bar.at) / (double)bar.at;
    bar.rate = samples > 0 && past > 0 ? (double)samples / past : 0;
    cr_console_bar(&work->console, now, &bar);
    cr_arena_free(&mem);
}

void cr_work_clear(struct cr_work_progress *work)
{
    cr_console_clear(&work->console);
}
