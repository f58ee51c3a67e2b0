# Text: embeddings, and what they are given.
bats_require_minimum_version 1.5.0

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
}

# ids FILE NUMBER...: two samples of numbers
ids() {
    perl -e 'print pack "l<*", @ARGV' "${@:2}" |
        npy "$1" '<i4' "(2, $((($# - 1) / 2)))"
}

@test "an index outside of an embedding: exit 3 with column, value, sample" {
    echo 'network: [{Embedding: [5, 3]}]' >c.yaml
    ids good.npy 0 1 2 3 4 0
    ids high.npy 0 1 2 3 5 0
    ids low.npy 0 -1 2 3 4 0
    run -0 "$CELLRUN" trace c.yaml --feed x=good.npy -o o.safetensors
    run -3 "$CELLRUN" trace c.yaml --feed x=high.npy -o o.safetensors
    [ "${lines[0]}" = "cellrun: error: column 'x' of sample 1 is 5, outside of\
 0 to 4 [E0204]" ]
    run -3 "$CELLRUN" trace c.yaml --feed x=low.npy -o o.safetensors
    [ "${lines[0]}" = "cellrun: error: column 'x' of sample 0 is -1, outside of\
 0 to 4 [E0204]" ]
    echo 'network: [{EmbeddingLookup: [5, 3]}]' >c.yaml
    run -0 "$CELLRUN" trace c.yaml --feed x=high.npy -o o.safetensors
    run -0 "$CELLRUN" trace c.yaml --feed x=low.npy -o o.safetensors
}
