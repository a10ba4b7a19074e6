import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf, controllerOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { holdAnnotation } from '@cofferdam/product/capabilities/drain-lock/domain/budget-hold.ts'
import type { LedgerEntry } from '@cofferdam/product/ledger/rules/ledger.ts'
import { parseLedger } from '@cofferdam/product/ledger/rules/parse-ledger.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import type { Trace } from './trace.ts'

/** Tells of requests, the ledger, budgets, nodes and pods as they change, in the order in which the API server does. */
export function recordLocks(views: Views, trace: Pick<Trace, 'tell'>): () => void {
  let isRelevant = false
  const follow = <T extends KubeObject>(
    type: ResourceType<T>,
    linesOf: (before: T | undefined, after: T | undefined) => readonly string[],
  ) =>
    views.of(type).subscribe(({ before, after }) => {
      if (isRelevant) for (const line of linesOf(before, after)) trace.tell(line)
    })
  const ends = [
    follow(nodeDisruptions, requestLines),
    follow(disruptionLedgers, (before, after) => ledgerLines(entriesOf(before), entriesOf(after))),
    follow(podDisruptionBudgets, budgetLines),
    follow(nodes, nodeLines),
    follow(pods, podLines),
  ]
  isRelevant = true
  return () => {
    for (const end of ends) end()
  }
}

function requestLines(before: NodeDisruption | undefined, after: NodeDisruption | undefined): string[] {
  if (after === undefined) return [`${before?.metadata.name} is deleted`]
  const [was, is] = [stateOf(before), stateOf(after)]
  return was === is || is === undefined ? [] : [`${after.metadata.name} is ${is}`]
}

function stateOf(request: NodeDisruption | undefined): string | undefined {
  const { phase, blockedBy = [] } = request?.status ?? {}
  if (phase === undefined) return undefined
  const waits = blockedBy.map(({ object, reason }) => `${plain(object)} (${reason})`).join(', ')
  return phase === 'Waiting' || phase === 'Draining' ? `${phase}${waits === '' ? '' : `: ${waits}`}` : phase
}

/** Names of pods of a Deployment are left to chance. */
function plain(object: string): string {
  return object.replace(/^(pod\/[^/]+\/.+)-[a-z0-9]{8,10}-[a-z0-9]{5}$/, '$1')
}

function entriesOf(object: Parameters<typeof parseLedger>[0]): readonly LedgerEntry[] {
  const ledger = parseLedger(object)
  return ledger.known ? ledger.value.entries : []
}

function ledgerLines(before: readonly LedgerEntry[], after: readonly LedgerEntry[]): string[] {
  const ids = new Set([...before, ...after].map(({ requestId }) => requestId))
  return [...ids].flatMap((id) => {
    const [was, is] = [before, after].map((entries) => holdText(entries.filter(({ requestId }) => requestId === id)))
    if (was === is) return []
    const [entry] = [...after, ...before].filter(({ requestId }) => requestId === id)
    const who = entry?.holder.split('nodedisruption/').at(-1) ?? id
    return [is === '' ? `ledger: ${who} holds nothing any more` : `ledger: ${who} holds ${is}`]
  })
}

function holdText(entries: readonly LedgerEntry[]): string {
  const [first] = entries
  if (first === undefined) return ''
  const keys = entries.map(({ key, scope }) => (scope === '' ? key : `${key} for ${scope}`))
  return `${keys.join(', ')} (${first.state}, epoch ${first.epoch})`
}

function budgetLines(before: PodDisruptionBudget | undefined, after: PodDisruptionBudget | undefined): string[] {
  const { namespace, name } = (after ?? before)?.metadata ?? {}
  if (before === undefined || after === undefined) return []
  const told: [string, string][] = [
    [holderOf(before), holderOf(after)],
    [ownerLockOf(before), ownerLockOf(after)],
  ]
  return told.filter(([was, is]) => was !== is).map(([, is]) => `budget ${namespace}/${name}: ${is}`)
}

function holderOf({ metadata, status }: PodDisruptionBudget): string {
  const text = metadata.annotations?.[holdAnnotation]
  if (text === undefined) return 'held by nobody'
  const { request, epoch } = JSON.parse(text) as { request: string; epoch: number }
  // An eviction is noted there too, for a moment.
  const gone = Object.keys(status?.disruptedPods ?? {}).filter((pod) => /-\d+$/.test(pod))
  const counted = gone.length === 0 ? '' : `, ${gone.sort().join(', ')} counted as gone`
  return `held for ${request.replace('nodedisruption/', '')} (epoch ${epoch})${counted}`
}

function ownerLockOf({ metadata }: PodDisruptionBudget): string {
  const text = metadata.annotations?.[appLockAnnotation]
  return text === undefined ? 'its owner takes the lock away' : `its owner says ${text}`
}

function nodeLines(before: Node | undefined, after: Node | undefined): string[] {
  if (before === undefined || after === undefined)
    return after === undefined ? [`${before?.metadata.name} is deleted`] : []
  const { name } = after.metadata
  const lines: string[] = []
  const [wasClosed, isClosed] = [before, after].map(({ spec }) => spec?.unschedulable === true)
  if (wasClosed !== isClosed) lines.push(`${name} is ${isClosed ? 'cordoned' : 'open again'}`)
  const [wasThere, isThere] = [before, after].map((node) => conditionOf(node, 'Ready')?.status === 'True')
  if (wasThere !== isThere) lines.push(`${name} is ${isThere ? 'ready' : 'not heard of any more'}`)
  return lines
}

function podLines(before: Pod | undefined, after: Pod | undefined): string[] {
  const pod = after ?? before
  if (pod === undefined) return []
  const isNumbered = controllerOf(pod)?.kind === 'StatefulSet'
  const name = isNumbered ? pod.metadata.name : (pod.metadata.labels?.['app'] ?? pod.metadata.name)
  const on = pod.spec.nodeName === undefined ? '' : ` on ${pod.spec.nodeName}`
  if (after === undefined) return []
  if (after.metadata.deletionTimestamp !== undefined)
    return before?.metadata.deletionTimestamp === undefined ? [`${name}${on} is told to go`] : []
  if (isReady(after) === (before !== undefined && isReady(before))) return []
  return [isReady(after) ? `${name}${on} is ready` : `${name}${on} is not ready any more`]
}
