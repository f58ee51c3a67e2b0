/*
 * The shortest decimal of a float32 has at most 9 digits, which a double
 * represents exactly, like the powers of ten up to 10^22. So a candidate of n
 * digits costs one product, one rounding and one quotient, each within a
 * relative 2^-53 of the exact value, which is far below half a unit in the last
 * place of float32, 2^-25. A candidate is accepted if the quotient is nearer to
 * the float than half the distance to its neighbours, less a margin; other
 * numbers, and very large and small ones, are formatted by the C library.
 */
#include "base/float_text.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double float_power[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

#define FLOAT_DIGITS 9

static double float_scaled(double x, int places)
{
    return places >= 0 ? x * float_power[places] : x / float_power[-places];
}

/* Digits and decimal places of a positive number; false: use the C library. */
static bool float_digits(float value, int64_t *digits, int *places)
{
    double x = (double)value, margin = (1 - 1e-6) / 2;
    double below = (x - (double)nextafterf(value, 0)) * margin;
    double above = ((double)nextafterf(value, INFINITY) - x) * margin;
    int top = (int)floor(log10(x)); /* may be one too small or large */

    for (int n = 1; n <= FLOAT_DIGITS + 1; n++) {
        int k = n - 1 - top;
        double d, off;

        if (k > 22 || k < -22)
            return false;
        d = rint(float_scaled(x, k));
        off = float_scaled(d, -k) - x;
        if (d < 1e15 && off < above && -off < below) {
            *digits = (int64_t)d;
            *places = k;
            return *digits > 0;
        }
    }
    return false;
}

/* Formats digits without trailing zeros, with the decimal point placed as %g
 * does. */
static size_t float_place(char *to, int64_t digits, int places)
{
    char text[24] = "0";
    size_t at = 0, n;
    int point; /* digits before the point */

    while (digits % 10 == 0) {
        digits /= 10;
        places--;
    }
    n = 0;
    for (int64_t d = digits; d > 0; d /= 10)
        n++;
    for (size_t i = n; i-- > 0; digits /= 10)
        text[i] = (char)('0' + digits % 10);
    point = (int)n - places;
    if (point > FLOAT_DIGITS || point < -3) {
        to[at++] = text[0];
        if (n > 1) {
            to[at++] = '.';
            memcpy(to + at, text + 1, n - 1);
            at += n - 1;
        }
        return at + (size_t)sprintf(to + at, "e%c%02d", point > 0 ? '+' : '-',
                                    abs(point - 1));
    }
    if (point <= 0) {
        to[at++] = '0';
        to[at++] = '.';
        for (int i = point; i < 0; i++)
            to[at++] = '0';
        memcpy(to + at, text, n);
        return at + n;
    }
    for (size_t i = 0; i < n || i < (size_t)point; i++) {
        if (i == (size_t)point)
            to[at++] = '.';
        to[at++] = i < n ? text[i] : '0';
    }
    return at;
}

static size_t float_library(char *to, float value)
{
    int digits = 6;

    snprintf(to, CR_FLOAT_TEXT, "%.*g", digits, (double)value);
    while (digits < FLOAT_DIGITS && strtof(to, NULL) != value)
        snprintf(to, CR_FLOAT_TEXT, "%.*g", ++digits, (double)value);
    return strlen(to);
}

size_t cr_float_text(char to[CR_FLOAT_TEXT], float value)
{
    size_t at = 0;
    int64_t digits;
    int places;

    if (isnan(value) || isinf(value)) {
        strcpy(to, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return strlen(to);
    }
    if (signbit(value))
        to[at++] = '-';
    value = fabsf(value);
    if (value < FLT_MIN || !float_digits(value, &digits, &places)) {
        if (value != 0)
            return at + float_library(to + at, value);
        to[at++] = '0';
        to[at] = '\0';
        return at;
    }
    at += float_place(to + at, digits, places);
    to[at] = '\0';
    return at;
}
