#include "model/data_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "data/contact_sheet.h"
#include "data/data_loader.h"
#include "data/format.h"
#include "train/section.h"

#define SHOW_MAX 10000 /* samples */

/* RGB pixels of one column of one sample. */
struct picture {
    int64_t h, w;
    unsigned char *rgb;
};

struct job {
    struct cr_cli *cli;
    const char *split, *to; /* to: file of the sheet; NULL: text */
    struct cr_data_loader *loader;
    const struct cr_column *column;
    int n_columns, scale; /* scale: size index of the present batch */
    int64_t n, done;
    bool alone;              /* the training data is missing */
    struct cr_arena mem;     /* holds pictures and labels */
    struct picture *picture; /* sample i, column k is at i * n_columns + k */
    const char **label;
    struct cr_buf text;
};

/* ---- Kinds of columns */

static bool data_colours(int64_t channels)
{
    return channels == 1 || channels == 3;
}

/* Whether a column is an image; *first: whether its channels come first. */
static bool data_image(const struct cr_spec *s, bool *first)
{
    *first = false;
    if (s->type != CR_U8 && s->type != CR_REAL)
        return false;
    if (s->rank == 2)
        return s->dim[0] > 3 && s->dim[1] > 3;
    if (s->rank != 3)
        return false;
    /* If both ends could be channels, bytes are stored with channels last. */
    *first = data_colours(s->dim[0]) &&
             !(s->type == CR_U8 && data_colours(s->dim[2]));
    return *first || data_colours(s->dim[2]);
}

static double data_at(const struct cr_spec *s, const void *x, int64_t i)
{
    double v;

    cr_convert(s->type, (const char *)x + (size_t)i * cr_type_size(s->type),
               CR_F64, &v, 1);
    return v;
}

static void data_range(const struct cr_spec *s, const void *x, double *low,
                       double *high)
{
    *low = *high = data_at(s, x, 0);
    for (int64_t i = 1; i < cr_count(s); i++) {
        double v = data_at(s, x, i);

        *low = v < *low ? v : *low;
        *high = v > *high ? v : *high;
    }
}

/* ---- Pictures */

static unsigned char data_byte(double v, double black, double white)
{
    double p = white != black ? (v - black) / (white - black) * 255 : 0;

    /* NaN becomes 0 */
    return (unsigned char)(p >= 255 ? 255 : p > 0 ? p + 0.5 : 0);
}

static struct picture data_picture(struct job *j, int k, const void *x)
{
    const struct cr_spec *s = &j->column[k].spec;
    struct picture p;
    int64_t c, i, channels, pixels;
    bool first, levels = true;

    data_image(s, &first);
    p.h = s->dim[first];
    p.w = s->dim[first + 1];
    pixels = p.h * p.w;
    channels = s->rank == 2 ? 1 : s->dim[first ? 0 : 2];
    p.rgb = cr_alloc(&j->mem, (size_t)pixels, 3);
    for (c = 0; c < 3; c++) {
        int64_t from = (c < channels ? c : 0) * (first ? pixels : 1);
        int64_t step = first || s->rank == 2 ? 1 : channels;
        double black, white;

        levels =
            cr_data_loader_levels(j->loader, j->scale, k, from, &black, &white);
        if (!levels)
            data_range(s, x, &black, &white);
        for (i = 0; i < pixels; i++)
            p.rgb[3 * i + c] =
                data_byte(data_at(s, x, from + i * step), black, white);
    }
    return p;
}

/* ---- Text */

static const char *data_class(const struct job *j, int64_t i)
{
    const struct cr_dataset *set = cr_data_loader_dataset(j->loader);

    return set->class_names && i >= 0 && i < set->classes ? set->class_names[i]
                                                          : NULL;
}

/* Text of a label: "cat" for class 3, "cat .7 dog .3" for fractions, otherwise
 * numbers. */
