import type { Node, Pod, Taint } from '@cofferdam/kubernetes/api/core.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, deleteExactly, openTools, writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import { isTerminating } from '../pod-facts.ts'
import { indexByNode } from '../workloads/owned-pods.ts'
import { tolerates } from './scheduling-rules.ts'

interface Marked {
  readonly uid: string
  /** When the pod was first seen under taints that push it out. */
  readonly since: number
}

/** Deletes pods from nodes whose NoExecute taints they do not, or no longer, tolerate. Budgets are not asked. */
export function startTaintEviction(ports: ActorPorts): Actor {
  const tools = openTools('taint-eviction-controller', ports)
  const nodeView = tools.views.of(nodes)
  const podView = tools.views.of(pods)
  const podsOn = indexByNode(podView)
  const marked = new Map<string, Marked>()
  const queue = tools.queue({ needs: [nodeView, podView], work: reconcile })

  async function reconcile(key: string): Promise<void> {
    const pod = podView.get(key)
    const mark = marked.get(key)
    if (pod === undefined || isTerminating(pod) || pod.spec.nodeName === undefined) {
      marked.delete(key)
      return
    }
    const held = mark?.uid === pod.metadata.uid ? mark : undefined
    const seconds = toleratedSeconds(pod, noExecuteTaints(nodeView.get(pod.spec.nodeName)))
    if (seconds === undefined) {
      if (held !== undefined) cancel(key, pod)
      return
    }
    const since = held?.since ?? tools.clock.now()
    marked.set(key, { uid: pod.metadata.uid as string, since })
    const left = since + seconds * 1_000 - tools.clock.now()
    if (left > 0) queue.addAfter(key, left)
    else await evict(key, pod)
  }

  function cancel(key: string, pod: Pod): void {
    marked.delete(key)
    tools.recorder.record(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${key}`)
  }

  async function evict(key: string, pod: Pod): Promise<void> {
    tools.recorder.record(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${key}`)
    const conditions = withCondition(pod.status?.conditions, {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: timestamp(tools.clock),
    })
    const last = await writeStatus(tools, pods, pod, { ...pod.status, conditions })
    await deleteExactly(tools, pods, last)
    marked.delete(key)
  }

  tools.onStop(
    nodeView.subscribe(({ key, before, after }) => {
      if (noExecuteTaints(before).length === 0 && noExecuteTaints(after).length === 0) return
      for (const pod of podsOn(key)) queue.add(keyText(keyOf(pod)))
    }),
  )
  tools.onStop(
    podView.subscribe(({ key, after }) => {
      const node = after?.spec.nodeName
      if (marked.has(key) || (node !== undefined && noExecuteTaints(nodeView.get(node)).length > 0)) queue.add(key)
    }),
  )
  return { stop: tools.stop }
}

const none: readonly Taint[] = []

function noExecuteTaints(node: Node | undefined): readonly Taint[] {
  const taints = node?.spec?.taints
  return taints === undefined ? none : taints.filter(({ effect }) => effect === 'NoExecute')
}

/** How long the pod may stay under these taints; undefined: for ever. */
export function toleratedSeconds(pod: Pod, taints: readonly Taint[]): number | undefined {
  let shortest: number | undefined
  for (const taint of taints) {
    const fitting = (pod.spec.tolerations ?? []).filter((toleration) => tolerates(toleration, taint))
    if (fitting.length === 0) return 0
    for (const { tolerationSeconds } of fitting) {
      if (tolerationSeconds === undefined) continue
      shortest = Math.min(shortest ?? Number.POSITIVE_INFINITY, Math.max(0, tolerationSeconds))
    }
  }
  return shortest
}
