/*
 * Opening plug-ins: from a file to cells in the registry, or a message that
 * says why not. Everything that a description can say is checked here, so
 * that whoever uses the cells need not.
 */
#include "plugin/plugin.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/str.h"
#include "conf/config.h"
#include "conf/yaml.h"

#define NAME_MAX_LEN 64
#define MANY 1000 /* cells, options, choices: more are a list without end */

/* A file that was loaded. */
struct loaded {
    const char *path; /* absolute, without links */
    char hash[CR_SHA256_DIGITS + 1]; /* of its bytes when it was loaded */
    const struct cr_plugin_cell **cells;
    struct loaded *next;
};

/* With base/thread_pool.h's threads the other thing that belongs to the
 * process: shared objects stay in it, and so does what describes them. */
static struct cr_arena plugin_mem;
static struct loaded *plugin_files;

struct opener {
    struct cr_diag *diag;
    struct cr_pos pos;
    const char *name; /* as messages call the file */
    const struct cellrun_plugin *plugin;
};

static bool plugin_wrong(const struct opener *o, const char *format, ...)
    CR_PRINTF(2, 3);

static bool plugin_wrong(const struct opener *o, const char *format, ...)
{
    va_list args;
    const char *text;

    va_start(args, format);
    text = cr_vstrf(o->diag->arena, format, args);
    va_end(args);
    return cr_error(o->diag, o->pos, CR_E_PLUGIN, "plug-in '%s': %s",
                    cr_quote(o->diag->arena, o->name, strlen(o->name)), text);
}

/* ---- the file ---- */

/* SHA-256 of the bytes; false where they cannot be read. */
static bool plugin_hash(FILE *f, char hex[CR_SHA256_DIGITS + 1])
{
    struct cr_sha256 hash;
    char buf[1 << 14];
    size_t n;

    cr_sha256_start(&hash);
    rewind(f);
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        cr_sha256_add(&hash, buf, n);
    cr_sha256_end(&hash, hex);
    return !ferror(f);
}

/* Whether the file holds all that it says it does: a shared object that was
 * cut off can end the program when it is opened. What is no shared object of
 * this machine at all, dlopen tells. */
static bool plugin_whole(const struct opener *o, FILE *f, off_t size)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    bool whole = true;
    int i;

    rewind(f);
    if (fread(&head, sizeof head, 1, f) != 1 ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != __ELF_NATIVE_CLASS / 32 ||
        head.e_phentsize != sizeof part)
        return true;
    for (i = 0; i < head.e_phnum && whole; i++)
        whole = fseeko(f, (off_t)(head.e_phoff + (size_t)i * sizeof part),
                       SEEK_SET) == 0 &&
                fread(&part, sizeof part, 1, f) == 1 &&
                (part.p_type != PT_LOAD ||
                 (part.p_offset <= (size_t)size &&
                  part.p_filesz <= (size_t)size - part.p_offset));
    /* sections, which linkers write last, are not needed, but missed */
    whole =
        whole && head.e_shoff <= (size_t)size &&
        (size_t)head.e_shnum * head.e_shentsize <= (size_t)size - head.e_shoff;
    return whole || plugin_wrong(o,
                                 "truncated file: it has %lld bytes, fewer "
                                 "than its header declares",
                                 (long long)size);
}

