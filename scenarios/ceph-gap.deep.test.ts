import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { observeStatus } from '@cofferdam/product/ceph/observe-status.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { evictableOsds } from './testing/evictable-osds.ts'

/** osd.0 and osd.1 are in zone x, osd.2 and osd.3 in y, osd.4 and osd.5 in z; every placement group has a copy in each. */
const threeZones = `
pace: { readyAfterSeconds: 1, terminationSeconds: 1 }
zones: [{ name: x }, { name: y }, { name: z }]
nodes: [{ name: "node-{zone}", roles: [worker] }]
ceph:
  osds: { perNode: 2 }
  pools: [{ name: data, failureDomain: zone, pgs: 16 }]
`

let fixture: CephFixture
beforeEach(async () => {
  fixture = await openCephFixture(threeZones)
  fixture.startOperator()
  // The next poll of calm times is far away.
  await fixture.seconds(125)
  expect([evictableOsds(fixture.views), fixture.ceph.controls.log.followerCount]).toEqual([[0, 1, 2, 3, 4, 5], 1])
  fixture.asked.length = 0
})
afterEach(() => fixture.close())

const elsewhere = () => evictableOsds(fixture.views).filter((osd) => osd !== 2 && osd !== 3)
const isNotReady = async () => conditionOf(await fixture.api.get(nodes, { name: 'node-y' }), 'Ready')?.status !== 'True'
const cephKnows = async () => {
  const map = await observeCeph(fixture.ceph.commands)
  return map.known && map.value.osds.some(({ isUp }) => !isUp)
}

const upOsds = async () => {
  const status = await observeStatus(fixture.ceph.commands)
  return status.known ? status.value.upOsdCount : Number.NaN
}

/** Lets time pass, and notes each look at which an OSD outside zone y could go although somebody knew at the look before. */
async function watchTheGap(forSeconds: number) {
  const gaps: string[] = []
  let known: string | undefined
  const began = fixture.clock.now()
  while (fixture.clock.now() - began < forSeconds * 1_000) {
    await fixture.seconds(0.5)
    if (known !== undefined && elsewhere().length > 0) {
      gaps.push(`${(fixture.clock.now() - began) / 1_000} s: ${elsewhere().join()} may go, ${known}`)
    }
    known = (await cephKnows()) ? 'Ceph knows' : (await isNotReady()) ? 'Kubernetes knows' : undefined
  }
  return gaps
}

async function statusText() {
  const { connect } = inProcess(fixture.api)
  return (await runCommand(createStatusCommand({ connect, clock: fixture.clock }), 'status', '-o', 'wide')).out
}

describe('a machine loses its power', () => {
  it('no other zone may lose an OSD from the moment Ceph knows: ten seconds later, when Kubernetes knows, seven placement groups had too few copies', async () => {
    fixture.machines.powerOff('node-y')
    expect(await watchTheGap(70)).toEqual([])
    expect(fixture.oracle.violations).toEqual([])
  })

  it('the same where Kubernetes knows first, because Ceph waits for its heartbeats; the reason names the node everywhere', async () => {
    fixture.machines.setReady('node-y', false)
    await fixture.seconds(1)
    expect([await isNotReady(), await cephKnows(), elsewhere()]).toEqual([true, false, []])
    const { connect } = inProcess(fixture.api)
    const explained = await runCommand(
      createExplainCommand({ connect, clock: fixture.clock }),
      'explain',
      'node/node-x',
    )
    expect(explained.out).toContain('node node-y is NotReady')
    expect(await statusText()).toContain('node node-y is NotReady')
  })

  it('and a mon with it, so that Ceph does not answer at first', async () => {
    fixture.ceph.controls.silence(true)
    fixture.machines.setReady('node-y', false)
    await fixture.seconds(1)
    // Kubernetes counts the pods of the node as gone, when it has come to each of them; the budget does not wait for that, nor for Ceph.
    expect(fixture.budgetText('rook-ceph-osd')).toBe('maxUnavailable 0')
    await fixture.seconds(30)
    expect(elsewhere()).toEqual([])
    fixture.ceph.controls.silence(false)
    await fixture.seconds(20)
  })

  it('and the active mgr with it: nobody tells of placement groups until another takes over, and budgets stayed open for as long', async () => {
    fixture.ceph.controls.killMgr(25_000)
    fixture.machines.powerOff('node-y')
    const gaps: string[] = []
    let isKnown = false
    for (let step = 0; step < 80; step += 1) {
      await fixture.seconds(0.5)
      if (isKnown && elsewhere().length > 0) gaps.push(`${step / 2} s: ${elsewhere().join()} may go`)
      isKnown = (await upOsds()) < 6
    }
    expect([isKnown, gaps]).toEqual([true, []])
    expect(fixture.oracle.violations).toEqual([])
  })
})

