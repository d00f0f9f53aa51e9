/* NCCL without GPUs: runtime/collective/nccl.c runs on it as on the real one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranks are processes; a message is a file in the folder that the unique id names.
 * Communicators do not block: what is begun is "in progress", threads do it, and the
 * driver that stands in (tests/cuda_host/driver) has work until they end.  It is strict
 * about the config's form, and that messages begin within a group.
 * INGOT_TEST_NCCL: "stall" receives nothing, "fail" has an error after the start.
 */
#include "driver/stand_in.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

enum { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, IN_PROGRESS = 7 };

struct unique_id {
    char folder[128];
};

struct config { /* of version 2.14 */
    size_t size;
    unsigned magic, version;
    int blocking;
};

struct communicator {
    std::string folder;
    int world, rank;
    std::atomic<int> state{ IN_PROGRESS };
    std::atomic<bool> stops{ false };
    std::vector<int> sent, received; /* messages so far, by rank */
    std::vector<std::thread> threads;
};

struct message {
    communicator *comm;
    bool is_sent;
    void *data;
    size_t count;
    int rank;
};

static thread_local int depth; /* of groups */
static thread_local std::vector<message> begun;

#define EXPORT extern "C" __attribute__((visibility("default")))

static void *driver_symbol(const char *name) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return dlsym(driver, name);
}

static void hold_stream(int change) {
    ((stand_in_hold_fn *)driver_symbol("stand_in_hold"))(change);
}

/* Memory of the device, as the host sees it. */
static char *see(const void *data) {
    return (char *)((stand_in_see_fn *)driver_symbol("stand_in_see"))((uint64_t)data);
}

static bool is_given(const char *what) {
    const char *given = getenv("INGOT_TEST_NCCL");
    return given && strcmp(given, what) == 0;
}

static void nap() {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

static std::string name_of(const communicator *comm, int from, int to, int number) {
    return comm->folder + "/" + std::to_string(from) + "-" + std::to_string(to) + "-" +
           std::to_string(number);
}

static void write_file(const std::string &name, const void *data, size_t size) {
    {
        std::ofstream file(name + "~", std::ios::binary);
        file.write((const char *)data, (std::streamsize)size);
    }
    std::filesystem::rename(name + "~", name);
}

static void receive(communicator *comm, message m, std::string name) {
    while (!comm->stops && (is_given("stall") || !std::filesystem::exists(name))) {
        nap();
    }
    if (!comm->stops) {
        std::ifstream file(name, std::ios::binary);
        file.read(see(m.data), (std::streamsize)m.count);
        if (file.gcount() != (std::streamsize)m.count || file.get() != EOF) {
            abort(); /* the ranks say different sizes: the real one would hang */
        }
        std::filesystem::remove(name);
    }
    hold_stream(-1);
}

static void meet(communicator *comm) {
    write_file(comm->folder + "/here" + std::to_string(comm->rank), "", 0);
    for (int r = 0; r < comm->world && !comm->stops;) {
        bool is_here =
            std::filesystem::exists(comm->folder + "/here" + std::to_string(r));
        r += is_here;
        is_here ? (void)0 : nap();
    }
    comm->state = is_given("fail") ? SYSTEM_ERROR : SUCCESS;
}

EXPORT const char *ncclGetErrorString(int error) {
    return error == SYSTEM_ERROR ? "unhandled system error" : "invalid argument";
}

EXPORT int ncclGetUniqueId(unique_id *out) {
    *out = { "/tmp/ingot-nccl-XXXXXX" };
    return mkdtemp(out->folder) ? SUCCESS : SYSTEM_ERROR;
}

EXPORT int ncclCommInitRankConfig(communicator **out, int world, unique_id id, int rank,
                                  config *how) {
    bool is_good = how->size == sizeof *how && how->magic == 0xcafebeefU &&
                   how->version == 21400 && how->blocking == 0;
    if (!is_good || rank < 0 || rank >= world) {
        return INVALID_ARGUMENT;
    }
    *out = new communicator;
    (*out)->folder = id.folder;
    (*out)->world = world;
    (*out)->rank = rank;
    (*out)->sent.resize((size_t)world);
    (*out)->received.resize((size_t)world);
    (*out)->threads.emplace_back(meet, *out);
    return IN_PROGRESS;
}

EXPORT int ncclCommGetAsyncError(communicator *comm, int *out) {
    *out = comm->state;
    return SUCCESS;
}

/* The last rank that leaves removes the folder. */
static void leave(const communicator *comm) {
    std::error_code ignored;
    write_file(comm->folder + "/left" + std::to_string(comm->rank), "", 0);
    int left = 0;
    while (left < comm->world &&
           std::filesystem::exists(comm->folder + "/left" + std::to_string(left))) {
        left++;
    }
    if (left == comm->world) {
        std::filesystem::remove_all(comm->folder, ignored);
    }
}

static int end_communicator(communicator *comm, bool stops) {
    comm->stops = stops;
    for (std::thread &thread : comm->threads) {
        thread.join();
    }
    leave(comm);
    delete comm;
    return SUCCESS;
}

EXPORT int ncclCommDestroy(communicator *comm) {
    return end_communicator(comm, false);
}

EXPORT int ncclCommAbort(communicator *comm) {
    return end_communicator(comm, true);
}

EXPORT int ncclGroupStart() {
    depth++;
    return SUCCESS;
}

static int begin(const message &m, int dtype) {
    bool is_good = depth > 0 && dtype == 1 && m.count > 0 && m.rank >= 0 &&
                   m.rank < m.comm->world && m.comm->state == SUCCESS;
    if (is_good) {
        begun.push_back(m);
    }
    return is_good ? SUCCESS : INVALID_ARGUMENT;
}

EXPORT int ncclSend(const void *data, size_t count, int dtype, int rank,
                    communicator *comm, void *) {
    return begin({ comm, true, (void *)data, count, rank }, dtype);
}

EXPORT int ncclRecv(void *data, size_t count, int dtype, int rank, communicator *comm,
                    void *) {
    return begin({ comm, false, data, count, rank }, dtype);
}

/* The communicator is in progress for a moment, and only then has the stream work. */
EXPORT int ncclGroupEnd() {
    std::vector<message> all;
    if (--depth > 0) {
        return SUCCESS;
    }
    all.swap(begun);
    if (all.empty()) {
        return SUCCESS;
    }
    communicator *comm = all[0].comm;
    comm->state = IN_PROGRESS;
    ((stand_in_drain_fn *)driver_symbol("stand_in_drain"))();
    comm->threads.emplace_back([comm, all] {
        nap();
        for (const message &m : all) {
            if (m.is_sent) {
                int number = comm->sent[(size_t)m.rank]++;
                write_file(name_of(comm, comm->rank, m.rank, number), see(m.data),
                           m.count);
                continue;
            }
            int number = comm->received[(size_t)m.rank]++;
            hold_stream(1);
            std::thread(receive, comm, m, name_of(comm, m.rank, comm->rank, number))
                .detach();
        }
        comm->state = SUCCESS;
    });
    return IN_PROGRESS;
}
