/*
 * einsum: a sum of products with named axes: 'ij,jk->ik'. Operands are
 * contracted from the left: each with the product of those before it, by one
 * matmul, after summing over axes that are no longer needed. Common axes that
 * are needed later form the batch of the matmul; the other common axes are
 * contracted. Without '->' the result has the axes that occur once, in
 * alphabetical order. '...' stands for broadcast axes, and an axis that occurs
 * twice in an operand means its diagonal.
 */
#include "families/arrange.h"

#include <ctype.h>
#include <string.h>

#define REST 52 /* axes of '...', counted from the last; letters have smaller
                   indices */
#define AXES (REST + CR_RANK_MAX)

struct einsum {
    const char *equation;
};

static const struct cr_opt einsum_opts[] = {
    CR_STR(struct einsum, equation,
           "Equation: the axes of the operands and of the output."),
    { 0 },
};

/* Names of axes, in order. */
struct term {
    int n, axis[2 * CR_RANK_MAX + 2];
};

struct sum {
    struct cr_build *b;
    const char *equation;
    int64_t size[AXES]; /* 0: unknown */
    int rest;           /* maximum number of axes of '...' */
    int n;
    struct term in[CR_OP_MAX], out;
    struct cr_val *v[CR_OP_MAX];
};

static int letter_axis(char c)
{
    return c >= 'a' ? 26 + c - 'a' : c - 'A';
}

static bool has(const struct term *t, int axis)
{
    int i;

    for (i = 0; i < t->n; i++)
        if (t->axis[i] == axis)
            return true;
    return false;
}

static bool wrong(struct sum *s, const char *what)
{
    return cr_fail(s->b, CR_E_NETWORK, "equation '%s': %s", s->equation, what);
}

/* Reads the names of a term; rest: number of axes of '...'. */
static bool term_read(struct sum *s, const char *text, size_t len, int rest,
                      struct term *t)
{
    bool dots = false;
    size_t i;
    int k;

    t->n = 0;
    for (i = 0; i < len; i++) {
        if (text[i] == ' ')
            continue;
        if (text[i] == '.' && len - i >= 3 && !dots &&
            strncmp(text + i, "...", 3) == 0) {
            for (k = rest - 1; k >= 0; k--)
                t->axis[t->n++] = REST + k;
            dots = true;
            i += 2;
        } else if (isalpha((unsigned char)text[i]) && t->n < CR_RANK_MAX) {
            t->axis[t->n++] = letter_axis(text[i]);
        } else {
            return wrong(s, isalpha((unsigned char)text[i])
                                ? "an operand has too many axes"
                                : "found another sign than letters, ',', "
                                  "'->' and '...'");
        }
    }
    return t->n <= CR_RANK_MAX || wrong(s, "an operand has too many axes");
}

static int letters(const char *text, size_t len, bool *dots)
{
    int n = 0;
    size_t i;

    *dots = false;
    for (i = 0; i < len; i++) {
        n += isalpha((unsigned char)text[i]) != 0;
        *dots = *dots || (len - i >= 3 && strncmp(text + i, "...", 3) == 0);
    }
    return n;
}

/* Sets the sizes of an operand's axes; the axes of '...' broadcast. */
static bool sizes_see(struct sum *s, int k)
{
    const struct cr_spec *x = cr_val_spec(s->v[k]);
    const struct term *t = &s->in[k];
    int i;

    for (i = 0; i < t->n; i++) {
        int64_t *size = &s->size[t->axis[i]];

        if (*size == 0 || (t->axis[i] >= REST && *size == 1))
            *size = x->dim[i];
        else if (*size != x->dim[i] &&
                 (t->axis[i] < REST || x->dim[i] != 1))
            return cr_fail(s->b, CR_E_SHAPE,
                           "equation '%s': axis %d of operand %d, %s, has "
                           "length %lld, expected %lld",
                           s->equation, i, k,
                           cr_diag_format(cr_build_arena(s->b), x),
                           (long long)x->dim[i], (long long)*size);
    }
    return true;
}

static bool inputs_read(struct sum *s, const char *text, size_t len)
{
    int k;

    for (k = 0; k < s->n; k++) {
        const char *comma = memchr(text, ',', len);
        size_t n = comma ? (size_t)(comma - text) : len;
        int rank = cr_val_spec(s->v[k])->rank, named, rest;
        bool dots;

        if ((k == s->n - 1) != !comma)
            return cr_fail(s->b, CR_E_NETWORK,
                           "equation '%s': found %s operands than the %d given",
                           s->equation, comma ? "more" : "fewer", s->n);
        named = letters(text, n, &dots);
        rest = dots ? rank - named : 0;
        if (rest < 0 || (!dots && named != rank))
            return cr_fail(
                s->b, CR_E_SHAPE,
                "equation '%s': operand %d is %s, expected %s%d "
                "dimensions",
                s->equation, k,
                cr_diag_format(cr_build_arena(s->b), cr_val_spec(s->v[k])),
                dots ? "at least " : "", named);
        s->rest = rest > s->rest ? rest : s->rest;
        if (!term_read(s, text, n, rest, &s->in[k]) || !sizes_see(s, k))
            return false;
        text += n + 1;
        len -= comma ? n + 1 : n;
    }
    return true;
}

