/*
 * Turns the events of libyaml into nodes.
 *
 * scalar.c determines the values of plain scalars. libyaml counts characters
 * and accepts more line ends than editors, so positions are computed from the
 * index of the character and a table of lines. The text is checked to be UTF-8
 * without control characters before it is passed to libyaml.
 */
#include "conf/yaml.h"

#include <string.h>
#include <yaml.h>

#include "base/str.h"
#include "conf/scalar.h"

#define MEMBERS_MAX 10000 /* of one map: keys are compared pair by pair */
#define ANCHORS_MAX 1000

struct anchor {
    const char *name;
    const struct cr_node *node;
    int size, depth;
    struct anchor *next;
};

struct line {
    size_t chars, bytes; /* where it begins */
};

struct reader {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const struct cr_source *src;
    size_t from, to; /* the bytes that are read */
    size_t skipped;  /* characters before from */
    struct line *lines;
    size_t n_lines;
    yaml_parser_t parser;
    yaml_event_t event;
    bool stop; /* reported; reading stops */
    int nodes, n_anchors;
    struct anchor *anchors;
    const struct line *tab_line; /* whose indentation is checked already */
    bool is_flow; /* the text is one {...} */
};

static struct cr_node *yaml_node(struct reader *r, int depth);

/* ---- places ---- */

