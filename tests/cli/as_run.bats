# trace --as-run: the plans of train, eval and predict, which fuse and fold.
# Every golden case goes through them in tests/cases/t_golden.c.
bats_require_minimum_version 1.5.0
set -o pipefail
load tensors

setup() {
    ROOT="$(realpath "$BATS_TEST_DIRNAME/../..")"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    cat >net.yaml <<'END'
cellrun: 1
network:
  conv: {Conv2d: {in_channels: 2, out_channels: 3, kernel_size: 3}}
  bn: BatchNorm2d
  relu: ReLU
  flat: Flatten
  out: {Dense: {out_channels: 2}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
END
    reals x.npy '(4, 2, 5, 5)' 200
    pack 'l<*' 0 1 1 0 | npy y.npy '<i4' '(4,)'
    feed=(--feed x=x.npy --feed label=y.npy)
}

# reals FILE SHAPE COUNT; classes FILE SHAPE COUNT BELOW
reals() {
    perl -e 'print pack "f<*", map { sin(1 + 37 * $_) } 1 .. shift' "$3" |
        npy "$1" '<f4' "$2"
}
classes() {
    perl -e 'my ($n, $k) = @ARGV;
        print pack "l<*", map { int(1e4 + 1e4 * sin(7 * $_)) % $k } 1 .. $n' \
        "$3" "$4" | npy "$1" '<i4' "$2"
}

names() {
    "$CELLRUN" ckpt ls "$1" | awk 'NR > 1 { print $1 }' | sort | xargs
}

# alike MODES ARGUMENT...: --as-run gives what the plan that keeps all gives,
# in each mode; t for training, e for evaluation, p for prediction
alike() {
    local modes=$1 flags i
    shift
    for ((i = 0; i < ${#modes}; i++)); do
        case ${modes:i:1} in
        t) flags=(--grad --step) ;;
        e) flags=(--eval) ;;
        p) flags=(--predict) ;;
        esac
        "$CELLRUN" trace "$@" "${flags[@]}" --as-run -o run.npz || return
        "$CELLRUN" trace "$@" "${flags[@]}" --against run.npz >said \
            2>&1 || { cat said; return 1; }
        grep -q '^differ: 0$' said || return
        # updates of their own, where gradients need not stay apart
        [ "${modes:i:1}" != t ] || {
            "$CELLRUN" trace "$@" --step --as-run -o run.npz || return
            "$CELLRUN" trace "$@" --step --against run.npz >said ||
                { cat said; return 1; }
        }
    done
}

@test "output and loss; gradients and parameters for --grad and --step" {
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --as-run -o o.npz
    [ "$(names o.npz)" = "loss output" ]
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --as-run --eval -o o.npz
    [ "$(names o.npz)" = "loss output" ]
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --as-run --predict -o o.npz
    [ "$(names o.npz)" = "output" ]
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --as-run --grad -o o.npz
    [ "$(names o.npz)" = "grad.bn.beta grad.bn.gamma grad.conv.weight grad.out.bias grad.out.weight loss output" ]
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --as-run --step -o o.npz
    [[ "$(names o.npz)" == "loss output param.bn.beta "*" param.bn.moving_mean "*" slot.accum.out.weight "* ]]
}

@test "--predict gives every output, and no loss" {
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --predict -o o.npz
    [ "$(names o.npz)" = "output output.bn output.conv output.flat output.out output.relu" ]
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --eval --against o.npz
}

@test "a plan that keeps all agrees: training, evaluation, prediction" {
    alike tep net.yaml "${feed[@]}"
    alike t net.yaml "${feed[@]}" 'log={grad_norm: true}'
    alike tep net.yaml "${feed[@]}" --eager
}

@test "flags that exclude each other are refused" {
    run -2 "$CELLRUN" trace net.yaml "${feed[@]}" --as-run --eval --grad
    [[ "$output" == *"--grad and --as-run --eval: an evaluation computes no gradients"* ]]
    run -2 "$CELLRUN" trace net.yaml "${feed[@]}" --as-run --predict --grad
    [[ "$output" == *"--grad and --as-run --predict: a prediction computes no gradients"* ]]
    run -2 "$CELLRUN" trace net.yaml "${feed[@]}" --predict --step
    [[ "$output" == *"--step and --predict: "* ]]
    run -2 "$CELLRUN" trace net.yaml "${feed[@]}" --predict --eval
    [[ "$output" == *"--eval and --predict cannot be combined"* ]]
}

@test "BatchNorm after Dense on (N, L, in): an evaluation, as trace has it" {
    cat >length.yaml <<'END'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [l.npy, y.npy], column_names: [x, label]}}
  eval: {NumpySlicesDataset: {data: [l.npy, y.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 4}, shuffle: false}
network:
  d: {Dense: {out_channels: $out}}
  bn: BatchNorm1d
  flat: Flatten
  out: {Dense: {out_channels: 2}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
metrics: [loss]
train: {epochs: 3}
END
    reals l.npy '(4, 3, 6)' 72
    for out in 3 8; do
        "$CELLRUN" train length.yaml -q -o "run$out" "vars={out: $out}" >said
        "$CELLRUN" trace "run$out/ckpt/last" --eval --json >keep.json
        want=$(jq '.[] | select(.name == "loss") | .mean' keep.json)
        got=$(jq -s 'map(select(.split == "eval")) | last | .loss' \
            "run$out/metrics.jsonl")
        awk -v a="$got" -v b="$want" \
            'BEGIN { d = a - b; exit !(d * d < 1e-12) }' ||
            { echo "$out: $got, not $want"; return 1; }
    done
}

@test "a weight that the network computes: each batch of predict its own" {
    cat >own.yaml <<'END'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 2}, shuffle: false}
