/*
 * The gradients that `grad` in a construct builds of ops, for every op that
 * has them, on the cases of tests/cases/ops and their options: each must be
 * what the op's backward kernel gives; and the gradient of that gradient, as
 * the kernels of the nodes it is made of give it, what a second `grad` builds,
 * and what differences of the gradient give.
 */
#include "construct/gradient.h"
#include "graph/op_attrs.h"
#include "nets.h"

#define CR_OP(x) extern const struct cr_op cr_op_##x;
#include "registry_pass.h"

static const struct {
    const char *leaf;
    const struct cr_op *op;
} ops[] = {
#define CR_OP(x) { #x, &cr_op_##x },
#include "registry_pass.h"
};

#ifdef CR_DOUBLE
#define TOLERANCE 1e-9
#define DIFFERENCE 1e-6
#else
#define TOLERANCE 2e-4
#define DIFFERENCE 3e-2
#endif

enum {
    TENSORS = 3 * CR_OP_MAX,
    SOME = 12 /* elements of a tensor that differences are taken of */
};

/* A network whose parameters are the tensors of a case, and the op after
 * them. */
struct built {
    struct made m;
    struct cr_build b;
    const struct cr_op *op;
    const struct cr_node *c;
    int64_t batch;
    struct cr_val *in[CR_OP_MAX], *y;
    int n_in;
    struct cr_script_value
        tensors[TENSORS]; /* what is differentiated by: the inputs,
                      then the gradients that arrive */
    int n_tensors, n_inputs;
};

static const char *shape_text(struct cr_arena *arena, const struct cr_spec *s)
{
    struct cr_buf b = { .arena = arena };
    int i;

    for (i = 0; i < s->rank; i++)
        cr_buf_f(&b, "%s%lld", i ? ", " : "", (long long)s->dim[i]);
    return b.text ? cr_buf_text(&b) : "1"; /* a number: see param_at */
}

/* Parameters p0 ..., of the shapes of `spec`; a network that has them all. */
static bool params_make(struct built *t, const struct cr_spec *spec, int n)
{
    static const struct shape nothing = {
        .x = { .rank = 1, .dim = { 1 } }, .label = { .rank = 1, .dim = { 1 } }
    };
    struct cr_arena mem = { 0 };
    struct cr_buf text = { .arena = &mem };
    bool good;
    int i;

    cr_buf_str(&text, "network:\n  inputs: [x]\n  cells:\n");
    for (i = 0; i < n; i++)
        cr_buf_f(&text, "    p%d: {Parameter: {shape: [%s], init: ones}}\n", i,
                 shape_text(&mem, &spec[i]));
    cr_buf_str(&text, "  construct: return x");
    for (i = 0; i < n; i++)
        cr_buf_f(&text, ", p%d", i);
    cr_buf_str(&text, "\n");
    good = made_ok(&t->m, cr_buf_text(&text), nothing, 1);
    cr_arena_free(&mem);
    return good;
}

static struct cr_val *param_at(struct built *t, int i, const void *data,
                               bool scalar)
{
    struct cr_param *p = &cr_net_params(t->m.net, &(int){ 0 })[i];

    memcpy(p->data, data, cr_bytes(&p->spec));
    if (scalar) /* no Parameter is one */
        p->spec = t->m.net->graph->params[i]->spec = CR_SCALAR;
    return t->m.net->graph->params[i];
}

/* Integers are no parameters. */
static struct cr_val *constant(struct built *t, const struct cr_spec *spec,
                               const void *data)
{
    struct cr_arena *arena = t->m.net->arena;
    struct cr_constant *attr = CR_NEW(arena, struct cr_constant);
    int64_t n = cr_count(spec), *dim = CR_NEWS(arena, int64_t, CR_RANK_MAX);
    double *v = CR_NEWS(arena, double, n + 1);
    int i;

    for (i = 0; i < spec->rank; i++)
        dim[i] = spec->dim[i];
    for (int64_t k = 0; k < n; k++)
        v[k] = spec->type == CR_I32 ? ((const int32_t *)data)[k]
                                    : ((const unsigned char *)data)[k];
    attr->value = (struct cr_reals){ (int)n, v };
    attr->shape = (struct cr_ints){ spec->rank, dim };
    attr->dtype = spec->type == CR_I32 ? CR_INT32 : CR_DTYPE_BOOL;
    return cr_emit_as_is(&t->b, cr_op_find("constant"), attr, 0, NULL);
}

