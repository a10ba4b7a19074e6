import { spawn } from 'node:child_process'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { createAnswerStream } from './answer-stream.ts'
import type { CephAccess } from './ceph-access.ts'
import { clientMissing } from './ceph-unreachable.ts'

export interface RadosChild {
  /** Resolved when Ceph can be asked; rejected when the child ended before. */
  readonly ready: Promise<void>
  send(request: JsonObject): void
  /** Ends it for a reason, which `onEnd` is called with. */
  end(why: Error): void
}

export interface RadosChildOptions {
  readonly interpreter: string
  readonly program: string
  readonly access: CephAccess
  /** After how long librados itself gives up. */
  readonly operationSeconds: number
  readonly maxBytes: number
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly onAnswer: (header: JsonObject, body: readonly Uint8Array[]) => void
  /** Once, when it is gone or can no longer be understood. */
  readonly onEnd: (why: Error) => void
}

/** One run of the program that keeps the connection to Ceph. */
export function startRadosChild(options: RadosChildOptions): RadosChild {
  const { interpreter } = options
  const child = spawn(interpreter, childArguments(options), {
    env: options.environment as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  })
  let hasEnded = false
  let isReady = false
  let complaint = ''
  let settle: { resolve: () => void; reject: (error: Error) => void } | undefined
  const ready = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject }
  })
  // Whoever waits hears of it; when nobody does, `onEnd` was called.
  ready.catch(() => {})

  function end(why: Error): void {
    if (hasEnded) return
    hasEnded = true
    child.kill('SIGKILL')
    settle?.reject(why)
    options.onEnd(why)
  }

  function hear(header: JsonObject, body: readonly Uint8Array[]): void {
    if (hasEnded) return
    if (header['ready'] === true) {
      isReady = true
      settle?.resolve()
    } else if (header['failed'] === 'module') end(moduleMissing(interpreter))
    else if (header['failed'] !== undefined) end(new Error(`no connection: ${JSON.stringify(header['why'])}`))
    else options.onAnswer(header, body)
  }

  child.stdout.on(
    'data',
    createAnswerStream({
      maxBytes: options.maxBytes,
      onAnswer: hear,
      onFault: (why) => end(new Error(`the connection to Ceph cannot be understood: ${why}`)),
    }),
  )
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString('utf8')}`.slice(-500)
  })
  // Writing to a child that just died fails here and at `exit`; the latter says more.
  child.stdin.on('error', () => {})
  child.once('error', (error: NodeJS.ErrnoException) => {
    end(error.code === 'ENOENT' ? interpreterMissing(interpreter) : new Error(`${interpreter}: ${error.message}`))
  })
  child.once('close', (code, signal) => {
    const words = complaint.trim() === '' ? '' : `: ${complaint.trim().split('\n').at(-1)}`
    end(
      new Error(`the connection to Ceph ended with ${code ?? signal}${isReady ? '' : ' before it was ready'}${words}`),
    )
  })
  return {
    ready,
    send(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`)
    },
    end,
  }
}

/** librados takes no time limit with a command, only one for all of them, and waits for ever without. */
function childArguments({ program, access, operationSeconds }: RadosChildOptions): string[] {
  const { conf, name } = access
  const settings = {
    mon_host: access.monHost,
    keyring: access.keyring,
    keyfile: access.keyFile,
    client_mount_timeout: operationSeconds,
    rados_mon_op_timeout: operationSeconds,
  }
  return [
    program,
    ...(conf === undefined ? [] : ['--conf', conf]),
    ...(name === undefined ? [] : ['--name', name]),
    ...Object.entries(settings).flatMap(([option, value]) =>
      value === undefined ? [] : ['--set', `${option}=${value}`],
    ),
  ]
}

const hint = 'install python3-rados for the Python of the system, or let the ceph command line be used'

function moduleMissing(interpreter: string): Error {
  return clientMissing('python3-rados', `${interpreter} has no module rados`, hint)
}

function interpreterMissing(interpreter: string): Error {
  return clientMissing('python3-rados', `${interpreter} is not installed`, hint)
}
