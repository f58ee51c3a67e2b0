/*
 * The report on a load: either all mismatches with the lines to add to the
 * config, or the parameters that were loaded, skipped and left unchanged.
 */
#include "ckpt/load_internal.h"

#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "data/vocab.h"

#define LOAD_LINES 20 /* maximum number of names listed in a message */
#define LOAD_UNUSED 6 /* and of names of the file on a line */

static int load_count(const struct cr_load_job *job, enum cr_load_status status)
{
    int n = 0;

    for (int i = 0; i < job->n_targets; i++)
        n += job->target[i].status == status;
    return n;
}

/* ---- Mismatches */

/* The pattern that the user may add to skip for a parameter: "classifier.*" if
 * no parameter of the cell matches, else the parameter's name. */
static const char *load_glob(const struct cr_load_job *job, int which)
{
    const char *name = job->target[which].param->name;
    const char *dot = strrchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) + 1 : 0;

    if (!dot)
        return name;
    for (int i = 0; i < job->n_targets; i++)
        if (strncmp(job->target[i].param->name, name, n) == 0 &&
            job->target[i].status == CR_LOAD_DONE)
            return name;
    return cr_strf(job->arena, "%.*s*", (int)n, name);
}

/* The `skip` line to add, with the shapes of the first mismatch. */
static const char *load_skip_line(const struct cr_load_job *job)
{
    struct cr_buf text = { .arena = job->arena };
    const char *last = "";

    cr_buf_str(&text, "skip: [");
    for (int i = 0; i < job->n_targets; i++) {
        const struct cr_load_target *t = &job->target[i];
        const char *glob;

        if (t->status == CR_LOAD_DONE || t->status == CR_LOAD_SKIPPED)
            continue;
        glob = load_glob(job, i);
        if (strcmp(glob, last) != 0) {
            cr_buf_f(&text, "%s\"%s\"", *last ? ", " : "", glob);
            last = glob;
        }
    }
    cr_buf_char(&text, ']');
    for (int i = 0; i < job->n_targets; i++) {
        const struct cr_load_target *t = &job->target[i];

        if (t->status != CR_LOAD_SHAPE)
            continue;
        cr_buf_f(&text, "   # %s in the file, %s in the network",
                 cr_diag_format(job->arena, &t->entry->spec),
                 cr_diag_format(job->arena, &t->param->spec));
        break;
    }
    return cr_buf_text(&text);
}

/* The `rename` line that removes a prefix, quoted for YAML. */
static const char *load_rule_for(const struct cr_load_job *job,
                                 const char *prefix)
{
    struct cr_buf text = { .arena = job->arena };

    cr_buf_str(&text, "rename: [[\"^");
    for (; *prefix; prefix++) {
        if (strchr(".[]{}()*+?^$|\\\"", *prefix))
            cr_buf_str(&text, *prefix == '"' ? "\\" : "\\\\");
        if (*prefix == '\\')
            cr_buf_char(&text, '\\');
        cr_buf_char(&text, *prefix);
    }
    cr_buf_str(&text, "\", \"\"]]");
    return cr_buf_text(&text);
}

static void load_note(struct cr_load_job *job, const struct cr_load_target *t)
{
    struct cr_arena *mem = job->diag->arena;
    const char *want = cr_diag_format(mem, &t->param->spec);

    if (t->status == CR_LOAD_MISSING)
        cr_note(job->diag, "missing    %s %s", t->param->name, want);
    else if (t->status == CR_LOAD_SHAPE)
        cr_note(job->diag, "shape      %s %s in the file, %s in the network",
                t->param->name, cr_diag_format(mem, &t->entry->spec), want);
    else
        cr_note(job->diag,
                "dtype      %s %s in the file, floating point in the network",
                t->param->name, t->entry->dtype);
}

/* Names of the file that a rule could rename to those that are missing. */
static void load_note_unused(struct cr_load_job *job)
{
    struct cr_buf text = { .arena = job->diag->arena };
    int n = 0;

    for (int i = 0; i < job->n_sources; i++) {
        const struct cr_load_source *s = &job->source[i];

        if (s->used || cr_load_is_state(job, s->name) || n++ > LOAD_UNUSED)
            continue;
        if (n > LOAD_UNUSED)
            cr_buf_str(&text, ", ...");
        else
            cr_buf_f(&text, "%s %s %s", n > 1 ? "," : "", s->entry->name,
                     cr_diag_format(job->diag->arena, &s->entry->spec));
    }
    if (n > 0)
        cr_note(job->diag, "unused tensors of the file:%s", cr_buf_text(&text));
}

