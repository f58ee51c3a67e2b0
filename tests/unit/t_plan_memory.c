/*
 * Where values lie: none on another that lives at the same time, each as
 * plan/memory.c says.
 */
#include "base/thread_pool.h"
#include "run/run.h"
#include "plan_examples.h"

#define LARGE 40000 /* a batch whose buffers of one size each take too much */

static bool sizes; /* buffers share memory with buffers of the same size */

struct life {
    int first, last;
};

static void live_at(struct life *life, struct cr_pval *val, int step)
{
    struct life *l;

    if (!val)
        return;
    l = &life[cr_pval_base(val)->id];
    if (l->first < 0)
        l->first = step;
    l->last = step;
}

static void live_operands(struct life *life, const struct cr_operand *o, int n,
                          int step)
{
    for (int k = 0; o && k < n; k++)
        live_at(life, o[k].val, step);
}

/* When each buffer is touched, from the list of steps alone. */
static void find_lives(const struct cr_exec *e, struct life *life)
{
    int i, k;

    for (i = 0; i < e->n_vals; i++)
        life[i] = (struct life){ -1, -1 };
    for (i = 0; i < e->n_steps; i++) {
        const struct cr_exec_step *s = e->steps[i];

        if (i == e->n_forward && e->loss)
            live_at(life, e->loss->grad, i); /* written from outside */
        live_operands(life, s->x, s->n_in, i);
        live_operands(life, s->mask, s->n_in, i);
        live_operands(life, s->dy, s->n_out, i);
        live_operands(life, s->read_y, s->n_out, i);
        for (k = 0; s->y && k < s->n_out; k++)
            live_at(life, s->y[k], i);
        for (k = 0; s->dx && k < s->n_in; k++)
            live_at(life, s->dx[k], i);
        live_at(life, s->saved, i);
        live_at(life, s->read_saved.val, i);
    }
    /* read from outside, after forward or after all */
    live_at(life, e->outputs[0], e->n_steps);
    live_at(life, e->loss, e->n_steps);
}

/* Whether a buffer is placed before another: the larger one is, or of equal
 * ones that of lower index. */
static bool placed_before(const struct cr_pval *a, const struct cr_pval *b)
{
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->id < b->id;
}

static bool is_buffer(const struct cr_pval *v)
{
    return v->feed < 0 && v->param < 0 && !v->alias && v->first >= 0;
}

/* Whether v at that offset meets none of those that are placed before it. */
static bool is_free(const struct cr_exec *e, const struct cr_pval *v, size_t at)
{
    for (const struct cr_pval *o = e->vals; o; o = o->next)
        if (is_buffer(o) && placed_before(o, v) && o->first <= v->last &&
            v->first <= o->last && o->offset < at + v->bytes &&
            at < o->offset + o->bytes)
            return false;
    return true;
}

/* Whether every buffer is at the lowest offset that is free for it: 0, or
 * after one of those placed before it. Compared by trying all of them. */
static bool lowest(const struct cr_exec *e)
{
    for (const struct cr_pval *v = e->vals, *o; v; v = v->next) {
        size_t at = is_buffer(v) && is_free(e, v, 0) ? 0 : SIZE_MAX;

        if (!is_buffer(v))
            continue;
        for (o = e->vals; o && at > 0; o = o->next) {
            size_t end = (o->offset + o->bytes + 63) / 64 * 64;

            if (is_buffer(o) && placed_before(o, v) && end < at &&
                is_free(e, v, end))
                at = end;
        }
        if (v->offset != at) {
            printf("# value %d is at %zu, could at %zu\n", v->id, v->offset,
                   at);
            return false;
        }
    }
    return true;
}

/* Whether buffers share memory with those of their size alone, which have as
 * many places as live at the same time; all of that in e->bytes. */
static bool by_sizes(const struct cr_exec *e)
{
    size_t all = 0;

    for (const struct cr_pval *v = e->vals, *o, *u; v; v = v->next) {
        int lives = 0, most = 0, places = 0;
        bool first = true;

        for (o = e->vals; o && is_buffer(v); o = o->next) {
            if (!is_buffer(o))
                continue;
            if (o->offset < v->offset + v->bytes &&
                v->offset < o->offset + o->bytes &&
                (o->offset != v->offset || o->bytes != v->bytes)) {
                printf("# values %d and %d share memory\n", o->id, v->id);
                return false;
            }
            first = first && !(o->bytes == v->bytes && o->id < v->id);
        }
        for (o = e->vals; o && is_buffer(v) && first; o = o->next) {
            bool seen = false;

            if (!is_buffer(o) || o->bytes != v->bytes)
                continue;
            for (lives = 0, u = e->vals; u; u = u->next) {
                bool same = is_buffer(u) && u->bytes == v->bytes;

                lives += same && u->first <= o->first && o->first <= u->last;
                seen = seen ||
                       (same && u->id < o->id && u->offset == o->offset);
            }
            most = lives > most ? lives : most;
            places += !seen;
        }
        if (places != most) {
            printf("# %d places of %zu bytes, at most %d live\n", places,
                   v->bytes, most);
            return false;
        }
        all += (size_t)places * ((v->bytes + 63) / 64 * 64);
    }
    return all == e->bytes;
}

