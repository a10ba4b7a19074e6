import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { ownBudgetLabel } from './budget-object.ts'
import { type DrainSurroundings, parseDrainSettings } from './drain-settings.ts'
import { buildRevertedRecord } from './reverted-record.ts'
import type { LonghornDrainSettings } from './snapshot.ts'

const plain: LonghornDrainSettings = {
  mode: 'observe',
  manager: known('DaemonSet longhorn-manager'),
  reverted: undefined,
  policy: known('block-for-eviction'),
  inForce: known('block-for-eviction'),
  atRest: known('block-for-eviction'),
  trigger: 'cordon',
  isAutoscaled: false,
  surplus: 'keep',
  problems: [],
}

const alone: DrainSurroundings = { budgets: [], manager: known('DaemonSet longhorn-manager'), nowMs: 0 }

function setting(name: string, value: string, annotations: Record<string, string> = {}): LonghornSetting {
  const metadata = { name, namespace: 'longhorn-system', annotations }
  return { apiVersion: 'longhorn.io/v1beta2', kind: 'Setting', metadata, value }
}

function budget(labels: Record<string, string>): PodDisruptionBudget {
  const selector = { matchLabels: { 'longhorn.io/node': 'n1' } }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'cofferdam-hold-im-1', labels },
    spec: { selector },
  }
}

function policy(annotations: Record<string, string>): readonly LonghornSetting[] {
  return [setting('node-drain-policy', 'block-for-eviction', annotations)]
}

