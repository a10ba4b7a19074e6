import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  budget,
  changedApi,
  inDefault,
  openScenario,
  type Scenario,
} from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { judgeAppLocks, defaultAppLockPolicy as policy } from '../../ledger/rules/app-lock.ts'
import { buildAppLockRecord } from '../../ledger/rules/app-lock-record.ts'
import type { Ledger } from '../../ledger/rules/ledger.ts'
import { createLedgerStore } from '../../ledger/store/ledger-store.ts'
import { observeAppLockRecords } from '../../ledger/store/observe-app-lock-records.ts'
import { installDefinitions } from '../../ledger/store/testing/ledger-fixture.ts'
import { appLockAnnotation, lockWritten } from '../../shared/app-lock-annotation.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createLockCommand, type LockPorts } from './lock.ts'
import { createUnlockCommand } from './unlock.ts'

let scenario: Scenario
beforeEach(async () => {
  scenario = openScenario()
  for (const app of ['web', 'orders'])
    await scenario.api.create(podDisruptionBudgets, budget(app, { maxUnavailable: 1 }))
})
afterEach(() => scenario.stop())

async function run(
  build: (ports: LockPorts) => Parameters<typeof runCommand>[0],
  argv: readonly string[],
  { as = 'ann@desk', api = scenario.api }: { as?: string; api?: KubeApi } = {},
) {
  const { connect, links } = inProcess(api)
  const command = build({ connect, clock: scenario.clock, random: scenario.random, requester: () => as })
  const result = await runCommand(command, ...argv)
  expect(links.closed).toBe(links.opened)
  return result
}
const lock = (argv: readonly string[], options?: { as?: string; api?: KubeApi }) =>
  run(createLockCommand as never, ['lock', ...argv], options)
const unlock = (argv: readonly string[], options?: { as?: string; api?: KubeApi }) =>
  run(createUnlockCommand as never, ['unlock', ...argv], options)

const annotationsOf = async (name: string) =>
  (await scenario.api.get(podDisruptionBudgets, inDefault(name))).metadata.annotations ?? {}
const judged = async () => {
  const budgets = (await scenario.list(podDisruptionBudgets)).map((each) => {
    const { name, annotations = {} } = each.metadata
    return { name, annotations, ...lockWritten(each) }
  })
  const records = await observeAppLockRecords({ api: scenario.api, signal })
  return Object.fromEntries(
    judgeAppLocks({ namespace: 'default', budgets, records, policy, nowMs: scenario.clock.now() }),
  )
}
const { signal } = new AbortController()
/** As the operator records it. */
const recordHold = (name: string, sinceMs: number, untilMs: number) => {
  const record = buildAppLockRecord(`default/${name}`, { text: 'earlier', sinceMs, writtenMs: sinceMs, untilMs })
  const change = (ledger: Ledger) => ({ ledger: { ...ledger, appLocks: [record] }, value: undefined })
  return createLedgerStore(scenario).change('record', change, signal)
}
const twoHours = ['--for', '2h', '--reason', 'rebalancing']

