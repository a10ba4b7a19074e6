import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import type { StorageObserver } from '../../../ledger/store/storage-observer.ts'
import { isCordoned } from '../../../shared/closed-node.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { AboutStorage } from '../../../shared/storage-facts.ts'
import type { KeyFacts } from '../domain/orphans.ts'

export const observeKeysPermissions: readonly Permission[] = [
  { group: '', resource: 'nodes', verbs: ['get'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['get'] },
]

export interface ObserveKeysPorts extends StorageObserver {
  readonly api: Pick<KubeApi, 'get'>
}

/** What is behind the keys now, read fresh: a copy from before the node went down would say that all is well. */
export async function observeKeys(
  ports: ObserveKeysPorts,
  entries: readonly LedgerEntry[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, KeyFacts>> {
  const facts = new Map<string, KeyFacts>()
  for (const key of new Set(entries.map((entry) => entry.key))) {
    const scopes = new Set(entries.filter((entry) => entry.key === key).map(({ scope }) => scope))
    const seen = await observeKey(ports, { key, scopes: [...scopes] }, signal)
    if (seen !== undefined) facts.set(key, seen)
  }
  return facts
}

async function observeKey(
  ports: ObserveKeysPorts,
  held: Extract<AboutStorage, { readonly key: string }>,
  signal: AbortSignal,
): Promise<KeyFacts | undefined> {
  const { key } = held
  const [kind, first = '', second = ''] = key.split('/')
  switch (kind) {
    case 'node':
      return { kind, node: nodeFacts(await getOrNone(ports.api, nodes, { name: first }, signal)) }
    case 'pdb': {
      const budget = await getOrNone(ports.api, podDisruptionBudgets, { namespace: first, name: second }, signal)
      return { kind: 'budget', budget: budgetFacts(budget) }
    }
    case 'storage':
      return { kind, storage: (await ports.observeStorage(held, signal)).find((each) => each.key === key) }
    default:
      return undefined
  }
}

async function getOrNone<T extends KubeObject>(
  api: Pick<KubeApi, 'get'>,
  type: ResourceType<T>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await api.get(type, key, { signal })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

function nodeFacts(node: Node | undefined): Extract<KeyFacts, { kind: 'node' }>['node'] {
  if (node === undefined) return undefined
  return {
    uid: node.metadata.uid ?? '',
    bootID: node.status?.nodeInfo?.bootID ?? '',
    isReady: conditionOf(node, 'Ready')?.status === 'True',
    // As for a living request: what is opened again is the cordon, and no taint.
    isCordoned: isCordoned(node),
  }
}

function budgetFacts(budget: PodDisruptionBudget | undefined): Extract<KeyFacts, { kind: 'budget' }>['budget'] {
  if (budget === undefined) return undefined
  const { metadata, status } = budget
  return {
    uid: metadata.uid ?? '',
    isCounted: status !== undefined && (status.observedGeneration ?? 0) >= (metadata.generation ?? 0),
    currentHealthy: status?.currentHealthy ?? 0,
    desiredHealthy: status?.desiredHealthy ?? 0,
  }
}
