#include "text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "num/rng.h"
#include "score/eval.h"

struct cr_generate {
    struct cr_arena arena;
    struct cr_config *config;
    const struct cr_vocab *vocab;
    struct cr_exec *exec;
    int64_t window;         /* length T of the window */
    int64_t classes;        /* outputs of the network; those beyond the
                               vocabulary are never sampled */
    int64_t stride;         /* from a class to the next at one position */
    int64_t step;           /* from a position to the next */
    int32_t *ids;           /* indices of the characters in the window */
    int64_t n;              /* number of characters of text in the window */
    bool tried;             /* whether the network was tested to be causal */
    struct likely *likely;
};

struct likely {
    double p;
    int64_t id;
};

/* ---- Opening */

/* The section that asks for text, or nowhere: the command does. */
static struct cr_pos generate_pos(const struct cr_config *config)
{
    const struct cr_node *section = cr_section(config, "sample");

    return section ? section->key_pos : CR_NOWHERE;
}

/* Reports an error unless a sample is a sequence of characters, one index
 * each. */
static bool generate_characters(struct cr_config *config,
                                const struct cr_column *column)
{
    const struct cr_vocab *vocab = cr_vocab_kept(config, column->name);

    return (!*vocab->joint && column->spec.rank == 1 &&
            column->spec.type == CR_I32) ||
           cr_error(config->diag, generate_pos(config), CR_E_NETWORK,
                    "the network was not trained on characters: column '%s' is "
                    "not a sequence of characters",
                    column->name);
}

/* Finds the only input column of the network; -1 after reporting an error. */
static int generate_column(struct cr_config *config,
                           const struct cr_column *columns, int n)
{
    int label = cr_label_column(config, columns, n), found = -1;

    for (int i = 0; i < n; i++) {
        if (i == label)
            continue;
        if (found >= 0) {
            cr_error(config->diag, generate_pos(config), CR_E_NETWORK,
                     "found a network with several input columns ('%s', '%s'), "
                     "expected one column of text",
                     columns[found].name, columns[i].name);
            return -1;
        }
        found = i;
    }
    if (found < 0 || !cr_vocab_kept(config, columns[found].name)) {
        cr_error(config->diag, generate_pos(config), CR_E_NETWORK,
                 "the network was not trained on characters: no vocabulary "
                 "found for '%s'",
                 found < 0 ? "tokens" : columns[found].name);
        return -1;
    }
    return generate_characters(config, &columns[found]) ? found : -1;
}

bool cr_generate_can(struct cr_config *config,
                     const struct cr_column *columns, int n_columns)
{
    return generate_column(config, columns, n_columns) >= 0;
}

/* Finds the axis of the classes and the strides of the output. */
static bool generate_output(struct cr_generate *g)
{
    struct cr_spec out;
    int axis;

    cr_exec_output(g->exec, &out);
    axis = cr_class_axis(g->config, &out);
    if (out.type != CR_REAL || out.rank != 3 || axis < 1 || axis > 2 ||
        out.dim[3 - axis] != g->window)
        return cr_error(g->config->diag, CR_NOWHERE, CR_E_SHAPE,
                        "the output is %s, expected class logits for each of "
                        "%lld characters, (1, %lld, classes)",
                        cr_diag_format(&g->arena, &out), (long long)g->window,
                        (long long)g->window);
    g->classes = out.dim[axis];
    g->stride = axis == 2 ? 1 : out.dim[2];
    g->step = axis == 2 ? out.dim[2] : 1;
    return g->classes >= g->vocab->n ||
           cr_error(g->config->diag, CR_NOWHERE, CR_E_SHAPE,
                    "the network has %lld output classes, but the vocabulary "
                    "has %lld",
                    (long long)g->classes, (long long)g->vocab->n);
}

struct cr_generate *cr_generate_open(struct cr_config *config,
                                     struct cr_net *net,
                                     const struct cr_column *columns,
                                     int n_columns, bool fixed)
{
    struct cr_exec_opts want = cr_plans_predict(1, fixed);
    int column = generate_column(config, columns, n_columns);
    struct cr_generate *g;

    if (column < 0)
        return NULL;
    g = CR_NEW(config->arena, struct cr_generate);
    g->config = config;
    g->vocab = cr_vocab_kept(config, columns[column].name);
    g->window = columns[column].spec.dim[0];
    g->ids = CR_NEWS(&g->arena, int32_t, g->window);
    g->likely = CR_NEWS(&g->arena, struct likely, g->vocab->n);
    g->exec = cr_net_exec(net, &want);
    if (g->exec && generate_output(g)) {
        cr_exec_feed(g->exec, column, g->ids);
        return g;
    }
    cr_generate_close(g);
    return NULL;
}

void cr_generate_close(struct cr_generate *g)
{
    if (!g)
        return;
    cr_exec_free(g->exec);
    g->exec = NULL;
    cr_arena_free(&g->arena);
}

/* ---- Sampling */

static void generate_push(struct cr_generate *g, int64_t id)
{
    if (g->n == g->window)
        memmove(g->ids, g->ids + 1,
                (size_t)--g->n * sizeof *g->ids);
    g->ids[g->n++] = (int32_t)id;
}

/* Length in bytes of the first character, as the vocabulary splits the text. */
static size_t generate_char(const struct cr_vocab *v, const char *text)
{
    uint32_t code;
    int len = v->token ? cr_utf8(text, strlen(text), &code) : 1;

    return len > 0 ? (size_t)len : 1;
}

/* Reads the prompt into the window. Errors name it `what` and show `pos`. */
static bool generate_prompt(struct cr_generate *g, const char *prompt,
                            struct cr_pos pos, const char *what)
{
    const char *at = prompt ? prompt : "";
    int64_t id;

