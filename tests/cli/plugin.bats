# plugin: cells in C from a shared object.
bats_require_minimum_version 1.5.0
set -o pipefail
load small.bash

setup() {
    HERE=$BATS_TEST_DIRNAME
    TOP=$(realpath "$HERE/../..")
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    # arrays of the type that this build computes in
    REAL=
    if "$CELLRUN" version | grep float64 >/dev/null; then REAL=-DCELLRUN_DOUBLE; fi
}

# build SOURCE TO [FLAG...]: a plug-in; its arrays are of the type REAL
build() {
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c17 -O2 -Wall -Wextra -Wpedantic -Werror -fPIC -shared \
        -I"$TOP/src" $REAL "${@:3}" -o "$2" "$1" -lm
}

# net FILE: the config of small.bash with the network and more on stdin
net() {
    config base.yaml
    { echo "base: base.yaml"; cat; } >"$1"
}

# same DIR DIR: every tensor has the same bytes
same() {
    run -0 "$CELLRUN" ckpt diff "$1" "$2" --json
    [[ "$output" == *'"same": true'* ]]
    [[ "$output" != *'"same": false'* ]]
}

# floats FILE SHAPE NUMBER...
floats() {
    perl -e 'print pack "f<*", @ARGV' -- "${@:3}" | npy "$1" '<f4' "$2"
}

# tensor FILE NAME: its numbers
tensor() {
    perl -0777 -e 'my ($name) = @ARGV; $_ = <STDIN>;
        my $n = unpack "Q<", $_; my $head = substr $_, 8, $n;
        $head =~ /"\Q$name\E":\{"dtype":"(\w+)[^}]*"data_offsets":\[(\d+),(\d+)\]/
            or die;
        printf "%.7g\n", $_ for unpack $1 eq "F64" ? "d<*" : "f<*",
            substr $_, 8 + $n + $2, $3 - $2' "$2" <"$1"
}

# near FILE FILE NAME...: those tensors are the same but for rounding
near() {
    local t
    for t in "${@:3}"; do
        paste <(tensor "$1" "$t") <(tensor "$2" "$t") | awk '{ d = $1 - $2
            if (NF != 2 || d * d > 1e-9 * (1 + $1 * $1)) { print; bad = 1 }
            } END { exit bad || NR == 0 }'
    done
}

# many: plug-in many.so with a net of its cells in many.yaml
many() {
    build "$HERE/plugin.c" many.so
    net many.yaml <<'END'
plugin: many.so
network: !replace
  cells:
    a: {Dense: {out_channels: 6}}
    c: Centre
    n: {Noise: {rate: 0.3}}
    h: Halves
    c2: {Centre: [false]}
    out: {Dense: {out_channels: 3}}
  construct: |
    y = n(c(a(x)))
    s, d = h(a=y, b=tanh(y))
    return out(c2(s)) * expand_dims(d, 1)
END
}

# ---- the two of configs/plugins, and the same as bprop text

@test "Threshold: values and gradients as those of the bprop text" {
    build "$TOP/configs/plugins/threshold.c" threshold.so
    cp "$TOP/configs/plugins/threshold.yaml" plug.yaml
    floats x.npy '(3, 3)' 0.05 0.2 0.3 -1 7 0.09 1 2 0.0999
    for mode in "" --eager; do
        "$CELLRUN" trace plug.yaml --feed x=x.npy --grad $mode -q \
            -o plug.safetensors
        "$CELLRUN" trace "$TOP/configs/seeds/threshold.yaml" --feed x=x.npy \
            --grad $mode -q -o text.safetensors
        for t in output grad.output.same grad.same.weight; do
            diff <(tensor plug.safetensors $t) <(tensor text.safetensors $t)
        done
        [ "$(tensor plug.safetensors output | xargs)" = \
          "20 0.2 0.3 20 7 20 1 2 20" ]
        [ "$(tensor plug.safetensors grad.output.same | xargs)" = \
          "0 1 1 0 1 0 1 1 0" ]
    done
}

@test "Threshold trains byte-identically to the bprop text, with any threads" {
    build "$TOP/configs/plugins/threshold.c" threshold.so
    net plug.yaml <<'END'
plugin: threshold.so
network: {act: !replace {ThresholdLayer: [0.1, -0.5]}}
END
    net text.yaml <<'END'
blocks:
  ThresholdText:
    construct: return where(x > 0.1, x, -0.5)
    bprop: return where(x > 0.1, dout, 0.0)
network: {act: !replace ThresholdText}
END
    "$CELLRUN" train plug.yaml -q -o one --threads 1 >/dev/null
    "$CELLRUN" train plug.yaml -q -o four --threads 4 >/dev/null
    "$CELLRUN" train text.yaml -q -o text >/dev/null
    same one four
    same one text
    run -0 "$CELLRUN" gradcheck plug.yaml
}

