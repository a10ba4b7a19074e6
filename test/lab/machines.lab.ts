import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { deployments, leases, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import type { ContainerRuntime } from '@cofferdam/simulator/world/nodes/container-runtime.ts'
import { isReady, isTerminating } from '@cofferdam/simulator/world/pod-facts.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ControlPlane } from './control-plane/control-plane.ts'
import { runKubectl, startKubectl } from './control-plane/run-kubectl.ts'
import { startControlPlane } from './control-plane/start-control-plane.ts'
import { anyRuntime } from './machines/any-runtime.ts'
import { type OperatorRuntime, operatorRuntime } from './machines/operator-runtime.ts'
import { processContainer } from './machines/process-container.ts'
import { type Machines, startMachines } from './machines/start-machines.ts'
import { findKubernetes } from './parts/find-kubernetes.ts'
import { type Daemon, startDaemon } from './processes/daemon.ts'
import { type Journal, openJournal } from './processes/journal.ts'
import { openLabFolder } from './processes/lab-folder.ts'

const names = ['node-a', 'node-b', 'node-c']
const namespace = 'default'
const endings: (() => Promise<unknown>)[] = []
const processes = new Map<string, Daemon>()
let plane: ControlPlane
let machines: Machines
let operator: OperatorRuntime
let journal: Journal
const faults: string[] = []

beforeAll(async () => {
  const parts = await findKubernetes((line) => console.error(line))
  const folder = await openLabFolder('machines')
  endings.push(() => folder.remove())
  journal = openJournal(join(folder.logs, 'journal.log'))
  plane = await startControlPlane({ parts, folder, journal })
  endings.push(() => plane.close())
  const tell = (who: string, what: string) => {
    if (who === 'kubelet' || who === 'view') faults.push(`${who} ${what}`)
    journal.tell(who, what)
  }
  operator = operatorRuntime({ program: [process.execPath, 'bin/cofferdam.js'], folder, journal })
  machines = startMachines({
    api: plane.api,
    runtime: anyRuntime(commandRuntime(folder.logs), operator),
    journal: { ...journal, tell },
    register: names.map(buildNode),
    leaseRenewSeconds: 2,
    readySeconds: 0.2,
    terminationSeconds: 0.2,
  })
  endings.push(() => machines.stop())
})

afterAll(async () => {
  for (const end of endings.toReversed()) await end()
})

/** Behind pods whose container names a command, that command. */
function commandRuntime(logs: string): ContainerRuntime {
  return {
    start(pod) {
      const { command } = pod.spec.containers[0] as unknown as { command?: [string, ...string[]] }
      if (command === undefined) return undefined
      const { name } = pod.metadata
      return processContainer({
        prepare: async () => () => {
          const daemon = startDaemon({ name, command, logFile: join(logs, `${name}.log`), journal })
          processes.set(name, daemon)
          return daemon
        },
        ready: () => pause(100),
      })
    },
  }
}

function buildNode(name: string): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { 'kubernetes.io/hostname': name } } }
}

function buildDeployment(name: string, replicas: number, spec: object, container: object = {}): Deployment {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'main', image: 'registry.example/app:1', ...container }], ...spec },
      },
    },
  }
}

