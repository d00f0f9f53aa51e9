/* Memory that the server shares with the process of a model.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     control | channel of loop 0 | its views | its inputs | its results | channel of …
 *
 * Each loop has a channel, and the process a thread for it.  The loop writes inputs,
 * sets `turn` to CHANNEL_ASKED and waits for CHANNEL_ANSWERED.  Pages take memory from
 * the first time on that they are used.  The server believes nothing that it reads
 * here.
 */
#ifndef IG_TOOLS_SERVE_GUEST_CHANNEL_H
#define IG_TOOLS_SERVE_GUEST_CHANNEL_H

#include <ingot/runtime.h>
#include <stdatomic.h>

enum { GUEST_MEMORY = 3, GUEST_MODEL = 4 }; /* descriptors of the process */
enum { CHANNEL_IDLE, CHANNEL_ASKED, CHANNEL_ANSWERED };
enum { CHANNEL_ALIGN = 64, CHANNEL_WORDS = 1024 };

typedef struct guest_control {
    _Atomic uint32_t is_ready; /* 0: not yet; 1: yes; 2: the words say why not */
    uint32_t loop_count, input_count, output_count;
    uint64_t room;         /* bytes of a channel's inputs, and as many of its results */
    uint64_t memory_bytes; /* that the process may write; 0: no bound */
    char words[CHANNEL_WORDS];
} guest_control;

typedef struct channel {
    _Atomic uint32_t turn;
    int32_t status;   /* of the run */
    int64_t deadline; /* ns that it may take; 0: no limit */
    uint64_t used;    /* bytes of the results */
    char words[CHANNEL_WORDS];
    ig_view views[]; /* inputs, then outputs; `data` is bytes from the channel's data */
} channel;

/* Bytes of a channel with its data, and where data begin in it. */
static inline size_t channel_data(const guest_control *of) {
    size_t views = (of->input_count + of->output_count) * sizeof(ig_view);
    return (sizeof(channel) + views + 4095) / 4096 * 4096;
}

static inline size_t channel_stride(const guest_control *of) {
    return channel_data(of) + 2 * of->room;
}

static inline channel *channel_at(guest_control *of, size_t loop) {
    size_t begin = (sizeof *of + 4095) / 4096 * 4096;
    return (channel *)((char *)of + begin + loop * channel_stride(of));
}

/* Waits until `turn` is not `from` any more, or so many ms have passed. */
void channel_await(_Atomic uint32_t *turn, uint32_t from, int ms);
void channel_set(_Atomic uint32_t *turn, uint32_t to);

#endif
