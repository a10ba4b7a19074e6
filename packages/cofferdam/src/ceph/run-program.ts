import { spawn } from 'node:child_process'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { answerOfBytes } from './answer-of-bytes.ts'
import type { CephAnswer } from './ceph-commands.ts'
import { cephUnreachable, clientMissing } from './ceph-unreachable.ts'

export interface ProgramRun {
  readonly program: string
  readonly args: readonly string[]
  /** For messages: the command that is asked. */
  readonly prefix: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly timeoutMs: number
  /** Limit for standard output and standard error together. */
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
}

/** Runs a program without a shell and without input, and kills it when it takes too long or prints too much. */
export function runProgram(run: ProgramRun): Promise<CephAnswer> {
  const { program, prefix, clock, timeoutMs, maxBytes, signal } = run
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(cephUnreachable(prefix, 'the caller gave up', { cause: signal.reason }))
    const child = spawn(program, [...run.args], {
      env: run.environment as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    let bytes = 0
    let ended: Error | undefined
    const end = (why: string) => {
      ended ??= cephUnreachable(prefix, why)
      child.kill('SIGKILL')
    }
    const giveUp = () => end('the caller gave up')
    const cancel = clock.after(timeoutMs, () => end(`no answer within ${timeoutMs / 1000} s`))
    signal?.addEventListener('abort', giveUp, { once: true })
    const collect = (chunks: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) return end(`the answer is larger than ${maxBytes} bytes`)
      chunks.push(chunk)
    }
    const finish = () => {
      cancel()
      signal?.removeEventListener('abort', giveUp)
    }
    child.stdout.on('data', collect(out))
    child.stderr.on('data', collect(err))
    child.once('error', (error: NodeJS.ErrnoException) => {
      finish()
      reject(missing(program, error))
    })
    child.once('close', (code, killedBy) => {
      finish()
      if (ended !== undefined) return reject(ended)
      if (code === null) return reject(cephUnreachable(prefix, `${program} was ended by ${killedBy}`))
      resolve(answerOfBytes({ code, err: Buffer.concat(err).toString('utf8'), bytes: out }))
    })
  })
}

function missing(program: string, error: NodeJS.ErrnoException): Error {
  const why = error.code === 'ENOENT' ? 'is not installed' : `cannot be started (${error.code})`
  return clientMissing(program, `${program} ${why}`, 'install ceph-common, or talk to Ceph through the toolbox pod')
}
