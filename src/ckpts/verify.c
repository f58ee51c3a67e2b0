/* ckpt verify: reads every byte of a file. */
#include <inttypes.h>

#include "base/table.h"
#include "ckpts/ckpts.h"

static void verify_run(struct cr_cli *cli, const char *path)
{
    struct cr_tensor_file *file =
        cr_tensor_file_open(cli->arena, cli->diag, path);
    struct cr_buf json = { .arena = cli->arena };
    bool summed;
    int n;

    if (!file)
        return;
    cr_tensor_file_entries(file, &n);
    summed = cr_tensor_file_has_checksums(file);
    if (!cr_tensor_file_verify(file, cli->diag)) {
        cr_tensor_file_close(file);
        return;
    }
    if (cli->json) {
        cr_buf_str(&json, "{\"path\": ");
        cr_buf_json(&json, cr_tensor_file_path(file));
        cr_buf_f(&json,
                 ", \"ok\": true, \"checksums\": %s, \"tensors\": %d, "
                 "\"bytes\": %" PRId64 "}",
                 summed ? "true" : "false", n, cr_tensor_file_size(file));
        puts(cr_buf_text(&json));
    } else if (!cli->quiet) {
        printf("%s: ok, %d tensors, %" PRId64 " bytes%s\n",
               cr_escape(cli->arena, cr_tensor_file_path(file)), n,
               cr_tensor_file_size(file), summed ? "" : " (without checksums)");
    }
    cr_tensor_file_close(file);
}

const struct cr_ckpts_sub cr_ckpts_sub_verify = { .name = "verify",
                                                  .run = verify_run };
