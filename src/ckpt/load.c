/*
 * Loading by name. A file's tensor goes through the rename rules in turn
 * (POSIX extended expressions; the first match in a name is replaced), and
 * then belongs to the parameter of that name. Shapes must be equal, but for
 * ones that the file has at its end; floating types convert into each other
 * (formats.md 1.8).
 */
#include "ckpt/load.h"

#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define LOAD_LINES 20  /* of a list in a message */
#define LOAD_GROUPS 10 /* \0 to \9 */

struct load {
    const char *ckpt;
    const struct cr_node *rename, *skip;
    bool strict;
};

static const struct cr_opt load_opts[] = {
    CR_STR(struct load, ckpt,
           "Checkpoint, safetensors, NPZ or MindSpore's .ckpt file, or run "
           "directory."),
    CR_NODE(struct load, rename,
            "Pairs [pattern, replacement] applied to the file's names in "
            "turn; POSIX extended expressions, \\1 is the first group."),
    CR_NODE(struct load, skip,
            "Patterns of parameters that keep their initial values."),
    CR_BOOL_OR(struct load, strict, true,
               "Every parameter must be loaded or skipped."),
    { 0 },
};

const struct cr_section cr_section_load = {
    .about = {
        .name = "load",
        .summary = "Weights to start from.",
        .detail = "`load: FILE` is short for `load: {ckpt: FILE}`. Tensors of "
                  "the file that nothing uses are reported, never an error.",
        .example = "load:\n"
                   "  ckpt: pretrained/backbone.safetensors\n"
                   "  rename:\n"
                   "    - [\"^module\\\\.(.*)$\", \"\\\\1\"]\n"
                   "  skip: [\"classifier.*\"]\n",
        .opts = load_opts,
        .size = sizeof(struct load),
    },
};

enum load_fate {
    LOAD_MISSING,
    LOAD_DONE,
    LOAD_SKIPPED,
    LOAD_SHAPE,
    LOAD_DTYPE
};

struct load_target {
    struct cr_param *param;
    enum load_fate fate;
    const struct cr_entry *entry; /* NULL: the file has none */
};

struct load_source {
    const struct cr_entry *entry;
    const char *name; /* after renaming */
    bool used, read;
};

struct load_rule {
    regex_t regex;
    const char *with;
    int used;
};

struct load_job {
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_store *store;
    struct load_target *target;
    struct load_source *source, **by_name;
    struct load_rule *rule;
    int n_targets, n_sources, n_rules;
};

/* ---- Renaming */

static bool load_rule_read(struct load_job *job, const struct cr_node *pair)
{
    const struct cr_node *from = cr_node_at(pair, 0), *to;
    struct load_rule *rule = &job->rule[job->n_rules];
    char why[200];
    int status;

    to = cr_node_at(pair, 1);
    if (cr_node_count(pair) != 2 || !from || !from->text || !to || !to->text)
        return cr_error(job->diag, pair->pos, CR_E_FORM,
                        "%s is no rename rule: a rule is a list of two "
                        "texts, [pattern, replacement]",
                        cr_node_what(job->diag->arena, pair));
    status = regcomp(&rule->regex, from->text, REG_EXTENDED);
    if (status != 0) {
        regerror(status, &rule->regex, why, sizeof why);
        return cr_error(
            job->diag, from->pos, CR_E_FORM,
            "'%s' is no extended regular expression: %s",
            cr_quote(job->diag->arena, from->text, strlen(from->text)), why);
    }
    job->n_rules++;
    rule->with = to->text;
    for (const char *p = to->text; *p; p++) {
        if (*p != '\\')
            continue;
        p++;
        if (*p != '\\' && (*p < '0' || *p > '9'))
            return cr_error(job->diag, to->pos, CR_E_FORM,
                            "a replacement has \\0 to \\9 and \\\\ only");
        if (*p != '\\' && (size_t)(*p - '0') > rule->regex.re_nsub)
            return cr_error(job->diag, to->pos, CR_E_FORM,
                            "the replacement uses group %c, the pattern has "
                            "%zu",
                            *p, rule->regex.re_nsub);
    }
    return true;
}

static bool load_rules_read(struct load_job *job, const struct cr_node *node)
{
    bool ok = true;

    if (!node)
        return true;
    if (node->kind != CR_NODE_LIST)
        return cr_error(job->diag, node->pos, CR_E_WRONG_TYPE,
                        "rename takes a list of pairs, not %s",
                        cr_node_what(job->diag->arena, node));
    job->rule = CR_NEWS(job->arena, struct load_rule, cr_node_count(node));
    for (CR_EACH(pair, node))
        ok &= load_rule_read(job, pair);
    return ok;
}

