/*
 * Sections of the report: one file each, listed in the table of page.c. Private
 * to src/report.
 */
#ifndef CR_REPORT_SECTION_H
#define CR_REPORT_SECTION_H

#include "chart/chart.h"
#include "ckpt/run_index.h"
#include "conf/command_line.h"
#include "rundir/outcomes.h"
#include "rundir/series.h"

struct cr_report_run {
    const char *path, *label; /* label: the path without what all have in
                                 common */
    struct cr_run *run;
    const struct cr_node *record, *config; /* config: NULL if unreadable */
    struct cr_run_series series;
    struct cr_run_outcomes outcomes;
    const struct cr_node *samples; /* samples.json; NULL */
    const char *log, *metrics;     /* log.txt and metrics.jsonl; "" */
    const char *best;              /* metric of the run's best; NULL */
};

struct cr_report {
    struct cr_cli *cli;
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_runs *runs;
    int n;
    struct cr_report_run *run;
    struct cr_buf *to;
    int charts; /* drawn so far, for their ids */
    bool wide;  /* the figure that is open */
    /* Of several runs. */
    const char *metric;         /* by which they are compared; NULL: none */
    bool maximize;              /* the larger the better */
    const double *value;        /* best value of each run, NAN: none */
    const int *order;           /* runs, the best first */
    int n_settings;             /* keys of the config that differ */
    const char *const *setting;
};

struct cr_report_section {
    const char *id, *title;
    bool several; /* about all runs; else about the only one */
    /* Appends the content below the heading. False if there is nothing to show:
     * then the section is omitted. */
    bool (*write)(struct cr_report *report, const struct cr_report_run *run);
};

extern const struct cr_report_section
    cr_report_overview, cr_report_results, cr_report_curves, cr_report_classes,
    cr_report_calibration, cr_report_regression, cr_report_positions,
    cr_report_labels, cr_report_worst,
    cr_report_texts, cr_report_data, cr_report_network, cr_report_tensors,
    cr_report_timing,
    cr_report_warnings, cr_report_repeat, cr_report_ranking,
    cr_report_overlay, cr_report_settings, cr_report_parallel,
    cr_report_seeds;

/* ---- style.c, script.c */

extern const char *const cr_report_css[]; /* parts; NULL-terminated */
extern const char cr_report_css_dark[];
extern const char *const cr_report_script[]; /* the same */

/* ---- html.c */

/* The text with HTML's special characters replaced; line feeds and tabs stay,
 * other control characters and bytes that are not UTF-8 become U+FFFD. */
void cr_html(struct cr_buf *to, const char *text);
void cr_html_n(struct cr_buf *to, const char *text, size_t n);
/* A format whose result is escaped. */
void cr_html_f(struct cr_buf *to, const char *format, ...) CR_PRINTF(2, 3);
/* <dt>name</dt><dd>text</dd>; nothing if the text is NULL or empty. */
void cr_html_fact(struct cr_buf *to, const char *name, const char *text);
/* A table with a caption; `sort`: its columns can be sorted. */
void cr_html_table(struct cr_buf *to, const char *caption, bool sort);
void cr_html_table_end(struct cr_buf *to);
/* A cell: of the head, of text, or of a number in a format of one double, with
 * the exact value for sorting. */
void cr_html_head(struct cr_buf *to, const char *text, bool number);
void cr_html_cell(struct cr_buf *to, const char *text);
void cr_html_number(struct cr_buf *to, double value, const char *format);
/* A whole number with commas between groups of three digits if it has five
 * digits or more; what follows its digits stays. */
const char *cr_html_grouped(struct cr_arena *arena, const char *digits);
const char *cr_html_count(struct cr_arena *arena, int64_t n);
/* The format of a column of numbers up to this size: 4 decimals below 100, and
 * fewer for larger ones. */
const char *cr_html_format(double largest);
/* A number in the format of its size. */
void cr_html_value(struct cr_buf *to, double value);
/* Whether the text is base64 (RFC 4648), which needs no escapes. */
bool cr_html_is_base64(const char *text);

/* A chart of the next id; `wide`: over the whole column. Call the function of
 * chart/chart.h between these two. */
struct cr_chart cr_report_chart(struct cr_report *report, const char *title);
void cr_report_figure(struct cr_report *report, int min_width);
void cr_report_figure_end(struct cr_report *report, const char *caption);

/* ---- run.c */

/* Reads the files of a run; what is damaged is reported as a warning and
 * omitted. */
void cr_report_read(struct cr_report *report, struct cr_report_run *run);
/* Whether a path is a regular file. A link may lead to a file that the author
 * of the run directory wants to be published. */
bool cr_report_is_file(const char *path);
/* The name of a class, else its number. */
const char *cr_report_class(struct cr_report *report,
                            const struct cr_report_run *run, int64_t class);
/* The columns of a sample of samples.json: a map, or NULL. */
const struct cr_node *cr_report_columns(const struct cr_node *sample);
/* They are drawn: as a picture or as text. */
void cr_report_sample(struct cr_report *report, const struct cr_node *sample,
                      const char *alt);
/* Whether larger values of the run's metric are better. */
bool cr_report_maximize(const struct cr_report_run *run, const char *metric);
/* Sets what several runs are compared by. */
void cr_report_compare(struct cr_report *report);
/* The value of a setting as a number, NAN if it is none; as text. */
double cr_report_setting(struct cr_report *report,
                         const struct cr_report_run *run, const char *key);
const char *cr_report_setting_text(struct cr_report *report,
                                   const struct cr_report_run *run,
                                   const char *key);
/* The distinct values of a setting that is a number in all runs, ascending;
 * *n: their number, 0 if it is not. */
const double *cr_report_levels(struct cr_report *report, const char *key,
                               int *n);
/* An axis of a setting: with ticks at its values if they are few, logarithmic
 * if they differ by a factor of 8 or more. */
struct cr_chart_axis cr_report_axis(struct cr_report *report, const char *key);
/* The end of a setting's key that distinguishes it from the others. */
const char *cr_report_short(const struct cr_report *report, const char *key);
/* Whether a setting is a number in each run that has it. */
bool cr_report_is_number(struct cr_report *report, const char *key);
/* Seconds as text, such as "2 h 3 min". */
const char *cr_report_duration(struct cr_arena *arena, double seconds);
#define CR_REPORT_POINTS 800 /* of a curve: what a chart can show */

/* A column of a series with at most `points` points, the minima and maxima of
 * intervals. Returns their number. */
int64_t cr_report_thin(struct cr_arena *arena, const double *x, const double *y,
                       int64_t n, int64_t points, const double **to_x,
                       const double **to_y);

#endif
