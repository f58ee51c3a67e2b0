#include "conf/yaml_format.h"

#include <string.h>

#include "conf/yaml.h"
#include "conf/yaml_layout.h"

#define FORMAT_WIDTH 100

struct format {
    struct cr_buf out;
    struct cr_arena *arena;
    int n_comments; /* printed */
    size_t kept;    /* the length of out after a block scalar with '+', to
                       whose value an empty line would belong */
    bool ambiguous; /* a text from brackets means more in block style */
};

/* Top-level keys in the order of cellrun-config(5); unknown ones come last. */
static const char *const format_keys[] = {
    "cellrun", "base",     "vars",       "plugin",  "seed",   "dataset",
    "vocab",   "datapipe", "blocks",     "network", "loss",   "optimizer",
    "metrics", "load",     "freeze",     "init",    "watch",  "amp",
    "train",   "eval",     "checkpoint", "log",     "sample", "run",
    "predict", "export",   "sweep",
};

static void format_members(struct format *f, const struct cr_layout *node,
                           int indent, bool first_line);

static void format_indent(struct format *f, int indent)
{
    cr_buf_f(&f->out, "%*s", indent, "");
}

static int format_col(const struct format *f)
{
    size_t line = f->out.len;

    while (line > 0 && f->out.text[line - 1] != '\n')
        line--;
    return (int)cr_utf8_count(f->out.text + line, f->out.len - line);
}

static void format_trim(struct format *f)
{
    while (f->out.len > 0 && f->out.text[f->out.len - 1] == ' ')
        f->out.len--;
}

/* ---- Comments */

static void format_blank(struct format *f)
{
    if (f->out.len > 1 && memcmp(f->out.text + f->out.len - 2, "\n\n", 2) != 0)
        cr_buf_char(&f->out, '\n');
}

static void format_comment_lines(struct format *f, const struct cr_comment *c,
                                 int indent, bool blanks)
{
    for (; c; c = c->next) {
        if (c->blank_before && blanks)
            format_blank(f);
        blanks = true;
        format_indent(f, indent);
        cr_buf_str(&f->out, c->text);
        cr_buf_char(&f->out, '\n');
        f->n_comments++;
    }
}

/* A comment at the end of a line stays in its column where the line is not
 * longer now. */
static void format_trailing(struct format *f, const struct cr_layout *node)
{
    const struct cr_comment *c = node->trailing;

    format_trim(f);
    if (c) {
        int col = format_col(f), gap = c->col > col + 2 ? c->col - col : 2;

        cr_buf_f(&f->out, "%*s%s", gap, "", c->text);
        f->n_comments++;
    }
    cr_buf_char(&f->out, '\n');
}

/* ---- Scalars */

/* Single quotes become double ones unless that needs escapes. */
static const char *format_scalar(struct format *f, const struct cr_layout *node)
{
    char *text;
    size_t n = strlen(node->text);

    if (n < 2 || *node->text != '\'' || strpbrk(node->text, "\"\\\n") ||
        memchr(node->text + 1, '\'', n - 2))
        return node->text;
    text = cr_strdup(f->arena, node->text);
    text[0] = text[n - 1] = '"';
    return text;
}

/* A list or map on one line; false if a scalar in it has several. */
static bool format_flow(struct format *f, struct cr_buf *to,
                        const struct cr_layout *node)
{
    const char *between = "";

    if (node->kind == CR_LAYOUT_SCALAR) {
        cr_buf_str(to, format_scalar(f, node));
        /* the end of a tag or anchor without a value */
        if (*node->text && strchr("!&", *node->text) &&
            !strpbrk(node->text, " \t"))
            cr_buf_char(to, ' ');
        return !strchr(node->text, '\n');
    }
    if (node->props)
        cr_buf_f(to, "%s ", node->props);
    cr_buf_char(to, node->kind == CR_LAYOUT_LIST ? '[' : '{');
    for (const struct cr_layout *m = node->child; m; m = m->next) {
        cr_buf_str(to, between);
        between = ", ";
        if (m->key && !format_flow(f, to, m->key))
            return false;
        if (m->key)
            cr_buf_str(to, ": ");
        if (!format_flow(f, to, m))
            return false;
    }
    cr_buf_char(to, node->kind == CR_LAYOUT_LIST ? ']' : '}');
    return true;
}