static const char *load_rename(struct load_job *job, const char *name)
{
    for (int i = 0; i < job->n_rules; i++) {
        struct load_rule *rule = &job->rule[i];
        struct cr_buf to = { .arena = job->arena };
        regmatch_t m[LOAD_GROUPS];

        if (regexec(&rule->regex, name, LOAD_GROUPS, m, 0) != 0)
            continue;
        rule->used++;
        cr_buf_add(&to, name, (size_t)m[0].rm_so);
        for (const char *p = rule->with; *p; p++) {
            if (*p != '\\' || p[1] == '\\') {
                p += *p == '\\';
                cr_buf_char(&to, *p);
                continue;
            }
            p++;
            if (m[*p - '0'].rm_so >= 0)
                cr_buf_add(&to, name + m[*p - '0'].rm_so,
                           (size_t)(m[*p - '0'].rm_eo - m[*p - '0'].rm_so));
        }
        cr_buf_str(&to, name + m[0].rm_eo);
        name = cr_buf_text(&to);
    }
    return name;
}

static int load_by_name(const void *a, const void *b)
{
    const struct load_source *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

/* Names of the file, renamed and sorted; no two may become one. */
static bool load_sources(struct load_job *job)
{
    const struct cr_entry *entry =
        cr_store_entries(job->store, &job->n_sources);

    job->source = CR_NEWS(job->arena, struct load_source, job->n_sources);
    job->by_name = CR_NEWS(job->arena, struct load_source *, job->n_sources);
    for (int i = 0; i < job->n_sources; i++) {
        job->source[i].entry = &entry[i];
        job->source[i].name = load_rename(job, entry[i].name);
        job->by_name[i] = &job->source[i];
    }
    qsort(job->by_name, (size_t)job->n_sources, sizeof *job->by_name,
          load_by_name);
    for (int i = 1; i < job->n_sources; i++) {
        const struct load_source *a = job->by_name[i - 1];
        const struct load_source *b = job->by_name[i];

        if (strcmp(a->name, b->name) == 0)
            return cr_error(
                job->diag,
                cr_at_file(job->diag->arena, cr_store_path(job->store)),
                CR_E_CKPT_MISMATCH,
                "tensors '%s' and '%s' are both renamed to '%s'",
                a->entry->name, b->entry->name, a->name);
    }
    return true;
}

static struct load_source *load_source_find(const struct load_job *job,
                                            const char *name)
{
    struct load_source key = { .name = name }, *at = &key, **found;

    if (job->n_sources == 0)
        return NULL;
    found = bsearch(&at, job->by_name, (size_t)job->n_sources,
                    sizeof *job->by_name, load_by_name);
    return found ? *found : NULL;
}

/* ---- Matching */

static bool load_is_float(enum cr_type type)
{
    type = cr_type_stored(type);
    return type == CR_F16 || type == CR_BF16 || type == CR_F32 ||
           type == CR_F64;
}

static bool load_shape_fits(const struct cr_spec *want,
                            const struct cr_spec *have)
{
    int rank = have->rank;

    while (rank > want->rank && have->dim[rank - 1] == 1)
        rank--;
    if (rank != want->rank)
        return false;
    for (int k = 0; k < rank; k++)
        if (want->dim[k] != have->dim[k])
            return false;
    return true;
}

static void load_match(struct load_job *job, struct cr_net *net,
                       const struct cr_patterns *skip)
{
    struct cr_param *param = cr_net_params(net, &job->n_targets);

    job->target = CR_NEWS(job->arena, struct load_target, job->n_targets);
    for (int i = 0; i < job->n_targets; i++) {
        struct load_target *t = &job->target[i];
        struct load_source *s = load_source_find(job, param[i].name);

        t->param = &param[i];
        if (s) {
            s->used = true;
            t->entry = s->entry;
        }
        if (skip && cr_patterns_match(skip, param[i].name))
            t->fate = LOAD_SKIPPED;
        else if (!s)
            t->fate = LOAD_MISSING;
        else if (!s->entry->readable || !load_is_float(s->entry->spec.type))
            t->fate = LOAD_DTYPE;
        else if (!load_shape_fits(&param[i].spec, &s->entry->spec))
            t->fate = LOAD_SHAPE;
        else
            t->fate = LOAD_DONE;
        if (t->fate == LOAD_DONE)
            s->read = true;
    }
}

/* What is not needed here is verified all the same: a checkpoint is sound as
 * a whole or not at all. */
static bool load_values(struct load_job *job)
{
    bool ok = true;

    for (int i = 0; i < job->n_targets; i++) {
        struct load_target *t = &job->target[i];

        if (t->fate == LOAD_DONE)
            ok &= cr_store_read(job->store, job->diag, t->entry, CR_REAL,
                                t->param->data);
    }
    for (int i = 0; cr_store_is_ours(job->store) && i < job->n_sources; i++)
        if (!job->source[i].read)
            ok &= cr_store_check(job->store, job->diag, job->source[i].entry);
    return ok;
}

static int load_count(const struct load_job *job, enum load_fate fate)
{
    int n = 0;

    for (int i = 0; i < job->n_targets; i++)
        n += job->target[i].fate == fate;
    return n;
}

/* ---- Saying what does not fit */

/* "classifier.*" of a parameter if nothing of that cell fits, else its name:
 * what the user may add to skip. */
static const char *load_glob(const struct load_job *job, int which)
{
    const char *name = job->target[which].param->name;
    const char *dot = strrchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) + 1 : 0;

    if (!dot)
        return name;
    for (int i = 0; i < job->n_targets; i++)
        if (strncmp(job->target[i].param->name, name, n) == 0 &&
            job->target[i].fate == LOAD_DONE)
            return name;
    return cr_strf(job->arena, "%.*s*", (int)n, name);
}

