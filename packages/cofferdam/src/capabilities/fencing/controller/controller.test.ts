import { events } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type FencingStage, type FencingStageOptions, label, openFencingStage } from '../testing/fencing-stage.ts'

let stage: FencingStage
afterEach(() => stage.close())

async function open(options?: FencingStageOptions): Promise<FencingStage> {
  stage = await openFencingStage(options)
  return stage
}

async function openCalm(options?: FencingStageOptions): Promise<FencingStage> {
  await open(options)
  stage.operate()
  await stage.seconds(30)
  stage.writes()
  return stage
}

describe('the machine budget of a Ceph cluster', () => {
  it('is made with nothing to spare, and can spare one machine as soon as Ceph was seen clean', async () => {
    await open()
    const seen: string[] = []
    stage.operate({ api: noting(stage.api, async () => seen.push(await stage.budgetLine())) })
    await stage.seconds(30)
    expect(seen[0]).toMatch(/^(none|0: )/)
    expect(await stage.budgetLine()).toBe('1: 1 of 3, 3 healthy')
    expect(await stage.labelled()).toEqual(['workers-1', 'workers-2', 'workers-3'])
    const { metadata, spec } = await stage.budget()
    expect(spec).toEqual({ maxUnavailable: 1, selector: { matchLabels: { [label]: 'true' } } })
    expect(metadata.labels).toMatchObject({
      'rook.io/cephClusterName': 'rook-ceph',
      'rook.io/cephClusterNamespace': 'rook-ceph',
    })
  })

  it('is written once, and then nothing is written while nothing happens', async () => {
    await openCalm()
    await stage.seconds(1_200)
    expect(stage.writes()).toEqual([])
    expect(await stage.budgetLine()).toBe('1: 1 of 3, 3 healthy')
  })

  it('spares nothing as soon as data is missing, and again one machine when it is back', async () => {
    await openCalm()
    stage.ceph.controls.setRecoveryRate(1)
    stage.world.kubelet.powerOff('node-x')
    await stage.until('closed', async () => (await stage.budgetLine()).startsWith('0: 0'), 120)
    stage.world.kubelet.powerOn('node-x')
    stage.ceph.controls.setRecoveryRate(100)
    await stage.until('open', async () => (await stage.budgetLine()) === '1: 1 of 3, 3 healthy', 300)
  })

  it('spares nothing while Ceph does not answer', async () => {
    await openCalm()
    stage.ceph.controls.silence(true)
    await stage.seconds(75)
    expect(await stage.budgetLine()).toBe('0: 0 of 3, 3 healthy')
    expect(await stage.labelled()).toEqual(['workers-1', 'workers-2', 'workers-3'])
    stage.ceph.controls.silence(false)
    await stage.seconds(90)
    expect(await stage.budgetLine()).toBe('1: 1 of 3, 3 healthy')
  })

  it('spares nothing where nobody looks at Ceph', async () => {
    await open()
    stage.operate({ controllers: ['fencing'] })
    await stage.seconds(120)
    expect(await stage.budgetLine()).toBe('0: 0 of 3, 3 healthy')
    expect(await stage.told()).toContain('Warning FenceUnknown')
  })

  it('is put right when somebody changes it by hand, and that is told', async () => {
    await openCalm()
    await stage.changeBudget({ spec: { maxUnavailable: 5, selector: { matchLabels: { all: 'mine' } } } })
    await stage.seconds(5)
    expect(await stage.budgetLine()).toBe('1: 1 of 3, 3 healthy')
    expect((await stage.budget()).spec?.selector).toEqual({ matchLabels: { [label]: 'true' } })
    expect(await stage.toldAbout('rook-ceph-rook-ceph')).toEqual(['Warning ObjectsUnusable'])
  })

  it('goes with its cluster, and so do the labels', async () => {
    await openCalm()
    await stage.patchCluster({ spec: { disruptionManagement: { manageMachineDisruptionBudgets: false } } })
    await stage.seconds(5)
    expect(await stage.budgetLine()).toBe('none')
    expect(await stage.labelled()).toEqual([])
    expect((await stage.machine('workers-1')).metadata.annotations ?? {}).toEqual({})
  })

  it('is not made where there is no kind of Machine', async () => {
    await open({ without: ['machine.openshift.io'] })
    stage.operate()
    await stage.seconds(60)
    expect(await stage.budgetLine()).toBe('none')
  })

  it('is told to be missing where its kind is not installed, and nothing may be fenced', async () => {
    await open({ without: ['machinedisruptionbudgets'] })
    stage.operate()
    await stage.seconds(120)
    expect(await stage.labelled()).toEqual(['workers-1', 'workers-2', 'workers-3'])
    expect(await stage.told()).toContain('Warning FenceUnknown')
  })
})

describe('what is missing', () => {
  it('is told when it is the namespace for the budget, and nothing may be fenced', async () => {
    await openCalm()
    await stage.patchCluster({ spec: { disruptionManagement: { machineDisruptionBudgetNamespace: 'nowhere' } } })
    await stage.seconds(10)
    expect(await stage.budgetLine()).toBe('0: 0 of 3, 3 healthy')
    await stage.seconds(120)
    const { items } = await stage.api.list(events)
    const told = items.filter(({ reason }) => reason === 'FenceUnknown').map(({ message }) => message)
    expect(told.at(-1)).toContain('machineDisruptionBudgetNamespace')
    expect(await stage.budgetLine()).toBe('0: 0 of 3, 3 healthy')
  })
})

/** Tells after each write. */
function noting(api: KubeApi, after: () => Promise<unknown>): KubeApi {
  const then = async <T>(call: Promise<T>): Promise<T> => {
    const answer = await call
    await after()
    return answer
  }
  return {
    get: (...request) => api.get(...request),
    list: (...request) => api.list(...request),
    watch: (...request) => api.watch(...request),
    createSubresource: (...request) => api.createSubresource(...request),
    deleteCollection: (...request) => api.deleteCollection(...request),
    create: (...request) => then(api.create(...request)),
    update: (...request) => then(api.update(...request)),
    patch: (...request) => then(api.patch(...request)),
    delete: (...request) => then(api.delete(...request)),
  }
}
