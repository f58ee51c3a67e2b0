/* The table of contents: its order, and that every entry explains itself. */
#include <ctype.h>
#include <stdlib.h>

#include "base/arena.h"
#include "conf/command_line.h"
#include "conf/opt.h"
#include "tap.h"

/* registry.def as text, in the order of its lines. */
static const char *const lines[] = {
#define CR_CELL(x) "CR_CELL(" #x ")",
#define CR_DATASET(x) "CR_DATASET(" #x ")",
#define CR_FORMAT(x) "CR_FORMAT(" #x ")",
#define CR_INIT(x) "CR_INIT(" #x ")",
#define CR_LOSS(x) "CR_LOSS(" #x ")",
#define CR_METRIC(x) "CR_METRIC(" #x ")",
#define CR_OP(x) "CR_OP(" #x ")",
#define CR_OPTIM(x) "CR_OPTIM(" #x ")",
#define CR_SCHEDULE(x) "CR_SCHEDULE(" #x ")",
#define CR_SECTION(x) "CR_SECTION(" #x ")",
#define CR_TRANSFORM(x) "CR_TRANSFORM(" #x ")",
#define CR_COMMAND(x) "CR_COMMAND(" #x ")",
#include "registry_pass.h"
};

static void order(void)
{
    bool good = true;

    for (size_t i = 1; i < CR_LEN(lines); i++)
        if (strcmp(lines[i - 1], lines[i]) >= 0) {
            good = false;
            printf("# %s must be before %s\n", lines[i], lines[i - 1]);
        }
    ok(good, "registry.def is in order and names nothing twice");
}

/* "One sentence." or "y = a formula." */
static bool sentence(const char *text)
{
    size_t n = text ? strlen(text) : 0;

    return n > 3 && text[n - 1] == '.' && !isspace((unsigned char)text[0]);
}

static void rows(const char *owner, const struct cr_opt *opts, size_t size)
{
    struct cr_arena mem = { 0 };

    for (const struct cr_opt *row = opts; row && row->name; row++) {
        ok(sentence(row->doc), "%s %s has no doc: %s", owner, row->name,
           row->doc ? row->doc : "NULL");
        for (const struct cr_opt *other = opts; other != row; other++)
            if (strcmp(other->name, row->name) == 0)
                ok(false, "%s has %s twice", owner, row->name);
        if (row->at >= size)
            ok(false, "%s %s is outside its struct", owner, row->name);
        if (row->type == CR_OPT_ENUM &&
            (!row->choices || row->int_default < 0))
            ok(false, "%s %s has no choices", owner, row->name);
        if (row->type == CR_OPT_ENUM && row->need == CR_DEFAULT) {
            const char *const *word = cr_opt_choices(&mem, row);
            int n = 0;

            while (word[n])
                n++;
            if (row->int_default >= n)
                ok(false, "%s %s: no such default", owner, row->name);
        }
        if (row->need == CR_DEFAULT && row->type == CR_OPT_REAL &&
            !(row->real_default >= row->min && row->real_default <= row->max))
            ok(false, "%s %s: default out of range", owner, row->name);
        if (row->need == CR_DEFAULT && row->type == CR_OPT_INT &&
            !((double)row->int_default >= row->min &&
              (double)row->int_default <= row->max))
            ok(false, "%s %s: default out of range", owner, row->name);
        if (row->need == CR_DEFAULT && row->type == CR_OPT_QUANTITY) {
            struct cr_quantity a;

            if (!cr_quantity_parse(row->text, (enum cr_unit)row->int_default,
                                   &a))
                ok(false, "%s %s: default is not a quantity", owner, row->name);
        }
        if (row->need == CR_DEFAULT && row->type == CR_OPT_OBJ) {
            char *end;

            strtod(row->text, &end);
            if (*end && !cr_registry_find(row->kind, row->text))
                ok(false, "%s %s: no default %s", owner, row->name,
                   row->text);
        }
        if (row->type == CR_OPT_SUB)
            rows(cr_strf(&mem, "%s %s", owner, row->name), row->sub,
                 size - row->at);
    }
    cr_arena_free(&mem);
}

/* Flags of one command must not mean two things. */
static void flags(const struct cr_descriptor *command)
{
    bool good = true;

    for (const struct cr_opt *a = command->opts; a && a->name; a++) {
        for (const struct cr_opt *b = cr_cli_rows; b->name; b++)
            if (strcmp(a->name, b->name) == 0 ||
                (a->flag && a->flag == b->flag))
                good = false;
        for (const struct cr_opt *b = command->opts; b != a; b++)
            if (a->flag && a->flag == b->flag)
                good = false;
    }
    ok(good, "%s: every flag means one thing", command->name);
}

/* Calls a check for every entry of the registry, as one test. */
static void every(const char *name,
                  void (*check)(enum cr_kind, const struct cr_descriptor *))
{
    test_begin("%s", name);
    for (int k = 0; k < CR_KINDS; k++)
        for (const struct cr_descriptor *const *p =
                 cr_registry_list((enum cr_kind)k);
             *p; p++)
            check((enum cr_kind)k, *p);
    test_end();
}

static void summary(enum cr_kind kind, const struct cr_descriptor *entry)
{
    ok(sentence(entry->summary), "%s %s", cr_kind_name(kind), entry->name);
}

static void found(enum cr_kind kind, const struct cr_descriptor *entry)
{
    ok(cr_registry_find(kind, entry->name) == entry, "%s %s",
       cr_kind_name(kind), entry->name);
}

static void options(enum cr_kind kind, const struct cr_descriptor *entry)
{
    rows(entry->name, entry->opts, entry->size);
    if (kind == CR_KIND_COMMAND)
        flags(entry);
}

static void example(enum cr_kind kind, const struct cr_descriptor *entry)
{
    ok(entry->example || kind == CR_KIND_OP || kind == CR_KIND_FORMAT,
       "%s %s", cr_kind_name(kind), entry->name);
}

int main(void)
{
    order();
    every("every entry has a summary", summary);
    every("every entry is found by its name", found);
    every("every option has a text, a place and a sound default", options);
    every("every entry that a config names has an example", example);
    return done();
}
