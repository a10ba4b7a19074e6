import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideKured } from './decide.ts'
import {
  handedTo,
  kuredNode,
  kuredSnapshot,
  lockAnnotation,
  lockOf,
  nowMs,
  ownLock,
  requestOf,
  type SmallKured,
  said,
  undatedOf,
  wantedNode,
} from './testing/small-kured.ts'

const single: Record<string, [SmallKured, string[]]> = {
  'a kured that did not opt in is left alone, whatever its nodes want': [
    { isOptedIn: false, nodes: [wantedNode('node-1')] },
    [],
  ],
  'a lock that no node holds is taken, before anything else': [
    { nodes: [wantedNode('node-1')] },
    ['lock cofferdam', 'request node-1'],
  ],
  'a lock that is ours is left as it is for half of its time': [{ lock: ownLock(299) }, []],
  'after that it is renewed, so that it never lapses under an operator that lives': [
    { lock: ownLock(300) },
    ['lock cofferdam'],
  ],
  'a lock of ours that is dated ahead is written anew: kured would never see it lapse': [
    { lock: ownLock(-600) },
    ['lock cofferdam'],
  ],
  'a node that had the lock before keeps it, and is not asked for: kured drains it already': [
    { lock: lockOf('node-1', { agoSeconds: 9_000 }), nodes: [wantedNode('node-1'), wantedNode('node-2')] },
    [],
  ],
  'a lock that has lapsed is free to kured, so it is taken': [
    { lock: lockOf('node-1', { agoSeconds: 90, ttlSeconds: 60 }), nodes: [kuredNode('node-1')] },
    ['lock cofferdam'],
  ],
  'one that has lapsed stays as it is where kured did not opt in': [
    { isOptedIn: false, lock: lockOf('node-1', { agoSeconds: 90, ttlSeconds: 60 }), nodes: [kuredNode('node-1')] },
    [],
  ],
  'a lock that is no JSON is left as it is, and nothing is asked for': [
    { lock: '{"nodeID":', nodes: [wantedNode('node-1')] },
    ['Warning KuredLockUnreadable'],
  ],
  'a lock without a holder blocks kured for ever; it is not ours to judge why': [
    { lock: {}, nodes: [wantedNode('node-1')] },
    ['Warning KuredLockUnreadable'],
  ],
  'without --annotate-nodes a held lock would keep kured from every reboot, so it is not held': [
    { args: [], nodes: [wantedNode('node-1')] },
    ['Warning KuredFlagsUnfit'],
  ],
  'flags that cannot be read would be guessed at, so nothing is written': [
    { args: ['--annotate-nodes', '--concurrency=many'], lock: ownLock(), nodes: [wantedNode('node-1')] },
    ['Warning KuredFlagsUnfit'],
  ],
  'and one that is held is given up when the flag goes': [
    { args: [], lock: ownLock() },
    ['lock of nobody', 'Warning KuredFlagsUnfit'],
  ],
  'pods that keep kured from rebooting would be evicted unseen, so such a kured is left to itself': [
    { args: ['--annotate-nodes', '--blocking-pod-selector=long=true'] },
    ['Warning KuredFlagsUnfit'],
  ],
  'of several nodes the one that has waited longest is asked for, and one only': [
    { lock: ownLock(), nodes: [wantedNode('node-1'), wantedNode('node-2', { wantedSince: '2026-01-01T00:00:00Z' })] },
    ['request node-2'],
  ],
  'of two that have waited equally long it is the same one in each pass, or both would be drained': [
    { lock: ownLock(), nodes: [wantedNode('node-2'), wantedNode('node-1')] },
    ['request node-1'],
  ],
  'a request of somebody else is none of its own: kured would wait for it without end': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1')],
      requests: [{ ...requestOf('node-2', 'Waiting'), metadata: { name: 'by-hand', uid: 'uid of by-hand' } }],
    },
    ['request node-1'],
  ],
  'a request that has no phase yet counts: each pass before it had one would ask for another node': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1'), wantedNode('node-2')],
      requests: [requestOf('node-1', undefined)],
    },
    [],
  ],
  'a request that waits for long lets one other node go first': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1'), wantedNode('node-2')],
      requests: [requestOf('node-1', 'Waiting', { sinceSeconds: 700 })],
    },
    ['request node-2'],
  ],
  'but not a third: all of them would begin together when the obstacle ends': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1'), wantedNode('node-2'), wantedNode('node-3')],
      requests: [
        requestOf('node-1', 'Waiting', { sinceSeconds: 700 }),
        requestOf('node-2', 'Waiting', { sinceSeconds: 700 }),
      ],
    },
    [],
  ],
  'a node that is drained has the lock': [
    { lock: ownLock(), nodes: [wantedNode('node-1')], requests: [requestOf('node-1', 'Drained')] },
    ['lock node-1', 'handed to node-1', 'node-1 KuredLockHanded'],
  ],
  'of two that are drained the one that has been for longer has it: it is without its pods all that time': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1'), wantedNode('node-2')],
      requests: [
        requestOf('node-1', 'Drained', { sinceSeconds: 60 }),
        requestOf('node-2', 'Drained', { sinceSeconds: 61 }),
      ],
    },
    ['lock node-2', 'handed to node-2', 'node-2 KuredLockHanded'],
  ],
  'of two that were drained together it is the first by name, in every pass and every operator': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1'), wantedNode('node-2')],
      requests: [requestOf('node-2', 'Drained'), requestOf('node-1', 'Drained')],
    },
    ['lock node-1', 'handed to node-1', 'node-1 KuredLockHanded'],
  ],
  'one that does not say since when it is drained goes first: it may have been for long': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1'), wantedNode('node-2')],
      requests: [requestOf('node-1', 'Drained'), undatedOf('node-2', 'Drained')],
    },
    ['lock node-2', 'handed to node-2', 'node-2 KuredLockHanded'],
  ],
  'not while it is being drained: kured would evict beside the request': [
    { lock: ownLock(), nodes: [wantedNode('node-1')], requests: [requestOf('node-1', 'Draining')] },
    [],
  ],
  'not when its request is being deleted: pods return to the node': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1')],
      requests: [requestOf('node-1', 'Drained', { isDeleted: true })],
    },
    [],
  ],
  'not when kured wants it no more: it would hold a lock that it never releases': [
    { lock: ownLock(), nodes: [kuredNode('node-1')], requests: [requestOf('node-1', 'Drained')] },
    ['withdraw request-node-1'],
  ],
  'not when it was rebooted meanwhile: kured would reboot it a second time': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1', { bootID: 'boot-2' })],
      requests: [requestOf('node-1', 'Drained')],
    },
    [],
  ],
  'not while it is away: whether it is on its way back cannot be told': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1', { isReady: false })],
      requests: [requestOf('node-1', 'Drained')],
    },
    [],
  ],
  'not after opting out: kured has its lock to itself again': [
    { isOptedIn: false, nodes: [wantedNode('node-1')], requests: [requestOf('node-1', 'Drained')] },
    ['withdraw request-node-1'],
  ],
  'not while another node has it': [
    {
      lock: lockOf('node-2'),
      nodes: [wantedNode('node-1'), wantedNode('node-2')],
      requests: [requestOf('node-1', 'Drained')],
    },
    [],
  ],
  'a lock that was handed out stays with its node while kured gets ready': [
    {
      lock: lockOf('node-1', { agoSeconds: 60 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [wantedNode('node-1')],
      requests: [requestOf('node-1', 'Drained')],
    },
    [],
  ],
  'and while the node is away, whatever becomes of its request': [
    {
      lock: lockOf('node-1', { agoSeconds: 60 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [wantedNode('node-1', { isReady: false })],
    },
    [],
  ],
  'and after the reboot, until kured itself has ended it': [
    {
      lock: lockOf('node-1', { agoSeconds: 60 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [wantedNode('node-1', { bootID: 'boot-2' })],
    },
    [],
  ],
  'a lock with a time to live is renewed for a node that is away, or kured would forget to end the reboot': [
    {
      args: ['--annotate-nodes', '--lock-ttl=2m'],
      lock: lockOf('node-1', { agoSeconds: 60, ttlSeconds: 120 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [wantedNode('node-1', { isReady: false })],
      requests: [requestOf('node-1', 'Drained')],
    },
    ['lock node-1', 'handed to node-1'],
  ],
  'it is taken back when kured no longer wants the reboot, and the request is withdrawn': [
    {
      lock: lockOf('node-1', { agoSeconds: 60 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [kuredNode('node-1')],
      requests: [requestOf('node-1', 'Drained')],
    },
    ['lock cofferdam', 'node-1 KuredLockTakenBack', 'withdraw request-node-1'],
  ],
  'it is taken back when the request is deleted: pods return to the node, and it must not reboot under them': [
    {
      lock: lockOf('node-1', { agoSeconds: 60 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [wantedNode('node-1')],
      requests: [requestOf('node-1', 'Drained', { isDeleted: true })],
    },
    ['lock cofferdam', 'node-1 KuredLockTakenBack'],
  ],
  'it is taken back from a node that is gone, which kured itself would wait for without end': [
    { lock: lockOf('node-1', { agoSeconds: 60 }), handed: handedTo('node-1', { agoSeconds: 60 }) },
    ['lock cofferdam'],
  ],
  'a lock that kured acquired anew is not the one that was handed out, and stays': [
    {
      lock: lockOf('node-1', { agoSeconds: 10 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [kuredNode('node-1')],
    },
    ['lock node-1'],
  ],
  'a record that cannot be read takes nothing back': [
    { lock: lockOf('node-1', { agoSeconds: 60 }), handed: 'nonsense', nodes: [kuredNode('node-1')] },
    [],
  ],
  'a lock that it was handed stays while the request drains a pod that landed there since: kured drains it too': [
    {
      lock: lockOf('node-1', { agoSeconds: 60 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [wantedNode('node-1')],
      requests: [requestOf('node-1', 'Draining')],
    },
    [],
  ],
  'it is taken back when the request is gone: nothing keeps pods off the node any more': [
    {
      lock: lockOf('node-1', { agoSeconds: 60 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [wantedNode('node-1')],
    },
    ['lock cofferdam', 'node-1 KuredLockTakenBack', 'request node-1'],
  ],
  'a kured that does not reboot after two periods gives the node back, and is not asked again at once': [
    {
      lock: lockOf('node-1', { agoSeconds: 8_000 }),
      handed: handedTo('node-1', { agoSeconds: 8_000 }),
      nodes: [wantedNode('node-1')],
      requests: [requestOf('node-1', 'Drained')],
    },
    ['lock cofferdam', 'handed to node-1', 'node-1 KuredDoesNotReboot', 'withdraw request-node-1'],
  ],
  'a reboot that has happened is left to recover, though kured says that it is over': [
    {
      lock: ownLock(),
      nodes: [kuredNode('node-1', { bootID: 'boot-2' })],
      requests: [requestOf('node-1', 'Recovering')],
    },
    [],
  ],
  'so is one whose request has not seen it yet': [
    { lock: ownLock(), nodes: [kuredNode('node-1', { bootID: 'boot-2' })], requests: [requestOf('node-1', 'Drained')] },
    [],
  ],
  'a node that was given back without a reboot is asked for again after a while': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1')],
      requests: [requestOf('node-1', 'Completed', { sinceSeconds: 301 })],
    },
    ['request node-1'],
  ],
  'and not at once': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1')],
      requests: [requestOf('node-1', 'Completed', { sinceSeconds: 20 })],
    },
    [],
  ],
  'nor at once after a request that was rejected: it would be rejected in a circle': [
    {
      lock: ownLock(),
      nodes: [wantedNode('node-1')],
      requests: [requestOf('node-1', 'Rejected', { sinceSeconds: 20 })],
    },
    [],
  ],
  'nor while the request does not say since when it is over: it would be drained in a circle': [
    { lock: ownLock(), nodes: [wantedNode('node-1')], requests: [undatedOf('node-1', 'Completed')] },
    [],
  ],
  'a node that is not Ready is not drained for a reboot': [
    { lock: ownLock(), nodes: [wantedNode('node-1', { isReady: false })] },
    [],
  ],
  'opting out gives the lock up and withdraws what has not begun to reboot': [
    { isOptedIn: false, lock: ownLock(), nodes: [wantedNode('node-1')], requests: [requestOf('node-1', 'Waiting')] },
    ['lock of nobody', 'withdraw request-node-1'],
  ],
  'but a node that has the lock goes its way, with the request that drained it': [
    {
      isOptedIn: false,
      lock: lockOf('node-1', { agoSeconds: 60 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [wantedNode('node-1')],
      requests: [requestOf('node-1', 'Drained')],
    },
    [],
  ],
  'a node that kured took down with its pods is reported, though this kured did not opt in': [
    {
      isOptedIn: false,
      lock: lockOf('node-1'),
      nodes: [wantedNode('node-1', { isReady: false, isDrained: false }), kuredNode('node-2', { isReady: false })],
    },
    ['Warning KuredRebootsUndrained'],
  ],
  'one that Cofferdam handed the lock to is not: a pod that landed there last was no fault of kured': [
    {
      lock: lockOf('node-1', { agoSeconds: 60 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [wantedNode('node-1', { isReady: false, isDrained: false })],
      requests: [requestOf('node-1', 'Drained')],
    },
    [],
  ],
  'one that was drained is not, nor one that is down without kured': [
    {
      isOptedIn: false,
      lock: lockOf('node-1'),
      nodes: [
        wantedNode('node-1', { isReady: false, isDrained: true }),
        kuredNode('node-2', { isReady: false, isDrained: false }),
      ],
    },
    [],
  ],
  'two holders of a lock with one place are more than can be written down, so it is left': [
    { lock: { maxOwners: 2, locks: [lockOf('node-1'), lockOf('node-2')] } },
    ['Warning KuredLockUnreadable'],
  ],
  'a lock of the form for several is written in the one that kured now reads, its holder kept': [
    { lock: { maxOwners: 2, locks: [lockOf('node-1')] }, nodes: [kuredNode('node-1')] },
    ['lock node-1'],
  ],
}

describe('a kured with one place', () => {
  it.each(Object.entries(single))('%s', (_, [seen, expected]) => {
    expect(said(kuredSnapshot(seen))).toEqual(expected)
  })
})

const two = ['--annotate-nodes', '--concurrency', '2']
const ours = [ownLock(), ownLock()]
const several: Record<string, [SmallKured, string[]]> = {
  'all its places are held': [{ args: two }, ['lock [cofferdam, cofferdam]']],
  'and stay held beside those of nodes: what a node releases is free for nobody in between': [
    {
      args: two,
      lock: { maxOwners: 2, locks: ours },
      nodes: [wantedNode('node-1'), wantedNode('node-2')],
      requests: [requestOf('node-1', 'Drained')],
    },
    ['lock [node-1, cofferdam, cofferdam]', 'handed to node-1', 'node-1 KuredLockHanded', 'request node-2'],
  ],
  'no third node has a place, though three are drained': [
    {
      args: two,
      lock: { maxOwners: 2, locks: [lockOf('node-1'), lockOf('node-2'), ...ours] },
      nodes: ['node-1', 'node-2', 'node-3'].map((name) => wantedNode(name)),
      requests: ['node-1', 'node-2', 'node-3'].map((name) => requestOf(name, 'Drained')),
    },
    [],
  ],
  'a lock of the other form counts as free to this kured, so it is written anew with its holder': [
    { args: two, lock: lockOf('node-1'), nodes: [kuredNode('node-1')] },
    ['lock [node-1, cofferdam, cofferdam]'],
  ],
  'a lock without a list, as Go writes an empty one, is free': [
    { args: two, lock: { maxOwners: 2, locks: null } },
    ['lock [cofferdam, cofferdam]'],
  ],
  'one entry that cannot be read leaves all as they are': [
    { args: two, lock: { maxOwners: 2, locks: [lockOf('node-1'), { nodeID: 7 }] } },
    ['Warning KuredLockUnreadable'],
  ],
  'so does one that is null: the place of a node that reboots could be written over': [
    { args: two, lock: { maxOwners: 2, locks: [lockOf('node-1'), null] } },
    ['Warning KuredLockUnreadable'],
  ],
  'and a list that is none: nodes may hold places that nobody could count': [
    { args: two, lock: { maxOwners: 2, locks: 'node-1' } },
    ['Warning KuredLockUnreadable'],
  ],
  'opting out leaves the places of nodes': [
    { isOptedIn: false, args: two, lock: { maxOwners: 2, locks: [lockOf('node-1'), ...ours] } },
    ['lock [node-1]'],
  ],
}

describe('a kured with several places', () => {
  it.each(Object.entries(several))('%s', (_, [seen, expected]) => {
    expect(said(kuredSnapshot(seen))).toEqual(expected)
  })
})

describe('a kured with a window', () => {
  const args = ['--annotate-nodes', '--start-time=2:00', '--end-time=5am', '--time-zone=Europe/Berlin']
  const drained = {
    args,
    lock: lockOf('node-1', { agoSeconds: -72_000 }),
    handed: handedTo('node-1', { agoSeconds: -72_000 }),
    nodes: [wantedNode('node-1')],
    requests: [requestOf('node-1', 'Drained')],
  }
  // Berlin is an hour ahead: the window is open from 1:00 to 4:00.
  const at = (hours: number) => nowMs - 12 * 3_600_000 + (24 + hours) * 3_600_000

  it('has no node drained outside of it', () => {
    const seen = { args, nodes: [wantedNode('node-1')] }
    expect(said(kuredSnapshot({ ...seen, atMs: at(0.9) }))).toEqual(['lock cofferdam'])
    expect(said(kuredSnapshot({ ...seen, atMs: at(1.1) }))).toEqual(['lock cofferdam', 'request node-1'])
  })

  it('hands out no lock outside of it, though the node is drained: kured would hold it until the next night', () => {
    const { args: flags, nodes, requests } = drained
    expect(said(kuredSnapshot({ args: flags, nodes, requests, atMs: at(4.1) }))).toEqual(['lock cofferdam'])
    expect(said(kuredSnapshot({ args: flags, nodes, requests, atMs: at(3.9) }))[0]).toBe('lock node-1')
  })

  it('has a node that it did not reboot released a quarter of an hour after its end, not drained until the next night', () => {
    const early = { ...drained, lock: lockOf('node-1', { agoSeconds: -55_800 }) }
    const seen = { ...early, handed: handedTo('node-1', { agoSeconds: -55_800 }) }
    expect(said(kuredSnapshot({ ...seen, atMs: at(4.2) }))).toEqual([])
    expect(said(kuredSnapshot({ ...seen, atMs: at(4.3) }))).toEqual([
      'lock cofferdam',
      'node-1 KuredLockTakenBack',
      'withdraw request-node-1',
    ])
  })
})

describe('what kured asks for', () => {
  const requested = (args: readonly string[]) => {
    const { steps } = decideKured(kuredSnapshot({ args, lock: ownLock(), nodes: [wantedNode('node-1')] }))
    const step = steps.find((each) => each.do === 'write' && each.write === 'request')
    return step?.do === 'write' && step.write === 'request' ? step.request : undefined
  }

  it('is drained as kured drains, and no pod stays: kured would wait for it without end', () => {
    expect(requested(['--annotate-nodes'])?.spec).toEqual({
      nodeName: 'node-1',
      requester: 'kured',
      reason: 'kured wants to reboot it since 2026-01-07T11:59:00Z',
      intent: 'Reboot',
      honourSkipDrain: false,
      force: true,
      deleteEmptyDirData: true,
    })
  })

  const selectors: Record<string, boolean> = {
    'cofferdam.io/skip-drain!=true': true,
    'cofferdam.io/skip-drain notin (true)': true,
    '!cofferdam.io/skip-drain,app': true,
    'app=web': false,
    'cofferdam.io/skip-drain': false,
    'a b c': false,
  }
  it.each(Object.entries(selectors))(
    'leaves pods that stay where its own selector does: %s',
    (selector, isHonoured) => {
      const request = requested(['--annotate-nodes', `--drain-pod-selector=${selector}`])
      expect(request?.spec.honourSkipDrain).toBe(isHonoured)
    },
  )

  it('keeps the cordon of an administrator: kured does not lift it after the reboot', () => {
    const handedWith = (cordonedBy: string) => {
      const requests = [requestOf('node-1', 'Drained', { cordonedBy })]
      const { steps } = decideKured(kuredSnapshot({ lock: ownLock(), nodes: [wantedNode('node-1')], requests }))
      const step = steps.find((each) => each.do === 'write' && each.write === 'lock')
      const text = step?.do === 'write' && step.write === 'lock' ? step.annotations[lockAnnotation] : undefined
      return (JSON.parse(text ?? '{}') as { metadata?: unknown }).metadata
    }
    expect(handedWith('another user')).toEqual({ unschedulable: true })
    expect(handedWith('nodedisruption/request-node-1')).toEqual({ unschedulable: false })
  })
})

describe('what is not known', () => {
  const seen = kuredSnapshot({ nodes: [wantedNode('node-1')], requests: [requestOf('node-2', 'Waiting')] })

  it('changes nothing', () => {
    expect(said({ ...seen, daemonSet: unknown('it may not be read') })).toEqual([])
    expect(said({ ...seen, requests: unknown('they are not read yet') })).toEqual([])
    expect(said({ ...seen, now: 'noon' })).toEqual([])
  })

  it('is not the same as a kured that is gone, whose requests end, but for those that recover', () => {
    const requests = known([
      requestOf('node-1', 'Drained'),
      requestOf('node-2', 'Recovering'),
      requestOf('node-3', 'Drained'),
      requestOf('node-4', 'Drained'),
    ])
    const nodes = [wantedNode('node-1'), wantedNode('node-3', { bootID: 'boot-2' })]
    expect(said({ ...seen, nodes, daemonSet: known(undefined), requests })).toEqual([
      'withdraw request-node-1',
      'withdraw request-node-4',
    ])
  })
})

const rechecks: Record<string, [SmallKured, number | undefined]> = {
  'in a minute while a node waits: the window may open, and no watch tells of it': [
    { lock: ownLock(), nodes: [kuredNode('node-2'), wantedNode('node-1')] },
    60_000,
  ],
  'in a minute while a place is handed out, opted in or not: the node may be overdue': [
    {
      isOptedIn: false,
      lock: lockOf('node-1', { agoSeconds: 60 }),
      handed: handedTo('node-1', { agoSeconds: 60 }),
      nodes: [wantedNode('node-1', { isReady: false })],
    },
    60_000,
  ],
  'when half the time of its lock is over, or kured could take it': [{ lock: ownLock(100) }, 200_000],
  'soon where that is over already': [{ lock: ownLock(300) }, 1_000],
  'after half the time of the lock that it is about to take': [{}, 300_000],
  'never where kured did not opt in: what changes wakes it': [
    { isOptedIn: false, nodes: [wantedNode('node-1')] },
    undefined,
  ],
}

describe('kured is judged again', () => {
  it.each(Object.entries(rechecks))('%s', (_, [seen, afterMs]) => {
    expect(decideKured(kuredSnapshot(seen)).recheckAfterMs).toBe(afterMs)
  })
})
