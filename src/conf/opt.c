/*
 * Reading option tables: a node and a table of rows in, a struct out.
 *
 * Messages distinguish the three owners of tables: an argument of a type ('p'
 * of Dropout), a key of a section ('train.epochs'), a flag of a command
 * (--run-dir). All errors of a node are reported; a field that cannot be read
 * stays zero.
 */
#include "conf/opt.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "conf/opt_hint.h"
#include "conf/scalar.h"
#include "conf/terms.h"

enum owner {
    OWNER_TYPE,
    OWNER_SECTION,
    OWNER_COMMAND
};

struct reader {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const struct cr_descriptor *about;
    const struct cr_opt *opts;
    const char *name; /* the owner in messages: SGD, train.clip */
    enum owner owner;
};

static bool opt_rows(const struct reader *r, const struct cr_node *node,
                     struct cr_pos pos, char *to);

static enum owner opt_owner(const struct cr_descriptor *about)
{
    if (cr_registry_find(CR_KIND_SECTION, about->name) == about)
        return OWNER_SECTION;
    /* "cellrun" is the owner of the flags of all commands */
    if (cr_registry_find(CR_KIND_COMMAND, about->name) == about ||
        strcmp(about->name, "cellrun") == 0)
        return OWNER_COMMAND;
    return OWNER_TYPE;
}

/* The name of a row in messages. */
static const char *opt_label(const struct reader *r, const char *key)
{
    const char *word = cr_quote(r->arena, key, strlen(key));
    char *flag;

    switch (r->owner) {
    case OWNER_TYPE:
        return cr_strf(r->arena, "'%s' of %s", word, r->name);
    case OWNER_SECTION:
        /* seed: 3 is read by the row `seed` of the section seed */
        if (strcmp(r->name, key) == 0)
            return cr_strf(r->arena, "'%s'", word);
        return cr_strf(r->arena, "'%s.%s'", r->name, word);
    case OWNER_COMMAND:
        break;
    }
    flag = cr_strf(r->arena, "--%s", word);
    for (char *p = flag; *p; p++)
        if (*p == '_')
            *p = '-';
    return flag;
}

/* After an error: the path for editors, where there is one. */
static void opt_path(const struct reader *r, const char *key)
{
    if (r->owner == OWNER_SECTION)
        cr_path(r->diag, strcmp(r->name, key) == 0
                             ? key
                             : cr_strf(r->arena, "%s.%s", r->name, key));
}

static void opt_note_takes(const struct reader *r)
{
    struct cr_buf buf = { .arena = r->arena };

    if (r->owner == OWNER_COMMAND || !r->opts || !r->opts->name)
        return;
    for (const struct cr_opt *row = r->opts; row->name; row++)
        cr_buf_f(&buf, " %s", row->name);
    cr_note(r->diag, "%s takes:%s      (cellrun help %s)", r->name,
            cr_buf_text(&buf),
            r->owner == OWNER_SECTION ? r->name : r->about->name);
}

/* A number, a text or a truth value in place of a map may be meant for its
 * first key, a pattern or a list for one that takes any node. */
static void opt_hint_first(const struct reader *r, const struct cr_node *node)
{
    const struct cr_opt *row = r->opts;
    bool is_number =
        node->kind == CR_NODE_INT || node->kind == CR_NODE_REAL;

    if (row->name && ((is_number && (row->type == CR_OPT_INT ||
                                     row->type == CR_OPT_REAL)) ||
                      (node->kind == CR_NODE_STR &&
                       row->type == CR_OPT_STR) ||
                      (node->kind == CR_NODE_BOOL &&
                       row->type == CR_OPT_BOOL) ||
                      (node->child && row->type == CR_OPT_NODE) ||
                      (node->kind == CR_NODE_STR &&
                       strcmp(row->name, "patterns") == 0)))
        cr_hint(r->diag, "write {%s: %s}", row->name,
                cr_node_flow(r->arena, node));
}

