#include "conf/yaml_layout.h"

#include <ctype.h>
#include <string.h>
#include <yaml.h>

struct layout_span {
    size_t from, to;
};

struct layout_reader {
    struct cr_arena *arena;
    const struct cr_source *src;
    yaml_parser_t parser;
    yaml_event_t event;
    size_t chars, bytes, skipped; /* a character and its byte; the BOM */
    size_t col_at;                /* a byte and its column */
    int col;
    struct layout_span *span;     /* scalars, in order: no comments there */
    size_t n_spans, cap_spans;
    struct cr_comment *comments; /* those that have no member yet */
    int n_comments;
    int brackets; /* open ones at the current event */
    bool has_anchors, failed;
};

static bool layout_next(struct layout_reader *r)
{
    yaml_event_delete(&r->event);
    if (!yaml_parser_parse(&r->parser, &r->event))
        r->failed = true;
    return !r->failed;
}

/* libyaml counts characters; marks hardly ever go back. */
static size_t layout_byte(struct layout_reader *r, const yaml_mark_t *mark)
{
    uint32_t code;

    if (mark->index < r->chars) {
        r->chars = 0;
        r->bytes = r->skipped;
    }
    for (; r->chars < mark->index && r->bytes < r->src->len; r->chars++)
        r->bytes += (size_t)cr_utf8(r->src->text + r->bytes,
                                    r->src->len - r->bytes, &code);
    return r->bytes;
}

/* The column of a byte. Counts from the last one that was asked for, if that is
 * before it: a line may have many thousands of members. */
static int layout_col(struct layout_reader *r, size_t at)
{
    const char *text = r->src->text;
    size_t from = at;

    while (from > 0 && from != r->col_at && text[from - 1] != '\n')
        from--;
    r->col = (from == r->col_at ? r->col : 0) +
             (int)cr_utf8_count(text + from, at - from);
    r->col_at = at;
    return r->col;
}

/* ---- Nodes */

static struct cr_layout *layout_node(struct layout_reader *r);

static void layout_span_add(struct layout_reader *r, size_t from, size_t to)
{
    if (r->n_spans == r->cap_spans) {
        size_t cap = r->cap_spans ? 2 * r->cap_spans : 64;

        r->span =
            cr_grow(r->arena, r->span, r->cap_spans, cap, sizeof *r->span);
        r->cap_spans = cap;
    }
    r->span[r->n_spans++] = (struct layout_span){ from, to };
}

/* The number of blanks before the content of a block scalar: those of its
 * first line that is not empty, without those that belong to the value. */
static int layout_block_indent(const struct layout_reader *r,
                               const struct cr_layout *node, const char *start)
{
    const char *end = r->src->text + node->to;
    const char *line = memchr(start, '\n', (size_t)(end - start));
    const char *value = (const char *)r->event.data.scalar.value;

    value += strspn(value, "\n");
    for (; line && line < end;
         line = memchr(line, '\n', (size_t)(end - line))) {
        size_t blanks = strspn(++line, " ");

        if (line + blanks < end && !strchr("\n", line[blanks]))
            return (int)(blanks - strspn(value, " "));
    }
    return 0;
}

static const char *layout_props(struct layout_reader *r,
                                const yaml_char_t *anchor,
                                const yaml_char_t *tag)
{
    static const char core[] = "tag:yaml.org,2002:";
    const char *name = (const char *)tag;
    struct cr_buf buf = { .arena = r->arena };

    r->has_anchors |= anchor != NULL;
    if (!anchor && !tag)
        return NULL;
    if (anchor)
        cr_buf_f(&buf, "&%s%s", (const char *)anchor, tag ? " " : "");
    if (tag && cr_starts(name, core))
        cr_buf_f(&buf, "!!%s", name + sizeof core - 1);
    else if (tag)
        cr_buf_str(&buf, name);
    return cr_buf_text(&buf);
}

