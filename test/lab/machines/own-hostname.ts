import { spawnSync } from 'node:child_process'

type Command = readonly [string, ...string[]]

const apart: Command = ['unshare', '--uts']
let mayUnshare: boolean | undefined

/** The command in a namespace of its own where the machine is called by this name, as in a pod; unchanged where that may not be done. */
export function withOwnHostname(name: string, command: Command): Command {
  mayUnshare ??= spawnSync(apart[0], [...apart.slice(1), 'true']).status === 0
  if (!mayUnshare) return command
  return [...apart, 'sh', '-c', 'printf %s "$0" > /proc/sys/kernel/hostname; exec "$@"', name, ...command]
}
