#include "starter/starter.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/scalar.h"

void cr_starter_text(struct cr_starter *s, const char *text)
{
    struct cr_buf b = { .arena = s->arena };

    for (; *text; text++)
        cr_buf_str(&b, *text == '$' ? "$$" : (char[]){ *text, '\0' });
    cr_string_write(&s->out, cr_buf_text(&b), true, false);
}

void cr_starter_path(struct cr_starter *s, const char *path)
{
    char *full = s->folder ? realpath(path, NULL) : NULL;

    cr_starter_text(s, full ? full : path);
    free(full);
}

void cr_starter_head(struct cr_starter *s)
{
    cr_buf_f(&s->out,
             "# Written by: %s\n"
             "#\n"
             "#   cellrun check FILE              checks it, estimates cost\n"
             "#   cellrun train FILE              trains the network\n"
             "#   cellrun eval --ckpt RUN         evaluates the checkpoint\n"
             "#   cellrun predict --ckpt RUN ...  predicts new samples\n"
             "#   cellrun help NAME               explains a key or type\n",
             s->command);
}

/* Minimum number of samples for a test split. */
#define TEST_ROWS 1000

void cr_starter_split(struct cr_starter *s, const struct cr_starter_facts *f)
{
    const char *stratify = f->classifies ? ", stratify: label" : "";

    if (f->rows < TEST_ROWS)
        cr_buf_f(&s->out,
                 "  # The split eval (15%%) decides when to stop. There are "
                 "too few %s for a\n"
                 "  # test split: estimate the %s with cellrun eval "
                 "--kfold 5 FILE.\n"
                 "  split: {train: 0.85, eval: 0.15%s, seed: 1}\n",
                 f->images ? "images" : "rows",
                 f->classifies ? "accuracy" : "metrics", stratify);
    else
        cr_buf_f(&s->out,
                 "  # The split eval decides when to stop; use test once, at "
                 "the end:\n"
                 "  # cellrun eval --ckpt RUN --data test\n"
                 "  split: {train: 0.8, eval: 0.1, test: 0.1%s, seed: 1}\n",
                 stratify);
}

int64_t cr_starter_batch(const struct cr_starter_facts *f)
{
    if (f->images)
        return f->rows < 500 ? 16 : 64;
    return f->rows < 10000 ? 32 : f->rows < 100000 ? 128 : 512;
}

/* Epochs for about 4 million rows or 120,000 images in total, within limits. */
static int64_t starter_epochs(const struct cr_starter_facts *f)
{
    int64_t least = f->images ? 20 : 10, most = f->images ? 100 : 200;
    int64_t epochs = (f->images ? 120000 : 4000000) / f->rows;

    return epochs < least ? least : epochs > most ? most : epochs;
}

static void starter_loss(struct cr_starter *s,
                         const struct cr_starter_facts *f)
{
    bool uneven = f->classifies && f->fewest * 3 < f->most;

    if (!f->classifies) {
        cr_buf_str(&s->out, "loss: MSELoss\n");
        return;
    }
    if (uneven)
        cr_buf_f(&s->out,
                 "# Classes are imbalanced: %" PRId64 " to %" PRId64
                 " samples. If too few samples of\n"
                 "# the rare classes are predicted correctly, write\n"
                 "#   loss: {CrossEntropyLoss: {weight: balanced}}\n"
                 "# instead, at the cost of some accuracy.\n",
                 f->fewest, f->most);
    cr_buf_str(&s->out, "loss: CrossEntropyLoss\n");
}

void cr_starter_training(struct cr_starter *s,
                         const struct cr_starter_facts *f)
{
    bool uneven = f->classifies && f->fewest * 3 < f->most;
    int64_t epochs = starter_epochs(f);

    cr_buf_char(&s->out, '\n');
    starter_loss(s, f);
    if (f->images)
        cr_buf_f(&s->out,
                 "optimizer:\n"
                 "  AdamWeightDecay:\n"
                 "    learning_rate: {CosineDecayLR: {max_lr: 3e-3, min_lr: "
                 "0.0, decay_steps: 100%%}, warmup: 1 epochs}\n"
                 "    weight_decay: 0.01\n");
    else
        cr_buf_str(&s->out, "optimizer: {AdamWeightDecay: {learning_rate: "
                            "1e-3, weight_decay: 1e-4}}\n");
    cr_buf_f(&s->out, "metrics: [%s, loss]\n",
             !f->classifies ? "r2, mae"
             : uneven       ? "accuracy, balanced_accuracy, F1"
                            : "accuracy");
    if (f->images) {
        cr_buf_f(&s->out, "train: {epochs: %" PRId64 "}\n", epochs);
        return;
    }
    cr_buf_f(&s->out,
             "# The run ends after %d epochs without a lower loss on eval and "
             "keeps the best.\n"
             "train: {epochs: %" PRId64 ", early_stop: {monitor: loss, mode: "
             "min, patience: %d}}\n"
             "checkpoint: {every: 10 epochs, keep_checkpoint_max: 1, best: "
             "{metric: loss, mode: min}}\n",
             epochs < 50 ? 5 : 20, epochs, epochs < 50 ? 5 : 20);
}

/* x rounded to three significant digits. */
static const char *starter_round(struct cr_arena *arena, double x)
{
    double power;

    if (x == 0 || !isfinite(x))
        return "0.0";
    power = pow(10, floor(log10(fabs(x))) - 2);
    return cr_real_text(arena, strtod(cr_strf(arena, "%.3g",
                                              round(x / power) * power),
                                      NULL));
}

