# Cells in predict mode while the rest is trained, and losses in float16. The
# numbers are tested in tests/golden (cases mode_* and loss_f16_*).
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    config c.yaml
    sed -i 's/^  act: ReLU/  norm: {BatchNorm1d: 16}\n  act: ReLU/' c.yaml
}

@test "mode: by word, by name, by type and for all of them the same numbers" {
    "$CELLRUN" trace c.yaml --step=3 -o none.npz
    "$CELLRUN" trace c.yaml --step=3 -o word.npz \
        network.norm.mode=predict network.drop.mode=predict
    "$CELLRUN" trace c.yaml --step=3 -o name.npz \
        'freeze={predict_mode: [norm, drop]}'
    "$CELLRUN" trace c.yaml --step=3 -o type.npz \
        'freeze={predict_mode: {of: [BatchNorm1d, Dropout]}}'
    "$CELLRUN" trace c.yaml --step=3 -o all.npz 'freeze={predict_mode: "*"}'
    cmp word.npz name.npz
    cmp word.npz type.npz
    cmp word.npz all.npz
    run ! cmp word.npz none.npz
    "$CELLRUN" trace c.yaml --step=3 --eager --against word.npz \
        'freeze={predict_mode: "*"}'
}

@test "mode: dropout passes everything, moving statistics stay" {
    run -0 "$CELLRUN" trace c.yaml --step=3 --grad 'freeze={predict_mode: "*"}'
    [ "$(awk '/^output.(act|drop) / { $1 = ""; print }' <<<"$output" |
        uniq | wc -l)" = 1 ]
    [[ $output =~ param.norm.moving_mean\ +\(16,\)\ +0\ +0 ]]
    [[ $output =~ param.norm.moving_variance\ +\(16,\)\ +1\ +0 ]]
    [[ $output =~ grad.norm.gamma\ +\(16,\)\ +-?[0-9.e-]*[1-9] ]]
    run -0 "$CELLRUN" trace c.yaml --step=3
    [ "$(awk '/^output.(act|drop) / { $1 = ""; print }' <<<"$output" |
        uniq | wc -l)" = 2 ]
    [[ ! $output =~ param.norm.moving_variance\ +\(16,\)\ +1\ +0 ]]
}

@test "mode: train within predict" {
    cat >n.yaml <<'END'
base: c.yaml
network: !replace
  enc:
    SequentialCell:
      - Dense: [8, 16]
      - {BatchNorm1d: 16, mode: train}
      - {Dropout: {p: 0.5}}
    mode: predict
  out: {Dense: [16, 3]}
END
    run -0 "$CELLRUN" trace n.yaml --step=2
    [[ ! $output =~ param.enc.1.moving_variance\ +\(16,\)\ +1\ +0 ]]
    [ "$(awk '/^output.enc.[12] / { $1 = ""; print }' <<<"$output" |
        uniq | wc -l)" = 1 ]
}

@test "mode: a resumed run is the same, and the checkpoint carries it" {
    "$CELLRUN" train c.yaml -q -o one 'freeze={predict_mode: norm}' >/dev/null
    "$CELLRUN" train c.yaml -q -o two 'freeze={predict_mode: norm}' \
        train.epochs=2 >/dev/null
    "$CELLRUN" resume two/ckpt/last.safetensors -q train.epochs=3 >/dev/null
    run -0 "$CELLRUN" ckpt diff one two
    [[ $output == *"no differences"* ]]
    "$CELLRUN" trace one/ckpt/last.safetensors --step=1 --ckpt \
        one/ckpt/last.safetensors >trace
    run -0 grep -E 'param.norm.moving_variance +\(16,\) +1 +0' trace
}

