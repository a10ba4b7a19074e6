import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { isStorageBudget } from '../capabilities/ceph-drain/view/blocked-domain.ts'
import { whenDaemonFollows } from '../capabilities/ceph-drain/view/daemon-budget.ts'
import { recordedStorage } from '../capabilities/ceph-drain/view/recorded-storage.ts'
import { storageAnswers, storageBlocker } from '../capabilities/ceph-drain/view/storage-budget.ts'
import { explainHolds } from '../capabilities/drain-lock/view/hold-view.ts'
import { answerLonghorn, type LonghornAnswer } from '../capabilities/longhorn-drain/view/longhorn-answer.ts'
import { longhornBlockers, managerBehind } from '../capabilities/longhorn-drain/view/longhorn-budget.ts'
import { rehearseDrain } from '../capabilities/longhorn-drain/view/longhorn-view.ts'
import { nodeKey } from '../ledger/rules/keys.ts'
import type { Blocker } from '../shared/blocker.ts'
import { compareText } from '../shared/last-writer.ts'
import { mergeBlockers } from '../shared/merge-blockers.ts'
import type { Reason } from '../shared/reasons.ts'
import type { StorageView } from '../shared/storage-view.ts'
import type { DrainFlag, NodeExplanation, NodeState, PodAnswer, PodVerdict } from './explanation.ts'
import type { PodJudgement } from './judge-pod.ts'
import { judgePods } from './judge-pods.ts'
import { unreadBlocker, unreadQuestions } from './judge-unread.ts'
import { nodeStateOf } from './node-state.ts'
import type { NodeSnapshot } from './snapshot.ts'
import { unreadLonghorn } from './unread-longhorn.ts'

const drainFlags: readonly DrainFlag[] = ['--ignore-daemonsets', '--delete-emptydir-data', '--force']
const drained: Reason = 'DrainCompleted'
const order: readonly PodVerdict[] = ['waits', 'in-turn', 'goes', 'leaving', 'stays']

/** May this node be drained now: what of each pod, what of the storage, and what stands in the way? */
export function explainNode(snapshot: NodeSnapshot): NodeExplanation {
  const { node, storage } = snapshot
  const { name } = node.metadata
  const podsOnNode = snapshot.pods.filter(({ spec }) => spec.nodeName === name)
  const longhorn = snapshot.longhorn && rehearseDrain(snapshot.longhorn, name)
  const answer = longhorn && answerLonghorn(longhorn, { nodeName: name, podsOnNode })
  const judged = judgePods(podsOnNode, { ...snapshot, ...(longhorn && { longhorn }) }).map((each) =>
    inDrain(each, name, storage),
  )
  const pods = inTurns(judged, answer).sort(
    (a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict) || compareText(a.pod, b.pod),
  )
  const state = nodeStateOf({
    node,
    podsOnNode,
    leftByRequest: snapshot.holds?.leftByRequest ?? [],
    now: snapshot.now,
  })
  const leavers = pods.filter(({ verdict }) => verdict !== 'stays')
  const disruptions = (snapshot.holds?.disruptions ?? []).filter((each) => each.node === name)
  const left = new Set(disruptions.flatMap(({ stays }) => stays))
  const fromPods = judged.flatMap(({ answer: { pod }, blockers: each, staysAfter }) =>
    // What a request leaves here its budget counts as gone already.
    left.has(pod) ? each : [...each, ...staysAfter],
  )
  const fromBudgets = new Set(fromPods.map(({ holder }) => holder))
  const fromStorage = storage
    .map((view) => storageBlocker(view, { nodeName: name, podsOnNode }))
    .filter((blocker) => blocker !== undefined && !fromBudgets.has(blocker.holder))
  const fromLonghorn = longhorn === undefined ? [] : longhornBlockers(longhorn, name, podsOnNode)
  const blockers = mergeBlockers([
    ...fromPods,
    ...fromStorage,
    ...fromLonghorn.map((each) => ({ ...each, waiting: [] })),
    unreadLonghornOn(snapshot, podsOnNode),
    notReady(name, state, leavers),
  ])
  return {
    object: `node/${name}`,
    mayGo: blockers.length === 0,
    summary: summaryOf(pods, blockers, state),
    blockers,
    disruptions,
    holds: holdsOf(snapshot, pods),
    node: state,
    pods,
    storage: storageAnswers({ nodeName: name, podsOnNode, storage }),
    ...(answer && { longhorn: answer }),
    command: commandFor(name, pods),
  }
}

/** What is held of the node itself, of the budgets over its pods, and of the storage on it. */
function holdsOf({ node, storage, holds }: NodeSnapshot, pods: readonly PodAnswer[]): NodeExplanation['holds'] {
  if (holds === undefined) return []
  const { name } = node.metadata
  const keys = new Set([nodeKey(name), ...pods.flatMap(({ budgets }) => budgets.map((each) => `pdb/${each}`))])
  for (const { key } of recordedStorage(storage, name)) keys.add(key)
  return explainHolds(holds, (key) => keys.has(key))
}