/* The op of the case, with parameters for its inputs, for the gradients that
 * arrive at its outputs and, where `again`, for those that arrive at the
 * gradients. False: nothing to test, or reported. */
static bool case_build(struct built *t, bool again)
{
    const struct cr_node *list = cr_node_get(t->c, "in"), *node;
    struct cr_spec spec[TENSORS], in[CR_OP_MAX], out[CR_OP_MAX] = { 0 };
    void *data[TENSORS], *value[CR_OP_MAX], *attr;
    struct cr_arena *arena;
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_opnode probe = { .op = t->op };
    struct cr_op_plan plan;
    int i, n = 0, reals = 0;

    attr = cr_alloc(&mem, 1, t->op->about.size + 1);
    node = list->child;
    for (t->n_in = 0; node; node = node->next, t->n_in++)
        value[t->n_in] = case_tensor(&mem, node, t->batch,
                                     (uint64_t)t->n_in + 1, &in[t->n_in]);
    if (t->op->about.opts &&
        !cr_opts_read(&mem, &diag, &t->op->about, cr_node_get(t->c, "opts"),
                      CR_NOWHERE, attr))
        return cr_arena_free(&mem), false;
    probe.attr = attr;
    probe.n_in = t->n_in;
    if (!cr_op_infer(&mem, &diag, &probe, true, in, &plan, out))
        return cr_arena_free(&mem), false;
    for (i = 0; i < t->n_in; i++)
        if (value[i] && in[i].type == CR_REAL) {
            spec[n] = in[i];
            data[n++] = value[i];
        }
    t->n_inputs = n;
    for (i = 0; i < plan.n_out; i++)
        if (out[i].type == CR_REAL && n < TENSORS) {
            reals++;
            spec[n] = out[i];
            data[n] = cr_alloc(&mem, cr_bytes(&out[i]) + 8, 1);
            for (int64_t k = 0; k < cr_count(&out[i]); k++)
                ((cr_real *)data[n])[k] =
                    (cr_real)case_random(99 + (uint64_t)i, k);
            n++;
        }
    t->n_tensors = n;
    for (i = 0; i < t->n_inputs && again && n < TENSORS; i++) {
        spec[n] = spec[i];
        data[n] = cr_alloc(&mem, cr_bytes(&spec[i]) + 8, 1);
        for (int64_t k = 0; k < cr_count(&spec[i]); k++)
            ((cr_real *)data[n])[k] = (cr_real)case_random(50 + (uint64_t)i, k);
        n++;
    }
    if (t->n_inputs == 0 || reals == 0 || !params_make(t, spec, n))
        return cr_arena_free(&mem), false;
    arena = t->m.net->arena;
    t->b = (struct cr_build){ .net = t->m.net, .path = "" };
    for (i = n = 0; i < t->n_in; i++) {
        t->in[i] = !value[i] ? cr_val_absent()
                   : in[i].type == CR_REAL
                       ? param_at(t, n, data[n], in[i].rank == 0)
                       : constant(t, &in[i], value[i]);
        n += value[i] && in[i].type == CR_REAL;
    }
    for (i = 0; i < TENSORS; i++)
        if (i < t->n_tensors + (again ? t->n_inputs : 0))
            t->tensors[i] = cr_script_value_tensor(
                param_at(t, i, data[i], spec[i].rank == 0));
    attr = cr_alloc(arena, 1, t->op->about.size + 1);
    if (t->op->about.opts)
        cr_opts_read(arena, &t->m.diag, &t->op->about,
                     cr_node_get(t->c, "opts"), CR_NOWHERE, attr);
    t->y = cr_emit_as_is(&t->b, t->op, attr, t->n_in, t->in);
    cr_arena_free(&mem);
    return ok(t->y != NULL, "the op is emitted");
}

static struct cr_script_value tuple_of(struct cr_script_value *items, int n)
{
    return (
        struct cr_script_value){ .kind = CR_SV_TUPLE, .n = n, .items = items };
}

/* The real outputs of the op. */
static struct cr_script_value outputs(struct built *t)
{
    struct cr_script_value y = tuple_of(
        CR_NEWS(t->m.net->arena, struct cr_script_value, CR_OP_MAX), 0);

