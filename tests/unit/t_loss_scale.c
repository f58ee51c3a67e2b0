/* The loss scale after each update, also at the ends of its range. */
#include "tap.h"
#include "train/loss_scale.h"

#include <float.h>

static const struct cr_loss_scale_rule rule = { .start = 8,
                                                .factor = 2,
                                                .window = 2 };

/* 't': a finite gradient, 'f': one that is not. */
static double after(const struct cr_loss_scale_rule *r, double start,
                    const char *updates, struct cr_loss_scale *s)
{
    *s = (struct cr_loss_scale){ .value = start };
    for (; *updates; updates++)
        cr_loss_scale_adjust(r, s, *updates == 't');
    return s->value;
}

int main(void)
{
    static const double want[] = { 8, 16, 8, 8, 16 };
    const struct cr_loss_scale_rule still = { .start = 8 };
    struct cr_loss_scale s;
    char part[6] = "ttftt";

    test_begin("the scale after each step");
    for (int n = 5; n > 0; n--) {
        part[n] = '\0';
        ok(after(&rule, 8, part, &s) == want[n - 1], "%g after %s", want[n - 1],
           part);
    }
    test_end();
    ok(after(&rule, 8, "ttttt", &s) == 32,
       "it grows after every second finite update");
    ok(after(&rule, 8, "fffffff", &s) == 1 && s.n_overflow == 7 &&
           s.skipped == 7,
       "never below 1");
    ok(after(&rule, 8, "ffft", &s) == 1 && s.n_overflow == 0 && s.skipped == 3,
       "skipped updates are counted, consecutive ones and all");
    ok(after(&rule, DBL_MAX, "tt", &s) == DBL_MAX, "never infinite");
    ok(after(&still, 8, "tttfff", &s) == 8 && s.skipped == 3,
       "a fixed scale is constant");
    return done();
}
