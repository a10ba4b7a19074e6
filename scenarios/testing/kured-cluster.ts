import type { DaemonSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { daemonSets, namespaces, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { buildPartAccess } from '@cofferdam/product/deploy/access-manifests.ts'
import { permissionsOf } from '@cofferdam/product/operator/controller-names.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { madeForLabel } from '@cofferdam/product/shared/made-for.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import type { Kubelet } from '@cofferdam/simulator/world/nodes/kubelet.ts'
import {
  buildKuredDaemonSet,
  type KuredOptions,
  kuredInProgressAnnotation,
  type SimulatedKured,
  startKured,
} from '@cofferdam/simulator/world/tools/kured.ts'
import { kuredLockAnnotation } from '@cofferdam/simulator/world/tools/kured-lock.ts'

const key = { namespace: 'kube-system', name: 'kured' }
const optIn = 'cofferdam.io/manage-lock'

interface KuredClusterPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly views: Views
  readonly kubelet: Pick<Kubelet, 'reboot' | 'isOn'>
}

export interface KuredCluster extends SimulatedKured {
  optIn(isIn: boolean): Promise<void>
  /** Holders of the lock, in their order. */
  holders(): string[]
  setLock(text: string): Promise<void>
  lockText(): string | undefined
  /** Annotations of the DaemonSet that Cofferdam left there, the opt-in aside. */
  traces(): string[]
  requests(): NodeDisruption[]
  /** `node-1 Drained`, for the requests that are not over. */
  standing(): string[]
  isAnnotated(node: string): boolean
  unannotate(node: string): Promise<void>
  bootOf(node: string): string
}

/** kured on every node of a cluster, with the rights that its adapter needs. */
export async function installKured(ports: KuredClusterPorts, options: KuredOptions = {}): Promise<KuredCluster> {
  const { api, clock, views, kubelet } = ports
  const flags = { periodMs: 60_000, annotateNodes: true, ...options }
  const found = await api.get(namespaces, { name: key.namespace }).catch(() => undefined)
  if (found === undefined) {
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: key.namespace } })
  }
  for (const manifest of buildPartAccess('kured', permissionsOf) as readonly unknown[] as readonly KubeObject[]) {
    const plural = `${manifest.kind.toLowerCase()}s`
    const type = { group: 'rbac.authorization.k8s.io', version: 'v1', plural, kind: manifest.kind, namespaced: true }
    await api.create(type, manifest)
  }
  await api.create(daemonSets, buildKuredDaemonSet(flags))
  const kured = startKured({ api, clock, views, kubelet, random: seededRandom(7) }, flags)
  const annotations = (): Readonly<Record<string, string>> =>
    (views.of(daemonSets).get('kube-system/kured') as DaemonSet | undefined)?.metadata.annotations ?? {}
  const annotate = async (entries: Record<string, string | null>) => {
    await api.patch(daemonSets, key, { type: 'merge', body: { metadata: { annotations: entries } } })
  }
  // A view is filled some time after it is first asked for.
  const all = views.of(nodeDisruptions)
  const requests = () => [...all.values()].filter(({ metadata }) => metadata.labels?.[madeForLabel] === 'kured')
  return {
    ...kured,
    optIn: (isIn) => annotate({ [optIn]: isIn ? 'true' : null }),
    setLock: (text) => annotate({ [kuredLockAnnotation]: text }),
    lockText: () => annotations()[kuredLockAnnotation],
    holders() {
      const text = annotations()[kuredLockAnnotation]
      const value = JSON.parse(text ?? '{}') as { nodeID?: string; locks?: { nodeID: string }[] }
      return value.nodeID === undefined ? (value.locks ?? []).map(({ nodeID }) => nodeID) : [value.nodeID]
    },
    traces: () => Object.keys(annotations()).filter((name) => name.startsWith('cofferdam.io/') && name !== optIn),
    requests,
    standing: () =>
      requests()
        .filter(({ status }) => status?.phase !== 'Completed' && status?.phase !== 'Rejected')
        .map(({ spec, status }) => `${spec.nodeName} ${status?.phase ?? 'Pending'}`)
        .sort(),
    isAnnotated: (name) => views.of(nodes).get(name)?.metadata.annotations?.[kuredInProgressAnnotation] !== undefined,
    async unannotate(name) {
      const body = { metadata: { annotations: { [kuredInProgressAnnotation]: null } } }
      await api.patch(nodes, { name }, { type: 'merge', body })
    },
    bootOf: (name) => views.of(nodes).get(name)?.status?.nodeInfo?.bootID ?? '',
  }
}
