#include "data/data_loader_internal.h"

#include "base/checked_math.h"
#include "base/str.h"
#include "base/thread_pool.h"
#include "data/column_modifiers.h"
#include "data/features.h"
#include "data/section.h"
#include "mpi/mpi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- opening ---- */

static const struct cr_node *arg(const struct cr_data_loader *p,
                                 const char *name)
{
    const struct cr_node *args = NULL;

    if (!p->source.node || !cr_node_type(p->source.node, &args))
        return NULL;
    return cr_node_get(args, name);
}

/* Whether the name ends in one of the suffixes. */
static bool has_suffix(const char *path, const char *suffixes)
{
    size_t len = strlen(path), n;

    for (const char *s = suffixes; *s; s += n + strspn(s + n, " ")) {
        n = strcspn(s, " ");
        if (len > n && strncmp(path + len - n, s, n) == 0)
            return true;
    }
    return false;
}

static bool replace_folder(const struct cr_descriptor *about, char *opts,
                           const char *path)
{
    const struct cr_opt *row = about->opts;

    while (row->name && strcmp(row->name, "dataset_dir") != 0)
        row++;
    if (row->name)
        *(const char **)(void *)(opts + row->at) = path;
    return row->name != NULL;
}

/* Replaces the folder or the files of the split's data set (eval --data PATH)
 * and uses all of it; its other arguments stay. */
static bool choose_path(struct cr_data_loader *p)
{
    struct cr_config *c = p->config;
    const struct cr_dataset_type *type = (const void *)p->source.about;
    struct cr_pos pos = cr_at_file(c->arena, p->want.path);
    char *real = realpath(p->want.path, NULL), *opts;
    struct cr_node *node = CR_NEW(c->arena, struct cr_node);
    struct stat st;
    bool folder = stat(p->want.path, &st) == 0 && S_ISDIR(st.st_mode);
    const char *path;

    /* errors of the data set name the path, not the files of the config */
    *node = *p->source.node;
    node->pos = pos;
    p->source.node = node;
    opts = cr_alloc(c->arena, 1, type->about.size);
    memcpy(opts, p->source.opts, type->about.size);
    p->source.opts = opts;
    /* relative to the current directory, not to the config */
    path = cr_strdup(c->arena, real ? real : p->want.path);
    free(real);
    cr_config_name(c, path);
    if (folder ? replace_folder(&type->about, opts, path)
               : type->replace && has_suffix(path, type->suffixes))
        return folder || type->replace(c, opts, pos, path);
    cr_error(c->diag, pos, CR_E_DATA_FORMAT,
             "is a %s, but the type of dataset.%s, %s, does not read %s",
             folder ? "folder" : "file", p->want.split, type->about.name,
             folder ? "folders" : "such files");
    if (type->replace)
        cr_note(c->diag, "expected a file whose name ends in %s, or a YAML "
                         "file with a dataset of any type", type->suffixes);
    else
        cr_note(c->diag, "name a YAML file with a dataset of any type");
    return false;
}

/* The splits that the section has, as the end of a message; "" if none. */
static const char *other_splits(struct cr_config *c,
                                const struct cr_data_section *section)
{
    static const char *const names[] = { "train", "eval", "test" };
    const struct cr_obj *own[] = { &section->train, &section->eval,
                                   &section->test };
    const struct cr_node *data = cr_section(c, "dataset");
    struct cr_buf b = { .arena = c->arena };

    for (size_t i = 0; i < CR_LEN(names); i++)
        if (own[i]->about || cr_dataset_split_gives(data, names[i]))
            cr_buf_f(&b, "%s %s", b.len > 0 ? "," : "; the config has",
                     names[i]);
    return cr_buf_text(&b);
}

/* Finds the data set of the split: a data set of its own, or a subset of
 * train. */
static bool choose_source(struct cr_data_loader *p,
                          struct cr_data_section *section)
{
    struct cr_config *c = p->config;
    const char *split = p->want.split;
    const struct cr_node *data = cr_section(c, "dataset");

    if (p->want.dataset)
        return cr_obj_read(c->arena, c->diag, CR_KIND_DATASET,
                           p->want.dataset, &p->source);
    if (!cr_section_read(c, "dataset", section))
        return false;
    p->source = cr_dataset_split_gives(data, split) ? section->train
                : strcmp(split, "train") == 0       ? section->train
                : strcmp(split, "test") == 0        ? section->test
                                                    : section->eval;
    if (!p->source.about)
        return cr_error(c->diag, data ? data->pos : c->root->pos,
                        CR_E_MISSING_SECTION, "dataset.%s not found%s", split,
                        other_splits(c, section));
    return !p->want.path || choose_path(p);
}

