/* nccl: parts travel between GPUs; the ranks meet in another group.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "nccl:NAME" opens the group NAME too, over which each exchange first sends its kind
 * and its sizes: a rank that is late, has failed or calls something else is named as
 * there.  Then parcels are put on this rank's GPU, sent and received by NCCL within one
 * of its groups, and taken back.  The communicator does not block, so that all of it is
 * looked at until the deadline; exchanges under way then are aborted.
 *
 * NCCL and the driver are opened at run time (INGOT_NCCL_LIBRARY names another
 * library); no header of theirs is needed.  A process is one rank, and its GPU is
 * LOCAL_RANK's, or else its rank's among those that it sees.
 */
#include "base/checked.h"
#include "runtime/collective/transport.h"
#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum {
    IN_PROGRESS = 7,  /* ncclInProgress */
    NOT_READY = 600,  /* CUDA_ERROR_NOT_READY */
    BYTES = 1,        /* ncclUint8 */
    NON_BLOCKING = 1, /* CU_STREAM_NON_BLOCKING */
    FIRST_VERSION = 21400,
    MAGIC = (int)0xcafebeef, /* of ncclConfig_t */
    BLAME_MS = 500,          /* to find out who is late */
};

typedef struct ig_nccl_id {
    char bytes[128];
} ig_nccl_id;

/* ncclConfig_t as version 2.14 has it; later versions take the rest as not given. */
typedef struct ig_nccl_config {
    size_t size;
    int magic, version;
    int blocking;
} ig_nccl_config;

typedef struct nccl_calls {
    const char *(*words)(int error);
#define NCCL(name, symbol, parameters) int(*name) parameters;
#include "runtime/collective/nccl.def"
#undef NCCL
} nccl_calls;

typedef struct nccl_symbol {
    const char *name;
    size_t offset;
} nccl_symbol;

static const nccl_symbol symbols[] = {
    { "ncclGetErrorString", offsetof(nccl_calls, words) },
#define NCCL(name, symbol, parameters) { #symbol, offsetof(nccl_calls, name) },
#include "runtime/collective/nccl.def"
#undef NCCL
};

/* Memory of the GPU, for all parcels of one direction. */
typedef struct room {
    uint64_t address;
    size_t bytes;
} room;

typedef struct nccl_state {
    ig_group *meeting; /* by which the ranks agree */
    ig_cuda_driver driver;
    nccl_calls nccl;
    void *context, *stream, *comm;
    int device;
    bool has_context;
    room out, in;
    uint64_t *sent, *came; /* bytes to and from each rank */
    int64_t deadline;
} nccl_state;

/* ---- errors ---- */

static ig_status check_nccl(ig_group *group, ig_collective what, int error) {
    const nccl_state *s = group->state;
    return error == 0 || error == IN_PROGRESS
               ? IG_OK
               : ig_group_error(group, IG_IO, "%s: NCCL: %s", ig_collective_names[what],
                                s->nccl.words(error));
}

static ig_status check_cuda(ig_group *group, ig_collective what, int error) {
    const nccl_state *s = group->state;
    char words[256] = "";
    const ig_message message = { words, sizeof words, NULL };
    ig_status status = ig_cuda_driver_check(&s->driver, error, "nccl", &message);
    return status == IG_OK ? IG_OK
                           : ig_group_error(group, status, "%s: %s",
                                            ig_collective_names[what], words);
}

/* The result of the meeting. */
static ig_status pass_on(ig_group *group, ig_status status) {
    const nccl_state *s = group->state;
    return status == IG_OK ? IG_OK
                           : ig_group_error(group, status, "%s", s->meeting->text);
}

/* Who has not come?  Those that are here meet once more. */
static ig_status blame_late(ig_group *group, ig_collective what) {
    nccl_state *s = group->state;
    s->meeting->options.timeout_ms = BLAME_MS;
    if (ig_group_barrier(s->meeting) != IG_OK) {
        return pass_on(group, IG_LIMIT);
    }
    return ig_group_error(
        group, IG_LIMIT, "%s: NCCL did not move all parts within %lld ms",
        ig_collective_names[what], (long long)group->options.timeout_ms);
}

