import type { ConfigMap, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { hasRooksBudgets, ownershipAnnotations, type UpdatesChoice } from '../../../safety/ceph-ownership.ts'
import { type CephTrust, isNamed, nameOf, notNamedText } from '../../../shared/ceph-trust/named-clusters.ts'
import {
  annotationChanges,
  blocked,
  type HandOverCheck,
  type HandOverDirection,
  type HandOverPlan,
  ok,
  operatorCheck,
  rightsCheck,
  warning,
} from '../../../shared/hand-over.ts'
import type { Observed } from '../../../shared/observed.ts'
import { recordNotes } from '../../../shared/record-notes.ts'
import { isInVersionRange, type VersionRange, versionRangeText } from '../../../shared/version-range.ts'
import { isManagedByUs } from './budget-mark.ts'
import { parseOsdBudget } from './osd-budgets.ts'
import { judgeProtection } from './protection.ts'
import { ownPartOf, parseDrainState } from './state-map.ts'

/** Everything that a hand-over of budgets, from Rook to Cofferdam or back, is decided on. */
export interface CephHandOverSnapshot {
  readonly direction: HandOverDirection
  readonly cluster: CephCluster
  /** As the operator published it; undefined where it has not. */
  readonly trust: CephTrust | undefined
  /** Undefined where that may not be read. */
  readonly isOperatorRunning: boolean | undefined
  readonly rookRuns: boolean
  /** The state ConfigMap. */
  readonly stateMap: ConfigMap | undefined
  /** What the operator wrote down while the budgets were not its own. */
  readonly observed: ConfigMap | undefined
  /** All of the namespace. */
  readonly budgets: readonly PodDisruptionBudget[]
  readonly osdPods: readonly Pod[]
  /** As the Deployments of the OSDs say it, each once: `v1.18.8`, `19.2.3-0`. */
  readonly versions: { readonly rook: readonly string[]; readonly ceph: readonly string[] }
  /** Rights that the operator needs and does not have. */
  readonly missingRights: Observed<readonly string[]>
  /** Deployments of OSDs that still carry the label of the pace. */
  readonly pacedOsds: readonly string[]
  readonly wants: CephHandOverWish
}

export interface CephHandOverWish {
  readonly updates?: UpdatesChoice
  /** Release although no operator takes the budgets. */
  readonly isWithoutSuccessor: boolean
  /** Go on although Ceph does not answer. */
  readonly isForced: boolean
}

/**
 * Decides whether budgets may be handed over now, what is written, and what is missing until it is done.
 *
 * One patch switches both sides, so at no moment both manage or neither does: Rook, switched off, cleans nothing up, and its budgets are taken over
 * as they stand; switched on, it finds them without Cofferdam's mark.
 */
export function planCephHandOver(snapshot: CephHandOverSnapshot): HandOverPlan {
  const { patch, changes } = changesOf(snapshot)
  return {
    checks: checksOf(snapshot),
    ...(patch === undefined ? {} : { patch }),
    changes,
    pending: snapshot.direction === 'adopt' ? missingOfAdopt(snapshot) : missingOfRelease(snapshot),
  }
}

function notesOf({ observed, stateMap }: CephHandOverSnapshot): Readonly<Record<string, string>> {
  return (observed ?? stateMap)?.metadata.annotations ?? {}
}

function checksOf(snapshot: CephHandOverSnapshot): HandOverCheck[] {
  const { direction, cluster, trust, isOperatorRunning, rookRuns, stateMap, wants } = snapshot
  const notes = notesOf(snapshot)
  const named = trust !== undefined && isNamed(trust, nameOf(cluster))
  const silentSince = notes[recordNotes.silentSince]
  const { openDomains } = parseDrainState(stateMap?.data)
  const checks: HandOverCheck[] = [
    named
      ? ok('cluster', 'named in --ceph-clusters of the operator')
      : blocked('cluster', trust === undefined ? 'the operator has published no settings' : notNamedText, {
          wayOut: 'start the operator with --ceph-clusters that names it, and apply deploy/ceph to its namespace',
        }),
    operatorCheck(isOperatorRunning),
    notes[recordNotes.reason] === undefined
      ? blocked('record', 'the operator has recorded nothing about this cluster', {
          wayOut: 'run it with ceph-drain among --controllers and with the rights of deploy/ceph; see its log',
        })
      : ok('record', `${notes[recordNotes.reason]}, budgets: ${notes[recordNotes.budgets] ?? 'not said'}`),
  ]
  checks.push(
    rightsCheck(snapshot.missingRights, {
      direction,
      wayOut: 'apply deploy/ceph to this namespace, and deploy/ceph-pace where updates are paced',
    }),
  )
  if (silentSince !== undefined) {
    const says = `Ceph does not answer the operator since ${silentSince}`
    const isBlocked = direction === 'adopt' && !wants.isForced
    const wayOut = 'repair the way to Ceph first, or go on with --force: OSDs are then blocked until Ceph answers'
    checks.push(isBlocked ? blocked('ceph', says, { wayOut }) : warning('ceph', says))
  } else checks.push(ok('ceph', 'answers the operator'))
  checks.push(
    openDomains.length === 0
      ? ok('drains', 'none in progress')
      : warning('drains', `in progress for ${openDomains.join(', ')}: it goes on`),
  )
  return [...checks, dataCheck(snapshot), rookCheck({ direction, rookRuns, wants }), versionsCheck(snapshot)]
}

/** As Ceph's health says it, which Rook writes down. */
function dataCheck({ cluster }: CephHandOverSnapshot): HandOverCheck {
  const { health, details = {} } = cluster.status?.ceph ?? {}
  if (health === undefined) return warning('data', 'the status of the cluster has no health of Ceph')
  if (health === 'HEALTH_OK') return ok('data', 'HEALTH_OK')
  const names = Object.keys(details).sort()
  const says = `${health}${names.length === 0 ? '' : `: ${names.join(', ')}`}; failure domains whose data is not clean stay held`
  return warning('data', says)
}

/** Between these the code of Rook was read, and called in the lab. */
export const readRooks: VersionRange = { from: [1, 12], to: [1, 20] }

function versionsCheck({ versions }: CephHandOverSnapshot): HandOverCheck {
  const warn = (says: string) => warning('versions', says)
  const { rook, ceph } = versions
  const all = `Rook ${rook.join(', ') || 'unknown'}, Ceph ${ceph.join(', ') || 'unknown'}`
  if (rook.length === 0) return warn(`${all}: no Deployment of an OSD says which Rook wrote it`)
  if (rook.length > 1 || ceph.length > 1) return warn(`${all}: an update is under way, and goes on`)
  const isRead = rook.every((version) => isInVersionRange(version, readRooks))
  return isRead
    ? ok('versions', all)
    : warn(`${all}: Cofferdam knows the budgets of Rook ${versionRangeText(readRooks)}`)
}

function rookCheck({ direction, rookRuns, wants }: Pick<CephHandOverSnapshot, 'direction' | 'rookRuns' | 'wants'>) {
  if (rookRuns) return ok('rook', "Rook's operator runs")
  const says = "Rook's operator does not run"
  if (direction === 'adopt') return warning('rook', says)
  if (wants.isWithoutSuccessor) {
    return warning('rook', `${says}: OSDs have no budget after this`)
  }
  const wayOut = 'start Rook first, or remove all budgets of Cofferdam with --without-successor'
  return blocked('rook', `${says}, so no operator would manage the budgets`, { wayOut })
}

function changesOf({ direction, cluster, wants }: CephHandOverSnapshot): Pick<HandOverPlan, 'patch' | 'changes'> {
  const present = cluster.metadata.annotations ?? {}
  const { budgets, updates, formerBudgets } = ownershipAnnotations
  const isAdopted = direction === 'adopt'
  const wanted: Record<string, string | null> = {
    [budgets]: isAdopted ? 'manage' : 'observe',
    [formerBudgets]: null,
    // Whoever gives the budgets back gives the pace of updates back too.
    ...(isAdopted ? (wants.updates === undefined ? {} : { [updates]: wants.updates }) : { [updates]: null }),
  }
  const { annotations, changes: noted } = annotationChanges(present, wanted)
  const managePodBudgets = !isAdopted && !wants.isWithoutSuccessor
  const isSwitched = hasRooksBudgets(cluster) !== managePodBudgets
  const changes = [...(isSwitched ? [`spec.disruptionManagement.managePodBudgets: ${managePodBudgets}`] : []), ...noted]
  if (changes.length === 0) return { changes }
  const patch = {
    ...(Object.keys(annotations).length === 0 ? {} : { metadata: { annotations } }),
    ...(isSwitched ? { spec: { disruptionManagement: { managePodBudgets } } } : {}),
  }
  return { patch, changes }
}

function missingOfAdopt(snapshot: CephHandOverSnapshot): string[] {
  const { cluster, budgets, observed } = snapshot
  const { namespace = '', uid = '' } = cluster.metadata
  const unmarked = budgets.filter(
    (budget) => parseOsdBudget(budget, { namespace, uid })?.isOurs === true && !isManagedByUs(budget),
  )
  return [
    ...(notesOf(snapshot)[recordNotes.budgets] === 'manage' && observed === undefined
      ? []
      : ['the operator has not recorded that it manages the budgets']),
    ...unmarked.map(({ metadata }) => `poddisruptionbudget/${metadata.name} is not taken over`),
    ...unprotected(snapshot),
  ]
}

function missingOfRelease(snapshot: CephHandOverSnapshot): string[] {
  const { budgets, stateMap, wants, pacedOsds } = snapshot
  return [
    ...(notesOf(snapshot)[recordNotes.budgets] === 'observe'
      ? []
      : ['the operator has not recorded that it only observes']),
    ...budgets.filter(isManagedByUs).map(({ metadata }) => `poddisruptionbudget/${metadata.name} is still Cofferdam's`),
    ...(ownPartOf(stateMap).isThere ? ["configmap/rook-ceph-pdbstatemap still has Cofferdam's keys"] : []),
    ...pacedOsds.map((name) => `deployment/${name} still has the label of the pace, and Rook leaves it as it is`),
    ...(wants.isWithoutSuccessor ? [] : unprotected(snapshot)),
  ]
}

function unprotected({ osdPods, budgets, stateMap }: CephHandOverSnapshot): string[] {
  const { openDomains } = parseDrainState(stateMap?.data)
  const { uncovered } = judgeProtection(new Set(), { osdPods, budgets, openDomains })
  return uncovered.map((osd) => `${osd} has no budget`)
}
