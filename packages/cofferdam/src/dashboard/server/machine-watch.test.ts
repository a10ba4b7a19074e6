import { type Machine, openshiftMachines } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { customResourceDefinitions, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { openshiftMachineDefinitions } from '@cofferdam/simulator/cluster-file/machine-definitions.ts'
import { openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MachineBudgetView, MachineView } from '../../capabilities/fencing/domain/snapshot.ts'
import type { NodeView } from './cluster-view.ts'
import { viewCluster } from './cluster-view-model.ts'
import { buildMachineNotes, type MachineNote, machineText } from './machine-note.ts'
import { createMachineWatch } from './machine-watch.ts'
import type { SettledWatch } from './settled-watch.ts'

const key = 'fencegroup.rook.io/rook-ceph'
const view = (name: string, more: Partial<MachineView> = {}): MachineView => ({
  api: 'openshift',
  namespace: 'machines',
  name,
  nodeName: `node-${name}`,
  isBeingDeleted: false,
  labels: {},
  labelsOfOurs: [],
  isHookedByUs: false,
  skip: undefined,
  ...more,
})
const budget = (disruptionsAllowed: number, more: Partial<MachineBudgetView> = {}): MachineBudgetView => ({
  namespace: 'machines',
  name: 'rook-ceph-rook-ceph',
  uid: '',
  generation: 1,
  isOurs: true,
  maxUnavailable: disruptionsAllowed,
  labelKey: key,
  disrupted: new Map(),
  fences: new Map(),
  isRecordReadable: true,
  status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 3, desiredHealthy: 2, expectedMachines: 3 },
  ...more,
})

describe('the line about a machine on the card of its node', () => {
  const labels = { [key]: 'true' }
  const cases: Record<string, { machine: MachineView; budgets: MachineBudgetView[]; isReady?: boolean; then: string }> =
    {
      'names it while all is well': { machine: view('m', { labels }), budgets: [budget(1)], then: 'machine m' },
      'says that none may go, while storage cannot spare it': {
        machine: view('m', { labels }),
        budgets: [budget(0)],
        then: 'machine m, not to be fenced now',
      },
      'says that a sick one is kept': {
        machine: view('m', { labels }),
        budgets: [budget(0)],
        isReady: false,
        then: 'machine m is kept from being fenced',
      },
      'says that a sick one without OSDs may go, whatever the budget': {
        machine: view('m'),
        budgets: [budget(0)],
        isReady: false,
        then: 'machine m may be fenced',
      },
      'says that one was let through': {
        machine: view('m', { labels }),
        budgets: [budget(0, { disrupted: new Map([['m', 0]]) })],
        isReady: false,
        then: 'machine m is being fenced',
      },
      'says that one is on its way out': {
        machine: view('m', { isBeingDeleted: true }),
        budgets: [],
        then: 'machine m is being removed',
      },
    }
  it.each(Object.entries(cases))('%s', (_, { machine, budgets, isReady = true, then }) => {
    const [card] = buildMachineNotes([machine], budgets).values()
    expect(machineText(card as MachineNote, isReady)).toBe(then)
  })

  it('stands on its own node, and on no other', () => {
    const node = (id: string): NodeView => ({ id, zone: 'a', roles: [], readiness: 'ready', isCordoned: false })
    const machines = [...buildMachineNotes([view('m')], []).values()]
    const nodes = [node('node-m'), node('other')]
    const { zones } = viewCluster({
      nodes,
      pods: [],
      budgets: [],
      drains: [],
      ledgers: [],
      longhorn: [],
      machines,
      events: [],
    })
    expect(zones[0]?.nodes.map(({ machine }) => machine)).toEqual(['machine m', undefined])
  })
})

describe('following machines', () => {
  let scenario: Scenario
  let watch: SettledWatch<MachineNote>
  beforeEach(() => {
    scenario = openScenario()
    watch = createMachineWatch(scenario)
  })
  afterEach(async () => {
    await watch.stop()
    scenario.stop()
  })

  it('is done at once where there are none, and tells of those that come, change and go', async () => {
    await scenario.seconds(1)
    expect([watch.synced, [...watch.list()]]).toEqual([true, []])
    const told: string[] = []
    watch.subscribe((change) => told.push(`${change.type} ${change.key}`))
    for (const definition of openshiftMachineDefinitions())
      await scenario.api.create(customResourceDefinitions, definition)
    await scenario.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'machines' } })
    const machine: Machine = {
      apiVersion: 'machine.openshift.io/v1beta1',
      kind: 'Machine',
      metadata: { namespace: 'machines', name: 'm1' },
    }
    await scenario.api.create(openshiftMachines, machine)
    await scenario.seconds(60)
    const id = 'openshift/machines/m1'
    expect([...watch.list()]).toEqual([{ id, name: 'm1', state: 'free' }])
    await scenario.api.patch(
      openshiftMachines,
      { namespace: 'machines', name: 'm1' },
      { type: 'merge', body: { status: { nodeRef: { name: 'n1' } } } },
      { subresource: 'status' },
    )
    await scenario.seconds(2)
    await scenario.api.delete(openshiftMachines, { namespace: 'machines', name: 'm1' })
    await scenario.seconds(2)
    expect(told).toEqual([`added ${id}`, `changed ${id}`, `removed ${id}`])
  })
})
