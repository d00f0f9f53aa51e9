/* What a piece of work does.  SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <signal.h>
#include <string.h>

/* ---- copies ---- */

/* Where this process sees memory of either side; NULL: it is not there (any more). */
static char *see(uint64_t address, size_t size) {
    if (!is_device_address(address) && !is_pinned_address(address)) {
        return (char *)(uintptr_t)address;
    }
    const block *b = find_block(address, size);
    if (!b || !b->is_open) {
        say("a copy of %zu bytes at 0x%llx, where no memory is now", size,
            (unsigned long long)address);
        return NULL;
    }
    return is_device_address(address) ? see_device(address)
                                      : (char *)(uintptr_t)address;
}

static int copy(const work *w) {
    char *to = see(w->to, w->size);
    const char *from = w->staged ? w->staged : see(w->from, w->size);
    if (!to || !from) {
        return ILLEGAL_ADDRESS;
    }
    memmove(to, from, w->size);
    return SUCCESS;
}

static int set(const work *w) {
    char *to = see(w->to, w->size * w->width);
    for (size_t i = 0; to && i < w->size; i++) {
        memcpy(to + i * w->width, &w->value, w->width);
    }
    return to ? SUCCESS : ILLEGAL_ADDRESS;
}

/* ---- launches ---- */

static const char *tell_address(uint64_t address) {
    if (is_device_address(address) || is_pinned_address(address)) {
        return "no memory is there (any more)";
    }
    return address < 4096 ? "a null pointer" : "an address of the host";
}

static int tell_signal(const work *w, const reply *r) {
    bool is_access = r->signal == SIGSEGV || r->signal == SIGBUS;
    const char *name = w->function->name;
    if (is_access) {
        say("kernel '%s', block %lld, thread %u, at 0x%llx: %s", name,
            (long long)r->block, r->thread, (unsigned long long)r->fault,
            tell_address(r->fault));
        return ILLEGAL_ADDRESS;
    }
    say("kernel '%s', block %lld, thread %u: signal %d, as what it does is undefined",
        name, (long long)r->block, r->thread, r->signal);
    return LAUNCH_FAILED;
}

static int launch(const work *w) {
    static const char *const ends[] = {
        [SHIM_DIVERGED] = "threads of a block are at different barriers",
        [SHIM_STUCK] = "lanes of a warp wait for others that do not come",
        [SHIM_NO_ROOM] = "no memory for stacks of threads",
    };
    request r = { .kind = REQUEST_RUN,
                  .handle = w->function->module->run,
                  .kernel = w->function->kernel,
                  .grid = w->grid,
                  .threads = w->threads,
                  .seed = draw(UINT64_C(1) << 31) };
    reply out;
    if (!w->function->kernel) {
        return SUCCESS; /* a real cubin's: only its launch was checked */
    }
    memcpy(r.as.arguments, w->arguments, w->argument_bytes);
    send_request(&r, offsetof(request, as) + w->argument_bytes, &out);
    if (out.signal) {
        return tell_signal(w, &out);
    }
    if (out.end != SHIM_DONE) {
        say("kernel '%s', block %lld: %s", w->function->name, (long long)out.block,
            ends[out.end]);
        return LAUNCH_FAILED;
    }
    return SUCCESS;
}

/* ---- all ---- */

static int close_later(const work *w) {
    bool is_clean = close_block(w->block);
    drop_block(w->block);
    return is_clean ? SUCCESS : ILLEGAL_ADDRESS;
}

int do_work(const work *w) {
    switch (w->kind) {
    case WORK_COPY:
        return copy(w);
    case WORK_SET:
        return set(w);
    case WORK_LAUNCH:
        return launch(w);
    case WORK_CALL:
        w->call(w->user);
        return SUCCESS;
    case WORK_OPEN:
        return open_block(w->block) ? SUCCESS : UNKNOWN;
    case WORK_CLOSE:
        return close_later(w);
    case WORK_RECORD:
    case WORK_WAIT:
    case WORK_GRAPH:
        break;
    }
    return SUCCESS;
}

void count_work(const work *w, bool is_in_graph) {
    bool is_in = w->kind == WORK_COPY && !is_device_address(w->from);
    bool is_out = w->kind == WORK_COPY && !is_device_address(w->to);
    counts.copies_in += is_in;
    counts.copies_out += is_out;
    counts.copies_within += w->kind == WORK_COPY && !is_in && !is_out;
    counts.bytes_in += is_in ? w->size : 0;
    counts.bytes_out += is_out ? w->size : 0;
    counts.sets += w->kind == WORK_SET;
    counts.launches += w->kind == WORK_LAUNCH && !is_in_graph;
    counts.graph_kernels += w->kind == WORK_LAUNCH && is_in_graph;
}
