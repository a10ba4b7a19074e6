import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineDisruptionBudgets, openshiftMachines } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { startDemo } from '@cofferdam/product/cli/demo/start-demo.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { createLog } from '@cofferdam/product/operator/log.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { expect, it } from 'vitest'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { parseClusterFile } from './cluster-file.ts'

const small = `
pace: { readyAfterSeconds: 1 }
zones: [{ name: a }, { name: b }, { name: c }]
nodes: [{ name: 'w-{zone}' }]
ceph: { pools: [{ name: p, failureDomain: zone, pgs: 8 }] }
`

const styles: Record<string, { machines: string; then: string[] }> = {
  'a health check that asks the budget has the machine replaced': {
    machines: '{ healthCheck: { style: budget, after: 30 }, pace: { provisionSeconds: 15, terminateSeconds: 5 } }',
    then: ['demo-node-a-2', 'w-b', 'w-c'],
  },
  'a health check of Cluster API has the machine replaced, and the budget is where the machines are': {
    machines: '{ api: cluster-api, healthCheck: { after: 30 }, pace: { provisionSeconds: 15, terminateSeconds: 5 } }',
    then: ['demo-node-a-2', 'w-b', 'w-c'],
  },
  'a health check of nodes has it rebooted where there are no machines at all': {
    machines: '{ api: none, healthCheck: { style: node, after: 30 }, pace: { rebootSeconds: 20 } }',
    then: ['w-a', 'w-b', 'w-c'],
  },
  'a health check of nodes has it rebooted': {
    machines: '{ healthCheck: { style: node, after: 30 }, pace: { rebootSeconds: 20 } }',
    then: ['w-a', 'w-b', 'w-c'],
  },
}
it.each(Object.entries(styles))('%s', async (_, { machines, then }) => {
  const home = mkdtempSync(join(tmpdir(), 'cofferdam-machines-'))
  const clock = new VirtualClock()
  const demo = await startDemo({
    description: parseClusterFile(`${small}machines: ${machines}`, 'small.yaml'),
    clock,
    random: seededRandom(1),
    kubePort: 0,
    dashboardPort: undefined,
    pageDirectory: home,
    kubeconfigPath: join(home, 'kubeconfig'),
    log: createLog('silent'),
  })
  const { connect } = inProcess(demo.api)
  const boots = async () => (await demo.api.list(nodes)).items.map(({ status }) => status?.nodeInfo?.bootID)
  try {
    const readiness = demo.whenReady({ withinMs: 60_000, signal: new AbortController().signal })
    await clock.advance(61_000)
    expect((await readiness).waitingFor).toEqual([])
    const [before] = await boots()
    const off = { metadata: { annotations: { 'cofferdam.io/power': 'off' } } }
    await demo.api.patch(nodes, { name: 'w-a' }, { type: 'merge', body: off })
    await clock.advance(240_000)
    const { items } = await demo.api.list(nodes)
    expect(items.map(({ metadata }) => metadata.name)).toEqual(then)
    const [after] = await boots()
    expect(after).not.toBe(before)
    const told = await runCommand(createStatusCommand({ connect, clock }), 'status', '-o', 'wide')
    expect(told.out).toContain('\nFencing   rook-ceph/rook-ceph: one machine with running OSDs may go: ')
    expect(told.out).not.toContain('does not listen')
  } finally {
    const stopped = demo.stop()
    await clock.advance(1_000)
    await stopped
    rmSync(home, { recursive: true, force: true })
  }
})

