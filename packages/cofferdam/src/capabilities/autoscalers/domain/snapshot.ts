import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { ClaimView } from './parse-claim.ts'
import { keptAnnotation, type MarkAnnotations, parseMarks } from './scale-down-marks.ts'

/** What must be seen of a node to decide whether autoscalers are to leave it alone. */
export interface KeepSnapshot {
  readonly node: MarkedNode
  /** Requests for this node, whatever their phase. */
  readonly requests: readonly NodeDisruption[]
  /** Undefined: Karpenter has no claim on it, or is not there. */
  readonly claim: ClaimView | undefined
}

export interface MarkedNode {
  readonly name: string
  readonly uid: string
  readonly marks: MarkAnnotations
}

export function parseMarkedNode({ metadata }: Pick<Node, 'metadata'>): MarkedNode {
  const { name, uid = '', annotations } = metadata
  return { name, uid, marks: parseMarks(annotations) }
}

/** Whether everything is written that keeps autoscalers from the node, but for what another user has decided otherwise. */
export function isMarked({ metadata }: Pick<Node, 'metadata'>): boolean {
  return metadata.annotations?.[keptAnnotation] !== undefined
}
