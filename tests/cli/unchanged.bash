# unchanged.bash: what scripts rely on: exit statuses, members of JSON output,
# bytes of checkpoints. Prints each command of unchanged.txt with its status
# and its JSON; texts for people, times and names of machines are omitted.
# All numbers of the run are sums of few powers of two, so that they are the
# same on every processor.
. "${BASH_SOURCE[0]%/*}/tensors.bash"

prepare() {
    pack 'f<*' 1 0 -1 2 0 1 1 -1 2 1 0 1 -1 0 1 1 | npy x.npy '<f4' '(4, 4)'
    pack 'f<*' 1 -1 0 2 1 1 -2 0 | npy y.npy '<f4' '(4, 2)'
    pack 'l<*' 0 1 1 0 | npy label.npy '<i4' '(4,)'
    cat >net.yaml <<'END'
cellrun: 1
seed: 1
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label], shuffle: false}}
  eval: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label], shuffle: false}}
datapipe: {batch: {batch_size: 4}}
network:
  fc: {Dense: {out_channels: 2, weight_init: ones, bias_init: zeros}}
  act: ReLU
  out: {Dense: {out_channels: 2, weight_init: ones, bias_init: ones}}
loss: MSELoss
optimizer: {Momentum: {learning_rate: 0.0625, momentum: 0.5}}
metrics: [loss, mae]
train: {epochs: 1}
END
    cat >classes.yaml <<'END'
base: net.yaml
dataset: !replace
  train: {NumpySlicesDataset: {data: [x.npy, label.npy], column_names: [x, label]}}
loss: !replace CrossEntropyLoss
metrics: [accuracy]
END
    echo 'network: [}' >broken.yaml
    printf 'not a checkpoint' >broken.safetensors
    : >empty.csv
}

# Members added since are omitted. Members whose values differ from run to run
# or from machine to machine, and
# texts, are there, but have no value.
filter='walk(if type == "object" then del(.phases, .train_loss) | with_entries(
    if .key | IN("t", "seconds", "samples_per_s", "host", "pid", "cpu",
        "kernels", "threads", "started", "ended", "compiler", "flags",
        "products", "cores", "config_dir", "message", "hint", "notes", "doc", "takes",
        "summary", "detail", "what", "cellrun.header_crc32", "cellrun.state",
        "bytes", "offset", "error", "configs", "memory", "memory_bytes", "stamp")
    then .value = null else . end) else . end)'

# show COMMAND: its status, and the JSON of both its outputs
show() {
    local status=0
    echo "$ $1"
    (eval "$1") >out 2>err </dev/null || status=$?
    echo "status $status"
    for file in out err; do
        if [ -s "$file" ] && jq -c "$filter" "$file" >json 2>/dev/null; then
            cat json
        fi
    done
}

cellrun() {
    "$CELLRUN" "$@"
}

state() {
    cellrun ckpt show --meta cellrun.state "$1"
}

# The bytes after the header of a safetensors file.
tensors() {
    local n
    n=$(od -An -v -t u8 -N 8 "$1" | tr -d ' ')
    tail -c +$((9 + n)) "$1" | sha256sum | cut -d ' ' -f 1 | jq -R .
}