@test "large batches are split over threads, to the same bytes" {
    build "$TOP/configs/plugins/threshold.c" threshold.so
    build "$HERE/plugin.c" many.so
    cat >wide.yaml <<'END'
plugin: [threshold.so, many.so]
network:
  - {Dense: [1000, 700]}
  - {ThresholdLayer: [0.1, -0.5]}
  - {Noise: [0.4]}
  - {Dense: [700, 1]}
loss: {inputs: [y], construct: return mean(y)}
END
    perl -e 'print pack "f<*", map { sin($_ * 1.7) } 1 .. 37000' |
        npy x.npy '<f4' '(37, 1000)'
    for n in 1 4; do
        "$CELLRUN" trace wide.yaml --feed x=x.npy --grad -q --threads $n \
            -o $n.safetensors
    done
    cmp 1.safetensors 4.safetensors
}

@test "NetWithParam: the input's gradient is w dout, the weight's x dout" {
    build "$TOP/configs/plugins/net_with_param.c" net_with_param.so
    cp "$TOP/configs/plugins/net_with_param.yaml" .
    floats x.npy '(2, 1)' 3 -5
    "$CELLRUN" trace net_with_param.yaml --feed x=x.npy --grad -q \
        -o out.safetensors
    [ "$(tensor out.safetensors output | xargs)" = "6 -10" ]
    [ "$(tensor out.safetensors grad.net.w)" = -2 ]
    run -0 "$CELLRUN" gradcheck net_with_param.yaml --feed x=x.npy
    grep -Eq "^net.w .*agrees$" <<<"$output"
}

