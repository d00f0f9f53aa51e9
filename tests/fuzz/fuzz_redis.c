/* Fuzzes what a Redis server sends, and URLs of servers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte says which, and for replies in what pieces they come and how many
 * elements the array has that is taken apart.  What the guard lets through must be a
 * reply to hiredis too, and one of a bounded size: hiredis is never at odds with what
 * the guard read.
 */
#include "runtime/store/redis/guard.h"
#include "runtime/store/redis/url.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { URL_BYTES = 2048 };

static void expect(bool claim) {
    if (!claim) {
        abort();
    }
}

static void read_url(const char *bytes, size_t size) {
    char text[URL_BYTES], why[256] = "";
    ig_store_call call = { .size = sizeof call,
                           .message = why,
                           .message_size = sizeof why };
    ig_redis_url url;
    size = size < URL_BYTES ? size : URL_BYTES - 1;
    memcpy(text, bytes, size);
    text[size] = 0;
    ig_status status = ig_redis_url_read(&call, text, &url);
    expect(status == (why[0] ? IG_INVALID : IG_OK));
    expect(status != IG_OK ||
           (url.port > 0 && url.lanes > 0 && url.chunk > 0 && url.timeout_ns > 0 &&
            url.heartbeat_ns > 0 && (url.host[0] == 0) != (url.path[0] == 0)));
}

static size_t count_values(const redisReply *reply) {
    size_t count = 1;
    expect(reply->len <= IG_REDIS_REPLY_BYTES);
    for (size_t i = 0; i < reply->elements; i++) {
        count += count_values(reply->element[i]);
    }
    return count;
}

/* False: the guard says why. */
static bool feed_piece(ig_redis_guard *guard, redisReader *reader, const char *bytes,
                       size_t size, const char **out_why) {
    for (size_t at = 0, read; at < size; at += read) {
        bool is_fed = false;
        read = ig_redis_guard_read(guard, bytes + at, size - at, &is_fed, out_why);
        if (*out_why) {
            return false;
        }
        expect(read > 0 && read <= size - at);
        expect(!is_fed || redisReaderFeed(reader, bytes + at, read) == REDIS_OK);
    }
    return true;
}

static void read_replies(const char *bytes, size_t size, size_t piece, size_t bundle) {
    ig_redis_guard guard = { .bundle = bundle };
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    const char *why = NULL;
    bool is_good = true;
    expect(reader != NULL);
    for (size_t at = 0; at < size && is_good; at += piece) {
        piece = piece < size - at ? piece : size - at;
        is_good = feed_piece(&guard, reader, bytes + at, piece, &why);
        if (!is_good) {
            break;
        }
        do {
            is_good = redisReaderGetReply(reader, &reply) == REDIS_OK;
            if (is_good && reply) {
                expect(count_values(reply) <= size);
                freeReplyObject(reply);
            }
        } while (is_good && reply);
    }
    /* A number's text is hiredis's to refuse; all else has been checked. */
    expect(is_good || why || strstr(reader->errstr, "Bad integer"));
    expect(!is_good || !ig_redis_guard_is_between(&guard) ||
           reader->pos == reader->len);
    redisReaderFree(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    if (data[0] == 'u') {
        read_url((const char *)data + 1, size - 1);
    } else {
        size_t bundle = data[0] >= 32 && data[0] < 64 ? 3 : 0;
        read_replies((const char *)data + 1, size - 1, (size_t)data[0] % 32 + 1,
                     bundle);
    }
    return 0;
}
