#!/bin/bash
# tests/soak/passes.sh: every config of configs/ that trains a network, trained
# for STEPS steps with all passes and with each optional pass skipped, in
# float32 and at the levels of amp in LEVELS: the same parameters to RTOL and
# ATOL. A config whose data set CELLRUN_DATA lacks is skipped, and named.
#
#   STEPS=3  BATCH=8  LEVELS='O0: O2:float16 O2:bfloat16'
#   RTOL=1e-3  ATOL=1e-4   CELLRUN=build/cellrun  CONFIGS='mnist lenet ...'
#
# In low precision a sum in another order may round to another number:
# two_bytes must give the same bytes there, other passes the same parameters to
# LOW_ATOL.
set -u -o pipefail

cellrun=$(realpath "${CELLRUN:-build/cellrun}")
root=$(realpath "$(dirname "$0")/../..")
steps=${STEPS:-3} batch=${BATCH:-8} rtol=${RTOL:-1e-3} atol=${ATOL:-1e-4}
low_atol=${LOW_ATOL:-2e-2}
levels=${LEVELS:-O0: O2:float16 O2:bfloat16}
configs=${CONFIGS:-digits mnist lenet two_losses resnet18 resnet20 encoder \
    charlm nanogpt lstm}
unset CELLRUN_SET CELLRUN_RUNS CELLRUN_PASSES
export CELLRUN_VERIFY=1
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

passes=$(CELLRUN_PASSES=- "$cellrun" summary "$root/configs/digits.yaml" 2>&1 |
    sed -n 's/.*expected a list of //p' | sed 's/ \[.*//; s/,//g')
all=$(tr ' ' , <<<"$passes")

# npy FILE TYPE SHAPE MODULUS: numbers below MODULUS; floats below 1.
npy() {
    perl -e 'my ($f, $type, $shape, $mod) = @ARGV; my $n = 1;
        $n *= $_ for split /,/, $shape;
        open my $o, ">:raw", $f or die "$f: $!";
        printf $o "\x93NUMPY\x01\x00\x76\x00%-117s\n", "{\x27descr\x27: " .
            "\x27$type\x27, \x27fortran_order\x27: False, \x27shape\x27: " .
            "($shape,), }";
        my $x = 1;
        print $o pack $type eq "<i4" ? "l<" : "f<",
            ($x = ($x * 1103515245 + 12345) % 2147483648) / 2147483648 * $mod
            for 1 .. $n' "$@"
}

# Data for the configs without a data set.
npy tokens.npy '<i4' 64,64 1000
npy x.npy '<f4' 64,50,64 1
npy label.npy '<i4' 64 4

# config NAME FILE: the config to train, with data.
config() {
    case $1 in
    encoder) columns='{tokens: tokens.npy, label: label.npy}' ;;
    lstm) columns='{x: x.npy, label: label.npy}' ;;
    *) columns= ;;
    esac
    echo "base: $root/configs/$1.yaml" >"$2"
    # CIFAR-10 as folders of images, evaluated on a few of them
    case $1 in
    resnet*) echo "dataset: !replace
  train: {ImageFolderDataset: {dataset_dir: cifar10/train, shuffle: true}}
  eval: {ImageFolderDataset: {dataset_dir: cifar10/test, num_samples: 16}}" \
        >>"$2" ;;
    esac
    [ -z "$columns" ] || echo "dataset: {train: {NumpySlicesDataset: \
{data: $columns, shuffle: false}}}" >>"$2"
}

# train PASSES OUT CONFIG [SETTING...]
train() {
    local skip=$1 out=$2 file=$3
    shift 3
    CELLRUN_PASSES=$skip "$cellrun" train "$file" -o "$out" -q --force \
        --steps "$steps" --threads 2 "$@" >log 2>&1
}

failed=0 done=0
for name in $configs; do
    config "$name" net.yaml
    for level in $levels; do
        before=$failed
        set -- datapipe.batch.batch_size="$batch"
        [ "$level" = O0: ] ||
            set -- "$@" amp.level="${level%:*}" amp.dtype="${level#*:}"
        if ! train '' all net.yaml "$@"; then
            if grep -q 'E0[23]0' log && [ "$level" = O0: ]; then
                echo "# skipped $name: $(grep -m1 error log)"
                break
            fi
            echo "not ok - $name $level: $(grep -m1 error log)"
            failed=$((failed + 1))
            continue
        fi
        for skip in $passes "$all"; do
            near=$atol
            [ "$level" = O0: ] || near=$low_atol
            case $level:$skip in
            O[123]:*:-two_bytes | *:-recompute) same=() ;;
            *) same=(--rtol "$rtol" --atol "$near") ;;
            esac
            if train "$skip" one net.yaml "$@" && "$cellrun" ckpt diff \
                all/ckpt/last one/ckpt/last "${same[@]}" >diff 2>&1; then
                done=$((done + 1))
            else
                echo "not ok - $name $level $skip: $(cat log diff | head -3)"
                failed=$((failed + 1))
            fi
        done
        [ "$failed" -ne "$before" ] || echo "ok - $name $level"
    done
done
echo "# $done comparisons, $failed failed"
[ "$failed" -eq 0 ] && [ "$done" -gt 0 ]
