import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { WatchInformers } from '@cofferdam/kubernetes/informers/watch-informers.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { quietLog } from '@cofferdam/kubernetes/runtime/log.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { createLonghornJudge } from '../../capabilities/longhorn-drain/domain/judge.ts'
import { createLonghornParser } from '../../capabilities/longhorn-drain/domain/parse-longhorn.ts'
import { nextStuckMs } from '../../capabilities/longhorn-drain/domain/stuck-moves.ts'
import { observeLonghorn } from '../../capabilities/longhorn-drain/observe/observe.ts'
import { openLonghornViews } from '../../capabilities/longhorn-drain/observe/views.ts'
import { viewLonghorn } from '../../capabilities/longhorn-drain/view/longhorn-view.ts'
import { viewSeveralLonghorns } from '../../capabilities/longhorn-drain/view/several-longhorns.ts'
import { openSharedViews } from '../../observe/shared-views.ts'
import { buildLonghornPanel, type LonghornPanelModel } from './longhorn-panel-model.ts'
import { createSettledWatch, type SettledWatch } from './settled-watch.ts'

/**
 * Follows all of Longhorn through the operator's own views, and shows what the drain policy makes of it. Without Longhorn it is empty.
 *
 * Fails closed: while one of its kinds has not been read there is no answer, and where Longhorn is in several namespaces only that is shown.
 */
export function createLonghornWatch(shared: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
}): SettledWatch<LonghornPanelModel> {
  const { clock } = shared
  const informers = new WatchInformers({ ...shared, onError() {} })
  const views = openLonghornViews({ informers, log: quietLog, views: openSharedViews({ informers, log: quietLog }) })
  const all = Object.values(views)
  const parse = createLonghornParser()
  const judge = createLonghornJudge()

  let dueMs: number | undefined

  const observePanel = (): LonghornPanelModel | undefined => {
    dueMs = undefined
    if (!all.every(({ synced }) => synced)) return undefined
    const found = observeLonghorn(views, clock.now())
    if (!found.known) return buildLonghornPanel(viewSeveralLonghorns(found.why, clock.now()))
    if (found.value.nodes.length === 0) return undefined
    const view = viewLonghorn(parse(found.value), {}, judge.decide)
    dueMs = nextStuckMs(view.snapshot, view.decision)
    return buildLonghornPanel(view)
  }
  return createSettledWatch({
    clock,
    sources: all,
    stop: () => informers.stop(),
    observe() {
      const panel = observePanel()
      return new Map(panel === undefined ? [] : [[panel.id, panel]])
    },
    dueMs: () => dueMs,
  })
}
