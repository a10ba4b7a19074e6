import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { Performers } from '../interpreter.ts'
import type { DrainedNode, OnNode } from './domain/snapshot.ts'
import type { DrainStep, WriteConditions } from './domain/steps.ts'
import { listOnNode } from './observe.ts'

interface DrainPerformerPorts {
  readonly api: Pick<KubeApi, 'patch' | 'list'>
  readonly nodes: Pick<WatchView<DrainedNode>, 'whenSeen'>
  readonly events: EventRecorder<Reason>
  /** Puts an answer into the next snapshot of the pass. */
  learn(onNode: OnNode): void
  readonly signal: AbortSignal
}

const mostNamed = 5

export function drainPerformers({
  api,
  nodes: view,
  events,
  learn,
  signal,
}: DrainPerformerPorts): Performers<DrainStep> {
  return {
    async ask({ nodeName }) {
      learn(await listOnNode(api, nodeName, signal))
      return 'learned'
    },

    async write(step) {
      const version = await writeConditions(api, step, signal)
      if (version !== undefined) await view.whenSeen(version, signal)
      return 'done'
    },

    async report({ nodeName, pods }) {
      const more = pods.length > mostNamed ? ` and ${pods.length - mostNamed} more` : ''
      const note = `${nodeName} was deleted with pods on it that were not drained: ${pods.slice(0, mostNamed).join(', ')}${more}.`
      const about = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } }
      await events.record(about, { type: 'Warning', reason: 'NodeGoneWithPods', note })
      return 'done'
    },
  }
}

/** Returns the node's version; undefined when the node has gone meanwhile. */
async function writeConditions(
  api: Pick<KubeApi, 'patch'>,
  { nodeName: name, conditions }: WriteConditions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const body = { status: { conditions: conditions as unknown as readonly JsonObject[] } }
  try {
    const written = await api.patch(nodes, { name }, { type: 'strategic', body }, { subresource: 'status', signal })
    return written.metadata.resourceVersion
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}
