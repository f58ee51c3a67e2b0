#include "model/data_stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/str.h"
#include "base/table.h"
#include "console/work_progress.h"
#include "data/features.h"
#include "data/scan.h"

#define STATS_ELEMENTS 64   /* longer arrays have one row */
#define STATS_CLASSES 10000 /* labels that are counted */
#define STATS_BINS 16
#define STATS_HASH 32 /* hexadecimal digits that are compared */
#define STATS_LISTED 5

/* Count, mean and squared deviations of numbers; those of two sets are merged
 * as by Chan, Golub and LeVeque 1979. */
struct moments {
    int64_t n, missing; /* missing: NaN */
    double mean, m2, low, high;
    int64_t bin[STATS_BINS];
};

/* A row of the table: an element of a column, or all its elements. */
struct slot {
    const char *name;
    int column;
    int64_t element; /* -1: all */
    bool category;   /* the numbers are codes of words */
};

/* What a sample adds. `of` has an element per slot. */
struct sample_stats {
    char hash[STATS_HASH + 1];
    int64_t label, h[CR_COLUMNS_MAX], w[CR_COLUMNS_MAX];
    struct moments of[];
};

struct seen {
    char hash[STATS_HASH + 1];
    int split;
    int64_t index, label;
};

struct split_stats {
    const char *name;
    int64_t samples, unreadable, classes;
    int label; /* column; -1: none */
    int n_slots;
    struct slot *slot;
    struct moments *all;
    struct moments **of_class; /* by class, allocated when one occurs */
    int64_t *count;            /* samples of each class */
    const char *const *names;  /* of the classes; NULL: none */
    bool image[CR_COLUMNS_MAX], ragged[CR_COLUMNS_MAX];
    struct cr_column column[CR_COLUMNS_MAX];
    int n_columns;
    int64_t h[CR_COLUMNS_MAX][2], w[CR_COLUMNS_MAX][2]; /* least, largest */
    int64_t duplicates; /* samples equal to an earlier one of the split */
};

struct stats {
    struct cr_cli *cli;
    struct cr_arena *arena;
    struct split_stats *now;
    bool histograms;
    bool bins; /* the second pass, for histograms */
    int split;
    struct seen *seen;
    size_t n_seen, cap_seen;
    struct cr_work_progress work;
    int64_t taken; /* samples of the split, of both passes */
};

/* ---- Numbers of a sample */

static void moments_add(struct moments *m, double v)
{
    double d;

    if (isnan(v)) {
        m->missing++;
        return;
    }
    if (m->n == 0 || v < m->low)
        m->low = v;
    if (m->n == 0 || v > m->high)
        m->high = v;
    d = v - m->mean;
    m->mean += d / (double)++m->n;
    m->m2 += d * (v - m->mean);
}

static void moments_merge(struct moments *to, const struct moments *m)
{
    double n = (double)(to->n + m->n), d = m->mean - to->mean;

    to->missing += m->missing;
    if (m->n == 0)
        return;
    to->low = to->n == 0 || m->low < to->low ? m->low : to->low;
    to->high = to->n == 0 || m->high > to->high ? m->high : to->high;
    to->m2 += m->m2 + d * d * (double)to->n * (double)m->n / n;
    to->mean += d * (double)m->n / n;
    to->n += m->n;
}

/* Sample standard deviation, over n - 1; NaN for fewer than two numbers. */
static double moments_std(const struct moments *m)
{
    return m->n > 1 ? sqrt(m->m2 / (double)(m->n - 1)) : (double)NAN;
}

static double stats_at(const struct cr_spec *spec, const void *x, int64_t i)
{
    size_t at = (size_t)i * cr_type_size(spec->type);
    double v;

    cr_convert(spec->type, (const char *)x + at, CR_F64, &v, 1);
    return v;
}

static void stats_bin(struct moments *to, const struct moments *all, double v)
{
    double width = all->high - all->low;
    int64_t k = width > 0 ? (int64_t)((v - all->low) / width * STATS_BINS) : 0;

    if (!isnan(v) && isfinite(width))
        to->bin[k < STATS_BINS ? k : STATS_BINS - 1]++;
}

