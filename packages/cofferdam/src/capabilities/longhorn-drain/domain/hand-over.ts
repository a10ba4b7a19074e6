import type { LonghornNode, LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { annotationChanges, type HandOverPlan } from '../../../shared/hand-over.ts'
import type { Observed } from '../../../shared/observed.ts'
import { asDecided } from './as-decided.ts'
import { hasOwnLabel, holdNameOf, isHoldBudget } from './budget-object.ts'
import { decideLonghornDrain } from './decide.ts'
import { manageAnnotation, triggerAnnotation, wantedPolicyAnnotation } from './drain-settings.ts'
import { decideGuidance } from './guidance.ts'
import type { GuidanceStep } from './guidance-decision.ts'
import { parseGuidanceMarks } from './guidance-marks.ts'
import { handOverChecks } from './hand-over-checks.ts'
import {
  type DecidedLonghorn,
  type HandOverStates,
  type LonghornHandOverSnapshot,
  settingOf,
} from './hand-over-snapshot.ts'
import { type LonghornObjects, parseLonghorn } from './parse-longhorn.ts'
import { drainPolicySetting } from './policy.ts'

/**
 * Decides whether Longhorn's drains may be handed over now, what is written, and what is missing until it is done.
 *
 * The annotations of the setting `node-drain-policy` say who is in charge, so one patch of them is all that is written; everything else the
 * operator does. What is missing is what the shared decision still has to change by the new annotations.
 */
export function planLonghornHandOver(seen: LonghornHandOverSnapshot): HandOverPlan {
  const objects = seen.longhorn?.known === true ? seen.longhorn.value : undefined
  const setting = objects && settingOf(objects)
  if (objects === undefined || setting === undefined) {
    return { checks: handOverChecks(seen, undefined), changes: [], pending: [] }
  }
  const { annotations, changes } = annotationChanges(setting.metadata.annotations ?? {}, wantedNotes(seen))
  const states = statesOf(objects, annotations)
  const { resourceVersion } = setting.metadata
  const patch = { metadata: { annotations, ...(resourceVersion === undefined ? {} : { resourceVersion }) } }
  return {
    checks: handOverChecks(seen, states),
    ...(changes.length === 0 ? {} : { patch }),
    changes,
    pending: seen.direction === 'adopt' ? missingOfAdopt(states.asked) : missingOfRelease(objects),
  }
}

/** The policy and the trigger stay where drains are released: they have no effect, and count again with the next adoption. */
function wantedNotes({ direction, wants }: LonghornHandOverSnapshot): Readonly<Record<string, string | null>> {
  if (direction === 'release') return { [manageAnnotation]: null }
  const { mode, policy, trigger } = wants
  return {
    [manageAnnotation]: mode ?? null,
    ...(policy === undefined ? {} : { [wantedPolicyAnnotation]: policy }),
    ...(trigger === undefined ? {} : { [triggerAnnotation]: trigger }),
  }
}

function statesOf(objects: LonghornObjects, annotations: Readonly<Record<string, string | null>>): HandOverStates {
  const setting = { kind: 'setting', name: drainPolicySetting, annotations } as const
  const asked = decided(withStep(objects, setting))
  const guided = asked.guidance.steps.reduce(withStep, asked.objects)
  const isHold = asked.snapshot.settings.mode === 'hold'
  const budgets = isHold ? guided.budgets : guided.budgets.filter((budget) => !isHoldBudget(budget))
  return { now: decided(objects), asked, settled: decided({ ...guided, budgets }) }
}

function decided(objects: LonghornObjects): DecidedLonghorn {
  const snapshot = asDecided(parseLonghorn(objects))
  const decision = decideLonghornDrain(snapshot)
  return { objects, snapshot, decision, guidance: decideGuidance(snapshot, decision, parseGuidanceMarks(objects)) }
}

type ObjectStep = Omit<GuidanceStep, 'explanation' | 'reason'>

/** The objects as they are once the step is written. */
function withStep(objects: LonghornObjects, step: ObjectStep): LonghornObjects {
  if (step.kind === 'setting') {
    const { value } = step
    return {
      ...objects,
      settings: changed<LonghornSetting>(objects.settings, step, value === undefined ? {} : { value }),
    }
  }
  const nodes = objects.nodes.map((node) =>
    node.metadata.name === step.name ? { ...node, spec: changedSpec(node.spec ?? {}, step.spec ?? {}) } : node,
  )
  return { ...objects, nodes: changed(nodes, step, {}) }
}

function changedSpec(
  spec: NonNullable<LonghornNode['spec']>,
  { disks = {}, ...fields }: NonNullable<ObjectStep['spec']>,
): NonNullable<LonghornNode['spec']> {
  const asked = Object.entries(disks).map(([name, disk]) => [name, { ...spec.disks?.[name], ...disk }])
  return { ...spec, ...fields, disks: { ...spec.disks, ...Object.fromEntries(asked) } }
}

function changed<T extends KubeObject>(
  items: readonly T[],
  { name, annotations }: ObjectStep,
  fields: Partial<T>,
): T[] {
  return items.map((item) => {
    if (item.metadata.name !== name) return item
    const notes = Object.entries({ ...item.metadata.annotations, ...annotations })
    const kept = notes.flatMap(([key, text]): [string, string][] => (text === null ? [] : [[key, text]]))
    return { ...item, ...fields, metadata: { ...item.metadata, annotations: Object.fromEntries(kept) } }
  })
}

/** What the operator has to change before drains are decided as asked for: its own budgets first, as it makes them first. */
function missingOfAdopt({ objects, snapshot, decision, guidance }: DecidedLonghorn): string[] {
  const isHold = snapshot.settings.mode === 'hold'
  const steps = guidance.steps.map(
    ({ kind, name, explanation }) => `${kind}/${name} is not changed yet: ${explanation}`,
  )
  if (!isHold) return [...ownBudgetsOf(objects), ...steps]
  const byName = new Map(objects.budgets.map((budget) => [budget.metadata.name, budget]))
  const missing = decision.budgets
    .filter(({ instanceManager, hold }) => hold === 'needed' && !snapshot.holds.has(instanceManager))
    .map(({ instanceManager, node }) => {
      const name = holdNameOf(instanceManager)
      const seen = byName.get(name)
      const isTaken = seen !== undefined && !hasOwnLabel(seen)
      const how = isTaken ? 'is not one of Cofferdam: delete it' : 'is not there yet'
      return `poddisruptionbudget/${name} for node ${node} ${how}`
    })
  return [...missing, ...steps]
}

function missingOfRelease(objects: LonghornObjects): string[] {
  const { setting, nodes } = parseGuidanceMarks(objects)
  return [
    ...ownBudgetsOf(objects),
    ...(setting?.restores === undefined
      ? []
      : [`setting/${drainPolicySetting} is not restored: ${restoresText(setting.value, setting.restores)}`]),
    ...[...nodes].flatMap(([name, { asked }]) =>
      asked === undefined ? [] : [`node/${name} is not restored: Cofferdam has asked Longhorn to empty it`],
    ),
  ]
}

function ownBudgetsOf({ budgets }: LonghornObjects): string[] {
  return budgets.filter(isHoldBudget).map(({ metadata }) => `poddisruptionbudget/${metadata.name} is still there`)
}

function restoresText(value: string, restores: Observed<string>): string {
  return restores.known ? `it is ${value} instead of ${restores.value}` : restores.why
}
