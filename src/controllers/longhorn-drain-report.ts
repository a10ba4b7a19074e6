import type { KubeObject } from '../api/kube-object.ts'
import type { EvictionAnswer, LonghornDecision } from '../domain/longhorn-drain/decision.ts'
import type { LonghornObjects } from '../domain/longhorn-drain/parse-longhorn.ts'
import type { Reason } from '../domain/reasons.ts'
import { drainSetting } from './longhorn-drain-observe.ts'

export interface LonghornReports {
  /** Tells an Event. Never throws: news is not worth a failed reconcile. */
  event(
    about: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>,
    news: { readonly type: 'Normal' | 'Warning'; readonly reason: Reason; readonly note: string },
  ): Promise<void>
}

export interface LonghornReport {
  readonly objects: LonghornObjects
  readonly nodes: LonghornDecision['nodes']
  readonly problems: LonghornDecision['problems']
}

/** Tells what changed since it was last told, and nothing else. */
export class LonghornReporter {
  readonly #reports: LonghornReports
  /** By node. */
  #answers = new Map<string, string>()
  #problems = ''
  #refusal = ''

  constructor(reports: LonghornReports) {
    this.#reports = reports
  }

  /** About each replica whose flag was written just now. */
  async reportEvictions({ replicas }: LonghornObjects, changed: readonly EvictionAnswer[]): Promise<void> {
    for (const { replica, node, isRequested, event, explanation } of changed) {
      const about = replicas.find(({ metadata }) => metadata.name === replica)
      if (about === undefined) continue
      const what = `${isRequested ? 'Requesting' : 'Cancelling'} eviction of replica ${replica} from node ${node}`
      await this.#reports.event(about, { type: 'Normal', reason: event, note: `${what}. ${explanation}` })
    }
  }

  async report({ objects, nodes, problems }: LonghornReport): Promise<void> {
    this.#refusal = ''
    const before = this.#answers
    this.#answers = new Map(nodes.map(({ node, mayDrain, reason }) => [node, `${mayDrain} ${reason}`]))
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

  /** The API server refused something for want of a right: told once for each right. */
  async reportRefusal(objects: LonghornObjects, message: string): Promise<void> {
    if (this.#refusal === message) return
    this.#refusal = message
    await this.#warn(objects, 'RightsMissing', message)
  }

  forget(): void {
    this.#answers = new Map()
    this.#problems = ''
    this.#refusal = ''
  }

  /** What concerns no single replica or node is told about the setting that put us in charge. */
  async #warn({ settings }: LonghornObjects, reason: Reason, note: string): Promise<void> {
    const about = drainSetting(settings)
    if (about !== undefined) await this.#reports.event(about, { type: 'Warning', reason, note })
  }
}