static void stats_slot(const struct stats *s, int i, const struct cr_spec *spec,
                       const void *x, struct moments *to)
{
    const struct slot *slot = &s->now->slot[i];
    int64_t n, from = slot->element < 0 ? 0 : slot->element;

    if (spec->type == CR_STRING) {
        double bytes = (double)((const struct cr_ragged *)x)->n;

        if (s->bins)
            stats_bin(to, &s->now->all[i], bytes);
        else
            moments_add(to, bytes);
        return;
    }
    n = slot->element < 0 ? cr_count(spec) : from + 1;
    for (int64_t k = from; k < n; k++)
        if (s->bins)
            stats_bin(to, &s->now->all[i], stats_at(spec, x, k));
        else
            moments_add(to, stats_at(spec, x, k));
}

static void stats_hash(const struct stats *s,
                       const struct cr_scan_sample *sample, char *to)
{
    struct cr_sha256 hash;
    char hex[CR_SHA256_DIGITS + 1];

    cr_sha256_start(&hash);
    for (int k = 0; k < s->now->n_columns; k++) {
        const struct cr_spec *spec = &sample->spec[k];
        const struct cr_ragged *text = sample->x[k];

        if (k == s->now->label || !sample->x[k])
            continue;
        for (int d = 0; d < spec->rank; d++)
            cr_sha256_add(&hash, &spec->dim[d], sizeof spec->dim[d]);
        if (spec->type == CR_STRING) {
            cr_sha256_add(&hash, &text->n, sizeof text->n);
            cr_sha256_add(&hash, text->v, (size_t)text->n);
        } else {
            cr_sha256_add(&hash, sample->x[k], cr_bytes(spec));
        }
    }
    cr_sha256_end(&hash, hex);
    memcpy(to, hex, STATS_HASH);
}

static void stats_read(void *ctx, const struct cr_scan_sample *sample,
                       void *result)
{
    const struct stats *s = ctx;
    struct sample_stats *to = result;

    to->label = -1;
    for (int i = 0; i < s->now->n_slots; i++) {
        int k = s->now->slot[i].column;

        if (sample->x[k])
            stats_slot(s, i, &sample->spec[k], sample->x[k], &to->of[i]);
    }
    if (s->bins)
        return;
    for (int k = 0; k < s->now->n_columns; k++) {
        if (s->now->image[k] && sample->x[k]) {
            to->h[k] = sample->spec[k].dim[0];
            to->w[k] = sample->spec[k].dim[1];
        }
    }
    if (s->now->label >= 0 && sample->x[s->now->label])
        to->label = (int64_t)stats_at(&sample->spec[s->now->label],
                                      sample->x[s->now->label], 0);
    stats_hash(s, sample, to->hash);
}

/* ---- Collecting */

static void stats_class(struct stats *s, const struct sample_stats *x)
{
    struct split_stats *p = s->now;

    if (x->label < 0 || x->label >= STATS_CLASSES)
        return;
    if (!p->of_class[x->label])
        p->of_class[x->label] =
            CR_NEWS(s->arena, struct moments, p->n_slots + 1);
    for (int i = 0; i < p->n_slots; i++)
        moments_merge(&p->of_class[x->label][i], &x->of[i]);
    p->count[x->label]++;
    if (x->label >= p->classes)
        p->classes = x->label + 1;
}

