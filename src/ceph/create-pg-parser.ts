import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { type Observed, unknown } from '../domain/observed.ts'
import type { PgTable } from '../domain/safety/ceph-map.ts'
import { type PgParser, parsePgText } from './pg-parser.ts'

/** A thread costs some 30 ms to start; texts below this are parsed in a fraction of that. */
const smallText = 256 * 1024

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
): { readonly parse: PgParser; close(): Promise<void> } {
  const { workerFile = new URL('./pg-parse-worker.js', import.meta.url) } = options
  const hasWorker = existsSync(workerFile)
  const running = new Set<Worker>()

  function parseInThread(text: string): Promise<Observed<PgTable>> {
    return new Promise((resolve) => {
      const worker = new Worker(workerFile, { workerData: { text } })
      running.add(worker)
      worker.once('message', (table: Observed<PgTable>) => resolve(table))
      worker.once('error', (error: Error) => resolve(unknown(`pg dump could not be parsed: ${error.message}`)))
      worker.once('exit', () => {
        running.delete(worker)
        resolve(unknown('pg dump could not be parsed: its thread ended early'))
      })
    })
  }

  return {
    parse: (text) => (hasWorker && text.length >= smallText ? parseInThread(text) : Promise.resolve(parsePgText(text))),
    async close() {
      await Promise.all([...running].map((worker) => worker.terminate()))
    },
  }
}
