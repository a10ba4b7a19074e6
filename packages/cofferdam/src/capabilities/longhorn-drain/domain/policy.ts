import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { type DrainPolicy, drainPolicies, type LonghornNodeView, type VolumeView } from './snapshot.ts'

export const drainPolicySetting = 'node-drain-policy'
/** On a Longhorn volume; stronger than its StorageClass, which is stronger than the setting. */
export const drainPolicyLabel = 'cofferdam.io/node-drain-policy'
export const drainPolicyParameter = 'nodeDrainPolicy'

const spellings: ReadonlyMap<string, DrainPolicy> = new Map([
  ...drainPolicies.map((policy) => [policy, policy] as const),
  ['block-for-eviction-if-last-replica', 'block-for-eviction-if-contains-last-replica'] as const,
])

/** Takes anything; what is none of the known values is unknown, never a guess. */
export function parseDrainPolicy(value: unknown): Observed<DrainPolicy> {
  if (value === undefined || value === null) return unknown('it is not set')
  if (typeof value !== 'string') return unknown('it is not a text')
  const policy = spellings.get(value.trim().toLowerCase())
  if (policy !== undefined) return known(policy)
  return unknown(`${JSON.stringify(value.slice(0, 80))} is none of ${drainPolicies.join(', ')}`)
}

/** Undefined: neither the label nor the class says anything, so the setting counts. An empty text says nothing. */
export function parseVolumePolicy(said: {
  readonly label: unknown
  readonly parameter: unknown
}): Observed<DrainPolicy> | undefined {
  for (const value of [said.label, said.parameter]) {
    if (value !== undefined && value !== null && value !== '') return parseDrainPolicy(value)
  }
  return undefined
}

/** What a policy comes to for one replica. */
export type ReplicaRule =
  /** The replica holds nothing. */
  | 'free'
  /** The replica holds its node while it runs and is the last. */
  | 'last-unless-stopped'
  /** The replica holds its node while it is the last. */
  | 'last'
  /** The same, and it moves meanwhile. */
  | 'move-last'
  /** The replica holds its node until it has moved. */
  | 'move-all'
  /** The replica holds its node, and neither begins nor stops to move. */
  | 'unknown'

const rules: Readonly<Record<DrainPolicy, ReplicaRule>> = {
  'always-allow': 'free',
  'allow-if-replica-is-stopped': 'last-unless-stopped',
  'block-if-contains-last-replica': 'last',
  'block-for-eviction-if-contains-last-replica': 'move-last',
  'block-for-eviction': 'move-all',
}

/**
 * The rule for a replica: by the policy of its volume, else by the setting.
 *
 * A node that only reboots brings its replicas back. Under the setting `block-for-eviction` they then move only where no
 * protected copy is elsewhere. A volume that asks for `block-for-eviction` itself gets exactly that.
 */
export function ruleOf(asked: {
  readonly setting: Observed<DrainPolicy>
  readonly volume: Pick<VolumeView, 'policy'> | undefined
  readonly intent: LonghornNodeView['intent']
}): ReplicaRule {
  const own = asked.volume?.policy
  const policy = own ?? asked.setting
  if (!policy.known) return 'unknown'
  const rule = rules[policy.value]
  return rule === 'move-all' && own === undefined && asked.intent === 'Reboot' ? 'move-last' : rule
}
