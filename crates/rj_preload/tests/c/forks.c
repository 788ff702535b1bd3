// fork before, after and while the GPU is used.
#include "rj.h"
#include <pthread.h>

static void child_opens(void) {
    int fd = open_kfd();
    CHECK(fd >= 0 && alive(fd));
    _exit(0);
}
static void reap(pid_t pid) {
    int st;
    CHECK(waitpid(pid, &st, 0) == pid);
    CHECK(WIFEXITED(st) && WEXITSTATUS(st) == 0);
}
static volatile int stop;
static void *churn(void *arg) {
    while (!stop) {
        int fd = open_kfd();
        CHECK(fd >= 0 && alive(fd) && close(fd) == 0);
    }
    return arg;
}
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    pid_t pid;
    alarm(120);
    if (!strcmp(what, "child-first")) {
        if ((pid = fork()) == 0) child_opens();
        reap(pid);
        int fd = open_kfd();
        CHECK(fd >= 0 && alive(fd));
    } else if (!strcmp(what, "then-fork")) {
        int fd = open_kfd();
        CHECK(fd >= 0 && alive(fd));
        if ((pid = fork()) == 0) {
            CHECK(dead(fd));
            void *p = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
            CHECK(p == MAP_FAILED && errno == EBADF);
            int mine = open_kfd();
            CHECK(mine >= 0 && alive(mine) && dead(fd));
            // The child's child has neither.
            pid_t grandchild = fork();
            if (grandchild == 0) {
                CHECK(dead(fd) && dead(mine));
                child_opens();
            }
            reap(grandchild);
            CHECK(alive(mine) && close(fd) == 0 && close(mine) == 0);
            _exit(0);
        }
        reap(pid);
        CHECK(alive(fd));
        int more = dup(fd);
        CHECK(close(fd) == 0 && alive(more));
    } else if (!strcmp(what, "vfork")) {
        int fd = open_kfd();
        CHECK(fd >= 0 && alive(fd));
        for (int i = 0; i < 20; i++) {
            if ((pid = vfork()) == 0) {
                // Closes and replaces its own copies; the parent's table is in the same memory.
                dup2(0, fd);
                close(fd);
                closefrom(3);
                execl("/bin/true", "true", (char *)0);
                _exit(8);
            }
            reap(pid);
            CHECK(alive(fd));
        }
    } else if (!strcmp(what, "storm")) {
        pthread_t t[3];
        for (int i = 0; i < 3; i++) CHECK(pthread_create(&t[i], 0, churn, 0) == 0);
        for (int i = 0; i < 100; i++) {
            if ((pid = fork()) == 0) {
                alarm(60);
                child_opens();
            }
            reap(pid);
        }
        stop = 1;
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    } else {
        CHECK(!"what?");
    }
    puts("done");
    return 0;
}
