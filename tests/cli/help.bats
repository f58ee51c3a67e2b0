# help
bats_require_minimum_version 1.5.0
set -o pipefail

@test "the overview names every command and section" {
    run -0 --separate-stderr "$CELLRUN" help
    [[ "${lines[0]}" == "cellrun trains"* ]]
    for command in $(sed -n 's/^CR_COMMAND(\(.*\))/\1/p' src/registry.def |
            tr _ -); do
        grep -q "^  $command " <<<"$output"
    done
    for name in $(sed -n 's/^CR_SECTION(\(.*\))/\1/p' src/registry.def); do
        grep -q "^  $name " <<<"$output"
    done
    [ -z "$stderr" ]
}

@test "no line of help is wider than a terminal" {
    for name in "" train config environment codes SGD Dense cells; do
        run -0 "$CELLRUN" help $name
        [ "$(awk 'length > 80' <<<"$output" | wc -l)" -eq 0 ]
    done
}

@test "help finds MindSpore's functions, and suggests no distant words" {
    for word in set_context register_forward_pre_hook WithLossCell set_train \
        auto_mixed_precision all_finite trainable_params clip_by_value \
        accumulate_grad create_dict_iterator MindDataset confusion; do
        run -0 "$CELLRUN" help $word
    done
    run -2 --separate-stderr "$CELLRUN" help confusian_xq
    [[ "$stderr" != *"Softsign"* ]]
    run -2 --separate-stderr "$CELLRUN" help consusion
    [[ "$stderr" != *"Softsign"* ]]
}

@test "help on a type shows arguments with defaults and ranges" {
    run -0 "$CELLRUN" help SGD
    [[ "${lines[0]}" == "SGD (optimizer): "* ]]
    [[ "$output" == *"arguments, in order"*"learning_rate"*"momentum"* ]]
    [[ "$output" == *"a number of at least 0"*"default 0"* ]]
    [[ "$output" == *"example"* ]]
}

@test "a name that is several things shows all of them" {
    run -0 "$CELLRUN" help train
    [[ "$output" == *"usage: cellrun train FILE"* ]]
    [[ "$output" == *"train (section): "* ]]
}

@test "help on a key, by its path and by its name" {
    run -0 "$CELLRUN" help train.epochs
    [[ "${lines[0]}" == "train.epochs: "* ]]
    run -0 "$CELLRUN" help learning_rate
    [[ "$output" == *"SGD.learning_rate: "* ]]
    [[ "$output" == *"Momentum.learning_rate: "* ]]
}

@test "help on a keyword of the language" {
    run -0 "$CELLRUN" help
    [[ "$output" == *"cellrun-config(5)"* ]]
    for word in base vars blocks bprop inputs construct when repeat only \
        to_float share hook_backward warmup; do
        run -0 "$CELLRUN" help $word
        [ "${lines[0]}" = "$word (keyword)" ]
    done
    # a word may be a key too
    run -0 "$CELLRUN" help construct
    [[ "$output" == *"watch.construct: "* ]]
    run -0 "$CELLRUN" help keywords
    [[ "$output" == *"  when "* ]]
    run -2 --separate-stderr "$CELLRUN" help bpropp
    [[ "$stderr" == *"did you mean 'bprop'?"* ]]
}

@test "help on a code of a message" {
    run -0 "$CELLRUN" help E0012
    [ "${lines[0]}" = "E0012: unknown argument for a type" ]
    [ "${lines[-1]}" = "exit status 2" ]
}

@test "every code has help" {
    run -0 "$CELLRUN" help codes
    for code in $(cut -c3-7 <<<"$output" | grep ^E); do
        run -0 "$CELLRUN" help "$code"
    done
}

@test "help environment shows the present values" {
    CELLRUN_DATA=/some/where run -0 "$CELLRUN" help environment
    [[ "$output" == *"CELLRUN_DATA"*"now: /some/where"* ]]
    unset CELLRUN_RUNS
    run -0 "$CELLRUN" help environment
    [[ "$output" == *"CELLRUN_RUNS"* ]]
}

@test "help explains an environment variable, and each name of the list" {
    CELLRUN_DATA=/some/where run -0 "$CELLRUN" help CELLRUN_DATA
    [[ "${lines[0]}" == "CELLRUN_DATA: environment variable" ]]
    [[ "$output" == *"searched for data"*"now: /some/where"* ]]
    run -0 "$CELLRUN" help --json TMPDIR
    [ "$(jq -r '.[0].kind' <<<"$output")" = "environment variable" ]
    run -2 --separate-stderr "$CELLRUN" help CELLRUN_DAT
    [[ "$stderr" == *"did you mean 'CELLRUN_DATA'?"* ]]
}

