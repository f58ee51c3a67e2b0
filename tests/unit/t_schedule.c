/* Learning rates: numbers, lists, files. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "conf/yaml.h"
#include "tap.h"
#include "train/schedule.h"

static struct cr_arena mem;

/* Reads `learning_rate: TEXT`; *why is the message of an error. */
static bool read_lr(const char *text, struct cr_lr *lr, const char **why)
{
    struct cr_diag *diag = CR_NEW(&mem, struct cr_diag);
    struct cr_source *src = CR_NEW(&mem, struct cr_source);
    struct cr_node *root;
    struct cr_config *config = CR_NEW(&mem, struct cr_config);
    struct cr_obj obj;
    bool good;

    diag->arena = &mem;
    src->name = "test";
    src->text = text;
    src->len = strlen(text);
    root = cr_yaml_read(&mem, diag, src, 0, src->len);
    *config =
        (struct cr_config){ .arena = &mem,
                            .diag = diag,
                            .root = root,
                            .dir = ".",
                            .rebased = CR_NEW(&mem, struct cr_rebased_path *) };
    good = root && cr_obj_read(&mem, diag, CR_KIND_SCHEDULE,
                               cr_node_get(root, "lr"), &obj) &&
           cr_lr_read(config, &obj, lr);
    *why = diag->first ? diag->first->text : NULL;
    return good;
}

static void refused(const char *text, const char *want)
{
    struct cr_lr lr;
    const char *why;

    ok(!read_lr(text, &lr, &why), "refused: %s", text);
    same(why, want, "the message");
}

static const char cosine[] =
    "lr: {CosineDecayLR: {max_lr: 0.5, min_lr: 0.1, decay_steps: 50%}, "
    "warmup: 0.5 epochs}";

static void unbound(const char *text, struct cr_run_steps run, const char *want)
{
    struct cr_diag diag = { .arena = &mem };
    struct cr_lr lr;
    const char *why;

    ok(read_lr(text, &lr, &why) && !cr_lr_bind(&diag, &lr, &run),
       "does not fit the run: %s", text);
    same(diag.first ? diag.first->text : NULL, want, "the message");
}

/* Quantities in percent and epochs, and the warmup. */
static void spans(void)
{
    struct cr_diag diag = { .arena = &mem };
    struct cr_run_steps run = { .per_epoch = 8, .total = 40 };
    struct cr_lr lr;
    const char *why;
    double half;

    ok(read_lr(cosine, &lr, &why) && cr_lr_bind(&diag, &lr, &run),
       "percent and epochs of a known run");
    ok(cr_lr_at(&lr, 0) == 0 && cr_lr_at(&lr, 1) == 0.125 &&
           cr_lr_at(&lr, 3) == 0.375, "the warmup rises to the initial rate");
    half = cr_lr_at(&lr, 10);
    ok(fabs(half - 0.3) < 1e-12,
       "after the warmup the schedule is unchanged: %g", half);
    ok(cr_lr_at(&lr, 20) == 0.1 && cr_lr_at(&lr, 39) == 0.1,
       "the decay ends after half of the run");
    unbound(cosine, (struct cr_run_steps){ .per_epoch = 8 },
            "'decay_steps' is a percentage of the run, but the length of the "
            "run is unknown");
    unbound(cosine, (struct cr_run_steps){ .total = 8 },
            "'warmup' is in epochs, but without data the length of an epoch is "
            "unknown");
    unbound("lr: {WarmUpLR: {learning_rate: 1, warmup_steps: 0}}", run,
            "'warmup_steps': expected more than 0");
    unbound("lr: {warmup_lr: {learning_rate: 1, warmup_epoch: 2}}",
            (struct cr_run_steps){ .total = 8 },
            "'step_per_epoch' is missing: without data the length of an epoch "
            "is unknown");
}

int main(void)
{
    char path[] = "/tmp/t_schedule.XXXXXX", text[64];
    int fd = mkstemp(path);
    struct cr_lr lr;
    const char *why;

    ok(read_lr("lr: 0.25", &lr, &why) && cr_lr_at(&lr, 0) == 0.25 &&
           cr_lr_at(&lr, 1000000) == 0.25, "a number is constant");
    ok(read_lr("lr: 0", &lr, &why) && cr_lr_at(&lr, 5) == 0, "zero is a rate");
    ok(read_lr("lr: [0.5, 1, 0.125]", &lr, &why) &&
           cr_lr_at(&lr, 0) == 0.5 && cr_lr_at(&lr, 1) == 1 &&
           cr_lr_at(&lr, 2) == 0.125, "value i at update i");
    ok(cr_lr_at(&lr, 3) == 0.125 && cr_lr_at(&lr, 1000) == 0.125,
       "the last value applies after the end");
    refused("lr: -1", "learning_rate: found the number -1, expected a number "
                      "of at least 0");
    refused("lr: [0.1, inf]",
            "learning_rate: found the number inf, expected a number of at "
            "least 0");
    refused("lr: {CosineDecayLR: {max_lr: 0.1}}",
            "argument 'min_lr' of CosineDecayLR is missing");
    refused("lr: {WarmUp: {}}", "unknown schedule 'WarmUp'");
    refused("lr: {WarmUpLR: {learning_rate: 1, warmup_steps: 3}, warmup: 2 s}",
            "'warmup': expected steps, epochs or a percentage of the run");
    spans();

    dprintf(fd, "0.5 0.25\n1e-1,\n\t0.75\n");
    snprintf(text, sizeof text, "lr: %s", path);
    ok(read_lr(text, &lr, &why) && cr_lr_at(&lr, 0) == 0.5 &&
           cr_lr_at(&lr, 1) == 0.25 && cr_lr_at(&lr, 2) == 0.1 &&
           cr_lr_at(&lr, 3) == 0.75 && cr_lr_at(&lr, 4) == 0.75,
       "a file of numbers");
    dprintf(fd, "fast\n");
    refused(text, "learning_rate: found 'fast' in line 4, expected a number of "
                  "at least 0");
    ok(ftruncate(fd, 0) == 0, "the file is emptied");
    refused(text, "learning_rate: the file contains no numbers");
    close(fd);
    unlink(path);
    snprintf(text, sizeof text, "lr: ./no-such-file.txt");
    refused(text, "learning_rate: file './no-such-file.txt' not found");
    cr_arena_free(&mem);
    return done();
}