static bool opt_wrong(const struct reader *r, const struct cr_opt *row,
                      const struct cr_node *node, enum cr_code code)
{
    cr_error(r->diag, node->pos, code, "%s: found %s, expected %s",
             opt_label(r, row->name), cr_node_what(r->arena, node),
             cr_opt_expects(r->arena, row));
    opt_path(r, row->name);
    return false;
}

static bool opt_in_range(const struct reader *r, const struct cr_opt *row,
                         const struct cr_node *node, double value)
{
    if (value >= row->min && value <= row->max &&
        !(row->min_exclusive && value == row->min))
        return true;
    opt_wrong(r, row, node, CR_E_OUT_OF_RANGE);
    /* a bound of the arithmetic alone is stated only when exceeded */
    if (value > row->max && row->max >= (double)CR_DIM_MAX)
        cr_hint(r->diag, "the maximum is %s",
                row->type == CR_OPT_INT || row->type == CR_OPT_INTS
                    ? cr_strf(r->arena, "%" PRId64,
                              row->max < 0x1p63 ? (int64_t)row->max : INT64_MAX)
                    : cr_real_text(r->arena, row->max));
    return false;
}

/* Fractions of the data and numbers of samples: not negative, and integers from
 * 1 on. */
static bool opt_fraction(const struct reader *r, const struct cr_opt *row,
                         const struct cr_node *node, struct cr_quantity *to)
{
    bool negative = node->text && node->text[0] == '-' &&
                    cr_quantity_parse(node->text + 1, CR_SAMPLES, to);

    if (!negative &&
        !cr_quantity_read(r->diag, node, (enum cr_unit)row->int_default, to))
        return false;
    return (!negative && (to->unit != CR_SAMPLES || to->value < 1 ||
                          to->value == floor(to->value))) ||
           opt_wrong(r, row, node, CR_E_OUT_OF_RANGE);
}

static bool opt_int(const struct reader *r, const struct cr_opt *row,
                    const struct cr_node *node, int64_t *to)
{
    /* 1e6 is accepted as an integer; up to 2^53 the conversion is exact */
    if (node->kind == CR_NODE_REAL && fabs(node->real) <= 0x1p53 &&
        node->real == floor(node->real))
        *to = (int64_t)node->real;
    else if (node->kind == CR_NODE_INT)
        *to = node->integer;
    else if (node->kind == CR_NODE_REAL && isfinite(node->real) &&
             fabs(node->real) > 0x1p53 &&
             !opt_in_range(r, row, node, node->real))
        return false;
    else
        return opt_wrong(r, row, node, CR_E_WRONG_TYPE);
    return opt_in_range(r, row, node, (double)*to);
}

static bool opt_real(const struct reader *r, const struct cr_opt *row,
                     const struct cr_node *node, double *to)
{
    if (node->kind != CR_NODE_INT && node->kind != CR_NODE_REAL)
        return opt_wrong(r, row, node, CR_E_WRONG_TYPE);
    *to = node->real;
    return opt_in_range(r, row, node, *to);
}

/* A number or a truth value is accepted as a name. */
static bool opt_str(const struct reader *r, const struct cr_opt *row,
                    const struct cr_node *node, const char **to)
{
    if (node->kind == CR_NODE_NULL || node->kind == CR_NODE_LIST ||
        node->kind == CR_NODE_MAP)
        return opt_wrong(r, row, node, CR_E_WRONG_TYPE);
    *to = node->text;
    return true;
}

static bool opt_enum(const struct reader *r, const struct cr_opt *row,
                     const struct cr_node *node, int *to)
{
    const char *const *words = cr_opt_choices(r->arena, row);
    const char *guess;

    if (node->kind == CR_NODE_LIST || node->kind == CR_NODE_MAP)
        return opt_wrong(r, row, node, CR_E_WRONG_TYPE);
    if (node->text)
        for (int i = 0; words[i]; i++)
            if (strcmp(words[i], node->text) == 0) {
                *to = i;
                return true;
            }
    opt_wrong(r, row, node, CR_E_OUT_OF_RANGE);
    guess = node->text ? cr_term_value(node->text, words) : NULL;
    if (guess)
        cr_hint(r->diag, "did you mean '%s'?", guess);
    return false;
}

