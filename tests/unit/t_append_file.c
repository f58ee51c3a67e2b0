/* Files that lines are appended to: base/append_file.c. */
#include "tap.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/append_file.h"
#include "base/str.h"

static struct cr_arena arena;
static struct cr_diag diag = { .arena = &arena };
static const char *path;
static struct rlimit usual;

/* A disk that is full once files are that large. */
static void disk(rlim_t bytes)
{
    struct rlimit limit = usual;

    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, bytes ? &limit : &usual);
}

static void add(struct cr_append_file *f, const char *text)
{
    cr_append_file_add(f, text, strlen(text));
}

static const char *text(void)
{
    size_t len;

    return cr_read_file(&arena, &diag, CR_NOWHERE, path, CR_E_SYSTEM, 1 << 20,
                        &len);
}

static void appends(void)
{
    struct cr_append_file f = { 0 };

    add(&f, "nowhere\n");
    cr_append_file_flush(&f, &diag);
    ok(cr_append_file_close(&f, &diag), "a closed file takes lines nowhere");

    ok(cr_append_file_open(&f, &diag, path), "a file that is not there");
    add(&f, "one\n");
    same(text(), "", "lines wait");
    cr_append_file_sync(&f, &diag);
    same(text(), "one\n", "until they are flushed");
    add(&f, "two\n");
    ok(cr_append_file_close(&f, &diag), "or the file is closed");
    same(text(), "one\ntwo\n", "all lines are there");

    cr_write_file(&diag, path, "one\ncut o", 9);
    cr_append_file_open(&f, &diag, path);
    add(&f, "two\n");
    cr_append_file_close(&f, &diag);
    same(text(), "one\ncut o\ntwo\n", "a last line that was cut off is ended");
    ok(!diag.first, "and none of this is a problem");
}

static void full(void)
{
    struct cr_append_file f = { 0 };
    const char *partial;
    bool good;

    unlink(path);
    cr_append_file_open(&f, &diag, path);
    add(&f, "one\n");
    cr_append_file_flush(&f, &diag);
    disk(6);
    add(&f, "two\n");
    cr_append_file_flush(&f, &diag);
    add(&f, "three\n");
    cr_append_file_flush(&f, &diag);
    disk(0);
    partial = text();
    same(partial, "one\n", "a full disk leaves no line in part");
    ok(diag.errors == 0 && diag.first && !diag.first->next &&
           strstr(diag.first->text, "File too large"),
       "one warning for all consecutive flushes");
    add(&f, "four\n");
    cr_append_file_flush(&f, &diag);
    same(text(), "one\ntwo\nthree\nfour\n",
         "with room again the lines that waited follow");
    disk(6);
    add(&f, "five\n");
    add(&f, "six\n");
    good = cr_append_file_close(&f, &diag);
    disk(0);
    ok(!good && diag.errors == 1 &&
           strcmp(diag.last->text,
                  "2 lines could not be written: File too large") == 0,
       "lines that wait in vain are lost, which is an error");
    same(text(), "one\ntwo\nthree\nfour\n", "without a line in part");
    ok(!cr_append_file_open(&f, &diag, "/nowhere/file") && diag.errors == 2,
       "a file that cannot be opened is an error");
}

int main(void)
{
    char dir[] = "/tmp/cellrun-append-XXXXXX";

    if (!mkdtemp(dir))
        abort();
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &usual);
    path = cr_path_join(&arena, dir, "lines");
    appends();
    full();
    unlink(path);
    rmdir(dir);
    cr_arena_free(&arena);
    return done();
}
