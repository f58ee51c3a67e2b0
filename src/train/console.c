#include "train/console.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define CONSOLE_BAR_EVERY 0.1 /* seconds */

double cr_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int console_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    long n = columns ? strtol(columns, NULL, 10) : 0;

    if (n <= 0 && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    return n > 20 && n < 1000 ? (int)n : 80;
}

void cr_console_open(struct cr_console *console, enum cr_progress style,
                     struct cr_diag_format show)
{
    if (style == CR_PROGRESS_AUTO)
        style = isatty(STDERR_FILENO) ? CR_PROGRESS_BAR : CR_PROGRESS_PLAIN;
    *console = (struct cr_console){ .style = style, .show = show };
    console->width = console_width();
}

void cr_console_clear(struct cr_console *console)
{
    if (console->bar_shown)
        fputs("\r\033[K", stderr);
    console->bar_shown = false;
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

bool cr_console_bar_due(const struct cr_console *console, double now)
{
    return console->style == CR_PROGRESS_BAR && now >= console->bar_next;
}

static void console_time(char *to, size_t room, double seconds)
{
    long s = (long)(seconds + 0.5);

    if (seconds < 0 || seconds > 1e7)
        snprintf(to, room, "-:--");
    else if (s >= 3600)
        snprintf(to, room, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(to, room, "%ld:%02ld", s / 60, s % 60);
}

void cr_console_bar(struct cr_console *console, double now,
                    const struct cr_bar *bar)
{
    char head[48], tail[96], left[32];
    int room, full, digits;

    console->bar_next = now + CONSOLE_BAR_EVERY;
    console_time(left, sizeof left, bar->left);
    if (bar->epochs > 0)
        snprintf(head, sizeof head, "epoch %" PRId64 "/%" PRId64, bar->epoch,
                 bar->epochs);
    else
        snprintf(head, sizeof head, "epoch %" PRId64, bar->epoch);
    /* fixed field widths keep the bar from moving */
    digits = snprintf(NULL, 0, "%" PRId64, bar->of);
    snprintf(tail, sizeof tail,
             "%*" PRId64 "/%" PRId64 "  loss %6.4f  %6.0f samples/s  %5s left",
             digits, bar->at, bar->of, bar->loss, bar->rate, left);
    room = console->width - 6 - (int)strlen(head) - (int)strlen(tail);
    if (room > 40)
        room = 40;
    if (room < 4) {
        fprintf(stderr, "\r\033[K%.*s", console->width - 1, tail);
    } else {
        full = bar->of > 0 ? (int)(bar->at * room / bar->of) : 0;
        fprintf(stderr, "\r\033[K%s [%.*s%*s] %s", head, full,
                "########################################", room - full, "",
                tail);
    }
    fflush(stderr);
    console->bar_shown = true;
}
