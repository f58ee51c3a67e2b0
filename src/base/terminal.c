#include "base/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/plot.h"
#include "base/str.h"

static struct {
    bool wide, no_pager;
    pid_t pager; /* 0: none */
    int out;     /* copy of standard output while there is a pager */
} terminal;

void cr_terminal_options(bool wide, bool no_pager)
{
    terminal.wide = wide;
    terminal.no_pager = no_pager;
}

/* ---- The size */

static struct winsize terminal_size(void)
{
    int fd = terminal.pager ? terminal.out : STDOUT_FILENO;
    struct winsize size = { 0 };

    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){ 0 };
    return size;
}

int cr_terminal_width(void)
{
    const char *columns = getenv("COLUMNS");
    long n = columns ? strtol(columns, NULL, 10) : 0;
    int real;

    if (terminal.wide || !isatty(terminal.pager ? terminal.out : STDOUT_FILENO))
        return 0;
    real = terminal_size().ws_col;
    return n > 0 && n < 10000 ? (int)n : real > 0 ? real : 80;
}

/* ---- The pager */

/* The pager of the environment; "" for the default, NULL for none. */
static const char *terminal_pager(void)
{
    const char *pager = getenv("PAGER"), *term = getenv("TERM");

    if (terminal.no_pager || !term || strcmp(term, "dumb") == 0 ||
        (pager && (!*pager || strcmp(pager, "cat") == 0)))
        return NULL;
    return pager ? pager : "";
}

/* In the child process: becomes the pager, or writes an error number. */
static _Noreturn void terminal_become(const char *pager, int in, int failed)
{
    int error;

    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    if (dup2(in, STDIN_FILENO) >= 0) {
        if (!*pager)
            execlp("less", "less", terminal.wide ? "-FRXS" : "-FRX", NULL);
        else if (setenv("LESS", "FRX", 0) == 0)
            execl("/bin/sh", "sh", "-c", pager, NULL);
    }
    error = errno;
    (void)!write(failed, &error, sizeof error);
    _exit(127);
}

/* Starts the pager with the reading end of `data`. Returns whether it runs. */
static bool terminal_start(const char *pager, const int data[2])
{
    int failed[2], error;
    bool runs;

    if (pipe2(failed, O_CLOEXEC) != 0)
        return false;
    fflush(stdout);
    terminal.pager = fork();
    if (terminal.pager == 0)
        terminal_become(pager, data[0], failed[1]);
    close(failed[1]);
    runs = terminal.pager > 0 && read(failed[0], &error, sizeof error) == 0;
    close(failed[0]);
    if (terminal.pager > 0 && !runs)
        waitpid(terminal.pager, NULL, 0);
    if (!runs)
        terminal.pager = 0;
    return runs;
}

void cr_terminal_page(long lines)
{
    const char *pager = terminal_pager();
    int rows = terminal_size().ws_row, data[2];

    if (terminal.pager || !pager || rows <= 0 || lines < rows ||
        pipe2(data, O_CLOEXEC) != 0)
        return;
    terminal.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (terminal.out >= 0 && terminal_start(pager, data)) {
        /* the keys belong to the pager */
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        dup2(data[1], STDOUT_FILENO);
    } else if (terminal.out >= 0) {
        close(terminal.out);
    }
    close(data[0]);
    close(data[1]);
}

void cr_terminal_text(const char *text)
{
    long lines = 0;

    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    cr_terminal_page(lines);
    fputs(text, stdout);
}

void cr_terminal_end(void)
{
    if (!terminal.pager)
        return;
    fflush(stdout);
    clearerr(stdout); /* a pager that has been left early */
    dup2(terminal.out, STDOUT_FILENO);
    close(terminal.out);
    while (waitpid(terminal.pager, NULL, 0) < 0 && errno == EINTR)
        ;
    terminal.pager = 0;
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
}

/* ---- Columns */

struct range {
    uint32_t first, last;
};

/* Combining and invisible characters: blocks of Unicode 15 that are such as a
 * whole. */
