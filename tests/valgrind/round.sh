#!/bin/bash
# Train, evaluate, resume under valgrind: no invalid access, nothing lost that
# is ours. Valgrind 3.19 knows no AVX-512, so our AVX2 kernels compute.
# shellcheck source=../tree/lib.bash
. "$(dirname "$0")/../tree/lib.bash"

export CELLRUN_ISA=avx2 CELLRUN_BLAS=own
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
under() { # NAME EXPECTED-STATUS ARGUMENTS...
    local name=$1 want=$2 got
    shift 2
    valgrind -q --error-exitcode=99 --leak-check=full \
        --errors-for-leak-kinds=definite \
        --suppressions=tests/valgrind/libraries.supp \
        "$CELLRUN" "$@" >"$tmp/out" 2>"$tmp/err"
    got=$?
    if [ $got -eq "$want" ]; then
        result "$name" </dev/null
    else
        result "$name" < <(
            echo "exit status $got, expected $want"
            cat "$tmp/err")
    fi
}

small='train.limit=256 datapipe.workers=2'
# a small network of the same kind: valgrind is fifty times slower
cat >"$tmp/small.yaml" <<YAML
base: $PWD/configs/digits.yaml
network: !replace
  flatten: Flatten
  fc: [{Dense: {out_channels: 16}}, ReLU, {Dense: {out_channels: 10}}]
eval: {max_batches: 4}
checkpoint: {every: 2 steps}
YAML
# shellcheck disable=SC2086
{
    under 'check' 0 check "$tmp/small.yaml" $small
    under 'a wrong config' 2 check "$tmp/small.yaml" trai.epochs=1 \
        optimizer.learning_rate=x
    under 'summary' 0 summary "$tmp/small.yaml"
    under 'train' 0 train "$tmp/small.yaml" $small -o "$tmp/run" --epochs 1
    under 'eval' 0 eval --ckpt "$tmp/run" --data eval
    under 'resume' 0 resume "$tmp/run" --epochs 2
    under 'ckpt verify' 0 ckpt verify "$tmp/run/ckpt/last.safetensors"
    under 'runs' 0 runs show "$tmp/run"
    head -c 1000 "$tmp/run/ckpt/last.safetensors" >"$tmp/cut.safetensors"
    under 'a damaged checkpoint' 4 eval --ckpt "$tmp/cut.safetensors"
    under 'config' 0 config configs/digits.yaml --full
    under 'help' 0 help train
    under 'schema' 0 schema
}

# Two processes of mpirun: no invalid access; what MPI leaks does not count.
supp=/usr/share/openmpi/openmpi-valgrind.supp
if [ -e "$BUILD/cellrun-mpi-openmpi.so" ] && [ -e $supp ]; then
    for how in 'shared float32' 'shared bfloat16' 'messages float32' \
        'messages bfloat16'; do
        type=${how#* }
        carrier=${how% *}
        # shellcheck disable=SC2086
        if CELLRUN_MPI=${carrier#shared} mpirun.openmpi --allow-run-as-root \
            --oversubscribe -n 2 valgrind -q --error-exitcode=99 \
            --suppressions=$supp --suppressions=tests/valgrind/openmpi.supp \
            --suppressions=tests/valgrind/libraries.supp \
            "$CELLRUN" train "$tmp/small.yaml" $small -o "$tmp/run2" --force \
            --epochs 1 train.shard=optimizer train.reduce_dtype=$type \
            >"$tmp/out" 2>"$tmp/err"; then
            result "two processes, $how" </dev/null
        else
            result "two processes, $how" <"$tmp/err"
        fi
    done
fi
finish
