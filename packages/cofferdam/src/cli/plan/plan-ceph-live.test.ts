import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { customResourceDefinitions, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { type CephFixture, openCeph } from '@cofferdam/simulator/world/ceph/testing/ceph-fixture.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CephAnswer, CephCommand } from '../../ceph/ceph-commands.ts'
import { createPgParser } from '../../ceph/create-pg-parser.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { withCephFiles } from '../testing/write-ceph-files.ts'
import { createPlanCommand } from './plan.ts'

const anyFields = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'cephclusters.ceph.rook.io' },
  spec: {
    group: 'ceph.rook.io',
    scope: 'Namespaced',
    names: { plural: 'cephclusters', singular: 'cephcluster', kind: 'CephCluster', listKind: 'CephClusterList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: anyFields } }],
  },
}

let fixture: CephFixture
beforeEach(async () => {
  fixture = await openCeph()
})
afterEach(() => fixture.stop())

async function addCluster(key: string, rest: { spec?: unknown; annotations?: Record<string, string> } = {}) {
  const [namespace = '', name = ''] = key.split('/')
  const existing = await fixture.api.list(namespaces)
  if (!existing.items.some(({ metadata }) => metadata.name === namespace)) {
    await fixture.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  }
  const { spec = {}, annotations = {} } = rest
  const metadata = { name, namespace, annotations }
  await fixture.api.create(cephClusters, {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata,
    spec,
  } as CephCluster)
}

async function planLive(
  argv: readonly string[],
  run: (command: CephCommand) => Promise<CephAnswer> = (command) => fixture.ceph.commands.run(command),
) {
  const { connect, links } = inProcess(fixture.api)
  const asked: string[] = []
  const { close: _, ...parsers } = createPgParser()
  const command = createPlanCommand({
    clock: realClock,
    connect,
    openCeph: () => ({
      of: ({ namespace, name }) => {
        asked.push(`${namespace}/${name}`)
        return { run }
      },
      parsers,
      close: async () => {
        asked.push('closed')
      },
    }),
    cpuMs: () => 0,
  })
  const result = await runCommand(command, 'plan', 'osd-update', '--cpu-seconds', '0', ...argv)
  expect(links.closed).toBe(links.opened)
  return { ...result, asked }
}

