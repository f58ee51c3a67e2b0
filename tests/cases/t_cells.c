/*
 * Every cell and loss of the registry against tests/cases/cells/NAME.yaml and
 * tests/cases/losses/NAME.yaml, and, in a double build, their gradients
 * against central differences. A case:
 *
 *   name: what it shows
 *   args: {...}         as after the type in a config
 *   in: {shape, ...}    the input, batch first; a loss's first input
 *   label: {...}        a loss's second one
 *   params: {weight: [...], ...}  what the parameters are set to
 *   out: {...}          the output; omitted where the case is about
 *                       gradients alone
 *   training: true      training behaviour; default: prediction
 *   error: TEXT         building must fail with this in its message
 *   gradient: false     no differences (the values sit on a kink)
 *   tolerance: 1e-5     instead of rounding
 */
#include "run/run.h"
#include "nets.h"

#define CR_CELL(x) extern const struct cr_cell cr_cell_##x;
#define CR_LOSS(x) extern const struct cr_cell cr_loss_##x;
#include "registry_pass.h"

static const struct entry {
    const char *kind, *leaf;
    const struct cr_cell *cell;
} entries[] = {
#define CR_CELL(x) { "cells", #x, &cr_cell_##x },
#define CR_LOSS(x) { "losses", #x, &cr_loss_##x },
#include "registry_pass.h"
};

struct unit {
    struct cr_arena arena; /* of the case's own data */
    const struct entry *entry;
    const struct cr_node *node; /* the case */
    const char *name;
    int64_t batch;           /* of the tensors called N */
    struct cr_spec x, label; /* with the batch */
    void *data[2];
};

static struct cr_spec sample_of(struct cr_spec spec)
{
    if (spec.rank > 0)
        memmove(spec.dim, spec.dim + 1,
                (size_t)--spec.rank * sizeof spec.dim[0]);
    return spec;
}

/* The unit as a config: a cell alone, or followed by `loss`. */
static bool build(struct unit *u, struct made *m, const char *loss,
                  const struct cr_spec *label, void *label_data)
{
    const struct cr_node *args = cr_node_get(u->node, "args");
    const struct cr_node *network = cr_node_get(u->node, "network");
    const char *type = u->entry->cell->about.name, *text;
    struct shape shape = { .x = sample_of(u->x) };
    bool good;

    text = args ? cr_strf(&u->arena, "{%s: %s}", type,
                          cr_node_flow(&u->arena, args))
                : type;
    if (u->entry->cell->targets) {
        text = cr_strf(&u->arena, "network: %s\nloss: %s\n",
                       network ? cr_node_flow(&u->arena, network) : "Identity",
                       text);
    } else if (network) /* what surrounds the cell */
        text = cr_node_flow(&u->arena, network);
    if (u->entry->cell->targets)
        ;
    else if (loss)
        text = cr_strf(&u->arena, "network: %s\nloss: %s\n", text, loss);
    else
        text = cr_strf(&u->arena, "network: %s\n", text);
    if (label)
        shape.label = sample_of(*label);
    good = make(m, text, shape, u->x.dim[0]);
    m->data[0] = u->data[0];
    m->data[1] = label_data;
    return good;
}

static bool set_params(struct unit *u, struct made *m)
{
    for (CR_EACH(p, cr_node_get(u->node, "params"))) {
        struct cr_param *to = cr_net_param(m->net, p->key);
        int64_t i = 0;

        if (!to || cr_count(&to->spec) != cr_node_count(p))
            return ok(false, "%s: has a parameter %s of %d values", u->name,
                      p->key, cr_node_count(p));
        for (CR_EACH(v, p))
            to->data[i++] = (cr_real)v->real;
    }
    return true;
}

static void check_values(struct unit *u, struct made *m,
                         const struct cr_node *out)
{
    const struct cr_node *training = cr_node_get(u->node, "training");
    double tolerance = case_number(u->node, "tolerance", CASE_TOLERANCE);
    bool is_loss = u->entry->cell->targets != NULL;
    struct cr_exec *e;
    struct cr_spec spec, want_spec;
    const void *got, *want;

    e = made_exec(
        m, (struct cr_exec_opts){ .training = training && training->boolean,
                                  .loss = is_loss,
                                  .keep_outputs = true });
    cr_exec_forward(e, 1);
    got = cr_exec_output(e, &spec);
    if (is_loss) {
        got = kept(e, "loss");
        spec = e->loss->spec;
    }
    want = case_tensor(&u->arena, out, u->batch, 0, &want_spec);
    if (ok(want && cr_spec_same(&spec, &want_spec), "%s: gives %s", u->name,
           cr_diag_format(&u->arena, &spec))) {
        if (spec.type == CR_REAL)
            ok(case_near("output", got, want, cr_count(&spec), tolerance),
               "%s: values", u->name);
        else
            ok(memcmp(got, want, cr_bytes(&spec)) == 0, "%s: values", u->name);
    }
    cr_exec_free(e);
}