@test "help begins with the meaning in the field, where a key has the same name" {
    run -0 "$CELLRUN" help metric
    [[ "${lines[0]}" == "metric: A number that measures a network"* ]]
    [[ "$output" == *"checkpoint.best.metric: text"* ]]
    run -0 "$CELLRUN" help threshold
    [[ "${lines[0]}" == "threshold: The metric finds the threshold"* ]]
    [[ "$output" == *"threshold (op)"* ]]
    run -0 "$CELLRUN" help stratify
    [[ "${lines[0]}" == "stratify: split: {eval_from_train"* ]]
}

@test "help on a function of tensors says what shapes they have" {
    run -0 "$CELLRUN" help attention
    [[ "$output" == *"query (N, L, E), key and value (N, S, E)"* ]]
}

@test "words of networks of several parts, and of weights" {
    for word in gan discriminator 'gradient reversal' siamese \
        'contrastive loss' noise KL reparameterize augment curves \
        'import weights'; do
        run -0 "$CELLRUN" help "$word"
        [[ "${lines[0]}" == "$word: "* ]]
    done
}

@test "help exit lists the statuses" {
    run -0 "$CELLRUN" help exit
    [[ "$output" == *"  7      A sweep is over, but points of it failed."* ]]
    [[ "$output" == *"  75 "* ]]
}

@test "every name of the registry has help" {
    run -0 "$CELLRUN" help --json
    for name in $(jq -r '.[].name' <<<"$output"); do
        "$CELLRUN" help "$name" >/dev/null
    done
}

@test "help --json has the rows" {
    run -0 "$CELLRUN" help SGD --json
    [ "$(jq -r '.[0].kind' <<<"$output")" = optimizer ]
    [ "$(jq -r '.[0].options[0].name' <<<"$output")" = learning_rate ]
}

@test "help --json finds terms, and names in another case" {
    run -0 "$CELLRUN" help lr --json
    [ "$(jq -r '.[0] | .kind + " " + .names[0].name' <<<"$output")" = \
        "term optimizer.learning_rate" ]
    run -0 "$CELLRUN" help "nn.Linear(3, 4)" --json
    [ "$(jq -r '[.[] | .kind + " " + .name] | join(",")' <<<"$output")" = \
        "term Linear,cell Dense,op linear" ]
    run -0 "$CELLRUN" help dense --json
    [ "$(jq -r '[.[] | .kind + " " + .name] | join(",")' <<<"$output")" = \
        "op dense,cell Dense" ]
    run -2 --separate-stderr "$CELLRUN" help nosuch --json
    [[ "$stderr" == *"no help on 'nosuch'"* ]]
    for word in mpi mpirun DistributedDataParallel; do
        run -0 "$CELLRUN" help $word
        [[ "$output" == *"cellrun-mpi(7)"* ]]
    done
}

@test "no help: a suggestion" {
    run -2 --separate-stderr "$CELLRUN" help Dens
    [[ "$stderr" == *"no help on 'Dens'"* ]]
    [[ "$stderr" == *"did you mean 'Dense'?"* ]]
    run -2 --separate-stderr "$CELLRUN" help --man nothing
}

@test "help finds names of PyTorch, Keras and MindSpore" {
    while read -r word name; do
        run -0 "$CELLRUN" help "$word"
        grep -Eq "^( *)$name( |\$)" <<<"$output" || {
            echo "$word: no $name"
            echo "$output"
            false
        }
    done <<'END'
Linear Dense
nn.Linear(784,10) Dense
lr optimizer.learning_rate
BatchNorm1d(affine=False) BatchNorm1d
nn.Conv2d Conv2d
tf.keras.layers.Dense(64,activation='relu') Dense
torch.optim.AdamW AdamW
ModelCheckpoint checkpoint
DataLoader datapipe
EarlyStopping train.early_stop
model.fit train
nn.Module construct
SparseCategoricalCrossentropy CrossEntropyLoss
clip_grad_norm_ train.clip.norm
conv2D Conv2d
END
}

@test "help finds words of the field" {
    while read -r word; do
        run -0 "$CELLRUN" help $word
        [ "${#lines[@]}" -gt 1 ]
    done <<'END'
csv
missing values
balanced
one-hot
overfitting
reproducibility
imbalance
mixed precision
fine-tuning
freezing
gpu
END
    run -0 "$CELLRUN" help Missing-Values
    [[ "$output" == *"FillMissing"* ]]
}

@test "every name in the list of terms has help" {
    run -0 "$CELLRUN" help terms
    names=$(sed -n 's/^      *//p' <<<"$output" | grep -v , | tr ' ' '\n' |
        sort -u)
    [ "$(wc -l <<<"$names")" -gt 100 ]
    for name in $names; do
        "$CELLRUN" help "$name" >/dev/null
    done
}

