# trace and watch: the gradients and updates that training has.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    config c.yaml
    # one batch, always the same
    data=(dataset.train.shuffle=false train.overfit_batches=1 '~dataset.eval'
        log.every=1)
    real=$("$CELLRUN" version --json | jq -r .real)
}

# as_trace CKPT FILE: its tensors under the names that trace --step gives them
as_trace() {
    perl -MJSON::PP -0777 -e '
        open my $f, "<:raw", $ARGV[0]; my $all = <$f>;
        my $n = unpack "Q<", $all;
        my $head = decode_json(substr $all, 8, $n);
        delete $head->{__metadata__};
        my %as = map { my $slot = /^(moments|accum|stat)\./ ? "slot" : "param";
                       ("$slot.$_" => $head->{$_}) } keys %$head;
        my $text = encode_json(\%as);
        $text .= " " x (-length($text) % 8);
        open my $o, ">:raw", $ARGV[1];
        print $o pack("Q<", length $text), $text, substr $all, 8 + $n' \
        "$1" "$2"
}

# same_update N SETTING...: N updates of trace are those of train, bit for bit
same_update() {
    local n=$1
    shift
    "$CELLRUN" train c.yaml -q -o run "${data[@]}" --steps "$n" "$@"
    as_trace run/ckpt/last.safetensors ref.safetensors
    run -0 --separate-stderr "$CELLRUN" trace c.yaml "${data[@]}" \
        train.steps="$n" --step="$n" "$@" --against ref.safetensors \
        --rtol 0 --atol 0
    [ "$(value compared)" -ge 8 ]
    [ "$(value differ)" = 0 ]
}

@test "an update of trace is that of training: plain, with dropout" {
    same_update 3
}

@test "an update of trace is that of training: clipped by the global norm" {
    same_update 3 train.clip.norm=0.1
}

@test "an update of trace is that of training: clipped by value and tensor" {
    same_update 3 'train.clip={value: 0.01, tensor_norm: 0.02}'
}

@test "an update of trace is that of training: gradient noise" {
    same_update 3 'train.grad_noise={eta: 0.1, gamma: 0.5}'
}

@test "an update of trace is that of training: loss scale and float16" {
    same_update 3 amp.level=O2 'amp.loss_scale={StaticLossScaler: 1024}' \
        train.clip.norm=0.1
}

@test "an update of trace is that of training: the scale falls and rises" {
    same_update 12 amp.level=O2 \
        'amp.loss_scale={DynamicLossScaleManager: {init_loss_scale: 16777216, scale_window: 3}}'
    [[ $stderr == *"with loss scale "*": training skips this update"* ]] ||
        [[ $stderr == *"the loss scale is "*": training skips this update"* ]]
}

@test "an update of trace is that of training: skipped by train.nan" {
    sed -i 's/^  act: ReLU/  bn: {BatchNorm1d: [16]}\n  act: ReLU/' c.yaml
    perl -e 'open my $f, "+<", "train-x.npy"; seek $f, 128, 0;
        print $f pack "f<", "nan"'
    same_update 2 train.nan=skip
    [[ $stderr == *"the loss is not finite at step 1"*": training skips this update"* ]]
}

@test "an update of trace continues from a checkpoint with accumulation" {
    data+=('~network.drop' train.grad_accumulation=2)
    "$CELLRUN" train c.yaml -q -o two "${data[@]}" --steps 2
    "$CELLRUN" train c.yaml -q -o three "${data[@]}" --steps 3
    as_trace three/ckpt/last.safetensors ref.safetensors
    run -0 "$CELLRUN" trace two --step --against ref.safetensors \
        --rtol 0 --atol 0
    [ "$(value differ)" = 0 ]
}

@test "an update of trace continues with what freeze.schedule has unfrozen" {
    data+=('freeze.patterns=["fc.*"]'
        'freeze.schedule=[{at: 2 steps, unfreeze: "fc.*"}]')
    "$CELLRUN" train c.yaml -q -o three "${data[@]}" --steps 3
    "$CELLRUN" train c.yaml -q -o four "${data[@]}" --steps 4
    as_trace four/ckpt/last.safetensors ref.safetensors
    run -0 "$CELLRUN" trace three --step --against ref.safetensors \
        --rtol 0 --atol 0
    [ "$(value differ)" = 0 ]
}