/* ---- waiting ---- */

/* Is the communicator's last call, and then the stream's work, done? */
static ig_status look_once(ig_group *group, ig_collective what, bool *out_done) {
    const nccl_state *s = group->state;
    int state = 0;
    *out_done = false;
    IG_TRY(check_nccl(group, what, s->nccl.state(s->comm, &state)));
    IG_TRY(check_nccl(group, what, state));
    int work = s->driver.stream_query(s->stream);
    *out_done = state == 0 && work == 0;
    return work == NOT_READY ? IG_OK : check_cuda(group, what, work);
}

static ig_status wait_for_work(ig_group *group, ig_collective what) {
    const nccl_state *s = group->state;
    for (uint32_t spins = 0;; spins++) {
        bool is_done;
        IG_TRY(look_once(group, what, &is_done));
        if (is_done) {
            return IG_OK;
        }
        if (!ig_group_may_wait(spins, s->deadline)) {
            return blame_late(group, what);
        }
    }
}

/* ---- the exchange ---- */

/* Each rank tells the others how much it sends. */
static ig_status exchange_sizes(ig_group *group, ig_collective what,
                                const ig_parcels *all) {
    nccl_state *s = group->state;
    ig_group *meeting = s->meeting;
    for (uint32_t r = 0; r < group->options.world; r++) {
        s->sent[r] = ig_parcel_bytes(all->send + r * all->pieces, all->pieces);
        meeting->send[r] = (ig_group_part){ &s->sent[r], sizeof s->sent[r] };
        meeting->receive[r] = (ig_group_part){ &s->came[r], sizeof s->came[r] };
    }
    IG_TRY(pass_on(group, ig_group_exchange_own(meeting, what, 1)));
    for (uint32_t r = 0; r < group->options.world; r++) {
        size_t expected = ig_parcel_bytes(all->receive + r * all->pieces, all->pieces);
        if (s->came[r] != expected) {
            return ig_group_error(
                group, IG_INVALID,
                "%s: rank %u sends %llu bytes, and rank %u expects %zu",
                ig_collective_names[what], r, (unsigned long long)s->came[r],
                group->options.rank, expected);
        }
    }
    return IG_OK;
}

static ig_status make_room(ig_group *group, ig_collective what, room *out,
                           const uint64_t *bytes) {
    nccl_state *s = group->state;
    size_t wanted = 0;
    for (uint32_t r = 0; r < group->options.world; r++) {
        if (!ig_add_size(wanted, (size_t)bytes[r], &wanted)) {
            return ig_group_error(group, IG_LIMIT, "%s: too many bytes",
                                  ig_collective_names[what]);
        }
    }
    if (wanted <= out->bytes) {
        return IG_OK;
    }
    int error = out->bytes ? s->driver.memory_free(out->address) : 0;
    out->bytes = 0;
    error = error ? error : s->driver.memory_alloc(&out->address, wanted);
    out->bytes = error ? 0 : wanted;
    return check_cuda(group, what, error);
}

/* Pieces to the GPU, or from there, one after the other. */
static ig_status copy_parcels(ig_group *group, ig_collective what,
                              const ig_group_part *parts, uint32_t count,
                              uint64_t address, bool is_out) {
    const nccl_state *s = group->state;
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        if (parts[i].bytes == 0) {
            continue;
        }
        error =
            is_out
                ? s->driver.copy_in(address, parts[i].data, parts[i].bytes, s->stream)
                : s->driver.copy_out(parts[i].data, address, parts[i].bytes, s->stream);
        address += parts[i].bytes;
    }
    return check_cuda(group, what, error);
}

static void *gpu_pointer(uint64_t address) {
    void *pointer;
    _Static_assert(sizeof pointer == sizeof address, "addresses of 64 bits");
    memcpy(&pointer, &address, sizeof pointer);
    return pointer;
}