static const char *data_label(struct job *j, int k, const void *x)
{
    const struct cr_spec *s = &j->column[k].spec;
    const struct cr_dataset *set = cr_data_loader_dataset(j->loader);
    struct cr_buf b = { .arena = &j->mem };
    int64_t i, n = cr_count(s);

    if (s->rank == 0) {
        double v = data_at(s, x, 0);
        const char *name = data_class(j, (int64_t)v);

        if (name && s->type != CR_REAL)
            cr_buf_str(&b, cr_quote(&j->mem, name, strlen(name)));
        else
            cr_buf_f(&b, "%.6g", v);
    } else if (s->rank == 1 && n == set->classes) {
        for (i = 0; i < n; i++) {
            double v = data_at(s, x, i);
            const char *name = data_class(j, i);

            if (v < 0.005)
                continue;
            cr_buf_f(&b, "%s%s", b.len > 0 ? " " : "",
                     name ? cr_quote(&j->mem, name, strlen(name))
                          : cr_strf(&j->mem, "%" PRId64, i));
            if (v < 0.995)
                cr_buf_f(&b, " %.2g", v);
        }
    }
    return cr_buf_text(&b);
}

#define DATA_NUMBERS 64

/* Appends the values of a column, or the first ones. */
static void data_numbers(struct job *j, int k, const void *x)
{
    const struct cr_spec *s = &j->column[k].spec;
    struct cr_buf *b = &j->text;
    int64_t n = cr_count(s), i;

    if (s->rank > 0)
        cr_buf_str(b, "[");
    for (i = 0; i < n && i < DATA_NUMBERS; i++)
        cr_buf_f(b, "%s%.6g", i > 0 ? " " : "", data_at(s, x, i));
    if (i < n)
        cr_buf_str(b, " ...");
    if (s->rank > 0)
        cr_buf_str(b, "]");
}

/* Appends brightness as characters, two per pixel, because characters are
 * about twice as high as wide. */
static void data_characters(struct job *j, const struct picture *p)
{
    static const char ramp[] = " .:-=+*#%@";
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    int64_t step, i, k;

    if (width < 20 || width > 1000)
        width = 80;
    step = (2 * p->w + width - 1) / width;
    for (i = 0; i < p->h; i += step) {
        size_t start = j->text.len;

        for (k = 0; k < p->w; k += step) {
            const unsigned char *x = p->rgb + (i * p->w + k) * 3;
            char c = ramp[(x[0] * 299 + x[1] * 587 + x[2] * 114) / 25501];

            cr_buf_char(&j->text, c);
            cr_buf_char(&j->text, c);
        }
        while (j->text.len > start && j->text.text[j->text.len - 1] == ' ')
            j->text.len--;
        cr_buf_char(&j->text, '\n');
    }
}

/* ---- Samples */

static int data_label_column(const struct job *j)
{
    for (int k = 0; k < j->n_columns; k++)
        if (strcmp(j->column[k].name, "label") == 0)
            return k;
    return -1;
}

static const void *data_row(const struct cr_batch *b, int64_t row, int k)
{
    return (const char *)b->data[k] +
           (size_t)row * cr_bytes(&b->column[k].spec);
}

static void data_json(struct job *j, const struct cr_batch *b, int64_t row)
{
    struct cr_buf *t = &j->text;

    cr_buf_f(t, "{\"sample\":%" PRId64, b->samples[row]);
    for (int k = 0; k < j->n_columns; k++) {
        const struct cr_spec *s = &j->column[k].spec;
        const void *x = data_row(b, row, k);
        int64_t n = cr_count(s);

        cr_buf_char(t, ',');
        cr_buf_json(t, j->column[k].name);
        cr_buf_str(t, s->rank > 0 ? ":[" : ":");
        for (int64_t i = 0; i < n; i++) {
            double v = data_at(s, x, i);

            cr_buf_f(t, "%s%s", i > 0 ? "," : "",
                     v - v == 0 ? cr_strf(&j->mem, "%.9g", v) : "null");
        }
        cr_buf_str(t, s->rank > 0 ? "]" : "");
        if (s->rank == 0 && s->type != CR_REAL && k == data_label_column(j) &&
            data_class(j, (int64_t)data_at(s, x, 0))) {
            cr_buf_str(t, ",\"class\":");
            cr_buf_json(t, data_class(j, (int64_t)data_at(s, x, 0)));
        }
    }
    cr_buf_str(t, "}\n");
}