network:
  cells: {bn: BatchNorm2d, flat: Flatten, out: {Dense: {out_channels: 2}}}
  construct: |
    y = bn(conv2d(x, x[:, :, 1:4, 1:4]))
    return out(flat(y))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    "$CELLRUN" train own.yaml -q -o run >said
    "$CELLRUN" predict --ckpt run --probs --batch 2 x.npy >both
    perl -e 'binmode STDIN; local $/; $_ = <STDIN>;
        print substr $_, -2 * 50 * 4' <x.npy | npy second.npy '<f4' '(2, 2, 5, 5)'
    "$CELLRUN" predict --ckpt run --probs --batch 2 second.npy >second
    diff <(tail -2 both | cut -f 2-) <(cut -f 2- second)
}

@test "configs whose data exist" {
    local name
    alike tep "$ROOT/configs/digits.yaml"
    alike tep "$ROOT/configs/plants.yaml"
    alike tep "$ROOT/configs/two_losses.yaml"
    for name in autodiff-joint autodiff class_loss-top class_loss contrastive \
        dense-ones dense freeze hardest hook_backward hooks loss_building \
        network pair stop_gradient; do
        alike tep "$ROOT/configs/seeds/$name.yaml" || { echo "$name"; return 1; }
    done
    alike p "$ROOT/configs/seeds/box_select.yaml"
}

@test "configs whose data do not exist, on batches that are fed" {
    classes four.npy '(4,)' 4 4
    classes tokens.npy '(4, 64)' 256 1000
    alike tep "$ROOT/configs/encoder.yaml" --feed tokens=tokens.npy \
        --feed label=four.npy
    reals seq.npy '(4, 50, 64)' 12800
    alike tep "$ROOT/configs/lstm.yaml" --feed x=seq.npy --feed label=four.npy
    reals small.npy '(4, 1, 28, 28)' 3136
    alike tep "$ROOT/configs/mnist.yaml" --feed image=small.npy \
        --feed label=four.npy
    reals larger.npy '(4, 1, 32, 32)' 4096
    alike tep "$ROOT/configs/lenet.yaml" --feed image=larger.npy \
        --feed label=four.npy
    reals colour.npy '(2, 3, 16, 16)' 1536
    classes two.npy '(2,)' 2 4
    # no data set tells how long an epoch of the schedule is
    local rate='optimizer={Momentum: {learning_rate: 0.1, momentum: 0.9}}'
    st w.safetensors classifier.bias:5
    alike tep "$ROOT/configs/resnet20.yaml" "$rate" --feed image=colour.npy \
        --feed label=two.npy
    # ResNet-18; its weights are many
    alike e "$ROOT/configs/flowers.yaml" "$rate" --feed image=colour.npy \
        --feed label=two.npy \
        "load={ckpt: $PWD/w.safetensors, skip: [], rename: [], strict: false}"
    seq 1 400 | tr -s '\n' ' ' >text.txt
    alike tep "$ROOT/configs/charlm.yaml" 'vars={d: 24, heads: 2, depth: 2, length: 32}' \
        "dataset={train: {CharSequenceDataset: {files: $PWD/text.txt, seq_len: 32}}}" \
        'datapipe={batch: {batch_size: 4}}'
}

