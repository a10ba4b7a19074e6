import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { quantityNumber } from '@cofferdam/kubernetes/api/quantity.ts'
import { z } from 'zod'
import { drainPolicies } from '../world/longhorn/drain-policies.ts'

const objectName = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be lower-case letters, digits and dashes, as in orders-0')
  .max(50, 'must have at most 50 letters')
const bytesHint = 'must be a number of bytes of at least 1Mi, as in 500Mi or 2Gi'
const bytes = z
  .union([z.string(), z.number()], bytesHint)
  .refine((value) => bytesOf(value) !== undefined, bytesHint)
  .transform((value) => bytesOf(value) as number)
const policy = z.enum(drainPolicies)

const mebibyte = 1024 ** 2
const gibibyte = 1024 ** 3

/** There in every cluster with Longhorn, and the class of volumes that name none. */
export const defaultStorageClass = 'longhorn'

const disks = z.strictObject({
  perNode: z.int().min(1).max(20).default(1),
  size: bytes.default(100 * gibibyte),
})

const pace = z.strictObject({
  rebuildPerSecond: bytes.default(64 * mebibyte),
})

const storageClass = z.strictObject({
  name: objectName,
  policy: policy.optional(),
})

const volume = z.strictObject({
  name: objectName,
  size: bytes.default(gibibyte),
  filled: z.number().min(0).max(1).default(0.5),
  replicas: z.int().min(1).max(20).default(3),
  dataLocality: z.enum(['disabled', 'best-effort', 'strict-local']).default('disabled'),
  policy: policy.optional(),
  storageClass: objectName.optional(),
  attachedBy: z.string().min(1).optional(),
  attachedTo: z.string().min(1).optional(),
  placedOn: z.array(z.string()).default([]),
})

/** The `longhorn` section of the cluster file. What fields mean is said in docs/reference/cluster-file.md. */
export const longhornSchema = z.strictObject({
  namespace: objectName.default(longhornNamespace),
  nodes: z.array(z.string()).min(1).optional(),
  disks: disks.default({ perNode: 1, size: 100 * gibibyte }),
  drainPolicy: policy.default('block-if-contains-last-replica'),
  manage: z.enum(['observe', 'guide', 'hold']).default('hold'),
  wantedPolicy: policy.optional(),
  rebootPolicy: policy.optional(),
  trigger: z.enum(['cordon', 'drain']).default('cordon'),
  surplus: z.enum(['keep', 'remove']).default('keep'),
  settings: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()], 'must be a text, a number, or true or false'))
    .default({}),
  storageClasses: z.array(storageClass).default([]),
  volumes: z.array(volume).default([]),
  pace: pace.default({ rebuildPerSecond: 64 * mebibyte }),
})

export type WrittenLonghorn = z.infer<typeof longhornSchema>
export type WrittenVolume = z.infer<typeof volume>

/** Undefined: no quantity, or one that is no size of a disk. */
function bytesOf(value: string | number): number | undefined {
  try {
    const number = quantityNumber(String(value))
    return number >= mebibyte && Number.isSafeInteger(number) ? number : undefined
  } catch {
    return undefined
  }
}
