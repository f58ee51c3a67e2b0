/*
 * Every op of the registry against tests/cases/ops/NAME.yaml, and its
 * gradient, every element, against central differences. A case:
 *
 *   name: what it shows
 *   opts: {...}        the op's options
 *   training: false    prediction; default: true
 *   in: [...]          tensors, null where an input is absent
 *   out: [...]         what forward must give; omitted where the case is
 *                      about gradients alone
 *   dy, dx: [...]      gradients that backward is given and must give; null
 *                      where none is requested
 *   error: TEXT        the plan must fail with this in its message
 *   states: [...]      what the inputs that .states names become
 *   last: [0, 1]       inputs that come with channels last too: all results
 *                      must be those of plain ones
 *   gradient: false    no differences (the values sit on a kink)
 *   tolerance: 1e-5    instead of rounding
 *   gradient_tolerance: 1e-3
 *                      instead of that of differences
 *
 * Buffers hold NaN where an op may not rely on anything: y, keep and scratch
 * before forward; scratch, and what .reads does not name, before backward.
 *
 * Cases in tests/cases/ops/torch/NAME.yaml are PyTorch's, of
 * tests/golden/make_ops.py.
 */
#include "op_call.h"

#ifdef CR_DOUBLE
#define STEP 1e-5
#define GRADIENT_TOLERANCE 1e-7
#else
#define STEP 1e-2
#define GRADIENT_TOLERANCE 1e-2
#endif

/* sum of dy y, whose gradient is what backward gives */
static double weighted(struct call *c)
{
    double sum = 0;
    int64_t i, n;
    int k;

    forward(c);
    for (k = 0; k < c->plan.n_out; k++) {
        n = c->dy[k] ? cr_count(&c->out[k]) : 0;
        for (i = 0; i < n; i++)
            sum += (double)c->dy[k][i] * (double)((cr_real *)c->y[k])[i];
    }
    return sum;
}

/* Where a gradient is added to: nothing near 0. */
static void start(cr_real *dx, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i++)
        dx[i] = (cr_real)(2 + 0.25 * (double)(i % 5));
}

static void differences(struct call *c, int i, cr_real *to)
{
    cr_real *x = c->x[i];
    int64_t k, n = cr_count(&c->in[i]);

    for (k = 0; k < n; k++) {
        cr_real old = x[k], high = (cr_real)((double)old + STEP),
                low = (cr_real)((double)old - STEP);
        double up, down;

        x[k] = high;
        up = weighted(c);
        x[k] = low;
        down = weighted(c);
        x[k] = old;
        to[k] = (cr_real)((up - down) / ((double)high - (double)low));
    }
}

