import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { parseQuantity } from '@cofferdam/kubernetes/api/quantity.ts'
import { pinnedHostname } from '../../../shared/node-hostnames.ts'
import type { Resources } from './applied-settings.ts'
import { deviceSetOfClaim } from './osd-device-set.ts'

/** What the CephCluster says about the resources of one OSD. `undecided`: what it has stays, whoever put it there. */
export type WantedResources = Resources | 'undecided' | undefined

/**
 * The resources of an OSD by the spec, as Rook reads it. Those of its device set count as a whole, those of its storage node by
 * limits and requests, and both before `spec.resources.osd-<class>` and `spec.resources.osd`. From Rook 1.18.5 on
 * `osd-<class>` counts before all others: the label of the Deployment says which Rook wrote it.
 *
 * Fails closed: where its device set or its storage node cannot be told, nothing is wanted of it.
 */
export function wantedResources(deployment: Deployment, { spec }: CephCluster): WantedResources {
  const { labels = {} } = deployment.metadata
  const deviceClass = labels['device-class']
  const ofClass = deviceClass === undefined ? undefined : spec?.resources?.[`osd-${deviceClass}`]
  if (ofClass !== undefined && doesClassWin(labels['rook-version'])) return ofClass
  const common = ofClass ?? spec?.resources?.['osd']
  const { storageClassDeviceSets = [], nodes = [], useAllNodes } = spec?.storage ?? {}
  const claim = labels['ceph.rook.io/pvc']
  if (claim !== undefined) {
    const isAnyOwn = storageClassDeviceSets.some(({ resources }) => isGiven(resources))
    const set = deviceSetOfClaim(storageClassDeviceSets, labels)
    if (set === undefined) return isAnyOwn ? 'undecided' : common
    return isGiven(set.resources) ? set.resources : common
  }
  // Rook passes over named nodes where it is to take all of them.
  const named = useAllNodes === true ? [] : nodes
  const hostname = pinnedHostname(deployment)
  const node = named.find(({ name }) => name === hostname)
  if (node === undefined) return named.some(({ resources }) => isGiven(resources)) ? 'undecided' : common
  return isGiven(node.resources) ? completed(node.resources, common) : common
}

/** The API server writes quantities in its own way, so `1000m` comes back as `1`: that is no reason to restart an OSD. */
export function isSameAmount(wanted: Resources, had: Resources): boolean {
  return (['requests', 'limits'] as const).every((kind) => {
    const [a, b] = [wanted[kind] ?? {}, had[kind] ?? {}]
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => isSameQuantity(a[name], b[name]))
  })
}

function doesClassWin(rookVersion: string | undefined): boolean {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(rookVersion ?? '') ?? []
  if (major === undefined) return false
  const at = [Number(major), Number(minor), Number(patch)]
  const since = [1, 18, 5]
  const differing = at.findIndex((number, index) => number !== since[index])
  return differing < 0 || (at[differing] as number) > (since[differing] as number)
}

function isGiven(resources: Resources | undefined): resources is Resources {
  return hasEntries(resources?.limits) || hasEntries(resources?.requests)
}

function hasEntries(amounts: Resources['limits']): boolean {
  return Object.keys(amounts ?? {}).length > 0
}

function completed(own: Resources, common: Resources | undefined): Resources {
  const limits = hasEntries(own.limits) ? own.limits : common?.limits
  const requests = hasEntries(own.requests) ? own.requests : common?.requests
  return { ...own, ...(limits !== undefined && { limits }), ...(requests !== undefined && { requests }) }
}

function isSameQuantity(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return a === b
  try {
    return parseQuantity(String(a)) === parseQuantity(String(b))
  } catch {
    return false
  }
}
