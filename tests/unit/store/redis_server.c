/* A real redis-server on a socket in a folder of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/redis_server.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_SECONDS = 60 };

static void become_server(const redis_server *server, const char *setting,
                          const char *value) {
    char log[96], path[96];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)snprintf(path, sizeof path, "%s/socket", server->folder);
    (void)snprintf(log, sizeof log, "%s/log", server->folder);
    (void)execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path,
                 "--dir", server->folder, "--logfile", log, "--save", "",
                 "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy",
                 "noeviction", setting, value, (char *)NULL);
    _exit(127);
}

/* It may be connected to while it still reads its files. */
static bool answers(const redis_server *server) {
    char reply[8] = "";
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/socket",
                   server->folder);
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(made >= 0);
    bool is_there = connect(made, (struct sockaddr *)&address, sizeof address) == 0 &&
                    send(made, "PING\r\n", 6, MSG_NOSIGNAL) == 6 &&
                    read(made, reply, sizeof reply - 1) > 0;
    (void)close(made);
    return is_there && (reply[0] == '+' || strncmp(reply, "-NOAUTH", 7) == 0);
}

/* False: there is no such program. */
static bool launch(redis_server *server, const char *setting, const char *value) {
    server->process = fork();
    CHECK(server->process >= 0);
    if (server->process == 0) {
        become_server(server, setting, value);
    }
    for (int i = 0; i < START_SECONDS * 100; i++) {
        int ended = 0;
        if (answers(server)) {
            return true;
        }
        if (waitpid(server->process, &ended, WNOHANG) == server->process) {
            server->process = 0;
            CHECK_MSG(WIFEXITED(ended) && WEXITSTATUS(ended) == 127,
                      "redis-server ended at its start");
            return false;
        }
        (void)usleep(10000);
    }
    CHECK_MSG(false, "redis-server does not start");
    return false;
}

bool redis_server_start(redis_server *server, const char *setting, const char *value) {
    (void)snprintf(server->folder, sizeof server->folder, "/tmp/ingot-redis-XXXXXX");
    CHECK(mkdtemp(server->folder));
    (void)snprintf(server->url, sizeof server->url, "redis://%s/socket",
                   server->folder);
    if (!launch(server, setting, value)) {
        unit_skip("no redis-server");
        (void)rmdir(server->folder);
        return false;
    }
    return true;
}

void redis_server_restart(redis_server *server) {
    CHECK(launch(server, NULL, NULL));
}

void redis_server_kill(redis_server *server) {
    char path[96];
    CHECK_INT(kill(server->process, SIGKILL), 0);
    CHECK_INT(waitpid(server->process, NULL, 0), server->process);
    server->process = 0;
    (void)snprintf(path, sizeof path, "%s/socket", server->folder);
    (void)unlink(path);
}

static int remove_one(const char *path, const struct stat *stat_of, int kind,
                      struct FTW *at) {
    (void)stat_of;
    (void)kind;
    (void)at;
    return remove(path);
}

void redis_server_end(redis_server *server) {
    if (server->process) {
        redis_server_kill(server);
    }
    CHECK_INT(nftw(server->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}
