import { describe, expect, it } from 'vitest'
import { decideLonghornDrain } from './decide.ts'
import { decideGuidance } from './guidance.ts'
import { parseGuidanceMarks } from './guidance-marks.ts'
import { type GuidedNode, type GuidedObjects, lookAt } from './testing/guided-fixture.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'

const last = 'block-if-contains-last-replica'
const lastMoves = 'block-for-eviction-if-contains-last-replica'
const all = 'block-for-eviction'
const cordoned = { isCordoned: true }
const drained = { isCordoned: true, isDraining: true }
const asked = '{"disks":{"d1":{"allowScheduling":true}}}'
const pair = { db: { copies: { n1: 'healthy', n2: 'healthy' } as const } }
const willing = { db: { ...pair.db, policy: all } }

interface Scene {
  readonly value?: string
  /** With our prefix added. */
  readonly notes?: Readonly<Record<string, string>>
  readonly nodes: Readonly<Record<string, GuidedNode>>
  readonly volumes?: GuidedObjects['volumes']
}

/** What was decided: one line for each step, and the problems. */
function guide({ value = last, notes = {}, nodes, volumes = {} }: Scene): readonly string[] {
  const prefixed = Object.fromEntries(
    Object.entries({ manage: 'guide', ...notes }).map(([key, text]) => [`cofferdam.io/${key}`, text]),
  )
  const { guidance } = lookAt({ setting: { value, notes: prefixed }, nodes: { n2: {}, n3: {}, ...nodes }, volumes })
  const steps = guidance.steps.map(({ name, value: put, spec, annotations, reason = 'quietly' }) => {
    const { disks = {}, ...whole } = spec ?? {}
    const fields = { ...(put === undefined ? {} : { value: put }), ...whole, ...disks['d1'], ...annotations }
    const parts = Object.entries(fields).map(([key, text]) => `${key.replace('cofferdam.io/', '')}=${text}`)
    return `${reason} ${name}: ${parts.join(' ')}`
  })
  return [...steps, ...guidance.problems.map(({ object, problem }) => `${object}: ${problem}`)]
}

const put = (aim: string) => `PolicyPutInForce node-drain-policy: value=${aim} restores=${last} put-in-force=${aim}`
const restored = `PolicyRestored node-drain-policy: value=${last} restores=null put-in-force=null`
const inForce = (aim: string) => ({ value: aim, notes: { 'wanted-policy': aim, restores: last, 'put-in-force': aim } })

