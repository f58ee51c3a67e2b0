#include "console/console.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/plot.h"
#include "base/signals.h"
#include "base/str.h"

#define CONSOLE_BAR_EVERY 0.1 /* seconds */

/* The width is read for each output, since a terminal can be resized at any
 * time. COLUMNS may be out of date: the smaller one counts. */
static int console_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = { 0 };
    long n = columns ? strtol(columns, NULL, 10) : 0;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
        (n <= 0 || n > size.ws_col))
        n = size.ws_col;
    return n > 0 && n < 1000 ? (int)n : 80;
}

static enum cr_progress console_auto(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0
               ? CR_PROGRESS_BAR
               : CR_PROGRESS_PLAIN;
}

void cr_console_open(struct cr_console *console, enum cr_progress style,
                     struct cr_diag_format show)
{
    if (style == CR_PROGRESS_AUTO)
        style = console_auto();
    *console = (struct cr_console){ .style = style,
                                    .show = show,
                                    .utf8 = cr_plot_braille() };
}

void cr_console_clear(struct cr_console *console)
{
    if (console->bar_shown) {
        fputs(CR_SIGNALS_ERASE, stderr);
        fflush(stderr);
    }
    console->bar_shown = false;
    cr_signals_bar(false);
}

void cr_console_log_file(struct cr_console *console, const char *line)
{
    if (!console->log.path)
        return;
    cr_append_file_add(&console->log, line, strlen(line));
    cr_append_file_add(&console->log, "\n", 1);
}

static void console_line(struct cr_console *console, bool shown,
                         const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    if (shown) {
        cr_console_clear(console);
        vfprintf(stderr, format, args);
        fputc('\n', stderr);
    }
    if (console->log.path) {
        struct cr_arena mem = { 0 };

        cr_console_log_file(console, cr_vstrf(&mem, format, again));
        cr_arena_free(&mem);
    }
    va_end(again);
}

void cr_console_log(struct cr_console *console, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    console_line(console, console->style != CR_PROGRESS_NONE, format, args);
    va_end(args);
}

void cr_console_detail(struct cr_console *console, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    console_line(console, console->style == CR_PROGRESS_PLAIN, format, args);
    va_end(args);
}

void cr_console_problems(struct cr_console *console, struct cr_diag *diag)
{
    cr_console_clear(console);
    cr_diag_print(diag, stderr, console->show);
}

void cr_console_row(struct cr_console *console, const struct cr_row_cell *cell,
                    int n)
{
    struct cr_arena mem = { 0 };

    if (console->style != CR_PROGRESS_BAR)
        return;
    cr_console_clear(console);
    /* Nothing is written to the last column: a terminal may wrap there. */
    fputs(cr_row_text(&mem, &console->table, cell, n, console_width() - 1,
                      console->show.color),
          stderr);
    fflush(stderr);
    console->bar_next = 0;
    cr_arena_free(&mem);
}

/* A background process must not draw over the output of the foreground. */
static bool console_in_background(void)
{
    pid_t foreground = tcgetpgrp(STDERR_FILENO);

    return foreground > 0 && foreground != getpgrp();
}

bool cr_console_bar_due(const struct cr_console *console, double now)
{
    return console->style == CR_PROGRESS_BAR && now >= console->bar_next;
}

void cr_console_bar(struct cr_console *console, double now,
                    const struct cr_bar *bar)
{
    struct cr_arena mem = { 0 };

    console->bar_next = now + CONSOLE_BAR_EVERY;
    if (console_in_background())
        return;
    /* Set before the bar is drawn, because signal handlers read it. */
    console->bar_shown = true;
    cr_signals_bar(true);
    fprintf(stderr, "%s%s\r", CR_SIGNALS_ERASE,
            cr_bar_text(&mem, bar, console_width() - 1, console->utf8));
    fflush(stderr);
    cr_arena_free(&mem);
}
