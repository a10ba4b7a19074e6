import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { decideLonghornDrain } from '@cofferdam/product/capabilities/longhorn-drain/domain/decide.ts'
import type { LonghornDecision } from '@cofferdam/product/capabilities/longhorn-drain/domain/decision.ts'
import { manageAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { parseLonghorn } from '@cofferdam/product/capabilities/longhorn-drain/domain/parse-longhorn.ts'
import { drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import type { LonghornSnapshot } from '@cofferdam/product/capabilities/longhorn-drain/domain/snapshot.ts'
import type { LonghornState } from './longhorn-state.ts'
import { seenAt } from './random-longhorn.ts'

/** The mode in which we decide ourselves which node may go. */
const deciding = 'hold'

/** What we see in a state, and what we decide. */
export interface OurAnswers {
  readonly snapshot: LonghornSnapshot
  readonly decision: LonghornDecision
}

/** As the operator does it: parsed, then decided, with nothing there but Kubernetes and Longhorn. */
export function decideOurselves(state: LonghornState): OurAnswers {
  const snapshot = parseLonghorn({
    ...state,
    settings: state.settings.map((setting) =>
      setting.metadata.name === drainPolicySetting
        ? { ...setting, metadata: { ...setting.metadata, annotations: { [manageAnnotation]: deciding } } }
        : setting,
    ),
    namespace: longhornNamespace,
    nowMs: Date.parse(seenAt),
    engines: [],
    attachments: [],
    disruptions: [],
    storageClasses: [],
    persistentVolumes: [],
    managerSets: [],
    managerPods: [],
  })
  return { snapshot, decision: decideLonghornDrain(snapshot) }
}
