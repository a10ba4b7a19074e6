import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import {
  longhornNamespace,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { leases, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { followDrain } from './longhorn/follow-drain.ts'
import { type LonghornLab, openLonghornLab, workloadOn } from './longhorn-lab.ts'
import { findLonghorn } from './parts/find-longhorn.ts'

const nodeNames = ['node-a', 'node-b', 'node-c', 'node-d']
const volumes = [
  { name: 'single', numberOfReplicas: 1, placedOn: ['node-a'], filled: 1, sizeBytes: 1024 ** 3 },
  { name: 'triple', numberOfReplicas: 3, placedOn: ['node-a', 'node-b', 'node-c'], filled: 0.25 },
]
const timings = { attachMs: 300, detachMs: 300, resyncMs: 2_000, rebuildBytesPerSecond: 256 * 1024 ** 2 }
/** What the setting says at rest: nothing moves. */
const mild = 'block-if-contains-last-replica'
/** The modes that write. As guide, what is more than the setting at rest comes too late where Longhorn lets go at the moment of a cordon. */
const modes = [
  { mode: 'guide', moveAll: { setting: 'block-for-eviction' } },
  { mode: 'hold', moveAll: { wanted: 'block-for-eviction' } },
] as const
const moveLast = { wanted: 'block-for-eviction-if-contains-last-replica' }

const setting = 'settings.longhorn.io/node-drain-policy'
const inLonghorn = { namespace: longhornNamespace }

let lab: LonghornLab
let atRest: string = mild
beforeAll(async () => {
  const brain = await findLonghorn((line) => console.error(line))
  lab = await openLonghornLab('longhorn-brain', { nodeNames, brain, longhorn: { volumes, timings } })
  for (const { name } of volumes) await lab.kubectlWith(workloadOn('node-a', name), 'apply', '-f', '-')
  await lab.installOperator()
})
afterAll(() => lab?.close())

describe.each(modes)("beside Longhorn's own controllers, as $mode", ({ mode, moveAll }) => {
  beforeAll(() =>
    lab.kubectl('-n', longhornNamespace, 'annotate', '--overwrite', setting, `cofferdam.io/manage=${mode}`),
  )
  beforeEach(async () => {
    for (const { name } of volumes) {
      await lab.until(`volume ${name} is healthy`, () => lab.isHealthy(name))
      lab.controls.writeData(name, { blocks: 8 })
    }
  })

  it('every replica leaves the node before the drain ends: the first test plan of the design, with a volume of one copy and 1 GiB', async () => {
    lab.chapter(`${mode}: block-for-eviction`)
    await want(moveAll)
    const node = await nodeOf('single')
    const drained = await followDrain(lab, node)
    expect((await drained.drain.ended).code).toBe(0)
    await drained.stop()
    expect(drained.wasAutoEvicting()).toBe(true)
    expect(drained.flagged).toContain('single')
    for (const { name } of volumes) {
      expect(drained.robustness(name)).not.toContain('degraded')
      expect(drained.fewestCopies(name)).toBeGreaterThanOrEqual(volumeOf(name).numberOfReplicas)
      expect(await lab.wholeCopies(name)).not.toContain(node)
    }
    await isAsBefore(node)
    expect(await drained.reasons()).toContain('EvictionAutomatic')
  })

  it('only last copies leave, the rest is degraded while the node is away: the second test plan', async () => {
    lab.chapter(`${mode}: block-for-eviction-if-contains-last-replica`)
    await want(moveLast)
    const node = await nodeOf('single')
    const before = await lab.wholeCopies('triple')
    expect(before).toContain(node)
    const drained = await followDrain(lab, node)
    expect((await drained.drain.ended).code).toBe(0)
    await lab.until('the volume of three copies is degraded', async () => (await robustness('triple')) === 'degraded')
    await drained.stop()
    expect(drained.wasAutoEvicting()).toBe(true)
    expect(drained.flagged).toEqual(new Set(['single']))
    expect(drained.robustness('single')).not.toContain('degraded')
    expect(drained.fewestCopies('single')).toBe(1)
    expect(await nodeOf('single')).not.toBe(node)
    await isAsBefore(node)
    await lab.until('the volume of three copies is healthy', () => lab.isHealthy('triple'))
    expect(await lab.wholeCopies('triple')).toEqual(before)
    expect(await drained.reasons()).toContain('EvictionAutomatic')
  })

  it('a copy that has no place to go holds the node for good, and all is well after the uncordon: the third test plan', async () => {
    lab.chapter(`${mode}: no place`)
    await want(moveAll)
    const copies = await lab.wholeCopies('triple')
    const [node = ''] = copies
    for (const name of nodeNames) await allowScheduling(name, false)
    const drained = await followDrain(lab, node)
    await lab.until('the replica is to leave', async () => drained.flagged.has('triple') && drained.wasAutoEvicting())
    await lab.until('kubectl was refused twice', async () => refusals(drained.drain.output()) >= 2)
    expect(drained.drain.isRunning()).toBe(true)
    await drained.drain.stop('SIGINT')
    await isAsBefore(node)
    await drained.stop()
    for (const name of nodeNames) await allowScheduling(name, true)
    expect(await lab.wholeCopies('triple')).toEqual(copies)
    expect(await lab.isHealthy('triple')).toBe(true)
    expect([...(await drained.reasons())]).toEqual(expect.arrayContaining(['EvictionAutomatic', 'EvictionCanceled']))
  })

  it('the leading operator is killed while a copy moves by the policy of its volume; the drain ends, and the disks are as before', async () => {
    lab.chapter(`${mode}: a killed operator`)
    await want({})
    await labelVolume('single', 'block-for-eviction')
    const node = await nodeOf('single')
    const before = await disksOf(node)
    const drained = await followDrain(lab, node)
    await lab.until('the copy is to leave', async () => drained.flagged.has('single'))
    const leader = await leadingOperator()
    lab.operators().get(leader)?.signal('SIGKILL')
    expect((await drained.drain.ended).code).toBe(0)
    await drained.stop()
    expect(await nodeOf('single')).not.toBe(node)
    expect(drained.fewestCopies('single')).toBe(1)
    await isAsBefore(node)
    await lab.until('the disks are as before', async () => (await disksOf(node)) === before)
    await labelVolume('single', '')
    expect(await drained.reasons()).toContain('EvictionUserRequested')
  })

  it('a node that only a taint closes is emptied by evictions, also of the only copy of a volume that nobody uses', async () => {
    lab.chapter(`${mode}: a taint`)
    await want(moveLast)
    await scale('single', 0)
    await lab.until('the volume is detached', async () => (await stateOf('single')) === 'detached')
    const node = await nodeOf('single')
    await lab.kubectl('taint', 'node', node, 'karpenter.sh/disrupted=:NoSchedule')
    let fewest = 1
    await lab.until('the node is empty', async () => {
      fewest = Math.min(fewest, (await lab.wholeCopies('single')).length)
      return (await evictAll(node)) === 0
    })
    expect(fewest).toBe(1)
    expect(await nodeOf('single')).not.toBe(node)
    await lab.kubectl('taint', 'node', node, 'karpenter.sh/disrupted-')
    await lab.until('the node is open again', async () => !(await isCordoned(node)))
    await isAsBefore()
    await lab.until('the volume is detached again', async () => (await stateOf('single')) === 'detached')
    await scale('single', 1)
  })

  it('two drains begun at once both end, and no volume is ever without a whole copy', async () => {
    lab.chapter(`${mode}: two drains`)
    await want(moveLast)
    const first = await nodeOf('single')
    const second = (await lab.wholeCopies('triple')).find((name) => name !== first) ?? ''
    const drains = await Promise.all([followDrain(lab, first), followDrain(lab, second)])
    const ends = await Promise.all(drains.map(({ drain }) => drain.ended))
    for (const drained of drains) await drained.stop()
    expect(ends.map(({ code }) => code)).toEqual([0, 0])
    for (const drained of drains) {
      for (const { name } of volumes) expect(drained.fewestCopies(name)).toBeGreaterThanOrEqual(1)
    }
    expect([first, second]).not.toContain(await nodeOf('single'))
    await isAsBefore(first, second)
  })
})

it('the real server refused nothing that the data plane wrote', () => {
  expect(lab.faults.filter((fault) => /invalid|forbidden/iu.test(fault))).toEqual([])
})

/** Uncordons, and waits until flags, nodes and policy are what they were and no byte is lost. */
async function isAsBefore(...drained: readonly string[]): Promise<void> {
  for (const node of drained) await lab.kubectl('uncordon', node)
  await lab.until('the policy is back', async () => (await policy()) === atRest)
  await lab.until('nothing is to leave any more', async () => {
    const replicas = (await lab.api.list(longhornReplicas, inLonghorn)).items
    const own = (await lab.api.list(longhornNodes, inLonghorn)).items
    return (
      replicas.every(({ spec }) => spec?.evictionRequested !== true) &&
      own.every(({ status }) => status?.autoEvicting !== true)
    )
  })
  for (const { name } of volumes) expect(lab.controls.verify(name).isIntact).toBe(true)
}

/** What the setting says, and what is to be in force while a node is drained, where that is something else. */
async function want({ setting: value = mild, wanted = '' }: { setting?: string; wanted?: string }): Promise<void> {
  const word = wanted === '' ? 'cofferdam.io/wanted-policy-' : `cofferdam.io/wanted-policy=${wanted}`
  await lab.kubectl('-n', longhornNamespace, 'annotate', '--overwrite', setting, word)
  await lab.kubectl('-n', longhornNamespace, 'patch', setting, '--type=merge', '-p', JSON.stringify({ value }))
  atRest = value
}

async function policy(): Promise<string | undefined> {
  return (await lab.api.get(longhornSettings, { ...inLonghorn, name: 'node-drain-policy' })).value
}

async function scale(workload: string, replicas: number): Promise<void> {
  await lab.kubectl('scale', `deployment/${workload}`, `--replicas=${replicas}`)
}

async function stateOf(volume: string): Promise<string | undefined> {
  return (await lab.api.get(longhornVolumes, { ...inLonghorn, name: volume })).status?.state
}

async function isCordoned(node: string): Promise<boolean> {
  return (await lab.api.get(nodes, { name: node })).spec?.unschedulable === true
}

/** Tries each pod of a node once, as Karpenter does, but for those of DaemonSets. Returns how many there were. */
async function evictAll(node: string): Promise<number> {
  const { items } = await lab.api.list(pods, { fieldSelector: `spec.nodeName=${node}` })
  const left = items.filter(({ metadata }) => metadata.ownerReferences?.[0]?.kind !== 'DaemonSet')
  for (const { metadata } of left) {
    const { namespace = 'default', name } = metadata
    await evictPod(lab.api, { namespace, name }).catch(refusedOnly)
  }
  return left.length
}

/** Whoever empties a node tries again where a budget or the guard refuses, and where two budgets cover a pod. */
function refusedOnly(error: unknown): void {
  if (!hasReason(error, 'TooManyRequests', 'InternalError', 'NotFound')) throw error
}

async function robustness(volume: string): Promise<string | undefined> {
  return (await lab.api.get(longhornVolumes, { ...inLonghorn, name: volume })).status?.robustness
}

/** Where the only whole copy of a volume is. */
async function nodeOf(volume: string): Promise<string> {
  const open = new Set(
    (await lab.api.list(nodes)).items
      .filter(({ spec }) => spec?.unschedulable !== true)
      .map(({ metadata }) => metadata.name),
  )
  const copies = await lab.wholeCopies(volume)
  return copies.find((node) => open.has(node)) ?? copies[0] ?? ''
}

async function disksOf(node: string): Promise<string> {
  return JSON.stringify((await lab.api.get(longhornNodes, { ...inLonghorn, name: node })).spec?.disks)
}

async function allowScheduling(node: string, isAllowed: boolean): Promise<void> {
  const body = JSON.stringify({ spec: { allowScheduling: isAllowed } })
  await lab.kubectl('-n', longhornNamespace, 'patch', `nodes.longhorn.io/${node}`, '--type=merge', '-p', body)
}

async function labelVolume(volume: string, wanted: string): Promise<void> {
  const word = `cofferdam.io/node-drain-policy${wanted === '' ? '-' : `=${wanted}`}`
  await lab.kubectl('-n', longhornNamespace, 'label', `volumes.longhorn.io/${volume}`, word)
}

async function leadingOperator(): Promise<string> {
  const holder = (await lab.api.get(leases, operatorAccount)).spec?.holderIdentity ?? ''
  const leading = [...lab.operators().keys()].find((pod) => holder.includes(pod))
  if (leading === undefined) throw new Error(`no operator of ours is ${holder}`)
  return leading
}

function refusals(output: string): number {
  return output.split('will retry after').length - 1
}

function volumeOf(name: string): (typeof volumes)[number] {
  const found = volumes.find((volume) => volume.name === name)
  if (found === undefined) throw new Error(`there is no volume ${name}`)
  return found
}