static bool flag(struct cr_config *c, const struct cr_node *node,
                 const char *name, bool otherwise, bool *to)
{
    *to = otherwise;
    if (!node || node->kind == CR_NODE_NULL)
        return true;
    if (node->kind != CR_NODE_BOOL)
        return cr_error(c->diag, node->pos, CR_E_WRONG_TYPE,
                        "%s: found %s, expected true or false", name,
                        cr_node_what(c->arena, node));
    *to = node->boolean;
    return true;
}

bool cr_data_loader_values(struct cr_data_loader *p, const char *key,
                           const char *column, enum cr_type type, void *to)
{
    const struct cr_features *of = cr_features_find(p->config, column);
    size_t size = cr_type_size(type);
    int64_t i;
    char value[16];
    int k;

    for (k = 0; k < p->set.columns; k++)
        if (strcmp(p->set.column[k].name, column) == 0)
            break;
    if (k == p->set.columns || p->set.column[k].spec.rank != 0 ||
        p->set.column[k].spec.type == CR_STRING ||
        /* category codes are not numbers */
        (type == CR_F64 && of && of->n == 1 && of->v[0].category))
        return cr_error(p->config->diag, p->pos, CR_E_UNKNOWN_KEY,
                        "%s: '%s' is not a column with one number per "
                        "sample",
                        key, column);
    if (p->set.type->load && !p->set.type->load(&p->set, p->config->diag))
        return false;
    for (i = 0; i < p->set.count; i++) {
        if (!p->set.type->read(&p->set, p->config->diag, i, k, value))
            return false;
        cr_convert(p->set.column[k].spec.type, value, type,
                   (char *)to + (size_t)i * size, 1);
    }
    return true;
}

static bool buffer_size(struct cr_data_loader *p, const struct cr_node *node)
{
    if (!node || (node->kind == CR_NODE_STR && strcmp(node->text, "all") == 0))
        return true;
    if (node->kind != CR_NODE_INT || node->integer < 2)
        return cr_error(p->config->diag, node->pos, CR_E_OUT_OF_RANGE,
                        "shuffle.buffer_size: found %s, expected all or a "
                        "number of at least 2",
                        cr_node_what(p->arena, node));
    p->sampler.buffer = node->integer;
    return true;
}

/* Sets the number of samples of an epoch and their order. */
static bool make_order(struct cr_data_loader *p,
                       const struct cr_datapipe_section *s)
{
    const struct cr_node *samples = arg(p, "num_samples");
    struct cr_sampler *o = &p->sampler;
    int64_t most;

    if (!flag(p->config, arg(p, "shuffle"), "shuffle", p->want.train,
              &o->shuffle) ||
        !buffer_size(p, s->shuffle.buffer_size))
        return false;
    o->shuffle = o->shuffle && (s->shuffle.enabled || !p->want.train);
    o->seed = p->want.seed;
    if (p->want.limit > 0 && p->want.limit < o->n)
        o->n = p->want.limit;
    /* slightly less, because 0.07 * 10000 exceeds 700 */
    if (p->want.limit_fraction > 0 && p->want.limit_fraction < 1)
        o->n = (int64_t)ceil(p->want.limit_fraction * (double)o->n *
                             (1 - 1e-12));
    o->take = o->n;
    if (samples && samples->kind == CR_NODE_INT && samples->integer < o->take)
        o->take = samples->integer;
    if (p->want.overfit_batches > 0) {
        o->fixed = true;
        if (cr_checked_mul(&most, p->want.overfit_batches, p->batch_size) &&
            most < o->take)
            o->take = most;
    }
    return true;
}

static bool drops(struct cr_data_loader *p, const struct cr_node *node,
                  bool *yes)
{
    if (node && node->kind == CR_NODE_MAP) {
        for (CR_EACH(m, node))
            if (strcmp(m->key, "train") != 0 && strcmp(m->key, "eval") != 0)
                return cr_error(p->config->diag, m->key_pos, CR_E_UNKNOWN_KEY,
                                "drop_remainder: found '%s', expected train or "
                                "eval",
                                m->key);
        node = cr_node_get(node, p->want.train ? "train" : "eval");
    }
    return flag(p->config, node, "drop_remainder", false, yes);
}

