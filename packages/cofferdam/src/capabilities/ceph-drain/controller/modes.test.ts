import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { changedApi, deployment } from '@cofferdam/simulator/world/testing/story.ts'
import { describe, expect, it } from 'vitest'
import { alone, besideRook, namespace, openCephStage } from '../testing/ceph-stage.ts'

const calm = ['rook-ceph-osd: 1 of all']

describe('who has the budgets', () => {
  it('hands everything back when management is switched off in the middle of a drain, and takes it up again', async () => {
    const stage = await openCephStage()
    stage.operate()
    await stage.seconds(90)
    await stage.cordon('node-x')
    await stage.evictOsd(0)
    await stage.seconds(10)
    expect(await stage.budgets()).toHaveLength(2)

    await stage.patchCluster({ spec: { disruptionManagement: { managePodBudgets: false } } })
    await stage.seconds(10)
    expect(await stage.budgets()).toEqual([])
    expect((await stage.record()).data).toMatchObject({ 'draining-failure-domain': '', 'cofferdam.io_own-noout': '' })
    const { out } = await stage.ceph.commands.run({ prefix: 'osd dump' })
    expect((JSON.parse(out) as { crush_node_flags: object }).crush_node_flags).toEqual({})
    stage.asked.length = 0
    stage.written.length = 0
    await stage.seconds(600)
    expect([stage.asked, stage.written]).toEqual([[], []])

    await stage.patchCluster({ spec: { disruptionManagement: { managePodBudgets: true } } })
    await stage.seconds(10)
    expect(await stage.budgets()).toHaveLength(2)
    await stage.close()
  })

  it("writes only its own record while Rook has the budgets, scaled down or not, and takes over on the administrator's word", async () => {
    const stage = await openCephStage()
    const rook = deployment('rook-ceph-operator', { replicas: 1 })
    await stage.api.create(deployments, {
      ...rook,
      metadata: { ...rook.metadata, labels: { operator: 'rook', 'storage-backend': 'ceph' } },
    })
    const observing = stage.operate({ trust: besideRook })
    await stage.seconds(30)
    expect(await stage.budgets()).toEqual([])
    const writes = () => stage.written.filter((write) => !write.startsWith('create events/'))
    expect(writes()).toEqual(['create configmaps/cofferdam-ceph-drain'])
    const { metadata, data = {} } = await stage.observed()
    expect({ data, reason: metadata.annotations?.['cofferdam.io/reason'] }).toEqual({
      data: {},
      reason: 'ManagedElsewhere',
    })
    expect(metadata.annotations?.['cofferdam.io/domains']).toContain('"total":3,"held":0')
    stage.written.length = 0
    await stage.seconds(600)
    expect(stage.written).toEqual([])
    expect(await stage.told()).toEqual(['Normal ManagedElsewhere'])
    const scale = { type: 'merge' as const, body: { spec: { replicas: 0 } } }
    await stage.api.patch(deployments, { namespace: 'default', name: 'rook-ceph-operator' }, scale)
    await stage.seconds(3_600)
    expect([stage.written, await stage.budgets()]).toEqual([[], []])
    const stopped = observing.stop()
    await stage.seconds(30)
    await stopped
    stage.operate({ trust: alone })
    await stage.seconds(5)
    expect(await stage.budgets()).toEqual(calm)
    await expect(stage.observed()).rejects.toMatchObject({ reason: 'NotFound' })
    await stage.close()
  })

  it('forgets a cluster that is deleted, and its budgets go with it', async () => {
    const stage = await openCephStage()
    stage.operate()
    await stage.seconds(30)
    await stage.api.delete(cephClusters, { namespace, name: 'rook-ceph' })
    await stage.seconds(30)
    expect(await stage.budgets()).toEqual([])
    const text = await stage.metrics.registry.metrics()
    expect(text).not.toContain('cofferdam_ceph_decision_bool{')
    stage.asked.length = 0
    await stage.seconds(600)
    expect(stage.asked).toEqual([])
    await stage.close()
  })
})

describe('settings and rights that are wrong', () => {
  it('a pattern that is no pattern is told once, and the default is used', async () => {
    const stage = await openCephStage()
    stage.operate()
    await stage.patchCluster({ spec: { disruptionManagement: { pgHealthyRegex: '(active' } } })
    await stage.seconds(300)
    expect(await stage.budgets()).toEqual(calm)
    expect((await stage.record()).metadata.annotations?.['cofferdam.io/problems']).toMatch(
      /^cephcluster\/rook-ceph: pgHealthyRegex "\(active" is no regular expression/,
    )
    expect((await stage.told()).filter((news) => news === 'Warning ObjectsUnusable')).toHaveLength(1)
    await stage.close()
  })

  it('a write that is refused for want of a right is told once, counted, and tried again', async () => {
    const stage = await openCephStage()
    let isAllowed = false
    const api = changedApi(stage.api, {
      create: (type, object, options) =>
        type.plural === podDisruptionBudgets.plural && !isAllowed
          ? Promise.reject(new ApiError('Forbidden', 'poddisruptionbudgets.policy is forbidden'))
          : stage.api.create(type, object, options),
    })
    stage.operate({ api })
    await stage.seconds(60)
    expect(await stage.told()).toEqual(['Warning RightsMissing'])
    expect(await stage.metrics.registry.metrics()).toMatch(
      /cofferdam_ceph_refused_writes_total\{cluster="rook-ceph\/rook-ceph"\} [1-9]/,
    )
    isAllowed = true
    await stage.seconds(300)
    expect(await stage.budgets()).toEqual(calm)
    await stage.close()
  })

  it('a cluster that fails does not keep another from its budgets', async () => {
    const stage = await openCephStage()
    await stage.api.create(cephClusters, {
      apiVersion: 'ceph.rook.io/v1',
      kind: 'CephCluster',
      metadata: { namespace: 'default', name: 'broken' },
      spec: { disruptionManagement: { managePodBudgets: true } },
    })
    const api = changedApi(stage.api, {
      get: (type, key, options) =>
        key.namespace === 'default' ? Promise.reject(new Error('broken')) : stage.api.get(type, key, options),
    })
    stage.operate({ api })
    await stage.seconds(10)
    expect(await stage.budgets()).toEqual(calm)
    await stage.close()
  })

  it('in a dry run nothing is stored, and no flag of Ceph is changed', async () => {
    const stage = await openCephStage()
    stage.operate({ dryRun: true })
    await stage.seconds(10)
    await stage.cordon('node-x')
    await stage.evictOsd(0)
    await stage.seconds(10)
    expect(await stage.budgets()).toEqual([])
    expect(stage.asked.filter((prefix) => prefix.includes('set-group'))).toEqual([])
    await stage.close()
  })
})
