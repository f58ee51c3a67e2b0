/* For tests of the config language: a text in, the tree or messages out. */
#ifndef CR_TESTS_CONF_H
#define CR_TESTS_CONF_H

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "conf/config.h"
#include "conf/yaml.h"

static struct cr_arena conf_mem;

/* All messages of a diag, plain, as one text; "" if there are none. */
__attribute__((unused)) static const char *conf_messages(struct cr_diag *diag)
{
    char *text = NULL;
    const char *kept;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        abort();
    cr_diag_print(diag, f, (struct cr_diag_format){ 0 });
    fclose(f);
    kept = cr_strndup(&conf_mem, text, len);
    free(text);
    return kept;
}

/* The first line of the messages without its end; "" if there are none. */
__attribute__((unused)) static const char *conf_first(struct cr_diag *diag)
{
    const char *text = conf_messages(diag);

    return cr_strndup(&conf_mem, text, strcspn(text, "\n"));
}

/* A text of YAML as flow style, or the first line of its messages. */
__attribute__((unused)) static const char *conf_yaml(const char *text,
                                                     size_t len)
{
    struct cr_source *src = CR_NEW(&conf_mem, struct cr_source);
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_node *node;

    *src = (struct cr_source){ .name = "t", .text = text, .len = len };
    node = cr_yaml_read(&conf_mem, &diag, src, 0, len);
    if (diag.errors > 0)
        return conf_first(&diag);
    return node ? cr_node_flow(&conf_mem, node) : "no node and no message";
}

/* A config from a text and assignments separated by '\n'. */
__attribute__((unused)) static struct cr_config *
conf_load(struct cr_diag *diag, const char *text, const char *sets)
{
    const char *list[16] = { NULL };
    int args[16], n = 0;

    for (; sets && *sets && n < 15; n++) {
        size_t len = strcspn(sets, "\n");

        list[n] = cr_strndup(&conf_mem, sets, len);
        args[n] = n + 3;
        sets += len + (sets[len] == '\n');
    }
    *diag = (struct cr_diag){ .arena = &conf_mem };
    return cr_config_load(&conf_mem, diag,
                          &(struct cr_config_from){
                              .text = text,
                              .text_name = "t",
                              .sets = list,
                              .set_args = args,
                          });
}

/* The resolved tree in flow style, or the first line of the messages. */
__attribute__((unused)) static const char *conf_tree(const char *text,
                                                     const char *sets)
{
    struct cr_diag diag;
    struct cr_config *config = conf_load(&diag, text, sets);

    if (diag.errors > 0)
        return conf_first(&diag);
    return cr_node_flow(&conf_mem, config->root);
}

#endif