@test "the Makefile of configs/plugins builds them" {
    cp "$TOP"/configs/plugins/* .
    rm -f ./*.so
    run -0 make CC="${CC:-cc}" INCLUDE="$TOP/src"
    run -0 "$CELLRUN" check threshold.yaml
    run -0 "$CELLRUN" check net_with_param.yaml
}

# ---- what the header promises

@test "gradients agree: statistics, several results, noise, no bias" {
    many
    run -0 "$CELLRUN" gradcheck many.yaml
    for p in a.weight c.weight c.bias c2.weight out.weight; do
        grep -Eq "^$p .*agrees" <<<"$output"
    done
    [[ "$output" != *c.mean* ]]
    [[ "$output" != *c.scale* ]]
    run -0 "$CELLRUN" gradcheck many.yaml 'network.cells.n={Noise: {mode: add}}'
    run -0 "$CELLRUN" gradcheck many.yaml --eval
    # a result that is not read gets no gradient
    sed 's/ \* expand_dims(d, 1)//' many.yaml >one.yaml
    run -0 "$CELLRUN" gradcheck one.yaml
    [[ "$output" == *"a.weight"*agrees* ]]
}

@test "summary lists parameters, statistics and untrained values" {
    many
    run -0 "$CELLRUN" summary many.yaml --json
    jq -e '[.params[].name] == ["a.weight", "a.bias", "c.mean", "c.weight",
        "c.scale", "c.bias", "c2.mean", "c2.weight", "c2.scale",
        "out.weight", "out.bias"]' <<<"$output"
    jq -e '[.params[] | select(.trainable | not).name] == ["c.mean",
        "c.scale", "c2.mean", "c2.scale"]' <<<"$output"
    jq -e '.cells[] | select(.name == "c") | .type == "Centre" and
        .trainable == 12' <<<"$output"
}

@test "an interrupted run resumes to the same bytes, with any threads" {
    many
    "$CELLRUN" train many.yaml -q -o whole train.epochs=2 --threads 1 \
        >/dev/null
    "$CELLRUN" train many.yaml -q -o half train.epochs=1 --threads 3 >/dev/null
    "$CELLRUN" resume half train.epochs=2 -q >/dev/null
    same whole half
    # statistics have moved, what is fixed has not
    [ "$(tensor whole/ckpt/last.safetensors c.scale | sort -u)" = 2 ]
    [ "$(tensor whole/ckpt/last.safetensors c.mean | sort -u | wc -l)" -gt 1 ]
    # noise is for training
    run -0 "$CELLRUN" eval --ckpt whole -q
    first=$output
    run -0 "$CELLRUN" eval --ckpt whole -q --seed 77
    [ "$output" = "$first" ]
    # and another one in each step
    "$CELLRUN" train many.yaml -q -o other train.epochs=2 --seed 77 >/dev/null
    run -6 "$CELLRUN" ckpt diff whole other
}

@test "the plan without fusing gives the same" {
    many
    "$CELLRUN" trace many.yaml --grad -q -o plan.safetensors
    "$CELLRUN" trace many.yaml --grad --eager -q -o eager.safetensors
    near plan.safetensors eager.safetensors output loss grad.a.weight \
        grad.c.weight grad.c2.weight
}

@test "arrays of the other type are converted" {
    many
    mkdir other
    if [ "$REAL" ]; then other=; else other=-DCELLRUN_DOUBLE; fi
    REAL=$other build "$HERE/plugin.c" other/many.so
    "$CELLRUN" trace many.yaml --grad -q -o ours.safetensors
    "$CELLRUN" trace many.yaml plugin=other/many.so --grad -q \
        -o other.safetensors
    near ours.safetensors other.safetensors output loss grad.a.weight \
        grad.c.weight grad.c2.weight
    "$CELLRUN" train many.yaml plugin=other/many.so -q -o run >/dev/null
    [ "$(tensor run/ckpt/last.safetensors c.mean | sort -u | wc -l)" -gt 1 ]
    run -0 "$CELLRUN" plugin check many.so
    grep -Eq "^Noise .* $([ "$REAL" ] && echo double || echo float)$" \
        <<<"$output"
    # gradients of floats are no more exact than floats are
    [ "$REAL" ] || run -0 "$CELLRUN" gradcheck many.yaml plugin=other/many.so
}

@test "control words, low precision, freezing and calls work as with others" {
    many
    run -0 "$CELLRUN" train many.yaml -q -o half train.steps=5 amp.level=O2
    run -0 "$CELLRUN" summary many.yaml 'freeze.patterns="c.*"'
    [[ "$output" == *"not trained: c.weight: "* ]]
    run -0 "$CELLRUN" gradcheck many.yaml 'freeze.patterns="c.weight c2.*"'
    [[ "$output" == *c.bias* && "$output" != *c.weight* ]]
    # called twice: one set of parameters, two samples of noise
    net twice.yaml <<'END'
plugin: many.so
network: !replace
  cells: {a: {Dense: [8, 5]}, c: Centre, n: {Noise: [0.5]}, out: {Dense: [5, 3]}}
  construct: |
    y = c(c(a(x)))
    return out(n(y) + n(y))
END
    run -0 "$CELLRUN" gradcheck twice.yaml
    [ "$(grep -c '^c\.' <<<"$output")" -eq 2 ]
    net init.yaml <<'END'
plugin: many.so
network: !replace
  - {Dense: [8, 5]}
  - {Centre: {}, init: Zero}
  - {Dense: [5, 3]}
init: {rules: [{match: "1.bias", of: Centre, Constant: {value: 3}}]}
END
    "$CELLRUN" train init.yaml -q -o init train.steps=1 \
        optimizer.Momentum.learning_rate=1e-9 >/dev/null
    tensor init/ckpt/last.safetensors 1.weight |
        awk '$1 * $1 > 1e-12 { exit 1 }'
    tensor init/ckpt/last.safetensors 1.bias |
        awk '$1 < 2.999 || $1 > 3.001 { exit 1 }'
}

@test "the example of the section is what plugin new writes" {
    "$CELLRUN" plugin new MyScale >/dev/null
    build my_scale/my_scale.c my_scale/my_scale.so
    "$CELLRUN" help plugin --json |
        jq -r '.[] | select(.kind == "section").example' >example.yaml
    floats x.npy '(2, 3)' 1 2 3 4 5 6
    run -0 "$CELLRUN" config example.yaml
    [[ "$output" == *"MyScale: {gain: 2}"* ]]
    run -0 "$CELLRUN" trace example.yaml --feed x=x.npy
}

@test "images arrive as (N, C, H, W) between convolutions" {
    build "$TOP/configs/plugins/threshold.c" threshold.so
    perl -e 'print pack "f<*", map { sin($_ * 1.7) } 1 .. 1176' |
        npy x.npy '<f4' '(3, 2, 14, 14)'
    perl -e 'print pack "l<*", 0, 1, 0' | npy y.npy '<i4' '(3,)'
    for cell in '{ThresholdLayer: [0.05, 0]}' \
        '{construct: "return where(x > 0.05, x, 0.0)"}'; do
        cat >image.yaml <<END
plugin: threshold.so
network:
  a: {Conv2d: [2, 16, 3]}
  bn: {BatchNorm2d: [16]}
  t: $cell
  b: {Conv2d: [16, 16, 3]}
  pool: {AdaptiveAvgPool2d: {output_size: 1}}
  flat: Flatten
  out: {Dense: [16, 2]}
loss: CrossEntropyLoss
END
        for mode in "" --eager; do
            "$CELLRUN" trace image.yaml --feed x=x.npy --feed label=y.npy \
                --grad $mode -q -o "$((n += 1)).safetensors"
        done
    done
    for i in 2 3 4; do
        near 1.safetensors $i.safetensors output.t loss grad.a.weight \
            grad.b.weight grad.bn.gamma
    done
    [ "$n" -eq 4 ]
}

@test "in blocks and in losses" {
    many
    net inside.yaml <<'END'
plugin: many.so
blocks:
  Twice:
    params: {rate: required}
    cells: {c: Centre, n: {Noise: {rate: $rate}}}
    construct: return n(c(x))
network: !replace [{Dense: [8, 6]}, {Twice: [0.2]}, {Twice: [$(1/8)]}, {Dense: [6, 3]}]
loss: !replace
  inputs: [y, label]
  cells: {h: Halves, ce: CrossEntropyLoss}
  construct: |
    s, d = h(a=y, b=y)
    return ce(s, label) + 0.01 * mean(d)
END
    run -0 "$CELLRUN" gradcheck inside.yaml
    [[ "$output" == *"2.c.weight"*agrees* ]]
    run -0 "$CELLRUN" train inside.yaml -q -o inside train.steps=3
    run -0 "$CELLRUN" predict --ckpt inside eval-x.npy
    [ "${#lines[@]}" -eq 100 ]
}

# ---- options

@test "options are checked as those of other cells, and explained" {
    many
    run -2 --separate-stderr "$CELLRUN" summary many.yaml \
        'network.cells.n={Noise: {rat: 0.1}}'
    [[ "$stderr" == *"unknown argument 'rat' for Noise"* ]]
    [[ "$stderr" == *"did you mean 'rate'?"* ]]
    [[ "$stderr" == *"Noise takes: rate mode on label"* ]]
    run -2 --separate-stderr "$CELLRUN" summary many.yaml \
        'network.cells.n={Noise: [0.95, ad, 3]}'
    [[ "$stderr" == *"'rate' of Noise: found the number 0.95, expected a number from 0 to 0.9"* ]]
    [[ "$stderr" == *"expected drop or add"*"did you mean 'add'?"* ]]
    [[ "$stderr" == *"'on' of Noise: found the number 3, expected true or false"* ]]
    run -2 --separate-stderr "$CELLRUN" summary many.yaml network.cells.n=Odd
    [[ "$stderr" == *"argument 'how' of Odd is missing"* ]]
    run -2 --separate-stderr "$CELLRUN" summary many.yaml network.cells.n=Nose
    [[ "$stderr" == *"unknown cell 'Nose'"*"did you mean 'Noise'?"* ]]
    run -0 "$CELLRUN" help Noise --plugin many.so
    [ "${lines[0]}" = "Noise (cell): Zeroes elements, or adds noise." ]
    [[ "$output" == *"rate"*"a number from 0 to 0.9, default 0.25"* ]]
    [[ "$output" == *"mode"*"drop or add, default drop"* ]]
    run -0 "$CELLRUN" help Noise # without the plug-in, a word only
    [[ "$output" != *"(cell)"* ]]
    # positional arguments have names in what a run keeps
    run -0 "$CELLRUN" train many.yaml -q -o named train.steps=1 \
        'network.cells.n={Noise: [0.1, add]}'
    run -0 "$CELLRUN" ckpt show named --meta cellrun.config
    [[ "$output" == *"Noise: {rate: 0.1, mode: add}"* ]]
}

# odd HOW TEXT: what summary says of a network with the cell Odd
odd() {
    run -2 --separate-stderr "$CELLRUN" summary many.yaml \
        "network.cells.n={Odd: {how: $1}}"
    [[ "$stderr" == *"error: Odd: $2"* ]] || { echo "$stderr"; return 1; }
    [[ "$stderr" == *"command line, argument 3: error"* ]]
}

@test "what shape returns is checked" {
    many
    odd 1 "its parameter 'p' has no shape [E0019]"
    odd 2 "its output 0 is not a tensor (rank 9, first dimension "
    odd 3 "its output 0 is not a tensor (rank 2, first dimension 0)"
    odd 4 "its output 0 is not a tensor (rank 8, first dimension 1048576)"
    odd 5 "its parameter 'p' is not a tensor (rank 1, first dimension -3)"
    odd 6 "it requests 18446744073709551615 and 0 bytes of working memory"
    odd 7 "xxx xxxx"
    odd 8 "it refuses these inputs [E0101]"
    # a message of its own
    run -2 --separate-stderr "$CELLRUN" summary many.yaml \
        'network.cells.n={Noise: {label: "no"}}'
    [[ "$stderr" == *"Noise: the label is 'no' [E0101]"* ]]
    # a parameter of the batch's size will not do for the last batch
    run -2 --separate-stderr "$CELLRUN" train many.yaml -o odd -q \
        'network.cells.n={Odd: {how: 9}}'
    [[ "$stderr" == *"parameter 'n.p' is (16,), but (12,) in this call"* ]]
    # what is not finite stops the run, which names the cell
    run -5 --separate-stderr "$CELLRUN" train many.yaml -o nan -q \
        'network.cells.n={Odd: {how: 10}}'
    [[ "$stderr" == *"[E0401]"* ]]
    [[ "$stderr" == *"'n'"* || "$stderr" == *" n"[,\ ]* ]]
}

# ---- what is refused

# wrong VALUE COLUMN TEXT: what summary says of `plugin: VALUE`
wrong() {
    printf 'base: base.yaml\nplugin: %s\n' "$1" >wrong.yaml
    run -2 --separate-stderr "$CELLRUN" summary wrong.yaml
    [[ "$stderr" == "wrong.yaml:2:$2: error: "*"$3"*"[E0019]"* ]] ||
        { echo "$stderr"; return 1; }
    [ "$(grep -c 'error: ' <<<"$stderr")" -eq 1 ]
}

@test "files that are not plug-ins, with the place in the config" {
    config base.yaml
    wrong none.so 9 "plug-in 'none.so' not found"
    echo no >text.so
    wrong text.so 9 "plug-in 'text.so': cannot be opened: "
    mkdir dir.so
    wrong dir.so 9 "plug-in 'dir.so': found a folder, expected a file"
    : >empty.so
    wrong '[ empty.so ]' 11 "plug-in 'empty.so': cannot be opened: "
    echo 'extern int other; int other;' >other.c
    build other.c other.so
    wrong ./other.so 9 "not a plug-in of cellrun: symbol 'cellrun_plugin' not found"
    # several wrong ones: one message each
    printf 'plugin: [none.so, empty.so, Nothing]\nnetwork: [Nothing]\n' >wrong.yaml
    run -2 --separate-stderr "$CELLRUN" summary wrong.yaml
    [ "$(grep -c 'error: ' <<<"$stderr")" -eq 3 ]
    [[ "$stderr" != *"cell 'Nothing' not found"* ]]
    echo 'plugin: {a: b}' >wrong.yaml
    run -2 --separate-stderr "$CELLRUN" summary wrong.yaml
    [[ "$stderr" == "wrong.yaml:1:"*"'plugin.a' is not a key of plugin"* ]]
    run -2 --separate-stderr "$CELLRUN" summary base.yaml plugin=none.so
    [[ "$stderr" == "command line, argument 3: error: plug-in 'none.so' not found"* ]]
    [[ "$stderr" == *"use plugin=PATH on the command line to open another file"* ]]
    run -2 --separate-stderr "$CELLRUN" plugin check /dev/zero
    [[ "$stderr" == *"plug-in 'zero': found a device, expected a file"* ]]
}

@test "a file cut off is refused, at any length" {
    build "$HERE/plugin.c" many.so
    size=$(stat -c %s many.so)
    for i in 0 1 2 3 4 5 6 7; do
        head -c $((size * i / 8)) many.so >cut.so
        run -2 --separate-stderr "$CELLRUN" plugin check cut.so
        [[ "$stderr" == *"plug-in 'cut.so': "*"[E0019]"* ]]
    done
}

@test "descriptions that do not hold" {
    local n=0
    while IFS='|' read -r case want; do
        build "$HERE/plugin_bad.c" bad.so "-DCASE=$case"
        run -2 --separate-stderr "$CELLRUN" plugin check bad.so
        [[ "$stderr" == *"error: plug-in 'bad.so': "*"$want"*"[E0019]"* ]] ||
            { echo "$case: $stderr"; return 1; }
        n=$((n + 1))
    done <<'END'
1|'lower' is not a valid cell name
2|Dense is a built-in cell
3|MSELoss is a built-in loss
4|Fine: it has no 'forward'
10|Fine: the option 'Big' is not a name
11|Fine: duplicate option 'a'
12|Fine: option 'a' has the unknown type 77
13|Fine: the default of option 'a' is out of range
14|Fine: the default of option 'a' is not an integer
15|Fine: the default of option 'a' is not among its choices
16|Fine: option 'a' has no choices
17|Fine: the range of option 'a' is empty
20|Fine: parameter 'weight' has the invalid initialiser 'HeUniforn': 
21|unknown argument 'skale' for Uniform
22|Fine: parameter 'weight' has the unknown role 9
23|Fine: duplicate parameter 'weight'
24|Fine: parameter 'weight' cannot be trained without bprop
25|Fine: CELLRUN_SPLIT_BPROP is not allowed for cells with trained parameters
26|Fine: a cell with parameters must set 'shape'
27|Fine: more than 16 inputs and parameters
30|Fine: the input 'A' is not a name
31|Fine: found 0 inputs and 1 outputs, expected 1 to 16 each
32|Fine: found 1 inputs and 17 outputs
33|Fine: found 1 inputs and -1 outputs
34|Fine: unknown flags 0x40
35|Fine: CELLRUN_SAMPLES_APART is not allowed for cells with statistics
40|symbol 'cellrun_plugin' was not created by the macro CELLRUN_PLUGIN of cellrun.h
41|built for version 99 of cellrun.h, this cellrun has version 3
42|the sizes of its structs differ
43|it has no cell
44|duplicate cell Fine
45|symbol 'cellrun_plugin' not found
END
    [ "$n" -eq 32 ]
}

@test "two plug-ins with one name; one plug-in twice; a block of that name" {
    many
    cp many.so copy.so
    run -2 --separate-stderr "$CELLRUN" summary many.yaml \
        'plugin=[many.so, copy.so]'
    [[ "$stderr" == *"plug-in 'copy.so': plug-in 'many.so' already has a cell Noise"* ]]
    run -0 "$CELLRUN" summary many.yaml 'plugin=[many.so, ./many.so]'
    build "$HERE/plugin.c" more.so '-DNAMED(n)="More" n'
    run -0 "$CELLRUN" summary many.yaml 'plugin=[many.so, more.so]' \
        network.cells.n=MoreNoise
    run -2 --separate-stderr "$CELLRUN" summary many.yaml \
        'blocks={Noise: {construct: return x}}'
    [[ "$stderr" == *"'Noise' is already a type"* ]]
}

# ---- from a checkpoint

@test "eval finds the plug-in from anywhere, or names where it looked" {
    mkdir lib run
    many
    mv many.so lib
    "$CELLRUN" train many.yaml plugin=lib/many.so -q -o run/a train.steps=4 \
        >/dev/null
    mkdir -p else/where
    cd else/where
    run -0 --separate-stderr "$CELLRUN" eval --ckpt ../../run/a
    [[ "$stderr" != *warning* ]]
    cd ../..
    mv lib else/lib
    run -2 --separate-stderr "$CELLRUN" eval --ckpt run/a
    [[ "$stderr" == *"config in run/a/"*"error: plug-in 'lib/many.so' not found"*"[E0019]"* ]]
    run -0 "$CELLRUN" eval --ckpt run/a plugin=else/lib/many.so
    CELLRUN_DATA=$PWD/else run -0 "$CELLRUN" eval --ckpt run/a
    run -2 "$CELLRUN" resume run/a
    run -0 "$CELLRUN" resume run/a plugin=else/lib/many.so train.steps=6 -q \
        --allow-change
}

@test "another file than the one it was trained with is not opened" {
    many
    "$CELLRUN" train many.yaml -q -o run train.steps=4 >/dev/null
    run -0 "$CELLRUN" ckpt show run/ckpt/last.safetensors --meta cellrun.state
    [ "$(jq -r '.plugins."many.so"' <<<"$output")" = \
      "$(sha256sum many.so | cut -d' ' -f1)" ]
    cp many.so same.so
    printf x >>many.so
    run -4 --separate-stderr "$CELLRUN" eval --ckpt run
    [[ "$stderr" == *"error: plug-in 'many.so' has changed since training: expected SHA-256 "*" [E0306]"* ]]
    [[ "$stderr" == *"use plugin=PATH on the command line to open it nevertheless"* ]]
    run -4 "$CELLRUN" eval --ckpt run --trust
    run -4 "$CELLRUN" resume run train.steps=6 -q
    # what the command line names is opened; the same file may have any name
    run -0 --separate-stderr "$CELLRUN" eval --ckpt run plugin=many.so
    [[ "$stderr" == *"warning: plug-in 'many.so' has changed since training: expected SHA-256 "* ]]
    run -0 --separate-stderr "$CELLRUN" eval --ckpt run plugin=same.so
    [[ "$stderr" != *warning* ]]
    run -2 "$CELLRUN" eval --ckpt run plugin=many.so --strict
    run -0 --separate-stderr "$CELLRUN" resume run train.steps=6 -q \
        plugin=many.so --allow-change
    [[ "$stderr" == *"warning: plug-in 'many.so' has changed"* ]]
    run -0 --separate-stderr "$CELLRUN" eval --ckpt run/ckpt/last.safetensors
    [[ "$stderr" != *warning* ]]
}

@test "check and config open no plug-in; check prints what a run would open" {
    many
    echo '__attribute__((constructor)) static void first(void)
        { fclose(fopen("canary", "w")); }' | cat <(echo '#include <stdio.h>') \
        - "$HERE/plugin.c" >spy.c
    build spy.c many.so
    run -0 "$CELLRUN" check many.yaml
    [ "${lines[0]}" = "a run opens plug-in many.so, SHA-256 $(
        sha256sum many.so | cut -d' ' -f1)" ]
    [[ "${lines[1]}" == "ok, except the network: "* ]]
    run -0 "$CELLRUN" check many.yaml --json
    jq -e '.plugins[0].file == "many.so" and .built == false' <<<"$output"
    run -0 "$CELLRUN" config many.yaml --full
    [[ "$output" == *"plugin: many.so"* ]]
    # what is wrong elsewhere is found
    run -2 "$CELLRUN" check many.yaml optimizer.momentu=1
    run -3 "$CELLRUN" check many.yaml \
        'dataset.eval.data=[none.npy, eval-y.npy]'
    run -2 "$CELLRUN" check many.yaml plugin=none.so
    [ ! -e canary ]
    run -0 "$CELLRUN" summary many.yaml
    [ -e canary ]
    # a network without its cells is built
    rm canary
    run -0 "$CELLRUN" check many.yaml 'network=!replace [{Dense: [8, 3]}]'
    [[ "$output" == *"a run opens plug-in many.so"*"ok: 27 parameters"* ]]
    [ ! -e canary ]
}

# ---- the command

@test "plugin new writes one that builds and passes its own test" {
    run -0 --separate-stderr "$CELLRUN" plugin new MyScale
    [[ "$output" == *"my_scale/my_scale.c"*"my_scale/Makefile"*"my_scale/test.yaml"* ]]
    [ -z "$stderr" ]
    make=(make -C my_scale test CC="${CC:-cc}" CELLRUN="$CELLRUN"
        INCLUDE="$TOP/src" CPPFLAGS="$REAL"
        CFLAGS="-O2 -Wall -Wextra -Wpedantic -Werror")
    # a header that is not there: where to look for it
    run ! make -C my_scale CELLRUN="$CELLRUN" INCLUDE=nosuch
    [[ "$output" == *"cellrun.h is not in nosuch: say make INCLUDE=DIR"* ]]
    run -0 "${make[@]}"
    grep -Eq '^cell.weight .*agrees' <<<"$output"
    grep -Eq '^before.weight .*agrees' <<<"$output"
    run -0 "$CELLRUN" train my_scale/test.yaml -q -o run
    # a wrong bprop is found by that test
    sed -i 's/s->dx\[0\]\[i\] = /s->dx[0][i] = 2 * /' my_scale/my_scale.c
    run ! "${make[@]}"
    [[ "$output" == *"before.weight"*DIFFERS* ]]
}

@test "plugin new overwrites nothing" {
    "$CELLRUN" plugin new Gate >/dev/null
    echo mine >gate/gate.c
    rm gate/Makefile
    run -2 --separate-stderr "$CELLRUN" plugin new Gate
    [[ "$stderr" == *"'gate/gate.c' exists; --dir names another folder"* ]]
    [ "$(cat gate/gate.c)" = mine ]
    [ ! -e gate/Makefile ]
    run -0 "$CELLRUN" plugin new Gate --dir other --json
    [ "$(jq -r .dir <<<"$output")" = other ]
    [ -e other/gate.c ]
    run -1 --separate-stderr "$CELLRUN" plugin new Gate --dir gate/gate.c/x
    [[ "$stderr" == *"cannot make the folder 'gate/gate.c/x'"* ]]
}

@test "plugin: wrong usage" {
    while IFS='|' read -r args want; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr "$CELLRUN" plugin $args
        [[ "$stderr" == *"$want"* ]] || { echo "$args: $stderr"; return 1; }
    done <<'END'
nwe A|found 'nwe', expected new or check
new|plugin new: expected the name of one cell
new A B|plugin new: expected the name of one cell
check|plugin check: expected a file
new small|found 'small', expected the name of a cell
new Dense|Dense is a cell of cellrun itself
new MSELoss|MSELoss is a loss of cellrun itself
new A/B|found 'A/B', expected the name of a cell
END
}

@test "plugin check lists cells, for people and programs" {
    build "$HERE/plugin.c" many.so
    run -0 "$CELLRUN" plugin check many.so
    grep -Eq '^Halves +a, b -> 2 ' <<<"$output"
    grep -Eq '^Centre +x -> 1 +mean, weight, scale, bias +has_bias +yes' \
        <<<"$output"
    run -0 "$CELLRUN" plugin check many.so --json
    jq -e '[.[].name] == ["Noise", "Centre", "Halves", "Odd"] and
        (.[3].bprop | not) and .[2].outputs == 2 and
        .[1].params == ["mean", "weight", "scale", "bias"]' <<<"$output"
}

@test "the header is installed, and is C++ too" {
    run -0 make -C "$TOP" -n install prefix=/nowhere BUILD="$BUILD"
    [[ "$output" == *"src/cellrun.h /nowhere/include/cellrun.h"* ]]
    command -v "${CXX:-c++}" >/dev/null || skip 'no C++ compiler'
    printf '#include <cellrun.h>\nint main() { return 0; }\n' >a.cc
    run -0 "${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror -fsyntax-only \
        -I"$TOP/src" a.cc
}

# ---- what fails

# careful: plug-in careful.so with a net of it; sample 250 of the training
# data, in step 16, is beyond its limit
careful() {
    build "$HERE/plugin_stop.c" careful.so
    config base.yaml
    perl -0777 -pi -e 'substr $_, 128 + 250 * 32, 4, pack("f<", 1000)' \
        train-x.npy
    cat >careful.yaml <<'END'
base: base.yaml
plugin: careful.so
dataset: {train: {NumpySlicesDataset: {shuffle: false}}}
network: !replace
  fc: {Dense: [8, 8]}
  guard: {Careful: {where: forward, limit: 90}}
  out: {Dense: [8, 3]}
END
}

@test "forward reports an error: the run ends, and what was learned is kept" {
    careful
    sed -i 's/^  fc: .*//; s/limit: 90/limit: 500/' careful.yaml
    run -0 "$CELLRUN" train careful.yaml --dry-run
    run -1 --separate-stderr "$CELLRUN" train careful.yaml -q -o run
    [[ $stderr == "careful.yaml:6:"*": error: guard: Careful of plug-in 'careful.so' failed: sample 10 of the batch  is beyond 500 (forward) [E0604]"* ]]
    [[ $stderr == *"in the data of train: NumpySlicesDataset"* ]]
    [[ $output == *"status: failed"* ]]
    [ "$(value steps)" = 15 ]
    # the checkpoint is what 15 steps make
    "$CELLRUN" train careful.yaml -q -o steps train.steps=15 >/dev/null
    same run steps
    run -0 "$CELLRUN" eval --ckpt run -q
    # every other command that computes says so too
    run -1 "$CELLRUN" eval --ckpt run --data train
    [[ $output == *"guard: Careful of plug-in"*"(forward) [E0604]"*"in the data of train"* ]]
    floats x.npy '(3, 8)' $(seq 8) 1000 $(seq 7) $(seq 8)
    perl -e 'print pack "l<*", 0, 1, 2' | npy y.npy '<i4' '(3,)'
    run -1 "$CELLRUN" trace careful.yaml --feed x=x.npy --feed label=y.npy \
        -o out.safetensors
    [[ $output == *"sample 1 of the batch  is beyond 500"* ]]
    [ ! -e out.safetensors ]
    run -1 "$CELLRUN" gradcheck careful.yaml --feed x=x.npy --feed label=y.npy
    [[ $output == *"[E0604]"* && $output != *agrees* ]]
    run -1 "$CELLRUN" predict --ckpt run x.npy
    [[ $output == *"[E0604]"* ]]
    run -1 "$CELLRUN" train careful.yaml -q --dry-run \
        network.guard.Careful.limit=0
    [[ $output == *"sample 0 of the batch  is beyond 0 (forward)"* ]]
    run -1 "$CELLRUN" bench careful.yaml --repeat 1 --warmup 0 \
        network.guard.Careful.limit=0.0
    [[ $output == *"[E0604]"* ]]
    run -0 "$CELLRUN" help E0604
}

