#!/bin/sh
# fetch-mnist.sh [DIR]: fetches MNIST's four files into DIR and verifies them.
#
# DIR: default: the folder mnist next to this script. Needs gzip, curl or
# wget, and sha256sum or shasum. MNIST_URL replaces the mirrors: one address or
# several with blanks between, each a folder that holds the four files.
#
# A file gets its name when it is complete and verified. Until then it is in
# DIR/.fetch, and an interrupted run continues there. Existing files with the
# expected hash, packed or not, are kept. So is an existing file with another
# hash, since it may belong to another data set: that is an error.
#
# The checksums are those of the unpacked bytes, because the same images are
# about in several packings.
set -eu

mirrors=${MNIST_URL:-}
[ -n "$mirrors" ] || mirrors="https://ossci-datasets.s3.amazonaws.com/mnist
https://storage.googleapis.com/cvdf-datasets/mnist"

files="
ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db train-images-idx3-ubyte
65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5 train-labels-idx1-ubyte
0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7 t10k-images-idx3-ubyte
ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2 t10k-labels-idx1-ubyte
"

die() {
    echo "fetch-mnist: $*" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

sha256() {
    if has sha256sum; then
        sha256sum
    else
        shasum -a 256
    fi
}

# right FILE SUM: does FILE, unpacked where its name ends in .gz, have SUM?
right() {
    case $1 in
    *.gz) sum=$(gzip -dc <"$1" 2>/dev/null | sha256) ;;
    *) sum=$(sha256 <"$1") ;;
    esac
    [ "${sum%% *}" = "$2" ]
}

# get URL FILE: fetches, continuing at the end of FILE.
get() {
    if has curl; then
        curl -fsSL --retry 2 --connect-timeout 20 -C - -o "$2" "$1"
    else
        wget -q -t 3 -T 20 -c -O "$2" "$1"
    fi
}

# fetch NAME SUM: from the first mirror that has it. If the partial file of an
# earlier run does not fit this mirror, starts again in another file.
fetch() {
    part=$dir/.fetch/$1.gz
    afresh=$dir/.fetch/afresh.gz
    if [ -f "$part" ] && right "$part" "$2"; then
        return 0
    fi
    for url in $mirrors; do
        url=${url%/}/$1.gz
        echo "fetching $url"
        begun=no
        [ ! -s "$part" ] || begun=yes
        if get "$url" "$part"; then
            ! right "$part" "$2" || return 0
            rm -f "$part"
        fi
        [ $begun = yes ] || continue
        rm -f "$afresh"
        if get "$url" "$afresh" && right "$afresh" "$2"; then
            mv "$afresh" "$part"
            return 0
        fi
        rm -f "$afresh"
    done
    return 1
}

[ $# -le 1 ] || die "usage: fetch-mnist.sh [DIR]"
case ${1:-} in
-h | --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
dir=${1:-$(dirname "$0")/mnist}
has curl || has wget || die "curl or wget is needed"
has sha256sum || has shasum || die "sha256sum or shasum is needed"
has gzip || die "gzip is needed"

trap 'rmdir "$dir/.fetch" 2>/dev/null || :' EXIT # where nothing waits in it
echo "$files" | while read -r sum name; do
    [ -n "$name" ] || continue
    found=no
    for file in "$dir/$name.gz" "$dir/$name"; do
        [ -e "$file" ] || continue
        right "$file" "$sum" ||
            die "'$file' is not MNIST's (SHA-256 differs); move it away"
        found=yes
    done
    [ $found = no ] || continue
    mkdir -p "$dir/.fetch" || die "cannot make '$dir/.fetch'"
    fetch "$name" "$sum" ||
        die "cannot fetch '$name.gz': no mirror gave the right bytes" \
            "(run again to continue)"
    mv "$dir/.fetch/$name.gz" "$dir/$name.gz" ||
        die "cannot write '$dir/$name.gz'"
done || exit 1
echo "$dir: MNIST is there and right"
