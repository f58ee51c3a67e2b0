/*
 * A download is DIR/.fetch/FILE until it is complete, and an interrupted fetch
 * continues it. A file gets its name in DIR after it was verified; an archive
 * is unpacked to DIR/.fetch, and the files of its folder are then moved. So a
 * file in DIR is complete.
 */
#include "data/fetch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/gz.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/thread_pool.h"

extern char **environ;

/* The hashes of MNIST are those of the unpacked files, because several packings
 * are in circulation. */
const struct cr_public_set cr_public_sets[] = {
    { "mnist",
      "MnistDataset",
      "70000 handwritten digits, 28 x 28 (LeCun, Cortes, Burges 1998)",
      { "https://ossci-datasets.s3.amazonaws.com/mnist",
        "https://storage.googleapis.com/cvdf-datasets/mnist" },
      { { "train-images-idx3-ubyte.gz",
          "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db" },
        { "train-labels-idx1-ubyte.gz",
          "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5" },
        { "t10k-images-idx3-ubyte.gz",
          "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7" },
        { "t10k-labels-idx1-ubyte.gz",
          "ff7bcfd416de33731a308c3f266cc351"
          "222c34898ecbeaf847f06e48f7ec33f2" } },
      true,
      NULL,
      "train-images-idx3-ubyte" },
    { "cifar10",
      "Cifar10Dataset",
      "60000 images of 10 classes, 32 x 32 (Krizhevsky 2009)",
      { "https://www.cs.toronto.edu/~kriz", NULL },
      { { "cifar-10-binary.tar.gz",
          "c4a38c50a1bc5f3a1c5537f2155ab9d6"
          "8f9f25eb1ed8d9ddda3db29a59bca1dd" } },
      false,
      "cifar-10-batches-bin",
      "data_batch_1.bin" },
    { "cifar100",
      "Cifar100Dataset",
      "60000 images of 100 classes, 32 x 32 (Krizhevsky 2009)",
      { "https://www.cs.toronto.edu/~kriz", NULL },
      { { "cifar-100-binary.tar.gz",
          "58a81ae192c23a4be8b1804d68e518ed"
          "807d710a4eb253b1f2a199162a40d8ec" } },
      false,
      "cifar-100-binary",
      "train.bin" },
    { 0 },
};

struct fetch {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const struct cr_public_set *set;
    const struct cr_fetch_opts *o;
    const char *dir, *staging; /* staging: DIR/.fetch */
};

/* ---- Processes */

/* Runs a program of PATH without standard input, its output on standard error.
 * Returns its exit status, 127 if it does not exist. */