static void check_variants(struct call *c, cr_real *const *g, int asked)
{
    bool added = true, alone = true, scaled = true, masked = true;
    bool in_place = true;
    int i, k, n_in = c->plan.n_in, scales = 0, masks = 0;

    for (i = 0; i < n_in; i++) {
        struct want w = { .alpha_of = -1, .mask_of = -1 };
        int64_t j, n;
        cr_real *mask, *want;

        if (!g[i])
            continue;
        n = cr_count(&c->in[i]);
        want = reals(c, i);
        mask = reals(c, i);
        for (k = 0; k < n_in; k++)
            if (g[k])
                w.dx[k] = reals(c, k);

        w.add = true;
        start(w.dx[i], n);
        start(want, n);
        for (j = 0; j < n; j++)
            want[j] += g[i][j];
        backward(c, &w);
        added =
            case_near("dx, added", w.dx[i], want, n, CASE_TOLERANCE) && added;

        w.add = false;
        w.dx[i] = NULL; /* backward is never called without any */
        if (asked > 1)
            backward(c, &w);
        for (k = 0; k < n_in; k++)
            if (w.dx[k])
                alone =
                    memcmp(w.dx[k], g[k], cr_bytes(&c->in[k])) == 0 && alone;
        w.dx[i] = reals(c, i);

        if (takes(c, CR_X(i), CR_END_SCALE)) {
            void *x = c->x[i];

            scales++;
            w.alpha_of = i;
            start(w.dx[i], n);
            start(want, n);
            for (j = 0; j < n; j++)
                want[j] += (cr_real)ALPHA * g[i][j];
            backward(c, &w);
            scaled =
                case_near("dx, scaled", w.dx[i], want, n, CASE_TOLERANCE) &&
                scaled;
            /* an update: the parameter itself is what is added to */
            memcpy(w.dx[i], x, cr_bytes(&c->in[i]));
            for (j = 0; j < n; j++)
                want[j] = w.dx[i][j] + (cr_real)ALPHA * g[i][j];
            c->x[i] = w.dx[i];
            backward(c, &w);
            c->x[i] = x;
            in_place =
                case_near("x, updated", w.dx[i], want, n, CASE_TOLERANCE) &&
                in_place;
            for (k = 0; k < n_in; k++)
                if (k != i && w.dx[k])
                    in_place = case_near("dx next to an update", w.dx[k], g[k],
                                         cr_count(&c->in[k]), CASE_TOLERANCE) &&
                               in_place;
            w.alpha_of = -1;
        }
        if (takes(c, CR_X(i), CR_END_MASK)) {
            masks++;
            w.mask_of = i;
            w.mask = mask;
            for (j = 0; j < n; j++) {
                mask[j] = (cr_real)(j % 3 == 0 ? 0 : j % 3 == 1 ? -1 : 2);
                want[j] = mask[j] > 0 ? g[i][j] : 0;
            }
            backward(c, &w);
            masked =
                case_near("dx, masked", w.dx[i], want, n, CASE_TOLERANCE) &&
                masked;
        }
    }
    ok(added, "%s: adds to what is there", c->name);
    if (asked > 1)
        ok(alone, "%s: the same without one of the gradients", c->name);
    if (scales > 0)
        ok(scaled && in_place, "%s: scales what it adds, in place too",
           c->name);
    if (masks > 0)
        ok(masked, "%s: 0 where the mask is not positive", c->name);
}

static void check_gradients(struct call *c, double tolerance)
{
    struct want w = { .alpha_of = -1, .mask_of = -1 };
    cr_real *g[CR_OP_MAX] = { NULL };
    int i, k, asked = 0;

    for (k = 0; k < c->plan.n_out; k++) {
        int64_t j, n = cr_count(&c->out[k]);

        if (c->out[k].type != CR_REAL)
            continue; /* indices */
        c->dy[k] = cr_alloc(c->arena, (size_t)n + 16, sizeof(cr_real));
        for (j = 0; j < n; j++)
            c->dy[k][j] = (cr_real)case_random(99 + (uint64_t)k, j);
    }
    for (i = 0; i < c->plan.n_in; i++)
        if (wants_gradient(c, i)) {
            asked++;
            w.dx[i] = g[i] = reals(c, i);
            poison(g[i], cr_bytes(&c->in[i]));
        }
    if (!ok(asked > 0, "%s: an op with a gradient has a real input", c->name))
        return;
    forward(c);
    backward(c, &w);
    for (i = 0; i < c->plan.n_in; i++) {
        cr_real *d;

        if (!g[i])
            continue;
        d = reals(c, i);
        differences(c, i, d);
        ok(case_near("gradient", g[i], d, cr_count(&c->in[i]), tolerance),
           "%s: gradient of input %d by differences", c->name, i);
    }
    forward(c);
    check_variants(c, g, asked);
}

/* Gradients of all real inputs, one after the other; what is not requested
 * is omitted. */
static size_t all_gradients(struct call *c, cr_real *to)
{
    struct want w = { .alpha_of = -1, .mask_of = -1 };
    cr_real *at = to;
    int i;

    for (i = 0; i < c->plan.n_in; i++)
        if (wants_gradient(c, i)) {
            w.dx[i] = at;
            at += cr_count(&c->in[i]);
        }
    if (at > to)
        backward(c, &w);
    return (size_t)(at - to) * sizeof *to;
}

