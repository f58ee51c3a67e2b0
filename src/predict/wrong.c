/*
 * predict --wrong: the misclassified samples, largest loss first, as rows or as
 * a contact sheet.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/contact_sheet.h"
#include "data/format.h"
#include "predict/predict.h"

struct wrong {
    double loss;
    int64_t sample, number;     /* index in the data set, in the input */
    const char *text;           /* its row, or the caption of its image */
    size_t len;
};

struct cr_predict_wrong {
    struct cr_arena arena;
    struct wrong *v;
    size_t n, cap;
    bool sheet;
};

bool cr_predict_wrong_open(struct cr_predict *j)
{
    const struct cr_predict_opts *o = j->o;
    bool sheet = o->to && cr_ends(o->to, ".png"), compared = false;

    for (int k = 0; k < j->n_outs; k++)
        compared = compared || (j->out[k].truth >= 0 &&
                                j->out[k].kind != CR_PREDICT_VALUES);
    if (!compared)
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--wrong requires an output with classes and a column "
                        "of labels");
    if (o->format >= CR_PREDICT_NPY)
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--wrong: found --format %s, expected tsv, csv or "
                        "jsonl",
                        o->format == CR_PREDICT_NPY ? "npy" : "npz");
    if (sheet && (!o->data || !cr_predict_images(j)))
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--wrong -o %s: a contact sheet requires --data and a "
                        "network of images",
                        o->to);
    j->wrong = CR_NEW(j->cli->arena, struct cr_predict_wrong);
    j->wrong->sheet = sheet;
    return true;
}

/* Appends "7 not 1": the predicted class and the label. */
static void wrong_caption(struct cr_predict *j, struct cr_buf *b, int64_t i)
{
    for (int k = 0; k < j->n_outs; k++) {
        struct cr_predict_out *o = &j->out[k];

        if (o->truth < 0 || (o->kind != CR_PREDICT_CLASSES &&
                             o->kind != CR_PREDICT_BINARY))
            continue;
        cr_buf_f(b, "%s%s not ", b->len ? ", " : "",
                 o->names[cr_predict_class(j, o, i, false)]);
        cr_predict_truth(j, b, o->truth, i, false);
    }
}

void cr_predict_wrong_add(struct cr_predict *j, int64_t i,
                          const struct cr_predict_row *row)
{
    struct cr_predict_wrong *w = j->wrong;
    struct cr_predict_row compared = *row;
    struct cr_buf b = { .arena = &w->arena };

    if (row->blank || !cr_predict_compare(j, i, &compared.loss))
        return;
    if (w->n == w->cap) {
        w->v = cr_grow(&w->arena, w->v, w->n, 2 * w->cap + 64, sizeof *w->v);
        w->cap = 2 * w->cap + 64;
    }
    if (w->sheet)
        wrong_caption(j, &b, i);
    else
        cr_predict_row(j, &b, i, &compared);
    w->v[w->n] = (struct wrong){ compared.loss, row->sample, j->done,
                                 cr_buf_text(&b), b.len };
    w->n++;
}