static bool plugin_versions(const struct opener *o)
{
    const struct cellrun_plugin *p = o->plugin;
    /* older versions are the same but for the last members, which they never
     * read */
    size_t step_size = p->abi == 1   ? offsetof(struct cellrun_step, error)
                       : p->abi == 2 ? offsetof(struct cellrun_step, print)
                                     : sizeof(struct cellrun_step);
    bool ok;

    if (p->magic != CELLRUN_MAGIC)
        return plugin_wrong(o, "symbol 'cellrun_plugin' was not created by the "
                               "macro CELLRUN_PLUGIN of cellrun.h");
    if ((p->abi < 1 || p->abi > CELLRUN_ABI)) {
        ok = plugin_wrong(o,
                          "built for version %" PRIu32 " of cellrun.h, this "
                          "cellrun has version %d",
                          p->abi, CELLRUN_ABI);
        cr_hint(o->diag, "build it again with this cellrun's cellrun.h");
        return ok;
    }
    if (p->plugin_size == sizeof *p &&
        p->cell_size == sizeof(struct cellrun_cell) &&
        p->option_size == sizeof(struct cellrun_option) &&
        p->param_size == sizeof(struct cellrun_param) &&
        p->plan_size == sizeof(struct cellrun_plan) &&
        p->step_size == step_size &&
        (p->real_size == sizeof(float) || p->real_size == sizeof(double)))
        return true;
    ok = plugin_wrong(o, "the sizes of its structs differ from those of this "
                         "cellrun's cellrun.h");
    cr_hint(o->diag, "build it again with this cellrun's cellrun.h");
    return ok;
}

/* ---- descriptions ---- */

static bool name_ok(const char *name, bool capital)
{
    size_t i, n = strlen(name);

    if (n == 0 || n > NAME_MAX_LEN)
        return false;
    for (i = 0; i < n; i++) {
        char c = name[i];
        bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
        bool digit = c >= '0' && c <= '9';

        if (i == 0 ? (capital ? !upper : !lower && c != '_')
                   : !(lower || digit || c == '_' || (capital && upper)))
            return false;
    }
    return true;
}

static bool name_wrong(const struct opener *o, const char *cell,
                       const char *what, const char *name)
{
    return plugin_wrong(
        o, "%s: %s '%s' is not a name of lower-case letters, digits and _",
        cell, what, cr_quote(o->diag->arena, name, strlen(name)));
}

static bool option_number(const struct opener *o, const char *cell,
                          const struct cellrun_option *of, struct cr_opt *row)
{
    bool any = of->low == 0 && of->high == 0;

    row->type = of->type == CELLRUN_INTEGER ? CR_OPT_INT : CR_OPT_REAL;
    row->min = any ? of->type == CELLRUN_INTEGER ? -0x1p53 : -DBL_MAX : of->low;
    row->max = any ? of->type == CELLRUN_INTEGER ? 0x1p53 : DBL_MAX : of->high;
    row->real_default = of->number;
    if (!(row->min <= row->max))
        return plugin_wrong(o, "%s: the range of option '%s' is empty", cell,
                            of->name);
    if (of->required)
        return true;
    if (!(of->number >= row->min && of->number <= row->max))
        return plugin_wrong(o, "%s: the default of option '%s' is out of range",
                            cell, of->name);
    if (of->type == CELLRUN_INTEGER) {
        if (of->number != floor(of->number) || fabs(of->number) > 0x1p53)
            return plugin_wrong(
                o, "%s: the default of option '%s' is not an integer", cell,
                of->name);
        row->int_default = (int64_t)of->number;
    }
    return true;
}

static bool option_choice(const struct opener *o, const char *cell,
                          const struct cellrun_option *of, struct cr_opt *row)
{
    const char *const *words;
    int i;

    row->type = CR_OPT_ENUM;
    if (!of->choices || !of->choices[0])
        return plugin_wrong(o, "%s: option '%s' has no choices", cell,
                            of->name);
    row->choices = of->choices;
    words = cr_opt_choices(&plugin_mem, row);
    if (!of->text || of->required)
        return true;
    for (i = 0; words[i]; i++)
        if (strcmp(words[i], of->text) == 0) {
            row->int_default = i;
            return true;
        }
    return plugin_wrong(o,
                        "%s: the default of option '%s' is not among its "
                        "choices",
                        cell, of->name);
}