/* [[1, 2], [3, 4]] as 1, 2, 3, 4. */
static bool opt_pairs(const struct reader *r, const struct cr_opt *row,
                      const struct cr_node *node, struct cr_ints *to)
{
    int64_t *v = CR_NEWS(r->arena, int64_t, 2 * cr_node_count(node) + 1);
    int n = 0;

    if (node->kind != CR_NODE_LIST || !node->child)
        return opt_wrong(r, row, node, CR_E_WRONG_TYPE);
    for (CR_EACH(pair, node)) {
        if (pair->kind != CR_NODE_LIST || cr_node_count(pair) != 2)
            return opt_wrong(r, row, pair, CR_E_WRONG_TYPE);
        for (CR_EACH(m, pair))
            if (!opt_int(r, row, m, &v[n++]))
                return false;
    }
    *to = (struct cr_ints){ n, v };
    return true;
}

/* Elements of a list; a lone value is a list of one. */
static bool opt_list(const struct reader *r, const struct cr_opt *row,
                     const struct cr_node *node, char *to)
{
    bool many = node->kind == CR_NODE_LIST, ok = true;
    int n = many ? cr_node_count(node) : 1, i = 0;
    const struct cr_node *m = many ? node->child : node;
    struct cr_objs *objs = (struct cr_objs *)to;
    struct cr_ints *ints = (struct cr_ints *)to;
    struct cr_reals *reals = (struct cr_reals *)to;
    struct cr_strs *strs = (struct cr_strs *)to;
    int64_t *v_int = CR_NEWS(r->arena, int64_t, n);
    double *v_real = CR_NEWS(r->arena, double, n);
    const char **v_str = CR_NEWS(r->arena, const char *, n);
    struct cr_obj *v_obj = CR_NEWS(r->arena, struct cr_obj, n);

    if (row->pairs)
        return opt_pairs(r, row, node, ints);
    if (n == 0 && row->need == CR_REQUIRED && !row->empty)
        return opt_wrong(r, row, node, CR_E_OUT_OF_RANGE);
    for (; i < n; i++, m = m->next)
        if (row->nullable && m->kind == CR_NODE_NULL)
            v_int[i] = CR_INT_NONE;
        else if (row->type == CR_OPT_INTS)
            ok = opt_int(r, row, m, &v_int[i]) && ok;
        else if (row->type == CR_OPT_REALS)
            ok = opt_real(r, row, m, &v_real[i]) && ok;
        else if (row->type == CR_OPT_STRS)
            ok = opt_str(r, row, m, &v_str[i]) && ok;
        else
            ok = cr_obj_read(r->arena, r->diag, row->kind, m, &v_obj[i]) &&
                 ok;
    if (row->type == CR_OPT_INTS)
        *ints = (struct cr_ints){ n, v_int };
    else if (row->type == CR_OPT_REALS)
        *reals = (struct cr_reals){ n, v_real };
    else if (row->type == CR_OPT_STRS)
        *strs = (struct cr_strs){ n, v_str };
    else
        *objs = (struct cr_objs){ n, v_obj };
    return ok;
}

bool cr_opt_switch(const struct cr_opt *row)
{
    return row->type == CR_OPT_SUB && row->sub->type == CR_OPT_BOOL &&
           strcmp(row->sub->name, "enabled") == 0;
}

static bool opt_sub(const struct reader *r, const struct cr_opt *row,
                    const struct cr_node *node, struct cr_pos pos, char *to)
{
    struct reader sub = *r;

    sub.opts = row->sub;
    sub.name = cr_strf(r->arena, r->owner == OWNER_SECTION ? "%s.%s" : "%s %s",
                       r->name, row->name);
    if (node && node->kind == CR_NODE_BOOL && cr_opt_switch(row)) {
        if (!opt_rows(&sub, NULL, pos, to))
            return false;
        memcpy(to + row->sub->at, &node->boolean, sizeof node->boolean);
        return true;
    }
    if (node && node->kind != CR_NODE_MAP && node->kind != CR_NODE_NULL) {
        opt_wrong(r, row, node, CR_E_WRONG_TYPE);
        opt_hint_first(&sub, node);
        opt_note_takes(&sub);
        return false;
    }
    return opt_rows(&sub, node, pos, to);
}