@test "mode: errors" {
    run -2 --separate-stderr "$CELLRUN" check c.yaml network.drop.mode=eval
    [[ $stderr == *"mode: found 'eval', expected predict or train"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'freeze={predict_mode: nrm}'
    [[ $stderr == *"pattern 'nrm' matches no cell"*"closest: norm"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml loss.mode=predict
    [[ $stderr == *"'mode' is not allowed next to CrossEntropyLoss"* ]]
}

@test "mode: summary shows it" {
    run -0 "$CELLRUN" summary c.yaml 'freeze={predict_mode: [norm, drop]}'
    [[ $output == *"in predict mode: norm drop"* ]]
}

# bits of the value of the loss: of its significand
bits() {
    "$CELLRUN" trace "$@" --grad -o loss.safetensors >/dev/null
    perl -MPOSIX -e 'local $/; $_ = <>; my $n = unpack "Q<", $_;
        substr($_, 8, $n) =~ /"loss":\{[^}]*"data_offsets":\[(\d+)/ or die;
        my $v = unpack "f<", substr $_, 8 + $n + $1, 4;
        my ($m) = POSIX::frexp($v); my $k = 0;
        while ($m != int $m) { $m *= 2; $k++ } print $k' loss.safetensors
}

@test "loss.to_float: built-in, with arguments, a block and a cell within one" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    [ "$(bits c.yaml)" -gt 11 ]
    [ "$(bits c.yaml loss.to_float=float32)" -gt 11 ]
    [ "$(bits c.yaml loss.to_float=float16)" -le 11 ]
    [ "$(bits c.yaml loss.to_float=bfloat16)" -le 8 ]
    [ "$(bits c.yaml 'loss={CrossEntropyLoss: {label_smoothing: 0.1}, to_float: float16}')" -le 11 ]
    block='loss=!replace {inputs: [x, label], to_float: bfloat16, cells: {ce: CrossEntropyLoss}, construct: "return ce(x, label) * 1.1"}'
    [ "$(bits c.yaml "$block")" -le 8 ]
    [ "$(bits c.yaml "${block/to_float: bfloat16, /}")" -gt 11 ]
    block='loss=!replace {inputs: [x, label], cells: {ce: {CrossEntropyLoss: {}, to_float: float16}}, construct: "return ce(x, label)"}'
    [ "$(bits c.yaml "$block")" -le 11 ]
    [ "$(bits c.yaml amp.level=O3 'amp.loss_scale={StaticLossScaler: 1}')" -gt 11 ]
}

@test "loss.to_float: planned, eager, trained and resumed; a scale overflows" {
    "$CELLRUN" trace c.yaml --grad loss.to_float=float16 --eager -o e.npz
    "$CELLRUN" trace c.yaml --grad loss.to_float=float16 --against e.npz
    "$CELLRUN" train c.yaml -q -o one loss.to_float=float16 >/dev/null
    "$CELLRUN" train c.yaml -q -o two loss.to_float=float16 train.epochs=1 \
        >/dev/null
    "$CELLRUN" resume two/ckpt/last.safetensors -q train.epochs=3 >/dev/null
    run -0 "$CELLRUN" ckpt diff one two
    run -2 --separate-stderr "$CELLRUN" check c.yaml loss.to_float=float8
    [[ $stderr == *"expected float16, bfloat16 or float32"* ]]
    # 65536 is infinite in float16, as MindSpore's sens is
    run -5 "$CELLRUN" train c.yaml -q -o three loss.to_float=float16 \
        'amp={loss_scale: {StaticLossScaler: 65536}, overflow: {give_up_after: 3}}'
    run -0 "$CELLRUN" train c.yaml -q -o four \
        'amp={loss_scale: {StaticLossScaler: 65536}, overflow: {give_up_after: 3}}'
}

@test "run.eager: train, resume, eval and trace compute as with --eager" {
    "$CELLRUN" train c.yaml -q -o flag --eager >/dev/null
    "$CELLRUN" train c.yaml -q -o key run.eager=true >/dev/null
    run -0 "$CELLRUN" ckpt diff flag key
    [[ $output == *"no differences"* ]]
    "$CELLRUN" trace c.yaml --grad --eager -o flag.npz
    "$CELLRUN" trace c.yaml --grad run.eager=true -o key.npz
    cmp flag.npz key.npz
    run -0 "$CELLRUN" eval c.yaml --ckpt key run.eager=true
    plain=$output
    run -0 "$CELLRUN" eval c.yaml --ckpt key --eager
    [ "$output" = "$plain" ]
    [ "$("$CELLRUN" summary c.yaml -v run.eager=true | grep -c "^forward  relu")" -gt \
        "$("$CELLRUN" summary c.yaml -v | grep -c "^forward  relu")" ]
    run -2 --separate-stderr "$CELLRUN" check c.yaml run.eager=2
}