    for (int i = 0; i < t->y->producer->n_out; i++)
        if (t->y->producer->out[i]->spec.type == CR_REAL)
            y.items[y.n++] = cr_script_value_tensor(t->y->producer->out[i]);
    return y;
}

/* grad(y, x, sens), in the words of a construct. */
static bool grad_of(struct built *t, struct cr_script_value y,
                    struct cr_script_value x, struct cr_script_value sens,
                    struct cr_script_value *to)
{
    static const struct cr_node text = { .kind = CR_NODE_STR,
                                         .text = "return grad(y, x, s)" };
    const struct cr_script *returned;
    struct cr_interp m = { .b = &t->b, .text = &text, .op = t->op };

    cr_interp_input(&m, "y", y);
    cr_interp_input(&m, "x", x);
    cr_interp_input(&m, "s", sens);
    return cr_interp_run(&m, to, &returned);
}

static void results_are(struct built *t, const struct cr_script_value *values)
{
    struct cr_graph *g = t->m.net->graph;
    int i;

    g->results = (struct cr_names){ 0 };
    for (i = 0; i < values->n; i++)
        cr_name_values(t->m.net, &g->results, "r", values->items[i].val);
}

static struct cr_param *param_of(struct built *t, const struct cr_val *v)
{
    int n;

    return &cr_net_params(t->m.net, &n)[v->param];
}

/* The plan of the graph, run with those gradients for its results. */
static struct cr_exec *run_of(struct built *t,
                              const struct cr_script_value *sens)
{
    static bool all[4 * TENSORS];
    struct cr_exec_opts want = { .training = true,
                                 .backward = true,
                                 .results = true,
                                 .keep_outputs = true,
                                 .wrt_params = all };
    struct cr_exec *e;
    int i;

    memset(all, true, sizeof all);
    e = made_exec(&t->m, want);
    if (!e)
        return NULL;
    for (i = 0; i < sens->n; i++) {
        cr_exec_sens(e, i, param_of(t, sens->items[i].val)->data);
    }
    cr_exec_forward(e, 1);
    cr_exec_backward(e, 1, 0);
    return e;
}

/* The sum of the products of all results with what arrives at them. */
static double weighted(struct built *t, struct cr_exec *e,
                       const struct cr_script_value *sens)
{
    double sum = 0;

    cr_exec_forward(e, 1);
    for (int i = 0; i < sens->n; i++) {
        const cr_real *w = param_of(t, sens->items[i].val)->data;
        struct cr_spec spec;
        const cr_real *y = cr_exec_result(e, i, &spec);

        for (int64_t k = 0; k < cr_count(&spec); k++)
            sum += (double)w[k] * (double)y[k];
    }
    return sum;
}

/* The gradients of such a plan, some elements of each, against differences. */
static bool differences(struct built *t, struct cr_exec *e,
                        const struct cr_script_value *sens)
{
    cr_real *got[TENSORS];
    bool good = true;

    for (int i = 0; i < t->n_tensors; i++) { /* a forward pass reuses them */
        const struct cr_param *p = param_of(t, t->tensors[i].val);
        const cr_real *g = kept(e, cr_strf(&t->m.arena, "grad.%s", p->name));

        got[i] = CR_NEWS(&t->m.arena, cr_real, cr_count(&p->spec) + 1);
        if (g)
            memcpy(got[i], g, cr_bytes(&p->spec));
    }
    for (int i = 0; i < t->n_tensors && good; i++) {
        struct cr_param *p = param_of(t, t->tensors[i].val);
        int64_t n = cr_count(&p->spec), step = n / SOME + 1;

        for (int64_t k = 0; k < n && good; k += step) {
            cr_real old = p->data[k], high = (cr_real)((double)old + NETS_STEP),
                    low = (cr_real)((double)old - NETS_STEP), want;
            double up, down;

            p->data[k] = high;
            up = weighted(t, e, sens);
            p->data[k] = low;
            down = weighted(t, e, sens);
            p->data[k] = old;
            want = (cr_real)((up - down) / ((double)high - (double)low));
            good = case_near(cr_strf(&t->m.arena,
                                     "difference for %lld of "
                                     "input %d",
                                     (long long)k, i),
                             &got[i][k], &want, 1, DIFFERENCE);
        }
    }
    return good;
}

