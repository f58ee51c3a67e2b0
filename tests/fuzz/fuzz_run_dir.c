/*
 * Any bytes as the files of a run directory: found, listed, exported, reported
 * as a page, and as a point of a sweep. The page has no elements but its own.
 *
 * The input is a text with a line "=== NAME" before the bytes of each file. A
 * file eval/ARRAY is the member ARRAY.npy of eval.npz, whose checksums are
 * right.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/str.h"
#include "base/table.h"
#include "report/report.h"
#include "rundir/export.h"
#include "rundir/run_groups.h"
#include "rundir/run_names.h"
#include "sweep/sweep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {
    "record.json", "metrics.jsonl", "samples.json", "resolved.yaml",
    "config.yaml", "command",       "log.txt",      "lock",
    "eval.npz",    "claim",
};

static char top[64]; /* folder of the run p and of its claim */

static void clean(void)
{
    char path[128];

    for (size_t i = 0; i < CR_LEN(files); i++) {
        snprintf(path, sizeof path, "%s/p/%s", top, files[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/.sweep/p", top);
    unlink(path);
    snprintf(path, sizeof path, "%s/.sweep", top);
    rmdir(path);
    snprintf(path, sizeof path, "%s/p", top);
    rmdir(path);
    rmdir(top);
}

static void make(void)
{
    const char *in = getenv("TMPDIR");

    snprintf(top, sizeof top, "%.40s/fuzz.XXXXXX", in ? in : "/tmp");
    if (!mkdtemp(top))
        abort();
    atexit(clean);
}

static void put(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

/* ---- eval.npz: a ZIP archive of members that are stored */

struct archive {
    struct cr_buf local, central;
    unsigned n;
};

static void number(struct cr_buf *to, size_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        cr_buf_char(to, (char)(value & 0xff));
}

static void member(struct archive *a, const char *name, size_t len,
                   const void *data, size_t size)
{
    size_t crc = crc32(0, data, (uInt)size), at = a->local.len;
    struct cr_buf head = { .arena = a->local.arena };

    number(&head, 20, 4); /* version, no flags */
    number(&head, 0, 6);  /* stored, no time */
    number(&head, crc, 4);
    number(&head, size, 4);
    number(&head, size, 4);
    number(&head, len + 4, 4); /* of the name, with .npy; no extra field */
    cr_buf_str(&a->local, "PK\3\4");
    cr_buf_add(&a->local, head.text, head.len);
    cr_buf_add(&a->local, name, len);
    cr_buf_str(&a->local, ".npy");
    cr_buf_add(&a->local, data, size);
    cr_buf_str(&a->central, "PK\1\2");
    number(&a->central, 20, 2);
    cr_buf_add(&a->central, head.text, head.len);
    number(&a->central, 0, 10); /* no comment, disk, attributes */
    number(&a->central, at, 4);
    cr_buf_add(&a->central, name, len);
    cr_buf_str(&a->central, ".npy");
    a->n++;
}

static void finish(struct archive *a)
{
    size_t at = a->local.len;

    cr_buf_add(&a->local, cr_buf_text(&a->central), a->central.len);
    cr_buf_str(&a->local, "PK\5\6");
    number(&a->local, 0, 4);
    number(&a->local, a->n, 2);
    number(&a->local, a->n, 2);
    number(&a->local, a->central.len, 4);
    number(&a->local, at, 4);
    number(&a->local, 0, 2);
}

/* ---- The files of an input */

static void file(struct archive *a, const char *name, size_t len,
                 const uint8_t *data, size_t size)
{
    char path[128];

    if (len > 5 && len < 30 && memcmp(name, "eval/", 5) == 0) {
        member(a, name + 5, len - 5, data, size);
        return;
    }
    for (size_t i = 0; i < CR_LEN(files); i++)
        if (strlen(files[i]) == len && memcmp(files[i], name, len) == 0) {
            snprintf(path, sizeof path,
                     strcmp(files[i], "claim") == 0 ? "%s/.sweep/p"
                                                    : "%s/p/%s",
                     top, files[i]);
            put(path, data, size);
        }
}

static void unpack(struct cr_arena *mem, const uint8_t *data, size_t size)
{
    static const char mark[] = "=== ";
    struct archive a = { .local = { .arena = mem },
                         .central = { .arena = mem } };
    const uint8_t *end = data + size, *next;
    char path[128];

    for (const uint8_t *at = data; at < end; at = next) {
        const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
        const uint8_t *p;

        next = end;
        if (!line || (size_t)(end - at) < 4 || memcmp(at, mark, 4) != 0)
            break;
        for (p = line + 1; next == end && p && p < end; ) {
            if ((size_t)(end - p) >= 4 && memcmp(p, mark, 4) == 0)
                next = p;
            p = memchr(p, '\n', (size_t)(end - p));
            p = p ? p + 1 : NULL;
        }
        file(&a, (const char *)at + 4, (size_t)(line - at - 4), line + 1,
             (size_t)(next - line - 1));
    }
    if (a.n > 0) {
        finish(&a);
        snprintf(path, sizeof path, "%s/p/eval.npz", top);
        put(path, a.local.text, a.local.len);
    }
}

/* ---- What is made of them */

/* Elements come from the program: texts of the run are escaped. */
static void check_page(const char *page)
{
    static const char *const script = "<script>";
    const char *first = strstr(page, script);

    if (!first || strstr(first + 1, script))
        abort();
    for (const char *p = page; (p = strstr(p, "href=\"")) != NULL; p += 6)
        if (p < first && p[6] != '#')
            abort();
    for (const char *p = page; p < first; p++)
        if ((*p == '<' && (cr_starts(p, "<b>") || cr_starts(p, "<i>") ||
                           !strchr("/!abcdefghijklmnopqrstuvwxyz", p[1]))) ||
            (unsigned char)*p == 0x1b)
            abort();
}

static void check_table(struct cr_runs *runs)
{
    struct cr_table table = { .arena = runs->arena };
    struct cr_buf out = { .arena = runs->arena };

    if (cr_run_groups_table(runs, "seed", true, &table))
        for (int i = 0; i < table.cells; i++)
            if (strchr(table.cell[i], 0x1b))
                abort();
    if (cr_runs_export(runs, false, &out) && strchr(out.text, 0x1b))
        abort();
}

static void check_point(struct cr_cli *cli, const char *dir)
{
    struct cr_sweep sweep = { .cli = cli, .arena = cli->arena,
                              .diag = cli->diag, .dir = top };
    struct cr_sweep_point point = { .id = "p", .dir = dir };

    cr_sweep_refresh(&sweep, &point);
    cr_sweep_refresh(&sweep, &point);
    if (!cr_sweep_state_name(point.state))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_cli cli = { .arena = &mem, .diag = &diag };
    struct cr_runs runs = { .arena = &mem, .diag = &diag };
    struct cr_buf page = { .arena = &mem };
    char dir[80], path[128];

    if (!*top)
        make();
    snprintf(dir, sizeof dir, "%s/p", top);
    snprintf(path, sizeof path, "%s/.sweep", top);
    mkdir(dir, 0700);
    mkdir(path, 0700);
    unpack(&mem, data, size);
    if (cr_runs_add_named(&runs, top, dir, CR_NOWHERE)) {
        cr_report_page(&cli, &runs, 0, &page);
        check_page(page.text);
        check_table(&runs);
        if (runs.n == 1) { /* once more, as one of several */
            struct cr_runs two = { .arena = &mem, .diag = &diag, .n = 2,
                                   .run = (struct cr_run[]){ runs.run[0],
                                                             runs.run[0] } };

            page.len = 0;
            cr_report_page(&cli, &two, 0, &page);
            check_page(page.text);
        }
    }
    check_point(&cli, dir);
    clean();
    cr_arena_free(&mem);
    if (mkdir(top, 0700) != 0)
        abort();
    return 0;
}
