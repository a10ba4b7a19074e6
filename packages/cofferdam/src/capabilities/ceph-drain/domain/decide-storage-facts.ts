import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { budgetKey } from '../../../ledger/rules/keys.ts'
import { type StorageArbiter, storageKey } from '../../../ledger/rules/storage-arbiter.ts'
import type { CephClusterView } from '../../../safety/ceph-cluster-view.ts'
import type { FenceGateState } from '../../../shared/fence-gate-state.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import type { CephDrainDecision, DomainAnswer } from './decision.ts'
import { osdNames } from './layout.ts'
import { parseOsdBudget } from './osd-budgets.ts'
import type { CephDrainSnapshot } from './snapshot.ts'
import { coverOf } from './wanted-budgets.ts'

export interface StorageFactsInput {
  readonly cluster: Pick<CephClusterView, 'namespace' | 'name' | 'uid'>
  /** Undefined: the storage as a whole is asked about. */
  readonly node: string | undefined
  /** OSDs that Kubernetes has on the node. */
  readonly osdsOnNode: readonly number[]
  /** What ceph-drain read and decided recently; undefined when it did not. */
  readonly decided: DecidedStorage | undefined
  /** As they stand now, in the namespace of the cluster. */
  readonly budgets: readonly PodDisruptionBudget[]
  readonly arbiter: Observed<StorageArbiter>
}

export interface DecidedStorage {
  readonly snapshot: CephDrainSnapshot
  readonly decision: CephDrainDecision
  /** The type of failure domain when Ceph answered last; undefined when it never has. */
  readonly domainType: string | undefined
}

/** `isBehind`: somebody holds a failure domain, and the others are not held yet; another decision may change that. */
export interface StorageFactsOutcome {
  readonly facts: readonly StorageFacts[]
  readonly isBehind: boolean
}

type MayGo = StorageFacts['mayGo']

/**
 * What one Ceph cluster has to do with a node: its failure domain there, whether that may be away, whether data is clean.
 *
 * That somebody else holds another domain is no reason here: the ledger says so itself, to whoever asks it for the key.
 *
 * Guarantees: a domain that somebody holds may go only when no OSD of another one can be evicted.
 * Fails closed: what ceph-drain has not decided recently is unknown.
 */
export function decideStorageFacts(input: StorageFactsInput): StorageFactsOutcome {
  const { cluster, node, decided } = input
  const isClean = decided?.decision.isClean ?? unknown(notDecided)
  const common = { key: storageKey(cluster), uid: cluster.uid, isClean, ...awaitedOf(decided) }
  if (node === undefined) {
    return one({
      ...common,
      failureDomain: '',
      mayGo: unknown('it was asked for the storage as a whole, not for a node'),
    })
  }
  const answers = (decided?.decision.domains ?? []).filter(({ nodes }) => nodes.includes(node))
  const answered = new Set(answers.flatMap(({ osds }) => osds))
  const unplaced = input.osdsOnNode.filter((id) => !answered.has(id))
  const [answer, ...more] = answers
  if (answer === undefined && unplaced.length === 0) return { facts: [], isBehind: false }
  if (decided === undefined) return one({ ...common, failureDomain: '', mayGo: unknown(notDecided) })
  if (decided.decision.failureDomainType !== decided.domainType) {
    const mayGo = unknown('Ceph does not say which failure domains there are')
    return one({ ...common, failureDomain: labelledDomain(decided, node), mayGo })
  }
  if (answer === undefined || unplaced.length > 0) {
    const mayGo = unknown(`the failure domain of ${osdNames(unplaced)} is not known yet`)
    return one({ ...common, failureDomain: answer?.domain ?? '', mayGo })
  }
  if (more.length > 0) {
    const domains = answers.map(({ domain }) => domain).join(', ')
    const explanation = `OSDs of ${node} belong to ${domains}; they cannot all be away together.`
    return one({
      ...common,
      failureDomain: '',
      mayGo: known({ allowed: false, explanation }),
      ...holdsOf(input, answers),
    })
  }
  const mayGo = mayGoOf(answer)
  const isUnguarded = mayGo.known && mayGo.value.allowed && !isGuarded(input, decided, answer)
  const facts = { ...common, failureDomain: answer.domain, mayGo: isUnguarded ? unknown(notGuarded) : mayGo }
  return { facts: [{ ...facts, ...holdsOf(input, answers) }], isBehind: isUnguarded }
}