@test "bprop reports an error: no checkpoint of a partial step" {
    careful
    sed -i 's/forward, limit: 90/bprop, limit: 90/' careful.yaml
    run -0 "$CELLRUN" train careful.yaml -q -o fine train.steps=15
    run -1 --separate-stderr "$CELLRUN" train careful.yaml -q -o run \
        checkpoint.every='10 steps'
    [[ $stderr == *": error: guard: Careful of plug-in 'careful.so' failed: sample 10 of the batch  is beyond 90 (bprop) [E0604]"* ]]
    [ "$(value steps)" = 15 ]
    "$CELLRUN" train careful.yaml -q -o steps train.steps=10 >/dev/null
    same run steps
    # with a scaler, too, and with gradients apart
    for more in amp.level=O2 train.clip.norm=1 train.grad_accumulation=2 \
        train.nan=skip; do
        run -1 "$CELLRUN" train careful.yaml -q -o run --force $more
        [[ $output == *"(bprop) [E0604]"* ]]
    done
    run -1 "$CELLRUN" gradcheck careful.yaml network.guard.Careful.limit=-100
    [[ $output == *"(bprop) [E0604]"* ]]
}

@test "the first samples' message counts, with any threads" {
    build "$HERE/plugin_stop.c" careful.so
    cat >wide.yaml <<'END'
plugin: careful.so
network: [{Careful: [forward, 36899.5]}]
loss: {inputs: [y], construct: return mean(y)}
END
    perl -e 'print pack "f<*", map { $_ % 37000 } 1 .. 370000' |
        npy x.npy '<f4' '(370, 1000)'
    for n in 1 4; do
        run -1 "$CELLRUN" trace wide.yaml --feed x=x.npy --threads $n \
            -o $n.safetensors
        [[ $output == *"sample 36 of the batch  is beyond 36899.5"* ]]
    done
}

