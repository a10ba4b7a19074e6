import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeApi, ListQuery } from '@cofferdam/kubernetes/client/kube-api.ts'
import { startExecServer } from '@cofferdam/kubernetes/client/testing/exec-server.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type CephFlags, openCephLink } from './ceph-link.ts'

const toolbox = (name: string, { isReady = true, isLeaving = false } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'rook-ceph',
    name,
    labels: { app: 'rook-ceph-tools', 'pod-template-hash': '7b77' },
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rook-ceph-tools-7b77', uid: 'rs-1', controller: true },
    ],
    ...(isLeaving ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: { containers: [{ name: 'rook-ceph-tools' }] },
  status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
})

async function open(given: {
  readonly flags?: CephFlags
  readonly pods?: readonly Pod[]
  readonly programs?: Readonly<Record<string, string>>
  readonly admits?: boolean
}) {
  // Whatever is installed here: the only programs are those given, and the module of Ceph is missing.
  const folder = mkdtempSync(join(tmpdir(), 'ceph-link-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'rados.py'), "raise ModuleNotFoundError('there is no rados')\n")
  for (const [name, text] of Object.entries(given.programs ?? {})) {
    writeFileSync(join(folder, name), text, { mode: 0o755 })
  }
  const asked: string[] = []
  const listed: string[] = []
  const logged: string[] = []
  const server = await startExecServer(
    ({ url, send, close }) => {
      asked.push(`${url.pathname} ${url.searchParams.getAll('command').join(' ')}`)
      send(1, '{"from":"the toolbox"}')
      send(3, '{"status":"Success"}')
      close()
    },
    { admits: () => given.admits !== false },
  )
  const list = async (_: unknown, query: ListQuery = {}) => {
    listed.push(`${query.namespace} ${query.labelSelector}`)
    return { items: given.pods ?? [], resourceVersion: '1' }
  }
  const note = (facts: { readonly missing?: string }) => logged.push(String(facts.missing))
  const link = openCephLink({
    flags: given.flags ?? {},
    api: { list } as unknown as Pick<KubeApi, 'list'>,
    connection: server.connection(),
    environment: { PATH: folder, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
    clock: realClock,
    random: seededRandom(1),
    log: { info: note } as unknown as Log,
  })
  onTestFinished(() => link.close())
  const ask = () =>
    link
      .of({ namespace: 'rook-ceph', name: 'rook-ceph' })
      .run({ prefix: 'status' })
      .then(
        ({ out }) => out,
        (error: Error & { code?: string; hint?: string }) => `${error.code}: ${error.message} (${error.hint ?? ''})`,
      )
  return { link, ask, asked, listed, logged }
}

describe('without flags', () => {
  it('the toolbox pod of the namespace is asked that is ready and stays', async () => {
    const pods = [toolbox('broken', { isReady: false }), toolbox('leaving', { isLeaving: true }), toolbox('tools-1')]
    const { ask, asked, listed } = await open({ pods })
    expect(await ask()).toBe('{"from":"the toolbox"}')
    expect(listed).toEqual(['rook-ceph app=rook-ceph-tools'])
    expect(asked).toEqual([
      expect.stringMatching(/^\/api\/v1\/namespaces\/rook-ceph\/pods\/tools-1\/exec ceph .*status/),
    ])
  })

  it('a cluster is asked through one and the same link, another namespace through its own', async () => {
    const { link } = await open({})
    const of = (namespace: string, name: string) => link.of({ namespace, name })
    expect(of('rook-ceph', 'a')).toBe(of('rook-ceph', 'a'))
    expect(of('rook-ceph', 'a')).not.toBe(of('elsewhere', 'a'))
  })

  it('where no toolbox runs, what to deploy is said', async () => {
    const { ask, asked } = await open({ pods: [toolbox('broken', { isReady: false })] })
    expect(await ask()).toMatch(/^CEPH_UNREACHABLE: .*no toolbox pod is running.*\(deploy the toolbox of Rook/)
    expect(asked).toEqual([])
  })

  it('where the toolbox may not be used, that is what is said', async () => {
    const { ask } = await open({ pods: [toolbox('tools-1')], admits: false })
    expect(await ask()).toMatch(/^CEPH_UNREACHABLE: .*the toolbox pod cannot be used: /)
  })
})

describe('with any of the flags', () => {
  const cases: Record<string, { flags: CephFlags; then: string }> = {
    'a configuration': { flags: { cephConf: '/c.conf' }, then: '--conf /c.conf' },
    'a user': { flags: { cephName: 'client.x' }, then: '--name client.x' },
    'a keyring': { flags: { cephKeyring: '/k' }, then: '--keyring /k' },
    'all of them': {
      flags: { cephConf: '/c.conf', cephName: 'client.x', cephKeyring: '/k' },
      then: '--conf /c.conf --name client.x --keyring /k',
    },
  }
  it.each(Object.entries(cases))('%s: the monitors are asked, and no pod', async (_name, { flags, then }) => {
    const programs = { ceph: '#!/bin/sh\necho "$@"\n' }
    const { ask, asked, listed } = await open({ flags, pods: [toolbox('tools-1')], programs })
    const said = await ask()
    expect([asked, listed]).toEqual([[], []])
    expect(said).toContain(then)
  })

  it('where no client of Ceph is installed, what to install is said, and each that is missing is logged', async () => {
    const { ask, logged } = await open({ flags: { cephName: 'client.x' } })
    expect(await ask()).toMatch(
      /none of python3-rados, the ceph command line is installed \(install python3-rados or ceph-common\)$/,
    )
    expect(logged).toEqual(['python3-rados', 'the ceph command line'])
  })

  it('every cluster is asked through the same monitors', async () => {
    const { link } = await open({ flags: { cephConf: '/c.conf' } })
    expect(link.of({ namespace: 'a', name: 'a' })).toBe(link.of({ namespace: 'b', name: 'b' }))
  })
})
