/* ckpt load-report: what train would report about `load` and `freeze`. */
#include "base/str.h"
#include "ckpt/load.h"
#include "ckpts/ckpts.h"
#include "model/model.h"
#include "train/freeze_report.h"

static const char *report_when(const void *of, const struct cr_unfreeze_rule *u)
{
    const struct cr_cli *cli = of;
    static const char *const units[] = {
        [CR_EPOCHS] = "epoch", [CR_STEPS] = "step", [CR_SAMPLES] = "sample"
    };

    if (u->at.unit >= 0 && (size_t)u->at.unit < CR_LEN(units) &&
        units[u->at.unit])
        return cr_strf(cli->arena, "%s %.10g", units[u->at.unit], u->at.value);
    return cr_strf(cli->arena, "%.10g %% of the run", u->at.value);
}

static int report_run(struct cr_cli *cli)
{
    struct cr_load_report report;
    struct cr_model model;
    const char *frozen;

    if (!cr_model_operands(cli, &model))
        return cr_cli_errors(cli, NULL);
    if (!cr_section(model.config, "load"))
        cr_error(cli->diag, model.config->root->pos, CR_E_MISSING_KEY,
                 "ckpt load-report: the config has no section 'load'");
    else if (cr_model_inspect(&model, 0, true) &&
             cr_load(model.config, model.net, NULL, &report)) {
        frozen = cr_freeze_report(cli->arena, model.net, report_when, cli);
        if (cli->json)
            printf("{\"loaded\": %d, \"skipped\": %d, \"missing\": %d, "
                   "\"unused\": %d}\n",
                   report.loaded, report.skipped, report.missing,
                   report.unused);
        else
            printf("%s\n%s%s", report.text, frozen, *frozen ? "\n" : "");
    }
    cr_model_close(&model);
    return 0;
}

const struct cr_ckpts_sub cr_ckpts_sub_load_report = { .name = "load-report",
                                                       .run_all = report_run };