describe('lock', () => {
  it('writes a lock that counts for everybody, and says until when', async () => {
    expect(await lock(['pdb/web', ...twoHours])).toEqual({
      code: 0,
      err: '',
      out: [
        'pdb/default/web  locked: Evictions of its pods are refused until 2026-01-01T02:00:00Z.',
        '  by        ann@desk',
        '  reason    rebalancing',
        '  end it    cofferdam unlock pdb/default/web',
        'warning: no eviction guard is registered in this cluster: only drains that Cofferdam runs wait for the lock, others do not see it',
        'warning: limits of the operator: not published; the defaults are taken',
        '',
      ].join('\n'),
    })
    const nowMs = scenario.clock.now()
    const times = { sinceMs: nowMs, writtenMs: nowMs, untilMs: nowMs + 7_200_000 }
    expect(await judged()).toEqual({ web: { lock: { holder: 'ann@desk', reason: 'rebalancing', ...times } } })
    expect(Object.keys(await annotationsOf('web'))).toEqual([appLockAnnotation])
  })

  const refused: Record<string, { given: string[]; says: string }> = {
    'a lock without an end is wrong usage': { given: ['pdb/web', '--reason', 'x'], says: 'a lock must end' },
    'a lock without a reason is wrong usage': {
      given: ['pdb/web', '--for', '1h'],
      says: 'error: a lock needs a reason: set it with --reason',
    },
    'a lock beyond the cap is wrong usage, and the cap is told': {
      given: ['pdb/web', '--for', '5h', '--reason', 'x'],
      says: '--for 5h is more than the 4h that a lock may last',
    },
    'a duration that is none is wrong usage': {
      given: ['pdb/web', '--for', 'soon', '--reason', 'x'],
      says: 'it is a duration such as 2h',
    },
    'what is no budget is wrong usage, with what was meant': {
      given: ['web', ...twoHours],
      says: 'cofferdam lock pdb/web',
    },
    'two namespaces at once are wrong usage': {
      given: ['pdb/shop/web', '-n', 'default', ...twoHours],
      says: 'name two namespaces',
    },
  }
  it.each(Object.entries(refused))('%s', async (_, { given, says }) => {
    const { code, err, out } = await lock(given)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(says)
    expect(await annotationsOf('web')).toEqual({})
  })

  it('a budget that is not there is an error with the closest name', async () => {
    const { code, err } = await lock(['pdb/default/order', ...twoHours])
    expect(code).toBe(1)
    expect(err).toContain('did you mean orders?')
  })

  it('the lock of somebody else stays, and whoever wants it learns whose it is and until when', async () => {
    await lock(['pdb/web', ...twoHours])
    const { code, out } = await lock(['pdb/web', '--for', '1h', '--reason', 'backup'], { as: 'bob@desk' })
    expect(code).toBe(3)
    expect(out).toContain('not locked: ann@desk has locked it until 2026-01-01T02:00:00Z: rebalancing.')
    expect((await judged())['web']?.lock?.holder).toBe('ann@desk')
  })

  it('taken over with --force, the lock has a new holder and an Event names both', async () => {
    await lock(['pdb/web', ...twoHours])
    const { code, out } = await lock(['pdb/web', '--for', '1h', '--reason', 'backup', '--force'], { as: 'bob@desk' })
    expect(code).toBe(0)
    expect(out).toContain('bob@desk, taken over from ann@desk (rebalancing)')
    expect(await scenario.eventsAbout('web')).toEqual([
      'Warning BreakGlass x1: bob@desk takes the lock from ann@desk (rebalancing), until 2026-01-01T01:00:00Z: backup',
    ])
  })

  it('its own lock is prolonged, and counts from its first beginning', async () => {
    await installDefinitions(scenario.api)
    await scenario.seconds(9 * 3_600)
    const nowMs = scenario.clock.now()
    await recordHold('web', nowMs - 9 * 3_600_000, nowMs + 3_600_000)
    const { out } = await lock(['pdb/web', '--for', '4h', '--reason', 'rebalancing'])
    expect(out).toContain('refused until 2026-01-01T12:00:00Z')
    expect((await judged())['web']?.lock?.untilMs).toBe(Date.parse('2026-01-01T12:00:00Z'))
    expect(out).toContain('warning: annotation cofferdam.io/lock of web ends at 2026-01-01T12:00:00Z')
  })

  it('right after twelve hours it is refused, however the budget was changed, and says when it may be locked again', async () => {
    await installDefinitions(scenario.api)
    await scenario.seconds(13 * 3_600)
    const nowMs = scenario.clock.now()
    await recordHold('web', nowMs - 12 * 3_600_000, nowMs)
    const { code, out } = await lock(['pdb/web', ...twoHours])
    expect(code).toBe(3)
    expect(out).toContain('not locked: annotation cofferdam.io/lock of web has ended at 2026-01-01T13:00:00Z')
    expect(out).toContain('way out   Lock it again 10 minutes after its last lock has ended.')
    await scenario.seconds(600)
    expect((await lock(['pdb/web', ...twoHours])).code).toBe(0)
  })

  it('one lock more than a namespace may have is refused, and the others are named', async () => {
    for (let number = 1; number <= 5; number += 1) {
      await scenario.api.create(podDisruptionBudgets, budget(`app-${number}`, { maxUnavailable: 1 }))
      await lock([`pdb/app-${number}`, ...twoHours])
    }
    const { code, out } = await lock(['pdb/web', ...twoHours, '-o', 'json'])
    expect(code).toBe(3)
    expect(JSON.parse(out)).toEqual({
      object: 'pdb/default/web',
      isLocked: false,
      reason: 'LockRefused',
      explanation: 'its namespace has 5 locks already, and may have 5: app-1, app-2, app-3, app-4, app-5.',
      wayOut: 'Unlock one of them, or wait until one ends.',
      warnings: [],
    })
    expect(await annotationsOf('web')).toEqual({})
  })

  it('somebody who writes the budget in between does not lose what he wrote', async () => {
    let isFirst = true
    const api = changedApi(scenario.api, {
      patch: (async (...request: Parameters<KubeApi['patch']>) => {
        if (isFirst) {
          isFirst = false
          const body = { metadata: { annotations: { [appLockAnnotation]: JSON.stringify(bobs) } } }
          await scenario.api.patch(podDisruptionBudgets, inDefault('web'), { type: 'merge', body })
        }
        return scenario.api.patch(...request)
      }) as KubeApi['patch'],
    })
    const bobs = { holder: 'bob@desk', reason: 'backup', since: '2026-01-01T00:00:00Z', for: '1h' }
    expect((await lock(['pdb/web', ...twoHours], { api })).code).toBe(3)
    expect((await judged())['web']?.lock?.holder).toBe('bob@desk')
  })
})

