import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Performers } from '../interpreter.ts'
import type { DrainedNode, OnNode } from './domain/snapshot.ts'
import type { DrainStep, WriteConditions } from './domain/steps.ts'
import { listOnNode } from './observe.ts'

interface DrainPerformerPorts {
  readonly api: Pick<KubeApi, 'patch' | 'list'>
  readonly nodes: Pick<WatchView<DrainedNode>, 'whenSeen'>
  /** Puts an answer into the next snapshot of the pass. */
  learn(onNode: OnNode): void
  readonly signal: AbortSignal
}

export function drainPerformers({ api, nodes: view, learn, signal }: DrainPerformerPorts): Performers<DrainStep> {
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
