/*
 * Diagnostics: errors and warnings with their positions.
 *
 * The function that detects a problem reports it with cr_error and returns
 * false; its callers pass that on. Messages are collected in a cr_diag, so that
 * all errors of a config are reported at once; main prints them (or
 * cr_diag_print in a command that reports while it works). Form of the text: no
 * capital, no full stop, user text 'like this', what was found, then what was
 * expected. Each has a code of code.def, which decides the exit status.
 */
#ifndef CR_BASE_DIAG_H
#define CR_BASE_DIAG_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A text that positions refer to. Lives as long as the run. */
struct cr_source {
    const char *name;       /* path, "standard input", "command line" ... */
    const char *text;       /* the whole text, for excerpts; NULL: none */
    size_t len;
    int argument;           /* > 0: text is this argument of the line */
};

/* Lines and columns count from 1 (columns in characters); 0: not known. */
struct cr_pos {
    const struct cr_source *src;
    int line, col, len;     /* len: characters to underline */
    int64_t offset;         /* binary files: byte offset + 1; 0: none;
                               -1: has its error, no more are recorded */
};

enum cr_code {
#define CR_CODE(number, name, exit, title, text) CR_E_##name,
#include "base/code.def"
#undef CR_CODE
    CR_E_COUNT
};

struct cr_message {
    enum cr_code code;
    bool warning;
    struct cr_pos pos;
    const char *text;
    const char *hint;       /* printed after the carets; NULL: none */
    const char *notes;      /* lines below the excerpt; NULL: none */
    const char *path;       /* config path such as "train.epochs"; or NULL */
    struct cr_message *next;
};

/* Warnings printed so far, shared by diags so that each is printed once. */
struct cr_reported {
    struct cr_arena *arena; /* of the texts; must be set */
    struct cr_reported_text *first;
};

/* A part of a config that another source gives than the whole it belongs to,
 * such as an argument of the command line: a message about the whole whose text
 * has the part's name points at the part. */
struct cr_elsewhere {
    struct cr_pos whole, part;
    const char *name;
    const struct cr_elsewhere *next;
};

struct cr_diag {
    struct cr_arena *arena; /* where messages are kept; must be set */
    struct cr_message *first, *last;
    int errors, warnings;
    int hidden;             /* errors beyond the limit: counted, not kept */
    int hidden_printed;     /* the last number of them that was printed */
    const struct cr_elsewhere *elsewhere; /* of the config loaded last */
    bool silent;            /* nothing is printed */
    bool strict;            /* warnings count as errors */
    bool dropped;           /* the newest was equal to an earlier one */
    const struct cr_message *printed; /* the last one printed */
    struct cr_reported *reported; /* NULL: of this diag alone */
};

struct cr_pos cr_at_file(struct cr_arena *arena, const char *path);
struct cr_pos cr_at_byte(struct cr_arena *arena, const char *path,
                         int64_t offset);
#define CR_NOWHERE ((struct cr_pos){ 0 })
/* "net.yaml:3:7", as messages begin. */
const char *cr_pos_text(struct cr_arena *arena, struct cr_pos pos);

/* Record a problem; return false. A message with the position, code and text of
 * an earlier one is dropped. */
bool cr_error(struct cr_diag *diag, struct cr_pos pos, enum cr_code code,
              const char *format, ...) CR_PRINTF(4, 5);
bool cr_warn(struct cr_diag *diag, struct cr_pos pos, enum cr_code code,
             const char *format, ...) CR_PRINTF(4, 5);

/* Extend the last message; no effect if it was dropped. */
void cr_hint(struct cr_diag *diag, const char *format, ...) CR_PRINTF(2, 3);
void cr_note(struct cr_diag *diag, const char *format, ...) CR_PRINTF(2, 3);
void cr_path(struct cr_diag *diag, const char *path);

/* The exit status: 0 without errors, else that of the first kind present of
 * config (2), data (3), checkpoint (4), others. */
int cr_diag_exit(const struct cr_diag *diag);

struct cr_diag_format {
    bool json;              /* one object per line */
    bool color;
};

/* Appends copies of another diag's messages, such as a thread's. */
void cr_diag_append(struct cr_diag *diag, const struct cr_diag *from);

/* Prints all messages not printed yet. */
void cr_diag_print(struct cr_diag *diag, FILE *to, struct cr_diag_format how);

/* The number such as "E0012", exit status, title and explanation of a code. */
const char *cr_code_number(enum cr_code code);
int cr_code_exit(enum cr_code code);
const char *cr_code_title(enum cr_code code);
const char *cr_code_text(enum cr_code code);

/* The word of a NULL-terminated list that is closest to `word`
 * (Damerau-Levenshtein distance), for suggestions; NULL if none is close enough
 * to be a typo. */
const char *cr_closest_name(const char *word, const char *const *words);

/* Text with control bytes and invalid UTF-8 escaped, truncated to 60
 * characters: for all text in messages that comes from a file or user. */
const char *cr_quote(struct cr_arena *arena, const char *text, size_t len);

#endif
