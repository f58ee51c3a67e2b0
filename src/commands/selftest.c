/*
 * selftest: verifies that this build computes correctly on this machine.
 *
 *   products      the kernels chosen for this processor against naive loops
 *   gradients     of every cell and loss, in the network of its example,
 *                 against central differences
 *   threads       three updates give the same bytes with one thread and all
 *   checkpoint    a checkpoint is read back, training continues exactly, and
 *                 a changed bit is detected
 */
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/signals.h"
#include "base/str.h"
#include "base/thread_pool.h"
#include "ckpt/load.h"
#include "graph/cell.h"
#include "kernels/blas.h"
#include "model/model.h"
#include "num/low_precision.h"
#include "num/rng.h"

struct selftest {
    bool quick;
    const char *cell;
};

static const struct cr_opt selftest_opts[] = {
    CR_BOOL_DEFAULT(struct selftest, quick, false,
                    "Check a few elements of each gradient instead of all."),
    CR_STR_OPTIONAL(struct selftest, cell,
                    "Only the gradients of this cell or "
                    "loss.",
                    .text = "NAME"),
    { 0 },
};

struct job {
    struct cr_cli *cli;
    const struct selftest *o;
    struct cr_buf json;
    int passed, failed;
};

/* Prints the result of a test; `why` NULL: it passed. */
static void selftest_says(struct job *j, const char *name, const char *why)
{
    if (why)
        j->failed++;
    else
        j->passed++;
    if (j->cli->json) {
        cr_buf_str(&j->json, j->json.len > 0 ? ", {\"name\": " : "{\"name\": ");
        cr_buf_json(&j->json, name);
        cr_buf_str(&j->json,
                   why ? ", \"ok\": false, \"why\": " : ", \"ok\": true}");
        if (why) {
            cr_buf_json(&j->json, why);
            cr_buf_char(&j->json, '}');
        }
    } else if (why) {
        printf("FAILED  %s: %s\n", name, why);
    } else if (!j->cli->quiet) {
        printf("ok      %s\n", name);
    }
    fflush(stdout);
}

/* Absolute value in [0.2, 1.2], random sign: away from kinks at 0. */
static double selftest_number(uint64_t key, int64_t i)
{
    struct cr_rng rng = cr_rng(1, CR_STREAM_TEST, key, 0);
    double u = 2 * cr_rng_double(&rng, (uint64_t)i) - 1;

    return u < 0 ? u - 0.2 : u + 0.2;
}

static cr_real *selftest_numbers(struct cr_arena *arena, int64_t n,
                                 uint64_t key)
{
    cr_real *x = CR_NEWS(arena, cr_real, n + 1);
    int64_t i;

    for (i = 0; i < n; i++)
        x[i] = (cr_real)selftest_number(key, i);
    return x;
}

/* Values 1 and 2, or 1 to 3 in every other column: valid classes of every
 * loss, none of them special (0 is the blank of CTC). Other types stay 0. */
static void *selftest_integers(struct cr_arena *arena, enum cr_type type,
                               int64_t n, int column)
{
    int32_t *x = cr_alloc(arena, (size_t)n + 1, 8);
    int64_t i;

    for (i = 0; i < n && type == CR_I32; i++)
        x[i] = (int32_t)(1 + i % (column % 2 ? 2 : 3));
    return x;
}

/* ---- Matrix products */

/* The largest error of c = relu(op(a) op(b) + bias), relative to the bound of
 * rounding. */
static double selftest_gemm(const struct cr_gemm *g)
{
    double worst = 0;
    int64_t i, k, l;

    cr_gemms(g, 1);
    for (i = 0; i < g->m; i++)
        for (k = 0; k < g->n; k++) {
            double sum = (double)g->bias[k], size = fabs(sum), apart;

            for (l = 0; l < g->k; l++) {
                double term =
                    (double)g->a[g->ta == CR_N ? i * g->k + l : l * g->m + i] *
                    (double)g->b[g->tb == CR_N ? l * g->n + k : k * g->k + l];

                sum += term;
                size += fabs(term);
            }
            sum = sum < 0 ? 0 : sum;
            apart = fabs((double)g->c[i * g->n + k] - sum);
            worst = fmax(worst, apart / (size * (double)CR_REAL_EPS * 8));
        }
    return worst;
}

