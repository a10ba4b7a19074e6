import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import type { Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'

const namespace = 'rook-ceph'
const stateMap = { namespace, name: 'rook-ceph-pdbstatemap' }
const mostBytes = 262_144

export interface ConfigMapIntruder {
  /** Fills the annotations of the state map to the last byte. */
  fill(): Promise<void>
  /** Forbids every later change of its data. */
  makeImmutable(): Promise<void>
  /** Whether it can get at the budgets themselves; it must not. */
  mayDeleteBudget(): Promise<boolean>
}

/** Somebody who may get and update ConfigMaps in rook-ceph, and nothing else anywhere. */
export async function openIntruder({ server, api }: Pick<Scenario, 'server' | 'api'>): Promise<ConfigMapIntruder> {
  const name = 'intruder'
  const rbac = 'rbac.authorization.k8s.io'
  const access = [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { namespace, name },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'update'] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { namespace, name },
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', namespace, name }],
    },
  ] as unknown as readonly KubeObject[]
  for (const object of access) await api.create(typeOfObject(server.catalogue, object) as ResourceType, object)
  const own: KubeApi = server.as(serviceAccountUser(namespace, name))
  const change = async (changed: (map: ConfigMap) => ConfigMap) => {
    await own.update(configMaps, changed(await own.get(configMaps, stateMap)))
  }
  return {
    fill: () =>
      change((map) => {
        const key = 'evil.example/fill'
        const { [key]: _, ...others } = map.metadata.annotations ?? {}
        const used = Object.entries(others).reduce((sum, [name, value]) => sum + bytesOf(name) + bytesOf(value), 0)
        const value = 'x'.repeat(Math.max(0, mostBytes - used - bytesOf(key)))
        return { ...map, metadata: { ...map.metadata, annotations: { ...others, [key]: value } } }
      }),
    makeImmutable: () => change((map) => ({ ...map, immutable: true })),
    async mayDeleteBudget() {
      try {
        await own.delete(podDisruptionBudgets, { namespace, name: 'rook-ceph-osd' })
        return true
      } catch (error) {
        if (hasReason(error, 'Forbidden')) return false
        throw error
      }
    },
  }
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}
