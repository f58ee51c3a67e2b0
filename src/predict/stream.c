/*
 * predict --stream: another program writes a row and reads the answer, which is
 * flushed before the next line is read.
 *
 * SIGINT and SIGTERM end the stream after the current line, with status 130 and
 * 143: they interrupt the reading of a line, but never the writing of an
 * answer.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "predict/predict.h"

static volatile sig_atomic_t stream_signal;

static void stream_catch(int number)
{
    stream_signal = number;
}

/* Without SA_RESTART, so that a signal interrupts read(). */
static void stream_signals(void)
{
    struct sigaction act = { .sa_handler = stream_catch };

    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

/* ---- Lines */

struct lines {
    char *text;
    size_t from, to, cap;
    bool ended;
};

/* Finds the next line, without its line end. False: end of input, a signal, or
 * *error (errno). Text after the last line end is a line too. */
static bool lines_next(struct lines *l, char **line, size_t *len, int *error)
{
    size_t seen = l->from;
    char *end = NULL;

    *error = 0;
    while (!(end = memchr(l->text + seen, '\n', l->to - seen)) && !l->ended) {
        ssize_t got;

        seen = l->to;
        if (l->from > 0 && l->from == l->to)
            l->from = l->to = seen = 0;
        if (l->to + 1 >= l->cap) {
            size_t used = l->to - l->from;

            if (l->from > 0) {
                memmove(l->text, l->text + l->from, used);
                seen -= l->from;
                l->from = 0;
                l->to = used;
            } else {
                l->cap *= 2;
                l->text = realloc(l->text, l->cap);
                if (!l->text)
                    cr_out_of_memory(l->cap);
            }
        }
        got = stream_signal ? -1
                            : read(STDIN_FILENO, l->text + l->to,
                                   l->cap - l->to - 1);
        if (stream_signal)
            return false;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            *error = errno;
            return false;
        }
        l->ended = got == 0;
        l->to += (size_t)got;
    }
    if (!end && l->from == l->to)
        return false;
    *line = l->text + l->from;
    *len = (size_t)((end ? end : l->text + l->to) - *line);
    l->from += *len + (end != NULL);
    if (*len > 0 && (*line)[*len - 1] == '\r')
        --*len;
    return true;
}

static bool stream_answer(struct cr_predict *j)
{
    return cr_predict_flush(j) && fflush(stdout) == 0;
}

static bool stream_line(struct cr_predict *j, struct cr_predict_rows *rows,
                        char *line, size_t len, int64_t number)
{
    struct cr_predict_row row = { .sample = -1 };
    int got = cr_predict_line(rows, line, len, number);

    if (got == 0)
        return true; /* the fields' names */
    row.id = cr_predict_rows_id(rows);
    if (got > 0)
        return cr_predict_add(j, &row);
    return cr_predict_bad(j, &row) && got != -2;
}

static bool stream_rows(struct cr_predict *j)
{
    struct lines l = { .cap = 1 << 16 };
    struct cr_predict_rows *rows = cr_predict_lines(j);
    int64_t number = 0;
    bool ok = true;
    int error;
    size_t len;
    char *line;

    l.text = malloc(l.cap);
    if (!l.text)
        cr_out_of_memory(l.cap);
    while (ok && lines_next(&l, &line, &len, &error)) {
        size_t mark = number == 0 ? cr_bom(line, len) : 0;

        ok = stream_line(j, rows, line + mark, len - mark, ++number) &&
             stream_answer(j);
    }
    if (ok && error)
        ok = cr_error(j->cli->diag, CR_NOWHERE, CR_E_DATA_READ,
                      "standard input: cannot read: %s", strerror(error));
    cr_predict_rows_close(rows);
    free(l.text);
    return ok;
}

bool cr_predict_stream(struct cr_predict *j, int *status)
{
    bool ok;

    stream_signals();
    cr_predict_header(j);
    ok = fflush(stdout) == 0;
    if (ok && (j->o->files_from || j->o->rows == CR_ROWS_NAMES))
        ok = cr_predict_operands(j);
    else if (ok)
        ok = stream_rows(j);
    if (stream_signal)
        *status = 128 + stream_signal;
    else if (j->bad > 0)
        *status = cr_code_exit(CR_E_DATA_FORMAT);
    return ok;
}
