/*
 * plot: curves of runs in the terminal, as SVG or PNG, or as numbers. One panel
 * for each metric, one curve for each run or group of runs.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plot.h"
#include "base/table.h"
#include "chart/chart.h"
#include "conf/command_line.h"
#include "rundir/metric_names.h"
#include "rundir/run_names.h"
#include "rundir/run_status.h"

#define FOLLOW_SECONDS 1
#define PNG_SCALE 2.0 /* pixels per unit of the SVG */
#define WIDTH 720.0   /* of the SVG */

enum {
    X_STEP,
    X_EPOCH,
    X_TIME
};

struct plot {
    const char *metric, *group_by, *over, *out, *title;
    double smooth;
    bool logy, tsv, follow;
    int x;
    int64_t columns;
};

static const struct cr_opt plot_opts[] = {
    CR_STR_OPTIONAL(
        struct plot, metric,
        "Metrics, separated by commas: loss (of training and evaluation), "
        "eval.accuracy, accuracy, train.lr. Default: the loss and the "
        "metrics of the evaluation.",
        .text = "NAMES"),
    CR_REAL_DEFAULT(
        struct plot, smooth, 0, 0, 0.9999,
        "Weight of the exponential moving average that smooths the curves; "
        "0: no smoothing."),
    CR_BOOL_DEFAULT(struct plot, logy, false, "Logarithmic y axis."),
    CR_ENUM_DEFAULT(struct plot, x, X_STEP, "step|epoch|time",
                    "The x axis. time: since the first record of the run, "
                    "interruptions included."),
    CR_STR_OPTIONAL(
        struct plot, group_by,
        "Draw the mean of the runs with the same values of these keys, "
        "separated by commas, with a band of one standard deviation.",
        .text = "KEYS"),
    CR_STR_OPTIONAL(
        struct plot, over,
        "Draw the mean of the runs that differ only in this key, such as "
        "seed, with a band of one standard deviation.",
        .text = "KEY"),
    CR_STR_OPTIONAL(struct plot, out,
                    "File of the chart; the suffix .svg or .png selects the "
                    "format, - is SVG to standard output. Default: draw in "
                    "the terminal.",
                    .flag = 'o', .text = "FILE"),
    CR_STR_OPTIONAL(struct plot, title, "Title of the chart in a file.",
                    .text = "TEXT"),
    CR_INT_DEFAULT(struct plot, columns, 0, 0, 400,
                   "Width in the terminal, from 40; 0: that of the "
                   "terminal."),
    CR_BOOL_DEFAULT(struct plot, tsv, false,
                    "Print the numbers of the curves as a table, separated "
                    "by tabs."),
    CR_BOOL_DEFAULT(struct plot, follow, false,
                    "Draw again every second until the runs end."),
    { 0 },
};

/* One curve of a panel, with its legend. */
struct plot_curve {
    struct cr_curve curve;
    const char *label;    /* of the run or group; "" for the only one */
    const double *smooth; /* NULL: not smoothed */
    int color;
};

struct plot_panel {
    const char *metric; /* as requested */
    bool one_split;     /* all curves are of one split */
    int n, cap;
    struct plot_curve *curve;
};

struct plot_job {
    struct cr_cli *cli;
    struct cr_arena *arena;
    const struct plot *o;
    struct cr_runs runs;
    struct cr_run_series *series; /* of each run */
    const struct cr_run_group *group;
    int n_groups;
    const char *const *metric;
    int n_metrics;
    struct plot_panel *panel; /* of each metric */
};

/* ---- Runs and groups */

/* The runs of an operand; a metric in their place is called one. */
static bool plot_add_run(struct plot_job *job, int i)
{
    const char *name = job->cli->operands[i];

    if (cr_runs_add_named(&job->runs, cr_runs_folder(), name,
                          job->cli->operand_pos[i]))
        return true;
    if (cr_registry_find(CR_KIND_METRIC, cr_run_bare(name)))
        cr_hint(job->cli->diag, "a metric is selected by --metric %s", name);
    return false;
}

