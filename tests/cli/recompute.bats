# The modifier `recompute`: less memory, the same numbers to the bit.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    export CELLRUN_VERIFY=1
    config c.yaml
    cat >deep.yaml <<'END'
base: c.yaml
blocks:
  Residual:
    cells:
      norm: {BatchNorm1d: 32}
      up: {Dense: [32, 96]}
      act: GELU
      drop: {Dropout: {p: 0.3}}
      down: {Dense: [96, 32]}
      end: ReLU
    construct: |
      y = down(drop(act(up(norm(x)))))
      return end(x + y)
network: !replace
  begin: {Dense: [8, 32]}
  blocks: [{Residual: {}, repeat: 6}]
  out: {Dense: [32, 3]}
END
}

same() {
    rm -rf one two
    "$CELLRUN" train deep.yaml -q -o one "${@:2}" >/dev/null
    "$CELLRUN" train deep.yaml -q -o two "${@:2}" "$1" >/dev/null
    run -0 "$CELLRUN" ckpt diff one two
    [[ $output == *"no differences"* ]]
}

@test "recompute: blocks with BatchNorm and Dropout give the same parameters" {
    same network.blocks.0.recompute=true
    same network.blocks.0.recompute=true amp.level=O2 \
        'amp.loss_scale={FixedLossScaleManager: {loss_scale: 1}}'
    same network.blocks.0.recompute=true amp.level=O2 amp.dtype=bfloat16
    same network.blocks.0.recompute=true train.grad_accumulation=2
    same blocks.Residual.cells.up.recompute=true
    same blocks.Residual.recompute=true
}

@test "recompute: one cell after another, each by itself" {
    cat >row.yaml <<'END'
base: c.yaml
network: !replace
  a: {Dense: [8, 32], recompute: true}
  d1: {Dropout: {p: 0.3}, recompute: true}
  d2: {Dropout: {p: 0.3}, recompute: true}
  act: {Tanh: {}, recompute: true}
  norm: {LayerNorm: {normalized_shape: [32]}, recompute: true}
  out: {Dense: [32, 3], recompute: true}
END
    sed 's/, recompute: true//' row.yaml >plain.yaml
    for set in seed=1 amp.level=O2 amp.level=O1; do
        "$CELLRUN" train plain.yaml -q -o one --force $set >/dev/null
        "$CELLRUN" train row.yaml -q -o two --force $set >/dev/null
        run -0 "$CELLRUN" ckpt diff one two
        [[ $output == *"no differences"* ]]
    done
}

@test "recompute: state that the forward pass changes" {
    cat >state.yaml <<'END'
base: c.yaml
network: !replace
  cells:
    a: {Dense: [8, 32]}
    b:
      recompute: true
      cells:
        past: {Parameter: {shape: [1, 32], init: ones, requires_grad: false}}
        act: Tanh
      construct: |
        y = act(x * past)
        assign(past, 0.5 * past + mean(y, axis=0, keepdims=True))
        return y * y + past * x
    out: {Dense: [32, 3]}
  construct: return out(b(a(x)))
END
    sed '/recompute/d' state.yaml >plain.yaml
    "$CELLRUN" train plain.yaml -q -o one >/dev/null
    "$CELLRUN" train state.yaml -q -o two >/dev/null
    run -0 "$CELLRUN" ckpt diff one two
    [[ $output == *"no differences"* ]]
}

@test "recompute: a step takes less memory, and summary names the cells" {
    run -0 "$CELLRUN" summary deep.yaml network.blocks.0.recompute=true
    [[ $output == *"recomputed in backward: blocks.0 blocks.1 blocks.2"* ]]
    "$CELLRUN" summary deep.yaml --batch 4096 >kept
    "$CELLRUN" summary deep.yaml --batch 4096 \
        network.blocks.0.recompute=true >again
    awk '/^memory:/ { split($0, a, ", "); print a[2] + 0 }' kept again >memory
    [ "$(wc -l <memory)" = 2 ]
    [ "$(awk 'NR == 1 { kept = $1 } END { print $1 < 0.6 * kept }' \
        memory)" = 1 ]
}

