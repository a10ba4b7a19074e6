import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { lastWriterOf } from '../../../shared/last-writer.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { isHoldBudget } from './budget-object.ts'
import { defaultDrainPolicy, drainPolicySetting, parseDrainPolicy } from './policy.ts'
import { parseRevertedRecord, revertedAnnotation } from './reverted-record.ts'
import { parseAmount, parseSwitch } from './setting-values.ts'
import { type DrainPolicy, drainModes, type LonghornDrainSettings } from './snapshot.ts'

/** On Longhorn's setting `node-drain-policy`: who decides drains. See `drainModes`; without it we only observe. */
export const manageAnnotation = 'cofferdam.io/manage'
/** There as well: the policy that a guide brings about while a node is drained. Default: the value of the setting. */
export const wantedPolicyAnnotation = 'cofferdam.io/wanted-policy'
/** There as well: the policy for nodes that only reboot. Empty, or none: the same as for others. */
export const rebootPolicyAnnotation = 'cofferdam.io/reboot-policy'
/** There as well: `cordon` or `drain`. */
export const triggerAnnotation = 'cofferdam.io/trigger'
/** There as well: `keep` or `remove`. */
export const surplusAnnotation = 'cofferdam.io/surplus'
/** There as well, written by a guide: the value that was there before it put another in force. */
export const restoresAnnotation = 'cofferdam.io/restores'
/** Beside it: what the guide put in force. Empty: somebody else changed it since. */
export const putAnnotation = 'cofferdam.io/put-in-force'

const autoscalerSetting = 'kubernetes-cluster-autoscaler-enabled'

/** `owner` was an earlier mode that wrote what Longhorn writes. What its users wanted is `hold`. */
const formerModes: readonly string[] = ['owner', 'true']

const modes = new Map<string, LonghornDrainSettings['mode']>([
  ...drainModes.map((mode) => [mode, mode] as const),
  ...formerModes.map((mode) => [mode, 'hold'] as const),
  ['false', 'observe'] as const,
])

export interface DrainSurroundings {
  readonly budgets: readonly PodDisruptionBudget[]
  /** Longhorn's own manager, for people; undefined where there is none. */
  readonly manager: Observed<string | undefined>
  readonly nowMs: number
}

/**
 * What Longhorn's settings and the annotations on `node-drain-policy` come to.
 *
 * Fails closed: an unknown value counts as the default, and is reported. Where the setting is gone and budgets are ours,
 * they keep on holding and the policy is unknown, since what was wanted went with the setting.
 */
