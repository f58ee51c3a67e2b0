#include "ckpt/dtype.h"

#include <math.h>

enum cr_type cr_dtype_of(int choice)
{
    static const enum cr_type types[] = { CR_TYPES, CR_F32, CR_F16, CR_BF16 };

    return types[choice];
}

/* Whether conversion has made a finite value infinite. */
static bool dtype_lost(const struct cr_tensor *t, enum cr_type type,
                       const void *to)
{
    int64_t n = cr_count(&t->spec);
    size_t from_size = cr_type_size(t->spec.type), size = cr_type_size(type);
    double a, b;

    for (int64_t i = 0; i < n; i++) {
        cr_convert(type, (const char *)to + (size_t)i * size, CR_F64, &b, 1);
        if (!isinf(b))
            continue;
        cr_convert(t->spec.type, (const char *)t->data + (size_t)i * from_size,
                   CR_F64, &a, 1);
        if (!isinf(a))
            return true;
    }
    return false;
}

bool cr_dtype_convert(struct cr_arena *arena, struct cr_tensor *t,
                      enum cr_type type)
{
    int64_t n = cr_count(&t->spec);
    void *to;

    if (type == CR_TYPES || !cr_type_is_float(t->spec.type) ||
        cr_type_stored(t->spec.type) == type)
        return true;
    to = cr_alloc(arena, (size_t)n + 1, cr_type_size(type));
    cr_convert(t->spec.type, t->data, type, to, n);
    if (dtype_lost(t, type, to))
        return false;
    t->spec.type = type;
    t->data = to;
    return true;
}
