/* Every example that help and the manual show is read without a complaint. */
#include "base/str.h"
#include "conf/config.h"
#include "tap.h"

int main(void)
{
    struct cr_arena mem = { 0 };

    test_begin("every example of the registry is a sound config");
    for (int k = 0; k < CR_KINDS; k++) {
        if (k == CR_KIND_VERB)
            continue;
        for (const struct cr_about *const *p = cr_list((enum cr_kind)k); *p;
             p++) {
            struct cr_diag diag = { .arena = &mem };
            struct cr_config_from from = { .text = (*p)->example,
                                           .text_name = (*p)->name,
                                           .text_dir = "." };

            if (!(*p)->example)
                continue;
            cr_config_check(cr_config_load(&mem, &diag, &from));
            /* a plug-in is built by who wants it: tests/cli/plugin.bats */
            if (diag.errors == 1 && diag.first->code == CR_E_PLUGIN &&
                (*p)->name == cr_find(CR_KIND_SECTION, "plugin")->name)
                diag = (struct cr_diag){ .arena = &mem };
            ok(diag.errors == 0 && diag.warnings == 0,
               "the example of %s %s", cr_kind_name((enum cr_kind)k),
               (*p)->name);
            cr_diag_print(&diag, stdout, (struct cr_show){ 0 });
        }
    }
    cr_arena_free(&mem);
    return done();
}