bool cr_load_refuse(struct cr_load_job *job, bool extra, enum cr_load_fix fix)
{
    struct cr_pos at =
        cr_at_file(job->diag->arena, cr_tensor_file_path(job->file));
    int faults = 0, shown = 0, unused = 0;
    const char *prefix;

    for (int i = 0; i < job->n_targets; i++)
        faults += job->target[i].status != CR_LOAD_DONE &&
                  job->target[i].status != CR_LOAD_SKIPPED;
    for (int i = 0; extra && i < job->n_sources; i++)
        unused += !job->source[i].used;
    if (faults == 0 && unused == 0)
        return true;
    if (faults > 0)
        cr_error(job->diag, at, CR_E_CKPT_MISMATCH,
                 "%d of %d parameters of the network cannot be loaded", faults,
                 job->n_targets);
    else
        cr_error(job->diag, at, CR_E_CKPT_MISMATCH,
                 "%d tensor%s of the file not found in the network", unused,
                 unused == 1 ? "" : "s");
    for (int i = 0; i < job->n_targets; i++) {
        const struct cr_load_target *t = &job->target[i];

        if (t->status != CR_LOAD_DONE && t->status != CR_LOAD_SKIPPED &&
            shown++ < LOAD_LINES)
            load_note(job, t);
    }
    for (int i = 0; extra && i < job->n_sources; i++)
        if (!job->source[i].used && shown++ < LOAD_LINES)
            cr_note(
                job->diag, "unexpected %s %s", job->source[i].name,
                cr_diag_format(job->diag->arena, &job->source[i].entry->spec));
    if (shown > LOAD_LINES)
        cr_note(job->diag, "and %d more", shown - LOAD_LINES);
    if (fix == CR_LOAD_FIX_NONE || faults == 0)
        return false;
    prefix = cr_load_prefix(job, &faults);
    if (prefix)
        cr_note(
            job->diag,
            "the file has %d of them with the prefix '%s': add under load:\n"
            "%s",
            faults, cr_quote(job->diag->arena, prefix, strlen(prefix)),
            load_rule_for(job, prefix));
    else if (!extra)
        load_note_unused(job);
    if (!prefix && fix == CR_LOAD_FIX_ALL)
        cr_note(job->diag, "to keep their initial values, add under load:\n%s",
                load_skip_line(job));
    return false;
}

/* ---- The report */

static const char *load_times(struct cr_arena *arena, int n)
{
    return n == 1 ? "once" : n == 2 ? "twice" : cr_strf(arena, "%d times", n);
}

static const char *load_amount(struct cr_arena *arena, double n)
{
    return n >= 1e6   ? cr_strf(arena, "%.2f M", n / 1e6)
           : n >= 1e4 ? cr_strf(arena, "%.2f k", n / 1e3)
                      : cr_strf(arena, "%.0f", n);
}

static void load_line(struct cr_buf *text, const char *what, int n)
{
    cr_buf_f(text, "  %-11s%3d", what, n);
}

/* Appends a name to the line of its count; after as many as fit, "...". */
static void load_names(struct cr_buf *text, const char *name, int *shown)
{
    if (*shown < 4)
        cr_buf_f(text, "%s%s", *shown == 0 ? "   " : " ", name);
    else if (*shown == 4)
        cr_buf_str(text, " ...");
    ++*shown;
}

static void load_loaded(const struct cr_load_job *job, struct cr_buf *text)
{
    int params = 0, statistics = 0, lost = 0;
    double values = 0;
    const char *comma = "; rename ";

    for (int i = 0; i < job->n_targets; i++) {
        const struct cr_load_target *t = &job->target[i];
        bool done = t->status == CR_LOAD_DONE;

        if (done)
            values += (double)cr_count(&t->param->spec);
        if (t->param->statistic && !t->param->state) {
            statistics += done;
        } else {
            params++;
            lost += !done;
        }
    }
    load_line(text, "loaded", load_count(job, CR_LOAD_DONE));
    cr_buf_f(text, "   %s values   %d", load_amount(job->arena, values),
             params);
    if (lost > 0)
        cr_buf_f(text, " - %d", lost);
    cr_buf_str(text, " parameters");
    if (statistics > 0)
        cr_buf_f(text, " and %d BatchNorm statistics", statistics);
    for (int i = 0; i < job->n_rules; i++) {
        cr_buf_f(text, "%srule %d %s%s", comma, i + 1,
                 job->rule[i].used == 0 ? "never used"
                 : i == 0               ? "used "
                                        : "",
                 job->rule[i].used > 0
                     ? load_times(job->arena, job->rule[i].used)
                     : "");
        comma = ", ";
    }
    cr_buf_char(text, '\n');
}

