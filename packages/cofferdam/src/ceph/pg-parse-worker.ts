import { parentPort, workerData } from 'node:worker_threads'
import { textOfBytes } from './answer-of-bytes.ts'
import { parseOsdDumpText } from './parse-osd-dump.ts'
import { parsePgBytes, parsePgText } from './pg-parser.ts'

// One answer of Ceph in parts, one of ours, then the thread ends and its memory with it. Columns are handed over, not copied.
const { kind } = workerData as { readonly kind: 'pgs' | 'osds' }
const texts: string[] = []
const chunks: Uint8Array[] = []

parentPort?.on('message', (part: string | readonly Uint8Array[] | null) => {
  if (typeof part === 'string') texts.push(part)
  else if (part !== null) chunks.push(...part)
  else finish()
})

function finish(): void {
  const answer = parse()
  const columns = answer.known ? Object.values(answer.value).filter((column) => ArrayBuffer.isView(column)) : []
  parentPort?.postMessage(
    answer,
    columns.map(({ buffer }) => buffer as ArrayBuffer),
  )
  parentPort?.close()
}

function parse() {
  if (kind === 'osds') return parseOsdDumpText(chunks.length > 0 ? textOfBytes(chunks) : texts.join(''))
  return chunks.length > 0 ? parsePgBytes(chunks) : parsePgText(texts.join(''))
}