static bool option_row(const struct opener *o, const char *cell,
                       const struct cellrun_option *of, struct cr_opt *row)
{
    row->name = of->name;
    row->doc = of->doc ? of->doc : "";
    row->need = of->required ? CR_REQUIRED : CR_DEFAULT;
    switch (of->type) {
    case CELLRUN_INTEGER:
    case CELLRUN_REAL:
        return option_number(o, cell, of, row);
    case CELLRUN_BOOL:
        row->type = CR_OPT_BOOL;
        row->int_default = of->number != 0;
        return true;
    case CELLRUN_TEXT:
        row->type = CR_OPT_STR;
        row->text = of->text;
        if (!of->required && !of->text)
            row->need = CR_OPTIONAL;
        return true;
    case CELLRUN_CHOICE:
        return option_choice(o, cell, of, row);
    default:
        return plugin_wrong(o, "%s: option '%s' has the unknown type %d", cell,
                            of->name, of->type);
    }
}

static bool cell_options(const struct opener *o, struct cr_plugin_cell *c)
{
    const struct cellrun_option *of = c->of->options;
    struct cr_opt *rows;
    int i, k, n = 0;

    while (of && n < MANY && of[n].name)
        n++;
    if (n == MANY)
        return plugin_wrong(o, "%s: its options do not end with a zeroed row",
                            c->of->name);
    rows = CR_NEWS(&plugin_mem, struct cr_opt, n + 1);
    for (i = 0; i < n; i++) {
        if (!name_ok(of[i].name, false))
            return name_wrong(o, c->of->name, "the option", of[i].name);
        for (k = 0; k < i; k++)
            if (strcmp(of[k].name, of[i].name) == 0)
                return plugin_wrong(o, "%s: duplicate option '%s'", c->of->name,
                                    of[i].name);
        rows[i].at = (size_t)i * sizeof(union cellrun_value);
        if (!option_row(o, c->of->name, &of[i], &rows[i]))
            return false;
    }
    c->cell.about.opts = n > 0 ? rows : NULL;
    c->cell.about.size = (size_t)n * sizeof(union cellrun_value);
    return true;
}

static bool cell_inputs(const struct opener *o, struct cr_plugin_cell *c)
{
    static const char *const one[] = { "x", NULL };
    const char *const *names = c->of->inputs ? c->of->inputs : one;

    while (c->n_in <= CR_OP_MAX && names[c->n_in]) {
        if (!name_ok(names[c->n_in], false))
            return name_wrong(o, c->of->name, "the input", names[c->n_in]);
        c->n_in++;
    }
    c->cell.inputs = names;
    c->n_out = c->of->outputs ? c->of->outputs : 1;
    if (c->n_in < 1 || c->n_out < 1 || c->n_out > CELLRUN_TENSORS_MAX)
        return plugin_wrong(
            o, "%s: found %d inputs and %d outputs, expected 1 to %d each",
            c->of->name, c->n_in, c->n_out, CELLRUN_TENSORS_MAX);
    return true;
}

/* The initialiser that a parameter's text names. */
static bool param_init(const struct opener *o, const struct cr_plugin_cell *c,
                       const struct cellrun_param *of, struct cr_obj *to)
{
    struct cr_diag diag = { .arena = &plugin_mem };
    struct cr_source *src = CR_NEW(&plugin_mem, struct cr_source);
    const struct cr_node *node;

    *to = (struct cr_obj){ 0 };
    if (!of->init)
        return true;
    src->name = cr_strf(&plugin_mem, "'%s' of %s in %s", of->name, c->of->name,
                        o->name);
    src->text = cr_strdup(&plugin_mem, of->init);
    src->len = strlen(src->text);
    node = cr_yaml_read(&plugin_mem, &diag, src, 0, src->len);
    if (node && diag.errors == 0 &&
        cr_obj_read(&plugin_mem, &diag, CR_KIND_INIT, node, to))
        return true;
    plugin_wrong(o, "%s: parameter '%s' has the invalid initialiser '%s': %s",
                 c->of->name, of->name,
                 cr_quote(o->diag->arena, of->init, strlen(of->init)),
                 diag.first ? diag.first->text : "it is empty");
    return false;
}

