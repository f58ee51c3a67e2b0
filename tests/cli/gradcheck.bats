# gradcheck: gradients against differences of the loss.
bats_require_minimum_version 1.5.0
set -o pipefail
load two_layers

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    four_samples
    cat >net.yaml <<'END'
network:
  a: {Dense: [3, 7]}
  t: Tanh
  drop: {Dropout: {p: 0.3}}
  b: {Dense: [7, 2]}
loss: CrossEntropyLoss
END
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

@test "a loss of several elements is differentiated as their sum" {
    local reduction
    for reduction in none mean sum; do
        run -0 "$CELLRUN" gradcheck net.yaml "${feed[@]}" \
            "loss={CrossEntropyLoss: {reduction: $reduction}}"
        [ "$(grep -c agrees <<<"$output")" = 4 ]
    done
}

@test "frozen parameters are not checked" {
    run -0 "$CELLRUN" gradcheck net.yaml "${feed[@]}" 'freeze.patterns="a.*"'
    [[ "$output" != *a.weight* ]]
    [[ "$output" == *b.weight* ]]
}

# stopped LINE...: a network whose b is fed by these lines of a construct
stopped() {
    local cells=

    [[ $* != *off\(* ]] || cells+=", off: Off"
    [[ $* != *none\(* ]] || cells+=", none: Nothing"
    {
        cat <<'YAML'
blocks:
  Off:
    construct: return x * 1.0
    bprop: return dout * 1.5
  Nothing:
    construct: return x * 1.0
    bprop: return None
network:
  inputs: [x]
  cells: {a: {Dense: {out_channels: 5}}, b: {Dense: {out_channels: 2}}CELLS}
  construct: |
    h = a(x)
YAML
        printf '    %s\n' "$@"
        echo 'loss: CrossEntropyLoss'
    } | sed "s/CELLS/$cells/" >stopped.yaml
    run --separate-stderr "$CELLRUN" gradcheck stopped.yaml "${feed[@]}"
    echo "$stderr$output"
}

@test "stop_gradient: its value stays, and the gradient is right" {
    stopped 'return b(h * stop_gradient(h))'
    [ "$status" = 0 ]
    grep -Eq "^a.weight .*agrees$" <<<"$output"
    # a view of a parameter, which moves with it
    stopped 'return b(h) + sum(stop_gradient(h) * h)'
    [ "$status" = 0 ]
}

@test "comparisons, argmax and one_hot hold their values" {
    stopped 'return b(where(h > 0, h, 0.1 * h))'
    [ "$status" = 0 ]
    stopped 'm = cast(argmax(h, 1), "int32")' \
        'return b(h * one_hot(m, 5, 1.0, 0.5))'
    [ "$status" = 0 ]
    stopped 'return b(h * (1 + cast(h > 0.1, "float32")) - floor(3 * h))'
    [ "$status" = 0 ]
}

@test "a bprop that returns None holds its result" {
    stopped 'return b(h + none(h))'
    [ "$status" = 0 ]
    grep -Eq "^a.weight .*agrees$" <<<"$output"
}

@test "a wrong gradient next to stop_gradient is found" {
    stopped 'return b(off(h) * stop_gradient(h))'
    [ "$status" = 6 ]
    grep -Eq "^a.weight .*DIFFERS" <<<"$output"
    grep -Eq "^b.weight .*agrees$" <<<"$output"
    [[ "$stderr" == *"the gradients of 2 of 4 parameters do not match"*"[E0403]"* ]]
}

@test "seeds with stop_gradient have right gradients" {
    for seed in contrastive pair; do
        run -0 "$CELLRUN" gradcheck "$BATS_TEST_DIRNAME/../../configs/seeds/$seed.yaml"
        [[ "$output" == *"agrees"* && "$output" != *"DIFFERS"* ]]
    done
}

@test "where rounding drowns the loss there is nothing to compare with" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    local far noisy=0
    for far in 20.0 30.0 50.0 70.0 100.0 150.0 200.0 300.0; do
        cat >noisy.yaml <<END
network:
  cells:
    a: {Dense: [3, 7]}
    b: {Dense: [7, 2]}
  construct: return b((a(x) * 1e-3 + $far) - $far)
loss: CrossEntropyLoss
END
        run -0 "$CELLRUN" gradcheck noisy.yaml "${feed[@]}" --samples 20
        grep -Eq "^b.bias .*agrees$" <<<"$output"
        [[ "$output" != *"too noisy to tell"* ]] || noisy=$far
    done
    [ "$noisy" != 0 ]
    run -0 "$CELLRUN" gradcheck noisy.yaml "${feed[@]}" --samples 20 --json
    jq -e '.params[0] | .agrees and .skipped > 0' <<<"$output"
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
    [[ "$output" == *"skipped: 4 directions at a kink"* ]]
    "$CELLRUN" gradcheck kink.yaml "${feed[@]}" --json >out.json
    jq -e '.params[0].skipped == 4 and .params[2].skipped == 0' out.json
}

@test "BatchNorm and ReLU over many values agree" {
    perl -e 'print pack("f<*", map { sin($_ * 1.7) + cos($_ * $_) } 1 .. 24 * 64)' >raw
    { printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 3, 8, 8), }"
      cat raw; } >x.npy
    pack 'l<*' 0 1 1 0 0 1 0 1 | npy y.npy '<i4' '(8,)'
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
    [[ "$stderr" == *"use --feed COLUMN=FILE.npy to supply a batch"* ]]
}

@test "--samples: more directions find smaller errors" {
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

@test "a slow check prints its progress" {
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

@test "low precision is ignored" {
    run -0 "$CELLRUN" gradcheck net.yaml "${feed[@]}"
    [[ $output != *"low precision"* ]]
    full=$output
    sed 's/  b: {Dense: \[7, 2\]/&, to_float: float16/' net.yaml >word.yaml
    grep -q to_float word.yaml
    for set in amp.level=O2 amp.level=auto 'amp={level: O3, dtype: bfloat16}' \
        'amp.cast={float16: [b]}'; do
        run -0 "$CELLRUN" gradcheck net.yaml "${feed[@]}" "$set"
        [ "$output" = "$full
compared in float32: amp and to_float are ignored" ]
    done
    run -0 "$CELLRUN" gradcheck word.yaml "${feed[@]}"
    [ "$output" = "$full
compared in float32: amp and to_float are ignored" ]
    run -0 "$CELLRUN" help gradcheck
    [[ $(tr -s " \n" " " <<<"$output") == *"rounding error of the loss is added"* ]]
}

@test "--eps: the length of the longest step" {
    run -0 "$CELLRUN" gradcheck net.yaml "${feed[@]}"
    usual=$output
    run -0 "$CELLRUN" gradcheck net.yaml "${feed[@]}" --eps 1e-3
    [ "$output" != "$usual" ] # other deviations
    run -2 "$CELLRUN" gradcheck net.yaml "${feed[@]}" --eps 0
}