# loud PRINT...: trains on one sample (1, 2), which the plug-in Loud prints, and
# construct's lines; err
loud() {
    [ -e loud.so ] || build "$HERE/plugin_print.c" loud.so
    floats x.npy '(1, 2)' 1 2
    cat >loud.yaml <<YAML
plugin: loud.so
dataset: {train: {NumpySlicesDataset: {data: [x.npy], column_names: [x]}}}
datapipe: {batch: {batch_size: 1}}
network:
  cells:
    w: {Parameter: {shape: [2], init: 3}}
    loud: Loud
  construct: |
    y = x * w
    $1
    z = loud(y)
    $2
    return z
loss: {inputs: [y], construct: return sum(y)}
optimizer: {SGD: {learning_rate: 1}}
train: {epochs: 1}
YAML
    "$CELLRUN" train loud.yaml --force -o run "${@:3}" 2>err
    sed '/warning/d; /^nothing is evaluated/d; /^Epoch/,$d' err >said
}

@test "step->print prints what a cell sees, forward and in bprop" {
    local type=Float32
    if [ -n "$REAL" ]; then type=Float64; fi
    loud '' ''
    cat >expected <<END
comes in
Tensor(shape=[1, 2], dtype=$type, value=
[[3. 6.]])
on two\nlines
Tensor(shape=[1, 2], dtype=$type, value=
[[1. 1.]])
END
    diff said expected
    loud 'print("before")' 'print("after")'
    diff said <(echo before; sed 4q expected; echo after; sed 1,4d expected)
    loud '' '' run.print=off
    [ ! -s said ]
    run -0 --separate-stderr "$CELLRUN" gradcheck loud.yaml
    [ -z "$stderr" ]
}

