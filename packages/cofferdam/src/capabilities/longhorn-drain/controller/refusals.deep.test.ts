import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { longhornNamespace, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { type OperatedLonghorn, openOperatedLonghorn } from '../testing/longhorn-operator.ts'

const namespace = longhornNamespace
const creeping = { rebuildBytesPerSecond: 64 * 1024 }
const volumes = ['a', 'b', 'c'].map((name) => ({
  name,
  numberOfReplicas: 2,
  placedOn: ['node-1', 'node-2'],
  filled: 0.25,
}))

async function leaving({ list }: OperatedLonghorn): Promise<string[]> {
  const flagged = (await list(longhornReplicas)).filter(({ spec }) => spec?.evictionRequested === true)
  return flagged.map(({ spec }) => `${spec?.volumeName} from ${spec?.nodeID}`).sort()
}

type Write = `${'create' | 'patch' | 'delete'} ${string}`

/** Refuses writes as long as `isRefused` says so of them: `patch replicas/b-r-1`. */
function refusing(api: KubeApi, isRefused: (write: Write) => boolean): KubeApi {
  const check = (write: Write) => {
    if (isRefused(write)) throw new ApiError('Forbidden', `no right to ${write}`)
  }
  return changedApi(api, {
    async create(type, object, options) {
      check(`create ${type.plural}/${object.metadata.name}`)
      return api.create(type, object, options)
    },
    async patch(type, key, patch, options) {
      check(`patch ${type.plural}/${key.name}`)
      return api.patch(type, key, patch, options)
    },
    async delete(type, key, options) {
      check(`delete ${type.plural}/${key.name}`)
      return api.delete(type, key, options)
    },
  })
}

/** Stricter than the setting, by which Longhorn goes. */
const notes = { 'wanted-policy': 'block-for-eviction' }

async function openRefused(isRefused: (write: Write) => boolean): Promise<OperatedLonghorn> {
  const fixture = await openOperatedLonghorn(
    { volumes, timings: creeping },
    { notes, api: ({ api }) => refusing(api, isRefused) },
  )
  for (const { name } of volumes) await fixture.controls.attach(name, 'node-2')
  await fixture.seconds(5)
  return fixture
}

describe('one write that is refused', () => {
  it('of the setting: the node is held all the same, nothing moves, and the setting tells why, once', async () => {
    const fixture = await openRefused((write) => write === 'patch settings/node-drain-policy')
    await fixture.cordon('node-1')
    await fixture.seconds(600)
    expect([await leaving(fixture), await fixture.held()]).toEqual([[], ['node-1', 'node-2']])
    expect(await fixture.evict('node-1')).toBe('refused')
    expect(await fixture.told('node-drain-policy')).toEqual(['Warning RightsMissing'])
    await fixture.close()
  })

  it('of a budget keeps every other budget where it is, and stops no move', async () => {
    let isRefused = false
    const fixture = await openRefused((write) => isRefused && write.startsWith('create poddisruptionbudgets/'))
    const { api, annotate, cordon, held, list, seconds, told, close } = fixture
    const [lost] = (await list(podDisruptionBudgets)).filter(
      ({ metadata, spec }) =>
        metadata.name.startsWith('cofferdam-hold-') && spec.selector?.matchLabels?.['longhorn.io/node'] === 'node-2',
    )
    isRefused = true
    await api.delete(podDisruptionBudgets, { namespace, name: lost?.metadata.name ?? '' })
    await seconds(10)
    await annotate('always-allow', 'wanted-policy')
    await annotate(null, 'wanted-policy')
    await cordon('node-3')
    await seconds(30)
    expect(await told('node-drain-policy')).toContain('Warning RightsMissing')
    await annotate('block-for-eviction', 'wanted-policy')
    await cordon('node-1')
    await seconds(60)
    expect(await held()).not.toContain('node-2')
    expect(await leaving(fixture)).toEqual(['a from node-1', 'b from node-1', 'c from node-1'])
    await close()
  })

  it('of the record of a move stops no replica', async () => {
    const fixture = await openRefused((write) => write === 'patch nodes/node-1')
    await fixture.cordon('node-1')
    await fixture.seconds(60)
    expect(await leaving(fixture)).toEqual(['a from node-1', 'b from node-1', 'c from node-1'])
    await fixture.close()
  })
})

describe('one object that cannot be read', () => {
  it('holds its own node and no other, and is named', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [volumes[0] as (typeof volumes)[0]] })
    const { api, controls, cordon, eventsAbout, evict, seconds, told, close } = fixture
    await controls.attach('a', 'node-2')
    await seconds(5)
    await api.create(longhornReplicas, {
      apiVersion: 'longhorn.io/v1beta2',
      kind: 'Replica',
      metadata: { name: 'broken', namespace, finalizers: ['example.org/stays'] },
      spec: { nodeID: 'node-3', evictionRequested: false },
    })
    await seconds(5)
    expect(await eventsAbout('node-drain-policy')).toEqual([
      expect.stringContaining('replica/broken: spec.volumeName is not set'),
    ])
    await cordon('node-1')
    await cordon('node-3')
    await seconds(5)
    expect(await evict('node-1')).toBe('going')
    expect(await evict('node-3')).toBe('refused')
    expect(await told('node-3')).toEqual(['Normal ObjectsUnusable'])
    await close()
  })
})

describe('the budgets of the CSI sidecars', () => {
  async function csiBudgets({ list }: OperatedLonghorn): Promise<string[]> {
    const names = (await list(podDisruptionBudgets)).map(({ metadata }) => metadata.name)
    return names.filter((name) => name.startsWith('csi-')).sort()
  }

  it('are there while a volume is in use, and gone when all are detached', async () => {
    const fixture = await openOperatedLonghorn({ volumes })
    const { controls, seconds } = fixture
    expect(await csiBudgets(fixture)).toEqual([])
    await controls.attach('a', 'node-2')
    await seconds(5)
    expect(await csiBudgets(fixture)).toEqual(['csi-attacher', 'csi-provisioner'])
    const [attacher] = (await fixture.list(podDisruptionBudgets)).filter(
      ({ metadata }) => metadata.name === 'csi-attacher',
    )
    expect(attacher?.spec).toEqual({ minAvailable: 1, selector: { matchLabels: { app: 'csi-attacher' } } })
    await controls.detach('a')
    await seconds(10)
    expect(await csiBudgets(fixture)).toEqual([])
    expect(fixture.warned).toEqual([])
    await fixture.close()
  })

  it('go with their Deployment', async () => {
    const fixture = await openOperatedLonghorn({ volumes })
    await fixture.controls.attach('a', 'node-2')
    await fixture.seconds(5)
    await fixture.api.delete(deployments, { namespace, name: 'csi-provisioner' })
    await fixture.seconds(1)
    expect(await csiBudgets(fixture)).toEqual(['csi-attacher'])
    await fixture.close()
  })
})
