import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { Observed } from '../../../shared/observed.ts'
import { isHoldBudget } from './budget-object.ts'
import { drainPolicySetting, parseDrainPolicy } from './policy.ts'
import { parseRevertedRecord, revertedAnnotation } from './reverted-record.ts'
import { drainModes, type LonghornDrainSettings } from './snapshot.ts'

/** On Longhorn's setting `node-drain-policy`: who decides drains. See `drainModes`; without it we only observe. */
export const manageAnnotation = 'cofferdam.io/manage'
/** There as well: the policy that a guide brings about while a node is drained. Default: the value of the setting. */
export const wantedPolicyAnnotation = 'cofferdam.io/wanted-policy'
/** There as well: `cordon` or `drain`. */
export const triggerAnnotation = 'cofferdam.io/trigger'
/** There as well: `keep` or `remove`. */
export const surplusAnnotation = 'cofferdam.io/surplus'
/** There as well, written by a guide: the value that was there before it put another in force. */
export const restoresAnnotation = 'cofferdam.io/restores'

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
  const inForce = parseDrainPolicy(values.get(drainPolicySetting))
  const wanted = notes[wantedPolicyAnnotation]
  return {
    mode,
    manager,
    reverted,
    policy: mode !== 'observe' && wanted !== undefined && wanted !== '' ? parseDrainPolicy(wanted) : inForce,
    inForce,
    atRest: notes[restoresAnnotation] === undefined ? inForce : parseDrainPolicy(notes[restoresAnnotation]),
    trigger,
    isAutoscaled: values.get('kubernetes-cluster-autoscaler-enabled') === 'true',
    surplus: isBalancing(values.get('replica-auto-balance')) ? 'keep' : surplus,
    problems,
  }
}

/** Copies in excess are left to Longhorn where it balances replicas itself: it makes such copies on purpose. */
function isBalancing(value: unknown): boolean {
  return value !== undefined && value !== '' && value !== 'disabled'
}

function wordsOf<T extends string>(...words: readonly T[]): ReadonlyMap<string, T> {
  return new Map(words.map((word) => [word, word]))
}