it('a worker of the default cluster that is switched off is replaced in less than two minutes, and its storage with it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cofferdam-machines-'))
  const file = new URL('../../../../examples/clusters/default.yaml', import.meta.url)
  const clock = new VirtualClock()
  const demo = await startDemo({
    description: parseClusterFile(readFileSync(file, 'utf8'), 'default.yaml'),
    clock,
    random: seededRandom(1),
    kubePort: 0,
    dashboardPort: undefined,
    pageDirectory: home,
    kubeconfigPath: join(home, 'kubeconfig'),
    log: createLog('silent'),
  })
  const { connect } = inProcess(demo.api)
  const explain = (object: string) => runCommand(createExplainCommand({ connect, clock }), 'explain', object)
  const status = () => runCommand(createStatusCommand({ connect, clock }), 'status', '-o', 'wide')
  const allowance = async () =>
    (await demo.api.list(machineDisruptionBudgets)).items.map(({ status: counted }) => counted?.disruptionsAllowed)
  const machineOf = async (node: string) =>
    (await demo.api.list(openshiftMachines)).items.find(({ status: told }) => told?.nodeRef?.name === node)?.metadata
      .name
  try {
    await clock.advance(60_000)
    expect(await allowance()).toEqual([1])
    expect(await machineOf('worker-a1')).toBe('demo-worker-a-1')
    expect((await status()).out).toContain('\nFencing   rook-ceph/rook-ceph: one machine with running OSDs may go: ')
    expect(await explain('machine/openshift-machine-api/demo-worker-a-1')).toEqual({
      code: 0,
      err: '',
      out: [
        'machine/openshift-machine-api/demo-worker-a-1  free: It may be fenced now.',
        '',
        '  node      worker-a1',
        '  fencing   machine openshift-machine-api/demo-worker-a-1: may be fenced now: All placement groups are clean: one machine may be fenced. (FenceAllowed)',
        '            budget openshift-machine-api/rook-ceph-rook-ceph: lets one machine go, 6 of 6 machines healthy',
        '            managed by openshift-mhc/openshift-machine-api/all-machines',
        '',
      ].join('\n'),
    })

    const off = { metadata: { annotations: { 'cofferdam.io/power': 'off' } } }
    await demo.api.patch(nodes, { name: 'worker-a1' }, { type: 'merge', body: off })
    await clock.advance(60_000)
    expect(await allowance()).toEqual([0])
    const dead = await explain('node/worker-a1')
    expect(dead.out).toContain(
      'machine openshift-machine-api/demo-worker-a-1: may be fenced now: No OSD runs on it any more, so storage does not hold it back. (MachineHasNoOsds)\n',
    )
    expect((await explain('machine/openshift-machine-api/demo-worker-b-1')).code).toBe(3)
    expect((await explain('node/worker-b1')).out).toContain(
      'machine openshift-machine-api/demo-worker-b-1: may not be fenced now: Not all placement groups are clean. (FenceWaitsForData)\n            It opens when Ceph has recovered.\n',
    )

    await clock.advance(60_000)
    expect(await machineOf('worker-a1')).toBeUndefined()
    await clock.advance(60_000)
    expect(await allowance()).toEqual([1])
    expect((await demo.api.list(nodes)).items.map(({ metadata }) => metadata.name)).toContain('demo-worker-a-3')
    expect(await explain('machine/openshift-machine-api/demo-worker-a-l')).toEqual({
      code: 1,
      out: '',
      err: 'error: there is no Machine openshift-machine-api/demo-worker-a-l\nhint: did you mean demo-worker-a-2?\n',
    })
  } finally {
    const stopped = demo.stop()
    await clock.advance(1_000)
    await stopped
    rmSync(home, { recursive: true, force: true })
  }
})

it('without machines and without Ceph a node that is drained for a reboot keeps its power from the health check of nodes, and one that dies does not', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cofferdam-machines-'))
  const clock = new VirtualClock()
  const file = `
pace: { readyAfterSeconds: 1 }
zones: [{ name: a }]
nodes: [{ name: w-1 }, { name: w-2 }, { name: w-3 }, { name: w-4 }, { name: w-5 }]
machines: { api: none, healthCheck: { style: node, after: 30 }, pace: { rebootSeconds: 20 } }
`
  const demo = await startDemo({
    description: parseClusterFile(file, 'nodes.yaml'),
    clock,
    random: seededRandom(1),
    kubePort: 0,
    dashboardPort: undefined,
    pageDirectory: home,
    kubeconfigPath: join(home, 'kubeconfig'),
    log: createLog('silent'),
  })
  const { connect } = inProcess(demo.api)
  const isOff = async (name: string) => {
    const { metadata } = await demo.api.get(nodes, { name })
    return metadata.annotations?.['cofferdam.io/power'] === 'off'
  }
  const switchOff = async (name: string) => {
    const body = { metadata: { annotations: { 'cofferdam.io/power': 'off' } } }
    await demo.api.patch(nodes, { name }, { type: 'merge', body })
  }
  try {
    await clock.advance(30_000)
    await demo.api.create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: 'reboot-1' },
      spec: { nodeName: 'w-1', intent: 'Reboot', honourSkipDrain: true },
    })
    await clock.advance(60_000)
    await switchOff('w-1')
    await switchOff('w-2')
    await clock.advance(300_000)
    expect([await isOff('w-1'), await isOff('w-2')]).toEqual([true, false])
    const told = await runCommand(createStatusCommand({ connect, clock }), 'status', '-o', 'wide')
    expect(told.out).toMatch(/\nFencing +node w-1 is taken out for a reboot \(nodedisruption\/reboot-1\) and protected/)
    const explained = await runCommand(createExplainCommand({ connect, clock }), 'explain', 'node/w-1')
    expect(explained.out).toContain(
      'this node: may not be fenced now: nodedisruption/reboot-1 takes it out for a reboot',
    )
  } finally {
    const stopped = demo.stop()
    await clock.advance(1_000)
    await stopped
    rmSync(home, { recursive: true, force: true })
  }
})
