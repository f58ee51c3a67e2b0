/* init: writes a new config from a template or for a data set. */
#include <string.h>
#include <sys/stat.h>

#include "base/table.h"
#include "conf/command_line.h"
#include "conf/yaml_format.h"
#include "starter/starter.h"

struct init {
    const char *to, *csv, *target, *folder, *npy;
    int task;
    bool list, force;
};

static const struct cr_opt init_opts[] = {
    { .name = "output",
      .at = offsetof(struct init, to),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .flag = 'o',
      .text = "FILE",
      .doc = "Write the config there instead of standard output." },
    CR_BOOL_DEFAULT(struct init, list, false, "List the templates."),
    { .name = "from_csv",
      .at = offsetof(struct init, csv),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .text = "FILE",
      .doc = "Write a config for this table; the types of its fields are "
             "inferred." },
    CR_STR_OPTIONAL(struct init, target,
                    "The field of --from-csv that the network predicts.",
                    .text = "FIELD"),
    { .name = "from_folder",
      .at = offsetof(struct init, folder),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .text = "DIR",
      .doc = "Write a config for images: one folder per class in DIR, or in "
             "DIR/train and DIR/val." },
    { .name = "from_npy",
      .at = offsetof(struct init, npy),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .text = "X.npy,Y.npy",
      .doc = "Write a config for two arrays: rows, sequences (n, time, "
             "features) or images, and their targets. (n, height, width) is "
             "images if these are bytes or squares; (n, height, width, 1) "
             "always is." },
    CR_ENUM_DEFAULT(
        struct init, task, CR_TASK_AUTO, "auto|classify|regress",
        "Kind of the target. auto: classes if it has strings or few distinct "
        "integers, else numbers."),
    CR_BOOL_DEFAULT(struct init, force, false, "Replace FILE if it exists."),
    { 0 },
};

static int init_list(const struct cr_cli *cli)
{
    struct cr_table table = { .arena = cli->arena, .align = "ll",
                              .headless = true };
    struct cr_buf b = { .arena = cli->arena };

    for (const struct cr_template *t = cr_templates; t->name; t++) {
        const char *summary = cr_template_summary(cli->arena, t);

        cr_table_add(&table, t->name);
        cr_table_add(&table, summary);
        cr_buf_str(&b, t == cr_templates ? "[{\"name\": " : ", {\"name\": ");
        cr_buf_json(&b, t->name);
        cr_buf_str(&b, ", \"summary\": ");
        cr_buf_json(&b, summary);
        cr_buf_char(&b, '}');
    }
    if (cli->json)
        printf("%s]\n", cr_buf_text(&b));
    else
        cr_table_show(&table, false);
    return 0;
}

static bool init_template(struct cr_cli *cli, struct cr_starter *s)
{
    const struct cr_template *t = cr_template_find(cli->operands[0]);
    const char *names[32] = { NULL };
    struct cr_buf all = { .arena = cli->arena };
    struct stat st;
    int n = 0;

    if (t) {
        cr_buf_add(&s->out, t->text, t->len);
        return true;
    }
    for (t = cr_templates; t->name && n < 31; t++) {
        cr_buf_f(&all, " %s", t->name);
        names[n++] = t->name;
    }
    cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
             "found '%s', expected a template:%s",
             cr_quote(cli->arena, cli->operands[0], strlen(cli->operands[0])),
             cr_buf_text(&all));
    if (cr_ends(cli->operands[0], ".csv") || cr_ends(cli->operands[0], ".tsv"))
        cr_hint(cli->diag, "did you mean --from-csv %s --target FIELD?",
                cli->operands[0]);
    else if (stat(cli->operands[0], &st) == 0 && S_ISDIR(st.st_mode))
        cr_hint(cli->diag, "did you mean --from-folder %s?", cli->operands[0]);
    else if (cr_closest_name(cli->operands[0], names))
        cr_hint(cli->diag, "did you mean '%s'?",
                cr_closest_name(cli->operands[0], names));
    return false;
}

/* Splits "X.npy,Y.npy" at the comma. */
static bool init_arrays(struct cr_starter *s, const char *both)
{
    size_t n = strcspn(both, ",");

    return cr_starter_npy(s, cr_strndup(s->arena, both, n), both + n + 1);
}

