/*
 * The sections `dataset` and `datapipe`.
 */
#include "data/section.h"

#include <string.h>

static const struct cr_opt split_opts[] = {
    CR_QUANTITY_OPTIONAL(
        struct cr_dataset_split, train, CR_SAMPLES,
        "Fraction of the training data that is trained on: 0.7, "
        "70%, or a number of samples. The first of train, eval and "
        "test that is not given gets what the others leave.",
        .share = true),
    CR_QUANTITY_OPTIONAL(struct cr_dataset_split, eval, CR_SAMPLES,
                         "Fraction that is `eval`, or a number of samples.",
                         .share = true),
    CR_QUANTITY_OPTIONAL(struct cr_dataset_split, test, CR_SAMPLES,
                         "Fraction that is `test`, or a number of samples.",
                         .share = true),
    CR_QUANTITY_DEFAULT(
        struct cr_dataset_split, eval_from_train, "10%", CR_SAMPLES,
        "Instead of these three, the fraction of the training data "
        "that is `eval`, or a number of samples.",
        .share = true),
    CR_STR_OPTIONAL(
        struct cr_dataset_split, stratify,
        "Column of classes, or field of a CSVDataset, each value of "
        "which has the same share in all parts."),
    CR_STR_OPTIONAL(
        struct cr_dataset_split, group,
        "Column or field whose values stay together: samples of one "
        "group are all in the same part. Sizes are as near as that "
        "allows."),
    CR_STR_OPTIONAL(struct cr_dataset_split, time,
                    "Column or field of numbers or dates by which samples are "
                    "sorted: the latest are test, those before them eval."),
    CR_INT_DEFAULT(struct cr_dataset_split, seed, 1, 0, INT64_MAX,
                   "Which samples go where."),
    CR_INT_OPTIONAL(
        struct cr_dataset_split, folds, 2, 1000,
        "Cross-validation: number of parts of the training data, as "
        "equal as can be. One is `test`, the others are what train "
        "and eval are made of. eval --kfold trains on all."),
    CR_INT_OPTIONAL(struct cr_dataset_split, fold, 0, 999,
                    "The part that is `test`, from 0; needs folds."),
    { 0 },
};

static const struct cr_opt dataset_opts[] = {
    CR_OBJ_OPTIONAL(struct cr_data_section, train, CR_KIND_DATASET,
                    "What is trained on."),
    CR_OBJ_OPTIONAL(struct cr_data_section, eval, CR_KIND_DATASET,
                    "What is evaluated on while training."),
    CR_OBJ_OPTIONAL(struct cr_data_section, test, CR_KIND_DATASET,
                    "What `cellrun eval` takes where there is no eval."),
    CR_SUB(struct cr_data_section, split, split_opts,
           "Parts of the training data, instead of data sets eval and "
           "test."),
    CR_ENUM_DEFAULT(
        struct cr_data_section, on_error, CR_ON_ERROR_STOP, "stop|skip|warn",
        "What a file that cannot be decoded does: it stops the run; "
        "it is left out, as if it were not there, and counted; or it "
        "is named too. To know them, skip and warn decode all files "
        "once before the first step, which cache: disk remembers."),
    { 0 },
};

const struct cr_section cr_section_dataset = {
    .about = {
        .name = "dataset",
        .summary = "Where samples come from.",
        .detail = "Relative paths are looked for beside the config, then in "
                  "the folders of CELLRUN_DATA.",
        .example = "dataset:\n"
                   "  train: {MnistDataset: {dataset_dir: mnist, usage: "
                   "train}}\n"
                   "  eval: {MnistDataset: {dataset_dir: mnist, usage: "
                   "test}}\n"
                   "---\n"
                   "dataset:\n"
                   "  train: {CSVDataset: {dataset_files: plants.csv, "
                   "columns: {x: {type: auto}, label: species}}}\n"
                   "  split: {train: 0.7, eval: 0.15, test: 0.15, stratify: "
                   "label}\n",
        .opts = dataset_opts,
        .size = sizeof(struct cr_data_section),
    },
};

static const struct cr_opt batch_opts[] = {
    CR_INT_DEFAULT(struct cr_batching, batch_size, 32, 1, CR_DIM_MAX,
                   "Samples in a batch."),
    CR_NODE(struct cr_batching, drop_remainder,
            "Whether the short last batch is left out: true, false, or a map "
            "{train: true, eval: false}."),
    { 0 },
};

