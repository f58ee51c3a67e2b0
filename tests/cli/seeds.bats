# configs/seeds: what the articles print comes out.
bats_require_minimum_version 1.5.0

setup() {
    SEEDS="$(realpath "$BATS_TEST_DIRNAME/../../configs/seeds")"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET
}

# npy FILE DESCR SHAPE: bytes on stdin
npy() {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
        "{'descr': '$2', 'fortran_order': False, 'shape': $3, }" >"$1"
    cat >>"$1"
}

# floats FILE SHAPE NUMBER...; ints FILE SHAPE NUMBER...
floats() {
    perl -e 'print pack "f<*", @ARGV' -- "${@:3}" | npy "$1" '<f4' "$2"
}
ints() {
    perl -e 'print pack "l<*", @ARGV' -- "${@:3}" | npy "$1" '<i4' "$2"
}

# mean NAME: of that tensor in the table of `trace` in $output
mean() {
    awk -v name="$1" '$1 == name { sub(/.*\) */, ""); print $1 }' <<<"$output"
}

# near A B TOLERANCE
near() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN {
        d = a - b; exit a != "" && d * d <= t * t ? 0 : 1 }' ||
        { echo "'$1' is not $2"; return 1; }
}

@test "every config resolves" {
    local file n=0
    for file in "$SEEDS"/*.yaml; do
        "$CELLRUN" config "$file" >/dev/null
        grep -q '^# ' "$file"
        n=$((n + 1))
    done
    [ "$n" -ge 3 ]
}

@test "2.9, ClassLoss: 0.7207259 of the seed's five samples" {
    local name
    for name in class_loss class_loss-top; do
        run -0 "$CELLRUN" train "$SEEDS/$name.yaml" -q -o "$name"
        near "$(jq -r .loss "$name/metrics.jsonl")" 0.7207259 6e-8
    done
}

@test "2.9, ClassLoss: no sample above 0 is a loss and a gradient of 0" {
    local name tensor
    ints none.npy '(5,)' -1 0 0 -3 0
    for name in class_loss class_loss-top; do
        run -0 "$CELLRUN" trace "$SEEDS/$name.yaml" --grad \
            --feed "x=$SEEDS/class_loss-pred.npy" --feed label=none.npy
        [ "$(mean loss)" = 0 ]
        for tensor in grad.fc.weight grad.fc.bias; do
            awk -v name="$tensor" '$1 == name { sub(/.*\) */, ""); n++
                bad += $1 != 0 || $2 != 0 || $3 != 0 || $4 != 0 || $5 != 0 }
                END { exit !(n == 1 && !bad) }' <<<"$output"
        done
    done
}

@test "2.9, ClassLoss: of equal values all count, or the first" {
    # two samples alike, of which 70 % is one
    local largest=0.731059 name
    floats two.npy '(3, 2)' 1 0 1 0 5 0
    ints label.npy '(3,)' 1 1 0
    for name in class_loss-top class_loss; do
        run -0 "$CELLRUN" trace "$SEEDS/$name.yaml" --grad --feed x=two.npy \
            --feed label=label.npy
        near "$(mean loss)" 1.313262 1e-5
        near "$(awk '$1 == "grad.output.fc" { print $(NF - 1) }' \
            <<<"$output")" $largest 1e-5
        largest=0.3655295
    done
}

@test "a loss over the hardest part trains" {
    run -0 "$CELLRUN" train "$SEEDS/hardest.yaml" -q -o run train.epochs=1 \
        --require 'accuracy>=0.9'
    [ "$(jq -s 'map(select(.split == "watch")) | length,
        (map(.nan_count) | add)' run/metrics.jsonl | xargs)" = '4 0' ]
}
