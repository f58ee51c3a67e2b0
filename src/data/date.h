/*
 * Dates and times of day as text, and as numbers.
 *
 * A date is year, month and day, separated by '-', '/' or '.': year first, or
 * last with day or month first, the year in four digits; or with the English
 * name of the month, "5 Mar 2024", "Mar 5, 2024", "05-Mar-2024". A time is
 * "14:30", "14:30:05" or "14:30:05.25", after a date and a blank or 'T', with
 * an optional "Z", "+01:00" or "+0100". Surrounding blanks are skipped.
 *
 * A date becomes seconds since 1970-01-01T00:00:00 in UTC, by the proleptic
 * Gregorian calendar without leap seconds; without a time zone it is UTC. A
 * time without a date becomes seconds since midnight.
 */
#ifndef CR_DATA_DATE_H
#define CR_DATA_DATE_H

#include <stdbool.h>
#include <stddef.h>

/* Formats of a date, one bit each. */
enum cr_date_form {
    CR_DATE_YMD = 1,        /* 2024-03-05 */
    CR_DATE_MDY = 2,        /* 3/5/2024, Mar 5, 2024 */
    CR_DATE_DMY = 4,        /* 5.3.2024, 5 Mar 2024 */
    CR_DATE_CLOCK = 8,      /* 14:30 */
};
#define CR_DATE_ANY 15

/* Returns the formats among `forms` in which the text is a valid date; sets
 * *clock if the text has a time of day, else does not change it. The name of a
 * month is valid in all formats. */
unsigned cr_date_forms(const char *text, size_t len, unsigned forms,
                       bool *clock);
/* The seconds of a text in the given format; false if it is not a valid date in
 * that format. */
bool cr_date_read(const char *text, size_t len, enum cr_date_form form,
                  double *seconds);
/* The format for messages, with an example. */
const char *cr_date_form_text(enum cr_date_form form);

#endif
