#!/bin/bash
# Includes follow the arrows: commands -> predict -> model -> train, ckpt -> net, data -> math, conf
# -> base. Leaves include no leaf, outside libraries are met in one file.
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

# The folders that the sources in a folder may include from.
result 'includes follow the layers' < <(includes | awk '
    BEGIN {
        may["base"] = "base"
        may["conf"] = "base conf"
        may["math"] = "base conf math"
        may["net"] = "base conf math data net cellrun.h"
        may["plan"] = "base conf math net plan"
        may["run"] = "base conf math net plan run"
        may["data"] = "base conf math data"
        may["ckpt"] = "base conf math net data ckpt"
        may["tensorboard"] = "base conf net ckpt tensorboard"
        may["train"] = \
            "base conf math net data ckpt tensorboard rundir train"
        may["chart"] = "base chart"
        may["rundir"] = "base conf math ckpt rundir"
        may["model"] = "base conf math net data ckpt train model"
        may["starter"] = "base conf math data starter"
        may["report"] = \
            "base conf math net data ckpt train model chart rundir report"
        may["predict"] = "base conf math net data ckpt train model predict"
        may["export"] = "base conf math net data ckpt train model export"
        may["sweep"] = "base conf math data net ckpt rundir train sweep"
        may["ckpts"] = "base conf math net data ckpt train model ckpts"
        may["runs"] = "base conf math ckpt rundir train runs"
        may["commands"] = \
            "base conf math net data ckpt train model predict starter " \
            "chart ckpts rundir report runs sweep export"
        may["ops"] = may["cells"] = may["losses"] = may["inits"] = \
            "base conf math net"
        may["optims"] = may["schedules"] = may["metrics"] = may["scalers"] = \
            "base conf math net train"
        may["transforms"] = may["datasets"] = may["formats"] = \
            may["tokenizers"] = "base conf math data"
    }
    {
        split($3, part, "/")
        if (index(" " may[$1] " ", " " part[1] " ") == 0)
            print "src/" $2 " includes " $3
    }')

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