static const struct cr_opt shuffle_opts[] = {
    CR_BOOL_DEFAULT(struct cr_shuffling, enabled, true,
                    "Whether training data are shuffled; `shuffle: false` says "
                    "the same in short. A data set's own shuffle: false too."),
    CR_NODE(struct cr_shuffling, buffer_size,
            "all, or the number of samples that are mixed at a time."),
    { 0 },
};

static const struct cr_opt weighted_opts[] = {
    CR_NODE(struct cr_weighted, weights,
            "balanced: every class of the label as often; a column of single "
            "numbers, the weight of each sample; a map class: weight; or a "
            "list, one weight for each sample of the data set."),
    CR_INT_OPTIONAL(struct cr_weighted, num_samples, 1, CR_DIM_MAX,
                    "Samples of an epoch. Default: as many as there are."),
    CR_BOOL_DEFAULT(struct cr_weighted, replacement, true,
                    "Whether a sample may stand in an epoch several times."),
    { 0 },
};

static const struct cr_opt sampler_opts[] = {
    CR_SUB(struct cr_sampling, WeightedRandomSampler, weighted_opts,
           "Training samples are drawn at random, each as often as its "
           "weight says."),
    { 0 },
};

static const struct cr_opt datapipe_opts[] = {
    CR_SUB(struct cr_datapipe_section, batch, batch_opts, "Batches."),
    CR_SUB(struct cr_datapipe_section, shuffle, shuffle_opts,
           "How training data are shuffled."),
    CR_SUB(struct cr_datapipe_section, sampler, sampler_opts,
           "Which training samples an epoch has; instead of shuffle."),
    CR_NODE(struct cr_datapipe_section, workers,
            "Threads that prepare batches while the network computes: auto "
            "or a number; 0 prepares each between two steps. Any number "
            "gives the same batches."),
    CR_INT_DEFAULT(struct cr_datapipe_section, prefetch, 4, 1, 1024,
                   "Batches that workers prepare ahead."),
    CR_ENUM_DEFAULT(
        struct cr_datapipe_section, cache, CR_CACHE_NONE, "none|memory|disk",
        "Where decoded images are kept, as they are before the ops: "
        "in memory as they are read, or in a file below .cache in the "
        "folder of runs, which is made before the first step and "
        "serves later runs until a name, size or time of the data "
        "changes. Arrays in files are kept anyway."),
    { 0 },
};

const struct cr_section cr_section_datapipe = {
    .about = {
        .name = "datapipe",
        .summary = "What happens to samples before the network sees them.",
        .detail = "Each column of the data set may have a list of ops, under "
                  "its name; the other keys are those listed here. Columns "
                  "without ops pass as they are. Beside an op may stand "
                  "`only: train` or `only: eval`, and `with: COLUMN`: random "
                  "ops of a column draw numbers of their own, unless they "
                  "follow those of the same name in another column, as a "
                  "mask follows its image.",
        .example = "datapipe:\n"
                   "  image: [{Rescale: {rescale: $(1/255), shift: 0.0}}, "
                   "HWC2CHW]\n"
                   "  label: [{TypeCast: {data_type: int32}}]\n"
                   "  batch: {batch_size: 64}\n",
        .opts = datapipe_opts,
        .size = sizeof(struct cr_datapipe_section),
    },
    .raw = true, /* columns stand beside the keys */
};

/* Reads the keys that have rows; the others are columns. */
bool cr_datapipe_section_read(struct cr_config *config,
                              struct cr_datapipe_section *to)
{
    const struct cr_node *node = cr_section(config, "datapipe");
    struct cr_node *keys;
    struct cr_node **end;

    if (node && node->kind != CR_NODE_MAP)
        return cr_error(config->diag, node->pos, CR_E_WRONG_TYPE,
                        "datapipe takes a map, not %s",
                        cr_node_what(config->arena, node));
    if (!node)
        return cr_opts_read(config->arena, config->diag,
                            &cr_section_datapipe.about, NULL, CR_NOWHERE, to);
    keys = CR_NEW(config->arena, struct cr_node);
    *keys = *node;
    keys->child = NULL;
    end = &keys->child;
    for (CR_EACH(m, node)) {
        if (!cr_datapipe_is_key(m->key))
            continue;
        *end = CR_NEW(config->arena, struct cr_node);
        **end = *m;
        (*end)->next = NULL;
        end = &(*end)->next;
    }
    return cr_opts_read(config->arena, config->diag,
                        &cr_section_datapipe.about, keys, node->pos, to);
}

bool cr_datapipe_is_key(const char *name)
{
    const struct cr_opt *row;

    for (row = datapipe_opts; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return true;
    return false;
}
