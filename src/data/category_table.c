#include "data/category_table.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "data/csv.h"

static uint32_t category_table_slot(const struct cr_category_table *w,
                                    const char *text, size_t len)
{
    uint32_t at = (uint32_t)cr_hash(CR_HASH, text, len) & (w->cap - 1);

    for (; w->slot[at]; at = (at + 1) & (w->cap - 1)) {
        const char *word = w->word[w->slot[at] - 1];

        if (strncmp(word, text, len) == 0 && word[len] == '\0')
            break;
    }
    return at;
}

int32_t cr_category_table_code(struct cr_category_table *w, const char *text,
                               size_t len, bool add)
{
    double real;
    int64_t integer;
    uint32_t at;

    if (!w->slot) {
        w->cap = 32768; /* at least three times CR_CATEGORIES_MAX */
        w->slot = CR_NEWS(w->arena, int32_t, w->cap);
        w->word = CR_NEWS(w->arena, const char *, CR_CATEGORIES_MAX);
    }
    at = category_table_slot(w, text, len);
    if (w->slot[at])
        return w->slot[at] - 1;
    if (!add || w->n == CR_CATEGORIES_MAX)
        return -1;
    w->word[w->n++] = cr_strndup(w->arena, text, len);
    w->slot[at] = w->n;
    if (!cr_csv_int(text, len, &integer) || integer < INT32_MIN ||
        integer > INT32_MAX)
        w->broken_int = true;
    if (!cr_csv_real(text, len, &real) || !isfinite((float)real))
        w->broken_real = true;
    return w->n - 1;
}

const char *cr_category_table_list(struct cr_arena *arena,
                                   const struct cr_category_table *w)
{
    struct cr_buf b = { .arena = arena };
    int i, n = w->n <= 10 ? w->n : 8;

    for (i = 0; i < n; i++)
        cr_buf_f(&b, "%s%s", i ? ", " : "",
                 cr_quote(arena, w->word[i], strlen(w->word[i])));
    if (n < w->n)
        cr_buf_f(&b, " and %d more", w->n - n);
    return cr_buf_text(&b);
}
