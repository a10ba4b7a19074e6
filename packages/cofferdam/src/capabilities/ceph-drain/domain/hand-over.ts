import type { ConfigMap, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { hasRooksBudgets, ownershipAnnotations, type UpdatesChoice } from '../../../safety/ceph-ownership.ts'
import { type CephTrust, isNamed, nameOf, notNamedText } from '../../../shared/ceph-trust/named-clusters.ts'
import type { Observed } from '../../../shared/observed.ts'
import { recordNotes } from '../../../shared/record-notes.ts'
import { isManagedByUs } from './budget-mark.ts'
import { parseOsdBudget } from './osd-budgets.ts'
import { judgeProtection } from './protection.ts'
import { ownPartOf, parseDrainState } from './state-map.ts'

/** `adopt`: from Rook to Cofferdam. `release`: back. */
export type HandOverDirection = 'adopt' | 'release'

/** Everything that a hand-over of budgets is decided on. */
export interface HandOverSnapshot {
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
  readonly wants: HandOverWish
}

export interface HandOverWish {
  readonly updates?: UpdatesChoice
  /** Release although no operator takes the budgets. */
  readonly isWithoutSuccessor: boolean
  /** Go on although Ceph does not answer. */
  readonly isForced: boolean
}

export interface HandOverCheck {
  readonly what: string
  readonly state: 'ok' | 'warning' | 'blocked'
  readonly says: string
  readonly wayOut?: string
}

export interface HandOverPlan {
  readonly checks: readonly HandOverCheck[]
  /** The one change of the CephCluster, as a merge patch; absent where it says so already. */
  readonly patch?: JsonObject
  /** The same in words. */
  readonly changes: readonly string[]
  /** What is missing until the hand-over is done. */
  readonly pending: readonly string[]
}

/**
 * Decides whether budgets may be handed over now, what is written, and what is missing until it is done.
 *
 * One patch switches both sides, so at no moment both manage or neither does: Rook, switched off, cleans nothing up, and its budgets are taken over
 * as they stand; switched on, it finds them without Cofferdam's mark.
 *
 * Guarantees: decided from what is there alone, so an interrupted hand-over goes on where it stopped.
 */
export function planHandOver(snapshot: HandOverSnapshot): HandOverPlan {
  const { patch, changes } = changesOf(snapshot)
  return {
    checks: checksOf(snapshot),
    ...(patch === undefined ? {} : { patch }),
    changes,
    pending: snapshot.direction === 'adopt' ? missingOfAdopt(snapshot) : missingOfRelease(snapshot),
  }
}

function notesOf({ observed, stateMap }: HandOverSnapshot): Readonly<Record<string, string>> {
  return (observed ?? stateMap)?.metadata.annotations ?? {}
}

function checksOf(snapshot: HandOverSnapshot): HandOverCheck[] {
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
    isOperatorRunning === false
      ? blocked('operator', 'no operator runs', { wayOut: 'cofferdam status; kubectl -n cofferdam-system get pods' })
      : ok('operator', isOperatorRunning === undefined ? 'its lease may not be read' : 'runs'),
    notes[recordNotes.reason] === undefined
      ? blocked('record', 'the operator has recorded nothing about this cluster', {
          wayOut: 'run it with ceph-drain among --controllers and with the rights of deploy/ceph; see its log',
        })
      : ok('record', `${notes[recordNotes.reason]}, budgets: ${notes[recordNotes.budgets] ?? 'not said'}`),
  ]
  checks.push(rightsCheck(snapshot))
  if (silentSince !== undefined) {
    const says = `Ceph does not answer the operator since ${silentSince}`
    const isBlocked = direction === 'adopt' && !wants.isForced
    const wayOut = 'repair the way to Ceph first, or go on with --force: OSDs are then blocked until Ceph answers'
    checks.push(isBlocked ? blocked('ceph', says, { wayOut }) : { what: 'ceph', state: 'warning', says })
  } else checks.push(ok('ceph', 'answers the operator'))
  checks.push(
    openDomains.length === 0
      ? ok('drains', 'none in progress')
      : { what: 'drains', state: 'warning', says: `in progress for ${openDomains.join(', ')}: it goes on` },
  )
  return [...checks, dataCheck(snapshot), rookCheck({ direction, rookRuns, wants }), versionsCheck(snapshot)]
}

/** As Ceph's health says it, which Rook writes down. */
function dataCheck({ cluster }: HandOverSnapshot): HandOverCheck {
  const { health, details = {} } = cluster.status?.ceph ?? {}
  if (health === undefined)
    return { what: 'data', state: 'warning', says: 'the status of the cluster has no health of Ceph' }
  if (health === 'HEALTH_OK') return ok('data', 'HEALTH_OK')
  const names = Object.keys(details).sort()
  const says = `${health}${names.length === 0 ? '' : `: ${names.join(', ')}`}; failure domains whose data is not clean stay held`
  return { what: 'data', state: 'warning', says }
}

