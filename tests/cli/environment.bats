# Environment variables with values that they do not take.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS CELLRUN_LOG
    config c.yaml
}

# refused NAME EXPECTED VALUE...: each is an error before anything is done
refused() {
    local name=$1 expected=$2 value
    shift 2
    for value in "$@"; do
        run -2 env "$name=$value" "$CELLRUN" train c.yaml -o r -q
        [[ $output == *"error: $name: found '$value', expected $expected [E0501]"* ]]
        [ ! -e r ]
    done
}

@test "CELLRUN_THREADS is a number from 1 to 256" {
    refused CELLRUN_THREADS "a number of threads from 1 to 256" \
        abc 0 -1 2x ' 2' 1e1 257 99999999999999999999
    run -0 env CELLRUN_THREADS=2 "$CELLRUN" train c.yaml -o r -q
    grep -q '"threads":2' r/record.json
    run -0 env CELLRUN_THREADS= "$CELLRUN" train c.yaml -o s -q
}

@test "--threads and run.threads have the same maximum, and name it" {
    run -2 --separate-stderr "$CELLRUN" check c.yaml --threads 257
    [[ $stderr == *"--threads: found the number 257, expected an integer from 0 to 256"* ]]
    run -2 --separate-stderr "$CELLRUN" train c.yaml run.threads=257 -o r
    [[ $stderr == *"'run.threads': found '257', expected auto or a number from 1 to 256"* ]]
    run -0 "$CELLRUN" check c.yaml --threads 256
}

@test "CELLRUN_ISA, CELLRUN_BLAS, CELLRUN_LOG, CELLRUN_UNFUSED take names" {
    refused CELLRUN_ISA "generic, avx2 or avx512" sse9 AVX2 avx
    refused CELLRUN_BLAS "own, onednn, openblas or plain" mkl
    refused CELLRUN_LOG "quiet, normal or verbose" loud
    refused CELLRUN_UNFUSED "0 or 1" yes
}

@test "version has the kernels of CELLRUN_ISA, or an error" {
    run -2 --separate-stderr env CELLRUN_ISA=AVX2 "$CELLRUN" version
    [[ $stderr == *"error: CELLRUN_ISA: found 'AVX2', expected generic, avx2 or avx512 [E0501]"* ]]
    [ -z "$output" ]
    run -0 --separate-stderr env CELLRUN_ISA=generic "$CELLRUN" --version
    [[ -z $stderr && $output == *$'\n'"products: "* ]]
    [[ $output != *"own avx"* ]]
}

@test "CELLRUN_PASSES skips passes of plans by name" {
    refused CELLRUN_PASSES "a list of -constants, -fold, -fuse, -prepare, -fuse_kept, -recompute, -two_bytes" \
        fold -gradient -
    refused CELLRUN_VERIFY "0 or 1" yes
    # help has the same list
    run ! env CELLRUN_PASSES=x "$CELLRUN" summary \
        "$BATS_TEST_DIRNAME/../../configs/digits.yaml"
    list=$(sed -n 's/.*expected a list of \(.*\) \[.*/\1/p' <<<"$output" | tr -d -)
    run -0 "$CELLRUN" help environment
    [[ $(xargs <<<"$output") == *"of $list."* ]]
    run -0 env CELLRUN_PASSES=-fuse,-fold "$CELLRUN" \
        summary -v "$BATS_TEST_DIRNAME/../../configs/digits.yaml"
    [[ $output == *"forward  relu"* && $output != *"+activation"* ]]
    run -0 env CELLRUN_PASSES= "$CELLRUN" summary -v \
        "$BATS_TEST_DIRNAME/../../configs/digits.yaml"
    [[ $output != *"forward  relu"* && $output == *"+activation"* ]]
}

@test "SOURCE_DATE_EPOCH is a number of seconds" {
    refused SOURCE_DATE_EPOCH "seconds since 1970 from 0 to 253402300799" \
        now -1 253402300800 1e9
    run -0 env SOURCE_DATE_EPOCH=86400 "$CELLRUN" train c.yaml -o r -q
    grep -q '"started":"1970-01-02T00:00:00Z"' r/record.json
}

@test "variables of a batch system and a terminal: a warning, ignored" {
    run -0 env SLURM_CPUS_PER_TASK=4x "$CELLRUN" train c.yaml -o r -q
    [[ $output == *"warning: SLURM_CPUS_PER_TASK has no effect: found '4x', expected a number of threads from 1 to 256"* ]]
    run -0 env COLUMNS=wide "$CELLRUN" version
    run -0 env COLUMNS=wide "$CELLRUN" check c.yaml
    [[ $output == *"warning: COLUMNS has no effect: found 'wide'"* ]]
}

@test "SLURM_JOB_END_TIME: an absurd time limits nothing, so no job is queued for ever" {
    for end in 0 12 soon 1700000000 -5; do
        run -0 env SLURM_JOB_END_TIME=$end "$CELLRUN" train c.yaml -o r \
            --force -q --time-limit auto
        [[ $output == *"warning: SLURM_JOB_END_TIME has no effect: found "* ]]
        [ "$(value status)" = completed ]
    done
    run -0 env SLURM_JOB_END_TIME=$(($(date +%s) + 3600)) "$CELLRUN" train \
        c.yaml -o r --force -q --time-limit auto
    [[ $output != *"no effect"* ]]
}

@test "help lists variables whatever their values" {
    CELLRUN_THREADS=abc run -0 "$CELLRUN" help environment
    [[ $output == *"now: abc"* ]]
}

@test "predict -: standard input that cannot be read is exit 3" {
    run -0 "$CELLRUN" train c.yaml -o r -q --epochs 1
    run -3 sh -c '"$CELLRUN" predict --ckpt r - <.'
    [[ $output == *"standard input: error: cannot read: Is a directory [E0202]"* ]]
    run -3 sh -c '"$CELLRUN" predict --ckpt r - <&-'
    [[ $output == *"standard input: error: cannot read: "*"[E0202]"* ]]
    run -0 sh -c '"$CELLRUN" predict --ckpt r - </dev/null'
    [ -z "$output" ]
}
