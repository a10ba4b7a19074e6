import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { EventSubject } from '@cofferdam/kubernetes/runtime/build-event.ts'
import { foundNew } from '@cofferdam/kubernetes/runtime/event-memory.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { holdNameOf } from '../domain/budget-object.ts'
import type { LonghornDecision } from '../domain/decision.ts'
import type { LonghornObjects } from '../domain/parse-longhorn.ts'
import { drainSetting } from '../observe/observe.ts'

export interface LonghornReports {
  readonly events: EventRecorder<Reason>
  /** Figures for metrics; of nodes only those that are cordoned or drained. */
  show(figures: {
    readonly nodes: readonly { readonly node: string; readonly isHeld: boolean; readonly bytesLeft: number }[]
    readonly problems: number
  }): void
  /** A write of ours that somebody else undid, by its kind. */
  countReverted(kind: string): void
}

export interface LonghornReport {
  readonly objects: LonghornObjects
  readonly nodes: LonghornDecision['nodes']
  readonly problems: LonghornDecision['problems']
  /** Why replicas cannot leave, by volume. */
  readonly failedEvictions: ReadonlyMap<string, string>
  /** Why copies that are too many stay for now, by volume. */
  readonly surplusKept: ReadonlyMap<string, string>
}

const ofVolumes = ['EvictionFailed', 'SurplusKept'] as const satisfies readonly Reason[]
const concernAll = ['ObjectsUnusable', 'RightsMissing'] as const satisfies readonly Reason[]

/** The node where people look, `kubectl describe node`; Longhorn's own of that name where Kubernetes has it no more. */
export function nodeToDescribe({ kubeNodes, nodes }: LonghornObjects, name: string): EventSubject | undefined {
  const isIt = ({ metadata }: EventSubject) => metadata.name === name
  return kubeNodes.find(isIt) ?? nodes.find(isIt)
}

/** The budget over each instance manager of a node: Longhorn's, or ours where it has none. */
function budgetsOf({ instanceManagers, budgets }: LonghornObjects, node: string): readonly PodDisruptionBudget[] {
  const managers = instanceManagers.filter(({ spec }) => spec?.nodeID === node)
  const named = (name: string) => budgets.find(({ metadata }) => metadata.name === name)
  return managers.flatMap(({ metadata: { name } }) => named(name) ?? named(holdNameOf(name)) ?? [])
}

/** Records what changed since it was last recorded, and nothing else. */
export class LonghornReporter {
  readonly #reports: LonghornReports
  readonly #events: EventRecorder<Reason>

  constructor(reports: LonghornReports) {
    this.#reports = reports
    this.#events = reports.events.scoped()
  }

  async report({ objects, nodes, problems, failedEvictions, surplusKept }: LonghornReport): Promise<void> {
    await this.#reportVolumes(objects, failedEvictions, { type: 'Warning', reason: 'EvictionFailed' })
    await this.#reportVolumes(objects, surplusKept, { type: 'Normal', reason: 'SurplusKept' })
    this.#reports.show({
      nodes: nodes.map(({ node, mayDrain, bytesLeft }) => ({ node, isHeld: !mayDrain, bytesLeft })),
      problems: problems.length,
    })
    await this.#events.recordAll(
      'nodes',
      nodes.map(({ node, mayDrain, reason, explanation }) => ({
        slot: node,
        state: `${mayDrain} ${reason}`,
        about: nodeToDescribe(objects, node),
        type: 'Normal',
        reason,
        note: explanation,
      })),
    )
    await this.#events.recordAll(
      'budgets',
      nodes
        .filter(({ mayDrain }) => !mayDrain)
        .flatMap(({ node, reason, explanation }) =>
          budgetsOf(objects, node).map((about) => ({
            slot: about.metadata.name,
            state: reason,
            about,
            type: 'Normal' as const,
            reason,
            note: `Longhorn needs node ${node}: ${explanation}`,
          })),
        ),
    )
    const unusable = problems.map(({ object, problem }) => `${object}: ${problem}`).join('; ')
    if (this.#isChange('ObjectsUnusable', unusable)) await this.#warn(objects, 'ObjectsUnusable', unusable)
  }

  /** What the API server refused for want of rights in one pass: recorded again only when it is something else. */
  async reportRefusals(objects: LonghornObjects, messages: readonly string[]): Promise<void> {
    const note = [...new Set(messages)].sort().join('; ')
    if (this.#isChange('RightsMissing', note)) await this.#warn(objects, 'RightsMissing', note)
  }

  /** Recorded about each setting that puts us in charge of drains: where there is none, nothing of ours is at stake. */
  async reportSeveralPlaces(places: { readonly problem: string; readonly settings: readonly LonghornSetting[] }) {
    this.#reports.show({ nodes: [], problems: 1 })
    if (!this.#isChange('ObjectsUnusable', places.problem)) return
    for (const about of places.settings) {
      await this.#events.record(about, { type: 'Warning', reason: 'ObjectsUnusable', note: places.problem }, foundNew)
    }
  }

  forget(): void {
    this.#reports.show({ nodes: [], problems: 0 })
    for (const group of ['nodes', 'budgets', ...concernAll, ...ofVolumes]) this.#events.forget(group)
  }

  #reportVolumes(
    { volumes }: LonghornObjects,
    notes: ReadonlyMap<string, string>,
    what: { readonly type: 'Normal' | 'Warning'; readonly reason: (typeof ofVolumes)[number] },
  ): Promise<void> {
    const standing = [...notes].map(([volume, note]) => ({
      ...what,
      slot: volume,
      about: volumes.find(({ metadata }) => metadata.name === volume),
      note,
    }))
    return this.#events.recordAll(what.reason, standing)
  }

  #isChange(reason: (typeof concernAll)[number], note: string): boolean {
    if (note === '') this.#events.forget(reason)
    return note !== '' && this.#events.isChange({ group: reason, state: note })
  }

  /**
   * What concerns no single replica or node is recorded about the setting that put us in charge. Where that is gone, about
   * every node, since `kubectl describe` of a namespace shows no events.
   */
  async #warn({ settings, nodes }: LonghornObjects, reason: Reason, note: string): Promise<void> {
    const setting = drainSetting(settings)
    for (const about of setting === undefined ? nodes : [setting]) {
      await this.#events.record(about, { type: 'Warning', reason, note }, foundNew)
    }
  }
}