static bool say_empty(struct cr_data_loader *p)
{
    return cr_error(
        p->config->diag,
        p->set.count == 0 && p->set.path ? cr_at_file(p->arena, p->set.path)
                                         : p->pos,
        CR_E_DATA_EMPTY, "dataset.%s has no samples", p->want.split);
}

static bool make_batches(struct cr_data_loader *p,
                         const struct cr_datapipe_section *s)
{
    int64_t n = p->sampler.take, b = p->batch_size;
    bool drop = false;

    if (!drops(p, s->batch.drop_remainder, &drop))
        return false;
    p->batches = drop ? n / b : (n + b - 1) / b;
    if (p->batches > 0)
        return true;
    if (n > 0)
        return cr_error(p->config->diag, p->pos, CR_E_DATA_EMPTY,
                        "dataset.%s has %lld samples, fewer than one batch of "
                        "%lld, and drop_remainder drops an incomplete batch",
                        p->want.split, (long long)n, (long long)b);
    return say_empty(p);
}

int cr_data_loader_labels(const struct cr_data_loader *p)
{
    int i;

    for (i = 0; i < p->set.columns; i++)
        if (strcmp(p->set.column[i].name, "label") == 0)
            return i;
    return -1;
}

/* Checks that a column with a mixing transform holds real numbers and that the
 * labels are class weights, and reserves scratch memory. */
static bool mix_check(struct cr_data_loader *p,
                      const struct cr_column_pipeline *c)
{
    const struct cr_spec *label;
    int k = cr_data_loader_labels(p);
    size_t rows = (size_t)p->batch_size;

    if (!c->mix)
        return true;
    if (c->out.type != CR_REAL)
        return cr_error(p->config->diag, c->mix_plan.pos, CR_E_DTYPE,
                        "%s: expected real numbers, as from Rescale and "
                        "Normalize, but found %s",
                        c->mix->about.name, cr_type_name(c->out.type));
    label = k >= 0 && p->op[k] != c ? &p->op[k]->out : NULL;
    if (!label || label->type != CR_REAL || label->rank != 1)
        return cr_error(p->config->diag, c->mix_plan.pos, CR_E_DTYPE,
                        "%s mixes labels too: add OneHot and TypeCast to "
                        "float32 to datapipe.label",
                        c->mix->about.name);
    if ((int64_t)rows > p->sampler.take)
        rows = (size_t)p->sampler.take;
    rows = rows * (cr_bytes(&c->out) + cr_bytes(label) + 8) + 256;
    if (p->scratch_bytes < rows)
        p->scratch_bytes = rows;
    return true;
}

/* Checks that all columns with several shapes have the same number of
 * shapes. */
static bool make_sizes(struct cr_data_loader *p)
{
    int i, s;

    p->n_sizes = 1;
    for (i = 0; i < p->set.columns; i++) {
        int n = p->op[i]->n_sizes;

        if (n > 1 && p->n_sizes > 1 && n != p->n_sizes)
            return cr_error(p->config->diag, p->pos, CR_E_CONFLICT,
                            "column '%s' has %d sizes, another column has %d: "
                            "all columns of a batch share one choice",
                            p->op[i]->name, n, p->n_sizes);
        if (n > 1)
            p->n_sizes = n;
    }
    for (s = 0; s < p->n_sizes; s++) {
        p->of_size[s] = CR_NEWS(p->arena, struct cr_column, p->set.columns);
        for (i = 0; i < p->set.columns; i++) {
            const struct cr_column_pipeline *c = p->op[i];
            size_t stored = cr_bytes(&c->in) + 64;

            c = c->n_sizes > 1 ? c->of_size[s] : c;
            p->of_size[s][i] = (struct cr_column){ c->name, c->out };
            if (c->scratch_bytes + stored > p->scratch_bytes)
                p->scratch_bytes = c->scratch_bytes + stored;
            if (!mix_check(p, c))
                return false;
        }
    }
    return true;
}

/* Adds what the columns are to a message about an unknown one. */
static void note_columns(struct cr_diag *diag, const char *word,
                         const char *const *names)
{
    struct cr_buf all = { .arena = diag->arena };

    if (cr_closest_name(word, names))
        cr_hint(diag, "did you mean '%s'?", cr_closest_name(word, names));
    for (int i = 0; names[i]; i++)
        cr_buf_f(&all, " %s", names[i]);
    cr_note(diag, "columns:%s", cr_buf_text(&all));
}

