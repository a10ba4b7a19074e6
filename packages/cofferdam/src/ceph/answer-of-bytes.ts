import { isAscii } from 'node:buffer'
import { largeAnswer, sizeOf } from './answer-size.ts'
import type { CephAnswer } from './ceph-commands.ts'

/**
 * An answer from its bytes. A large one becomes text only when somebody reads `out`.
 *
 * Fails closed: `out` throws, rather than being empty, once the bytes were handed to another thread.
 */
export function answerOfBytes(answer: {
  readonly code: number
  readonly err: string
  readonly bytes: readonly Uint8Array[]
}): CephAnswer {
  const { code, err, bytes } = answer
  const size = sizeOf(bytes)
  if (size < largeAnswer) return { code, out: textOfBytes(bytes), err }
  let text: string | undefined
  return {
    code,
    get out() {
      if (text === undefined && sizeOf(bytes) !== size) throw new Error('the bytes of this answer were handed on')
      text ??= textOfBytes(bytes)
      return text
    },
    err,
    bytes,
  }
}

export function textOfBytes(chunks: readonly Uint8Array[]): string {
  const whole = Buffer.concat(chunks)
  // Nearly all answers are plain ASCII, which needs no decoding.
  return whole.toString(isAscii(whole) ? 'latin1' : 'utf8')
}
