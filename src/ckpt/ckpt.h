/*
 * ckpt/: tensors by name in files: checkpoints (checkpoint.h), safetensors, NPZ
 * and MindSpore's format read by one interface (tensor_file.h), what of them
 * fits a network (load.h), JSON records, the index of runs.
 *
 * Called by train/, model/, predict/ and the commands that edit checkpoints.
 * Files may be anybody's: every length is checked before it is used, and a file
 * that is written is complete or absent.
 * Knows nothing of plans, of the training loop and of the terminal.
 *
 * Includes: base conf data graph num.
 */
