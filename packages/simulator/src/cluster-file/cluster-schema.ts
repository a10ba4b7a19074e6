import { percentOf } from '@cofferdam/kubernetes/api/int-or-string.ts'
import { parseQuantity } from '@cofferdam/kubernetes/api/quantity.ts'
import { z } from 'zod'
import { cephSchema } from './ceph-schema.ts'
import { longhornSchema } from './longhorn-schema.ts'
import { machinesSchema } from './machines-schema.ts'

const labelName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const dottedName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const nodeNamePattern = /^([a-z0-9.-]|\{zone\}|\{rack\}|\{n\})+$/
const labelKey = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/

const name = z
  .string()
  .regex(labelName, 'must be lower-case letters, digits and dashes, as in web or node-agent')
  .max(63, 'must have at most 63 letters')
const place = z.string().regex(labelValue, 'must be letters, digits, dashes, dots and underscores').min(1).max(63)
const seconds = z.number().min(0).max(3600)
const wholeSeconds = z.int().min(0).max(3600)
const count = z.int().min(0).max(50_000)

const quantity = z
  .union([z.string(), z.number()], 'must be a quantity, as in 500m, 2 or 4Gi')
  .transform(String)
  .refine(isQuantity, 'must be a quantity, as in 500m, 2 or 4Gi')
const quantities = z.strictObject({ cpu: quantity.optional(), memory: quantity.optional() })

const labels = z.record(
  z.string().regex(labelKey, 'must be a label key, as in disktype or example.com/disktype'),
  z.string('must be a text; put quotes around numbers and true or false').regex(labelValue, 'must be a label value'),
)

const atOnce = z
  .union([z.int().min(0), z.string()], 'must be a whole number or a percentage, as in 1 or 25%')
  .refine(
    (value) => typeof value === 'number' || percentOf(value) !== undefined,
    'must be a whole number or a percentage, as in 1 or 25%',
  )

const zone = z.strictObject({
  name: place,
  racks: z.array(place).default([]),
})

const taint = z.strictObject({
  key: z.string().regex(labelKey, 'must be a taint key, as in dedicated or example.com/dedicated'),
  value: z.string().regex(labelValue, 'must be a taint value').optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
})

const nodeGroup = z.strictObject({
  name: z
    .string()
    .regex(nodeNamePattern, 'must be a node name, as in worker-a1, or a pattern with {zone}, {rack} and {n}'),
  zone: place.optional(),
  zones: z.array(place).min(1).optional(),
  rack: place.optional(),
  count: z.int().min(1).max(5000).default(1),
  roles: z.array(name).default([]),
  labels: labels.default({}),
  taints: z.array(taint).default([]),
  capacity: z
    .strictObject({ cpu: quantity.optional(), memory: quantity.optional(), pods: z.int().min(1).max(5000).optional() })
    .default({}),
})

const workload = {
  name,
  namespace: name.default('default'),
  image: z.string().min(1).optional(),
  requests: quantities.default({}),
  nodeSelector: labels.default({}),
}

const app = z.strictObject({
  ...workload,
  kind: z.enum(['Deployment', 'StatefulSet', 'DaemonSet']).default('Deployment'),
  replicas: count.optional(),
  spread: z.enum(['zone', 'host']).optional(),
  labels: labels.default({}),
  everywhere: z.boolean().default(false),
  skipDrain: z.boolean().default(false),
  readyAfterSeconds: seconds.optional(),
  terminationSeconds: wholeSeconds.optional(),
  pdb: z
    .strictObject({
      minAvailable: atOnce.optional(),
      maxUnavailable: atOnce.optional(),
      unhealthyPodEvictionPolicy: z.enum(['IfHealthyBudget', 'AlwaysAllow']).optional(),
    })
    .optional(),
})

const job = z.strictObject({
  ...workload,
  completions: z.int().min(1).max(50_000).default(1),
  parallelism: z.int().min(1).max(5000).default(1),
  runsForSeconds: seconds.optional(),
})

const pace = z.strictObject({
  readyAfterSeconds: seconds.default(3),
  terminationSeconds: wholeSeconds.default(2),
})

/** The cluster file as people write it. What fields mean is said in docs/reference/cluster-file.md. */
export const clusterSchema = z.strictObject({
  name: name.default('demo'),
  pace: pace.default({ readyAfterSeconds: 3, terminationSeconds: 2 }),
  zones: z.array(zone).min(1),
  nodes: z.array(nodeGroup).min(1),
  apps: z.array(app).default([]),
  jobs: z.array(job).default([]),
  ceph: cephSchema.optional(),
  longhorn: longhornSchema.optional(),
  machines: machinesSchema.optional(),
})

export type WrittenCluster = z.infer<typeof clusterSchema>
export type NodeGroup = z.infer<typeof nodeGroup>
export type App = z.infer<typeof app>
export type BatchJob = z.infer<typeof job>
export type Pace = z.infer<typeof pace>
export type NodeTaint = z.infer<typeof taint>

export function isNodeName(text: string): boolean {
  return dottedName.test(text) && text.length <= 253
}

function isQuantity(text: string): boolean {
  try {
    return parseQuantity(text) >= 0n
  } catch {
    return false
  }
}
