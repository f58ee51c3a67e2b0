#include "conf/terms.h"

#include <ctype.h>
#include <string.h>

#include "conf/opt.h"

const struct cr_term cr_terms[] = {
#define CR_TERM(words, names, text) { words, names, text },
#include "conf/terms.def"
#include "conf/terms_data.def"
#undef CR_TERM
    { NULL, NULL, NULL },
};

const char *cr_term_name(struct cr_arena *arena, const char *word)
{
    size_t len = strcspn(word, "("), dot = 0;

    /* a module or an object before the name; not train.epochs */
    for (size_t i = 0; i < len; i++)
        if (word[i] == '.' && i + 1 < len)
            dot = i + 1;
    return cr_strndup(arena, word + dot, len - dot);
}

/* Whether two words are equal, ignoring case, '-', '_' and blanks. */
static bool term_equal(const char *a, size_t len, const char *b)
{
    size_t i = 0;

    for (;;) {
        while (i < len && strchr("-_ ", a[i]))
            i++;
        while (*b && strchr("-_ ", *b))
            b++;
        if (i == len || !*b)
            return i == len && !*b;
        if (tolower((unsigned char)a[i++]) != tolower((unsigned char)*b++))
            return false;
    }
}

static bool term_has(const struct cr_term *term, const char *word)
{
    for (const char *p = term->words; *p;) {
        size_t len = strcspn(p, ",");

        if (term_equal(p, len, word))
            return true;
        p += len + strspn(p + len, ", ");
    }
    return false;
}

const struct cr_term *cr_term_find(const struct cr_term *from,
                                   const char *word)
{
    for (; from->words; from++)
        if (term_has(from, word))
            return from;
    return NULL;
}

/* The path of the row of that name, "-" and "_" being equal. */
static const char *term_row(struct cr_arena *arena, const struct cr_opt *rows,
                            const char *above, const char *word)
{
    for (const struct cr_opt *row = rows; row && row->name; row++) {
        const char *path = cr_strf(arena, "%s.%s", above, row->name), *deeper;

        if (term_equal(row->name, strlen(row->name), word))
            return path;
        deeper = row->type == CR_OPT_SUB
                     ? term_row(arena, row->sub, path, word)
                     : NULL;
        if (deeper)
            return deeper;
    }
    return NULL;
}

/* The first name of a term, if it is the path of a key. */
static const char *term_path(struct cr_arena *arena,
                             const struct cr_term *term)
{
    size_t len = strcspn(term->names, " "), dot = strcspn(term->names, ".");
    const char *section = cr_strndup(arena, term->names, dot);

    return dot < len && cr_registry_find(CR_KIND_SECTION, section)
               ? cr_strndup(arena, term->names, len)
               : NULL;
}

const char *cr_term_key(struct cr_arena *arena, const char *word)
{
    const struct cr_descriptor *const *list;
    const char *path;

    for (const struct cr_term *t = cr_terms; (t = cr_term_find(t, word)); t++)
        if ((path = term_path(arena, t)))
            return path;
    for (list = cr_registry_list(CR_KIND_SECTION); *list; list++)
        if ((path = term_row(arena, (*list)->opts, (*list)->name, word)))
            return path;
    for (list = cr_registry_list(CR_KIND_OPTIM); *list; list++)
        if ((path = term_row(arena, (*list)->opts, "optimizer", word)))
            return path;
    return NULL;
}

/* The name of a term that the list has: Dense, or learning_rate where the
 * term is optimizer.learning_rate. After other names, predict is the
 * command, not the section. */
static const char *term_listed(const struct cr_term *term,
                               const char *const *names)
{
    for (const char *p = term->names; *p;) {
        size_t len = strcspn(p, " "), dot = 0;

        for (size_t i = 0; i < len; i++)
            if (p[i] == '.')
                dot = i + 1;
        for (const char *const *name = names; *name; name++)
            if (term_equal(p + dot, len - dot, *name) &&
                (p == term->names ||
                 !cr_registry_find(CR_KIND_COMMAND, *name)))
                return *name;
        p += len + strspn(p + len, " ");
    }
    return NULL;
}

/* Suggests the name of the list that a term has for the word. */
static bool term_hint_listed(struct cr_diag *diag, const char *name,
                             const char *const *names)
{
    const char *guess;

    for (const struct cr_term *t = cr_terms; (t = cr_term_find(t, name)); t++)
        if ((guess = term_listed(t, names))) {
            cr_hint(diag, "did you mean '%s'?", guess);
            if (!term_equal(guess, strlen(guess), name))
                cr_note(diag, "%s", t->text);
            return true;
        }
    return false;
}

