// Allocates in threads and opens the GPU in each.
#include "rj.h"
#include <pthread.h>

static void *work(void *arg) {
    for (int i = 0; i < 200; i++) {
        char *p[32];
        for (int k = 0; k < 32; k++) {
            CHECK((p[k] = malloc(1u << (k % 18))));
            p[k][0] = 1;
        }
        for (int k = 0; k < 32; k++) free(p[k]);
        int fd = open_kfd();
        CHECK(fd >= 0 && alive(fd) && close(fd) == 0);
    }
    return arg;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&t[i], 0, work, 0) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(t[i], 0) == 0);
    return 0;
}
