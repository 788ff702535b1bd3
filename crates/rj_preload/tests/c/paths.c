// Every way that libc has to look at a path sees the devices and the driver's files.
#include "rj.h"
#include <dirent.h>
#include <glob.h>
#include <limits.h>

extern int __open_2(const char *, int), __open64_2(const char *, int), __openat_2(int, const char *, int),
    __openat64_2(int, const char *, int), __open(const char *, int, ...), __open64(const char *, int, ...);
extern int __xstat(int, const char *, struct stat *), __lxstat(int, const char *, struct stat *),
    __fxstat(int, int, struct stat *), __fxstatat(int, int, const char *, struct stat *, int);
extern char *__realpath_chk(const char *, char *, size_t);
extern ssize_t __readlink_chk(const char *, char *, size_t, size_t);

#define LIVE "/sys/module/amdgpu/initstate"

static void device(struct stat *st, unsigned major, unsigned minor) {
    CHECK(S_ISCHR(st->st_mode));
    CHECK(major(st->st_rdev) == major || major == 0);
    CHECK(minor(st->st_rdev) == minor);
    memset(st, 0, sizeof *st);
}
static void opened(int fd) {
    CHECK(fd >= 0 && alive(fd));
    struct stat st;
    CHECK(fstat(fd, &st) == 0);
    device(&st, 0, 0);
    CHECK(close(fd) == 0);
}
static void says(FILE *f, const char *what) {
    char text[64] = "";
    CHECK(f && fgets(text, sizeof text, f) && !strcmp(text, what));
    fclose(f);
}
static void opens(void) {
    opened(open("/dev/kfd", O_RDWR));
    opened(open64("/dev/kfd", O_RDWR));
    opened(__open("/dev/kfd", O_RDWR));
    opened(__open64("/dev/kfd", O_RDWR));
    opened(__open_2("/dev/kfd", O_RDWR));
    opened(__open64_2("/dev/kfd", O_RDWR));
    opened(openat(AT_FDCWD, "/dev/kfd", O_RDWR));
    opened(openat64(99, "/dev/kfd", O_RDWR));
    opened(__openat_2(AT_FDCWD, "/dev/kfd", O_RDWR));
    opened(__openat64_2(AT_FDCWD, "/dev/kfd", O_RDWR));
    opened(open("//dev/./kfd", O_RDWR));
    opened(open("/dev/../dev/kfd", O_RDWR));
    int dri = open("/dev/dri", O_RDONLY | O_DIRECTORY);
    CHECK(dri >= 0);
    struct stat st;
    CHECK(fstatat(dri, "renderD128", &st, 0) == 0);
    device(&st, 226, 128);
    int fd = openat(dri, "renderD128", O_RDWR);
    CHECK(fd >= 0 && fstat64(fd, (void *)&st) == 0);
    device(&st, 226, 128);
    close(fd);
    close(dri);
    CHECK(open("/dev/kfd", O_RDONLY | O_DIRECTORY) == -1 && errno == ENOTDIR);
    CHECK(open("/dev/kfd", O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
    CHECK(open("/dev/dri/renderD999", O_RDWR) == -1 && errno == ENOENT);
    // The driver's files are read only, to root as well.
    CHECK(open(LIVE, O_WRONLY) == -1 && errno == EACCES);
    CHECK(creat(LIVE, 0600) == -1 && errno == EACCES);
    CHECK(!fopen(LIVE, "w") && errno == EACCES);
    CHECK(!fopen64(LIVE, "r+") && errno == EACCES);
    says(fopen(LIVE, "r"), "live\n");
    says(fopen64(LIVE, "re"), "live\n");
    says(freopen(LIVE, "r", fopen("/dev/null", "r")), "live\n");
    says(freopen64(LIVE, "r", fopen("/dev/null", "r")), "live\n");
}
static void stats(void) {
    struct stat st;
    CHECK(stat("/dev/kfd", &st) == 0);
    device(&st, 0, 0);
    CHECK(lstat("/dev/dri/card0", &st) == 0);
    device(&st, 226, 0);
    CHECK(stat64("/dev/dri/renderD128", (void *)&st) == 0);
    device(&st, 226, 128);
    CHECK(lstat64("/dev/dri/renderD128", (void *)&st) == 0);
    device(&st, 226, 128);
    CHECK(__xstat(1, "/dev/dri/renderD128", &st) == 0);
    device(&st, 226, 128);
    CHECK(__lxstat(1, "/dev/dri/renderD128", &st) == 0);
    device(&st, 226, 128);
    CHECK(__fxstatat(1, AT_FDCWD, "/dev/dri/renderD128", &st, 0) == 0);
    device(&st, 226, 128);
    int fd = open("/dev/dri/renderD128", O_RDWR);
    CHECK(__fxstat(1, fd, &st) == 0);
    device(&st, 226, 128);
    struct statx x;
    CHECK(statx(AT_FDCWD, "/dev/dri/renderD128", 0, STATX_BASIC_STATS, &x) == 0);
    CHECK(S_ISCHR(x.stx_mode) && x.stx_rdev_major == 226 && x.stx_rdev_minor == 128);
    memset(&x, 0, sizeof x);
    CHECK(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x) == 0 && S_ISCHR(x.stx_mode));
    CHECK(fstatat(fd, "", &st, AT_EMPTY_PATH) == 0);
    device(&st, 226, 128);
    close(fd);
    CHECK(access("/dev/kfd", R_OK | W_OK) == 0 && eaccess("/dev/kfd", R_OK) == 0 && euidaccess("/dev/kfd", R_OK) == 0);
    CHECK(faccessat(AT_FDCWD, "/dev/kfd", R_OK | W_OK, AT_EACCESS) == 0);
    CHECK(access("/sys/class/kfd/none", F_OK) == -1 && errno == ENOENT);
    CHECK(stat("/dev/null", &st) == 0);
    device(&st, 1, 3);
}
static int named(const struct dirent *e) { return !strncmp(e->d_name, "renderD", 7); }
static void lists(void) {
    DIR *d = opendir("/dev/dri");
    CHECK(d);
    int found = 0;
    for (struct dirent *e; (e = readdir(d));)
        if (named(e)) {
            found++;
            CHECK(e->d_type == DT_CHR);
        }
    closedir(d);
    CHECK(found >= 1);
    struct dirent **all;
    CHECK(scandir("/dev/dri", &all, named, alphasort) == found && !strcmp(all[0]->d_name, "renderD128"));
    glob_t g;
    CHECK(glob("/dev/dri/renderD*", 0, 0, &g) == 0 && g.gl_pathc == found);
    CHECK(!strcmp(g.gl_pathv[0], "/dev/dri/renderD128"));
    globfree(&g);
    memset(&g, 0, sizeof g);
    CHECK(glob("/dev/nul[l]", 0, 0, &g) == 0 && !strcmp(g.gl_pathv[0], "/dev/null"));
}
static void names(void) {
    char a[PATH_MAX], b[PATH_MAX], link[64];
    CHECK(realpath("/sys/class/kfd/kfd", a) && !strcmp(a, "/sys/devices/virtual/kfd/kfd"));
    CHECK(__realpath_chk("/sys/class/kfd/kfd/topology/..", b, sizeof b) && !strcmp(a, b));
    char *c = canonicalize_file_name("/dev/kfd");
    CHECK(c && !strcmp(c, "/dev/kfd"));
    CHECK(!realpath("/sys/class/kfd/none", a) && errno == ENOENT);
    CHECK(realpath("/usr/../dev/null", a) && !strcmp(a, "/dev/null"));
    ssize_t n = readlink("/sys/class/kfd/kfd", a, sizeof a);
    CHECK(n > 0 && a[0] == '.' && __readlink_chk("/sys/class/kfd/kfd", b, 5, sizeof b) == 5 && !memcmp(a, b, 5));
    int fd = open("/dev/kfd", O_RDWR);
    sprintf(link, "/proc/self/fd/%d", fd);
    CHECK(readlink(link, a, sizeof a) == 8 && !memcmp(a, "/dev/kfd", 8));
    CHECK(readlinkat(AT_FDCWD, link, a, 4) == 4 && !memcmp(a, "/dev", 4));
    close(fd);
    CHECK(chdir("/sys/class/kfd") == 0 && getcwd(a, sizeof a) && !strcmp(a, "/sys/class/kfd"));
    CHECK(access("kfd/topology", F_OK) == 0);
    CHECK(chdir("/dev") == 0 && getcwd(a, sizeof a) && !strcmp(a, "/dev"));
    CHECK(chdir("/dev/dri") == 0);
    opened(open("../kfd", O_RDWR));
    fd = open("renderD128", O_RDWR);
    struct stat st;
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    device(&st, 226, 128);
    CHECK(chdir("/") == 0);
}
int main(void) {
    opens();
    stats();
    lists();
    names();
    puts("done");
    return 0;
}
