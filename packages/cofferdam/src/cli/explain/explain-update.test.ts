import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { configMaps, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import {
  newImage,
  type OsdUpdateFixture,
  openOsdUpdateFixture,
} from '../../capabilities/osd-update/testing/osd-update-fixture.ts'
import type { UpdateSummary } from '../../capabilities/osd-update/view/summarize-update.ts'
import { createDisruption, installDefinitions } from '../../ledger/store/testing/ledger-fixture.ts'
import { createStatusCommand } from '../status/status.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { writeOperatorLease } from '../testing/write-operator-lease.ts'
import { createExplainCommand } from './explain.ts'
import type { Explained } from './question.ts'

let fixture: OsdUpdateFixture
afterEach(() => fixture.close())

async function open(): Promise<void> {
  fixture = await openOsdUpdateFixture()
  await installDefinitions(fixture.api)
  fixture.operate({ controllers: ['ceph-drain', 'osd-update', 'node-disruption', 'disruption-ledger'] })
  await fixture.seconds(120)
  await writeOperatorLease(fixture)
}

async function begun(): Promise<void> {
  await fixture.wantImage(newImage)
  expect(await fixture.until(async () => (await fixture.images()).includes(newImage), 60)).toBe(true)
}

function explain(argv: readonly string[], api: KubeApi = fixture.api) {
  return runCommand(createExplainCommand({ connect: inProcess(api).connect, clock: fixture.clock }), 'explain', ...argv)
}

async function explained(object: string): Promise<Explained> {
  return JSON.parse((await explain([object, '-o', 'json'])).out) as Explained
}

function status(argv: readonly string[] = [], api: KubeApi = fixture.api) {
  return runCommand(
    createStatusCommand({ connect: inProcess(api).connect, clock: fixture.clock }),
    'status',
    '-o',
    'wide',
    ...argv,
  )
}

function updateLines(text: string): string[] {
  const lines = text.split('\n')
  const from = lines.findIndex((line) => line.startsWith('Updates '))
  const rest = lines.slice(from)
  const to = rest.findIndex((line, at) => at > 0 && !line.startsWith('  '))
  return from < 0 ? [] : rest.slice(0, to)
}

const lacking = (plural: string) =>
  changedApi(fixture.api, {
    get: (type, key, options) =>
      type.plural === plural
        ? Promise.reject(new ApiError('Forbidden', `${plural} is forbidden`))
        : fixture.api.get(type, key, options),
    list: (type, options) =>
      type.plural === plural
        ? Promise.reject(new ApiError('Forbidden', `${plural} is forbidden`))
        : fixture.api.list(type, options),
  })

describe('an update of OSDs, asked about on the command line', () => {
  it('is not mentioned by status while there is none, and explain says that every OSD is as it should be', async () => {
    await open()
    expect(updateLines((await status()).out)).toEqual([])
    expect(await explain(['cephcluster/rook-ceph/rook-ceph'])).toEqual({
      code: 0,
      err: '',
      out: [
        'cephcluster/rook-ceph/rook-ceph  free: A node with OSDs of it may be drained now, in any zone, one zone at a time.',
        '',
        '  free      zone x (osd 0, 1), y (osd 2, 3), z (osd 4, 5)',
        '  pgs       16 active+clean',
        '  mons      unknown: the operator has not asked for the quorum yet',
        '  noout     not set',
        '  ownership budgets: manage, OSD updates: own',
        '  update    all 6 OSDs up to date',
        '',
      ].join('\n'),
    })
    const osd = await explain(['osd/rook-ceph/3'])
    expect(osd.code).toBe(0)
    expect(osd.out.replace(/osd-3-\S+/, 'osd-3')).toBe(
      [
        'osd/rook-ceph/3  free: Its pod may be evicted now.',
        '',
        '  cluster   rook-ceph/rook-ceph',
        '  pod       rook-ceph/rook-ceph-osd-3 on node-y',
        '  why       budget rook-ceph-osd: it allows the eviction of one pod now (BudgetAllows)',
        '  update    up to date: it is what the CephCluster says',
        '',
      ].join('\n'),
    )
  })

  it('is told while it runs, in words and as data, and for a while after it ended', async () => {
    await open()
    await begun()
    expect(updateLines((await status()).out)).toEqual([
      expect.stringMatching(/^Updates {3}rook-ceph\/rook-ceph: OsdsUpdating for \d+s: 0 of 6 OSDs done$/),
      '          restarting: osd 0',
      expect.stringMatching(/^ {10}5 wait; about \d rounds left$/),
    ])
    const told = JSON.parse((await status(['-o', 'json'])).out) as { readonly osdUpdates?: readonly UpdateSummary[] }
    expect(told.osdUpdates).toEqual([
      expect.objectContaining({
        cluster: 'rook-ceph/rook-ceph',
        mode: 'own',
        reason: 'OsdsUpdating',
        progress: expect.objectContaining({ total: 6, done: 0, running: [0], waiting: 5 }),
        osds: 6,
        outdated: 5,
        failed: [],
        isAttended: true,
      }),
    ])
    const first = await explain(['osd/rook-ceph/0'])
    expect(first.out).toMatch(/\n {2}update {4}restarting/)
    // Its turn comes by itself, and all the same nobody may evict it now: an OSD of another zone is down.
    const waiting = await explain(['deployment/rook-ceph/rook-ceph-osd-4', '-o', 'json'])
    expect(waiting.code).toBe(3)
    expect(JSON.parse(waiting.out)).toMatchObject({
      kind: 'osd',
      object: 'deployment/rook-ceph/rook-ceph-osd-4',
      mayGo: false,
      osdUpdate: { osd: 4, state: 'waits', reason: 'OsdsUpdating' },
    })
    expect(await fixture.until(async () => (await status()).out.includes('all 6 OSDs up to date'), 600)).toBe(true)
    expect(updateLines((await status()).out)).toEqual([
      expect.stringMatching(
        /^Updates {3}rook-ceph\/rook-ceph: all 6 OSDs up to date; 6 were updated in \d+s, \ds ago$/,
      ),
    ])
    await fixture.seconds(3_700)
    expect(updateLines((await status()).out)).toEqual([])
  })

  it('is told of the pod of an OSD beside whether it may be evicted, and of no other pod', async () => {
    await open()
    await begun()
    const { items } = await fixture.api.list(pods, { namespace: 'rook-ceph' })
    const named = (app: string, more = {}) =>
      items.find(({ metadata }) =>
        Object.entries({ app, ...more }).every(([label, value]) => metadata.labels?.[label] === value),
      )?.metadata.name ?? ''
    const osd = await explain([`pod/rook-ceph/${named('rook-ceph-osd', { 'ceph-osd-id': '5' })}`])
    expect(osd.out).toMatch(/\n {2}update {4}waits: /)
    expect(await explained(`pod/rook-ceph/${named('rook-ceph-mon')}`)).not.toHaveProperty('osdUpdate')
  })

  it('is named to a drain that waits for it, and names the drain once that is before it', async () => {
    await open()
    await begun()
    await createDisruption(fixture.api, 'reboot-y', 'node-y')
    await fixture.seconds(1)
    const waits = await explain(['nd/reboot-y'])
    expect([waits.code, waits.out]).toEqual([
      3,
      expect.stringContaining('held by   osd-update of rook-ceph/rook-ceph\n'),
    ])
    expect(waits.out).toContain('ends with OSDs are being updated. It is released when those that restart are back')
    const update = await explain(['cephcluster/rook-ceph/rook-ceph'])
    expect(update.out).toMatch(/\n {2}update {4}StorageKeyHeld: .* for nodedisruption\/reboot-y /)
    expect(update.out).toMatch(/\nstorage\/rook-ceph\/rook-ceph +in use +osd-update of .* holds it while OSDs restart/)
    expect(await explained('osd/rook-ceph/5')).toMatchObject({
      osdUpdate: { state: 'blocked', reason: 'StorageKeyHeld', explanation: expect.stringContaining('reboot-y') },
    })
  })

  it.each([
    ['configmaps', 'not seen: configmap rook-ceph/cofferdam-osd-update-rook-ceph: configmaps is forbidden'],
    ['deployments', 'not seen: deployments.apps: deployments is forbidden'],
  ])('leaves out what may not be read for want of a right to %s, and says so', async (plural, says) => {
    await open()
    await begun()
    const { code, out } = await status([], lacking(plural))
    expect(code).toBe(0)
    expect(out).toContain('Nodes     3 ready\n')
    expect(out.split('\n').filter((line) => line === says)).toEqual([says])
  })

  it('says of a record that makes no sense what to do with it', async () => {
    await open()
    await begun()
    const key = { namespace: 'rook-ceph', name: 'cofferdam-osd-update-rook-ceph' }
    await fixture.api.patch(configMaps, key, { type: 'merge', body: { data: { record: '{' } } })
    expect(updateLines((await status()).out)[0]).toBe(
      'Updates   rook-ceph/rook-ceph: UpdateRecordUnreadable: ConfigMap cofferdam-osd-update-rook-ceph cannot be read: its key record is no JSON; nothing starts until it is corrected or deleted',
    )
  })
})

describe('explain of what is no OSD', () => {
  it.each([
    [
      'osd/rook-ceph/33',
      1,
      'error: there is no OSD 33 in namespace rook-ceph\nhint: kubectl get deployments -n rook-ceph -l app=rook-ceph-osd shows those there are\n',
    ],
    [
      'osd/shop/3',
      1,
      'error: there is no OSD 3 in namespace shop\nhint: kubectl get deployments -n shop -l app=rook-ceph-osd shows those there are\n',
    ],
    [
      'cephcluster/rook-ceph/rook-cep',
      1,
      'error: there is no CephCluster rook-ceph/rook-cep\nhint: did you mean rook-ceph?\n',
    ],
  ])('%s', async (object, code, err) => {
    fixture = await openOsdUpdateFixture()
    await fixture.seconds(5)
    expect(await explain([object])).toEqual({ code, out: '', err })
  })

  it('a monitor is explained by its pod, however it is named', async () => {
    fixture = await openOsdUpdateFixture()
    await fixture.seconds(5)
    const { code, out } = await explain(['deployment/rook-ceph/rook-ceph-mon-a'])
    expect(code).toBe(0)
    expect(out).toMatch(/^deployment\/rook-ceph\/rook-ceph-mon-a {2}free: Its only pod may be evicted now\.\n/)
  })
})