/* low: in bfloat16, by its own instructions. */
static void selftest_products(struct job *j, bool low)
{
    static const int64_t sizes[][3] = { { 1, 1, 1 },
                                        { 3, 5, 7 },
                                        { 17, 33, 65 },
                                        { 64, 10, 512 },
                                        { 5, 130, 200 } };
    const char *why = NULL;
    size_t i;
    int t;

    for (i = 0; i < CR_LEN(sizes); i++)
        for (t = 0; t < 4; t++) {
            struct cr_arena mem = { 0 };
            int64_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
            cr_real *a = selftest_numbers(&mem, m * k, 1);
            cr_real *b = selftest_numbers(&mem, k * n, 2);
            struct cr_gemm g = { .ta = t & 1 ? CR_T : CR_N,
                                 .tb = t & 2 ? CR_T : CR_N,
                                 .m = m,
                                 .n = n,
                                 .k = k,
                                 .a = a,
                                 .b = b,
                                 .alpha = 1,
                                 .c = selftest_numbers(&mem, m * n, 3),
                                 .bias = selftest_numbers(&mem, n, 4),
                                 .act = CR_ACT_RELU,
                                 .bf16 = low };

            if (low) {
                cr_round_to_type(CR_BF16, m * k, a, a);
                cr_round_to_type(CR_BF16, k * n, b, b);
            }
            if (!(selftest_gemm(&g) < 1))
                why =
                    cr_strf(j->cli->arena,
                            "%" PRId64 " x %" PRId64 " x %" PRId64 " is wrong",
                            m, n, k);
            cr_arena_free(&mem);
        }
    selftest_says(j,
                  low ? "products of bfloat16 (avx512_bf16)"
                      : cr_strf(j->cli->arena, "products (%s)", cr_blas_name()),
                  why);
}

/* ---- Networks from text, with data */

struct made {
    struct cr_arena arena;
    struct cr_diag diag;
    struct cr_model model;
    void **data;
};

#define BATCH 5

/* `x`: spec of the input if the text does not define it; else NULL. */
static bool made_net(struct made *m, const char *text, uint64_t seed,
                     const struct cr_column *x)
{
    const struct cr_config_from from = { .text = text,
                                         .text_name = "selftest",
                                         .text_dir = "." };
    int c;

    *m = (struct made){ .model = { .seed = seed, .batch = BATCH } };
    m->model.columns = x;
    m->model.n_columns = x != NULL;
    m->diag.arena = &m->arena;
    m->model.config = cr_config_load(&m->arena, &m->diag, &from);
    if (m->diag.errors > 0 || !cr_model_inspect(&m->model, BATCH, true))
        return false;
    m->data = CR_NEWS(&m->arena, void *, m->model.n_columns + 1);
    for (c = 0; c < m->model.n_columns; c++) {
        const struct cr_spec *spec = &m->model.columns[c].spec;
        int64_t n = BATCH * cr_count(spec);

        m->data[c] =
            spec->type == CR_REAL
                ? (void *)selftest_numbers(&m->arena, n, 10 + (uint64_t)c)
                : selftest_integers(&m->arena, spec->type, n, c);
    }
    return true;
}

static void made_free(struct made *m)
{
    cr_arena_free(&m->arena);
}

static const char *made_why(struct made *m, struct cr_arena *arena)
{
    return m->diag.first ? cr_strdup(arena, m->diag.first->text)
                         : "it cannot be built";
}

static struct cr_exec *made_exec(struct made *m, struct cr_exec_opts want)
{
    struct cr_exec *e;
    int c;

    want.training = want.loss = true;
    want.batch = BATCH;
    e = cr_net_exec(m->model.net, &want);
    for (c = 0; e && c < m->model.n_columns; c++)
        cr_exec_feed(e, c, m->data[c]);
    return e;
}

static void made_steps(struct made *m, int64_t from, int64_t to)
{
    struct cr_exec *e = made_exec(m, (struct cr_exec_opts){ .update = true });
    int64_t t;

    for (t = from; t <= to; t++) {
        cr_exec_forward(e, t);
        cr_exec_backward(e, 1, 0.05);
    }
    cr_exec_free(e);
}

/* Parameters, followed by slots. */
static struct cr_tensor *made_tensors(struct made *m, int *n)
{
    int n_params, n_slots, i;
    const struct cr_param *p = cr_net_params(m->model.net, &n_params);
    const struct cr_tensor *slots = cr_net_slots(m->model.net, &n_slots);
    struct cr_tensor *all =
        CR_NEWS(&m->arena, struct cr_tensor, n_params + n_slots + 1);

