import { closeSync, openSync, readSync, statSync } from 'node:fs'

const periodMs = 200
const chunkBytes = 64 * 1024

/**
 * Reads a file as it grows, line by line. The returned function reads what is left, half a line too, and ends it.
 *
 * Assumes: the file only grows.
 */
export function followLines(file: string, onLine: (line: string) => void): () => void {
  let at = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  let rest = ''
  const decoder = new TextDecoder()
  const buffer = Buffer.alloc(chunkBytes)

  function read(): void {
    const descriptor = openSync(file, 'r')
    try {
      for (;;) {
        const count = readSync(descriptor, buffer, 0, chunkBytes, at)
        if (count === 0) break
        at += count
        const lines = (rest + decoder.decode(buffer.subarray(0, count), { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (line !== '') onLine(line)
      }
    } finally {
      closeSync(descriptor)
    }
  }

  const timer = setInterval(read, periodMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    read()
    if (rest !== '') onLine(rest)
    rest = ''
  }
}