/* Prints a line per column, each picture below its line. */
static void data_text(struct job *j, const struct cr_batch *b, int64_t row)
{
    struct cr_buf *t = &j->text;
    int label = data_label_column(j);
    bool first;

    cr_buf_f(t, "sample %" PRId64 "\n", b->samples[row]);
    for (int k = 0; k < j->n_columns; k++) {
        const struct cr_spec *s = &j->column[k].spec;
        const void *x = data_row(b, row, k);
        const char *text = "";
        double low, high;

        cr_buf_f(t, "  %s: ", cr_escape(&j->mem, j->column[k].name));
        if (data_image(s, &first)) {
            struct picture p = data_picture(j, k, x);

            data_range(s, x, &low, &high);
            cr_buf_f(t, "%s %s, %.6g to %.6g\n", cr_type_name(s->type),
                     cr_diag_format(&j->mem, s), low, high);
            data_characters(j, &p);
            continue;
        }
        data_numbers(j, k, x);
        if (k == label && (s->rank > 0 || data_class(j, 0)))
            text = data_label(j, k, x);
        if (*text)
            cr_buf_f(t, " (%s)", text);
        cr_buf_char(t, '\n');
    }
}

static void data_take(struct job *j, const struct cr_batch *b, int64_t row)
{
    int label = data_label_column(j);
    bool first;

    if (!j->to) {
        if (j->cli->json)
            data_json(j, b, row);
        else
            data_text(j, b, row);
        fwrite(j->text.text, 1, j->text.len, stdout);
        cr_arena_free(&j->mem);
        j->text = (struct cr_buf){ .arena = &j->mem };
    } else {
        for (int k = 0; k < j->n_columns; k++)
            if (data_image(&j->column[k].spec, &first))
                j->picture[j->done * j->n_columns + k] =
                    data_picture(j, k, data_row(b, row, k));
        j->label[j->done] =
            label < 0 ? "" : data_label(j, label, data_row(b, row, label));
    }
    j->done++;
}

/* ---- Contact sheet */

#define SHEET_TILE 96 /* smaller pictures are enlarged to about this size in
                         pixels */
#define SHEET_GAP 4
#define SHEET_PIXELS ((int64_t)1 << 27)

static int64_t sheet_zoom(const struct picture *p)
{
    int64_t side = p->h > p->w ? p->h : p->w;

    return side >= SHEET_TILE ? 1 : SHEET_TILE / side;
}

/* Maximum height and width of a sample's pictures, placed side by side. */
static void sheet_tile(const struct job *j, int64_t *h, int64_t *w)
{
    *h = *w = 0;
    for (int64_t i = 0; i < j->done; i++) {
        int64_t width = 0;

        for (int k = 0; k < j->n_columns; k++) {
            const struct picture *p = &j->picture[i * j->n_columns + k];

            if (!p->rgb)
                continue;
            width += (width > 0) + p->w * sheet_zoom(p);
            *h = p->h * sheet_zoom(p) > *h ? p->h * sheet_zoom(p) : *h;
        }
        *w = width > *w ? width : *w;
    }
}

static bool sheet_write(struct job *j, const struct cr_contact_sheet *s)
{
    struct cr_spec spec = { CR_U8, CR_ROW_MAJOR, 3, { s->h, s->w, 3 } };
    const struct cr_format *png = cr_format_find("png");
    struct cr_diag *diag = j->cli->diag;
    struct cr_buf bytes = { .arena = &j->mem };

    if (!png->encode(diag, &spec, s->rgb, &bytes))
        return false;
    if (!cr_write_file(diag, j->to, bytes.text, bytes.len))
        return false;
    if (cr_cli_says(j->cli, j->to))
        fprintf(stderr,
                "%s: %" PRId64 " sample%s of dataset.%s, %" PRId64
                " x %" PRId64 " pixels\n",
                j->to, j->done, j->done == 1 ? "" : "s",
                j->split, s->w, s->h);
    return true;
}

static bool sheet_draw(struct job *j)
{
    int64_t h, w, across, i;
    struct cr_contact_sheet s;

    sheet_tile(j, &h, &w);
    h += CR_LETTER_H + SHEET_GAP;
    w += SHEET_GAP;
    /* aspect ratio of about 4:3 */
    for (across = 1; across < j->done &&
                     across * w * 3 < (j->done + across - 1) / across * h * 4;)
        across++;
    s.w = across * w + SHEET_GAP;
    s.h = (j->done + across - 1) / across * h + SHEET_GAP;
    if (s.h > SHEET_PIXELS / s.w)
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "%" PRId64 " samples make a sheet of %" PRId64
                        " x %" PRId64 " pixels; take fewer: -n",
                        j->done, s.w, s.h);
    s = cr_contact_sheet_make(&j->mem, s.h, s.w);
    for (i = 0; i < j->done; i++) {
        int64_t top = SHEET_GAP + i / across * h;
        int64_t left = SHEET_GAP + i % across * w, at = left;

        for (int k = 0; k < j->n_columns; k++) {
            const struct picture *p = &j->picture[i * j->n_columns + k];

            if (!p->rgb)
                continue;
            cr_contact_sheet_image(&s, top, at, p->h, p->w, p->rgb,
                                   sheet_zoom(p));
            at += p->w * sheet_zoom(p) + 1;
        }
        cr_contact_sheet_text(&s, top + h - SHEET_GAP - CR_LETTER_H + 1, left,
                              j->label[i], (w - SHEET_GAP) / CR_LETTER_W);
    }
    return sheet_write(j, &s);
}

