import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { madeForLabel } from '@cofferdam/product/shared/tool-request.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'

/** The requests that were made for a tool, by node; of several the one that is not over. */
export function requestsOf(views: Views, tool: string): ReadonlyMap<string, NodeDisruption> {
  const found = [...views.of(nodeDisruptions).values()].filter(
    ({ metadata }) => metadata.labels?.[madeForLabel] === tool,
  )
  const isOver = ({ status }: NodeDisruption) => status?.phase === 'Completed' || status?.phase === 'Rejected'
  return new Map(
    [...found.filter(isOver), ...found.filter((each) => !isOver(each))].map((each) => [each.spec.nodeName, each]),
  )
}
