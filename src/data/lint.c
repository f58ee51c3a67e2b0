/*
 * Warnings about data that are likely to mislead training: features of very
 * different scale, a label among the inputs, samples that are in both training
 * and evaluation data. Only data in memory or mapped are checked, and of these
 * only some samples at equal distances, so that the time is bounded.
 */
#include "data/lint.h"

#include "base/str.h"
#include "data/data_loader_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MAX 1000      /* maximum number of samples read */
#define FEATURES_MAX 4096
#define SCALE_RATIO 1000.0    /* ratio of standard deviations, and of ranges */
#define LABEL_SAMPLES_MIN 20  /* samples needed to call a feature the label */
#define KNOWN_MAX 20000 /* training samples that are compared with others */
#define KNOWN_BYTES (16 << 20)
#define SHARED_MIN 5          /* minimum number of samples in both data sets */
#define SHARED_PART 0.1       /* minimum fraction of the evaluation data */
#define REPEATED_PART 0.05    /* of the training samples: then equal rows are
                                 natural for the data */

/* Memory to read samples of a data loader. */
struct sample_reader {
    struct cr_data_loader *loader;
    struct cr_arena mem; /* of one sample */
    char *scratch;
};

static void sample_reader_open(struct sample_reader *l,
                               struct cr_data_loader *loader)
{
    *l = (struct sample_reader){ .loader = loader };
    l->scratch = malloc(loader->scratch_bytes + 64);
    if (!l->scratch)
        cr_out_of_memory(loader->scratch_bytes);
}

static void sample_reader_close(struct sample_reader *l)
{
    cr_arena_free(&l->mem);
    free(l->scratch);
}

/* Sample k of n at equal distances among the samples of the data loader. */
static int64_t sample_reader_index(const struct sample_reader *l, int64_t k,
                                   int64_t n)
{
    const struct cr_sampler *o = &l->loader->sampler;
    int64_t i = (int64_t)((double)k * (double)o->n / (double)n);

    return o->pool ? o->pool[i] : i;
}

/* The stored sample; NULL if it cannot be read, which training reports. */
static const void *sample_reader_get(struct sample_reader *l, int64_t sample,
                                     int column)
{
    struct cr_diag quiet = { .arena = &l->mem };
    struct cr_data_loader *p = l->loader;
    struct cr_spec spec;

    return cr_reader_get(p->reader, &quiet, &l->mem, sample, column,
                         l->scratch + p->op[column]->scratch_bytes, &spec);
}

/* Whether reading a sample costs little more than a copy. */
static bool is_cheap(const struct cr_data_loader *p)
{
    return (p->set.type->at || p->set.type->copy_only) &&
           p->set.varying_shapes == 0;
}

static bool is_features(const struct cr_spec *spec)
{
    return spec->rank == 1 && spec->dim[0] >= 2 &&
           spec->dim[0] <= FEATURES_MAX && spec->type != CR_STRING;
}

static bool is_real(enum cr_type type)
{
    type = cr_type_stored(type);
    return type == CR_F32 || type == CR_F64;
}

