import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import { isOwnBudget } from './budget-object.ts'
import { defaultDrainPolicy, drainPolicySetting, parseDrainPolicy } from './policy.ts'
import { parseRevertedRecord, revertedAnnotation } from './reverted-record.ts'
import { parseSwitch } from './setting-values.ts'
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

/** `true` stands for `owner`. */
const modes = new Map<string, LonghornDrainSettings['mode']>([
  ...drainModes.map((mode) => [mode, mode] as const),
  ['true', 'owner'] as const,
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
 * we stay in charge, and the policy is Longhorn's default, under which last copies are held.
 *
 * Guarantees: beside a Longhorn manager, or where none can be ruled out, the mode is never `owner`: both would write the
 * same flags and budgets by different rules, and between two undone writes a node with the last copy may go.
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
  const asked = setting === undefined && budgets.some(isOwnBudget) ? 'owner' : word(manageAnnotation, modes, 'observe')
  const refused = asked === 'owner' ? whyRefused(manager) : undefined
  const mode = refused === undefined ? asked : 'observe'
  const reverted = mode === 'owner' ? parseRevertedRecord(notes[revertedAnnotation], nowMs)?.says : undefined
  const trigger = word(triggerAnnotation, wordsOf('cordon', 'drain'), 'cordon')
  const surplus = word(surplusAnnotation, wordsOf('keep', 'remove'), 'keep')
  const inForce = setting === undefined ? known(defaultDrainPolicy) : parseDrainPolicy(setting.value)
  if (setting === undefined) problems.push(`it does not exist, so ${defaultDrainPolicy} counts, Longhorn's default`)
  const autoscaled = values.get(autoscalerSetting)
  const isAutoscaled = autoscaled === undefined ? false : parseSwitch(autoscaled)
  if (isAutoscaled === undefined) {
    problems.push(`the setting ${autoscalerSetting} is neither true nor false; false counts`)
  }
  const reboot = notes[rebootPolicyAnnotation]
  return {
    mode,
    refused,
    reverted,
    policy: mode === 'guide' ? guidedPolicy(notes, inForce) : inForce,
    inForce,
    ...(reboot === undefined || reboot === '' ? {} : { rebootPolicy: parseDrainPolicy(reboot) }),
    trigger,
    isAutoscaled: isAutoscaled ?? false,
    surplus: isBalancing(values.get('replica-auto-balance')) ? 'keep' : surplus,
    problems,
  }
}

/** What a guide wants for all nodes: what is asked for, else the setting's own value, also while another is put in force for some. */
function guidedPolicy(notes: Readonly<Record<string, string>>, inForce: Observed<DrainPolicy>): Observed<DrainPolicy> {
  const wanted = notes[wantedPolicyAnnotation]
  if (wanted !== undefined && wanted !== '') return parseDrainPolicy(wanted)
  const restores = notes[restoresAnnotation]
  const isOurs = restores !== undefined && inForce.known && inForce.value === notes[putAnnotation]
  return isOurs ? parseDrainPolicy(restores) : inForce
}

function whyRefused(manager: Observed<string | undefined>): string | undefined {
  if (!manager.known) return `it is not known whether a Longhorn manager runs: ${manager.why}`
  return manager.value === undefined
    ? undefined
    : `a Longhorn manager is there (${manager.value}) and handles drains itself`
}

/** Copies in excess are left to Longhorn where it balances replicas itself: it makes such copies on purpose. */
function isBalancing(value: unknown): boolean {
  return value !== undefined && value !== '' && value !== 'disabled'
}

function wordsOf<T extends string>(...words: readonly T[]): ReadonlyMap<string, T> {
  return new Map(words.map((word) => [word, word]))
}
