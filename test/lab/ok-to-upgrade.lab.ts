import { recheckRound } from '@cofferdam/product/capabilities/osd-update/domain/recheck-round.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { observeOsdVersions } from '@cofferdam/product/ceph/observe-osd-versions.ts'
import { askStoppable } from '@cofferdam/product/ceph/ok-to-stop.ts'
import { askOkToUpgrade } from '@cofferdam/product/ceph/ok-to-upgrade.ts'
import type { Observed } from '@cofferdam/product/shared/observed.ts'
import { smallDescription } from '@cofferdam/simulator/world/ceph/testing/ceph-fixture.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CephLab, openLabCeph } from './ceph/open-lab-ceph.ts'

const description = smallDescription({ mons: ['a', 'b', 'c'] })
const hosts = (description.crush.children ?? []).flatMap(({ children = [] }) => children)

let lab: CephLab
let operator: CephCommands
beforeAll(async () => {
  lab = await openLabCeph('ok-to-upgrade', description)
  operator = lab.connect(lab.ceph.operator)
})
afterAll(() => lab?.close())

function sure<T>(observed: Observed<T>): T {
  if (!observed.known) throw new Error(observed.why)
  return observed.value
}

describe('Ceph names a batch, asked with the rights of the operator', () => {
  it('ok-to-stop with a limit names the OSD and its neighbours, never more than asked for', async () => {
    for (const { osds = [] } of hosts) {
      const [{ id }] = osds as [{ id: number }]
      expect(sure(await askStoppable(operator, id, { max: 1 }))).toEqual([id])
      const named = sure(await askStoppable(operator, id, { max: 4 }))
      expect([named.includes(id), named.length <= 4]).toEqual([true, true])
      const isSafe = recheckRound({ map: sure(await observeCeph(operator)), osds: named }).isSafe
      // 20.2.4 names too many; that is what our own reckoning is for.
      if (lab.release !== '20') expect([named, isSafe]).toEqual([named, true])
    }
  })

  it('ok-to-upgrade names the OSDs of a host where there is the command, and is known to be missing where there is not', async () => {
    const version = '20.2.5-100-gdeadbeef'
    for (const { name, osds = [] } of hosts) {
      const told = sure(await askOkToUpgrade(operator, { bucket: name, version, max: 20 }))
      if (lab.release !== '20') expect(told).toEqual({ kind: 'no-such-question', why: 'command not known' })
      else {
        if (told.kind !== 'answer') throw new Error(told.why)
        const ids = osds.map(({ id }) => id)
        expect({ ...told, osds: told.osds.toSorted((a, b) => a - b) }).toEqual({
          kind: 'answer',
          osds: ids,
          upgraded: [],
          versionless: [],
        })
      }
    }
  })

  it('a version as it is published, which the OSDs report, is none that ok-to-upgrade takes', async () => {
    const versions = new Set(sure(await observeOsdVersions(operator)).values())
    expect([...versions]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/)])
    const [version = ''] = versions
    const told = sure(await askOkToUpgrade(operator, { bucket: 'node-1', version, max: 1 }))
    expect(told.kind).toBe('no-such-question')
  })
})
