/*
 * The option rows of the sections that the training loop reads.
 */
#include "train/section.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread_pool.h"
#include "ckpt/dtype.h"
#include "conf/environment.h"
#include "mpi/mpi.h"

static const struct cr_opt seed_opts[] = {
    CR_INT_DEFAULT(struct cr_seed_section, seed, 1, 0, INT64_MAX,
                   "Seed of all random numbers of the run."),
    { 0 },
};

const struct cr_section cr_section_seed = {
    .about = {
        .name = "seed",
        .summary = "The random seed.",
        .detail = "Initial values, shuffling, dropout and augmentation are "
                  "functions of the seed, the epoch and the sample: equal "
                  "seeds give equal runs.",
        .example = "seed: 7\n",
        .opts = seed_opts,
        .size = sizeof(struct cr_seed_section),
    },
};

struct cellrun_section {
    int64_t version;
};

static const struct cr_opt cellrun_opts[] = {
    CR_INT_DEFAULT(struct cellrun_section, version, 1, 1, 1,
                   "Version of the config language."),
    { 0 },
};

const struct cr_section cr_section_cellrun = {
    .about = {
        .name = "cellrun",
        .summary = "The version of the config language that the file uses.",
        .example = "cellrun: 1\n",
        .opts = cellrun_opts,
        .size = sizeof(struct cellrun_section),
    },
};

#define EARLY(f) .at = offsetof(struct cr_train_section, early_stop.f) - \
                       offsetof(struct cr_train_section, early_stop)

static const struct cr_opt early_stop_opts[] = {
    { .name = "monitor",
      EARLY(monitor),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .doc = "Metric to watch, such as accuracy." },
    { .name = "mode",
      EARLY(mode),
      .type = CR_OPT_ENUM,
      .need = CR_DEFAULT,
      .choices = "auto|min|max",
      .doc = "Direction of improvement. auto: the metric's own." },
    { .name = "patience",
      EARLY(patience),
      .type = CR_OPT_INT,
      .need = CR_DEFAULT,
      .max = 1e9,
      .doc = "Evaluations without improvement before the run stops; 0 disables "
             "early stopping." },
    { .name = "min_delta",
      EARLY(min_delta),
      .type = CR_OPT_REAL,
      .need = CR_DEFAULT,
      .max = DBL_MAX,
      .doc = "Smallest change that counts as an improvement (exclusive)." },
    { 0 },
};

#define CLIP(f) .at = offsetof(struct cr_train_section, clip.f) - \
                      offsetof(struct cr_train_section, clip)

static const struct cr_opt clip_opts[] = {
    { .name = "norm",
      CLIP(norm),
      .type = CR_OPT_REAL,
      .need = CR_OPTIONAL,
      .min_exclusive = true,
      .max = DBL_MAX,
      .doc = "Upper bound of the global norm: larger gradients are scaled down "
             "together (MindSpore's clip_by_global_norm)." },
    { .name = "value",
      CLIP(value),
      .type = CR_OPT_REAL,
      .need = CR_OPTIONAL,
      .min_exclusive = true,
      .max = DBL_MAX,
      .doc = "Clips each element to [-value, value], before the norms." },
    { .name = "tensor_norm",
      CLIP(tensor_norm),
      .type = CR_OPT_REAL,
      .need = CR_OPTIONAL,
      .min_exclusive = true,
      .max = DBL_MAX,
      .doc = "Upper bound of the norm of each gradient: a larger gradient is "
             "scaled down by itself (MindSpore's nn.ClipByNorm), before the "
             "global norm." },
    { 0 },
};

#define NOISE(f) .at = offsetof(struct cr_train_section, grad_noise.f) - \
                       offsetof(struct cr_train_section, grad_noise)