@test "a plug-in built with version 2 of cellrun.h runs" {
    many
    mkdir two
    perl -0pe 's/CELLRUN_ABI 3/CELLRUN_ABI 2/;
        s|    /\* Prints a text.*?printer;[^\n]*\n||s' "$TOP/src/cellrun.h" \
        >two/cellrun.h
    run -1 grep printer two/cellrun.h
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c17 -O2 -fPIC -shared -Itwo $REAL -o two/many.so \
        "$HERE/plugin.c" -lm
    run -0 "$CELLRUN" plugin check two/many.so
    "$CELLRUN" train many.yaml -q -o new --steps 5
    "$CELLRUN" train many.yaml plugin=two/many.so -q -o was --steps 5
    same new was
}

@test "a plug-in built with version 1 of cellrun.h runs, to the same bytes" {
    many
    "$CELLRUN" train many.yaml -q -o new --steps 5
    mkdir old
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c17 -O2 -Wall -Wextra -Werror -fPIC -shared \
        -I"$HERE/abi1" $REAL -o old/many.so "$HERE/plugin.c" -lm
    run -0 "$CELLRUN" plugin check old/many.so
    "$CELLRUN" train many.yaml plugin=old/many.so -q -o was --steps 5
    same new was
    run -0 "$CELLRUN" gradcheck many.yaml plugin=old/many.so
    # with the sizes of the other version it is refused
    sed 's/define CELLRUN_ABI 1 /define CELLRUN_ABI 2 /' "$HERE/abi1/cellrun.h" \
        >old/cellrun.h
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c17 -fPIC -shared -Iold $REAL -o old/bad.so "$HERE/plugin.c"
    run -2 "$CELLRUN" plugin check old/bad.so
    [[ $output == *"the sizes of its structs differ"* ]]
}