static char grown[200]; /* a case whose op took more room than planned */

/* After runs in a pool that began without room. */
static void check_room(const struct call *c, size_t planned)
{
    if (cr_thread_scratch_size() > planned + 63)
        snprintf(grown, sizeof grown, "%s", c->name);
}

static void check_threads(struct call *c, size_t room)
{
    size_t bytes = cr_bytes(&c->out[0]), most = 1, back = 0;
    bool backs = c->op->backward && c->out[0].type == CR_REAL;
    cr_real *g[2] = { NULL };
    void *one;
    int64_t j;
    int i, k;

    for (i = 0; i < c->plan.n_in; i++)
        most += (size_t)cr_count(&c->in[i]);
    for (k = 0; k < 2 && backs; k++)
        g[k] = cr_alloc(c->arena, most, sizeof(cr_real));
    for (k = 0; k < c->plan.n_out && backs; k++) {
        c->dy[k] = NULL;
        if (c->out[k].type != CR_REAL)
            continue;
        c->dy[k] = cr_alloc(c->arena, (size_t)cr_count(&c->out[k]) + 16,
                            sizeof(cr_real));
        for (j = 0; j < cr_count(&c->out[k]); j++)
            c->dy[k][j] = (cr_real)case_random(77 + (uint64_t)k, j);
    }
    forward(c);
    one = cr_alloc(c->arena, bytes + 1, 1);
    memcpy(one, c->y[0], bytes);
    if (backs)
        back = all_gradients(c, g[0]);
    cr_thread_pool_start(3);
    forward(c);
    if (backs)
        all_gradients(c, g[1]);
    ok(!cr_blas_own() || (memcmp(one, c->y[0], bytes) == 0 &&
                          (back == 0 || memcmp(g[0], g[1], back) == 0)),
       "%s: same bytes with 3 threads", c->name);
    check_room(c, room);
    cr_thread_pool_start(1);
}

static void check_values(struct call *c, const struct cr_node *out,
                         double tolerance)
{
    int k = 0;

    forward(c);
    ok(cr_node_count(out) == c->plan.n_out, "%s: %d outputs", c->name,
       c->plan.n_out);
    for (CR_EACH(o, out)) {
        struct cr_spec spec;
        void *want = case_tensor(c->arena, o, 1, 0, &spec);

        if (!ok(want && cr_spec_same(&spec, &c->out[k]), "%s: output %s",
                c->name, cr_diag_format(c->arena, &c->out[k])))
            break;
        if (spec.type == CR_REAL)
            ok(case_near("output", c->y[k], want, cr_count(&spec), tolerance),
               "%s: values", c->name);
        else
            ok(memcmp(c->y[k], want, cr_bytes(&spec)) == 0, "%s: values",
               c->name);
        k++;
    }
}

/* Gradients that somebody else computed. */
static void check_given(struct call *c, const struct cr_node *node,
                        double tolerance)
{
    struct want w = { .alpha_of = -1, .mask_of = -1 };
    const struct cr_node *dx = cr_node_get(node, "dx");
    struct cr_spec spec;
    int i = 0, k = 0;

    for (CR_EACH(t, cr_node_get(node, "dy")))
        c->dy[k++] = case_tensor(c->arena, t, 1, 0, &spec);
    for (CR_EACH(t, dx)) {
        w.dx[i] = t->kind == CR_NODE_NULL ? NULL : reals(c, i);
        i++;
    }
    forward(c);
    backward(c, &w);
    i = 0;
    for (CR_EACH(t, dx)) {
        void *want = case_tensor(c->arena, t, 1, 0, &spec);

        if (w.dx[i])
            ok(want && cr_spec_same(&spec, &c->in[i]) &&
                   case_near("gradient", w.dx[i], want, cr_count(&spec),
                             tolerance),
               "%s: gradient of input %d as given", c->name, i);
        i++;
    }
}