static int fetch_run(const char *const *argv)
{
    posix_spawn_file_actions_t files;
    pid_t pid;
    int error, status;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    cr_thread_unpin();
    error = posix_spawnp(&pid, argv[0], &files, NULL,
                         (char *const *)(uintptr_t)argv, environ);
    cr_thread_restore_affinity();
    posix_spawn_file_actions_destroy(&files);
    if (error)
        return 127;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Fetches a file, continuing at its end. */
static int fetch_get(const struct fetch *f, const char *url, const char *path)
{
    bool bar = !f->o->quiet && isatty(STDERR_FILENO);
    const char *const curl[] = { "curl", "-fL", bar ? "-#" : "-sS", "--retry",
                                 "2", "--connect-timeout", "20", "-C", "-",
                                 "-o", path, "--", url, NULL };
    const char *const wget[] = { "wget", bar ? "-nv" : "-q", "-t", "3", "-T",
                                 "20", "-c", "-O", path, "--", url, NULL };
    int status = fetch_run(curl);

    return status == 127 ? fetch_run(wget) : status;
}

/* ---- Verifying */

static bool fetch_hash(const struct fetch *f, const char *path, char *hex)
{
    static const size_t n = 1 << 16;
    struct cr_arena mem = { 0 };
    unsigned char *buf = cr_alloc(&mem, n, 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct cr_gz *gz = NULL;
    struct cr_sha256 hash;
    const char *why;
    int64_t got = -1;

    if (fd >= 0 && f->set->unpacked_hash)
        gz = cr_gz_open(fd);
    cr_sha256_start(&hash);
    while (fd >= 0 &&
           (got = gz ? cr_gz_read(gz, buf, n, &why) : read(fd, buf, n)) > 0)
        cr_sha256_add(&hash, buf, (size_t)got);
    cr_sha256_end(&hash, hex);
    if (gz)
        cr_gz_close(gz);
    if (fd >= 0)
        close(fd);
    cr_arena_free(&mem);
    return got == 0;
}

static bool fetch_is_right(const struct fetch *f, const char *path,
                           const struct cr_public_file *file)
{
    char hex[CR_SHA256_DIGITS + 1];

    return fetch_hash(f, path, hex) && strcmp(hex, file->sha256) == 0;
}

/* ---- One file */

/* Whether a partial download cannot be continued, by the status of curl (22,
 * 33, 36) or wget (8): the file has another length or the server has no ranges.
 * After other errors, such as those of the network, it is kept. */
static bool fetch_restarts(int status)
{
    return status == 0 || status == 8 || status == 22 || status == 33 ||
           status == 36;
}

/* Fetches a file to f->staging from the first folder whose file has the
 * expected hash. If a partial download cannot be continued, starts again. */
static bool fetch_file(const struct fetch *f, const struct cr_public_file *file,
                       const char *path)
{
    struct stat st;
    int status = 0;

    for (int i = 0; i < 2; i++) {
        const char *from = f->o->url ? f->o->url : f->set->urls[i];
        const char *url;

        if (!from || (f->o->url && i > 0))
            continue;
        url = cr_strf(f->arena, "%s/%s", from, file->name);
        for (int again = 0; again < 2; again++) {
            bool begun = stat(path, &st) == 0 && st.st_size > 0;

            if (!f->o->quiet)
                fprintf(stderr, "fetching %s\n", url);
            status = fetch_get(f, url, path);
            if (status == 0 && fetch_is_right(f, path, file))
                return true;
            if (fetch_restarts(status))
                unlink(path);
            if (!begun || !fetch_restarts(status))
                break;
        }
    }
    if (status == 127)
        return cr_error(f->diag, CR_NOWHERE, CR_E_SYSTEM,
                        "data fetch: found neither curl nor wget");
    if (status == 0)
        return cr_error(f->diag, cr_at_file(f->arena, path), CR_E_DATA_FORMAT,
                        "the SHA-256 of the fetched file is not that of %s",
                        f->set->name);
    cr_error(f->diag, cr_at_file(f->arena, path), CR_E_DATA_MISSING,
             "cannot fetch the file: curl or wget ended with status %d",
             status);
    cr_hint(f->diag, "check the network connection and run the command again, "
                     "which continues; --url names another server");
    return false;
}

/* ---- Folders */

static bool fetch_folder(const struct fetch *f, const char *dir)
{
    const char *parent = cr_path_dir(f->arena, dir);
    struct stat st;

    if (stat(dir, &st) == 0)
        return true;
    if (strcmp(parent, dir) != 0 && !fetch_folder(f, parent))
        return false;
    return mkdir(dir, 0777) == 0 || errno == EEXIST ||
           cr_error(f->diag, cr_at_file(f->arena, dir), CR_E_SYSTEM,
                    "cannot make the folder: %s", strerror(errno));
}

/* Moves the files of the unpacked folder to the folder of the set, the marker
 * last, so that it is there only when all others are. */
static bool fetch_move(const struct fetch *f, const char *from)
{
    DIR *dir = opendir(from);
    const struct dirent *d;
    bool ok = dir != NULL;

    while (ok && (d = readdir(dir)))
        if (d->d_name[0] != '.' && strcmp(d->d_name, f->set->marker) != 0)
            ok = rename(cr_path_join(f->arena, from, d->d_name),
                        cr_path_join(f->arena, f->dir, d->d_name)) == 0;
    if (dir)
        closedir(dir);
    ok = ok && rename(cr_path_join(f->arena, from, f->set->marker),
                      cr_path_join(f->arena, f->dir, f->set->marker)) == 0;
    if (!ok)
        return cr_error(f->diag, cr_at_file(f->arena, from), CR_E_SYSTEM,
                        "cannot move its files: %s", strerror(errno));
    rmdir(from);
    return true;
}

static bool fetch_unpack(const struct fetch *f, const char *path)
{
    const char *const tar[] = { "tar", "-xzf", path, "-C", f->staging, NULL };

    if (fetch_run(tar) != 0)
        return cr_error(f->diag, cr_at_file(f->arena, path), CR_E_SYSTEM,
                        "tar cannot unpack the archive");
    if (!fetch_move(f, cr_path_join(f->arena, f->staging, f->set->folder)))
        return false;
    unlink(path);
    return true;
}

static bool fetch_one(const struct fetch *f, const struct cr_public_file *file)
{
    const char *to = cr_path_join(f->arena, f->dir, file->name);
    const char *path = cr_path_join(f->arena, f->staging, file->name);
    struct stat st;

    if (!f->set->folder && stat(to, &st) == 0)
        return fetch_is_right(f, to, file) ||
               cr_error(f->diag, cr_at_file(f->arena, to), CR_E_DATA_FORMAT,
                        "this is not the file of %s (its SHA-256 differs): "
                        "move it away",
                        f->set->name);
    if (!fetch_folder(f, f->staging) ||
        (!fetch_is_right(f, path, file) && !fetch_file(f, file, path)))
        return false;
    if (f->set->folder)
        return fetch_unpack(f, path);
    return rename(path, to) == 0 ||
           cr_error(f->diag, cr_at_file(f->arena, to), CR_E_SYSTEM,
                    "cannot write: %s", strerror(errno));
}

static const struct cr_public_set *fetch_find(struct cr_arena *arena,
                                              struct cr_diag *diag,
                                              const char *name)
{
    const char *names[16] = { NULL };
    struct cr_buf all = { .arena = arena };

    for (int i = 0; cr_public_sets[i].name; i++) {
        if (strcmp(cr_public_sets[i].name, name) == 0)
            return &cr_public_sets[i];
        names[i] = cr_public_sets[i].name;
        cr_buf_f(&all, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    cr_error(diag, CR_NOWHERE, CR_E_USAGE,
             "data fetch: found '%s', expected one of %s",
             cr_quote(arena, name, strlen(name)), cr_buf_text(&all));
    if (cr_closest_name(name, names))
        cr_hint(diag, "did you mean '%s'?", cr_closest_name(name, names));
    return NULL;
}

bool cr_fetch(struct cr_arena *arena, struct cr_diag *diag, const char *name,
              const struct cr_fetch_opts *o, const char **dir)
{
    struct fetch f = { .arena = arena, .diag = diag, .o = o };
    const char *folders = getenv("CELLRUN_DATA");
    size_t first = folders ? strcspn(folders, ":") : 0;
    struct stat st;
    bool ok = true;

    f.set = fetch_find(arena, diag, name);
    if (!f.set)
        return false;
    f.dir = o->dir ? o->dir
                   : cr_path_join(arena,
                                  first ? cr_strndup(arena, folders, first)
                                        : NULL,
                                  name);
    f.staging = cr_path_join(arena, f.dir, ".fetch");
    *dir = f.dir;
    if (f.set->folder &&
        stat(cr_path_join(arena, f.dir, f.set->marker), &st) == 0)
        return true;
    for (size_t i = 0; i < CR_LEN(f.set->file) && f.set->file[i].name; i++)
        ok = fetch_one(&f, &f.set->file[i]) && ok;
    /* remove the staging folder if it is empty */
    if (rmdir(f.staging) == 0 && !ok)
        rmdir(f.dir);
    return ok;
}

/* ---- What is there */

static int fetch_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The type of data set whose files a folder contains; NULL: none. */
static const char *fetch_type(struct cr_arena *arena, const char *dir)
{
    struct stat st;

    for (const struct cr_public_set *s = cr_public_sets; s->name; s++) {
        const char *path = cr_path_join(arena, dir, s->marker);

        if (stat(path, &st) == 0 ||
            stat(cr_strf(arena, "%s.gz", path), &st) == 0)
            return s->type;
    }
    return NULL;
}

void cr_data_sets_list(struct cr_arena *arena,
                       void (*each)(void *ctx, const char *name,
                                    const char *type, const char *path),
                       void *ctx)
{
    const char *folders = getenv("CELLRUN_DATA");
    const char *p = cr_strf(arena, ".:datasets:%s", folders ? folders : "");

    while (*p) {
        size_t n = strcspn(p, ":");
        const char *folder = cr_strndup(arena, p, n);
        struct dirent **entry = NULL;
        int many = n > 0 ? scandir(folder, &entry, NULL, fetch_by_name) : 0;

        for (int i = 0; i < many; i++) {
            const char *name = cr_strdup(arena, entry[i]->d_name);
            const char *path = cr_path_join(arena, folder, name);
            const char *type =
                name[0] == '.' ? NULL : fetch_type(arena, path);

            if (type)
                each(ctx, name, type, path);
            free(entry[i]);
        }
        free(entry);
        p += n + (p[n] == ':');
    }
}
