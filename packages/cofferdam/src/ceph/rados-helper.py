"""Keeps one connection to Ceph open and answers commands from standard input, several at a time.

Request, one line of JSON:  {"id": 1, "command": {"prefix": "status", "format": "json"}, "maxBytes": 1000000}
Answer, one line of JSON:   {"id": 1, "rc": 0, "err": "", "outBytes": 512}, followed by exactly outBytes bytes
Too large to be sent:       {"id": 1, "tooLarge": 2000000}
To follow the cluster log:  {"id": 2, "followLog": "info"}, answered {"id": 2, "follows": true}, then {"log": "..."} for each line
First line of all:          {"ready": true} or {"failed": "module" or "connect", "why": "..."}

Raw bytes follow the line because a large answer, quoted inside JSON, would have to be parsed twice.
Ends when standard input does, so that it never outlives the program that started it.
"""
import argparse
import json
import os
import sys
import threading

output_lock = threading.Lock()


def write(message, body=b""):
    line = json.dumps(message).encode("utf-8") + b"\n"
    with output_lock:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()


def connect(options):
    import rados

    default = getattr(rados.Rados, "DEFAULT_CONF_FILES", "")
    settings = dict(setting.split("=", 1) for setting in options.set)
    cluster = rados.Rados(conffile=options.conf or default, name=options.name, conf=settings)
    cluster.connect()
    return cluster


def answer(cluster, request):
    try:
        command = json.dumps(request["command"])
        rc, out, err = cluster.mon_command(command, b"")
    except Exception as problem:  # A thread that dies in silence would leave its caller waiting.
        write({"id": request["id"], "problem": "%s: %s" % (type(problem).__name__, problem)})
        return
    if len(out) > request["maxBytes"]:
        write({"id": request["id"], "tooLarge": len(out)})
    else:
        write({"id": request["id"], "rc": rc, "err": err or "", "outBytes": len(out)}, out)


def text_of(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def on_log(arg, line, channel, name, who, sec, nsec, seq, level, message):
    if text_of(channel) == "cluster":
        write({"log": text_of(message)[:1000]})


def follow_log(cluster, request):
    try:
        cluster.monitor_log2(request["followLog"], on_log, 0)
    except Exception as problem:
        write({"id": request["id"], "problem": "%s: %s" % (type(problem).__name__, problem)})
        return
    write({"id": request["id"], "follows": True})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--conf")
    parser.add_argument("--name", default="client.admin")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    options = parser.parse_args()
    try:
        cluster = connect(options)
    except ImportError as problem:
        write({"failed": "module", "why": str(problem)})
        return 3
    except Exception as problem:
        write({"failed": "connect", "why": "%s: %s" % (type(problem).__name__, problem)})
        return 4
    write({"ready": True})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        serve = follow_log if "followLog" in request else answer
        threading.Thread(target=serve, args=(cluster, request), daemon=True).start()
    return 0


if __name__ == "__main__":
    code = main()
    # Threads may still wait for Ceph; nobody waits for them any more.
    sys.stdout.flush()
    os._exit(code)
