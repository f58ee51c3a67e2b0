# A step that fails or is skipped, and what is reported to the user.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    config c.yaml
    sed -i 's/^  act: ReLU/  bn: {BatchNorm1d: [16]}\n  act: ReLU/' c.yaml
    set=(dataset.train.shuffle=false train.grad_accumulation=2
        'checkpoint.every=100 steps' '~dataset.eval')
    huge=1e30
    [ "$("$CELLRUN" version --json | jq -r .real)" = float32 ] || huge=1e200
}

# put FILE OFFSET TEMPLATE NUMBER: into the data of an NPY file
put() {
    perl -e 'open my $f, "+<", $ARGV[0]; seek $f, 128 + $ARGV[1], 0;
        print $f pack $ARGV[2], $ARGV[3]' "$@"
}

# same RUN RUN: tensors bit for bit, and states except the data's fingerprints
same() {
    run -0 "$CELLRUN" ckpt diff "$1" "$2"
    [[ $output == *"no differences"* ]]
    diff <(state "$1") <(state "$2")
}

state() {
    "$CELLRUN" ckpt show "$1" --meta cellrun.state | jq 'del(.data.fingerprint, .data.contents)'
}

# sample 53 is in the second micro-batch of step 2
@test "a bad sample in a later micro-batch: resumed as if it had never failed" {
    "$CELLRUN" train c.yaml -q -o good --steps 5 "${set[@]}"
    put train-y.npy $((53 * 4)) 'l<' 99
    run -3 --separate-stderr "$CELLRUN" train c.yaml -q -o run --steps 5 \
        "${set[@]}"
    [[ $stderr == *"sample 53"*"[E0204]"* ]]
    [ "$(value steps)" = 1 ]
    put train-y.npy $((53 * 4)) 'l<' $((53 * 7 % 3))
    "$CELLRUN" train c.yaml -q -o one --steps 1 "${set[@]}"
    same run one
    run -0 "$CELLRUN" resume run -q
    same run good
    # failing again and again changes nothing either
    put train-y.npy $((53 * 4)) 'l<' 99
    "$CELLRUN" train c.yaml -q -o again --steps 1 "${set[@]}"
    for _ in 1 2; do
        run -3 "$CELLRUN" resume again -q --steps 5
    done
    same again one
}

# stops WHERE SETTING...: guard stops on sample 53
stops() {
    local where=$1
    shift
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c17 -O2 -fPIC -shared -I"$BATS_TEST_DIRNAME/../../src" \
        $([ "$huge" = 1e30 ] || echo -DCELLRUN_DOUBLE) -o careful.so \
        "$BATS_TEST_DIRNAME/plugin_stop.c"
    sed -i "s/^network:/plugin: careful.so\n&/
        s/^  bn:/  guard: {Careful: {where: $where, limit: 90}}\n&/" c.yaml
    "$CELLRUN" train c.yaml -q -o good --steps 5 "${set[@]}" "$@"
    cp train-x.npy whole.npy
    put train-x.npy $((53 * 32)) 'f<' 1000
    run -1 "$CELLRUN" train c.yaml -q -o run --steps 5 "${set[@]}" "$@"
    [[ $output == *"is beyond 90 ($where) [E0604]"* ]]
    cp whole.npy train-x.npy
    run -0 "$CELLRUN" resume run -q
    same run good
}

@test "a plug-in that stops in forward: resumed as if it had not" {
    stops forward
}

@test "a plug-in that stops in bprop, among micro-batches: resumed as if it had not" {
    stops bprop
}

@test "a plug-in that stops in bprop, before a separate update: resumed as if it had not" {
    stops bprop train.grad_accumulation=1 log.grad_norm=true
}

