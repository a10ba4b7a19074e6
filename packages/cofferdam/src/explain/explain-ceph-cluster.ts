import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { domainOf } from '../capabilities/ceph-drain/view/blocked-domain.ts'
import { isRunning, osdOf, storageBlocker } from '../capabilities/ceph-drain/view/storage-budget.ts'
import {
  type SeenUpdate,
  summarizeUpdate,
  type UpdateSummary,
} from '../capabilities/osd-update/view/summarize-update.ts'
import type { Blocker } from '../shared/blocker.ts'
import { groupedBy } from '../shared/grouped-by.ts'
import { compareText } from '../shared/last-writer.ts'
import { mergeBlockers } from '../shared/merge-blockers.ts'
import type { StorageView } from '../shared/storage-view.ts'
import { type CephState, cephStateOf } from './ceph-state.ts'
import { type DownPart, downPartText } from './down-part.ts'
import { osdHolds } from './explain-osd.ts'
import type { Explanation } from './explanation.ts'
import type { PodJudgement } from './judge-pod.ts'
import { judgePods } from './judge-pods.ts'
import type { GuardSnapshot } from './snapshot.ts'

/** What a drain would meet in one failure domain. */
export interface DomainAnswer {
  /** The name of the failure domain; of the node, where its type is not known. */
  readonly domain: string
  /** `free`: it may be drained now. `held`: one of its OSDs may not go, or not all of them. `away`: none of them runs. */
  readonly state: 'free' | 'held' | 'away'
  /** The same in words: `May go`, `Down (1 of 2 nodes): its rest may go`. */
  readonly says: string
  /** Left out where all of it runs, or nothing. */
  readonly downPart?: DownPart
  readonly nodes: readonly string[]
  readonly osds: readonly number[]
  /** What holds it: who, why, since when and what ends it. */
  readonly blockers: readonly Blocker[]
}

export interface CephClusterExplanation extends Explanation {
  /** Such as `zone`; left out where it is not known. */
  readonly failureDomainType?: string
  readonly domains: readonly DomainAnswer[]
  readonly state: CephState
  /** What the operator found wrong: ignored pools, and what was handed over and is not done, among it; left out where there is nothing. */
  readonly problems?: readonly string[]
  /** What Cofferdam does with the budgets and the OSD updates; absent where nothing is on record. */
  readonly ownership?: { readonly budgets: string; readonly updates: string }
  /** How far the update of its OSDs is; it has no bearing on whether a node may be drained. */
  readonly update: UpdateSummary
}

/** May a node with OSDs of this cluster be drained now, and which failure domains are held by what? */
export function explainCephCluster(
  guards: GuardSnapshot,
  { seen, osdPods }: { readonly seen: SeenUpdate; readonly osdPods: readonly Pod[] },
): CephClusterExplanation {
  const update = summarizeUpdate(seen)
  const view = guards.storage.find(({ namespace, name }) => `${namespace}/${name}` === update.cluster)
  const type = view?.failureDomainType
  const judged = judgePods(osdPods, guards)
  const domains = domainAnswers(osdPods, judged, view)
  const held = domains.filter(({ state }) => state === 'held')
  const mayGo = held.length === 0 || domains.some(({ state }) => state === 'free')
  return {
    object: `cephcluster/${update.cluster}`,
    mayGo,
    summary: summaryOf(domains, type ?? 'node'),
    blockers: mayGo ? [] : mergeBlockers(held.flatMap(({ blockers }) => blockers)),
    holds: osdHolds(
      guards,
      seen,
      judged.map(({ answer }) => answer),
    ),
    ...(type === undefined ? {} : { failureDomainType: type }),
    domains,
    state: cephStateOf(view, (seen.isNamed ? seen.report?.noout : undefined) ?? []),
    ...(view === undefined || view.problems.length === 0 ? {} : { problems: view.problems }),
    ...ownershipOf(view),
    update,
  }
}

