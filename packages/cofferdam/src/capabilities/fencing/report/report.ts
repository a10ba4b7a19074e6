import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { RefusedWrite } from '../apply/writes.ts'
import type { FencingDecision } from '../domain/decision.ts'
import type { FencingSnapshot } from '../domain/snapshot.ts'
import type { FencingViews } from '../observe/observe.ts'

export interface FencingReports {
  /** Tells an Event. Never throws: news is not worth a failed reconcile. */
  event(
    about: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>,
    news: { readonly type: 'Normal' | 'Warning'; readonly reason: Reason; readonly note: string },
  ): Promise<void>
  show(decision: FencingDecision, seen: FencingSnapshot): void
}

export interface FencingReport {
  readonly decision: FencingDecision
  readonly snapshot: FencingSnapshot
  /** Beside those of the decision. */
  readonly problems: FencingDecision['problems']
  readonly refused: readonly RefusedWrite[]
}

const warnings: readonly Reason[] = ['FenceUnknown', 'LedgerUnknown', 'QuorumLost']
/** It comes and goes with every OSD that is restarted: while an OSD starts, Ceph's reports are older than that. News is what stays. */
const passing: Reason = 'FenceUnknown'
const lastingMs = 60_000

/** Tells what changed since it was last told, and nothing else. */
export class FencingReporter {
  readonly #reports: FencingReports
  readonly #views: FencingViews
  readonly #clock: Pick<Clock, 'now'>
  /** By cluster, and by node. */
  #answers = new Map<string, string>()
  /** By cluster: since when it is what may pass, and was not told. */
  #unsaid = new Map<string, number>()
  #problems = new Set<string>()
  #refusals = new Set<string>()

  constructor(reports: FencingReports, views: FencingViews, clock: Pick<Clock, 'now'>) {
    this.#reports = reports
    this.#views = views
    this.#clock = clock
  }

  async report({ decision, snapshot, problems, refused }: FencingReport): Promise<void> {
    const all = [...decision.problems, ...problems]
    this.#reports.show({ ...decision, problems: all }, snapshot)
    const before = this.#answers
    this.#answers = new Map()
    await this.#reportClusters(decision, snapshot, before)
    await this.#reportSickNodes(decision, snapshot, before)
    await this.#reportProblems(all)
    await this.#reportRefusals(refused)
  }

  async #reportClusters(
    { clusters }: FencingDecision,
    { budgets }: FencingSnapshot,
    before: ReadonlyMap<string, string>,
  ): Promise<void> {
    const unsaid = this.#unsaid
    this.#unsaid = new Map()
    const nowMs = this.#clock.now()
    for (const { namespace, name, budget, reason, explanation } of clusters) {
      const key = `cluster ${namespace}/${name}`
      const told = `${reason} ${budget?.maxUnavailable ?? ''}`
      const said = before.get(key)
      const sinceMs = unsaid.get(key) ?? nowMs
      if (reason === passing && said !== told && nowMs - sinceMs < lastingMs) {
        this.#unsaid.set(key, sinceMs)
        if (said !== undefined) this.#answers.set(key, said)
        continue
      }
      this.#answers.set(key, told)
      const about = this.#views.clusters.get({ namespace, name })
      if (about === undefined || said === told) continue
      // After a start only what differs from what the process before it left is news.
      const left = budgets.find((each) => each.namespace === budget?.namespace && each.name === budget.name)
      const isAsLeft = said === undefined && (budget === undefined || left?.maxUnavailable === budget.maxUnavailable)
      if (isAsLeft && !warnings.includes(reason)) continue
      await this.#reports.event(about, {
        type: warnings.includes(reason) ? 'Warning' : 'Normal',
        reason,
        note: explanation,
      })
    }
  }

  async #reportSickNodes(
    { nodes }: FencingDecision,
    snapshot: FencingSnapshot,
    before: ReadonlyMap<string, string>,
  ): Promise<void> {
    const sick = new Set(snapshot.nodes.filter(({ isReady }) => !isReady).map(({ name }) => name))
    const machines = new Map(snapshot.machines.map((machine) => [machine.nodeName, machine]))
    for (const { node, mayFence, reason, explanation, wayOut } of nodes) {
      if (!sick.has(node)) continue
      const key = `node ${node}`
      const told = `${mayFence} ${reason}`
      this.#answers.set(key, told)
      const machine = machines.get(node)
      if (machine === undefined || before.get(key) === told) continue
      const { api, namespace, name } = machine
      const view = api === 'openshift' ? this.#views.openshiftMachines : this.#views.clusterApiMachines
      const about = view.get({ namespace, name })
      const note = wayOut === '' ? explanation : `${explanation} ${wayOut}`
      if (about !== undefined) await this.#reports.event(about, { type: 'Normal', reason, note })
    }
  }

  async #reportProblems(problems: FencingDecision['problems']): Promise<void> {
    const before = this.#problems
    this.#problems = new Set(problems.map(({ object, problem }) => `${object}: ${problem}`))
    for (const { object, problem } of problems) {
      const note = `${object}: ${problem}`
      const about = this.#objectOf(object)
      if (before.has(note) || about === undefined) continue
      await this.#reports.event(about, { type: 'Warning', reason: 'ObjectsUnusable', note })
    }
  }

  /** The API server refused a write for want of a right: told once for each. */
  async #reportRefusals(refused: readonly RefusedWrite[]): Promise<void> {
    const before = this.#refusals
    this.#refusals = new Set()
    for (const { error } of refused) {
      if (!hasReason(error, 'Forbidden') || this.#refusals.has(error.message)) continue
      this.#refusals.add(error.message)
      const [about] = this.#views.clusters.list()
      if (before.has(error.message) || about === undefined) continue
      await this.#reports.event(about, { type: 'Warning', reason: 'RightsMissing', note: error.message })
    }
  }

  /** What a problem is about; where that is not at hand, any of the clusters. */
  #objectOf(object: string): KubeObject | undefined {
    const [kind = '', first = '', second] = object.split('/')
    const key = second === undefined ? { name: first } : { namespace: first, name: second }
    const views: Readonly<Record<string, { get(key: object): KubeObject | undefined }>> = {
      cephcluster: this.#views.clusters,
      machinedisruptionbudget: this.#views.budgets,
      'openshift-mhc': this.#views.openshiftHealthChecks,
      'cluster-api-mhc': this.#views.clusterApiHealthChecks,
      'medik8s-nhc': this.#views.nodeHealthChecks,
    } as never
    return views[kind]?.get(key) ?? [...this.#views.clusters.list()][0]
  }
}
