/* The verifier of plans notices each kind of damage. */
#include "nets.h"
#include "run/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[] =
    "network:\n"
    "  flatten: Flatten\n"
    "  layers: [{Dense: [20, 17]}, ReLU, {Dense: [17, 19]}, ReLU, {Dense: [19, "
    "10]}]\n"
    "loss: CrossEntropyLoss\n"
    "optimizer: {SGD: {learning_rate: 0.1}}\n";

static const struct shape shape = { .x = { .rank = 3, .dim = { 1, 4, 5 } },
                                    .classes = 10 };

static void break_maker(struct cr_exec *e)
{
    cr_step_before(e, e->first->next, e->first);
}

static void break_operand(struct cr_exec *e)
{
    cr_operand_set(&e->first->next->x[0], e->last->dx[0]);
}

static void break_uses(struct cr_exec *e)
{
    e->first->y[0]->n_uses++;
}

static void break_shape(struct cr_exec *e)
{
    e->first->out[0].dim[0]++;
}

static void break_writer(struct cr_exec *e)
{
    e->first->y[0]->maker = e->last;
}

/* The last step reads a parameter that the one before it has updated. */
static void break_order(struct cr_exec *e)
{
    cr_operand_set(&e->last->dy[0], e->last->prev->acc[0].val);
}

/* A weight's gradient in the place of its layer's result. */
static void break_memory(struct cr_exec *e)
{
    struct cr_exec_step *s = e->last->prev;

    while (s->kind != CR_BACKWARD)
        s = s->prev;
    s->dx[1]->offset = s->dx[2]->offset;
}

/* A step whose kernels take no mask after their result. */
static void break_end(struct cr_exec *e)
{
    e->first->end.parts |= CR_END_MASK;
}

static void break_activation(struct cr_exec *e)
{
    e->first->next->end.act = NULL;
}

/* A gradient that is masked by the weight. */
static void break_mask(struct cr_exec *e)
{
    struct cr_exec_step *s = e->last_forward->next;

    while (!s->mask[0].val)
        s = s->next;
    cr_operand_set(&s->mask[0], s->x[1].val);
}

/* The second layer's result in the place of the first one's, which its weight's
 * gradient reads. */
static void break_share(struct cr_exec *e)
{
    struct cr_exec_step *s = e->first->next;

    s->y[0]->alias = s->x[0].val;
    s->y[0]->bytes = 0;
}

/* 19 features in the place of 17. */
static void break_fit(struct cr_exec *e)
{
    struct cr_exec_step *s = e->first->next->next;

    s->y[0]->alias = s->x[0].val;
}

static const struct damage {
    const char *name, *message;
    void (*done)(struct cr_exec *e);
} damages[] = {
    { "a step before the one whose result it reads", "written later",
      break_maker },
    { "a forward step that reads a gradient", "written later", break_operand },
    { "a wrong number of readers", "readers", break_uses },
    { "an output of another shape", "shape", break_shape },
    { "an output of two steps", "another step", break_writer },
    { "a reader after an update", "overwritten", break_order },
    { "two values in one place", "shares memory", break_memory },
    { "an epilogue that no kernel takes", "epilogue", break_end },
    { "an activation that is missing", "activation", break_activation },
    { "a mask of another shape", "mask", break_mask },
    { "a result on one that is read later", "still read", break_share },
    { "a result on a smaller one", "does not fit", break_fit },
};

/* What the verifier of the damaged plan says before it aborts; in a process of
 * its own. */
static void verifier(void)
{
    struct made m;
    struct cr_exec *e;
    size_t i;

    if (!made_ok(&m, text, shape, 3))
        return;
    for (i = 0; i < CR_LEN(damages); i++) {
        char said[512] = "";
        int fd[2], status;
        ssize_t n;
        pid_t pid;

        e = made_exec(&m, (struct cr_exec_opts){ .training = true,
                                                 .backward = true,
                                                 .separate_update = true,
                                                 .update = true });
        cr_plan_verify(e, "test");
        if (pipe(fd) != 0 || (pid = fork()) < 0)
            return;
        if (pid == 0) {
            dup2(fd[1], STDERR_FILENO);
            damages[i].done(e);
            cr_plan_verify(e, "test");
            _exit(0);
        }
        close(fd[1]);
        n = read(fd[0], said, sizeof said - 1);
        close(fd[0]);
        waitpid(pid, &status, 0);
        ok(n > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
               strstr(said, "after pass test") &&
               strstr(said, damages[i].message),
           "the verifier finds %s", damages[i].name);
        cr_exec_free(e);
    }
    made_free(&m);
}

int main(void)
{
    verifier();
    return done();
}
