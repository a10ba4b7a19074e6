import { type ChildProcess, spawn } from 'node:child_process'

export interface Tools {
  /** Runs a program to its end and returns what it printed. */
  run(command: readonly [string, ...string[]]): Promise<string>
  /** Ends those that still run, and waits for it. */
  killAll(): Promise<void>
}

/** Programs that come to an end by themselves; the kernel ends them when we end first. */
export function createTools(): Tools {
  const running = new Map<ChildProcess, Promise<string>>()

  function run(command: readonly [string, ...string[]]): Promise<string> {
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], { stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = new Promise<string>((resolve, reject) => {
      const out: Buffer[] = []
      const said: Buffer[] = []
      child.stdout.on('data', (chunk: Buffer) => {
        out.push(chunk)
        said.push(chunk)
      })
      child.stderr.on('data', (chunk: Buffer) => said.push(chunk))
      child.once('error', reject)
      child.once('close', (code, signal) => {
        running.delete(child)
        if (code === 0) return resolve(Buffer.concat(out).toString('utf8'))
        const words = Buffer.concat(said).toString('utf8').trim().split('\n').slice(-10).join('\n')
        reject(new Error(`${command.slice(0, 6).join(' ')} ... ended with ${signal ?? code}: ${words}`))
      })
    })
    running.set(child, ended)
    // Whoever waits for it hears of it, and some wait only later.
    ended.catch(() => {})
    return ended
  }

  return {
    run,
    async killAll() {
      const ends = [...running.values()]
      for (const child of running.keys()) child.kill('SIGKILL')
      await Promise.allSettled(ends)
    },
  }
}
