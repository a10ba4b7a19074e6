import { hasReason } from '../api/api-error.ts'
import { longhornNamespace } from '../api/longhorn.ts'
import type { PodDisruptionBudget } from '../api/policy.ts'
import { decideLonghornDrain } from '../domain/longhorn-drain/decide.ts'
import { hasGuidanceMarks, parseGuidanceMarks } from '../domain/longhorn-drain/guidance-marks.ts'
import { createLonghornJudge } from '../domain/longhorn-drain/judge.ts'
import { createLonghornParser, parseLonghorn } from '../domain/longhorn-drain/parse-longhorn.ts'
import { isBlipping } from '../domain/longhorn-drain/parse-node.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import type { ViewChange, WatchView } from '../kube/watch-view.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Controller } from '../runtime/controller.ts'
import { isBudgetNews } from './follow-clusters.ts'
import {
  applyEvictionFlags,
  applyLonghornBudgets,
  type LonghornApplyPorts,
  type LonghornLook,
  planLonghornBudgets,
} from './longhorn-drain-apply.ts'
import { applyLonghornGuidance, longhornGuidePermissions, StuckTeller } from './longhorn-drain-guide.ts'
import { applyLonghornMigration } from './longhorn-drain-migrate.ts'
import { applyMovingRecords } from './longhorn-drain-moving.ts'
import { type LonghornViews, observeLonghorn, observeLonghornAfresh } from './longhorn-drain-observe.ts'
import { LonghornReporter, type LonghornReports } from './longhorn-drain-report.ts'
import type { Permission } from './permission.ts'

