#include "data/date.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

struct scan {
    const char *s, *end;
};

static bool is_digit(const struct scan *k)
{
    return k->s < k->end && *k->s >= '0' && *k->s <= '9';
}

static bool take(struct scan *k, char c)
{
    if (k->s == k->end || *k->s != c)
        return false;
    k->s++;
    return true;
}

/* Reads a number of min to max digits. */
static bool digits(struct scan *k, int min, int max, int *n, int *to)
{
    for (*n = 0, *to = 0; *n < max && is_digit(k); k->s++, ++*n)
        *to = 10 * *to + (*k->s - '0');
    return *n >= min && !is_digit(k);
}

/* ---- dates ---- */

/* Days since 1970-01-01 (Howard Hinnant, days_from_civil). Years are counted
 * from March, so that the leap day is the last of its year. */
static int64_t days_of(int64_t y, int m, int d)
{
    int64_t era, of_era, of_year;

    y -= m <= 2;
    era = (y >= 0 ? y : y - 399) / 400;
    of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    y -= era * 400;
    of_era = y * 365 + y / 4 - y / 100 + of_year;
    return era * 146097 + of_era - 719468;
}

static bool is_day(int y, int m, int d)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30,
                                31, 31, 30, 31, 30, 31 };
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;

    return m >= 1 && m <= 12 && d >= 1 &&
           d <= days[m - 1] + (m == 2 && leap);
}

/* Reads the name of a month, three letters or in full; 0: none. */
static int month(struct scan *k)
{
    static const char *const names[] = {
        "january", "february", "march", "april", "may", "june", "july",
        "august", "september", "october", "november", "december"
    };
    size_t n = 0, left = (size_t)(k->end - k->s);
    int i;

    while (n < left && ((k->s[n] | 32) >= 'a' && (k->s[n] | 32) <= 'z'))
        n++;
    for (i = 0; i < 12; i++)
        if ((n == 3 || n == strlen(names[i])) &&
            strncasecmp(k->s, names[i], n) == 0) {
            k->s += n;
            return i + 1;
        }
    return 0;
}

static void blanks(struct scan *k)
{
    while (k->s < k->end && (*k->s == ' ' || *k->s == '\t'))
        k->s++;
}

/* Skips a separator of day, month name and year: '-', '/', '.' or ',', and
 * blanks. */
static void between(struct scan *k)
{
    if (!take(k, '-') && !take(k, '/') && !take(k, '.'))
        take(k, ',');
    blanks(k);
}

/* Reads a date with the name of the month before or after the day. */
static bool named(struct scan *k, int part[3])
{
    int n;

    part[1] = month(k);
    if (!part[1]) {
        if (!digits(k, 1, 2, &n, &part[2]))
            return false;
        between(k);
        part[1] = month(k);
    } else {
        between(k);
        if (!digits(k, 1, 2, &n, &part[2]))
            return false;
    }
    between(k);
    return part[1] && digits(k, 4, 4, &n, &part[0]);
}

/* Reads three numbers into part, in their order; returns the formats that fit
 * them. */
static unsigned numbers(struct scan *k, int part[3])
{
    int n[3], i;
    char mark = '\0';

    for (i = 0; i < 3; i++) {
        if (i == 1 && k->s < k->end)
            mark = *k->s;
        if (i == 1 && mark != '-' && mark != '/' && mark != '.')
            return 0;
        if ((i > 0 && !take(k, mark)) || !digits(k, 1, 4, &n[i], &part[i]))
            return 0;
    }
    if (n[0] == 4 && n[1] <= 2 && n[2] <= 2)
        return CR_DATE_YMD;
    return n[0] <= 2 && n[1] <= 2 && n[2] == 4 ? CR_DATE_MDY | CR_DATE_DMY
                                               : 0;
}