/* ---- Running */

/* Opens the training data, because other splits use its classes, whose names
 * are then in the config. If it is missing, a split numbers its own classes,
 * and the output reports it. */
static bool data_classes(struct job *j, struct cr_config *config)
{
    struct cr_diag diag = { .arena = config->arena }, *usual = config->diag;
    struct cr_data_loader_opts want = { .split = "train",
                                        .train = true,
                                        .headers = true };
    struct cr_data_loader *loader;

    if (strcmp(j->split, "train") == 0 ||
        !cr_node_get(cr_section(config, "dataset"), "train"))
        return true;
    config->diag = &diag;
    loader = cr_data_loader_open(config, &want);
    config->diag = usual;
    if (loader) {
        cr_data_loader_close(loader);
        return true;
    }
    j->alone = cr_diag_exit(&diag) == cr_code_exit(CR_E_DATA_MISSING);
    if (!j->alone)
        cr_diag_append(usual, &diag);
    return j->alone;
}

static bool data_loader(struct job *j, struct cr_config *config)
{
    struct cr_data_loader_opts want = { .split = j->split };
    bool first, images = false;

    if (!cr_cli_ending(j->cli, "-o", j->to, ".png") ||
        !cr_cli_no_terminal(j->cli, "-o", j->to))
        return false;
    want.train = strcmp(j->split, "train") == 0;
    if (!cr_seed_read(config, &want.seed) || !data_classes(j, config))
        return false;
    j->loader = cr_data_loader_open(config, &want);
    if (!j->loader)
        return false;
    if (j->alone && cr_data_loader_dataset(j->loader)->class_names)
        cr_warn(j->cli->diag, CR_NOWHERE, CR_E_DATA_MISSING,
                "dataset.train is not there: dataset.%s numbers its classes "
                "itself, which training and evaluation do not",
                j->split);
    j->column = cr_data_loader_columns(j->loader, &j->n_columns);
    for (int k = 0; k < j->n_columns; k++)
        images = images || data_image(&j->column[k].spec, &first);
    if (j->to && !images)
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "dataset.%s has no column of images; omit -o",
                        j->split);
    j->n = j->n != CR_INT_NONE ? j->n : j->to ? 64 : 4;
    if (j->n > cr_data_loader_samples(j->loader))
        j->n = cr_data_loader_samples(j->loader);
    j->picture = CR_NEWS(j->cli->arena, struct picture, j->n * j->n_columns);
    j->label = CR_NEWS(j->cli->arena, const char *, j->n);
    return true;
}

static bool data_show(struct job *j, struct cr_config *config)
{
    const struct cr_batch *b = NULL;

    if (!data_loader(j, config))
        return false;
    while (j->done < j->n && (b = cr_data_loader_next(j->loader, j->cli->diag)))
        for (int64_t i = 0; i < b->n && j->done < j->n; i++) {
            j->column = b->column;
            j->scale = b->size_index;
            data_take(j, b, i);
        }
    return j->cli->diag->errors == 0 && (!j->to || sheet_draw(j));
}

bool cr_data_show(struct cr_cli *cli, struct cr_config *config,
                  const char *split, int64_t samples, const char *to)
{
    struct job j = { .cli = cli, .split = split, .to = to, .n = samples };
    bool ok;

    if (samples != CR_INT_NONE && samples > SHOW_MAX)
        return cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "-n: found %" PRId64 ", expected at most %d", samples,
                        SHOW_MAX);
    j.text.arena = &j.mem;
    ok = data_show(&j, config);
    if (j.loader)
        cr_data_loader_close(j.loader);
    cr_arena_free(&j.mem);
    return ok;
}
