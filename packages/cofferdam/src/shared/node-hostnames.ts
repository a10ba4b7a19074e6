import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { known, type Observed, unknown } from './observed.ts'

/** By this label Rook pins OSDs to their node. On many platforms its value is not the name of the node. */
export const hostnameLabel = 'kubernetes.io/hostname'

export interface HostnamedNode {
  readonly name: string
  readonly hostname: string
}

/** The node that carries a hostname; unknown where none or several do. */
export type NodeOfHostname<N = { readonly name: string }> = (hostname: string) => Observed<N>

export function hostnameOf({ metadata }: Pick<Node, 'metadata'>): string {
  return metadata.labels?.[hostnameLabel] ?? metadata.name
}

/** The hostname that a Deployment is pinned to. */
export function pinnedHostname({ spec }: Deployment): string | undefined {
  return spec?.template?.spec?.nodeSelector?.[hostnameLabel]
}

/** The hostnames that a Deployment can run on, by its node selector or what its node affinity requires; undefined where none limits it. */
export function possibleHostnames(deployment: Deployment): readonly string[] | undefined {
  const pinned = pinnedHostname(deployment)
  if (pinned !== undefined) return [pinned]
  const { nodeAffinity } = deployment.spec?.template?.spec?.affinity ?? {}
  const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const named = terms.map(({ matchExpressions = [] }) =>
    matchExpressions.find(({ key, operator }) => key === hostnameLabel && operator === 'In'),
  )
  if (named.length === 0 || named.includes(undefined)) return undefined
  return [...new Set(named.flatMap((term) => term?.values ?? []))]
}

/**
 * Which of the nodes with this hostname is meant.
 *
 * Fails closed: a hostname that no node carries, or more than one, names no node.
 */
export function soleNode<N extends { readonly name: string }>(hostname: string, carriers: readonly N[]): Observed<N> {
  const [node, other] = carriers
  if (node === undefined) return unknown(`no node has the label ${hostnameLabel}=${hostname}`)
  if (other === undefined) return known(node)
  const [first, second] = carriers.map(({ name }) => name).sort()
  const more = carriers.length > 2 ? ` and ${carriers.length - 2} more` : ''
  return unknown(`nodes ${first} and ${second}${more} have the same label ${hostnameLabel}=${hostname}`)
}

export function nodesByHostname<N extends HostnamedNode>(nodes: Iterable<N>): NodeOfHostname<N> {
  const carriers = new Map<string, N[]>()
  for (const node of nodes) {
    const others = carriers.get(node.hostname)
    if (others === undefined) carriers.set(node.hostname, [node])
    else others.push(node)
  }
  return (hostname) => soleNode(hostname, carriers.get(hostname) ?? [])
}
