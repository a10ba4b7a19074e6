import { z } from 'zod'

const seconds = z.number().min(0).max(3600)

const healthCheck = z.strictObject({
  style: z.enum(['budget', 'machine', 'node']).default('machine'),
  after: seconds.default(300),
  remediation: z.enum(['delete', 'reboot']).optional(),
})

const pace = z.strictObject({
  provisionSeconds: seconds.default(180),
  terminateSeconds: seconds.default(30),
  rebootSeconds: seconds.default(120),
})

/** The `machines` section of the cluster file. What fields mean is said in docs/reference/cluster-file.md. */
export const machinesSchema = z.strictObject({
  api: z.enum(['openshift', 'cluster-api', 'none']).default('openshift'),
  nodes: z.array(z.string()).min(1).optional(),
  healthCheck: healthCheck.optional(),
  volumes: z.enum(['follow', 'lost']).default('follow'),
  pace: pace.default({ provisionSeconds: 180, terminateSeconds: 30, rebootSeconds: 120 }),
})

export type WrittenMachines = z.infer<typeof machinesSchema>
export type WrittenHealthCheck = z.infer<typeof healthCheck>