/* What plan a gives for the gradients of n tensors, and plan b as results. */
static bool agree(struct built *t, struct cr_exec *a, struct cr_exec *b, int n,
                  const char *what)
{
    bool good = true;

    for (int i = 0; i < n && good; i++) {
        const struct cr_param *p = param_of(t, t->tensors[i].val);
        const cr_real *g = kept(a, cr_strf(&t->m.arena, "grad.%s", p->name));
        struct cr_spec spec;
        const cr_real *built = cr_exec_result(b, i, &spec);
        cr_real *zero = CR_NEWS(&t->m.arena, cr_real, cr_count(&p->spec) + 1);

        good = case_near(cr_strf(&t->m.arena, "%s of input %d", what, i), built,
                         g ? g : zero, cr_count(&spec), TOLERANCE);
    }
    return good;
}

static void check(const struct cr_op *op, const struct cr_node *c,
                  int64_t batch)
{
    struct built one = { .op = op, .c = c, .batch = batch }, two = one,
                 three = one;
    struct cr_exec *a = NULL, *b = NULL, *d = NULL;
    struct cr_script_value x, y, sens, first, second, again, last;

    if (!case_build(&one, true))
        goto done;
    y = outputs(&one);
    sens = tuple_of(one.tensors + one.n_inputs, y.n);
    results_are(&one, &y);
    a = run_of(&one, &sens);
    /* the gradients, built */
    if (!case_build(&two, true))
        goto done;
    y = outputs(&two);
    sens = tuple_of(two.tensors + two.n_inputs, y.n);
    x = tuple_of(two.tensors, two.n_inputs);
    if (!grad_of(&two, y, x, sens, &first)) {
        ok(strstr(two.m.diag.first->text, "cannot be differentiated") != NULL,
           "%s, %s: %s", op->about.name, case_name(c), two.m.diag.first->text);
        goto done;
    }
    results_are(&two, &first);
    again = tuple_of(two.tensors + two.n_tensors, two.n_inputs);
    b = run_of(&two, &again);
    ok(a && b && agree(&two, a, b, two.n_inputs, "gradient"),
       "%s, %s: the gradient is that of the kernel", op->about.name,
       case_name(c));
    /* and theirs, by the inputs and by what arrives */
    if (!case_build(&three, true))
        goto done;
    y = outputs(&three);
    sens = tuple_of(three.tensors + three.n_inputs, y.n);
    x = tuple_of(three.tensors, three.n_inputs);
    last = tuple_of(three.tensors + three.n_tensors, three.n_inputs);
    if (!grad_of(&three, y, x, sens, &first) ||
        !grad_of(&three, first, tuple_of(three.tensors, three.n_tensors), last,
                 &second)) {
        ok(false, "%s, %s: a second gradient: %s", op->about.name, case_name(c),
           three.m.diag.first ? three.m.diag.first->text : "no error");
        goto done;
    }
    results_are(&three, &second);
    sens = tuple_of(NULL, 0);
    d = run_of(&three, &sens);
    ok(b && d && agree(&three, b, d, three.n_tensors, "second gradient"),
       "%s, %s: the second gradient is that of the kernels", op->about.name,
       case_name(c));
    ok(differences(&two, b, &again),
       "%s, %s: the kernels' second gradient is that of differences",
       op->about.name, case_name(c));
done:
    cr_exec_free(a);
    cr_exec_free(b);
    cr_exec_free(d);
    made_free(&one.m);
    made_free(&two.m);
    made_free(&three.m);
}

static bool has(const struct cr_node *c, const char *key)
{
    return cr_node_get(c, key) != NULL;
}

int main(void)
{
    for (size_t i = 0; i < CR_LEN(ops); i++) {
        const struct cr_op *op = ops[i].op;
        struct case_file f;

        if (!op->bprop && !op->algebra.linear)
            continue;
        if (!case_open(&f, "ops", ops[i].leaf))
            continue;
        test_begin("%s: gradients built of ops", op->about.name);
        for (CR_EACH(c, f.root))
            if (!has(c, "error") && !has(c, "states") && !has(c, "gradient")) {
                if (case_any_batch(c))
                    check(op, c, 1);
                check(op, c, 3);
            }
        case_close(&f);
        test_end();
    }
    return done();
}
