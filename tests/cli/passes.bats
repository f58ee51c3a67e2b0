# Passes of the planner: one skipped after another, the numbers stay.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_PASSES
    export CELLRUN_VERIFY=1
    root=$(realpath "$BATS_TEST_DIRNAME/../..")
    digits=$root/configs/digits.yaml
    golden=${BUILD:-$root/build/plain}/tests/cases/t_golden
}

# The passes that can be skipped, as the message for another one lists them.
passes() {
    CELLRUN_PASSES=- "$CELLRUN" summary "$digits" 2>&1 |
        sed -n 's/.*expected a list of //p' | sed 's/ \[.*//; s/,//g' | xargs
}

@test "skipped, a pass does nothing" {
    CELLRUN_PASSES=- run -2 "$CELLRUN" summary "$digits"
    [ "$(passes | wc -w)" -ge 5 ]
    for pass in $(passes); do
        CELLRUN_PASSES=$pass run -0 "$CELLRUN" summary --passes "$digits"
        [[ $output == *$'\nlower: '* && $output != *$'\n'"${pass#-}: "* ]]
    done
}

@test "golden cases hold with all of them skipped" {
    log=$BATS_TEST_TMPDIR/log
    (cd "$root" && CELLRUN_PASSES=$(passes | tr ' ' ,) "$golden" >"$log") ||
        { grep '^not ok' "$log"; false; }
    [ "$(grep -c '^ok' "$log")" -gt 500 ]
}

@test "digits are trained to the same figures with each pass skipped" {
    "$CELLRUN" train "$digits" -o all -q --steps 20 log.every='1 steps' \
        >/dev/null
    for pass in $(passes); do
        CELLRUN_PASSES=$pass "$CELLRUN" train "$digits" -o one -q --force \
            --steps 20 log.every='1 steps' >/dev/null
        run -0 "$CELLRUN" ckpt diff all/ckpt/last one/ckpt/last --rtol 1e-4 \
            --atol 1e-5
    done
}

@test "two_bytes: the same parameters, in less memory, at every level of amp" {
    cat >net.yaml <<'END'
base: BASE
network:
  - {Conv2d: {out_channels: 12, kernel_size: 3}}
  - BatchNorm2d
  - ReLU
  - {Conv2d: {out_channels: 12, kernel_size: 3}}
  - GELU
  - {MaxPool2d: {kernel_size: 2, stride: 2}}
  - {AvgPool2d: {kernel_size: 2, stride: 1}}
  - Flatten
  - {Dense: {out_channels: 2048}}
  - {Dense: {out_channels: 64}}
  - LayerNorm: {normalized_shape: [64]}
  - Tanh
  - Dropout: {p: 0.2}
  - {Dense: {out_channels: 10}}
END
    sed -i "s|BASE|$digits|" net.yaml
    for amp in "O2 float16" "O2 bfloat16" "O3 float16" "O1 float16" \
        "auto bfloat16"; do
        with=(amp.level="${amp% *}" amp.dtype="${amp#* }" --steps 12)
        less=$("$CELLRUN" summary net.yaml --json "${with[@]:0:2}" |
            jq .memory_bytes)
        more=$(CELLRUN_PASSES=-two_bytes "$CELLRUN" summary net.yaml --json \
            "${with[@]:0:2}" | jq .memory_bytes)
        [ "$less" -lt "$more" ]
        "$CELLRUN" summary net.yaml --passes "${with[@]:0:2}" >steps
        [[ $amp != "O2 float16" ]] || grep -q 'backward max_pool.*float16' steps
        CELLRUN_PASSES=-two_bytes "$CELLRUN" train net.yaml -o one -q \
            --force "${with[@]}" >/dev/null
        "$CELLRUN" train net.yaml -o all -q --force "${with[@]}" >/dev/null
        run -0 "$CELLRUN" ckpt diff all/ckpt/last one/ckpt/last
        [[ $output == *"no differences"* ]]
    done
}

