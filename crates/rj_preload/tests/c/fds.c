// fds of the GPU are dup'ed, closed, reused, closed in bulk.
#include "rj.h"

static int null(void) { return open("/dev/null", O_RDWR); }
int main(void) {
    int fd = open_kfd();
    CHECK(fd >= 0 && alive(fd));
    CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);

    // Every way to duplicate; the file lives until the last one goes.
    int a = dup(fd), b = dup2(fd, 50), c = dup3(fd, 51, O_CLOEXEC), d = fcntl(fd, F_DUPFD, 60),
        e = fcntl(fd, F_DUPFD_CLOEXEC, 1500 < sysconf(_SC_OPEN_MAX) ? 1500 : 200);
    CHECK(a >= 0 && b == 50 && c == 51 && d >= 60 && e >= 200);
    CHECK(close(fd) == 0 && dead(fd));
    CHECK(alive(a) && alive(b) && alive(c) && alive(d) && alive(e));

    // A closed number belongs to whatever comes next.
    int n = null();
    CHECK(n == fd && kfd_version(n) == ENOTTY);
    CHECK(mmap(0, 4096, PROT_READ, MAP_SHARED, n, 0) != MAP_FAILED || errno == ENODEV);
    // dup2 over a device fd.
    CHECK(dup2(n, b) == b && kfd_version(b) == ENOTTY && alive(a));
    // dup2 of nothing leaves the target as it was.
    CHECK(dup2(777, a) == -1 && errno == EBADF && alive(a));
    // dup2 onto itself.
    CHECK(dup2(a, a) == a && alive(a));
    // Closed behind our back, then reused.
    FILE *f = fdopen(dup(a), "r");
    int hidden = fileno(f);
    CHECK(alive(hidden));
    fclose(f);
    CHECK(null() == hidden && kfd_version(hidden) == ENOTTY);

    // Bulk.
    closefrom(3);
    CHECK(dead(a) && dead(c) && dead(d) && dead(e));
    fd = open_kfd();
    CHECK(fd == 3 && alive(fd));
    CHECK(close_range(100, ~0u, 0) == 0 && alive(fd));
    CHECK(close_range(3, 3, 0) == 0 && dead(3));
    fd = open_kfd();
    CHECK(alive(fd) && close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0 && alive(fd));
    for (int i = 3; i < 2000; i++) close(i);
    fd = open_kfd();
    CHECK(fd == 3 && alive(fd));
    // Many opens and closes leak nothing.
    for (int i = 0; i < 5000; i++) {
        int x = open_kfd();
        CHECK(x == 4 && close(x) == 0);
    }
    puts("done");
    return 0;
}
