/*
 * The lists of registry.def by kind, and the lookup functions that other
 * modules declare. Only here do all types come together, and only as names.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <strings.h>

#include "conf/command_line.h"
#include "conf/config.h"
#include "data/dataset.h"
#include "data/format.h"
#include "data/tokenizer.h"
#include "data/transform.h"
#include "graph/cell.h"
#include "graph/init.h"
#include "graph/op.h"
#include "score/metric.h"
#include "train/loss_scale.h"
#include "train/optim.h"

#define CR_CELL(x) extern const struct cr_cell cr_cell_##x;
#define CR_DATASET(x) extern const struct cr_dataset_type cr_dataset_##x;
#define CR_FORMAT(x) extern const struct cr_format cr_format_##x;
#define CR_FUNCTION(x, ...) extern const struct cr_op cr_op_##x;
#define CR_INIT(x) extern const struct cr_init cr_init_##x;
#define CR_LOSS(x) extern const struct cr_cell cr_loss_##x;
#define CR_METRIC(x) extern const struct cr_metric cr_metric_##x;
#define CR_OP(x) extern const struct cr_op cr_op_##x;
#define CR_OPTIM(x) extern const struct cr_optim cr_optim_##x;
#define CR_SCALER(x) extern const struct cr_scaler cr_scaler_##x;
#define CR_SCHEDULE(x) extern const struct cr_schedule cr_schedule_##x;
#define CR_SECTION(x) extern const struct cr_section cr_section_##x;
#define CR_TOKENIZER(x) extern const struct cr_tokenizer cr_tokenizer_##x;
#define CR_TRANSFORM(x) extern const struct cr_transform cr_transform_##x;
#define CR_COMMAND(x) extern const struct cr_command cr_command_##x;
#include "registry_pass.h"

/* One list per kind; every type starts with its cr_descriptor. */
static const struct cr_descriptor *const registry_cells[] = {
#define CR_CELL(x) &cr_cell_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_ops[] = {
#define CR_FUNCTION(x, ...) &cr_op_##x.about,
#define CR_OP(x) &cr_op_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_losses[] = {
#define CR_LOSS(x) &cr_loss_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_optims[] = {
#define CR_OPTIM(x) &cr_optim_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_inits[] = {
#define CR_INIT(x) &cr_init_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_scalers[] = {
#define CR_SCALER(x) &cr_scaler_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_schedules[] = {
#define CR_SCHEDULE(x) &cr_schedule_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_metrics[] = {
#define CR_METRIC(x) &cr_metric_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_tokenizers[] = {
#define CR_TOKENIZER(x) &cr_tokenizer_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_transforms[] = {
#define CR_TRANSFORM(x) &cr_transform_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_datasets[] = {
#define CR_DATASET(x) &cr_dataset_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_formats[] = {
#define CR_FORMAT(x) &cr_format_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_sections[] = {
#define CR_SECTION(x) &cr_section_##x.about,
#include "registry_pass.h"
    NULL
};
static const struct cr_descriptor *const registry_commands[] = {
#define CR_COMMAND(x) &cr_command_##x.about,
#include "registry_pass.h"
    NULL
};

static const struct {
    const struct cr_descriptor *const *list;
    const char *name;
} registry_kinds[CR_KINDS] = {
#define KIND(list, name) { (list), (name) }
    [CR_KIND_CELL] = KIND(registry_cells, "cell"),
    [CR_KIND_OP] = KIND(registry_ops, "op"),
    [CR_KIND_LOSS] = KIND(registry_losses, "loss"),
    [CR_KIND_OPTIM] = KIND(registry_optims, "optimizer"),
    [CR_KIND_INIT] = KIND(registry_inits, "initialiser"),
    [CR_KIND_SCHEDULE] = KIND(registry_schedules, "schedule"),
    [CR_KIND_SCALER] = KIND(registry_scalers, "loss scaler"),
    [CR_KIND_METRIC] = KIND(registry_metrics, "metric"),
    [CR_KIND_TOKENIZER] = KIND(registry_tokenizers, "tokenizer"),
    [CR_KIND_TRANSFORM] = KIND(registry_transforms, "transform"),
    [CR_KIND_DATASET] = KIND(registry_datasets, "data set"),
    [CR_KIND_FORMAT] = KIND(registry_formats, "file format"),
    [CR_KIND_SECTION] = KIND(registry_sections, "section"),
    [CR_KIND_COMMAND] = KIND(registry_commands, "command"),
};

