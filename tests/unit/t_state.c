/* The state of a run: written, read, written again. */
#include <math.h>

#include "tap.h"
#include "train/state.h"

static struct cr_state make(struct cr_score *scores)
{
    static const char *const names[] = { "cat", "dog, \"big\"" };
    struct cr_state s = {
        .step = 1500,
        .per_epoch = 400,
        .grad_accum = 1,
        .samples = 96000,
        .cursor = 19200,
        .epoch_loss = { .sum = 0.1 + 0.2, .samples = 19200 },
        .seed = UINT64_C(18446744073709551615),
        .config_dir = "/home/me/n\xc3\xa4ts",
        .optimizer = "Momentum",
        .fingerprint = 0x00c0ffee,
        .contents = 0x00facade,
        .n_columns = 2,
        .classes = 2,
        .class_names = names,
        .eval_step = 1200,
        .best_metric = "accuracy",
        .best_max = true,
        .best = 0.1 + 0.2,
        .best_step = 800,
        .wait = 1,
        .wait_best = 0.3,
        .wait_has_best = true,
        .nan = { .skipped = 4,
                 .consecutive = 1,
                 .fallbacks = 2,
                 .factor = 0.1 + 0.2,
                 .good_step = 1400 },
        .plateau = { .begun = true,
                     .rate = 0.1 + 0.2,
                     .has_best = true,
                     .best = -0.3,
                     .wait = 2,
                     .cooldown = 1 },
    };

    s.columns[0] = (struct cr_column){
        "image", { .type = CR_U8, .rank = 3, .dim = { 28, 28, 1 } }
    };
    s.columns[1] = (struct cr_column){ "label", { .type = CR_I32 } };
    scores[0] = (struct cr_score){ .name = "accuracy", .single = true,
                                   .value = 0.1 + 0.2 };
    scores[1] = (struct cr_score){ .name = "loss", .single = true,
                                   .value = NAN };
    s.eval = (struct cr_scores){ .n = 2, .v = scores, .samples = 1000 };
    return s;
}

/* Counts that no run has. */
static void refused(struct cr_arena *mem, const struct cr_state *good)
{
    const struct cr_state *was = good;
    struct cr_state s[] = { *was, *was, *was, *was, *was,
                            *was, *was, *was, *was };

    s[0].nan.skipped = 1501;
    s[1].nan.skipped = -1;
    s[2].scale.value = 1;
    s[2].scale.skipped = 1497;
    s[3].cursor = -1;
    s[4].best_step = 1501;
    s[5].step = INT64_MAX;
    s[6].per_epoch = INT64_MAX;
    s[7].named_epoch = INT64_MAX / 2;
    s[7].ckpt_name_offset = 1;
    s[8].samples = INT64_MAX;
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        struct cr_diag diag = { .arena = mem };
        struct cr_state back;

        ok(!cr_state_read(mem, &diag, CR_NOWHERE, cr_state_write(mem, &s[i]),
                          &back) &&
               diag.errors == 1 && diag.first->code == CR_E_CKPT_FORMAT,
           "counts that do not fit together are refused");
    }
}

int main(void)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_score scores[2];
    struct cr_state s = make(scores), back;
    const char *text = cr_state_write(&mem, &s), *more;

    ok(cr_state_epoch(&s) == 3 && cr_state_in_epoch(&s) == 300,
       "1500 steps of 400 are three epochs and 300 steps");
    ok(strstr(text, "\"epoch\":3,\"step\":1500,\"step_in_epoch\":300,"
                    "\"steps_per_epoch\":400,\"samples\":96000"),
       "counts are stored as documented");
    ok(strstr(text, "\"seed\":\"18446744073709551615\""),
       "the seed is a string");
    ok(strstr(text, "\"loss\":null"), "not finite is null");
    ok(cr_state_read(&mem, &diag, CR_NOWHERE, text, &back), "read");
    same(cr_state_write(&mem, &back), text, "written again it is the same");
    ok(back.best == 0.1 + 0.2 && back.seed == s.seed && back.best_max &&
           back.wait == 1 && back.wait_best == 0.3 && back.wait_has_best,
       "numbers to the last bit");
    ok(back.nan.skipped == 4 && back.nan.consecutive == 1 &&
           back.nan.fallbacks == 2 && back.nan.factor == 0.1 + 0.2 &&
           back.nan.good_step == 1400 && cr_state_updates(&back) == 1496,
       "what train.nan has done");
    ok(back.plateau.begun && back.plateau.rate == 0.1 + 0.2 &&
           back.plateau.has_best && back.plateau.best == -0.3 &&
           back.plateau.wait == 2 && back.plateau.cooldown == 1,
       "the state of a plateau");
    ok(back.epoch_loss.sum == 0.1 + 0.2 && back.epoch_loss.samples == 19200,
       "the loss of the epoch under way");
    ok(back.n_columns == 2 && back.columns[0].spec.type == CR_U8 &&
           back.columns[0].spec.rank == 3 && back.columns[0].spec.dim[0] == 28,
       "columns");
    ok(back.class_names && strcmp(back.class_names[1], "dog, \"big\"") == 0,
       "names of classes");
    ok(isnan(back.eval.v[1].value), "null is not a number");

    more = cr_strf(&mem, "%s", text);
    memcpy(strstr(more, "\"epoch_loss\":{\"step\":1500"),
           "\"epoch_loss\":{\"step\":1499",
           strlen("\"epoch_loss\":{\"step\":1499"));
    ok(cr_state_read(&mem, &diag, CR_NOWHERE, more, &back) &&
           back.epoch_loss.samples == 0,
       "the loss of an epoch at another step is not used");
    more = cr_strf(&mem, "%.*s,\"future\":{\"a\":[1,2.5,null,\"x\"]}}",
                   (int)strlen(text) - 1, text);
    ok(cr_state_read(&mem, &diag, CR_NOWHERE, more, &back),
       "unknown members are read over");
    ok(strstr(cr_state_write(&mem, &back), "\"future\":"),
       "and written again");
    ok(diag.errors == 0, "without a word");
    refused(&mem, &s);

    ok(!cr_state_read(&mem, &diag, CR_NOWHERE, "{", &back),
       "no JSON is refused");
    ok(!cr_state_read(&mem, &diag, CR_NOWHERE, "[]", &back),
       "another value is refused");
    ok(!cr_state_read(&mem, &diag, CR_NOWHERE, "{\"step\":-1}", &back),
       "a negative step is refused");
    ok(cr_diag_exit(&diag) == 4, "with exit 4");
    cr_arena_free(&mem);
    return done();
}
