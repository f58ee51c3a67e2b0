/*
 * Gradients of whole networks, every parameter's every element, against
 * central differences of the loss. (Every op and every cell alone has its
 * own, in tests/cases.) Differences need a double build: in float their own
 * error, and ReLU's kink within their step, hide what is looked for.
 */
#include "graph/graph.h"
#include "nets.h"

#ifdef CR_DOUBLE

static const struct shape vector = { .x = { .rank = 1, .dim = { 6 } },
                                     .classes = 3 };

static void check(const char *name, const char *text, struct shape shape)
{
    static const int64_t batches[] = { 1, 3 };
    size_t i;

    for (i = 0; i < CR_LEN(batches); i++) {
        struct made m;

        if (made_ok(&m, text, shape, batches[i]))
            ok(made_gradients(&m), "%s, batch %lld", name,
               (long long)batches[i]);
        made_free(&m);
    }
}

static struct cr_opnode *node_at(struct cr_net *net, int index)
{
    struct cr_opnode *n = net->graph->nodes;

    while (index-- > 0)
        n = n->next;
    return n;
}

/* Two layers with one weight: its gradient has two writers. */
static void shared_weight(void)
{
    struct made m;
    struct cr_opnode *a, *b;

    if (!made_ok(&m,
                 "network: [{Dense: [6, 6]}, Tanh, {Dense: [6, 6]}, ReLU, "
                 "{Dense: [6, 3]}]\nloss: CrossEntropyLoss\n",
                 vector, 3))
        return;
    a = node_at(m.net, 0);
    b = node_at(m.net, 2);
    m.net->params[b->in[1]->param].trained = false;
    b->in[1] = a->in[1];
    ok(made_gradients(&m), "a weight that two layers share");
    made_free(&m);
}

/* The loss compares two values of the network: gradients meet. */
static void shared_value(void)
{
    struct made m;
    struct cr_opnode *first;

    if (!made_ok(&m,
                 "network: [{Dense: [6, 4]}, Tanh, {Dense: [4, 4]}, ReLU, "
                 "{Dense: [4, 4]}]\nloss: MSELoss\n",
                 (struct shape){ .x = { .rank = 1, .dim = { 6 } },
                                 .label = { .rank = 1, .dim = { 4 } } },
                 3))
        return;
    first = node_at(m.net, 0);
    m.net->graph->loss->producer->in[1] = first->out[0];
    ok(made_gradients(&m), "a value with two readers");
    made_free(&m);
}

int main(void)
{
    check("ReLU",
          "network: [{Dense: [6, 5]}, ReLU, {Dense: [5, 3]}]\n"
          "loss: CrossEntropyLoss\n",
          vector);
    check("activations",
          "network: [{Dense: [6, 5]}, Sigmoid, {Dense: [5, 4]}, Tanh, {Dense: "
          "[4, 4]}, GELU, {Dense: [4, 3]}, Softmax]\n"
          "loss: CrossEntropyLoss\n",
          vector);
    check(
        "views and Dropout",
        "network: [{Dense: [5, 3]}, Flatten, {Dropout: {p: 0.3}}, {Dense: "
        "[12, 3]}]\nloss: CrossEntropyLoss\n",
        (struct shape){ .x = { .rank = 3, .dim = { 1, 4, 5 } }, .classes = 3 });
    check("rank 4",
          "network: [{Dense: [5, 3]}, GELU, {Dense: [3, 2]}]\n"
          "loss: MSELoss\n",
          (struct shape){ .x = { .rank = 3, .dim = { 2, 2, 5 } },
                          .label = { .rank = 3, .dim = { 2, 2, 2 } } });
    check("frozen in the middle",
          "network: [{Dense: [6, 5]}, Tanh, {Dense: [5, 4]}, ReLU, {Dense: "
          "[4, 3]}]\nfreeze: {patterns: \"2.*\"}\n"
          "loss: {CrossEntropyLoss: {label_smoothing: 0.2, weight: [1, 3, "
          "0.5]}}\n",
          vector);
    shared_weight();
    shared_value();
    return done();
}

#else

int main(void)
{
    puts("ok 1 - gradients of networks # SKIP differences need REAL=double");
    puts("1..1");
    return 0;
}

#endif
