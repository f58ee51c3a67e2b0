/* The section `sweep` of a config. */
#include "sweep/sweep.h"

static const struct cr_opt metric_opts[] = {
    { .name = "name",
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .doc = "Metric of the table, such as eval.accuracy. Default: the one "
             "that selects the best checkpoint." },
    CR_ENUM_DEFAULT(struct cr_sweep_metric, goal, CR_GOAL_AUTO,
                    "auto|maximize|minimize",
                    "Whether larger or smaller values are better. auto: as the "
                    "metric has it."),
    { 0 },
};

static const struct cr_opt halving_opts[] = {
    CR_ENUM_DEFAULT(struct cr_sweep_halving, unit, CR_RUNG_EPOCHS,
                    "epochs|steps", "Unit of min and max."),
    CR_INT_DEFAULT(struct cr_sweep_halving, min, 1, 1, 1e15,
                   "Length of the first rung."),
    CR_INT_OPTIONAL(struct cr_sweep_halving, max, 1, 1e15,
                    "Length of the last rung, to which schedules refer. "
                    "Default: train.epochs, or train.steps."),
    CR_INT_DEFAULT(struct cr_sweep_halving, eta, 3, 2, 1000,
                   "The best one in eta points of a rung is promoted to the "
                   "next rung, which is eta times as long."),
    { 0 },
};

static const struct cr_opt tpe_opts[] = {
    CR_INT_DEFAULT(struct cr_tpe_opts, startup, 10, 1, 1000000,
                   "Number of results before the first estimate; until then "
                   "points are those of random."),
    CR_INT_DEFAULT(struct cr_tpe_opts, candidates, 64, 1, 10000,
                   "Number of draws, of which the best is the next point."),
    CR_REAL_DEFAULT(struct cr_tpe_opts, gamma, 0.15, 0.001, 0.999,
                    "Fraction of the results that counts as good, at most 25 "
                    "of them."),
    { 0 },
};

static const struct cr_opt sweep_opts[] = {
    CR_ENUM_DEFAULT(
        struct cr_sweep_section, method, 0, "grid|random|list|halving|asha|tpe",
        "Method. grid: all combinations of the values. random: values drawn at "
        "random; point k does not depend on count. list: the rows of the file "
        "points. halving: all points are trained for a few epochs, the best of "
        "them for more, and so on. asha: the same without waiting for the last "
        "point of a rung. halving and asha take the points of grid, or of "
        "random if a parameter has a distribution. tpe: tree-structured "
        "Parzen estimator (Bergstra et al. 2011): the next point is, of random "
        "candidates, the one that is likely among the good results and "
        "unlikely among the others."),
    CR_INT_DEFAULT(struct cr_sweep_section, count, 20, 1, 1000000,
                   "Number of points drawn at random."),
    CR_INT_DEFAULT(struct cr_sweep_section, seed, 1, 0, 4294967295.0,
                   "Seed of the points drawn at random."),
    CR_SUB(struct cr_sweep_section, halving, halving_opts,
           "Rungs of the methods halving and asha."),
    CR_SUB(struct cr_sweep_section, tpe, tpe_opts,
           "Settings of the method tpe."),
    CR_SUB(struct cr_sweep_section, metric, metric_opts,
           "Metric that compares the points."),
    CR_NODE(struct cr_sweep_section, parameters,
            "Map from keys of the config to {values: [...]} or {distribution: "
            "D, min: A, max: B}. D is uniform, log_uniform, int_uniform or "
            "int_log_uniform. `when: $(...)` next to them: without this "
            "condition the key keeps the value of the config."),
    CR_NODE(struct cr_sweep_section, together,
            "List of maps from keys to values that are set together."),
    CR_STR_OPTIONAL(struct cr_sweep_section, points,
                    "TSV file of the method list: a header of keys, a row per "
                    "point; empty fields are not set."),
    CR_NODE(struct cr_sweep_section, where,
            "Condition that points must meet, such as "
            "\"$(width*depth < 4096)\"."),
    { 0 },
};

const struct cr_section cr_section_sweep = {
    .about = {
        .name = "sweep",
        .summary = "Points of cellrun sweep; other commands ignore it.",
        .example = "sweep:\n"
                   "  method: random\n"
                   "  count: 40\n"
                   "  parameters:\n"
                   "    optimizer.learning_rate: {distribution: log_uniform, "
                   "min: 1e-4, max: 1.0}\n"
                   "    datapipe.batch.batch_size: {values: [32, 64, 128]}\n"
                   "    seed: {values: [1, 2, 3]}\n",
        .opts = sweep_opts,
        .size = sizeof(struct cr_sweep_section),
    },
};
