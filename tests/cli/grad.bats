# grad(y, x) in a construct: gradients as values.
bats_require_minimum_version 1.5.0
set -o pipefail
load tensors

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    export ROOT="$BATS_TEST_DIRNAME/../.."
    perl -e 'srand 3; print pack "f<*", map { 2 * rand() - 1 } 1 .. 64' |
        npy x.npy '<f4' '(32, 2)'
    perl -e 'srand 4; print pack "f<*", map { rand() - 0.5 } 1 .. 32' |
        npy f.npy '<f4' '(32, 1)'
    # a Poisson equation and its boundary penalty, with what a network may hold
    cat >c.yaml <<'END'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, f.npy], column_names: [x, f]}}
  eval: {NumpySlicesDataset: {data: [x.npy, f.npy], column_names: [x, f]}}
datapipe: {batch: {batch_size: 8}}
network:
  inputs: [x]
  cells:
    a: {Dense: {out_channels: 12}}
    norm: {LayerNorm: {normalized_shape: [12]}}
    drop: {Dropout: {p: 0.2}}
    b: {Dense: {out_channels: 1}}
  construct: return b(drop(tanh(norm(a(x)))))
loss:
  inputs: [u, x, f]
  aux: [laplace]
  construct: |
    u_x = grad(u, x)
    u_xx = grad(u_x[:, 0], x)[:, 0:1] + grad(u_x[:, 1], x)[:, 1:2]
    return mean((u_xx - f) ** 2) + mean(u ** 2), mean(u_xx)
optimizer: {Adam: {learning_rate: 0.01}}
metrics: [loss, laplace]
train: {epochs: 2}
END
}

values() {
    unzip -qo "$1" "$2.npy"
    perl -0777 -e '$_ = <STDIN>; my $n = 10 + unpack "x8v", $_;
        printf "%.6g\n", $_ for unpack substr($_, 0, $n) =~ /<f8/ ? "d<*" : "f<*",
            substr $_, $n' <"$2.npy"
}

@test "first and second derivatives of x ** 3, by hand" {
    pack 'f<*' 1 2 3 | npy three.npy '<f4' '(3,)'
    "$CELLRUN" trace "$ROOT/configs/seeds/second.yaml" --feed x=three.npy \
        -o o.npz
    [ "$(values o.npz 'output#.1' | xargs)" = "3 12 27" ]
    [ "$(values o.npz 'output#.2' | xargs)" = "6 12 18" ]
    # and the third one, of u_xx alone, from outside
    "$CELLRUN" trace "$ROOT/configs/seeds/second.yaml" --feed x=three.npy \
        'network.construct=return grad(grad(x ** 3, x), x)' --grad -o o.npz
    [ "$(values o.npz grad.x | xargs)" = "6 6 6" ]
}

