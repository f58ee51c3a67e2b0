/* Columns of text, and shortening: base/terminal.c. */
#include "tap.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/str.h"
#include "base/terminal.h"

static struct cr_arena arena;

static const struct sample {
    const char *text;
    int columns;
} samples[] = {
    { "", 0 },
    { "accuracy", 8 },
    { "Übergröße", 9 },
    { "学習率", 6 },
    { "a\u0364b", 2 },              /* combining */
    { "ﾊﾝｶｸ", 4 },                  /* half width */
    { "\uff21\uff22", 4 },          /* full width */
    { "\U0001f600!", 3 },           /* emoji */
    { "0.5 ± 0.3", 9 },
    { "한국어", 6 },
    { "\xff\xfe" "ab", 4 },         /* not UTF-8 */
    { "runs/net/aaaa1111", 17 },
};

/* Whether a shortened text begins and ends as it should. */
static bool cut_fits(const char *text, const char *cut, enum cr_text_cut where)
{
    const char *mark = strstr(cut, "…");
    size_t head = mark ? (size_t)(mark - cut) : strlen(cut);
    const char *tail = mark ? mark + strlen("…") : "";

    return strncmp(text, cut, head) == 0 && cr_ends(text, tail) &&
           (where != CR_CUT_END || !*tail) &&
           (where != CR_CUT_START || !mark || head == 0);
}

static void shortened(enum cr_text_cut where, const char *name)
{
    test_begin(name);
    for (size_t i = 0; i < CR_LEN(samples); i++)
        for (int n = 0; n <= samples[i].columns + 1; n++) {
            const char *cut =
                cr_text_shorten(&arena, samples[i].text, n, where);
            int columns = cr_text_columns(cut);

            ok(columns <= n, "'%s' in %d: at most %d", samples[i].text, n, n);
            ok(columns >= n - 1 || columns == samples[i].columns,
               "'%s' in %d: no room is wasted", samples[i].text, n);
            ok(n < 2 || cut_fits(samples[i].text, cut, where),
               "'%s' in %d: '%s'", samples[i].text, n, cut);
        }
    test_end();
}

int main(void)
{
    setenv("LC_ALL", "C.UTF-8", 1);
    test_begin("columns of a text");
    for (size_t i = 0; i < CR_LEN(samples); i++)
        ok(cr_text_columns(samples[i].text) == samples[i].columns, "'%s'",
           samples[i].text);
    test_end();
    shortened(CR_CUT_END, "cut at the end");
    shortened(CR_CUT_START, "cut at the start");
    shortened(CR_CUT_MIDDLE, "cut in the middle");
    ok(strcmp(cr_text_shorten(&arena, "optimizer", 5, CR_CUT_MIDDLE),
              "op…er") == 0,
       "both ends stay");
    setenv("LC_ALL", "C", 1);
    ok(strcmp(cr_text_shorten(&arena, "optimizer", 5, CR_CUT_END), "opt..") ==
           0,
       "two dots where the locale has no UTF-8");
    cr_arena_free(&arena);
    return done();
}
