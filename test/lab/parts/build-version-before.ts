import { execFile } from 'node:child_process'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What stands for the version before: there is no release yet. A release puts its tag here. */
const versionBefore = '1d40a7c4a28538a952a62284e31b14c3ed961aeb'

export interface VersionBefore {
  readonly program: readonly [string, ...string[]]
  /** Its manifests with a tag of their own, for `kubectl apply -k`. */
  readonly overlay: string
}

/** The tag under which its pods run. */
export const tagBefore = 'before'

/** Builds the version before from the history of this checkout; undefined where that does not reach back so far. */
export async function buildVersionBefore(folder: string): Promise<VersionBefore | undefined> {
  try {
    await run('git', ['cat-file', '-e', `${versionBefore}^{commit}`])
  } catch {
    return undefined
  }
  const tree = join(folder, 'version-before')
  await mkdir(tree)
  const archive = join(folder, 'version-before.tar')
  await run('git', ['archive', '--output', archive, versionBefore])
  await run('tar', ['-xf', archive, '-C', tree])
  await linkPackages(tree)
  await run(process.execPath, ['scripts/build.mjs'], { cwd: tree })
  const overlay = join(tree, 'overlay')
  await mkdir(overlay)
  const lines = ['resources: [../test/lab/install/ceph]', `images: [{ name: cofferdam, newTag: ${tagBefore} }]`]
  await writeFile(join(overlay, 'kustomization.yaml'), `${lines.join('\n')}\n`)
  return { program: [process.execPath, join(tree, 'bin/cofferdam.js')], overlay }
}

/** The packages of this checkout, but its own workspaces: those are in the tree. */
async function linkPackages(tree: string): Promise<void> {
  const own = '@cofferdam'
  const modules = join(tree, 'node_modules')
  await mkdir(join(modules, own), { recursive: true })
  for (const name of await readdir('node_modules'))
    if (name !== own) await symlink(resolve('node_modules', name), join(modules, name))
  const workspaces = { kubernetes: 'kubernetes', product: 'cofferdam', simulator: 'simulator' }
  for (const [name, folder] of Object.entries(workspaces))
    await symlink(join(tree, 'packages', folder), join(modules, own, name))
}