static ig_status start_messages(ig_group *group, ig_collective what) {
    const nccl_state *s = group->state;
    uint64_t out = s->out.address, in = s->in.address;
    int error = s->nccl.begin();
    for (uint32_t r = 0; r < group->options.world && !error; r++) {
        if (s->sent[r]) {
            error = s->nccl.send(gpu_pointer(out), (size_t)s->sent[r], BYTES, (int)r,
                                 s->comm, s->stream);
        }
        if (s->came[r] && !error) {
            error = s->nccl.receive(gpu_pointer(in), (size_t)s->came[r], BYTES, (int)r,
                                    s->comm, s->stream);
        }
        out += s->sent[r];
        in += s->came[r];
    }
    int ended = s->nccl.end();
    return check_nccl(group, what, error ? error : ended);
}

static ig_status exchange_parcels(ig_group *group, ig_collective what,
                                  const ig_parcels *all) {
    nccl_state *s = group->state;
    uint32_t count = group->options.world * all->pieces;
    IG_TRY(make_room(group, what, &s->out, s->sent));
    IG_TRY(make_room(group, what, &s->in, s->came));
    IG_TRY(copy_parcels(group, what, all->send, count, s->out.address, true));
    IG_TRY(start_messages(group, what));
    IG_TRY(wait_for_work(group, what));
    IG_TRY(copy_parcels(group, what, all->receive, count, s->in.address, false));
    return wait_for_work(group, what);
}

static ig_status exchange_nccl(ig_group *group, ig_collective what,
                               const ig_parcels *all) {
    nccl_state *s = group->state;
    void *ours;
    s->deadline = ig_group_now_ms() + group->options.timeout_ms;
    IG_TRY(exchange_sizes(group, what, all));
    IG_TRY(check_cuda(group, what, s->driver.context_push(s->context)));
    ig_status status = exchange_parcels(group, what, all);
    (void)s->driver.context_pop(&ours);
    return status;
}

static void fail_nccl(ig_group *group) {
    nccl_state *s = group->state;
    if (s->meeting->transport->fail) {
        s->meeting->transport->fail(s->meeting);
    }
}

/* ---- opening ---- */

static ig_status open_library(ig_group *group) {
    nccl_state *s = group->state;
    const char *given = getenv("INGOT_NCCL_LIBRARY");
    const char *name = given && *given ? given : "libnccl.so.2";
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return ig_group_error(group, IG_UNSUPPORTED,
                              "nccl: %s cannot be opened: install NCCL, or name its "
                              "library in INGOT_NCCL_LIBRARY",
                              name);
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address) {
            return ig_group_error(
                group, IG_UNSUPPORTED,
                "nccl: the library has no %s: 2.14 or later is needed",
                symbols[i].name);
        }
        memcpy((char *)&s->nccl + symbols[i].offset, &address, sizeof address);
    }
    return IG_OK;
}

static int choose_gpu(const ig_group *group, int count) {
    const char *local = getenv("LOCAL_RANK");
    long number = local && *local ? strtol(local, NULL, 10) : (long)group->options.rank;
    return number >= 0 ? (int)(number % count) : 0;
}

static ig_status open_gpu(ig_group *group) {
    nccl_state *s = group->state;
    char words[256] = "";
    const ig_message message = { words, sizeof words, NULL };
    ig_status status = ig_cuda_driver_open(&s->driver, &message);
    if (status != IG_OK) {
        return ig_group_error(group, status, "nccl: %s", words);
    }
    int count = 0;
    const ig_cuda_driver *d = &s->driver;
    IG_TRY(check_cuda(group, IG_COLLECTIVE_OPEN, d->initialise(0)));
    IG_TRY(check_cuda(group, IG_COLLECTIVE_OPEN, d->device_count(&count)));
    if (count < 1) {
        return ig_group_error(group, IG_UNSUPPORTED, "nccl: there is no GPU");
    }
    int ordinal = choose_gpu(group, count);
    IG_TRY(check_cuda(group, IG_COLLECTIVE_OPEN, d->device_get(&s->device, ordinal)));
    int error = d->context_retain(&s->context, s->device);
    s->has_context = error == 0;
    return check_cuda(group, IG_COLLECTIVE_OPEN, error);
}

