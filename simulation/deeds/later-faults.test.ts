import { openshiftMachineNamespace, openshiftMachines } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { fenceLabelPrefix } from '@cofferdam/product/capabilities/fencing/domain/fence-labels.ts'
import type { CephCommand } from '@cofferdam/product/ceph/ceph-commands.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import { noteOfNext, stateOfNext } from '../stage/other-version.ts'
import type { ClusterShape } from '../story.ts'
import { type Deeds, openDeeds, smallShape } from './testing/open-deeds.ts'

let deeds: Deeds
afterEach(() => deeds.stage.close())

it('a server that has fallen behind answers both replicas what was before, and then catches up', async () => {
  const behind: string[] = []
  deeds = await openDeeds(smallShape, (api) => ({
    ...api,
    list(type, query) {
      if (query?.resourceVersionMatch === 'Exact') behind.push(type.plural)
      return api.list(type, query)
    },
  }))
  const { clock, hazards } = deeds.stage
  await deeds.perform('a server that has fallen behind answers lists')
  await clock.advance(4_000)
  expect(behind).toEqual(expect.arrayContaining(['nodes', 'poddisruptionbudgets', 'nodedisruptions']))
  await clock.advance((hazards.elder?.untilMs ?? 0) - clock.now())
  behind.length = 0
  await clock.advance(60_000)
  expect(behind).toEqual([])
})

/** By which number the machine is off meanwhile, or runs on. */
const registrations: Readonly<Record<string, { readonly seed: number; readonly isSameBoot: boolean }>> = {
  'a node that registers again at once is another object of the same boot, open and without what was noted on it': {
    seed: 2,
    isSameBoot: true,
  },
  'a node whose machine was off meanwhile is another object of another boot': { seed: 1, isSameBoot: false },
}

it.each(Object.entries(registrations))('%s', async (_, { seed, isSameBoot }) => {
  deeds = await openDeeds()
  const { stage } = deeds
  for (const name of stage.shape.nodes)
    await stage.api.patch(
      nodes,
      { name },
      { type: 'merge', body: { metadata: { annotations: { note: 'a' } }, spec: { unschedulable: true } } },
    )
  const before = new Map((await stage.api.list(nodes)).items.map((node) => [node.metadata.name, node]))
  await deeds.perform('a node is deleted and registers again', seed)
  await stage.clock.advance(200_000)
  const others = (await stage.api.list(nodes)).items.filter(
    ({ metadata }) => before.get(metadata.name)?.metadata.uid !== metadata.uid,
  )
  expect(others).toHaveLength(1)
  const [{ metadata, spec, status }] = others as [(typeof others)[number]]
  expect(metadata.annotations?.['note']).toBeUndefined()
  expect(spec?.unschedulable).toBeUndefined()
  const bootID = before.get(metadata.name)?.status?.nodeInfo?.bootID
  expect(status?.nodeInfo?.bootID === bootID).toBe(isSameBoot)
  expect(stage.world.kubelet.isOn(metadata.name)).toBe(true)
})

const withOsds: ClusterShape = {
  ...smallShape,
  file: { ...smallShape.file, ceph: { pools: [{ name: 'replicapool', failureDomain: 'host', pgs: 8 }] } },
  osds: [0, 1, 2],
}

it('a machine that is created again has another uid and no label of fencing, runs on, and gets its label back', async () => {
  const machines = { api: 'openshift', volumes: 'follow', healthCheck: { style: 'machine', after: 300 } }
  deeds = await openDeeds({ ...withOsds, file: { ...withOsds.file, machines }, hasMachines: true })
  const { stage, writes } = deeds
  const key = { namespace: openshiftMachineNamespace }
  const labelled = async () =>
    (await stage.api.list(openshiftMachines, key)).items.filter(({ metadata }) =>
      Object.keys(metadata.labels ?? {}).some((label) => label.startsWith(fenceLabelPrefix)),
    )
  const before = await labelled()
  expect(before).toHaveLength(3)
  await deeds.perform('a machine is deleted past its finalizers and created again')
  await stage.clock.advance(60_000)
  const uids = new Set(before.map(({ metadata }) => metadata.uid))
  const after = await labelled()
  const others = after.filter(({ metadata }) => !uids.has(metadata.uid))
  expect([after.length, others.length]).toEqual([3, 1])
  const name = others[0]?.metadata.name ?? ''
  expect(writes.some(({ verb, key: { name: written } }) => verb === 'patch' && written === name)).toBe(true)
  expect((await stage.api.list(openshiftMachines, key)).items).toHaveLength(3)
})

interface CephFacts {
  readonly rule: string | undefined
  readonly size: number | undefined
  readonly minSize: number | undefined
  readonly hosts: readonly (string | undefined)[]
  readonly groups: number | undefined
  readonly upmaps: number
}

