import { setTimeout as pause } from 'node:timers/promises'
import { decideCephDrain } from '@cofferdam/product/capabilities/ceph-drain/domain/decide.ts'
import { tell } from '@cofferdam/product/capabilities/ceph-drain/domain/testing/fixture.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { askOkToStop } from '@cofferdam/product/ceph/ok-to-stop.ts'
import { compareOkToStop } from '@cofferdam/product/safety/compare-ok-to-stop.ts'
import { buildSafetyIndex, type SafetyIndex } from '@cofferdam/product/safety/safety-index.ts'
import type { DomainVerdict } from '@cofferdam/product/safety/verdict.ts'
import type { Observed } from '@cofferdam/product/shared/observed.ts'
import { smallDescription } from '@cofferdam/simulator/world/ceph/testing/ceph-fixture.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startClientLoad } from './ceph/client-load.ts'
import { obey } from './ceph/create-pools.ts'
import { type CephLab, openLabCeph } from './ceph/open-lab-ceph.ts'
import type { DumpedPg } from './ceph/why-not-clean.ts'

const description = smallDescription({ mons: ['a', 'b', 'c'] })
const osds = Array.from({ length: 12 }, (_, id) => id)
const victim = 0

let lab: CephLab
let operator: CephCommands
beforeAll(async () => {
  lab = await openLabCeph('second-opinion', description)
  operator = lab.connect(lab.ceph.operator)
  await write()
})
afterAll(() => lab?.close())

/** Objects in every placement group, so that one that lacks a copy lacks something. */
async function write(): Promise<void> {
  const load = startClientLoad({ ...lab, pools: ['rep', 'ec'] })
  await pause(2_000)
  expect((await load.stop()).faults).toEqual([])
}

interface Asked {
  readonly name: string
  readonly osds: readonly number[]
}

/** Every OSD, every two of them, every host and every zone. */
function everySet(): Asked[] {
  const zones = description.crush.children ?? []
  const hosts = zones.flatMap(({ children = [] }) => children)
  const ids = (bucket: (typeof hosts)[number]): number[] => [
    ...(bucket.osds ?? []).map(({ id }) => id),
    ...(bucket.children ?? []).flatMap(ids),
  ]
  return [
    ...osds.map((id) => ({ name: `osd.${id}`, osds: [id] })),
    ...osds.flatMap((one) =>
      osds.filter((id) => id > one).map((id) => ({ name: `osd.${one} and osd.${id}`, osds: [one, id] })),
    ),
    ...[...hosts, ...zones].map((bucket) => ({ name: bucket.name, osds: ids(bucket) })),
  ]
}

interface Opinions {
  readonly ours: readonly DomainVerdict[]
  readonly cephSays: Readonly<Record<string, Observed<boolean>>>
  /** The sets that would leave a placement group with less than it needs, counted from what Ceph prints and from nothing else. */
  readonly unsafe: readonly string[]
}

/** Asks all three about one map: a map that changes in between is asked about once more. */
async function hearBoth(): Promise<Opinions> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const opinions = await hearOnce()
    if (opinions !== undefined) return opinions
  }
  throw new Error('the map changed during each of 20 rounds of questions')
}

async function hearOnce(): Promise<Opinions | undefined> {
  const sets = everySet()
  const index = await look()
  const ours = sets.map(({ name, osds: ids }) => ({ domain: name, osds: ids, verdict: index.mayStop(ids) }))
  const answers: [string, Observed<boolean>][] = []
  for (const { name, osds: ids } of sets) answers.push([name, await askOkToStop(operator, ids)])
  const unsafe = await countUnsafe(sets)
  if ((await look()).map.epoch !== index.map.epoch) return undefined
  return { ours, cephSays: Object.fromEntries(answers), unsafe }
}

/** While the map changes it may take more than one try to see all of it at one epoch. */
async function look(): Promise<SafetyIndex> {
  let why = ''
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const map = await observeCeph(operator)
    if (map.known) return buildSafetyIndex(map.value)
    why = map.why
    await pause(20)
  }
  throw new Error(why)
}

async function countUnsafe(sets: readonly Asked[]): Promise<string[]> {
  const dump = await obey(lab.ceph.commands, { prefix: 'pg dump', dumpcontents: ['pgs'] })
  const { pg_stats: pgs } = JSON.parse(dump) as { pg_stats: readonly DumpedPg[] }
  const minSizes = new Map(description.pools.map(({ minSize }, index) => [String(index + 1), minSize]))
  return sets
    .filter(({ osds: gone }) =>
      pgs.some(({ pgid, acting }) => {
        const present = acting.filter((id) => osds.includes(id))
        const left = present.filter((id) => !gone.includes(id))
        return left.length < present.length && left.length < (minSizes.get(pgid.split('.')[0] ?? '') ?? 0)
      }),
    )
    .map(({ name }) => name)
}

const names = (verdicts: readonly DomainVerdict[], may: string) =>
  verdicts.filter(({ verdict }) => verdict.may === may).map(({ domain }) => domain)

/** Looks only at the last member of each placement group, and so calls sets safe that are not. */
const isForgetful = () => lab.ceph.version.startsWith('20.2.4')

