#!/bin/bash
# tests/soak/net.sh: training over processes in network namespaces, one host
# name each, joined by links of a given rate and delay, against the time that
# `bench --mpi` on two of them expects.
#
#   RATES='1000 10000' (Mbit/s)  DELAYS='0 50 1000' (us)  RANKS=2  STEPS=300
#   CONFIGS='configs/digits.yaml'  CELLRUN=build/cellrun  SLOW=1
#
# Needs root, ip and tc of iproute2, Open MPI, jq. Links are veth pairs under
# tc; where the kernel has no sch_netem, a process carries what is delayed
# (delay.c), which takes part of a processor.
#
# More RANKS than processors: with CONFIGS='wide small', networks that wait
# instead of computing (wait.c), so that a processor serves several of them; and
# with SLOW=10, in time that passes 10 times as slowly: rates are a tenth, and
# delays and waits ten times as long, so processors and cellrun's own limits of
# time are ten times as fast (Gupta et al., To Infinity and Beyond, NSDI 2006).
# Times are printed as if SLOW were 1. Limits of TCP's own, such as 200 ms before
# it sends again, remain.
#
# Open MPI would bind the first process of each "host" to the same core, and
# finds no socket to map more than two to where a machine does not tell of them.
set -eu
cd "$(dirname "$0")/../.."
CELLRUN=$(realpath "${CELLRUN:-build/cellrun}")
CARRIER=$(realpath "${CARRIER:-build/plain/tests/soak/delay}")
RATES=${RATES:-1000 10000} DELAYS=${DELAYS:-0 50 1000} RANKS=${RANKS:-2}
CONFIGS=${CONFIGS:-configs/digits.yaml} STEPS=${STEPS:-300} SLOW=${SLOW:-1}
export CELLRUN_THREADS=1
[ "$(id -u)" = 0 ] || { echo 'network namespaces need root' >&2; exit 2; }
dir=$(mktemp -d) id=cr$$
carrier=
trap 'down; rm -rf "$dir"' EXIT

down() {
    [ -z "$carrier" ] || kill "$carrier" || :
    carrier=
    for ((i = 1; i <= RANKS; i++)); do
        ip netns del $id-$i || :
        ip link del $id.$i || :
    done
    ip link del $id || :
} 2>/dev/null

# host I: brings up its eth0 in its namespace
host() {
    ip -n "$id-$1" addr add "10.99.0.$1/24" dev eth0
    ip -n "$id-$1" link set lo up
    ip -n "$id-$1" link set eth0 up
}

# rate I MBIT: of what host I sends
rate() {
    tc -n "$id-$1" qdisc add dev eth0 root handle 1: \
        tbf rate "$2mbit" burst 128k latency $((4 * SLOW))ms
}

# by_tc MBIT US: links of tc on one bridge; false: the kernel cannot
by_tc() {
    ip link add $id type bridge
    ip link set $id up
    for ((i = 1; i <= RANKS; i++)); do
        ip netns add $id-$i
        ip link add $id.$i type veth peer name eth0 netns $id-$i
        ip link set $id.$i master $id up
        rate $i "$1"
        [ "$2" = 0 ] || tc -n $id-$i qdisc add dev eth0 parent 1: handle 2: \
            netem delay "$2us" limit 100000 2>/dev/null || return 1
        host $i
    done
}

# by_process MBIT US: links of delay.c, which have a rate by tc. A packet
# takes about as long on each of them.
by_process() {
    local devices=() mtu=65000
    [ $(($1 * SLOW)) -ge 10000 ] || mtu=9000
    for ((i = 1; i <= RANKS; i++)); do
        ip tuntap add dev $id.$i mode tun
        devices+=("$id.$i")
    done
    "$CARRIER" "$2e-6" "${devices[@]}" >"$dir/ready" &
    carrier=$!
    until [ -s "$dir/ready" ]; do kill -0 $carrier; sleep 0.1; done
    for ((i = 1; i <= RANKS; i++)); do
        ip netns add $id-$i
        ip link set $id.$i netns $id-$i
        ip -n $id-$i link set $id.$i name eth0 mtu $mtu
        rate $i "$1"
        host $i
    done
}

