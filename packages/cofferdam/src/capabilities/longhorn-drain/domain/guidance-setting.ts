import type { Observed } from '../../../shared/observed.ts'
import { putAnnotation, rebootPolicyAnnotation, restoresAnnotation, wantedPolicyAnnotation } from './drain-settings.ts'
import type { GuidanceDecision, GuidanceStep } from './guidance-decision.ts'
import type { SettingMark } from './guidance-marks.ts'
import { drainPolicySetting, parseDrainPolicy, strictestOf } from './policy.ts'
import type { DrainPolicy, LonghornDrainSettings, LonghornNodeView, LonghornSnapshot } from './snapshot.ts'

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
  if (restores === undefined && !leaving.some((node) => begins(settings, node))) return nothing
  const own = parseDrainPolicy(before)
  const asked = askedFor(leaving, { wanted: mark.hasWish ? settings.policy : own, reboot: settings.rebootPolicy })
  const known = asked.flatMap(({ policy }) => (policy.known ? [policy.value] : []))
  const [first, ...more] = known
  if (known.length < asked.length || first === undefined || !own.known) {
    return { ...nothing, problems: explainUnknown(mark, asked, own), inForce: undefined }
  }
  const aim = strictestOf(first, ...more)
  if (aim === own.value) {
    const steps = restores === undefined ? [] : [restore(before, 'No other policy is configured any more')]
    return { ...nothing, steps, inForce: aim }
  }
  return aim === asItIs ? nothing : { ...nothing, steps: [put(snapshot, leaving, { aim, before })], inForce: aim }
}

/**
 * Whether another policy is put in force for it. Where only drains count, a node that Longhorn empties by its own setting, for a cordon alone,
 * is none: a milder policy would stop that, count as no longer needed, and be put in force again without an end.
 */
function begins({ trigger }: Pick<LonghornDrainSettings, 'trigger'>, { isDraining }: LonghornNodeView): boolean {
  return trigger === 'cordon' || isDraining
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

interface AskedPolicy {
  readonly annotation: string
  readonly policy: Observed<DrainPolicy>
}

/** What nodes want that leave at the same time. The setting holds for all of them, so the strictest counts. */
function askedFor(
  leaving: readonly LonghornNodeView[],
  { wanted, reboot }: { readonly wanted: Observed<DrainPolicy>; readonly reboot: Observed<DrainPolicy> | undefined },
): readonly AskedPolicy[] {
  const rebooting = reboot === undefined ? [] : leaving.filter(({ intent }) => intent === 'Reboot')
  return [
    ...(rebooting.length < leaving.length ? [{ annotation: wantedPolicyAnnotation, policy: wanted }] : []),
    ...(reboot === undefined || rebooting.length === 0 ? [] : [{ annotation: rebootPolicyAnnotation, policy: reboot }]),
  ]
}

function explainUnknown(
  { value, hasWish }: SettingMark,
  asked: readonly AskedPolicy[],
  own: Observed<DrainPolicy>,
): GuidanceDecision['problems'] {
  const problems = asked
    .filter(({ annotation }) => hasWish || annotation !== wantedPolicyAnnotation)
    .flatMap(({ annotation, policy }) => {
      if (policy.known) return []
      const problem = `annotation ${annotation}: ${policy.why}; until it is corrected ${value} stays in force, and no node eviction is requested`
      return [{ object, problem }]
    })
  if (own.known) return problems
  return [
    ...problems,
    { object, problem: `its value could not be put back: ${own.why}; so no other policy is put in force` },
  ]
}

function textOf(policy: Observed<DrainPolicy>): string | undefined {
  return policy.known ? policy.value : undefined
}

function namesOf(nodes: readonly LonghornNodeView[]): string {
  const names = nodes.map(({ name }) => name).sort()
  const more = names.length > 3 ? ` and ${names.length - 3} more` : ''
  return `${names.length === 1 ? 'node' : 'nodes'} ${names.slice(0, 3).join(', ')}${more}`
}
