# Checkpoints made by somebody else: no command runs, opens or reads what their
# configs ask for. Everything that they ask for has "canary" in its path.
bats_require_minimum_version 1.5.0
load small.bash
set -o pipefail

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_PATH
    config c.yaml
    "$CELLRUN" train c.yaml -q -o own train.epochs=1 >/dev/null
    cp own/ckpt/last.safetensors good.safetensors
    mkdir canary
    echo 'seed: 3' >canary/base.yaml
    echo 0.1 >canary/rates.txt
    printf 'a\nb\n' >canary/words.txt
    cp c.yaml own/ckpt/last.safetensors ./*.npy canary
    cat >spy.c <<'END'
#include <stdio.h>
__attribute__((constructor)) static void first(void)
{
    FILE *f = fopen("canary/plugin-ran", "w");
    if (f)
        fclose(f);
}
END
    ${CC:-cc} -fPIC -shared -o canary/spy.so spy.c
    strangers
}

# strangers: the checkpoints that ask for something
strangers() {
    raw plugin <<<"plugin: $PWD/canary/spy.so"
    raw relative "$PWD/canary" <<<'plugin: spy.so'
    raw base <<<"base: $PWD/canary/base.yaml"
    raw env <<<"predict: {labels: ['\$(env(\"CANARY_SECRET\"))', b, c]}"
    evil command <<<'run: {exec_on_eval: "touch canary/command-ran"}'
    "$CELLRUN" config c.yaml | sed "s#\(train\|eval\)-[xy]#$PWD/canary/&#g
        s#learning_rate: [0-9.]*#learning_rate: $PWD/canary/rates.txt#" >all
    cat >>all <<END
base: $PWD/canary/base.yaml
plugin: [$PWD/canary/spy.so, spy.so]
predict: {labels: ['\$(env("CANARY_SECRET"))', b, c]}
run: {exec_on_eval: "touch canary/command-ran", dir: $PWD/canary/runs}
load: {ckpt: $PWD/canary/last.safetensors}
vocab: {text: {file: $PWD/canary/words.txt}}
END
    forge good.safetensors all.safetensors "$PWD/canary" <all
    "$CELLRUN" config c.yaml |
        sed "s#\(train\|eval\)-[xy]#$PWD/canary/&#g" |
        forge good.safetensors data.safetensors
    "$CELLRUN" config c.yaml |
        forge good.safetensors here.safetensors "$PWD/canary"
    evil watch <<<"watch: [{at: network, in: [train, eval, predict], save: $PWD/canary/seen.npz}]"
    raw classes "$PWD/canary" <<<'vars: {n: $data.classes}'
    raw vocab <<END
vocab: {text: {file: $PWD/canary/words.txt}}
vars: {n: \$vocab.text.size}
END
    evil load <<<"load: {ckpt: $PWD/canary/last.safetensors}"
    evil values <<END
init: [{match: fc.weight, Array: {file: $PWD/canary/train-x.npy}}]
load: {ckpt: $PWD/canary/last.safetensors}
END
    "$CELLRUN" config c.yaml |
        sed "s|learning_rate: [0-9.]*|learning_rate: $PWD/canary/rates.txt|" |
        forge good.safetensors rates.safetensors
}

setup() {
    cd "$BATS_FILE_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_PATH
    STRACE=
    if strace -o /dev/null true 2>/dev/null; then STRACE=1; fi
}

# forge FROM TO [DIR]: FROM with another config, on stdin, and config_dir
forge() {
    perl -0777 -e '
        sub crc { my $c = ~0 & 0xffffffff;
            for my $b (unpack "C*", $_[0]) { $c ^= $b;
                $c = $c & 1 ? $c >> 1 ^ 0xedb88320 : $c >> 1 for 1 .. 8 }
            sprintf "%08x", ~$c & 0xffffffff }
        my ($from, $to, $dir) = @ARGV;
        my $text = <STDIN>;
        open my $in, "<:raw", $from or die; $_ = <$in>;
        my $n = unpack "Q<"; my $data = substr $_, 8 + $n;
        my $head = substr $_, 8, $n;
        $head =~ s/ +$//;
        $text =~ s/([\\"])/\\$1/g; $text =~ s/\n/\\n/g;
        $head =~ s/("cellrun\.config":")(?:[^"\\]|\\.)*"/$1$text"/ or die;
        $head =~ s/(\\"config_dir\\":\\")[^"\\]*/$1$dir/ or die;
        $head .= " " x (-(8 + length $head) % 64);
        my $file = pack("Q<", length $head) . $head;
        substr($file, 70, 8) = "0" x 8;
        substr($file, 70, 8) = crc($file);
        open my $out, ">:raw", $to or die; print $out $file, $data' \
        "$1" "$2" "${3:-$PWD}"
}

