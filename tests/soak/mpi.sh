#!/bin/bash
# tests/soak/mpi.sh: kills a random process of a run under mpirun, or mpirun
# itself, N times (100) at random moments, resuming it each time. All of its
# processes must be gone within 10 seconds, no file under a final name may be
# unreadable, and what comes out in the end must be what an uninterrupted run
# of as many processes writes. An mpirun that does not end although all its
# processes have (Open MPI, where one is killed while it connects) is killed
# and counted.
#
#   N=100  RANKS=3  LONGEST=900 (ms)  CELLRUN=build/cellrun  SEED=1
#
# The longest time grows with each kill of a run, so that it comes to its end on
# a loaded machine, too.
set -eu
cd "$(dirname "$0")/../.."
CELLRUN=$(realpath "${CELLRUN:-build/cellrun}")
N=${N:-100} RANKS=${RANKS:-3} LONGEST=${LONGEST:-900} RANDOM=${SEED:-1}
export CELLRUN_THREADS=1
cli=$PWD/tests/cli
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
. "$cli/small.bash"
config c.yaml
# a parameter that the processes have once
sed -i -e 's/\[8, 16\]/[8, 600]/' -e 's/\[16, 3\]/[600, 3]/' c.yaml
kills=0 runs=0 looks=0 slowest=0 stuck=0
declare -A of=([mpirun]=0 [rank]=0)

fail() {
    echo "FAIL after $kills kills: $*" >&2
    trap - EXIT
    echo "the files are in $dir" >&2
    exit 1
}

train() {
    exec mpirun.openmpi --allow-run-as-root --oversubscribe -n "$RANKS" \
        "$CELLRUN" train c.yaml -q -o "$dir/$1" --resume auto \
        train.epochs=40 'checkpoint.every=7 steps' log.every=3
}

# The processes of the run, without mpirun.
ranks() {
    pgrep -f "^$CELLRUN train c.yaml -q -o $dir/k "
}

look() {
    local f
    for f in k/ckpt/*.safetensors; do
        [ -e "$f" ] || continue
        "$CELLRUN" ckpt verify "$f" >/dev/null || fail "$f is damaged"
        looks=$((looks + 1))
    done
}

# Waits until no process of the run is left.
gone() {
    local begin=${EPOCHREALTIME/./} ms=0
    while ranks >/dev/null; do
        ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
        [ $ms -lt 10000 ] || fail "processes are left after 10 s: $(ranks)"
        sleep 0.02
    done
    [ $ms -le $slowest ] || slowest=$ms
}

# Waits for mpirun, for 10 seconds.
ended() {
    local i
    for ((i = 0; i < 500; i++)); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.02
    done
    ! ranks >/dev/null || fail "processes are left after 10 s: $(ranks)"
    stuck=$((stuck + 1))
    kill -9 "$1"
}

(train whole) >/dev/null 2>err || fail "$(cat err)"
while [ $kills -lt "$N" ]; do
    rm -rf k
    runs=$((runs + 1))
    longest=$LONGEST
    while :; do
        (train k) >out 2>err &
        p=$!
        ms=$((RANDOM % longest + 1)) longest=$((longest * 21 / 20))
        sleep "$((ms / 1000)).$(printf '%03d' $((ms % 1000)))"
        mapfile -t all < <(ranks || true)
        which=$((RANDOM % (RANKS + 1)))
        if [ $which -lt ${#all[@]} ]; then
            kill -9 "${all[which]}" 2>/dev/null || true
            what=rank
        else
            kill -9 $p 2>/dev/null || true
            what=mpirun
        fi
        rc=0
        ended $p
        wait $p || rc=$?
        gone
        look
        [ $rc != 0 ] || break
        kills=$((kills + 1))
        of[$what]=$((of[$what] + 1))
    done
    for f in last best; do
        cmp "whole/ckpt/$f.safetensors" "k/ckpt/$f.safetensors" ||
            fail "$f differs"
    done
done
echo "$kills kills (${of[rank]} of ranks, ${of[mpirun]} of mpirun) of $runs" \
    "runs of $RANKS processes: gone after $slowest ms at most, $looks" \
    "checkpoints read, mpirun stuck $stuck times, the same bytes in the end"