void cr_starter_vars(struct cr_starter *s, const struct cr_starter_facts *f)
{
    cr_buf_f(&s->out,
             "# Mean and standard deviation of the target, which scale the "
             "output.\n"
             "vars: {mean: %s, spread: %s}\n",
             starter_round(s->arena, f->mean),
             starter_round(s->arena, f->spread));
}

void cr_starter_dense(struct cr_starter *s, const struct cr_starter_facts *f,
                      int64_t inputs)
{
    int64_t width = 64, layers = f->rows < 20000 ? 1 : 2;

    while (width < 256 && width < 2 * inputs)
        width *= 2;
    cr_buf_str(&s->out, "    body:\n");
    for (int64_t i = 0; i < layers; i++)
        cr_buf_f(&s->out, "      - Dense: {out_channels: %" PRId64 "}\n"
                          "      - ReLU\n", width);
    cr_buf_f(&s->out, "      - Dense: {out_channels: %" PRId64 "}\n",
             f->classifies ? f->classes : 1);
}

void cr_starter_output(struct cr_starter *s,
                       const struct cr_starter_facts *f, const char *input)
{
    if (f->classifies) {
        cr_buf_f(&s->out, "    return body(%s)\n", input);
        return;
    }
    cr_buf_f(&s->out, f->flat ? "    return squeeze(body(%s), -1) * $spread "
                                "+ $mean\n"
                              : "    return body(%s) * $spread + $mean\n",
             input);
}

void cr_starter_convnet(struct cr_starter *s,
                        const struct cr_starter_facts *f, const char *input,
                        const char *value, int64_t side)
{
    int64_t channels = 32;

    cr_buf_str(&s->out,
               "\nblocks:\n"
               "  Stage:                    # two convolutions, then half "
               "height and width\n"
               "    params: {channels: required}\n"
               "    cells:\n"
               "      conv1: {Conv2d: {out_channels: $channels, kernel_size: "
               "3, has_bias: false}}\n"
               "      bn1: BatchNorm2d\n"
               "      conv2: {Conv2d: {out_channels: $channels, kernel_size: "
               "3, has_bias: false}}\n"
               "      bn2: BatchNorm2d\n"
               "      pool: {MaxPool2d: {kernel_size: 2, stride: 2}}\n"
               "    construct: |\n"
               "      x = relu(bn1(conv1(x)))\n"
               "      return pool(relu(bn2(conv2(x))))\n");
    cr_buf_f(&s->out, "\nnetwork:\n  inputs: [%s]\n  cells:\n    stages:\n",
             input);
    do {
        cr_buf_f(&s->out, "      - {Stage: {channels: %" PRId64 "}}\n",
                 channels);
        channels = channels < 128 ? 2 * channels : channels;
        side /= 2;
    } while (side >= 8);
    cr_buf_f(&s->out,
             "    pool: {AdaptiveAvgPool2d: {output_size: 1}}\n"
             "    flatten: Flatten\n"
             "    drop: {Dropout: {p: 0.2}}\n"
             "    body: {Dense: {out_channels: %" PRId64 "}}\n"
             "  construct: |\n"
             "    h = drop(flatten(pool(stages(%s))))\n",
             f->classifies ? f->classes : 1, value);
    cr_starter_output(s, f, "h");
}

static int starter_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Number of distinct values of a sorted array; *whole: all are integers from 0
 * on. */
static int64_t starter_values(const double *y, int64_t n, bool *whole)
{
    int64_t values = 0;

    *whole = true;
    for (int64_t i = 0; i < n; i++) {
        values += i == 0 || y[i] != y[i - 1];
        *whole = *whole && y[i] >= 0 && y[i] == floor(y[i]) && y[i] < 1e9;
    }
    return values;
}

static void starter_classes(const double *y, int64_t n,
                            struct cr_starter_facts *f)
{
    int64_t first = 0;

    f->classes = (int64_t)y[n - 1] + 1;
    f->fewest = n;
    for (int64_t i = 1; i <= n; i++) {
        if (i < n && y[i] == y[first])
            continue;
        f->fewest = i - first < f->fewest ? i - first : f->fewest;
        f->most = i - first > f->most ? i - first : f->most;
        first = i;
    }
}

bool cr_starter_numbers(struct cr_starter *s, const double *y, int64_t n,
                        struct cr_starter_facts *f)
{
    double *sorted = CR_NEWS(s->arena, double, n + 1), sum = 0, square = 0;
    int64_t values;
    bool whole;

    memcpy(sorted, y, (size_t)n * sizeof *y);
    qsort(sorted, (size_t)n, sizeof *sorted, starter_ascending);
    values = starter_values(sorted, n, &whole);
    f->rows = n;
    for (int64_t i = 0; i < n; i++)
        sum += y[i];
    f->mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        square += (y[i] - f->mean) * (y[i] - f->mean);
    f->spread = sqrt(square / (double)n);
    if (values < 2)
        return cr_error(s->diag, CR_NOWHERE, CR_E_DATA_RANGE,
                        "the target: found %" PRId64 " distinct value%s, "
                        "expected two or more",
                        values, values == 1 ? "" : "s");
    f->classifies = s->task == CR_TASK_CLASSIFY ||
                    (s->task == CR_TASK_AUTO && whole && values <= 20 &&
                     sorted[n - 1] < 1000 && 5 * values <= n);
    if (!f->classifies)
        return true;
    if (!whole || sorted[n - 1] >= 1e6)
        return cr_error(s->diag, CR_NOWHERE, CR_E_DATA_RANGE,
                        "the target: found numbers that are not classes 0, 1, "
                        "...; use --task regress");
    starter_classes(sorted, n, f);
    return true;
}