it('an OSD hangs while its pod stays ready: no other zone may lose one from the moment Ceph marks it down, not a minute later', async () => {
  fixture.ceph.controls.failDisk(2)
  expect(await watchTheGap(30)).toEqual([])
  expect(fixture.oracle.violations).toEqual([])
})

describe('a node that flaps', () => {
  it('closes the other zones while it is NotReady and opens them each time that it is Ready and Ceph has all data clean', async () => {
    for (let round = 0; round < 5; round += 1) {
      fixture.machines.setReady('node-y', false)
      await fixture.seconds(20)
      expect(elsewhere()).toEqual([])
      fixture.machines.setReady('node-y', true)
      await fixture.until('everything may go again', () => elsewhere().length === 4, 40)
    }
    expect(fixture.oracle.violations).toEqual([])
  })
})

it('a kubelet goes while another zone comes back: the OSDs beside it serve, and may not be evicted as if they were down already', async () => {
  fixture.machines.powerOff('node-x')
  await fixture.until('Ceph has lost zone x', async () => (await upOsds()) === 4, 60)
  fixture.machines.setReady('node-y', false)
  await fixture.seconds(20)
  fixture.machines.powerOn('node-x')
  const gaps: string[] = []
  await fixture.until(
    'zone x is back',
    async () => {
      const loose = evictableOsds(fixture.views).filter((osd) => osd > 1)
      const isBack = (await upOsds()) === 6
      if (!isBack && loose.length > 0) gaps.push(`osd ${loose.join()} may go`)
      return isBack
    },
    120,
  )
  expect(gaps).toEqual([])
  fixture.machines.setReady('node-y', true)
  await fixture.until('everything may go again', () => evictableOsds(fixture.views).length === 6, 120)
  expect(fixture.oracle.violations).toEqual([])
})

describe('the cluster log of Ceph', () => {
  it('costs nothing in calm times: as many commands as with the poll alone', async () => {
    await fixture.seconds(600)
    const followed = fixture.asked.splice(0)
    expect(new Set(followed)).toEqual(new Set(['status', 'quorum_status']))
    expect(await statusText()).toContain('Ceph log: followed')
    expect(await fixture.metrics.registry.metrics()).toContain(
      'cofferdam_ceph_log_followed{ceph_namespace="rook-ceph",ceph_cluster="rook-ceph"} 1',
    )
    fixture.ceph.controls.log.breakOff({ isRefused: true })
    await fixture.seconds(600)
    expect(followed.length).toBeLessThanOrEqual(fixture.asked.length)
  })

  it('that breaks off is followed again, and what happened meanwhile is seen then', async () => {
    fixture.ceph.controls.log.breakOff()
    await fixture.seconds(5)
    expect(fixture.ceph.controls.log.followerCount).toBe(1)
    fixture.ceph.controls.failDisk(2)
    expect(await watchTheGap(30)).toEqual([])
  })

  it('that cannot be followed leaves the poll, is tried again more and more rarely, and is told', async () => {
    fixture.ceph.controls.log.breakOff({ isRefused: true })
    await fixture.seconds(10)
    expect(await statusText()).toContain('Ceph log: not followed: the cluster log: the log is not available')
    expect(await fixture.metrics.registry.metrics()).toContain(
      'cofferdam_ceph_log_followed{ceph_namespace="rook-ceph",ceph_cluster="rook-ceph"} 0',
    )
    fixture.ceph.controls.failDisk(2)
    await fixture.until('the poll has seen it', () => elsewhere().length === 0, 62)
    fixture.ceph.controls.log.breakOff()
    await fixture.until('it is followed again', () => fixture.ceph.controls.log.followerCount === 1, 310)
  })

  it('that lies, or is nonsense, changes nothing but when Ceph is asked', async () => {
    const budgets = fixture.osdBudgets()
    const record = fixture.budgetText('rook-ceph-osd')
    for (const line of [
      'osd.2 failed',
      'osd.0 failed',
      '6 osds down (OSD_DOWN)',
      '\u0000\ufffd',
      '{"ready":true}',
      '',
    ]) {
      fixture.ceph.controls.log.say(line)
      await fixture.seconds(3)
    }
    expect([fixture.osdBudgets(), fixture.budgetText('rook-ceph-osd')]).toEqual([budgets, record])
    expect(evictableOsds(fixture.views)).toEqual([0, 1, 2, 3, 4, 5])
    expect(fixture.asked).not.toContain('pg dump')
  })

  it('in a storm is asked after twice a second at most, with short questions', async () => {
    for (let line = 0; line < 300; line += 1) {
      for (let osd = 0; osd < 6; osd += 1) fixture.ceph.controls.log.say(`osd.${osd} failed`)
      await fixture.seconds(0.1)
    }
    expect(fixture.asked.filter((prefix) => prefix === 'status').length).toBeLessThanOrEqual(64)
    expect(fixture.asked).not.toContain('pg dump')
  })
})
