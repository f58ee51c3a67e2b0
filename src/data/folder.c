#include "data/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/str.h"

static const char *const images[] = { ".png", ".jpg", ".jpeg" };
const struct cr_strs cr_folder_images = { .v = images, .n = CR_LEN(images) };

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int64_t cr_folder_names(struct cr_config *config, const char *path,
                        const char ***names)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int64_t n = 0, cap = 0;

    *names = NULL;
    if (!dir) {
        cr_error(config->diag, cr_at_file(config->arena, path), CR_E_DATA_READ,
                 "cannot read the folder: %s", strerror(errno));
        return -1;
    }
    while (errno = 0, (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (n == cap) {
            const char **more =
                CR_NEWS(config->arena, const char *, cap > 0 ? 2 * cap : 64);

            if (n > 0)
                memcpy(more, *names, (size_t)n * sizeof *more);
            cap = cap > 0 ? 2 * cap : 64;
            *names = more;
        }
        (*names)[n++] = cr_strdup(config->arena, entry->d_name);
    }
    if (errno != 0) {
        cr_error(config->diag, cr_at_file(config->arena, path), CR_E_DATA_READ,
                 "cannot read the folder: %s", strerror(errno));
        n = -1;
    }
    closedir(dir);
    if (n > 0)
        qsort(*names, (size_t)n, sizeof **names, by_name);
    return n;
}

int cr_folder_is_dir(struct cr_config *config, const char *root,
                     const char *name)
{
    const char *path = cr_path_join(config->arena, root, name);
    struct stat st;

    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode);
    if (errno == ENOENT || errno == ENOTDIR) /* a dangling link */
        return 0;
    cr_error(config->diag, cr_at_file(config->arena, path), CR_E_DATA_READ,
             "cannot be read: %s", strerror(errno));
    return -1;
}

size_t cr_folder_ends(const struct cr_strs *ends, const char *name)
{
    size_t len = strlen(name);
    int i;

    for (i = 0; i < ends->n; i++) {
        size_t end = strlen(ends->v[i]);

        if (len > end && strcasecmp(name + len - end, ends->v[i]) == 0)
            return end;
    }
    return 0;
}
