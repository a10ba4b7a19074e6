import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { permissionsOf } from '../wiring/controller-names.ts'
import { buildDeployFiles } from './deploy-files.ts'

const root = resolve(import.meta.dirname, '../..')

it('deploy/ holds exactly what the code needs; `npm run deploy-files` brings it up to date', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const built = buildDeployFiles({ version, permissions: permissionsOf })
  const folder = join(root, 'deploy')
  const present = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  )
  expect(Object.fromEntries(present.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))).toEqual(built)
})
