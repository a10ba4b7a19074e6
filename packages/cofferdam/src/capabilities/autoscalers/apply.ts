import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../../shared/reasons.ts'
import { changeNode, type NodeApi } from '../change-node.ts'
import type { Performers } from '../interpreter.ts'
import { changeMarks, parseMarks } from './domain/scale-down-marks.ts'
import type { MarkedNode } from './domain/snapshot.ts'
import type { KeepStep } from './domain/steps.ts'

interface KeepPerformerPorts {
  readonly api: NodeApi
  readonly nodes: Pick<WatchView<MarkedNode>, 'whenSeen'>
  readonly events: EventRecorder<Reason>
  readonly signal: AbortSignal
}

export function keepPerformers({ api, nodes, events, signal }: KeepPerformerPorts): Performers<KeepStep> {
  return {
    async write({ isKept, ...order }) {
      const written = await changeNode(
        api,
        order,
        ({ metadata }) => {
          const annotations = changeMarks(parseMarks(metadata.annotations), isKept)
          return Object.keys(annotations).length === 0 ? undefined : { annotations }
        },
        signal,
      )
      const version = written?.metadata.resourceVersion
      if (version !== undefined) await nodes.whenSeen(version, signal)
      return 'done'
    },

    async report({ nodeName, nodeUid, note }) {
      const about = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName, uid: nodeUid } }
      const standing = { slot: 'forced-end', about, type: 'Warning', reason: 'ForcedEndAhead' } as const
      await events.recordAll(nodeName, note === undefined ? [] : [{ ...standing, note }])
      return 'done'
    },
  }
}