static bool cell_params(const struct opener *o, struct cr_plugin_cell *c)
{
    const struct cellrun_param *of = c->of->params;
    struct cr_obj *init;
    int i, k, n = 0;

    while (of && n <= CELLRUN_TENSORS_MAX && of[n].name)
        n++;
    if (c->n_in + n > CELLRUN_TENSORS_MAX)
        return plugin_wrong(o, "%s: more than %d inputs and parameters",
                            c->of->name, CELLRUN_TENSORS_MAX);
    c->n_params = n;
    c->init = init = CR_NEWS(&plugin_mem, struct cr_obj, n + 1);
    for (i = 0; i < n; i++) {
        if (!name_ok(of[i].name, false))
            return name_wrong(o, c->of->name, "the parameter", of[i].name);
        for (k = 0; k < i; k++)
            if (strcmp(of[k].name, of[i].name) == 0)
                return plugin_wrong(o, "%s: duplicate parameter '%s'",
                                    c->of->name, of[i].name);
        if (of[i].role < CELLRUN_TRAINED || of[i].role > CELLRUN_STATISTIC)
            return plugin_wrong(o, "%s: parameter '%s' has the unknown role %d",
                                c->of->name, of[i].name, of[i].role);
        if (of[i].role == CELLRUN_TRAINED && !c->of->bprop)
            return plugin_wrong(
                o, "%s: parameter '%s' cannot be trained without bprop",
                c->of->name, of[i].name);
        if (of[i].role == CELLRUN_STATISTIC &&
            (c->of->flags & CELLRUN_SAMPLES_APART))
            return plugin_wrong(o,
                                "%s: CELLRUN_SAMPLES_APART is not allowed for "
                                "cells with statistics",
                                c->of->name);
        if (of[i].role == CELLRUN_TRAINED &&
            (c->of->flags & CELLRUN_SPLIT_BPROP))
            return plugin_wrong(o,
                                "%s: CELLRUN_SPLIT_BPROP is not allowed for "
                                "cells with trained parameters",
                                c->of->name);
        if (!param_init(o, c, &of[i], &init[i]))
            return false;
    }
    if (n > 0 && !c->of->shape)
        return plugin_wrong(o, "%s: a cell with parameters must set 'shape'",
                            c->of->name);
    return true;
}

/* A name that something else has: a built-in cell, another plug-in's. */
static bool name_free(const struct opener *o, const char *name)
{
    const struct cr_descriptor *about = cr_registry_find(CR_KIND_CELL, name);
    const struct loaded *f;
    int i;

    for (f = plugin_files; f; f = f->next)
        for (i = 0; f->cells[i]; i++)
            if (&f->cells[i]->cell.about == about)
                return plugin_wrong(o, "plug-in '%s' already has a cell %s",
                                    f->cells[i]->file, name);
    if (about || cr_registry_find(CR_KIND_LOSS, name))
        return plugin_wrong(
            o, "%s is a built-in %s; choose another name for the cell", name,
            cr_kind_name(about ? CR_KIND_CELL : CR_KIND_LOSS));
    return true;
}

static bool plugin_cell(const struct opener *o, const struct cellrun_cell *of,
                        struct cr_plugin_cell *c)
{
    if (!of->name || !name_ok(of->name, true))
        return plugin_wrong(
            o,
            "'%s' is not a valid cell name: expected a capital letter, then "
            "letters, digits and _",
            of->name ? cr_quote(o->diag->arena, of->name, strlen(of->name))
                     : "");
    if (!name_free(o, of->name))
        return false;
    if (!of->forward)
        return plugin_wrong(o, "%s: it has no 'forward'", of->name);
    if (of->flags & ~(unsigned)(CELLRUN_SPLIT_FORWARD | CELLRUN_SPLIT_BPROP |
                                CELLRUN_SAMPLES_APART))
        return plugin_wrong(o, "%s: unknown flags %#x", of->name, of->flags);
    c->of = of;
    c->file = o->name;
    c->real_size = o->plugin->real_size;
    c->cell.about.name = of->name;
    c->cell.about.summary = of->summary ? of->summary : "A cell of a plug-in.";
    c->cell.about.detail = of->detail;
    if (!cell_options(o, c) || !cell_inputs(o, c) || !cell_params(o, c))
        return false;
    cr_plugin_cell_make(c);
    return true;
}

