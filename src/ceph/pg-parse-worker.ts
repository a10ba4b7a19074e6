import { parentPort, workerData } from 'node:worker_threads'
import { parsePgText } from './pg-parser.ts'

// One text, one answer, then the thread ends and its memory with it. The columns are handed over, not copied.
const table = parsePgText((workerData as { readonly text: string }).text)
const columns = table.known ? Object.values(table.value).filter((column) => ArrayBuffer.isView(column)) : []
parentPort?.postMessage(
  table,
  columns.map(({ buffer }) => buffer as ArrayBuffer),
)