/* Checks that `with`, next to a transform, names another column that has the
 * transform. */
static bool check_with(struct cr_data_loader *p, const struct cr_node *ops,
                       const char *const *names)
{
    for (CR_EACH(op, ops)) {
        const struct cr_node *with = cr_node_get(op, "with");
        int i;

        for (i = 0; with && names[i]; i++)
            if (strcmp(with->text, names[i]) == 0)
                break;
        if (!with || names[i])
            continue;
        cr_error(p->config->diag, with->pos, CR_E_UNKNOWN_KEY,
                 "with: column '%s' not found in dataset.%s", with->text,
                 p->want.split);
        note_columns(p->config->diag, with->text, names);
        return false;
    }
    return cr_modifier_check_peers(p->config, ops, p->want.train);
}

static bool make_columns(struct cr_data_loader *p)
{
    const struct cr_node *node = cr_section(p->config, "datapipe");
    const char *names[CR_COLUMNS_MAX + 1] = { NULL };
    const char *unfused = getenv("CELLRUN_UNFUSED");
    struct cr_diag *diag = p->config->diag;
    bool ok = true;
    int i;

    for (i = 0; i < p->set.columns; i++) {
        const struct cr_column *c = &p->set.column[i];
        struct cr_strs classes = { .v = p->set.class_names,
                                   .n = (int)p->set.classes };
        bool label = strcmp(c->name, "label") == 0;

        names[i] = c->name;
        if (!label || !classes.v)
            classes = (struct cr_strs){ 0 };
        p->op[i] = cr_column_pipeline_named(
            p->config, c->name, cr_node_get(node, c->name), &c->spec, &classes,
            p->want.train, !(unfused && strcmp(unfused, "1") == 0),
            p->want.seed);
        if (!p->op[i]) {
            ok = false;
            continue;
        }
        p->column[i] = (struct cr_column){ c->name, p->op[i]->out };
        if (label && p->op[i]->names.v != p->set.class_names) {
            p->set.class_names = p->op[i]->names.v;
            p->set.classes = p->op[i]->names.n;
        }
    }
    if (ok && p->want.train)
        cr_data_loader_name_classes(p->config, &p->set);
    ok = ok && make_sizes(p);
    for (i = 0; i < p->set.columns && ok; i++)
        ok = check_with(p, cr_node_get(node, names[i]), names);
    p->scratch_bytes = (p->scratch_bytes + 63) / 64 * 64;
    for (CR_EACH(m, node)) {
        if (cr_datapipe_is_key(m->key))
            continue;
        for (i = 0; i < p->set.columns; i++)
            if (strcmp(m->key, names[i]) == 0)
                break;
        if (i < p->set.columns)
            continue;
        ok = cr_error(diag, m->key_pos, CR_E_UNKNOWN_KEY,
                      "'%s' is neither a key of datapipe nor a column of "
                      "dataset.%s",
                      m->key, p->want.split);
        note_columns(diag, m->key, names);
    }
    return ok;
}

/* workers: auto uses none for samples in memory, whatever their transforms: all
 * threads prepare a batch between two steps, which is as parallel as workers
 * are, and workers would take processors from threads that wait for one another
 * (LeNet on 2 cores: a step takes 1.3 ms, with workers 1.5 to 2.5). Workers of
 * encoded files also wait for the files. */
static bool choose_workers(struct cr_data_loader *p,
                           const struct cr_datapipe_section *s)
{
    const struct cr_node *node = s->workers;

    p->prefetch = (int)s->prefetch;
    if (node && !(node->kind == CR_NODE_STR &&
                  strcmp(node->text, "auto") == 0)) {
        if (node->kind != CR_NODE_INT || node->integer < 0 ||
            node->integer > 256)
            return cr_error(p->config->diag, node->pos, CR_E_OUT_OF_RANGE,
                            "workers: found %s, expected auto or a number from "
                            "0 to 256",
                            cr_node_what(p->arena, node));
        p->n_workers = (int)node->integer;
        return true;
    }
    if (!p->set.type->at && !p->set.type->copy_only) /* encoded files */
        p->n_workers = cr_mpi_cpus(cr_cpu_count());
    return true;
}

/* Whether the disk cache may write files: a checkpoint that is not trusted may
 * not ask for it. */
static bool disk_cache_allowed(const struct cr_config *config)
{
    const struct cr_node *cache = cr_node_find(config->root, "datapipe.cache");
    const struct cr_node *dir = cr_node_find(config->root, "run.dir");

    return cache && cr_config_allows(config, CR_WRITE_FOLDER, cache->text) &&
           (!dir || cr_config_allows(config, CR_WRITE_FOLDER, dir->text));
}

