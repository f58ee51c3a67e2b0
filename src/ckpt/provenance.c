#include "ckpt/provenance.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/sha256.h"
#include "base/str.h"

#define PROVENANCE_MAX ((size_t)1 << 20)

const char *cr_provenance_hash(struct cr_arena *arena, const char *config,
                               const char *config_dir,
                               const struct cr_node *plugins)
{
    const char *part[] = { config, config_dir ? config_dir : "",
                           plugins ? cr_node_json(arena, plugins) : "" };
    char *hex = cr_alloc(arena, CR_SHA256_DIGITS + 1, 1);
    struct cr_sha256 hash;

    cr_sha256_start(&hash);
    for (size_t i = 0; i < CR_LEN(part); i++)
        cr_sha256_add(&hash, part[i], strlen(part[i]) + 1);
    cr_sha256_end(&hash, hex);
    return hex;
}

/* Whether only the user may write to the file. */
static bool provenance_private(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
           (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The current stamp of a directory; NULL: it has no config.yaml. */
static const char *provenance_stamp(struct cr_arena *arena, const char *dir)
{
    struct stat st;

    if (lstat(cr_path_join(arena, dir, CR_PROVENANCE_STAMP), &st) != 0 ||
        !S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return NULL;
    return cr_strf(arena, "%ju %jd.%09ld", (uintmax_t)st.st_ino,
                   (intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

/* Whether the file is not there for this user, rather than out of reach for the
 * moment, such as of a process with too many open files. */
static bool provenance_is_absent(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP ||
           error == EACCES || error == EPERM || error == ENXIO;
}

/* Reads the hashes of a directory with a valid stamp; NULL: none. False after
 * reporting. */
static bool provenance_read(struct cr_arena *arena, struct cr_diag *diag,
                            const char *dir, const struct cr_node **to)
{
    const char *stamp = provenance_stamp(arena, dir), *why;
    const char *path = cr_path_join(arena, dir, CR_PROVENANCE);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const struct cr_node *root = NULL;
    struct stat st;
    char *text;
    ssize_t n = 0;
    size_t at;

    *to = NULL;
    if (fd < 0 && provenance_is_absent(errno))
        return true;
    if (fd < 0)
        return cr_error(diag, cr_at_file(arena, path), CR_E_SYSTEM,
                        "cannot open: %s", strerror(errno));
    if (stamp && fstat(fd, &st) == 0 && provenance_private(&st) &&
        (uintmax_t)st.st_size < PROVENANCE_MAX) {
        text = cr_alloc(arena, (size_t)st.st_size + 1, 1);
        n = read(fd, text, (size_t)st.st_size);
        if (n > 0)
            root = cr_json_read(arena, text, (size_t)n, &why, &at);
        if (n < 0)
            cr_error(diag, cr_at_file(arena, path), CR_E_SYSTEM,
                     "cannot read: %s", strerror(errno));
    }
    close(fd);
    if (root && strcmp(cr_json_str(root, "stamp", ""), stamp) == 0)
        *to = cr_node_get(root, "configs");
    return n >= 0;
}

static bool provenance_has(const struct cr_node *configs, const char *hash)
{
    for (CR_EACH(m, configs))
        if (m->kind == CR_NODE_STR && strcmp(m->text, hash) == 0)
            return true;
    return false;
}

bool cr_provenance_add(struct cr_arena *arena, struct cr_diag *diag,
                       const char *dir, const char *hash)
{
    const struct cr_node *configs;
    const char *stamp = provenance_stamp(arena, dir);
    const char *path = cr_path_join(arena, dir, CR_PROVENANCE);
    struct cr_buf b = { .arena = arena };
    struct cr_atomic_file file;
    struct stat st;

    if (!provenance_read(arena, diag, dir, &configs))
        return false;
    if (!stamp || provenance_has(configs, hash))
        return true;
    cr_buf_f(&b, "{\"stamp\":\"%s\",\"configs\":[\"%s\"", stamp, hash);
    for (CR_EACH(m, configs))
        if (m->kind == CR_NODE_STR) {
            cr_buf_char(&b, ',');
            cr_buf_json(&b, m->text);
        }
    cr_buf_str(&b, "]}\n");
    /* a symbolic link is replaced, not followed */
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
        unlink(path);
    if (!cr_atomic_file_open(&file, diag, path, (int64_t)b.len))
        return false;
    cr_atomic_file_write(&file, b.text, b.len);
    if (!cr_atomic_file_commit(&file))
        return false;
    /* the umask may have left the file writable by a group */
    return (stat(path, &st) == 0 &&
            chmod(path, st.st_mode & 07777 & ~(mode_t)(S_IWGRP | S_IWOTH)) ==
                0) ||
           cr_error(diag, cr_at_file(arena, path), CR_E_SYSTEM,
                    "cannot change the mode: %s", strerror(errno));
}

bool cr_provenance_own(struct cr_arena *arena, struct cr_diag *diag,
                       const char *ckpt, const char *hash, bool *own)
{
    char *real = realpath(ckpt, NULL);
    const char *folder = real ? cr_path_dir(arena, real) : "";
    const struct cr_node *configs = NULL;
    bool ok = strcmp(cr_path_base(folder), "ckpt") != 0 ||
              provenance_read(arena, diag, cr_path_dir(arena, folder),
                              &configs);

    *own = provenance_has(configs, hash);
    free(real);
    return ok;
}
