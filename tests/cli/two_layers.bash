# A network of two layers and four samples for it.
. "${BASH_SOURCE[0]%/*}/tensors.bash"

# four_samples: x.npy (4, 3) and y.npy (4,), two classes
four_samples() {
    pack 'f<*' 1 2 3 -1 0.5 0 0 -2 1 4 1 -1 | npy x.npy '<f4' '(4, 3)'
    pack 'l<*' 0 1 1 0 | npy y.npy '<i4' '(4,)'
}

# two_layers FILE: a config for four_samples
two_layers() {
    four_samples
    cat >"$1" <<'END'
cellrun: 1
dataset:
  train:
    NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}
  eval:
    NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}
datapipe: {batch: {batch_size: 2}}
network:
  fc: {Dense: [3, 4]}
  act: Tanh
  out: {Dense: [4, 2]}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.1, momentum: 0.9}}
metrics: [accuracy, loss]
train: {epochs: 2}
END
}
