# What processes add up, against one process: gradients in low precision, those
# of the loss, and large ones, which are not sent.
bats_require_minimum_version 1.5.0
set -o pipefail
load mpi

# cancels OUT: c.yaml with a layer of 8 x OUT whose gradient in float16
# overflows in each process and cancels over all: the gradient of half of the
# rows is positive, that of the others negative
cancels() {
    perl -e 'for my $i (0 .. 319) {
        print pack "f<*", map { 1 + 0.01 * sin($i * 8 + $_) } 1 .. 8 }' |
        npy train-x.npy '<f4' '(320, 8)'
    perl -e 'print pack "l<*", map { int($_ / 8) % 2 } 0 .. 319' |
        npy train-y.npy '<i4' '(320,)'
    network <<END
network:
  fc: {Dense: {in_channels: 8, out_channels: $1}}
loss: {inputs: [logits, label], construct: "return
  (logits.sum(1) * (1 - 2 * label)).mean()"}
amp: {level: O2, loss_scale: {DynamicLossScaler:
  {scale_value: 2.62144e5, scale_factor: 2, scale_window: 3}}}
END
    sed -i -e '/^loss: Cross/d' -e '/^metrics/d' -e '/^  eval:/d' \
        -e 's/batch_size: 16/batch_size: 16, drop_remainder: true/' \
        -e 's/learning_rate: 0.05/learning_rate: 1.0e-3/' \
        -e 's/column_names: \[x, label\]/&, shuffle: false/' c.yaml
}

# overflows RUN: steps and scales of the updates skipped
overflows() {
    jq -c 'select(.split == "overflow") | [.step, .loss_scale]' \
        "$1/metrics.jsonl"
}

# skips_as_one: 2 and 3 processes skip the updates that one skips, and train as
# it does
skips_as_one() {
    local how n
    "$CELLRUN" train c.yaml -q -o one --force --steps 12
    overflows one >one.txt
    for how in shared messages; do
        for n in 2 3; do
            mpi_by $how $n train c.yaml -q -o many --force --steps 12 >out
            overflows many | diff one.txt -
            near "$(last one)" "$(last many)" 1e-5
        done
    done
}

@test "float16: the sum is rounded, and overflows, not the parts" {
    local how n more
    for out in 3 3000; do
        config c.yaml
        cancels $out
        "$CELLRUN" train c.yaml -q -o one --force --steps 12
        overflows one >one.txt
        [ "$(wc -l <one.txt)" -ge 1 ] # of the outputs
        [ "$(head -1 one.txt | jq '.[0]')" -ge 4 ]
        for how in shared messages; do
            for more in '' train.shard=optimizer; do
                for n in 2 3 4; do
                    mpi_by $how $n train c.yaml -q -o many --force --steps 12 \
                        $more >out
                    overflows many | diff one.txt -
                    near "$(last one)" "$(last many)" 1e-5
                done
            done
        done
        "$CELLRUN" train c.yaml -q -o one --force --steps 12 \
            train.grad_accumulation=2
        overflows one >one.txt
        mpi 2 train c.yaml -q -o many --force --steps 12 \
            train.grad_accumulation=2 >out
        overflows many | diff one.txt -
        near "$(last one)" "$(last many)" 1e-5
        # train.shard: gradients: not with a loss scale, but by hand
        sed -i -e 's/O2, loss_scale:.*/O3}/' -e '/scale_value/d' \
            -e 's/))\.mean/) * 2.6e5).mean/' -e 's/1.0e-3/1.0e-8/' c.yaml
        "$CELLRUN" train c.yaml -q -o one --force --steps 12
        for how in shared messages; do
            mpi_by $how 3 train c.yaml -q -o many --force --steps 12 \
                train.shard=gradients >out
            near "$(last one)" "$(last many)" 1e-2 # of the moments
        done
    done
}

@test "float16: the same of a convolution, and of the parameter it reads" {
    local net n
    for net in '  cells:
    fc: {Conv2d: [16, 16, 3]}
  construct: "return fc(x).mean(axis=(2, 3))"' \
        '  cells:
    img: {Parameter: {shape: [1, 16, 4, 4], init: ones}}
    fc: {Conv2d: {in_channels: 16, out_channels: 16, kernel_size: 3,
                  weight_init: ones}}
  construct: "return fc(img).mean(axis=(2, 3)) * x.mean(axis=(2, 3))[:, :1]"'; do
        config c.yaml
        cancels 16
        perl -e 'for my $i (0 .. 319) { print pack "f<*",
            map { 1 + 0.01 * sin($i * 256 + $_) } 1 .. 256 }' |
            npy train-x.npy '<f4' '(320, 16, 4, 4)'
        NET=$net perl -pi -e 's/^  fc: .*/$ENV{NET}/' c.yaml
        "$CELLRUN" train c.yaml -q -o one --force --steps 12
        overflows one >one.txt
        for n in 2 4; do
            mpi $n train c.yaml -q -o many --force --steps 12 >out
            overflows many | diff one.txt -
            near "$(last one)" "$(last many)" 1e-5
        done
    done
}

