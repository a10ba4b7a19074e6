import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CordonedNode, UpdateRecord } from './snapshot.ts'

/** Nodes that are closed to new pods and carry OSDs, or had their turn because of that; in order of their names. */
export function cordonedNodes(given: {
  /** Pods of the OSDs of one cluster. */
  readonly pods: readonly Pod[]
  readonly record: Pick<UpdateRecord, 'turns'>
  readonly isClosed: (node: string) => boolean
}): CordonedNode[] {
  const { pods, record, isClosed } = given
  const remembered = [...(record.turns?.had ?? []), ...(record.turns?.open?.nodes ?? [])]
  const runsOsds = new Map(remembered.map((node) => [node, false]))
  for (const pod of pods) {
    const { nodeName } = pod.spec
    if (nodeName !== undefined && isRunning(pod)) runsOsds.set(nodeName, true)
  }
  return [...runsOsds]
    .filter(([node]) => isClosed(node))
    .map(([name, runs]) => ({ name, runsOsds: runs }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function isRunning({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Running'
}
