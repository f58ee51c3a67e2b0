/*
 * help explains everything that has a name, from the descriptors that the
 * rest of the program uses. A name may have several meanings (train is a
 * command and a section); help shows all of them.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "base/terminal.h"
#include "conf/command_line.h"
#include "conf/environment.h"
#include "conf/help_tables.h"
#include "conf/help_text.h"
#include "conf/search.h"
#include "conf/terms.h"
#include "graph/op.h"
#include "plugin/plugin.h"

struct help {
    const char *man;
    struct cr_strs plugin;
    bool search;
};

static const struct cr_opt help_opts[] = {
    CR_STR_OPTIONAL(
        struct help, man,
        "Write a part of the manual in mdoc, such as commands, flags, "
        "sections, cells, codes, environment or cellrun-train.",
        .text = "PART"),
    CR_STRS_OPTIONAL(struct help, plugin,
                     "A plug-in whose cells help also explains.",
                     .text = "FILE"),
    CR_BOOL_DEFAULT(
        struct help, search, false,
        "Print every sentence of help and manual that contains all words."),
    { 0 },
};

static void help_command(struct cr_buf *buf, const struct cr_descriptor *about)
{
    const struct cr_command *command = (const struct cr_command *)about;

    cr_help_wrap(
        buf, cr_strf(buf->arena, "cellrun %s: %s", about->name, about->summary),
        0, 0);
    cr_buf_str(buf, "\nusage:");
    cr_help_wrap(buf,
              cr_strf(buf->arena, "cellrun %s %s", about->name, command->usage),
              7, 6);
    if (about->detail) {
        cr_buf_char(buf, '\n');
        cr_help_wrap(buf, about->detail, 0, 0);
    }
    if (about->opts && about->opts->name) {
        cr_buf_str(buf, "\nflags\n");
        cr_help_rows(buf, about->opts, true, "");
    }
    cr_buf_str(buf, "\nflags of every command\n");
    cr_help_rows(buf, cr_cli_rows, true, "");
}

static void help_about(struct cr_buf *buf, const struct cr_descriptor *about,
                       enum cr_kind kind)
{
    bool section = kind == CR_KIND_SECTION;

    if (kind == CR_KIND_COMMAND) {
        help_command(buf, about);
    } else {
        const struct cr_op *op =
            kind == CR_KIND_OP ? (const struct cr_op *)about : NULL;

        cr_help_wrap(buf,
                  cr_strf(buf->arena, "%s (%s): %s", about->name,
                          cr_kind_name(kind), about->summary),
                  0, 0);
        if (op) {
            cr_buf_char(buf, '\n');
            cr_help_wrap(buf, cr_op_signature(buf->arena, op), 2, 0);
        }
        if (about->detail) {
            cr_buf_char(buf, '\n');
            cr_help_wrap(buf, about->detail, 0, 0);
        }
        if (about->opts && about->opts->name && !(op && op->signature)) {
            cr_buf_str(buf, section               ? "\nkeys\n"
                            : op                  ? "\noptions\n"
                            : about->keyword_only ? "\narguments, by name\n"
                                                  : "\narguments, in order\n");
            cr_help_rows(buf, about->opts, false, "");
        } else if (!section && kind != CR_KIND_OP && kind != CR_KIND_FORMAT) {
            cr_buf_str(buf, "\nno arguments\n");
        }
        if (kind < CR_KIND_SECTION && kind != CR_KIND_OP &&
            kind != CR_KIND_FORMAT) {
            struct cr_buf keys = { .arena = buf->arena };

            for (const char *const *p = cr_modifiers(kind); *p; p++)
                cr_buf_f(&keys, " %s", *p);
            cr_buf_char(buf, '\n');
            cr_help_wrap(buf,
                      cr_strf(buf->arena, "modifiers:%s",
                              cr_buf_text(&keys)),
                      0, 0);
        }
    }
    if (about->example) {
        cr_buf_str(buf, "\nexample\n");
        cr_help_lines(buf, about->example);
    }
}

static int help_order(const void *a, const void *b)
{
    return strcmp((*(const struct cr_descriptor *const *)a)->name,
                  (*(const struct cr_descriptor *const *)b)->name);
}

/* Descriptors in the order of the registry; ops by name. */
static const struct cr_descriptor **help_sorted(struct cr_arena *arena,
                                                enum cr_kind kind)
{
    const struct cr_descriptor *const *list = cr_registry_list(kind), **all;
    size_t n = 0, i;