@test "two_bytes: casts in a row, back to float32 and to float16 again" {
    cat >net.yaml <<'EOF'
base: BASE
network: !replace
  cells:
    a: {Conv2d: {out_channels: 3, kernel_size: 3}}
    b: {Conv2dTranspose: {out_channels: 6, kernel_size: 3, stride: 2}}
    c: {Conv2d: {out_channels: 8, kernel_size: 2, group: 2}}
    d: {Dense: {out_channels: 24}}
    e: {Dense: {out_channels: 10}}
  construct: |
    y = c(b(a(x)))
    z = d(mean(y, axis=(2, 3)))
    return e(z) + z[:, 4:14]
EOF
    sed -i "s|BASE|$digits|" net.yaml
    for amp in "O1 float16" "O1 bfloat16" "auto float16" "O2 float16"; do
        with=(amp.level="${amp% *}" amp.dtype="${amp#* }" --steps 6)
        CELLRUN_PASSES=-two_bytes "$CELLRUN" train net.yaml -o one -q \
            --force "${with[@]}" >/dev/null
        "$CELLRUN" train net.yaml -o all -q --force "${with[@]}" >/dev/null
        run -0 "$CELLRUN" ckpt diff all/ckpt/last one/ckpt/last
        [[ $output == *"no differences"* ]]
    done
}

@test "two_bytes: pieces of a split" {
    cat >net.yaml <<END
base: $digits
network: !replace
  cells:
    d: {Dense: {in_channels: 28, out_channels: 96}}
    f: {Dense: {in_channels: 32, out_channels: 32}}
    o: {Dense: {in_channels: 32, out_channels: 10}}
  construct: |
    q, k, v = split(d(reshape(x, (-1, 28, 28))), 32, 2)
    a = softmax(matmul(f(q), transpose(k, (0, 2, 1))), 2)
    return o(mean(matmul(a, v), 1) + mean(f(k[:, 1:]), 1))
END
    for level in O1 O2 O3; do
        for type in float16 bfloat16; do
            set -- -q --force --steps 5 amp.level=$level amp.dtype=$type
            "$CELLRUN" train net.yaml -o all "$@" >/dev/null
            CELLRUN_PASSES=-two_bytes "$CELLRUN" train net.yaml -o one "$@" \
                >/dev/null
            run -0 "$CELLRUN" ckpt diff all/ckpt/last one/ckpt/last
            [[ $output == *"no differences"* ]]
        done
    done
}

@test "fuse: a ReLU, a view and a layer in low precision" {
    cat >net.yaml <<'EOF'
base: BASE
network: !replace
  cells:
    a: {Dense: {out_channels: 36}}
    e: {Dense: {out_channels: 10}, to_float: float16}
  construct: "return e(relu(a(flatten(x))).reshape((-1, 36)))"
EOF
    sed -i "s|BASE|$digits|" net.yaml
    for amp in '' auto; do
        [ -z "$amp" ] || sed -i 's/, to_float: float16//' net.yaml
        with=(-q --force --steps 6 ${amp:+amp.level=$amp})
        CELLRUN_PASSES=-fuse "$CELLRUN" train net.yaml -o one "${with[@]}"
        "$CELLRUN" train net.yaml -o all "${with[@]}"
        "$CELLRUN" ckpt diff all/ckpt/last one/ckpt/last --rtol 1e-5 \
            --atol 1e-6
    done
}

@test "fuse: recomputed blocks that end in an activation keep nothing more" {
    cat >net.yaml <<'EOF'
base: BASE
network: !replace
  body:
    SequentialCell:
EOF
    for i in 1 2 3 4 5 6 7 8; do
        echo '      - {SequentialCell: [{Dense: {out_channels: 512}}, GELU],
         recompute: true}'
    done >>net.yaml
    sed -i -e "s|BASE|$digits|" -e 's/^  body:/  flat: Flatten\n  body:/' \
        net.yaml
    echo '  out: {Dense: {out_channels: 10}}' >>net.yaml
    less=$("$CELLRUN" summary net.yaml --json | jq .memory_bytes)
    sed -i 's/recompute: true/recompute: false/' net.yaml
    more=$("$CELLRUN" summary net.yaml --json | jq .memory_bytes)
    [ "$less" -lt $((more - 500000)) ]
}

