/** The values that Longhorn takes for its setting `node-drain-policy`. */
export const drainPolicies = [
  'block-if-contains-last-replica',
  'allow-if-replica-is-stopped',
  'always-allow',
  'block-for-eviction',
  'block-for-eviction-if-contains-last-replica',
] as const
