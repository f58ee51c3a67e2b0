#include "conf/opt_hint.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

bool cr_has_decimal_comma(const char *text)
{
    size_t whole = strspn(text, "0123456789"), rest;

    if (whole == 0 || text[whole] != ',')
        return false;
    rest = strspn(text + whole + 1, "0123456789");
    return rest > 0 && text[whole + 1 + rest] == '\0';
}

bool cr_is_percentage(const char *text)
{
    char *end;

    strtod(text, &end);
    return end > text && strcmp(end + strspn(end, " "), "%") == 0;
}

bool cr_is_split_number(const struct cr_node *before,
                        const struct cr_node *node)
{
    return before && before->kind == CR_NODE_INT &&
           node->kind == CR_NODE_NULL &&
           node->key[strspn(node->key, "0123456789")] == '\0';
}

const struct cr_node *cr_opt_mixed_map(const struct cr_opt *rows,
                                       const struct cr_node *list)
{
    const struct cr_node *m = list->child;
    const struct cr_opt *row = rows;

    for (; m && m->next && row->name; m = m->next)
        row++;
    if (!m || m == list->child || m->next || m->kind != CR_NODE_MAP ||
        !m->child || !row->name || row->type == CR_OPT_NODE)
        return NULL;
    while (row->name && strcmp(row->name, m->child->key) != 0)
        row++;
    return row->name ? m : NULL;
}

bool cr_opt_mixed(struct cr_diag *diag, const char *type,
                  const struct cr_opt *row, const struct cr_node *list)
{
    const struct cr_node *map = cr_opt_mixed_map(row, list);
    struct cr_buf b = { .arena = diag->arena };

    for (const struct cr_node *m = list->child; m != map; m = m->next, row++)
        cr_buf_f(&b, "%s: %s, ", row->name, cr_node_flow(diag->arena, m));
    for (CR_EACH(m, map))
        cr_buf_f(&b, "%s: %s%s", m->key, cr_node_flow(diag->arena, m),
                 m->next ? ", " : "");
    cr_error(diag, map->pos, CR_E_UNKNOWN_ARGUMENT,
             "%s: found arguments by position and by name, expected one of "
             "the two", type);
    cr_hint(diag, "write {%s: {%s}}", type, cr_buf_text(&b));
    return false;
}
