import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseClaim } from '@cofferdam/product/capabilities/autoscalers/domain/parse-claim.ts'
import { parseRequest } from '@cofferdam/product/capabilities/drain-lock/apply/record.ts'
import { parseEvictionAsk } from '@cofferdam/product/capabilities/drain-lock/observe/eviction-requests.ts'
import { parsePolicy } from '@cofferdam/product/capabilities/drain-lock/observe/limits.ts'
import { parseMachineBudget } from '@cofferdam/product/capabilities/fencing/domain/parse-budget.ts'
import { parseMachine } from '@cofferdam/product/capabilities/fencing/domain/parse-machine.ts'
import {
  parseMachineHealthCheck,
  parseNodeHealthCheck,
} from '@cofferdam/product/capabilities/fencing/domain/parse-remediators.ts'
import { parseFencingSettings } from '@cofferdam/product/capabilities/fencing/domain/settings.ts'
import { parseDrainSettings } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { parseLonghornNode } from '@cofferdam/product/capabilities/longhorn-drain/domain/parse-node.ts'
import {
  parseInstanceManager,
  parseReplica,
} from '@cofferdam/product/capabilities/longhorn-drain/domain/parse-replica.ts'
import { parseVolume } from '@cofferdam/product/capabilities/longhorn-drain/domain/parse-volume.ts'
import { parsePool } from '@cofferdam/product/capabilities/machine-config/domain/parse-pool.ts'
import { parseMachine as parseDeletedMachine } from '@cofferdam/product/capabilities/machine-deletion/domain/parse-machine.ts'
import { parseMaintenance } from '@cofferdam/product/capabilities/node-maintenance/domain/parse-maintenance.ts'
import { parsePrepareStatus } from '@cofferdam/product/capabilities/osd-update/domain/prepare-status.ts'
import { parseRestartRequest } from '@cofferdam/product/capabilities/osd-update/domain/restart-request.ts'
import { parseUpdateReport } from '@cofferdam/product/capabilities/osd-update/domain/update-report.ts'
import { parseUpdateSettings } from '@cofferdam/product/capabilities/osd-update/domain/update-settings.ts'
import { parseActedRecord } from '@cofferdam/product/ledger/rules/lost-holds.ts'
import { parseDisruptionSettings } from '@cofferdam/product/safety/ceph-settings.ts'
import { known } from '@cofferdam/product/shared/observed.ts'
import { type FuzzTarget, fieldsOf, nowMs, textsOf } from './fuzz-target.ts'

/** An object as an API server gives it: its metadata is whole, the rest may be anything that its kind lets through. */
function objectOf<T>(text: string, name = 'a'): T {
  const { annotations, labels, ...rest } = fieldsOf(text)
  const texts = (value: unknown) => textsOf(JSON.stringify(value ?? {}))
  const metadata = { name, namespace: 'ns', uid: 'u', annotations: texts(annotations), labels: texts(labels) }
  const object: KubeObject = { apiVersion: 'example.org/v1', kind: 'Thing', ...rest, metadata }
  return object as unknown as T
}

const of =
  <T>(parse: (object: T) => unknown, name?: string) =>
  (text: string) =>
    parse(objectOf<T>(text, name))
const json = (fields: object) => [JSON.stringify(fields)]

