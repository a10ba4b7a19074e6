import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, createGzip, gzipSync } from 'node:zlib'

/** Whether the reader takes gzip. */
export function takesGzip({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
}

/** Smaller answers than this are not worth it. */
const least = 1_024
const kept = new WeakMap<Buffer, Buffer>()

/** The body compressed; what is served again and again is compressed once. */
export function compressed(body: Buffer): Buffer | undefined {
  if (body.length < least) return undefined
  const known = kept.get(body) ?? gzipSync(body, { level: 6 })
  kept.set(body, known)
  return known
}

/** Where a stream is written to; compressed, each message is flushed, so that it arrives at once. */
export interface MessageSink {
  write(text: string): void
  /** What has been written and not been read. */
  unreadBytes(): number
  end(): void
}

export function openSink(response: ServerResponse, isCompressed: boolean): MessageSink {
  if (!isCompressed) {
    return {
      write: (text) => void response.write(text),
      unreadBytes: () => response.writableLength,
      end: () => void response.end(),
    }
  }
  const gzip = createGzip({ level: 6, flush: constants.Z_SYNC_FLUSH })
  gzip.pipe(response)
  response.on('close', () => gzip.destroy())
  return {
    write: (text) => void gzip.write(text),
    unreadBytes: () => response.writableLength + gzip.writableLength + gzip.readableLength,
    end: () => void gzip.end(),
  }
}
