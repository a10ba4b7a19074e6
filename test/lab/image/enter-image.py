"""Runs a program in the unpacked root of an image as a kubelet lets a pod run: as its user, with nothing but its environment, and nothing to write to.

    unshare --mount --propagation private python3 enter-image.py ROOT UID KEY=VALUE... -- PROGRAM ARGUMENT...

A file of this machine that an argument names is put at the same place in the root, as volumes with credentials are. The program takes the place of this
process, so that signals reach it, and ends with the process that started it.
"""
import ctypes
import os
import shutil
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
libc = ctypes.CDLL(None, use_errno=True)


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def prctl(option, value):
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def bring(root, path):
    inside = root + path
    os.makedirs(os.path.dirname(inside), exist_ok=True)
    shutil.copyfile(path, inside)
    os.chmod(inside, 0o444)


def main():
    root, uid = sys.argv[1], int(sys.argv[2])
    end = sys.argv.index("--")
    environment = dict(word.split("=", 1) for word in sys.argv[3:end])
    command = sys.argv[end + 1:]
    parent = os.getppid()
    mount("--bind", root, root)
    mount("-o", "remount,bind,ro", root)
    mount("--rbind", "/proc", root + "/proc")
    given = [word for word in command[1:] if os.path.isabs(word) and os.path.isfile(word) and not os.path.exists(root + word)]
    volumes = {"/dev", *("/" + path.split("/")[1] for path in given)}
    for volume in volumes:
        mount("-t", "tmpfs", "-o", "mode=755", "none", root + volume)
    for device in ["/dev/null", "/dev/urandom"]:
        open(root + device, "w").close()
        mount("--bind", device, root + device)
    for path in given:
        bring(root, path)
    for volume in volumes:
        mount("-o", "remount,ro", root + volume)
    os.chroot(root)
    os.chdir("/")
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    # Whoever changes its user loses the signal that was asked for before.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)
    os.execve(command[0], command, environment)


main()
