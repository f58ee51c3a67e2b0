/*
 * The generated parts of the manual, in mdoc(7). Texts pass through
 * manual_text, which escapes what roff would interpret: backslashes, and a dot
 * or quote at the start of a line.
 */
#include "conf/help_tables.h"

#include <ctype.h>
#include <string.h>

#include "conf/command_line.h"
#include "conf/environment.h"

const struct cr_status cr_statuses[] = {
    { "0", "Finished; early stopping counts too." },
    { "1", "Other failure: disk full, out of memory, internal error." },
    { "2", "Wrong usage or an invalid config; nothing was run." },
    { "3", "Data: missing, unreadable, damaged, no samples." },
    { "4", "Checkpoint: missing, damaged, not trusted, or incompatible with "
           "the network." },
    { "5", "The training diverged: a loss or gradient is not finite." },
    { "6", "Finished, but a condition of --require or --against is not met." },
    { "7", "A sweep is over, but points of it failed." },
    { "75", "Stopped before the end, after a checkpoint was written. Continue "
            "with `cellrun resume DIR`, or with the same `train` command and "
            "--resume auto." },
    { "130", "Interrupted (INT), after a checkpoint was written." },
    { "141", "Standard output was closed before everything was written." },
    { "143", "Terminated (TERM), after a checkpoint was written." },
    { NULL, NULL },
};

static const char *const manual_kinds[CR_KINDS] = {
    [CR_KIND_CELL] = "cells",           [CR_KIND_OP] = "ops",
    [CR_KIND_LOSS] = "losses",          [CR_KIND_OPTIM] = "optimizers",
    [CR_KIND_INIT] = "initialisers",    [CR_KIND_SCHEDULE] = "schedules",
    [CR_KIND_SCALER] = "scalers",       [CR_KIND_METRIC] = "metrics",
    [CR_KIND_TRANSFORM] = "transforms", [CR_KIND_TOKENIZER] = "tokenizers",
    [CR_KIND_DATASET] = "datasets",     [CR_KIND_FORMAT] = "formats",
    [CR_KIND_SECTION] = "sections",     [CR_KIND_COMMAND] = "commands",
};

const char *cr_kind_plural(enum cr_kind kind)
{
    return manual_kinds[kind];
}

const char *cr_opt_facts(struct cr_arena *arena, const struct cr_opt *row)
{
    const char *expects = cr_opt_expects(arena, row);
    const char *preset = cr_opt_default(arena, row);

    if (preset)
        return cr_strf(arena, "%s, default %s", expects,
                       *preset ? preset : "''");
    if (row->need == CR_REQUIRED)
        return cr_strf(arena, "%s, required", expects);
    return expects;
}

const char *cr_flag_name(struct cr_arena *arena, const struct cr_opt *row)
{
    char *name = cr_strf(arena, "--%s", row->name);

    for (char *p = name; *p; p++)
        if (*p == '_')
            *p = '-';
    return name;
}

const char *cr_flag_value(struct cr_arena *arena, const struct cr_opt *row)
{
    if (row->implicit_value)
        return cr_strf(arena, "[=%s]", row->type == CR_OPT_INT ? "N" : "X");
    switch (row->type) {
    case CR_OPT_BOOL:
        return "";
    case CR_OPT_INT:
        return "N";
    case CR_OPT_REAL:
        return "X";
    case CR_OPT_ENUM:
        return row->choices;
    case CR_OPT_INTS:
    case CR_OPT_REALS:
        return "N,...";
    case CR_OPT_QUANTITY:
        return "AMOUNT";
    default:
        /* text of a row without default names its value: DIR, FILE, KEY */
        return row->need != CR_DEFAULT && row->text ? row->text : "TEXT";
    }
}

/* ---- mdoc ------------------------------------------------------------- */

/* Running text. Each sentence starts on a new line, as mdoc expects, and long
 * ones are wrapped. No line may start like a macro. `Code` is bold. */
static void manual_text(struct cr_buf *buf, const char *text)
{
    bool start = true, code = false;
    char before = ' ';
    size_t column = 0;

    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            cr_buf_str(buf, "\\&");
        start = *text == '\n' ||
                (*text == ' ' &&
                 ((before == '.' && isupper((unsigned char)text[1])) ||
                  (column > 0 && column + strcspn(text + 1, " \n") > 70)));
        before = *text;
        column = start ? 0 : column + 1;
        if (start && text[1] == '\n') {
            cr_buf_str(buf, "\n.Pp\n");
            text++;
        } else if (start) {
            cr_buf_char(buf, '\n');
        } else if (*text == '`') {
            code = !code;
            cr_buf_str(buf, code ? "\\fB" : "\\fR");
            column += 2;
        } else if (*text == '\\') {
            cr_buf_str(buf, "\\e");
        } else {
            cr_buf_char(buf, *text);
        }
    }
    if (code)
        cr_buf_str(buf, "\\fR");
    if (!start)
        cr_buf_char(buf, '\n');
}