static bool plot_read(struct plot_job *job)
{
    struct cr_cli *cli = job->cli;
    int empty = 0;
    bool ok = true;

    for (int i = 0; i < cli->n_operands; i++)
        ok = plot_add_run(job, i) && ok;
    if (!ok)
        return false;
    job->series = CR_NEWS(job->arena, struct cr_run_series, job->runs.n);
    for (int i = 0; i < job->runs.n; i++) {
        const char *path = job->runs.run[i].path;
        struct cr_run_series *s = &job->series[i];

        s->arena = job->arena;
        ok = cr_run_series_read(s, cli->diag, path) && ok;
        if (s->invalid > 0)
            cr_warn(cli->diag,
                    cr_at_file(job->arena, cr_path_join(job->arena, path,
                                                        "metrics.jsonl")),
                    CR_E_DATA_FORMAT,
                    "%" PRId64 " line%s not records, the first is line "
                    "%" PRId64, s->invalid,
                    s->invalid == 1 ? " is" : "s are", s->first_invalid);
        empty += s->n == 0;
        if (ok && s->n == 0 && job->runs.n > 1)
            cr_warn(cli->diag, cr_at_file(job->arena, path), CR_E_RUN_DIR,
                    "the run has no records");
    }
    if (ok && empty == job->runs.n && !job->o->follow)
        return cr_error(cli->diag, cr_at_file(job->arena,
                                              job->runs.run[0].path),
                        CR_E_RUN_DIR, "the run has no records to plot");
    return ok;
}

/* Sets the groups: the requested ones, or one for each run. */
static bool plot_groups(struct plot_job *job)
{
    const struct plot *o = job->o;
    const char *const *label;
    struct cr_names keys = { .arena = job->arena };
    struct cr_run_group *group;
    bool alone = true;

    if (o->group_by || o->over) {
        const char *const *name;

        if (o->group_by) {
            keys = cr_names_split(job->arena, o->group_by);
            name = keys.name;
        } else {
            name = cr_runs_varied(&job->runs, o->over, &keys.n);
        }
        job->group = cr_runs_group_by(&job->runs, name, keys.n,
                                      &job->n_groups);
        for (int i = 0; job->group && i < job->n_groups; i++)
            alone &= job->group[i].n == 1;
        if (job->group && alone && job->runs.n > 1)
            cr_warn(job->cli->diag, CR_NOWHERE, CR_E_USAGE,
                    "each group has one run: there is nothing to average");
        return job->group != NULL;
    }
    label = cr_runs_labels(&job->runs);
    group = CR_NEWS(job->arena, struct cr_run_group, job->runs.n);
    for (int i = 0; i < job->runs.n; i++) {
        int *run = CR_NEW(job->arena, int);

        *run = i;
        group[i] = (struct cr_run_group){ job->runs.n > 1 ? label[i] : "", 1,
                                          run };
    }
    job->group = group;
    job->n_groups = job->runs.n;
    return true;
}

/* ---- Panels */

static void panel_add(struct plot_job *job, struct plot_panel *panel,
                      const struct cr_run_group *group,
                      const struct cr_curve *curve, int n, int color)
{
    struct plot_curve *to;

    if (panel->n == panel->cap) {
        panel->cap = 2 * panel->cap + 8;
        panel->curve = cr_grow(job->arena, panel->curve, (size_t)panel->n,
                               (size_t)panel->cap, sizeof *panel->curve);
    }
    to = &panel->curve[panel->n++];
    *to = (struct plot_curve){ .label = group->label, .color = color };
    to->curve = curve[0];
    if (job->o->group_by || job->o->over)
        to->curve = cr_curve_mean(job->arena, curve, n);
    if (job->o->smooth > 0)
        to->smooth = cr_curve_smooth(job->arena, to->curve.value, to->curve.n,
                                     job->o->smooth);
}

