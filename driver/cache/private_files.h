/* Folders and files that nobody else can have written.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Entries of the cache are run as code.  So its folders are 0700 and its entries
 * 0600, each is opened relative to a folder that is open already, no link is followed,
 * and the open file itself is looked at: it must be ours, and others must not be able
 * to write it.
 */
#ifndef IG_DRIVER_CACHE_PRIVATE_FILES_H
#define IG_DRIVER_CACHE_PRIVATE_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { IG_OPEN_PATH_BYTES = 32 };

/* Creates the folder with mode 0700, and the ones above it as usual; false: it is not
 * there now. */
bool ig_private_folder_create(const char *path);
/* Opens a folder and takes read access from others; -1, and why in `why` (128 bytes, or
 * NULL): not there, another user's, or others may write to it. */
int ig_private_folder_open(const char *path, char *why);
/* Opens the regular file `name` in that folder for reading; -1: not there, or not
 * private. */
int ig_private_file_open(int folder, const char *name);
/* A path by which functions that take one open this very file again. */
void ig_open_file_path(int file, char path[IG_OPEN_PATH_BYTES]);

#endif