@test "recompute: false within, and without the pass" {
    run -0 "$CELLRUN" summary deep.yaml --passes \
        network.blocks.0.recompute=true
    [[ $output =~ gelu[^$'\n']*recomputed ]]
    [[ $output =~ batch_norm[^$'\n']*recomputed ]]
    run -0 "$CELLRUN" summary deep.yaml --passes \
        network.blocks.0.recompute=true blocks.Residual.cells.act.recompute=false
    [[ ! $output =~ gelu[^$'\n']*recomputed ]]
    CELLRUN_PASSES=-recompute run -0 "$CELLRUN" summary deep.yaml --passes \
        network.blocks.0.recompute=true
    [[ ! $output =~ gelu[^$'\n']*recomputed ]]
}

@test "low precision: softmax and LayerNorm run again, GELU does not: the same bytes" {
    cat >low.yaml <<'END'
base: c.yaml
blocks:
  Unit:
    cells:
      norm: {LayerNorm: {normalized_shape: [512]}}
      b: {Dense: [512, 512]}
      act: GELU
      c: {Dense: [512, 512]}
      soft: Softmax
      d: {Dense: [512, 512]}
    construct: return d(soft(c(act(b(norm(x))))))
network: !replace
  a: {Dense: [8, 512]}
  units: [{Unit: {}, repeat: 4}]
  out: {Dense: [512, 3]}
END
    for low in "O2 float16" "O2 bfloat16" "O3 float16" "O1 float16"; do
        set -- low.yaml amp.level="${low% *}" amp.dtype="${low#* }"
        "$CELLRUN" train "$@" -q --force -o one >/dev/null
        CELLRUN_PASSES=-recompute "$CELLRUN" train "$@" -q --force -o two \
            >/dev/null
        run -0 "$CELLRUN" ckpt diff one two
        [[ $output == *"no differences"* ]]
    done
    set -- low.yaml amp.level=O2
    "$CELLRUN" summary "$@" --passes >plan
    for op in softmax layer_norm; do
        grep "$op(.*recomputed" plan
    done
    # it takes long for two bytes a number
    run ! grep "gelu(.*recomputed" plan
    CELLRUN_PASSES=-recompute "$CELLRUN" summary "$@" --batch 2048 >kept
    "$CELLRUN" summary "$@" --batch 2048 >again
    awk '/^memory:/ { split($0, a, ", "); print a[2] + 0 }' kept again >memory
    [ "$(awk 'NR == 1 { kept = $1 } END { print $1 < 0.85 * kept }' \
        memory)" = 1 ]
}

@test "recompute: a block that prints prints once" {
    sed -i 's/^      return end/      print("sum", sum(y))\n&/' deep.yaml
    "$CELLRUN" train deep.yaml -o one train.steps=2 2>&1 | grep ^sum >kept
    "$CELLRUN" train deep.yaml -o two train.steps=2 \
        network.blocks.0.recompute=true 2>&1 | grep ^sum >again
    [ "$(wc -l <kept)" -ge 12 ]
    cmp kept again
    run -0 "$CELLRUN" ckpt diff one two
    [[ $output == *"no differences"* ]]
}

@test "recompute: expects true or false" {
    run -2 "$CELLRUN" check deep.yaml network.out.recompute=2
    [[ $output == *"recompute: found the number 2, expected true or false"* ]]
}

