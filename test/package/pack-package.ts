import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** What npm would publish, as a file in the folder. Assumes: it was built. */
export function packPackage(folder: string): string {
  const { stdout, status, stderr } = spawnSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`npm pack: ${stderr}`)
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  return join(folder, filename)
}
