import { describe, expect, it } from 'vitest'
import { emptyLedger, grant, type Ledger } from '../../../ledger/rules/ledger.ts'
import { arbiterOf } from '../../../ledger/rules/storage-arbiter.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { presentHolds } from './present-holds.ts'
import { now } from './testing/fixture.ts'
import { cluster, key } from './testing/small-ledger.ts'

/** `node-1` is in `zone-a`, and so on; each has OSDs. */
const layout = (type: 'host' | 'zone', places: Readonly<Record<string, string>>) => {
  const osds = Object.entries(places).map(([nodeName, zone], id) => {
    return { id, nodeName, domain: type === 'host' ? nodeName : zone }
  })
  return { osds } as unknown as Parameters<typeof presentHolds>[1]
}
const places = { 'node-1': 'zone-a', 'node-2': 'zone-b', 'node-4': 'zone-a' }

/** Requests that were granted a node and a failure domain, in this order. */
function granted(
  ...requests: readonly { readonly node: string; readonly scope: string; readonly isNodeless?: true }[]
) {
  const ledger = requests.reduce<Ledger>((before, { node, scope, isNodeless }) => {
    const storage = { key, uid: cluster.uid, scope }
    const claims = isNodeless ? [storage] : [{ key: `node/${node}`, uid: node, scope: '' }, storage]
    const answer = grant(before, { requestId: `reboot-${node}`, holder: `reboot-${node}`, claims, now })
    if (!answer.granted) throw new Error(`${node} cannot have ${scope}`)
    return answer.ledger
  }, emptyLedger)
  return known(arbiterOf(ledger, cluster))
}

interface Row {
  readonly given: ReturnType<typeof granted>
  readonly type: 'host' | 'zone'
  /** Who holds what in the domains of today. */
  readonly holds: readonly string[]
  /** How the ledger calls the domain of the first. */
  readonly ledgerScope?: readonly [string, string]
}

const rows: Readonly<Record<string, Row>> = {
  'a hold of a failure domain that there is stays what it is': {
    given: granted({ node: 'node-1', scope: 'zone-a' }),
    type: 'zone',
    holds: ['reboot-node-1 zone-a'],
    ledgerScope: ['zone-a', 'zone-a'],
  },
  'copies are spread over zones now: who began with a host goes on with its zone, or its drain would wait for itself for ever (short seed 10146)':
    {
      given: granted({ node: 'node-1', scope: 'node-1' }),
      type: 'zone',
      holds: ['reboot-node-1 zone-a'],
      ledgerScope: ['zone-a', 'node-1'],
    },
  'copies are spread over hosts now: who began with a zone goes on with its host': {
    given: granted({ node: 'node-1', scope: 'zone-a' }),
    type: 'host',
    holds: ['reboot-node-1 node-1'],
    ledgerScope: ['node-1', 'zone-a'],
  },
  'two shared a zone whose hosts are domains of their own now: the first goes on, or each would keep the other waiting':
    {
      given: granted({ node: 'node-4', scope: 'zone-a' }, { node: 'node-1', scope: 'zone-a' }),
      type: 'host',
      holds: ['reboot-node-4 node-4'],
      ledgerScope: ['node-4', 'zone-a'],
    },
  'its OSD was under another host of the CRUSH map when it began, and is at home again: it goes on with that, or its drain would wait for itself for ever (short seed 25609)':
    {
      given: granted({ node: 'node-1', scope: 'node-2' }),
      type: 'host',
      holds: ['reboot-node-1 node-1'],
      ledgerScope: ['node-1', 'node-2'],
    },
  'one shared a host with an OSD that is at home again: the first to be granted goes on, and the other waits for it': {
    given: granted({ node: 'node-2', scope: 'node-2' }, { node: 'node-1', scope: 'node-2' }),
    type: 'host',
    holds: ['reboot-node-2 node-2'],
    ledgerScope: ['node-1', 'node-1'],
  },
  'the node has lost its OSDs: its hold keeps its name, and lets nothing go': {
    given: granted({ node: 'node-3', scope: 'node-3' }),
    type: 'zone',
    holds: ['reboot-node-3 node-3'],
  },
  'the ledger was rebuilt while its failure domain was not known: it goes on with that, or its drain would wait for itself for ever (short seed 503236)':
    {
      given: granted({ node: 'node-1', scope: '' }),
      type: 'zone',
      holds: ['reboot-node-1 zone-a'],
      ledgerScope: ['zone-a', ''],
    },
  'the ledger was rebuilt, and the OSDs of the node are not known: it lets nothing go': {
    given: granted({ node: 'node-3', scope: '' }),
    type: 'zone',
    holds: ['reboot-node-3 '],
  },
  'an update holds all of the storage': {
    given: granted({ node: 'node-1', scope: '', isNodeless: true }),
    type: 'zone',
    holds: ['reboot-node-1 '],
  },
}

describe('holds of failure domains, after Ceph was told to spread copies over another type:', () => {
  it.each(Object.entries(rows))('%s', (_, { given, type, holds, ledgerScope }) => {
    const { arbiter, ledgerScope: scopeOf } = presentHolds(given, layout(type, places))
    const { others } = arbiter?.known === true ? arbiter.value : { others: [] }
    expect(others.map(({ requestId, scope }) => `${requestId} ${scope}`)).toEqual(holds)
    if (ledgerScope !== undefined) expect(scopeOf(ledgerScope[0])).toBe(ledgerScope[1])
  })

  it('a domain that nobody held before has its own name in the ledger', () => {
    const given = granted({ node: 'node-1', scope: 'node-1' })
    expect(presentHolds(given, layout('zone', places)).ledgerScope('zone-b')).toBe('zone-b')
  })

  it('a hold without a node, as of a drain that only Ceph was asked about, keeps its name', () => {
    const given = granted({ node: 'node-1', scope: 'node-1' })
    if (!given.known) throw new Error('what is granted is known')
    const nodeless = known({ ...given.value, heldNodes: {} })
    const { arbiter } = presentHolds(nodeless, layout('zone', places))
    expect(arbiter?.known === true && arbiter.value.others.map(({ scope }) => scope)).toEqual(['node-1'])
  })

  it('a fence of the host that was shared counts on: nothing else goes while that machine is being fenced', () => {
    const given = granted({ node: 'node-1', scope: 'node-2' })
    if (!given.known) throw new Error('what is granted is known')
    const [request] = given.value.others
    const fence = { ...request, requestId: 'fence/node-2', epoch: 99, scope: 'node-2' } as typeof request
    const beside = known({ ...given.value, others: [request, fence] } as typeof given.value)
    const { arbiter } = presentHolds(beside, layout('host', places))
    const scopes = arbiter?.known === true && arbiter.value.others.map(({ scope }) => scope)
    expect(scopes).toEqual(['node-1', 'node-2'])
  })

  it('OSDs of one node in two domains do not say which is meant: nothing is let go', () => {
    const { osds } = layout('zone', places)
    const split = [...osds, { ...osds[0], id: 9, domain: 'zone-b' }] as typeof osds
    const { arbiter } = presentHolds(granted({ node: 'node-1', scope: 'node-1' }), { osds: split })
    expect(arbiter?.known === true && arbiter.value.others.map(({ scope }) => scope)).toEqual(['node-1'])
  })

  it('without a ledger nothing is made up', () => {
    const blind = unknown('it cannot be read')
    expect(presentHolds(blind, layout('zone', places)).arbiter).toBe(blind)
    expect(presentHolds(undefined, layout('zone', places)).arbiter).toBeUndefined()
  })
})
