/* Lookup: the indices of tokens in a vocabulary (data/vocab.h). */
#include "base/str.h"
#include "data/transform.h"
#include "data/vocab.h"

#include <string.h>

struct lookup {
    const char *vocab, *unknown_token;
};

static const struct cr_opt lookup_opts[] = {
    CR_STR(struct lookup, vocab, "Name of a vocabulary: a key of `vocab`."),
    CR_STR_OPTIONAL(
        struct lookup, unknown_token,
        "Token that replaces tokens that are not in the vocabulary. "
        "Default: such tokens are an error."),
    { 0 },
};

struct lookup_self {
    const struct cr_vocab *vocab;
    int64_t unknown;        /* -1: none */
};

static bool lookup_plan(struct cr_transform_plan *p)
{
    const struct lookup *o = p->opts;
    struct lookup_self *self = CR_NEW(p->arena, struct lookup_self);

    if (p->in.type != CR_STRING)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "Lookup: found %s, expected tokens",
                        cr_type_name(p->in.type));
    self->vocab = cr_vocab_of(p->config, o->vocab, p->pos);
    if (!self->vocab)
        return false;
    self->unknown = -1;
    if (o->unknown_token) {
        self->unknown = cr_vocab_find(self->vocab, o->unknown_token,
                                      strlen(o->unknown_token));
        if (self->unknown < 0)
            return cr_error(p->diag, p->pos, CR_E_REFERENCE,
                            "the unknown_token '%s' is not in vocabulary "
                            "'%s'", o->unknown_token, o->vocab);
    }
    p->self = self;
    p->out = p->in;
    p->out.type = CR_I32;
    return true;
}

static bool lookup_word(struct cr_sample *s, const struct cr_ragged *word,
                        int32_t *to)
{
    const struct lookup_self *self = s->plan->self;
    const struct lookup *o = s->plan->opts;
    int64_t i = cr_vocab_find(self->vocab, word->v, (size_t)word->n);

    if (i < 0)
        i = self->unknown;
    *to = (int32_t)i;
    return i >= 0 ||
           cr_error(s->diag, s->plan->pos, CR_E_DATA_RANGE,
                    "'%s' is not in vocabulary '%s', and unknown_token is "
                    "not set",
                    cr_quote(s->diag->arena, word->v, (size_t)word->n),
                    o->vocab);
}

static bool lookup_apply(struct cr_sample *s)
{
    const struct cr_ragged *x = s->x, *word = x->v;
    struct cr_ragged *y = s->y;
    int32_t *to;
    int64_t i;

    if (s->plan->in.rank == 0)
        return lookup_word(s, x, s->y);
    to = CR_NEWS(s->mem, int32_t, x->n + 1);
    for (i = 0; i < x->n; i++)
        if (!lookup_word(s, &word[i], &to[i]))
            return false;
    *y = (struct cr_ragged){ to, x->n };
    return true;
}

const struct cr_transform cr_transform_lookup = {
    .about = {
        .name = "Lookup",
        .summary = "Indices of tokens in a vocabulary.",
        .detail = "Output int32, one for each token; a text that no tokenizer "
                  "has split is one token.",
        .example = "datapipe:\n"
                   "  text: [BasicTokenizer, {Lookup: {vocab: text, "
                   "unknown_token: \"<unk>\"}}]\n",
        .opts = lookup_opts,
        .size = sizeof(struct lookup),
    },
    .plan = lookup_plan,
    .apply = lookup_apply,
    .ragged = true,
};
