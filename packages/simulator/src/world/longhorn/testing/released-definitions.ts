import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { buildResourceDefinition } from '@cofferdam/kubernetes/api/resource-definition.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'

interface Field {
  readonly type: 'string' | 'boolean' | 'integer' | 'object' | 'array'
  readonly format?: string
  readonly enum?: readonly string[]
  readonly required?: readonly string[]
  readonly properties?: Fields
  readonly additionalProperties?: Field
  readonly items?: Field
}
type Fields = Readonly<Record<string, Field>>

const text: Field = { type: 'string' }
const flag: Field = { type: 'boolean' }
const whole: Field = { type: 'integer' }
const moment: Field = { type: 'string', format: 'date-time' }
const oneOf = (...values: string[]): Field => ({ type: 'string', enum: values })
const choice = oneOf('ignored', 'enabled', 'disabled')
const mapOf = (additionalProperties: Field): Field => ({ type: 'object', additionalProperties })
const listOf = (items: Field): Field => ({ type: 'array', items })
const part = (properties: Fields, required?: readonly string[]): Field => ({
  type: 'object',
  properties,
  ...(required === undefined ? {} : { required }),
})
const named = (field: Field, names: string): Fields => Object.fromEntries(names.split(' ').map((name) => [name, field]))

const conditions = listOf(part(named(text, 'lastProbeTime lastTransitionTime message reason status type')))
const processes = mapOf(
  part({
    spec: part(named(text, 'backendStoreDriver dataEngine name')),
    status: part({
      ...named(text, 'endpoint errorMsg listen state type'),
      ...named(whole, 'portEnd portStart resourceVersion targetPortEnd targetPortStart'),
      conditions: mapOf(flag),
    }),
  }),
)