@test "configs of cells with a backward of their own" {
    reals a.npy '(5, 4)' 20
    alike p "$ROOT/configs/seeds/branch.yaml" --feed x=a.npy
    reals b.npy '(2, 2, 2, 3)' 24
    alike tep "$ROOT/configs/seeds/dropout2d.yaml" --feed x=b.npy
    reals c.npy '(2, 1)' 2
    alike tep "$ROOT/configs/seeds/net_with_param.yaml" --feed x=c.npy
    reals d.npy '(2, 3)' 6
    alike tep "$ROOT/configs/seeds/threshold.yaml" --feed x=d.npy
    reals e.npy '(2, 16, 32, 32)' 32768
    alike p "$ROOT/configs/seeds/my_net.yaml" --feed x=e.npy
    reals f.npy '(1, 120, 12, 12)' 17280
    alike p "$ROOT/configs/seeds/my_cell.yaml" --feed x=f.npy
}

@test "a weight that an earlier layer reads after stop_gradient" {
    # its own gradient is done before that layer passes its gradient on
    cat >tied.yaml <<'END'
network:
  inputs: [x]
  cells:
    a: {Dense: {out_channels: 3}}
    w: {Parameter: {shape: [3, 3], init: {Normal: {sigma: 1.0}}}}
    b: {Dense: {out_channels: 2}}
  construct: |
    h = a(x)
    k = w()
    h = tanh(matmul(h, stop_gradient(k)))
    return b(matmul(h, k))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.5}}
END
    reals x.npy '(4, 3)' 12
    alike tep tied.yaml "${feed[@]}"
}

@test "low precision: what a fused activation makes has no type of its input" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    reals x.npy '(16, 16)' 256
    classes y.npy '(16,)' 16 16
    for level in O1 auto O2 O3; do
        for line in 'tanh(abs(h)) * 3.0 + sigmoid(x)' \
            'tanh(maximum(h, -h)) * 2.0' 'sigmoid(abs(h)) + x'; do
            cat >low.yaml <<END2
cellrun: 1
network:
  cells: {a: {Dense: {in_channels: 16, out_channels: 16}}}
  construct: |
    h = a(x)
    return $line
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
amp: {level: $level, loss_scale: {FixedLossScaleManager: {loss_scale: 1.0}}}
END2
            alike tep low.yaml --feed x=x.npy --feed label=y.npy ||
                { echo "$level: $line"; return 1; }
        done
    done
}

@test "pooling of images as samples without a batch, with channels last" {
    reals x.npy '(4, 16, 12, 14)' 10752
    for pool in '{AvgPool3d: {kernel_size: [2, 3, 1], stride: [2, 1, 3]}}' \
        '{MaxPool3d: {kernel_size: [2, 3, 1], stride: [2, 1, 3]}}' \
        '{AvgPool3d: {kernel_size: [3, 1, 2], pad_mode: same}}'; do
        cat >planes.yaml <<END
cellrun: 1
network:
  - {Conv2d: {in_channels: 16, out_channels: 32, kernel_size: 3}}
  - $pool
loss: {inputs: [y], construct: return mean(y * y)}
optimizer: {SGD: {learning_rate: 0.1}}
END
        "$CELLRUN" trace planes.yaml --feed x=x.npy --grad --as-run -o run.npz
        run -0 "$CELLRUN" trace planes.yaml --feed x=x.npy --grad --eager \
            --against run.npz --atol 1e-6
    done
}

@test "low precision: convolutions and pooling, some samples at a time" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    reals x.npy '(40, 2, 32, 32)' 81920
    classes y.npy '(40,)' 40 10
    for dtype in float16 bfloat16; do
        cat >low.yaml <<END2
cellrun: 1
network:
  - {Conv2d: {in_channels: 2, out_channels: 8, kernel_size: 3}}
  - ReLU
  - {MaxPool2d: {kernel_size: 2, stride: 2}}
  - {Conv2d: {out_channels: 24, kernel_size: 5}}
  - {AvgPool2d: {kernel_size: 2, stride: 2}}
  - Flatten
  - {Dense: {out_channels: 10}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
amp: {level: O2, dtype: $dtype,
      loss_scale: {FixedLossScaleManager: {loss_scale: 1.0}}}
END2
        feed=(--feed x=x.npy --feed label=y.npy)
        "$CELLRUN" trace low.yaml "${feed[@]}" --grad --step --as-run -o run.npz
        "$CELLRUN" trace low.yaml "${feed[@]}" --grad --step --against run.npz \
            --rtol 0.02 --atol 5e-4
    done
}

