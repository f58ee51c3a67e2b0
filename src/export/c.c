/*
 * Export to C: one file with the weights and a function that computes the
 * network for one sample after another.
 *
 * Shapes are those of a batch of one sample, so an op must not mix samples.
 * Values and weights become arrays named by their numbers; ops become calls of
 * the functions in c_code.c, or loops.
 */
#include "export/c.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/table.h"
#include "base/version.h"
#include "export/c_code.h"
#include "graph/graph.h"

bool cr_c_no(struct cr_c *c, const char *why)
{
    const struct cr_inference_node *n = c->node;

    return cr_error(c->e->diag, n->pos, CR_E_NETWORK,
                    "export to C: op '%s' of %s%s%s (%s): %s; use --to onnx",
                    n->op->about.name, n->cell[0] ? "cell '" : "the network",
                    n->cell, n->cell[0] ? "'" : "", n->type, why);
}

/* ---- Values */

const struct cr_inference_val *cr_c_val(const struct cr_c *c, int i)
{
    return i < c->node->n_in && c->node->in[i] >= 0
               ? &c->graph->vals[c->node->in[i]]
               : NULL;
}

const struct cr_inference_val *cr_c_result(const struct cr_c *c)
{
    return &c->graph->vals[c->node->out[0]];
}

/* The shape for one sample. */
static struct cr_spec c_spec(const struct cr_inference_val *v)
{
    struct cr_spec s = v->spec;

    for (int i = 0; i < s.rank; i++)
        s.dim[i] = v->fixed[i] + v->per_sample[i];
    return s;
}

int64_t cr_c_dim(const struct cr_inference_val *v, int i)
{
    return v->fixed[i] + v->per_sample[i];
}

int64_t cr_c_count(const struct cr_inference_val *v, int from, int to)
{
    int64_t n = 1;

    for (int i = from; i < to; i++)
        n *= cr_c_dim(v, i);
    return n;
}

int64_t cr_c_all(const struct cr_inference_val *v)
{
    return cr_c_count(v, 0, v->spec.rank);
}

const char *cr_c_number(struct cr_c *c, double v)
{
    float f = (float)v;

    if (isnan(f))
        return "NAN";
    if (isinf(f))
        return f > 0 ? "INFINITY" : "-INFINITY";
    return cr_strf(c->arena, "%.9g%sf", (double)f,
                   f == floorf(f) && fabsf(f) < 1e9f ? ".0" : "");
}

/* The text of a comment, without its ends and without trigraphs. */
static const char *c_comment(struct cr_c *c, const char *text)
{
    char *safe = cr_strdup(c->arena, cr_escape(c->arena, text));

    for (char *at = safe; *at; at++)
        if ((*at == '*' && at[1] == '/') || (*at == '/' && at[1] == '*') ||
            (*at == '?' && at[1] == '?' && at[2] && strchr("=/'()!<>-", at[2])))
            *at = ' ';
    return safe;
}

/* Appends an array of constants; integers become real numbers, as in all ops
 * that take both. */
static void c_constants(struct cr_c *c, const char *name,
                        const struct cr_inference_val *v)
{
    struct cr_spec s = c_spec(v);
    int64_t n = cr_count(&s);
    size_t width = cr_type_size(v->spec.type);

    cr_buf_f(&c->data, "/* %s: %s */\nstatic const float %s[] = {",
             c_comment(c, v->name), cr_diag_format(c->arena, &s), name);
    for (int64_t i = 0; i < n; i++) {
        const char *at = (const char *)v->data + (size_t)i * width;
        double x;

        cr_convert(v->spec.type, at, CR_F64, &x, 1);
        cr_buf_str(&c->data, i % 5 == 0 ? "\n    " : " ");
        if (isfinite((float)x))
            cr_buf_f(&c->data, "%af,", (double)(float)x);
        else
            cr_buf_f(&c->data, "%s,", cr_c_number(c, x));
    }
    cr_buf_str(&c->data, "\n};\n\n");
}

/* The array of a value. Constants are written when they are first read. */
static const char *c_name(struct cr_c *c, int val)
{
    const struct cr_inference_val *v = &c->graph->vals[val];

    if (!c->name[val] && v->data) {
        c->name[val] = cr_strf(c->arena, "w%d", c->n_weights++);
        c_constants(c, c->name[val], v);
    }
    return c->name[val];
}

const char *cr_c_in(struct cr_c *c, int i)
{
    return cr_c_val(c, i) ? c_name(c, c->node->in[i]) : "NULL";
}

