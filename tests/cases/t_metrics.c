/*
 * Every metric of the registry against tests/cases/metrics/NAME.yaml:
 *
 *   name: what it shows
 *   opts: {...}         the metric's options
 *   called: NAME        its name in results
 *   axis: 2             of the classes; default: 1
 *   batches:            fed one after the other
 *     - {output: TENSOR, label: TENSOR, loss: 0.5}
 *   value: 0.75         in the end; without it there must be no one number
 *   table: [...]        classes x columns
 *   points: [...]       of the curve, three numbers each
 *   tolerance: 1e-6     relative, of all these; default: 1e-12
 *
 * A second round after clearing must give the same.
 */
#include "case.h"
#include "score/metric.h"

#define CR_METRIC(x) extern const struct cr_metric cr_metric_##x;
#include "registry_pass.h"

static const struct {
    const char *leaf;
    const struct cr_metric *metric;
} metrics[] = {
#define CR_METRIC(x) { #x, &cr_metric_##x },
#include "registry_pass.h"
};

static void feed(const struct cr_metric_use *use, const struct cr_node *c,
                 void *state, int64_t classes, struct cr_arena *mem)
{
    for (CR_EACH(b, cr_node_get(c, "batches"))) {
        struct cr_spec out, label;
        struct cr_metric_batch batch = { .spec = &out, .label_spec = &label,
                                         .mem = mem };

        batch.axis = (int)case_number(c, "axis", 1);
        batch.output = case_tensor(mem, cr_node_get(b, "output"), 1, 0, &out);
        batch.label = case_tensor(mem, cr_node_get(b, "label"), 1, 0, &label);
        batch.samples = out.rank > 0 ? out.dim[0] : 1;
        batch.loss = case_number(b, "loss", NAN);
        cr_metric_add(use, state, classes, &batch);
    }
}

static void check_curve(const struct cr_metric_use *use,
                        const struct cr_node *c, const void *state,
                        double near, struct cr_arena *mem, const char *name)
{
    const struct cr_node *points = cr_node_get(c, "points");
    const double *got;
    int64_t n = 0, i = 0;

    ok((use->metric->curve != NULL) == (points != NULL), "%s: %s", name,
       points ? "a curve" : "no curve");
    if (!points || !use->metric->curve)
        return;
    got = use->metric->curve(use->opts, state, mem, &n);
    if (!ok(3 * n == cr_node_count(points), "%s: %d points", name,
            cr_node_count(points) / 3))
        return;
    for (CR_EACH(m, points)) {
        if (!case_close_to(got[i], m->real, near))
            ok(false, "%s: number %lld is %.17g, should be %.17g", name,
               (long long)i, got[i], m->real);
        i++;
    }
}

static void check(const struct cr_metric_use *use, const struct cr_node *c,
                  const void *state, int64_t classes, struct cr_arena *mem,
                  const char *name)
{
    double near = case_number(c, "tolerance", 1e-12);
    const struct cr_node *value = cr_node_get(c, "value");
    const struct cr_node *table = cr_node_get(c, "table");
    double cell[64] = { 0 };
    int64_t columns = cr_metric_table(use, state, classes, cell);
    int i = 0;

    ok(cr_metric_single(use->metric) == (value != NULL),
       "%s: %s", name, value ? "one number" : "no one number");
    if (value && cr_metric_single(use->metric)) {
        double got = cr_metric_value(use, state, classes);

        if (!ok(case_close_to(got, value->real, near), "%s: the value",
                name))
            printf("# got %.17g, should be %.17g\n", got, value->real);
    }
    ok(columns * classes == (table ? cr_node_count(table) : 0),
       "%s: %d cells", name, table ? cr_node_count(table) : 0);
    for (CR_EACH(m, table))
        if (i < 64 && !case_close_to(cell[i++], m->real, near))
            ok(false, "%s: cell %d is %g, should be %g", name, i - 1,
               cell[i - 1], m->real);
    check_curve(use, c, state, near, mem, name);
}

static void run_case(const struct cr_metric *metric, const struct cr_node *c)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    void *opts = cr_alloc(&mem, 1, metric->about.size + 8);
    struct cr_metric_use use = { .metric = metric, .opts = opts };
    const struct cr_node *called = cr_node_get(c, "called");
    const char *name = cr_strf(&mem, "%s, %s", metric->about.name,
                               case_name(c));
    int64_t classes = (int64_t)case_number(c, "classes", 1);
    size_t size;
    char *state;

    if (!ok(cr_opts_read(&mem, &diag, &metric->about, cr_node_get(c, "opts"),
                         c->pos, opts), "%s: options", name))
        goto done;
    if (called)
        same(metric->result_name ? metric->result_name(opts, &mem)
                                 : metric->about.name,
             called->text, name);
    size = cr_metric_size(&use, classes);
    state = cr_alloc(&mem, 1, size);
    feed(&use, c, state, classes, &mem);
    check(&use, c, state, classes, &mem, name);
    memset(state, 0, size);
    feed(&use, c, state, classes, &mem);
    check(&use, c, state, classes, &mem, cr_strf(&mem, "%s, again", name));
done:
    cr_arena_free(&mem);
}

int main(void)
{
    for (size_t i = 0; i < CR_LEN(metrics); i++) {
        struct case_file f;

        if (case_open(&f, "metrics", metrics[i].leaf))
            for (CR_EACH(c, f.root)) {
                case_begin(metrics[i].metric->about.name, c);
                run_case(metrics[i].metric, c);
            }
        case_close(&f);
    }
    return done();
}