static bool opt_given(const struct reader *r, const struct cr_opt *row,
                      const struct cr_node *node, char *to)
{
    switch (row->type) {
    case CR_OPT_INT:
        return opt_int(r, row, node, (int64_t *)to);
    case CR_OPT_REAL:
        return opt_real(r, row, node, (double *)to);
    case CR_OPT_BOOL:
        if (node->kind != CR_NODE_BOOL) {
            opt_wrong(r, row, node, CR_E_WRONG_TYPE);
            cr_scalar_hint_bool(r->diag, node);
            return false;
        }
        *(bool *)to = node->boolean;
        return true;
    case CR_OPT_STR:
        return opt_str(r, row, node, (const char **)to);
    case CR_OPT_ENUM:
        return opt_enum(r, row, node, (int *)to);
    case CR_OPT_INTS:
    case CR_OPT_REALS:
    case CR_OPT_STRS:
    case CR_OPT_OBJS:
        return opt_list(r, row, node, to);
    case CR_OPT_OBJ:
        return cr_obj_read(r->arena, r->diag, row->kind, node,
                           (struct cr_obj *)to);
    case CR_OPT_QUANTITY:
        if (row->nullable && node->kind == CR_NODE_STR &&
            strcmp(node->text, "off") == 0)
            return true;
        if (row->share)
            return opt_fraction(r, row, node, (struct cr_quantity *)to);
        return cr_quantity_read(r->diag, node, (enum cr_unit)row->int_default,
                                (struct cr_quantity *)to);
    case CR_OPT_SUB:
        return opt_sub(r, row, node, node->pos, to);
    case CR_OPT_NODE:
        *(const struct cr_node **)to = node;
        return true;
    case CR_OPT_END:
        break;
    }
    return false;
}

/* An object as a table's default names it: "HeUniform" or "0.02". */
static bool opt_obj_default(const struct reader *r, const struct cr_opt *row,
                            struct cr_pos pos, struct cr_obj *to)
{
    char *end;

    to->number = strtod(row->text, &end);
    if (!*end) {
        to->is_number = true;
        return true;
    }
    to->number = 0;
    to->about = cr_registry_find(row->kind, row->text);
    if (!to->about)
        return cr_error(r->diag, pos, CR_E_INTERNAL,
                        "the default of %s is %s, which is unknown",
                        opt_label(r, row->name), row->text);
    to->opts = cr_alloc(r->arena, 1, to->about->size);
    return cr_opts_read(r->arena, r->diag, to->about, NULL, pos,
                        (void *)to->opts);
}

/* A row that is not in the node. */
static bool opt_absent(const struct reader *r, const struct cr_opt *row,
                       struct cr_pos pos, char *to)
{
    if (row->type == CR_OPT_SUB) {
        /* required rows of a CR_SUB apply only if its map is present */
        for (const struct cr_opt *sub = row->sub; sub->name; sub++)
            if (sub->need != CR_REQUIRED &&
                !opt_absent(r, sub, pos, to + sub->at))
                return false;
        return true;
    }
    if (row->need == CR_REQUIRED) {
        if (r->owner == OWNER_TYPE)
            cr_error(r->diag, pos, CR_E_MISSING_KEY,
                     "argument '%s' of %s is missing", row->name, r->name);
        else
            cr_error(r->diag, pos, CR_E_MISSING_KEY, "%s is missing",
                     opt_label(r, row->name));
        opt_note_takes(r);
        opt_path(r, row->name);
        return false;
    }
    if (row->type == CR_OPT_INT && row->need == CR_OPTIONAL)
        *(int64_t *)to = CR_INT_NONE;
    else if (row->type == CR_OPT_REAL && row->need == CR_OPTIONAL)
        *(double *)to = NAN;
    else if (row->type == CR_OPT_BOOL && row->need == CR_OPTIONAL)
        *(unsigned char *)to = CR_BOOL_NONE;
    if (row->need == CR_OPTIONAL)
        return true;
    switch (row->type) {
    case CR_OPT_INT:
        *(int64_t *)to = row->int_default;
        return true;
    case CR_OPT_REAL:
        *(double *)to = row->real_default;
        return true;
    case CR_OPT_BOOL:
        *(bool *)to = row->int_default != 0;
        return true;
    case CR_OPT_ENUM:
        *(int *)to = (int)row->int_default;
        return true;
    case CR_OPT_STR:
        *(const char **)to = row->text;
        return true;
    case CR_OPT_QUANTITY:
        return cr_quantity_parse(row->text, (enum cr_unit)row->int_default,
                                 (struct cr_quantity *)to);
    case CR_OPT_OBJ:
        return opt_obj_default(r, row, pos, (struct cr_obj *)to);
    default:
        return true;
    }
}

