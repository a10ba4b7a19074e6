import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const enter = fileURLToPath(new URL('./enter-image.py', import.meta.url))

const apart = ['unshare', '--mount', '--propagation', 'private', '/usr/bin/python3', enter] as const

interface Descriptor {
  readonly digest: string
  readonly annotations?: Readonly<Record<string, string>>
}

export interface UnpackedImage {
  readonly root: string
  readonly uid: number
  readonly entrypoint: readonly [string, ...string[]]
  /** How a program of the image is called; without one, its entrypoint. */
  command(...program: readonly string[]): readonly [string, ...string[]]
}

/** Unpacks an image with the system's own tar, layer upon layer, as a runtime does. */
export async function unpackImage(layout: string, tag: string, root: string): Promise<UnpackedImage> {
  const blob = ({ digest }: Descriptor) => join(layout, 'blobs/sha256', digest.replace('sha256:', ''))
  const json = async <T>(file: string) => JSON.parse(await readFile(file, 'utf8')) as T
  const { manifests } = await json<{ readonly manifests: readonly Descriptor[] }>(join(layout, 'index.json'))
  const found = manifests.find(({ annotations = {} }) => annotations['org.opencontainers.image.ref.name'] === tag)
  if (found === undefined) throw new Error(`${layout} has no image with the tag ${tag}`)
  const manifest = await json<{ readonly config: Descriptor; readonly layers: readonly Descriptor[] }>(blob(found))
  const { config } = await json<{
    readonly config: { User: string; Env: string[]; Entrypoint: [string, ...string[]] }
  }>(blob(manifest.config))
  await mkdir(root, { recursive: true })
  for (const layer of manifest.layers) await run('tar', ['-xzpf', blob(layer), '-C', root])
  const uid = Number(config.User.split(':')[0])
  const { Entrypoint: entrypoint, Env: environment } = config
  return {
    root,
    uid,
    entrypoint,
    command: (...program) => [
      ...apart,
      root,
      String(uid),
      ...environment,
      '--',
      ...(program.length === 0 ? entrypoint : program),
    ],
  }
}
