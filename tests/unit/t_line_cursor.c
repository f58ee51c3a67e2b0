/* The lines of a text, looked at in any order. */
#include "base/line_cursor.h"
#include "tap.h"

#include <string.h>

static const char text[] = "one\n\nthree\nfour\n\nsix";
static const size_t starts[] = { 0, 4, 5, 11, 16, 17 }; /* of lines 1 to 6 */

int main(void)
{
    struct cr_line_cursor c = { 0 };
    size_t len = strlen(text), at;
    const char other[] = "a\nb";
    bool numbers = true, places = true;
    int from, to;

    for (from = 1; from <= 6; from++)
        for (to = 1; to <= 6; to++) {
            cr_line_cursor_to(&c, text, len, from);
            numbers = numbers && cr_line_cursor_to(&c, text, len, to) ==
                                     text + starts[to - 1] && c.line == to;
        }
    ok(numbers, "each line is found from each other one");
    for (from = 0; from <= (int)len; from++)
        for (at = 0; at <= len; at++) {
            for (to = 6; starts[to - 1] > at;)
                to--;
            cr_line_cursor_at(&c, text, text + from);
            cr_line_cursor_at(&c, text, text + at);
            places = places && c.line == to && c.start == text + starts[to - 1];
        }
    ok(places, "and the line of each byte");
    ok(!cr_line_cursor_to(&c, text, len, 7), "there is no seventh line");
    ok(cr_line_cursor_to(&c, text, len, 2) == text + 4,
       "but still a second one");
    ok(cr_line_cursor_to(&c, other, strlen(other), 2) == other + 2,
       "another text has lines of its own");
    return done();
}
