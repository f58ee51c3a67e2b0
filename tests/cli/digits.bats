# The embedded data set: what datasets/digits.c writes, and how it fails.
# datasets/fetch-mnist.sh is here too, as far as it goes without a network.

bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    root=$BATS_TEST_DIRNAME/../..
    digits=${DIGITS:-${BUILD:-$root/build/plain}/digits}
    fetch=$root/datasets/fetch-mnist.sh
    out=$BATS_TEST_TMPDIR/out
    cd "$BATS_TEST_TMPDIR"
}

# bytes FILE FROM COUNT: of the unpacked file, as decimal numbers, one a line
bytes() {
    gzip -dc "$1" | tail -c +$(($2 + 1)) | head -c "$3" | od -An -v -tu1 -w1 |
        tr -d ' '
}

sum_of() {
    gzip -dc "$1" | sha256sum | cut -d ' ' -f 1
}

@test "the default set has the sizes, headers and sums that README.md lists" {
    run -0 "$digits" "$out"
    [ -z "$output" ]
    [ "$(ls -A "$out" | wc -l)" -eq 4 ]
    for set in train:10000 t10k:2000; do
        n=${set#*:}
        images=$out/${set%:*}-images-idx3-ubyte.gz
        labels=$out/${set%:*}-labels-idx1-ubyte.gz
        [ "$(gzip -dc "$images" | wc -c)" -eq $((16 + 784 * n)) ]
        [ "$(gzip -dc "$labels" | wc -c)" -eq $((8 + n)) ]
        [ "$(bytes "$images" 0 16 | tr '\n' ' ')" = \
            "0 0 8 3 0 0 $((n / 256)) $((n % 256)) 0 0 0 28 0 0 0 28 " ]
        [ "$(bytes "$labels" 0 8 | tr '\n' ' ')" = \
            "0 0 8 1 0 0 $((n / 256)) $((n % 256)) " ]
    done
    for file in "$out"/*; do
        grep -F "\`$(basename "$file" .gz)\`" "$root/datasets/README.md" |
            grep -F "\`$(sum_of "$file")\`"
    done
}

@test "the same seed gives the same files, packed bytes included" {
    run -0 "$digits" a --train 300 --test 100 --seed 7
    run -0 "$digits" --seed 7 --test 100 --train 300 b
    run -0 diff -r a b
    # gzip's header: no name, no time, an unknown system
    for file in a/*; do
        [ "$(head -c 10 "$file" | od -An -tx1 | tr -d ' ')" = \
            1f8b08000000000000ff ]
    done
}

@test "another seed gives other digits in another order" {
    run -0 "$digits" a --train 300 --test 100
    run -0 "$digits" b --train 300 --test 100 --seed 1
    run -0 "$digits" c --train 300 --test 100 --seed 4294967296
    for file in $(ls a); do
        [ "$(sum_of "a/$file")" != "$(sum_of "b/$file")" ]
        [ "$(sum_of "a/$file")" != "$(sum_of "c/$file")" ]
    done
}

@test "the two sets differ, and a short one is the beginning of a long one" {
    run -0 "$digits" a --train 205 --test 205
    run -0 "$digits" b --train 33 --test 0
    [ "$(sum_of a/train-images-idx3-ubyte.gz)" != \
        "$(sum_of a/t10k-images-idx3-ubyte.gz)" ]
    [ "$(bytes a/train-images-idx3-ubyte.gz 16 $((33 * 784)))" = \
        "$(bytes b/train-images-idx3-ubyte.gz 16 99999999)" ]
    [ "$(bytes a/train-labels-idx1-ubyte.gz 8 33)" = \
        "$(bytes b/train-labels-idx1-ubyte.gz 8 99999999)" ]
    [ "$(gzip -dc b/t10k-images-idx3-ubyte.gz | wc -c)" -eq 16 ]
}

@test "labels are balanced: each run of ten holds every digit once" {
    run -0 "$digits" "$out" --train 1000 --test 500
    for set in train:1000 t10k:500; do
        labels=$out/${set%:*}-labels-idx1-ubyte.gz
        run -0 awk '
            $1 !~ /^[0-9]$/ || seen[int((NR - 1) / 10), $1]++ { bad = 1 }
            NR <= 10 { first = first $1 }
            NR > 10 && NR <= 20 { second = second $1 }
            END { print NR, bad + 0, first == second }
        ' <(bytes "$labels" 8 99999999)
        [ "$output" = "${set#*:} 0 0" ]
    done
}

@test "every image holds a digit: white ink, black around it and at the rim" {
    run -0 "$digits" "$out" --train 500 --test 0
    run -0 awk '
        {
            i = (NR - 1) % 784; x = i % 28; y = int(i / 28)
            if ($1 > 0) inked++
            if ($1 > top) top = $1
            if ($1 > 128 && (x == 0 || y == 0 || x == 27 || y == 27)) rim++
        }
        i == 783 {
            if (inked < 25 || inked > 400 || top < 90) bad++
            inked = top = 0
        }
        END { print NR, bad + 0, rim + 0 }
    ' <(bytes "$out/train-images-idx3-ubyte.gz" 16 99999999)
    [ "$output" = "$((500 * 784)) 0 0" ]
}

@test "a file that cannot be written is reported with its path, exit 1" {
    run -1 --separate-stderr "$digits" missing/out --train 10 --test 10
    [ "$stderr" = "digits: cannot make 'missing/out': No such file or directory" ]

    touch file
    run -1 --separate-stderr "$digits" file --train 10 --test 10
    [ "$stderr" = "digits: cannot enter 'file': Not a directory" ]

    run -1 --separate-stderr "$digits" /proc --train 10 --test 10
    [[ $stderr == "digits: cannot write '/proc/t10k-labels-idx1-ubyte.gz': "* ]]

    mkdir -p "$out/train-labels-idx1-ubyte.gz"
    run -1 --separate-stderr "$digits" "$out" --train 10 --test 10
    [ "$stderr" = "digits: cannot write '$out/train-labels-idx1-ubyte.gz': Is a directory" ]
    run ! ls "$out"/.digits-*
}

@test "a read-only folder is reported with its path, exit 1" {
    local drop=() # what lets root write anywhere
    [ "$(id -u)" != 0 ] || drop=(setpriv --bounding-set=-dac_override)
    mkdir -m 555 "$out"
    run -1 --separate-stderr "${drop[@]}" "$digits" "$out" --train 10 --test 10
    [ "$stderr" = "digits: cannot write '$out/t10k-labels-idx1-ubyte.gz': Permission denied" ]
}

@test "where the room ends, no half file stays and old ones keep their bytes" {
    run -0 "$digits" "$out" --train 50 --test 10
    before=$(cat "$out"/* | sha256sum)
    # a file may not grow beyond 8 KiB: the images do not fit
    run -1 --separate-stderr bash -c \
        'trap "" XFSZ; ulimit -f 8; exec "$@"' - \
        "$digits" "$out" --train 50 --test 100 --seed 0
    [ "$stderr" = "digits: cannot write '$out/t10k-images-idx3-ubyte.gz': File too large" ]
    [ "$(ls -A "$out" | wc -l)" -eq 4 ]
    [ "$(cat "$out"/* | sha256sum)" = "$before" ]
}

@test "--png writes gray images of 28 x 28, a folder per digit" {
    run -0 "$digits" "$out" --png 2
    [ "$(cd "$out" && echo */*)" = "$(echo {0..9}/000{0,1}.png)" ]
    # IHDR: width, height, 8 bits, gray
    for file in "$out"/*/*.png; do
        tail -c +17 "$file" | head -c 10 | od -An -v -tu1 | xargs
    done >headers
    [ "$(uniq headers)" = "0 0 0 28 0 0 0 28 8 0" ]
    [ "$(sha256sum "$out"/*/*.png | cut -d " " -f 1 | sort -u | wc -l)" = 20 ]
    run -0 "$digits" again --png 1
    cmp again/7/0000.png "$out/7/0000.png"
    run -1 --separate-stderr "$digits" "$out/0/0000.png" --png 1
    [[ $stderr == "digits: cannot write"* || $stderr == "digits: cannot make"* ]]
}