export const longhornDrainPermissions: readonly Permission[] = [
  ...longhornGuidePermissions,
  { group: 'longhorn.io', resource: 'settings', verbs: ['list', 'watch'] },
  { group: 'longhorn.io', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: 'longhorn.io', resource: 'nodes/status', verbs: ['patch'] },
  { group: 'longhorn.io', resource: 'volumes', verbs: ['list', 'watch'] },
  { group: 'longhorn.io', resource: 'replicas', verbs: ['list', 'watch', 'patch'] },
  { group: 'longhorn.io', resource: 'engines', verbs: ['list', 'watch'] },
  { group: 'longhorn.io', resource: 'instancemanagers', verbs: ['list', 'watch'] },
  { group: 'longhorn.io', resource: 'volumeattachments', verbs: ['list', 'watch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['list', 'watch'] },
  { group: 'storage.k8s.io', resource: 'storageclasses', verbs: ['list', 'watch'] },
  { group: '', resource: 'persistentvolumes', verbs: ['list', 'watch'] },
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch', 'create', 'delete'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface LonghornDrainPorts extends Pick<LonghornApplyPorts, 'applyBudgets' | 'sha512Hex'> {
  readonly api: Pick<KubeApi, 'list' | 'patch'>
  readonly clock: Clock
  readonly views: LonghornViews
  readonly reports: LonghornReports
}

/** Nodes answer for each other, so all of Longhorn is one key, and is decided about by one at a time. */
const everything = longhornNamespace

/** How soon a kubelet that fell silent is looked at again: by then it is more than a blip. */
const blipRecheckSeconds = 15

/** Keeps the budgets of Longhorn's instance managers and moves replicas as the drain policy says, where it is put in charge. */
export function createLonghornDrain(ports: LonghornDrainPorts): Controller {
  const { api, clock, views } = ports
  const parse = createLonghornParser()
  const judge = createLonghornJudge()
  const reporter = new LonghornReporter(ports.reports)
  const stuck = new StuckTeller(ports.reports)

  return {
    name: 'longhorn-drain',

    async start(enqueue, signal) {
      const follow = <V>(view: WatchView<V>, isNews: (change: ViewChange<V>) => boolean = () => true) => {
        const end = view.subscribe((change) => {
          if (isNews(change)) enqueue(everything)
        })
        signal.addEventListener('abort', end, { once: true })
      }
      const { budgets, ...others } = views
      follow(budgets, (change) => isLonghorns(change) && isBudgetNews(change))
      for (const view of Object.values(others) as WatchView<unknown>[]) follow(view)
      await Promise.all(Object.values(views).map((view) => view.whenSynced(signal)))
      enqueue(everything)
    },

    async reconcile(_, signal) {
      const objects = observeLonghorn(views, clock.now())
      const snapshot = parse(objects)
      const { mode } = snapshot.settings
      const isGuided = mode === 'guide' || hasGuidanceMarks(parseGuidanceMarks(objects))
      if (mode !== 'guide') stuck.forget()
      if (mode === 'observe') reporter.forget()
      if (mode === 'observe' && !isGuided) return undefined
      const look = { objects, snapshot, decision: judge.decide(snapshot) }
      let recheck: number | undefined
      try {
        if (mode === 'owner') await write(look, signal)
        if (isGuided) recheck = await guide(look, signal)
      } catch (error) {
        if (hasReason(error, 'Forbidden')) await reporter.reportRefusal(objects, error.message)
        throw error
      }
      const recheckAfterSeconds = objects.kubeNodes.some(isBlipping) ? blipRecheckSeconds : recheck
      return recheckAfterSeconds === undefined ? undefined : { recheckAfterSeconds }
    },
  }

  /**
   * Guarantees: every budget that is wanted is there before one is deleted, and what is deleted was decided on an answer
   * of the server, not on what was last heard.
   */
  async function write(look: LonghornLook, signal: AbortSignal): Promise<void> {
    const { objects, decision } = look
    const plan = planLonghornBudgets(look, ports.sha512Hex)
    await applyLonghornBudgets(ports, plan.create, signal)
    const { changed, failures } = await applyEvictionFlags(ports, look, signal)
    await reporter.reportEvictions(objects, changed)
    if (plan.remove.length > 0) await release(look, signal)
    const taken = plan.taken.map((name) => ({
      object: `poddisruptionbudget/${name}`,
      problem: 'it has the name of the budget of an instance manager but is for other pods; no budget is let go',
    }))
    const refused = [
      ...failures,
      ...(await applyMovingRecords(ports, look, signal)),
      ...(await applyLonghornMigration(ports, signal)),
    ]
    if (refused.length > 0) throw refused[0]
    await reporter.report({ objects, nodes: decision.nodes, problems: [...decision.problems, ...taken] })
  }

  /**
   * Longhorn decides; what it decides is told in the words of the same decision. Where it is not guided any more, this
   * only takes back what was changed for it. Returns when to look again.
   */
  async function guide(look: LonghornLook, signal: AbortSignal): Promise<number | undefined> {
    const { failures, problems } = await applyLonghornGuidance(ports, look, signal)
    const isGuide = look.snapshot.settings.mode === 'guide'
    const refused = [...failures, ...(isGuide ? await applyMovingRecords(ports, look, signal) : [])]
    if (refused.length > 0) throw refused[0]
    if (!isGuide) return undefined
    const { objects, decision } = look
    await reporter.report({ objects, nodes: decision.nodes, problems: [...decision.problems, ...problems] })
    return stuck.tell(look)
  }

  async function release(seen: LonghornLook, signal: AbortSignal): Promise<void> {
    const objects = await observeLonghornAfresh(api, { ...seen.objects, nowMs: clock.now() }, signal)
    const snapshot = parseLonghorn(objects)
    if (snapshot.settings.mode !== 'owner') return
    const plan = planLonghornBudgets({ objects, snapshot, decision: decideLonghornDrain(snapshot) }, ports.sha512Hex)
    const isOneMissing = plan.taken.length > 0
    await applyLonghornBudgets(ports, isOneMissing ? plan.create : [...plan.create, ...plan.remove], signal)
  }
}

function isLonghorns(change: ViewChange<PodDisruptionBudget>): boolean {
  const { metadata } = change.type === 'removed' ? change.previous : change.value
  return metadata.namespace === longhornNamespace
}
