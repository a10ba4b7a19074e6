import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { EvictionAnswer, LonghornDecision } from '../domain/decision.ts'
import type { LonghornObjects } from '../domain/parse-longhorn.ts'
import { drainSetting } from '../observe/observe.ts'

export interface LonghornReports {
  /** Tells an Event. Never throws: news is not worth a failed reconcile. */
  event(
    about: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>,
    news: { readonly type: 'Normal' | 'Warning'; readonly reason: Reason; readonly note: string },
  ): Promise<void>
  /** Figures for metrics; of nodes only those that are cordoned or drained. */
  show(figures: {
    readonly nodes: readonly { readonly node: string; readonly isHeld: boolean; readonly bytesLeft: number }[]
    readonly problems: number
    readonly isOwnerRefused: boolean
  }): void
  countEviction(reason: Reason): void
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

interface VolumeNews {
  readonly before: ReadonlyMap<string, string>
  readonly now: ReadonlyMap<string, string>
  readonly reason: 'EvictionFailed' | 'SurplusKept'
}

/** Tells what changed since it was last told, and nothing else. */
export class LonghornReporter {
  readonly #reports: LonghornReports
  /** By node. */
  #answers = new Map<string, string>()
  /** By volume. */
  #failed: ReadonlyMap<string, string> = new Map()
  /** By volume. */
  #kept: ReadonlyMap<string, string> = new Map()
  #problems = ''
  #refusals = ''
  #ownerRefused: string | undefined

  constructor(reports: LonghornReports) {
    this.#reports = reports
  }

  /** About each replica whose flag was written just now. */
  async reportEvictions({ replicas }: LonghornObjects, changed: readonly EvictionAnswer[]): Promise<void> {
    for (const { replica, node, isRequested, event, explanation } of changed) {
      this.#reports.countEviction(event)
      const about = replicas.find(({ metadata }) => metadata.name === replica)
      if (about === undefined) continue
      const what = `${isRequested ? 'Requesting' : 'Cancelling'} eviction of replica ${replica} from node ${node}`
      await this.#reports.event(about, { type: 'Normal', reason: event, note: `${what}. ${explanation}` })
    }
  }

  async report({ objects, nodes, problems, failedEvictions, surplusKept }: LonghornReport): Promise<void> {
    await this.#reportVolumes(objects, { before: this.#failed, now: failedEvictions, reason: 'EvictionFailed' })
    await this.#reportVolumes(objects, { before: this.#kept, now: surplusKept, reason: 'SurplusKept' })
    this.#failed = failedEvictions
    this.#kept = surplusKept
    const before = this.#answers
    this.#answers = new Map(nodes.map(({ node, mayDrain, reason }) => [node, `${mayDrain} ${reason}`]))
    this.#reports.show({
      nodes: nodes.map(({ node, mayDrain, bytesLeft }) => ({ node, isHeld: !mayDrain, bytesLeft })),
      problems: problems.length,
      isOwnerRefused: false,
    })
    for (const { node, reason, explanation } of nodes) {
      const about = objects.nodes.find(({ metadata }) => metadata.name === node)
      if (about === undefined || before.get(node) === this.#answers.get(node)) continue
      await this.#reports.event(about, { type: 'Normal', reason, note: explanation })
    }
    const told = problems.map(({ object, problem }) => `${object}: ${problem}`).join('; ')
    const isNews = told !== this.#problems && told !== ''
    this.#problems = told
    if (isNews) await this.#warn(objects, 'ObjectsUnusable', told)
  }

  /** What the API server refused for want of rights in one look: told again only when it is something else. */
  async reportRefusals(objects: LonghornObjects, messages: readonly string[]): Promise<void> {
    const told = [...new Set(messages)].sort().join('; ')
    const isNews = told !== this.#refusals && told !== ''
    this.#refusals = told
    if (isNews) await this.#warn(objects, 'RightsMissing', told)
  }

  /** We are asked to decide, and Longhorn does. Told on change only. */
  async reportOwnerRefused(objects: LonghornObjects, why: string): Promise<void> {
    const isNews = why !== this.#ownerRefused
    this.#ownerRefused = why
    this.#show(true)
    if (!isNews) return
    const note = `Mode owner is refused: ${why}. Longhorn decides drains, and Cofferdam writes no budget and no flag. Set cofferdam.io/manage=guide.`
    await this.#warn(objects, 'OwnerRefused', note)
  }

  forgetOwnerRefused(): void {
    this.#ownerRefused = undefined
  }

  forget(): void {
    this.#show(false)
    this.#answers = new Map()
    this.#failed = new Map()
    this.#kept = new Map()
    this.#problems = ''
    this.#refusals = ''
  }

  #show(isOwnerRefused: boolean): void {
    this.#reports.show({ nodes: [], problems: 0, isOwnerRefused })
  }

  async #reportVolumes({ volumes }: LonghornObjects, { before, now, reason }: VolumeNews): Promise<void> {
    const type = reason === 'EvictionFailed' ? 'Warning' : 'Normal'
    for (const [volume, note] of now) {
      const about = volumes.find(({ metadata }) => metadata.name === volume)
      if (about === undefined || before.get(volume) === note) continue
      await this.#reports.event(about, { type, reason, note })
    }
  }

  /**
   * What concerns no single replica or node is told about the setting that put us in charge. Where that is gone, about
   * every node, since `kubectl describe` of a namespace shows no events.
   */
  async #warn({ settings, nodes }: LonghornObjects, reason: Reason, note: string): Promise<void> {
    const setting = drainSetting(settings)
    for (const about of setting === undefined ? nodes : [setting]) {
      await this.#reports.event(about, { type: 'Warning', reason, note })
    }
  }
}
