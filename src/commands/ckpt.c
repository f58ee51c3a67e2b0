/*
 * ckpt: inspects and compares checkpoints and any safetensors, NPZ or MindSpore
 * file, writes them anew, and reports what `load` would load.
 */
#include <string.h>

#include "ckpt/dtype.h"
#include "ckpts/ckpts.h"
#include "conf/terms.h"

static const struct cr_opt ckpt_opts[] = {
    { .name = "match",
      .at = offsetof(struct cr_ckpts_opts, edit.match),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .text = "GLOB",
      .doc = "ls, show, diff, convert, rename: only tensors whose names match "
             "this glob." },
    CR_STR_OPTIONAL(struct cr_ckpts_opts, meta,
                    "show: print only this value of the metadata "
                    "(cellrun.config, cellrun.state, cellrun.vocab).",
                    .text = "KEY"),
    CR_STR_OPTIONAL(
        struct cr_ckpts_opts, values,
        "show: print only the values of the tensors whose names match this "
        "glob, in NumPy's format; more than 1000 values are abridged, except "
        "with --json.",
        .text = "GLOB"),
    { .name = "rename",
      .at = offsetof(struct cr_ckpts_opts, edit.rename),
      .type = CR_OPT_STRS,
      .need = CR_OPTIONAL,
      .text = "PATTERN=REPLACEMENT",
      .doc = "rename: replace the first match in each name, as load.rename "
             "does. The pattern is a POSIX extended regular expression that "
             "ends at the first =; \\= stands for an equals sign. \\1 in the "
             "replacement is the first group. May be repeated; rules are "
             "applied in order." },
    { .name = "out",
      .at = offsetof(struct cr_ckpts_opts, edit.out),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .flag = 'o',
      .text = "FILE",
      .doc = "convert, rename, strip, average: the file to write: "
             ".safetensors, .npz (bfloat16 becomes float32) or MindSpore's "
             ".ckpt; - is standard output, as safetensors." },
    { .name = "dtype",
      .at = offsetof(struct cr_ckpts_opts, edit.dtype),
      .type = CR_OPT_ENUM,
      .need = CR_DEFAULT,
      .choices = CR_SAVED_DTYPES,
      .doc = "convert, rename, strip, average: the type of tensors of floating "
             "point in the file. auto: that of the input. One with a value "
             "beyond the range of float16 or bfloat16 keeps its type, with a "
             "warning." },
    CR_REAL_DEFAULT(struct cr_ckpts_opts, rtol, 0, 0, DBL_MAX,
                    "diff: relative tolerance, a fraction of the value in the "
                    "second file."),
    CR_REAL_DEFAULT(struct cr_ckpts_opts, atol, 0, 0, DBL_MAX,
                    "diff: absolute tolerance."),
    { 0 },
};

static const struct cr_ckpts_sub *ckpt_find(struct cr_cli *cli,
                                            const char *name)
{
    const char *names[32] = { NULL };
    struct cr_buf all = { .arena = cli->arena };

    for (int i = 0; cr_ckpts_subs[i]; i++) {
        names[i] = cr_ckpts_subs[i]->name;
        if (strcmp(name, names[i]) == 0)
            return cr_ckpts_subs[i];
        cr_buf_f(&all, "%s%s",
                 i == 0                 ? ""
                 : cr_ckpts_subs[i + 1] ? ", "
                                        : " or ",
                 names[i]);
    }
    cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
             "ckpt: found '%s', expected %s",
             cr_quote(cli->arena, name, strlen(name)), cr_buf_text(&all));
    if (cr_term_subcommand(name, names))
        cr_hint(cli->diag, "did you mean '%s'?",
                cr_term_subcommand(name, names));
    return NULL;
}

/* Checks the number of files and the flags of a subcommand. */
static bool ckpt_usage(struct cr_cli *cli, const struct cr_ckpts_sub *sub,
                       int n)
{
    static const char *const many[] = { "at least one", "one", "two" };
    const struct cr_ckpts_opts *o = cr_cli_opts(cli);
    bool writes = sub->write || sub->write_all;
    bool renames = strcmp(sub->name, "rename") == 0;

    if (sub->files > 0 ? n != sub->files : n == 0)
        return cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                        "ckpt %s: found %d file%s, expected %s", sub->name, n,
                        n == 1 ? "" : "s", many[sub->files]);
    if (writes != (o->edit.out != NULL))
        return cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                        writes ? "ckpt %s: -o FILE is missing"
                               : "ckpt %s writes no file: -o is for convert, "
                                 "rename, strip and average",
                        sub->name);
    if (renames != (o->edit.rename.n > 0))
        return cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                        renames ? "ckpt %s: --rename is missing"
                                : "ckpt %s does not take --rename: use ckpt "
                                  "rename",
                        sub->name);
    if (o->edit.match && (sub->write == cr_ckpt_strip || sub->write_all))
        return cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                        "ckpt %s does not take --match", sub->name);
    if (o->edit.dtype && !writes)
        return cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                        "ckpt %s does not take --dtype", sub->name);
    return cr_cli_ending(cli, "-o", o->edit.out, CR_TENSORS_ENDINGS) &&
           cr_cli_not_json(cli, "-o", o->edit.out) &&
           cr_cli_no_terminal(cli, "-o", o->edit.out);
}

