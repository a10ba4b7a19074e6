import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { configMaps, deployments, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { updateStartedAnnotation } from '@cofferdam/product/capabilities/osd-update/domain/update-mark.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openStage, type Stage } from '../stage/open-stage.ts'
import { applyNextDefinitions, noteOfNext } from '../stage/other-version.ts'
import { type Write, witnessed } from '../stage/witness.ts'
import type { ClusterShape } from '../story.ts'
import { type Blame, openBlame } from './blame.ts'
import { openExcuses } from './excuses.ts'
import { openOracle, type WholeOracle } from './open-oracle.ts'
import { shop } from './watch-apps.ts'

const shape: ClusterShape = {
  file: {
    zones: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    nodes: ['a', 'b', 'c'].map((zone) => ({ name: `node-${zone}`, zone, roles: ['worker'] })),
    apps: [{ name: 'web', namespace: shop, replicas: 3, spread: 'host', pdb: { maxUnavailable: 1 } }],
    ceph: { pools: [{ name: 'replicapool', failureDomain: 'host', pgs: 8 }] },
  },
  nodes: ['node-a', 'node-b', 'node-c'],
  apps: ['web'],
  osds: [0, 1, 2],
  domain: 'host',
  volumes: [],
  hasMachines: false,
  hasKured: false,
}

let stage: Stage
let blame: Blame
let oracle: WholeOracle
/** A rival with the operator's name, and none of its sense. */
let rival: KubeApi
let endNodes: () => void

beforeEach(async () => {
  const current = { writer: 'the cluster' }
  let onWrite: (write: Write) => (() => void) | undefined = () => undefined
  const witness = { current, onWrite: (write: Write) => onWrite(write) }
  stage = await openStage({ seed: 1, shape, tell: () => {}, ...witness })
  blame = openBlame(stage.clock, () => {})
  const excuses = openExcuses(stage.clock, () => stage.processes)
  oracle = openOracle(stage, { blame, excuses, writer: () => current.writer })
  onWrite = oracle.onWrite
  endNodes = stage.server.observe('nodes', ({ type, object }) =>
    oracle.writes.sawNode(object as Node, type === 'DELETED'),
  )
  rival = witnessed(stage.server.as(clusterAdmin), 'operator', witness)
  await seconds(10)
})

afterEach(async () => {
  endNodes()
  oracle.stop()
  await stage.close()
})

async function seconds(count: number): Promise<void> {
  for (let second = 0; second < count; second += 1) {
    await stage.clock.advance(1_000)
    oracle.look()
  }
}

const rules = () => [...new Set(blame.violations.map(({ rule }) => rule))].sort()
const podsOf = (app: string) =>
  [...stage.views.of(pods).values()]
    .filter(({ metadata }) => metadata.labels?.['app'] === app)
    .map(({ metadata: { namespace = '', name } }) => ({ namespace, name }))

async function removeBudgets(): Promise<void> {
  for (const { metadata } of Array.from(stage.views.of(podDisruptionBudgets).values())) {
    const { namespace = '', name } = metadata
    await stage.api.delete(podDisruptionBudgets, { namespace, name })
  }
}

async function writeOsd(osd: number, change: (deployment: Deployment) => Deployment): Promise<void> {
  const key = { namespace: 'rook-ceph', name: `rook-ceph-osd-${osd}` }
  await rival.update(deployments, change(await stage.api.get(deployments, key)))
}

function restarted(each: Deployment): Deployment {
  const { template } = each.spec
  const metadata = { ...template.metadata, annotations: { restarted: 'now' } }
  return { ...each, spec: { ...each.spec, template: { ...template, metadata } } }
}

it('an operator that leaves a healthy cluster alone breaks no promise', async () => {
  await seconds(60)
  expect(blame.violations).toEqual([])
})

it('an operator that deletes pods of an application is blamed for the deletion and for the pods that are missing', async () => {
  const [first, second] = podsOf('web')
  await rival.delete(pods, first as { name: string })
  await rival.delete(pods, second as { name: string })
  await seconds(3)
  expect(rules()).toEqual(['S15', 'S5'])
})

it('an operator that answers to its own write with the next is blamed, and stopped, or the scenario would never end', async () => {
  const note = (text: string) =>
    rival.patch(nodes, { name: 'node-a' }, { type: 'merge', body: { metadata: { annotations: { note: text } } } })
  const hurry = async () => {
    for (let count = 0; count < 1_000; count += 1) await note(String(count))
  }
  await expect(hurry()).rejects.toThrow('was written 200 times within a second')
  expect(blame.violations.map(({ rule, sentence }) => `${rule} ${sentence}`)).toEqual([
    'L8 the operator writes nodes//node-a/ without an end',
  ])
})

it('an operator that opens a node which a colleague closed is blamed', async () => {
  const close = (unschedulable: boolean | null) =>
    [nodes, { name: 'node-a' }, { type: 'merge', body: { spec: { unschedulable } } }] as const
  await stage.api.patch(...close(true))
  await rival.patch(...close(null))
  expect(rules()).toEqual(['S16'])
})

it('an operator that writes its private key where others read it is blamed', async () => {
  await rival.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name: 'notes' },
    data: { key: '-----BEGIN PRIVATE KEY-----' },
  })
  expect(rules()).toEqual(['S20'])
})

