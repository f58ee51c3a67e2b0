# data_format NHWC: the numbers are tested in tests/golden (nhwc_*).
bats_require_minimum_version 1.5.0
set -o pipefail
load small
load tensors

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    perl -e 'print pack "f<*", map { sin($_ * 1.7) } 1 .. 24 * 6 * 6 * 3' |
        npy x.npy '<f4' '(24, 6, 6, 3)'
    perl -e 'print pack "l<*", map { $_ * 5 % 3 } 1 .. 24' | npy y.npy '<i4' '(24,)'
    cat >c.yaml <<'END'
cellrun: 1
vars: {f: NHWC}
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
  eval: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 8}}
network:
  conv: {Conv2d: {out_channels: 8, kernel_size: 3, data_format: $f}}
  bn: {BatchNorm2d: {data_format: $f}}
  pool: {MaxPool2d: {kernel_size: 2, stride: 2, data_format: $f}}
  conv2: {Conv2d: {out_channels: 16, kernel_size: 3, has_bias: true, data_format: $f}}
  relu: ReLU
  avg: {AdaptiveAvgPool2d: {output_size: 1, data_format: $f}}
  flatten: Flatten
  fc: {Dense: {out_channels: 3}}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.05, momentum: 0.9}}
metrics: [accuracy, loss]
train: {epochs: 4}
END
}

@test "NHWC: cells that follow each other move nothing, kernels fold and fuse" {
    run -0 "$CELLRUN" summary c.yaml -v
    [[ $output != *channels_* && $output != *reorder* ]]
    [[ $output =~ conv\ +Conv2d\ +\(8,\ 6,\ 6,\ 3\)\ +\(8,\ 6,\ 6,\ 8\) ]]
    "$CELLRUN" summary c.yaml --json >s.json
    [ "$(jq -c '[.params[] | select(.name | test("conv")) | .shape]' s.json)" = \
        '[[8,3,3,3],[16,3,3,8],[16]]' ]
}