/* A macro with one argument in quotes. */
static void manual_macro(struct cr_buf *buf, const char *macro,
                         const char *text)
{
    cr_buf_f(buf, ".%s \"", macro);
    for (; *text; text++)
        if (*text == '"')
            cr_buf_str(buf, "\"\"");
        else if (*text == '\\')
            cr_buf_str(buf, "\\e");
        else
            cr_buf_char(buf, *text);
    cr_buf_str(buf, "\"\n");
}

void cr_manual_item(struct cr_buf *buf, const char *anchor, const char *head,
                    const char *text)
{
    cr_buf_f(buf, ".Tg %s\n", anchor);
    manual_macro(buf, "It Ic", head);
    manual_text(buf, text);
}

static void manual_display(struct cr_buf *buf, const char *text)
{
    cr_buf_str(buf, ".Bd -literal -offset indent\n");
    while (*text) {
        size_t n = strcspn(text, "\n");

        if (*text == '.' || *text == '\'')
            cr_buf_str(buf, "\\&");
        for (size_t i = 0; i < n; i++)
            if (text[i] == '\\')
                cr_buf_str(buf, "\\e");
            else
                cr_buf_char(buf, text[i]);
        cr_buf_char(buf, '\n');
        text += n + (text[n] == '\n');
    }
    cr_buf_str(buf, ".Ed\n");
}

/* Keys or arguments. Each is an anchor by its path below `above`:
 * train.early_stop.patience, Dense.has_bias. */
static void manual_rows(struct cr_buf *buf, const struct cr_opt *rows,
                        const char *above)
{
    if (!rows || !rows->name)
        return;
    cr_buf_str(buf, ".Bl -tag -width Ds\n");
    for (const struct cr_opt *row = rows; row->name; row++) {
        const char *path = cr_strf(buf->arena, "%s.%s", above, row->name);

        cr_buf_f(buf, ".Tg %s\n", path);
        manual_macro(buf, "It Cm", row->name);
        manual_text(buf, row->type == CR_OPT_NODE
                             ? row->doc
                             : cr_strf(buf->arena, "%s (%s)", row->doc,
                                       cr_opt_facts(buf->arena, row)));
        if (row->type == CR_OPT_SUB)
            manual_rows(buf, row->sub, path);
    }
    cr_buf_str(buf, ".El\n");
}

static void manual_flags(struct cr_buf *buf, const struct cr_opt *rows)
{
    if (!rows || !rows->name)
        return;
    cr_buf_str(buf, ".Bl -tag -width Ds\n");
    for (const struct cr_opt *row = rows; row->name; row++) {
        const char *value = cr_flag_value(buf->arena, row);
        const char *preset = cr_opt_default(buf->arena, row);

        cr_buf_str(buf, ".It ");
        if (row->flag)
            cr_buf_f(buf, "Fl %c , ", row->flag);
        cr_buf_f(buf, "Fl \\-%s", cr_flag_name(buf->arena, row) + 2);
        if (*value)
            cr_buf_f(buf, " %s Ar \"%s\"", *value == '[' ? "Ns" : "", value);
        cr_buf_char(buf, '\n');
        manual_text(buf,
                    preset && row->type != CR_OPT_BOOL && !row->implicit_value
                        ? cr_strf(buf->arena, "%s (%s)", row->doc, preset)
                        : row->doc);
    }
    cr_buf_str(buf, ".El\n");
}

static void manual_about(struct cr_buf *buf, const struct cr_descriptor *about)
{
    manual_macro(buf, "Ss", about->name);
    manual_text(buf, about->summary);
    if (about->detail) {
        cr_buf_str(buf, ".Pp\n");
        manual_text(buf, about->detail);
    }
    manual_rows(buf, about->opts, about->name);
    if (about->example)
        manual_display(buf, about->example);
}

/* A usage line: flags and subcommands bold, words in capitals in italics. */
static void manual_usage(struct cr_buf *buf, const char *text, size_t len)
{
    size_t line = buf->len;

    for (size_t i = 0, n; i < len; i += n) {
        const char *p = text + i;
        bool upper = isupper((unsigned char)*p);

        for (n = 1; i + n < len && (upper ? isupper((unsigned char)p[n])
                                          : isalnum((unsigned char)p[n]));
             n++)
            ;
        if (!isalnum((unsigned char)*p))
            n = 1;
        if (*p == '-') {
            cr_buf_str(buf, "\\fB\\-\\fR");
        } else if (*p == ' ' && buf->len - line > 50) {
            cr_buf_char(buf, '\n');
            line = buf->len;
        } else if (isalpha((unsigned char)*p)) {
            cr_buf_f(buf, "\\f%c%.*s\\fR", upper ? 'I' : 'B', (int)n, p);
        } else {
            cr_buf_add(buf, p, n);
        }
    }
    if (len > 0)
        cr_buf_char(buf, '\n');
}