/** By itself a mon or mgr beside OSDs may not be evicted; a drain of the whole node takes the OSDs, and then it follows. */
function inDrain(judged: PodJudgement, nodeName: string, storage: readonly StorageView[]): PodJudgement {
  const { answer, blockers } = judged
  const follows: Reason = 'FollowsOsds'
  const when = answer.reason === follows ? whenDaemonFollows(answer.pod, nodeName, storage) : undefined
  if (when === undefined) return judged
  const rest = blockers.filter(({ reason }) => reason !== follows)
  const verdict = rest.length === 0 ? 'in-turn' : answer.verdict
  return { ...judged, answer: { ...answer, verdict, explanation: `it follows ${when}` }, blockers: rest }
}

/** A budget that allows fewer disruptions than the node holds pods lets them go one after another. */
function inTurns(judged: readonly PodJudgement[], longhorn: LonghornAnswer | undefined): PodAnswer[] {
  const taken = new Map<PodDisruptionBudget, number>()
  return judged.map(({ answer, takesFrom }) => {
    if (takesFrom === undefined) return answer
    const before = taken.get(takesFrom) ?? 0
    taken.set(takesFrom, before + 1)
    if (before < (takesFrom.status?.disruptionsAllowed ?? 0)) return answer
    const explanation = `budget ${takesFrom.metadata.name}: it follows ${whenItFollows(takesFrom, longhorn)}`
    return { ...answer, verdict: 'in-turn', explanation }
  })
}

function whenItFollows(budget: PodDisruptionBudget, longhorn: LonghornAnswer | undefined): string {
  if (isStorageBudget(budget)) return 'as soon as its failure domain is opened'
  if (longhorn === undefined || managerBehind(budget) === undefined) {
    return 'as soon as another pod of it is healthy elsewhere'
  }
  return longhorn.heldBy.length === 0
    ? 'as soon as the node is cordoned'
    : 'when the node is cordoned and Longhorn has left it'
}

/** A node may have copies without a pod that shows it. */
function unreadLonghornOn(
  { node, unread = [], longhornPlaces: places, budgets }: NodeSnapshot,
  podsOnNode: readonly Pod[],
): Blocker | undefined {
  if (places === undefined) return undefined
  const here = podsOnNode.map(({ metadata: { namespace = '', labels = {} } }) => ({ namespace, labels }))
  const what = unreadLonghorn({ unread, places, budgets })(node.metadata.name, here)
  return what === undefined ? undefined : unreadBlocker(what, unreadQuestions.longhorn, [])
}

/** Evictions on a silent node are granted, and then nobody ends the pods. */
function notReady(name: string, state: NodeState, leavers: readonly PodAnswer[]): Blocker | undefined {
  if (state.isReady || leavers.length === 0) return undefined
  const reason: Reason = 'NodeNotReady'
  return {
    object: `node/${name}`,
    reason,
    explanation: `its kubelet does not answer (${state.notReadyReason ?? ''}), so evicted pods would not finish leaving`,
    holder: `the kubelet of ${name}`,
    ...(state.notReadySince === undefined ? {} : { since: state.notReadySince }),
    causes: [],
    unblocks: 'the node back and Ready',
    override: `only when the machine is surely off: kubectl taint node ${name} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`,
    waiting: leavers.map(({ pod }) => `pod/${pod}`),
  }
}

function summaryOf(pods: readonly PodAnswer[], blockers: readonly Blocker[], state: NodeState): string {
  const count = (...verdicts: PodVerdict[]) => pods.filter(({ verdict }) => verdicts.includes(verdict)).length
  const leavers = count('waits', 'in-turn', 'goes', 'leaving')
  if (leavers === 0 && blockers.length === 0) {
    if (state.drain === drained) return 'It is drained: nothing is left to evict.'
    return state.isCordoned
      ? 'It is cordoned and not drained: pods that ask to stay run on it, and no request holds their budgets yet.'
      : 'It holds nothing to evict.'
  }
  const noun = leavers === 1 ? 'pod' : 'pods'
  if (count('waits') > 0) return `${count('waits')} of ${leavers} ${noun} may not go now.`
  if (blockers.length > 0) return 'It may not be drained now.'
  if (count('in-turn') > 0) return `All ${leavers} ${noun} may go, ${count('in-turn')} of them queued.`
  return leavers === 1 ? 'Its only pod may go.' : `All ${leavers} pods may go.`
}

function commandFor(name: string, pods: readonly PodAnswer[]): string {
  const needed = drainFlags.filter((flag) => flag === drainFlags[0] || pods.some(({ needs }) => needs.includes(flag)))
  return ['kubectl drain', name, ...needed].join(' ')
}