@test "fuse: predictions of a residual network in low precision" {
    cat >net.yaml <<EOF
base: $digits
network: !replace
  cells:
    c: {Conv2d: {in_channels: 1, out_channels: 8, kernel_size: 3}}
    q: {Dropout: {p: 0.3}}
    r: {Conv2d: {in_channels: 8, out_channels: 8, kernel_size: 3}}
    n: {BatchNorm2d: {num_features: 8}}
    d: {Dense: {in_channels: 6272, out_channels: 16}}
    e: {Dense: {in_channels: 16, out_channels: 10}}
  construct: |
    h = q(relu(c(reshape(x, (-1, 1, 28, 28)))))
    h = n(r(h) + h) + h
    h = q(d(reshape(q(h), (-1, 6272))))
    return e(q(h))
EOF
    export CELLRUN_VERIFY=1
    for amp in "O2 float16" "O3 bfloat16"; do
        "$CELLRUN" train net.yaml -o run -q --force --steps 3 --strict \
            amp.level="${amp% *}" amp.dtype="${amp#* }" \
            'amp.loss_scale={FixedLossScaleManager: {loss_scale: 64}}' \
            >/dev/null
        "$CELLRUN" predict --ckpt run --data eval --format npy -o all.npy -q
        CELLRUN_PASSES=-fuse "$CELLRUN" predict --ckpt run --data eval \
            --format npy -o apart.npy -q
        cmp all.npy apart.npy
        rm all.npy apart.npy
        # in bfloat16 the processor may sum up in another order
        "$CELLRUN" eval --ckpt run -q --json >all.json
        "$CELLRUN" eval --ckpt run -q --json --eager >eager.json
        jq -se '.[0].accuracy == .[1].accuracy and
                (.[0].loss - .[1].loss | fabs) < 1e-4 * .[0].loss' \
            all.json eager.json
    done
}

@test "fuse: a batch_norm's ReLU has its mask from what backward reads anyway" {
    cat >net.yaml <<'END'
base: BASE
network: !replace
  cells:
    a: {Conv2d: {out_channels: 5, kernel_size: 3}}
    p: BatchNorm2d
    b: {Conv2d: {out_channels: 5, kernel_size: 3, has_bias: false}}
    q: BatchNorm2d
    e: {Dense: {out_channels: 10}}
  construct: |
    y = max_pool2d(relu(p(a(x))), 2, 1)
    y = relu(q(b(y)) + y)
    return e(mean(y, axis=(2, 3)))
END
    sed -i "s|BASE|$digits|" net.yaml
    "$CELLRUN" summary net.yaml --passes >steps
    run -0 grep 'backward batch_norm.* relu  p$' steps
    [[ $output != *"; y %"* ]]
    run -0 grep 'backward batch_norm.* relu  q$' steps
    [[ $output == *"; y %"* ]]
    export CELLRUN_BLAS=own # LeakSanitizer fears threads of libraries
    for isa in generic avx2; do
        CELLRUN_ISA=$isa "$CELLRUN" train net.yaml -o own -q --force \
            --steps 12 >/dev/null
        CELLRUN_ISA=$isa CELLRUN_PASSES=-fuse "$CELLRUN" train net.yaml \
            -o one -q --force --steps 12 >/dev/null
        run -0 "$CELLRUN" ckpt diff own/ckpt/last one/ckpt/last --rtol 1e-5 \
            --atol 1e-6
    done
}

