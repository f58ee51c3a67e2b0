/*
 * What the kernels of an op accept in their epilogue: for every case of
 * tests/cases/ops, the parts that they accept give what separate steps give,
 * in the backward pass too.
 */
#include "op_call.h"

/* An op that applies an activation gives what the activation would make. */
static void check_act(struct call *c)
{
    int64_t i, n = cr_count(&c->out[0]);
    cr_real *want = cr_alloc(c->arena, (size_t)n + 16, sizeof(cr_real));
    const cr_real *y = c->y[0];

    forward(c);
    for (i = 0; i < n; i++)
        want[i] = y[i] < 0 ? 0 : y[i];
    c->act = CR_ACT_RELU;
    forward(c);
    ok(case_near("relu(y)", c->y[0], want, n, CASE_TOLERANCE),
       "%s: applies an activation", c->name);
    c->act = CR_ACT_NONE;
}

static void squares(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    (void)attr;
    for (i = 0; i < n; i++)
        y[i] = x[i] * x[i] - 1;
}

/* The same of any other function, by one thread and by three. */
static void check_map(struct call *c)
{
    int64_t i, n = cr_count(&c->out[0]);
    cr_real *want = cr_alloc(c->arena, (size_t)n + 16, sizeof(cr_real));
    const cr_real *y = c->y[0];
    int threads;

    forward(c);
    for (i = 0; i < n; i++)
        want[i] = y[i] * y[i] - 1;
    c->map = squares;
    for (threads = 1; threads <= 3; threads += 2) {
        cr_thread_pool_start(threads);
        forward(c);
        ok(case_near("map(y)", c->y[0], want, n, CASE_TOLERANCE),
           "%s: maps its result, %d threads", c->name, threads);
    }
    cr_thread_pool_start(1);
    c->map = NULL;
}

/* An op that multiplies its result by a number does so with its gradients. */
static void check_scale(struct call *c, bool gradient)
{
    struct want w = { .alpha_of = -1, .mask_of = -1 }, plain = w;
    cr_real scale = (cr_real)-1.5, *want;
    int64_t i, n = cr_count(&c->out[0]);
    const cr_real *y = c->y[0];
    int k;

    want = cr_alloc(c->arena, (size_t)n + 16, sizeof(cr_real));
    forward(c);
    for (i = 0; i < n; i++)
        want[i] = scale * y[i];
    for (k = 0; k < c->plan.n_in && gradient; k++)
        if (wants_gradient(c, k)) {
            w.dx[k] = reals(c, k);
            plain.dx[k] = reals(c, k);
        }
    if (gradient)
        backward(c, &plain);
    c->scale = scale;
    forward(c);
    ok(case_near("scaled y", c->y[0], want, n, CASE_TOLERANCE),
       "%s: scales its result", c->name);
    if (gradient)
        backward(c, &w);
    c->scale = 1;
    for (k = 0; k < c->plan.n_in && gradient; k++) {
        if (!w.dx[k])
            continue;
        n = cr_count(&c->in[k]);
        for (i = 0; i < n; i++)
            plain.dx[k][i] *= scale;
        ok(case_near("scaled gradient", w.dx[k], plain.dx[k], n,
                     CASE_TOLERANCE),
           "%s: and gradient %d", c->name, k);
    }
}

static void squares_grad(const void *attr, int64_t n, const cr_real *x,
                         const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)y;
    for (i = 0; i < n; i++)
        d[i] = dy[i] * 2 * x[i];
}

/* The gradients are those of `plain` without an epilogue. */
static void check_gradients(struct call *c, cr_real *plain, const char *what)
{
    struct want w = { .alpha_of = -1, .mask_of = -1 }, want = w;
    cr_real *dy = c->dy[0];
    struct call bare = *c;
    int k, last = c->plan.n_in;

    bare.act = CR_ACT_NONE;
    bare.map = NULL;
    bare.grad = NULL;
    bare.dy[0] = plain;
    for (k = 0; k < c->plan.n_in; k++)
        if (wants_gradient(c, k)) {
            w.dx[k] = reals(c, k);
            want.dx[k] = reals(c, k);
        }
    /* stored, added, and without that of input 0 */
    for (k = 0; k < 3; k++) {
        int i;
        int64_t j;

        w.add = want.add = k == 1;
        if (k == 2)
            w.dx[0] = NULL;
        for (i = 0; i < last; i++)
            for (j = 0; want.dx[i] && j < cr_count(&c->in[i]); j++) {
                want.dx[i][j] = 2;
                if (w.dx[i])
                    w.dx[i][j] = 2;
            }
        forward(c);
        c->dy[0] = dy;
        backward(c, &w);
        forward(&bare);
        backward(&bare, &want);
        for (i = 0; i < last; i++)
            if (w.dx[i])
                ok(case_near("dx", w.dx[i], want.dx[i], cr_count(&c->in[i]),
                             CASE_TOLERANCE),
                   "%s: gradient %d through %s%s", c->name, i, what,
                   k == 1   ? ", added"
                   : k == 2 ? ", without that of input 0"
                            : "");
    }
}

