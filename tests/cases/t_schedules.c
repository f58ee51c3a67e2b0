/*
 * Every schedule of the registry against tests/cases/schedules/NAME.yaml:
 *
 *   name: what it shows
 *   lr: {...}           as it is under `learning_rate`
 *   per_epoch: 8        updates of an epoch; 0: not known
 *   total: 40           updates of the run
 *   at: [0, 1, ...]     updates, from 0
 *   rate: [...]         at each of them
 *   golden: TENSOR      of tests/golden/schedules.safetensors: at all updates
 *   metric: [...]       values of a metric, one evaluation after the other
 *   rates: [...]        after each of them, in MindSpore's float
 *   within: 1e-5        relative; MindSpore's float loses some near an end
 *   error: TEXT         must be refused with this in the message
 *
 * A schedule is a function of the update alone: values are asked for in
 * falling order too.
 */
#include "case.h"
#include "ckpt/checkpoint.h"
#include "train/schedule.h"

#define CR_SCHEDULE(x) extern const struct cr_schedule cr_schedule_##x;
#include "registry_pass.h"

static const struct {
    const char *leaf;
    const struct cr_schedule *schedule;
} schedules[] = {
#define CR_SCHEDULE(x) { #x, &cr_schedule_##x },
#include "registry_pass.h"
};

static const char golden_file[] = "tests/golden/schedules.safetensors";

/* MindSpore computes in float. */
static double off(double rate, double want)
{
    return fabs(rate - want) / fmax(fabs(want), 1e-7);
}

static void check_points(const struct cr_node *c, const struct cr_lr *lr)
{
    const struct cr_node *at = cr_node_get(c, "at");
    const struct cr_node *rate = cr_node_get(c, "rate");

    if (!at || !ok(cr_node_count(at) == cr_node_count(rate),
                   "%s: one rate for each update", case_name(c)))
        return;
    rate = rate->child;
    for (CR_EACH(m, at)) {
        double got = cr_lr_at(lr, m->integer);

        ok(off(got, rate->real) < 1e-12, "%s: at %lld: %.17g, not %.17g",
           case_name(c), (long long)m->integer, got, rate->real);
        rate = rate->next;
    }
}

static void check_golden(const struct cr_node *c, const struct cr_lr *lr,
                         struct cr_diag *diag, struct cr_arena *mem)
{
    const struct cr_node *name = cr_node_get(c, "golden");
    struct cr_tensor_file *store = cr_tensor_file_open(mem, diag, golden_file);
    const struct cr_tensor_info *e =
        store ? cr_tensor_file_find(store, name->text) : NULL;
    int64_t n = e ? cr_count(&e->spec) : 0;
    cr_real *want = CR_NEWS(mem, cr_real, n + 1);
    double most = 0;

    if (ok(n >= 1000 && cr_tensor_file_read(store, diag, e, CR_REAL, want),
           "%s has %s", golden_file, name->text)) {
        for (int64_t i = n - 1; i >= 0; i--)
            most = fmax(most, off(cr_lr_at(lr, i), (double)want[i]));
        ok(most < case_number(c, "within", 1e-6),
           "%s: over %lld updates off by %.2g at most", case_name(c),
           (long long)n, most);
    }
    if (store)
        cr_tensor_file_close(store);
}

static void check_metric(const struct cr_node *c, struct cr_lr *lr)
{
    const struct cr_node *rate = cr_node_get(c, "rates");
    const struct cr_plateau_rule *rule = cr_lr_plateau(lr);
    struct cr_plateau state = { 0 };
    double first = cr_lr_at(lr, 0), most = 0;

    if (!ok(rule && rate && cr_node_count(cr_node_get(c, "metric")) ==
                                cr_node_count(rate),
            "%s: one rate for each value", case_name(c)))
        return;
    lr->plateau = &state;
    rate = rate->child;
    for (CR_EACH(m, cr_node_get(c, "metric"))) {
        double before = cr_lr_at(lr, 7);
        bool fell = cr_plateau_step(rule, rule->mode == 2, first, m->real,
                                    &state);

        most = fmax(most, off(cr_lr_at(lr, 7), rate->real));
        if (fell != (cr_lr_at(lr, 7) < before))
            most = INFINITY;
        rate = rate->next;
    }
    ok(most < 1e-6, "%s: after all values off by %.2g at most", case_name(c),
       most);
}

static void run_case(const struct cr_schedule *schedule,
                     const struct cr_node *c)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_config config = { .arena = &mem, .diag = &diag };
    struct cr_run_steps run = { case_number(c, "per_epoch", 0),
                                (int64_t)case_number(c, "total", 0) };
    const struct cr_node *error = cr_node_get(c, "error");
    struct cr_obj obj;
    struct cr_lr lr;
    bool good = cr_obj_read(&mem, &diag, CR_KIND_SCHEDULE,
                            cr_node_get(c, "lr"), &obj) &&
                cr_lr_read(&config, &obj, &lr) &&
                cr_lr_bind(&diag, &lr, &run);

    if (error) {
        ok(!good, "%s: refused", case_name(c));
        same(diag.first ? diag.first->text : NULL, error->text,
             "the message");
    } else if (ok(good, "%s: read%s%s", case_name(c), good ? "" : ": ",
                  good ? "" : diag.first->text)) {
        ok(lr.schedule == schedule, "it is a %s", schedule->about.name);
        check_points(c, &lr);
        if (cr_node_get(c, "metric"))
            check_metric(c, &lr);
        if (cr_node_get(c, "golden"))
            check_golden(c, &lr, &diag, &mem);
    }
    cr_arena_free(&mem);
}

int main(void)
{
    for (size_t i = 0; i < CR_LEN(schedules); i++) {
        struct case_file f;

        if (case_open(&f, "schedules", schedules[i].leaf))
            for (CR_EACH(c, f.root)) {
                case_begin(schedules[i].schedule->about.name, c);
                run_case(schedules[i].schedule, c);
            }
        case_close(&f);
    }
    return done();
}
