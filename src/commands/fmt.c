/*
 * fmt: configs in canonical layout; comments are kept.
 */
#include <stdio.h>
#include <string.h>

#include "conf/command_line.h"
#include "conf/yaml.h"
#include "conf/yaml_format.h"

struct fmt {
    bool write, check;
};

static const struct cr_opt fmt_opts[] = {
    CR_BOOL_DEFAULT(struct fmt, write, false,
                    "Replace the files whose layout changes.", .flag = 'w'),
    CR_BOOL_DEFAULT(struct fmt, check, false,
                    "Print only the names of files whose layout would change; "
                    "exit 6 if there is one."),
    { 0 },
};

static const char *fmt_json(struct cr_arena *arena, const char *path)
{
    struct cr_buf buf = { .arena = arena };

    cr_buf_json(&buf, path);
    return cr_buf_text(&buf);
}

/* Whether the layout of the file changes. */
static bool fmt_file(struct cr_cli *cli, const struct fmt *o, int operand)
{
    const char *path = cli->operands[operand], *text;
    struct cr_source *src = CR_NEW(cli->arena, struct cr_source);
    int errors = cli->diag->errors;
    bool is_stdin = strcmp(path, "-") == 0, differs;

    src->name = is_stdin ? "standard input" : path;
    src->text = cr_read_file(cli->arena, cli->diag, cli->operand_pos[operand],
                             path, CR_E_INCLUDE, CR_TEXT_MAX, &src->len);
    if (!src->text)
        return false;
    text = cr_yaml_format(cli->arena, cli->diag, src);
    if (!text || cli->diag->errors > errors)
        return false;
    differs =
        strlen(text) != src->len || memcmp(text, src->text, src->len) != 0;
    if (o->check && differs)
        puts(cli->json ? fmt_json(cli->arena, path)
                       : cr_quote(cli->arena, path, strlen(path)));
    else if (!o->check && (!o->write || is_stdin))
        fputs(text, stdout);
    else if (!o->check && differs)
        cr_write_file(cli->diag, path, text, strlen(text));
    return differs;
}

static int fmt_run(struct cr_cli *cli)
{
    const struct fmt *o = cr_cli_opts(cli);
    bool differs = false;

    if (cli->n_operands > 1 && !o->write && !o->check) {
        cr_error(cli->diag, cli->operand_pos[1], CR_E_USAGE,
                 "fmt: found %d files, expected one, or -w or --check",
                 cli->n_operands);
        return 0;
    }
    for (int i = 0; i < cli->n_operands; i++)
        differs |= fmt_file(cli, o, i);
    return o->check && differs && cli->diag->errors == 0 ? 6 : 0;
}

const struct cr_command cr_command_fmt = {
    .about = {
        .name = "fmt",
        .summary = "Format configs; comments are kept.",
        .detail =
            "Prints a config in canonical layout: top-level keys in the order "
            "of cellrun-config(5), two spaces of indentation, double quotes, "
            "lists and maps in [] and {} only if they fit into 100 columns, "
            "no two consecutive empty lines. The meaning stays the same. "
            "- is standard input.",
        .example = "cellrun fmt -w digits.yaml\n"
                   "cellrun fmt --check *.yaml\n",
        .opts = fmt_opts,
        .size = sizeof(struct fmt),
    },
    .usage = "FILE... [-w | --check]",
    .min_operands = 1,
    .max_operands = -1,
    .closed = true,
    .run = fmt_run,
};
