#include "construct/script_value.h"

#include "base/str.h"
#include "graph/op_attrs.h"

#include <math.h>
#include <string.h>

#define ITEMS_MAX 64 /* of a tuple that becomes a value */

struct cr_script_value cr_script_value_tensor(struct cr_val *val)
{
    return (struct cr_script_value){ .kind = CR_SV_TENSOR, .val = val };
}

struct cr_script_value cr_script_value_integer(int64_t v)
{
    return (struct cr_script_value){ .kind = CR_SV_INT,
                                     .integer = v,
                                     .real = (double)v };
}

struct cr_script_value cr_script_value_real(double v)
{
    return (struct cr_script_value){ .kind = CR_SV_REAL, .real = v };
}

struct cr_script_value cr_script_value_truth(bool v)
{
    return (
        struct cr_script_value){ .kind = CR_SV_BOOL, .integer = v, .real = v };
}

bool cr_script_value_weigh(struct cr_script_value *t)
{
    int64_t weight = 0;
    int i;

    for (i = 0; i < t->n; i++)
        weight += 1 + t->items[i].weight;
    t->weight =
        weight > CR_SCRIPT_VALUE_MAX ? CR_SCRIPT_VALUE_MAX : (int)weight;
    return weight <= CR_SCRIPT_VALUE_MAX;
}

bool cr_script_value_number(const struct cr_script_value *t)
{
    return t->kind == CR_SV_INT || t->kind == CR_SV_REAL ||
           t->kind == CR_SV_BOOL;
}

struct cr_script_value cr_script_value_result(struct cr_arena *arena,
                                              struct cr_val *v)
{
    struct cr_script_value t = cr_script_value_tensor(v);
    int i, n = cr_tuple_size(v);

    if (n == 0)
        return t;
    t = (struct cr_script_value){ .kind = CR_SV_TUPLE, .n = n };
    t.items = CR_NEWS(arena, struct cr_script_value, n);
    for (i = 0; i < n; i++)
        t.items[i] = cr_script_value_result(arena, cr_member(v, i));
    cr_script_value_weigh(&t);
    return t;
}

struct cr_script_value cr_script_value_outputs(struct cr_arena *arena,
                                               const struct cr_op *op,
                                               struct cr_val *v)
{
    struct cr_script_value t = cr_script_value_result(arena, v);
    int n = cr_outputs(v);

    if (t.kind == CR_SV_TUPLE || (n == 1 && !(op && op->tuple)))
        return t;
    t = (struct cr_script_value){ .kind = CR_SV_TUPLE, .n = n };
    t.items = CR_NEWS(arena, struct cr_script_value, n);
    for (int i = 0; i < n; i++)
        t.items[i] = cr_script_value_tensor(cr_output(v, i));
    return t;
}

const char *cr_script_value_what(struct cr_arena *arena,
                                 const struct cr_script_value *t)
{
    switch (t->kind) {
    case CR_SV_NONE:
        return "None";
    case CR_SV_TENSOR:
        return cr_strf(arena, "a tensor %s",
                       cr_diag_format(arena, &t->val->spec));
    case CR_SV_INT:
        return cr_strf(arena, "%lld", (long long)t->integer);
    case CR_SV_REAL:
        return cr_real_text(arena, t->real);
    case CR_SV_BOOL:
        return t->integer ? "True" : "False";
    case CR_SV_STRING:
        return cr_strf(arena, "'%s'",
                       cr_quote(arena, t->text, strlen(t->text)));
    case CR_SV_MAP:
        return cr_strf(arena, "a map of %d", t->n);
    case CR_SV_CELL:
        return cr_strf(arena, "the cell '%s'", t->text);
    default:
        return cr_strf(arena, "a tuple of %d", t->n);
    }
}

static struct cr_val *number_val(struct cr_build *b,
                                 const struct cr_script_value *t)
{
    struct cr_constant *c = CR_NEW(b->net->arena, struct cr_constant);
    double *v = CR_NEW(b->net->arena, double);

    *v = t->real;
    c->value = (struct cr_reals){ 1, v };
    c->dtype = t->kind == CR_SV_INT    ? CR_INT32
               : t->kind == CR_SV_BOOL ? CR_DTYPE_BOOL
                                       : CR_FLOAT32;
    if (t->kind == CR_SV_INT && t->integer != (int32_t)t->integer)
        c->dtype = CR_FLOAT32;
    return cr_emit(b, "constant", c, 0, NULL);
}

