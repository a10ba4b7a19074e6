import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type CephLimits, defaultLimits } from './ceph-access.ts'
import type { CephCommands } from './ceph-commands.ts'
import { cephUnreachable } from './ceph-unreachable.ts'
import { connectArguments } from './cli-commands.ts'
import { buildCommandLine } from './command-line.ts'
import type { ExecInPod, PodPlace } from './exec-in-pod.ts'
import { createLineCutter, watchArguments } from './log-lines.ts'
import { readPrintedAnswer } from './read-printed-answer.ts'

export interface ToolboxOptions {
  readonly exec: ExecInPod
  /** Where a toolbox runs now; undefined while none does. Asked for every command, since pods move. */
  readonly findPod: (signal: AbortSignal) => Promise<PodPlace | undefined>
  readonly clock: Clock
  readonly limits?: Partial<CephLimits>
}

const followSeconds = 3_600
/** What `timeout` ends with. */
const timedOut = 124

/** Asks through the `ceph` program in the toolbox pod. */
export function createToolboxCommands({ exec, findPod, clock, ...options }: ToolboxOptions): CephCommands {
  const limits = { ...defaultLimits, ...options.limits }
  return {
    async followLog({ onOpen, onLine, signal }) {
      const place = await findPod(signal)
      if (place === undefined) throw noToolbox('log')
      const cut = createLineCutter(onLine)
      let hasOpened = false
      const onOut = (chunk: Uint8Array) => {
        if (!hasOpened) onOpen()
        hasOpened = true
        cut(chunk)
      }
      // A program whose stream was cut goes on in the pod until it prints again, so it has an end of its own.
      const argv = [
        'timeout',
        String(followSeconds),
        'ceph',
        ...connectArguments({}, limits.timeoutMs),
        ...watchArguments,
      ]
      try {
        const { code, err } = await exec(place, argv, { signal, maxBytes: limits.maxBytes, onOut })
        if (code !== timedOut) throw cephUnreachable('log', `ceph ended with ${code} ${err}`.trim().slice(0, 200))
      } catch (error) {
        if (!signal.aborted) throw fromKubernetes('log', error)
      }
    },
    async run(command, { timeoutMs = limits.timeoutMs, signal } = {}) {
      const { prefix } = command
      const argv = ['ceph', ...connectArguments({}, timeoutMs), ...buildCommandLine(command)]
      const stopping = new AbortController()
      let ended: string | undefined
      const end = (why: string) => {
        ended ??= why
        stopping.abort()
      }
      const giveUp = () => end('the caller gave up')
      if (signal?.aborted) giveUp()
      signal?.addEventListener('abort', giveUp, { once: true })
      const cancel = clock.after(timeoutMs, () => end(`no answer within ${timeoutMs / 1000} s`))
      try {
        const place = await findPod(stopping.signal)
        if (place === undefined) throw noToolbox(prefix)
        const printed = await exec(place, argv, { signal: stopping.signal, maxBytes: limits.maxBytes })
        return readPrintedAnswer(prefix, printed)
      } catch (error) {
        if (ended !== undefined) throw cephUnreachable(prefix, ended, { cause: error })
        throw fromKubernetes(prefix, error)
      } finally {
        cancel()
        signal?.removeEventListener('abort', giveUp)
      }
    },
  }
}

function noToolbox(prefix: string): CofferdamError {
  return cephUnreachable(prefix, 'no toolbox pod is running', {
    hint: 'deploy the toolbox of Rook (rook-ceph-tools) in the namespace of the cluster',
  })
}

/** To whoever asks Ceph, a Kubernetes that does not let us through is a Ceph that does not answer. */
function fromKubernetes(prefix: string, error: unknown): unknown {
  const isOurs = error instanceof CofferdamError && error.code !== 'CEPH_UNREACHABLE'
  if (!isOurs && !(error instanceof ApiError)) return error
  return cephUnreachable(prefix, `the toolbox pod cannot be used: ${error.message}`, { cause: error })
}