export function parseDrainSettings(
  settings: readonly LonghornSetting[],
  { budgets, manager, nowMs }: DrainSurroundings,
): LonghornDrainSettings {
  const values = new Map(settings.map(({ metadata, value }) => [metadata.name, value as unknown]))
  const setting = settings.find(({ metadata }) => metadata.name === drainPolicySetting)
  const notes = setting?.metadata.annotations ?? {}
  const problems: string[] = []
  const word = <T extends string>(key: string, allowed: ReadonlyMap<string, T>, otherwise: T): T => {
    const text = notes[key]
    if (text === undefined || text === '') return otherwise
    const found = allowed.get(text.trim().toLowerCase())
    if (found === undefined) {
      const words = [...new Set(allowed.values())].join(', ')
      problems.push(`annotation ${key}: ${JSON.stringify(text.slice(0, 80))} is none of ${words}; ${otherwise} counts`)
    }
    return found ?? otherwise
  }
  const mode = setting === undefined && budgets.some(isHoldBudget) ? 'hold' : word(manageAnnotation, modes, 'observe')
  if (formerModes.includes(notes[manageAnnotation]?.trim().toLowerCase() ?? '')) {
    problems.push(`annotation ${manageAnnotation}: owner is now called hold; set ${manageAnnotation}=hold`)
  }
  if (mode !== 'observe' && manager.known && manager.value === undefined) {
    problems.push(
      'no Longhorn manager is there (label app=longhorn-manager), so no replica moves and no budget of Longhorn changes',
    )
  }
  const reverted = mode === 'observe' ? undefined : parseRevertedRecord(notes[revertedAnnotation], nowMs)?.says
  const trigger = word(triggerAnnotation, wordsOf('cordon', 'drain'), 'cordon')
  const surplus = word(surplusAnnotation, wordsOf('keep', 'remove'), 'keep')
  const isLost = setting === undefined && mode === 'hold'
  const ofMissing = isLost ? lostWish : known(defaultDrainPolicy)
  const inForce = setting === undefined ? ofMissing : parseDrainPolicy(setting.value)
  if (setting === undefined && mode === 'observe') {
    problems.push(`it does not exist, so ${defaultDrainPolicy} counts, Longhorn's default`)
  }
  const atRest = policyAtRest(notes, inForce)
  const autoscaled = values.get(autoscalerSetting)
  const isAutoscaled = autoscaled === undefined ? false : parseSwitch(autoscaled)
  if (isAutoscaled === undefined) {
    problems.push(`the setting ${autoscalerSetting} is neither true nor false; false counts`)
  }
  const sinceMs = setting === undefined ? undefined : valueSinceOf(setting)
  const reboot = notes[rebootPolicyAnnotation]
  return {
    mode,
    manager,
    reverted,
    policy: mode === 'observe' ? inForce : wantedPolicy(notes, atRest),
    inForce,
    atRest,
    ...(sinceMs === undefined ? {} : { inForceSinceMs: sinceMs }),
    ...(mode !== 'observe' && notes[putAnnotation] === '' ? { isYielded: true } : {}),
    ...(reboot === undefined || reboot === '' ? {} : { rebootPolicy: parseDrainPolicy(reboot) }),
    trigger,
    isAutoscaled: isAutoscaled ?? false,
    ...(parseAmount(values.get('concurrent-replica-rebuild-per-node-limit')) === 0 ? { isRebuildOff: true } : {}),
    ...roomOf(values),
    surplus: isBalancing(values.get('replica-auto-balance')) ? 'keep' : surplus,
    problems,
  }
}

const lostWish = unknown('it does not exist any more, and with it what was wanted')

/** Nothing where Longhorn's defaults count. */
function roomOf(values: ReadonlyMap<string, unknown>): Pick<LonghornDrainSettings, 'room'> {
  const overProvisioning = parseAmount(values.get('storage-over-provisioning-percentage')) ?? 100
  const minimalAvailable = parseAmount(values.get('storage-minimal-available-percentage')) ?? 25
  return overProvisioning === 100 && minimalAvailable === 25 ? {} : { room: { overProvisioning, minimalAvailable } }
}

/** By who wrote the value last; one that was never changed is as old as the setting. */
function valueSinceOf(setting: LonghornSetting): number | undefined {
  const { generation, creationTimestamp } = setting.metadata
  const { time = generation === 1 ? creationTimestamp : undefined } = lastWriterOf(setting, ['value'])
  return time === undefined ? undefined : parseRfc3339(time)
}

/** What is wanted for all nodes: what is asked for, else the setting's own value. */
function wantedPolicy(notes: Readonly<Record<string, string>>, atRest: Observed<DrainPolicy>): Observed<DrainPolicy> {
  const wanted = notes[wantedPolicyAnnotation]
  return wanted !== undefined && wanted !== '' ? parseDrainPolicy(wanted) : atRest
}

/** The setting's own value, also while another is put in force; what another client put there since stays. */
function policyAtRest(notes: Readonly<Record<string, string>>, inForce: Observed<DrainPolicy>): Observed<DrainPolicy> {
  const restores = notes[restoresAnnotation]
  const isOurs = restores !== undefined && inForce.known && inForce.value === (notes[putAnnotation] ?? inForce.value)
  return isOurs ? parseDrainPolicy(restores) : inForce
}

/** Copies in excess are left to Longhorn where it balances replicas itself: it makes such copies on purpose. */
function isBalancing(value: unknown): boolean {
  return value !== undefined && value !== '' && value !== 'disabled'
}

function wordsOf<T extends string>(...words: readonly T[]): ReadonlyMap<string, T> {
  return new Map(words.map((word) => [word, word]))
}
