# init: templates, and configs written for data.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    . "$BATS_TEST_DIRNAME/images.bash"
    ROOT=$(realpath "$BATS_TEST_DIRNAME/../..")
    unset CELLRUN_SET CELLRUN_RUNS CELLRUN_THREADS
    export CELLRUN_DATA="$ROOT/datasets"
    cd "$BATS_TEST_TMPDIR"
}

# table FILE ROWS: an id, two numbers, a constant, a class and a number that
# both follow from the numbers
table() {
    perl -e 'print "key,height,width,site,kind,area\n";
        for my $i (1 .. shift) {
            my $h = sin($i * 12.9898) * 43758.5453; $h -= int $h;
            my $w = sin($i * 78.233) * 12543.123; $w -= int $w;
            printf "k%d,%.5f,%.5f,north,%s,%.4f\n", $i, 150 + 20 * $h,
                60 + 15 * $w, $h > $w ? "tall" : "wide",
                900 + 80 * $h - 50 * $w; }' "$2" >"$1"
}

# value KEY: a number of the JSON in $output
number() {
    jq -r "$1" <<<"$output"
}

@test "every template is listed, is complete and says what to do next" {
    run -0 --separate-stderr "$CELLRUN" init --list
    [ "$(awk '{ print $1 }' <<<"$output" | xargs)" = \
      "digits mnist lenet resnet18 tabular textcls charlm finetune" ]
    run -0 --separate-stderr "$CELLRUN" init --list --json
    jq -e 'length == 8 and all(.summary | length > 10)' <<<"$output"
    for name in $(jq -r '.[].name' <<<"$output"); do
        "$CELLRUN" init "$name" >"$name.yaml"
        run -1 grep -E '^base:|: *\.\./' "$name.yaml"
        grep '^#' "$name.yaml"
    done
    cmp mnist.yaml "$ROOT/configs/mnist.yaml"
}

@test "templates for digits, tables and texts train" {
    for name in digits tabular textcls; do
        "$CELLRUN" init "$name" -o "$name.yaml"
    done
    run -0 --separate-stderr "$CELLRUN" train digits.yaml -o d -q --json --epochs 1 --limit 50%
    [ "$(number '.eval.accuracy > 0.85')" = true ]
    run -0 --separate-stderr "$CELLRUN" train tabular.yaml -o t -q --json
    [ "$(number '.best.value? // .best.loss < 0.3')" = true ]
    run -0 --separate-stderr "$CELLRUN" train textcls.yaml -o x -q --json --epochs 2
    [ "$(number '.eval.accuracy > 0.6')" = true ]
    # LabelIndex takes the labels of the checkpoint, which are numbers by now
    run -0 --separate-stderr "$CELLRUN" predict --ckpt x --data eval --against labels
    [[ ${lines[0]} == 'Predicted: "'*'", Actual: "'* ]]
    "$CELLRUN" predict --ckpt x --data eval --wrong >/dev/null
}

@test "templates for MNIST, CIFAR-10 and characters check" {
    ln -s "$ROOT/datasets/digits" mnist
    for name in mnist lenet resnet18 charlm; do
        "$CELLRUN" init "$name" -o "$name.yaml"
    done
    run -0 "$CELLRUN" check mnist.yaml
    run -0 "$CELLRUN" check lenet.yaml
    run -0 "$CELLRUN" train lenet.yaml --dry-run -q
    mkdir cifar10
    for n in 1 2 3 4 5; do
        head -c $((3073 * 128)) /dev/zero >cifar10/data_batch_$n.bin
    done
    cp cifar10/data_batch_1.bin cifar10/test_batch.bin
    run -0 "$CELLRUN" check resnet18.yaml
    for _ in {1..4000}; do
        echo 'To be, or not to be: that is the question.'
    done >tinyshakespeare.txt
    run -0 "$CELLRUN" check charlm.yaml
}

@test "the template for fine-tuning starts from a checkpoint" {
    "$CELLRUN" init finetune -o f.yaml
    folder data/train 2 8 8
    folder data/eval 1 8 8
    # what it starts from: the same network for other classes
    "$CELLRUN" train f.yaml vars.num_classes=4 '~load' '~freeze' --steps 1 \
        checkpoint.weights_only=true -o pre -q >/dev/null
    cp pre/ckpt/last.safetensors pretrained.safetensors
    run -0 "$CELLRUN" check f.yaml vars.num_classes=3
}