describe('on every set of OSDs that matters', () => {
  for (const when of ['all is well', 'one OSD is down']) {
    describe(`while ${when}`, () => {
      let opinions: Opinions
      beforeAll(async () => {
        if (when === 'one OSD is down') {
          await lab.ceph.daemon(`osd.${victim}`)?.stop()
          await untilSettled()
        }
        opinions = await hearBoth()
        const unsure = Object.values(opinions.cephSays).filter(({ known }) => !known).length
        const count = `${opinions.unsafe.length} of ${opinions.ours.length} sets are unsafe`
        lab.journal.tell('story', `while ${when}: ${count}, Ceph is unsure of ${unsure}`)
      })

      it('we say no exactly where a placement group would fall below what it needs', () => {
        expect(names(opinions.ours, 'unknown')).toEqual([])
        expect(names(opinions.ours, 'no')).toEqual(opinions.unsafe)
        expect(opinions.unsafe.length).toBeGreaterThan(0)
        expect(names(opinions.ours, 'yes').length).toBeGreaterThan(0)
      })

      it('Ceph has no opinion on an OSD that is down already, and on nothing else', () => {
        const unsure = Object.entries(opinions.cephSays).filter(([, answer]) => !answer.known)
        expect(unsure.map(([name]) => name)).toEqual(when === 'one OSD is down' ? [`osd.${victim}`] : [])
      })

      it('both agree; where Ceph is known to be wrong, we report every set that it calls safe and that is not', () => {
        const { details } = compareOkToStop({ verdicts: opinions.ours, cephSays: opinions.cephSays })
        lab.journal.tell(
          'story',
          `while ${when}, in dispute: ${details.map(({ domain }) => domain).join('; ') || 'none'}`,
        )
        const wrongly = opinions.unsafe.filter((name) => {
          const answer = opinions.cephSays[name]
          return answer?.known === true && answer.value
        })
        expect(details).toEqual(wrongly.sort().map((domain) => ({ domain, ours: 'no', cephs: 'yes' })))
        expect(details.length > 0).toBe(isForgetful())
      })

      it('a dispute holds what it is about and raises the alarm, and without one there is none', () => {
        const singles = opinions.ours.filter(({ osds: ids }) => ids.length === 1)
        const { disagreements } = compareOkToStop({ verdicts: opinions.ours, cephSays: opinions.cephSays })
        const decision = decideCephDrain(
          tell({
            zones: Object.fromEntries(singles.map(({ domain, osds: ids }) => [domain, ids])),
            verdicts: Object.fromEntries(singles.map(({ domain, verdict }) => [domain, verdict])),
            down: when === 'one OSD is down' ? [victim] : [],
            ceph: { disagreements },
          }),
        )
        expect(decision.alarm).toBe(singles.some(({ domain }) => disagreements.includes(domain)))
      })
    })
  }
})

/** Waits until every report is newer than the last change, so that all single OSDs have an answer. */
async function untilSettled(): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const index = await look()
    const isSettled = osds.every((id) => index.mayStop([id]).may !== 'unknown')
    // The manager counts the groups of a dead OSD until their other members have reported.
    const isForgotten = async () => !(await askOkToStop(operator, [victim])).known
    if (isSettled && index.map.osds.some(({ isUp }) => !isUp) && (await isForgotten())) return
    await pause(100)
  }
  throw new Error('Ceph did not settle')
}

describe('right after an OSD was killed', () => {
  it('no other one that shares data with it gets a yes, before Ceph notices or after', async () => {
    lab.ceph.start(`osd.${victim}`)
    await lab.ceph.untilClean()
    const calm = await look()
    const conflicting = osds.filter((id) => id !== victim && calm.mayStop([victim, id]).may === 'no')
    expect(conflicting.length).toBeGreaterThan(0)
    expect(conflicting.map((id) => calm.mayStop([id]).may)).toEqual(conflicting.map(() => 'yes'))

    const seen = { beforeNoticed: new Set<string>(), unsettled: new Set<string>() }
    let [cephSaidYes, looks, settled] = [0, 0, false]
    const began = performance.now()
    lab.ceph.daemon(`osd.${victim}`)?.signal('SIGKILL')
    while (!settled && looks < 500) {
      const index = await look()
      const isNoticed = index.map.osds.some(({ id, isUp }) => id === victim && !isUp)
      // Until then the operator knows it from the pod that is gone.
      const judged = isNoticed ? index : index.withOsd({ id: victim, isUp: false })
      const answers = conflicting.map((id) => judged.mayStop([id]).may)
      for (const may of answers) seen[isNoticed ? 'unsettled' : 'beforeNoticed'].add(may)
      settled = isNoticed && answers.every((may) => may === 'no')
      const cephs = await askOkToStop(operator, [conflicting[0] as number])
      if (cephs.known && cephs.value) cephSaidYes = performance.now() - began
      looks += 1
    }
    const stale = `Ceph itself said yes for ${Math.round(cephSaidYes)} ms`
    lab.journal.tell('story', `settled after ${Math.round(performance.now() - began)} ms and ${looks} looks; ${stale}`)
    expect(settled).toBe(true)
    expect([...seen.beforeNoticed, ...seen.unsettled]).not.toContain('yes')
  })

  it('nor while it comes back: the first yes is the last word', async () => {
    const calm = await look()
    const conflicting = osds.filter((id) => id !== victim && calm.mayStop([id]).may === 'no')
    expect(conflicting.length).toBeGreaterThan(0)
    // Data that it does not have, so that it has to be filled in.
    await write()
    lab.ceph.start(`osd.${victim}`)
    const heard = new Map(conflicting.map((id): [number, string[]] => [id, []]))
    for (let calmLooks = 0; calmLooks < 30; ) {
      const index = await look()
      for (const id of conflicting) heard.get(id)?.push(index.mayStop([id]).may)
      calmLooks = [...heard.values()].every((list) => list.at(-1) === 'yes') ? calmLooks + 1 : 0
      await pause(30)
    }
    await lab.ceph.untilClean()
    const flapped = [...heard].filter(([, list]) => list.slice(list.indexOf('yes')).some((may) => may !== 'yes'))
    expect(flapped.map(([id]) => `osd.${id}`)).toEqual([])
  })
})