/* The lists extended by the types of plug-ins; NULL: none. They are global,
 * like the shared objects. */
static const struct cr_descriptor **registry_longer[CR_KINDS];

const struct cr_descriptor *const *cr_registry_list(enum cr_kind kind)
{
    return registry_longer[kind] ? registry_longer[kind]
                                 : registry_kinds[kind].list;
}

void cr_registry_add(enum cr_kind kind, const struct cr_descriptor *about)
{
    const struct cr_descriptor *const *list = cr_registry_list(kind);
    size_t n = 0, size;
    const struct cr_descriptor **longer;

    while (list[n])
        n++;
    size = (n + 2) * sizeof *longer;
    longer = malloc(size);
    if (!longer)
        cr_out_of_memory(size);
    memcpy(longer, list, n * sizeof *longer);
    longer[n] = about;
    longer[n + 1] = NULL;
    free(registry_longer[kind]);
    registry_longer[kind] = longer;
}

/* MindSpore's names of initialisers, in any case: "he_uniform". */
static bool registry_alias(const struct cr_descriptor *about, const char *name)
{
    const struct cr_init *init = (const struct cr_init *)about;

    return strcasecmp(about->name, name) == 0 ||
           (init->alias && strcasecmp(init->alias, name) == 0);
}

static bool registry_also(const struct cr_descriptor *about, const char *name)
{
    for (const char *const *p = about->aliases; p && *p; p++)
        if (strcmp(*p, name) == 0)
            return true;
    return false;
}

const struct cr_descriptor *cr_registry_find(enum cr_kind kind,
                                             const char *name)
{
    const struct cr_descriptor *const *list = cr_registry_list(kind);

    for (int i = 0; list[i]; i++)
        if (strcmp(list[i]->name, name) == 0 ||
            (kind == CR_KIND_INIT && registry_alias(list[i], name)) ||
            registry_also(list[i], name))
            return list[i];
    return NULL;
}

const char *cr_registry_like(enum cr_kind kind, const char *name)
{
    const struct cr_descriptor *const *list = cr_registry_list(kind);

    for (; *list; list++)
        if (strcasecmp((*list)->name, name) == 0)
            return (*list)->name;
    return NULL;
}

const char *cr_kind_name(enum cr_kind kind)
{
    return registry_kinds[kind].name;
}

const struct cr_cell *cr_cell_find(const char *name)
{
    return (const struct cr_cell *)cr_registry_find(CR_KIND_CELL, name);
}

const struct cr_cell *cr_loss_find(const char *name)
{
    return (const struct cr_cell *)cr_registry_find(CR_KIND_LOSS, name);
}

const struct cr_op *cr_op_find(const char *name)
{
    return (const struct cr_op *)cr_registry_find(CR_KIND_OP, name);
}

const struct cr_init *cr_init_find(const char *name)
{
    return (const struct cr_init *)cr_registry_find(CR_KIND_INIT, name);
}

const struct cr_optim *cr_optim_find(const char *name)
{
    return (const struct cr_optim *)cr_registry_find(CR_KIND_OPTIM, name);
}

const struct cr_metric *cr_metric_find(const char *name)
{
    return (const struct cr_metric *)cr_registry_find(CR_KIND_METRIC, name);
}

const struct cr_transform *cr_transform_find(const char *name)
{
    return (const struct cr_transform *)cr_registry_find(CR_KIND_TRANSFORM,
                                                         name);
}

const struct cr_format *cr_format_find(const char *name)
{
    return (const struct cr_format *)cr_registry_find(CR_KIND_FORMAT, name);
}
