/* sample: generates text with a language model, and writes it as it is
 * sampled. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "score/score.h"
#include "text/text.h"
#include "train/section.h"

struct sample {
    const char *ckpt, *config, *prompt;
    int64_t length, top_k;
    double temperature, top_p;
};

static const struct cr_opt sample_opts[] = {
    CR_STR(struct sample, ckpt,
           "Checkpoint or run directory (best checkpoint, else last).",
           .text = "CKPT"),
    CR_STR_OPTIONAL(
        struct sample, config,
        "Config to use instead of that of the checkpoint; needed for weights "
        "without one, such as a safetensors file of another program.",
        .text = "FILE"),
    CR_STR_OPTIONAL(struct sample, prompt,
                    "Beginning of the text. Default: the start of a line.",
                    .text = "TEXT"),
    CR_INT_OPTIONAL(struct sample, length, 1, CR_DIM_MAX,
                    "Number of characters. Default: 200."),
    CR_REAL_OPTIONAL(struct sample, temperature, 0, 1e6,
                     "Divisor of the logits: below 1 likely characters become "
                     "more likely, 0 selects the most likely one. Default: 1."),
    CR_INT_OPTIONAL(struct sample, top_k, 1, CR_DIM_MAX,
                    "Sample from the K most likely characters."),
    CR_REAL_OPTIONAL(struct sample, top_p, 0, 1,
                     "Sample from the most likely characters that have this "
                     "fraction of the probability (nucleus sampling)."),
    { 0 },
};

struct job {
    struct cr_cli *cli;
    struct cr_model model;
    struct cr_sampling_opts how;
    struct cr_generate *generate;
    struct cr_buf text; /* used with --json */
    char last;
};

/* Reads the section `sample`, overridden by the flags. */
static bool sample_how(struct job *j)
{
    const struct sample *o = cr_cli_opts(j->cli);

    if (!cr_section_read(j->model.config, "sample", &j->how))
        return false;
    if (o->prompt)
        j->how.prompt = o->prompt;
    if (o->length != CR_INT_NONE)
        j->how.length = o->length;
    if (o->top_k != CR_INT_NONE)
        j->how.top_k = o->top_k;
    if (!isnan(o->temperature))
        j->how.temperature = o->temperature;
    if (!isnan(o->top_p))
        j->how.top_p = o->top_p;
    return true;
}

static bool sample_prepare(struct job *j)
{
    struct cr_state *s = &j->model.state;

    if (s->n_columns == 0)
        return cr_error(
            j->cli->diag,
            cr_at_file(j->cli->arena, cr_tensor_file_path(j->model.file)),
            CR_E_CKPT_FORMAT, "the checkpoint does not record the input "
                              "columns");
    if (!cr_generate_can(j->model.config, s->columns, s->n_columns))
        return false;
    j->model.looks = CR_IN_PREDICT;
    if (!cr_model_net(&j->model, s->columns, s->n_columns, 1, 0, false, false))
        return false;
    j->generate = cr_generate_open(j->model.config, j->model.net, s->columns,
                                   s->n_columns, true);
    return j->generate != NULL;
}

static bool sample_put(void *ctx, const char *text, size_t len)
{
    struct job *j = ctx;

    j->last = text[len - 1];
    if (j->cli->json) {
        cr_buf_add(&j->text, text, len);
        return true;
    }
    fwrite(text, 1, len, stdout);
    return fflush(stdout) == 0;
}

static bool sample_text(struct job *j)
{
    struct cr_buf line = { .arena = j->cli->arena };
    uint64_t seed = j->model.seed;
    bool finite;

    j->text.arena = j->cli->arena;
    if (!cr_generate_text(j->generate, &j->how, seed, 0, sample_put, j,
                          &finite))
        return false;
    if (!finite)
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_DIVERGED,
                        "the output of the network is not finite");
    if (j->cli->json) {
        cr_buf_str(&line, "{\"text\":");
        cr_buf_json_n(&line, cr_buf_text(&j->text), j->text.len);
        cr_buf_f(&line, ",\"seed\":%" PRIu64 "}\n", seed);
        fputs(line.text, stdout);
    } else if (j->last != '\n') {
        putchar('\n');
    }
    return true;
}

static int sample_run(struct cr_cli *cli)
{
    const struct sample *o = cr_cli_opts(cli);
    const char *const files[] = { o->config, NULL };
    struct job j = { .cli = cli };

    if (cr_model_open(cli, o->ckpt, files, &j.model) &&
        cr_model_describe(&j.model) && sample_how(&j) && sample_prepare(&j))
        sample_text(&j);
    cr_model_close(&j.model);
    cr_generate_close(j.generate);
    return cr_diag_exit(cli->diag);
}

const struct cr_command cr_command_sample = {
    .about = {
        .name = "sample",
        .summary = "Generate text with a language model.",
        .detail =
            "Prints the prompt, then one character after the other as soon "
            "as it is sampled, and a final newline if there is none. The "
            "network reads the last seq_len characters. Options that are not "
            "given come from the section `sample` of the config. --seed N "
            "generates another text.",
        .example = "cellrun sample --ckpt runs/text --prompt 'the ' --length "
                   "200 --temperature 0.8 --top-k 40 --seed 3\n",
        .opts = sample_opts,
        .size = sizeof(struct sample),
    },
    .usage = "--ckpt CKPT [--config FILE] [key=value...] [flags]",
    .max_operands = 0,
    .takes_config = true,
    .run = sample_run,
};
