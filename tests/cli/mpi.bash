# Several processes: mpirun of Open MPI.
. "${BASH_SOURCE[0]%/*}/small.bash"

setup() {
    BUILD=$(realpath "$BUILD")
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    export CELLRUN_THREADS=1
    # two of them that begin at once would both make one directory in /tmp
    export OMPI_MCA_orte_tmpdir_base=$BATS_TEST_TMPDIR
    [ -n "$(find "$BUILD" -maxdepth 1 -name 'cellrun-mpi-*.so')" ] ||
        skip 'built without MPI'
    [[ $BUILD != *address* ]] ||
        skip 'AddressSanitizer reports what Open MPI leaks at its end'
    config c.yaml
}

# mpi N ARGUMENT...: cellrun on N processes of Open MPI
mpi() {
    command -v mpirun.openmpi >/dev/null || skip 'no mpirun.openmpi'
    local n=$1
    shift
    timeout 100 mpirun.openmpi --allow-run-as-root --oversubscribe -n "$n" \
        "$CELLRUN" "$@"
}

# mpi_by shared|messages N ARGUMENT...: with what carries the messages
mpi_by() {
    local how=$1
    shift
    if [ "$how" = shared ]; then mpi "$@"; else CELLRUN_MPI=$how mpi "$@"; fi
}

# near A B RTOL: the runs have the same parameters; prints the largest
# deviation of one otherwise
near() {
    "$CELLRUN" ckpt diff "$1" "$2" --rtol "$3" --atol "$3"
}

last() {
    echo "$1/ckpt/last.safetensors"
}

# network: the section network of c.yaml is what standard input has
network() {
    sed -e '/^network:/,/^loss:/{/^loss:/!d}' c.yaml >rest.yaml
    { cat rest.yaml; cat; } >c.yaml
}

# c.yaml with parameters that train.shard divides, and a small one
wide_network() {
    network <<'END'
network:
  a: {Dense: {in_channels: 8, out_channels: 2100, has_bias: false}}
  act: Tanh
  b: {Dense: [2100, 60]}
  out: {Dense: [60, 3]}
END
}

# as_one STEPS RTOL [key=value...]: 2 and 4 processes train as one does
as_one() {
    local steps=$1 rtol=$2 n
    shift 2
    "$CELLRUN" train c.yaml -q -o one --force --steps "$steps" "$@"
    for n in 2 4; do
        mpi "$n" train c.yaml -q -o many --force --steps "$steps" "$@" \
            >out 2>err || { cat err; return 1; }
        near "$(last one)" "$(last many)" "$rtol"
    done
}
