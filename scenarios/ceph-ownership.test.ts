import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { configMaps, deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import {
  besideRook,
  type CephFixture,
  namespace,
  openCephFixture,
} from '@cofferdam/product/capabilities/ceph-drain/testing/ceph-fixture.ts'
import { rookOperatorDeployment, startRookBudgets } from '@cofferdam/simulator/world/ceph/rook/budget-controller.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { watchHandOver } from './testing/hand-over-oracle.ts'

let fixture: CephFixture
let rook: { stop(): void }
let rooksWrites: string[]

afterEach(async () => {
  expect(fixture.failures).toEqual([])
  rook.stop()
  await fixture.close()
})

/** A cluster whose budgets Rook has managed from the start. */
async function openBesideRook(): Promise<void> {
  fixture = await openCephFixture()
  const { api, clock, random, world, ceph, failures } = fixture
  rooksWrites = []
  const cluster = { namespace, name: 'rook-ceph' }
  await api.create(deployments, rookOperatorDeployment(namespace))
  const note = (verb: string, { plural }: { plural: string }, name: string) =>
    rooksWrites.push(`${verb} ${plural}/${name}`)
  const noted = changedApi(api, {
    create(type, object, options) {
      note('create', type, object.metadata.name)
      return api.create(type, object, options)
    },
    update(type, object, options) {
      note('update', type, object.metadata.name)
      return api.update(type, object, options)
    },
    delete(type, key, options) {
      note('delete', type, key.name)
      return api.delete(type, key, options)
    },
  })
  rook = startRookBudgets(
    { api: noted, clock, random, views: world.views, onFailure: (failure) => failures.push(failure) },
    { cluster, commands: ceph.commands, failureDomainType: 'zone' },
  )
  await fixture.seconds(60)
}

const operate = () =>
  fixture.operate({ trust: besideRook, controllers: ['ceph-drain', 'ceph-static-budgets', 'disruption-ledger'] })
const adopt = () =>
  fixture.patchCluster({
    metadata: { annotations: { 'cofferdam.io/budgets': 'manage' } },
    spec: { disruptionManagement: { managePodBudgets: false } },
  })
const release = (toRook = true) =>
  fixture.patchCluster({
    metadata: { annotations: { 'cofferdam.io/budgets': 'observe' } },
    spec: { disruptionManagement: { managePodBudgets: toRook } },
  })

/** Names of OSD budgets, those with our mark with a star. */
async function marks(): Promise<string[]> {
  const { items } = await fixture.api.list(podDisruptionBudgets, { namespace })
  return items.map(({ metadata }) => {
    const isOurs = metadata.labels?.['app.kubernetes.io/managed-by'] === 'cofferdam'
    return `${metadata.name}${isOurs ? '*' : ''}`
  })
}

async function stateMap() {
  try {
    return await fixture.api.get(configMaps, { namespace, name: 'rook-ceph-pdbstatemap' })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    return undefined
  }
}

async function noout(): Promise<string[]> {
  const { out } = await fixture.ceph.commands.run({ prefix: 'osd dump' })
  return Object.keys((JSON.parse(out) as { crush_node_flags: object }).crush_node_flags)
}

const budgetWrites = (written: readonly string[]) =>
  written.filter((write) => /poddisruptionbudgets|pdbstatemap/.test(write))

async function drain(node: string, osds: readonly number[]): Promise<void> {
  await fixture.cordon(node)
  for (const osd of osds) {
    expect(await fixture.evictOsd(osd)).toBe('going')
    await fixture.seconds(20)
  }
}

describe('budgets that Rook has managed', () => {
  it('are taken over in place and given back in place: at no moment is an OSD without one, and nobody writes to what is not his', async () => {
    await openBesideRook()
    expect(await marks()).toEqual(['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb', 'rook-ceph-osd'])
    operate()
    await fixture.seconds(30)
    expect(budgetWrites(fixture.written)).toEqual([])
    const oracle = watchHandOver({ api: fixture.api, namespace })

    await adopt()
    await fixture.seconds(30)
    expect(await marks()).toEqual(['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb*', 'rook-ceph-osd*'])
    rooksWrites.length = 0
    await fixture.seconds(300)
    expect(budgetWrites(rooksWrites)).toEqual([])

    await release()
    await fixture.seconds(60)
    expect(await marks()).toEqual(['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb', 'rook-ceph-osd'])
    expect(Object.keys((await stateMap())?.data ?? {})).toEqual(['draining-failure-domain'])
    fixture.written.length = 0
    await fixture.seconds(300)
    expect(budgetWrites(fixture.written)).toEqual([])
    await oracle.stop()
    expect(oracle.gaps).toEqual([])
  }, 60_000)

  it('in the middle of a drain that Rook let in: the same drain goes on, its noout is ended by us, and nothing else may go', async () => {
    await openBesideRook()
    operate()
    await drain('node-x', [0])
    await fixture.seconds(60)
    expect(await marks()).toContain('rook-ceph-osd-zone-y')
    expect(await noout()).toEqual(['x'])
    const oracle = watchHandOver({ api: fixture.api, namespace }, () => ['x'])
    await adopt()
    await fixture.seconds(30)
    expect(await marks()).toEqual([
      'rook-ceph-mgr-pdb',
      'rook-ceph-mon-pdb*',
      'rook-ceph-osd-zone-y*',
      'rook-ceph-osd-zone-z*',
    ])
    expect(await fixture.evictOsd(2)).toBe('refused')
    expect(await fixture.evictOsd(1)).toBe('going')
    await fixture.seconds(20)
    await fixture.cordon('node-x', false)
    await fixture.seconds(180)
    expect([await noout(), await fixture.budgets()]).toEqual([[], expect.arrayContaining(['rook-ceph-osd: 1 of all'])])
    await oracle.stop()
    expect(oracle.gaps).toEqual([])
  }, 60_000)

  it('given back in the middle of a drain: Rook goes on with the drain that we began and ends its noout; blocking budgets of ours would have stayed for hours', async () => {
    await openBesideRook()
    operate()
    await adopt()
    await fixture.seconds(30)
    await drain('node-x', [0])
    expect([await marks(), await noout()]).toEqual([expect.arrayContaining(['rook-ceph-osd-zone-y*']), ['x']])
    const oracle = watchHandOver({ api: fixture.api, namespace }, () => ['x'])
    await release()
    await fixture.seconds(30)
    expect((await marks()).filter((name) => name.endsWith('*'))).toEqual([])
    expect(await noout()).toEqual(['x'])
    const kept = Object.keys((await stateMap())?.data ?? {}).sort()
    expect(kept).toEqual([
      'draining-failure-domain',
      'draining-failure-domain-duration',
      'set-no-out',
      'x-noout-last-set-at',
    ])
    expect(await fixture.evictOsd(2)).toBe('refused')
    await fixture.cordon('node-x', false)
    await fixture.seconds(240)
    expect([await noout(), await marks()]).toEqual([[], ['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb', 'rook-ceph-osd']])
    await oracle.stop()
    expect(oracle.gaps).toEqual([])
  }, 60_000)

  it("given to nobody: every budget, flag and ConfigMap of ours goes, and the mgr budget, which is Rook's, stays", async () => {
    await openBesideRook()
    operate()
    await adopt()
    await fixture.seconds(30)
    await drain('node-x', [0])
    await release(false)
    await fixture.seconds(30)
    expect([await marks(), await noout(), await stateMap()]).toEqual([['rook-ceph-mgr-pdb'], [], undefined])
    fixture.written.length = 0
    await fixture.seconds(300)
    expect(budgetWrites(fixture.written)).toEqual([])
  }, 60_000)

  it('are not taken over because Rook is gone, for five seconds or for good; it is reported once', async () => {
    await openBesideRook()
    operate()
    await fixture.seconds(30)
    const scale = (replicas: number) =>
      fixture.api.patch(
        deployments,
        { namespace, name: 'rook-ceph-operator' },
        { type: 'merge', body: { spec: { replicas } } },
      )
    await scale(0)
    await fixture.seconds(5)
    await scale(1)
    await fixture.seconds(30)
    await scale(0)
    await fixture.seconds(600)
    expect(budgetWrites(fixture.written)).toEqual([])
    expect(await marks()).toEqual(['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb', 'rook-ceph-osd'])
    const problems = (await fixture.observed()).metadata.annotations?.['cofferdam.io/problems']
    expect(problems).toMatch(/^cephcluster\/rook-ceph: Rook's operator does not run/)
  }, 60_000)

  it('claimed by both are changed by Cofferdam no more, and that is said', async () => {
    await openBesideRook()
    operate()
    await fixture.seconds(30)
    fixture.written.length = 0
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/budgets': 'manage' } } })
    await fixture.seconds(120)
    expect(budgetWrites(fixture.written)).toEqual([])
    expect(await fixture.told()).toContain('Warning BudgetsContested')
    expect((await fixture.observed()).metadata.annotations?.['cofferdam.io/budgets']).toBe('contested')
  }, 60_000)
})
