import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { openshiftMachines } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { createAdoptCommand } from '@cofferdam/product/cli/adopt/hand-over-command.ts'
import { createDrainCommand } from '@cofferdam/product/cli/drain/drain.ts'
import { createUncordonCommand } from '@cofferdam/product/cli/drain/uncordon.ts'
import { createLockCommand } from '@cofferdam/product/cli/lock/lock.ts'
import { createUninstallCommand } from '@cofferdam/product/cli/uninstall/uninstall.ts'
import type { UninstallResult } from '@cofferdam/product/cli/uninstall/uninstall-result.ts'
import { dyingAfter } from '@cofferdam/product/operator/testing/dying-after.ts'
import { afterEach, expect, it } from 'vitest'
import { watchHandOver } from './testing/hand-over-oracle.ts'
import { openWholeLife, type WholeLife } from './testing/whole-life.ts'

let life: WholeLife
let before: Record<string, unknown>
afterEach(() => life?.close())

async function open(how: Parameters<typeof openWholeLife>[0] = {}): Promise<void> {
  life = await openWholeLife(how)
  before = await life.store()
}

async function adoptEverything(): Promise<void> {
  await open()
  await life.install()
  for (const words of [['cephcluster/rook-ceph/rook-ceph'], ['longhorn/longhorn-system', '--mode', 'hold']]) {
    expect(await life.run(createAdoptCommand, ['adopt', ...words])).toMatchObject({ code: 0 })
  }
  await life.kured.optIn(true)
  await optMachinesIn(true)
  await life.seconds(60)
}

/** What administrators write, and take off again themselves. */
async function optMachinesIn(isIn: boolean): Promise<void> {
  const { items } = await life.api.list(openshiftMachines)
  const body = { metadata: { labels: { 'cofferdam.io/drain-before-delete': isIn ? 'true' : null } } }
  for (const { metadata } of items) {
    const { namespace = '', name } = metadata
    await life.api.patch(openshiftMachines, { namespace, name }, { type: 'merge', body })
  }
}

async function uninstall(flags: readonly string[], through?: KubeApi): Promise<UninstallResult & { code: number }> {
  const { code, out, err } = await life.run(createUninstallCommand, ['uninstall', ...flags, '-o', 'json'], through)
  if (out === '') throw new Error(err)
  return { code, ...(JSON.parse(out) as UninstallResult) }
}

async function expectNothingLeft(): Promise<void> {
  await life.deleteManifests()
  await life.kured.optIn(false)
  await optMachinesIn(false)
  await life.seconds(60)
  expect(await life.noout()).toEqual([])
  expect(await life.store()).toEqual(before)
}

