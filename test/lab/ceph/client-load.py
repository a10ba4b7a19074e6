"""A client of Ceph that writes objects of random content and reads them back, until it gets SIGTERM.

Every object has one thread that writes it, so that its content is known at any time. What was seen goes into the file that
--report names: how many writes and reads succeeded, every failure in words, and the longest time that one operation took.
"""
import argparse
import hashlib
import json
import os
import random
import signal
import sys
import threading
import time

SLOW_SECONDS = 1.0
# Often enough that no stall of interest falls between two; without it the OSDs would take a third of a lab's processor time for the load alone.
REST_SECONDS = 0.1
# An operation that hangs for longer is left behind when the client ends; how long it hung is told.
PATIENCE_SECONDS = 20

stopping = threading.Event()
# Before anything that takes time, so that whoever ends it early still gets a report.
signal.signal(signal.SIGTERM, lambda *_: stopping.set())

import rados  # noqa: E402

lock = threading.Lock()
totals = {"writes": 0, "reads": 0, "faults": [], "longestStallMs": 0.0}
under_way = {}


def say(words):
    print("%s %s" % (time.strftime("%H:%M:%S"), words), flush=True)


def fault(words):
    say("FAULT " + words)
    with lock:
        totals["faults"].append(words)


def timed(what, operation):
    """Runs one operation and remembers how long it took; None when it failed."""
    began = time.monotonic()
    me = threading.get_ident()
    with lock:
        under_way[me] = (began, what)
    try:
        return operation()
    except Exception as problem:
        fault("%s failed after %.1f s: %s: %s" % (what, time.monotonic() - began, type(problem).__name__, problem))
        return None
    finally:
        took = time.monotonic() - began
        with lock:
            del under_way[me]
            totals["longestStallMs"] = max(totals["longestStallMs"], took * 1000)
        if took > SLOW_SECONDS:
            say("%s took %.1f s" % (what, took))


def count(kind):
    with lock:
        totals[kind] += 1


class Writer:
    def __init__(self, pool, ioctx, number, names):
        self.pool = pool
        self.ioctx = ioctx
        self.names = ["load-%d-%d-%d" % (os.getpid(), number, index) for index in range(names)]
        # By object: the checksums that it may have. A write that failed may or may not have come through.
        self.checksums = {}

    def write(self, name):
        content = os.urandom(random.choice((4096, 16384, 65536)))
        checksum = hashlib.sha256(content).hexdigest()
        what = "write of %s/%s" % (self.pool, name)
        done = timed(what, lambda: self.ioctx.write_full(name, content) or True)
        if done is None:
            self.checksums[name] = self.checksums.get(name, []) + [checksum]
            return
        self.checksums[name] = [checksum]
        count("writes")

    def read(self, name):
        what = "read of %s/%s" % (self.pool, name)
        content = timed(what, lambda: self.ioctx.read(name, 1 << 20))
        if content is None:
            return
        if hashlib.sha256(content).hexdigest() not in self.checksums[name]:
            fault("%s/%s has %d bytes that were never written to it" % (self.pool, name, len(content)))
            return
        count("reads")

    def run(self):
        while not stopping.is_set():
            self.write(random.choice(self.names))
            self.read(random.choice(list(self.checksums)))
            stopping.wait(REST_SECONDS)
        for name in list(self.checksums):
            self.read(name)


def connect(options):
    settings = {"keyring": options.keyring, "rados_osd_op_timeout": "60", "rados_mon_op_timeout": "60"}
    cluster = rados.Rados(conffile=options.conf, name=options.name, conf=settings)
    cluster.connect()
    return cluster


def load(options):
    cluster = connect(options)
    pools = options.pool * options.threads
    threads = []
    for number, pool in enumerate(pools):
        writer = Writer(pool, cluster.open_ioctx(pool), number, options.names)
        threads.append(threading.Thread(target=writer.run, daemon=True))
    for thread in threads:
        thread.start()
    say("%d threads write and read in %s" % (len(threads), ", ".join(options.pool)))
    stopping.wait()
    deadline = time.monotonic() + PATIENCE_SECONDS
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))


def report(path):
    with lock:
        now = time.monotonic()
        for began, what in under_way.values():
            say("%s still hangs after %.1f s" % (what, now - began))
            totals["longestStallMs"] = max(totals["longestStallMs"], (now - began) * 1000)
        text = json.dumps(totals)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--conf", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--keyring", required=True)
    parser.add_argument("--report", required=True)
    parser.add_argument("--pool", action="append", required=True)
    parser.add_argument("--threads", type=int, default=2, help="for each pool")
    parser.add_argument("--names", type=int, default=12, help="objects for each thread")
    options = parser.parse_args()
    try:
        load(options)
    except Exception as problem:
        fault("the client failed: %s: %s" % (type(problem).__name__, problem))
    report(options.report)
    sys.stdout.flush()
    # Threads may still wait for Ceph; nobody waits for them any more.
    os._exit(0)


if __name__ == "__main__":
    main()
