/*
 * Every initialiser of the registry against tests/cases/inits/NAME.yaml:
 *
 *   name: what it shows
 *   opts: {...}         the initialiser's options
 *   shape: [300, 200]   of the parameter
 *   values: [...]       what it becomes
 *   mean: 0.0           of the values, within five standard errors
 *   deviation: 0.1      standard deviation, likewise
 *   kurtosis: 3.0       fourth moment over squared variance: 3 for a normal
 *                       distribution, 1.8 for a uniform one
 *   low: -1.0  high: 1.0  no value is outside, some near each
 *   orthonormal: rows | columns, times `gain`
 *   zeros_per_column: 3 exactly
 *   error: TEXT         the fill must fail with this in its message
 */
#include "case.h"
#include "graph/init.h"

#define CR_INIT(x) extern const struct cr_init cr_init_##x;
#include "registry_pass.h"

static const struct {
    const char *leaf;
    const struct cr_init *init;
} inits[] = {
#define CR_INIT(x) { #x, &cr_init_##x },
#include "registry_pass.h"
};

struct filled {
    const char *name;
    struct cr_spec spec;
    const cr_real *v;
    int64_t n;
    double mean, deviation, kurtosis, low, high;
};

static void moments(struct filled *f)
{
    double sum = 0, two = 0, four = 0;
    int64_t i;

    f->low = f->high = (double)f->v[0];
    for (i = 0; i < f->n; i++) {
        sum += (double)f->v[i];
        f->low = fmin(f->low, (double)f->v[i]);
        f->high = fmax(f->high, (double)f->v[i]);
    }
    f->mean = sum / (double)f->n;
    for (i = 0; i < f->n; i++) {
        double d = (double)f->v[i] - f->mean;

        two += d * d;
        four += d * d * d * d;
    }
    two /= (double)f->n;
    f->deviation = sqrt(two);
    f->kurtosis = four / (double)f->n / (two * two);
}

static void check_moments(const struct filled *f, const struct cr_node *node)
{
    double want, root = sqrt((double)f->n);

    if (cr_node_get(node, "mean")) {
        want = case_number(node, "mean", 0);
        ok(fabs(f->mean - want) <= 5 * f->deviation / root,
           "%s: the mean is %g, should be %g", f->name, f->mean, want);
    }
    if (cr_node_get(node, "deviation")) {
        want = case_number(node, "deviation", 0);
        ok(fabs(f->deviation - want) <= 5 * want / root,
           "%s: the deviation is %g, should be %g", f->name, f->deviation,
           want);
    }
    if (cr_node_get(node, "kurtosis")) {
        want = case_number(node, "kurtosis", 0);
        ok(fabs(f->kurtosis - want) <= 25 / root,
           "%s: the kurtosis is %g, should be %g", f->name, f->kurtosis, want);
    }
    if (cr_node_get(node, "low")) {
        double low = case_number(node, "low", 0);
        double high = case_number(node, "high", 0), near;

        near = 0.01 * (high - low);
        ok(f->low >= low && f->low < low + near && f->high <= high &&
               f->high > high - near,
           "%s: from %g to %g, should be %g to %g", f->name, f->low, f->high,
           low, high);
    }
}

static void check_orthonormal(const struct filled *f,
                              const struct cr_node *node)
{
    bool rows = strcmp(cr_node_get(node, "orthonormal")->text, "rows") == 0;
    double gain = case_number(node, "gain", 1), worst = 0;
    int64_t d0 = f->spec.dim[0], rest = f->n / d0, a, b, k;
    int64_t count = rows ? d0 : rest, len = rows ? rest : d0;

    for (a = 0; a < count; a++)
        for (b = 0; b <= a; b++) {
            double dot = 0;

            for (k = 0; k < len; k++)
                dot += (double)f->v[rows ? a * rest + k : k * rest + a] *
                       (double)f->v[rows ? b * rest + k : k * rest + b];
            worst = fmax(worst, fabs(dot - (a == b) * gain * gain));
        }
    ok(worst < CASE_TOLERANCE * gain * gain,
       "%s: products of %s are those of a rotation, to %g", f->name,
       rows ? "rows" : "columns", worst);
}

