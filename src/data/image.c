#include "data/image.h"

#include <string.h>

bool cr_image_of(const struct cr_transform_plan *p, const char *name,
                 struct cr_image *to)
{
    const struct cr_spec *in = &p->in;

    if ((in->rank != 2 && in->rank != 3) || in->type == CR_STRING)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "%s: expected images (height, width, channels), but "
                        "found %s %s",
                        name, cr_type_name(in->type),
                        cr_diag_format(p->arena, in));
    if (p->chw && in->rank == 3) {
        cr_error(p->diag, p->pos, CR_E_SHAPE,
                 "%s: found (channels, height, width) after HWC2CHW, expected "
                 "images (height, width, channels)",
                 name);
        cr_hint(p->diag, "move it to a line before HWC2CHW");
        return false;
    }
    to->h = in->dim[0];
    to->w = in->dim[1];
    to->c = in->rank == 3 ? in->dim[2] : 1;
    to->pixel = (size_t)to->c * cr_type_size(in->type);
    if (to->h < 1 || to->w < 1 || to->c < 1)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "%s: the image %s is empty", name,
                        cr_diag_format(p->arena, in));
    return true;
}

bool cr_image_resizable(const struct cr_transform_plan *p, const char *name,
                        bool nearest)
{
    if (p->in.type == CR_U8 || p->in.type == CR_F32 ||
        (p->in.type == CR_I32 && nearest))
        return true;
    cr_error(p->diag, p->pos, CR_E_SHAPE,
             "%s: found %s %s, expected images (height, width, channels) of "
             "uint8 or float32",
             name, cr_type_name(p->in.type), cr_diag_format(p->arena, &p->in));
    if (p->in.type == CR_I32)
        cr_hint(p->diag, "classes of a mask are not averaged: set "
                         "interpolation: NEAREST");
    return false;
}

bool cr_image_margins(const struct cr_transform_plan *p, const char *name,
                      const struct cr_ints *given, struct cr_margins *to)
{
    const int64_t *v = given->v;

    *to = (struct cr_margins){ 0 };
    if (given->n == 0)
        return true;
    if (given->n == 1)
        *to = (struct cr_margins){ v[0], v[0], v[0], v[0] };
    else if (given->n == 2)
        *to = (struct cr_margins){ v[0], v[1], v[0], v[1] };
    else if (given->n == 4)
        *to = (struct cr_margins){ v[0], v[1], v[2], v[3] };
    else
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "%s: padding: found %d numbers, expected 1, 2 or 4",
                        name, given->n);
    return true;
}

bool cr_image_fill(const struct cr_transform_plan *p, const char *name,
                   const struct cr_ints *given, const struct cr_image *image,
                   void **to)
{
    size_t size = cr_type_size(p->in.type);
    int64_t c;

    if (given->n > 1 && given->n != image->c)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "%s: fill_value: found %d numbers, but the image has "
                        "%lld channels",
                        name, given->n, (long long)image->c);
    *to = cr_alloc(p->arena, 1, image->pixel);
    for (c = 0; c < image->c && given->n > 0; c++)
        cr_convert(CR_I64, &given->v[given->n > 1 ? c : 0], p->in.type,
                   (char *)*to + (size_t)c * size, 1);
    return true;
}

bool cr_image_mirrors(const struct cr_transform_plan *p, const char *name,
                      const struct cr_image *image, const struct cr_margins *by,
                      enum cr_border border)
{
    int64_t short_of = border == CR_REFLECT ? 1 : 0;
    int64_t h = image->h - short_of, w = image->w - short_of;

    if ((border != CR_REFLECT && border != CR_SYMMETRIC) ||
        (by->top <= h && by->bottom <= h && by->left <= w && by->right <= w))
        return true;
    return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                    "%s: %s is larger than the image %s that it mirrors", name,
                    border == CR_REFLECT ? "REFLECT" : "SYMMETRIC",
                    cr_diag_format(p->arena, &p->in));
}

bool cr_image_size(const struct cr_transform_plan *p, const char *name,
                   const struct cr_ints *size, int64_t *h, int64_t *w)
{
    if (size->n != 1 && size->n != 2)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "%s: size: found %d numbers, expected 1 or 2", name,
                        size->n);
    *h = size->v[0];
    *w = size->v[size->n - 1];
    return true;
}

bool cr_image_resized(struct cr_transform_plan *p, const char *name, int64_t h,
                      int64_t w)
{
    p->out = p->in;
    p->out.dim[0] = h;
    p->out.dim[1] = w;
    if (h > CR_IMAGE_SIDE || w > CR_IMAGE_SIDE || !cr_spec_fits(&p->out))
        return cr_error(p->diag, p->pos, CR_E_LIMIT, "%s: %s is too large",
                        name, cr_diag_format(p->arena, &p->out));
    return true;
}

/* The index among n pixels that pixel i of the extended line repeats; -1: none,
 * the fill value. */
static int64_t border_index(int64_t i, int64_t n, enum cr_border border)
{
    if (i >= 0 && i < n)
        return i;
    if (border == CR_CONSTANT)
        return -1;
    if (border == CR_EDGE)
        return i < 0 ? 0 : n - 1;
    if (border == CR_REFLECT)
        return i < 0 ? -i : 2 * n - 2 - i;
    return i < 0 ? -1 - i : 2 * n - 1 - i;
}

void cr_image_window(const struct cr_image *m, const void *x, int64_t top,
                     int64_t left, int64_t h, int64_t w,
                     enum cr_border border, const void *fill, void *y)
{
    /* columns begin..end of y are inside the image */
    int64_t begin = left < 0 ? -left : 0;
    int64_t end = m->w - left < w ? m->w - left : w;
    char *to = y;
    int64_t i, j;

    if (begin > w)
        begin = w;
    if (end < begin)
        end = begin;
    for (i = 0; i < h; i++, to += (size_t)w * m->pixel) {
        int64_t row = border_index(top + i, m->h, border), at;
        const char *from = (const char *)x +
                           (size_t)(row < 0 ? 0 : row * m->w) * m->pixel;

        for (j = 0; j < w; j++) {
            if (j == begin && row >= 0 && end > begin) {
                memcpy(to + (size_t)begin * m->pixel,
                       from + (size_t)(left + begin) * m->pixel,
                       (size_t)(end - begin) * m->pixel);
                j = end - 1;
                continue;
            }
            at = row < 0 ? -1 : border_index(left + j, m->w, border);
            memcpy(to + (size_t)j * m->pixel,
                   at < 0 ? fill : from + (size_t)at * m->pixel, m->pixel);
        }
    }
}
