/* What a confined process may do, and how each of its ends is told.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/confine/confine.h"
#include "base/confine/seccomp_shim.h"
#include "driver/compile/isolate.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
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

/* ---- guests ---- */

static int run_guest(int (*work)(void)) {
    char why[128];
    pid_t pid = fork();
    if (pid == 0) {
        _exit(ig_confine_guest(BOUND, why) ? work() : CANNOT);
    }
    int result = 0;
    CHECK_INT(waitpid(pid, &result, 0), pid);
    return result;
}

static int look_elsewhere(void) {
    bool is_refused = socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM;
    is_refused = is_refused && socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM;
    is_refused = is_refused && kill(getppid(), 0) != 0 && errno == EPERM;
    is_refused = is_refused && kill(-1, 0) != 0 && errno == EPERM;
    is_refused = is_refused && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0;
    is_refused = is_refused && unshare(CLONE_NEWUSER) != 0 && errno == EPERM;
    return is_refused && !can_allocate(2u * BOUND) ? 0 : 1;
}

/* As a Python does: files, pipes, threads, programs, code. */
static int work_freely(void) {
    int pair[2], seen = 0, status = 1;
    pthread_t thread;
    bool is_good = open("/dev/null", O_RDONLY) >= 0 && pipe(pair) == 0 &&
                   socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 &&
                   kill(getpid(), 0) == 0 && map_code() && protect_code() &&
                   pthread_create(&thread, NULL, fill_memory, &seen) == 0 &&
                   pthread_join(thread, NULL) == 0;
    pid_t child = is_good ? fork() : -1;
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

/* The filter holds for the programs that it starts, too. */
static int look_from_a_program(void) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "kill -0 $0 2>/dev/null", "1", (char *)NULL);
    }
    return waitpid(child, &status, 0) == child && status != 0 ? 0 : 1;
}

TEST(a_guest_computes_and_looks_nowhere_else) {
    CHECK_INT(IG_IS_SANITIZED ? 0 : run_guest(look_elsewhere), 0);
    CHECK_INT(IG_IS_SANITIZED ? 0 : run_guest(work_freely), 0);
    CHECK_INT(IG_IS_SANITIZED ? 0 : run_guest(look_from_a_program), 0);
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
           files_look_absent_and_computing_goes_on,
           a_guest_computes_and_looks_nowhere_else, each_end_has_a_status_and_words)
