import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { FencingDecision } from '../domain/decision.ts'
import type { MachineView } from '../domain/snapshot.ts'
import { createFencingMetrics } from './metrics.ts'

const status = { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 2, expectedMachines: 3, disrupted: [] }
const budget = { namespace: 'm', name: 'b', labelKey: 'k', maxUnavailable: 1, status } as const
const cluster = { namespace: 'rook-ceph', name: 'rook-ceph', uid: 'u1' }
const fence = { cluster, node: 'n1', machine: 'm1', scope: '', bootID: '', sinceMs: 0 }
const answer = { machine: undefined, explanation: '', wayOut: '' }
const decision: FencingDecision = {
  clusters: [{ ...cluster, budget, reason: 'FenceAllowed', explanation: '' }],
  labels: [],
  gates: [],
  nodes: [
    { node: 'n1', mayFence: false, reason: 'FenceInTurn', ...answer },
    { node: 'n2', mayFence: false, reason: 'FenceWaitsForData', ...answer },
  ],
  orphanBudgets: [],
  fences: [
    { ...fence, isOver: false },
    { ...fence, machine: 'm2', isOver: true },
  ],
  outages: [],
  outageNotes: [],
  problems: [{ object: 'x', problem: 'y' }],
  recheckAfterSeconds: 60,
}
const node = (name: string, isReady: boolean) => ({ name, isReady, notReadySinceMs: undefined, bootID: '' })

const machine = (name: string, labelsOfOurs: string[]): MachineView => ({
  api: 'openshift',
  namespace: 'm',
  name,
  nodeName: undefined,
  isBeingDeleted: false,
  labels: {},
  labelsOfOurs,
  isHookedByUs: false,
  skip: undefined,
})

it('tells what is allowed, under way and held, and forgets clusters that are gone', async () => {
  const registry = new Registry()
  const metrics = createFencingMetrics(registry)
  const figures = async () =>
    Object.fromEntries(
      (await registry.getMetricsAsJSON()).map(({ name, values }) => [name, values.map(({ value }) => value)]),
    )
  const nodes = [node('n1', false), node('n2', true)]
  metrics.show(decision, { nodes, machines: [machine('m1', ['a']), machine('m2', ['a'])] })
  metrics.show(decision, { nodes, machines: [machine('m1', ['a', 'b', 'c']), machine('m3', [])] })
  expect(await figures()).toEqual({
    cofferdam_fencing_allowed: [1],
    cofferdam_fencing_fences_under_way: [1],
    cofferdam_fencing_sick_nodes_held: [1],
    cofferdam_fencing_planned_nodes: [0],
    cofferdam_fencing_problems: [1],
    cofferdam_fencing_label_changes_total: [2, 1],
  })
  metrics.show({ ...decision, clusters: [], fences: [], nodes: [], problems: [] }, { nodes: [], machines: [] })
  expect(await figures()).toMatchObject({
    cofferdam_fencing_allowed: [],
    cofferdam_fencing_sick_nodes_held: [0],
  })
})