async function until(what: string, holds: () => Promise<boolean>, withinSeconds = 30): Promise<void> {
  const deadline = performance.now() + withinSeconds * 1_000
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinSeconds} s: ${what}`)
    await pause(50)
  }
  journal.tell('story', what)
}

async function podsOf(app: string): Promise<readonly Pod[]> {
  return (await plane.api.list(pods, { namespace, labelSelector: `app=${app}` })).items
}

async function readyPods(app: string): Promise<Pod[]> {
  return (await podsOf(app)).filter((pod) => isReady(pod) && !isTerminating(pod))
}

async function readiness(node: string): Promise<string | undefined> {
  const held = (await plane.api.list(nodes)).items.find(({ metadata }) => metadata.name === node)
  return held === undefined ? undefined : conditionOf(held, 'Ready')?.status
}

it('nodes that register become Ready and may take pods, and their leases are renewed', async () => {
  for (const name of names) {
    await until(`${name} is Ready`, async () => (await readiness(name)) === 'True')
    await until(`${name} takes pods`, async () => {
      const { spec } = await plane.api.get(nodes, { name })
      return (spec?.taints ?? []).length === 0
    })
  }
  const renewed = async () =>
    (await plane.api.get(leases, { namespace: 'kube-node-lease', name: 'node-a' }).catch(() => undefined))?.spec
      ?.renewTime ?? ''
  await until('node-a has a lease', async () => (await renewed()) !== '')
  const first = await renewed()
  await until('the lease of node-a is renewed', async () => (await renewed()) > first)
})

it('a Deployment of three becomes ready, and a pod that is deleted goes and is replaced', async () => {
  await plane.api.create(deployments, buildDeployment('web', 3, {}))
  await until('web is available', async () => {
    const { status } = await plane.api.get(deployments, { namespace, name: 'web' })
    return status?.availableReplicas === 3
  })
  const [first] = await readyPods('web')
  const name = first?.metadata.name as string
  const { code } = await runKubectl(plane, ['delete', 'pod', name])
  expect(code).toBe(0)
  await until('three again', async () => (await readyPods('web')).length === 3)
  expect((await podsOf('web')).map(({ metadata }) => metadata.name)).not.toContain(name)
})

it('kubectl drain waits for a process that takes its time to end, and for nothing after', async () => {
  const slow = 'trap "sleep 4; exit 0" TERM; while :; do sleep 0.1; done'
  const spec = { terminationGracePeriodSeconds: 60, nodeSelector: { 'kubernetes.io/hostname': 'node-b' } }
  await plane.api.create(deployments, buildDeployment('slow', 1, spec, { command: ['sh', '-c', slow] }))
  await until('slow is ready', async () => (await readyPods('slow')).length === 1)
  const name = (await readyPods('slow'))[0]?.metadata.name as string
  const running = processes.get(name) as Daemon
  let hadEnded: boolean | undefined
  void running.ended.then(() => {
    hadEnded ??= drain.isRunning()
  })
  const drain = startKubectl(plane, ['drain', 'node-b', '--ignore-daemonsets'], (line) => journal.tell('drain', line))
  const { code } = await drain.ended
  expect([code, running.isRunning(), hadEnded]).toEqual([0, false, true])
  expect((await podsOf('slow')).filter(({ metadata }) => metadata.name === name)).toEqual([])
  expect((await runKubectl(plane, ['uncordon', 'node-b'])).code).toBe(0)
  await until('slow runs again', async () => (await readyPods('slow')).length === 1)
})

it('a process that is killed is started again, and the pod counts it', async () => {
  const command = ['sleep', '3600']
  await plane.api.create(deployments, buildDeployment('sleeper', 1, {}, { command }))
  await until('sleeper is ready', async () => (await readyPods('sleeper')).length === 1)
  const name = (await readyPods('sleeper'))[0]?.metadata.name as string
  const before = processes.get(name) as Daemon
  before.signal('SIGKILL')
  const container = async () => (await podsOf('sleeper'))[0]?.status?.containerStatuses?.[0]
  await until('sleeper was restarted', async () => (await container())?.restartCount === 1)
  await until('sleeper is ready again', async () => (await readyPods('sleeper')).length === 1)
  expect((await container())?.lastState?.terminated).toMatchObject({ exitCode: 137, reason: 'Error' })
  expect((await podsOf('sleeper')).map(({ metadata }) => metadata.name)).toEqual([name])
  expect([before.isRunning(), processes.get(name)?.isRunning()]).toEqual([false, true])
})

it('a force delete kills the process, and a pod that cannot start says why', async () => {
  const command = ['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done']
  const spec = { terminationGracePeriodSeconds: 3_600 }
  await plane.api.create(deployments, buildDeployment('deaf', 1, spec, { command }))
  await until('deaf is ready', async () => (await readyPods('deaf')).length === 1)
  const name = (await readyPods('deaf'))[0]?.metadata.name as string
  const running = processes.get(name) as Daemon
  await plane.api.delete(deployments, { namespace, name: 'deaf' })
  await until('deaf was told to go', async () => (await podsOf('deaf')).every(isTerminating))
  expect(running.isRunning()).toBe(true)
  expect((await runKubectl(plane, ['delete', 'pod', name, '--force', '--grace-period=0'])).code).toBe(0)
  await until('deaf is dead', async () => !running.isRunning())

  const broken = buildDeployment('broken', 1, {}, { command: ['/nowhere/at-all'] })
  await plane.api.create(deployments, broken)
  await until('broken backs off', async () => {
    const { stdout } = await runKubectl(plane, ['get', 'events', '--field-selector', 'reason=BackOff'])
    return stdout.includes('broken')
  })
  await plane.api.delete(deployments, { namespace, name: 'broken' })
})

it('operators run as pods of deploy/ under their own account; one that is killed comes back, and another leads', async () => {
  const { namespace: home } = operatorAccount
  const operators = async () => (await plane.api.list(pods, { namespace: home })).items
  const readyOperators = async () => (await operators()).filter((pod) => isReady(pod)).length
  const holder = async () => {
    const held = (await plane.api.list(leases, { namespace: home })).items
    return held.find(({ metadata }) => metadata.name === operatorAccount.name)?.spec?.holderIdentity ?? ''
  }
  expect((await runKubectl(plane, ['apply', '-f', 'deploy/crds', '-f', 'deploy/access.yaml'])).stderr).toBe('')
  operator.use({ kubeconfig: await plane.kubeconfigOf(operatorAccount) })
  expect((await runKubectl(plane, ['apply', '-k', 'deploy'])).stderr).toBe('')
  await until('both operators are ready', async () => (await readyOperators()) === 2)
  await until('one of them leads', async () => (await holder()) !== '')
  const first = await holder()
  const leader = [...operator.processes().keys()].find((name) => first.startsWith(name)) as string
  operator.processOf(leader)?.signal('SIGKILL')
  await until('another leads', async () => ![first, ''].includes(await holder()), 60)
  await until('both are ready again', async () => operator.processes().size === 2 && (await readyOperators()) === 2)
  const restarts = (await operators()).map(({ metadata, status }) => [
    metadata.name === leader,
    status?.containerStatuses?.[0]?.restartCount,
  ])
  expect(Object.fromEntries(restarts)).toEqual({ true: 1, false: 0 })
})

it('a machine that loses its power kills what ran there; its node becomes Unknown, and back again', async () => {
  const [pod] = await readyPods('sleeper')
  const node = pod?.spec.nodeName as string
  const running = processes.get(pod?.metadata.name as string) as Daemon
  machines.powerOff(node)
  await until('the process is dead', async () => !running.isRunning(), 5)
  await until(`${node} is Unknown`, async () => (await readiness(node)) === 'Unknown', 90)
  machines.powerOn(node)
  await until(`${node} is Ready`, async () => (await readiness(node)) === 'True')
  await until('sleeper is ready again', async () => (await readyPods('sleeper')).length >= 1)
})

it('nothing that the kubelets asked for was refused, but for what others were faster at', () => {
  expect(faults).toEqual([])
})

it('machines that are taken away leave no process behind', async () => {
  await machines.stop()
  expect([...processes.values()].filter((daemon) => daemon.isRunning())).toEqual([])
})
