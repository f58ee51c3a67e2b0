# gradcheck: gradients against differences of the loss.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    npy x.npy '<f4' '(4, 3)' 'f<*' 1 2 3 -1 0.5 0 0 -2 1 4 1 -1
    npy y.npy '<i4' '(4,)' 'l<*' 0 1 1 0
    cat >net.yaml <<'END'
network:
  a: {Dense: [3, 7]}
  t: Tanh
  drop: {Dropout: {p: 0.3}}
  b: {Dense: [7, 2]}
loss: CrossEntropyLoss
END
}

# npy FILE DESCR SHAPE PACK NUMBERS...
npy() {
    local file=$1 descr=$2 shape=$3
    shift 3
    {
        printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
            "{'descr': '$descr', 'fortran_order': False, 'shape': $shape, }"
        perl -e 'print pack(shift, @ARGV)' "$@"
    } >"$file"
}

feed=(--feed x=x.npy --feed label=y.npy)

@test "gradients that agree" {
    run -0 --separate-stderr "$CELLRUN" gradcheck net.yaml "${feed[@]}"
    for p in a.weight a.bias b.weight b.bias; do
        grep -Eq "^$p +[0-9.]+ +[0-9.e-]+ +agrees" <<<"$output"
    done
    [ -z "$stderr" ]
    "$CELLRUN" gradcheck net.yaml "${feed[@]}" --json >out.json
    jq -e '.params | length == 4 and all(.agrees and .deviation < 0.002)' \
        out.json
}

@test "what is frozen is not looked at" {
    run -0 "$CELLRUN" gradcheck net.yaml "${feed[@]}" 'freeze.patterns="a.*"'
    [[ "$output" != *a.weight* ]]
    [[ "$output" == *b.weight* ]]
}

@test "a gradient that differs: all of it sits on the kink" {
    cat >kink.yaml <<'END'
network:
  a: {Dense: {in_channels: 3, out_channels: 5, has_bias: false, weight_init: Zero}}
  act: LeakyReLU
  b: {Dense: [5, 2]}
loss: CrossEntropyLoss
END
    run -6 --separate-stderr "$CELLRUN" gradcheck kink.yaml "${feed[@]}"
    grep -Eq "^a.weight .*DIFFERS" <<<"$output"
    [[ "$stderr" == *"the gradients of 1 of 3 parameters differ"*"[E0403]"* ]]
}

@test "a loss is needed, and a batch" {
    echo 'network: {Dense: [3, 2]}' >none.yaml
    run -2 --separate-stderr "$CELLRUN" gradcheck none.yaml "${feed[@]}"
    [[ "$stderr" == *"section 'loss' is missing"* ]]
    run -2 --separate-stderr "$CELLRUN" gradcheck net.yaml
    [[ "$stderr" == *"--feed COLUMN=FILE.npy gives one"* ]]
}
