/* Opening and closing, whatever signals come.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_PLATFORM_PLATFORM_OPEN_H
#define IG_BASE_PLATFORM_PLATFORM_OPEN_H

/* open and openat, tried again when a signal interrupts them; `mode` (0: none) is of a
 * file that is created.  `folder` may be AT_FDCWD. */
int ig_open(const char *path, int flags, unsigned mode);
int ig_open_at(int folder, const char *path, int flags, unsigned mode);
/* close; that a signal came is no failure, since Linux has closed the file by then. */
int ig_close(int file);

#endif
