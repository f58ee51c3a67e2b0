/* The evaluated samples with the largest loss. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/section.h"

static bool worst_is_picture(const struct cr_node *sample)
{
    for (CR_EACH(m, cr_report_columns(sample)))
        if (cr_json_str(m, "png", NULL))
            return true;
    return false;
}

static const char *worst_list(struct cr_arena *arena,
                              const struct cr_node *list)
{
    struct cr_buf b = { .arena = arena };

    for (CR_EACH(m, list))
        cr_buf_f(&b, "%s%.4g", b.len ? ", " : "", m->real);
    return cr_buf_text(&b);
}

static bool worst_classified(const struct cr_node *sample)
{
    return cr_node_get(sample, "predicted") != NULL;
}

static bool worst_labelled(const struct cr_node *sample)
{
    return cr_node_get(sample, "true_labels") != NULL;
}

/* The names of several labels. */
static const char *worst_labels(struct cr_report *r,
                                const struct cr_report_run *run,
                                const struct cr_node *list)
{
    struct cr_buf b = { .arena = r->arena };

    for (CR_EACH(m, list))
        cr_buf_f(&b, "%s%s", b.len ? ", " : "",
                 cr_report_class(r, run, m->kind == CR_NODE_INT ? m->integer
                                                                : -1));
    return b.len > 0 ? cr_buf_text(&b) : "none";
}

static const char *worst_truth(struct cr_report *r,
                               const struct cr_report_run *run,
                               const struct cr_node *s)
{
    if (worst_labelled(s))
        return worst_labels(r, run, cr_node_get(s, "true_labels"));
    return worst_classified(s)
               ? cr_report_class(r, run, cr_json_int(s, "label", -1))
               : worst_list(r->arena, cr_node_get(s, "truth"));
}

static const char *worst_output(struct cr_report *r,
                                const struct cr_report_run *run,
                                const struct cr_node *s)
{
    if (worst_labelled(s))
        return worst_labels(r, run, cr_node_get(s, "found_labels"));
    return worst_classified(s)
               ? cr_report_class(r, run, cr_json_int(s, "predicted", -1))
               : worst_list(r->arena, cr_node_get(s, "output"));
}

/* The fraction of the positions that were predicted correctly. */
static const char *worst_right(struct cr_report *r, const struct cr_node *s)
{
    double right = cr_json_real(s, "right", NAN);

    return isfinite(right)
               ? cr_strf(r->arena, "%.0f\xc2\xa0%%", 100 * right)
               : "\xe2\x80\x93";
}

/* "predicted   7": the value at the right end. */
static void worst_line(struct cr_report *r, const char *class,
                       const char *name, const char *value)
{
    cr_buf_f(r->to, "<span class=\"line %s\"><span>%s</span> <span>", class,
             name);
    cr_html(r->to, value);
    cr_buf_str(r->to, "</span></span>");
}

static void worst_pictures(struct cr_report *r, const struct cr_report_run *run,
                           const struct cr_node *list)
{
    cr_buf_str(r->to, "<ul class=\"tiles\">\n");
    for (CR_EACH(s, list)) {
        const char *truth = worst_truth(r, run, s);
        const char *output = worst_output(r, run, s);
        bool wrong = strcmp(truth, output) != 0;
        double p = cr_json_real(s, "probability", NAN);

        cr_buf_str(r->to, "<li>");
        cr_report_sample(r, s, cr_strf(r->arena, "Sample %" PRId64,
                                       cr_json_int(s, "sample", 0)));
        if (cr_node_get(s, "right")) {
            worst_line(r, "", "right", worst_right(r, s));
        } else {
            worst_line(r, wrong ? "wrong" : "right", "predicted", output);
            worst_line(r, "", "label", truth);
        }
        if (isfinite(p))
            worst_line(r, "dim", "probability",
                       cr_strf(r->arena, "%.0f\xc2\xa0%%", 100 * p));
        worst_line(r, "dim", "loss",
                   cr_strf(r->arena, "%.2f", cr_json_real(s, "loss", NAN)));
        cr_buf_str(r->to, "</li>\n");
    }
    cr_buf_str(r->to, "</ul>\n");
}

/* Shades of the characters of a text by their losses: -ln p of at least 1, 2,
 * 4 and 7, which is p of at most 0.37, 0.14, 0.018 and 0.0009. */
static int worst_shade(const struct cr_node *loss)
{
    double v = loss && (loss->kind == CR_NODE_REAL ||
                        loss->kind == CR_NODE_INT) ? loss->real : 0;

    return (v >= 1) + (v >= 2) + (v >= 4) + (v >= 7);
}

static void worst_mark(struct cr_report *r, int shade, const char *text,
                       size_t n)
{
    if (n == 0)
        return;
    if (shade > 0)
        cr_buf_f(r->to, "<mark class=\"s%d\">", shade);
    for (const char *feed; (feed = memchr(text, '\n', n)); text = feed + 1) {
        cr_html_n(r->to, text, (size_t)(feed - text));
        cr_buf_str(r->to, "\xe2\x86\xb5 "); /* a visible line feed */
        n -= (size_t)(feed + 1 - text);
    }
    cr_html_n(r->to, text, n);
    if (shade > 0)
        cr_buf_str(r->to, "</mark>");
}

