#include "ckpt/rename.h"

#include <string.h>

#include "base/str.h"

#define RENAME_GROUPS 10 /* \0 to \9 */

bool cr_rename_rule_read(struct cr_diag *diag, struct cr_rename_rule *to,
                         const char *pattern, struct cr_pos pattern_at,
                         const char *with, struct cr_pos with_at)
{
    char why[200];
    int status = regcomp(&to->regex, pattern, REG_EXTENDED);

    if (status != 0) {
        regerror(status, &to->regex, why, sizeof why);
        return cr_error(diag, pattern_at, CR_E_FORM,
                        "'%s' is not a valid regular expression: %s",
                        cr_quote(diag->arena, pattern, strlen(pattern)), why);
    }
    to->with = with;
    to->used = 0;
    for (const char *p = with; *p; p++) {
        if (*p != '\\')
            continue;
        p++;
        if (*p == '\\' || (*p >= '0' && *p <= '9' &&
                           (size_t)(*p - '0') <= to->regex.re_nsub))
            continue;
        if (*p >= '0' && *p <= '9')
            cr_error(diag, with_at, CR_E_FORM,
                     "the replacement uses group %c, but the pattern has only "
                     "%zu",
                     *p, to->regex.re_nsub);
        else
            cr_error(diag, with_at, CR_E_FORM,
                     "invalid escape in a replacement: expected \\0 to \\9 or "
                     "\\\\");
        regfree(&to->regex);
        return false;
    }
    return true;
}

bool cr_rename_rule_parse(struct cr_arena *arena, struct cr_diag *diag,
                          struct cr_rename_rule *to, const char *text)
{
    struct cr_buf pattern = { .arena = arena };
    const char *p = text;

    for (; *p && *p != '='; p++) {
        if (*p == '\\' && p[1] == '=')
            p++;
        else if (*p == '\\' && p[1])
            cr_buf_char(&pattern, *p++);
        cr_buf_char(&pattern, *p);
    }
    if (*p != '=' || pattern.len == 0)
        return cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                        "--rename: found '%s', expected PATTERN=REPLACEMENT",
                        cr_quote(diag->arena, text, strlen(text)));
    return cr_rename_rule_read(diag, to, cr_buf_text(&pattern), CR_NOWHERE,
                               p + 1, CR_NOWHERE);
}

void cr_rename_rule_free(struct cr_rename_rule *rule)
{
    regfree(&rule->regex);
}

const char *cr_rename(struct cr_arena *arena, struct cr_rename_rule *rules,
                      int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        struct cr_rename_rule *rule = &rules[i];
        struct cr_buf to = { .arena = arena };
        regmatch_t m[RENAME_GROUPS];

        if (regexec(&rule->regex, name, RENAME_GROUPS, m, 0) != 0)
            continue;
        rule->used++;
        cr_buf_add(&to, name, (size_t)m[0].rm_so);
        for (const char *p = rule->with; *p; p++) {
            if (*p != '\\' || p[1] == '\\') {
                p += *p == '\\';
                cr_buf_char(&to, *p);
                continue;
            }
            p++;
            if (m[*p - '0'].rm_so >= 0)
                cr_buf_add(&to, name + m[*p - '0'].rm_so,
                           (size_t)(m[*p - '0'].rm_eo - m[*p - '0'].rm_so));
        }
        cr_buf_str(&to, name + m[0].rm_eo);
        name = cr_buf_text(&to);
    }
    return name;
}
