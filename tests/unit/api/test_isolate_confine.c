/* What a confined process may do, and how each of its ends is told.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/compile/confine.h"
#include "driver/compile/isolate.h"
#include "driver/compile/seccomp_shim.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BOUND = 256 << 20, CANNOT = 99 };

/* The wait status of a confined child that does `work` and ends with what it gives. */
static int run_confined(int (*work)(void)) {
    char why[128];
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSYS, SIG_DFL);
        _exit(ig_confine(BOUND, why) ? work() : CANNOT);
    }
    int result = 0;
    CHECK_INT(waitpid(pid, &result, 0), pid);
    return result;
}

static int make_socket(void) {
    return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static int run_program(void) {
    execl("/bin/true", "true", (char *)NULL);
    return 1;
}

static int start_process(void) {
    return fork() >= 0;
}

static int map_code(void) {
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0) != MAP_FAILED;
}

static int protect_code(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0);
    return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

static int signal_parent(void) {
    return kill(getppid(), 0) == 0;
}

static int raise_own_limit(void) {
    struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
    return setrlimit(RLIMIT_DATA, &none) == 0;
}

TEST(what_is_not_for_computing_is_killed_by_the_filter) {
    static int (*const works[])(void) = { make_socket,    run_program,  start_process,
                                          map_code,       protect_code, signal_parent,
                                          raise_own_limit };
    for (size_t i = 0; i < IG_COUNT_OF(works) && !IG_IS_SANITIZED; i++) {
        int result = run_confined(works[i]);
        CHECK_MSG(WIFSIGNALED(result) && WTERMSIG(result) == SIGSYS,
                  "work %zu ended with %x", i, (unsigned)result);
    }
}

static int open_files(void) {
    bool is_refused = open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES;
    return is_refused && open("/tmp/ingot-x", O_CREAT | O_WRONLY, 0600) < 0 ? 0 : 1;
}

static void *fill_memory(void *user) {
    *(int *)user = 7;
    return malloc(1 << 20);
}

/* A compiler may take it that memory which is not used can always be had. */
static bool can_allocate(size_t size) {
    void *volatile memory = malloc(size);
    return memory != NULL;
}

static int compute(void) {
    pthread_t thread;
    int seen = 0;
    void *memory = NULL;
    bool is_good = pthread_create(&thread, NULL, fill_memory, &seen) == 0 &&
                   pthread_join(thread, &memory) == 0;
    return is_good && seen == 7 && memory && !can_allocate(2u * BOUND) ? 0 : 1;
}

static int fill_bound(void) {
    if (ig_confine_is_full()) {
        return 1;
    }
    while (can_allocate(1 << 20)) {
    }
    return ig_confine_is_full() ? 0 : 2;
}

TEST(files_look_absent_and_computing_goes_on) {
    CHECK_INT(IG_IS_SANITIZED ? 0 : run_confined(open_files), 0);
    CHECK_INT(IG_IS_SANITIZED ? 0 : run_confined(compute), 0);
    CHECK_INT(IG_IS_SANITIZED ? 0 : run_confined(fill_bound), 0);
}

TEST(each_end_has_a_status_and_words) {
    static const struct {
        int end;
        ig_status status;
        const char *words;
    } rows[] = {
        { SIGBUS, IG_IO, "cut short" },
        { SIGSYS, IG_INTERNAL, "filter of system calls" },
        { SIGSEGV, IG_INTERNAL, "signal 11" },
        { SIGKILL, IG_INTERNAL, "signal 9" },
        { 3 << 8, IG_INTERNAL, "status 3" },
        { 0, IG_INTERNAL, "no result" },
    };
    ig_context *context = ig_context_create(NULL);
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        CHECK_INT(ig_isolate_explain(context, rows[i].end), rows[i].status);
        CHECK_MSG(strstr(ig_context_messages(context), rows[i].words), "%s",
                  ig_context_messages(context));
    }
    ig_context_destroy(context);
}

UNIT_SUITE(isolate_confine, what_is_not_for_computing_is_killed_by_the_filter,
           files_look_absent_and_computing_goes_on, each_end_has_a_status_and_words)