/* Declares the array of the result. */
const char *cr_c_out(struct cr_c *c)
{
    const struct cr_inference_val *v = cr_c_result(c);
    int val = c->node->out[0];
    struct cr_spec s = c_spec(v);

    if (!c->name[val]) {
        c->name[val] = cr_strf(c->arena, "v%d", val);
        cr_buf_f(&c->data, "static float %s[%" PRId64 "]; /* %s: %s */\n",
                 c->name[val], cr_count(&s) > 0 ? cr_count(&s) : 1,
                 c_comment(c, v->name), cr_diag_format(c->arena, &s));
    }
    return c->name[val];
}

const char *cr_c_list(struct cr_c *c, int n, const int64_t *v)
{
    struct cr_buf to = { .arena = c->arena };

    for (int i = 0; i < n; i++)
        cr_buf_f(&to, "%s%" PRId64, i > 0 ? ", " : "", v[i]);
    return cr_buf_text(&to);
}

void cr_c_call(struct cr_c *c, const char *function, const char *args)
{
    size_t indent = strlen(function) + 5, column = indent;

    for (int i = 0; cr_c_functions[i].name; i++)
        if (strcmp(cr_c_functions[i].name, function) == 0)
            c->used[i] = true;
    cr_buf_f(&c->code, "    %s(", function);
    for (size_t len; *args; args += len) {
        len = strcspn(args, " ");
        if (column > indent && column + len > 78) {
            cr_buf_f(&c->code, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            cr_buf_char(&c->code, ' ');
        }
        cr_buf_add(&c->code, args, len);
        column += len + 1;
        len += args[len] == ' ';
    }
    cr_buf_str(&c->code, ");\n");
}

int cr_c_axis(struct cr_c *c, const struct cr_inference_val *v,
                  int64_t axis)
{
    axis += axis < 0 ? v->spec.rank : 0;
    if (v->per_sample[axis] == 0)
        return (int)axis;
    cr_c_no(c, "it mixes samples");
    return -1;
}

bool cr_c_apart(struct cr_c *c, const struct cr_inference_val *v,
                    int dims)
{
    for (int i = v->spec.rank - dims; i < v->spec.rank; i++)
        if (cr_c_axis(c, v, i) < 0)
            return false;
    return true;
}

int cr_c_samples(const struct cr_inference_val *v)
{
    int at = v->spec.rank;

    for (int i = 0; i < v->spec.rank; i++)
        if (v->per_sample[i] != 0) {
            if (at < v->spec.rank)
                return -1;
            at = i;
        }
    return at;
}

const char *cr_c_index(struct cr_c *c, const struct cr_inference_val *v,
                           int rank)
{
    struct cr_buf at = { .arena = c->arena };

    for (int i = 0; i < v->spec.rank; i++)
        if (cr_c_dim(v, i) > 1)
            cr_buf_f(&at, "%si%d * %" PRId64, at.len > 0 ? " + " : "",
                     i + rank - v->spec.rank,
                     cr_c_count(v, i + 1, v->spec.rank));
    return at.len > 0 ? cr_buf_text(&at) : "0";
}

void cr_c_loops(struct cr_c *c, const struct cr_inference_val *y)
{
    for (int i = 0; i < y->spec.rank; i++)
        if (cr_c_dim(y, i) != 1)
            cr_buf_f(&c->code,
                     "    for (int i%d = 0; i%d < %" PRId64 "; i%d++)\n", i, i,
                     cr_c_dim(y, i), i);
}

static const struct cr_c_emitter *c_find(const char *op)
{
    static const struct cr_c_emitter *const tables[] = { cr_c_elementwise,
                                                         cr_c_shape,
                                                         cr_c_layers };

    for (size_t i = 0; i < CR_LEN(tables); i++)
        for (const struct cr_c_emitter *e = tables[i]; e->op; e++)
            if (strcmp(e->op, op) == 0)
                return e;
    return NULL;
}

static bool c_node(struct cr_c *c, const struct cr_inference_node *node)
{
    const struct cr_c_emitter *e = c_find(node->op->about.name);

    c->node = node;
    if (node->op == &cr_op_fake_cast)
        return cr_c_no(c, "it rounds to low precision, which C has not: set "
                          "amp.level=O0, and no to_float");
    if (!e)
        return cr_c_no(c, "it has no C form");
    if (node->attr_varies && !e->reads_shapes)
        return cr_c_no(c, "an attribute depends on the batch size");
    for (int i = 0; i < node->n_in; i++)
        if (cr_c_val(c, i) && cr_c_val(c, i)->spec.type != CR_REAL &&
            !cr_c_val(c, i)->data && !e->integers)
            return cr_c_no(c, "it reads integers");
    for (int i = 0; i < node->n_out; i++) {
        const struct cr_inference_val *y = &c->graph->vals[node->out[i]];

        if (y->spec.type != CR_REAL && !e->integers)
            return cr_c_no(c, "its results are integers");
        if (cr_c_samples(y) < 0)
            return cr_c_no(c, "it mixes samples");
        if (cr_c_all(y) > INT32_MAX / 8)
            return cr_c_no(c, "its result is too large");
    }
    cr_buf_f(&c->code, "    /* %s%s%s */\n", c_comment(c, node->cell),
             node->cell[0] ? ": " : "", e->op);
    return e->emit(c, e->arg);
}

/* ---- The file */

/* "lenet" of "runs/lenet.c", "network" of standard output; characters not
 * allowed in C identifiers become _. */
static const char *c_stem(struct cr_arena *arena, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    char *name = cr_strdup(arena, standard ? "network"
                                           : cr_path_stem(arena, path));

    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) || (unsigned char)*at > 127)
            *at = '_';
    return isalpha((unsigned char)*name) ? name
                                         : cr_strf(arena, "net_%s", name);
}

