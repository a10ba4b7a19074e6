import type { Entry } from './entry.ts'

const block = 512
const types = { file: '0', link: '2', folder: '5' } as const

/**
 * A tar archive in the format that every builder and runtime reads (ustar), piece by piece.
 *
 * Guarantees: the same entries give the same bytes.
 */
export function* writeTar(entries: Iterable<Entry>): Generator<Buffer> {
  for (const entry of entries) {
    yield header(entry)
    if (entry.kind !== 'file') continue
    yield entry.content
    yield Buffer.alloc((block - (entry.content.length % block)) % block)
  }
  yield Buffer.alloc(2 * block)
}

function header(entry: Entry): Buffer {
  const head = Buffer.alloc(block)
  const put = (text: string, at: number, room: number) => {
    if (Buffer.byteLength(text) > room) throw new Error(`${entry.path}: "${text}" is too long for a tar header`)
    head.write(text, at)
  }
  const number = (value: number, at: number, room: number) =>
    put(`${value.toString(8).padStart(room - 1, '0')}\0`, at, room)
  const { prefix, name } = split(entry)
  put(name, 0, 100)
  number(entry.kind === 'link' ? 0o777 : entry.mode, 100, 8)
  number(0, 108, 8)
  number(0, 116, 8)
  number(entry.kind === 'file' ? entry.content.length : 0, 124, 12)
  number(0, 136, 12)
  put(types[entry.kind], 156, 1)
  if (entry.kind === 'link') put(entry.target, 157, 100)
  put('ustar\x0000', 257, 8)
  put(prefix, 345, 155)
  // The sum is taken with blanks in its own place.
  head.fill(' ', 148, 156)
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return head
}

/** A path of more than 100 bytes is split at a slash. */
function split({ kind, path }: Entry): { readonly prefix: string; readonly name: string } {
  const whole = kind === 'folder' ? `${path}/` : path
  if (Buffer.byteLength(whole) <= 100) return { prefix: '', name: whole }
  const parts = whole.split('/')
  for (const [index] of parts.entries()) {
    const name = parts.slice(index + 1).join('/')
    if (name !== '' && Buffer.byteLength(name) <= 100) return { prefix: parts.slice(0, index + 1).join('/'), name }
  }
  throw new Error(`${path} is too long for a tar header`)
}
