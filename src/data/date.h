/*
 * Dates and times of day as text, and the numbers they become.
 *
 * A date is year, month and day between '-', '/' or '.': year first, or last
 * with day or month first, the year in four digits; or with the English name
 * of the month, "5 Mar 2024", "Mar 5, 2024", "05-Mar-2024". A time is
 * "14:30", "14:30:05" or "14:30:05.25", behind a date after a blank or 'T',
 * with an optional "Z", "+01:00" or "+0100". Blanks around it are skipped.
 *
 * A date becomes seconds since 1970-01-01T00:00:00 in UTC, by the proleptic
 * Gregorian calendar without leap seconds; without a zone it is UTC. A time
 * alone becomes seconds since midnight.
 */
#ifndef CR_DATA_DATE_H
#define CR_DATA_DATE_H

#include <stdbool.h>
#include <stddef.h>

/* Ways to read a text, one bit each. */
enum cr_date_form {
    CR_DATE_YMD = 1,        /* 2024-03-05 */
    CR_DATE_MDY = 2,        /* 3/5/2024, Mar 5, 2024 */
    CR_DATE_DMY = 4,        /* 5.3.2024, 5 Mar 2024 */
    CR_DATE_CLOCK = 8,      /* 14:30 */
};
#define CR_DATE_ANY 15

/* Those of `forms` in which the text is a date; *clock is set where it has a
 * time of day, and else left as it is. A month by its name reads in all. */
unsigned cr_date_forms(const char *text, size_t len, unsigned forms,
                       bool *clock);
/* The seconds of a text in that form; false if it is no date in it. */
bool cr_date_read(const char *text, size_t len, enum cr_date_form form,
                  double *seconds);
/* The form for a message, with an example. */
const char *cr_date_form_text(enum cr_date_form form);

#endif
