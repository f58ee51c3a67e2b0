# Updates of a table by the rows that a batch has looked up: LazyAdam, SGD.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    export CELLRUN_VERIFY=1
    GOLDEN="$BATS_TEST_DIRNAME/../golden/rows"
    config c.yaml
    cp "$GOLDEN"/*.npy .
    cat >t.yaml <<'END'
cellrun: 1
vars: {index: repeated.npy, cell: EmbeddingLookup, rows: 12}
dataset:
  train:
    NumpySlicesDataset:
      data: [$index, weight.npy]
      column_names: [x, weight]
      shuffle: false
datapipe: {batch: {batch_size: 1}}
network:
  inputs: [x]
  cells: {tok: {EmbeddingLookup: {vocab_size: $rows, embedding_size: 4}}}
  construct: return tok(x)
loss:
  inputs: [y, weight]
  construct: return sum(y * y) * sum(weight)
optimizer: {LazyAdam: {learning_rate: 0.1}}
train: {epochs: 1}
END
}

# Whether two trainings give the same parameters and slots.
same() {
    run -0 "$CELLRUN" ckpt diff "$1" "$2"
    [[ $output == *"no differences"* ]]
}

# The list of steps of a plan for training, before its memory is planned.
steps() {
    "$CELLRUN" summary --passes "$@" |
        awk '/^prepare/ { prediction++ } /^update:/ && !n++, /^memory:/'
}

@test "LazyAdam: MindSpore's and PyTorch's numbers, with and without clipping" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] ||
        skip 'the vectors are float32'
    for name in unique repeated; do
        for clip in 'train.clip={norm: 1e9}' 'train.limit=8'; do
            run -0 "$CELLRUN" train t.yaml -q --force -o r "$clip" \
                --load "$GOLDEN/table.safetensors" vars.index=$name.npy
            run -0 "$CELLRUN" ckpt diff r "$GOLDEN/$name.safetensors" \
                --rtol 4e-5 --atol 2e-6
            [[ $output == *"3 tensors, no differences"* ]]
        done
    done
    # Adam moves rows that no batch looks up any more
    "$CELLRUN" train t.yaml -q --force -o r --load "$GOLDEN/table.safetensors" \
        optimizer=Adam >/dev/null
    run -6 "$CELLRUN" ckpt diff r "$GOLDEN/repeated.safetensors" --rtol 1e-3
}

@test "the table has no gradient in memory, unless something else reads it" {
    steps t.yaml >plan
    grep 'embedding_table = update(.*x;' plan
    run ! grep 'backward gather' plan
    # the norm is that of the rows; what changes gradients wants all of them
    run ! grep 'backward gather' <(steps t.yaml 'train.clip={norm: 1e9}')
    steps t.yaml 'train.clip={value: 1e9}' | grep 'backward gather'
    steps t.yaml train.grad_accumulation=2 | grep 'backward gather'
    # fewer rows than indices
    steps t.yaml vars.rows=6 | grep 'backward gather'
    # two readers of one table
    sed 's/return tok(x)/return tok(x) + tok(x)/' t.yaml >two.yaml
    steps two.yaml | grep 'backward gather'
    # rules that change rows without a gradient
    steps t.yaml optimizer=Adam | grep 'backward gather'
    steps t.yaml \
        'optimizer=!replace {SGD: {weight_decay: 0.1}}' | grep 'backward gather'
    run ! grep 'backward gather' <(steps t.yaml optimizer=SGD)

    "$CELLRUN" summary t.yaml vars.rows=100000 | grep '^memory:' >rows
    "$CELLRUN" summary t.yaml vars.rows=100000 optimizer=Adam |
        grep '^memory:' >dense
    awk '{ split($0, a, ", "); print a[2] + 0 }' dense rows >step
    awk 'NR == 1 { dense = $1 } END { exit !(dense - $1 > 1.4) }' step
}

@test "SGD by rows: the same bytes, indices out of range and threads too" {
    cat >big.yaml <<'END'
base: t.yaml
vars: {rows: 3000}
datapipe: {batch: {batch_size: 2}}
network: !replace
  inputs: [x]
  cells:
    tok: {EmbeddingLookup: {vocab_size: $rows, embedding_size: 33}}
    out: {Dense: [33, 3]}
  construct: return out(tok(x))
END
    perl -e 'srand 5; print pack "l<*", map { int rand 3100 - 50 } 1 .. 4000' |
        npy wide.npy '<i4' '(80, 50)'
    perl -e 'print pack "f<*", map { 1e-3 * $_ } 1 .. 80' |
        npy weight.npy '<f4' '(80,)'
    for rule in SGD LazyAdam; do
        set -- vars.index=wide.npy train.epochs=3 \
            "optimizer=!replace {$rule: {learning_rate: 0.01}}"
        "$CELLRUN" train big.yaml -q --force -o one "$@" --threads 1 >/dev/null
        "$CELLRUN" train big.yaml -q --force -o two "$@" --threads 3 >/dev/null
        same one two
        for clip in 'norm: 1e9' 'value: 1e9'; do
            "$CELLRUN" train big.yaml -q --force -o two "$@" \
                "train.clip={$clip}" >/dev/null
            same one two
        done
        run ! grep 'backward gather' <(steps big.yaml "$@")
    done
}

@test "rows that wait for the norm of all gradients, or for finite ones" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] ||
        skip 'gradients that are not finite in float32 are in double'
    cat >wait.yaml <<'END'
base: t.yaml
vars: {index: wide.npy, rows: 3000}
datapipe: {batch: {batch_size: 2}}
network: !replace
  inputs: [x]
  cells:
    tok: {EmbeddingLookup: {vocab_size: $rows, embedding_size: 33}}
    out: {Dense: [33, 3]}
  construct: |
    y = tok(x)
    return out(y + relu(y)) + mean(y)
train: {epochs: 2, nan: skip}
log: {grad_norm: true}
END
    perl -e 'srand 7; print pack "l<*", map { int rand 2999 } 1 .. 4000' |
        npy wide.npy '<i4' '(80, 50)'
    # the gradients of steps 10 and 11 are not finite
    perl -e 'print pack "f<*", map { $_ > 20 && $_ < 25 ? 3e38 : 1e-3 * $_ }
        1 .. 80' | npy weight.npy '<f4' '(80,)'
    for rule in SGD LazyAdam; do
        rule="optimizer=!replace {$rule: {learning_rate: 0.01}}"
        run ! grep 'backward gather' <(steps wait.yaml "$rule")
        "$CELLRUN" train wait.yaml -q --force -o rows "$rule" \
            'train.clip={norm: 0.5}' --threads 3 >log
        grep 'skipped: 4' log
        "$CELLRUN" train wait.yaml -q --force -o all "$rule" \
            'train.clip={norm: 0.5, value: 1e30}' --threads 3
        run -0 "$CELLRUN" ckpt diff rows all --rtol 1e-5 --atol 1e-7
        [[ $output == *"no differences"* ]]
        "$CELLRUN" train wait.yaml -q --force -o one "$rule" \
            'train.clip={norm: 0.5}' --threads 1
        same one rows
    done
}

@test "LazyAdam: of an Embedding, and of all else, as Adam" {
    run -0 --separate-stderr "$CELLRUN" check t.yaml
    [ -z "$stderr" ]
    sed -i 's/EmbeddingLookup/Embedding/' t.yaml
    run -0 "$CELLRUN" check t.yaml
    [[ $output == *"t.yaml:"*"warning: LazyAdam is Adam here: "* ]]
    run -0 --separate-stderr "$CELLRUN" check t.yaml \
        'optimizer=!replace {Adam: {}}'
    [ -z "$stderr" ]
    "$CELLRUN" train t.yaml -q -o one >/dev/null
    "$CELLRUN" train t.yaml -q -o two \
        'optimizer=!replace {Adam: {learning_rate: 0.1}}' >/dev/null
    same one two
    "$CELLRUN" train c.yaml -q -o three 'optimizer=!replace {LazyAdam: {}}' \
        >/dev/null
    "$CELLRUN" train c.yaml -q -o four 'optimizer=!replace {Adam: {}}' \
        >/dev/null
    same three four
}

@test "low precision rounds the rows that a batch looks up, not the table" {
    scale='loss_scale: {FixedLossScaleManager: {loss_scale: 4.0}}'
    for low in "float16, $scale" "bfloat16, $scale" bfloat16; do
        amp="amp={level: O2, dtype: $low}"
        steps t.yaml "$amp" >plan
        grep 'gather(' plan
        run ! grep 'fake_cast(tok' plan
        for optimizer in LazyAdam SGD Adam; do
            for how in '' --eager; do
                "$CELLRUN" train t.yaml -q --force -o "r$how" "$amp" \
                    optimizer="{$optimizer: {learning_rate: 0.1}}" $how \
                    --load "$GOLDEN/table.safetensors" 2>"log$how"
                run ! grep skipped "log$how"
            done
            run -0 "$CELLRUN" ckpt diff r r--eager --rtol 1e-6
            [[ $output == *"no differences"* ]]
        done
        "$CELLRUN" predict --ckpt r repeated.npy >once
        CELLRUN_PASSES=-constants "$CELLRUN" predict --ckpt r repeated.npy |
            cmp - once
    done
    # without a loss scale no gradient has to wait
    grep 'embedding_table = update(.*x;' plan
}
