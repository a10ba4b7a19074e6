import fc from 'fast-check'
import { drainPolicies, type LonghornSnapshot } from '../snapshot.ts'
import { longhornFixture, managerView, type NodeSetting, type VolumeSetting } from './longhorn-fixture.ts'

const nodeNames = ['n1', 'n2', 'n3', 'n4', 'n5']
const policy = fc.constantFrom(...drainPolicies, 'nonsense')
const often = fc.constantFrom(true, true, true, false)
const seldom = fc.constantFrom(false, false, false, true)

const node: fc.Arbitrary<NodeSetting> = fc.record({
  kubernetes: fc.constantFrom('ready', 'ready', 'ready', 'silent', 'absent'),
  isBlipping: seldom,
  isCordoned: fc.boolean(),
  isDraining: fc.boolean(),
  intent: fc.constantFrom(undefined, 'Reboot', 'Remove', 'Replace'),
  isEvictionAsked: seldom,
  isAutoEvicting: fc.boolean(),
  takesReplicas: fc.boolean(),
  hasBudget: often,
  manager: fc.record({ isRunning: often, engines: fc.constantFrom([], [], [], ['v1'], ['gone']) }),
})

const copy = fc.record({
  is: fc.constantFrom('healthy', 'healthy', 'healthy', 'failed', 'rebuilding'),
  isActive: often,
  isStopped: fc.boolean(),
  isEvictionRequested: fc.boolean(),
  isBeingDeleted: seldom,
  diskUuid: fc.constantFrom('disk-n1', 'disk-n2', 'other'),
})

const volume: fc.Arbitrary<VolumeSetting> = fc
  .record({
    places: fc.uniqueArray(fc.constantFrom(...nodeNames, ''), { minLength: 0, maxLength: 4 }),
    copies: fc.array(copy, { minLength: 4, maxLength: 4 }),
    own: fc.option(policy, { nil: undefined }),
    state: fc.constantFrom('attached', 'detached', 'moving'),
    robustness: fc.constantFrom('healthy', 'degraded', 'faulted', 'unknown'),
    numberOfReplicas: fc.integer({ min: 0, max: 3 }),
    isStrictLocal: seldom,
    unsettled: fc.constantFrom(undefined, undefined, 'it migrates to node n1'),
  })
  .map(({ places, copies, own, ...more }) => ({
    ...more,
    ...(own === undefined ? {} : { policy: own }),
    copies: Object.fromEntries(places.map((place, at) => [place, copies[at] ?? {}])),
  }))

/** Anything that may be seen, likely or not. */
export const arbitraryLonghorn: fc.Arbitrary<LonghornSnapshot> = fc
  .record({
    policy,
    trigger: fc.constantFrom('cordon', 'drain'),
    isAutoscaled: fc.boolean(),
    surplus: fc.constantFrom('keep', 'remove'),
    nodes: fc.array(node, { minLength: 1, maxLength: 5 }),
    volumes: fc.array(volume, { maxLength: 6 }),
    hasOldManager: fc.boolean(),
    unreadable: fc.subarray([
      { object: 'volume/v2', why: 'bad' },
      { object: 'replica/x', why: 'bad', node: 'n1' },
      { object: 'node/n2', why: 'bad', node: 'n2' },
      { object: 'instancemanager/im-lost', why: 'bad' },
    ]),
  })
  .map(({ nodes, volumes, hasOldManager, ...more }) =>
    longhornFixture({
      ...more,
      nodes: Object.fromEntries(nodes.map((setting, at) => [nodeNames[at] ?? '', setting])),
      volumes: Object.fromEntries(volumes.map((setting, at) => [`v${at + 1}`, setting])),
      managers: hasOldManager ? [managerView('n1', { name: 'im-n1-old', type: 'engine', engines: ['v1'] })] : [],
      moreBudgets: ['im-lost', 'im-n1-old'],
    }),
  )