/* The path of the disk cache: one name per data set, so that an outdated cache
 * is replaced. */
static const char *disk_cache_file(struct cr_data_loader *p)
{
    struct cr_config *c = p->config;
    const struct cr_node *dir = cr_node_get(cr_section(c, "run"), "dir");
    const char *runs = dir && dir->text ? dir->text : getenv("CELLRUN_RUNS");
    const char *args = p->source.node ? cr_node_json(c->arena, p->source.node)
                                      : "";
    const char *first = cr_sample_file(&p->set, 0, -1);
    char *real = realpath(first, NULL);
    uint64_t name = cr_hash(CR_HASH, args, strlen(args) + 1);

    name = cr_hash(name, real ? real : first, strlen(real ? real : first));
    free(real);
    return cr_path_join(c->arena, runs && *runs ? runs : "runs",
                        cr_strf(c->arena, ".cache/%016llx.shelf",
                                (unsigned long long)name));
}

static void make_reader(struct cr_data_loader *p,
                        const struct cr_datapipe_section *s)
{
    struct cr_reader_opts want = { .keep = s->cache == CR_CACHE_MEMORY };

    if (s->cache == CR_CACHE_DISK && p->set.cache_key &&
        disk_cache_allowed(p->config))
        want.file = disk_cache_file(p);
    p->scans = want.file != NULL;
    p->reader = cr_reader_open(p->arena, &p->set, &want);
}

/* Removes unreadable samples from the pool, according to `on_error`. */
static void drop_unreadable(struct cr_data_loader *p, int on_error)
{
    struct cr_sampler *o = &p->sampler;
    struct cr_diag *diag = p->config->diag;
    const char *first = NULL;
    int64_t *pool, i, n = 0, lost = 0;

    if (on_error == CR_ON_ERROR_STOP || p->want.headers || !p->set.cache_key)
        return;
    cr_reader_build_cache(p->reader, diag, true);
    pool = CR_NEWS(p->arena, int64_t, o->n + 1);
    for (i = 0; i < o->n; i++) {
        int64_t at = o->pool ? o->pool[i] : i;

        if (cr_reader_has(p->reader, at)) {
            pool[n++] = at;
            continue;
        }
        if (lost++ == 0 || on_error == CR_ON_ERROR_WARN) {
            struct cr_diag why = { .arena = diag->arena };
            int column = cr_reader_unreadable(p->reader, &why, at);

            if (!first)
                first = cr_sample_file(&p->set, at, column);
            if (on_error == CR_ON_ERROR_WARN && why.first)
                cr_warn(diag, why.first->pos, why.first->code, "%s",
                        why.first->text);
        }
    }
    if (lost == 0)
        return;
    cr_warn(diag, p->pos, CR_E_DATA_FORMAT,
            "%lld of %lld samples of dataset.%s cannot be read and are "
            "skipped",
            (long long)lost, (long long)o->n, p->want.split);
    cr_hint(diag, "first unreadable file: %s", first);
    o->pool = pool;
    o->n = n;
}

/* The data set; its files, if another source names these: an argument of the
 * command line. */
static struct cr_pos source_pos(const struct cr_data_loader *p)
{
    const struct cr_node *node = p->source.node, *files;

    if (!node)
        return p->config->root->pos;
    if (p->want.path)
        return node->pos;
    files = arg(p, p->source.about->opts->name);
    return files && files->pos.src != node->pos.src ? files->pos : node->pos;
}

static bool loader_open(struct cr_data_loader *p)
{
    struct cr_datapipe_section section = { 0 };
    struct cr_data_section data = { 0 };
    struct cr_config *c = p->config;

    /* stored texts may be requested before the datapipe is expanded */
    if (!choose_source(p, &data) ||
        (!p->want.stored && !cr_datapipe_section_read(c, &section)))
        return false;
    p->pos = source_pos(p);
    p->set.type = (const struct cr_dataset_type *)p->source.about;
    p->open = true;
    if (!p->set.type->open(c, p->source.opts, p->pos, &p->set))
        return false;
    p->batch_size = p->want.batch_size > 0 ? p->want.batch_size
                                           : section.batch.batch_size;
    p->sampler.n = p->set.count;
    make_reader(p, &section);
    if (!p->want.dataset && !p->want.path && !cr_dataset_split_make(p, &data))
        return false;
    if (p->want.stored)
        return true;
    if (p->set.count == 0) /* a table without rows has no types, either */
        return say_empty(p);
    drop_unreadable(p, data.on_error);
    return make_order(p, &section) && cr_data_loader_weigh(p, &section) &&
           make_columns(p) && choose_workers(p, &section) &&
           make_batches(p, &section);
}

