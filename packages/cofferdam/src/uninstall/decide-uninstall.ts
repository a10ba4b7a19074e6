import { blocked, type HandOverCheck, ok, operatorCheck, warning } from '../shared/hand-over.ts'
import type { ManagedCeph, UninstallSnapshot } from './snapshot.ts'

export interface UninstallDecision {
  /** One that is blocked keeps everything as it is. */
  readonly checks: readonly HandOverCheck[]
  /** What is not protected any more afterwards, or by another operator. */
  readonly losses: readonly string[]
}

/**
 * Decides whether Cofferdam may be removed now, and says what is lost with it.
 *
 * Guarantees: nothing that is under way is ended, and nothing is left without a budget, unless the user has said so by a flag of its own.
 * Fails closed: what may not be read may hold something of Cofferdam's, so nothing is removed.
 */
export function decideUninstall(snapshot: UninstallSnapshot): UninstallDecision {
  return { checks: checksOf(snapshot), losses: lossesOf(snapshot) }
}

const evenNow = 'or repeat with --even-now'

function checksOf(snapshot: UninstallSnapshot): HandOverCheck[] {
  const { requests, locks, keptFromRemediation, longhorn, ceph } = snapshot
  const middle = inTheMiddle(snapshot)
  return [
    rightsCheck(snapshot),
    needsOperator(snapshot) ? operatorCheck(snapshot.isOperatorRunning) : ok('operator', 'is not needed'),
    ...ceph.flatMap((cluster) => successorCheck(cluster, snapshot)),
    ...requests.map(({ name, node, phase }) =>
      middle('drain', `nodedisruption/${name} for node ${node} is ${phase}`, {
        wayOut: `let it end, or end it with cofferdam uncordon ${node}; ${evenNow}`,
      }),
    ),
    ...holdChecks(snapshot),
    ...ceph.flatMap((cluster) => cephChecks(cluster, snapshot)),
    ...longhorn.flatMap(({ namespace, changed }) =>
      changed.map((what) =>
        middle('longhorn', `longhorn/${namespace}: ${what}`, { wayOut: `let the drain end; ${evenNow}` }),
      ),
    ),
    ...keptFromRemediation.map((what) =>
      middle('fencing', `${what} is kept from remediation`, {
        wayOut: `wait until its node is back or may be fenced (cofferdam status); ${evenNow}`,
      }),
    ),
    ...locks.map(({ budget, holder, until }) =>
      middle('lock', `poddisruptionbudget/${budget} is locked by ${holder} until ${until}`, {
        wayOut: `ask ${holder}, or wait; ${evenNow}`,
      }),
    ),
  ]
}

/** Blocks, or only warns where the user wants it even now. */
function inTheMiddle({ wants }: UninstallSnapshot): typeof blocked {
  return (what, says, wayOut) => (wants.isEvenNow ? warning(what, says) : blocked(what, says, wayOut))
}

function rightsCheck({ notSeen }: UninstallSnapshot): HandOverCheck {
  if (notSeen.length === 0) return ok('rights', 'everything of Cofferdam can be read')
  return blocked('rights', `you may not read ${notSeen.join('; ')}`, {
    wayOut: 'run it as a user with the ClusterRole cluster-admin',
  })
}

/** Only the operator asks Ceph, and restores what it has changed of Longhorn. */
function needsOperator({ ceph, longhorn }: UninstallSnapshot): boolean {
  return ceph.length + longhorn.length > 0
}

function successorCheck({ namespace, name, rookRuns }: ManagedCeph, { wants }: UninstallSnapshot): HandOverCheck[] {
  const object = `cephcluster/${namespace}/${name}`
  if (rookRuns) return [ok('rook', `takes the budgets of ${object}`)]
  const says = `Rook's operator does not run for ${object}, so no operator would manage its budgets`
  if (wants.isWithoutSuccessor) return [warning('rook', says)]
  return [blocked('rook', says, { wayOut: 'start Rook first, or remove the budgets with --without-successor' })]
}

/** Holds of requests are named with their request. */
function holdChecks(snapshot: UninstallSnapshot): HandOverCheck[] {
  const { holds, requests } = snapshot
  const middle = inTheMiddle(snapshot)
  if (!holds.known) return [middle('ledger', holds.why, { wayOut: `see cofferdam status; ${evenNow}` })]
  const named = new Set(requests.map(({ id }) => id))
  return holds.value
    .filter(({ requestId }) => !named.has(requestId))
    .map(({ key, holder }) =>
      middle('ledger', `${key} is held by ${holder}`, { wayOut: `let it end, see cofferdam get locks; ${evenNow}` }),
    )
}

function cephChecks(
  { namespace, name, openDomains, noout }: ManagedCeph,
  snapshot: UninstallSnapshot,
): HandOverCheck[] {
  const object = `cephcluster/${namespace}/${name}`
  const middle = inTheMiddle(snapshot)
  const wayOut = `uncordon its nodes and wait until all placement groups are clean; ${evenNow}`
  return [
    ...(openDomains.length === 0
      ? []
      : [middle('drain', `${object}: failure domain ${openDomains.join(', ')} is away`, { wayOut })]),
    ...(noout.length === 0
      ? []
      : [middle('noout', `${object}: Cofferdam has set noout on ${noout.join(', ')}`, { wayOut })]),
  ]
}

function lossesOf({ ceph, longhorn, locks, machineBudgets, hasPolicy, wants }: UninstallSnapshot): string[] {
  return [
    ...ceph.map(({ namespace, name, rookRuns }) =>
      rookRuns
        ? `cephcluster/${namespace}/${name}: Rook manages the budgets again; drains wait for Ceph's health as Rook sees it`
        : `cephcluster/${namespace}/${name}: OSDs, mons and other daemons have no budget${wants.isWithoutSuccessor ? '' : ' until Rook runs'}`,
    ),
    ...longhorn.map(({ namespace }) => `longhorn/${namespace}: Longhorn decides drains alone`),
    ...machineBudgets.map(
      (name) => `machinedisruptionbudget/${name}: machines are fenced whether Ceph is clean or not`,
    ),
    ...locks.map(({ budget, holder }) => `poddisruptionbudget/${budget}: the lock of ${holder} has no effect any more`),
    ...(hasPolicy ? ['disruptionpolicy/cluster: is deleted, and its limits with it'] : []),
    'evictions are not checked by the eviction guard; kubectl drain and other tools go by budgets alone',
  ]
}