    for (i = 0; i < n_params; i++)
        all[i] = (struct cr_tensor){ p[i].name, p[i].spec, p[i].data };
    for (i = 0; i < n_slots; i++)
        all[n_params + i] = slots[i];
    *n = n_params + n_slots;
    return all;
}

static bool made_equal(struct made *a, struct made *b)
{
    int i, n, other;
    struct cr_tensor *x = made_tensors(a, &n), *y = made_tensors(b, &other);

    for (i = 0; i < n; i++)
        if (memcmp(x[i].data, y[i].data, cr_bytes(&x[i].spec)) != 0)
            return false;
    return n == other;
}

/* ---- Gradients */

/* Steps tried in turn: a smaller step may avoid a kink that a larger one
 * crosses; a wrong gradient fits none. */
#ifdef CR_DOUBLE
static const double selftest_step[] = { 1e-5, 1e-6 };
#define TOLERANCE 1e-5
#define ROUNDING (4 * DBL_EPSILON)
#else
static const double selftest_step[] = { 1e-2, 2.5e-3, 6e-4, 1.5e-4 };
#define TOLERANCE 2e-2
#define ROUNDING (4 * FLT_EPSILON)
#endif
#define QUICK 16 /* number of elements tested per parameter */

/* The loss that is differentiated: the sum of its elements. */
static double selftest_loss(struct cr_exec *e)
{
    int i, n;
    const struct cr_tensor *t = cr_exec_kept(e, &n);
    double sum = 0;
    int64_t k;

    cr_exec_forward(e, 1);
    for (i = 0; i < n; i++)
        for (k = 0; strcmp(t[i].name, "loss") == 0 && k < cr_count(&t[i].spec);
             k++)
            sum += (double)((const cr_real *)t[i].data)[k];
    return sum;
}

/* Rounding error of the loss: the elements' errors are independent. */
static double selftest_noise(struct cr_exec *e)
{
    int i, n;
    const struct cr_tensor *t = cr_exec_kept(e, &n);
    double squares = 0, x;
    int64_t k;

    for (i = 0; i < n; i++)
        for (k = 0; strcmp(t[i].name, "loss") == 0 && k < cr_count(&t[i].spec);
             k++) {
            x = (double)((const cr_real *)t[i].data)[k];
            squares += x * x;
        }
    return ROUNDING * sqrt(squares);
}

static bool selftest_near(double g, double want)
{
    return isfinite(want) && fabs(g - want) <= TOLERANCE * fmax(1, fabs(want));
}

/* Whether g is the slope of the loss at x: between both one-sided slopes or,
 * if a kink (a ReLU of one sample among many) is within the step on one side,
 * equal to the other; or, within the rounding error of the loss, the mean of
 * both. `here`: the loss at x. */
static bool selftest_slope(struct cr_exec *e, cr_real *x, double step,
                           double here, double noise, double g, double *want)
{
    cr_real old = *x, high = (cr_real)((double)old + step),
            low = (cr_real)((double)old - step);
    double up, down;

    *x = high;
    up = selftest_loss(e);
    *x = low;
    down = selftest_loss(e);
    *x = old;
    *want = (up - down) / ((double)high - (double)low);
    return selftest_near(g, *want) ||
           selftest_near(g, (up - here) / ((double)high - (double)old)) ||
           selftest_near(g, (here - down) / ((double)old - (double)low)) ||
           fabs(g - *want) <= TOLERANCE + noise / ((double)high - (double)low);
}

/* Tests the gradient of one parameter; NULL: it is correct. */
static const char *selftest_param(struct job *j, struct cr_exec *e,
                                  const struct cr_param *p, const cr_real *g)
{
    int64_t i, n = cr_count(&p->spec);
    int64_t stride = j->o->quick && n > QUICK ? n / QUICK : 1;
    double here = selftest_loss(e), noise = selftest_noise(e), want = 0;
    size_t k;

    for (i = 0; i < n; i += stride) {
        for (k = 0; k < CR_LEN(selftest_step); k++) {
            if (selftest_slope(e, &p->data[i], selftest_step[k], here,
                               noise, (double)g[i], &want))
                break;
        }
        if (k == CR_LEN(selftest_step))
            return cr_strf(j->cli->arena,
                           "element %" PRId64 " of %s is %.6g, finite "
                           "differences give %.6g",
                           i, p->name, (double)g[i], want);
    }
    return NULL;
}

