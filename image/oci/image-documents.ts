import { imageUser } from '../layers/base-layer.ts'
import { entrypoint as operator } from '../layers/program-layer.ts'
import type { Architecture } from '../parts/platform.ts'

const types = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const

export interface Blob {
  /** `sha256:…`. */
  readonly digest: string
  readonly size: number
}

export interface Layer extends Blob {
  /** Of the archive before it was compressed. */
  readonly diffId: string
  /** What it brings, as the history of the image says. */
  readonly brings: string
}

/** Nothing in an image has an age: the same sources give the same digest on any day. */
const beginning = '1970-01-01T00:00:00Z'

export interface ConfigOptions {
  readonly version: string
  readonly architecture: Architecture
  readonly layers: readonly Layer[]
  /** Absent: the operator's. */
  readonly entrypoint?: readonly string[] | undefined
}

/** How the image is run: not as root, without a shell, with nothing to write to. */
export function imageConfig({ version, architecture, layers, entrypoint = operator }: ConfigOptions): object {
  return {
    architecture,
    os: 'linux',
    created: beginning,
    config: {
      User: `${imageUser}:${imageUser}`,
      WorkingDir: '/',
      Entrypoint: entrypoint,
      Cmd: ['--help'],
      Env: ['PATH=/usr/bin', 'NODE_ENV=production', 'PYTHONDONTWRITEBYTECODE=1'],
      Labels: {
        'org.opencontainers.image.title': 'cofferdam',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ brings }) => ({ created: beginning, created_by: brings })),
  }
}

export function imageManifest(config: Blob, layers: readonly Layer[]): object {
  return {
    schemaVersion: 2,
    mediaType: types.manifest,
    config: { mediaType: types.config, digest: config.digest, size: config.size },
    layers: layers.map(({ digest, size }) => ({ mediaType: types.layer, digest, size })),
  }
}

export interface Tagged extends Blob {
  readonly tag: string
  readonly architecture: Architecture
}

export function imageIndex(images: readonly Tagged[]): object {
  return {
    schemaVersion: 2,
    mediaType: types.index,
    manifests: images.map(({ tag, architecture, digest, size }) => ({
      mediaType: types.manifest,
      digest,
      size,
      platform: { architecture, os: 'linux' },
      annotations: { 'org.opencontainers.image.ref.name': tag },
    })),
  }
}