static const struct cr_opt grad_noise_opts[] = {
    { .name = "eta",
      NOISE(eta),
      .type = CR_OPT_REAL,
      .need = CR_REQUIRED,
      .min_exclusive = true,
      .max = DBL_MAX,
      .doc = "Variance of the noise in the first update; 0.01 to 1 are "
             "usual." },
    { .name = "gamma",
      NOISE(gamma),
      .type = CR_OPT_REAL,
      .need = CR_DEFAULT,
      .real_default = 0.55,
      .max = DBL_MAX,
      .doc = "Decay exponent: the variance in update t, from 0, is eta / (1 + "
             "t)^gamma." },
    { 0 },
};

static const struct cr_opt ema_opts[] = {
    { .name = "decay",
      .type = CR_OPT_REAL,
      .need = CR_REQUIRED,
      .min_exclusive = true,
      .max = 1,
      .doc = "Decay rate of the EMA; early in training it is multiplied by 1 - "
             "exp(-updates / 2000)." },
    { 0 },
};

static const struct cr_opt train_opts[] = {
    CR_INT_OPTIONAL(struct cr_train_section, epochs, 1, 1e9,
                    "Passes over the training data."),
    CR_INT_OPTIONAL(
        struct cr_train_section, steps, 1, 1e15,
        "Number of updates after which the run ends; instead of epochs."),
    CR_SUB(struct cr_train_section, early_stop, early_stop_opts,
           "Ends the run when a metric of the evaluation stops improving."),
    CR_ENUM_DEFAULT(
        struct cr_train_section, nan, CR_NAN_STOP, "stop|skip|fallback",
        "Action when the loss or gradient is not finite. stop: end with status "
        "5. skip: skip the update and restore the moving statistics. fallback: "
        "return to the last checkpoint of checkpoint.every, or to the start of "
        "the run, and lower the learning rate. Overflows that amp.loss_scale "
        "skips do not count until it gives up."),
    CR_REAL_DEFAULT(struct cr_train_section, nan_factor, 0.5, 0, 1,
                    "fallback: factor by which each fallback multiplies all "
                    "learning rates.",
                    .min_exclusive = true),
    CR_INT_OPTIONAL(
        struct cr_train_section, nan_give_up_after, 1, 1e9,
        "skip: end the run after this many consecutive skipped updates. "
        "fallback: allow at most this many fallbacks. The run then ends with "
        "status 5. Default: 50 for skip, 5 for fallback."),
    CR_NODE(struct cr_train_section, time_limit,
            "Time after which the run saves and ends with status 75, such as "
            "2 h; auto: before the end of the Slurm job."),
    CR_QUANTITY_OPTIONAL(
        struct cr_train_section, stop_after, CR_EPOCHS,
        "Number of epochs or steps after which the run is evaluated and saved "
        "and ends with status 75; resumed without it, the run continues as if "
        "it had not stopped, but the evaluation at the stop can be the best "
        "one. Schedules refer to the whole run. cellrun sweep sets it for the "
        "methods halving and asha."),
    CR_INT_OPTIONAL(struct cr_train_section, overfit_batches, 1, 1e9,
                    "Train on the first N batches only, in every epoch."),
    CR_QUANTITY_OPTIONAL(
        struct cr_train_section, limit, CR_SAMPLES,
        "Train on the first samples only: a number of samples, or a "
        "percentage. Folders of images are sorted by class, so a small "
        "fraction may contain only one class."),
    CR_INT_DEFAULT(
        struct cr_train_section, grad_accumulation, 1, 1, 1 << 20,
        "Batches per update; their gradients are averaged. Leftover batches of "
        "an epoch carry over to the next; the epoch is evaluated and saved "
        "after its last update. BatchNorm normalises each batch separately."),
    CR_ENUM_DEFAULT(
        struct cr_train_section, batch_norm, CR_BATCH_NORM_GLOBAL,
        "global|local",
        "Samples over which BatchNorm takes its statistics under mpirun. "
        "global: those of the batch, as in one process (SyncBatchNorm of "
        "MindSpore). local: those of the process, which saves two messages per "
        "layer and step; the result depends on the number of processes."),
    CR_ENUM_DEFAULT(
        struct cr_train_section, shard, CR_SHARD_NONE,
        "none|optimizer|gradients",
        "What the processes of mpirun share out, to save memory; see "
        "cellrun-mpi(7). none: each has all, except the optimizer's state "
        "where all are on one machine. optimizer: each has the optimizer's "
        "state, such as moments, of its part of each parameter (ZeRO 1). "
        "gradients: the same, and gradients are dropped during the backward "
        "pass."),
    CR_ENUM_DEFAULT(
        struct cr_train_section, reduce_dtype, CR_REDUCE_FLOAT32,
        "float32|bfloat16",
        "Type in which the processes of mpirun send gradients to be added up. "
        "bfloat16 (bf16_compress_hook of PyTorch) halves what is sent: each "
        "part is rounded once, added up in float32, and the sum is rounded "
        "once. No effect on one process."),
    CR_SUB(struct cr_train_section, clip, clip_opts,
           "Gradient clipping, before weight decay."),
    CR_SUB(struct cr_train_section, grad_noise, grad_noise_opts,
           "Adds Gaussian noise to all gradients after clipping, before weight "
           "decay (Neelakantan et al., arXiv:1511.06807). It is a function of "
           "the seed and the number of the update."),
    CR_SUB(struct cr_train_section, ema, ema_opts,
           "Keeps an exponential moving average (EMA) of all parameters and "
           "moving statistics; eval.use_ema evaluates with it."),
    { 0 },
};

