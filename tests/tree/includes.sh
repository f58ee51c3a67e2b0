#!/bin/bash
# A room (a directory of src) includes from the rooms that the head of its
# header ROOM/ROOM.h names, and rooms form no circle. Leaves include no leaf;
# outside libraries are met in one file.
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"

# Lines "FOLDER FILE INCLUDED": what each source includes of cellrun.
includes() {
    grep -Hn '^#include "' src/*.[ch] src/*/*.[ch] |
        sed 's|^src/||; s|:[0-9]*:#include "| |; s|"$||' |
        while read -r file header; do
            case $file in */*) echo "${file%%/*} $file $header" ;; esac
        done
}

# Lines "ROOM OTHER": what the head of each room's header allows, and leaves.
allowed() {
    for room in src/*/; do
        room=$(basename "$room")
        [ -e "src/$room/$room.h" ] || continue
        sed -n '/^ \* Includes:/,/\*\//p' "src/$room/$room.h" |
            tr -d '*/.' | sed 's/cellrunh/cellrun.h/; s/Includes://' |
            tr ' ' '\n' | sed "/^$/d; s/^/$room /"
    done
    for leaf in ops cells losses inits; do
        printf "$leaf %s\n" base conf num graph families kernels build
    done
    for leaf in optims schedules scalers; do
        printf "$leaf %s\n" base conf num graph train
    done
    printf 'metrics %s\n' base conf num graph score
    for leaf in transforms datasets formats tokenizers; do
        printf "$leaf %s\n" base conf num kernels data
    done
}

used() {
    includes | sed 's|^\([^ ]*\) [^ ]* \(.*\)|\1 \2|; s|/.*||' |
        awk '$1 != $2' | sort -u
}

result 'every room has a header that says what it is' < <(
    for room in src/*/; do
        ls "$room"*.h >/dev/null 2>&1 || continue
        room=$(basename "$room")
        grep -q '^ \* Includes: ' "src/$room/$room.h" 2>/dev/null ||
            echo "src/$room/$room.h"
    done)
# heads PATTERN: the rooms without it in the head of their header
heads() {
    for header in src/*/*.h; do
        room=$(basename "$header" .h)
        [ "$header" = "src/$room/$room.h" ] || continue
        sed '/\*\//q' "$header" | tr -d '\n*' | tr -s ' ' |
            grep -qE "$1" || echo "$header"
    done
}
result 'each says who calls the room' < <(heads '(Called|Used) (by|when|through) ')
result 'each says what the room knows nothing of' < <(heads 'Knows nothing of ')
result 'rooms include what their headers name' < <(
    comm -13 <(allowed | sort -u) <(used | grep -v '^commands '))
result 'headers of rooms name no room that is not included' < <(
    comm -23 <(allowed | sort -u) <(used | sort -u) |
        grep -Ev '^[a-z]+ none$|^(ops|cells|losses|inits|transforms|metrics) ' |
        grep -Ev '^(optims|schedules|scalers|datasets|formats|tokenizers) ')
result 'rooms form no circle' < <(
    used | grep -v ' none$' | tsort 2>&1 >/dev/null)

# No circle among files: peel off files whose includes are all peeled off.
result 'no header includes itself by a detour' < <(includes | awk '
    { needs[$2] = needs[$2] " " $3; file[$2] = file[$3] = 1 }
    END {
        do {
            changed = 0
            for (f in file) {
                free = 1
                m = split(needs[f], p, " ")
                for (i = 1; i <= m; i++)
                    if (p[i] in file && p[i] != f) free = 0
                if (free) { delete file[f]; changed = 1 }
            }
        } while (changed)
        for (f in file) print f " is in a circle"
    }')

leaves=ops,cells,losses,optims,inits,schedules,scalers,metrics,transforms
leaves=$leaves,datasets,formats,tokenizers,commands
result 'leaves have no headers' < <(eval ls "src/{$leaves}/*.h" 2>/dev/null)

result '<yaml.h> is met in conf/yaml.c and conf/yaml_layout.c' < <(
    grep -l '^#include <yaml.h>' src/*.[ch] src/*/*.[ch] |
        grep -v '^src/conf/yaml\(_layout\)*\.c$')
result '<protobuf-c.h> is met in ckpt/ms_message.c and tensorboard/message.h' < <(
    grep -l '^#include <protobuf-c/' src/*.[ch] src/*/*.[ch] |
        grep -v '^src/ckpt/ms_message\.c$\|^src/tensorboard/message\.h$')
for library in png.h jpeglib.h zlib.h cblas.h jansson.h 'oneapi/dnnl/.*'; do
    result "<$library> is met in one file" < <(
        grep -l "^#include <$library>" src/*.[ch] src/*/*.[ch] | tail -n +2)
done

finish
