import { type NodeHealthCheck, nodeHealthChecks } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { nodeHealthCheckDefinition } from '@cofferdam/simulator/cluster-file/machine-definitions.ts'
import { createNodeHealthCheck } from '@cofferdam/simulator/world/machines/node-health-check.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Lab, openLab } from './lab.ts'

let lab: Lab
const endings: (() => void)[] = []
beforeAll(async () => {
  lab = await openLab('rolling')
  const definition = nodeHealthCheckDefinition()
  await lab.kubectlWith(JSON.stringify(definition), 'apply', '-f', '-')
  await lab.kubectl('wait', '--for=condition=Established', `crd/${definition.metadata.name}`, '--timeout=30s')
  await lab.installOperator()
})
afterAll(async () => {
  for (const end of endings) end()
  await lab?.close()
})

const phases = async () =>
  (await lab.api.list(nodeDisruptions)).items.map(({ spec, status }) => `${spec.nodeName} ${status?.phase}`).sort()
const nodesHeld = async () => {
  const { items } = await lab.api.list(disruptionLedgers)
  const keys = items.flatMap(({ status }) => status?.entries ?? []).map(({ key }) => key)
  return keys.filter((key) => key.startsWith('node/')).sort()
}
const isReady = async (name: string) => conditionOf(await lab.api.get(nodes, { name }), 'Ready')?.status === 'True'

it('one command drains three nodes of three racks, one at a time as the policy says, while an agent reboots each that may go', async () => {
  const policy = {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'DisruptionPolicy',
    metadata: { name: 'cluster' },
    spec: { limits: [{ name: 'all', maxNodes: 1 }] },
  }
  await lab.kubectlWith(JSON.stringify(policy), 'apply', '-f', '-')
  const planned = await lab.cofferdam('drain', 'node-a', 'node-b', '-o', 'json', '--dry-run=client').ended
  expect(planned.stdout).toContain('limit/all')

  const rebooted: string[] = []
  const agent = setInterval(() => void rebootWhatMayGo(), 500)
  endings.push(() => clearInterval(agent))
  let mostHeld = 0
  async function rebootWhatMayGo(): Promise<void> {
    mostHeld = Math.max(mostHeld, (await nodesHeld()).length)
    for (const { spec, status } of (await lab.api.list(nodeDisruptions)).items) {
      if (status?.phase !== 'Drained' || rebooted.includes(spec.nodeName)) continue
      rebooted.push(spec.nodeName)
      lab.machines.reboot(spec.nodeName, 3)
    }
  }
  const drain = lab.cofferdam('drain', 'node-a', 'node-b', 'node-c', '--reason', 'new kernel', '--timeout', '5m')
  expect((await drain.ended).code).toBe(0)
  await lab.until(
    'all three are over',
    async () => (await phases()).join() === 'node-a Completed,node-b Completed,node-c Completed',
    180,
  )
  clearInterval(agent)
  expect(rebooted.sort()).toEqual(['node-a', 'node-b', 'node-c'])
  expect(mostHeld).toBe(1)
  expect(drain.output()).toContain('limit/all')
  await lab.until('nothing is held', async () => (await nodesHeld()).length === 0)
  expect(lab.oracle.violations).toEqual([])
}, 420_000)

it('a node that is away for its reboot is not remediated, however long the health check has waited; one that dies is', async () => {
  const check: NodeHealthCheck = {
    apiVersion: apiVersionOf(nodeHealthChecks),
    kind: nodeHealthChecks.kind,
    metadata: { name: 'workers' },
    spec: {
      selector: {},
      maxUnhealthy: '50%',
      unhealthyConditions: (['False', 'Unknown'] as const).map((status) => ({ type: 'Ready', status, duration: '4s' })),
    },
  }
  await lab.api.create(nodeHealthChecks, check)
  const remediated: string[] = []
  const remediator = createNodeHealthCheck({
    api: lab.api,
    clock: realClock,
    powerCycle(node) {
      remediated.push(node)
      lab.machines.reboot(node, 3)
    },
  })
  endings.push(() => remediator.stop())
  expect((await lab.cofferdam('drain', 'node-d', '--reason', 'new memory').ended).code).toBe(0)
  lab.machines.powerOff('node-d')
  await lab.until('it is not Ready', async () => !(await isReady('node-d')), 90)
  await lab.until(
    'the health check is paused for it',
    async () => ((await lab.api.get(nodeHealthChecks, { name: 'workers' })).spec?.pauseRequests ?? []).length > 0,
  )
  await lab.seconds(20)
  expect(remediated).toEqual([])
  const explained = await lab.cofferdam('explain', 'node/node-d').ended
  expect(explained.stdout).toContain('uncordon node-d')
  lab.machines.powerOn('node-d')
  await lab.until('it is back', async () => (await phases()).includes('node-d Completed'), 120)
  await lab.until(
    'the health check goes on',
    async () => ((await lab.api.get(nodeHealthChecks, { name: 'workers' })).spec?.pauseRequests ?? []).length === 0,
    90,
  )

  lab.chapter('node-e dies')
  lab.machines.powerOff('node-e')
  await lab.until('it is remediated', () => remediated.includes('node-e'), 180)
  await lab.until('it is back', () => isReady('node-e'), 60)
  expect(remediated).toEqual(['node-e'])
}, 600_000)