static void c_shapes(struct cr_c *c, struct cr_buf *to, const char *what,
                     const struct cr_inference_val *v, const char *name,
                     int64_t *at)
{
    struct cr_spec s = c_spec(v);

    cr_buf_f(to, " *   %s[%" PRId64 " .. %" PRId64 "]: %s %s%s\n", what, *at,
             *at + cr_count(&s) - 1, c_comment(c, name),
             cr_diag_format(c->arena, &s),
             s.type == CR_REAL ? "" : " of integers");
    *at += cr_count(&s);
}

static void c_head(struct cr_c *c, struct cr_buf *to, const char *name,
                   int64_t *n_in, int64_t *n_out)
{
    const char *class;

    cr_buf_f(to,
             "/*\n * A network, written by cellrun " CR_VERSION
             " export --to c.\n *\n"
             " * %s_predict computes n samples, which follow one another in x "
             "and y;\n * it returns 0. One call at a time: its buffers are "
             "static.\n",
             name);
    for (int i = 0; i < c->graph->n_inputs; i++) {
        const struct cr_inference_val *v = &c->graph->vals[c->graph->inputs[i]];

        c_shapes(c, to, "x", v, v->name, n_in);
    }
    for (int i = 0; i < c->graph->n_results; i++) {
        const struct cr_inference_result *r = &c->graph->results[i];

        c_shapes(c, to, "y", &c->graph->vals[r->val], r->name, n_out);
    }
    cr_buf_str(to, " * Inputs are numbers as the datapipe gives them.\n");
    for (int64_t i = 0; (class = cr_model_class_name(&c->e->model, i)); i++)
        cr_buf_f(to, " * class %" PRId64 ": %s\n", i, c_comment(c, class));
    cr_buf_f(to,
             " *\n * cc -std=c99 -O3 -c %s.c\n"
             " * cc -std=c99 -O3 -D%s_MAIN %s.c -lm   reads rows of x, "
             "prints rows of y\n */\n#include <math.h>\n#include <stddef.h>\n"
             "\nenum { %s_inputs = %" PRId64 ", %s_outputs = %" PRId64
             " };\n\n#ifdef __cplusplus\n#define restrict __restrict\n"
             "extern \"C\"\n#endif\n"
             "int %s_predict(const float *x, int n, float *y);\n\n",
             name, name, name, name, *n_in, name, *n_out, name);
}