/* All cells of the file, or none. */
static const struct cr_plugin_cell **plugin_read(const struct opener *o)
{
    const struct cellrun_cell *const *list = o->plugin->cells;
    const struct cr_plugin_cell **cells;
    int i, k, n = 0;

    while (list && n < MANY && list[n])
        n++;
    if (n == 0 || n == MANY) {
        plugin_wrong(o, "it has no cell");
        return NULL;
    }
    cells = CR_NEWS(&plugin_mem, const struct cr_plugin_cell *, n + 1);
    for (i = 0; i < n; i++) {
        struct cr_plugin_cell *c = CR_NEW(&plugin_mem, struct cr_plugin_cell);

        if (!plugin_cell(o, list[i], c))
            return NULL;
        for (k = 0; k < i; k++)
            if (strcmp(cells[k]->of->name, c->of->name) == 0) {
                plugin_wrong(o, "duplicate cell %s", c->of->name);
                return NULL;
            }
        cells[i] = c;
    }
    return cells;
}

/* ---- loading ---- */

static const struct loaded *plugin_known(const char *path)
{
    char *real = realpath(path, NULL);
    const struct loaded *f = plugin_files;

    while (f && (!real || strcmp(f->path, real) != 0))
        f = f->next;
    free(real);
    return f;
}

static const struct cr_plugin_cell **plugin_open(struct opener *o,
                                                 const char *path)
{
    const struct cr_plugin_cell **cells = NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        plugin_wrong(o, "cannot be opened: %s", dlerror());
        return NULL;
    }
    o->plugin = dlsym(handle, "cellrun_plugin");
    if (!o->plugin)
        plugin_wrong(o, "not a plug-in of cellrun: symbol 'cellrun_plugin' not "
                        "found; create it with CELLRUN_PLUGIN of cellrun.h");
    else if (plugin_versions(o))
        cells = plugin_read(o);
    if (!cells)
        dlclose(handle);
    return cells;
}

static bool plugin_marked(const struct cr_node *marks, const char *hash)
{
    for (CR_EACH(m, marks)) /* under whatever name */
        if (m->kind == CR_NODE_STR && strcmp(m->text, hash) == 0)
            return true;
    return false;
}

/* The first hash of the marks that belongs to a file of that name. */
static const char *plugin_mark(const struct cr_node *marks, const char *name)
{
    const struct cr_node *m = cr_node_get(marks, name);

    return m && m->kind == CR_NODE_STR ? m->text : "none";
}

/* Opens the regular file at `path`, with its real path in `to`. */
static FILE *plugin_file(struct opener *o, const char *path, struct loaded *to,
                         struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
    char *real = realpath(path, NULL);

    to->path = real ? cr_strdup(&plugin_mem, real) : NULL;
    free(real);
    if (!f && fd >= 0)
        close(fd);
    if (!f || !to->path || fstat(fd, st) != 0) {
        plugin_wrong(o, "%s", strerror(errno));
    } else if (!S_ISREG(st->st_mode)) {
        plugin_wrong(o, "found a %s, expected a file",
                     S_ISDIR(st->st_mode) ? "folder" : "device");
    } else {
        return f;
    }
    if (f)
        fclose(f);
    return NULL;
}

/* With marks only a file that has one of these hashes is opened: that very
 * file, whatever its name means a moment later. */