# loss = (w x)^2, x = 20000, w = 1: dw = 2 x^2 = 8e8, times 1e30 beyond float32
@test "an overflow by hand: skipped once, then updated" {
    [ "$real" = float32 ] || skip "float64 does not overflow here"
    perl -e 'print pack "f<", 20000' | npy x.npy '<f4' '(1, 1)'
    perl -e 'print pack "f<", 0' | npy y.npy '<f4' '(1, 1)'
    cat >one.yaml <<'YAML'
network: {fc: {Dense: {in_channels: 1, out_channels: 1, has_bias: false, weight_init: One}}}
loss: MSELoss
optimizer: {SGD: {learning_rate: 1e-9}}
amp: {loss_scale: {DynamicLossScaleManager: {init_loss_scale: 1e30, scale_factor: 8}}}
YAML
    feed=(--feed x=x.npy --feed label=y.npy)
    run -0 --separate-stderr "$CELLRUN" trace one.yaml "${feed[@]}" --step --json
    [[ $stderr == *"is not finite at step 1"*"the loss scale is 1e+30"* ]]
    jq -e '.[] | select(.name == "param.fc.weight") | .mean == 1' <<<"$output"
    # a scale of 1.25e29: 1e38 is finite
    run -0 "$CELLRUN" trace one.yaml "${feed[@]}" --step=2 --json --quiet
    jq -e '.[] | select(.name == "param.fc.weight") |
        (.mean - 0.2 | fabs) < 1e-6' <<<"${lines[-1]}"
}

@test "gradients of parameters are without the scale, those of outputs with it" {
    run -0 "$CELLRUN" trace c.yaml "${data[@]}" --grad -o a.safetensors
    run -6 --separate-stderr "$CELLRUN" trace c.yaml "${data[@]}" --grad \
        'amp.loss_scale={StaticLossScaler: 1024}' --against a.safetensors \
        --rtol 0 --atol 0 -o b.safetensors
    # fc act drop out
    [ "$(value differ)" = 4 ]
    [ "$(value first)" = grad.output.fc ]
    "$CELLRUN" trace c.yaml "${data[@]}" --grad --json >a.json
    "$CELLRUN" trace c.yaml "${data[@]}" --grad --json \
        'amp.loss_scale={StaticLossScaler: 1024}' >b.json
    jq -e -n --slurpfile a a.json --slurpfile b b.json '
        [$a[0], $b[0]] | map(map(select(.name | startswith("grad.output."))) |
            map(.max)) | .[1] == (.[0] | map(. * 1024)) and length > 0'
}

@test "gradients that are not finite are written, all of them, and reported" {
    run -0 --separate-stderr "$CELLRUN" trace c.yaml "${data[@]}" --grad --json \
        amp.level=O2 'amp.loss_scale={StaticLossScaler: 1e30}'
    [[ $stderr == *"the gradient is not finite at step 1; the first gradient that is not finite: at the output of drop (Dropout); the loss scale is 1e+30: training skips this update"* ]]
    # all but that of the output, which is float32
    jq -e 'map(select(.name | startswith("grad.")) | .not_finite) |
        map(select(. > 0)) | length == 8' <<<"$output"
}

@test "watch sees the gradients of training: an overflow is counted" {
    data+=('watch=[{at: "fc", what: grad, stats: [nan_count, norm], every: 1}]')
    "$CELLRUN" train c.yaml -q -o a "${data[@]}" --steps 1 amp.level=O2 \
        'amp.loss_scale={StaticLossScaler: 1e30}'
    jq -e -s 'map(select(.split == "watch")) | .[0].nan_count > 0' \
        a/metrics.jsonl
    for scale in 1 1024; do
        "$CELLRUN" train c.yaml -q -o s$scale "${data[@]}" --steps 1 \
            "amp.loss_scale={StaticLossScaler: $scale}" >/dev/null
        jq -r 'select(.split == "watch") | .norm' s$scale/metrics.jsonl
    done | awk '{ x[NR] = $1 } END { exit !(NR == 2 && x[1] > 0 &&
        x[2] / x[1] > 1023.99 && x[2] / x[1] < 1024.01) }'
}