function ownershipOf(view: StorageView | undefined): Pick<CephClusterExplanation, 'ownership'> {
  if (view?.budgets === undefined) return {}
  const { budgets, updates = 'off' } = view
  return { ownership: { budgets, updates } }
}

function domainAnswers(
  osdPods: readonly Pod[],
  judged: readonly PodJudgement[],
  view: StorageView | undefined,
): DomainAnswer[] {
  const judgements = new Map(judged.map((each) => [each.answer.pod, each]))
  const byDomain = groupedBy(osdPods, (pod) => domainOf(pod, view?.failureDomainType) ?? pod.spec.nodeName ?? '')
  return [...byDomain]
    .map(([domain, pods]): DomainAnswer => {
      const fromPods = pods.flatMap((pod) => judgements.get(keyText(keyOf(pod)))?.blockers ?? [])
      const nodes = [...new Set(pods.flatMap(({ spec }) => spec.nodeName ?? []))].sort()
      const blockers = mergeBlockers(fromPods.length > 0 ? fromPods : fromStorage(view, nodes, pods))
      const state = blockers.length > 0 ? 'held' : pods.some(isRunning) ? 'free' : 'away'
      const downPart = downPartOf(pods)
      return {
        domain,
        state,
        says: downPart === undefined ? stateWords[state] : downPartText(downPart, state === 'free'),
        ...(downPart === undefined ? {} : { downPart }),
        nodes,
        osds: [...new Set(pods.flatMap((pod) => osdOf(pod) ?? []))].sort((a, b) => a - b),
        blockers,
      }
    })
    .sort((a, b) => compareText(a.domain, b.domain))
}

const stateWords = { free: 'May go', held: 'Held', away: 'Away' } as const

/** In nodes where nothing else is down, as people count; else in OSDs. */
function downPartOf(pods: readonly Pod[]): DownPart | undefined {
  const running = pods.filter(isRunning)
  const osds = countOf(pods, osdOf)
  const downOsds = osds - countOf(running, osdOf)
  if (running.length === 0 || downOsds === 0) return undefined
  const alive = new Set(running.map(({ spec }) => spec.nodeName))
  const areWholeNodes = pods.every((pod) => isRunning(pod) || !alive.has(pod.spec.nodeName))
  const nodes = countOf(pods, ({ spec }) => spec.nodeName)
  return areWholeNodes && pods.every(({ spec }) => spec.nodeName !== undefined)
    ? { down: nodes - alive.size, total: nodes, what: 'nodes' }
    : { down: downOsds, total: osds, what: 'OSDs' }
}

function countOf(pods: readonly Pod[], nameOf: (pod: Pod) => unknown): number {
  return new Set(pods.map(nameOf)).size
}

/** A drain takes the whole failure domain, so what was judged of it counts even where a budget would allow one OSD to go. */
function fromStorage(
  view: StorageView | undefined,
  nodes: readonly string[],
  pods: readonly Pod[],
): (Blocker | undefined)[] {
  if (view === undefined) return []
  return nodes.map((nodeName) =>
    storageBlocker(view, { nodeName, podsOnNode: pods.filter(({ spec }) => spec.nodeName === nodeName) }),
  )
}

function summaryOf(domains: readonly DomainAnswer[], type: string): string {
  const count = (state: DomainAnswer['state']) => domains.filter((each) => each.state === state).length
  const [free, held] = [count('free'), count('held')]
  if (free === 0 && held === 0) return 'None of its OSDs runs, so none blocks a drain.'
  if (free === 0) return 'No node with OSDs of it may be drained now.'
  if (held === 0) return `A node with OSDs of it may be drained now, in any ${type}, one ${type} at a time.`
  const [first] = domains.filter(({ state }) => state === 'free')
  const where = free === 1 ? `${type} ${first?.domain}` : `${free} of ${domains.length} failure domains`
  const what = free === 1 && first?.downPart !== undefined ? 'What is left of' : 'Nodes of'
  return `${what} ${where} may be drained now; ${held === 1 ? 'one other is' : `${held} others are`} held.`
}
