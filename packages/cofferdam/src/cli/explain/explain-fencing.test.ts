import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { openshiftMachines } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { customResourceDefinitions, namespaces, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { openshiftMachineDefinitions } from '@cofferdam/simulator/cluster-file/machine-definitions.ts'
import { changedApi, openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStatusCommand } from '../status/status.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createExplainCommand } from './explain.ts'

let scenario: Scenario
beforeEach(() => {
  scenario = openScenario()
})
afterEach(() => scenario.stop())

const namespace = 'openshift-machine-api'

async function explain(object: string, api: KubeApi = scenario.api) {
  const { connect, links } = inProcess(api)
  const result = await runCommand(createExplainCommand({ connect, clock: scenario.clock }), 'explain', object)
  expect(links.closed).toBe(links.opened)
  return result
}

/** A node with a machine, on a cluster without Ceph and without an operator. */
async function openMachines(): Promise<void> {
  for (const definition of openshiftMachineDefinitions())
    await scenario.api.create(customResourceDefinitions, definition)
  await scenario.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const ready = { type: 'Ready', status: 'True' as const }
  const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: { conditions: [ready] } }
  await scenario.api.create(nodes, node)
  const machine = { apiVersion: 'machine.openshift.io/v1beta1', kind: 'Machine' }
  for (const name of ['m1', 'm2'])
    await scenario.api.create(openshiftMachines, { ...machine, metadata: { namespace, name } })
  const body = { status: { nodeRef: { name: 'n1' } } }
  await scenario.api.patch(
    openshiftMachines,
    { namespace, name: 'm1' },
    { type: 'merge', body },
    { subresource: 'status' },
  )
}

describe('explain, where there are Machines', () => {
  it('a machine without storage is free, and nothing is said of clusters that are not there', async () => {
    await openMachines()
    expect(await explain('node/n1')).toEqual({
      code: 0,
      err: '',
      out: [
        'node/n1  free: It holds nothing to evict.',
        '',
        '  state     Ready',
        `  fencing   machine ${namespace}/m1: may be fenced now: No OSD is on it, so storage does not hold it back. (MachineHasNoOsds)`,
        '',
      ].join('\n'),
    })
    expect(await explain(`machine/${namespace}/m2`)).toEqual({
      code: 0,
      err: '',
      out: [
        `machine/${namespace}/m2  free: It may be fenced now.`,
        '',
        '  node      none',
        `  fencing   machine ${namespace}/m2: may be fenced now: It has no node, so no OSD runs on it, and storage does not hold it back. (MachineHasNoOsds)`,
        '',
      ].join('\n'),
    })
    const { connect } = inProcess(scenario.api)
    const status = await runCommand(createStatusCommand({ connect, clock: scenario.clock }), 'status', '-o', 'wide')
    expect(status.out).not.toContain('Fencing')
  })

  it('whoever may not read machines is told so, once, and gets the rest of the answer', async () => {
    await openMachines()
    const api = changedApi(scenario.api, {
      list: (type, options) =>
        type.plural === 'machines'
          ? Promise.reject(new ApiError('Forbidden', `${type.plural}.${type.group} is forbidden`))
          : scenario.api.list(type, options),
    })
    const { code, out } = await explain('node/n1', api)
    expect(code).toBe(0)
    expect(out).toBe(
      [
        'node/n1  free: It holds nothing to evict.',
        '',
        '  state     Ready',
        '',
        'not seen: machines.machine.openshift.io: machines.machine.openshift.io is forbidden',
        '',
        'not seen: machines.cluster.x-k8s.io: machines.cluster.x-k8s.io is forbidden',
        '',
      ].join('\n'),
    )
  })

  it('the data of a machine has the documented fields and no others', async () => {
    await openMachines()
    const { connect } = inProcess(scenario.api)
    const command = createExplainCommand({ connect, clock: scenario.clock })
    const { out } = await runCommand(command, 'explain', `machine/${namespace}/m1`, '-o', 'json')
    expect(JSON.parse(out)).toEqual({
      kind: 'machine',
      object: `machine/${namespace}/m1`,
      mayGo: true,
      verdict: 'free',
      summary: 'It may be fenced now.',
      blockers: [],
      holds: [],
      nodeName: 'n1',
      fencing: {
        machine: `${namespace}/m1`,
        mayFence: true,
        reason: 'MachineHasNoOsds',
        explanation: 'No OSD is on it, so storage does not hold it back.',
        budgets: [],
        gates: [],
        remediators: [],
      },
      observedAt: '2026-01-01T00:00:00Z',
      notSeen: [],
    })
  })

  it('a machine that is not there is named, with the closest there is', async () => {
    await openMachines()
    expect(await explain(`machine/${namespace}/m-1`)).toEqual({
      code: 1,
      out: '',
      err: `error: there is no Machine ${namespace}/m-1\nhint: did you mean m1?\n`,
    })
  })

  it('where there are no Machines at all, that is the hint', async () => {
    expect(await explain('machine/default/m1')).toEqual({
      code: 1,
      out: '',
      err: 'error: there is no Machine default/m1\nhint: the API server knows no kind of Machine\n',
    })
  })
})
