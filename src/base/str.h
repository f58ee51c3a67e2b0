/*
 * Text, paths, hashes and small files.
 */
#ifndef CR_BASE_STR_H
#define CR_BASE_STR_H

#include "base/diag.h"

/* Text that grows in an arena; always ends with NUL once used. */
struct cr_buf {
    struct cr_arena *arena; /* must be set */
    char *text;             /* NULL until something is added */
    size_t len, cap;
};

void cr_buf_add(struct cr_buf *buf, const char *text, size_t len);
void cr_buf_str(struct cr_buf *buf, const char *text);
void cr_buf_char(struct cr_buf *buf, char c);
void cr_buf_f(struct cr_buf *buf, const char *format, ...) CR_PRINTF(2, 3);
/* Appends the text as a JSON string with its quotes; invalid UTF-8 becomes
 * U+FFFD. */
void cr_buf_json(struct cr_buf *buf, const char *text);
/* The same for n bytes, which may contain NULs. */
void cr_buf_json_n(struct cr_buf *buf, const char *text, size_t n);
/* Appends a number as JSON: the shortest text that gives the same double, or
 * null if it is not finite. */
void cr_buf_real(struct cr_buf *buf, double value);
/* The text so far; "" if nothing was added. */
const char *cr_buf_text(const struct cr_buf *buf);

/* Decodes a UTF-8 character: returns its length of 1 to 4 bytes and sets *code
 * to its code point. 0 if the bytes are not a valid character or n is 0. */
int cr_utf8(const char *text, size_t n, uint32_t *code);
/* The number of characters; each byte that is not UTF-8 counts as one. */
size_t cr_utf8_count(const char *text, size_t n);

/* The length of the byte order mark at the beginning of a text: 3, or 0. */
size_t cr_bom(const char *text, size_t n);

bool cr_starts(const char *text, const char *with);
bool cr_ends(const char *text, const char *with);

/* FNV-1a, 64 bit; start with CR_HASH and chain the results. */
#define CR_HASH UINT64_C(0xcbf29ce484222325)
uint64_t cr_hash(uint64_t hash, const void *data, size_t len);

/* dir/name; or name, if it is absolute or dir is NULL, "" or ".". */
const char *cr_path_join(struct cr_arena *arena, const char *dir,
                         const char *name);
/* The first existing file `name` in the folders of a list in the form of PATH;
 * NULL if there is none, or the list is NULL. */
const char *cr_path_search(struct cr_arena *arena, const char *list,
                           const char *name);
/* "a/b" of "a/b/c.yaml", "." of "c.yaml", "/" of "/c". */
const char *cr_path_dir(struct cr_arena *arena, const char *path);
/* "c.yaml" of "a/b/c.yaml". */
const char *cr_path_base(const char *path);
/* "c" of "a/b/c.yaml": the last part without its last suffix. */
const char *cr_path_stem(struct cr_arena *arena, const char *path);

/* The shortest text that gives the same double again; it contains '.', 'e',
 * "inf" or "nan". */
const char *cr_real_text(struct cr_arena *arena, double value);

/* Reads a file of at most `max` bytes and appends a NUL; *len is its size. "-"
 * is standard input. NULL after reporting with `code`. */
char *cr_read_file(struct cr_arena *arena, struct cr_diag *diag,
                   struct cr_pos pos, const char *path, enum cr_code code,
                   size_t max, size_t *len);

/* Replaces a file atomically (base/atomic_file.h). False after reporting
 * E0602. */
bool cr_write_file(struct cr_diag *diag, const char *path, const void *data,
                   size_t len);

#endif
