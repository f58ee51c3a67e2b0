/* Test lines in TAP: ok(condition, "what holds"); end with return done(). */
#ifndef CR_TESTS_TAP_H
#define CR_TESTS_TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

#define ok(good, ...) tap_ok((good), __FILE__, __LINE__, __VA_ARGS__)
#define same(got, want, ...) \
    tap_same((got), (want), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 4, 5), unused)) static bool
tap_ok(bool good, const char *file, int line, const char *format, ...)
{
    __builtin_va_list args;

    tap_failed += !good;
    printf("%sok %d - ", good ? "" : "not ", ++tap_count);
    __builtin_va_start(args, format);
    vprintf(format, args);
    __builtin_va_end(args);
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

__attribute__((unused)) static int done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed != 0;
}

#endif