    g->n = 0;
    for (; *at; at += generate_char(g->vocab, at)) {
        size_t len = generate_char(g->vocab, at);

        id = cr_vocab_find(g->vocab, at, len);
        if (id < 0)
            return cr_error(g->config->diag, pos,
                            pos.src ? CR_E_OUT_OF_RANGE : CR_E_USAGE,
                            "%s has '%s', which is not in the vocabulary of "
                            "the training text",
                            what, cr_quote(&g->arena, at, len));
        generate_push(g, id);
    }
    if (g->n == 0) { /* an empty prompt: begin a line */
        id = cr_vocab_find(g->vocab, "\n", 1);
        generate_push(g, id < 0 ? 0 : id);
    }
    return true;
}

bool cr_generate_takes(struct cr_generate *g, const char *prompt,
                       struct cr_pos pos, const char *what)
{
    return generate_prompt(g, prompt, pos, what);
}

/* Runs the network and returns the logits for the character after the text, or
 * NULL after reporting an error. The rest of the window is filled with
 * `rest`. */
static const cr_real *generate_forward(struct cr_generate *g, int32_t rest)
{
    struct cr_diag *diag = g->config->diag;
    struct cr_spec out;

    for (int64_t i = g->n; i < g->window; i++)
        g->ids[i] = rest;
    if (!cr_exec_check(g->exec, diag, NULL))
        return NULL;
    cr_exec_forward(g->exec, 0);
    if (!cr_exec_check_faults(g->exec, diag))
        return NULL;
    return cr_exec_output(g->exec, &out) + (g->n - 1) * g->step;
}

/* Whether the logits for the next character do not depend on the rest of the
 * window; false after reporting an error. */
static bool generate_causal(struct cr_generate *g)
{
    double *before = CR_NEWS(&g->arena, double, g->classes);
    const cr_real *y = generate_forward(g, (int32_t)(g->vocab->n - 1));
    double most = 0;

    for (int64_t c = 0; y && c < g->classes; c++)
        before[c] = (double)y[c * g->stride];
    y = y ? generate_forward(g, 0) : NULL;
    for (int64_t c = 0; y && c < g->classes; c++)
        most = fmax(most, fabs((double)y[c * g->stride] - before[c]) /
                              (1 + fabs(before[c])));
    if (!y || most <= 1e-3)
        return y != NULL;
    return cr_error(
        g->config->diag, CR_NOWHERE, CR_E_NETWORK,
        "the network is not causal: the output for a character depends on "
        "later characters (pass attn_mask=causal_mask(x) to attention)");
}

/* Sorts by descending probability; equal ones by index. */
static int generate_order(const void *a, const void *b)
{
    const struct likely *x = a, *y = b;

    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Samples from softmax(logits / temperature), limited to top_k and top_p. u is
 * uniform in [0, 1). Returns -1 if the logits are not finite. */
static int64_t generate_draw(struct cr_generate *g, const cr_real *y,
                             const struct cr_sampling_opts *how, double u)
{
    int64_t n = g->vocab->n, i;
    double sum = 0, kept = 0;

    for (i = 0; i < n; i++) {
        g->likely[i] = (struct likely){ (double)y[i * g->stride], i };
        if (!isfinite(g->likely[i].p))
            return -1;
    }
    qsort(g->likely, (size_t)n, sizeof *g->likely, generate_order);
    if (how->temperature == 0)
        return g->likely[0].id;
    for (i = n; i-- > 0;)
        g->likely[i].p =
            exp((g->likely[i].p - g->likely[0].p) / how->temperature);
    if (how->top_k != CR_INT_NONE && how->top_k < n)
        n = how->top_k;
    for (i = 0; i < n; i++)
        sum += g->likely[i].p;
    for (i = 0; i < n && kept < how->top_p * sum; i++)
        kept += g->likely[i].p;
    n = i > 0 ? i : 1;
    u *= how->top_p < 1 ? kept : sum;
    for (i = 0; i < n - 1 && u >= g->likely[i].p; i++)
        u -= g->likely[i].p;
    return g->likely[i].id;
}

static bool generate_put(const struct cr_generate *g, int64_t id,
                         bool (*put)(void *ctx, const char *text, size_t len),
                         void *ctx)
{
    char byte = (char)id;

    if (!g->vocab->token)
        return put(ctx, &byte, 1);
    return put(ctx, g->vocab->token[id], strlen(g->vocab->token[id]));
}

bool cr_generate_text(struct cr_generate *g, const struct cr_sampling_opts *how,
                      uint64_t seed, uint64_t key,
                      bool (*put)(void *ctx, const char *text, size_t len),
                      void *ctx, bool *finite)
{
    struct cr_rng rng = cr_rng(seed, CR_STREAM_TEXT, key, 0);

    *finite = true;
    if (!generate_prompt(g, how->prompt, CR_NOWHERE, "the prompt"))
        return false;
    if (!g->tried && g->n < g->window && !generate_causal(g))
        return false;
    g->tried = true;
    if (how->prompt && *how->prompt &&
        !put(ctx, how->prompt, strlen(how->prompt)))
        return true;
    for (int64_t i = 0; i < how->length; i++) {
        const cr_real *y = generate_forward(g, 0);
        int64_t id;

        if (!y)
            return false;
        id = generate_draw(g, y, how, cr_rng_double(&rng, (uint64_t)i));
        if (id < 0) {
            *finite = false;
            break;
        }
        if (!generate_put(g, id, put, ctx))
            break;
        generate_push(g, id);
    }
    return true;
}