@test "a wrong command line is exit 2" {
    run -2 --separate-stderr "$digits"
    [[ $stderr == usage:* ]]
    run -2 --separate-stderr "$digits" a b
    [[ $stderr == usage:* ]]
    run -2 --separate-stderr "$digits" a --train -5
    [[ $stderr == "digits: --train: '-5' is not a whole number up to 1000000"* ]]
    run -2 --separate-stderr "$digits" a --test 1000001
    [[ $stderr == *"--test: '1000001' is not"* ]]
    run -2 --separate-stderr "$digits" a --seed 1x
    [[ $stderr == *"--seed: '1x' is not"* ]]
    run -2 "$digits" a --colour
    [ ! -e a ]
    run -0 --separate-stderr "$digits" --help
    [[ $output == usage:* && -z $stderr ]]
}

@test "fetch-mnist: other bytes than MNIST's are refused, exit 1" {
    command -v curl || skip "needs curl, for addresses of files"
    run -0 "$digits" served --train 20 --test 10
    MNIST_URL="file://$PWD/nowhere file://$PWD/served" \
        run -1 --separate-stderr "$fetch" "$out"
    [[ $stderr == *"cannot fetch 'train-images-idx3-ubyte.gz'"* ]]
    [ -z "$(ls -A "$out")" ]
}

@test "fetch-mnist: what was begun is kept when the network is away" {
    command -v curl || skip "needs curl, for addresses of files"
    mkdir -p "$out/.fetch"
    echo begun >"$out/.fetch/train-images-idx3-ubyte.gz"
    MNIST_URL="file://$PWD/nowhere" run -1 "$fetch" "$out"
    [ "$(cat "$out/.fetch/train-images-idx3-ubyte.gz")" = begun ]
    [ "$(ls "$out")" = "" ]
}

@test "fetch-mnist: another set's file is left alone, exit 1" {
    command -v curl || command -v wget || skip "needs curl or wget"
    run -0 "$digits" "$out" --train 20 --test 10
    before=$(cat "$out"/* | sha256sum)
    MNIST_URL="file://$PWD/nowhere" run -1 --separate-stderr "$fetch" "$out"
    [ "$stderr" = "fetch-mnist: '$out/train-images-idx3-ubyte.gz' is not MNIST's (SHA-256 differs); move it away" ]
    [ "$(cat "$out"/* | sha256sum)" = "$before" ]
}