struct cr_val *cr_script_value_val(struct cr_build *b,
                                   const struct cr_script_value *t)
{
    struct cr_val *v[ITEMS_MAX];
    int i;

    if (t->kind == CR_SV_TENSOR)
        return t->val;
    if (cr_script_value_number(t))
        return number_val(b, t);
    if (t->kind != CR_SV_TUPLE || t->n == 0 || t->n > ITEMS_MAX)
        return NULL;
    for (i = 0; i < t->n; i++) {
        v[i] = cr_script_value_val(b, &t->items[i]);
        if (!v[i])
            return NULL;
    }
    return cr_tuple(b, t->n, v);
}

struct cr_node *cr_script_value_node(struct cr_arena *arena, struct cr_pos pos,
                                     const struct cr_script_value *t)
{
    struct cr_node *node = CR_NEW(arena, struct cr_node), **last;
    int i;

    node->pos = pos;
    node->real = t->real;
    node->integer = t->integer;
    switch (t->kind) {
    case CR_SV_INT:
        node->kind = CR_NODE_INT;
        node->text = cr_strf(arena, "%lld", (long long)t->integer);
        return node;
    case CR_SV_REAL:
        node->kind = CR_NODE_REAL;
        node->text = cr_real_text(arena, t->real);
        return node;
    case CR_SV_BOOL:
        node->kind = CR_NODE_BOOL;
        node->boolean = t->integer != 0;
        node->text = node->boolean ? "true" : "false";
        return node;
    case CR_SV_STRING:
        node->kind = CR_NODE_STR;
        node->text = t->text;
        return node;
    case CR_SV_TUPLE:
        node->kind = CR_NODE_LIST;
        last = &node->child;
        for (i = 0; i < t->n; i++) {
            *last = cr_script_value_node(arena, pos, &t->items[i]);
            if (!*last)
                return NULL;
            last = &(*last)->next;
        }
        return node;
    default:
        return NULL;
    }
}

static double floor_mod(double a, double b)
{
    double r = fmod(a, b);

    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

const char *cr_script_value_fold(const char *sign,
                                 const struct cr_script_value *a,
                                 const struct cr_script_value *b,
                                 struct cr_script_value *to)
{
    bool ints = a->kind != CR_SV_REAL && b->kind != CR_SV_REAL;
    double x = a->real, y = b->real, v;

    if (strcmp(sign, "equal") == 0)
        return *to = cr_script_value_truth(x == y), NULL;
    if (strcmp(sign, "not_equal") == 0)
        return *to = cr_script_value_truth(x != y), NULL;
    if (strcmp(sign, "less") == 0)
        return *to = cr_script_value_truth(x < y), NULL;
    if (strcmp(sign, "less_equal") == 0)
        return *to = cr_script_value_truth(x <= y), NULL;
    if (strcmp(sign, "greater") == 0)
        return *to = cr_script_value_truth(x > y), NULL;
    if (strcmp(sign, "greater_equal") == 0)
        return *to = cr_script_value_truth(x >= y), NULL;
    if (strcmp(sign, "logical_and") == 0)
        return *to = x != 0 ? *b : *a, NULL;
    if (strcmp(sign, "logical_or") == 0)
        return *to = x != 0 ? *a : *b, NULL;
    if (strcmp(sign, "matmul") == 0)
        return "'@': found numbers, expected tensors";
    if (y == 0 && (strcmp(sign, "div") == 0 || strcmp(sign, "mod") == 0 ||
                   strcmp(sign, "floor_div") == 0))
        return "division by zero";
    v = strcmp(sign, "add") == 0         ? x + y
        : strcmp(sign, "sub") == 0       ? x - y
        : strcmp(sign, "mul") == 0       ? x * y
        : strcmp(sign, "div") == 0       ? x / y
        : strcmp(sign, "floor_div") == 0 ? floor(x / y)
        : strcmp(sign, "mod") == 0       ? floor_mod(x, y)
                                         : pow(x, y);
    if (ints && strcmp(sign, "div") != 0 && fabs(v) < 0x1p53 && v == floor(v))
        *to = cr_script_value_integer((int64_t)v);
    else
        *to = cr_script_value_real(v);
    return NULL;
}