const struct cr_section cr_section_train = {
    .about = {
        .name = "train",
        .summary = "Length of the training, early stopping and gradients.",
        .detail = "If both epochs and steps are set, the later one wins: a "
                  "config over its base, the command line over files. Setting "
                  "both in one map is an error (E0016).",
        .example = "train:\n"
                   "  epochs: 10\n"
                   "  clip: {norm: 5.0}\n"
                   "  early_stop: {monitor: accuracy, patience: 3}\n",
        .opts = train_opts,
        .size = sizeof(struct cr_train_section),
    },
};

static const struct cr_opt eval_opts[] = {
    CR_QUANTITY_DEFAULT(
        struct cr_eval_section, every, "1 epoch", CR_EPOCHS,
        "Interval between evaluations; the end of the run is evaluated too."),
    CR_BOOL_DEFAULT(struct cr_eval_section, first, false,
                    "Also evaluate before the first step."),
    CR_INT_OPTIONAL(
        struct cr_eval_section, max_batches, 1, 1e9,
        "Evaluate on the first N batches only, while training; `cellrun eval` "
        "uses it only if set on its own command line. Folders of images are "
        "sorted by class, so these batches may contain only one class."),
    CR_INT_OPTIONAL(struct cr_eval_section, batch_size, 1, 1e6,
                    "Batch size of evaluations, including `cellrun eval`. "
                    "Default: the datapipe's batch size."),
    CR_BOOL_DEFAULT(struct cr_eval_section, use_ema, false,
                    "Evaluate with the moving averages of train.ema, also from "
                    "a checkpoint."),
    { 0 },
};

const struct cr_section cr_section_eval = {
    .about = {
        .name = "eval",
        .summary = "Evaluation during training.",
        .example = "eval: {every: 500 steps, max_batches: 50}\n",
        .opts = eval_opts,
        .size = sizeof(struct cr_eval_section),
    },
};

#define BEST(f) .at = offsetof(struct cr_checkpoint_section, best.f) - \
                      offsetof(struct cr_checkpoint_section, best)

static const struct cr_opt best_opts[] = {
    { .name = "metric",
      BEST(metric),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .doc = "Metric that selects the best checkpoint. Default: the first one "
             "other than loss." },
    { .name = "mode",
      BEST(mode),
      .type = CR_OPT_ENUM,
      .need = CR_DEFAULT,
      .choices = "auto|min|max",
      .doc = "Direction of improvement. auto: the metric's own." },
    { 0 },
};