/* The line to add, with the shapes of the first that does not fit. */
static const char *load_cure(const struct load_job *job)
{
    struct cr_buf text = { .arena = job->arena };
    const char *last = "";

    cr_buf_str(&text, "skip: [");
    for (int i = 0; i < job->n_targets; i++) {
        const struct load_target *t = &job->target[i];
        const char *glob;

        if (t->fate == LOAD_DONE || t->fate == LOAD_SKIPPED)
            continue;
        glob = load_glob(job, i);
        if (strcmp(glob, last) != 0) {
            cr_buf_f(&text, "%s\"%s\"", *last ? ", " : "", glob);
            last = glob;
        }
    }
    cr_buf_char(&text, ']');
    for (int i = 0; i < job->n_targets; i++) {
        const struct load_target *t = &job->target[i];

        if (t->fate != LOAD_SHAPE)
            continue;
        cr_buf_f(&text, "   # %s in the file, %s in the network",
                 cr_show(job->arena, &t->entry->spec),
                 cr_show(job->arena, &t->param->spec));
        break;
    }
    return cr_buf_text(&text);
}

static void load_note(struct load_job *job, const struct load_target *t)
{
    struct cr_arena *mem = job->diag->arena;
    const char *want = cr_show(mem, &t->param->spec);

    if (t->fate == LOAD_MISSING)
        cr_note(job->diag, "missing    %s %s", t->param->name, want);
    else if (t->fate == LOAD_SHAPE)
        cr_note(job->diag, "shape      %s %s in the file, %s in the network",
                t->param->name, cr_show(mem, &t->entry->spec), want);
    else
        cr_note(job->diag,
                "dtype      %s %s in the file, a number with a "
                "fraction in the network",
                t->param->name, t->entry->dtype);
}

/* One message for all; `extra` says that unused tensors are faults too. */
static bool load_refuse(struct load_job *job, bool extra, bool cure)
{
    struct cr_pos at = cr_at_file(job->diag->arena, cr_store_path(job->store));
    int faults = 0, shown = 0, unused = 0;

    for (int i = 0; i < job->n_targets; i++)
        faults += job->target[i].fate != LOAD_DONE &&
                  job->target[i].fate != LOAD_SKIPPED;
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
                 "%d tensor%s of the file the network does not have", unused,
                 unused == 1 ? "" : "s");
    for (int i = 0; i < job->n_targets; i++) {
        const struct load_target *t = &job->target[i];

        if (t->fate != LOAD_DONE && t->fate != LOAD_SKIPPED &&
            shown++ < LOAD_LINES)
            load_note(job, t);
    }
    for (int i = 0; extra && i < job->n_sources; i++)
        if (!job->source[i].used && shown++ < LOAD_LINES)
            cr_note(job->diag, "unexpected %s %s", job->source[i].name,
                    cr_show(job->diag->arena, &job->source[i].entry->spec));
    if (shown > LOAD_LINES)
        cr_note(job->diag, "and %d more", shown - LOAD_LINES);
    if (cure && faults > 0)
        cr_note(job->diag, "to keep their initial values, add under load:\n%s",
                load_cure(job));
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

