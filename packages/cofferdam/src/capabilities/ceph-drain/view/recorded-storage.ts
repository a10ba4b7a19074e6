import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { known, unknown } from '../../../shared/observed.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import type { RecordedAnswer, StorageView } from '../../../shared/storage-view.ts'
import { domainOf } from './blocked-domain.ts'

/** What the record says about the failure domains of a node, for whoever cannot ask Ceph. */
export function recordedStorage(views: readonly StorageView[], node: string): StorageFacts[] {
  return indexRecordedStorage(views, [])(node)
}

/**
 * The same for one node after the other.
 *
 * A record of very many failure domains lists only those that may not be drained. Where the pods of the OSDs are at hand, a node that it
 * does not list is in the domain of their labels.
 * Fails closed: a node with OSDs of which nothing is recorded shares a wave with no other.
 */
export function indexRecordedStorage(
  views: readonly StorageView[],
  osdPods: readonly Pod[],
): (node: string) => StorageFacts[] {
  const found = new Map<string, StorageFacts[]>()
  for (const view of views.filter(({ reason }) => reason !== ('ClusterNotNamed' satisfies Reason))) {
    for (const [node, answers] of answersByNode(view)) add(found, node, factsOf(view, node, answers))
    for (const [node, domains] of domainsByNode(view, osdPods)) {
      if (found.get(node)?.some(({ key }) => key === keyOf(view)) !== true) add(found, node, unlisted(view, domains))
    }
  }
  return (node) => found.get(node) ?? []
}

function add(found: Map<string, StorageFacts[]>, node: string, facts: StorageFacts): void {
  const before = found.get(node)
  if (before === undefined) found.set(node, [facts])
  else before.push(facts)
}

function answersByNode({ domains }: StorageView): ReadonlyMap<string, readonly RecordedAnswer[]> {
  const byNode = new Map<string, RecordedAnswer[]>()
  for (const answer of domains) {
    for (const node of answer.nodes) {
      const before = byNode.get(node)
      if (before === undefined) byNode.set(node, [answer])
      else before.push(answer)
    }
  }
  return byNode
}

function domainsByNode(view: StorageView, osdPods: readonly Pod[]): ReadonlyMap<string, ReadonlySet<string>> {
  const byNode = new Map<string, Set<string>>()
  for (const pod of osdPods) {
    const { nodeName } = pod.spec
    if (nodeName === undefined || pod.metadata.namespace !== view.namespace) continue
    const domains = byNode.get(nodeName) ?? new Set()
    byNode.set(nodeName, domains.add(domainOf(pod, view.failureDomainType) ?? ''))
  }
  return byNode
}

function keyOf({ namespace, name }: StorageView): string {
  return `storage/${namespace}/${name}`
}

const isClean = unknown('only the operator polls Ceph')
const notAttended = 'no operator updates the record'

/** Until somebody acts: too few copies, damaged data, two calculations that differ. */
const lastingReasons: ReadonlySet<string> = new Set<Reason>(['TooFewCopies', 'PgInDoubt', 'CephDisagrees'])

function factsOf(view: StorageView, node: string, answers: readonly RecordedAnswer[]): StorageFacts {
  const [answer, ...more] = answers
  const common = { key: keyOf(view), uid: '', isClean }
  if (answer === undefined) return unlisted(view, new Set(['']))
  if (view.isAttended === false) {
    return { ...common, failureDomain: more.length === 0 ? answer.domain : '', mayGo: unknown(notAttended) }
  }
  if (more.length > 0) {
    const domains = answers.map(({ domain }) => domain).join(', ')
    const explanation = `OSDs of ${node} belong to ${domains}; they cannot all be away together.`
    return { ...common, failureDomain: '', mayGo: known({ allowed: false, explanation, lasts: true }) }
  }
  const { domain, mayDrain, reason, explanation } = answer
  // While a failure domain is away the others are short of copies: that passes when it is back.
  const passes = reason === ('TooFewCopies' satisfies Reason) && view.openDomains.length > 0
  const lasts = !mayDrain && !passes && lastingReasons.has(reason)
  const mayGo = known({ allowed: mayDrain, explanation, ...(lasts && { lasts }) })
  return { ...common, failureDomain: domain, mayGo }
}

/** A node with OSDs that the record does not list. */
function unlisted(view: StorageView, domains: ReadonlySet<string>): StorageFacts {
  const { domainCounts, isAttended } = view
  const domain = domains.size === 1 ? ([...domains][0] as string) : ''
  const isShortened = domainCounts !== undefined && domainCounts.total > view.domains.length
  const areHeldListed = isShortened && view.domains.filter(({ mayDrain }) => !mayDrain).length === domainCounts.held
  const why =
    isAttended === false
      ? notAttended
      : `nothing is recorded of ${domain === '' ? 'its OSDs' : `failure domain ${domain}`}`
  return {
    key: keyOf(view),
    uid: '',
    failureDomain: domain,
    mayGo:
      areHeldListed && domain !== '' && isAttended !== false
        ? known({ allowed: true, explanation: `${view.failureDomainType} ${domain} may be drained now.` })
        : unknown(why),
    isClean,
  }
}
