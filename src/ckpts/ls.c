/* ckpt ls: the checkpoints of a run, or the tensors of a file. */
#include <inttypes.h>
#include <sys/stat.h>

#include "base/table.h"
#include "ckpt/checkpoint.h"
#include "ckpts/ckpts.h"

/* Lists the checkpoints of a run, newest first. */
static void ls_folder(struct cr_cli *cli, const char *dir)
{
    struct cr_table table = { .arena = cli->arena, .align = "lrrrl" };
    struct cr_buf json = { .arena = cli->arena };
    const char *inner = cr_path_join(cli->arena, dir, "ckpt"), *comma = "";
    const struct cr_ckpt_file *file;
    struct stat st;
    int n;

    if (stat(inner, &st) == 0 && S_ISDIR(st.st_mode))
        dir = inner;
    file = cr_ckpt_list(cli->arena, cli->diag, dir, NULL, &n);
    if (n < 0)
        return;
    if (n == 0) {
        cr_error(cli->diag, cr_at_file(cli->arena, dir), CR_E_CKPT_MISSING,
                 "no checkpoints in this folder");
        return;
    }
    cr_table_add(&table, "file");
    cr_table_add(&table, "epoch");
    cr_table_add(&table, "step");
    cr_table_add(&table, "bytes");
    cr_table_add(&table, "");
    for (int i = 0; i < n; i++) {
        const char *path = file[i].path;
        bool best = cr_ckpt_same(
            path, cr_path_join(cli->arena, dir, "best.safetensors"));
        bool last = cr_ckpt_same(
            path, cr_path_join(cli->arena, dir, "last.safetensors"));
        int64_t bytes = stat(path, &st) == 0 ? st.st_size : 0;

        cr_table_add(&table, path);
        cr_table_f(&table, "%" PRId64, file[i].epoch);
        cr_table_f(&table, "%" PRId64, file[i].step);
        cr_table_f(&table, "%" PRId64, bytes);
        cr_table_f(&table, "%s%s%s", best ? "best" : "",
                   best && last ? " " : "", last ? "last" : "");
        cr_buf_f(&json, "%s{\"file\": ", comma);
        cr_buf_json(&json, path);
        cr_buf_f(&json,
                 ", \"epoch\": %" PRId64 ", \"step\": %" PRId64
                 ", \"bytes\": %" PRId64 ", \"best\": %s, \"last\": %s}",
                 file[i].epoch, file[i].step, bytes, best ? "true" : "false",
                 last ? "true" : "false");
        comma = ", ";
    }
    if (cli->json)
        printf("[%s]\n", cr_buf_text(&json));
    else
        cr_table_show(&table, false);
}

static void ls_run(struct cr_cli *cli, const char *path)
{
    struct cr_buf json = { .arena = cli->arena };
    struct cr_tensor_file *file;
    struct stat st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        ls_folder(cli, path);
        return;
    }
    file = cr_tensor_file_open(cli->arena, cli->diag, path);
    if (!file)
        return;
    if (cli->json) {
        cr_ckpts_tensors_json(cli, file, &json);
        puts(cr_buf_text(&json));
    } else {
        cr_ckpts_tensors(cli, file);
    }
    cr_tensor_file_close(file);
}

const struct cr_ckpts_sub cr_ckpts_sub_ls = { .name = "ls", .run = ls_run };
