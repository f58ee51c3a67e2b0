# check
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    mkdir "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here"
    unset CELLRUN_SET
    digits=$BATS_TEST_DIRNAME/../../configs/digits.yaml
}

@test "a good config: what it would cost" {
    run -0 --separate-stderr "$CELLRUN" check "$digits"
    [ "${lines[0]}" = "ok: 669706 parameters, 669706 of them trained" ]
    [ "${lines[1]}" = "10000 samples to train on, 2000 to evaluate" ]
    [[ "${lines[2]}" =~ ^"471 steps: about "[0-9]+" s on one core, ".*" MiB"$ ]]
    run -0 "$CELLRUN" check "$digits" train.epochs=2000
    [[ "$output" =~ "steps: about "[0-9]+" min on one core, " ]]
    run -0 "$CELLRUN" check "$digits" train.steps=1
    [[ "$output" == *"1 steps: less than 1 s on one core, "* ]]
    run -0 "$CELLRUN" check "$digits"
    [ -z "$stderr" ]
    [ -z "$(ls)" ] # and no file
}

@test "check --json" {
    run -0 "$CELLRUN" check "$digits" --json train.epochs=1
    [ "$(jq .parameters <<<"$output")" = 669706 ]
    [ "$(jq .steps <<<"$output")" = 157 ]
    [ "$(jq '.memory_bytes > 2000000' <<<"$output")" = true ]
}

@test "check --data reads every sample" {
    run -0 "$CELLRUN" check "$digits" --data
    [[ "${lines[0]}" == ok:* ]]
    # nine classes cannot hold the label 9
    run -3 --separate-stderr "$CELLRUN" check "$digits" --data \
        network.dense_relu_sequential.4.out_channels=9
    [[ "$stderr" == *"label"* ]]
    [[ "$stderr" == *"mnist.yaml:27:7: error: column 'label' of sample "*"[E0204]"* ]]
}

@test "all errors at once, and their number" {
    run -2 --separate-stderr "$CELLRUN" check "$digits" \
        optimizer.learning_rat=0.1 train.epoch=5 \
        network.dense_relu_sequential.0.out_channels=0
    [ -z "$output" ]
    [[ "$stderr" == *"unknown argument 'learning_rat' for SGD"* ]]
    [[ "$stderr" == *"'train.epoch' is not a key of train"* ]]
    [[ "$stderr" == *"'out_channels' of Dense: found the number 0"* ]]
    [ "${stderr_lines[-1]}" = "3 errors." ]
}

@test "one error is not several" {
    run -2 --separate-stderr "$CELLRUN" check "$digits" train.epoch=5
    [ "${stderr_lines[-1]}" = "1 error" ]
}

@test "an unknown type is reported once" {
    run -2 --separate-stderr "$CELLRUN" check "$digits" loss=CrossEntropyLos
    [[ "$stderr" == *"unknown loss 'CrossEntropyLos'"* ]]
    [ "${stderr_lines[-1]}" = "1 error" ]
    run -2 --separate-stderr "$CELLRUN" check "$digits" loss=SGD
    [ "${stderr_lines[-1]}" = "1 error" ]
    run -2 --separate-stderr "$CELLRUN" check "$digits" \
        'network=[Flatten, {Conv2D: 3}]'
    [[ "$stderr" == *"did you mean 'Conv2d'?"* ]]
    [ "${stderr_lines[-1]}" = "1 error" ]
}

@test "the hints name the fixed loss scale, the tokenizers and the vocabulary" {
    run -2 --separate-stderr "$CELLRUN" check "$digits" amp.loss_scale=128
    [[ "$stderr" == *"write {FixedLossScaleManager: {loss_scale: 128}}"* ]]
    # what the hint shows is accepted
    for scale in 0 -1 -0.5 .inf 1e39 2 0.5; do
        run -2 --separate-stderr "$CELLRUN" check "$digits" amp.level=O2 \
            amp.loss_scale=$scale
        hint=$(sed -n 's/.*write //p' <<<"$stderr")
        for shown in "${hint% or *}" "${hint#* or }"; do
            run -0 "$CELLRUN" check "$digits" amp.level=O2 \
                "amp.loss_scale=$shown"
        done
    done
    run -2 --separate-stderr "$CELLRUN" check "$digits" \
        'datapipe.image=[Xyzzyx]'
    [[ "$stderr" == *"known: "*" TypeCast ValueIndex BasicTokenizer"* ]]
    run -2 --separate-stderr "$CELLRUN" check "$digits" \
        'network={a: Flatten, b: {Dense: {out_channels: $vocab.text.size}}}'
    [[ "$stderr" == *"add vocab: {text: {tokenizer: BasicTokenizer}}"* ]]
}

