import {
  type Machine,
  machineDisruptionBudgets,
  openshiftMachineNamespace,
  openshiftMachines,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { fenceLabelPrefix } from '@cofferdam/product/capabilities/fencing/domain/fence-labels.ts'
import { openshiftMachineDefinitions } from '@cofferdam/simulator/cluster-file/machine-definitions.ts'
import { createBudgetHealthCheck, type Remediator } from '@cofferdam/simulator/world/machines/budget-health-check.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Lab, openLab } from './lab.ts'

const hosts = ['node-a', 'node-b', 'node-c', 'node-d', 'node-e', 'node-f']
const machineOf = (node: string) => node.replace('node', 'machine')
const namespace = openshiftMachineNamespace

let lab: Lab
let remediator: Remediator | undefined
beforeAll(async () => {
  lab = await openLab('fencing')
  const items = [
    ...openshiftMachineDefinitions(),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  ]
  await lab.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '-f', '-')
  await lab.kubectl('wait', '--for=condition=Established', 'crd/machines.machine.openshift.io', '--timeout=30s')
  for (const node of hosts) {
    const machine: Machine = {
      apiVersion: apiVersionOf(openshiftMachines),
      kind: openshiftMachines.kind,
      metadata: { name: machineOf(node), namespace },
      spec: { providerID: `lab:///hall/${node}` },
    }
    const made = await lab.api.create(openshiftMachines, machine)
    const status = { phase: 'Running', nodeRef: { name: node } }
    await lab.api.update(openshiftMachines, { ...made, status }, { subresource: 'status' })
  }
  await lab.installOperator()
})
afterAll(async () => {
  remediator?.stop()
  await lab?.close()
})

const labelled = async () =>
  (await lab.api.list(openshiftMachines, { namespace })).items
    .filter(({ metadata }) => metadata.labels?.[`${fenceLabelPrefix}rook-ceph`] === 'true')
    .map(({ metadata }) => metadata.name)
const budget = async () => {
  const key = { namespace, name: 'rook-ceph-rook-ceph' }
  const { spec, status } = await lab.api.get(machineDisruptionBudgets, key)
  const taken = Object.keys(status?.disruptedMachines ?? {})
  return `${spec?.maxUnavailable} of ${status?.expectedMachines}, ${status?.disruptionsAllowed} allowed, taken: ${taken.join()}`
}
const isReady = async (node: string) =>
  conditionOf(await lab.api.get(nodes, { name: node }), 'Ready')?.status === 'True'
const all = hosts.map(machineOf)

it('labels and budget follow OSDs that stop and come back, and a health check that asks the budget reboots one node only', async () => {
  await lab.until('every machine with OSDs is labelled', async () => (await labelled()).join() === all.join())
  await lab.until('one machine may go', async () => (await budget()) === '1 of 6, 1 allowed, taken: ')

  lab.chapter('Both OSDs of node-a stop')
  const stopped = ['deployment/rook-ceph-osd-0', 'deployment/rook-ceph-osd-1']
  await lab.kubectl('-n', lab.namespace, 'scale', '--replicas=0', ...stopped)
  await lab.until('its machine loses the label', async () => !(await labelled()).includes('machine-a'))
  await lab.until('no machine may go', async () => (await budget()) === '0 of 5, 0 allowed, taken: ')
  await lab.kubectl('-n', lab.namespace, 'scale', '--replicas=1', ...stopped)
  await lab.until('all machines are labelled', async () => (await labelled()).join() === all.join())
  await lab.until('one machine may go again', async () => (await budget()) === '1 of 6, 1 allowed, taken: ', 90)
  expect((await lab.ceph.commands.run({ prefix: 'health', format: 'json' })).out).not.toContain('PG_DEGRADED')

  lab.chapter('The kubelets of node-b and node-c are not ready, and their OSDs run on')
  remediator = createBudgetHealthCheck(
    { api: lab.api, clock: realClock, powerCycle: reboot },
    { notReadySeconds: 4, retrySeconds: 3, remedy: 'reboot' },
  )
  const rebooted: string[] = []
  function reboot(node: string): void {
    rebooted.push(node)
    lab.machines.reboot(node, 4)
    lab.machines.setReady(node, true)
  }
  lab.machines.setReady('node-b', false)
  lab.machines.setReady('node-c', false)
  await lab.until('one of them is rebooted', () => rebooted.length > 0, 30)
  const [first = ''] = rebooted
  await lab.until('the budget says so', async () =>
    (await budget()).endsWith(` of 6, 0 allowed, taken: ${machineOf(first)}`),
  )
  await lab.until('it is back', () => isReady(first), 30)
  await lab.seconds(8)
  expect(rebooted).toEqual([first])
  expect(lab.oracle.violations).toEqual([])
}, 180_000)