static const struct range zero_width[] = {
    { 0x0300, 0x036f },  { 0x0483, 0x0489 }, { 0x0591, 0x05bd },
    { 0x0610, 0x061a },  { 0x064b, 0x065f }, { 0x0e34, 0x0e3a },
    { 0x0e47, 0x0e4e },  { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
    { 0x200b, 0x200f },  { 0x202a, 0x202e }, { 0x2060, 0x2064 },
    { 0x20d0, 0x20ff },  { 0x302a, 0x302d }, { 0x3099, 0x309a },
    { 0xfe00, 0xfe0f },  { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff },
    { 0xe0100, 0xe01ef }
};

/* East Asian Width W and F (Unicode Standard Annex 11), by blocks. */
static const struct range double_width[] = {
    { 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x23e9, 0x23ec },
    { 0x2614, 0x2615 },   { 0x26a1, 0x26a1 },   { 0x2705, 0x2705 },
    { 0x274c, 0x274c },   { 0x2753, 0x2755 },   { 0x2e80, 0x303e },
    { 0x3041, 0x33ff },   { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },
    { 0xa000, 0xa4cf },   { 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },
    { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },
    { 0xffe0, 0xffe6 },   { 0x16fe0, 0x18aff }, { 0x1b000, 0x1b2ff },
    { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f7e0, 0x1f7eb },
    { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd }
};

static bool columns_in(const struct range *range, size_t n, uint32_t code)
{
    for (size_t i = 0; i < n; i++)
        if (code >= range[i].first && code <= range[i].last)
            return true;
    return false;
}

static int columns_of(uint32_t code)
{
    if (code < 0x300)
        return 1;
    if (columns_in(zero_width, CR_LEN(zero_width), code))
        return 0;
    return columns_in(double_width, CR_LEN(double_width), code) ? 2 : 1;
}

/* The length in bytes of the character at the start of a text, and its
 * columns. */
static size_t columns_next(const char *text, size_t len, int *columns)
{
    uint32_t code = 0;
    int n = cr_utf8(text, len, &code);

    *columns = n > 0 ? columns_of(code) : 1;
    return n > 0 ? (size_t)n : 1;
}

int cr_text_columns(const char *text)
{
    size_t len, at = 0;
    int columns = 0, one;

    while (text[at] && !(text[at] & 0x80))
        at++;
    columns = (int)at;
    for (len = at + strlen(text + at); at < len; columns += one)
        at += columns_next(text + at, len - at, &one);
    return columns;
}

/* The bytes of the longest beginning that takes at most this many columns. */
static size_t columns_head(const char *text, int columns)
{
    size_t len = strlen(text), at = 0, n;
    int one;

    for (; at < len; at += n) {
        n = columns_next(text + at, len - at, &one);
        columns -= one;
        if (columns < 0)
            break;
    }
    return at;
}

/* Where the longest end that takes at most this many columns begins. */
static size_t columns_tail(const char *text, int columns)
{
    size_t len = strlen(text), at = 0;
    int all = cr_text_columns(text), one;

    while (at < len && all > columns) {
        at += columns_next(text + at, len - at, &one);
        all -= one;
    }
    return at;
}

const char *cr_text_shorten(struct cr_arena *arena, const char *text,
                            int columns, enum cr_text_cut cut)
{
    const char *mark = cr_plot_braille() ? "…" : "..";
    int rest = columns - cr_text_columns(mark), head;
    struct cr_buf to = { .arena = arena };

    if (cr_text_columns(text) <= columns)
        return text;
    if (rest <= 0)
        return cr_strndup(arena, text, columns_head(text, columns));
    head = cut == CR_CUT_END ? rest : cut == CR_CUT_START ? 0 : rest / 2;
    cr_buf_add(&to, text, columns_head(text, head));
    if (cut != CR_CUT_END) /* what a wide character did not fill is left */
        rest -= cr_text_columns(cr_buf_text(&to));
    cr_buf_str(&to, mark);
    if (cut != CR_CUT_END)
        cr_buf_str(&to, text + columns_tail(text, rest));
    return cr_buf_text(&to);
}