static double value_at(const struct cr_spec *spec, const void *x, int64_t i)
{
    double v;

    cr_convert(spec->type,
               (const char *)x + (size_t)i * cr_type_size(spec->type), CR_F64,
               &v, 1);
    return v;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- Scale */

struct feature {
    double mean, square, size; /* size: the largest |x| */
};

static double deviation(const struct feature *f, int64_t n)
{
    return n > 0 ? sqrt(f->square / (double)n) : 0;
}

/* A feature that is mostly 0 has a small deviation, but its range may be like
 * the others: so both deviation and range must differ. */
static void warn_scale(struct cr_data_loader *p, struct cr_diag *diag,
                       int column, const struct feature *f, int64_t m,
                       int64_t n)
{
    int64_t low = -1, high = 0, i;

    for (i = 0; i < m; i++) {
        double s = deviation(&f[i], n);

        if (s > deviation(&f[high], n))
            high = i;
        if (s > 0 && (low < 0 || s < deviation(&f[low], n)))
            low = i;
    }
    if (low < 0 || !(deviation(&f[high], n) >
                     SCALE_RATIO * deviation(&f[low], n)) ||
        !(f[high].size > SCALE_RATIO * f[low].size))
        return;
    cr_warn(diag, p->pos, CR_E_DATA_MISLEADS,
            "column '%s': the standard deviation of feature %lld is %.3g, of "
            "feature %lld %.3g: the network will hardly use the smaller one",
            p->op[column]->name, (long long)high, deviation(&f[high], n),
            (long long)low, deviation(&f[low], n));
    cr_hint(diag, "datapipe: {%s: [Standardize]}", p->op[column]->name);
}

static void check_scale(struct cr_data_loader *p, struct cr_diag *diag,
                        int column)
{
    const struct cr_column_pipeline *c = p->op[column];
    int64_t m = c->out.dim[0], n = least(p->sampler.n, SAMPLES_MAX), k, i;
    struct feature *f = calloc((size_t)m, sizeof *f);
    char *y = malloc(cr_bytes(&c->out));
    int64_t seen = 0;
    struct sample_reader l;

    if (!f || !y)
        cr_out_of_memory((size_t)m * sizeof *f);
    sample_reader_open(&l, p);
    for (k = 0; k < n; k++) {
        int64_t sample = sample_reader_index(&l, k, n);
        const void *x = sample_reader_get(&l, sample, column);
        struct cr_diag quiet = { .arena = &l.mem };

        if (x &&
            cr_column_pipeline_run(c, &quiet, 0, sample, x, y, l.scratch)) {
            seen++;
            for (i = 0; i < m; i++) {
                double v = value_at(&c->out, y, i), d = v - f[i].mean;

                f[i].mean += d / (double)seen;
                f[i].square += d * (v - f[i].mean);
                f[i].size = fmax(f[i].size, fabs(v));
            }
        }
        cr_arena_free(&l.mem);
    }
    sample_reader_close(&l);
    warn_scale(p, diag, column, f, m, seen);
    free(f);
    free(y);
}

/* ---- A label among the inputs */

static void check_label(struct cr_data_loader *p, struct cr_diag *diag,
                        int column, int label)
{
    const struct cr_spec *spec = &p->set.column[column].spec;
    const struct cr_spec *of = &p->set.column[label].spec;
    int64_t m = spec->dim[0], n = least(p->sampler.n, SAMPLES_MAX), k, i;
    bool *differs = calloc((size_t)m, sizeof *differs), several = false;
    double first = 0;
    struct sample_reader l;

    if (!differs)
        cr_out_of_memory((size_t)m);
    sample_reader_open(&l, p);
    for (k = 0; k < n; k++) {
        int64_t sample = sample_reader_index(&l, k, n);
        const void *y = sample_reader_get(&l, sample, label), *x;
        double want = y ? value_at(of, y, 0) : NAN;

        x = y ? sample_reader_get(&l, sample, column) : NULL;
        for (i = 0; i < m; i++)
            differs[i] |= !x || value_at(spec, x, i) != want;
        several = several || (k > 0 && want != first);
        first = want;
        cr_arena_free(&l.mem);
    }
    sample_reader_close(&l);
    for (i = 0; i < m && n >= LABEL_SAMPLES_MIN && several; i++) {
        if (differs[i])
            continue;
        cr_warn(diag, p->pos, CR_E_DATA_MISLEADS,
                "feature %lld of column '%s' equals '%s' in all %lld samples "
                "compared: the network would learn to copy it",
                (long long)i, p->op[column]->name, p->op[label]->name,
                (long long)n);
        cr_hint(diag, "remove this feature from '%s'", p->op[column]->name);
        break;
    }
    free(differs);
}

/* ---- Samples that training and evaluation share */

static uint64_t hash_sample(struct sample_reader *l, int64_t sample)
{
    uint64_t hash = CR_HASH;
    int k;

    for (k = 0; k < l->loader->set.columns; k++) {
        const struct cr_spec *spec = &l->loader->set.column[k].spec;
        const void *x = sample_reader_get(l, sample, k);
        const struct cr_ragged *text = x;

        if (x && spec->type == CR_STRING)
            hash = cr_hash(hash, text->v, (size_t)text->n);
        else if (x)
            hash = cr_hash(hash, x, cr_bytes(spec));
    }
    cr_arena_free(&l->mem);
    return hash | 1; /* 0 marks a free slot */
}

struct known {
    uint64_t *place;
    size_t mask;
};

/* Whether the hash is in the set; if not, `add` inserts it. */
static bool known_has(struct known *s, uint64_t hash, bool add)
{
    size_t i = (size_t)(hash >> 7) & s->mask;

    while (s->place[i] && s->place[i] != hash)
        i = (i + 1) & s->mask;
    if (s->place[i])
        return true;
    if (add)
        s->place[i] = hash;
    return false;
}

static int64_t sample_bytes(const struct cr_data_loader *p)
{
    size_t n = 1;
    int k;

    for (k = 0; k < p->set.columns; k++)
        n += p->set.column[k].spec.type == CR_STRING
                 ? 64
                 : cr_bytes(&p->set.column[k].spec);
    return (int64_t)n;
}

static bool same_columns(const struct cr_dataset *a, const struct cr_dataset *b)
{
    int k;

    if (a->columns != b->columns)
        return false;
    for (k = 0; k < a->columns; k++)
        if (!cr_spec_same(&a->column[k].spec, &b->column[k].spec))
            return false;
    return true;
}

static void warn_shared(struct cr_data_loader *train,
                        struct cr_data_loader *eval, struct cr_diag *diag,
                        double part)
{
    cr_warn(diag, eval->pos, CR_E_DATA_MISLEADS,
            "%s%.0f%% of the samples of dataset.%s are in dataset.%s too: its "
            "metrics do not measure performance on new data",
            part < 1 ? "about " : "", 100 * part, eval->want.split,
            train->want.split);
    cr_hint(diag, "use other samples, or dataset.split.eval_from_train: 10%%");
}

static void check_rows(struct cr_data_loader *train,
                       struct cr_data_loader *eval, struct cr_diag *diag)
{
    int64_t most = least(KNOWN_MAX, KNOWN_BYTES / sample_bytes(train) + 1);
    int64_t n = least(train->sampler.n, most);
    int64_t m = least(eval->sampler.n, SAMPLES_MAX), k;
    int64_t repeated = 0, shared = 0;
    struct known known = { .mask = (1 << 16) - 1 };
    double part;
    struct sample_reader l;

    known.place = calloc(known.mask + 1, sizeof *known.place);
    if (!known.place)
        cr_out_of_memory((known.mask + 1) * sizeof *known.place);
    sample_reader_open(&l, train);
    for (k = 0; k < n; k++)
        repeated += known_has(
            &known, hash_sample(&l, sample_reader_index(&l, k, n)), true);
    sample_reader_close(&l);
    sample_reader_open(&l, eval);
    for (k = 0; k < m; k++)
        shared += known_has(
            &known, hash_sample(&l, sample_reader_index(&l, k, m)), false);
    sample_reader_close(&l);
    free(known.place);
    part = (double)shared / (double)m * (double)train->sampler.n / (double)n;
    if (shared >= SHARED_MIN && part >= SHARED_PART &&
        (double)repeated <= REPEATED_PART * (double)n)
        warn_shared(train, eval, diag, fmin(part, 1));
}

static bool check_shared(struct cr_data_loader *train,
                         struct cr_data_loader *eval, struct cr_diag *diag)
{
    const struct cr_dataset *a = &train->set, *b = &eval->set;

    if (a->type != b->type || !same_columns(a, b) || eval->sampler.n == 0)
        return true;
    if (is_cheap(train) && is_cheap(eval)) {
        if (!cr_data_loader_load(eval, diag))
            return false;
        check_rows(train, eval, diag);
    } else if (a->fingerprint == b->fingerprint && a->contents == b->contents &&
               !train->sampler.pool && !eval->sampler.pool) {
        warn_shared(train, eval, diag, 1);
    }
    return true;
}

/* ---- All checks */

bool cr_data_loader_lint(struct cr_data_loader *train,
                         struct cr_data_loader *eval, struct cr_diag *diag,
                         int label, bool normalises)
{
    const struct cr_dataset *set = &train->set;
    int k;

    for (k = 0; k < set->columns && is_cheap(train); k++) {
        if (k == label)
            continue;
        if (!normalises && is_features(&train->op[k]->out) &&
            is_real(train->op[k]->out.type))
            check_scale(train, diag, k);
        if (label >= 0 && is_features(&set->column[k].spec) &&
            set->column[label].spec.type != CR_STRING &&
            cr_count(&set->column[label].spec) == 1)
            check_label(train, diag, k, label);
    }
    return !eval || check_shared(train, eval, diag);
}