@test "a table of classes: a config that trains, with no edit" {
    table t.csv 400
    run -0 "$CELLRUN" init --from-csv t.csv --target kind -o c.yaml
    [[ $output == *"wrote c.yaml"* ]]
    run -0 "$CELLRUN" init --from-csv t.csv --target kind -o j.yaml --json
    [ "$output" = '{"config": "j.yaml", "unused": ["key", "site"]}' ]
    [ "$("$CELLRUN" init digits -o d.yaml -q --json)" = \
        '{"config": "d.yaml", "unused": []}' ]
    grep -q '^#   key: an id: all values differ$' c.yaml
    grep -q '^#   site: all rows have the same value$' c.yaml
    grep -q 'fields: kind, classes: \[tall, wide\]' c.yaml
    run -0 "$CELLRUN" check c.yaml
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o run -q --json
    [ "$(number '.eval.accuracy >= 0.95')" = true ]
    # the columns have the header's names, and no id among them
    run -0 "$CELLRUN" config c.yaml --get dataset.train.CSVDataset.columns.x.numbers
    [ "$(xargs <<<"$output")" = "[height, width, area]" ]
}

@test "missing values, categories, dates and words: nothing to edit" {
    perl -e 'print "id,age,port,city,since,note,survived\n";
        for my $i (1 .. 500) {
            my $r = sin($i * 12.9898) * 43758.5453; $r -= int $r; $r = abs $r;
            my $age = int(80 * $r);
            my $port = (qw(S C Q))[$i * 7 % 11 % 3];
            my $says = ($age < 40) ^ ($port eq "C") ? "yes" : "no";
            printf "p%d,%s,%s,town%d,20%02d-0%d-1%d,of %d there is %s\x27s,%s\n", $i,
                $i % 13 ? $age : "", $i % 17 ? $port : "NA", $i * 31 % 60,
                $i % 20, 1 + $i % 9, $i % 10, $i, $i * $i, $says; }' >m.csv
    "$CELLRUN" init --from-csv m.csv --target survived -o m.yaml
    grep -q '^# .*: 1 number, 1 date, 1 category, 1 category of many values' m.yaml
    grep -q '^#   note: text' m.yaml
    grep -q 'FillMissing: {strategy: median, indicator: true}' m.yaml
    run -0 --separate-stderr "$CELLRUN" train m.yaml -o run -q --json
    [ "$(number '.eval.accuracy > 0.8')" = true ]
    # rows without a target, with a town and a port that do not occur in training
    printf 'id,age,port,city,since,note\nx,33,B,Rome,2019-01-02,hm\ny,,S,town3,,\n' \
        >new.csv
    run -0 --separate-stderr "$CELLRUN" predict --ckpt run new.csv
    [ "$(grep -c 'yes\|no' <<<"$output")" -ge 2 ]
}

@test "a table of numbers: regression in the target's own units" {
    table t.csv 400
    "$CELLRUN" init --from-csv t.csv --target area -o c.yaml
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o run -q --json
    [ "$(number '.eval.r2 >= 0.99')" = true ]
    [ "$(number '.eval.mae < 6')" = true ]
    # whole numbers of few values are classes, unless --task says otherwise
    awk -F, 'NR == 1 { print $0 ",n" } NR > 1 { print $0 "," NR % 3 }' \
        t.csv >n.csv
    run -0 "$CELLRUN" init --from-csv n.csv --target n
    [[ $output == *'classes: ["0", "1", "2"]'* ]]
    run -0 "$CELLRUN" init --from-csv n.csv --target n --task regress
    [[ $output == *'loss: MSELoss'* ]]
}

@test "fields by position: no header, another delimiter" {
    table t.csv 60
    tail -n +2 t.csv | tr , ';' >t.txt
    "$CELLRUN" init --from-csv t.txt --target column_4 -o c.yaml
    grep -q 'header: false' c.yaml
    grep -q 'field_delim: ";"' c.yaml
    run -0 "$CELLRUN" check c.yaml
    # written into another folder it names the file in full
    mkdir sub
    "$CELLRUN" init --from-csv t.txt --target column_4 -o sub/c.yaml
    run -0 "$CELLRUN" check sub/c.yaml
    # fields whose names are patterns, and a dollar among the classes
    printf 'a*,b:c,$x\n' >q.csv
    for i in {1..30}; do
        printf '%d.5,%d.25,%s\n' "$i" $((i * 7 % 11)) "$((i % 2))\$y"
    done >>q.csv
    "$CELLRUN" init --from-csv q.csv --target '$x' -o q.yaml
    run -0 "$CELLRUN" train q.yaml -o q -q --epochs 1
    run -0 "$CELLRUN" eval --ckpt q --confusion - -q
    [[ $output == *'truth,0$y,1$y'* ]]
}