static size_t yaml_text_start(const struct cr_source *src)
{
    return src->len >= 3 && memcmp(src->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

struct cr_pos cr_pos_at(const struct cr_source *src, size_t at, size_t len)
{
    struct cr_pos pos = { .src = src, .line = 1 };
    size_t start = yaml_text_start(src);

    if (at < start)
        at = start;
    for (const char *p; (p = memchr(src->text + start, '\n', at - start));) {
        start = (size_t)(p - src->text) + 1;
        pos.line++;
    }
    if (len > src->len - at)
        len = src->len - at;
    for (size_t i = 0; i < len; i++)
        if (src->text[at + i] == '\n')
            len = i;
    pos.col = (int)cr_utf8_count(src->text + start, at - start) + 1;
    pos.len = (int)cr_utf8_count(src->text + at, len);
    return pos;
}

/* The line of a character, counted from the start of the source. */
static const struct line *yaml_line(const struct reader *r, size_t chars)
{
    size_t low = 0, high = r->n_lines;

    while (high - low > 1) {
        size_t mid = (low + high) / 2;

        if (r->lines[mid].chars <= chars)
            low = mid;
        else
            high = mid;
    }
    return &r->lines[low];
}

static size_t yaml_byte(const struct reader *r, const yaml_mark_t *mark)
{
    size_t chars = mark->index + r->skipped;
    const struct line *line = yaml_line(r, chars);
    size_t at = line->bytes;
    uint32_t code;

    for (size_t i = line->chars; i < chars && at < r->to; i++)
        at += (size_t)cr_utf8(r->src->text + at, r->to - at, &code);
    return at;
}

static struct cr_pos yaml_pos(const struct reader *r, const yaml_mark_t *from,
                              const yaml_mark_t *to)
{
    size_t chars = from->index + r->skipped, end = to->index + r->skipped;
    const struct line *line = yaml_line(r, chars);

    if (line + 1 < r->lines + r->n_lines && end > line[1].chars)
        end = line[1].chars - 1;
    return (struct cr_pos){
        .src = r->src,
        .line = (int)(line - r->lines) + 1,
        .col = (int)(chars - line->chars) + 1,
        .len = end > chars ? (int)(end - chars) : 0,
    };
}

static struct cr_pos yaml_event_pos(const struct reader *r)
{
    return yaml_pos(r, &r->event.start_mark, &r->event.end_mark);
}

/* ---- the text ---- */

static bool yaml_char_allowed(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7f) ||
           c == 0x85 || (c >= 0xa0 && c != 0xfeff && c < 0xfffe) ||
           c >= 0x10000;
}

static bool yaml_bad_byte(struct reader *r, size_t at)
{
    const char *text = r->src->text;
    struct cr_pos pos = cr_pos_at(r->src, at, 1);
    uint32_t c = 0;

    if (r->src->len >= 2 &&
        (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0 ||
         (at < 2 && text[at] == '\0')))
        cr_error(r->diag, pos, CR_E_ENCODING, "found UTF-16, expected UTF-8");
    else if (text[at] == '\0')
        cr_error(r->diag, pos, CR_E_ENCODING, "a NUL byte in the text");
    else if (cr_utf8(text + at, r->src->len - at, &c) == 0)
        cr_error(r->diag, pos, CR_E_ENCODING, "byte 0x%02x is not valid UTF-8",
                 (unsigned)(unsigned char)text[at]);
    else
        cr_error(r->diag, pos, CR_E_ENCODING,
                 "control character U+%04X in the text", (unsigned)c);
    return false;
}

/* Checks every character and records the starts of lines. */
static bool yaml_scan(struct reader *r)
{
    const struct cr_source *src = r->src;
    size_t cap = 64, at = yaml_text_start(src), chars = 0;
    uint32_t c = 0;

    r->lines = CR_NEWS(r->arena, struct line, cap);
    r->lines[r->n_lines++] = (struct line){ 0, at };
    if (r->from < at)
        r->from = at;
    for (; at < r->to; chars++) {
        int n = cr_utf8(src->text + at, r->to - at, &c);

        if (n == 0 || !yaml_char_allowed(c))
            return yaml_bad_byte(r, at);
        if (at < r->from)
            r->skipped++;
        at += (size_t)n;
        if (c != '\n')
            continue;
        if (r->n_lines == cap) {
            r->lines =
                cr_grow(r->arena, r->lines, cap, 2 * cap, sizeof *r->lines);
            cap *= 2;
        }
        r->lines[r->n_lines++] = (struct line){ chars + 1, at };
    }
    return true;
}

static bool yaml_stop(struct reader *r)
{
    r->stop = true;
    return false;
}

/* Reports a tab among the blanks before the first token of a line. libyaml
 * refuses it in block context but not in flow context; if the whole text is one
 * {...}, as in JSON, it is harmless. */
static bool yaml_no_tab(struct reader *r)
{
    size_t chars = r->event.start_mark.index + r->skipped;
    const struct line *line = yaml_line(r, chars);
    size_t at = line->bytes, n = chars - line->chars;

    if (line == r->tab_line || r->is_flow)
        return true;
    r->tab_line = line;
    if (strspn(r->src->text + at, " \t") < n)
        return true;
    for (size_t i = 0; i < n; i++)
        if (r->src->text[at + i] == '\t') {
            cr_error(r->diag, cr_pos_at(r->src, at + i, 1), CR_E_SYNTAX,
                     "found a tab in the indentation, expected spaces");
            return yaml_stop(r);
        }
    return true;
}

static bool yaml_next(struct reader *r)
{
    yaml_parser_t *p = &r->parser;

    yaml_event_delete(&r->event);
    if (yaml_parser_parse(p, &r->event))
        return yaml_no_tab(r);
    if (p->error == YAML_MEMORY_ERROR)
        cr_out_of_memory(r->to - r->from);
    cr_yaml_error(r->diag,
                  &(struct cr_yaml_error){
                      .src = r->src,
                      .from = r->from,
                      .to = r->to,
                      .problem = p->problem ? p->problem : "unreadable text",
                      .context = p->context,
                      .problem_at = yaml_byte(r, &p->problem_mark),
                      .context_at = yaml_byte(r, &p->context_mark),
                  });
    return yaml_stop(r);
}

/* ---- nodes ---- */

static struct cr_node *yaml_new(struct reader *r, enum cr_node_kind kind,
                                struct cr_pos pos)
{
    struct cr_node *node = CR_NEW(r->arena, struct cr_node);

    node->kind = kind;
    node->pos = pos;
    if (++r->nodes > CR_NODES_MAX) {
        cr_error(r->diag, pos, CR_E_LIMIT,
                 "more than %d values in one file, aliases expanded",
                 CR_NODES_MAX);
        yaml_stop(r);
    }
    return node;
}

static void yaml_anchor(struct reader *r, const yaml_char_t *name,
                        const struct cr_node *node)
{
    struct anchor *a;

    if (!name || r->stop)
        return;
    if (++r->n_anchors > ANCHORS_MAX) {
        cr_error(r->diag, node->pos, CR_E_LIMIT,
                 "more than %d anchors in one file", ANCHORS_MAX);
        yaml_stop(r);
        return;
    }
    a = CR_NEW(r->arena, struct anchor);
    a->name = cr_strdup(r->arena, (const char *)name);
    a->node = node;
    cr_node_measure(node, 1, &a->size, &a->depth);
    a->next = r->anchors;
    r->anchors = a;
}

static struct cr_node *yaml_alias(struct reader *r, int depth)
{
    const char *name = (const char *)r->event.data.alias.anchor;
    struct cr_pos pos = yaml_event_pos(r);
    const struct anchor *a = r->anchors;
    struct cr_node *node;

    while (a && strcmp(a->name, name) != 0)
        a = a->next;
    if (!a) {
        cr_error(r->diag, pos, CR_E_SYNTAX,
                 "alias '*%s' without an anchor '&%s' before it", name, name);
        cr_hint(r->diag, "a pattern that begins with * needs quotes: \"*%s\"",
                name);
        node = yaml_new(r, CR_NODE_NULL, pos);
        node->text = "null";
        node->pos.offset = -1;
        return node;
    }
    r->nodes += a->size;
    if (r->nodes > CR_NODES_MAX || depth + a->depth - 1 > CR_DEPTH_MAX) {
        cr_error(r->diag, pos, CR_E_LIMIT,
                 "alias '*%s' makes the file too large: %d values, %d deep; "
                 "at most %d and %d are allowed",
                 name, r->nodes, depth + a->depth - 1, CR_NODES_MAX,
                 CR_DEPTH_MAX);
        yaml_stop(r);
        return NULL;
    }
    node = cr_node_copy(r->arena, a->node);
    node->key = NULL;
    return node;
}

static const char *yaml_tag_name(struct reader *r, const char *tag)
{
    static const char core[] = "tag:yaml.org,2002:";

    if (cr_starts(tag, core))
        return cr_strf(r->arena, "!!%s", tag + sizeof core - 1);
    return cr_strdup(r->arena, tag);
}

/* The tags of cellrun stay on the node until files are merged; those of the
 * YAML core schema must match the value. */
static void yaml_tag(struct reader *r, struct cr_node *node,
                     const yaml_char_t *given, struct cr_pos pos)
{
    static const char *const ours[] = { "!replace", "!delete", "!append",
                                        "!prepend", NULL };
    static const char *const core[] = {
        [CR_NODE_NULL] = "!!null", [CR_NODE_BOOL] = "!!bool",
        [CR_NODE_INT] = "!!int",   [CR_NODE_REAL] = "!!float",
        [CR_NODE_STR] = "!!str",   [CR_NODE_LIST] = "!!seq",
        [CR_NODE_MAP] = "!!map",
    };
    const char *tag, *near;

    if (!given)
        return;
    tag = yaml_tag_name(r, (const char *)given);
    for (int i = 0; ours[i]; i++)
        if (strcmp(tag, ours[i]) == 0) {
            node->tag = ours[i];
            if ((i == 1 && node->kind != CR_NODE_NULL) ||
                (i > 1 && node->kind != CR_NODE_LIST))
                cr_error(r->diag, pos, CR_E_FORM,
                         "%s is not allowed before %s: %s", tag,
                         cr_node_what(r->arena, node),
                         i == 1 ? "it takes no value" : "it extends a list");
            return;
        }
    if (strcmp(tag, core[node->kind]) == 0 || strcmp(tag, "!") == 0)
        return;
    if (strcmp(tag, "!!float") == 0 && node->kind == CR_NODE_INT) {
        node->kind = CR_NODE_REAL;
        return;
    }
    tag = cr_quote(r->arena, tag, strlen(tag));
    if (cr_starts(tag, "!!")) {
        cr_error(r->diag, pos, CR_E_WRONG_TYPE, "tag '%s' does not match %s",
                 tag, cr_node_what(r->arena, node));
        return;
    }
    cr_error(r->diag, pos, CR_E_SYNTAX, "unknown tag '%s'", tag);
    near = cr_closest_name(tag, ours);
    if (near)
        cr_hint(r->diag, "did you mean '%s'?", near);
    else
        cr_note(r->diag, "tags are: !replace !delete !append !prepend");
}

/* The start of the text of a block scalar: the line after its header, and the
 * column of the first character that is not a space. */
static struct cr_pos yaml_block_pos(const struct reader *r)
{
    struct cr_pos pos = yaml_event_pos(r);
    const char *p = memchr(r->src->text + yaml_byte(r, &r->event.start_mark),
                           '\n', r->to - yaml_byte(r, &r->event.start_mark));
    const char *end = r->src->text + r->to;
    size_t blanks;

    if (!p)
        return pos;
    pos.line++;
    pos.col = 1;
    for (p++; p < end; p += blanks + 1) {
        blanks = strspn(p, " \r");
        if (p + blanks < end && p[blanks] != '\n') {
            pos.col = (int)blanks + 1;
            pos.len =
                (int)cr_utf8_count(p + blanks, strcspn(p + blanks, "\r\n"));
            return pos;
        }
    }
    pos.len = 0;
    return pos;
}

/* An unclosed $(. $$ is a dollar sign; parentheses inside quotes do not
 * count. */
static bool yaml_unclosed(const char *s)
{
    char quote = '\0';
    int depth = 0;

    for (; *s; s++) {
        if (depth == 0) {
            if (*s == '$' && s[1] == '(')
                depth = 1;
            s += *s == '$' && (s[1] == '$' || s[1] == '(');
        } else if (quote) {
            quote = *s == quote ? '\0' : quote;
        } else if (*s == '"' || *s == '\'') {
            quote = *s;
        } else {
            depth += (*s == '(') - (*s == ')');
        }
    }
    return depth > 0;
}

static struct cr_node *yaml_scalar(struct reader *r)
{
    yaml_event_t *e = &r->event;
    const char *text = (const char *)e->data.scalar.value;
    yaml_scalar_style_t style = e->data.scalar.style;
    struct cr_node *node = yaml_new(r, CR_NODE_STR, yaml_event_pos(r));
    const yaml_char_t *tag = e->data.scalar.tag;

    if (strlen(text) != e->data.scalar.length)
        cr_error(r->diag, node->pos, CR_E_ENCODING, "a NUL in the text");
    node->text = cr_strdup(r->arena, text);
    node->quoted = style != YAML_PLAIN_SCALAR_STYLE ||
                   (tag && (strcmp((const char *)tag, "!") == 0 ||
                            strcmp((const char *)tag, YAML_STR_TAG) == 0));
    if (style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE)
        node->pos = yaml_block_pos(r);
    if (!cr_scalar_resolve(node)) {
        cr_error(r->diag, node->pos, CR_E_OUT_OF_RANGE,
                 "number %s is too large",
                 cr_quote(r->arena, text, strlen(text)));
        node->pos.offset = -1;
    }
    yaml_tag(r, node, tag, node->pos);
    yaml_anchor(r, e->data.scalar.anchor, node);
    if (style == YAML_PLAIN_SCALAR_STYLE && yaml_unclosed(text)) {
        cr_yaml_error_unclosed(r->diag, r->src, yaml_byte(r, &e->start_mark));
        yaml_stop(r);
    }
    return node;
}

static bool yaml_deep(struct reader *r, int depth)
{
    if (depth <= CR_DEPTH_MAX)
        return true;
    cr_error(r->diag, yaml_event_pos(r), CR_E_LIMIT,
             "lists and maps are nested more than %d deep", CR_DEPTH_MAX);
    return yaml_stop(r);
}

static struct cr_node *yaml_list(struct reader *r, int depth)
{
    struct cr_node *node = yaml_new(r, CR_NODE_LIST, yaml_event_pos(r));
    const char *anchor = NULL;
    struct cr_node **last = &node->child;

    if (r->event.data.sequence_start.anchor)
        anchor = cr_strdup(r->arena,
                           (const char *)r->event.data.sequence_start.anchor);
    yaml_tag(r, node, r->event.data.sequence_start.tag, node->pos);
    if (r->event.data.sequence_start.style == YAML_BLOCK_SEQUENCE_STYLE)
        node->pos.len = 1;
    while (yaml_next(r) && r->event.type != YAML_SEQUENCE_END_EVENT) {
        *last = yaml_node(r, depth + 1);
        if (!*last)
            return NULL;
        last = &(*last)->next;
    }
    yaml_anchor(r, (const yaml_char_t *)anchor, node);
    return node;
}

/* `{a:1}` reads as a key 'a:1' without a value. */
static void yaml_check_key(struct reader *r, const struct cr_node *m)
{
    const char *colon = strchr(m->key, ':');

    if (!*m->key)
        cr_error(r->diag, m->key_pos, CR_E_SYNTAX, "an empty key");
    else if (colon && colon > m->key && m->kind == CR_NODE_NULL && !*m->text &&
             !m->quoted) {
        cr_error(r->diag, m->key_pos, CR_E_SYNTAX, "no space after ':' in '%s'",
                 cr_quote(r->arena, m->key, strlen(m->key)));
        cr_hint(r->diag, "write '%.*s: %s'", (int)(colon - m->key), m->key,
                colon + 1);
    }
}

static bool yaml_duplicate(struct reader *r, const struct cr_node *map,
                           const char *key, struct cr_pos pos)
{
    const struct cr_node *old = cr_node_get(map, key);

    if (!old || strcmp(key, "<<") == 0)
        return false;
    cr_error(r->diag, pos, CR_E_DUPLICATE_KEY, "duplicate key '%s'",
             cr_quote(r->arena, key, strlen(key)));
    cr_note(r->diag, "first at %s:%d:%d", old->key_pos.src->name,
            old->key_pos.line, old->key_pos.col);
    return true;
}

/* Inserts the members of `from` at the position of `<<`, except keys that the
 * map itself has: these keep their value, and move there if they come later. */
static struct cr_node **yaml_merge_from(struct reader *r, struct cr_node *map,
                                        const struct cr_node *from,
                                        struct cr_node **at)
{
    for (CR_EACH(m, from)) {
        struct cr_node **p = &map->child, *own;
        bool before = true;

        for (; *p && strcmp((*p)->key, m->key) != 0; p = &(*p)->next)
            before = before && p != at;
        own = *p;
        if (own && before && p != at)
            continue;
        if (own) {
            *p = own->next;
        } else {
            own = cr_node_copy(r->arena, m);
            r->nodes++;
        }
        own->next = *at;
        *at = own;
        at = &own->next;
    }
    return at;
}

static void yaml_merge_keys(struct reader *r, struct cr_node *map)
{
    struct cr_node **at = &map->child;

    while (*at) {
        struct cr_node *m = *at;

        if (strcmp(m->key, "<<") != 0) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        if (m->kind == CR_NODE_MAP) {
            at = yaml_merge_from(r, map, m, at);
            continue;
        }
        for (struct cr_node *one = m->child; one; one = one->next)
            if (one->kind == CR_NODE_MAP)
                at = yaml_merge_from(r, map, one, at);
            else
                cr_error(r->diag, one->pos, CR_E_FORM,
                         "'<<': found %s, expected a map or a list of maps",
                         cr_node_what(r->arena, one));
        if (m->kind != CR_NODE_LIST)
            cr_error(r->diag, m->pos, CR_E_FORM,
                     "'<<': found %s, expected a map or a list of maps",
                     cr_node_what(r->arena, m));
    }
}

static bool yaml_is_key(struct reader *r)
{
    if (r->event.type == YAML_SCALAR_EVENT && !r->event.data.scalar.tag)
        return true;
    cr_error(r->diag, yaml_event_pos(r), CR_E_SYNTAX, "a key must be a scalar");
    if (r->event.type == YAML_ALIAS_EVENT)
        cr_hint(r->diag, "a pattern that begins with * needs quotes: \"*%s\"",
                (const char *)r->event.data.alias.anchor);
    return yaml_stop(r);
}

static struct cr_node *yaml_map(struct reader *r, int depth)
{
    struct cr_node *node = yaml_new(r, CR_NODE_MAP, yaml_event_pos(r));
    struct cr_node **last = &node->child, *value;
    const char *anchor = NULL;
    int n = 0;

    if (r->event.data.mapping_start.anchor)
        anchor = cr_strdup(r->arena,
                           (const char *)r->event.data.mapping_start.anchor);
    yaml_tag(r, node, r->event.data.mapping_start.tag, node->pos);
    if (r->event.data.mapping_start.style == YAML_BLOCK_MAPPING_STYLE)
        node->pos.len = 1;
    while (yaml_next(r) && r->event.type != YAML_MAPPING_END_EVENT) {
        struct cr_pos pos = yaml_event_pos(r);
        const char *key;
        bool twice;

        if (!yaml_is_key(r))
            return NULL;
        key = cr_strdup(r->arena, (const char *)r->event.data.scalar.value);
        twice = yaml_duplicate(r, node, key, pos);
        if (++n > MEMBERS_MAX) {
            cr_error(r->diag, pos, CR_E_LIMIT, "more than %d keys in one map",
                     MEMBERS_MAX);
            yaml_stop(r);
        }
        if (r->stop || !yaml_next(r))
            return NULL;
        value = yaml_node(r, depth + 1);
        if (!value)
            return NULL;
        value->key = key;
        value->key_pos = pos;
        yaml_check_key(r, value);
        if (!twice) {
            *last = value;
            last = &value->next;
        }
    }
    if (!r->stop)
        yaml_merge_keys(r, node);
    yaml_anchor(r, (const yaml_char_t *)anchor, node);
    return node;
}

/* The node that starts at the current event; NULL after an error that stops
 * reading. */
static struct cr_node *yaml_node(struct reader *r, int depth)
{
    struct cr_node *node = NULL;

    if (r->stop)
        return NULL;
    switch (r->event.type) {
    case YAML_SCALAR_EVENT:
        node = yaml_scalar(r);
        break;
    case YAML_ALIAS_EVENT:
        node = yaml_alias(r, depth);
        break;
    case YAML_SEQUENCE_START_EVENT:
        if (yaml_deep(r, depth))
            node = yaml_list(r, depth);
        break;
    case YAML_MAPPING_START_EVENT:
        if (yaml_deep(r, depth))
            node = yaml_map(r, depth);
        break;
    default:
        break;
    }
    return r->stop ? NULL : node;
}

static struct cr_node *yaml_document(struct reader *r)
{
    struct cr_node *node = NULL;

    if (!yaml_next(r) || !yaml_next(r))
        return NULL;
    if (r->event.type == YAML_STREAM_END_EVENT) {
        node = yaml_new(r, CR_NODE_NULL, yaml_event_pos(r));
        node->text = "";
        return node;
    }
    if (!yaml_next(r))
        return NULL;
    r->is_flow = r->event.type == YAML_MAPPING_START_EVENT &&
                 r->event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    node = yaml_node(r, 1);
    if (!node || !yaml_next(r) || !yaml_next(r))
        return NULL;
    if (r->event.type == YAML_STREAM_END_EVENT)
        return node;
    cr_error(r->diag, yaml_event_pos(r), CR_E_SYNTAX,
             "found a second document, expected one per file");
    return NULL;
}

struct cr_node *cr_yaml_read(struct cr_arena *arena, struct cr_diag *diag,
                             const struct cr_source *src, size_t from,
                             size_t to)
{
    struct reader r = {
        .arena = arena, .diag = diag, .src = src, .from = from, .to = to
    };
    struct cr_node *node;

    if (!yaml_scan(&r))
        return NULL;
    if (!yaml_parser_initialize(&r.parser))
        cr_out_of_memory(sizeof r.parser);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(
        &r.parser, (const unsigned char *)src->text + r.from, r.to - r.from);
    node = yaml_document(&r);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return node;
}
