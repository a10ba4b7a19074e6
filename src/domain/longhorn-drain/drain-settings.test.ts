import { describe, expect, it } from 'vitest'
import type { LonghornSetting } from '../../api/longhorn.ts'
import type { PodDisruptionBudget } from '../../api/policy.ts'
import { known, unknown } from '../observed.ts'
import { ownBudgetLabel } from './budget-object.ts'
import { parseDrainSettings } from './drain-settings.ts'
import type { LonghornDrainSettings } from './snapshot.ts'

const plain: LonghornDrainSettings = {
  mode: 'observe',
  policy: known('block-for-eviction'),
  inForce: known('block-for-eviction'),
  trigger: 'cordon',
  isAutoscaled: false,
  surplus: 'keep',
  problems: [],
}

function setting(name: string, value: string, annotations: Record<string, string> = {}): LonghornSetting {
  const metadata = { name, namespace: 'longhorn-system', annotations }
  return { apiVersion: 'longhorn.io/v1beta2', kind: 'Setting', metadata, value }
}

function budget(labels: Record<string, string>): PodDisruptionBudget {
  const selector = { matchLabels: { 'longhorn.io/component': 'instance-manager' } }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'im-1', labels },
    spec: { selector },
  }
}

function policy(annotations: Record<string, string>): readonly LonghornSetting[] {
  return [setting('node-drain-policy', 'block-for-eviction', annotations)]
}

describe('settings of a drain', () => {
  const stories: Record<string, [readonly LonghornSetting[], Partial<LonghornDrainSettings>]> = {
    'a setting without annotations is Longhorn business: we only look': [policy({}), {}],
    'an owner is in charge, also by the older word': [policy({ 'cofferdam.io/manage': 'true' }), { mode: 'owner' }],
    'a guide may want another policy than the one in force': [
      policy({ 'cofferdam.io/manage': 'guide', 'cofferdam.io/wanted-policy': 'always-allow' }),
      { mode: 'guide', policy: known('always-allow') },
    ],
    'an owner goes by the setting alone': [
      policy({ 'cofferdam.io/manage': 'owner', 'cofferdam.io/wanted-policy': 'always-allow' }),
      { mode: 'owner' },
    ],
    'trigger and surplus are taken from their annotations': [
      policy({ 'cofferdam.io/trigger': 'drain', 'cofferdam.io/surplus': 'remove' }),
      { trigger: 'drain', surplus: 'remove' },
    ],
    'a word that is not known is told, and the default counts': [
      policy({ 'cofferdam.io/manage': 'yes', 'cofferdam.io/trigger': 'reboot' }),
      {
        problems: [
          'annotation cofferdam.io/manage: "yes" is none of observe, guide, owner; observe counts',
          'annotation cofferdam.io/trigger: "reboot" is none of cordon, drain; cordon counts',
        ],
      },
    ],
    'a Longhorn that balances replicas keeps its copies in excess, which it makes on purpose': [
      [...policy({ 'cofferdam.io/surplus': 'remove' }), setting('replica-auto-balance', 'best-effort')],
      { surplus: 'keep' },
    ],
    'the mode of the autoscaler is known': [
      [...policy({}), setting('kubernetes-cluster-autoscaler-enabled', 'true')],
      { isAutoscaled: true },
    ],
  }
  for (const [name, [settings, expected]] of Object.entries(stories)) {
    it(name, () => {
      expect(parseDrainSettings(settings, [])).toEqual({ ...plain, ...expected })
    })
  }

  it('that are gone leave the policy unknown, and whose budgets are ours in charge, so that last copies are held', () => {
    const missing = { policy: unknown('it is not set'), inForce: unknown('it is not set') }
    expect(parseDrainSettings([], [budget({})])).toEqual({ ...plain, ...missing })
    expect(parseDrainSettings([], [budget(ownBudgetLabel)])).toEqual({ ...plain, ...missing, mode: 'owner' })
  })
})