@test "tuples, sens, several results, and what nothing depends on" {
    pack 'f<*' 1 2 3 | npy x.npy '<f4' '(3,)'
    pack 'f<*' 4 5 6 | npy z.npy '<f4' '(3,)'
    cat >t.yaml <<'END'
cellrun: 1
network:
  inputs: [x, z]
  construct: |
    dx, dz = grad(x * x * z, (x, z))
    both = grad((x * z, x), x)
    zero = grad(x, z)
    given = grad(y=x * x, x=x, sens=z)
    less = grad(stop_gradient(x) * x, x)
    return dx, dz, both, zero, given, less, dx + grad(x, x)
END
    "$CELLRUN" trace t.yaml --feed x=x.npy --feed z=z.npy -o o.npz
    for want in '0 8 20 36' '1 1 4 9' '2 5 6 7' '3 0 0 0' '4 8 20 36' \
        '5 1 2 3' '6 9 21 37'; do
        [ "$(values o.npz "output#.${want%% *}" | xargs)" = "${want#* }" ]
    done
}

@test "trained through, resumed to the same bytes, evaluated, predicted" {
    "$CELLRUN" train c.yaml -q -o whole >said
    grep -q '^eval.laplace: ' said
    "$CELLRUN" train c.yaml -q -o half train.epochs=1 >/dev/null
    "$CELLRUN" resume half -q train.epochs=2 >/dev/null
    run -0 "$CELLRUN" ckpt diff whole half
    "$CELLRUN" train c.yaml -q -o threads --threads 2 >/dev/null
    run -0 "$CELLRUN" ckpt diff whole threads
    "$CELLRUN" train c.yaml -q -o eager --eager >/dev/null
    run -0 "$CELLRUN" ckpt diff whole eager --rtol 1e-4 --atol 1e-5
    run -0 "$CELLRUN" eval --ckpt whole --json
    jq -e '.loss > 0 and .laplace != null' <<<"$output"
    run -0 "$CELLRUN" predict --ckpt whole x.npy
    [ "${#lines[@]}" -ge 32 ]
}

@test "gradcheck, accumulation and low precision" {
    run -0 "$CELLRUN" gradcheck c.yaml
    for more in train.grad_accumulation=2 'amp={level: O2, loss_scale: {StaticLossScaler: 1}}' \
        'amp={level: auto, dtype: bfloat16}' \
        'amp={loss_scale: {StaticLossScaler: 64}}'; do
        rm -rf run
        run -0 "$CELLRUN" train c.yaml -q -o run "$more" --json
        jq -e '.eval.loss > 0 and .eval.loss < 10' <<<"$output"
    done
}

@test "Dropout has one mask in a value and in its gradient" {
    cat >d.yaml <<'END'
cellrun: 1
network:
  cells: {drop: {Dropout: {p: 0.5}}}
  construct: |
    y = drop(x)
    return y - x * grad(y, x)
END
    "$CELLRUN" trace d.yaml --feed x=x.npy -o o.npz
    [ "$(values o.npz output | sort -u)" = 0 ]
}

@test "a bprop's own gradient is differentiated as it is written" {
    cat >b.yaml <<'END'
cellrun: 1
blocks:
  Twice:
    construct: return x * x
    bprop: return 10 * dout * x * x * x
network:
  cells: {t: Twice}
  construct: |
    g = grad(t(x), x)
    return g, grad(g, x)
END
    pack 'f<*' 1 2 | npy x.npy '<f4' '(2,)'
    "$CELLRUN" trace b.yaml --feed x=x.npy -o o.npz
    [ "$(values o.npz 'output#.0' | xargs)" = "10 80" ]
    [ "$(values o.npz 'output#.1' | xargs)" = "30 120" ]
}

@test "parameters after four steps of train are the frameworks'" {
    local dir

    if "$CELLRUN" version | grep float64 >/dev/null; then
        skip 'the weights that it starts from are float32'
    fi
    for dir in "$ROOT/tests/golden/pt/grad_equation" \
        "$ROOT/tests/golden/ms/grad_equation"; do
        cp "$dir"/*.npy "$dir/weights.safetensors" .
        rm -rf run
        run -0 "$CELLRUN" train "$dir/config.yaml" -q -o run train.steps=4 \
            'dataset={train: {NumpySlicesDataset: {data: [x.npy, f.npy], column_names: [x, f], shuffle: false}}}' \
            'datapipe={batch: {batch_size: 9}}' load=weights.safetensors
        "$CELLRUN" ckpt diff run "$dir/end.safetensors" --rtol 1e-4 \
            --atol 1e-5
    done
}

@test "gradients of activations: built ones, and those of the kernels" {
    printf 'cellrun: 1\nloss:\n  inputs: [y]\n  construct: return sum(y * y)\nnetwork:\n  cells: {f: Identity, fc: {Dense: [2, 3]}}\n  construct: return f(fc(x))\n' >a.yaml
    for f in "SiLU: {}" "LogSigmoid: {}" "Softsign: {}" 'LeakyReLU: {alpha: 0.3}' \
        'ELU: {alpha: 1.0}' "Tanh: {}" "Sigmoid: {}" "GELU: {approximate: true}" \
        'Softmax: {axis: -1}'; do
        "$CELLRUN" trace a.yaml --feed x=x.npy --predict --grad \
            "network.cells.f=!replace {$f}" -o kernel.npz
        "$CELLRUN" trace a.yaml --feed x=x.npy --predict \
            "network.cells.f=!replace {$f}" \
            'network.construct=return grad(f(fc(x)), x)' -o built.npz
        paste <(values kernel.npz grad.x) <(values built.npz output) |
            awk '{ d = $1 - $2; if (NF != 2 || d * d > 1e-11) { print; bad = 1 } }
                END { exit bad || NR != 64 }' || { echo "$f"; false; }
        run -0 "$CELLRUN" gradcheck a.yaml --feed x=x.npy \
            "network.cells.f=!replace {$f}" \
            'network.construct=return grad(f(fc(x)), x) * 3' --samples 1
    done
}

wrong() {
    run -2 --separate-stderr "$CELLRUN" check w.yaml
    [[ "$stderr" == *"$1"* ]] || {
        echo "$stderr"
        false
    }
}

@test "ops whose gradient is not made of ops are refused by name" {
    cat >w.yaml <<'END'
cellrun: 1
network:
  inputs: {x: {shape: [5, 3]}}
  cells: {rnn: {LSTM: {input_size: 3, hidden_size: 4, batch_first: true}}}
  construct: |
    y, _ = rnn(x)
    return grad(y, x)
END
    wrong "w.yaml:7:12: error: grad: the gradient of 'lstm' in rnn cannot be differentiated"
    sed -i 's/cells: .*/cells: {bn: {BatchNorm1d: {num_features: 15}}}/
        s/y, _ = rnn(x)/y = bn(flatten(x))/' w.yaml
    wrong "grad: the gradient of 'batch_norm' in bn cannot be differentiated"
    # a value that is not differentiated may pass such an op
    sed -i 's/return grad(y, x)/return y + grad(sum(y) * 0 + sum(x * x), y)/' w.yaml
    run -0 "$CELLRUN" check w.yaml
}

@test "what grad takes" {
    cat >w.yaml <<'END'
cellrun: 1
network:
  inputs: {x: {shape: [3]}, n: {shape: [], type: int32}}
  construct: |
    return grad(x * x, x)
END
    run -0 "$CELLRUN" check w.yaml
    sed -i 's/return .*/return grad(x * x)/' w.yaml
    wrong 'write grad(y, x) or grad(y, x, sens)'
    sed -i 's/return .*/return grad(x * n[:, None], n)/' w.yaml
    wrong 'found a tensor of type int32 for x, expected a float tensor'
    sed -i 's/return .*/return grad(x * x, 3)/' w.yaml
    wrong 'found 3 for x, expected a float tensor'
    sed -i 's/return .*/return grad(x * x, x, sum(x))/' w.yaml
    wrong 'grad: found sens (), expected (1, 3), the shape of what is differentiated'
}