@test "float16: a sum of rounded gradients, and one on the way to a parameter" {
    cancels 8
    network <<'END'
network:
  cells:
    a: {Dense: {in_channels: 8, out_channels: 8, has_bias: false, weight_init: ones}}
    c: {Dense: {in_channels: 8, out_channels: 8}, share: {weight: a.weight}}
    k: {Parameter: {shape: [8], init: ones}}
  construct: |
    return c(a(x) * 0.125) * (k() * 2)
END
    sed -i 's/^amp: {/&cast: {float32: [c]}, /' c.yaml
    skips_as_one
}

@test "float16: a weight that is used three times, and by a recurrent cell" {
    local net
    for net in 'r: {Dense: {in_channels: 8, out_channels: 8, weight_init: ones}}
  construct: return r(x) + r(x * 0.5) + r(r(x) * 0.125)' \
        'r: {RNNCell: [8, 8]}
  construct: |
    h = r(x * 0.01, x * 0)
    return r(x * 0.01, h) + r(x * 0.02, h)'; do
        config c.yaml
        cancels 8
        printf 'network:\n  cells:\n    %s\n' "$net" | network
        skips_as_one
        [ "$(wc -l <one.txt)" -ge 1 ]
    done
}

@test "what is made of parameters: one mask of dropout, gradients read in time" {
    network <<'END'
network:
  cells:
    m: {Parameter: {shape: [16384], init: {Normal: {sigma: 0.1}}}}
    base: {Parameter: {shape: [128, 128], init: {Normal: {sigma: 0.3}}}}
    i: {Dense: {in_channels: 8, out_channels: 128}}
    c: {Dense: [128, 128]}
    drop: {Dropout: {p: 0.5}}
    out: {Dense: [128, 3]}
  construct: |
    w = drop(c(base)) + m.reshape((128, 128))
    return out(matmul(i(x), w))
END
    "$CELLRUN" train c.yaml -q -o one --steps 6
    for how in shared messages; do
        mpi_by $how 2 train c.yaml -q -o many --force --steps 6 >out
        near "$(last one)" "$(last many)" 1e-4
    done
}

@test "a gradient of the loss's own parameter: the sum is tested, not a part" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    # of all samples it is -2 / 3 7.5 1e38, infinite, and of half of them finite
    perl -e 'print pack "l<*", (0) x 300' | npy train-y.npy '<i4' '(300,)'
    network <<'END'
network:
  fc: {Dense: {in_channels: 8, out_channels: 3, weight_init: zeros, bias_init: zeros}}
loss:
  inputs: [logits, label]
  cells: {w: {Parameter: {shape: [3], init: zeros}}}
  construct: "return cross_entropy(logits + w() * 1e38 * 7.5, label)"
END
    sed -i '/^loss: Cross/d' c.yaml
    run -5 --separate-stderr "$CELLRUN" train c.yaml -q -o one
    jq -c '[.status, .steps]' one/record.json >one.txt
    local how
    for how in shared messages; do
        run -5 --separate-stderr mpi_by $how 2 train c.yaml -q -o many --force
        jq -c '[.status, .steps]' many/record.json | diff one.txt -
        [[ $stderr == *"the gradient of the loss is not finite at step 1"* ]]
    done
}

@test "large parameters, which processes on one machine have once" {
    wide_network
    local optim
    sed -i 's/^  drop:.*//' c.yaml
    as_one 12 1e-5 'optimizer={SGD: {learning_rate: 0.05}}' \
        datapipe.batch.batch_size=99 # the last batch, of 3, in each of 4
    for optim in '{Lamb: {learning_rate: 0.01}}' \
        '{RMSProp: {learning_rate: 0.001}}'; do
        as_one 6 1e-4 "optimizer=$optim"
    done
    as_one 40 1e-4 train.ema.decay=0.9 eval.use_ema=true eval.every=7steps
    for run in one many; do
        jq -c 'select(.split == "eval") | [.step, .accuracy]' \
            $run/metrics.jsonl >$run.txt
    done
    [ "$(wc -l <one.txt)" -ge 5 ]
    diff one.txt many.txt
    as_one 6 1e-5 train.grad_accumulation=2 train.clip.norm=0.5
    as_one 6 1e-5 train.reduce_dtype=float32 train.clip.value=0.01
    as_one 12 1e-5 'freeze={patterns: ["b.*"], schedule: [{at: 5 steps, unfreeze: ["b.*"]}]}'
}

@test "run.eager: no process updates what another one still reads" {
    wide_network
    local n
    "$CELLRUN" train c.yaml -q -o one --force --steps 40 --eager
    for n in 2 3 2 3; do
        mpi "$n" train c.yaml -q -o many --force --steps 40 --eager >out
        near "$(last one)" "$(last many)" 1e-6
    done
}

@test "moving means of frozen parameters that processes have once" {
    wide_network
    local n
    set -- train.ema.decay=0.9 eval.use_ema=true eval.every=1steps \
        'freeze={patterns: ["b.*"]}'
    "$CELLRUN" train c.yaml -q -o one --steps 40 "$@"
    for n in 2 3; do
        mpi $n train c.yaml -q -o many --force --steps 40 "$@" >out
        run -6 "$CELLRUN" ckpt diff "$(last one)" "$(last many)"
        [[ $output == *"tensors differ"* && $output != *"b.weight"* ]]
    done
}
