/*
 * Test lines in TAP: ok(condition, "what holds"); end with return done().
 *
 * Between test_begin("name") and test_end() checks are collected: they give
 * one line for the name, which fails if one of them does, or if there is none.
 * A loop is between the two, so that a line is a behaviour and not a turn.
 */
#ifndef CR_TESTS_TAP_H
#define CR_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

/* The test that is open; checks is -1 if none is. */
static struct {
    char name[200];
    int checks, failed;
} tap_test = { .checks = -1 };

#define ok(good, ...) tap_ok((good), __FILE__, __LINE__, __VA_ARGS__)
#define same(got, want, ...) \
    tap_same((got), (want), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 4, 5), unused)) static bool
tap_ok(bool good, const char *file, int line, const char *format, ...)
{
    va_list args;

    if (tap_test.checks >= 0) {
        tap_test.checks++;
        tap_test.failed += !good;
        if (good)
            return true;
        printf("# fails: ");
    } else {
        tap_failed += !good;
        printf("%sok %d - ", good ? "" : "not ", ++tap_count);
    }
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    if (!good)
        printf("# at %s:%d\n", file, line);
    fflush(stdout);
    return good;
}

/* Two texts are equal; NULL is a text of its own. */
__attribute__((unused)) static bool tap_same(const char *got,
                                             const char *want,
                                             const char *file, int line,
                                             const char *what)
{
    bool good = got && want ? strcmp(got, want) == 0 : got == want;

    tap_ok(good, file, line, "%s", what);
    if (!good)
        printf("# got:  %s\n# want: %s\n", got ? got : "NULL",
               want ? want : "NULL");
    return good;
}

/* Closes the open test, if one is, with its line. */
__attribute__((unused)) static void test_end(void)
{
    bool good = tap_test.checks > 0 && tap_test.failed == 0;

    if (tap_test.checks < 0)
        return;
    tap_failed += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++tap_count, tap_test.name);
    if (!good)
        printf("# %d of %d checks failed\n", tap_test.failed, tap_test.checks);
    fflush(stdout);
    tap_test.checks = -1;
}

/* Opens a test; one that is open still is closed first. */
__attribute__((format(printf, 1, 2), unused)) static void
test_begin(const char *format, ...)
{
    va_list args;

    test_end();
    va_start(args, format);
    vsnprintf(tap_test.name, sizeof tap_test.name, format, args);
    va_end(args);
    tap_test.checks = tap_test.failed = 0;
}

__attribute__((unused)) static int done(void)
{
    test_end();
    printf("1..%d\n", tap_count);
    return tap_failed != 0;
}

#endif