    for (i = 0; list[i]; i++)
        ;
    all = CR_NEWS(arena, const struct cr_descriptor *, i + 1);
    for (i = 0; list[i]; i++)
        if (!list[i]->internal)
            all[n++] = list[i];
    if (kind == CR_KIND_OP)
        qsort(all, n, sizeof *all, help_order);
    all[n] = NULL;
    return all;
}

static void help_list(struct cr_buf *buf, enum cr_kind kind, int column)
{
    for (const struct cr_descriptor **p = help_sorted(buf->arena, kind); *p;
         p++)
        cr_help_item(buf, (*p)->name, (*p)->summary, column);
}

/* Lists the functions of construct: signatures and texts. */
static void help_functions(struct cr_buf *buf)
{
    cr_buf_str(buf, ".Bl -tag -width Ds\n");
    for (const struct cr_descriptor **p = help_sorted(buf->arena, CR_KIND_OP);
         *p; p++) {
        const struct cr_descriptor *d = *p;

        cr_manual_item(
            buf, d->name,
            cr_op_signature(buf->arena, (const struct cr_op *)d),
            d->detail ? cr_strf(buf->arena, "%s %s", d->summary, d->detail)
                      : d->summary);
    }
    cr_buf_str(buf, ".El\n");
}

static bool help_overview(struct cr_buf *buf)
{
    struct cr_buf lists = { .arena = buf->arena };

    cr_buf_str(buf, "cellrun trains and runs neural networks described in "
                    "YAML.\n\nusage: cellrun COMMAND [FILE...] [key=value...] "
                    "[flags]\n\ncommands\n");
    help_list(buf, CR_KIND_COMMAND, 14);
    cr_buf_str(buf, "\nflags of every command\n");
    cr_help_rows(buf, cr_cli_rows, true, "");
    cr_buf_str(buf, "\nsections of a config\n");
    help_list(buf, CR_KIND_SECTION, 14);
    cr_buf_char(buf, '\n');
    cr_help_wrap(buf,
              "cellrun help NAME explains a command, a section, a type "
              "(Dense), a key (train.epochs, learning_rate), a keyword "
              "(base, when, bprop), the code of a message (E0012), or a term "
              "of PyTorch, Keras or the field (Linear, overfitting); "
              "--search finds words in all texts. Lists:",
              0, 0);
    for (int k = 0; k < CR_KINDS; k++)
        if (*cr_registry_list((enum cr_kind)k))
            cr_buf_f(&lists, "%s ", cr_kind_plural((enum cr_kind)k));
    cr_buf_str(&lists, "codes environment exit terms keywords");
    cr_help_wrap(buf, cr_buf_text(&lists), 2, 0);
    cr_buf_char(buf, '\n');
    cr_help_wrap(buf,
              "The manual: cellrun-tutorial(7) to start, cellrun(1), "
              "cellrun-config(5).",
              0, 0);
    return true;
}

static bool help_code(struct cr_buf *buf, const char *name)
{
    for (int i = 0; i < CR_E_COUNT; i++)
        if (strcmp(cr_code_number((enum cr_code)i), name) == 0) {
            cr_buf_f(buf, "%s: %s\n\n", name, cr_code_title((enum cr_code)i));
            cr_help_wrap(buf, cr_code_text((enum cr_code)i), 0, 0);
            cr_buf_f(buf, "\nexit status %d\n", cr_code_exit((enum cr_code)i));
            return true;
        }
    return false;
}

