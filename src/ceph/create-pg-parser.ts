import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { type Observed, unknown } from '../domain/observed.ts'
import { type OsdDump, parseOsdDumpText } from './parse-osd-dump.ts'
import { type PgParser, parsePgText } from './pg-parser.ts'

/** A thread costs some 30 ms to start; texts below this are parsed in a fraction of that. */
const smallText = 256 * 1024
/** What is copied to the thread at a time: a large text at once would itself hold the loop up. */
const partLength = 4 * 1024 * 1024

export interface CephParsers {
  readonly parse: PgParser
  readonly parseOsdDump: (text: string) => Promise<Observed<OsdDump>>
  close(): Promise<void>
}

/**
 * Parses large texts in a thread of their own, so that the loop stays free for leases and webhooks.
 *
 * Guarantees: an answer for every text, whatever becomes of the thread; `close` ends the threads that still run.
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

  async function parseInThread<T>(kind: 'pgs' | 'osds', text: string): Promise<Observed<T>> {
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
    for (let start = 0; start < text.length && running.has(worker); start += partLength) {
      worker.postMessage(text.slice(start, start + partLength))
      await nextTurn()
    }
    worker.postMessage(null)
    return answer
  }

  const isInPlace = (text: string) => !hasWorker || text.length < smallText
  return {
    parse: async (text) => (isInPlace(text) ? parsePgText(text) : parseInThread('pgs', text)),
    parseOsdDump: async (text) => (isInPlace(text) ? parseOsdDumpText(text) : parseInThread('osds', text)),
    async close() {
      await Promise.all([...running].map((worker) => worker.terminate()))
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
