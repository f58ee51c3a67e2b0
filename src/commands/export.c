/*
 * export: writes a checkpoint for other programs (src/export).
 */
#include "export/export.h"

static const struct cr_opt export_opts[] = {
    CR_ENUM_DEFAULT(struct cr_export_opts, to, 0, CR_EXPORT_TO,
                    "Format to write. auto: by the suffix of -o."),
    CR_STR_OPTIONAL(struct cr_export_opts, out,
                    "File to write; - is standard output, with --to.",
                    .flag = 'o', .text = "FILE"),
    CR_ENUM_DEFAULT(struct cr_export_opts, dtype, 0, CR_SAVED_DTYPES,
                    "Type of the stored weights. auto: that of the "
                    "checkpoint. An ONNX model computes in float32 in any "
                    "case."),
    CR_BOOL_DEFAULT(struct cr_export_opts, normalize, false,
                    "onnx: include the fixed transforms of the datapipe; "
                    "inputs are samples as stored."),
    CR_STR_OPTIONAL(struct cr_export_opts, ckpt,
                    "Weights, if the operand is a config.", .text = "CKPT"),
    { 0 },
};

static int export_run(struct cr_cli *cli)
{
    cr_export(cli, cr_cli_opts(cli));
    return 0;
}

const struct cr_command cr_command_export = {
    .about = {
        .name = "export",
        .summary = "Write a checkpoint for other programs.",
        .detail =
            "onnx writes the network in predict mode, opset 17, with its "
            "weights under their names; the first dimension of inputs and "
            "outputs is the batch, N. Outputs are those of the network, such "
            "as logits, and inputs those after the datapipe; standard error "
            "names the transforms that are omitted. An op that has no ONNX "
            "form is an error (exit 2). --normalize puts the transforms at the "
            "end of the datapipe of each column into the model: Rescale, "
            "Normalize, HWC2CHW, TypeCast, Standardize, MinMax and Clip. c "
            "writes one C99 file with the weights and NAME_predict(x, n, y), "
            "which needs only the math library; NAME is that of the file, and "
            "-DNAME_MAIN adds a program that reads rows of numbers. It has "
            "dense layers, embeddings, one- and two-dimensional convolution "
            "and pooling, normalisation except LRN, activations except GLU "
            "and RReLU, arithmetic, softmax, concat, sums and means, and "
            "changes of shape; any other op is an error (exit 2). Inputs are "
            "those after the datapipe, which cellrun data show FILE --json "
            "prints. Indices are numbers like others; a row of an "
            "index out of range is zeros. ckpt (MindSpore), npz and "
            "safetensors files contain the weights that eval and predict use: "
            "no optimizer slots, and with eval.use_ema the moving averages. A "
            "checkpoint without config is written as these with the names of "
            "its tensors; with the config and --ckpt it is written as any "
            "format, with the names of the network: those of PyTorch are "
            "matched as `load` does.",
        .example = "cellrun export runs/digits -o digits.onnx\n"
                   "cellrun export runs/digits --normalize -o raw.onnx\n"
                   "cellrun export runs/digits -o digits.c\n"
                   "cellrun export runs/digits -o digits.npz\n"
                   "cellrun export runs/digits --dtype float16 -o "
                   "digits.safetensors\n",
        .opts = export_opts,
        .size = sizeof(struct cr_export_opts),
    },
    .usage = "CKPT|CONFIG --ckpt CKPT -o FILE [--to FORMAT]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .run = export_run,
};