/* Lists a kind by its plural, as in `help cells` or `help codes`. */
static bool help_lists(struct cr_buf *buf, const char *name)
{
    for (int k = 0; k < CR_KINDS; k++)
        if (strcmp(cr_kind_plural((enum cr_kind)k), name) == 0) {
            help_list(buf, (enum cr_kind)k, 28);
            return true;
        }
    return cr_help_list(buf, name);
}

/* Appends all descriptors of this name. */
static bool help_abouts(struct cr_buf *buf, const char *name)
{
    bool found = false;

    for (int k = CR_KINDS - 1; k >= 0; k--) {
        const struct cr_descriptor *about =
            cr_registry_find((enum cr_kind)k, name);

        if (!about || about->internal)
            continue;
        if (found)
            cr_buf_str(buf, "\n----\n\n");
        help_about(buf, about, (enum cr_kind)k);
        found = true;
    }
    return found;
}

/* Appends a keyword of the language, which may also be the name of a key. */
static bool help_word(struct cr_buf *buf, const char *name)
{
    for (const struct cr_doc_entry *w = cr_keywords; w->name; w++)
        if (strcmp(w->name, name) == 0) {
            cr_buf_f(buf, "%s (keyword)\n", name);
            cr_help_wrap(buf, w->text, 2, 0);
            return true;
        }
    return false;
}

/* Keys that were found, each with the paths under which it has the same
 * text. */
struct help_found {
    struct cr_arena *arena;
    struct help_key {
        const struct cr_opt *row;
        struct cr_buf paths;
    } *v;
    int n, cap;
};

static void help_add(struct help_found *to, const char *path,
                     const struct cr_opt *row)
{
    int i = 0;

    while (i < to->n && (strcmp(to->v[i].row->doc, row->doc) != 0 ||
                         strcmp(cr_opt_facts(to->arena, to->v[i].row),
                                cr_opt_facts(to->arena, row)) != 0))
        i++;
    if (i == to->cap) {
        to->cap = 2 * i + 8;
        to->v = cr_grow(to->arena, to->v, (size_t)i, (size_t)to->cap,
                        sizeof *to->v);
    }
    if (i == to->n)
        to->v[to->n++] = (struct help_key){ row, { .arena = to->arena } };
    cr_buf_f(&to->v[i].paths, "%s%s", to->v[i].paths.len > 0 ? ", " : "", path);
}

static void help_print(struct cr_buf *buf, const struct help_found *found)
{
    for (int i = 0; i < found->n; i++) {
        const struct cr_opt *row = found->v[i].row;

        cr_help_wrap(buf,
                     cr_strf(buf->arena, "%s: %s",
                             cr_buf_text(&found->v[i].paths),
                             cr_opt_facts(buf->arena, row)),
                     0, 0);
        cr_help_wrap(buf, row->doc, 2, 0);
        if (row->type == CR_OPT_SUB) {
            cr_buf_str(buf, "\nkeys\n");
            cr_help_rows(buf, row->sub, false, "");
        }
    }
}

/* Finds the rows of this name or path in one table and its subtables. */
static void help_find_row(struct help_found *found, const struct cr_opt *rows,
                          const char *above, const char *name)
{
    for (const struct cr_opt *row = rows; row && row->name; row++) {
        const char *path = cr_strf(found->arena, "%s.%s", above, row->name);

        if (strcmp(row->name, name) == 0 || strcmp(path, name) == 0)
            help_add(found, path, row);
        if (row->type == CR_OPT_SUB)
            help_find_row(found, row->sub, path, name);
    }
}

static void help_find_kind(struct help_found *found, enum cr_kind kind,
                           const char *name)
{
    for (const struct cr_descriptor *const *p = cr_registry_list(kind); *p; p++)
        help_find_row(found, (*p)->opts, (*p)->name, name);
}

static void help_find_keys(struct help_found *found, const char *name)
{
    static const char section[] = "optimizer.";

    /* optimizer.learning_rate: an argument of each optimizer */
    if (strncmp(name, section, sizeof section - 1) == 0)
        help_find_kind(found, CR_KIND_OPTIM, name + sizeof section - 1);
    for (int k = 0; k < CR_KINDS; k++)
        if (k != CR_KIND_OP && k != CR_KIND_COMMAND)
            help_find_kind(found, (enum cr_kind)k, name);
}

