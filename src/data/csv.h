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
    int64_t at, raw;        /* start in the file and length in bytes, quotes
                               included */
    int64_t line;           /* from 1 */
    int col;                /* in bytes, from 1 */
};

struct cr_csv {
    const char *path;
    struct cr_csv_field *field;
    int n;                  /* fields of the current row */
    int64_t line;           /* line where the row starts */

    struct cr_diag *diag;
    int fd;
    char delimiter;
    bool ended;             /* the window ends at the end of the file */
    bool borrowed;          /* the window belongs to the caller */
    char *window;
    size_t cap, from, to;   /* unread bytes: window[from .. to) */
    int64_t base;           /* of window[0] in the file */
    int64_t next_line;      /* of window[from] */
    int64_t length;         /* bytes read so far, and their CRC-32 */
    uint32_t crc;
    char *plain;            /* contents of the fields that had doubled quotes */
    size_t plain_cap;
    int cap_fields;
};

/* Opens a file; path "-" is standard input. False after reporting. */
bool cr_csv_open(struct cr_csv *csv, struct cr_diag *diag, const char *path,
                 char delimiter);
/* Reads the next row. False at the end of the file, with *bad false, or after
 * reporting an error, with *bad true. */
bool cr_csv_next(struct cr_csv *csv, bool *bad);
void cr_csv_close(struct cr_csv *csv);

/* Reads rows from `text` in memory in place of a file. The text belongs to the
 * caller; messages call it `name`, starting at the given line. Call again for
 * further texts. */
void cr_csv_memory(struct cr_csv *csv, struct cr_diag *diag, const char *name,
                   char delimiter, char *text, size_t len, int64_t line);
/* After an error in a row: continues after the line where the row starts. False
 * at the end of the file or after reporting. */
bool cr_csv_skip_line(struct cr_csv *csv);
/* Returns the next line without its line end, valid until the next call; its
 * number is csv->line. False at the end of the file, with *bad false, or after
 * reporting an error, with *bad true. */
bool cr_csv_line(struct cr_csv *csv, char **text, size_t *len, bool *bad);

/* The position of a field of the current row, for messages. */
struct cr_pos cr_csv_at(const struct cr_csv *csv,
                        const struct cr_csv_field *field);

/* Removes the quotes of a field as stored in the file, len bytes, in place;
 * returns the remaining length. The field must have passed the parser. */
size_t cr_csv_plain(char *raw, size_t len);

/* Parse a field as a decimal number, with optional surrounding blanks. False if
 * it is not a number, not finite, or out of range. The real is the nearest
 * double. */
bool cr_csv_real(const char *text, size_t len, double *to);
bool cr_csv_int(const char *text, size_t len, int64_t *to);

#endif
