# Frequent first errors: the message says what to write instead.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    unset CELLRUN_SET
    export CELLRUN_DATA="$(realpath "$BATS_TEST_DIRNAME/../../datasets")"
    cd "$BATS_TEST_TMPDIR"
    "$CELLRUN" init digits -o d.yaml
}

# fails WITH TEXT ARG...: the command exits with WITH and prints TEXT
fails() {
    local status_wanted=$1 text=$2

    shift 2
    run "-$status_wanted" "$CELLRUN" "$@"
    echo "$output"
    [[ $output == *"$text"* ]]
}

@test "a decimal comma: the hint has the number with a point" {
    sed 's/learning_rate: 0.05/learning_rate: 0,05/' d.yaml >c.yaml
    fails 2 'numbers have a decimal point: write learning_rate: 0.05' check c.yaml
    fails 2 'numbers have a decimal point, not a comma' \
        check d.yaml optimizer.Momentum.learning_rate=0,05
    fails 2 "found 'abc', expected a number or a schedule" \
        check d.yaml optimizer.Momentum.learning_rate=abc
}

@test "arguments by position and by name: the hint has all by name" {
    fails 2 'write {Dense: {in_channels: 784, out_channels: 10, activation: relu}}' \
        check d.yaml 'network.body=[{Dense: [784, 10, {activation: relu}]}]'
    run -0 "$CELLRUN" check d.yaml \
        'network.body=[{Dense: {in_channels: 784, out_channels: 10, activation: relu}}]'
    run -0 "$CELLRUN" check d.yaml \
        'network.body=[{Dense: [784, 10, {Normal: {sigma: 0.1}}]}]'
}

@test "classes: MSELoss names CrossEntropyLoss, a large label the outputs needed" {
    fails 2 'labels that are classes need CrossEntropyLoss' check d.yaml loss=MSELoss
    fails 3 'class 9 needs at least 10: set out_channels of its last layer' train d.yaml \
        network.body.2.Dense.out_channels=9 -o r -q
}

@test "an empty config is called empty" {
    : >e.yaml
    fails 2 "section 'network' is missing: the config is empty" check e.yaml
    fails 2 '`cellrun init` writes a first config' check e.yaml
}

@test "images that cannot be read, and folders without images" {
    mkdir -p img/a img/b
    echo junk >img/a/1.jpg
    echo junk >img/b/1.png
    fails 3 'found 2 images that cannot be read, expected images: img/a/1.jpg: ' \
        init --from-folder img
    rmdir img/b 2>/dev/null || rm -r img/b
    mkdir img/b
    fails 3 'found no images (.png, .jpg) in the folder of a class' init --from-folder img
}

@test "check and train say once that nothing is evaluated" {
    run -0 --separate-stderr "$CELLRUN" check d.yaml '~dataset.eval'
    [[ ${lines[-1]} == "nothing is evaluated: add dataset.eval or dataset.split" ]]
    run -0 --separate-stderr "$CELLRUN" check d.yaml
    [[ $output != *"nothing is evaluated"* ]]
    run -0 --separate-stderr "$CELLRUN" train d.yaml '~dataset.eval' --dry-run
    [ "$(grep -c "nothing is evaluated: add dataset.eval or dataset.split" <<<"$stderr")" = 1 ]
    run -0 --separate-stderr "$CELLRUN" train d.yaml --dry-run
    [[ $stderr != *"nothing is evaluated"* ]]
}

@test "words of analysts and of MindSpore have an answer" {
    for word in 'random forest' 'no header' image 'feature importance' quantile \
        'sample weight' log-transform RandomApply UniformAugment dynamic_lr median asnumpy; do
        run -0 "$CELLRUN" help "$word"
    done
}

@test "a checkpoint that load.ckpt names and that does not exist: its place" {
    printf 'base: d.yaml\nload: {ckpt: none.safetensors}\n' >l.yaml
    fails 4 'load.ckpt names it      (l.yaml:2:14)' check l.yaml
    fails 4 'load.ckpt names it      (command line, argument 3)' check d.yaml load.ckpt=none
}

@test "nn.ReLU()(h) in construct: the hint names cells" {
    cat >n.yaml <<'END'
base: d.yaml
network: !replace
  inputs: [image]
  cells: {fc: {Dense: {out_channels: 10}}}
  construct: |
    h = nn.ReLU()(flatten(image))
    return fc(h)
END
    fails 2 'a cell is made under cells, such as act: ReLU' check n.yaml
    run -0 "$CELLRUN" help construct
    [[ $output == *"not self.fc(x)"* ]]
}

