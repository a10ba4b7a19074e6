import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { events, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type FencingFixture,
  type FencingFixtureOptions,
  label,
  openFencingFixture,
} from '../testing/fencing-fixture.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

async function open(options?: FencingFixtureOptions): Promise<FencingFixture> {
  fixture = await openFencingFixture(options)
  return fixture
}

async function openCalm(options?: FencingFixtureOptions): Promise<FencingFixture> {
  await open(options)
  fixture.operate()
  await fixture.seconds(30)
  fixture.writes()
  return fixture
}

describe('the machine budget of a Ceph cluster', () => {
  it('is made with nothing to spare, and can spare one machine as soon as Ceph was seen clean', async () => {
    await open()
    const seen: string[] = []
    fixture.operate({ api: noting(fixture.api, async () => seen.push(await fixture.budgetLine())) })
    await fixture.seconds(30)
    expect(seen[0]).toMatch(/^(none|0: )/)
    expect(await fixture.budgetLine()).toBe('1: 1 of 3, 3 healthy')
    expect(await fixture.labelled()).toEqual(['workers-1', 'workers-2', 'workers-3'])
    const { metadata, spec } = await fixture.budget()
    expect(spec).toEqual({ maxUnavailable: 1, selector: { matchLabels: { [label]: 'true' } } })
    expect(metadata.labels).toMatchObject({
      'rook.io/cephClusterName': 'rook-ceph',
      'rook.io/cephClusterNamespace': 'rook-ceph',
    })
  })

  it('is written once, and then nothing is written while nothing happens', async () => {
    await openCalm()
    await fixture.seconds(1_200)
    expect(fixture.writes()).toEqual([])
    expect(await fixture.budgetLine()).toBe('1: 1 of 3, 3 healthy')
  })

  it('spares nothing as soon as data is missing, and again one machine when it is back', async () => {
    await openCalm()
    fixture.ceph.controls.setRecoveryRate(1)
    fixture.world.kubelet.powerOff('node-x')
    await fixture.until('closed', async () => (await fixture.budgetLine()).startsWith('0: 0'), 120)
    fixture.world.kubelet.powerOn('node-x')
    fixture.ceph.controls.setRecoveryRate(100)
    await fixture.until('open', async () => (await fixture.budgetLine()) === '1: 1 of 3, 3 healthy', 300)
  })

  it('spares nothing from when the pod of an OSD is deleted, not from when Ceph notices: a second machine would take the second copy', async () => {
    await openCalm()
    const { items } = await fixture.api.list(pods, { labelSelector: 'app=rook-ceph-osd' })
    const { namespace = '', name } = items[0]?.metadata ?? { name: '' }
    await fixture.api.delete(pods, { namespace, name })
    await fixture.clock.advance(200)
    expect(fixture.ceph.controls.truth().serving.size).toBe(5)
    expect(await fixture.budgetLine()).toBe('0: 0 of 3, 3 healthy')
    await fixture.until('open', async () => (await fixture.budgetLine()) === '1: 1 of 3, 3 healthy', 300)
  })

  it('is not opened on what a late watch shows: an OSD that the API server has as leaving is leaving', async () => {
    await open()
    let isLate = true
    fixture.operate({
      api: withOsdPods(fixture.api, (pod) =>
        isLate ? { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } : pod,
      ),
    })
    await fixture.seconds(30)
    expect(await fixture.budgetLine()).toBe('0: 0 of 3, 3 healthy')
    isLate = false
    await fixture.seconds(70)
    expect(await fixture.budgetLine()).toBe('1: 1 of 3, 3 healthy')
  })

  it('is not opened where the pods of OSDs cannot be read at that moment, and says so', async () => {
    await open()
    fixture.operate({
      api: withOsdPods(fixture.api, () => {
        throw new Error('no connection')
      }),
    })
    await fixture.seconds(30)
    expect(await fixture.budgetLine()).toBe('0: 0 of 3, 3 healthy')
    expect((await fixture.budget()).metadata.annotations?.['cofferdam.io/explanation']).toContain('no connection')
  })

  it('spares nothing while Ceph does not answer', async () => {
    await openCalm()
    fixture.ceph.controls.silence(true)
    await fixture.seconds(75)
    expect(await fixture.budgetLine()).toBe('0: 0 of 3, 3 healthy')
    expect(await fixture.labelled()).toEqual(['workers-1', 'workers-2', 'workers-3'])
    fixture.ceph.controls.silence(false)
    await fixture.seconds(90)
    expect(await fixture.budgetLine()).toBe('1: 1 of 3, 3 healthy')
  })

  it('spares nothing where nobody looks at Ceph', async () => {
    await open()
    fixture.operate({ controllers: ['fencing'] })
    await fixture.seconds(120)
    expect(await fixture.budgetLine()).toBe('0: 0 of 3, 3 healthy')
    expect(await fixture.told()).toContain('Warning FenceUnknown')
  })

  it('is put right when somebody changes it by hand, and that is told', async () => {
    await openCalm()
    await fixture.changeBudget({ spec: { maxUnavailable: 5, selector: { matchLabels: { all: 'mine' } } } })
    await fixture.seconds(5)
    expect(await fixture.budgetLine()).toBe('1: 1 of 3, 3 healthy')
    expect((await fixture.budget()).spec?.selector).toEqual({ matchLabels: { [label]: 'true' } })
    expect(await fixture.toldAbout('rook-ceph-rook-ceph')).toEqual(['Warning ObjectsUnusable'])
  })

  it('goes with its cluster, and so do the labels', async () => {
    await openCalm()
    await fixture.patchCluster({ spec: { disruptionManagement: { manageMachineDisruptionBudgets: false } } })
    await fixture.seconds(5)
    expect(await fixture.budgetLine()).toBe('none')
    expect(await fixture.labelled()).toEqual([])
    expect((await fixture.machine('workers-1')).metadata.annotations ?? {}).toEqual({})
  })

  it('is not made where there is nothing to fence', async () => {
    await open({ without: ['machine.openshift.io', 'nodehealthchecks'] })
    fixture.operate()
    await fixture.seconds(60)
    expect((await fixture.api.list(machineDisruptionBudgets)).items).toEqual([])
  })

  it('is beside its cluster where nodes are fenced without Machines: their namespace is not there', async () => {
    await open({ without: ['machine.openshift.io'] })
    fixture.operate()
    await fixture.seconds(60)
    const { items } = await fixture.api.list(machineDisruptionBudgets)
    expect(items.map(({ metadata }) => metadata.namespace)).toEqual(['rook-ceph'])
  })

  it('is told to be missing where its kind is not installed, and nothing may be fenced', async () => {
    await open({ without: ['machinedisruptionbudgets'] })
    fixture.operate()
    await fixture.seconds(120)
    expect(await fixture.labelled()).toEqual(['workers-1', 'workers-2', 'workers-3'])
    expect(await fixture.told()).toContain('Warning FenceUnknown')
  })
})