/* The text after anchors and tags, and the comments after these. */
static const char *layout_skip_props(const char *p)
{
    bool has_props = false;

    while (*p == '&' || *p == '!' || (has_props && *p == '#')) {
        has_props = true;
        if (*p == '&')
            for (p++; isalnum((unsigned char)*p) || *p == '_' || *p == '-';)
                p++;
        else
            p += strcspn(p, *p == '#' ? "\n" : " \t\n");
        p += strspn(p, " \t\n");
    }
    return p;
}

/* A scalar of several lines on one line where block style needs that, or where
 * nothing is lost. */
static void layout_join(struct layout_reader *r, struct cr_layout *node,
                        bool is_key)
{
    const char *value = (const char *)r->event.data.scalar.value;
    bool is_plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool must = r->brackets > 0 || is_key;
    struct cr_buf buf = { .arena = r->arena };

    if (!strchr(node->text, '\n'))
        return;
    if (is_plain && !strchr(value, '\n')) {
        node->text = cr_strdup(r->arena, value);
    } else if (is_plain) {
        r->failed |= must;
    } else if (must) {
        cr_buf_json(&buf, value);
        node->text = cr_buf_text(&buf);
    }
}

/* A block scalar; one of blanks and ends of lines becomes a text in quotes. */
static void layout_block(struct layout_reader *r, struct cr_layout *node,
                         const char *start)
{
    const char *value = (const char *)r->event.data.scalar.value;
    struct cr_buf buf = { .arena = r->arena };

    if (strpbrk(value, " \t") && !value[strspn(value, " \t\n")]) {
        cr_buf_json(&buf, value);
        node->text = cr_buf_text(&buf);
        return;
    }
    node->kind = CR_LAYOUT_BLOCK;
    node->indent = layout_block_indent(r, node, start);
}

static struct cr_layout *layout_scalar(struct layout_reader *r, bool is_key)
{
    struct cr_layout *node = CR_NEW(r->arena, struct cr_layout);
    yaml_scalar_style_t style = r->event.data.scalar.style;
    const char *props, *start, *end;

    node->from = layout_byte(r, &r->event.start_mark);
    node->to = layout_byte(r, &r->event.end_mark);
    end = r->src->text + node->to;
    start = layout_skip_props(r->src->text + node->from);
    if (start > end)
        start = end;
    node->text = cr_strndup(r->arena, start, (size_t)(end - start));
    layout_span_add(r, (size_t)(start - r->src->text), node->to);
    if (r->event.type == YAML_ALIAS_EVENT) {
        r->has_anchors = true;
        return node;
    }
    if (style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE)
        layout_block(r, node, start);
    else
        layout_join(r, node, is_key);
    props = layout_props(r, r->event.data.scalar.anchor,
                         r->event.data.scalar.tag);
    if (props)
        node->text = cr_strf(r->arena, *node->text ? "%s %s" : "%s%s", props,
                             node->text);
    return node;
}

/* The members of a list or map up to its end event. */
static void layout_members(struct layout_reader *r, struct cr_layout *node,
                           yaml_event_type_t end)
{
    struct cr_layout **last = &node->child, *key;

    r->brackets += node->brackets;
    while (layout_next(r) && r->event.type != end) {
        key = NULL;
        if (node->kind == CR_LAYOUT_MAP) {
            if (r->event.type != YAML_SCALAR_EVENT)
                r->failed = true;
            else
                key = layout_scalar(r, true);
            if (r->failed || !layout_next(r))
                return;
        }
        *last = layout_node(r);
        if (!*last)
            return;
        (*last)->key = key;
        last = &(*last)->next;
    }
    r->brackets -= node->brackets;
    if (!r->failed)
        node->to = layout_byte(r, &r->event.end_mark);
}

static struct cr_layout *layout_node(struct layout_reader *r)
{
    const yaml_event_t *e = &r->event;
    struct cr_layout *node;

