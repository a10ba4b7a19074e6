import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { buildResourceDefinition } from '@cofferdam/kubernetes/api/resource-definition.ts'

interface Definition {
  readonly kind: string
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly description: string
  /** The part of the spec that is described and checked; the rest is kept as it is written. */
  readonly spec: JsonObject
  readonly required?: readonly string[]
  readonly columns: readonly JsonObject[]
}

const group = 'ceph.rook.io'
const open = { 'x-kubernetes-preserve-unknown-fields': true }
const text = { type: 'string' }
const flag = { type: 'boolean' }
const amount = (minimum: number, more: JsonObject = {}): JsonObject => ({ type: 'integer', minimum, ...more })
const part = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  ...open,
  properties,
  ...more,
})

const pool = {
  failureDomain: text,
  deviceClass: text,
  replicated: part({ size: amount(0), requireSafeReplicaSize: flag }, { required: ['size'] }),
  erasureCoded: part(
    { dataChunks: amount(0), codingChunks: amount(0), algorithm: text },
    { required: ['codingChunks', 'dataChunks'] },
  ),
  parameters: { type: 'object', ...open },
}

const deviceSelection = {
  useAllDevices: flag,
  deviceFilter: text,
  devicePathFilter: text,
  devices: { type: 'array', items: part({ name: text, fullpath: text }) },
  config: { type: 'object', ...open },
}

const phase = { name: 'Phase', type: 'string', jsonPath: '.status.phase' }
const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