/** Binds the rights that the command itself says it needs. */
async function grantUninstall(user: string): Promise<() => Promise<void>> {
  const { out } = await life.run(createUninstallCommand, ['uninstall', '--print-role', '-o', 'json'])
  const role = JSON.parse(out) as KubeObject
  const { name } = role.metadata
  const rbac = 'rbac.authorization.k8s.io'
  const cluster = { group: rbac, version: 'v1', namespaced: false }
  const roles = { ...cluster, plural: 'clusterroles', kind: 'ClusterRole' }
  const bindings = { ...cluster, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' }
  await life.api.create(roles, role)
  await life.api.create(bindings, {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  } as KubeObject)
  return async () => {
    await life.api.delete(bindings, { name })
    await life.api.delete(roles, { name })
  }
}

/** Budgets, and who manages them. */
const protectionIn = (store: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(store).filter(([key]) => /poddisruptionbudgets|cephclusters|settings/.test(key)))

const whatsOf = ({ removed }: UninstallResult) => [...new Set(removed.map(({ what }) => what))].sort()

it('after a whole life with all capabilities nothing of Cofferdam is in the cluster: a mark that stays would block or mislead tools for good', async () => {
  await adoptEverything()
  expect(await life.run(createDrainCommand, ['drain', 'worker-a1', '--timeout', '300s'])).toMatchObject({ code: 0 })
  expect(await life.run(createUncordonCommand, ['uncordon', 'worker-a1'])).toMatchObject({ code: 0 })
  await life.seconds(300)
  const oracle = watchHandOver({ api: life.api, namespace: 'rook-ceph' })
  const planned = await uninstall([])
  expect(planned).toMatchObject({ code: 0, outcome: 'planned' })
  // Without all of these the life was not a whole one.
  expect(whatsOf(planned)).toEqual(
    expect.arrayContaining([
      'budget of machines',
      'certificates of the eviction guard',
      'condition DrainInProgress, condition Drained',
      'labels for the budget of machines',
      "places of Cofferdam in kured's lock",
      'pre-drain hook',
      'the eviction guard',
      'the ledger',
    ]),
  )
  expect(planned.losses.join('\n')).toMatch(/Rook manages the budgets again[\s\S]*Longhorn decides drains alone/)
  const forbidden = await uninstall(['--yes'], life.as('ann'))
  expect(forbidden).toMatchObject({ code: 3, outcome: 'blocked' })
  const takeBack = await grantUninstall('ann')
  const end = await uninstall(['--yes'], life.as('ann'))
  expect(end).toMatchObject({ code: 0, outcome: 'done', released: [{ to: 'Rook' }, { to: 'Longhorn' }] })
  await takeBack()
  await oracle.stop()
  expect(oracle.gaps).toEqual([])
  await expectNothingLeft()
})

it('in the middle of a drain, or under a lock, it changes nothing and says for which node and owner: their work would end half done', async () => {
  await adoptEverything()
  const locked = ['lock', 'pdb/orders', '-n', 'shop', '--for', '2h', '--reason', 'rebalancing', '--holder', 'ann']
  expect(await life.run(createLockCommand, locked)).toMatchObject({ code: 0 })
  expect(await life.run(createDrainCommand, ['drain', 'worker-b1', '--timeout', '5s'])).toMatchObject({ code: 4 })
  await life.seconds(60)
  const found = await life.store()
  const refused = await uninstall(['--yes'])
  expect(refused).toMatchObject({ code: 3, outcome: 'blocked' })
  const says = refused.checks.filter(({ state }) => state === 'blocked').map((check) => check.says)
  expect(says.join('\n')).toMatch(/for node worker-b1 is [\s\S]*shop\/orders is locked by ann/)
  expect(protectionIn(await life.store())).toEqual(protectionIn(found))

  const end = await uninstall(['--yes', '--even-now'])
  expect(end).toMatchObject({ code: 0, outcome: 'done' })
  expect(end.losses.join('\n')).toContain('the lock of ann has no effect any more')
  expect((await life.api.get(nodes, { name: 'worker-b1' })).spec?.unschedulable).toBeUndefined()
  await expectNothingLeft()
})

it('killed after every third of its writes and repeated, it ends the same: a run that counted on the one before would leave marks behind', async () => {
  await adoptEverything()
  let runs = 0
  for (let isDone = false; !isDone; runs += 1) {
    const line = dyingAfter(life.api, 3)
    const end = await uninstall(['--yes'], line.api).catch(() => undefined)
    isDone = end?.outcome === 'done'
    expect(runs).toBeLessThan(60)
  }
  expect(runs).toBeGreaterThan(10)
  await expectNothingLeft()
})

it('without a Rook the budgets go only when the user says so: OSDs would have none, and no operator would say it', async () => {
  await open({ isAlone: true })
  await life.install()
  // No operator updates the mons here.
  const wish = { 'cofferdam.io/update-mons-first': 'false' }
  await changeCluster({
    metadata: { annotations: wish },
    spec: { cephVersion: { image: 'quay.io/ceph/ceph:v19.2.4' } },
  })
  await life.seconds(30)
  const updating = await uninstall(['--yes', '--without-successor'])
  expect(updating).toMatchObject({ code: 3 })
  expect(updating.checks.map(({ says }) => says).join('\n')).toMatch(
    /storage\/rook-ceph\/rook-ceph is held by .*update/,
  )
  await life.seconds(900)
  const refused = await uninstall(['--yes', '--even-now'])
  expect(refused).toMatchObject({ code: 3 })
  expect(refused.checks.filter(({ state }) => state === 'blocked')).toMatchObject([{ what: 'rook' }])
  const end = await uninstall(['--yes', '--without-successor'])
  expect(end).toMatchObject({ code: 0, outcome: 'done', released: [{ to: 'no operator' }] })
  expect(whatsOf(end)).toEqual(expect.arrayContaining(['result of a prepare Job', 'record of osd-update']))
  expect(end.notes.join()).toContain('managePodBudgets is false')
  await life.deleteManifests()
  expect(await life.store()).toMatchObject({ 'ceph.rook.io/cephclusters rook-ceph/rook-ceph': { annotations: wish } })
  await changeCluster({ metadata: { annotations: { 'cofferdam.io/update-mons-first': null } } })
  // The image and the switch of Rook are what the user has changed.
  expect(marksIn(await life.store())).toEqual(marksIn(before))
})

const changeCluster = (body: JsonObject) =>
  life.api.patch(cephClusters, { namespace: 'rook-ceph', name: 'rook-ceph' }, { type: 'merge', body })

const marksIn = (store: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(store).map(([key, object]) => [key, { ...(object as object), spec: undefined }]))