/** Kinds that others define and change: a field may come in a form that was never heard of. */
export const objectsOfOthers: Readonly<Record<string, FuzzTarget>> = {
  CephClusters: {
    parse: (text) => [
      of(parseDisruptionSettings)(text),
      of(parseUpdateSettings)(text),
      of(parseFencingSettings)(text),
      of((cluster: Parameters<typeof parseRestartRequest>[0]) => parseRestartRequest(cluster, nowMs))(text),
    ],
    seeds: json({
      annotations: { 'cofferdam.io/restart-osds': '2026-01-01T00:00:00Z' },
      spec: {
        disruptionManagement: { managePodBudgets: true, osdMaintenanceTimeout: 30, pgHealthyRegex: '^active' },
        updatePolicy: { maxParallel: '30%', pauseBetween: '10s' },
        storage: { nodes: [{ name: 'a', devices: [{ name: 'sdb' }] }] },
      },
    }),
  },
  'volumes of Longhorn': {
    parse: of<Parameters<typeof parseVolume>[0]>((volume) =>
      parseVolume(volume, {
        attachment: volume as never,
        engines: [volume as never],
        classPolicy: volume.spec,
        softAntiAffinity: undefined,
        longhornVersion: 'v1.8.1',
      }),
    ),
    seeds: json({
      spec: {
        numberOfReplicas: 3,
        nodeID: 'a',
        dataEngine: 'v1',
        attachmentTickets: { t: { nodeID: 'a', type: 'csi' } },
      },
      status: { state: 'attached', robustness: 'healthy', currentNodeID: 'a', replicaModeMap: { r: 'RW' } },
    }),
  },
  'replicas and instance managers of Longhorn': {
    parse: (text) => [
      of((replica: Parameters<typeof parseReplica>[0]) => parseReplica(replica, () => undefined))(text),
      of((manager: Parameters<typeof parseInstanceManager>[0]) => parseInstanceManager(manager, (engine) => engine))(
        text,
      ),
    ],
    seeds: json({
      spec: {
        nodeID: 'a',
        volumeName: 'v',
        failedAt: '',
        healthyAt: '2026-01-01T00:00:00Z',
        diskID: 'd',
        evictionRequested: false,
      },
      status: {
        currentState: 'running',
        instanceManagerName: 'm',
        instanceEngines: { e: {} },
        instanceReplicas: { r: {} },
      },
    }),
  },
  'nodes of Longhorn': {
    parse: of<Parameters<typeof parseLonghornNode>[0]>((node) =>
      parseLonghornNode(node, { kubeNode: undefined, disruptions: [], nowMs, hasManager: true }),
    ),
    seeds: json({
      spec: {
        allowScheduling: true,
        evictionRequested: false,
        disks: { d: { allowScheduling: true, path: '/d' } },
        tags: ['x'],
      },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        diskStatus: { d: { diskUUID: 'u', storageAvailable: 1 } },
      },
    }),
  },
  'settings of Longhorn': {
    parse: of<Parameters<typeof parseDrainSettings>[0][number]>(
      (setting) => parseDrainSettings([setting], { budgets: [], manager: known('m'), nowMs }),
      'node-drain-policy',
    ),
    seeds: json({ annotations: { 'cofferdam.io/longhorn-drain': 'guide' }, value: 'block-for-eviction' }),
  },
  'machines and their budgets': {
    parse: (text) => [
      ...(['openshift', 'cluster-api'] as const).flatMap((api) => [
        of((machine: Parameters<typeof parseMachine>[0]) => parseMachine(machine, api))(text),
        of((machine: Parameters<typeof parseDeletedMachine>[0]) => parseDeletedMachine(machine, api))(text),
      ]),
      of(parseMachineBudget)(text),
    ],
    seeds: json({
      spec: {
        lifecycleHooks: { preTerminate: [{ name: 'x', owner: 'y' }] },
        providerID: 'p',
        maxUnavailable: 1,
        selector: { matchLabels: { a: 'b' } },
      },
      status: {
        nodeRef: { name: 'a' },
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        currentHealthy: 1,
      },
    }),
  },
  'health checks': {
    parse: (text) => [
      of((check: Parameters<typeof parseMachineHealthCheck>[0]) =>
        parseMachineHealthCheck(check, 'openshift-mhc', () => []),
      )(text),
      of((check: Parameters<typeof parseNodeHealthCheck>[0]) => parseNodeHealthCheck(check, () => []))(text),
    ],
    seeds: json({
      spec: { selector: { matchLabels: { a: 'b' } }, pauseRequests: ['x'] },
      status: { expectedMachines: 3, phase: 'Enabled', inFlightRemediations: { a: '2026-01-01T00:00:00Z' } },
    }),
  },
  NodeMaintenances: {
    parse: of(parseMaintenance),
    seeds: json({ spec: { nodeName: 'a', reason: 'r' }, status: { phase: 'Running' } }),
  },
  NodeClaims: {
    parse: of(parseClaim),
    seeds: json({
      spec: { terminationGracePeriod: '30m' },
      status: { nodeName: 'a', conditions: [{ type: 'Drifted', status: 'True' }] },
    }),
  },
  MachineConfigPools: {
    parse: of(parsePool),
    seeds: json({ spec: { nodeSelector: { matchLabels: { a: 'b' } }, paused: false } }),
  },
  EvictionRequests: {
    parse: of(parseEvictionAsk),
    seeds: json({
      spec: { target: { pod: { name: 'p', uid: 'u' } }, requesters: [{ name: 'x' }] },
      status: { conditions: [] },
    }),
  },
  'requests for nodes': {
    // Our own kind: its schema lets no object through without a spec that names a node.
    parse: (text) => {
      const { spec, ...rest } = objectOf<KubeObject & { readonly spec?: unknown }>(text)
      const request = { ...rest, spec: { ...fieldsOf(JSON.stringify(spec ?? {})), nodeName: 'a' } } as never
      return [parseRequest(request), parseActedRecord(request)]
    },
    seeds: json({
      spec: {
        nodeName: 'a',
        intent: 'Reboot',
        requester: 'ann',
        fallbackAfter: '1h',
        deadline: '2026-01-01T00:00:00Z',
      },
      status: { phase: 'Draining', epoch: 3, nodeUid: 'u', lockedBudgets: ['shop/web'], bootIDBefore: 'b' },
    }),
  },
  'limits for nodes': {
    parse: of(parsePolicy),
    seeds: json({ spec: { maxUnavailable: '10%', minReady: 3, perZone: 1 } }),
  },
  'results of prepare Jobs': {
    parse: (text) => [
      parsePrepareStatus({
        ...objectOf<KubeObject>('{"labels":{"app":"rook-ceph-osd"}}', 'rook-ceph-osd-a-status'),
        data: { status: text },
      } as Parameters<typeof parsePrepareStatus>[0]),
      of(
        (map: Parameters<typeof parseUpdateReport>[0]) => parseUpdateReport(map, nowMs),
        'cofferdam-osd-update-rook-ceph',
      )(text),
    ],
    seeds: json({
      status: 'completed',
      osds: [{ id: 3, uuid: 'u', 'device-class': 'ssd', location: 'root=default host=a' }],
      message: 'm',
    }),
  },
}