# evil NAME [DIR]: the config of c.yaml with what is on stdin laid over it
evil() {
    { echo 'base: c.yaml'; cat; } >evil.yaml
    "$CELLRUN" config evil.yaml >resolved.yaml
    forge good.safetensors "$1.safetensors" "${2:-}" <resolved.yaml
    rm evil.yaml
}

# raw NAME [DIR]: the same, but the lines on stdin stay unresolved
raw() {
    { "$CELLRUN" config c.yaml; cat; } >raw.yaml
    forge good.safetensors "$1.safetensors" "${2:-}" <raw.yaml
    rm raw.yaml
}

# watched COMMAND...: as run does, with the system calls in ./calls
watched() {
    rm -rf canary/plugin-ran canary/command-ran canary/runs out
    : >calls
    if [ "$STRACE" ]; then
        status=0
        # LeakSanitizer does not work under strace
        output=$(CANARY_SECRET=leaked \
            ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 timeout 300 strace -f -o calls -s 300 \
            -e trace=file,process "$@" 2>&1 </dev/null) || status=$?
    else
        status=0
        output=$(CANARY_SECRET=leaked timeout 300 "$@" 2>&1 </dev/null) ||
            status=$?
    fi
}

# harmless: what `watched` ran has touched nothing
harmless() {
    [ "$status" -lt 124 ]
    [ ! -e canary/plugin-ran ]
    [ ! -e canary/command-ran ]
    [ ! -e canary/runs ]
    [[ $output != *leaked* ]]
    grep 'canary' calls >touched && return 1
    [ "$(grep -c 'execve(' calls)" -le 1 ]
}

# commands: as the program lists them
commands() {
    "$CELLRUN" help commands | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

# lines_of COMMAND FILE: each way to hand a checkpoint to the command
lines_of() {
    case $1 in
    eval) printf '%s\n' "eval --ckpt $2" "eval --ckpt $2 --data train" ;;
    predict) echo "predict --ckpt $2 eval-x.npy" ;;
    sample) echo "sample --ckpt $2" ;;
    resume) printf '%s\n' "resume $2 -o out" "resume $2" ;;
    trace) printf '%s\n' "trace $2 -o out.npz" "trace $2 --step -o out.npz" \
        "trace $2 --feed x=eval-x.npy --feed label=eval-y.npy -o out.npz" ;;
    export) printf '%s\n' "export $2 -o out.npz" ;;
    gradcheck) printf '%s\n' "gradcheck $2" "gradcheck c.yaml --ckpt $2" ;;
    bench) echo "bench $2 --threads 1 --batch 1" ;;
    train) printf '%s\n' "train $2 -o out" ;;
    ckpt) for sub in ls show verify load-report; do echo "ckpt $sub $2"; done
        echo "ckpt diff $2 good.safetensors"
        echo "ckpt convert $2 -o out.npz" ;;
    plugin) echo "plugin check $2" ;;
    data) for sub in stats show; do echo "data $sub $2"; done ;;
    runs) for sub in show best; do echo "runs $sub $2"; done ;;
    *) echo "$1 $2" ;;
    esac
}

# those that open no model: they get one checkpoint that asks for all
others='check completion config data help lr-find plugin runs schema selftest
    train version'
others=$(xargs <<<"$others")

# attempt NAME PATTERN [all]: commands with NAME.safetensors, or all commands; those
# that fit the pattern must refuse it by E0306
attempt() {
    local command line n=0
    [ "$(commands | wc -l)" -ge 20 ]
    for command in $(commands); do
        [ "${3:-}" ] || [[ " $others " != *" $command "* ]] || continue
        while read -r line; do
            # shellcheck disable=SC2086
            watched "$CELLRUN" $line
            if [ "${TRUST_TABLE:-}" ]; then
                echo "| $line | $status |" \
                    "$(grep -m1 error: <<<"$output" | sed 's/.*error: //') |"
            fi >>"${TRUST_TABLE:-/dev/null}"
            harmless || { echo "$line: $status"; echo "$output"
                cat touched; return 1; }
            if [[ $line =~ ^($2)($|\ ) ]]; then
                [[ $status -eq 4 && $output == *"[E0306]"* ]] ||
                    { echo "$line: $status"; echo "$output"; return 1; }
                n=$((n + 1))
            fi
        done < <(lines_of "$command" "$1.safetensors")
    done
    [ "$n" -gt 0 ]
}

