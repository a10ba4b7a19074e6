import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { madeForLabel } from '@cofferdam/product/shared/made-for.ts'
import { isRequestOver } from '@cofferdam/product/shared/tool-request.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'

/** The requests that were made for a tool, by node; of several the one that is not over. */
export function requestsOf(views: Views, tool: string): ReadonlyMap<string, NodeDisruption> {
  const found = [...views.of(nodeDisruptions).values()].filter(
    ({ metadata }) => metadata.labels?.[madeForLabel] === tool,
  )
  return new Map(
    [...found.filter(isRequestOver), ...found.filter((each) => !isRequestOver(each))].map((each) => [
      each.spec.nodeName,
      each,
    ]),
  )
}

/** Nodes that a tool still has a request for that is not over. */
export function standingFor(views: Views, tool: string): string[] {
  return [...requestsOf(views, tool)].flatMap(([node, request]) => (isRequestOver(request) ? [] : [node])).sort()
}
