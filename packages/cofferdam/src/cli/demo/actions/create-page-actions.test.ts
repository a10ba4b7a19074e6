import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, events, nodes, podDisruptionBudgets, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { budget, openWorld, statefulSet } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PageActions } from '../../../dashboard/server/action-desk.ts'
import { appLockAnnotation } from '../../../shared/app-lock-annotation.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { installOperator } from '../install-operator.ts'
import { createPageActions } from './create-page-actions.ts'
import { offerForCeph, offerForNode, offerForOsd } from './offer-actions.ts'

const { signal } = new AbortController()

let scenario: Awaited<ReturnType<typeof openWorld>>
let actions: PageActions
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 2 })
  await installOperator(scenario.server)
  await scenario.api.create(statefulSets, statefulSet('orders', { replicas: 1 }))
  await scenario.api.create(podDisruptionBudgets, budget('orders', { maxUnavailable: 1 }))
  await scenario.seconds(30)
  actions = createPageActions({ ...scenario, calledAs: 'cofferdam' })
})
afterEach(() => scenario.stop())

async function press(object: string, action: string): Promise<void> {
  const performed = actions.perform({ object, action }, signal)
  await scenario.seconds(5)
  await performed
}

async function offered(object: string): Promise<Record<string, readonly string[]>> {
  return Object.fromEntries((await actions.offer(object, signal)).map(({ id, commands }) => [id, commands]))
}

async function timeline(): Promise<string[]> {
  const { items } = await scenario.api.list(events)
  return items.flatMap(({ reason, message }) => (reason === 'FromPage' ? [message ?? ''] : []))
}

const nodeAt = async () => (await scenario.api.list(nodes)).items[0]

describe('buttons on the page of the demo', () => {
  it('cordon, cut the power and undo both, each with a line in the timeline', async () => {
    const { name } = (await nodeAt())?.metadata ?? { name: '' }
    expect(await offered(`node/${name}`)).toEqual({
      cordon: [`kubectl cordon ${name}`],
      drain: [`cofferdam drain ${name} --no-wait`],
      'cut-power': [`kubectl annotate node ${name} cofferdam.io/power=off`],
    })
    await press(`node/${name}`, 'cordon')
    expect((await nodeAt())?.spec?.unschedulable).toBe(true)
    await press(`node/${name}`, 'cut-power')
    expect((await nodeAt())?.metadata.annotations).toMatchObject({ 'cofferdam.io/power': 'off' })
    expect(Object.keys(await offered(`node/${name}`))).toEqual(['uncordon', 'drain', 'restore-power'])
    await press(`node/${name}`, 'restore-power')
    await press(`node/${name}`, 'uncordon')
    expect((await nodeAt())?.metadata.annotations ?? {}).not.toHaveProperty(['cofferdam.io/power'])
    expect((await nodeAt())?.spec?.unschedulable).not.toBe(true)
    expect((await timeline()).sort()).toEqual([
      `cofferdam uncordon ${name} --no-wait`,
      `kubectl annotate node ${name} cofferdam.io/power-`,
      `kubectl annotate node ${name} cofferdam.io/power=off`,
      `kubectl cordon ${name}`,
    ])
  })

  it('a drain is the request that the command makes, and is not offered twice', async () => {
    const { name } = (await nodeAt())?.metadata ?? { name: '' }
    await press(`node/${name}`, 'drain')
    const { items } = await scenario.api.list(nodeDisruptions)
    expect(items.map(({ spec }) => [spec.nodeName, spec.requester])).toEqual([[name, 'page']])
    expect(await offered(`node/${name}`)).not.toHaveProperty('drain')
    await expect(actions.perform({ object: `node/${name}`, action: 'drain' }, signal)).rejects.toThrow(
      `drain is not possible for node/${name} now`,
    )
  })

  it('a lock is that of the command, and can be taken away again', async () => {
    const object = 'pdb/default/orders'
    const lockOf = async () =>
      (await scenario.api.get(podDisruptionBudgets, { namespace: 'default', name: 'orders' })).metadata.annotations?.[
        appLockAnnotation
      ]
    expect(await offered(object)).toEqual({
      lock: ['cofferdam lock pdb/default/orders --for 10m --reason rebalancing'],
    })
    await press(object, 'lock')
    expect(await lockOf()).toContain('rebalancing')
    expect(await offered(object)).toEqual({ unlock: ['cofferdam unlock pdb/default/orders'] })
    await press(object, 'unlock')
    expect(await lockOf()).toBeUndefined()
  })

  it('of what cannot be changed there is none', async () => {
    expect(await actions.offer('pod/default/orders-0', signal)).toEqual([])
    expect(await actions.offer('osd/rook-ceph/7', signal)).toEqual([])
    await expect(actions.offer('node/no-such', signal)).rejects.toThrow(/no-such/)
  })
})

describe('buttons for storage', () => {
  const osd = (annotations: Readonly<Record<string, string>> = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'rook-ceph', name: 'rook-ceph-osd-3', labels: { 'ceph-osd-id': '3' }, annotations },
    spec: { selector: {}, template: { metadata: {}, spec: { containers: [] } } },
  })
  const wish = (disk: Json) => [
    {
      do: 'patch',
      type: deployments,
      key: { namespace: 'rook-ceph', name: 'rook-ceph-osd-3' },
      body: { metadata: { annotations: { 'cofferdam.io/disk': disk } } },
    },
  ]

  it('a disk is killed by the annotation that the documents name, and mended by its removal', () => {
    const command = 'kubectl -n rook-ceph annotate deployment rook-ceph-osd-3 cofferdam.io/disk'
    expect(offerForOsd(osd())).toMatchObject([
      { id: 'kill-disk', label: 'Kill the disk of osd.3', commands: [`${command}=failed`], steps: wish('failed') },
    ])
    expect(offerForOsd(osd({ 'cofferdam.io/disk': 'failed' }))).toMatchObject([
      { id: 'mend-disk', commands: [`${command}-`], steps: wish(null) },
    ])
  })

  it('a node offers a disk of its own', () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-a1' } }
    const ids = offerForNode(node, { osds: [osd()], hasRequest: false, calledAs: 'cofferdam' }).map(({ id }) => id)
    expect(ids).toEqual(['cordon', 'drain', 'cut-power', 'kill-disk'])
  })

  it('an update gives all OSDs the next image, without waiting for daemons that nothing updates here', () => {
    const metadata = { namespace: 'rook-ceph', name: 'rook-ceph' }
    const cluster = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', metadata }
    const [update] = offerForCeph({ ...cluster, spec: { cephVersion: { image: 'example/ceph:v19.2.3' } } })
    expect(update?.steps.at(-1)).toEqual({
      do: 'patch',
      type: cephClusters,
      key: metadata,
      body: { spec: { cephVersion: { image: 'example/ceph:v19.2.4' } } },
    })
    expect(update?.commands[0]).toContain('cofferdam.io/update-mons-first=false')
    expect(offerForCeph(cluster)).toEqual([])
  })
})
