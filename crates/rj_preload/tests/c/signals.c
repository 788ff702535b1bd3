// The program's own SIGSEGV and SIGBUS handlers, set before and after the GPU's first use.
#include "rj.h"
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;
static volatile void *seen;
static volatile int count, on_alt, plain;
static char alt[65536];

static void info_handler(int sig, siginfo_t *info, void *context) {
    char here;
    CHECK(sig == SIGSEGV && context);
    seen = info->si_addr;
    on_alt = &here > alt && &here < alt + sizeof alt;
    count++;
    siglongjmp(back, 1);
}
static void plain_handler(int sig) {
    plain = sig;
    siglongjmp(back, 1);
}
static volatile char *bad = (char *)0x1230;
static void fault(void) {
    if (!sigsetjmp(back, 1)) *bad = 1;
}
static int deep(int n) {
    volatile char frame[4096];
    frame[0] = n;
    return n == 0 ? 0 : deep(n + 1) + frame[0];
}
static void set(int flags) {
    struct sigaction a = {.sa_sigaction = info_handler, .sa_flags = SA_SIGINFO | flags}, old;
    CHECK(sigaction(SIGSEGV, &a, 0) == 0);
    CHECK(sigaction(SIGSEGV, 0, &old) == 0 && old.sa_sigaction == info_handler);
    CHECK((old.sa_flags & ~0x04000000) == (SA_SIGINFO | flags));
}
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    struct sigaction old;
    if (strstr(what, "before")) set(0);
    CHECK(alive(open_kfd()));
    CHECK(sigaction(SIGSEGV, 0, &old) == 0);
    CHECK(strstr(what, "before") ? old.sa_sigaction == info_handler : old.sa_handler == SIG_DFL);
    if (strstr(what, "before")) {
        fault();
        CHECK(count == 1 && seen == bad);
    }
    if (strstr(what, "die")) *bad = 1;
    if (strstr(what, "raise")) raise(SIGBUS);
    if (strstr(what, "ignored")) {
        signal(SIGSEGV, SIG_IGN);
        kill(getpid(), SIGSEGV);
        CHECK(signal(SIGSEGV, SIG_IGN) == SIG_IGN);
        *bad = 1;
    }
    set(0);
    fault();
    fault();
    CHECK(seen == bad && count == (strstr(what, "before") ? 3 : 2) && !on_alt);
    // On its own stack, where a stack overflow can be handled.
    stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
    CHECK(sigaltstack(&ss, 0) == 0);
    set(SA_ONSTACK);
    if (!sigsetjmp(back, 1)) deep(1);
    CHECK(on_alt);
    // signal(), for a file that got shorter under its mapping.
    CHECK(signal(SIGBUS, plain_handler) == SIG_DFL && signal(SIGBUS, plain_handler) == plain_handler);
    char name[] = "/tmp/rj-busXXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    CHECK(ftruncate(fd, 4096) == 0);
    bad = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(bad != MAP_FAILED && ftruncate(fd, 0) == 0);
    fault();
    CHECK(plain == SIGBUS);
    // Once only: the second fault kills.
    bad = (char *)0x1230;
    set(SA_RESETHAND);
    fault();
    CHECK(sigaction(SIGSEGV, 0, &old) == 0 && old.sa_handler == SIG_DFL);
    puts("done");
    fflush(stdout);
    *bad = 1;
    return 0;
}
