import type { Observed } from '../../../shared/observed.ts'
import { restoresAnnotation, wantedPolicyAnnotation } from './drain-settings.ts'
import type { GuidanceDecision, GuidanceStep } from './guidance-decision.ts'
import { putAnnotation, type SettingMark } from './guidance-marks.ts'
import { drainPolicySetting, parseDrainPolicy } from './policy.ts'
import type { DrainPolicy, LonghornNodeView, LonghornSnapshot } from './snapshot.ts'

interface GuidedSetting extends Omit<GuidanceDecision, 'reverted'> {
  /** What Longhorn goes by once the steps are done; undefined: no node may be asked for. */
  readonly inForce: DrainPolicy | undefined
}

const object = `setting/${drainPolicySetting}`
const noMarks = { [restoresAnnotation]: null, [putAnnotation]: null }

/** Puts the wanted policy in force while nodes leave, and the one before it back. */
export function guideSetting(
  snapshot: LonghornSnapshot,
  leaving: readonly LonghornNodeView[],
  mark: SettingMark | undefined,
): GuidedSetting {
  const { settings } = snapshot
  const asItIs = settings.inForce.known ? settings.inForce.value : undefined
  const nothing: GuidedSetting = { steps: [], problems: [], inForce: asItIs }
  if (mark === undefined) return nothing
  const { value, restores } = mark
  if (restores?.known === false) {
    const problem = `annotation ${restoresAnnotation}: ${restores.why}; so nothing is put back. Set the policy that should be in force, and take the annotation away`
    return { ...nothing, problems: [{ object, problem }] }
  }
  if (restores !== undefined && value !== (mark.put ?? textOf(settings.policy))) {
    return { ...nothing, steps: yieldTo(mark, leaving) }
  }
  const before = restores?.value ?? value
  if (leaving.length === 0) {
    if (restores === undefined) return nothing
    return { ...nothing, steps: [restore(before, 'No node is being drained any more')] }
  }
  const own = parseDrainPolicy(before)
  const wanted = mark.hasWish ? settings.policy : own
  if (!wanted.known || !own.known) return { ...nothing, ...explainUnknown(mark, wanted, own), inForce: undefined }
  const aim = mark.hasWish ? soften(wanted.value, leaving) : own.value
  if (aim === own.value) {
    const steps = restores === undefined ? [] : [restore(before, 'No other policy is configured any more')]
    return { ...nothing, steps, inForce: aim }
  }
  return aim === asItIs ? nothing : { ...nothing, steps: [put(snapshot, leaving, { aim, before })], inForce: aim }
}

/** His value counts for as long as a node leaves, also if he should later choose what we had chosen. */
function yieldTo({ value, put: ours }: SettingMark, leaving: readonly LonghornNodeView[]): GuidanceStep[] {
  const step = { kind: 'setting', name: drainPolicySetting } as const
  if (leaving.length === 0) {
    const explanation = `Another client set ${value} while a node was drained; it stays.`
    return [{ ...step, annotations: noMarks, explanation }]
  }
  if (ours === '') return []
  return [
    {
      ...step,
      annotations: { [putAnnotation]: '' },
      reason: 'GuideYields',
      explanation: `Another client set ${value} while ${namesOf(leaving)} was drained; it stays in force, also after the drain.`,
    },
  ]
}

function put(
  { nodes }: LonghornSnapshot,
  leaving: readonly LonghornNodeView[],
  { aim, before }: { readonly aim: DrainPolicy; readonly before: string },
): GuidanceStep {
  const others = nodes.filter((node) => node.isCordoned && !leaving.includes(node))
  const also = others.length === 0 ? '' : ` It holds for every cordoned node, so for ${namesOf(others)} too.`
  return {
    kind: 'setting',
    name: drainPolicySetting,
    value: aim,
    annotations: { [restoresAnnotation]: before, [putAnnotation]: aim },
    reason: 'PolicyPutInForce',
    explanation: `${aim} is in force while ${namesOf(leaving)} ${leaving.length === 1 ? 'leaves' : 'leave'}; ${before} comes back after that.${also}`,
  }
}

function restore(before: string, why: string): GuidanceStep {
  return {
    kind: 'setting',
    name: drainPolicySetting,
    value: before,
    annotations: noMarks,
    reason: 'PolicyRestored',
    explanation: `${why}: ${before} is in force again.`,
  }
}

/** A node that only reboots brings its replicas back: only last copies move, as everywhere else. */
function soften(wanted: DrainPolicy, leaving: readonly LonghornNodeView[]): DrainPolicy {
  const isReboot = leaving.every(({ intent }) => intent === 'Reboot')
  return wanted === 'block-for-eviction' && isReboot ? 'block-for-eviction-if-contains-last-replica' : wanted
}

function explainUnknown(
  { value }: SettingMark,
  wanted: Observed<DrainPolicy>,
  own: Observed<DrainPolicy>,
): Pick<GuidanceDecision, 'problems'> {
  const problems: { object: string; problem: string }[] = []
  if (!wanted.known) {
    const problem = `annotation ${wantedPolicyAnnotation}: ${wanted.why}; until it is corrected ${value} stays in force, and no node eviction is requested`
    problems.push({ object, problem })
  }
  if (!own.known) {
    problems.push({
      object,
      problem: `its value could not be put back: ${own.why}; so no other policy is put in force`,
    })
  }
  return { problems }
}

function textOf(policy: Observed<DrainPolicy>): string | undefined {
  return policy.known ? policy.value : undefined
}

function namesOf(nodes: readonly LonghornNodeView[]): string {
  const names = nodes.map(({ name }) => name).sort()
  const more = names.length > 3 ? ` and ${names.length - 3} more` : ''
  return `${names.length === 1 ? 'node' : 'nodes'} ${names.slice(0, 3).join(', ')}${more}`
}