/* The patterns of a node as written in the config: "a.*" {of: Dense}. */
static const char *load_patterns(struct cr_arena *arena,
                                 const struct cr_node *node)
{
    struct cr_buf text = { .arena = arena };

    if (node->kind != CR_NODE_LIST)
        cr_buf_f(&text, node->text ? "\"%s\"" : "%s",
                 node->text ? node->text : cr_node_flow(arena, node));
    for (CR_EACH(m, node->kind == CR_NODE_LIST ? node : NULL))
        cr_buf_f(&text, "%s%s", m == node->child ? "" : " ",
                 load_patterns(arena, m));
    return cr_buf_text(&text);
}

/* The vocabularies that come from the file. */
static void load_vocabs(const struct cr_vocab *v, struct cr_buf *text)
{
    for (; v; v = v->next)
        if (v->file)
            cr_buf_f(text, "\n  %-11s%3lld   tokens of column '%s'",
                     "vocabulary", (long long)v->n, v->column);
}

void cr_load_report_text(const struct cr_load_job *job,
                         const struct cr_config *config,
                         const struct cr_node *skip, struct cr_load_report *to)
{
    struct cr_buf text = { .arena = job->arena };
    int shown = 0, state = 0;

    to->loaded = load_count(job, CR_LOAD_DONE);
    to->skipped = load_count(job, CR_LOAD_SKIPPED);
    to->missing = job->n_targets - to->loaded - to->skipped;
    for (int i = 0; i < job->n_sources; i++)
        if (!job->source[i].used) {
            bool kept = cr_load_is_state(job, job->source[i].entry->name);

            state += kept;
            to->unused += !kept;
        }
    cr_buf_f(&text, "load  %s (%s, %d tensor%s)\n",
             cr_tensor_file_path(job->file), cr_tensor_file_kind(job->file),
             job->n_sources, job->n_sources == 1 ? "" : "s");
    load_loaded(job, &text);
    if (job->torch > 0) {
        load_line(&text, "PyTorch's", job->torch);
        cr_buf_f(&text, "   names, such as %s for %s\n",
                 cr_escape(job->arena, job->torch_name), job->own_name);
    }
    if (job->rescued > 0) {
        load_line(&text, "by prefix", job->rescued);
        cr_buf_f(&text, "   names of the file with the prefix '%s'\n",
                 cr_escape(job->arena, job->prefix));
    }
    load_line(&text, "skipped", to->skipped);
    for (int i = 0; i < job->n_targets; i++)
        if (job->target[i].status == CR_LOAD_SKIPPED)
            load_names(&text, job->target[i].param->name, &shown);
    if (shown > 0)
        cr_buf_f(&text, "          by skip: %s",
                 load_patterns(job->arena, skip));
    cr_buf_char(&text, '\n');
    shown = 0;
    load_line(&text, "not in file", load_count(job, CR_LOAD_MISSING));
    for (int i = 0; i < job->n_targets; i++)
        if (job->target[i].status == CR_LOAD_MISSING)
            load_names(&text, job->target[i].param->name, &shown);
    cr_buf_char(&text, '\n');
    if (to->missing > load_count(job, CR_LOAD_MISSING)) {
        shown = 0;
        load_line(&text, "mismatched",
                  to->missing - load_count(job, CR_LOAD_MISSING));
        for (int i = 0; i < job->n_targets; i++)
            if (job->target[i].status == CR_LOAD_SHAPE ||
                job->target[i].status == CR_LOAD_DTYPE)
                load_names(&text, job->target[i].param->name, &shown);
        cr_buf_char(&text, '\n');
    }
    shown = 0;
    load_line(&text, "unused", to->unused);
    for (int i = 0; i < job->n_sources; i++)
        if (!job->source[i].used &&
            !cr_load_is_state(job, job->source[i].entry->name))
            load_names(&text, job->source[i].name, &shown);
    if (state > 0) {
        cr_buf_char(&text, '\n');
        load_line(&text, "state", state);
        cr_buf_str(&text, "   optimizer slots and counters, ignored");
    }
    load_vocabs(config->vocabs, &text);
    to->text = cr_buf_text(&text);
}