static bool format_is_scalars(const struct cr_layout *list)
{
    if (list->kind != CR_LAYOUT_LIST || !list->flow)
        return false;
    for (const struct cr_layout *m = list->child; m; m = m->next)
        if (m->kind != CR_LAYOUT_SCALAR || strchr(m->text, '\n'))
            return false;
    return true;
}

/* A long list of scalars fills lines. */
static void format_fill(struct format *f, const struct cr_layout *list,
                        int indent)
{
    if (list->props)
        cr_buf_f(&f->out, "%s ", list->props);
    cr_buf_char(&f->out, '[');
    for (const struct cr_layout *m = list->child; m; m = m->next) {
        const char *text = format_scalar(f, m);
        int len = (int)cr_utf8_count(text, strlen(text)) + 1;

        if (m != list->child && format_col(f) + len + 1 > FORMAT_WIDTH) {
            cr_buf_char(&f->out, '\n');
            format_indent(f, indent);
        } else if (m != list->child) {
            cr_buf_char(&f->out, ' ');
        }
        cr_buf_f(&f->out, "%s%c", text, m->next ? ',' : ']');
    }
}

/* The lines of a text, each after the first with this indentation in place of
 * `old` blanks, or of all of them if old < 0. */
static void format_lines(struct format *f, const char *text, int old,
                         int indent)
{
    for (bool first = true; *text; first = false) {
        size_t len = strcspn(text, "\n"), end = len, skip;

        skip = first ? 0 : strspn(text, old < 0 ? " \t" : " ");
        if (old >= 0 && skip > (size_t)old)
            skip = (size_t)old;
        while (old < 0 && end > skip && strchr(" \t", text[end - 1]))
            end--;
        if (!first && end > skip)
            format_indent(f, indent);
        cr_buf_add(&f->out, text + skip, end - skip);
        text += len + (text[len] == '\n');
        if (*text)
            cr_buf_char(&f->out, '\n');
    }
}

/* A block scalar: its header, without the comment, and its lines. */
static void format_block_scalar(struct format *f, const struct cr_layout *node,
                                int indent)
{
    size_t header = strcspn(node->text, "\n");
    const char *lines = node->text + header + (node->text[header] == '\n');
    const char *hash = strchr(node->text, '#');
    struct cr_buf head = { .arena = f->arena };
    bool is_cut = *lines && !cr_ends(lines, "\n");

    if (hash && hash < node->text + header)
        header = (size_t)(hash - node->text);
    while (header > 0 && strchr(" \t", node->text[header - 1]))
        header--;
    for (size_t i = 0; i < header; i++) {
        char c = node->text[i];

        /* an explicit indentation is that of the new lines: 2 */
        if (c >= '1' && c <= '9' && strchr("|>+-", node->text[i - 1]))
            c = '2';
        if (c != '+' || !is_cut)
            cr_buf_char(&head, c);
    }
    /* a value without a newline, at the end of a file without one */
    if (is_cut && !strchr(cr_buf_text(&head), '-'))
        cr_buf_char(&head, '-');
    cr_buf_str(&f->out, cr_buf_text(&head));
    format_trailing(f, node);
    if (!*lines ||
        (!lines[strspn(lines, " \n")] && !strchr(cr_buf_text(&head), '+')))
        return;
    format_indent(f, strspn(lines, " ") < strcspn(lines, "\n") ? indent : 0);
    format_lines(f,
                 lines + (strspn(lines, " ") > (size_t)node->indent
                              ? (size_t)node->indent
                              : strspn(lines, " ")),
                 node->indent, indent);
    /* empty lines at the end belong to the value only with '+' */
    while (!strchr(cr_buf_text(&head), '+') &&
           f->out.text[f->out.len - 1] == '\n')
        f->out.len--;
    cr_buf_char(&f->out, '\n');
    if (strchr(cr_buf_text(&head), '+'))
        f->kept = f->out.len;
}

