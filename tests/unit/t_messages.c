/*
 * Messages between 2 to 5 processes, which this program starts by mpirun: sums
 * of any length, several under way at a time, waited for in any order; maxima;
 * and parts of any length that are gathered. Numbers are small integers, so
 * that sums are exact.
 */
#include "mpi/mpi.h"
#include "num/rng.h"
#include "tap.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 30
#define SUMS 6 /* at most, under way */

static struct cr_rng rng;
static uint64_t draws;

static int64_t draw(int64_t below)
{
    return (int64_t)(cr_rng_u32(&rng, draws++) % (uint32_t)below);
}

struct sum {
    enum cr_mpi_type type;
    int64_t n, key;
    void *data;
};

/* Short ones, and those about where a sum gets one more piece. */
static int64_t draw_size(void)
{
    int64_t piece = 32768 * (int64_t)cr_mpi_size();

    switch (draw(4)) {
    case 0: return 1 + draw(20);
    case 1: return 1000 + draw(3000);
    case 2: return piece * (1 + draw(3)) - 3 + draw(7);
    default: return 1 + draw(400000);
    }
}

static double number(const struct sum *s, int64_t i)
{
    return (double)((i * 7 + s->key) % 101 - 40);
}

static void sum_make(struct sum *s)
{
    int64_t i;

    s->type = draw(2) ? CR_MPI_FLOAT : CR_MPI_DOUBLE;
    s->n = draw_size();
    s->key = draw(1000);
    s->data = malloc((size_t)s->n * sizeof(double));
    for (i = 0; i < s->n; i++) {
        double v = (cr_mpi_rank() + 1) * number(s, i);

        if (s->type == CR_MPI_FLOAT)
            ((float *)s->data)[i] = (float)v;
        else
            ((double *)s->data)[i] = v;
    }
}

static bool sum_check(struct sum *s)
{
    int all = cr_mpi_size() * (cr_mpi_size() + 1) / 2;
    bool good = true;
    int64_t i;

    for (i = 0; i < s->n && good; i++) {
        double v = s->type == CR_MPI_FLOAT ? (double)((float *)s->data)[i]
                                           : ((double *)s->data)[i];

        good = v == all * number(s, i);
        if (!good)
            fprintf(stderr, "rank %d: element %lld of %lld is %g, not %g\n",
                    cr_mpi_rank(), (long long)i, (long long)s->n, v,
                    all * number(s, i));
    }
    free(s->data);
    return good;
}

/* Parts of any length, and some of none, that all processes get. */
static bool gather(void)
{
    size_t from[16] = { 0 }, i;
    unsigned char *all;
    bool good = true;
    int r;

    for (r = 0; r < cr_mpi_size(); r++)
        from[r + 1] = from[r] + (size_t)(draw(4) ? draw_size() : 0) *
                                    (draw(6) ? 1 : 8);
    all = calloc(from[cr_mpi_size()] + 1, 1);
    for (i = from[cr_mpi_rank()]; i < from[cr_mpi_rank() + 1]; i++)
        all[i] = (unsigned char)(i * 7 % 251);
    cr_mpi_gather_parts(all, from);
    for (i = 0; i < from[cr_mpi_size()] && good; i++)
        good = all[i] == i * 7 % 251;
    if (!good)
        fprintf(stderr, "rank %d: byte %zu of %zu is %d\n", cr_mpi_rank(),
                i - 1, from[cr_mpi_size()], all[i - 1]);
    good = good && all[from[cr_mpi_size()]] == 0;
    free(all);
    return good;
}

/* Maxima, a few and many. */
static bool maxima(void)
{
    int64_t n = draw(2) ? 1 + draw(5) : 1000 + draw(100000), i;
    int64_t *x = malloc((size_t)n * sizeof *x);
    bool good = true;

    for (i = 0; i < n; i++)
        x[i] = i % cr_mpi_size() == cr_mpi_rank() ? i : -1;
    cr_mpi_max(x, n);
    for (i = 0; i < n && good; i++)
        good = x[i] == i;
    if (!good)
        fprintf(stderr, "rank %d: maximum %lld of %lld is %lld\n",
                cr_mpi_rank(), (long long)(i - 1), (long long)n,
                (long long)x[i - 1]);
    free(x);
    return good;
}

static bool turn(void)
{
    int n = 1 + (int)draw(SUMS), first = (int)draw(n), i;
    struct sum sums[SUMS], at_once;
    bool good = true;

    for (i = 0; i < n; i++) {
        sum_make(&sums[i]);
        cr_mpi_sum_start(i, sums[i].data, sums[i].n, sums[i].type);
        cr_mpi_progress();
    }
    sum_make(&at_once);
    cr_mpi_sum(at_once.data, at_once.n, at_once.type);
    good = sum_check(&at_once);
    good = gather() && good;
    good = maxima() && good;
    usleep((useconds_t)(cr_mpi_rank() * 500)); /* not all come at a time */
    for (i = 0; i < n; i++) {
        int slot = (first + i) % n;

        cr_mpi_sum_wait(slot);
        good = sum_check(&sums[slot]) && good;
    }
    return good;
}

/* One of the processes. */
static int process(void)
{
    struct cr_arena arena = { 0 };
    struct cr_diag diag = { .arena = &arena };
    bool good = true;
    int i;

    if (!cr_mpi_start(&diag)) {
        cr_diag_print(&diag, stderr, (struct cr_diag_format){ 0 });
        return 1;
    }
    rng = cr_rng((uint64_t)cr_mpi_size(), CR_STREAM_TEST, 0, 0);
    for (i = 0; i < TURNS; i++)
        good = turn() && good;
    good = cr_mpi_all(good) && cr_mpi_size() > 1;
    return cr_mpi_end(!good);
}

/* All of them, by the mpirun of one MPI. */
static void processes(const char *exe, const char *mpi, int n)
{
    const char *root = strcmp(mpi, "openmpi") == 0
                           ? "--allow-run-as-root --oversubscribe"
                           : "";
    char command[2 * PATH_MAX];
    int status;

    /* cellrun opens its objects in the program's folder */
    (void)snprintf(command, sizeof command,
                   "object=cellrun-mpi-%s.so\n"
                   "cd \"$(dirname '%s')\" && ln -sf ../../$object . &&\n"
                   "[ -e $object ] && command -v mpirun.%s >/dev/null ||\n"
                   "    exit 99\n"
                   "export ASAN_OPTIONS=detect_leaks=0 CELLRUN_MPI=messages\n"
                   "timeout 100 mpirun.%s %s -n %d '%s' process 1>&2\n",
                   mpi, exe, mpi, mpi, root, n, exe);
    status = system(command);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (status == 99)
        ok(true, "%s # SKIP not there", mpi);
    else
        ok(status == 0, "%s: sums and parts of any length, %d processes", mpi,
           n);
}

int main(int argc, char **argv)
{
    char exe[PATH_MAX] = "";
    int n;

    (void)argv;
    if (argc > 1)
        return process();
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0)
        return 1;
    for (n = 2; n <= 5; n++)
        processes(exe, "openmpi", n);
    processes(exe, "mpich", 3);
    return done();
}
