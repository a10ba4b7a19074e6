import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { buildResourceDefinition } from '@cofferdam/kubernetes/api/resource-definition.ts'

interface Definition {
  readonly kind: string
  readonly plural: string
  readonly shortName: string
  readonly description: string
  /** What is described and checked of the object; the rest is kept as it is written. */
  readonly properties?: JsonObject
  readonly columns: readonly JsonObject[]
}

const group = 'longhorn.io'
const open = { 'x-kubernetes-preserve-unknown-fields': true }
const text = { type: 'string' }
const flag = { type: 'boolean' }
const loose: JsonObject = { type: 'object', ...open }
const part = (properties: JsonObject): JsonObject => ({ type: 'object', ...open, properties })
const oneOf = (...values: string[]): JsonObject => ({ type: 'string', enum: values })
const column = (name: string, jsonPath: string, type = 'string'): JsonObject => ({ name, type, jsonPath })
const age = column('Age', '.metadata.creationTimestamp', 'date')

/** Longhorn's webhook refuses the same, with reason Invalid too: what is to be emptied must not be filled at the same time. */
const evictionRule = (what: 'node' | 'disk'): JsonObject => ({
  'x-kubernetes-validations': [
    {
      rule: '!(has(self.evictionRequested) && self.evictionRequested && has(self.allowScheduling) && self.allowScheduling)',
      message: `need to disable scheduling on this ${what} (allowScheduling: false) for its eviction, or cancel its eviction (evictionRequested: false) to enable scheduling`,
      fieldPath: '.allowScheduling',
    },
  ],
})
const disk: JsonObject = {
  ...part({ path: text, allowScheduling: flag, evictionRequested: flag }),
  ...evictionRule('disk'),
}

const override = oneOf('ignored', 'enabled', 'disabled')

const definitions: readonly Definition[] = [
  {
    kind: 'Engine',
    plural: 'engines',
    shortName: 'lhe',
    description: 'Engine is where Longhorn stores engine object.',
    properties: { spec: part({ volumeName: text, nodeID: text, desireState: text, active: flag, image: text }) },
    columns: [
      column('State', '.status.currentState'),
      column('Node', '.spec.nodeID'),
      column('InstanceManager', '.status.instanceManagerName'),
      age,
    ],
  },
  {
    kind: 'EngineImage',
    plural: 'engineimages',
    shortName: 'lhei',
    description: 'EngineImage is where Longhorn stores engine image object.',
    properties: { spec: part({ image: text }) },
    columns: [
      column('Incompatible', '.status.incompatible', 'boolean'),
      column('State', '.status.state'),
      column('Image', '.spec.image'),
      column('RefCount', '.status.refCount', 'integer'),
      age,
    ],
  },
  {
    kind: 'InstanceManager',
    plural: 'instancemanagers',
    shortName: 'lhim',
    description: 'InstanceManager is where Longhorn stores instance manager object.',
    properties: {
      spec: part({
        nodeID: text,
        image: text,
        type: oneOf('aio', 'engine', 'replica'),
        dataEngine: text,
      }),
    },
    columns: [
      column('Data Engine', '.spec.dataEngine'),
      column('State', '.status.currentState'),
      column('Type', '.spec.type'),
      column('Node', '.spec.nodeID'),
      age,
    ],
  },
  {
    kind: 'Node',
    plural: 'nodes',
    shortName: 'lhn',
    description: 'Node is where Longhorn stores Longhorn node object.',
    properties: {
      spec: {
        ...part({
          name: text,
          allowScheduling: flag,
          evictionRequested: flag,
          disks: { type: 'object', additionalProperties: disk },
        }),
        ...evictionRule('node'),
      },
      status: part({ autoEvicting: flag }),
    },
    columns: [
      column('Ready', ".status.conditions[?(@.type=='Ready')].status"),
      column('AllowScheduling', '.spec.allowScheduling', 'boolean'),
      column('Schedulable', ".status.conditions[?(@.type=='Schedulable')].status"),
      age,
    ],
  },
  {
    kind: 'Replica',
    plural: 'replicas',
    shortName: 'lhr',
    description: 'Replica is where Longhorn stores replica object.',
    properties: {
      spec: part({
        volumeName: text,
        nodeID: text,
        diskID: text,
        active: flag,
        image: text,
        dataDirectoryName: text,
        evictionRequested: flag,
        healthyAt: text,
        failedAt: text,
      }),
    },
    columns: [
      column('Data Engine', '.spec.dataEngine'),
      column('State', '.status.currentState'),
      column('Node', '.spec.nodeID'),
      column('Disk', '.spec.diskID'),
      column('InstanceManager', '.status.instanceManagerName'),
      age,
    ],
  },
  {
    kind: 'Setting',
    plural: 'settings',
    shortName: 'lhs',
    description: 'Setting is where Longhorn stores setting object.',
    properties: { value: text },
    columns: [column('Value', '.value'), column('Applied', '.status.applied', 'boolean'), age],
  },
  {
    kind: 'Volume',
    plural: 'volumes',
    shortName: 'lhv',
    description: 'Volume is where Longhorn stores volume object.',
    properties: {
      spec: part({
        size: text,
        numberOfReplicas: { type: 'integer' },
        dataLocality: oneOf('disabled', 'best-effort', 'strict-local'),
        dataEngine: oneOf('v1', 'v2'),
        nodeID: text,
        migrationNodeID: text,
        image: text,
        dataSource: text,
        cloneMode: oneOf('', 'full-copy', 'linked-clone'),
        replicaSoftAntiAffinity: override,
        replicaZoneSoftAntiAffinity: override,
        replicaDiskSoftAntiAffinity: override,
      }),
    },
    columns: [
      column('Data Engine', '.spec.dataEngine'),
      column('State', '.status.state'),
      column('Robustness', '.status.robustness'),
      column('Scheduled', ".status.conditions[?(@.type=='Scheduled')].status"),
      column('Size', '.spec.size'),
      column('Node', '.status.currentNodeID'),
      age,
    ],
  },
  {
    kind: 'VolumeAttachment',
    plural: 'volumeattachments',
    shortName: 'lhva',
    description: 'VolumeAttachment stores attachment information of a Longhorn volume',
    properties: { spec: part({ volume: text, attachmentTickets: loose }) },
    columns: [age],
  },
]

/** The kinds of Longhorn that a drain depends on: names, columns and the fields that are read. */
export function longhornDefinitions(): KubeObject[] {
  return definitions.map(buildDefinition)
}

function buildDefinition({ kind, plural, shortName, description, properties, columns }: Definition): KubeObject {
  return buildResourceDefinition({
    group,
    kind,
    plural,
    shortNames: [shortName],
    versions: [{ name: 'v1beta2', description, properties: { spec: loose, status: loose, ...properties }, columns }],
  })
}