@test "a gate of channels takes the layout of what it gates" {
    cat >c.yaml <<'EOF'
network:
  inputs: {x: {shape: [3, 8, 8]}}
  cells:
    a: {Conv2d: {in_channels: 3, out_channels: 16, kernel_size: 3}}
    b: {Conv2d: {in_channels: 16, out_channels: 16, kernel_size: 1}}
  construct: |
    x = cumsum(a(x), 2)
    return cumsum(x * sigmoid(b(mean(x, (2, 3), True))), 2)
EOF
    run -0 "$CELLRUN" summary c.yaml --passes
    plan=${output##*$'\nmemory: '}
    [[ $plan == *"cumsum("* && $plan == *"mul("* ]]
    # what the first cumsum gives is read as it lies
    run ! grep 'reorder(.*(32, 16, 8, 8)' <<<"${plan#*cumsum(}"
}

@test "normalisation by groups keeps the layout of convolutions" {
    cat >c.yaml <<'EOF'
network:
  inputs: {x: {shape: [3, 8, 8]}}
  cells:
    a: {Conv2d: {out_channels: 16, kernel_size: 3}}
    g: {GroupNorm: {num_groups: 4}}
    b: {Conv2d: {out_channels: 16, kernel_size: 3}}
    i: InstanceNorm2d
    e: {Dense: {out_channels: 10}}
  construct: |
    y = relu(g(a(x)))
    return e(mean(relu(i(b(y)) + y), (2, 3)))
EOF
    run -0 "$CELLRUN" summary c.yaml --passes
    plan=${output##*$'\nmemory: '}
    [[ $plan == *"group_norm("* ]]
    run ! grep 'reorder(.*, 16, 8, 8)' <<<"$plan"
    # row-major, as in double precision, it takes no addend
    [[ $plan != *"channels last"* ]] || run ! grep 'relu(\|add(' <<<"$plan"
}

@test "what moves elements keeps the layout of convolutions" {
    cat >c.yaml <<'EOF'
network:
  inputs: {x: {shape: [3, 8, 8]}}
  cells:
    a: {Conv2d: {out_channels: 16, kernel_size: 3}}
    p: {ConstantPad2d: {padding: [1, 0, 0, 1], value: 1.0}}
    b: {Conv2d: {out_channels: 16, kernel_size: 2, pad_mode: valid}}
    e: {Dense: {out_channels: 10}}
  construct: |
    y = a(x)
    u, v = split(y, 8, 1)
    y = concat([u, b(p(y)), v[:, 2:6]], 1)
    return e(mean(b(p(y[:, 4:20])), (2, 3)))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
EOF
    "$CELLRUN" summary c.yaml --passes >steps
    grep 'concat(' steps
    grep 'backward strided_slice(' steps
    run ! grep 'reorder(.*, 8, 8)' <(grep -v '(32, 3, 8, 8)' steps)
}

@test "dropout keeps the layout of convolutions" {
    cat >c.yaml <<'EOF'
network:
  inputs: {x: {shape: [3, 8, 8]}}
  cells:
    a: {Conv2d: {out_channels: 16, kernel_size: 3}}
    d: {Dropout: {p: 0.4}}
    b: {Conv2d: {out_channels: 16, kernel_size: 3}}
    e: {Dense: {out_channels: 10}}
  construct: return e(mean(b(d(a(x))), (2, 3)))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
EOF
    "$CELLRUN" summary c.yaml --passes >steps
    grep 'backward dropout(' steps
    run ! grep 'reorder(.*, 8, 8)' <(grep -v '(32, 3, 8, 8)' steps)
}

@test "ChannelShuffle and GLU keep the layout of convolutions" {
    for s in '{ChannelShuffle: 2}' '{GLU: 1}' '{GLU: -1}'; do
        cat >c.yaml <<EOF
network:
  inputs: {x: {shape: [3, 8, 8]}}
  cells:
    a: {Conv2d: {out_channels: 16, kernel_size: 3}}
    s: $s
    b: {Conv2d: {out_channels: 16, kernel_size: 3}}
    e: {Dense: {out_channels: 10}}
  construct: return e(mean(b(s(a(x))), (2, 3)))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
EOF
        "$CELLRUN" summary c.yaml --passes >steps
        grep -E 'backward (channel_shuffle|glu)\(' steps
        run ! grep 'reorder(.*, 8, [48])' <(grep -v '(32, 3, 8, 8)' steps)
    done
}

@test "prediction makes one of a weight for all calls of its cell" {
    cat >net.yaml <<'END'
base: BASE
datapipe: {batch: {batch_size: 4}}
network: !replace
  cells:
    conv: {Conv2d: {out_channels: 8, kernel_size: 3}}
    tie: {Conv2d: {out_channels: 8, kernel_size: 3}}
    fc: {Dense: {out_channels: 8, activation: tanh}}
    out: {Dense: {out_channels: 10}}
  construct: |
    x = relu(tie(relu(tie(relu(conv(x))))))
    x = mean(x, (2, 3))
    for i in range(5): x = fc(x)
    return out(x)
END
    sed -i "s|BASE|$digits|" net.yaml
    for amp in "O0 float16" "O2 float16" "O2 bfloat16" "auto float16"; do
        with=(amp.level="${amp% *}" amp.dtype="${amp#* }")
        "$CELLRUN" train net.yaml -q --force -o run --steps 3 "${with[@]}" \
            >/dev/null
        "$CELLRUN" summary net.yaml --passes "${with[@]}" |
            awk '/^memory:/ { text = "" } { text = text "\n" $0 }
                 END { print text }' >steps
        [[ $amp != O2* ]] || grep 'fake_cast(fc.bias) once' steps
        run -0 sed -n 's/.*= \(\(prepare\|fake_cast\)([a-z.]*)\) once.*/\1/p' \
            steps
        [ "$(sort <<<"$output" | uniq -d)" = "" ]
        for batch in 1 4 40; do
            "$CELLRUN" predict --ckpt run --data eval -n 40 --probs \
                --batch $batch >all
            for off in prepare constants prepare,-constants; do
                CELLRUN_PASSES=-$off "$CELLRUN" predict --ckpt run --data eval \
                    -n 40 --probs --batch $batch | cmp - all
            done
        done
    done
}
