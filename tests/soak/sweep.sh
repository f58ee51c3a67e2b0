#!/bin/bash
# tests/soak/sweep.sh: kills the processes of a sweep N times (50) at random
# moments, three at a time, starting each again. Every point must be trained
# once, none lost, and table and weights be those of an undisturbed sweep.
#
#   N=50  POINTS=200  LONGEST=400 (ms between kills)  CELLRUN=build/cellrun
#   LAUNCH='mpirun -n 2 ...'   starts each process of the sweep
#
# A kill takes the process of the sweep, a run, or both.
set -eu
cd "$(dirname "$0")/../.."
CELLRUN=$(realpath "${CELLRUN:-build/cellrun}")
N=${N:-50} POINTS=${POINTS:-200} LONGEST=${LONGEST:-400} LAUNCH=${LAUNCH:-}
cli=$PWD/tests/cli
dir=$(mktemp -d)
trap 'kill -9 $(jobs -p) 2>/dev/null || :; rm -rf "$dir"' EXIT
cd "$dir"
. "$cli/small.bash"
config c.yaml
settings=(c.yaml -q "seed=range(1,$((POINTS / 4 + 1)))" train.epochs=8
    'optimizer.learning_rate=0.1,0.03,0.01,0.003')

# The columns of sweep.tsv that do not depend on the time it took.
table() {
    awk -F'\t' -v OFS='\t' '{ $(NF - 1) = ""; print }' "$1/sweep.tsv"
}

start() {
    # shellcheck disable=SC2086 # words of a command
    setsid $LAUNCH "$CELLRUN" sweep "${settings[@]}" --dir s >/dev/null 2>>err &
    pid[$1]=$!
}

# Waits for a process, without what the shell says about its signal.
ended() {
    { wait "${pid[$1]}" || :; } 2>/dev/null
}

"$CELLRUN" sweep "${settings[@]}" --dir whole --jobs 2 >/dev/null

pid=() rounds=0
for i in 0 1 2; do start $i; done
for ((kills = 0; kills < N;)); do
    sleep "$(printf '0.%03d' $((RANDOM % LONGEST)))"
    i=$((RANDOM % 3))
    case $((RANDOM % 3)) in
    0) kill -9 "${pid[$i]}" 2>/dev/null && kills=$((kills + 1)) ;;
    1) pkill -9 -s "${pid[$i]}" 2>/dev/null && kills=$((kills + 1)) ;;
    2) # one of its runs
        run=$(pgrep -P "${pid[$i]}" | shuf -n 1)
        [ -n "$run" ] && kill -9 "$run" 2>/dev/null && kills=$((kills + 1))
        continue
        ;;
    esac || :
    ended "$i"
    # all points done before N kills: from the beginning
    if ! grep -q 'waiting\|interrupted\|running' s/sweep.tsv 2>/dev/null &&
        [ -e s/sweep.tsv ]; then
        for k in 0 1 2; do ended $k; done
        diff <(table whole) <(table s)
        rm -rf s
        rounds=$((rounds + 1))
        for k in 0 1 2; do start $k; done
    else
        start $i
    fi
done
for i in 0 1 2; do ended $i; done
"$CELLRUN" sweep "${settings[@]}" --dir s >/dev/null
diff <(table whole) <(table s)
for run in whole/*/; do
    run=${run#whole/}
    "$CELLRUN" ckpt diff "whole/${run}ckpt/last" "s/${run}ckpt/last" >/dev/null
done
[ "$(find s -mindepth 1 -maxdepth 1 -name '[0-9a-f]*' | wc -l)" = "$POINTS" ]
[ -z "$(find s -name '*lock*')" ]
echo "$kills kills, $rounds sweeps before the last: $POINTS points, each once"