static bool plugin_load(struct opener *o, const char *path,
                        const struct cr_node *marks)
{
    struct loaded *f = CR_NEW(&plugin_mem, struct loaded);
    struct stat st;
    FILE *file = plugin_file(o, path, f, &st);
    int i;

    if (!file)
        return false;
    if (!plugin_hash(file, f->hash)) {
        plugin_wrong(o, "%s", strerror(errno));
    } else if (marks && !plugin_marked(marks, f->hash)) {
        cr_error(o->diag, o->pos, CR_E_TRUST,
                 "plug-in '%s' has changed since training: expected SHA-256 "
                 "%s, found %s",
                 cr_quote(o->diag->arena, o->name, strlen(o->name)),
                 plugin_mark(marks, o->name), f->hash);
        cr_note(o->diag,
                "use plugin=PATH on the command line to open it nevertheless");
    } else if (plugin_whole(o, file, st.st_size)) {
        f->cells = plugin_open(
            o, marks ? cr_strf(&plugin_mem, "/proc/self/fd/%d", fileno(file))
                     : f->path);
    }
    /* a name below /proc is that of the same file while it is open */
    if (!f->cells || !marks)
        fclose(file);
    if (!f->cells)
        return false;
    f->next = plugin_files;
    plugin_files = f;
    for (i = 0; f->cells[i]; i++)
        cr_registry_add(CR_KIND_CELL, &f->cells[i]->cell.about);
    return true;
}

bool cr_plugin_load(struct cr_diag *diag, struct cr_pos pos, const char *path)
{
    struct opener o = { .diag = diag,
                        .pos = pos,
                        .name = cr_strdup(&plugin_mem, cr_path_base(path)) };

    return plugin_known(path) || plugin_load(&o, path, NULL);
}

const struct cr_plugin_cell *const *cr_plugin_cells(const char *path)
{
    const struct loaded *f = plugin_known(path);

    return f ? f->cells : NULL;
}

/* ---- the section ---- */

struct plugin_section {
    struct cr_strs plugin;
};

static const struct cr_opt plugin_opts[] = {
    CR_STRS_OPTIONAL(
        struct plugin_section, plugin,
        "A shared object, or a list of shared objects: relative to the folder "
        "of the config, else to the folders of CELLRUN_DATA."),
    { 0 },
};

const struct cr_section cr_section_plugin = {
    .about = {
        .name = "plugin",
        .summary = "Shared objects with cells written in C.",
        .detail =
            "A plug-in is built with the installed header cellrun.h, which "
            "documents the interface: forward and bprop on plain arrays, own "
            "parameters, options and shapes. `cellrun plugin new NAME` writes "
            "an example; `cellrun help NAME --plugin FILE` documents its "
            "cells, which are used in `network` like built-in cells. A file "
            "that is missing, is not a plug-in, is built for another version "
            "of the header, or has a cell whose name is taken is an error. A "
            "plug-in is native code: it runs when a command that builds the "
            "network reads a config that names it. check and config do not "
            "open plug-ins, and check lists the files that a run would open. "
            "The checkpoint keeps the path and the SHA-256 of the file. A "
            "plug-in named by a checkpoint is opened only in a checkpoint of "
            "your own run or with --trust, and only if it is the same file; "
            "plugin=PATH on the command line opens any file. See SECURITY in "
            "cellrun(1).",
        .example = "plugin: my_scale/my_scale.so\n"
                   "network: [{MyScale: {gain: 2}}, {Dense: {out_channels: "
                   "10}}]\n",
        .opts = plugin_opts,
        .size = sizeof(struct plugin_section),
    },
};

/* The files of the section; paths that lead nowhere are NULL. */
static struct cr_strs plugin_paths(struct cr_config *config,
                                   struct plugin_section *section)
{
    struct cr_strs paths = { 0 };
    const char **v;
    int i;

    if (!cr_section(config, "plugin") ||
        !cr_section_read(config, "plugin", section))
        return paths;
    v = CR_NEWS(config->arena, const char *, section->plugin.n + 1);
    for (i = 0; i < section->plugin.n; i++)
        v[i] = cr_config_path(config, CR_OPEN_PLUGIN, section->plugin.v[i]);
    paths.n = section->plugin.n;
    paths.v = v;
    return paths;
}

/* A plug-in that the config of a checkpoint names must be the file that the
 * network was trained with; one that the command line names need not. */
