#include "model/samples.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/source_dir.h"
#include "train/section.h"

static const char *const samples_splits[] = { "eval", "test", "train" };

const char *cr_model_split(const struct cr_config *config)
{
    for (size_t i = 0; i < CR_LEN(samples_splits); i++)
        if (cr_data_loader_has(config, samples_splits[i]))
            return samples_splits[i];
    return "eval";
}

/* Replaces the section dataset of the config by the one of another file. */
static bool samples_replace_dataset(struct cr_config *config, const char *path)
{
    const char *files[] = { path, NULL };
    struct cr_config_from from = { .files = files };
    struct cr_config *other = cr_config_load(config->arena, config->diag,
                                             &from);
    struct cr_node **at = &config->root->child, *dataset, *rest;
    struct cr_source_dir **origin = &other->source_dirs;

    if (other->load_failed)
        return false;
    dataset = cr_node_get(other->root, "dataset");
    if (!dataset)
        return cr_error(config->diag, other->root->pos,
                        CR_E_MISSING_SECTION,
                        "the file has no section 'dataset'");
    while (*at && strcmp((*at)->key, "dataset") != 0)
        at = &(*at)->next;
    rest = *at ? (*at)->next : NULL;
    *at = dataset;
    dataset->next = rest;
    while (*origin)
        origin = &(*origin)->next;
    *origin = config->source_dirs;
    config->source_dirs = other->source_dirs;
    return true;
}

/* Whether the name is that of a file of samples; others are YAML. */
static bool samples_is_file(const char *path)
{
    static const char *const ends[] = { ".csv", ".tsv", ".txt", ".npy" };

    for (size_t i = 0; i < CR_LEN(ends); i++)
        if (cr_ends(path, ends[i]))
            return true;
    return false;
}

struct cr_data_loader *cr_model_samples(struct cr_model *model,
                                        const char *data, int64_t batch)
{
    struct cr_config *config = model->config;
    struct cr_eval_section section = { 0 };
    struct cr_data_loader_opts want = { .seed = model->seed };
    struct stat st;

    if (!cr_section_read(config, "eval", &section))
        return NULL;
    want.batch_size = batch > 0 ? batch : section.batch_size;
    for (size_t i = 0; data && i < CR_LEN(samples_splits); i++)
        if (strcmp(data, samples_splits[i]) == 0)
            want.split = samples_splits[i];
    if (data && !want.split) {
        if (stat(data, &st) != 0) {
            cr_error(config->diag, cr_at_file(config->arena, data),
                     CR_E_DATA_MISSING, "--data: %s", strerror(errno));
            cr_note(config->diag, "expected a split (train, eval, test), a "
                                  "folder, a table, a text, an array or a "
                                  "YAML file");
            return NULL;
        }
        if (S_ISDIR(st.st_mode) || samples_is_file(data))
            want.path = data;
        else if (!samples_replace_dataset(config, data)) {
            cr_note(config->diag, "--data takes a split, a folder, a table "
                                  "(.csv, .tsv), a text (.txt), an array "
                                  "(.npy) or a YAML file; eval takes others "
                                  "by their key, such as "
                                  "dataset.eval.files=FILE");
            return NULL;
        }
    }
    if (!cr_section(config, "dataset")) {
        cr_error(config->diag, config->root->pos, CR_E_MISSING_SECTION,
                 "the section 'dataset' is missing");
        return NULL;
    }
    if (!want.split)
        want.split = cr_model_split(config);
    return cr_data_loader_open(config, &want);
}
