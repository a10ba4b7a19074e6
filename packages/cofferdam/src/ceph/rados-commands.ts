import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import { backoffDelayMs } from '@cofferdam/kubernetes/runtime/backoff.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { answerOfBytes } from './answer-of-bytes.ts'
import { type CephAccess, type CephLimits, defaultLimits } from './ceph-access.ts'
import type { CephAnswer, CephCommand, CephCommands, LogFollow } from './ceph-commands.ts'
import { cephUnreachable, isClientMissing } from './ceph-unreachable.ts'
import { type RadosChild, startRadosChild } from './rados-child.ts'
import { createRadosLog } from './rados-log.ts'

export interface RadosOptions {
  readonly clock: Clock
  readonly random: Random
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly access?: CephAccess
  readonly limits?: Partial<CephLimits>
  /** The Python of the distribution: its packages install the module `rados` for no other. */
  readonly interpreter?: string
  readonly program?: string
}

const restartPolicy = { firstMs: 500, longestMs: 30_000 }
/** Errno of a client that waited in vain (ETIMEDOUT), or that has no connection (ENOTCONN, ESHUTDOWN). */
const silentCodes: ReadonlySet<number> = new Set([107, 108, 110])

interface Waiting {
  readonly prefix: string
  readonly resolve: (answer: CephAnswer) => void
  readonly reject: (error: Error) => void
}

/**
 * Asks through one long-lived connection: a child that holds librados and takes many commands at a time.
 *
 * Guarantees: every command is answered or rejected within its time. A child that dies rejects what it had under way and
 * is started again by the next command, at longer and longer intervals while it keeps dying.
 */
export function createRadosCommands(options: RadosOptions): Required<CephCommands> & { close(): Promise<void> } {
  const { clock, random, environment, access = {}, interpreter = '/usr/bin/python3' } = options
  const program = options.program ?? fileURLToPath(new URL('./rados-helper.py', import.meta.url))
  const limits = { ...defaultLimits, ...options.limits }
  const waiting = new Map<number, Waiting>()
  let child: RadosChild | undefined
  let lastId = 0
  let failures = 0
  let rest: { readonly sinceMs: number; readonly forMs: number; readonly why: Error } | undefined
  let isClosed = false
  /** How many answers have come, to whatever. */
  let heard = 0
  const log = createRadosLog()

  function start(): RadosChild {
    const started = startRadosChild({
      interpreter,
      program,
      access,
      environment,
      // A second less than we wait, so that a silent Ceph can be distinguished from a connection that is stuck.
      operationSeconds: Math.max(1, Math.floor(limits.timeoutMs / 1000) - 1),
      maxBytes: limits.maxBytes,
      onAnswer: hear,
      onEnd(why) {
        if (child !== started) return
        child = undefined
        failures += 1
        rest = { sinceMs: clock.now(), forMs: backoffDelayMs(failures, restartPolicy, random), why }
        rejectAll(why)
        log.end(cephUnreachable(log.name, why.message))
      },
    })
    return started
  }

  function rejectAll(why: Error): void {
    const all = [...waiting.values()]
    waiting.clear()
    for (const { prefix, reject } of all) reject(asUnreachable(prefix, why))
  }

  function hear(header: JsonObject, body: readonly Uint8Array[]): void {
    failures = 0
    if (log.hear(header)) return
    heard += 1
    const id = header['id']
    const request = typeof id === 'number' ? waiting.get(id) : undefined
    if (request === undefined) return
    waiting.delete(id as number)
    const answer = readAnswer(request.prefix, header, body)
    if (answer instanceof Error) request.reject(answer)
    else request.resolve(answer)
  }

  async function connected(): Promise<RadosChild> {
    if (rest !== undefined && isWithin(clock.now(), rest.sinceMs, rest.forMs)) throw rest.why
    child ??= start()
    const asked = child
    await asked.ready
    return asked
  }

  async function ask(command: CephCommand, id: number): Promise<void> {
    const asked = await connected()
    if (child !== asked || !waiting.has(id)) return
    const { maxBytes } = limits
    asked.send({ id, command: { format: 'json', ...command }, maxBytes })
  }

  return {
    async run(command, { timeoutMs = limits.timeoutMs, signal } = {}) {
      const { prefix } = command
      if (isClosed) throw cephUnreachable(prefix, 'the connection was closed')
      if (signal?.aborted) throw cephUnreachable(prefix, 'the caller gave up', { cause: signal.reason })
      lastId += 1
      const id = lastId
      const forget = (why: string) => {
        const request = waiting.get(id)
        waiting.delete(id)
        request?.reject(cephUnreachable(prefix, why))
      }
      const giveUp = () => forget('the caller gave up')
      const heardBefore = heard
      const cancel = clock.after(timeoutMs, () => {
        forget(`no answer within ${timeoutMs / 1000} s`)
        if (timeoutMs >= limits.timeoutMs && heard === heardBefore)
          child?.end(new Error('the connection to Ceph is stuck'))
      })
      signal?.addEventListener('abort', giveUp, { once: true })
      try {
        return await new Promise<CephAnswer>((resolve, reject) => {
          waiting.set(id, { prefix, resolve, reject })
          ask(command, id).catch((error: Error) => reject(asUnreachable(prefix, error)))
        })
      } finally {
        waiting.delete(id)
        cancel()
        signal?.removeEventListener('abort', giveUp)
      }
    },
    async followLog(follow: LogFollow) {
      if (isClosed) throw cephUnreachable(log.name, 'the connection was closed')
      const asked = await connected().catch((error: Error) => {
        throw asUnreachable(log.name, error)
      })
      if (child !== asked) throw cephUnreachable(log.name, 'the connection ended')
      lastId += 1
      return log.follow(asked, lastId, follow)
    },
    close() {
      isClosed = true
      const last = child
      child = undefined
      const why = new Error('the connection was closed')
      last?.end(why)
      rejectAll(why)
      log.end(cephUnreachable(log.name, why.message))
      return Promise.resolve()
    },
  }
}

function readAnswer(prefix: string, header: JsonObject, bytes: readonly Uint8Array[]): CephAnswer | Error {
  const { rc, err, tooLarge, problem } = header
  if (typeof tooLarge === 'number') return cephUnreachable(prefix, `the answer is too large (${tooLarge} bytes)`)
  if (typeof rc !== 'number') return cephUnreachable(prefix, `the client failed: ${JSON.stringify(problem)}`)
  const code = Math.abs(rc)
  const words = typeof err === 'string' ? err : ''
  if (silentCodes.has(code)) return cephUnreachable(prefix, `the client gave up (errno ${code}) ${words}`.trim())
  return answerOfBytes({ code, err: words, bytes })
}

function asUnreachable(prefix: string, error: Error): Error {
  return isClientMissing(error) ? error : cephUnreachable(prefix, error.message, { cause: error })
}
