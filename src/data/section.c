/*
 * The sections `dataset` and `datapipe`.
 */
#include "data/section.h"

#include <string.h>

static const struct cr_opt split_opts[] = {
    CR_QUANTITY_OPTIONAL(
        struct cr_dataset_split, train, CR_SAMPLES,
        "Fraction of the training data to train on (0.7 or 70%), or a "
        "number of samples. The first of train, eval and test that is "
        "not set gets the remaining samples.",
        .share = true),
    CR_QUANTITY_OPTIONAL(struct cr_dataset_split, eval, CR_SAMPLES,
                         "Fraction for eval, or a number of samples.",
                         .share = true),
    CR_QUANTITY_OPTIONAL(struct cr_dataset_split, test, CR_SAMPLES,
                         "Fraction for test, or a number of samples.",
                         .share = true),
    CR_QUANTITY_DEFAULT(
        struct cr_dataset_split, eval_from_train, "10%", CR_SAMPLES,
        "Fraction of the training data for eval, or a number of samples; "
        "used if train, eval and test are not set.",
        .share = true),
    CR_STR_OPTIONAL(
        struct cr_dataset_split, stratify,
        "Column of classes, or field of a CSVDataset, whose values are "
        "distributed alike in all parts."),
    CR_STR_OPTIONAL(
        struct cr_dataset_split, group,
        "Column or field of groups: samples of equal value are put into "
        "the same part. The sizes are met as closely as that allows."),
    CR_STR_OPTIONAL(struct cr_dataset_split, time,
                    "Column or field of numbers or dates to sort the samples "
                    "by: the latest become test, those before them eval."),
    CR_INT_DEFAULT(struct cr_dataset_split, seed, 1, 0, INT64_MAX,
                   "Random seed of the split."),
    CR_INT_OPTIONAL(
        struct cr_dataset_split, folds, 2, 1000,
        "Cross-validation: number of folds of the training data. One is "
        "test, train and eval are taken from the others. eval --kfold "
        "trains once per fold."),
    CR_INT_OPTIONAL(struct cr_dataset_split, fold, 0, 999,
                    "Index of the fold that is test, from 0; needs folds."),
    { 0 },
};

static const struct cr_opt dataset_opts[] = {
    CR_OBJ_OPTIONAL(struct cr_data_section, train, CR_KIND_DATASET,
                    "Training data."),
    CR_OBJ_OPTIONAL(struct cr_data_section, eval, CR_KIND_DATASET,
                    "Data for evaluation during training."),
    CR_OBJ_OPTIONAL(struct cr_data_section, test, CR_KIND_DATASET,
                    "Test data, which `cellrun eval` uses without eval."),
    CR_SUB(struct cr_data_section, split, split_opts,
           "Split of the training data into parts, in place of the data "
           "sets eval and test."),
    CR_ENUM_DEFAULT(
        struct cr_data_section, on_error, CR_ON_ERROR_STOP, "stop|skip|warn",
        "Action on files that cannot be decoded. stop: end the run. skip: "
        "ignore them and report how many. warn: also name each one. skip "
        "and warn decode all files once before the first step; cache: disk "
        "stores the result."),
    { 0 },
};

const struct cr_section cr_section_dataset = {
    .about = {
        .name = "dataset",
        .summary = "Data sets for training, evaluation and test.",
        .detail = "Relative paths start from the folder of the config, then "
                  "from the folders of CELLRUN_DATA.",
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
                   "Samples per batch."),
    CR_NODE(struct cr_batching, drop_remainder,
            "Whether to drop a last batch that is incomplete: true, false, or "
            "a map {train: true, eval: false}."),
    { 0 },
};

static const struct cr_opt shuffle_opts[] = {
    CR_BOOL_DEFAULT(struct cr_shuffling, enabled, true,
                    "Shuffle the training data; `shuffle: false` is short for "
                    "it. A data set with shuffle: false is not shuffled."),
    CR_NODE(struct cr_shuffling, buffer_size,
            "Size of the shuffle buffer: all, or a number of samples."),
    { 0 },
};

static const struct cr_opt weighted_opts[] = {
    CR_NODE(struct cr_weighted, weights,
            "Weights of the samples: balanced (all classes of the label "
            "equally often), the name of a column with one weight per sample, "
            "a map {class: weight}, or a list with one weight per sample of "
            "the data set."),
    CR_INT_OPTIONAL(struct cr_weighted, num_samples, 1, CR_DIM_MAX,
                    "Samples per epoch. Default: the number of samples."),
    CR_BOOL_DEFAULT(struct cr_weighted, replacement, true,
                    "Sample with replacement: a sample may occur several times "
                    "in an epoch."),
    { 0 },
};

static const struct cr_opt sampler_opts[] = {
    CR_SUB(struct cr_sampling, WeightedRandomSampler, weighted_opts,
           "Draws training samples at random, with probabilities proportional "
           "to their weights."),
    { 0 },
};

static const struct cr_opt datapipe_opts[] = {
    CR_SUB(struct cr_datapipe_section, batch, batch_opts, "Batches."),
    CR_SUB(struct cr_datapipe_section, shuffle, shuffle_opts,
           "Shuffling of the training data."),
    CR_SUB(struct cr_datapipe_section, sampler, sampler_opts,
           "Choice of the training samples of an epoch, in place of shuffle."),
    CR_NODE(struct cr_datapipe_section, workers,
            "Number of threads that prepare batches while the network "
            "computes; 0: all threads prepare each batch between two steps. "
            "auto: one per processor for files that must be decoded, else 0. "
            "The batches do not depend on it."),
    CR_INT_DEFAULT(struct cr_datapipe_section, prefetch, 4, 1, 1024,
                   "Number of batches that workers prepare in advance."),
    CR_ENUM_DEFAULT(
        struct cr_datapipe_section, cache, CR_CACHE_NONE, "none|memory|disk",
        "Cache of decoded images, before any transform. memory: filled "
        "while reading. disk: a file below .cache in the runs folder, built "
        "before the first step and reused until a name, size or time of the "
        "data changes. Array files stay in memory anyway."),
    { 0 },
};

const struct cr_section cr_section_datapipe = {
    .about = {
        .name = "datapipe",
        .summary = "Transforms, batching and caching of samples.",
        .detail = "Each column of the data set may have a list of transforms "
                  "under its name; other keys are listed below. Columns "
                  "without transforms pass unchanged. `only: train` or "
                  "`only: eval` limits a transform to that data. `with: "
                  "COLUMN` makes a random transform use the same random "
                  "numbers as the transform of that name in COLUMN, for an "
                  "image and its mask: both have the same `only` and `prob`. "
                  "`prob: P` applies a transform that keeps type and shape "
                  "to a sample with that probability.",
        .example = "datapipe:\n"
                   "  image: [{Rescale: {rescale: $(1/255), shift: 0.0}}, "
                   "HWC2CHW]\n"
                   "  label: [{TypeCast: {data_type: int32}}]\n"
                   "  batch: {batch_size: 64}\n",
        .opts = datapipe_opts,
        .size = sizeof(struct cr_datapipe_section),
    },
    .raw = true, /* columns are keys too */
};

bool cr_datapipe_section_read(struct cr_config *config,
                              struct cr_datapipe_section *to)
{
    const struct cr_node *node = cr_section(config, "datapipe");
    struct cr_node *keys;
    struct cr_node **end;

    if (node && node->kind != CR_NODE_MAP)
        return cr_error(config->diag, node->pos, CR_E_WRONG_TYPE,
                        "datapipe: found %s, expected a map",
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