static int wrong_by_loss(const void *a, const void *b)
{
    const struct wrong *x = a, *y = b;

    if (x->loss != y->loss)
        return x->loss < y->loss ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* ---- The contact sheet */

#define WRONG_MOST 100 /* images */
#define WRONG_TILE 96  /* pixels that a small image is enlarged to */
#define WRONG_GAP 4    /* pixels between images */

/* The stored image as RGB; NULL after reporting. */
static unsigned char *wrong_image(struct cr_predict *j, struct cr_arena *mem,
                                  int64_t sample, struct cr_spec *spec)
{
    struct cr_dataset set = *cr_data_loader_dataset(j->loader);
    const unsigned char *x;
    unsigned char *rgb;
    int64_t channels;
    int k = 0;
    void *scratch;

    while (strcmp(set.column[k].name, j->feed[0].name) != 0)
        k++;
    *spec = set.column[k].spec;
    scratch = cr_alloc(mem, 1, cr_bytes(spec) + 1);
    x = set.type->at ? set.type->at(&set, sample, k) : NULL;
    if (!x && set.varying_shapes & 1u << k)
        x = set.type->fetch(&set, j->cli->diag, mem, sample, k, scratch, spec);
    else if (!x)
        x = set.type->read(&set, j->cli->diag, sample, k, scratch) ? scratch
                                                                   : NULL;
    if (!x)
        return NULL;
    channels = spec->rank == 3 ? spec->dim[2] : 1;
    rgb = cr_alloc(mem, (size_t)(spec->dim[0] * spec->dim[1]), 3);
    for (int64_t p = 0; p < spec->dim[0] * spec->dim[1]; p++)
        for (int64_t c = 0; c < 3; c++)
            rgb[3 * p + c] = x[p * channels + (channels >= 3 ? c : 0)];
    return rgb;
}

static int64_t wrong_zoom(const struct cr_spec *s)
{
    int64_t side = s->dim[0] > s->dim[1] ? s->dim[0] : s->dim[1];

    return side >= WRONG_TILE ? 1 : WRONG_TILE / side;
}

static bool wrong_put(struct cr_predict *j, struct cr_arena *mem,
                      const struct cr_contact_sheet *s, int64_t n)
{
    struct cr_spec spec = { CR_U8, CR_ROW_MAJOR, 3, { s->h, s->w, 3 } };
    struct cr_buf bytes = { .arena = mem };

    if (!cr_format_find("png")->encode(j->cli->diag, &spec, s->rgb, &bytes) ||
        !cr_write_file(j->cli->diag, j->o->to, bytes.text, bytes.len))
        return false;
    if (!j->cli->quiet)
        fprintf(stderr,
                "%s: %" PRId64 " of %zu misclassified samples, out of "
                "%" PRId64 "\n",
                j->o->to, n, j->wrong->n, j->done);
    return true;
}

static bool wrong_sheet(struct cr_predict *j, int64_t rows)
{
    struct cr_predict_wrong *w = j->wrong;
    int64_t n = rows < WRONG_MOST ? rows : WRONG_MOST;
    struct cr_spec *spec = CR_NEWS(&w->arena, struct cr_spec, n + 1);
    unsigned char **rgb = CR_NEWS(&w->arena, unsigned char *, n + 1);
    int64_t th = CR_LETTER_H + WRONG_GAP, tw = 12 * CR_LETTER_W, across = 1;
    int64_t high = 0;
    struct cr_contact_sheet s;

    for (int64_t i = 0; i < n; i++) {
        int64_t z;

        rgb[i] = wrong_image(j, &w->arena, w->v[i].sample, &spec[i]);
        if (!rgb[i])
            return false;
        z = wrong_zoom(&spec[i]);
        high = spec[i].dim[0] * z > high ? spec[i].dim[0] * z : high;
        tw = spec[i].dim[1] * z > tw ? spec[i].dim[1] * z : tw;
    }
    th += high;
    tw += WRONG_GAP;
    /* a sheet of about 4 : 3 */
    while (across < n && across * tw * 3 < (n + across - 1) / across * th * 4)
        across++;
    s = cr_contact_sheet_make(&w->arena,
                              (n + across - 1) / across * th + WRONG_GAP,
                              across * tw + WRONG_GAP);
    for (int64_t i = 0; i < n; i++) {
        int64_t top = WRONG_GAP + i / across * th;
        int64_t left = WRONG_GAP + i % across * tw;

        cr_contact_sheet_image(&s, top, left, spec[i].dim[0], spec[i].dim[1],
                               rgb[i], wrong_zoom(&spec[i]));
        cr_contact_sheet_text(&s, top + th - WRONG_GAP - CR_LETTER_H + 1, left,
                              w->v[i].text, (tw - WRONG_GAP) / CR_LETTER_W);
    }
    return wrong_put(j, &w->arena, &s, n);
}

bool cr_predict_wrong_write(struct cr_predict *j)
{
    struct cr_predict_wrong *w = j->wrong;
    size_t rows;
    bool ok = true;

    if (!j->has_truth && j->done > 0)
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--wrong: the input has no labels");
    if (w->n > 0)
        qsort(w->v, w->n, sizeof *w->v, wrong_by_loss);
    rows = j->o->samples != CR_INT_NONE && (size_t)j->o->samples < w->n
               ? (size_t)j->o->samples
               : w->n;
    if (w->sheet)
        ok = wrong_sheet(j, (int64_t)rows);
    for (size_t i = 0; i < rows && !w->sheet; i++)
        cr_buf_add(&j->line, w->v[i].text, w->v[i].len);
    return ok;
}

void cr_predict_wrong_free(struct cr_predict *j)
{
    if (j->wrong)
        cr_arena_free(&j->wrong->arena);
}
