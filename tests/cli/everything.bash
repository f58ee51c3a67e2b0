# The whole training recipe at once, on images small enough that a step takes
# a millisecond or two. Needs small.bash (npy).

# images NAME N SEED: NAME-x.npy (N, 10, 10, 1) of bytes and NAME-y.npy (N,),
# three classes of stripes
images() {
    perl -e 'my ($n, $seed) = @ARGV;
        for my $i (0 .. $n - 1) { my $c = $i * 7 % 3;
            for my $h (0 .. 9) { for my $w (0 .. 9) {
                my $v = sin($seed + ($i * 100 + $h * 10 + $w) * 12.9898) * 43758.5453;
                my $on = ($c == 0 ? $h : $c == 1 ? $w : $h + $w) % 4 < 2;
                print pack "C", ($on ? 120 : 20) + 100 * ($v - int($v)) } } }' \
        "$2" "$3" | npy "$1-x.npy" '|u1' "($2, 10, 10, 1)"
    perl -e 'print pack "l<*", map { $_ * 7 % 3 } 0 .. shift() - 1' "$2" |
        npy "$1-y.npy" '<i4' "($2,)"
}

# everything FILE [plateau]: Adam; a cosine after a warm-up, or a plateau;
# float16 with a loss scale that overflows and adapts; moving means; four
# batches a step, which an epoch of 19 does not divide; augmentation by two
# workers; clip and noise; counters of early stopping; a policy for what is
# not finite
everything() {
    local rate='{CosineDecayLR: {max_lr: 0.01, min_lr: 0.0001, decay_steps: 80%}, warmup: 10%}'
    [ "${2:-}" != plateau ] ||
        rate='{ReduceLROnPlateau: {learning_rate: 0.01, monitor: accuracy, factor: 0.8, patience: 2, cooldown: 1}, warmup: 10%}'
    [ -e pic-x.npy ] || { images pic 150 1; images pice 60 2; }
    cat >"$1" <<END
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [pic-x.npy, pic-y.npy], column_names: [image, label]}}
  eval: {NumpySlicesDataset: {data: [pice-x.npy, pice-y.npy], column_names: [image, label]}}
datapipe:
  image:
    - {RandomCrop: {size: 10, padding: 2}, only: train}
    - {RandomHorizontalFlip: {prob: 0.5}, only: train}
    - Rescale: {rescale: \$(1/255), shift: 0.0}
    - HWC2CHW
  batch: {batch_size: 8}
  workers: 2
network:
  conv: {Conv2d: {out_channels: 4, kernel_size: 3}}
  bn: BatchNorm2d
  relu: ReLU
  pool: {MaxPool2d: {kernel_size: 2, stride: 2}}
  flatten: Flatten
  drop: {Dropout: {p: 0.2}}
  out: {Dense: {out_channels: 3}}
loss: {CrossEntropyLoss: {label_smoothing: 0.1}}
optimizer:
  Adam:
    learning_rate: $rate
    weight_decay: 1e-4
    group_params: [{params: "*.bias", weight_decay: 0.0}]
metrics: [accuracy, loss]
amp:
  level: O2
  dtype: float16
  loss_scale: {DynamicLossScaleManager: {init_loss_scale: 1048576, scale_window: 11}}
train:
  epochs: 40
  grad_accumulation: 4
  clip: {value: 2.0, tensor_norm: 1.5, norm: 1.0}
  grad_noise: {eta: 1e-6}
  ema: {decay: 0.99}
  early_stop: {monitor: loss, patience: 1000}
  nan: fallback
eval: {every: 5 steps, use_ema: true}
checkpoint: {every: 7 steps, keep_checkpoint_max: 3}
log: {every: 1 steps, grad_norm: true}
END
}
