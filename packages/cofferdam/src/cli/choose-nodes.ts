import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { parseLabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Command } from 'commander'
import { findObject } from './explain/find-object.ts'

export interface NodeFlags {
  readonly selector?: string
  readonly all?: boolean
}

export interface ChosenNodes {
  /** Each once, in the order of the command line or of their names. */
  readonly nodes: readonly Node[]
  /** Whether exactly one was named, so that the answer is about one. */
  readonly isOne: boolean
}

export function addNodeFlags(command: Command, task: string): Command {
  return command
    .argument('[nodes...]', `the nodes to ${task}, as NAME or node/NAME`)
    .option('-l, --selector <selector>', 'all nodes with these labels: zone=a, role in (web,db), !gpu')
    .option('--all', 'all nodes of the cluster')
}

/** What the command line asks for, before any cluster is read. */
export function parseNodeNames(args: readonly string[], { selector, all }: NodeFlags): readonly string[] {
  const ways = [args.length > 0, selector !== undefined, all === true].filter(Boolean).length
  if (ways === 0) throw new CofferdamError('USAGE', 'no node is named: give node names, -l SELECTOR or --all')
  if (ways > 1) throw new CofferdamError('USAGE', 'give node names, -l SELECTOR or --all: only one of them')
  const names = args.map((arg) => arg.replace(/^(node|nodes|no)\//, ''))
  const wrong = names.find((name) => name === '' || name.includes('/'))
  if (wrong !== undefined) {
    throw new CofferdamError('USAGE', `"${wrong}" is not the name of a node`, { hint: 'write NAME or node/NAME' })
  }
  if (selector !== undefined) checkSelector(selector)
  return [...new Set(names)]
}

function checkSelector(selector: string): void {
  try {
    if (selector.trim() === '') throw new RangeError('it is empty; --all means all nodes')
    parseLabelSelector(selector)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new CofferdamError('USAGE', `-l ${selector} is not a label selector: ${error.message}`)
  }
}

/** @throws CofferdamError OBJECT_NOT_FOUND that names every node there is not */
export async function chooseNodes(
  names: readonly string[],
  { selector, all }: NodeFlags,
  place: { readonly api: Pick<KubeApi, 'get' | 'list'>; readonly signal: AbortSignal },
): Promise<ChosenNodes> {
  const { api, signal } = place
  const [only] = names
  if (only !== undefined && names.length === 1) {
    return { nodes: [await findObject(nodes, { name: only }, place)], isOne: true }
  }
  if (only !== undefined) return { nodes: await findNodes(names, place), isOne: false }
  const { items } = await api.list(nodes, selector === undefined ? { signal } : { labelSelector: selector, signal })
  if (items.length === 0) {
    const which = all === true ? 'the cluster has no nodes' : `no node has the labels ${selector}`
    throw new CofferdamError('OBJECT_NOT_FOUND', which, {
      hint: 'kubectl get nodes --show-labels shows those there are',
    })
  }
  return { nodes: items, isOne: false }
}

async function findNodes(
  names: readonly string[],
  place: { readonly api: Pick<KubeApi, 'get' | 'list'>; readonly signal: AbortSignal },
): Promise<readonly Node[]> {
  const found = await Promise.all(names.map((name) => getOrNothing(name, place)))
  const missing = names.filter((_, index) => found[index] === undefined)
  const [first] = missing
  if (first === undefined) return found.flatMap((node) => node ?? [])
  // Says which name may have been meant.
  if (missing.length === 1) await findObject(nodes, { name: first }, place)
  throw new CofferdamError('OBJECT_NOT_FOUND', `there are no Nodes ${missing.join(', ')}`, {
    hint: 'nothing was changed; kubectl get nodes shows those there are',
  })
}

async function getOrNothing(
  name: string,
  { api, signal }: { readonly api: Pick<KubeApi, 'get'>; readonly signal: AbortSignal },
): Promise<Node | undefined> {
  try {
    return await api.get(nodes, { name }, { signal })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}