static void check_zeros(const struct filled *f, int64_t want)
{
    int64_t cols = f->spec.dim[1], i, j, zeros, wrong = 0, row0 = 0;

    for (j = 0; j < cols; j++) {
        for (i = zeros = 0; i < f->spec.dim[0]; i++)
            zeros += f->v[i * cols + j] == 0;
        wrong += zeros != want;
        row0 += f->v[j] == 0;
    }
    ok(wrong == 0, "%s: each column has %lld zeros", f->name, (long long)want);
    ok(row0 > 0 && row0 < cols, "%s: not always in the same rows", f->name);
}

static void check_filled(struct filled *f, const struct cr_node *node,
                         struct cr_arena *mem)
{
    const struct cr_node *values = cr_node_get(node, "values");

    moments(f);
    check_moments(f, node);
    if (values) {
        cr_real *want = CR_NEWS(mem, cr_real, f->n);
        int64_t i = 0;

        ok(cr_node_count(values) == f->n, "%s: %lld values", f->name,
           (long long)f->n);
        for (CR_EACH(v, values))
            if (i < f->n)
                want[i++] = (cr_real)v->real;
        ok(case_near("value", f->v, want, f->n, 0), "%s: values", f->name);
    }
    if (cr_node_get(node, "orthonormal"))
        check_orthonormal(f, node);
    if (cr_node_get(node, "zeros_per_column"))
        check_zeros(f, (int64_t)case_number(node, "zeros_per_column", 0));
}

static void run_case(const struct cr_init *init, const struct cr_node *node)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct filled f = { .name = cr_strf(&mem, "%s, %s", init->about.name,
                                        case_name(node)) };
    const struct cr_node *error = cr_node_get(node, "error");
    struct cr_init_args fill = { .rng = cr_rng(1, CR_STREAM_INIT, 77, 0),
                                 .arena = &mem,
                                 .diag = &diag,
                                 .param = "p" };
    void *opts = cr_alloc(&mem, 1, init->about.size + 8);
    cr_real *one, *two;
    bool good;

    if (!case_shape(node, 1, &f.spec))
        return;
    f.n = cr_count(&f.spec);
    fill.spec = f.spec;
    fill.opts = opts;
    one = CR_NEWS(&mem, cr_real, f.n + 1);
    two = CR_NEWS(&mem, cr_real, f.n + 1);
    good = cr_opts_read(&mem, &diag, &init->about, cr_node_get(node, "opts"),
                        node->pos, opts) &&
           init->fill(&fill); /* first as a check, without values */
    if (error) {
        ok(!good && strstr(diag.first->text, error->text), "%s: refused",
           f.name);
        if (!good && !strstr(diag.first->text, error->text))
            printf("# got: %s\n", diag.first->text);
        goto end;
    }
    if (!ok(good, "%s: fits", f.name)) {
        cr_diag_print(&diag, stdout, (struct cr_diag_format){ 0 });
        goto end;
    }
    fill.to = one;
    init->fill(&fill);
    fill.to = two;
    init->fill(&fill);
    ok(memcmp(one, two, cr_bytes(&f.spec)) == 0, "%s: the same again", f.name);
    f.v = one;
    check_filled(&f, node, &mem);
    if (f.deviation > 0 && !cr_node_get(node, "values")) {
        fill.rng.a++;
        init->fill(&fill);
        ok(memcmp(one, two, cr_bytes(&f.spec)) != 0,
           "%s: another parameter, other values", f.name);
    }
end:
    cr_arena_free(&mem);
}

int main(void)
{
    size_t i;

    for (i = 0; i < CR_LEN(inits); i++) {
        struct case_file f;

        if (case_open(&f, "inits", inits[i].leaf))
            for (CR_EACH(c, f.root)) {
                case_begin(inits[i].init->about.name, c);
                run_case(inits[i].init, c);
            }
        case_close(&f);
    }
    return done();
}
