/*
 * Folders whose files are samples.
 */
#ifndef CR_DATA_FOLDER_H
#define CR_DATA_FOLDER_H

#include "conf/config.h"

/* .png, .jpg and .jpeg */
extern const struct cr_strs cr_folder_images;

/* All names of a folder that are not hidden, sorted; -1 after reporting. */
int64_t cr_folder_names(struct cr_config *config, const char *path,
                        const char ***names);
/* Whether `name` is a folder in `root`: 1 yes, 0 no, -1 after reporting that it
 * cannot be determined. */
int cr_folder_is_dir(struct cr_config *config, const char *root,
                     const char *name);
/* The length of the suffix of `ends` in which the name ends, upper and lower
 * case being equal; 0: none. */
size_t cr_folder_ends(const struct cr_strs *ends, const char *name);

#endif
