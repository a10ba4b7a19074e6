import {
  longhornInstanceManagers,
  longhornNamespace,
  longhornNodes,
  longhornSettings,
  longhornVolumeAttachments,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import {
  customResourceDefinitions,
  daemonSets,
  deployments,
  nodes,
  podDisruptionBudgets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumes, storageClasses } from '@cofferdam/kubernetes/api/storage.ts'
import { openScenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { parseMovingRecord } from '../capabilities/longhorn-drain/domain/moving-record.ts'
import {
  type OperatedLonghorn,
  openOperatedLonghorn,
} from '../capabilities/longhorn-drain/testing/longhorn-operator.ts'
import { buildCustomResourceDefinitions } from '../deploy/custom-resource-definitions.ts'
import { holdPrefix } from '../shared/exchanged-budget.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import { createMetrics } from './metrics.ts'
import { startOperator } from './operator.ts'
import { describeRights, type RightsCase } from './testing/describe-rights.ts'

const controller = 'longhorn-drain'
const namespace = longhornNamespace

/** Bytes that the record of a move says there were. */
async function recorded({ node }: OperatedLonghorn): Promise<number | undefined> {
  return parseMovingRecord((await node('node-1')).metadata.annotations?.['cofferdam.io/moving'])?.bytes
}

/** Disks that Longhorn is asked to empty, as `default-disk on node-1`. */
async function askedDisks({ list }: OperatedLonghorn): Promise<string[]> {
  return (await list(longhornNodes)).flatMap(({ metadata, spec }) =>
    Object.entries(spec?.disks ?? {})
      .filter(([, disk]) => disk.evictionRequested === true)
      .map(([disk]) => `${disk} on ${metadata.name}`),
  )
}

async function policyOf({ api }: OperatedLonghorn): Promise<unknown> {
  return (await api.get(longhornSettings, { namespace, name: 'node-drain-policy' })).value
}

async function budgetsLike({ list }: OperatedLonghorn, prefix: string): Promise<PodDisruptionBudget[]> {
  return (await list(podDisruptionBudgets)).filter(({ metadata }) => metadata.name.startsWith(prefix))
}

/** Nodes that a budget of ours holds, as far as it is over an instance manager that is there. */
async function held(fixture: OperatedLonghorn): Promise<string[]> {
  const managers = new Set((await fixture.list(longhornInstanceManagers)).map(({ metadata }) => metadata.name))
  return (await budgetsLike(fixture, holdPrefix))
    .filter(({ metadata, spec }) => managers.has(metadata.name.slice(holdPrefix.length)) && spec.minAvailable === 1)
    .map(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] ?? '')
    .sort()
}

/** A move that is taken back, begun again and taken back; what is left over then; what others undo; and who is there at all. */
async function drainScenario(fixture: OperatedLonghorn, start: () => void): Promise<unknown> {
  const { api, annotate, controls, cordon, placesOf, seconds, told } = fixture
  start()
  await seconds(60)
  const before = await held(fixture)

  const db = { namespace, name: 'db' }
  const ticket = { id: 'cofferdam-eviction-db', type: 'volume-eviction-controller', nodeID: 'node-2', parameters: {} }
  const attachmentTickets = { [ticket.id]: ticket }
  await api.patch(longhornVolumeAttachments, db, { type: 'merge', body: { spec: { attachmentTickets } } })
  await seconds(2)
  const { spec } = await api.get(longhornVolumeAttachments, db)
  const isTicketLeft = spec?.attachmentTickets?.[ticket.id] !== undefined

  await controls.attach('db', 'node-2')
  await cordon('node-1')
  await seconds(10)
  const inForce = await policyOf(fixture)
  await cordon('node-1', false)
  await seconds(1)
  const atRest = await policyOf(fixture)
  await cordon('node-1')
  await seconds(1)
  const bytes = await recorded(fixture)
  await cordon('node-1', false)
  await seconds(120)
  const places = await placesOf('db')

  await api.delete(podDisruptionBudgets, { namespace, name: 'csi-attacher' })
  await seconds(35)
  const isSidecarHeld = (await budgetsLike(fixture, 'csi-attacher')).length > 0
  await api.delete(deployments, { namespace, name: 'csi-attacher' })
  await seconds(2)
  const sidecars = (await budgetsLike(fixture, 'csi-')).map(({ metadata }) => metadata.name)

  for (const { metadata } of await budgetsLike(fixture, holdPrefix)) {
    const key = { namespace, name: metadata.name }
    await api.patch(podDisruptionBudgets, key, { type: 'merge', body: { spec: { minAvailable: 0 } } })
  }
  await seconds(5)
  const corrected = await held(fixture)
  await controls.detach('db')
  await seconds(10)
  await controls.setImage('longhornio/longhorn-instance-manager:v9')
  await seconds(60)
  const renewed = [await held(fixture), (await budgetsLike(fixture, holdPrefix)).length]

  await api.create(nodeDisruptions, disruption as never)
  await seconds(2)
  const announced = await policyOf(fixture)
  await api.delete(nodeDisruptions, { name: disruption.metadata.name })
  await annotate(null, 'wanted-policy')
  await seconds(2)
  await api.create(storageClasses, storageClass)
  await api.create(persistentVolumes, persistentVolume)
  await cordon('node-1')
  await seconds(2)
  const byClass = await askedDisks(fixture)
  await cordon('node-1', false)

  const taint = async (on: boolean) => {
    const taints = on ? [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' as const }] : []
    await api.patch(nodes, { name: 'node-3' }, { type: 'merge', body: { spec: { taints } } })
    await seconds(5)
    return (await api.get(nodes, { name: 'node-3' })).spec?.unschedulable === true
  }
  const cordonedForLonghorn = [await taint(true), await taint(false)]

  await api.delete(daemonSets, { namespace, name: 'longhorn-manager' })
  await seconds(30)
  return {
    cordonedForLonghorn,
    before,
    isTicketLeft,
    inForce,
    atRest,
    isLessLeft: bytes !== undefined && bytes < 256 * 1024 ** 2,
    places,
    isSidecarHeld,
    sidecars,
    corrected,
    renewed,
    announced,
    byClass,
    told: [await told('node-1'), await told('node-drain-policy')],
  }
}

const disruption = {
  apiVersion: 'cofferdam.io/v1alpha1',
  kind: 'NodeDisruption',
  metadata: { name: 'reboot' },
  spec: { nodeName: 'node-1', intent: 'Reboot' },
}

const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'precious' },
  provisioner: 'driver.longhorn.io',
  parameters: { nodeDrainPolicy: 'block-for-eviction' },
}