static bool help_keys(struct cr_buf *buf, const char *name)
{
    struct help_found found = { .arena = buf->arena };
    bool word = help_word(buf, name);

    help_find_keys(&found, name);
    help_print(buf, &found);
    return word || found.n > 0;
}

static void help_json_rows(struct cr_buf *buf, const struct cr_opt *rows)
{
    cr_buf_char(buf, '[');
    for (const struct cr_opt *row = rows; row && row->name; row++) {
        const char *preset = cr_opt_default(buf->arena, row);

        cr_buf_f(buf,
                 "%s{\"name\": \"%s\", \"takes\": ", row == rows ? "" : ", ",
                 row->name);
        cr_buf_json(buf, cr_opt_expects(buf->arena, row));
        cr_buf_f(buf, ", \"required\": %s",
                 row->need == CR_REQUIRED ? "true" : "false");
        if (preset) {
            cr_buf_str(buf, ", \"default\": ");
            cr_buf_json(buf, preset);
        }
        cr_buf_str(buf, ", \"doc\": ");
        cr_buf_json(buf, row->doc);
        if (row->type == CR_OPT_SUB) {
            cr_buf_str(buf, ", \"keys\": ");
            help_json_rows(buf, row->sub);
        }
        cr_buf_char(buf, '}');
    }
    cr_buf_char(buf, ']');
}

static void help_json_about(struct cr_buf *buf, const struct cr_descriptor *a,
                            enum cr_kind k)
{
    cr_buf_f(buf, "%s\n{\"name\": \"%s\", \"kind\": \"%s\", \"summary\": ",
             cr_ends(cr_buf_text(buf), "[") ? "" : ",", a->name,
             cr_kind_name(k));
    cr_buf_json(buf, a->summary);
    if (a->detail) {
        cr_buf_str(buf, ", \"detail\": ");
        cr_buf_json(buf, a->detail);
    }
    if (a->example) {
        cr_buf_str(buf, ", \"example\": ");
        cr_buf_json(buf, a->example);
    }
    if (k == CR_KIND_OP) {
        cr_buf_str(buf, ", \"signature\": ");
        cr_buf_json(buf, cr_op_signature(buf->arena, (const void *)a));
    }
    cr_buf_str(buf, ", \"options\": ");
    if (k == CR_KIND_OP && ((const struct cr_op *)a)->signature)
        help_json_rows(buf, NULL);
    else
        help_json_rows(buf, a->opts);
    cr_buf_char(buf, '}');
}

static bool help_json_variable(struct cr_buf *buf, const char *name)
{
    for (const struct cr_env *v = cr_env_list; v->name; v++)
        if (strcmp(v->name, name) == 0) {
            cr_buf_f(buf,
                     "\n{\"name\": \"%s\", \"kind\": \"environment "
                     "variable\", \"summary\": ",
                     name);
            cr_buf_json(buf, v->text);
            cr_buf_char(buf, '}');
            return true;
        }
    return false;
}

/* 0 for names that differ in case only. */
static int help_compare_case(const char *a, const char *b)
{
    return strcmp(a, b) == 0 ? 1 : strcasecmp(a, b);
}

/* Appends the descriptors of one name or kind, or all, as JSON; `compare`
 * compares names. False if there is none. */
static bool help_json_abouts(struct cr_buf *buf, const char *name,
                             int (*compare)(const char *, const char *))
{
    bool found = false;

    for (int k = 0; k < CR_KINDS; k++)
        for (const struct cr_descriptor *const *p =
                 cr_registry_list((enum cr_kind)k);
             *p; p++) {
            if ((*p)->internal ||
                (name && compare((*p)->name, name) != 0 &&
                 compare(cr_kind_plural((enum cr_kind)k), name) != 0))
                continue;
            help_json_about(buf, *p, (enum cr_kind)k);
            found = true;
        }
    return found;
}

