# Mixed precision: amp and to_float. The numbers are tested in
# tests/golden (cases amp_*).
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    config c.yaml
}


# updates DIR: its records, without what is measured
updates() {
    jq -c 'select(.split != "eval") | del(.t, .samples_per_s)' \
        "$1/metrics.jsonl"
}

@test "O0 is float32: the same numbers as without amp, dropout included" {
    # the scale that O2 begins with overflows at first
    o2=(amp.level=O2 "amp.loss_scale={StaticLossScaler: 1}")
    "$CELLRUN" trace c.yaml --step=3 -o a.npz
    "$CELLRUN" trace c.yaml --step=3 amp.level=O0 -o b.npz
    cmp a.npz b.npz
    "$CELLRUN" trace c.yaml --step=3 "${o2[@]}" --against a.npz --rtol 0.02 \
        --atol 0.01 # other elements dropped would show
    run ! "$CELLRUN" trace c.yaml --step=3 "${o2[@]}" --against a.npz
}

@test "planned and eager plans agree in every level" {
    for level in O1 O2 O3 auto; do
        for dtype in float16 bfloat16; do
            "$CELLRUN" trace c.yaml --grad amp.level=$level amp.dtype=$dtype \
                --eager -o e.npz
            "$CELLRUN" trace c.yaml --grad amp.level=$level amp.dtype=$dtype \
                --against e.npz --rtol 1e-3
        done
    done
}

@test "auto: a sum of float32 and float16 is computed in float32" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    cat >sum.yaml <<'END'
cellrun: 1
network:
  inputs: {x: {shape: [8]}}
  cells: {fc: {Dense: {in_channels: 8, out_channels: 8, has_bias: false}}}
  construct: return x + fc(x)
amp: {level: auto, dtype: float16}
END
    perl -e 'print pack "f<*", map { sin } 1 .. 16' | npy x.npy '<f4' '(2, 8)'
    "$CELLRUN" trace sum.yaml --feed x=x.npy -o out.safetensors
    # x, fc(x), which has 11 bits, and their sum, which has all
    run -0 perl -MPOSIX -e 'my @x = map { unpack "f", pack "f", sin } 1 .. 16;
        local $/; my @v = unpack "f<*", substr <>, -128;
        for (0 .. 15) { my ($y, $sum) = ($v[$_], $v[16 + $_]);
            my ($m) = POSIX::frexp($y);
            die "fc($_)" if 2048 * $m != int 2048 * $m;
            die "sum $_" if $sum != unpack "f", pack "f", $x[$_] + $y }
        print "exact"' out.safetensors
    [ "$output" = exact ]
}

@test "cast puts a cell back into float32" {
    "$CELLRUN" trace c.yaml amp.level=O3 'amp.cast={float32: ["*"]}' -o a.npz
    "$CELLRUN" trace c.yaml -o b.npz
    cmp a.npz b.npz
    run --separate-stderr "$CELLRUN" check c.yaml 'amp.cast={float32: [nix]}'
    [ "$status" -eq 2 ]
    [[ $stderr == *"'nix' matches no cell"* ]]
    run --separate-stderr "$CELLRUN" check c.yaml 'amp.cast={float23: [fc]}'
    [ "$status" -eq 2 ]
    [[ $stderr == *"found 'float23', expected float32, float16 or bfloat16"* ]]
    [[ $stderr == *"did you mean 'float32'?"* ]]
}

@test "short names of other frameworks for a type are known" {
    for pair in fp16:float16 Half:float16 BF16:bfloat16 bfloat:bfloat16; do
        run --separate-stderr "$CELLRUN" check c.yaml amp.level=O2 \
            amp.dtype=${pair%:*}
        [ "$status" -eq 2 ]
        [[ $stderr == *"did you mean '${pair#*:}'?"* ]]
    done
}

