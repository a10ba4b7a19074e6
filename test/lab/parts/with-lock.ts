import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Runs the work while no other process holds the lock.
 *
 * Guarantees: the lock ends with this process, however it ends: it is the kernel's, held by a child that lives as long as
 * its standard input is open.
 */
export async function withLock<T>(file: string, whileWaiting: () => void, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true })
  const holder = spawn('flock', [file, 'sh', '-c', 'echo held; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(holder, 'exit')
  const held = Promise.race([
    once(holder.stdout, 'data'),
    ended.then(() => Promise.reject(new Error(`the lock ${file} cannot be taken`))),
  ])
  try {
    const soon = await Promise.race([held, pause(1_000, 'waiting', { ref: false })])
    if (soon === 'waiting') whileWaiting()
    await held
    return await work()
  } finally {
    holder.stdin.end()
    await ended.catch(() => {})
  }
}