static const char *selftest_net(struct job *j, struct made *m)
{
    struct cr_exec *e = made_exec(
        m, (struct cr_exec_opts){ .backward = true, .keep_outputs = true });
    const char *why = NULL;
    const struct cr_tensor *t;
    struct cr_param *p;
    cr_real **g;
    int i, k, n, n_kept;

    if (!e)
        return "it cannot be planned";
    p = cr_net_params(m->model.net, &n);
    g = CR_NEWS(&m->arena, cr_real *, n + 1);
    cr_exec_forward(e, 1);
    cr_exec_backward(e, 1, 0);
    t = cr_exec_kept(e, &n_kept);
    for (i = 0; i < n; i++) /* the next forward pass overwrites gradients */
        for (k = 0; k < n_kept; k++)
            if (cr_starts(t[k].name, "grad.") &&
                strcmp(t[k].name + strlen("grad."), p[i].name) == 0) {
                g[i] = cr_alloc(&m->arena, 1, cr_bytes(&p[i].spec));
                memcpy(g[i], t[k].data, cr_bytes(&p[i].spec));
            }
    for (i = 0; i < n && !why; i++)
        if (p[i].trained)
            why = g[i] ? selftest_param(j, e, &p[i], g[i])
                       : "a parameter has no gradient";
    cr_exec_free(e);
    return why;
}

/* Builds the network of an example. If the example defines no input, the first
 * of these specs that fits is used. */
static bool selftest_make(struct made *m, const char *text)
{
    static const struct cr_column x[] = {
        { "x", { .rank = 3, .dim = { 4, 8, 8 } } },
        { "x", { .rank = 2, .dim = { 4, 8 } } },
        { "x", { .rank = 2, .dim = { 2, 9 } } },
        { "x", { .rank = 3, .dim = { 2, 6, 6 } } },
        { "x", { .rank = 4, .dim = { 2, 5, 5, 5 } } },
        { "x", { .rank = 3, .dim = { 3, 9, 9 } } },
        { "x", { .rank = 3, .dim = { 6, 6, 6 } } },
        { "x", { .rank = 3, .dim = { 1, 28, 28 } } },
        { "x", { .rank = 3, .dim = { 16, 5, 5 } } },
        { "x", { .rank = 4, .dim = { 16, 4, 4, 4 } } },
        { "x", { .rank = 3, .dim = { 64, 3, 3 } } },
        { "x", { .rank = 2, .dim = { 64, 5 } } },
        { "x", { .rank = 2, .dim = { 28, 28 } } },
        { "x", { .rank = 1, .dim = { 64 } } },
        { "x", { .type = CR_I32, .rank = 1, .dim = { 6 } } },
        { "x", { .type = CR_I32 } },
    };
    size_t i;

    if (made_net(m, text, 3, NULL) && m->model.loss)
        return true;
    for (i = 0; i < CR_LEN(x); i++) {
        struct made other;

        bool fits = made_net(&other, text, 3, &x[i]) && other.model.loss;

        made_free(&other);
        if (fits) { /* rebuilt in place, because it contains pointers to
                       itself */
            made_free(m);
            return made_net(m, text, 3, &x[i]);
        }
    }
    return false;
}

/* The first example of a type. */
static const char *selftest_example(struct cr_arena *arena,
                                    const struct cr_descriptor *about)
{
    const char *end = strstr(about->example, "---\n");

    return end ? cr_strndup(arena, about->example,
                            (size_t)(end - about->example))
               : about->example;
}

/* Tests the gradients of a cell or loss by its example. A cell is followed by
 * squared errors that are summed in double here, because a float32 sum would
 * hide small ones. A loss needs a network: that of its example, or a layer. */
static void selftest_gradients(struct job *j, const struct cr_descriptor *about,
                               bool loss)
{
    const char *example = selftest_example(j->cli->arena, about);
    const char *text =
        cr_strf(j->cli->arena, "%s%s",
                !loss ? "loss: {MSELoss: {reduction: none}}\n"
                : strstr(example, "network:") ? ""
                                              : "network: {Dense: [6, 4]}\n",
                example);
    const char *why;
    struct made m;

    if (j->o->cell && strcmp(j->o->cell, about->name) != 0)
        return;
    if (selftest_make(&m, text))
        why = selftest_net(j, &m);
    else
        why = made_why(&m, j->cli->arena);
    selftest_says(j, cr_strf(j->cli->arena, "gradients of %s", about->name),
                  why);
    made_free(&m);
}

