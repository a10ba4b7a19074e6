import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { blocked, type HandOverCheck, ok, operatorCheck, rightsCheck, warning } from '../../../shared/hand-over.ts'
import { isInVersionRange, type VersionRange, versionRangeText } from '../../../shared/version-range.ts'
import { triggerAnnotation, wantedPolicyAnnotation } from './drain-settings.ts'
import { drainsCheck, markProblems, preflightCheck } from './hand-over-drains.ts'
import { type HandOverStates, type LonghornHandOverSnapshot, settingOf } from './hand-over-snapshot.ts'
import { longhornManagerSelector, parseLonghornManager } from './longhorn-manager.ts'
import { severalPlacesText, severalPlacesWayOut } from './longhorn-place.ts'
import { namesText } from './names-text.ts'
import { drainPolicySetting } from './policy.ts'

/** Without states there is no Longhorn here that could be judged. */
export function handOverChecks(seen: LonghornHandOverSnapshot, states: HandOverStates | undefined): HandOverCheck[] {
  const { direction, isOperatorRunning, missingRights } = seen
  const operator = [
    operatorCheck(isOperatorRunning),
    rightsCheck(missingRights, { direction, wayOut: rightsWayOut(seen.namespace) }),
  ]
  if (states === undefined) return [longhornCheck(seen), ...operator]
  const around = [longhornCheck(seen), ...operator, managerCheck(seen, states)]
  const drains = drainsCheck(seen, states)
  if (direction === 'release') return [...around, marksCheck(states), drains]
  return [
    ...around,
    versionCheck(seen, states),
    policyCheck(states),
    ...(seen.wants.mode === 'hold' ? [guardCheck(seen)] : []),
    marksCheck(states),
    settingsCheck(seen, states),
    volumesCheck(states),
    pinnedCheck(states),
    drains,
    preflightCheck(states),
  ]
}

/** The part names one namespace; for another its rights are put there by an overlay. */
function rightsWayOut(namespace: string): string {
  return namespace === longhornNamespace
    ? 'apply deploy/longhorn'
    : `apply deploy/longhorn/rights with an overlay that says namespace: ${namespace}; docs/guide/install.md shows it`
}

function longhornCheck(seen: LonghornHandOverSnapshot): HandOverCheck {
  const { longhorn, namespace, places, direction } = seen
  const what = 'longhorn'
  if (places.length > 1) {
    return blocked(what, `${severalPlacesText(places)}, so the operator changes nothing`, {
      wayOut: severalPlacesWayOut,
    })
  }
  if (longhorn?.known === false) {
    const wayOut = "use an account that may list Longhorn's kinds"
    return blocked(what, `it cannot be read: ${longhorn.why}`, { wayOut })
  }
  const setting = longhorn && settingOf(longhorn.value)
  if (setting !== undefined) return ok(what, `${drainPolicySetting}: ${setting.value ?? ''}`)
  const [place] = places
  const wayOut =
    place !== undefined && place !== namespace
      ? `cofferdam ${direction} longhorn/${place}`
      : 'kubectl get settings.longhorn.io -A shows where it is'
  return blocked(what, `namespace ${namespace} has no Longhorn setting ${drainPolicySetting}`, { wayOut })
}

/** Without it nothing acts on what Cofferdam asks for, and nothing decides drains once they are released. */
function managerCheck({ direction, namespace }: LonghornHandOverSnapshot, { now }: HandOverStates): HandOverCheck {
  const what = 'manager'
  const manager = parseLonghornManager(now.objects)
  if (!manager.known) return warning(what, `whether one runs is not known: ${manager.why}`)
  const wayOut = `kubectl -n ${namespace} get pods -l ${longhornManagerSelector}`
  if (manager.value === undefined) {
    const says = 'no Longhorn manager is there, so nothing in the cluster decides and moves by its rules'
    return direction === 'adopt' ? blocked(what, says, { wayOut }) : warning(what, says, { wayOut })
  }
  const running = (now.objects.managerPods ?? []).filter(({ status }) => status?.phase === 'Running').length
  return running === 0
    ? warning(what, `${manager.value}, and none of its pods runs`, { wayOut })
    : ok(what, manager.value)
}

/** Between these the code of Longhorn was read; what it decides was compared with what Cofferdam decides. */
export const judgedLonghorns: VersionRange = { from: [1, 6], to: [1, 12] }

function versionCheck({ managerImages }: LonghornHandOverSnapshot, { now }: HandOverStates): HandOverCheck {
  const what = 'version'
  const said = now.objects.settings.find(({ metadata }) => metadata.name === 'current-longhorn-version')?.value
  const versions = said === undefined || said === '' ? managerImages.map(tagOf) : [said]
  const range = versionRangeText(judgedLonghorns)
  if (versions.length === 0) return warning(what, `unknown; Cofferdam knows the drains of Longhorn ${range}`)
  const all = `Longhorn ${versions.join(', ')}`
  if (versions.length > 1) return warning(what, `${all}: an upgrade is under way, and goes on`)
  const isJudged = versions.every((version) => isInVersionRange(version, judgedLonghorns))
  return isJudged ? ok(what, all) : warning(what, `${all}: Cofferdam knows the drains of Longhorn ${range}`)
}

