import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { budgetsOf, covers } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { isManagedByUs } from '@cofferdam/product/capabilities/ceph-drain/domain/budget-mark.ts'
import type { Explained } from '@cofferdam/product/cli/explain/question.ts'
import { type AskPorts, askExplain, askPage, askStatus } from './ask-commands.ts'
import { atOneMoment } from './at-one-moment.ts'
import { dryRunEviction } from './longhorn-agreement.ts'

export interface Agreement {
  /** What `explain` and the eviction API do not agree about: none is right. */
  readonly disagreements: readonly string[]
  /**
   * Where a drain is called blocked although each OSD by itself would be granted: its whole failure domain may not be away.
   * The reasons for it, each once.
   */
  readonly cautions: readonly string[]
  /** How many OSDs may be evicted now, and how many not: a comparison in which all are free shows little. */
  readonly free: number
  readonly refused: number
}

const isOsd = ({ metadata }: Pod) => metadata.labels?.['app'] === 'rook-ceph-osd'
const isFollower = ({ metadata }: Pod) => /^rook-ceph-(mon|mgr)$/.test(metadata.labels?.['app'] ?? '')
const nameOf = ({ metadata }: Pod) => `${metadata.namespace}/${metadata.name}`
const isRunning = (pod: Pod) =>
  pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True'

/** Asks `explain` for every OSD, its pod, its node and the cluster, and the API server for the eviction of each pod. */
export function compareAnswers(ports: AskPorts, cluster = 'rook-ceph/rook-ceph'): Promise<Agreement> {
  return atOneMoment(ports.api, [pods, podDisruptionBudgets], () => lookAtAnswers(ports, cluster))
}

async function lookAtAnswers(ports: AskPorts, cluster: string): Promise<Agreement> {
  const { api } = ports
  const [{ items }, { items: budgets }] = await Promise.all([api.list(pods), api.list(podDisruptionBudgets)])
  const codes = new Map<string, number>()
  for (const pod of items) codes.set(nameOf(pod), await dryRunEviction(api, pod))
  // One that went this very moment is neither granted nor refused.
  const there = items.filter((pod) => codes.get(nameOf(pod)) !== 404)
  const leavers = there.filter((pod) => controllerOf(pod)?.kind !== 'DaemonSet')
  const osds = there.filter(isOsd)
  const codeOf = (pod: Pod) => codes.get(nameOf(pod)) as number
  const isRefused = (pod: Pod) => codeOf(pod) !== 201
  const disagreements: string[] = []
  const cautions = new Set<string>()
  const isCaution = ({ object }: { readonly object: string }) => object === `cephcluster/${cluster}`

  const compare = async (object: string, isFree: boolean): Promise<Explained> => {
    const { code, answer } = await askExplain(ports, object)
    const careful = answer.blockers.filter(isCaution)
    // Where the OSDs may not go, the mons beside them do not follow.
    const rest = answer.blockers.filter((blocker) => !isCaution(blocker) && blocker.reason !== 'FollowsOsds')
    if (answer.kind === 'node' && isFree && code === 3 && careful.length > 0 && rest.length === 0) {
      for (const { reason } of careful) cautions.add(reason)
      return answer
    }
    const why = answer.blockers.map((each) => ` ${each.reason} of ${each.object}`).join()
    const says = `${answer.mayGo ? 'free' : 'blocked'}, exit code ${code}`
    const shouldSay = isFree ? 'free, exit code 0' : 'blocked, exit code 3'
    if (says !== shouldSay) disagreements.push(`${object}: explain says ${says}${why}; by the API server: ${shouldSay}`)
    return answer
  }

  for (const pod of there.filter((each) => isOsd(each) || isFollower(each))) {
    const { blockers } = await compare(`pod/${nameOf(pod)}`, !isRefused(pod))
    // Two budgets over one pod are the one thing that the API server refuses with 500.
    const refusal = blockers.length > 0 && blockers.every(({ reason }) => reason === 'BudgetOverlap') ? 500 : 429
    if (isRefused(pod) && codeOf(pod) !== refusal) disagreements.push(`pod/${nameOf(pod)}: refused with ${codeOf(pod)}`)
  }
  const ids = new Set(osds.map(({ metadata }) => metadata.labels?.['ceph-osd-id'] ?? ''))
  for (const id of ids) {
    const own = osds.filter(({ metadata }) => metadata.labels?.['ceph-osd-id'] === id)
    await compare(`osd/rook-ceph/${id}`, !own.some(isRefused))
  }
  for (const node of new Set(osds.flatMap(({ spec }) => spec.nodeName ?? []))) {
    const onNode = leavers.filter(({ spec }) => spec.nodeName === node)
    // Under our budgets mons and mgrs are refused until the OSDs beside them have gone, and then follow by themselves; not so under Rook's.
    const first = onNode.filter((pod) => !isFollower(pod) || !budgetsOf(pod, budgets).every(isManagedByUs))
    // An OSD that does not run opens no failure domain when it is evicted; one that no budget covers is in an open one.
    const isInTurn = (pod: Pod) => isRunning(pod) || budgetsOf(pod, budgets).length === 0
    const opens = first.some(isOsd) && first.filter(isOsd).every(isInTurn)
    await compare(`node/${node}`, opens ? !first.some(isRefused) : !onNode.some(isRefused))
  }
  const { answer } = await askExplain(ports, `cephcluster/${cluster}`)
  const domains = answer.kind === 'cephcluster' ? answer.domains : []
  const careful = new Set<number>()
  for (const { domain, state, osds: ids, blockers } of domains) {
    const own = osds.filter(({ metadata }) => ids.includes(Number(metadata.labels?.['ceph-osd-id'])))
    const expected = own.some(isRefused) ? 'held' : own.some(isRunning) ? 'free' : 'away'
    if (expected === 'free' && state === 'held' && blockers.every(isCaution)) {
      for (const { reason } of blockers) cautions.add(reason)
      for (const id of ids) careful.add(id)
    } else if (state !== expected)
      disagreements.push(`failure domain ${domain}: ${state}; by the API server: ${expected}`)
  }
  const mayGo = (pod: Pod) =>
    isRunning(pod) && !isRefused(pod) && !careful.has(Number(pod.metadata.labels?.['ceph-osd-id']))
  await compare(`cephcluster/${cluster}`, osds.some(mayGo) || (careful.size === 0 && !osds.some(isRefused)))
  disagreements.push(...(await comparePage(ports, there.filter(isRunning), codeOf)))
  const refused = osds.filter(isRefused).length
  return { disagreements, cautions: [...cautions], free: osds.length - refused, refused }
}