function rightsCheck({ missingRights, direction }: HandOverSnapshot): HandOverCheck {
  if (!missingRights.known) {
    const says = `whether the operator has them is not known: ${missingRights.why}`
    return { what: 'rights', state: 'warning', says }
  }
  if (missingRights.value.length === 0) return ok('rights', 'the operator has all it needs here')
  const says = `the operator may not ${missingRights.value.join(', ')}`
  const wayOut = 'apply deploy/ceph to this namespace, and deploy/ceph-pace where updates are paced'
  // Without them nothing can be given back either, but to stop it would leave the cluster in between.
  return direction === 'adopt'
    ? blocked('rights', says, { wayOut })
    : { what: 'rights', state: 'warning', says, wayOut }
}

/** Between these the code of Rook was read, and called in the lab. */
const readRooks = { from: [1, 12], to: [1, 20] } as const

function versionsCheck({ versions }: HandOverSnapshot): HandOverCheck {
  const warning = (says: string): HandOverCheck => ({ what: 'versions', state: 'warning', says })
  const { rook, ceph } = versions
  const all = `Rook ${rook.join(', ') || 'unknown'}, Ceph ${ceph.join(', ') || 'unknown'}`
  if (rook.length === 0) return warning(`${all}: no Deployment of an OSD says which Rook wrote it`)
  if (rook.length > 1 || ceph.length > 1) return warning(`${all}: an update is under way, and goes on`)
  const [major, minor] = rook.flatMap((version) => /^v?(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number) ?? [])
  const isRead =
    major === readRooks.from[0] && minor !== undefined && minor >= readRooks.from[1] && minor <= readRooks.to[1]
  const range = `${readRooks.from.join('.')} to ${readRooks.to.join('.')}`
  return isRead ? ok('versions', all) : warning(`${all}: Cofferdam knows the budgets of Rook ${range}`)
}

function rookCheck({ direction, rookRuns, wants }: Pick<HandOverSnapshot, 'direction' | 'rookRuns' | 'wants'>) {
  if (rookRuns) return ok('rook', "Rook's operator runs")
  const says = "Rook's operator does not run"
  if (direction === 'adopt') return { what: 'rook', state: 'warning', says } as const
  if (wants.isWithoutSuccessor) {
    return { what: 'rook', state: 'warning', says: `${says}: OSDs have no budget after this` } as const
  }
  const wayOut = 'start Rook first, or remove all budgets of Cofferdam with --without-successor'
  return blocked('rook', `${says}, so no operator would manage the budgets`, { wayOut })
}

function ok(what: string, says: string): HandOverCheck {
  return { what, state: 'ok', says }
}

function blocked(what: string, says: string, { wayOut }: { readonly wayOut: string }): HandOverCheck {
  return { what, state: 'blocked', says, wayOut }
}

function changesOf({ direction, cluster, wants }: HandOverSnapshot): Pick<HandOverPlan, 'patch' | 'changes'> {
  const present = cluster.metadata.annotations ?? {}
  const { budgets, updates, formerBudgets } = ownershipAnnotations
  const isAdopted = direction === 'adopt'
  const wanted: Record<string, string | null> = {
    [budgets]: isAdopted ? 'manage' : 'observe',
    [formerBudgets]: null,
    // Whoever gives the budgets back gives the pace of updates back too.
    ...(isAdopted ? (wants.updates === undefined ? {} : { [updates]: wants.updates }) : { [updates]: null }),
  }
  const annotations = Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => (present[key] ?? null) !== value),
  )
  const managePodBudgets = !isAdopted && !wants.isWithoutSuccessor
  const isSwitched = hasRooksBudgets(cluster) !== managePodBudgets
  const changes = [
    ...(isSwitched ? [`spec.disruptionManagement.managePodBudgets: ${managePodBudgets}`] : []),
    ...Object.entries(annotations).map(([key, value]) =>
      value === null ? `annotation ${key} removed` : `annotation ${key}: ${value}`,
    ),
  ]
  if (changes.length === 0) return { changes }
  const patch = {
    ...(Object.keys(annotations).length === 0 ? {} : { metadata: { annotations } }),
    ...(isSwitched ? { spec: { disruptionManagement: { managePodBudgets } } } : {}),
  }
  return { patch, changes }
}

function missingOfAdopt(snapshot: HandOverSnapshot): string[] {
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

function missingOfRelease(snapshot: HandOverSnapshot): string[] {
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

function unprotected({ osdPods, budgets, stateMap }: HandOverSnapshot): string[] {
  const { openDomains } = parseDrainState(stateMap?.data)
  const { uncovered } = judgeProtection(new Set(), { osdPods, budgets, openDomains })
  return uncovered.map((osd) => `${osd} has no budget`)
}