@test "help --search prints name and sentence" {
    run -0 "$CELLRUN" help --search Nesterov
    grep -q '^SGD.nesterov: ' <<<"$output"
    # several words, in any case; texts of the manual too
    run -0 "$CELLRUN" help --search flock KERNEL
    [ "${#lines[@]}" -eq 1 ]
    [[ "$output" == "cellrun(1), FILES: "*"flock(2)"* ]]
}

@test "help --search without a result ends with 1" {
    run -1 --separate-stderr "$CELLRUN" help --search qwertz
    [ -z "$output" ]
    [[ "$stderr" == *qwertz* ]]
    run -2 "$CELLRUN" help --search
}

@test "an error on a name from elsewhere names ours" {
    cd "$BATS_TEST_TMPDIR"
    cat >net.yaml <<'END'
epochs: 3
network: [Flatten, {Linear: [784, 10]}]
optimizer: {SGD: {lr: 0.1}}
train: {batch_size: 16}
END
    run -2 --separate-stderr "$CELLRUN" check net.yaml lr=0.1
    [[ "$stderr" == *"did you mean 'train.epochs'?"* ]]
    [[ "$stderr" == *"did you mean 'Dense'?"*"in_channels and out_channels"* ]]
    [[ "$stderr" == *"did you mean 'learning_rate'?"* ]]
    [[ "$stderr" == *"did you mean 'datapipe.batch.batch_size'?"* ]]
    [[ "$stderr" == *"did you mean 'optimizer.learning_rate'?"* ]]
    run -2 --separate-stderr "$CELLRUN" train net.yaml --batch-size 16
    [[ "$stderr" == *"did you mean 'datapipe.batch.batch_size=...'?"* ]]
    run -2 --separate-stderr "$CELLRUN" fit net.yaml
    [[ "$stderr" == *"did you mean 'train'?"* ]]
}

@test "a command without its arguments shows usage, example and where to read" {
    run -2 --separate-stderr "$CELLRUN"
    [ "${#stderr_lines[@]}" -eq 4 ]
    [[ "${stderr_lines[1]}" == *"usage: cellrun "* ]]
    [[ "${stderr_lines[2]}" == *"example: cellrun "* ]]
    [[ "${stderr_lines[3]}" == *"more: cellrun help" ]]
    for command in bench check ckpt completion config data eval export \
        gradcheck init lr-find plugin predict resume sample summary trace train; do
        run -2 --separate-stderr "$CELLRUN" $command
        [ "${#stderr_lines[@]}" -eq 4 ]
        [[ "${stderr_lines[1]}" == *"usage: cellrun $command "* ]]
        [[ "${stderr_lines[2]}" == *"example: "*"cellrun $command "* ]]
        [[ "${stderr_lines[3]}" == *"more: cellrun help $command" ]]
    done
}

@test "help on a subcommand is that of its command" {
    run -0 "$CELLRUN" help ckpt
    local whole=$output
    run -0 "$CELLRUN" help ckpt diff
    [ "$output" = "$whole" ]
    for words in "ckpt PATH" "ckpt nothing" "Dense diff"; do
        run -2 "$CELLRUN" help $words
    done
}

@test "help of a key that is a map lists its keys" {
    run -0 "$CELLRUN" help train.ema
    [[ $output == "train.ema: a map of keys"*"keys"*"  decay "* ]]
    run -0 "$CELLRUN" help early_stop
    [[ $output == *"  patience "* ]]
}

@test "help of a key of many types has each text once" {
    run -0 "$CELLRUN" help group_params
    [ "$(grep -c 'Overrides for groups' <<<"$output")" = 1 ]
    [[ $output == *"Adam.group_params, AdamW.group_params,"* ]]
    # in a list it is one sentence
    run -0 "$CELLRUN" help 'layer-wise lr'
    [[ $output == *"optimizer.group_params    Overrides for groups"* ]]
}

@test "help explains a type once, however its name is written" {
    local word
    for word in Conv2d conv2d nn.Conv2d Conv2D dense ReLU; do
        run -0 "$CELLRUN" help $word
        [ "$(grep -c '^[A-Z][A-Za-z0-9]* (cell): ' <<<"$output")" = 1 ]
        run -0 "$CELLRUN" help $word --json
        [ "$(jq '[.[] | select(.kind == "cell")] | length' <<<"$output")" = 1 ]
    done
    run -0 "$CELLRUN" help Conv2d
    [[ $output == *"Conv2d: pad_mode is same by default"* ]]
}

@test "help finds the tasks that people name" {
    local word
    for word in 'two losses' vae autoencoder 'padding mask' 'packed sequence' \
        pytorch stdin 'best model' ensemble unet IoU forecast multi-task \
        volumes 'image paths' flow_from_dataframe slicing; do
        "$CELLRUN" help "$word" >/dev/null
    done
    run -0 "$CELLRUN" help loss
    [[ $output == *"aux: [first, second]"* ]]
}
