/* The texts of the templates, which the Makefile generates from configs. */
#include "starter/starter.h"

#include <string.h>

#include "starter/templates.inc"

const struct cr_template *cr_template_find(const char *name)
{
    for (const struct cr_template *t = cr_templates; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

const char *cr_template_summary(struct cr_arena *arena,
                                const struct cr_template *t)
{
    const char *from = t->text + strspn(t->text, "# ");
    size_t n = strcspn(from, "\n");

    /* A sentence that continues on the next line ends at its colon here. */
    if (n == 0 || from[n - 1] != '.')
        n = strcspn(from, ":\n");
    return cr_strndup(arena, from, n);
}