/* Adds the curves of a group: one for each split. */
static void panel_group(struct plot_job *job, struct plot_panel *panel,
                        const struct cr_run_group *group, int number)
{
    struct cr_curve *all = CR_NEWS(job->arena, struct cr_curve,
                                   group->n * CR_METRIC_SPLITS);
    struct cr_curve *same = CR_NEWS(job->arena, struct cr_curve, group->n);
    int n = 0;

    for (int i = 0; i < group->n; i++) {
        int found = cr_metric_columns(&job->series[group->run[i]],
                                      panel->metric, all + n,
                                      CR_METRIC_SPLITS);

        n += found;
        if (found == 0 && job->series[group->run[i]].n > 0)
            cr_warn(job->cli->diag,
                    cr_at_file(job->arena,
                               job->runs.run[group->run[i]].path),
                    CR_E_UNKNOWN_KEY, "the run has no metric '%s'",
                    cr_quote(job->arena, panel->metric,
                             strlen(panel->metric)));
    }
    for (int i = 0; i < n; i++) {
        int k = 0;

        if (!all[i].split)
            continue;
        for (int j = n - 1; j > i; j--)
            if (all[j].split && strcmp(all[j].split, all[i].split) == 0) {
                same[++k] = all[j];
                all[j].split = NULL;
            }
        same[0] = all[i];
        panel_add(job, panel, group, same, k + 1,
                  (job->n_groups > 1 ? number : panel->n) + 1);
    }
}

/* The metrics to draw. With several runs, a bare name of more than one split
 * becomes one name for each, so that a curve of a panel is a run. */
static struct cr_names plot_metrics(struct plot_job *job)
{
    struct cr_names given = job->o->metric
                             ? cr_names_split(job->arena, job->o->metric)
                             : cr_metric_defaults(job->arena, job->series,
                                                  job->runs.n);
    struct cr_names names = { .arena = job->arena };
    struct cr_curve any[CR_METRIC_SPLITS];

    for (int i = 0; i < given.n; i++) {
        int splits = 0;

        for (int k = 0; k < job->runs.n && job->n_groups > 1; k++) {
            splits = cr_metric_columns(&job->series[k], given.name[i], any,
                                  CR_METRIC_SPLITS);
            for (int j = 0; j < splits && splits > 1; j++)
                cr_names_add(&names, cr_strf(job->arena, "%s.%s", any[j].split,
                                          any[j].name));
            if (splits > 1)
                break;
        }
        if (splits <= 1)
            cr_names_add(&names, given.name[i]);
    }
    return names;
}

static bool plot_panels(struct plot_job *job)
{
    struct cr_names names = plot_metrics(job);
    struct cr_curve any[CR_METRIC_SPLITS];
    bool ok = true;

    job->panel = CR_NEWS(job->arena, struct plot_panel, names.n + 1);
    for (int i = 0; i < names.n; i++) {
        struct plot_panel *panel = &job->panel[job->n_metrics];
        int found = 0;

        for (int k = 0; k < job->runs.n && !found; k++)
            found = cr_metric_columns(&job->series[k], names.name[i], any,
                                 CR_METRIC_SPLITS);
        if (!found && job->o->follow)
            continue; /* it may come later */
        if (!found) {
            cr_metric_unknown(job->cli->diag, job->series, job->runs.n,
                              names.name[i]);
            ok = false;
            continue;
        }
        *panel = (struct plot_panel){ .metric = names.name[i],
                                      .one_split = true };
        for (int g = 0; g < job->n_groups; g++)
            panel_group(job, panel, &job->group[g], g);
        for (int k = 1; k < panel->n; k++)
            panel->one_split &= strcmp(panel->curve[k].curve.split,
                                       panel->curve[0].curve.split) == 0;
        job->n_metrics++;
    }
    if (ok && job->n_metrics == 0 && !job->o->follow)
        return cr_error(job->cli->diag, CR_NOWHERE, CR_E_RUN_DIR,
                        "the runs have no metrics to plot");
    return ok;
}

/* ---- Charts */

static const double *curve_x(const struct plot_job *job,
                             const struct cr_curve *c)
{
    return job->o->x == X_STEP    ? c->step
           : job->o->x == X_EPOCH ? c->epoch
                                  : c->time;
}

static const char *curve_name(const struct plot_job *job,
                              const struct plot_panel *panel,
                              const struct plot_curve *c)
{
    struct cr_buf name = { .arena = job->arena };

    cr_buf_str(&name, c->label);
    if (!panel->one_split)
        cr_buf_f(&name, "%s%s", name.len ? " " : "", c->curve.split);
    if (c->curve.runs > 1)
        cr_buf_f(&name, "%smean of %d runs", name.len ? ", " : "",
                 c->curve.runs);
    return name.len ? cr_buf_text(&name)
                    : cr_strf(job->arena, "%s.%s", c->curve.split,
                              c->curve.name);
}

