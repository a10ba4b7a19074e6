import {
  clusterApiMachines,
  type Machine,
  machineDisruptionBudgets,
  olderClusterApiVersion,
  openshiftMachines,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { ApiServer } from '../api-server/api-server.ts'
import type { EmbeddedApi } from '../api-server/embedded-api.ts'
import { clusterAdmin } from '../api-server/user-info.ts'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { clusterApiDefinitions, machineDefinitions } from './machine-definitions.ts'

async function withKinds(definitions: readonly KubeObject[], scenario: (api: EmbeddedApi) => Promise<void>) {
  const server = new ApiServer({ clock: new VirtualClock(), random: seededRandom(1) })
  const api = server.as(clusterAdmin)
  server.start()
  try {
    for (const definition of definitions) await api.create(customResourceDefinitions, definition)
    await scenario(api)
  } finally {
    server.stop()
  }
}

function machine(more: Partial<Machine> = {}): Machine {
  return {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'Machine',
    metadata: { name: 'workers-1', namespace: 'default' },
    ...more,
  }
}

describe('the kinds of machines', () => {
  it('are all served, and a field that nobody here reads is kept', () =>
    withKinds(machineDefinitions(), async (api) => {
      const { items } = await api.list(customResourceDefinitions)
      expect(items.map(({ metadata }) => metadata.name)).toEqual([
        'machinedisruptionbudgets.healthchecking.openshift.io',
        'machinehealthchecks.cluster.x-k8s.io',
        'machinehealthchecks.machine.openshift.io',
        'machines.cluster.x-k8s.io',
        'machines.machine.openshift.io',
        'machinesets.cluster.x-k8s.io',
        'machinesets.machine.openshift.io',
        'nodehealthchecks.remediation.medik8s.io',
      ])
      const spec = { providerID: 'aws:///a/i-1', providerSpec: { value: { region: 'a' } } }
      expect(await api.create(openshiftMachines, machine({ spec }), { fieldValidation: 'Strict' })).toMatchObject({
        spec,
      })
      const hookless = { lifecycleHooks: { preTerminate: [{ name: 'no-owner' }] } } as unknown as NonNullable<
        Machine['spec']
      >
      await expect(
        api.create(openshiftMachines, machine({ metadata: { name: 'b', namespace: 'default' }, spec: hookless })),
      ).rejects.toMatchObject({ reason: 'Invalid' })
    }))

  it('of Cluster API are one object in both of its versions, or served in the older one only', async () => {
    const older = { ...clusterApiMachines, version: olderClusterApiVersion }
    const written = machine({ apiVersion: 'cluster.x-k8s.io/v1beta2', spec: { clusterName: 'prod' } })
    await withKinds(clusterApiDefinitions(), async (api) => {
      await api.create(clusterApiMachines, written)
      expect(await api.get(older, { namespace: 'default', name: 'workers-1' })).toMatchObject({
        apiVersion: 'cluster.x-k8s.io/v1beta1',
        spec: { clusterName: 'prod' },
      })
    })
    await withKinds(clusterApiDefinitions([olderClusterApiVersion]), async (api) => {
      await expect(api.list(clusterApiMachines)).rejects.toMatchObject({ code: 404 })
      expect((await api.list(older)).items).toEqual([])
    })
  })

  it('have budgets that take one limit, not two, and a status of their own', () =>
    withKinds(machineDefinitions(), async (api) => {
      const budget = {
        apiVersion: 'healthchecking.openshift.io/v1alpha1',
        kind: 'MachineDisruptionBudget',
        metadata: { name: 'rook-ceph', namespace: 'default' },
        spec: { maxUnavailable: 0, selector: { matchLabels: { a: 'b' } } },
      }
      const made = await api.create(machineDisruptionBudgets, budget, { fieldValidation: 'Strict' })
      const status = {
        observedGeneration: 1,
        disruptionsAllowed: 0,
        currentHealthy: 3,
        desiredHealthy: 3,
        expectedMachines: 3,
        disruptedMachines: { 'workers-1': '2026-01-01T00:00:00Z' },
      }
      expect(await api.update(machineDisruptionBudgets, { ...made, status }, { subresource: 'status' })).toMatchObject({
        metadata: { generation: 1 },
        status,
      })
      await expect(
        api.create(machineDisruptionBudgets, {
          ...budget,
          metadata: { name: 'both', namespace: 'default' },
          spec: { maxUnavailable: 0, minAvailable: 1 },
        }),
      ).rejects.toMatchObject({ reason: 'Invalid' })
    }))
})