static void check_memory(const struct example *ex, int64_t batch,
                         struct cr_exec_opts want, const char *mode)
{
    struct made m;
    struct cr_exec *e;
    struct life *life;
    const struct cr_pval *a, *b;
    bool apart = true, inside = true;
    int i, k, buffers = 0;

    want.training = want.update = true;
    if (!made_ok(&m, ex->text, ex->shape, batch))
        return;
    e = made_exec(&m, want);
    life = CR_NEWS(&m.arena, struct life, e->n_vals + 1);
    find_lives(e, life);
    for (a = e->vals; a; a = a->next) {
        i = a->id;
        if (life[i].first < 0 || a->feed >= 0 || a->param >= 0)
            continue;
        buffers++;
        inside = inside && a->offset % 64 == 0 &&
                 a->offset + a->bytes <= e->bytes &&
                 a->data == e->block + a->offset;
        for (b = e->vals; b != a; b = b->next) {
            k = b->id;
            if (life[k].first < 0 || b->feed >= 0 || b->param >= 0 ||
                life[i].last < life[k].first || life[k].last < life[i].first)
                continue;
            if (a->offset < b->offset + b->bytes &&
                b->offset < a->offset + a->bytes) {
                printf("# values %d and %d share memory\n", k, i);
                apart = false;
            }
        }
    }
    ok(apart && inside && (sizes ? by_sizes(e) : lowest(e)),
       "%s, %s: %d buffers, none on another, %s", ex->name, mode, buffers,
       sizes ? "each with others of its size" : "each as low as it can be");
    cr_exec_free(e);
    made_free(&m);
}

static void saves_memory(void)
{
    struct made m;
    struct cr_exec *fused, *eager;
    size_t lean, all;

    if (!made_ok(&m, examples[0].text, examples[0].shape, 64))
        return;
    fused = made_exec(
        &m, (struct cr_exec_opts){ .training = true, .update = true });
    eager =
        made_exec(&m, (struct cr_exec_opts){
                          .training = true, .update = true, .eager = true });
    lean = cr_exec_bytes(fused) - cr_exec_thread_scratch(fused);
    all = cr_exec_bytes(eager) - cr_exec_thread_scratch(eager);
    ok(lean < all * 2 / 3,
       "a plan needs %zu bytes, eager %zu, both without the kernels' scratch",
       lean, all);
    cr_exec_free(fused);
    cr_exec_free(eager);
    made_free(&m);
}

/* Gradients of an lstm's gates lie where the gates were: of 40 numbers per
 * sample and step that many come in, 40 and 20 are kept, 10 go out. */
static void lstm_memory(void)
{
    const struct example ex = {
        "lstm",
        "network:\n"
        "  cells:\n"
        "    a: {LSTM: {hidden_size: 10, batch_first: true}}\n"
        "    d: {Dense: {out_channels: 3}}\n"
        "  construct: |\n"
        "    y, last = a(reshape(x, (-1, 20, 2)))\n"
        "    return d(flatten(y))\n" CE SGD,
        { .x = { .rank = 1, .dim = { 40 } }, .classes = 3 }
    };
    size_t bytes, gates = sizeof(cr_real) * 64 * 20 * 40;
    struct made m;
    struct cr_exec *e;

    if (!made_ok(&m, ex.text, ex.shape, 64))
        return;
    e = made_exec(&m,
                  (struct cr_exec_opts){ .training = true, .update = true });
    bytes = cr_exec_bytes(e) - cr_exec_thread_scratch(e);
    ok(3 * bytes < 10 * gates, "an lstm's step needs %zu bytes, its gates %zu",
       bytes, gates);
    cr_exec_free(e);
    made_free(&m);
}

static void check_modes(const char *threads)
{
    char mode[80];
    size_t i, k;

    for (i = 0; i < CR_LEN(examples); i++) {
        for (k = 0; k < CR_LEN(modes); k++) {
            passes_set(&modes[k]);
            snprintf(mode, sizeof mode, "%s, %s", modes[k].name, threads);
            check_memory(&examples[i], 5, modes[k].want, mode);
        }
        unsetenv("CELLRUN_PASSES");
    }
}

int main(void)
{
    check_modes("one thread");
    saves_memory();
    lstm_memory();
    cr_thread_pool_start(2);
    check_memory(&examples[0], LARGE, (struct cr_exec_opts){ 0 },
                 "fused, two threads, too large");
    sizes = true;
    check_modes("two threads");
    cr_thread_pool_stop();
    return done();
}