models='export|eval|predict|sample|resume|trace|bench|summary'
models+='|gradcheck [a-z]*[.]safetensors|ckpt load-report'

@test "plugin: by an absolute path" {
    attempt plugin "$models"
}

@test "plugin: by a path from the folder that the file names" {
    attempt relative "$models"
}

@test "base" {
    attempt base "$models"
}

@test "env, in a section that is not read" {
    attempt env "$models"
}

@test "run.exec_on_eval" {
    attempt command 'resume [^ ]* -o'
}

@test "all of it at once, for every command" {
    attempt all "$models" all
}

@test "data by absolute paths" {
    attempt data 'eval|resume [^ ]* -o|trace [^ ]* (--step )?-o|gradcheck d'
}

@test "data by paths from the folder that the file names" {
    attempt here 'eval|resume [^ ]* -o'
}

@test "data whose size is asked for" {
    attempt classes "$models"
}

@test "a vocabulary's file" {
    attempt vocab "$models"
}

@test "load" {
    attempt load 'ckpt load-report'
}

@test "a file of initial values: the checkpoint's weights come instead" {
    attempt values 'ckpt load-report'
}

@test "a file of what watch sees" {
    attempt watch 'eval|predict|trace'
    [ ! -e canary/seen-1.npz ]
}
@test "a file of learning rates" {
    attempt rates 'summary|bench|resume [^ ]* -o'
}

@test "--trust does all of that" {
    for name in plugin relative; do
        watched "$CELLRUN" summary $name.safetensors --trust
        [ -e canary/plugin-ran ]
    done
    watched "$CELLRUN" summary base.safetensors --trust
    [ "$status" -eq 0 ]
    for name in data here; do
        watched "$CELLRUN" eval --ckpt $name.safetensors --trust
        [ "$status" -eq 0 ]
        [[ $output == *accuracy:* ]]
        [ -z "$STRACE" ] || grep -q canary/eval-x.npy calls
    done
    watched "$CELLRUN" predict --ckpt env.safetensors eval-x.npy --trust
    [[ $output == *leaked* ]]
    watched "$CELLRUN" resume command.safetensors -o out --trust train.epochs=2
    [ -e canary/command-ran ]
    watched "$CELLRUN" ckpt load-report load.safetensors --trust
    [ "$status" -eq 0 ]
}

@test "what the command line names is read, and nothing more" {
    watched "$CELLRUN" eval --ckpt here.safetensors \
        'dataset.eval.data=[eval-x.npy, eval-y.npy]'
    [ "$status" -eq 0 ]
    harmless
    printf 'base: c.yaml\n' >data.yaml
    watched "$CELLRUN" eval --ckpt data.safetensors --data data.yaml
    [ "$status" -eq 0 ]
    harmless
    # with data the command is still refused, until it is removed
    set -- resume command.safetensors -q -o out --allow-change train.epochs=2 \
        'dataset.train.data=[train-x.npy, train-y.npy]' \
        'dataset.eval.data=[eval-x.npy, eval-y.npy]'
    watched "$CELLRUN" "$@"
    [ "$status" -eq 4 ]
    [[ $output == *"command 'touch canary/command-ran' is not allowed"* ]]
    [[ $output == *"use ~run.exec_on_eval to remove it"* ]]
    harmless
    watched "$CELLRUN" "$@" '~run.exec_on_eval'
    [ "$status" -eq 0 ]
    harmless
    # one of two files is not enough
    watched "$CELLRUN" eval --ckpt data.safetensors \
        'dataset.eval.data.0=eval-x.npy'
    [ "$status" -eq 4 ]
    harmless
    watched "$CELLRUN" summary plugin.safetensors plugin=none.so
    [ "$status" -eq 2 ]
    harmless
    # predict and summary need none of it
    for name in data here load command; do
        watched "$CELLRUN" predict --ckpt $name.safetensors eval-x.npy
        [ "$status" -eq 0 ]
        watched "$CELLRUN" summary $name.safetensors
        [ "$status" -eq 0 ]
        harmless
    done
}