static void check_states(struct call *c, const struct cr_node *states,
                         double tolerance)
{
    int i = 0;

    for (CR_EACH(t, states)) {
        struct cr_spec spec;
        void *want = case_tensor(c->arena, t, 1, 0, &spec);

        while (i < c->plan.n_in && !(c->op->running_stats & CR_X(i)))
            i++;
        if (!ok(want && i < c->plan.n_in && c->plan.training &&
                    cr_spec_same(&spec, &c->in[i]),
                "%s: a state %s", c->name, cr_diag_format(c->arena, &spec)))
            return;
        ok(case_near("state", c->state[i], want, cr_count(&spec), tolerance),
           "%s: moves its statistics", c->name);
        i++;
    }
}

/* The tensor in the other layout. */
static void *turned(struct call *c, const struct cr_spec *spec, const void *x)
{
    struct cr_spec other = *spec;
    struct cr_op_ctx s = { .in = spec, .out = &other, .x = { x } };

    other.layout =
        spec->layout == CR_CHANNELS_LAST ? CR_ROW_MAJOR : CR_CHANNELS_LAST;
    s.y[0] = cr_alloc(c->arena, cr_bytes(spec) + 64, 1);
    cr_op_reorder.forward(&s);
    return s.y[0];
}

static bool same_plain(struct call *c, const char *what,
                       const struct cr_spec *spec, const void *got,
                       const void *want)
{
    bool same;

    if (spec->layout == CR_CHANNELS_LAST)
        got = turned(c, spec, got);
    if (spec->type != CR_REAL)
        return memcmp(got, want, cr_bytes(spec)) == 0;
    /* libraries, and Winograd's convolutions, add up in another order for each
     * layout */
    same = cr_blas_own() && c->op != &cr_op_conv2d;
    return case_near(what, got, want, cr_count(spec),
                     (same ? 4 : 20) * CASE_TOLERANCE);
}

static void check_last_gradients(struct call *c, struct call *t)
{
    struct want plain = { .alpha_of = -1, .mask_of = -1 }, w = plain;
    int i;

    forward(c);
    forward(t);
    for (i = 0; i < t->plan.n_out; i++)
        if (t->out[i].layout == CR_CHANNELS_LAST)
            t->dy[i] = turned(c, &c->out[i], c->dy[i]);
    for (i = 0; i < t->plan.n_in; i++)
        if (wants_gradient(c, i)) {
            plain.dx[i] = reals(c, i);
            w.dx[i] = reals(c, i);
        }
    backward(c, &plain);
    backward(t, &w);
    for (i = 0; i < t->plan.n_in; i++)
        if (w.dx[i])
            ok(same_plain(t, "gradient", &t->in[i], w.dx[i], plain.dx[i]),
               "%s: gradient %d the same with channels last", c->name, i);
    w.add = plain.add = true;
    backward(c, &plain);
    backward(t, &w);
    for (i = 0; i < t->plan.n_in; i++)
        if (w.dx[i])
            ok(same_plain(t, "twice the gradient", &t->in[i], w.dx[i],
                          plain.dx[i]),
               "%s: gradient %d is added to with channels last", c->name, i);
}

