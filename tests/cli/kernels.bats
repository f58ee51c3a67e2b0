# CELLRUN_ISA and CELLRUN_BLAS: who computes, and that all agree to rounding.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_ISA CELLRUN_BLAS
    best=$("$CELLRUN" version --json | jq -r .products)
}

# choices: lines "ISA LIBRARY NAME", of those that this machine has; NAME is
# what a run's record must say
choices() {
    echo 'generic own own generic'
    [ "$("$CELLRUN" version --json | jq -r .real)" = float32 ] || return 0
    [[ $best == own\ avx* ]] && echo 'avx2 own own avx2'
    [[ $best == own\ avx512 ]] && echo 'avx512 own own avx512'
    echo 'generic plain plain'
    available openblas && echo 'avx512 openblas OpenBLAS'
    available onednn && echo 'avx512 onednn oneDNN'
    return 0
}

available() {
    CELLRUN_BLAS=$1 "$CELLRUN" version >/dev/null 2>&1
}

# numbers NAME SHAPE: 96 samples of a shape, and the labels of three classes
numbers() {
    local all=96 d
    for d in $2; do all=$((all * d)); done
    perl -e 'for my $i (0 .. shift() - 1) { my $v = sin($i * 12.9898) * 43758.5453;
        print pack "f<", $v - int($v) }' "$all" |
        npy "$1-x.npy" '<f4' "(96, ${2// /, })"
    perl -e 'print pack "l<*", map { $_ * 7 % 3 } 0 .. 95' |
        npy "$1-y.npy" '<i4' "(96,)"
}

# network NAME: NAME.yaml trains the network on standard input
network() {
    { cat && cat <<END; } >"$1.yaml"

dataset: {train: {NumpySlicesDataset: {data: [$1-x.npy, $1-y.npy], column_names: [x, label]}}}
datapipe: {batch: {batch_size: 16}}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.02, momentum: 0.9}}
train: {epochs: 3}
END
}

# agree NAME: each choice trains it, says that it did, and comes to the loss
# of the first
agree() {
    local isa blas name leaks count=0 want= got
    while read -r isa blas name; do
        # the tracer of LeakSanitizer itself can crash on threads of a library
        # that was opened at run time; runs of cellrun's kernels are traced
        [ "$blas" = own ] && leaks=1 || leaks=0
        ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=$leaks \
            CELLRUN_ISA=$isa CELLRUN_BLAS=$blas "$CELLRUN" train "$1.yaml" \
            -o "$1-$isa-$blas" -q
        [ "$(jq -rs 'map(.kernels // empty)[0]' "$1-$isa-$blas/record.json")" \
            = "$name" ]
        got=$(jq -s 'map(.loss // empty)[-1]' "$1-$isa-$blas/metrics.jsonl")
        echo "$isa $blas: $got"
        want=${want:-$got}
        jq -en "$got > 0 and ($got - $want | fabs) < 2e-5 * $want"
        count=$((count + 1))
    done < <(choices)
    [ "$count" -ge 2 ] || [ "$("$CELLRUN" version --json | jq -r .real)" = float64 ]
}

@test "oneDNN: strides that skip padding of three dimensions" {
    available onednn || skip 'no oneDNN'
    numbers deep "3 5 4 4"
    cat >deep.yaml <<'END'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [deep-x.npy, deep-y.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 2}}
network:
  cells:
    c: {Conv3d: {out_channels: 4, kernel_size: [5, 1, 1], stride: [2, 1, 1], pad_mode: pad, padding: [3, 1, 0, 0, 0, 0]}}
  construct: |
    return c(x)
loss:
  inputs: [y, label]
  construct: "return sum(y * sin(y * 2 + 1)) + 0 * sum(label)"
optimizer: {SGD: {learning_rate: 0.01}}
END
    CELLRUN_BLAS=onednn run -0 "$CELLRUN" gradcheck deep.yaml
}

@test "products of Dense layers agree" {
    numbers dense '40'
    network dense <<'END'
cellrun: 1
network: [{Dense: [40, 70]}, ReLU, {Dense: [70, 33]}, Tanh, {Dense: [33, 3]}]
END
    agree dense
}

@test "convolutions, normalisation and pooling agree" {
    numbers conv '3 11 13'
    network conv <<'END'
cellrun: 1
network:
  - Conv2d: {in_channels: 3, out_channels: 8, kernel_size: 3}
  - BatchNorm2d: 8
  - ReLU
  - MaxPool2d: {kernel_size: 2, stride: 2}
  - Conv2d: {in_channels: 8, out_channels: 20, kernel_size: 3, stride: 2, pad_mode: pad, padding: 3}
  - Flatten
  - Dense: {out_channels: 3}
END
    agree conv
}

@test "attention and recurrences agree" {
    numbers seq '9 24'
    network seq <<'END'
cellrun: 1
network:
  cells:
    look: {TransformerEncoderLayer: {d_model: 24, nhead: 3, dim_feedforward: 40, dropout: 0, batch_first: true}}
    rec: {GRU: {input_size: 24, hidden_size: 19, batch_first: true}}
    head: {Dense: [19, 3]}
  construct: |
    y, _ = rec(look(x))
    return head(y[:, -1])
END
    agree seq
}

@test "version names the library of matrix products" {
    local isa blas name
    while read -r isa blas name; do
        run -0 env CELLRUN_ISA=$isa CELLRUN_BLAS=$blas "$CELLRUN" version
        [[ $output == *$'\n'"products: $name"$'\n'* ]]
    done < <(choices)
}

@test "a recurrence: the same bytes with its weight packed, in spans, and as it is" {
    # 7 threads have fewer than 16 samples each, so pack nothing
    local isa blas name threads want
    numbers gru '3 16'
    network gru <<'END'
network:
  inputs: {x: {shape: [3, 16]}}
  cells:
    rec: {GRU: {input_size: 16, hidden_size: 400, batch_first: true}}
    head: {Dense: {out_channels: 3}}
  construct: |
    y, _ = rec(x)
    return head(y[:, -1])
END
    while read -r isa blas name; do
        want=
        for threads in 1 2 7; do
            run -0 env CELLRUN_ISA="$isa" CELLRUN_BLAS="$blas" "$CELLRUN" \
                train gru.yaml datapipe.batch.batch_size=96 --epochs 2 \
                --threads "$threads" --run-dir "$isa-$threads"
            if [ -z "$want" ]; then
                want=$isa-$threads/ckpt/last.safetensors
            else
                cmp "$want" "$isa-$threads/ckpt/last.safetensors"
            fi
        done
    done < <(choices | grep ' own own ')
}

@test "without AVX2 a library computes matrix products, or cellrun's kernels" {
    run -0 env CELLRUN_ISA=generic "$CELLRUN" version --json
    if [ "$(jq -r .real <<<"$output")" = float64 ]; then
        [ "$(jq -r .products <<<"$output")" = 'own generic' ]
    elif available onednn; then
        [ "$(jq -r .products <<<"$output")" = oneDNN ]
    elif available openblas; then
        [ "$(jq -r .products <<<"$output")" = OpenBLAS ]
    else
        [ "$(jq -r .products <<<"$output")" = 'own generic' ]
    fi
}

@test "a library that is unknown is an error" {
    run -2 --separate-stderr env CELLRUN_BLAS=mkl "$CELLRUN" version
    [[ $stderr == "cellrun: error: CELLRUN_BLAS: found 'mkl', "* ]]
    [ -z "$output" ]
}