static const struct cr_opt checkpoint_opts[] = {
    CR_QUANTITY_DEFAULT(struct cr_checkpoint_section, every, "1 epoch",
                        CR_EPOCHS,
                        "Interval between checkpoints. The end of the run and "
                        "a new best result are saved too."),
    CR_INT_DEFAULT(
        struct cr_checkpoint_section, keep_checkpoint_max, 5, 1, 1e9,
        "Maximum number of checkpoints: the oldest are deleted first, but "
        "never the best one and the one the run was resumed from."),
    CR_SUB(struct cr_checkpoint_section, best, best_opts,
           "Selection of the best checkpoint."),
    CR_BOOL_DEFAULT(
        struct cr_checkpoint_section, weights_only, false,
        "Save only weights: smaller files, but they cannot be resumed."),
    CR_ENUM_DEFAULT(
        struct cr_checkpoint_section, dtype, 0, CR_SAVED_DTYPES,
        "Type of the weights in files of weights_only. auto: that of training. "
        "float16 and bfloat16 take two bytes; a tensor with a value beyond "
        "their range keeps its type, with a warning."),
    CR_ENUM_DEFAULT(
        struct cr_checkpoint_section, on_save_error, 0, "continue|abort",
        "Action when a checkpoint cannot be written. continue: continue "
        "training and end with status 1. abort: end at once."),
    { 0 },
};

const struct cr_section cr_section_checkpoint = {
    .about = {
        .name = "checkpoint",
        .summary = "Interval, number and contents of checkpoints.",
        .example = "checkpoint:\n"
                   "  every: 10 min\n"
                   "  keep_checkpoint_max: 3\n"
                   "  best: {metric: loss, mode: min}\n",
        .opts = checkpoint_opts,
        .size = sizeof(struct cr_checkpoint_section),
    },
};

#define IMAGES(field)                                                       \
    .at = offsetof(struct cr_log_section, images.field) -                  \
          offsetof(struct cr_log_section, images)

static const struct cr_opt images_opts[] = {
    { .name = "wrong",
      IMAGES(wrong),
      .type = CR_OPT_INT,
      .need = CR_DEFAULT,
      .int_default = 32,
      .min = 0,
      .max = 256,
      .doc = "Number of evaluation samples with the largest loss that are "
             "stored in samples.json: pictures, texts or numbers." },
    { 0 },
};

static const struct cr_opt log_opts[] = {
    CR_QUANTITY_DEFAULT(
        struct cr_log_section, every, "100 steps", CR_STEPS,
        "Interval at which the loss is printed and written to metrics.jsonl."),
    CR_BOOL_DEFAULT(struct cr_log_section, grad_norm, false,
                    "Record the global norm of the gradients."),
    CR_QUANTITY_OPTIONAL(
        struct cr_log_section, histograms, CR_EPOCHS,
        "Interval at which the values and gradients of all parameters are "
        "recorded, as the entry {at: network, what: [params, grad_params], "
        "stats: [mean, std, min, max, histogram], as: unscaled} of watch does: "
        "records in metrics.jsonl, histograms in TensorBoard. Default: off.",
        .nullable = true),
    CR_BOOL_DEFAULT(struct cr_log_section, csv, false,
                    "Write metrics.csv to the run directory at the end of the "
                    "run: the records of metrics.jsonl as a table."),
    CR_BOOL_DEFAULT(struct cr_log_section, report, false,
                    "Write report.html to the run directory at the end of the "
                    "run, as `cellrun report` does."),
    CR_BOOL_DEFAULT(
        struct cr_log_section, tensorboard, false,
        "Write event files for TensorBoard to the run directory: scalars, "
        "texts, pictures of samples, the histograms of watch and "
        "log.histograms, the network and the settings."),
    CR_SUB(struct cr_log_section, images, images_opts,
           "Samples stored in the run directory, for the report."),
    { 0 },
};

const struct cr_section cr_section_log = {
    .about = {
        .name = "log",
        .summary = "Values recorded during training.",
        .example =
            "log: {every: 10 steps, grad_norm: true, tensorboard: true, csv: "
            "true, histograms: 1 epoch, images: {wrong: 64}}\n",
        .opts = log_opts,
        .size = sizeof(struct cr_log_section),
    },
};

