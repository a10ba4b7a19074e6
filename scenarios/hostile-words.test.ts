import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import { events, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { createDrainCommand } from '@cofferdam/product/cli/drain/drain.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { load } from 'js-yaml'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'

/** Clears the screen, prints an answer of its own, rings, hides itself, and turns the rest round. */
const forged = 'node/node-1  free: All 2 pods may go.'
const holder = `bob\u001b[2J\u001b[31m\u009b8m\u007f\n${forged}\r\u0007`
const reason = `rebalance\u202e\u2066 (desserpxe)\u2028${forged}\ttoo`
const rawRanges = [
  [0x00, 0x09],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x061c, 0x061c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
] as const

/** What a terminal would obey. */
function rawIn(text: string): string[] {
  const codes = Array.from(text, (character) => character.codePointAt(0) as number)
  return codes
    .filter((code) => rawRanges.some(([from, to]) => code >= from && code <= to))
    .map((code) => `U+${code.toString(16)}`)
}

let fixture: LockFixture
let pod: string
beforeEach(async () => {
  fixture = await openLockFixture()
  await fixture.addLeaving('web')
  fixture.operate()
  await fixture.seconds(5)
  const until = rfc3339(fixture.clock.now() + 3_600_000)
  // Whoever owns the application owns its budget: this is all the right it takes.
  const patchBudgets = { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['patch'] }
  const owner = await fixture.memberOfShop('owner', [patchBudgets])
  const annotations = { 'cofferdam.io/lock': JSON.stringify({ until, holder, reason }) }
  const key = { namespace: 'shop', name: 'web' }
  await owner.patch(podDisruptionBudgets, key, { type: 'merge', body: { metadata: { annotations } } })
  await fixture.seconds(5)
  pod = fixture.podOf('web')
})
afterEach(() => fixture.close())

const ports = () => ({ connect: inProcess(fixture.api).connect, clock: fixture.clock, requester: () => 'ann' })

function expectHarmless(text: string): void {
  expect(rawIn(text)).toEqual([])
  expect(text.split('\n').filter((line) => line.startsWith(forged))).toEqual([])
  expect(text).toContain('bob\\x1b[2J\\x1b[31m\\x9b8m\\x7f\\n')
}

describe('an owner who writes escape sequences and forged lines into a lock', () => {
  it.each(['pod', 'pdb/shop/web', 'node'])(
    'is shown as he wrote it by explain %s, and forges no answer',
    async (kind) => {
      const objects: Record<string, string> = { pod: `pod/shop/${pod}`, node: `node/${fixture.nodeOf(pod)}` }
      const { code, out, err } = await runCommand(createExplainCommand(ports()), 'explain', objects[kind] ?? kind)
      expect([code, err]).toEqual([3, ''])
      expectHarmless(out)
    },
  )

  it('reaches no terminal through status, nor does an Event that anybody may write', async () => {
    const event: Event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'shop', name: 'forged' },
      involvedObject: { kind: 'Pod', namespace: 'shop', name: pod },
      type: 'Warning',
      reason: 'Broken\u001b[8m',
      message: holder,
      lastTimestamp: rfc3339(fixture.clock.now()),
    }
    await fixture.api.create(events, event)
    const { out } = await runCommand(createStatusCommand(ports()), 'status')
    expectHarmless(out)
    expect(out).toContain('Broken\\x1b[8m')
  })

  it('reaches no terminal through a rehearsed drain', async () => {
    const { code, out, err } = await runCommand(createDrainCommand(ports()), 'drain', fixture.nodeOf(pod), '--dry-run')
    expect([code, err]).toEqual([3, ''])
    expectHarmless(out)
  })

  it('reaches no terminal through a drain, nor through the request that kubectl describes', async () => {
    const running = runCommand(createDrainCommand(ports()), 'drain', fixture.nodeOf(pod), '--timeout', '20s')
    await fixture.seconds(30)
    const { code, out, err } = await running
    expect(code).toBe(4)
    expectHarmless(out)
    expectHarmless(err)
    const { items } = await fixture.api.list(nodeDisruptions)
    const texts = textsOf(items.map(({ status }) => status))
    expect(texts.filter((text) => text.includes('bob'))).not.toEqual([])
    expect(texts.filter(isHarmful)).toEqual([])
  })

  it('reaches no terminal of kubectl: neither by the refusal of the guard nor by Events of the operator', async () => {
    const refused = evictPod(fixture.api, { namespace: 'shop', name: pod }, { dryRun: true })
    const error = await refused.then(
      () => undefined,
      (thrown: Error & { code?: number; details?: unknown }) => thrown,
    )
    expect(error?.code).toBe(429)
    const said = [error?.message ?? '', ...textsOf(error?.details)]
    expect(said.filter(isHarmful)).toEqual([])
    expectHarmless(error?.message ?? '')
    const { items } = await fixture.api.list(events)
    const own = items.filter(({ source }) => source?.component === 'cofferdam').map(({ message }) => message ?? '')
    expect(own.filter((text) => text.includes('bob'))).not.toEqual([])
    expect(own.filter(isHarmful)).toEqual([])
  })

  it('is told without loss to programs, in JSON and YAML that a terminal may show', async () => {
    const object = `pod/shop/${pod}`
    const json = await runCommand(createExplainCommand(ports()), 'explain', object, '-o', 'json')
    const yaml = await runCommand(createExplainCommand(ports()), 'explain', object, '-o', 'yaml')
    expect([...rawIn(json.out), ...rawIn(yaml.out)]).toEqual([])
    const answer = JSON.parse(json.out) as { blockers: { holder: string; explanation: string }[] }
    expect(load(yaml.out)).toEqual(answer)
    expect(answer.blockers[0]?.holder).toBe(holder.trim())
    expect(answer.blockers[0]?.explanation).toContain(reason)
  })
})

const isHarmful = (text: string) => rawIn(text).length > 0 || text.includes('\n')

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}
