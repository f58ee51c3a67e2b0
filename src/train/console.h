/*
 * Output of a run: lines on standard error and in log.txt, and on a terminal a
 * progress bar with speed and remaining time.
 *
 * Lines have the form of MindSpore's tutorial: `loss: 2.302088  [  0/938]`,
 * and `Test: ` followed by ` Accuracy: 83.8%, Avg loss: 0.529534 `. The bar
 * replaces the loss lines on the terminal; log.txt has them all, without
 * carriage returns.
 */
#ifndef CR_TRAIN_CONSOLE_H
#define CR_TRAIN_CONSOLE_H

#include "base/append_file.h"
#include "base/diag.h"

enum cr_progress {
    CR_PROGRESS_AUTO,
    CR_PROGRESS_BAR,
    CR_PROGRESS_PLAIN,
    CR_PROGRESS_NONE
};

struct cr_console {
    enum cr_progress style; /* never AUTO */
    struct cr_append_file log; /* log.txt, once it is open */
    struct cr_diag_format show; /* how problems are printed */
    bool bar_shown;
    double bar_next; /* earliest time to draw the bar again */
    int width;
};

/* The time of a monotonic clock, in seconds. */
double cr_now(void);

void cr_console_open(struct cr_console *console, enum cr_progress style,
                     struct cr_diag_format show);

/* Prints a line to standard error and the log. */
void cr_console_log(struct cr_console *console, const char *format, ...)
    CR_PRINTF(2, 3);
/* Writes a line to the log only. */
void cr_console_log_file(struct cr_console *console, const char *line);
/* Writes a line to the log, and in the style plain to standard error. */
void cr_console_detail(struct cr_console *console, const char *format, ...)
    CR_PRINTF(2, 3);
/* Prints the problems not printed yet. */
void cr_console_problems(struct cr_console *console, struct cr_diag *diag);

struct cr_bar {
    int64_t epoch, epochs;  /* from 1; epochs 0: unknown */
    int64_t at, of;         /* steps of the epoch */
    double loss, rate;      /* samples per second */
    double left;            /* seconds; < 0: unknown */
};
/* Whether the style has a bar that is due to be drawn again. */
bool cr_console_bar_due(const struct cr_console *console, double now);
void cr_console_bar(struct cr_console *console, double now,
                    const struct cr_bar *bar);
/* Removes the bar. */
void cr_console_clear(struct cr_console *console);

#endif
