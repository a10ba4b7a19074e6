import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { EventRecorder, Standing } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { RefusedWrite } from '../apply/writes.ts'
import type { FencingDecision } from '../domain/decision.ts'
import { plannedWords } from '../domain/planned-words.ts'
import type { FencingSnapshot } from '../domain/snapshot.ts'
import type { FencingViews } from '../observe/observe.ts'

export interface FencingReports {
  readonly events: EventRecorder<Reason>
  show(decision: FencingDecision, seen: FencingSnapshot): void
}

export interface FencingReport {
  readonly decision: FencingDecision
  readonly snapshot: FencingSnapshot
  /** Problems besides those of the decision. */
  readonly problems: FencingDecision['problems']
  readonly refused: readonly RefusedWrite[]
}

const warnings: readonly Reason[] = ['FenceUnknown', 'LedgerUnknown', 'QuorumLost']
/** It comes and goes with every OSD that is restarted: while an OSD starts, Ceph's reports are older than that. Only what stays is reported. */
const passing: Reason = 'FenceUnknown'
const lastingMs = 60_000

/** Records what changed since it was last recorded, and nothing else. */
export class FencingReporter {
  readonly #reports: FencingReports
  readonly #events: EventRecorder<Reason>
  readonly #views: FencingViews

  constructor(reports: FencingReports, views: FencingViews) {
    this.#reports = reports
    this.#events = reports.events.scoped()
    this.#views = views
  }

  async report({ decision, snapshot, problems, refused }: FencingReport): Promise<void> {
    const all = [...decision.problems, ...problems]
    this.#reports.show({ ...decision, problems: all }, snapshot)
    await this.#events.recordAll('clusters', this.#clusters(decision, snapshot))
    await this.#events.recordAll('machines', this.#sickMachines(decision, snapshot))
    await this.#events.recordAll('outages', this.#outages(decision, snapshot))
    await this.#events.recordAll('problems', this.#problems(all))
    await this.#events.recordAll('refusals', this.#refusals(refused))
  }

  /** Nothing is decided while these cannot be read. */
  async reportBlind(unread: readonly string[]): Promise<void> {
    const [about] = this.#views.clusters.list()
    const note = `No machine with OSDs may be fenced while these cannot be read: ${unread.join(', ')}.`
    const text = { type: 'Warning', reason: 'FenceUnknown', note } as const
    if (about !== undefined) await this.#events.record(about, text, { group: 'blind' })
  }

  #clusters({ clusters }: FencingDecision, { budgets }: FencingSnapshot): Standing<Reason>[] {
    return clusters.map(({ namespace, name, budget, reason, explanation }) => {
      const slot = `${namespace}/${name}`
      const state = `${reason} ${budget?.maxUnavailable ?? ''}`
      const isWarning = warnings.includes(reason)
      // After a start only what differs from what the process before it left is reported.
      const left = budgets.find((each) => each.namespace === budget?.namespace && each.name === budget.name)
      const isAsLeft = budget === undefined || left?.maxUnavailable === budget.maxUnavailable
      if (isAsLeft && !isWarning) this.#events.assume({ group: 'clusters', slot, state })
      return {
        slot,
        state,
        about: this.#views.clusters.get({ namespace, name }),
        type: isWarning ? 'Warning' : 'Normal',
        reason,
        note: explanation,
        ...(reason === passing ? { lastsMs: lastingMs } : {}),
      }
    })
  }

  #sickMachines({ nodes }: FencingDecision, snapshot: FencingSnapshot): Standing<Reason>[] {
    const sick = new Set(snapshot.nodes.filter(({ isReady }) => !isReady).map(({ name }) => name))
    const machines = new Map(snapshot.machines.map((machine) => [machine.nodeName, machine]))
    return nodes
      .filter(({ node }) => sick.has(node))
      .map(({ node, mayFence, reason, explanation, wayOut }) => ({
        slot: node,
        state: `${mayFence} ${reason}`,
        about: this.#machine(machines.get(node)),
        type: 'Normal',
        reason,
        note: wayOut === '' ? explanation : `${explanation} ${wayOut}`,
      }))
  }

  /** On the request and on the node, once the node is away: that it is protected, and that it is not any more. */
  #outages({ outages }: FencingDecision, { nodes }: FencingSnapshot): Standing<Reason>[] {
    return outages.flatMap((outage) => {
      if (outage.awaySinceMs === undefined) return []
      const { node, request, isOver } = outage
      const { reason, explanation, wayOut } = plannedWords(outage)
      const uid = nodes.find(({ name }) => name === node)?.uid
      const about = [
        this.#views.requests.get({ name: request }),
        { apiVersion: 'v1', kind: 'Node', metadata: { name: node, ...(uid === undefined ? {} : { uid }) } },
      ]
      const type = isOver ? 'Warning' : 'Normal'
      const note = `${explanation} ${wayOut}`
      return about.map((object, at) => ({
        slot: `${request} ${at}`,
        state: reason,
        about: object,
        type,
        reason,
        note,
      }))
    })
  }

  #machine(machine: FencingSnapshot['machines'][number] | undefined): KubeObject | undefined {
    if (machine === undefined) return undefined
    const { api, namespace, name } = machine
    const view = api === 'openshift' ? this.#views.openshiftMachines : this.#views.clusterApiMachines
    return view.get({ namespace, name })
  }

  #problems(problems: FencingDecision['problems']): Standing<Reason>[] {
    return problems.map(({ object, problem }) => {
      const note = `${object}: ${problem}`
      return { slot: note, about: this.#objectOf(object), type: 'Warning', reason: 'ObjectsUnusable', note }
    })
  }

  /** The API server refused a write for want of a right: each is recorded once, for as long as it is missing. */
  #refusals(refused: readonly RefusedWrite[]): Standing<Reason>[] {
    const [about] = this.#views.clusters.list()
    return refused.flatMap(({ error }) => {
      if (!hasReason(error, 'Forbidden')) return []
      const note = error.message
      return [{ slot: note, state: note, about, type: 'Warning', reason: 'RightsMissing', note } as const]
    })
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