static const char *manual_upper(struct cr_arena *arena, const char *text)
{
    char *upper = cr_strdup(arena, text);

    for (char *p = upper; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return upper;
}

/* The manual page of a command, but for its date. */
static void manual_page(struct cr_buf *buf, const struct cr_command *command)
{
    const struct cr_descriptor *about = &command->about;
    size_t len = strlen(about->summary);

    cr_buf_f(buf, ".Dt \"CELLRUN-%s\" 1\n.Os\n.Sh NAME\n.Nm cellrun-%s\n",
             manual_upper(buf->arena, about->name), about->name);
    manual_macro(buf, "Nd",
                 cr_strf(buf->arena, "%c%.*s",
                         tolower((unsigned char)*about->summary), (int)len - 2,
                         about->summary + 1));
    cr_buf_str(buf, ".Sh SYNOPSIS\n");
    for (const char *p = command->usage, *end; p; p = end ? end + 3 : NULL) {
        end = strstr(p, " | ");
        cr_buf_f(buf, ".Nm cellrun %s\n", about->name);
        manual_usage(buf, p, end ? (size_t)(end - p) : strlen(p));
    }
    cr_buf_str(buf, ".Sh DESCRIPTION\n");
    manual_text(buf, about->detail ? about->detail : about->summary);
    if (about->opts && about->opts->name) {
        cr_buf_str(buf, ".Sh OPTIONS\n");
        manual_flags(buf, about->opts);
    }
    cr_buf_str(buf, ".Pp\nThe options of every command are described in\n"
                    ".Xr cellrun 1 .\n.Sh EXIT STATUS\n"
                    "0 for success.\nThe other values are the same for every "
                    "command; they are listed in\n.Xr cellrun 1 .\n");
    if (about->example) {
        cr_buf_str(buf, ".Sh EXAMPLES\n");
        manual_display(buf, about->example);
    }
    cr_buf_str(buf, ".Sh SEE ALSO\n.Xr cellrun 1 ,\n"
                    ".Xr cellrun-checkpoint 5 ,\n.Xr cellrun-config 5\n");
}

/* All commands with their summaries. */
static void manual_commands(struct cr_buf *buf)
{
    cr_buf_str(buf, ".Bl -tag -width Ds\n");
    for (const struct cr_descriptor *const *p =
             cr_registry_list(CR_KIND_COMMAND);
         *p; p++) {
        cr_buf_f(buf, ".It Xr cellrun-%s 1\n", (*p)->name);
        manual_text(buf, (*p)->summary);
    }
    cr_buf_str(buf, ".El\n");
}

static void manual_codes(struct cr_buf *buf)
{
    cr_buf_str(buf, ".Bl -tag -width E0000\n");
    for (int i = 0; i < CR_E_COUNT; i++) {
        enum cr_code code = (enum cr_code)i;

        manual_macro(buf, "It", cr_code_number(code));
        manual_text(buf,
                    cr_strf(buf->arena, "%s (exit %d). %s", cr_code_title(code),
                            cr_code_exit(code), cr_code_text(code)));
    }
    cr_buf_str(buf, ".El\n");
}

bool cr_manual(struct cr_buf *buf, const char *part)
{
    static const char prefix[] = "cellrun-";
    const struct cr_descriptor *command =
        strncmp(part, prefix, sizeof prefix - 1) == 0
            ? cr_registry_find(CR_KIND_COMMAND, part + sizeof prefix - 1)
            : NULL;

    if (command) {
        manual_page(buf, (const struct cr_command *)command);
        return true;
    }
    if (strcmp(part, manual_kinds[CR_KIND_COMMAND]) == 0) {
        manual_commands(buf);
        return true;
    }
    for (int k = 0; k < CR_KINDS; k++)
        if (strcmp(part, manual_kinds[k]) == 0) {
            for (const struct cr_descriptor *const *p =
                     cr_registry_list((enum cr_kind)k);
                 *p; p++)
                if (!(*p)->internal)
                    manual_about(buf, *p);
            return true;
        }
    if (strcmp(part, "codes") == 0) {
        manual_codes(buf);
    } else if (strcmp(part, "flags") == 0) {
        manual_flags(buf, cr_cli_rows);
    } else if (strcmp(part, "environment") == 0) {
        cr_buf_str(buf, ".Bl -tag -width Ds\n");
        for (const struct cr_env *v = cr_env_list; v->name; v++) {
            cr_buf_f(buf, ".It Ev %s\n", v->name);
            manual_text(buf, v->text);
        }
        cr_buf_str(buf, ".El\n");
    } else if (strcmp(part, "exit") == 0) {
        cr_buf_str(buf, ".Bl -tag -width Ds\n");
        for (const struct cr_status *s = cr_statuses; s->code; s++) {
            cr_buf_f(buf, ".It %s\n", s->code);
            manual_text(buf, s->text);
        }
        cr_buf_str(buf, ".El\n");
    } else {
        return false;
    }
    return true;
}
