#include "train/flags.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"

static int flag_argument(const struct cr_cli *cli, const char *flag)
{
    size_t len = strlen(flag);

    for (int i = 1; cli->argv[i]; i++)
        if (strncmp(cli->argv[i], flag, len) == 0 &&
            (cli->argv[i][len] == '\0' || cli->argv[i][len] == '='))
            return i;
    return 0;
}

void cr_flag_set(struct cr_cli *cli, const char *flag, const char *key,
                 const char *value)
{
    int n = 0;
    const char **sets;
    int *args;

    while (cli->sets[n])
        n++;
    sets = CR_NEWS(cli->arena, const char *, n + 2);
    args = CR_NEWS(cli->arena, int, n + 2);
    for (int i = 0; i < n; i++) {
        sets[i] = cli->sets[i];
        args[i] = cli->set_args[i];
    }
    sets[n] = cr_strf(cli->arena, "%s=%s", key, value);
    args[n] = flag_argument(cli, flag);
    cli->sets = sets;
    cli->set_args = args;
}

static bool flag_is_utf8(const char *text)
{
    size_t left = strlen(text);
    uint32_t code;
    int len;

    for (; left > 0; text += len, left -= (size_t)len) {
        len = cr_utf8(text, left, &code);
        if (len == 0)
            return false;
    }
    return true;
}

void cr_flag_text(struct cr_cli *cli, const char *flag, const char *key,
                  const char *value)
{
    struct cr_buf quoted = { .arena = cli->arena };

    if (!value)
        return;
    if (!flag_is_utf8(value)) {
        cr_error(cli->diag, CR_NOWHERE, CR_E_ENCODING,
                 "%s: found '%s', expected UTF-8", flag,
                 cr_quote(cli->arena, value, strlen(value)));
        return;
    }
    cr_buf_json(&quoted, value);
    cr_flag_set(cli, flag, key, cr_buf_text(&quoted));
}

void cr_flag_int(struct cr_cli *cli, const char *flag, const char *key,
                 int64_t value)
{
    if (value != CR_INT_NONE)
        cr_flag_set(cli, flag, key, cr_strf(cli->arena, "%" PRId64, value));
}