/** All fields of Longhorn 1.8.1, beside those that every object has: what its own definitions know, and no more. */
const released: Readonly<Record<string, Field>> = {
  Engine: part({
    spec: part({
      ...named(
        flag,
        'active disableFrontend logRequested revisionCounterDisabled salvageRequested unmapMarkSnapChainRemovedEnabled',
      ),
      ...named(
        text,
        'backendStoreDriver backupVolume desireState engineImage image nodeID requestedBackupRestore requestedDataSource snapshotMaxSize volumeName volumeSize',
      ),
      ...named(whole, 'snapshotMaxCount'),
      dataEngine: oneOf('v1', 'v2'),
      frontend: oneOf('blockdev', 'iscsi', 'nvmf', ''),
      replicaAddressMap: mapOf(text),
      upgradedReplicaAddressMap: mapOf(text),
    }),
    status: part({
      ...named(
        text,
        'currentImage currentSize currentState endpoint instanceManagerName ip lastExpansionError lastExpansionFailedAt lastRestoredBackup ownerID snapshotMaxSize snapshotsError storageIP',
      ),
      ...named(flag, 'isExpanding logFetched salvageExecuted started unmapMarkSnapChainRemovedEnabled'),
      ...named(whole, 'port snapshotMaxCount'),
      backupStatus: mapOf(
        part({ ...named(text, 'backupURL error replicaAddress snapshotName state'), ...named(whole, 'progress') }),
      ),
      cloneStatus: mapOf(
        part({
          ...named(text, 'error fromReplicaAddress snapshotName state'),
          ...named(flag, 'isCloning'),
          ...named(whole, 'progress'),
        }),
      ),
      conditions,
      currentReplicaAddressMap: mapOf(text),
      purgeStatus: mapOf(
        part({ ...named(text, 'error state'), ...named(flag, 'isPurging'), ...named(whole, 'progress') }),
      ),
      rebuildStatus: mapOf(
        part({
          ...named(text, 'error fromReplicaAddress state'),
          ...named(flag, 'isRebuilding'),
          ...named(whole, 'progress'),
        }),
      ),
      replicaModeMap: mapOf(text),
      replicaTransitionTimeMap: mapOf(text),
      restoreStatus: mapOf(
        part({
          ...named(text, 'backupURL currentRestoringBackup error filename lastRestored state'),
          ...named(flag, 'isRestoring'),
          ...named(whole, 'progress'),
        }),
      ),
      snapshots: mapOf(
        part({
          ...named(text, 'created name parent size'),
          ...named(flag, 'removed usercreated'),
          children: mapOf(flag),
          labels: mapOf(text),
        }),
      ),
    }),
  }),
  EngineImage: part({
    spec: part(named(text, 'image'), ['image']),
    status: part({
      ...named(text, 'buildDate gitCommit noRefSince ownerID state version'),
      ...named(
        whole,
        'cliAPIMinVersion cliAPIVersion controllerAPIMinVersion controllerAPIVersion dataFormatMinVersion dataFormatVersion refCount',
      ),
      ...named(flag, 'incompatible'),
      conditions,
      nodeDeploymentMap: mapOf(flag),
    }),
  }),
  InstanceManager: part({
    spec: part({
      ...named(text, 'dataEngine image nodeID'),
      dataEngineSpec: part({ v2: part(named(text, 'cpuMask')) }),
      type: oneOf('aio', 'engine', 'replica'),
    }),
    status: part({
      ...named(whole, 'apiMinVersion apiVersion proxyApiMinVersion proxyApiVersion'),
      ...named(text, 'currentState ip ownerID'),
      backingImages: mapOf(
        part({ ...named(text, 'currentChecksum diskUUID message name state uuid'), ...named(whole, 'progress size') }),
      ),
      dataEngineStatus: part({ v2: part(named(text, 'cpuMask')) }),
      instanceEngines: processes,
      instanceReplicas: processes,
      instances: processes,
    }),
  }),
  Node: part({
    spec: part({
      ...named(flag, 'allowScheduling evictionRequested'),
      ...named(whole, 'instanceManagerCPURequest'),
      ...named(text, 'name'),
      disks: mapOf(
        part({
          ...named(flag, 'allowScheduling evictionRequested'),
          ...named(text, 'path'),
          ...named(whole, 'storageReserved'),
          diskDriver: oneOf('', 'auto', 'aio'),
          diskType: oneOf('filesystem', 'block'),
          tags: listOf(text),
        }),
      ),
      tags: listOf(text),
    }),
    status: part({
      ...named(flag, 'autoEvicting'),
      ...named(text, 'region zone'),
      conditions,
      diskStatus: mapOf(
        part({
          ...named(text, 'diskDriver diskName diskPath diskType diskUUID filesystemType instanceManagerName'),
          ...named(whole, 'storageAvailable storageMaximum storageScheduled'),
          conditions,
          scheduledBackingImage: mapOf(whole),
          scheduledReplica: mapOf(whole),
        }),
      ),
      snapshotCheckStatus: part({ lastPeriodicCheckedAt: moment }),
    }),
  }),
  Replica: part({
    spec: part({
      ...named(
        flag,
        'active evictionRequested logRequested revisionCounterDisabled salvageRequested unmapMarkDiskChainRemovedEnabled',
      ),
      ...named(
        text,
        'backendStoreDriver backingImage dataDirectoryName desireState diskID diskPath engineImage engineName failedAt hardNodeAffinity healthyAt image lastFailedAt lastHealthyAt migrationEngineName nodeID snapshotMaxSize volumeName volumeSize',
      ),
      ...named(whole, 'rebuildRetryCount snapshotMaxCount'),
      dataEngine: oneOf('v1', 'v2'),
    }),
    status: part({
      ...named(text, 'currentImage currentState instanceManagerName ip ownerID storageIP'),
      ...named(flag, 'evictionRequested logFetched salvageExecuted started'),
      ...named(whole, 'port'),
      conditions,
    }),
  }),
  Setting: part({ ...named(text, 'value'), status: part(named(flag, 'applied'), ['applied']) }, ['value']),
  Volume: part({
    spec: part({
      ...named(flag, 'Standby disableFrontend encrypted migratable revisionCounterDisabled'),
      ...named(
        text,
        'backendStoreDriver backingImage backupTargetName dataSource engineImage fromBackup image lastAttachedBy migrationNodeID nodeID size snapshotMaxSize',
      ),
      ...named(whole, 'numberOfReplicas snapshotMaxCount staleReplicaTimeout'),
      accessMode: oneOf('rwo', 'rwx'),
      backupCompressionMethod: oneOf('none', 'lz4', 'gzip'),
      dataEngine: oneOf('v1', 'v2'),
      dataLocality: oneOf('disabled', 'best-effort', 'strict-local'),
      diskSelector: listOf(text),
      freezeFilesystemForSnapshot: choice,
      frontend: oneOf('blockdev', 'iscsi', 'nvmf', ''),
      nodeSelector: listOf(text),
      replicaAutoBalance: oneOf('ignored', 'disabled', 'least-effort', 'best-effort'),
      replicaDiskSoftAntiAffinity: choice,
      replicaSoftAntiAffinity: choice,
      replicaZoneSoftAntiAffinity: choice,
      restoreVolumeRecurringJob: choice,
      snapshotDataIntegrity: oneOf('ignored', 'disabled', 'enabled', 'fast-check'),
      unmapMarkSnapChainRemoved: oneOf('ignored', 'disabled', 'enabled'),
    }),
    status: part({
      ...named(whole, 'actualSize'),
      ...named(
        text,
        'currentImage currentMigrationNodeID currentNodeID lastBackup lastBackupAt lastDegradedAt ownerID pendingNodeID remountRequestedAt robustness shareEndpoint shareState state',
      ),
      ...named(flag, 'expansionRequired frontendDisabled isStandby restoreInitiated restoreRequired'),
      cloneStatus: part({
        ...named(whole, 'attemptCount'),
        ...named(text, 'nextAllowedAttemptAt snapshot sourceVolume state'),
      }),
      conditions,
      kubernetesStatus: part({
        ...named(text, 'lastPVCRefAt lastPodRefAt namespace pvName pvStatus pvcName'),
        workloadsStatus: listOf(part(named(text, 'podName podStatus workloadName workloadType'))),
      }),
    }),
  }),
  VolumeAttachment: part({
    spec: part(
      {
        ...named(text, 'volume'),
        attachmentTickets: mapOf(
          part({ ...named(whole, 'generation'), ...named(text, 'id nodeID type'), parameters: mapOf(text) }),
        ),
      },
      ['volume'],
    ),
    status: part({
      attachmentTicketStatuses: mapOf(
        part({ ...named(whole, 'generation'), ...named(text, 'id'), ...named(flag, 'satisfied'), conditions }, [
          'conditions',
          'satisfied',
        ]),
      ),
    }),
  }),
}