struct cr_data_loader *
cr_data_loader_open(struct cr_config *config,
                    const struct cr_data_loader_opts *want)
{
    struct cr_data_loader *p = CR_NEW(config->arena, struct cr_data_loader);

    p->config = config;
    p->arena = config->arena;
    p->want = *want;
    p->order_epoch[0] = p->order_epoch[1] = -1;
    if (loader_open(p))
        return p;
    cr_data_loader_close(p);
    return NULL;
}

void cr_data_loader_close(struct cr_data_loader *p)
{
    if (!p)
        return;
    if (p->workers)
        cr_workers_stop(p->workers);
    p->workers = NULL;
    if (p->reader)
        cr_reader_close(p->reader);
    p->reader = NULL;
    if (p->open && p->set.self)
        p->set.type->close(&p->set);
    p->open = false;
}

/* ---- information ---- */

const struct cr_column *cr_data_loader_columns(const struct cr_data_loader *p,
                                               int *n)
{
    *n = p->set.columns;
    return p->column;
}

bool cr_data_loader_misses(const struct cr_data_loader *p, int column)
{
    const struct cr_column_pipeline *c = p->op[column];
    bool fills = c->tabular;

    for (int i = 0; i < c->n; i++)
        fills = fills || c->op[i]->fills;
    return fills;
}

struct cr_pos cr_data_loader_pos(const struct cr_data_loader *p)
{
    return p->pos;
}

int cr_data_loader_n_sizes(const struct cr_data_loader *p)
{
    return p->n_sizes;
}

const struct cr_column *
cr_data_loader_columns_of_size(const struct cr_data_loader *p, int scale)
{
    return p->of_size[scale];
}

int64_t cr_data_loader_samples(const struct cr_data_loader *p)
{
    int64_t most = p->batches * p->batch_size;

    return p->sampler.take < most ? p->sampler.take : most;
}

int64_t cr_data_loader_batches(const struct cr_data_loader *p)
{
    return p->batches;
}

int64_t cr_data_loader_batch_size(const struct cr_data_loader *p)
{
    return p->batch_size;
}

const struct cr_dataset *cr_data_loader_dataset(const struct cr_data_loader *p)
{
    return &p->set;
}

void cr_data_loader_note(const struct cr_data_loader *p, struct cr_diag *diag)
{
    const char *place =
        p->pos.src ? cr_strf(diag->arena, "      (%s)",
                             cr_pos_text(diag->arena, p->pos))
                   : "";

    if (p->want.path)
        cr_note(diag, "in the data of %s",
                cr_quote(diag->arena, p->want.path, strlen(p->want.path)));
    else
        cr_note(diag, "in the data of %s: %s%s", p->want.split,
                p->set.type->about.name, place);
}

bool cr_data_loader_levels(const struct cr_data_loader *p, int scale,
                           int column, int64_t i, double *black, double *white)
{
    const struct cr_column_pipeline *c = p->op[column];
    const cr_real *table;

    *black = 0;
    *white = 255;
    c = c->n_sizes > 1 ? c->of_size[scale] : c;
    if (!c->fused)
        return c->out.type == CR_U8;
    table = c->table + (c->class ? c->class[i] * 256 : 0);
    *black = (double)table[0];
    *white = (double)table[255];
    return true;
}

const char *cr_data_loader_describe(const struct cr_data_loader *p,
                                    struct cr_arena *arena)
{
    const char *text = "";
    int i, k;

    for (i = 0; i < p->set.columns; i++) {
        const struct cr_column_pipeline *c = p->op[i];

        text = cr_strf(arena, "%s%s: %s %s", text, c->name,
                       cr_type_name(c->in.type), cr_diag_format(arena, &c->in));
        for (k = 0; k < c->n; k++)
            text = cr_strf(arena, "%s%s%s", text,
                           c->fused && k > c->first ? "+" : " -> ",
                           c->op[k]->about.name);
        text = cr_strf(arena, "%s -> %s %s\n", text, cr_type_name(c->out.type),
                       cr_diag_format(arena, &c->out));
    }
    return text;
}
