# Tables of which a batch looks up a few rows: processes exchange what arrives
# at these, and update them as one process does.
bats_require_minimum_version 1.5.0
set -o pipefail
load mpi

# t.yaml: 80 samples of 50 indices, some of which are no rows, and many repeat
table() {
    perl -e 'srand 5; print pack "l<*", map { int 3100 * rand() ** 4 - 50 } 1 .. 4000' |
        npy wide.npy '<i4' '(80, 50)'
    perl -e 'srand 6; print pack "l<*", map { int 1200 * rand() ** 4 } 1 .. 4000' |
        npy inside.npy '<i4' '(80, 50)'
    perl -e 'print pack "f<*", map { 1e-3 * $_ } 1 .. 80' |
        npy weight.npy '<f4' '(80,)'
    cat >t.yaml <<'END'
cellrun: 1
vars: {index: wide.npy, rows: 3000, lookup: tok(x)}
dataset:
  train:
    NumpySlicesDataset: {data: [$index, weight.npy], column_names: [x, weight]}
datapipe: {batch: {batch_size: 13}}
network:
  inputs: [x]
  cells:
    tok: {EmbeddingLookup: {vocab_size: $rows, embedding_size: 33}}
  construct: return $lookup
loss:
  inputs: [y, weight]
  construct: return sum(y * y) * sum(weight)
optimizer: {LazyAdam: {learning_rate: 0.01}}
train: {epochs: 3}
END
}

lazy='optimizer=!replace {LazyAdam: {learning_rate: 0.01}}'
sgd='optimizer=!replace {SGD: {learning_rate: 0.01}}'

# as_bytes_of_one HOW N [key=value...]: N processes have the bytes of run `one`
as_bytes_of_one() {
    local how=$1 n=$2
    shift 2
    mpi_by "$how" "$n" train t.yaml -q -o many --force "$@" >out 2>err ||
        { cat err; return 1; }
    run -0 "$CELLRUN" ckpt diff "$(last one)" "$(last many)"
    [[ $output == *"no differences"* ]]
}

# sent [key=value...]: bytes of the gradients that a step of two processes adds
# up, and number and bytes of what is waited for
sent() {
    mpi 2 bench t.yaml --mpi --json --warmup 1 --repeat 1 --batch 12 "$@" |
        jq -r '"\(.sum_bytes) \(.waits) \(.wait_bytes)"'
}

@test "the bytes of one process: LazyAdam, SGD; batches of 13, and of 2" {
    table
    local optim how n shard
    for optim in "$lazy" "$sgd"; do
        "$CELLRUN" train t.yaml -q -o one --force "$optim"
        for how in shared messages; do
            for n in 2 3 4; do
                as_bytes_of_one $how $n "$optim"
            done
            for shard in optimizer gradients; do
                as_bytes_of_one $how 3 "$optim" train.shard=$shard
            done
        done
    done
    as_bytes_of_one shared 2 "$sgd" --threads 3
    as_bytes_of_one shared 2 "$sgd" train.reduce_dtype=bfloat16
}

@test "padding_idx, samples along another axis, a table frozen at first" {
    table
    local how n more
    sed -i 's/EmbeddingLookup: {/Embedding: {padding_idx: 5, /' t.yaml
    set -- "$sgd" vars.index=inside.npy
    for more in vars.rows=1200 \
        'vars.lookup=tok(x.swapaxes(0, 1)).swapaxes(0, 1)' \
        'freeze={patterns: ["tok.*"], schedule: [{at: 5 steps, unfreeze: ["tok.*"]}]}'; do
        "$CELLRUN" train t.yaml -q -o one --force "$@" "$more"
        for how in shared messages; do
            for n in 2 3; do
                as_bytes_of_one $how $n "$@" "$more"
            done
        done
    done
}