/* The result without '->': '...', then axes that occur once, in ASCII order
 * (capitals first). */
static void output_implied(struct sum *s)
{
    int axis, i, k, count;

    for (k = s->rest - 1; k >= 0; k--)
        s->out.axis[s->out.n++] = REST + k;
    for (axis = 0; axis < REST; axis++) {
        for (k = count = 0; k < s->n; k++)
            for (i = 0; i < s->in[k].n; i++)
                count += s->in[k].axis[i] == axis;
        if (count == 1 && s->out.n < CR_RANK_MAX)
            s->out.axis[s->out.n++] = axis;
    }
}

static bool equation_read(struct sum *s)
{
    const char *arrow = strstr(s->equation, "->");
    size_t len = arrow ? (size_t)(arrow - s->equation) : strlen(s->equation);
    int i, k;

    if (!inputs_read(s, s->equation, len))
        return false;
    if (!arrow) {
        output_implied(s);
        return true;
    }
    if (!term_read(s, arrow + 2, strlen(arrow + 2), s->rest, &s->out))
        return false;
    for (i = 0; i < s->out.n; i++) {
        if (s->size[s->out.axis[i]] == 0)
            return wrong(s, "the result names an axis that no operand has");
        for (k = 0; k < i; k++)
            if (s->out.axis[k] == s->out.axis[i])
                return wrong(s, "the result names an axis twice");
    }
    return true;
}

/* ---- one operand ---- */

/* Moves the axes named by `first` to the front, in its order. */
static struct cr_val *axes_first(struct sum *s, struct cr_val *v,
                                 struct term *t, const struct term *first)
{
    int64_t perm[CR_RANK_MAX];
    struct term to = { .n = 0 };
    int i, k, n = 0;

    for (k = 0; k < first->n; k++)
        for (i = 0; i < t->n; i++)
            if (t->axis[i] == first->axis[k]) {
                to.axis[to.n++] = t->axis[i];
                perm[n++] = i;
            }
    for (i = 0; i < t->n; i++)
        if (!has(first, t->axis[i])) {
            to.axis[to.n++] = t->axis[i];
            perm[n++] = i;
        }
    *t = to;
    return cr_arrange_transpose(s->b, v, perm);
}

/* The diagonal of an axis that occurs twice: both are moved to the end and
 * flattened; every (n + 1)th element is on the diagonal. */
static struct cr_val *diagonal(struct sum *s, struct cr_val *v, struct term *t,
                               int i, int k)
{
    int64_t perm[CR_RANK_MAX], dim[CR_RANK_MAX], n = s->size[t->axis[i]];
    int axis = t->axis[i], at, to = 0;

    for (at = 0; at < t->n; at++)
        if (at != i && at != k) {
            t->axis[to] = t->axis[at];
            dim[to] = cr_val_spec(v)->dim[at];
            perm[to++] = at;
        }
    perm[to] = i;
    perm[to + 1] = k;
    v = cr_arrange_transpose(s->b, v, perm);
    dim[to] = n * n;
    v = cr_arrange_reshape(s->b, v, to + 1, dim);
    t->axis[to] = axis;
    t->n = to + 1;
    return cr_arrange_slice(s->b, v, to, 0, CR_DIM_MAX, n + 1);
}

static struct cr_val *diagonals(struct sum *s, struct cr_val *v,
                                struct term *t)
{
    int i, k;

    for (i = 0; i < t->n && v; i++)
        for (k = i + 1; k < t->n && v; k++)
            if (t->axis[i] == t->axis[k]) {
                v = diagonal(s, v, t, i, k);
                i = k = -1; /* restart: the names have moved */
                break;
            }
    return v;
}

/* Broadcasts the axes of '...' to their full length. */
static struct cr_val *broadcast(struct sum *s, struct cr_val *v,
                                const struct term *t)
{
    int64_t dim[CR_RANK_MAX];
    bool same = true;
    int i;

    for (i = 0; i < t->n && v; i++) {
        dim[i] = s->size[t->axis[i]];
        same = same && dim[i] == cr_val_spec(v)->dim[i];
    }
    return same || !v ? v : cr_arrange_broadcast(s->b, v, t->n, dim);
}

/* Sums over the axes that no term in `keep` names. */
static struct cr_val *sum_out(struct sum *s, struct cr_val *v, struct term *t,
                              const bool *keep)
{
    struct cr_reduce_attr *over =
        CR_NEW(cr_build_arena(s->b), struct cr_reduce_attr);
    int64_t *axis = CR_NEWS(cr_build_arena(s->b), int64_t, CR_RANK_MAX);
    struct term to = { .n = 0 };
    int i;

    over->axis.v = axis;
    for (i = 0; i < t->n; i++)
        if (keep[t->axis[i]])
            to.axis[to.n++] = t->axis[i];
        else
            axis[over->axis.n++] = i;
    *t = to;
    return over->axis.n == 0 ? v : CR_EMIT(s->b, "sum", over, v);
}

