import { readdir, readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import type { Daemon } from './daemon.ts'

/** Stops a process, and waits until each of its threads stands: on a busy machine one may run on for a while after the signal. */
export async function standStill(daemon: Pick<Daemon, 'pid' | 'signal'>): Promise<void> {
  daemon.signal('SIGSTOP')
  const tasks = `/proc/${daemon.pid}/task`
  const stateOf = async (task: string) => {
    const text = await readFile(`${tasks}/${task}/stat`, 'utf8').catch(() => '')
    // The name in parentheses may hold anything.
    return text.slice(text.lastIndexOf(')') + 2)[0]
  }
  for (;;) {
    const states = await Promise.all((await readdir(tasks)).map(stateOf))
    if (states.every((state) => state === 'T' || state === undefined)) return
    await setTimeout(5)
  }
}