describe('what is missing', () => {
  it('is told when it is the namespace for the budget, and nothing may be fenced', async () => {
    await openCalm()
    await fixture.patchCluster({ spec: { disruptionManagement: { machineDisruptionBudgetNamespace: 'nowhere' } } })
    await fixture.seconds(10)
    expect(await fixture.budgetLine()).toBe('0: 0 of 3, 3 healthy')
    await fixture.seconds(120)
    const { items } = await fixture.api.list(events)
    const told = items.filter(({ reason }) => reason === 'FenceUnknown').map(({ message }) => message)
    expect(told.at(-1)).toContain('machineDisruptionBudgetNamespace')
    expect(await fixture.budgetLine()).toBe('0: 0 of 3, 3 healthy')
  })
})

/** What the API server answers to whoever lists the pods of OSDs; what is watched stays as it is. */
function withOsdPods(api: KubeApi, answer: (pod: Pod) => Pod): KubeApi {
  return {
    ...noting(api, async () => {}),
    async list<T extends KubeObject>(type: ResourceType<T>, query: Parameters<KubeApi['list']>[1] = {}) {
      const list = await api.list(type, query)
      const isOfOsds =
        type.plural === 'pods' && query.labelSelector === 'app=rook-ceph-osd' && query.namespace !== undefined
      return isOfOsds
        ? { ...list, items: list.items.map((pod) => answer(pod as KubeObject as Pod) as KubeObject as T) }
        : list
    },
  }
}

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
