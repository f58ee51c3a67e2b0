# Golden vectors of MindSpore and PyTorch (tests/golden), one folder a case.
bats_require_minimum_version 1.5.0
set -o pipefail

setup_file() {
    export CELLRUN=${CELLRUN:-build/plain/cellrun}
    export GOLDEN="$BATS_TEST_DIRNAME/../golden"
}

# One trace of a case, compared with its reference.
trace() {
    local dir=$1 args=() column

    for column in "$dir"/*.npy; do
        [[ $column == */sens?.npy ]] ||
            args+=(--feed "$(basename "$column" .npy)=$column")
    done
    [ ! -e "$dir/weights.safetensors" ] ||
        args+=(--ckpt "$dir/weights.safetensors")
    # shellcheck disable=SC2046
    "$CELLRUN" trace "$dir/config.yaml" "${args[@]}" \
        $(sed "s:@:$dir/:g" "$dir/cmd") "${@:2}" --against "$dir/ref.safetensors" \
        -o "$BATS_TEST_TMPDIR/out.safetensors"
}

# All cases of a folder, in both modes; each that fails is named. A folder
# that is no case has a test of its own, and is named after the number.
walk() {
    local dir name mode n=0 bad=0

    for dir in "$GOLDEN/$1"/*/; do
        name=$(basename "$dir")
        [[ " ${*:3} " != *" $name "* ]] || continue
        n=$((n + 1))
        for mode in "" --eager; do
            if ! trace "${dir%/}" $mode >"$BATS_TEST_TMPDIR/said" 2>&1 ||
                ! grep -q '^compared: [1-9]' "$BATS_TEST_TMPDIR/said"; then
                bad=$((bad + 1))
                echo "$1/$name $mode:"
                sed 's/^/    /' "$BATS_TEST_TMPDIR/said"
                continue
            fi
            [ ! -e "$dir/absent" ] || while read -r name; do
                if grep -aqF "\"$name\":" "$BATS_TEST_TMPDIR/out.safetensors"
                then
                    bad=$((bad + 1))
                    echo "$1/$(basename "$dir") $mode: has $name"
                fi
            done <"$dir/absent"
        done
    done
    echo "$n cases, $bad wrong"
    [ "$n" -ge "$2" ] && [ "$bad" -eq 0 ]
}

@test "MindSpore's vectors: outputs, losses, gradients, updates" {
    walk ms 656 data tiny resnet8
}

@test "PyTorch's vectors, where MindSpore's kernels are off" {
    walk pt 57
}

@test "a case that is wrong, that ends with an error or compares nothing is noticed" {
    local dir="$BATS_TEST_TMPDIR/golden/all"

    mkdir -p "$dir"
    cp -r "$GOLDEN/ms/dense" "$dir/dense"
    export GOLDEN="$BATS_TEST_TMPDIR/golden"
    walk all 1
    # fewer than there were
    run -1 walk all 2
    # a value, the shape of one, one that is missing here, no value at all
    cp -r "$dir/dense" "$GOLDEN/dense"
    for broken in value shape missing none; do
        case $broken in
        value) sed 's/\x3f/\x40/g' ;;
        shape) sed 's/"shape":\[\([0-9]*\),\([0-9]*\)\]/"shape":[\2,\1]/' ;;
        missing) sed 's/"output"/"outpuu"/' ;;
        none) printf '\x02\0\0\0\0\0\0\0{}' ;;
        esac <"$GOLDEN/dense/ref.safetensors" >"$dir/dense/ref.safetensors"
        run -1 walk all 1
        [[ $output == *"all/dense "*"1 cases, 2 wrong" ]]
    done
    # the command ends with an error before it compares
    cp "$GOLDEN/dense/ref.safetensors" "$dir/dense"
    printf 'network: [Den]\n' >"$dir/dense/config.yaml"
    run -1 walk all 1
    [[ $output == *"Den"*"1 cases, 2 wrong" ]]
}

# Results are float16 numbers, or sums in float32 of such: one rounding more or
# less would show in most of them.
@test "attention and recurrences round where MindSpore's do" {
    local dir feed n=0 bad=0

    if "$CELLRUN" version | grep float64 >/dev/null; then
        skip 'doubles are rounded elsewhere'
    fi
    for dir in "$GOLDEN"/ms/amp_{mha,encoder_layer,lstm,gru,rnn}*/; do
        # LayerNorm on float16 computes in float16 there
        [[ "$dir" != *encoder_layer*O3/ ]] || continue
        n=$((n + 1))
        feed=()
        [ ! -e "${dir}label.npy" ] || feed=(--feed "label=${dir}label.npy")
        "$CELLRUN" trace "${dir}config.yaml" --feed "x=${dir}x.npy" \
            "${feed[@]}" --ckpt "${dir}weights.safetensors" \
            -o "$BATS_TEST_TMPDIR/out.safetensors"
        "$CELLRUN" ckpt diff --match output --rtol 1e-5 --atol 3e-5 \
            "$BATS_TEST_TMPDIR/out.safetensors" "${dir}ref.safetensors" \
            >"$BATS_TEST_TMPDIR/said" 2>&1 &&
            grep -qx '1 tensors, no differences' "$BATS_TEST_TMPDIR/said" || {
            bad=$((bad + 1))
            basename "$dir"
            cat "$BATS_TEST_TMPDIR/said"
        }
    done
    echo "$n cases, $bad wrong"
    [ "$n" -ge 86 ]
    [ "$bad" -eq 0 ]
}