/* One that also honours it in the backward pass gives what a masked dy does. */
static void check_act_backward(struct call *c, bool finds)
{
    int64_t i, n = cr_count(&c->out[0]);
    cr_real *masked = cr_alloc(c->arena, (size_t)n + 16, sizeof(cr_real));
    const cr_real *y = c->y[0];

    forward(c);
    for (i = 0; i < n; i++)
        masked[i] = y[i] <= 0 ? 0 : c->dy[0][i];
    c->act = CR_ACT_RELU;
    check_gradients(c, masked, "an activation");
    c->no_y = true;
    if (finds)
        check_gradients(c, masked, "an activation that it computes again");
    c->no_y = false;
    c->act = CR_ACT_NONE;
}

/* The same of any other function. */
static void check_map_backward(struct call *c)
{
    int64_t n = cr_count(&c->out[0]);
    cr_real *d = cr_alloc(c->arena, (size_t)n + 16, sizeof(cr_real));

    forward(c);
    squares_grad(NULL, n, c->y[0], NULL, c->dy[0], d);
    c->map = squares;
    c->grad = squares_grad;
    check_gradients(c, d, "a map");
    c->map = NULL;
    c->grad = NULL;
}

static void dy_make(struct call *c, int k)
{
    int64_t j, n = cr_count(&c->out[k]);

    if (c->out[k].type != CR_REAL)
        return;
    c->dy[k] = cr_alloc(c->arena, (size_t)n + 16, sizeof(cr_real));
    for (j = 0; j < n; j++)
        c->dy[k][j] = (cr_real)case_random(99 + (uint64_t)k, j);
}

static void check(struct call *c, bool differ)
{
    const struct cr_op_kernels *kernels = c->op->kernels;
    unsigned sum =
        kernels && kernels->addend && c->x[kernels->addend] ? CR_END_ADD : 0;
    int k;

    for (k = 0; k < c->plan.n_out && differ; k++)
        dy_make(c, k);
    if (takes(c, CR_Y(0), CR_END_ACT))
        check_act(c);
    if (takes(c, CR_Y(0), CR_END_MAP))
        check_map(c);
    if (takes(c, CR_Y(0), CR_END_SCALE | CR_END_BACKWARD))
        check_scale(c, differ);
    if (differ && takes(c, CR_Y(0), CR_END_ACT | CR_END_BACKWARD))
        check_act_backward(
            c, takes(c, CR_Y(0),
                     sum | CR_END_ACT | CR_END_BACKWARD | CR_END_MASK_X));
    if (differ && takes(c, CR_Y(0), sum | CR_END_MAP | CR_END_BACKWARD))
        check_map_backward(c);
}

/* The inputs that the case names have channels last: the values as they lie. */
static bool last_call(struct call *c, const struct cr_node *node)
{
    for (CR_EACH(n, cr_node_get(node, "last")))
        c->in[n->integer].layout = CR_CHANNELS_LAST;
    c->name = cr_strf(c->arena, "%s, channels last", c->name);
    return ok(plan_inputs(c), "%s: is planned", c->name);
}

static void run_case(const struct cr_op *op, const struct cr_node *node,
                     int64_t batch)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct call c = { .arena = &mem, .op = op };
    const struct cr_node *gradient = cr_node_get(node, "gradient");
    bool differ = op->backward && (!gradient || gradient->boolean);
    bool planned;

    c.name = call_name(&c, node, batch);
    planned = plan_call(&c, node, &diag, batch);
    if (ok(planned == !cr_node_get(node, "error"), "%s: is planned", c.name) &&
        planned) {
        check(&c, differ);
        if (cr_node_get(node, "last") && last_call(&c, node))
            check(&c, differ);
    }
    cr_arena_free(&mem);
}

static bool accepts(const struct cr_op *op)
{
    return op->kernels && op->kernels->accepts;
}

int main(void)
{
    bool batches[CR_LEN(ops)];

    call_all(run_case, accepts, batches);
    cr_thread_pool_stop();
    return done();
}