    if (e->type == YAML_SCALAR_EVENT || e->type == YAML_ALIAS_EVENT)
        return layout_scalar(r, false);
    node = CR_NEW(r->arena, struct cr_layout);
    node->from = layout_byte(r, &e->start_mark);
    if (e->type == YAML_SEQUENCE_START_EVENT) {
        node->kind = CR_LAYOUT_LIST;
        node->brackets =
            e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        node->props = layout_props(r, e->data.sequence_start.anchor,
                                   e->data.sequence_start.tag);
        layout_members(r, node, YAML_SEQUENCE_END_EVENT);
    } else if (e->type == YAML_MAPPING_START_EVENT) {
        node->kind = CR_LAYOUT_MAP;
        node->brackets = e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        node->props = layout_props(r, e->data.mapping_start.anchor,
                                   e->data.mapping_start.tag);
        layout_members(r, node, YAML_MAPPING_END_EVENT);
    } else {
        r->failed = true;
    }
    return r->failed ? NULL : node;
}

/* ---- Comments */

/* Whether the line before the one of `at` is empty. */
static bool layout_blank_before(const struct cr_source *src, size_t at)
{
    int lines = 0;

    while (at > 0 && strchr(" \t\n", src->text[at - 1]))
        lines += src->text[--at] == '\n';
    return lines > (at > 0 ? 1 : 0);
}

static struct cr_comment *layout_comment(struct layout_reader *r, size_t at)
{
    struct cr_comment *c = CR_NEW(r->arena, struct cr_comment);
    const char *text = r->src->text + at;
    size_t len = strcspn(text, "\n"), line = at;

    while (len > 0 && strchr(" \t", text[len - 1]))
        len--;
    while (line > r->skipped && strchr(" \t", r->src->text[line - 1]))
        line--;
    c->text = cr_strndup(r->arena, text, len);
    c->at = at;
    c->col = layout_col(r, at);
    c->trailing = line > r->skipped && r->src->text[line - 1] != '\n';
    c->blank_before = layout_blank_before(r->src, at);
    return c;
}

/* Where the comment after the header of a block scalar begins; at if there is
 * none. */
static size_t layout_header_comment(const struct layout_reader *r, size_t at)
{
    const char *p = layout_skip_props(r->src->text + at);

    if (*p != '|' && *p != '>')
        return at;
    p += strcspn(p, " \t\n#");
    p += strspn(p, " \t");
    return *p == '#' ? (size_t)(p - r->src->text) : at;
}

static void layout_comment_add(struct layout_reader *r,
                               struct cr_comment ***last, size_t at)
{
    **last = layout_comment(r, at);
    *last = &(**last)->next;
    r->n_comments++;
}

/* Comments begin with '#' at the start of a line or after a blank, outside of
 * scalars; a block scalar may have one after its header. */
static void layout_comments(struct layout_reader *r)
{
    struct cr_comment **last = &r->comments;
    const char *text = r->src->text;
    size_t span = 0, header;

    for (size_t at = r->skipped; at < r->src->len; at++) {
        while (span < r->n_spans && r->span[span].to <= at)
            span++;
        if (span < r->n_spans && at >= r->span[span].from) {
            header = layout_header_comment(r, at);
            if (header > at)
                layout_comment_add(r, &last, header);
            at = r->span[span].to - 1;
        } else if (text[at] == '#' &&
                   (at == r->skipped || strchr(" \t\n", text[at - 1]))) {
            layout_comment_add(r, &last, at);
            at += strcspn(text + at, "\n");
        }
    }
}

/* Moves the next comments that begin before `limit` to the end of a list;
 * `trailing`: only those. */
static void layout_take(struct layout_reader *r, struct cr_comment **to,
                        size_t limit, bool trailing)
{
    while (*to)
        to = &(*to)->next;
    while (r->comments && r->comments->at < limit &&
           (!trailing || r->comments->trailing)) {
        *to = r->comments;
        r->comments = r->comments->next;
        to = &(*to)->next;
        *to = NULL;
    }
}

