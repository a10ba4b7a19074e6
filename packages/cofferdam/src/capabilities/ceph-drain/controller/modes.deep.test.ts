import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { changedApi, deployment } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { alone, besideRook, namespace, openCephFixture } from '../testing/ceph-fixture.ts'

const calm = ['rook-ceph-osd: 1 of all']

describe('who has the budgets', () => {
  it('hands everything back when management is switched off in the middle of a drain, and takes it up again', async () => {
    const fixture = await openCephFixture()
    fixture.operate()
    await fixture.seconds(90)
    await fixture.cordon('node-x')
    await fixture.evictOsd(0)
    await fixture.seconds(10)
    expect(await fixture.budgets()).toHaveLength(2)

    await fixture.patchCluster({ spec: { disruptionManagement: { managePodBudgets: false } } })
    await fixture.seconds(10)
    expect(await fixture.budgets()).toEqual([])
    await expect(fixture.record()).rejects.toMatchObject({ reason: 'NotFound' })
    const { out } = await fixture.ceph.commands.run({ prefix: 'osd dump' })
    expect((JSON.parse(out) as { crush_node_flags: object }).crush_node_flags).toEqual({})
    fixture.written.length = 0
    await fixture.seconds(600)
    const beyondNotes = fixture.written.filter((write) => !/events\/|configmaps\/cofferdam-ceph-drain/.test(write))
    expect(beyondNotes).toEqual([])

    await fixture.patchCluster({ spec: { disruptionManagement: { managePodBudgets: true } } })
    await fixture.seconds(10)
    expect(await fixture.budgets()).toHaveLength(2)
    await fixture.close()
  })

  it("writes only its own record while Rook has the budgets, scaled down or not, and takes over on the administrator's word", async () => {
    const fixture = await openCephFixture()
    const rook = deployment('rook-ceph-operator', { replicas: 1 })
    await fixture.api.create(deployments, {
      ...rook,
      metadata: { ...rook.metadata, namespace, labels: { operator: 'rook', 'storage-backend': 'ceph' } },
    })
    const observing = fixture.operate({ trust: besideRook })
    await fixture.seconds(30)
    expect(await fixture.budgets()).toEqual([])
    const writes = () => fixture.written.filter((write) => !write.startsWith('create events/'))
    expect(writes()).toEqual(['create configmaps/cofferdam-ceph-drain'])
    const { metadata, data = {} } = await fixture.observed()
    expect({ data, reason: metadata.annotations?.['cofferdam.io/reason'] }).toEqual({
      data: {},
      reason: 'ManagedElsewhere',
    })
    expect(metadata.annotations?.['cofferdam.io/domains']).toContain('"total":3,"held":0')
    fixture.written.length = 0
    await fixture.seconds(600)
    expect(fixture.written).toEqual([])
    expect(await fixture.told()).toEqual(['Normal ManagedElsewhere'])
    const scale = { type: 'merge' as const, body: { spec: { replicas: 0 } } }
    await fixture.api.patch(deployments, { namespace, name: 'rook-ceph-operator' }, scale)
    await fixture.seconds(600)
    expect(await fixture.told()).toEqual(['Normal ManagedElsewhere', 'Warning ObjectsUnusable'])
    await fixture.seconds(3_600)
    expect([writes(), await fixture.budgets()]).toEqual([['update configmaps/cofferdam-ceph-drain'], []])
    const stopped = observing.stop()
    await fixture.seconds(30)
    await stopped
    fixture.operate({ trust: alone })
    await fixture.seconds(5)
    expect(await fixture.budgets()).toEqual(calm)
    await expect(fixture.observed()).rejects.toMatchObject({ reason: 'NotFound' })
    await fixture.close()
  })

  it('forgets a cluster that is deleted, and its budgets go with it', async () => {
    const fixture = await openCephFixture()
    fixture.operate()
    await fixture.seconds(30)
    await fixture.api.delete(cephClusters, { namespace, name: 'rook-ceph' })
    await fixture.seconds(30)
    expect(await fixture.budgets()).toEqual([])
    const text = await fixture.metrics.registry.metrics()
    expect(text).not.toContain('cofferdam_ceph_decision{')
    fixture.asked.length = 0
    await fixture.seconds(600)
    expect(fixture.asked).toEqual([])
    await fixture.close()
  })
})

describe('settings and rights that are wrong', () => {
  it('a pattern that is no pattern is told once, and the default is used', async () => {
    const fixture = await openCephFixture()
    fixture.operate()
    await fixture.patchCluster({ spec: { disruptionManagement: { pgHealthyRegex: '(active' } } })
    await fixture.seconds(300)
    expect(await fixture.budgets()).toEqual(calm)
    expect((await fixture.record()).metadata.annotations?.['cofferdam.io/problems']).toMatch(
      /^cephcluster\/rook-ceph: pgHealthyRegex "\(active" is no regular expression/,
    )
    expect((await fixture.told()).filter((news) => news === 'Warning ObjectsUnusable')).toHaveLength(1)
    await fixture.close()
  })

  it('a write that is refused for want of a right is told once, counted, and tried again', async () => {
    const fixture = await openCephFixture()
    let isAllowed = false
    const api = changedApi(fixture.api, {
      create: (type, object, options) =>
        type.plural === podDisruptionBudgets.plural && !isAllowed
          ? Promise.reject(new ApiError('Forbidden', 'poddisruptionbudgets.policy is forbidden'))
          : fixture.api.create(type, object, options),
    })
    fixture.operate({ api })
    await fixture.seconds(60)
    expect(await fixture.told()).toEqual(['Warning RightsMissing'])
    expect(await fixture.metrics.registry.metrics()).toMatch(
      /cofferdam_ceph_refused_writes_total\{ceph_namespace="rook-ceph",ceph_cluster="rook-ceph"\} [1-9]/,
    )
    isAllowed = true
    await fixture.seconds(300)
    expect(await fixture.budgets()).toEqual(calm)
    await fixture.close()
  })

  it('a cluster that fails does not keep another from its budgets', async () => {
    const fixture = await openCephFixture()
    await fixture.api.create(cephClusters, {
      apiVersion: 'ceph.rook.io/v1',
      kind: 'CephCluster',
      metadata: { namespace: 'default', name: 'broken' },
      spec: { disruptionManagement: { managePodBudgets: true } },
    })
    const api = changedApi(fixture.api, {
      get: (type, key, options) =>
        key.namespace === 'default' ? Promise.reject(new Error('broken')) : fixture.api.get(type, key, options),
    })
    fixture.operate({ api })
    await fixture.seconds(10)
    expect(await fixture.budgets()).toEqual(calm)
    await fixture.close()
  })

  it('in a dry run nothing is stored, and no flag of Ceph is changed', async () => {
    const fixture = await openCephFixture()
    fixture.operate({ dryRun: true })
    await fixture.seconds(10)
    await fixture.cordon('node-x')
    await fixture.evictOsd(0)
    await fixture.seconds(10)
    expect(await fixture.budgets()).toEqual([])
    expect(fixture.asked.filter((prefix) => prefix.includes('set-group'))).toEqual([])
    await fixture.close()
  })
})
