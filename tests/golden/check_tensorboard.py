"""Compares the event files of a run with its records, by TensorBoard's reader.

    python check_tensorboard.py RUN...        (pip install tensorboard)

Reads all event files of a run directory with TensorBoard's EventAccumulator,
and checks that every number of metrics.jsonl is a point of its curve, with its
step and its value as a float32 (rates are missing under
SOURCE_DATE_EPOCH), and that there are no other points; and that config,
network, settings, histograms and texts are there. Prints a line for each tag. Not part of `make check`.
"""
import json
import math
import os
import struct
import sys

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.util import tensor_util

PLACES = {"t", "step", "epoch", "samples", "batch", "split", "in", "at", "what",
          "low", "high"}


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def records(run):
    """The expected scalars, histograms and texts, as lists of (step, value)."""
    scalars, histograms, texts = {}, {}, []
    with open(os.path.join(run, "metrics.jsonl")) as lines:
        for line in lines:
            r = json.loads(line)
            prefix = r["split"]
            if prefix == "sample":
                texts.append((r["step"], r["text"]))
                continue
            if prefix == "watch":
                kind = "-" + r["in"] if "in" in r else ""
                prefix = f"watch{kind}/{r['at']}/{r['what']}"
                if "bins" in r:
                    histograms.setdefault(prefix, []).append(
                        (r["step"], r["low"], r["high"], r["bins"]))
            for name, value in r.items():
                if name in PLACES or isinstance(value, (str, list, dict)):
                    continue
                scalars.setdefault(f"{prefix}/{name}", []).append(
                    (r["step"], math.nan if value is None else float32(value)))
    return scalars, histograms, texts


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def check(run):
    bad = 0

    def say(ok, text):
        nonlocal bad
        bad += not ok
        print("ok" if ok else "NOT OK", "-", text)

    reader = event_accumulator.EventAccumulator(
        run, size_guidance={event_accumulator.SCALARS: 0,
                            event_accumulator.TENSORS: 0})
    reader.Reload()
    tags = reader.Tags()
    scalars, histograms, texts = records(run)
    if "train/samples_per_s" not in tags["scalars"]:  # SOURCE_DATE_EPOCH
        scalars.pop("train/samples_per_s", None)
    say(sorted(tags["scalars"]) == sorted(scalars),
        f"{len(scalars)} tags of scalars: " + " ".join(sorted(scalars)))
    for tag, want in sorted(scalars.items()):
        got = [(e.step, e.value) for e in reader.Scalars(tag)]
        say(len(got) == len(want) and
            all(g[0] == w[0] and same(g[1], w[1]) for g, w in zip(got, want)),
            f"{tag}: {len(want)} points")
    tensors = {tag: [(e.step, tensor_util.make_ndarray(e.tensor_proto))
                     for e in reader.Tensors(tag)] for tag in tags["tensors"]}
    for tag, want in sorted(histograms.items()):
        got = tensors[tag]
        say(len(got) == len(want) and all(
            g[0] == w[0] and list(g[1][:, 2]) == w[3] and
            g[1][0, 0] == w[1] and g[1][-1, 1] == w[2]
            for g, w in zip(got, want)), f"{tag}: {len(want)} histograms")
    if texts:
        got = [(step, "\n".join(line[4:] for line in
                                a[0].decode().removesuffix("\n").split("\n")))
               for step, a in tensors["sample/text_summary"]]
        say(got == [(s, t.removesuffix("\n")) for s, t in texts],
            f"sample: {len(texts)} texts")
    say("config/text_summary" in tensors, "the config is a text")
    graph = reader.Graph()
    names = {node.name for node in graph.node}
    say(names and all(i in names for n in graph.node for i in n.input),
        f"graph: {len(names)} nodes, all inputs exist")
    plugins = reader.PluginTagToContent("hparams")
    start = plugin_data_pb2.HParamsPluginData.FromString(
        plugins["_hparams_/session_start_info"]).session_start_info.hparams
    say(len(start) > 0, f"settings: {len(start)}")
    end = plugin_data_pb2.HParamsPluginData.FromString(
        plugins["_hparams_/session_end_info"]).session_end_info
    say(end.status > 0, f"end of the session: status {end.status}")
    for tag in tensors:
        if reader.SummaryMetadata(tag).plugin_data.plugin_name != "images":
            continue
        for step, images in tensors[tag]:
            say(all(i.startswith(b"\x89PNG") for i in images[2:]),
                f"{tag}: {len(images) - 2} pictures at step {step}")
    return bad


if __name__ == "__main__":
    sys.exit(1 if sum(check(run) for run in sys.argv[1:]) else 0)