/* before: the entry of the map before this one, or NULL. */
static bool opt_unknown(const struct reader *r, const struct cr_node *node,
                        const struct cr_node *before)
{
    const char *word = cr_quote(r->arena, node->key, strlen(node->key));
    const char **names;
    int n = 0;

    for (const char *const *p = r->about->renamed; p && *p; p += 2)
        if (strcmp(p[0], node->key) == 0) {
            cr_error(r->diag, node->key_pos, CR_E_UNKNOWN_ARGUMENT,
                     "%s was renamed to '%s'", opt_label(r, word), p[1]);
            cr_hint(r->diag, "write '%s'", p[1]);
            return false;
        }
    if (r->owner == OWNER_SECTION)
        cr_error(r->diag, node->key_pos, CR_E_UNKNOWN_KEY,
                 "'%s.%s' is not a key of %s", r->name, word, r->name);
    else if (!r->opts || !r->opts->name)
        cr_error(r->diag, node->key_pos, CR_E_UNKNOWN_ARGUMENT,
                 "unknown argument '%s': %s takes none", word, r->name);
    else
        cr_error(r->diag, node->key_pos, CR_E_UNKNOWN_ARGUMENT,
                 "unknown argument '%s' for %s", word, r->name);
    while (r->opts && r->opts[n].name)
        n++;
    names = CR_NEWS(r->arena, const char *, n + 1);
    for (int i = 0; i < n; i++)
        names[i] = r->opts[i].name;
    if (cr_is_split_number(before, node))
        cr_hint(r->diag, "numbers have a decimal point: write %s: %s.%s",
                before->key, cr_node_flow(r->arena, before), word);
    else if (!cr_modifier_hint(r->arena, r->diag, r->about, node))
        cr_term_hint(r->diag, node->key, names);
    opt_note_takes(r);
    opt_path(r, node->key);
    return false;
}

/* Rows from a map of names (or nothing at all). */
static bool opt_rows(const struct reader *r, const struct cr_node *node,
                     struct cr_pos pos, char *to)
{
    const struct cr_node *before = NULL;
    bool ok = true;

    for (CR_EACH(m, node)) {
        const struct cr_opt *row = r->opts;

        while (row && row->name && strcmp(row->name, m->key) != 0)
            row++;
        if (!row || !row->name)
            ok = opt_unknown(r, m, before);
        before = m;
    }
    for (const struct cr_opt *row = r->opts; row && row->name; row++) {
        const struct cr_node *m = cr_node_get(node, row->name);

        /* `key: null` means that it is not set */
        if (m && m->kind != CR_NODE_NULL)
            ok = opt_given(r, row, m, to + row->at) && ok;
        else
            ok = opt_absent(r, row, m ? m->pos : pos, to + row->at) && ok;
    }
    return ok;
}

bool cr_opt_is_last(const struct cr_opt *row)
{
    return !row[1].name || row[1].keyword_only;
}

/* Whether the list or scalar is the value of the only row, like the list of
 * cells of a SequentialCell or `metrics: [accuracy, loss]`. */