describe('the policy', () => {
  const scenarios: Record<string, [Scene, readonly string[]]> = {
    'that is wanted is in force while a node is cordoned': [
      { notes: { 'wanted-policy': all }, nodes: { n1: cordoned } },
      [put(all)],
    ],
    'stays where no node leaves': [{ notes: { 'wanted-policy': all }, nodes: {} }, []],
    'stays on a mere cordon where only drains count': [
      { notes: { 'wanted-policy': all, trigger: 'drain' }, nodes: { n1: cordoned } },
      [],
    ],
    'is put in force once the node is really drained': [
      { notes: { 'wanted-policy': all, trigger: 'drain' }, nodes: { n1: drained } },
      [put(all)],
    ],
    'is not put in force where Longhorn empties a cordoned node by its own setting and only drains count: the two would take turns without an end (seed 600446)':
      [
        {
          value: all,
          notes: { 'wanted-policy': 'always-allow', trigger: 'drain' },
          nodes: { n1: { ...cordoned, isAutoEvicting: true } },
        },
        [],
      ],
    'stays in force where only drains count while Longhorn moves what a drain began, though nobody tries to evict any more':
      [
        {
          ...inForce(all),
          notes: { ...inForce(all).notes, trigger: 'drain' },
          nodes: { n1: { ...cordoned, isAutoEvicting: true } },
        },
        [],
      ],
    'is put in force for an announced drain before the node is cordoned, since Longhorn lets go at the cordon': [
      { notes: { 'wanted-policy': all }, nodes: { n1: { isDraining: true, intent: 'Remove' } } },
      [put(all)],
    ],
    'is put in force for nodes that come back too: block-for-eviction was asked for, and replicas stayed through the reboot':
      [{ notes: { 'wanted-policy': all }, nodes: { n1: { ...drained, intent: 'Reboot' } } }, [put(all)]],
    'for reboots is put in force while only nodes leave that come back': [
      {
        notes: { 'wanted-policy': all, 'reboot-policy': lastMoves },
        nodes: { n1: { ...drained, intent: 'Reboot' } },
      },
      [put(lastMoves)],
    ],
    'for reboots needs no other wish': [
      { notes: { 'reboot-policy': lastMoves }, nodes: { n1: { ...drained, intent: 'Reboot' } } },
      [put(lastMoves)],
    ],
    'for reboots is nothing to nodes that leave for good': [
      { notes: { 'reboot-policy': all }, nodes: { n1: { ...drained, intent: 'Remove' } } },
      [],
    ],
    'for reboots stays in force as it was put there, and is not taken for what others want': [
      {
        value: lastMoves,
        notes: { 'reboot-policy': lastMoves, restores: last, 'put-in-force': lastMoves },
        nodes: { n1: { ...drained, intent: 'Reboot' }, n2: cordoned },
      },
      [],
    ],
    'for reboots gives way to the setting when only nodes leave that do not come back': [
      {
        value: lastMoves,
        notes: { 'reboot-policy': lastMoves, restores: last, 'put-in-force': lastMoves },
        nodes: { n1: { ...drained, intent: 'Remove' } },
      },
      [restored],
    ],
    'for reboots that is unknown puts nothing in force': [
      { notes: { 'reboot-policy': 'mild' }, nodes: { n1: { ...drained, intent: 'Reboot' } } },
      [
        `setting/node-drain-policy: annotation cofferdam.io/reboot-policy: "mild" is none of ${last}, allow-if-replica-is-stopped, always-allow, ${all}, ${lastMoves}; until it is corrected ${last} stays in force, and no node eviction is requested`,
      ],
    ],
    'becomes stricter when a second node leaves for good, and what is restored stays the same': [
      {
        value: lastMoves,
        notes: { 'wanted-policy': all, 'reboot-policy': lastMoves, restores: last, 'put-in-force': lastMoves },
        nodes: { n1: { ...drained, intent: 'Reboot' }, n2: cordoned },
      },
      [put(all)],
    ],
    'that nobody wants otherwise is left alone': [{ nodes: { n1: cordoned } }, []],
    'that is in force as wanted needs nothing more': [{ ...inForce(all), nodes: { n1: cordoned } }, []],
    'from before is put back when no node leaves any more': [{ ...inForce(all), nodes: {} }, [restored]],
    'from before is put back when the wish is taken away': [
      { value: all, notes: { restores: last, 'put-in-force': all }, nodes: { n1: cordoned } },
      [restored],
    ],
    'from before is put back when guidance ends, whoever leaves': [
      { value: all, notes: { ...inForce(all).notes, manage: 'observe' }, nodes: { n1: cordoned } },
      [restored],
    ],
    'from before is put back also when only the older mark is there': [
      { value: all, notes: { 'wanted-policy': all, restores: last }, nodes: {} },
      [restored],
    ],
    'follows a wish that changes while a node leaves': [
      {
        value: all,
        notes: { 'wanted-policy': 'always-allow', restores: last, 'put-in-force': all },
        nodes: { n1: cordoned },
      },
      [put('always-allow')],
    ],
    'that somebody else chose meanwhile counts from then on': [
      { ...inForce(all), value: 'always-allow', nodes: { n1: cordoned } },
      ['GuideYields node-drain-policy: put-in-force='],
    ],
    'that somebody else chose is told once': [
      {
        value: all,
        notes: { 'wanted-policy': all, restores: last, 'put-in-force': '' },
        nodes: { n1: cordoned },
      },
      [],
    ],
    'that somebody else chose stays at the end, and our marks go': [
      { ...inForce(all), value: 'always-allow', nodes: {} },
      ['quietly node-drain-policy: restores=null put-in-force=null'],
    ],
    'that is wanted but unknown pulls no lever, not even for a volume with a wish of its own': [
      { notes: { 'wanted-policy': 'evict-all' }, nodes: { n1: cordoned }, volumes: willing },
      [
        `setting/node-drain-policy: annotation cofferdam.io/wanted-policy: "evict-all" is none of ${last}, allow-if-replica-is-stopped, always-allow, ${all}, ${lastMoves}; until it is corrected ${last} stays in force, and no node eviction is requested`,
      ],
    ],
    'from before is put back though what is wanted became unknown': [
      { value: all, notes: { ...inForce(all).notes, 'wanted-policy': 'evict-all' }, nodes: {} },
      [restored],
    ],
    'in force that is unknown could not be put back, so it is left': [
      { value: 'evict-all', notes: { 'wanted-policy': all }, nodes: { n1: cordoned } },
      [
        `setting/node-drain-policy: its value could not be put back: "evict-all" is none of ${last}, allow-if-replica-is-stopped, always-allow, ${all}, ${lastMoves}; so no other policy is put in force`,
      ],
    ],
    'is not put back by a mark that makes no sense': [
      { value: all, notes: { 'wanted-policy': all, restores: 'x' }, nodes: {} },
      [
        `setting/node-drain-policy: annotation cofferdam.io/restores: "x" is none of ${last}, allow-if-replica-is-stopped, always-allow, ${all}, ${lastMoves}; so nothing is put back. Set the policy that should be in force, and take the annotation away`,
      ],
    ],
  }
  for (const [name, [scene, expected]] of Object.entries(scenarios)) {
    it(name, () => {
      expect(guide(scene)).toEqual(expected)
    })
  }

  it('is told to hold for all cordoned nodes where others are cordoned as well', () => {
    const notes = { 'cofferdam.io/manage': 'guide', 'cofferdam.io/wanted-policy': all, 'cofferdam.io/trigger': 'drain' }
    const { guidance } = lookAt({ setting: { value: last, notes }, nodes: { n1: drained, n2: cordoned } })
    expect(guidance.steps.map(({ explanation }) => explanation)).toEqual([
      `${all} is in force while node n1 leaves; ${last} comes back after that. It holds for every cordoned node, so for node n2 too.`,
    ])
  })
})

