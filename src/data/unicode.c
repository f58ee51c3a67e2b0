#include "data/unicode.h"

#include "base/compiler.h"
#include "base/str.h"

#include <string.h>

struct unicode_run {
    uint32_t first;
    int step, count;
    uint32_t to;
    int move;
};

#include "data/unicode.inc"

/* Whether c is in one of n sorted ranges. */
static bool among(uint32_t c, const uint32_t (*range)[2], size_t n)
{
    size_t from = 0;

    while (n > 0) {
        size_t half = n / 2;

        if (range[from + half][1] < c) {
            from += half + 1;
            n -= half + 1;
        } else {
            if (range[from + half][0] <= c)
                return true;
            n = half;
        }
    }
    return false;
}

#define AMONG(c, table) among((c), (table), sizeof(table) / sizeof *(table))

bool cr_is_punctuation(uint32_t c)
{
    return AMONG(c, unicode_punctuation);
}

bool cr_is_control(uint32_t c)
{
    return AMONG(c, unicode_control);
}

bool cr_is_space(uint32_t c)
{
    return AMONG(c, unicode_space);
}

bool cr_is_ideograph(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },   { 0xf900, 0xfaff },
        { 0x20000, 0x2a6df }, { 0x2a700, 0x2b73f }, { 0x2b740, 0x2b81f },
        { 0x2b820, 0x2ceaf }, { 0x2f800, 0x2fa1f },
    };

    return AMONG(c, ranges);
}

/* ---- folding ---- */

int cr_put_utf8(uint32_t c, char to[4])
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 63));
        to[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63));
    to[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* Decomposes a Hangul syllable into two or three jamo (Unicode 3.12). */
static int fold_hangul(uint32_t c, uint32_t *to)
{
    uint32_t s = c - 0xac00;

    to[0] = 0x1100 + s / 588;
    to[1] = 0x1161 + s % 588 / 28;
    to[2] = 0x11a7 + s % 28;
    return s % 28 ? 3 : 2;
}

/* Looks up a character in unicode_others: each string holds sorted lines of a
 * character, its replacement and a line end. */
static int fold_other(uint32_t c, uint32_t *to)
{
    size_t from = 0, n = sizeof unicode_others / sizeof *unicode_others;
    const char *s;
    uint32_t first;
    int k = 0;

    /* find the last string whose first character is <= c */
    while (n > 1) {
        cr_utf8(unicode_others[from + n / 2], 4, &first);
        if (first <= c)
            from += n / 2;
        n = first <= c ? n - n / 2 : n / 2;
    }
    for (s = unicode_others[from]; *s; s += strcspn(s, "\n") + 1) {
        s += cr_utf8(s, strlen(s), &first);
        if (first != c)
            continue;
        for (; *s != '\n'; k++)
            s += cr_utf8(s, strlen(s), &to[k]);
        return k;
    }
    to[0] = c;
    return 1;
}

int cr_fold(uint32_t c, uint32_t to[CR_FOLD_MAX])
{
    size_t n = sizeof unicode_runs / sizeof *unicode_runs, i;

    if (c < 0x80) {
        to[0] = c >= 'A' && c <= 'Z' ? c + 32 : c;
        return 1;
    }
    if (c >= 0xac00 && c < 0xd7a4)
        return fold_hangul(c, to);
    if (AMONG(c, unicode_gone))
        return 0;
    for (i = 0; i < n && unicode_runs[i].first <= c; i++) {
        const struct unicode_run *r = &unicode_runs[i];
        uint32_t k = (c - r->first) / (uint32_t)r->step;

        if (k < (uint32_t)r->count && (c - r->first) % (uint32_t)r->step == 0) {
            to[0] = r->to + k * (uint32_t)r->move;
            return 1;
        }
    }
    return fold_other(c, to);
}
