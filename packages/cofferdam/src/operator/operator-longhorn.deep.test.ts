import {
  longhornNamespace,
  longhornReplicas,
  longhornSettings,
  longhornVolumeAttachments,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import {
  customResourceDefinitions,
  daemonSets,
  deployments,
  podDisruptionBudgets,
  pods,
} from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumes, storageClasses } from '@cofferdam/kubernetes/api/storage.ts'
import { buildManagerDaemonSet } from '@cofferdam/simulator/world/longhorn/manager-daemon-set.ts'
import { openScenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { parseMovingRecord } from '../capabilities/longhorn-drain/domain/moving-record.ts'
import {
  type OperatedLonghorn,
  openOperatedLonghorn,
} from '../capabilities/longhorn-drain/testing/longhorn-operator.ts'
import { buildCustomResourceDefinitions } from '../deploy/custom-resource-definitions.ts'
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

async function leaving({ list }: OperatedLonghorn): Promise<string[]> {
  const flagged = (await list(longhornReplicas)).filter(({ spec }) => spec?.evictionRequested === true)
  return flagged.map(({ spec }) => spec?.nodeID ?? '')
}

/** A move of a detached volume that is taken back, begun again and finished; what is left over then; and all at once as it is said. */
async function drainScenario(fixture: OperatedLonghorn, start: () => void): Promise<unknown> {
  const { api, annotate, controls, cordon, evict, guarded, list, node, placesOf, seconds, setting, told } = fixture
  start()
  await seconds(180)
  const before = await guarded()
  await cordon('node-1')
  await seconds(5)
  const { spec } = await api.get(longhornVolumeAttachments, { namespace, name: 'db' })
  const moving = await node('node-1')
  await cordon('node-1', false)
  await controls.attach('db', 'node-2')
  await seconds(2)
  await cordon('node-1')
  await seconds(1)
  const bytes = await recorded(fixture)
  await api.delete(deployments, { namespace, name: 'csi-provisioner' })
  await seconds(1)
  const csi = (await list(podDisruptionBudgets))
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith('csi'))
  await cordon('node-1', false)
  await seconds(120)
  const places = await placesOf('db')

  await cordon('node-3')
  await seconds(5)
  const released = [await guarded(), await evict('node-3')]
  await seconds(2)
  await cordon('node-3', false)
  await fixture.clock.advance(100)
  const stopped = await guarded()
  await seconds(30)
  const back = await guarded()

  await api.create(nodeDisruptions, disruption as never)
  await seconds(1)
  await cordon('node-1')
  await seconds(1)
  const forReboot = await leaving(fixture)
  await setting('node-drain-policy', 'always-allow')
  await api.create(storageClasses, storageClass)
  await api.create(persistentVolumes, persistentVolume)
  await seconds(1)
  const byClass = await leaving(fixture)

  await cordon('node-1', false)
  const refused: number[] = []
  for (const make of [makeManagerSet, makeManagerPod]) {
    const remove = await make(fixture)
    await seconds(5)
    refused.push((await told('node-drain-policy')).filter((news) => news === 'Warning OwnerRefused').length)
    await remove()
    await seconds(5)
  }

  await annotate('guide')
  await annotate('block-for-eviction', 'wanted-policy')
  await cordon('node-2')
  await seconds(5)
  const { value } = await api.get(longhornSettings, { namespace, name: 'node-drain-policy' })
  return {
    before,
    tickets: Object.keys(spec?.attachmentTickets ?? {}),
    isAutoEvicting: moving.status?.autoEvicting,
    isLessLeft: bytes !== undefined && bytes < 256 * 1024 ** 2,
    csi,
    places,
    released,
    stopped,
    back,
    forReboot,
    byClass,
    refused,
    inForce: value,
    told: await told('node-1'),
  }
}

/** Sent to no node, so that no pod gives it away: it counts until somebody has counted for how many nodes it is. */
async function makeManagerSet({ api }: OperatedLonghorn): Promise<() => Promise<unknown>> {
  const set = buildManagerDaemonSet(namespace)
  const elsewhere = { ...set.spec.template.spec, nodeSelector: { somewhere: 'else' } }
  const template = { ...set.spec.template, spec: elsewhere }
  await api.create(daemonSets, { ...set, spec: { ...set.spec, template } })
  return () => api.delete(daemonSets, { namespace, name: set.metadata.name })
}

async function makeManagerPod({ api }: OperatedLonghorn): Promise<() => Promise<unknown>> {
  const { template } = buildManagerDaemonSet(namespace).spec
  const metadata = { name: 'longhorn-manager-left', namespace, ...template.metadata }
  await api.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec })
  return () => api.delete(pods, { namespace, name: metadata.name })
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
          settings: { 'node-drain-policy': 'block-for-eviction' },
          volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
          timings: { rebuildBytesPerSecond: 8 * 1024 ** 2 },
          attachForEviction: 'nobody',
        },
        { notes: { surplus: 'remove' }, controllers: [] },
      ),
    scenario: drainScenario,
    whole: {
      before: ['node-1', 'node-2', 'node-3'],
      tickets: ['cofferdam-eviction-db'],
      isAutoEvicting: true,
      isLessLeft: true,
      csi: ['csi-attacher'],
      places: ['node-1', 'node-2'],
      released: [['node-1', 'node-2'], 'going'],
      stopped: ['node-1', 'node-2'],
      back: ['node-1', 'node-2', 'node-3'],
      forReboot: [],
      byClass: ['node-1'],
      refused: [1, 2],
      inForce: 'block-for-eviction',
      told: [
        'Normal ReplicaMoving',
        'Normal ReplicaMoving',
        'Normal ReplicasProtected',
        'Normal ReplicaMoving',
        'Normal ReplicaMustLeave',
        // Told anew after each of the two managers that came and went.
        'Normal ReplicaMustLeave',
        'Normal ReplicaMustLeave',
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