static const struct cr_opt run_opts[] = {
    CR_STR_OPTIONAL(struct cr_run_section, dir,
                    "Folder in which run directories are created, relative to "
                    "the current directory. Default: CELLRUN_RUNS, or runs."),
    CR_STR_OPTIONAL(struct cr_run_section, name,
                    "Name of the run. Default: the name of the config file."),
    CR_STR_DEFAULT(
        struct cr_run_section, threads, "auto",
        "Number of threads; auto: all cores available to the process."),
    CR_BOOL_DEFAULT(
        struct cr_run_section, pin, false,
        "Pin each thread to its own processor, the first ones available to the "
        "process (Linux). Use it only if the machine does nothing else: two "
        "pinned runs share the same processors while others idle."),
    CR_ENUM_DEFAULT(struct cr_run_section, on_usr1, CR_USR1_SAVE, "save|stop",
                    "Action on the signal USR1. save: save and continue. stop: "
                    "save and end with status 75."),
    CR_STR_OPTIONAL(
        struct cr_run_section, exec_on_eval,
        "A command for /bin/sh, run after each evaluation. Its environment has "
        "CELLRUN_METRIC_accuracy etc., CELLRUN_STEP, CELLRUN_EPOCH (from 0, as "
        "in metrics.jsonl), CELLRUN_IS_BEST (0 or 1), CELLRUN_RUN_DIR and "
        "CELLRUN_RUN_NAME. Write a dollar sign twice, as everywhere in a "
        "config: 'echo $$CELLRUN_METRIC_accuracy'. Its standard input is empty "
        "and its output goes to standard error. The run waits for it; a status "
        "other than 0 is a warning."),
    CR_BOOL_DEFAULT(struct cr_run_section, eager, false,
                    "Run train, eval and trace op by op, without fusion or "
                    "pruning, like their flag --eager (MindSpore's "
                    "PYNATIVE_MODE). Slow; results differ only by rounding."),
    CR_ENUM_DEFAULT(
        struct cr_run_section, print, CR_PRINT_STDERR, "stderr|log|off",
        "Destination of print(...) in construct and of plug-ins' "
        "step->print. stderr: standard error and the run's log.txt. "
        "log: log.txt only, and nothing outside of train and resume. "
        "off: nothing; the prints cost nothing either."),
    { 0 },
};

const struct cr_section cr_section_run = {
    .about = {
        .name = "run",
        .summary = "Run directory, threads and signals.",
        .example = "run: {dir: runs, name: mnist, on_usr1: stop}\n",
        .opts = run_opts,
        .size = sizeof(struct cr_run_section),
    },
};

static const struct cr_opt predict_opts[] = {
    CR_STRS_OPTIONAL(struct cr_predict_section, labels,
                     "Names of the classes in index order, used for every "
                     "result of the network with this many classes."),
    { 0 },
};

const struct cr_section cr_section_predict = {
    .about = {
        .name = "predict",
        .summary = "Class names for predict.",
        .example = "predict: {labels: [cat, dog]}\n",
        .opts = predict_opts,
        .size = sizeof(struct cr_predict_section),
    },
};

bool cr_seed_read(struct cr_config *config, uint64_t *seed)
{
    struct cr_seed_section section = { 0 };
    bool ok = cr_section_read(config, "seed", &section);

    *seed = (uint64_t)section.seed;
    return ok;
}

/* Number of threads in a text; 0 if it is not one. */
static int section_threads(const char *text)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;

    return text && end > text && !*end && n >= 1 && n <= CR_THREADS_MAX
               ? (int)n
               : 0;
}

