import { createHash } from 'node:crypto'

/** In hex. Names and labels that would be too long end in one; nothing secret passes here. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