bool cr_term_hint_name(struct cr_diag *diag, const char *word,
                       const char *const *names)
{
    const char *name = cr_term_name(diag->arena, word);
    const char *near = cr_closest_name(word, names);

    if (term_hint_listed(diag, name, names))
        return true;
    if (near)
        cr_hint(diag, "did you mean '%s'?", near);
    return near != NULL;
}

/* The text of a term about the word: its key, else its sentence. */
static bool term_hint_text(struct cr_diag *diag, const char *name)
{
    const struct cr_term *first = cr_term_find(cr_terms, name);
    const char *key;

    for (const struct cr_term *t = first; t && (t = cr_term_find(t, name)); t++)
        if ((key = term_path(diag->arena, t))) {
            cr_hint(diag, "did you mean '%s'?", key);
            return true;
        }
    if (first)
        cr_note(diag, "%s", first->text);
    return first != NULL;
}

/* The name that differs from the word only in a final s; NULL: none. */
static const char *term_plural(const char *word, const char *const *names)
{
    size_t len = strlen(word);

    for (; *names; names++) {
        size_t n = strlen(*names), less = n < len ? n : len;

        if (n + len == 2 * less + 1 && strncmp(word, *names, less) == 0 &&
            (n > len ? *names : word)[less] == 's')
            return *names;
    }
    return NULL;
}

bool cr_term_hint(struct cr_diag *diag, const char *word,
                  const char *const *names)
{
    const char *name = cr_term_name(diag->arena, word);
    const char *key = term_plural(word, names);

    if (term_hint_listed(diag, name, names))
        return true;
    if (key) {
        cr_hint(diag, "did you mean '%s'?", key);
        return true;
    }
    if (cr_registry_find(CR_KIND_SECTION, word)) {
        cr_hint(diag, "'%s' is a section: write it at the top level", word);
        return true;
    }
    if (term_hint_text(diag, name))
        return true;
    key = cr_closest_name(word, names);
    if (!key)
        key = cr_term_key(diag->arena, word);
    if (key)
        cr_hint(diag, "did you mean '%s'?", key);
    return key != NULL;
}

/* The name of the list that one of n pairs gives the word, or the closest. */
static const char *term_paired(const char *const pairs[][2], size_t n,
                               const char *word, const char *const *names)
{
    for (size_t i = 0; i < n; i++) {
        if (!term_equal(word, strlen(word), pairs[i][0]))
            continue;
        for (int k = 0; names[k]; k++)
            if (strcmp(pairs[i][1], names[k]) == 0)
                return names[k];
    }
    return cr_closest_name(word, names);
}

const char *cr_term_subcommand(const char *word, const char *const *names)
{
    static const char *const words[][2] = {
        { "list", "ls" },        { "compare", "diff" }, { "remove", "rm" },
        { "delete", "rm" },      { "clean", "gc" },     { "prune", "gc" },
        { "describe", "stats" }, { "info", "stats" },   { "describe", "show" },
        { "info", "show" },      { "view", "show" },    { "print", "show" },
        { "top", "best" },       { "rank", "best" },    { "download", "fetch" },
        { "get", "fetch" },      { "check", "verify" }, { "mean", "average" },
        { "merge", "average" },  { "csv", "export" },
    };

    return term_paired(words, CR_LEN(words), word, names);
}

const char *cr_term_flag(const char *word, const char *const *names)
{
    static const char *const flags[][2] = {
        { "format", "to" },      { "type", "to" },     { "checkpoint", "ckpt" },
        { "weights", "ckpt" },   { "model", "ckpt" },  { "out", "output" },
        { "workers", "threads" }, { "jobs", "threads" }, { "cpus", "threads" },
    };

    return term_paired(flags, CR_LEN(flags), word, names);
}

const char *cr_term_value(const char *word, const char *const *names)
{
    static const char *const values[][2] = {
        { "fp16", "float16" },    { "half", "float16" },
        { "f16", "float16" },     { "bf16", "bfloat16" },
        { "fp32", "float32" },    { "f32", "float32" },
        { "float", "float32" },   { "single", "float32" },
        { "double", "float64" },  { "fp64", "float64" },
        { "f64", "float64" },     { "long", "int64" },
        { "zero1", "optimizer" }, { "zero2", "gradients" },
        { "os", "optimizer" },    { "os+g", "gradients" },
    };

    return term_paired(values, CR_LEN(values), word, names);
}
