import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { isRetired } from '@cofferdam/product/capabilities/ceph-drain/domain/retire-budget.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { observeStatus } from '@cofferdam/product/ceph/observe-status.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { daemonName } from './drainer.ts'
import type { Trace } from './trace.ts'

/** Tells of budgets, OSD pods and nodes as they change, in the order in which the API server does. */
export function recordCluster(views: Views, trace: Pick<Trace, 'tell'>): () => void {
  // A view first tells what it holds already.
  let isRelevant = false
  const tell = (line: string) => {
    if (isRelevant) trace.tell(line)
  }
  const ends = [
    views.of(podDisruptionBudgets).subscribe(({ before, after }) => {
      const line = budgetLine(before, after)
      if (line !== undefined) tell(line)
    }),
    views.of(pods).subscribe(({ before, after }) => {
      const line = podLine(before, after)
      if (line !== undefined) tell(line)
    }),
    views.of(nodes).subscribe(({ before, after }) => {
      const line = before && after && nodeLine(before, after)
      if (line !== undefined) tell(line)
    }),
  ]
  isRelevant = true
  return () => {
    for (const end of ends) end()
  }
}

/** Tells when data begins to miss copies, and when all of it is clean again. Call it now and then. */
export function recordHealth(commands: CephCommands, { tell }: Pick<Trace, 'tell'>): () => void {
  let wasClean = true
  let isAsking = false
  async function look(): Promise<void> {
    if (isAsking) return
    isAsking = true
    const status = await observeStatus(commands)
    isAsking = false
    if (!status.known) return
    const { pgCount, pgsByState } = status.value
    const isClean = (pgsByState['active+clean'] ?? 0) === pgCount
    if (isClean !== wasClean) tell(isClean ? 'Ceph says that all data is clean' : 'Ceph says that data misses copies')
    wasClean = isClean
  }
  return () => void look()
}

/** The same commands; what changes Ceph is told. */
export function recordCommands(commands: CephCommands, { tell }: Pick<Trace, 'tell'>): CephCommands {
  return {
    async run(command, options) {
      const answer = await commands.run(command, options)
      if (/^osd (un)?set-group$/.test(command.prefix) && answer.code === 0) {
        const buckets = JSON.stringify(command['who']).replaceAll(/["[\]]/g, '')
        tell(`noout is ${command.prefix.includes('unset') ? 'removed from' : 'set on'} ${buckets}`)
      }
      return answer
    },
    followLog: (follow) => commands.followLog?.(follow) ?? Promise.reject(new Error('it has no log')),
  }
}

function budgetLine(before: PodDisruptionBudget | undefined, after: PodDisruptionBudget | undefined) {
  const name = (after ?? before)?.metadata.name
  if (after === undefined) return `${name} disappeared`
  if (before !== undefined && isRetired(after) && !isRetired(before)) return `${name} selects nothing any more`
  if (before === undefined) return `${name} appeared (${budgetText(after)})`
  return budgetText(before) === budgetText(after) ? undefined : `${name} changed (${budgetText(after)})`
}

export function budgetText({ spec }: PodDisruptionBudget): string {
  const { minAvailable, maxUnavailable, selector } = spec
  const bound = minAvailable === undefined ? `maxUnavailable ${maxUnavailable}` : `minAvailable ${minAvailable}`
  const without = selector?.matchExpressions?.find(({ operator }) => operator === 'NotIn')
  return without === undefined
    ? bound
    : `${bound}, without ${without.key === 'osd' ? 'osd ' : ''}${without.values?.join(', ')}`
}

function podLine(before: Pod | undefined, after: Pod | undefined): string | undefined {
  const pod = after ?? before
  if (pod?.metadata.labels?.['app'] !== 'rook-ceph-osd') return undefined
  const name = daemonName(pod)
  if (after === undefined) return `${name} has left ${before?.spec.nodeName ?? 'before it had a node'}`
  const isLeaving = after.metadata.deletionTimestamp !== undefined
  if (isLeaving) return before?.metadata.deletionTimestamp === undefined ? `${name} is told to go` : undefined
  if (isReady(after) === (before !== undefined && isReady(before))) return undefined
  return isReady(after) ? `${name} is ready on ${after.spec.nodeName}` : `${name} is no longer ready`
}

function nodeLine(before: Node, after: Node): string | undefined {
  const was = before.spec?.unschedulable === true
  const is = after.spec?.unschedulable === true
  return was === is ? undefined : `${after.metadata.name} is ${is ? 'cordoned' : 'open again'}`
}