describe('a disk', () => {
  const ask = `DiskEvictionAsked n1: evictionRequested=true allowScheduling=false asked=${asked}`
  const scenarios: Record<string, [Scene, readonly string[]]> = {
    'is asked for where a volume wants to leave and the policy in force does not move it': [
      { nodes: { n1: cordoned }, volumes: willing },
      [ask],
    ],
    'that took no replicas before takes none after': [
      { nodes: { n1: { ...cordoned, schedule: false } }, volumes: willing },
      [
        'DiskEvictionAsked n1: evictionRequested=true allowScheduling=false asked={"disks":{"d1":{"allowScheduling":false}}}',
      ],
    ],
    'is not asked for where volumes want nothing of their own': [{ nodes: { n1: cordoned }, volumes: pair }, []],
    'is not asked for where the policy in force moves the replica anyway': [
      { value: all, nodes: { n1: cordoned }, volumes: willing },
      [],
    ],
    'is not asked for where the policy about to be in force moves the replica anyway': [
      { notes: { 'wanted-policy': all }, nodes: { n1: cordoned }, volumes: willing },
      [put(all)],
    ],
    'is not asked for where the policy in force moves it as the last copy': [
      { value: lastMoves, nodes: { n1: cordoned }, volumes: { db: { copies: { n1: 'healthy' }, policy: all } } },
      [],
    ],
    'is asked for where the policy in force moves only last copies, and this is none': [
      { value: lastMoves, nodes: { n1: cordoned }, volumes: willing },
      [ask],
    ],
    'is not asked for on a mere cordon where only drains count': [
      { notes: { trigger: 'drain' }, nodes: { n1: cordoned }, volumes: willing },
      [],
    ],
    'is not asked for on behalf of a volume that never moves': [
      { nodes: { n1: cordoned }, volumes: { db: { ...willing.db, isStrictLocal: true } } },
      [],
    ],
    'that does not answer is not asked for': [
      { nodes: { n1: { ...cordoned, kubernetes: 'silent' } }, volumes: willing },
      [],
    ],
    'that a user empties is his': [
      { nodes: { n1: { ...cordoned, evict: true, schedule: false } }, volumes: willing },
      [],
    ],
    'that a user emptied before stays his on uncordon': [
      { nodes: { n1: { evict: true, schedule: false } }, volumes: willing },
      [],
    ],
    'that we asked for stays so until it is uncordoned, although the drain seems to have ended': [
      { notes: { trigger: 'drain' }, nodes: { n1: { ...cordoned, evict: true, schedule: false, asked } } },
      [],
    ],
    'is as before once it is uncordoned': [
      { nodes: { n1: { evict: true, schedule: false, asked } } },
      ['DiskEvictionWithdrawn n1: evictionRequested=false allowScheduling=true asked=null'],
    ],
    'that took no replicas before is not opened': [
      { nodes: { n1: { evict: true, schedule: false, asked: '{"disks":{"d1":{"allowScheduling":false}}}' } } },
      ['DiskEvictionWithdrawn n1: evictionRequested=false asked=null'],
    ],
    'whose eviction an administrator withdrew is not asked for again, which is written down': [
      { nodes: { n1: { ...cordoned, schedule: false, asked } }, volumes: willing },
      ['GuideYields n1: asked={"disks":{"d1":{"allowScheduling":true,"yielded":true}}}'],
    ],
    'whose eviction an administrator withdrew is left at that while it leaves': [
      {
        nodes: {
          n1: { ...cordoned, schedule: false, asked: '{"disks":{"d1":{"allowScheduling":true,"yielded":true}}}' },
        },
        volumes: willing,
      },
      [],
    ],
    'whose eviction an administrator withdrew takes replicas again in the end': [
      { nodes: { n1: { schedule: false, asked: '{"disks":{"d1":{"allowScheduling":true,"yielded":true}}}' } } },
      ['quietly n1: allowScheduling=true asked=null'],
    ],
    'that an administrator empties himself after that stays his, and closed': [
      {
        nodes: {
          n1: { evict: true, schedule: false, asked: '{"disks":{"d1":{"allowScheduling":true,"yielded":true}}}' },
        },
      },
      ['quietly n1: asked=null'],
    ],
    'that an administrator opened again needs nothing but the mark to go': [
      { nodes: { n1: { schedule: true, asked } } },
      ['quietly n1: asked=null'],
    ],
    'that an administrator opened while it leaves is his to close again, which is written down': [
      { nodes: { n1: { ...cordoned, asked: '{"disks":{"d1":{"allowScheduling":true,"yielded":true}}}' } } },
      ['quietly n1: asked={"disks":{"d1":{"allowScheduling":false,"yielded":true}}}'],
    ],
    'that an administrator opened and closed again stays closed': [
      { nodes: { n1: { schedule: false, asked: '{"disks":{"d1":{"allowScheduling":false,"yielded":true}}}' } } },
      ['quietly n1: asked=null'],
    ],
    'whose mark makes no sense is left alone, and told': [
      { nodes: { n1: { evict: true, schedule: false, asked: 'yes' } } },
      [
        'node/n1: annotation cofferdam.io/asked is not like {"disks":{"NAME":{"allowScheduling":true}}}, so nothing is taken back. Set evictionRequested and allowScheduling of the node and its disks as they should be, and take the annotation away',
      ],
    ],
    'that Longhorn let go before the policy was in force is told, since nothing makes its budget again': [
      { ...inForce(all), nodes: { n1: { ...cordoned, hasBudget: false } }, volumes: pair },
      [
        'node/n1: Longhorn has let it go and makes no budget for a cordoned node, though replica/db-n1 should hold it. Let its instance managers run until that has moved; a NodeDisruption puts the wanted policy in force before it cordons',
      ],
    ],
  }
  for (const [name, [scene, expected]] of Object.entries(scenarios)) {
    it(name, () => {
      expect(guide(scene)).toEqual(expected)
    })
  }

  const former = { isEvictionAsked: true, takes: false, asked: '{"allowScheduling":true}' }
  const rows: Record<string, [Scene, readonly string[]]> = {
    'of a node that an earlier version asked for as a whole is left to that until the node is uncordoned': [
      { nodes: { n1: { ...cordoned, ...former } }, volumes: willing },
      [],
    ],
    'and the node as a whole is as before then: it would stay empty and closed for ever': [
      { nodes: { n1: former } },
      ['DiskEvictionWithdrawn n1: evictionRequested=false allowScheduling=true asked=null'],
    ],
  }
  it.each(Object.entries(rows))('%s', (_, [scene, expected]) => expect(guide(scene)).toEqual(expected))

  it('whose eviction another client withdrew is an alarm, once', () => {
    const setting = { value: last, notes: { 'cofferdam.io/manage': 'hold' } }
    const withdrawn = { ...cordoned, schedule: false, asked }
    const seen = { setting, nodes: { n1: withdrawn, n2: {} }, volumes: willing }
    expect(lookAt(seen).guidance.reverted).toEqual([{ kind: 'disk', name: 'd1', node: 'n1' }])
    const noted = { ...withdrawn, asked: '{"disks":{"d1":{"allowScheduling":true,"yielded":true}}}' }
    expect(lookAt({ ...seen, nodes: { ...seen.nodes, n1: noted } }).guidance.reverted).toEqual([])
  })

  it('is told to lose all of its replicas, for Longhorn can be asked for no less', () => {
    const setting = { value: last, notes: { 'cofferdam.io/manage': 'guide' } }
    const { guidance } = lookAt({ setting, nodes: { n1: cordoned, n2: {} }, volumes: willing })
    expect(guidance.steps.map(({ explanation }) => explanation)).toEqual([
      `Volume db must leave node n1, which policy ${last} does not do. Longhorn can only evict a whole disk: all replicas on disk d1 move.`,
    ])
  })
})

