export interface TarFile {
  /** At most 100 characters. */
  readonly name: string
  readonly content: string
}

const block = 512

/** A POSIX tar archive of plain files that only their owner may read. */
export function buildTar(files: readonly TarFile[], modifiedMs: number): Buffer {
  const parts = files.flatMap(({ name, content }) => {
    const data = Buffer.from(content, 'utf8')
    const padding = Buffer.alloc((block - (data.length % block)) % block)
    return [headerOf(name, data.length, modifiedMs), data, padding]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * block)])
}

function headerOf(name: string, size: number, modifiedMs: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new RangeError(`${name} is too long a name for an archive`)
  const header = Buffer.alloc(block)
  const octal = (value: number, width: number) => value.toString(8).padStart(width - 1, '0')
  header.write(name, 0)
  header.write(octal(0o600, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(Math.floor(modifiedMs / 1000), 12), 136)
  // The sum of all bytes, with spaces where it stands itself.
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar', 257)
  header.write('00', 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)}\0 `, 148)
  return header
}
