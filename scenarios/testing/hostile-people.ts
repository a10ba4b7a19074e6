import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { FencingFixture } from './fencing-fixture.ts'
import { budgetNames, setMost, shop, workers } from './hundred-nodes.ts'
import type { StagedOperator } from './lock-fixture.ts'
import type { RollingOracle } from './rolling-oracle.ts'

export interface HostileStage {
  readonly fixture: FencingFixture
  readonly oracle: RollingOracle
  readonly random: Random
  /** The process of the operator that lives now. */
  readonly operator: () => StagedOperator | undefined
}

interface Person {
  readonly name: string
  /** What they do, again and again, at any moment. */
  readonly deeds: readonly ((stage: HostileStage) => Promise<void> | void)[]
}

function oneOf<T>({ random }: HostileStage, items: readonly T[]): T {
  return items[Math.min(items.length - 1, Math.floor(random.next() * items.length))] as T
}

function below({ random }: HostileStage, count: number): number {
  return Math.floor(random.next() * count)
}

async function setCordon({ fixture }: HostileStage, name: string, isCordoned: boolean): Promise<void> {
  const body = { spec: { unschedulable: isCordoned ? true : null } }
  await fixture.api.patch(nodes, { name }, { type: 'merge', body }).catch(() => undefined)
}

async function setLock({ fixture }: HostileStage, name: string, text: string | null): Promise<void> {
  const body = { metadata: { annotations: { [appLockAnnotation]: text } } }
  await fixture.api
    .patch(podDisruptionBudgets, { namespace: shop, name }, { type: 'merge', body })
    .catch(() => undefined)
}

/** Five people who each have rights, and use them at the wrong moment. */
export const hostilePeople: readonly Person[] = [
  {
    name: 'an owner who locks budgets and makes them anew',
    deeds: [
      async (stage) => {
        const { clock } = stage.fixture
        const until = rfc3339(clock.now() + 60_000 * (1 + below(stage, 8)))
        await setLock(stage, oneOf(stage, budgetNames), JSON.stringify({ until, holder: 'bob', reason: 'rebalance' }))
      },
      (stage) => setLock(stage, oneOf(stage, budgetNames), null),
      (stage) => setLock(stage, oneOf(stage, budgetNames), 'until tomorrow, please'),
      async (stage) => {
        const { api } = stage.fixture
        const key = { namespace: shop, name: oneOf(stage, budgetNames) }
        const before = await api.get(podDisruptionBudgets, key).catch(() => undefined)
        if (before === undefined) return
        await api.delete(podDisruptionBudgets, key).catch(() => undefined)
        const { apiVersion, kind, metadata, spec } = before
        const { namespace = shop, name } = metadata
        await api.create(podDisruptionBudgets, { apiVersion, kind, metadata: { namespace, name }, spec })
      },
    ],
  },
  {
    name: 'a colleague who cordons and uncordons what he does not know',
    deeds: [
      (stage) => setCordon(stage, oneOf(stage, workers), false),
      async (stage) => {
        const name = oneOf(stage, workers)
        await setCordon(stage, name, true)
        stage.fixture.clock.after(60_000 * (1 + below(stage, 5)), () => void setCordon(stage, name, false))
      },
    ],
  },
  {
    name: 'a colleague who cleans up requests and the ledger',
    deeds: [
      async (stage) => {
        const { api, views } = stage.fixture
        const names = [...views.of(nodeDisruptions).values()].map(({ metadata }) => metadata.name)
        if (names.length > 0) await api.delete(nodeDisruptions, { name: oneOf(stage, names) }).catch(() => undefined)
      },
      async (stage) => {
        if (below(stage, 4) > 0) return
        await stage.fixture.api.delete(disruptionLedgers, { name: ledgerName }).catch(() => undefined)
      },
      async (stage) => {
        await setMost(stage.fixture, oneOf(stage, [1, 3, 5, 10, 20])).catch(() => undefined)
      },
    ],
  },
  {
    name: 'somebody who pulls plugs',
    deeds: [
      (stage) => {
        const { fixture, oracle } = stage
        const name = oneOf(stage, workers)
        // One at a time, and not where one is down already: what dies beside a reboot is an outage, whoever drains.
        const isCalm = workers.every((each) => fixture.world.kubelet.isOn(each))
        if (!isCalm || below(stage, 3) > 0) return
        oracle.mishap(name)
        fixture.kill(name)
        fixture.clock.after(60_000 * (1 + below(stage, 12)), () => {
          if (!fixture.world.kubelet.isOn(name)) fixture.world.kubelet.powerOn(name)
        })
      },
      ({ fixture, ...rest }) => {
        fixture.silenceCeph()
        fixture.clock.after(5_000 + below({ fixture, ...rest }, 60_000), () => fixture.letCephAnswer())
      },
      (stage) => stage.fixture.ceph[0]?.controls.killMgr(5_000 + below(stage, 30_000)),
    ],
  },
  {
    name: 'a cluster upgrade that kills and stops the operator',
    deeds: [
      (stage) => stage.operator()?.killAfter(below(stage, 40)),
      (stage) => {
        const operator = stage.operator()
        if (operator === undefined || operator.isDead() || operator.isFrozen()) return
        operator.freezeAfter(below(stage, 20))
        stage.fixture.clock.after(20_000 + below(stage, 90_000), () => operator.thaw())
      },
    ],
  },
]

export async function doSomethingHostile(stage: HostileStage): Promise<void> {
  const person = oneOf(stage, hostilePeople)
  const at = below(stage, person.deeds.length)
  stage.fixture.trace.tell(`${person.name} (${at + 1})`)
  await person.deeds[at]?.(stage)
}

/** They go home: what stands in the way of everybody for ever is theirs to take away. */
export async function goHome(stage: HostileStage): Promise<void> {
  const { fixture } = stage
  for (const name of budgetNames) await setLock(stage, name, null)
  await setMost(fixture, 10)
  fixture.letCephAnswer()
  for (const name of workers) if (!fixture.world.kubelet.isOn(name)) fixture.world.kubelet.powerOn(name)
}
