import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileOf } from '../tar/entry.ts'
import { imageConfig } from './image-documents.ts'
import { writeLayout } from './write-layout.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cofferdam-layout-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const base = { brings: 'base', entries: [fileOf('etc/passwd', 'root')] }
const program = { brings: 'program', entries: [fileOf('usr/lib/program.js', 'x')] }
const client = { brings: 'client', entries: [fileOf('usr/bin/python3', 'x', 0o755)] }
const images = [
  { tag: '1', layers: [base, program] },
  { tag: '1-ceph', layers: [base, client, program] },
]
const write = (name: string) => writeLayout({ folder: join(folder, name), version: '1', architecture: 'amd64', images })

interface Descriptor {
  readonly digest: string
  readonly size: number
}
interface Manifest {
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
}

describe('an image layout', () => {
  const blob = (digest: string) => readFileSync(join(folder, 'one/blobs/sha256', digest.replace('sha256:', '')))
  const json = <T>(digest: string) => JSON.parse(blob(digest).toString()) as T

  it('holds what its documents name, under the digests and sizes that they name', async () => {
    const [image] = await write('one')
    const { config, layers } = json<Manifest>(image?.digest ?? '')
    for (const { digest, size } of [config, ...layers]) {
      expect(`sha256:${createHash('sha256').update(blob(digest)).digest('hex')}`).toBe(digest)
      expect(blob(digest)).toHaveLength(size)
    }
    const { rootfs } = json<{ readonly rootfs: { readonly diff_ids: readonly string[] } }>(config.digest)
    const plain = layers.map(({ digest }) => execFileSync('gzip', ['-dc'], { input: blob(digest) }))
    expect(plain.map((each) => `sha256:${createHash('sha256').update(each).digest('hex')}`)).toEqual(rootfs.diff_ids)
    expect(image?.compressedBytes).toBeGreaterThan(config.size)
  })

  it('keeps a layer that two images share once: whoever has one pulls the difference alone', async () => {
    const [one, other] = await write('one')
    const layersOf = (digest = '') => json<Manifest>(digest).layers.map((layer) => layer.digest)
    const [plain, withClient] = [layersOf(one?.digest), layersOf(other?.digest)]
    expect(withClient.filter((digest) => plain.includes(digest))).toEqual(plain)
    // Three layers, two configurations, two manifests.
    expect(readdirSync(join(folder, 'one/blobs/sha256'))).toHaveLength(7)
  })

  it('has the same digests when it is made again', async () => {
    expect(await write('one')).toEqual(await write('other'))
  })
})

it('the Containerfile starts the image as `npm run image` does: two images of one name that run differently would be two products', () => {
  const { config } = imageConfig({ version: '1', architecture: 'amd64', layers: [] }) as {
    readonly config: {
      readonly User: string
      readonly WorkingDir: string
      readonly Env: readonly string[]
      readonly Entrypoint: readonly string[]
      readonly Cmd: readonly string[]
    }
  }
  const text = readFileSync(resolve(import.meta.dirname, '../../Containerfile'), 'utf8')
  const said = Object.fromEntries(
    text
      .slice(text.indexOf('FROM scratch'))
      .split('\n')
      .map((line) => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)]),
  ) as Record<string, string>
  expect(said['USER']).toBe(config.User)
  expect(said['WORKDIR']).toBe(config.WorkingDir)
  expect(said['ENV']).toBe(config.Env.join(' '))
  expect(JSON.parse(said['ENTRYPOINT'] ?? '')).toEqual(config.Entrypoint)
  expect(JSON.parse(said['CMD'] ?? '')).toEqual(config.Cmd)
})
