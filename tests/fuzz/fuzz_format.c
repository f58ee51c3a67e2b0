/* Any bytes as a config for fmt. Its meaning and comments stay, which
 * cr_yaml_format verifies itself, and a formatted text stays as it is. */
#include <stdlib.h>
#include <string.h>

#include "conf/yaml_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_source src = { .name = "fuzz", .len = size };
    const char *once, *twice;

    src.text = cr_strndup(&mem, (const char *)data, size);
    once = cr_yaml_format(&mem, &diag, &src);
    for (const struct cr_message *m = diag.first; m; m = m->next)
        if (m->code == CR_E_INTERNAL)
            abort();
    if (once) {
        src.text = once;
        src.len = strlen(once);
        twice = cr_yaml_format(&mem, &diag, &src);
        if (!twice || strcmp(once, twice) != 0)
            abort();
    }
    cr_arena_free(&mem);
    return 0;
}