it('an operator that lets OSDs of two hosts go together is blamed for bare OSDs and for data that clients cannot reach', async () => {
  // It would make them anew at once.
  await stage.processes.stop()
  await removeBudgets()
  const [first, second] = podsOf('rook-ceph-osd') as { namespace: string; name: string }[]
  await evictPod(stage.api, first as { namespace: string; name: string })
  await evictPod(stage.api, second as { namespace: string; name: string })
  await seconds(2)
  expect(rules()).toEqual(['S1', 'S11'])
})

it('an operator that lets an OSD go beside one that is back and not recovered is blamed for the whole copies, though processes suffice', async () => {
  await stage.processes.stop()
  await removeBudgets()
  stage.ceph?.controls.setRecoveryRate(0)
  const [first, second] = podsOf('rook-ceph-osd') as { namespace: string; name: string }[]
  await evictPod(stage.api, first as { namespace: string; name: string })
  await seconds(30)
  expect(stage.ceph?.controls.truth().serving.size).toBe(3)
  await evictPod(stage.api, second as { namespace: string; name: string })
  expect(blame.violations.map(({ sentence }) => sentence).join()).toContain('without enough whole copies (floor 2)')
})

it('an OSD whose pod two drains evicted is back with its successor, and does not make the next step guilty (seed 2065)', async () => {
  const [first] = podsOf('rook-ceph-osd') as [{ namespace: string; name: string }]
  await evictPod(stage.api, first)
  await seconds(1)
  expect(podsOf('rook-ceph-osd')).toHaveLength(4)
  await evictPod(stage.api, first)
  await seconds(60)
  await writeOsd(1, restarted)
  expect(rules()).toEqual([])
})

it('an operator that restarts OSDs of two hosts together is blamed, and one that only takes its marks away is not', async () => {
  await stage.processes.stop()
  const marked = (each: Deployment) => ({
    ...each,
    metadata: { ...each.metadata, annotations: { ...each.metadata.annotations, mark: 'now' } },
  })
  for (const osd of [0, 1, 2]) await writeOsd(osd, marked)
  expect(rules()).toEqual([])
  for (const osd of [0, 1]) await writeOsd(osd, restarted)
  expect(rules()).toEqual(['S1'])
})

it('an operator that restarts an OSD which needs no update, and does not hold the storage, is blamed', async () => {
  // Both replicas are there for so long that they have no excuse.
  await seconds(60)
  await writeOsd(0, (osd) => ({
    ...osd,
    metadata: {
      ...osd.metadata,
      annotations: { ...osd.metadata.annotations, [updateStartedAnnotation]: rfc3339(stage.clock.now()) },
    },
  }))
  await seconds(3)
  const found = blame.violations.filter(({ rule }) => rule === 'S14').map(({ sentence }) => sentence)
  expect(found).toEqual([
    expect.stringContaining('osd.0 was started, and needed no update'),
    expect.stringContaining('osd.0 was started without holding the storage'),
  ])
})

it('evictions that leave one monitor of three are blamed for the quorum', async () => {
  await stage.processes.stop()
  await removeBudgets()
  const [first, second] = podsOf('rook-ceph-mon') as { namespace: string; name: string }[]
  await evictPod(stage.api, first as { namespace: string; name: string })
  expect(rules()).not.toContain('S9')
  await evictPod(stage.api, second as { namespace: string; name: string })
  expect(rules()).toContain('S9')
})

it('an operator that lets a machine be fenced while copies are missing is blamed', async () => {
  await stage.processes.stop()
  const name = 'rook-ceph-rook-ceph'
  const type = { group: 'g.example', version: 'v1', plural: 'machinedisruptionbudgets', kind: 'B', namespaced: true }
  const allows = (disruptionsAllowed: number) =>
    oracle.onWrite({
      actor: 'operator',
      verb: 'update',
      type,
      key: { namespace: 'default', name },
      subresource: 'status',
      body: { status: { disruptionsAllowed } },
      isDryRun: false,
    })
  allows(1)
  expect(rules()).toEqual([])
  stage.ceph?.controls.failDisk(0)
  await seconds(30)
  allows(0)
  expect(rules()).not.toContain('S8')
  allows(1)
  expect(rules()).toContain('S8')
})

