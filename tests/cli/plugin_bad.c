/* Plug-ins that are refused: CASE says how, for tests/cli/plugin.bats. */
#include <cellrun.h>

static void nothing(const struct cellrun_step *s)
{
    (void)s;
}

#if CASE != 26
static int shape(struct cellrun_plan *p)
{
    (void)p;
    return 0;
}
#endif

static const struct cellrun_option options[] = {
#if CASE == 10
    { .name = "Big", .type = CELLRUN_REAL },
#elif CASE == 11
    { .name = "a", .type = CELLRUN_REAL },
    { .name = "a", .type = CELLRUN_BOOL },
#elif CASE == 12
    { .name = "a", .type = 77 },
#elif CASE == 13
    { .name = "a", .type = CELLRUN_INTEGER, .low = 1, .high = 9 },
#elif CASE == 14
    { .name = "a", .type = CELLRUN_INTEGER, .number = 0.5 },
#elif CASE == 15
    { .name = "a", .type = CELLRUN_CHOICE, .choices = "b|c", .text = "d" },
#elif CASE == 16
    { .name = "a", .type = CELLRUN_CHOICE },
#elif CASE == 17
    { .name = "a", .type = CELLRUN_REAL, .low = 2, .high = 1 },
#endif
    { 0 },
};

static const struct cellrun_param params[] = {
#if CASE == 20
    { .name = "weight", .init = "HeUniforn" },
#elif CASE == 21
    { .name = "weight", .init = "{Uniform: {skale: 1}}" },
#elif CASE == 22
    { .name = "weight", .role = 9 },
#elif CASE == 23
    { .name = "weight" },
    { .name = "weight" },
#elif CASE == 24 || CASE == 25 || CASE == 26
    { .name = "weight" },
#elif CASE == 35
    { .name = "weight", .role = CELLRUN_STATISTIC },
#elif CASE == 27
    { .name = "a" }, { .name = "b" }, { .name = "c" }, { .name = "d" },
    { .name = "e" }, { .name = "f" }, { .name = "g" }, { .name = "h" },
    { .name = "i" }, { .name = "j" }, { .name = "k" }, { .name = "l" },
    { .name = "m" }, { .name = "n" }, { .name = "o" }, { .name = "p" },
#endif
    { 0 },
};

static const char *const inputs[] = {
#if CASE == 30
    "A",
#elif CASE != 31
    "x",
#endif
    NULL
};

static const struct cellrun_cell cell = {
#if CASE == 1
    .name = "lower",
#elif CASE == 2
    .name = "Dense",
#elif CASE == 3
    .name = "MSELoss",
#else
    .name = "Fine",
#endif
    .options = options,
    .params = params,
    .inputs = inputs,
#if CASE == 32
    .outputs = 17,
#elif CASE == 33
    .outputs = -1,
#endif
#if CASE == 25
    .flags = CELLRUN_SPLIT_BPROP,
#elif CASE == 34
    .flags = 64,
#elif CASE == 35
    .flags = CELLRUN_SAMPLES_APART,
#endif
#if CASE != 26
    .shape = shape,
#endif
#if CASE != 4
    .forward = nothing,
#endif
#if CASE != 24
    .bprop = nothing,
#endif
};

#if CASE == 40 || CASE == 41 || CASE == 42 || CASE == 43
static const struct cellrun_cell *const cells[] = { CASE == 43 ? NULL : &cell,
                                                    NULL };
const struct cellrun_plugin cellrun_plugin = { CASE == 40 ? 1 : CELLRUN_MAGIC,
                                               CASE == 41 ? 99 : CELLRUN_ABI,
                                               sizeof(struct cellrun_plugin),
                                               sizeof(struct cellrun_cell) +
                                                   (CASE == 42 ? 8 : 0),
                                               sizeof(struct cellrun_option),
                                               sizeof(struct cellrun_param),
                                               sizeof(struct cellrun_plan),
                                               sizeof(struct cellrun_step),
                                               sizeof(cellrun_real),
                                               cells };
#elif CASE == 44
CELLRUN_PLUGIN(&cell, &cell);
#elif CASE == 45
const struct cellrun_cell *nobody(void);
const struct cellrun_cell *nobody(void)
{
    return &cell;
}
#else
CELLRUN_PLUGIN(&cell);
#endif