/** What the page says of each budget, beside what the API server does with the pods under it alone. */
async function comparePage(ports: AskPorts, running: readonly Pod[], codeOf: (pod: Pod) => number) {
  const [{ items: budgets }, { budgets: verdicts }] = await Promise.all([
    ports.api.list(podDisruptionBudgets),
    askPage(ports),
  ])
  return budgets.flatMap((budget) => {
    const name = keyText(keyOf(budget))
    // One whose eviction was granted this very moment was asked about before.
    const granted = budget.status?.disruptedPods ?? {}
    const alone = running
      .filter((pod) => covers(budget, pod) && budgetsOf(pod, budgets).length === 1)
      .filter(({ metadata }) => !Object.hasOwn(granted, metadata.name))
    if (alone.length === 0) return []
    const says = verdicts.get(name)?.says ?? 'nothing'
    const isFree = alone.some((pod) => codeOf(pod) === 201)
    return says.startsWith('Blocked') === isFree
      ? [`pdb/${name}: the page says "${says}"; by the API server it is ${isFree ? 'free' : 'blocked'}`]
      : []
  })
}

/** Of every budget: reason and words of `explain`, of `status` and of the page. */
export async function compareBudgets(ports: AskPorts): Promise<string[]> {
  const { items: budgets } = await ports.api.list(podDisruptionBudgets)
  const [page, { budgets: status }] = [await askPage(ports), await askStatus(ports)]
  const found: string[] = []
  for (const name of budgets.map((budget) => keyText(keyOf(budget)))) {
    const { answer } = await askExplain(ports, `pdb/${name}`)
    if (answer.kind !== 'pdb') throw new Error(`pdb/${name} is a ${answer.kind}`)
    const { reason, explanation } = answer.budget
    const says = page.budgets.get(name)?.says ?? 'nothing'
    const listed = status.blocked.find(({ budget }) => budget === name)
    const blame = (sentence: string) => found.push(`pdb/${name}: explain says ${reason}: ${explanation}; ${sentence}`)
    if (!answer.mayGo && says !== `Blocked: ${explanation}`) blame(`the page says "${says}"`)
    if (answer.mayGo && says.startsWith('Blocked')) blame(`the page says "${says}"`)
    // Those of instance managers on open nodes are only counted.
    const isCounted = reason === 'NotCordoned'
    if (!isCounted && (answer.mayGo ? undefined : reason) !== listed?.reason)
      blame(`status says ${listed?.reason ?? 'nothing'}`)
  }
  return found
}
