/*
 * A progress bar for commands that do not train: on a terminal, on standard
 * error, once the work has taken half a second, and gone at its end. Nothing
 * is written to pipes and files, or with -q.
 */
#ifndef CR_CONSOLE_WORK_PROGRESS_H
#define CR_CONSOLE_WORK_PROGRESS_H

#include "conf/command_line.h"
#include "console/console.h"

struct cr_work_progress {
    struct cr_console console;
    const char *label; /* "eval" */
    int64_t of;        /* parts of the work; 0: unknown */
    double began;
};

/* Starts the clock. The remaining time is estimated as if all parts took equal
 * times. */
void cr_work_begin(struct cr_work_progress *work, const struct cr_cli *cli,
                   const char *label, int64_t of);
/* The number of parts done, and of samples for the rate (0: no rate). Costs
 * next to nothing unless the bar is due. */
void cr_work_step(struct cr_work_progress *work, int64_t done,
                  int64_t samples);
/* Removes the bar; before anything else is written to the terminal. It is drawn
 * again by a later step. */
void cr_work_clear(struct cr_work_progress *work);

#endif