/* The same up to the end of the line of `at`. */
static void layout_take_line(struct layout_reader *r, struct cr_comment **to,
                             size_t at, size_t limit)
{
    size_t end = at + strcspn(r->src->text + at, "\n");

    layout_take(r, to, end < limit ? end : limit, true);
}

/* Lists and maps in brackets with comments inside are written in block style,
 * as are those around them. *c is the first comment that may be inside, since
 * nodes are visited in the order of their starts. */
static void layout_set_flow(const struct cr_comment **c, struct cr_layout *node)
{
    while (*c && (*c)->at < node->from)
        *c = (*c)->next;
    node->flow = node->brackets && !(*c && (*c)->at < node->to);
    for (struct cr_layout *m = node->child; m; m = m->next)
        layout_set_flow(c, m);
}

/* Where the members of a block list or map begin: at the key, or at the dash,
 * the first character after the last member that is not in a comment. */
static void layout_set_starts(struct layout_reader *r, struct cr_layout *node)
{
    const char *text = r->src->text;
    const char *p = layout_skip_props(text + node->from);

    for (struct cr_layout *m = node->child; m; m = m->next) {
        for (p += strspn(p, " \t\n"); *p == '#'; p += strspn(p, " \t\n"))
            p += strcspn(p, "\n");
        m->start = m->key           ? m->key->from
                   : node->brackets ? m->from
                                    : (size_t)(p - text);
        m->col = layout_col(r, m->start);
        m->blank_before = layout_blank_before(r->src, m->start);
        p = text + m->to;
    }
}

/* Gives the comments before `limit` to the members of a list or map in block
 * style that is `outer` columns in, or -1. */
static void layout_attach(struct layout_reader *r, struct cr_layout *node,
                          size_t limit, int outer)
{
    struct cr_comment **after = &node->after;
    int col;

    layout_set_starts(r, node);
    col = node->child->col;
    for (struct cr_layout *m = node->child; m; m = m->next) {
        size_t end = m->next ? m->next->start : limit;

        layout_take(r, &m->before, m->start, false);
        if (m->child && !m->flow) {
            if (m->key || m->props)
                layout_take_line(r, &m->trailing, m->start, limit);
            layout_attach(r, m, m->brackets ? m->to : end, col);
        } else {
            layout_take(r, &m->trailing, m->to, false);
        }
        layout_take_line(r, &m->trailing, m->to, end);
    }
    while (r->comments && r->comments->at < limit &&
           (node->brackets || outer < 0 ||
            (r->comments->col > outer && r->comments->col >= col))) {
        layout_take(r, after, r->comments->at + 1, false);
        after = &(*after)->next;
    }
}

bool cr_yaml_layout(struct cr_arena *arena, const struct cr_source *src,
                    struct cr_layout_text *to)
{
    struct layout_reader r = { .arena = arena, .src = src };
    const struct cr_comment *first;

    *to = (struct cr_layout_text){ 0 };
    if (src->len >= 3 && memcmp(src->text, "\xef\xbb\xbf", 3) == 0)
        r.skipped = 3;
    r.bytes = r.skipped;
    if (!yaml_parser_initialize(&r.parser))
        cr_out_of_memory(sizeof r.parser);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser,
                                 (const unsigned char *)src->text + r.skipped,
                                 src->len - r.skipped);
    /* the starts of stream and document, then the first node */
    if (layout_next(&r) && layout_next(&r) &&
        r.event.type == YAML_DOCUMENT_START_EVENT && layout_next(&r))
        to->root = layout_node(&r);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    layout_comments(&r);
    first = r.comments;
    if (to->root && to->root->child) {
        layout_set_flow(&first, to->root);
        to->root->flow = false;
        layout_attach(&r, to->root, src->len, -1);
    }
    to->n_comments = r.n_comments;
    to->has_anchors = r.has_anchors;
    return !r.failed;
}