static bool opt_is_single_row(const struct reader *r,
                              const struct cr_node *node)
{
    const struct cr_opt *row = r->opts;
    bool many = row->type == CR_OPT_INTS || row->type == CR_OPT_REALS ||
                row->type == CR_OPT_STRS || row->type == CR_OPT_OBJS ||
                row->type == CR_OPT_NODE;

    if (node->kind == CR_NODE_LIST)
        return cr_opt_is_last(row) && many;
    /* a scalar section is the value of its required key */
    return r->owner == OWNER_TYPE || cr_opt_is_last(row) ||
           row->need == CR_REQUIRED;
}

/* Reads rows in their order from a list or from one value. */
static bool opt_positional(const struct reader *r, const struct cr_node *node,
                           struct cr_pos pos, char *to)
{
    const struct cr_opt *row = r->opts;
    const struct cr_node *m = node->child;
    bool ok = true;
    int n = 0;

    if (!row || !row->name)
        return cr_error(r->diag, node->pos, CR_E_UNKNOWN_ARGUMENT,
                        "%s takes no arguments", r->name);
    if (r->about->keyword_only) {
        cr_error(
            r->diag, node->pos, CR_E_UNKNOWN_ARGUMENT,
            "%s: found an argument without a name, expected arguments by name",
            r->name);
        cr_hint(r->diag, "write {%s: {%s: %s}}%s", r->name, row->name,
                cr_node_flow(r->arena,
                             node->kind == CR_NODE_LIST ? m : node),
                row[1].name ? cr_strf(r->arena, " or {%s: {%s: ...}}",
                                      r->name, row[1].name)
                            : "");
        for (; row->name; row++)
            cr_note(r->diag, "%s: %s", row->name, row->doc);
        return false;
    }
    if (opt_is_single_row(r, node)) {
        ok = opt_given(r, row++, node, to + r->opts->at);
    } else if (node->kind != CR_NODE_LIST || r->owner != OWNER_TYPE) {
        cr_error(r->diag, node->pos, CR_E_WRONG_TYPE,
                 "%s: found %s, expected a map of keys", r->name,
                 cr_node_what(r->arena, node));
        opt_hint_first(r, node);
        opt_note_takes(r);
        return false;
    } else if (cr_opt_mixed_map(row, node)) {
        return cr_opt_mixed(r->diag, r->name, row, node);
    } else {
        for (; m && row->name && !row->keyword_only; m = m->next, row++, n++)
            if (m->kind == CR_NODE_NULL)
                ok = opt_absent(r, row, m->pos, to + row->at) && ok;
            else
                ok = opt_given(r, row, m, to + row->at) && ok;
        if (m) {
            ok = cr_error(r->diag, m->pos, CR_E_UNKNOWN_ARGUMENT,
                          "%s takes at most %d argument%s, found %d", r->name,
                          n, n == 1 ? "" : "s", cr_node_count(node));
            opt_note_takes(r);
        }
    }
    for (; row->name; row++)
        ok = opt_absent(r, row, pos, to + row->at) && ok;
    return ok;
}

bool cr_opts_read(struct cr_arena *arena, struct cr_diag *diag,
                  const struct cr_descriptor *about, const struct cr_node *node,
                  struct cr_pos pos, void *to)
{
    struct reader r = { arena, diag, about, about->opts, about->name,
                        opt_owner(about) };

    if (node && node->kind != CR_NODE_MAP && node->kind != CR_NODE_NULL)
        return opt_positional(&r, node, pos, to);
    if (node && node->kind == CR_NODE_MAP && about->takes_map)
        return opt_given(&r, about->opts, node,
                         (char *)to + about->opts->at);
    return opt_rows(&r, node, pos, to);
}

/* ---- Typed nodes --------------------------------------------------------
 * {SGD: {...}}, SGD, and other forms that a row accepts: MindSpore's strings
 * for initialisers and metrics, numbers, lists for schedules. */

