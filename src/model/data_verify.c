#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "console/work_progress.h"
#include "data/scan.h"
#include "model/data_stats.h"

enum { VERIFY_DEPTH = 16 }; /* of losses in blocks */

struct verify {
    struct cr_cli *cli;
    struct cr_data_loader *loader;
    const char *split;
    int columns;
    int label;       /* column of one integer class per sample; -1: none */
    struct cr_ints ignored; /* labels that the loss ignores */
    int64_t classes; /* of the training data; 0: not known yet */
    int64_t highest; /* label of this split */
    int64_t samples, bad;
    struct cr_buf json;
    struct cr_work_progress work;
};

const char *const *cr_data_splits(struct cr_cli *cli, struct cr_config *config,
                                  const char *split)
{
    static const char *const all[] = { "train", "eval", "test" };
    const char **to = CR_NEWS(cli->arena, const char *, CR_LEN(all) + 1);
    int n = 0;

    for (size_t i = 0; i < CR_LEN(all); i++)
        if (split ? strcmp(split, all[i]) == 0
                  : cr_data_loader_has(config, all[i]))
            to[n++] = all[i];
    if (n > 0)
        return to;
    cr_error(cli->diag, config->root->pos, CR_E_MISSING_SECTION,
             "found no dataset.train, dataset.eval or dataset.test");
    return NULL;
}

/* ---- Labels that the loss ignores */

/* The value of `ignore_index` of a typed node; CR_INT_NONE: it has none. */
static int64_t verify_ignore_index(const char *type,
                                   const struct cr_node *args)
{
    const struct cr_descriptor *about = cr_registry_find(CR_KIND_LOSS, type);
    const struct cr_node *given = cr_node_get(args, "ignore_index");
    const struct cr_opt *row = about ? about->opts : NULL;

    while (row && row->name && strcmp(row->name, "ignore_index") != 0)
        row++;
    if (!row || !row->name)
        return CR_INT_NONE;
    if (given)
        return given->kind == CR_NODE_INT ? given->integer : CR_INT_NONE;
    return row->int_default;
}

/* Collects those of the losses at or below a node, and of a block that it
 * names. */
static void verify_collect(struct cr_arena *arena,
                           const struct cr_node *blocks,
                           const struct cr_node *node, int depth,
                           struct cr_ints *to)
{
    const struct cr_node *args = NULL;
    const char *type = cr_node_type(node, &args);
    int64_t label = type ? verify_ignore_index(type, args) : CR_INT_NONE;
    int64_t *v;

    if (label != CR_INT_NONE) {
        v = CR_NEWS(arena, int64_t, to->n + 1);
        if (to->n > 0)
            memcpy(v, to->v, (size_t)to->n * sizeof *v);
        v[to->n] = label;
        *to = (struct cr_ints){ to->n + 1, v };
    }
    if (depth == 0)
        return;
    if (type && cr_node_get(blocks, type))
        verify_collect(arena, blocks, cr_node_get(blocks, type), depth - 1, to);
    for (CR_EACH(m, node))
        verify_collect(arena, blocks, m, depth - 1, to);
}

static bool verify_is_ignored(const struct verify *v, int64_t label)
{
    for (int i = 0; i < v->ignored.n; i++)
        if (v->ignored.v[i] == label)
            return true;
    return false;
}

/* ---- Samples */

/* What is looked up in a sample. */
struct verify_sample {
    int64_t label;
    int bad;      /* 1 + the first column with a value that is not finite; 0:
                     none */
    int64_t at;   /* the index of that value */
    double value;
};

/* Finds the first value of a column of real numbers that is neither finite nor
 * missing. */
static bool verify_finite(const struct verify *v,
                          const struct cr_scan_sample *sample, int k,
                          struct verify_sample *to)
{
    const struct cr_spec *spec = &sample->spec[k];
    const char *x = sample->x[k];
    bool misses = cr_data_loader_misses(v->loader, k);
    int64_t n = cr_count(spec), i;

    if (!x || !cr_type_is_float(spec->type))
        return true;
    for (i = 0; i < n; i++, x += cr_type_size(spec->type)) {
        cr_convert(spec->type, x, CR_F64, &to->value, 1);
        if (isfinite(to->value) || (misses && isnan(to->value)))
            continue;
        to->bad = k + 1;
        to->at = i;
        return false;
    }
    return true;
}

static void verify_read(void *ctx, const struct cr_scan_sample *sample,
                        void *result)
{
    const struct verify *v = ctx;
    struct verify_sample *to = result;
    double value = 0;
    int k = 0;

    if (v->label >= 0 && sample->x[v->label])
        cr_convert(sample->spec[v->label].type, sample->x[v->label], CR_F64,
                   &value, 1);
    to->label = (int64_t)value;
    while (k < v->columns && verify_finite(v, sample, k, to))
        k++;
}

/* Lists a sample; `at` is the file that cannot be read, or CR_NOWHERE. */
static void verify_list(struct verify *v, int64_t index, struct cr_pos at,
                        const char *why)
{
    struct cr_arena mem = { 0 };
    struct cr_pos pos = cr_data_loader_where(v->loader, &mem, index);

    if (pos.src && at.src && strcmp(pos.src->name, at.src->name) != 0)
        why = cr_strf(&mem, "%s: %s", at.src->name, why);
    if (v->cli->json) {
        cr_buf_f(&v->json, "%s{\"sample\": %" PRId64 ", \"place\": ",
                 v->bad > 0 ? ", " : "", index);
        if (pos.src)
            cr_buf_json(&v->json, cr_pos_text(&mem, pos));
        else
            cr_buf_str(&v->json, "null");
        cr_buf_str(&v->json, ", \"message\": ");
        cr_buf_json(&v->json, why);
        cr_buf_char(&v->json, '}');
    } else {
        cr_work_clear(&v->work);
        printf("dataset.%s: sample %" PRId64 ": %s%s%s\n", v->split, index,
               pos.src ? cr_escape(&mem, cr_pos_text(&mem, pos)) : "",
               pos.src ? ": " : "", cr_escape(&mem, why));
    }
    v->bad++;
    cr_arena_free(&mem);
}