describe('unlock', () => {
  it('ends a lock of its own, and nothing of it is left on the budget', async () => {
    await lock(['pdb/web', ...twoHours])
    expect(await unlock(['pdb/web'])).toEqual({
      code: 0,
      err: '',
      out: 'pdb/default/web  not locked: The lock of ann@desk is ended (rebalancing).\n',
    })
    expect(await annotationsOf('web')).toEqual({})
  })

  it('leaves the lock of somebody else: their rebalance would be evicted in the middle', async () => {
    await lock(['pdb/web', ...twoHours])
    expect((await unlock(['pdb/web'], { as: 'bob@desk' })).code).toBe(3)
    expect((await judged())['web']?.lock?.holder).toBe('ann@desk')
  })

  it('ends the lock of somebody else with --force and an Event', async () => {
    await lock(['pdb/web', ...twoHours])
    expect((await unlock(['pdb/web', '--force'], { as: 'bob@desk' })).code).toBe(0)
    expect(await annotationsOf('web')).toEqual({})
    expect(await scenario.eventsAbout('web')).toEqual([
      'Warning BreakGlass x1: bob@desk ends the lock of ann@desk (rebalancing)',
    ])
  })

  it('of somebody who may not write Events works all the same', async () => {
    await lock(['pdb/web', ...twoHours])
    const api = changedApi(scenario.api, { create: () => Promise.reject(new ApiError('Forbidden', 'no events')) })
    expect((await unlock(['pdb/web', '--force'], { as: 'bob@desk', api })).code).toBe(0)
  })

  it('removes an annotation that locked nothing, and says what was wrong with it', async () => {
    const body = { metadata: { annotations: { [appLockAnnotation]: 'for ever!' } } }
    await scenario.api.patch(podDisruptionBudgets, inDefault('web'), { type: 'merge', body })
    const { code, out } = await unlock(['pdb/web'], { as: 'bob@desk' })
    expect(code).toBe(0)
    expect(out).toContain('annotation cofferdam.io/lock of web is not JSON; it does not lock')
    expect(await annotationsOf('web')).toEqual({})
  })

  it('what nobody locked is not locked, and that is no error', async () => {
    expect(await unlock(['pdb/web'])).toEqual({
      code: 0,
      err: '',
      out: 'pdb/default/web  not locked: It is not locked.\n',
    })
  })
})