@test "a folder of images: a small network of convolutions" {
    # darker or lighter, whatever is mirrored and moved
    folder img 1 20 16
    for k in {1..10}; do
        for class in ant:40 bee:120 cat:200; do
            perl -e 'print pack "C", ($ARGV[0] + $_ * $ARGV[1] % 31) for 1 .. 960' \
                "${class#*:}" "$k" | png "img/${class%:*}/$k.png" 20 16
        done
    done
    "$CELLRUN" init --from-folder img -o c.yaml
    grep -q '33 images of 3 classes, 11 per class, 16 x 20 pixels' c.yaml
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o run -q --json --epochs 25
    [ "$(number '.eval.accuracy >= 0.8')" = true ]
    # parts of their own, several sizes
    folder own/train 4 20 16
    folder own/val 2 33 17
    pixels 40 30 1 1 | png own/train/bee/large.png 40 30
    "$CELLRUN" init --from-folder own -o own.yaml
    grep -q 'Resize' own.yaml
    [ "$("$CELLRUN" config own.yaml --get dataset.eval.ImageFolderDataset.dataset_dir)" = own/val ]
    run -0 "$CELLRUN" train own.yaml --dry-run -q
}

@test "arrays: rows of classes, rows of numbers, images" {
    samples train 300 1
    "$CELLRUN" init --from-npy train-x.npy,train-y.npy -o c.yaml
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o run -q --json
    [ "$(number ".eval.accuracy > 0.7")" = true ]
    perl -e 'print pack "d<*", map { 5 + sin } 1 .. 300' |
        npy y.npy '<f8' '(300,)'
    "$CELLRUN" init --from-npy train-x.npy,y.npy -o r.yaml
    run -0 "$CELLRUN" train r.yaml --dry-run -q
    perl -e 'print pack "C*", map { $_ * 37 % 256 } 1 .. 40 * 12 * 12' |
        npy g.npy '|u1' '(40, 12, 12)'
    perl -e 'print pack "q<*", map { $_ % 2 } 1 .. 40' | npy l.npy '<i8' '(40,)'
    "$CELLRUN" init --from-npy g.npy,l.npy -o g.yaml
    run -0 "$CELLRUN" train g.yaml --dry-run -q
}

@test "arrays: sequences are no images" {
    local target
    perl -e 'print pack "f<*", map { sin($_ * 1.7) } 1 .. 40 * 20 * 3' |
        npy s.npy '<f4' '(40, 20, 3)'
    perl -e 'print pack "q<*", map { $_ % 2 } 1 .. 40' | npy l.npy '<i8' '(40,)'
    perl -e 'print pack "f<*", map { 5 + sin } 1 .. 40' | npy y.npy '<f4' '(40,)'
    for target in l y; do
        "$CELLRUN" init --from-npy "s.npy,$target.npy" -o "$target.yaml"
        grep -q '^# A sample is a sequence of 20 steps of 3 numbers\.' \
            "$target.yaml"
        run -0 "$CELLRUN" train "$target.yaml" --dry-run -q
        run -0 "$CELLRUN" summary "$target.yaml"
        [[ $output == *"LSTM"* && $output != *"Conv2d"* ]]
    done
    # bytes, squares and four axes are images
    perl -e 'print pack "C*", map { $_ % 256 } 1 .. 40 * 20 * 9' |
        npy b.npy '|u1' '(40, 20, 9)'
    perl -e 'print pack "f<*", map { sin } 1 .. 40 * 12 * 12' |
        npy q.npy '<f4' '(40, 12, 12)'
    perl -e 'print pack "f<*", map { sin } 1 .. 40 * 20 * 9' |
        npy h.npy '<f4' '(40, 20, 9, 1)'
    for target in b q h; do
        "$CELLRUN" init --from-npy "$target.npy,l.npy" -o "$target.yaml"
        run -0 "$CELLRUN" summary "$target.yaml"
        [[ $output == *"Conv2d"* && $output != *"LSTM"* ]]
    done
}

