import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { namespaces, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { eventually, pod, refusal } from '@cofferdam/kubernetes/client/contract/fixture.contract.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ControlPlane } from './control-plane/control-plane.ts'
import { runKubectl, startKubectl } from './control-plane/run-kubectl.ts'
import { type ControlPlaneOptions, startControlPlane } from './control-plane/start-control-plane.ts'
import { findKubernetes } from './parts/find-kubernetes.ts'
import type { KubernetesParts } from './parts/parts.ts'
import { type Journal, openJournal } from './processes/journal.ts'
import { type LabFolder, openLabFolder } from './processes/lab-folder.ts'

let parts: KubernetesParts
let folder: LabFolder
let journal: Journal
let plane: ControlPlane

beforeAll(async () => {
  parts = await findKubernetes((line) => console.error(line))
  folder = await openLabFolder('control-plane')
  journal = openJournal(join(folder.logs, 'journal.log'))
  plane = await startControlPlane({ parts, folder, journal })
})
afterAll(async () => {
  await plane?.close()
  await folder?.remove()
})

async function newNamespace(name: string): Promise<string> {
  await plane.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  return name
}

async function newNode(name: string): Promise<KubeObject> {
  const node = await plane.api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } })
  const room = { cpu: '4', memory: '8Gi', pods: '10' }
  const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }]
  const body = { status: { capacity: room, allocatable: room, conditions } }
  await plane.api.patch(nodes, { name }, { type: 'strategic', body }, { subresource: 'status' })
  return node
}

async function setReady({ metadata: { namespace = '', name } }: Pod): Promise<void> {
  const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
  await plane.api.patch(pods, { namespace, name }, { type: 'strategic', body }, { subresource: 'status' })
}

describe('the real control plane', () => {
  it('is of the version that its programs say', async () => {
    expect((await plane.api.getRaw('/version'))['gitVersion']).toBe(`v${parts.version}`)
  })

  it('keeps pods off a new node until it reports ready, then the scheduler uses it', async () => {
    const namespace = await newNamespace('scheduling')
    const node = await newNode('node-scheduling')
    expect((node as { spec?: { taints?: unknown } }).spec?.taints).toMatchObject([
      { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
    ])
    await plane.api.create(pods, pod(namespace, 'a'))
    const nodeName = await eventually(async () => (await plane.api.get(pods, { namespace, name: 'a' })).spec.nodeName)
    expect(nodeName).toBe('node-scheduling')
  })

  it('lets an account do only what its roles allow', async () => {
    const namespace = await newNamespace('accounts')
    const created = await runKubectl(plane, ['create', 'serviceaccount', 'reader', '-n', namespace])
    expect(created).toMatchObject({ code: 0, stdout: 'serviceaccount/reader created\n' })
    const target = { ...plane, kubeconfig: await plane.kubeconfigOf({ namespace, name: 'reader' }) }
    expect(await runKubectl(target, ['auth', 'whoami', '-o=jsonpath={.status.userInfo.username}'])).toMatchObject({
      code: 0,
      stdout: 'system:serviceaccount:accounts:reader\n',
    })
    const refused = await runKubectl(target, ['get', 'pods'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('User "system:serviceaccount:accounts:reader" cannot list resource "pods"')
  })
})

describe('evictions that only time decides', () => {
  it('with the uid of another pod keep the caller waiting until the pod is gone: then 404', async () => {
    const namespace = await newNamespace('other-uid')
    await newNode('node-other-uid')
    await setReady(await plane.api.create(pods, pod(namespace, 'a', { nodeName: 'node-other-uid' })))
    await plane.api.delete(pods, { namespace, name: 'a' })
    const uid = '00000000-0000-4000-8000-000000000000'
    let hasEnded = false
    const refused = refusal(evictPod(plane.api, { namespace, name: 'a', uid })).finally(() => {
      hasEnded = true
    })
    await pause(1_000)
    expect(hasEnded).toBe(false)
    await plane.api.delete(pods, { namespace, name: 'a' }, { gracePeriodSeconds: 0 })
    expect(await refused).toMatchObject({ code: 404, reason: 'NotFound' })
  })

  it('are never granted under a budget in percent of pods that nobody owns', async () => {
    const namespace = await newNamespace('percent')
    await newNode('node-percent')
    const labels = { app: 'bare' }
    await setReady(await plane.api.create(pods, pod(namespace, 'a', { nodeName: 'node-percent', labels })))
    const key = { namespace, name: 'half' }
    await plane.api.create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: key,
      spec: { selector: { matchLabels: labels }, maxUnavailable: '50%' },
    })
    const status = await eventually(async () => {
      const budget = await plane.api.get(podDisruptionBudgets, key)
      // It may be counted before its controller has heard that the pod is ready, and is counted again then.
      return budget.status?.currentHealthy === 1 && budget.status
    })
    expect(status).toMatchObject({ observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 0, expectedPods: 0 })
    expect(await refusal(evictPod(plane.api, { namespace, name: 'a' }))).toMatchObject({
      code: 429,
      details: { causes: [{ message: 'The disruption budget half does not allow evicting pods currently' }] },
    })
  })
})

describe('kubectl', () => {
  it('that runs into its time is killed, and says so', async () => {
    const end = await runKubectl(plane, ['get', 'namespaces', '--watch-only'], { timeoutMs: 1_500 })
    expect(end).toEqual({ code: 137, stdout: '', stderr: 'kubectl was killed after 1500 ms\n' })
  })

  it('hands over its lines as they come, and what comes in is what it reads', async () => {
    const lines: string[] = []
    const watching = startKubectl(plane, ['get', 'configmaps', '-w', '-o=name', '-n=default'], (line) =>
      lines.push(line),
    )
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seen', namespace: 'default' } }
    const applied = await runKubectl(plane, ['apply', '-f', '-'], { input: JSON.stringify(manifest) })
    expect(applied.stdout).toBe('configmap/seen created\n')
    await eventually(async () => lines.includes('configmap/seen'))
    expect(watching.isRunning()).toBe(true)
    expect((await watching.stop()).stdout).toContain('configmap/seen\n')
    expect(watching.isRunning()).toBe(false)
  })
})

describe('a control plane that does not come up', () => {
  /** Starts one more; tells how that failed, and which of its processes are left. */
  async function failure(name: string, change: Partial<ControlPlaneOptions>): Promise<{ why: string; left: string[] }> {
    const own = await openLabFolder(`control-plane-${name}`)
    const notes = openJournal(join(own.logs, 'journal.log'))
    try {
      const start = startControlPlane({ parts, folder: own, journal: notes, ...change })
      const why = await start.then(
        () => 'it came up',
        (error: Error) => error.message,
      )
      const pids = [...notes.text().matchAll(/started, pid (\d+)/g)].map(([, pid = '']) => pid)
      expect(pids).not.toEqual([])
      return { why, left: pids.filter((pid) => existsSync(`/proc/${pid}`)) }
    } finally {
      await own.remove()
    }
  }

  it('tells at once which program ended and what it said last, and takes the others along', async () => {
    const { why, left } = await failure('broken', { parts: { ...parts, kubeApiserver: '/bin/cat' } })
    expect(why).toMatch(/^kube-apiserver ended before it was ready:\n.*unrecognized option/s)
    expect(left).toEqual([])
  })

  it('because it was called off leaves nothing running', async () => {
    const { why, left } = await failure('called-off', { signal: AbortSignal.timeout(1_500) })
    expect(why).toContain('aborted due to timeout')
    expect(left).toEqual([])
  })
})