# wide [key=value...]: results beyond 8 MiB, 4,096 rows of 600
wide() {
    samples many 4096 3
    cat >wide.yaml <<'END'
base: c.yaml
dataset: !replace
  train: {NumpySlicesDataset: {data: [many-x.npy, many-y.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 4096}}
metrics: !replace [loss]
train: {epochs: 2}
network: !replace
END
    cat >>wide.yaml
    "$CELLRUN" train wide.yaml "$@" -q --force -o one
    CELLRUN_PASSES=-recompute "$CELLRUN" train wide.yaml "$@" -q --force -o two
    run -0 "$CELLRUN" ckpt diff one two
    [[ $output == *"no differences"* ]]
    "$CELLRUN" summary wide.yaml "$@" --passes >plan
    CELLRUN_PASSES=-recompute "$CELLRUN" summary wide.yaml "$@" >kept
    awk '/^memory:/ { split($0, a, ", "); print a[2] + 0 }' kept plan >memory
    [ "$(awk 'NR == 1 { kept = $1 } END { print $1 < 0.8 * kept }' \
        memory)" = 1 ]
}

# wide_gelu [key=value...]: large results of GELU, which a product reads
wide_gelu() {
    wide "$@" <<'END'
  a: {Dense: [8, 600]}
  act1: GELU
  b: {Dense: [600, 32]}
  c: {Dense: [32, 600]}
  act2: {GELU: {approximate: true}}
  d: {Dense: [600, 32]}
  e: {Dense: [32, 600]}
  act3: GELU
  out: {Dense: [600, 3]}
END
}

@test "float32: a product computes large results of GELU again: the same bytes, less memory" {
    wide_gelu
    [ "$(grep -c 'backward linear.* gelu again' plan)" -ge 3 ]
}

@test "low precision: the same in two bytes" {
    local level
    for level in O2 O3; do
        wide_gelu amp.level=$level
        [ "$(grep -c 'linear(.* gelu rounds to float16.* float16' plan)" -ge 3 ]
        [ "$(grep -c 'backward linear.* gelu again rounds' plan)" -ge 3 ]
    done
}

@test "low precision: an activation runs again where no product computes it again" {
    local how net
    net=([1]='  units: [{Unit: {}, repeat: 3}]'
        [2]='  units: [{Two: {}, repeat: 3}]')
    for how in 1 2; do
        wide amp.level=O3 <<END
  a: {Dense: [8, 600]}
${net[how]}
  out: {Dense: [600, 3]}
blocks:
  Unit:
    cells: {up: {Dense: [600, 600]}, n: {LayerNorm: {normalized_shape: [600]}}}
    construct: return n(gelu(up(x)))
  Two:
    cells: {up: {Dense: [600, 600]}, p: {Dense: [600, 600]}, q: {Dense: [600, 600]}}
    construct: |
      h = gelu(up(x))
      return p(h) * q(h)
END
        [ "$(grep -c ' gelu(.* recomputed' plan)" -ge 3 ]
    done
}

@test "float32: of a long chain of large results some are kept, and memory is saved" {
    wide <<'END'
  a: {Dense: [8, 600]}
  r:
    - cells: {c: {Dense: [600, 8]}, d: {Dense: [8, 600]}, n: BatchNorm1d, relu: ReLU}
      construct: return relu(n(d(c(x))) + x)
      repeat: 6
  out: {Dense: [600, 3]}
END
    [ "$(grep -c ' batch_norm.* relu.*recomputed' plan)" -ge 3 ]
}

@test "float32: large results of BatchNorm with ReLU and of sums of it are computed again" {
    wide <<'END'
  cells:
    a: {Dense: [8, 600]}
    norm1: BatchNorm1d
    b: {Dense: [600, 32]}
    c: {Dense: [32, 600]}
    norm2: BatchNorm1d
    relu: ReLU
    d: {Dense: [600, 32]}
    e: {Dense: [32, 600]}
    norm3: {LayerNorm: {normalized_shape: [600]}}
    out: {Dense: [600, 3]}
  construct: |
    y = relu(norm1(a(x)))
    y = relu(norm2(c(b(y))) + y)
    return out(norm3(e(d(y))))
END
    [ "$(grep -c ' batch_norm.* relu.*recomputed' plan)" -ge 2 ]
    grep ' layer_norm.*recomputed' plan
}