bool cr_threads_start(struct cr_config *config, int flag)
{
    struct cr_run_section run = { 0 };
    const struct cr_node *node;
    int64_t set;
    int n = flag;

    if (!cr_section_read(config, "run", &run))
        return false;
    if (strcmp(run.threads, "auto") != 0) {
        int wish = section_threads(run.threads);

        node = cr_node_get(cr_section(config, "run"), "threads");
        if (!wish)
            return cr_error(config->diag, node ? node->pos : CR_NOWHERE,
                            CR_E_OUT_OF_RANGE,
                            "'run.threads': found '%s', expected auto or a "
                            "number from 1 to %d",
                            run.threads, CR_THREADS_MAX);
        n = n ? n : wish;
    }
    if (!n && (cr_env_number("CELLRUN_THREADS", &set) ||
               cr_env_number("SLURM_CPUS_PER_TASK", &set)))
        n = (int)set;
    cr_thread_pool_start(n ? n : cr_mpi_cpus(cr_cpu_count()));
    /* processes that share processors would be pinned to the same ones */
    if (run.pin && cr_mpi_cpus(cr_cpu_count()) == cr_cpu_count())
        cr_thread_pin();
    return true;
}

bool cr_train_read(struct cr_config *config, struct cr_train_section *to)
{
    const struct cr_node *map = cr_section(config, "train");

    if (!cr_section_read(config, "train", to))
        return false;
    if (to->epochs == CR_INT_NONE && to->steps == CR_INT_NONE)
        return cr_error(config->diag, map ? map->pos : config->root->pos,
                        map ? CR_E_MISSING_KEY : CR_E_MISSING_SECTION,
                        "set 'train.epochs' or 'train.steps'");
    /* Of settings in two files the later has already replaced the other. */
    if (to->epochs != CR_INT_NONE && to->steps != CR_INT_NONE)
        return cr_error(config->diag, cr_node_get(map, "steps")->key_pos,
                        CR_E_CONFLICT,
                        "set only one of 'train.steps' and 'train.epochs'");
    if (to->limit.unit != CR_UNIT_NONE && to->limit.unit != CR_SAMPLES &&
        to->limit.unit != CR_PERCENT)
        return cr_error(
            config->diag, cr_node_get(map, "limit")->pos, CR_E_UNIT,
            "'train.limit': expected a number of samples or a percentage");
    if (to->limit.unit != CR_UNIT_NONE && !(to->limit.value > 0))
        return cr_error(config->diag, cr_node_get(map, "limit")->pos,
                        CR_E_OUT_OF_RANGE,
                        "'train.limit': expected a value above 0");
    if (to->stop_after.unit != CR_UNIT_NONE &&
        (!(to->stop_after.value > 0) ||
         (to->stop_after.unit != CR_EPOCHS && to->stop_after.unit != CR_STEPS)))
        return cr_error(config->diag, cr_node_get(map, "stop_after")->pos,
                        CR_E_UNIT,
                        "'train.stop_after': expected a number of epochs or "
                        "steps above 0");
    return true;
}

bool cr_time_limit_read(struct cr_config *config,
                        const struct cr_train_section *train,
                        double *seconds)
{
    const struct cr_node *node = train->time_limit;
    struct cr_quantity quantity;

    *seconds = 0;
    if (!node || node->kind == CR_NODE_NULL)
        return true;
    if (node->text && strcmp(node->text, "auto") == 0) {
        int64_t now = (int64_t)time(NULL), end;

        if (!cr_env_number("SLURM_JOB_END_TIME", &end))
            return true;
        /* a run that stops at once would be requeued for ever */
        if (end <= now)
            cr_warn(config->diag, CR_NOWHERE, CR_E_USAGE,
                    "SLURM_JOB_END_TIME has no effect: found %lld, which is "
                    "in the past; the run has no time limit",
                    (long long)end);
        else
            *seconds = end - now > 61 ? (double)(end - now - 60) : 1;
        return true;
    }
    if (!cr_quantity_read(config->diag, node, CR_SECONDS, &quantity))
        return false;
    if (quantity.unit != CR_SECONDS || quantity.value <= 0)
        return cr_error(
            config->diag, node->pos, CR_E_UNIT,
            "'train.time_limit': expected a time such as 2 h, or auto");
    *seconds = quantity.value;
    return true;
}