static void stats_take(void *ctx, int64_t index, const void *result,
                       const struct cr_diag *errors)
{
    struct stats *s = ctx;
    struct split_stats *p = s->now;
    const struct sample_stats *x = result;
    struct seen *seen;

    s->taken++;
    cr_work_step(&s->work, s->taken / (s->histograms ? 2 : 1), s->taken);
    if (s->bins) {
        for (int i = 0; i < p->n_slots; i++)
            for (int b = 0; b < STATS_BINS; b++)
                p->all[i].bin[b] += x->of[i].bin[b];
        return;
    }
    p->samples++;
    p->unreadable += errors->first != NULL;
    for (int i = 0; i < p->n_slots; i++)
        moments_merge(&p->all[i], &x->of[i]);
    stats_class(s, x);
    for (int k = 0; k < p->n_columns; k++) {
        if (x->h[k] == 0)
            continue;
        p->h[k][0] = p->h[k][0] && p->h[k][0] < x->h[k] ? p->h[k][0] : x->h[k];
        p->w[k][0] = p->w[k][0] && p->w[k][0] < x->w[k] ? p->w[k][0] : x->w[k];
        p->h[k][1] = p->h[k][1] > x->h[k] ? p->h[k][1] : x->h[k];
        p->w[k][1] = p->w[k][1] > x->w[k] ? p->w[k][1] : x->w[k];
    }
    if (errors->first)
        return;
    if (s->n_seen == s->cap_seen) {
        s->seen = cr_grow(s->arena, s->seen, s->n_seen, 2 * s->cap_seen + 1024,
                          sizeof *s->seen);
        s->cap_seen = 2 * s->cap_seen + 1024;
    }
    seen = &s->seen[s->n_seen++];
    *seen = (struct seen){ .split = s->split, .index = index,
                           .label = x->label };
    memcpy(seen->hash, x->hash, sizeof seen->hash);
}

/* ---- The columns of a split */

static void stats_columns(struct stats *s, struct cr_config *config,
                          const struct cr_dataset *set)
{
    struct split_stats *p = s->now;

    p->slot = CR_NEWS(s->arena, struct slot,
                      CR_COLUMNS_MAX * STATS_ELEMENTS);
    p->label = -1;
    p->n_columns = set->columns;
    p->names = set->class_names;
    for (int k = 0; k < set->columns; k++) {
        const struct cr_spec *spec = &set->column[k].spec;
        const struct cr_features *f =
            cr_features_find(config, set->column[k].name);
        bool text = spec->type == CR_STRING;
        bool rows = !text && spec->rank == 1 &&
                    spec->dim[0] <= STATS_ELEMENTS &&
                    !(set->varying_shapes & 1u << k);
        const char *name = cr_strdup(s->arena, set->column[k].name);

        p->column[k] = (struct cr_column){ name, *spec };
        p->ragged[k] = set->varying_shapes & 1u << k;
        p->image[k] = spec->type == CR_U8 && spec->rank >= 2;
        if (strcmp(name, "label") == 0 && !text && spec->rank == 0 &&
            spec->type != CR_REAL && spec->type != CR_F64) {
            p->label = k;
            continue;
        }
        for (int64_t i = 0; i < (rows ? spec->dim[0] : 1); i++) {
            bool named = rows && f && f->n == spec->dim[0];

            p->slot[p->n_slots++] = (struct slot){
                .name = named ? cr_strdup(s->arena, f->v[i].name)
                        : rows ? cr_strf(s->arena, "%s[%" PRId64 "]", name, i)
                        : text ? cr_strf(s->arena, "%s (bytes)", name)
                               : name,
                .column = k,
                .element = rows ? i : -1,
                .category = named && f->v[i].kind == CR_FEATURE_CATEGORY,
            };
        }
    }
    p->all = CR_NEWS(s->arena, struct moments, p->n_slots + 1);
    p->count = CR_NEWS(s->arena, int64_t, STATS_CLASSES);
    p->of_class = CR_NEWS(s->arena, struct moments *, STATS_CLASSES);
}

static bool stats_split(struct stats *s, struct cr_config *config)
{
    struct cr_data_loader_opts want = { .split = s->now->name,
                                        .headers = true };
    struct cr_data_loader *loader;
    struct cr_scan scan = { .read = stats_read, .take = stats_take, .ctx = s };
    bool ok;

    want.train = strcmp(s->now->name, "train") == 0;
    loader = cr_data_loader_open(config, &want);
    if (!loader)
        return false;
    stats_columns(s, config, cr_data_loader_dataset(loader));
    if (s->now->names) {
        int64_t n = cr_data_loader_dataset(loader)->classes;
        const char **names = CR_NEWS(s->arena, const char *, n + 1);

        for (int64_t i = 0; i < n; i++)
            names[i] = cr_strdup(s->arena, s->now->names[i]);
        s->now->names = names;
        s->now->classes = n < STATS_CLASSES ? n : STATS_CLASSES;
    }
    scan.bytes = sizeof(struct sample_stats) +
                 (size_t)s->now->n_slots * sizeof(struct moments);
    s->bins = false;
    s->taken = 0;
    cr_work_begin(&s->work, s->cli, s->now->name,
                  cr_data_loader_samples(loader));
    ok = cr_data_loader_scan(loader, s->cli->diag, &scan);
    s->bins = true;
    ok = ok && (!s->histograms ||
                cr_data_loader_scan(loader, s->cli->diag, &scan));
    cr_work_clear(&s->work);
    cr_data_loader_close(loader);
    return ok;
}

