import type { OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'

/** Whatever serves clients of Ceph, by the objects that ask for it. */
export interface CephServices {
  readonly filesystems: readonly (Service & { readonly activeCount: number; readonly activeStandby: boolean })[]
  readonly objectStores: readonly (Service & { readonly instances: number })[]
  readonly rbdMirrors: readonly (Service & { readonly count: number })[]
  readonly nfs: readonly (Service & { readonly active: number })[]
  readonly nvmeof: readonly (Service & { readonly instances: number })[]
  readonly filesystemMirrors: readonly (Service & { readonly daemons: number })[]
}

interface Service {
  readonly name: string
  readonly uid: string
}

/** The budget of one service, before it is an object. */
interface ServiceBudget {
  readonly name: string
  readonly owner: OwnerReference
  readonly minAvailable: number
  readonly labels: Readonly<Record<string, string>>
  readonly unready: UnreadyPolicy
}

/** Whether a pod that is not ready may be evicted while the budget has nothing left to give. */
type UnreadyPolicy = NonNullable<PodDisruptionBudget['spec']['unhealthyPodEvictionPolicy']>

export const serviceOwnerKinds: readonly string[] = [
  'CephFilesystem',
  'CephObjectStore',
  'CephRBDMirror',
  'CephNFS',
  'CephNVMeOFGateway',
  'CephFilesystemMirror',
]

/**
 * Decides the budgets of MDS, RGW, rbd-mirror, NFS, nvmeof and cephfs-mirror: all but one must stay.
 *
 * Gateways and mirrors hold no state of their own: one that is not ready serves nobody and starts elsewhere, so it never holds up a
 * drain. An MDS that is not ready may be taking over a rank, which is then the whole filesystem.
 */
export function decideServiceBudgets(services: CephServices): ServiceBudget[] {
  return [
    ...services.filesystems.map((service) => ({
      name: `rook-ceph-mds-${service.name}`,
      owner: ownerOf('CephFilesystem', service),
      minAvailable: service.activeCount - 1 + (service.activeStandby ? 1 : 0),
      labels: { rook_file_system: service.name },
      unready: 'IfHealthyBudget' as const,
    })),
    ...services.objectStores.map((service) => ({
      name: `rook-ceph-rgw-${service.name}`,
      owner: ownerOf('CephObjectStore', service),
      minAvailable: service.instances - 1,
      labels: { rgw: service.name },
      unready: 'AlwaysAllow' as const,
    })),
    ...services.rbdMirrors.map((service) => ({
      name: `rook-ceph-rbd-mirror-${service.name}`,
      owner: ownerOf('CephRBDMirror', service),
      minAvailable: service.count - 1,
      labels: partOf('rook-ceph-rbd-mirror', service),
      unready: 'AlwaysAllow' as const,
    })),
    ...services.nfs.map((service) => ({
      name: `rook-ceph-nfs-${service.name}`,
      owner: ownerOf('CephNFS', service),
      minAvailable: service.active - 1,
      labels: { app: 'rook-ceph-nfs', ceph_nfs: service.name },
      unready: 'AlwaysAllow' as const,
    })),
    ...services.nvmeof.map((service) => ({
      name: `rook-ceph-nvmeof-${service.name}`,
      owner: ownerOf('CephNVMeOFGateway', service),
      minAvailable: service.instances - 1,
      labels: partOf('rook-ceph-nvmeof', service),
      unready: 'AlwaysAllow' as const,
    })),
    ...services.filesystemMirrors.map((service) => ({
      name: `rook-ceph-fs-mirror-${service.name}`,
      owner: ownerOf('CephFilesystemMirror', service),
      minAvailable: service.daemons - 1,
      labels: partOf('rook-ceph-fs-mirror', service),
      unready: 'AlwaysAllow' as const,
    })),
  ].filter(({ minAvailable }) => minAvailable >= 1)
}

/** Whether the API server has the field; undefined where it was not sent. Servers before 1.27 drop it without a word. */
export function isUnreadyPolicyStored(sent: PodDisruptionBudget, stored: PodDisruptionBudget): boolean | undefined {
  if (sent.spec.unhealthyPodEvictionPolicy === undefined) return undefined
  return stored.spec.unhealthyPodEvictionPolicy !== undefined
}

function partOf(app: string, { name }: Service): Readonly<Record<string, string>> {
  return { app, 'app.kubernetes.io/part-of': name }
}

function ownerOf(kind: string, { name, uid }: Service): OwnerReference {
  return { apiVersion: 'ceph.rook.io/v1', kind, name, uid }
}
