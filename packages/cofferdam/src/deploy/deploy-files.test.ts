import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { loadAll } from 'js-yaml'
import { expect, it } from 'vitest'
import { createOperatorCommand } from '../cli/operator/operator.ts'
import { permissionsOf, switchedCapabilities } from '../operator/controller-names.ts'
import { buildPartAccess } from './access-manifests.ts'
import { buildChartFiles } from './chart/chart-files.ts'
import { buildDeployFiles } from './deploy-files.ts'
import { operatorEnvironment } from './operator-manifests.ts'

const root = resolve(import.meta.dirname, '../../../..')

interface Manifest {
  readonly kind: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
}

it('deploy/ holds exactly what the code needs; `npm run deploy-files` brings it up to date', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const built = {
    ...buildDeployFiles({ version, permissions: permissionsOf }),
    ...buildChartFiles({ version, permissions: permissionsOf, capabilities: switchedCapabilities }),
  }
  const folder = join(root, 'deploy')
  const present = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  )
  expect(Object.fromEntries(present.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))).toEqual(built)
})

it('the base is applied to a cluster with neither Rook nor Longhorn: it puts nothing into a namespace that may not be there', () => {
  const built = buildDeployFiles({ version: 'test', permissions: permissionsOf })
  const [{ resources }] = loadAll(built['kustomization.yaml'] ?? '') as [{ readonly resources: readonly string[] }]
  const manifests = resources.flatMap((path) => loadAll(built[path] ?? '') as Manifest[])
  const brought = manifests.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata?.name)
  const used = new Set(manifests.flatMap(({ metadata }) => metadata?.namespace ?? []))
  // Kubernetes itself brings the one with the Leases of nodes.
  expect([...used]).toEqual(['cofferdam-system', 'kube-node-lease'])
  expect(brought).toEqual(['cofferdam-system'])
})

it('the rights over Longhorn are put where Longhorn is, and nowhere else: in another namespace they would be of no use to it', () => {
  const places = (longhorn: readonly string[] | undefined) =>
    (buildPartAccess('longhorn', permissionsOf, longhorn && { longhorn }) as unknown as Manifest[]).map(
      ({ kind, metadata }) => [kind, metadata?.namespace],
    )
  const everywhere = [
    ['ClusterRole', undefined],
    ['ClusterRoleBinding', undefined],
  ]
  const within = (namespace: string) => [
    ['Role', namespace],
    ['RoleBinding', namespace],
  ]
  expect(places(undefined)).toEqual(expect.arrayContaining([...everywhere, ...within('longhorn-system')]))
  expect(places(['storage'])).toEqual(expect.arrayContaining([...everywhere, ...within('storage')]))
  expect(places(['storage'])).toHaveLength(4)
})

it('every flag that a part adds is one that the operator knows: with another it would not start', () => {
  const built = buildDeployFiles({ version: 'test', permissions: permissionsOf })
  const command = new Command()
  createOperatorCommand({ pageDirectory: '' }).configure?.(command)
  const known = command.options.map(({ long }) => long)
  const { NODE_OPTIONS: engineOptions } = operatorEnvironment
  const added = Object.values(built).flatMap((text) =>
    [...text.replaceAll(engineOptions, '').matchAll(/value: '?(--[a-z-]+)/g)].map(([, flag]) => flag),
  )
  expect(added).toEqual([
    '--ceph-clusters',
    '--own-osds',
    '--grow-osds',
    '--rook-image',
    '--dashboard',
    '--dashboard-host',
    '--dashboard-tls',
  ])
  for (const flag of added) expect(known).toContain(flag)
})