/* All parameters and the input, through the loss or a squared difference. */
static void check_gradients(struct unit *u, const struct cr_spec *out)
{
#ifdef CR_DOUBLE
    bool is_loss = u->entry->cell->targets != NULL;
    struct cr_spec label = is_loss ? u->label : *out;
    void *data = u->data[1];
    struct cr_exec *e;
    struct made m;
    struct cr_pval *g;
    int64_t i, n;

    if (!is_loss) {
        n = cr_count(out);
        data = cr_alloc(&u->arena, (size_t)n, sizeof(cr_real));
        for (i = 0; i < n; i++)
            ((cr_real *)data)[i] = (cr_real)case_random(55, i);
        label.type = CR_REAL;
    }
    if (!build(u, &m, "MSELoss", &label, data)) {
        cr_diag_print(&m.diag, stdout, (struct cr_diag_format){ 0 });
        ok(false, "%s: is built with a loss", u->name);
        return;
    }
    set_params(u, &m);
    ok(made_gradients(&m), "%s: gradients of parameters", u->name);
    e = made_exec(&m, (struct cr_exec_opts){ .training = true,
                                             .loss = true,
                                             .backward = true,
                                             .eager = true });
    cr_exec_forward(e, 1);
    cr_exec_backward(e, 1, 0);
    g = e->of[m.net->graph->feeds[0]->id]->grad;
    if (u->x.type == CR_REAL && ok(g, "%s: passes a gradient", u->name)) {
        n = cr_count(&u->x);
        data = cr_alloc(&u->arena, (size_t)n, sizeof(cr_real));
        memcpy(data, cr_pval_base(g)->data, cr_bytes(&u->x));
        ok(made_differences(&m, e, "x", u->data[0], data, n),
           "%s: gradient of the input", u->name);
    }
    cr_exec_free(e);
    made_free(&m);
#else
    (void)u;
    (void)out;
#endif
}

static void run_case(const struct entry *entry, const struct cr_node *node,
                     int64_t batch)
{
    const struct cr_node *error = cr_node_get(node, "error");
    const struct cr_node *out = cr_node_get(node, "out");
    const struct cr_node *gradient = cr_node_get(node, "gradient");
    const struct cr_node *label = cr_node_get(node, "label");
    struct unit u = { .entry = entry, .node = node, .batch = batch };
    struct cr_spec spec;
    struct made m;
    bool good;

    u.name =
        cr_strf(&u.arena, "%s, %s%s", entry->cell->about.name, case_name(node),
                batch == 0  ? ""
                : batch > 1 ? " (batch)"
                            : " (batch of one)");
    u.data[0] = case_tensor(&u.arena, cr_node_get(node, "in"), batch, 0, &u.x);
    u.data[1] = case_tensor(&u.arena, label, batch, 1, &u.label);
    if (!ok(u.data[0] != NULL, "%s: has an input", u.name))
        return;
    good = build(&u, &m, NULL, label ? &u.label : NULL, u.data[1]);
    if (error) {
        ok(!good && m.diag.first && strstr(m.diag.first->text, error->text),
           "%s: refused", u.name);
        if (m.diag.first && !strstr(m.diag.first->text, error->text))
            printf("# got: %s\n", m.diag.first->text);
    } else if (!good || m.diag.errors > 0) {
        cr_diag_print(&m.diag, stdout, (struct cr_diag_format){ 0 });
        ok(false, "%s: is built", u.name);
    } else if (set_params(&u, &m)) {
        if (out)
            check_values(&u, &m, out);
        spec = m.net->graph->output->spec;
        if (!gradient || gradient->boolean)
            check_gradients(&u, &spec);
    }
    made_free(&m);
    cr_arena_free(&u.arena);
}

int main(void)
{
    bool batches[CR_LEN(entries)] = { 0 };
    size_t i;

    for (i = 0; i < CR_LEN(entries); i++) {
        struct case_file f;

        if (case_open(&f, entries[i].kind, entries[i].leaf))
            for (CR_EACH(c, f.root)) {
                case_begin(entries[i].cell->about.name, c);
                if (!case_any_batch(c)) {
                    run_case(&entries[i], c, 0);
                    continue;
                }
                batches[i] = true;
                run_case(&entries[i], c, 3);
                run_case(&entries[i], c, 1);
            }
        case_close(&f);
    }
    test_begin("every cell and loss has a case for any batch size");
    for (i = 0; i < CR_LEN(entries); i++)
        ok(batches[i], "%s", entries[i].leaf);
    return done();
}