/** What of Ceph these deeds change. */
async function cephFacts(): Promise<CephFacts> {
  const ask = async <T>(command: CephCommand) =>
    JSON.parse((await deeds.stage.ceph?.commands.run(command))?.out ?? 'null') as T
  type PoolAnswer = { crush_rule: number; size: number; min_size: number; pg_num: number }
  const [pool] = await ask<PoolAnswer[]>({ prefix: 'osd pool ls detail' })
  const { pg_upmap_items: upmaps } = await ask<{ pg_upmap_items: unknown[] }>({ prefix: 'osd dump' })
  const rules = await ask<{ rule_id: number; steps: { type?: string }[] }[]>({ prefix: 'osd crush rule dump' })
  const { nodes: items } = await ask<{ nodes: { name: string; children?: number[] }[] }>({ prefix: 'osd tree' })
  return {
    rule: rules.find(({ rule_id }) => rule_id === pool?.crush_rule)?.steps.find(({ type }) => type !== undefined)?.type,
    size: pool?.size,
    minSize: pool?.min_size,
    hosts: withOsds.osds.map((osd) => items.find(({ children }) => children?.includes(osd))?.name),
    groups: pool?.pg_num,
    upmaps: upmaps.length,
  }
}

const changes: Readonly<Record<string, keyof CephFacts>> = {
  'a pool gets another CRUSH rule': 'rule',
  'a pool gets another number of copies': 'size',
  'an OSD is moved to another host of the CRUSH map': 'hosts',
  'placement groups split, and merge again': 'groups',
  'the balancer moves placement groups': 'upmaps',
  'an OSD returns on another host': 'hosts',
}

/** With a place beside every OSD. */
const withPairs: ClusterShape = {
  ...withOsds,
  file: { ...withOsds.file, ceph: { ...(withOsds.file['ceph'] as object), osds: { perNode: 2 } } },
  osds: [0, 1, 2, 3, 4, 5],
}

it.each(Object.entries(changes))('%s: Ceph says so until everybody goes home', async (kind, fact) => {
  deeds = await openDeeds(fact === 'upmaps' ? withPairs : withOsds)
  const before = await cephFacts()
  await deeds.perform(kind)
  await deeds.stage.clock.advance(30_000)
  expect((await cephFacts())[fact]).not.toEqual(before[fact])
  await deeds.mend()
  // Copies are put in their places before anything is merged, and an OSD boots.
  await deeds.stage.clock.advance(60_000)
  expect(await cephFacts()).toEqual(before)
})

async function askForReboot(nodeName: string): Promise<void> {
  await deeds.stage.api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: `reboot-${nodeName}` },
    spec: { nodeName, intent: 'Reboot', honourSkipDrain: true },
  })
  await deeds.stage.clock.advance(4_000)
}

const holds = async () => (await deeds.stage.api.get(disruptionLedgers, { name: ledgerName })).status?.entries ?? []

it('the next version notes more on holds and requests, and the version after the rollback keeps it', async () => {
  deeds = await openDeeds()
  const { stage } = deeds
  await deeds.perform('a replica is of the next version, which notes more')
  expect(stage.processes.running.map(({ hazards }) => hazards.version)).toContain('next')
  for (const { hazards } of stage.processes.running) hazards.version = 'next'
  await askForReboot('node-a')
  const isNoted = async () => (await holds()).map((hold) => Object.hasOwn(hold, noteOfNext))
  expect(new Set(await isNoted())).toEqual(new Set([true]))
  await deeds.mend()
  for (const { hazards } of stage.processes.running) hazards.version = undefined
  const { writes } = deeds
  const count = writes.length
  await stage.clock.advance(30_000)
  const isOfLedger = writes.slice(count).some(({ type }) => type.plural === disruptionLedgers.plural)
  expect([isOfLedger, ...new Set(await isNoted())]).toEqual([true, true])
})

it('the version before leaves out of the ledger what it does not know', async () => {
  deeds = await openDeeds()
  const { stage } = deeds
  await deeds.perform('a replica is of the version before, which notes less')
  expect(stage.processes.running.map(({ hazards }) => hazards.version)).toContain('before')
  for (const { hazards } of stage.processes.running) hazards.version = 'before'
  await askForReboot('node-a')
  const { status } = await stage.api.get(disruptionLedgers, { name: ledgerName })
  expect(status?.entries?.length).toBeGreaterThan(0)
  expect(status).not.toHaveProperty('held')
})

it('a hold in a state that nobody here knows stops every grant until it is known again', async () => {
  deeds = await openDeeds()
  await askForReboot('node-a')
  await deeds.perform('the ledger has a state that only the next version knows')
  expect((await holds()).map(({ state }) => state as string)).toContain(stateOfNext)
  await askForReboot('node-b')
  expect((await holds()).some(({ key }) => key === 'node/node-b')).toBe(false)
  await deeds.mend()
  expect((await holds()).map(({ state }) => state as string)).not.toContain(stateOfNext)
})