const persistentVolume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pv-db' },
  spec: {
    storageClassName: 'precious',
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    csi: { driver: 'driver.longhorn.io', volumeHandle: 'db' },
  },
}

const cases: Record<string, RightsCase<OperatedLonghorn>> = {
  [controller]: {
    controller,
    open: () =>
      openOperatedLonghorn(
        {
          settings: { 'node-drain-policy': 'always-allow' },
          volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
          timings: { rebuildBytesPerSecond: 8 * 1024 ** 2 },
        },
        { notes: { surplus: 'remove', 'wanted-policy': 'block-for-eviction' }, controllers: [] },
      ),
    scenario: drainScenario,
    whole: {
      before: ['node-1', 'node-2'],
      isTicketLeft: false,
      inForce: 'block-for-eviction',
      atRest: 'always-allow',
      isLessLeft: true,
      places: ['node-1', 'node-2'],
      isSidecarHeld: true,
      sidecars: ['csi-provisioner'],
      corrected: ['node-1', 'node-2'],
      renewed: [['node-1', 'node-2'], 2],
      announced: 'block-for-eviction',
      byClass: ['default-disk on node-1'],
      cordonedForLonghorn: [true, false],
      told: [
        [
          'Normal ReplicaMustLeave',
          'Normal ReplicaMoving',
          'Normal ReplicaMustLeave',
          'Normal ReplicaMoving',
          'Normal ReplicaMustLeave',
          'Normal DiskEvictionAsked',
          'Normal ReplicaMustLeave',
          'Normal DiskEvictionWithdrawn',
        ],
        [
          'Normal PolicyPutInForce',
          'Normal PolicyRestored',
          'Normal PolicyPutInForce',
          'Normal PolicyRestored',
          // Before a cordon, for the NodeDisruption.
          'Normal PolicyPutInForce',
          'Normal PolicyRestored',
          // No manager of Longhorn is there any more.
          'Warning ObjectsUnusable',
        ],
      ],
    },
  },
}

describeRights(cases)

describe('an operator in a cluster without Longhorn', () => {
  it('is ready, writes nothing, and reports no failure', async () => {
    const scenario = openScenario()
    for (const definition of buildCustomResourceDefinitions()) {
      await scenario.api.create(customResourceDefinitions, definition as unknown as KubeObject)
    }
    const warnings: unknown[] = []
    const operator = startOperator({
      api: scenario.api,
      clock: scenario.clock,
      random: scenario.random.stream('operator'),
      log: { info() {}, warn: (facts: unknown) => warnings.push(facts), error() {}, debug() {} } as never,
      metrics: createMetrics(),
      controllers: [controller],
      dryRun: false,
    })
    await scenario.seconds(600)
    expect(operator.health.map(({ check }) => check())).toEqual([{ ok: true }, { ok: true }])
    expect(warnings).toEqual([])
    const stopped = operator.stop()
    await scenario.seconds(30)
    await stopped
    scenario.stop()
  })
})
