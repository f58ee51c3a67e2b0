/*
 * Any bytes as lines of JSON for predict: rows of a table whose columns have
 * one field, two fields and none that is read.
 */
#include <stdlib.h>
#include <string.h>

#include "predict/json_row.h"

enum { FIELDS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A field is a part of the line, of the texts without escapes, or one of the
 * words for true, false and null. */
static void field(const struct cr_json_row *row, const struct cr_csv_field *f,
                  const char *line, size_t len)
{
    bool in_line = f->text >= line && f->text + f->len <= line + len;
    bool in_plain = row->plain && f->text >= row->plain &&
                    f->text + f->len <= row->plain + row->cap;

    if (!in_line && !in_plain && f->len > 1)
        abort();
    if (f->at < 0 || (size_t)f->at > len || f->col < 1 ||
        (f->len > 0 && memchr(f->text, '\0', f->len)))
        abort();
}

static void one(struct cr_json_row *row, char *line, size_t len,
                int64_t number)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    bool ok = cr_json_row(row, &diag, "fuzz", line, len, number);

    if (ok != (diag.errors == 0))
        abort(); /* refused without a word, or the other way round */
    for (int i = 0; i < FIELDS && ok; i++)
        field(row, &row->to->field[i], line, len);
    cr_arena_free(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cr_json_key keys[] = {
        { "a", 0, 1 }, { "two", 1, 2 }, { "skip", 0, 0 },
        { "\xf0\x9f\x98\x80", 3, 1 }
    };
    struct cr_csv_field fields[FIELDS];
    bool given[FIELDS];
    struct cr_csv csv = { .field = fields, .n = FIELDS };
    struct cr_json_row row = { .key = keys, .n_keys = 4, .given = given,
                               .to = &csv };
    size_t from = 0;

    for (int64_t number = 1; from <= size; number++) {
        const uint8_t *end = size > from
                                 ? memchr(data + from, '\n', size - from)
                                 : NULL;
        size_t len = (end ? (size_t)(end - data) : size) - from;
        char *line = malloc(len + 1); /* a block of its own */

        if (!line)
            abort();
        memcpy(line, data + from, len);
        one(&row, line, len, number);
        free(line);
        from += len + 1;
    }
    free(row.plain);
    return 0;
}