/* `help metrics`: a section that shares its name with a list. */
static bool help_section_list(struct cr_buf *buf, const char *name)
{
    if (!cr_registry_find(CR_KIND_SECTION, name))
        return false;
    for (int k = 0; k < CR_KINDS; k++)
        if (strcmp(cr_kind_plural((enum cr_kind)k), name) == 0) {
            help_abouts(buf, name);
            cr_buf_f(buf, "\n%s\n", name);
            help_list(buf, (enum cr_kind)k, 28);
            return true;
        }
    return false;
}

/* Appends everything of this name, except for terms of other frameworks. */
static bool help_name(struct cr_buf *buf, const char *name)
{
    return help_section_list(buf, name) || help_abouts(buf, name) ||
           help_code(buf, name) || help_lists(buf, name) ||
           cr_help_variable(buf, name) || help_keys(buf, name);
}

/* The summary of a name, or the first sentence about a key; "" for a list;
 * NULL if the name is unknown. */
static const char *help_brief(struct cr_arena *arena, const char *name)
{
    struct cr_buf buf = { .arena = arena }, one = { .arena = arena };
    struct help_found found = { .arena = arena };
    const char *text;

    for (int k = CR_KINDS - 1; k >= 0; k--) {
        const struct cr_descriptor *about =
            cr_registry_find((enum cr_kind)k, name);

        if (about && !about->internal)
            return about->summary;
    }
    for (int i = 0; i < CR_E_COUNT; i++)
        if (strcmp(cr_code_number((enum cr_code)i), name) == 0)
            return cr_code_title((enum cr_code)i);
    help_find_keys(&found, name);
    if (help_word(&buf, name))
        text = strchr(cr_buf_text(&buf), '\n');
    else if (found.n > 0)
        text = found.v[0].row->doc;
    else
        return help_lists(&buf, name) ? "" : NULL;
    for (; *text; text++)
        if (!isspace((unsigned char)*text))
            cr_buf_char(&one, *text);
        else if (cr_ends(cr_buf_text(&one), "."))
            break;
        else if (one.len > 0 && !isspace((unsigned char)text[1]))
            cr_buf_char(&one, ' ');
    return cr_buf_text(&one);
}

/* Appends the terms that contain the word, and the names they have here. */
static bool help_terms(struct cr_buf *buf, const char *word, bool more)
{
    struct cr_arena *arena = buf->arena;

    for (const struct cr_term *t = cr_terms; (t = cr_term_find(t, word)); t++) {
        if (more)
            cr_buf_str(buf, "\n----\n\n");
        cr_help_wrap(buf, cr_strf(arena, "%s: %s", word, t->text), 0, 0);
        more = true;
        if (strcasecmp(t->names, word) == 0)
            continue; /* its explanation stands elsewhere */
        cr_buf_char(buf, '\n');
        if (!strpbrk(t->names, " .") && help_name(buf, t->names))
            continue;
        for (const char *p = t->names; *p;) {
            size_t len = strcspn(p, " ");
            const char *name = cr_strndup(arena, p, len);
            const char *text = help_brief(arena, name);

            cr_help_item(buf, name, text ? text : "(unknown)", 28);
            p += len + strspn(p + len, " ");
        }
    }
    return more;
}

/* Appends the terms that contain the word as JSON, and the type that a term
 * names. */
