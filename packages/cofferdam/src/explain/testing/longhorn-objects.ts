import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { buildHoldBudget } from '../../capabilities/longhorn-drain/domain/budget-object.ts'
import {
  type Fixture,
  longhornFixture,
  managerView,
} from '../../capabilities/longhorn-drain/domain/testing/longhorn-fixture.ts'
import { type LonghornView, viewLonghorn } from '../../capabilities/longhorn-drain/view/longhorn-view.ts'
import type { Attendance } from '../../shared/attendance.ts'
import { earlier, pod } from './sample-objects.ts'

/** The instance manager of a node, and Longhorn's budget over it that spares nothing. */
export function instanceManager(node: string): { readonly pod: Pod; readonly budget: PodDisruptionBudget } {
  const ours = buildHoldBudget(managerView(node), () => 'abcdef0123', longhornNamespace)
  const labels = { ...ours.spec.selector?.matchLabels, 'longhorn.io/component': 'instance-manager' }
  const built = {
    ...ours,
    metadata: { name: `im-${node}`, namespace: longhornNamespace },
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  }
  return {
    pod: pod(`im-${node}`, { namespace: longhornNamespace, node, labels, ownerKind: 'InstanceManager' }),
    budget: {
      ...built,
      metadata: { ...built.metadata, generation: 1 },
      status: {
        observedGeneration: 1,
        disruptionsAllowed: 0,
        currentHealthy: 1,
        desiredHealthy: 1,
        expectedPods: 1,
        conditions: [{ type: 'DisruptionAllowed', status: 'False', lastTransitionTime: earlier, message: '' }],
      },
    },
  }
}

export function longhornSeen(fixture: Fixture, attendance: Attendance = {}): LonghornView {
  const { settings, ...seen } = longhornFixture(fixture)
  const { mode = settings.mode, inForce = settings.inForce, problems = settings.problems, inForceSinceMs } = fixture
  const since = inForceSinceMs === undefined ? {} : { inForceSinceMs }
  return viewLonghorn({ ...seen, settings: { ...settings, ...since, mode, inForce, problems } }, attendance)
}