/** What came later, and is written here too. */
const later: readonly {
  readonly since: string
  readonly kind: string
  readonly part: string
  readonly fields: Fields
}[] = [
  { since: '1.10.0', kind: 'Volume', part: 'spec', fields: { cloneMode: oneOf('', 'full-copy', 'linked-clone') } },
  { since: '1.11.0', kind: 'InstanceManager', part: 'status', fields: { conditions } },
  { since: '1.12.0', kind: 'InstanceManager', part: 'status', fields: { instanceEngineFrontends: processes } },
]

const plurals: Readonly<Record<string, string>> = {
  Engine: 'engines',
  EngineImage: 'engineimages',
  InstanceManager: 'instancemanagers',
  Node: 'nodes',
  Replica: 'replicas',
  Setting: 'settings',
  Volume: 'volumes',
  VolumeAttachment: 'volumeattachments',
}

export const releasedKinds: readonly ResourceType[] = Object.entries(plurals).map(([kind, plural]) => ({
  group: 'longhorn.io',
  version: 'v1beta2',
  plural,
  kind,
  namespaced: true,
}))

function fieldsOf(kind: string, release: '1.8' | '1.12'): Field {
  const root = released[kind] as Field
  if (release === '1.8') return root
  const properties = { ...root.properties }
  for (const one of later.filter((each) => each.kind === kind)) {
    const before = properties[one.part] as Field
    properties[one.part] = { ...before, properties: { ...before.properties, ...one.fields } }
  }
  return { ...root, properties }
}

/** Definitions that keep no field which a released Longhorn does not have, as its own do. */
export function releasedDefinitions(release: '1.8' | '1.12'): KubeObject[] {
  return releasedKinds.map(({ group, kind, plural, version }) => {
    const { properties = {}, required } = fieldsOf(kind, release)
    return buildResourceDefinition({
      group,
      kind,
      plural,
      versions: [
        {
          name: version,
          description: kind,
          properties: properties as unknown as JsonObject,
          ...(required === undefined ? {} : { required }),
          columns: [],
        },
      ],
    })
  })
}

/** An object with every field that a released Longhorn may have written. */
export function genuineObject(kind: string, namespace: string): KubeObject {
  const body = sampleOf(fieldsOf(kind, '1.12')) as object
  const metadata = { name: `genuine-${plurals[kind]}`, namespace, finalizers: ['longhorn.io'] }
  return { apiVersion: 'longhorn.io/v1beta2', kind, metadata, ...body }
}

function sampleOf(field: Field): unknown {
  switch (field.type) {
    case 'string':
      return field.enum?.[0] ?? (field.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'text')
    case 'boolean':
      return false
    case 'integer':
      return 1
    case 'array':
      return [sampleOf(field.items as Field)]
    case 'object':
      if (field.additionalProperties !== undefined) return { key: sampleOf(field.additionalProperties) }
      return Object.fromEntries(Object.entries(field.properties ?? {}).map(([name, inner]) => [name, sampleOf(inner)]))
  }
}