/* The curves of a panel as those of a chart; with smoothing, files also show
 * the values, faintly. */
static int panel_curves(const struct plot_job *job,
                        const struct plot_panel *panel, bool file,
                        struct cr_chart_curve *to)
{
    int n = 0;

    for (int i = 0; i < panel->n; i++) {
        const struct plot_curve *c = &panel->curve[i];
        const double *y = c->smooth ? c->smooth : c->curve.value;
        struct cr_chart_curve curve = { .name = curve_name(job, panel, c),
                                        .n = c->curve.n,
                                        .x = curve_x(job, &c->curve),
                                        .y = y,
                                        .color = c->color };

        if (c->curve.deviation) {
            double *low = CR_NEWS(job->arena, double, c->curve.n + 1);
            double *high = CR_NEWS(job->arena, double, c->curve.n + 1);

            for (int64_t k = 0; k < c->curve.n; k++) {
                low[k] = y[k] - c->curve.deviation[k];
                high[k] = y[k] + c->curve.deviation[k];
            }
            curve.low = low;
            curve.high = high;
        } else if (c->smooth && file) {
            to[n] = curve;
            to[n].name = NULL;
            to[n].y = c->curve.value;
            to[n++].faint = true;
        }
        to[n++] = curve;
    }
    return n;
}

static struct cr_chart plot_chart(const struct plot_job *job, int panel)
{
    static const char *const axis[] = { "step", "epoch", "time" };
    const char *title = job->o->title;
    const char *metric = job->panel[panel].metric;

    if (job->o->smooth > 0)
        metric = cr_strf(job->arena, "%s, smoothed by %g", metric,
                         job->o->smooth);
    return (struct cr_chart){
        .arena = job->arena,
        .id = cr_strf(job->arena, "p%d", panel),
        .title = title && panel == 0 ? title : metric,
        .width = WIDTH,
        .file = job->n_metrics == 1,
        .x = { .label = axis[job->o->x],
               .from_zero = true,
               .scale = job->o->x == X_TIME ? CR_SCALE_DURATION
                                            : CR_SCALE_LINEAR },
        .y = { .label = title && panel == 0 ? metric : NULL,
               .scale = job->o->logy ? CR_SCALE_LOG : CR_SCALE_LINEAR },
    };
}

static void plot_text(const struct plot_job *job)
{
    struct cr_buf text = { .arena = job->arena };
    int columns = (int)job->o->columns;
    struct cr_chart_terminal terminal = {
        .columns = columns == 0   ? cr_plot_columns()
                   : columns < 40 ? 40
                                  : columns,
        .braille = cr_plot_braille(),
        .color = job->cli->color_out
    };

    for (int i = 0; i < job->n_metrics; i++) {
        struct cr_chart chart = plot_chart(job, i);
        struct cr_chart_curve *curve =
            CR_NEWS(job->arena, struct cr_chart_curve,
                    2 * job->panel[i].n + 1);

        chart.title = chart.y.label ? chart.y.label : chart.title;
        if (i > 0)
            cr_buf_char(&text, '\n');
        cr_chart_text(&text, &chart, curve,
                      panel_curves(job, &job->panel[i], false, curve),
                      &terminal);
    }
    if (job->o->follow)
        fputs("\033[H\033[2J", stdout);
    fwrite(cr_buf_text(&text), 1, text.len, stdout);
}

static struct cr_buf plot_svg(const struct plot_job *job)
{
    struct cr_buf svg = { .arena = job->arena };
    const char **part = CR_NEWS(job->arena, const char *, job->n_metrics + 1);
    double *height = CR_NEWS(job->arena, double, job->n_metrics + 1);

    for (int i = 0; i < job->n_metrics; i++) {
        struct cr_buf one = { .arena = job->arena };
        struct cr_chart chart = plot_chart(job, i);
        struct cr_chart_curve *curve =
            CR_NEWS(job->arena, struct cr_chart_curve,
                    2 * job->panel[i].n + 1);

        height[i] =
            cr_chart_curves(&one, &chart, curve,
                            panel_curves(job, &job->panel[i], true, curve));
        part[i] = cr_buf_text(&one);
    }
    if (job->n_metrics == 1)
        cr_buf_str(&svg, part[0]);
    else
        cr_chart_stack(&svg, part, height, job->n_metrics, WIDTH);
    return svg;
}

