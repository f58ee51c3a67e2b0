/*
 * Numbers of float32 as text: the same number comes back, and, of normal
 * numbers up to a million, no shorter text of the C library gives it.
 */
#include "base/float_text.h"
#include "tap.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static const char *text_of(float value)
{
    static char text[CR_FLOAT_TEXT];

    return cr_float_text(text, value) == strlen(text) ? text : "length";
}

/* Digits from the first that is not 0 to the last. */
static int digits_of(const char *text)
{
    int n = 0, zeros = 0;

    for (; *text && *text != 'e'; text++) {
        if (*text == '.' || *text == '-' || (*text == '0' && n == 0))
            continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        n++;
    }
    return n - zeros;
}

static int fewest(float value)
{
    char text[64];

    for (int n = 1; n < 9; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, (double)value);
        if (strtof(text, NULL) == value)
            return digits_of(text);
    }
    return 9;
}

static void check(float value)
{
    float back = strtof(text_of(value), NULL);

    ok(memcmp(&back, &value, sizeof back) == 0, "%a comes back from %s",
       (double)value, text_of(value));
    ok(fabsf(value) > 1e6f || fabsf(value) < FLT_MIN ||
           digits_of(text_of(value)) <= fewest(value),
       "%s has %d digits, %d are needed", text_of(value),
       digits_of(text_of(value)), fewest(value));
}

int main(void)
{
    static const struct {
        float value;
        const char *text;
    } known[] = {
        { 0, "0" }, { -0.0f, "-0" }, { 1, "1" }, { -2.5f, "-2.5" },
        { 0.1f, "0.1" }, { 100, "100" }, { 16777216, "16777216" },
        { 1e9f, "1e+09" }, { 1e10f, "1e+10" }, { 0.001f, "0.001" },
        { 0.0001f, "0.0001" }, { 0.00001f, "1e-05" }, { 1.5e-7f, "1.5e-07" },
        { FLT_MAX, "3.4028235e+38" }, { FLT_MIN, "1.1754944e-38" },
        { 1.0f / 3, "0.33333334" }, { INFINITY, "inf" }, { -INFINITY, "-inf" },
    };
    uint32_t bits = 1;

    test_begin("numbers that everybody knows");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        same(text_of(known[i].value), known[i].text, "its text");
    same(text_of(NAN), "nan", "its text");
    test_end();
    test_begin("powers of two and their neighbours");
    for (int k = -149; k < 128; k++) {
        check(ldexpf(1, k));
        check(nextafterf(ldexpf(1, k), 0));
        check(nextafterf(ldexpf(1, k), FLT_MAX));
    }
    test_end();
    test_begin("probabilities and any other bits");
    for (int i = 0; i < 20000; i++) {
        float value;

        bits = bits * 1664525u + 1013904223u;
        check((float)(bits >> 8) / 16777216.0f);
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check(value);
    }
    test_end();
    return done();
}