static bool date(struct scan *k, enum cr_date_form form, double *seconds)
{
    struct scan first = *k;
    int part[3] = { 0 }, y, m, d;
    unsigned forms = numbers(k, part);

    if (forms == 0) {
        *k = first;
        if (!named(k, part))
            return false;
        forms = CR_DATE_YMD | CR_DATE_MDY | CR_DATE_DMY;
        y = part[0];
        m = part[1];
        d = part[2];
    } else {
        y = form == CR_DATE_YMD ? part[0] : part[2];
        m = form == CR_DATE_MDY ? part[0] : part[1];
        d = form == CR_DATE_YMD   ? part[2]
            : form == CR_DATE_MDY ? part[1]
                                  : part[0];
    }
    if (!(forms & form) || !is_day(y, m, d))
        return false;
    *seconds = 86400.0 * (double)days_of(y, m, d);
    return true;
}

/* ---- times of day ---- */

static bool zone(struct scan *k, double *seconds)
{
    int sign, n, h, m = 0;

    if (take(k, 'Z') || take(k, 'z') || k->s == k->end)
        return true;
    sign = *k->s == '-' ? -1 : 1;
    if ((*k->s != '+' && *k->s != '-') || k->end - k->s < 3)
        return false;
    k->s++;
    if (k->end - k->s == 4 && k->s[2] != ':') { /* +0100 */
        if (!digits(k, 4, 4, &n, &h))
            return false;
        m = h % 100;
        h /= 100;
    } else if (!digits(k, 2, 2, &n, &h) ||
               (take(k, ':') && !digits(k, 2, 2, &n, &m))) {
        return false;
    }
    *seconds -= sign * (3600.0 * h + 60.0 * m);
    return h < 24 && m < 60;
}

static bool clock_of(struct scan *k, double *seconds)
{
    int n, h, m, s = 0;
    double part = 1;

    if (!digits(k, 1, 2, &n, &h) || !take(k, ':') ||
        !digits(k, 2, 2, &n, &m))
        return false;
    if (take(k, ':') && !digits(k, 2, 2, &n, &s))
        return false;
    *seconds += 3600.0 * h + 60.0 * m + s;
    if (take(k, '.')) {
        if (!is_digit(k))
            return false;
        for (; is_digit(k); k->s++) {
            part /= 10;
            *seconds += part * (*k->s - '0');
        }
    }
    return h < 24 && m < 60 && s < 60;
}

/* ---- the whole text ---- */

static bool date_read(const char *text, size_t len, enum cr_date_form form,
                      double *seconds, bool *clock)
{
    struct scan k = { text, text + len };

    *seconds = 0;
    while (k.end > k.s && (k.end[-1] == ' ' || k.end[-1] == '\t'))
        k.end--;
    blanks(&k);
    if (form == CR_DATE_CLOCK) {
        *clock = true;
        return clock_of(&k, seconds) && k.s == k.end;
    }
    if (!date(&k, form, seconds))
        return false;
    if (k.s == k.end)
        return true;
    *clock = true;
    if (!take(&k, 'T')) {
        if (*k.s != ' ')
            return false;
        blanks(&k);
    }
    return clock_of(&k, seconds) && zone(&k, seconds) && k.s == k.end;
}

unsigned cr_date_forms(const char *text, size_t len, unsigned forms,
                       bool *clock)
{
    unsigned form, found = 0;
    double seconds;

    if (len == 0 || len > 64)
        return 0;
    for (form = 1; form <= CR_DATE_CLOCK; form *= 2) {
        bool has = false;

        if ((forms & form) &&
            date_read(text, len, (enum cr_date_form)form, &seconds, &has)) {
            found |= form;
            *clock = *clock || has;
        }
    }
    return found;
}

bool cr_date_read(const char *text, size_t len, enum cr_date_form form,
                  double *seconds)
{
    bool clock = false;

    return date_read(text, len, form, seconds, &clock);
}

const char *cr_date_form_text(enum cr_date_form form)
{
    switch (form) {
    case CR_DATE_YMD:
        return "a date such as 2024-03-05";
    case CR_DATE_MDY:
        return "a date, month first, such as 3/5/2024";
    case CR_DATE_DMY:
        return "a date, day first, such as 5.3.2024";
    case CR_DATE_CLOCK:
        return "a time such as 14:30";
    }
    return "a date";
}
