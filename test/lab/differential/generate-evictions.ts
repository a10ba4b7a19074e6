import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { readyStatus, unreadyStatus } from './kinds/pod.ts'
import type { RequestStep, Sequence, Step } from './step.ts'

const pods = '/api/v1/namespaces/{ns}/pods'
const budgets = '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets'
const replicaSets = '/apis/apps/v1/namespaces/{ns}/replicasets'
const names = ['a', 'b', 'c']

const budgetSpecs: readonly JsonObject[] = [
  { minAvailable: 1 },
  { minAvailable: 2 },
  { minAvailable: 3 },
  { maxUnavailable: 1 },
  { maxUnavailable: 0 },
  { minAvailable: '50%' },
  { maxUnavailable: '34%' },
  { minAvailable: 0 },
]

/** Stories about pods, budgets over them, and evictions. */
class EvictionWriter {
  readonly #random: Random
  readonly steps: Step[] = []

  constructor(random: Random) {
    this.#random = random
  }

  draw<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random.next() * choices.length)] as T
  }

  chance(share: number): boolean {
    return this.#random.next() < share
  }

  request(step: Omit<RequestStep, 'asks'>): void {
    this.steps.push({ asks: 'request', ...step })
  }

  pod(name: string, isOwned: boolean): void {
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'web',
      uid: `<uid ${replicaSets}/web>`,
      controller: true,
    }
    const metadata = { name, labels: { app: 'x' }, ...(isOwned ? { ownerReferences: [owner] } : {}) }
    const spec = { nodeName: 'machine-1', containers: [{ name: 'main', image: 'registry.example/app:1' }] }
    this.request({ method: 'POST', path: pods, body: { apiVersion: 'v1', kind: 'Pod', metadata, spec } })
  }

  podStatus(name: string): void {
    const body = this.draw<JsonObject>([
      readyStatus,
      readyStatus,
      readyStatus,
      unreadyStatus,
      { status: { phase: 'Succeeded' } },
      { status: { phase: 'Failed' } },
      { status: { phase: 'Pending' } },
    ])
    this.request({ method: 'PATCH', path: `${pods}/${name}/status`, patch: 'merge', body })
  }

  replicaSet(): void {
    const labels = { app: 'x' }
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
    }
    const spec = { replicas: 3, selector: { matchLabels: labels }, template }
    const body = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web' }, spec }
    this.request({ method: 'POST', path: replicaSets, body })
  }

  /** The real controller notices only when a pod changes after it. */
  scale(): void {
    const body = { spec: { replicas: this.draw([4, 5]) } }
    this.request({ method: 'PATCH', path: `${replicaSets}/web`, patch: 'merge', body })
    const touch = { metadata: { annotations: { scaled: 'yes' } } }
    for (const name of names) this.request({ method: 'PATCH', path: `${pods}/${name}`, patch: 'merge', body: touch })
  }

  budget(name: string): void {
    const spec = {
      ...this.draw(budgetSpecs),
      ...(this.chance(0.3)
        ? { unhealthyPodEvictionPolicy: this.draw(['AlwaysAllow', 'AlwaysAllow', 'IfHealthyBudget']) }
        : {}),
      selector: this.draw<JsonObject>([
        { matchLabels: { app: 'x' } },
        { matchLabels: { app: 'x' } },
        { matchLabels: { app: 'x' } },
        {},
        { matchLabels: { app: 'other' } },
      ]),
    }
    const body = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec }
    this.request({ method: 'POST', path: budgets, body })
  }

  /** As the disruption controller would have it, or nearly. */
  budgetStatus(name: string): void {
    const [healthy, desired] = this.draw([
      [3, 2],
      [3, 3],
      [2, 2],
      [1, 2],
      [3, 0],
      [0, 0],
    ] as const)
    const status = {
      observedGeneration: this.draw([1, 1, 1, 1, 2, 0]),
      disruptionsAllowed: this.draw([Math.max(0, healthy - desired), Math.max(0, healthy - desired), 0, 1]),
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: 3,
    }
    this.request({ method: 'PATCH', path: `${budgets}/${name}/status`, patch: 'merge', body: { status } })
  }

  evict(name: string): void {
    const path = `${pods}/${name}`
    const deleteOptions = this.draw<JsonObject | undefined>([
      undefined,
      undefined,
      undefined,
      undefined,
      {},
      { gracePeriodSeconds: 0 },
      { gracePeriodSeconds: 3 },
      { propagationPolicy: 'Foreground' },
      { preconditions: { uid: `<uid ${path}>` } },
      { preconditions: { resourceVersion: `<version ${path}>` } },
      { dryRun: ['All'] },
    ])
    const query = this.chance(0.12) ? { query: 'dryRun=All' } : {}
    const apiVersion = this.chance(0.1) ? 'policy/v1beta1' : 'policy/v1'
    const body = {
      apiVersion,
      kind: 'Eviction',
      metadata: { name, namespace: '{ns}' },
      ...(deleteOptions === undefined ? {} : { deleteOptions }),
    }
    this.request({ method: 'POST', path: `${path}/eviction`, body, ...query })
    this.request({ method: 'GET', path })
  }

  remove(name: string): void {
    const body = { gracePeriodSeconds: this.draw([0, 0, 30]) }
    this.request({ method: 'DELETE', path: `${pods}/${name}`, body })
  }

  editBudget(name: string): void {
    const spec = { minAvailable: null, maxUnavailable: null, ...this.draw(budgetSpecs) }
    this.request({ method: 'PATCH', path: `${budgets}/${name}`, patch: 'merge', body: { spec } })
  }
}

/** The test itself says what the budgets' status is; no controller takes part. */
export function generateEvictions(seed: number): Sequence {
  const writer = new EvictionWriter(seededRandom(seed))
  for (const name of names) {
    writer.pod(name, false)
    writer.podStatus(name)
  }
  writer.budget('one')
  writer.budgetStatus('one')
  for (let turn = 0; turn < 10; turn += 1) {
    const next = writer.draw([0, 0, 0, 0, 1, 2, 3, 4, 5])
    if (next === 0) writer.evict(writer.draw([...names, 'absent']))
    else if (next === 1) writer.podStatus(writer.draw(names))
    else if (next === 2) writer.budgetStatus('one')
    else if (next === 3) writer.remove(writer.draw(names))
    else if (next === 4) writer.request({ method: 'GET', path: `${budgets}/one` })
    else if (writer.chance(0.3)) writer.budget('two')
    else writer.editBudget('one')
  }
  return { name: `evictions ${seed}`, budgets: 'paused', steps: writer.steps }
}

/** The controllers of both sides count, and are waited for after each change. */
export function generateBudgets(seed: number): Sequence {
  const writer = new EvictionWriter(seededRandom(seed))
  const isOwned = writer.chance(0.6)
  if (isOwned) writer.replicaSet()
  for (const name of names) {
    writer.pod(name, isOwned)
    writer.podStatus(name)
  }
  writer.budget('one')
  writer.steps.push({ asks: 'settle-budgets' })
  for (let turn = 0; turn < 5; turn += 1) {
    const next = writer.draw([0, 0, 1, 2, 3, 4])
    if (next === 0) writer.evict(writer.draw(names))
    else if (next === 1) writer.podStatus(writer.draw(names))
    else if (next === 2) writer.editBudget('one')
    else if (next === 3) writer.remove(writer.draw(names))
    else if (writer.chance(0.3)) writer.budget('two')
    else writer.scale()
    writer.steps.push({ asks: 'settle-budgets' })
  }
  return { name: `budgets ${seed}`, budgets: 'live', steps: writer.steps }
}
