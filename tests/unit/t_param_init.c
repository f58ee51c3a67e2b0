/*
 * Initialisation of parameters: which setting applies (scheme, argument,
 * modifier, rules in their order), and what the decision depends on.
 */
#include "nets.h"

static const struct shape wide = { .x = { .rank = 1, .dim = { 400 } },
                                   .classes = 3 };

#define BODY "network: {fc: {Dense: [400, 300]}}\n"

/* What fills a parameter, as summary says. */
static const char *init_of(struct made *m, const char *text, const char *name)
{
    const struct cr_param *p;

    if (!made_ok(m, text, wide, 2))
        return NULL;
    p = cr_net_param(m->net, name);
    return p ? p->init : "no such parameter";
}

static void says(const char *text, const char *name, const char *want,
                 const char *what)
{
    struct made m;

    same(init_of(&m, text, name), want, what);
    made_free(&m);
}

static double largest(const struct cr_param *p)
{
    double top = 0;
    int64_t i;

    for (i = 0; i < cr_count(&p->spec); i++)
        top = fmax(top, fabs((double)p->data[i]));
    return top;
}

static double deviation(const struct cr_param *p)
{
    double sum = 0;
    int64_t i, n = cr_count(&p->spec);

    for (i = 0; i < n; i++)
        sum += (double)p->data[i] * (double)p->data[i];
    return sqrt(sum / (double)n);
}

static void schemes(void)
{
    struct made m;
    const struct cr_param *w, *b;

    if (!made_ok(&m, BODY, wide, 2))
        return;
    w = cr_net_param(m.net, "fc.weight");
    b = cr_net_param(m.net, "fc.bias");
    same(w->init, "HeUniform(negative_slope=2.23607)", "weight of Dense");
    same(b->init, "Uniform(scale=0.05)", "bias of Dense");
    ok(largest(w) <= 0.05 && largest(w) > 0.0499 && largest(b) <= 0.05 &&
           largest(b) > 0.048,
       "both within 1/sqrt(400)");
    made_free(&m);

    if (!made_ok(&m, BODY "init: {scheme: mindspore1}\n", wide, 2))
        return;
    w = cr_net_param(m.net, "fc.weight");
    ok(fabs(deviation(w) - 0.01) < 1e-4, "mindspore1: N(0, 0.01^2)");
    ok(largest(cr_net_param(m.net, "fc.bias")) == 0, "and zeros");
    made_free(&m);
}

static void precedence(void)
{
    says("network: {fc: {Dense: {out_channels: 3, weight_init: ones}}}\n"
         "init: {scheme: mindspore1}\n",
         "fc.weight", "One", "an argument over the scheme");
    says("network: {fc: {Dense: {out_channels: 3, bias_init: 0.5}}}\n",
         "fc.bias", "Constant(value=0.5)", "a number is a constant");
    says("network: {fc: {Dense: {out_channels: 3, weight_init: ones}, init: "
         "{Normal: {sigma: 2.0}}}}\n",
         "fc.weight", "{Normal: {sigma: 2.0}}",
         "the modifier over the argument");
    says("network: {fc: {Dense: {out_channels: 3}, init: zeros}}\n", "fc.bias",
         "Uniform(scale=0.05)", "the modifier is for the weight");
    says("network: {fc: {Dense: {out_channels: 3}, init: zeros}}\n"
         "init: [{match: \"*.weight\", One: {}}]\n",
         "fc.weight", "{match: \"*.weight\", One: {}}",
         "a rule over the modifier");
    says(BODY "init: [{match: \"*\", One: {}}, {of: Dense, Zero: {}}]\n",
         "fc.bias", "{of: Dense, Zero: {}}", "a later rule over an earlier");
    says(BODY "init: [{match: \"*\", Zero: {}}, {match: \"*.weight\", of: "
              "Dense, One: {}}]\n",
         "fc.bias", "{match: \"*\", Zero: {}}",
         "both of match and of must fit");
}

static void refused(const char *text, const char *want, const char *what)
{
    struct made m;
    bool good = make(&m, text, wide, 2);
    const char *got = m.diag.first ? m.diag.first->text : "nothing";

    ok(!good && strstr(got, want), "%s", what);
    if (good || !strstr(got, want))
        printf("# got: %s\n", got);
    made_free(&m);
}

static void errors(void)
{
    refused(BODY "init: [{match: \"*.gamma\", One: {}}]\n", "*.gamma",
            "a pattern that matches nothing");
    refused(BODY "init: [{match: \"*.bias\", XavierUniform: {}}]\n",
            "parameter 'fc.bias': found (300,)",
            "an initialiser that does not fit");
    refused(BODY "init: [{One: {}}]\n",
            "found a pattern without `match` and `of`, expected one of them",
            "a rule for nothing");
    refused(BODY "init: [{match: \"*\", of: Dence, One: {}}]\n",
            "of: found 'Dence', expected the type of a cell", "no such cell");
    refused(BODY "init: [{match: \"*\"}]\n", "expected a rule {match: PATTERN",
            "a rule without an initialiser");
    refused(BODY "init: [{match: \"*\", wat: 1, One: {}}]\n",
            "'wat' is not a key of a rule of init", "an unknown key");
    refused("network: {fc: {Dense: {out_channels: 3, weight_init: onse}}}\n",
            "onse", "no such initialiser");
}

/* Values depend on seed and name, not on other cells. */
static void keys(void)
{
    struct made a, b, c;
    const struct cr_param *p, *q, *r;

    if (!made_ok(&a, BODY, wide, 2) ||
        !made_ok(&b,
                 "network: {x: Identity, fc: {Dense: [400, 300]}, ga: "
                 "{Dense: [300, 300]}}\n",
                 wide, 7) ||
        !made_ok(&c, "network: {other: {Dense: [400, 300]}}\n", wide, 2))
        return;
    p = cr_net_param(a.net, "fc.weight");
    q = cr_net_param(b.net, "fc.weight");
    r = cr_net_param(c.net, "other.weight");
    ok(memcmp(p->data, q->data, cr_bytes(&p->spec)) == 0,
       "the same name has the same initial values in any network");
    ok(memcmp(p->data, r->data, cr_bytes(&p->spec)) != 0,
       "another name begins differently");
    made_free(&a);
    made_free(&b);
    made_free(&c);
}

int main(void)
{
    schemes();
    precedence();
    errors();
    keys();
    return done();
}