describe('plan osd-update, of a living cluster with one CephCluster', () => {
  beforeEach(async () => {
    await fixture.api.create(customResourceDefinitions, definition)
  })

  it('plans from the map of its Ceph', async () => {
    await addCluster('rook-ceph/rook-ceph')
    const { code, out, err, asked } = await planLive(['--max-parallel', '2'])
    expect({ code, err, asked }).toEqual({ code: 0, err: '', asked: ['rook-ceph/rook-ceph', 'closed'] })
    expect(out).toMatch(/^12 OSDs in 6 rounds\n/)
  })

  it('gives the same plan from the five answers of that Ceph as files', async () => {
    await addCluster('rook-ceph/rook-ceph')
    const argv = ['--max-parallel', '3', '-o', 'json']
    const answers = {
      'osd-dump.json': await fixture.ask('osd dump'),
      'pg-dump-pgs_brief.json': await fixture.ask('pg dump', { dumpcontents: ['pgs_brief'] }),
      'osd-tree.json': await fixture.ask('osd tree'),
      'osd-crush-rule-dump.json': await fixture.ask('osd crush rule dump'),
      'osd-pool-ls-detail.json': await fixture.ask('osd pool ls', { detail: 'detail' }),
    }
    const live = await planLive(argv)
    const saved = await withCephFiles(answers, (from) => planLive(['--from', from, ...argv]))
    expect(saved).toEqual({ ...live, asked: [] })
    expect(live.out).toContain('"rounds"')
  })

  it('takes what the CephCluster says, and flags before that', async () => {
    await addCluster('rook-ceph/rook-ceph', {
      spec: { updatePolicy: { osds: { maxInParallelPerCluster: '25%' } }, storage: { osdMaxUpdatesInParallel: 2 } },
      annotations: { 'cofferdam.io/update-canary': 'true' },
    })
    const said = await planLive([])
    expect(said.out).toContain('\n  limit         3 in parallel (25%)\n')
    expect(said.out).toMatch(/\n {2}Rook's way {4}\d+ rounds, at most 2 in parallel\n/)
    expect(said.out).toMatch(/\n1 {6}1 {5}\d+ /)
    expect((await planLive(['--max-parallel', '1'])).out).toContain('\n  limit         1 in parallel\n')
  })

  it('warns of what is refused or deprecated, and plans one at a time where the limit is refused', async () => {
    await addCluster('rook-ceph/rook-ceph', {
      spec: { skipUpgradeChecks: true, updatePolicy: { osds: { maxInParallelPerCluster: '150%' } } },
    })
    const { code, out, err } = await planLive([])
    expect({ code, err }).toEqual({
      code: 0,
      err: [
        'warning: spec.updatePolicy.osds.maxInParallelPerCluster: "150%" is refused; allowed is a whole number of at least 1, or a percentage from "1%" to "100%"',
        'warning: spec.skipUpgradeChecks is deprecated; its place is spec.updatePolicy.skipUpgradeChecks',
        '',
      ].join('\n'),
    })
    expect(out).toMatch(/^12 OSDs in 12 rounds\n/)
  })

  it('blocks the OSDs of other hosts while one is down, and ends with 3', async () => {
    await addCluster('rook-ceph/rook-ceph')
    await fixture.emptyNode('node-1')
    await fixture.seconds(60)
    const { code, out } = await planLive(['--max-parallel', '4'])
    expect(code).toBe(3)
    expect(out).toContain('OSDs must not stop now\n')
  })

  it.each([
    {
      what: 'Ceph refuses',
      refused: 'osd dump',
      answer: { code: 13, out: '', err: 'access denied' },
      says: 'osd dump ended with 13: access denied',
    },
    {
      what: 'Ceph does not tell of its pools',
      refused: 'osd dump',
      answer: { code: 0, out: '{}', err: '' },
      says: 'the answer to osd dump cannot be used: pools is missing',
    },
  ])('prints no plan when $what', async ({ refused, answer, says }) => {
    await addCluster('rook-ceph/rook-ceph')
    const { code, out, err, asked } = await planLive([], async (command) =>
      command.prefix === refused ? answer : fixture.ceph.commands.run(command),
    )
    expect({ code, out, asked: asked.at(-1) }).toEqual({ code: 1, out: '', asked: 'closed' })
    expect(err).toContain(`error: the map of CephCluster rook-ceph/rook-ceph is not known: ${says}\nhint: `)
  })

  it('keeps a copy on each site where the pools of the cluster are stretched', async () => {
    await addCluster('rook-ceph/rook-ceph')
    const { code, out } = await planLive(['--max-parallel', '12'], async (command) => {
      const answer = await fixture.ceph.commands.run(command)
      if (command.prefix !== 'osd dump') return answer
      const dump = JSON.parse(answer.out) as { readonly pools: readonly object[] }
      const stretch = { peering_crush_bucket_count: 3, peering_crush_bucket_barrier: 9 }
      return { ...answer, out: JSON.stringify({ ...dump, pools: dump.pools.map((pool) => ({ ...pool, ...stretch })) }) }
    })
    expect(code).toBe(3)
    expect(out).toContain('has its last copy of a site there')
  })
})

describe('plan osd-update, when it has to choose a CephCluster', () => {
  it('says that there is none where Rook is not installed', async () => {
    const { code, out, err } = await planLive([])
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: 'error: there is no CephCluster in the cluster\nhint: kubectl get cephclusters -A shows those there are\n',
    })
  })

  it('wants to be told which, of several, and takes no external one', async () => {
    await fixture.api.create(customResourceDefinitions, definition)
    await addCluster('rook-ceph/rook-ceph')
    await addCluster('second/other')
    await addCluster('third/far', { spec: { external: { enable: true } } })
    const several = await planLive([])
    expect({ code: several.code, out: several.out, err: several.err }).toEqual({
      code: 2,
      out: '',
      err: [
        'error: there are 2 CephClusters in the cluster: rook-ceph/rook-ceph, second/other',
        'hint: choose one with -n NAMESPACE, or with --cluster-name NAME',
        '',
      ].join('\n'),
    })
    expect((await planLive(['-n', 'second'])).asked).toEqual(['second/other', 'closed'])
    expect((await planLive(['--cluster-name', 'rook-ceph'])).asked).toEqual(['rook-ceph/rook-ceph', 'closed'])
    expect((await planLive(['-n', 'third'])).err).toBe(
      'error: there is no CephCluster in namespace third; those that are external have their OSDs elsewhere\nhint: kubectl get cephclusters -A shows those there are\n',
    )
    expect((await planLive(['--cluster-name', 'nobody'])).err).toContain(
      'there is no CephCluster nobody in the cluster',
    )
  })
})
