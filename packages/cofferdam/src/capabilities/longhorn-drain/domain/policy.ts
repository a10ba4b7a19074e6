import { known, type Observed, unknown } from '../../../shared/observed.ts'
import {
  type DrainPolicy,
  drainPolicies,
  type LonghornDrainSettings,
  type LonghornNodeView,
  type VolumeView,
} from './snapshot.ts'

export const drainPolicySetting = 'node-drain-policy'
/** What Longhorn goes by where the setting does not exist. One that exists without a value is an error to it. */
export const defaultDrainPolicy: DrainPolicy = 'block-if-contains-last-replica'
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
 * The policy of the settings for a node: what is wanted for reboots where it only reboots and such a policy is set, else
 * that of all nodes. An intent alone changes nothing: a node that should be empty before it goes is empty before a reboot too.
 */
export function policyFor(
  { policy, rebootPolicy }: Pick<LonghornDrainSettings, 'policy' | 'rebootPolicy'>,
  intent: LonghornNodeView['intent'],
): Observed<DrainPolicy> {
  return intent === 'Reboot' && rebootPolicy !== undefined ? rebootPolicy : policy
}

/** The rule for a replica: by the policy of its volume, else by that of the settings for its node. */
export function ruleOf(asked: {
  readonly setting: Observed<DrainPolicy>
  readonly volume: Pick<VolumeView, 'policy'> | undefined
}): ReplicaRule {
  const policy = asked.volume?.policy ?? asked.setting
  return policy.known ? rules[policy.value] : 'unknown'
}

const fromMildToStrict: readonly DrainPolicy[] = [
  'always-allow',
  'allow-if-replica-is-stopped',
  'block-if-contains-last-replica',
  'block-for-eviction-if-contains-last-replica',
  'block-for-eviction',
]

/** Of policies that one setting has to stand for. */
export function strictestOf(first: DrainPolicy, ...more: readonly DrainPolicy[]): DrainPolicy {
  return more.reduce((a, b) => (fromMildToStrict.indexOf(a) < fromMildToStrict.indexOf(b) ? b : a), first)
}