/* ---- two operands ---- */

static int64_t product(const struct sum *s, const struct term *t)
{
    int64_t n = 1;
    int i;

    for (i = 0; i < t->n; i++)
        n *= s->size[t->axis[i]];
    return n;
}

static void term_add(struct term *to, const struct term *t)
{
    int i;

    for (i = 0; i < t->n; i++)
        to->axis[to->n++] = t->axis[i];
}

/* v as (batch, rows, columns), with its axes in the order of these terms. */
static struct cr_val *as_matrix(struct sum *s, struct cr_val *v, struct term *t,
                                const struct term *batch,
                                const struct term *rows,
                                const struct term *columns)
{
    const int64_t dim[] = { product(s, batch), product(s, rows),
                            product(s, columns) };
    struct term order = *batch;

    term_add(&order, rows);
    term_add(&order, columns);
    return cr_arrange_reshape(s->b, axes_first(s, v, t, &order), 3, dim);
}

static struct cr_val *contract(struct sum *s, struct cr_val *x, struct term *t,
                               struct cr_val *y, struct term *u,
                               const bool *keep)
{
    struct term batch = { .n = 0 }, ends = batch, left = batch, right = batch;
    int64_t dim[CR_RANK_MAX];
    struct cr_val *z;
    int i;

    for (i = 0; i < t->n; i++) {
        struct term *to = !has(u, t->axis[i])   ? &left
                          : keep[t->axis[i]] ? &batch
                                             : &ends;

        to->axis[to->n++] = t->axis[i];
    }
    for (i = 0; i < u->n; i++)
        if (!has(t, u->axis[i]))
            right.axis[right.n++] = u->axis[i];
    if (batch.n + left.n + right.n > CR_RANK_MAX) {
        wrong(s, "a product of two operands has too many axes");
        return NULL;
    }
    x = as_matrix(s, x, t, &batch, &left, &ends);
    y = as_matrix(s, y, u, &batch, &ends, &right);
    z = CR_EMIT(s->b, ends.n > 0 ? "matmul" : "mul", NULL, x, y);
    *t = batch;
    term_add(t, &left);
    term_add(t, &right);
    for (i = 0; i < t->n; i++)
        dim[i] = s->size[t->axis[i]];
    return cr_arrange_reshape(s->b, z, t->n, dim);
}

/* Marks the axes named by the result and by the operands from k on. */
static void axes_kept(const struct sum *s, int k, bool *keep)
{
    int i;

    memset(keep, 0, AXES * sizeof *keep);
    for (i = 0; i < s->out.n; i++)
        keep[s->out.axis[i]] = true;
    for (; k < s->n; k++)
        for (i = 0; i < s->in[k].n; i++)
            keep[s->in[k].axis[i]] = true;
}

static struct cr_val *einsum_build(struct cr_build *b, const void *attr, int n,
                                   struct cr_val *const *in)
{
    struct sum *s = CR_NEW(cr_build_arena(b), struct sum);
    struct term *t = &s->in[0];
    bool keep[AXES];
    struct cr_val *v;
    int k, i;

    s->b = b;
    s->equation = ((const struct einsum *)attr)->equation;
    s->n = n;
    memcpy(s->v, in, (size_t)n * sizeof *in);
    if (!equation_read(s))
        return NULL;
    for (k = 0; k < n; k++)
        s->v[k] = broadcast(s, diagonals(s, s->v[k], &s->in[k]), &s->in[k]);
    v = s->v[0];
    for (k = 1; k < n && v; k++) {
        /* sum over axes of one operand that are not needed any more */
        axes_kept(s, k, keep);
        v = sum_out(s, v, t, keep);
        axes_kept(s, k + 1, keep);
        for (i = 0; i < t->n; i++)
            keep[t->axis[i]] = true;
        s->v[k] = sum_out(s, s->v[k], &s->in[k], keep);
        axes_kept(s, k + 1, keep);
        v = s->v[k] ? contract(s, v, t, s->v[k], &s->in[k], keep) : NULL;
    }
    axes_kept(s, n, keep);
    v = v ? sum_out(s, v, t, keep) : NULL;
    return v ? axes_first(s, v, t, &s->out) : NULL;
}

static const char *const einsum_inputs[] = { "operands", NULL };

const struct cr_op cr_op_einsum = {
    .about = { .name = "einsum",
               .summary = "Einstein summation: 'ij,jk->ik'.",
               .detail = "Axes with the same letter are multiplied; letters "
                         "that the output lacks are summed over. '...' stands "
                         "for axes that broadcast; without '->' the output has "
                         "the letters that occur once, in alphabetical order.",
               .opts = einsum_opts,
               .size = sizeof(struct einsum) },
    .min_inputs = 1,
    .max_inputs = CR_OP_MAX,
    .outputs = 1,
    .inputs = einsum_inputs,
    .signature = "equation, *operands",
    .build = einsum_build,
};
