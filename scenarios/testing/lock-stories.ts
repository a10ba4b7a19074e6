import { type LockFixture, lockText } from './lock-fixture.ts'

/** A cluster, and what happens to it while an operator is there or comes back. It ends when all that was asked for is done. */
export interface LockScenario {
  readonly title: string
  seed(fixture: LockFixture): Promise<void>
  act(fixture: LockFixture): Promise<void>
}

async function completed(fixture: LockFixture, ...requests: readonly string[]): Promise<void> {
  for (const name of requests) await fixture.reach(name, 'Completed', 600)
  await fixture.seconds(10)
}

export const lockScenarios = {
  'skip-drain-reboot': {
    title: 'a node reboots around the pod that stays, and all is as before',
    async seed(fixture) {
      await fixture.addStaying('db')
      await fixture.addLeaving('web')
    },
    async act(fixture) {
      fixture.trace.chapter('node-1 is to be rebooted')
      await fixture.request('reboot-1', { nodeName: 'node-1' })
      await completed(fixture, 'reboot-1')
    },
  },
  'crossed-pdbs': {
    title: 'two nodes need the budgets of the same two applications; one goes, the other waits and goes then',
    async seed(fixture) {
      await fixture.addStaying('my-app')
      await fixture.addStaying('your-app')
    },
    async act(fixture) {
      fixture.trace.chapter('node-1 and node-2 are to be rebooted, at the same moment')
      await Promise.all([
        fixture.request('reboot-1', { nodeName: 'node-1' }),
        fixture.request('reboot-2', { nodeName: 'node-2' }),
      ])
      await completed(fixture, 'reboot-1', 'reboot-2')
    },
  },
  'app-lock-blocks': {
    title: 'the owner of an application has locked it; the drain waits until the lock is taken away',
    async seed(fixture) {
      await fixture.addStaying('db')
      await fixture.addLeaving('web')
      await fixture.lock('web', lockText(fixture.clock, 3_600))
    },
    async act(fixture) {
      fixture.trace.chapter('node-1 is to be rebooted, and carries a pod of the locked application')
      await fixture.request('reboot-1', { nodeName: 'node-1' })
      await fixture.seconds(30)
      fixture.trace.chapter('The owner is done')
      await fixture.lock('web', undefined)
      await completed(fixture, 'reboot-1')
    },
  },
  'app-lock-expires': {
    title: 'nobody takes the lock away, and it ends by itself',
    async seed(fixture) {
      await fixture.addStaying('db')
      await fixture.addLeaving('web')
    },
    async act(fixture) {
      fixture.trace.chapter('The owner of db locks it for half a minute; node-1 is to be rebooted')
      await fixture.lock('db', lockText(fixture.clock, 30))
      await fixture.request('reboot-1', { nodeName: 'node-1' })
      await completed(fixture, 'reboot-1')
      await fixture.lock('db', undefined)
    },
  },
} satisfies Record<string, LockScenario>

export type LockScenarioName = keyof typeof lockScenarios
