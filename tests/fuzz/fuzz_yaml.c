/* A config from any bytes: read, merged, assigned to, expanded, checked and
 * printed. Lines behind a line `~~~` are assignments. What loads without an
 * error must print so that it loads as the same again. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "conf/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    SETS = 15
};

/* Splits off the assignments; returns the text. */
static const char *fuzz_split(struct cr_arena *mem, const char *text,
                              const char **sets)
{
    const char *mark = strstr(text, "\n~~~\n");
    int n = 0;

    if (!mark)
        return text;
    for (const char *s = mark + 5; *s && n < SETS;) {
        size_t len = strcspn(s, "\n");

        sets[n++] = cr_strndup(mem, s, len);
        s += len + (s[len] == '\n');
    }
    return cr_strndup(mem, text, (size_t)(mark - text) + 1);
}

static void fuzz_same(bool good)
{
    if (!good)
        abort();
}

/* Every text of the tree as patterns; some may be. */
static void fuzz_patterns(struct cr_config *config, const struct cr_node *node)
{
    static const char *const names[] = { "layer1.0.weight", "fc.bias", NULL };

    if (node->kind == CR_NODE_STR) {
        const struct cr_patterns *p = cr_patterns_read(config, node);

        cr_patterns_match(p, names[0]);
        cr_patterns_used(config, p, names, "parameters");
    }
    for (CR_EACH(m, node))
        fuzz_patterns(config, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem }, again = { .arena = &mem };
    const char *sets[SETS + 1] = { NULL }, *text, *printed;
    struct cr_config *config, *second;
    FILE *null;

    /* other files are not part of the input */
    text = cr_strndup(&mem, (const char *)data, size);
    if (strlen(text) != size || strstr(text, "base"))
        goto done;
    text = fuzz_split(&mem, text, sets);
    config = cr_config_load(&mem, &diag,
                            &(struct cr_config_from){
                                .text = text, .text_name = "t", .sets = sets });
    printed = cr_config_yaml(config, false, false);
    if (diag.errors == 0) {
        second = cr_config_load(
            &mem, &again,
            &(struct cr_config_from){ .text = printed, .text_name = "t" });
        fuzz_same(again.errors == 0);
        fuzz_same(strcmp(cr_config_yaml(second, false, false), printed) == 0);
        fuzz_same(strcmp(cr_config_id(second), cr_config_id(config)) == 0);
        fuzz_patterns(config, config->root);
    }
    cr_config_yaml(config, true, true);
    cr_config_check(config);
    null = fopen("/dev/null", "w");
    if (null) {
        cr_diag_print(&diag, null, (struct cr_show){ .color = true });
        diag.printed = NULL;
        cr_diag_print(&diag, null, (struct cr_show){ .json = true });
        fclose(null);
    }
done:
    cr_arena_free(&mem);
    return 0;
}