/* ---- Duplicates */

static int seen_order(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    int c = memcmp(x->hash, y->hash, STATS_HASH);

    if (c != 0)
        return c;
    if (x->split != y->split)
        return x->split - y->split;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Samples of a later split that an earlier one also has, and groups of equal
 * samples with different labels. */
struct duplicates {
    int64_t between, contradictory;
    const struct seen *example[STATS_LISTED][2];
    int n_examples;
};

static void stats_duplicates(struct stats *s, struct split_stats *split,
                             struct duplicates *to)
{
    if (s->n_seen > 0)
        qsort(s->seen, s->n_seen, sizeof *s->seen, seen_order);
    for (size_t i = 0, k; i < s->n_seen; i = k) {
        bool differ = false;

        for (k = i + 1; k < s->n_seen &&
                        memcmp(s->seen[k].hash, s->seen[i].hash,
                               STATS_HASH) == 0;
             k++) {
            const struct seen *x = &s->seen[k];

            if (x->split == x[-1].split)
                split[x->split].duplicates++;
            if (x->split != s->seen[i].split)
                to->between++;
            differ = differ || x->label != s->seen[i].label;
            if (to->n_examples < STATS_LISTED) {
                to->example[to->n_examples][0] = &s->seen[i];
                to->example[to->n_examples++][1] = x;
            }
        }
        to->contradictory += differ;
    }
}

/* ---- Output */

static const char *stats_class_name(const struct stats *s,
                                    const struct split_stats *p, int64_t c)
{
    return p->names ? p->names[c] : cr_strf(s->arena, "%" PRId64, c);
}

/* One character per bin, of a height in proportion to the largest. */
static const char *stats_bars(struct stats *s, const struct moments *m)
{
    static const char *const bar[] = { " ", "▁", "▂", "▃", "▄",
                                       "▅", "▆", "▇", "█" };
    struct cr_buf b = { .arena = s->arena };
    int64_t most = 0;

    for (int i = 0; i < STATS_BINS; i++)
        most = m->bin[i] > most ? m->bin[i] : most;
    for (int i = 0; i < STATS_BINS && most > 0; i++)
        cr_buf_str(&b, bar[(m->bin[i] * 8 + most - 1) / most]);
    return cr_buf_text(&b);
}

static void stats_number(struct cr_table *t, bool known, double v, bool tsv)
{
    if (known && !isnan(v))
        cr_table_f(t, tsv ? "%.17g" : "%.6g", v);
    else
        cr_table_add(t, tsv ? "" : "-");
}

static void stats_row(struct stats *s, struct cr_table *t,
                      const struct split_stats *p, int i, int64_t class,
                      bool tsv)
{
    const struct moments *m = class < 0 ? &p->all[i] : &p->of_class[class][i];
    bool numbers = m->n > 0 && !p->slot[i].category;

    if (tsv)
        cr_table_add(t, p->name);
    cr_table_add(t, p->slot[i].name);
    cr_table_add(t, class < 0 ? "" : stats_class_name(s, p, class));
    cr_table_f(t, "%" PRId64, m->n);
    cr_table_f(t, "%" PRId64, m->missing);
    stats_number(t, numbers, m->low, tsv);
    stats_number(t, numbers, m->high, tsv);
    stats_number(t, numbers, m->mean, tsv);
    stats_number(t, numbers, moments_std(m), tsv);
    if (!tsv)
        cr_table_add(t, class >= 0           ? ""
                        : p->slot[i].category ? "(category)"
                                              : stats_bars(s, m));
}

static void stats_rows(struct stats *s, struct cr_table *t,
                       const struct split_stats *p, bool per_class, bool tsv)
{
    for (int i = 0; i < p->n_slots; i++) {
        stats_row(s, t, p, i, -1, tsv);
        for (int64_t c = 0; per_class && c < p->classes; c++)
            if (p->of_class[c])
                stats_row(s, t, p, i, c, tsv);
    }
}

static void stats_head(struct cr_table *t, bool tsv)
{
    static const char *const names[] = { "column", "class", "count", "missing",
                                         "min",    "max",   "mean",  "std" };

    if (tsv)
        cr_table_add(t, "split");
    for (size_t i = 0; i < CR_LEN(names); i++)
        cr_table_add(t, names[i]);
    if (!tsv)
        cr_table_add(t, "histogram");
}

static void stats_classes_text(struct stats *s, const struct split_stats *p)
{
    struct cr_table t = { .arena = s->arena, .align = "lrrl" };
    int64_t most = 1;

    cr_table_add(&t, "class");
    cr_table_add(&t, "samples");
    cr_table_add(&t, "fraction");
    cr_table_add(&t, "");
    for (int64_t c = 0; c < p->classes; c++)
        most = p->count[c] > most ? p->count[c] : most;
    for (int64_t c = 0; c < p->classes; c++) {
        struct cr_buf bar = { .arena = s->arena };

        for (int64_t i = 0; i < (p->count[c] * 30 + most - 1) / most; i++)
            cr_buf_str(&bar, "█");
        cr_table_add(&t, stats_class_name(s, p, c));
        cr_table_f(&t, "%" PRId64, p->count[c]);
        cr_table_f(&t, "%.4f", (double)p->count[c] / (double)p->samples);
        cr_table_add(&t, cr_buf_text(&bar));
    }
    cr_table_show(&t, false);
}

static void stats_text(struct stats *s, const struct split_stats *p,
                       bool per_class)
{
    struct cr_table t = { .arena = s->arena, .align = "llrrrrrrl" };

    printf("dataset.%s: %" PRId64 " samples", p->name, p->samples);
    if (p->unreadable > 0)
        printf(", %" PRId64 " cannot be read (see cellrun data verify)",
               p->unreadable);
    putchar('\n');
    for (int k = 0; k < p->n_columns; k++) {
        if (!p->image[k] || p->h[k][1] == 0)
            continue;
        printf("%s: images of %" PRId64 " x %" PRId64,
               cr_escape(s->arena, p->column[k].name), p->w[k][0], p->h[k][0]);
        if (p->w[k][0] != p->w[k][1] || p->h[k][0] != p->h[k][1])
            printf(" to %" PRId64 " x %" PRId64, p->w[k][1], p->h[k][1]);
        puts(" pixels");
    }
    if (p->n_slots > 0) {
        stats_head(&t, false);
        stats_rows(s, &t, p, per_class, false);
        cr_table_show(&t, false);
    }
    if (p->label >= 0 && p->samples > 0)
        stats_classes_text(s, p);
    putchar('\n');
}

static void stats_duplicates_text(const struct split_stats *p, int n,
                                  const struct duplicates *d)
{
    for (int i = 0; i < n; i++)
        printf("duplicates in %s: %" PRId64 "\n", p[i].name, p[i].duplicates);
    if (n > 1)
        printf("duplicates between splits: %" PRId64 "\n", d->between);
    if (d->contradictory > 0)
        printf("equal inputs with different labels: %" PRId64 "\n",
               d->contradictory);
    for (int i = 0; i < d->n_examples; i++) {
        const struct seen *a = d->example[i][0], *b = d->example[i][1];

        printf("  %s %" PRId64 " = %s %" PRId64 "\n", p[a->split].name,
               a->index, p[b->split].name, b->index);
    }
}

static void stats_json_real(struct cr_buf *b, const char *name, double v)
{
    cr_buf_f(b, ", \"%s\": ", name);
    cr_buf_real(b, v);
}

static void stats_json_row(struct stats *s, struct cr_buf *b,
                           const struct split_stats *p, int i, int64_t class)
{
    const struct moments *m = class < 0 ? &p->all[i] : &p->of_class[class][i];
    bool numbers = m->n > 0 && !p->slot[i].category;

    cr_buf_str(b, "{\"column\": ");
    cr_buf_json(b, p->slot[i].name);
    if (class >= 0) {
        cr_buf_str(b, ", \"class\": ");
        cr_buf_json(b, stats_class_name(s, p, class));
    }
    cr_buf_f(b, ", \"count\": %" PRId64 ", \"missing\": %" PRId64, m->n,
             m->missing);
    stats_json_real(b, "min", numbers ? m->low : (double)NAN);
    stats_json_real(b, "max", numbers ? m->high : (double)NAN);
    stats_json_real(b, "mean", numbers ? m->mean : (double)NAN);
    stats_json_real(b, "std", numbers ? moments_std(m) : (double)NAN);
    cr_buf_char(b, '}');
}

static void stats_json(struct stats *s, struct cr_buf *b,
                       const struct split_stats *p, bool per_class)
{
    const char *comma = "";

    cr_buf_f(b, "{\"split\": \"%s\", \"samples\": %" PRId64
             ", \"unreadable\": %" PRId64 ", \"duplicates\": %" PRId64
             ", \"columns\": [",
             p->name, p->samples, p->unreadable, p->duplicates);
    for (int i = 0; i < p->n_slots; i++)
        for (int64_t c = -1; c < (per_class ? p->classes : 0); c++) {
            if (c >= 0 && !p->of_class[c])
                continue;
            cr_buf_str(b, comma);
            stats_json_row(s, b, p, i, c);
            comma = ", ";
        }
    cr_buf_str(b, "], \"classes\": [");
    for (int64_t c = 0; c < p->classes; c++) {
        cr_buf_str(b, c > 0 ? ", {\"class\": " : "{\"class\": ");
        cr_buf_json(b, stats_class_name(s, p, c));
        cr_buf_f(b, ", \"samples\": %" PRId64 "}", p->count[c]);
    }
    comma = "";
    cr_buf_str(b, "], \"images\": [");
    for (int k = 0; k < p->n_columns; k++) {
        if (!p->image[k] || p->h[k][1] == 0)
            continue;
        cr_buf_f(b, "%s{\"column\": ", comma);
        cr_buf_json(b, p->column[k].name);
        cr_buf_f(b, ", \"min\": [%" PRId64 ", %" PRId64 "], \"max\": [%" PRId64
                 ", %" PRId64 "]}",
                 p->w[k][0], p->h[k][0], p->w[k][1], p->h[k][1]);
        comma = ", ";
    }
    cr_buf_str(b, "]}");
}

bool cr_data_stats(struct cr_cli *cli, struct cr_config *config,
                   const char *split, bool per_class, bool tsv)
{
    struct stats s = { .cli = cli,
                       .arena = cli->arena,
                       .histograms = !cli->json && !tsv };
    const char *const *splits = cr_data_splits(cli, config, split);
    struct split_stats all[3] = { 0 };
    struct duplicates d = { 0 };
    struct cr_table rows = { .arena = cli->arena, .align = "lllrrrrrr" };
    struct cr_buf json = { .arena = cli->arena };
    int n = 0;

    for (; splits && splits[n]; n++) {
        all[n].name = splits[n];
        s.now = &all[n];
        s.split = n;
        if (!stats_split(&s, config))
            return false;
    }
    if (!splits)
        return false;
    stats_duplicates(&s, all, &d);
    if (tsv)
        stats_head(&rows, true);
    for (int i = 0; i < n; i++) {
        if (cli->json) {
            cr_buf_str(&json, i > 0 ? ", " : "");
            stats_json(&s, &json, &all[i], per_class);
        } else if (tsv) {
            stats_rows(&s, &rows, &all[i], per_class, true);
        } else {
            stats_text(&s, &all[i], per_class);
        }
    }
    if (cli->json)
        printf("{\"splits\": [%s], \"duplicates_between_splits\": %" PRId64
               ", \"contradictory\": %" PRId64 "}\n",
               cr_buf_text(&json), d.between, d.contradictory);
    else if (tsv)
        cr_table_print(&rows, stdout, true);
    else
        stats_duplicates_text(all, n, &d);
    return true;
}