/** Of a node that is being drained already: why the budgets of its OSDs let none of them go, which their numbers do not say. */
function holdsOf({ budgets, cluster }: StorageFactsInput, answers: readonly DomainAnswer[]) {
  const held = answers.filter(({ mayDrain }) => !mayDrain)
  if (held.length === 0) return {}
  const keys = budgets
    .filter((budget) => parseOsdBudget(budget, cluster)?.isOurs === true)
    .map(({ metadata: { namespace = '', name } }) => budgetKey({ namespace, name }))
  // What somebody else holds is told by the ledger, and passes; the others come first.
  const isHeld = ({ reason }: DomainAnswer) => reason === 'StorageKeyHeld'
  return {
    holds: [...held.filter((answer) => !isHeld(answer)), ...held.filter(isHeld)]
      .slice(0, 1)
      .map(({ reason, explanation }) => ({ budgets: keys, object: storageKey(cluster), reason, wayOut: explanation })),
  }
}

/** Which OSDs are down and on which nodes, where data is not clean: the node that is asked about need not be the reason. */
function awaitedOf(decided: DecidedStorage | undefined): Pick<StorageFacts, 'awaited'> {
  if (decided === undefined) return {}
  const { isClean, explanation } = decided.decision
  return isClean.known && !isClean.value
    ? { awaited: `It is clean when all data is in place again. ${explanation}` }
    : {}
}

const notDecided = 'ceph-drain has not polled the cluster recently'
const notGuarded = 'the other failure domains are not held yet'

function one(facts: StorageFacts): StorageFactsOutcome {
  return { facts: [facts], isBehind: false }
}

/** Where labels have the node in the type that Ceph reported last; '' where they do not agree on one. */
function labelledDomain({ snapshot, domainType }: DecidedStorage, node: string): string {
  const onNode = snapshot.osds.filter(({ nodeName }) => nodeName.known && nodeName.value === node)
  const domains = new Set(onNode.map(({ topology }) => (domainType === undefined ? '' : (topology[domainType] ?? ''))))
  return domains.size === 1 ? ([...domains][0] as string) : ''
}

function mayGoOf({ mayDrain, reason, explanation }: DomainAnswer): MayGo {
  switch (reason) {
    case 'StorageKeyHeld':
      return known({ allowed: true, explanation })
    case 'SafetyUnknown':
    case 'LedgerUnknown':
      return unknown(explanation)
    default:
      return known({ allowed: mayDrain, explanation })
  }
}

/** Whether no OSD of another domain can be evicted, or nobody was granted this one yet. */
function isGuarded(
  { arbiter, budgets, cluster }: StorageFactsInput,
  { snapshot: seen, decision }: DecidedStorage,
  { domain, osds }: DomainAnswer,
): boolean {
  // Another operator's budgets follow their own rules.
  if (seen.cluster.mode !== 'manage') return true
  const isElsewhere = (scope: string) => scope === '' || decision.domains.some((each) => each.domain === scope)
  // A hold of a domain that is none any more, because rules of Ceph have changed, may be the one of this domain.
  const isGranted = (scope: string) => scope === domain || !isElsewhere(scope)
  if (!arbiter.known || !arbiter.value.others.some(({ scope }) => isGranted(scope))) return true
  const firm = budgets.flatMap((budget) => {
    const parsed = parseOsdBudget(budget, cluster)
    return parsed?.isOurs === true && parsed.maxUnavailable === 0 ? [parsed] : []
  })
  const isHeld = coverOf(firm)
  return seen.osds.every((osd) => osds.includes(osd.id) || !osd.isReady || isHeld(osd))
}

/**
 * What is left of an answer beside fencing. Whoever was granted a failure domain begins only after fencing is closed; until it
 * was granted, that fencing is open keeps nobody from asking.
 */
export function besideFencing(
  facts: StorageFacts,
  { gate, isGranted }: { readonly gate: Observed<FenceGateState>; readonly isGranted: boolean },
): StorageFacts {
  if (!facts.mayGo.known || !facts.mayGo.value.allowed) return facts
  if (!gate.known) return { ...facts, mayGo: unknown(`it is not known whether a machine is being fenced: ${gate.why}`) }
  if (gate.value === 'fence under way') {
    const explanation =
      'A machine with OSDs of the same cluster is being fenced. The drain continues when the fence has ended.'
    return { ...facts, mayGo: known({ allowed: false, explanation }) }
  }
  if (gate.value === 'open' && isGranted) return { ...facts, mayGo: unknown('machines may still be fenced') }
  return facts
}
