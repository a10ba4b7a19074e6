import type { Capability } from '../capability.ts'
import { longhornDrainPermissions } from './controller/controller.ts'

export const longhornDrain = {
  name: 'longhorn-drain',
  summary: 'Holds and moves the replicas of Longhorn volumes while a node is drained, by the policy in force.',
  controllers: [{ name: 'longhorn-drain', rights: longhornDrainPermissions }],
} as const satisfies Capability<never>