/* Rank 0 makes the name by which NCCL's ranks find each other. */
static ig_status share_id(ig_group *group, ig_nccl_id *out_id) {
    const nccl_state *s = group->state;
    if (group->options.rank == 0) {
        IG_TRY(check_nccl(group, IG_COLLECTIVE_OPEN, s->nccl.unique_id(out_id)));
    }
    return pass_on(group, ig_group_broadcast(s->meeting, 0, out_id, sizeof *out_id));
}

static ig_status open_communicator(ig_group *group) {
    nccl_state *s = group->state;
    ig_nccl_id id = { { 0 } };
    ig_nccl_config config = { sizeof config, MAGIC, FIRST_VERSION, 0 };
    const ig_group_options *o = &group->options;
    IG_TRY(share_id(group, &id));
    IG_TRY(check_cuda(group, IG_COLLECTIVE_OPEN,
                      s->driver.stream_create(&s->stream, NON_BLOCKING)));
    IG_TRY(
        check_nccl(group, IG_COLLECTIVE_OPEN,
                   s->nccl.open(&s->comm, (int)o->world, id, (int)o->rank, &config)));
    s->deadline = ig_group_now_ms() + o->timeout_ms;
    return wait_for_work(group, IG_COLLECTIVE_OPEN);
}

static ig_status open_meeting(ig_group *group, const char *name) {
    nccl_state *s = group->state;
    char words[IG_HOST_REASON_BYTES] = "no memory for a group";
    ig_group_options options = group->options;
    options.message = words;
    options.message_size = sizeof words;
    ig_status status = ig_group_open(name, &options, &s->meeting);
    if (status != IG_OK) {
        return ig_group_error(group, status, "%s", words);
    }
    s->meeting->options.message = NULL;
    return IG_OK;
}

static ig_status open_nccl(ig_group *group, const char *name) {
    nccl_state *s = calloc(1, sizeof *s);
    uint32_t world = group->options.world;
    void *ours;
    if (strncmp(name, "nccl", 4) == 0 || !*name) {
        free(s);
        return ig_group_error(group, IG_INVALID,
                              "nccl:%s: the ranks must meet somewhere: nccl:mpi, "
                              "nccl:shm:NAME or nccl:env",
                              name);
    }
    group->state = s;
    if (s) {
        s->sent = calloc(world, sizeof *s->sent);
        s->came = calloc(world, sizeof *s->came);
    }
    if (!s || !s->sent || !s->came) {
        return ig_group_error(group, IG_LIMIT, "no memory for a group");
    }
    IG_TRY(open_library(group));
    IG_TRY(open_gpu(group));
    IG_TRY(open_meeting(group, name));
    IG_TRY(check_cuda(group, IG_COLLECTIVE_OPEN, s->driver.context_push(s->context)));
    ig_status status = open_communicator(group);
    (void)s->driver.context_pop(&ours);
    if (status != IG_OK) {
        fail_nccl(group);
        group->has_failed = true;
    }
    return status;
}

/* Exchanges under way end first, by force after a failure. */
static void close_gpu(nccl_state *s, bool has_failed) {
    void *ours;
    if (s->driver.context_push(s->context) != 0) {
        return;
    }
    if (s->comm) {
        (void)(has_failed ? s->nccl.abort(s->comm) : s->nccl.close(s->comm));
    }
    if (s->out.bytes) {
        (void)s->driver.memory_free(s->out.address);
    }
    if (s->in.bytes) {
        (void)s->driver.memory_free(s->in.address);
    }
    if (s->stream) {
        (void)s->driver.stream_destroy(s->stream);
    }
    (void)s->driver.context_pop(&ours);
    (void)s->driver.context_release(s->device);
}

static void close_nccl(ig_group *group) {
    nccl_state *s = group->state;
    if (!s) {
        return;
    }
    if (s->has_context) {
        close_gpu(s, group->has_failed);
    }
    ig_group_close(s->meeting);
    free(s->sent);
    free(s->came);
    free(s);
}

const ig_transport ig_transport_nccl = { .name = "nccl",
                                         .open = open_nccl,
                                         .close = close_nccl,
                                         .exchange = exchange_nccl,
                                         .fail = fail_nccl };