/* A text whose character i + 1 is what position i has to predict. False if the
 * sample is not of this kind. */
static bool worst_shaded(struct cr_report *r, const struct cr_report_run *run,
                         const struct cr_node *s)
{
    const struct cr_node *losses = cr_node_get(s, "losses"), *args;
    const struct cr_node *set = cr_node_get(
        cr_node_get(run->config, "dataset"), "eval");
    const char *type = set ? cr_node_type(set, &args) : NULL;
    const struct cr_node *loss = losses ? losses->child : NULL;
    const char *text = cr_json_str(cr_report_columns(s), "tokens", NULL);
    const char *from = text;
    size_t len = text ? strlen(text) : 0, done = 0;
    int shade = 0;

    if (!loss || !type || strcmp(type, "CharSequenceDataset") != 0 ||
        (int64_t)cr_utf8_count(text ? text : "", len) !=
            (int64_t)cr_node_count(losses))
        return false;
    cr_buf_str(r->to, "<span class=\"text\">");
    for (int64_t i = 0; done < len; i++) {
        uint32_t code;
        int n = cr_utf8(text + done, len - done, &code);
        int now = i == 0 ? 0 : worst_shade(loss);

        if (now != shade) {
            worst_mark(r, shade, from, (size_t)(text + done - from));
            from = text + done;
            shade = now;
        }
        loss = i > 0 && loss ? loss->next : loss;
        done += (size_t)(n > 0 ? n : 1);
    }
    worst_mark(r, shade, from, (size_t)(text + done - from));
    cr_buf_str(r->to, "</span>");
    return true;
}

static void worst_head(struct cr_report *r, const struct cr_node *s)
{
    bool classes = worst_classified(s), words = classes || worst_labelled(s);

    cr_html_table(r->to, "Samples with the largest loss", true);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "sample", true);
    cr_html_head(r->to, "content", false);
    if (cr_node_get(s, "right")) {
        cr_html_head(r->to, "right", true);
    } else {
        cr_html_head(r->to, "label", !words);
        cr_html_head(r->to, words ? "predicted" : "output", !words);
    }
    if (classes)
        cr_html_head(r->to, "probability", true);
    cr_html_head(r->to, "loss", true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
}

static void worst_number_cell(struct cr_report *r, const char *text)
{
    cr_buf_str(r->to, "<td class=\"n\">");
    cr_html(r->to, text);
    cr_buf_str(r->to, "</td>");
}

/* Returns whether texts are shaded. */
static bool worst_rows(struct cr_report *r, const struct cr_report_run *run,
                       const struct cr_node *list)
{
    const struct cr_node *first = cr_node_at(list, 0);
    bool classes = worst_classified(first), shaded = false;
    bool words = classes || worst_labelled(first);
    bool positions = cr_node_get(first, "right") != NULL;

    worst_head(r, first);
    for (CR_EACH(s, list)) {
        cr_buf_str(r->to, "<tr>");
        cr_html_number(r->to, (double)cr_json_int(s, "sample", 0), "%.0f");
        cr_buf_str(r->to, "<td class=\"content\">");
        if (positions && worst_shaded(r, run, s))
            shaded = true;
        else
            cr_report_sample(r, s, "");
        cr_buf_str(r->to, "</td>");
        if (positions) {
            worst_number_cell(r, worst_right(r, s));
        } else if (words) {
            cr_html_cell(r->to, worst_truth(r, run, s));
            cr_html_cell(r->to, worst_output(r, run, s));
        } else {
            worst_number_cell(r, worst_truth(r, run, s));
            worst_number_cell(r, worst_output(r, run, s));
        }
        if (classes)
            cr_html_number(r->to, cr_json_real(s, "probability", NAN), "%.3f");
        cr_html_number(r->to, cr_json_real(s, "loss", NAN),
                       cr_html_format(cr_json_real(first, "loss", NAN)));
        cr_buf_str(r->to, "</tr>\n");
    }
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
    return shaded;
}

static bool worst_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_node *list = cr_node_get(run->samples, "worst");

    if (!list || list->kind != CR_NODE_LIST || !list->child)
        return false;
    cr_buf_str(r->to, "<p>");
    cr_html_f(r->to, "The %d samples with the largest loss in the evaluation "
              "after step %" PRId64 ", the largest first.", cr_node_count(list),
              cr_json_int(run->samples, "step", 0));
    cr_buf_str(r->to, "</p>\n");
    if (worst_is_picture(list->child))
        worst_pictures(r, run, list);
    else if (worst_rows(r, run, list))
        cr_buf_str(r->to, "<p class=\"note\">Characters are shaded by their "
                          "loss, -ln p, of at least "
                          "<mark class=\"s1\">1</mark>, "
                          "<mark class=\"s2\">2</mark>, "
                          "<mark class=\"s3\">4</mark> and "
                          "<mark class=\"s4\">7</mark>.</p>\n");
    return true;
}

const struct cr_report_section cr_report_worst = {
    .id = "worst",
    .title = "Worst samples",
    .write = worst_write,
};