static int ckpt_run(struct cr_cli *cli)
{
    const struct cr_ckpts_opts *o = cr_cli_opts(cli);
    const struct cr_ckpts_sub *sub = ckpt_find(cli, cli->operands[0]);
    struct cr_cli rest = *cli;

    if (!sub || !ckpt_usage(cli, sub, cli->n_operands - 1))
        return 0;
    rest.operands++;
    rest.operand_pos++;
    rest.n_operands--;
    if (sub->run_all)
        return sub->run_all(&rest);
    if (sub->write)
        sub->write(&rest, &o->edit, rest.operands[0]);
    if (sub->write_all)
        sub->write_all(&rest, &o->edit, rest.operands, rest.n_operands);
    for (int i = 0; sub->run && i < rest.n_operands; i++)
        sub->run(&rest, rest.operands[i]);
    return 0;
}

const struct cr_command cr_command_ckpt = {
    .about = {
        .name = "ckpt",
        .summary = "Inspect, compare, convert and average checkpoints.",
        .detail =
            "ls lists the checkpoints of a run directory, or the tensors of "
            "a file. show also prints the metadata. verify reads every byte "
            "and checks every checksum (exit 4). diff prints the largest "
            "difference of every tensor that differs between two files (exit "
            "6 if one exceeds the tolerances). convert writes the tensors to "
            "a file of another format; a MindSpore .ckpt also gets the "
            "values from which MindSpore's optimizer continues (global_step, "
            "beta1_power). That format does not store requires_grad: "
            "load_checkpoint sets it to True for all tensors of any file, "
            "and load_param_into_net does not change it in the network. "
            "Names stay as they are: export CONFIG --ckpt FILE writes a file "
            "of another program with the names of a network. "
            "rename is a convert that also renames: its result has no config, "
            "because that describes the network with the old names; give one "
            "with eval FILE.yaml --ckpt, or use `load`. strip keeps the "
            "weights, and what eval and predict need (config, vocabularies, "
            "fitted values), and drops optimizer slots: the result is that of "
            "checkpoint.weights_only. average writes such a checkpoint with "
            "the arithmetic mean of the weights of all files, computed in "
            "double (stochastic weight averaging, Izmailov et al. 2018). "
            "Moving statistics of BatchNorm are averaged too. Config and "
            "tensors of integers come from the first file; results of "
            "evaluations are dropped, with them the chosen threshold "
            "best_threshold. What is a weight follows from the network of the "
            "config; in files without one, from the names of the slots of "
            "MindSpore's optimizers. A file of strip or average counts as a "
            "checkpoint of somebody else, unless -o is in the run directory: "
            "eval then needs --data or --trust (cellrun(1), SECURITY). "
            "load-report reads a config and reports what its `load` and "
            "`freeze` do. A checkpoint is a file, a run directory (its best "
            "checkpoint, else its last) or a file name without suffix; "
            "safetensors, NPZ and MindSpore's .ckpt files are accepted, too.",
        .example = "cellrun ckpt ls runs/digits\n"
                   "cellrun ckpt show runs/digits --meta cellrun.config\n"
                   "cellrun ckpt show runs/digits --values '*.bias'\n"
                   "cellrun ckpt convert runs/digits -o digits.npz\n"
                   "cellrun ckpt diff runs/digits digits.npz --atol 1e-6\n"
                   "cellrun ckpt average runs/digits/ckpt/digits-*.safetensors "
                   "-o mean.safetensors\n"
                   "cellrun ckpt strip runs/digits --dtype float16 "
                   "-o small.safetensors\n"
                   "cellrun ckpt rename runs/digits --rename "
                   "'^body=net' -o net.safetensors\n"
                   "cellrun ckpt load-report digits.yaml load=digits.npz\n",
        .opts = ckpt_opts,
        .size = sizeof(struct cr_ckpts_opts),
    },
    .usage = "ls|show|verify PATH... | diff PATH PATH | convert|strip PATH -o "
             "FILE | rename PATH --rename RULE -o FILE | average PATH... -o "
             "FILE | load-report FILE... [key=value...]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .config_after = "load-report",
    .run = ckpt_run,
};
