# Runs a command on a machine of its own: sh own-machine.sh PROGRAM ARGUMENT...
# Processes, mounts and the network are in new namespaces, and gone with this process, however it ends. What is written under /run and /var is kept in memory.
set -eu
if [ "$1" != --inside ]; then
  # The number of the process that stays outside: it owns the cgroups, which no namespace takes away.
  export COFFERDAM_LAB_OWNER=$$
  exec unshare --net --mount --pid --fork --kill-child --mount-proc --propagation private sh "$0" --inside "$@"
fi
shift
mount -t tmpfs -o mode=1777 none /dev/shm
for folder in run var; do
  mkdir -p "/dev/shm/machine/$folder/written" "/dev/shm/machine/$folder/work"
  mount -t overlay -o "lowerdir=/$folder,upperdir=/dev/shm/machine/$folder/written,workdir=/dev/shm/machine/$folder/work" overlay "/$folder"
done
ip link set lo up
# This shell stays, as the first process: it waits for those that lost their parents.
"$@"
