#include "ckpts/ckpts.h"

/* Those that write a file: model/ckpt_edit.c. */
static const struct cr_ckpts_sub sub_convert = { "convert", 1,
                                                 .write = cr_ckpt_convert },
                                 sub_rename = { "rename", 1,
                                                .write = cr_ckpt_convert },
                                 sub_strip = { "strip", 1,
                                               .write = cr_ckpt_strip },
                                 sub_average = { "average", 0,
                                                 .write_all = cr_ckpt_average };

const struct cr_ckpts_sub *const cr_ckpts_subs[] = { &cr_ckpts_sub_ls,
                                                     &cr_ckpts_sub_show,
                                                     &cr_ckpts_sub_diff,
                                                     &cr_ckpts_sub_verify,
                                                     &sub_convert,
                                                     &sub_rename,
                                                     &sub_strip,
                                                     &sub_average,
                                                     &cr_ckpts_sub_load_report,
                                                     NULL };