@test "categories read as text, and accuracy of a single output: what to write" {
    printf 'city,x,label\nu,1,0\nv,2,1\nu,3,0\nw,4,1\n' >c.csv
    cat >c.yaml <<'END2'
dataset:
  train: {CSVDataset: {dataset_files: c.csv, columns: {city: {fields: city, type: string}, x: {fields: x, type: float32}, label: label}}}
  eval: {CSVDataset: {dataset_files: c.csv, columns: {city: {fields: city, type: string}, x: {fields: x, type: float32}, label: label}}}
datapipe: {city: [CategoryIndex]}
network: {inputs: [x], construct: return x}
loss: {inputs: [y], construct: return mean(y)}
optimizer: SGD
metrics: [accuracy]
train: {epochs: 1}
END2
    run -2 --separate-stderr "$CELLRUN" check c.yaml
    [[ $stderr == *"columns: {city: {categories: FIELD}} reads categories"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml '~datapipe' \
        '~dataset.train.columns.city' '~dataset.eval.columns.city'
    [[ $stderr == *"for two classes, end the network with two outputs"* ]]
    run -0 "$CELLRUN" help StepLR
    [[ $output == *"is_stair: true"* ]]
    run -0 "$CELLRUN" help embedding columns
    [[ $output == *CategoryIndex* ]]
}

@test "keys at the wrong place: where they belong" {
    cp d.yaml t.yaml
    for key in extends target columns header hidden na missing normalize \
        features classes inputs layers delimiter; do
        echo "$key: 1" >>t.yaml
    done
    run -2 --separate-stderr "$CELLRUN" check t.yaml
    # after each error without a suggestion of a name comes a sentence
    [[ $stderr == *"unknown key 'extends'"*"base: FILE, at the top level, names the config"* ]]
    [[ $stderr == *"unknown key 'target'"*"The field to predict is the column label"* ]]
    [[ $stderr == *"unknown key 'columns'"*"columns belongs to CSVDataset"* ]]
    [[ $stderr == *"unknown key 'header'"*"CSVDataset: {header: false} reads"* ]]
    [[ $stderr == *"unknown key 'hidden'"*"A hidden layer is a Dense and an activation"* ]]
    [[ $stderr == *"unknown key 'na'"*"FillMissing in the datapipe"*"unknown key 'missing'"*"FillMissing in the datapipe"* ]]
    [[ $stderr == *"unknown key 'normalize'"*"Standardize and MinMax are fitted"* ]]
    [[ $stderr == *"unknown key 'classes'"*"LabelIndex: {classes: [a, b]}"* ]]
    # sections and commands of a similar name are not suggested
    [[ $stderr != *"did you mean 'init'"* ]]
    [[ $stderr != *"did you mean 'predict'"* ]]
    fails 2 'base: FILE, at the top level' check d.yaml dataset.extends=x
    fails 2 "'optimizer' is a section: write it at the top level" \
        check d.yaml train.optimizer=Adam
    fails 2 "did you mean 'datapipe.batch.batch_size'?" check d.yaml batch=10
    fails 2 "did you mean 'base'?" check d.yaml bas=x.yaml
    fails 2 "did you mean 'sweep'?" tune d.yaml
}

@test "freeze with patterns alone: the map to write, then the pattern" {
    fails 2 'write {patterns: body.0}' check d.yaml freeze=body.0
    fails 2 "write 'body.0.*' for all below it" check d.yaml \
        'freeze={patterns: body.0}'
    run -0 "$CELLRUN" check d.yaml 'freeze={patterns: body.0.*}'
}

@test "parameters of a block as a list: the map to write" {
    cat >b.yaml <<'END'
base: d.yaml
blocks:
  Half: {params: [q, r], construct: return x * 0.5}
network: !replace {flatten: Flatten, half: {Half: {q: 1}}, out: {Dense: [784, 10]}}
END
    fails 2 'block Half: params: found a list, expected a map from names to defaults' \
        check b.yaml
    [[ $output == *"write {q: DEFAULT}, or {q: required}"* ]]
    sed -i 's/\[q, r\]/{q: required, r: 2}/' b.yaml
    run -0 "$CELLRUN" check b.yaml
    sed -i 's/{q: required, r: 2}/3/' b.yaml
    fails 2 'params: found the number 3, expected a map' check b.yaml
}

@test "help knows the words of people who work with tables and statistics" {
    for word in MLPClassifier LogisticRegression fit score predict_proba \
        train_test_split StandardScaler GridSearchCV p-value r2 rmse outlier \
        imputation impute units percent 'confidence interval' 'hidden layers' \
        target label columns features multiclass binary intercept max_iter \
        solver 'standard deviation' correlation pipeline PCA clustering xlsx \
        json 'quantile regression' 'dummy variables' asha halving textcls \
        compare decimal null; do
        run -0 "$CELLRUN" help "$word"
        [[ ${lines[0]} == *:* ]]
    done
}

@test "ranges, percentages, metrics and subcommands by other names" {
    sweep=(sweep d.yaml --dir s --dry-run)
    fails 2 "found 0.001..0.1, expected values between commas, or range(a,b)" \
        "${sweep[@]}" optimizer.learning_rate=0.001..0.1
    [[ $output == *"distribution: log_uniform, min: 0.001, max: 0.1}}' and sweep.method=random"* ]]
    fails 2 'int_uniform, min: 8, max: 64' "${sweep[@]}" \
        'datapipe.batch.batch_size=int_uniform(8, 64)'
    fails 2 'distribution: uniform, min: 0.1, max: 1}' "${sweep[@]}" \
        'optimizer.learning_rate=uniform(0.1,1)'
    # what the message shows is a sweep
    run -0 "$CELLRUN" "${sweep[@]}" --count 4 sweep.method=random \
        'sweep.parameters={optimizer.learning_rate: {distribution: log_uniform, min: 0.001, max: 0.1}}'
    [[ $output == *'4 points'* ]]
    fails 2 'set sweep.method to random or tpe' "${sweep[@]}" \
        'sweep.parameters={optimizer.learning_rate: {distribution: log_uniform, min: 0.001, max: 0.1}}'
    fails 2 'a learning rate is a number without a unit: write 0.1' \
        check d.yaml optimizer.learning_rate=10%
    fails 2 'a learning rate is one number, such as 0.01; sweep.parameters has ranges' \
        check d.yaml optimizer.learning_rate=0.001-0.1
    fails 2 'a metric is selected by --metric accuracy' plot accuracy
    fails 2 'a metric is selected by --metric eval.loss' plot eval.loss
    fails 2 "did you mean 'diff'?" runs compare a b
    fails 2 "did you mean 'ls'?" runs list
    fails 2 "did you mean 'stats'?" data describe d.yaml
    fails 2 "did you mean 'show'?" ckpt info r
    fails 2 "did you mean 'average'?" ckpt mean a b
}

@test "--require: a percentage and an unknown metric are reported before training" {
    fails 2 "a fraction is written as a number: 0.9 for 90 %" \
        train d.yaml -q -o r --require 'accuracy>=90%'
    fails 2 "did you mean 'accuracy'?" train d.yaml -q -o r --require 'acuracy>=0.9'
    [[ $output == *"metrics: accuracy loss; others are added by the section metrics"* ]]
    [ ! -e r ]
    run -0 "$CELLRUN" train d.yaml -q -o r train.limit=64 train.epochs=1
    fails 6 "found accuracy>=90, expected a number from 0 to 1: accuracy is a fraction" \
        eval --ckpt r --require 'accuracy>=90' -q
    [[ $output == *'write 0.9 instead of 90'* ]]
    fails 2 'metrics: accuracy loss' eval --ckpt r --require 'r2>=0.9' -q
}

@test "a table in place of a config or template: the flag or the command" {
    printf 'a,b,label\n1,2,x\n3,4,y\n' >t.csv
    fails 2 'cellrun init --from-csv t.csv --target FIELD -o NAME.yaml writes a config' \
        train t.csv
    fails 2 'did you mean --from-csv t.csv --target FIELD?' init t.csv
    mkdir pictures
    fails 2 'did you mean --from-folder pictures?' init pictures
}

@test "names that do not exist: those that do" {
    cat >c.yaml <<'END'
base: d.yaml
network: !replace
  cells: {body: [Flatten, {Dense: {out_channels: 10}}]}
  construct: return body(x)
END
    fails 2 "write 'cells.body'" check c.yaml network.body.1.out_channels=9
    run -0 "$CELLRUN" check c.yaml network.cells.body.1.out_channels=12
    cat >l.yaml <<'END'
base: d.yaml
blocks:
  Worst: {inputs: [logits, target], construct: 'return max(logits, target)'}
loss: !replace Worst
END
    fails 2 "column 'target' not found in the data set" check l.yaml
    [[ $output == *'columns: image label'* ]]
    sed -i 's/target/label/g' l.yaml
    fails 2 'the larger of two tensors is maximum(a, b)' check l.yaml
    # one mistake, one error
    sed -i 's/!replace Worst/!replace Wors/' l.yaml
    fails 2 "did you mean 'Worst'?" check l.yaml
    [[ $output == *'1 error' ]]
}

@test "members may have the name of a type in lower case, and modifiers" {
    cat >m.yaml <<'END'
datapipe: {batch: {batch_size: 4}}
blocks:
  Ir:
    params: {c: 8}
    cells: {d: {Dense: {out_channels: $c}}}
    construct: return d(x)
network:
  inputs: {x: {shape: [3]}}
  cells:
    ir: {Ir: {c: 4}, freeze: true}
    dense:
      cells: {a: {Dense: {out_channels: 3}}}
      construct: return a(x)
      recompute: true
    flatten: {relu: ReLU}
    conv2d: [{Dense: {out_channels: 3}}, ReLU]
  construct: return conv2d(flatten(dense(ir(x))))
END
    run -0 "$CELLRUN" check m.yaml
}