static bool help_json_terms(struct cr_buf *buf, const char *word)
{
    bool found = false;

    for (const struct cr_term *t = cr_terms; (t = cr_term_find(t, word)); t++) {
        cr_buf_str(buf, cr_ends(cr_buf_text(buf), "[") ? "" : ",");
        cr_buf_str(buf, "\n{\"name\": ");
        cr_buf_json(buf, word);
        cr_buf_str(buf, ", \"kind\": \"term\", \"summary\": ");
        cr_buf_json(buf, t->text);
        cr_buf_str(buf, ", \"names\": [");
        for (const char *p = t->names; *p;) {
            size_t len = strcspn(p, " ");
            const char *name = cr_strndup(buf->arena, p, len);
            const char *text = help_brief(buf->arena, name);

            cr_buf_str(buf, p == t->names ? "{\"name\": " : ", {\"name\": ");
            cr_buf_json(buf, name);
            cr_buf_str(buf, ", \"summary\": ");
            cr_buf_json(buf, text ? text : "");
            cr_buf_char(buf, '}');
            p += len + strspn(p + len, " ");
        }
        cr_buf_str(buf, "]}");
        if (!strpbrk(t->names, " .") && strcasecmp(t->names, word) != 0)
            help_json_abouts(buf, t->names, strcmp);
        found = true;
    }
    return found;
}

/* Appends types and sections whose name differs in case only: Dense for
 * "dense". */
static bool help_other_case(struct cr_buf *buf, const char *name, bool more)
{
    for (int k = 0; k < CR_KINDS; k++)
        for (const struct cr_descriptor *const *p =
                 cr_registry_list((enum cr_kind)k);
             *p; p++) {
            if ((*p)->internal || help_compare_case((*p)->name, name) != 0)
                continue;
            if (more)
                cr_buf_str(buf, "\n----\n\n");
            help_about(buf, *p, (enum cr_kind)k);
            more = true;
        }
    return more;
}

/* Whether a name is that of a type, section, command or keyword. A key or
 * function may share its name with a more general term. */
static bool help_is_type(const char *name)
{
    for (int k = 0; k < CR_KINDS; k++) {
        const struct cr_descriptor *about =
            cr_registry_find((enum cr_kind)k, name);

        if (k != CR_KIND_OP && about && !about->internal)
            return true;
    }
    for (const struct cr_doc_entry *w = cr_keywords; w->name; w++)
        if (strcmp(w->name, name) == 0)
            return true;
    return false;
}

/* Looks up a name in the form of a config or of another framework: with a
 * module before it, with arguments, in another case, or a different name. */
static bool help_any(struct cr_buf *buf, const char *word)
{
    const char *name = cr_term_name(buf->arena, word);
    struct cr_buf rows = { .arena = buf->arena };
    bool type = help_is_type(word), found = type && help_name(buf, word);

    found = help_terms(buf, word, found);
    if (!type && help_name(&rows, word)) {
        if (found)
            cr_buf_str(buf, "\n----\n\n");
        cr_buf_str(buf, cr_buf_text(&rows));
        found = true;
    }
    if (!found && strcmp(name, word) != 0)
        found = help_terms(buf, name, help_name(buf, name));
    return help_other_case(buf, name, found);
}

/* The same as a JSON array; without a name, all descriptors. */
static bool help_json(struct cr_buf *buf, const char *word)
{
    const char *name = word ? cr_term_name(buf->arena, word) : NULL;
    bool found;

    cr_buf_char(buf, '[');
    found = help_json_abouts(buf, word, strcmp);
    found = (word && help_json_terms(buf, word)) || found;
    found = found || (word && help_json_variable(buf, word));
    if (!found && strcmp(name, word) != 0) {
        found = help_json_abouts(buf, name, strcmp);
        found = help_json_terms(buf, name) || found;
    }
    if (word)
        found = help_json_abouts(buf, name, help_compare_case) || found;
    cr_buf_str(buf, "\n]\n");
    return found;
}

static int help_unknown(struct cr_cli *cli, const char *name)
{
    struct cr_arena *arena = cli->arena;
    const char *words[1024], *guess;
    int n = 0;

    for (int k = 0; k < CR_KINDS; k++)
        for (const struct cr_descriptor *const *p =
                 cr_registry_list((enum cr_kind)k);
             *p && n < (int)CR_LEN(words) - 1; p++)
            if (!(*p)->internal)
                words[n++] = (*p)->name;
    for (const struct cr_doc_entry *w = cr_keywords;
         w->name && n < (int)CR_LEN(words) - 1; w++)
        words[n++] = w->name;
    for (const struct cr_env *v = cr_env_list;
         v->name && n < (int)CR_LEN(words) - 1; v++)
        words[n++] = v->name;
    words[n] = NULL;
    cr_error(cli->diag, cli->n_operands ? cli->operand_pos[0] : CR_NOWHERE,
             CR_E_USAGE, "no help on '%s'",
             cr_quote(arena, name, strlen(name)));
    guess = cr_closest_name(name, words);
    if (guess && !strchr(name, ' '))
        cr_hint(cli->diag, "did you mean '%s'?", guess);
    cr_note(cli->diag, "(cellrun help --search %s)",
            cr_quote(arena, name, strlen(name)));
    return 2;
}