@test "an existing file stays, unless --force is given" {
    echo mine >c.yaml
    run -2 "$CELLRUN" init mnist -o c.yaml
    [[ $output == *"the file exists; use --force to replace it"* ]]
    [ "$(cat c.yaml)" = mine ]
    run -0 "$CELLRUN" init mnist -o c.yaml --force
    cmp c.yaml "$ROOT/configs/mnist.yaml"
}

@test "a table of 30,000 fields takes little memory" {
    case $("$CELLRUN" version) in *asan*|*address*) skip "ASan needs all" ;; esac
    perl -e 'print join(",", map { "c$_" } 1 .. 30000), "\n";
        for my $i (1 .. 3) { print join(",", map { $i * $_ % 7 + .5 } 1 .. 30000),
            "\n" }' >wide.csv
    run -0 bash -c 'ulimit -v 1000000; exec "$CELLRUN" init --from-csv wide.csv \
        --target c3'
    [[ $output == *"# The table has 3 rows. Inputs: "* ]]
}

@test "errors are plain" {
    table t.csv 60
    run -2 "$CELLRUN" init mnsit
    [[ $output == *"did you mean 'mnist'?"* ]]
    run -2 "$CELLRUN" init
    [[ $output == *"found no source, expected one of: TEMPLATE, --from-csv, --from-folder, --from-npy"* ]]
    run -2 "$CELLRUN" init mnist --from-csv t.csv
    [[ $output == *"found several sources"* ]]
    run -2 "$CELLRUN" init --from-csv t.csv
    [[ $output == *"--target is not set; expected the field to predict: key, height"* ]]
    run -2 "$CELLRUN" init --from-csv t.csv --target knid
    [[ $output == *"did you mean 'kind'?"* ]]
    run -3 "$CELLRUN" init --from-csv t.csv --target site
    [[ $output == *"the target 'site': found one value in all rows"* ]]
    run -3 "$CELLRUN" init --from-csv t.csv --target key
    [[ $output == *"the target 'key': found 60 distinct values in 60 rows"* ]]
    run -3 "$CELLRUN" init --from-csv none.csv --target key
    for data in - pipe; do
        [ $data = - ] || mkfifo pipe
        run -3 timeout 300 "$CELLRUN" init --from-csv $data --target key <t.csv
        [[ $output == *"$data: error: found standard input or a pipe, expected a file that the config can name"* ]]
    done
    run -3 "$CELLRUN" init --from-folder .
    [[ $output == *"expected one folder of images"* ]]
    samples train 30 1
    samples eval 10 1
    run -3 "$CELLRUN" init --from-npy train-x.npy,eval-y.npy
    [[ $output == *"found 10 targets, expected 30"* ]]
    perl -e 'print pack "l<*", map { $_ % 2 } 1 .. 30' | npy two.npy '<i4' '(30, 1)'
    run -3 "$CELLRUN" init --from-npy train-x.npy,two.npy
    [[ $output == *"two.npy: error: found classes in an array (30, 1), expected (30,)"* ]]
    perl -e 'print pack "f<*", 1 .. 29, 9**9**9' | npy inf.npy '<f4' '(30,)'
    run -3 "$CELLRUN" init --from-npy train-x.npy,inf.npy
    [[ $output == *"inf.npy: error: target 29: found inf, expected a number"* ]]
    run -2 "$CELLRUN" init --from-npy train-x.npy
    sed -i '5s/,[^,]*$/,/' t.csv
    run -3 "$CELLRUN" init --from-csv t.csv --target area
    [[ $output == *"the target 'area': found no value in 1 row, "* ]]
    run -2 "$CELLRUN" init mnist -o mnist.txt
}

@test "a target that is no finite number is named with its line" {
    { echo a,y; for i in {1..30}; do echo "$i,$((i * 3)).5"; done; } >r.csv
    for v in inf 1e400 word; do
        sed "10s/,.*/,$v/" r.csv >s.csv
        run -3 --separate-stderr "$CELLRUN" init --from-csv s.csv --target y \
            --task regress -o s.yaml
        [[ $stderr == "s.csv:10:3: error: the target 'y': found '$v', expected a finite number [E0203]"* ]]
        [ ! -e s.yaml ]
    done
}

