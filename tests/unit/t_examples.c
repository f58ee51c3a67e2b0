/* Every example that help and the manual show is read without a complaint. */
#include "base/str.h"
#include "conf/config.h"
#include "tap.h"

/* One config of the example; `n` counts them. */
static void example_is_sound(struct cr_arena *mem, enum cr_kind k,
                             const struct cr_descriptor *about,
                             const char *text, int n)
{
    struct cr_diag diag = { .arena = mem };
    struct cr_config_from from = { .text = text,
                                   .text_name = about->name,
                                   .text_dir = "." };

    cr_config_check(cr_config_load(mem, &diag, &from));
    /* a plug-in is built by who wants it: tests/cli/plugin.bats */
    if (diag.errors == 1 && diag.first->code == CR_E_PLUGIN &&
        about->name == cr_registry_find(CR_KIND_SECTION, "plugin")->name)
        diag = (struct cr_diag){ .arena = mem };
    ok(diag.errors == 0 && diag.warnings == 0, "example %d of %s %s", n,
       cr_kind_name(k), about->name);
    cr_diag_print(&diag, stdout, (struct cr_diag_format){ 0 });
}

int main(void)
{
    static const char between[] = "---\n";
    struct cr_arena mem = { 0 };

    test_begin("every example of the registry is a sound config");
    for (int k = 0; k < CR_KINDS; k++) {
        if (k == CR_KIND_COMMAND)
            continue;
        for (const struct cr_descriptor *const *p =
                 cr_registry_list((enum cr_kind)k);
             *p; p++) {
            const char *text = (*p)->example;

            for (int n = 1; text; n++) {
                const char *end = strstr(text, between);

                example_is_sound(&mem, (enum cr_kind)k, *p,
                                 end ? cr_strndup(&mem, text,
                                                  (size_t)(end - text))
                                     : text,
                                 n);
                text = end ? end + strlen(between) : NULL;
            }
        }
    }
    cr_arena_free(&mem);
    return done();
}