# links MBIT US: namespaces $id-1, $id-2 ... with addresses 10.99.0.1 ...
links() {
    down
    by_tc "$@" || { down && by_process "$@"; }
}

# What mpirun calls instead of ssh.
cat >"$dir/agent" <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
i=\${1##*.}
shift
exec ip netns exec $id-\$i unshare --uts bash -c "hostname $id-\$i; \$*"
END
chmod +x "$dir/agent"

# over N ARGUMENT...: cellrun on the first N of them
over() {
    local hosts
    hosts=$(seq -s , -f 10.99.0.%g "$1")
    export n=$1 hosts dir yield
    ip netns exec $id-1 unshare --uts bash -c '
        hostname "$0"
        exec mpirun.openmpi --allow-run-as-root --host "$hosts" -n "$n" \
            --map-by slot --bind-to none --mca mpi_yield_when_idle "$yield" \
            --mca plm_rsh_agent "$dir/agent" --mca pml ob1 \
            --mca btl self,tcp --mca btl_tcp_if_include eth0 \
            --mca oob_tcp_if_include eth0 -x CELLRUN_THREADS \
            ${CELLRUN_DATA:+-x CELLRUN_DATA} "$@"' $id-1 \
        "$CELLRUN" "${@:2}"
}

# waiting NAME WIDTH US: 8 layers that wait for so long per sample
waiting() {
    {
        echo "base: $PWD/configs/digits.yaml"
        echo 'plugin: wait.so'
        echo 'datapipe: {batch: {batch_size: 32}}'
        echo 'network: !replace'
        echo '  flatten: Flatten'
        for ((i = 0; i < 8; i++)); do
            echo "  dense$i: {Dense: [$((i ? $2 : 784)), $2]}"
            echo "  relu$i: ReLU"
            echo "  wait$i: {Wait: {seconds: $(($3 * SLOW))e-6}}"
        done
        echo "  dense: {Dense: [$2, 10]}"
    } >"$dir/$1.yaml"
}

yield=0
[ "$RANKS" -le "$(nproc)" ] || yield=1
cc -std=c17 -O2 -D_GNU_SOURCE -fPIC -shared -Isrc -o "$dir/wait.so" \
    tests/soak/wait.c
waiting wide 800 78
waiting small 280 10

printf '%s\t' config Mbit/s 'delay us' processes 'latency us' MB/s computing
printf '%s\t' expected measured
echo ratio
for config in $CONFIGS; do
    on=$(basename "$config" .yaml)
    [ -e "$config" ] || config=$dir/$config.yaml
    for rate in $RATES; do
        for delay in $DELAYS; do
            links $((rate / SLOW)) $((delay * SLOW))
            over 2 bench --mpi "$config" --json >"$dir/bench.json"
            for ((n = 2; n <= RANKS; n *= 2)); do
                over $n train "$config" -q --json --profile --no-ckpt \
                    --force -o "$dir/run" --steps "$STEPS" \
                    >"$dir/train.json"
                jq -r --slurpfile train "$dir/train.json" --argjson n $n \
                    --arg on "$on" --arg rate "$rate" \
                    --arg delay "$delay" --argjson slow "$SLOW" '
                    def rounded: . * 100 | round / 100;
                    ($train[0].profile | 1e3 * .seconds.steps / .steps) as $ms
                    | (.expected[] | select(.processes == $n).seconds * 1e3)
                        as $expected
                    | [$on, $rate, $delay, $n,
                       (.latency * 1e6 / $slow | round),
                       (1e-6 / .seconds_per_byte * $slow | round),
                       (.compute_seconds * 1e3 / $slow | rounded),
                       ($expected / $slow | rounded), ($ms / $slow | rounded),
                       ($ms / $expected | rounded)] | @tsv' \
                    "$dir/bench.json"
            done
        done
    done
done
