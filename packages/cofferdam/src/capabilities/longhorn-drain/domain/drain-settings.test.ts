import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { ownBudgetLabel } from './budget-object.ts'
import { type DrainSurroundings, parseDrainSettings } from './drain-settings.ts'
import { buildRevertedRecord } from './reverted-record.ts'
import type { LonghornDrainSettings } from './snapshot.ts'

const plain: LonghornDrainSettings = {
  mode: 'observe',
  refused: undefined,
  reverted: undefined,
  policy: known('block-for-eviction'),
  inForce: known('block-for-eviction'),
  trigger: 'cordon',
  isAutoscaled: false,
  surplus: 'keep',
  problems: [],
}

const alone: DrainSurroundings = { budgets: [], manager: known(undefined), nowMs: 0 }

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
  const scenarios: Record<string, [readonly LonghornSetting[], Partial<LonghornDrainSettings>]> = {
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
      { mode: 'guide', policy: known('always-allow') },
    ],
    'what another client put in force since is wanted by everybody': [
      policy({
        'cofferdam.io/manage': 'guide',
        'cofferdam.io/restores': 'always-allow',
        'cofferdam.io/put-in-force': '',
      }),
      { mode: 'guide' },
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
    const missing = { policy: byDefault, inForce: byDefault, problems }
    expect(parseDrainSettings([], { ...alone, budgets: [budget({})] })).toEqual({ ...plain, ...missing })
    const ours = { ...alone, budgets: [budget(ownBudgetLabel)] }
    expect(parseDrainSettings([], ours)).toEqual({ ...plain, ...missing, mode: 'owner' })
    const beside = { ...ours, manager: known('DaemonSet longhorn-manager') }
    expect(parseDrainSettings([], beside)).toMatchObject({ mode: 'observe', refused: expect.any(String) })
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

describe('mode owner beside a Longhorn manager', () => {
  const there = known('DaemonSet longhorn-manager')
  const owner = policy({ 'cofferdam.io/manage': 'owner' })
  const rows: Record<
    string,
    readonly [readonly LonghornSetting[], Observed<string | undefined>, Partial<LonghornDrainSettings>]
  > = {
    'is refused: the manager cancels our flags and deletes our budgets, also while the only copy is on the node': [
      owner,
      there,
      {
        mode: 'observe',
        refused: 'a Longhorn manager is there (DaemonSet longhorn-manager) and handles drains itself',
      },
    ],
    'is refused where no manager can be ruled out, since it would do the same': [
      owner,
      unknown('its pods cannot be read'),
      { mode: 'observe', refused: 'it is not known whether a Longhorn manager runs: its pods cannot be read' },
    ],
    'is in force where there is none': [owner, known(undefined), { mode: 'owner', refused: undefined }],
    'is asked for in vain only by owner: a guide works beside it': [
      policy({ 'cofferdam.io/manage': 'guide' }),
      there,
      { mode: 'guide', refused: undefined },
    ],
  }
  it.each(Object.entries(rows))('%s', (_, [settings, manager, expected]) => {
    expect(parseDrainSettings(settings, { ...alone, manager })).toMatchObject(expected)
  })

  it('tells what was undone of it for an hour, and only while it is in force', () => {
    const record = buildRevertedRecord({ atMs: 0, says: 'the eviction of replica r was cancelled by "x"' })
    const settings = policy({ 'cofferdam.io/manage': 'owner', 'cofferdam.io/reverted': record })
    const told = (around: Partial<DrainSurroundings>) => parseDrainSettings(settings, { ...alone, ...around }).reverted
    expect([told({ nowMs: 3_599_000 }), told({ nowMs: 3_600_000 }), told({ manager: there })]).toEqual([
      'the eviction of replica r was cancelled by "x"',
      undefined,
      undefined,
    ])
  })
})
