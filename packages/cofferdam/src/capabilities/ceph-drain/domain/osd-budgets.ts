import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { LabelSelector, LabelSelectorRequirement } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { CephClusterView } from '../../../safety/ceph-cluster-view.ts'
import { sha256 } from '../../../shared/sha256.ts'
import { managedLabels } from './budget-mark.ts'
import type { OsdBudget, OsdSelector } from './snapshot.ts'

export const defaultBudgetName = 'rook-ceph-osd'
/** Holds single OSDs that the budgets of the failure domains cannot select. */
export const unplacedBudgetName = 'rook-ceph-osd-unplaced'

export type WantedBudget = Omit<OsdBudget, 'isOurs'>

export function asWanted({ name, maxUnavailable, selector }: OsdBudget): WantedBudget {
  return { name, maxUnavailable, selector }
}

export type BudgetStep =
  | { readonly action: 'apply'; readonly budget: WantedBudget }
  | { readonly action: 'delete'; readonly name: string }

/** Rook's name; where it would not fit into a label value, a digest takes the domain's place. */
export function domainBudgetName(type: string, domain: string): string {
  const name = `${defaultBudgetName}-${type}-${domain}`
  return name.length <= 63 ? name : `${defaultBudgetName}-${type}-${sha256(domain).slice(0, 32)}`
}

export function buildOsdBudget(
  cluster: Pick<CephClusterView, 'namespace' | 'name' | 'uid'>,
  budget: WantedBudget,
): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      name: budget.name,
      namespace: cluster.namespace,
      labels: managedLabels,
      // It need not hold up the deletion of the cluster: some servers refuse a budget that would, for want of a right on its owner.
      ownerReferences: [
        { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', name: cluster.name, uid: cluster.uid, controller: true },
      ],
    },
    spec: { maxUnavailable: budget.maxUnavailable, selector: buildSelector(budget.selector) },
  }
}

const isOsdPod: LabelSelectorRequirement = { key: 'app', operator: 'In', values: ['rook-ceph-osd'] }

function buildSelector(selector: OsdSelector): LabelSelector {
  switch (selector.covers) {
    case 'domain':
      return { matchLabels: { [`topology-location-${selector.type}`]: selector.domain } }
    case 'osds':
      return { matchExpressions: [isOsdPod, { key: 'osd', operator: 'In', values: selector.osds.map(String) }] }
    case 'all':
      if (selector.exceptOsds.length === 0) return { matchExpressions: [isOsdPod] }
      return {
        matchExpressions: [isOsdPod, { key: 'osd', operator: 'NotIn', values: selector.exceptOsds.map(String) }],
      }
    case 'other':
      throw new RangeError('cannot build a selector that Cofferdam does not write')
  }
}

/** Undefined for budgets that have nothing to do with OSDs of this cluster: another namespace, another name. */
export function parseOsdBudget(
  pdb: PodDisruptionBudget,
  cluster: Pick<CephClusterView, 'namespace' | 'uid'>,
): OsdBudget | undefined {
  const { name, namespace } = pdb.metadata
  if (namespace !== cluster.namespace) return undefined
  if (name !== defaultBudgetName && !name.startsWith(`${defaultBudgetName}-`)) return undefined
  const maxUnavailable = pdb.spec?.maxUnavailable
  const isPlain = typeof maxUnavailable === 'number' && pdb.spec.minAvailable === undefined
  return {
    name,
    maxUnavailable: typeof maxUnavailable === 'number' ? maxUnavailable : 0,
    selector: isPlain ? parseSelector(pdb.spec.selector) : { covers: 'other' },
    isOurs: isOwnedBy(pdb, cluster.uid),
  }
}

function isOwnedBy(object: KubeObject, uid: string): boolean {
  return (object.metadata.ownerReferences ?? []).some((owner) => owner.controller === true && owner.uid === uid)
}

const topologyKey = /^topology-location-(.+)$/

function parseSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): OsdSelector {
  const labels = Object.entries(matchLabels)
  const [[key, domain] = ['', '']] = labels
  const type = topologyKey.exec(key)?.[1]
  if (labels.length === 1 && matchExpressions.length === 0 && type !== undefined) {
    return { covers: 'domain', type, domain }
  }
  const isOfOsds = ({ key, operator, values }: LabelSelectorRequirement) =>
    key === 'app' && operator === 'In' && values?.join() === 'rook-ceph-osd'
  // Older Rooks say it with a label.
  const isByLabel = labels.length === 1 && key === 'app' && domain === 'rook-ceph-osd'
  const [osds, ...more] = isByLabel ? matchExpressions : matchExpressions.filter((each) => !isOfOsds(each))
  const isOnlyOsds = isByLabel || (labels.length === 0 && matchExpressions.filter(isOfOsds).length === 1)
  if (more.length > 0 || !isOnlyOsds) return { covers: 'other' }
  if (osds === undefined) return { covers: 'all', exceptOsds: [] }
  const ids = (osds.values ?? []).map(Number)
  if (osds.key !== 'osd' || ids.some((id) => !Number.isInteger(id) || id < 0)) return { covers: 'other' }
  if (osds.operator === 'NotIn') return { covers: 'all', exceptOsds: ids }
  return osds.operator === 'In' ? { covers: 'osds', osds: ids } : { covers: 'other' }
}

/**
 * Orders the writes that lead from the budgets there are to those there should be.
 *
 * Guarantees: after any number of steps every OSD is held at least as firmly as at the start or at the end, whichever is
 * weaker. New budgets come first, then changed ones, then deletions; a pod that two budgets select meanwhile cannot be
 * evicted at all.
 * Fails closed: a budget of somebody else under a name that we need is left alone, and then nothing of ours is deleted.
 */
export function planOsdBudgets(actual: readonly OsdBudget[], desired: readonly WantedBudget[]): BudgetStep[] {
  const existing = new Map(actual.map((budget) => [budget.name, budget]))
  const wanted = new Set(desired.map(({ name }) => name))
  const isObstructed = desired.some(({ name }) => existing.get(name)?.isOurs === false)
  const created = desired.filter(({ name }) => !existing.has(name)).sort(byName)
  const changed = desired.filter((budget) => {
    const before = existing.get(budget.name)
    return before?.isOurs === true && !isSameBudget(before, budget)
  })
  const blocks = changed.filter(({ selector }) => selector.covers === 'domain').sort(byName)
  const general = changed.filter(({ selector }) => selector.covers === 'all')
  const single = changed.filter(({ selector }) => selector.covers === 'osds')
  // An OSD can move between these two in either direction: hold both ends while it does.
  const widened = single.map((budget) => widen(budget, existing.get(budget.name)))
  const applied = isObstructed
    ? [...created, ...blocks, ...widened]
    : [...created, ...blocks, ...(general.length > 0 ? widened : []), ...general, ...single]
  const deleted = isObstructed ? [] : actual.filter(({ name, isOurs }) => isOurs && !wanted.has(name)).sort(byName)
  return [
    ...applied
      .filter((budget, index) => !applied.slice(0, index).some((earlier) => isSameBudget(earlier, budget)))
      .filter((budget) => !isSameBudget(existing.get(budget.name) ?? budget, budget) || !existing.has(budget.name))
      .map((budget) => ({ action: 'apply', budget }) as const),
    ...deleted.map(({ name }) => ({ action: 'delete', name }) as const),
  ]
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return left.name < right.name ? -1 : 1
}

function widen(budget: WantedBudget, before: OsdBudget | undefined): WantedBudget {
  if (budget.selector.covers !== 'osds' || before?.selector.covers !== 'osds') return budget
  const osds = [...new Set([...before.selector.osds, ...budget.selector.osds])].sort((a, b) => a - b)
  return { ...budget, selector: { covers: 'osds', osds } }
}

export function isSameBudget(left: WantedBudget, right: WantedBudget): boolean {
  return (
    left.name === right.name &&
    left.maxUnavailable === right.maxUnavailable &&
    selectorKey(left.selector) === selectorKey(right.selector)
  )
}

function selectorKey(selector: OsdSelector): string {
  switch (selector.covers) {
    case 'all':
      return `all but ${sorted(selector.exceptOsds)}`
    case 'domain':
      return `${selector.type} ${selector.domain}`
    case 'osds':
      return `only ${sorted(selector.osds)}`
    case 'other':
      return 'other'
  }
}

function sorted(ids: readonly number[]): string {
  return [...ids].sort((a, b) => a - b).join()
}