static const char *opt_a(enum cr_kind kind)
{
    const char *name = cr_kind_name(kind);

    return strchr("aeiou", *name) ? "an" : "a";
}

static bool opt_no_type(struct cr_arena *arena, struct cr_diag *diag,
                        enum cr_kind kind, const struct cr_node *node)
{
    const struct cr_descriptor *const *list = cr_registry_list(kind);
    const struct cr_node *type = cr_node_get(node, "type");
    const char *first = list[0] ? list[0]->name : "Type", *second = NULL;
    bool is_number = node->kind == CR_NODE_INT || node->kind == CR_NODE_REAL;

    for (CR_EACH(m, node))
        if (m->key && *m->key >= 'A' && *m->key <= 'Z') {
            if (second)
                return cr_error(diag, m->key_pos, CR_E_FORM,
                                "found two types, '%s' and '%s', expected one",
                                cr_quote(arena, second, strlen(second)),
                                cr_quote(arena, m->key, strlen(m->key)));
            second = m->key;
        }
    if (type && type->text) {
        cr_error(diag, type->key_pos, CR_E_FORM,
                 "the type is the key itself, not a value of 'type'");
        cr_hint(diag, "write %s: {...}", type->text);
        return false;
    }
    for (CR_EACH(m, node))
        if (m->key && cr_registry_like(kind, m->key)) {
            cr_error(diag, m->key_pos, CR_E_UNKNOWN_TYPE, "unknown %s '%s'",
                     cr_kind_name(kind),
                     cr_quote(arena, m->key, strlen(m->key)));
            cr_hint(diag, "did you mean '%s'?",
                    cr_registry_like(kind, m->key));
            return false;
        }
    cr_error(diag, node->pos, CR_E_FORM, "found %s, expected %s %s",
             cr_node_what(arena, node), opt_a(kind), cr_kind_name(kind));
    if (kind == CR_KIND_SCALER && is_number && node->real > 0 &&
        node->real <= FLT_MAX)
        cr_hint(diag, "write {FixedLossScaleManager: {loss_scale: %s}}",
                cr_node_flow(arena, node));
    else if (kind == CR_KIND_SCALER && is_number)
        cr_hint(diag, "write {DynamicLossScaleManager: {init_loss_scale: "
                      "65536}} or {FixedLossScaleManager: {loss_scale: "
                      "1024}}");
    else
        cr_hint(diag, "such as {%s: {...}}", first);
    return false;
}

static bool opt_unknown_type(struct cr_arena *arena, struct cr_diag *diag,
                             enum cr_kind kind, const char *name,
                             struct cr_pos pos)
{
    const struct cr_descriptor *const *list = cr_registry_list(kind);
    /* a tokenizer may be among the transforms of a column */
    const struct cr_descriptor *const *also =
        kind == CR_KIND_TRANSFORM ? cr_registry_list(CR_KIND_TOKENIZER) : NULL;
    struct cr_buf buf = { .arena = arena };
    const char **names;
    int n = 0, n_also = 0;

    /* what a use of a block becomes after its error was reported */
    if (diag->errors > 0 && strcmp(name, "Identity") == 0)
        return false;
    for (int k = 0; k < CR_KINDS; k++)
        if (k != (int)kind && k != CR_KIND_SECTION && k != CR_KIND_COMMAND &&
            k != CR_KIND_OP && cr_registry_find((enum cr_kind)k, name))
            return cr_error(diag, pos, CR_E_UNKNOWN_TYPE,
                            "%s is %s %s, expected %s %s", name,
                            opt_a((enum cr_kind)k),
                            cr_kind_name((enum cr_kind)k), opt_a(kind),
                            cr_kind_name(kind));
    while (list[n])
        n++;
    while (also && also[n_also])
        n_also++;
    names = CR_NEWS(arena, const char *, n + n_also + 1);
    for (int i = 0; i < n + n_also; i++) {
        names[i] = i < n ? list[i]->name : also[i - n]->name;
        cr_buf_f(&buf, " %s", names[i]);
    }
    if (kind == CR_KIND_SCHEDULE && !(*name >= 'A' && *name <= 'Z'))
        cr_error(diag, pos, CR_E_UNKNOWN_TYPE,
                 "found '%s', expected a number or a schedule",
                 cr_quote(arena, name, strlen(name)));
    else
        cr_error(diag, pos, CR_E_UNKNOWN_TYPE, "unknown %s '%s'",
                 cr_kind_name(kind), cr_quote(arena, name, strlen(name)));
    if (cr_has_decimal_comma(name))
        cr_hint(diag, "numbers have a decimal point, not a comma");
    else if (kind == CR_KIND_SCHEDULE && cr_is_percentage(name))
        cr_hint(diag, "a learning rate is a number without a unit: write %g",
                strtod(name, NULL) / 100);
    else if (!cr_term_hint(diag, name, names) && n > 0)
        cr_note(diag, "known:%s", cr_buf_text(&buf));
    return false;
}

