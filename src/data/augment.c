#include "data/augment.h"

#include <math.h>
#include <string.h>

#include "data/enhance.h"

bool cr_augment_plan(struct cr_transform_plan *p, const char *name,
                     const struct cr_ints *fill, struct cr_augmenter *to)
{
    p->self = to;
    p->out = p->in;
    p->scratch = cr_bytes(&p->in);
    return cr_image_of_bytes(p, name, 3, &to->image) &&
           cr_image_fill(p, name, fill, &to->image, &to->fill);
}

static float augment_side(float fraction, int64_t side)
{
    return fraction < 1 ? fraction * (float)side : fraction;
}

static float augment_magnitude(const struct cr_augmenter *a,
                               enum cr_augment op, int64_t bin)
{
    const struct cr_augment_range *r = a->range;
    float steps = (float)(a->bins - 1), k = (float)bin, end;

    switch (op) {
    case CR_AUG_SHEAR_X:
    case CR_AUG_SHEAR_Y:
        end = r->shear;
        break;
    case CR_AUG_TRANSLATE_X:
        end = augment_side(r->translate, a->image.w);
        break;
    case CR_AUG_TRANSLATE_Y:
        end = augment_side(r->translate, a->image.h);
        break;
    case CR_AUG_ROTATE:
        end = r->rotate;
        break;
    case CR_AUG_POSTERIZE:
        return rintf(8 - k * (r->posterize / steps));
    case CR_AUG_SOLARIZE:
        return r->solarize - k * (r->solarize / steps);
    default:
        end = r->factor;
    }
    return k * (end / steps);
}

/* Moves the pixels of y by a map. */
static void augment_warp(const struct cr_augmenter *a, const double map[6],
                         unsigned char *y, unsigned char *scratch)
{
    const struct cr_image *m = &a->image;

    memcpy(scratch, y, (size_t)(m->h * m->w) * m->pixel);
    cr_warp(m, scratch, map, a->interpolation, a->fill, y);
}

void cr_augment_apply(const struct cr_augmenter *a, enum cr_augment op,
                      int64_t bin, bool negative, unsigned char *y,
                      unsigned char *scratch)
{
    const struct cr_image *m = &a->image;
    struct cr_affine move = { .scale = 1 };
    float size = augment_magnitude(a, op, bin), v = negative ? -size : size;
    float shear = (float)(v * 180 / 3.14159265358979323846);
    int64_t n = m->h * m->w;
    double map[6];

    switch (op) {
    case CR_AUG_IDENTITY:
        return;
    case CR_AUG_SHEAR_X:
    case CR_AUG_SHEAR_Y:
        move.shear[op == CR_AUG_SHEAR_Y] = shear;
        break;
    case CR_AUG_TRANSLATE_X:
    case CR_AUG_TRANSLATE_Y:
        move.translate[op == CR_AUG_TRANSLATE_Y] = truncf(v);
        break;
    case CR_AUG_ROTATE:
        cr_warp_rotation(v, (double)(m->w - 1) / 2, (double)(m->h - 1) / 2,
                         map);
        augment_warp(a, map, y, scratch);
        return;
    case CR_AUG_BRIGHTNESS:
        cr_enhance_brightness(y, n, 1 + v);
        return;
    case CR_AUG_COLOR:
        cr_enhance_saturation(y, n, 1 + v);
        return;
    case CR_AUG_CONTRAST:
        cr_enhance_contrast(y, n, 1 + v);
        return;
    case CR_AUG_SHARPNESS:
        memcpy(scratch, y, (size_t)n * m->pixel);
        cr_enhance_sharpness(m, scratch, 1 + v, y);
        return;
    case CR_AUG_POSTERIZE:
        cr_enhance_posterize(y, n, m->c, (int)size);
        return;
    case CR_AUG_SOLARIZE:
        cr_enhance_solarize(y, n, m->c, size, 255);
        return;
    case CR_AUG_AUTO_CONTRAST:
        cr_enhance_auto_contrast(y, n, m->c, 0, NULL);
        return;
    case CR_AUG_EQUALIZE:
        cr_enhance_equalize(y, n, m->c);
        return;
    case CR_AUG_INVERT:
        cr_enhance_solarize(y, n, m->c, 0, 255);
        return;
    }
    cr_warp_affine(m, &move, map);
    augment_warp(a, map, y, scratch);
}