/* Checks that there is one source, and that the flags apply to it. */
static bool init_usage(struct cr_cli *cli)
{
    const struct init *o = cr_cli_opts(cli);
    int sources = (cli->n_operands > 0) + (o->csv != NULL) +
                  (o->folder != NULL) + (o->npy != NULL);
    struct stat st;

    if (sources != 1) {
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "found %s, expected one of: TEMPLATE, --from-csv, "
                 "--from-folder, --from-npy",
                 sources ? "several sources" : "no source");
        cr_cli_usage(cli);
        return false;
    }
    if (o->target && !o->csv)
        return cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--target names a field of --from-csv");
    if (o->npy && !strchr(o->npy, ','))
        return cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--from-npy: found one file, expected two: "
                        "X.npy,Y.npy");
    if (o->task != CR_TASK_AUTO && !o->csv && !o->npy)
        return cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--task is for --from-csv and --from-npy");
    if (o->to && !o->force && stat(o->to, &st) == 0 && S_ISREG(st.st_mode))
        return cr_error(cli->diag, cr_at_file(cli->arena, o->to), CR_E_USAGE,
                        "the file exists; use --force to replace it");
    return cr_cli_ending(cli, "-o", o->to, ".yaml .yml");
}

/* The command line as typed. */
static const char *init_line(const struct cr_cli *cli)
{
    struct cr_buf b = { .arena = cli->arena };

    cr_buf_str(&b, "cellrun");
    for (int i = 1; cli->argv[i]; i++) {
        const char *word = cli->argv[i];

        cr_buf_char(&b, ' ');
        if (strpbrk(word, " \t\n'\"\\$&|;<>()*?[]#~`!"))
            cr_buf_json(&b, word);
        else
            cr_buf_str(&b, word);
    }
    return cr_buf_text(&b);
}

static void init_json(const struct cr_cli *cli, const struct cr_starter *s)
{
    const struct init *o = cr_cli_opts(cli);
    struct cr_buf b = { .arena = cli->arena };

    cr_buf_json(&b, o->to);
    printf("{\"config\": %s, \"unused\": [%s]}\n", cr_buf_text(&b),
           s->unused ? s->unused_json : "");
}

static bool init_write(struct cr_cli *cli, const struct cr_starter *s)
{
    const struct init *o = cr_cli_opts(cli);
    const struct cr_source src = { .name = "the new config",
                                   .text = cr_buf_text(&s->out),
                                   .len = s->out.len };
    const char *text = cr_yaml_format(cli->arena, cli->diag, &src);

    if (!text)
        return false;
    if (!o->to || strcmp(o->to, "-") == 0) {
        fputs(text, stdout);
        return true;
    }
    if (!cr_write_file(cli->diag, o->to, text, strlen(text)))
        return false;
    if (cli->json)
        init_json(cli, s);
    if (cli->json || cli->quiet)
        return true;
    fprintf(stderr, "wrote %s; train it with cellrun train %s\n", o->to,
            o->to);
    if (s->unused)
        fprintf(stderr, "not used: %s (the config says why)\n", s->unused);
    return true;
}

static int init_run(struct cr_cli *cli)
{
    const struct init *o = cr_cli_opts(cli);
    struct cr_starter s = { .arena = cli->arena,
                               .diag = cli->diag,
                               .out = { .arena = cli->arena },
                               .command = init_line(cli),
                               .task = o->task };
    const char *folder = o->to ? cr_path_dir(cli->arena, o->to) : ".";
    bool ok;

    if (o->list)
        return init_list(cli);
    if (!init_usage(cli))
        return cr_diag_exit(cli->diag);
    s.folder = strcmp(folder, ".") == 0 ? NULL : folder;
    ok = o->csv      ? cr_starter_csv(&s, o->csv, o->target)
         : o->folder ? cr_starter_folder(&s, o->folder)
         : o->npy    ? init_arrays(&s, o->npy)
                     : init_template(cli, &s);
    if (ok)
        init_write(cli, &s);
    return cr_diag_exit(cli->diag);
}

const struct cr_command cr_command_init = {
    .about = {
        .name = "init",
        .summary = "Write a config to start from.",
        .detail =
            "Writes a TEMPLATE, or a config for data: with columns, sizes, "
            "classes and a network that fit them, ready to train. Fields of "
            "a table without information (ids, one value in all rows) are "
            "omitted and listed in a comment. Relative paths in the config "
            "are relative to the folder of the output file, or to the "
            "current folder for standard output.",
        .example = "cellrun init --list\n"
                   "cellrun init digits -o digits.yaml\n"
                   "cellrun init --from-csv wine.csv --target quality -o "
                   "wine.yaml\n"
                   "cellrun init --from-folder images -o images.yaml\n",
        .opts = init_opts,
        .size = sizeof(struct init),
    },
    .usage = "TEMPLATE|--from-KIND DATA [flags]",
    .max_operands = 1,
    .closed = true,
    .run = init_run,
};
