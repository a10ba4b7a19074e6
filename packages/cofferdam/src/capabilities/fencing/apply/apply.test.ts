import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { expect, it } from 'vitest'
import { buildMachineBudget } from '../domain/budget-object.ts'
import type { WantedMachineBudget } from '../domain/decision.ts'
import { type FencingApplyPorts, type FencingMemory, fencingPerformers } from './apply.ts'
import { WrittenBudgets } from './written-budgets.ts'

it('a budget that is to be opened is announced first and allows nothing yet: a drain may have taken the storage meanwhile', async () => {
  const cluster = { namespace: 'rook-ceph', name: 'my-cluster', uid: 'uid-1' }
  const budget: WantedMachineBudget = {
    namespace: 'machines',
    name: 'my-cluster-rook-ceph',
    labelKey: 'fencegroup.rook.io/my-cluster',
    maxUnavailable: 1,
    status: { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedMachines: 3, disrupted: [] },
  }
  const closed = { ...budget, maxUnavailable: 0 as const, status: { ...budget.status, disruptionsAllowed: 0 } }
  const seen: MachineDisruptionBudget = buildMachineBudget(closed, cluster)
  const written: unknown[] = []
  const writes = {
    budget: () => seen,
    updateBudget: async ({ spec }: MachineDisruptionBudget) => written.push(['spec', spec?.maxUnavailable]),
    updateBudgetStatus: async (_seen: unknown, status: NonNullable<MachineDisruptionBudget['status']>) =>
      written.push(['status', status.disruptionsAllowed]),
  }
  const ports = { writes, written: new WrittenBudgets() } as unknown as FencingApplyPorts
  const memory: FencingMemory = { unlabelled: new Set(), unheld: [] }
  const performers = fencingPerformers(ports, memory, new AbortController().signal)
  const wanted = { cluster, budget, fences: [] }
  await performers.write({ do: 'write', what: 'announce-budget', wanted, meanwhile: closed })
  expect(written).toEqual([
    ['status', 0],
    ['spec', 1],
  ])
})
