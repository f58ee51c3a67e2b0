/*
 * A network in a process, where the kernel has no sch_netem: carries packets
 * between tun devices, each of them a host, and delays them.
 *
 *   delay SECONDS DEVICE...
 *
 * What is sent to an IPv4 address that ends in .i goes to device i, from 1.
 * Each host has a thread, so that links are not slower where there are more of
 * them. Prints "ready" when all devices are open; they may move to other
 * namespaces then.
 */
#include <fcntl.h>
#include <linux/if_tun.h>
#include <math.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define HOSTS 16
#define PACKET 65536
#define QUEUE 1024 /* packets under way from one host; more are lost */

struct packet {
    double arrives;
    int to;
    ssize_t size;
    unsigned char bytes[PACKET];
};

static struct host {
    struct packet *queue;
    int first, n;
} host[HOSTS];

static struct pollfd tun[HOSTS];
static int hosts;
static double delay; /* seconds */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void open_tun(int i, const char *name)
{
    struct ifreq as = { .ifr_flags = IFF_TUN | IFF_NO_PI };

    if (strlen(name) >= IFNAMSIZ) {
        fprintf(stderr, "%s: too long a name\n", name);
        exit(2);
    }
    strcpy(as.ifr_name, name);
    tun[i].fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    tun[i].events = POLLIN;
    if (tun[i].fd < 0 || ioctl(tun[i].fd, TUNSETIFF, &as) != 0)
        fail(name);
    host[i].queue = malloc(QUEUE * sizeof *host[i].queue);
    if (!host[i].queue)
        fail("malloc");
}

/* Takes all that host i has to send. */
static void take(int i)
{
    struct host *h = &host[i];

    while (h->n < QUEUE) {
        struct packet *p = &h->queue[(h->first + h->n) % QUEUE];

        p->size = read(tun[i].fd, p->bytes, sizeof p->bytes);
        if (p->size <= 0)
            return;
        p->to = p->size >= 20 && p->bytes[0] >> 4 == 4 ? p->bytes[19] - 1 : -1;
        if (p->to < 0 || p->to >= hosts)
            continue;
        p->arrives = now() + delay;
        h->n++;
    }
}

/* Delivers what has arrived of host i. Returns when the next one does. */
static double deliver(int i)
{
    struct host *h = &host[i];

    for (; h->n > 0; h->first = (h->first + 1) % QUEUE, h->n--) {
        struct packet *p = &h->queue[h->first];

        if (p->arrives > now())
            return p->arrives;
        /* one that the host does not take is lost */
        if (write(tun[p->to].fd, p->bytes, (size_t)p->size) < 0)
            continue;
    }
    return INFINITY;
}

/* Carries what `arg`, a host, sends. */
static void *carry(void *arg)
{
    struct host *h = arg;
    int i = (int)(h - host);

    for (;;) {
        struct timespec wait;
        double left;

        take(i);
        left = deliver(i) - now();
        /* a full queue waits for its first packet */
        tun[i].events = h->n < QUEUE ? POLLIN : 0;
        left = left > 0 ? left : 0;
        wait.tv_sec = left < 1 ? 0 : 1;
        wait.tv_nsec = left < 1 ? (long)(left * 1e9) : 0;
        if (ppoll(&tun[i], 1, &wait, NULL) < 0)
            fail("ppoll");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int i;

    hosts = argc - 2;
    delay = argc > 1 ? atof(argv[1]) : -1;
    if (hosts < 2 || hosts > HOSTS || delay < 0) {
        fputs("usage: delay SECONDS DEVICE DEVICE...\n", stderr);
        return 2;
    }
    for (i = 0; i < hosts; i++)
        open_tun(i, argv[2 + i]);
    prctl(PR_SET_TIMERSLACK, 1); /* of the threads, too */
    puts("ready");
    fflush(stdout);
    for (i = 1; i < hosts; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, carry, &host[i]) != 0)
            fail("pthread_create");
    }
    carry(&host[0]);
}