describe('settings of a drain', () => {
  const scenarios: Record<string, [readonly LonghornSetting[], Partial<LonghornDrainSettings>]> = {
    'a setting without annotations is Longhorn business: we only look': [policy({}), {}],
    'budgets of ours hold where it is asked for': [policy({ 'cofferdam.io/manage': 'hold' }), { mode: 'hold' }],
    'who asked for owner gets hold, and reads that: no Longhorn leaves its drains to another': [
      policy({ 'cofferdam.io/manage': 'owner' }),
      {
        mode: 'hold',
        problems: ['annotation cofferdam.io/manage: owner is now called hold; set cofferdam.io/manage=hold'],
      },
    ],
    'the policy that comes back after a drain is known': [
      policy({ 'cofferdam.io/manage': 'guide', 'cofferdam.io/restores': 'always-allow' }),
      { mode: 'guide', policy: known('always-allow'), atRest: known('always-allow') },
    ],
    'a guide may want another policy than the one in force': [
      policy({ 'cofferdam.io/manage': 'guide', 'cofferdam.io/wanted-policy': 'always-allow' }),
      { mode: 'guide', policy: known('always-allow') },
    ],
    'and so may he who holds': [
      policy({ 'cofferdam.io/manage': 'hold', 'cofferdam.io/wanted-policy': 'always-allow' }),
      { mode: 'hold', policy: known('always-allow') },
    ],
    'who only observes goes by the setting alone': [policy({ 'cofferdam.io/wanted-policy': 'always-allow' }), {}],
    'trigger and surplus are taken from their annotations': [
      policy({ 'cofferdam.io/trigger': 'drain', 'cofferdam.io/surplus': 'remove' }),
      { trigger: 'drain', surplus: 'remove' },
    ],
    'a word that is not known is told, and the default counts': [
      policy({ 'cofferdam.io/manage': 'yes', 'cofferdam.io/trigger': 'reboot' }),
      {
        problems: [
          'annotation cofferdam.io/manage: "yes" is none of observe, guide, hold; observe counts',
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
    'the mode of the autoscaler is known in each spelling that Longhorn takes': [
      [...policy({}), setting('kubernetes-cluster-autoscaler-enabled', 'True')],
      { isAutoscaled: true },
    ],
    'a mode of the autoscaler that Longhorn cannot read is off, so that budgets stay': [
      [...policy({}), setting('kubernetes-cluster-autoscaler-enabled', 'on')],
      { problems: ['the setting kubernetes-cluster-autoscaler-enabled is neither true nor false; false counts'] },
    ],
    'a policy for reboots is taken from its annotation': [
      policy({ 'cofferdam.io/reboot-policy': 'always-allow' }),
      { rebootPolicy: known('always-allow') },
    ],
    'an empty policy for reboots says nothing': [policy({ 'cofferdam.io/reboot-policy': '' }), {}],
    'what a guide puts in force for some nodes is not what it wants for the others': [
      policy({
        'cofferdam.io/manage': 'guide',
        'cofferdam.io/restores': 'always-allow',
        'cofferdam.io/put-in-force': 'block-for-eviction',
      }),
      { mode: 'guide', policy: known('always-allow'), atRest: known('always-allow') },
    ],
    'what another client put in force since is wanted by everybody': [
      policy({
        'cofferdam.io/manage': 'guide',
        'cofferdam.io/restores': 'always-allow',
        'cofferdam.io/put-in-force': '',
      }),
      { mode: 'guide', isYielded: true },
    ],
  }
  for (const [name, [settings, expected]] of Object.entries(scenarios)) {
    it(name, () => {
      expect(parseDrainSettings(settings, alone)).toEqual({ ...plain, ...expected })
    })
  }

  it('that do not exist are what Longhorn takes then, its default, which is reported: every node with a replica was held for a setting that was never made', () => {
    const byDefault = known('block-if-contains-last-replica' as const)
    const problems = ["it does not exist, so block-if-contains-last-replica counts, Longhorn's default"]
    const missing = { policy: byDefault, inForce: byDefault, atRest: byDefault, problems }
    expect(parseDrainSettings([], { ...alone, budgets: [budget({})] })).toEqual({ ...plain, ...missing })
  })

  it('that are gone while budgets of ours hold nodes leave them held: what was wanted went with them', () => {
    const { mode, policy: wish, inForce } = parseDrainSettings([], { ...alone, budgets: [budget(ownBudgetLabel)] })
    expect([mode, wish.known, inForce.known]).toEqual(['hold', false, false])
  })

  it.each([undefined, ''])(
    'that exist without a value (%j) are unknown: Longhorn fails on them and lets nothing go',
    (value) => {
      const { value: _, ...bare } = setting('node-drain-policy', '')
      const seen = parseDrainSettings([value === undefined ? bare : { ...bare, value }], alone)
      expect([seen.policy.known, seen.inForce.known]).toEqual([false, false])
    },
  )
})

describe('beside the settings', () => {
  it('no manager of Longhorn is reported, since then nothing moves: a drain that needs a move would wait for ever', () => {
    const without = (mode: string) =>
      parseDrainSettings(policy({ 'cofferdam.io/manage': mode }), { ...alone, manager: known(undefined) }).problems
    expect([without('hold').length, without('guide').length, without('observe')]).toEqual([1, 1, []])
    const unread = { ...alone, manager: unknown('its pods cannot be read') }
    expect(parseDrainSettings(policy({ 'cofferdam.io/manage': 'hold' }), unread).problems).toEqual([])
  })

  it('what another client undid is told for an hour, and only while something of ours is in force', () => {
    const record = buildRevertedRecord({ atMs: 0, says: 'Budget b was deleted by "x".' })
    const told = (mode: string, nowMs: number) => {
      const settings = policy({ 'cofferdam.io/manage': mode, 'cofferdam.io/reverted': record })
      return parseDrainSettings(settings, { ...alone, nowMs }).reverted
    }
    expect([told('hold', 3_599_000), told('hold', 3_600_000), told('observe', 0)]).toEqual([
      'Budget b was deleted by "x".',
      undefined,
      undefined,
    ])
  })
})

describe('how much room Longhorn wants', () => {
  const named = (name: string, value: string) =>
    ({ apiVersion: 'longhorn.io/v1beta2', kind: 'Setting', metadata: { name }, value }) as never
  const room = (...settings: never[]) =>
    parseDrainSettings(settings, { budgets: [], manager: known(undefined), nowMs: 0 }).room

  it('is said only where it is not the usual: every place is judged by it', () => {
    const [over, free] = ['storage-over-provisioning-percentage', 'storage-minimal-available-percentage']
    expect(room(named(over as string, '100'), named(free as string, '25'))).toBeUndefined()
    expect(room(named(over as string, '200'))).toEqual({ overProvisioning: 200, minimalAvailable: 25 })
    expect(room(named(free as string, '10'))).toEqual({ overProvisioning: 100, minimalAvailable: 10 })
  })
})

it('a policy that nobody has changed is in force for as long as the setting exists', () => {
  const since = (generation: number) => {
    const metadata = { name: 'node-drain-policy', generation, creationTimestamp: '1970-01-01T00:00:05Z' }
    const setting = { apiVersion: 'longhorn.io/v1beta2', kind: 'Setting', metadata, value: 'always-allow' }
    return parseDrainSettings([setting], { budgets: [], manager: known(undefined), nowMs: 0 }).inForceSinceMs
  }
  expect([since(1), since(2)]).toEqual([5_000, undefined])
})