const definitions: readonly Definition[] = [
  {
    kind: 'CephCluster',
    plural: 'cephclusters',
    shortNames: ['ceph'],
    description: 'CephCluster is a Ceph storage cluster',
    spec: {
      dataDirHostPath: text,
      cephVersion: part({ image: text, allowUnsupported: flag }),
      mon: part({ count: amount(0, { maximum: 9 }), allowMultiplePerNode: flag }),
      mgr: part({ count: amount(0, { maximum: 5 }), allowMultiplePerNode: flag }),
      external: part({ enable: flag }),
      disruptionManagement: part({
        managePodBudgets: flag,
        osdMaintenanceTimeout: { type: 'integer', format: 'int64' },
        pgHealthCheckTimeout: { type: 'integer', format: 'int64' },
        pgHealthyRegex: text,
        manageMachineDisruptionBudgets: flag,
        machineDisruptionBudgetNamespace: text,
      }),
      storage: part({
        useAllNodes: flag,
        ...deviceSelection,
        nodes: { type: 'array', items: part({ name: text, ...deviceSelection }, { required: ['name'] }) },
        storageClassDeviceSets: {
          type: 'array',
          items: part(
            {
              name: text,
              count: amount(1),
              portable: flag,
              encrypted: flag,
              volumeClaimTemplates: { type: 'array', items: { type: 'object', ...open } },
            },
            { required: ['count', 'name', 'volumeClaimTemplates'] },
          ),
        },
      }),
    },
    columns: [
      {
        name: 'DataDirHostPath',
        type: 'string',
        jsonPath: '.spec.dataDirHostPath',
        description: 'Directory used on the K8s nodes',
      },
      { name: 'MonCount', type: 'string', jsonPath: '.spec.mon.count', description: 'Number of MONs' },
      age,
      phase,
      { name: 'Message', type: 'string', jsonPath: '.status.message', description: 'Message' },
      { name: 'Health', type: 'string', jsonPath: '.status.ceph.health', description: 'Ceph Health' },
      { name: 'External', type: 'boolean', jsonPath: '.spec.external.enable' },
      { name: 'FSID', type: 'string', jsonPath: '.status.ceph.fsid', description: 'Ceph FSID' },
    ],
  },
  {
    kind: 'CephBlockPool',
    plural: 'cephblockpools',
    shortNames: ['cephbp'],
    description: 'CephBlockPool represents a Ceph Storage Pool',
    spec: { name: text, ...pool },
    columns: [
      phase,
      { name: 'Type', type: 'string', jsonPath: '.status.info.type' },
      { name: 'FailureDomain', type: 'string', jsonPath: '.status.info.failureDomain' },
      { name: 'Replication', type: 'integer', jsonPath: '.spec.replicated.size', priority: 1 },
      { name: 'EC-CodingChunks', type: 'integer', jsonPath: '.spec.erasureCoded.codingChunks', priority: 1 },
      { name: 'EC-DataChunks', type: 'integer', jsonPath: '.spec.erasureCoded.dataChunks', priority: 1 },
      age,
    ],
  },
  {
    kind: 'CephFilesystem',
    plural: 'cephfilesystems',
    shortNames: ['cephfs'],
    description: 'CephFilesystem represents a Ceph Filesystem',
    spec: {
      metadataPool: part(pool),
      dataPools: { type: 'array', items: part({ name: text, ...pool }) },
      preserveFilesystemOnDelete: flag,
      metadataServer: part(
        { activeCount: amount(1, { maximum: 50, format: 'int32' }), activeStandby: flag },
        { required: ['activeCount'] },
      ),
    },
    required: ['dataPools', 'metadataPool', 'metadataServer'],
    columns: [
      {
        name: 'ActiveMDS',
        type: 'string',
        jsonPath: '.spec.metadataServer.activeCount',
        description: 'Number of desired active MDS daemons',
      },
      age,
      phase,
    ],
  },
  {
    kind: 'CephObjectStore',
    plural: 'cephobjectstores',
    shortNames: ['cephos'],
    description: 'CephObjectStore represents a Ceph Object Store Gateway',
    spec: {
      metadataPool: part(pool),
      dataPool: part(pool),
      gateway: part({
        port: { type: 'integer', format: 'int32' },
        securePort: { type: 'integer', format: 'int32', minimum: 0, maximum: 65535 },
        instances: { type: 'integer', format: 'int32' },
      }),
    },
    columns: [
      phase,
      { name: 'Endpoint', type: 'string', jsonPath: '.status.info.endpoint' },
      { name: 'SecureEndpoint', type: 'string', jsonPath: '.status.info.secureEndpoint' },
      age,
    ],
  },
  {
    kind: 'CephRBDMirror',
    plural: 'cephrbdmirrors',
    shortNames: ['cephrbdm'],
    description: 'CephRBDMirror represents a Ceph RBD Mirror',
    spec: { count: amount(1) },
    required: ['count'],
    columns: [phase, age],
  },
  {
    kind: 'CephNFS',
    plural: 'cephnfses',
    shortNames: ['nfs'],
    description: 'CephNFS represents a Ceph NFS',
    spec: { server: part({ active: { type: 'integer' } }, { required: ['active'] }) },
    required: ['server'],
    columns: [phase, age],
  },
  {
    kind: 'CephNVMeOFGateway',
    plural: 'cephnvmeofgateways',
    shortNames: ['nvmeof'],
    description: 'CephNVMeOFGateway represents a Ceph NVMe-oF Gateway',
    spec: { pool: text, group: text, instances: amount(1) },
    required: ['group', 'instances', 'pool'],
    columns: [phase, age],
  },
  {
    kind: 'CephFilesystemMirror',
    plural: 'cephfilesystemmirrors',
    shortNames: ['cephfsm'],
    description: 'CephFilesystemMirror is the Ceph Filesystem Mirror object definition',
    spec: {},
    columns: [phase, age],
  },
]

/** The kinds of Rook that the budgets of Ceph depend on, as far as they do: names, columns and the fields that are read. */
export function rookDefinitions(): KubeObject[] {
  return definitions.map(buildDefinition)
}

function buildDefinition({ kind, plural, shortNames, description, spec, required, columns }: Definition): KubeObject {
  return buildResourceDefinition({
    group,
    kind,
    plural,
    shortNames,
    versions: [
      {
        name: 'v1',
        description,
        required: ['metadata', 'spec'],
        properties: {
          spec: part(spec, required === undefined ? {} : { required }),
          status: { type: 'object', ...open, properties: { phase: text } },
        },
        columns,
      },
    ],
  })
}