static bool plot_file(const struct plot_job *job)
{
    struct cr_buf svg = plot_svg(job), png = { .arena = job->arena };

    if (!cr_ends(job->o->out, ".png"))
        return cr_write_file(job->cli->diag, job->o->out, svg.text, svg.len);
    return cr_chart_png(job->cli->diag, svg.text, svg.len, PNG_SCALE, &png) &&
           cr_write_file(job->cli->diag, job->o->out, png.text, png.len);
}

/* ---- Numbers */

static void json_numbers(struct cr_buf *to, const char *key, const double *x,
                         int64_t n)
{
    cr_buf_f(to, ", \"%s\": [", key);
    for (int64_t i = 0; i < n; i++) {
        cr_buf_str(to, i ? ", " : "");
        cr_buf_real(to, x[i]);
    }
    cr_buf_char(to, ']');
}

static const char *plot_label(const struct plot_job *job,
                              const struct plot_curve *c)
{
    return *c->label ? c->label
           : job->runs.n > 1 ? "mean"
                             : job->runs.run[0].path;
}

static void plot_json(const struct plot_job *job)
{
    struct cr_buf to = { .arena = job->arena };
    bool first = true;

    cr_buf_str(&to, "{\"curves\": [");
    for (int i = 0; i < job->n_metrics; i++)
        for (int k = 0; k < job->panel[i].n; k++) {
            const struct plot_curve *c = &job->panel[i].curve[k];
            const struct cr_curve *curve = &c->curve;

            cr_buf_str(&to, first ? "\n {\"run\": " : ",\n {\"run\": ");
            first = false;
            cr_buf_json(&to, plot_label(job, c));
            cr_buf_str(&to, ", \"metric\": ");
            cr_buf_json(&to, cr_strf(job->arena, "%s.%s", curve->split,
                                     curve->name));
            cr_buf_f(&to, ", \"runs\": %d", curve->runs);
            cr_buf_str(&to, ", \"step\": [");
            for (int64_t j = 0; j < curve->n; j++)
                cr_buf_f(&to, "%s%.0f", j ? ", " : "",
                         isfinite(curve->step[j]) ? curve->step[j] : -1);
            cr_buf_char(&to, ']');
            json_numbers(&to, "epoch", curve->epoch, curve->n);
            json_numbers(&to, "time", curve->time, curve->n);
            json_numbers(&to, "value", curve->value, curve->n);
            if (c->smooth)
                json_numbers(&to, "smooth", c->smooth, curve->n);
            if (curve->deviation)
                json_numbers(&to, "deviation", curve->deviation, curve->n);
            cr_buf_char(&to, '}');
        }
    cr_buf_str(&to, "\n]}\n");
    fwrite(cr_buf_text(&to), 1, to.len, stdout);
}

static const char *plot_number(struct cr_arena *arena, double value)
{
    return isfinite(value) ? cr_real_text(arena, value) : "";
}

static const char *plot_integer(struct cr_arena *arena, double value)
{
    return isfinite(value) ? cr_strf(arena, "%.0f", value) : "";
}

static void plot_tsv(const struct plot_job *job)
{
    bool smooth = job->o->smooth > 0, mean = job->o->group_by || job->o->over;
    struct cr_arena *arena = job->arena;

    printf("run\tmetric\tstep\tepoch\ttime\tvalue%s%s\n",
           smooth ? "\tsmooth" : "", mean ? "\tdeviation" : "");
    for (int i = 0; i < job->n_metrics; i++)
        for (int k = 0; k < job->panel[i].n; k++) {
            const struct plot_curve *c = &job->panel[i].curve[k];

            for (int64_t j = 0; j < c->curve.n; j++) {
                printf("%s\t%s.%s\t%s\t%s\t%s\t%s",
                       cr_escape(arena, plot_label(job, c)),
                       cr_escape(arena, c->curve.split),
                       cr_escape(arena, c->curve.name),
                       plot_integer(arena, c->curve.step[j]),
                       plot_number(arena, c->curve.epoch[j]),
                       plot_number(arena, c->curve.time[j]),
                       plot_number(arena, c->curve.value[j]));
                if (smooth)
                    printf("\t%s", plot_number(arena, c->smooth[j]));
                if (mean)
                    printf("\t%s", plot_number(arena, c->curve.deviation[j]));
                putchar('\n');
            }
        }
}

