import { z } from 'zod'

const objectName = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be lower-case letters, digits and dashes, as in rook-ceph')
  .max(50, 'must have at most 50 letters')
const poolName = z
  .string()
  .regex(/^(\.mgr|\.nfs|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$/, 'must be a pool name, as in replicapool, or .mgr or .nfs')
  .max(63, 'must have at most 63 letters')

/** From the narrowest to the widest. */
export const failureDomainTypes = ['osd', 'host', 'rack', 'zone'] as const

const failureDomain = z.enum(failureDomainTypes).default('host')
const replicated = z.strictObject({
  size: z.int().min(1).max(10).default(3),
  minSize: z.int().min(1).max(10).optional(),
})
const placementGroups = z.int().min(1).max(4096)

const pool = z.strictObject({
  name: poolName,
  failureDomain,
  replicated: replicated.optional(),
  erasure: z
    .strictObject({
      data: z.int().min(2).max(20),
      coding: z.int().min(1).max(10),
      minSize: z.int().min(1).max(30).optional(),
    })
    .optional(),
  pgs: placementGroups.default(32),
  toolbox: z.boolean().default(false),
})

const ownPools = {
  failureDomain,
  size: z.int().min(1).max(10).default(3),
  pgs: placementGroups.default(8),
}

const osds = z.strictObject({
  perNode: z.int().min(1).max(60).default(1),
  nodes: z.array(z.string()).min(1).optional(),
  deviceClass: z.enum(['hdd', 'ssd', 'nvme']).default('ssd'),
})

const disruptionManagement = z.strictObject({
  managePodBudgets: z.boolean().default(true),
  osdMaintenanceTimeout: z.int().min(0).max(100_000).optional(),
  pgHealthyRegex: z.string().min(1).optional(),
})

const pace = z.strictObject({
  recoveryPgsPerSecond: z.number().min(0.01).max(100_000).default(5),
  outAfterSeconds: z.number().min(1).max(86_400).default(600),
})

/** The `ceph` section of the cluster file. What fields mean is said in docs/reference/cluster-file.md. */
export const cephSchema = z.strictObject({
  namespace: objectName.default('rook-ceph'),
  name: objectName.default('rook-ceph'),
  osds: osds.default({ perNode: 1, deviceClass: 'ssd' }),
  mons: z.int().min(1).max(9).default(3),
  mgrs: z.int().min(1).max(5).default(2),
  pools: z.array(pool).default([]),
  filesystems: z
    .array(
      z.strictObject({
        name: objectName,
        active: z.int().min(1).max(10).default(1),
        standby: z.boolean().default(true),
        ...ownPools,
      }),
    )
    .default([]),
  objectStores: z
    .array(z.strictObject({ name: objectName, instances: z.int().min(1).max(50).default(1), ...ownPools }))
    .default([]),
  rbdMirrors: z.int().min(0).max(10).default(0),
  nfs: z.array(z.strictObject({ name: objectName, active: z.int().min(1).max(10).default(1) })).default([]),
  nvmeof: z.array(z.strictObject({ name: objectName, instances: z.int().min(1).max(10).default(1) })).default([]),
  filesystemMirrors: z.int().min(0).max(10).default(0),
  rookImage: z
    .string()
    .regex(/^[^\s]+$/, 'must be the name of an image, as in registry.example/rook/ceph:v1.18.8')
    .optional(),
  rook: z.boolean().default(false),
  disruptionManagement: disruptionManagement.default({ managePodBudgets: true }),
  pace: pace.default({ recoveryPgsPerSecond: 5, outAfterSeconds: 600 }),
})

export type WrittenCeph = z.infer<typeof cephSchema>
export type WrittenPool = z.infer<typeof pool>
export type FailureDomainType = (typeof failureDomainTypes)[number]
