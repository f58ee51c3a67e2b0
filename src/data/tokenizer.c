#include "data/tokenizer.h"

#include <string.h>

void cr_tokens_add(struct cr_tokens *t, const char *text, size_t len)
{
    if (t->n == t->cap) {
        int64_t cap = t->cap > 0 ? 2 * t->cap : 64;

        t->v = cr_grow(t->mem, t->v, (size_t)t->n, (size_t)cap, sizeof *t->v);
        t->cap = cap;
    }
    t->v[t->n++] =
        (struct cr_ragged){ cr_strndup(t->mem, text, len), (int64_t)len };
}

/* All tokenizers share one transform; `self` is the tokenizer. */
static bool tokenizer_plan(struct cr_transform_plan *p)
{
    const struct cr_tokenizer *t = p->self;

    if (p->in.type != CR_STRING || p->in.rank != 0)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "%s: found %s, expected text", t->about.name,
                        p->in.type == CR_STRING ? "tokens"
                                                : cr_type_name(p->in.type));
    p->out = (struct cr_spec){ .type = CR_STRING,
                               .rank = 1,
                               .dim = { CR_DIM_RAGGED } };
    return true;
}

static bool tokenizer_apply(struct cr_sample *s)
{
    const struct cr_tokenizer *t = s->plan->self;
    const struct cr_ragged *x = s->x;
    struct cr_tokens tokens = { .mem = s->mem };

    if (!t->split(s->plan->opts, s->diag, x->v, (size_t)x->n, &tokens))
        return false;
    *(struct cr_ragged *)s->y = (struct cr_ragged){ tokens.v, tokens.n };
    return true;
}

static const struct cr_transform tokenizer_op = {
    .about = { .name = "tokenizer" },
    .plan = tokenizer_plan,
    .apply = tokenizer_apply,
    .ragged = true,
};

const struct cr_transform *cr_tokenizer_op(const char *name)
{
    return cr_registry_find(CR_KIND_TOKENIZER, name) ? &tokenizer_op : NULL;
}