/* ---- The command */

static bool plot_draw(struct plot_job *job)
{
    if (!plot_read(job) || !plot_groups(job) || !plot_panels(job))
        return false;
    if (job->o->out && !plot_file(job))
        return false;
    if (job->cli->json)
        plot_json(job);
    else if (job->o->tsv)
        plot_tsv(job);
    else if (!job->o->out)
        plot_text(job);
    return true;
}

static bool plot_is_running(const struct plot_job *job)
{
    for (int i = 0; i < job->runs.n; i++)
        if (cr_run_is_running(&job->runs.run[i]))
            return true;
    return false;
}

/* Draws with its own memory and messages, which are freed at the end. Returns
 * whether to draw again; then messages are not printed. */
static bool plot_once(struct cr_cli *cli, int *status)
{
    struct cr_arena arena = { 0 };
    struct cr_diag diag = { .arena = &arena, .strict = cli->diag->strict };
    struct cr_diag *outer = cli->diag;
    struct plot_job job = { .cli = cli,
                            .arena = &arena,
                            .o = cr_cli_opts(cli),
                            .runs = { .arena = &arena, .diag = &diag } };
    bool again;

    cli->diag = &diag;
    again = plot_draw(&job) && job.o->follow && plot_is_running(&job);
    fflush(stdout);
    if (!again)
        *status = cr_cli_errors(cli, NULL);
    cli->diag = outer;
    cr_arena_free(&arena);
    return again;
}

static int plot_run(struct cr_cli *cli)
{
    const struct plot *o = cr_cli_opts(cli);
    int status = 0;
    bool again = false;

    if (o->group_by && o->over)
        cr_error(cli->diag, CR_NOWHERE, CR_E_CONFLICT,
                 "--group-by and --over exclude each other");
    if (o->follow && !o->out && !isatty(STDOUT_FILENO))
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--follow: standard output is not a terminal; use -o FILE");
    if (o->follow && (cli->json || o->tsv))
        cr_error(cli->diag, CR_NOWHERE, CR_E_CONFLICT,
                 "--follow draws; remove --json and --tsv");
    if (cr_cli_ending(cli, "-o", o->out, ".svg .png") &&
        cr_cli_not_json(cli, "-o", o->out) && o->tsv && o->out &&
        strcmp(o->out, "-") == 0)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--tsv and -o - both write to standard output");
    if (cli->diag->errors > 0)
        return cr_cli_errors(cli, NULL);
    do {
        if (again)
            sleep(FOLLOW_SECONDS);
        again = plot_once(cli, &status);
    } while (again);
    return status;
}

const struct cr_command cr_command_plot = {
    .about = {
        .name = "plot",
        .summary = "Draw the curves of runs.",
        .detail =
            "Draws the metrics of runs over step, epoch or time: in the "
            "terminal, or with -o as SVG or PNG. A run is given by its "
            "directory, its path below the folder of runs (CELLRUN_RUNS, or "
            "`runs`), the beginning of its id, or a folder of runs, such as "
            "that of a sweep. Each metric has a panel of its own, with one "
            "curve for each run. --smooth W draws the exponential moving "
            "average a = W a + (1 - W) y, divided by 1 - W^i after i values, "
            "as TensorBoard does. --over seed draws means over seeds: for "
            "each step, the mean and the standard deviation (n - 1) over "
            "the runs that have a record of it. More than 8 curves share 8 "
            "colours: in a file those of one colour differ in their dashes, in "
            "the terminal all curves are drawn by characters. --tsv and --json "
            "print the numbers instead. PNG needs librsvg (package "
            "librsvg2-2).",
        .example = "cellrun plot runs/digits\n"
                   "cellrun plot runs/digits runs/wine --metric loss "
                   "--smooth 0.9 --logy\n"
                   "cellrun plot runs --over seed --metric accuracy -o "
                   "accuracy.svg\n",
        .opts = plot_opts,
        .size = sizeof(struct plot),
    },
    .usage = "RUN... [--metric NAMES] [--smooth W] [--logy] [-o FILE]",
    .min_operands = 1,
    .max_operands = -1,
    .run = plot_run,
};