# ---- whose a run directory is

@test "own runs need no flag, wherever they are moved to" {
    run -0 "$CELLRUN" eval --ckpt own
    run -0 "$CELLRUN" eval --ckpt own/ckpt/best.safetensors
    (cd own/ckpt && "$CELLRUN" eval --ckpt last)
    mv own moved
    run -0 "$CELLRUN" eval --ckpt moved
    ln -s moved link
    run -0 "$CELLRUN" eval --ckpt link
    mv moved own
    rm link
    run -0 "$CELLRUN" resume own -q train.epochs=2
    run -0 "$CELLRUN" eval --ckpt own
    run -0 "$CELLRUN" eval --ckpt own/ckpt/c-1_19.safetensors
    run -0 "$CELLRUN" bench own --threads 1
}

@test "a run directory that was copied or unpacked is not the user's own" {
    mkdir there
    cp -a own there/copied
    tar -cf - own | tar -xpf - -C there
    for dir in there/copied there/own; do
        run -4 "$CELLRUN" eval --ckpt $dir
        [[ $output == *"[E0306]"* ]]
        run -4 "$CELLRUN" resume $dir train.epochs=3
        [[ $output == *"no run of yours has made the checkpoint in this run directory"* ]]
        run -0 "$CELLRUN" eval --ckpt $dir --trust
    done
    # so is one of which chmod or touch has changed config.yaml: resume says
    # what may have happened, and --trust makes the directory one's own again
    cp -r there/copied there/c
    "$CELLRUN" resume there/c train.epochs=3 -q --trust
    touch there/c/config.yaml
    run -4 "$CELLRUN" resume there/c train.epochs=4
    [[ $output == *"a run directory is yours until it is copied or unpacked, or chmod or touch changes config.yaml"* ]]
    run -0 "$CELLRUN" resume there/c train.epochs=4 -q --trust
    run -0 "$CELLRUN" eval --ckpt there/c/ckpt/last.safetensors
    # its provenance may be linked to that of a true one
    ln -f own/provenance.json there/own/provenance.json
    run -4 "$CELLRUN" eval --ckpt there/own
    # --trust once, for a run that is continued here
    run -0 "$CELLRUN" resume there/copied train.epochs=3 -q --trust
    run -0 "$CELLRUN" eval --ckpt there/copied
}

@test "a checkpoint that was put into an own run directory is a stranger's" {
    "$CELLRUN" train c.yaml -q -o mine train.epochs=1 >/dev/null
    cp here.safetensors mine/ckpt/other.safetensors
    run -4 "$CELLRUN" eval --ckpt mine/ckpt/other.safetensors
    run -0 "$CELLRUN" eval --ckpt mine
    # one that resumes there without trust leaves nothing that is trusted
    run -4 "$CELLRUN" resume mine/ckpt/other.safetensors train.epochs=2
    run -0 "$CELLRUN" resume data.safetensors -o fresh -q --allow-change \
        train.epochs=2 'dataset.train.data=[train-x.npy, train-y.npy]' \
        'dataset.eval.data=[eval-x.npy, eval-y.npy]'
    [ ! -e fresh/provenance.json ]
}

@test "a provenance that others may write to counts for nothing" {
    "$CELLRUN" train c.yaml -q -o shared train.epochs=1 >/dev/null
    run -0 "$CELLRUN" eval --ckpt shared
    chmod g+w shared/provenance.json
    run -4 "$CELLRUN" eval --ckpt shared
    chmod g-w,o+w shared/provenance.json
    run -4 "$CELLRUN" eval --ckpt shared
    chmod o-w shared/provenance.json
    run -0 "$CELLRUN" eval --ckpt shared
    # a umask that lets a group write is no hindrance
    (umask 002 && "$CELLRUN" train c.yaml -q -o group train.epochs=1 >/dev/null)
    run -0 "$CELLRUN" eval --ckpt group
    # another config.yaml is another run's
    cp -p group/config.yaml group/new && mv group/new group/config.yaml
    run -4 "$CELLRUN" eval --ckpt group
}
