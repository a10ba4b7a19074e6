import type { Labels } from '@cofferdam/kubernetes/api/label-selector.ts'

/** What is needed of a pod to find its failure domains. */
export interface PlacedPod {
  readonly namespace: string
  readonly nodeName: string
  readonly labels: Labels
  readonly isLeaving: boolean
}

const osdApp = 'rook-ceph-osd'
/** They go after the OSDs beside them. */
const followingApps = ['rook-ceph-mon', 'rook-ceph-mgr']

/** Which failure domains of Ceph the eviction of this pod is about: its own, or those of the OSDs beside it; undefined: none. */
export function failureDomainsOf(
  pod: PlacedPod,
  podsOn: (nodeName: string) => readonly PlacedPod[],
): readonly string[] | undefined {
  const app = pod.labels['app'] ?? ''
  if (app !== osdApp && !followingApps.includes(app)) return undefined
  const isOsdBeside = ({ namespace, labels, isLeaving }: PlacedPod) =>
    namespace === pod.namespace && labels['app'] === osdApp && !isLeaving
  const osds = app === osdApp ? [pod] : podsOn(pod.nodeName).filter(isOsdBeside)
  return [...new Set(osds.flatMap(({ labels }) => placesOf(labels)))].sort()
}

function placesOf(labels: Labels): string[] {
  return Object.entries(labels).flatMap(([key, value]) => (key.startsWith('topology-location-') ? [value] : []))
}