/* ---- Threads */

#define MLP                                                                   \
    "network: [{Dense: [96, 128]}, ReLU, {Dropout: {p: 0.1}}, {Dense: [128, " \
    "64]}, GELU, {Dense: [64, 10]}]\nloss: CrossEntropyLoss\n"                \
    "optimizer: {Momentum: {learning_rate: 0.05, momentum: 0.9}}\n"

static void selftest_threads(struct job *j)
{
    int all = cr_thread_count();
    const char *why = NULL;
    struct made one, many;

    if (made_net(&one, MLP, 1, NULL) && made_net(&many, MLP, 1, NULL)) {
        made_steps(&many, 1, 3);
        cr_thread_pool_start(1);
        made_steps(&one, 1, 3);
        cr_thread_pool_start(all);
        if (!made_equal(&one, &many))
            why = "the bytes are others";
        made_free(&many);
    } else {
        why = made_why(&one, j->cli->arena);
    }
    made_free(&one);
    selftest_says(j, cr_strf(j->cli->arena, "1 and %d threads", all), why);
}

/* ---- Checkpoints */

static bool selftest_flip(const char *path, off_t at)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    unsigned char byte;
    bool good = fd >= 0 && pread(fd, &byte, 1, at) == 1;

    byte = (unsigned char)(good ? byte ^ 1 : 0);
    good = good && pwrite(fd, &byte, 1, at) == 1;
    if (fd >= 0)
        close(fd);
    return good;
}

static bool selftest_load(struct made *m, const char *path)
{
    struct cr_tensor_file *file =
        cr_tensor_file_open(&m->arena, &m->diag, path);
    bool good = file && cr_tensor_file_verify(file, &m->diag) &&
                cr_load_weights(file, m->model.config, m->model.net,
                                false) &&
                cr_load_slots(file, &m->diag, m->model.net);

    if (file)
        cr_tensor_file_close(file);
    return good;
}

/* Makes two updates, loads a checkpoint into another network, and makes two
 * more updates in both. */
static const char *selftest_round(struct made *a, struct made *b,
                                  const char *path)
{
    struct cr_ckpt ckpt = { 0 };
    struct cr_diag quiet = { .arena = &b->arena };
    struct cr_tensor_file *file;
    bool noticed;

    made_steps(a, 1, 2);
    ckpt.tensors = made_tensors(a, &ckpt.n);
    ckpt.config = MLP;
    if (!cr_ckpt_write(&a->diag, path, &ckpt))
        return a->diag.first->text;
    if (!selftest_load(b, path))
        return b->diag.first->text;
    made_steps(a, 3, 4);
    made_steps(b, 3, 4);
    if (!made_equal(a, b))
        return "the resumed run differs";
    file = cr_tensor_file_open(&b->arena, &quiet, path);
    if (!file || !selftest_flip(path, (off_t)cr_tensor_file_size(file) - 5))
        return "it cannot be opened again";
    noticed = !cr_tensor_file_verify(file, &quiet);
    cr_tensor_file_close(file);
    return noticed ? NULL : "a changed bit is not detected";
}

static void selftest_checkpoint(struct job *j)
{
    const char *tmp = getenv("TMPDIR"), *path, *why;
    char *dir = cr_strf(j->cli->arena, "%s/cellrun-selftest-XXXXXX",
                        tmp && tmp[0] ? tmp : "/tmp");
    struct made a, b = { 0 };

    if (!mkdtemp(dir)) {
        selftest_says(j, "checkpoint",
                      cr_strf(j->cli->arena, "%s: %s", dir, strerror(errno)));
        return;
    }
    path = cr_path_join(j->cli->arena, dir, "round.safetensors");
    cr_signals_lock(path);
    cr_signals_folder(dir);
    why = made_net(&a, MLP, 1, NULL) && made_net(&b, MLP, 1, NULL)
              ? selftest_round(&a, &b, path)
              : made_why(&a, j->cli->arena);
    selftest_says(j, "checkpoint", why);
    cr_signals_lock(NULL);
    cr_signals_folder(NULL);
    unlink(path);
    rmdir(dir);
    made_free(&a);
    made_free(&b);
}

