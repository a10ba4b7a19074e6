import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Architecture } from '../parts/platform.ts'
import { arrange, type Entry } from '../tar/entry.ts'
import { writeTar } from '../tar/write-tar.ts'
import { type Blob, imageConfig, imageIndex, imageManifest, type Layer, type Tagged } from './image-documents.ts'

export interface ImageContent {
  readonly tag: string
  /** Absent: the operator's. */
  readonly entrypoint?: readonly string[]
  readonly layers: readonly { readonly brings: string; readonly entries: readonly Entry[] }[]
}

export interface LayoutOptions {
  readonly folder: string
  readonly version: string
  readonly architecture: Architecture
  readonly images: readonly ImageContent[]
}

export interface WrittenImage extends Tagged {
  /** Of everything that has to be pulled. */
  readonly compressedBytes: number
}

/** Writes an OCI image layout; layers that several images share are in it once. */
export async function writeLayout({ folder, version, architecture, images }: LayoutOptions): Promise<WrittenImage[]> {
  await rm(folder, { recursive: true, force: true })
  const blobs = join(folder, 'blobs/sha256')
  await mkdir(blobs, { recursive: true })
  const known = new Map<readonly Entry[], Layer>()
  const written: WrittenImage[] = []
  for (const { tag, entrypoint, layers: contents } of images) {
    const layers: Layer[] = []
    for (const { brings, entries } of contents) {
      const layer = known.get(entries) ?? { ...(await writeLayer(blobs, entries)), brings }
      known.set(entries, layer)
      layers.push(layer)
    }
    const config = await writeDocument(blobs, imageConfig({ version, architecture, layers, entrypoint }))
    const manifest = await writeDocument(blobs, imageManifest(config, layers))
    const compressedBytes = [...layers, config, manifest].reduce((sum, { size }) => sum + size, 0)
    written.push({ tag, architecture, ...manifest, compressedBytes })
  }
  await writeFile(join(folder, 'index.json'), `${JSON.stringify(imageIndex(written))}\n`)
  await writeFile(join(folder, 'oci-layout'), `${JSON.stringify({ imageLayoutVersion: '1.0.0' })}\n`)
  return written
}

async function writeLayer(blobs: string, entries: readonly Entry[]): Promise<Omit<Layer, 'brings'>> {
  const plain = createHash('sha256')
  const packed = createHash('sha256')
  let size = 0
  function* archive() {
    for (const piece of writeTar(arrange(entries))) {
      plain.update(piece)
      yield piece
    }
  }
  async function* counted(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      packed.update(piece)
      size += piece.length
      yield piece
    }
  }
  const unnamed = join(blobs, '..', 'layer')
  await pipeline(Readable.from(archive()), createGzip({ level: 6 }), counted, createWriteStream(unnamed))
  const hex = packed.digest('hex')
  await rename(unnamed, join(blobs, hex))
  return { digest: `sha256:${hex}`, size, diffId: `sha256:${plain.digest('hex')}` }
}

async function writeDocument(blobs: string, document: object): Promise<Blob> {
  const text = JSON.stringify(document)
  const hex = createHash('sha256').update(text).digest('hex')
  await writeFile(join(blobs, hex), text)
  return { digest: `sha256:${hex}`, size: Buffer.byteLength(text) }
}
