import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type DisruptionAnswer, explainDisruption } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { isCordoned } from '../../shared/closed-node.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import type { ClusterLink } from '../connect.ts'
import type { Terminal } from '../terminal.ts'
import { type Asker, endedRequests, requestNames, type UncordonResult } from './uncordon-result.ts'

export interface EndedDrains {
  /** Oldest first. */
  readonly requests: readonly NodeDisruption[]
  readonly asked: Pick<UncordonResult, 'stillAskedBy'>
}

export interface EndingPorts {
  readonly flags: { readonly force?: boolean; readonly wait: boolean }
  readonly link: Pick<ClusterLink, 'api'>
  readonly terminal: Pick<Terminal, 'note'>
  readonly signal: AbortSignal
}

/** Ends all requests for a node. Returns what is left to be waited for, or the answer where nothing is. */
export async function endDrains(
  node: Node,
  open: readonly NodeDisruption[],
  ports: EndingPorts,
): Promise<UncordonResult | EndedDrains> {
  const { flags, terminal } = ports
  const { name } = node.metadata
  const answers = open.map(explainDisruption)
  const foreign = isCordoned(node) ? answers.find(isUnderForeignCordon) : undefined
  if (foreign !== undefined && flags.force !== true) {
    return {
      node: name,
      outcome: 'foreign-cordon',
      explanation: `It was cordoned by ${foreign.cordonedBy} before nodedisruption/${foreign.request} drained it.`,
      disruption: foreign,
      wayOut: `--force uncordons it anyway; kubectl delete nodedisruption ${foreign.request} ends the request and leaves the cordon`,
    }
  }
  const asked = askersOf(answers)
  const requests: NodeDisruption[] = []
  // The youngest first: one that waits would begin when the one before it has ended.
  for (const disruption of open.toReversed()) requests.unshift(...(await cancelUnlessDrained(disruption, ports)))
  if (isCordoned(node) && (foreign !== undefined || answers.some(isDrained))) {
    await uncordonNode(node, ports)
    terminal.note(`node/${name} is uncordoned`)
  }
  if (!flags.wait) {
    const explanation = 'It is being released.'
    return { node: name, outcome: 'under-way', explanation, ...endedRequests(answers), ...asked }
  }
  const names = requestNames(requests.map(({ metadata }) => metadata.name))
  terminal.note(`waiting until nothing is held for ${name} by ${names}`)
  return { requests, asked }
}

function isUnderForeignCordon({ cordonedBy, request }: DisruptionAnswer): boolean {
  return cordonedBy !== undefined && cordonedBy !== `nodedisruption/${request}`
}

/** A cordon that is lifted earlier is set again: only for a node that is reported as drained does lifting it end the drain. */
function isDrained({ phase }: DisruptionAnswer): boolean {
  return phase === 'Drained' || phase === 'Recovering'
}

/** Whose requests these were. One that is deleted already was withdrawn with its tool's wish, and one that recovers has had its outage. */
function askersOf(answers: readonly DisruptionAnswer[]): Pick<UncordonResult, 'stillAskedBy'> {
  const askers = answers.flatMap((each): Asker[] => {
    if (each.askedBy === undefined || each.isCancelled || each.phase === 'Recovering') return []
    return [{ object: each.askedBy, isCreatedAgain: !isDrained(each) }]
  })
  return askers.length === 0 ? {} : { stillAskedBy: askers }
}

/** Returns the request as it is then; nothing where it is gone meanwhile. */
async function cancelUnlessDrained(
  disruption: NodeDisruption,
  { terminal, link, signal }: EndingPorts,
): Promise<readonly NodeDisruption[]> {
  const { name, uid } = disruption.metadata
  const answer = explainDisruption(disruption)
  if (isDrained(answer)) return [disruption]
  terminal.note(`nodedisruption/${name} is ${answer.phase}, and is cancelled`)
  const preconditions = uid === undefined ? {} : { preconditions: { uid } }
  try {
    return [await link.api.delete(nodeDisruptions, { name }, { ...preconditions, signal })]
  } catch (error) {
    if (hasReason(error, 'NotFound')) return []
    throw error
  }
}

export async function uncordonNode(
  { metadata: { name } }: Node,
  { link, signal }: Pick<EndingPorts, 'link' | 'signal'>,
): Promise<void> {
  const patch = { type: 'merge', body: { spec: { unschedulable: null } } } as const
  await link.api.patch(nodes, { name }, patch, { fieldManager: 'cofferdam', signal })
}