@test "shapes that do not fit" {
    run -2 --separate-stderr "$CELLRUN" check "$digits" \
        network.dense_relu_sequential.2.in_channels=500
    [[ "$stderr" == *"command line, argument 3: error: input: found (64, 512), \
expected in_channels 500 as its last dimension [E0101]"* ]]
    [[ "$stderr" == *"in dense_relu_sequential.2"* ]]
}

@test "a missing data set is exit 3, and the message says how to get it" {
    run -3 --separate-stderr env -u CELLRUN_DATA "$CELLRUN" check \
        "${digits%/*}/mnist.yaml"
    [[ "$stderr" == *"[E0201]"* ]]
    [[ "$stderr" == *"data fetch mnist"* ]]
}

@test "config errors win over missing data" {
    run -2 --separate-stderr env -u CELLRUN_DATA "$CELLRUN" check \
        "${digits%/*}/mnist.yaml" train.epoch=5
    [[ "$stderr" == *"[E0201]"* ]]
    [ "${stderr_lines[-1]}" = "3 errors." ] # both splits are missing
}

@test "a network alone" {
    echo 'network: [{Dense: [4, 3]}, ReLU, {Dense: [3, 2]}]' >net.yaml
    run -0 "$CELLRUN" check net.yaml
    [ "${lines[0]}" = "ok: 23 parameters, 23 of them trained" ]
}

@test "--strict wants the version of the language" {
    echo 'network: [{Dense: [4, 3]}]' >net.yaml
    run -0 --separate-stderr "$CELLRUN" check net.yaml
    [ -z "$stderr" ]
    run -2 --separate-stderr "$CELLRUN" check net.yaml --strict
    [[ "$stderr" == *"key 'cellrun' is missing"* ]]
    run -0 "$CELLRUN" check net.yaml --strict cellrun=1
}

@test "no network" {
    echo 'seed: 1' >none.yaml
    run -2 --separate-stderr "$CELLRUN" check none.yaml
    [[ "$stderr" == *"[E0018]"* ]]
}

@test "a frozen part is counted" {
    run -0 "$CELLRUN" check "$digits" \
        'freeze.patterns=dense_relu_sequential.0.*'
    [ "${lines[0]}" = "ok: 669706 parameters, 267786 of them trained" ]
}

@test "--json messages are objects, one a line" {
    run -2 --separate-stderr "$CELLRUN" check "$digits" train.epoch=5 --json
    [ "${#stderr_lines[@]}" -eq 1 ]
    [ "$(jq -r .path <<<"$stderr")" = train.epoch ]
    [ "$(jq -r .hint <<<"$stderr")" = "did you mean 'epochs'?" ]
}

@test "a network of pairs, without data" {
    cat >pairs.yaml <<'END'
network:
  inputs: {x: {shape: [8]}}
  cells: {fc: {Dense: [8, 4]}}
  construct: |
    return fc(x[0::2]) - fc(x[1::2])
END
    run -0 "$CELLRUN" check pairs.yaml
    [ "$output" = "ok: 36 parameters, 36 of them trained" ]
}

@test "columns from the header of the data, without a loss" {
    run -0 "$CELLRUN" check "$BATS_TEST_DIRNAME/../../configs/seeds/box_select.yaml"
    [ "$output" = "ok: 0 parameters, 0 of them trained" ]
}

@test "check looks at load" {
    run -4 --separate-stderr "$CELLRUN" check "$digits" load=nosuch
    [ -z "$output" ]
    [[ "$stderr" == *"nosuch"*"[E0301]"* ]]
    run -0 "$CELLRUN" train "$digits" -q -o r train.limit=64
    run -0 --separate-stderr "$CELLRUN" check "$digits" load="$PWD/r"
    [[ "$output" == ok:* ]]
    [ -z "$stderr" ]
    run -4 --separate-stderr "$CELLRUN" check "$digits" load="$PWD/r" \
        network.dense_relu_sequential.4.out_channels=11
    [[ "$stderr" == *"2 of 6 parameters of the network cannot be loaded"* ]]
    # a network alone, and a checkpoint that is damaged
    printf 'base: %s\nload: {ckpt: r}\n' "$digits" >net.yaml
    run -0 "$CELLRUN" check net.yaml '~loss' '~optimizer'
    printf x | dd of="$(readlink -f r/ckpt/last.safetensors)" bs=1 \
        seek=300000 conv=notrunc status=none
    run -4 "$CELLRUN" check net.yaml '~loss' '~optimizer' load.ckpt=r
}