/* What is wrong with a sample that could be read; NULL: nothing. */
static const char *verify_why(const struct verify *v, struct cr_arena *mem,
                              const struct verify_sample *s)
{
    const struct cr_column *columns;
    int n;

    if (s->bad > 0) {
        columns = cr_data_loader_columns(v->loader, &n);
        return cr_strf(mem, "value %" PRId64 " of column '%s' is %s", s->at,
                       columns[s->bad - 1].name,
                       isnan(s->value)  ? "NaN"
                       : s->value > 0 ? "infinite"
                                      : "-infinite");
    }
    if (v->label < 0 || verify_is_ignored(v, s->label) ||
        (s->label >= 0 && (v->classes == 0 || s->label < v->classes)))
        return NULL;
    return v->classes > 0
               ? cr_strf(mem,
                         "label %" PRId64
                         ", but the training data have classes 0 to %" PRId64,
                         s->label, v->classes - 1)
               : cr_strf(mem, "label %" PRId64 " is negative", s->label);
}

static void verify_take(void *ctx, int64_t index, const void *result,
                        const struct cr_diag *errors)
{
    struct verify *v = ctx;
    const struct verify_sample *sample = result;
    struct cr_arena mem = { 0 };
    const char *why = errors->first ? errors->first->text : NULL;

    v->samples++;
    cr_work_step(&v->work, v->samples, v->samples);
    if (!why) {
        if (sample->label > v->highest && !verify_is_ignored(v, sample->label))
            v->highest = sample->label;
        why = verify_why(v, &mem, sample);
    }
    if (why)
        verify_list(v, index, errors->first ? errors->first->pos : CR_NOWHERE,
                    why);
    cr_arena_free(&mem);
}

/* The column `label`, if it holds one integer per sample. */
static int verify_label(const struct cr_dataset *set)
{
    for (int k = 0; k < set->columns; k++)
        if (strcmp(set->column[k].name, "label") == 0)
            return set->column[k].spec.rank == 0 &&
                           set->column[k].spec.type != CR_STRING &&
                           set->column[k].spec.type != CR_REAL &&
                           set->column[k].spec.type != CR_F64
                       ? k
                       : -1;
    return -1;
}

static bool verify_split(struct verify *v, struct cr_config *config)
{
    struct cr_data_loader_opts want = { .split = v->split, .headers = true };
    struct cr_scan scan = { .bytes = sizeof(struct verify_sample),
                            .read = verify_read,
                            .take = verify_take,
                            .ctx = v };
    const struct cr_dataset *set;
    bool ok, train = strcmp(v->split, "train") == 0;

    want.train = train;
    v->loader = cr_data_loader_open(config, &want);
    if (!v->loader)
        return false;
    set = cr_data_loader_dataset(v->loader);
    v->columns = set->columns;
    v->label = verify_label(set);
    v->highest = -1;
    if (v->classes == 0)
        v->classes = set->classes;
    cr_work_begin(&v->work, v->cli, v->split,
                  cr_data_loader_samples(v->loader));
    ok = cr_data_loader_scan(v->loader, v->cli->diag, &scan);
    cr_work_clear(&v->work);
    if (train && v->classes == 0 && v->label >= 0)
        v->classes = v->highest + 1;
    cr_data_loader_close(v->loader);
    return ok;
}

bool cr_data_verify(struct cr_cli *cli, struct cr_config *config,
                    const char *split)
{
    const char *const *splits = cr_data_splits(cli, config, split);
    struct verify v = { .cli = cli };
    struct cr_buf all = { .arena = cli->arena };
    int64_t bad = 0, samples = 0;
    bool ok = splits != NULL;

    verify_collect(cli->arena, cr_node_get(config->root, "blocks"),
                   cr_node_get(config->root, "loss"), VERIFY_DEPTH,
                   &v.ignored);
    for (int i = 0; splits && splits[i]; i++) {
        v.json = (struct cr_buf){ .arena = cli->arena };
        v.split = splits[i];
        v.samples = v.bad = 0;
        ok = verify_split(&v, config) && ok;
        if (!cli->json && !cli->quiet && v.samples > 0 && v.bad == 0)
            printf("dataset.%s: ok, %" PRId64 " samples\n", v.split,
                   v.samples);
        cr_buf_f(&all, "%s{\"split\": \"%s\", \"samples\": %" PRId64
                 ", \"bad\": [%s]}",
                 i > 0 ? ", " : "", v.split, v.samples, cr_buf_text(&v.json));
        bad += v.bad;
        samples += v.samples;
    }
    if (cli->json && ok)
        printf("[%s]\n", cr_buf_text(&all));
    if (bad > 0)
        return cr_error(cli->diag, CR_NOWHERE, CR_E_DATA_FORMAT,
                        "%" PRId64 " of %" PRId64
                        " samples cannot be read, or have a value that is not "
                        "finite or a label out of range",
                        bad, samples);
    return ok;
}
