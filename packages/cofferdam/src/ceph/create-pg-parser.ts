import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { type Observed, unknown } from '../shared/observed.ts'
import { largeAnswer, sizeOf } from './answer-size.ts'
import { type OsdDumpParser, parseOsdDumpHere, rememberOsdDumps } from './osd-dump-parser.ts'
import { type PgParser, parsePgHere, parsePgTable } from './pg-parser.ts'

/** What is copied to the thread at a time: a large text at once would itself hold the loop up. */
const partLength = 4 * 1024 * 1024
/** How many chunks are handed to the thread at a time. */
const partChunks = 64

export interface CephParsers {
  readonly parse: PgParser
  readonly parseOsdDump: OsdDumpParser
  close(): Promise<void>
}

/**
 * Parses large answers in a thread of their own, and large tables with pauses, so that the loop stays free for leases and webhooks.
 *
 * Guarantees: a result for every answer, whatever becomes of the thread; one thread at a time, since what an answer takes while it is
 * parsed is many times its size; `close` ends the thread that still runs.
 */
export function createPgParser(
  options: {
    /** The bundled worker; from the sources, where there is none, everything is parsed in this thread. */
    readonly workerFile?: URL
  } = {},
): CephParsers {
  const { workerFile = new URL('./pg-parse-worker.js', import.meta.url) } = options
  const hasWorker = existsSync(workerFile)
  const running = new Set<Worker>()
  const parseLargeDump = rememberOsdDumps((printed) => parseInTurn('osds', printed))
  let lastTurn: Promise<unknown> = Promise.resolve()
  let isClosed = false

  function parseInTurn<T>(kind: 'pgs' | 'osds', printed: string | readonly Uint8Array[]): Promise<Observed<T>> {
    const turn = lastTurn.then(() =>
      isClosed ? unknown('what Ceph printed is not parsed any more') : parseInThread<T>(kind, printed),
    )
    lastTurn = turn.catch(() => undefined)
    return turn
  }

  async function parseInThread<T>(kind: 'pgs' | 'osds', printed: string | readonly Uint8Array[]): Promise<Observed<T>> {
    const worker = new Worker(workerFile, { workerData: { kind } })
    running.add(worker)
    const answer = new Promise<Observed<T>>((resolve) => {
      const fail = (why: string) => resolve(unknown(`what Ceph printed could not be parsed: ${why}`))
      worker.once('message', (value: Observed<T>) => resolve(value))
      worker.once('error', (error: Error) => fail(error.message))
      worker.once('exit', () => {
        running.delete(worker)
        fail('the thread ended early')
      })
    })
    const step = typeof printed === 'string' ? partLength : partChunks
    for (let start = 0; start < printed.length && running.has(worker); start += step) {
      if (typeof printed === 'string') worker.postMessage(printed.slice(start, start + step))
      else handOver(worker, printed.slice(start, start + step))
      await nextTurn()
    }
    worker.postMessage(null)
    return answer
  }

  /** A thread costs some 30 ms to start; what is not large is parsed in a fraction of that. */
  const isInPlace = (printed: string | readonly Uint8Array[]) =>
    !hasWorker || (typeof printed === 'string' ? printed.length : sizeOf(printed)) < largeAnswer
  return {
    async parse(printed) {
      if (isInPlace(printed)) return parsePgHere(printed)
      const table = typeof printed === 'string' ? undefined : await parsePgTable(printed, nextTurn)
      return table ?? parseInTurn('pgs', printed)
    },
    parseOsdDump: async (printed) => (isInPlace(printed) ? parseOsdDumpHere(printed) : parseLargeDump(printed)),
    async close() {
      isClosed = true
      await Promise.all([...running].map((worker) => worker.terminate()))
    },
  }
}

/** Moves the memory of chunks to the thread. One that shares its memory with others is copied: they would lose theirs. */
function handOver(worker: Worker, chunks: readonly Uint8Array[]): void {
  const own = chunks.map((chunk) => (ownsMemory(chunk) ? chunk : new Uint8Array(chunk)))
  worker.postMessage(
    own,
    own.map(({ buffer }) => buffer as ArrayBuffer),
  )
}

function ownsMemory({ buffer, byteLength }: Uint8Array): boolean {
  return buffer instanceof ArrayBuffer && byteLength === buffer.byteLength
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