describe('many at once', () => {
  const wanting = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { ...pair.db, policy: all }]))

  it('of more than three volumes that must leave the others are counted: the event would be refused as too long', () => {
    const { guidance } = lookAt({
      setting: { value: last, notes: { 'cofferdam.io/manage': 'guide' } },
      nodes: { n1: drained, n2: {}, n3: {} },
      volumes: wanting('a', 'b', 'c', 'd', 'e'),
    })
    expect(guidance.steps.map(({ explanation }) => explanation).join()).toContain(
      'Volumes a, b, c and 2 more must leave',
    )
  })

  it('of more than three nodes that leave the others are counted', () => {
    const { guidance } = lookAt({
      setting: { value: last, notes: { 'cofferdam.io/manage': 'guide', 'cofferdam.io/wanted-policy': all } },
      nodes: { n1: cordoned, n2: cordoned, n3: cordoned, n4: cordoned, n5: {} },
    })
    expect(guidance.steps[0]?.explanation).toContain('n1, n2, n3 and 1 more')
  })

  it('both disks are named that have to be emptied', () => {
    const disk = (name: string) => ({ name, uuid: `uuid-${name}`, isEvictionAsked: false, allowScheduling: true })
    const seen = longhornFixture({
      nodes: { n1: { ...drained, disks: [disk('d1'), disk('d2')] }, n2: {}, n3: {} },
      volumes: {
        a: { policy: all, copies: { n1: { diskUuid: 'uuid-d1' }, n2: 'healthy' } },
        b: { policy: all, copies: { n1: { diskUuid: 'uuid-d2' }, n2: 'healthy' } },
      },
    })
    const snapshot = { ...seen, settings: { ...seen.settings, mode: 'guide' as const } }
    const settings = [
      { apiVersion: 'longhorn.io/v1beta2', kind: 'Setting', metadata: { name: 'node-drain-policy' }, value: last },
    ]
    const nodes = [{ apiVersion: 'longhorn.io/v1beta2', kind: 'Node', metadata: { name: 'n1' }, spec: {} }]
    const { steps } = decideGuidance(snapshot, decideLonghornDrain(snapshot), parseGuidanceMarks({ settings, nodes }))
    expect(steps.map(({ explanation }) => explanation).join()).toContain('all replicas on disks d1, d2 move')
  })
})

it('a policy that is put in force for a wish that cannot be read any more is left to its administrator', () => {
  const notes = { restores: last, 'wanted-policy': 'often' }
  expect(guide({ value: all, notes, nodes: { n1: cordoned } }).join()).not.toBe('')
})
