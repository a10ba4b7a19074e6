import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { decideLonghornDrain } from './decide.ts'
import { policyFor, ruleOf } from './policy.ts'
import { drainPolicies, type LonghornSnapshot, type ReplicaView } from './snapshot.ts'
import { arbitraryLonghorn } from './testing/arbitrary-longhorn.ts'
import { applyDecision, longhornFixture } from './testing/longhorn-fixture.ts'

/** With the budgets of ours that are wanted, and without those that are needless. */
function withHolds(seen: LonghornSnapshot): LonghornSnapshot {
  const holds = new Set(seen.holds)
  for (const { instanceManager, hold } of decideLonghornDrain(seen).budgets) {
    if (hold === 'needed') holds.add(instanceManager)
    if (hold === 'needless') holds.delete(instanceManager)
  }
  return { ...seen, holds, budgets: new Set([...seen.longhornBudgets, ...holds]) }
}

/** Longhorn's rule, told as plainly as can be: whether it deletes the budgets of a cordoned node. */
function doesLonghornLetGo(seen: LonghornSnapshot, node: string): boolean {
  const { inForce } = seen.settings
  const managers = seen.instanceManagers.filter((manager) => manager.node === node)
  if (managers.some(({ type, engines }) => type !== 'replica' && engines.length > 0)) return false
  // What it does with a value that it does not know is anything.
  if (!inForce.known || inForce.value === 'always-allow') return true
  const here = seen.replicas.filter((replica) => replica.node === node)
  if (inForce.value === 'block-for-eviction') return here.length === 0
  const counted = inForce.value === 'allow-if-replica-is-stopped' ? here.filter(({ isStopped }) => !isStopped) : here
  return counted.every(
    ({ volume, healthyAt, failedAt }) =>
      (healthyAt === '' && failedAt === '') ||
      seen.replicas.some((copy) => copy.volume === volume && copy.node !== node && isProtected(seen, copy)),
  )
}

function isProtected(seen: LonghornSnapshot, copy: ReplicaView): boolean {
  const node = seen.nodes.find(({ name }) => name === copy.node)
  const manager = seen.instanceManagers.find(({ name }) => name === copy.instanceManager)
  if (copy.healthyAt === '' || copy.failedAt !== '' || node === undefined || node.kubernetes === 'absent') return false
  return !node.isCordoned && manager?.isRunning === true && seen.longhornBudgets.has(manager.name)
}

it('whichever node is cordoned next and however fast Longhorn lets it go: what must not go is held already', () => {
  let held = 0
  fc.assert(
    fc.property(arbitraryLonghorn, (arbitrary) => {
      const seen = withHolds(withHolds(arbitrary))
      for (const node of seen.nodes.filter(({ isCordoned, kubernetes }) => !isCordoned && kubernetes !== 'absent')) {
        const nodes = seen.nodes.map((each) => (each === node ? { ...each, isCordoned: true } : each))
        const cordoned = { ...seen, nodes }
        const own = seen.instanceManagers.filter((manager) => manager.node === node.name && manager.isRunning)
        const gone = doesLonghornLetGo(cordoned, node.name) ? new Set(own.map(({ name }) => name)) : new Set<string>()
        const longhornBudgets = new Set([...seen.longhornBudgets].filter((name) => !gone.has(name)))
        const after = { ...cordoned, longhornBudgets, budgets: new Set([...longhornBudgets, ...seen.holds]) }
        for (const { instanceManager, wanted } of decideLonghornDrain(after).budgets) {
          const isOfNode = own.some(({ name, type }) => name === instanceManager && type !== 'engine')
          if (!isOfNode || wanted !== 'present') continue
          held += 1
          expect([instanceManager, after.budgets.has(instanceManager)]).toEqual([instanceManager, true])
        }
      }
    }),
    { numRuns: runsOf(500) },
  )
  expect(held).toBeGreaterThan(runsOf(100))
})

it('budgets of ours settle: what was made or deleted is not judged otherwise the next moment', () => {
  fc.assert(
    fc.property(arbitraryLonghorn, (arbitrary) => {
      const seen = withHolds(withHolds(arbitrary))
      expect([...withHolds(seen).holds].sort()).toEqual([...seen.holds].sort())
    }),
    { numRuns: runsOf(500) },
  )
})

const nodeNames = ['n1', 'n2', 'n3', 'n4']
const seldom = fc.constantFrom(false, false, false, true)
const policy = fc.constantFrom(...drainPolicies)

/** Mostly well, so that many nodes may go, and mostly for the sake of copies on others. */
const calmLonghorn = fc
  .record({
    policy,
    rebootPolicy: fc.option(policy, { nil: undefined }),
    isAutoscaled: fc.constantFrom(true, true, false),
    nodes: fc.array(
      fc.record({
        isCordoned: seldom,
        intent: fc.constantFrom(undefined, undefined, 'Reboot' as const),
        hasBudget: seldom.map((isMissing) => !isMissing),
        manager: seldom.map((isBusy) => (isBusy ? { engines: ['other'] } : {})),
      }),
      { minLength: 2, maxLength: 4 },
    ),
    volumes: fc.array(
      fc.record({
        copies: fc.dictionary(
          fc.constantFrom(...nodeNames),
          fc.record({ isStopped: fc.boolean(), is: fc.constantFrom('healthy', 'healthy', 'healthy', 'failed') }),
          { minKeys: 1 },
        ),
        own: fc.constantFrom(undefined, undefined, undefined, ...drainPolicies),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ nodes, volumes, rebootPolicy, ...more }) =>
    longhornFixture({
      ...more,
      ...(rebootPolicy === undefined ? {} : { rebootPolicy }),
      nodes: Object.fromEntries(nodes.map((node, at) => [nodeNames[at] ?? '', node])),
      volumes: Object.fromEntries(
        volumes.map(({ own, copies }, at) => [`v${at}`, own === undefined ? { copies } : { copies, policy: own }]),
      ),
    }),
  )

/** Whether its policy wants its node held where it is the last: not under always-allow, nor for a stopped one that may go. */
function countsAsLast(seen: LonghornSnapshot, { node, volume, isStopped }: ReplicaView): boolean {
  const intent = seen.nodes.find(({ name }) => name === node)?.intent
  const view = seen.volumes.find(({ name }) => name === volume)
  const rule = ruleOf({ setting: policyFor(seen.settings, intent), volume: view })
  return rule !== 'free' && !(rule === 'last-unless-stopped' && isStopped)
}

it('nodes that one decision lets go never take the last copies of a volume between them, unless its policy says so', () => {
  let relied = 0
  fc.assert(
    fc.property(calmLonghorn, (seen) => {
      const decision = decideLonghornDrain(seen)
      const after = applyDecision(seen, decision)
      const released = new Set(decision.budgets.filter(({ wanted }) => wanted === 'absent').map(({ node }) => node))
      const open = new Set(seen.nodes.filter(({ isCordoned }) => !isCordoned).map(({ name }) => name))
      for (const replica of seen.replicas.filter((each) => released.has(each.node) && countsAsLast(seen, each))) {
        const left = seen.replicas.filter(
          ({ volume, node, failedAt }) =>
            volume === replica.volume && open.has(node) && failedAt === '' && after.budgets.has(`im-${node}`),
        )
        relied += 1
        expect([replica.name, left.length > 0]).toEqual([replica.name, true])
      }
    }),
    { numRuns: runsOf(5000) },
  )
  expect(relied).toBeGreaterThan(runsOf(500))
})
