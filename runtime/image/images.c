/* Host functions on images.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   image_extents   height and width (i64), file (bytes); bytes of the file
 *   image_decode    pixels, file; bytes of the file, height, width, order
 */
#include "runtime/plugin/plugin.h"
#include "runtime/plugin/texts.h"

#include "base/checked.h"
#include "media/image.h"

#include <stdio.h>
#include <string.h>

static bool refuse_call(const ig_host_call *call, ig_status status, const char *why) {
    *call->status = status;
    (void)snprintf(call->reason, IG_HOST_REASON_BYTES, "%s", why);
    return false;
}

/* The file is buffer 1, and its size the first param. */
static bool read_file(const ig_host_call *call, uint32_t params, ig_str *out_file) {
    bool is_good = call->buffer_count == 2 && call->param_count == params &&
                   call->params[0] >= 0 && call->params[0] <= call->bytes[1];
    if (is_good) {
        *out_file = (ig_str){ call->buffers[1], (size_t)call->params[0] };
    }
    return is_good;
}

/* Bytes that the session may still hold. */
static int64_t room_of(const ig_host_call *call) {
    const ig_memory *memory = call->texts->memory;
    if (memory->limit == 0 || memory->limit > INT64_MAX) {
        return INT64_MAX;
    }
    return memory->held < memory->limit ? (int64_t)(memory->limit - memory->held) : 0;
}

static bool find_extents(const ig_host_call *call) {
    char why[IG_IMAGE_WHY_BYTES];
    ig_image_extents extents;
    ig_str file;
    int64_t *y = call->buffers[0];
    if (!read_file(call, 1, &file) || call->bytes[0] < 2 * (int64_t)sizeof *y) {
        return false;
    }
    ig_status status = ig_image_measure(file, room_of(call), &extents, why);
    if (status != IG_OK) {
        return refuse_call(call, status, why);
    }
    y[0] = extents.height;
    y[1] = extents.width;
    return true;
}

static bool decode_file(const ig_host_call *call) {
    char why[IG_IMAGE_WHY_BYTES];
    ig_str file;
    int64_t bytes;
    if (!read_file(call, 4, &file) || call->params[3] < 0 ||
        call->params[3] >= IG_IMAGE_ORDER_COUNT) {
        return false;
    }
    ig_image_order order = (ig_image_order)call->params[3];
    ig_image_extents extents = { call->params[1], call->params[2] };
    if (extents.height < 0 || extents.width < 0 ||
        !ig_mul_i64(extents.height, extents.width, &bytes) ||
        !ig_mul_i64(bytes, ig_image_channels(order), &bytes) ||
        bytes > call->bytes[0]) {
        return false;
    }
    ig_status status = ig_image_decode(file, extents, order, call->buffers[0], why);
    return status == IG_OK || refuse_call(call, status, why);
}

IG_API ig_plugin_find_fn ig_images_find;

ig_status ig_images_find(ig_host_wanted *wanted) {
    wanted->fn = strcmp(wanted->name, "image_extents") == 0  ? find_extents
                 : strcmp(wanted->name, "image_decode") == 0 ? decode_file
                                                             : NULL;
    return IG_OK;
}