/* ---- Lists and maps */

/* The value of a member whose key or dash is printed. `indent` is that of its
 * own lines. */
static void format_value(struct format *f, const struct cr_layout *node,
                         int indent)
{
    struct cr_buf line = { .arena = f->arena };
    bool is_tree = node->kind == CR_LAYOUT_LIST || node->kind == CR_LAYOUT_MAP;

    if (node->kind == CR_LAYOUT_BLOCK) {
        format_block_scalar(f, node, indent);
        return;
    }
    if (!is_tree) {
        if (strchr(node->text, '\n'))
            format_lines(f, node->text, -1, indent);
        else
            cr_buf_str(&f->out, format_scalar(f, node));
        format_trailing(f, node);
        return;
    }
    if ((!node->child || node->flow) && format_flow(f, &line, node) &&
        (!node->child ||
         format_col(f) + (int)cr_utf8_count(line.text, line.len) <=
             FORMAT_WIDTH)) {
        cr_buf_str(&f->out, line.text);
        format_trailing(f, node);
        return;
    }
    if (format_is_scalars(node)) {
        format_fill(f, node, indent);
        format_trailing(f, node);
        return;
    }
    if (node->props)
        cr_buf_str(&f->out, node->props);
    if (!node->key && !node->props && !node->trailing &&
        !node->child->before &&
        !(node->child->trailing && node->child->trailing->next)) {
        format_members(f, node, indent, true);
        return;
    }
    if (node->key || node->props) {
        format_trailing(f, node);
    } else { /* a comment after the dash is one before the first member */
        format_trim(f);
        cr_buf_char(&f->out, '\n');
        format_comment_lines(f, node->trailing, indent, false);
    }
    format_members(f, node, indent, false);
}

static void format_member(struct format *f, const struct cr_layout *m,
                          int indent, bool is_list, bool first, bool first_line)
{
    format_comment_lines(f, m->before, indent, !first);
    if (m->trailing && m->trailing->next)
        format_comment_lines(f, m->trailing->next, indent, !first || m->before);
    if (m->blank_before && (!first || m->before))
        format_blank(f);
    if (!first_line)
        format_indent(f, indent);
    f->ambiguous |= is_list && m->kind == CR_LAYOUT_SCALAR &&
                    (strcmp(m->text, "-") == 0 || strcmp(m->text, "?") == 0);
    if (is_list)
        cr_buf_str(&f->out, "- ");
    else
        cr_buf_f(&f->out, "%s: ", format_scalar(f, m->key));
    format_value(f, m, indent + 2);
}

/* first_line: the first member is on the line that was begun. */
static void format_members(struct format *f, const struct cr_layout *node,
                           int indent, bool first_line)
{
    for (const struct cr_layout *m = node->child; m; m = m->next)
        format_member(f, m, indent, node->kind == CR_LAYOUT_LIST,
                      m == node->child, first_line && m == node->child);
    format_comment_lines(f, node->after, indent, true);
}

/* ---- The file */

static int format_rank(const struct cr_layout *m)
{
    for (size_t i = 0; i < CR_LEN(format_keys); i++)
        if (strcmp(m->key->text, format_keys[i]) == 0)
            return (int)i;
    return (int)CR_LEN(format_keys);
}

/* Sorts the keys by their ranks; those of one rank keep their order. */
static void format_sort(struct cr_layout *root)
{
    struct cr_layout *of[CR_LEN(format_keys) + 1] = { NULL };
    struct cr_layout **last[CR_LEN(of)], **end = &root->child;

    for (size_t i = 0; i < CR_LEN(of); i++)
        last[i] = &of[i];
    for (struct cr_layout *m = root->child; m; m = m->next) {
        int rank = format_rank(m);

        *last[rank] = m;
        last[rank] = &m->next;
    }
    for (size_t i = 0; i < CR_LEN(of); i++)
        if (of[i]) {
            *end = of[i];
            end = last[i];
        }
    *end = NULL;
}

