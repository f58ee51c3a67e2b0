/* --require: reading, names, and what holds. */
#include "base/str.h"
#include "score/require.h"
#include "tap.h"

static bool value(void *ctx, const char *name, double *to)
{
    (void)ctx;
    *to = strcmp(name, "accuracy") == 0 ? 0.9 : 0.25;
    return strcmp(name, "accuracy") == 0 || strcmp(name, "eval.loss") == 0;
}

/* 0: holds; 6: does not; 2: wrong text or name. */
static void gives(const char *text, int want, const char *message)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_require *r = cr_require_read(&diag, text);

    if (r && cr_require_check(&diag, r, true, value, NULL, NULL))
        cr_require_check(&diag, r, false, value, NULL, NULL);
    ok(cr_diag_exit(&diag) == want, "%s gives %d", text, want);
    if (message)
        same(diag.first ? diag.first->text : NULL, message, "the message");
    cr_arena_free(&mem);
}

/* The hint of the first message. */
static void hints(const char *text, const char *want)
{
    static const char *const names[] = { "accuracy", "loss", NULL };
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_require *r = cr_require_read(&diag, text);

    if (r)
        cr_require_check(&diag, r, true, value, NULL, names);
    if (want)
        same(diag.first ? diag.first->hint : NULL, want, text);
    else
        ok(!diag.first, "%s gives no message", text);
    cr_arena_free(&mem);
}

int main(void)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };

    ok(!cr_require_read(&diag, NULL) && diag.errors == 0, "nothing required");
    gives("accuracy>=0.9", 0, NULL);
    gives("accuracy>0.9", 6,
          "not met: accuracy is 0.9, required accuracy>0.9");
    gives(" accuracy  <= 0.9 ", 0, NULL);
    gives("accuracy<0.9", 6, NULL);
    gives("accuracy==0.9", 0, NULL);
    gives("accuracy!=0.9", 6, NULL);
    gives("0.8 < accuracy", 0, NULL);
    gives("eval.loss<0.3, accuracy>0.8", 0, NULL);
    gives("eval.loss<0.3 and accuracy>0.95", 6, NULL);
    gives("accuracy > eval.loss", 0, NULL);
    gives("accurate>=0.9", 2, "--require: metric 'accurate' not found");
    gives("accuracy", 2,
          "--require: found 'accuracy', expected a comparison such as "
          "'accuracy>=0.97'");
    gives("accuracy>=", 2, NULL);
    gives("accuracy>=0.9 or eval.loss<1", 2, NULL);
    gives("accuracy>=0.9,", 2, NULL);
    gives("1>0", 2, NULL);
    gives("", 2, NULL);
    /* common errors: what to write instead */
    hints("accuracy>=90%", "a fraction is written as a number: 0.9 for 90 %");
    hints("accuracy=0.9", "write == for equality, >= for at least");
    hints("accuracy>=90", "write 0.9 instead of 90");
    hints("95 < eval.accuracy", "write 0.95 instead of 95");
    hints("accuracy>=0.9", NULL);
    hints("eval.loss<90", NULL);
    hints("accurate>=0.9", "did you mean 'accuracy'?");
    cr_arena_free(&mem);
    return done();
}