static bool plugin_open_named(struct cr_config *config, struct cr_pos pos,
                              const char *path)
{
    struct opener o = { .diag = config->diag,
                        .pos = pos,
                        .name = cr_strdup(&plugin_mem, cr_path_base(path)) };
    bool typed = cr_config_kind(config, pos) == CR_FROM_LINE;

    return config->closed || plugin_known(path) ||
           plugin_load(&o, path, typed ? NULL : config->plugin_marks);
}

bool cr_config_plugins(struct cr_config *config)
{
    const struct cr_node *node = cr_section(config, "plugin"), *m;
    struct cr_diag *diag = config->diag;
    struct plugin_section section = { 0 };
    int i, before = diag->errors;
    struct cr_strs paths = plugin_paths(config, &section);

    m = node && node->kind == CR_NODE_LIST ? node->child : node;
    for (i = 0; i < paths.n; i++, m = m->next) {
        const char *name = section.plugin.v[i];

        if (paths.v[i]) {
            plugin_open_named(config, m->pos, paths.v[i]);
            continue;
        }
        if (!cr_config_may_path(config, CR_OPEN_PLUGIN, name))
            continue;
        cr_error(diag, m->pos, CR_E_PLUGIN, "plug-in '%s' not found",
                 cr_quote(config->arena, name, strlen(name)));
        cr_note(diag,
                "a path is relative to the folder of its config (%s), else to "
                "the folders of CELLRUN_DATA%s%s",
                config->dir, getenv("CELLRUN_DATA") ? ": " : "",
                getenv("CELLRUN_DATA") ? getenv("CELLRUN_DATA") : "");
        cr_note(diag,
                "use plugin=PATH on the command line to open another file");
    }
    return diag->errors == before;
}

const struct cr_node *cr_plugin_marks(struct cr_config *config)
{
    struct plugin_section section = { 0 };
    struct cr_strs paths = plugin_paths(config, &section);
    struct cr_node *map, *m, **end;
    int i;

    map = CR_NEW(config->arena, struct cr_node);
    map->kind = CR_NODE_MAP;
    end = &map->child;
    for (i = 0; i < paths.n; i++) {
        const struct loaded *f = paths.v[i] ? plugin_known(paths.v[i]) : NULL;
        const char *key = cr_path_base(section.plugin.v[i]);

        if (!f || cr_node_get(map, key))
            continue;
        m = CR_NEW(config->arena, struct cr_node);
        m->kind = CR_NODE_STR;
        m->quoted = true;
        m->key = cr_strdup(config->arena, key);
        m->text = f->hash;
        *end = m;
        end = &m->next;
    }
    return map->child ? map : NULL;
}

void cr_plugin_compare(struct cr_config *config, const struct cr_node *marks,
                       struct cr_pos pos)
{
    const struct cr_node *now = marks ? cr_plugin_marks(config) : NULL;

    for (CR_EACH(was, marks))
        if (was->kind == CR_NODE_STR && !plugin_marked(now, was->text))
            cr_warn(config->diag, pos, CR_E_PLUGIN,
                    "plug-in '%s' has changed since training: expected "
                    "SHA-256 %s, found %s",
                    cr_quote(config->arena, was->key, strlen(was->key)),
                    was->text, plugin_mark(now, was->key));
}

bool cr_plugin_each(struct cr_config *config,
                    void (*each)(void *ctx, const char *path,
                                 const char *sha256),
                    void *ctx)
{
    struct plugin_section section = { 0 };
    struct cr_strs paths = plugin_paths(config, &section);
    struct opener o = { .diag = config->diag };
    const struct cr_node *m = cr_section(config, "plugin");
    bool ok = true;

    m = m && m->kind == CR_NODE_LIST ? m->child : m;
    for (int i = 0; i < paths.n; i++, m = m->next) {
        struct loaded f = { 0 };
        struct stat st;
        FILE *file;

        o.pos = m->pos;
        o.name = section.plugin.v[i];
        file = paths.v[i] ? plugin_file(&o, paths.v[i], &f, &st) : NULL;
        ok = file && plugin_hash(file, f.hash) && ok;
        if (file) {
            each(ctx, paths.v[i], f.hash);
            fclose(file);
        }
    }
    return ok;
}