static void c_tail(struct cr_buf *to, const char *name)
{
    cr_buf_f(to,
             "\nint %s_predict(const float *x, int n, float *y)\n{\n"
             "    for (int i = 0; i < n; i++)\n"
             "        sample(x + (size_t)i * %s_inputs,\n"
             "               y + (size_t)i * %s_outputs);\n"
             "    return 0;\n}\n\n#ifdef %s_MAIN\n#include <stdio.h>\n\n"
             "int main(void)\n{\n"
             "    static float x[%s_inputs], y[%s_outputs];\n"
             "    int n = 0;\n\n"
             "    while (scanf(\"%%f\", &x[n]) == 1) {\n"
             "        int c = getchar();\n\n"
             "        if (c != ',')\n            ungetc(c, stdin);\n"
             "        if (++n < %s_inputs)\n            continue;\n"
             "        n = 0;\n        %s_predict(x, 1, y);\n"
             "        for (int i = 0; i < %s_outputs; i++)\n"
             "            printf(\"%%s%%.9g\", i > 0 ? \"\\t\" : \"\", "
             "(double)y[i]);\n"
             "        putchar('\\n');\n    }\n"
             "    if (n != 0 || !feof(stdin)) {\n"
             "        fprintf(stderr, \"expected rows of %%d numbers\\n\", "
             "%s_inputs);\n        return 1;\n    }\n"
             "    return fflush(stdout) != 0 || ferror(stdout);\n}\n#endif\n",
             name, name, name, name, name, name, name, name, name, name);
}

static bool c_inputs(struct cr_c *c)
{
    int64_t at = 0;

    if (c->graph->n_inputs == 0)
        return cr_error(c->e->diag, CR_NOWHERE, CR_E_NETWORK,
                        "export to C: the output depends on no input");
    for (int i = 0; i < c->graph->n_inputs; i++) {
        int val = c->graph->inputs[i];
        const struct cr_inference_val *v = &c->graph->vals[val];

        c->name[val] = cr_strf(c->arena, "x%d", i);
        cr_buf_f(&c->code, "    const float *x%d = x + %" PRId64 ";\n", i, at);
        at += cr_c_all(v);
    }
    cr_buf_char(&c->code, '\n');
    return true;
}

static void c_results(struct cr_c *c)
{
    int64_t at = 0;

    for (int i = 0; i < c->graph->n_results; i++) {
        int val = c->graph->results[i].val;
        int64_t n = cr_c_all(&c->graph->vals[val]);

        cr_buf_f(&c->code,
                 "    for (int i = 0; i < %" PRId64 "; i++)\n"
                 "        y[%" PRId64 " + i] = %s[i];\n",
                 n, at, c_name(c, val));
        at += n;
    }
}

static bool c_write(struct cr_export *e)
{
    struct cr_c c = { .e = e,
                        .arena = e->arena,
                        .graph = e->graph,
                        .data = { .arena = e->arena },
                        .code = { .arena = e->arena } };
    struct cr_buf file = { .arena = e->arena };
    const char *name = c_stem(e->arena, e->o->out);
    int64_t n_in = 0, n_out = 0;
    int n = 0;

    if (e->o->normalize || e->dtype == CR_F16 || e->dtype == CR_BF16)
        return cr_error(e->diag, CR_NOWHERE, CR_E_USAGE,
                        "--to c: the file has float32 weights and no "
                        "transforms; omit --normalize and --dtype");
    while (cr_c_functions[n].name)
        n++;
    c.used = CR_NEWS(e->arena, bool, n);
    c.name = CR_NEWS(e->arena, const char *, e->graph->n_vals + 1);
    if (!c_inputs(&c))
        return false;
    for (int i = 0; i < e->graph->n_nodes; i++)
        if (!c_node(&c, &e->graph->nodes[i]))
            return false;
    c_results(&c);
    c_head(&c, &file, name, &n_in, &n_out);
    cr_buf_add(&file, cr_buf_text(&c.data), c.data.len);
    for (int i = 0; i < n; i++)
        if (c.used[i])
            cr_buf_f(&file, "\n%s", cr_c_functions[i].text);
    cr_buf_str(&file, "\nstatic void sample(const float *x, float *y)\n{\n");
    cr_buf_add(&file, cr_buf_text(&c.code), c.code.len);
    cr_buf_str(&file, "}\n");
    c_tail(&file, name);
    if (!cr_write_file(e->diag, e->o->out, file.text, file.len))
        return false;
    if (e->cli->json)
        printf("{\"inputs\": %" PRId64 ", \"outputs\": %" PRId64
               ", \"bytes\": %zu}\n",
               n_in, n_out, file.len);
    else if (cr_cli_says(e->cli, e->o->out))
        printf("%s: %s_predict, %" PRId64 " inputs, %" PRId64 " outputs\n",
               cr_escape(e->arena, e->o->out), name, n_in, n_out);
    return true;
}

const struct cr_export_format cr_export_c = {
    .name = "c", .suffix = ".c", .network = true, .write = c_write
};