it('an eviction under a lock that nobody guards any more is blamed', async () => {
  const until = rfc3339(stage.clock.now() + 600_000)
  const text = JSON.stringify({ until, holder: 'bob', reason: 'rebalance' })
  await stage.api.patch(
    podDisruptionBudgets,
    { namespace: shop, name: 'web' },
    { type: 'merge', body: { metadata: { annotations: { [appLockAnnotation]: text } } } },
  )
  oracle.writes.locked('web')
  await seconds(15)
  const webhooks = { group: 'admissionregistration.k8s.io', version: 'v1', plural: 'validatingwebhookconfigurations' }
  const type = { ...webhooks, kind: 'ValidatingWebhookConfiguration', namespaced: false }
  await stage.api.delete(type, { name: 'cofferdam-eviction-guard' })
  await evictPod(stage.api, podsOf('web')[0] as { namespace: string; name: string })
  expect(rules()).toEqual(['S4'])
})

it('a ledger in which two requests hold one node is blamed', async () => {
  const entry = (requestId: string) => ({
    key: 'node/node-a',
    holder: requestId,
    requestId,
    uid: '',
    epoch: 7,
    state: 'Acting' as const,
    since: rfc3339(stage.clock.now()),
    renewSequence: 1,
  })
  const body = { status: { nextEpoch: 9, nextTicket: 3, entries: [entry('one'), entry('two')] } }
  const patch = { type: 'merge' as const, body }
  await stage.api.patch(disruptionLedgers, { name: ledgerName }, patch, { subresource: 'status' })
  await seconds(1)
  expect(blame.violations.map(({ sentence }) => sentence)).toEqual(['one and two both held node/node-a'])
})

it('a request that says its node may go without a hold on it is blamed', async () => {
  await stage.processes.stop()
  await stage.api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'early' },
    spec: { nodeName: 'node-a', intent: 'Remove', honourSkipDrain: true },
  })
  const body = { status: { phase: 'Drained' } }
  await stage.api.patch(nodeDisruptions, { name: 'early' }, { type: 'merge', body }, { subresource: 'status' })
  await seconds(1)
  expect(rules()).toEqual(['S6'])
})

it('an operator that drops what another version noted on a request is blamed', async () => {
  await stage.processes.stop()
  await applyNextDefinitions(stage.api)
  await stage.api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'noted' },
    spec: { nodeName: 'node-a', intent: 'Reboot', honourSkipDrain: true },
  })
  const write = (status: object) =>
    rival.patch(
      nodeDisruptions,
      { name: 'noted' },
      { type: 'merge', body: { status: { ...status } } },
      { subresource: 'status' },
    )
  await write({ phase: 'Waiting', [noteOfNext]: 'yes' })
  await write({ phase: 'Locking' })
  await seconds(1)
  expect(rules()).toEqual([])
  await write({ [noteOfNext]: null })
  await seconds(1)
  expect(rules()).toEqual(['S21'])
})

it('a ledger that somebody deleted is made of records again, which have nothing of the notes in it (short seed 541175)', async () => {
  await stage.processes.stop()
  await applyNextDefinitions(stage.api)
  const hold = {
    key: 'node/node-a',
    holder: 'one',
    requestId: 'noted',
    epoch: 1,
    state: 'Acting',
    since: '2026-01-01T00:00:00Z',
    uid: 'a',
    scope: '',
    renewSequence: 0,
  }
  const write = async (entry: JsonObject) => {
    const ledger = { apiVersion: 'cofferdam.io/v1alpha1', kind: 'DisruptionLedger', metadata: { name: 'cluster' } }
    const key = { name: 'cluster' }
    await stage.api.get(disruptionLedgers, key).catch(() => stage.api.create(disruptionLedgers, ledger))
    const body = { status: { nextEpoch: 2, entries: [entry] } }
    await rival.patch(disruptionLedgers, key, { type: 'merge', body }, { subresource: 'status' })
    await seconds(1)
  }
  await write({ ...hold, [noteOfNext]: 'yes' })
  await stage.api.delete(disruptionLedgers, { name: 'cluster' })
  await write(hold)
  expect(rules()).toEqual([])
  await write({ ...hold, [noteOfNext]: 'yes' })
  await write(hold)
  expect(rules()).toEqual(['S21'])
})