/* The comments at the start of the file stay there: all before the last empty
 * line, or all if there is none before the first key. */
static const struct cr_comment *format_header(struct cr_layout *first)
{
    struct cr_comment *header = first->before, *c, *cut = NULL;

    for (c = header; c && c->next && !first->blank_before; c = c->next)
        if (c->next->blank_before)
            cut = c;
    if (cut) {
        first->before = cut->next;
        cut->next = NULL;
    } else {
        first->before = NULL;
    }
    return header;
}

static void format_text(struct format *f, const struct cr_layout_text *text)
{
    struct cr_layout *root = text->root;
    const struct cr_comment *header;
    bool gap;

    header = format_header(root->child);
    gap = root->child->blank_before || root->child->before;
    root->child->blank_before = false;
    if (root->kind == CR_LAYOUT_MAP && !text->has_anchors)
        format_sort(root);
    if (root->props)
        cr_buf_f(&f->out, "%s\n", root->props);
    format_comment_lines(f, header, 0, false);
    if (header && gap)
        format_blank(f);
    format_members(f, root, 0, false);
}

/* Equal trees; at the top level in any order. */
static bool format_is_same(const struct cr_node *a, const struct cr_node *b,
                           bool top)
{
    const struct cr_node *n = b->child;

    if (a->kind != b->kind || a->quoted != b->quoted ||
        (a->tag ? !b->tag || strcmp(a->tag, b->tag) != 0 : b->tag != NULL) ||
        (a->text ? !b->text || strcmp(a->text, b->text) != 0
                 : b->text != NULL) ||
        cr_node_count(a) != cr_node_count(b))
        return false;
    for (CR_EACH(m, a)) {
        if (top && a->kind == CR_NODE_MAP)
            n = cr_node_get(b, m->key);
        if (!n || (m->key && strcmp(m->key, n->key) != 0) ||
            !format_is_same(m, n, false))
            return false;
        n = n->next;
    }
    return true;
}

/* The text with \n for \r\n. False after reporting another \r. */
static bool format_lf(struct cr_arena *arena, struct cr_diag *diag,
                      const struct cr_source *src, struct cr_source *to)
{
    struct cr_buf buf = { .arena = arena };

    for (size_t i = 0; i < src->len; i++)
        if (src->text[i] != '\r')
            cr_buf_char(&buf, src->text[i]);
        else if (src->text[i + 1] != '\n')
            return cr_error(diag, cr_pos_at(src, i, 1), CR_E_FORM,
                            "found a carriage return without a line feed");
    *to = (struct cr_source){ .name = src->name,
                              .text = cr_buf_text(&buf),
                              .len = buf.len };
    return true;
}

const char *cr_yaml_format(struct cr_arena *arena, struct cr_diag *diag,
                           const struct cr_source *src)
{
    struct format f = { .out = { .arena = arena }, .arena = arena };
    struct cr_source lf, again = { .name = src->name };
    struct cr_diag unseen = { .arena = arena };
    struct cr_node *old = cr_yaml_read(arena, diag, src, 0, src->len), *new;
    struct cr_layout_text text;

    if (!old || diag->errors > 0 || !format_lf(arena, diag, src, &lf))
        return NULL;
    f.ambiguous = !cr_yaml_layout(arena, &lf, &text);
    if (!f.ambiguous && (!text.root || !text.root->child))
        return lf.text; /* only comments, or no list or map */
    if (!f.ambiguous)
        format_text(&f, &text);
    if (f.ambiguous) {
        cr_error(diag, cr_at_file(arena, src->name), CR_E_FORM,
                 "found an unquoted text in brackets that needs quotes on "
                 "lines of its own");
        return NULL;
    }
    again.text = cr_buf_text(&f.out);
    again.len = f.out.len;
    new = cr_yaml_read(arena, &unseen, &again, 0, again.len);
    if (new &&format_is_same(old, new, true) && f.n_comments == text.n_comments)
        return again.text;
    cr_error(diag, cr_at_file(arena, src->name), CR_E_INTERNAL,
             "cannot format this file without changing its meaning");
    return NULL;
}