@test "a table of text alone is sent to the template for text" {
    cd "$BATS_TEST_TMPDIR"
    perl -e 'print "text,mood\n";
        print "day $_ of many long and full words,", $_ % 2 ? "good" : "bad", "\n"
            for 1 .. 60' >text.csv
    run -3 --separate-stderr "$CELLRUN" init --from-csv text.csv --target mood
    [[ $stderr == *"found no numbers, dates or categories"* ]]
    [[ $stderr == *"'text' holds texts: \`cellrun init textcls -o FILE\` writes"* ]]
}

@test "units: the fields are named with the command that removes the units" {
    perl -e 'print "id,mass,price,share,speed,size,n,y\n"; for (1 .. 60) {
        printf "C%03d,%d.1 kg,\$%d.50,%s,%d km/h,%d ml,%d,%s\n", $_, $_,
            $_ * 7 % 59, $_ % 9 ? $_ * 3 % 41 . "%" : "NA", $_ * 11 % 47,
            250 * ($_ % 3 + 1), $_ * 13 % 59, $_ % 2 ? "yes" : "no" }' >u.csv
    run -0 --separate-stderr "$CELLRUN" init --from-csv u.csv --target y -o u.yaml
    [[ $stderr == *"field 'mass': found the unit 'kg' in 60 values, expected numbers; they are not used as numbers [E0203]"* ]]
    [[ $stderr == *"field 'price': found the unit '\$' in 60 values"* ]]
    [[ $stderr == *"field 'share': found the unit '%' in 54 values"* ]]
    [[ $stderr == *"field 'speed': found the unit 'km/h'"* ]]
    [[ $stderr != *"field 'id'"* && $stderr != *"field 'n'"* ]]
    [[ $stderr == *"not used: id, mass, price, share, speed (the config says why)"* ]]
    grep -qF "#   mass: numbers with the unit 'kg': remove it to use them" u.yaml
    grep -qF 'Inputs: 1 number, 1 category.' u.yaml
    # the command that the message shows makes them numbers
    eval "$(sed -n 's/^ *remove the units: //p' <<<"$stderr")"
    run -0 --separate-stderr "$CELLRUN" init --from-csv new.csv --target y -o n.yaml
    [ "$stderr" = "wrote n.yaml; train it with cellrun train n.yaml
not used: id (the config says why)" ]
    grep -qF 'Inputs: 6 numbers.' n.yaml
    # so do the rows to predict
    "$CELLRUN" train n.yaml -q -o r train.epochs=1
    run -3 --separate-stderr "$CELLRUN" predict --ckpt r u.csv
    [[ $stderr == *"field 'mass': found '1.1 kg', expected a number [E0203]"*"numbers have no unit: remove it"* ]]
}

@test "decimal commas, Latin-1 and a missing header are named with the remedy" {
    perl -e 'print "h;w;n;y\n"; for (1 .. 60) {
        printf "%d,5;%d,25;%d;%s\n", $_, $_ * 7 % 11, $_ * 13 % 59,
            $_ % 2 ? "yes" : "no" }' >d.csv
    run -0 --separate-stderr "$CELLRUN" init --from-csv d.csv --target y
    [[ $stderr == *"field 'h': found a decimal comma in 60 values, expected a decimal point"* ]]
    [[ $stderr == *"field 'w': found a decimal comma"* ]]
    [[ $stderr != *"field 'n'"* ]]
    # the command that the message shows makes them numbers
    eval "$(sed -n 's/^ *replace the commas: //p' <<<"$stderr" | head -n 1)"
    run -0 --separate-stderr "$CELLRUN" init --from-csv new.csv --target y
    [[ $output == *"Inputs: 3 numbers"* ]]
    [ -z "$stderr" ]
    printf 'h,gr\xfc\xdfe\n1,2\n3,4\n' >l.csv
    run -3 --separate-stderr "$CELLRUN" init --from-csv l.csv --target h
    [[ $stderr == "l.csv:1:3: error: found the byte 0xFC, expected text in UTF-8 "* ]]
    [[ $stderr == *"iconv -f latin1 -t utf-8 l.csv >new.csv"* ]]
    tail -n +2 d.csv >n.csv
    run -2 --separate-stderr "$CELLRUN" init --from-csv n.csv --target y
    [[ $stderr == *"the file seems to have no header line"* ]]
    printf 'a,a,y\n1,2,no\n3,4,yes\n' >t.csv
    run -2 --separate-stderr "$CELLRUN" init --from-csv t.csv --target y
    [[ $stderr == *"the first line is no header, since 'a' occurs twice in it"* ]]
}