@test "to_float and amp.level cannot be combined; both places are named" {
    cat >x.yaml <<'END'
amp:
  level: O2
network:
  fc: {Dense: [4, 3], to_float: float16}
END
    run --separate-stderr "$CELLRUN" check x.yaml
    [ "$status" -eq 2 ]
    [[ $stderr == *"x.yaml:4:33: error: to_float cannot be combined with amp.level"* ]]
    [[ $stderr == *"amp.level: O2      (x.yaml:2)"* ]]
}

@test "to_float: a wrong type, and a loss" {
    cat >x.yaml <<'END'
network:
  fc: {Dense: [4, 3], to_float: float8}
END
    run --separate-stderr "$CELLRUN" check x.yaml
    [ "$status" -eq 2 ]
    [[ $stderr == *"x.yaml:2:33: error: to_float: found 'float8', expected float16, bfloat16 or float32"* ]]
}

@test "a run that overflows on purpose: scales as computed by hand" {
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o a -q --epochs 2 \
        log.every='1 steps' amp.level=O2 \
        'amp.loss_scale={DynamicLossScaleManager: {init_loss_scale: 67108864, scale_window: 5}}'
    overflows=$(grep -c '"split":"overflow"' a/metrics.jsonl)
    [ "$overflows" -ge 4 ]
    # 1 for an update, 0 for one that was update skipped; the scale after it
    jq -s -r 'map(select(.split == "overflow") | .step) as $bad |
        .[] | select(.split == "train") |
        "\(if (.step | IN($bad[])) then 0 else 1 end) \(.loss_scale)"' \
        a/metrics.jsonl >seen
    awk 'BEGIN { s = 67108864 }
        $1 { if (++good % 5 == 0) s *= 2 }
        !$1 { good = 0; s = s / 2 < 1 ? 1 : s / 2; left++ }
        s != $2 { print "step " NR ": " $2 ", by hand " s; bad = 1 }
        END { exit bad || NR != 38 || left < 4 }' seen
    # where nothing is learned, nothing changes: the rate does not either
    jq -e -s 'map(select(.split == "train")) | last | .skipped == '$overflows \
        a/metrics.jsonl
}

@test "a skipped update leaves parameters unchanged" {
    "$CELLRUN" train c.yaml -o a -q --steps 1 amp.level=O2 \
        'amp.loss_scale={StaticLossScaler: 1e30}'
    "$CELLRUN" train c.yaml -o b -q --steps 1 \
        optimizer.Momentum.learning_rate=0 optimizer.Momentum.weight_decay=0
    grep -q '"split":"overflow"' a/metrics.jsonl
    for match in 'fc.*' 'out.*'; do
        run -0 "$CELLRUN" ckpt diff --match "$match" a/ckpt/last.safetensors \
            b/ckpt/last.safetensors
    done
}

@test "a fixed scale gives what no scale gives, to rounding" {
    "$CELLRUN" trace c.yaml --grad -o /dev/null
    for scale in '{FixedLossScaleManager: {loss_scale: 1024}}' \
        '{StaticLossScaler: 1024}'; do
        "$CELLRUN" train c.yaml -o a --force -q --epochs 1 "amp.loss_scale=$scale"
        "$CELLRUN" train c.yaml -o b --force -q --epochs 1
        cmp <(jq -r 'select(.split=="eval") | .loss * 1e5 | round' a/metrics.jsonl) \
            <(jq -r 'select(.split=="eval") | .loss * 1e5 | round' b/metrics.jsonl)
    done
}