@test "a table that processes share: none reads rows too early or too late" {
    table
    local n more
    # what arrives at a row depends on others
    set -- "$sgd" 'vars.lookup=tok(x).mean(1)'
    # all samples of a batch of 4 in each of 3 processes; means of parameters
    for more in datapipe.batch.batch_size=4 train.ema.decay=0.9; do
        "$CELLRUN" train t.yaml -q -o one --force "$@" $more --epochs 10
        for n in 2 3 2 3; do
            as_bytes_of_one shared $n "$@" $more --epochs 10
        done
    done
}

@test "another number of processes continues" {
    table
    "$CELLRUN" train t.yaml -q -o one
    mpi 3 train t.yaml -q -o many --steps 5 train.shard=optimizer >out
    "$CELLRUN" resume many -q --steps 9 train.shard=none
    CELLRUN_MPI=messages mpi 4 resume many -q --steps 12 >out
    mpi 2 resume many -q --epochs 3 >out
    run -0 "$CELLRUN" ckpt diff "$(last one)" "$(last many)"
    [[ $output == *"no differences"* ]]
}

@test "two tables, and layers whose gradients are summed" {
    table
    sed -i '/^    tok:/a\
    more: {EmbeddingLookup: {vocab_size: 400, embedding_size: 33}}\
    in: {Dense: {in_channels: 33, out_channels: 200}}\
    out: {Dense: {in_channels: 200, out_channels: 33}}' t.yaml
    local optim how n
    set -- 'vars.lookup=out(tanh(in(tok(x).mean(1)))) + more(x[:, 0] // 8)'
    for optim in "$lazy" "$sgd"; do
        "$CELLRUN" train t.yaml -q -o one --force "$optim" "$@"
        for how in shared messages; do
            for n in 2 3; do
                mpi_by $how $n train t.yaml -q -o many --force "$optim" "$@" \
                    >out
                near "$(last one)" "$(last many)" 1e-5
            done
        done
    done
}

@test "no gradient of the table is sent, unless it is needed as a whole" {
    table
    local size=4 table rows sums waits bytes all all_waits all_bytes
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || size=8
    table=$((3000 * 33 * size))
    rows=$((12 * 50 * (4 + 33 * size) / 2)) # a gather counts half of a sum
    read -r sums waits bytes < <(sent)
    read -r all all_waits all_bytes < <(sent optimizer='!replace {Adam: {}}')
    [ "$sums" = 0 ]
    [ "$all" = $table ]
    [ $((waits - all_waits)) = 2 ]
    [ $((bytes - all_bytes)) = $rows ]
    [[ $(sent "$sgd") == "0 $waits $bytes" ]]
    [[ $(sent train.shard=gradients) == "0 $waits $bytes" ]]
    [[ $(CELLRUN_MPI=messages sent "$sgd" train.shard=optimizer) == \
        "0 $waits $bytes" ]]
    # fewer indices of all processes than rows
    [[ $(sent vars.rows=601) == "0 "* ]]
    [[ $(sent vars.rows=600) == "$((600 * 33 * size)) "* ]]
    # two gathers of one table; a gradient that is read
    [[ $(sent 'vars.lookup=tok(x) + tok(x + 1)') == "$table "* ]]
    [[ $(sent 'train.clip={norm: 1}') == "$table "* ]]
    # each process computes all rows
    [[ $(sent 'vars.lookup=tok(flip(x, [0]))') == "$table "* ]]
}

@test "where it is needed as a whole: as one process" {
    table
    local more
    for more in 'vars.lookup=tok(x) + tok(x + 1)' 'train.clip={norm: 1}' \
        'vars.lookup=tok(flip(x, [0]))' train.grad_accumulation=2 \
        vars.rows=600 'amp={level: O2}' 'amp={level: O3}'; do
        "$CELLRUN" train t.yaml -q -o one --force "$more"
        mpi 2 train t.yaml -q -o many --force "$more" >out
        near "$(last one)" "$(last many)" 1e-5
    done
}