/* ---- Speed */

/* FLOP per second of the first matrix product of the MNIST example, with all
 * threads. */
static double selftest_speed(struct cr_arena *arena)
{
    struct cr_gemm g = { .ta = CR_N,
                         .tb = CR_T,
                         .m = 64,
                         .n = 512,
                         .k = 784,
                         .a = selftest_numbers(arena, 64 * 784, 1),
                         .b = selftest_numbers(arena, 512 * 784, 2),
                         .alpha = 1,
                         .c = selftest_numbers(arena, 64 * 512, 3) };
    double start, best = INFINITY;
    int i;

    for (i = 0; i < 200; i++) {
        start = cr_now();
        cr_gemms(&g, 1);
        best = fmin(best, cr_now() - start);
    }
    return 2.0 * 64 * 512 * 784 / best;
}

static bool selftest_known(struct job *j)
{
    const struct cr_descriptor *const *cells = cr_registry_list(CR_KIND_CELL);
    const char *names[256] = { NULL };
    int i, n = 0;

    if (!j->o->cell || cr_cell_find(j->o->cell) || cr_loss_find(j->o->cell))
        return true;
    for (i = 0; cells[i] && n < 255; i++)
        names[n++] = cells[i]->name;
    cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
             "--cell: cell or loss '%s' not found",
             cr_quote(j->cli->arena, j->o->cell, strlen(j->o->cell)));
    if (cr_closest_name(j->o->cell, names))
        cr_hint(j->cli->diag, "did you mean '%s'?",
                cr_closest_name(j->o->cell, names));
    return false;
}

static int selftest_run(struct cr_cli *cli)
{
    struct job j = { .cli = cli,
                     .o = cr_cli_opts(cli),
                     .json = { .arena = cli->arena } };
    const struct cr_descriptor *const *p;
    double peak, speed;

    if (!selftest_known(&j))
        return 0;
    cr_thread_pool_start(cli->threads > 0 ? cli->threads : cr_cpu_count());
    if (!j.o->cell)
        selftest_products(&j, false);
    if (!j.o->cell && cr_gemm_low())
        selftest_products(&j, true);
    for (p = cr_registry_list(CR_KIND_CELL); *p; p++)
        selftest_gradients(&j, *p, false);
    for (p = cr_registry_list(CR_KIND_LOSS); *p; p++)
        selftest_gradients(&j, *p, true);
    if (!j.o->cell) {
        selftest_threads(&j);
        selftest_checkpoint(&j);
    }
    peak = cr_cpu_peak(0.1);
    speed = selftest_speed(cli->arena);
    if (cli->json)
        printf("{\"passed\": %d, \"failed\": %d, \"peak_flops\": %.6g, "
               "\"product_flops\": %.6g, \"tests\": [%s]}\n",
               j.passed, j.failed, peak, speed, cr_buf_text(&j.json));
    else if (!cli->quiet)
        printf("speed   one core multiplies and adds at %.1f GFLOP/s (%s); a "
               "product of 64 x 512 x 784 on %d thread%s runs at %.1f\n"
               "%d passed, %d failed\n",
               1e-9 * peak, cr_isa_name(cr_isa()), cr_thread_count(),
               cr_thread_count() == 1 ? "" : "s", 1e-9 * speed, j.passed,
               j.failed);
    if (j.failed > 0)
        cr_error(cli->diag, CR_NOWHERE, CR_E_INTERNAL, "%d of %d tests failed",
                 j.failed, j.passed + j.failed);
    return 0;
}

const struct cr_command cr_command_selftest = {
    .about = {
        .name = "selftest",
        .summary = "Verify that this build computes correctly on this machine.",
        .detail =
            "Checks matrix products against naive loops, gradients of all "
            "cells and losses against finite differences, results for any "
            "number of threads byte for byte, and a checkpoint round trip; "
            "then measures the speed of this processor. Exits with 1 if a "
            "test fails.",
        .example = "cellrun selftest --cell Dense\n"
                   "cellrun selftest --quick\n",
        .opts = selftest_opts,
        .size = sizeof(struct selftest),
    },
    .usage = "[--quick] [--cell NAME]",
    .run = selftest_run,
};
