import { describe, expect, it } from 'vitest'
import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import type { OkToUpgradeAnswer } from '../../../ceph/ok-to-upgrade-answer.ts'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { BatchQuestion } from '../domain/batch-proposal.ts'
import { BatchProposals } from './batch-proposals.ts'

const { signal } = new AbortController()
const key = 'rook-ceph/rook-ceph'
const commands = {} as CephCommands
const many = Array.from({ length: 45 }, (_, osd) => osd)

interface Script {
  readonly mayStop?: (osd: number) => readonly number[]
  readonly mayUpgrade?: (bucket: string) => Observed<OkToUpgradeAnswer>
  readonly versions?: Observed<ReadonlyMap<number, string>>
}

/** A Ceph that answers by this script, and what it was asked. */
function cephOf({ mayStop = (osd) => [osd], mayUpgrade, versions = known(new Map()) }: Script) {
  const asked: string[] = []
  const proposals = new BatchProposals({
    async askStoppable(_, osd, max) {
      asked.push(`stop ${osd} max ${max}`)
      return known(mayStop(osd))
    },
    async askOkToUpgrade(_, { bucket, version, max }) {
      asked.push(`upgrade ${bucket} to ${version} max ${max}`)
      return mayUpgrade?.(bucket) ?? known({ kind: 'no-such-question', why: 'command not known' })
    },
    async observeOsdVersions() {
      asked.push('versions')
      return versions
    },
  })
  const propose = (given: Partial<BatchQuestion>) => {
    const question: BatchQuestion = { by: 'ok-to-stop', osds: [0, 1, 2], max: 4, updated: [], ...given }
    return proposals.propose({ key, question, map: exampleMap(), commands, signal })
  }
  return { asked, propose, note: () => proposals.noteOf(key) }
}

describe('ok-to-stop, one OSD after the other', () => {
  it('ends with the first that may stop, and with all that may stop beside it', async () => {
    const { asked, propose } = cephOf({ mayStop: (osd) => (osd === 1 ? [1, 4] : []) })
    const proposal = await propose({})
    expect(asked).toEqual(['stop 0 max 4', 'stop 1 max 4'])
    expect(proposal).toEqual(known({ by: 'ok-to-stop', osds: [1, 4], asked: [0, 1] }))
  })

  it('puts no more than twenty questions at one look, and the next look goes on where it ended', async () => {
    const { asked, propose } = cephOf({ mayStop: (osd) => (osd === 41 ? [41] : []) })
    const sizes: number[] = []
    for (let look = 0; look < 3; look += 1) {
      const proposal = await propose({ osds: many })
      sizes.push(proposal.known ? proposal.value.osds.length : -1)
    }
    expect(sizes).toEqual([0, 0, 1])
    expect([asked.length, asked[20], asked.at(-1)]).toEqual([42, 'stop 20 max 4', 'stop 41 max 4'])
  })
})

describe('ok-to-upgrade', () => {
  const upgrade = { by: 'ok-to-upgrade', version: '20.2.5-9-g1234abc' } as const
  const answer = (given: { osds?: number[]; upgraded?: number[] }): Observed<OkToUpgradeAnswer> =>
    known({ kind: 'answer', osds: [], upgraded: [], versionless: [], ...given })

  it('is asked for one failure domain after the other, until one may go', async () => {
    const { asked, propose, note } = cephOf({
      mayUpgrade: (bucket) => answer(bucket === 'host-b' ? { osds: [3, 2] } : {}),
    })
    const proposal = await propose({ ...upgrade, osds: [0, 1, 2, 3] })
    expect(asked).toEqual(['upgrade host-a to 20.2.5-9-g1234abc max 4', 'upgrade host-b to 20.2.5-9-g1234abc max 4'])
    expect([proposal, note()]).toEqual([known({ by: 'ok-to-upgrade', osds: [3, 2], asked: [0, 1, 2, 3] }), undefined])
  })

  it('takes the version from OSDs that are updated already, where nobody told it', async () => {
    const versions = known(new Map([[5, '20.2.5-7-gabc']]))
    const { asked, propose } = cephOf({ versions, mayUpgrade: () => answer({ osds: [0] }) })
    await propose({ by: 'ok-to-upgrade', updated: [5] })
    expect(asked).toEqual(['versions', 'upgrade host-a to 20.2.5-7-gabc max 4'])
  })

  const instead: Record<string, { script?: Script; question?: Partial<BatchQuestion>; note: string }> = {
    'a Ceph without the command': { note: 'command not known' },
    'a version that nobody knows yet': {
      question: { by: 'ok-to-upgrade' },
      note: 'the version to come is not known before the first OSD runs it; annotation cofferdam.io/update-ceph-version can say it',
    },
    'updated OSDs that run different versions': {
      script: {
        versions: known(
          new Map([
            [4, '1.0.0-1-ga'],
            [5, '1.0.0-2-gb'],
          ]),
        ),
      },
      question: { by: 'ok-to-upgrade', updated: [4, 5] },
      note: 'updated OSDs run both 1.0.0-1-ga and 1.0.0-2-gb; annotation cofferdam.io/update-ceph-version can say it',
    },
    'versions that Ceph does not tell': {
      script: { versions: unknown('osd metadata ended with 13') },
      question: { by: 'ok-to-upgrade', updated: [5] },
      note: 'the versions that OSDs run are not known: osd metadata ended with 13',
    },
    'OSDs that Ceph takes for updated, though their Deployments are not': {
      script: { mayUpgrade: () => answer({ upgraded: [0, 1] }) },
      note: 'it passes over osd.0, as if that ran 20.2.5-9-g1234abc already or nothing at all',
    },
    'a limit that is used up by OSDs that are updated and report another version': {
      script: { mayUpgrade: () => answer({ osds: [5] }) },
      note: 'it names only OSDs that need no update, such as osd.5',
    },
  }
  it.each(Object.entries(instead))('%s: ok-to-stop is asked instead, and that is told', async (_, given) => {
    const { asked, propose, note } = cephOf(given.script ?? {})
    const proposal = await propose(given.question ?? upgrade)
    expect(asked.at(-1)).toBe('stop 0 max 4')
    expect(proposal).toEqual(known({ by: 'ok-to-stop', osds: [0], asked: [0] }))
    expect(note()).toBe(
      `annotation cofferdam.io/update-strategy: ceph osd ok-to-upgrade is not available, and ok-to-stop is used instead: ${given.note}`,
    )
  })

  it('silence is no reason to ask something else', async () => {
    const { asked, propose } = cephOf({ mayUpgrade: () => unknown('no answer within 15 s') })
    expect(await propose(upgrade)).toEqual(unknown('no answer within 15 s'))
    expect(asked).toHaveLength(1)
  })
})