/* The same call with channels last in the inputs named by the case. */
static void check_last(struct call *c, const struct cr_node *last,
                       bool gradient)
{
    struct call t = *c;
    size_t room;
    int i, act;

    for (CR_EACH(n, last)) {
        i = (int)n->integer;
        t.x[i] = turned(c, &c->in[i], c->x[i]);
        t.in[i].layout = CR_CHANNELS_LAST;
    }
    t.plan.in = t.in;
    t.plan.out = t.out;
    t.plan.saved = t.plan.scratch = 0;
    if (!ok(t.op->plan(&t.plan), "%s: planned with channels last", c->name))
        return;
    for (i = 0; i < t.plan.n_out && cr_is_elementwise(t.op); i++)
        t.out[i].layout = CR_CHANNELS_LAST; /* as the planner does */
    for (i = 0; i < t.plan.n_out; i++)
        t.y[i] = cr_alloc(c->arena, cr_bytes(&t.out[i]) + 64, 1);
    t.keep = cr_alloc(c->arena, t.plan.saved + 64, 1);
    t.scratch = cr_alloc(c->arena, t.plan.scratch + 64, 1);
    cr_thread_pool_start(1);
    for (act = 0; act < 1 + takes(c, CR_Y(0), CR_END_ACT); act++) {
        c->act = t.act = act ? CR_ACT_RELU : CR_ACT_NONE;
        forward(c);
        forward(&t);
        for (i = 0; i < t.plan.n_out; i++)
            ok(same_plain(&t, "output", &t.out[i], t.y[i], c->y[i]),
               "%s: the same with channels last%s", c->name,
               act ? " and an activation" : "");
    }
    c->act = t.act = CR_ACT_NONE;
    for (act = 0;
         act < 1 + takes(c, CR_Y(0), CR_END_ACT | CR_END_BACKWARD) && gradient;
         act++) {
        c->act = t.act = act ? CR_ACT_RELU : CR_ACT_NONE;
        check_last_gradients(c, &t);
    }
    room = c->plan.thread_scratch > t.plan.thread_scratch
               ? c->plan.thread_scratch
               : t.plan.thread_scratch;
    check_room(&t, room);
    c->act = t.act = CR_ACT_NONE;
    t.name = cr_strf(c->arena, "%s, channels last", c->name);
    cr_thread_pool_start(1);
    check_threads(&t, room);
}

static void run_case(const struct cr_op *op, const struct cr_node *node,
                     int64_t batch)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct call c = { .arena = &mem, .op = op };
    const struct cr_node *error = cr_node_get(node, "error");
    const struct cr_node *out = cr_node_get(node, "out");
    const struct cr_node *gradient = cr_node_get(node, "gradient");
    const struct cr_node *last = cr_node_get(node, "last");
    bool planned, differ = op->backward && (!gradient || gradient->boolean);

    c.name = call_name(&c, node, batch);
    planned = plan_call(&c, node, &diag, batch);
    if (error) {
        ok(!planned && diag.first && strstr(diag.first->text, error->text),
           "%s: refused", c.name);
        if (diag.first && !strstr(diag.first->text, error->text))
            printf("# got: %s\n", diag.first->text);
    } else if (!planned) {
        cr_diag_print(&diag, stdout, (struct cr_diag_format){ 0 });
        ok(false, "%s: is planned", c.name);
    } else {
        if (out)
            check_values(&c, out,
                         case_number(node, "tolerance", CASE_TOLERANCE));
        if (cr_node_get(node, "states"))
            check_states(&c, cr_node_get(node, "states"),
                         case_number(node, "tolerance", CASE_TOLERANCE));
        if (cr_node_get(node, "dx"))
            check_given(&c, node,
                        case_number(node, "tolerance", CASE_TOLERANCE));
        if (differ)
            check_gradients(&c, case_number(node, "gradient_tolerance",
                                            GRADIENT_TOLERANCE));
        if (last)
            check_last(&c, last, differ);
        check_threads(&c, c.plan.thread_scratch);
    }
    cr_arena_free(&mem);
}

int main(void)
{
    bool batches[CR_LEN(ops)];
    size_t i;

    call_all(run_case, NULL, batches);
    test_begin("every op with a gradient has a case for any batch size");
    for (i = 0; i < CR_LEN(ops); i++)
        ok(batches[i] || !ops[i].op->backward, "%s", ops[i].leaf);
    cr_thread_pool_stop();
    test_begin("no op takes more room than planned");
    if (!ok(!grown[0], "room of the kernels"))
        printf("# but %s\n", grown);
    return done();
}