function tagOf(image: string): string {
  const [name = ''] = image.split('@')
  return /:([^:/]+)$/.exec(name)?.[1] ?? image
}

/** What is in force while a node leaves, by the annotations as they are after the patch. */
function policyCheck({ asked }: HandOverStates): HandOverCheck {
  const what = 'policy'
  const { policy, atRest, trigger, problems } = asked.snapshot.settings
  const problem = problems.find((each) => each.startsWith('annotation '))
  if (problem !== undefined) return warning(what, problem)
  if (!policy.known) {
    const wayOut = `correct ${drainPolicySetting}, or its annotation ${wantedPolicyAnnotation} with --policy`
    return warning(what, `unknown: ${policy.why}; no node with replicas would be let go`, { wayOut })
  }
  const when = trigger === 'drain' ? 'while a node is drained' : 'while a node is cordoned'
  const otherwise = atRest.known && atRest.value !== policy.value ? `; ${atRest.value} otherwise` : ''
  const how = trigger === 'drain' ? ` (${triggerAnnotation}: drain)` : ''
  if (trigger === 'drain' && atRest.known && atRest.value.startsWith('block-for-eviction')) {
    const says = `${drainPolicySetting} is ${atRest.value}, by which Longhorn moves replicas at every cordon, whatever the trigger is`
    const wayOut = `set ${drainPolicySetting} to block-if-contains-last-replica, and give the other policy with --policy`
    return warning(what, says, { wayOut })
  }
  return ok(what, `${policy.value} ${when}${otherwise}${how}`)
}

/** On a cordoned node an instance manager may be under two budgets for a moment, and Kubernetes answers with an error, not with a refusal. */
function guardCheck({ isGuarded }: LonghornHandOverSnapshot): HandOverCheck {
  if (isGuarded === true) return ok('guard', 'evictions are asked of the eviction guard')
  const says =
    isGuarded === false
      ? 'the eviction guard is not registered'
      : 'whether the eviction guard is registered may not be read'
  const wayOut = 'apply deploy/guard.yaml, and run the operator with the eviction guard'
  return warning('guard', `${says}; without it kubectl drain may give up on a pod under two budgets`, { wayOut })
}

/** Marks that make no sense: what they stand for is never put back by itself. */
function marksCheck({ asked }: HandOverStates): HandOverCheck {
  const [first, ...more] = markProblems(asked)
  if (first === undefined) return ok('marks', 'what Cofferdam has changed can be put back')
  return warning('marks', `${first.object}: ${first.problem}${more.length === 0 ? '' : `; and ${more.length} more`}`)
}

function settingsCheck({ namespace }: LonghornHandOverSnapshot, { asked }: HandOverStates): HandOverCheck {
  const values = new Map(asked.objects.settings.map(({ metadata, value }) => [metadata.name, value ?? '']))
  const inTheWay = [
    ...(isZero(values.get('concurrent-replica-rebuild-per-node-limit'))
      ? ['concurrent-replica-rebuild-per-node-limit is 0: no replica is ever copied, so none can leave a node']
      : []),
    ...(values.get('disable-scheduling-on-cordoned-node') === 'false'
      ? ['disable-scheduling-on-cordoned-node is false: a replica may be copied back to the node it leaves']
      : []),
  ]
  if (inTheWay.length === 0) return ok('settings', 'none is in the way of a move')
  return warning('settings', inTheWay.join('; '), { wayOut: `kubectl -n ${namespace} edit settings.longhorn.io` })
}

/** Releases with several data engines keep a number for each: `{"v1":"5","v2":"5"}`. */
function isZero(value: string | undefined): boolean {
  return value !== undefined && /^\s*"?0"?\s*$|:\s*"?0"?\s*[,}]/.test(value)
}

function volumesCheck({ now }: HandOverStates): HandOverCheck {
  const { volumes } = now.snapshot
  const bad = (['faulted', 'degraded'] as const).flatMap((robustness) => {
    const names = volumes.filter((volume) => volume.robustness === robustness).map(({ name }) => name)
    return names.length === 0 ? [] : [`${robustness}: ${namesText(names)}`]
  })
  if (bad.length === 0) return ok('volumes', `${volumes.length}, none of them degraded or faulted`)
  return warning('volumes', `${bad.join('; ')}; nodes with their last copies stay held`)
}

function pinnedCheck({ now }: HandOverStates): HandOverCheck {
  const names = now.snapshot.volumes.filter(({ isStrictLocal }) => isStrictLocal).map(({ name }) => name)
  if (names.length === 0) return ok('pinned', 'no volume is strict-local')
  return warning('pinned', `strict-local, so their replicas never move: ${namesText(names)}`)
}
