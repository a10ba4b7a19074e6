import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { type NodeOfHostname, pinnedHostname } from './node-hostnames.ts'
import { known, type Observed, unknown } from './observed.ts'

/** Where an OSD is when no pod of it says so. */
export interface OsdWhereabouts {
  readonly nodeOf: NodeOfHostname
  /** The node it last ran on, by `ceph osd metadata`. */
  readonly cephHostname?: string | undefined
}

export function isServing(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True'
}

/** Where the hostname names no single node, only Ceph knows where the OSD last ran. */
export function nodeNameOf(
  deployment: Deployment,
  pods: readonly Pod[],
  { nodeOf, cephHostname = '' }: OsdWhereabouts,
): Observed<string> {
  const placed = pods.filter(({ spec }) => spec.nodeName !== undefined).sort(byAge)
  const current = placed.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? placed[0]
  if (current?.spec.nodeName !== undefined) return known(current.spec.nodeName)
  const hostname = pinnedHostname(deployment)
  const pinned = hostname === undefined ? undefined : nodeOf(hostname)
  if (pinned?.known === true) return known(pinned.value.name)
  if (cephHostname !== '') return known(cephHostname)
  return pinned ?? unknown('no pod, no node selector, and Ceph never saw it run')
}

/** Newest first, then by name, so that the order of a list says nothing. */
function byAge(left: Pod, right: Pod): number {
  const [a, b] = [left, right].map(({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.name}`)
  return (a as string) < (b as string) ? 1 : -1
}