@test "NHWC: the numbers of NCHW, trained, evaluated, resumed and predicted" {
    # the same weights as (out, in, h, w) and images as (C, H, W)
    perl -e 'my @v = unpack "f<*", do { local $/; substr <STDIN>, 128 };
        for my $n (0 .. 23) { for my $c (0 .. 2) { for my $s (0 .. 35) {
            print pack "f<", $v[($n * 36 + $s) * 3 + $c] } } }' <x.npy |
        npy z.npy '<f4' '(24, 3, 6, 6)'
    weights() { perl -e 'my ($o, $c, $last, $k) = (@ARGV, 9);
        for my $i (0 .. $o - 1) { for my $a (0 .. ($last ? $k : $c) - 1) {
            for my $b (0 .. ($last ? $c : $k) - 1) {
                my ($s, $ch) = $last ? ($a, $b) : ($b, $a);
                print pack "f<", 0.3 * sin($i * 7 + $ch * 3 + $s + 1) } } }' \
        "$@"; }
    weights 8 3 1 | npy l1.npy '<f4' '(8, 3, 3, 3)'
    weights 16 8 1 | npy l2.npy '<f4' '(16, 3, 3, 8)'
    weights 8 3 '' | npy f1.npy '<f4' '(8, 3, 3, 3)'
    weights 16 8 '' | npy f2.npy '<f4' '(16, 8, 3, 3)'
    for f in l f; do
        echo "init: [{match: conv.weight, Array: {file: ${f}1.npy}}, {match: conv2.weight, Array: {file: ${f}2.npy}}]" >>c.yaml
        args=()
        [ $f = l ] || args=(vars.f=NCHW dataset.train.data=[z.npy,y.npy]
            dataset.eval.data=[z.npy,y.npy])
        "$CELLRUN" train c.yaml -q -o run$f "${args[@]}" --json |
            jq -c '.eval | map_values(. * 1e4 | round)' >$f.json
        sed -i '$d' c.yaml
    done
    cmp l.json f.json
    tensor runl/ckpt/last.safetensors fc.weight >a
    tensor runf/ckpt/last.safetensors fc.weight >b
    paste a b | awk '{ d = $1 - $2; if (d * d > 1e-9) exit 1 }'
    "$CELLRUN" train c.yaml -q -o whole >/dev/null
    "$CELLRUN" train c.yaml -q -o part train.epochs=2 >/dev/null
    "$CELLRUN" resume part/ckpt/last.safetensors -q train.epochs=4 >/dev/null
    run -0 "$CELLRUN" ckpt diff whole part
    [[ $output == *"no differences"* ]]
    run -0 "$CELLRUN" eval --ckpt whole --eager
    eager=$output
    run -0 "$CELLRUN" eval --ckpt whole
    [ "$output" = "$eager" ]
}

@test "NHWC: low precision, planned and eager; gradients of all cells" {
    "$CELLRUN" trace c.yaml --grad --eager -o e.npz
    "$CELLRUN" trace c.yaml --grad --against e.npz
    for level in O1 O2 auto; do
        "$CELLRUN" trace c.yaml --grad amp.level=$level amp.dtype=bfloat16 \
            --eager -o e.npz
        "$CELLRUN" trace c.yaml --grad amp.level=$level amp.dtype=bfloat16 \
            --against e.npz --rtol 1e-3
    done
    run -0 "$CELLRUN" trace c.yaml --grad
    for cell in conv bn pool conv2 relu avg; do
        [[ $output == *"grad.output.$cell "* ]]
    done
    run -0 "$CELLRUN" gradcheck c.yaml
}

@test "channels last: masks and integers of convolutions, in the plan and eagerly" {
    perl -e 'print pack "f<*", map { sin($_ * 1.3) } 1 .. 3 * 4 * 9 * 7' |
        npy i.npy '<f4' '(3, 4, 9, 7)'
    cat >masks.yaml <<'END'
blocks:
  Larger:
    inputs: [u, v]
    construct: return u > v
network:
  inputs: {x: {shape: [4, 9, 7]}}
  cells:
    a: {Conv2d: {out_channels: 6, kernel_size: 3}}
    b: {Conv2d: {out_channels: 6, kernel_size: 3}}
    larger: Larger
  construct: |
    u = a(x)
    v = b(x)
    m = larger(u, v)
    n = cast(100 * u, int32) * cast(100 * v, int32)
    return where(m, u, v * 0.5), cast(n, float32) * 0.5, flatten(n), where(logical_and(m, u > 0 * v), u * v, v)
END
    "$CELLRUN" trace masks.yaml --feed x=i.npy --eval --eager -o eager.npz
    run -0 "$CELLRUN" trace masks.yaml --feed x=i.npy --eval -o plan.npz \
        --against eager.npz
    [[ $output == *"compared: 7"* ]]
}

@test "NHWC: data_format is not positional where MindSpore has no such argument" {
    echo 'network: {inputs: {x: {shape: [3, 6, 6]}}, pool: {AdaptiveAvgPool2d: [1, 2]}}' >d.yaml
    run -0 "$CELLRUN" summary d.yaml
    [[ $output =~ pool\ +AdaptiveAvgPool2d\ +\(32,\ 3,\ 6,\ 6\)\ +\(32,\ 3,\ 1,\ 2\) ]]
    run -0 "$CELLRUN" config d.yaml network.pool.data_format=NCHW
    [[ $output == *"{output_size: [1, 2], data_format: NCHW}"* ]]
    run -2 "$CELLRUN" check d.yaml 'network.pool=!replace {AdaptiveMaxPool2d: [2, false, NHWC]}'
    [[ $output == *"takes at most 2 arguments, found 3"* ]]
}

@test "NHWC: errors" {
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'network.pool={MaxPool2d: {kernel_size: 2, pad_mode: pad, return_indices: true, data_format: NHWC}}'
    [[ $stderr == *"return_indices requires data_format NCHW"* ]]
    echo 'network: {inputs: {x: {shape: [6, 3]}}, conv: {Conv2d: {out_channels: 2, kernel_size: 2, data_format: NHWC}}}' >d.yaml
    run -2 --separate-stderr "$CELLRUN" check d.yaml
    [[ $stderr == *"expected (batch, height, width, channels) with data_format NHWC"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml vars.f=NWHC
    [[ $stderr == *NWHC* ]]
}
