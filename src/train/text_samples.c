/*
 * Generated texts during training: the section `sample`.
 *
 * They do not affect the run: it gives the same bytes without them.
 */
#include <string.h>

#include "base/clock.h"
#include "base/table.h"
#include "text/text.h"
#include "train/save.h"
#include "train/train.h"

static const struct cr_opt sample_opts[] = {
    CR_QUANTITY_DEFAULT(struct cr_sampling_opts, every, "500 steps", CR_STEPS,
                        "Interval between texts."),
    CR_STR_OPTIONAL(struct cr_sampling_opts, prompt,
                    "Beginning of the text. Default: the beginning of a line."),
    CR_INT_DEFAULT(struct cr_sampling_opts, length, 200, 1, CR_DIM_MAX,
                   "Number of characters to generate."),
    CR_REAL_DEFAULT(
        struct cr_sampling_opts, temperature, 1, 0, 1e6,
        "Sampling temperature, which divides the logits: below 1 favours "
        "likely characters, 0 always takes the most likely one."),
    CR_INT_OPTIONAL(
        struct cr_sampling_opts, top_k, 1, CR_DIM_MAX,
        "Top-k sampling: consider only the k most likely characters."),
    CR_REAL_DEFAULT(struct cr_sampling_opts, top_p, 1, 0, 1,
                    "Top-p (nucleus) sampling: consider only the most likely "
                    "characters whose probabilities add up to p."),
    { 0 },
};

const struct cr_section cr_section_sample = {
    .about = {
        .name = "sample",
        .summary = "Text generated during training.",
        .detail = "Texts are printed and recorded in metrics.jsonl with split "
                  "\"sample\". `cellrun sample` uses these settings as the "
                  "defaults of its flags.",
        .example = "sample: {every: 500 steps, prompt: \"\\n\", length: 200, "
                   "temperature: 0.8}\n",
        .opts = sample_opts,
        .size = sizeof(struct cr_sampling_opts),
    },
};

struct cr_text_samples {
    struct cr_train *train;
    struct cr_sampling_opts how;
    struct cr_generate *generate;
    struct cr_interval every;
    double last;            /* time of the last text, by cr_now() */
};

bool cr_text_samples_read(struct cr_train *t, struct cr_text_samples **to)
{
    const struct cr_node *section = cr_section(t->config, "sample");
    const struct cr_node *prompt = cr_node_get(section, "prompt");
    const struct cr_column *columns;
    struct cr_text_samples *s;
    int n;

    *to = NULL;
    if (!section)
        return true;
    s = CR_NEW(t->arena, struct cr_text_samples);
    s->train = t;
    if (!cr_section_read(t->config, "sample", &s->how))
        return false;
    if (s->how.every.value <= 0)
        return cr_error(t->diag, section->pos, CR_E_OUT_OF_RANGE,
                        "'sample.every': expected a value above 0");
    s->every = cr_run_interval(&t->length, &s->how.every);
    s->last = cr_now();
    columns = cr_data_loader_columns(t->loader, &n);
    s->generate = cr_generate_open(t->config, t->net, columns, n, false);
    if (!s->generate)
        return false;
    *to = s;
    return cr_generate_takes(s->generate, s->how.prompt,
                             prompt ? prompt->pos : section->pos,
                             "'sample.prompt'");
}

void cr_text_samples_close(struct cr_text_samples *text_samples)
{
    if (text_samples)
        cr_generate_close(text_samples->generate);
}

static bool text_samples_put(void *ctx, const char *text, size_t len)
{
    cr_buf_add(ctx, text, len);
    return true;
}

/* Prints line by line, with control characters escaped. */
static void text_samples_record(struct cr_train *t, struct cr_arena *mem,
                                const char *text)
{
    cr_console_log(&t->console, "Sample");
    cr_console_log(&t->console, "-------------------------------");
    for (;;) {
        size_t n = strcspn(text, "\n");

        cr_console_log(&t->console, "%s",
                       cr_escape(mem, cr_strndup(mem, text, n)));
        if (!text[n] || !text[n + 1])
            break;
        text += n + 1;
    }
}

bool cr_text_samples_step(struct cr_text_samples *s)
{
    struct cr_train *t = s->train;
    struct cr_arena mem = { 0 };
    struct cr_buf text = { .arena = &mem };
    int64_t step = t->state.step;
    double now = cr_now();
    bool ok, finite;

    if (!cr_interval_due(&s->every, step) &&
        !(s->every.seconds > 0 && now - s->last >= s->every.seconds))
        return true;
    s->last = now;
    ok = cr_generate_text(s->generate, &s->how, t->opts.seed, (uint64_t)step,
                          text_samples_put, &text, &finite);
    /* outputs that are not finite are handled by train.nan in the next step */
    if (ok && finite) {
        text_samples_record(t, &mem, cr_buf_text(&text));
        cr_train_record_text(t, cr_buf_text(&text), text.len);
    }
    cr_arena_free(&mem);
    return ok;
}
