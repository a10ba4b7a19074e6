import { longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { manageAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { formatBreakGlass } from '@cofferdam/product/ledger/rules/break-glass.ts'
import { breakGlassAnnotation } from '@cofferdam/product/shared/break-glass-annotation.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { between, oneOf } from '../story.ts'
import { always, type DeedKind, withLonghorn } from './deed-kind.ts'

const minuteMs = 60_000
/** What lost its key to an override says so when it has read that. */
const heardMs = 60_000

/** What administrators do in an emergency, and when they change who decides. */
export const latestWork: Readonly<Record<string, DeedKind>> = {
  'an administrator breaks the glass for a node': {
    fits: always,
    async apply({ stage, random, number, tell, excuses }) {
      const nodeName = oneOf(random, stage.shape.nodes)
      const forMs = between(random, 1, 10) * minuteMs
      const untilMs = stage.clock.now() + forMs
      tell(`an administrator breaks the glass for ${nodeName}, for ${forMs / minuteMs} min`)
      excuses.meddled('glass', forMs + heardMs)
      const annotations = { [breakGlassAnnotation]: formatBreakGlass({ by: 'alice', reason: 'fire', untilMs }) }
      await stage.api.create(nodeDisruptions, {
        apiVersion: 'cofferdam.io/v1alpha1',
        kind: 'NodeDisruption',
        metadata: { name: `request-${number}`, annotations },
        spec: { nodeName, intent: 'Reboot', honourSkipDrain: true, force: true, deleteEmptyDirData: true },
      })
    },
  },
  'Longhorn is handed back, and over again': {
    fits: withLonghorn,
    async apply({ stage, random, tell, atHome }) {
      const key = { namespace: stage.description.longhorn?.namespace ?? '', name: drainPolicySetting }
      const before = (await stage.api.get(longhornSettings, key)).metadata.annotations?.[manageAnnotation] ?? null
      const manage = (mode: string | null) => {
        const body = { metadata: { annotations: { [manageAnnotation]: mode } } }
        return stage.api.patch(longhornSettings, key, { type: 'merge', body })
      }
      const forMs = between(random, 10, 120) * 1_000
      tell(`Longhorn decides alone for ${forMs / 1_000} s`)
      const handOver = () => manage(before).catch(() => undefined)
      atHome(handOver)
      await manage(null)
      await sleep(stage.clock, forMs)
      await handOver()
    },
  },
}