static int help_search(struct cr_cli *cli, struct cr_buf *buf,
                       const char *words)
{
    if (!words) {
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--search: found no word, expected at least one");
        return 2;
    }
    if (cr_search(buf, words) == 0) {
        if (!cli->quiet)
            fprintf(stderr, "no sentence contains '%s'\n",
                    cr_quote(cli->arena, words, strlen(words)));
        return 1;
    }
    cr_terminal_text(cr_buf_text(buf));
    return 0;
}

/* Whether the usage of a command names a subcommand: "ls|show PATH". */
static bool help_has_subcommand(const struct cr_command *command,
                                const char *word)
{
    static const char between[] = " |[]";
    const char *at = command->usage + strspn(command->usage, between);
    size_t n;

    for (; *at; at += n + strspn(at + n, between)) {
        n = strcspn(at, between);
        if (strlen(word) == n && strncmp(at, word, n) == 0)
            return islower((unsigned char)*word);
    }
    return false;
}

/* "ckpt diff": the help of the command. */
static bool help_subcommand(struct cr_buf *buf, const struct cr_cli *cli)
{
    const struct cr_descriptor *about =
        cli->n_operands == 2
            ? cr_registry_find(CR_KIND_COMMAND, cli->operands[0])
            : NULL;

    if (!about || !help_has_subcommand((const struct cr_command *)about,
                                       cli->operands[1]))
        return false;
    help_about(buf, about, CR_KIND_COMMAND);
    return true;
}

static int help_run(struct cr_cli *cli)
{
    const struct help *o = cr_cli_opts(cli);
    struct cr_buf buf = { .arena = cli->arena };
    const char *name = cli->n_operands ? cli->operands[0] : NULL;
    bool found = true;

    for (int i = 1; i < cli->n_operands; i++)
        name = cr_strf(cli->arena, "%s %s", name, cli->operands[i]);
    if (name && strcmp(name, "verbs") == 0) /* name of the list in cellrun
                                               0.1 */
        name = cr_kind_plural(CR_KIND_COMMAND);
    for (int i = 0; i < o->plugin.n; i++)
        if (!cr_plugin_load(cli->diag, CR_NOWHERE, o->plugin.v[i]))
            return 0;
    if (o->search)
        return help_search(cli, &buf, name);
    if (o->man && strcmp(o->man, "functions") == 0)
        help_functions(&buf);
    else if (o->man)
        found = cr_manual(&buf, o->man);
    else if (cli->json)
        found = help_json(&buf, name);
    else if (!name)
        found = help_overview(&buf);
    else
        found = help_any(&buf, name) || help_subcommand(&buf, cli);
    if (!found)
        return help_unknown(cli, o->man ? o->man : name);
    cr_terminal_text(cr_buf_text(&buf));
    return 0;
}

const struct cr_command cr_command_help = {
    .about = {
        .name = "help",
        .summary = "Explain a command, section, type, key, term or message.",
        .example = "cellrun help SGD\n"
                   "cellrun help train.epochs\n"
                   "cellrun help E0012\n"
                   "cellrun help Linear\n"
                   "cellrun help missing values\n"
                   "cellrun help --search momentum\n",
        .opts = help_opts,
        .size = sizeof(struct help),
    },
    .usage = "[NAME...] [--search] [--plugin FILE...]",
    .max_operands = -1,
    .run = help_run,
};