@test "a reference that is off by little is noticed" {
    local dir="$GOLDEN/ms/dense"

    # the last byte of the file is sign and exponent of its last number
    head -c -1 "$dir/ref.safetensors" >"$BATS_TEST_TMPDIR/ref.safetensors"
    printf '\x7f' >>"$BATS_TEST_TMPDIR/ref.safetensors"
    run -6 "$CELLRUN" trace "$dir/config.yaml" --feed "x=$dir/x.npy" \
        --feed "label=$dir/label.npy" --ckpt "$dir/weights.safetensors" \
        --grad --against "$BATS_TEST_TMPDIR/ref.safetensors" \
        -o "$BATS_TEST_TMPDIR/out.safetensors"
}

# ten_losses DIR RUN: trains DIR/config.yaml, compares with DIR/losses
ten_losses() {
    "$CELLRUN" train "$1/config.yaml" -q -o "$2"
    jq -r 'select(.split == "train") | .loss' "$2/metrics.jsonl" >"$2/losses"
    [ "$(wc -l <"$2/losses")" -eq 10 ]
    [ "$(wc -l <"$1/losses")" -eq 10 ]
    paste "$2/losses" "$1/losses" | awk '
        { d = $1 - $2; if (d < 0) d = -d }
        d > 2e-6 * $2 { print "step " NR ": " $1 ", not " $2; bad = 1 }
        END { exit bad }'
}

@test "ten losses of a tiny run, and its parameters, as MindSpore's" {
    local dir="$GOLDEN/ms/tiny" run="$BATS_TEST_TMPDIR/run" feed

    ten_losses "$dir" "$run"
    # its parameters, seen by what they do: a double build stores doubles
    feed=(--feed "x=$dir/x.npy" --feed "label=$dir/label.npy" --grad --eval)
    "$CELLRUN" trace "$dir/config.yaml" "${feed[@]}" \
        --ckpt "$dir/end.safetensors" -o "$BATS_TEST_TMPDIR/end.safetensors"
    "$CELLRUN" trace "$run" "${feed[@]}" --rtol 1e-5 --atol 1e-6 \
        --against "$BATS_TEST_TMPDIR/end.safetensors"
}

@test "ten losses of a ResNet-8 with BatchNorm, and its statistics" {
    local dir="$GOLDEN/ms/resnet8" run="$BATS_TEST_TMPDIR/run"

    ten_losses "$dir" "$run"
    # a double build stores doubles
    "$CELLRUN" version | grep float64 >/dev/null ||
        "$CELLRUN" ckpt diff "$run/ckpt/last.safetensors" \
            "$dir/end.safetensors" \
        --match '*.moving_*' --rtol 1e-4 --atol 1e-5
}