@test "an unknown name is reported with the known ones" {
    run -2 --separate-stderr "$CELLRUN" check "$digits" '~train.nosuch'
    [[ "$stderr" == *"key 'nosuch' to remove not found"*"existing keys: epochs"* ]]
    run -2 --separate-stderr "$CELLRUN" check "$digits" \
        checkpoint.best.metric=nosuch
    [[ "$stderr" == *"metric 'nosuch' not found"*"metrics: accuracy loss"* ]]
    printf '0.1\n0.2 abc\n' >lr.txt
    run -2 --separate-stderr "$CELLRUN" check "$digits" \
        optimizer.learning_rate="$PWD/lr.txt"
    [[ "$stderr" == *"lr.txt: error: learning_rate: found 'abc' in line 2"* ]]
}

@test "what has no effect is a warning" {
    run -0 --separate-stderr "$CELLRUN" check "$digits" 'freeze.patterns="*"'
    [[ "$stderr" == *"warning: no parameter is trainable"* ]]
    run -0 --separate-stderr "$CELLRUN" check "$digits" \
        'freeze={patterns: "*", schedule: [{at: 4 epochs, unfreeze: "*"}]}'
    [[ "$stderr" == *"is due after 628 updates, but the run has 471"* ]]
    run -0 --separate-stderr "$CELLRUN" check "$digits" \
        'optimizer.learning_rate={WarmUpLR: {learning_rate: 0.1, warmup_steps: 9}, warmup: 500 steps}'
    [[ "$stderr" == *"the warmup takes 500 updates, but the run has only 471"* ]]
    run -0 --separate-stderr "$CELLRUN" check "$digits" \
        'optimizer.group_params=[{params: "*", weight_decay: 0.1}, {params: "*.bias"}]'
    [[ "$stderr" == *"entry of 'group_params' has no effect"* ]]
    run -0 --separate-stderr "$CELLRUN" check "$digits" \
        'vocab.nocol={tokens: [x]}'
    [[ "$stderr" == *"the data set has no column 'nocol'"* ]]
}

@test "the section vocab is a map of columns" {
    for value in '[text]' 3; do
        run -2 --separate-stderr "$CELLRUN" check "$digits" "vocab=$value"
        [[ "$stderr" == *"error: vocab: found "*", expected a map of columns [E0005]"*"vocab=$value"* ]]
    done
}

@test "predict.labels has a name for each class" {
    run -2 --separate-stderr "$CELLRUN" check "$digits" \
        'predict.labels=[a, b, c]'
    [[ "$stderr" == *"predict.labels: found 3 names, expected 10, one per class"* ]]
    for value in names.txt 3 '[a]'; do
        run -2 --separate-stderr "$CELLRUN" check "$digits" \
            "predict.labels=$value"
        [[ "$stderr" == *"predict.labels: found 1 name, expected 10, one per class"* ]]
    done
    run -0 --separate-stderr "$CELLRUN" check "$digits" predict.labels=null
    run -0 --separate-stderr "$CELLRUN" check "$digits" \
        'predict.labels=[a, b, c]' \
        'loss={inputs: [y, label], construct: return mean(y)}' \
        'datapipe.label=[{OneHot: {num_classes: 10}}]' 'metrics=[loss]'
    [[ "$stderr" == *"'predict.labels' has no effect: no output of the network has classes"* ]]
}

@test "a network without data: its datapipe and run are checked, too" {
    cat >net.yaml <<'END'
cellrun: 1
network: {inputs: {x: {shape: [8]}}, d: {Dense: [8, 3]}}
loss: MSELoss
optimizer: {SGD: {learning_rate: 0.1}}
END
    for command in check summary bench; do
        for wrong in datapipe.batch.batch_size={0,x} run.threads={x,99999}; do
            run -2 --separate-stderr "$CELLRUN" $command net.yaml $wrong
            [ -z "$output" ]
            [[ "$stderr" == *"command line, argument 3: error:"* ]]
        done
    done
    run -0 "$CELLRUN" summary net.yaml datapipe.batch.batch_size=7
    [[ "$output" == *"training on 7 samples"* ]]
}