@test "divergence names the cell, its type, the step and a rate to try" {
    run -5 --separate-stderr "$CELLRUN" train c.yaml -q -o a \
        optimizer.learning_rate=$huge
    [[ $stderr == *"the loss is not finite at step 2; the first output that is not finite: "*" ("*") [E0401]"* ]]
    [[ $stderr == *"try a lower learning rate, such as a tenth of 1e+"*": optimizer.learning_rate="*"; or clip the gradients: train.clip.norm=1"* ]]
    # a schedule has no one number to set
    run -5 --separate-stderr "$CELLRUN" train c.yaml -q -o b \
        "optimizer.learning_rate=[0.5, $huge]" train.clip.norm=1e30
    [[ $stderr == *"try lower learning rates, such as a tenth: "*" instead of 1e+"*" at this step"* ]]
    [[ $stderr != *"clip the gradients"* ]]
}

@test "divergence in a nested cell gives its full name" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip 'the values overflow float32 only'
    sed -i 's/^  fc: .*/  body: {SequentialCell: [{Dense: [8, 16]}, {SequentialCell: [{Dense: {in_channels: 16, out_channels: 16, weight_init: {Constant: {value: '$huge'}}}}]}]}/' c.yaml
    sed -i '/^  bn:/d; /^  act:/d' c.yaml
    put train-x.npy 0 'f<' 1e30
    run -5 --separate-stderr "$CELLRUN" train c.yaml -q -o a "${set[@]}"
    [[ $stderr == *"not finite at step 1; the first output that is not finite: body.1.0 (Dense) [E0401]"* ]]
    [[ $stderr == *"this is the first update: check the scale of the inputs"* ]]
}

@test "divergence by the data names the column" {
    put train-x.npy $((53 * 32)) 'f<' nan
    run -5 --separate-stderr "$CELLRUN" train c.yaml -q -o a "${set[@]}"
    [[ $stderr == *"the loss is not finite at step 2; the first output that is not finite: fc (Dense) [E0401]"* ]]
    [[ $stderr == *"column 'x' of this batch has values that are not finite: check the data"* ]]
}

@test "a batch whose labels the loss all ignores is named as the cause" {
    perl -e 'print pack "l<*", map { $_ < 60 ? -100 : $_ % 3 } 0 .. 299' |
        npy some-y.npy '<i4' '(300,)'
    some='[train-x.npy, some-y.npy]'
    run -5 --separate-stderr "$CELLRUN" train c.yaml -q -o a "${set[@]}" \
        dataset.train.shuffle=false "dataset.train.data=$some"
    [[ $stderr == *"the first output that is not finite: the loss [E0401]"* ]]
    [[ $stderr == *"all labels of this batch (column 'label') are -100, which the loss ignores: a mean of no labels is NaN"* ]]
    # a few among others are nothing to speak of
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o b --force \
        --epochs 1 datapipe.batch.batch_size=100 "dataset.train.data=$some" \
        dataset.train.shuffle=false
    [ -z "$stderr" ]
    # in an evaluation
    run -0 --separate-stderr "$CELLRUN" eval --ckpt b "dataset.eval.data=$some" \
        eval.batch_size=16
    [[ $stderr == *"warning: the loss of the evaluation is NaN: in 3 of 19 batches all labels (column 'label') are -100, which the loss ignores [E0204]"* ]]
    [[ $output == *"loss: nan"* ]]
}

@test "divergence in the backward pass names where it begins" {
    # float16 holds the outputs, not the gradients: 1e5 / 16 times the weights
    run -5 --separate-stderr "$CELLRUN" train c.yaml -q -o a "${set[@]}" \
        log.grad_norm=true amp.level=O3 \
        'amp.loss_scale={FixedLossScaleManager: {loss_scale: 1e8, drop_overflow_update: false}}' \
        'optimizer={SGD: {learning_rate: 0.1, loss_scale: 1e8}}'
    [[ $stderr == *"the gradient is not finite at step 1; the first gradient that is not finite: at the output of "*" ("*")"* ]]
}

@test "divergence after the last step names the parameter" {
    run -5 --separate-stderr "$CELLRUN" train c.yaml -q -o a --steps 1 \
        '~dataset.eval' optimizer.Momentum.learning_rate=1e308 \
        optimizer.Momentum.weight_decay=1e308
    [[ $stderr == *" (Dense) is not finite after step 1 [E0401]"* ]]
    [[ $stderr == *"try a lower learning rate"* ]]
}