/* A lower-case name of kinds that have such names: accuracy, he_uniform. */
static const char *opt_word(enum cr_kind kind, const struct cr_node *node,
                            const struct cr_node **args)
{
    if (node->kind == CR_NODE_STR && cr_registry_find(kind, node->text))
        return node->text;
    if (node->kind != CR_NODE_MAP)
        return NULL;
    for (CR_EACH(m, node))
        if (cr_registry_find(kind, m->key)) {
            *args = m->kind == CR_NODE_NULL ? NULL : m;
            return m->key;
        }
    return NULL;
}

/* Values of a kind that are not types. */
static bool opt_plain(enum cr_kind kind, const struct cr_node *node,
                      struct cr_obj *to)
{
    bool number = node->kind == CR_NODE_INT || node->kind == CR_NODE_REAL;

    if (kind != CR_KIND_INIT && kind != CR_KIND_SCHEDULE)
        return false;
    if (number) {
        to->is_number = true;
        to->number = node->real;
        return true;
    }
    if (kind != CR_KIND_SCHEDULE)
        return false;
    if (node->kind == CR_NODE_STR) /* a file of numbers */
        return strpbrk(node->text, "./") != NULL;
    if (node->kind != CR_NODE_LIST || !node->child)
        return false;
    for (CR_EACH(m, node))
        if (m->kind != CR_NODE_INT && m->kind != CR_NODE_REAL)
            return false;
    return true;
}

bool cr_obj_read(struct cr_arena *arena, struct cr_diag *diag,
                 enum cr_kind kind, const struct cr_node *node,
                 struct cr_obj *to)
{
    const struct cr_node *args = NULL;
    const char *name;
    bool ok = true;

    *to = (struct cr_obj){ .node = node };
    if (opt_plain(kind, node, to))
        return true;
    name = cr_node_type(node, &args);
    if (!name)
        name = opt_word(kind, node, &args);
    if (!name && node->kind == CR_NODE_STR)
        return opt_unknown_type(arena, diag, kind, node->text, node->pos);
    if (!name)
        return opt_no_type(arena, diag, kind, node);
    to->about = cr_registry_find(kind, name);
    if (!to->about)
        return opt_unknown_type(arena, diag, kind, name,
                                args ? args->key_pos : node->pos);
    if (node->kind == CR_NODE_MAP)
        for (CR_EACH(m, node)) {
            if (strcmp(m->key, name) != 0 && !cr_is_modifier(kind, m->key)) {
                const char *guess = cr_closest_name(m->key, cr_modifiers(kind));

                ok = cr_error(diag, m->key_pos, CR_E_UNKNOWN_KEY,
                              "'%s' is not allowed next to %s",
                              cr_quote(arena, m->key, strlen(m->key)), name);
                if (guess)
                    cr_hint(diag, "did you mean '%s'?", guess);
                else if (cr_cells_hint(node))
                    cr_hint(diag, "%s", cr_cells_hint(node));
            }
        }
    to->opts = cr_alloc(arena, 1, to->about->size);
    return cr_opts_read(arena, diag, to->about, args,
                        args ? args->key_pos : node->pos,
                        (void *)to->opts) && ok;
}
