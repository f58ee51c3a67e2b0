/* Memory that processes of mpirun share: it is that of number 0, or none. */
#include "mpi/shared.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether a process with number 1 opens the memory at that place. */
static bool opens(struct cr_shared_place place)
{
    const struct cr_shared_opts opts = { .rank = 1, .size = 2 };
    pid_t child = fork();
    int status;

    if (child == 0)
        _Exit(cr_shared_open(&opts, &place) ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child &&
           WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
    const struct cr_shared_opts opts = { .rank = 0, .size = 2 };
    struct cr_shared_place place = { 0 }, other;

    ok(cr_shared_open(&opts, &place), "number 0 makes it");
    ok(opens(place), "another process opens it");
    other = place;
    other.file = memfd_create("other", MFD_CLOEXEC);
    ok(ftruncate((int)other.file, 1 << 28) == 0 && !opens(other),
       "another file of that number is not used");
    other.file = 1000;
    ok(!opens(other), "no file of that number");
    cr_shared_close();
    return done();
}
