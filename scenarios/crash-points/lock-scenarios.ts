import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { type LockFixture, openLockFixture } from '../testing/lock-fixture.ts'
import { type LockScenario, lockScenarios } from '../testing/lock-stories.ts'
import type { OperateOptions } from '../testing/staged-operators.ts'
import { type CrashScenario, crashScenario } from './crash-scenario.ts'

function onLocks({ title, seed, act }: LockScenario, operate: OperateOptions = {}): CrashScenario {
  return crashScenario<LockFixture>({
    title,
    operate,
    async open() {
      const fixture = await openLockFixture()
      await seed(fixture)
      return fixture
    },
    async act(fixture) {
      await fixture.seconds(5)
      await act(fixture)
    },
    facts: (fixture) => fixture.budgets(),
  })
}

/** Nodes go down for a while as soon as they may. */
function withReboots(scenario: LockScenario): LockScenario {
  return {
    ...scenario,
    async act(fixture) {
      fixture.rebootForSeconds(45)
      await scenario.act(fixture)
    },
  }
}

const { seed } = lockScenarios['skip-drain-reboot']

const breakGlass: LockScenario = {
  title: 'the key of a forgotten drain is taken on the word of an administrator',
  seed: (fixture) => fixture.addLeaving('web'),
  async act(fixture) {
    await fixture.request('forgotten', { nodeName: 'node-1' })
    await fixture.reach('forgotten', 'Drained')
    await fixture.request('urgent', { nodeName: 'node-1' })
    await fixture.seconds(30)
    await fixture.breakGlass('urgent', {
      by: 'alice',
      reason: 'the rack burns',
      untilMs: fixture.clock.now() + 600_000,
    })
    await fixture.reach('urgent', 'Drained')
    await fixture.api.delete(nodeDisruptions, { name: 'forgotten' })
    await fixture.seconds(10)
    fixture.world.kubelet.reboot('node-1', 60)
    await fixture.reach('urgent', 'Completed', 600)
  },
}

/** The process that leads is ended as it should be, once the drain is under way. */
async function endInTheMiddle(fixture: LockFixture): Promise<void> {
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.until('it is under way', () => fixture.phaseOf('reboot-1') !== 'Pending')
  void fixture.newestOperator()?.stop()
}

const upgrade: LockScenario = {
  title: 'the operator is replaced by its next version in the middle of a drain',
  seed,
  async act(fixture) {
    fixture.operate({ isReplaced: true, identity: 'beside' })
    await endInTheMiddle(fixture)
    await fixture.reach('reboot-1', 'Completed', 600)
  },
}

const uninstall: LockScenario = {
  title: 'the operator is taken away while a node is held, and comes back later',
  seed,
  async act(fixture) {
    await endInTheMiddle(fixture)
    await fixture.seconds(90)
    fixture.operate({ isReplaced: true, identity: 'installed again' })
    await fixture.reach('reboot-1', 'Completed', 600)
  },
}

const restore: LockScenario = {
  title: 'the ledger and the request are put back to how they were in the middle of the drain',
  seed,
  async act(fixture) {
    const { api } = fixture
    const read = () =>
      Promise.all([
        api.get(disruptionLedgers, { name: ledgerName }),
        api.get(nodeDisruptions, { name: 'reboot-1' }),
      ] as const)
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.until('it is under way', () => fixture.phaseOf('reboot-1') !== 'Pending')
    const [ledger, request] = await read()
    await fixture.reach('reboot-1', 'Completed', 600)
    const status = { subresource: 'status' }
    // A backup is put back past the rules of the API, by which counters never go back and what was locked stays on record: they may be gone.
    const gone = { type: 'merge', body: { status: null } } as const
    await api.patch(disruptionLedgers, { name: ledgerName }, gone, status)
    await api.patch(nodeDisruptions, { name: 'reboot-1' }, gone, status)
    const [ledgerNow, requestNow] = await read()
    await api.update(disruptionLedgers, { ...ledgerNow, ...(ledger.status && { status: ledger.status }) }, status)
    await api.update(nodeDisruptions, { ...requestNow, ...(request.status && { status: request.status }) }, status)
    // Where it has not begun in that backup, it begins again, and the agent of the node has to reboot it again.
    fixture.rebootForSeconds(45)
    await fixture.seconds(30)
    await fixture.reach('reboot-1', 'Completed', 600)
  },
}

const withLease: OperateOptions = { identity: 'first' }

export const lockCrashScenarios = {
  'skip-drain-reboot': onLocks(withReboots(lockScenarios['skip-drain-reboot'])),
  'crossed-pdbs': onLocks(withReboots(lockScenarios['crossed-pdbs'])),
  'app-lock-blocks': onLocks(withReboots(lockScenarios['app-lock-blocks'])),
  'app-lock-expires': onLocks(withReboots(lockScenarios['app-lock-expires'])),
  'break-glass': onLocks(breakGlass),
  'operator-upgrade-midway': onLocks(withReboots(upgrade), withLease),
  'uninstall-with-active-lock': onLocks(withReboots(uninstall), withLease),
  'etcd-restore': onLocks(withReboots(restore)),
} satisfies Record<string, CrashScenario>