@test "MindSpore's pair: the optimizer divides; numbers that differ are an error" {
    pair='amp.loss_scale={FixedLossScaleManager: {loss_scale: 1000.0, drop_overflow_update: false}}'
    "$CELLRUN" train c.yaml -o a -q --epochs 1 "$pair" \
        optimizer.Momentum.loss_scale=1000.0
    "$CELLRUN" train c.yaml -o b -q --epochs 1
    cmp <(jq -r 'select(.split=="eval") | .loss * 1e5 | round' a/metrics.jsonl) \
        <(jq -r 'select(.split=="eval") | .loss * 1e5 | round' b/metrics.jsonl)
    run -2 --separate-stderr "$CELLRUN" check c.yaml "$pair" \
        optimizer.Momentum.loss_scale=100.0
    [[ $stderr == *"loss_scale of Momentum: found 100.0, expected 1000.0"* ]]
    [[ $stderr == *"amp.loss_scale: {FixedLossScaleManager"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml "$pair"
    [[ $stderr == *"loss_scale of Momentum: found 1.0, expected 1000.0: with this amp.loss_scale the optimizer divides the gradients"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        optimizer.Momentum.loss_scale=100.0
    [[ $stderr == *"found 100.0, expected 1.0: the loss is not scaled"* ]]
}

@test "it gives up after N consecutive overflows, or at once" {
    run -5 --separate-stderr "$CELLRUN" train c.yaml -o a -q amp.level=O2 \
        'amp.loss_scale={StaticLossScaler: 1e30}' amp.overflow.give_up_after=3
    [[ $stderr == *"3 consecutive updates were skipped, the last with loss scale 1e+30"* ]]
    run -5 --separate-stderr "$CELLRUN" train c.yaml -o b -q amp.level=O2 \
        'amp.loss_scale={StaticLossScaler: 1e30}' amp.overflow.skip_step=false
    [[ $stderr == *"at step 1"* ]]
}

@test "a loss that is not finite is not an overflow: no scale helps" {
    huge=1e20
    [ "$("$CELLRUN" version --json | jq -r .real)" = float32 ] || huge=1e200
    set -- train c.yaml log.every=1 optimizer.learning_rate=$huge amp.level=O2 \
        'amp.loss_scale={DynamicLossScaleManager: {}}'
    run -5 --separate-stderr "$CELLRUN" "$@" -o a
    [[ $stderr == *"the loss is not finite at step "[2-9]"; the first output that is not finite: "*"[E0401]"* ]]
    [[ $stderr$output != *-nan* ]]
    # the policy for such losses is that of train.nan
    run -5 --separate-stderr "$CELLRUN" "$@" -o b train.nan=skip
    [[ $stderr == *"consecutive updates were skipped: the loss is not finite"* ]]
    [[ $stderr$output != *-nan* ]]
    jq -e -s 'map(select(.split == "overflow" and .loss == null)) == []' \
        b/metrics.jsonl
}

@test "overflows are reported: the first, their number, and that nothing was trained" {
    set -- train c.yaml amp.level=O2 log.every=1 --epochs 1 -o a
    run -0 --separate-stderr "$CELLRUN" "$@" \
        'amp.loss_scale={StaticLossScaler: 1e30}'
    [ "$(grep -c 'update skipped;' <<<"$stderr")" = 1 ]
    [[ $stderr == *"is not finite at step 1 with loss scale 1e+30: update skipped"* ]]
    [[ $stderr == *"warning: the network was not trained: all 19 updates were skipped"*"the loss is finite, but its gradient times the loss scale 1e+30 is not: use a smaller scale"*"DynamicLossScaleManager"* ]]
    [ "$(value skipped)" = 19 ]
    jq -e '.skipped == 19' a/record.json
    run -0 "$CELLRUN" train c.yaml amp.level=O2 --epochs 1 -o a --resume auto -q \
        'amp.loss_scale={StaticLossScaler: 1e30}'
    [ "$(value skipped)" = 19 ]
    run -0 --separate-stderr "$CELLRUN" "$@" --force --json \
        'amp.loss_scale={StaticLossScaler: 1024}'
    jq -e '.skipped == 0' <<<"$output"
    [[ $stderr != *"skipped"* ]]
}

@test "a scale that is too large is named as the reason, with what to do" {
    why="the loss is finite, but its gradient times the loss scale 1e+30 is not"
    run -2 --separate-stderr "$CELLRUN" train c.yaml -o a -q amp.level=O2 \
        'amp.loss_scale={FixedLossScaleManager: {loss_scale: 1e39}}'
    [[ $stderr == *"found the number 1e39"*"the maximum is 3.4028"* ]]
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o a -q amp.level=O2 \
        'amp.loss_scale={FixedLossScaleManager: {loss_scale: 1e30}}'
    [[ $stderr == *"warning: the network was not trained"*"$why"* ]]
    run -5 --separate-stderr "$CELLRUN" train c.yaml -o b -q amp.level=O2 \
        'amp.loss_scale={FixedLossScaleManager: {loss_scale: 1e30}}' \
        amp.overflow.give_up_after=3
    [[ $stderr == *"3 consecutive updates"*"$why"* ]]
    # not tested by anyone
    run -5 --separate-stderr "$CELLRUN" train c.yaml -o c -q amp.level=O2 \
        'amp.loss_scale={FixedLossScaleManager: {loss_scale: 1e30, drop_overflow_update: false}}' \
        'optimizer={Momentum: {learning_rate: 0.1, momentum: 0.9, loss_scale: 1e30}}'
    [[ $stderr == *"not finite at step 1"*"$why"* ]]
    # no scale makes a loss finite
    huge=1e20
    [ "$("$CELLRUN" version --json | jq -r .real)" = float32 ] || huge=1e200
    run -5 --separate-stderr "$CELLRUN" train c.yaml -o d -q amp.level=O2 \
        optimizer.learning_rate=$huge
    [[ $stderr == *"the loss is not finite"* && $stderr != *"times the loss scale"* ]]
}

@test "resumed among scaled steps: the same bytes" {
    set -- amp.level=O2 'log.every=1 steps' \
        'amp.loss_scale={DynamicLossScaleManager: {init_loss_scale: 67108864, scale_window: 4}}'
    "$CELLRUN" train c.yaml -o a -q --steps 31 "$@"
    "$CELLRUN" train c.yaml -o b -q --steps 3 "$@"
    "$CELLRUN" resume b -q --steps 17
    "$CELLRUN" resume b -q --steps 31
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    equal updates a b
}

@test "bfloat16 by the processor's instructions: within one rounding of the result without them" {
    local a=(amp.dtype=bfloat16)

    for level in O1 O2 O3 auto; do
        CELLRUN_ISA=avx2 "$CELLRUN" trace c.yaml --grad amp.level=$level \
            "${a[@]}" -o a.npz
        "$CELLRUN" trace c.yaml --grad amp.level=$level "${a[@]}" \
            --against a.npz --rtol 8e-3 --atol 4e-4
        CELLRUN_ISA=avx2 "$CELLRUN" train c.yaml -o a --force -q --epochs 2 \
            amp.level=$level "${a[@]}"
        "$CELLRUN" train c.yaml -o b --force -q --epochs 2 amp.level=$level \
            "${a[@]}"
        for run in a b; do
            jq -s 'map(select(.split == "eval")) | last | .loss' \
                $run/metrics.jsonl
        done | awk '{ x[NR] = $1 }
            END { exit !(NR == 2 && x[1] > 0 && x[2] / x[1] > 0.99 &&
                         x[2] / x[1] < 1.01) }'
    done
}

@test "bfloat16 by the processor's instructions: not for a sum of gradients" {
    # float32 reads a and b, and c and d read what it makes in bfloat16
    cat >sum.yaml <<'END'
cellrun: 1
network:
  inputs: {x: {shape: [8]}}
  cells:
    a: {Dense: [8, 8], to_float: bfloat16}
    b: {Dense: [8, 8], to_float: bfloat16}
    c: {Dense: [8, 8], to_float: bfloat16}
    d: {Dense: [8, 8], to_float: bfloat16}
    m: {inputs: [p, q], construct: return p @ q, to_float: float32}
  construct: |
    y = m(a(x), b(x))
    return cast(c(y), float32) + cast(d(y), float32)
END
    perl -e 'print pack "f<*", map { sin } 1 .. 64' | npy x.npy '<f4' '(8, 8)'
    CELLRUN_ISA=avx2 "$CELLRUN" trace sum.yaml --feed x=x.npy --grad -o a.npz
    "$CELLRUN" trace sum.yaml --feed x=x.npy --grad --against a.npz \
        --rtol 1e-5 --atol 1e-6
}

@test "bfloat16: the same bytes with one thread and with three" {
    # wide enough to be split
    sed -i 's/\[8, 16\]/[8, 700]/; s/\[16, 3\]/[700, 3]/
        s/^  act: ReLU/&\n  wide: {Dense: [700, 700]}/' c.yaml
    for n in 1 3; do
        "$CELLRUN" train c.yaml -o t$n -q --epochs 1 --threads $n amp.level=O2 \
            amp.dtype=bfloat16
    done
    "$CELLRUN" ckpt diff t1/ckpt/last.safetensors t3/ckpt/last.safetensors
}

@test "what a dynamic scale overflowed with, and what to do then" {
    set -- train c.yaml -q amp.level=O2 \
        'amp.loss_scale={DynamicLossScaleManager: {init_loss_scale: 1e30}}'
    run -5 --separate-stderr "$CELLRUN" "$@" -o a amp.overflow.give_up_after=5
    [[ $stderr == *"5 consecutive updates were skipped, the last with loss scale 6.25e+28: "* ]]
    [[ $stderr == *"times the loss scale 6.25e+28 is not: "*"amp.overflow.give_up_after"* ]]
    [[ $stderr != *DynamicLossScaleManager* && $stderr != *3.125e+28* ]]
    run -5 --separate-stderr "$CELLRUN" "$@" -o b amp.overflow.skip_step=false
    [[ $stderr == *"times the loss scale 1e+30 is not: set amp.overflow.skip_step: true"* ]]
    # the manager that is there by itself; one update is no run
    run -0 --separate-stderr "$CELLRUN" train c.yaml --dry-run "${@:4}"
    [[ $stderr == *"update skipped"* && $stderr != *"was not trained"* ]]
}

@test "settings of amp without a level have a warning" {
    why="has no effect: without 'amp.level'"
    run -0 --separate-stderr "$CELLRUN" check c.yaml amp.dtype=bfloat16
    [[ $stderr == *"warning: 'amp.dtype' $why"*" amp.level: O2 (or O1, O3, auto)"* ]]
    run -0 --separate-stderr "$CELLRUN" check c.yaml 'amp.cast={float32: ["*"]}'
    [[ $stderr == *"warning: 'amp.cast.float32' $why"* ]]
    run -0 --separate-stderr "$CELLRUN" check c.yaml \
        amp.keep_batchnorm_fp32=true
    [[ $stderr == *"warning: 'amp.keep_batchnorm_fp32' $why"* ]]
    for amp in 'amp={level: O0, dtype: bfloat16}' \
        'amp={level: O2, dtype: bfloat16, cast: {float32: ["*"]}}' \
        'amp={cast: {float16: ["*"]}}' 'amp={loss_scale: {StaticLossScaler: 4}}'
    do
        run -0 --separate-stderr "$CELLRUN" check c.yaml "$amp"
        [[ $stderr != *"has no effect"* ]]
    done
}

@test "a pattern of cast has one type" {
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'amp={level: O2, cast: {float32: ["*"], float16: ["*"]}}'
    [[ $stderr == *"amp.cast: '*' is listed under float32 and float16"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'amp={level: O2, cast: {bfloat16: fc, float32: [out, fc]}}'
    [[ $stderr == *"amp.cast: 'fc' is listed under bfloat16 and float32"*"under bfloat16 "* ]]
    run -0 "$CELLRUN" check c.yaml \
        'amp={level: O2, cast: {float16: "*", float32: [out, fc]}}'
}

@test "a scale is any number of float32 from 1" {
    "$CELLRUN" train c.yaml -o a -q --steps 3 log.every='1 steps' amp.level=O2 \
        'amp.loss_scale={DynamicLossScaleManager: {init_loss_scale: 3.4e38}}'
    # no update goes with such a scale, and each halves it
    [ "$(jq -s 'map(select(.split == "train").loss_scale) |
        map(. / 3.4e38) | @text' a/metrics.jsonl)" = '"[0.5,0.25,0.125]"' ]
    for scale in 3.5e38 inf nan 0.5; do
        for scaler in "DynamicLossScaleManager: {init_loss_scale: $scale}" \
            "DynamicLossScaler: {scale_value: $scale, scale_factor: 2, scale_window: 3}" \
            "StaticLossScaler: {scale_value: $scale}"; do
            run -2 --separate-stderr "$CELLRUN" check c.yaml \
                "amp.loss_scale={$scaler}"
            [[ "$stderr" == *"[E0006]"* || "$stderr" == *"[E0005]"* ]]
        done
    done
}

@test "values in two bytes or in float32: the same bytes" {
    cat >stored.yaml <<'END'
base: c.yaml
network: !replace
  cells:
    a: {Conv2d: [8, 20, 3]}
    n: {BatchNorm2d: 20}
    b: {Conv2d: [20, 6, 1]}
    m: {BatchNorm2d: 6}
    pool: {MaxPool2d: {kernel_size: 2, stride: 2}}
    drop: {Dropout: {p: 0.3}}
    norm: {LayerNorm: {normalized_shape: [600]}}
    c: {Dense: [600, 40]}
    out: {Dense: [40, 3]}
  construct: |
    y = reshape(x, (-1, 8, 1, 1)) * ones((1, 1, 40, 40))
    y = relu(n(a(y)))
    y = pool(sigmoid(m(b(y))))
    y = y[:, :, ::2, ::2]
    y = norm(reshape(drop(transpose(y, (0, 2, 3, 1))), (-1, 600)))
    y = softmax(gelu(c(y)), -1)
    return out(y * 3 - tanh(y))
END
    for level in O1 O2 O3 auto; do
        for dtype in float16 bfloat16; do
            set -- stored.yaml amp.level=$level amp.dtype=$dtype \
                "amp.loss_scale={StaticLossScaler: 1}"
            "$CELLRUN" train "$@" -q --force -o two --steps 6 >/dev/null
            CELLRUN_PASSES=-two_bytes "$CELLRUN" train "$@" -q --force \
                -o four --steps 6 >/dev/null
            run -0 "$CELLRUN" ckpt diff two four
            [[ $output == *"no differences"* ]]
        done
    done
    run -0 "$CELLRUN" summary stored.yaml amp.level=O2 --passes
    for op in batch_norm dropout layer_norm gelu linear; do
        grep -q " = $op(.* float16  " <<<"$output"
    done
}

@test "a gradient of the loss that is not finite is seen in two bytes and in float32" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    local at dtype passes

    cat >huge.yaml <<'YAML'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
datapipe:
  batch: {batch_size: 100}
network:
  fc: {Dense: {in_channels: 8, out_channels: 8, weight_init: zeros, bias_init: zeros}}
loss:
  inputs: [y, label]
  # sigmoid writes the gradient of the output, in low precision
  construct: return sum(sigmoid(y) * label * 1e-36)
optimizer: {SGD: {learning_rate: 0.1}}
amp: {level: O3}
train: {epochs: 1}
YAML
    perl -e 'print pack "f<*", map { sin } 1 .. 800' | npy x.npy '<f4' '(100, 8)'
    set -- train huge.yaml -q --force -o run
    # one element, whose loss is finite
    for at in 0 799; do
        perl -e 'print pack "f<*", map { $_ == '$at' ? 2.5e38 : 0 } 0 .. 799' |
            npy y.npy '<f4' '(100, 8)'
        for dtype in float16 bfloat16; do
            for passes in '' -two_bytes; do
                CELLRUN_PASSES=$passes run -0 "$CELLRUN" "$@" amp.dtype=$dtype
                CELLRUN_PASSES=$passes run -5 --separate-stderr "$CELLRUN" \
                    "$@" amp.dtype=$dtype \
                    loss.construct='return sum(sigmoid(y) * 2 * label)'
                [[ $stderr == *"the gradient of the loss is not finite at step 1; the first gradient that is not finite: at the output of fc (Dense)"* ]]
            done
        done
    done
}

@test "a parameter that a convolution reads as a sample is rounded" {
    {
        sed -e '/^network:/,/^loss:/{/^loss:/!d}' c.yaml
        cat <<'NET'
network:
  cells:
    p: {Parameter: {shape: [2, 3, 16, 16]}}
    conv: {Conv2d: {in_channels: 3, out_channels: 2, kernel_size: 3, pad_mode: valid}}
    fc: {Dense: [8, 392]}
    out: {Dense: [392, 3]}
  construct: |
    return out(relu(fc(x) + flatten(conv(p()))[0]))
NET
    } >param.yaml
    for how in '' --eager; do
        "$CELLRUN" train param.yaml -q -o "r$how" --steps 4 $how \
            log.every='1 steps' amp.level=O2 \
            "amp.loss_scale={StaticLossScaler: 1}" >out
        jq 'select(.split == "train") | .loss' "r$how/metrics.jsonl" \
            >"losses$how"
    done
    [ "$(wc -l <losses)" = 4 ]
    paste losses losses--eager |
        awk '{ d = $1 - $2; if (d > 2e-6 || d < -2e-6) { print; exit 1 } }'
}

@test "the number of a padding has the type of what it is put around" {
    cat >pad.yaml <<'NET'
network:
  inputs: {x: {shape: [2, 3]}}
  cells:
    a: {ConstantPad1d: {padding: [1, 0], value: $v}, to_float: float16}
    b: {ConstantPad1d: {padding: [1, 0], value: $w}}
    c: {ConstantPad1d: {padding: [1, 0], value: $u}}
  construct: |
    y = a(x)
    return y, b(cast(x, bfloat16)), c(x), 2 * y
NET
    perl -e 'print pack "f<*", 1 .. 6' | npy x.npy '<f4' '(1, 2, 3)'
    "$CELLRUN" trace pad.yaml --feed x=x.npy --eval -o want.npz \
        'vars={u: 0.3, v: 0.300048828125, w: 0.30078125}'
    for how in --eval '--eval --eager'; do
        "$CELLRUN" trace pad.yaml --feed x=x.npy $how --against want.npz \
            --rtol 0 --atol 0 'vars={u: 0.3, v: 0.3, w: 0.3}'
    done
}

@test "O1: the number of a padding is rounded by what reads it, in prediction too" {
    cat >pad.yaml <<'NET'
seed: 1
amp: {level: O1, dtype: float16}
network:
  inputs: {x: {shape: [3, 11, 9]}}
  cells:
    a: {Conv2d: {out_channels: 5, kernel_size: 3}}
    p: {ConstantPad2d: {padding: 1, value: $v}}
    b: {Conv2d: {out_channels: 4, kernel_size: 1}}
  construct: return b(p(a(x)))
NET
    perl -e 'print pack "f<*", map { sin } 1 .. 1485' |
        npy x.npy '<f4' '(5, 3, 11, 9)'
    "$CELLRUN" trace pad.yaml --feed x=x.npy --predict --as-run -o want.npz \
        vars.v=0.300048828125
    "$CELLRUN" trace pad.yaml --feed x=x.npy --predict --as-run vars.v=0.3 \
        --against want.npz --rtol 0 --atol 0
    # backward reads the number that forward has read: not the rounded one
    sed -i '/  b:/d; s/construct.*/construct: |\
    y = p(a(x))\
    return mean(square(concat((y, y * y), 1)))/' pad.yaml
    CELLRUN_VERIFY=1 "$CELLRUN" trace pad.yaml --feed x=x.npy --grad --as-run \
        vars.v=0.3
}
