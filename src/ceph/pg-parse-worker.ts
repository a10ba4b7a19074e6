import { parentPort, workerData } from 'node:worker_threads'
import { parseOsdDumpText } from './parse-osd-dump.ts'
import { parsePgText } from './pg-parser.ts'

// One text in parts, one answer, then the thread ends and its memory with it. Columns are handed over, not copied.
const { kind } = workerData as { readonly kind: 'pgs' | 'osds' }
const parts: string[] = []

parentPort?.on('message', (part: string | null) => {
  if (part !== null) {
    parts.push(part)
    return
  }
  const answer = (kind === 'pgs' ? parsePgText : parseOsdDumpText)(parts.join(''))
  const columns = answer.known ? Object.values(answer.value).filter((column) => ArrayBuffer.isView(column)) : []
  parentPort?.postMessage(
    answer,
    columns.map(({ buffer }) => buffer as ArrayBuffer),
  )
  parentPort?.close()
})