@test "a factor in an epilogue: rounded gradients, 0 and infinity" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    reals x.npy '(16, 16)' 256
    classes y.npy '(16,)' 16 16
    for line in 'matmul(cast(tanh(h), "float16"), w()) * 0.3' \
        'matmul(x, cast(w(), "float16")) * 0.3 + h' \
        'matmul(h * 0.0, w()) / 1e-39 + h'; do
        cat >scale.yaml <<END2
cellrun: 1
network:
  cells:
    a: {Dense: {in_channels: 16, out_channels: 16}}
    w: {Parameter: {shape: [16, 16], init: {Normal: {sigma: 1.0}}}}
  construct: |
    h = a(x)
    return $line
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
END2
        alike tep scale.yaml --feed x=x.npy --feed label=y.npy ||
            { echo "$line"; return 1; }
    done
}

@test "low precision: the dout of a bprop is rounded where its input is" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    reals x.npy '(16, 16)' 256
    classes y.npy '(16,)' 16 16
    cat >bprop.yaml <<'END2'
cellrun: 1
blocks:
  T:
    cells: {d: {Dense: {in_channels: 16, out_channels: 16}}}
    construct: return relu(d(x))
    bprop: return dout
network:
  cells: {a: {Dense: {in_channels: 16, out_channels: 16}}, t: T,
          b: {Dense: {in_channels: 16, out_channels: 16}},
          c: {Dense: {in_channels: 16, out_channels: 16}}}
  construct: |
    h = a(x)
    y = t(h)
    return b(y) + c(h)
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
amp: {level: O1}
watch: []
END2
    sed -i '/^watch/d' bprop.yaml
    for level in O1 O2 O3 auto; do
        "$CELLRUN" trace bprop.yaml amp.level=$level --feed x=x.npy \
            --feed label=y.npy --grad -o g.npz
        # dout of t is grad.output.t: float16 numbers
        unzip -p g.npz grad.output.t.npy | perl -e 'binmode STDIN; local $/; $_ = <STDIN>;
            my @v = unpack "V*", substr $_, 128; @v == 256 or die scalar @v;
            for (@v) { my $e = ($_ >> 23 & 255) - 127; next if $e < -14;
                die "not float16" if $_ & 0x1fff }'
    done
}

@test "low precision: gamma of two BatchNorms, one of them in predict mode" {
    reals x.npy '(8, 16)' 128
    first='share: {gamma: b.gamma, beta: b.beta}' second=
    for text in 'b(x) + p(x)' 'p(x) + b(x)'; do
        cat >shared.yaml <<END2
network:
  inputs: {x: {shape: [16]}}
  cells:
    b: {BatchNorm1d: {num_features: 16}${second:+, $second}}
    p: {cells: {q: {BatchNorm1d: {num_features: 16}${first:+, $first}}},
        inputs: [x], construct: return q(x), mode: predict}
  construct: return $text
init: [{match: "*.gamma", Uniform: {scale: 1.0}}]
amp: {level: O3}
END2
        "$CELLRUN" trace shared.yaml --feed x=x.npy --grad --eager -o e.safetensors
        "$CELLRUN" trace shared.yaml --feed x=x.npy --grad --as-run -o o.safetensors
        [ "$(tensor o.safetensors output)" = "$(tensor e.safetensors output)" ]
        first='' second='share: {gamma: p.q.gamma, beta: p.q.beta}'
    done
}

# ends LINE...: a network whose output the backward pass begins at
ends() {
    printf '%s\n' 'cellrun: 1' 'network:' '  inputs: {x: {shape: [8]}}' \
        "$@" >end.yaml
    reals end.npy '(4, 8)' 32
    CELLRUN_VERIFY=1 "$CELLRUN" trace end.yaml --feed x=end.npy --grad \
        --as-run -o run.npz
    run -0 "$CELLRUN" trace end.yaml --feed x=end.npy --grad --against run.npz
    run -0 "$CELLRUN" ckpt show run.npz
    [[ $output == *grad.* ]]
}

@test "without a loss: the last step is a fused dropout and sum" {
    ends '  cells: {dr: {Dropout: {p: 0.25}}, fa: {Dense: [8, 8]}}' \
        '  construct: |' '    y = sin(x)' '    return dr(fa(y)) + y'
}

@test "without a loss: the last cell is computed again" {
    local text
    for text in 'u(n(softmax(x, -1)))' 'x + u(n(softmax(x, -1)))'; do
        ends '  cells:' '    rc:' '      recompute: true' '      cells:' \
            '        n: {LayerNorm: {normalized_shape: [8]}}' \
            '        u: {Dense: [8, 8]}' "      construct: return $text" \
            '  construct: return rc(x)'
    done
}