/* Names of one kind behind a count, as many as a line takes. */
static void load_names(struct cr_buf *text, const char *name, int *shown)
{
    if (*shown < 4)
        cr_buf_f(text, "%s%s", *shown == 0 ? "   " : " ", name);
    else if (*shown == 4)
        cr_buf_str(text, " ...");
    ++*shown;
}

static void load_loaded(const struct load_job *job, struct cr_buf *text)
{
    int params = 0, statistics = 0, lost = 0;
    double values = 0;
    const char *comma = "; rename ";

    for (int i = 0; i < job->n_targets; i++) {
        const struct load_target *t = &job->target[i];
        bool done = t->fate == LOAD_DONE;

        if (done)
            values += (double)cr_count(&t->param->spec);
        if (t->param->statistic) {
            statistics += done;
        } else {
            params++;
            lost += !done;
        }
    }
    load_line(text, "loaded", load_count(job, LOAD_DONE));
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

/* The patterns of a node as they are written: "a.*" "b.*". */
static const char *load_patterns(struct cr_arena *arena,
                                 const struct cr_node *node)
{
    struct cr_buf text = { .arena = arena };

    if (node->text)
        cr_buf_f(&text, "\"%s\"", node->text);
    for (CR_EACH(m, node))
        cr_buf_f(&text, "%s\"%s\"", m == node->child ? "" : " ",
                 m->text ? m->text : "");
    return cr_buf_text(&text);
}

static void load_tell(const struct load_job *job, const struct load *o,
                      struct cr_load_report *to)
{
    struct cr_buf text = { .arena = job->arena };
    int shown = 0;

    to->loaded = load_count(job, LOAD_DONE);
    to->skipped = load_count(job, LOAD_SKIPPED);
    to->missing = job->n_targets - to->loaded - to->skipped;
    for (int i = 0; i < job->n_sources; i++)
        to->unused += !job->source[i].used;
    cr_buf_f(&text, "load  %s (%s, %d tensor%s)\n", cr_store_path(job->store),
             cr_store_kind(job->store), job->n_sources,
             job->n_sources == 1 ? "" : "s");
    load_loaded(job, &text);
    load_line(&text, "skipped", to->skipped);
    for (int i = 0; i < job->n_targets; i++)
        if (job->target[i].fate == LOAD_SKIPPED)
            load_names(&text, job->target[i].param->name, &shown);
    if (shown > 0)
        cr_buf_f(&text, "          by skip: %s",
                 load_patterns(job->arena, o->skip));
    cr_buf_char(&text, '\n');
    shown = 0;
    load_line(&text, "not in file", load_count(job, LOAD_MISSING));
    for (int i = 0; i < job->n_targets; i++)
        if (job->target[i].fate == LOAD_MISSING)
            load_names(&text, job->target[i].param->name, &shown);
    cr_buf_char(&text, '\n');
    if (to->missing > load_count(job, LOAD_MISSING)) {
        shown = 0;
        load_line(&text, "misfits",
                  to->missing - load_count(job, LOAD_MISSING));
        for (int i = 0; i < job->n_targets; i++)
            if (job->target[i].fate == LOAD_SHAPE ||
                job->target[i].fate == LOAD_DTYPE)
                load_names(&text, job->target[i].param->name, &shown);
        cr_buf_char(&text, '\n');
    }
    shown = 0;
    load_line(&text, "unused", to->unused);
    for (int i = 0; i < job->n_sources; i++)
        if (!job->source[i].used)
            load_names(&text, job->source[i].name, &shown);
    to->text = cr_buf_text(&text);
}

/* ---- The section */

/* A skip pattern may name what only the file has. */
static bool load_skip_used(struct load_job *job, struct cr_config *config,
                           const struct cr_patterns *skip)
{
    int n = job->n_targets + job->n_sources, at = 0;
    const char **names = CR_NEWS(job->arena, const char *, n + 1);

    for (int i = 0; i < job->n_targets; i++)
        names[at++] = job->target[i].param->name;
    for (int i = 0; i < job->n_sources; i++)
        if (!job->source[i].used)
            names[at++] = job->source[i].name;
    return cr_patterns_used(config, skip, names, "parameter");
}

static void load_skip_sources(struct load_job *job,
                              const struct cr_patterns *skip)
{
    for (int i = 0; i < job->n_sources; i++)
        job->source[i].used |= cr_patterns_match(skip, job->source[i].name);
}

bool cr_load(struct cr_config *config, struct cr_net *net, const char *path,
             struct cr_load_report *report)
{
    struct load o = { .strict = true };
    struct load_job job = { .arena = config->arena, .diag = config->diag };
    struct cr_patterns *skip = NULL;
    bool ok;

    *report = (struct cr_load_report){ 0 };
    if (cr_section(config, "load") && !cr_section_read(config, "load", &o))
        return false;
    if (!path && !o.ckpt)
        return true;
    ok = load_rules_read(&job, o.rename);
    if (o.skip) {
        skip = cr_patterns_read(config, o.skip);
        ok &= skip != NULL;
    }
    if (!ok)
        goto done;
    if (!path) {
        path = cr_config_path(config, o.ckpt, false);
        if (!path)
            path = cr_path_join(config->arena, config->dir, o.ckpt);
    }
    job.store = cr_store_open(config->arena, config->diag, path);
    ok = job.store && load_sources(&job);
    if (!ok)
        goto done;
    load_match(&job, net, skip);
    if (skip) {
        ok = load_skip_used(&job, config, skip);
        load_skip_sources(&job, skip);
    }
    ok = ok && (!o.strict || load_refuse(&job, false, true)) &&
         load_values(&job);
    if (ok)
        load_tell(&job, &o, report);
done:
    for (int i = 0; i < job.n_rules; i++)
        regfree(&job.rule[i].regex);
    cr_store_close(job.store);
    return ok;
}

/* Slots have a prefix to a parameter's name, moment1. or mu_; our own state
 * is "cellrun.". */
static bool load_is_state(const struct load_job *job, const char *name)
{
    if (!cr_store_is_ours(job->store))
        return false;
    if (cr_starts(name, "cellrun.") || strcmp(name, "global_step") == 0)
        return true;
    for (int i = 0; i < job->n_targets; i++) {
        const char *param = job->target[i].param->name;
        size_t n = strlen(name), of = strlen(param);

        if (n > of && strcmp(name + n - of, param) == 0 &&
            (name[n - of - 1] == '_' || strchr(name, '.') == name + n - of - 1))
            return true;
    }
    return false;
}

bool cr_load_weights(struct cr_store *store, struct cr_diag *diag,
                     struct cr_net *net, bool exact)
{
    struct cr_arena mem = { 0 };
    struct load_job job = { .arena = &mem, .diag = diag, .store = store };
    bool ok;

    ok = load_sources(&job);
    if (ok) {
        load_match(&job, net, NULL);
        for (int i = 0; exact && i < job.n_sources; i++)
            job.source[i].used |= load_is_state(&job, job.source[i].name);
        ok = load_refuse(&job, exact, false) && load_values(&job);
    }
    cr_arena_free(&mem);
    return ok;
}

static bool load_tensors(struct cr_store *store, struct cr_diag *diag,
                         const char *what, const struct cr_tensor *v, int n)
{
    struct cr_pos at = cr_at_file(diag->arena, cr_store_path(store));
    bool ok = true;

    for (int i = 0; i < n; i++) {
        const struct cr_entry *e = cr_store_find(store, v[i].name);

        if (!e || !e->readable || !load_shape_fits(&v[i].spec, &e->spec))
            ok = cr_error(diag, at, CR_E_CKPT_MISMATCH,
                          "no %s '%s' %s in the file", what, v[i].name,
                          cr_show(diag->arena, &v[i].spec));
        else
            ok &= cr_store_read(store, diag, e, CR_REAL, v[i].data);
    }
    return ok;
}

bool cr_load_slots(struct cr_store *store, struct cr_diag *diag,
                   const struct cr_net *net)
{
    int n;
    const struct cr_tensor *slots = cr_net_slots(net, &n);

    return load_tensors(store, diag, "optimizer slot", slots, n);
}

bool cr_load_means(struct cr_store *store, struct cr_diag *diag,
                   const struct cr_net *net)
{
    int n;
    const struct cr_tensor *means = cr_net_means(net, &n);

    return load_tensors(store, diag, "moving mean", means, n);
}
