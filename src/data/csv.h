/*
 * Tables as text: fields between delimiters, rows between line ends, in the
 * dialect that cellrun-formats(7) describes (RFC 4180, with the strictness of
 * MindSpore's reader). Errors have file, line and column.
 *
 * A file is read once from front to back, through a window as large as its
 * longest row, so that memory does not grow with the file.
 */
#ifndef CR_DATA_CSV_H
#define CR_DATA_CSV_H

#include "base/diag.h"

struct cr_csv_field {
    const char *text;       /* without quotes; valid until the next row */
    size_t len;
    int64_t at, raw;        /* in the file, quotes included: start, bytes */
    int64_t line;           /* from 1 */
    int col;                /* in bytes, from 1 */
};

struct cr_csv {
    const char *path;
    struct cr_csv_field *field;
    int n;                  /* fields of the present row */
    int64_t line;           /* where it begins */

    struct cr_diag *diag;
    int fd;
    char delimiter;
    bool ended;             /* the window reaches the end of the file */
    bool borrowed;          /* the window is the caller's */
    char *window;
    size_t cap, from, to;   /* unread bytes: window[from .. to) */
    int64_t base;           /* of window[0] in the file */
    int64_t next_line;      /* of window[from] */
    int64_t length;         /* bytes read so far, and their CRC-32 */
    uint32_t crc;
    char *plain;            /* fields that had doubled quotes, without them */
    size_t plain_cap;
    int cap_fields;
};

/* Path "-": standard input. False after reporting. */
bool cr_csv_open(struct cr_csv *csv, struct cr_diag *diag, const char *path,
                 char delimiter);
/* The next row; false at the end and, after reporting, at an error, which
 * `*bad` tells apart. */
bool cr_csv_next(struct cr_csv *csv, bool *bad);
void cr_csv_close(struct cr_csv *csv);

/* Instead of a file: rows of a text in memory, which the caller keeps, and
 * which begins at that line of `name`. Called again for further texts. */
void cr_csv_memory(struct cr_csv *csv, struct cr_diag *diag, const char *name,
                   char delimiter, char *text, size_t len, int64_t line);
/* After an error in a row: goes on behind the line where the row begins.
 * False at the end or after reporting. */
bool cr_csv_skip_line(struct cr_csv *csv);
/* The next line as it is, without its end, until the next call; at its number
 * csv->line. False at the end and, after reporting, at an error, which `*bad`
 * tells apart. */
bool cr_csv_line(struct cr_csv *csv, char **text, size_t *len, bool *bad);

/* Where a field of the present row stands. */
struct cr_pos cr_csv_at(const struct cr_csv *csv,
                        const struct cr_csv_field *field);

/* A field as it lies in the file, len bytes, without its quotes, in place:
 * bytes that are left. Only for fields that a reader has passed. */
size_t cr_csv_plain(char *raw, size_t len);

/* Numbers: the whole field, blanks around it apart, in decimal. False for
 * anything else, also for values that are not finite or do not fit. The real
 * is the nearest double. */
bool cr_csv_real(const char *text, size_t len, double *to);
bool cr_csv_int(const char *text, size_t len, int64_t *to);

#endif
