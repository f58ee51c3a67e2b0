# gradcheck: gradients against differences of the loss.
bats_require_minimum_version 1.5.0
set -o pipefail

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

@test "a gradient that differs: half of the way is cut off" {
    cat >half.yaml <<'END'
network:
  inputs: [x]
  cells: {a: {Dense: {out_channels: 5}}, b: {Dense: {out_channels: 2}}}
  construct: |
    h = a(x)
    return b(h * stop_gradient(h))
loss: CrossEntropyLoss
END
    run -6 --separate-stderr "$CELLRUN" gradcheck half.yaml "${feed[@]}"
    grep -Eq "^a.weight .*DIFFERS" <<<"$output"
    grep -Eq "^b.weight .*agrees$" <<<"$output"
    [[ "$stderr" == *"the gradients of 2 of 4 parameters differ"*"[E0403]"* ]]
}

@test "at a kink there is nothing to compare with" {
    cat >kink.yaml <<'END'
network:
  a: {Dense: {in_channels: 3, out_channels: 5, has_bias: false, weight_init: Zero}}
  act: LeakyReLU
  b: {Dense: [5, 2]}
loss: CrossEntropyLoss
END
    run -0 --separate-stderr "$CELLRUN" gradcheck kink.yaml "${feed[@]}"
    grep -Eq "^a.weight .* - +at a kink$" <<<"$output"
    grep -Eq "^b.bias .*agrees$" <<<"$output"
    [[ "$output" == *"skipped: 4 directions, at a kink"* ]]
    "$CELLRUN" gradcheck kink.yaml "${feed[@]}" --json >out.json
    jq -e '.params[0].skipped == 4 and .params[2].skipped == 0' out.json
}

@test "BatchNorm and ReLU over many values agree" {
    perl -e 'print pack("f<*", map { sin($_ * 1.7) + cos($_ * $_) } 1 .. 24 * 64)' >raw
    { printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 3, 8, 8), }"
      cat raw; } >x.npy
    npy y.npy '<i4' '(8,)' 'l<*' 0 1 1 0 0 1 0 1
    cat >bn.yaml <<'END'
blocks:
  Part:
    params: {n: required}
    cells: {c: {Conv2d: {out_channels: $n, kernel_size: 3}}, bn: BatchNorm2d, act: ReLU}
    construct: return act(bn(c(x)))
network: [{Part: {n: 16}}, {Part: {n: 32}}, {Part: {n: 32}}, {AdaptiveAvgPool2d: {output_size: 1}}, Flatten, {Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
END
    for s in 1 2 3; do
        run -0 "$CELLRUN" gradcheck bn.yaml "${feed[@]}" --seed $s
    done
}

@test "a loss is needed, and a batch" {
    echo 'network: {Dense: [3, 2]}' >none.yaml
    run -2 --separate-stderr "$CELLRUN" gradcheck none.yaml "${feed[@]}"
    [[ "$stderr" == *"section 'loss' is missing"* ]]
    run -2 --separate-stderr "$CELLRUN" gradcheck net.yaml
    [[ "$stderr" == *"--feed COLUMN=FILE.npy gives one"* ]]
}

@test "--samples: more directions find smaller mistakes" {
    # one element of 150 has twice its gradient: little of the whole, more of
    # the halves that have it
    cat >small.yaml <<'END'
blocks:
  Off:
    inputs: [a]
    construct: return a * 1.0
    bprop: return concat((dout[:1] * 2.0, dout[1:]), 0)
network:
  inputs: [x]
  cells: {w: {Parameter: {shape: [150], init: One}}, off: Off}
  construct: return (x + sum(off(w))) * x
loss: {inputs: [y, label], construct: "return mean(y * y)"}
END
    run -0 "$CELLRUN" gradcheck small.yaml "${feed[@]}" --samples 0 \
        --tolerance 0.02
    run -6 "$CELLRUN" gradcheck small.yaml "${feed[@]}" --samples 20 \
        --tolerance 0.02
    run -2 "$CELLRUN" gradcheck small.yaml "${feed[@]}" --samples -1
    run -0 "$CELLRUN" gradcheck net.yaml "${feed[@]}" --samples 9 --json
    jq -e '.params | all(.agrees)' <<<"$output"
}

@test "one that takes its time says where it is" {
    cat >slow.c <<'END'
#include <cellrun.h>
#include <string.h>
#include <time.h>
static void forward(const struct cellrun_step *s)
{
    struct timespec t = { .tv_nsec = 150000000 };

    nanosleep(&t, NULL);
    memcpy(s->y[0], s->x[0], (size_t)cellrun_count(&s->input[0]) * sizeof(cellrun_real));
}
static void bprop(const struct cellrun_step *s)
{
    memcpy(s->dx[0], s->dy[0], (size_t)cellrun_count(&s->input[0]) * sizeof(cellrun_real));
}
static const struct cellrun_cell slow = { .name = "Slow", .summary = "Sleeps.",
                                          .forward = forward, .bprop = bprop };
CELLRUN_PLUGIN(&slow);
END
    ${CC:-cc} -std=c17 -D_GNU_SOURCE -fPIC -shared -I"$BATS_TEST_DIRNAME/../../src" \
        -o slow.so slow.c
    cat >slow.yaml <<'END'
plugin: slow.so
network: [{Dense: [3, 2]}, Slow]
loss: CrossEntropyLoss
END
    run -0 --separate-stderr "$CELLRUN" gradcheck slow.yaml "${feed[@]}"
    [[ $stderr == *"0 of 2 parameters, at 0.weight"* ]]
    run -0 --separate-stderr "$CELLRUN" gradcheck slow.yaml "${feed[@]}" -q \
        --samples 0
    [ -z "$stderr" ]
}

@test "low precision is left out" {
    run -0 "$CELLRUN" gradcheck net.yaml "${feed[@]}"
    [[ $output != *"low precision"* ]]
    full=$output
    sed 's/  b: {Dense: \[7, 2\]/&, to_float: float16/' net.yaml >word.yaml
    grep -q to_float word.yaml
    for set in amp.level=O2 amp.level=auto 'amp={level: O3, dtype: bfloat16}' \
        'amp.cast={float16: [b]}'; do
        run -0 "$CELLRUN" gradcheck net.yaml "${feed[@]}" "$set"
        [ "$output" = "$full
compared in float32: low precision (amp, to_float) is left out" ]
    done
    run -0 "$CELLRUN" gradcheck word.yaml "${feed[@]}"
    [ "$output" = "$full
compared in float32: low precision (amp, to_float) is left out" ]
    run -0 "$CELLRUN" help gradcheck
    [[ $(tr -s " \n" " " <<<"$output") == *"rounding of the loss may do to a difference is added"* ]]
}
