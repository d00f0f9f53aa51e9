/* Host functions on images: what a session asks of libingot-image.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library is opened when a program is that calls functions named image_; it opens
 * the system's decoders when it meets an image of theirs.
 */
#ifndef IG_RUNTIME_PLUGIN_IMAGES_H
#define IG_RUNTIME_PLUGIN_IMAGES_H

#include "runtime/host/host.h"

#define IG_IMAGES_PREFIX "image_"

/* The one symbol of the library; NULL: it has no such function. */
IG_API ig_host_fn *ig_images_find(const char *name);

#endif
